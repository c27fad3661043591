"""Where the nodes of a graph go: layers from top to bottom, within a given width.

The steps are Sugiyama's. Every node gets a layer below all its parents, as high as there is
room for it; long edges get a bend in each layer between; the nodes of each layer are ordered
so that few edges cross (means of neighbours, down and up); then each layer is laid out from
left to right so that edges are short and long ones straight: weighted least squares under the
distances that the boxes need, which is an isotonic regression.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import count, pairwise
from typing import Generic, TypeVar

LaidOutNode = TypeVar("LaidOutNode", bound=Hashable)
Point = tuple[float, float]

BOX_GAP = 18.0  # between boxes of a layer
BEND = 12.0  # the room of an edge that passes a layer
BETWEEN = 34.0  # between layers, and more where many edges meet
MARGIN = 8.0
BOX_SHARES = (1.0, 0.86, 0.72)  # shares of the width for boxes; what is left is for bends
FEW_NODES = 120  # nodes: of more, the first layout is taken
STRAIGHT = (1.0, 2.0, 8.0)  # what an edge weighs by how many of its ends are bends
SWEEPS_TO_CHILDREN = 4  # in which nodes move down
ORDERINGS = 12  # sweeps, fewer in large graphs
SPREADINGS = 24
EDGES_PER_SWEEP = 20_000


@dataclass(frozen=True)
class Placement(Generic[LaidOutNode]):
    """The size of a drawing, the left upper corner of every box, and the path of every edge."""

    width: float
    height: float
    corner_of: Mapping[LaidOutNode, Point]
    path_of: Mapping[tuple[LaidOutNode, LaidOutNode], str]


@dataclass(eq=False)
class _Box:
    """A node, or the bend of an edge in a layer that it passes (``node`` is None)."""

    node: object
    width: float
    height: float
    layer: int
    above: list[_Box]
    below: list[_Box]
    rank: int = 0
    x: float = 0.0


def lay_out_layers(
    size_of: Mapping[LaidOutNode, tuple[float, float]],
    edges: Sequence[tuple[LaidOutNode, LaidOutNode]],
    room: float,
) -> Placement[LaidOutNode]:
    """Lay out an acyclic graph.

    Parameters
    ----------
    size_of
        The width and the height of every node's box.
    edges
        From parents to children.
    room
        The width of the drawing; it is exceeded only where a box or many edges are wider.

    Examples
    --------
    >>> box = (100.0, 30.0)
    >>> layout = lay_out_layers({"A": box, "B": box, "C": box}, [("A", "B"), ("A", "C")], 400)
    >>> [layout.corner_of[node][1] for node in "ABC"]
    [8.0, 72.0, 72.0]
    """
    layouts = []
    for share in BOX_SHARES:  # bends take room too, so nodes may have to do with less
        layouts.append(_laid_out(size_of, edges, room - 2 * MARGIN, share))
        if layouts[-1].width <= room or len(size_of) > FEW_NODES:
            break
    return min(layouts, key=lambda layout: layout.width)


def _laid_out(
    size_of: Mapping[LaidOutNode, tuple[float, float]],
    edges: Sequence[tuple[LaidOutNode, LaidOutNode]],
    room: float,
    share: float,
) -> Placement[LaidOutNode]:
    """Lay out with boxes in that share of the room, and bends in all of it."""
    layer_of = _layers(size_of, edges, share * room)
    box_of = {node: _Box(node, *size, layer_of[node], [], []) for node, size in size_of.items()}
    bend_at: dict[tuple[_Box, int], _Box] = {}
    chains = [_chain(box_of[parent], box_of[child], bend_at) for parent, child in edges]
    layers: list[list[_Box]] = [[] for _ in range(max(layer_of.values(), default=0) + 1)]
    boxes = [*box_of.values(), *bend_at.values()]
    for box in boxes:
        layers[box.layer].append(box)
    layers = _ordered(layers)
    _spread(layers, room)
    left = min((box.x - box.width / 2 for box in boxes), default=0) - MARGIN
    for box in boxes:
        box.x -= left
    width = max((box.x + box.width / 2 for box in boxes), default=0) + MARGIN
    tops, bottoms = [], []
    top = MARGIN
    for layer in layers:
        tops.append(top)
        bottoms.append(top + max((box.height for box in layer), default=0))
        edges_below = sum(len(box.below) for box in layer)
        top = bottoms[-1] + BETWEEN + min(2.0 * max(edges_below - 2, 0), 30)
    corner_of = {
        node: (round(box.x - box.width / 2, 1), round(tops[box.layer], 1))
        for node, box in box_of.items()
    }
    path_of = {edge: _path(chain, tops, bottoms) for edge, chain in zip(edges, chains, strict=True)}
    return Placement(round(width, 1), round(bottoms[-1] + MARGIN, 1), corner_of, path_of)


def _layers(
    size_of: Mapping[LaidOutNode, tuple[float, float]],
    edges: Sequence[tuple[LaidOutNode, LaidOutNode]],
    room: float,
) -> dict[LaidOutNode, int]:
    """A layer for every node: below its parents, where there is room, and near its children."""
    parents: dict[LaidOutNode, list[LaidOutNode]] = {node: [] for node in size_of}
    children: dict[LaidOutNode, list[LaidOutNode]] = {node: [] for node in size_of}
    for parent, child in edges:
        parents[child].append(parent)
        children[parent].append(child)
    below: dict[LaidOutNode, int] = {}  # edges on the longest way down: those with most go first
    for node in TopologicalSorter(children).static_order():
        below[node] = max((below[child] + 1 for child in children[node]), default=0)
    layer_of: dict[LaidOutNode, int] = {}
    taken: defaultdict[int, float] = defaultdict(float)  # of the width of each layer

    def put(node: LaidOutNode, layers: Iterable[int]) -> None:
        """Put a node into the first layer that has room; an empty one takes any node."""
        width = size_of[node][0]
        for layer in layers:
            if not taken[layer] or taken[layer] + width <= room:
                if node in layer_of:
                    taken[layer_of[node]] -= width + BOX_GAP
                layer_of[node] = layer
                taken[layer] += width + BOX_GAP
                return

    # Those with the longest way down first, each below its parents.
    free = [node for node in size_of if not parents[node]]
    while free:
        node = max(free, key=lambda node: below[node])
        free.remove(node)
        put(node, count(max((layer_of[parent] + 1 for parent in parents[node]), default=0)))
        free += [
            child
            for child in children[node]
            if all(parent in layer_of for parent in parents[child])
        ]
    # Then towards the children, where that shortens edges.
    movable = [node for node in layer_of if len(children[node]) > len(parents[node])]
    for _ in range(SWEEPS_TO_CHILDREN):
        for node in sorted(movable, key=lambda node: -layer_of[node]):
            lowest = min(layer_of[child] for child in children[node]) - 1
            put(node, range(lowest, layer_of[node], -1))
    used = {layer: index for index, layer in enumerate(sorted(set(layer_of.values())))}
    return {node: used[layer] for node, layer in layer_of.items()}


def _chain(parent: _Box, child: _Box, bend_at: dict[tuple[_Box, int], _Box]) -> list[_Box]:
    """The boxes that an edge touches: its ends, and a bend in every layer between.

    The edges of a parent share their bends, so that they run together as far as they can.
    """
    chain = [parent]
    for layer in range(parent.layer + 1, child.layer):
        bend = bend_at.setdefault(
            (parent, layer),
            _Box(node=None, width=BEND, height=0.0, layer=layer, above=[], below=[]),
        )
        chain.append(bend)
    chain.append(child)
    for upper, lower in pairwise(chain):
        if lower not in upper.below:
            upper.below.append(lower)
            lower.above.append(upper)
    return chain


def _ordered(layers: list[list[_Box]]) -> list[list[_Box]]:
    """The layers in an order with few crossings: means of neighbours, down and up in turn.

    Then boxes that stand side by side are exchanged where that saves crossings.
    """
    number = sum(len(box.below) for layer in layers for box in layer)
    sweeps = max(2, min(ORDERINGS, EDGES_PER_SWEEP // max(number, 1)))
    _rank(layers)
    best = [list(layer) for layer in layers]
    fewest = _crossings(layers)
    for sweep in range(2 * sweeps):
        downwards = sweep % 2 == 0
        for layer in layers[1:] if downwards else layers[-2::-1]:
            layer.sort(key=lambda box: _mean_rank(box, box.above if downwards else box.below))
            _rank([layer])
        for layer in layers:
            for index in range(len(layer) - 1):
                left, right = layer[index : index + 2]
                if _cost(right, left) < _cost(left, right):
                    layer[index] = right
                    layer[index + 1] = left
                    left.rank, right.rank = right.rank, left.rank
        crossings = _crossings(layers)
        if crossings < fewest:
            best = [list(layer) for layer in layers]
            fewest = crossings
    _rank(best)
    return best


def _rank(layers: list[list[_Box]]) -> None:
    """Number the boxes of each layer from left to right."""
    for layer in layers:
        for rank, box in enumerate(layer):
            box.rank = rank


def _mean_rank(box: _Box, beside: Sequence[_Box]) -> float:
    """That of its neighbours; a box without any keeps its place."""
    if beside:
        return sum(other.rank for other in beside) / len(beside)
    return box.rank


def _cost(left: _Box, right: _Box) -> int:
    """The crossings between the edges of two neighbours, in this order."""
    return sum(
        a.rank > b.rank
        for mine, theirs in ((left.above, right.above), (left.below, right.below))
        for a in mine
        for b in theirs
    )


def _crossings(layers: list[list[_Box]]) -> int:
    crossings = 0
    for layer in layers:
        seen: list[int] = []
        for box in layer:
            ranks = [other.rank for other in box.below]
            crossings += sum(len(seen) - bisect_right(seen, rank) for rank in ranks)
            for rank in ranks:
                insort(seen, rank)
    return crossings


def _spread(layers: list[list[_Box]], room: float) -> None:
    """The middle of every box: near its neighbours, in order, apart, within the room."""
    for layer in layers:
        x = 0.0
        for box in layer:
            box.x = x + box.width / 2
            x += box.width + BOX_GAP
        for box in layer:
            box.x += (room - x) / 2
    for sweep in range(SPREADINGS):
        downwards = sweep % 2 == 0
        both = sweep >= SPREADINGS / 2
        for layer in layers if downwards else reversed(layers):
            _place(layer, [_wish(box, downwards, both) for box in layer], room)


def _wish(box: _Box, downwards: bool, both: bool) -> tuple[float, float]:
    """Where a box would best be, and how much it matters: bends most, long edges are straight."""
    beside = box.above if downwards else box.below
    if both:
        beside = [*box.above, *box.below]
    if not beside:
        return box.x, 0.1
    weights = [STRAIGHT[(box.node is None) + (other.node is None)] for other in beside]
    mean = sum(w * other.x for w, other in zip(weights, beside, strict=True)) / sum(weights)
    return mean, sum(weights)


def _place(layer: list[_Box], wishes: Sequence[tuple[float, float]], room: float) -> None:
    """Nearest to the wishes, in order and at a distance: pool adjacent violators."""
    offsets = [0.0]
    for left, right in pairwise(layer):
        gap = BEND / 2 if left.node is None and right.node is None else BOX_GAP
        offsets.append(offsets[-1] + left.width / 2 + gap + right.width / 2)
    blocks: list[tuple[float, float, int]] = []  # sum of weighted wishes, weight, boxes
    for (wish, weight), offset in zip(wishes, offsets, strict=True):
        block = (weight * (wish - offset), weight, 1)
        while blocks and blocks[-1][0] / blocks[-1][1] > block[0] / block[1]:
            total, heavy, number = blocks.pop()
            block = (total + block[0], heavy + block[1], number + block[2])
        blocks.append(block)
    means = [total / weight for total, weight, number in blocks for _ in range(number)]
    lowest = layer[0].width / 2
    highest = max(room - offsets[-1] - layer[-1].width / 2, lowest)
    for box, mean, offset in zip(layer, means, offsets, strict=True):
        box.x = min(max(mean, lowest), highest) + offset


def _path(chain: Sequence[_Box], tops: Sequence[float], bottoms: Sequence[float]) -> str:
    """A smooth line from below the parent, straight through the layers between, to the child."""
    parent = chain[0]
    child = chain[-1]
    x = parent.x + _port(parent, chain[1])
    y = tops[parent.layer] + parent.height
    path = f"M{x:.1f},{y:.1f}"
    if y < bottoms[parent.layer] - 1:  # past taller boxes of its layer
        y = bottoms[parent.layer]
        path += f"L{x:.1f},{y:.1f}"
    for bend in chain[1:-1]:
        path += _curve(x, y, bend.x, tops[bend.layer])
        x, y = bend.x, bottoms[bend.layer]
        path += f"L{x:.1f},{y:.1f}"
    return path + _curve(x, y, child.x + _port(child, chain[-2]), tops[child.layer])


def _port(box: _Box, toward: _Box) -> float:
    """How far from the middle of a box an edge ends."""
    most = box.width / 3
    return max(-most, min(most, (toward.x - box.x) / 6))


def _curve(x: float, y: float, to_x: float, to_y: float) -> str:
    middle = (y + to_y) / 2
    return f"C{x:.1f},{middle:.1f} {to_x:.1f},{middle:.1f} {to_x:.1f},{to_y:.1f}"


def bow(
    layout: Placement[LaidOutNode],
    size_of: Mapping[LaidOutNode, tuple[float, float]],
    first: LaidOutNode,
    second: LaidOutNode,
) -> str:
    """A bow between the sides of two boxes that face each other."""
    (x, y), (to_x, to_y) = (
        (layout.corner_of[end][0], layout.corner_of[end][1] + size_of[end][1] / 2)
        for end in (first, second)
    )
    if x <= to_x:
        x += size_of[first][0]
    else:
        to_x += size_of[second][0]
    middle_x = (x + to_x) / 2 + (30 if abs(y - to_y) > 20 else 0)
    middle_y = (y + to_y) / 2 + 18
    return f"M{x:.1f},{y:.1f}Q{middle_x:.1f},{middle_y:.1f} {to_x:.1f},{to_y:.1f}"
