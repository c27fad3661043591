r"""The MAR methods again, with rows that fell back settled by what decides on being missing.

Not what is learned, but what intervals are made around (see `lacunet.uncertainty.steps`). With
:math:`n(y_o)` the weight of all rows and :math:`I(y)` what the groups say,

.. math::
    T(y) = I(y) + \Bigl( n(y_o) - \sum_{y_m} I(y_o, y_m) \Bigr) S(y_m \mid y_o).

:math:`S` is what the later steps say of the rows whose groups say nothing; where there are none,
but single cells fell back, what the rows that show the family say.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.estimate.cpts import posterior_mode
from lacunet.estimate.deletion.forms import Deletion
from lacunet.model.network import FloatArray, Network, Scope
from lacunet.statistics.gather import Statistics
from lacunet.statistics.groups import group_rows
from lacunet.uncertainty.steps import GroupRows, steps


def settled_tables(
    method: Deletion,
    network: Network,
    table: EncodedTable,
    statistics: Statistics,
    scopes_of: Mapping[str, tuple[Scope, ...]],
    prior: float,
) -> dict[str, FloatArray]:
    """The CPTs of all families; as the method has them where there is one step.

    Parameters
    ----------
    table, statistics
        The rows, and what the method asks of them.
    scopes_of
        For each variable what rows are grouped by for its family, step by step.
    """
    grouped = cache(partial(group_rows, table))
    found = {}
    for name in network.variables:
        scopes = scopes_of.get(name, ())
        if len(scopes) > 1 and network.family(name) in statistics.reduced:
            joint = _settled(network, name, table, statistics, scopes, grouped)
        else:
            joint = method.joint(network, name, statistics).table
        found[name], _ = posterior_mode(joint, statistics.total, prior)
    return found


def _settled(
    network: Network,
    variable: str,
    table: EncodedTable,
    statistics: Statistics,
    scopes: tuple[Scope, ...],
    grouped: GroupRows,
) -> FloatArray:
    """The joint of one family."""
    family = network.family(variable)
    groups, sizes = statistics.reduced[family], network.shape(family)
    hidden = tuple(one for one in family if table.missing_of[one])
    axes = tuple(axis for axis, one in enumerate(family) if one in hidden)
    shown = statistics.counts[family].dense()
    later = steps(table, hidden, scopes, grouped)[1:]
    open_cells = sum((step.settled(family, sizes) for step in later), np.zeros(sizes))
    share = _given(open_cells, axes, otherwise=_given(shown, axes, np.zeros(sizes)))
    rest = groups.observed - groups.inside.sum(axis=axes, keepdims=True)
    return np.asarray(np.maximum(groups.inside + rest * share, 0.0) / statistics.total)


def _given(cells: FloatArray, axes: tuple[int, ...], otherwise: FloatArray) -> FloatArray:
    """The share of each cell among those that agree on all other axes."""
    total = np.broadcast_to(cells.sum(axis=axes, keepdims=True), cells.shape)
    return np.asarray(np.divide(cells, total, out=otherwise, where=total > 0))
