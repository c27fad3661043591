"""CPTs that are one: what rows show of one wave, they show of all."""

from __future__ import annotations

import pickle
from itertools import pairwise, product

import numpy as np
import pytest

import lacunet as lc
from lacunet.network.errors import NetworkError
from lacunet.network.network import Network

WAVES = 4
STATES = ("a", "b", "c")
SIGNS = ("no", "yes")
HEALTH = [f"H{t}" for t in range(WAVES)]
SYMPTOM = [f"S{t}" for t in range(WAVES)]
FIRST = np.array([0.5, 0.3, 0.2])
MOVE = np.array([[0.8, 0.15, 0.05], [0.2, 0.6, 0.2], [0.05, 0.15, 0.8]])
SHOW = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])
METHODS = ["auto", "listwise", "direct-mcar", "direct-mar", "factored-mcar", "factored-mar", "em"]


def panel(*, tied: bool = True, tables: bool = False) -> Network:
    states = dict.fromkeys(HEALTH, STATES) | dict.fromkeys(SYMPTOM, SIGNS)
    parents = {after: [before] for before, after in pairwise(HEALTH)}
    parents |= {sign: [health] for sign, health in zip(SYMPTOM, HEALTH, strict=True)}
    cpts = dict.fromkeys(HEALTH, MOVE) | {"H0": FIRST} | dict.fromkeys(SYMPTOM, SHOW)
    network = Network(states, parents, cpts if tables else None)
    return network.with_ties([HEALTH[1:], SYMPTOM]) if tied else network


def rows_of(number: int, missing: float, seed: int) -> dict[str, list[str | None]]:
    rng = np.random.default_rng(seed)
    table = panel(tables=True).sample(number, rng=rng).to_dict("list")
    return {
        name: [None if rng.random() < missing else value for value in column]
        for name, column in table.items()
    }


@pytest.mark.parametrize("method", METHODS)
def test_complete_panels_are_counted(method: str) -> None:
    rows = rows_of(200, 0.0, 1)
    network = lc.learn(panel(), rows, method, pseudo_counts=0).network
    moves = np.zeros((3, 3))
    shows = np.zeros((3, 2))
    for row in zip(*(rows[name] for name in HEALTH + SYMPTOM), strict=True):
        health = [STATES.index(str(value)) for value in row[:WAVES]]
        signs = [SIGNS.index(str(value)) for value in row[WAVES:]]
        for before, after in pairwise(health):
            moves[before, after] += 1
        for state, sign in zip(health, signs, strict=True):
            shows[state, sign] += 1
    for name in HEALTH[1:]:
        by_hand = moves / moves.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(network.cpt(name).table, by_hand, atol=1e-12)
    for name in SYMPTOM:
        by_hand = shows / shows.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(network.cpt(name).table, by_hand, atol=1e-12)


def log_likelihood(
    rows: dict[str, list[str | None]], first: np.ndarray, move: np.ndarray, show: np.ndarray
) -> float:
    """The forward algorithm, person by person."""
    total = 0.0
    for person in range(len(rows["H0"])):
        forward = None
        for health, sign in zip(HEALTH, SYMPTOM, strict=True):
            forward = first if forward is None else forward @ move
            if (value := rows[health][person]) is not None:
                forward = forward * (np.array(STATES) == value)
            if (value := rows[sign][person]) is not None:
                forward = forward * show[:, SIGNS.index(value)]
        assert forward is not None
        total += float(np.log(forward.sum()))
    return total


def test_em_is_at_the_maximum_of_the_forward_algorithm() -> None:
    rows = rows_of(150, 0.3, 2)
    em = lc.EM(tolerance=1e-9, restarts=1)
    result = lc.learn(panel(), rows, em, pseudo_counts=0)
    network = result.network
    tables = [network.cpt(name).table for name in ("H0", "H1", "S0")]
    assert result.ended is not None
    assert result.ended.log_likelihood == pytest.approx(log_likelihood(rows, *tables), abs=1e-8)

    # No direction in which cells of a row change places leads up.
    step = 1e-5
    for number, table in enumerate(tables):
        for row in np.ndindex(table.shape[:-1]):
            for up, down in product(range(table.shape[-1]), repeat=2):
                if up == down or min(table[row][up], table[row][down]) < 1e-4:
                    continue
                ends = []
                for sign in (step, -step):
                    moved = [other.copy() for other in tables]
                    moved[number][row][up] += sign
                    moved[number][row][down] -= sign
                    ends.append(log_likelihood(rows, *moved))
                slope = (ends[0] - ends[1]) / (2 * step)
                assert abs(slope) < 1e-2, (number, row, up, down)


