from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import lacunet as lc
from examples import APPENDIX, RAIN, appendix_table
from lacunet.errors import LacunetError
from lacunet.network.network import Network
from lacunet.plots import (
    cpt_forest,
    cpt_heatmap,
    effect_forest,
    em_trace,
    learning_curves,
    missing_patterns,
    network_figure,
)
from lacunet.plots import forest as answers_forest
from lacunet.show.figures.charts import Estimate, Series, forest, heat_map, lines
from lacunet.show.figures.picture import POINTS_PER_PIXEL, Box, Disc, Line, Picture, Words, corners

SVG = "{http://www.w3.org/2000/svg}"


def texts(picture: Picture) -> list[str]:
    """The words of a picture, as its SVG holds them."""
    return [
        element.text or "" for element in ElementTree.fromstring(picture.svg()).iter(f"{SVG}text")
    ]


def test_the_heat_map_prints_every_probability_of_the_cpt() -> None:
    picture = cpt_heatmap(RAIN, "Wet")
    table = RAIN.cpt("Wet").table
    assert texts(picture)[-12:] == [
        word
        for label, row in zip(
            ["no, off", "no, on", "yes, off", "yes, on"], table.reshape(4, 2), strict=True
        )
        for word in (label, *(f"{p:.3f}" for p in row))
    ]
    shades = [s.style for s in picture.shapes if isinstance(s, Box)]
    assert shades == [f"heat-{round(10 * p)}" for p in table.ravel()]


def test_rows_without_data_are_hatched_in_the_heat_map() -> None:
    supported = RAIN.with_support({"Rain": 9, "Sprinkler": [5, 4], "Wet": [[5, 0], [4, 0]]})
    hatched = [s for s in cpt_heatmap(supported, "Wet").shapes if isinstance(s, Line)]
    assert [s.style for s in hatched] == ["hatch", "hatch"]


def test_a_cpt_too_large_to_draw_is_refused() -> None:
    with pytest.raises(LacunetError, match="64"):
        cpt_heatmap(lc.example("barley"), "ntilg")


def test_the_patterns_are_drawn_from_the_commonest_on() -> None:
    words = texts(missing_patterns(APPENDIX, appendix_table()))
    assert words == ["X", "33%", "Y", "33%", "44%", "22%", "22%", "11%"]


def test_the_trace_of_em_is_the_one_in_the_result() -> None:
    result = lc.learn(APPENDIX, appendix_table(), method=lc.EM(start="random"), rng=2)
    assert result.ended
    picture = em_trace(result)
    (drawn,) = (s for s in picture.shapes if isinstance(s, Line) and s.style == "s0-0")
    heights = np.array(re.findall(r"[ML][\d.]+,([\d.]+)", drawn.path), dtype=float)
    # Heights on paper are a linear function of the values.
    trace = np.array(result.ended.trace)
    slope = (heights[-1] - heights[0]) / (trace[-1] - trace[0])
    np.testing.assert_allclose(heights, heights[0] + slope * (trace - trace[0]), atol=0.06)


def test_ticks_that_differ_in_late_digits_count_from_the_top() -> None:
    climb = [-6443.330004, -6443.330002, -6443.330001, -6443.33]
    words = texts(lines([Series("EM", range(4), climb)], "iteration", "log-posterior"))
    assert {"-4e-06", "-3e-06", "-2e-06", "-1e-06", "log-posterior, from -6,443.33"} <= set(words)


def test_a_closed_form_has_no_trace_to_draw() -> None:
    with pytest.raises(LacunetError, match="no iterations"):
        em_trace(lc.learn(APPENDIX, appendix_table(), method="direct-mcar"))


def test_curves_show_the_median_and_the_quartiles() -> None:
    picture = learning_curves({"em": {10: [1, 2, 3, 4, 5], 100: [1.0] * 5}, "b": {10: [9.0]}})
    assert {"em (n=5)", "b (n=1)"} <= set(texts(picture))
    discs = [s for s in picture.shapes if isinstance(s, Disc) and s.style == "dot-0"]
    band = next(s for s in picture.shapes if isinstance(s, Line) and s.style == "band-0")
    heights = [float(y) for y in re.findall(r"[\d.]+,([\d.]+)", band.path)]
    at = np.log(np.array([4.0, 1.0, 1.0, 2.0]))  # quartiles: up at 10 and 100, back down
    slope = (discs[1].y - discs[0].y) / (np.log(1) - np.log(3))
    np.testing.assert_allclose(heights, discs[0].y + slope * (at - np.log(3)), atol=0.1)


