"""Effects: contrasts by hand, intervals that cover, networks and graphs that agree."""

from __future__ import annotations

from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lacunet as lc
from lacunet.ask.effect import Effect
from lacunet.errors import LacunetError, LacunetWarning
from lacunet.learning.methods import METHODS
from lacunet.learning.uncertainty.by_formula import estimate_by_formula
from lacunet.learning.uncertainty.cpt_intervals import Spread
from lacunet.missingness.errors import NotRecoverableError
from lacunet.missingness.graph import MissingnessGraph
from lacunet.network.network import FloatArray, Network

NETWORK = Network(
    {"Z": ["a", "b"], "X": ["no", "yes"], "Y": ["well", "ill"]},
    {"X": ["Z"], "Y": ["Z", "X"]},
    {
        "Z": [0.6, 0.4],
        "X": [[0.7, 0.3], [0.2, 0.8]],
        "Y": [[[0.9, 0.1], [0.8, 0.2]], [[0.5, 0.5], [0.3, 0.7]]],
    },
)
GRAPH = MissingnessGraph.parse("Y -> R[Z]; Z -> R[X]", NETWORK)
MISSING = {"Z": [0.1, 0.3], "X": [0.15, 0.35]}


def rows_of(size: int, seed: int) -> object:
    mechanisms = lc.MissingByGraph(GRAPH, MISSING)
    return lc.simulate(NETWORK, size, mechanisms, rng=np.random.default_rng(seed)).table


def frame_of(size: int, seed: int) -> Any:
    mechanisms = lc.MissingByGraph(GRAPH, MISSING)
    return lc.simulate(NETWORK, size, mechanisms, rng=np.random.default_rng(seed)).to_frame()


def test_contrasts_are_those_of_the_probabilities_under_do() -> None:
    # P(ill | do(no)) = .6 * .1 + .4 * .5 = .26; P(ill | do(yes)) = .6 * .2 + .4 * .7 = .40
    (found,) = NETWORK.effect("Y", do="X").contrasts
    assert (found.outcome, found.state, found.reference) == ("ill", "yes", "no")
    assert found.difference.value == pytest.approx(0.14)
    assert found.ratio.value == pytest.approx(0.40 / 0.26)
    assert found.odds_ratio.value == pytest.approx((0.40 / 0.60) / (0.26 / 0.74))
    assert np.isnan(found.difference.low)


def test_what_is_given_without_its_states_is_refused() -> None:
    given: Any
    for given in ("Z", ["Z"], "Z=a"):
        with pytest.raises(LacunetError, match="mapping"):
            NETWORK.effect("Y", do="X", evidence=given)


def test_an_outcome_that_leads_to_what_is_set_is_warned_of() -> None:
    with pytest.warns(LacunetWarning, match="Y on X.*'Y', do='X'"):
        (found,) = NETWORK.effect("X", do="Y").contrasts
    assert found.difference.value == pytest.approx(0)
    graph = MissingnessGraph.parse("R[Z]; R[X]", NETWORK)
    with pytest.warns(LacunetWarning, match="network"):
        graph.effect("Z", do="Y", data=frame_of(200, 3))


AFTERWARDS = Network(
    {"X": ["no", "yes"], "Y": ["well", "ill"], "Cough": ["no", "yes"]},
    {"Y": ["X"], "Cough": ["Y"]},
    {
        "X": [0.7, 0.3],
        "Y": [[0.9, 0.1], [0.6, 0.4]],
        "Cough": [[0.8, 0.2], [0.3, 0.7]],
    },
)


def test_a_zero_that_rests_on_a_direction_the_data_do_not_tell_is_no_finding() -> None:
    network = AFTERWARDS.with_reversible([("Y", "Cough"), ("X", "Y")])
    with pytest.warns(LacunetWarning) as warned:
        found = network.effect("Y", do="Cough")
    texts = [str(own.message) for own in warned]
    assert any("draws Y -> Cough, but" in text for text in texts)
    assert not any("not the other way" in text for text in texts)
    assert found.basis[-1] == (
        "The network draws Y -> Cough, but the data do not tell that direction: the zero says "
        "nothing about the true effect."
    )
    with pytest.warns(LacunetWarning):
        further = network.effect("X", do="Cough")
    assert "Y -> Cough, X -> Y" in further.basis[-1]
    with pytest.warns(LacunetWarning):
        part = AFTERWARDS.with_reversible([("Y", "Cough")]).effect("X", do="Cough")
    assert part.basis[-1].startswith("By the edges")


