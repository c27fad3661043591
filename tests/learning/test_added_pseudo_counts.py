"""Learned and given pseudo-counts: what they add, and what they are learned from."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

import lacunet as lc
from enumeration import enumerated
from lacunet.counts.observations import Held
from lacunet.data.table import EncodedTable
from lacunet.learning.closed_forms.forms import Deletion
from lacunet.learning.methods import METHOD_OF_NAME, METHODS
from lacunet.learning.plan import MethodError
from lacunet.learning.pseudo_counts import (
    PseudoCounts,
    for_closed_form,
    learn_pseudo_counts,
    log_gamma,
)
from lacunet.show.results.result_text import result_as_data, result_as_text

STATES = {"Age": ["young", "old"], "Ill": ["no", "yes"], "Test": ["neg", "pos", "unclear"]}
NETWORK = lc.Network(STATES, {"Ill": ["Age"], "Test": ["Ill", "Age"]})
SIZES = {name: len(own) for name, own in STATES.items()}


def table_of(rng: np.random.Generator, rows: int, hidden: float = 0.3) -> EncodedTable:
    """Rows in which the sick mostly test positive, each cell hidden with the same chance."""
    age = rng.integers(0, 2, rows)
    ill = (rng.random(rows) < 0.2 + 0.4 * age).astype(int)
    test = np.where(rng.random(rows) < 0.9, ill, rng.integers(0, 3, rows))
    columns = {}
    for name, codes in zip(STATES, (age, ill, test), strict=True):
        gone = rng.random(rows) < (0.0 if name == "Age" else hidden)
        columns[name] = np.where(gone, SIZES[name], codes).astype(np.uint8)
    return EncodedTable(SIZES, columns, None)


def prior_of(result: lc.Result) -> PseudoCounts:
    """The prior, which was learned."""
    assert isinstance(result.pseudo_counts, PseudoCounts)
    return result.pseudo_counts


def shown(table: EncodedTable, variable: str) -> np.ndarray:
    """The counts of a family among the rows that show it, one row after the other."""
    family = (*NETWORK.parents(variable), variable)
    counts = np.zeros([SIZES[name] for name in family])
    for row in range(table.rows):
        codes = tuple(int(table.columns[name][row]) for name in family)
        if all(code < SIZES[name] for code, name in zip(codes, family, strict=True)):
            counts[codes] += 1
    return counts


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6), st.integers(5, 60))
def test_direct_deletion_adds_what_the_shown_counts_speak_for(seed: int, rows: int) -> None:
    table = table_of(np.random.default_rng(seed), rows)
    result = lc.learn(NETWORK, table, "direct-mcar", pseudo_counts="learn")
    counts = {name: shown(table, name) for name in NETWORK.variables}
    never = {name for name in STATES if (table.columns[name] == SIZES[name]).all()}
    kept = [name for name in STATES if never & {name, *NETWORK.parents(name)}]
    pseudo = for_closed_form(learn_pseudo_counts(counts, kept), counts, rows)
    for name, own in counts.items():
        np.testing.assert_allclose(prior_of(result)[name], pseudo[name], rtol=1e-12)
        joint = own * rows / own.sum() if own.sum() else own
        weights = joint + pseudo[name]
        expected = weights / weights.sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(result.cpt(name).table, expected, rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_em_learns_from_what_a_first_fit_expects(seed: int) -> None:
    table = table_of(np.random.default_rng(seed), 80)
    tight = {"tolerance": 1e-10, "max_iterations": 5_000, "restarts": 1}
    first = lc.learn(NETWORK, table, "em", pseudo_counts=1, **tight).network
    expected, _ = enumerated(first, table)
    pseudo = learn_pseudo_counts(expected)
    result = lc.learn(NETWORK, table, "em", pseudo_counts="learn", **tight)
    for name, own in pseudo.items():
        np.testing.assert_allclose(prior_of(result)[name], own, atol=1e-6)
    # Where it ends, one more step by enumeration moves nothing.
    counts, _ = enumerated(result.network, table)
    for name, own in counts.items():
        weights = own + prior_of(result)[name]
        step = weights / weights.sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(result.cpt(name).table, step, atol=1e-7)


def test_em_does_not_read_the_rows_again(monkeypatch: pytest.MonkeyPatch) -> None:
    gathered = []
    gather = Held.gather

    def counting(self: Held, *given: Any) -> Any:
        gathered.append(given)
        return gather(self, *given)

    monkeypatch.setattr(Held, "gather", counting)
    lc.learn(NETWORK, table_of(np.random.default_rng(0), 50), "em", pseudo_counts="learn")
    assert len(gathered) == 1


@pytest.mark.parametrize("most", [1, 2, 3, 10])
def test_both_runs_keep_the_limit_of_iterations(most: int) -> None:
    table = table_of(np.random.default_rng(5), 60)
    result = lc.learn(
        NETWORK, table, lc.EM(max_iterations=most, tolerance=0), pseudo_counts="learn"
    )
    assert result.ended is not None
    assert (result.ended.reason, result.ended.iterations) == ("iteration limit", most)
    assert prior_of(result).is_learned == (most > 1)


def options_of(method: str) -> dict[str, Any]:
    if method == "mgraph":
        text = "Age -> R[Ill]; Ill -> R[Test]"
        return {"missingness": text, "otherwise": "em"}
    return {"groups": ["Age"]} if method.startswith("informed") else {}


@pytest.mark.parametrize("method", METHODS)
def test_what_was_learned_is_said_everywhere(method: str) -> None:
    table, options = table_of(np.random.default_rng(1), 120), options_of(method)
    told = lc.explain(NETWORK, table, method, pseudo_counts="learn", **options)
    result = lc.learn(NETWORK, table, method, pseudo_counts="learn", **options)
    again = lc.learn(NETWORK, table, method, pseudo_counts="learn", **options)
    assert "pseudo-counts: to be learned from the counts" in str(told)
    assert told.as_data()["pseudo_counts"].startswith("to be learned")
    assert ("first fit of EM" in told.pseudo_counts) == (
        result.ended is not None or method == "mgraph"
    )
    assert " per cell, mostly " in str(result.pseudo_counts)
    assert str(result.pseudo_counts) in result.why
    assert str(result.pseudo_counts) in result_as_text(result)
    assert str(result.pseudo_counts) in result.methods_text()
    data = json.loads(json.dumps(result_as_data(result)))["pseudo_counts"]
    assert data["words"] == str(result.pseudo_counts)
    for name in NETWORK.variables:
        assert data["cells"][name] == prior_of(result)[name].tolist()
        assert prior_of(result)[name].shape == result.cpt(name).table.shape
        assert (prior_of(result)[name] > 0).all()
        np.testing.assert_array_equal(result.cpt(name).table, again.cpt(name).table)


@pytest.mark.parametrize("method", METHODS)
def test_rows_without_support_stay_unsupported(method: str) -> None:
    table = table_of(np.random.default_rng(2), 12, hidden=0.6)
    options = options_of(method)
    given, learned = (
        lc.learn(NETWORK, table, method, pseudo_counts=p, **options) for p in (1, "learn")
    )
    assert any(report.unsupported for report in given.families.values())
    for name, report in given.families.items():
        own = learned.families[name]
        np.testing.assert_array_equal(own.support, report.support)
        assert own.unsupported == report.unsupported
        for words in report.warnings:
            assert words in own.warnings or "pseudo-counts, and mostly" in words


@pytest.mark.parametrize("method", ["direct-mcar", "factored-mar", "em", "auto"])
def test_weights_count_relative_to_the_effective_size(method: str) -> None:
    rng = np.random.default_rng(3)
    table = table_of(rng, 90)
    weighted = replace(table, weights=rng.uniform(0.5, 3, 90))
    times_seven = replace(table, weights=7 * np.asarray(weighted.weights))
    one, other = (
        lc.learn(NETWORK, own, method, pseudo_counts="learn") for own in (weighted, times_seven)
    )
    for name in NETWORK.variables:
        np.testing.assert_allclose(prior_of(one)[name], prior_of(other)[name], rtol=1e-9)
        np.testing.assert_allclose(one.cpt(name).table, other.cpt(name).table, atol=1e-9)


@pytest.mark.parametrize("method", ["direct-mar", "factored-mar", "em"])
def test_a_learned_prior_can_be_given_again(method: str) -> None:
    table = table_of(np.random.default_rng(4), 100)
    tight = {"tolerance": 1e-9} if method == "em" else {}
    result = lc.learn(NETWORK, table, method, pseudo_counts="learn", **tight)
    again = lc.learn(NETWORK, table, method, pseudo_counts=result.pseudo_counts, **tight)
    assert again.pseudo_counts is result.pseudo_counts
    assert not again.why
    for name in NETWORK.variables:
        np.testing.assert_allclose(again.cpt(name).table, result.cpt(name).table, atol=1e-6)


@pytest.mark.parametrize("pseudo_counts", ["lern", "1", -0.5, 1e308, float("nan"), [1.0]])
def test_other_priors_are_refused(pseudo_counts: Any) -> None:
    with pytest.raises(MethodError, match=r"from 0 to 1e\+15, 'learn'"):
        lc.learn(NETWORK, {name: [None] for name in STATES}, pseudo_counts=pseudo_counts)


def test_the_prior_of_another_network_is_refused() -> None:
    with pytest.raises(MethodError, match="other variables, states or parents"):
        lc.learn(NETWORK, {}, pseudo_counts=PseudoCounts({"Age": np.ones(2)}, 0.0))


@pytest.mark.parametrize("method", ["direct-mcar", "factored-mar", "em", "auto"])
def test_families_of_a_variable_that_no_row_shows_keep_one_pseudo_count(method: str) -> None:
    table = table_of(np.random.default_rng(6), 60)
    columns = {**table.columns, "Ill": np.full(60, 2, np.uint8)}
    result = lc.learn(NETWORK, EncodedTable(SIZES, columns, None), method, pseudo_counts="learn")
    assert prior_of(result).kept == ("Ill", "Test")
    assert "one per cell for Ill, Test" in str(result.pseudo_counts)
    for name in ("Ill", "Test"):
        np.testing.assert_array_equal(prior_of(result)[name], np.ones_like(result.cpt(name).table))
    if result.ended is not None:
        assert any("states are in order of size" in note for note in result.ended.notes)


def test_what_is_not_recoverable_holds_one_pseudo_count() -> None:
    table = table_of(np.random.default_rng(7), 200)
    graph = "Ill -> R[Ill]; Age -> R[Test]"
    result = lc.learn(
        NETWORK, table, "mgraph", pseudo_counts="learn", missingness=graph, otherwise="prior"
    )
    left = [v for v, report in result.families.items() if report.fallback == "prior"]
    assert left
    for name in left:
        np.testing.assert_array_equal(prior_of(result)[name], np.ones_like(result.cpt(name).table))
        np.testing.assert_allclose(result.cpt(name).table, 1 / SIZES[name])
    assert set(left) <= set(prior_of(result).kept)


@pytest.mark.parametrize("method", ["direct-mcar", "direct-mar", "factored-mar", "em"])
def test_intervals_come_from_the_rows_under_either_prior(method: str) -> None:
    """The rows' own rates, and what they are worth, differ only as far as EM expects otherwise."""
    table = table_of(np.random.default_rng(8), 4_000)
    one, other = (
        lc.learn(NETWORK, table, method, pseudo_counts=p, intervals=True) for p in (1, "learn")
    )
    assert one.uncertainty.recipe == other.uncertainty.recipe
    for name in NETWORK.variables:
        np.testing.assert_allclose(one.interval(name), other.interval(name), atol=0.004)


