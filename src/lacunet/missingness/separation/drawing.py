r"""Mechanisms drawn over a network: the checked value under every missingness graph.

Known names, no edge out of a mechanism into a variable, no cycle among the mechanisms. The
searches and the separators work on this value; `lacunet.missingness.graph` has the public
class on top of it.

A question that was not asked counts as shown. So the variables of its rule decide on whether a
value is shown, and they are causes of its mechanism in every graph of a network with rules. So are
their own mechanisms, if they have any and the graph does not say the reverse: where a row misses
such a variable, nobody knows whether the question was asked, and what was not asked is missing.

MCAR, MAR and MNAR are read off the graph by d-separation.

With :math:`X_o` the always observed and :math:`X_m` the partially observed variables,

.. math::
    \text{MCAR: } (X_o, X_m) \perp R, \qquad \text{MAR: } X_m \perp R \mid X_o,

and everything else is MNAR. These are the variable-level definitions of the paper.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from graphlib import CycleError, TopologicalSorter
from types import MappingProxyType
from typing import Any, Self

from lacunet.counts.distinct_rows import Rows, distinct_rows
from lacunet.counts.observations import whole_table
from lacunet.data.table import whole_rows
from lacunet.missingness.errors import (
    AgainstGraphError,
    MissingnessGraphError,
    without_mechanism,
)
from lacunet.missingness.graph_text import parse_statements
from lacunet.missingness.separation.mixed import MixedGraph, project_out, reachable
from lacunet.network.formats.files import AnyNetwork, as_network
from lacunet.network.network import Network, Scope
from lacunet.network.nodes import SELECTION, Mechanism, Node, node_text, quoted, variable_of
from lacunet.text import counted, listed

Pair = tuple[Node, Node]
MechanismOrder = tuple[str, str]  # R[first] <= R[second]: the first is shown only with the second


@dataclass(frozen=True, init=False)
class Drawing:
    """A network, and what decides on which of its values rows show."""

    network: Network
    causes: Mapping[str, tuple[Node, ...]]  # of the mechanism of each partially observed variable
    hidden: tuple[Pair, ...]  # pairs of nodes with a hidden common cause
    latent: Scope  # variables that no data ever show
    selection: tuple[Node, ...] | None  # causes of R[*]; None if every row was recorded
    monotone: tuple[MechanismOrder, ...]  # which variable is shown only where which other is
    mixed: MixedGraph = field(repr=False)  # all but the latent ones, which became hidden causes

    def __init__(
        self,
        network: AnyNetwork,
        causes: Mapping[str, Node | Iterable[Node]] | None = None,
        hidden: Iterable[Pair] = (),
        latent: Collection[str] = (),
        selection: Iterable[Node] | None = None,
        monotone: Iterable[MechanismOrder] = (),
    ) -> None:
        if causes is None and (hidden or selection is not None or monotone):
            causes = {}
        of_variables = _checked_mapping(causes)
        network = as_network(network)
        nodes: list[Node] = [*network.variables, *map(Mechanism, network.variables), SELECTION]
        rank_of = {node: rank for rank, node in enumerate(nodes)}

        pairs = _checked_hidden(network, hidden, rank_of)
        orders = tuple(sorted({*monotone}))
        named_causes: dict[Mechanism, list[Node]] = {
            Mechanism(name): [nodes] if isinstance(nodes, str | Mechanism) else [*nodes]
            for name, nodes in of_variables.items()
        }
        for later, earlier in orders:  # R[later] <= R[earlier] is an edge with zeros
            named_causes.setdefault(Mechanism(later), []).append(Mechanism(earlier))
        if selection is not None:
            named_causes[SELECTION] = [*selection]
        causes_of = _checked_causes(network, named_causes, pairs, rank_of)
        unseen = {checked_node(network, name) for name in latent}

        mixed = _searched_graph(network, causes_of, pairs, orders, unseen)
        causes_of_selection = causes_of.pop(SELECTION, None)
        vars(self).update(  # the class is frozen, as are all values
            network=network,
            causes=MappingProxyType({variable_of(m): nodes for m, nodes in causes_of.items()}),
            hidden=pairs,
            latent=tuple(name for name in network.variables if name in unseen),
            selection=causes_of_selection,
            monotone=orders,
            mixed=mixed,
        )

    @property
    def parts(self) -> dict[str, Any]:
        """What the graph is made from, by the names of its parameters."""
        names = ("network", "causes", "hidden", "latent", "selection", "monotone")
        return {name: getattr(self, name) for name in names} | {"causes": dict(self.causes)}

    def with_parts(self, **parts: Any) -> Self:
        """The same graph, but for some of its parts."""
        return type(self)(**self.parts | parts)

    @property
    def causes_of(self) -> dict[Mechanism, tuple[Node, ...]]:
        """The causes of every mechanism, R[*] among them."""
        causes = {Mechanism(name): nodes for name, nodes in self.causes.items()}
        if self.selection is not None:
            causes[SELECTION] = self.selection
        return causes

    @property
    def in_order(self) -> tuple[str, ...]:
        """The variables that have a mechanism, those of a mechanism's parents before its own."""
        among = {name: mechanisms_in(nodes) for name, nodes in self.causes.items()}
        return tuple(TopologicalSorter(among).static_order())

    @property
    def partially_observed(self) -> Scope:
        """The variables that have a mechanism, in the network's order."""
        return tuple(self.causes)

    @property
    def fully_observed(self) -> Scope:
        """The variables without a mechanism, in the network's order."""
        hidden = {*self.causes, *self.latent}
        return tuple(name for name in self.network.variables if name not in hidden)

    def shown_with(self, variable: str) -> frozenset[str]:
        """The other variables that every row shows which shows this one, by the orders.

        What they are matters to its mechanism only where they are shown.
        """

        def before(name: str) -> list[str]:
            return [earlier for later, earlier in self.monotone if later == name]

        return reachable(before(variable), before)

    def category(self) -> str:
        """How the data go missing: "MCAR", "MAR" or "MNAR"."""
        return self.why().partition(":")[0]

    def why(self) -> str:
        """The category in words, with the path that rules out the one before."""
        graph = self.mixed
        to_mechanism = graph.open_path(graph.variables, graph.mechanisms, ())
        observed = [name for name in graph.variables if Mechanism(name) not in graph.parents]
        others = [name for name in graph.variables if name not in observed]
        around = graph.open_path(others, graph.mechanisms, observed)
        if to_mechanism is None:
            words = "MCAR: no path leads from a variable to a mechanism."
        elif around is None:
            words = (
                f"MAR: the path {graph.in_words(to_mechanism)} rules out MCAR, and the always "
                "observed variables block every path from a partially observed variable to a "
                "mechanism."
            )
        else:
            words = (
                f"MNAR: the path {graph.in_words(around)} joins a partially observed variable to a "
                "mechanism, and no always observed variable blocks it."
            )
        if graph.selection:
            causes = [*map(node_text, graph.sorted(graph.parents[SELECTION]))] or ["chance"]
            verb = "decides" if len(causes) == 1 else "decide"
            words += f" Rows are a selection: {', '.join(causes)} {verb} which are recorded."
        return words

    def over(self, network: Network) -> Self:
        """The same graph with the rules of a network that has the same variables and edges.

        Raises
        ------
        MissingnessGraphError
            The network has other variables, states or edges than the graph's own.
        """
        expected = self.network
        if set(expected.variables) != set(network.variables):
            problems = ["the variables differ"]
        else:
            problems = [
                f"the {part} of {name!r} differ"
                for name in expected.variables
                for part in ("states", "parents")
                if getattr(expected, part)(name) != getattr(network, part)(name)
            ]
        if problems:
            raise MissingnessGraphError(
                f"the missingness graph was made for another network: {problems[0]}.",
                "make it again, with the network that is learned.",
            )
        # Of a rule only its scope is part of the graph: these variables are causes of a mechanism.
        scopes = {name: rule.scope for name, rule in network.not_asked_of.items()}
        known = {name: rule.scope for name, rule in expected.not_asked_of.items()}
        if scopes == known:
            return self
        return self.with_parts(network=network)

    def orders(self, columns: Collection[str]) -> tuple[MechanismOrder, ...]:
        """The orders R[later] <= R[earlier] that rows can contradict where these columns are read.

        Where the later one is not read, such rows look like all others that miss the earlier one.
        """
        return tuple(
            (later, earlier)
            for later, earlier in self.monotone
            if later in columns and earlier not in self.latent
        )

    def check_data(self, data: Any) -> tuple[str, ...]:
        """Refuse missing values without a mechanism; notes on what else does not fit the graph."""
        table = whole_table(data, self.network)
        notes = self.check_partially(table.partially_observed, table.variables)
        orders = self.orders(table.variables)
        against = _against({order: distinct_rows(table, order) for order in orders})
        return (*notes, *(error.message.removesuffix(".") for error in against))

    def check_partially(
        self, partially: Collection[str], variables: Iterable[str]
    ) -> tuple[str, ...]:
        """The same from the names of the variables that the data miss values of."""
        if unknown := [name for name in partially if name not in {*self.causes, *self.latent}]:
            raise without_mechanism(unknown)
        idle = [n for n in variables if n in self.causes and n not in {*partially, *self.latent}]
        if not idle:
            return ()
        return (f"the data show every value of {listed(idle)}, which the graph lets go missing",)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Drawing) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[object, ...]:
        return partial(type(self), **self.parts), ()

    def _key(self) -> tuple[object, ...]:
        parts = (self.network, self.hidden, self.latent, self.selection, self.monotone)
        return (*parts, tuple(self.causes.items()))


