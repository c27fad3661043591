r"""Rows divided into folds by what they hold, and the samples that are made of the folds.

A row counts in several samples at once: in all rows, and in replicates of them, such as the thirty
of a jackknife. So the rows fall into *folds*, the fold is one more column that is
counted with the others (`FOLD`), and a sample says how much each fold counts in it: leaving one
fold out, or twice as much of another. All samples come of one pass over the rows.

Folds are drawn at random, but a row that stands for three must fare as three copies of it do, in
any order. So it is not rows that are divided but the *units* of each distinct row,

.. math::
    m = \frac{(\sum w)^2}{\sum w^2}

of its copies: their number where all weigh the same, fewer where weights differ, and the same
whatever the scale of the weights. Each unit falls into a fold by itself, by a hash of the row's
states, the number of the unit and the seed; what is left, less than one, falls as a whole.
Another row, or another order of rows, changes nothing. In a survey with clusters, the folds are
the clusters (`lacunet.counts.units`).

Where strata are told but no clusters, the units of a stratum are dealt evenly to its groups: each
has a place by its hash, and a group is what lies between two places. Which, only all rows
together can tell: they are gone through once before they are counted (`Dealing`).

Two rows are taken as one if their 64-bit hashes agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.counts import Tally, added_up
from lacunet.counts.distinct import Index, number_distinct
from lacunet.counts.em_problems.ragged import hash64, hash_text, ranges, runs
from lacunet.counts.units import UNITS_ROUNDING, Units, UnitsLeftOut, left_out_in_turn
from lacunet.data.table import Codes, Copies, EncodedTable, code_type
from lacunet.network.network import FloatArray, Network
from lacunet.text import counted

FOLD = "\x00fold"  # the name of the column; no variable has it
JACKKNIFE_GROUPS = 30
Hashes = NDArray[np.uint64]
HASH_OF_MISSING = 1  # instead of that of a state's name
MAX_UNITS_ONE_BY_ONE = 4096  # of a row; beyond, their number in each fold is drawn
MAX_UNITS_AT_A_TIME = 2**22  # laid out at once

# Units of a stratum are told apart by places, which are counted: as many as memory allows in all
# strata, and enough in each for groups to be nearly equal.
PLACES_IN_ALL_STRATA = 2**20
MIN_PLACES_IN_A_STRATUM = 2**6


@dataclass(frozen=True, eq=False)
class Folds:
    """How rows are divided, and the samples made of the folds.

    The first sample is of all rows; then come the replicates.
    """

    shares: tuple[float, ...]  # of the folds, in all one; with clusters, within each of them
    seed: int
    samples: FloatArray  # a line for each sample: how much each fold counts in it
    # Of each replicate: the squared distances, times these, add up to a variance ...
    scales: FloatArray = field(default_factory=lambda: np.zeros(0))
    degrees: float = np.inf  # ... with so many degrees of freedom
    left_out: UnitsLeftOut | None = None  # the clusters or strata of a survey; each has its folds
    ends: Index | None = None  # the places where groups of rows end in each stratum, once dealt
    lone: int = 0  # strata with one row, once dealt: they are left out whole

    @property
    def doubts(self) -> tuple[str, ...]:
        """What the user should know of variances of rows in strata."""
        if not self.lone:
            return ()
        strata = counted(self.lone, "stratum", "strata")
        freedom = "degrees of freedom are"
        if self.degrees == 1:
            freedom = "degree of freedom is"
        return (
            f"intervals leave out {strata} with one row whole; {self.degrees:g} {freedom} left "
            "for them: merge strata that are alike",
        )

    @property
    def number(self) -> int:
        """How many folds there are."""
        return int(self.samples.shape[1])

    @property
    def groups(self) -> int:
        """The number of groups that the rows of a stratum are dealt to; 1 where they are not."""
        return 1 if self.left_out is None else self.left_out.each

    @property
    def is_to_deal(self) -> bool:
        """Whether all rows have to be gone through before they can be divided."""
        return self.groups > 1 and self.ends is None

    @property
    def places(self) -> int:
        """The number of places in each stratum."""
        assert self.left_out is not None
        strata = len(self.left_out.number_of)
        return max(MIN_PLACES_IN_A_STRATUM, PLACES_IN_ALL_STRATA // strata)


def folds_of(groups: int, seed: int, units: Units | None = None) -> Folds | None:
    r"""The folds of a jackknife, or of a survey; None if there is neither.

    Leaving out each of :math:`G` groups in turn, the variance is :math:`(G - 1) / G` times the
    sum of the squared distances.

    Parameters
    ----------
    groups
        The number of groups that are left out in turn, 0 without a jackknife.
    units
        The clusters of a survey, which are left out in their place.
    """
    left_out = None
    if units is not None and units.clusters_of:
        left_out = units.left_out()
    if left_out is not None:
        multiples, scales = left_out.in_turn()
        each = left_out.each
        degrees = left_out.degrees
    elif groups:
        multiples = 1.0 - np.eye(groups)
        scales = np.full(groups, (groups - 1) / groups)
        each = groups
        degrees = groups - 1.0
    else:
        return None
    all_rows = np.ones((1, multiples.shape[1]))
    return Folds(
        shares=(1 / each,) * each,
        seed=seed,
        samples=np.concatenate([all_rows, multiples]),
        scales=scales,
        degrees=degrees,
        left_out=left_out,
    )


def divide_rows(network: Network, table: EncodedTable, folds: Folds) -> EncodedTable:
    """The distinct rows, each once in every fold that units of it fall into, with the fold.

    Parameters
    ----------
    network
        Gives the variables that rows are told apart by, and the names of their states, whose
        order makes no difference.

    Examples
    --------
    >>> coin = Network({"Coin": ["head", "tail"]})
    >>> copies = EncodedTable({"Coin": 2}, {"Coin": np.zeros(1000, np.uint8)})
    >>> halves = folds_of(2, seed=0)
    >>> rows = divide_rows(coin, copies, halves)
    >>> rows.columns[FOLD].tolist(), rows.weights.sum()
    ([0, 1], np.float64(1000.0))
    >>> once = EncodedTable({"Coin": 2}, {"Coin": np.zeros(1, np.uint8)}, np.array([1000.0]),
    ...     copies=Copies(np.array([1000.0]), np.array([1000.0])))
    >>> bool((divide_rows(coin, once, halves).weights == rows.weights).all())
    True
    """
    hashes, first, tally, numbers = _distinct(network, table, folds)
    units = tally.weights**2 / tally.squares
    row, fold, inside = assign_folds(hashes, units, folds, numbers)
    if numbers is not None:  # each cluster or stratum has folds of its own
        fold = fold + len(folds.shares) * numbers[row]

    # What a row stands for is divided like its units.
    member = first[row]
    columns: dict[str, Codes] = {name: column[member] for name, column in table.columns.items()}
    columns[FOLD] = fold.astype(code_type(folds.number))  # type: ignore[assignment]
    share = inside / np.bincount(row, inside)[row]
    weights = share * tally.weights[row]
    copies = Copies(weights, weights)
    if tally.rows is not tally.weights:
        copies = Copies(share * tally.rows[row], share * tally.squares[row])
    cardinality_of = {**table.cardinality_of, FOLD: folds.number}
    return EncodedTable(
        cardinality_of, columns, weights, table.notes, copies=copies, sets_of=table.sets_of
    )


def _distinct(
    network: Network, table: EncodedTable, folds: Folds
) -> tuple[Hashes, Index, Tally, Index | None]:
    """The hash of each distinct row, a row that has it, what it stands for, and its cluster.

    The same row in two clusters (or strata, where there are no clusters) is two.
    """
    hashes = row_hashes(network, table)
    numbers = None
    if folds.left_out is not None:
        assert table.design is not None
        numbers = folds.left_out.numbers(table.design)
        hashes = hash64(hashes + hash64(numbers, 2), 2)
    hashes, first, group = number_distinct(hashes)
    tally = Tally.of(table, group, len(hashes))
    return hashes, first, tally, None if numbers is None else numbers[first]


def row_hashes(network: Network, table: EncodedTable) -> Hashes:
    """A hash of what each row holds, by the variables' indices and the states' names."""
    hashes = np.zeros(table.rows, dtype=np.uint64)
    for index, name in enumerate(network.variables):
        states = network.states(name)
        sets = [
            "\0".join(states[code] for code in subset) for subset in table.sets_of.get(name, ())
        ]
        codes = [*map(hash_text, states), HASH_OF_MISSING, *map(hash_text, sets)]
        hashes += hash64(np.array(codes, dtype=np.uint64), index)[table.columns[name]]
    return hashes


def assign_folds(
    hashes: Hashes, units: FloatArray, folds: Folds, stratum: Index | None = None
) -> tuple[Index, Index, FloatArray]:
    """Where the units fall: rows, ascending, folds, and how many units of the row are there.

    Parameters
    ----------
    hashes, units
        The hash of each distinct row and how many units it stands for.
    stratum
        The number of its stratum, where the rows of strata are dealt.
    """
    rows: list[Index] = []
    in_folds: list[Index] = []
    sizes: list[FloatArray] = []
    for row, chance, size in _one_by_one(hashes, units, folds.seed):
        if folds.ends is None:
            fold = np.searchsorted(np.cumsum(folds.shares[:-1]), chance, "right")
        else:
            assert stratum is not None
            fold = _group_of(stratum[row], chance, folds)
        rows.append(row)
        in_folds.append(fold)
        sizes.append(size)
    for number, drawn in _by_number(hashes, units, folds):
        rows.append(np.full(len(drawn), number))
        in_folds.append(np.arange(len(drawn)))
        sizes.append(drawn)

    # Units of one row in one fold, added up.
    each = np.concatenate(rows) * len(folds.shares) + np.concatenate(in_folds)
    keys, _, index = number_distinct(each)
    inside = added_up(index, np.concatenate(sizes), len(keys))
    row, fold = np.divmod(keys, len(folds.shares))
    is_there = inside > 0  # none of many units may have been drawn for a fold
    return row[is_there], fold[is_there], inside[is_there]


def _whole(units: FloatArray) -> FloatArray:
    """The whole units; numbers that differ from whole ones by rounding are these.

    Examples
    --------
    >>> _whole(np.array([2.5, 2.9999999999, 3e9])).tolist()
    [2.0, 3.0, 3000000000.0]
    """
    nearest = np.rint(units)
    return np.where(np.abs(units - nearest) <= UNITS_ROUNDING * units, nearest, np.floor(units))


def _one_by_one(
    hashes: Hashes, units: FloatArray, seed: int
) -> Iterator[tuple[Index, FloatArray, FloatArray]]:
    """The units of rows with few: their rows, by what chance they fall, and how much they are."""
    whole = _whole(units)
    few = np.where(whole > MAX_UNITS_ONE_BY_ONE, 0, whole).astype(np.int64)
    for begin, end in runs(np.cumsum(few) // MAX_UNITS_AT_A_TIME):
        numbers = few[begin:end]
        row = np.repeat(np.arange(begin, end), numbers)
        unit = ranges(np.zeros(len(numbers), np.int64), numbers)
        chance = _uniform(hashes[row] + hash64(unit, 1), seed, 0)
        yield row, chance, np.ones(len(row))

    # What is left of each row, less than one unit; also of rows with many.
    rest = np.flatnonzero(units - whole > UNITS_ROUNDING * np.maximum(units, 1e-300))
    yield rest, _uniform(hashes[rest], seed, -1), (units - whole)[rest]


def _by_number(hashes: Hashes, units: FloatArray, folds: Folds) -> Iterator[tuple[int, FloatArray]]:
    """The rows with many units, and how many of them fall into each fold."""
    whole = _whole(units)
    for row in np.flatnonzero(whole > MAX_UNITS_ONE_BY_ONE):
        seed = int(hash64(hashes[row : row + 1], folds.seed % 2**31)[0])
        drawn = np.random.default_rng(seed).multinomial(int(whole[row]), folds.shares)
        yield int(row), drawn.astype(np.float64)


@dataclass(frozen=True, eq=False)
class Dealing:
    """The units in each place of each stratum; those of two parts of the rows add up."""

    keys: NDArray[np.int64]  # ascending: the stratum times `Folds.places`, plus the place in it
    units: FloatArray  # how many lie there
    drawn: FloatArray  # by stratum and group: those of rows with many, which have a group already

    @classmethod
    def of(cls, network: Network, table: EncodedTable, folds: Folds) -> Dealing:
        """Where the units of some rows lie; no other part may have equal rows."""
        assert folds.left_out is not None
        hashes, _, tally, stratum = _distinct(network, table, folds)
        assert stratum is not None
        units = tally.weights**2 / tally.squares
        drawn = np.zeros((len(folds.left_out.number_of), folds.groups))
        for number, in_folds in _by_number(hashes, units, folds):
            drawn[stratum[number]] += in_folds.reshape(folds.groups, -1).sum(axis=1)
        dealing = cls(np.zeros(0, np.int64), np.zeros(0), drawn)
        for row, chance, size in _one_by_one(hashes, units, folds.seed):
            dealing += cls(_keys(stratum[row], chance, folds), size, np.zeros_like(drawn))
        return dealing

    def __add__(self, other: Dealing) -> Dealing:
        keys, _, index = number_distinct(np.concatenate([self.keys, other.keys]))
        units = added_up(index, np.concatenate([self.units, other.units]), len(keys))
        return Dealing(keys, units, self.drawn + other.drawn)


def deal_groups(folds: Folds, dealing: Dealing) -> Folds:
    """The folds with the groups of each stratum, which are as equal as may be, and their samples.

    Parameters
    ----------
    dealing
        Where the units of all rows lie.
    """
    assert folds.left_out is not None
    groups = folds.groups
    sampled = _with_unweighted(folds, dealing)
    weight_at = np.zeros(len(sampled.keys))  # the units of weighted rows at each place
    weight_at[np.searchsorted(sampled.keys, dealing.keys)] = dealing.units

    sizes = sampled.drawn.copy()  # by stratum and group: the units sampled ...
    weighted = dealing.drawn.copy()  # ... and of these the units of rows with any weight
    ends = []
    limits = folds.places * np.arange(len(sizes) + 1)
    starts = np.searchsorted(sampled.keys, limits)
    for stratum, (start, stop) in enumerate(pairwise(starts)):
        # In the order of their places, the first n-th part of the units is the first group.
        units = sampled.units[start:stop]
        before = np.cumsum(units) - units
        position = before / max(units.sum(), 1e-300) * groups
        group = np.minimum(np.floor(position + UNITS_ROUNDING), groups - 1).astype(np.intp)
        sizes[stratum] += np.bincount(group, units, minlength=groups)
        weighted[stratum] += np.bincount(group, weight_at[start:stop], minlength=groups)
        # A group ends where the next begins; one without places ends where the stratum does.
        keys = np.append(sampled.keys[start:stop], limits[stratum + 1])
        ends.append(keys[np.searchsorted(group, np.arange(1, groups))])

    totals = np.repeat(sizes.sum(axis=1), groups)
    stratum_of = np.repeat(np.arange(len(sizes)), groups)
    multiples, scales = left_out_in_turn(sizes.ravel(), totals, stratum_of)
    used_groups = (weighted > 0).sum(axis=1)
    degrees = int(used_groups.sum()) - int((used_groups > 0).sum())
    return replace(
        folds,
        samples=np.concatenate([folds.samples[:1], multiples]),
        scales=scales,
        degrees=float(max(degrees, 1)),
        ends=np.concatenate(ends),
        lone=int(((sizes > 0).sum(axis=1) == 1).sum()),
    )


def _with_unweighted(folds: Folds, dealing: Dealing) -> Dealing:
    """The dealing with rows of weight zero, which lie at random places of their strata.

    They were sampled like the others: groups are equal by what was sampled.
    """
    assert folds.left_out is not None
    for unit, rows in folds.left_out.unweighted.items():
        number = folds.left_out.number_of.get(unit)
        if number is None:  # a stratum without any other row: nothing is estimated from it
            continue
        rng = np.random.default_rng([folds.seed, number])
        drawn = rng.multinomial(round(rows), np.full(folds.places, 1 / folds.places))
        places = np.flatnonzero(drawn)
        inside = drawn[places].astype(np.float64)
        dealing += Dealing(number * folds.places + places, inside, np.zeros(()))
    return dealing


def _keys(stratum: Index, chance: FloatArray, folds: Folds) -> NDArray[np.int64]:
    """The place of each unit, by its chance, behind those of all strata before."""
    return stratum * folds.places + np.floor(chance * folds.places).astype(np.int64)


def _group_of(stratum: Index, chance: FloatArray, folds: Folds) -> Index:
    """The fold of each unit within its stratum, which is its group."""
    assert folds.ends is not None
    ends_before = np.searchsorted(folds.ends, _keys(stratum, chance, folds), "right")
    return ends_before - stratum * (folds.groups - 1)  # without those of the strata before


def _uniform(hashes: Hashes, seed: int, salt: int) -> FloatArray:
    """A number from zero to one for each hash."""
    drawn = hash64(hashes ^ hash64(np.array([seed], dtype=np.uint64), salt + 1), salt + 1)
    return (drawn >> np.uint64(11)).astype(np.float64) / 2.0**53  # a float has 53 bits
