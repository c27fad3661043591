"""A network with its mechanisms as one text, as a drawing, and with the verdicts on it.

.. code-block:: text

    Age -> Income            # an edge of the network
    Age -> R[Income]         # what decides whether Income is recorded
    Sex                      # a variable without edges
    Health <-> R[Income]     # a hidden common cause
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lacunet.errors import LacunetError
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.graph_text import Statement, parse_statements, write_statements
from lacunet.missingness.verdict import Verdict
from lacunet.network.dictionary import NOT_ASKED, mentions
from lacunet.network.network import Network, Scope
from lacunet.network.nodes import SELECTION, Mechanism, node_text
from lacunet.show.pages.live_network import drawing
from lacunet.show.plain_values import plain_attributes
from lacunet.text import in_quotes

SKETCH_WIDTHS = (800, 340)  # a drawing for each of these widths
UNKNOWN_STATES = ("0", "1")  # of a variable that no data show: any two


@dataclass(frozen=True)
class Sketch:
    """What a text draws: the variables in order, the network's edges, and all other statements.

    ``rules`` has, for each variable whose question was not asked of all, what decides on that.
    """

    variables: Scope
    edges: tuple[tuple[str, str], ...]
    mechanisms: tuple[Statement, ...]
    rules: Mapping[str, Scope] = field(default_factory=dict)

    def with_rules(self, not_asked: Mapping[str, str], columns: Collection[str] = ()) -> Sketch:
        """The sketch with the rules of a project; ``columns`` are more names that they may use."""
        names = dict.fromkeys((*self.variables, *columns))
        rules = {
            name: tuple(other for other in names if other != name and mentions(rule, other))
            for name, rule in not_asked.items()
            if name in self.variables
        }
        return replace(self, rules=rules)

    @property
    def lacking(self) -> list[tuple[str, str]]:
        """The edges that rules need and that are not drawn: who is asked depends on them."""
        needed = [(cause, name) for name, causes in self.rules.items() for cause in causes]
        return [edge for edge in needed if edge not in self.edges]

    @property
    def parents_of(self) -> dict[str, list[str]]:
        """The parents of each variable that has any."""
        parents: dict[str, list[str]] = {}
        for tail, head in self.edges:
            parents.setdefault(head, []).append(tail)
        return parents

    @property
    def edges_text(self) -> str:
        """The network's part, as edges are typed; lone variables by their names."""
        joined = {name for edge in self.edges for name in edge}
        lines = [_for_edges(name) for name in self.variables if name not in joined]
        for child, parents in self.parents_of.items():
            lines.append(f"{', '.join(map(_for_edges, parents))} -> {_for_edges(child)}")
        return "; ".join(lines)

    @property
    def edges_typed(self) -> str:
        """The network's part in place of a network; a single name would be that of one."""
        text = self.edges_text
        return text if self.edges or ";" in text else f"{text};"

    @property
    def mechanisms_text(self) -> str:
        """The missingness graph, as ``--missingness`` takes it; empty where there is none."""
        return "; ".join(write_statements(list(self.mechanisms)).splitlines())

    @property
    def hidden_causes(self) -> list[str]:
        """The edges between variables that share a hidden cause, as the text has them."""
        between = [statement for statement in self.mechanisms if statement.arrow == "<->"]
        return [
            " ".join(edge)
            for statement in between
            if all(isinstance(node, str) for node in (*statement.left, *statement.right))
            for edge in _edges(statement)
        ]

    def network(self, states_of: Mapping[str, Scope]) -> Network:
        """The network without CPTs; of a rule it has what the rule looks at, if that is drawn."""
        states = {name: states_of.get(name) or UNKNOWN_STATES for name in self.variables}
        without = {name for _, name in self.lacking}
        drawn = {v: causes for v, causes in self.rules.items() if causes and v not in without}
        looked_at = {
            name: " or ".join(f'"{cause}"="{states[cause][0]}"' for cause in causes)
            for name, causes in drawn.items()
        }
        states |= {name: tuple(dict.fromkeys((*states[name], NOT_ASKED))) for name in drawn}
        return Network(states, self.parents_of, not_asked=looked_at)


def _for_edges(name: str) -> str:
    if name.replace("_", "a").replace(".", "a").isalnum():
        return name
    return in_quotes(name)


def sketch_of(text: str) -> Sketch:
    """What a text draws.

    Raises
    ------
    MissingnessGraphError
        It cannot be read; the message shows the place.

    Examples
    --------
    >>> sketch = sketch_of("X -> Y; X -> R[Y]; Z")
    >>> sketch.edges_text, sketch.mechanisms_text
    ('Z; X -> Y', 'X -> R[Y]')
    """
    variables: dict[str, None] = {}
    edges: dict[tuple[str, str], None] = {}
    mechanisms: dict[Statement, None] = {}
    for statement in parse_statements(text, "the graph", lone_variables=True):
        nodes = (*statement.left, *statement.right)
        variables |= dict.fromkeys(
            n.variable if isinstance(n, Mechanism) else n for n in nodes if n != SELECTION
        )
        pairs = [(a, b) for a in statement.left for b in statement.right]
        if statement.arrow == "->" and not any(isinstance(node, Mechanism) for node in nodes):
            edges |= dict.fromkeys((str(tail), str(head)) for tail, head in pairs)
        elif pairs:
            mechanisms |= dict.fromkeys(Statement((a,), statement.arrow, (b,)) for a, b in pairs)
        elif isinstance(nodes[0], Mechanism):
            mechanisms[statement] = None
    return Sketch(tuple(variables), tuple(edges), tuple(mechanisms))


