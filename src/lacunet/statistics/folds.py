r"""Rows divided into folds by what they hold, and the samples that are made of the folds.

A row counts in several samples at once: in all rows, in those not held out, in the thirty
replicates of a jackknife. So the rows fall into *folds*, the fold is one more column that is
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
the clusters (`lacunet.statistics.units`), and only what is held out is drawn within them; where
strata are told but no clusters, the units of a stratum are dealt evenly to its folds.

Two rows are taken as one if their 64-bit hashes agree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import Codes, Copies, EncodedTable, code_type
from lacunet.model.network import FloatArray, Network
from lacunet.statistics.distinct import Index, numbered
from lacunet.statistics.problems.ragged import hash64, ranges, runs
from lacunet.statistics.units import Units, UnitsLeftOut

FOLD = "\x00fold"  # the name of the column; no variable has it
GROUPS = 30  # of a jackknife
Hashes = NDArray[np.uint64]
MISSING = 1  # stands for the hash of a state's name where there is none
ROUNDING = 1e-9  # of a number of units: 2.9999999999 are three
MANY_UNITS = 4096  # beyond, their number in each fold is drawn, not the fold of each
UNITS_AT_A_TIME = 2**22


@dataclass(frozen=True, eq=False)
class Folds:
    r"""How rows are divided, and the samples made of the folds.

    ``shares`` are those of the folds, in all one. ``samples`` has a line for each sample: how
    much each fold counts in it. The first sample is of all rows; ``learning`` is the number of
    the one without what is held out, if anything is; from ``replicates`` on come the replicates,
    whose squared distances, times ``scales``, add up to a variance with so many ``degrees`` of
    freedom. With ``left_out``, the folds are those of each cluster of a survey, and the shares
    are those within each.
    """

    shares: tuple[float, ...]
    seed: int
    samples: FloatArray
    learning: int | None = None
    replicates: int = 1
    scales: FloatArray = field(default_factory=lambda: np.zeros(0))
    degrees: float = np.inf
    left_out: UnitsLeftOut | None = None

    @property
    def number(self) -> int:
        """How many folds there are."""
        return int(self.samples.shape[1])

    @cached_property
    def aside(self) -> FloatArray:
        """How much each fold counts in what is learned from, and in what is held out."""
        learning = self.samples[self.learning or 0]
        return np.stack([learning, self.samples[0] - learning])


def folds_of(
    heldout: float | None, groups: int, seed: int, units: Units | None = None
) -> Folds | None:
    r"""The folds for rows held out, for a jackknife, or for both.

    Leaving out each of :math:`G` groups in turn, the variance is :math:`(G - 1) / G` times the
    sum of the squared distances.

    Parameters
    ----------
    heldout
        The share of the rows that is held out, None if none is.
    groups
        The number of groups that are left out in turn, 0 without a jackknife.
    units
        The clusters of a survey, which are left out in their place.
    """
    left_out = units.left_out() if units is not None and units.clusters_of else None
    if heldout is None and not groups and left_out is None:
        return None
    parts = [1.0] if heldout is None else [1 - heldout, heldout]
    multiples, scales = np.ones((0, 1)), np.zeros(0)
    if left_out is not None:
        multiples, scales = left_out.multiples, left_out.scales
    elif groups:
        multiples, scales = 1.0 - np.eye(groups), np.full(groups, (groups - 1) / groups)
    number = multiples.shape[1]
    whole = [np.ones(number * len(parts))]
    if heldout is not None:
        whole.append(np.tile([1.0, 0.0], number))
    each = number if left_out is None else left_out.each
    return Folds(
        shares=tuple(share / each for share in parts * each),
        seed=seed,
        samples=np.concatenate([whole, np.repeat(multiples, len(parts), axis=1)]),
        learning=None if heldout is None else 1,
        replicates=len(whole),
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
    >>> copies = EncodedTable.of({"Coin": 2}, {"Coin": np.zeros(1000, np.uint8)})
    >>> fifth = folds_of(0.2, 0, seed=0)
    >>> found = divided(coin, copies, fifth)
    >>> found.columns[FOLD].tolist(), found.weights.sum()
    ([0, 1], np.float64(1000.0))
    >>> once = EncodedTable.of({"Coin": 2}, {"Coin": np.zeros(1, np.uint8)}, np.array([1000.0]),
    ...     copies=Copies(np.array([1000.0]), np.array([1000.0])))
    >>> bool((divided(coin, once, fifth).weights == found.weights).all())
    True
    """
    hashes, numbers = row_hashes(network, table), None
    if folds.left_out is not None:
        assert table.design is not None
        numbers = folds.left_out.numbers(table.design)
        hashes = hash64(hashes + hash64(numbers, 2), 2)
    hashes, first, group = numbered(hashes)
    weights, rows, squares = _sums(table, group, len(hashes))
    units = weights**2 / squares
    is_dealt = folds.left_out is not None and folds.left_out.each > 1
    if numbers is not None and is_dealt:
        row, fold, inside = dealt(units, numbers[first], folds)
    else:
        row, fold, inside = fallen(hashes, units, folds)
    member = first[row]
    if numbers is not None:
        fold = fold + len(folds.shares) * numbers[member]
    columns: dict[str, Codes] = {name: own[member] for name, own in table.columns.items()}
    columns[FOLD] = fold.astype(code_type(folds.number))  # type: ignore[assignment]
    share = inside / units[row]
    own = share * weights[row]
    copies = Copies(own, own)
    if rows is not weights:
        copies = Copies(share * rows[row], share * squares[row])
    cardinality_of = {**table.cardinality_of, FOLD: folds.number}
    return EncodedTable.of(
        cardinality_of, columns, own, table.notes, copies=copies, sets_of=table.sets_of
    )