def test_a_learning_curve_without_any_rows_is_refused_by_the_method() -> None:
    with pytest.raises(LacunetError, match="'em'"):
        learning_curves({"auto": {10: [1.0]}, "em": {}})


def test_the_legend_of_many_lines_is_lower_than_the_plot() -> None:
    many = [Series(f"method {k} (n=20)", [1, 2], [k, k + 1]) for k in range(20)]
    picture = lines(many, "rows", "error")
    assert picture.height - 230 < 230


def test_a_forest_shows_each_estimate_with_its_interval() -> None:
    picture = forest([Estimate("a", 0.3, 0.2, 0.4), Estimate("b", 0.5, 0.1, 0.9, 0.5)], "risk")
    assert {"0.300 [0.200, 0.400]", "0.500 [0.100, 0.900] 50% no data"} <= set(texts(picture))
    discs = [s for s in picture.shapes if isinstance(s, Disc)]
    assert [s.style for s in discs] == ["dot-0", "hollow"]
    left, right = (
        [
            float(s.path[1:].split(",")[0])
            for s in picture.shapes
            if isinstance(s, Line)
            and s.style == "s0-0"
            and len(set(re.findall(r"[ML]([0-9.]+)", s.path))) == 1
        ][k]
        for k in (0, 1)
    )
    assert discs[0].x == pytest.approx((left + right) / 2, abs=0.1)  # on a linear axis


NOT_ESTIMATES: list[Any] = [(0.3, 0.4, 0.2), (0.3, 0.4), "much", (0.3, 0.2, np.nan), np.nan, ()]


@pytest.mark.parametrize("given", NOT_ESTIMATES, ids=str)
def test_numbers_that_are_no_estimate_are_refused(given: Any) -> None:
    with pytest.raises(LacunetError, match=re.escape(f"'treated' is given {given!r}")):
        answers_forest({"treated": given})


def test_the_forest_of_a_cpt_has_the_intervals_of_the_result() -> None:
    result = lc.learn(APPENDIX, appendix_table(), method="direct-mcar", intervals=True)
    low, high = result.interval("X")[0, 0, 1]
    value = result.network.cpt("X").table[0, 0, 1]
    assert f"{value:.3f} [{low:.3f}, {high:.3f}]" in texts(cpt_forest(result, "X"))


def test_the_forest_of_answers_takes_their_intervals_and_share_without_data() -> None:
    network = lc.Network({"Age": ["kid", "adult"], "MI": ["no", "yes"]}, {"MI": ["Age"]})
    rows = {"Age": ["kid"] * 40 + ["adult"] * 60, "MI": [None] * 40 + ["no"] * 57 + ["yes"] * 3}
    result = lc.learn(network, rows, pseudo_counts=0, method="direct-mcar", intervals=True)
    answer = result.query("MI", unsupported="ignore")
    words = texts(answers_forest({"heart attack": answer, "other": 0.2}))
    assert "heart attack" in words
    assert sum("40% no data" in word for word in words) == 2
    assert "0.200" in words


def test_the_forest_of_a_variable_with_one_state_is_drawn() -> None:
    network = lc.Network({"A": ["always"]})
    result = lc.learn(network, {"A": ["always", None]}, method="em", intervals=True)
    assert "1.000" in " ".join(texts(cpt_forest(result, "A")))


def test_points_that_a_logarithm_cannot_show_are_left_out() -> None:
    picture = lines([Series("em", [0, 10, 100], [3.0, 2.0, 1.0])], "rows", "KL", log_x=True)
    assert sum(isinstance(shape, Disc) for shape in picture.shapes) == 2


def test_the_network_figure_names_what_is_missing_and_what_hides_it() -> None:
    result = lc.learn(APPENDIX, appendix_table(), method="direct-mcar")
    picture = network_figure(result, missingness="W -> R[X]; X <-> R[Y]")
    words = texts(picture)
    assert sorted(words) == sorted([*"XYWZ", *["33% missing", "0% missing"] * 2, "R[X]", "R[Y]"])
    dashed = [s for s in picture.shapes if isinstance(s, Line) and s.style == "cause"]
    assert len(dashed) == 1 + 2  # an edge, and a bow drawn from both ends


