"""Pages from Python: in a notebook's frame, in a file, two side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browsing import Opened, needs_browser
from standins import carried

import lacunet as lc
from examples import APPENDIX, appendix_table
from lacunet.errors import LacunetError

pytestmark = needs_browser


def test_a_report_says_more_with_the_data(tmp_path: Path) -> None:
    table = appendix_table()
    result = lc.learn(APPENDIX, table, method="em", intervals=True)
    result.report(tmp_path / "plain.html")
    result.report(tmp_path / "data.html", table, level=0.8, missingness="W -> R[X]; R[Y]")
    plain, more = ((tmp_path / f"{name}.html").read_text() for name in ("plain", "data"))
    assert 'id="missing"' not in plain
    assert 'id="missing"' in more
    assert carried(plain)["level"] == 0.95
    assert carried(more)["level"] == 0.8
    assert len(carried(more)["mechanisms"]) == 2


def test_a_report_weighs_the_rows_as_learning_did(tmp_path: Path) -> None:
    rows = {"A": ["0", "1"] * 20, "B": ["0", None, "1", "0"] * 10, "Weight": ["1.5", "0"] * 20}
    result = lc.learn("A -> B", lc.Data(rows, weight="Weight"), "direct-mcar")
    result.report(tmp_path / "plain.html", rows)
    result.report(tmp_path / "said.html", lc.Data(rows, weight="Weight"))
    plain, said = (carried((tmp_path / f"{name}.html").read_text()) for name in ("plain", "said"))
    assert plain == said


def test_a_page_answers_questions_inside_a_notebook(browser: Any, tmp_path: Path) -> None:
    result = lc.learn(APPENDIX, appendix_table(), method="em")
    cell = result._repr_html_()
    (tmp_path / "notebook.html").write_text(f"<!DOCTYPE html><p>a cell</p>{cell}")
    with Opened(browser, tmp_path / "notebook.html", waits=False) as opened:
        frame = opened.page.frame_locator("iframe")
        bar = frame.locator('[data-variable="W"][data-state="1"]')
        bar.click()
        frame.locator('[data-variable="W"][data-state="1"][data-belief="1"]').wait_for()
        shown = frame.locator('[data-variable="X"][data-state="0"]').get_attribute("data-belief")
        expected = result.network.query("X", {"W": "1"}).probabilities[0]
        assert float(str(shown)) == pytest.approx(expected, abs=1e-9)
        frame.locator(".head").first.click()
        assert opened.faults == []


def test_two_results_stand_side_by_side_under_their_methods() -> None:
    results = [lc.learn(APPENDIX, appendix_table(), method=m) for m in ("em", "direct-mcar")]
    data = carried(results[0].show(results[1]).text)
    assert data["labels"] == ["em", "direct-mcar"]
    assert data["has_rows"]
    assert data["other"]["has_rows"]
    twins = carried(results[0].show(results[0].network).text)
    assert twins["labels"] == ["em", "network"]
    with pytest.raises(LacunetError, match="same variables"):
        results[0].show(lc.example("asia"))


def test_a_page_prints_as_one_line() -> None:
    page = lc.learn(APPENDIX, appendix_table(), method="direct-mcar").show()
    assert repr(page).startswith("<Page of ")
    assert "\n" not in repr(page)
