r"""Rows as a network with mechanisms sees them: what is missing is evidence too.

Where values went missing by mechanisms that look at missing values, the posterior of a missing
cell is :math:`\Pr(x \mid \text{shown}, r)`, not :math:`\Pr(x \mid \text{shown})`: the row's own
pattern says something about what it hides. So every mechanism is a node, and every row shows it.
Only a variable that has no column at all was not hidden by its mechanism. Where rows are a
selection, those that are completed were recorded, and R[*] says so.

A mechanism whose causes a row shows has the same probability whatever the row misses. It says
nothing there, unless a mechanism that does has it as a cause; and it cannot make a row impossible.
Nor does an empty cell say that its mechanism hid it where the question may not have been asked:
what its rule looks at is not evidence, and was not missing when the mechanism was learned.

Completions are right if the graph identifies the *full law* :math:`\Pr(x, r)`; the law of the
variables alone does not do (R. Nabi, R. Bhattacharya and I. Shpitser, 2020).
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.network.mechanisms import Mechanisms, with_nodes
from lacunet.network.network import Mask, Network


def rows_with_mechanisms(
    network: Network,
    table: EncodedTable,
    absent: Collection[str] = (),
    unseen: Collection[str] = (),
    *,
    whole: Network | None = None,
) -> tuple[Network, EncodedTable]:
    """The network with the mechanisms that say something as nodes, and the rows that show them.

    Parameters
    ----------
    table
        Rows of the network's variables, each cell missing where its mechanism hides it.
    absent
        Variables that the data have no column for: their mechanisms are not shown either.
    unseen
        Variables that are not evidence, whether a row shows them or not.
    whole
        The network with all its mechanisms as nodes, if it was made before; then it is used, and
        those that say nothing are missing.
    """
    if network.mechanisms is None:
        return network, table

    def is_shown(name: str) -> Mask | bool:
        if name not in table.columns:  # R[*]: the rows there are were recorded
            return np.ones(table.rows, dtype=bool)
        return table.columns[name] < table.cardinality_of[name]

    masks = _tell(network.mechanisms, absent, lambda v: v in unseen or np.logical_not(is_shown(v)))
    tells = {variable: mask for variable, mask in masks.items() if np.any(mask)}
    if whole is None:
        whole = with_nodes(network, tells)
    if whole is network:
        return network, table
    columns = dict(table.columns)
    nodes = network.mechanisms.name_of
    for variable, node in nodes.items():
        if variable not in tells and node in whole.states_of:
            columns[node] = np.full(table.rows, 2, np.uint8)
    for variable, where in tells.items():
        codes = np.where(variable in absent, 2, np.asarray(is_shown(variable), int))
        codes[(codes == 0) & _may_be_unasked(network, variable, absent, unseen, is_shown)] = 2
        if not network.mechanisms.cpt_of[variable].table.all():  # a factor above zero does no harm
            codes[~np.broadcast_to(where, codes.shape)] = 2
        columns[nodes[variable]] = codes.astype(np.uint8)
    added = {node: 2 for node in nodes.values() if node in columns}
    return whole, table.with_columns({**table.cardinality_of, **added}, columns)


def _may_be_unasked(
    network: Network,
    variable: str,
    absent: Collection[str],
    unseen: Collection[str],
    is_shown: Callable[[str], Mask | bool],
) -> Mask | bool:
    """In which rows a cell that is empty may be one that was not asked.

    That is where the rule looks at a variable that is not evidence. But a row may miss that
    variable as rows did from which the mechanism was learned: if this is among the causes of the
    mechanism, its CPT has what was not asked there.
    """
    mechanisms = network.mechanisms
    rule = network.not_asked_of.get(variable)
    assert mechanisms is not None
    unasked: Mask | bool = False
    for name in () if rule is None else rule.scope:
        node = mechanisms.name_of.get(name)
        if name in absent or node not in mechanisms.cpt_of[variable].parents:
            unasked = unasked | (name in unseen) | np.logical_not(is_shown(name))
        elif name in unseen:
            unasked = unasked | is_shown(name)
    return unasked


def _tell(
    mechanisms: Mechanisms, absent: Collection[str], is_hidden: Callable[[str], Mask | bool]
) -> dict[str, Mask | bool]:
    """In which rows each mechanism says something about what they miss, by its variable.

    Parameters
    ----------
    is_hidden
        In which rows the value of a variable is not evidence.
    """
    cpt_of = mechanisms.cpt_of
    variable_of = {cpt.child: variable for variable, cpt in cpt_of.items()}
    tells: dict[str, Mask | bool] = dict.fromkeys(cpt_of, False)
    for variable in reversed(mechanisms.in_order()):  # effects before their causes
        for cause in cpt_of[variable].parents:
            other = variable_of.get(cause)
            if variable not in absent:
                hidden = is_hidden(cause) if other is None else other in absent
                tells[variable] = tells[variable] | hidden
        for cause in cpt_of[variable].parents:
            if (other := variable_of.get(cause)) is not None:
                tells[other] = tells[other] | tells[variable]
    return tells