def test_an_effect_that_is_zero_by_the_network_has_exact_contrasts() -> None:
    rows = lc.simulate(AFTERWARDS, 400, lc.MCAR(0.3, share=0.5), rng=3).to_frame()
    result = lc.learn(AFTERWARDS, rows, "direct-mcar", intervals=True)
    with pytest.warns(LacunetWarning, match="network"):
        found = result.effect("X", do="Cough")
    (contrast,) = found.contrasts
    assert contrast.difference == (0, 0, 0)
    assert contrast.ratio == contrast.odds_ratio == (1, 1, 1)
    assert found.basis[-1].startswith("By the edges")
    assert not result.effect("Cough", do="X").is_zero


def test_what_is_given_may_make_an_effect_zero_and_a_common_consequence_may_not() -> None:
    with pytest.warns(LacunetWarning, match="Y is.*of X"):
        assert AFTERWARDS.effect("Cough", do="X", evidence={"Y": "ill"}).is_zero
    with pytest.warns(LacunetWarning, match="Y is.*of Z"):
        assert not NETWORK.effect("Z", do="X", evidence={"Y": "ill"}).is_zero


def test_a_condition_that_comes_after_the_outcome_is_warned_of() -> None:
    with pytest.warns(LacunetWarning, match="Y: "):
        AFTERWARDS.effect("Y", do="X", evidence={"Cough": "yes"})
    NETWORK.effect("Y", do="X", evidence={"Z": "a"})  # comes before: no warning


PAIRED = {  # A -- B; C by itself
    "A": [0, 1] * 100,
    "B": [1 - a if at % 5 == 0 else a for at, a in enumerate([0, 1] * 100)],
    "C": [0, 0, 1, 1] * 50,
}


def test_an_edge_at_what_is_set_whose_direction_data_do_not_tell_is_warned_of(
    tmp_path: Path,
) -> None:
    found = lc.learn_structure(PAIRED, strengths=0)
    assert found.cpdag.reversible == {("A", "B")}
    parent, child = found.network.edges[0]
    learned = lc.learn(found, PAIRED)
    learned.network.write(tmp_path / "learned.json")
    again = lc.learn(lc.Network.from_data(PAIRED, found.network), PAIRED, intervals=True)
    again.write(tmp_path / "again.json")
    sources: list[Any] = [
        found,
        found.network,
        learned,
        lc.read_network(tmp_path / "learned.json"),
        again,
        lc.read_result(tmp_path / "again.json"),
    ]
    asked: list[Any] = [
        lambda source: source.effect(child, do=parent),
        lambda source: source.query(child, do={parent: "1"}),
        lambda source: source.query(f"P({child} | do({parent}=1))"),
        lambda source: source.marginals(do={parent: "1"}),
    ]
    for source, ask in product(sources, asked):
        with pytest.warns(LacunetWarning, match=f"{parent} -- {child}") as told:
            ask(source)
        assert len(told) == 1


def test_directions_that_are_known_are_not_warned_of() -> None:
    found = lc.learn_structure(PAIRED, strengths=0)
    found.query("B", {"A": "1"})  # nothing is set
    found.query("B", do={"C": "1"})  # no edges
    lc.learn_structure(PAIRED, required="A -> B", strengths=0).effect("B", do="A")
    parent, child = found.network.edges[0]
    lc.learn(found.edges, PAIRED).effect(child, do=parent)  # edges as the user gives them
    found.network.with_reversible([]).effect(child, do=parent)


def test_the_reference_can_be_chosen_and_what_is_given_conditions() -> None:
    (found,) = NETWORK.effect("Y", do="X", evidence={"Z": "b"}, reference="yes").contrasts
    assert (found.state, found.reference) == ("no", "yes")
    assert found.difference.value == pytest.approx(0.5 - 0.7)
    with pytest.raises(LacunetError, match="'maybe'"):
        NETWORK.effect("Y", do="X", reference="maybe")