def draw_sketch(sketch: Sketch, states_of: Mapping[str, Scope]) -> dict[str, Any]:
    """The drawing of a sketch: nodes, edges, where they go, and what can be recovered.

    Where the edges form a cycle, or are not those of a missingness graph, the largest part from
    the start that is a graph is drawn. All others are ``wrong``, there to be taken out, and nothing
    is said of what can be recovered.
    """
    try:
        return {**_drawn(sketch, states_of), "wrong": [], "error": ""}
    except LacunetError as error:
        part, wrong = split(sketch)
        drawn = _drawn(part, states_of)
        return {
            **drawn,
            "edges": [*drawn["edges"], *wrong],
            "wrong": wrong,
            "error": "\n".join(filter(None, (error.message, error.hint))),
            "category": "",
            "why": "",
            "verdicts": [],
            "lacking": [],
        }


def split(sketch: Sketch) -> tuple[Sketch, list[list[str]]]:
    """The part of a sketch that is a graph, and the edges that do not fit those before them.

    Examples
    --------
    >>> part, wrong = split(sketch_of("X -> Y -> X; R[Y] -> X"))
    >>> part.edges, wrong
    ((('X', 'Y'),), [['Y', '->', 'X'], ['R[Y]', '->', 'X']])
    """
    nodes = [
        node for statement in sketch.mechanisms for node in (*statement.left, *statement.right)
    ]
    # A mechanism is a node from the start: it stays one if none of its edges fits.
    lone = dict.fromkeys(Statement((n,), "", ()) for n in nodes if isinstance(n, Mechanism))
    part = replace(sketch, edges=(), mechanisms=tuple(lone))
    wrong: list[list[str]] = []
    for tail, head in sketch.edges:
        larger = replace(part, edges=(*part.edges, (tail, head)))
        if _is_graph(larger):
            part = larger
        else:
            wrong.append([node_text(tail), "->", node_text(head)])
    for statement in sketch.mechanisms:
        larger = replace(part, mechanisms=(*part.mechanisms, statement))
        if _is_graph(larger):
            part = larger
        else:
            wrong += _edges(statement)
    return part, wrong


def _is_graph(sketch: Sketch) -> bool:
    """Whether the edges form no cycle, and are those of a missingness graph."""
    try:
        network = sketch.network({})
        if sketch.mechanisms:
            MissingnessGraph.parse(sketch.mechanisms_text, network)
    except LacunetError:
        return False
    return True


def _drawn(sketch: Sketch, states_of: Mapping[str, Scope]) -> dict[str, Any]:
    network = sketch.network(states_of)
    text = sketch.mechanisms_text
    graph = MissingnessGraph.parse(text, network, "the graph") if text else None
    picture = drawing(network, graph, rooms=SKETCH_WIDTHS, written=node_text)["drawn"]
    mechanisms = [] if graph is None else [*graph.causes_of]
    verdicts = {} if graph is None else graph.recover_families()
    return {
        "variables": [{"name": name, "key": node_text(name)} for name in network.variables],
        "mechanisms": [{"variable": node.variable, "key": str(node)} for node in mechanisms],
        "edges": [[node_text(tail), "->", node_text(head)] for tail, head in sketch.edges]
        + [edge for statement in sketch.mechanisms for edge in _edges(statement)],
        "layouts": picture["layouts"],
        "card": picture["card"],
        "category": "" if graph is None else graph.category(),
        "why": "" if graph is None else graph.why(),
        "verdicts": [_verdict(name, verdict) for name, verdict in verdicts.items()],
        "lacking": [[node_text(tail), "->", node_text(head)] for tail, head in sketch.lacking],
    }


def _edges(statement: Statement) -> list[list[str]]:
    return [
        [node_text(tail), statement.arrow, node_text(head)]
        for tail in statement.left
        for head in statement.right
    ]


def _verdict(name: str, verdict: Verdict) -> dict[str, Any]:
    return {
        "variable": name,
        **plain_attributes(verdict, "query status standing why estimand"),
        "mathml": verdict.mathml if verdict.is_recoverable else "",
    }


def sketch_text(network: Network | Sketch, mechanisms: Sequence[Statement]) -> str:
    """The edges of a network, and mechanisms, as the text of a sketch."""
    joined = {name for edge in network.edges for name in edge}
    lines = [node_text(name) for name in network.variables if name not in joined]
    lines += [f"{node_text(tail)} -> {node_text(head)}" for tail, head in network.edges]
    return "\n".join([*lines, write_statements(list(mechanisms))]).rstrip("\n")


def checked_sketch(text: str) -> Sketch:
    """The sketch of a text that has variables."""
    sketch = sketch_of(text)
    if not sketch.variables:
        raise LacunetError("the graph has no variables.", "choose columns, or type X -> Y.")
    return sketch
