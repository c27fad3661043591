r"""Paired gains: what a parent adds, from one table for both sides.

For adding X to the parents S of Y,

.. math::
    D(Y; X \mid S) = n \hat I(Y; X \mid S) - \frac{\log n}{2} (r_Y - 1)(r_X - 1) q_S

with the information :math:`\hat I` taken from *one* estimate of :math:`P(Y, X, S)`. The
information and its gradient are zero where Y and X are independent given S; so any estimate
that is consistent at the usual rate makes the gain locally consistent with the ordinary penalty.
Scores that subtract averages over different rows are not. The estimate is that of the rows that
show all of the table, :math:`n` of them. They are not weighed by how probable it was that they
show it: what such weights mend of the bias is less than what they add to the variance.

The tables of one variable with many others, given the same ones, are laid side by side: what they
share is done once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
from numpy.typing import NDArray

from lacunet.network.network import FloatArray
from lacunet.structure.indexed_rows import CodedRows, Integers, nlogn, within

MAX_GAIN_CELLS = 2**20  # of tables side by side
TABLE_TOO_LARGE = (-np.inf, 0.0)  # the gain where the table has too many cells
FEW_STATES = 0.25  # of all states
ALL_PAIRS_VARIABLES = 200  # with more, only pairs that are related are counted given others


@dataclass(frozen=True, eq=False)
class Beside:
    """Tables side by side: what is given, Y, and after one another the states of each X.

    ``starts`` is where the states of each of ``others`` begin.
    """

    others: tuple[int, ...]
    counts: FloatArray
    starts: Integers

    def table(self, index: int) -> FloatArray:
        """The table of one of the others."""
        return self.counts[:, :, self.starts[index] : self.ends[index]]

    @property
    def ends(self) -> Integers:
        """Where the states of each of the others end."""
        return np.concatenate((self.starts[1:], self.counts.shape[2:]))


def tables_beside(
    rows: CodedRows,
    y: int,
    given: Sequence[int],
    others: Sequence[int],
    room: int = MAX_GAIN_CELLS,
    states: NDArray[np.floating] | None = None,
) -> Iterator[Beside]:
    """The tables of a variable with each of some others, given some, where there is room for them.

    The others are taken in ascending order.

    Parameters
    ----------
    room
        The cells that a table may have, and as many as those laid side by side at once.
    states
        The states that the others have in place of those in ``rows``, as `CodedRows.states`.
    """
    scope = [*given, y]
    keys, radices = rows.keys(scope)
    cells = prod(radices)
    shown = tuple(slice(rows.sizes[node]) for node in scope)
    shape = [prod(rows.sizes[node] for node in given), rows.sizes[y]]
    fitting = [x for x in sorted(others) if cells * (rows.sizes[x] + 1) <= room]
    for some in within(fitting, [prod(shape) * rows.sizes[x] for x in fitting], room):
        states_of_rows = rows.states if states is None else states
        if states_of_rows is None:
            counts = _one_by_one(rows, some, keys, cells)
        else:
            counts = _at_once(rows, some, keys, cells, states_of_rows)
        counts = counts.reshape(*radices, -1)[shown].reshape(*shape, -1)
        sizes = [rows.sizes[x] for x in some]
        yield Beside(tuple(some), counts, np.cumsum([0, *sizes[:-1]]))


def _one_by_one(rows: CodedRows, nodes: Sequence[int], keys: Integers, cells: int) -> FloatArray:
    """For each key, how often it comes with each state of some variables, each by itself."""
    tables = []
    for node in nodes:
        radix = rows.sizes[node] + 1  # with missing as a state
        both = keys * radix
        both += rows.columns[node]
        table = np.bincount(both, rows.weights, cells * radix)
        tables.append(table.reshape(cells, radix)[:, :-1])
    return np.concatenate(tables, axis=1, dtype=np.float64)


def _at_once(
    rows: CodedRows, nodes: Sequence[int], keys: Integers, cells: int, states: NDArray[np.floating]
) -> FloatArray:
    """For each key, how often it comes with each state of some variables, ascending."""
    from scipy.sparse import csc_array

    begins = rows.starts[list(nodes)].tolist()
    wanted = np.concatenate(
        [np.arange(begin, begin + rows.sizes[x]) for begin, x in zip(begins, nodes, strict=True)]
    )
    weights = np.ones(rows.rows, states.dtype) if rows.weights is None else rows.weights
    has_key = csc_array((weights, keys, np.arange(rows.rows + 1)), (cells, rows.rows))
    if len(wanted) < FEW_STATES * states.shape[1]:  # a copy of few columns pays
        counts = np.asarray(has_key @ np.take(states, wanted, axis=1))
    else:
        counts = np.take(np.asarray(has_key @ states), wanted, axis=1)
    return counts.astype(np.float64, copy=False)


def informations(tables: Beside) -> tuple[FloatArray, FloatArray]:
    r"""What Y and each X tell of each other given S, and what BIC takes for it.

    .. math::
        \sum_{s,y,x} n \log n - \sum_{s,x} n \log n - \sum_{s,y} n \log n + \sum_s n \log n,
        \qquad \frac{\log n}{2} (r_Y - 1)(r_X - 1) q_S

    The information is minus infinity for what fewer than two rows show.
    """
    counts = tables.counts  # of s, y, and the states of all x
    starts = tables.starts
    configurations, states, _ = counts.shape
    of_sy = np.add.reduceat(counts, starts, axis=2)  # for each x
    of_s = of_sy.sum(axis=1)
    fit_syx = np.add.reduceat(nlogn(counts).sum(axis=(0, 1)), starts)
    fit_sx = np.add.reduceat(nlogn(counts.sum(axis=1)).sum(axis=0), starts)
    information = fit_syx - fit_sx - nlogn(of_sy).sum(axis=(0, 1)) + nlogn(of_s).sum(axis=0)
    rows = of_s.sum(axis=0)
    free = tables.ends - starts - 1
    cost = np.log(np.maximum(rows, 2)) / 2 * free * (states - 1) * configurations
    return np.where(rows < 2, -np.inf, information), cost


@dataclass(frozen=True, eq=False)
class Gains:
    """The gains of some rows, each counted once."""

    rows: CodedRows
    share: float  # of the penalty, which is charged
    related: tuple[frozenset[int], ...] | None  # those that gain by each one alone; None for all
    # The information and the cost of two variables given others.
    known: dict[tuple[int, int, frozenset[int]], tuple[float, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: CodedRows) -> Gains:
        """The gains of these rows, with the whole penalty."""
        return cls(rows, 1.0, variables_that_gain(rows.pairs.information - rows.pairs.cost))

    def gain(self, x: int, y: int, given: frozenset[int]) -> float:
        """What either of two variables gains by the other, given some."""
        return self.of_each(x, [y], given)[0]

    def of_each(self, y: int, others: Sequence[int], given: frozenset[int]) -> list[float]:
        """What a variable gains by each of some others, given some."""
        if not given:
            pairs = self.rows.pairs
            of_pairs: list[float] = (pairs.information[y] - self.share * pairs.cost[y]).tolist()
            return [of_pairs[x] for x in others]
        keys = {x: (min(x, y), max(x, y), given) for x in others}
        if unknown := [x for x, key in keys.items() if key not in self.known]:
            self.known.update((keys[x], TABLE_TOO_LARGE) for x in unknown)
            for tables in tables_beside(self.rows, y, sorted(given), unknown):
                information, cost = informations(tables)
                terms = zip(information.tolist(), cost.tolist(), strict=True)
                for x, terms_of_x in zip(tables.others, terms, strict=True):
                    self.known[keys[x]] = terms_of_x
        gains = []
        for x in others:
            information_of_x, cost_of_x = self.known[keys[x]]
            gains.append(information_of_x - self.share * cost_of_x)
        return gains


def variables_that_gain(gains: FloatArray) -> tuple[frozenset[int], ...] | None:
    """For each variable those that gain by it alone; None where there are few variables.

    In a large network most pairs are independent, and remain so given what is not related to
    either: only related ones are worth counting. In a small one all pairs are counted, so that
    no cause is missed which shows only together with another.
    """
    if len(gains) <= ALL_PAIRS_VARIABLES:
        return None
    return tuple(frozenset(np.flatnonzero(row > 0).tolist()) for row in gains)
