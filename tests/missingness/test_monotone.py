"""Mechanisms that are never 1 without another: R[B] <= R[A]."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lacunet as lc
from lacunet.inference.sampling import SimulationError
from lacunet.missingness.errors import AgainstGraphError, MissingnessGraphError
from lacunet.missingness.graph import MissingnessGraph
from lacunet.network.network import Network
from lacunet.network.nodes import Mechanism
from manifest_laws import random_model

CHAIN = Network({"X": ["0", "1"], "Y": ["0", "1", "2"], "Z": ["0", "1"]}, {"Y": ["X"], "Z": ["Y"]})


def parsed(text: str) -> MissingnessGraph:
    return MissingnessGraph.parse(text, CHAIN)


def test_the_text_comes_back() -> None:
    graph = parsed("X -> R[X]; R[Z] <= R[Y] ≤ R[X]")
    assert graph.monotone == (("Y", "X"), ("Z", "Y"))
    assert Mechanism("X") in graph.causes["Y"]
    assert MissingnessGraph.parse(str(graph), CHAIN) == graph
    assert pickle.loads(pickle.dumps(graph)) == graph
    assert graph != parsed("X -> R[X]; R[X] -> R[Y] -> R[Z]")
    assert graph.hiding(["Z"]).monotone == graph.monotone


@pytest.mark.parametrize(
    "text", ["X <= R[Y]", "R[X] <= R[X]", "R[X] <= R[Y] <= R[X]", "R[X] <= R[*]", "R[X] <= R[Q]"]
)
def test_only_mechanisms_are_compared_and_not_in_a_circle(text: str) -> None:
    with pytest.raises(MissingnessGraphError):
        parsed(text)


def test_it_creates_and_destroys_what_can_be_recovered() -> None:
    # Both happen (arXiv 2411.03848); without the order the pair of mechanisms is recoverable.
    paper = "X -> R[Y]; Y -> R[X]"
    assert parsed(paper).recover(["X", "Y"]).status == "recoverable"
    assert parsed(f"{paper}; R[X] <= R[Y]").recover(["X", "Y"]).status == "not recoverable"
    drop_out = parsed("X -> R[Y]; R[Y] <= R[X]")
    assert drop_out.recover(["Y"]).status == "recoverable"
    assert "R[Y] <= R[X]" in drop_out.recover(["Y"]).why


def test_verdicts_are_sound_in_every_graph_of_three_variables() -> None:
    edges = ["X -> R[X]", "Y -> R[X]", "Z -> R[X]", "X -> R[Y]", "Y -> R[Y]", "Z -> R[Y]"]
    found: Counter[str] = Counter()
    for number, used in enumerate(product((False, True), repeat=6)):
        rng = np.random.default_rng(number)
        chosen = [edge for edge, is_used in zip(edges, used, strict=True) if is_used]
        graph = parsed("; ".join([*chosen, "R[Y] <= R[X]"]))
        for target, given, do in ((["Y"], [], []), (["X"], ["Y"], []), (["Z"], [], ["X"])):
            verdict = graph.recover(target, given, do)
            found[verdict.status] += 1
            model = random_model(graph, rng)
            if verdict.status == "recoverable":
                truth = model.truth(target, given, do)
                estimate = verdict.estimate_with_report(model.manifest()).table
                np.testing.assert_allclose(estimate, truth, rtol=0, atol=1e-8)
            elif verdict.witness is not None:
                for tables in (verdict.witness.one, verdict.witness.two):
                    submodel = verdict.witness.submodel
                    if (later := Mechanism("Y")) in tables and Mechanism("X") in tables:
                        axis = submodel.parents(later).index(Mechanism("X"))
                        assert (np.moveaxis(tables[later], axis, 0)[0][..., 1] == 0).all()
                assert verdict.witness.manifest_difference < 1e-12
                assert verdict.witness.query_difference > 1e-6
    assert found["recoverable"] > 30
    assert found["not recoverable"] > 30
    assert found["undecided"] < 30, found


def test_an_identified_set_holds_the_truth_and_is_a_point_where_the_states_identify_it() -> None:
    graph = MissingnessGraph.parse(
        "X -> R[Y]; Y -> R[X]; R[X] <= R[Y]", Network({n: ["0", "1"] for n in "XY"}, {"Y": ["X"]})
    )
    verdict = graph.recover(["Y"])
    model = random_model(graph, np.random.default_rng(1))
    found = verdict.identified_set(model.manifest())
    truth = model.truth(["Y"])
    assert (found.low - 1e-7 <= truth).all()
    assert (truth <= found.high + 1e-7).all()
    assert (found.width < 1e-6) is bool(verdict.generic)


def test_drop_out_is_simulated_and_undone() -> None:
    tables = {"X": [0.4, 0.6], "Y": [[0.7, 0.2, 0.1], [0.2, 0.3, 0.5]], "Z": [[0.5, 0.5]] * 3}
    network = CHAIN.with_tables({name: np.array(table) for name, table in tables.items()})
    graph = MissingnessGraph.parse("X -> R[Y]; R[Y] <= R[X]", network)
    missing = {"X": 0.3, "Y": [[1.0, 0.1], [1.0, 0.6]]}  # by X, then by R[X]
    rows = lc.simulate(network, 20_000, lc.MissingByGraph(graph, missing), rng=0).table
    shown = {name: rows.columns[name] < rows.cardinality_of[name] for name in "XY"}
    assert not (shown["Y"] & ~shown["X"]).any()
    estimate = graph.recover(["Y"]).estimate(rows)
    truth = network.query("Y")
    np.testing.assert_allclose(estimate, truth, rtol=0, atol=0.025)  # 4 standard errors of 0.006
    em = lc.learn(network, rows, lc.EM(missingness=graph))
    np.testing.assert_allclose(em.query("Y"), truth, rtol=0, atol=0.025)
    with pytest.raises(SimulationError, match=r"R\[Y\] <= R\[X\]"):
        lc.simulate(network, 10, lc.MissingByGraph(graph, {"Y": [[0.9, 0.1], [1.0, 0.6]]}), rng=0)


def test_rows_that_are_against_the_order_of_mechanisms_are_refused() -> None:
    network = Network({name: ["0", "1"] for name in "XY"}, {"Y": ["X"]})
    verdict = MissingnessGraph.parse("R[Y] <= R[X]", network).recover("P(Y | X)")
    kept = {"X": ["0", "1", "1", "1", None], "Y": ["0", "1", "0", None, None]}
    assert verdict.estimate(kept).probabilities.shape == (2, 2)
    against = {"X": ["0", "1", "1", None, None], "Y": ["0", "1", "0", "1", None]}
    for ask in (verdict.estimate, verdict.identified_set, verdict.assumptions):
        with pytest.raises(MissingnessGraphError, match=r"1 row.*'Y'.*'X'"):
            ask(against)


DROP_OUT = "X -> R[Y]; R[Y] <= R[X]"
AGAINST = {
    "X": ["0", "1", "1", None, None, "0", "1"] * 4,
    "Y": ["0", "1", "0", "2", None, "0", None] * 4,
    "Z": ["0", "1"] * 14,
}


@pytest.mark.parametrize("ask", [lc.learn, lc.explain])
@pytest.mark.parametrize("method", ["mgraph", "em", "auto"])
def test_no_method_takes_rows_that_are_against_the_order(
    ask: Callable[..., object], method: str
) -> None:
    with pytest.raises(AgainstGraphError, match=r"4 rows.*'Y'.*'X'"):
        ask(CHAIN, AGAINST, method, missingness=DROP_OUT)
    kept = {
        name: [v for v, y in zip(column, AGAINST["Y"], strict=True) if y != "2"]
        for name, column in AGAINST.items()
    }
    ask(CHAIN, kept, method, missingness=DROP_OUT)
    ask(CHAIN, AGAINST, method, missingness="X, R[X] -> R[Y]")


def test_closed_forms_on_a_graph_do_not_take_them_either() -> None:
    with pytest.raises(AgainstGraphError):
        lc.learn(CHAIN, AGAINST, "informed-factored", missingness="R[Y] <= R[X]")


def test_counted_rows_and_streams_tell_rows_that_are_against_the_order(tmp_path: Path) -> None:
    pd.DataFrame(AGAINST).to_csv(tmp_path / "rows.csv", index=False)
    counted = lc.count(CHAIN, AGAINST)
    for data, more in ((counted, {}), (tmp_path / "rows.csv", {"memory": 2_000_000})):
        with pytest.raises(AgainstGraphError, match="4 rows"):
            lc.learn(CHAIN, data, missingness=DROP_OUT, **more)


def test_a_latent_variable_is_never_shown_and_no_row_is_against_that() -> None:
    data = lc.Data({name: AGAINST[name] for name in "YZ"}, latent=["X"])
    assert lc.learn(CHAIN, data, "em", missingness="R[Y] <= R[X]").rows == 28


def test_only_answers_that_read_such_rows_are_refused() -> None:
    graph = parsed(DROP_OUT)
    np.testing.assert_allclose(graph.recover("P(X)").estimate(AGAINST), [0.4, 0.6])
    for query in ("P(Y)", "P(Z | Y)"):
        with pytest.raises(AgainstGraphError):
            graph.recover(query).estimate(AGAINST)
    against = "the graph says R[Y] <= R[X], but 4 rows show 'Y' and not 'X'"
    assert graph.check_data(AGAINST) == (against,)


def test_an_order_is_said_only_of_what_it_bears_on() -> None:
    graph = parsed("X -> R[Y]; R[Y] <= R[X]")
    assert "R[Y] <= R[X]" in graph.recover("P(Y | X)").why
    assert "<=" not in graph.recover("P(X)").why
    assert graph.recover("P(Z)").why.endswith("always observed")
