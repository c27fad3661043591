"""A network as a figure: names, what is missing of each variable, and mechanisms."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from lacunet.missingness.graph import MissingnessGraph
from lacunet.network.network import Network
from lacunet.network.nodes import Mechanism, Node
from lacunet.show.figures.node_layout import bow, lay_out_layers
from lacunet.show.figures.picture import SIZE, Box, Line, Picture, Shape, Words, corners, stroke
from lacunet.show.figures.text_width import shorten_to_width, text_width
from lacunet.text import counted

TALL, LOW = 40.0, 28.0
LONGEST = 320.0  # pixels; longer names lose their middle


def network_picture(
    network: Network,
    missing: Mapping[str, float] | None = None,
    graph: MissingnessGraph | None = None,
    *,
    undirected: Collection[tuple[str, str]] = (),
    width: float = 700,
) -> Picture:
    """The graph of a network.

    Parameters
    ----------
    missing
        The share of each variable's values that are missing, drawn as a bar with its number.
    graph
        How values go missing: its mechanisms are drawn, dashed.
    undirected
        The edges, in either direction, that are drawn without a head.
    width
        About how wide the figure may be, in pixels.
    """
    shares = missing or {}
    size_of: dict[Node, tuple[float, float]] = {
        name: (_room(name), LOW) if missing is None else (max(_room(name), 92), TALL)
        for name in network.variables
    }
    edges: list[tuple[Node, Node]] = list(network.edges)
    for mechanism, causes in () if graph is None else graph.causes_of.items():
        size_of[mechanism] = (_room(str(mechanism)), LOW)
        edges += [(cause, mechanism) for cause in sorted(causes, key=str)]
    layout = lay_out_layers(size_of, edges, width)
    shapes: list[Shape] = []
    for (tail, head), path in layout.path_of.items():
        style = "cause" if isinstance(head, Mechanism) else "edge"
        shapes.append(Line(path, style))
        if (tail, head) not in undirected and (head, tail) not in undirected:
            shapes.append(_arrow(path, style))
    for pair in () if graph is None else graph.hidden:
        first, second = sorted(pair, key=str)
        for ends in ((first, second), (second, first)):
            path = bow(layout, size_of, *ends)
            shapes += [Line(path, "cause"), _arrow(path, "cause")]
    for node, (x, y) in layout.corner_of.items():
        shapes += _node(node, x, y, size_of[node], shares.get(str(node)))
    words = f"{counted(len(network.variables), 'variable')}, {counted(len(network.edges), 'edge')}"
    return Picture(layout.width, layout.height, tuple(shapes), words)


def _room(text: str) -> float:
    return max(min(text_width(text, SIZE, is_bold=True), LONGEST) + 20, 64)


def _node(
    node: Node, x: float, y: float, size: tuple[float, float], share: float | None
) -> list[Shape]:
    width, height = size
    is_variable = not isinstance(node, Mechanism)
    name = shorten_to_width(str(node), LONGEST, SIZE, is_bold=True)
    title = "" if name == str(node) else str(node)
    kind = "box" if is_variable else "dashed-box"
    shapes: list[Shape] = [
        Box(x, y, width, height, kind, title, radius=4),
        Words(x + width / 2, y + 18, name, "middle", is_bold=is_variable),
    ]
    if share is not None:
        shapes.append(Words(x + width / 2, y + 32, f"{share:.0%} missing", "middle", size=10.0))
        if share:
            shapes.append(Box(x + 2, y + height - 4, (width - 4) * share, 3, "block"))
    return shapes


def _arrow(path: str, style: str) -> Line:
    """A head at the end of a path, in the direction in which it ends."""
    (before_x, before_y), (x, y) = corners(path)[-2:]
    angle = math.atan2(y - before_y, x - before_x)
    left, right = (
        (x - 8 * math.cos(angle + turn), y - 8 * math.sin(angle + turn)) for turn in (-0.42, 0.42)
    )
    outline = f"{stroke(left, (x, y), right)}Z"
    return Line(outline, "cause-arrow" if style == "cause" else "arrow")
