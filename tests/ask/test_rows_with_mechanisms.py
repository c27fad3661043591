"""Completions under MNAR graphs, against the sum over all values and what goes missing."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lacunet as lc
from lacunet.ask.predict.rows_with_mechanisms import rows_with_mechanisms
from lacunet.data.read import read_table
from lacunet.inference.completions import draw_completions, most_probable
from lacunet.missingness.graph import MissingnessGraph
from lacunet.network.cpt import Cpt
from lacunet.network.mechanisms import Mechanisms
from lacunet.network.network import Network
from lacunet.network.nodes import Mechanism
from manifest_laws import Model, random_model
from strategies import random_rows

Row = dict[str, str | None]


@st.composite
def mnar(draw: st.DrawFn) -> tuple[Network, list[Row]]:
    """A network of 3 to 5 variables that hide each other and themselves, and rows of it."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    names = [f"V{at}" for at in range(int(rng.integers(3, 6)))]
    states = {name: [str(s) for s in range(int(rng.integers(2, 4)))] for name in names}
    parents = {name: [p for p in names[:at] if rng.random() < 0.5] for at, name in enumerate(names)}
    tables = {
        name: random_rows(rng, [len(states[v]) for v in (*parents[name], name)]) for name in names
    }
    network = Network(states, parents, tables)
    hiding = [name for name in names if rng.random() < 0.8] or names[:1]
    cpt_of: dict[str, Cpt] = {}
    for at, name in enumerate(hiding):
        others = [p for p in names if rng.random() < 0.4]
        others += [f"R[{other}]" for other in hiding[:at] if rng.random() < 0.3]
        sizes = [len(states[p]) if p in states else 2 for p in others]
        table = rng.uniform(0.1, 0.9, [*sizes, 1])
        cpt_of[name] = Cpt(f"R[{name}]", tuple(others), np.concatenate([table, 1 - table], -1))
    rows: list[Row] = []
    for _ in range(4):
        shown = {v: int(rng.integers(len(states[v]))) for v in names}
        rows.append(
            {v: None if v in hiding and rng.random() < 0.6 else states[v][shown[v]] for v in names}
        )
    return network.with_mechanisms(Mechanisms("", cpt_of)), rows


def completions(network: Network, row: Row, absent: frozenset[str]) -> dict[tuple[str, ...], float]:
    """The weight P(x, r) of every completion of a row, by definition."""
    assert network.mechanisms is not None
    weights = {}
    for states in product(*(network.states(name) for name in network.variables)):
        at = dict(zip(network.variables, states, strict=True))
        if any(row[name] not in (None, state) for name, state in at.items()):
            continue
        place = {name: network.state_index(name, state) for name, state in at.items()}
        weight = 1.0
        for cpt in network.cpts:
            weight *= cpt.table[tuple(place[name] for name in cpt.family)]
        nodes = [cpt for v, cpt in network.mechanisms.cpt_of.items()]
        free = [cpt.child for v, cpt in network.mechanisms.cpt_of.items() if v in absent]
        known = {
            cpt.child: int(row[v] is not None)
            for v, cpt in network.mechanisms.cpt_of.items()
            if v not in absent
        }
        total = 0.0
        for values in product((0, 1), repeat=len(free)):
            r = {**place, **known, **dict(zip(free, values, strict=True))}
            own = 1.0
            for cpt in nodes:
                own *= cpt.table[tuple(r[name] for name in cpt.family)]
            total += own
        weights[states] = weight * total
    return weights


def posterior(network: Network, weights: dict[tuple[str, ...], float], name: str) -> list[float]:
    place = network.variables.index(name)
    sums = dict.fromkeys(network.states(name), 0.0)
    for states, weight in weights.items():
        sums[states[place]] += weight
    return [value / sum(weights.values()) for value in sums.values()]


