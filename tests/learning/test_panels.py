"""Panels: a template over waves, beside counting and EM written by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

import lacunet
from lacunet import Data, LacunetError
from lacunet.cli import main
from lacunet.data.states import StatesError

CASES = Path(__file__).parent.parent / "cases"
STATES = "abc"
TEMPLATE = "Z -> H[t]; H[t-1] -> H[t]; H[t] -> S[t]"
STEP = np.array(
    [
        [[0.8, 0.15, 0.05], [0.2, 0.6, 0.2], [0.05, 0.15, 0.8]],
        [[0.6, 0.3, 0.1], [0.1, 0.6, 0.3], [0.05, 0.05, 0.9]],
    ]
)
SIGN = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])


def people(seed: int, units: int, waves: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Z of each unit, and H and S of each unit in each wave."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, units)
    health = np.zeros((units, waves), int)
    health[:, 0] = rng.choice(3, units, p=[0.5, 0.3, 0.2])
    for t in range(1, waves):
        rows = STEP[group, health[:, t - 1]]
        health[:, t] = (rng.random((units, 1)) > rows.cumsum(axis=1)).sum(axis=1)
    sign = (rng.random((units, waves)) < SIGN[health, 1]).astype(int)
    return group, health, sign


def long_rows(
    seed: int, units: int = 60, waves: int = 5, missing: float = 0.0
) -> dict[str, list[Any]]:
    """Rows of units in waves, in no order; some waves are missing, and some cells."""
    rng = np.random.default_rng(seed + 1)
    group, health, sign = people(seed, units, waves)
    rows: dict[str, list[Any]] = {name: [] for name in ("who", "wave", "Z", "H", "S")}
    pairs = [(unit, t) for unit in range(units) for t in range(waves)]
    for k in rng.permutation(len(pairs)):
        unit, t = pairs[k]
        if t and rng.random() < missing / 2:
            continue
        shows = rng.random(2) >= missing
        rows["who"].append(f"p{unit}")
        rows["wave"].append(t)
        rows["Z"].append("mf"[group[unit]])
        rows["H"].append(STATES[health[unit, t]] if shows[0] else None)
        rows["S"].append("ny"[sign[unit, t]] if shows[1] else None)
    return rows


def of_units(rows: Mapping[str, list[Any]], **options: Any) -> Data:
    return Data(rows, unit="who", time="wave", **options)


def test_complete_waves_are_counted_as_by_hand() -> None:
    rows = long_rows(1)
    result = lacunet.learn(TEMPLATE, of_units(rows), "direct-mcar", pseudo_counts=0)
    group, health, sign = people(1, 60, 5)
    steps = np.zeros((2, 3, 3))  # of m and f, by states
    np.add.at(steps, (np.repeat(1 - group, 4), health[:, :-1].ravel(), health[:, 1:].ravel()), 1)
    signs = np.zeros((3, 2))
    np.add.at(signs, (health.ravel(), sign.ravel()), 1)
    for t in range(1, 5):
        table = result.cpt(f"H[{t}]").table
        np.testing.assert_allclose(table, steps / steps.sum(axis=-1, keepdims=True), atol=1e-12)
    for t in range(5):
        np.testing.assert_allclose(
            result.cpt(f"S[{t}]").table, signs / signs.sum(axis=-1, keepdims=True), atol=1e-12
        )
    first = np.zeros((2, 3))
    np.add.at(first, (1 - group, health[:, 0]), 1)
    np.testing.assert_allclose(
        result.cpt("H[0]").table, first / first.sum(axis=-1, keepdims=True), atol=1e-12
    )


def test_the_likelihood_with_gaps_is_the_highest_of_em_by_hand() -> None:
    """Forward and backward over each person's waves, EM to the end: the same likelihood."""
    rows = long_rows(2, units=80, waves=4, missing=0.25)
    template = "H[t-1] -> H[t] -> S[t]"
    result = lacunet.learn(
        template, of_units(rows, without="Z"), "em", pseudo_counts=0, tolerance=1e-10
    )
    start, step, emit, loglik = _hmm_by_hand(rows, 4)
    np.testing.assert_allclose(result.cpt("H[2]").table, step, atol=2e-4)
    np.testing.assert_allclose(result.cpt("S[2]").table, emit, atol=2e-4)
    np.testing.assert_allclose(result.cpt("H[0]").table, start, atol=2e-4)
    assert result.ended is not None
    assert result.ended.log_likelihood == pytest.approx(loglik, abs=1e-4)


