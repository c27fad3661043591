"""Intervals, bounds, mechanisms as nodes and learned separators, through `learn`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import lacunet as lc
from examples import NOT_VERIFIED, SCREENING
from lacunet.cli import main
from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetWarning
from lacunet.learning.em.iterations import Climb
from lacunet.learning.explain import explain
from lacunet.learning.plan import MethodError
from lacunet.limits import timed_by
from lacunet.show.results.result_text import result_as_text
from lacunet.simulation.at_random import MCAR
from lacunet.simulation.by_graph import MissingByGraph

GRAPH = lc.MissingnessGraph.parse("Symptoms, Test -> R[Disease]", SCREENING)


@pytest.fixture(scope="module")
def patients() -> object:
    missing = MissingByGraph(GRAPH, NOT_VERIFIED)
    return lc.simulate(SCREENING, 2_000, missing, rng=np.random.default_rng(3)).table


@pytest.mark.parametrize("pseudo_counts", [0, 1, "learn"])
@pytest.mark.parametrize("method", ["em", "auto", "factored-mar"])
def test_what_is_impossible_or_certain_is_in_the_interval_of_an_entry_that_rows_agree_on(
    method: str, pseudo_counts: object
) -> None:
    asia = lc.example("asia")
    hiding = MCAR(0.4, share=0.5)
    for seed in range(2):
        rows = lc.simulate(asia, 300, hiding, rng=np.random.default_rng(seed)).table
        result = lc.learn(asia, rows, method, pseudo_counts=pseudo_counts, intervals=True)
        truth, both = asia.cpt("either").table, result.interval("either")
        is_shown = result.families["either"].support[..., None] > 0
        assert is_shown.sum() >= 2
        assert ((both[..., 0] <= truth) & (truth <= both[..., 1]) | ~is_shown).all()
        lung, tub = asia.states("lung")[0], asia.states("tub")[1]
        answer = result.query("either", {"lung": lung, "tub": tub})
        np.testing.assert_allclose(answer.interval, both[0, 1], atol=1e-9)


@pytest.mark.parametrize("pseudo_counts", [1, "learn"])
@pytest.mark.parametrize("method", ["em", lc.EM(max_iterations=1)], ids=["em", "one step"])
def test_what_is_impossible_or_certain_is_in_the_interval_of_an_answer(
    method: str | lc.EM, pseudo_counts: object
) -> None:
    asia = lc.example("asia")
    for seed in range(2):
        rows = lc.simulate(asia, 300, MCAR(0.4, share=0.5), rng=seed).table
        result = lc.learn(asia, rows, method, pseudo_counts=pseudo_counts, intervals=True)
        for evidence in ({"lung": "yes"}, {"lung": "no", "tub": "no", "dysp": "yes"}):
            right = asia.query("either", evidence)
            asked = result.query("either", evidence, unsupported="ignore")
            low, high = asked.interval.T
            assert ((low <= right) & (right <= high)).all()


@pytest.mark.parametrize("method", ["direct-mcar", "direct-mar", "em"])
def test_every_entry_has_an_interval_that_holds_it(method: str, patients: object) -> None:
    result = lc.learn(SCREENING, patients, method, intervals=True)
    for cpt in result.network.cpts:
        both = result.interval(cpt.child, level=0.9)
        assert both.shape == (*cpt.table.shape, 2)
        assert (both[..., 0] <= cpt.table).all()
        assert (cpt.table <= both[..., 1]).all()
        assert (result.standard_error(cpt.child) > 0).all()
        assert result.families[cpt.child].effective_size > 0


def test_of_plain_frequencies_the_standard_error_is_that_of_the_rows(patients: object) -> None:
    result = lc.learn(SCREENING, patients, "direct-mcar", pseudo_counts=0, intervals=True)
    share = result.network.cpt("Age").table
    np.testing.assert_allclose(
        result.standard_error("Age"), np.sqrt(share * (1 - share) / 2_000), rtol=1e-9
    )


def test_an_answer_has_an_interval_where_replicates_were_made() -> None:
    rows = lc.simulate(SCREENING, 300, None, rng=np.random.default_rng(1)).table
    result = lc.learn(SCREENING, rows, "factored-mar", intervals=True)
    answer = result.query("Disease", {"Test": "positive"})
    np.testing.assert_allclose(answer, result.network.query("Disease", {"Test": "positive"}))
    assert answer.interval is not None
    assert (answer.interval[..., 0] <= answer).all()
    assert (answer <= answer.interval[..., 1]).all()


@pytest.mark.parametrize(
    ("method", "work"),
    [
        ("direct-mcar", "intervals by counts will take nothing more"),
        ("direct-mar", "intervals by influence of rows will take a few fits more"),
        ("factored-mar", "intervals by influence of rows will take a few fits more"),
        ("em", "will take at most 14 EM steps more"),  # there and back, 7 free parameters
    ],
)
def test_what_intervals_will_take_is_told_before(
    method: str,
    work: str,
    patients: EncodedTable,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert work in explain(SCREENING, patients, method).intervals
    totals = []

    def progress(stage: str, done: float, total: float | None, note: str = "") -> None:
        if stage == "intervals":
            totals.append((done, total))

    lc.learn(SCREENING, patients, method, intervals=True, progress=progress)
    # Age is always shown: its parameter takes no step.
    families = [(0, 3)]  # Disease is missing, and a parent of Symptoms and Test
    steps = {"direct-mar": families, "factored-mar": families, "em": [(0, 6)]}
    assert totals[:1] == steps.get(method, [])
    SCREENING.write(tmp_path / "net.bif")
    assert main(["explain", str(tmp_path / "net.bif"), "--method", method]) == 0
    assert work in capsys.readouterr().out


def test_what_the_data_do_not_identify_is_a_warning_of_the_families_it_moves() -> None:
    rng = np.random.default_rng(0)
    rows = {name: rng.choice(["0", "1"], 400).tolist() for name in "XY"}
    network = lc.Network({name: ["0", "1"] for name in "HXY"}, {"X": ["H"]})
    method = lc.EM(tolerance=1e-10, max_iterations=50_000)
    result = lc.learn(network, lc.Data(rows, latent=["H"]), method, intervals=True)
    for name in "HX":
        warnings = result.families[name].warnings
        assert any(text.startswith("not identified by the data: ") for text in warnings)
    assert not any("identified" in text for text in result.families["Y"].warnings)


def test_intervals_say_what_they_count_of_rows_that_fell_back() -> None:
    rows = {
        "A": ["0"] * 50 + ["1"] * 50,
        "B": ["0", "1"] * 25 + [None] * 50,  # never shown where A = 1
    }
    with pytest.warns(LacunetWarning, match="question"):
        network = lc.Network.from_data(rows, "B -> A")
    result = lc.learn(network, rows, "direct-mar", intervals=True)
    for name in "AB":
        assert "50.0%" in result.families[name].warnings[-1]
        assert "rows'" in result.families[name].warnings[-1]
        assert result.families[name].warnings[-1].endswith("em has none")


THREE_SIGNS = lc.Network({name: ["0", "1"] for name in "HXYZ"}, {name: ["H"] for name in "XYZ"})


def signs_of_a_latent_cause() -> lc.Data:
    rng = np.random.default_rng(1)
    cause = rng.random(200) < 0.4
    signs = {name: np.where(rng.random(200) < 0.8, cause, ~cause) for name in "XYZ"}
    rows = {name: column.astype(int).astype(str).tolist() for name, column in signs.items()}
    return lc.Data(rows, latent=["H"])


@pytest.mark.parametrize("start", ["factored-mar", "random"])
def test_replicates_make_as_many_steps_as_all_rows_from_what_chance_drew_for_these(
    start: str,
) -> None:
    climbs: list[Climb] = []
    two_steps = lc.EM(start, max_iterations=2, restarts=3, visit=climbs.append)
    result = lc.learn(
        THREE_SIGNS, signs_of_a_latent_cause(), two_steps, pseudo_counts=1, intervals=True
    )
    ends = [climb for climb in climbs if climb.reason]
    whole, replicates = ends[:3], ends[3:]
    assert [climb.iterations for climb in ends] == [2] * (3 + 30)
    (start_of_best,) = {climb.start.tobytes() for climb in replicates}
    best = max(whole, key=lambda climb: climb.log_posterior)
    *signs, first, second = best.start[[*range(2, 14), 0, 1]]
    turned = [second, first, *np.reshape(signs, (3, 2, 2))[:, ::-1].ravel()]  # H, then its signs
    assert start_of_best in {best.start.tobytes(), np.array(turned).tobytes()}
    assert best.log_posterior == result.ended.log_posterior


SURVEY = lc.example("survey").with_tables(None)


def scarce_rows() -> object:
    hiding = MCAR(0.6)
    return lc.simulate(lc.example("survey"), 300, hiding, rng=np.random.default_rng(1)).to_frame()


@pytest.mark.parametrize("weight", [None, np.arange(300) % 3 + 1.0])
def test_intervals_that_a_time_limit_leaves_too_little_time_for_are_left_out(
    weight: object,
) -> None:
    now = [0.0]

    def slowly(stage: str, done: float, total: float | None, note: str = "") -> None:
        now[0] += 100 * (stage == "intervals")  # each part of them

    def learned(limit: float | None) -> lc.Result:
        now[0] = 0.0
        rows = lc.Data(scarce_rows(), weight=weight)
        method = lc.EM(time_limit=limit)
        with timed_by(lambda: now[0]):
            return lc.learn(SURVEY, rows, method, intervals=True, progress=slowly)

    unlimited, long, short = (learned(limit) for limit in (None, 1e5, 500.0))
    for name in SURVEY.variables:
        np.testing.assert_array_equal(unlimited.interval(name), long.interval(name))
        np.testing.assert_array_equal(unlimited.cpt(name).table, short.cpt(name).table)
    assert short.uncertainty is None
    (note,) = set(short.notes) - set(unlimited.notes)
    assert "intervals were left out" in note
    assert now[0] <= 200.0  # the first part told that thirty take too long


def test_intervals_of_an_estimate_that_the_time_limit_ended_are_left_out() -> None:
    now = [0.0]

    def slowly(_: Climb) -> None:
        now[0] += 400

    cut = lc.EM(time_limit=1000.0, accelerate=False, restarts=1, visit=slowly)
    with timed_by(lambda: now[0]):
        result = lc.learn(SURVEY, scarce_rows(), cut, pseudo_counts=1, intervals=True)
    assert result.ended.reason == "time limit"
    assert result.uncertainty is None


def test_without_intervals_asked_for_the_way_to_them_is_told(patients: object) -> None:
    with pytest.raises(MethodError, match="intervals=True"):
        lc.learn(SCREENING, patients, "direct-mcar").interval("Age")


def test_bounds_need_no_assumption_and_hold_every_completion(patients: object) -> None:
    result = lc.learn(SCREENING, patients, "direct-mar")
    low, high = result.bounds("Disease")
    filled = dict(patients.columns)  # type: ignore[attr-defined]
    for state in (0, 1):
        whole = np.where(filled["Disease"] == 2, state, filled["Disease"])
        for age in (0, 1):
            share = (whole[filled["Age"] == age] == 1).mean()
            assert low[age, 1] - 1e-12 <= share <= high[age, 1] + 1e-12


def test_with_a_graph_the_mechanisms_are_learned_too() -> None:
    rows = lc.simulate(
        SCREENING, 20_000, MissingByGraph(GRAPH, NOT_VERIFIED), rng=np.random.default_rng(5)
    ).table
    result = lc.learn(SCREENING, rows, "em", missingness=GRAPH)
    plain = lc.learn(SCREENING, rows, "em")
    # Missing at random: the mechanism is ignorable, and the CPTs are those of plain EM.
    for cpt in plain.network.cpts:
        np.testing.assert_allclose(result.network.cpt(cpt.child).table, cpt.table, atol=1e-3)


def test_a_learned_separator_beats_the_complete_rows() -> None:
    rows = lc.simulate(
        SCREENING, 20_000, MissingByGraph(GRAPH, NOT_VERIFIED), rng=np.random.default_rng(6)
    ).table
    learned = lc.learn(SCREENING, rows, "informed-direct", groups="learn")
    named = lc.learn(SCREENING, rows, "informed-direct", groups=["Symptoms", "Test"])
    listwise = lc.learn(SCREENING, rows, "listwise")
    far = [lc.kl_divergence(SCREENING, one.network) for one in (learned, named, listwise)]
    assert far[0] == pytest.approx(far[1], rel=0.05)
    assert far[0] < far[2] / 10


def test_the_command_line_makes_networks_intervals_and_a_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "rows.csv"
    data.write_text("A,B\n" + "yes,no\nno,\nyes,yes\n,no\n" * 20)
    page = tmp_path / "page.html"
    words = ["learn", "A -> B", str(data), "--method", "direct-mar", "--json"]
    assert main([*words, "--intervals", "--level", "90", "--report", str(page)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["states"] == {"A": ["no", "yes"], "B": ["no", "yes"]}
    assert told["level"] == 0.9
    assert np.array(told["intervals"]["B"]).shape == (2, 2, 2)
    assert page.read_text().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("method", ["auto", "listwise", "direct-mar", "factored-mar", "em"])
def test_a_cpt_row_whose_rows_all_agree_is_known_from_all_of_them(method: str) -> None:
    rows = {"A": ["0"] * 200 + ["1"] * 200, "B": ["0"] * 200 + ["0", "1"] * 100}
    network = lc.Network.from_data(rows, "A -> B")
    low, high = lc.learn(network, rows, method, intervals=True).interval("B")[0, 0]
    assert low > 0.97
    assert high > 0.9999


@pytest.mark.parametrize("method", ["auto", "factored-mar", "factored-mcar", "em"])
def test_a_cpt_row_that_no_row_supports_is_not_known(method: str) -> None:
    rng = np.random.default_rng(1)
    group = rng.choice(["a", "b", "c"], 300)
    edu = np.where(group == "c", None, rng.choice(["lo", "hi"], 300))
    ill = np.where(rng.random(300) < 0.3, None, rng.choice(["n", "y"], 300))
    rows = {"Group": group.tolist(), "Edu": edu.tolist(), "Ill": ill.tolist()}
    with pytest.warns(LacunetWarning, match="question"):
        network = lc.Network.from_data(rows, "Group -> Edu -> Ill")
    low, high = lc.learn(network, rows, method, intervals=True).interval("Edu")[2, 0]
    assert low < 0.05
    assert high > 0.95


def test_a_terminal_shows_the_cpts_of_a_small_network_and_a_pipe_does_not() -> None:
    result = lc.learn(SCREENING, {name: [None] for name in SCREENING.variables}, "direct-mcar")
    assert "P(Disease | Age)" in result_as_text(result, with_cpts=True)
    assert "P(Disease | Age)" not in result_as_text(result)


def test_what_was_learned_of_mechanisms_is_told_in_a_line_each() -> None:
    network = lc.Network({name: ["no", "yes"] for name in "XY"}, {"Y": ["X"]})
    # X is missing in 10 of the 40 rows with Y = no and 30 of those with yes; Y in a tenth.
    rows = {
        "X": (["no"] * 30 + [None] * 10 + ["yes"] * 10 + [None] * 30) * 10,
        "Y": (["no"] * 40 + ["yes"] * 40) * 9 + [None] * 80,
    }
    result = lc.learn(network, rows, "em", missingness="Y -> R[X]; R[Y]")
    low, high = result.mechanisms["X"].table[:, 0]
    told = f"  X is missing in {low:.1%} if Y=no to {high:.1%} if Y=yes"
    text = result_as_text(result) + "\n"
    assert "mechanisms" in text
    assert f"rows):\n{told}" in text
    assert (low, high) == pytest.approx((0.25, 0.75), abs=0.05)


def test_the_prior_outweighs_rows_that_identify_what_they_say_little_of() -> None:
    """Ordinary rows missing at random identify all there is: none is said not to be identified."""
    network, outweighed = lc.read_network("asia"), 0
    for seed in range(8):
        rows = lc.simulate(network, 1000, lc.MAR(share=0.3, beta=(1.0, 0.5)), rng=seed).table
        result = lc.learn(network.with_tables(None), rows, "em", intervals=True)
        assert result.uncertainty.unidentified == ()
        outweighed += any("outweighs" in warning for warning in result.warnings)
        assert not any(f"rows: {warning.split(':')[0]} (" in warning for warning in result.warnings)
    assert outweighed


def test_two_indicators_do_not_identify_a_hidden_cause() -> None:
    """Five parameters and three free frequencies: two directions that no row says anything of."""
    rng = np.random.default_rng(1)
    hidden = rng.random(2000) < 0.4
    rows = {
        "X": np.where(rng.random(2000) < np.where(hidden, 0.8, 0.3), "1", "0"),
        "Y": np.where(rng.random(2000) < np.where(hidden, 0.7, 0.2), "1", "0"),
    }
    network = lc.Network({name: ["0", "1"] for name in "HXY"}, {"X": ["H"], "Y": ["H"]})
    result = lc.learn(network, lc.Data(rows, latent=["H"]), "em", intervals=True)
    assert len(result.uncertainty.unidentified) == 2
    third = {**rows, "Z": np.where(rng.random(2000) < np.where(hidden, 0.9, 0.2), "1", "0")}
    wider = lc.Network({name: ["0", "1"] for name in "HXYZ"}, {name: ["H"] for name in "XYZ"})
    result = lc.learn(wider, lc.Data(third, latent=["H"]), "em", intervals=True)
    assert result.uncertainty.unidentified == ()


def test_many_warnings_are_one_line_for_each_kind() -> None:
    network = lc.read_network("alarm")
    rows = lc.simulate(network, 1000, lc.MAR(share=0.3, beta=(1.0, 0.5)), rng=2).table
    result = lc.learn(network.with_tables(None), rows, "direct-mar")
    assert len(result.warnings) > 10
    assert len(result.warnings_by_kind) <= 4
    text = result_as_text(result)
    assert text.count("\n! ") == len(result.warnings_by_kind)
    assert f"{len(result.warnings)}" in text
    told = [line for line in result.warnings_by_kind if line.startswith("CPT rows that no data")]
    worst = max(result.families.values(), key=lambda own: own.unsupported / own.support.size)
    assert f"{worst.variable} ({worst.unsupported} of {worst.support.size})" in told[0]


def test_the_summary_of_a_cpt_is_its_weakest_row() -> None:
    """600 rows with A=0, 40 with A=1; of these, half show B."""
    rows = {"A": ["0"] * 600 + ["1"] * 40, "B": ["0", "1"] * 300 + ["0", "1", None, None] * 10}
    network = lc.Network({"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]})
    result = lc.learn(network, rows, "em", intervals=True)
    report = result.families["B"]
    assert report.effective_size == pytest.approx(20)
    assert report.weakest_rows == 40
    assert result.families["A"].effective_size == pytest.approx(640)
    lines = {line.split()[0]: line for line in result_as_text(result).splitlines() if line}
    assert "20 of 40" in lines["B"]
    assert "640  " in lines["A"]


@pytest.mark.parametrize("method", ["auto", "factored-mar", "direct-mar"])
def test_one_row_has_intervals(method: str) -> None:
    network = lc.Network({"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]})
    result = lc.learn(network, {"A": ["0"], "B": [None]}, method, intervals=True)
    np.testing.assert_array_equal(result.interval("B")[0, 0], [0.0, 1.0])


def test_weights_by_which_a_few_rows_decide_are_told() -> None:
    network = lc.Network({"A": ["0", "1"]})
    rows = {"A": ["0", "1"] * 50, "w": [1e4, *[1.0] * 99]}
    (note,) = lc.learn(network, lc.Data(rows, weight="w")).notes
    assert "100" in note
    assert "1.0" in note
    assert not lc.learn(network, lc.Data({**rows, "w": [9.0, *[1.0] * 99]}, weight="w")).notes


def test_counts_of_less_than_half_a_row_are_learned_from() -> None:
    network = lc.Network({"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]})
    result = lc.learn(
        network, lc.Data({"A": ["0", None], "B": ["1", "0"], "k": [0.1, 0.1]}, counts="k")
    )
    assert result.rows == 1
    assert result.total == pytest.approx(0.2)


@pytest.mark.parametrize("method", ["listwise", "direct-mcar", "direct-mar", "factored-mar"])
def test_effective_sizes_of_weighted_rows_are_the_same_with_intervals(method: str) -> None:
    rng = np.random.default_rng(6)
    old = rng.random(300) < 0.4
    rows = {
        "Old": np.where(old, "yes", "no"),
        "Ill": np.where(rng.random(300) < 0.2 + 0.4 * old, "yes", "no").astype(object),
        "w": np.where(old, 1.0, 5.0) * rng.uniform(0.5, 2.0, 300),
    }
    network = lc.Network({"Old": ["no", "yes"], "Ill": ["no", "yes"]}, {"Ill": ["Old"]})
    alone, with_intervals = (
        lc.learn(network, lc.Data(rows, weight="w"), method, intervals=own).families
        for own in (False, True)
    )
    for name in network.variables:
        sizes, known = alone[name].effective_sizes, with_intervals[name].effective_sizes
        assert sizes is not None
        assert known is not None
        np.testing.assert_allclose(sizes, known, rtol=1e-9)
    # By linearisation, of the share of the old: p (1 - p) / sum (w / W)^2 (old - p)^2.
    shares = rows["w"] / rows["w"].sum()
    p = shares @ old
    by_hand = p * (1 - p) / (shares**2 @ (old - p) ** 2)
    np.testing.assert_allclose(alone["Old"].effective_size, by_hand, rtol=1e-9)


def test_a_latent_variable_has_the_effective_size_that_its_intervals_rest_on() -> None:
    rng = np.random.default_rng(0)
    hidden = rng.random(2_000) < 0.36
    shown = {
        f"V{at}": np.where(rng.random(2_000) < np.where(hidden, 0.8, 0.2), "y", "n")
        for at in range(4)
    }
    states = {"C": ["a", "b"]} | {name: ["n", "y"] for name in shown}
    network = lc.Network(states, {name: ["C"] for name in shown})
    result = lc.learn(network, lc.Data(shown, latent="C"), "em", intervals=True)
    assert "pseudo-counts 1\n" in str(
        result
    )  # no row shows any family: there are no counts to learn from
    size = result.families["C"].effective_size
    assert size is not None
    p = result.cpt("C").table[0]
    error = result.standard_error("C")[0]
    assert size == pytest.approx(p * (1 - p) / error**2, rel=0.01)
    assert 0 < size < 2_000


def test_intervals_are_printed_with_what_they_are_of(patients: EncodedTable) -> None:
    smoothed = lc.learn(SCREENING, patients, "em", intervals=True)
    assert "pseudo-counts:" in result_as_text(smoothed, 0.95)
    assert "curvature" in result_as_text(smoothed, 0.95)
    plain = lc.learn(SCREENING, patients, "direct-mcar", pseudo_counts=0, intervals=True)
    assert "pseudo-counts:" not in result_as_text(plain, 0.95)
