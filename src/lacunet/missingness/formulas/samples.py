r"""Weighted samples and the propensities that weigh them.

A *sample* is the rows that show some variables, each weighted by the inverse of known
propensities :math:`\pi_i = \Pr(R_i = 1 \mid pa_i)`; a propensity is itself estimated in a
sample. Both say which columns they read, how they are written, and what they come to.

A cell of a propensity's table that no used row falls in is never looked at. Where a used
row falls in a cell without data the propensity backs off, and says so: a cell that has rows
but none shown takes Laplace's estimate, a cell without rows that of the table with its least
informative parent summed out. Parent configurations that have rows, of which none is shown,
have nobody to stand for them: their weight is lost, and that is said too.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.counts import added_up
from lacunet.counts.distinct_rows import Rows, Where
from lacunet.data.table import whole_rows
from lacunet.missingness.formulas.notation import LONG_LIST, Notation
from lacunet.network.named_axes import Table
from lacunet.network.network import FloatArray, Scope
from lacunet.network.nodes import SELECTION, Mechanism, quoted
from lacunet.text import counted

Mechanisms = tuple[Mechanism, ...]
# Rows expected where none is seen: by chance that happens with probability exp(-5), below 1%.
EXPECTED_BUT_UNSEEN = 5.0
# Of all weight. Weights that are not whole numbers of rows say nothing of chance: a fixed share.
LARGE_SHARE = 0.01


class Unfounded(Exception):  # noqa: N818
    """The data contradict what an estimand assumes; never leaves `lacunet.missingness`."""


@dataclass
class Run:
    """One computation of one estimand."""

    rows: Rows
    population: Mapping[Scope, Table] = field(default_factory=dict)  # laws known from elsewhere
    tables: dict[Propensity, PropensityTable] = field(default_factory=dict)  # done so far
    notes: dict[str, None] = field(default_factory=dict)  # a set that keeps its order
    chosen: dict[Sample, Sample] = field(default_factory=dict)  # of the samples that serve as well

    def note(self, words: str) -> None:
        """Say something about the data, once."""
        self.notes[words] = None

    @property
    def are_counts(self) -> bool:
        """Whether the weights are whole numbers: so many rows each."""
        return bool((self.rows.weights == np.floor(self.rows.weights)).all())

    def is_too_much_unseen(self, expected: float) -> bool:
        """Whether weight that is expected, and not seen in any row, refutes what is assumed.

        Of rows: whether that is no chance; of sampling weights: whether it is a large share.
        """
        if self.are_counts:
            return expected >= EXPECTED_BUT_UNSEEN
        return expected >= LARGE_SHARE * float(self.rows.weights.sum())


@dataclass
class Writer:
    """Writes one estimand; gathers the parts it names, to define each below it."""

    notation: Notation
    labels: dict[Hashable, str] = field(default_factory=dict)  # of the parts that are named
    visible: set[str] = field(default_factory=set)  # names in use around what is being written
    primes: dict[str, int] = field(default_factory=dict)  # of a visible name that is summed over

    def label(self, propensity: Propensity) -> str:
        """The name of a propensity."""
        inside = self.notation.name(propensity.mechanism.variable)
        return self.named(propensity, lambda dashes: self.notation.labelled("pi", inside, dashes))

    def named(self, part: Hashable, labelled: Callable[[int], str]) -> str:
        """The name of a part of the formula; dashes tell namesakes apart."""
        if part not in self.labels:
            in_use = set(self.labels.values())
            labels = map(labelled, count())
            self.labels[part] = next(label for label in labels if label not in in_use)
        return self.labels[part]

    def name(self, variable: str) -> str:
        """A variable or a mechanism of either value, as it is called here."""
        primes = self.primes.get(variable, 0)
        if isinstance(variable, Mechanism):
            return self.notation.shown(variable, "") + self.notation.prime * primes
        return self.notation.name(variable, primes)

    def names(self, variables: Sequence[str]) -> list[str]:
        """Variables after the bar or under a sum; of a long list their number."""
        if len(variables) <= LONG_LIST:
            return [*map(self.name, variables)]
        return [self.notation.words(f"{len(variables)} variables")]

    @contextmanager
    def summing(self, variables: Sequence[str], free: Mechanisms = ()) -> Iterator[str]:
        """Within it, names stand for what a sum runs over; gives the sign of the sum."""
        visible_before = set(self.visible)
        primes_before = dict(self.primes)
        for name in variables:
            if name in self.visible:
                self.primes[name] = self.primes.get(name, 0) + 1
        self.visible.update(variables)
        summed = self.names(variables)
        summed += [self.notation.shown(mechanism, "") for mechanism in free]
        try:
            yield self.notation.summed(summed)
        finally:
            self.visible = visible_before
            self.primes = primes_before

    def definitions(self) -> Iterator[str]:
        """One line for each part that was named, and for those that these name."""
        defined = 0
        while defined < len(self.labels):  # writing a definition may name more parts
            part, label = list(self.labels.items())[defined]
            self.visible = {*part.filled}  # type: ignore[attr-defined]
            self.primes = {}
            written = part.written(self)  # type: ignore[attr-defined]
            yield f"{label}{self.notation.equal}{written}"
            defined += 1


@dataclass(frozen=True)
class Sample:
    r"""The rows with :math:`R_H = 1`, each weighted by :math:`\prod_{j \in F} 1/\pi_j`.

    Of several samples that serve as well the one with the largest weighted sample size on the data
    is taken.
    """

    selected: Mechanisms  # H
    weights: tuple[Propensity, ...] = ()  # of F, a part of H
    others: tuple[Sample, ...] = ()  # that serve as well

    def assumptions(self) -> Iterator[str]:
        """What must have positive probability for the sample to stand for all rows."""
        if self.selected and not self.weights:
            named = [quoted(m.variable) for m in self.selected if m != SELECTION]
            if named:
                yield f"some rows of each configuration show {', '.join(named)}"
            if SELECTION in self.selected:
                yield "some rows of each configuration are recorded"
        for weight in self.weights:
            yield from weight.assumptions()

    def conditions(self, notation: Notation) -> list[str]:
        """What the rows show."""
        return [notation.shown(mechanism) for mechanism in self.selected]

    def unseen(self, scope: Sequence[str]) -> tuple[Scope, Mechanisms]:
        """What the weights need beside ``scope``, to be summed over."""
        extra: dict[str, None] = {}  # sets that keep their order
        free: dict[Mechanism, None] = {}
        for weight in self.weights:
            extra.update(dict.fromkeys(name for name in weight.parents if name not in scope))
            free.update(dict.fromkeys(m for m in weight.free if m not in self.selected))
        return tuple(extra), tuple(free)

    def written(self, writer: Writer, scope: Sequence[str], summed: Sequence[str] = ()) -> str:
        """The weighted share of ``scope``, summed over a part of it and what the weights need."""
        notation = writer.notation
        extra, free = self.unseen(scope)
        with writer.summing((*summed, *extra), free) as sign:
            inside = [*map(writer.name, (*scope, *extra)), *self.conditions(notation)]
            inside += [notation.shown(mechanism, "") for mechanism in free]
            below = [*map(writer.label, self.weights)]
            return sign + notation.divided(notation.probability(inside), below)

    def weigh(self, run: Run) -> Weighted:
        r"""The rows with :math:`R_H = 1` and the factors :math:`\prod_{j \in F} 1 / \pi_j`."""
        if self.others:
            if self not in run.chosen:
                options = (Sample(self.selected, self.weights), *self.others)
                run.chosen[self] = max(options, key=lambda sample: sample.size(run))
            return run.chosen[self].weigh(run)
        where = run.rows.shows(self.selected)  # R_H = 1
        factors = np.ones(int(np.count_nonzero(where)))
        for propensity in self.weights:
            factors /= propensity.at_rows(run, where)
            propensity.note_lost(run, self, where)
        return Weighted(run.rows, where, factors)

    def size(self, run: Run) -> float:
        """The weighted sample size on the data, tried apart: what it meets is not noted."""
        try:
            return self.weigh(Run(run.rows, run.population, chosen=run.chosen)).weighted_size
        except Unfounded:
            return -1.0


@dataclass(frozen=True)
class Weighted:
    """The rows of a sample, and by how much each weighs more than in the data."""

    rows: Rows
    where: Where  # the rows of the sample among these
    factors: FloatArray  # one for each row of the sample

    def among(self, where: Where) -> Weighted:
        """Those rows of the sample that are among some rows."""
        both = self.where & where
        return Weighted(self.rows, both, self.factors[both[self.where]])

    @property
    def weights(self) -> FloatArray:
        """The weight of each row of the sample."""
        return self.rows.weights[self.where] * self.factors

    @property
    def weighted_size(self) -> float:
        r""":math:`(\sum w)^2 / \sum w^2`, a row of weight n counting as n rows of one factor."""
        weights = self.rows.weights[self.where]
        total = float((weights * self.factors).sum())
        squares = float((weights * self.factors**2).sum())
        if squares <= 0:
            return 0.0
        return total**2 / squares

    def tabled(self, scope: Scope) -> Table:
        """The weights added up over ``scope``."""
        return self.rows.tabled(scope, self.where, self.weights)


@dataclass(frozen=True)
class PropensityTable:
    """A propensity over its parents' states and its free mechanism parents (0, 1)."""

    values: FloatArray
    is_empty: NDArray[np.bool_]  # cells without data, which hold the backed-off value
    weights: FloatArray  # of the rows of each cell, shown or not


