"""Cells in child processes: clocks that are enforced, children that may die."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from time import monotonic

import pytest

from odd_learners import odd
from studies.problems.cells import Cell, Problem, jobs_by_problem
from studies.problems.learners import LEARNERS, Learner
from studies.problems.settings import ALARM_MCAR, EACH_THE_OTHER, SECOND
from studies.problems.sources import Source
from studies.runner.journal import NAME, journal_in
from studies.runner.outcomes import Outcome, outcome_of, revision
from studies.runner.pool import solve_all
from studies.runner.run import forecast, run

PROBLEM = Problem(Source("asia"), ALARM_MCAR, 50, 0, test_rows=20)
ROOT = Path(__file__).parents[2]
PLAIN = LEARNERS["direct-mcar"]


def solved(learners: list[Learner], limit: float | None, processes: int = 1) -> dict[str, Outcome]:
    cells = [Cell(PROBLEM, learner, limit) for learner in learners]
    return {one.method: one for one in solve_all(jobs_by_problem(cells), processes)}


@pytest.mark.slow  # it works on for five seconds after its limit
def test_a_method_that_does_not_heed_the_limit_is_killed_and_the_rest_goes_on() -> None:
    found = solved([odd("overruns"), PLAIN], limit=0.5)
    assert found["overruns"].status == "over the limit"
    assert "did not keep its time limit" in found["overruns"].message
    assert found["overruns"].log_likelihood is None
    assert found["direct-mcar"].status == "ok"


def test_a_method_that_heeds_the_limit_is_told_of_it() -> None:
    found = solved([odd("heeds")], limit=0.3)["heeds"]
    assert found.status == "ok"
    assert found.seconds is not None
    assert 0.3 <= found.seconds < 5


def test_a_closed_form_that_was_too_slow_is_over_the_limit_though_it_ended() -> None:
    found = solved([odd("dawdles"), PLAIN], limit=0.2)
    assert found["dawdles"].status == "over the limit"
    assert found["dawdles"].seconds is not None
    assert found["direct-mcar"].status == "ok"


def test_a_child_that_dies_takes_nothing_with_it() -> None:
    found = solved([odd("dies"), PLAIN], limit=None)
    assert found["dies"].status == "died"
    assert "code 3" in found["dies"].message
    assert found["direct-mcar"].status == "ok"


def test_what_a_method_refuses_is_told() -> None:
    promises_nothing = Problem(Source("pair"), EACH_THE_OTHER, 50, 0, test_rows=20)
    (found,) = solve_all([[(Cell(promises_nothing, LEARNERS["informed-direct"], None),)]], 1)
    assert found.status == "refused"
    assert "separator" in found.message


def test_a_problem_that_cannot_be_drawn_is_refused_with_its_cause() -> None:
    # Of eight variables seven are hidden; the mechanisms want two that are not.
    problem = Problem(Source("asia"), SECOND, 50, 0, test_rows=20)
    found = list(solve_all([[(Cell(problem, learner, None),) for learner in (PLAIN, PLAIN)]], 1))
    assert [one.status for one in found] == ["refused", "refused"]
    assert all("2 fully observed variables" in one.message for one in found)


def test_an_error_of_ours_is_told_and_the_child_goes_on() -> None:
    found = solved([odd("stumbles"), PLAIN], limit=None)
    assert found["stumbles"].status == "died"
    assert found["stumbles"].message == "ZeroDivisionError: by nothing"
    assert found["direct-mcar"].status == "ok"


def test_nothing_is_imported_while_a_clock_runs() -> None:
    code = """
import sys
from contextlib import suppress
from lacunet.errors import LacunetError
from studies.runner import pool
from studies.problems.settings import FIRST
pool.warm_up()
problem = pool.Problem(pool.Source("asia"), FIRST, 50, 0, test_rows=20)
drawn = problem.draw()
before = set(sys.modules)
for learner in pool.LEARNERS.values():
    with suppress(LacunetError):
        pool.solve([pool.Cell(problem, learner, 5.0)], drawn)
