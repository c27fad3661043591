r"""Rows as a network with mechanisms sees them: what is missing is evidence too.

Where values went missing by mechanisms that look at missing values, the posterior of a missing
cell is :math:`\Pr(x \mid \text{shown}, r)`, not :math:`\Pr(x \mid \text{shown})`: the row's own
pattern says something about what it hides. So every mechanism is a node, and every row shows it.
Only a variable that has no column at all was not hidden by its mechanism.

Completions are right if the graph identifies the *full law* :math:`\Pr(x, r)`; the law of the
variables alone does not do (R. Nabi, R. Bhattacharya and I. Shpitser, 2020).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from lacunet.data.skips import by_rules, skips_of
from lacunet.data.table import Codes, EncodedTable
from lacunet.inference.joint import codes_seen
from lacunet.model.mechanisms import MISSING, SHOWN, with_nodes
from lacunet.model.network import Network


def rows_with_mechanisms(
    network: Network, table: EncodedTable, absent: Collection[str] = ()
) -> tuple[Network, EncodedTable]:
    """The network with its mechanisms as nodes, and the rows that show them.

    Parameters
    ----------
    table
        Rows of the network's variables, each cell missing where its mechanism hides it.
    absent
        Variables that the data have no column for: their mechanisms are not shown either.
    """
    whole = with_nodes(network)
    if network.mechanisms is None or whole is network:
        return network, table
    columns = dict(table.columns)
    for variable, name in network.mechanisms.name_of.items():
        is_shown = table.columns[variable] < table.cardinality_of[variable]
        codes = np.full(table.rows, 2) if variable in absent else is_shown
        columns[name] = codes.astype(np.uint8)
    cardinality_of = {
        **table.cardinality_of,
        **dict.fromkeys(network.mechanisms.name_of.values(), 2),
    }
    return whole, table.with_columns(cardinality_of, columns)


def evidence_with_mechanisms(
    network: Network,
    row: Mapping[str, object],
    shown: Mapping[str, object],
    unseen: Collection[str] = (),
) -> Mapping[str, object]:
    """What one row shows, its mechanisms included.

    What was not asked is shown: its mechanism did not hide it.

    Parameters
    ----------
    row
        A value for each column, missing or not.
    shown
        What counts as evidence of the variables themselves.
    unseen
        Variables that are missing to the rules of what was not asked.
    """
    if network.mechanisms is None:
        return shown
    seen = codes_seen(network, row)
    skipped = _not_asked(network, seen, unseen)
    states = {
        name: SHOWN if variable in seen or variable in skipped else MISSING
        for variable, name in network.mechanisms.name_of.items()
        if variable in row
    }
    return {**shown, **skipped, **states}


def _not_asked(
    network: Network, seen: Mapping[str, int], unseen: Collection[str]
) -> dict[str, str]:
    """The state of each variable that one row does not show, and was not asked about."""
    if not network.not_asked_of:
        return {}
    sizes = network.cardinality_of
    columns: dict[str, Codes] = {
        name: np.array([seen.get(name, size)], np.uint16) for name, size in sizes.items()
    }
    found = by_rules(skips_of(network, {}), columns, unseen)
    return {
        name: rule.state
        for name, rule in network.not_asked_of.items()
        if name not in seen and found[name][0] < sizes[name]
    }
