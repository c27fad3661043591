"""What a network is, and what it refuses to be."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from examples import RAIN
from lacunet.network.errors import NetworkError
from lacunet.network.network import Network
from strategies import networks

AB = {"A": ["0", "1"], "B": ["0", "1", "2"]}
TABLES: dict[str, Any] = {"A": [0.5, 0.5], "B": [[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]]}


def test_a_network_tells_its_variables_states_parents_and_cpts() -> None:
    assert RAIN.variables == ("Rain", "Sprinkler", "Wet")
    assert RAIN.states("Sprinkler") == ("off", "on")
    assert RAIN.parents("Wet") == ("Rain", "Sprinkler")
    assert RAIN.family("Wet") == ("Rain", "Sprinkler", "Wet")
    assert RAIN.cpt("Wet").table.shape == (2, 2, 2)
    assert RAIN.cpt("Wet").family == ("Rain", "Sprinkler", "Wet")


def test_parents_may_be_edges_as_text() -> None:
    states = {name: ["0", "1"] for name in ("A", "B", "C", "late one")}
    typed = Network(states, 'C, A -> B; "late one"')
    assert typed == Network(states, {"B": ["C", "A"]})
    assert Network(states, "") == Network(states)
    for wrong in ("A -> D", "A -> B; D"):
        with pytest.raises(NetworkError, match="'D'"):
            Network(states, wrong)


@given(networks())
def test_parents_come_before_children_in_the_order(network: Network) -> None:
    place = {name: at for at, name in enumerate(network.order)}
    assert sorted(place) == sorted(network.variables)
    assert all(place[u] < place[v] for v in network.variables for u in network.parents(v))


@given(networks())
def test_a_pickled_network_is_the_same_network(network: Network) -> None:
    again = pickle.loads(pickle.dumps(network))
    assert again == network
    assert not any(cpt.table.flags.writeable for cpt in again.cpts)


def test_a_network_keeps_copies_of_its_tables_and_does_not_let_them_change() -> None:
    table = np.array([0.5, 0.5])
    network = Network({"A": ["0", "1"]}, {}, {"A": table})
    table[0] = 0
    assert network.cpt("A").table.tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match="read-only"):
        network.cpt("A").table[0] = 1


def test_networks_are_equal_if_all_their_numbers_are() -> None:
    assert Network(AB, {"B": ["A"]}, TABLES) == Network(AB, {"B": ["A"]}, TABLES)
    last_bit = {**TABLES, "A": [np.nextafter(0.5, 1), 0.5]}
    assert Network(AB, {"B": ["A"]}, TABLES) != Network(AB, {"B": ["A"]}, last_bit)
    assert Network(AB, {"B": ["A"]}, TABLES) != Network(AB, {"B": ["A"]}, {**TABLES, "A": [0, 1]})
    assert Network(AB, {"B": ["A"]}, TABLES) != Network(AB, {"B": ["A"]})


@pytest.mark.parametrize(
    ("states", "parents", "tables", "message"),
    [
        ({}, {}, None, "variable"),
        ({"A": []}, {}, None, "'A'"),
        ({"A": ["0", "1", "0"]}, {}, None, r"'A'.*\['0'\]"),
        ({"A": ["0", ""]}, {}, None, "'A'.*''"),
        ({"A": ["0", 1]}, {}, None, "'A'.*not 1"),
        ({"": ["0"]}, {}, None, "non-empty"),
        (AB, {"B": ["C"]}, None, r"'B'.*\['C'\]"),
        (AB, {"C": ["A"]}, None, r"\['C'\]"),
        (AB, {"B": ["A", "A"]}, None, r"'B'.*\['A'\]"),
        (AB, {"B": ["A"], "A": ["B"]}, None, "'[AB]' -> '[AB]' -> '[AB]'"),
        (AB, {"A": ["A"]}, None, "'A' -> 'A'"),
        (AB, {"B": ["A"]}, {"A": [0.5, 0.5]}, r"\['B'\]"),
        (AB, {"B": ["A"]}, {**TABLES, "C": [1]}, r"\['C'\]"),
        (AB, {}, TABLES, r"'B'.*\(2, 3\).*\(3,\)"),
        (AB, {"B": ["A"]}, {**TABLES, "A": [1.5, -0.5]}, "'A' holds 1.5"),
        (AB, {"B": ["A"]}, {**TABLES, "A": [np.nan, 1]}, "'A'"),
        (AB, {"B": ["A"]}, {**TABLES, "A": [0.5, 0.4]}, "'A'.*0.9.*to 1"),
        (AB, {"B": ["A"]}, {**TABLES, "A": [0.6, 0.7]}, r"'A'.*1\.3.*to 1"),
        (AB, {"B": ["A"]}, {**TABLES, "A": [0.5, 0.5 + 1e-9]}, r"1\.000000001"),
        (
            AB,
            {"B": ["A"]},
            {**TABLES, "B": [[0.2, 0.3, 0.5], [0.5, 0.6, 0.0]]},
            "'B' given A=1.*1.1.*to 1",
        ),
    ],
)
def test_what_is_no_network_is_refused_by_name(
    states: Any, parents: Any, tables: Any, message: str
) -> None:
    with pytest.raises(NetworkError, match=message):
        Network(states, parents, tables)


def test_an_unknown_variable_is_named_with_its_neighbours_in_spelling() -> None:
    with pytest.raises(NetworkError, match="'Sprinker'"):
        RAIN.states("Sprinker")


def test_an_unknown_state_is_named_with_the_known() -> None:
    with pytest.raises(NetworkError, match=r"'Rain'.*'maybe', only \['no', 'yes'\]"):
        RAIN.state_index("Rain", "maybe")


def test_a_state_is_offered_by_its_spelling_or_its_beginning() -> None:
    network = Network({"Test": ["negative", "positive"], "Day": [f"100{k}" for k in range(5)]})
    for state in ("pos", "P", "posittive"):
        with pytest.raises(NetworkError, match="'positive'"):
            network.state_index("Test", state)
    with pytest.raises(NetworkError, match="use one of these"):
        network.state_index("Day", "1")


def test_a_network_without_cpts_says_so() -> None:
    with pytest.raises(NetworkError, match="without parameters"):
        Network(AB).cpt("A")


def test_a_parent_without_states_is_answered_with_how_to_add_it() -> None:
    with pytest.raises(NetworkError, match="'B': \\['no', 'yes'\\]"):
        Network({"A": ["x", "y"]}, {"A": ["B"]})
    with pytest.raises(NetworkError, match="'Age'"):
        Network({"Age": ["x", "y"], "B": ["x", "y"]}, {"B": ["age"]})


def test_names_and_states_may_come_from_numpy() -> None:
    names: Any = np.array(["A", "B"])
    states: Any = np.array(["x", "y"])
    network = Network(dict.fromkeys(names, states), {names[1]: names[:1]})
    assert network == Network({"A": ["x", "y"], "B": ["x", "y"]}, {"B": ["A"]})
    words = [*network.variables, *network.states("A"), *network.parents("B")]
    assert {type(word) for word in words} == {str}


def test_parameters_are_counted_without_a_table_of_them() -> None:
    names = [f"X{number}" for number in range(41)]
    hub = Network({name: ["a", "b"] for name in names}, {"X40": names[:40]})
    assert hub.free_parameters == 40 + 2**40