@dataclass(frozen=True)
class Propensity:
    """The probability that a mechanism is 1, given its parents and its ``free`` mechanisms.

    Its other mechanism parents are at 1.
    """

    mechanism: Mechanism  # i
    parents: Scope  # pa_i, the variables among them
    free: Mechanisms  # its mechanism parents that may be 0
    sample: Sample  # the rows it is estimated in

    @property
    def filled(self) -> Scope:
        """The variables of the largest table that is filled."""
        return self.parents

    def assumptions(self) -> Iterator[str]:
        """What must have positive probability for the propensity to be known."""
        yield f"{self.mechanism} is 1 in some rows of each configuration of its causes"

    def written(self, writer: Writer) -> str:
        """The right side of its definition."""
        raise NotImplementedError

    def table(self, run: Run) -> PropensityTable:
        """The propensity for each configuration, computed once a run."""
        if self not in run.tables:
            run.tables[self] = self.computed(run)
        return run.tables[self]

    def computed(self, run: Run) -> PropensityTable:
        """The propensity for each configuration."""
        raise NotImplementedError

    def at_rows(self, run: Run, where: Where) -> FloatArray:
        """The propensity of each chosen row."""
        table = self.table(run)
        index = run.rows.cells(self.parents, where, self.free)
        empty = table.is_empty.reshape(-1)[index]
        if empty.any():
            rows = whole_rows(float(run.rows.counts[where][empty].sum()))
            run.note(
                f"positivity: the propensity of {self.mechanism} has no data of its own for "
                f"{rows} of the rows used, and backed off"
            )
        return table.values.reshape(-1)[index]

    def note_lost(self, run: Run, sample: Sample, used: Where) -> None:
        """Say which share of the weight is in cells that have rows, but none that is used."""
        table = self.table(run)
        is_reached = np.zeros(table.weights.size, dtype=bool)
        is_reached[run.rows.cells(self.parents, used, self.free)] = True
        lost = table.is_empty & ~is_reached.reshape(table.weights.shape)
        # Free mechanisms that the sample selects are 1 in all its rows: the cells at 0 are not its.
        selected: list[Any] = [Ellipsis]
        for mechanism in self.free:
            selected.append(slice(1 if mechanism in sample.selected else 0, 2))
        weights = table.weights[tuple(selected)]
        lost = lost[tuple(selected)] & (weights > 0)
        if lost.any():
            share = float(weights[lost].sum() / weights.sum())
            run.note(self._lost_in_words(int(np.count_nonzero(lost)), share))

    def _lost_in_words(self, cells: int, share: float) -> str:
        words = f"positivity: {self.mechanism} is never 1"
        parents = ", ".join([*map(quoted, self.parents), *map(str, self.free)])
        if not parents:
            return words
        hold = "holds" if cells == 1 else "hold"
        them = "it" if cells == 1 else "them"
        return (
            f"{words} in {counted(cells, 'configuration')} of {parents}, which {hold} {share:.1%} "
            f"of the weight; the estimate leaves {them} out"
        )


