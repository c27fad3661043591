"""The comparison finds the better method on a case where theory says which it is."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from examples import NOT_VERIFIED, SCREENING
from lacunet.data.data import Data
from lacunet.data.read import read_table
from lacunet.errors import LacunetError
from lacunet.inference.sampling import sample_codes
from lacunet.missingness.graph import MissingnessGraph
from lacunet.network.network import Network
from lacunet.simulation.by_graph import MissingByGraph
from lacunet.simulation.simulate import simulate
from studies.comparison.compare import Comparison, case_of, compare
from studies.comparison.text import comparison_as_data, comparison_as_text


@pytest.fixture(scope="module")
def found() -> Comparison:
    graph = MissingnessGraph.parse("Symptoms, Test -> R[Disease]", SCREENING)
    missing = MissingByGraph(graph, NOT_VERIFIED)
    table = simulate(SCREENING, 5_000, missing, rng=np.random.default_rng(1)).table
    case = case_of(SCREENING, table)
    return compare(case, ["listwise", "direct-mcar", "factored-mar", "em"], repetitions=4)


def test_methods_that_hold_under_mar_win_on_mar_data(found: Comparison) -> None:
    assert found.best.method in ("factored-mar", "em")
    order = [one.method for one in found.standings]
    assert order.index("factored-mar") < order.index("direct-mcar")
    assert order.index("em") < order.index("listwise")


def test_who_is_clearly_worse_is_not_called_as_good(found: Comparison) -> None:
    as_good = comparison_as_data(found)["as_good"]
    assert found.best.method in as_good
    assert "listwise" not in as_good


def test_one_draw_calls_nobody_as_good_as_the_best(found: Comparison) -> None:
    single = compare(found.case, ["direct-mcar", "factored-mar"], repetitions=1)
    assert single.best is not None
    assert [one.method for one in single.as_good] == [single.best.method]
    assert "one draw does not show what is chance" in comparison_as_text(single)
    assert json.dumps(comparison_as_data(single), allow_nan=False)


def test_on_complete_data_there_is_no_winner() -> None:
    case = case_of(SCREENING, sample_codes(SCREENING, 300, np.random.default_rng(3)))
    level = compare(case, ["listwise", "factored-mar", "em"], repetitions=2)
    assert level.best is None
    assert comparison_as_data(level)["best"] is None
    assert comparison_as_data(level)["as_good"] == ["listwise", "factored-mar", "em"]
    assert "nothing is missing" in comparison_as_text(level)
    assert "no winner" in comparison_as_text(level)


def test_the_complete_rows_are_the_yardstick_and_do_not_compete(found: Comparison) -> None:
    assert found.standings[0].method == "complete"
    assert found.best.method != "complete"


def test_the_draws_miss_as_much_as_the_data(found: Comparison) -> None:
    mechanism = found.case.missingness.mechanisms["Disease"]
    assert mechanism.parents == ("Symptoms", "Test")
    assert found.case.rows == 5_000
    assert 0 < found.hidden < 0.25


def test_a_row_that_stands_for_many_is_drawn_as_many() -> None:
    network, rows = Network({"Coin": ["head", "tail"]}), {"Coin": ["head", "tail", None]}
    case = case_of(network, read_table(Data(rows, counts=[60, 30, 10]), network))
    assert case.rows == 100


def test_the_verdict_names_the_best_and_its_cost(found: Comparison) -> None:
    text = comparison_as_text(found)
    assert f"{found.best.method} is the most accurate here" in text
    assert "KL divergence" in text


def test_methods_that_the_digits_do_not_tell_apart_are_named_together(found: Comparison) -> None:
    twin = replace(found.best, method="auto")
    tied = replace(found, standings=(*found.standings, twin))
    assert f"{found.best.method} is the most accurate" not in comparison_as_text(tied)
    assert "are the most accurate here, equal to 4 digits" in comparison_as_text(tied)


def test_informed_methods_take_part_if_the_separator_is_known() -> None:
    table = sample_codes(SCREENING, 50, np.random.default_rng(0))
    assert "informed-direct" not in case_of(SCREENING, table).methods
    assert "informed-direct" in case_of(SCREENING, table, separator=("Test",)).methods


def test_if_nobody_learns_the_reasons_are_told() -> None:
    case = case_of(SCREENING, sample_codes(SCREENING, 50, np.random.default_rng(0)))
    with pytest.raises(LacunetError, match="informed-direct"):
        compare(case, ["informed-direct"], repetitions=1)


def test_a_closed_form_that_passes_the_limit_gives_no_network(found: Comparison) -> None:
    with pytest.raises(LacunetError, match="direct-mcar: took"):
        compare(found.case, ["direct-mcar"], repetitions=1, limit=1e-9)


def test_an_unknown_method_is_refused_before_anything_is_drawn(found: Comparison) -> None:
    with pytest.raises(LacunetError, match="magic"):
        compare(found.case, ["magic"], repetitions=10**9)


def test_methods_learn_with_the_prior_of_the_user(found: Comparison) -> None:
    heavy = replace(found.case, pseudo_counts=999.0)  # towards uniform CPTs, far from the truth
    one, other = (
        compare(case, ["factored-mar"], repetitions=1).standings[-1] for case in (found.case, heavy)
    )
    assert other.divergence.mean > 10 * one.divergence.mean


def test_processes_side_by_side_find_the_same(found: Comparison) -> None:
    one, two = (
        compare(found.case, ["listwise", "em"], repetitions=2, processes=number)
        for number in (1, 2)
    )
    assert [(s.method, s.divergence) for s in one.standings] == [
        (s.method, s.divergence) for s in two.standings
    ]