@pytest.mark.parametrize("method", METHODS)
@settings(deadline=None, max_examples=4)
@given(st.integers(0, 10**6), st.integers(12, 80))
def test_every_interval_holds_its_estimate(method: str, seed: int, rows: int) -> None:
    table = table_of(np.random.default_rng(seed), rows, hidden=0.4)
    result = lc.learn(
        NETWORK, table, method, pseudo_counts="learn", intervals=True, **options_of(method)
    )
    for name in NETWORK.variables:
        low, high = np.moveaxis(result.interval(name), -1, 0)
        assert (low <= result.cpt(name).table).all()
        assert (result.cpt(name).table <= high).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lc.LacunetWarning)  # of answers that no row supports
        answer = result.query("Ill", {"Test": "pos"})
    low, high = np.moveaxis(np.asarray(answer.interval), -1, 0)
    assert (low <= np.asarray(answer)).all()
    assert (np.asarray(answer) <= high).all()


def test_the_starts_are_compared_with_one_pseudo_count_per_cell() -> None:
    """The learned prior goes on from the optimum that EM has without it."""
    table = table_of(np.random.default_rng(11), 90, hidden=0.6)
    two, learned = (lc.learn(NETWORK, table, "em", pseudo_counts=p) for p in (1, "learn"))
    assert two.ended is not None
    assert learned.ended is not None
    np.testing.assert_allclose(max(learned.ended.starts), max(two.ended.starts), atol=0.05)
    assert learned.ended.iterations > two.ended.iterations - 1


