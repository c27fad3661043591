r"""The odds of missingness patterns, from the pattern without gaps up: no self-censoring.

Every pattern of ``free`` must occur: where a pattern never does and one with more gaps
does, the odds of the latter rest on nothing. That is checked on the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations
from math import prod
from typing import Any

import numpy as np

from lacunet.estimands.samples import (
    LARGE_SHARE,
    Mechanisms,
    Run,
    Sample,
    Unfounded,
    Weighted,
    Writer,
)
from lacunet.estimands.terms import Basis, Conditional, Term
from lacunet.model.network import FloatArray, Scope
from lacunet.model.nodes import Mechanism, quoted
from lacunet.model.table import Table
from lacunet.statistics.counts import quotient

LOST_SHARE = 0.05  # of the rows' weight, beyond which nothing is estimated


@dataclass(frozen=True)
class PatternOdds:
    r"""The odds :math:`\theta_T` of the patterns of ``free`` over ``scope``, within a sample.

    .. math::
        \theta_T(x_{-T}) = \frac{P(x_{-T}, R_T = 0, R_{I \setminus T} = 1)}
        {\sum_{x_T} D(x) \prod_{\emptyset \ne T' \subsetneq T} \theta_{T'}}, \qquad
        D(x) = P(x_S, R_I = 1)
    """

    scope: Scope
    free: Mechanisms
    sample: Sample

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
        return label.replace(notation.pattern, notation.smaller_pattern) if smaller else label

    def hidden(self, writer: Writer) -> str:
        """The variables that may be missing, listed."""
        return writer.notation.listed(writer.notation.name(m.variable) for m in self.free)

    def written(self, writer: Writer) -> str:
        """The definition of the odds of one pattern T."""
        scope = writer.notation.listed(map(writer.name, self.scope))
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
        gone = {mechanism.variable for mechanism in hidden}
        return sample.among(where).tabled(tuple(name for name in self.scope if name not in gone))

    def factors(self, run: Run, sample: Weighted) -> dict[Mechanisms, FloatArray]:
        r"""For each pattern T :math:`P(x, R_T = 0, R_{I-T} = 1) / D(x)`: a product of odds.

        .. math:: \prod_{\emptyset \ne T' \subseteq T} \theta_{T'}(x)
        """
        complete = self.table(sample, ()).array
        odds: dict[Mechanisms, FloatArray] = {}
        masses: dict[Mechanisms, float] = {(): float(complete.sum())}
        factors: dict[Mechanisms, FloatArray] = {(): np.ones_like(complete)}
        lost = 0.0
        for hidden in subsets(self.free):
            inner = np.ones_like(complete)
            for smaller in subsets(hidden):
                inner = inner * odds.get(smaller, 1.0)
            axes = tuple(self.scope.index(mechanism.variable) for mechanism in hidden)
            below = (complete * inner).sum(axis=axes, keepdims=True)
            above = self.table(sample, hidden).aligned(self.scope)
            masses[hidden] = float(above.sum())
            lost += float(above[below <= 0].sum())
            odds[hidden] = quotient(above, below)
            factors[hidden] = inner * odds[hidden]
        self._check(run, masses, lost / (run.rows.weights.sum() or 1.0))
        return factors

    def _check(self, run: Run, masses: Mapping[Mechanisms, float], lost: float) -> None:
        """Refuse where a pattern is absent, not by chance, though one with more gaps occurs."""
        every = sum(masses.values())
        hidden = {m: sum(mass for t, mass in masses.items() if m in t) for m in self.free}
        rates = {m: mass / (every - mass) if every > mass else np.inf for m, mass in hidden.items()}
        for pattern, mass in masses.items():
            above = sum(more for t, more in masses.items() if {*pattern} < {*t})
            expected = masses[()] * prod(rates[m] for m in pattern)
            if not mass and above > 0 and run.is_much(expected):
                gone = ", ".join(quoted(m.variable) for m in pattern)
                raise Unfounded(
                    f"no row misses {gone} alone, though rows that miss more do occur; the odds of "
                    "the patterns need every pattern of "
                    f"{', '.join(map(str, self.free))} to have positive probability"
                )
        if lost > (LOST_SHARE if run.are_counts else LARGE_SHARE):
            raise Unfounded(
                f"{lost:.1%} of the rows' weight has no row with fewer gaps to stand for it; the "
                "odds of the patterns need every pattern to have positive probability everywhere"
            )
        if lost > 0:
            run.notes[
                f"positivity: {lost:.3g} of the rows' weight has no row with fewer gaps to stand "
                "for it, and is left out"
            ] = None


@dataclass(frozen=True)
class NoSelfCensoring(Term):
    r"""P(target | given) from the odds of the missingness patterns.

    .. math::
        P(x_S) = D(x) \sum_{T \subseteq I} \prod_{\emptyset \ne T' \subseteq T} \theta_{T'}
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
        """Whether the scope has more than is asked for."""
        odds = self.odds
        return bool(
            {*odds.scope} - {*self.target, *self.given} or any(odds.sample.unseen(odds.scope))
        )

    def written(self, writer: Writer) -> str:
        """The complete rows, times the odds of all patterns."""
        gone = [name for name in self.odds.scope if name not in (*self.target, *self.given)]
        return self.odds.product(writer, gone, self.odds.hidden(writer))

    def compute(self, run: Run) -> Conditional:
        """The complete rows times the odds, summed over the rest of the scope."""
        odds, sample = self.odds, self.odds.sample.weigh(run)
        factor = np.sum([*odds.factors(run, sample).values()], axis=0)  # P(x_S) / D(x)
        complete = sample.among(run.rows.shows(odds.free))
        at_rows = factor.reshape(-1)[run.rows.cells(odds.scope, complete.where)]
        complete = replace(complete, factors=complete.factors * at_rows)
        basis = replace(Basis.of(complete), rows_used=Basis.of(sample).rows_used)
        joint = complete.tabled(odds.scope)
        return Conditional.normalised(joint, self.target, self.given, basis)


@dataclass(frozen=True)
class FullLaw(Term):
    r"""The law of variables and mechanisms together, from the odds of the missingness patterns.

    .. math::
        P(x_S, R_T = 0, R_{I \setminus T} = 1) = D(x)
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
        odds, sample = self.odds, self.odds.sample.weigh(run)
        complete = odds.table(sample, ()).array
        law = np.zeros((*complete.shape, *(2 for _ in odds.free)))
        for hidden, factor in odds.factors(run, sample).items():
            index: Any = (..., *(int(m not in hidden) for m in odds.free))
            law[index] = complete * factor
        basis = Basis.of(sample.among(run.rows.shows(odds.free)))
        table = Table(self.target, law / law.sum())
        return Conditional(self.target, (), table, Table((), np.ones(())), basis)


def subsets(items: Sequence[Mechanism]) -> list[Mechanisms]:
    """The nonempty subsets, the smallest first."""
    return list(chain.from_iterable(combinations(items, k) for k in range(1, len(items) + 1)))
