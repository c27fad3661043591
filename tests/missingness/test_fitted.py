"""Mechanisms fitted to a table hide values as the table's are hidden."""

from __future__ import annotations

import pickle
import re
import warnings
from itertools import count
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lacunet as lc
from lacunet.data.table import Copies, EncodedTable
from lacunet.errors import LacunetError
from lacunet.inference.sampling import sample_codes
from lacunet.limits import timed_by
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.learned.from_rows import (
    _AllCountsAlone,
    fitted_mechanisms,
    learned_graph,
    observed_mechanisms,
    observed_parents,
)
from lacunet.missingness.learned.learn_missingness import learn_missingness
from lacunet.network.catalogue import example
from lacunet.network.network import Network
from lacunet.network.nodes import Mechanism
from lacunet.simulation.at_random import MAR
from lacunet.simulation.by_graph import MissingByGraph
from lacunet.simulation.simulate import hide_cells, simulate

FOUR = Network(
    {name: ["0", "1"] for name in "ABCD"},
    {"B": ["A"], "C": ["B"], "D": ["A"]},
    {
        "A": [0.4, 0.6],
        "B": [[0.7, 0.3], [0.2, 0.8]],
        "C": [[0.9, 0.1], [0.4, 0.6]],
        "D": [[0.5, 0.5], [0.1, 0.9]],
    },
)
ROWS = 20_000


def rows_hidden_by(text: str, tables: dict[str, object]) -> EncodedTable:
    graph = MissingnessGraph.parse(text, FOUR)
    return simulate(FOUR, ROWS, MissingByGraph(graph, tables), rng=np.random.default_rng(5)).table  # type: ignore[arg-type]


def test_mechanisms_are_learned_from_the_data_alone() -> None:
    rows = {"Age": ["young"] * 50 + ["old"] * 50, "Ill": ["no"] * 74 + ["yes"] + [None] * 25}
    alone = lc.learn_missingness(rows)
    assert str(alone) == str(lc.learn_missingness(rows, "Age -> Ill"))
    with pytest.raises(lc.LacunetError, match=r"learn_missingness\(data, edges\)"):
        lc.learn_missingness("Age -> Ill")


def test_the_causes_of_missing_values_are_found() -> None:
    table = rows_hidden_by("A -> R[C]; R[D]", {"C": [0.1, 0.7], "D": 0.3})
    fitted = fitted_mechanisms(FOUR, table)
    assert {name: one.parents for name, one in fitted.mechanisms.items()} == {"C": ("A",), "D": ()}
    # Four standard errors of a rate among the 8,000 rows or more of a group.
    np.testing.assert_allclose(fitted.mechanisms["C"].missing, [0.1, 0.7], atol=4 * 0.0056)
    np.testing.assert_allclose(fitted.mechanisms["D"].missing, 0.3, atol=4 * 0.0033)


def test_what_goes_missing_together_does_so_again() -> None:
    table = rows_hidden_by("A -> R[B]; R[B] -> R[C]", {"B": [0.2, 0.5], "C": [1.0, 0.0]})
    fitted = fitted_mechanisms(FOUR, table)
    assert fitted.mechanisms["C"].parents == (Mechanism("B"),)
    complete = sample_codes(FOUR, ROWS, np.random.default_rng(6))
    again = hide_cells(complete, fitted, np.random.default_rng(7))
    apart = (again.columns["B"] == 2) != (again.columns["C"] == 2)
    assert apart.mean() < 5 / ROWS  # one row's worth of the overall rate is mixed in


def test_new_rows_miss_as_much_given_the_same_causes() -> None:
    table = rows_hidden_by("A, B -> R[C]", {"C": [[0.1, 0.8], [0.5, 0.3]]})
    complete = sample_codes(FOUR, ROWS, np.random.default_rng(6))
    again = hide_cells(complete, fitted_mechanisms(FOUR, table), np.random.default_rng(7))
    for a in (0, 1):
        for b in (0, 1):
            rates = []
            for one in (table, again):
                group = (one.columns["A"] == a) & (one.columns["B"] == b)
                rates.append(float((one.columns["C"][group] == 2).mean()))
            # Four standard errors of the difference of two rates among 2,400 rows.
            assert abs(rates[0] - rates[1]) < 4 * (2 * 0.25 / 2400) ** 0.5