@dataclass(frozen=True)
class Share(Propensity):
    r"""The propensity as a weighted share of rows: :math:`\Pr_w(R_i = 1 \mid pa_i, R_H = 1)`."""

    def written(self, writer: Writer) -> str:
        """The share, and by what the rows are weighted."""
        notation = writer.notation
        free = [notation.shown(mechanism, "") for mechanism in self.free]
        given = [*writer.names(self.parents), *free, *self.sample.conditions(notation)]
        share = notation.probability([notation.shown(self.mechanism)], given)
        weights = [*map(writer.label, self.sample.weights)]
        by = notation.words(" in rows weighted by ") + notation.divided("1", weights)
        return f"{share}{by}" if weights else share

    def computed(self, run: Run) -> PropensityTable:
        r""":math:`\Pr_w(R_i = 1 \mid pa_i)` in the sample."""
        rows = run.rows
        sample = self.sample.weigh(run)
        shape = (*rows.shape(self.parents), *(2 for _ in self.free))
        index = rows.cells(self.parents, sample.where, self.free)
        size = int(np.prod(shape, dtype=np.int64))
        shown = rows.shows([self.mechanism])[sample.where]
        every = added_up(index, sample.weights, size).reshape(shape)
        seen = added_up(index[shown], sample.weights[shown], size).reshape(shape)
        unit = sample.weights.sum() / max(rows.counts[sample.where].sum(), 1.0)  # of one row
        return fill_shares(seen, every, unit)


