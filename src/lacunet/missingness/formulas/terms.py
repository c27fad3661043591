r"""Estimands as values: what is to be computed from the data, before any data are read.

Every term is a table of P(target | given, do(do)). It says which columns it reads (``columns``),
which tables it fills (``scopes``), how it is written (``equation``: made when asked for), and
what it comes to on some rows (``compute``). Execution decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import reduce

import numpy as np

from lacunet.counts.counts import quotient
from lacunet.missingness.formulas.notation import PLAIN_TEXT, Notation
from lacunet.missingness.formulas.samples import Run, Sample, Weighted, Writer, parts_of_term
from lacunet.network.named_axes import Table
from lacunet.network.network import FloatArray, Scope
from lacunet.network.nodes import SELECTION, quoted

LARGEST_TABLE = 50_000_000


@dataclass(frozen=True)
class Basis:
    """What an estimate rests on."""

    weighted_size: float  # (sum of weights)^2 / sum of squared weights
    rows_used: float  # whatever their weight
    largest_weight: float  # of one row, beside its weight in the data

    @classmethod
    def of(cls, sample: Weighted) -> Basis:
        """What the rows of a sample carry."""
        used = float(sample.rows.counts[sample.where].sum())
        return cls(sample.weighted_size, used, float(sample.factors.max(initial=0.0)))

    def joined(self, other: Basis) -> Basis:
        """What rests on both rests on the weaker."""
        return Basis(
            min(self.weighted_size, other.weighted_size),
            min(self.rows_used, other.rows_used),
            max(self.largest_weight, other.largest_weight),
        )


@dataclass(frozen=True)
class Conditional:
    """A table of P(target | given) and what it rests on.

    Where ``mass`` is zero the data say nothing and the table holds NaN.
    """

    target: Scope
    given: Scope  # what is done first, then what is seen
    table: Table  # axes given..., then target...
    mass: Table  # the share of each configuration of ``given``
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

        A row with b then weighs q(b) / m(b) times as much: the weighted sample size falls by
        :math:`\sum_b q(b)^2 / m(b)`.
        """
        wanted = law.marginal(self.given).array  # q(b)
        ratio = quotient(wanted, self.mass.array)
        spread = float((wanted * ratio).sum())
        return Basis(
            self.basis.weighted_size / max(spread, 1.0),
            self.basis.rows_used,
            self.basis.largest_weight * float(ratio.max(initial=0.0)),
        )


@dataclass(frozen=True)
class Term:
    """P(target | given, do(do)); what follows is what kinds of terms share."""

    target: Scope
    given: Scope
    do: Scope = field(default=(), kw_only=True)

    @property
    def conditions(self) -> Scope:
        """What is done, then what is seen: the first axes of the table."""
        return (*self.do, *self.given)

    def equation(self, notation: Notation = PLAIN_TEXT) -> str:
        """The whole estimand, what it names defined below it."""
        writer = Writer(notation, visible={*self.target, *self.conditions})
        sign = notation.equal if self.is_exact else notation.proportional
        first = f"{self._left(writer)}{sign}{self.written(writer)}"
        return notation.block([first, *writer.definitions()])

    def _left(self, writer: Writer) -> str:
        """The left side: what is asked for."""
        notation = writer.notation
        conditions = writer.names(self.given)
        if self.do:
            conditions = [notation.done(writer.names(self.do)), *conditions]
        return notation.probability(map(writer.name, self.target), conditions)

    @property
    def is_exact(self) -> bool:
        """Whether the right side is equal; else it is only proportional."""
        return True

    @property
    def is_sum(self) -> bool:
        """Whether the right side begins with the sign of a sum."""
        return False

    def inner(self, writer: Writer) -> str:
        """The term inside another: in brackets, with what it is, if it is only proportional."""
        notation = writer.notation
        written = self.written(writer)
        if self.is_exact:
            return written
        return notation.bracketed(f"{self._left(writer)}{notation.proportional}{written}")

    @property
    def parts(self) -> tuple[Term, ...]:
        """The terms that this one is made of."""
        values = (getattr(self, part.name) for part in fields(self))
        return tuple(value for value in values if isinstance(value, Term))

    @property
    def columns(self) -> frozenset[str]:
        """The variables whose columns are read: all that it names, but for a known law."""
        return frozenset(
            part for part in parts_of_term(self, stop=InPopulation) if isinstance(part, str)
        )

    @property
    def filled(self) -> Scope:
        """The variables of the largest table that is filled, apart from those of its parts."""
        return (*self.conditions, *self.target)

    def scopes(self) -> Iterator[Scope]:
        """The variables of every table that is filled."""
        return (part.filled for part in parts_of_term(self) if hasattr(part, "filled"))

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
        return tuple(m.variable for m in self.sample.selected if m != SELECTION)

    def assumptions(self) -> Iterator[str]:
        """What the sample assumes."""
        return self.sample.assumptions()

    @property
    def is_exact(self) -> bool:
        """Equal if nothing is weighted, or everything and nothing given."""
        weighted = len(self.sample.weights)
        return not weighted or (weighted == len(self.sample.selected) and not self.given)

    @property
    def is_sum(self) -> bool:
        """Whether the weights need more than is mentioned."""
        return bool(self.sample.weights) and any(self.sample.unseen(self.mentions))

    def written(self, writer: Writer) -> str:
        """A conditional, or a weighted share of the rows."""
        notation = writer.notation
        if self.sample.weights:
            return self.sample.written(writer, self.mentions)
        given = [*writer.names(self.given), *self.sample.conditions(notation)]
        return notation.probability(writer.names(self.target), given)

    def compute(self, run: Run) -> Conditional:
        """The weighted share of the rows."""
        sample = self.sample.weigh(run)
        table = sample.tabled((*self.given, *self.target))
        return Conditional.normalised(table, self.target, self.given, Basis.of(sample))


