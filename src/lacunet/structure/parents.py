r"""Scored parent sets: for each variable, the best parents among any of its candidates.

A decomposable score of a DAG is a sum over variables of what each scores with its parents, the
difference of two sets' scores (`lacunet.structure.sets`). The rows enter as the distinct
configurations of a variable and its candidates.

A set is not counted if it cannot win: its log-likelihood is at most zero, and at most that of a
subset plus :math:`N` times the entropy of what was added; so a set whose bound is below the score
of one of its subsets is left out, and so are its supersets. What a set may save by impossible
cells is not known before it is counted: where a state of a candidate excludes one of the variable,
only the likelihood is bounded. Sets of three and more are counted if they extend a set that scores
more than its own subsets. All variables go through the numbers of parents together, so that what
is done for each set is done for many at once.

Rows that are completed again differ in what was missing: sets far below their own subsets in one
completion do not win in another, and are not counted there (``far``).

Afterwards ``best[mask]`` holds the best score among the subsets of the candidates in ``mask``:
what the search over orders asks for thousands of times is one look-up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from lacunet.deadline import NEVER, Deadline
from lacunet.model.network import FloatArray, Mask
from lacunet.structure.rows import Integers
from lacunet.structure.sets import Configurations, ScoredSets

MOST_CELLS = 2**20  # a family with more cells is not considered
MOST_HELD = 2**24  # codes of configurations and scores of sets, at the same time
ALL_SETS_UP_TO = 2  # larger sets must extend one that scores more than its own subsets
FAR = 30.0  # nats below the best subset: no other completion makes up for more

Far = defaultdict[int, set[int]]  # of each variable, sets of parents


@dataclass(frozen=True)
class ParentSets:
    """The best parents of one variable among the subsets of its candidates.

    ``best[mask]`` is the best score of a set within the candidates whose bits ``mask`` has, and
    ``chosen[mask]`` that set; minus infinity where a required parent is not among them. ``scored``
    is how many sets were looked at.
    """

    candidates: tuple[int, ...]
    best: FloatArray
    chosen: Integers
    scored: int

    def parents(self, mask: int) -> set[int]:
        """The best parents within a mask."""
        chosen = int(self.chosen[mask])
        return {node for bit, node in enumerate(self.candidates) if chosen >> bit & 1}


@dataclass(frozen=True, eq=False)
class CandidateParents:
    """A variable, the candidates for its parents, and those of them that are required."""

    child: int
    candidates: tuple[int, ...]
    required: frozenset[int]

    @property
    def scope(self) -> tuple[int, ...]:
        """All variables, ascending."""
        return tuple(sorted((self.child, *self.candidates)))


def parent_sets(
    families: Sequence[CandidateParents],
    sets: ScoredSets,
    max_parents: int,
    far: Far | None = None,
    deadline: Deadline = NEVER,
) -> list[ParentSets]:
    """Score the sets of at most ``max_parents`` candidates, as far as they can win.

    Parameters
    ----------
    sets
        The scores of sets in complete rows; those that are counted are added.
    far
        Sets that were so far below their subsets in other completions that they are not counted;
        those of these rows are added.
    """
    far = defaultdict(set) if far is None else far
    found: list[ParentSets] = []
    begin, held = 0, 0
    source_of: dict[tuple[int, ...], Configurations] = {}
    for end, one in enumerate(families, start=1):
        deadline.check()
        if one.scope not in source_of:
            source_of[one.scope] = Configurations.of(one.scope, sets.rows, sets.score.total)
            held += len(source_of[one.scope]) * len(one.scope)
        held += 1 << len(one.candidates)
        if end == len(families) or held > MOST_HELD:
            together = _SideBySide(families[begin:end], source_of, sets, far)
            found += together.scored(max_parents, deadline)
            begin, held, source_of = end, 0, {}
    return found


class _SideBySide:
    """Several families, the subsets of their candidates laid one after the other.

    ``start[f]`` is where those of a family begin: its set with some mask is at ``start[f] + mask``.
    ``bound`` is what the likelihood of each set is at most, ``within`` the best score of a subset.
    """

    def __init__(
        self,
        families: Sequence[CandidateParents],
        source_of: Mapping[tuple[int, ...], Configurations],
        sets: ScoredSets,
        far: Far,
    ) -> None:
        self.families, self.sets, self.far = families, sets, far
        self.sources = [source_of[one.scope] for one in families]
        self.variables = [_Unions(one.candidates) for one in families]
        self.number = np.array([len(one.candidates) for one in families])
        self.start = np.cumsum([0, *(1 << self.number)])
        self.score = np.full(self.start[-1], -inf)
        self.within = np.full(self.start[-1], -inf)
        self.bound = np.zeros(self.start[-1])
        self._count_singles_and_pairs()
        known, sizes = sets.known, sets.rows.sizes
        self.states = np.array([sizes[one.child] for one in families])
        self.size = np.ones((len(families), self.number.max()))
        self.entropy = np.zeros(self.size.shape)
        self.must = np.zeros(len(families), np.int64)
        self.excluding = np.zeros(len(families), np.int64)  # a state of the child excludes theirs
        for row, one in enumerate(families):
            for bit, x in enumerate(one.candidates):
                self.size[row, bit] = sizes[x]
                self.entropy[row, bit] = known[0].fit - known[1 << x].fit
                self.must[row] |= (x in one.required) << bit
                is_excluding = known[1 << x | 1 << one.child].impossible > 0
                self.excluding[row] |= is_excluding << bit

    def _count_singles_and_pairs(self) -> None:
        pairs = [
            (row, 1 << x | 1 << one.child, 1 << x)
            for row, one in enumerate(self.families)
            for x in one.candidates
        ]
        singles = [(row, 1 << one.child, 0) for row, one in enumerate(self.families)]
        self._count([*pairs, *singles])

    def _count(self, wanted: Iterable[tuple[int, int, int]]) -> None:
        """Count what is not known: for families, sets with the child and without."""
        of_family = defaultdict[int, dict[int, int]](dict)
        known, coming = self.sets.known, {0}
        for row, whole, parents in wanted:
            is_known = parents in known or parents in coming
            if whole not in known and whole not in coming:
                of_family[row][whole] = 0 if is_known else parents
            elif not is_known:
                of_family[row][parents] = 0
            coming |= {whole, parents}
        self.sets.count((self.sources[row], some) for row, some in of_family.items())

    def scored(self, max_parents: int, deadline: Deadline) -> Iterator[ParentSets]:
        """The best parents of each family."""
        scored = np.zeros(len(self.families), np.int64)
        level = self._level(self.start[:-1])
        for size in range(max_parents + 1):
            deadline.check()
            some = level.where(self._can_win(level))
            is_near, sets = self._near(some)
            counted = some.where(is_near)
            scored += np.bincount(counted.row, minlength=len(scored))
            is_kept = np.full(len(some), size < ALL_SETS_UP_TO)
            is_kept[is_near] |= self._take(counted, sets)
            level = self._next(some.where(is_kept))
        for row, one in enumerate(self.families):
            own = self.score[self.start[row] : self.start[row + 1]]
            yield ParentSets(one.candidates, *_best_subsets(own), int(scored[row]))

    def _can_win(self, level: _Level) -> Mask:
        """Whether sets may score more than their subsets; their bounds follow from theirs."""
        cells = self.states[level.row].astype(float)
        for bit in range(self.size.shape[1]):
            is_in = np.flatnonzero(level.mask >> bit & 1)
            if len(is_in):
                own, row = level.at[is_in], level.row[is_in]
                less = own - (1 << bit)
                bound = self.bound[less] + self.entropy[row, bit]
                self.bound[own] = np.minimum(self.bound[own], bound)
                self.within[own] = np.maximum(self.within[own], self.within[less])
                cells[is_in] *= self.size[row, bit]
        states = self.states[level.row]
        cost = self.sets.score.least_cost * (states - 1) * (cells / states)
        cost[level.mask & self.excluding[level.row] != 0] = 0.0
        can_win: Mask = (cells <= MOST_CELLS) & (
            self.bound[level.at] - cost > self.within[level.at]
        )
        return can_win

    def _near(self, level: _Level) -> tuple[Mask, list[tuple[int, int]]]:
        """Which sets were not far in other completions, and these, with the child and without."""
        is_near = np.ones(len(level), bool)
        near: list[tuple[int, int]] = []
        for place, (row, mask) in enumerate(
            zip(level.row.tolist(), level.mask.tolist(), strict=True)
        ):
            child = self.families[row].child
            parents = self.variables[row].of(mask)
            if parents in self.far[child]:
                is_near[place] = False
            else:
                near.append((parents | 1 << child, parents))
        return is_near, near

    def _take(self, level: _Level, sets: Sequence[tuple[int, int]]) -> Mask:
        """Score sets, and whether they score more than their subsets."""
        rows, at = level.row.tolist(), level.at
        self._count((row, *both) for row, both in zip(rows, sets, strict=True))
        known = self.sets.known
        pairs = [(known[whole], known[parents]) for whole, parents in sets]
        self.bound[at] = [one.fit - other.fit for one, other in pairs]
        reached = np.array([one.score - other.score for one, other in pairs])
        must = self.must[level.row]
        has_all = level.mask & must == must
        self.score[at[has_all]] = reached[has_all]
        is_far = has_all & (reached < self.within[at] - FAR)
        for place in np.flatnonzero(is_far).tolist():
            self.far[self.families[rows[place]].child].add(sets[place][1])
        is_better: Mask = reached > self.within[at]
        self.within[at] = np.maximum(self.within[at], self.score[at])
        return is_better

    def _next(self, kept: _Level) -> _Level:
        """The sets with one candidate more."""
        larger = []
        for bit in range(self.size.shape[1]):
            fits = (kept.mask >> bit & 1 == 0) & (bit < self.number[kept.row])
            larger.append(kept.at[fits] + (1 << bit))
        return self._level(np.unique(np.concatenate([*larger, np.zeros(0, np.int64)])))

    def _level(self, at: Integers) -> _Level:
        row = np.searchsorted(self.start, at, side="right") - 1
        return _Level(at, row, at - self.start[row])


@dataclass(frozen=True)
class _Level:
    """Sets of one size: their places, the families that they belong to, and their masks there."""

    at: Integers
    row: Integers
    mask: Integers

    def __len__(self) -> int:
        return len(self.at)

    def where(self, chosen: Mask) -> _Level:
        """Some of the sets."""
        return _Level(self.at[chosen], self.row[chosen], self.mask[chosen])


class _Unions:
    """The sets of variables that masks over candidates stand for, put together from two halves."""

    def __init__(self, candidates: Sequence[int]) -> None:
        self.half = len(candidates) // 2
        self.low = _unions(candidates[: self.half])
        self.high = _unions(candidates[self.half :])

    def of(self, mask: int) -> int:
        """The set of a mask."""
        high = mask >> self.half
        return self.high[high] | self.low[mask ^ high << self.half]


def _unions(candidates: Sequence[int]) -> list[int]:
    """The set of each mask."""
    unions = [0]
    for node in candidates:
        unions += [one | 1 << node for one in unions]
    return unions


def _best_subsets(scores: FloatArray) -> tuple[FloatArray, Integers]:
    """For each mask, the best score among its subsets, and the subset that has it."""
    best, chosen = scores.copy(), np.arange(len(scores))
    for bit in range(len(scores).bit_length() - 1):
        one, two = best.reshape(-1, 2, 1 << bit), chosen.reshape(-1, 2, 1 << bit)
        is_better = one[:, 0] >= one[:, 1]
        one[:, 1] = np.where(is_better, one[:, 0], one[:, 1])
        two[:, 1] = np.where(is_better, two[:, 0], two[:, 1])
    return best, chosen