def _hmm_by_hand(
    rows: Mapping[str, list[Any]], waves: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """EM of a chain whose states are seen in part, with messages along it."""
    who = {name: k for k, name in enumerate(dict.fromkeys(rows["who"]))}
    state = np.full((len(who), waves), -1)
    sign = np.full((len(who), waves), -1)
    for name, t, h, s in zip(rows["who"], rows["wave"], rows["H"], rows["S"], strict=True):
        state[who[name], t] = -1 if h is None else STATES.index(h)
        sign[who[name], t] = -1 if s is None else "ny".index(s)
    start, step = np.full(3, 1 / 3), np.full((3, 3), 0.2) + 0.4 * np.eye(3)
    emit = np.array([[0.7, 0.3], [0.5, 0.5], [0.3, 0.7]])
    for _ in range(3000):
        counts = np.zeros(3), np.zeros((3, 3)), np.zeros((3, 2))
        loglik = 0.0
        for h, s in zip(state, sign, strict=True):
            of = np.where(s[:, None] < 0, 1.0, emit[:, s].T)
            of = of * np.where(h[:, None] < 0, 1.0, np.eye(3)[h])
            forward, backward = np.zeros((waves, 3)), np.ones((waves, 3))
            forward[0] = start * of[0]
            for t in range(1, waves):
                forward[t] = forward[t - 1] @ step * of[t]
            for t in range(waves - 2, -1, -1):
                backward[t] = step @ (of[t + 1] * backward[t + 1])
            total = forward[-1].sum()
            loglik += np.log(total)
            belief = forward * backward / total
            counts[0][:] += belief[0]
            for t in range(1, waves):
                joint = forward[t - 1][:, None] * step * (of[t] * backward[t]) / total
                counts[1][:] += joint
            for t in range(waves):
                seen = emit if s[t] < 0 else np.eye(2)[[s[t]] * 3]
                counts[2][:] += belief[t][:, None] * seen
        start, step, emit = (c / c.sum(axis=-1, keepdims=True) for c in counts)
    return start, step, emit, loglik


def test_rows_of_units_and_a_column_for_each_wave_give_the_same() -> None:
    rows = long_rows(3, missing=0.2)
    names = list(dict.fromkeys(rows["who"]))
    wide: dict[str, list[Any]] = {"Z": [None] * len(names)}
    wide |= {f"{name}{t}": [None] * len(names) for name in "HS" for t in range(5)}
    for who, t, z, h, s in zip(*(rows[name] for name in rows), strict=True):
        row = names.index(who)
        wide["Z"][row], wide[f"H{t}"][row], wide[f"S{t}"][row] = z, h, s
    waves = {name: [f"{name}{t}" for t in range(5)] for name in "HS"}
    by_wave = lacunet.learn(TEMPLATE, Data(wide, waves=waves), "em")
    by_row = lacunet.learn(TEMPLATE, of_units(rows), "em")
    for t in range(5):
        ours, theirs = by_row.cpt(f"H[{t}]").table, by_wave.cpt(f"H[{t + 1}]").table
        np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_waves_are_aligned_by_time_and_units_may_differ_in_length() -> None:
    rows = {"who": [1, 1, 2, 3, 3], "wave": [3, 5, 4, 3, 4], "H": ["a", "b", "b", "a", "a"]}
    result = lacunet.learn("H[t-1] -> H[t]", of_units(rows), "em")
    assert result.network.variables == ("H[3]", "H[4]", "H[5]")
    assert result.missing == {"H[3]": 1, "H[4]": 1, "H[5]": 2}
    assert result.network.tied == (("H[4]", "H[5]"),)


def test_a_variable_can_be_untied() -> None:
    rows = long_rows(4)
    result = lacunet.learn(TEMPLATE, of_units(rows), tied={"H": False})
    assert result.network.tied == (tuple(f"S[{t}]" for t in range(5)),)
    assert not np.allclose(result.cpt("H[2]").table, result.cpt("H[3]").table)


def test_explain_names_groups_shapes_and_the_width_of_a_wave() -> None:
    rows = long_rows(4, missing=0.2)
    data = of_units(rows)
    plan = str(lacunet.explain(TEMPLATE, data, "em", shapes={"H": "logistic"}))
    assert "the same CPT: H[2], H[3], H[4]" in plan
    assert "its shape: logistic, 8 parameters in place of 12" in plan
    assert "6 states together (H[0], S[0])" in plan
    one = str(lacunet.explain("H[t-1] -> H[t]", of_units(rows, without=("Z", "S")), "em"))
    assert "states together" not in one


def test_forecasts_go_on_as_the_last_wave() -> None:
    result = lacunet.learn(TEMPLATE, of_units(long_rows(5)))
    longer = result.unroll(8)
    now = longer.query("H[4] | S[0]=y, Z=m").probabilities
    later = longer.query("H[7] | S[0]=y, Z=m").probabilities
    step = result.cpt("H[4]").table[result.network.states("Z").index("m")]
    np.testing.assert_allclose(later, now @ np.linalg.matrix_power(step, 3), atol=1e-12)
    with pytest.raises(LacunetError, match="has 5 waves already"):
        result.unroll(3)


def test_forecasts_have_the_intervals_of_the_delta_method(tmp_path: Path) -> None:
    """The share in wave 6 of a chain of two states is a polynomial of three probabilities."""
    rng = np.random.default_rng(21)
    rows: dict[str, list[Any]] = {"who": [], "wave": [], "H": []}
    for who in range(300):
        state = int(rng.random() < 0.4)
        for wave in range(4):
            state = int(rng.random() < (0.1, 0.8)[state]) if wave else state
            rows["who"].append(who)
            rows["wave"].append(wave)
            rows["H"].append("ny"[state] if rng.random() > 0.3 else None)
    result = lacunet.learn(
        "H[t-1] -> H[t]", of_units(rows), "em", pseudo_counts=0, intervals="model"
    )
    assert result.uncertainty is not None
    em: Any = result.uncertainty.covariance
    place = em.layout.tables(np.arange(em.layout.cells))
    cells = [place["H[0]"][1], place["H[1]"][0, 1], place["H[1]"][1, 1]]
    signs = np.array([1 if cell in em.free.cell else -1 for cell in cells])
    free = [
        int(np.flatnonzero((em.free.cell == cell) | (em.free.reference == cell))[0])
        for cell in cells
    ]
    covariance = em.covariance[np.ix_(free, free)] * np.outer(signs, signs)

    def in_wave_six(p: np.ndarray) -> float:
        share = p[0]
        for _ in range(6):
            share = (1 - share) * p[1] + share * p[2]
        return float(share)

    learned = np.array([result.cpt("H[0]").table[1], *result.cpt("H[1]").table[:, 1]])
    moves = 1e-5 * np.eye(3)
    slope = [(in_wave_six(learned + m) - in_wave_six(learned - m)) / 2e-5 for m in moves]
    longer = result.unroll(7)
    answer = longer.query("H[6]=y")
    assert answer.probabilities.item() == pytest.approx(in_wave_six(learned), abs=1e-12)
    expected = float(np.sqrt(slope @ covariance @ slope))
    assert answer.standard_error.item() == pytest.approx(expected, rel=1e-4)
    # What the rows show is as sure as before, and files keep it.
    np.testing.assert_allclose(
        longer.query("H[3]").interval, result.query("H[3]").interval, atol=1e-12
    )
    longer.write(tmp_path / "longer.json")
    again = lacunet.read_result(tmp_path / "longer.json")
    np.testing.assert_array_equal(again.query("H[6]=y").interval, answer.interval)
    by_units = lacunet.learn("H[t-1] -> H[t]", of_units(rows), "em", intervals=True).unroll(7)
    width = float(np.ptp(by_units.query("H[6]=y").interval))
    assert 0.6 < width / float(np.ptp(answer.interval)) < 1.6


def test_a_parent_in_one_wave_stays_there() -> None:
    rows = long_rows(6)
    result = lacunet.learn("H[0] -> S[t]; H[t-1] -> H[t]", of_units(rows))
    assert result.network.parents("S[3]") == ("H[0]",)
    longer = result.unroll(7).network
    assert longer.parents("S[6]") == ("H[0]",)
    assert longer.parents("H[6]") == ("H[5]",)


def test_dropout_by_what_it_hides_is_heard_in_every_wave() -> None:
    """The share of ill in the last wave: those who drop out are ill, and a graph knows it."""
    rng = np.random.default_rng(7)
    units, waves = 4000, 5
    ill = np.zeros((units, waves), int)
    ill[:, 0] = rng.random(units) < 0.4
    for t in range(1, waves):
        ill[:, t] = rng.random(units) < np.where(ill[:, t - 1] == 1, 0.7, 0.2)
    sign = rng.random((units, waves)) < np.where(ill == 1, 0.85, 0.15)
    shown = np.ones((units, waves), bool)
    for t in range(1, waves):
        stays = rng.random(units) > np.where(ill[:, t] == 1, 0.35, 0.05)
        shown[:, t] = shown[:, t - 1] & stays
    rows: dict[str, list[Any]] = {"who": [], "wave": [], "Ill": [], "Sign": []}
    for unit in range(units):
        for t in range(waves):
            rows["who"].append(unit)
            rows["wave"].append(t)
            rows["Ill"].append("ny"[ill[unit, t]] if shown[unit, t] else None)
            rows["Sign"].append("ny"[int(sign[unit, t])])
    edges = "Ill[t-1] -> Ill[t] -> Sign[t]"
    graph = "Ill[t] -> R[Ill[t]]; R[Ill[t]] <= R[Ill[t-1]]"
    by_graph = lacunet.learn(edges, of_units(rows), "em", missingness=graph)
    as_mar = lacunet.learn(edges, of_units(rows), "em")
    truth = ill[:, -1].mean()
    error = np.sqrt(0.24 / units)  # of the share among 4,000
    assert abs(by_graph.query("Ill[4]=y").probabilities.item() - truth) < 4 * error
    assert truth - as_mar.query("Ill[4]=y").probabilities.item() > 4 * error
    assert len(by_graph.mechanisms) == waves


def test_what_is_the_same_of_tied_cpts_is_said_once() -> None:
    rows = long_rows(12, missing=0.2)
    rows = {name: rows[name] for name in ("who", "wave", "H")}
    graph = "H[t] -> R[H[t]]"
    tied = lacunet.learn("H[t-1] -> H[t]", of_units(rows), "em", missingness=graph)
    assert sum(len(report.warnings) for report in tied.families.values()) == 5
    (first, later) = tied.warnings_by_kind
    assert first.startswith("H[0]: ")
    assert later.startswith("H[1] and 3 tied to it: ")
    assert "without ties and shapes" in str(tied)
    plan = lacunet.explain("H[t-1] -> H[t]", of_units(rows), "em", missingness=graph)
    assert "without ties and shapes" in str(plan)
    untied = lacunet.learn(
        "H[t-1] -> H[t]", of_units(rows), "em", missingness=graph, tied={"H": False}
    )
    assert len(untied.warnings_by_kind) == 5
    assert "without ties and shapes" not in str(untied)


@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")  # that MAR is assumed
def test_predictions_take_new_units() -> None:
    result = lacunet.learn(TEMPLATE, of_units(long_rows(8)))
    rows: dict[str, list[Any]] = {"who": [9, 9, 8], "wave": [0, 2, 1], "Z": ["m", "m", "f"]}
    rows |= {"H": ["a", None, "c"], "S": ["n", "y", None]}
    predicted = result.predict(of_units(rows), "H[4]")
    asked = result.query("H[4] | H[0]=a, S[0]=n, S[2]=y, Z=m").probabilities
    given = np.array([predicted[f"H[4]={state}"][0] for state in STATES])
    np.testing.assert_allclose(given, asked, atol=1e-12)


def test_weights_are_those_of_units() -> None:
    rows = long_rows(9, missing=0.2)
    rng = np.random.default_rng(9)
    weight_of = {who: float(rng.integers(1, 4)) for who in dict.fromkeys(rows["who"])}
    weighted = {**rows, "w": [weight_of[who] for who in rows["who"]]}
    copies: dict[str, list[Any]] = {name: [] for name in rows}
    for row in range(len(rows["who"])):
        for copy in range(int(weighted["w"][row])):
            for name in rows:
                cell = rows[name][row]
                copies[name].append(f"{cell}.{copy}" if name == "who" else cell)
    by_counts = lacunet.learn(TEMPLATE, of_units(weighted, counts="w"), "em", tolerance=1e-9)
    by_copies = lacunet.learn(TEMPLATE, of_units(copies), "em", tolerance=1e-9)
    for name in ("H[0]", "H[3]", "S[1]"):
        np.testing.assert_allclose(by_counts.cpt(name).table, by_copies.cpt(name).table, atol=1e-6)


def test_a_latent_variable_is_latent_in_every_wave() -> None:
    rows = long_rows(10, units=200)
    signs = {name: rows[name] for name in ("who", "wave", "S")}
    data = of_units(signs, latent="H", states={"H": ["low", "high"]})
    result = lacunet.learn("H[t-1] -> H[t] -> S[t]", data, rng=1)
    assert result.missing["H[3]"] == 200
    assert result.network.states("H[0]") == ("low", "high")


def test_a_hidden_state_is_put_in_one_order_in_all_waves() -> None:
    rows = long_rows(10, units=200)
    signs = {name: rows[name] for name in ("who", "wave", "S")}
    data = of_units(signs, latent="H", states={"H": ["1", "2"]})
    sizes = []
    for seed in range(4):  # some of them end with the states the other way round
        result = lacunet.learn("H[t-1] -> H[t] -> S[t]", data, rng=seed)
        assert result.ended is not None
        expected = result.ended.log_likelihood
        assert result.network.log_likelihood(data) == pytest.approx(expected, abs=1e-6)
        sizes.append(sum(result.query(f"H[{t}]")["1"] for t in range(5)) / 5)
    assert min(sizes) > 0.5


BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"wave": ["0", "zwei", "1"]}, "H[t-1] -> H[t]", "row 2: 'zwei' in the column 'wave'"),
    ({"wave": [0, 1.5, 1]}, "H[t-1] -> H[t]", "row 2: '1.5' in the column 'wave'"),
    ({"wave": [0, 10**30, 1]}, "H[t-1] -> H[t]", f"row 2: '{10**30}' in the column 'wave'"),
    ({"wave": [0, float("inf"), 1]}, "H[t-1] -> H[t]", "row 2: 'inf' in the column 'wave'"),
    ({"wave": [0, 20_000, 1]}, "H[t-1] -> H[t]", "0 to 20,000"),
    ({"wave": [0, None, 1]}, "H[t-1] -> H[t]", "row 2: the column 'wave' is empty"),
    ({"wave": [0, 0, 1], "who": [1, 1, 2]}, "H[t-1] -> H[t]", "unit '1' is in wave 0 twice"),
    ({}, "H[t] -> H[t-1]", "goes back in time"),
    ({}, "H[t+1] -> H[t]", "'H[t+1]', a wave after t"),
    ({}, "H[t] -> H[t+1]", "'H[t+1]', a wave after t"),
    ({}, "H[t] -> S[t] -> H[t]", "form a cycle"),
    ({}, "H -> S", "no variable has a wave"),
    ({}, "H -> S; H[t-1] -> H[t]", "has a wave in some edges"),
    ({}, "H[9] -> H[t]", "in none of the waves"),
    ({}, "Z -> H[t]", "'Z' of unit '1' is 'f' here and 'm' in"),
    ({}, "H[t-1] -> Z", "the parent is in any wave"),
    ({}, "H[t-2] -> H[t]", "H[t-2] -> H[t] holds in none of the 2 waves"),
    ({}, "H[t] -> H[t]", "form a cycle: 'H[0]'"),
    ({}, "Q[t-1] -> Q[t]", "'Q'"),
    ({"who": [1, None, 2]}, "H[t-1] -> H[t]", "row 2: the column 'who' is empty"),
    ({"who": [], "wave": [], "H": [], "S": [], "Z": []}, "H[t-1] -> H[t]", "has no rows"),
]


