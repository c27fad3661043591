r"""The scores of sets of variables: what families and DAGs score are sums and differences of them.

With :math:`n` the counts of the table of a set V, and K its cells, seen or not,

.. math::
    f(V) = \sum n \log n - \frac{\log N}{2} (K - 1)

is what V scores by BIC, and what a variable scores with its parents is :math:`f(S \cup y) - f(S)`:
its log-likelihood less :math:`\frac{\log N}{2} (r_y - 1)` for each configuration of the parents.
BDeu is such a difference too, of :math:`\sum_{n > 0} \log \Gamma(n + a/K) - \log \Gamma(a/K)` with
a the equivalent sample size. So a table is counted once, whichever of its variables is the child
of the others.

A set is a whole number, with bit v for variable v.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from math import inf, log, prod
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from lacunet.model.network import FloatArray
from lacunet.structure.cells import EXPECTED_ROWS, cost_of_cells
from lacunet.structure.gains import informations, nlogn, pair_informations, tables_beside
from lacunet.structure.rows import CodedRows, Integers

BATCH = 2**19  # keys or cells that are counted at once
ONE_BY_ONE = 2**11  # with as many rows a set is counted by itself


@dataclass(frozen=True)
class Score:
    """What a set scores: by BIC, or by BDeu with an equivalent sample size.

    ``total`` is the weight of all rows, :math:`N`. ``is_sparse`` says that BIC does not charge for
    what cannot occur (`lacunet.structure.cells`).
    """

    total: float
    equivalent_size: float | None = None  # None for BIC
    is_sparse: bool = False

    @property
    def each(self) -> float:
        """What BIC takes for a free parameter."""
        return log(max(self.total, 2.0)) / 2

    @property
    def least_cost(self) -> float:
        """What a score is below its log-likelihood for each free parameter, at least.

        That is if all cells of its table are possible.
        """
        return self.each if self.equivalent_size is None else 0.0

    def gains(
        self, rows: CodedRows, y: int, parents: Sequence[int], others: Sequence[int]
    ) -> FloatArray:
        """What y scores more with each of some others among its parents; else minus infinity.

        For BIC the rows are taken for all: candidates are compared, not summed.
        """
        gains = np.full(len(rows), -inf)
        for tables in tables_beside(rows, y, parents, others):
            if self.equivalent_size is None:
                information, cost = informations(tables)
                gains[list(tables.others)] = information - cost
            else:
                gains[list(tables.others)] = [
                    self._gain(tables.table(at)) for at in range(len(tables.others))
                ]
        return gains

    def _gain(self, table: FloatArray) -> float:
        """What BDeu gives more with X among the parents, of a table with axes S, Y, X."""
        assert self.equivalent_size is not None
        margins = [table, table.sum(axis=2), table.sum(axis=1), table.sum(axis=(1, 2))]
        whole, with_y, with_x, alone = (
            float(_bdeu(one.ravel(), np.zeros(1, np.int64), self.equivalent_size)[0])
            for one in margins
        )
        return whole - with_x - with_y + alone

    def pair_gains(self, rows: CodedRows) -> FloatArray:
        """The gains of all pairs given nothing; minus infinity for a variable with itself."""
        if self.equivalent_size is None:
            information, cost = pair_informations(rows)
            return information - cost
        nodes = range(len(rows))
        return np.array([self.gains(rows, y, (), [x for x in nodes if x != y]) for y in nodes])


def _bdeu(counts: FloatArray, starts: Integers, size: float) -> FloatArray:
    """What tables that lie one after the other score by BDeu."""
    from scipy.special import gammaln

    cells = np.diff(starts, append=len(counts))
    own = np.repeat(size / cells, cells)
    of_each = np.where(counts > 0, gammaln(counts + own) - gammaln(own), 0.0)
    scores: FloatArray = np.add.reduceat(of_each, starts)
    return scores


class Scored(NamedTuple):
    r"""Of a set: :math:`\sum n \log n`, its score, and how many cells do not occur but should."""

    fit: float
    score: float
    impossible: int


@dataclass(frozen=True, eq=False)
class ScoredSets:
    """The scores of sets in complete rows, each counted once."""

    rows: CodedRows
    score: Score
    known: dict[int, Scored] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._keep(_Tables([0], np.array([self.score.total]), np.zeros(1, np.int64)))

    @cached_property
    def shares(self) -> list[FloatArray]:
        """How frequent the states of each variable are."""
        rows = self.rows
        counts = [
            np.bincount(column, rows.weights, size)
            for column, size in zip(rows.columns, rows.sizes, strict=True)
        ]
        return [own / own.sum() for own in counts]

    def count(self, wanted: Wanted) -> None:
        """Count sets of variables, given with configurations that have these.

        Beside each is a subset of one variable less that is wanted as well, or the empty set.
        """
        for batch in _in_batches(wanted):
            self._keep(_counted(batch))

    def _keep(self, tables: _Tables) -> None:
        fits = np.add.reduceat(nlogn(tables.counts), tables.starts)
        impossible = np.zeros(len(tables.sets), np.int64)
        if self.score.equivalent_size is not None:
            scores = _bdeu(tables.counts, tables.starts, self.score.equivalent_size)
        else:
            scores = fits - (tables.cells - 1) * self.score.each
            if self.score.is_sparse:
                impossible = self._impossible(tables)
            for at in np.flatnonzero(impossible).tolist():
                cells, without = int(tables.cells[at]), int(impossible[at])
                scores[at] = fits[at] - cost_of_cells(cells, without, self.score.each)
        scored = map(Scored, fits.tolist(), scores.tolist(), impossible.tolist())
        self.known.update(zip(tables.sets, scored, strict=True))

    def _impossible(self, tables: _Tables) -> Integers:
        """How many cells of each table do not occur though they should."""
        empty = tables.counts == 0
        found = np.zeros(len(tables.sets), np.int64)
        some = np.flatnonzero(np.logical_or.reduceat(empty, tables.starts))
        if not len(some):
            return found
        of_set = {0: np.array([self.score.total])}
        expected = np.concatenate([self._expected(tables.sets[at], of_set) for at in some.tolist()])
        is_in = np.isin(np.arange(len(tables.sets)), some)
        should_be = empty[np.repeat(is_in, tables.cells)] & (expected >= EXPECTED_ROWS)
        ends = np.cumsum(tables.cells[some])
        found[some] = np.add.reduceat(should_be, ends - tables.cells[some], dtype=np.int64)
        return found

    def _expected(self, one: int, of_set: dict[int, FloatArray]) -> FloatArray:
        """The rows that each cell of a set would have, were its variables independent."""
        if one not in of_set:
            slowest = one.bit_length() - 1
            rest = self._expected(one ^ 1 << slowest, of_set)
            of_set[one] = np.multiply.outer(self.shares[slowest], rest).ravel()
        return of_set[one]


@dataclass(frozen=True, eq=False)
class Configurations:
    """The distinct configurations of some variables, with their weights."""

    scope: tuple[int, ...]  # ascending
    columns: list[Integers]
    sizes: list[int]
    weights: FloatArray | float  # a number where all weigh the same

    @classmethod
    def of(cls, scope: Sequence[int], rows: CodedRows, total: float) -> Configurations:
        """The configurations of some rows, or the rows themselves where few are equal."""
        each: FloatArray | float
        if rows.weigh_the_same and rows.differ_in(scope):
            columns = [rows.columns[node].astype(np.int64) for node in scope]
            each = total / rows.rows
        else:
            columns, weights = rows.configurations(scope)
            each = weights * (total / weights.sum())
        return cls(tuple(scope), columns, [rows.sizes[node] for node in scope], each)

    def __len__(self) -> int:
        return len(self.columns[0])

    @cached_property
    def bits(self) -> list[tuple[int, int]]:
        """The bits of the variables, and their places."""
        return [(1 << node, at) for at, node in enumerate(self.scope)]

    def places(self, one: int) -> list[int]:
        """The places of the variables of a set, ascending."""
        return [at for bit, at in self.bits if one & bit]

    def cells(self, places: Sequence[int]) -> int:
        """The cells of the table of some variables."""
        return prod(self.sizes[at] for at in places)

    def count(self, sets: Sequence[Sequence[int]], ends: Integers, counts: FloatArray) -> None:
        """Write the tables of some sets, the first variable fastest, one after the other."""
        count = self._in_one if len(self) < ONE_BY_ONE else self._one_by_one
        count(sets, ends, counts)
        if isinstance(self.weights, float):
            counts[ends[0] : ends[-1]] *= self.weights

    def _one_by_one(
        self, sets: Sequence[Sequence[int]], ends: Integers, counts: FloatArray
    ) -> None:
        """Each set with the keys that it shares with the one before it."""
        path: list[int] = []
        known = [(np.zeros(len(self), np.int64), 1)]
        weights = None if isinstance(self.weights, float) else self.weights
        for places, end in zip(sets, ends[1:].tolist(), strict=True):
            shared = 0
            while shared < min(len(path), len(places)) and path[shared] == places[shared]:
                shared += 1
            del known[shared + 1 :]
            for at in places[shared:]:
                before, cells = known[-1]
                keys = self.columns[at] * cells
                keys += before
                known.append((keys, cells * self.sizes[at]))
            path = list(places)
            keys, cells = known[-1]
            counts[end - cells : end] = np.bincount(keys, weights, cells)

    def _in_one(self, sets: Sequence[Sequence[int]], ends: Integers, counts: FloatArray) -> None:
        """Many sets at once: most tables are small."""
        strides = np.zeros((len(sets), len(self.columns)))
        for row, places in enumerate(sets):
            cells = 1
            for at in places:
                strides[row, at] = cells
                cells *= self.sizes[at]
        keys = (strides @ self._codes).astype(np.int64) + (ends[:-1, None] - ends[0])
        weights = None
        if not isinstance(self.weights, float):
            weights = np.broadcast_to(self.weights, keys.shape).ravel()
        counts[ends[0] : ends[-1]] = np.bincount(keys.ravel(), weights, ends[-1] - ends[0])

    @cached_property
    def _codes(self) -> FloatArray:
        """The configurations as whole numbers far below 2^53: they are multiplied."""
        return np.array(self.columns, float)


Wanted = Iterable[tuple[Configurations, Mapping[int, int]]]


@dataclass(frozen=True)
class _Tables:
    """The counts of some sets, one after the other; ``starts`` is where each begins."""

    sets: Sequence[int]
    counts: FloatArray
    starts: Integers

    @cached_property
    def cells(self) -> Integers:
        """How many cells each table has."""
        return np.diff(self.starts, append=len(self.counts))


class _Set(NamedTuple):
    """A set to be counted, the places of its variables in the configurations, and its cells.

    ``subset`` has one variable less and is to be had from the same table; the empty set is known.
    """

    source: Configurations
    one: int
    subset: int
    places: list[int]
    cells: int

    def summed(self, counts: FloatArray) -> FloatArray:
        """The table of the subset."""
        left_out = (self.one ^ self.subset).bit_length() - 1
        sizes = [(self.source.scope[at], self.source.sizes[at]) for at in self.places]
        faster = prod(size for node, size in sizes if node < left_out)
        slower = prod(size for node, size in sizes if node > left_out)
        table: FloatArray = counts.reshape(slower, -1, faster).sum(axis=1)
        return table.ravel()


def _in_batches(wanted: Wanted) -> Iterator[list[_Set]]:
    """What is counted at once; neighbours share a part of their keys."""
    batch: list[_Set] = []
    room = BATCH
    for source, sets in wanted:
        for places, one in sorted((source.places(one), one) for one in sets):
            cells = source.cells(places)
            room -= max(cells, len(source))
            if room < 0 and batch:
                yield batch
                batch, room = [], BATCH - max(cells, len(source))
            batch.append(_Set(source, one, sets[one], places, cells))
    if batch:
        yield batch


def _counted(batch: Sequence[_Set]) -> _Tables:
    ends = np.cumsum([0, *(one.cells for one in batch)])
    counts = np.empty(ends[-1])
    begin = 0
    for source, some in groupby(batch, itemgetter(0)):
        sets = [one.places for one in some]
        source.count(sets, ends[begin : begin + len(sets) + 1], counts)
        begin += len(sets)
    sums = [
        (one.subset, one.summed(counts[end - one.cells : end]))
        for one, end in zip(batch, ends[1:].tolist(), strict=True)
        if one.subset
    ]
    ends = np.concatenate(
        [ends, ends[-1] + np.cumsum([len(table) for _, table in sums], dtype=int)]
    )
    return _Tables(
        [*(one.one for one in batch), *(subset for subset, _ in sums)],
        np.concatenate([counts, *(table for _, table in sums)]),
        ends[:-1],
    )
