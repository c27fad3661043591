"""Intervals of numbers for imputation: many, each with equally many rows, and heaps by themselves.

A score of an interval costs no parameter, however many intervals there are: the finer they are,
the nearer is a number that is drawn. On tables with numbers (`studies/imputation`) completions came
the nearer to the truth the more intervals there were, from 8 to 32; more of them cost time. Numbers
that very many rows show (20 cigarettes) are an interval of their own: rows around them are of
another kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf

import numpy as np

from lacunet.data.bins import distinct_numbers, shortest_between
from lacunet.data.column_rules import source_from
from lacunet.data.data import Data
from lacunet.data.network_from_data import FoundNetwork, network_of_columns
from lacunet.network.network import FloatArray

MOST_INTERVALS = 30
FEWEST_INTERVALS = 5
ROWS_OF_AN_INTERVAL = 15


def fine_cuts(numbers: FloatArray, rows: FloatArray) -> tuple[float, ...]:
    """Cut points between distinct numbers, ascending, that so many rows show.

    Examples
    --------
    >>> cigarettes = np.array([1.0, 5, 10, 11, 20, 21, 40])
    >>> fine_cuts(cigarettes, np.array([9.0, 9, 12, 3, 90, 3, 24]))
    (-inf, 5.0, 10.0, 11.0, 20.0, 21.0, 40.0, inf)
    """
    most = int(np.clip(rows.sum() / ROWS_OF_AN_INTERVAL, FEWEST_INTERVALS, MOST_INTERVALS))
    heaps = rows > rows.sum() / most
    share = rows[~heaps].sum() / max(most - np.count_nonzero(heaps), 1)
    cuts, held = [], 0.0  # the rows of the interval that is being filled
    for index in range(1, len(numbers)):
        held += rows[index - 1]
        is_full = held + rows[index] / 2 > share
        if is_full or heaps[index] or heaps[index - 1]:
            cuts.append(shortest_between(numbers[index - 1], numbers[index]))
            held = 0.0
    return (-inf, *cuts, inf)


def finely_cut(data: Data) -> tuple[FoundNetwork, Mapping[str, FloatArray]]:
    """A network without edges of all columns, and the mean number of each interval of those cut.

    What the data say themselves of bins is as they say; else dates go by their usual unit, and
    columns of more than ten different numbers are cut.
    """
    bins = {None: "auto", **data.bins}
    network_found = network_of_columns(replace(data, bins=bins))
    cut = [
        name for name in network_found.network.variables if name in network_found.network.cuts_of
    ]
    source = source_from(data)
    of_column = distinct_numbers(source, [name for name in cut if name in source.columns], data)
    ours = {
        name: fine_cuts(*of_column[name])
        for name in of_column
        if name not in data.bins and None not in data.bins
    }
    if ours:
        network_found = network_of_columns(replace(data, bins={**bins, **ours}))
    means = {
        name: means_of_intervals(network_found.network.cuts_of[name], *of_column[name])
        for name in of_column
    }
    return network_found, means


def means_of_intervals(
    cuts: tuple[float, ...], numbers: FloatArray, rows: FloatArray
) -> FloatArray:
    """The mean of the numbers in each interval; where there are none, of its finite ends.

    >>> means_of_intervals((0, 2, 4, inf), np.array([1.0, 6, 8]), np.array([5.0, 1, 1])).tolist()
    [1.0, 3.0, 7.0]
    """
    codes = np.clip(np.searchsorted(cuts, numbers, side="right") - 1, 0, len(cuts) - 2)
    held = np.bincount(codes, rows, len(cuts) - 1)
    sums = np.bincount(codes, rows * numbers, len(cuts) - 1)
    ends = np.array([cuts[:-1], cuts[1:]], np.float64)
    middles = np.nanmean(np.where(np.isfinite(ends), ends, np.nan), axis=0)
    return np.divide(sums, held, out=middles, where=held > 0)
