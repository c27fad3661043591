from __future__ import annotations

import re
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lacunet as lc
from lacunet.show.figures.node_layout import Placement, lay_out_layers

Sizes = dict[int, tuple[float, float]]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Sizes, list[tuple[int, int]]]:
    number = draw(st.integers(1, 12))
    sizes = {
        node: (float(draw(st.integers(40, 220))), float(draw(st.integers(20, 160))))
        for node in range(number)
    }
    pairs = list(combinations(range(number), 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return sizes, edges


def overlap(layout: Placement[int], sizes: Sizes, one: int, two: int) -> bool:
    (x, y), (to_x, to_y) = layout.corner_of[one], layout.corner_of[two]
    return (
        x < to_x + sizes[two][0]
        and to_x < x + sizes[one][0]
        and y < to_y + sizes[two][1]
        and to_y < y + sizes[one][1]
    )


@given(graphs())
def test_boxes_do_not_overlap_and_children_are_below_their_parents(
    graph: tuple[Sizes, list[tuple[int, int]]],
) -> None:
    sizes, edges = graph
    layout = lay_out_layers(sizes, edges, 700)
    assert not any(overlap(layout, sizes, *pair) for pair in combinations(sizes, 2))
    for parent, child in edges:
        bottom = layout.corner_of[parent][1] + sizes[parent][1]
        assert bottom < layout.corner_of[child][1]
    for node, (x, y) in layout.corner_of.items():
        assert x >= 0
        assert y >= 0
        assert x + sizes[node][0] <= layout.width
        assert y + sizes[node][1] <= layout.height


@given(graphs())
def test_arrows_lead_from_the_parent_to_the_child(
    graph: tuple[Sizes, list[tuple[int, int]]],
) -> None:
    sizes, edges = graph
    layout = lay_out_layers(sizes, edges, 700)
    assert list(layout.path_of) == edges
    for (parent, child), path in layout.path_of.items():
        numbers = [float(text) for text in re.findall(r"-?[\d.]+", path)]
        (x, y), (to_x, to_y) = layout.corner_of[parent], layout.corner_of[child]
        assert x <= numbers[0] <= x + sizes[parent][0]
        assert numbers[1] == pytest.approx(y + sizes[parent][1], abs=0.11)
        assert to_x <= numbers[-2] <= to_x + sizes[child][0]
        assert numbers[-1] == pytest.approx(to_y, abs=0.11)


@pytest.mark.parametrize(("name", "room"), [("asia", 720), ("alarm", 1240), ("child", 720)])
def test_known_networks_fit_the_width(name: str, room: float) -> None:
    network = lc.example(name)
    sizes = dict.fromkeys(network.variables, (188.0, 108.0))
    assert lay_out_layers(sizes, network.edges, room).width <= room


def test_a_tree_is_drawn_without_crossings() -> None:
    # A root with three children of two children each: leaves stand in the order of their parents.
    names = dict.fromkeys(range(10), (80.0, 30.0))
    edges = [(0, k) for k in (1, 2, 3)] + [(1 + k % 3, 4 + k) for k in range(6)]
    corner = lay_out_layers(names, edges, 1000).corner_of
    middle = sorted((1, 2, 3), key=lambda node: corner[node][0])
    leaves = sorted(range(4, 10), key=lambda node: corner[node][0])
    assert [1 + (leaf - 4) % 3 for leaf in leaves] == [node for node in middle for _ in range(2)]


def test_the_layout_is_the_same_every_time() -> None:
    network = lc.example("alarm")
    sizes = dict.fromkeys(network.variables, (188.0, 108.0))
    assert lay_out_layers(sizes, network.edges, 1240) == lay_out_layers(sizes, network.edges, 1240)
