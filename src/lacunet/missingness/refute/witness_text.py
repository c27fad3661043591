"""Two models that give the same data and different answers, for people to read."""

from __future__ import annotations

import numpy as np

from lacunet.missingness.refute.submodels import AnyNode
from lacunet.missingness.refute.witness import Witness
from lacunet.network.network import Network
from lacunet.network.nodes import quoted
from lacunet.text import assigned, conditional

Rows = list[list[str]]
SAME_ENTRY = 1e-9  # entries as close as this differ by rounding alone


def two_models(witness: Witness, network: Network) -> Rows:
    """What the models answer where they differ most, then every CPT entry in which they differ.

    Of two states only the second is listed. States have their names where the model has as many of
    them as the network.
    """
    asked = witness.asked
    left, right = witness.answers
    gaps = np.abs(left - right)
    cell = tuple(map(int, np.unravel_index(int(gaps.argmax()), gaps.shape)))
    if left.shape[-1] == 2:
        cell = (*cell[:-1], 1)
    states = [_state(witness, network, name, k) for name, k in zip(asked.names, cell, strict=True)]
    rows = [[asked.at(states), *_both(left[cell], right[cell])]]
    for node in witness.different:
        first = witness.one[node]
        second = witness.two[node]
        for entry in np.ndindex(*first.shape):
            is_listed = first.shape[-1] > 2 or entry[-1] == 1
            if is_listed and abs(first[entry] - second[entry]) > SAME_ENTRY:
                values = _both(float(first[entry]), float(second[entry]))
                rows.append([_entry_in_words(witness, network, node, entry), *values])
    return [rows[0], *(row for row in rows[1:] if row != rows[0])]


def _entry_in_words(
    witness: Witness, network: Network, node: AnyNode, entry: tuple[int, ...]
) -> str:
    """The state of a node given those of its parents, by the place of an entry in its CPT."""
    family = (*witness.submodel.parents(node), node)
    states = []
    for member, index in zip(family, entry, strict=True):
        name = quoted(member) if isinstance(member, str) else member
        states.append(assigned(name, _state(witness, network, member, index)))
    *given, state = states
    return conditional(state, given)


def other_states(witness: Witness, network: Network) -> str:
    """Which variables have another number of states in the models than in the network."""
    sizes = witness.submodel.cardinality_of
    more = [f"{quoted(n)} has {k} states" for n, k in sizes.items() if k != network.cardinality(n)]
    return f"in these models {', '.join(more)}" if more else ""


def _state(witness: Witness, network: Network, node: AnyNode, index: int) -> str:
    """The state's name; its number, where the model has another number of states."""
    if not isinstance(node, str):
        return str(index)
    states = network.states(node)
    if witness.submodel.states(node) == len(states):
        return states[index]
    return f"#{index + 1}"


def _both(left: float, right: float) -> list[str]:
    """Two numbers with as many digits as tell them apart."""
    digits = next((d for d in (4, 6, 8) if f"{left:.{d}f}" != f"{right:.{d}f}"), 12)
    return [f"{left:.{digits}f}", f"{right:.{digits}f}"]
