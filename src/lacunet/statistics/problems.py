r"""Incomplete data, compiled once for EM: fixed counts and the problems that are left.

Fix the pattern of one row: :math:`O` observed, :math:`M` missing. Given the observed values
the posterior over :math:`M` factorises over the connected components of the moral graph
restricted to :math:`M`. A component :math:`c` enters only the families that touch it, and
these mention, besides :math:`c`, only its neighbours in the moral graph, the observed
*boundary* :math:`b(c)`. So the posterior over :math:`c` depends on nothing but the value of
its boundary, and a row adds to EM

- a count for each family that it shows completely, once and for all, and
- its weight for each of its components, at the boundary value that it has.

Equal components with equal boundary values are one problem, whatever rows they come from.
From then on EM never sees a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.model.network import FloatArray, Network
from lacunet.statistics.distinct import pack
from lacunet.statistics.problem_components import boundaries_of, components_of, patterns_of
from lacunet.statistics.problem_layout import Layout, layout_of
from lacunet.statistics.problem_ragged import Integers, Ragged, distinct_rows, joined
from lacunet.statistics.problem_values import boundary_values

CELLS_AT_A_TIME = 2**24  # rows x partially observed variables compiled in one go


@dataclass(frozen=True, eq=False)
class Problems:
    """What EM needs of the data; the problems of batches, files and machines add up.

    ``fixed`` counts the families that rows show completely, laid out as ``layout`` says.
    ``members`` and ``boundaries`` are the distinct components; problem ``i`` has the component
    ``component[i]``, the boundary in ``states[i]`` and the weight ``weights[i]``. ``total`` is
    the weight of all rows. The order of components and problems depends on the data's
    content, not on the order of the rows.
    """

    layout: Layout
    fixed: FloatArray
    members: Ragged
    boundaries: Ragged
    component: Integers
    states: Ragged
    weights: FloatArray
    rows: int
    total: float

    def __add__(self, other: Problems) -> Problems:
        return merged([self, other])

    def __len__(self) -> int:
        return len(self.weights)


def compile_problems(network: Network, table: EncodedTable) -> Problems:
    """Read the data once.

    Parameters
    ----------
    network
        The structure; CPTs are not looked at.
    table
        Its columns may be in any order; those that are no variables are not looked at.

    Examples
    --------
    Of three rows, one misses A and one misses B: two problems, and one complete row.

    >>> chain = Network({"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]})
    >>> columns = {"A": np.array([0, 2, 1], np.uint8), "B": np.array([0, 1, 2], np.uint8)}
    >>> problems = compile_problems(chain, EncodedTable.of({"A": 2, "B": 2}, columns))
    >>> len(problems), problems.layout.tables(problems.fixed)["B"].tolist()
    (2, [[1.0, 0.0], [0.0, 0.0]])
    >>> problems.layout.tables(problems.fixed)["A"].tolist()
    [1.0, 1.0]
    """
    layout = layout_of(network.with_tables(None))
    table = replace(table, columns={name: table.columns[name] for name in network.variables})
    size = max(1, CELLS_AT_A_TIME // (1 + len(table.partially_observed)))
    if table.rows <= size:
        return _compiled(layout, table)
    starts = range(0, table.rows, size)
    return merged([_compiled(layout, table.take(slice(at, at + size))) for at in starts])


def _compiled(layout: Layout, table: EncodedTable) -> Problems:
    patterns = patterns_of(table)
    components = components_of(patterns, layout)
    boundaries = boundaries_of(components.members, layout)
    values = boundary_values(table, patterns, components, boundaries)
    return Problems(
        layout,
        _complete_counts(layout, table),
        components.members,
        boundaries,
        values.component,
        values.states,
        values.weights,
        table.rows,
        table.total,
    )


def merged(parts: Sequence[Problems]) -> Problems:
    """The problems of all parts, equal ones made one."""
    members = joined([part.members for part in parts])
    starts = np.concatenate([[0], np.cumsum([len(part.members) for part in parts])])
    first, group = distinct_rows(members)
    component = group[
        np.concatenate([part.component + at for part, at in zip(parts, starts, strict=False)])
    ]
    states = joined([part.states for part in parts])
    first_value, value = distinct_rows(states, component)
    weights = np.concatenate([part.weights for part in parts])
    return Problems(
        parts[0].layout,
        np.sum([part.fixed for part in parts], axis=0),
        members.take(first),
        joined([part.boundaries for part in parts]).take(first),
        component[first_value],
        states.take(first_value),
        np.bincount(value, weights, minlength=len(first_value)).astype(np.float64),
        sum(part.rows for part in parts),
        float(np.sum([part.total for part in parts])),
    )


def _complete_counts(layout: Layout, table: EncodedTable) -> FloatArray:
    """The counts of each family among the rows that show all of it, end to end."""
    names = layout.network.variables
    return np.concatenate([_family_counts(table, layout.network.family(name)) for name in names])


def _family_counts(table: EncodedTable, family: Sequence[str]) -> FloatArray:
    sizes = [table.cardinality_of[name] for name in family]
    columns = [table.columns[name] for name in family]
    weights = table.weights
    if any(table.missing_of[name] for name in family):
        shown = np.flatnonzero(table.is_shown(family))
        columns = [column[shown] for column in columns]
        weights = None if weights is None else weights[shown]
    keys = pack(columns, sizes, len(columns[0]))
    return np.bincount(keys, weights, minlength=prod(sizes)).astype(np.float64)
