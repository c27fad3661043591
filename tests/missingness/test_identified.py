"""Identified for the states at hand, and identified sets: published bounds, search, coverage."""

from __future__ import annotations

from itertools import combinations, product
from statistics import NormalDist

import numpy as np
import pytest
from scipy.optimize import least_squares, linprog

from lacunet.data.table import Copies, EncodedTable
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.identified.set_intervals import covering
from lacunet.missingness.refute.ordered_query import Asked
from lacunet.network.network import Network
from lacunet.network.nodes import Mechanism, Node
from manifest_laws import Model, random_graph, random_model


def graph_of(
    edges: list[str], text: str, variables: str, sizes: dict[str, int] | None = None
) -> MissingnessGraph:
    pairs = [edge.split("->") for edge in edges]
    names = {n: [str(k) for k in range((sizes or {}).get(n, 2))] for n in variables}
    parents = {name: [a for a, b in pairs if b == name] for name in variables}
    return MissingnessGraph.parse(text, Network(names, parents))


def law_of(model: Model, *names: str) -> np.ndarray:
    """The manifest law as a table, missing as the last state of each axis."""
    table = model.manifest()
    law = np.zeros([table.cardinality_of[name] + 1 for name in names])
    np.add.at(law, tuple(table.columns[name] for name in names), table.weights)
    return law


def test_manski_s_bounds_are_the_set_of_a_variable_that_hides_itself() -> None:
    graph = graph_of([], "Y -> R[Y]", "Y", {"Y": 3})
    model = random_model(graph, np.random.default_rng(0))
    found = graph.recover(["Y"]).identified_set(model.manifest())
    *shown, missing = law_of(model, "Y")
    np.testing.assert_allclose(found.low, shown, rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.high, np.add(shown, missing), rtol=0, atol=1e-8)
    assert not found.is_outer