@pytest.mark.parametrize(("columns", "edges", "words"), BAD)
def test_what_is_wrong_is_named(columns: dict[str, Any], edges: str, words: str) -> None:
    rows: dict[str, Any] = {"who": [1, 1, 2], "wave": [0, 1, 1]}
    rows |= {"H": ["a", "b", "a"], "S": ["n", "y", "n"], "Z": ["m", "f", "m"], **columns}
    with pytest.raises(LacunetError) as refused:
        lacunet.learn(edges, of_units(rows))
    assert words in str(refused.value)


BAD_GRAPHS = [
    ("H[t-1] -> R[Q[t]]", "Q[t]"),
    ("R[H[t]] <= R[H[t+1]]", "R[H[t+1]]"),
    ("H[t] -> R[H[t-1]]", "goes back in time"),
    ("R[H[t]] <= R[H[t]]", "in none of the 5 waves"),
]


@pytest.mark.parametrize(("graph", "words"), BAD_GRAPHS)
def test_a_missingness_graph_that_is_wrong_is_named(graph: str, words: str) -> None:
    data = of_units(long_rows(12))
    with pytest.raises(LacunetError) as refused:
        lacunet.learn("H[t-1] -> H[t] -> S[t]", data, "em", missingness=graph)
    assert words in str(refused.value)


