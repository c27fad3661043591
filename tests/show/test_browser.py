"""The pages in a real browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import Opened, needs_browser
from standins import HOSTILE, SOURCE, hostile, learned, page_with

import lacunet as lc
from golden import golden
from lacunet.counts.missing_values import missing_summary
from lacunet.data.read import read_table
from lacunet.learning.result import Result
from lacunet.network.network import Network
from lacunet.show.diagnosis_page import page as diagnosed_page
from lacunet.show.pages.kit import document, table, write_page
from lacunet.show.verdicts.verdict_on_data import GraphReport, report_on_data
from lacunet.show.verdicts.verdict_page import page as recovered_page
from lacunet.simulation.at_random import MAR
from lacunet.simulation.simulate import simulate

pytestmark = needs_browser


@pytest.fixture(scope="module")
def alarm(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    case = golden("alarm-mar")
    result = learned(case.network, case.table)
    path = tmp_path_factory.mktemp("pages") / "alarm.html"
    write_page(path, page_with(result, case.table))
    return result, path


def test_the_cpt_shown_is_the_cpt_learned(browser: Any, alarm: tuple[Result, Path]) -> None:
    result, path = alarm
    opened = Opened(browser, path)
    for name in ("HR", "CATECHOL", "VENTLUNG"):
        opened.choose(name)
        if opened.page.locator("#cpt tr.folded").count():
            opened.page.click("#cpt tr.folded button")
        table = result.network.cpt(name).table
        expected = table.reshape(-1, table.shape[-1])
        np.testing.assert_allclose(opened.shown_cpt(), expected, rtol=0, atol=5.0001e-4)
    assert opened.faults == []
    opened.context.close()


def test_names_that_are_markup_are_shown_as_text(browser: Any, tmp_path: Path) -> None:
    network, table = hostile()
    write_page(tmp_path / "hostile.html", page_with(learned(network, table), table))
    opened = Opened(browser, tmp_path / "hostile.html")
    opened.choose(HOSTILE)
    assert HOSTILE in opened.page.inner_text("#panel-title")
    assert opened.page.locator("img").count() == 0
    assert "<b>" in opened.page.inner_text("#cpt")
    assert opened.page.evaluate("document.querySelectorAll('#cpt b').length") == 0
    assert opened.faults == []
    opened.context.close()


def test_intervals_are_shown_below_their_probabilities(browser: Any, tmp_path: Path) -> None:
    network = Network({"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]})
    rows = {"A": ["0", "1", None] * 20, "B": ["0", "1", "1", "0", None] * 12}
    table = read_table(rows, network)
    result = lc.learn(network, table, method="direct-mcar", intervals=True)
    write_page(tmp_path / "sure.html", page_with(result, table, level=0.95))
    with Opened(browser, tmp_path / "sure.html") as opened:
        opened.choose("B")
        shown = opened.page.eval_on_selector_all("#cpt small", "all => all.map(o => o.innerText)")
        ends = result.interval("B")
        low, high = np.floor(1e4 * ends[..., 0]), np.ceil(1e4 * ends[..., 1])
        pairs = [[float(end) for end in text.split("–")] for text in shown]
        # Three digits of what is carried in four.
        np.testing.assert_allclose(
            pairs, np.stack([low, high], -1).reshape(-1, 2) / 1e4, rtol=0, atol=5.001e-4
        )
        assert "95%" in opened.page.inner_text("#panel")
        whisker = opened.bar("B", "0").locator(".whisker")
        assert whisker.is_visible()
        opened.ask({"A": "0"})
        assert whisker.is_visible()
        shown_ends = opened.numbers("low")["B"]["0"], opened.numbers("high")["B"]["0"]
        np.testing.assert_allclose(shown_ends, result.query("B", {"A": "0"}).interval[0], atol=1e-4)
        assert opened.page.locator("#sure").is_hidden()
        assert opened.faults == []


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of every kind but that of learning, with hostile names where names can be any."""
    folder = tmp_path_factory.mktemp("kinds")
    network, table = hostile()
    graph = lc.MissingnessGraph.parse("R[B]", network)
    answers = [report_on_data(verdict) for verdict in graph.recover_families().values()]
    texts = {
        "recovered": recovered_page(GraphReport(graph, answers), SOURCE),
        "diagnosed": diagnosed_page(
            lc.diagnose(table, network), missing_summary(table, []), SOURCE
        ),
    }
    for name, text in texts.items():
        write_page(folder / f"{name}.html", text)
    return {name: folder / f"{name}.html" for name in texts}


