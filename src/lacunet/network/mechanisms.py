"""How values went missing, kept with a network: the CPT of each mechanism, and the graph.

A mechanism is a node with the states "missing" and "shown". Its parents are variables of the
network and other mechanisms, by their nodes' names; `with_nodes` is the network in which all of
them are nodes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter

from lacunet.network.cpt import Cpt
from lacunet.network.errors import NetworkError
from lacunet.network.network import FloatArray, Network, Scope
from lacunet.network.nodes import SELECTION

MISSING = "missing"
SHOWN = "shown"
MECHANISM_STATES = (MISSING, SHOWN)


@dataclass(frozen=True, eq=False)
class Mechanisms:
    """The CPT of each mechanism that was learned, by the variable that it hides; R[*] by "*".

    ``graph`` is the text of the missingness graph, ``latent`` are the variables that it knows no
    data to show.
    """

    graph: str
    cpt_of: Mapping[str, Cpt]
    latent: Scope = ()

    @property
    def name_of(self) -> dict[str, str]:
        """The node of each mechanism, by its variable."""
        return {variable: cpt.child for variable, cpt in self.cpt_of.items()}

    def in_order(self) -> list[str]:
        """The variables, those whose mechanisms are causes before those that they hide."""
        variable_of = {cpt.child: variable for variable, cpt in self.cpt_of.items()}
        among = {
            variable: [variable_of[node] for node in cpt.parents if node in variable_of]
            for variable, cpt in self.cpt_of.items()
        }
        return list(TopologicalSorter(among).static_order())


def with_nodes(network: Network, variables: Collection[str] | None = None) -> Network:
    """The network with its mechanisms as nodes, or the network itself where it has none.

    Parameters
    ----------
    variables
        Those whose mechanisms become nodes; all of them by default.

    Examples
    --------
    >>> import numpy as np
    >>> coin = Network({"Coin": ["0", "1"]}, tables={"Coin": [0.5, 0.5]})
    >>> hides = Cpt("R[Coin]", ("Coin",), np.array([[0.9, 0.1], [0.2, 0.8]]))
    >>> whole = with_nodes(coin.with_mechanisms(Mechanisms("Coin -> R[Coin]", {"Coin": hides})))
    >>> whole.parents("R[Coin]"), whole.states("R[Coin]")
    (('Coin',), ('missing', 'shown'))
    """
    cpt_of = {} if network.mechanisms is None else network.mechanisms.cpt_of
    cpts = [cpt for name, cpt in cpt_of.items() if variables is None or name in variables]
    if not cpts:
        return network
    tables: dict[str, FloatArray] = {cpt.child: cpt.table for cpt in (*network.cpts, *cpts)}
    # It is only asked, not learned again: so its CPTs are full tables, without ties and shapes.
    whole = Network(
        states={**network.states_of, **{cpt.child: (MISSING, SHOWN) for cpt in cpts}},
        parents={**network.parents_of, **{cpt.child: cpt.parents for cpt in cpts}},
        tables=tables,
        cuts=network.cuts_of,
        codes=network.codes_of,
        not_asked=network.not_asked_of,
    )
    return whole.with_support(network.support)


def check_mechanisms(network: Network, mechanisms: Mechanisms) -> None:
    """Refuse mechanisms of other variables, under taken names, or that make no network."""
    names = [cpt.child for cpt in mechanisms.cpt_of.values()]
    for variable in (*mechanisms.cpt_of, *mechanisms.latent):
        if variable != SELECTION.variable:
            network.known(variable)
    if taken := {name for name in names if name in network.states_of or names.count(name) > 1}:
        raise NetworkError(f"mechanisms are called {sorted(taken)}, names that are taken.")
    with_nodes(network._with(mechanisms=mechanisms))