print(sorted(set(sys.modules) - before))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_two_processes_find_what_one_finds(tmp_path: Path) -> None:
    problems = [Problem(Source("asia"), ALARM_MCAR, 50, n, test_rows=20) for n in range(4)]
    cells = [Cell(p, LEARNERS[m], 60.0) for p in problems for m in ("direct-mcar", "em-1")]
    one, two = (run(cells, tmp_path / str(n), n) for n in (1, 2))
    assert one.keys() == two.keys() == {cell.key for cell in cells}
    for key, outcome in one.items():
        assert outcome.log_likelihood == two[key].log_likelihood
        assert outcome.divergence == two[key].divergence


def test_a_method_that_ended_by_itself_is_not_run_again_under_a_longer_limit(
    tmp_path: Path,
) -> None:
    cells = [Cell(PROBLEM, PLAIN, limit) for limit in (50.0, 100.0, None)]
    found = run(cells, tmp_path, 1)
    assert [found[cell.key].run_under for cell in cells] == [50.0] * 3
    assert [found[cell.key].limit for cell in cells] == [50.0, 100.0, None]
    assert len({found[cell.key].seconds for cell in cells}) == 1


def test_a_method_that_was_stopped_is_run_again_under_a_longer_limit(tmp_path: Path) -> None:
    cells = [Cell(PROBLEM, odd("dawdles"), limit) for limit in (0.1, 50.0)]
    found = run(cells, tmp_path, 1)
    assert [found[cell.key].status for cell in cells] == ["over the limit", "ok"]
    assert found[cells[1].key].run_under == 50.0


def test_a_finished_cell_is_not_run_again(tmp_path: Path) -> None:
    cells = [Cell(PROBLEM, PLAIN, 60.0)]
    assert run(cells, tmp_path, 1) == run(cells, tmp_path, 1)


def test_what_died_is_run_again_only_if_asked(tmp_path: Path) -> None:
    cells = [Cell(PROBLEM, odd("dies"), None), Cell(PROBLEM, PLAIN, None)]
    run(cells, tmp_path, 1)
    assert forecast(cells, tmp_path, 1).to_run == 0
    assert forecast(cells, tmp_path, 1, retry=True).to_run == 1
    run(cells, tmp_path, 1)
    assert len((tmp_path / NAME).read_text().splitlines()) == 2
    run(cells, tmp_path, 1, retry=True)
    assert len((tmp_path / NAME).read_text().splitlines()) == 3


def test_a_forecast_is_judged_by_the_finished_cells(tmp_path: Path) -> None:
    cells = [Cell(replace(PROBLEM, repetition=n), PLAIN, 3600.0) for n in range(40)]
    assert forecast(cells, tmp_path, 1).likely_seconds is None
    began = monotonic()
    run(cells[:20], tmp_path, 1)
    took = monotonic() - began
    ahead = forecast(cells, tmp_path, 1).likely_seconds
    assert ahead is not None
    assert 0 < ahead < took  # the other twenty, without the start of a process
    other = [*cells, Cell(replace(PROBLEM, rows=60), PLAIN, 3600.0)]
    assert forecast(other, tmp_path, 1).likely_seconds is None


def test_a_method_is_run_anew_where_another_revision_ran_it(tmp_path: Path) -> None:
    cells = [Cell(PROBLEM, LEARNERS[name], 60.0) for name in ("direct-mcar", "factored-mcar")]
    with journal_in(tmp_path) as journal:
        for cell in cells:
            journal.append(replace(outcome_of(cell, "ok", {"seconds": 0.1}), revision="older"))
    assert forecast(cells, tmp_path, 1, anew=["direct-mcar"]).to_run == 1
    found = run(cells, tmp_path, 1, anew=["direct-mcar"])
    assert found[cells[0].key].log_likelihood is not None
    assert found[cells[0].key].revision == revision()
    assert found[cells[1].key].revision == "older"
    assert forecast(cells, tmp_path, 1, anew=["direct-mcar"]).to_run == 0