def test_states_are_read_as_in_queries_from_a_graph_and_from_a_result() -> None:
    states = {name: ["0", "1"] for name in NETWORK.variables}
    network = Network(states, NETWORK.parents_of, {c.child: c.table for c in NETWORK.cpts})
    graph = MissingnessGraph.parse("Z -> R[X]", network)
    hidden = lc.MissingByGraph(graph, {"X": [0.15, 0.35]})
    rows = lc.simulate(network, 500, hidden, rng=np.random.default_rng(1)).table
    result = lc.learn(network, rows, "mgraph", missingness=graph)
    for effect in (result.effect, partial(graph.effect, data=rows)):
        asked = effect("Y", do="X", evidence={"Z": "1"}, reference="1", outcome="0")
        for state in (1, 1.0, np.int64(1)):
            same = effect("Y", do="X", evidence={"Z": state}, reference=state, outcome=state - 1)
            assert (same.title, same.contrasts) == (asked.title, asked.contrasts)
        not_seen = effect("Y", do="X", evidence={"Z": None})
        assert str(not_seen) == str(effect("Y", do="X"))
        refused: list[dict[str, Any]] = [
            {"evidence": ["Z"]},
            {"evidence": {"Z": 2}},
            {"reference": 2},
            {"reference": float("nan")},
            {"outcome": "x"},
        ]
        for wrong in refused:
            with pytest.raises(LacunetError):
                effect("Y", do="X", **wrong)


def test_a_graph_and_a_result_give_nearly_the_same_effect_with_intervals() -> None:
    rows = rows_of(4000, 1)
    result = lc.learn(NETWORK, rows, lc.MGraph(missingness=GRAPH), intervals=True, pseudo_counts=0)
    by_result = result.effect("Y", do="X").contrasts[0]
    by_graph = GRAPH.effect("Y", do="X", data=rows).contrasts[0]
    for one, two in zip(by_result[3:], by_graph[3:], strict=True):
        assert one.value == pytest.approx(two.value, rel=0.05)
        assert one.high - one.low == pytest.approx(two.high - two.low, rel=0.25)
        assert one.low < one.value < one.high


def test_the_variance_of_a_difference_allows_for_what_both_share() -> None:
    # With complete data of independent arms the interval is Newcombe's, built by hand.
    counts = {("no", "well"): 60, ("no", "ill"): 40, ("yes", "well"): 80, ("yes", "ill"): 20}
    rows = {"X": [], "Y": []}
    for (x, y), count in counts.items():
        rows["X"] += [x] * count
        rows["Y"] += [y] * count
    network = Network({"X": ["no", "yes"], "Y": ["well", "ill"]}, {"Y": ["X"]})
    result = lc.learn(network, rows, "direct-mcar", pseudo_counts=0, intervals=True)
    found = result.effect("Y", do="X")
    (contrast,) = found.contrasts
    assert found.interval is not None
    (low0, high0), (low1, high1) = found.interval[:, 1]
    gap = -0.2
    assert contrast.difference.value == pytest.approx(gap)
    expected = gap - np.hypot(0.2 - low1, high0 - 0.4), gap + np.hypot(high1 - 0.2, 0.4 - low0)
    assert contrast.difference[1:] == pytest.approx(expected, abs=1e-3)


def test_an_effect_prints_as_a_table_and_gives_a_frame() -> None:
    found = GRAPH.effect("Y", do="X", data=rows_of(1000, 2))
    text = str(found)
    assert text.startswith("P(Y | do(X))\ndo(X)")
    assert "odds ratio" in text
    assert "yes vs no" in text
    frame = found.to_frame()
    assert list(frame["outcome"]) == ["ill"]
    assert frame["difference_low"][0] < frame["difference"][0] < frame["difference_high"][0]
    assert "<table>" in found._repr_html_()


def test_an_effect_marks_what_rests_on_cpt_rows_without_data() -> None:
    bare = NETWORK.with_support({"Z": 100, "X": [50, 50], "Y": [[20, 20], [20, 0]]})
    # Under do(yes) P(Z=b) = .4 of the answer passes through the row that no data support.
    with pytest.warns(lc.LacunetWarning, match=r"P\(Y \| do\(X=yes\)\): 40\.0%") as told:
        found = bare.effect("Y", do="X")
    assert len(told) == 1
    assert "unsupported=" not in str(told[0].message)
    np.testing.assert_allclose(found.unsupported or (), [0, 0.4], atol=1e-12)
    assert found.unsupported_of(found.contrasts[0]) == pytest.approx(0.4)
    lines = str(found).splitlines()
    assert "no data" not in lines[2]
    assert lines[3].endswith("40.0% no data")
    assert lines[6].endswith("40.0% no data")
    assert "40.0%" in found._repr_html_()
    assert found.to_frame()["unsupported"].tolist() == pytest.approx([0.4])
    assert found.as_data()["unsupported"] == pytest.approx([0, 0.4])
    assert "no data" not in str(NETWORK.effect("Y", do="X"))