def test_the_simulated_data_are_missing_at_random() -> None:
    alarm = example("alarm")
    table = simulate(
        alarm, 5_000, MAR(share=0.3, beta=(1.0, 0.5)), rng=np.random.default_rng(3)
    ).table
    graph = fitted_mechanisms(alarm, table).graph
    assert graph.partially_observed == table.partially_observed
    assert graph.category() in ("MAR", "MCAR")


def test_counts_count_as_rows_would_and_weights_have_no_scale() -> None:
    table = rows_hidden_by("A -> R[C]", {"C": [0.1, 0.7]})
    numbers = np.random.default_rng(1).integers(1, 4, table.rows)
    counts = numbers.astype(float)
    counted = EncodedTable(
        table.cardinality_of, table.columns, counts, copies=Copies(counts, counts)
    )
    repeated = table.take(np.repeat(np.arange(table.rows), numbers))
    weighted = EncodedTable(table.cardinality_of, table.columns, counts)
    scaled = EncodedTable(table.cardinality_of, table.columns, 1500 * counts)
    for pair in ((counted, repeated), (weighted, scaled)):
        one, two = (fitted_mechanisms(FOUR, t).mechanisms["C"] for t in pair)
        assert one.parents == two.parents
        np.testing.assert_allclose(one.missing, two.missing, rtol=1e-12)


def test_data_in_which_nothing_is_always_shown_can_be_copied() -> None:
    columns = {name: np.array([0, 1, 2, 2], np.uint8) for name in "ABCD"}
    fitted = fitted_mechanisms(FOUR, EncodedTable(dict.fromkeys("ABCD", 2), columns))
    assert fitted.graph.partially_observed == tuple("ABCD")


def test_complete_data_give_no_mechanism() -> None:
    assert not fitted_mechanisms(FOUR, sample_codes(FOUR, 10, np.random.default_rng(0))).mechanisms


def test_no_rows_have_no_pattern() -> None:
    with pytest.raises(LacunetError, match="no rows"):
        fitted_mechanisms(FOUR, sample_codes(FOUR, 0, np.random.default_rng(0)))


