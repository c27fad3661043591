r"""Scored parent sets: for each variable, the best parents among any of its candidates.

A decomposable score of a DAG is a sum over variables of what each scores with its parents. For
BIC,

.. math::
    s(y, S) = \sum_{u, x} n(u, x) \log \frac{n(u, x)}{n(u)} - \frac{\log N}{2} (r_y - 1) q_S

with :math:`q_S` the number of parent configurations, seen or not. The rows enter once for each
variable: as the distinct configurations of the variable and its candidates. Every parent set is
a marginal of these.

A set is not counted if it cannot win: its likelihood is at most that of all candidates together,
and at most that of a subset plus :math:`N` times the entropy of what was added; so a set whose
bound is below the score of one of its subsets is left out, and so are its supersets. What a set
may save by impossible cells is not known before it is counted: where a state of a candidate
excludes one of the variable, only the likelihood is bounded. Sets of three and more are counted
if they extend a set that scores more than its own subsets.

Rows that are completed again differ in what was missing: sets far below their own subsets in one
completion do not win in another, and are not counted there (``far``).

Afterwards ``best[mask]`` holds the best score among the subsets of the candidates in ``mask``:
what the search over orders asks for thousands of times is one look-up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, lgamma, log, prod

import numpy as np

from lacunet.model.network import FloatArray
from lacunet.statistics.distinct import LARGEST_KEY, distinct
from lacunet.structure.cells import cost_of_family, impossible_cells
from lacunet.structure.gains import informations, nlogn, pair_informations, tables_beside, xlogx
from lacunet.structure.rows import CodedRows, Integers

MOST_CELLS = 2**20  # a family with more cells is not considered
BATCH = 2**19  # keys or cells that are counted at once
ONE_BY_ONE = 2**11  # with as many rows a set is counted by itself
ALL_SETS_UP_TO = 2  # larger sets must extend one that scores more than its own subsets
FAR = 30.0  # nats below the best subset: no other completion makes up for more

_Set = tuple[int, list[int]]  # candidates as a mask, and their places


@dataclass(frozen=True)
class Score:
    """What a family scores: BIC, or BDeu with an equivalent sample size.

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

    def penalty(self, states: int, configurations: int) -> float:
        """What the score of a family is below its log-likelihood, at least.

        That is if all cells of its table are possible.
        """
        if self.equivalent_size is not None:
            return 0.0
        return self.each * (states - 1) * configurations

    def of_each(self, counted: _Tables) -> list[float]:
        """The scores of families that are counted."""
        if self.equivalent_size is not None:
            return [_bdeu(table, self.equivalent_size) for table in counted.tables()]
        states, sizes = counted.counts.shape[1], counted.sizes
        costs = self.each * (states - 1) * sizes
        if self.is_sparse:
            for at, impossible in counted.impossible():
                costs[at] = cost_of_family(states, int(sizes[at]), impossible, self.each)
        scores: list[float] = (counted.fits - costs).tolist()
        return scores

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
        states = table.shape[1]
        both = table.transpose(0, 2, 1).reshape(-1, states)
        return _bdeu(both, self.equivalent_size) - _bdeu(table.sum(axis=2), self.equivalent_size)

    def pair_gains(self, rows: CodedRows) -> FloatArray:
        """The gains of all pairs given nothing; minus infinity for a variable with itself."""
        if self.equivalent_size is None:
            information, cost = pair_informations(rows)
            return information - cost
        nodes = range(len(rows))
        return np.array([self.gains(rows, y, (), [x for x in nodes if x != y]) for y in nodes])


def _bdeu(table: FloatArray, size: float) -> float:
    from scipy.special import gammaln

    configurations, states = table.shape
    seen = table[table.sum(axis=1) > 0]
    row, cell = size / configurations, size / (configurations * states)
    rows = lgamma(row) * len(seen) - gammaln(seen.sum(axis=1) + row).sum()
    cells = gammaln(seen + cell).sum() - lgamma(cell) * seen.size
    return float(rows + cells)


