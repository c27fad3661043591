"""The exact judge, its regions and moves, against EM on all rows and against enumeration."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lacunet as lc
from enumeration import joint
from lacunet.counts.em_problems.compile import compile_problems
from lacunet.data.table import EncodedTable
from lacunet.inference.engine import engine_of
from lacunet.inference.sampling import sample_codes
from lacunet.learning.em.iterations import Limits, climb
from lacunet.limits import NEVER
from lacunet.structure.affected_region import MissingPatterns, region_of
from lacunet.structure.cpdag import children_of, topological_by_number
from lacunet.structure.final_moves import Rejected, _moves, polish
from lacunet.structure.gains import Gains
from lacunet.structure.indexed_rows import CodedRows
from lacunet.structure.judge_by_em import FittedStructure, Judge, network_of_dag
from lacunet.structure.knowledge import constraints_of
from lacunet.structure.moves import Promises, closes_a_cycle
from lacunet.structure.search import Dag
from studies.problems.generators import random_network

MEMORY = 2**30


def dag_of(network: lc.Network) -> Dag:
    place = {name: at for at, name in enumerate(network.variables)}
    return tuple(
        frozenset(place[parent] for parent in network.parents(name)) for name in network.variables
    )


def hidden(network: lc.Network, rows: int, rng: np.random.Generator, share: float) -> EncodedTable:
    """Rows of which some variables are incomplete, the others never."""
    whole = sample_codes(network, rows, rng)
    columns = {}
    for name, column in whole.columns.items():
        rate = share * (rng.random() < 0.7)
        columns[name] = np.where(rng.random(rows) < rate, whole.cardinality_of[name], column)
    return EncodedTable(whole.cardinality_of, columns)


def judge_of(network: lc.Network, table: EncodedTable) -> Judge:
    return Judge(lc.Network(network.states_of), table, MEMORY)


def drawing(
    judge: Judge, number: int, rng: np.random.Generator
) -> Callable[[FittedStructure], list[CodedRows]]:
    return lambda fit: judge.draw(fit, number, rng)


def other_parents(dag: Dag, rng: np.random.Generator) -> tuple[int, frozenset[int]]:
    """A variable and other parents of it that close no cycle."""
    order = topological_by_number(dag)
    at = int(rng.integers(1, len(order)))
    before = order[:at]
    number = int(rng.integers(0, min(3, len(before)) + 1))
    return order[at], frozenset(rng.choice(before, number, replace=False).tolist())


def log_likelihood(network: lc.Network, table: EncodedTable) -> float:
    """By enumeration of all completions."""
    law = joint(network)
    codes = np.stack(list(table.columns.values()), axis=1)
    sizes = [table.cardinality_of[name] for name in table.variables]
    total = 0.0
    for row in codes:
        cells = tuple(
            slice(None) if code == size else int(code)
            for code, size in zip(row, sizes, strict=True)
        )
        total += float(np.log(law[cells].sum()))
    return total


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_changed_family_is_judged_by_a_lower_bound_that_enumeration_confirms(seed: int) -> None:
    rng = np.random.default_rng(seed)
    network = random_network(5, rng, states=(2, 3))
    table = hidden(network, 120, rng, 0.3)
    judge = judge_of(network, table)
    fit = judge.fit(dag_of(network))
    node, parents = other_parents(fit.dag, rng)
    changed = judge.changed(fit, node, parents)
    assert changed.dag[node] == parents
    penalty = sum(judge.penalty(y, own) for y, own in enumerate(changed.dag))
    reached = log_likelihood(judge.network(changed), table) - penalty
    # what its own CPTs reach on all rows is at least what was said, up to EM's rounding
    assert reached >= changed.score - 1e-6 * abs(reached)


def test_where_a_change_gains_the_bound_is_close() -> None:
    rng = np.random.default_rng(4)
    network = random_network(8, rng, states=(2, 3))
    judge = judge_of(network, hidden(network, 2_000, rng, 0.3))
    dag = dag_of(network)
    arcs = [(x, y) for y, own in enumerate(dag) for x in own]
    for x, y in arcs[:6]:
        without = (*dag[:y], dag[y] - {x}, *dag[y + 1 :])
        fit = judge.fit(without)
        bound, exact = judge.changed(fit, y, dag[y]), judge.fit(dag, fit)
        assert bound.score <= exact.score + 0.1
        assert bound.score > exact.score - 0.05 * abs(exact.score - fit.score) - 1.0


def test_a_change_that_touches_no_missing_value_is_judged_exactly() -> None:
    rng = np.random.default_rng(5)
    network = lc.Network({name: ["0", "1"] for name in "ABCD"}, {"B": ["A"], "D": ["C"]})
    a, b, c, d = rng.integers(0, 2, (4, 400))
    d = np.where(rng.random(400) < 0.3, 2, d)  # D depends on C alone, both sides of it are shown
    columns = {name: one.astype(np.uint8) for name, one in zip("ABCD", (a, b, c, d), strict=True)}
    judge = judge_of(network, EncodedTable(dict.fromkeys("ABCD", 2), columns))
    fit = judge.fit(dag_of(network))
    region = region_of((0, 1), fit.families, children_of(fit.families), judge.patterns)
    assert not region.active
    changed = judge.changed(fit, 1, frozenset())
    exact = judge.fit(changed.dag)
    assert changed.score == pytest.approx(exact.score, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_region_holds_the_missing_values_that_depend_on_each_other(seed: int) -> None:
    """Outside of it, other CPTs inside of it change no expected count."""
    rng = np.random.default_rng(seed)
    network = random_network(6, rng)
    table = hidden(network, 60, rng, 0.4)
    families = tuple(tuple(sorted(own)) for own in dag_of(network))
    node = int(rng.integers(6))
    region = region_of(
        (*families[node], node), families, children_of(families), MissingPatterns(table)
    )
    engine = engine_of(compile_problems(network, table), MEMORY)
    layout = compile_problems(network, table).layout
    before = {name: network.cpt(name).table for name in network.variables}
    name = network.variables[node]
    other = random_network(6, rng)
    assert other.variables == network.variables
    noise = rng.dirichlet(np.ones(2), before[name].shape[:-1])
    counts = [
        layout.tables(engine.expect(layout.flat(tables)).counts)
        for tables in (before, before | {name: noise})
    ]
    for at, one in enumerate(network.variables):
        if at not in region.active and at != node:
            np.testing.assert_allclose(counts[0][one], counts[1][one], atol=1e-9)


def test_moves_take_out_a_false_arc_and_put_in_a_true_one() -> None:
    rng = np.random.default_rng(6)
    truth = lc.example("sachs")
    table = hidden(truth, 3_000, rng, 0.3)
    judge = judge_of(truth, table)
    dag = list(dag_of(truth))
    order = topological_by_number(dag)
    last = order[-1]
    false = next(x for x in order if x not in dag[last] and x != last)
    true = next(y for y in order if dag[y] and y != last)
    dag[last] = dag[last] | {false}
    dag[true] = dag[true] - {min(dag[true])}
    start = judge.fit(tuple(dag))
    limits = constraints_of(truth.variables, (), (), (), 4)
    others = [[x for x in range(len(dag)) if x != y] for y in range(len(dag))]
    *_, found = polish(judge, start, limits, others, drawing(judge, 3, rng), set())
    assert found.score > start.score
    assert found.score == pytest.approx(judge.fit(found.dag).score, abs=0.5)
    assert found.score >= judge.fit(dag_of(truth)).score - 0.5


def test_an_arc_between_values_that_are_mostly_missing_is_put_in() -> None:
    """The rows that show both ends gain less than it costs; all rows together gain more."""
    rng = np.random.default_rng(8)
    a = rng.integers(0, 2, 2_400)
    b = np.where(rng.random(2_400) < 0.45, 1 - a, a)
    c = np.where(rng.random(2_400) < 0.02, 1 - a, a)  # tells a where it is missing
    shown = rng.random(2_400) < 0.3
    columns = {"A": np.where(shown, a, 2), "B": b, "C": c}
    table = EncodedTable(
        dict.fromkeys("ABC", 2), {name: one.astype(np.uint8) for name, one in columns.items()}
    )
    judge = judge_of(lc.Network({name: ["0", "1"] for name in "ABC"}), table)
    start = judge.fit((frozenset(), frozenset(), frozenset({0})))  # A -> C
    limits = constraints_of(tuple("ABC"), (), [("B", "A"), ("C", "B"), ("B", "C")], (), 2)
    assert Gains.of(CodedRows.of(table)).gain(0, 1, frozenset()) < 0
    *_, found = polish(
        judge, start, limits, [[1, 2], [0, 2], [0, 1]], drawing(judge, 1, rng), set()
    )
    assert found.dag[1] == {0}


def test_moves_stay_within_the_constraints() -> None:
    rng = np.random.default_rng(7)
    truth = lc.example("asia")
    table = hidden(truth, 1_500, rng, 0.3)
    judge = judge_of(truth, table)
    limits = constraints_of(
        truth.variables, [("asia", "dysp")], [("smoke", "lung"), ("lung", "smoke")], (), 2
    )
    start = judge.fit(tuple(limits.required))
    nodes = range(len(truth.variables))
    promises = Promises(judge.rows, judge.draw(start, 2, rng), judge.penalty)
    for y in nodes:
        for move in promises.of_family(y, start.dag, nodes, limits):
            for node, parents in move.steps:
                assert limits.required[node] <= parents
                assert len(parents) <= 2
                assert not any(limits.forbidden[x, node] for x in parents)
    *_, found = polish(
        judge, start, limits, [list(nodes)] * len(nodes), drawing(judge, 2, rng), set()
    )
    network = network_of_dag(judge.columns, found.dag)
    assert "asia" in network.parents("dysp")
    assert "smoke" not in network.parents("lung")
    assert "lung" not in network.parents("smoke")
    assert max(map(len, found.dag)) <= 2


def test_moves_that_are_asked_about_close_no_cycle() -> None:
    rng = np.random.default_rng(9)
    truth = lc.example("child")
    table = hidden(truth, 1_000, rng, 0.2)
    judge = judge_of(truth, table)
    limits = constraints_of(truth.variables, (), (), (), 3)
    fit = judge.fit(tuple(frozenset(list(own)[:1]) for own in dag_of(truth)))
    nodes = range(len(truth.variables))
    promises = Promises(judge.rows, judge.draw(fit, 1, rng), judge.penalty)
    asked = _moves(promises, fit.dag, nodes, limits, [list(nodes)] * len(nodes), NEVER)
    assert len(asked) > len(nodes) / 2
    assert not any(closes_a_cycle(fit.dag, move) for move in asked)


def test_the_score_of_a_structure_is_the_maximum_that_long_em_finds() -> None:
    rng = np.random.default_rng(8)
    network = random_network(6, rng)
    table = hidden(network, 500, rng, 0.3)
    judge = judge_of(network, table)
    fit = judge.fit(dag_of(network))
    problems = compile_problems(network, table)
    cells = problems.layout.flat({name: network.cpt(name).table for name in network.variables})
    long = climb(engine_of(problems, MEMORY), cells, 0.0, Limits(1e-8, 5_000))
    penalty = sum(judge.penalty(y, own) for y, own in enumerate(fit.dag))
    assert fit.score == pytest.approx(float(long.log_likelihoods.sum()) - penalty, abs=0.5)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_penalty_is_that_of_bic_where_all_rows_show_a_family_and_never_more(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = random_network(6, rng, max_parents=3, states=(2, 4))
    table = hidden(truth, int(rng.integers(8, 300)), rng, 0.5)
    judge = judge_of(truth, table)
    node, parents = other_parents(dag_of(truth), rng)
    names = [truth.variables[one] for one in (node, *parents)]
    configurations = np.prod([truth.cardinality(name) for name in names[1:]])
    free = (truth.cardinality(names[0]) - 1) * configurations
    bic = np.log(table.rows) / 2 * free
    if any(table.missing_of[name] for name in names):
        least = max(free, 0.6 * bic)  # that of AIC, and six tenths of BIC's
        assert least - 1e-9 <= judge.penalty(node, parents) <= bic + 1e-9
    else:
        np.testing.assert_allclose(judge.penalty(node, parents), bic, rtol=1e-12)


def test_the_penalty_of_a_family_that_half_of_the_rows_show_done_by_hand() -> None:
    columns = {"X": np.tile([0, 1, 2, 3], 100), "Y": np.tile([0, 1, 2, 2], 100)}  # 2: missing
    judge = judge_of(lc.Network({"X": "abcd", "Y": "ab"}), EncodedTable({"X": 4, "Y": 2}, columns))
    assert judge.penalty(1, [0]) == pytest.approx(4 / 2 * (np.log(200) - 0.5 * np.log(4)))


def test_rows_that_count_twice_cost_as_twice_the_rows() -> None:
    rng = np.random.default_rng(4)
    truth = random_network(5, rng, max_parents=2, states=(2, 3))
    table = hidden(truth, 60, rng, 0.4)
    twice = table.take(np.tile(np.arange(60), 2))
    heavy = EncodedTable(table.cardinality_of, table.columns, np.full(60, 2.0))
    for node, parents in enumerate(dag_of(truth)):
        expected = judge_of(truth, twice).penalty(node, parents)
        assert judge_of(truth, heavy).penalty(node, parents) == pytest.approx(expected)


def test_what_the_judge_rejected_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    truth = lc.example("child")
    judge = judge_of(truth, hidden(truth, 1_500, rng, 0.3))
    limits = constraints_of(truth.variables, (), (), (), 2)
    others = [list(range(len(truth.variables)))] * len(truth.variables)
    *_, best = polish(
        judge, judge.fit(limits.required), limits, others, drawing(judge, 2, rng), set()
    )
    asked: list[int] = []
    changed = Judge.changed

    def counted(self: Judge, fit: FittedStructure, node: int, own: frozenset[int]) -> object:
        asked.append(node)
        return changed(self, fit, node, own)

    monkeypatch.setattr(Judge, "changed", counted)
    rejected: Rejected = set()
    numbers = []
    for _ in range(2):
        same = np.random.default_rng(8)
        assert list(polish(judge, best, limits, others, drawing(judge, 2, same), rejected)) == []
        numbers.append(len(asked))
    assert numbers[0] > 0
    assert numbers[1] == numbers[0]
