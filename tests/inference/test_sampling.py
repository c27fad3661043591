"""Rows drawn from a network follow its joint distribution."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from examples import RAIN
from lacunet.data.table import EncodedTable
from lacunet.inference.sampling import DRAWN_AT_A_TIME, SimulationError, draw_columns, sample_codes
from lacunet.network.cpt import Cpt
from lacunet.network.errors import NetworkError
from lacunet.network.network import Network
from strategies import networks
from studies.problems.generators import random_network

# Chi-square tests run at fixed seeds; a right sampler fails one at a fresh seed with this
# probability.
SIGNIFICANCE = 0.001


def joint(network: Network) -> np.ndarray:
    """The joint distribution, cell by cell, straight from its definition."""
    shape = network.shape(network.variables)
    cells = np.ones(shape)
    for cell in product(*map(range, shape)):
        state_of = dict(zip(network.variables, cell, strict=True))
        for cpt in network.cpts:
            cells[cell] *= cpt.table[tuple(state_of[name] for name in cpt.family)]
    return cells


def counts(table: EncodedTable, shape: tuple[int, ...]) -> np.ndarray:
    cells = np.zeros(shape, int)
    np.add.at(cells, tuple(table.columns.values()), 1)
    return cells


@pytest.mark.parametrize(
    "network",
    [
        RAIN,
        random_network(5, np.random.default_rng(5), states=(2, 4)),
        random_network(6, np.random.default_rng(6), states=(2, 3), determinism=0.5),
        random_network(2, np.random.default_rng(7), states=(9, 17)),
    ],
)
def test_counts_of_whole_rows_agree_with_the_joint(network: Network) -> None:
    rows = 10**6  # some thirty blocks
    found = counts(
        sample_codes(network, rows, np.random.default_rng(8)), network.shape(network.variables)
    )
    expected = joint(network) * rows
    assert not found[expected == 0].any()
    often = expected >= 5
    seen = [*found[often], found[~often].sum()]
    meant = [*expected[often], expected[~often].sum()]
    kept = np.array(meant) > 0
    assert stats.chisquare(np.array(seen)[kept], np.array(meant)[kept]).pvalue > SIGNIFICANCE


@settings(deadline=None)
@given(networks(max_states=7), st.integers(0, 2**32 - 1))
def test_each_state_is_the_number_of_cumulative_sums_that_its_uniform_number_reaches(
    network: Network, seed: int
) -> None:
    rows = 40
    table = sample_codes(network, rows, np.random.default_rng(seed))
    rng = np.random.default_rng(seed)
    for name in network.order:
        uniform = rng.random(rows)
        cpt = network.cpt(name)
        for row in range(rows):
            given_parents = cpt.table[tuple(table.columns[p][row] for p in cpt.parents)]
            reached = np.searchsorted(np.cumsum(given_parents)[:-1], uniform[row], side="right")
            assert table.columns[name][row] == reached


@settings(deadline=None)
@given(networks(), st.integers(0, 2**32 - 1))
def test_one_seed_gives_one_table_without_holes(network: Network, seed: int) -> None:
    one = sample_codes(network, 25, np.random.default_rng(seed))
    two = sample_codes(network, 25, np.random.default_rng(seed))
    assert one.variables == network.variables
    assert one.partially_observed == ()
    for name in network.variables:
        np.testing.assert_array_equal(one.columns[name], two.columns[name])
        assert one.columns[name].max() < network.cardinality(name)


def test_another_seed_gives_another_table() -> None:
    one, two = (
        sample_codes(RAIN, 100, np.random.default_rng(seed)).columns["Wet"] for seed in (1, 2)
    )
    assert (one != two).any()


class Extremes:
    """A stand-in for a generator that gives only the two ends of [0, 1)."""

    def random(self, size: int) -> np.ndarray:
        return np.resize([0.0, 1 - 2**-53], size)


def test_a_state_of_probability_zero_is_not_drawn_even_at_the_ends_of_the_unit_interval() -> None:
    # Ten times 0.1 adds up to 1 - 2^-53 in floating point: the sum before the last zero.
    tenths = Cpt("Ten", (), np.array([0.0] + [0.1] * 10 + [0.0, 0.0]))
    assert np.cumsum(tenths.table)[-1] < 1
    drawn = draw_columns([tenths], {}, 4, Extremes())  # type: ignore[arg-type]
    assert drawn["Ten"].tolist() == [1, 10, 1, 10]


def test_rows_of_every_block_are_drawn_afresh() -> None:
    column = sample_codes(RAIN, 2 * DRAWN_AT_A_TIME + 1, np.random.default_rng(3)).columns[
        "Sprinkler"
    ]
    assert (column[:DRAWN_AT_A_TIME] != column[DRAWN_AT_A_TIME : 2 * DRAWN_AT_A_TIME]).any()
    assert len(column) == 2 * DRAWN_AT_A_TIME + 1


def test_three_hundred_states_need_wider_codes() -> None:
    wide = Network({"X": [str(at) for at in range(300)]}, {}, {"X": np.full(300, 1 / 300)})
    rows = 300_000
    column = sample_codes(wide, rows, np.random.default_rng(9)).columns["X"]
    assert column.dtype == np.uint16
    found = np.bincount(column, minlength=300)
    assert stats.chisquare(found).pvalue > SIGNIFICANCE


def test_a_network_without_cpts_cannot_be_sampled() -> None:
    with pytest.raises(NetworkError, match="CPT for 'X'"):
        sample_codes(Network({"X": ["a"]}), 1, np.random.default_rng(0))


def test_a_negative_number_of_rows_is_refused_and_none_is_a_table() -> None:
    with pytest.raises(SimulationError, match="not -1"):
        sample_codes(RAIN, -1, np.random.default_rng(0))
    assert sample_codes(RAIN, 0, np.random.default_rng(0)).rows == 0