def test_what_is_asked_of_a_panel_is_named() -> None:
    result = lacunet.learn("H[t-1] -> H[t] -> S[t]", of_units(long_rows(12)))
    with pytest.raises(LacunetError, match=r"unroll\(10\)"):
        result.query("H[9]")
    with pytest.raises(LacunetError, match=r"H\[0\] to H\[4\]"):
        result.query("H")
    with pytest.raises(LacunetError, match="10,000"):
        result.unroll(10**7)
    rows = {"who": [1], "wave": [9], "H": ["a"], "S": ["n"]}
    with pytest.raises(LacunetError, match="from 9 to 9"):
        result.predict(of_units(rows), "H[3]")
    with pytest.raises(LacunetError, match="both name the column 'who'"):
        lacunet.learn("H[t-1] -> H[t]", Data(rows, unit="who", time="who"))


@pytest.mark.filterwarnings("ignore:no variable has the value 9")
@pytest.mark.parametrize(
    ("others", "options"),
    [
        (["9", None], {"missing": [9]}),
        (["9", "8"], {"missing": {"Z": [9, 8]}}),
        (["M"], {"codes": {"Z": {"M": "m", "F": "f"}}}),
    ],
)
def test_codes_of_what_is_the_same_in_all_waves_do_not_contradict_it(
    others: list[Any], options: dict[str, Any]
) -> None:
    rows = long_rows(13)
    rng = np.random.default_rng(13)
    coded: list[Any] = []
    for value in rows["Z"]:
        other = others[rng.integers(len(others))]
        other = other.lower() if other == "M" and value == "m" else other
        is_shown = rng.random() < 0.7 or (other == "M" and value == "f")
        coded.append(value if is_shown else other)
    # Each unit shows its value in some wave.
    shown = {who for who, z in zip(rows["who"], coded, strict=True) if z in ("m", "f", "M", "F")}
    coded = [
        z if who in shown else c for who, z, c in zip(rows["who"], rows["Z"], coded, strict=True)
    ]
    expected = lacunet.learn(TEMPLATE, of_units(rows)).cpt("H[2]").table
    result = lacunet.learn(TEMPLATE, of_units({**rows, "Z": coded}, **options))
    np.testing.assert_allclose(result.cpt("H[2]").table, expected, atol=1e-12)