@dataclass(frozen=True)
class InPopulation(Term):
    """P(target | given) from a law that is known from elsewhere, not from the rows."""

    known: Scope

    def written(self, writer: Writer) -> str:
        """The conditional, and where it comes from."""
        notation = writer.notation
        written = notation.probability(writer.names(self.target), writer.names(self.given))
        return written + notation.words(" (population)")

    def compute(self, run: Run) -> Conditional:
        """The conditional of the known law."""
        every = float(run.rows.counts.sum())  # it limits nothing
        basis = Basis(every, every, 0.0)
        return Conditional.normalised(run.population[self.known], self.target, self.given, basis)


@dataclass(frozen=True)
class Product(Term):
    """P(A1, A2 | B) = P(A1 | A2, B) P(A2 | B)."""

    first: Term  # P(A1 | A2, B)
    second: Term  # P(A2 | B)

    @classmethod
    def of(cls, first: Term, second: Term) -> Product:
        """The product; its target is both targets, given what the second is given."""
        return cls((*first.target, *second.target), second.given, first, second, do=first.do)

    def written(self, writer: Writer) -> str:
        """One factor times the other."""
        return _joined(self.parts, writer)

    def compute(self, run: Run) -> Conditional:
        """The product; an empty row of the first factor backs off to fewer conditions."""
        first, second = (part.compute(run) for part in self.parts)
        scope = (*self.conditions, *self.target)
        left = first.table.aligned(scope)
        right = second.table.aligned(scope)
        if (np.isnan(left) & (right > 0)).any():
            kept = tuple(name for name in first.given if name in self.conditions)
            fewer = [kept]
            if not self.do:  # an effect must keep what is done
                fewer.append(())
            left = _backed_off(run, first, left, scope, fewer)
        table = np.where(right == 0, 0.0, left * right)  # zero although the other may be NaN
        basis = first.standardised(second.joint).joined(second.basis)
        return Conditional(
            target=self.target,
            given=self.conditions,
            table=Table(scope, table),
            mass=second.mass,
            basis=basis,
        )


def _backed_off(
    run: Run, part: Conditional, array: FloatArray, scope: Scope, fewer: Sequence[Scope]
) -> FloatArray:
    """A factor where the data say nothing: given fewer conditions, the average over the others."""
    run.note(
        f"positivity: P({', '.join(part.target)} | {', '.join(part.given)}) has cells "
        "without data, which backed off to the average over the others"
    )
    for names in fewer:
        average = part.joint.marginal((*names, *part.target)).given(names)
        array = np.where(np.isnan(array), average.aligned(scope), array)
    return array


