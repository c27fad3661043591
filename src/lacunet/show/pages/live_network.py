"""The network of a page: laid out, and carried so that the browser can answer questions.

A card for every variable, with a bar for each state where the page is live: then the CPTs are
carried in full, with the order in which to sum variables out. What runs is in
``assets/beliefs.js`` (exact beliefs) and ``assets/network.js`` (cards, drawing, evidence).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lacunet.inference.elimination.elimination_order import (
    best_order,
    clique_cells,
    greedy_order,
    join_scopes,
    number_nodes,
)
from lacunet.learning.uncertainty.shape_parameters import ShapeParameters, shape_parameters
from lacunet.missingness.graph import MissingnessGraph, graph_of_network
from lacunet.network.network import Network, Scope
from lacunet.network.nodes import SELECTION, Mechanism, Node, variable_of
from lacunet.show.figures.node_layout import bow, lay_out_layers
from lacunet.show.figures.text_width import text_width
from lacunet.show.pages.kit import bullets, disclosure, section
from lacunet.show.pages.numbers import NOTHING_BEHIND, Behind, fixed_rows, pack_numbers

NAME_CARD, BETWEEN, HEAD = 150, 18, 36
NARROWEST_CARD, WIDEST_CARD = 150, 300
SHORTEST_LABEL, LONGEST_LABEL = 24, 150
BAR, NUMBER, IN_CARD, SHARE, WARNS = 64, 42, 28, 34, 12  # what stands beside names and labels
LETTERS = 12.0  # the size of words in cards
ROW, PAIR_ROW, MOST_STATES = 24, 36, 8  # taller cards scroll
MECHANISM = 28
DRAWN_WHOLE = 60  # variables; of more the chosen one's neighbours are drawn
WIDTH_PER_NODE = 160  # of the drawing of a large network, times the root of their number
DRAWING_WIDTHS = (1240, 930, 720)  # a drawing for each; where there is less room it is scaled
MAX_CELLS_IN_BROWSER = 12_000_000  # of all cliques: some .8 s and 150 MB in a browser
DIGITS_OF_STILL_PAGES = 4  # decimals, unless others are asked for
SECONDS = 10  # that a page works on what does not fit as a whole
MOST_CARRIED = 1_000_000  # cells of CPTs, in full
CELLS_PER_TRY = 100  # cells per node that are as dear as trying one order
# A better order is searched for from so many cells on, up to so often what fits a browser.
MANY_CELLS = 20_000
SEARCHED_TIMES = 10


@dataclass(frozen=True)
class ShownNetwork:
    """A network to be shown beside another one: what to call it, and what is behind its CPTs."""

    label: str
    network: Network
    behind: Behind = NOTHING_BEHIND


def page_content(
    network: Network,
    behind: Behind = NOTHING_BEHIND,
    *,
    graph: MissingnessGraph | None = None,
    other: ShownNetwork | None = None,
    file: str = "NETWORK",
    digits: int | None = None,
) -> dict[str, Any]:
    """What a page carries of a network: drawing, CPTs and, where it is live, how to ask it.

    Parameters
    ----------
    graph
        How values go missing; its mechanisms are drawn.
    other
        A network with the same variables and states, to be shown beside.
    file
        What the command line would call the network.
    digits
        The decimals to carry; None carries everything, and makes the page live.
    """
    names = network.variables
    is_live = digits is None and not why_not_live(network)
    carried_digits = None if is_live else digits or DIGITS_OF_STILL_PAGES
    data: dict[str, Any] = {
        **drawing(
            network, graph, other=None if other is None else other.network, with_states=is_live
        ),
        **_packed(network, behind, carried_digits, names),
    }
    sides: list[tuple[Network, MissingnessGraph | None]] = [(network, graph)]
    if other is not None:
        sides.append((other.network, None))
        data["other"] = {
            **_packed(other.network, other.behind, carried_digits, names),
            "parents": _parent_numbers(other.network, names),
        }
    if is_live:
        marginals = None
        if behind.marginals is not None:
            marginals = [np.round(behind.marginals[name], 6).tolist() for name in names]
        data["live"] = {
            "orders": [_order(side, names) for side, _ in sides],
            "most_cells": MAX_CELLS_IN_BROWSER,
            "seconds": SECONDS,
            "file": file,
            "can_set": not any(_is_confounded(*side) for side in sides),
            "intervals": marginals,
            "uncertainty": behind.uncertainty,
        }
    return data


def _parent_numbers(network: Network, names: Scope) -> list[list[int]]:
    """The parents of each variable, by their places among some names."""
    index_of = {name: number for number, name in enumerate(names)}
    return [[index_of[parent] for parent in network.parents(name)] for name in names]


def _packed(network: Network, behind: Behind, digits: int | None, names: Scope) -> dict[str, Any]:
    """The CPTs and what is behind them, and which of it there is."""
    return {
        "packed": pack_numbers(network, behind, digits, names),
        "digits": digits,
        "has_support": network.support is not None,
        "has_rows": behind.rows is not None,
        "has_intervals": behind.intervals is not None,
    }


def why_not_live(network: Network) -> str:
    """Why a page of a network can show no beliefs; nothing if it can."""
    if not network.has_cpts:
        return "The network has no CPTs, so there are no beliefs to show."
    if sum(math.prod(network.shape(family)) for family in network.families) > MOST_CARRIED:
        return "No beliefs here: the CPTs are too large to carry. Use `lacunet query` instead."
    return ""


def _order(network: Network, names: Sequence[str]) -> list[int]:
    """An order to sum variables out in; numbers stand for their places among ``names``.

    A page is asked often, so a better order is worth a search, unless the cliques would stay too
    large as a whole: then the page answers the variables that take little, in any order.
    """
    index_of = {name: number for number, name in enumerate(names)}
    neighbours = join_scopes(network.families)
    nodes = list(neighbours)
    graph = number_nodes(neighbours, _weights(network))
    order = greedy_order(graph, [1] * len(nodes))
    if MANY_CELLS < clique_cells(graph, order) <= SEARCHED_TIMES * MAX_CELLS_IN_BROWSER:
        order = best_order(graph, [order], patience=CELLS_PER_TRY)
    return [index_of[nodes[number]] for number in order]


def cliques_size(network: Network) -> float:
    """The cells of the cliques that summing out makes, roughly: in a quickly found order."""
    graph = number_nodes(join_scopes(network.families), _weights(network))
    return clique_cells(graph, greedy_order(graph, [0] * len(graph.weights)))


def _weights(network: Network) -> dict[str, float]:
    """The logarithm of the number of states of each variable."""
    return {name: math.log(network.cardinality(name)) for name in network.variables}


def drawing(
    network: Network,
    graph: MissingnessGraph | None = None,
    *,
    other: Network | None = None,
    with_states: bool = False,
    rooms: Sequence[float] = DRAWING_WIDTHS,
    written: Callable[[Node], str] | None = None,
) -> dict[str, Any]:
    """Where cards and arrows go, for each width that there is a drawing for; nothing is live.

    ``written`` is what layouts call a node: usually the number of a variable, ``r`` with that
    number for its mechanism, and ``r*`` for R[*].
    """
    index_of = {name: number for number, name in enumerate(network.variables)}

    def key(node: Node) -> str:
        number = index_of.get(variable_of(node), SELECTION.variable)
        return f"{'r' if isinstance(node, Mechanism) else 'v'}{number}"

    def keys(nodes: Iterable[Node]) -> list[str]:
        return [key(node) for node in nodes]

    name_of_node = written or (lambda node: key(node).removeprefix("v"))
    causes_of = {} if graph is None else graph.causes_of
    pairs = () if graph is None else graph.hidden
    hidden = sorted((sorted(pair, key=key) for pair in pairs), key=keys)

    widths = [NAME_CARD] * len(network.variables)
    row = 0  # the height of a state in a card
    if with_states:
        widths = [card_width(network, name) for name in network.variables]
        row = ROW if other is None else PAIR_ROW
    size_of = _card_sizes(network, widths, row)
    kind_of = _edge_kinds(network, other)
    alone = _Nodes(size_of, kind_of, hidden, _strengths(network))
    boxes: dict[Node, tuple[float, float]] = {}
    causes: dict[tuple[Node, Node], str] = {}
    for mechanism, nodes in causes_of.items():
        boxes[mechanism] = (text_width(str(mechanism), LETTERS) + 20, float(MECHANISM))
        for cause in sorted(nodes, key=key):
            causes[cause, mechanism] = "cause"
    with_mechanisms = replace(alone, size_of=size_of | boxes, kind_of=kind_of | causes)

    drawn_widths = rooms
    if len(network.variables) > DRAWN_WHOLE:  # one drawing, which grows with the network
        drawn_widths = (max(rooms[0], WIDTH_PER_NODE * math.sqrt(len(size_of))),)
    card = {"width": NAME_CARD, "between": BETWEEN, "head": HEAD, "row": row, "most": MOST_STATES}
    drawn: dict[str, Any] = {"card": card, "most": DRAWN_WHOLE}
    drawn["layouts"] = [with_mechanisms.placed(room, name_of_node) for room in drawn_widths]
    if with_states:
        drawn |= {"widths": widths, "labels": [_label_width(network, v) for v in network.variables]}
    if with_states and causes_of:  # between beliefs they are drawn only if asked for
        drawn["with_mechanisms"] = drawn["layouts"]
        drawn["layouts"] = [alone.placed(room, name_of_node) for room in drawn_widths]
    return {
        "mechanisms": [
            {"variable": index_of.get(mechanism.variable), "causes": sorted(keys(causes))}
            for mechanism, causes in causes_of.items()
        ],
        "hidden_causes": [*map(keys, hidden)],
        "has_rows": False,
        "live": None,
        "drawn": drawn,
    }


def _card_sizes(
    network: Network, widths: Sequence[float], row: float
) -> dict[Node, tuple[float, float]]:
    """The width and height of each variable's card; those of a large network show no states."""
    is_large = len(network.variables) > DRAWN_WHOLE
    size_of: dict[Node, tuple[float, float]] = {}
    for name, width in zip(network.variables, widths, strict=True):
        states = 0 if is_large else min(network.cardinality(name), MOST_STATES)
        size_of[name] = (float(width), float(HEAD + row * states))
    return size_of


