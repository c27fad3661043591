"""What `auto` chooses, and that it says why."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import lacunet as lc
from examples import TWINS, twins_with
from golden import golden
from lacunet.data.table import Copies, EncodedTable
from lacunet.errors import LacunetWarning
from lacunet.inference.expectation import expectation_plan
from lacunet.learning.auto import Auto
from lacunet.learning.closed_forms.forms import Deletion
from lacunet.learning.em.em import EM
from lacunet.learning.em.em_stage import NOTE_ON_LOOPY
from lacunet.learning.plan import Learned
from lacunet.learning.pseudo_counts import AskedPseudoCounts
from lacunet.network.network import Network
from road import Task, learned_by

CASE = golden("alarm-mar")
TASK = Task(CASE.network, CASE.table, 1.0)


def assert_same(one: Learned, two: Learned) -> None:
    for name, table in one.tables.items():
        np.testing.assert_array_equal(two.tables[name], table)


def test_without_holes_it_gives_the_frequencies() -> None:
    complete = CASE.table.take(slice(0, 50))
    columns = {v: np.minimum(c, c.dtype.type(1)) for v, c in complete.columns.items()}
    table = type(complete)(complete.cardinality_of, columns)
    learned = learned_by(Auto(), replace(TASK, table=table))
    assert learned.why == (
        "No value is missing. Chosen: the frequencies, with pseudo-counts added."
    )
    assert_same(learned, learned_by(Deletion("direct", groups=None), replace(TASK, table=table)))
    plain = learned_by(Auto(), replace(TASK, table=table, pseudo_counts=0.0))
    assert plain.why == "No value is missing. Chosen: the plain frequencies."


@pytest.mark.parametrize("pseudo_counts", [1.0, 0.0, "learn"])
def test_with_holes_it_is_em_to_convergence_and_says_so(pseudo_counts: AskedPseudoCounts) -> None:
    task = replace(TASK, pseudo_counts=pseudo_counts, rng=np.random.default_rng(4))
    learned = learned_by(Auto(), task)
    by_em = learned_by(EM(), replace(task, rng=np.random.default_rng(4)))
    assert_same(learned, by_em)
    assert learned.ended.reason == "converged"
    missing = sum(CASE.table.missing_of.values()) / (CASE.table.rows * 37)
    diagnosis, choice = learned.why.split(". Chosen: ")
    variables = f"{len(CASE.table.partially_observed)} of 37 variables have missing values"
    assert diagnosis.startswith(
        f"{variables}, {missing:.0%} of all cells; every family is observed"
    )
    assert choice.startswith(f"factored-mcar and {learned.ended.iterations} EM steps (each costs ")
    starts = len(learned.ended.starts)
    assert choice.endswith(f"to convergence, from the best of {starts} starts.")


def test_every_family_that_no_row_shows_whole_is_named() -> None:
    rows = {"A": ["0", "1", None, None] * 5, "B": [None, None, "0", "1"] * 5}
    why = lc.learn("A -> B; A -> C", rows | {"C": rows["B"]}).why
    assert "; 2 families (B, C) are observed whole in no row" in why


def test_intervals_allow_for_either_of_two_optima() -> None:
    # One row for each state of H, else alike: nothing says which state is which.
    rng = np.random.default_rng(0)
    result = lc.learn(TWINS, twins_with([0, 1]), intervals=True, rng=rng)
    assert any("another start" in warning for warning in result.families["A"].warnings)
    low, high = np.moveaxis(result.interval("A"), -1, 0)
    assert low.max() < 0.1
    assert high.min() > 0.9


def test_a_family_that_no_row_shows_whole_is_part_of_the_reason() -> None:
    network = Network({name: ["0", "1"] for name in "AB"}, {"B": ["A"]})
    columns = {
        "A": np.array([0, 1, 2] * 10, np.uint8),
        "B": np.array([2, 2, 0] * 5 + [2, 2, 1] * 5, np.uint8),
    }
    table = EncodedTable({"A": 2, "B": 2}, columns)
    learned = learned_by(Auto(), Task(network, table, 1.0))
    assert learned.why.startswith(
        "2 of 2 variables have missing values, 50% of all cells; 1 family (B) is observed whole "
        "in no row. Chosen: factored-mcar "
    )


def test_a_few_rows_are_left_to_the_closed_form() -> None:
    few = replace(TASK, table=CASE.table.take(slice(0, 9)))
    learned = learned_by(Auto(), few)
    assert learned.why.endswith("Chosen: factored-mar alone: 9 rows, too few for EM.")
    assert_same(learned, learned_by(Deletion("factored"), few))


def test_out_of_time_before_the_first_step_the_closed_form_stands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lacunet.counts.gather.GRACE", np.inf)  # for its groups, on any machine
    learned = learned_by(Auto(time_limit=1e-6), TASK)
    assert learned.why.endswith("factored-mcar alone: time was up before the first EM step.")
    assert_same(learned, learned_by(Deletion("factored", groups=None), TASK))


def test_a_time_limit_of_zero_is_refused_in_words() -> None:
    with pytest.raises(lc.LacunetError, match="time_limit is 0, but must be above 0"):
        Auto(time_limit=0)


def test_what_is_beyond_the_budget_is_loopy_and_the_rest_goes_on() -> None:
    some = replace(TASK, table=CASE.table.take(slice(0, 300)), memory=1000)
    learned = learned_by(Auto(), some)
    loopy = [name for name, report in learned.families.items() if NOTE_ON_LOOPY in report.warnings]
    assert learned.ended.iterations > 0
    assert 0 < len(loopy) < len(CASE.network.variables)


def test_a_row_that_stands_for_several_is_as_many_copies_of_it_bit_for_bit() -> None:
    case = golden("asia-mar")
    table = case.table.take(slice(0, 300))
    copies = np.random.default_rng(2).integers(1, 6, 300)
    number = copies.astype(float)
    once = replace(table, weights=number, copies=Copies(number, number))
    copied = table.take(np.random.default_rng(3).permutation(np.repeat(np.arange(300), copies)))
    one, two = (learned_by(Auto(), Task(case.network, t, 1.0)) for t in (once, copied))
    assert_same(one, two)


def test_steps_that_read_no_cell_are_not_said_to_read_any() -> None:
    rows = {"Age": ["old", "young"] * 20, "Ill": ["yes", "no", "no", None] * 10}
    why = lc.learn("Age -> Ill", rows).why
    assert " EM step" in why
    assert "table cells" not in why


def test_ten_rows_are_enough_for_em() -> None:
    rows = {"A": [0, 1, None, 1, 0] * 2, "B": [0, 1, 1, 0, None] * 2}
    assert "EM step" in lc.learn("A -> B", rows).why


def test_large_components_are_loopy_by_a_number_that_memory_has_no_part_in() -> None:
    side, rows = 20, 20
    names = [f"X{i}_{j}" for i in range(side) for j in range(side)]
    parents: dict[str, list[str]] = {name: [] for name in names}
    for i in range(side):
        for j in range(side):
            parents[f"X{i}_{j}"] = [f"X{i - 1}_{j}"] * (i > 0) + [f"X{i}_{j - 1}"] * (j > 0)
    network = lc.Network({name: ["0", "1"] for name in names}, parents)
    rng = np.random.default_rng(1)
    columns = {v: np.where(rng.random(rows) < 0.97, 2, 0).astype(np.uint8) for v in names}
    table = EncodedTable(network.cardinality_of, columns)
    ways = [
        lc.explain(network, table, method, memory=memory).expectation
        for method, memory in (("auto", 2**33), ("auto", 2**36), ("em", 2**33))
    ]
    few, many, em = [way.loopy_problems for way in ways if way is not None]
    assert few == many > 0 == em


def test_beyond_what_loopy_propagation_may_read_the_closed_form_stands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = lc.example("asia").with_tables(None)
    rows = lc.simulate(lc.example("asia"), 200, lc.MCAR(0.5), rng=1).to_frame()
    monkeypatch.setattr(expectation_plan, "ALWAYS_EXACT", 0)
    monkeypatch.setattr(Auto, "most_cells", 0.0)
    monkeypatch.setattr(Auto, "most_loopy_reads", 100.0)
    told = lc.explain(network, rows)
    assert told.expectation is not None
    assert told.expectation.loopy_reads > 100
    assert any("EM makes none" in note for note in told.notes)
    with pytest.warns(LacunetWarning, match="missing completely at random"):
        result = lc.learn(network, rows)
    closed = lc.learn(network, rows, "em", max_iterations=0)
    assert result.ended is not None
    assert (result.ended.reason, result.ended.iterations) == ("cost limit", 0)
    assert "too long" in result.why
    assert result.network == closed.network
    monkeypatch.setattr(Auto, "most_loopy_reads", told.expectation.loopy_reads)
    assert lc.learn(network, rows).ended.iterations
