"""Shapes of CPTs: one set of laws for all of them, and what each refuses."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

import lacunet as lc
from lacunet.network.errors import NetworkError
from lacunet.network.network import FloatArray, Network
from lacunet.network.shapes.shape import Shaped
from lacunet.network.shapes.shape_names import SHAPES, shape_as_json, shape_from_json, shape_named

WORDS = {2: ("no", "yes"), 3: ("none", "some", "much"), 4: ("none", "some", "much", "most")}
RNG = np.random.default_rng
Draw = Callable[[np.random.Generator, int], FloatArray]


def thresholds_first(number: int) -> Draw:
    def draw(rng: np.random.Generator, size: int) -> FloatArray:
        steps = np.sort(rng.normal(0, 1.5, number)) + 0.3 * np.arange(number)
        return np.concatenate([steps, rng.normal(0, 0.8, size - number)])

    return draw


def normal(rng: np.random.Generator, size: int) -> FloatArray:
    return rng.normal(0, 0.8, size)


def increments(rng: np.random.Generator, size: int) -> FloatArray:
    return rng.exponential(0.6, size) + 0.05


@dataclass(frozen=True)
class Case:
    """A shape on a family: its sizes, the child last, and how parameters are drawn."""

    name: str
    sizes: tuple[int, ...]
    draw: Draw
    free: int

    @property
    def parents(self) -> tuple[str, ...]:
        return tuple(f"P{place}" for place in range(len(self.sizes) - 1))

    @property
    def states(self) -> tuple[tuple[str, ...], ...]:
        return tuple(WORDS[size] for size in self.sizes)

    @property
    def shape(self) -> Any:
        if self.name != "fixed":
            return self.name
        return lc.Fixed(RNG(11).dirichlet(np.ones(self.sizes[-1]), self.sizes[:-1]))

    @property
    def shaped(self) -> Shaped:
        return shape_named(self.shape).of("Y", self.parents, self.states)

    def truth(self, seed: int) -> FloatArray:
        return self.shaped.table(self.draw(RNG(seed), len(self.shaped.parameter_names)))

    def network(self, seed: int) -> Network:
        rng = RNG(seed)
        names = [*self.parents, "Y"]
        tables = {v: rng.dirichlet(np.full(k, 4.0)) for v, k in zip(names, self.sizes, strict=True)}
        return Network(
            dict(zip(names, self.states, strict=True)),
            {"Y": self.parents},
            tables | {"Y": self.truth(seed)},
        ).with_shapes({"Y": self.shape})

    def counts(self, seed: int) -> FloatArray:
        """Those of rows whose table has no shape."""
        return RNG(seed).exponential(4.0, self.sizes) + 0.1

    def __str__(self) -> str:
        return f"{self.name}-{'x'.join(map(str, self.sizes))}"


CASES = [
    Case("table", (2, 3, 3), normal, 12),
    Case("noisy-or", (2,), increments, 1),
    Case("noisy-or", (2, 2, 2, 2), increments, 4),
    Case("noisy-max", (2, 2, 2), increments, 3),
    Case("noisy-max", (2, 3, 2, 3), increments, 10),
    Case("noisy-max", (3, 4), increments, 9),
    Case("logistic", (3,), normal, 2),
    Case("logistic", (2, 3, 2, 3), normal, 10),
    Case("logistic", (4, 3, 2), normal, 6),
    Case("ordinal", (4,), thresholds_first(3), 3),
    Case("ordinal", (2, 3, 3, 2), thresholds_first(1), 6),
    Case("ordinal", (2, 3, 4), thresholds_first(3), 6),
    Case("fixed", (2, 3, 3), normal, 0),
]
every_case = pytest.mark.parametrize("case", CASES, ids=str)
every_learned_case = pytest.mark.parametrize("case", [c for c in CASES if c.free], ids=str)
seeds = pytest.mark.parametrize("seed", range(3))


def likelihood(counts: FloatArray, table: FloatArray) -> float:
    seen = counts > 0
    return float(counts[seen] @ np.log(table[seen]))


def by_finite_differences(function: Callable[[FloatArray], Any], place: FloatArray) -> FloatArray:
    """Along the first axis each parameter's derivative."""
    step = 1e-5
    moves = step * np.eye(len(place))
    return np.array([(function(place + m) - function(place - m)) / (2 * step) for m in moves])


