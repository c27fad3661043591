"""Rows with nothing missing: the most probable completion of each, or draws of it.

A row's completion given what it shows is that of its components, which are independent given
their boundaries: so the most probable states of each component together are the most probable
completion, and independent draws of each together are a draw of all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lacunet.completion.rows import RowProblems, in_batches, row_problems
from lacunet.data.table import Codes, EncodedTable
from lacunet.inference.errors import ImpossibleDataError
from lacunet.inference.expectation.draw import Solved, batches_of, completions, solve
from lacunet.memory import memory_budget
from lacunet.model.network import FloatArray, Network
from lacunet.statistics.problems.layout import Layout, layout_of


def draw_completions(
    network: Network,
    table: EncodedTable,
    draws: int,
    rng: np.random.Generator,
    memory: float | None = None,
) -> list[EncodedTable]:
    """Complete tables, each drawn from the joint posterior of what the rows do not show.

    Rows, weights and what rows show are those of ``table``; so is the order.

    Raises
    ------
    ImpossibleDataError
        A row has probability zero.
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
    >>> rows = EncodedTable.of({"A": 2, "B": 2}, columns)
    >>> [whole] = draw_completions(chain, rows, 1, np.random.default_rng(0))
    >>> whole.columns["A"].tolist()
    [1, 0]
    """
    return _completed(network, table, draws, rng, memory_budget(memory))


def most_probable(
    network: Network, table: EncodedTable, memory: float | None = None
) -> EncodedTable:
    """The table with every row completed by the states that are most probable together."""
    return _completed(network, table, 1, None, memory_budget(memory))[0]


def _completed(
    network: Network,
    table: EncodedTable,
    draws: int,
    rng: np.random.Generator | None,
    memory: float,
) -> list[EncodedTable]:
    layout = layout_of(network.with_tables(None))
    cells = layout.flat({name: network.cpt(name).table for name in network.variables})
    columns: list[dict[str, Codes]] = [
        {name: table.columns[name].copy() for name in network.variables} for _ in range(draws)
    ]
    for here, part in in_batches(table):
        if not part.partially_observed:
            continue
        codes = _filled(layout, cells, part, draws, rng, memory)
        for draw, whole in enumerate(columns):
            for place, name in enumerate(network.variables):
                if part.missing_of[name]:
                    whole[name][here] = codes[draw, :, place]
    cardinality_of = {name: network.cardinality(name) for name in network.variables}
    return [
        EncodedTable.of(cardinality_of, whole, table.weights, table.notes, table.row_numbers)
        for whole in columns
    ]


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
    table = EncodedTable.of(
        table.cardinality_of,
        {name: table.columns[name] for name in names},
        None,
        (),
        table.row_numbers,
    )
    shown = np.stack([table.columns[name].astype(np.uint16) for name in names], axis=1)
    codes = np.repeat(shown[None], draws, axis=0)
    found = row_problems(layout, table)
    rows_of = found.rows_of
    for batch in batches_of(found.problems, memory):
        solved = solve(batch, cells, best=rng is None)
        _refuse_impossible(solved, found, table)
        if rng is None:  # one completion serves all rows of a problem
            found_best = completions(solved, np.arange(len(batch.problems)), None)
            copies = rows_of.take(batch.problems[found_best.owner])
            codes[0, copies.items, found_best.variable[copies.owners]] = found_best.state[
                copies.owners
            ]
            continue
        copies = rows_of.take(batch.problems)
        for draw in codes:
            drawn = completions(solved, copies.owners, rng)
            draw[copies.items[drawn.owner], drawn.variable] = drawn.state
    return codes


def _refuse_impossible(solved: Solved, found: RowProblems, table: EncodedTable) -> None:
    ruled_out = np.isneginf(solved.log_z)
    if not ruled_out.any():
        return
    problem = solved.batch.problems[np.argmax(ruled_out)]
    row = int(found.rows_of.row(int(problem))[0])
    number = row + 1 if table.row_numbers is None else int(table.row_numbers[row])
    raise ImpossibleDataError(
        f"row {number} has probability zero under the network: it cannot be completed.",
        "learn the CPTs with a prior above 1, so that none of them is zero.",
    )