@dataclass(frozen=True)
class ParentSets:
    """The best parents of one variable among the subsets of its candidates.

    ``best[mask]`` is the best score of a set within the candidates whose bits ``mask`` has, and
    ``chosen[mask]`` that set; minus infinity where a required parent is not among them. ``scored``
    is how many sets were counted.
    """

    candidates: tuple[int, ...]
    best: FloatArray
    chosen: Integers
    scored: int

    def parents(self, mask: int) -> set[int]:
        """The best parents within a mask."""
        chosen = int(self.chosen[mask])
        return {node for bit, node in enumerate(self.candidates) if chosen >> bit & 1}


def parent_sets(
    child: int,
    candidates: Sequence[int],
    required: frozenset[int],
    rows: CodedRows,
    score: Score,
    max_parents: int,
    far: set[tuple[int, ...]] | None = None,
) -> ParentSets:
    """Score the sets of at most ``max_parents`` candidates, as far as they can win.

    Parameters
    ----------
    required
        Candidates that every set must hold.
    rows
        Complete rows.
    far
        Sets that were so far below their subsets in other completions that they are not counted;
        those of these rows are added.
    """
    family = _Family.of(child, candidates, rows, score.total)
    size = 1 << len(candidates)
    scores, within = [-inf] * size, [-inf] * size
    bound = [family.ceiling()] * size  # of the likelihood
    must = sum(1 << candidates.index(node) for node in required)
    entropy = [
        _entropy(family.counted(column, size))
        for column, size in zip(family.others, family.radix, strict=True)
    ]
    scored = 0
    level = [0]
    far = set() if far is None else far
    for _ in range(max_parents + 1):
        counted, kept = [], []
        for mask, members in _in_order_of_members(level):
            if not _can_win(mask, members, family, score, entropy, bound, within):
                continue
            if tuple(candidates[bit] for bit in members) not in far:
                counted.append((mask, members))
            elif len(members) < ALL_SETS_UP_TO:
                kept.append(mask)
        scored += len(counted)
        for (mask, members), fit, reached in family.scored(counted, score):
            bound[mask] = fit
            if mask & must == must:
                scores[mask] = reached
                if reached < within[mask] - FAR:
                    far.add(tuple(candidates[bit] for bit in members))
            if reached > within[mask] or len(members) < ALL_SETS_UP_TO:
                kept.append(mask)
            within[mask] = max(within[mask], scores[mask])
        level = sorted(
            {mask | 1 << bit for mask in kept for bit in range(len(candidates))} - {*kept}
        )
    best, chosen = _best_subsets(np.array(scores))
    return ParentSets(tuple(candidates), best, chosen, scored)


def _in_order_of_members(masks: Sequence[int]) -> list[_Set]:
    """The masks with their bits, so that neighbours share a part of their keys."""
    members = ([bit for bit in range(mask.bit_length()) if mask >> bit & 1] for mask in masks)
    return sorted(zip(masks, members, strict=True), key=lambda one: one[1])