@every_case
def test_free_parameters_are_counted(case: Case) -> None:
    assert len(case.shaped.parameter_names) == len(set(case.shaped.parameter_names)) == case.free
    states = dict(zip([*case.parents, "Y"], case.states, strict=True))
    network = Network(states, {"Y": case.parents}).with_shapes({"Y": case.shape})
    roots = sum(size - 1 for size in case.sizes[:-1])
    assert network.free_parameters == case.free + roots


@every_case
@seeds
def test_tables_are_distributions_and_have_their_parameters(case: Case, seed: int) -> None:
    shaped, table = case.shaped, case.truth(seed)
    np.testing.assert_allclose(table.sum(axis=-1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(shaped.table(shaped.parameters(table)), table, atol=1e-12)


@every_case
@seeds
def test_the_derivative_is_that_of_finite_differences(case: Case, seed: int) -> None:
    place = case.draw(RNG(seed), case.free)
    expected = by_finite_differences(case.shaped.table, place).reshape(-1, *case.sizes)
    np.testing.assert_allclose(case.shaped.derivative(place), expected, atol=1e-9)


@every_case
@seeds
def test_the_fit_is_at_a_maximum(case: Case, seed: int) -> None:
    shaped, counts = case.shaped, case.counts(seed)
    place = shaped.parameters(shaped.fit(counts))
    inside = shaped.is_inside(place)
    steps = 1e-5 * np.clip(np.abs(place), 0.01, 1.0)
    rises = [likelihood(counts, shaped.table(place + move)) for move in np.diag(steps)]
    falls = [likelihood(counts, shaped.table(place - move)) for move in np.diag(steps * inside)]
    slope = np.subtract(rises, falls) / (steps * (1 + inside))
    np.testing.assert_allclose(slope[inside], 0.0, atol=1e-7 * counts.sum())
    assert (slope[~inside] <= 0).all()  # a link that is zero and would be less


@every_learned_case
@seeds
def test_no_optimiser_finds_a_better_table(case: Case, seed: int) -> None:
    shaped, counts = case.shaped, case.counts(seed)
    best = likelihood(counts, shaped.fit(counts))
    start = case.draw(RNG(seed), case.free)
    bounds = [(1e-9 if case.name.startswith("noisy") else None, None)] * case.free

    def loss(place: FloatArray) -> float:
        table = shaped.table(place)
        return -likelihood(counts, table) if (table > 0).all() else 1e9

    other = minimize(loss, start, bounds=bounds, method="L-BFGS-B", options={"maxiter": 500})
    assert -other.fun <= best + 1e-8 * abs(best)
    assert -other.fun >= best - 1e-4 * abs(best)


@every_case
def test_more_rows_of_the_same_kind_change_nothing(case: Case) -> None:
    counts = case.counts(1)
    table = case.shaped.fit(counts)
    np.testing.assert_allclose(case.shaped.fit(10 * counts), table, atol=1e-10)
    np.testing.assert_allclose(case.shaped.fit(counts, near=case.truth(2)), table, atol=1e-10)
    np.testing.assert_allclose(case.shaped.fit(counts, near=table), table, atol=1e-12)


@every_case
def test_a_table_of_the_shape_is_its_own_fit(case: Case) -> None:
    table = case.truth(3)
    in_rows = RNG(4).exponential(5.0, (*case.sizes[:-1], 1))
    np.testing.assert_allclose(case.shaped.fit(in_rows * table), table, atol=1e-9)


@every_case
def test_a_fit_of_few_rows_is_a_table(case: Case) -> None:
    one_cell = np.zeros(case.sizes)
    one_cell[tuple(size - 1 for size in case.sizes)] = 7.0
    first_state = np.zeros(case.sizes)
    first_state[..., 0] = 3.0
    separated = np.zeros(case.sizes)
    for cell in product(*map(range, case.sizes)):
        separated[cell] = float(cell[-1] == (case.sizes[-1] - 1) * (sum(cell[:-1]) > 1))
    rng = RNG(5)
    sparse = [rng.poisson(0.3, case.sizes).astype(float) for _ in range(20)]
    for counts in (np.zeros(case.sizes), one_cell, first_state, separated, *sparse):
        for near in (None, case.truth(6), np.full(case.sizes, 1 / case.sizes[-1])):
            table = case.shaped.fit(counts, near)
            assert np.isfinite(table).all()
            assert (table >= 0).all()
            np.testing.assert_allclose(table.sum(axis=-1), 1.0, rtol=1e-9)
            assert np.isfinite(case.shaped.parameters(table)).all()
            assert likelihood(counts, table) > -np.inf


@every_learned_case
def test_the_prior_of_a_shape_holds_it_inside(case: Case) -> None:
    shaped = case.shaped
    table = shaped.fit(shaped.pseudo_counts)
    assert shaped.is_inside(shaped.parameters(table)).any()
    assert ((table > 0) & (table < 1)).all()


@pytest.mark.parametrize("sizes", [(2, 3, 3), (3, 2, 2), (4, 4)])
@seeds
def test_the_order_of_states_commutes_with_a_fit(sizes: tuple[int, ...], seed: int) -> None:
    rng = RNG(seed)
    counts = rng.exponential(3.0, sizes) + 0.2
    for name, child in (
        ("table", rng.permutation(sizes[-1])),
        ("logistic", rng.permutation(sizes[-1])),
        ("ordinal", slice(None, None, -1)),
    ):
        case = Case(name, sizes, normal, 0)
        orders = [rng.permutation(size) for size in sizes[:-1]]
        orders.append(np.arange(sizes[-1])[child])
        moved = case.shaped.fit(counts[np.ix_(*orders)])
        np.testing.assert_allclose(moved, case.shaped.fit(counts)[np.ix_(*orders)], atol=1e-9)


def test_absent_is_known_wherever_it_stands() -> None:
    counts = RNG(1).exponential(3.0, (3, 2, 3)) + 0.2
    parents = ("A", "B")
    plain = shape_named("noisy-max").of(
        "Y", parents, (("none", "some", "much"), ("no", "yes"), ("normal", "high", "highest"))
    )
    other = shape_named("noisy-max").of(
        "Y", parents, (("some", "none", "much"), ("Yes", "No"), ("highest", "high", "normal"))
    )
    order = np.ix_([1, 0, 2], [1, 0], [2, 1, 0])
    np.testing.assert_allclose(other.fit(counts[order]), plain.fit(counts)[order], atol=1e-10)


def test_a_noisy_or_is_the_product_of_its_links() -> None:
    shaped = shape_named("noisy-or").of("Y", ("A", "B"), (("no", "yes"),) * 3)
    assert shaped.parameter_names == ("leak", "link from A=yes", "link from B=yes")
    table = shaped.table(-np.log1p(-np.array([0.1, 0.6, 0.5])))
    absent = [[0.9, 0.45], [0.36, 0.18]]
    np.testing.assert_allclose(table[..., 0], absent, rtol=1e-12)
    counts = np.array([[9.0, 1.0], [4.0, 6.0]])  # one cause: leak 1/10, then 1 - (2/5) / (9/10)
    one = shape_named("noisy-or").of("Y", ("A",), (("no", "yes"),) * 2)
    np.testing.assert_allclose(one.fit(counts), [[0.9, 0.1], [0.4, 0.6]], rtol=1e-9)
    backwards = counts[::-1]  # a cause that prevents has no link, and both rows are one
    np.testing.assert_allclose(one.fit(backwards), [[0.65, 0.35]] * 2, rtol=1e-7)


def test_logistic_is_the_regression_of_another_library() -> None:
    sizes, rng = (3, 2, 3, 3), RNG(2)
    counts = rng.poisson(12.0, sizes) + 1.0
    cells = np.argwhere(counts > 0)
    design = np.hstack([np.eye(k)[cells[:, i]][:, 1:] for i, k in enumerate(sizes[:-1])])
    other = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000)
    other.fit(design, cells[:, -1], sample_weight=counts[counts > 0])
    table = Case("logistic", sizes, normal, 0).shaped.fit(counts)
    by_cell = other.predict_proba(design)
    np.testing.assert_allclose(table[tuple(cells[:, :-1].T)], by_cell, atol=1e-5)


@every_case
@pytest.mark.parametrize("method", ["listwise", "direct-mar", "factored-mcar", "em"])
def test_complete_rows_give_the_fit_of_their_counts(case: Case, method: str) -> None:
    network = case.network(1)
    rows = network.sample(150, rng=2)
    learned = lc.learn(network, rows, method, pseudo_counts=1).network.cpt("Y").table
    counts = np.zeros(case.sizes)
    columns = [
        list(rows[name].to_list() if hasattr(rows[name], "to_list") else rows[name])
        for name in (*case.parents, "Y")
    ]
    for row in zip(*columns, strict=True):
        counts[tuple(s.index(v) for s, v in zip(case.states, row, strict=True))] += 1
    by_hand = case.shaped.fit(counts + case.shaped.pseudo_counts)
    np.testing.assert_allclose(learned, by_hand, atol=1e-9)


def with_holes(network: Network, number: int, share: float, seed: int) -> dict[str, list[Any]]:
    rng = RNG(seed)
    columns = network.sample(number, rng=rng).to_dict("list")
    return {
        name: [None if rng.random() < share else value for value in column]
        for name, column in columns.items()
    }


@every_case
@pytest.mark.parametrize("accelerate", [True, False])
def test_the_posterior_of_em_never_falls(case: Case, accelerate: bool) -> None:
    network = case.network(2)
    rows = with_holes(network, 200, 0.4, 3)
    method = lc.EM(accelerate=accelerate, tolerance=1e-8)
    result = lc.learn(network, rows, method, pseudo_counts=1)
    trace = np.array(result.ended.trace)
    assert (np.diff(trace) >= -1e-9 * np.abs(trace[1:])).all()
    table = result.network.cpt("Y").table
    np.testing.assert_allclose(case.shaped.table(case.shaped.parameters(table)), table, atol=1e-10)


@every_case
def test_em_without_pseudo_counts_stays_a_table(case: Case) -> None:
    rows = with_holes(case.network(4), 40, 0.3, 5)
    result = lc.learn(case.network(4), rows, "em", pseudo_counts=0)
    table = result.network.cpt("Y").table
    np.testing.assert_allclose(table.sum(axis=-1), 1.0, rtol=1e-9)


@every_case
def test_the_truth_is_found_again(case: Case) -> None:
    network = case.network(5)
    rows = with_holes(network, 20_000, 0.2, 6)
    learned = lc.learn(network, rows, "em").network.cpt("Y").table
    np.testing.assert_allclose(learned, network.cpt("Y").table, atol=0.06)


def test_a_fixed_cpt_is_what_was_given() -> None:
    known = [[1.0, 0.0], [0.25, 0.75]]
    network = Network(
        {"A": ["no", "yes"], "B": ["no", "yes"]}, {"B": ["A"]}, {"A": [0.5, 0.5], "B": known}
    )
    rows: Mapping[str, Any] = {"A": ["no", "yes", None, "yes"], "B": ["no", "no", "yes", None]}
    for shape in ("fixed", lc.Fixed(known)):
        result = lc.learn(network, rows, "em", shapes={"B": shape})
        assert result.network.cpt("B").table.tolist() == known
        assert result.network.free_parameters == 1
        trace = np.array(result.ended.trace)
        assert (np.diff(trace) >= -1e-12).all()


@pytest.mark.parametrize(
    "shape",
    [
        *(kind() for name, kind in SHAPES.items() if name != "fixed"),
        lc.NoisyOr({"A": "yes"}),
        lc.Fixed([[1, 0], [0.5, 0.5]]),
    ],
    ids=repr,
)
def test_a_shape_is_kept_in_files(shape: Any, tmp_path: Path) -> None:
    assert shape_from_json(json.loads(json.dumps(shape_as_json(shape)))) == shape
    assert pickle.loads(pickle.dumps(shape)) == shape
    network = Network({"A": ["no", "yes"], "B": ["no", "yes"]}, {"B": ["A"]})
    network = network.with_shapes({"B": shape})
    network.write(tmp_path / "network.json")
    assert lc.read_network(tmp_path / "network.json") == network


TWO, THREE, OTHERS = ("no", "yes"), ("none", "some", "much"), ("low", "high")
REFUSED: list[tuple[Any, tuple[tuple[str, ...], ...], str]] = [
    ("noisy-or", (TWO, THREE), "'Y' has 3 states"),
    ("noisy-or", (THREE, TWO), "'P0' has 3 states"),
    ("noisy-or", (OTHERS, TWO), "'P0'"),
    ("noisy-or", (("no", "none"), TWO), "more than one"),
    ("noisy-or", (TWO, OTHERS), r"lc.NoisyOr\(absent="),
    (lc.NoisyOr({"P0": "off"}), (TWO, TWO), "'off'"),
    (lc.NoisyOr({"P9": "no"}), (TWO, TWO), "'P9'"),
    (lc.Fixed([[float("nan"), 0.5], [0.5, 0.5]]), (TWO, TWO), "'Y'"),
    ("noisy-max", (TWO, ("some", "none", "much")), "between"),
    ("noisy-or", ((TWO,) * 22), "'Y'"),
    ("logistic", ((TWO,) * 22), "'Y'"),
    ("noisyor", (TWO, TWO), "noisy-or"),
    (3, (TWO, TWO), "'logistic'"),
    ("fixed", (TWO, TWO), "lc.Fixed"),
    (lc.Fixed([0.5, 0.5]), (TWO, TWO), "'Y'"),
    (lc.Fixed([[0.5, 0.4], [0.5, 0.5]]), (TWO, TWO), "'Y'"),
]


@pytest.mark.parametrize(("shape", "states", "words"), REFUSED, ids=lambda v: str(v)[:40])
def test_what_a_cpt_cannot_be_is_refused(
    shape: Any, states: tuple[tuple[str, ...], ...], words: str
) -> None:
    names = [*(f"P{place}" for place in range(len(states) - 1)), "Y"]
    network = Network(dict(zip(names, states, strict=True)), {"Y": names[:-1]})
    with pytest.raises(NetworkError, match=words):
        network.with_shapes({"Y": shape})


@pytest.mark.parametrize("shapes", ["noisy-or", ["noisy-or"], {"Q": "noisy-or"}, {"B": None}])
def test_shapes_in_another_form_are_refused(shapes: Any) -> None:
    rows = {"A": ["no", "yes"], "B": ["no", "yes"]}
    with pytest.raises(NetworkError, match=r"shapes=|'Q'|None"):
        lc.learn("A -> B", rows, shapes=shapes)


def test_tied_cpts_have_one_shape() -> None:
    network = Network(dict.fromkeys("ABC", TWO), {"B": ["A"], "C": ["A"]}).with_ties([["B", "C"]])
    with pytest.raises(NetworkError, match=r"'C' and 'B'|'B' and 'C'"):
        network.with_shapes({"B": "noisy-or", "C": "logistic"})


def test_em_starts_a_cpt_with_a_shape_without_a_lattice() -> None:
    case = Case("noisy-or", (2,) * 11, increments, 11)
    rows = with_holes(case.network(7), 300, 0.2, 8)
    method = lc.EM(max_iterations=0)
    result = lc.learn(case.network(7), rows, method, pseudo_counts=1)
    by_direct = lc.learn(case.network(7), rows, "direct-mcar", pseudo_counts=1)
    expected = by_direct.network.cpt("Y").table
    np.testing.assert_allclose(result.network.cpt("Y").table, expected, atol=1e-9)
    assert any("direct" in line for line in result.families["Y"].lines())


def test_a_configuration_that_nobody_shows_is_backed_by_the_shape() -> None:
    network = Case("noisy-or", (2, 2, 2), increments, 3).network(1)
    rows = {"P0": ["no", "yes", "no"] * 9, "P1": ["no", "no", "yes"] * 9}
    rows["Y"] = ["no", "yes", "yes"] * 9
    for shape, unsupported in (("noisy-or", 0), ("table", 1)):
        result = lc.learn(network, rows, "em", shapes={"Y": shape})
        assert result.families["Y"].unsupported == unsupported
        assert bool(result.families["Y"].warnings) == bool(unsupported)
