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

import numpy as np
from numpy.typing import NDArray

from lacunet.completion.bounds import RowBounds
from lacunet.completion.rows import RowProblems, in_batches, row_problems
from lacunet.data.skips import without_implied
from lacunet.data.table import EncodedTable
from lacunet.inference.expectation.draw import batches_of, posteriors, solve
from lacunet.inference.likelihood import shown_log_likelihoods
from lacunet.memory import memory_budget
from lacunet.model.network import FloatArray, Network
from lacunet.statistics.counts import added_up
from lacunet.statistics.problems.layout import Layout, layout_of
from lacunet.statistics.problems.ragged import Integers


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
        return cls(
            {v: np.concatenate([one.of_target[v] for one in parts]) for v in parts[0].of_target},
            np.concatenate([one.log_probability for one in parts]),
            {
                v: np.concatenate([one.unsupported_of[v] for one in parts])
                for v in parts[0].unsupported_of
            },
            {v: RowBounds.joined([one.bounds_of[v] for one in parts]) for v in parts[0].bounds_of},
        )


def row_posteriors(
    network: Network,
    table: EncodedTable,
    targets: Sequence[str],
    memory: float | None = None,
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
    >>> found = row_posteriors(chain, EncodedTable.of({"A": 2, "B": 2}, columns), ["A"])
    >>> found.of_target["A"].tolist(), np.exp(found.log_probability).round(6).tolist()
    ([[0.25, 0.75], [1.0, 0.0]], [0.5, 0.125])
    """
    budget = memory_budget(memory)
    cells = _Cells.of(network)
    of_target = {name: np.empty((table.rows, network.cardinality(name))) for name in targets}
    unsupported_of = {name: np.zeros(table.rows) for name in targets if shares}
    log_probability = np.empty(table.rows)
    for here, part in in_batches(table):
        hidden = [name for name in targets if part.missing_of[name]]
        asked = _SolvedPosteriors.of(cells, part, hidden, budget)
        row, problem = asked.found.row, asked.found.problem
        logs = shown_log_likelihoods(network, part)
        logs += added_up(row, asked.log_z[problem], part.rows)
        for name in targets:
            size = network.cardinality(name)
            of_target[name][here] = np.eye(size + 1)[np.minimum(part.columns[name], size), :size]
            if name in hidden:
                rows, problem = asked.rows_with(name)
                of_target[name][here][rows] = asked.posterior_of[name][problem]
            of_target[name][here][np.isneginf(logs)] = np.nan
        log_probability[here] = logs
        for name in hidden if shares and cells.bare.any() else ():
            bare = without_implied(network, part, [name])
            is_same = bare is part and len(hidden) == 1
            alone = asked if is_same else _SolvedPosteriors.of(cells, bare, [name], budget)
            rows, problem = alone.rows_with(name)
            left = _log_left(alone.found, alone.log_z, cells, budget)
            unsupported_of[name][here][rows] = 0.0 - np.expm1(left)[problem]
        for own in unsupported_of.values():
            own[here][np.isneginf(logs)] = np.nan
    return Posteriors(of_target, log_probability, unsupported_of)


def completion_shares(
    network: Network, table: EncodedTable, memory: float | None = None
) -> FloatArray:
    """For each row the probability that its completion passes through a CPT row without data.

    Examples
    --------
    >>> chain = Network(
    ...     {"A": ["0", "1"], "B": ["0", "1"]},
    ...     {"B": ["A"]},
    ...     {"A": [0.5, 0.5], "B": [[0.75, 0.25], [0.5, 0.5]]},
    ... ).with_support({"B": [10, 0]})
    >>> columns = {"A": np.array([2, 0], np.uint8), "B": np.array([2, 2], np.uint8)}
    >>> completion_shares(chain, EncodedTable.of({"A": 2, "B": 2}, columns)).tolist()
    [0.5, 0.0]
    """
    budget, cells = memory_budget(memory), _Cells.of(network)
    shares = np.zeros(table.rows)
    for here, part in in_batches(table) if cells.bare.any() else ():
        found = row_problems(cells.layout, part)
        log_z = _log_z(found, cells.values, budget)
        left = np.zeros(part.rows)
        np.add.at(left, found.row, _log_left(found, log_z, cells, budget)[found.problem])
        shares[here] = 0.0 - np.expm1(left)
    return shares


@dataclass(frozen=True)
class _Cells:
    """All cells of a network's CPTs, and which of them are in rows without data."""

    layout: Layout
    values: FloatArray
    bare: NDArray[np.bool_]

    @classmethod
    def of(cls, network: Network) -> _Cells:
        layout, cpts = layout_of(network.with_tables(None)), network.cpts
        values = layout.flat({cpt.child: cpt.table for cpt in cpts})
        bare = layout.flat(
            {
                cpt.child: np.zeros(cpt.table.shape)
                if cpt.supported is None
                else np.broadcast_to(~cpt.supported[..., None], cpt.table.shape)
                for cpt in cpts
            }
        ).astype(np.bool_)
        return cls(layout, values, bare)


@dataclass(frozen=True)
class _SolvedPosteriors:
    """The problems that the posteriors of some variables need, solved.

    ``posterior_of`` has a row for each problem that ``has`` the variable.
    """

    found: RowProblems
    log_z: FloatArray
    has: Mapping[str, NDArray[np.bool_]]
    posterior_of: Mapping[str, FloatArray]

    @classmethod
    def of(
        cls, cells: _Cells, table: EncodedTable, names: Sequence[str], memory: float
    ) -> _SolvedPosteriors:
        network = cells.layout.network
        place_of = {name: network.variables.index(name) for name in names}
        places = np.array(list(place_of.values()), dtype=np.int64)
        found = row_problems(cells.layout, table, places)
        count = len(found.problems)
        has = {name: np.zeros(count, dtype=np.bool_) for name in names}
        posterior_of = {name: np.empty((count, network.cardinality(name))) for name in names}
        log_z = np.empty(count)
        for batch in batches_of(found.problems, memory):
            messages = solve(batch, cells.values)
            log_z[batch.problems] = messages.log_z
            if not np.isin(batch.variable, places).any():
                continue
            beliefs = posteriors(messages)
            problem = np.repeat(batch.problems, batch.steps.lengths)
            for name, place in place_of.items():
                node = np.flatnonzero(batch.variable == place)
                if len(node):
                    has[name][problem[node]] = True
                    posterior_of[name][problem[node]] = beliefs[node, : network.cardinality(name)]
        return cls(found, log_z, has, posterior_of)

    def rows_with(self, name: str) -> tuple[Integers, Integers]:
        """The rows that have a problem with a variable, and that problem of each."""
        holds = self.has[name][self.found.problem]
        return self.found.row[holds], self.found.problem[holds]


def _log_z(found: RowProblems, values: FloatArray, memory: float) -> FloatArray:
    """The log-probability of what each problem shows around it."""
    log_z = np.empty(len(found.problems))
    for batch in batches_of(found.problems, memory):
        log_z[batch.problems] = solve(batch, values).log_z
    return log_z


def _log_left(found: RowProblems, log_z: FloatArray, cells: _Cells, memory: float) -> FloatArray:
    """The logarithm of the share of each problem that does not rest on CPT rows without data."""
    left = _log_z(found, np.where(cells.bare, 0.0, cells.values), memory)
    with np.errstate(invalid="ignore"):  # a problem that is impossible with all rows
        return np.minimum(left - log_z, 0.0)
