"""What hypothesis draws: networks and incomplete tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from lacunet.data.table import EncodedTable, code_type
from lacunet.network.network import Network

PLAIN_NAMES = st.text("ABCDEXYZ", min_size=1, max_size=3)


@st.composite
def networks(
    draw: st.DrawFn,
    names: st.SearchStrategy[str] = PLAIN_NAMES,
    states: st.SearchStrategy[str] = PLAIN_NAMES,
    max_variables: int = 5,
    max_states: int = 3,
    max_parents: int = 3,
) -> Network:
    """Networks with random structure and random CPTs, zeros among them."""
    variables = draw(st.lists(names, min_size=1, max_size=max_variables, unique=True))
    states_of = {
        name: draw(st.lists(states, min_size=1, max_size=max_states, unique=True))
        for name in variables
    }
    parents = {
        name: draw(st.lists(st.sampled_from(before), max_size=max_parents, unique=True))
        for at, name in enumerate(variables)
        if (before := variables[:at])
    }
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    tables = {
        name: random_rows(rng, [len(states_of[axis]) for axis in [*parents.get(name, []), name]])
        for name in variables
    }
    in_file_order = draw(st.permutations(variables))
    return Network({name: states_of[name] for name in in_file_order}, parents, tables)


def random_rows(rng: np.random.Generator, shape: list[int]) -> np.ndarray:
    """A random CPT; about a fifth of its cells are zero, no row is all zero."""
    table = rng.random(shape) * (rng.random(shape) > 0.2)
    table[..., 0] += (table.sum(axis=-1) == 0).astype(float)
    return table / table.sum(axis=-1, keepdims=True)


@st.composite
def tables(
    draw: st.DrawFn, network: Network, max_rows: int = 30, weighted: bool = False
) -> EncodedTable:
    """Rows over a network's variables, each cell a state or missing."""
    rows = draw(st.integers(1, max_rows))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    share = draw(st.sampled_from([0.0, 0.2, 0.5, 0.9]))
    columns: dict[str, Any] = {}
    for name in network.variables:
        size = network.cardinality(name)
        codes = rng.integers(0, size, rows)
        if rng.random() < 0.7:
            codes[rng.random(rows) < share] = size
        columns[name] = codes.astype(code_type(size))
    weights = rng.random(rows) * 3 + 0.1 if weighted else None
    return EncodedTable({v: network.cardinality(v) for v in network.variables}, columns, weights)