def _joined(parts: Sequence[Term], writer: Writer) -> str:
    """The factors of a product; sums among them in brackets."""
    notation = writer.notation
    factors = []
    for part in parts:
        factor = part.inner(writer)
        if part.is_sum and part.is_exact:  # else it has brackets already
            factor = notation.bracketed(factor)
        factors.append(factor)
    return notation.times.join(factors)


@dataclass(frozen=True)
class Kernels(Term):
    r"""The product of kernels, each of one district: :math:`\prod_i Q[D_i]`.

    Each factor is :math:`Q[D] = P(d \mid do(pa(D)))`; a target of one may be a condition of
    another. J. Tian and J. Pearl, "A general identification condition for causal effects",
    2002.
    """

    factors: tuple[Term, ...]

    @property
    def parts(self) -> tuple[Term, ...]:
        """The factors."""
        return self.factors

    def written(self, writer: Writer) -> str:
        """One factor after the other."""
        return _joined(self.factors, writer)

    def compute(self, run: Run) -> Conditional:
        """The product; zero where a factor is zero, whatever the others are.

        An empty row of a factor backs off to those of its conditions that are done, or given.
        """
        results = [factor.compute(run) for factor in self.factors]
        scope = (*self.conditions, *self.target)
        shape = run.rows.shape(scope)
        arrays = [np.broadcast_to(result.table.aligned(scope), shape) for result in results]
        is_zero = np.any([array == 0 for array in arrays], axis=0)
        product = np.ones(shape)
        for result, array in zip(results, arrays, strict=True):
            factor = array
            if (np.isnan(array) & ~is_zero).any():
                kept = tuple(name for name in result.given if name in self.conditions)
                factor = _backed_off(run, result, array, scope, (kept,))
            product = product * factor
        basis = reduce(Basis.joined, [result.basis for result in results])
        table = Table(scope, np.where(is_zero, 0.0, product))
        mass = shown_share(run, self.conditions)
        return Conditional(
            target=self.target, given=self.conditions, table=table, mass=mass, basis=basis
        )


@dataclass(frozen=True)
class SumOut(Term):
    """P(A | B) as the sum of P(A, Z | B) over Z."""

    term: Term
    is_sum = True

    def written(self, writer: Writer) -> str:
        """The sum."""
        summed = [name for name in self.term.target if name not in self.target]
        with writer.summing(summed) as sign:
            return sign + self.term.inner(writer)

    def compute(self, run: Run) -> Conditional:
        """The sum over what is not in the target."""
        term = self.term.compute(run)
        table = term.table.marginal((*term.given, *self.target))
        return replace(term, target=self.target, table=table)


@dataclass(frozen=True)
class Conditioned(Term):
    """P(A | B1, B2) from P(A, B1 | B2)."""

    term: Term
    is_exact = False  # B1 is divided out

    def written(self, writer: Writer) -> str:
        """The joint."""
        return self.term.inner(writer)

    def compute(self, run: Run) -> Conditional:
        """The joint with B2, divided by its marginal."""
        term = self.term.compute(run)
        given = self.conditions
        table = term.table.marginal((*given, *self.target))
        shares = table.marginal(given)  # P(B1 | B2)
        mass = Table(shares.scope, np.nan_to_num(shares.array)) * term.mass
        mass = mass.marginal(given).shares()
        return Conditional(
            target=self.target, given=given, table=table.given(given), mass=mass, basis=term.basis
        )


