"""What makes a missingness graph: known names, no edge out of a mechanism into a variable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lacunet.missingness.errors import MissingnessGraphError
from lacunet.missingness.nodes import Mechanism, Node
from lacunet.model.network import Network

Pair = tuple[Node, Node]


def checked_node(network: Network, node: object) -> Node:
    """The node itself, if the network knows it; the text ``R[X]`` becomes a mechanism."""
    if isinstance(node, str) and node not in network.states_of:
        node = _from_text(node)
    if not isinstance(node, str | Mechanism):
        raise MissingnessGraphError.strange_node(node)
    name = node.variable if isinstance(node, Mechanism) else node
    if name not in network.states_of:
        where = f"{node}: " if isinstance(node, Mechanism) else ""
        raise MissingnessGraphError.unknown_variable(name, network.variables, where)
    return node


def _from_text(text: str) -> Node:
    from lacunet.missingness.text import parse_statements

    if text.startswith("R[") and text.endswith("]"):
        inner = text[2:-1]
        if not inner.startswith('"'):
            return Mechanism(inner)
        return next(iter(parse_statements(text))).left[0]
    return text


def check_edge(network: Network, cause: Node, effect: Node) -> None:
    """Refuse an edge into a variable, unless it only repeats one of the network."""
    cause, effect = checked_node(network, cause), checked_node(network, effect)
    if isinstance(effect, Mechanism):
        return
    if isinstance(cause, Mechanism):
        raise MissingnessGraphError.into_variable(cause, effect)
    if cause not in network.parents_of[effect]:
        raise MissingnessGraphError.among_variables(cause, effect)


def checked_hidden(network: Network, hidden: Iterable[Pair]) -> tuple[Pair, ...]:
    """The pairs with a hidden common cause, each once, variables before mechanisms."""
    place: dict[Node, int] = {name: at for at, name in enumerate(network.variables)}
    place |= {Mechanism(name): at + len(place) for at, name in enumerate(network.variables)}
    pairs = set()
    for one, two in hidden:
        first, second = checked_node(network, one), checked_node(network, two)
        if first == second:
            raise MissingnessGraphError.self_loop(first)
        pairs.add((first, second) if place[first] < place[second] else (second, first))
    return tuple(sorted(pairs, key=lambda pair: (place[pair[0]], place[pair[1]])))


def checked_causes(
    network: Network, causes: Mapping[str, Iterable[Node]], hidden: tuple[Pair, ...]
) -> dict[str, tuple[Node, ...]]:
    """The parents of every mechanism that is named anywhere, in the network's order."""
    place = {name: at for at, name in enumerate(network.variables)}
    own: dict[str, set[Node]] = {}
    for variable, nodes in causes.items():
        mechanism = checked_node(network, Mechanism(variable))
        parents = {checked_node(network, node) for node in nodes}
        if mechanism in parents:
            raise MissingnessGraphError.self_loop(mechanism)
        own[variable] = parents
    named = [*(node for parents in own.values() for node in parents)]
    named += [node for pair in hidden for node in pair]
    for node in named:
        if isinstance(node, Mechanism):
            own.setdefault(node.variable, set())

    def by_place(node: Node) -> tuple[bool, int]:
        is_mechanism = isinstance(node, Mechanism)
        return is_mechanism, place[node.variable if isinstance(node, Mechanism) else node]

    ordered = {
        variable: tuple(sorted(own[variable], key=by_place))
        for variable in network.variables
        if variable in own
    }
    _check_acyclic(ordered)
    return ordered


def _check_acyclic(causes: Mapping[str, tuple[Node, ...]]) -> None:
    from graphlib import CycleError, TopologicalSorter

    among = {
        Mechanism(variable): [node for node in nodes if isinstance(node, Mechanism)]
        for variable, nodes in causes.items()
    }
    try:
        tuple(TopologicalSorter(among).static_order())
    except CycleError as error:
        raise MissingnessGraphError.cycle(error.args[1][:-1]) from None
