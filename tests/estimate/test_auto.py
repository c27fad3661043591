"""What `auto` chooses, and that it says why."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from golden import golden
from lacunet.estimate.auto import Auto
from lacunet.estimate.deletion.forms import DirectMCAR, FactoredMAR
from lacunet.estimate.em.method import EM
from lacunet.estimate.method import Learned
from learning import Task, learned_by

CASE = golden("alarm-mar")
TASK = Task(CASE.network, CASE.table, 2.0)


def assert_same(one: Learned, two: Learned) -> None:
    for name, table in one.tables.items():
        np.testing.assert_array_equal(two.tables[name], table)


def test_without_holes_it_gives_the_frequencies() -> None:
    complete = CASE.table.take(slice(0, 50))
    columns = {v: np.minimum(c, c.dtype.type(1)) for v, c in complete.columns.items()}
    table = type(complete).of(complete.cardinality_of, columns)
    learned = learned_by(Auto(), replace(TASK, table=table))
    assert "no cell is missing" in learned.why
    assert_same(learned, learned_by(DirectMCAR(), replace(TASK, table=table)))


def test_with_holes_it_makes_the_steps_that_rows_put_aside_support() -> None:
    learned = learned_by(Auto(), replace(TASK, rng=np.random.default_rng(4)))
    by_em = learned_by(EM(stop="heldout"), replace(TASK, rng=np.random.default_rng(4)))
    assert_same(learned, by_em)
    steps = learned.ended.iterations
    assert steps >= 1
    assert f"{steps} EM step" in learned.why


@pytest.mark.parametrize(
    ("method", "task", "reason"),
    [
        (
            Auto(),
            replace(TASK, table=CASE.table.take(slice(0, 9))),
            "of 9 rows none can be put aside",
        ),
        (Auto(), replace(TASK, memory=100), "beyond the memory budget"),
        (Auto(time_limit=1e-6), TASK, "more than the time limit"),
    ],
)
def test_where_em_is_beyond_the_budget_the_closed_form_stands(
    method: Auto, task: Task, reason: str
) -> None:
    learned = learned_by(method, task)
    assert learned.why.startswith("factored-mar alone: ")
    assert reason in learned.why
    assert_same(learned, learned_by(FactoredMAR(), task))