@dataclass(frozen=True)
class OtherConditions(Term):
    """P(A | B, do(C)), which is another term with other conditions.

    A does not depend on what of B and C is not among them; what is in C and seen in the term has
    the same effect when it is only seen. What is among the conditions of the term alone has no
    effect on A: the term is the same for any value of it.
    """

    term: Term

    @property
    def is_exact(self) -> bool:
        """As the term; proportional to it for every value of its conditions."""
        return self.term.is_exact

    @property
    def is_sum(self) -> bool:
        """As the term."""
        return self.term.is_sum

    def written(self, writer: Writer) -> str:
        """The term, for any value of what has no effect."""
        written = self.term.written(writer)
        idle = [name for name in self.term.conditions if name not in self.conditions]
        if idle:
            return writer.notation.for_any(written, writer.names(idle))
        return written

    def compute(self, run: Run) -> Conditional:
        """The same for every value that was left out.

        The average over the values without effect, weighted by their shares among the rows.
        """
        term = self.term.compute(run)
        kept = tuple(name for name in term.given if name in self.conditions)
        table = term.table
        if kept != term.given:
            table = _averaged(term, (*kept, *self.target))
        scope = (*self.conditions, *self.target)
        array = np.broadcast_to(table.aligned(scope), run.rows.shape(scope)).copy()
        if {*self.do} <= {*self.term.do} and {*self.given} <= {*self.term.given}:
            mass = term.mass.marginal(self.conditions)
        else:  # conditions that the term does not know of
            mass = shown_share(run, self.conditions)
        return Conditional(
            target=self.target,
            given=self.conditions,
            table=Table(scope, array),
            mass=mass,
            basis=term.basis,
        )


def _averaged(term: Conditional, scope: Scope) -> Table:
    """A table with fewer conditions: the average over the others where it is known."""
    table = term.table
    weights = term.mass.aligned(table.scope) * np.isfinite(table.array)
    above = Table(table.scope, np.nan_to_num(table.array) * weights).marginal(scope)
    below = Table(table.scope, weights).marginal(scope)
    return Table(above.scope, quotient(above.array, below.array, np.nan))


@dataclass(frozen=True)
class Inverted(Term):
    r"""P(A | B) from P(A | B, z) and P(z | A, B), for any z that goes with every a.

    .. math::
        P(a \mid b) \propto \frac{P(a \mid b, z)}{P(z \mid a, b)}, \qquad
        \frac{1}{P(z \mid b)} = \sum_a \frac{P(a \mid b, z)}{P(z \mid a, b)}
    """

    first: Term  # P(A | B, z)
    second: Term  # P(z | A, B)
    is_exact = False

    @property
    def helper(self) -> Scope:
        """The variables Z that are taken in and divided out again."""
        return self.second.target

    def assumptions(self) -> Iterator[str]:
        """That there is a z to average over, and what both parts assume."""
        helpers = ", ".join(map(quoted, self.helper))
        yield f"some value of {helpers} goes with every value of the target"
        yield from super().assumptions()

    def written(self, writer: Writer) -> str:
        """The ratio."""
        above, below = (part.inner(writer) for part in self.parts)
        return writer.notation.divided(above, [below])

    def compute(self, run: Run) -> Conditional:
        """The average of the ratio over the values z that go with every a, weighted by P(z | b).

        Where all do, that is P(a | b, z) averaged over z.
        """
        first, second = (part.compute(run) for part in self.parts)
        scope = (*self.conditions, *self.helper, *self.target)
        above, below = np.broadcast_arrays(first.table.aligned(scope), second.table.aligned(scope))
        axes = tuple(range(len(scope) - len(self.target), len(scope)))
        fits = (below > 0) & np.isfinite(above)
        absent = np.isnan(below) & (above == 0)  # a never goes with b: it takes no part
        usable = (fits | absent).all(axis=axes, keepdims=True)
        ratio = np.divide(above, below, out=np.zeros(above.shape), where=usable & fits)
        total = ratio.sum(axis=axes, keepdims=True)
        share = quotient(1, total)  # P(z | b)
        average: FloatArray = ratio * share  # P(a | b) by each z
        if usable.all():
            average = np.where(fits, above, 0.0)
        else:
            run.note(
                f"positivity: some values of {', '.join(self.helper)} do not go with every value "
                f"of {', '.join(self.target)}, and are left out"
            )
        basis = first.basis.joined(second.basis)
        table = Table(scope, average * share)
        result = Conditional.normalised(table, self.target, self.conditions, basis)
        return replace(result, mass=shown_share(run, self.conditions))


def shown_share(run: Run, given: Scope) -> Table:
    """The share of each configuration of ``given`` among the rows that show it."""
    shown = run.rows.is_shown(given)
    return run.rows.tabled(given, shown, run.rows.weights[shown]).shares()
