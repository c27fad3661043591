"""`experts=20`: the CPTs that a network brings as the prior, and the posterior's intervals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

import lacunet as lc
from augmentation import posterior_draws, quantiles_and_errors
from lacunet.cli import main
from lacunet.learning.methods import METHODS
from lacunet.learning.plan import MethodError
from lacunet.learning.pseudo_counts import PseudoCounts
from lacunet.show.results.result_text import result_as_data

STATES = {"A": ["0", "1"], "B": ["0", "1", "2"], "C": ["0", "1"]}
PARENTS = {"B": ["A"], "C": ["A", "B"]}
RAIN = {"Rain": ["no", "yes"], "Wet": ["no", "yes"]}
WEATHER = lc.Network(RAIN, {"Wet": ["Rain"]}, {"Rain": [0.8, 0.2], "Wet": [[0.9, 0.1], [0.0, 1.0]]})
HOLES = {"Rain": ["no", None, "yes", "no"] * 5, "Wet": ["no", "yes", None, "no"] * 5}
WHOLE = {"Rain": ["no", "no", "yes", "no"] * 5, "Wet": ["no", "yes", "yes", "no"] * 5}


def drawn_network(rng: np.random.Generator) -> lc.Network:
    """A network of three variables with CPT rows from Dirichlet distributions."""
    tables = {
        "A": rng.dirichlet([2.0] * 2),
        "B": rng.dirichlet([2.0] * 3, 2),
        "C": rng.dirichlet([2.0] * 2, (2, 3)),
    }
    return lc.Network(STATES, PARENTS, tables)


def rows_of(network: lc.Network, number: int, hidden: float, seed: int) -> dict[str, list[Any]]:
    """Rows of a network, each cell hidden with the same chance."""
    rng = np.random.default_rng(seed)
    codes = {"A": rng.choice(2, number, p=network.cpt("A").table)}
    codes["B"] = np.array([rng.choice(3, p=network.cpt("B").table[a]) for a in codes["A"]])
    both = zip(codes["A"], codes["B"], strict=True)
    codes["C"] = np.array([rng.choice(2, p=network.cpt("C").table[a, b]) for a, b in both])
    return {
        name: [None if rng.random() < hidden else STATES[name][code] for code in codes[name]]
        for name in STATES
    }


def options_of(method: str) -> dict[str, Any]:
    if method == "mgraph":
        return {"missingness": "R[Rain]; Rain -> R[Wet]", "otherwise": "em"}
    return {"groups": ["Rain"]} if method.startswith("informed") else {}


@pytest.mark.parametrize("method", METHODS)
def test_experts_are_the_pseudo_counts_of_their_cpts(method: str) -> None:
    rows = {**HOLES, "Rain": WHOLE["Rain"]} if method.startswith("informed") else HOLES
    given = {name: 7 * WEATHER.cpt(name).table for name in RAIN}
    by_experts = lc.learn(WEATHER, rows, method, experts=7, **options_of(method))
    by_cells = lc.learn(WEATHER, rows, method, pseudo_counts=given, **options_of(method))
    pseudo_counts = by_experts.pseudo_counts
    assert isinstance(pseudo_counts, PseudoCounts)
    assert pseudo_counts.experts == 7
    for name in RAIN:
        np.testing.assert_array_equal(pseudo_counts[name], given[name])
        np.testing.assert_array_equal(by_experts.cpt(name).table, by_cells.cpt(name).table)


def test_what_the_rules_of_the_data_exclude_experts_do_not_add() -> None:
    states = {"Sick": ["no", "yes"], "Days": ["0", "few", "not_asked"]}
    tables = {"Sick": [0.5, 0.5], "Days": [[0.2, 0.3, 0.5], [0.5, 0.5, 0.0]]}
    experts = lc.Network(states, {"Days": ["Sick"]}, tables)
    rule = {"Days": ("Sick=no", "not_asked")}
    rows = lc.Data({"Sick": ["no", "yes"], "Days": [None, "few"]}, not_asked=rule)
    pseudo_counts = lc.learn(experts, rows, experts=10).pseudo_counts
    assert isinstance(pseudo_counts, PseudoCounts)
    np.testing.assert_allclose(pseudo_counts["Days"], [[0, 0, 10], [5, 5, 0]])


@pytest.mark.parametrize(
    ("network", "options", "said"),
    [
        (WEATHER, {"experts": 0}, "experts is 0"),
        (WEATHER, {"experts": -2}, "experts is -2"),
        (WEATHER, {"experts": "20"}, "experts is '20'"),
        (WEATHER, {"experts": True}, "experts is True"),
        (WEATHER, {"experts": 5, "pseudo_counts": 1}, "both given"),
        (WEATHER.with_tables(None), {"experts": 5}, "has none"),
        ("Rain -> Wet", {"experts": 5}, "has none"),
    ],
)
def test_what_is_not_the_weight_of_experts_is_refused(
    network: Any, options: dict[str, Any], said: str
) -> None:
    for ask in (lc.learn, lc.explain):
        with pytest.raises(MethodError, match=said):
            ask(network, HOLES, **options)


def test_cpts_that_are_not_used_are_noted_once() -> None:
    (note,) = lc.learn(WEATHER, HOLES).notes
    assert "experts=20" in note
    assert note in lc.explain(WEATHER, HOLES).notes
    assert not lc.learn(WEATHER.with_tables(None), HOLES).notes
    assert not lc.learn(WEATHER, HOLES, experts=3).notes


@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("method", ["auto", "em", "listwise", "direct-mar", "factored-mcar"])
def test_with_complete_rows_intervals_are_the_quantiles_of_beta(method: str, level: float) -> None:
    experts = drawn_network(np.random.default_rng(1))
    rows = rows_of(drawn_network(np.random.default_rng(2)), 50, 0.0, 3)
    result = lc.learn(experts, rows, method, experts=8, intervals=True)
    for name in STATES:
        alpha = 8 * experts.cpt(name).table
        family = experts.family(name)
        for row in zip(*(rows[v] for v in family), strict=True):
            alpha[tuple(STATES[v].index(s) for v, s in zip(family, row, strict=True))] += 1
        rest = alpha.sum(axis=-1, keepdims=True) - alpha
        np.testing.assert_allclose(result.cpt(name).table, alpha / (alpha + rest), rtol=1e-12)
        ends = [beta.ppf((1 + sign * level) / 2, alpha, rest) for sign in (-1, 1)]
        np.testing.assert_allclose(result.interval(name, level), np.stack(ends, -1), atol=1e-9)
        deviation = beta.std(alpha, rest)
        np.testing.assert_allclose(result.uncertainty.cpt(name).standard_error, deviation)


@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")  # of answers without rows
@pytest.mark.parametrize(
    ("seed", "number", "weight"), [(0, 60, 10.0), (1, 200, 20.0), (2, 60, 10.0)]
)
def test_with_incomplete_rows_intervals_are_those_of_data_augmentation(
    seed: int, number: int, weight: float
) -> None:
    """Within four standard errors of the chain's quantiles and a 25th of an interval's width.

    6,000 sweeps have standard errors of at most .006 (measured); what the approximation itself
    is off by was at most .009, of intervals of a width of .3 to .5.
    """
    experts = drawn_network(np.random.default_rng(seed))
    rows = rows_of(drawn_network(np.random.default_rng(seed + 10)), number, 0.3, seed)
    result = lc.learn(experts, rows, "em", experts=weight, intervals=True, tolerance=1e-8)
    draws = posterior_draws(experts, weight, rows, 6_000, np.random.default_rng(5))
    found = {name: np.array([tables[name] for tables in draws]) for name in STATES}
    for name in STATES:
        interval = result.interval(name)
        ends, errors = quantiles_and_errors(found[name], (0.025, 0.975))
        allowed = 4 * errors + (interval[..., 1] - interval[..., 0]) / 25
        assert (np.abs(ends - np.moveaxis(interval, -1, 0)) < allowed).all()
        mean, deviation = found[name].mean(axis=0), found[name].std(axis=0)
        assert (np.abs(mean - result.cpt(name).table) < 0.15 * deviation).all()
    answers = np.einsum("na,nab,nabc->nc", found["A"], found["B"], found["C"])
    ends, errors = quantiles_and_errors(answers, (0.025, 0.975))
    answer = result.query("C")
    assert answer.interval is not None
    width = answer.interval[:, 1] - answer.interval[:, 0]
    assert (np.abs(ends - answer.interval.T) < 4 * errors + width / 25).all()


def test_answers_of_complete_rows_are_as_sure_as_draws_of_the_posterior() -> None:
    experts = drawn_network(np.random.default_rng(4))
    rows = rows_of(drawn_network(np.random.default_rng(5)), 80, 0.0, 6)
    result = lc.learn(experts, rows, experts=10, intervals=True)
    rng = np.random.default_rng(7)
    draws = {}
    for name in STATES:
        counts = result.families[name].counts.dense()
        gammas = rng.standard_gamma(10 * experts.cpt(name).table + counts, (40_000, *counts.shape))
        draws[name] = gammas / gammas.sum(axis=-1, keepdims=True)
    joint = np.einsum("na,nab,nabc->nabc", draws["A"], draws["B"], draws["C"])
    given = joint[..., 1].sum(axis=2) / joint[..., 1].sum(axis=(1, 2))[:, None]  # P(A | C=1)
    ends = np.quantile(given, (0.025, 0.975), axis=0)
    interval = result.query("A", {"C": "1"}).interval
    assert interval is not None
    # Quantiles of 40,000 draws have standard errors of .0008 here; an interval is .2 wide.
    np.testing.assert_allclose(interval.T, ends, atol=0.008)


def test_answers_that_are_entries_of_cpts_have_their_intervals() -> None:
    experts = drawn_network(np.random.default_rng(8))
    rows = rows_of(experts, 60, 0.3, 9)
    result = lc.learn(experts, rows, "em", experts=10, intervals=True)
    answer = result.query("B", {"A": "1"})
    assert answer.interval is not None
    np.testing.assert_allclose(answer.interval, result.interval("B")[1], atol=2e-3)


def test_an_entry_that_experts_rule_out_and_no_row_shows_is_sure() -> None:
    result = lc.learn(WEATHER, WHOLE, experts=5, intervals=True)
    assert result.interval("Wet")[1].tolist() == [[0, 0], [1, 1]]


def test_more_rows_and_more_experts_leave_less_open() -> None:
    experts = drawn_network(np.random.default_rng(1))
    few, many = (rows_of(experts, number, 0.3, 1) for number in (50, 1_000))
    width = {}
    for key, rows, weight in (("few", few, 5), ("many", many, 5), ("experts", few, 500)):
        interval = lc.learn(experts, rows, "em", experts=weight, intervals=True).interval("B")
        width[key] = (interval[..., 1] - interval[..., 0]).max()
    assert width["many"] < width["few"] / 2
    assert width["experts"] < width["few"] / 2


@pytest.mark.parametrize("method", ["direct-mar", "listwise", "factored-mcar"])
def test_methods_without_a_posterior_refuse_intervals(method: str) -> None:
    with pytest.raises(MethodError, match="posterior"):
        lc.learn(WEATHER, HOLES, method, experts=5, intervals=True)
    assert "refused" in lc.explain(WEATHER, HOLES, method, experts=5).intervals
    assert lc.learn(WEATHER, HOLES, method, experts=5).uncertainty is None


def test_rows_of_a_design_have_no_posterior() -> None:
    rows = lc.Data({**WHOLE, "psu": [str(i // 2) for i in range(20)]}, cluster="psu")
    with pytest.raises(MethodError, match="design"):
        lc.learn(WEATHER, rows, experts=5, intervals=True)


@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")  # of answers without rows
def test_it_is_said_everywhere_that_intervals_are_credible(tmp_path: Path) -> None:
    result = lc.learn(WEATHER, HOLES, "em", experts=20, intervals=True)
    plain = lc.learn(WEATHER.with_tables(None), HOLES, "em", intervals=True)
    for own, says in ((result, True), (plain, False)):
        own.report(tmp_path / "page.html")
        texts = [
            str(own.cpt("Wet")),
            str(own.query("Wet")),
            own.methods_text(),
            str(own.table("Wet")),
            str(own),
            str(own.effect("Wet", do="Rain")),
            (tmp_path / "page.html").read_text(encoding="utf-8"),
        ]
        assert ["credible" in text.lower() for text in texts] == [says] * len(texts)
        assert result_as_data(own)["intervals_are_credible"] is says
    assert "20 rows" in result.methods_text()


@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")  # of answers without rows
def test_a_result_with_experts_comes_back_whole(tmp_path: Path) -> None:
    for rows in (HOLES, WHOLE):
        result = lc.learn(WEATHER, rows, "em", experts=20, intervals=True)
        result.write(tmp_path / "result.json")
        back = lc.read_result(tmp_path / "result.json")
        assert str(back.pseudo_counts) == str(result.pseudo_counts)
        for name in RAIN:
            np.testing.assert_array_equal(back.interval(name), result.interval(name))
        np.testing.assert_array_equal(
            np.asarray(back.query("Wet").interval), np.asarray(result.query("Wet").interval)
        )


def test_draws_of_tables_have_the_posteriors_mean_and_deviation() -> None:
    from lacunet.ask.impute.draws import parameter_draws

    experts = drawn_network(np.random.default_rng(3))
    for hidden in (0.0, 0.3):
        rows = rows_of(experts, 150, hidden, 4)
        result = lc.learn(experts, rows, experts=15, intervals=True)
        draws = parameter_draws(result, 2_000, np.random.default_rng(1))
        for name in STATES:
            spread = result.uncertainty.cpt(name)
            tables = np.array([network.cpt(name).table for network in draws])
            # 2,000 draws: a deviation is known to 1.6%, a mean to .022 deviations.
            deviation = tables.std(axis=0)
            np.testing.assert_allclose(deviation, spread.standard_error, rtol=0.15)
            apart = np.abs(tables.mean(axis=0) - spread.table)
            assert (apart < 0.2 * deviation).all()


def test_the_shell_takes_experts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    WEATHER.write(tmp_path / "net.json")
    lines = ["Rain,Wet", *(f"{r or ''},{w or ''}" for r, w in zip(*HOLES.values(), strict=True))]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    network, rows = str(tmp_path / "net.json"), str(tmp_path / "rows.csv")
    out = str(tmp_path / "result.json")
    assert (
        main(["learn", network, rows, "--experts", "20", "--intervals", "--json", "-o", out]) == 0
    )
    data = json.loads(capsys.readouterr().out)
    assert data["pseudo_counts"]["experts"] == 20
    assert data["intervals_are_credible"]
    assert main(["query", out, "Wet"]) == 0
    assert "credible" in capsys.readouterr().out
    assert main(["explain", network, rows, "--experts", "20"]) == 0
    assert "20 rows" in capsys.readouterr().out
    for typed in ("0", "-1", "many"):
        with pytest.raises(SystemExit, match="2"):
            main(["learn", network, rows, "--experts", typed])
