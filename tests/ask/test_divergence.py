from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import RAIN
from lacunet.ask.evaluate import divergence, kl_divergence, sampled_divergence
from lacunet.errors import LacunetWarning
from lacunet.network.alignment import ComparisonError
from lacunet.network.network import Network
from strategies import networks, random_rows


def by_enumeration(truth: Network, learned: Network) -> float:
    """The definition: the sum over all configurations, cell by cell, matched by name."""
    total = 0.0
    for states in product(*(truth.states(name) for name in truth.variables)):
        at = dict(zip(truth.variables, states, strict=True))
        one, two = probability(truth, at), probability(learned, at)
        if one > 0:
            total += one * np.log(one / two) if two > 0 else np.inf
    return total


def probability(network: Network, states: dict[str, str]) -> float:
    return float(
        np.prod(
            [
                network.cpt(name).table[
                    tuple(network.state_index(axis, states[axis]) for axis in network.family(name))
                ]
                for name in network.variables
            ]
        )
    )


def positive(network: Network, rng: np.random.Generator) -> Network:
    """The same structure with parameters drawn anew, none of them zero."""
    return network.with_tables(
        {
            name: rng.dirichlet(
                np.ones(network.cardinality(name)), network.shape(network.parents(name))
            )
            for name in network.variables
        }
    )