def check_orders(orders: Iterable[MechanismOrder], distinct: Mapping[Scope, Rows]) -> None:
    """Refuse rows that a graph says do not exist: no model of it has them.

    Raises
    ------
    AgainstGraphError
        With the number of such rows, and what to write if they are right.
    """
    for error in _against({order: distinct[order] for order in orders}):
        raise error


def _against(rows_of: Mapping[MechanismOrder, Rows]) -> Iterator[AgainstGraphError]:
    for (later, earlier), rows in rows_of.items():
        is_against = rows.is_shown([later]) & ~rows.is_shown([earlier]) & (rows.weights > 0)
        if number := whole_rows(float(rows.counts[is_against].sum())):
            yield AgainstGraphError(
                f"the graph says {Mechanism(later)} <= {Mechanism(earlier)}, but "
                f"{counted(number, 'row shows', 'rows show')} {later!r} and not {earlier!r}.",
                f"if that may be, write {Mechanism(earlier)} -> {Mechanism(later)}.",
            )


def checked_node(network: Network, node: object) -> Node:
    """The node itself, if the network knows it; the text ``R[X]`` becomes a mechanism."""
    if isinstance(node, str) and node not in network.states_of and node.startswith("R["):
        inner = node[2:-1]
        is_quoted = inner.startswith('"')
        node = next(parse_statements(node)).left[0] if is_quoted else Mechanism(inner)
    if node == SELECTION:
        return SELECTION
    if not isinstance(node, str | Mechanism):
        raise MissingnessGraphError(
            f"the node {node!r} is neither a variable of the network nor a mechanism.",
            "give mechanisms as Mechanism('X') or as the text 'R[X]'.",
        )
    name = variable_of(node)
    if name not in network.states_of:
        where = f"{node}: " if isinstance(node, Mechanism) else ""
        raise MissingnessGraphError.unknown_variable(name, network.variables, where)
    return node