def test_three_outcomes_and_three_doses_are_all_compared() -> None:
    network = Network(
        {"D": ["0", "1", "2"], "Y": ["a", "b", "c"]},
        {"Y": ["D"]},
        {"D": [0.2, 0.3, 0.5], "Y": [[0.5, 0.3, 0.2], [0.4, 0.4, 0.2], [0.1, 0.1, 0.8]]},
    )
    found = network.effect("Y", do="D").contrasts
    assert len(found) == 6
    assert {one.reference for one in found} == {"0"}


def test_what_a_graph_does_not_recover_is_refused() -> None:
    hidden = MissingnessGraph.parse("X <-> Y; Y -> R[Z]; Z -> R[X]", NETWORK)
    with pytest.raises(NotRecoverableError, match="not recoverable"):
        hidden.effect("Y", do="X", data=rows_of(100, 0))
    masked = MissingnessGraph.parse("Y -> R[Y]; R[X]; R[Z]", NETWORK)
    way = r"result = lacunet\.learn\(graph, .*result\.effect\('Y', do='X', evidence={'Z': 'a'}"
    with pytest.raises(NotRecoverableError, match=way):
        masked.effect("Y", do="X", evidence={"Z": "a"}, data=rows_of(100, 0))


@pytest.mark.parametrize("do", [["X"], {"X": "yes"}, None])
def test_what_is_set_is_the_name_of_one_variable(do: Any) -> None:
    with pytest.raises(LacunetError, match="variable"):
        NETWORK.effect("Y", do=do)


def test_a_stratum_in_which_nobody_was_treated_backs_off_and_says_so() -> None:
    network = Network({**NETWORK.states_of, "Z": ["a", "b", "c"]}, NETWORK.parents_of)
    graph = MissingnessGraph.parse("X, Y -> R[Z]; Z -> R[X]; R[Y]", network)
    ill_of = {("a", "no"): 2, ("a", "yes"): 4, ("b", "no"): 5, ("b", "yes"): 8, ("c", "no"): 1}
    rows = [[z, x, y] for (z, x), n in ill_of.items() for y in ["ill"] * n + ["well"] * (10 - n)]
    found = graph.effect("Y", do="X", data={n: [r[k] for r in rows] for k, n in enumerate("ZXY")})
    treated = 0.4 * 0.4 + 0.4 * 0.8 + 0.2 * 0.6  # of c nobody: the average of the treated
    assert found.probabilities[:, 1] == pytest.approx([0.4 * 0.2 + 0.4 * 0.5 + 0.2 * 0.1, treated])
    assert "backed off" in found.basis[-1]


def test_the_boundary_is_reached_where_nobody_falls_ill() -> None:
    network = Network({"X": ["no", "yes"], "Y": ["well", "ill"]}, {"Y": ["X"]})
    rows = {"X": ["no"] * 50 + ["yes"] * 50, "Y": ["well"] * 40 + ["ill"] * 10 + ["well"] * 50}
    result = lc.learn(network, rows, "direct-mcar", pseudo_counts=0, intervals=True)
    (found,) = result.effect("Y", do="X").contrasts
    assert found.ratio.value == 0
    assert found.ratio.low == 0
    assert 0 < found.ratio.high < 1
    assert found.difference.low < -0.2 < found.difference.high < 0


