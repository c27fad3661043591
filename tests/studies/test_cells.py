"""Learning problems and cells: what is drawn depends on the problem's key alone."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from lacunet.data.table import EncodedTable
from studies.errors import StudyError
from studies.paper.studies import STUDIES, Study, study_named, with_settings
from studies.problems.cells import Cell, Problem, generator, jobs_by_problem
from studies.problems.learners import LEARNERS, learners_named
from studies.problems.settings import ALARM_MCAR, FIRST, INFORMED, Setting
from studies.problems.sources import Source
from studies.runner.outcomes import outcome_of

ASIA = Problem(Source("asia"), FIRST, 50, 0, test_rows=20)


def same(one: EncodedTable, two: EncodedTable) -> bool:
    return all(np.array_equal(one.columns[name], two.columns[name]) for name in one.variables)


def test_a_problem_is_drawn_alike_however_often_and_after_whatever() -> None:
    first = ASIA.draw()
    replace(ASIA, rows=70).draw()
    again = ASIA.draw()
    assert same(first.table, again.table)
    assert same(first.test, again.test)


@pytest.mark.parametrize(
    "other",
    [replace(ASIA, repetition=1), replace(ASIA, seed=1), replace(ASIA, setting=ALARM_MCAR)],
)
def test_another_problem_has_other_rows(other: Problem) -> None:
    assert not same(ASIA.draw().complete, other.draw().complete)


def test_the_rows_to_test_on_are_not_the_rows_learned_from() -> None:
    drawn = replace(ASIA, test_rows=50).draw()
    assert not same(drawn.test, drawn.complete)


def test_the_number_of_rows_to_test_on_leaves_the_problem_alone() -> None:
    assert same(ASIA.draw().table, replace(ASIA, test_rows=5).draw().table)


@pytest.mark.parametrize("setting", [ALARM_MCAR, FIRST, INFORMED])
def test_a_repetition_has_the_same_mechanisms_at_every_size(setting: Setting) -> None:
    problem = Problem(Source("alarm"), setting, 4_000, 3, test_rows=1)
    few, many = problem.draw(), replace(problem, rows=8_000).draw()
    assert few.graph == many.graph
    assert few.separator == many.separator
    # Not the parents alone: the rates are those of one mechanism, within five standard errors.
    for name in few.graph.partially_observed:
        one, two = (float((~d.table.is_shown([name])).mean()) for d in (few, many))
        assert abs(one - two) < 5 * (0.25 / 4_000 + 0.25 / 8_000) ** 0.5
    other = replace(problem, repetition=4).draw()
    assert other.graph != few.graph


def test_streams_of_other_words_differ() -> None:
    draws = {generator(*words).random() for words in [("a",), ("a", ""), ("", "a"), ("b",)]}
    assert len(draws) == 4


def test_an_informed_problem_tells_its_separator() -> None:
    drawn = Problem(Source("alarm"), INFORMED, 10, 0, test_rows=1).draw()
    assert drawn.separator is not None
    assert len(drawn.separator) == 3


@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.parametrize("quick", [True, False])
def test_no_two_cells_of_a_study_share_a_key(name: str, quick: bool) -> None:
    cells = study_named(name, quick=quick).cells
    assert len({cell.key for cell in cells}) == len(cells)
    assert cells


def test_a_study_is_whole_after_every_repetition() -> None:
    study = replace(study_named("table-mcar"), repetitions=3, repetitions_at={1_000_000: 1})
    sizes = [[p.rows for p in study.problems if p.repetition == number] for number in range(3)]
    assert sizes == [[100, 1_000, 10_000, 100_000, 1_000_000], *[[100, 1_000, 10_000, 100_000]] * 2]
    assert [p.repetition for p in study.problems] == sorted(p.repetition for p in study.problems)


def test_a_setting_made_for_one_network_meets_no_other() -> None:
    pairs = {(p.source.name, p.setting.name) for p in study_named("mnar").problems}
    assert pairs == {
        ("pair", "each-the-other"),
        ("fire-alarm", "in-a-ring"),
        ("sachs", "one-by-one"),
    }


def test_the_jobs_of_a_problem_come_together_small_limits_first() -> None:
    study = replace(study_named("table-large", quick=True), limits=(None, 5.0, 1.0))
    for jobs in jobs_by_problem(study.cells):
        assert len({cell.problem.key for job in jobs for cell in job}) == 1
        longest = [job[-1].limit or inf for job in jobs if not job[0].learner.is_anytime]
        assert longest == sorted(longest)
        assert max(longest) == inf


def test_all_limits_of_an_anytime_method_are_one_job() -> None:
    study = replace(study_named("table-large", quick=True), limits=(None, 5.0, 1.0))
    for jobs in jobs_by_problem(study.cells):
        for job in jobs:
            assert len({(cell.problem, cell.learner) for cell in job}) == 1
            limits = [1.0, 5.0, None] if job[0].learner.is_anytime else [job[0].limit]
            assert [cell.limit for cell in job] == limits
    assert sum(map(len, [job for jobs in jobs_by_problem(study.cells) for job in jobs])) == len(
        study.cells
    )


@pytest.mark.parametrize(
    ("name", "setting", "rows", "count"),
    [("alarm", "first", 200, 11), ("alarm", "second", 200, 33), ("alarm", "mcar", 200, 12)],
)
def test_the_settings_hide_values_of_as_many_variables_as_the_paper_says(
    name: str, setting: str, rows: int, count: int
) -> None:
    study: Study = next(s for s in STUDIES.values() if any(t.name == setting for t in s.settings))
    problem = Problem(Source(name), with_settings(study, [setting]).settings[0], rows, 0)
    assert len(problem.draw().graph.partially_observed) == count  # type: ignore[union-attr]


def test_an_outcome_serves_other_limits_unless_they_could_have_decided() -> None:
    auto, em = (Cell(ASIA, LEARNERS[name], 10.0) for name in ("auto", "em"))
    quick, slow = (outcome_of(auto, "ok", {"seconds": seconds}) for seconds in (0.1, 2.1))
    assert quick.serves(replace(auto, limit=100.0))
    assert quick.serves(replace(auto, limit=0.5))
    assert not quick.serves(replace(auto, limit=0.4))
    assert not slow.serves(replace(auto, limit=100.0))  # more than a fifth of its own limit
    ended = outcome_of(em, "ok", {"seconds": 2.1})
    assert ended.serves(replace(em, limit=100.0))
    assert not ended.serves(replace(em, limit=2.0))
    assert not replace(ended, ended="time limit").serves(replace(em, limit=100.0))


def test_an_unknown_study_setting_or_method_lists_the_known() -> None:
    with pytest.raises(StudyError, match="table-mcar"):
        study_named("table-7")
    with pytest.raises(StudyError, match="first, second"):
        with_settings(study_named("table-large"), ["third"])
    with pytest.raises(StudyError, match="factored-mar"):
        learners_named(["f-mar"])


def test_every_learner_of_every_study_is_a_method_that_exists() -> None:
    from lacunet.learning.methods import METHODS

    assert {learner.method for learner in LEARNERS.values()} <= set(METHODS)
