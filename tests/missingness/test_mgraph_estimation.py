from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import lacunet as lc
from lacunet.counts.count import count
from lacunet.counts.distinct_rows import Rows, distinct_rows
from lacunet.data.read import read_table
from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetWarning
from lacunet.learning.uncertainty.by_formula import estimate_by_formula
from lacunet.missingness.errors import MissingnessGraphError, NoRowsError, NotRecoverableError
from lacunet.missingness.formulas.samples import Run, Sample, Share, choose_samples, fill_shares
from lacunet.missingness.formulas.terms import Factor
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.verdict import columns_needed, estimate
from lacunet.missingness.verdict_rows import gather_rows
from lacunet.network.network import Network
from lacunet.network.nodes import Mechanism, Node
from lacunet.show.verdicts.verdict_on_data import report_on_data
from manifest_laws import random_cpt, random_model

PAIR = Network({"X": ["0", "1"], "Y": ["0", "1"]}, {"Y": ["X"]})
FEEDBACK = MissingnessGraph.parse("X -> R[Y]; Y -> R[X]", PAIR)
AGE = Network({"Age": ["young", "old"], "Ill": ["no", "yes"]}, {"Ill": ["Age"]})
SURVEY = MissingnessGraph.parse("Age -> R[Ill]", AGE)


def survey() -> pd.DataFrame:
    """The young all answer; half of the old do, and they are ill more often."""
    rows = [("young", "no")] * 6 + [("young", "yes")] * 2
    rows += [("old", "no")] + [("old", "yes")] * 3 + [("old", None)] * 4
    return pd.DataFrame(rows, columns=["Age", "Ill"])


def table_of(rows: Sequence[tuple[int, ...]], weights: list[float] | None = None) -> EncodedTable:
    codes = np.array(rows, dtype=np.uint8)
    columns = {"X": codes[:, 0], "Y": codes[:, 1]}
    return EncodedTable({"X": 2, "Y": 2}, columns, None if weights is None else np.array(weights))


def test_the_rows_that_answer_are_weighted_to_stand_for_all() -> None:
    # Pr(Ill) = 1/2 * 2/8 + 1/2 * 3/4; the rows that show Ill over-represent the young.
    np.testing.assert_allclose(SURVEY.recover(["Ill"]).estimate(survey()), [0.5, 0.5])


def test_any_dataframe_gives_the_same_estimate() -> None:
    verdict = SURVEY.recover(["Ill"], ["Age"])
    pandas, polars = survey(), pl.from_pandas(survey())
    np.testing.assert_array_equal(verdict.estimate(pandas), verdict.estimate(polars))