@pytest.mark.parametrize("weighted", [False, True])
def test_the_variance_of_what_a_graph_recovers_is_that_without_each_row(weighted: bool) -> None:
    rng = np.random.default_rng(6)
    frame = frame_of(300, 6)
    weights = rng.choice([1.0, 2.0], len(frame)) if weighted else np.ones(len(frame))
    weights = weights * len(frame) / weights.sum()
    verdict = GRAPH.recover(["Y"], do=["X"])
    without = []
    for row in range(len(frame)):
        keep = np.arange(len(frame)) != row
        without.append(
            verdict.estimate(lc.Data(frame[keep], weight=weights[keep])).probabilities[1, 1]
        )
    apart = np.array(without) - verdict.estimate(lc.Data(frame, weight=weights)).probabilities[1, 1]
    found = estimate_by_formula(verdict, lc.Data(frame, weight=weights))
    # Rows of one kind but of different weights are left out by their mean: nearly the same.
    assert found.covariance[3, 3] == pytest.approx(np.square(apart).sum(), rel=0.02)
    if not weighted:
        exactly = np.var(without) * (len(frame) - 1)
        assert found.covariance[3, 3] == pytest.approx(exactly, rel=1e-10)
    assert "each row" in found.left_out.words


def test_many_distinct_rows_are_left_out_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    verdict, rows = GRAPH.recover(["Y"], do=["X"]), rows_of(2000, 5)
    exact = estimate_by_formula(verdict, lc.Data(rows))
    monkeypatch.setattr("lacunet.learning.uncertainty.by_formula.MOST_DISTINCT", 10)
    grouped = estimate_by_formula(verdict, lc.Data(rows))
    assert "30 groups" in grouped.left_out.words
    assert grouped.left_out.degrees == 29
    assert grouped.estimation.table == pytest.approx(exact.estimation.table, abs=1e-12)
    # The variance of 30 groups is uncertain by a factor of chi-squared with 29 degrees / 29.
    ratio = np.diag(grouped.covariance) / np.diag(exact.covariance)
    assert (ratio > 0.4).all()
    assert (ratio < 2).all()


def test_the_names_of_states_make_no_difference_to_intervals_of_effects() -> None:
    frame = frame_of(2000, 3)
    ends = []
    for well, ill in (("well", "ill"), ("w", "i"), ("0", "1")):
        network = Network({**NETWORK.states_of, "Y": [well, ill]}, NETWORK.parents_of)
        graph = MissingnessGraph.parse("Y -> R[Z]; Z -> R[X]", network)
        renamed = frame.assign(Y=frame["Y"].map({"well": well, "ill": ill}))
        ends.append(graph.effect("Y", do="X", data=renamed).contrasts[0].difference)
    assert ends[0] == pytest.approx(ends[1], abs=1e-12)
    assert ends[0] == pytest.approx(ends[2], abs=1e-12)


@pytest.mark.slow
def test_intervals_of_effects_cover_the_truth() -> None:
    truth = NETWORK.effect("Y", do="X").contrasts[0]
    covered = []
    for seed in range(200):
        (found,) = GRAPH.effect("Y", do="X", data=rows_of(1000, seed)).contrasts
        pairs = zip(found[3:], truth[3:], strict=True)
        covered.append([own.low <= true.value <= own.high for own, true in pairs])
    # 200 data sets: a standard error of 0.015 at 0.95; three of them.
    assert np.abs(np.mean(covered, axis=0) - 0.95).max() < 0.046


# An outside oracle: X, Y -> R[Z]; Z -> R[X]; R[Y] by hand, for a stack of data sets. Counts have
# the axes Z, X, Y, each with its two states and missing.
BY_HAND = MissingnessGraph.parse("X, Y -> R[Z]; Z -> R[X]; R[Y]", NETWORK)
MISSING_BY_HAND = np.array([[0.1, 0.3], [0.2, 0.4]]), np.array([0.1, 0.3]), 0.15


def manifest_law() -> FloatArray:
    law = np.zeros((3, 3, 3))
    of_z, of_x, of_y = MISSING_BY_HAND
    tables = [NETWORK.cpt(name).table for name in "ZXY"]
    for z, x, y in np.ndindex(2, 2, 2):
        joint = tables[0][z] * tables[1][z, x] * tables[2][z, x, y]
        hidden = np.array([of_z[x, y], of_x[z], of_y])
        for hides in np.ndindex(2, 2, 2):
            share = float(np.where(hides, hidden, 1 - hidden).prod())
            seen = np.where(hides, 2, (z, x, y))
            law[tuple(seen)] += joint * share
    return law