def _edge_kinds(network: Network, other: Network | None) -> dict[tuple[Node, Node], str]:
    """The edges of a network, and as "extra" those of the other one that close no circle."""
    kind_of: dict[tuple[Node, Node], str] = dict.fromkeys(network.edges, "")
    if other is None:
        return kind_of
    extra = [edge for edge in other.edges if edge not in kind_of]
    return _acyclic(kind_of | dict.fromkeys(extra, "extra"), network.variables)


@dataclass(frozen=True)
class _Nodes:
    """What is to be drawn."""

    size_of: Mapping[Node, tuple[float, float]]  # width and height
    kind_of: Mapping[tuple[Node, Node], str]  # of each edge; "" for the network's own
    hidden: Sequence[Sequence[Node]]  # pairs with a hidden common cause
    strength_of: Mapping[frozenset[Node], float]  # of edges, where there are replicates

    def placed(self, room: float, written: Callable[[Node], str]) -> dict[str, Any]:
        """Where everything goes within a width."""
        layout = lay_out_layers(self.size_of, [*self.kind_of], room)
        lines = [(edge, self.kind_of[edge], path) for edge, path in layout.path_of.items()]
        for first, second in self.hidden:
            if first in self.size_of and second in self.size_of:
                path = bow(layout, self.size_of, first, second)
                lines.append(((first, second), "hidden", path))
        corner_of = layout.corner_of
        edges: list[dict[str, Any]] = []
        for ends, kind, path in lines:
            edge: dict[str, Any] = {"path": path, "kind": kind, "ends": [*map(written, ends)]}
            strength = self.strength_of.get(frozenset(ends))
            if strength is not None:
                edge["strength"] = round(strength, 3)
            edges.append(edge)
        return {
            "width": layout.width,
            "height": layout.height,
            "corners": {written(v): corner_of[v] for v in self.size_of if isinstance(v, str)},
            "boxes": {
                written(box): [*corner_of[box], self.size_of[box][0]]
                for box in self.size_of
                if isinstance(box, Mechanism)
            },
            "edges": edges,
        }


