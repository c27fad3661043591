"""Tables, figures and the page of a run."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from studies.command import parser, study_of
from studies.errors import StudyError
from studies.paper.appendix import PRINTED, Line, appendix_example
from studies.paper.studies import STUDIES, study_named
from studies.report.contest import agreement_sheet, contest_sheet, contest_tallies, contests
from studies.report.figures import MOST_LINES, draw, drawings, pdfs
from studies.report.provenance import command, facts
from studies.report.side_by_side import NOT_RUN, write_page
from studies.report.summary import best_method, by_group, level_with_best
from studies.report.tables import Sheet, as_markdown, sheets
from studies.report.write import Written, report
from studies.runner.journal import journal_in, keep_to_purpose
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
        "revision": "abc123",
        **about,
    }
    key = f"{method} {rows} {repetition} {values['network']} {values['limit']}"
    return Outcome(key=key, method=method, rows=rows, repetition=repetition, **values)  # type: ignore[arg-type]


OUTCOMES = [
    *(outcome("direct-mcar", rows, n) for rows in (100, 1000) for n in (0, 1, 2)),
    *(outcome("em-1", rows, n, divergence=0.125) for rows in (100, 1000) for n in (0, 1)),
    outcome("em-1", 100, 2, divergence=0.125),
    outcome("em-1", 1000, 2, status="over the limit", divergence=None, log_likelihood=None),
]


def sheet(made: Sequence[Sheet], name: str) -> Sheet:
    (found,) = (one for one in made if one.name == name)
    return found


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
    found = sheet(sheets(MCAR, OUTCOMES), "divergence/mcar")
    methods = ("EM-1", "EM-10", "D-MCAR", "F-MCAR", "D-MAR", "F-MAR")
    assert found.header == ("rows", "", "n", *methods)
    # 0.25, 0.5, 0.75: the mean is 0.5, the standard deviation 0.25, over the root of three.
    ours = ("0.125 ± 0.000*", "", "0.500 ± 0.144*", "", "", "")
    assert found.rows[0] == ("10^2", "ours", "3", *ours)
    paper = ("2.381", "2.381", "3.037", "2.525", "3.010", "2.515")
    assert found.rows[1] == ("", "paper", "", *paper)


def test_divergences_come_with_their_spread_and_with_paired_differences() -> None:
    made = sheets(MCAR, OUTCOMES)
    spread, paired = (sheet(made, f"divergence-{kind}/mcar") for kind in ("spread", "paired"))
    assert spread.rows[0][3] == "0.125 [0.125, 0.125], 0.125"
    assert spread.rows[0][5] == "0.500 [0.375, 0.625], 0.750"
    # Differences to EM-1: 0.125, 0.375 and 0.625; t(2) = 4.303 times 0.144.
    assert (paired.rows[0][3], paired.rows[0][5]) == ("best", "+0.375 [-0.246, +0.996] 0/3")


def test_a_mean_over_some_of_the_repetitions_says_so_and_is_not_the_best() -> None:
    found = sheet(sheets(MCAR, OUTCOMES), "divergence/mcar")
    assert (found.rows[2][3], found.rows[2][5]) == ("0.125 ± 0.000 (2/3)", "0.500 ± 0.144*")


def draws(method: str, values: Sequence[float], **about: object) -> list[Outcome]:
    return [
        outcome(method, 100, n, log_likelihood=value, **about) for n, value in enumerate(values)
    ]


def starred(*groups: list[Outcome]) -> frozenset[str]:
    found = by_group(one for group in groups for one in group)
    return level_with_best({group[4]: own for group, own in found.items()}, "log_likelihood")


def test_a_star_marks_the_best_and_what_the_paired_interval_cannot_tell_from_it() -> None:
    best = draws("em", [-10.0, -20.0, -30.0])
    near = draws("auto", [-10.1, -19.9, -30.3])  # behind by .1, -.1, .3: the interval holds 0
    far = draws("factored-mar", [-11.0, -21.1, -30.9])  # behind by 1, 1.1, .9: it does not
    complete = draws("complete", [-1.0, -1.0, -1.0])
    assert starred(best, near, far, complete) == {"em", "auto"}


def test_a_method_of_fewer_problems_is_compared_in_those() -> None:
    best = draws("em", [-10.0, -20.0, -30.0])
    # A mean of -14.9 is not better than one of -20: the third problem is missing.
    worse = draws("em-10", [-10.4, -20.41])
    better = draws("em-bp-10", [-9.0, -19.01])
    assert starred(best, worse, better) == {"em", "em-bp-10"}
    found = {group[4]: own for group, own in by_group([*best, *worse]).items()}
    assert best_method(found, "log_likelihood") == "em"


def test_one_problem_has_no_stars() -> None:
    assert starred(draws("em", [-10.0]), draws("auto", [-50.0])) == frozenset()


WATER = {"network": "water", "setting": "first"}


def large(method: str, limit: float, value: float, n: int = 0, **about: object) -> Outcome:
    more = {"limit": limit, "log_likelihood": value, **WATER, **about}
    return outcome(method, 100, n, **more)


def test_limits_that_change_nothing_share_a_line() -> None:
    outcomes = [
        *(large("factored-mar", limit, -19.0) for limit in (60.0, 300.0, 1500.0)),
        *(large("em-10", limit, -18.5, seconds=61.0) for limit in (300.0, 1500.0)),
        large("em-10", 60.0, -21.0, seconds=60.0, ended="time limit"),
        large("auto", 6.0, -17.0),  # a tenth of a limit is not in the tables
    ]
    found = sheet(sheets(LARGE, outcomes), "log_likelihood/first")
    methods = ("EM-JT", "EM-BP", "D-MCAR", "F-MCAR", "D-MAR", "F-MAR", "auto")
    assert found.header == ("rows", "within", "", "n", *methods)
    assert [row[:4] for row in found.rows] == [
        ("10^2", "1 min", "ours", "1"),
        ("", "", "paper", ""),
        ("", "5, 25 min", "ours", "1"),
        ("", "5 min", "paper", ""),
        ("", "25 min", "paper", ""),
    ]
    assert (found.rows[0][4], found.rows[0][9]) == ("-21.00~", "-19.00")
    assert (found.rows[2][4], found.rows[2][9]) == ("-18.50", "=")
    assert [row[9] for row in found.rows if row[2] == "paper"] == ["-19.35*", "-19.57", "-19.83"]
    assert [row[5] for row in found.rows if row[2] == "paper"] == ["-19.50", "-18.06*", "-18.66*"]


def test_lines_of_the_paper_say_their_limit_where_ours_share_one() -> None:
    # Ours is the same within all limits; the paper has three numbers.
    outcomes = [large("factored-mar", limit, -19.0) for limit in (60.0, 300.0, 1500.0)]
    found = sheet(sheets(LARGE, outcomes), "log_likelihood/first")
    at = found.header.index("within")
    assert [row[at] for row in found.rows] == ["1, 5, 25 min", "1 min", "5 min", "25 min"]


def test_a_method_beside_the_study_stands_before_the_yardstick() -> None:
    outcomes = [large(name, 60.0, -19.0) for name in ("complete", "default", "auto")]
    found = sheet(sheets(LARGE, outcomes), "log_likelihood/first")
    assert found.header[-3:] == ("auto", "default", "(complete)")


def test_auto_meets_the_papers_best_within_the_same_limit_and_within_a_tenth() -> None:
    # The paper's best within 5 minutes is EM-BP's -18.06, within one F-MAR's -19.35.
    outcomes = [
        *(large("auto", 300.0, -17.0 - 0.1 * n, n) for n in range(3)),  # -17.1 ± .058
        *(large("auto", 30.0, -18.0 - 0.1 * n, n) for n in range(3)),  # -18.1 ± .058
        *(large("auto", 60.0, -19.9 - 0.1 * n, n) for n in range(3)),  # -20 ± .058
        large("auto", 6.0, -25.0),
        *(large("em", 300.0, -1.0, n) for n in range(3)),  # not named beforehand
    ]
    found = {one.paper.limit: one for one in contests(LARGE, outcomes)}
    assert found[300.0].verdicts == ("win", "tie")
    assert found[60.0].verdicts == ("loss", "one problem")
    assert contest_tallies(LARGE, outcomes) == [
        "On the networks that are the paper's, within the same limit: 1 win, 0 ties, 1 loss in "
        "2 places; within a tenth of it: 0 wins, 1 tie, 0 losses, 1 with one problem only in 2 "
        "places (1 to 3 learning problems in each)."
    ]
    (made,) = contest_sheet(LARGE, outcomes)
    assert made.rows[1][3:9] == ("5 min", "EM-BP -18.06", "-17.10 ± 0.06", "3", "+0.96", "win")


def test_a_champion_without_a_network_in_time_is_counted_as_such() -> None:
    late = {"status": "over the limit", "log_likelihood": None}
    outcomes = [large("auto", 300.0, 0.0, n, **late) for n in range(2)]
    (found,) = contests(LARGE, outcomes)
    assert found.verdicts == ("no network", "")
    (made,) = contest_sheet(LARGE, outcomes)
    assert made.rows[0][5:9] == ("-", "", "", "no network")


def test_closed_forms_are_held_against_their_own_numbers() -> None:
    # The paper has -19.35 for F-MAR and -20.51 for D-MCAR within a minute.
    outcomes = [
        *(large("factored-mar", 60.0, value, n) for n, value in enumerate((-19.2, -19.4))),
        *(large("direct-mcar", 60.0, value, n) for n, value in enumerate((-19.2, -19.4))),
        *(large("auto", 60.0, value, n) for n, value in enumerate((-19.2, -19.4))),
    ]
    (made,) = agreement_sheet(LARGE, outcomes)
    assert made.rows == (("water", "first", "log-likelihood", "2", "1", "2"),)


def test_the_command_of_a_report_asks_for_the_results_that_are_there() -> None:
    typed = command(MCAR, OUTCOMES)
    study = study_of(parser().parse_args(typed.split()[3:]))
    asked = {(one.learner.name, one.limit, one.problem.rows) for one in study.cells}
    assert asked == {(one.method, one.limit, one.rows) for one in OUTCOMES}
    assert {one.problem.repetition for one in study.cells} == {0, 1, 2}


def test_a_report_says_command_seed_problems_and_revision(written: Written, folder: Path) -> None:
    told = facts(MCAR, OUTCOMES)
    for part in ("python -m studies table-mcar", "seed 0", "up to 3 problems", "revision abc123"):
        assert part in told
    assert (folder / "table.md").read_text().startswith(told)


def test_every_figure_is_written_as_svg_for_light_and_dark(written: Written) -> None:
    svgs = [path for path in written.files if path.suffix == ".svg"]
    assert len(svgs) == 4  # two measures, against size and against time
    for path in svgs:
        assert ElementTree.fromstring(path.read_text()).tag.endswith("svg")
        assert "prefers-color-scheme:dark" in path.read_text()


def test_a_figure_can_be_had_as_pdf_for_light_and_dark() -> None:
    light, dark = pdfs(drawings(MCAR, OUTCOMES)[0]).values()
    assert light.startswith(b"%PDF")
    assert dark.startswith(b"%PDF")
    assert light != dark


def test_no_study_draws_more_lines_than_can_be_told_apart() -> None:
    for study in STUDIES.values():
        assert len(study.drawn) <= MOST_LINES
        assert set(study.drawn) <= {learner.name for learner in study.learners}


def test_a_figure_has_one_legend_outside_the_axes_and_the_papers_points() -> None:
    (drawing,) = (one for one in drawings(MCAR, OUTCOMES) if one.name.endswith("divergence-rows"))
    assert [line.method for line in drawing.lines] == ["em-1", "direct-mcar"]
    assert drawing.lines[1].paper == ((100.0, 3.037), (1000.0, 0.688))
    assert drawing.lines[1].means == (0.5, 0.5)
    assert "over 3 learning problems" in drawing.caption
    assert "Hollow" in drawing.caption
    figure = draw(drawing, "black")
    (axes,) = figure.axes
    (legend,) = figure.legends
    assert axes.get_legend() is None
    figure.draw_without_rendering()
    assert legend.get_window_extent().x0 >= axes.get_window_extent().x1
    low, high = axes.get_ylim()
    ticks = [at for at in axes.get_yticks() if low <= at <= high]
    assert len(ticks) > 1


def test_the_same_results_give_the_same_files(written: Written, folder: Path) -> None:
    before = {path: path.read_bytes() for path in written.files}
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
    assert {line.count("|") for line in lines} == {10}


def test_the_page_is_filled_from_the_runs_that_are_there(tmp_path: Path) -> None:
    runs, page = tmp_path / "runs", tmp_path / "pages" / "paper.md"
    page.parent.mkdir()
    keep_to_purpose(MCAR, runs / "table-mcar")
    with journal_in(runs / "table-mcar") as journal:
        for one in OUTCOMES:
            journal.append(one)
    missing = write_page(runs, page)
    text = page.read_text()
    assert "{{" not in text
    assert "| 10^2 | ours | 3 |" in text
    assert "python -m studies all" in text
    assert missing
    assert text.count(NOT_RUN) == len(missing)
    assert not any("table-mcar" in mark for mark in missing)
    for path in re.findall(r"\]\((figures/[^)]+)\)", text):
        assert (page.parent / path).exists()
    # Of 32 problems of 10^2 rows, three were run by D-MCAR and none by F-MAR.
    assert "| alarm | 10^2, 10^3 | 32 | 32 (EM-10, F-MCAR," in text
    assert "; 29 (EM-1, D-MCAR) |" in text
    # At other sizes nobody was run.
    assert "| alarm | 10^5 | 8 | 8 (all methods) |" in text
    assert "1 of 2 means agree" in text  # divergences of D-MCAR
    assert "1 of 2 means that cannot be compared" in text  # its log-likelihoods
    assert "This is 12 of the" in text
    assert "Without a network: 1 cell over the limit" in text
    assert re.search(r"\| table-mcar \| [\d,]+ \| 12 \|", text)
    assert re.search(r"\| mnar \| [\d,]+ \| 0 \|", text)


def written_by_hand(folder: Path, **about: object) -> None:
    folder.mkdir(exist_ok=True)
    line = json.dumps(as_plain(outcome("em-1", 100, 0)) | about)
    (folder / "cells.jsonl").write_text(line + "\n")


@pytest.mark.parametrize("name", ["../../outside", "/tmp/outside", "..", "x" * 400, "ünï 1"])
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