def test_rows_that_memory_does_not_hold_give_the_same_estimate(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    pd.concat([survey()] * 500).to_csv(file, index=False)
    verdict = SURVEY.recover(["Ill"])
    rows = gather_rows(SURVEY, lc.Data(file), columns_needed(verdict), memory=4000).rows
    np.testing.assert_allclose(estimate(verdict, rows).table, verdict.estimate(file), rtol=1e-12)


def test_the_report_says_what_the_estimate_rests_on() -> None:
    report = SURVEY.recover(["Ill"]).estimate_with_report(survey())
    assert report.rows_used == 12
    assert report.share_used == 12 / 16
    assert report.largest_weight == 2
    assert report.weighted_size == pytest.approx(16**2 / (8 * 1 + 4 * 4))
    assert report.warnings == ()


def test_a_row_that_counts_twice_is_two_rows_and_one_of_weight_two_is_not() -> None:
    frame = survey()
    frame["w"] = [2.0] * 8 + [1.0] * 8
    verdict = SURVEY.recover(["Ill"])
    doubled = pd.concat([survey(), survey()[:8]])
    repeated = verdict.estimate_with_report(doubled)
    counted = verdict.estimate_with_report(lc.Data(frame, counts="w"))
    weighted = verdict.estimate_with_report(lc.Data(frame, weight="w"))
    for found in (counted, weighted):
        np.testing.assert_allclose(found.table, repeated.table)
    assert counted.weighted_size == pytest.approx(repeated.weighted_size)
    # by Kish all 16 rows, of the weight 24, are worth 24^2 / (8 * 4 + 8) = 14.4
    assert weighted.weighted_size == pytest.approx(repeated.weighted_size * 14.4 / 24)


def test_the_paper_s_mnar_formula_by_hand() -> None:
    # Complete rows (x, y): 00 x4, 01 x2, 10 x1, 11 x1; only X: 0 x2, 1 x2; only Y: 0 x5, 1 x1.
    rows = [(0, 0)] * 4 + [(0, 1)] * 2 + [(1, 0)] + [(1, 1)]
    rows += [(0, 2)] * 2 + [(1, 2)] * 2 + [(2, 0)] * 5 + [(2, 1)]
    shown_x = np.array([5 / 10, 3 / 4])  # P(R_X = 1 | y, R_Y = 1)
    shown_y = np.array([6 / 8, 2 / 4])  # P(R_Y = 1 | x, R_X = 1)
    expected = np.array([[4, 2], [1, 1]]) / (shown_y[:, None] * shown_x[None, :])
    estimate = FEEDBACK.recover(["X", "Y"]).estimate(table_of(rows))
    np.testing.assert_allclose(estimate, expected / expected.sum())


def test_the_axes_follow_the_query() -> None:
    table = random_model(FEEDBACK, np.random.default_rng(0)).manifest()
    one = FEEDBACK.recover(["X", "Y"]).estimate(table)
    two = FEEDBACK.recover(["Y", "X"]).estimate(table)
    np.testing.assert_allclose(one, two.probabilities.T)
    given = FEEDBACK.recover(["X"], ["Y"]).estimate(table)
    np.testing.assert_allclose(given, (one / one.probabilities.sum(axis=0)).T)


def test_the_scale_of_the_weights_changes_nothing() -> None:
    table = random_model(FEEDBACK, np.random.default_rng(0)).manifest()
    assert table.weights is not None
    scaled = EncodedTable(table.cardinality_of, table.columns, table.weights * 1000)
    verdict = FEEDBACK.recover(["X", "Y"])
    np.testing.assert_allclose(verdict.estimate(table), verdict.estimate(scaled), rtol=1e-12)


def test_a_cell_without_data_backs_off_and_is_named() -> None:
    # The propensity of Y given X is to come from rows that show Z, but none of them has X = 1.
    rows = np.array([[0, 0, 0]] * 3 + [[0, 2, 0]] + [[1, 0, 2], [1, 1, 2], [0, 1, 2]], np.uint8)
    columns = {name: rows[:, at] for at, name in enumerate("XYZ")}
    table = EncodedTable(dict.fromkeys("XYZ", 2), columns)
    shown = Sample((Mechanism("Z"),), ())
    weight = Share(Mechanism("Y"), ("X",), (), shown)
    run = Run(distinct_rows(table, "XYZ"))
    plan = Factor(("Y",), ("X",), Sample((Mechanism("Y"),), (weight,)))
    result = plan.compute(run)
    assert list(run.notes) == [
        "positivity: the propensity of R[Y] has no data of its own for 2 of the rows used, "
        "and backed off"
    ]
    # X = 0 has P(R_Y = 1) = 3/4; X = 1 takes Laplace's estimate without X, (3 + 1) / (4 + 2).
    assert result.basis.largest_weight == pytest.approx(6 / 4)


def test_weight_that_nobody_stands_for_is_named_with_its_share() -> None:
    # Y is never shown where X = 1, which half of the rows that show X have.
    rows = [(0, 0), (0, 1), (2, 0), (2, 1), (1, 2), (1, 2)]
    report = FEEDBACK.recover(["X", "Y"]).estimate_with_report(table_of(rows))
    lost = (
        "positivity: R[Y] is never 1 in 1 configuration of X, which holds 50.0% of the weight; "
        "the estimate leaves it out"
    )
    assert report.warnings == (lost,)
    np.testing.assert_allclose(report.table, [[0.5, 0.5], [0.0, 0.0]])


def test_weight_lost_under_mar_is_named_too() -> None:
    frame = survey()
    frame.loc[frame["Age"] == "old", "Ill"] = None
    verdict = SURVEY.recover(["Ill"])
    (warning,) = verdict.estimate_with_report(frame).warnings
    assert "R[Ill]" in warning
    assert "1 in 1 configuration of Age" in warning
    assert "50.0%" in warning


@pytest.mark.parametrize("target", [["Ill"], ["Age", "Ill"]])
def test_an_estimate_without_a_report_warns_where_positivity_fails(target: list[str]) -> None:
    frame = survey()
    frame.loc[frame["Age"] == "old", "Ill"] = None
    with pytest.warns(LacunetWarning, match=r"R\[Ill\].*1 .*50.0%") as caught:
        SURVEY.recover(target).estimate(frame)
    assert {warning.filename for warning in caught} == {__file__}


def test_lost_weight_is_counted_by_weight_and_over_all_configurations() -> None:
    network = Network({"X": ["0", "1", "2"], "Y": ["0", "1"]}, {"Y": ["X"]})
    graph = MissingnessGraph.parse("X -> R[Y]", network)
    columns = {"X": np.array([0, 0, 1, 2], np.uint8), "Y": np.array([0, 1, 2, 2], np.uint8)}
    table = EncodedTable({"X": 3, "Y": 2}, columns, np.array([1.0, 1.0, 1.0, 5.0]))
    (warning,) = graph.recover(["X", "Y"]).estimate_with_report(table).warnings
    assert warning.endswith(
        "2 configurations of X, which hold 75.0% of the weight; the estimate leaves them out"
    )


def test_weight_where_a_free_mechanism_is_zero_is_not_missed_by_a_sample_that_selects_it() -> None:
    # Y is never shown where Z is not, but the rows used all show Z.
    rows = np.array([[0, 0, 0], [0, 1, 1], [0, 2, 0], [1, 2, 2], [0, 2, 2]], np.uint8)
    columns = {name: rows[:, at] for at, name in enumerate("XYZ")}
    run = Run(distinct_rows(EncodedTable(dict.fromkeys("XYZ", 2), columns), "XYZ"))
    weight = Share(Mechanism("Y"), (), (Mechanism("Z"),), Sample((), ()))
    Factor(("Y",), (), Sample((Mechanism("Y"), Mechanism("Z")), (weight,))).compute(run)
    assert not run.notes
    Factor(("Y",), (), Sample((Mechanism("Y"),), (weight,))).compute(run)
    assert list(run.notes) == [
        "positivity: R[Y] is never 1 in 1 configuration of R[Z], which holds 40.0% of the "
        "weight; the estimate leaves it out"
    ]


def test_a_propensity_backs_off_to_the_parents_that_tell_most() -> None:
    # The first parent decides everything, the second nothing: the second is dropped.
    seen, every = np.array([[9.0, 0.0], [1.0, 2.0]]), np.array([[10.0, 0.0], [10.0, 20.0]])
    table = fill_shares(seen, every, 1.0)
    np.testing.assert_array_equal(table.is_empty, [[False, True], [False, False]])
    np.testing.assert_allclose(table.values, [[0.9, 10 / 12], [0.1, 0.1]])


def test_where_the_data_say_nothing_the_estimate_is_not_a_number() -> None:
    report = SURVEY.recover(["Ill"], ["Age"]).estimate_with_report(survey()[:8])
    np.testing.assert_array_equal(np.isnan(report.table), [[False, False], [True, True]])
    assert report.unseen == 1


def test_what_is_not_recoverable_has_no_formula_to_estimate_it_by() -> None:
    graph = MissingnessGraph.parse("Ill -> R[Ill]", AGE)
    with pytest.raises(NotRecoverableError, match=r"P\(Ill\).*-> R\[Ill"):
        graph.recover(["Ill"]).estimate_with_report(survey())


def test_what_the_numbers_of_states_identify_is_estimated_without_a_formula() -> None:
    # Of three ages and two states the rows tell how both hide; of two ages they tell a range.
    states = {"Age": ["y", "m", "o"], "Ill": ["no", "yes"]}
    tables = {"Age": [0.3, 0.3, 0.4], "Ill": [[0.8, 0.2], [0.5, 0.5], [0.1, 0.9]]}
    network = Network(states, {"Ill": ["Age"]}, tables)
    graph = MissingnessGraph.parse("Ill -> R[Ill]", network)
    drawn = lc.simulate(network, 20_000, lc.MissingByGraph(graph, {"Ill": [0.1, 0.5]}), rng=8)
    verdict = graph.recover("P(Ill)")
    assert verdict.generic
    assert not verdict.is_recoverable
    answer = verdict.estimate(drawn.to_frame(), intervals=True, level=0.99)
    assert answer.bounds is None
    truth = 0.3 * 0.2 + 0.3 * 0.5 + 0.4 * 0.9
    assert answer.interval[1, 0] < truth < answer.interval[1, 1]
    report = report_on_data(verdict, drawn.table, level=0.99, with_set=True)
    np.testing.assert_allclose(answer, report.bounds.low, atol=1e-9)
    np.testing.assert_allclose(answer.interval, report.interval, atol=1e-6)


def test_what_no_formula_and_no_states_identify_is_answered_by_its_bounds() -> None:
    # Ill is hidden by what it is: of 16 rows 4 hide it, and any of them may be ill.
    network = Network({"Ill": ["no", "yes"]})
    graph = MissingnessGraph.parse("Ill -> R[Ill]", network)
    verdict = graph.recover("P(Ill)")
    rows = pd.DataFrame({"Ill": ["no"] * 7 + ["yes"] * 5 + [None] * 4})
    with pytest.warns(LacunetWarning, match="not recoverable"):
        answer = verdict.estimate(rows)
    assert np.isnan(answer).all()
    np.testing.assert_allclose(answer.bounds.low, [7 / 16, 5 / 16], atol=1e-4)
    np.testing.assert_allclose(answer.bounds.high, [11 / 16, 9 / 16], atol=1e-4)
    assert answer.bounds_are_exact
    assert "data" in str(answer)
    assert "CPT rows" not in str(answer)


def test_no_row_that_shows_the_query_is_an_error() -> None:
    graph = MissingnessGraph.parse("R[X]; R[Y]", PAIR)
    with pytest.raises(NotRecoverableError, match="'X', 'Y'"):
        graph.recover(["X", "Y"]).estimate(table_of([(0, 2), (2, 1)]))


def test_missing_values_without_a_mechanism_are_named_with_the_way_out() -> None:
    graph = MissingnessGraph.parse("R[Age]", AGE)
    with pytest.raises(MissingnessGraphError, match="'Ill'"):
        graph.recover(["Ill"]).estimate(survey())


def test_a_mechanism_of_what_is_never_missing_is_noted_and_changes_nothing() -> None:
    table = read_table(survey(), AGE)
    graph = MissingnessGraph.parse("R[Age]; Age -> R[Ill]", AGE)
    assert graph.check_data(table) == (
        "the data show every value of 'Age', which the graph lets go missing",
    )
    assert SURVEY.check_data(table) == ()
    np.testing.assert_allclose(graph.recover(["Ill"]).estimate(table), [0.5, 0.5])


def test_estimating_does_not_change_the_data() -> None:
    table = table_of([(0, 0), (1, 1), (2, 0), (0, 2)], [1.0, 2.0, 3.0, 4.0])
    before = {name: column.copy() for name, column in table.columns.items()}
    FEEDBACK.recover(["X", "Y"]).estimate(table)
    for name, column in table.columns.items():
        np.testing.assert_array_equal(column, before[name])


def test_a_long_row_of_columns_is_packed_without_overflow() -> None:
    rng = np.random.default_rng(0)
    names = [f"V{at}" for at in range(45)]
    columns = {name: rng.integers(0, 8, 50).astype(np.uint8) for name in names}
    columns = {name: np.concatenate([column, column]) for name, column in columns.items()}
    rows = distinct_rows(EncodedTable(dict.fromkeys(names, 7), columns), names)
    assert len(rows.weights) == 50
    np.testing.assert_array_equal(rows.weights, 2)


def test_weights_may_be_given_beside_the_data() -> None:
    frame = pd.DataFrame({"X": ["0", "1", None, "0"], "Y": ["0", "1", "0", None]})
    verdict = FEEDBACK.recover(["X", "Y"])
    apart = verdict.estimate(lc.Data(frame, weight=np.array([1.0, 2.0, 3.0, 4.0])))
    inside = table_of([(0, 0), (1, 1), (2, 0), (0, 2)], [1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(apart, verdict.estimate(inside))


def test_the_odds_rule_recovers_what_a_feedback_among_mechanisms_hides() -> None:
    network = Network({name: ["0", "1"] for name in "ABC"}, {"B": ["A"], "C": ["A"]})
    graph = MissingnessGraph.parse("B, C, R[B] -> R[A]; C -> R[B]; A, R[B] -> R[C]", network)
    verdict = graph.recover(["A", "B", "C"])
    assert "π[B] = 1 / (1 + P(C, R[C]=1, R[B]=0) / [" in verdict.estimand
    model = random_model(graph, np.random.default_rng(3))
    estimate = verdict.estimate(model.manifest())
    np.testing.assert_allclose(estimate, model.truth(["A", "B", "C"]), rtol=0, atol=1e-12)


def test_the_rows_of_two_parts_add_up_to_those_of_the_whole() -> None:
    rng = np.random.default_rng(1)
    columns = {name: rng.integers(0, 4, 300).astype(np.uint8) for name in "ABC"}
    table = EncodedTable(dict.fromkeys("ABC", 3), columns, rng.random(300))
    whole = distinct_rows(table, "ABC")
    parts = [distinct_rows(table.take(part), "ABC") for part in (slice(0, 90), slice(90, 300))]
    both = parts[0] + parts[1]
    np.testing.assert_allclose(both.weights, whole.weights)
    np.testing.assert_array_equal(both.counts, whole.counts)
    for name in "ABC":
        np.testing.assert_array_equal(both.column(name), whole.column(name))


def test_counts_of_the_columns_needed_give_the_estimate_of_the_table() -> None:
    table = table_of([(0, 0)] * 4 + [(0, 1)] * 2 + [(1, 0), (1, 1), (0, 2), (1, 2), (2, 0)])
    verdict = FEEDBACK.recover(["Y"], ["X"])
    scope = columns_needed(verdict)
    parts = [count(table.take(part), [scope])[scope] for part in (slice(0, 3), slice(3, 11))]
    whole = estimate(verdict, Rows.of(parts[0] + parts[1]))
    np.testing.assert_allclose(whole.table, verdict.estimate(table), rtol=1e-12)
    assert whole.rows_used == 8


def test_an_estimand_whose_tables_are_too_large_is_refused_before_it_starts() -> None:
    many = [str(k) for k in range(250)]
    network = Network(dict.fromkeys("ABCD", many))
    graph = MissingnessGraph.parse("A, B, C -> R[D]", network)
    columns = {name: np.zeros(2, np.uint8) for name in "ABC"} | {"D": np.array([0, 250], np.uint8)}
    table = EncodedTable(dict.fromkeys("ABCD", 250), columns)
    assert graph.recover(["A", "B", "C"], []).estimand == "P(A, B, C) = P(A, B, C)"
    with pytest.raises(NotRecoverableError, match=r"3.91e\+09"):
        graph.recover(["A", "B", "C", "D"]).estimate(table)


def test_what_must_be_shown_together_is_named_not_just_the_target() -> None:
    with pytest.raises(NotRecoverableError, match=r"P\(X\).*'X', 'Y'"):
        FEEDBACK.recover(["X"]).estimate(table_of([(0, 2), (2, 1)]))


def test_an_undirected_graph_is_no_missingness_graph() -> None:
    import networkx as nx

    undirected: Any = nx.Graph([("X", "R[Y]")])
    with pytest.raises(MissingnessGraphError, match="missingness"):
        MissingnessGraph.from_networkx(undirected, PAIR)


def test_a_helper_that_does_not_go_with_every_value_is_averaged_over_where_it_does() -> None:
    # Z = 1 never goes with A = 0: only Z = 0 tells A's odds, and it tells them exactly.
    network = Network({name: ["0", "1"] for name in "AXZ"}, {"X": ["A"], "Z": ["A"]})
    graph = MissingnessGraph.parse("X, Z -> R[X]", network)
    known: dict[Node, np.ndarray] = {"Z": np.array([[1, 0], [0.5, 0.5]])}
    for seed in range(5):
        model = random_model(graph, np.random.default_rng(seed), known)
        report = graph.recover(["A"], ["X"]).estimate_with_report(model.manifest())
        np.testing.assert_allclose(report.table, model.truth(["A"], ["X"]), rtol=0, atol=1e-12)
        assert "of A" in report.warnings[0]


DROPOUT = Network({name: ["0", "1"] for name in ("X1", "X2", "X3")}, {"X2": ["X1"], "X3": ["X2"]})
MONOTONE = MissingnessGraph.parse("X2, R[X3] -> R[X1]; X1 -> R[X2]; X1, R[X2] -> R[X3]", DROPOUT)


def monotone_law(seed: int) -> EncodedTable:
    """R[X3] = 1 implies R[X1] = 1."""
    rng = np.random.default_rng(seed)
    shown = random_cpt(rng, [2, 2, 2])
    shown[:, 1] = [0, 1]
    return random_model(MONOTONE, rng, {Mechanism("X1"): shown}).manifest()


@pytest.mark.parametrize("seed", range(4))
def test_the_odds_form_gives_no_number_where_a_pattern_never_occurs(seed: int) -> None:
    verdict = MONOTONE.recover(["X1"])
    assert "R[X1], R[X2], R[X3]" in verdict.why
    law = monotone_law(seed)
    drawn = np.random.default_rng(seed).choice(law.rows, 2000, p=law.weights)
    for table in (law, EncodedTable(law.cardinality_of, law.take(drawn).columns)):
        report = verdict.estimate_with_report(table)
        assert np.isnan(report.table).all()
        assert not report.is_founded
        assert "X1 alone" in report.warnings[0]


def test_the_odds_form_hits_the_law_where_every_pattern_occurs() -> None:
    model = random_model(MONOTONE, np.random.default_rng(0))
    report = MONOTONE.recover(["X1"]).estimate_with_report(model.manifest())
    np.testing.assert_allclose(report.table, model.truth(["X1"]), rtol=0, atol=1e-12)
    assert report.is_founded


def test_the_odds_of_patterns_are_defined_where_they_are_printed() -> None:
    verdict = MONOTONE.recover(["X1", "X2", "X3"])
    assert "θ[T]" in verdict.estimand
    assert "T within S" in verdict.estimand
    assert "\n  θ[T] = P((X1, X2, X3) without T, R[T]=0, R[not T]=1) / (" in verdict.estimand
    assert r"\theta_{T} = \frac" in verdict.latex


def test_sums_are_written_in_words_and_in_latex_as_signs() -> None:
    network = Network({name: ["0", "1"] for name in "WXY"}, {"X": ["W"], "Y": ["X"]})
    verdict = MissingnessGraph.parse("W -> R[X]", network).recover(["X"])
    assert verdict.estimand.startswith("P(X) = sum over W of P(X, W, R[X]=1) / π[X], where")
    assert r"\sum_{\text{W}} \frac{" in verdict.latex
    assert "Σ" not in verdict.estimand


def test_of_several_samples_that_serve_the_data_choose_the_largest() -> None:
    few, many = Sample((Mechanism("X"), Mechanism("Y"))), Sample((Mechanism("X"),))
    rows = [(0, 0)] * 3 + [(1, 1)] + [(0, 2)] * 20 + [(1, 2)] * 20
    factor = Factor(("X",), (), Sample(few.selected, (), (many,)))
    run = Run(distinct_rows(table_of(rows), "XY"))
    result = factor.compute(run)
    assert result.basis.rows_used == 44
    np.testing.assert_allclose(result.table.array, [23 / 44, 21 / 44])
    assert choose_samples(factor, run.chosen) == Factor(("X",), (), many)
    assert choose_samples(factor, run.chosen).equation() == "P(X) = P(X | R[X]=1)"


def test_an_estimate_from_few_of_the_rows_that_show_the_query_is_warned_about() -> None:
    rows = [(0, 0)] * 3 + [(0, 1)] + [(0, 2)] * 60 + [(1, 2)] * 60 + [(1, 0)]
    report = FEEDBACK.recover(["X"]).estimate_with_report(table_of(rows))
    assert "5 of" in " ".join(report.warnings)
    assert "125" in " ".join(report.warnings)


def test_of_several_estimands_the_data_choose_the_one_that_wastes_fewest_rows() -> None:
    # Q decides whether X is shown, and Q itself is rarely shown; Z, always shown, separates
    # X from all that. Weighting by the propensity of R[X] needs the rows that show Q.
    network = Network({name: ["0", "1"] for name in "ZXQ"}, {"X": ["Z"], "Q": ["Z"]})
    graph = MissingnessGraph.parse("Q -> R[X]; R[Q]", network)
    model = random_model(graph, np.random.default_rng(0), {Mechanism("Q"): np.array([0.99, 0.01])})
    law = model.manifest()
    drawn = np.random.default_rng(0).choice(law.rows, 20_000, p=law.weights)
    table = EncodedTable(law.cardinality_of, law.take(drawn).columns)
    verdict = graph.recover(["X"])
    assert "π[X]" in verdict.estimand
    report = verdict.estimate_with_report(table)
    assert report.rows_used == report.rows_shown == np.count_nonzero(table.columns["X"] != 2)
    assert report.estimand == "P(X) = sum over Z of P(X | Z, R[X]=1) P(Z)"
    # Four standard errors of a share.
    error = 4 * np.sqrt(0.25 / report.weighted_size)
    np.testing.assert_allclose(report.table, model.truth(["X"]), rtol=0, atol=error)
    exact = verdict.estimate(law)
    np.testing.assert_allclose(exact, model.truth(["X"]), rtol=0, atol=1e-12)


FED_BACK = MissingnessGraph.parse(
    "B, C, R[B] -> R[A]; C -> R[B]; A, R[B] -> R[C]",
    Network({name: ["0", "1"] for name in "ABC"}, {"B": ["A"], "C": ["B"]}),
)


def test_the_odds_rule_is_exact_where_a_part_of_the_hidden_rows_shows_nothing() -> None:
    # Where A = 1, a row that misses B never shows C; where A = 0 some do, and that is enough.
    rng = np.random.default_rng(0)
    shown = random_cpt(rng, [2, 2, 2])
    shown[1, 0] = [1, 0]
    model = random_model(FED_BACK, rng, {Mechanism("C"): shown})
    verdict = FED_BACK.recover(["C"], ["A", "B"])
    assert "B show C" in verdict.why
    estimate = verdict.estimate(model.manifest())
    np.testing.assert_allclose(estimate, model.truth(["C"], ["A", "B"]), rtol=0, atol=1e-12)


def test_the_odds_rule_gives_no_number_where_no_hidden_row_shows_what_it_needs() -> None:
    rng = np.random.default_rng(0)
    shown = random_cpt(rng, [2, 2, 2])
    shown[:, 0] = [1, 0]
    model = random_model(FED_BACK, rng, {Mechanism("C"): shown})
    verdict = FED_BACK.recover(["A", "B", "C"])
    report = verdict.estimate_with_report(model.manifest())
    assert np.isnan(report.table).all()
    assert "R[B]" in report.warnings[0]


def test_an_estimate_has_the_names_of_its_states_and_intervals_if_asked() -> None:
    verdict = SURVEY.recover(["Ill"], ["Age"])
    bare, sure = verdict.estimate(survey()), verdict.estimate(survey(), intervals=True, level=0.9)
    assert bare["old", "yes"] == 0.75
    assert bare.level is None
    assert "old" in str(bare)
    assert sure.level == 0.9
    assert sure.level == 0.9
    expected = estimate_by_formula(verdict, lc.Data(survey())).spread.interval(0.9)
    np.testing.assert_array_equal(sure.interval, expected)
    np.testing.assert_array_equal(np.asarray(sure), bare)
    full_law = SURVEY.recover_full_law().estimate(survey())
    assert full_law.variables == ("Age", "Ill", "R[Ill]")


def test_a_graph_over_edges_has_the_states_of_data_or_two_of_each() -> None:
    graph = MissingnessGraph.parse("Age -> R[Ill]", "Age -> Ill", data=survey())
    assert graph.recover("P(Ill)").estimate(survey())["yes"] == 0.5
    with pytest.warns(LacunetWarning, match="Age, Ill"):
        bare = MissingnessGraph.parse("Age -> R[Ill]", "Age -> Ill")
    assert bare.recover("P(Ill)").estimand == graph.recover("P(Ill)").estimand


def test_of_a_product_the_factor_that_no_row_shows_is_named() -> None:
    network = Network(
        {key: ["0", "1"] for key in "ZXYW"}, {"X": ["Z"], "Y": ["Z", "X"], "W": ["Y"]}
    )
    verdict = MissingnessGraph.parse("R[Z]; R[X]; R[Y]", network).recover("P(Y, W | do(X))")
    rows = {"Z": ["0", None, "1"], "X": [None, "1", None], "Y": [None, "0", None], "W": ["0"] * 3}
    with pytest.raises(NoRowsError, match="'Z', 'X', 'Y'"):
        verdict.estimate(rows)
