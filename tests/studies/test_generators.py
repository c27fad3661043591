"""Made-up networks are what they were asked to be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lacunet.inference.sampling import SimulationError
from lacunet.network.network import Network
from studies.problems.generators import grid, random_network

SEEDS = st.integers(0, 2**32 - 1)
SHARES = st.floats(0, 1)


def is_deterministic(network: Network, name: str) -> bool:
    return bool(np.isin(network.cpt(name).table, (0, 1)).all())


def is_constant(network: Network, name: str) -> bool:
    rows = network.cpt(name).table.reshape(-1, network.cardinality(name))
    return bool((rows == rows[0]).all())


@settings(deadline=None)
@given(st.integers(1, 6), SHARES, SEEDS)
def test_every_node_of_a_grid_has_its_left_and_its_upper_neighbour_as_parents(
    size: int, ratio: float, seed: int
) -> None:
    made = grid(size, ratio, np.random.default_rng(seed))
    assert len(made.variables) == size * size
    for name in made.variables:
        _, row, column = name.split("_")
        neighbours = [(int(row), int(column) - 1), (int(row) - 1, int(column))]
        inside = tuple(f"v_{r}_{c}" for r, c in neighbours if r and c)
        assert made.parents(name) == inside


@settings(deadline=None)
@given(st.integers(1, 6), SEEDS)
def test_at_ratio_one_all_but_the_corner_are_functions_that_are_not_constant(
    size: int, seed: int
) -> None:
    made = grid(size, 1.0, np.random.default_rng(seed))
    assert not is_deterministic(made, "v_1_1")
    for name in made.variables[1:]:
        assert is_deterministic(made, name)
        assert not is_constant(made, name)


@settings(deadline=None)
@given(st.integers(1, 6), SEEDS)
def test_at_ratio_zero_no_probability_is_zero_or_one(size: int, seed: int) -> None:
    made = grid(size, 0.0, np.random.default_rng(seed))
    for cpt in made.cpts:
        assert ((cpt.table > 0) & (cpt.table < 1)).all()


def test_a_grid_has_the_share_of_deterministic_nodes_it_was_asked_for() -> None:
    made = grid(60, 0.9, np.random.default_rng(11))
    with_parents = made.variables[1:]
    found = sum(is_deterministic(made, name) for name in with_parents)
    assert stats.binomtest(found, len(with_parents), 0.9).pvalue > 0.001


def test_the_fourteen_functions_of_two_parents_are_equally_frequent() -> None:
    made = grid(60, 1.0, np.random.default_rng(12))
    inner = [name for name in made.variables if len(made.parents(name)) == 2]
    number_of = [
        int("".join(str(int(p)) for p in made.cpt(v).table[..., 0].flat), 2) for v in inner
    ]
    found = np.bincount(number_of, minlength=16)
    assert found[0] == found[15] == 0
    assert stats.chisquare(found[1:15]).pvalue > 0.001


def test_the_other_rows_of_a_grid_are_uniform() -> None:
    made = grid(60, 0.0, np.random.default_rng(13))
    drawn = np.concatenate([cpt.table[..., 0].ravel() for cpt in made.cpts])
    assert stats.kstest(drawn, "uniform").pvalue > 0.001


@settings(deadline=None)
@given(st.integers(1, 12), SEEDS, st.integers(0, 4), st.integers(2, 4), st.integers(0, 3), SHARES)
def test_a_random_network_keeps_to_its_bounds(
    variables: int, seed: int, max_parents: int, fewest: int, more: int, determinism: float
) -> None:
    made = random_network(
        variables,
        np.random.default_rng(seed),
        max_parents=max_parents,
        states=(fewest, fewest + more),
        determinism=determinism,
    )
    assert len(made.variables) == variables
    for name in made.variables:
        assert len(made.parents(name)) <= max_parents
        assert fewest <= made.cardinality(name) <= fewest + more
        assert not (made.parents(name) and is_constant(made, name))


def test_a_random_network_has_the_determinism_it_was_asked_for() -> None:
    made = random_network(2000, np.random.default_rng(14), determinism=0.3)
    with_parents = [name for name in made.variables if made.parents(name)]
    found = sum(is_deterministic(made, name) for name in with_parents)
    assert stats.binomtest(found, len(with_parents), 0.3).pvalue > 0.001


def test_every_number_of_parents_is_as_likely_as_any_other() -> None:
    made = random_network(2000, np.random.default_rng(15), max_parents=3)
    found = np.bincount([len(made.parents(name)) for name in made.variables])
    assert stats.chisquare(found).pvalue > 0.001


@settings(deadline=None)
@given(SEEDS)
def test_one_seed_gives_one_network(seed: int) -> None:
    one, two = (random_network(6, np.random.default_rng(seed), determinism=0.5) for _ in "ab")
    assert one == two
    assert grid(3, 0.5, np.random.default_rng(seed)) == grid(3, 0.5, np.random.default_rng(seed))


def test_what_cannot_be_made_is_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(SimulationError, match="size of a grid must be at least 1"):
        grid(0, 0.5, rng)
    with pytest.raises(SimulationError, match=r"between 0 and 1, not 1\.5"):
        grid(2, 1.5, rng)
    with pytest.raises(SimulationError, match="number of variables must be at least 1"):
        random_network(0, rng)
    with pytest.raises(SimulationError, match="smallest number of states must be at least 2"):
        random_network(2, rng, states=(1, 3))
    with pytest.raises(SimulationError, match="largest number of states must be at least 4"):
        random_network(2, rng, states=(4, 3))
