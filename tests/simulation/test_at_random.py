"""Mechanisms drawn at random look at what the paper lets them look at."""

from __future__ import annotations

import re
from math import floor
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lacunet.inference.sampling import SimulationError
from lacunet.missingness.mechanism_cpts import Missingness
from lacunet.network.network import Network
from lacunet.network.nodes import Mechanism
from lacunet.simulation.at_random import MAR, MCAR, InformedMAR, variables_in
from strategies import networks
from studies.problems.generators import random_network

SEEDS = st.integers(0, 2**32 - 1)
TENTHS = st.integers(0, 10)


def binary(names: str, parents: dict[str, list[str]] | None = None) -> Network:
    return Network({name: ["0", "1"] for name in names}, parents)


def d_separated(drawn: Missingness, given_nodes: tuple[str, ...]) -> bool:
    """Whether networkx finds the missing values apart from the mechanisms."""
    hidden = set(drawn.mechanisms)
    if not hidden:
        return True
    graph: Any = drawn.graph.to_networkx()
    mechanisms = {Mechanism(name) for name in hidden}
    return nx.is_d_separator(graph, hidden, mechanisms, set(given_nodes))


@settings(deadline=None)
@given(networks(max_variables=8), TENTHS, SEEDS)
def test_mcar_hides_the_share_rounded_up_and_looks_at_nothing(
    network: Network, tenths: int, seed: int
) -> None:
    drawn = MCAR(0.25, share=tenths / 10).draw(network, np.random.default_rng(seed))
    assert len(drawn.mechanisms) == -(-tenths * len(network.variables) // 10)
    for one in drawn.mechanisms.values():
        assert one.parents == ()
        assert one.missing == 0.25
    assert drawn.graph.category() == "MCAR"
    assert drawn.separator == ()
    assert d_separated(drawn, ())


def hidden_by_mar(network: Network, tenths: int) -> int:
    """The number of variables that MAR hides: the share rounded down, but one at least."""
    return max(tenths * len(network.variables) // 10, min(tenths, 1))


@settings(deadline=None)
@given(networks(max_variables=8), st.integers(0, 8), st.integers(0, 3), SEEDS)
def test_mar_mechanisms_have_fully_observed_parents_neighbours_first(
    network: Network, tenths: int, parents: int, seed: int
) -> None:
    hidden = hidden_by_mar(network, tenths)
    observed = len(network.variables) - hidden
    missing = MAR(share=tenths / 10, parents=min(parents, observed), beta=(1.0, 0.5))
    drawn = missing.draw(network, np.random.default_rng(seed))
    skeleton = nx.Graph([(p, x) for x in network.variables for p in network.parents(x)])
    skeleton.add_nodes_from(network.variables)
    assert len(drawn.mechanisms) == hidden
    for name, one in drawn.mechanisms.items():
        near = set(skeleton[name]) - set(drawn.mechanisms)
        assert len(set(one.parents)) == missing.parents
        assert set(one.parents).isdisjoint(drawn.mechanisms)
        assert len(near & set(one.parents)) == min(missing.parents, len(near))
        assert one.missing.shape == network.shape(map(str, one.parents))


@settings(deadline=None)
@given(networks(max_variables=8), st.integers(0, 8), SEEDS)
def test_the_separator_of_mar_data_d_separates_missing_values_from_mechanisms(
    network: Network, tenths: int, seed: int
) -> None:
    observed = len(network.variables) - hidden_by_mar(network, tenths)
    drawn = MAR(share=tenths / 10, parents=min(2, observed), beta=(1.0, 0.5)).draw(
        network, np.random.default_rng(seed)
    )
    assert drawn.graph.category() in ("MCAR", "MAR")
    assert drawn.separator is not None
    assert set(drawn.separator) <= set(drawn.graph.fully_observed)
    assert d_separated(drawn, drawn.separator)
    assert d_separated(drawn, drawn.graph.fully_observed)


@settings(deadline=None)
@given(SEEDS)
def test_informed_mechanisms_look_at_the_chosen_variables_only(seed: int) -> None:
    rng = np.random.default_rng(seed)
    network = random_network(12, rng)
    drawn = InformedMAR(share=0.7, separator=3, parents=2, beta=(1.0, 0.5)).draw(network, rng)
    assert len(drawn.mechanisms) == 8
    assert drawn.separator is not None
    assert len(drawn.separator) == 3
    assert set(drawn.separator).isdisjoint(drawn.mechanisms)
    for one in drawn.mechanisms.values():
        assert len(one.parents) == 2
        assert set(one.parents) <= set(drawn.separator)
    assert d_separated(drawn, drawn.separator)


def test_every_variable_and_every_pair_of_like_parents_is_as_likely_as_any_other() -> None:
    # A centre with four leaves: one variable is hidden; if the centre, all four are near.
    star = binary("CABDE", {leaf: ["C"] for leaf in "ABDE"})
    rng = np.random.default_rng(21)
    hidden, pairs = dict.fromkeys("CABDE", 0), dict[object, int]()
    for _ in range(6000):
        drawn = MAR(share=0.2, parents=2, beta=(1.0, 0.5)).draw(star, rng)
        (one,) = drawn.mechanisms.values()
        hidden[one.variable] += 1
        if one.variable == "C":
            pairs[one.parents] = pairs.get(one.parents, 0) + 1
        else:
            assert "C" in one.parents
    assert stats.chisquare(list(hidden.values())).pvalue > 0.001
    assert len(pairs) == 6
    assert stats.chisquare(list(pairs.values())).pvalue > 0.001


def test_every_separator_is_as_likely_as_any_other() -> None:
    network, rng = binary("ABCDE"), np.random.default_rng(22)
    found: dict[object, int] = {}
    for _ in range(4000):
        drawn = InformedMAR(share=0.2, separator=2, parents=1, beta=(1.0, 0.5)).draw(network, rng)
        found[drawn.separator] = found.get(drawn.separator, 0) + 1
    assert len(found) == 10
    assert stats.chisquare(list(found.values())).pvalue > 0.001


@pytest.mark.parametrize("kind", [MAR, InformedMAR])
@pytest.mark.parametrize("beta", [(1.0, 0.5), (0.5, 0.5), (2.0, 8.0)])
def test_probabilities_of_being_missing_follow_the_beta_distribution(
    kind: type[MAR] | type[InformedMAR], beta: tuple[float, float]
) -> None:
    network = random_network(300, np.random.default_rng(23), states=(2, 4))
    drawn = kind(share=0.9, parents=2, beta=beta).draw(network, np.random.default_rng(24))
    found = np.concatenate([one.missing.ravel() for one in drawn.mechanisms.values()])
    assert len(found) > 1000
    assert stats.kstest(found, stats.beta(*beta).cdf).pvalue > 0.001


@settings(deadline=None)
@given(networks(max_variables=8), SEEDS)
def test_one_seed_gives_one_set_of_mechanisms(network: Network, seed: int) -> None:
    missing = MAR(share=0.5, parents=min(2, len(network.variables) // 2), beta=(1.0, 0.5))
    one, two = (missing.draw(network, np.random.default_rng(seed)) for _ in "ab")
    assert one.graph == two.graph
    for name in one.mechanisms:
        np.testing.assert_array_equal(one.mechanisms[name].missing, two.mechanisms[name].missing)


@pytest.mark.parametrize("hundredths", range(101))
def test_a_share_counts_as_it_is_written(hundredths: int) -> None:
    network = Network({str(name): ["0"] for name in range(100)})
    assert variables_in(hundredths / 100, network) == hundredths
    assert floor(0.29 * 100) == 28  # what plain floating point makes of it


def test_what_cannot_be_drawn_is_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(SimulationError, match=r"1\.2"):
        MCAR(0.7, share=1.2)
    with pytest.raises(SimulationError, match=r"-0\.1"):
        MCAR(-0.1, share=0.3)
    with pytest.raises(SimulationError, match="least 0"):
        MAR(share=0.3, parents=-1, beta=(1.0, 0.5))
    with pytest.raises(SimulationError, match=r"0\.0"):
        MAR(share=0.3, beta=(1.0, 0.0))
    with pytest.raises(SimulationError, match=r"3 parents.*from 2"):
        InformedMAR(share=0.3, separator=2, parents=3, beta=(1.0, 0.5))
    with pytest.raises(SimulationError, match=r"3 variables.*only 1"):
        MAR(share=0.75, parents=2, beta=(1.0, 0.5)).draw(binary("ABCD"), rng)
    with pytest.raises(SimulationError, match="3 fully"):
        InformedMAR(share=0.5, beta=(1.0, 0.5)).draw(binary("ABCD"), rng)


@pytest.mark.parametrize("missing", [MAR, InformedMAR])
@pytest.mark.parametrize("parents", [0.3, "b", True, None])
def test_what_is_not_a_number_of_parents_is_refused(missing: Any, parents: Any) -> None:
    with pytest.raises(SimulationError, match=f"{parents!r}"):
        missing(0.2, parents=parents)


def test_by_default_the_rate_is_the_share_of_all_cells() -> None:
    network = random_network(100, np.random.default_rng(23), states=(2, 3))
    drawn = MCAR(0.2).draw(network, np.random.default_rng(1))
    assert len(drawn.mechanisms) == 100
    assert all(mechanism.missing == 0.2 for mechanism in drawn.mechanisms.values())
    assert MCAR(0.2) == MCAR()


@pytest.mark.parametrize("kind", [MAR, InformedMAR])
def test_a_rate_is_that_of_the_variables_with_missing_values(
    kind: type[MAR] | type[InformedMAR],
) -> None:
    network = random_network(300, np.random.default_rng(23), states=(2, 4))
    for rate in (0.2, 0.6):
        drawn = kind(rate, share=0.9).draw(network, np.random.default_rng(24))
        assert len(drawn.mechanisms) == 270
        found = np.concatenate([one.missing.ravel() for one in drawn.mechanisms.values()])
        assert stats.kstest(found, stats.beta(2 * rate, 2 * (1 - rate)).cdf).pvalue > 0.001


@pytest.mark.parametrize("kind", [MAR, InformedMAR])
def test_a_rate_and_a_beta_distribution_are_not_both_given(
    kind: type[MAR] | type[InformedMAR],
) -> None:
    with pytest.raises(SimulationError, match="give one"):
        kind(0.2, beta=(1.0, 0.5))
    for rate in (0, 1):
        with pytest.raises(SimulationError, match=f"rate of {rate}"):
            kind(rate)


@pytest.mark.parametrize("beta", [0.5, (1,), "ab", (1, "b"), (True, 2)])
def test_what_is_not_two_shapes_is_refused(beta: Any) -> None:
    with pytest.raises(SimulationError, match="parameters"):
        MAR(share=0.4, parents=2, beta=beta)
    with pytest.raises(SimulationError, match=r"2\.5"):
        InformedMAR(share=0.3, separator=2.5, beta=(1.0, 0.5))  # type: ignore[arg-type]


@pytest.mark.parametrize("missing", [MCAR, MAR, InformedMAR])
@pytest.mark.parametrize("share", [["A"], "0.5", True, False, None])
def test_what_is_not_a_share_is_refused(missing: Any, share: Any) -> None:
    told = re.escape(f"between 0 and 1, not {share!r}")
    with pytest.raises(SimulationError, match=told):
        missing(share=share)
    if share is not None:
        with pytest.raises(SimulationError, match=told):
            missing(share)


def test_nothing_goes_missing_where_no_variable_is_to() -> None:
    network = Network({name: ["no", "yes"] for name in "AB"})
    drawn = InformedMAR(share=0.0, separator=3, beta=(1.0, 0.5)).draw(
        network, np.random.default_rng(0)
    )
    assert not drawn.mechanisms


@pytest.mark.parametrize(
    "missing",
    [MAR(share=0.3, beta=(1.0, 0.5)), InformedMAR(share=0.3, separator=2, beta=(1.0, 0.5))],
)
def test_in_small_networks_one_variable_goes_missing(missing: MAR | InformedMAR) -> None:
    network = binary("ABC")
    assert len(missing.draw(network, np.random.default_rng(1)).mechanisms) == 1
    nothing = MAR(share=0, beta=(1.0, 0.5)).draw(network, np.random.default_rng(1))
    assert not nothing.mechanisms
