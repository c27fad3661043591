r"""The missingness graph as a Bayesian network: mechanisms become observed nodes.

Every row says of every variable whether it shows it. So the mechanisms :math:`R_X` are binary
variables that are always observed, and a network with their CPTs added,

.. math::
    \Pr(x, r) = \prod_X \theta(x \mid u) \prod_X \Pr(r_X \mid \mathrm{pa}(R_X)),

is an ordinary Bayesian network with ordinary incomplete data. Maximum likelihood in it is
maximum likelihood under the graph, whether the data are missing at random or not.

*What can be left out.* A mechanism whose parents every row shows (fully observed variables,
other mechanisms) has a family without a missing value: its factor is the same for every
completion of a row, so it changes no expectation. It is ignorable, and left out unless a
mechanism that stays has it as a parent. If all are ignorable the network is the original one.

*Hidden causes.* A bidirected edge is taken in by directed ones: in each set of nodes that are
joined by bidirected edges, in topological order, every mechanism gets as parents the members
before it and their parents (J. Tian and J. Pearl, 2002: any law with hidden causes factorises
so). Nothing is assumed about the hidden cause; independences it implies may be lost, never
gained, so what is identified here is identified in the graph.

*Selection.* R[*] becomes a node too, which is 1 in every row that there is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from lacunet.errors import LacunetError
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.separation.drawing import mechanisms_in
from lacunet.missingness.separation.mixed import reached
from lacunet.model.mechanisms import MISSING, SHOWN
from lacunet.model.network import FloatArray, Network, Scope
from lacunet.model.nodes import SELECTION, Mechanism, Node, named


@dataclass(frozen=True)
class Augmented:
    """A network with mechanisms as nodes.

    ``name_of`` gives the node of each mechanism that was added, by its variable; the states of
    the node are "missing" and "shown". ``ignorable`` are the variables whose mechanisms were
    left out. ``graph`` is the graph without bidirected edges that the network stands for.
    ``selection`` is the node of R[*], if the graph has it.
    """

    network: Network
    graph: MissingnessGraph
    name_of: Mapping[str, str]
    ignorable: Scope
    selection: str = ""


def augmented(
    graph: MissingnessGraph, partially: Scope, leave_out_ignorable: bool = True
) -> Augmented:
    """The network with the graph's mechanisms as observed nodes.

    Parameters
    ----------
    graph
        The missingness graph; CPTs of its network are ignored.
    partially
        The variables that some row does not show.
    leave_out_ignorable
        False keeps the mechanisms that change nothing, for those who want their CPTs.

    Raises
    ------
    LacunetError
        Two variables share a hidden cause: then the network does not hold among them; or R[*] has
        one.

    Examples
    --------
    >>> network = Network({name: ["0", "1"] for name in "XY"}, {"Y": ["X"]})
    >>> graph = MissingnessGraph.parse("Y -> R[X]; R[Y]", network)
    >>> made = augmented(graph, ("X", "Y"))
    >>> made.network.parents("R[X]"), made.ignorable
    (('Y',), ('Y',))
    """
    if any(SELECTION in pair for pair in graph.hidden):
        raise LacunetError(
            "EM has no model of a hidden cause that decides which rows were recorded.",
            "method='mgraph' recovers what such a selection leaves; or give sampling weights.",
        )
    directed = without_hidden_causes(graph)
    kept = directed.partially_observed
    if leave_out_ignorable:
        kept = _not_ignorable(directed, partially)
    network = directed.network
    name_of: dict[str, str] = {}
    for variable in kept:
        name_of[variable] = _free_name(network, Mechanism(variable))

    def nodes(causes: Iterable[Node]) -> Scope:
        return tuple(name_of[n.variable] if isinstance(n, Mechanism) else n for n in causes)

    parents = dict(network.parents_of)
    parents |= {name_of[variable]: nodes(directed.causes[variable]) for variable in kept}
    selection = ""
    if graph.selection is not None:
        selection = _free_name(network, SELECTION)
        parents[selection] = nodes(graph.selection)
    added = (*name_of.values(), *([selection] if selection else []))
    states = dict(network.states_of) | dict.fromkeys(added, (MISSING, SHOWN))
    left_out = tuple(name for name in directed.partially_observed if name not in name_of)
    rules = dict(network.not_asked_of)
    whole = Network(states, parents, not_asked=rules)
    return Augmented(whole, directed, name_of, left_out, selection)


def _free_name(network: Network, mechanism: Mechanism) -> str:
    """A name for the node of a mechanism that no variable has."""
    name = str(mechanism)
    while name in network.states_of:
        name += "'"
    return name


def _not_ignorable(graph: MissingnessGraph, partially: Scope) -> Scope:
    """The variables whose mechanisms look at a missing value, and the mechanisms these need."""
    looking = {name for name, causes in graph.causes.items() if not {*partially}.isdisjoint(causes)}
    start = looking.union(mechanisms_in(graph.selection or ()))
    found = reached(start, lambda name: mechanisms_in(graph.causes[name]))
    return tuple(name for name in graph.partially_observed if name in found)


def without_hidden_causes(graph: MissingnessGraph) -> MissingnessGraph:
    """The graph with its bidirected edges taken in by directed ones.

    Examples
    --------
    >>> network = Network({name: ["0", "1"] for name in "XY"}, {"Y": ["X"]})
    >>> print(without_hidden_causes(MissingnessGraph.parse("Y <-> R[X]; R[Y]", network)))
    X, Y -> R[X]
    R[Y]
    """
    if not graph.hidden:
        return graph
    import networkx as nx

    causes: dict[str, set[Node]] = {name: set(nodes) for name, nodes in graph.causes.items()}
    for district in nx.connected_components(nx.Graph(graph.hidden)):
        variables = [node for node in district if isinstance(node, str)]
        if len(variables) > 1:
            raise LacunetError(
                f"{' and '.join(map(named, sorted(variables)))} share a hidden cause: the "
                "network's CPTs do not describe them.",
                "add the cause to the network as a latent variable, or an edge between them.",
            )
        before: set[Node] = set()
        for name in variables:
            before |= {name, *graph.network.parents(name)}
        for variable in (name for name in graph.in_order if Mechanism(name) in district):
            causes[variable] |= before
            before |= {Mechanism(variable), *graph.causes[variable]}
    return MissingnessGraph(graph.network, causes, selection=graph.selection)


def mechanism_start(made: Augmented, shown_of: Mapping[str, float]) -> dict[str, FloatArray]:
    """CPTs for the mechanisms to start from: the share of rows that show the variable."""
    start = {}
    for variable, name in made.name_of.items():
        shown = shown_of[variable]
        shape = made.network.shape(made.network.parents(name))
        start[name] = np.broadcast_to([1 - shown, shown], (*shape, 2)).copy()
    if made.selection:
        shape = made.network.shape(made.network.parents(made.selection))
        start[made.selection] = np.full((*shape, 2), 0.5)
    return start
