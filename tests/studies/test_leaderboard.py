"""The leaderboard: a learner is one file, results are kept line by line, and the page adds up."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import lacunet as lc
from studies.leaderboard.cases import Case, cases
from studies.leaderboard.entry import Learned, entry, entry_names
from studies.leaderboard.page import REFERENCE, page
from studies.leaderboard.run import Line, coverage, read, run, scored, write

CASE = Case("medicaltest", "MAR", 200, 0)
ENTRIES = Path(lc.__file__).parents[2] / "studies" / "leaderboard" / "entries"


@pytest.mark.parametrize("name", entry_names())
def test_every_entry_is_one_short_file(name: str) -> None:
    assert len((ENTRIES / f"{name}.py").read_text().splitlines()) <= 35


OTHERS = {"chained_trees", "nearest_rows", "pgmpy_fit", "pyagrum_em"}


@pytest.mark.parametrize("name", sorted(set(entry_names()) - OTHERS))
def test_every_entry_learns(name: str) -> None:
    assert scored(name, CASE).kl < scored("uniform", CASE).kl or name == "uniform"


@pytest.mark.slow
def test_every_entry_of_another_library_learns(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    run(sorted(OTHERS), [CASE], path, limit=60, until=600)  # apart: they load much, and warn
    lines = read(path)
    assert len(lines) == len(OTHERS)
    for line in lines:
        assert line.kl < scored("uniform", CASE).kl, line.problem


def test_the_rows_of_a_case_are_the_same_for_all_entries() -> None:
    assert CASE.frame().equals(CASE.frame())
    assert not CASE.frame().equals(Case("medicaltest", "MAR", 200, 1).frame())


def test_all_published_networks_are_there_in_an_order_that_does_not_change() -> None:
    first = [case.network for case in cases(500, 1)]
    assert len(first) == 2 * 101
    assert first == [case.network for case in cases(500, 1)]


def test_uniform_is_as_far_from_the_truth_as_the_definition_says() -> None:
    truth = lc.read_network(
        Path(lc.__file__).parents[2] / "studies/leaderboard/networks/medicaltest.json.gz"
    )
    # KL of the uniform law: the log of the number of configurations, less the entropy of the truth.
    cells = np.prod([truth.cardinality(name) for name in truth.variables])
    joint = np.asarray(truth.query(truth.variables))
    entropy = -(joint[joint > 0] * np.log(joint[joint > 0])).sum()
    assert scored("uniform", CASE).kl == pytest.approx(np.log(cells) - entropy, rel=1e-9)


def test_coverage_counts_open_entries_only() -> None:
    truth = lc.Network({"A": ["x", "y"], "B": ["x", "y"]}, {}, {"A": [0.3, 0.7], "B": [0.0, 1.0]})
    intervals = {"A": np.array([[0.2, 0.4], [0.75, 0.8]]), "B": np.array([[0, 0.1], [0.9, 1]])}
    assert coverage(truth, Learned(truth, intervals)) == (1, 2)


def test_a_run_goes_on_where_it_stopped_and_tells_what_failed(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    run(["uniform"], [CASE], path, limit=30, until=60)
    run(["uniform"], [CASE], path, limit=30, until=60)
    (line,) = read(path)
    assert (line.entry, line.network, line.problem) == (entry("uniform").NAME, "medicaltest", "")
    write(
        path, Line("slow", "medicaltest", "MAR", 200, 0, np.nan, np.nan, 0, 0, "not done in 30 s")
    )
    assert "| slow | - | - | - | - | - | 0 of 1 |" in page(read(path), "")


def test_the_page_ranks_by_divergence_on_cases_that_all_finished() -> None:
    lines = []
    for number, case in enumerate(islice(cases(100, 1), 0, 6, 2)):
        for name, kl in (("good", 0.1 * (number + 1)), ("bad", 1.0)):
            lines.append(Line(name, case.network, "MCAR", 100, 0, kl, 2.0, 9, 10, ""))
    text = page(lines, "")
    assert "3 of 3 cases were finished by all ranked" in text
    assert "| good | 0.2000 | 1.0 | - | 2 | 0.900 | 3 of 3 |" in text
    assert text.index("| good") < text.index("| bad")


def test_learners_with_the_same_divergence_share_a_place() -> None:
    names = ("one", "two", "three")
    lines = [
        Line(name, "chds", "MCAR", 100, 0, kl, 2.0, 0, 0, "")
        for name, kl in zip(names, (0.1, 0.1, 0.5), strict=True)
    ]
    text = page(lines, "")
    assert "| one | 0.1000 | 1.5 |" in text
    assert "| two | 0.1000 | 1.5 |" in text
    assert "| three | 0.5000 | 3.0 |" in text


def test_the_page_compares_with_the_default_where_both_finished_and_says_what_was_not() -> None:
    kls = {
        REFERENCE: {"chds": 0.1, "bank": 0.2, "accidents": 0.1},
        "twice": {"chds": 0.2, "bank": 0.4},  # not given the third
        "late": {"chds": 0.3, "bank": np.nan, "accidents": np.nan},
    }
    lines = [
        Line(name, network, "MCAR", 100, 0, kl, 1.0, 0, 0, "" if kl > 0 else "not done in 10 s")
        for name, own in kls.items()
        for network, kl in own.items()
    ]
    text = page(lines, "")
    assert "3 of 3 cases were finished by all ranked" in text
    assert f"| {REFERENCE} | 0.1000 | 1.0 | 1.00 | 1 | - | 3 of 3 |" in text
    assert "| twice | - | - | 2.00 | 1 | - | 2 of 2 |" in text
    assert "| late | - | - | 3.00 | 1 | - | 1 of 3 |" in text
    assert "- late: not done in 10 s (2)\n" in text
    assert "- twice: given 2 of 3 cases, not run on the others\n" in text
