r"""The posterior of some variables for each row, and what of it rests on CPT rows without data.

The posterior of a variable, :math:`\Pr(X \mid \text{what the row shows})`, needs only the
component that holds it, without what is barren: missing, with nothing shown or asked about
below. A row of probability zero has no posterior: its numbers are NaN, and its log-probability
is minus infinity.

The share of a posterior that no data support is one minus what is left of the component's
probability once the CPT rows without data are set to zero (`lacunet.inference.unsupported`); each
target has its own, since what is barren for one may matter to another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lacunet.ask.predict.completions import RowProblems, in_batches, row_problems
from lacunet.ask.predict.unsupported_bounds import RowBounds
from lacunet.counts.counts import added_up
from lacunet.counts.em_problems.cell_layout import layout_of
from lacunet.data.skipped_questions import without_implied
from lacunet.data.table import EncodedTable
from lacunet.inference.expectation.draw import batches_of, posteriors, solve
from lacunet.inference.likelihood import shown_log_likelihoods
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
    budget, cells = memory_budget(memory), _Cells(network)
    number_of = {name: network.variables.index(name) for name in targets}
    of_target = {name: np.empty((table.rows, network.cardinality(name))) for name in targets}
    unsupported_of = {name: np.zeros(table.rows) for name in targets if shares}
    log_probability = np.empty(table.rows)
    for here, part in in_batches(table):
        hidden = [name for name in targets if part.missing_of[name]]
        problems = row_problems(cells.layout, part, [number_of[name] for name in hidden])
        solved = _solved(problems, cells, budget, hidden, shares=shares)
        logs = shown_log_likelihoods(network, part)
        logs += added_up(problems.row, solved.log_z[problems.problem], part.rows)
        is_impossible = np.isneginf(logs)
        log_probability[here] = logs
        for name in targets:
            size = network.cardinality(name)
            posterior = of_target[name][here]
            posterior[:] = np.eye(size + 1)[np.minimum(part.columns[name], size), :size]
            if name in hidden:
                rows, problem = problems.with_member(number_of[name])
                posterior[rows] = solved.posterior_of[name][problem]
            posterior[is_impossible] = np.nan
        for name in hidden if shares and cells.bare.any() else ():
            bare = without_implied(network, part, [name])
            alone = problems
            left = solved.log_left
            if bare is not part or len(hidden) > 1:
                alone = row_problems(cells.layout, bare, [number_of[name]])
                left = _solved(alone, cells, budget, shares=True).log_left
            rows, problem = alone.with_member(number_of[name])
            unsupported_of[name][here][rows] = 0.0 - np.expm1(left)[problem]
        for share in unsupported_of.values():
            share[here][is_impossible] = np.nan
    return Posteriors(of_target, log_probability, unsupported_of)


def completion_shares(network: Network, table: EncodedTable, memory: Memory = None) -> FloatArray:
    """For each row the probability that its completion passes through a CPT row without data.

    Examples
    --------
    >>> chain = Network(
    ...     {"A": ["0", "1"], "B": ["0", "1"]},
    ...     {"B": ["A"]},
    ...     {"A": [0.5, 0.5], "B": [[0.75, 0.25], [0.5, 0.5]]},
    ... ).with_support({"B": [10, 0]})
    >>> columns = {"A": np.array([2, 0], np.uint8), "B": np.array([2, 2], np.uint8)}
    >>> completion_shares(chain, EncodedTable({"A": 2, "B": 2}, columns)).tolist()
    [0.5, 0.0]
    """
    budget, cells = memory_budget(memory), _Cells(network)
    shares = np.zeros(table.rows)
    for here, part in in_batches(table) if cells.bare.any() else ():
        problems = row_problems(cells.layout, part)
        left = np.zeros(part.rows)
        log_left = _solved(problems, cells, budget, shares=True).log_left
        np.add.at(left, problems.row, log_left[problems.problem])
        shares[here] = 0.0 - np.expm1(left)
    return shares


class _Cells:
    """All cells of a network's CPTs, and which of them are in rows without data."""

    def __init__(self, network: Network) -> None:
        self.layout = layout_of(network.with_tables(None))
        self.values = self.layout.flat({cpt.child: cpt.table for cpt in network.cpts})
        is_bare: dict[str, Any] = {
            cpt.child: np.zeros(cpt.table.shape)
            if cpt.supported is None
            else np.broadcast_to(~cpt.supported[..., None], cpt.table.shape)
            for cpt in network.cpts
        }
        self.bare = self.layout.flat(is_bare).astype(np.bool_)


@dataclass(frozen=True)
class _SolvedProblems:
    """The log-probability of what each problem shows around it, and what follows.

    ``log_left`` is the logarithm of the share of it that does not rest on CPT rows without data,
    ``posterior_of`` has the posterior of each variable asked for, in the problems that have it.
    """

    log_z: FloatArray
    log_left: FloatArray
    posterior_of: Mapping[str, FloatArray]


def _solved(
    problems: RowProblems, cells: _Cells, memory: float, names: Sequence[str] = (), *, shares: bool
) -> _SolvedProblems:
    """Solve the problems: with the posteriors of some variables, and with the shares if wanted."""
    network = cells.layout.network
    count = len(problems.problems)
    log_z, log_left = np.empty(count), np.zeros(count)
    posterior_of = {name: np.empty((count, network.cardinality(name))) for name in names}
    supported = np.where(cells.bare, 0.0, cells.values)
    for batch in batches_of(problems.problems, memory):
        solved = solve(batch, cells.values)
        log_z[batch.problems] = solved.log_z
        if shares and cells.bare.any():
            left = solve(batch, supported).log_z
            with np.errstate(invalid="ignore"):  # a problem that is impossible with all rows
                log_left[batch.problems] = np.minimum(left - solved.log_z, 0.0)
        node_of = {v: np.flatnonzero(batch.variable == network.variables.index(v)) for v in names}
        if not any(map(len, node_of.values())):
            continue
        beliefs = posteriors(solved)
        problem = np.repeat(batch.problems, batch.steps.lengths)
        for name, node in node_of.items():
            posterior_of[name][problem[node]] = beliefs[node, : network.cardinality(name)]
    return _SolvedProblems(log_z, log_left, posterior_of)
