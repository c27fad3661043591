"""The problems of each row: which components it misses, at which boundary values.

As in `lacunet.statistics.problems.compile`, but it is remembered which rows have which problem.
Equal problems are one, so that each is solved once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.statistics.distinct import LARGEST_KEY, distinct
from lacunet.statistics.problems.compile import (
    Problems,
    components_of,
    patterns_of,
)
from lacunet.statistics.problems.layout import Layout
from lacunet.statistics.problems.ragged import Integers, Ragged, distinct_rows

ROWS_AT_A_TIME = 2**17


@dataclass(frozen=True)
class RowProblems:
    """The distinct problems of some rows; row ``row[i]`` has the problem ``problem[i]``."""

    problems: Problems
    row: Integers
    problem: Integers

    @property
    def rows_of(self) -> Ragged:
        """The rows that have each problem."""
        order = np.argsort(self.problem, kind="stable")
        counts = np.bincount(self.problem, minlength=len(self.problems))
        return Ragged.of_lengths(counts, self.row[order])


def in_batches(table: EncodedTable) -> Iterator[tuple[slice, EncodedTable]]:
    """The rows, some at a time, with where they are."""
    for start in range(0, table.rows, ROWS_AT_A_TIME):
        here = slice(start, min(start + ROWS_AT_A_TIME, table.rows))
        yield here, table.take(here)


def row_problems(layout: Layout, table: EncodedTable) -> RowProblems:
    """The problems of each row."""
    patterns = patterns_of(table)
    components = components_of(patterns, layout, prune=False)
    boundaries = components.boundaries
    rows = patterns.rows.take(components.pattern)
    component = components.component[rows.owners]
    places = boundaries.places(component)
    starts = np.concatenate([[0], np.cumsum(boundaries.lengths_of(component))])
    codes = np.stack([table.columns[name] for name in table.variables], axis=1).ravel()
    at = np.repeat(rows.items * len(table.variables), np.diff(starts))
    shown = codes[at + boundaries.items[places]]
    states = Ragged(starts, shown)
    first, problem = _distinct(layout, boundaries, component, places, states)
    problems = Problems(
        layout=layout,
        fixed=np.zeros((0, 1)),
        members=components.members,
        boundaries=boundaries,
        component=component[first],
        states=Ragged.of_lengths(
            states.lengths_of(first), shown[states.places(first)].astype(np.int64)
        ),
        weights=np.bincount(problem, minlength=len(first)).astype(np.float64)[:, None],
        rows=table.rows,
        totals=np.array([float(table.rows)]),
    )
    return RowProblems(problems, rows.items, problem)


def _distinct(
    layout: Layout, boundaries: Ragged, component: Integers, places: Integers, states: Ragged
) -> tuple[Integers, Integers]:
    """One of each group of equal problems, and the group of each.

    Every boundary value of every component gets a number of its own, as long as there are
    numbers enough.
    """
    sizes = layout.cardinalities[boundaries.items]
    logs = np.bincount(boundaries.owners, np.log2(sizes), minlength=len(boundaries))
    if np.exp2(np.minimum(logs, 64)).sum() >= LARGEST_KEY:
        return distinct_rows(Ragged(states.starts, states.items.astype(np.int64)), component)
    values = np.ones(len(boundaries), dtype=np.int64)
    strides = np.ones(len(sizes), dtype=np.int64)
    for back in range(1, 1 + int(boundaries.lengths.max(initial=0))):
        owners = np.flatnonzero(boundaries.lengths >= back)
        items = boundaries.starts[owners + 1] - back
        strides[items] = values[owners]
        values[owners] *= sizes[items]
    sums = np.concatenate([[0], np.cumsum(states.items * strides[places])])
    keys = sums[states.starts[1:]] - sums[states.starts[:-1]]
    keys += (np.cumsum(values) - values)[component]
    found, problem = distinct(keys, int(values.sum()))
    first = np.empty(len(found), dtype=np.int64)
    first[problem] = np.arange(len(problem))
    return first, problem