@pytest.mark.parametrize("text", ["W -> R[*]", "W <-> R[*]", "R[X] <-> R[*]; R[X]"])
def test_whether_rows_are_recorded_is_drawn_in_the_network_figure(text: str) -> None:
    assert "R[*]" in texts(network_figure(APPENDIX, missingness=text))


@pytest.mark.parametrize(
    ("kind", "start"), [(".svg", b"<svg"), (".pdf", b"%PDF"), (".png", b"\x89PNG")]
)
def test_a_picture_is_written_as_its_name_ends(tmp_path: Path, kind: str, start: bytes) -> None:
    picture = missing_patterns(APPENDIX, appendix_table())
    picture.write(tmp_path / f"patterns{kind}")
    assert (tmp_path / f"patterns{kind}").read_bytes().startswith(start)


def test_a_picture_that_cannot_be_written_says_why(tmp_path: Path) -> None:
    with pytest.raises(LacunetError, match="folder"):
        network_figure(RAIN).write(tmp_path / "nowhere" / "rain.svg")


def test_a_picture_has_no_other_kind(tmp_path: Path) -> None:
    with pytest.raises(LacunetError, match=r"patterns\.gif"):
        missing_patterns(APPENDIX, appendix_table()).write(tmp_path / "patterns.gif")


def test_matplotlib_draws_the_same_words_at_the_same_places() -> None:
    picture = network_figure(RAIN)
    (axes,) = picture.figure().axes
    words = [s for s in picture.shapes if isinstance(s, Words)]
    drawn = [(text.get_text(), *text.get_position()) for text in axes.texts]
    assert drawn == [(s.text, s.x, s.y) for s in words]


def test_names_that_are_markup_or_mathematics_are_drawn_as_they_are() -> None:
    name = '<b>"$x_1$"&'
    network = lc.Network({name: ["a", "$b$"]}, {}, {name: [0.5, 0.5]})
    assert name in texts(network_figure(network))
    (axes,) = network_figure(network).figure().axes
    assert axes.texts[0].get_text() == name
    axes.figure.canvas.draw()


def test_hatching_stays_within_its_box() -> None:
    bare = heat_map(np.ones((1, 1)), ["r"], ["c"], title="t", given="g", is_supported=[False])
    (stroke,) = (shape for shape in bare.shapes if isinstance(shape, Line))
    points = np.array(re.findall(r"[ML]([\d.]+),([\d.]+)", stroke.path), dtype=float)
    assert points[:, 1].min() >= 46
    assert points[:, 1].max() <= 69


def test_the_forest_of_an_effect_has_its_contrasts_and_a_line_without_effect() -> None:
    network = lc.Network(
        {"X": ["no", "yes"], "Y": ["no", "yes"]},
        {"Y": ["X"]},
        {"X": [0.5, 0.5], "Y": [[0.8, 0.2], [0.5, 0.5]]},
    )
    effect = network.effect("Y", do="X")
    assert "0.300" in texts(effect_forest(effect))
    assert "4.000" in texts(effect_forest([effect], "odds ratio"))
    with pytest.raises(lc.LacunetError, match="'risk'"):
        effect_forest(effect, "risk")


@pytest.mark.parametrize("draw", [em_trace, lambda network: cpt_forest(network, "dysp")])
def test_what_only_a_result_has_is_not_drawn_of_a_network(draw: Any) -> None:
    with pytest.raises(LacunetError, match="learning"):
        draw(lc.example("asia"))


def test_one_estimate_is_one() -> None:
    assert answers_forest({"a": 0.5}).words == "probability: 1 estimate"


LONG = "VENTRICULAR_MINUTE_VOLUME_OF_THE_ALVEOLI_" + "W" * 22  # 63 letters


def difficult() -> Network:
    """Capitals, 63 letters, 40 states, characters of double width, accents."""
    states = {LONG: ["NEVER ASKED", "yes"], "年齢階級": [f"state {k}" for k in range(40)]}
    states |= {"Größe": ["ΜΕΓΑΛΟ", "НИЗКИЙ"]}
    tables = {
        LONG: np.full(2, 0.5),
        "年齢階級": np.full((2, 40), 1 / 40),
        "Größe": np.full((40, 2), 0.5),
    }
    return Network(states, {"年齢階級": [LONG], "Größe": ["年齢階級"]}, tables)


