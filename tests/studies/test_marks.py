"""One run under the longest limit has what runs under shorter limits would have."""

from __future__ import annotations

import numpy as np
import pytest

from lacunet.learning.em.iterations import Climb
from studies.problems.cells import Cell, Problem
from studies.problems.learners import LEARNERS
from studies.problems.settings import FIRST
from studies.problems.sources import Source
from studies.runner.marks import Marks
from studies.runner.solve import solve

ALARM = Problem(Source("alarm"), FIRST, 200, 0, test_rows=50)


class Hand:
    """A clock that is moved by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def at(iterations: int, log_posterior: float) -> Climb:
    cells = np.array([log_posterior])
    return Climb(cells, cells, cells, "", iterations, cells, (log_posterior,))


def test_a_moment_has_the_best_of_the_iterations_before_it() -> None:
    clock = Hand()
    marks = Marks([3.5, 0.5, 1.0], clock)
    # One start that climbs to -8, and another that ends below it.
    for now, climb in enumerate([at(0, -50.0), at(1, -9.0), at(2, -8.0), at(0, -40.0), at(1, -20)]):
        clock.now = float(now)
        marks(climb)
    assert {moment: kept and kept.log_posterior for moment, kept in marks.kept.items()} == {
        0.5: None,  # the start itself is no iteration
        1.0: -9.0,
        3.5: -8.0,
    }


def test_a_moment_after_the_end_is_not_kept() -> None:
    clock = Hand()
    marks = Marks([1.0, 5.0], clock)
    marks(at(1, -9.0))
    clock.now = 2.0
    marks.keep()
    assert list(marks.kept) == [1.0]
    assert marks.kept[1.0].iterations == 1


def test_a_run_serves_every_limit_of_its_job() -> None:
    job = tuple(Cell(ALARM, LEARNERS["em-10"], limit) for limit in (1e-9, 500.0, 1000.0))
    none, early, late = solve(job, ALARM.draw())
    assert (none.status, none.run_under) == ("over the limit", 1e-9)
    assert (early.status, early.limit, early.run_under) == ("ok", 500.0, 1000.0)
    assert (late.status, late.limit) == ("ok", 1000.0)
    assert early.log_likelihood == late.log_likelihood  # it ended long before both
    assert early.ended == "converged"


def test_what_a_run_had_at_a_moment_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = ALARM.draw()
    whole = solve((Cell(ALARM, LEARNERS["em-1"], 1000.0),), drawn)[0]
    ticks = iter(range(10**6))
    monkeypatch.setattr("studies.runner.solve.process_time", lambda: float(next(ticks)))
    monkeypatch.setattr(Marks.__init__, "__defaults__", (lambda: float(next(ticks)),))
    # Every look at the clock is a second, and two iterations take some looks.
    job = tuple(Cell(ALARM, LEARNERS["em-1"], limit) for limit in (40.0, 1e6))
    cut, last = solve(job, drawn)
    assert last.log_likelihood == whole.log_likelihood
    assert (cut.ended, cut.run_under) == ("time limit", 1e6)
    assert 0 < cut.iterations < last.iterations
    assert cut.log_likelihood != last.log_likelihood