@dataclass(frozen=True)
class Odds(Propensity):
    r"""The propensity from its odds, where the rows with :math:`R_i = 0` are needed too.

    .. math::
        \frac{1 - \pi_i}{\pi_i} = \frac{\Pr(pa_i, R_K = 1, R_i = 0)}
        {\sum_{D \setminus pa_i} A(x_D) \prod_{k \in K} \pi_k(R_i = 0, \cdot)}, \qquad
        A(x_D) = \Pr(x_D, R_i = 1 \mid do(R_F = 1))

    No mechanism is free: the odds hold where all of K is 1. K must be shown in some of the rows
    with :math:`R_i = 0`. Why it holds: `missingness.recover.propensity`. The ``sample`` gives A.
    """

    scope: Scope  # D
    others: tuple[Propensity, ...]  # of K

    @property
    def filled(self) -> Scope:
        """The variables of the largest table that is filled: all of D."""
        return self.scope

    def assumptions(self) -> Iterator[str]:
        """That the rows which do not show the variable show what its odds need."""
        known = ", ".join(quoted(other.mechanism.variable) for other in self.others)
        yield f"some rows that miss {quoted(self.mechanism.variable)} show {known}"
        yield from super().assumptions()

    def written(self, writer: Writer) -> str:
        """One over one plus the odds."""
        notation = writer.notation
        hidden = notation.shown(self.mechanism, "=0")
        known = [notation.shown(other.mechanism) for other in self.others]
        above = notation.probability([*map(writer.name, self.parents), *known, hidden])
        gone = [name for name in self.scope if name not in self.parents]
        total = self.sample.written(writer, self.scope, gone)
        others = notation.times.join(map(writer.label, self.others))
        return notation.from_odds(above, total, others, hidden)

    def computed(self, run: Run) -> PropensityTable:
        """One over one plus the odds; refused where rows lack what the odds need."""
        rows = run.rows
        base = self.sample.weigh(run).tabled(self.scope)  # A(x_D)
        product = base
        lost = 0.0  # weight of A in cells that no row with R_i = 0 tells of
        for other in self.others:
            table = other.table(run)  # at R_i = 0, the other free mechanisms at 1
            index = (..., *(0 if mechanism == self.mechanism else 1 for mechanism in other.free))
            has_rows = table.weights[index] > 0
            # Rows of which none shows k: there the propensity is zero, not the backed-off value.
            values = np.where(table.is_empty[index] & has_rows, 0.0, table.values[index])
            lost += float((base * Table(other.parents, (~has_rows).astype(float))).array.sum())
            product = product * Table(other.parents, values)
        below = product.marginal(self.parents).array
        is_empty = below <= 0
        lost += float(base.marginal(self.parents).array[is_empty].sum())
        if run.is_too_much_unseen(lost):
            known = ", ".join(quoted(other.mechanism.variable) for other in self.others)
            raise Unfounded(
                f"the rows that miss {quoted(self.mechanism.variable)} do not show {known} "
                f"wherever the odds of {self.mechanism} need them"
            )
        hidden = rows.shows([other.mechanism for other in self.others])
        hidden &= ~rows.shows([self.mechanism])
        above = rows.tabled(self.parents, hidden, rows.weights[hidden]).array
        odds = np.divide(above, below, out=np.zeros_like(above), where=~is_empty)
        return PropensityTable(1 / (1 + odds), is_empty, above + below)


