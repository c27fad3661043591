"""What `auto` chooses, and that it says why."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

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
    assert "no value is missing" in learned.why
    assert_same(learned, learned_by(DirectMCAR(), replace(TASK, table=table)))


def test_with_holes_it_makes_the_steps_that_rows_put_aside_support() -> None:
    learned = learned_by(Auto(), replace(TASK, rng=np.random.default_rng(4)))
    by_em = learned_by(EM(stop="heldout"), replace(TASK, rng=np.random.default_rng(4)))
    assert_same(learned, by_em)
    steps = learned.ended.iterations
    assert steps >= 1
    assert f"{steps} EM step" in learned.why


def test_a_few_rows_are_left_to_the_closed_form() -> None:
    few = replace(TASK, table=CASE.table.take(slice(0, 9)))
    learned = learned_by(Auto(), few)
    assert learned.why == "factored-mar alone: 9 rows: too few to hold some out"
    assert_same(learned, learned_by(FactoredMAR(), few))


def test_out_of_time_before_the_first_step_the_closed_form_stands() -> None:
    learned = learned_by(Auto(time_limit=1e-6), TASK)
    assert learned.why == "factored-mar alone: time limit before the first EM step"
    assert_same(learned, learned_by(FactoredMAR(), TASK))


def test_what_is_beyond_the_budget_is_loopy_and_the_rest_goes_on() -> None:
    learned = learned_by(Auto(), replace(TASK, memory=64 * 100))
    loopy = [name for name, report in learned.families.items() if report.warnings]
    assert learned.ended.iterations > 0
    assert 0 < len(loopy) < len(CASE.network.variables)


def test_a_weighted_row_is_as_many_copies_of_it_bit_for_bit() -> None:
    case = golden("asia-mar")
    table = case.table.take(slice(0, 300))
    copies = np.random.default_rng(2).integers(1, 6, 300)
    weighted = replace(table, weights=copies.astype(float))
    copied = table.take(np.random.default_rng(3).permutation(np.repeat(np.arange(300), copies)))
    one, two = (learned_by(Auto(), Task(case.network, t, 2.0)) for t in (weighted, copied))
    assert one.ended.heldout == two.ended.heldout
    assert_same(one, two)