@settings(deadline=None)
@given(mnar())
def test_predictions_and_completions_are_those_of_the_full_law(
    case: tuple[Network, list[Row]],
) -> None:
    network, rows = case
    for at in range(len(rows) - 1, -1, -1):
        if not sum(completions(network, rows[at], frozenset()).values()):
            del rows[at]
    if not rows:
        return
    names = network.variables
    frame = {name: [row[name] for row in rows] for name in names}
    many = {name: own * 10 for name, own in frame.items()}  # more than are asked one by one
    whole = most_probable(*rows_with_mechanisms(network, read_table(frame, network)))
    for target in names:
        hidden = [{**row, target: None} for row in rows]
        few, batch = network.predict(frame, target), network.predict(many, target)
        predictor = network.compile(target)
        for at, row in enumerate(rows):
            # the target is no evidence, but whether the row shows it is
            weights = _as_shown(network, row, hidden[at])
            expected = posterior(network, weights, target)
            columns = [f"{target}={state}" for state in network.states(target)]
            np.testing.assert_allclose([few[c][at] for c in columns], expected, atol=1e-9)
            np.testing.assert_allclose([batch[c][at] for c in columns], expected, atol=1e-9)
            np.testing.assert_allclose(predictor(row)[target], expected, atol=1e-9)
    for at, row in enumerate(rows):
        weights = completions(network, row, frozenset())
        best = tuple(network.states(v)[whole.columns[v][at]] for v in names)
        np.testing.assert_allclose(weights[best], max(weights.values()), rtol=1e-9)


def _as_shown(network: Network, row: Row, hidden: Row) -> dict[tuple[str, ...], float]:
    """The weights of what completes a row with a target hidden, its mechanism as it was."""
    weights: dict[tuple[str, ...], float] = {}
    for states in completions(network, hidden, frozenset()):
        at = dict(zip(network.variables, states, strict=True))
        own = {v: at[v] if row[v] is not None else None for v in network.variables}
        weights[states] = completions(network, own, frozenset())[states]
    return weights


