"""What is hidden is what the mechanisms say, and nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from examples import RAIN
from lacunet.data.table import EncodedTable
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.mechanisms import MechanismCpt, Missingness
from lacunet.model.network import Network
from lacunet.simulate.at_random import MAR, MCAR, InformedMAR, Missing
from lacunet.simulate.by_graph import MissingByGraph
from lacunet.simulate.errors import SimulationError
from lacunet.simulate.generators import random_network
from lacunet.simulate.hiding import hide
from lacunet.simulate.simulation import Simulation, simulate
from strategies import networks

SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def simulations(draw: st.DrawFn) -> Simulation:
    network = draw(networks(max_variables=6))
    observed = len(network.variables) - len(network.variables) // 2
    missing: Missing = draw(
        st.sampled_from(
            [
                MCAR(0.5, 0.5),
                MAR(0.5, min(2, observed), (0.5, 0.5)),
                InformedMAR(0.5, observed, min(2, observed), (0.5, 0.5)),
                MissingByGraph(_self_censoring(network)),
            ]
        )
    )
    return simulate(network, 30, missing, np.random.default_rng(draw(SEEDS)))


def _self_censoring(network: Network) -> MissingnessGraph:
    return MissingnessGraph(network, {network.variables[-1]: [network.variables[-1]]})


@settings(deadline=None)
@given(simulations())
def test_variables_without_a_mechanism_stay_fully_observed(made: Simulation) -> None:
    assert set(made.table.partially_observed) <= set(made.mechanisms)
    assert made.complete.partially_observed == ()
    assert made.graph.partially_observed == tuple(
        name for name in made.network.variables if name in made.mechanisms
    )


@settings(deadline=None)
@given(simulations())
def test_shown_cells_are_those_of_the_complete_rows(made: Simulation) -> None:
    assert made.table.variables == made.complete.variables == made.network.variables
    for name, column in made.table.columns.items():
        shown = made.table.is_shown([name])
        np.testing.assert_array_equal(column[shown], made.complete.columns[name][shown])
        assert column.dtype == made.complete.columns[name].dtype
        assert (column[~shown] == made.network.cardinality(name)).all()


@settings(deadline=None)
@given(networks(max_variables=6), SEEDS)
def test_cells_are_hidden_exactly_where_a_mechanism_of_zeros_and_ones_says(
    network: Network, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    hidden, *others = network.variables
    seen = tuple(others[:2])
    decided = rng.integers(0, 2, network.shape(seen)).astype(float)
    graph = MissingnessGraph(network, {hidden: seen})
    made = simulate(network, 40, MissingByGraph(graph, {hidden: decided}), rng)
    expected = decided[tuple(made.complete.columns[name] for name in seen)] == 0
    np.testing.assert_array_equal(made.table.is_shown([hidden]), np.broadcast_to(expected, 40))


def deviations(made: Simulation, one: MechanismCpt) -> tuple[float, int]:
    """Pearson's statistic of one mechanism against its table, and its degrees of freedom."""
    seen = [made.complete.columns[str(parent)] for parent in one.parents]
    at = np.ravel_multi_index(seen, one.missing.shape) if seen else np.zeros(made.table.rows, int)
    rows = np.bincount(at, minlength=one.missing.size)
    hidden = np.bincount(at[~made.table.is_shown([one.variable])], minlength=one.missing.size)
    rate = one.missing.ravel()
    variance = rows * rate * (1 - rate)
    often = variance >= 5  # the normal approximation holds
    deviation = (hidden - rows * rate)[often] ** 2 / variance[often]
    return float(deviation.sum()), len(deviation)


@pytest.mark.parametrize(
    "missing",
    [
        MCAR(0.3, 0.7),
        MAR(0.3, 2, (1.0, 0.5)),
        MAR(0.9, 2, (0.5, 0.5)),
        InformedMAR(0.3, 3, 2, (1.0, 0.5)),
    ],
)
def test_rates_of_missing_values_agree_with_the_mechanisms(missing: Missing) -> None:
    network = random_network(30, np.random.default_rng(41), states=(2, 4))
    made = simulate(network, 100_000, missing, np.random.default_rng(42))
    found = [deviations(made, one) for one in made.mechanisms.values()]
    statistic, freedom = (sum(values) for values in zip(*found, strict=True))
    assert freedom >= len(made.mechanisms)
    assert stats.chi2(freedom).sf(statistic) > 0.001
    assert stats.chi2(freedom).cdf(statistic) > 0.001  # nor too good to be true


