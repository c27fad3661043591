"""Parameters that are drawn vary as the data leave them open, and completions with them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import t

import lacunet as lc
from lacunet.ask.impute.draws import parameter_draws
from lacunet.ask.predict.missingness_assumptions import AssumptionWarning
from lacunet.data.errors import DataError
from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetError
from lacunet.inference.completions import draw_completions
from lacunet.inference.sampling import sample_codes
from lacunet.missingness.graph import MissingnessGraph

CHAIN = lc.Network(
    {name: ["0", "1"] for name in "ABC"},
    {"B": ["A"], "C": ["B"]},
    {"A": [0.5, 0.5], "B": [[0.7, 0.3], [0.4, 0.6]], "C": [[0.8, 0.2], [0.35, 0.65]]},
)


def _rows(number: int, share: float, seed: int) -> EncodedTable:
    """B and C are missing, each in a share of the rows that is larger where A is 1."""
    rng = np.random.default_rng([number, round(100 * share), seed])
    columns = dict(sample_codes(CHAIN, number, rng).columns)
    for name in "BC":
        odds = np.where(columns["A"] == 1, min(1.15 * share, 0.97), 0.85 * share)
        columns[name] = np.where(rng.random(number) < odds, 2, columns[name]).astype(np.uint8)
    return EncodedTable(CHAIN.cardinality_of, columns)


@pytest.mark.parametrize(
    ("method", "apart"),
    [("em", 0.08), ("direct-mar", 0.08), ("factored-mar", 0.08), ("direct-mcar", 0.08)],
)
def test_drawn_parameters_have_the_standard_errors_of_the_intervals(
    method: str, apart: float
) -> None:
    result = lc.learn(CHAIN, _rows(3000, 0.4, 1), method, intervals=True)
    drawn = parameter_draws(result, 2000, np.random.default_rng(2))
    for name in "ABC":
        tables = np.stack([network.cpt(name).table for network in drawn])
        np.testing.assert_allclose(tables.sum(axis=-1), 1, rtol=1e-12)
        # 2,000 draws: a standard deviation is known to 1.6%, a mean to 0.022 of them
        spread, error = tables.std(axis=0), result.standard_error(name)
        np.testing.assert_allclose(spread, error, rtol=apart)
        np.testing.assert_allclose(
            tables.mean(axis=0), result.network.cpt(name).table, atol=0.2 * error.max()
        )


@pytest.mark.parametrize("method", ["em", "direct-mar", "factored-mar"])
def test_drawn_parameters_are_correlated_as_queries_know(method: str) -> None:
    # P(C) mixes all rows of the chain: its spread over draws is that of the query.
    result = lc.learn(CHAIN, _rows(3000, 0.6, 3), method, intervals=True)
    drawn = parameter_draws(result, 1500, np.random.default_rng(4))
    answers = np.array([network.query("C").probabilities[1] for network in drawn])
    error = result.query("C").standard_error
    assert error is not None
    np.testing.assert_allclose(answers.std(), error[1], rtol=0.12)


@pytest.mark.parametrize("method", ["em", "direct-mcar", "direct-mar", "factored-mar"])
def test_what_was_never_seen_is_drawn_as_so_few_rows_leave_it_open(method: str) -> None:
    rows = {"A": ["0"] * 50, "B": ["0"] * 50, "C": ["0", "1"] * 20 + [None] * 10}
    result = lc.learn(CHAIN, rows, method, pseudo_counts=0, intervals=True)
    assert result.network.cpt("A").table[1] == 0
    drawn = [n.cpt("A").table[1] for n in parameter_draws(result, 400, np.random.default_rng(1))]
    # Beta(.5, 50.5) has the mean .0098 and the standard deviation .0137: three standard errors.
    assert abs(np.mean(drawn) - 0.0098) < 3 * 0.0137 / 20


def test_what_a_rule_excludes_is_never_drawn() -> None:
    rows = {"Smoked": ["no", "yes", "yes"] * 20, "Now": [None, "yes", None] * 20}
    network = lc.Network.from_data(lc.Data(rows, not_asked={"Now": "Smoked=no"}), "Smoked -> Now")
    result = lc.learn(network, rows, "em", pseudo_counts=0, intervals=True)
    possible = network.possible("Now")
    for drawn in parameter_draws(result, 20, np.random.default_rng(1)):
        assert not drawn.cpt("Now").table[~possible].any()


@pytest.mark.parametrize("method", ["direct-mar", "factored-mar"])
def test_one_event_is_drawn_as_one_event(method: str) -> None:
    died = ["yes"] + ["no"] * 19 + [None] * 200 + ["yes"] * 94 + ["no"] * 100
    rows = {"Drug": ["new"] * 220 + ["old"] * 194, "Died": died}
    network = lc.Network.from_data(rows, "Drug -> Died")
    result = lc.learn(network, rows, method, intervals=True)
    drawn = parameter_draws(result, 400, np.random.default_rng(1))
    risk = [own.cpt("Died").table[0, 1] for own in drawn]
    assert np.mean(risk) < 0.2
    assert 0.03 < np.std(risk) < 0.1  # of one in twenty: .05


def test_mechanisms_are_drawn_too() -> None:
    graph = MissingnessGraph.parse("A -> R[C]; C -> R[B]", CHAIN)
    result = lc.learn(CHAIN, _rows(2000, 0.4, 5), "em", missingness=graph, intervals=True)
    one, two = parameter_draws(result, 2, np.random.default_rng(1))
    assert one.mechanisms is not None
    assert two.mechanisms is not None
    own, other = (n.mechanisms.cpt_of["B"].table for n in (one, two))  # type: ignore[union-attr]
    assert own.shape == (2, 2)
    assert not np.allclose(own, other)
    assert one.support is not None
    frames = result.impute({"A": ["0"], "B": [None], "C": [None]}, draws=3, rng=1)
    assert len(frames) == 3


def _b(frame: Any) -> float:
    return float(np.mean([value == "1" for value in frame["B"]]))


def test_proper_draws_differ_more_than_draws_with_fixed_parameters() -> None:
    table = _rows(500, 0.8, 7)
    rows = {
        name: [["0", "1", None][code] for code in table.columns[name]] for name in CHAIN.variables
    }
    result = lc.learn(CHAIN, rows, "em", intervals=True)
    with pytest.warns(AssumptionWarning, match="assumes MAR"):
        proper = result.impute(rows, draws=60, rng=1)
    with pytest.warns(AssumptionWarning, match="assumes MAR"):
        fixed = result.impute(rows, draws=60, rng=1, proper=False)
    # Between tables: about .8 p (1 - p) / n, and 4 times as much with parameters drawn.
    wide, narrow = (np.std([_b(frame) for frame in frames]) for frames in (proper, fixed))
    assert 1.5 < wide / narrow < 3
    with pytest.warns(AssumptionWarning):
        again = lc.learn(CHAIN, rows, "em").impute(rows, draws=2, rng=1)
    assert len(again) == 2  # learned again, with intervals


def test_draws_from_what_does_not_know_how_sure_it_is_are_refused() -> None:
    rows: Any = {"A": ["0", "1"], "B": [None, "1"], "C": ["1", "0"]}
    with pytest.raises(lc.LacunetError, match=r"learn\(.*intervals=True\), then .*proper=False"):
        CHAIN.impute(rows, draws=2)
    result = lc.learn(CHAIN, _rows(100, 0.5, 1), "em")
    with (
        pytest.warns(AssumptionWarning),
        pytest.raises(lc.LacunetError, match=r"--intervals -o .*\(--fixed-cpts\)"),
    ):
        result.impute(rows, draws=2)
    assert len(CHAIN.impute(rows, draws=2, proper=False)) == 2


@pytest.mark.parametrize(
    ("graph", "is_generic", "others"),
    [
        ("B -> R[B]; R[C]", True, "none close to this one"),
        ("A, B -> R[B]; B, C -> R[C]", False, "would fit the data equally well"),
    ],
)
def test_completions_say_what_the_verdict_on_the_full_law_says(
    graph: str, is_generic: bool, others: str
) -> None:
    parsed = MissingnessGraph.parse(graph, CHAIN)
    assert parsed.recover_full_law().generic is is_generic
    result = lc.learn(CHAIN, _rows(500, 0.3, 5), "em", missingness=parsed, intervals=True)
    rows = {"A": ["0"], "B": [None], "C": ["1"]}
    standing = parsed.recover_full_law().standing
    drawn = partial(result.impute, draws=2, rng=1)
    warned: list[Any] = [result.impute, partial(result.predict, targets="B")]
    if is_generic:
        warned.append(drawn)
    else:
        with pytest.raises(lc.LacunetError, match=standing):
            drawn(rows)
    for complete in warned:
        with pytest.warns(AssumptionWarning, match=f"{standing} under .*{others}"):
            complete(rows)


def test_mechanisms_that_were_not_learned_have_no_part_in_completions() -> None:
    rows = {"A": ["0"], "B": [None], "C": ["1"]}
    closed = lc.learn(CHAIN, _rows(500, 0.3, 5), "mgraph", missingness="C -> R[B]; R[C]")
    with pytest.warns(AssumptionWarning, match="learned"):
        closed.impute(rows)


def coverage_by_hand(number: int, share: float) -> float:
    """How often Rubin's rules cover P(B) = .45, by binomial draws alone.

    B is seen x times among the n rows that show it, for each state of A; its parameters are those
    of (x + 1) / (n + 2), as one pseudo-count per cell has it. 40,000 data sets.
    """
    rng, draws = np.random.default_rng(0), 20
    ones = rng.binomial(number, 0.5, 40_000)
    rows = np.stack([number - ones, ones])
    hidden = np.array([[0.85 * share], [min(1.15 * share, 0.97)]])
    shown = rng.binomial(rows, 1 - hidden)
    seen = rng.binomial(shown, [[0.3], [0.6]])
    mean, lost = (seen + 1) / (shown + 2), rows - shown
    spread = mean * (1 - mean)
    estimate = (seen + lost * mean).sum(axis=0) / number
    within = estimate * (1 - estimate) / number
    between = (lost**2 * spread / (shown + 2) + lost * spread).sum(axis=0) / number**2
    total = within + (1 + 1 / draws) * between
    missing = (1 + 1 / draws) * between / total
    observed = number / (number + 2) * (number - 1) * (1 - missing)
    degrees = 1 / (missing**2 / (draws - 1) + 1 / observed)
    is_covered = abs(estimate - 0.45) < t.ppf(0.975, degrees) * np.sqrt(total)
    return float(is_covered.mean())


def test_a_result_is_learned_again_only_from_its_own_rows() -> None:
    def rows(ones: int) -> dict[str, Any]:
        shown = ["1"] * ones + ["0"] * (80 - ones)
        return {"A": ["0"] * 100, "B": [*shown, *[None] * 20], "C": ["0", "1"] * 50}

    result = lc.learn(CHAIN, rows(8), "em")
    with (
        pytest.warns(AssumptionWarning),
        pytest.raises(lc.LacunetError, match="CPTs"),
    ):
        result.impute(rows(72), draws=2)  # as many rows, and as many cells missing
    with pytest.warns(AssumptionWarning):
        assert len(result.impute(rows(8), draws=2)) == 2


@pytest.mark.parametrize("options", [{}, {"rng": 3}, {"pseudo_counts": 1.0}])
def test_hidden_states_keep_their_names_when_a_result_is_learned_again(
    options: dict[str, Any],
) -> None:
    network = lc.Network(
        {"H": ["0", "1"], **{name: ["n", "p"] for name in "ABCD"}}, {name: ["H"] for name in "ABCD"}
    )
    for seed in range(3):
        rng = np.random.default_rng(seed)
        hidden = rng.random(400) < 0.4
        shares = [0.9, 0.2, 0.7, 0.85]
        rows = {
            name: np.where(rng.random(400) < np.where(hidden, p, 1 - p), "n", "p").tolist()
            for name, p in zip("ABCD", shares, strict=True)
        }
        data = lc.Data(rows, latent=["H"])
        result = lc.learn(network, data, "em", **options)
        (drawn,) = result.impute(data, draws=1, rng=1)
        likely = result.impute(data, how="most probable")
        agree = np.mean([a == b for a, b in zip(drawn["H"], likely["H"], strict=True)])
        assert agree > 0.7  # with names swapped, below .3


def test_what_a_result_was_learned_with_is_not_warned_of_again() -> None:
    network = lc.Network(
        {"H": ["0", "1"], "A": ["n", "p"], "B": ["n", "p"]}, {"A": ["H"], "B": ["H"]}
    )
    rows = {"A": ["n", "n", "p", "p"] * 20, "B": ["n", "n", "p", None] * 20}
    result = lc.learn(network, lc.Data(rows, latent=["H"]), "em")
    with pytest.warns(lc.LacunetWarning) as said:
        result.impute(rows, draws=1, rng=1)
    assert {own.category for own in said} == {AssumptionWarning}


@pytest.mark.parametrize(
    ("method", "options", "weight"),
    [
        ("informed-direct", {"groups": ["A"]}, None),
        (lc.EM(start="listwise", max_iterations=1), {}, None),
        ("em", {}, "w"),
    ],
)
def test_a_result_of_other_options_is_not_learned_again(
    method: Any, options: dict[str, Any], weight: str | None
) -> None:
    table = _rows(300, 0.6, 3)
    rows: Any = {
        name: [["0", "1", None][code] for code in table.columns[name]] for name in CHAIN.variables
    }
    data = lc.Data(rows | {"w": [1.0, 3.0] * 150}, weight=weight)
    result = lc.learn(CHAIN, data, method, **options)
    with (
        pytest.warns(AssumptionWarning),
        pytest.raises(lc.LacunetError, match="CPTs"),
    ):
        result.impute(rows, draws=2)


@pytest.mark.slow
@pytest.mark.parametrize("number", [100, 300, 1000])
@pytest.mark.parametrize("share", [0.5, 0.8])
def test_pooled_intervals_cover_the_truth(number: int, share: float) -> None:
    sets, hits = 400, np.zeros(2)
    for seed in range(sets):
        table = _rows(number, share, seed)
        result = lc.learn(CHAIN, table, "em", pseudo_counts=1, intervals=True)
        rng = np.random.default_rng([seed, 1])
        found = []
        for network in parameter_draws(result, 20, rng):
            (whole,) = draw_completions(network, table, 1, rng)
            b, c = whole.columns["B"], whole.columns["C"]
            p, q = np.mean(b == 1), np.mean(c[b == 1] == 1)
            found.append(([p, q], [p * (1 - p) / number, q * (1 - q) / np.sum(b == 1)]))
        estimates, variances = zip(*found, strict=True)
        low, high = lc.pool(estimates, variances, df=number - 1).interval().T
        hits += (low < [0.45, 0.65]) & (high > [0.45, 0.65])
    # The aim is .95; of 400 data sets the standard error is .011. At 80% of 100 rows only four show
    # B where A is 1, the pseudo-counts pull its share towards the truth, and .98 is right for P(B).
    assert 0.92 - 0.011 < hits[1] / sets < 0.97 + 0.011
    expected = coverage_by_hand(number, share)
    error = np.sqrt(expected * (1 - expected) / sets)
    assert abs(hits[0] / sets - expected) < 3 * error
    assert 0.955 < expected < (0.985 if number * (1 - share) < 21 else 0.97)


@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")
@pytest.mark.parametrize("method", ["direct-mcar", "direct-mar", "factored-mcar"])
@pytest.mark.parametrize("pseudo", [0, 1])
def test_pseudo_counts_of_each_cell_are_drawn_from_as_their_number_is(
    method: str, pseudo: int
) -> None:
    network = lc.Network({"A": ["a", "b"], "B": ["x", "y", "z"]}, {"B": ["A"]})
    rows = {
        "A": ["a"] * 20 + ["b"] * 4 + [None] * 6,
        "B": ["x"] * 12 + ["y"] * 8 + [None] * 4 + ["x"] * 6,
    }
    each = {v: np.full(network.shape(network.family(v)), pseudo) for v in "AB"}
    by_number, by_cell = (
        lc.learn(network, rows, method, pseudo_counts=pseudo_counts, intervals=True).impute(
            rows,
            draws=3,
            rng=1,
        )
        for pseudo_counts in (pseudo, each)
    )
    assert by_cell == by_number


@pytest.mark.parametrize("towns", ["Town", list("aabbccddee") * 20])
def test_draws_do_not_forget_that_rows_are_of_clusters(towns: Any) -> None:
    rows = {"A": ["0", "1"] * 100, "B": ["0", None, "1", "1"] * 50, "Town": list("aabbccddee") * 20}
    if towns != "Town":
        del rows["Town"]
    result = lc.learn("A -> B", lc.Data(rows, cluster=towns), "em")
    with pytest.warns(AssumptionWarning), pytest.raises(LacunetError, match=r"clusters.*precision"):
        result.impute(rows, draws=2)
    sure = lc.learn("A -> B", lc.Data(rows, cluster=towns), "em", intervals=True)
    with pytest.warns(AssumptionWarning):
        assert len(sure.impute(rows, draws=2)) == 2


COUNTED: dict[str, list[Any]] = {
    "A": ["0", "1", "1", "0", "0", "1", "0"],
    "B": ["1", None, "0", None, "1", "1", "0"],
    "C": ["0", "1", None, None, "1", "1", "0"],
    "copies": [40, 30, 25, 20, 0, 15, 10],
}


def _each_once(counted: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The same rows without counts, each as often as it counts."""
    copies = counted["copies"]
    columns = {name: np.repeat(np.array(counted[name], object), copies) for name in "ABC"}
    return {name: column.tolist() for name, column in columns.items()}