def _strengths(network: Network) -> dict[frozenset[Node], float]:
    """Of each edge the share of bootstrap replicates that have it, in either direction."""
    replicates = [{*map(frozenset, replicate.edges)} for replicate in network.bootstrap or ()]
    if not replicates:
        return {}
    return {
        pair: sum(pair in pairs for pairs in replicates) / len(replicates)
        for pair in map(frozenset, network.edges)
    }


def card_width(network: Network, name: str) -> int:
    """As wide as the name and the states of a variable need, within limits."""
    head = text_width(name, LETTERS, is_bold=True) + IN_CARD + SHARE + WARNS
    rows = _label_width(network, name) + BAR + NUMBER + IN_CARD
    return round(min(max(head, rows, NARROWEST_CARD), WIDEST_CARD))


def _label_width(network: Network, name: str) -> int:
    """The room for the longest state of a variable, within limits."""
    longest = max(text_width(state, LETTERS) for state in network.states(name))
    return round(min(max(longest + 2, SHORTEST_LABEL), LONGEST_LABEL))


def _acyclic(
    edges: Mapping[tuple[Node, Node], str], nodes: Sequence[Node]
) -> dict[tuple[Node, Node], str]:
    """The edges, without those of the second network that would close a circle."""
    import networkx as nx

    graph: nx.DiGraph[Node] = nx.DiGraph()
    graph.add_nodes_from(nodes)
    for (tail, head), kind in edges.items():
        if not kind or not nx.has_path(graph, head, tail):
            graph.add_edge(tail, head)
    return {edge: kind for edge, kind in edges.items() if graph.has_edge(*edge)}


