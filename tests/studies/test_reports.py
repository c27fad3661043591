"""Tables, figures and the page of a run."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from studies.errors import StudyError
from studies.paper.appendix import PRINTED, Line, appendix_example
from studies.paper.studies import study_named
from studies.report.contest import contests
from studies.report.page import command
from studies.report.tables import as_markdown, sheets
from studies.report.write import Written, report
from studies.runner.journal import journal_in
from studies.runner.outcomes import Outcome, as_plain, tidy

MCAR = study_named("table-mcar")
LARGE = study_named("table-large")


def outcome(method: str, rows: int, repetition: int, **about: object) -> Outcome:
    values: dict[str, object] = {
        "task": "",
        "network": "alarm",
        "setting": "mcar",
        "seed": 0,
        "limit": 300.0,
        "status": "ok",
        "seconds": 0.5,
        "log_likelihood": -10.0 - repetition,
        "divergence": 0.25 * (repetition + 1),
        **about,
    }
    key = f"{method} {rows} {repetition} {values['network']} {values['limit']}"
    return Outcome(key=key, method=method, rows=rows, repetition=repetition, **values)  # type: ignore[arg-type]


OUTCOMES = [
    *(outcome("direct-mcar", rows, n) for rows in (100, 1000) for n in (0, 1, 2)),
    *(outcome("em-1", rows, n, divergence=0.125) for rows in (100, 1000) for n in (0, 1)),
    outcome("em-1", 1000, 2, status="over the limit", divergence=None, log_likelihood=None),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    with journal_in(folder) as journal:
        for one in OUTCOMES:
            journal.append(one)
    return folder


@pytest.fixture(scope="module")
def written(folder: Path) -> Written:
    return report(MCAR, folder)


def test_means_stand_above_the_papers_numbers() -> None:
    sheet = next(one for one in sheets(MCAR, OUTCOMES) if one.title.startswith("Kullback"))
    assert sheet.header == ("rows", "", "n", "EM-1", "D-MCAR")
    # 0.25, 0.5, 0.75: the mean is 0.5, the standard deviation 0.25, over the root of three.
    assert sheet.rows[0] == ("10^2", "ours", "3", "0.125 ± 0.000*", "0.500 ± 0.144")
    assert sheet.rows[1] == ("", "paper", "", "2.381", "3.037")


def test_divergences_come_with_their_spread_and_with_paired_differences() -> None:
    _, spread, paired = (one for one in sheets(MCAR, OUTCOMES) if one.title.startswith("Kullback"))
    assert "median [quartiles], worst" in spread.title
    assert all(one.title.endswith(": mcar setting, limit 5 min") for one in (spread, paired))
    assert spread.rows[0][3:] == ("0.125 [0.125, 0.125], 0.125", "0.500 [0.375, 0.625], 0.750")
    # Differences to EM-1 in the two problems that both have: 0.125 and 0.375; t(1) = 12.706.
    assert paired.rows[0][3:] == ("best", "+0.250 [-1.338, +1.838] 0/2")


def test_a_mean_over_some_of_the_repetitions_says_so_and_is_not_the_best() -> None:
    sheet = next(one for one in sheets(MCAR, OUTCOMES) if one.title.startswith("Kullback"))
    assert sheet.rows[2][3:] == ("0.125 ± 0.000 (2/3)", "0.500 ± 0.144*")


def test_the_page_needs_nothing_from_outside(written: Written, folder: Path) -> None:
    page = (folder / "index.html").read_text()
    assert "unsafe" not in page
    assert not re.search(r"(?:src|href)\s*=\s*[\"']?(?:https?:)?//", page)
    assert "url(http" not in page
    assert page.count('<svg class="chart"') == 4  # two measures, against size and against time
    assert "EM-1" in page
    assert "2.381" in page


def test_the_page_draws_medians_quartiles_and_what_the_paper_printed(
    written: Written, folder: Path
) -> None:
    page = (folder / "index.html").read_text()
    # 0.25, 0.5, 0.75: the median is 0.5, the quartiles 0.375 and 0.625.
    assert "D-MCAR: median 0.5, quartiles 0.375 and 0.625, mean 0.5, worst 0.75, n = 3" in page
    assert "D-MCAR (n = 3), published: 3.037" in page
    assert '<path class="band-' in page


def test_the_command_on_the_page_asks_for_the_results_that_are_there(
    written: Written, folder: Path
) -> None:
    from studies.command import parser, study_of

    typed = command(MCAR, OUTCOMES)
    assert typed in (folder / "index.html").read_text()
    study = study_of(parser().parse_args(typed.split()[3:]))
    asked = {(one.learner.name, one.limit, one.problem.rows) for one in study.cells}
    assert asked == {(one.method, one.limit, one.rows) for one in OUTCOMES}
    assert {one.problem.repetition for one in study.cells} == {0, 1, 2}


def test_every_figure_is_written_as_svg_and_png(written: Written) -> None:
    svgs = [path for path in written.files if path.suffix == ".svg"]
    pngs = [path for path in written.files if path.suffix == ".png"]
    assert len(svgs) == len(pngs) == 4
    for path in svgs:
        assert ElementTree.fromstring(path.read_text()).tag.endswith("svg")
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in pngs)


def test_the_same_results_give_the_same_files(written: Written, folder: Path) -> None:
    before = {path: path.read_bytes() for path in written.files if path.suffix != ".png"}
    report(MCAR, folder)
    assert before == {path: path.read_bytes() for path in before}


def test_the_tidy_table_has_a_row_a_cell_whatever_order_they_came_in() -> None:
    assert tidy(OUTCOMES).equals(tidy(OUTCOMES[::-1]))
    assert tidy(OUTCOMES).num_rows == len(OUTCOMES)


def test_parquet_and_csv_hold_the_same(written: Written, folder: Path) -> None:
    import polars as pl

    parquet = pl.read_parquet(folder / "results.parquet")
    csv = pl.read_csv(folder / "results.csv")
    assert parquet["divergence"].to_list() == csv["divergence"].to_list()
    assert parquet["status"].to_list() == csv["status"].to_list()


def test_markdown_tables_have_as_many_cells_in_every_row() -> None:
    lines = [line for line in as_markdown(sheets(MCAR, OUTCOMES)).splitlines() if line[:1] == "|"]
    assert {line.count("|") for line in lines} == {6}


def test_our_best_meets_the_papers_best_and_the_yardstick_does_not_compete() -> None:
    place = {"network": "water", "setting": "first", "limit": 300.0}
    outcomes = [
        outcome("em", 100, 0, **place, log_likelihood=-18.0),
        outcome("direct-mcar", 100, 0, **place, log_likelihood=-21.0),
        outcome("complete", 100, 0, **place, log_likelihood=-15.0),
        outcome("em", 999, 0, **place, log_likelihood=-10.0),  # the paper has no such size
    ]
    found = {one.paper.limit: one for one in contests(LARGE, outcomes)}
    # 300 s are within 25 minutes and within 5, where EM-BP had -18.66 and -18.06, not within 1.
    assert {limit: one.paper.value for limit, one in found.items()} == {1500: -18.66, 300: -18.06}
    assert {one.method for one in found.values()} == {"em"}
    assert found[300].gain == pytest.approx(0.06)


def written_by_hand(folder: Path, **about: object) -> None:
    folder.mkdir(exist_ok=True)
    line = json.dumps(as_plain(outcome("em-1", 100, 0)) | about)
    (folder / "cells.jsonl").write_text(line + "\n")


@pytest.mark.parametrize("name", ["../../outside", "/tmp/outside", "..", "a/b", "x" * 400, "ünï 1"])
def test_no_name_in_a_journal_makes_a_report_write_outside_its_folder(
    tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "deep" / "deeper" / "run"
    folder.mkdir(parents=True)
    written_by_hand(folder, network=name)
    before = set(tmp_path.rglob("*"))
    for path in report(MCAR, folder).files:
        assert path.resolve().parent == folder
        assert path.exists()
    assert all(path.parent == folder for path in set(tmp_path.rglob("*")) - before)


def test_networks_whose_names_come_to_the_same_have_figures_of_their_own(tmp_path: Path) -> None:
    lines = [json.dumps(as_plain(outcome("em-1", 100, 0, network=name))) for name in ("a b", "a/b")]
    (tmp_path / "cells.jsonl").write_text("\n".join(lines) + "\n")
    svgs = [path for path in report(MCAR, tmp_path).files if path.suffix == ".svg"]
    assert len(set(svgs)) == 8


def test_a_report_replaces_links_and_does_not_follow_them(tmp_path: Path) -> None:
    folder, precious = tmp_path / "run", tmp_path / "precious"
    written_by_hand(folder)
    names = [path.name for path in report(MCAR, folder).files]
    precious.write_text("keep me")
    for name in names:
        (folder / name).unlink()
        (folder / name).symlink_to(precious)
    report(MCAR, folder)
    assert precious.read_text() == "keep me"
    assert not any((folder / name).is_symlink() for name in names)


def test_why_cells_failed_is_told_once_for_each_cause(tmp_path: Path) -> None:
    with journal_in(tmp_path) as journal:
        for number in range(3):
            about = {"status": "refused", "message": "no rows", "divergence": None}
            journal.append(outcome("em-1", 100, number, **about))
    found = report(MCAR, tmp_path)
    assert found.failures == ("3 cells refused: no rows",)
    assert found.is_empty


def test_a_method_that_this_version_does_not_have_is_named(tmp_path: Path) -> None:
    written_by_hand(tmp_path, method="magic")
    with pytest.raises(StudyError, match="no method 'magic'"):
        report(MCAR, tmp_path)


def test_infinite_divergences_are_reported(tmp_path: Path) -> None:
    written_by_hand(tmp_path, divergence=float("inf"), log_likelihood=float("-inf"))
    assert "inf" in report(MCAR, tmp_path).text
    json.dumps(report(MCAR, tmp_path).data, allow_nan=False)


def test_a_folder_without_results_has_nothing_to_report(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="no results"):
        report(MCAR, tmp_path)


def test_every_line_of_the_appendix_lists_the_rows_of_the_paper() -> None:
    lines = appendix_example()
    assert [line.agrees for line in lines] == [True] * 6


def test_other_rows_than_the_papers_are_noticed() -> None:
    line: Line = appendix_example()[0]
    wrong = replace(PRINTED[0], rows=((11, 12, 15),))
    assert not replace(line, printed=wrong).agrees
