"""Two models that give the same data and different answers, for people to read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lacunet.missingness.refute.asked import Asked
from lacunet.missingness.refute.submodels import AnyNode
from lacunet.missingness.refute.witness import Witness
from lacunet.model.network import Network
from lacunet.model.nodes import quoted

Rows = list[list[str]]


def two_models(witness: Witness, network: Network) -> Rows:
    """What the models answer where they differ most, then every CPT entry in which they differ.

    Of two states only the second is told. States have their names where the model has as many of
    them as the network.
    """
    asked, (one, two) = witness.asked, witness.answers
    apart = np.abs(one - two)
    cell = tuple(map(int, np.unravel_index(int(apart.argmax()), apart.shape)))
    if one.shape[-1] == 2:
        cell = (*cell[:-1], 1)
    rows = [[_answer(witness, network, asked, cell), *_both(one[cell], two[cell])]]
    for node in witness.different:
        parents = witness.submodel.parents(node)
        first, second = witness.one[node], witness.two[node]
        for entry in np.ndindex(*first.shape):
            is_told = first.shape[-1] > 2 or entry[-1] == 1
            if is_told and first[entry] != second[entry]:
                given = _states(witness, network, parents, entry)
                (own,) = _states(witness, network, (node,), entry[-1:])
                bar = f" | {', '.join(given)}" if given else ""
                rows.append([f"P({own}{bar})", *_both(float(first[entry]), float(second[entry]))])
    return [rows[0], *(row for row in rows[1:] if row != rows[0])]


def other_states(witness: Witness, network: Network) -> str:
    """Which variables have another number of states in the models than in the network."""
    sizes = witness.submodel.cardinality_of
    more = [f"{quoted(n)} has {k} states" for n, k in sizes.items() if k != network.cardinality(n)]
    return f"in these models {', '.join(more)}" if more else ""


def _answer(witness: Witness, network: Network, asked: Asked, cell: Sequence[int]) -> str:
    states = _states(witness, network, asked.names, cell)
    done, seen = states[: len(asked.do)], states[len(asked.do) : len(asked.conditions)]
    right = ", ".join([*([f"do({', '.join(done)})"] if done else []), *seen])
    left = ", ".join(states[len(asked.conditions) :])
    return f"P({left} | {right})" if right else f"P({left})"


def _states(
    witness: Witness, network: Network, nodes: Sequence[AnyNode], cell: Sequence[int]
) -> list[str]:
    found = []
    for node, index in zip(nodes, cell, strict=False):
        state = str(index)
        if isinstance(node, str) and node in network.states_of:
            states = network.states(node)
            has_all = witness.submodel.states(node) == len(states)
            state = states[index] if has_all else f"#{index + 1}"
            node = quoted(node)  # noqa: PLW2901
        found.append(f"{node}={state}")
    return found


def _both(one: float, two: float) -> list[str]:
    """Two numbers with as many digits as tell them apart."""
    digits = next((d for d in (4, 6, 8) if f"{one:.{d}f}" != f"{two:.{d}f}"), 12)
    return [f"{one:.{digits}f}", f"{two:.{digits}f}"]