@pytest.mark.parametrize("kind", ["recovered", "diagnosed"])
def test_every_kind_of_page_stays_within_a_phone_and_to_itself(
    browser: Any, written: dict[str, Path], kind: str
) -> None:
    opened = Opened(browser, written[kind], 390, "dark", waits=kind == "recovered")
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert opened.page.locator("img").count() == 0
    assert HOSTILE in opened.page.inner_text("main")
    assert opened.faults == []
    if kind == "recovered":
        assert opened.page.locator(".card").count() == 2
    with opened.page.expect_download() as download:
        opened.page.click("[data-save]")
    assert json.loads(download.value.path().read_text())["kind"] == kind
    opened.context.close()


def test_a_column_of_labels_is_sorted_by_text_and_one_of_numbers_by_value(
    browser: Any, tmp_path: Path
) -> None:
    rows = [["Age", "10"], ["2nd visit", "9"], ["10th visit", "1,000"], ["1st visit", "< 2"]]
    body = [table(["variable", "rows"], rows, identifier="sorted")]
    write_page(tmp_path / "page.html", document("sorted", body, scripts=["sorting.js"]))
    opened = Opened(browser, tmp_path / "page.html", waits=False)
    cells = opened.page.locator("#sorted tbody td:first-child")
    opened.page.click("#sorted th:first-child button")
    assert cells.all_inner_texts() == ["Age", "2nd visit", "1st visit", "10th visit"]
    opened.page.click("#sorted th:last-child button")
    assert cells.all_inner_texts() == ["10th visit", "Age", "2nd visit", "1st visit"]
    opened.context.close()


def test_what_decides_whether_a_row_is_recorded_is_drawn(browser: Any, tmp_path: Path) -> None:
    graph = lc.MissingnessGraph.parse("smoke -> R[xray]; asia -> R[*]", lc.example("asia"))
    write_page(tmp_path / "page.html", recovered_page(GraphReport(graph), SOURCE))
    opened = Opened(browser, tmp_path / "page.html")
    boxes = opened.page.locator(".card.mechanism")
    assert boxes.all_inner_texts() == ["R[xray]", "R[*]"]
    assert "recorded" in boxes.last.get_attribute("title")
    assert opened.page.locator("path.edge.cause").count() == 2
    assert opened.faults == []
    opened.context.close()


@pytest.mark.slow
def test_rows_without_support_are_hatched_and_folded_into_one_line(
    browser: Any, alarm: tuple[Result, Path]
) -> None:
    result, path = alarm
    name = max(result.families, key=lambda v: result.families[v].unsupported)
    report = result.families[name]
    assert report.unsupported > 3
    with Opened(browser, path) as opened:
        opened.choose(name)
        assert len(opened.shown_cpt()) == report.support.size - report.unsupported
        folded = opened.page.locator("#cpt tr.folded")
        assert f"{report.unsupported} of {report.support.size}" in folded.inner_text()
        folded.locator("button").click()
        assert len(opened.shown_cpt()) == report.support.size
        picture = "r => getComputedStyle(r.cells[0]).backgroundImage"
        assert "gradient" in opened.page.eval_on_selector("#cpt tr.unsupported", picture)


