r"""The posterior of some variables for every row, :math:`\Pr(X \mid \text{what the row shows})`.

Only the component that holds a variable matters to it. A row of probability zero has no
posterior: its numbers are NaN, and its log-probability is minus infinity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lacunet.completion.rows import RowProblems, in_batches, row_problems
from lacunet.data.table import EncodedTable
from lacunet.inference.expectation.draw import batches_of, posteriors, solve
from lacunet.memory import memory_budget
from lacunet.model.network import FloatArray, Network
from lacunet.statistics.problems.layout import layout_of


@dataclass(frozen=True)
class Posteriors:
    """For each target a row of probabilities for each row of the data.

    ``log_probability`` is that of what each row shows.
    """

    of_target: Mapping[str, FloatArray]
    log_probability: FloatArray


def row_posteriors(
    network: Network,
    table: EncodedTable,
    targets: Sequence[str],
    memory: float | None = None,
) -> Posteriors:
    """The posteriors of the targets for each row; a target that is shown is certain.

    Examples
    --------
    >>> chain = Network(
    ...     {"A": ["0", "1"], "B": ["0", "1"]},
    ...     {"B": ["A"]},
    ...     {"A": [0.5, 0.5], "B": [[0.75, 0.25], [0.25, 0.75]]},
    ... )
    >>> columns = {"A": np.array([2, 0], np.uint8), "B": np.array([1, 1], np.uint8)}
    >>> found = row_posteriors(chain, EncodedTable.of({"A": 2, "B": 2}, columns), ["A"])
    >>> found.of_target["A"].tolist(), np.exp(found.log_probability).round(6).tolist()
    ([[0.25, 0.75], [1.0, 0.0]], [0.5, 0.125])
    """
    budget = memory_budget(memory)
    of_target = {name: np.empty((table.rows, network.cardinality(name))) for name in targets}
    log_probability = np.empty(table.rows)
    for here, part in in_batches(table):
        logs = shown_log_probability(network, part)
        if part.partially_observed:
            found = row_problems(layout_of(network.with_tables(None)), _ordered(network, part))
            solved, log_z = _solved(network, found, targets, budget)
            logs += np.bincount(found.row, log_z[found.problem], minlength=part.rows)
        for name in targets:
            of_target[name][here] = np.eye(network.cardinality(name) + 1)[
                part.columns[name], : network.cardinality(name)
            ]
            if part.missing_of[name]:
                hidden = solved.has[name][found.problem]
                rows, problem = found.row[hidden], found.problem[hidden]
                of_target[name][here][rows] = solved.of[name][problem]
            of_target[name][here][np.isneginf(logs)] = np.nan
        log_probability[here] = logs
    return Posteriors(of_target, log_probability)


def _ordered(network: Network, table: EncodedTable) -> EncodedTable:
    columns = {name: table.columns[name] for name in network.variables}
    return EncodedTable.of(table.cardinality_of, columns)


@dataclass(frozen=True)
class _Targets:
    """For each target, which problems hold it, and its posterior in these."""

    has: Mapping[str, FloatArray]
    of: Mapping[str, FloatArray]


def _solved(
    network: Network, found: RowProblems, targets: Sequence[str], memory: float
) -> tuple[_Targets, FloatArray]:
    """The posteriors of the targets in each problem, and the log-probability of each."""
    layout = found.problems.layout
    cells = layout.flat({name: network.cpt(name).table for name in network.variables})
    count = len(found.problems)
    place_of = {name: network.variables.index(name) for name in targets}
    solved = _Targets(
        {name: np.zeros(count, dtype=bool) for name in targets},
        {name: np.empty((count, network.cardinality(name))) for name in targets},
    )
    wanted = np.isin(np.arange(len(network.variables)), list(place_of.values()))
    log_z = np.empty(count)
    for batch in batches_of(found.problems, memory):
        messages = solve(batch, cells)
        log_z[batch.problems] = messages.log_z
        if not wanted[batch.variable].any():
            continue
        beliefs = posteriors(messages)
        lengths = np.diff(np.append(batch.first, len(batch.variable)))
        problem = np.repeat(batch.problems, lengths)
        for name, place in place_of.items():
            node = np.flatnonzero(batch.variable == place)
            if len(node):
                solved.has[name][problem[node]] = True
                solved.of[name][problem[node]] = beliefs[node, : network.cardinality(name)]
    return solved, log_z


def shown_log_probability(network: Network, table: EncodedTable) -> FloatArray:
    """The logarithm of the product, over the families that each row shows, of their CPTs."""
    logs = np.zeros(table.rows)
    for cpt in network.cpts:
        is_shown = table.is_shown(cpt.family)
        place = np.ravel_multi_index(
            tuple(table.columns[name][is_shown] for name in cpt.family), cpt.table.shape
        )
        with np.errstate(divide="ignore"):
            logs[is_shown] += np.log(cpt.table).ravel()[place]
    return logs