def risks_by_hand(counts: FloatArray) -> FloatArray:
    """P(Y=ill | do(X)) by the weights 1 / (P(R[Z]=1 | X, Y) P(R[X]=1 | Z))."""
    whole = counts[..., :2, :2, :2]
    z_shown = whole.sum(-3) / counts[..., :, :2, :2].sum(-3)  # of X, Y
    x_shown = counts[..., :2, :2, :].sum((-1, -2)) / counts[..., :2, :, :].sum((-1, -2))  # of Z
    weighted = whole / z_shown[..., None, :, :]
    severity = (weighted / x_shown[..., :, None, None]).sum((-1, -2))
    severity = severity / severity.sum(-1, keepdims=True)
    return (severity[..., None] * weighted[..., 1] / weighted.sum(-1)).sum(-2)


def covariance_by_hand(counts: FloatArray) -> FloatArray:
    """The jackknife's covariance of both risks, without each row."""
    rows = counts.reshape(len(counts), 27)
    without = np.stack(
        [risks_by_hand((rows - (rows > 0) * unit).reshape(-1, 3, 3, 3)) for unit in np.eye(27)],
        axis=1,
    )
    total = rows.sum(axis=1)[:, None]
    apart = without - (np.einsum("mk,mki->mi", rows, without) / total)[:, None]
    return np.einsum("mk,mki,mkj->mij", rows, apart, apart) * ((total - 1) / total)[:, :, None]


def frame_by_hand(counts: FloatArray) -> Any:
    import pandas as pd

    states = [[*NETWORK.states(name), None] for name in "ZXY"]
    cells = [*np.ndindex(3, 3, 3)]
    rows = [[own[k] for own, k in zip(states, cell, strict=True)] for cell in cells]
    return pd.DataFrame(rows, columns=[*"ZXY"]).assign(rows=counts.reshape(-1).astype(int))


@pytest.mark.parametrize("size", [500, 20_000])
def test_estimate_and_covariance_are_those_made_by_hand(size: int) -> None:
    counts = np.random.default_rng(size).multinomial(size, manifest_law().reshape(-1))
    shaped = counts.reshape(1, 3, 3, 3).astype(float)
    frame = frame_by_hand(counts)
    verdict = BY_HAND.recover(["Y"], do=["X"])
    found = estimate_by_formula(verdict, lc.Data(frame[frame["rows"] > 0], counts="rows"))
    assert found.estimation.table[:, 1] == pytest.approx(risks_by_hand(shaped)[0], abs=1e-12)
    ours = found.covariance[np.ix_([1, 3], [1, 3])]
    assert ours == pytest.approx(covariance_by_hand(shaped)[0], abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1000, 10_000])
def test_intervals_made_by_hand_cover_the_truth(size: int) -> None:
    law = manifest_law()
    truth = risks_by_hand(law)
    assert truth == pytest.approx([0.26, 0.40], abs=1e-12)
    rng = np.random.default_rng(size + 1)
    counts = rng.multinomial(size, law.reshape(-1), 10_000).reshape(-1, 3, 3, 3).astype(float)
    risks, covariance = risks_by_hand(counts), covariance_by_hand(counts)
    variance = np.einsum("mii->mi", covariance)
    correlation = covariance[:, 0, 1] / np.sqrt(variance.prod(axis=1))
    interval = Spread(risks, risks, risks * (1 - risks) / variance, size - 1.0).interval()
    covered = []
    for at in range(len(counts)):
        both = np.stack([1 - risks[at], risks[at]], axis=1)
        ends = np.stack([1 - interval[at][:, ::-1], interval[at]], axis=1)
        matrix = np.array([[1, correlation[at]], [correlation[at], 1]])
        found = Effect(
            *("Y", "X", {}, ("well", "ill"), ("no", "yes"), "no"),
            probabilities=both,
            interval=ends,
            correlations=np.stack([matrix, matrix]),
        )
        (one,) = found.contrasts
        wanted = truth[1] - truth[0], truth[1] / truth[0], (2 / 3) / (0.26 / 0.74)
        covered.append([m.low <= w <= m.high for m, w in zip(one[3:], wanted, strict=True)])
    # 10,000 data sets: a standard error of 0.0022 at 0.95.
    assert np.abs(np.mean(covered, axis=0) - 0.95).max() < 0.01


def test_a_recovered_zero_is_as_sure_as_its_own_rows() -> None:
    rows = {
        "Drug": ["new"] * 10 + ["old"] * 200,
        "Died": ["no"] * 6 + [None] * 4 + ["yes"] * 94 + ["no"] * 100 + [None] * 6,
    }
    network = lc.Network.from_data(rows, "Drug -> Died")
    graph = lc.MissingnessGraph.parse("Drug -> R[Died]", network)
    found = graph.effect("Died", do="Drug", data=rows)
    assert found.interval is not None
    np.testing.assert_allclose(found.interval[0, 1], (0, 0.33), atol=0.01)  # none of six


