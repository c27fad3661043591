from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from examples import RAIN
from lacunet.ask.evaluate import cpt_error
from lacunet.network.network import Network


def with_wet(table: list[list[list[float]]]) -> Network:
    tables = {name: RAIN.cpt(name).table for name in RAIN.variables}
    return RAIN.with_tables({**tables, "Wet": np.array(table)})


def test_the_furthest_parameter_is_named_with_its_parents() -> None:
    learned = with_wet([[[1.0, 0.0], [0.4, 0.6]], [[0.1, 0.9], [0.01, 0.99]]])
    error = cpt_error(RAIN, learned)
    assert error.largest == pytest.approx(0.3, rel=1e-14)
    assert (error.variable, error.given) == ("Wet", {"Rain": "no", "Sprinkler": "on"})
    # Two cells are off by 0.3 and two by 0.1; there are 2 + 4 + 8.
    assert error.cells == 14
    assert error.mean == pytest.approx((2 * 0.3 + 2 * 0.1) / 14, rel=1e-14)


def test_a_network_has_no_error_against_itself() -> None:
    error = cpt_error(RAIN, RAIN)
    assert (error.largest, error.mean, error.left_out) == (0, 0, ())


def test_the_order_of_states_and_parents_makes_no_error() -> None:
    table = RAIN.cpt("Wet").table.transpose(1, 0, 2)[:, ::-1]
    states = {**RAIN.states_of, "Rain": ["yes", "no"]}
    tables: dict[str, Any] = {
        "Rain": [0.2, 0.8],
        "Sprinkler": RAIN.cpt("Sprinkler").table[::-1],
        "Wet": table,
    }
    turned = Network(states, {"Sprinkler": ["Rain"], "Wet": ["Sprinkler", "Rain"]}, tables)
    assert cpt_error(RAIN, turned).largest == 0


def test_families_with_other_parents_are_left_out_by_name() -> None:
    halves = [0.5, 0.5]
    tables: dict[str, Any] = {"Rain": [0.7, 0.3], "Sprinkler": halves, "Wet": [halves, halves]}
    learned = Network(RAIN.states_of, {"Wet": ["Rain"]}, tables)
    error = cpt_error(RAIN, learned)
    assert error.left_out == ("Sprinkler", "Wet")
    assert error.largest == pytest.approx(0.1, rel=1e-14)


def test_without_a_common_family_there_is_no_error_to_name() -> None:
    halves: dict[str, Any] = {"A": [0.5, 0.5], "B": [[0.5, 0.5]] * 2}
    one = Network({"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]}, halves)
    turned = Network(one.states_of, {"A": ["B"]}, {"B": [0.5, 0.5], "A": [[0.5, 0.5]] * 2})
    error = cpt_error(one, turned)
    assert math.isnan(error.largest)
    assert error.left_out == ("A", "B")
