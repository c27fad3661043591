"""The posterior of some variables for each row, and what of it rests on CPT rows without data.

The posteriors are those of `lacunet.inference.row_posteriors`. The share of a posterior that no
data support is one minus what is left of the component's probability once the CPT rows without
data are set to zero (`lacunet.inference.unsupported`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lacunet.ask.predict.unsupported_bounds import RowBounds
from lacunet.data.skipped_questions import without_implied
from lacunet.data.table import EncodedTable
from lacunet.inference.completions import in_batches, row_problems
from lacunet.inference.row_posteriors import (
    NetworkCells,
    SolvedRows,
    solve_problems,
    solve_rows,
)
from lacunet.limits import Memory, memory_budget
from lacunet.network.network import FloatArray, Network


@dataclass(frozen=True)
class Posteriors:
    """For each target a row of probabilities for each row of the data.

    ``log_probability`` is that of what each row shows. ``unsupported_of`` has, if it was asked
    for, the share of each posterior that rests on CPT rows without data, ``bounds_of`` how far
    these could move it. What a row of probability zero would have is NaN.
    """

    of_target: Mapping[str, FloatArray]
    log_probability: FloatArray
    unsupported_of: Mapping[str, FloatArray]
    bounds_of: Mapping[str, RowBounds] = field(default_factory=dict)

    @classmethod
    def joined(cls, parts: Sequence[Posteriors]) -> Posteriors:
        """Those of all rows, one part after the other."""
        if len(parts) == 1:
            return parts[0]

        def by_name(arrays_of: Sequence[Mapping[str, FloatArray]]) -> dict[str, FloatArray]:
            return {v: np.concatenate([arrays[v] for arrays in arrays_of]) for v in arrays_of[0]}

        return cls(
            by_name([part.of_target for part in parts]),
            np.concatenate([part.log_probability for part in parts]),
            by_name([part.unsupported_of for part in parts]),
            {
                v: RowBounds(
                    *map(np.concatenate, zip(*(p.bounds_of[v] for p in parts), strict=True))
                )
                for v in parts[0].bounds_of
            },
        )


def row_posteriors(
    network: Network,
    table: EncodedTable,
    targets: Sequence[str],
    memory: Memory = None,
    *,
    shares: bool = False,
) -> Posteriors:
    """The posteriors of the targets for each row; a target that is shown is certain.

    Parameters
    ----------
    shares
        Whether to find the shares that rest on CPT rows without data.

    Examples
    --------
    >>> chain = Network(
    ...     {"A": ["0", "1"], "B": ["0", "1"]},
    ...     {"B": ["A"]},
    ...     {"A": [0.5, 0.5], "B": [[0.75, 0.25], [0.25, 0.75]]},
    ... )
    >>> columns = {"A": np.array([2, 0], np.uint8), "B": np.array([1, 1], np.uint8)}
    >>> found = row_posteriors(chain, EncodedTable({"A": 2, "B": 2}, columns), ["A"])
    >>> found.of_target["A"].tolist(), np.exp(found.log_probability).round(6).tolist()
    ([[0.25, 0.75], [1.0, 0.0]], [0.5, 0.125])
    """
    cells = NetworkCells.of(network)
    budget = memory_budget(memory)
    of_target = {name: np.empty((table.rows, network.cardinality(name))) for name in targets}
    unsupported_of = {name: np.zeros(table.rows) for name in targets if shares}
    log_probability = np.empty(table.rows)
    for batch in solve_rows(cells, table, targets, budget, shares=shares):
        log_probability[batch.here] = batch.log_probability
        for name, posterior in batch.of_target.items():
            of_target[name][batch.here] = posterior
        if shares and cells.bare.any():
            for name in batch.hidden:
                _add_shares(unsupported_of[name][batch.here], name, batch, cells, budget)
        for share in unsupported_of.values():
            share[batch.here][batch.is_impossible] = np.nan
    return Posteriors(of_target, log_probability, unsupported_of)


def _add_shares(
    shares: FloatArray, name: str, batch: SolvedRows, cells: NetworkCells, memory: float
) -> None:
    """Write the share of one target's posterior that no data support, where a row misses it.

    Each target has its own problems: what is barren for one may matter to another, and cells that
    its state implies by a rule are evidence for others only.
    """
    evidence = without_implied(cells.network, batch.rows, [name])
    number = cells.network.variables.index(name)
    if evidence is batch.rows and len(batch.hidden) == 1:
        problems = batch.problems
        log_supported = batch.solved.log_supported
    else:
        problems = row_problems(cells.layout, evidence, [number])
        log_supported = solve_problems(problems, cells, memory, shares=True).log_supported
    rows, problem = problems.with_member(number)
    shares[rows] = 0.0 - np.expm1(log_supported)[problem]


def unsupported_completion_shares(
    network: Network, table: EncodedTable, memory: Memory = None
) -> FloatArray:
    r"""For each row the probability that its completion passes through a CPT row without data.

    What a row misses falls into components that are independent given what it shows, and the
    completion of each avoids these CPT rows with a probability :math:`s_k` of its own:

    .. math:: 1 - \exp \sum_k \log s_k

    Where what a row shows is impossible whatever its missing values are, the share is NaN.

    Examples
    --------
    >>> chain = Network(
    ...     {"A": ["0", "1"], "B": ["0", "1"]},
    ...     {"B": ["A"]},
    ...     {"A": [0.5, 0.5], "B": [[0.75, 0.25], [0.5, 0.5]]},
    ... ).with_support({"B": [10, 0]})
    >>> columns = {"A": np.array([2, 0], np.uint8), "B": np.array([2, 2], np.uint8)}
    >>> unsupported_completion_shares(chain, EncodedTable({"A": 2, "B": 2}, columns)).tolist()
    [0.5, 0.0]
    """
    cells = NetworkCells.of(network)
    budget = memory_budget(memory)
    shares = np.zeros(table.rows)
    if not cells.bare.any():
        return shares
    for batch, rows in in_batches(table):
        problems = row_problems(cells.layout, rows)
        log_supported = solve_problems(problems, cells, budget, shares=True).log_supported
        log_supported_of_row = np.zeros(rows.rows)
        np.add.at(log_supported_of_row, problems.row, log_supported[problems.problem])
        shares[batch] = 0.0 - np.expm1(log_supported_of_row)
    return shares
