"""What cells cost: BIC where all are possible, less where some are not, the same in a class."""

from __future__ import annotations

from itertools import permutations, product
from math import comb, log

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

import lacunet as lc
from lacunet.inference.sampling import sample_codes
from lacunet.structure.cells import (
    EXPECTED_ROWS,
    cost_of_cells,
    cost_of_family,
    impossible_cells,
)

Floats = NDArray[np.float64]


def by_definition(counts: Floats) -> int:
    """The cells that no row has though five should, one by one."""
    total = counts.sum()
    found = 0
    for at in product(*map(range, counts.shape)):
        expected = total
        for axis, state in enumerate(at):
            expected *= np.take(counts, state, axis).sum() / total
        found += counts[at] == 0 and expected >= EXPECTED_ROWS
    return found


@st.composite
def tables(draw: st.DrawFn) -> Floats:
    shape = draw(st.tuples(*[st.integers(2, 3)] * draw(st.integers(2, 3))))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shown = rng.random(shape) < draw(st.floats(0.3, 1.0))
    counts = rng.poisson(draw(st.floats(1.0, 60.0)), shape) * shown
    counts[(0,) * len(shape)] += 1
    return counts.astype(float)


# The parents' third and first states together are expected in 15 * 22 / 66 rows, five.
@example(
    np.array([[[5, 8, 0], [0, 14, 0]], [[0, 9, 0], [15, 0, 0]], [[0, 0, 0], [0, 15, 0]]], float)
)
@given(tables())
def test_impossible_cells_are_those_that_their_definition_names(counts: Floats) -> None:
    both, alone = impossible_of(counts)
    assert both == by_definition(counts)
    assert alone == (by_definition(counts.sum(axis=-1)) if counts.ndim > 2 else 0)


def impossible_of(table: Floats) -> tuple[int, int]:
    """The impossible cells of a family, and of its parents; the child is the last."""
    return impossible_cells(table), impossible_cells(table.sum(axis=-1))


# Cells of two variables that exclude each other; with the third too few rows are expected.
OF_THE_PARENTS_ALONE = np.array([[10.0, 0, 0], [0, 7, 3], [0, 3, 7]])[..., None] * np.ones(3)


@given(tables())
@example(OF_THE_PARENTS_ALONE)
def test_all_orders_of_a_complete_dag_cost_the_same(counts: Floats) -> None:
    each = log(counts.sum() + 2) / 2
    costs = []
    for order in permutations(range(counts.ndim)):
        total = 0.0
        for at, node in enumerate(order):
            family = [*order[:at], node]
            rest = tuple(axis for axis in range(counts.ndim) if axis not in family)
            table = counts.sum(axis=rest)
            kept = sorted(family)
            table = np.moveaxis(table, kept.index(node), -1)
            configurations, states = table.size // table.shape[-1], table.shape[-1]
            total += cost_of_family(states, configurations, impossible_of(table), each)
        costs.append(total)
    np.testing.assert_allclose(costs, costs[0], rtol=1e-12)


def test_without_impossible_cells_a_family_costs_what_bic_takes() -> None:
    assert cost_of_family(3, 4, (0, 0), 2.5) == 2 * 4 * 2.5


@pytest.mark.parametrize("cells", [4, 12, 60])
def test_naming_impossible_cells_is_a_code(cells: int) -> None:
    """What the names cost are lengths of a code, by Kraft's inequality: each cell set has one."""
    share = sum(
        comb(cells, some) * np.exp((cells - some - 1) * 50 - cost_of_cells(cells, some, 50.0))
        for some in range(1, cells)
    )
    assert share <= 1


def with_impossible_states() -> lc.Network:
    """Two of the eight configurations of a variable's parents cannot occur."""
    works = [[[[0.68, 0.32], [0.02, 0.98]], [[0.03, 0.97], [0.5, 0.5]]]]
    works += [[[[0.97, 0.03], [0.05, 0.95]], [[0.48, 0.52], [0.5, 0.5]]]]
    return lc.Network(
        dict.fromkeys(["Ill", "Bleeds", "Rests", "Works"], ("no", "yes")),
        {"Bleeds": ["Ill"], "Rests": ["Ill"], "Works": ["Rests", "Bleeds", "Ill"]},
        {
            "Ill": np.array([0.6, 0.4]),
            "Rests": np.array([[0.45, 0.55], [0.95, 0.05]]),
            "Bleeds": np.array([[0.76, 0.24], [1, 0]]),
            "Works": np.array(works),
        },
    )


def test_the_structure_with_impossible_states_is_found_in_fewer_rows() -> None:
    truth = with_impossible_states()
    found = {"sparse-bic": 0, "bic": 0}
    for seed in range(4):
        rows = sample_codes(truth, 500, np.random.default_rng(seed))
        for score in found:
            learned = lc.learn_structure(
                lc.Data(rows, states=truth.states_of), score=score, strengths=0
            )
            found[score] += lc.compare_structures(truth, learned).f1 == 1
    assert found == {"sparse-bic": 3, "bic": 0}


def test_both_scores_are_the_same_where_all_states_come_together() -> None:
    rows = sample_codes(lc.example("sachs"), 20_000, np.random.default_rng(2))
    one, two = (
        lc.learn_structure(rows, max_parents=2, score=score, strengths=0)
        for score in ("sparse-bic", "bic")
    )
    assert one.cpdag == two.cpdag
