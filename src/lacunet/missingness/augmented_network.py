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

So is a mechanism whose parents are shown wherever it may be 1, as after dropout: where the graph
says :math:`R_B \le R_A`, a row that hides :math:`A` hides :math:`B`, whatever :math:`A` is there.

*Hidden causes.* A bidirected edge is taken in by directed ones: in each set of nodes that are
joined by bidirected edges, in topological order, every mechanism gets as parents the members
before it and their parents (J. Tian and J. Pearl, 2002: any law with hidden causes factorises
so). Nothing is assumed about the hidden cause; independences it implies may be lost, never
gained, so what is identified here is identified in the graph.

*Selection.* R[*] becomes a node too, which is 1 in every row that there is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lacunet.errors import LacunetError
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.separation.drawing import Drawing, mechanisms_in
from lacunet.missingness.separation.mixed import reachable
from lacunet.network.mechanisms import MISSING, SHOWN
from lacunet.network.network import FloatArray, Network, Scope
from lacunet.network.nodes import SELECTION, Mechanism, Node, node_text
from lacunet.network.waves import in_time


@dataclass(frozen=True)
class Augmented:
    """A network with mechanisms as nodes."""

    network: Network
    graph: MissingnessGraph  # without bidirected edges: what the network stands for
    # The node of each mechanism that was added, by its variable; its states are "missing" and
    # "shown".
    name_of: Mapping[str, str]
    ignorable: Scope  # the variables whose mechanisms were left out
    selection: str = ""  # the node of R[*], if the graph has it


def augment(
    graph: MissingnessGraph,
    partially: Scope,
    leave_out_ignorable: bool = True,
    kept: Collection[str] = (),
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
    kept
        The variables whose mechanisms stay in any case.

    Raises
    ------
    LacunetError
        Two variables share a hidden cause: then the network does not hold among them; or R[*] has
        one.

    Examples
    --------
    >>> network = Network({name: ["0", "1"] for name in "XY"}, {"Y": ["X"]})
    >>> graph = MissingnessGraph.parse("Y -> R[X]; R[Y]", network)
    >>> extended = augment(graph, ("X", "Y"))
    >>> extended.network.parents("R[X]"), extended.ignorable
    (('Y',), ('Y',))
    """
    directed = without_hidden_causes(graph)
    ignorable = _ignorable(directed, partially, kept) if leave_out_ignorable else ()
    network = directed.network
    causes_of = {m: nodes for m, nodes in directed.causes_of.items() if m.variable not in ignorable}
    node_of = {mechanism: _free_name(network, mechanism) for mechanism in causes_of}
    parents = dict(network.parents_of)
    for mechanism, causes in causes_of.items():
        nodes = (node_of[n] if isinstance(n, Mechanism) else n for n in causes)
        parents[node_of[mechanism]] = tuple(nodes)
    states = dict(network.states_of) | dict.fromkeys(node_of.values(), (MISSING, SHOWN))
    whole = Network(
        states,
        parents,
        cuts=network.cuts_of,
        codes=network.codes_of,
        not_asked=network.not_asked_of,
    )
    whole = whole.with_ties([*network.tied, *_tied_nodes(whole, network, node_of)])
    whole = whole.with_shapes(network.shapes_of)
    selection = node_of.pop(SELECTION, "")
    name_of = {mechanism.variable: node for mechanism, node in node_of.items()}
    return Augmented(
        network=whole, graph=directed, name_of=name_of, ignorable=ignorable, selection=selection
    )


def _tied_nodes(
    whole: Network, network: Network, node_of: Mapping[Mechanism, str]
) -> Iterator[tuple[str, ...]]:
    """The nodes of mechanisms of tied variables, where their causes are tied variables as well."""
    variable_of = {node: mechanism.variable for mechanism, node in node_of.items()}

    def role(cause: str) -> tuple[bool, str | None]:
        """What a cause is to a mechanism; of a panel, the same variable in whatever wave."""
        variable = variable_of.get(cause, cause)
        in_panel = in_time(variable)
        name = network.head_of.get(variable) if in_panel.wave is None else in_panel.name
        return cause in variable_of, name

    alike: dict[tuple[Any, ...], list[str]] = {}
    for node, variable in variable_of.items():
        key = (network.head_of.get(variable), tuple(map(role, whole.parents(node))))
        alike.setdefault(key, []).append(node)
    if network.tied:
        yield from (tuple(nodes) for nodes in alike.values() if len(nodes) > 1)


def _free_name(network: Network, mechanism: Mechanism) -> str:
    """A name for the node of a mechanism that no variable has."""
    name = str(mechanism)
    while name in network.states_of:
        name += "'"
    return name


def _ignorable(graph: MissingnessGraph, partially: Scope, kept: Collection[str]) -> Scope:
    """All but the variables whose mechanisms look at a missing value, and those that these need."""
    looking = {name for name in graph.causes if looks_at_hidden(graph, name, partially)}
    start = looking.union(mechanisms_in(graph.selection or ()), kept)
    needed = reachable(start, lambda name: mechanisms_in(graph.causes[name]))
    return tuple(name for name in graph.partially_observed if name not in needed)


def looks_at_hidden(graph: Drawing, name: str, partially: Collection[str]) -> bool:
    """Whether a mechanism has a cause that some row hides where it can matter."""
    hidden = {*partially} & {*graph.causes[name]}
    return not hidden <= graph.shown_with(name)


def without_hidden_causes(graph: MissingnessGraph) -> MissingnessGraph:
    """The graph with its bidirected edges taken in by directed ones.

    Raises
    ------
    LacunetError
        Two variables share a hidden cause, or R[*] has one.

    Examples
    --------
    >>> network = Network({name: ["0", "1"] for name in "XY"}, {"Y": ["X"]})
    >>> print(without_hidden_causes(MissingnessGraph.parse("Y <-> R[X]; R[Y]", network)))
    X, Y -> R[X]
    R[Y]
    """
    if not graph.hidden:
        return graph
    if any(SELECTION in pair for pair in graph.hidden):
        raise LacunetError(
            "EM has no model of a hidden cause that decides which rows were recorded.",
            "method='mgraph' recovers what such a selection leaves; or give sampling weights.",
        )
    import networkx as nx

    causes: dict[str, set[Node]] = {name: set(nodes) for name, nodes in graph.causes.items()}
    for district in nx.connected_components(nx.Graph(graph.hidden)):
        variables = [node for node in district if isinstance(node, str)]
        if len(variables) > 1:
            raise LacunetError(
                f"{' and '.join(map(node_text, sorted(variables)))} share a hidden cause, of which "
                "EM has no model.",
                "method='mgraph' (--method mgraph) takes it; or add the cause to the network as a "
                "latent variable, or draw an edge in its place.",
            )
        before: set[Node] = set()
        for name in variables:
            before |= {name, *graph.network.parents(name)}
        for variable in (name for name in graph.in_order if Mechanism(name) in district):
            causes[variable] |= before
            before |= {Mechanism(variable), *graph.causes[variable]}
    return graph.with_parts(causes=causes, hidden=())


def mechanism_start(extended: Augmented, shown_of: Mapping[str, float]) -> dict[str, FloatArray]:
    """CPTs for the mechanisms to start from: the share of rows that show the variable."""
    share_of = {name: shown_of[variable] for variable, name in extended.name_of.items()}
    if extended.selection:
        share_of |= {extended.selection: 0.5}
    start = {}
    for name, shown in share_of.items():
        shape = extended.network.shape(extended.network.family(name))
        start[name] = np.broadcast_to([1 - shown, shown], shape).copy()
    return start