def test_intervals_by_the_model_are_those_of_the_hessian() -> None:
    """Of one binary chain whose likelihood is written down here."""
    names = ["A", "B", "C", "D"]
    rng = np.random.default_rng(5)
    stay = np.array([[0.8, 0.2], [0.3, 0.7]])
    rows: dict[str, list[str | None]] = {name: [] for name in names}
    for _ in range(400):
        state = int(rng.random() < 0.4)
        for name in names:
            rows[name].append(None if rng.random() < 0.3 else str(state))
            state = int(rng.random() < stay[state, 1])
    network = Network(
        {name: ["0", "1"] for name in names}, {"B": ["A"], "C": ["B"], "D": ["C"]}
    ).with_ties([["B", "C", "D"]])
    result = lc.learn(network, rows, lc.EM(tolerance=1e-10), pseudo_counts=0, intervals="model")

    def of(free: np.ndarray) -> float:
        first = np.array([1 - free[0], free[0]])
        move = np.array([[1 - free[1], free[1]], [1 - free[2], free[2]]])
        total = 0.0
        for row in zip(*rows.values(), strict=True):
            forward = first
            for place, value in enumerate(row):
                forward = forward if place == 0 else forward @ move
                if value is not None:
                    forward = forward * (np.arange(2) == int(value))
            total += np.log(forward.sum())
        return float(total)

    learned = result.network
    at = np.array([learned.cpt("A").table[1], *learned.cpt("B").table[:, 1]])
    hessian = np.zeros((3, 3))
    h = 1e-4
    for i, j in product(range(3), repeat=2):
        e, f = np.eye(3)[i] * h, np.eye(3)[j] * h
        hessian[i, j] = (of(at + e + f) - of(at + e - f) - of(at - e + f) + of(at - e - f)) / (
            4 * h * h
        )
    errors = np.sqrt(np.diag(np.linalg.inv(-hessian)))
    assert float(result.standard_error("A")[1]) == pytest.approx(errors[0], rel=2e-3)
    for name in ("B", "C", "D"):
        np.testing.assert_allclose(result.standard_error(name)[:, 1], errors[1:], rtol=2e-3)


@pytest.mark.parametrize("method", METHODS)
def test_replicates_are_of_rows(method: str) -> None:
    """Intervals of a tied CPT are narrower than those of one wave alone, and hold its estimate."""
    rows = rows_of(400, 0.0 if method == "listwise" else 0.2, 3)
    alone = lc.learn(panel(tied=False), rows, method, intervals=True)
    together = lc.learn(panel(), rows, method, intervals=True)
    low, high = np.moveaxis(together.interval("H2"), -1, 0)
    widths = np.diff(alone.interval("H2"), axis=-1)[..., 0]
    assert (high - low < widths).mean() > 0.7
    table = together.network.cpt("H2").table
    assert ((low <= table) & (table <= high)).all()
    np.testing.assert_array_equal(together.interval("H2"), together.interval("H1"))


def test_what_is_learned_keeps_its_ties(tmp_path) -> None:  # type: ignore[no-untyped-def]
    result = lc.learn(panel(), rows_of(100, 0.2, 4), intervals=True)
    result.write(tmp_path / "r.json")
    again = lc.read_result(tmp_path / "r.json")
    assert again.network == result.network
    assert again.network.tied == result.network.tied == (tuple(HEALTH[1:]), tuple(SYMPTOM))
    assert pickle.loads(pickle.dumps(result.network)) == result.network
    assert result.network.intervened({"H1": 0}).tied == (("H2", "H3"), tuple(SYMPTOM))


def test_streamed_rows_say_the_same(tmp_path) -> None:  # type: ignore[no-untyped-def]
    rows = rows_of(3000, 0.3, 6)
    path = tmp_path / "rows.csv"
    lines = [",".join(rows)]
    lines += [",".join(v or "" for v in row) for row in zip(*rows.values(), strict=True)]
    path.write_text("\n".join(lines) + "\n")
    whole = lc.learn(panel(), rows, "em", intervals=True)
    streamed = lc.learn(panel(), path, "em", intervals=True, memory="64MB")
    for name in panel().variables:
        np.testing.assert_allclose(
            streamed.network.cpt(name).table, whole.network.cpt(name).table, atol=1e-12
        )


def test_a_graph_learns_its_mechanisms_once() -> None:
    graph = "\n".join([*(f"R[{name}]" for name in ["H0", *SYMPTOM])])
    graph += "\n" + "\n".join(f"{name} -> R[{name}]" for name in HEALTH[1:])
    result = lc.learn(panel(), rows_of(300, 0.2, 7), "em", missingness=graph)
    tables = [result.mechanisms[name].table for name in HEALTH[1:]]
    np.testing.assert_array_equal(tables[0], tables[1])
    np.testing.assert_array_equal(tables[0], tables[2])


def test_free_parameters_are_counted_once() -> None:
    assert panel(tied=False).free_parameters == 2 + 3 * 6 + 4 * 3
    assert panel().free_parameters == 2 + 6 + 3


@pytest.mark.parametrize(
    ("groups", "named"),
    [
        ([["H0", "H1"]], "'H0' and 'H1'"),  # other parents
        ([["H1", "S0"]], "'H1' and 'S0'"),  # other states
        ([["H1", "H2"], ["H2", "H3"]], "'H2' is tied twice"),
        ([["H1", "Nobody"]], "Nobody"),
    ],
)
def test_families_that_do_not_correspond(groups: list[list[str]], named: str) -> None:
    with pytest.raises(NetworkError, match=named):
        panel(tied=False).with_ties(groups)