CONFOUNDED = (
    "Variables cannot be set from outside, do(), in this page: some share a hidden common cause, "
    "and CPTs do not tell what an intervention does then. lacunet effect with the graph does."
)


def _is_confounded(network: Network, graph: MissingnessGraph | None) -> bool:
    """Whether two variables share a hidden common cause, in this graph or the network's own."""
    graph = graph or graph_of_network(network)
    pairs = () if graph is None else graph.hidden
    return any(isinstance(first, str) and isinstance(second, str) for first, second in pairs)


def _reading(data: Mapping[str, Any]) -> list[str]:
    """What the marks of the drawing mean, and which keys do what."""
    live = data["live"]
    lines = _reading_of_beliefs(live) if live else []
    if data.get("has_support"):
        lines.append(
            '<span class="swatch hatched"></span> rests on CPT rows without data: the probability '
            "of passing through one."
        )
    if any("missing" in variable for variable in data["variables"]):
        lines.append(
            '<span class="swatch missing"></span> share of the values that are missing. ! marks a '
            "warning."
        )
    if any("strength" in edge for edge in data["drawn"]["layouts"][0]["edges"]):
        lines.append(
            "The width of an arrow is the share of bootstrap replicates of the rows that have the "
            "edge, in either direction; it stands under the pointer."
        )
    if data["mechanisms"]:
        lines.append(
            '<span class="swatch dashed"></span> R[X]: whether X is recorded (R[*]: whether a row '
            "is), and what that depends on; variables that may be missing are shaded."
        )
    lines.append("Drag a card by its name to move it; where it is put, it stays.")
    keys = "Arrow keys walk along the network: up to a parent, down to a child, left and right."
    if live:
        keys += " Tab goes on to the states of the chosen variable."
    return [*lines, keys]


def _reading_of_beliefs(live: Mapping[str, Any]) -> list[str]:
    """What a click means, and how beliefs are drawn."""
    setting = CONFOUNDED
    if live["can_set"]:
        setting = (
            "Shift-click a state (Shift and Enter), or let a click mean do(), to set it from "
            "outside in place of having seen it: the edges into the variable are cut and faint. "
            "Edges are then taken as causes, without hidden common causes."
        )
    lines = [
        "Click a state, or press Enter on it, to say that it was seen; again to take it back. "
        "The address of the page carries what was seen, so a question can be sent.",
        "Ctrl-click states of one variable, or let a click mean one of several, "
        "to say that it has one of them.",
        setting,
        '<span class="swatch prior"></span> the belief without evidence; bold: more probable '
        "now, grey: less.",
    ]
    if live["intervals"]:
        when = "" if live["uncertainty"] else ", without evidence"
        lines.append(f'<span class="swatch whisker"></span> interval{when}.')
    return lines


def variables_as_data(network: Network) -> list[dict[str, Any]]:
    """Every variable: states, places of its parents, what it is tied with, shape, rule."""
    index_of = {name: index for index, name in enumerate(network.variables)}
    return [
        {
            "name": name,
            "states": list(network.states(name)),
            "parents": [index_of[parent] for parent in network.parents(name)],
            **_tied(network, name, index_of),
            **_shaped(network, name),
            **_ruled(network, name),
        }
        for name in network.variables
    ]


def _tied(network: Network, name: str, index_of: Mapping[str, int]) -> dict[str, Any]:
    """The group that shares a CPT, and its first variable, if that is another one."""
    group = network.tied_with(name)
    if len(group) == 1:
        return {}
    fact: dict[str, Any] = {
        "tied": {"count": len(group), "first": group[0], "last": group[-1]},
    }
    if name != group[0]:
        fact["head"] = index_of[group[0]]
    return fact


def _shaped(network: Network, name: str) -> dict[str, Any]:
    """The shape of a CPT that is no full table."""
    if name not in network.shaped_of or not network.has_cpts:
        return {}
    return {"shape": shape_as_data(shape_parameters(network, name, None))}