@pytest.mark.slow
def test_the_keyboard_walks_the_network_and_opens_the_table(
    browser: Any, alarm: tuple[Result, Path]
) -> None:
    result, path = alarm
    with Opened(browser, path) as opened:
        opened.choose("CO")
        opened.page.focus("#drawing .chosen .head")
        opened.page.keyboard.press("ArrowUp")
        assert f"P({result.network.parents('CO')[0]}" in opened.page.inner_text("#panel-title")
        assert opened.page.evaluate("document.activeElement.matches('.chosen .head')")
        opened.page.keyboard.press("Enter")
        assert opened.page.evaluate("document.activeElement.id") == "panel"
        assert opened.faults == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 768, 1920])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out_at_any_width(
    browser: Any, alarm: tuple[Result, Path], width: int, scheme: str
) -> None:
    opened = Opened(browser, alarm[1], width, scheme)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    dark = opened.page.evaluate("getComputedStyle(document.body).backgroundColor") != (
        "rgb(255, 255, 255)"
    )
    assert dark == (scheme == "dark")
    assert opened.faults == []
    opened.context.close()


@pytest.mark.slow
def test_the_saved_network_is_the_learned_one(
    browser: Any, alarm: tuple[Result, Path], tmp_path: Path
) -> None:
    result, path = alarm
    opened = Opened(browser, path)
    with opened.page.expect_download() as download:
        opened.page.click("#save-network")
    download.value.save_as(tmp_path / "network.json")
    opened.context.close()
    saved = lc.read_network(tmp_path / "network.json")
    assert saved.states_of == result.network.states_of
    assert saved.parents_of == result.network.parents_of
    for cpt in saved.cpts:
        learned_table = result.network.cpt(cpt.child).table
        np.testing.assert_array_equal(cpt.table, learned_table)
    assert saved.support is not None
    assert result.network.support is not None
    for name, supported in result.network.support.items():
        np.testing.assert_array_equal(saved.support[name], supported)


@pytest.mark.slow
def test_folding_a_parent_shows_the_mean_weighted_by_rows(
    browser: Any, alarm: tuple[Result, Path]
) -> None:
    result, path = alarm
    opened = Opened(browser, path)
    name = "EXPCO2"
    opened.choose(name)
    folded = result.network.parents(name)[0]
    opened.page.get_by_label(f"rows for {folded}").select_option("fold")
    support = np.asarray(result.families[name].support)
    table = result.network.cpt(name).table
    weight = support.sum(axis=0)[:, None]
    mean = (table * support[..., None]).sum(axis=0)
    expected = [row / w for row, w in zip(mean, weight[:, 0], strict=True) if w]
    shown = opened.shown_cpt()
    np.testing.assert_allclose([row for row in shown if len(row)], expected, rtol=0, atol=5.0001e-4)
    opened.context.close()


@pytest.mark.slow
def test_a_large_network_opens_on_the_weakest_variable_and_its_neighbours(
    browser: Any, tmp_path: Path
) -> None:
    drawn = simulate(
        lc.example("munin1"), 500, MAR(share=0.3, beta=(1.0, 0.5)), rng=np.random.default_rng(2)
    )
    result = learned(drawn.network, drawn.table)
    write_page(tmp_path / "munin1.html", page_with(result, drawn.table))
    with Opened(browser, tmp_path / "munin1.html") as opened:
        weakest = opened.page.inner_text("#families tbody tr:first-child td:first-child")
        assert opened.page.locator("#drawing .card").count() == len(
            _blanket(drawn.network, weakest)
        )
        assert opened.page.locator("#others .card, #drawing .card").count() == 186
        opened.page.click("#whole")
        assert opened.page.locator("#drawing .card").count() == 186
        assert opened.faults == []


def _blanket(network: Network, variable: str) -> set[str]:
    children = [v for v in network.variables if variable in network.parents(v)]
    spouses = {parent for child in children for parent in network.parents(child)}
    return {variable, *network.parents(variable), *children, *spouses}


@pytest.mark.slow
def test_without_scripts_the_tables_are_still_there(
    browser: Any, alarm: tuple[Result, Path]
) -> None:
    context = browser.new_context(java_script_enabled=False)
    shown = context.new_page()
    shown.goto(alarm[1].as_uri())
    assert shown.locator("#families tbody tr").count() == 37
    assert shown.locator("noscript").is_visible()
    context.close()
