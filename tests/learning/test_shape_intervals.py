"""How sure CPTs are that are no full tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lacunet as lc
from lacunet.ask.impute.draws import parameter_draws
from lacunet.counts.em_problems.compile import compile_problems
from lacunet.data.table import EncodedTable
from lacunet.inference.engine import engine_of
from lacunet.learning.em.em_uncertainty import em_curvature, em_uncertainty
from lacunet.learning.pseudo_counts import pseudo_tables
from lacunet.learning.result import uncertainty_of
from lacunet.learning.uncertainty.rate_matrix import information, parts_of_parameters
from lacunet.learning.uncertainty.score_information import score_information
from lacunet.learning.uncertainty.shape_parameters import shape_parameters
from lacunet.network.network import FloatArray, Network
from lacunet.progress import silent

TWO, THREE = ("no", "yes"), ("none", "some", "much")
LINKS = np.array([0.1, 0.7, 0.4, 0.6])


def noisy_or() -> Network:
    network = Network(dict.fromkeys("ABCY", TWO), {"B": ["A"], "Y": ["A", "B", "C"]})
    network = network.with_shapes({"Y": "noisy-or"})
    tables = {
        "A": np.array([0.6, 0.4]),
        "B": np.array([[0.7, 0.3], [0.4, 0.6]]),
        "C": np.array([0.5, 0.5]),
        "Y": network.shaped_of["Y"].table(-np.log1p(-LINKS)),
    }
    return network.with_tables(tables)


def ordinal(shape: str = "ordinal") -> Network:
    states = {"A": THREE, "B": TWO, "Y": THREE}
    network = Network(states, {"B": ["A"], "Y": ["A", "B"]}).with_shapes({"Y": shape})
    parameters = [-0.7, 0.8, 0.5, 1.2, -0.9]
    if shape == "logistic":
        parameters = [0.2, 0.5, 1.0, -0.6, -0.3, 0.8, 1.5, 0.4]
    tables = {
        "A": np.array([0.3, 0.4, 0.3]),
        "B": np.array([[0.7, 0.3], [0.5, 0.5], [0.3, 0.7]]),
        "Y": network.shaped_of["Y"].table(np.array(parameters)),
    }
    return network.with_tables(tables)


NETWORKS = {"noisy-or": noisy_or(), "ordinal": ordinal(), "logistic": ordinal("logistic")}


def encoded(network: Network, rows: int, missing: float, seed: int) -> EncodedTable:
    rng = np.random.default_rng(seed)
    frame = network.sample(rows, rng=rng).to_dict("list")
    columns = {}
    for name, states in network.states_of.items():
        codes = np.array([states.index(value) for value in frame[name]], np.uint8)
        codes[rng.random(rows) < missing] = len(states)
        columns[name] = codes
    return EncodedTable(network.cardinality_of, columns)


def learned_em(network: Network, table: EncodedTable) -> tuple[Any, FloatArray, FloatArray]:
    plain = network.with_tables(None)
    method = lc.EM(tolerance=1e-12, max_iterations=10_000)
    result = lc.learn(plain, table, method, pseudo_counts=1)
    engine = engine_of(compile_problems(plain, table), 2**30)
    layout = engine.problems.layout
    cells = layout.flat(dict(result.network.tables_of or {}))
    return engine, cells, layout.flat(pseudo_tables(1.0, plain))


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_the_score_tells_the_same_of_full_tables_as_the_rate_matrix(missing: float) -> None:
    network = noisy_or().with_shapes({})
    engine, cells, pseudo = learned_em(network, encoded(network, 300, missing, 1))
    curvature = em_curvature(engine, cells, pseudo)
    parts = parts_of_parameters(engine.problems, curvature)
    by_rates = information(curvature, parts, silent)
    by_score = score_information(curvature, parts, silent)
    np.testing.assert_allclose(by_score, by_rates, atol=1e-5 * np.abs(by_rates).max())


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_the_variance_is_the_inverse_hessian_of_the_log_posterior(
    name: str, missing: float
) -> None:
    network = NETWORKS[name]
    table = encoded(network, 400, missing, 2)
    engine, cells, pseudo = learned_em(network, table)
    em = em_uncertainty(engine, cells, pseudo)
    assert em.is_at_maximum
    free = em.free
    (shape,) = free.shapes
    shaped = network.shaped_of["Y"]
    centre = shaped.parameters(cells[shape.cells].reshape(shaped.shape))

    def log_posterior(move: FloatArray) -> float:
        there = cells.copy()
        number = len(free.cell)
        np.add.at(there, free.cell, move[:number])
        np.subtract.at(there, free.reference, move[:number])
        parameters = centre.copy()
        parameters[shape.is_free] += move[number:]
        there[shape.cells] = np.ravel(shaped.table(parameters))
        likelihood = engine.expect(there).log_likelihoods.sum()
        seen = pseudo > 0
        return float(likelihood + pseudo[seen] @ np.log(there[seen]))

    number, step = free.number, 1e-3
    hessian = np.zeros((number, number))
    moves = step * np.eye(number)
    for i in range(number):
        for j in range(i + 1):
            corners = [
                a * b * log_posterior(a * moves[i] + b * moves[j]) for a in (1, -1) for b in (1, -1)
            ]
            hessian[i, j] = hessian[j, i] = sum(corners) / (4 * step**2)
    by_hand = np.linalg.inv(-hessian)
    # Fourth differences over a step of 1e-3 are off by about 1e-4 of the second.
    np.testing.assert_allclose(
        np.sqrt(np.diag(em.covariance)), np.sqrt(np.diag(by_hand)), rtol=2e-3
    )
    jacobian = shaped.derivative(centre).reshape(len(centre), -1)
    part = by_hand[-len(centre) :, -len(centre) :]
    variance = np.einsum("ic,ij,jc->c", jacobian, part, jacobian).reshape(shaped.shape)
    theta = cells[shape.cells].reshape(shaped.shape)
    in_rows = shaped.pseudo_counts.sum(axis=-1, keepdims=True)
    sizes = theta * (1 - theta) / variance - in_rows
    np.testing.assert_allclose(em.spread_of["Y"].sizes, sizes, rtol=6e-3)


def test_intervals_come_back_from_files(tmp_path: Path) -> None:
    network = noisy_or()
    table = encoded(network, 200, 0.3, 3)
    result = lc.learn(network.with_tables(None), table, "em", intervals=True)
    result.write(tmp_path / "result.json")
    again = lc.read_result(tmp_path / "result.json")
    question = "Y | A=yes"
    np.testing.assert_array_equal(again.query(question).interval, result.query(question).interval)


def test_a_cpt_row_that_nobody_shows_is_known_from_the_others() -> None:
    network = noisy_or()
    table = encoded(network, 600, 0.2, 4)
    all_causes = np.all([table.columns[name] == 1 for name in "ABC"], axis=0)
    columns = {name: column[~all_causes] for name, column in table.columns.items()}
    rows = EncodedTable(network.cardinality_of, columns)
    result = lc.learn(network.with_tables(None), rows, "em", intervals=True)
    low, high = result.interval("Y")[1, 1, 1, 1]
    assert low > 0.7
    assert high < 1.0
    assert low < network.cpt("Y").table[1, 1, 1, 1] < high


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("method", ["em", "direct-mar"])
def test_imputations_draw_tables_of_the_shape(name: str, method: str) -> None:
    network = NETWORKS[name]
    table = encoded(network, 200, 0.3, 5)
    result = lc.learn(network.with_tables(None), table, method, intervals=True)
    shaped, learned = network.shaped_of["Y"], result.network.cpt("Y").table
    for drawn in parameter_draws(result, 3, np.random.default_rng(1)):
        moved = drawn.cpt("Y").table
        np.testing.assert_allclose(shaped.table(shaped.parameters(moved)), moved, atol=1e-9)
        assert np.abs(moved - learned).max() > 1e-3


@pytest.mark.parametrize("method", ["em", "direct-mar"])
def test_links_and_odds_ratios_have_intervals(method: str) -> None:
    expected = {
        "noisy-or": LINKS,
        "ordinal": np.exp([-0.7, 0.8, 0.5, 1.2, -0.9]),
        "logistic": np.exp([0.2, 0.5, 1.0, -0.6, -0.3, 0.8, 1.5, 0.4]),
    }
    for name, network in NETWORKS.items():
        table = encoded(network, 1_000, 0.2, 7)
        result = lc.learn(network.with_tables(None), table, method, intervals=True)
        covariance = uncertainty_of(result).covariance
        told = shape_parameters(result.network, "Y", covariance, 0.999).parameters
        assert tuple(one.name for one in told) == network.shaped_of["Y"].parameter_names
        for one, truth in zip(told, expected[name], strict=True):
            assert one.interval is not None
            assert 0 < one.interval[0] < one.value < one.interval[1]
            assert one.interval[0] < truth < one.interval[1]
        by_value = [one.value for one in shape_parameters(result.network, "Y", None).parameters]
        assert by_value == [one.value for one in told]


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_bic_of_a_full_table_is_that_of_learning_it(
    name: str, missing: float, tmp_path: Path
) -> None:
    network = NETWORKS[name].with_tables(None)
    table = encoded(NETWORKS[name], 500, missing, 9)
    shaped = lc.learn(network, table, "em", intervals=True)
    logs, parameters = [], []
    for of_shape in (network, network.with_shapes({})):
        end = lc.learn(of_shape, table, lc.EM(tolerance=1e-9), pseudo_counts=0)
        assert end.ended is not None
        logs.append(end.ended.log_likelihood)
        parameters.append(of_shape.free_parameters)
    expected = 2 * (logs[0] - logs[1]) + (parameters[1] - parameters[0]) * np.log(500)
    told = shaped.parameters("Y")
    assert told.bic_gain == pytest.approx(expected, abs=0.02)
    assert told.full_parameters == parameters[1] - parameters[0] + len(told.parameters)
    if not missing:
        counted = lc.learn(network, table, "direct-mcar", intervals=True)
        assert counted.parameters("Y").bic_gain == pytest.approx(expected, abs=0.02)
    shaped.write(tmp_path / "result.json")
    assert lc.read_result(tmp_path / "result.json").parameters("Y").bic_gain == told.bic_gain
    assert lc.learn(network, table, "em").parameters("Y").bic_gain is None


@pytest.mark.parametrize("method", ["em", "auto", "direct-mcar", "listwise"])
def test_the_interval_of_an_odds_ratio_is_that_of_a_two_by_two_table(method: str) -> None:
    counts = np.array([[30, 10], [20, 40]])
    cells = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], counts.ravel(), axis=0)
    states = {"A": TWO, "Y": TWO}
    network = Network(states, {"Y": ["A"]}).with_shapes({"Y": "logistic"})
    table = EncodedTable({"A": 2, "Y": 2}, dict(zip("AY", cells.T.astype(np.uint8), strict=True)))
    result = lc.learn(network, table, method, intervals=True, pseudo_counts=0)
    ratio = shape_parameters(result.network, "Y", uncertainty_of(result).covariance).parameters[1]
    error = np.sqrt((1 / counts).sum())  # Woolf (1955)
    assert ratio.value == pytest.approx(6.0, rel=1e-6)
    assert ratio.interval is not None
    ends = 6.0 * np.exp(np.array([-1.959964, 1.959964]) * error)
    np.testing.assert_allclose(ratio.interval, ends, rtol=1e-5)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("method", ["direct-mcar", "listwise", "auto"])
def test_counted_rows_are_known_as_well_as_from_em(name: str, method: str) -> None:
    network = NETWORKS[name]
    table = encoded(network, 250, 0.0, 8)
    counted, by_em = (
        lc.learn(network.with_tables(None), table, way, intervals=True) for way in (method, "em")
    )
    np.testing.assert_allclose(counted.interval("Y"), by_em.interval("Y"), atol=2e-4)
    question = "A | Y=" + network.states("Y")[-1]
    ours, theirs = (result.query(question).interval for result in (counted, by_em))
    np.testing.assert_allclose(ours, theirs, atol=5e-4)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.filterwarnings("ignore:.*no data support:lacunet.LacunetWarning")
def test_few_rows_without_a_prior_have_intervals(name: str, seed: int) -> None:
    network = NETWORKS[name]
    table = encoded(network, 8 + 8 * seed, 0.4, seed)
    result = lc.learn(network.with_tables(None), table, "em", intervals=True, pseudo_counts=0)
    interval = result.interval("Y")
    entries = result.network.cpt("Y").table
    assert (interval[..., 0] <= entries).all()
    assert (entries <= interval[..., 1]).all()
    assert np.isfinite(result.query("Y").interval).all()


def test_a_wrong_shape_has_the_higher_bic() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 2, (2, 1000))
    y = a ^ b ^ (rng.random(1000) < 0.1)
    rows = {
        name: [TWO[code] for code in codes] for name, codes in zip("ABY", (a, b, y), strict=True)
    }
    for shape in ("noisy-or", "logistic"):
        result = lc.learn("A, B -> Y", rows, "em", shapes={"Y": shape}, intervals=True)
        gain = result.parameters("Y").bic_gain
        assert gain is not None
        assert gain < -100
        assert "lower by" in str(result.parameters("Y"))


def test_a_latent_variable_of_one_state_has_no_parameters() -> None:
    rng = np.random.default_rng(2)
    rows = {name: rng.choice(TWO, 60).tolist() for name in "ABCDX"}
    edges = "X -> K; K -> A; K -> B; K -> C; K -> D"
    data = lc.Data(rows, latent={"K": range(1, 3)})
    result = lc.learn(edges, data, shapes={"K": "logistic"})
    assert result.alternatives is not None
    for alternative in result.alternatives:
        assert "P(K" in str(alternative)
    with pytest.raises(lc.LacunetError, match="'K'"):
        result.alternatives[1].parameters("K")
    assert result.alternatives[2].parameters("K").shape == "logistic"


def test_a_fixed_cpt_is_shown_as_it_was_given() -> None:
    rows = {"A": ["no", "yes"] * 20, "B": ["no", "no", "yes", "yes"] * 10}
    known = lc.Fixed([[0.5, 0.5], [0.2, 0.8]])
    result = lc.learn("A -> B", rows, "em", shapes={"B": known}, intervals=True)
    assert "it was given" in str(result)
    assert result.families["B"].effective == "-"
    assert result.parameters("B").parameters == ()
    np.testing.assert_array_equal(result.interval("B")[..., 0], result.interval("B")[..., 1])