def _can_win(
    mask: int,
    members: Sequence[int],
    family: _Family,
    score: Score,
    entropy: Sequence[float],
    bound: list[float],
    within: list[float],
) -> bool:
    """Whether a set may score more than its subsets; its bounds follow from theirs."""
    for bit in members:
        smaller = mask ^ (1 << bit)
        bound[mask] = min(bound[mask], bound[smaller] + entropy[bit])
        within[mask] = max(within[mask], within[smaller])
    cells = family.cells(members)
    penalty = score.penalty(family.states, cells // family.states)
    if score.is_sparse and mask & family.excluding:
        penalty = 0.0
    return cells <= MOST_CELLS and bound[mask] - penalty > within[mask]


@dataclass(frozen=True)
class _Family:
    """The distinct configurations of a variable and its candidates, with their weights."""

    own: Integers
    others: list[Integers]
    states: int
    radix: list[int]
    weights: FloatArray | float  # a number where all weigh the same
    expected_of: dict[int, FloatArray] = field(default_factory=lambda: {0: np.ones(1)})

    @classmethod
    def of(cls, child: int, candidates: Sequence[int], rows: CodedRows, total: float) -> _Family:
        """The configurations of some rows, or the rows themselves where few are equal."""
        scope = [child, *candidates]
        each: FloatArray | float
        if rows.weigh_the_same and rows.differ_in(scope):
            columns = [rows.columns[node].astype(np.int64) for node in scope]
            each = total / rows.rows
        else:
            columns, weights = rows.configurations(scope)
            each = weights * (total / weights.sum())
        radix = [rows.sizes[node] for node in candidates]
        return cls(columns[0], columns[1:], rows.sizes[child], radix, each)

    def cells(self, members: Sequence[int]) -> int:
        """The cells of the table of the child and some candidates."""
        return self.states * prod(self.radix[bit] for bit in members)

    @cached_property
    def shares(self) -> list[FloatArray]:
        """How frequent the states of each candidate are."""
        counts = [self.counted(*one) for one in zip(self.others, self.radix, strict=True)]
        return [own / own.sum() for own in counts]

    def expected(self, mask: int) -> FloatArray:
        """The share of the rows that would have each configuration, were they independent."""
        if mask not in self.expected_of:
            slowest = mask.bit_length() - 1
            rest = self.expected(mask ^ 1 << slowest)
            self.expected_of[mask] = np.multiply.outer(self.shares[slowest], rest).ravel()
        return self.expected_of[mask]

    @cached_property
    def of_child(self) -> FloatArray:
        """How often each state of the child occurs."""
        return self.counted(self.own, self.states)

    @cached_property
    def excluding(self) -> int:
        """The candidates with a state that a state of the child never comes with, as a mask."""
        sets = [(1 << bit, [bit]) for bit in range(len(self.others))]
        found = 0
        for some in self._in_groups(sets):
            for at, (both, _) in self._counted(some).impossible():
                found |= (both > 0) * some[at][0]
        return found

    def counted(self, keys: Integers, cells: int) -> FloatArray:
        """The weight of each key."""
        if isinstance(self.weights, float):
            return np.bincount(keys, minlength=cells).astype(np.float64) * self.weights
        return np.bincount(keys, self.weights, cells).astype(np.float64)

    def scored(self, sets: Sequence[_Set], score: Score) -> Iterator[tuple[_Set, float, float]]:
        """Each set of candidates with the child's log-likelihood given it, and what it scores."""
        for some in self._in_groups(sets):
            counted = self._counted(some)
            yield from zip(some, counted.fits.tolist(), score.of_each(counted), strict=True)

    def _in_groups(self, sets: Sequence[_Set]) -> Iterator[Sequence[_Set]]:
        """The sets in groups that are counted at once."""
        begin, room = 0, BATCH
        for at, (_, members) in enumerate(sets):
            room -= max(self.cells(members), len(self.own))
            if room < 0 and at > begin:
                yield sets[begin:at]
                begin, room = at, BATCH - max(self.cells(members), len(self.own))
        if begin < len(sets):
            yield sets[begin:]

    def _counted(self, sets: Sequence[_Set]) -> _Tables:
        ends = np.cumsum([0, *(self.cells(members) for _, members in sets)])
        count = self._in_one if len(self.own) < ONE_BY_ONE else self._one_by_one
        counts = count([members for _, members in sets], ends)
        if isinstance(self.weights, float):
            counts *= self.weights
        return _Tables(self, sets, counts.reshape(-1, self.states), ends[:-1] // self.states)

    def _one_by_one(self, sets: Sequence[Sequence[int]], ends: Integers) -> FloatArray:
        """The counts of each set, with the keys that it shares with the set before it."""
        path: list[int] = []
        known = [(self.own, self.states)]
        counts = np.empty(ends[-1])
        weights = None if isinstance(self.weights, float) else self.weights
        for members, end in zip(sets, ends[1:].tolist(), strict=True):
            shared = 0
            while shared < min(len(path), len(members)) and path[shared] == members[shared]:
                shared += 1
            del known[shared + 1 :]
            for bit in members[shared:]:
                before, cells = known[-1]
                keys = self.others[bit] * cells
                keys += before
                known.append((keys, cells * self.radix[bit]))
            path = list(members)
            keys, cells = known[-1]
            counts[end - cells : end] = np.bincount(keys, weights, cells)
        return counts

    def _in_one(self, sets: Sequence[Sequence[int]], ends: Integers) -> FloatArray:
        """The counts of many sets at once: most tables are small."""
        strides = np.zeros((len(sets), 1 + len(self.others)))
        strides[:, 0] = 1
        for row, members in enumerate(sets):
            cells = self.states
            for bit in members:
                strides[row, 1 + bit] = cells
                cells *= self.radix[bit]
        keys = (strides @ self._codes).astype(np.int64) + ends[:-1, None]
        weights = None
        if not isinstance(self.weights, float):
            weights = np.broadcast_to(self.weights, keys.shape).ravel()
        return np.bincount(keys.ravel(), weights, ends[-1]).astype(np.float64)

    @cached_property
    def _codes(self) -> FloatArray:
        """The configurations as whole numbers far below 2^53: they are multiplied."""
        return np.array([self.own, *self.others], float)

    def ceiling(self) -> float:
        """The log-likelihood of the child given all candidates: no set of them has more.

        Where few rows are equal in these it is little below zero, which is taken in its place.
        """
        if isinstance(self.weights, float):
            return 0.0
        keys, bound = np.zeros(len(self.own), np.int64), 1
        for column, size in zip(self.others, self.radix, strict=True):
            if bound * size > LARGEST_KEY:
                found, keys = distinct(keys, bound)
                bound = len(found)
            keys, bound = keys * size + column, bound * size
        found, place = distinct(keys, bound)
        given = self.counted(place, len(found))
        _, place = distinct(place * self.states + self.own, len(found) * self.states)
        return xlogx(self.counted(place, 0)) - xlogx(given)


@dataclass(frozen=True)
class _Tables:
    """The tables of a child given some sets of candidates, one below the other.

    ``starts`` is where the configurations of each set begin.
    """

    family: _Family
    sets: Sequence[_Set]
    counts: FloatArray
    starts: Integers

    @cached_property
    def sizes(self) -> Integers:
        """How many configurations each set has."""
        return np.diff(self.starts, append=len(self.counts))

    @cached_property
    def fits(self) -> FloatArray:
        """The child's log-likelihood given each set."""
        of_each = nlogn(self.counts).sum(axis=1) - nlogn(self.counts.sum(axis=1))
        fits: FloatArray = np.add.reduceat(of_each, self.starts)
        return fits

    def tables(self) -> list[FloatArray]:
        """The counts given each set."""
        return np.split(self.counts, self.starts[1:])

    def impossible(self) -> Iterator[tuple[int, tuple[int, int]]]:
        """Where cells do not occur though they should: how many, with the child and without."""
        empty = self.counts == 0
        some = np.flatnonzero(np.logical_or.reduceat(empty.any(axis=1), self.starts)).tolist()
        if not some:
            return
        is_in = np.repeat(np.isin(np.arange(len(self.sets)), some), self.sizes)
        expected = np.concatenate([self.family.expected(self.sets[at][0]) for at in some])
        both, alone = impossible_cells(empty[is_in], expected, self.family.of_child)
        starts = np.concatenate([[0], np.cumsum(self.sizes[some])[:-1]])
        of_both, of_alone = np.add.reduceat(both, starts), np.add.reduceat(alone, starts)
        for at, one, two in zip(some, of_both.tolist(), of_alone.tolist(), strict=True):
            if one or two:
                yield at, (one, two)


def _entropy(counts: FloatArray) -> float:
    return xlogx(np.array([counts.sum()])) - xlogx(counts)


def _best_subsets(scores: FloatArray) -> tuple[FloatArray, Integers]:
    """For each mask, the best score among its subsets, and the subset that has it."""
    best, chosen = scores.copy(), np.arange(len(scores))
    for bit in range(len(scores).bit_length() - 1):
        one, two = best.reshape(-1, 2, 1 << bit), chosen.reshape(-1, 2, 1 << bit)
        is_better = one[:, 0] >= one[:, 1]
        one[:, 1] = np.where(is_better, one[:, 0], one[:, 1])
        two[:, 1] = np.where(is_better, two[:, 0], two[:, 1])
    return best, chosen