@st.composite
def two_of_one_structure(draw: st.DrawFn, zeros: bool = False) -> tuple[Network, Network]:
    truth = draw(networks(max_variables=6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if not zeros:
        return truth, positive(truth, rng)
    tables = {
        name: random_rows(rng, list(truth.shape(truth.family(name)))) for name in truth.variables
    }
    return truth, truth.with_tables(tables)


@st.composite
def reordered(draw: st.DrawFn, network: Network) -> Network:
    """The same network with variables, states and parents in another order."""
    variables = draw(st.permutations(network.variables))
    states = {name: draw(st.permutations(network.states(name))) for name in variables}
    parents = {name: draw(st.permutations(network.parents(name))) for name in variables}
    tables = {}
    for name in variables:
        axes = [network.family(name).index(axis) for axis in [*parents[name], name]]
        places = [
            [network.state_index(axis, state) for state in states[axis]]
            for axis in [*parents[name], name]
        ]
        tables[name] = network.cpt(name).table.transpose(axes)[np.ix_(*places)]
    return Network(states, parents, tables)


@settings(deadline=None)
@given(two_of_one_structure())
def test_networks_of_one_structure_diverge_as_enumeration_says(
    pair: tuple[Network, Network],
) -> None:
    assert kl_divergence(*pair) == pytest.approx(by_enumeration(*pair), rel=1e-10, abs=1e-13)


@settings(deadline=None)
@given(two_of_one_structure(zeros=True))
def test_a_zero_counts_only_where_the_truth_can_be(pair: tuple[Network, Network]) -> None:
    assert kl_divergence(*pair) == pytest.approx(by_enumeration(*pair), rel=1e-10, abs=1e-13)


@settings(deadline=None)
@given(st.data())
def test_the_order_of_variables_states_and_parents_changes_nothing(data: st.DataObject) -> None:
    truth, learned = data.draw(two_of_one_structure())
    turned = data.draw(reordered(learned))
    expected = kl_divergence(truth, learned)
    assert kl_divergence(truth, turned) == pytest.approx(expected, rel=1e-12, abs=1e-15)


@st.composite
def two_structures(draw: st.DrawFn) -> tuple[Network, Network]:
    truth = draw(networks(max_variables=6))
    variables = draw(st.permutations(truth.variables))
    parents = {
        name: draw(st.lists(st.sampled_from(variables[:at]), max_size=3, unique=True))
        for at, name in enumerate(variables)
        if at
    }
    other = Network(truth.states_of, parents, None)
    return truth, positive(other, np.random.default_rng(draw(st.integers(0, 2**32 - 1))))


@settings(deadline=None)
@given(two_structures())
def test_networks_of_different_structure_diverge_as_enumeration_says(
    pair: tuple[Network, Network],
) -> None:
    assert kl_divergence(*pair) == pytest.approx(by_enumeration(*pair), rel=1e-9, abs=1e-13)


@given(networks())
def test_a_network_does_not_diverge_from_itself(network: Network) -> None:
    assert kl_divergence(network, network) == 0


def test_two_coins_diverge_as_done_by_hand() -> None:
    fair = Network({"Coin": ["head", "tail"]}, tables={"Coin": [0.5, 0.5]})
    bent = Network({"Coin": ["tail", "head"]}, tables={"Coin": [0.75, 0.25]})
    assert kl_divergence(fair, bent) == pytest.approx(np.log(2) - np.log(3) / 2, rel=1e-14)
    expected = 0.75 * np.log(0.75 / 0.5) + 0.25 * np.log(0.25 / 0.5)
    assert kl_divergence(bent, fair) == pytest.approx(expected, rel=1e-14)


def test_excluding_what_the_truth_allows_is_infinitely_wrong() -> None:
    fair = Network({"Coin": ["head", "tail"]}, tables={"Coin": [0.5, 0.5]})
    sure = Network({"Coin": ["head", "tail"]}, tables={"Coin": [1.0, 0.0]})
    assert kl_divergence(fair, sure) == np.inf
    assert kl_divergence(sure, fair) == pytest.approx(np.log(2), rel=1e-14)


def test_another_structure_that_excludes_what_the_truth_allows_is_infinitely_wrong() -> None:
    alone = RAIN.with_tables(None)
    learned = Network(
        alone.states_of,
        {"Rain": ["Wet"]},
        {"Wet": [1.0, 0.0], "Rain": [[0.5, 0.5], [0.5, 0.5]], "Sprinkler": [0.5, 0.5]},
    )
    assert kl_divergence(RAIN, learned) == np.inf


def test_different_variables_and_states_are_named() -> None:
    coin = Network({"Coin": ["head", "tail"]}, tables={"Coin": [0.5, 0.5]})
    with pytest.raises(ComparisonError, match=r"'Rain'.*'Coin'"):
        kl_divergence(RAIN, coin)
    thick = Network({"Coin": ["head", "edge"]}, tables={"Coin": [0.5, 0.5]})
    with pytest.raises(ComparisonError, match=r"'Coin=tail'.*'Coin=edge'"):
        kl_divergence(coin, thick)


def test_over_the_budget_the_divergence_is_sampled_and_says_so() -> None:
    learned = positive(RAIN, np.random.default_rng(1))
    found = divergence(RAIN, learned, memory=0, samples=20_000, rng=np.random.default_rng(2))
    exact = divergence(RAIN, learned)
    assert (exact.exact, exact.standard_error, exact.samples) == (True, 0, 0)
    assert (found.exact, found.samples) == (False, 20_000)
    assert abs(found.value - exact.value) < 4 * found.standard_error < 0.1 * exact.value
    with pytest.warns(LacunetWarning, match="1,000"):
        kl_divergence(RAIN, learned, memory=0, samples=1000)


@pytest.mark.parametrize("same", [True, False])
def test_the_standard_error_is_the_spread_of_the_estimates(same: bool) -> None:
    structure = RAIN if same else Network(RAIN.states_of, {"Rain": ["Wet"]}, None)
    learned = positive(structure, np.random.default_rng(8))
    rng = np.random.default_rng(3)
    runs = np.array([sampled_divergence(RAIN, learned, 400, rng) for _ in range(300)])
    value = kl_divergence(RAIN, learned)
    spread = runs[:, 0].std(ddof=1)
    # Of 300 runs, a standard deviation is known to 1 / sqrt(600) = 4%; the mean to spread / 17.
    assert runs[:, 1].mean() == pytest.approx(spread, rel=0.16)
    assert abs(runs[:, 0].mean() - value) < 4 * spread / np.sqrt(300)
