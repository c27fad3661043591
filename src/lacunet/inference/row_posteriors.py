r"""The posterior of some variables for each row: :math:`\Pr(X \mid \text{what the row shows})`.

It needs only the component that holds :math:`X`, without what is barren: missing, with nothing
shown or asked about below. Rows with equal components and boundary values share a problem, which
is solved once; what each row shows beside them is a product of CPT entries:

.. math:: \Pr(x_o) = \prod_{f \subseteq o} \theta_f \cdot \prod_k Z_k

with the families :math:`f` that the row shows whole, and the sum :math:`Z_k` of each of its
components. A row of probability zero has no posterior: its numbers are NaN.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lacunet.counts.counts import added_up
from lacunet.counts.em_problems.cell_layout import Layout, layout_of
from lacunet.data.table import EncodedTable
from lacunet.inference.completions import RowProblems, in_batches, row_problems
from lacunet.inference.expectation.draw import batches_of, posteriors, solve
from lacunet.inference.likelihood import shown_log_likelihoods
from lacunet.network.network import FloatArray, Mask, Network


@dataclass(frozen=True)
class NetworkCells:
    """The cells of a network's CPTs, end to end."""

    network: Network
    layout: Layout  # which cell is where
    values: FloatArray
    bare: Mask  # which cells are in CPT rows without data

    @classmethod
    def of(cls, network: Network) -> NetworkCells:
        """The cells of a network with CPTs."""
        layout = layout_of(network.with_tables(None))
        is_bare: dict[str, Any] = {}
        for cpt in network.cpts:
            is_bare[cpt.child] = np.zeros(cpt.table.shape)
            if cpt.supported is not None:
                is_bare[cpt.child] = np.broadcast_to(~cpt.supported[..., None], cpt.table.shape)
        return cls(
            network=network,
            layout=layout,
            values=layout.flat({cpt.child: cpt.table for cpt in network.cpts}),
            bare=layout.flat(is_bare).astype(np.bool_),
        )


@dataclass(frozen=True)
class SolvedProblems:
    """What follows from the problems of some rows."""

    log_z: FloatArray  # the log-probability of what each problem shows around it
    # The logarithm of the share of that probability which does not pass through CPT rows without
    # data: zero unless it was asked for, NaN where the problem is impossible.
    log_supported: FloatArray
    posterior_of: Mapping[str, FloatArray]  # of variables, in the problems that have them


@dataclass(frozen=True)
class SolvedRows:
    """Some rows with the posteriors of their targets."""

    here: slice  # where the rows are in the table
    rows: EncodedTable
    of_target: Mapping[str, FloatArray]  # a row of probabilities each; NaN where it is impossible
    log_probability: FloatArray  # of what each row shows
    hidden: tuple[str, ...]  # the targets that some of the rows miss
    problems: RowProblems
    solved: SolvedProblems

    @property
    def is_impossible(self) -> Mask:
        """Whether a row has probability zero."""
        return np.isneginf(self.log_probability)


def solve_rows(
    cells: NetworkCells,
    table: EncodedTable,
    targets: Sequence[str],
    memory: float,
    *,
    shares: bool = False,
) -> Iterator[SolvedRows]:
    """The posteriors of the targets, some rows at a time; a target that is shown is certain.

    Parameters
    ----------
    memory
        The bytes that the problems solved together may take.
    shares
        Whether to find what of the problems rests on CPT rows without data.
    """
    network = cells.network
    number_of = {name: network.variables.index(name) for name in targets}
    for here, part in in_batches(table):
        hidden = tuple(name for name in targets if part.missing_of[name])
        problems = row_problems(cells.layout, part, [number_of[name] for name in hidden])
        solved = solve_problems(problems, cells, memory, hidden, shares=shares)
        logs = shown_log_likelihoods(network, part)
        logs += added_up(problems.row, solved.log_z[problems.problem], part.rows)
        of_target = {}
        for name in targets:
            size = network.cardinality(name)
            # All on the state that is shown; the code of what is missing is beyond the states.
            posterior = np.eye(size + 1)[np.minimum(part.columns[name], size), :size]
            if name in hidden:
                rows, problem = problems.with_member(number_of[name])
                posterior[rows] = solved.posterior_of[name][problem]
            posterior[np.isneginf(logs)] = np.nan
            of_target[name] = posterior
        yield SolvedRows(
            here=here,
            rows=part,
            of_target=of_target,
            log_probability=logs,
            hidden=hidden,
            problems=problems,
            solved=solved,
        )


def solve_problems(
    problems: RowProblems,
    cells: NetworkCells,
    memory: float,
    names: Sequence[str] = (),
    *,
    shares: bool,
) -> SolvedProblems:
    """Solve the problems: with the posteriors of some variables, and with the shares if wanted."""
    network = cells.network
    count = len(problems.problems)
    log_z = np.empty(count)
    log_supported = np.zeros(count)
    posterior_of = {name: np.empty((count, network.cardinality(name))) for name in names}
    supported = np.where(cells.bare, 0.0, cells.values)
    for batch in batches_of(problems.problems, memory):
        solved = solve(batch, cells.values)
        log_z[batch.problems] = solved.log_z
        if shares and cells.bare.any():
            log_z_supported = solve(batch, supported).log_z
            with np.errstate(invalid="ignore"):  # a problem that is impossible with all rows
                log_supported[batch.problems] = np.minimum(log_z_supported - solved.log_z, 0.0)
        node_of = {v: np.flatnonzero(batch.variable == network.variables.index(v)) for v in names}
        if not any(map(len, node_of.values())):
            continue
        beliefs = posteriors(solved)
        problem = np.repeat(batch.problems, batch.steps.lengths)
        for name, node in node_of.items():
            posterior_of[name][problem[node]] = beliefs[node, : network.cardinality(name)]
    return SolvedProblems(log_z, log_supported, posterior_of)
