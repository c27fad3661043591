"""What a page looks like: sizes, contrast, room, keyboard, print; measured in the browser."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from browsing import TARGETS, TEXTS, Opened, needs_browser
from standins import SOURCE, carried, page_with, unpacked

import lacunet as lc
from golden import golden
from lacunet.data.read import read_table
from lacunet.network.network import Network
from lacunet.show.network_page import ShownNetwork, pair_page
from lacunet.show.pages.kit import write_page
from lacunet.show.results.result_page import page
from lacunet.show.verdicts.verdict_on_data import GraphReport, report_on_data
from lacunet.show.verdicts.verdict_page import page as recovered_page

pytestmark = needs_browser


@pytest.fixture(scope="module")
def alarm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    case = golden("alarm-mar")
    result = lc.learn(case.network, case.table, method="em", intervals=True)
    path = tmp_path_factory.mktemp("looks") / "alarm.html"
    write_page(path, page_with(result, case.table, level=0.95))
    return path


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_every_text_is_large_and_clear_enough_to_be_read(
    browser: Any, alarm: Path, width: int, scheme: str
) -> None:
    check_texts(browser, alarm, width, scheme)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "scheme"), [(1280, "dark"), (768, "light"), (768, "dark"), (390, "light")]
)
def test_every_text_is_large_and_clear_enough_at_all_widths(
    browser: Any, alarm: Path, width: int, scheme: str
) -> None:
    check_texts(browser, alarm, width, scheme)


def check_texts(browser: Any, path: Path, width: int, scheme: str) -> None:
    with Opened(browser, path, width, scheme, after="#HRBP=HIGH&do(CO)=LOW&CATECHOL") as opened:
        opened.page.evaluate(
            "document.querySelectorAll('details').forEach(d => { d.open = true; })"
        )
        texts = opened.page.evaluate(TEXTS)
        assert len(texts) > 500
        assert [text for text in texts if text["size"] < 10.99] == []
        assert [text for text in texts if text["contrast"] < 4.5] == []


@pytest.mark.parametrize(("width", "least"), [(1280, 24), (390, 32)])
def test_what_can_be_pressed_is_large_enough(
    browser: Any, alarm: Path, width: int, least: int
) -> None:
    with Opened(browser, alarm, width, after="#HRBP=HIGH") as opened:
        targets = opened.page.evaluate(TARGETS)
        assert len(targets) > 100
        assert [target for target in targets if target[2] < least - 0.5] == []
        assert [target for target in targets if target[1] < 23.5] == []


@pytest.fixture(scope="module")
def drawings(alarm: Path) -> dict[str, Path]:
    """Pages whose cards are of different sizes: with bars, with two bars, without, mechanisms."""
    network = lc.example("alarm")
    graph = lc.MissingnessGraph.parse("HR -> R[CVP]; R[CVP] -> R[PCWP]; R[TPR]", network)
    answers = [report_on_data(verdict) for verdict in graph.recover_families().values()]
    texts = {
        "two": pair_page(ShownNetwork("a", network), ShownNetwork("b", network)),
        "graph": recovered_page(GraphReport(graph, answers), SOURCE),
    }
    for name, text in texts.items():
        write_page(alarm.with_name(f"{name}.html"), text)
    return {"one": alarm, **{name: alarm.with_name(f"{name}.html") for name in texts}}


@pytest.mark.parametrize("kind", ["one", "two", "graph"])
@pytest.mark.parametrize("width", [1280, 768])
def test_cards_do_not_overlap_and_stand_within_the_frame(
    browser: Any, drawings: dict[str, Path], kind: str, width: int
) -> None:
    boxes = """() => [...document.querySelectorAll("#drawing .card")].map(c => {
      const b = c.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; })"""
    with Opened(browser, drawings[kind], width) as opened:
        cards = opened.page.evaluate(boxes)
        assert len(cards) == (40 if kind == "graph" else 37)
        frame = opened.page.locator("#drawing").bounding_box()
        assert all(frame["x"] <= c[0] and c[2] <= frame["x"] + frame["width"] for c in cards)
        for at, a in enumerate(cards):
            for b in cards[at + 1 :]:
                assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def test_no_column_of_a_cpt_is_cut_off_at_a_common_width(browser: Any, alarm: Path) -> None:
    with Opened(browser, alarm, 1280, after="#CATECHOL") as opened:
        assert opened.page.eval_on_selector("#cpt", "r => r.scrollWidth <= r.clientWidth")
        panel = opened.page.locator("#panel").bounding_box()
        drawing = opened.page.locator("#drawing").bounding_box()
        assert drawing["width"] > 1200
        assert panel["y"] >= drawing["y"] + drawing["height"]


def test_a_phone_lists_all_variables_and_opens_a_cpt_below_its_card(
    browser: Any, alarm: Path
) -> None:
    with Opened(browser, alarm, 390, after="#HRBP=HIGH") as opened:
        assert not opened.page.is_visible("#drawing")
        assert opened.page.locator("#others .card").count() == 37
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390
        card = opened.page.locator(".card", has=opened.page.locator("text=TPR").first).first
        card.locator(".head").click()
        assert "P(TPR" in opened.page.inner_text("#panel-title")
        after = opened.page.evaluate("document.querySelector('.card.chosen').nextElementSibling.id")
        assert after == "panel"
        assert opened.faults == []


def test_the_reason_of_the_method_is_a_sentence_and_not_a_card(alarm: Path) -> None:
    network = lc.example("asia")
    rows = lc.simulate(network, 200, lc.MCAR(0.3, share=0.5), rng=1).table
    result = lc.learn(network, rows, method="auto")
    text = page_with(result, rows)
    tiles = text[text.index('<div class="tiles">') : text.index("<main")]
    assert result.why
    assert result.why[:40] not in tiles
    assert f"{result.why[:40]}" in text


def test_the_title_names_the_network_and_the_data() -> None:
    case = golden("asia-mar")
    text = page_with(lc.learn(case.network, case.table, method="direct-mcar"), case.table)
    assert "<title>a.bif, &lt;b&gt;.csv: 8 CPTs" in text
    assert "<h1><bdi>a.bif, &lt;b&gt;.csv: </bdi><bdi>8 CPTs by direct-mcar from " in text


def test_the_weakest_cpt_says_what_makes_it_the_weakest() -> None:
    network = Network({"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]})
    rows = {"A": ["0"] * 50, "B": ["0", "1"] * 25}
    table = read_table(rows, network)
    text = page_with(lc.learn(network, table, method="direct-mcar"), table)
    tile = text[text.index("weakest CPT") :][:300]
    assert "<bdi>B</bdi>" in tile
    assert "1 of 2" in tile


def test_moves_of_certain_shares_are_told_in_sensible_standard_errors() -> None:
    # Of 400 rows that show both, none has B=1 where A=0; the learned share there is 1/202.
    network = Network({"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]})
    rows = {"A": ["0", "1"] * 200 + [None] * 9, "B": ["0", "1"] * 200 + ["0"] * 9}
    table = read_table(rows, network)
    text = page_with(lc.learn(network, table, method="direct-mcar"), table)
    section = text[text.index('id="complete"') :]
    errors = [float(cell) for cell in _column(section, 5)]
    assert errors
    assert max(errors) < 20


def _column(section: str, at: int) -> list[str]:
    """The texts of one column of the first table of a section."""
    from xml.etree import ElementTree

    body = section[section.index("<tbody>") : section.index("</tbody>") + 8]
    return [row[at].text or "" for row in ElementTree.fromstring(body)]


def test_rows_behind_are_rows_also_where_they_are_weighted() -> None:
    network = Network({"A": ["0", "1"]}, {})
    rows = {"A": ["0", "1", "1"], "w": [85_151_008.0, 2.5, 3.5]}
    result = lc.learn(network, lc.Data(rows, weight="w"), method="direct-mcar")

    _, behind = unpacked(carried(page(result, None, SOURCE)), network)
    assert behind[0].tolist() == 3


def test_subscripts_stand_below_the_line(browser: Any, alarm: Path) -> None:
    with Opened(browser, alarm, after="#HRBP") as opened:
        gaps = opened.page.evaluate(
            """() => [...document.querySelectorAll("#panel msub")].map(sub => {
              const [base, low] = [...sub.children].map(e => e.getBoundingClientRect());
              return low.bottom - base.bottom; })"""
        )
        assert gaps
        assert min(gaps) > 0.5
        fonts = opened.page.eval_on_selector("math", "m => getComputedStyle(m).fontFamily")
        assert fonts.startswith('"Cambria Math", "STIX Two Math", "Latin Modern Math"')


def test_cells_that_a_spreadsheet_would_run_are_made_tame(browser: Any, tmp_path: Path) -> None:
    states = ["=1+1", "+2", "-3", "@sum", "plain", 'a,"b"']
    network = Network({"=cmd()": states, "B": ["0", "1"]}, {"B": ["=cmd()"]})
    rows = {"=cmd()": states * 3, "B": ["0", "1"] * 9}
    write_page(tmp_path / "page.html", page(lc.learn(network, rows, method="direct-mcar")))
    with Opened(browser, tmp_path / "page.html") as opened:
        opened.choose("B")
        with opened.page.expect_download() as download:
            opened.page.click("text=save as CSV")
        lines = list(csv.reader(io.StringIO(download.value.path().read_text())))
        assert lines[0][0] == "'=cmd()"
        assert [line[0] for line in lines[1:]] == ["'=1+1", "'+2", "'-3", "'@sum", "plain", 'a,"b"']
        assert all(float(line[1]) >= 0 for line in lines[1:])


def test_a_page_without_motion_does_not_move(browser: Any, alarm: Path) -> None:
    with Opened(browser, alarm, reduced_motion="reduce") as opened:
        moves = opened.page.eval_on_selector(".track .fill", "e => getComputedStyle(e).transition")
        assert moves in ("none", "none 0s ease 0s") or "0s" in moves
        assert (
            opened.page.eval_on_selector(
                ".track .fill", "e => getComputedStyle(e).transitionDuration"
            )
            == "0s"
        )


def test_print_leaves_out_what_can_only_be_pressed(browser: Any, alarm: Path) -> None:
    with Opened(browser, alarm, after="#HRBP=HIGH") as opened:
        opened.page.emulate_media(media="print")
        assert not opened.page.is_visible("#find")
        assert opened.page.is_visible("#evidence-probability")
        assert opened.page.is_visible("#families")
        assert (
            opened.page.eval_on_selector("#asked", "e => getComputedStyle(e).position") == "static"
        )
        opened.page.set_viewport_size({"width": 718, "height": 1000})
        for table in ("#families", "#provenance table", "#complete table"):
            box = opened.page.locator(table).first.bounding_box()
            assert box["x"] + box["width"] <= 718, table  # nothing is cut off on A4


A4, LETTER = (718, 1000), (740, 960)  # what margins of a centimetre leave, in pixels
FITS = """() => [...document.querySelectorAll("#drawing .card, #others .card")].map(card => {
  const b = card.getBoundingClientRect(), drawing = card.closest(".sized");
  const low = drawing ? drawing.getBoundingClientRect().bottom + 1 : Infinity;
  return !b.width || b.left < 0 || b.right > innerWidth || b.bottom > low; })"""


@pytest.mark.parametrize("sheet", [A4, LETTER])
@pytest.mark.parametrize("after", ["", "#HRBP=HIGH&CVP=LOW"])
def test_paper_has_every_card_and_every_warning(
    browser: Any, alarm: Path, sheet: tuple[int, int], after: str
) -> None:
    with Opened(browser, alarm, after=after) as opened:
        assert opened.page.locator("#learned details:not([open])").count() == 1
        width, height = sheet
        opened.page.set_viewport_size({"width": width, "height": height})
        opened.page.emulate_media(media="print")
        opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        drawing = opened.page.locator(".sized").bounding_box()
        assert drawing["width"] <= width
        assert drawing["height"] <= height
        assert opened.page.locator("#drawing .card").count() == 37
        assert opened.page.locator("#others .card").count() == 37  # words in the drawing are small
        assert not any(opened.page.evaluate(FITS))
        assert opened.page.locator("details:not([open])").count() == 0
        opened.page.evaluate("dispatchEvent(new Event('afterprint'))")
        opened.page.emulate_media(media="screen")
        assert opened.page.locator("#others .card").count() == 0
        assert opened.page.locator("#learned details:not([open])").count() == 1
        assert opened.faults == []


def test_the_network_begins_above_the_fold(browser: Any, alarm: Path) -> None:
    for width, height in ((1280, 900), (960, 720)):  # a window, the frame in a notebook
        with Opened(browser, alarm, width, after="#HRBP=HIGH") as opened:
            top = opened.page.locator("#drawing").bounding_box()["y"]
            assert top < 0.4 * height


def test_in_a_narrow_column_the_drawing_is_scaled(browser: Any, alarm: Path) -> None:
    with Opened(browser, alarm, 600) as opened:
        assert opened.page.locator("#drawing .card").count() == 37
        assert not any(opened.page.evaluate(FITS))
        assert opened.page.eval_on_selector("#drawing", "d => d.scrollWidth <= d.clientWidth")


def test_a_card_is_as_wide_as_its_states_need(browser: Any, alarm: Path) -> None:
    cut = """() => [...document.querySelectorAll("#drawing .label, #drawing .head .title")]
      .filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent)"""
    with Opened(browser, alarm) as opened:
        assert opened.page.evaluate(cut) == []


def test_two_results_share_bars_and_evidence(browser: Any, tmp_path: Path) -> None:
    case = golden("asia-mar")
    results = [lc.learn(case.network, case.table, method=m) for m in ("em", "direct-mcar")]
    sides = [ShownNetwork(r.method, r.network) for r in results]
    write_page(tmp_path / "pair.html", pair_page(*sides))
    with Opened(browser, tmp_path / "pair.html") as opened:
        opened.bar("smoke", "yes").click()
        assert opened.page.locator(".track .whisker:visible").count() == 0  # learned without
        for attribute, result in zip(("belief", "otherBelief"), results, strict=True):
            shown = opened.numbers(attribute)
            for name in case.network.variables:
                expected = result.network.query(name, {"smoke": "yes"}, unsupported="ignore")
                assert list(shown[name].values()) == pytest.approx(
                    expected.probabilities.tolist(), abs=1e-9
                )
        assert opened.page.locator("#cpt").count() == 1
        assert opened.page.locator("#cpt1").count() == 1
        texts = opened.page.evaluate(TEXTS)
        assert [t for t in texts if t["contrast"] < 4.5 or t["size"] < 10.99] == []
        assert opened.faults == []