@pytest.mark.parametrize(
    ("method", "graph"),
    [
        *((name, None) for name in METHODS if name != "mgraph"),
        *((name, GRAPH) for name in ("mgraph", "em", "em-bp", "auto")),
    ],
)
def test_an_effect_and_a_result_say_what_is_assumed_of_missing_values(
    method: str, graph: MissingnessGraph | None
) -> None:
    options = {"groups": ["Y"]} if method.startswith("informed") else {}
    result = lc.learn(NETWORK, frame_of(300, 4), method, missingness=graph, **options)
    assumption = result.assumption
    if graph:
        assert assumption == "values are missing as the missingness graph says"
    elif method in ("listwise", "direct-mcar", "factored-mcar"):
        assert assumption == "values are missing completely at random"
    else:
        given = " given Y" if options else ""
        assert assumption == f"values are missing at random{given}"
    assert str(result).count(f"that {assumption}.") == 1
    assert result.effect("Y", do="X").basis[0].endswith(f"causes, and that {assumption}.")


def test_nothing_is_assumed_where_no_value_is_missing() -> None:
    result = lc.learn(NETWORK, lc.simulate(NETWORK, 100, rng=1).to_frame())
    assert result.assumption == ""
    assert "assumes that" not in str(result)


def test_an_effect_has_the_intervals_of_its_result_at_the_level_that_is_asked_for() -> None:
    rows = rows_of(300, 0)
    result = lc.learn(NETWORK, rows, "direct-mcar", intervals=True)
    for effect in (result.effect, partial(GRAPH.effect, data=rows)):
        asked = partial(effect, "Y", do="X")
        np.testing.assert_array_equal(asked(level=0.95).interval, asked().interval)
        np.testing.assert_array_equal(asked(level=0.8).interval, asked(level=80).interval)
        assert asked(level=80).level == 0.8
        with pytest.raises(LacunetError, match="level"):
            asked(level=2)
    assert NETWORK.effect("Y", do="X").interval is None
    without = lc.learn(NETWORK, rows, "direct-mcar").effect("Y", do="X", level=0.9)
    assert without.interval is None
    assert "intervals=True" in str(without)


def test_the_effect_in_a_group_of_one_of_several_states_is_that_of_all_of_them() -> None:
    network = Network(
        {"Z": ["a", "b", "c"], "X": ["no", "yes"], "Y": ["well", "ill"]},
        {"X": ["Z"], "Y": ["Z", "X"]},
        codes={"Z": {"b+": ["b", "c"]}},
    )
    cells = enumerate(product("abc", ("no", "yes"), ("well", "ill")))
    cases = [cell for number, cell in cells for _ in range(20 + 7 * number % 31)]
    rows = dict(zip("ZXY", map(list, zip(*cases, strict=True)), strict=True))
    result = lc.learn(network, rows, "em", pseudo_counts=0, intervals=True)
    effect = result.effect("Y", do="X", evidence={"Z": "b+"})
    weights = np.array([rows["Z"].count(z) for z in "bc"])
    ill = result.network.cpt("Y").table[1:, :, 1]  # Pr(ill | z, do(x)), Z is the only other cause
    np.testing.assert_allclose(effect.probabilities[:, 1], weights @ ill / weights.sum())
    assert effect.title == "P(Y | do(X), Z=b+)"
    assert effect.interval is not None
    assert not effect.is_zero


