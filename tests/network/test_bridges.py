"""Networks to other libraries and back, with the real libraries."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import lacunet as lc
from examples import RAIN
from lacunet.data.matching import interval_of
from lacunet.network.interval_names import labels_of
from lacunet.network.network import Network
from strategies import networks

pytestmark = pytest.mark.filterwarnings("ignore")  # of the other libraries, not ours
gum = pytest.importorskip("pyagrum")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pgmpy_models = pytest.importorskip("pgmpy.models")

SLOW = settings(deadline=None, max_examples=30, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("name", ["asia", "child", "alarm", "insurance", "hailfinder", "win95pts"])
def test_bundled_networks_come_back_to_the_last_bit(name: str) -> None:
    network = lc.example(name)
    for there, back in ((lc.to_pyagrum, lc.from_pyagrum), (lc.to_pgmpy, lc.from_pgmpy)):
        again = back(there(network))
        for cpt in network.cpts:
            np.testing.assert_array_equal(again.cpt(cpt.child).table, cpt.table)
        assert again == network


@SLOW
@given(networks())
def test_any_network_comes_back_to_the_last_bit(network: Network) -> None:
    assert lc.from_pyagrum(lc.to_pyagrum(network)) == network
    assert lc.from_pgmpy(lc.to_pgmpy(network)) == network


def test_pyagrum_answers_with_the_same_numbers() -> None:
    inference = gum.LazyPropagation(lc.to_pyagrum(RAIN))
    inference.setEvidence({"Wet": "yes"})
    answer = RAIN.query("Rain", {"Wet": "yes"})
    np.testing.assert_allclose(inference.posterior("Rain").toarray(), answer, rtol=1e-12)


def test_pgmpy_answers_with_the_same_numbers() -> None:
    from pgmpy.inference import VariableElimination

    model = lc.to_pgmpy(RAIN)
    assert model.check_model()
    found = VariableElimination(model).query(["Rain"], evidence={"Wet": "yes"}, show_progress=False)
    answer = RAIN.query("Rain", {"Wet": "yes"})
    values = [found.get_value(Rain=state) for state in RAIN.states("Rain")]
    np.testing.assert_allclose(values, answer, rtol=1e-12)


def test_a_pyagrum_network_made_by_hand_is_read() -> None:
    bn = gum.fastBN("A{x|y}->C{p|q|r}<-B[3]")
    network = lc.from_pyagrum(bn)
    assert network.states("A") == ("x", "y")
    assert set(network.parents("C")) == {"A", "B"}
    for state in ("p", "q", "r"):
        value = bn.cpt("C")[{"A": "y", "B": "2", "C": state}]
        at = {"A": 1, "B": 2, "C": network.state_index("C", state)}
        assert network.cpt("C").table[tuple(at[v] for v in network.family("C"))] == value


def test_intervals_of_pyagrum_are_cut_points() -> None:
    bn = gum.fastBN("D[0,5,10]->E")
    network = lc.from_pyagrum(bn)
    assert network.cuts_of == {"D": (0, 5, 10)}
    answer = network.query("E", {"D": 7})
    np.testing.assert_allclose(answer, network.cpt("E").table[1], rtol=1e-12)


def test_states_of_pgmpy_that_stand_in_another_order_at_the_child_are_sorted_out() -> None:
    from pgmpy.factors.discrete import TabularCPD

    model = pgmpy_models.DiscreteBayesianNetwork([("A", "B")])
    model.add_cpds(
        TabularCPD("A", 2, [[0.25], [0.75]], state_names={"A": [0, 1]}),
        TabularCPD(
            "B", 2, [[0.5, 0.125], [0.5, 0.875]], ["A"], [2], {"A": [1, 0], "B": ["u", "v"]}
        ),
    )
    network = lc.from_pgmpy(model)
    assert network.states("A") == ("0", "1")
    assert network.cpt("B").table.tolist() == [[0.125, 0.875], [0.5, 0.5]]


def test_a_model_without_cpds_sends_its_owner_to_the_data() -> None:
    model = pgmpy_models.DiscreteBayesianNetwork([("A", "B")])
    with pytest.raises(lc.LacunetError, match="no CPD for") as refusal:
        lc.from_pgmpy(model)
    assert "from_data" in refusal.value.hint
    network = lc.Network.from_data({"A": [0, 1], "B": ["u", "v"]}, model)
    assert network.edges == (("A", "B"),)
    bare = lc.to_pgmpy(network)
    assert not bare.cpds
    assert list(bare.edges()) == [("A", "B")]


CUTS = {
    "open": (-np.inf, 18.0, 40.0, np.inf),
    "closed": (0.0, 18.0, 65.0),
    "open above": (0.0, 18.0, np.inf),
    "one cut": (-np.inf, 0.5, np.inf),
    "all": (-np.inf, np.inf),
}


@pytest.mark.parametrize("kind", CUTS)
def test_cut_points_come_back_from_pyagrum(kind: str) -> None:
    cuts = CUTS[kind]
    labels = labels_of(cuts)
    table = np.full(len(labels), 1 / len(labels))
    network = Network({"Age": labels}, {}, {"Age": table}, {"Age": cuts})
    other = lc.to_pyagrum(network)
    if kind != "all":
        assert other.variable("Age").varType() == gum.VarType_DISCRETIZED
        for number in (0.2, 17.0, 18.0, 39.0):
            assert other.variable("Age").index(str(number)) == interval_of(number, cuts)
    assert lc.from_pyagrum(other) == (network if kind != "all" else Network(
        {"Age": labels}, {}, {"Age": table}))  # fmt: skip


@pytest.mark.filterwarnings("default")
def test_what_another_library_has_no_place_for_is_said() -> None:
    cuts = (0.0, 18.0, 65.0)
    network = Network({"Age": labels_of(cuts)}, {}, {"Age": [0.5, 0.5]}, {"Age": cuts})
    with pytest.warns(lc.LacunetWarning, match="'Age'"):
        lc.to_pgmpy(network)
    renamed = Network({"Age": ["young", "old"]}, {}, {"Age": [0.5, 0.5]}, {"Age": cuts})
    with pytest.warns(lc.LacunetWarning, match=r"'Age'.*\['young', 'old'\]"):
        lc.to_pyagrum(renamed)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("write", [lc.to_pgmpy, lc.to_pyagrum])
def test_what_files_do_not_carry_no_library_does(write: Callable[[Network], Any]) -> None:
    network = Network(
        {"Smoked": ["no", "yes"], "Now": ["daily", "not_asked"]},
        {"Now": ["Smoked"]},
        {"Smoked": [0.5, 0.5], "Now": [[0, 1], [1, 0]]},
        codes={"Smoked": {"9": None}},
        not_asked={"Now": "Smoked=no"},
    )
    words = "what the codes of 'Smoked' mean; when 'Now' is not asked"
    with pytest.warns(lc.LacunetWarning, match=words):
        write(network)


@pytest.mark.parametrize(
    "value", [RAIN, None, 5, "rain.bif"], ids=lambda value: type(value).__name__
)
def test_what_is_not_a_model_of_the_other_library_is_refused(value: object) -> None:
    for read in (lc.from_pyagrum, lc.from_pgmpy):
        with pytest.raises(lc.LacunetError, match="needed"):
            read(value)