def fill_shares(seen: FloatArray, every: FloatArray, unit: float) -> PropensityTable:
    """The share seen/every; cells without a row seen get the backed-off value, marked."""
    is_empty = seen <= 0
    share = np.divide(seen, every, out=np.zeros_like(seen), where=~is_empty)
    if is_empty.any():
        share = np.where(is_empty, _backed_off(seen, every, unit), share)
    return PropensityTable(share, is_empty, every)


def _backed_off(seen: FloatArray, every: FloatArray, unit: float) -> FloatArray:
    """Laplace's estimate of seen/every; of a cell without rows, that with one parent less."""
    if unit > 0:
        laplace = (seen + unit) / (every + 2 * unit)
    else:
        laplace = np.full(seen.shape, 0.5)
    lacking = every <= 0
    if not lacking.any() or seen.ndim == 0:
        return np.asarray(laplace)
    axis = min(range(seen.ndim), key=lambda parent: _information(seen, every, parent))
    coarse = _backed_off(seen.sum(axis=axis), every.sum(axis=axis), unit)
    return np.where(lacking, np.expand_dims(coarse, axis), laplace)


def _information(seen: FloatArray, every: FloatArray, axis: int) -> float:
    """The mutual information between one parent and the mechanism, up to a constant."""
    others = tuple(other for other in range(seen.ndim) if other != axis)
    shown = seen.sum(axis=others)
    both = every.sum(axis=others)
    parts = np.stack([shown, both - shown])
    share = np.divide(parts, both, out=np.ones_like(parts), where=(both > 0) & (parts > 0))
    return float((parts * np.log(share)).sum())


def parts_of_term(part: Any, stop: type | tuple[type, ...] = ()) -> Iterator[Any]:
    """A term, or a part of one, and all that it is made of, down to the names.

    What is of the kind ``stop`` is not taken apart.
    """
    yield part
    if part == SELECTION or isinstance(part, stop):
        return
    if is_dataclass(part):
        part = tuple(getattr(part, field.name) for field in fields(part))
    if isinstance(part, tuple):
        for inner in part:
            yield from parts_of_term(inner, stop)


def rebuild_term(part: Any, changed: Callable[[Any], Any]) -> Any:
    """A term, or a part of one, changed, and then all that it is made of, down to the names."""
    part = changed(part)
    if isinstance(part, tuple) and not isinstance(part, Mechanism):
        return tuple(rebuild_term(inner, changed) for inner in part)
    if not is_dataclass(part):
        return part
    values = {
        field.name: rebuild_term(getattr(part, field.name), changed) for field in fields(part)
    }
    return replace(part, **values)  # type: ignore[type-var]


def choose_samples(part: Any, chosen: Mapping[Sample, Sample]) -> Any:
    """A term, or a part of one, with every sample replaced by the one chosen for it."""

    def choice(inner: Any) -> Any:
        if not isinstance(inner, Sample):
            return inner
        sample = chosen.get(inner, inner)
        return Sample(sample.selected, sample.weights)

    return rebuild_term(part, choice)