def figures() -> dict[str, Picture]:
    """Figures of every kind, with labels that are hard to make room for."""
    rows = lc.simulate(lc.example("asia"), 300, lc.MCAR(0.3, share=0.5), rng=3).table
    result = lc.learn(lc.example("asia"), rows, method="em", intervals=True)
    curves = {f"{LONG} {k}": {300: [0.3, 0.2], 700: [0.2], 3000: [0.1]} for k in range(2)}
    return {
        "network": network_figure(lc.example("alarm")),
        "mechanisms": network_figure(result, missingness="smoke -> R[lung]; R[lung] -> R[xray]"),
        "difficult": network_figure(difficult()),
        "turned": cpt_heatmap(difficult(), "年齢階級"),
        "heat": cpt_heatmap(difficult(), "Größe"),
        "effect": effect_forest(result.effect("dysp", do="smoke")),
        "forest": answers_forest({LONG: (0.3, 0.2, 0.4), "b": (0.2, 0.1, 0.9)}, reference=0.25),
        "curves": learning_curves(curves, LONG),
        "trace": em_trace(result),
    }


@pytest.mark.filterwarnings("ignore:Glyph", "ignore:P\\(dysp")
def test_words_stay_within_the_figure_and_names_within_their_boxes() -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    for kind, picture in figures().items():
        drawn = picture.figure()
        renderer = FigureCanvasAgg(drawn).get_renderer()
        (axes,) = drawn.axes
        scale = drawn.dpi * POINTS_PER_PIXEL / 72
        words = [shape for shape in picture.shapes if isinstance(shape, Words)]
        boxes = [shape for shape in picture.shapes if isinstance(shape, Box) and shape.radius]
        for shape, text in zip(words, axes.texts, strict=True):
            extent = text.get_window_extent(renderer)
            left, right = extent.x0 / scale, extent.x1 / scale
            assert left > -1, (kind, shape)
            assert right < picture.width + 1, (kind, shape)
            around = [
                b for b in boxes if b.x <= shape.x <= b.x + b.width and 0 < shape.y - b.y < b.height
            ]
            assert all(b.x < left and right < b.x + b.width for b in around), (kind, shape)


def test_characters_that_no_font_has_are_told_of_once(tmp_path: Path) -> None:
    unknown = "\u18b0\u18b1"  # of Canada's syllabics: nobody needs another font than ours for these
    picture = answers_forest({unknown: 0.5})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        picture.write(tmp_path / "figure.png")
    assert [warning.category for warning in caught] == [lc.LacunetWarning]
    assert unknown in str(caught[0].message)


def test_labels_of_a_forest_tell_the_rows_of_a_cpt_apart() -> None:
    network = lc.Network(
        {LONG: ["NEVER ASKED", "yes"], "B" * 63: ["high", "low"], "C": ["no", "yes"]},
        {"C": [LONG, "B" * 63]},
    )
    rows = {LONG: ["yes", "NEVER ASKED"] * 40, "B" * 63: ["high", "low"] * 40, "C": ["no"] * 80}
    picture = cpt_forest(lc.learn(network, rows, intervals=True), "C")
    labels = [
        shape.text for shape in picture.shapes if isinstance(shape, Words) and shape.anchor == "end"
    ]
    assert len(labels) == len({*labels}) == 4


def test_an_axis_of_logarithms_has_three_numbers_or_more() -> None:
    for far in (400, 700, 3_000, 40_000):
        picture = learning_curves({"em": {300: [0.4], far: [0.1]}})
        below = [w for w in picture.shapes if isinstance(w, Words) and w.y > 200]
        assert sum(w.text.replace(",", "").isdigit() for w in below) >= 3, far


def test_the_grid_of_a_forest_leaves_the_headings_free() -> None:
    rows = lc.example_data("screening")
    network = lc.learn(lc.example("screening"), rows, intervals=True)
    picture = effect_forest(network.effect("Test", do="Disease"))
    heads = [shape for shape in picture.shapes if isinstance(shape, Words) and shape.is_bold]
    assert heads
    lines = [corners(shape.path) for shape in picture.shapes if isinstance(shape, Line)]
    upright = [(a[1], b[1]) for a, b in (line for line in lines if len(line) == 2) if a[0] == b[0]]
    assert upright
    assert not [pair for pair in upright for head in heads if pair[0] < head.y < pair[1]]
