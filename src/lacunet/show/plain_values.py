"""Values for programs: what JSON can hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from lacunet.text import finite


def plain_attributes(value: object, names: str) -> dict[str, Any]:
    """Some attributes of a value: arrays and tuples as lists, None for NaN, a text for infinity.

    Examples
    --------
    >>> from lacunet.network.network import Network
    >>> coin = Network({"Coin": ["head", "tail"]}, tables={"Coin": [0.25, 0.75]})
    >>> plain_attributes(coin.cpt("Coin"), "child parents table")
    {'child': 'Coin', 'parents': [], 'table': [0.25, 0.75]}
    """
    return {name: finite(_listed(getattr(value, name))) for name in names.split()}


def _listed(part: Any) -> Any:
    return part.tolist() if isinstance(part, np.ndarray) else part
