r"""The scores of sets of variables: what families and DAGs score are sums and differences of them.

With :math:`n` the counts of the table of a set V, and K its cells, seen or not,

.. math::
    f(V) = \sum n \log n - \frac{\log N}{2} (K - 1)

is what V scores by BIC, and what a variable scores with its parents is :math:`f(S \cup y) - f(S)`:
its log-likelihood less :math:`\frac{\log N}{2} (r_y - 1)` for each configuration of the parents.
BDeu is such a difference too, of :math:`\sum_{n > 0} \log \Gamma(n + a/K) - \log \Gamma(a/K)` with
a the equivalent sample size. So a table is counted once, whichever of its variables is the child
of the others.

A set is a whole number, the sum of those of its variables: powers of two, or with many variables
random numbers of 64 bits, where two sets of a million are the same with a probability of 1e-7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import inf, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.network.network import FloatArray, Mask
from lacunet.structure.cells import EXPECTED_ROWS, cost_of_cells
from lacunet.structure.gains import informations, tables_beside
from lacunet.structure.indexed_rows import CodedRows, Integers, nlogn

BATCH = 2**19  # keys or cells that are counted at once
EXACT_VARIABLES = 57  # whose sets have numbers of their own
ONE_BY_ONE = 2**11  # with as many rows a set is counted by itself


# The distinct configurations of some variables, and the index of each row's.
Known = dict[tuple[int, ...], tuple[NDArray[Any], Integers]]


@dataclass(frozen=True)
class Score:
    """What a set scores: by BIC, or by BDeu with an equivalent sample size.

    ``total`` is the weight of all rows, :math:`N`. ``is_sparse`` says that BIC does not charge for
    what cannot occur (`lacunet.structure.cells`). With a ``price`` it takes that for a free
    parameter: 1 makes it AIC.
    """

    total: float
    equivalent_size: float | None = None  # None for BIC
    is_sparse: bool = False
    price: float | None = None

    @property
    def each(self) -> float:
        """What BIC takes for a free parameter."""
        return log(max(self.total, 2.0)) / 2 if self.price is None else self.price

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
                    self._gain(tables.table(index)) for index in range(len(tables.others))
                ]
        return gains

    def _gain(self, table: FloatArray) -> float:
        """What BDeu gives more with X among the parents, of a table with axes S, Y, X."""
        assert self.equivalent_size is not None
        margins = [table, table.sum(axis=2), table.sum(axis=1), table.sum(axis=(1, 2))]
        whole, with_y, with_x, alone = (
            float(_bdeu(margin.ravel(), np.zeros(1, np.int64), self.equivalent_size)[0])
            for margin in margins
        )
        return whole - with_x - with_y + alone

    def pair_gains(self, rows: CodedRows) -> FloatArray:
        """The gains of all pairs given nothing; minus infinity for a variable with itself."""
        if self.equivalent_size is None:
            return rows.pairs.information - rows.pairs.cost
        nodes = range(len(rows))
        return np.array([self.gains(rows, y, (), [x for x in nodes if x != y]) for y in nodes])


def _bdeu(counts: FloatArray, starts: Integers, size: float) -> FloatArray:
    """What tables that lie one after the other score by BDeu."""
    from scipy.special import gammaln

    cells = np.diff(starts, append=len(counts))
    pseudo = np.repeat(size / cells, cells)
    of_each = np.where(counts > 0, gammaln(counts + pseudo) - gammaln(pseudo), 0.0)
    scores: FloatArray = np.add.reduceat(of_each, starts)
    return scores


def is_among(values: Integers, known: Integers) -> Mask:
    """Which values are among others, which are sorted."""
    if not len(known):
        return np.zeros(len(values), bool)
    is_known: Mask = known[np.minimum(np.searchsorted(known, values), len(known) - 1)] == values
    return is_known


def numbers_of(variables: int) -> Integers:
    """The numbers of variables, whose sums are those of sets; zero for one more, which is none."""
    if variables <= EXACT_VARIABLES:
        return np.append(1 << np.arange(variables), 0)
    return np.append(np.random.default_rng(0).integers(-(2**63), 2**63, variables), 0)


class ScoredSets:
    r"""The scores of sets in complete rows, each counted once.

    Of each of ``sets``, sorted: :math:`\sum n \log n`, its score, and how many of its cells
    do not occur but should. ``numbers`` are those of the variables.

    Parameters
    ----------
    known
        Configurations of the same rows with other weights.
    """

    def __init__(self, rows: CodedRows, score: Score, known: Known | None = None) -> None:
        self.rows, self.score, self.known = rows, score, known
        self.numbers = numbers_of(len(rows))
        self.sets = self.impossible = np.zeros(0, np.int64)
        self.fits = self.scores = np.zeros(0)
        nothing = np.zeros((1, 0), np.int64)
        self._keep(_Tables(nothing, np.array([score.total]), np.zeros(1, np.int64)))

    def configurations(self, scope: Sequence[int]) -> Configurations:
        """What the sets of some variables are counted from."""
        return Configurations.of(scope, self.rows, self.score.total, self.known)

    def has(self, sets: Integers) -> Mask:
        """Which sets are scored."""
        return is_among(sets, self.sets)

    def places(self, sets: Integers) -> Integers:
        """Where sets that are scored stand."""
        return np.searchsorted(self.sets, sets)

    @cached_property
    def shares(self) -> FloatArray:
        """How frequent the states of each variable are, and of one more that is none."""
        counts = [*self.rows.frequencies, np.ones(1)]
        return np.concatenate([of_states / of_states.sum() for of_states in counts])

    def count(self, sources: Sequence[Configurations], wanted: Wanted) -> None:
        """Count sets of variables in configurations that have these."""
        none, width = len(self.rows), max(len(source.scope) for source in sources)
        scopes = np.array(
            [[*source.scope, *[none] * (width - len(source.scope))] for source in sources]
        )
        is_in = wanted.mask[:, None] >> np.arange(width) & 1 == 1
        nodes = np.where(is_in, scopes[wanted.source], none)
        sizes = np.array([*self.rows.sizes, 1])[nodes]
        configurations = np.array([len(source) for source in sources])[wanted.source]
        work = np.cumsum(np.maximum(sizes.prod(axis=1), configurations))
        for batch in np.split(np.arange(len(work)), np.flatnonzero(np.diff(work // BATCH)) + 1):
            if len(batch):
                self._keep(_counted(sources, wanted.where(batch), nodes[batch], sizes[batch], none))

    def _keep(self, tables: _Tables) -> None:
        fits = np.add.reduceat(nlogn(tables.counts), tables.starts)
        impossible = np.zeros(len(fits), np.int64)
        if self.score.equivalent_size is not None:
            scores = _bdeu(tables.counts, tables.starts, self.score.equivalent_size)
        else:
            scores = fits - (tables.cells - 1) * self.score.each
            if self.score.is_sparse:
                impossible = self._impossible(tables)
                some = np.flatnonzero(impossible)
                scores[some] = fits[some] - self._costs(tables.cells[some], impossible[some])
        sets = np.concatenate([self.sets, self.numbers[tables.nodes].sum(axis=1)])
        order = np.argsort(sets, kind="stable")
        self.sets = sets[order]
        self.fits = np.concatenate([self.fits, fits])[order]
        self.scores = np.concatenate([self.scores, scores])[order]
        self.impossible = np.concatenate([self.impossible, impossible])[order]

    def _costs(self, cells: Integers, impossible: Integers) -> FloatArray:
        """What tables cost of which some cells do not occur; many are alike."""
        both, which = np.unique(cells << 32 | impossible, return_inverse=True)
        each = self.score.each
        costs = [cost_of_cells(pair >> 32, pair & 2**32 - 1, each) for pair in both.tolist()]
        return np.array(costs)[which]

    def _impossible(self, tables: _Tables) -> Integers:
        """How many cells of each table do not occur though they should."""
        empty = tables.counts == 0
        impossible = np.zeros(len(tables.nodes), np.int64)
        has_empty = np.logical_or.reduceat(empty, tables.starts)
        if not has_empty.any():
            return impossible
        cells = tables.cells[has_empty]
        expected = self._expected(tables.nodes[has_empty])
        should_be = empty[np.repeat(has_empty, tables.cells)] & (expected >= EXPECTED_ROWS)
        impossible[has_empty] = np.add.reduceat(should_be, np.cumsum(cells) - cells, dtype=np.int64)
        return impossible

    def _expected(self, nodes: Integers) -> FloatArray:
        """The rows that each cell of some sets would have, were their variables independent.

        From one variable to the next each table becomes a block for each state of that one.
        """
        sizes = np.array([*self.rows.sizes, 1])
        starts = np.cumsum(sizes) - sizes
        expected = np.full(len(nodes), self.score.total)
        cells = np.ones(len(nodes), np.int64)
        for column in nodes.T:
            states = sizes[column]
            block = np.repeat(np.arange(len(nodes)), states)
            first = np.cumsum(states) - states
            share = self.shares[np.arange(len(block)) + (starts[column] - first)[block]]
            length = cells[block]
            before = (np.cumsum(cells) - cells)[block] - (np.cumsum(length) - length)
            index = np.arange(length.sum()) + np.repeat(before, length)
            expected = expected[index] * np.repeat(share, length)
            cells = cells * states
        return expected


@dataclass(frozen=True, eq=False)
class Configurations:
    """The distinct configurations of some variables, with their weights."""

    scope: tuple[int, ...]  # ascending
    columns: NDArray[Any]  # whole numbers far below 2^53, a row for each variable
    sizes: list[int]
    weights: FloatArray | float  # a number where all weigh the same

    @classmethod
    def of(
        cls, scope: Sequence[int], rows: CodedRows, total: float, known: Known | None = None
    ) -> Configurations:
        """The configurations of some rows, or the rows themselves where few are equal.

        Parameters
        ----------
        known
            Those of the same rows with other weights; what is not there is added.
        """
        scope, sizes = tuple(scope), [rows.sizes[node] for node in scope]
        if rows.weigh_the_same and rows.differ_in(scope):
            every = np.array([rows.columns[node] for node in scope], np.int64)
            return cls(scope, every, sizes, total / rows.rows)
        known = {} if known is None else known
        if scope not in known:
            distinct, index = rows.distinct(scope)
            is_multiplied = len(distinct[0]) < ONE_BY_ONE  # which is fast with floats
            known[scope] = np.array(distinct, float if is_multiplied else np.int64), index
        columns, index = known[scope]
        weights = np.bincount(index, rows.weights, columns.shape[1])
        return cls(scope, columns, sizes, weights * (total / weights.sum()))

    def __len__(self) -> int:
        return len(self.columns[0])

    def count(self, strides: Integers, ends: Integers, counts: FloatArray) -> None:
        """Write the tables of some sets, the first variable fastest, one after the other.

        Parameters
        ----------
        strides
            How far apart the states of each variable are in each table, zero where it is not in it.
        """
        count = self._in_one if self.columns.dtype == np.float64 else self._one_by_one
        count(strides[:, : len(self.scope)], ends, counts)
        if isinstance(self.weights, float):
            counts[ends[0] : ends[-1]] *= self.weights

    def _one_by_one(self, strides: Integers, ends: Integers, counts: FloatArray) -> None:
        """Each set with the keys that it shares with the one before it."""
        path: list[int] = []
        known = [(np.zeros(len(self), np.int64), 1)]
        weights = None if isinstance(self.weights, float) else self.weights
        sets = [np.flatnonzero(stride).tolist() for stride in strides]
        for places, begin in sorted(zip(sets, ends.tolist(), strict=False)):
            shared = 0
            while shared < min(len(path), len(places)) and path[shared] == places[shared]:
                shared += 1
            del known[shared + 1 :]
            for index in places[shared:]:
                before, cells = known[-1]
                keys = self.columns[index] * cells
                keys += before
                known.append((keys, cells * self.sizes[index]))
            path = places
            keys, cells = known[-1]
            counts[begin : begin + cells] = np.bincount(keys, weights, cells)

    def _in_one(self, strides: Integers, ends: Integers, counts: FloatArray) -> None:
        """Many sets at once: most tables are small."""
        keys = (strides @ self.columns).astype(np.int64) + (ends[:-1, None] - ends[0])
        weights = None
        if not isinstance(self.weights, float):
            weights = np.broadcast_to(self.weights, keys.shape).ravel()
        counts[ends[0] : ends[-1]] = np.bincount(keys.ravel(), weights, ends[-1] - ends[0])


@dataclass(frozen=True)
class Wanted:
    """Sets to be counted.

    Of each: where its configurations stand, ascending; the bits of its variables in their scope;
    and the index of one of these if the set without it is wanted as well, else -1.
    """

    source: Integers
    mask: Integers
    left_out: Integers

    def where(self, chosen: Integers) -> Wanted:
        """Some of the sets."""
        return Wanted(self.source[chosen], self.mask[chosen], self.left_out[chosen])


@dataclass(frozen=True)
class _Tables:
    """The counts of some sets, one after the other; ``starts`` is where each begins.

    ``nodes`` are the variables of each set, ascending, and then one beyond all that is none.
    """

    nodes: Integers
    counts: FloatArray
    starts: Integers

    @cached_property
    def cells(self) -> Integers:
        """How many cells each table has."""
        return np.diff(self.starts, append=len(self.counts))


def _counted(
    sources: Sequence[Configurations], wanted: Wanted, nodes: Integers, sizes: Integers, none: int
) -> _Tables:
    """The tables of sets, and of those with a variable less that are wanted as well."""
    slower = np.cumprod(sizes, axis=1)
    strides = np.where(nodes < none, slower // sizes, 0)
    ends = np.append(0, np.cumsum(slower[:, -1]))
    counts = np.empty(ends[-1])
    groups = np.flatnonzero(np.diff(wanted.source, prepend=-1, append=-1)).tolist()
    for begin, end in pairwise(groups):
        source = sources[wanted.source[begin]]
        source.count(strides[begin:end], ends[begin : end + 1], counts)
    some = np.flatnonzero(wanted.left_out >= 0)
    index = some, wanted.left_out[some]
    sums, starts = _sums(counts, ends[some], slower[some, -1], strides[index], sizes[index])
    less = nodes.copy()
    less[index] = none
    nodes = np.sort(np.concatenate([nodes, less[some]]), axis=1)
    return _Tables(
        nodes[:, : (nodes < none).sum(axis=1).max()],
        np.concatenate([counts, sums]),
        np.concatenate([ends[:-1], ends[-1] + starts]),
    )


def _sums(
    counts: FloatArray, starts: Integers, cells: Integers, stride: Integers, states: Integers
) -> tuple[FloatArray, Integers]:
    """Tables summed over one of their variables, and where each begins.

    Parameters
    ----------
    stride, states
        How far apart the states of the variable are in each table, and how many there are.
    """
    left = cells // states
    begin = np.cumsum(left) - left
    table = np.repeat(np.arange(len(left)), left)
    stride, states = stride[table], states[table]
    cell = np.arange(len(table)) - begin[table]
    index = starts[table] + cell + cell // stride * stride * (states - 1)
    sums = counts[index]
    for state in range(1, states.max(initial=0)):
        has = np.flatnonzero(states > state)
        sums[has] += counts[index[has] + state * stride[has]]
    return sums, begin
