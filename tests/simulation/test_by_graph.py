"""Mechanisms of a missingness graph follow the graph, hidden causes included."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, combinations, product
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy import stats

import lacunet as lc
from lacunet.errors import LacunetError, LacunetWarning
from lacunet.inference.sampling import SimulationError, sample_codes
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.learned.learn_missingness import learn_missingness
from lacunet.missingness.mechanism_cpts import Missingness, Parent, parameters
from lacunet.missingness.separation.mixed import HiddenCause
from lacunet.network.cpt import Cpt
from lacunet.network.mechanisms import Mechanisms
from lacunet.network.network import Network
from lacunet.network.nodes import Mechanism
from lacunet.simulation.at_random import MCAR
from lacunet.simulation.by_graph import MissingByGraph, read_missingness
from lacunet.simulation.simulate import Simulation, hide, hide_cells, simulate

NETWORK = Network(
    {"A": ["0", "1"], "B": ["0", "1", "2"], "C": ["0", "1"]},
    {"B": ["A"], "C": ["B"]},
    {
        "A": [0.4, 0.6],
        "B": [[0.5, 0.3, 0.2], [0.0, 0.9, 0.1]],
        "C": [[0.3, 0.7], [0.6, 0.4], [1.0, 0.0]],
    },
)

GRAPHS = [
    "R[A]",
    "A -> R[B]",
    "B -> R[B]",
    "B -> R[C]; C -> R[B]",
    "A -> R[B]; R[B] -> R[C]; B -> R[C]",
    "R[B] <-> R[C]",
    "B <-> R[C]",
    "B <-> R[B]",
    "B <-> R[C]; B <-> R[A]; A -> R[C]",
    "B <-> R[A]; B <-> R[B]; B <-> R[C]",
    "C <-> R[A]; A <-> R[C]; R[A] <-> R[C]; R[C] -> R[B]; A -> R[B]",
]


def drawn_from(text: str, seed: int = 31) -> Missingness:
    graph = MissingnessGraph.parse(text, NETWORK)
    return MissingByGraph(graph, beta=(2.0, 2.0)).draw(NETWORK, np.random.default_rng(seed))


def law(drawn: Missingness) -> tuple[list[Parent], np.ndarray]:
    """The law of variables, hidden causes and mechanisms, cell by cell from its factors."""
    coins = [one.cause for one in drawn.causes]
    nodes: list[Parent] = [*NETWORK.variables, *coins, *map(Mechanism, drawn.mechanisms)]
    sizes = [NETWORK.cardinality(node) if isinstance(node, str) else 2 for node in nodes]
    factors: list[tuple[Any, Any]] = [(cpt.family, cpt.table) for cpt in NETWORK.cpts]
    for node, parents, zero in [
        *((one.cause, one.parents, one.zero) for one in drawn.causes),
        *((one.node, one.parents, one.missing) for one in drawn.mechanisms.values()),
    ]:
        factors.append(((*parents, node), np.stack([zero, 1 - zero], axis=-1)))
    cells = np.ones(sizes)
    for cell in product(*map(range, sizes)):
        value_of = dict(zip(nodes, cell, strict=True))
        for family, table in factors:
            cells[cell] *= table[tuple(value_of[node] for node in family)]
    return nodes, cells


def marginal(nodes: list[Parent], cells: np.ndarray, kept: Sequence[Parent]) -> np.ndarray:
    """The marginal over some nodes, axes in their order."""
    gone = tuple(at for at, node in enumerate(nodes) if node not in kept)
    left = [node for node in nodes if node in kept]
    return np.transpose(cells.sum(axis=gone), [left.index(node) for node in kept])


@pytest.mark.parametrize("text", GRAPHS)
def test_hidden_causes_are_fair_coins_apart_from_each_other(text: str) -> None:
    nodes, cells = law(drawn_from(text))
    coins = [node for node in nodes if isinstance(node, HiddenCause)]
    joint = marginal(nodes, cells, [*coins])
    np.testing.assert_allclose(joint, np.full([2] * len(coins), 0.5 ** len(coins)), rtol=1e-12)


@pytest.mark.parametrize("text", GRAPHS)
def test_what_the_graph_separates_is_independent_in_the_law(text: str) -> None:
    drawn = drawn_from(text)
    nodes, cells = law(drawn)
    graph: Any = drawn.graph.to_networkx()
    assert set(nodes) == set(graph.nodes)
    for one, two in combinations(nodes, 2):
        others = [node for node in nodes if node not in (one, two)]
        for given in chain.from_iterable(combinations(others, k) for k in range(5)):
            if nx.is_d_separator(graph, {one}, {two}, set(given)):
                joint = marginal(nodes, cells, [*given, one, two])
                left = joint.sum(axis=-1, keepdims=True)
                right = joint.sum(axis=-2, keepdims=True)
                total = joint.sum(axis=(-2, -1), keepdims=True)
                np.testing.assert_allclose(joint * total, left * right, rtol=1e-9, atol=1e-15)


def shared(edge: str, tables: dict[str, list[float]]) -> np.ndarray:
    """The joint law of two nodes that share a hidden cause."""
    graph = MissingnessGraph.parse(edge, NETWORK)
    drawn = MissingByGraph(graph, tables).draw(NETWORK, np.random.default_rng(37))
    return marginal(*law(drawn), list(graph.hidden[0]))


def test_a_hidden_cause_tilts_a_variable_as_far_as_its_probabilities_allow() -> None:
    # P(A) = (0.4, 0.6): the coin falls on one side whenever A is 0, and so on that side in
    # 0.1 of the rows where A is 1. R[C] tells the coin.
    joint = shared("A <-> R[C]", {"C": [1.0, 0.0]})
    np.testing.assert_allclose(np.sort(joint, axis=1), [[0.0, 0.4], [0.1, 0.5]], atol=1e-15)


@pytest.mark.parametrize("edge", ["B <-> R[C]", "C <-> R[C]", "R[B] <-> R[C]"])
def test_a_hidden_cause_makes_what_it_joins_dependent(edge: str) -> None:
    joint = shared(edge, {"C": [1.0, 0.0]})
    apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    assert np.abs(joint - apart).max() > 0.05


@pytest.mark.parametrize("text", GRAPHS)
def test_counts_of_rows_and_patterns_agree_with_the_law(text: str) -> None:
    drawn, rows = drawn_from(text), 200_000
    rng = np.random.default_rng(32)
    complete = sample_codes(NETWORK, rows, rng)
    table = hide_cells(complete, drawn, rng)
    nodes, cells = law(drawn)
    seen = [node for node in nodes if not isinstance(node, HiddenCause)]
    columns = [
        complete.columns[node] if isinstance(node, str) else table.is_shown([node.variable])
        for node in seen
    ]
    expected = marginal(nodes, cells, seen) * rows
    found = np.zeros(expected.shape, int)
    np.add.at(found, tuple(np.asarray(column, int) for column in columns), 1)
    assert not found[expected < 1e-9].any()
    often = expected >= 5
    rest = expected[~often].sum()
    few = ([found[~often].sum()], [rest]) if rest > 5 else ([], [])
    in_all = [*expected[often], *few[1]]
    counted = [*found[often], *few[0]]
    # Scaled to the same total, since what is left out is left out on both sides.
    scaled = np.array(in_all) * sum(counted) / sum(in_all)
    assert stats.chisquare(counted, scaled).pvalue > 0.001


def test_given_tables_are_used_as_they_are() -> None:
    graph = MissingnessGraph.parse("A -> R[B]; R[B] -> R[C]", NETWORK)
    # B is missing where A is 1, and C exactly where B is not.
    missing = MissingByGraph(graph, {"B": [0.0, 1.0], "C": [0.0, 1.0]})
    rng = np.random.default_rng(33)
    complete = sample_codes(NETWORK, 1000, rng)
    table = hide_cells(complete, missing.draw(NETWORK, rng), rng)
    np.testing.assert_array_equal(table.is_shown(["B"]), complete.columns["A"] == 0)
    np.testing.assert_array_equal(table.is_shown(["C"]), complete.columns["A"] == 1)


def test_a_table_may_look_at_a_hidden_cause() -> None:
    graph = MissingnessGraph.parse("R[B] <-> R[C]", NETWORK)
    missing = MissingByGraph(graph, {"B": [0.0, 1.0], "C": [1.0, 0.0]})
    rng = np.random.default_rng(34)
    table = hide_cells(sample_codes(NETWORK, 1000, rng), missing.draw(NETWORK, rng), rng)
    assert (table.is_shown(["B"]) != table.is_shown(["C"])).all()
    assert stats.binomtest(table.missing_of["B"], 1000, 0.5).pvalue > 0.001


def test_tables_not_given_are_drawn_and_others_kept() -> None:
    graph = MissingnessGraph.parse("A -> R[B]; A -> R[C]", NETWORK)
    drawn = MissingByGraph(graph, {"B": [0.25, 0.5]}).draw(NETWORK, np.random.default_rng(35))
    assert drawn.mechanisms["B"].missing.tolist() == [0.25, 0.5]
    assert drawn.mechanisms["C"].missing.shape == (2,)


def test_names_that_look_like_mechanisms_are_told_apart() -> None:
    names = ["X", "R[X]", 'R["X"]', "X <-> R[X]"]
    odd = Network({n: ["0", "1"] for n in names}, {}, {n: [0.5, 0.5] for n in names})
    graph = MissingnessGraph(odd, {"X": ["R[X]"]}, [("X", Mechanism("X"))])
    missing = MissingByGraph(graph, {"X": [[0.0, 0.0], [1.0, 1.0]]})
    rng = np.random.default_rng(36)
    complete = sample_codes(odd, 500, rng)
    table = hide_cells(complete, missing.draw(odd, rng), rng)
    np.testing.assert_array_equal(table.is_shown(["X"]), complete.columns["R[X]"] == 0)


@pytest.mark.parametrize("text", GRAPHS)
def test_parameters_written_as_json_make_the_same_mechanisms_again(text: str) -> None:
    drawn = drawn_from(text)
    written = json.loads(json.dumps(parameters(drawn)))
    tables = {name: one["missing"] for name, one in written["mechanisms"].items()}
    graph = MissingnessGraph.parse(written["graph"], NETWORK)
    again = MissingByGraph(graph, tables).draw(NETWORK, np.random.default_rng(0))
    assert again.graph == drawn.graph
    assert list(again.mechanisms) == list(drawn.mechanisms)
    for name, one in drawn.mechanisms.items():
        assert again.mechanisms[name].parents == one.parents
        np.testing.assert_array_equal(again.mechanisms[name].missing, one.missing)


def test_parameters_name_what_a_mechanism_looks_at() -> None:
    graph = MissingnessGraph.parse("B, R[B] -> R[C]; A <-> R[C]", NETWORK)
    drawn = MissingByGraph(graph).draw(NETWORK, np.random.default_rng(0))
    written = parameters(drawn)
    assert written["mechanisms"]["C"]["parents"] == ["B", "R[B]", "A <-> R[C]"]  # type: ignore[index]
    assert written["hidden causes"]["A <-> R[C]"]["given"] == ["A"]  # type: ignore[index]


def test_what_does_not_fit_the_graph_is_refused() -> None:
    rng = np.random.default_rng(0)
    graph = MissingnessGraph.parse("A -> R[B]", NETWORK)
    with pytest.raises(SimulationError, match=r"\['C'\]"):
        MissingByGraph(graph, {"C": 0.5})
    with pytest.raises(SimulationError, match=r"\(3,\).*\['A'\] need \(2,\)"):
        MissingByGraph(graph, {"B": [0.1, 0.2, 0.3]}).draw(NETWORK, rng)
    with pytest.raises(SimulationError, match=r"R\[B\]"):
        MissingByGraph(graph, {"B": [0.1, np.nan]}).draw(NETWORK, rng)
    both = MissingnessGraph.parse("A <-> C; R[B]", NETWORK)
    with pytest.raises(SimulationError, match="'A' <-> 'C'"):
        MissingByGraph(both).draw(NETWORK, rng)
    bare = NETWORK.with_tables(None)
    shared = MissingnessGraph.parse("A <-> R[B]", bare)
    with pytest.raises(SimulationError, match="'A'"):
        MissingByGraph(shared).draw(bare, rng)


@pytest.mark.parametrize("text", GRAPHS)
def test_mechanisms_written_with_their_parameters_come_back_the_same(
    text: str, tmp_path: Path
) -> None:
    drawn = drawn_from(text)
    path = tmp_path / "mechanisms.json"
    path.write_text(json.dumps(parameters(drawn)))
    read = read_missingness(path, NETWORK)
    assert parameters(read) == parameters(drawn)
    rows = sample_codes(NETWORK, 50, np.random.default_rng(1))
    one, two = (hide_cells(rows, made, np.random.default_rng(2)) for made in (drawn, read))
    for name in NETWORK.variables:
        np.testing.assert_array_equal(one.columns[name], two.columns[name])


@pytest.mark.parametrize("missing", [MCAR(0.7), MissingByGraph("R[Smoked]; R[Now]")])
def test_mechanisms_of_what_was_not_asked_of_all_are_read_again(
    missing: MCAR | MissingByGraph, tmp_path: Path
) -> None:
    states = {"Smoked": ["no", "yes"], "Now": ["no", "yes", "not_asked"]}
    tables = {"Smoked": [0.5, 0.5], "Now": [[0, 0, 1], [0.5, 0.5, 0]]}
    network = Network(states, {"Now": ["Smoked"]}, tables, not_asked={"Now": "Smoked=no"})
    drawn = missing.draw(network, np.random.default_rng(0))
    path = tmp_path / "mechanisms.json"
    path.write_text(json.dumps(parameters(drawn)))
    read = read_missingness(path, network)
    assert parameters(read) == parameters(drawn)
    rows = sample_codes(network, 50, np.random.default_rng(1))
    one, two = (hide_cells(rows, made, np.random.default_rng(2)) for made in (drawn, read))
    for name in network.variables:
        np.testing.assert_array_equal(one.columns[name], two.columns[name])


@pytest.mark.parametrize("missing", [MCAR(0.7), "R[Smoked]; Ill -> R[Now]"])
def test_that_a_question_was_not_asked_is_shown_where_the_row_shows_why(missing: Any) -> None:
    network = Network(
        {"Smoked": ["no", "yes"], "Now": ["no", "yes", "not_asked"], "Ill": ["no", "yes"]},
        {"Now": ["Smoked"], "Ill": ["Now"]},
        {
            "Smoked": [0.5, 0.5],
            "Now": [[0.0, 0.0, 1.0], [0.5, 0.5, 0.0]],
            "Ill": [[0.5, 0.5], [0.2, 0.8], [0.9, 0.1]],
        },
        not_asked={"Now": "Smoked=no"},
    )
    drawn = simulate(network, 2_000, missing, rng=2)
    for frame in (drawn.to_frame(), hide(network, drawn.to_frame(complete=True), missing, rng=3)):
        is_shown = drawn.to_frame(complete=True)["Smoked"].eq("no") & frame["Smoked"].notna()
        assert 0 < is_shown.sum() < 2_000
        assert frame["Now"].eq("not_asked").equals(is_shown)


@pytest.mark.parametrize(
    "change",
    [
        {"mechanisms": {}},
        {"mechanisms": {"B": {"missing": "often"}}},
        {"mechanisms": {"B": {"missing": [[0.5], [0.5, 0.5]]}}},
        {"mechanisms": {"B": {"missing": [0.5, 2.0]}}},
        {"mechanisms": [1]},
        {"hidden causes": None},
        {"separator": 3},
        {"graph": "B -> R[Nobody]"},
    ],
)
def test_a_file_that_does_not_hold_mechanisms_is_refused(
    change: dict[str, object], tmp_path: Path
) -> None:
    path = tmp_path / "mechanisms.json"
    path.write_text(json.dumps(parameters(drawn_from("A -> R[B]")) | change))
    with pytest.raises(LacunetError):
        read_missingness(path, NETWORK)
    for text in ("[]", "{", "null", "[" * 100_000):
        path.write_text(text)
        with pytest.raises(SimulationError, match="mechanisms"):
            read_missingness(path, NETWORK)


def test_a_mechanism_below_another_that_has_no_further_cause_is_simulated() -> None:
    table = simulate(NETWORK, 500, "R[A] <= R[B]", rng=1).table
    hides_a, hides_b = ~table.is_shown(["A"]), ~table.is_shown(["B"])
    assert hides_b.any()
    assert hides_a[hides_b].all()


def test_latent_variables_of_a_graph_are_never_shown(tmp_path: Path) -> None:
    graph = MissingnessGraph.parse("A -> R[B]", NETWORK).hiding(["A"])
    drawn = simulate(NETWORK, 50, graph, rng=0)
    assert drawn.graph.latent == ("A",)
    assert drawn.table.missing_of["A"] == 50
    assert drawn.complete.missing_of["A"] == 0
    assert 0 < drawn.table.missing_of["B"] < 50
    frame = hide(NETWORK, drawn.to_frame(complete=True), graph, rng=0)
    assert frame["A"].isna().all()
    assert not frame["C"].isna().any()
    assert drawn.missingness is not None
    (tmp_path / "mechanisms.json").write_text(json.dumps(parameters(drawn.missingness)))
    again = read_missingness(tmp_path / "mechanisms.json", NETWORK)
    assert again.graph == drawn.graph


def test_two_mechanisms_of_one_variable_in_a_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "mechanisms.json"
    path.write_text(
        '{"graph": "R[A]", "mechanisms": {"A": {"missing": 0.1}, "A": {"missing": 0.9}}}'
    )
    with pytest.raises(SimulationError, match="'A'"):
        read_missingness(path, NETWORK)


TRIAL = Network(
    {"Arm": ["a", "b"], "Pain": ["no", "yes"], "Sleep": ["bad", "good"]},
    {"Pain": ["Arm"], "Sleep": ["Pain"]},
    {"Arm": [0.5, 0.5], "Pain": [[0.7, 0.3], [0.4, 0.6]], "Sleep": [[0.2, 0.8], [0.6, 0.4]]},
)
HIDES = MissingByGraph(
    "Arm -> R[Pain]; R[Pain], Arm -> R[Sleep]",
    {"Pain": [0.1, 0.5], "Sleep": [[0.9, 0.2], [0.6, 0.05]]},
)


def test_a_graph_that_was_learned_hides_values() -> None:
    trial = simulate(TRIAL, 8000, HIDES, rng=11)
    graph = lc.learn_missingness(trial.table, TRIAL)
    assert graph.origin_of
    again = simulate(lc.learn(TRIAL, trial.table), 100, missing=graph, rng=2)
    assert set(again.mechanisms) == {"Pain", "Sleep"}
    assert again.table.rows == 100
    assert set(again.table.partially_observed) == {"Pain", "Sleep"}
    hidden = hide(TRIAL, again.to_frame(complete=True), graph, rng=3)
    assert hidden["Arm"].notna().all()


@pytest.mark.parametrize("method", ["em", "mgraph"])
def test_mechanisms_of_a_result_hide_as_the_rows_did_that_it_was_learned_from(method: str) -> None:
    trial = simulate(TRIAL, 20_000, HIDES, rng=12)
    result = lc.learn(TRIAL, trial.table, method, missingness=trial.graph)
    mechanisms = result.network.mechanisms
    again = simulate(result, 20_000, missing=mechanisms, rng=13)
    for name, mechanism in trial.mechanisms.items():
        learned = again.mechanisms[name]
        assert set(learned.parents) == set(mechanism.parents)
        axes = [learned.parents.index(parent) for parent in mechanism.parents]
        np.testing.assert_allclose(learned.missing.transpose(axes), mechanism.missing, atol=0.03)
        # four standard errors of the difference of two shares of 20,000 rows
        shares = [table.missing_of[name] / table.rows for table in (trial.table, again.table)]
        assert abs(shares[0] - shares[1]) < 4 * np.sqrt(2 * 0.25 / 20_000)
    frame = hide(TRIAL, again.to_frame(complete=True), mechanisms, rng=14)
    assert abs(frame["Pain"].isna().mean() - shares_missing(trial, "Pain")) < 0.03


def shares_missing(simulation: Simulation, name: str) -> float:
    return simulation.table.missing_of[name] / simulation.table.rows


def test_mechanisms_that_select_rows_select_again() -> None:
    ages = Network({"Age": ["y", "o"]}, {}, {"Age": [0.5, 0.5]})
    recorded = Cpt("R[*]", ("Age",), np.array([[0.9, 0.1], [0.0, 1.0]]), (("y", "o"), ("0", "1")))
    drawn = simulate(ages, 1000, Mechanisms("Age -> R[*]", {"*": recorded}), rng=1)
    young = int((drawn.table.columns["Age"] == 0).sum())
    assert drawn.table.rows < 700
    assert 0 < young < 100


def test_mechanisms_of_another_network_or_not_learned_are_refused() -> None:
    trial = simulate(TRIAL, 2000, HIDES, rng=15)
    mechanisms = lc.learn(TRIAL, trial.table, "em", missingness=trial.graph).network.mechanisms
    other = Network(
        {"Arm": ["a", "b", "c"], "Pain": ["no", "yes"], "Sleep": ["bad", "good"]},
        {},
        {"Arm": [0.2, 0.3, 0.5], "Pain": [0.5, 0.5], "Sleep": [0.5, 0.5]},
    )
    with pytest.raises(SimulationError, match="'Arm'"):
        simulate(other, 10, mechanisms)
    left_out = replace(mechanisms, cpt_of={"Pain": mechanisms.cpt_of["Pain"]})
    with pytest.raises(SimulationError, match="Sleep"):
        simulate(TRIAL, 10, left_out)


LEARNED = Network(
    {name: ["n", "y"] for name in "ABC"},
    {"B": ["A"], "C": ["B"]},
    {"A": [0.5, 0.5], "B": [[0.8, 0.2], [0.3, 0.7]], "C": [[0.9, 0.1], [0.4, 0.6]]},
)


@pytest.mark.parametrize(
    ("text", "tables"),
    [
        ("A -> R[C]; R[B]", {"C": [0.05, 0.65], "B": 0.25}),
        ("B -> R[C]; R[B]", {"C": [0.7, 0.1], "B": 0.4}),  # a cause that is missing at times
        ("A -> R[B]; R[C] <= R[B]", {"B": [0.1, 0.5], "C": [1.0, 0.2]}),
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_learned_graph_hides_values_as_often_as_they_are_missing(
    text: str, tables: dict[str, Any]
) -> None:
    rows = simulate(LEARNED, 30_000, MissingByGraph(text, tables), rng=11)
    graph = learn_missingness(rows.to_frame())
    again = simulate(LEARNED, 30_000, graph, rng=12)
    assert again.graph.causes == rows.graph.causes
    for name, cpt in rows.mechanisms.items():
        np.testing.assert_allclose(again.mechanisms[name].missing, cpt.missing, atol=0.03)
    other = Network({name: ["n", "y"] for name in "CBA"}, {"A": ["B"]})
    hidden = hide(other, rows.to_frame(complete=True), graph, rng=13)
    shares = rows.to_frame().isna().mean()
    np.testing.assert_allclose(hidden.isna().mean()[shares.index], shares, atol=0.02)


@pytest.mark.parametrize("known", ["C -> R[C]", "B <-> R[C]", "R[B] -> R[C]; B -> R[C]"])
def test_strengths_that_the_rows_do_not_tell_are_drawn_with_a_warning(known: str) -> None:
    table = simulate(LEARNED, 6000, MissingByGraph("R[B]; R[C]", {"B": 0.3, "C": 0.3}), rng=4)
    graph = learn_missingness(table.to_frame(), LEARNED, given=known)
    with pytest.warns(LacunetWarning, match=r"how often R\[C\] hides"):
        drawn = simulate(LEARNED, 100, graph, rng=5)
    assert float(drawn.mechanisms["B"].missing) == pytest.approx(0.3, abs=0.03)
