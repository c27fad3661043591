"""Selection: rows that were not recorded at all."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy.optimize import linprog

import lacunet as lc
from lacunet.counts.em_problems.compile import Problems, compile_problems
from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetError
from lacunet.inference.engine import Engine, engine_of
from lacunet.learning.cpt_rows import CptRows
from lacunet.learning.em.em import EM
from lacunet.learning.em.start import random_cells
from lacunet.learning.learn import learn
from lacunet.missingness.augmented_network import augment
from lacunet.missingness.errors import MissingnessGraphError
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.implications import implications, never_testable
from lacunet.missingness.recover.decide import recover
from lacunet.missingness.verdict import Verdict
from lacunet.network.network import Network
from lacunet.network.nodes import SELECTION, Mechanism
from manifest_laws import assert_two_models_look_the_same, random_graph, random_model

NETWORK = Network(
    {"Age": ["young", "old"], "Ill": ["no", "yes"], "Test": ["0", "1", "2"]},
    {"Ill": ["Age"], "Test": ["Ill"]},
)
BY_AGE = MissingnessGraph.parse("Age -> R[*]; Ill -> R[Test]", NETWORK)


def test_selection_is_part_of_the_text_and_comes_back() -> None:
    assert str(BY_AGE) == "Ill -> R[Test]\nAge -> R[*]"
    assert BY_AGE.selection == ("Age",)
    assert BY_AGE.partially_observed == ("Test",)
    assert MissingnessGraph.parse(str(BY_AGE), NETWORK) == BY_AGE
    assert MissingnessGraph.from_networkx(BY_AGE.to_networkx(), NETWORK) == BY_AGE
    assert BY_AGE.hiding(["Ill"]).selection == ("Age",)
    assert str(MissingnessGraph.parse("R[*]; R[Test]", NETWORK)) == "R[Test]\nR[*]"
    assert "Age decides" in BY_AGE.why()
    by_two = MissingnessGraph.parse("Age, Ill -> R[*]", BY_AGE.network)
    assert "Age, Ill" in by_two.why()
    assert MissingnessGraph.parse("Ill -> R[Test]", NETWORK) != BY_AGE


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("R[*] -> R[Test]", "says nothing"),
        ("R[*] -> Age", "cannot cause a variable"),
        ("R[Age] -> R[*]; R[*] -> R[Age]", "says nothing"),
    ],
)
def test_selection_causes_nothing(text: str, match: str) -> None:
    with pytest.raises(MissingnessGraphError, match=match):
        MissingnessGraph.parse(text, NETWORK)


def test_a_mechanism_that_decides_on_selection_is_added_to_the_graph() -> None:
    graph = MissingnessGraph(NETWORK, {}, selection=[Mechanism("Test")])
    assert graph == MissingnessGraph.parse("R[Test] -> R[*]", NETWORK)


def test_what_does_not_depend_on_selection_given_its_conditions_is_recovered() -> None:
    assert BY_AGE.recover(["Ill"], ["Age"]).estimand == "P(Ill | Age) = P(Ill | Age, R[*]=1)"
    assert BY_AGE.recover(["Test"], ["Ill"]).status == "recoverable"
    for target, given in ((["Ill"], []), (["Age"], ["Ill"])):
        verdict = BY_AGE.recover(target, given)
        assert verdict.status == "not recoverable"
        assert verdict.generic is False
        assert_two_models_look_the_same(verdict)


def test_the_law_of_what_decides_on_selection_recovers_the_rest() -> None:
    model = random_model(BY_AGE, np.random.default_rng(0))
    age = model.truth(["Age"])
    for target, given in ((["Ill"], []), (["Age"], ["Ill"]), (["Test"], [])):
        verdict = BY_AGE.recover(target, given, population=["Age"])
        assert "P(Age) (population)" in verdict.estimand
        rows = model.manifest()
        for law in (
            {"Age": age},
            {("Age",): age},
            {"Age": dict(zip(["young", "old"], age, strict=True))},
        ):
            found = verdict.estimate(rows, population=law)
            np.testing.assert_allclose(found, model.truth(target, given), rtol=0, atol=1e-12)
        census = {"Age": ["young"] * 3 + ["old"]}
        by_rows = verdict.estimate(rows, population=census)
        by_numbers = verdict.estimate(rows, population={"Age": [0.75, 0.25]})
        np.testing.assert_allclose(by_rows, by_numbers)


def test_a_law_that_is_needed_must_be_given_and_fit() -> None:
    verdict = BY_AGE.recover(["Ill"], population=["Age"])
    rows = random_model(BY_AGE, np.random.default_rng(0)).manifest()
    with pytest.raises(MissingnessGraphError, match="'Age'"):
        verdict.estimate(rows)
    with pytest.raises(MissingnessGraphError, match="shape"):
        verdict.estimate(rows, population={"Age": [0.2, 0.3, 0.5]})
    with pytest.raises(MissingnessGraphError, match="show"):
        verdict.estimate(rows, population={"Age": ["young", None]})
    with pytest.raises(MissingnessGraphError, match="'Agge'"):
        BY_AGE.recover(["Ill"], population=["Agge"])


def test_a_latent_variable_is_not_told_by_a_law_of_the_population() -> None:
    network = Network({name: ["0", "1"] for name in "LXY"}, {"X": ["L"], "Y": ["L", "X"]})
    graph = MissingnessGraph(network, {"X": []}, latent=["L"], selection=["Y"])
    asked = graph.recover(["L"], population=["Y"])
    assert (asked.status, asked.population) == ("not recoverable", (("Y",),))
    assert graph.recover(["X"], ["L"], population=["Y"]).status == "undecided"
    with pytest.raises(MissingnessGraphError, match="'L': L"):
        graph.recover(["X"], population=["L"])


def test_a_law_that_the_verdict_was_not_told_of_is_refused() -> None:
    verdict = BY_AGE.recover(["Ill"], ["Age"])
    rows = random_model(BY_AGE, np.random.default_rng(0)).manifest()
    for ask in (verdict.estimate, verdict.identified_set, verdict.assumptions):
        with pytest.raises(MissingnessGraphError, match="population"):
            ask(rows, population={"Age": [0.5, 0.5]})


def assert_sound(graph: MissingnessGraph, verdict: Verdict, rng: np.random.Generator) -> None:
    if verdict.is_recoverable:
        model = random_model(graph, rng)
        laws = {scope: model.truth(scope) for scope in verdict.population}
        found = verdict.estimate(model.manifest(), population=laws or None)
        truth = model.truth(verdict.target, verdict.given, verdict.do)
        np.testing.assert_allclose(found, truth, rtol=0, atol=1e-8)
    elif verdict.status == "not recoverable":
        assert_two_models_look_the_same(verdict)


def verdicts(graphs: int, seed: int, hidden_share: float = 0.08) -> Counter[str]:
    counts: Counter[str] = Counter()
    for at in range(graphs):
        rng = np.random.default_rng([seed, at])
        graph = random_graph(rng, 3, hidden_share, selects=True)
        if len(graph.hidden) > 4:
            continue
        names = [str(name) for name in rng.permutation(graph.network.variables)]
        do = names[2:] if at % 2 else []
        for population in ([], names[:1]):
            verdict = recover(graph, names[:1], names[1:2], do, population=population)
            assert_sound(graph, verdict, rng)
            counts[verdict.status] += 1
        by_cause = graph.selection or ()
        verdict = recover(graph, names[:1], population=[str(name) for name in by_cause])
        assert_sound(graph, verdict, rng)
        counts[verdict.status] += 1
    return counts


def test_verdicts_under_selection_are_sound() -> None:
    counts = verdicts(20, 0)
    assert min(counts["recoverable"], counts["not recoverable"]) >= 5


@pytest.mark.slow
def test_verdicts_under_selection_are_sound_in_many_graphs() -> None:
    counts = verdicts(400, 1)
    assert counts["undecided"] < 0.1 * counts.total(), counts


def test_implications_hold_among_the_rows_that_were_recorded() -> None:
    # Age and Test decide on selection: among recorded rows they depend on each other.
    network = Network({n: ["0", "1"] for n in "ABC"}, {"C": ["A"]})
    free = MissingnessGraph.parse("A -> R[C]", network)
    chosen = MissingnessGraph.parse("A -> R[C]; A, B -> R[*]", network)
    assert any({i.one, i.two} == {"B", Mechanism("C")} and not i.given for i in implications(free))
    (found,) = [i for i in implications(chosen) if {i.one, i.two} == {"B", Mechanism("C")}]
    assert found.given == ("A",)
    assert SELECTION in found.shown
    assert str(found).endswith("R[*]=1")
    assert never_testable(chosen)[0].startswith("R[*] depends on nothing else")


def test_the_full_law_of_selected_rows_is_not_that_of_all() -> None:
    verdict = BY_AGE.recover_full_law()
    assert verdict.status == "not recoverable"
    assert "selection" in verdict.why
    by_chance = MissingnessGraph.parse("Ill -> R[Test]; R[*]", NETWORK)
    assert by_chance.recover_full_law().status == "recoverable"


def test_em_gives_what_a_selection_leaves_from_the_law_of_the_recorded_rows() -> None:
    # A and B are independent, and not among the rows recorded: EM without R[*] is biased.
    network = Network({name: ["0", "1"] for name in "ABC"}, {"C": ["A", "B"]})
    graph = MissingnessGraph.parse("A, B -> R[*]; C -> R[A]", network)
    by_both = np.array([[[0.1, 0.9], [0.9, 0.1]], [[0.9, 0.1], [0.1, 0.9]]])
    model = random_model(graph, np.random.default_rng(0), {SELECTION: by_both})
    law, truth = model.manifest(), model.truth(["C"], ["A", "B"])
    to_the_end = {"tolerance": 1e-11, "max_iterations": 20_000, "restarts": 1}
    found = learn(network, law, EM(missingness=graph, **to_the_end), pseudo_counts=0)
    np.testing.assert_allclose(found.network.cpt("C").table, truth, rtol=0, atol=1e-7)
    plain = learn(network, law, EM(**to_the_end), pseudo_counts=0)
    assert np.abs(plain.network.cpt("C").table - truth).max() > 0.05
    assert found.families["C"].warnings == ()
    for name in "AB":
        assert found.families[name].warnings[0].startswith("not recoverable")


def test_the_likelihood_of_em_is_that_given_that_rows_were_recorded() -> None:
    network = Network({name: ["0", "1"] for name in "AB"}, {"B": ["A"]})
    graph = MissingnessGraph.parse("A, B -> R[*]", network)
    law = random_model(graph, np.random.default_rng(1)).manifest()
    found = learn(network, law, EM(missingness=graph), pseudo_counts=0).ended
    shares = law.weights / law.total
    size = law.total**2 / float((law.weights**2).sum())  # weights count as so many rows
    entropy = float(size * (shares * np.log(shares)).sum())  # any law fits: all is open
    assert found.log_likelihood == pytest.approx(entropy, rel=1e-6)


def test_em_refuses_a_hidden_cause_of_selection() -> None:
    hidden = MissingnessGraph.parse("Age <-> R[*]; R[Ill]", NETWORK)
    with pytest.raises(LacunetError, match="decides"):
        augment(hidden, ("Ill",))


def test_the_identified_set_under_selection_holds_the_truth() -> None:
    model = random_model(BY_AGE, np.random.default_rng(2))
    found = BY_AGE.recover(["Ill"]).identified_set(model.manifest())
    truth = model.truth(["Ill"])
    assert (found.low - 1e-7 <= truth).all()
    assert (truth <= found.high + 1e-7).all()
    # Whatever the share of the young, P(Ill) lies between the two conditionals.
    given_age = np.sort(model.truth(["Ill"], ["Age"])[:, 1])
    np.testing.assert_allclose([found.low[1], found.high[1]], given_age, atol=1e-6)


def test_selection_is_simulated_and_undone() -> None:
    network = NETWORK.with_tables(
        {
            "Age": np.array([0.5, 0.5]),
            "Ill": np.array([[0.9, 0.1], [0.4, 0.6]]),
            "Test": np.array([[0.8, 0.1, 0.1], [0.1, 0.2, 0.7]]),
        }
    )
    graph = MissingnessGraph.parse("Age -> R[*]; Ill -> R[Test]", network)
    mechanisms = lc.MissingByGraph(graph, {"*": [0.1, 0.7], "Test": [0.2, 0.4]})
    drawn = lc.simulate(network, 20_000, mechanisms, rng=1)
    assert drawn.table.rows == pytest.approx(12_000, abs=5 * np.sqrt(20_000 * 0.24))
    assert drawn.complete.rows == 20_000
    table = drawn.table
    ill = float((table.columns["Ill"] == 1).mean())
    assert ill == pytest.approx(0.75 * 0.1 + 0.25 * 0.6, abs=0.02)  # of those recorded
    verdict = graph.recover(["Ill"], population=["Age"])
    found = verdict.estimate(table, population={"Age": [0.5, 0.5]})
    assert found.probabilities[1] == pytest.approx(
        0.35, abs=0.02
    )  # of all: four standard errors are 0.018


def test_rows_of_a_frame_are_selected_with_all_their_columns() -> None:
    import pandas as pd

    graph = MissingnessGraph.parse("Age -> R[*]", NETWORK)
    frame = pd.DataFrame(
        {"Age": ["young", "old"] * 20, "Ill": ["no"] * 40, "Test": ["0"] * 40, "id": range(40)}
    )
    kept = lc.hide(NETWORK, frame, lc.MissingByGraph(graph, {"*": [0.0, 1.0]}), rng=0)
    assert kept["Age"].tolist() == ["young"] * 20
    assert kept["id"].tolist() == list(range(0, 40, 2))


def test_drawn_selection_is_kept_as_json(tmp_path: Path) -> None:
    import json

    from lacunet.missingness.mechanism_cpts import parameters
    from lacunet.simulation.by_graph import read_missingness

    drawn = lc.MissingByGraph(BY_AGE).draw(NETWORK, np.random.default_rng(0))
    (tmp_path / "m.json").write_text(json.dumps(parameters(drawn)))
    again = read_missingness(tmp_path / "m.json", NETWORK)
    np.testing.assert_allclose(again.mechanisms["*"].missing, drawn.mechanisms["*"].missing)
    assert again.graph == BY_AGE


def test_the_parts_of_selected_rows_bring_the_unrecorded_ones_of_their_own() -> None:
    made = augment(MissingnessGraph.parse("A -> R[*]", Network({"A": ["0", "1"]})), ())
    network = made.network
    sizes = {name: network.cardinality(name) for name in network.variables}
    recorded = {made.selection: np.ones(8, np.uint8), "A": np.arange(8, dtype=np.uint8) % 2}
    one = compile_problems(network, EncodedTable(sizes, recorded))
    lost = {made.selection: np.zeros(1, np.uint8), "A": np.full(1, 2, np.uint8)}
    unrecorded = engine_of(compile_problems(network, EncodedTable(sizes, lost)), 1e8)

    def selected(problems: Problems) -> Engine:
        return replace(engine_of(problems, 1e8), unrecorded=unrecorded)

    cells = random_cells(CptRows.of(one.layout), np.random.default_rng(2))
    whole, two = selected(one), selected(one.sampled(np.array([[0.25], [0.75]])))
    expected = whole.log_likelihoods(cells) * [0.25, 0.75]
    np.testing.assert_allclose(two.log_likelihoods(cells), expected, rtol=1e-12)
    found = two.expect(cells)
    np.testing.assert_allclose(found.log_likelihoods, expected, rtol=1e-12)
    np.testing.assert_allclose(found.counts, whole.expect(cells).counts, rtol=1e-12)


CHOSEN = lc.Network({"Age": ["young", "old"], "Ill": ["no", "yes"]}, {"Ill": ["Age"]})
RECORDED = {
    "Age": ["young"] * 60 + ["old"] * 40,
    "Ill": ["no"] * 40 + ["yes"] * 20 + ["no"] * 10 + ["yes"] * 20 + [None] * 10,
}


@pytest.mark.parametrize("method", ["informed-direct", "informed-factored"])
def test_informed_deletion_refuses_rows_that_are_a_selection(method: str) -> None:
    with pytest.raises(lc.LacunetError, match="selection"):
        lc.learn(CHOSEN, RECORDED, method, missingness="Age -> R[Ill]; Age -> R[*]")


def test_what_is_left_at_the_prior_is_not_known_and_is_said_to_be_so() -> None:
    graph = "Age -> R[Ill]; Age -> R[*]"
    result = lc.learn(
        CHOSEN, RECORDED, "mgraph", missingness=graph, otherwise="prior", intervals=True
    )
    np.testing.assert_array_equal(result.interval("Age"), [[0, 1], [0, 1]])
    assert result.interval("Ill")[0, 0, 0] > 0.4
    assert not any("no rows in their groups" in own for own in result.warnings)
    text = result.methods_text()
    assert "(Age)" in text
    assert "groups of rows had no data" not in text


@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")
@pytest.mark.parametrize("rows", [RECORDED, {**RECORDED, "Ill": ["no", "yes"] * 50}])
def test_results_say_that_rows_are_a_selection(rows: dict[str, list[str | None]]) -> None:
    result = lc.learn(CHOSEN, rows, "em", missingness="Age -> R[Ill]; Age -> R[*]")
    assert "recorded" in str(result)
    assert "Age -> R[*]" in result.methods_text()
    assert "relative frequencies" not in result.methods_text()


def test_the_rows_of_the_population_are_read_by_the_codes_of_the_network() -> None:
    network = Network(
        {"Age": ["young", "old"], "Ill": ["no", "yes"]},
        {"Ill": ["Age"]},
        codes={"Age": {1: "young", 2: "old"}},
    )
    verdict = MissingnessGraph.parse("Age -> R[*]", network).recover(["Ill"], population=["Age"])
    rows = {"Age": [1, 1, 1, 2, 2, 2], "Ill": ["no", "no", "yes", "no", "yes", "yes"]}
    census = pa.table({"Age": [1, 1, 1, 2]})
    # 3/4 are young, of whom 1/3 is ill; 1/4 are old, of whom 2/3 are.
    found = np.asarray(verdict.estimate(rows, population=census))
    np.testing.assert_allclose(found, [7 / 12, 5 / 12], rtol=1e-12)


def selected_and_hidden() -> tuple[lc.Data, np.ndarray, np.ndarray, np.ndarray]:
    """Weighted rows in which Age decides on being recorded, and Test may hide itself."""
    age, test = np.array([0.3, 0.7]), np.array([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]])
    recorded, shown = np.array([0.9, 0.2]), np.array([[0.5, 0.9, 0.4], [0.7, 0.6, 0.9]])
    cells = age[:, None] * recorded[:, None] * test
    rows = {
        "Age": ["young"] * 4 + ["old"] * 4,
        "Test": ["0", "1", "2", None] * 2,
        "w": np.column_stack([cells * shown, (cells * (1 - shown)).sum(axis=1)]).ravel(),
    }
    return lc.Data(pa.table(rows), weight="w"), age, test, shown


TESTED = Network({"Age": ["young", "old"], "Test": ["0", "1", "2"]}, {"Test": ["Age"]})


def test_the_identified_set_keeps_to_the_law_of_the_population() -> None:
    rows, age, test, shown = selected_and_hidden()
    graph = MissingnessGraph.parse("Age -> R[*]; Age, Test -> R[Test]", TESTED)
    verdict = graph.recover(["Test"], population=["Age"])
    assert (verdict.status, verdict.generic) == ("not recoverable", False)
    low = age @ (test * shown)  # Manski's bounds of each age, by the ages of everyone
    high = low + age @ (test * (1 - shown)).sum(axis=1)
    for law in ({"Age": age}, {"Age": {"old": 0.7, "young": 0.3}}):
        found = verdict.identified_set(rows, population=law)
        np.testing.assert_allclose(found.low, low, rtol=0, atol=1e-8)
        np.testing.assert_allclose(found.high, high, rtol=0, atol=1e-8)
    alone = verdict.identified_set(rows)  # without it, any ages
    assert (alone.low < low - 0.01).all()
    assert (alone.high > high + 0.01).all()
    with pytest.raises(LacunetError, match="population"):
        verdict.identified_set(rows, population={"Age": [0.0, 1.0]})


def test_the_law_of_the_population_may_identify_a_query_for_the_states_at_hand() -> None:
    network = Network({"Age": ["young", "old"], "Ill": ["no", "yes"]}, {"Ill": ["Age"]})
    graph = MissingnessGraph.parse("Age -> R[*]; Ill -> R[Ill]", network)
    model = random_model(graph, np.random.default_rng(0))
    verdict = graph.recover(["Ill"], population=["Age"])
    assert (verdict.status, verdict.generic) == ("not recoverable", True)
    assert graph.recover(["Ill"]).generic is False
    found = verdict.identified_set(model.manifest(), population={"Age": model.truth(["Age"])})
    np.testing.assert_allclose([found.low, found.high], [model.truth(["Ill"])] * 2, atol=1e-7)
    assert "identified_set(data, population=...)" in str(verdict)


def test_assumptions_know_of_the_population_and_of_what_decides_on_selection() -> None:
    rows, age, test, shown = selected_and_hidden()
    graph = MissingnessGraph.parse("Age -> R[*]; Age -> R[Test]", TESTED)
    verdict = graph.recover(["Test"], population=["Age"])
    found = verdict.assumptions(rows, population={"Age": age})
    by_formula = verdict.estimate(rows, population={"Age": age})
    np.testing.assert_allclose([found.low, found.high], [by_formula, by_formula], atol=1e-8)
    edges = {one.edge: one for one in found.assumptions}
    low = age @ (test * shown)
    np.testing.assert_allclose(edges["Test -> R[Test]"].low, low, rtol=0, atol=1e-8)
    np.testing.assert_allclose(edges["Test -> R[*]"].high, 1, rtol=0, atol=1e-6)
    assert edges["Test -> R[*]"].degrees_of_freedom == 0


def test_states_that_are_numbers_are_read_as_rows_or_by_their_names() -> None:
    network = Network({"Age": ["0", "1"], "Ill": ["no", "yes"]}, {"Ill": ["Age"]})
    verdict = MissingnessGraph.parse("Age -> R[*]", network).recover(["Age"], population=["Age"])
    rows = {"Age": [0, 1, 1], "Ill": ["no", "yes", "no"]}
    np.testing.assert_allclose(verdict.estimate(rows, population={"Age": ["0", "1"]}), [0.5, 0.5])
    by_state = verdict.estimate(rows, population={"Age": {1: 0.9, 0: 0.1}})
    told = Network({"Old": ["True", "False"], "Ill": ["no", "yes"]}, {"Ill": ["Old"]})
    by_old = MissingnessGraph.parse("Old -> R[*]", told).recover(["Old"], population=["Old"])
    seen = {"Old": [True, False, False], "Ill": ["no", "yes", "no"]}
    np.testing.assert_allclose(by_old.estimate(seen, population={"Old": [True, False]}), [0.5, 0.5])
    np.testing.assert_allclose(by_state, [0.1, 0.9])
    with pytest.raises(MissingnessGraphError, match="state"):
        verdict.estimate(rows, population={"Age": {"0": 1.0}})


def test_no_model_goes_further_than_the_identified_set_under_selection() -> None:
    """A and B are independent among everyone: so A by B has rank one, once rows are weighted.

    For each odds of B, which rows of those recorded stand for how many is a linear program.
    """
    network = Network(
        {"A": ["0", "1", "2"], "B": ["0", "1"], "C": ["0", "1", "2"]}, {"C": ["A", "B"]}
    )
    graph = MissingnessGraph.parse("A, B -> R[C]; A, C -> R[*]", network)
    rng = np.random.default_rng(0)
    law = rng.dirichlet([3] * 3)[:, None, None] * rng.dirichlet([3] * 2)[:, None]
    law = law * rng.dirichlet([2] * 3, (3, 2)) * rng.uniform(0.2, 0.9, (3, 1, 3))  # recorded
    shown = rng.uniform(0.3, 0.9, (3, 2))
    cells = np.concatenate([law * shown[..., None], law.sum(axis=2)[..., None]], axis=2)
    cells[..., 3] *= 1 - shown
    codes = np.indices(cells.shape).reshape(3, -1).astype(np.uint8)
    table = EncodedTable(
        {"A": 3, "B": 2, "C": 3}, dict(zip("ABC", codes, strict=True)), cells.ravel()
    )
    found = graph.recover(["C"]).identified_set(table)
    odds = law[:, 1] / law[:, 0]
    lowest, highest = odds.min(axis=1).max(), odds.max(axis=1).min()
    for rho in np.linspace(lowest, highest, 40)[1:-1]:
        rows = np.zeros((4, 3, 3))
        rows[range(3), range(3)] = law[:, 1] - rho * law[:, 0]
        rows[3] = law.sum(axis=1)
        sides = np.array([0, 0, 0, 1.0])
        for state in range(3):
            aim = np.where(np.arange(3) == state, law.sum(axis=1), 0.0).ravel()
            for sign, end in ((1, found.low[state]), (-1, found.high[state])):
                reached = linprog(sign * aim, A_eq=rows.reshape(4, 9), b_eq=sides)
                assert reached.fun >= sign * end - 1e-6


def test_rows_that_are_completed_were_recorded(tmp_path: Path) -> None:
    """Among rows that were recorded, A says something of C beside B: both decide on R[*]."""
    network = Network(
        {"A": ["0", "1"], "B": ["no", "yes"], "C": ["0", "1"]},
        {"B": ["A"], "C": ["B"]},
        {"A": [0.4, 0.6], "B": [[0.8, 0.2], [0.3, 0.7]], "C": [[0.9, 0.1], [0.2, 0.8]]},
    )
    graph = MissingnessGraph.parse("A, C -> R[*]; B -> R[C]", network)
    recorded, shown = np.array([[0.9, 0.3], [0.2, 0.8]]), np.array([0.9, 0.5])
    law = network.cpt("A").table[:, None, None] * network.cpt("B").table[..., None]
    law = law * network.cpt("C").table * recorded[:, None]
    cells = np.concatenate([law * shown[:, None], law.sum(axis=2)[..., None]], axis=2)
    cells[..., 2] *= 1 - shown
    codes = np.indices(cells.shape).reshape(3, -1).astype(np.uint8)
    columns = dict(zip("ABC", codes, strict=True))
    table = EncodedTable({"A": 2, "B": 2, "C": 2}, columns, 1e6 * cells.ravel())
    result = learn(network, table, EM(missingness=graph), pseudo_counts=0.0)
    result.write(tmp_path / "result.json")
    truth = law / law.sum(axis=2)[..., None]  # P(C | A, B, R[*]=1)
    rows = pa.table({"A": ["0", "0", "1", "1"], "B": ["no", "yes"] * 2, "C": pa.nulls(4, "string")})
    for known in (result, lc.read_result(tmp_path / "result.json")):
        found = known.predict(rows, "C")
        by_row = np.column_stack([found["C=0"], found["C=1"]])
        np.testing.assert_allclose(by_row, truth.reshape(4, 2), rtol=0, atol=2e-3)
        one = known.predict({"A": "1", "B": "yes", "C": None}, "C")
        np.testing.assert_allclose(np.ravel([*one.values()]), by_row[3])
        assert known.impute(rows, how="most probable")["C"].to_pylist() == ["0", "1", "0", "1"]
        np.testing.assert_allclose(known.query("C", {"B": "no"}), known.cpt("C").table[0])
    alone = replace(result.network.mechanisms, cpt_of={})  # type: ignore[type-var]
    with pytest.warns(lc.LacunetWarning, match="selected"):
        result.network.with_mechanisms(alone).impute(rows, how="most probable")


def test_the_law_of_the_population_names_each_state_once_as_data_do() -> None:
    states = {"Age": ["1", "2", "3"], "Ill": ["no", "yes"]}
    network = Network(states, {"Ill": ["Age"]}, codes={"Age": {"old": "3"}})
    verdict = MissingnessGraph.parse("Age -> R[*]", network).recover(["Ill"], population=["Age"])
    rows = {"Age": [1, 1, 2, 2, 3, 3], "Ill": ["no", "no", "no", "yes", "yes", "yes"]}
    for law in ({1: 0.5, 2: 0.3, 3: 0.2}, {"old": 0.2, "2": 0.3, 1.0: 0.5}):
        found = np.asarray(verdict.estimate(rows, population={"Age": law}))
        np.testing.assert_allclose(found, [0.65, 0.35])  # .5 * 0 + .3 / 2 + .2 * 1
    for law in ({1: 0.5, 2: 0.5}, {1: 0.5, 2: 0.2, 3: 0.1, "old": 0.2}):
        with pytest.raises(MissingnessGraphError, match="state"):
            verdict.estimate(rows, population={"Age": law})
    with pytest.raises(LacunetError, match=r"'Age'.*'7'"):
        verdict.estimate(rows, population={"Age": {1: 0.5, 2: 0.2, 3: 0.1, 7: 0.2}})
