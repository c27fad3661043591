"""The missingness graph: how values go missing, drawn over a network.

One mechanism ``R[X]`` for each variable X that may be missing; its parents are what decides
whether X is recorded: variables and other mechanisms. A bidirected edge stands for a common
cause that is not in the network. Edges among the variables are those of the network.

K. Mohan, J. Pearl and J. Tian, "Graphical models for inference with missing data", 2013.

What makes a missingness graph: known names, no edge out of a mechanism into a variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from lacunet.missingness.errors import MissingnessGraphError
from lacunet.missingness.separation.category import category, why_category
from lacunet.missingness.separation.mixed import MixedGraph
from lacunet.missingness.text import Statement, parse_statements, write_statements
from lacunet.model.network import Network, Scope
from lacunet.model.nodes import Mechanism, Node

if TYPE_CHECKING:
    import networkx as nx

    from lacunet.data.table import EncodedTable
    from lacunet.missingness.verdict import Verdict


Pair = tuple[Node, Node]


@dataclass(frozen=True, init=False)
class MissingnessGraph:
    """The mechanisms of a network's partially observed variables, and their causes.

    Parameters
    ----------
    network
        Gives the variables and the edges among them.
    causes
        The parents of each mechanism: ``{"Income": ["Age", Mechanism("Job")]}``. The keys are
        the partially observed variables; mechanisms named as parents are added to them.
    hidden
        The pairs of nodes that share a hidden common cause.

    Raises
    ------
    MissingnessGraphError
        What is given is no missingness graph; the message names the nodes.

    Examples
    --------
    >>> network = Network({name: ["0", "1"] for name in "XY"}, {"Y": ["X"]})
    >>> graph = MissingnessGraph.parse("X -> R[Y]; Y -> R[X]", network)
    >>> print(graph)
    Y -> R[X]
    X -> R[Y]
    >>> graph.category()
    'MNAR'
    """

    network: Network
    causes: Mapping[str, tuple[Node, ...]]
    hidden: tuple[Pair, ...]
    mixed: MixedGraph = field(repr=False)

    def __init__(
        self,
        network: Network,
        causes: Mapping[str, Iterable[Node]],
        hidden: Iterable[Pair] = (),
    ) -> None:

        pairs = checked_hidden(network, hidden)
        own = checked_causes(network, causes, pairs)
        parents: dict[Node, Iterable[Node]] = {n: network.parents_of[n] for n in network.variables}
        parents |= {Mechanism(variable): nodes for variable, nodes in own.items()}
        object.__setattr__(self, "network", network)
        object.__setattr__(self, "causes", MappingProxyType(own))
        object.__setattr__(self, "hidden", pairs)
        object.__setattr__(self, "mixed", MixedGraph.of(parents, parents, pairs))

    @classmethod
    def parse(
        cls, text: str, network: Network, source: str = "missingness graph"
    ) -> MissingnessGraph:
        """Read a graph from its text: ``"Age -> R[Income]; R[A] -> R[B]; X <-> R[Y]"``."""
        causes: dict[str, list[Node]] = {}
        hidden: list[Pair] = []
        for statement in parse_statements(text, source):
            for node in (*statement.left, *statement.right):
                if isinstance(node, Mechanism):
                    causes.setdefault(node.variable, [])
            for cause, effect in ((a, b) for a in statement.left for b in statement.right):
                if statement.arrow == "<->":
                    hidden.append((cause, effect))
                elif isinstance(effect, Mechanism):
                    causes[effect.variable].append(cause)
                else:
                    check_edge(network, cause, effect)
        return cls(network, causes, hidden)

    @classmethod
    def read(cls, path: str | Path, network: Network) -> MissingnessGraph:
        """Read a graph from a text file."""
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise MissingnessGraphError.unreadable(str(path), error) from None
        return cls.parse(text, network, source=str(path))

    def write(self, path: str | Path) -> None:
        """Write the graph to a text file."""
        try:
            Path(path).write_text(f"{self}\n", encoding="utf-8")
        except OSError as error:
            raise MissingnessGraphError.unwritable(str(path), error) from None

    def __str__(self) -> str:
        statements = [
            Statement(nodes, "->", (Mechanism(variable),))
            if nodes
            else Statement((Mechanism(variable),), "", ())
            for variable, nodes in self.causes.items()
        ]
        statements += [Statement((one,), "<->", (two,)) for one, two in self.hidden]
        return write_statements(statements)

    def to_networkx(self) -> nx.DiGraph[object]:
        """The graph for networkx: variables, `Mechanism` nodes, and a node for a hidden cause."""
        from lacunet.missingness.exchange import to_networkx

        return to_networkx(self)

    @classmethod
    def from_networkx(cls, graph: nx.DiGraph[object], network: Network) -> MissingnessGraph:
        """Take a graph from networkx; nodes as `to_networkx` makes them, or texts ``"R[X]"``."""
        from lacunet.missingness.exchange import from_networkx

        return from_networkx(graph, network)

    @property
    def partially_observed(self) -> Scope:
        """The variables that have a mechanism, in the network's order."""
        return tuple(self.causes)

    @property
    def fully_observed(self) -> Scope:
        """The variables without a mechanism, in the network's order."""
        return tuple(name for name in self.network.variables if name not in self.causes)

    def category(self) -> str:
        """How the data go missing: "MCAR", "MAR" or "MNAR"."""
        return category(self.mixed)

    def why(self) -> str:
        """The category in words, with the path that rules out the one before."""
        return why_category(self.mixed)

    def recover(self, target: Iterable[str], given: Iterable[str] = ()) -> Verdict:
        """Decide whether P(target | given) can be recovered, and by which estimand."""
        from lacunet.missingness.recover.answers import recover

        return recover(self, target, given)

    def check_network(self, network: Network) -> None:
        """Refuse a network with other variables, states or edges than the graph's own."""
        own = self.network
        if set(own.variables) != set(network.variables):
            raise MissingnessGraphError.other_network("the variables differ")
        for name in own.variables:
            if own.states(name) != network.states(name):
                raise MissingnessGraphError.other_network(f"the states of {name!r} differ")
            if own.parents(name) != network.parents(name):
                raise MissingnessGraphError.other_network(f"the parents of {name!r} differ")

    def check_mechanisms(self, table: EncodedTable, names: Iterable[str]) -> None:
        """Refuse data that miss values of a named variable that has no mechanism."""
        without = [name for name in names if table.missing_of[name] and name not in self.causes]
        if without:
            raise MissingnessGraphError.no_mechanism(without)

    def check_partially(self, partially: Iterable[str]) -> None:
        """Refuse data that miss values of a variable without a mechanism."""
        without = [name for name in partially if name not in self.causes]
        if without:
            raise MissingnessGraphError.no_mechanism(without)

    def check_data(self, table: EncodedTable) -> None:
        """Refuse data whose missing values and mechanisms do not match."""
        self.check_mechanisms(table, table.partially_observed)
        idle = [
            name for name in self.causes if name in table.columns and not table.missing_of[name]
        ]
        if idle:
            raise MissingnessGraphError.never_missing(idle)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MissingnessGraph):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[type[MissingnessGraph], tuple[object, ...]]:
        return MissingnessGraph, (self.network, dict(self.causes), self.hidden)

    def _key(self) -> tuple[object, ...]:
        return self.network, tuple(self.causes.items()), self.hidden


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