def test_without_a_step_the_prior_is_that_of_the_closed_form() -> None:
    table = table_of(np.random.default_rng(12), 9)  # too few rows for auto to hold some out
    auto, closed = (
        lc.learn(NETWORK, table, m, pseudo_counts="learn") for m in ("auto", "factored-mar")
    )
    for name in NETWORK.variables:
        np.testing.assert_array_equal(auto.cpt(name).table, closed.cpt(name).table)
        np.testing.assert_array_equal(prior_of(auto)[name], prior_of(closed)[name])


@pytest.mark.parametrize("method", METHODS)
def test_the_prior_is_learned_unless_one_is_given_or_a_form_is_closed(method: str) -> None:
    table, options = table_of(np.random.default_rng(13), 60), options_of(method)
    result = lc.learn(NETWORK, table, method, **options)
    said = lc.explain(NETWORK, table, method, **options).pseudo_counts
    if isinstance(METHOD_OF_NAME[method], Deletion):
        assert result.pseudo_counts == 1
        return
    again = lc.learn(NETWORK, table, method, pseudo_counts="learn", **options)
    assert "to be learned" in said
    for name in NETWORK.variables:
        np.testing.assert_array_equal(prior_of(result)[name], prior_of(again)[name])


def test_replicates_use_the_prior_of_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    from lacunet.learning import interval_recipes

    seen = []
    run = interval_recipes.run

    def watching(plan: Any, statistics: Any, setting: Any) -> Any:
        seen.append(setting.pseudo_counts)
        return run(plan, statistics, setting)

    monkeypatch.setattr(interval_recipes, "run", watching)
    table = table_of(np.random.default_rng(9), 100)
    result = lc.learn(
        NETWORK, table, lc.EM(max_iterations=2), pseudo_counts="learn", intervals=True
    )
    assert len(seen) == 30
    assert all(pseudo_counts is result.pseudo_counts for pseudo_counts in seen)


