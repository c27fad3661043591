"""The scores of sets: by definition, however they are counted, and as parts of families' scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product
from math import comb, lgamma, log, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lacunet.data.table import EncodedTable
from lacunet.structure import scored_parents, set_scores
from lacunet.structure.cells import EXPECTED_ROWS
from lacunet.structure.indexed_rows import CodedRows
from lacunet.structure.scored_parents import CandidateParents, parent_sets
from lacunet.structure.set_scores import CountedSets, Score, ScoredSets, Wanted

SIZES = (2, 3, 2, 4, 2)


def random_rows(rows: int, seed: int, *, weighted: bool) -> CodedRows:
    """Rows in which some states exclude each other."""
    rng = np.random.default_rng(seed)
    columns = {}
    for at, size in enumerate(SIZES):
        own = rng.integers(0, size, rows)
        if at > 1:
            own = np.where(columns["B"] == 0, 0, own)
        columns["ABCDE"[at]] = own.astype(np.uint8)
    weights = rng.integers(1, 5, rows).astype(float) if weighted else None
    return CodedRows.of(EncodedTable(dict(zip("ABCDE", SIZES, strict=True)), columns, weights))


def table_of(rows: CodedRows, scope: tuple[int, ...]) -> Iterator[tuple[float, float]]:
    """The weight of each cell, and what it would be were the variables independent."""
    weights = np.ones(rows.rows) if rows.weights is None else rows.weights
    for states in product(*(range(rows.sizes[node]) for node in scope)):
        has = [rows.columns[node] == state for node, state in zip(scope, states, strict=True)]
        every = np.logical_and.reduce(has) if has else np.ones(rows.rows, bool)
        expected = rows.total * prod(float(weights[one].sum()) / rows.total for one in has)
        yield float(weights[every].sum()), expected


def by_definition(rows: CodedRows, scope: tuple[int, ...], score: Score) -> float:
    cells = list(table_of(rows, scope))
    counts, number = [count for count, _ in cells], len(cells)
    if score.equivalent_size is not None:
        own = score.equivalent_size / number
        return sum(lgamma(count + own) - lgamma(own) for count in counts)
    fit = sum(count * log(count) for count in counts if count)
    each = log(rows.total) / 2
    cost = (number - 1) * each
    if score.is_sparse:
        impossible = sum(count == 0 and expected >= EXPECTED_ROWS for count, expected in cells)
        named = (number - impossible - 1) * each + log(comb(number, impossible)) + log(number)
        cost = min(cost, named) if impossible else cost
    return fit - cost


KINDS = [(None, False), (None, True), (3.0, False)]


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.booleans(),
    st.sampled_from(KINDS),
    st.booleans(),
    st.booleans(),
)
def test_a_set_scores_what_its_definition_says(
    seed: int, weighted: bool, kind: tuple[float | None, bool], row_by_row: bool, are_exact: bool
) -> None:
    rows = random_rows(150, seed, weighted=weighted)
    scopes = [scope for size in range(6) for scope in combinations(range(5), size)]
    masks = {sum(1 << node for node in scope): scope for scope in scopes}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(set_scores, "MIN_ROW_BY_ROW", 0 if row_by_row else 2**11)
        patch.setattr(set_scores, "ROWS_AT_A_TIME", 64)
        patch.setattr(set_scores, "BATCH_WORK", 400)
        patch.setattr(set_scores, "EXACT_VARIABLES", 57 if are_exact else 0)
        scored = ScoredSets(rows, Score(rows.total, *kind))
        count(scored, [mask for mask in masks if mask])
    for scope in masks.values():
        expected = by_definition(rows, scope, scored.score)
        np.testing.assert_allclose(score_of(scored, scope), expected, rtol=1e-11)


def count(scored: ScoredSets, masks: list[int], left_out: int = -1) -> None:
    number = len(masks)
    wanted = Wanted(np.zeros(number, np.int64), np.array(masks), np.full(number, left_out))
    scored.counted.count([scored.counted.configurations(range(5))], wanted)


def score_of(scored: ScoredSets, scope: tuple[int, ...]) -> float:
    [place] = scored.places(scored.numbers[list(scope)].sum(keepdims=True))
    return float(scored.scored[place])


@pytest.mark.parametrize("left_out", range(5))
def test_a_subset_is_scored_from_the_table_of_a_larger_set(left_out: int) -> None:
    rows = random_rows(200, 1, weighted=True)
    scored = ScoredSets(rows, Score(rows.total, is_sparse=True))
    count(scored, [0b11111], left_out)
    scope = tuple(node for node in range(5) if node != left_out)
    expected = by_definition(rows, scope, scored.score)
    np.testing.assert_allclose(score_of(scored, scope), expected, rtol=1e-11)


def test_a_set_is_counted_once_for_all_families() -> None:
    rows = random_rows(300, 2, weighted=False)
    families = [
        CandidateParents(y, tuple(x for x in range(5) if x != y), frozenset()) for y in range(5)
    ]
    scored = ScoredSets(rows, Score(rows.total))
    parent_sets(families, scored, 4)
    sets = scored.counted.sets
    assert len(sets) == len(np.unique(sets)) > 10


@pytest.mark.parametrize("row_by_row", [False, True])
def test_sets_are_the_same_counted_in_several_samples_at_once(
    row_by_row: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(set_scores, "MIN_ROW_BY_ROW", 0 if row_by_row else 2**11)
    rows = random_rows(200, 1, weighted=True)
    assert rows.weights is not None
    samples = [rows, replace(rows, weights=rows.weights[::-1].copy())]
    scores = [Score(rows.total, *KINDS[1]), Score(rows.total, *KINDS[2])]
    together, masks = CountedSets(samples, scores), [0b11010, 0b00111]
    count(ScoredSets(samples[0], scores[0], together), masks)
    for sample, score in product(samples, scores):
        alone = ScoredSets(sample, score)
        count(alone, masks)
        one = ScoredSets(sample, score, together)
        np.testing.assert_allclose(one.fits, alone.fits, rtol=1e-12)
        np.testing.assert_allclose(one.scored, alone.scored, rtol=1e-12)


def test_families_in_several_groups_are_scored_as_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = random_rows(300, 3, weighted=True)
    families = [
        CandidateParents(y, tuple(x for x in range(5) if x != y)[: 2 + y % 3], frozenset())
        for y in range(5)
    ]
    score = Score(rows.total, is_sparse=True)
    together = parent_sets(families, ScoredSets(rows, score), 3)
    monkeypatch.setattr(scored_parents, "MAX_SCORES_HELD", 1)
    alone = parent_sets(families, ScoredSets(rows, score), 3)
    for one, other in zip(together, alone, strict=True):
        assert one.candidates == other.candidates
        assert one.scored == other.scored
        np.testing.assert_allclose(one.best, other.best, rtol=1e-12)