def test_cells_of_different_mechanisms_are_hidden_independently() -> None:
    network = random_network(4, np.random.default_rng(43))
    made = simulate(network, 100_000, MCAR(1.0, 0.5), np.random.default_rng(44))
    shown = [made.table.is_shown([name]) for name in network.variables]
    patterns = np.bincount(sum(column * 2**at for at, column in enumerate(shown)), minlength=16)
    assert stats.chisquare(patterns).pvalue > 0.001


@settings(deadline=None)
@given(networks(), SEEDS)
def test_one_seed_gives_one_simulation(network: Network, seed: int) -> None:
    one, two = (simulate(network, 20, MCAR(1.0, 0.5), np.random.default_rng(seed)) for _ in "ab")
    for name in network.variables:
        np.testing.assert_array_equal(one.table.columns[name], two.table.columns[name])


def test_the_complete_rows_do_not_depend_on_what_is_hidden() -> None:
    kinds = [None, MCAR(1.0, 0.5), MAR(0.4, 2)]
    made = [simulate(RAIN, 50, kind, np.random.default_rng(45)) for kind in kinds]
    for name in RAIN.variables:
        for other in made[1:]:
            np.testing.assert_array_equal(
                made[0].complete.columns[name], other.complete.columns[name]
            )


def test_the_mechanisms_do_not_depend_on_the_number_of_rows() -> None:
    few, many = (simulate(RAIN, rows, MAR(0.4, 2), np.random.default_rng(46)) for rows in (5, 50))
    assert few.graph == many.graph
    for name, one in few.mechanisms.items():
        np.testing.assert_array_equal(one.missing, many.mechanisms[name].missing)


def test_nothing_is_hidden_where_nothing_is_asked_for() -> None:
    made = simulate(RAIN, 10, None, np.random.default_rng(47))
    assert made.table is made.complete
    assert made.missingness is None
    assert made.mechanisms == {}
    assert made.graph.partially_observed == ()


def test_hiding_keeps_weights_and_row_numbers_and_changes_no_input() -> None:
    codes = np.array([0, 1, 0], np.uint8)
    weights, numbers = np.array([1.0, 2.0, 3.0]), np.array([1, 4, 9])
    table = EncodedTable.of({"Rain": 2}, {"Rain": codes}, weights, ("note",), numbers)
    rain = Network({"Rain": ["no", "yes"]})
    always = MechanismCpt("Rain", (), np.array(1.0))
    missingness = Missingness(MissingnessGraph(rain, {"Rain": ()}), {"Rain": always})
    hidden = hide(table, missingness, np.random.default_rng(0))
    assert hidden.columns["Rain"].tolist() == [2, 2, 2]
    assert codes.tolist() == [0, 1, 0]
    assert hidden.weights is weights
    assert hidden.row_numbers is numbers
    assert hidden.notes == ("note",)


def test_a_mechanism_cannot_look_at_what_is_missing_already() -> None:
    codes = np.array([0, 2], np.uint8)
    table = EncodedTable.of({"Rain": 2, "Wet": 2}, {"Rain": codes, "Wet": codes})
    graph = MissingnessGraph(RAIN, {"Wet": ["Rain"]})
    drawn = MissingByGraph(graph).draw(RAIN, np.random.default_rng(0))
    with pytest.raises(SimulationError, match=r"look at \['Rain'\]"):
        hide(table, drawn, np.random.default_rng(0))


def test_what_is_missing_already_stays_missing() -> None:
    codes = np.array([0, 2], np.uint8)
    table = EncodedTable.of({"Wet": 2}, {"Wet": codes})
    drawn = MissingByGraph(MissingnessGraph.parse("R[Wet]", RAIN), {"Wet": 0.0}).draw(
        RAIN, np.random.default_rng(0)
    )
    assert hide(table, drawn, np.random.default_rng(0)).columns["Wet"].tolist() == [0, 2]
