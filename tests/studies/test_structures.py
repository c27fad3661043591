"""Structures as cells of an experiment: drawn, found, judged and shown like any others."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from studies.command import main
from studies.errors import StudyError
from studies.paper.studies import STUDIES, study_named
from studies.problems.cells import Cell, Problem
from studies.problems.learners import STRUCTURES, learners_named
from studies.problems.settings import EVERY_CELL, MECHANISMS
from studies.problems.sources import RANDOM, Source
from studies.runner.journal import journal_in, keep_to_purpose
from studies.runner.solve import solve
from studies.runner.structures import PEERS

ASIA = Problem(Source("asia"), EVERY_CELL[1], 1_000, 0, test_rows=1)


def test_every_repetition_has_a_random_network_of_its_own() -> None:
    one, two = (Problem(Source(RANDOM), MECHANISMS[0], 50, at, test_rows=1) for at in (0, 1))
    assert one.draw().truth == one.draw().truth
    assert one.draw().truth.parents_of != two.draw().truth.parents_of


@pytest.mark.parametrize(
    ("setting", "category"), [*zip(MECHANISMS, ("MCAR", "MAR", "MNAR"), strict=True)]
)
def test_mechanisms_hide_half_of_the_variables_in_their_way(setting: object, category: str) -> None:
    problem = Problem(Source(RANDOM), setting, 20_000, 3, test_rows=1)  # type: ignore[arg-type]
    drawn = problem.draw()
    assert drawn.graph is not None
    assert drawn.graph.category() == category
    hidden = [name for name, number in drawn.table.missing_of.items() if number]
    assert len(hidden) == 10
    for name, (cause, *_) in ((name, drawn.graph.causes[name] or ("",)) for name in hidden):
        is_missing = drawn.table.columns[name] == drawn.table.cardinality_of[name]
        groups = (
            [drawn.complete.columns[str(cause)] == s for s in range(4)] if cause else [slice(None)]
        )
        shares = [is_missing[rows] for rows in groups if len(is_missing[rows]) > 300]
        rates = np.array([0.1, 0.6] if cause else [0.35])
        for part in shares:  # within five standard errors of a rate that the design has
            assert np.abs(part.mean() - rates).min() < 5 * 0.5 / np.sqrt(len(part))


def test_a_structure_is_judged_by_its_distance_from_the_truth() -> None:
    drawn = ASIA.draw()
    told: list[str] = []
    (found,) = solve([Cell(ASIA, STRUCTURES["structure"], 60.0)], drawn, told.append)
    assert (found.status, found.ended, told) == ("ok", "converged", ["learning", "judging"])
    assert found.hidden == pytest.approx(0.1, abs=5 * (0.09 / 8_000) ** 0.5)
    assert found.shd is not None
    assert found.shd * 8 == round(found.shd * 8)  # Asia has 8 arcs
    (yardstick,) = solve([Cell(ASIA, STRUCTURES["structure-complete"], 60.0)], drawn)
    assert yardstick.hidden == 0


QUICK = ("pyagrum-tabu", "pgmpy-hill-climbing")


@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in PEERS]
)
@pytest.mark.filterwarnings("ignore")
def test_others_find_the_arcs_of_complete_rows_that_nobody_can_miss(name: str) -> None:
    pytest.importorskip(
        {"pgmpy": "pgmpy", "pyagrum": "pyagrum"}.get(name.split("-", maxsplit=1)[0], "causallearn")
    )
    rng = np.random.default_rng(3)
    import pandas as pd

    a, b = rng.integers(0, 2, (2, 2_000))
    flip = rng.random(2_000) < 0.05
    frame = pd.DataFrame({"A": a, "B": b, "C": np.where(flip, 1 - (a & b), a & b)})
    assert PEERS[name](frame) == {("A", "C"), ("B", "C")}


def test_studies_of_structures_take_their_own_methods() -> None:
    assert {study.finds for study in STUDIES.values()} == {"cpts", "structure"}
    with pytest.raises(StudyError, match="closed-form"):
        learners_named(["factored-mar"], "structure")
    with pytest.raises(StudyError, match="no method 'nal'"):
        learners_named(["nal"], study_named("structure-mcar").finds)


def test_the_report_has_the_published_numbers_beside_ours(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study, folder = study_named("structure-mcar"), tmp_path / "run"
    problem = Problem(Source("alarm"), EVERY_CELL[1], 5_090, 0, test_rows=study.test_rows)
    keep_to_purpose(study, folder)
    with journal_in(folder) as journal:
        (found,) = solve([Cell(problem, STRUCTURES["closed-form"], 600.0)], problem.draw())
        journal.append(found)
    assert main(["structure-mcar", "-o", str(folder), "--report", "--json"]) == 0
    means = json.loads(capsys.readouterr().out)["means"]
    assert {one["measure"] for one in means} == {"shd", "f1", "skeleton_errors", "seconds"}
    lines = (folder / "table.txt").read_text().splitlines()
    at = next(at for at, line in enumerate(lines) if "Hamming" in line)
    assert "structural EM" in lines[at + 2]
    assert "(complete)" not in lines[at + 2]
    assert lines[at + 4].split() == ["paper", ".621", ".776"]