@pytest.mark.filterwarnings("ignore::lacunet.errors.LacunetWarning")
@pytest.mark.parametrize("kind", [dict, pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("has_intervals", [True, False])
def test_every_copy_of_a_row_gets_a_draw_of_its_own(kind: Any, has_intervals: bool) -> None:
    data = lc.Data(kind(COUNTED), counts="copies")
    result = lc.learn(CHAIN, data, "em", intervals=has_intervals)
    drawn = result.impute(data, draws=2, rng=5)
    rows = _each_once(COUNTED)
    alone = lc.learn(CHAIN, rows, "em", intervals=has_intervals).impute(rows, draws=2, rng=5)
    for frame, other in zip(drawn, alone, strict=True):
        columns = frame.to_pydict() if kind is pa.table else frame
        assert [*columns["copies"]] == [1] * 140
        assert {*columns["B"][40:70]} == {"0", "1"}
        for name in "ABC":
            assert [*columns[name]] == other[name]


@pytest.mark.filterwarnings("ignore::lacunet.errors.LacunetWarning")
def test_counts_beside_the_data_are_drawn_for_each_copy() -> None:
    rows = {name: COUNTED[name] for name in "ABC"}
    data = lc.Data(rows, counts=COUNTED["copies"])
    (frame,) = CHAIN.impute(data, draws=1, proper=False, rng=2)
    assert len(frame["B"]) == 140
    guess = CHAIN.impute(
        data, how="most probable"
    )  # copies of a row have one most probable completion
    assert len(guess["B"]) == 7


@pytest.mark.filterwarnings("ignore::lacunet.errors.LacunetWarning")
def test_a_result_of_weighted_rows_is_learned_again_with_their_weights() -> None:
    rows = COUNTED | {"w": [1.0, 2.0, 0.5, 1.0, 1.0, 1.0, 2.0]}
    data = lc.Data(rows, counts="copies", weight="w")
    drawn = lc.learn(CHAIN, data, "em").impute(data, draws=2, rng=5)
    by_intervals = lc.learn(CHAIN, data, "em", intervals=True).impute(data, draws=2, rng=5)
    assert [len(frame["B"]) for frame in drawn] == [140, 140]
    assert _b(drawn[0]) == pytest.approx(_b(by_intervals[0]), abs=0.05)


def test_copies_that_memory_has_no_room_for_are_refused() -> None:
    data = lc.Data(COUNTED | {"copies": [10**12] * 7}, counts="copies")
    with pytest.raises(DataError, match=r"7,000,000,000,000, and 2 completed tables"):
        CHAIN.impute(data, draws=2, proper=False, memory="1GB")


def test_parts_of_rows_get_no_draw() -> None:
    data = lc.Data(COUNTED | {"copies": [1, 2, 0.5, 1, 1, 1, 1]}, counts="copies")
    with pytest.raises(DataError, match=r"row 3 stands for 0\.5 rows"):
        CHAIN.impute(data, draws=2, proper=False)