def shape_as_data(shaped: ShapeParameters) -> dict[str, Any]:
    """The shape of a CPT, its parameters in words, and what a full table would be beside it."""
    parameters = []
    for each in shaped.parameters:
        ends = "" if each.interval is None else " ({:.3g} to {:.3g})".format(*each.interval)
        parameters.append([each.name, f"{each.value:.3g}{ends}"])
    return {
        "name": shaped.shape,
        "scale": shaped.kind if parameters else "",
        "parameters": parameters,
        "legend": shaped.legend,
        "beside": shaped.beside_table,
    }


def _ruled(network: Network, name: str) -> dict[str, Any]:
    """The rule by which a question was not asked, and the CPT rows that it fixes, in runs."""
    rule = network.not_asked_of.get(name)
    if rule is None:
        return {}
    runs, number = fixed_rows(network, name)
    return {"rule": rule.when, "ruled": runs, "by_rule": number}


ASKED = (
    '<div id="asked"><div class="bar"><span><span id="evidence-label">P(evidence)</span>'
    ' = <output id="evidence-probability" data-evidence-probability="1">1</output></span>'
    '<span id="evidence" class="chips"></span>'
    '<button type="button" id="clear" disabled>clear</button></div>'
    '<p class="soft" id="moved" role="status"></p>'
    '<p class="soft" id="explained" role="status" hidden></p></div>'
)
PANEL = '<div id="panel-place"><div id="panel" tabindex="-1"></div></div>'
SHOW_MECHANISMS = (
    '<label><input type="checkbox" id="show-mechanisms"> show R[X], what decides whether '
    "values are missing</label>"
)


def network_section(
    data: Mapping[str, Any],
    title: str = "The network",
    *,
    why_not_live: str = "",
    after: str = "",
) -> str:
    """The markup of the network: what finds, what asks, the drawing, and room for a CPT.

    ``data`` is what `page_content` or `drawing` gave; ``why_not_live`` says why there are no
    beliefs, if there are none; ``after`` is markup to follow.
    """
    live = data["live"]
    mechanisms = SHOW_MECHANISMS if data["drawn"].get("with_mechanisms") else ""
    return section(
        "network",
        title,
        '<noscript><p class="scriptless">Drawings, beliefs and CPTs need scripts; the tables '
        "below do not.</p></noscript>",
        f'<p class="soft" id="why-not-live">{why_not_live}</p>' if why_not_live else "",
        '<div class="scripted" hidden><div class="bar"><label>find a variable '
        '<input id="find" list="names" autocomplete="off"></label><datalist id="names"></datalist>'
        '<label>as <select id="view"><option value="graph">graph</option>'
        '<option value="list">list</option></select></label>'
        f"{_click_choices(can_set=live['can_set']) if live else ''}"
        '<span class="graph-only bar"><button type="button" id="larger" aria-label="larger">+'
        '</button><button type="button" id="smaller" aria-label="smaller">−</button>'
        '<button type="button" id="fit">fit</button><button type="button" id="actual">100%</button>'
        '<button type="button" id="whole" hidden>whole network</button>'
        '<button type="button" id="put-back" hidden>put cards back</button></span></div>',
        ASKED if live else "",
        '<p class="warning" id="unknown" hidden></p><p class="soft" id="beyond" hidden></p>'
        '<p class="soft name" id="shown" role="status"></p><div id="drawing" tabindex="-1"></div>',
        '<p class="soft" id="sure" hidden></p>',
        f'<div class="bar graph-only">{mechanisms}<span>save the picture:</span><button '
        'type="button" id="save-svg">SVG</button><button type="button" id="save-png">PNG</button>'
        "</div>",
        disclosure("How to read and use it", bullets(_reading(data)), kind="how"),
        '<h3 id="others-title" hidden>All other variables</h3><div id="others"></div>',
        (PANEL if "packed" in data else "") + "</div>",
        after,
    )


def _click_choices(*, can_set: bool) -> str:
    """What a click may mean, and the button that asks for the most probable explanation."""
    disabled = "" if can_set else " disabled"
    return (
        '<label>a click means <select id="click-means"><option value="see">seen</option>'
        f'<option value="do"{disabled}>set: do()</option>'
        '<option value="among">one of several</option>'
        '<option value="likely">likelihoods</option></select></label>'
        '<button type="button" id="explain">most probable explanation</button>'
    )
