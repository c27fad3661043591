r"""The odds of missingness patterns, from the pattern without gaps up: no self-censoring.

Let I be the mechanisms of variables that may be missing, T a pattern (what a row misses), and
:math:`D(x) = P(x, R_I = 1)` the law of the rows without gaps. Any law of the patterns is a product
over the subsets of T,

.. math::
    P(x, R_T = 0, R_{I \setminus T} = 1) = D(x) \prod_{\emptyset \ne T' \subseteq T} \theta_{T'}(x).

**Theorem.** If :math:`X_i \perp R_i \mid X_{-i}, R_{-i}` for each i, then :math:`\theta_T` does not
depend on :math:`x_T`, and it follows from the smaller patterns by

.. math::
    \theta_T(x_{-T}) = \frac{P(x_{-T}, R_T = 0, R_{I \setminus T} = 1)}
    {\sum_{x_T} D(x) \prod_{\emptyset \ne T' \subsetneq T} \theta_{T'}}.

Why: the odds of missing :math:`X_i`, whatever else is missing, are the same for all its values; so
no :math:`\theta_T` with i in T depends on it. Summing the product over :math:`x_T` gives the
share of the rows with pattern T, which are seen, and :math:`\theta_T` comes before the sum.

Every pattern of I must occur: where a pattern never does and one with more gaps does, the odds of
the latter rest on nothing. That is checked on the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations
from math import prod
from typing import Any

import numpy as np

from lacunet.counts.counts import quotient
from lacunet.missingness.formulas.samples import (
    LARGE_SHARE,
    Mechanisms,
    Run,
    Sample,
    Unfounded,
    Weighted,
    Writer,
)
from lacunet.missingness.formulas.terms import Basis, Conditional, Term
from lacunet.network.named_axes import Table
from lacunet.network.network import FloatArray, Scope
from lacunet.network.nodes import Mechanism, quoted

MAX_LOST_SHARE = 0.05  # of the rows' weight, beyond which nothing is estimated


@dataclass(frozen=True)
class PatternOdds:
    r"""The odds :math:`\theta_T` of the patterns of some mechanisms, within a sample."""

    scope: Scope  # x
    free: Mechanisms  # I, at either value
    sample: Sample  # in which no free mechanism censors its own variable

    @property
    def filled(self) -> Scope:
        """The variables of the largest table that is filled."""
        return self.scope

    def complete(self, writer: Writer, summed: Sequence[str] = ()) -> str:
        """D, written, and summed over a part of the scope."""
        shown = tuple(dict.fromkeys((*self.free, *self.sample.selected)))
        return Sample(shown, self.sample.weights).written(writer, self.scope, summed)

    def label(self, writer: Writer, smaller: bool = False) -> str:
        """The odds of one pattern T, or of a smaller one, named."""
        notation = writer.notation
        label = writer.named(self, partial(notation.labelled, "theta", notation.pattern))
        if smaller:
            return label.replace(notation.pattern, notation.smaller_pattern)
        return label

    def hidden(self, writer: Writer) -> str:
        """The variables that may be missing, listed."""
        return writer.notation.with_commas(writer.notation.name(m.variable) for m in self.free)

    def written(self, writer: Writer) -> str:
        """The definition of the odds of one pattern T."""
        scope = writer.notation.with_commas(map(writer.name, self.scope))
        smaller = self.label(writer, smaller=True)
        complete = self.complete(writer)
        return writer.notation.pattern_odds(scope, self.hidden(writer), complete, smaller)

    def product(self, writer: Writer, summed: Sequence[str] = (), free: str = "") -> str:
        """D, summed over a part of the scope, times the odds of one pattern or of those of free."""
        labels = self.label(writer), self.label(writer, smaller=True)
        return writer.notation.pattern_product(self.complete(writer, summed), *labels, free)

    def table(self, sample: Weighted, hidden: Mechanisms) -> Table:
        """P(x_{S-T}, R_T = 0, R_{I-T} = 1) in the sample."""
        where = sample.rows.shows([m for m in self.free if m not in hidden])
        for mechanism in hidden:
            where = where & ~sample.rows.shows([mechanism])
        missing = {mechanism.variable for mechanism in hidden}
        shown = tuple(name for name in self.scope if name not in missing)
        return sample.among(where).tabled(shown)

    def factors(self, run: Run, sample: Weighted) -> dict[Mechanisms, FloatArray]:
        r"""For each pattern T :math:`P(x, R_T = 0, R_{I-T} = 1) / D(x)`: a product of odds.

        .. math:: \prod_{\emptyset \ne T' \subseteq T} \theta_{T'}(x)
        """
        complete = self.table(sample, ()).array  # D(x)
        odds: dict[Mechanisms, FloatArray] = {}
        factors: dict[Mechanisms, FloatArray] = {(): np.ones_like(complete)}
        masses: dict[Mechanisms, float] = {(): float(complete.sum())}
        lost = 0.0  # weight of rows in cells that no row with fewer gaps stands for
        for hidden in nonempty_subsets(self.free):  # T, after all that it contains
            inner = np.ones_like(complete)
            for smaller in nonempty_subsets(hidden):
                inner = inner * odds.get(smaller, 1.0)  # T itself has none yet
            axes = tuple(self.scope.index(mechanism.variable) for mechanism in hidden)
            below = (complete * inner).sum(axis=axes, keepdims=True)
            above = self.table(sample, hidden).aligned(self.scope)
            masses[hidden] = float(above.sum())
            lost += float(above[below <= 0].sum())
            odds[hidden] = quotient(above, below)
            factors[hidden] = inner * odds[hidden]
        self._check_patterns(run, masses)
        self._check_lost(run, lost / (run.rows.weights.sum() or 1.0))
        return factors

    def _check_patterns(self, run: Run, masses: Mapping[Mechanisms, float]) -> None:
        """Refuse where a pattern is absent, not by chance, though one with more gaps occurs.

        By chance is judged as if the variables went missing independently of each other.
        """
        every = sum(masses.values())
        odds_of_missing = {}
        for mechanism in self.free:
            missing = sum(mass for pattern, mass in masses.items() if mechanism in pattern)
            shown = every - missing
            odds_of_missing[mechanism] = missing / shown if every > missing else np.inf
        for pattern, mass in masses.items():
            larger = sum(more for other, more in masses.items() if {*pattern} < {*other})
            expected = masses[()] * prod(odds_of_missing[mechanism] for mechanism in pattern)
            if not mass and larger > 0 and run.is_too_much_unseen(expected):
                names = ", ".join(quoted(mechanism.variable) for mechanism in pattern)
                raise Unfounded(
                    f"no row misses {names} alone, though rows that miss more do occur; the odds "
                    "of the patterns need every pattern of "
                    f"{', '.join(map(str, self.free))} to have positive probability"
                )

    def _check_lost(self, run: Run, lost: float) -> None:
        """Refuse where too much of the weight rests on nothing; note where a little does."""
        most = MAX_LOST_SHARE if run.are_counts else LARGE_SHARE
        if lost > most:
            raise Unfounded(
                f"{lost:.1%} of the rows' weight has no row with fewer gaps to stand for it; the "
                "odds of the patterns need every pattern to have positive probability everywhere"
            )
        if lost > 0:
            run.note(
                f"positivity: {lost:.3g} of the rows' weight has no row with fewer gaps to stand "
                "for it, and is left out"
            )


@dataclass(frozen=True)
class NoSelfCensoring(Term):
    r"""P(target | given) from the odds of the missingness patterns: the sum over all patterns.

    .. math::
        P(x) = D(x) \sum_{T \subseteq I} \prod_{\emptyset \ne T' \subseteq T} \theta_{T'}
    """

    odds: PatternOdds

    def assumptions(self) -> Iterator[str]:
        """That every pattern occurs."""
        free = ", ".join(map(str, self.odds.free))
        yield f"every pattern of {free} has positive probability, whatever the values"
        yield from self.odds.sample.assumptions()

    @property
    def is_exact(self) -> bool:
        """Only proportional where something is given or selected on."""
        return not self.given and not self.odds.sample.selected

    @property
    def is_sum(self) -> bool:
        """Whether the scope has more than is asked for, or the weights need more."""
        odds = self.odds
        if {*odds.scope} - {*self.target, *self.given}:
            return True
        return any(odds.sample.unseen(odds.scope))

    def written(self, writer: Writer) -> str:
        """The complete rows, times the odds of all patterns."""
        gone = [name for name in self.odds.scope if name not in (*self.target, *self.given)]
        return self.odds.product(writer, gone, self.odds.hidden(writer))

    def compute(self, run: Run) -> Conditional:
        """The complete rows times the odds, summed over the rest of the scope."""
        odds = self.odds
        sample = odds.sample.weigh(run)
        factor = np.sum([*odds.factors(run, sample).values()], axis=0)  # P(x) / D(x)
        complete = sample.among(run.rows.shows(odds.free))
        at_rows = factor.reshape(-1)[run.rows.cells(odds.scope, complete.where)]
        weighted = Weighted(complete.rows, complete.where, complete.factors * at_rows)
        # Every row of the sample is used, though only the complete ones carry weight.
        carried = Basis.of(weighted)
        used = Basis.of(sample).rows_used
        basis = Basis(carried.weighted_size, used, carried.largest_weight)
        return Conditional.normalised(weighted.tabled(odds.scope), self.target, self.given, basis)


@dataclass(frozen=True)
class FullLaw(Term):
    r"""The law of variables and mechanisms together, from the odds of the missingness patterns.

    .. math::
        P(x, R_T = 0, R_{I \setminus T} = 1) = D(x)
        \prod_{\emptyset \ne T' \subseteq T} \theta_{T'}

    The target has the variables, then the mechanisms (0: missing, 1: shown).
    """

    odds: PatternOdds

    @property
    def filled(self) -> Scope:
        """The variables; the mechanisms double the table each."""
        return self.odds.scope

    def _left(self, writer: Writer) -> str:
        notation = writer.notation
        shown = [notation.shown(mechanism, "") for mechanism in self.odds.free]
        return notation.probability([*map(writer.name, self.odds.scope), *shown])

    def written(self, writer: Writer) -> str:
        """The complete rows, times the odds of the pattern."""
        return self.odds.product(writer)

    def compute(self, run: Run) -> Conditional:
        """The complete rows times the odds of each pattern."""
        odds = self.odds
        sample = odds.sample.weigh(run)
        complete = odds.table(sample, ()).array
        law = np.zeros((*complete.shape, *(2 for _ in odds.free)))
        for hidden, factor in odds.factors(run, sample).items():
            pattern: Any = (..., *(int(mechanism not in hidden) for mechanism in odds.free))
            law[pattern] = complete * factor
        table = Table(self.target, law / law.sum())
        basis = Basis.of(sample.among(run.rows.shows(odds.free)))
        return Conditional(
            target=self.target, given=(), table=table, mass=Table((), np.ones(())), basis=basis
        )


def nonempty_subsets(items: Sequence[Mechanism]) -> list[Mechanisms]:
    """The nonempty subsets, the smallest first."""
    sizes = range(1, len(items) + 1)
    return list(chain.from_iterable(combinations(items, size) for size in sizes))
