r"""What a network says about each row: completions of what it does not show.

First the problems of each row: which components it misses, at which boundary values. As in
`lacunet.counts.em_problems.compile`, but it is remembered which rows have which problem. Equal
problems are one, so that each is solved once.

A row's completion given what it shows is that of its components, which are independent given
their boundaries: so the most probable states of each component together are the most probable
completion, and independent draws of each together are a draw of all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.distinct import LARGEST_KEY, grouped_keys
from lacunet.counts.em_problems.cell_layout import Layout, layout_of
from lacunet.counts.em_problems.compile import (
    Problems,
    components_of,
    patterns_of,
    with_factor_columns,
)
from lacunet.counts.em_problems.ragged import Integers, Ragged, group_equal_rows
from lacunet.data.table import Codes, EncodedTable
from lacunet.inference.errors import ImpossibleDataError
from lacunet.inference.expectation.draw import batches_of, completions, solve
from lacunet.limits import Memory, memory_budget
from lacunet.network.network import FloatArray, Network

ROWS_AT_A_TIME = 2**17
FEWEST_AT_A_TIME = 2**10  # however small the budget is
BYTES_PER_CELL = 60  # of the rows at a time while they are completed, by measurement
BUDGET_SHARE = 16  # of the budget, for these


@dataclass(frozen=True)
class RowProblems:
    """The distinct problems of some rows; a row may have several, one for each component."""

    problems: Problems
    row: Integers  # of each pair of a row and a problem that it has
    problem: Integers  # of the same pair

    @property
    def rows_of(self) -> Ragged:
        """The rows that have each problem."""
        order = np.argsort(self.problem, kind="stable")
        counts = np.bincount(self.problem, minlength=len(self.problems))
        return Ragged.of_lengths(counts, self.row[order])

    def with_member(self, variable: int) -> tuple[Integers, Integers]:
        """The rows that miss a variable in one of their problems, and that problem of each."""
        members = self.problems.members
        components = members.owners[members.items == variable]
        holds = np.isin(self.problems.component, components)[self.problem]
        return self.row[holds], self.problem[holds]


def in_batches(table: EncodedTable, budget: float = inf) -> Iterator[tuple[slice, EncodedTable]]:
    """The rows, some at a time, with where they are; fewer where a budget of bytes is small."""
    within_budget = budget / BUDGET_SHARE / (BYTES_PER_CELL * max(len(table.variables), 1))
    size = int(min(ROWS_AT_A_TIME, max(within_budget, FEWEST_AT_A_TIME)))
    for start in range(0, table.rows, size):
        here = slice(start, min(start + size, table.rows))
        yield here, table.take(here)


def row_problems(
    layout: Layout, table: EncodedTable, asked: Sequence[int] | None = None
) -> RowProblems:
    """The problems of each row: all of them, or those that some variables' posteriors need.

    Parameters
    ----------
    table
        Its columns may be in any order; those that are no variables are not looked at.
    asked
        The places of these variables.
    """
    whole, factors = with_factor_columns(layout, table)
    patterns = patterns_of(whole)
    kept = None if asked is None else np.array(asked, dtype=np.int64)
    components = components_of(patterns, factors.layout, prune=asked is not None, asked=kept)
    boundaries = components.boundaries
    rows = patterns.rows.take(components.pattern)
    component = components.component[rows.owners]
    places = boundaries.places(component)
    starts = np.concatenate([[0], np.cumsum(boundaries.lengths_of(component))])
    # What each row shows at the boundaries of its components.
    codes = np.stack([whole.columns[name] for name in whole.variables], axis=1).ravel()
    row_start = np.repeat(rows.items * len(whole.variables), np.diff(starts))
    shown = codes[row_start + boundaries.items[places]]
    states = Ragged(starts, shown)
    first, problem = _distinct(factors.layout, boundaries, component, places, states)
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
        rows=whole.rows,
        totals=np.array([float(whole.rows)]),
        factors=factors,
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
        return group_equal_rows(Ragged(states.starts, states.items.astype(np.int64)), component)
    strides, values = boundaries.strides(sizes)
    sums = np.concatenate([[0], np.cumsum(states.items * strides[places])])
    keys = sums[states.starts[1:]] - sums[states.starts[:-1]]
    keys += (np.cumsum(values) - values)[component]
    problem, first = grouped_keys(keys, int(values.sum()))
    return first, problem


def draw_completions(
    network: Network,
    table: EncodedTable,
    draws: int,
    rng: np.random.Generator | None,
    memory: Memory = None,
) -> list[EncodedTable]:
    """Complete tables, each drawn from the joint posterior of what the rows do not show.

    Rows, weights and what rows show are those of ``table``; so is the order. Without a generator
    every row is completed by the states that are most probable together.

    Raises
    ------
    ImpossibleDataError
        No completion of a row has a probability, next to what it shows.
    OverBudgetError
        What a row misses does not fit the budget.

    Examples
    --------
    >>> chain = Network(
    ...     {"A": ["0", "1"], "B": ["0", "1"]},
    ...     {"B": ["A"]},
    ...     {"A": [0.5, 0.5], "B": [[1.0, 0.0], [0.0, 1.0]]},
    ... )
    >>> columns = {"A": np.array([2, 2], np.uint8), "B": np.array([1, 0], np.uint8)}
    >>> rows = EncodedTable({"A": 2, "B": 2}, columns)
    >>> [whole] = draw_completions(chain, rows, 1, np.random.default_rng(0))
    >>> whole.columns["A"].tolist()
    [1, 0]
    """
    layout = layout_of(network.with_tables(None))
    budget = memory_budget(memory)
    cells = layout.flat({name: network.cpt(name).table for name in network.variables})
    columns: list[dict[str, Codes]] = [
        {name: table.columns[name].copy() for name in network.variables} for _ in range(draws)
    ]
    for here, part in in_batches(table, budget):
        if not part.partially_observed:
            continue
        codes = _filled(layout, cells, part, draws, rng, budget)
        for draw, whole in enumerate(columns):
            for index, name in enumerate(network.variables):
                if part.missing_of[name]:
                    whole[name][here] = codes[draw, :, index]
    cardinality_of = network.cardinality_of
    return [replace(table.with_columns(cardinality_of, whole), sets_of={}) for whole in columns]


def most_probable(network: Network, table: EncodedTable, memory: Memory = None) -> EncodedTable:
    """The table with every row completed by the states that are most probable together."""
    (completed,) = draw_completions(network, table, 1, None, memory)
    return completed


def _filled(
    layout: Layout,
    cells: FloatArray,
    table: EncodedTable,
    draws: int,
    rng: np.random.Generator | None,
    memory: float,
) -> NDArray[np.uint16]:
    """The codes of some rows with nothing missing: draw, row, variable."""
    names = layout.network.variables
    shown = np.stack([table.columns[name].astype(np.uint16) for name in names], axis=1)
    codes = np.repeat(shown[None], draws, axis=0)
    problems = row_problems(layout, table)
    rows_of = problems.rows_of
    for batch in batches_of(problems.problems, memory):
        solved = solve(batch, cells, best=rng is None)
        if (is_ruled_out := np.isneginf(solved.log_z)).any():
            problem = int(batch.problems[np.argmax(is_ruled_out)])
            raise _impossible(table, int(rows_of.row(problem)[0]))
        if rng is None:  # one completion serves all rows of a problem
            best = completions(solved, np.arange(len(batch.problems)), None)
            copies = rows_of.take(batch.problems[best.owner])
            codes[0, copies.items, best.variable[copies.owners]] = best.state[copies.owners]
            continue
        copies = rows_of.take(batch.problems)
        for draw in codes:
            drawn = completions(solved, copies.owners, rng)
            draw[copies.items[drawn.owner], drawn.variable] = drawn.state
    return codes


def refuse_impossible_rows(network: Network, table: EncodedTable) -> None:
    """Refuse rows that miss something and show states which no row can have together.

    Only families that a row shows as a whole are looked at.

    Raises
    ------
    ImpossibleDataError
        There is such a row; the message names the first.
    """
    is_impossible = np.zeros(table.rows, dtype=np.bool_)
    for cpt in network.cpts:
        if cpt.table.all():
            continue
        is_shown = table.is_shown(cpt.family)
        index = tuple(table.columns[name][is_shown] for name in cpt.family)
        is_impossible[is_shown] |= cpt.table[index] == 0
    is_impossible &= ~table.is_shown(table.variables)
    if is_impossible.any():
        raise _impossible(table, int(np.argmax(is_impossible)))


def _impossible(table: EncodedTable, row: int) -> ImpossibleDataError:
    return ImpossibleDataError(
        f"row {table.numbers[row]} has probability zero under the network: it cannot be completed.",
        "learn the CPTs with pseudo-counts, so that none of them is zero.",
    )
