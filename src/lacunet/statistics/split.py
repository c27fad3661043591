r"""The weight of the rows split between parts of the data, by what the rows hold.

Rows put aside, or the groups of a jackknife, are drawn at random; but a row of weight three
must fare as three copies of it do, in any order. So it is not rows that are split but the
*total weight* :math:`W` of each distinct row: of its :math:`\lfloor W \rfloor` units each falls
into a part independently, as many as a binomial (multinomial) draw says, and the rest, less than
one unit, falls as a whole. The draws come from a hash of the row's states and the seed: another
row, or another order of rows, changes nothing.

Two rows are taken as one if their 64-bit hashes agree.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import EncodedTable
from lacunet.model.network import FloatArray, Network
from lacunet.statistics.problems.ragged import mixed

Hashes = NDArray[np.uint64]
MISSING = 1  # stands for the hash of a state's name where there is none
ROUNDING = 1e-9  # of a sum of weights: 2.9999999999 are three units


def split_weights(
    network: Network, table: EncodedTable, shares: FloatArray, seed: int
) -> FloatArray:
    """The weight of every row in each part, a column for each; columns add up to the weights.

    Parameters
    ----------
    network
        Gives the names of the states: their order in the network makes no difference.
    shares
        The share of each part, in all one: ``[0.8, 0.2]`` puts a fifth aside,
        ``np.full(20, 1 / 20)`` makes twenty groups.
    seed
        Another seed gives another split.

    Examples
    --------
    >>> coin = Network({"Coin": ["head", "tail"]})
    >>> copies = {"Coin": np.zeros(1000, np.uint8)}
    >>> parts = split_weights(coin, EncodedTable.of({"Coin": 2}, copies), np.array([0.8, 0.2]), 0)
    >>> once = EncodedTable.of({"Coin": 2}, {"Coin": np.zeros(1, np.uint8)}, np.array([1000.0]))
    >>> bool((parts.sum(axis=0) == split_weights(coin, once, np.array([0.8, 0.2]), 0)[0]).all())
    True
    """
    weights = table.row_weights
    found, group = np.unique(row_hashes(network, table), return_inverse=True)
    totals = np.bincount(group, weights, minlength=len(found)).astype(np.float64)
    ends = np.cumsum(_drawn(found, totals, shares, seed), axis=1)[:, :-1]
    order = np.argsort(group, kind="stable")
    begin = np.cumsum(weights[order]) - weights[order]
    first = np.searchsorted(group[order], np.arange(len(found)))
    begin -= begin[first][group[order]]  # where each row begins among the copies of it
    edges = np.empty((table.rows, len(shares) + 1))  # of the parts, within each row
    edges[:, 0], edges[:, -1] = 0, weights
    for part in range(1, len(shares)):
        inside = np.clip(ends[group[order], part - 1] - begin, 0, weights[order])
        edges[order, part] = inside
    return np.diff(edges, axis=1)


def row_hashes(network: Network, table: EncodedTable) -> Hashes:
    """A hash of what each row holds, by the variables' places and the states' names."""
    hashes = np.zeros(table.rows, dtype=np.uint64)
    for place, name in enumerate(network.variables):
        names = [
            int.from_bytes(blake2b(s.encode(), digest_size=8).digest())
            for s in network.states(name)
        ]
        hashes += mixed(np.array([*names, MISSING], dtype=np.uint64), place)[table.columns[name]]
    return hashes


def _drawn(hashes: Hashes, totals: FloatArray, shares: FloatArray, seed: int) -> FloatArray:
    """How much of each total falls into each part."""
    units = np.floor(totals * (1 + ROUNDING))
    left, share_left = units.copy(), 1.0
    drawn = np.zeros((len(totals), len(shares)))
    for part, share in enumerate(shares[:-1]):
        chance = _uniform(hashes, seed, part)
        drawn[:, part] = _binomial(chance, left, min(share / share_left, 1.0))
        left -= drawn[:, part]
        share_left -= share
    drawn[:, -1] = left
    rest = np.maximum(totals - units, 0)
    falls = np.searchsorted(np.cumsum(shares[:-1]), _uniform(hashes, seed, len(shares)), "right")
    drawn[np.arange(len(totals)), falls] += rest
    return drawn


def _uniform(hashes: Hashes, seed: int, salt: int) -> FloatArray:
    """A number from zero to one for each hash."""
    stirred = mixed(hashes ^ mixed(np.array([seed], dtype=np.uint64), salt), salt)
    return (stirred >> np.uint64(11)).astype(np.float64) / 2.0**53


def _binomial(chance: FloatArray, number: FloatArray, share: float) -> FloatArray:
    """The quantile of the binomial distribution at each chance."""
    from scipy.special import bdtrik, betainc

    drawn = np.where(chance > 1 - share, number, 0.0)  # right for one unit, and for none
    many = np.flatnonzero(number > 1)
    if len(many) and 0 < share < 1:
        chances, numbers = chance[many], number[many]
        above = np.ceil(np.nan_to_num(bdtrik(chances, numbers, share)))
        below = np.maximum(above - 1, 0)  # the inverse may be one too high by rounding
        up_to = betainc(numbers - below, below + 1, 1 - share)  # the probability of at most so many
        reaches = (below < above) & (up_to >= chances)
        drawn[many] = np.clip(np.where(reaches, below, above), 0, numbers)
    return drawn
