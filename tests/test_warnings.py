"""Every warning points at the line of the user that asked for what it is about."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import lacunet as lc

COIN = lc.Network({"Coin": ["head", "tail"]}, {}, {"Coin": [0.0, 1.0]})
ROWS = {"Coin": ["head", "tail", None], "Purse": ["1", "2", "3"]}

WARNING: dict[str, Callable[[], object]] = {
    "learn": lambda: lc.learn(COIN, ROWS),
    "count": lambda: lc.count(COIN, ROWS),
    "diagnose": lambda: lc.diagnose(ROWS, COIN),
    "log_likelihood": lambda: COIN.log_likelihood({"Coin": ["head"]}),
    "explain": lambda: lc.explain(COIN, ROWS),
}


@pytest.mark.parametrize("name", WARNING)
def test_warnings_point_at_the_line_of_the_user(name: str) -> None:
    with pytest.warns(lc.LacunetWarning) as caught:
        WARNING[name]()
    assert {warning.filename for warning in caught} == {__file__}
