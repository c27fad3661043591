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
the clusters (`lacunet.statistics.units`).

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

from lacunet.data.table import Codes, Copies, EncodedTable, code_type
from lacunet.model.network import FloatArray, Network
from lacunet.statistics.counts import Tally, added_up
from lacunet.statistics.distinct import Index, numbered
from lacunet.statistics.problems.ragged import hash64, hash_text, ranges, runs
from lacunet.statistics.units import ROUNDING, Units, UnitsLeftOut, left_out_in_turn
from lacunet.wording import counted

FOLD = "\x00fold"  # the name of the column; no variable has it
GROUPS = 30  # of a jackknife
Hashes = NDArray[np.uint64]
MISSING = 1  # stands for the hash of a state's name where there is none
MANY_UNITS = 4096  # beyond, their number in each fold is drawn, not the fold of each
UNITS_AT_A_TIME = 2**22
PLACES = 2**20  # of units, in all strata
FEWEST_PLACES = 2**6  # in one


@dataclass(frozen=True, eq=False)
class Folds:
    r"""How rows are divided, and the samples made of the folds.

    ``shares`` are those of the folds, in all one. ``samples`` has a line for each sample: how
    much each fold counts in it. The first sample is of all rows; then come the replicates, whose
    squared distances, times ``scales``, add up to a variance with so many ``degrees`` of
    freedom. With ``left_out``, the folds are those of each cluster of a survey, and the shares
    are those within each. ``ends`` are the places where groups of rows end, in each stratum, once
    these are dealt; ``lone`` is then the number of strata with one row, which are left out whole.
    """

    shares: tuple[float, ...]
    seed: int
    samples: FloatArray
    scales: FloatArray = field(default_factory=lambda: np.zeros(0))
    degrees: float = np.inf
    left_out: UnitsLeftOut | None = None
    ends: Index | None = None
    lone: int = 0

    @property
    def doubts(self) -> tuple[str, ...]:
        """What the user should know of variances of rows in strata."""
        if not self.lone:
            return ()
        strata = counted(self.lone, "stratum", "strata")
        freedom = "degree of freedom is" if self.degrees == 1 else "degrees of freedom are"
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
        return max(FEWEST_PLACES, PLACES // len(self.left_out.number_of))


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
    left_out = units.left_out() if units is not None and units.clusters_of else None
    if not groups and left_out is None:
        return None
    if left_out is not None:
        multiples, scales = left_out.in_turn()
        each = left_out.each
    else:
        multiples, scales = 1.0 - np.eye(groups), np.full(groups, (groups - 1) / groups)
        each = groups
    return Folds(
        shares=(1 / each,) * each,
        seed=seed,
        samples=np.concatenate([np.ones((1, multiples.shape[1])), multiples]),
        scales=scales,
        degrees=len(scales) - 1.0 if left_out is None else left_out.degrees,
        left_out=left_out,
    )


def divided(network: Network, table: EncodedTable, folds: Folds) -> EncodedTable:
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
    >>> found = divided(coin, copies, halves)
    >>> found.columns[FOLD].tolist(), found.weights.sum()
    ([0, 1], np.float64(1000.0))
    >>> once = EncodedTable({"Coin": 2}, {"Coin": np.zeros(1, np.uint8)}, np.array([1000.0]),
    ...     copies=Copies(np.array([1000.0]), np.array([1000.0])))
    >>> bool((divided(coin, once, halves).weights == found.weights).all())
    True
    """
    hashes, first, tally, numbers = _distinct(network, table, folds)
    units = tally.weights**2 / tally.squares
    row, fold, inside = fallen(hashes, units, folds, numbers)
    member = first[row]
    if numbers is not None:
        fold = fold + len(folds.shares) * numbers[row]
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
    hashes, numbers = row_hashes(network, table), None
    if folds.left_out is not None:
        assert table.design is not None
        numbers = folds.left_out.numbers(table.design)
        hashes = hash64(hashes + hash64(numbers, 2), 2)
    hashes, first, group = numbered(hashes)
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
        codes = [*map(hash_text, states), MISSING, *map(hash_text, sets)]
        hashes += hash64(np.array(codes, dtype=np.uint64), index)[table.columns[name]]
    return hashes


def fallen(
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
    pieces = []
    for row, chance, size in _one_by_one(hashes, units, folds.seed):
        if folds.ends is None:
            fold = np.searchsorted(np.cumsum(folds.shares[:-1]), chance, "right")
        else:
            assert stratum is not None
            fold = _dealt_to(stratum[row], chance, folds)
        pieces.append((row, fold, size))
    for number, drawn in _by_number(hashes, units, folds):
        pieces.append((np.full(len(drawn), number), np.arange(len(drawn)), drawn))
    row, fold, inside = (np.concatenate([piece[field] for piece in pieces]) for field in range(3))
    keys, _, index = numbered(row * len(folds.shares) + fold)
    inside = added_up(index, inside, len(keys))
    row, fold = np.divmod(keys, len(folds.shares))
    is_there = inside > 0
    return row[is_there], fold[is_there], inside[is_there]


def _whole(units: FloatArray) -> FloatArray:
    """The whole units; numbers that differ from whole ones by rounding are these.

    Examples
    --------
    >>> _whole(np.array([2.5, 2.9999999999, 3e9])).tolist()
    [2.0, 3.0, 3000000000.0]
    """
    nearest = np.rint(units)
    return np.where(np.abs(units - nearest) <= ROUNDING * units, nearest, np.floor(units))


def _one_by_one(
    hashes: Hashes, units: FloatArray, seed: int
) -> Iterator[tuple[Index, FloatArray, FloatArray]]:
    """The units of rows with few: their rows, by what chance they fall, and how much they are."""
    whole = _whole(units)
    several = np.where(whole > MANY_UNITS, 0, whole).astype(np.int64)
    for begin, end in runs(np.cumsum(several) // UNITS_AT_A_TIME):
        numbers = several[begin:end]
        row = np.repeat(np.arange(begin, end), numbers)
        unit = ranges(np.zeros(len(numbers), np.int64), numbers)
        yield row, _uniform(hashes[row] + hash64(unit, 1), seed, 0), np.ones(len(row))
    rest = np.flatnonzero(units - whole > ROUNDING * np.maximum(units, 1e-300))
    yield rest, _uniform(hashes[rest], seed, -1), (units - whole)[rest]


def _by_number(hashes: Hashes, units: FloatArray, folds: Folds) -> Iterator[tuple[int, FloatArray]]:
    """The rows with many units, and how many of them fall into each fold."""
    whole = _whole(units)
    for row in np.flatnonzero(whole > MANY_UNITS):
        seed = int(hash64(hashes[row : row + 1], folds.seed % 2**31)[0])
        drawn = np.random.default_rng(seed).multinomial(int(whole[row]), folds.shares)
        yield int(row), drawn.astype(np.float64)


@dataclass(frozen=True, eq=False)
class Dealing:
    """The units in each place of each stratum; those of two parts of the rows add up.

    ``keys`` are places, ascending: the stratum's number times `Folds.places`, and the place in it.
    ``units`` are how many lie there. ``drawn`` are units of rows that stand for many, which have
    a group already, by stratum and group.
    """

    keys: NDArray[np.int64]
    units: FloatArray
    drawn: FloatArray

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
        keys, _, index = numbered(np.concatenate([self.keys, other.keys]))
        units = added_up(index, np.concatenate([self.units, other.units]), len(keys))
        return Dealing(keys, units, self.drawn + other.drawn)


def dealt(folds: Folds, dealing: Dealing) -> Folds:
    """The folds with the groups of each stratum, which are as equal as may be, and their samples.

    Parameters
    ----------
    dealing
        Where the units of all rows lie.
    """
    assert folds.left_out is not None
    sampled = dealing
    for unit, rows in folds.left_out.unweighted.items():
        if (number := folds.left_out.number_of.get(unit)) is not None:  # its stratum has others too
            rng = np.random.default_rng([folds.seed, number])
            drawn = rng.multinomial(round(rows), np.full(folds.places, 1 / folds.places))
            places = np.flatnonzero(drawn)
            inside = drawn[places].astype(np.float64)
            sampled += Dealing(number * folds.places + places, inside, np.zeros(()))
    sizes, weighted, groups, ends = sampled.drawn.copy(), dealing.drawn.copy(), folds.groups, []
    weight_at = np.zeros(len(sampled.keys))
    weight_at[np.searchsorted(sampled.keys, dealing.keys)] = dealing.units
    limits = folds.places * np.arange(len(sizes) + 1)
    starts = np.searchsorted(sampled.keys, limits)
    for stratum, (start, stop) in enumerate(pairwise(starts)):
        units = sampled.units[start:stop]
        before = np.cumsum(units) - units
        position = before / max(units.sum(), 1e-300) * groups
        group = np.minimum(np.floor(position + ROUNDING), groups - 1).astype(np.intp)
        sizes[stratum] += np.bincount(group, units, minlength=groups)
        weighted[stratum] += np.bincount(group, weight_at[start:stop], minlength=groups)
        keys = np.append(sampled.keys[start:stop], limits[stratum + 1])
        ends.append(keys[np.searchsorted(group, np.arange(1, groups))])
    totals = np.repeat(sizes.sum(axis=1), groups)
    stratum_of = np.repeat(np.arange(len(sizes)), groups)
    multiples, scales = left_out_in_turn(sizes.ravel(), totals, stratum_of)
    used = (weighted > 0).sum(axis=1)
    degrees = int(used.sum()) - int((used > 0).sum())
    return replace(
        folds,
        samples=np.concatenate([folds.samples[:1], multiples]),
        scales=scales,
        degrees=float(max(degrees, 1)),
        ends=np.concatenate(ends),
        lone=int(((sizes > 0).sum(axis=1) == 1).sum()),
    )


def _keys(stratum: Index, chance: FloatArray, folds: Folds) -> NDArray[np.int64]:
    return stratum * folds.places + np.floor(chance * folds.places).astype(np.int64)


def _dealt_to(stratum: Index, chance: FloatArray, folds: Folds) -> Index:
    """The fold of each unit within its stratum, which is its group."""
    assert folds.ends is not None
    group = np.searchsorted(folds.ends, _keys(stratum, chance, folds), "right")
    return group - stratum * (folds.groups - 1)


def _uniform(hashes: Hashes, seed: int, salt: int) -> FloatArray:
    """A number from zero to one for each hash."""
    drawn = hash64(hashes ^ hash64(np.array([seed], dtype=np.uint64), salt + 1), salt + 1)
    return (drawn >> np.uint64(11)).astype(np.float64) / 2.0**53
