"""The search for complete rows: scores by definition, the optimum by brute force."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, permutations, product
from math import lgamma, log, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enumeration import joint
from lacunet.data.table import EncodedTable
from lacunet.inference.sampling import sample_codes
from lacunet.network.catalogue import example
from lacunet.network.network import Network
from lacunet.structure.cpdag import compare_structures, cpdag_of, topological_by_number
from lacunet.structure.gains import (
    ALL_PAIRS_VARIABLES,
    Beside,
    Gains,
    informations,
    tables_beside,
    variables_that_gain,
)
from lacunet.structure.ges import greedy_equivalence_search
from lacunet.structure.indexed_rows import CodedRows, Pairs, in_order_of_content
from lacunet.structure.knowledge import constraints_of
from lacunet.structure.order_search import IMPROVEMENT, Scores, _climb, search
from lacunet.structure.scored_parents import CandidateParents, HopelessSets, ParentSets, parent_sets
from lacunet.structure.search import Screen, add_gaining_arcs, better_dags
from lacunet.structure.set_scores import Score, ScoredSets, numbers_of

SIZES = (2, 3, 2, 2, 3)
NAMES = tuple("ABCDE")


def random_rows(rows: int, seed: int, hidden: float = 0.0) -> EncodedTable:
    """Rows in which each column depends on those before it."""
    rng = np.random.default_rng(seed)
    columns: dict[str, np.ndarray] = {}
    for at, (name, size) in enumerate(zip(NAMES, SIZES, strict=True)):
        before = sum(columns[NAMES[one]].astype(int) for one in range(max(0, at - 2), at))
        noise = rng.integers(0, size, rows)
        codes = np.where(rng.random(rows) < 0.7, before % size if at else noise, noise)
        columns[name] = codes.astype(np.uint8)
    for name, size in zip(NAMES, SIZES, strict=True):
        columns[name][rng.random(rows) < hidden] = size
    return EncodedTable(dict(zip(NAMES, SIZES, strict=True)), columns)


def by_definition(table: EncodedTable, child: int, parents: tuple[int, ...], size: float) -> float:
    """BIC, or BDeu if an equivalent sample size is given, row by row."""
    codes = np.stack(list(table.columns.values()), axis=1).astype(int)
    counts: dict[tuple[int, ...], dict[int, int]] = {}
    for row in codes:
        own = counts.setdefault(tuple(row[list(parents)]), {})
        own[row[child]] = own.get(row[child], 0) + 1
    states, configurations = SIZES[child], int(np.prod([SIZES[p] for p in parents]))
    if size:
        a, b = size / configurations, size / configurations / states
        return sum(
            lgamma(a)
            - lgamma(a + sum(own.values()))
            + sum(lgamma(b + n) - lgamma(b) for n in own.values())
            for own in counts.values()
        )
    fit = sum(n * log(n / sum(own.values())) for own in counts.values() for n in own.values())
    return fit - log(table.rows) / 2 * (states - 1) * configurations


def best_by_brute_force(table: EncodedTable, size: float) -> float:
    nodes = range(len(NAMES))
    scores = {
        (y, some): by_definition(table, y, some, size)
        for y in nodes
        for length in range(4)
        for some in combinations([x for x in nodes if x != y], length)
    }
    best = -np.inf
    for order in permutations(nodes):
        total = 0.0
        for at, y in enumerate(order):
            before = sorted(order[:at])
            total += max(
                scores[y, some]
                for length in range(min(at, 3) + 1)
                for some in combinations(before, length)
            )
        best = max(best, total)
    return best


@pytest.mark.parametrize("size", [0.0, 5.0])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_search_finds_the_best_of_all_dags(seed: int, size: float) -> None:
    table = random_rows(400, seed)
    constraints = constraints_of(NAMES, (), (), (), 3)
    score = Score(400.0, size or None)
    nothing = (frozenset[int](),) * 5
    rows = CodedRows.of(table)
    screen = Screen(rows, constraints, score)
    *_, found = better_dags(rows, nothing, screen, np.random.default_rng(0))
    expected = best_by_brute_force(table, size)
    np.testing.assert_allclose(found.score, expected, rtol=1e-12)
    own = sum(by_definition(table, y, tuple(p), size) for y, p in enumerate(found.parents))
    np.testing.assert_allclose(own, expected, rtol=1e-12)


def sets_of(
    child: int,
    candidates: tuple[int, ...],
    required: frozenset[int],
    rows: CodedRows,
    score: Score,
    most: int,
    far: HopelessSets | None = None,
) -> ParentSets:
    """The scored parent sets of one variable."""
    [sets] = parent_sets(
        [CandidateParents(child, candidates, required)], ScoredSets(rows, score), most, far
    )
    return sets


def test_a_parent_set_scores_what_its_definition_says() -> None:
    table = random_rows(300, 4)
    sets = sets_of(3, (0, 1, 2), frozenset(), CodedRows.of(table), Score(300.0), 3)
    for mask, some in ((0, ()), (0b1, (0,)), (0b111, (0, 1, 2))):
        subsets = [s for length in range(4) for s in combinations(some, length)]
        expected = max(by_definition(table, 3, subset, 0) for subset in subsets)
        np.testing.assert_allclose(sets.best[mask], expected, rtol=1e-12)


def test_required_parents_are_in_every_set() -> None:
    table = random_rows(300, 4)
    sets = sets_of(3, (0, 1), frozenset({1}), CodedRows.of(table), Score(300.0), 2)
    assert sets.best[0b00] == sets.best[0b01] == -np.inf
    assert sets.parents(0b10) == {1}


@pytest.mark.parametrize("required", [frozenset[int](), frozenset({1})])
def test_sets_far_below_their_subsets_cannot_win(required: frozenset[int]) -> None:
    rows = CodedRows.of(sample_codes(example("child"), 2_000, np.random.default_rng(4)))
    score, candidates = Score(2_000.0), (0, 1, 2, 4, 5, 6)
    far = HopelessSets()
    sets = sets_of(3, candidates, required, rows, score, 3, far)
    again = sets_of(3, candidates, required, rows, score, 3, far)
    np.testing.assert_array_equal(again.best, sets.best)
    np.testing.assert_array_equal(again.chosen, sets.chosen)
    assert again.scored < sets.scored


def test_sets_that_were_far_in_one_completion_are_not_counted_in_another() -> None:
    table = random_rows(800, 4)
    rows, score = CodedRows.of(table), Score(800.0)
    best = tuple(sorted(sets_of(3, (0, 1, 2), frozenset(), rows, score, 3).parents(0b111)))
    assert best
    far = HopelessSets()
    far.add(np.array([3]), numbers_of(5)[list(best)].sum(keepdims=True))
    sets = sets_of(3, (0, 1, 2), frozenset(), rows, score, 3, far)
    all_sets = {own for size in range(4) for own in combinations(range(3), size)}
    left = [by_definition(table, 3, own, 0) for own in all_sets - {best}]
    np.testing.assert_allclose(sets.best[0b111], max(left), rtol=1e-12)


def test_constraints_hold_in_the_result() -> None:
    table = random_rows(800, 5)
    constraints = constraints_of(NAMES, [("E", "A")], [("C", "D")], [["E"], ["B", "D"]], 2)
    start = constraints.directed([set(), {0}, {1}, {2}, {3}])
    rows = CodedRows.of(table)
    screen = Screen(rows, constraints, Score(800.0))
    *_, best = better_dags(rows, start, screen, np.random.default_rng(0))
    found = best.parents
    assert 4 in found[0]
    assert 2 not in found[3]
    assert not {1, 3} & found[4]
    assert max(map(len, found)) <= 2
    assert any(found[y] for y in (1, 2, 3))


def test_a_wider_network_has_the_arcs_that_a_lower_penalty_allows() -> None:
    rows = CodedRows.of(random_rows(300, 11, hidden=0.5))
    constraints = constraints_of(NAMES, (), [("A", "E")], (), 2)
    start = (frozenset[int](), frozenset({0}), frozenset[int](), frozenset[int](), frozenset[int]())
    gains = replace(Gains.of(rows), share=0.1)
    wide = add_gaining_arcs(start, gains, constraints)
    assert all(few <= many for few, many in zip(start, wide, strict=True))
    assert sum(map(len, wide)) > sum(map(len, start))
    assert max(map(len, wide)) <= 2
    assert 0 not in wide[4]
    assert len(topological_by_number(wide)) == 5
    for y, own in enumerate(wide):  # nothing that could be added gains
        for x in set(range(5)) - own - {y}:
            is_open = len(own) < 2 and not constraints.forbidden[x, y]
            before = constraints.order(start)
            if is_open and before.index(x) < before.index(y):
                assert gains.gain(x, y, own) <= 0
    assert gains.gain(0, 1, frozenset()) > Gains.of(rows).gain(0, 1, frozenset())


def gain_by_definition(rows: CodedRows, y: int, x: int, given: Sequence[int]) -> float:
    """The paired gain, from the table of the rows that show all of it."""
    table = rows.count([y, x, *given])
    whole = table.sum()
    if whole < 2:
        return -np.inf
    law = table / whole
    entropy = [
        -sum(p * log(p) for p in law.sum(axis=axes).ravel() if p > 0)
        for axes in ((1,), (0,), (), (0, 1))
    ]
    information = entropy[0] + entropy[1] - entropy[2] - entropy[3]
    free = (table.shape[0] - 1) * (table.shape[1] - 1) * prod(table.shape[2:])
    return float(whole * information - log(whole) / 2 * free)


@pytest.mark.parametrize("room", [2**20, 60])
@pytest.mark.parametrize("hidden", [0.0, 0.3, 0.9])
def test_tables_side_by_side_are_those_counted_one_by_one(hidden: float, room: int) -> None:
    rows = CodedRows.of(random_rows(80, 5, hidden=hidden))
    weighted = replace(rows, weights=np.random.default_rng(0).random(80))
    for some, known in product((rows, weighted), ((), (3,), (4, 2))):
        others = [x for x in (0, 2, 3, 4) if x not in known]
        found: dict[int, float] = {}
        for tables in tables_beside(some, 1, known, others, room):
            for at, x in enumerate(tables.others):
                shape = tables.table(at).shape
                counts = some.count([*known, 1, x]).reshape(shape)
                np.testing.assert_allclose(tables.table(at), counts, rtol=1e-12)
            information, cost = informations(tables)
            found |= zip(tables.others, (information - cost).tolist(), strict=True)
        for x in set(others) - set(found):
            assert prod(some.sizes[v] + 1 for v in (x, 1, *known)) > room
        assert room == 60 or len(found) == len(others)
        for x, gain in found.items():
            assert gain == pytest.approx(gain_by_definition(some, 1, x, known), abs=1e-9)


def test_tables_are_the_same_where_the_states_of_all_rows_take_too_much_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = CodedRows.of(random_rows(80, 5, hidden=0.3))
    [held] = tables_beside(rows, 1, (3,), (0, 2, 4))
    monkeypatch.setattr("lacunet.structure.indexed_rows.MAX_INDEXED_CELLS", 0)
    [tables] = tables_beside(replace(rows), 1, (3,), (4, 0, 2))
    assert tables.others == held.others == (0, 2, 4)
    np.testing.assert_array_equal(tables.counts, held.counts)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_where_the_states_of_all_rows_are_not_held_only_a_few_columns_are(
    monkeypatch: pytest.MonkeyPatch, is_weighted: bool
) -> None:
    monkeypatch.setattr("lacunet.structure.indexed_rows.MAX_INDEXED_CELLS", 0)
    rng = np.random.default_rng(0)
    columns = tuple(rng.integers(0, 3, 20_000).astype(np.uint8) for _ in range(30))
    weights = rng.random(20_000) if is_weighted else None
    rows = CodedRows(tuple(map(str, range(30))), columns, (3,) * 30, weights, 20_000.0)
    tracemalloc.start()
    [tables] = tables_beside(rows, 0, (1,), range(2, 30))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    np.testing.assert_allclose(tables.table(7).ravel(), rows.count([1, 0, 9]).ravel(), rtol=1e-12)
    assert most < 6 * 8 * 20_000  # six columns of numbers, not 30 or 90


def test_all_pairs_are_counted_as_one_by_one() -> None:
    table = random_rows(500, 6, hidden=0.2)
    rows = CodedRows.of(table)
    gains = Gains.of(rows)
    for y, x in combinations(range(5), 2):
        expected = gain_by_definition(rows, y, x, ())
        assert gains.gain(y, x, frozenset()) == pytest.approx(expected, rel=1e-10)
        assert gains.gain(x, y, frozenset()) == pytest.approx(expected, rel=1e-10)


def test_pairs_are_counted_in_strips_as_they_are_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    table = random_rows(500, 6, hidden=0.2)
    for weights in (None, np.random.default_rng(7).integers(1, 5, 500).astype(float)):
        rows = replace(CodedRows.of(table), weights=weights)
        at_once = rows.pairs
        with monkeypatch.context() as patched:
            patched.setattr("lacunet.structure.indexed_rows.PAIR_CELLS", 4 * sum(rows.sizes))
            patched.setattr("lacunet.structure.indexed_rows.BLOCK_CELLS", 100 * sum(rows.sizes))
            in_strips = Pairs(rows)
        for kind in ("information", "cost"):
            expected = getattr(at_once, kind)
            np.testing.assert_allclose(getattr(in_strips, kind), expected, rtol=1e-12, atol=1e-10)
        np.testing.assert_array_equal(in_strips.determines, at_once.determines)


def test_gains_of_another_share_of_the_penalty_count_nothing_again() -> None:
    gains = Gains.of(CodedRows.of(random_rows(300, 2, hidden=0.3)))
    first = gains.of_each(0, [1, 2, 3], frozenset({4}))
    wide = replace(gains, share=0.5)
    counted = len(gains.known)
    second = wide.of_each(0, [1, 2, 3], frozenset({4}))
    assert len(gains.known) == counted
    assert all(more > less for more, less in zip(second, first, strict=True))


def test_a_gain_on_complete_rows_is_a_difference_of_scores() -> None:
    table = random_rows(400, 7)
    gain = Gains.of(CodedRows.of(table)).gain(1, 4, frozenset({0, 2}))
    more, less = (by_definition(table, 4, some, 0) for some in ((0, 1, 2), (0, 2)))
    np.testing.assert_allclose(gain, more - less, rtol=1e-9)


def test_weights_of_two_equal_a_row_twice() -> None:
    table = random_rows(200, 8)
    twice = table.take(np.repeat(np.arange(200), 2))
    weighted = EncodedTable(table.cardinality_of, table.columns, np.full(200, 2.0))
    for scope in ((0, 1), (2, 3, 4)):
        one, two = CodedRows.of(twice).count(scope), CodedRows.of(weighted).count(scope)
        np.testing.assert_array_equal(one, two)


def test_independent_variables_gain_nothing_and_equal_ones_much() -> None:
    def gain(table: np.ndarray) -> float:
        ((information,), (cost,)) = informations(Beside((1,), table[None], np.array([0])))
        return float(information - cost)

    assert gain(np.full((2, 2), 25.0)) == pytest.approx(-log(100) / 2, rel=1e-12)
    assert gain(np.diag([50.0, 50.0])) == pytest.approx(100 * log(2) - log(100) / 2, rel=1e-12)


def any_pair(*pair: int) -> bool:
    return len(pair) == 2


def gains_of_the_law(network: Network) -> Gains:
    """The exact law of a small network as rows with weights: what endless data would say."""
    law = joint(network)
    states = np.indices(law.shape).reshape(law.ndim, -1).astype(np.uint8)
    columns = dict(zip(network.variables, states, strict=True))
    sizes = dict(zip(network.variables, law.shape, strict=True))
    return Gains.of(CodedRows.of(EncodedTable(sizes, columns, law.ravel() * 1e7)))


@pytest.mark.parametrize("name", ["asia", "survey", "cancer"])
def test_greedy_search_on_the_exact_law_finds_the_class_of_the_truth(name: str) -> None:
    network = example(name)
    nodes, gains = len(network.variables), gains_of_the_law(network).of_each
    *_, found = greedy_equivalence_search(nodes, gains, 4, any_pair)
    assert compare_structures(network, cpdag_of(network.variables, found)).shd == 0


@pytest.mark.parametrize("weight", [1.0, 3.0])
def test_some_of_the_rows_do_not_count_for_all(weight: float) -> None:
    rng = np.random.default_rng(2)
    columns = {name: rng.integers(0, 2, 3_000).astype(np.uint8) for name in "ABC"}
    rows = CodedRows.of(EncodedTable(dict.fromkeys("ABC", 2), columns))
    heavy = replace(rows, weights=np.full(3_000, weight), total=3_000 * weight)
    some, heavy_some = rows.thinned(100), heavy.thinned(100)
    assert (some.total, heavy_some.total) == (100, 100 * weight)
    np.testing.assert_array_equal(heavy_some.count([0, 1]), weight * some.count([0, 1]))


def test_the_search_beats_greedy_search_on_alarm() -> None:
    truth = example("alarm")
    table = in_order_of_content(sample_codes(truth, 2_000, np.random.default_rng(3)))
    rows = CodedRows.of(table)
    nodes = len(rows)
    constraints = constraints_of(truth.variables, (), (), (), 4)
    *_, greedy = greedy_equivalence_search(nodes, Gains.of(rows).of_each, 4, any_pair)
    score = Score(rows.total)
    screen = Screen(rows, constraints, score)
    *_, found = better_dags(rows, (frozenset[int](),) * nodes, screen, np.random.default_rng(0))
    from_greedy = sum(
        sets_of(y, tuple(sorted(own)), frozenset(own), rows, score, 9).best[-1]
        for y, own in enumerate(greedy)
    )
    assert found.score > from_greedy
    ours = compare_structures(truth, cpdag_of(truth.variables, found.parents))
    theirs = compare_structures(truth, cpdag_of(truth.variables, greedy))
    assert ours.shd < theirs.shd


def test_a_cause_that_shows_only_together_with_another_is_a_candidate() -> None:
    rng = np.random.default_rng(1)
    one, other, *noise = rng.integers(0, 2, (14, 2_000))
    effect = (one ^ other) ^ (rng.random(2_000) < 0.2)
    columns = dict(zip("YABCDEFGHIJKLMN", [effect, one, other, *noise], strict=True))
    codes = {name: own.astype(np.uint8) for name, own in columns.items()}
    rows = CodedRows.of(EncodedTable(dict.fromkeys(codes, 2), codes))
    screen = Screen(rows, constraints_of(tuple(columns), (), (), (), 4), Score(2_000))
    nothing = (frozenset[int](),) * len(columns)
    turned = (*nothing[:2], frozenset({0}), *nothing[3:])  # Y -> B, where B -> Y is true
    assert screen.pairs[0, 1] < 0
    assert 1 not in screen.candidates(0, nothing)
    assert 1 in screen.candidates(0, turned)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_where_a_climb_ends_no_variable_is_better_elsewhere(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, nodes = CodedRows.of(random_rows(60, seed % 1000)), range(len(NAMES))
    known = [[x for x in nodes if x != y and rng.random() < 0.7] for y in nodes]
    sets = [sets_of(y, tuple(known[y]), frozenset(), rows, Score(60.0), 2) for y in nodes]
    scores = Scores(sets, [frozenset[int]()] * len(nodes))
    order, score = _climb(scores, [float(place) for place in rng.permutation(len(nodes))], rng)
    np.testing.assert_allclose(score, scores.read(order).score, rtol=1e-12)
    for node in nodes:
        rest = [other for other in order if other != node]
        for place in nodes:
            moved = scores.read([*rest[:place], node, *rest[place:]])
            assert moved.score <= score + IMPROVEMENT


def test_the_search_ends_after_so_many_kicks_without_a_better_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ends = iter([0.0, -1.0, 5.0, 4.0, 4.0, 4.0])  # the start, a worse, a better, three worse

    def scripted(*_: object) -> tuple[list[int], float]:
        return [0], next(ends)

    sets = [sets_of(0, (), frozenset(), CodedRows.of(random_rows(20, 1)), Score(20.0), 1)]
    scores = Scores(sets, [frozenset[int]()])
    monkeypatch.setattr("lacunet.structure.order_search._climb", scripted)
    search(scores, [0], 3, np.random.default_rng(0))
    assert next(ends, None) is None


@pytest.mark.parametrize("size", [1.0, 10.0])
def test_candidates_of_a_search_by_bdeu_are_screened_by_bdeu(size: float) -> None:
    table = random_rows(200, 3)
    constraints = constraints_of(NAMES, (), (), (), 3)
    screen = Screen(CodedRows.of(table), constraints, Score(table.total, size))
    for y in range(len(NAMES)):
        added = screen._added(y, frozenset())
        for x in set(range(len(NAMES))) - {y}:
            gain = by_definition(table, y, (x,), size) - by_definition(table, y, (), size)
            assert added[x] == pytest.approx(gain, abs=1e-9)
            assert screen.pairs[x, y] == pytest.approx(gain, abs=1e-9)


def test_in_a_small_network_everything_is_related_and_in_a_large_one_what_gains() -> None:
    gains = np.full((ALL_PAIRS_VARIABLES + 1,) * 2, -1.0)
    gains[3, 5] = gains[5, 3] = 2.0
    found = variables_that_gain(gains)
    assert found is not None
    assert found[3] == {5}
    assert not found[4]
    assert variables_that_gain(gains[1:, 1:]) is None


def test_a_greedy_search_among_related_variables_finds_what_their_neighbours_bring() -> None:
    def gains(y: int, others: Sequence[int], given: frozenset[int]) -> list[float]:
        return [{(0, 1): 5.0, (1, 2): 4.0}.get((min(x, y), max(x, y)), -1.0) for x in others]

    related_to = [frozenset({1}), frozenset({0}), frozenset(), frozenset()]
    nothing = greedy_equivalence_search(4, gains, 4, any_pair, related=related_to)
    assert sum(map(len, list(nothing)[-1])) == 1
    through_zero = [frozenset({1, 2}), *related_to[1:]]  # 1 is looked at with all that 0 relates to
    *_, found = greedy_equivalence_search(4, gains, 4, any_pair, related=through_zero)
    assert sum(map(len, found)) == 2


def test_sets_are_scored_where_most_of_a_thousand_rows_differ() -> None:
    # More rows than the sample that is looked at, fewer than are counted row by row.
    codes = np.random.default_rng(6).integers(0, 12, (4, 1_500)).astype(np.uint8)
    columns = dict(zip("ABCD", codes, strict=True))
    rows = CodedRows.of(EncodedTable(dict.fromkeys("ABCD", 12), columns))
    assert rows.differ_in((0, 1, 2, 3))
    sets = sets_of(3, (0, 1, 2), frozenset(), rows, Score(1_500.0), 3)
    counts = np.bincount(codes[3])
    alone = (counts * np.log(counts / 1_500)).sum() - np.log(1_500) / 2 * 11
    np.testing.assert_allclose(sets.best[0b111], alone, rtol=1e-12)