def check_edge(network: Network, cause: Node, effect: str) -> None:
    """Refuse an edge into a variable, unless it only repeats one of the network."""
    for node in (cause, effect):
        checked_node(network, node)
    edge = f"{node_text(cause)} -> {quoted(effect)}"
    if isinstance(cause, Mechanism):
        raise MissingnessGraphError(
            f"{edge}: a mechanism cannot cause a variable of the network.",
            "whether a value was recorded does not change the value; if both share a "
            f"cause that is not in the network, write {quoted(effect)} <-> {cause}.",
        )
    if cause not in network.parents_of[effect]:
        raise MissingnessGraphError(
            f"{edge}: edges among the variables come from the network, and it has no such edge.",
            f"if a value of {effect!r} goes missing because of {cause!r}, write "
            f"{quoted(cause)} -> {Mechanism(effect)}.",
        )


def mechanisms_in(nodes: Iterable[Node]) -> list[str]:
    """The variables of the mechanisms among some nodes."""
    return [node.variable for node in nodes if isinstance(node, Mechanism)]


def _self_loop(node: Node) -> MissingnessGraphError:
    return MissingnessGraphError(f"{node_text(node)} has an edge to itself.")


def _checked_mapping(
    causes: Mapping[str, Node | Iterable[Node]] | None,
) -> Mapping[str, Node | Iterable[Node]]:
    """The causes of mechanisms, refused if they are no mapping, or have those of R[*]."""
    if not isinstance(causes, Mapping):
        raise MissingnessGraphError(
            f"causes is {causes!r}, but must be a mapping of variables to causes.",
            "lacunet.MissingnessGraph.parse('A -> R[B]; B -> R[C]', network) reads a text.",
        )
    if SELECTION.variable in causes:
        raise MissingnessGraphError(
            "R[*] is whether a row was recorded, not the mechanism of a variable.",
            "give its causes as selection=[...]; rename a variable that is called '*'.",
        )
    return causes