def test_bounds_on_a_conditional_hold_where_everything_decides_on_everything() -> None:
    # Both may be missing for whatever reason: n / (n + c), J. L. Horowitz and C. F. Manski 1998.
    graph = graph_of(["X->Y"], "X, Y -> R[X]; X, Y, R[X] -> R[Y]", "XY")
    model = random_model(graph, np.random.default_rng(1))
    found = graph.recover(["Y"], ["X"]).identified_set(model.manifest())
    law = law_of(model, "X", "Y")
    surely = law[:2, :2]  # n(y, x)
    maybe = law[:2, :2] + law[2:, :2] + law[:2, 2:] + law[2, 2]  # c(y, x)
    np.testing.assert_allclose(found.low, surely / (surely + maybe[:, ::-1]), rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.high, maybe / (maybe + surely[:, ::-1]), rtol=0, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_the_bounds_of_balke_and_pearl_are_the_set_of_an_effect_with_an_instrument(
    seed: int,
) -> None:
    graph = graph_of(["Z->X", "X->Y"], "X <-> Y", "ZXY")
    model = random_model(graph, np.random.default_rng(seed))
    found = graph.recover(["Y"], do=["X"]).identified_set(model.manifest())
    p = model.truth(["Y", "X"], ["Z"])  # p[z, y, x]; A. Balke and J. Pearl 1997, equations 18, 19
    p000, p010, p100, p110 = (p[0, y, x] for x, y in product((0, 1), repeat=2))
    p001, p011, p101, p111 = (p[1, y, x] for x, y in product((0, 1), repeat=2))
    # pxyz: x, y, z; the paper's order is y, x
    low = {
        0: max(p011, p010, p010 + p110 - p001 - p111, p100 + p010 - p001 - p101),
        1: max(p110, p111, -p000 - p100 + p001 + p111, -p100 - p010 + p011 + p111),
    }
    high = {
        0: min(1 - p001, 1 - p000, p100 + p010 + p011 + p111, p010 + p110 + p101 + p011),
        1: min(1 - p101, 1 - p100, p000 + p110 + p011 + p111, p010 + p110 + p001 + p111),
    }
    for x in (0, 1):
        assert found.low[x, 1] == pytest.approx(low[x], abs=1e-8)
        assert found.high[x, 1] == pytest.approx(high[x], abs=1e-8)


def test_a_linear_program_gives_the_set_of_an_illness_with_a_test_of_fewer_states() -> None:
    graph = graph_of(["I->T"], "I -> R[I]", "IT", {"I": 4})
    model = random_model(graph, np.random.default_rng(2))
    found = graph.recover(["I"]).identified_set(model.manifest())
    law = law_of(model, "I", "T")
    shown, hidden = law[:4, :2], law[4, :2]
    told = shown / shown.sum(axis=1, keepdims=True)  # P(T | I), whether I is shown or not
    for state in range(4):
        aim = np.eye(4)[state]
        ends = [
            shown[state].sum() + sign * linprog(sign * aim, A_eq=told.T, b_eq=hidden).fun
            for sign in (1, -1)
        ]
        assert found.low[state] == pytest.approx(ends[0], abs=1e-8)
        assert found.high[state] == pytest.approx(ends[1], abs=1e-8)


def test_what_is_identified_is_a_point_and_what_is_not_a_set_that_holds_the_truth() -> None:
    rng = np.random.default_rng(5)
    widths: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(4):
        graph = random_graph(rng, 2, 0.1)
        if len(graph.hidden) > 1:
            continue
        for target, given in ((["V1"], ["V0"]), (["V0"], [])):
            verdict = graph.recover(target, given)
            model = random_model(graph, rng)
            found = verdict.identified_set(model.manifest())
            truth = model.truth(target, given)
            assert (found.low - 1e-7 <= truth).all()
            assert (truth <= found.high + 1e-7).all()
            widths[bool(verdict.generic)].append(found.width)
            assert ("lowest" in str(found)) == (found.width >= 1e-6)
    assert max(widths[True]) < 1e-6
    assert min(widths[False]) > 1e-3


def test_a_verdict_says_whether_the_states_at_hand_identify_it() -> None:
    binary = graph_of(["I->T"], "I -> R[I]", "IT").recover(["I"])
    assert (binary.status, binary.generic) == ("not recoverable", True)
    assert "recovers" in str(binary)
    assert "method='em'" in str(binary)
    more = graph_of(["I->T"], "I -> R[I]", "IT", {"I": 3}).recover(["I"])
    assert (more.status, more.generic) == ("not recoverable", False)
    assert "method='em'" not in str(more)
    assert graph_of(["I->T"], "T -> R[I]", "IT").recover(["I"]).generic is True
    assert graph_of(["X->Y"], "X <-> Y", "XY").recover(["Y"], do=["X"]).generic is False


def can_move(graph: MissingnessGraph, asked: Asked, rng: np.random.Generator) -> bool:
    """Whether a model near a random one looks the same and answers differently, by search.

    Nothing of the code under test: CPTs by logits, laws by enumeration, slopes by differences.
    """
    model = random_model(graph, rng)
    sizes = {node: table.shape for node, table in model.tables.items()}
    start = np.concatenate([np.log(table).ravel() for table in model.tables.values()])

    def said(logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        tables, at = {}, 0
        for node, shape in sizes.items():
            size = int(np.prod(shape))
            raw = np.exp(logits[at : at + size].reshape(shape))
            tables[node] = raw / raw.sum(axis=-1, keepdims=True)
            at += size
        moved = Model(graph, model.parents, tables)
        law = _manifest(moved)
        return law, moved.truth(asked.target, asked.given, asked.do).ravel()

    law, answer = said(start)
    step, cell = 1e-3, int(np.argmax(np.abs(answer - 0.5) < 0.49))

    def gaps(logits: np.ndarray) -> np.ndarray:
        now, told = said(logits)
        return np.append(np.sqrt(now) - np.sqrt(law), told[cell] - answer[cell] - step)

    best = min(
        (
            least_squares(
                gaps,
                start + rng.normal(0, scale, len(start)),
                xtol=1e-15,
                ftol=1e-15,
                gtol=1e-15,
                max_nfev=60,
            )
            for scale in (1e-6, 0.01, 0.05)
        ),
        key=lambda found: found.cost,
    )
    # Of 300 graphs, those that move get there to 2e-10 of the step; those that do not are off by
    # 2e-5 of it at least, where a random model is nearly singular.
    return bool(np.sqrt(2 * best.cost) < 1e-7 * step)


def _manifest(model: Model) -> np.ndarray:
    joint, nodes = model.joint, model.nodes
    law = joint
    for at, node in enumerate(nodes):
        if Mechanism(str(node)) in nodes:
            shown = nodes.index(Mechanism(str(node)))
            seen = np.take(law, [1], axis=shown)
            hidden = np.take(law, [0], axis=shown).sum(axis=at, keepdims=True)
            hidden = np.concatenate(
                [hidden, np.zeros_like(np.take(seen, range(seen.shape[at] - 1), axis=at))], axis=at
            )
            law = np.concatenate([hidden, seen], axis=shown)
    return law.ravel()


def graphs_of_three(sizes: int) -> list[MissingnessGraph]:
    """Every graph of three variables with one partially observed, or two without R -> R."""
    names = ("A", "B", "C")
    found = []
    for edges in product((False, True), repeat=3):
        parents: dict[str, list[str]] = {name: [] for name in names}
        for (one, two), used in zip(combinations(names, 2), edges, strict=True):
            if used:
                parents[two].append(one)
        network = Network({n: [str(k) for k in range(sizes)] for n in names}, parents)
        for count in (1, 2):
            for partial in combinations(names, count):
                for chosen in product((False, True), repeat=3 * count):
                    causes: dict[str, list[Node]] = {
                        name: [v for v, u in zip(names, chosen[3 * k :][:3], strict=True) if u]
                        for k, name in enumerate(partial)
                    }
                    found.append(MissingnessGraph(network, causes))
    return found


def assert_rank_agrees_with_search(graph: MissingnessGraph, seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = [str(name) for name in rng.permutation(graph.network.variables)]
    do = names[2:] if seed % 2 else []
    verdict = graph.recover(names[:1], names[1:2], do)
    assert verdict.generic is not can_move(graph, verdict.asked, rng), (graph, verdict)


def test_the_rank_answer_agrees_with_a_search_for_models_near_by() -> None:
    graphs = graphs_of_three(2)
    for seed in range(6):
        at = int(np.random.default_rng([7, seed]).integers(len(graphs)))
        assert_rank_agrees_with_search(graphs[at], seed)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [2, 3])
def test_the_rank_answer_agrees_with_a_search_in_many_graphs_of_three_variables(
    sizes: int,
) -> None:
    graphs = graphs_of_three(sizes)
    for seed in range(300 if sizes == 2 else 60):
        at = int(np.random.default_rng([8, seed]).integers(len(graphs)))
        assert_rank_agrees_with_search(graphs[at], seed)


def test_intervals_for_sets_are_those_of_imbens_and_manski() -> None:
    error, normal = np.full(1, 0.02), NormalDist()
    ((low, high),) = covering(np.full(1, 0.4), np.full(1, 0.43), error, error, 0.95)
    c = (0.4 - low) / 0.02
    assert (high - 0.43) / 0.02 == pytest.approx(c)
    assert normal.cdf(c + 0.03 / 0.02) - normal.cdf(-c) == pytest.approx(0.95)


@pytest.mark.slow
def test_intervals_of_sets_cover_the_parameter() -> None:
    graph = graph_of(["X->Y"], "Y -> R[Y]", "XY", {"Y": 3})
    verdict = graph.recover(["Y"], ["X"])
    rng = np.random.default_rng(3)
    covered = []
    for _ in range(120):
        model = random_model(graph, rng)
        law = model.manifest()
        drawn = rng.multinomial(400, law.weights / law.total)  # type: ignore[operator]
        seen = drawn > 0
        columns = {name: column[seen] for name, column in law.columns.items()}
        rows = EncodedTable(law.cardinality_of, columns, drawn[seen].astype(float))
        interval = verdict.identified_set(rows).interval()
        truth = model.truth(["Y"], ["X"])
        covered.append((interval[..., 0] <= truth) & (truth <= interval[..., 1]))
    # 720 cells in 120 samples of two rows each: a standard error of about 0.013 at 0.95.
    assert np.mean(covered) > 0.95 - 2 * 0.013


def test_a_point_that_the_states_identify_has_the_error_of_maximum_likelihood() -> None:
    import lacunet as lc

    graph = graph_of(["X->Y", "Y->T"], "Y -> R[Y]", "XYT")
    law = random_model(graph, np.random.default_rng(4)).manifest()
    drawn = np.random.default_rng(5).multinomial(5000, law.weights / law.total)  # type: ignore[operator]
    seen = drawn > 0
    columns = {name: column[seen] for name, column in law.columns.items()}
    number = drawn[seen].astype(float)
    copies = Copies(number, number)
    rows = EncodedTable(law.cardinality_of, columns, number, copies=copies)
    found = graph.recover(["Y"], ["X"]).identified_set(rows)
    assert found.width < 1e-6
    result = lc.learn(
        graph.network, rows, lc.EM(missingness=graph), pseudo_counts=0, intervals=True
    )
    errors = result.standard_error("Y")
    np.testing.assert_allclose(found.low_error, errors, rtol=0.05)
    np.testing.assert_allclose(found.high_error, errors, rtol=0.05)


def test_both_ends_of_a_point_have_one_error() -> None:
    network = Network({"X": ["0", "1", "2"], "Y": ["0", "1"]}, {"Y": ["X"]})
    verdict = MissingnessGraph.parse("Y -> R[Y]", network).recover("Y", ["X"])
    rng = np.random.default_rng(7)
    x = rng.integers(0, 3, 300).astype(np.uint8)
    y = (rng.random(300) < 0.2 + 0.3 * x).astype(np.uint8)
    y = np.where(rng.random(300) < 0.1 + 0.3 * y, 2, y).astype(np.uint8)
    weights = rng.choice([1.0, 2.0, 3.5], 300)
    copies = Copies(np.ones(300), weights**2)
    rows = EncodedTable({"X": 3, "Y": 2}, {"X": x, "Y": y}, weights, copies=copies)
    found = verdict.identified_set(rows)
    assert found.width < 1e-6
    np.testing.assert_allclose(found.low_error, found.high_error, rtol=1e-3)


def test_both_ends_of_every_cell_are_printed_with_its_states() -> None:
    network = Network({"Ill": ["no", "yes"]}, {})
    graph = MissingnessGraph.parse("Ill -> R[Ill]", network)
    rows = {"Ill": ["yes", "no", None, "yes"] * 50}
    no, yes = str(graph.recover(["Ill"]).identified_set(rows)).splitlines()[2:]
    assert no.split()[:3] == ["no", "0.2500", "0.5000"]
    assert yes.split()[:3] == ["yes", "0.5000", "0.7500"]
    cells = str(graph.recover_full_law().identified_set(rows)).splitlines()[2:]
    assert [cell.split()[:4] for cell in cells] == [
        ["no", "0", "0.0000", "0.2500"],
        ["no", "1", "0.2500", "0.2500"],
        ["yes", "0", "0.0000", "0.2500"],
        ["yes", "1", "0.5000", "0.5000"],
    ]