def test_sensitivity_learns_the_prior_once() -> None:
    table = table_of(np.random.default_rng(10), 150)
    found = lc.sensitivity(
        NETWORK,
        table,
        "Test=pos | Age=old",
        "Ill",
        method="em",
        pseudo_counts="learn",
        deltas=[0.0],
    )
    plain = lc.learn(
        NETWORK, table, "em", pseudo_counts="learn", tolerance=1e-6, max_iterations=5_000
    ).network
    answer = plain.query("Test", {"Age": "old"})
    np.testing.assert_allclose(found.answers, [answer.probabilities[1]], atol=1e-3)


def test_the_logarithm_of_gamma_is_that_of_scipy() -> None:
    values = np.concatenate([[0.0], np.geomspace(1e-300, 1e12, 5000), np.linspace(0.01, 20, 2000)])
    exact = gammaln(values)
    assert log_gamma(values)[0] == exact[0] == np.inf
    error = np.abs(log_gamma(values[1:]) - exact[1:])
    assert (error <= 2e-14 + 1e-15 * np.abs(exact[1:])).all()


GIVEN = {"Ill": [[18.0, 2.0], [12.0, 8.0]]}
GRAPH = "Age -> R[Ill]; Age -> R[Test]"


@pytest.mark.parametrize("intervals", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_takes_pseudo_counts_that_are_given(
    method: str, intervals: bool, tmp_path: Path
) -> None:
    table = table_of(np.random.default_rng(8), 60)
    options = {"missingness": GRAPH} if method.startswith(("informed", "mgraph")) else {}
    result = lc.learn(NETWORK, table, method, pseudo_counts=GIVEN, intervals=intervals, **options)
    pseudo_counts = prior_of(result)
    assert pseudo_counts.is_given
    assert pseudo_counts.kept == ("Age", "Test")
    np.testing.assert_array_equal(pseudo_counts["Ill"], GIVEN["Ill"])
    np.testing.assert_array_equal(pseudo_counts["Test"], np.ones((2, 2, 3)))
    printed = str(result) + result.methods_text() + result.why
    assert "pseudo-counts given" in str(result)
    assert "learned pseudo-counts" not in printed
    assert "pseudo-counts were learned" not in printed
    result.write(tmp_path / "result.json")
    again = lc.read_result(tmp_path / "result.json")
    assert str(again).splitlines()[0] == str(result).splitlines()[0]
    assert prior_of(again).as_json() == pseudo_counts.as_json()
    result_as_data(result)
    result.report(tmp_path / "page.html")
    assert "pseudo-counts learned" not in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_given_pseudo_counts_are_added_to_the_counts() -> None:
    rows = {"Age": ["old", "old", "young"], "Ill": ["yes", "no", "no"]}
    pseudo_counts = {"Ill": [[1.0, 3.0], [2.0, 0.0]]}  # Age: old, young; Ill: no, yes
    result = lc.learn("Age -> Ill", rows, "direct-mcar", pseudo_counts=pseudo_counts)
    np.testing.assert_allclose(result.cpt("Ill").table, [[2 / 6, 4 / 6], [1, 0]], rtol=1e-12)
    np.testing.assert_allclose(result.cpt("Age").table, [3 / 5, 2 / 5], rtol=1e-12)


def test_em_does_not_start_from_zeros_where_given_pseudo_counts_are_zero() -> None:
    table = table_of(np.random.default_rng(9), 40)
    nothing = {v: np.zeros_like(own) for v, own in prior_of(lc.learn(NETWORK, table)).items()}
    result = lc.learn(NETWORK, table, "em", pseudo_counts=nothing)
    likely = lc.learn(NETWORK, table, "em", pseudo_counts=0)
    assert result.ended is not None
    assert likely.ended is not None
    assert any("start was smoothed" in note for note in result.ended.notes)
    assert result.ended.log_likelihood == pytest.approx(likely.ended.log_likelihood, abs=0.01)


def test_a_learned_prior_can_be_made_of_lists() -> None:
    table = table_of(np.random.default_rng(11), 40)
    lists = {v: own.tolist() for v, own in prior_of(lc.learn(NETWORK, table)).items()}
    result = lc.learn(NETWORK, table, "direct-mar", pseudo_counts=PseudoCounts(lists, 0.0))
    assert prior_of(result)["Ill"].tolist() == lists["Ill"]


@pytest.mark.parametrize(
    ("pseudo_counts", "said"),
    [
        ({"ill": [[1, 1], [1, 1]]}, "did you mean 'Ill'"),
        ({"Ill": [1, 1]}, r"shape \(2, 2\).*\n.*Age \(young, old\), then Ill \(no, yes\)"),
        ({"Ill": 20}, r"pseudo_counts=\{'Ill': \[\[1.0, 1.0\], \[1.0, 1.0\]\]\}"),
        ({"Ill": [[1, 1], [1]]}, "one number for each cell"),
        ({"Ill": [[1, -1], [1, 1]]}, "holds -1"),
        (
            {"Ill": pd.DataFrame([[9, 1], [1, 9]], ["young", "old"], ["yes", "no"])},
            r"\['yes', 'no'\] where the states of 'Ill' belong",
        ),
        (
            {"Age": lc.Network({"Age": ["old", "young"]}, {}, {"Age": [0.9, 0.1]}).cpt("Age")},
            r"\['old', 'young'\] where the states of 'Age' belong",
        ),
        ({"Ill": [[1, 1], [1, float("nan")]]}, "holds nan"),
        (NETWORK, r"experts=20"),
    ],
)
def test_pseudo_counts_that_do_not_fit_are_refused(pseudo_counts: Any, said: str) -> None:
    with pytest.raises(MethodError, match=said):
        lc.learn(NETWORK, {name: [None] for name in STATES}, pseudo_counts=pseudo_counts)


def test_expert_cpts_are_given_by_how_many_rows_they_are_worth() -> None:
    table = table_of(np.random.default_rng(10), 40)
    net = lc.learn(NETWORK, table).network
    result = lc.learn(
        NETWORK, table, pseudo_counts={v: 20 * net.cpt(v).table for v in net.variables}
    )
    assert prior_of(result).kept == ()
    assert str(lc.explain(NETWORK, table, pseudo_counts=GIVEN)).count("as given") == 1


@pytest.mark.parametrize("method", ["auto", "em", "direct-mar"])
def test_the_same_pseudo_counts_in_every_cell_are_what_their_number_is(method: str) -> None:
    table = table_of(np.random.default_rng(3), 40, hidden=0.6)
    ones = {name: np.ones(NETWORK.shape(NETWORK.family(name))) for name in STATES}
    by_number, by_cell = (
        lc.learn(NETWORK, table, method, pseudo_counts=pseudo_counts) for pseudo_counts in (1, ones)
    )
    assert by_cell.why.split(" The pseudo-counts")[0] == by_number.why
    for name in STATES:
        np.testing.assert_array_equal(by_cell.cpt(name).table, by_number.cpt(name).table)


@pytest.mark.parametrize("seed", range(4))
def test_what_experts_know_of_a_latent_variable_names_its_states(seed: int) -> None:
    truth = lc.Network(
        {"Ill": ["yes", "no"], **{name: ["no", "yes"] for name in "XYZ"}},
        {name: ["Ill"] for name in "XYZ"},
        {"Ill": [0.3, 0.7], **{name: [[0.2, 0.8], [0.9, 0.1]] for name in "XYZ"}},
    )
    rows = lc.Data(lc.simulate(truth, 200, rng=seed).to_frame().drop(columns="Ill"), latent=["Ill"])
    experts = {name: 10 * truth.cpt(name).table for name in "XYZ"}
    result = lc.learn(truth.with_tables(None), rows, "em", pseudo_counts=experts, rng=seed)
    from_truth = lc.learn(truth.with_tables(None), rows, "em", pseudo_counts=experts, start=truth)
    assert result.ended
    assert from_truth.ended
    assert result.ended.log_posterior == pytest.approx(from_truth.ended.log_posterior, abs=1e-3)
    assert not any("arbitrary" in note for note in result.ended.notes)


@pytest.mark.parametrize(
    ("cells", "words"),
    [([[0, 3], [1, 2]], "between 0 and 3 pseudo-counts"), ([[0, 0], [0, 0]], "0 pseudo-counts")],
)
def test_given_pseudo_counts_of_zero_are_named(cells: list[list[float]], words: str) -> None:
    table = table_of(np.random.default_rng(8), 60)
    result = lc.learn(NETWORK, table, "direct-mar", pseudo_counts={"Ill": cells})
    assert str(result.pseudo_counts) == f"{words} per cell, as given; one per cell for Age, Test"