@pytest.mark.parametrize("with_data", [False, True])
@pytest.mark.parametrize("weight", [None, "w"])
def test_a_graph_and_rows_take_a_code_for_several_states_of_the_group(
    with_data: bool, weight: str | None
) -> None:
    codes = {"Z": {"b+": ["b", "c"]}}
    network = Network(
        {"Z": ["a", "b", "c"], "X": ["no", "yes"], "Y": ["well", "ill"]},
        {"X": ["Z"], "Y": ["Z", "X"]},
        codes={} if with_data else codes,
    )
    cells = enumerate(product("abc", ("no", "yes"), ("well", "ill", None)))
    cases = [(*cell, k % 3) for k, cell in cells for k in range(20 + 7 * k % 31)]
    rows = dict(zip("ZXYw", map(list, zip(*cases, strict=True)), strict=True))
    z, x, y, w = (np.array(rows[name]) for name in "ZXYw")
    w = np.ones(len(w)) if weight is None else w
    # Pr(ill | z, do(x)) of the rows that show Y, averaged over b and c as all rows have them.
    share = [
        sum(
            w[z == own].sum() * w[here & (y == "ill")].sum() / w[here & (y != None)].sum()  # noqa: E711
            for own in "bc"
            for here in [(z == own) & (x == do)]
        )
        / w[z != "a"].sum()
        for do in ("no", "yes")
    ]
    graph = MissingnessGraph.parse("Z -> R[Y]", network)
    data = lc.Data(rows, weight=weight, codes=codes if with_data else {})
    effect = graph.effect("Y", do="X", evidence={"Z": "b+"}, data=data)
    np.testing.assert_allclose(effect.probabilities[:, 1], share)
    assert effect.title == "P(Y | do(X), Z=b+)"
    em = lc.learn(network, data, "em", pseudo_counts=0, intervals=True).effect(
        "Y",
        do="X",
        evidence={"Z": "b+"},
    )
    assert effect.interval is not None
    assert em.interval is not None
    # Jackknifes by rows and by groups, or a rate matrix: widths agree but for chance.
    widths = np.diff(effect.interval), np.diff(em.interval)
    np.testing.assert_allclose(*widths, rtol=0.4 if weight else 0.1)


def test_one_of_several_states_of_what_lies_between_does_not_make_an_effect_zero() -> None:
    network = Network(
        {"Z": ["a", "b", "c"], "X": ["no", "yes"], "Y": ["well", "ill"]},
        {"Z": ["X"], "Y": ["Z"]},
        {"X": [0.5, 0.5], "Z": [[0.2, 0.5, 0.3], [0.2, 0.1, 0.7]], "Y": [[0.5, 0.5]] * 3},
        codes={"Z": {"b+": ["b", "c"]}},
    )
    with pytest.warns(LacunetWarning, match="Z is.*of X"):
        assert not network.effect("Y", do="X", evidence={"Z": "b+"}).is_zero
    with pytest.warns(LacunetWarning, match="Z is.*of X"):
        assert network.effect("Y", do="X", evidence={"Z": "b"}).is_zero


def test_statistics_give_the_effect_of_their_rows_by_the_same_rule_and_latent_variables() -> None:
    rng = np.random.default_rng(5)
    smoked, age = rng.choice(["no", "yes"], 400), rng.choice(["young", "old"], 400)
    now = np.where(smoked == "no", None, rng.choice(["daily", "never"], 400))
    ill = np.where(rng.random(400) < 0.2 + 0.3 * (now == "daily"), "ill", "well").astype(object)
    ill[rng.random(400) < 0.1 + 0.3 * (age == "old")] = None
    states = {"Age": ["young", "old"], "Smoked": ["no", "yes"], "Ill": ["ill", "well"]}
    network = lc.Network(
        {**states, "Now": ["daily", "never", "not_asked"], "Taste": ["0", "1"]},
        {"Now": ["Smoked"], "Ill": ["Age", "Now"], "Taste": ["Age"]},
    )
    graph = lc.MissingnessGraph.parse("Age -> R[Ill]", network)
    data = lc.Data(
        {"Age": age.tolist(), "Smoked": smoked.tolist(), "Now": now, "Ill": ill},
        not_asked={"Now": "Smoked=no"},
        latent=["Taste"],
    )
    by_rows = graph.effect("Ill", do="Smoked", data=data)
    by_counts = graph.effect("Ill", do="Smoked", data=lc.count(network, data))
    assert str(by_counts) == str(by_rows)
    with pytest.raises(NotRecoverableError, match="Taste"):
        graph.effect("Taste", do="Smoked", data=data)
    with pytest.raises(NotRecoverableError, match="Taste"):
        graph.effect("Taste", do="Smoked", data=lc.count(network, data))


def test_a_target_that_is_the_treatment_is_not_answered_with_the_effect_reversed() -> None:
    with pytest.raises(lc.LacunetError, match="X is both") as told:
        AFTERWARDS.effect("X", do="X")
    assert "do=" not in told.value.hint
