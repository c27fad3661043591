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

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import inf, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.em_problems.ragged import ranges
from lacunet.network.network import FloatArray, Mask
from lacunet.structure.cells import EXPECTED_ROWS, cost_of_cells
from lacunet.structure.gains import informations, tables_beside
from lacunet.structure.indexed_rows import CodedRows, Integers, nlogn

BATCH_WORK = 2**19  # keys or cells that are counted at once
EXACT_VARIABLES = 57  # up to so many, no two sets have the same number
# Sets are counted row by row where there are as many configurations; then so many of each at once.
MIN_ROW_BY_ROW = 2**11
SETS_AT_A_TIME = 16
ROWS_AT_A_TIME = 2**14


@dataclass(frozen=True)
class Score:
    """What a set scores: by BIC, or by BDeu with an equivalent sample size."""

    total: float  # the weight of all rows, N
    equivalent_size: float | None = None  # of BDeu, all cells together; None for BIC
    is_sparse: bool = False  # BIC does not charge for what cannot occur (`lacunet.structure.cells`)
    price: float | None = None  # what a free parameter costs, if not log(N) / 2: 1 makes it AIC

    @property
    def each(self) -> float:
        """What BIC takes for a free parameter."""
        if self.price is not None:
            return self.price
        return log(max(self.total, 2.0)) / 2

    @property
    def least_cost(self) -> float:
        """The least that a score charges for a free parameter, if all cells are possible."""
        return self.each if self.equivalent_size is None else 0.0

    def gains(
        self, rows: CodedRows, y: int, parents: Sequence[int], others: Sequence[int]
    ) -> FloatArray:
        """What y scores more with each of some others among its parents.

        The gain of a variable that is not among the others, or whose table is too large, is minus
        infinity. BIC charges as if the rows that show the variables were all rows, which is enough
        to compare candidates.
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
        """What y scores more by BDeu with x among its parents, of a table with axes S, y, x.

        It is f(S, y, x) - f(S, x) - f(S, y) + f(S).
        """
        size = self.equivalent_size
        assert size is not None

        def score(margin: FloatArray) -> float:
            return float(_bdeu(margin.ravel(), np.zeros(1, np.int64), size)[0])

        with_y = score(table.sum(axis=2))
        with_x = score(table.sum(axis=1))
        return score(table) - with_x - with_y + score(table.sum(axis=(1, 2)))

    def pair_gains(self, rows: CodedRows) -> FloatArray:
        """The gains of all pairs given nothing; minus infinity for a variable with itself."""
        if self.equivalent_size is None:
            return rows.pairs.information - rows.pairs.cost
        nodes = range(len(rows))
        return np.array([self.gains(rows, y, (), [x for x in nodes if x != y]) for y in nodes])


def _bdeu(counts: FloatArray, starts: Integers, size: float) -> FloatArray:
    """What tables that lie one after the other score by BDeu, with an equivalent sample size."""
    from scipy.special import gammaln

    cells = np.diff(starts, append=len(counts))
    pseudo_count = np.repeat(size / cells, cells)  # a / K
    terms = np.where(counts > 0, gammaln(counts + pseudo_count) - gammaln(pseudo_count), 0.0)
    scores: FloatArray = np.add.reduceat(terms, starts)
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
    """The scores of sets in one sample of complete rows, by one score, each counted once.

    Parameters
    ----------
    counted
        Where its sets are counted, along with those of other samples and scores.
    """

    def __init__(self, rows: CodedRows, score: Score, counted: CountedSets | None = None) -> None:
        self.rows = rows
        self.score = score
        self.counted = CountedSets([rows], [score]) if counted is None else counted
        self.sample = self.counted.samples.index(rows)
        self.rank = self.counted.scores.index(score)

    @property
    def numbers(self) -> Integers:
        """The numbers of the variables."""
        return self.counted.numbers

    @property
    def fits(self) -> FloatArray:
        r""":math:`\sum n \log n` of each set."""
        fits: FloatArray = self.counted.fits[self.sample]
        return fits

    @property
    def impossible(self) -> Integers:
        """How many cells of each set do not occur but should."""
        impossible: Integers = self.counted.impossible[self.sample]
        return impossible

    @property
    def scored(self) -> FloatArray:
        """The score of each set."""
        scored: FloatArray = self.counted.scored[self.rank, self.sample]
        return scored

    def has(self, sets: Integers) -> Mask:
        """Which sets are counted."""
        return is_among(sets, self.counted.sets)

    def places(self, sets: Integers) -> Integers:
        """Where sets that are counted stand."""
        return np.searchsorted(self.counted.sets, sets)


class CountedSets:
    """Sets counted in several samples at once: the same complete rows with other weights.

    A set that is wanted in one sample is counted in all, and scored by all scores. ``sets`` are
    their numbers, ascending; ``numbers`` are those of the variables. ``fits`` and ``impossible``
    have a row for each sample, ``scored`` as many for each score (see `ScoredSets`).
    """

    def __init__(self, samples: Sequence[CodedRows], scores: Sequence[Score]) -> None:
        self.samples = samples
        self.scores = scores
        self.rows = samples[0]
        self.total = scores[0].total
        self.numbers = numbers_of(len(self.rows))
        self.known: dict[tuple[int, ...], Configurations] = {}
        self.sets = np.zeros(0, np.int64)
        self.fits = np.zeros((len(samples), 0))
        self.impossible = np.zeros((len(samples), 0), np.int64)
        self.scored = np.zeros((len(scores), len(samples), 0))
        counts = np.full((len(samples), 1), self.total)
        nothing = np.zeros((1, 0), np.int64)
        self._keep([_Tables(nothing, counts, np.zeros(1, np.int64))])

    @cached_property
    def weights(self) -> FloatArray | None:
        """The weights of the rows in each sample, side by side; None where all are the same."""
        if len(self.samples) == 1 and self.rows.weigh_the_same:
            return None
        ones = np.ones(self.rows.rows)
        weights = [ones if rows.weights is None else rows.weights for rows in self.samples]
        return np.stack(
            [of_sample * (self.total / of_sample.sum()) for of_sample in weights], axis=1
        )

    @cached_property
    def shares(self) -> FloatArray:
        """How frequent the states of each variable are, and of one more that is none."""
        of_samples = [
            [of_states / of_states.sum() for of_states in (*rows.frequencies, np.ones(1))]
            for rows in self.samples
        ]
        return np.stack([np.concatenate(shares) for shares in of_samples])

    def configurations(self, scope: Sequence[int]) -> Configurations:
        """What the sets of some variables are counted from."""
        scope = tuple(scope)
        if scope not in self.known:
            configurations = Configurations.of(scope, self.rows, self.weights, self.total)
            if len(self.samples) == 1:
                return configurations
            self.known[scope] = configurations
        return self.known[scope]

    def count(self, sources: Sequence[Configurations], wanted: Wanted) -> None:
        """Count sets of variables in configurations that have these."""
        none = len(self.rows)  # the index of one more variable, which is in no set
        nodes = wanted.nodes(sources, none)
        sizes = np.array([*self.rows.sizes, 1])[nodes]
        configurations = np.array([len(source) for source in sources])[wanted.source]
        cells = sizes.prod(axis=1) * len(self.samples)
        work = np.cumsum(np.maximum(cells, configurations))
        ends_batch = np.flatnonzero(np.diff(work // BATCH_WORK)) + 1
        self._keep(
            _counted(
                sources, wanted.where(batch), nodes[batch], sizes[batch], none, len(self.samples)
            )
            for batch in np.split(np.arange(len(work)), ends_batch)
            if len(batch)
        )

    def _keep(self, tables: Iterable[_Tables]) -> None:
        """Add the scores of some sets to those that are kept, ascending by number."""
        kept = [(self.sets, self.fits, self.impossible, self.scored)]
        kept += [self._scored(some) for some in tables]
        sets, *of_each = (np.concatenate(parts, axis=-1) for parts in zip(*kept, strict=True))
        order = np.argsort(sets, kind="stable")
        self.sets = sets[order]
        self.fits, self.impossible, self.scored = (part[..., order] for part in of_each)

    def _scored(self, tables: _Tables) -> tuple[Integers, FloatArray, Integers, FloatArray]:
        """The numbers of some sets, what they fit, their impossible cells and their scores."""
        fits = np.add.reduceat(nlogn(tables.counts), tables.starts, axis=1)
        impossible = np.zeros(fits.shape, np.int64)
        if any(score.is_sparse and score.equivalent_size is None for score in self.scores):
            impossible = self._impossible(tables)
        scored = np.empty((len(self.scores), *fits.shape))
        for of_score, score in zip(scored, self.scores, strict=True):
            if score.equivalent_size is None:
                of_score[:] = _bic(fits, tables.cells, impossible, score)
            else:
                for of_sample, counts in zip(of_score, tables.counts, strict=True):
                    of_sample[:] = _bdeu(counts, tables.starts, score.equivalent_size)
        return self.numbers[tables.nodes].sum(axis=1), fits, impossible, scored

    def _impossible(self, tables: _Tables) -> Integers:
        """How many cells of each table do not occur though they should, in each sample."""
        empty = tables.counts == 0
        impossible = np.zeros((len(empty), len(tables.nodes)), np.int64)
        has_empty = np.logical_or.reduceat(empty.any(axis=0), tables.starts)
        if not has_empty.any():
            return impossible
        cells = tables.cells[has_empty]
        expected = self._expected(tables.nodes[has_empty])
        should_be = empty[:, np.repeat(has_empty, tables.cells)] & (expected >= EXPECTED_ROWS)
        starts = np.cumsum(cells) - cells
        impossible[:, has_empty] = np.add.reduceat(should_be, starts, axis=1, dtype=np.int64)
        return impossible

    def _expected(self, nodes: Integers) -> FloatArray:
        """The rows that each cell of some sets would have, were their variables independent.

        From one variable to the next each table becomes a block for each state of that one.
        """
        sizes = np.array([*self.rows.sizes, 1])
        starts = np.cumsum(sizes) - sizes
        expected = np.full((len(self.samples), len(nodes)), self.total)
        cells = np.ones(len(nodes), np.int64)
        for column in nodes.T:
            states = sizes[column]
            table = np.repeat(np.arange(len(nodes)), states)  # that each block repeats
            share = self.shares[:, ranges(starts[column], states)]  # of each block's state
            begins = np.cumsum(cells) - cells
            length = cells[table]
            index = ranges(begins[table], length)  # of each new cell in the tables so far
            expected = expected[:, index] * np.repeat(share, length, axis=1)
            cells = cells * states
        return expected


def _bic(fits: FloatArray, cells: Integers, impossible: Integers, score: Score) -> FloatArray:
    """What tables score by BIC in each sample; if sparse, without a charge for impossible cells."""
    scores = fits - (cells - 1) * score.each
    if score.is_sparse:
        samples, some = np.nonzero(impossible)
        costs = _costs(cells[some], impossible[samples, some], score.each)
        scores[samples, some] = fits[samples, some] - costs
    return scores


def _costs(cells: Integers, impossible: Integers, each: float) -> FloatArray:
    """What tables cost of which some cells do not occur; many are alike, and computed once."""
    # The two numbers as one, so that distinct pairs are distinct numbers.
    pairs, pair_of_table = np.unique(cells << 32 | impossible, return_inverse=True)
    costs = [cost_of_cells(pair >> 32, pair & 2**32 - 1, each) for pair in pairs.tolist()]
    return np.array(costs)[pair_of_table]


@dataclass(frozen=True, eq=False)
class Configurations:
    """The configurations of some variables: the distinct ones, or those of all rows."""

    scope: tuple[int, ...]  # the variables, ascending
    columns: Sequence[NDArray[Any]]  # their codes, variable by variable
    sizes: list[int]  # how many states each has
    # A row for each configuration, a column for each sample; one number where all weigh the same
    # and there is one sample, which saves the matrix.
    weights: FloatArray | float

    @classmethod
    def of(
        cls, scope: tuple[int, ...], rows: CodedRows, weights: FloatArray | None, total: float
    ) -> Configurations:
        """The configurations of some rows, or the rows themselves where few are equal.

        Parameters
        ----------
        weights
            Those of the rows, a column for each sample, or None where all are the same.
        total
            The weight of all rows together, in each sample.
        """
        sizes = [rows.sizes[node] for node in scope]
        row_weight = total / rows.rows  # of each row, where all are the same
        if rows.differ_in(scope):
            columns = [rows.columns[node] for node in scope]
            return cls(scope, columns, sizes, row_weight if weights is None else weights)
        distinct_columns, index = rows.distinct(scope)
        row_weights = np.full((rows.rows, 1), row_weight) if weights is None else weights
        configurations = len(distinct_columns[0])
        of_samples = [np.bincount(index, of_sample, configurations) for of_sample in row_weights.T]
        return cls(scope, distinct_columns, sizes, np.stack(of_samples, axis=1))

    def __len__(self) -> int:
        return len(self.columns[0])

    def count(self, strides: Integers, ends: Integers, counts: FloatArray) -> None:
        """Write the tables of some sets, the first variable fastest, one after the other.

        Parameters
        ----------
        strides
            How far apart the states of each variable are in each table, zero where it is not in it.
        counts
            A row for each sample.
        """
        strides = strides[:, : len(self.scope)]
        if isinstance(self.weights, float) or len(self) >= MIN_ROW_BY_ROW:
            self._row_by_row(strides, ends, counts)
        else:
            self._in_one(strides, ends, counts, self.weights)

    def _row_by_row(self, strides: Integers, ends: Integers, counts: FloatArray) -> None:
        """Some sets at a time: each row is added to a cell of each of their tables.

        The matrix with a row for each cell and a column for each row of data, a one where that is
        in the cell, times the weights of the rows.
        """
        from scipy.sparse import csc_array

        # One more variable, whose code is one in all rows: where each table begins in its group.
        first_of_group = np.arange(len(strides)) // SETS_AT_A_TIME * SETS_AT_A_TIME
        offsets = ends[:-1] - ends[first_of_group]
        strides = np.column_stack([strides, offsets]).astype(np.float32)
        ones = np.ones(min(len(self), ROWS_AT_A_TIME) * min(len(strides), SETS_AT_A_TIME))
        counts[:, ends[0] : ends[-1]] = 0.0
        for start in range(0, len(self), ROWS_AT_A_TIME):
            block = slice(start, start + ROWS_AT_A_TIME)
            number = len(self.columns[0][block])
            codes = np.ones((len(self.columns) + 1, number), np.float32)
            for into, column in zip(codes, self.columns, strict=False):
                into[:] = column[block]
            weights = ones[:number] if isinstance(self.weights, float) else self.weights[block]
            for begin in range(0, len(strides), SETS_AT_A_TIME):
                some = strides[begin : begin + SETS_AT_A_TIME]
                first, *_, last = ends[begin : begin + SETS_AT_A_TIME + 1]
                cell = (codes.T @ some.T).astype(np.int32).ravel()  # whole numbers below 2^24
                column_starts = np.arange(0, len(cell) + 1, len(some), dtype=np.int32)
                shape = int(last - first), number
                is_in_cell = csc_array((ones[: len(cell)], cell, column_starts), shape)
                counts[:, first:last] += np.asarray(is_in_cell @ weights).T
        if isinstance(self.weights, float):
            counts[:, ends[0] : ends[-1]] *= self.weights

    def _in_one(
        self, strides: Integers, ends: Integers, counts: FloatArray, weights_of: FloatArray
    ) -> None:
        """All sets at once: most tables are small."""
        codes = np.array(self.columns, float)
        keys = (strides @ codes).astype(np.int64) + (ends[:-1, None] - ends[0])
        flat = keys.ravel()
        for into, weights in zip(counts, weights_of.T, strict=True):
            of_sample = np.broadcast_to(weights, keys.shape).ravel()
            into[ends[0] : ends[-1]] = np.bincount(flat, of_sample, ends[-1] - ends[0])


@dataclass(frozen=True)
class Wanted:
    """Sets to be counted, each from the configurations of a scope that holds it."""

    source: Integers  # which configurations, ascending
    mask: Integers  # the bits of its variables in their scope
    left_out: Integers  # the index of a variable in it without which it is wanted as well, else -1

    def nodes(self, sources: Sequence[Configurations], none: int) -> Integers:
        """The variables of each set where they stand in its scope, ``none`` in other places."""
        width = max(len(source.scope) for source in sources)
        scopes = np.full((len(sources), width), none)
        for row, source in zip(scopes, sources, strict=True):
            row[: len(source.scope)] = source.scope
        is_in = self.mask[:, None] >> np.arange(width) & 1 == 1
        return np.where(is_in, scopes[self.source], none)

    def where(self, chosen: Integers) -> Wanted:
        """Some of the sets."""
        return Wanted(self.source[chosen], self.mask[chosen], self.left_out[chosen])


@dataclass(frozen=True)
class _Tables:
    """The tables of some sets, one after the other."""

    nodes: Integers  # the variables of each set, ascending, then the one that is in no set
    counts: FloatArray  # a row for each sample
    starts: Integers  # where each table begins

    @cached_property
    def cells(self) -> Integers:
        """How many cells each table has."""
        return np.diff(self.starts, append=self.counts.shape[1])


def _counted(
    sources: Sequence[Configurations],
    wanted: Wanted,
    nodes: Integers,
    sizes: Integers,
    none: int,
    samples: int,
) -> _Tables:
    """The tables of sets, and of those with a variable less that are wanted as well."""
    products = np.cumprod(sizes, axis=1)
    cells = products[:, -1]
    strides = np.where(nodes < none, products // sizes, 0)
    ends = np.append(0, np.cumsum(cells))
    counts = np.empty((samples, ends[-1]))
    # Sets of the same configurations stand together.
    groups = np.flatnonzero(np.diff(wanted.source, prepend=-1, append=-1)).tolist()
    for begin, end in pairwise(groups):
        source = sources[wanted.source[begin]]
        source.count(strides[begin:end], ends[begin : end + 1], counts)

    # What is wanted with a variable less is a sum of what was counted.
    some = np.flatnonzero(wanted.left_out >= 0)
    index = some, wanted.left_out[some]
    sums, starts = _sums(counts, ends[some], cells[some], strides[index], sizes[index])
    without = nodes.copy()
    without[index] = none
    all_nodes = np.sort(np.concatenate([nodes, without[some]]), axis=1)
    return _Tables(
        all_nodes[:, : (all_nodes < none).sum(axis=1).max()],
        np.concatenate([counts, sums], axis=1),
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
    sum_cells = cells // states
    sum_starts = np.cumsum(sum_cells) - sum_cells
    table = np.repeat(np.arange(len(sum_cells)), sum_cells)  # of each cell of the sums
    stride_of_cell = stride[table]
    states_of_cell = states[table]
    cell = np.arange(len(table)) - sum_starts[table]
    # Where the first state is: each state of slower variables leads past all states of this one.
    slower = cell // stride_of_cell
    index = starts[table] + cell + slower * stride_of_cell * (states_of_cell - 1)
    sums = counts[:, index]
    for state in range(1, states.max(initial=0)):
        has = np.flatnonzero(states_of_cell > state)
        sums[:, has] += counts[:, index[has] + state * stride_of_cell[has]]
    return sums, sum_starts