def _searched_graph(
    network: Network,
    causes_of: Mapping[Node, tuple[Node, ...]],
    hidden: tuple[Pair, ...],
    orders: Sequence[MechanismOrder],
    unseen: Collection[Node],
) -> MixedGraph:
    """The graph that searches work on: what no row shows, and its mechanisms, is projected out."""
    parents: dict[Node, tuple[Node, ...]] = {n: network.parents(n) for n in network.variables}
    monotone = [(Mechanism(later), Mechanism(earlier)) for later, earlier in orders]
    whole = MixedGraph.of({**parents, **causes_of}, hidden, monotone=monotone)
    gone = [node for node in whole.order if node in unseen or variable_of(node) in unseen]
    mixed = reduce(project_out, gone, whole)
    return replace(mixed, partial=mixed.partial - {*unseen})


def _checked_hidden(
    network: Network, hidden: Iterable[Pair], rank_of: Mapping[Node, int]
) -> tuple[Pair, ...]:
    """The pairs with a hidden common cause, each once, variables before mechanisms."""
    pairs = set()
    for left, right in hidden:
        first = checked_node(network, left)
        second = checked_node(network, right)
        if first == second:
            raise _self_loop(first)
        pairs.add((first, second) if rank_of[first] < rank_of[second] else (second, first))
    return tuple(sorted(pairs, key=lambda pair: (rank_of[pair[0]], rank_of[pair[1]])))


def _checked_causes(
    network: Network,
    causes: Mapping[Mechanism, Iterable[Node]],
    hidden: tuple[Pair, ...],
    rank_of: Mapping[Node, int],
) -> dict[Node, tuple[Node, ...]]:
    """The parents of every mechanism that is named anywhere, in the network's order.

    In ``causes``, among them, in a hidden pair, or in the rule of a question that was not asked.
    """
    causes_of: dict[Mechanism, set[Node]] = {}
    for mechanism, nodes in causes.items():
        checked_node(network, mechanism)
        causes_of[mechanism] = {checked_node(network, node) for node in nodes}
        if mechanism in causes_of[mechanism]:
            raise _self_loop(mechanism)
        if SELECTION in causes_of[mechanism]:
            raise MissingnessGraphError(
                f"R[*] -> {mechanism}: every row that there is was recorded, so this says nothing.",
                f"write what decides on both, as in A -> R[*]; A -> {mechanism}.",
            )
    mentioned = [node for nodes in [*causes_of.values(), *hidden] for node in nodes]
    for node in mentioned:
        if isinstance(node, Mechanism):
            causes_of.setdefault(node, set())
    for mechanism in map(Mechanism, network.not_asked_of):
        if mechanism in causes_of:
            causes_of[mechanism] |= _causes_by_rule(network, mechanism, causes_of)
    ordered: dict[Node, tuple[Node, ...]] = {
        mechanism: tuple(sorted(causes_of[mechanism], key=rank_of.__getitem__))
        for mechanism in sorted(causes_of, key=rank_of.__getitem__)
    }
    try:
        TopologicalSorter(ordered).prepare()
    except CycleError as error:
        path = " -> ".join(map(node_text, error.args[1]))
        raise MissingnessGraphError(f"the mechanisms form a cycle: {path}.") from None
    return ordered


def _causes_by_rule(
    network: Network, mechanism: Mechanism, causes: Mapping[Mechanism, Collection[Node]]
) -> set[Node]:
    """What decides on whether a question was asked, and whether that is known."""
    scope = network.not_asked_of[mechanism.variable].scope

    def above(node: Mechanism) -> list[Mechanism]:
        return [cause for cause in causes[node] if isinstance(cause, Mechanism)]

    known = (m for m in map(Mechanism, scope) if m in causes)
    return {*scope, *(m for m in known if mechanism not in reachable([m], above))}