def test_absent_is_said_of_a_variable_in_all_waves() -> None:
    shape = lacunet.NoisyOr(absent={"S": "n", "H": "a"})
    rows = long_rows(14)
    rows["H"] = ["a" if h == "c" else h for h in rows["H"]]
    result = lacunet.learn("H[t-1] -> H[t] -> S[t]", of_units(rows), shapes={"S": shape})
    assert [p.name for p in result.parameters("S[3]").parameters] == ["leak", "link from H[3]=b"]


def test_a_template_needs_units_and_waves() -> None:
    with pytest.raises(LacunetError, match="unit='person', time='wave'"):
        lacunet.learn("H[t-1] -> H[t]", {"H": ["a", "b"]})
    with pytest.raises(LacunetError, match="go together"):
        Data({"H": ["a"]}, unit="who")
    with pytest.raises(LacunetError, match="different numbers of columns"):
        lacunet.learn(
            "H[t-1] -> H[t]; H[t] -> S[t]",
            Data({"a": ["x"], "b": ["y"]}, waves={"H": ["a", "b"], "S": ["a"]}),
        )


def test_the_shell_learns_panels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = long_rows(11)
    cells = zip(*rows.values(), strict=True)
    lines = [",".join(rows), *(",".join(map(str, row)) for row in cells)]
    table, kept = tmp_path / "long.csv", tmp_path / "panel.json"
    table.write_text("\n".join(lines))
    reading = ["--unit", "who", "--time", "wave"]
    assert main(["learn", TEMPLATE, str(table), *reading, "-o", str(kept)]) == 0
    assert "H[1] to H[4]" in capsys.readouterr().out
    assert main(["query", str(kept), "H[4] | S[0]=y", "--json"]) == 0
    network = lacunet.read_network(kept)
    assert network.tied
    expected = lacunet.learn(TEMPLATE, of_units(rows)).query("H[4] | S[0]=y").probabilities
    np.testing.assert_allclose(network.query("H[4] | S[0]=y").probabilities, expected, atol=1e-9)
    capsys.readouterr()
    assert main(["query", str(kept), "H[7]", "--unroll", "8", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    longer = network.unroll(8).query("H[7]").probabilities
    np.testing.assert_allclose(told["answer"], longer, atol=1e-12)
    asked = ["predict", str(kept), str(table), *reading, "--targets", "H[6]", "--unroll", "7"]
    assert main([*asked, "--json"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 60
    assert main(["query", str(kept), "H[7]"]) == 1
    assert "unroll(8)" in capsys.readouterr().err


def test_the_likelihood_of_a_hidden_chain_is_that_of_hmmlearn() -> None:
    """At its parameters, whose log-likelihood of 40 sequences hmmlearn 0.3.3 gave."""
    case = json.loads((CASES / "hidden_markov.json").read_text())
    rows: dict[str, list[Any]] = {"who": [], "wave": [], "S": []}
    for who, sequence in enumerate(case["sequences"]):
        for wave, state in enumerate(sequence):
            rows["who"].append(who)
            rows["wave"].append(wave)
            rows["S"].append(state)
    data = of_units(rows, latent="H", states={"H": ["x", "y"]})
    network = lacunet.Network.from_data(data, "H[t-1] -> H[t] -> S[t]")
    table_of = {"H": case["step"], "S": case["emission"]}
    tables = {name: table_of[name[0]] for name in network.variables}
    known = network.with_tables({**tables, "H[0]": case["start"]})
    ours = known.log_likelihood(data)
    assert float(ours) == pytest.approx(case["log_likelihood"], abs=1e-6)


def test_muscatine_is_at_the_maximum_that_scipy_finds() -> None:
    """One transition between three surveys, for each sex and age: the observed likelihood."""
    table = lacunet.example_data("muscatine").to_pydict()
    waves = {"Obese": ["Obese1", "Obese2", "Obese3"]}
    data = Data(table, counts="Count", waves=waves)
    template = "Sex, Age -> Obese[t]; Obese[t-1] -> Obese[t]"
    result = lacunet.learn(template, data, "em", pseudo_counts=0, tolerance=1e-10)
    code = {None: -1, "no": 0, "yes": 1}
    seen = np.array([[code[cell] for cell in table[name]] for name in waves["Obese"]]).T
    sexes, ages = sorted({*table["Sex"]}), sorted({*table["Age"]})
    counts = np.array(table["Count"], float)
    for i, sex in enumerate(sexes):
        for j, age in enumerate(ages):
            of_group = [
                (s, a) == (sex, age) for s, a in zip(table["Sex"], table["Age"], strict=True)
            ]
            step = _two_state_maximum(seen[of_group], counts[of_group])
            np.testing.assert_allclose(result.cpt("Obese[3]").table[i, j], step, atol=0.002)


def _two_state_maximum(seen: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The transition that makes rows of three waves likeliest, missing ones summed over."""

    def loss(parameters: np.ndarray) -> float:
        first, after_no, after_yes = 1 / (1 + np.exp(-parameters))
        start = np.array([1 - first, first])
        step = np.array([[1 - after_no, after_no], [1 - after_yes, after_yes]])
        shown = np.where(seen[..., None] < 0, 1.0, np.eye(2)[seen])
        forward = start * shown[:, 0]
        for t in (1, 2):
            forward = forward @ step * shown[:, t]
        return -float(counts @ np.log(forward.sum(axis=1)))

    best = minimize(loss, np.array([-1.0, -2.0, 1.0]), method="BFGS")
    _, after_no, after_yes = 1 / (1 + np.exp(-best.x))
    return np.array([[1 - after_no, after_no], [1 - after_yes, after_yes]])


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_numbers_spelled_in_two_ways_are_refused_in_wide_files_of_any_kind(
    tmp_path: Path, ending: str
) -> None:
    wide = pd.DataFrame({"H1": ["1.0", "1", "2"] * 20, "H2": ["1", "2.0", "2"] * 20})
    file = tmp_path / f"wide.{ending}"
    if ending == "csv":
        wide.to_csv(file, index=False)
    else:
        wide.to_parquet(file)
    with pytest.raises(StatesError, match=r"'1' and '1\.0'"):
        lacunet.learn("H[t-1] -> H[t]", Data(file, waves={"H": ["H1", "H2"]}))