def test_few_rows_are_warned_of_in_the_words_of_the_diagnosis() -> None:
    few = "a graph learned from 4,000 rows is not reliable (about 5,000 are needed)"
    young, old = [("young", "no"), (None, "yes")], [("old", None), ("old", "yes")]
    rows = dict(
        zip(["Age", "Ill"], map(list, zip(*(young + old) * 1000, strict=True)), strict=True)
    )
    with pytest.warns(lc.LacunetWarning, match=re.escape(few)):
        lc.learn_missingness(rows)
    assert few in str(lc.diagnose(rows))
    many = {name: cells * 2 for name, cells in rows.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lc.learn_missingness(many)


def test_learned_causes_say_where_they_come_from() -> None:
    table = rows_hidden_by(
        "B -> R[C]; A -> R[B]; R[D]", {"C": [0.1, 0.7], "B": [0.3, 0.6], "D": 0.3}
    )
    graph = learn_missingness(table, FOUR)
    assert graph.causes == {"B": ("A",), "C": ("B",), "D": ()}
    assert graph.category() == "MNAR"
    origin = graph.origin_of["B", "C"]
    assert origin.source == "learned"
    assert origin.p_value < 1e-16
    assert (
        str(graph).splitlines()[0].startswith("# whether a value is missing because of what it is")
    )
    assert "B -> R[C]" in str(graph)


def test_a_learned_graph_can_be_saved_edited_and_read_back(tmp_path: Path) -> None:
    table = rows_hidden_by("A -> R[C]; R[D]", {"C": [0.1, 0.7], "D": 0.3})
    graph = learn_missingness(table, FOUR)
    graph.write(tmp_path / "graph.txt")
    again = MissingnessGraph.read(tmp_path / "graph.txt", FOUR)
    assert again.causes == graph.causes
    assert pickle.loads(pickle.dumps(graph)).origin_of == graph.origin_of


def test_given_causes_stay_whatever_the_data_say() -> None:
    table = rows_hidden_by("A -> R[C]; R[D]", {"C": [0.1, 0.7], "D": 0.3})
    given = MissingnessGraph.parse("B -> R[D]; R[D] -> R[C]", FOUR)
    graph = learn_missingness(table, FOUR, given=given)
    assert graph.causes == {"C": ("A", Mechanism("D")), "D": ("B",)}
    assert graph.origin_of["B", "D"].source == "given"
    assert graph.origin_of["A", "C"].source == "learned"
    assert graph.origin_of["B", "D"].p_value > 1e-4


def test_a_cause_that_is_explained_by_others_is_taken_out_again() -> None:
    # B is most closely tied to R[D] at first, but A and C together decide.
    table = rows_hidden_by("A, C -> R[D]", {"D": [[0.1, 0.5], [0.5, 0.9]]})
    assert learn_missingness(table, FOUR).causes == {"D": ("A", "C")}


def test_a_cause_that_pays_only_beside_one_that_is_gone_is_gone_too() -> None:
    chain = Network(
        {name: ["0", "1"] for name in "ABC"},
        {"B": ["A"], "C": ["B"]},
        {"A": [0.5, 0.5], **{name: [[0.8, 0.2], [0.3, 0.7]] for name in "BC"}},
    )
    for seed in (1, 9, 11, 16):
        rows = simulate(chain, 5_000, "R[A]; A, C, R[A] -> R[B]", rng=seed).to_frame()
        graph = learn_missingness(rows, chain)
        assert all(own.p_value < 0.01 for own in graph.origin_of.values())


def test_the_mechanisms_that_informed_deletion_learns_look_at_what_is_always_shown() -> None:
    table = rows_hidden_by("A -> R[C]; B -> R[D]", {"C": [0.1, 0.7], "D": [0.2, 0.6]})
    assert observed_parents(FOUR, table) == {"C": ("A",), "D": ("B",)}
    assert observed_mechanisms(FOUR, table).causes == {"C": ("A",), "D": ("B",)}


def test_a_value_given_to_hide_itself_stays_though_it_cannot_be_tested() -> None:
    table = rows_hidden_by("C -> R[C]; A -> R[C]", {"C": [[0.1, 0.5], [0.5, 0.8]]})
    graph = learn_missingness(table, FOUR, given=MissingnessGraph.parse("C -> R[C]", FOUR))
    assert set(graph.causes["C"]) >= {"A", "C"}
    assert str(graph.origin_of["C", "C"]) == "given, cannot be tested"


def test_a_variable_that_no_row_shows_is_no_cause_and_no_error() -> None:
    columns = {"C": np.full(60, 2, np.uint8)}
    table = rows_hidden_by("A -> R[D]", {"D": [0.1, 0.7]}).take(np.arange(60))
    hidden = EncodedTable(table.cardinality_of, {**table.columns, **columns})
    assert learn_missingness(hidden, FOUR).causes["C"] == ()


def test_a_graph_that_took_too_long_is_refused() -> None:
    table = rows_hidden_by("A -> R[C]; R[D]", {"C": [0.1, 0.7], "D": 0.3})
    assert lc.learn_missingness(table, FOUR, time_limit=600.0).causes["C"] == ("A",)
    ticks = count()
    with timed_by(lambda: float(next(ticks))), pytest.raises(LacunetError, match=r"0\.5"):
        lc.learn_missingness(table, FOUR, time_limit=0.5)


@pytest.mark.parametrize("time_limit", [0, -1.0, "1"])
def test_a_time_limit_is_a_positive_number(time_limit: object) -> None:
    with pytest.raises(LacunetError, match=f"time_limit is {time_limit!r}"):
        lc.learn_missingness({}, FOUR, time_limit=time_limit)  # type: ignore[arg-type]


def test_all_that_a_given_graph_says_stays(tmp_path: Path) -> None:
    table = rows_hidden_by("R[B]; A, R[B] -> R[C]", {"B": 0.3, "C": [[0.6, 0.1], [0.9, 0.7]]})
    text = "R[C] -> R[B]; B -> R[D]; A -> R[*]; A <-> R[C]; R[B] <= R[C]"
    given = MissingnessGraph.parse(text, FOUR)
    graph = learn_missingness(table, FOUR, given=text)  # R[B] -> R[C] would close a cycle
    assert graph.causes == {"B": ("A", Mechanism("C")), "C": ("A",), "D": ("B",)}
    assert str(graph.origin_of["B", "D"]) == "given, cannot be tested"  # every value is shown
    for name in ("hidden", "selection", "monotone"):
        assert getattr(graph, name) == getattr(given, name)
    graph.write(tmp_path / "graph.txt")
    again = MissingnessGraph.read(tmp_path / "graph.txt", FOUR)
    assert again == MissingnessGraph(**given.parts | {"causes": dict(graph.causes)})


def test_a_latent_variable_has_no_mechanism() -> None:
    table = rows_hidden_by("A -> R[C]; R[D]", {"C": [0.1, 0.7], "D": 0.3})
    rows = {name: table.columns[name].astype(object) for name in "ABC"}
    rows["C"][rows["C"] == 2] = None
    graph = learn_missingness(lc.Data(rows, latent=["D"]), FOUR)
    assert (graph.causes, graph.latent) == ({"C": ("A",)}, ("D",))


def test_a_graph_comes_back_from_networkx_with_all_it_says() -> None:
    graph = MissingnessGraph.parse("R[C] <= R[B]; A -> R[*]; A <-> R[C]", FOUR).hiding(["D"])
    assert MissingnessGraph.from_networkx(graph.to_networkx(), FOUR) == graph


def test_rows_beyond_memory_are_warned_of_as_rows_within(tmp_path: Path) -> None:
    network = lc.Network({"Age": ["young", "old"], "Ill": ["no", "yes"]}, {"Ill": ["Age"]})
    rows = {"Age": ["young", "old"] * 500, "Ill": ["no", None, "yes", "no"] * 250}
    path = tmp_path / "rows.csv"
    pd.DataFrame({**rows, "Note": "a"}).to_csv(path, index=False)
    messages = []
    for memory in (None, 2**10):
        with pytest.warns(lc.LacunetWarning, match="Note") as warned:
            lc.learn_missingness(path, network, memory=memory)
        messages.append([str(warning.message) for warning in warned])
    assert messages[0] == messages[1]


def test_a_graph_learned_from_data_alone_serves_every_network_over_its_variables() -> None:
    hides = MissingByGraph("A -> R[B]", {"B": [0.1, 0.6]})
    chain = Network({x: ["n", "y"] for x in "ABC"}, {"B": ["A"], "C": ["B"]})
    rates = {"A": [0.5, 0.5], "B": [[0.8, 0.2], [0.3, 0.7]], "C": [[0.9, 0.1], [0.4, 0.6]]}
    rows = simulate(chain.with_tables(rates), 6000, hides, rng=3).to_frame()
    graph = learn_missingness(rows)
    assert not graph.network.edges
    for edges in ("A -> B -> C", "C -> B -> A"):
        network = Network.from_data(rows, edges)
        expected = lc.learn(network, rows, "em", missingness="A -> R[B]").network
        learned = lc.learn(network, rows, "em", missingness=graph).network
        recovered = lc.learn(network, rows, "mgraph", missingness=graph).network
        for name in network.variables:
            np.testing.assert_allclose(learned.cpt(name).table, expected.cpt(name).table)
            np.testing.assert_allclose(
                recovered.cpt(name).table, expected.cpt(name).table, atol=0.05
            )
        query = {"query": "P(B=y)", "mechanism": "B"}
        by_graph = lc.sensitivity(network, rows, missingness=graph, **query)
        by_text = lc.sensitivity(network, rows, missingness="A -> R[B]", **query)
        np.testing.assert_allclose(by_graph.answers, by_text.answers)


def test_a_graph_learned_beside_edges_is_refused_where_they_are_not() -> None:
    rows = rows_hidden_by("A -> R[B]", {"B": [0.1, 0.6]})
    graph = learn_missingness(rows, FOUR)
    with pytest.raises(LacunetError, match="another network: the parents"):
        graph.over(Network(FOUR.states_of))
    with pytest.raises(LacunetError, match="another network: the states"):
        graph.over(Network({name: ["0", "1", "2"] for name in FOUR.variables}))


def test_candidates_counted_at_once_are_chosen_as_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tables = {"B": [0.4, 0.1], "C": [0.1, 0.6], "D": [0.5, 0.1]}
    rows = rows_hidden_by("A -> R[B]; B -> R[C]; R[B] -> R[D]", tables).take(np.arange(3000))
    at_once = learned_graph(FOUR, rows)
    monkeypatch.setattr(_AllCountsAlone, "of", lambda _: None)
    assert sum(map(len, at_once.causes.values())) >= 3
    assert str(at_once) == str(learned_graph(FOUR, rows))


def test_a_variable_hidden_in_none_of_the_rows_that_parents_are_chosen_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lacunet.missingness.learned.from_rows.MOST_ROWS", 50)
    codes = np.random.default_rng(0).integers(0, 2, (3, 200)).astype(np.uint8)
    codes[1, 5] = 2  # every fourth row is looked at, and this is none of them
    codes[2, ::3] = 2
    table = EncodedTable(dict.fromkeys("ABC", 2), dict(zip("ABC", codes, strict=True)))
    network = Network({name: ["0", "1"] for name in "ABC"})
    assert observed_parents(network, table) == {"B": (), "C": ()}
    assert learned_graph(network, table).causes["B"] == ()
