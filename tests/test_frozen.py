"""Moving code moves no number: problems, and the results they had when they were frozen."""

from __future__ import annotations

from typing import Any

import pytest

from frozen import PROBLEMS, frozen, largest_difference, result_of

RESULTS = frozen()
MOST = 1e-12


def test_every_problem_is_frozen() -> None:
    assert PROBLEMS.keys() == RESULTS.keys()


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_result_is_what_it_was(name: str) -> None:
    now: dict[str, Any] = result_of(name)
    before = RESULTS[name]
    assert now.keys() == before.keys()
    moved = {
        quantity: difference
        for quantity, value in before.items()
        if (difference := largest_difference(value, now[quantity])) > MOST
    }
    assert not moved