def test_a_variable_without_a_column_was_not_hidden_by_its_mechanism() -> None:
    fair = np.array([[0.9, 0.1], [0.1, 0.9]])
    network = Network(
        {"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]}, {"A": [0.5, 0.5], "B": [[0.8, 0.2]] * 2}
    ).with_mechanisms(Mechanisms("", {"B": Cpt("R[B]", ("B",), fair)}))
    for many in (1, 20):
        absent = network.predict({"A": ["0"] * many}, "B")
        np.testing.assert_allclose(absent["B=1"], 0.2)
        hidden = network.predict({"A": ["0"] * many, "B": [None] * many}, "B")
        np.testing.assert_allclose(hidden["B=1"], 0.2 * 0.1 / (0.2 * 0.1 + 0.8 * 0.9))


# X -> R[Y] and Y -> R[X]: where both are missing, P(Y = b) is .264 by the full law.
CROSSED = Network(
    {"X": ["a", "b"], "Y": ["a", "b"]},
    {"Y": ["X"]},
    {"X": [0.5, 0.5], "Y": [[0.7, 0.3], [0.3, 0.7]]},
)
MISSING_Y, MISSING_X = [0.8, 0.2], [0.6, 0.35]  # by X, by Y


def _crossed(rows: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    x = (rng.random(rows) < 0.5).astype(int)
    y = (rng.random(rows) < np.where(x == 1, 0.7, 0.3)).astype(int)
    gone_x = rng.random(rows) < np.array(MISSING_X)[y]
    gone_y = rng.random(rows) < np.array(MISSING_Y)[x]
    return {
        "X": [None if gone else "ab"[v] for v, gone in zip(x, gone_x, strict=True)],
        "Y": [None if gone else "ab"[v] for v, gone in zip(y, gone_y, strict=True)],
    }


@pytest.mark.filterwarnings("ignore::lacunet.errors.LacunetWarning")
def test_what_was_not_asked_was_not_hidden_by_its_mechanism() -> None:
    network = Network(
        {"Sex": ["f", "m"], "Smoked": ["no", "yes"], "Now": ["no", "yes", "not_asked"]},
        {"Smoked": ["Sex"], "Now": ["Smoked"]},
        {
            "Sex": np.array([0.5, 0.5]),
            "Smoked": np.array([[0.75, 0.25], [0.25, 0.75]]),
            "Now": np.array([[0, 0, 1], [0.5, 0.5, 0]]),
        },
        not_asked={"Now": "Smoked=no"},
    ).with_mechanisms(
        Mechanisms("", {"Now": Cpt("R[Now]", ("Sex",), np.array([[0.8, 0.2], [0.4, 0.6]]))})
    )
    rows: dict[str, list[str | None]] = {
        "Sex": [None, None],
        "Smoked": ["no", "yes"],
        "Now": [None, None],
    }
    found = network.predict(rows, "Sex")["Sex=f"]
    # P(f, no, shown) : P(m, no, shown), and P(f, yes, missing) : P(m, yes, missing)
    np.testing.assert_allclose(found, [3 * 0.2 / (3 * 0.2 + 0.6), 0.8 / (0.8 + 3 * 0.4)])
    for target in ("Sex", "Smoked"):
        predictor = network.compile(target)
        for at, expected in enumerate(
            network.predict(rows, target)[f"{target}={network.states(target)[0]}"]
        ):
            answer = predictor({name: own[at] for name, own in rows.items()})[target]
            np.testing.assert_allclose(answer.probabilities[0], expected, rtol=1e-12)


def test_a_result_learned_with_a_graph_completes_rows_by_it() -> None:
    graph = MissingnessGraph.parse("X -> R[Y]; Y -> R[X]", CROSSED)
    rows = _crossed(20_000, 1)
    result = lc.learn(CROSSED, rows, "em", missingness=graph)
    joint = np.array([[0.35, 0.15], [0.15, 0.35]])  # X, Y
    both = joint * np.array(MISSING_Y)[:, None] * np.array(MISSING_X)
    truth = both.sum(axis=0)[1] / both.sum()
    assert abs(truth - 0.264) < 0.005
    found = result.predict({"X": [None], "Y": [None]}, "Y")
    # 20,000 rows, of which about 4,900 miss both: the mechanisms' error is some .02
    assert abs(found["Y=b"][0] - truth) < 0.06
    plain = lc.learn(CROSSED, rows, "em")
    with pytest.warns(lc.LacunetWarning, match="assumes MAR"):
        assert abs(plain.predict({"X": [None], "Y": [None]}, "Y")["Y=b"][0] - truth) > 0.1
    (drawn,) = result.impute(rows, draws=1, rng=3, proper=False)
    empty = [at for at in range(20_000) if rows["X"][at] is None and rows["Y"][at] is None]
    share = np.mean([drawn["Y"][at] == "b" for at in empty])
    error = np.sqrt(truth * (1 - truth) / len(empty))
    assert abs(share - found["Y=b"][0]) < 4 * error


OBSERVED = Network(
    {"Age": ["y", "m", "o"], "Sex": ["f", "m"], "Ill": ["n", "i"], "Job": ["n", "j"]},
    {"Ill": ["Age"], "Job": ["Ill", "Sex"]},
)
OBSERVED_CAUSES = "Age -> R[Ill]; Age, Sex, R[Ill] -> R[Job]"


def _by_full_law(model: Model, row: Row, hidden: str) -> np.ndarray:
    """P(hidden | what else the row shows, what it misses), from the joint of values and R."""
    law = model.joint
    for axis, node in enumerate(model.nodes):
        if isinstance(node, Mechanism):
            law = law.take([int(row[node.variable] is not None)], axis)
        elif node != hidden and row[node] is not None:
            law = law.take([OBSERVED.states(node).index(str(row[node]))], axis)
    sums = law.sum(axis=tuple(at for at, node in enumerate(model.nodes) if node != hidden))
    return np.asarray(sums / sums.sum())


@pytest.mark.parametrize(
    ("method", "options"), [("em", {"tolerance": 1e-13, "max_iterations": 20_000}), ("mgraph", {})]
)
def test_mechanisms_whose_causes_all_rows_showed_are_evidence_about_these_causes(
    method: str, options: dict[str, Any], tmp_path: Path
) -> None:
    graph = MissingnessGraph.parse(OBSERVED_CAUSES, OBSERVED)
    model = random_model(graph, np.random.default_rng(8))
    law = model.manifest()
    result = lc.learn(OBSERVED, law, method, pseudo_counts=0.0, missingness=graph, **options)
    result.write(tmp_path / "kept.json")
    kept = lc.read_result(tmp_path / "kept.json")
    choices = [(*OBSERVED.states(name), None) for name in OBSERVED.variables]
    rows: list[Row] = [
        dict(zip(OBSERVED.variables, states, strict=True)) for states in product(*choices)
    ]
    frame = {name: [row[name] for row in rows] for name in OBSERVED.variables}
    for target in OBSERVED.variables:
        names = [f"{target}={state}" for state in OBSERVED.states(target)]
        predictor = kept.compile(target)
        found = kept.predict(frame, target)
        for at, row in enumerate(rows):
            expected = _by_full_law(model, row, target)
            np.testing.assert_allclose([found[name][at] for name in names], expected, atol=1e-9)
            np.testing.assert_allclose(predictor(row)[target], expected, atol=1e-9)
            if at % 8 == 0:
                few = kept.predict({name: [value] for name, value in row.items()}, target)
                np.testing.assert_allclose([few[name][0] for name in names], expected, atol=1e-9)


@pytest.mark.filterwarnings("ignore::lacunet.errors.LacunetWarning")
@pytest.mark.parametrize("method", ["em", "mgraph"])
def test_rows_that_show_all_causes_are_completed_as_without_mechanisms(method: str) -> None:
    # the old always answer, and without a prior it is impossible that they do not
    rows = {"Age": ["y"] * 6 + ["o"] * 4, "Ill": ["n", "n", "i", None, None, None, *"niii"]}
    network = Network({"Age": ["y", "o"], "Ill": ["n", "i"]}, {"Ill": ["Age"]})
    result = lc.learn(network, rows, method, missingness="Age -> R[Ill]", pseudo_counts=0.0)
    np.testing.assert_allclose(result.mechanisms["Ill"].table, [[0.5, 0.5], [0, 1]])
    plain = result.network.with_mechanisms(None)
    new = {"Age": ["y", "o"] * 10, "Ill": [None] * 20}
    assert result.impute(new, how="most probable") == plain.impute(new, how="most probable")
    drawn = result.impute(new, draws=2, rng=1, proper=False)
    assert drawn == plain.impute(new, draws=2, rng=1, proper=False)
    assert result.predict(new, "Ill") == plain.predict(new, "Ill")
    some = {"Age": ["o", None], "Ill": [None, None]}  # only the young do not answer
    assert result.impute(some, how="most probable") == {"Age": ["o", "y"], "Ill": ["i", "n"]}
    np.testing.assert_allclose(result.predict(some, "Age")["Age=y"], [1, 1])


@pytest.mark.parametrize("given_targets", [False, True])
def test_the_log_probability_of_a_row_is_that_of_the_cells_it_shows(given_targets: bool) -> None:
    network = CROSSED.with_mechanisms(
        Mechanisms(
            "X -> R[Y]; Y -> R[X]",
            {
                "X": Cpt("R[X]", ("Y",), np.array([[m, 1 - m] for m in MISSING_X])),
                "Y": Cpt("R[Y]", ("X",), np.array([[m, 1 - m] for m in MISSING_Y])),
            },
        )
    )
    rows: dict[str, list[str | None]] = {"X": ["a", "a", None, None], "Y": ["b", None, "b", None]}
    joint = np.array([[0.35, 0.15], [0.15, 0.35]])  # X, Y
    expected = [joint[0, 1], joint[0].sum(), joint[:, 1].sum(), 1.0]
    for target in "XY":
        found = network.predict(rows, target, give="log-probability", given_targets=given_targets)
        np.testing.assert_allclose(np.exp(found["log-probability"]), expected, rtol=1e-12)
    total = network.log_likelihood(rows)
    np.testing.assert_allclose(total, np.log(expected).sum(), rtol=1e-12)


def test_draws_follow_the_full_law() -> None:
    network = CROSSED.with_mechanisms(
        Mechanisms(
            "X -> R[Y]; Y -> R[X]",
            {
                "X": Cpt("R[X]", ("Y",), np.array([[m, 1 - m] for m in MISSING_X])),
                "Y": Cpt("R[Y]", ("X",), np.array([[m, 1 - m] for m in MISSING_Y])),
            },
        )
    )
    frame = {"X": [None] * 8000, "Y": [None] * 8000}
    table = read_table(frame, network)
    (drawn,) = draw_completions(*rows_with_mechanisms(network, table), 1, np.random.default_rng(5))
    weights = completions(network, {"X": None, "Y": None}, frozenset())
    shares = np.array(list(weights.values())) / sum(weights.values())
    codes = 2 * drawn.columns["X"].astype(int) + drawn.columns["Y"]
    counts = np.bincount(codes, minlength=4)
    statistic = float(((counts - 8000 * shares) ** 2 / (8000 * shares)).sum())
    assert statistic < 16.3  # 0.1% point of chi-square with 3 degrees of freedom