def _sums(
    table: EncodedTable, group: Index, number: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The weight, the number and the squared weights of the copies of each distinct row."""
    copies = None if table.copies is None else table.copies.rows
    rows = np.bincount(group, copies, minlength=number).astype(np.float64)
    if table.weights is None:
        return rows, rows, rows
    squares = table.weights**2 if table.copies is None else table.copies.squares
    weights, squares = (
        np.bincount(group, own, minlength=number).astype(np.float64)
        for own in (table.weights, squares)
    )
    return weights, rows, squares


def row_hashes(network: Network, table: EncodedTable) -> Hashes:
    """A hash of what each row holds, by the variables' places and the states' names."""
    hashes = np.zeros(table.rows, dtype=np.uint64)
    for place, name in enumerate(network.variables):
        states = network.states(name)
        sets = ["\0".join(states[at] for at in own) for own in table.sets_of.get(name, ())]
        codes = [*map(_hash, states), MISSING, *map(_hash, sets)]
        hashes += hash64(np.array(codes, dtype=np.uint64), place)[table.columns[name]]
    return hashes


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest())


def fallen(hashes: Hashes, units: FloatArray, folds: Folds) -> tuple[Index, Index, FloatArray]:
    """Where the units fall: rows, ascending, folds, and how many units of the row are there.

    Parameters
    ----------
    hashes, units
        The hash of each distinct row and how many units it stands for.
    """
    ends = np.cumsum(folds.shares[:-1])
    whole = np.floor(units * (1 + ROUNDING))
    is_many = whole > MANY_UNITS
    several = np.where(is_many, 0, whole).astype(np.int64)
    pieces = [
        _one_by_one(hashes, several, begin, end, ends, folds)
        for begin, end in runs(np.cumsum(several) // UNITS_AT_A_TIME)
    ]
    for at in np.flatnonzero(is_many):
        drawn = _drawn(hashes[at], whole[at], folds)
        pieces.append((np.full(len(drawn), at), np.arange(len(drawn)), drawn))
    rest = np.flatnonzero(units - whole > ROUNDING * np.maximum(units, 1e-300))
    chance = _uniform(hashes[rest], folds.seed, -1)
    falls = np.searchsorted(ends, chance, "right")
    pieces.append((rest, falls, (units - whole)[rest]))
    row, fold, inside = (np.concatenate([piece[at] for piece in pieces]) for at in range(3))
    keys, _, place = numbered(row * len(folds.shares) + fold)
    inside = np.bincount(place, inside, minlength=len(keys)).astype(np.float64)
    row, fold = np.divmod(keys, len(folds.shares))
    is_there = inside > 0
    return row[is_there], fold[is_there], inside[is_there]


def dealt(units: FloatArray, stratum: Index, folds: Folds) -> tuple[Index, Index, FloatArray]:
    """Where the units are dealt to: each fold of a stratum has its share of them, and no more.

    Parameters
    ----------
    units, stratum
        How many units each distinct row stands for, and its stratum.
    """
    whole = np.floor(units * (1 + ROUNDING)).astype(np.int64)
    dealt_to = np.zeros((len(units), len(folds.shares)))
    for own in np.unique(stratum):
        rng = np.random.default_rng([folds.seed, int(own)])
        rows = np.flatnonzero(stratum == own)
        room = np.floor(whole[rows].sum() * np.array(folds.shares)).astype(np.int64)
        room[rng.permutation(len(room))[: whole[rows].sum() - room.sum()]] += 1
        for row in rows[whole[rows] > MANY_UNITS]:
            drawn = rng.multivariate_hypergeometric(room, whole[row], method="marginals")
            dealt_to[row], room = drawn, room - drawn
        few = rows[whole[rows] <= MANY_UNITS]
        places = rng.permutation(np.repeat(np.arange(len(room)), room))
        np.add.at(dealt_to, (np.repeat(few, whole[few]), places), 1.0)
        rest = rng.choice(len(room), len(rows), p=folds.shares)  # less than one unit of each row
        dealt_to[rows, rest] += np.maximum(units[rows] - whole[rows], 0.0)
    row, fold = np.nonzero(dealt_to > ROUNDING)
    return row, fold, dealt_to[row, fold]


def _one_by_one(
    hashes: Hashes,
    several: NDArray[np.int64],
    begin: int,
    end: int,
    ends: FloatArray,
    folds: Folds,
) -> tuple[Index, Index, FloatArray]:
    """The fold of every unit of some rows, added up."""
    numbers = several[begin:end]
    row = np.repeat(np.arange(begin, end), numbers)
    unit = ranges(np.zeros(len(numbers), np.int64), numbers)
    chance = _uniform(hashes[row] + hash64(unit, 1), folds.seed, 0)
    fold = np.searchsorted(ends, chance, "right")
    return row, fold, np.ones(len(row))


def _drawn(row: np.uint64, units: float, folds: Folds) -> FloatArray:
    """How many of the units of one row fall into each fold."""
    seed = int(hash64(np.array([row]), folds.seed % 2**31)[0])
    drawn = np.random.default_rng(seed).multinomial(int(units), folds.shares)
    return drawn.astype(np.float64)


def _uniform(hashes: Hashes, seed: int, salt: int) -> FloatArray:
    """A number from zero to one for each hash."""
    drawn = hash64(hashes ^ hash64(np.array([seed], dtype=np.uint64), salt + 1), salt + 1)
    return (drawn >> np.uint64(11)).astype(np.float64) / 2.0**53
