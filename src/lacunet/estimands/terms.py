r"""Estimands as values: what is to be computed from the data, before any data are read.

Every term is a table of P(target | given). It says which columns it reads (``columns``),
which tables it fills (``scopes``), how it is written (``equation``: made when asked for), and
what it comes to on some rows (``compute``). Execution decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import numpy as np

from lacunet.estimands.notation import LATEX, TEXT, Notation
from lacunet.estimands.samples import Run, Sample, Weighted, Writer, nested
from lacunet.model.network import FloatArray, Scope
from lacunet.model.nodes import quoted
from lacunet.model.table import Table

LARGEST_TABLE = 50_000_000


@dataclass(frozen=True)
class Basis:
    """What an estimate rests on: effective size, rows used, the largest weight of a row."""

    effective_size: float
    rows_used: float
    largest_weight: float

    @classmethod
    def of(cls, sample: Weighted) -> Basis:
        """What the rows of a sample carry."""
        used = float(sample.rows.counts[sample.where].sum())
        return cls(sample.effective_size, used, float(sample.factors.max(initial=0.0)))

    def joined(self, other: Basis) -> Basis:
        """What rests on both rests on the weaker."""
        return Basis(
            min(self.effective_size, other.effective_size),
            min(self.rows_used, other.rows_used),
            max(self.largest_weight, other.largest_weight),
        )


@dataclass(frozen=True)
class Conditional:
    """A table of P(target | given), axes given... then target, and what it rests on.

    Where ``mass``, the share of each configuration of ``given``, is zero the data say
    nothing and the table holds NaN.
    """

    target: Scope
    given: Scope
    table: Table
    mass: Table
    basis: Basis

    @classmethod
    def normalised(cls, weights: Table, target: Scope, given: Scope, basis: Basis) -> Conditional:
        """P(target | given) from weights over both."""
        ordered = weights.marginal((*given, *target))
        return cls(target, given, ordered.given(given), ordered.marginal(given).shares(), basis)

    @property
    def joint(self) -> Table:
        """P(given, target), nothing where the data say nothing."""
        return Table(self.table.scope, np.nan_to_num(self.table.array)) * self.mass

    def standardised(self, law: Table) -> Basis:
        r"""What the table rests on where ``given`` has another law q than its own, m.

        A row with b then weighs q(b) / m(b) times as much: the effective size falls by
        :math:`\sum_b q(b)^2 / m(b)`.
        """
        wanted, own = law.marginal(self.given).array, self.mass.array
        ratio = np.divide(wanted, own, out=np.zeros_like(own), where=own > 0)
        spread = float((wanted * ratio).sum())
        return Basis(
            self.basis.effective_size / max(spread, 1.0),
            self.basis.rows_used,
            self.basis.largest_weight * float(ratio.max(initial=0.0)),
        )


@dataclass(frozen=True)
class Term:
    """P(target | given); what follows is what kinds of terms share."""

    target: Scope
    given: Scope

    @property
    def text(self) -> str:
        """The right side alone, in plain text."""
        return self.written(Writer(TEXT))

    @property
    def latex(self) -> str:
        """The right side alone, in LaTeX."""
        return self.written(Writer(LATEX))

    def equation(self, notation: Notation = TEXT) -> str:
        """The whole estimand, what it names defined below it."""
        writer = Writer(notation)
        lines = [f"{self._left(notation)}{self.relation(notation)}{self.written(writer)}"]
        defined = 0
        while defined < len(writer.labels):
            part, label = list(writer.labels.items())[defined]
            lines.append(f"{label} = {part.written(writer)}")  # type: ignore[attr-defined]
            defined += 1
        return notation.block(lines)

    def _left(self, notation: Notation) -> str:
        return notation.probability(map(notation.name, self.target), notation.names(self.given))

    def relation(self, notation: Notation) -> str:  # noqa: ARG002
        """Equal, or only proportional."""
        return " = "

    def inner(self, writer: Writer) -> str:
        """The term inside another: in brackets, with what it is, if it is only proportional."""
        notation = writer.notation
        relation = self.relation(notation)
        written = self.written(writer)
        return written if relation == " = " else f"[{self._left(notation)}{relation}{written}]"

    @property
    def parts(self) -> tuple[Term, ...]:
        """The terms that this one is made of."""
        values = (getattr(self, own.name) for own in fields(self))
        return tuple(value for value in values if isinstance(value, Term))

    @property
    def columns(self) -> frozenset[str]:
        """The variables whose columns are read: all that it names."""
        return frozenset(part for part in nested(self) if isinstance(part, str))

    @property
    def filled(self) -> Scope:
        """The variables of the largest table that is filled, apart from those of its parts."""
        return (*self.given, *self.target)

    def scopes(self) -> Iterator[Scope]:
        """The variables of every table that is filled."""
        return (part.filled for part in nested(self) if hasattr(part, "filled"))

    def assumptions(self) -> Iterator[str]:
        """What must have positive probability for the estimand to hold, in words."""
        for part in self.parts:
            yield from part.assumptions()

    def written(self, writer: Writer) -> str:
        """The right side."""
        raise NotImplementedError

    def compute(self, run: Run) -> Conditional:
        """The table, from the rows of the run."""
        raise NotImplementedError


@dataclass(frozen=True)
class Factor(Term):
    r"""P(target | given) as the share of a weighted sample.

    .. math::
        P(a \mid b) \propto \sum_{rows} \prod_{j \in F} 1 / \pi_j
    """

    sample: Sample

    @property
    def mentions(self) -> Scope:
        """The variables on both sides of the bar."""
        return (*self.target, *self.given)

    @property
    def shown(self) -> Scope:
        """The variables that the rows must show."""
        return tuple(mechanism.variable for mechanism in self.sample.selected)

    def assumptions(self) -> Iterator[str]:
        """What the sample assumes."""
        return self.sample.assumptions()

    def relation(self, notation: Notation) -> str:
        """Equal if nothing is weighted, or everything and nothing given."""
        weighted = len(self.sample.weights)
        exact = weighted == len(self.sample.selected) and not self.given
        return " = " if exact or not weighted else notation.proportional

    def written(self, writer: Writer) -> str:
        """A conditional, or a weighted share of the rows."""
        notation = writer.notation
        if not self.sample.weights:
            given = [*notation.names(self.given), *self.sample.conditions(notation)]
            return notation.probability(notation.names(self.target), given)
        extra, free, share = self.sample.written(writer, self.mentions)
        return notation.summed(extra, free) + share

    def compute(self, run: Run) -> Conditional:
        """The weighted share of the rows."""
        sample = self.sample.weigh(run)
        table = sample.tabled((*self.given, *self.target))
        return Conditional.normalised(table, self.target, self.given, Basis.of(sample))


@dataclass(frozen=True)
class Product(Term):
    """P(A1, A2 | B) = P(A1 | A2, B) P(A2 | B)."""

    first: Term
    second: Term

    @classmethod
    def of(cls, first: Term, second: Term) -> Product:
        """The product; its target is both targets, given what the second is given."""
        return cls((*first.target, *second.target), second.given, first, second)

    def written(self, writer: Writer) -> str:
        """One factor times the other."""
        inner = [part.inner(writer) for part in self.parts]
        is_sum = [text.startswith(("sum over", r"\sum")) for text in inner]
        bracketed = [
            f"[{text}]" if sums else text for text, sums in zip(inner, is_sum, strict=True)
        ]
        return writer.notation.times.join(bracketed)

    def compute(self, run: Run) -> Conditional:
        """The product; an empty row of the first factor backs off to P(A1)."""
        first, second = (part.compute(run) for part in self.parts)
        scope = (*self.given, *self.target)
        left, right = first.table.aligned(scope), second.table.aligned(scope)
        if (np.isnan(left) & (right > 0)).any():
            run.notes[
                f"positivity: P({', '.join(first.target)} | {', '.join(first.given)}) has cells "
                "without data, which backed off to the average over the others"
            ] = None
            average = first.joint.marginal(first.target).aligned(scope)
            left = np.where(np.isnan(left), average, left)
        table = np.where(right == 0, 0.0, np.nan_to_num(left) * right)
        basis = first.standardised(second.joint).joined(second.basis)
        return Conditional(self.target, self.given, Table(scope, table), second.mass, basis)


@dataclass(frozen=True)
class SumOut(Term):
    """P(A | B) as the sum of P(A, Z | B) over Z."""

    term: Term

    def written(self, writer: Writer) -> str:
        """The sum."""
        gone = [name for name in self.term.target if name not in self.target]
        return writer.notation.summed(gone) + self.term.inner(writer)

    def compute(self, run: Run) -> Conditional:
        """The sum over what is not in the target."""
        term = self.term.compute(run)
        table = term.table.marginal((*term.given, *self.target))
        return replace(term, target=self.target, table=table)


@dataclass(frozen=True)
class Conditioned(Term):
    """P(A | B1, B2) from P(A, B1 | B2)."""

    term: Term

    def relation(self, notation: Notation) -> str:
        """Proportional: B1 is divided out."""
        return notation.proportional

    def written(self, writer: Writer) -> str:
        """The joint."""
        return self.term.inner(writer)

    def compute(self, run: Run) -> Conditional:
        """The joint with B2, divided by its marginal."""
        term = self.term.compute(run)
        return Conditional.normalised(term.joint, self.target, self.given, term.basis)


@dataclass(frozen=True)
class Widened(Term):
    """P(A | B) = P(A | B') where A does not depend on the rest of B given B'."""

    term: Term

    def written(self, writer: Writer) -> str:
        """The same with fewer conditions."""
        return self.term.inner(writer)

    def compute(self, run: Run) -> Conditional:
        """The same for every value that was left out."""
        term = self.term.compute(run)
        scope = (*self.given, *self.target)
        table = np.broadcast_to(term.table.aligned(scope), run.rows.shape(scope)).copy()
        mass = _shown_share(run, self.given)
        return Conditional(self.target, self.given, Table(scope, table), mass, term.basis)


@dataclass(frozen=True)
class Inverted(Term):
    r"""P(A | B) from P(A | B, z) and P(z | A, B), for any z that goes with every a.

    .. math::
        P(a \mid b) \propto \frac{P(a \mid b, z)}{P(z \mid a, b)}, \qquad
        \frac{1}{P(z \mid b)} = \sum_a \frac{P(a \mid b, z)}{P(z \mid a, b)}
    """

    first: Term
    second: Term

    @property
    def helper(self) -> Scope:
        """The variables Z that are taken in and divided out again."""
        return self.second.target

    def assumptions(self) -> Iterator[str]:
        """That there is a z to average over, and what both parts assume."""
        helpers = ", ".join(map(quoted, self.helper))
        yield f"some value of {helpers} goes with every value of the target"
        yield from super().assumptions()

    def relation(self, notation: Notation) -> str:
        """Proportional."""
        return notation.proportional

    def written(self, writer: Writer) -> str:
        """The ratio."""
        return " / ".join(part.inner(writer) for part in self.parts)

    def compute(self, run: Run) -> Conditional:
        """The average of the ratio over the values z that go with every a, weighted by P(z | b).

        Where all do, that is P(a | b, z) averaged over z.
        """
        first, second = (part.compute(run) for part in self.parts)
        scope = (*self.given, *self.helper, *self.target)
        above, below = np.broadcast_arrays(first.table.aligned(scope), second.table.aligned(scope))
        axes = tuple(range(len(scope) - len(self.target), len(scope)))
        fits = (below > 0) & np.isfinite(above)
        absent = np.isnan(below) & (above == 0)  # a never goes with b: it takes no part
        usable = (fits | absent).all(axis=axes, keepdims=True)
        ratio = np.divide(above, below, out=np.zeros(above.shape), where=usable & fits)
        total = ratio.sum(axis=axes, keepdims=True)
        share = np.divide(1, total, out=np.zeros_like(total), where=total > 0)  # P(z | b)
        average: FloatArray = ratio * share  # P(a | b) by each z
        if usable.all():
            average = np.where(fits, above, 0.0)
        else:
            run.notes[
                f"positivity: some values of {', '.join(self.helper)} do not go with every value "
                f"of {', '.join(self.target)}, and are left out"
            ] = None
        basis = first.basis.joined(second.basis)
        table = Table(scope, average * share)
        result = Conditional.normalised(table, self.target, self.given, basis)
        return replace(result, mass=_shown_share(run, self.given))


def _shown_share(run: Run, given: Scope) -> Table:
    """The share of each configuration of ``given`` among the rows that show it."""
    shown = run.rows.is_shown(given)
    return run.rows.tabled(given, shown, run.rows.weights[shown]).shares()
