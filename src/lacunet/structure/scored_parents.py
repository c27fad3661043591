r"""Scored parent sets: for each variable, the best parents among any of its candidates.

A decomposable score of a DAG is a sum over variables of what each scores with its parents, the
difference of two sets' scores (`lacunet.structure.set_scores`). The rows enter as the distinct
configurations of a variable and its candidates.

A set is not counted if it cannot win: its log-likelihood is at most zero, and at most that of a
subset plus :math:`N` times the entropy of what was added; so a set whose bound is below the score
of one of its subsets is left out, and so are its supersets. What a set may save by impossible
cells is not known before it is counted: where a state of a candidate excludes one of the variable,
only the likelihood is bounded. Sets of three and more are counted if they extend a set that scores
more than its own subsets. All variables go through the numbers of parents together, so that what
is done for each set is done for many at once.

Rows that are completed again differ in what was missing: sets far below their own subsets in one
completion do not win in another, and are not counted there (`HopelessSets`).

Afterwards ``best[mask]`` holds the best score among the subsets of the candidates in ``mask``:
what the search over orders asks for thousands of times is one look-up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from math import inf

import numpy as np

from lacunet.limits import NEVER, Deadline
from lacunet.network.network import FloatArray, Mask
from lacunet.structure.indexed_rows import Integers
from lacunet.structure.set_scores import Configurations, ScoredSets, Wanted, is_among

MAX_FAMILY_CELLS = 2**20  # a family with more cells is not considered
MAX_SCORES_HELD = 2**24  # codes of configurations and scores of sets, at the same time
ALL_SETS_UP_TO = 2  # larger sets must extend one that scores more than its own subsets
CHILD = -0x61C8864680B583EB  # apart from all sums of parents: 2^64 over the golden ratio
HOPELESS_NATS = 30.0  # nats below the best subset: no other completion makes up for more


@dataclass(eq=False)
class HopelessSets:
    """Sets of parents of variables that are not worth counting, as sorted numbers of the two."""

    known: Integers = field(default_factory=lambda: np.zeros(0, np.int64))

    def has(self, children: Integers, parents: Integers) -> Mask:
        """Which sets of parents are among them."""
        return is_among(parents + children * CHILD, self.known)

    def add(self, children: Integers, parents: Integers) -> None:
        """Add sets of parents that are not among them."""
        fresh = np.sort(parents + children * CHILD)
        self.known = np.insert(self.known, np.searchsorted(self.known, fresh), fresh)


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
    """A variable, the candidates for its parents, ascending, and those that are required."""

    child: int
    candidates: tuple[int, ...]
    required: frozenset[int]

    @cached_property
    def scope(self) -> tuple[int, ...]:
        """All variables, ascending."""
        return tuple(sorted((self.child, *self.candidates)))


def parent_sets(
    families: Sequence[CandidateParents],
    sets: ScoredSets,
    max_parents: int,
    hopeless: HopelessSets | None = None,
    deadline: Deadline = NEVER,
) -> list[ParentSets]:
    """Score the sets of at most ``max_parents`` candidates, as far as they can win.

    Parameters
    ----------
    sets
        The scores of sets in complete rows; those that are counted are added.
    hopeless
        Sets that were so far below their subsets in other completions that they are not counted;
        those of these rows are added.
    """
    known_hopeless = HopelessSets() if hopeless is None else hopeless
    scored: list[ParentSets] = []
    begin = 0
    held = 0  # codes and scores of the families from `begin` on
    source_of: dict[tuple[int, ...], Configurations] = {}
    for end, family in enumerate(families, start=1):
        deadline.check()
        if family.scope not in source_of:
            source_of[family.scope] = sets.counted.configurations(family.scope)
            held += len(source_of[family.scope]) * len(family.scope)
        held += 1 << len(family.candidates)
        if end == len(families) or held > MAX_SCORES_HELD:
            together = _SideBySide(families[begin:end], source_of, sets, known_hopeless)
            scored += together.scored(max_parents, deadline)
            begin = end
            held = 0
            source_of = {}
    return scored


class _SideBySide:
    """Several families, the subsets of their candidates laid one after the other.

    The *index* of a set is where it stands among all: that of a family f with some mask is
    ``start[f] + mask``.
    """

    def __init__(
        self,
        families: Sequence[CandidateParents],
        source_of: Mapping[tuple[int, ...], Configurations],
        sets: ScoredSets,
        hopeless: HopelessSets,
    ) -> None:
        self.families = families
        self.sets = sets
        self.hopeless = hopeless
        self.sources = [source_of[family.scope] for family in families]

        # Of each set, by its index.
        self.number = np.array([len(family.candidates) for family in families])
        self.start = np.cumsum([0, *(1 << self.number)])
        self.score = np.full(self.start[-1], -inf)
        self.within = np.full(self.start[-1], -inf)  # the best score of a subset
        self.bound = np.zeros(self.start[-1])  # what its log-likelihood is at most

        # Of each family, and of each of its candidates; those that it has fewer than others are
        # ``none``, the variable beyond all, which has one state and adds nothing to a number.
        none = len(sets.rows)
        width = self.number.max()
        self.bits = 1 << np.arange(width)
        self.child = np.array([family.child for family in families])
        candidates = np.full((len(families), width), none)
        is_required = np.zeros(candidates.shape, bool)
        for row, family in enumerate(families):
            candidates[row, : len(family.candidates)] = family.candidates
            is_required[row, : len(family.candidates)] = [
                x in family.required for x in family.candidates
            ]
        self.required = is_required @ self.bits  # a mask
        self.before = (candidates < self.child[:, None]).sum(axis=1)  # candidates before the child
        self.numbers = sets.numbers[candidates]
        sizes = np.array([*sets.rows.sizes, 1])
        self.states = sizes[self.child]
        self.size = sizes[candidates].astype(float)

        # What bounds need: the sets of one candidate, and the empty ones.
        pairs = (self.start[:-1, None] + self.bits)[candidates < none]
        self._count(self._level(pairs))
        self._count(self._level(self.start[:-1]))
        fit_of = sets.fits[sets.places(self.numbers)]
        fit_of_nothing = sets.fits[sets.places(np.zeros(1, np.int64))]
        self.entropy = fit_of_nothing - fit_of  # N times that of each candidate
        both = sets.places(self.numbers + sets.numbers[self.child][:, None])
        is_excluding = sets.impossible[both] > 0  # a state of the child excludes one of theirs
        self.excluding = is_excluding @ self.bits  # a mask

    def _sets(self, level: _Level) -> tuple[Integers, Integers]:
        """The numbers of sets, with the child and without."""
        is_in = level.mask[:, None] & self.bits != 0
        parents = np.where(is_in, self.numbers[level.row], 0).sum(axis=1)
        return parents + self.sets.numbers[self.child[level.row]], parents

    def _count(self, level: _Level) -> None:
        """Count what is not known, with the child and without; what can be, as a sum."""
        is_new, is_new_alone = (self._are_new(sets) for sets in self._sets(level))
        # A mask of the candidates becomes one of the scope: the child's bit comes between theirs.
        before = self.before[level.row]
        lower = level.mask & (1 << before) - 1
        masks = (level.mask - lower << 1) + lower + (is_new << before)
        left_out = np.where(is_new & is_new_alone, before, -1)
        some = np.flatnonzero(is_new | is_new_alone)
        self.sets.counted.count(self.sources, Wanted(level.row, masks, left_out).where(some))

    def _are_new(self, sets: Integers) -> Mask:
        """Which sets are not known, each only once."""
        are_new = np.zeros(len(sets), bool)
        are_new[np.unique(sets, return_index=True)[1]] = True
        return are_new & ~self.sets.has(sets)

    def scored(self, max_parents: int, deadline: Deadline) -> Iterator[ParentSets]:
        """The best parents of each family."""
        scored = np.zeros(len(self.families), np.int64)
        level = self._level(self.start[:-1])
        for size in range(max_parents + 1):
            deadline.check()
            some = level.where(self._can_win(level))
            _, parents = self._sets(some)
            is_counted = ~self.hopeless.has(self.child[some.row], parents)
            counted = some.where(is_counted)
            scored += np.bincount(counted.row, minlength=len(scored))
            is_kept = np.full(len(some), size < ALL_SETS_UP_TO)
            is_kept[is_counted] |= self._take(counted)
            level = self._next(some.where(is_kept))
        # Neighbours with as many candidates have tables of one shape.
        for number, group in groupby(range(len(scored)), key=self.number.tolist().__getitem__):
            rows = [*group]
            begin, end = self.start[rows[0]], self.start[rows[-1] + 1]
            of_each = _best_subsets(self.score[begin:end].reshape(-1, 1 << number))
            for row, best, chosen in zip(rows, *of_each, strict=True):
                yield ParentSets(self.families[row].candidates, best, chosen, int(scored[row]))

    def _can_win(self, level: _Level) -> Mask:
        """Whether sets may score more than their subsets.

        A candidate adds at most N times its entropy to the log-likelihood, which is at most zero.
        """
        is_in = level.mask[:, None] & self.bits != 0
        subset = np.where(is_in, level.index[:, None] - self.bits, 0)  # without one candidate
        bounds = np.where(is_in, self.bound[subset] + self.entropy[level.row], 0.0)
        self.bound[level.index] = bounds.min(axis=1, initial=0.0)
        within = np.where(is_in, self.within[subset], -inf).max(axis=1, initial=-inf)
        self.within[level.index] = within
        configurations = np.where(is_in, self.size[level.row], 1.0).prod(axis=1)
        states = self.states[level.row]
        cost = self.sets.score.least_cost * (states - 1) * configurations
        cost[level.mask & self.excluding[level.row] != 0] = 0.0  # not known before it is counted
        can_win: Mask = (states * configurations <= MAX_FAMILY_CELLS) & (
            self.bound[level.index] - cost > within
        )
        return can_win

    def _take(self, level: _Level) -> Mask:
        """Score sets, and whether they score more than their subsets."""
        self._count(level)
        with_child, parents = self._sets(level)
        index = level.index
        whole = self.sets.places(with_child)
        alone = self.sets.places(parents)
        self.bound[index] = self.sets.fits[whole] - self.sets.fits[alone]  # its log-likelihood
        reached = self.sets.scored[whole] - self.sets.scored[alone]
        required = self.required[level.row]
        has_all = level.mask & required == required
        self.score[index[has_all]] = reached[has_all]
        is_hopeless = has_all & (reached < self.within[index] - HOPELESS_NATS)
        self.hopeless.add(self.child[level.row[is_hopeless]], parents[is_hopeless])
        is_better: Mask = reached > self.within[index]
        self.within[index] = np.maximum(self.within[index], self.score[index])
        return is_better

    def _next(self, kept: _Level) -> _Level:
        """The sets with one candidate more."""
        fits = (kept.mask[:, None] & self.bits == 0) & (
            self.bits < 1 << self.number[kept.row, None]
        )
        is_next = np.zeros(self.start[-1], bool)
        is_next[(kept.index[:, None] + self.bits)[fits]] = True
        return self._level(np.flatnonzero(is_next))

    def _level(self, index: Integers) -> _Level:
        """The sets with these indices."""
        row = np.searchsorted(self.start, index, side="right") - 1
        return _Level(index, row, index - self.start[row])


@dataclass(frozen=True)
class _Level:
    """Sets of one size: their indices, the families that they belong to, and their masks there."""

    index: Integers
    row: Integers
    mask: Integers

    def __len__(self) -> int:
        return len(self.index)

    def where(self, chosen: Mask) -> _Level:
        """Some of the sets."""
        return _Level(self.index[chosen], self.row[chosen], self.mask[chosen])


def _best_subsets(scores: FloatArray) -> tuple[FloatArray, Integers]:
    """For each mask, the best score among its subsets, and the subset that has it, row by row."""
    families, masks = scores.shape
    best = scores.copy()
    chosen = np.tile(np.arange(masks), (families, 1))
    for bit in range(masks.bit_length() - 1):
        scored = best.reshape(-1, 2, 1 << bit)
        subsets = chosen.reshape(-1, 2, 1 << bit)
        np.copyto(subsets[:, 1], subsets[:, 0], where=scored[:, 0] >= scored[:, 1])
        np.maximum(scored[:, 0], scored[:, 1], out=scored[:, 1])
    return best, chosen
