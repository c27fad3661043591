"""What makes a network: checked once, when it is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lacunet.model.errors import NetworkError

Scope = tuple[str, ...]
FloatArray = NDArray[np.float64]

# Rows that sum to one within this are kept to the bit; the sum of a few hundred
# correctly rounded probabilities stays well below it.
ROW_SUM_TOLERANCE = 1e-12


def checked_states(states: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """The states of each variable, if they are proper and distinct texts."""
    if not states:
        raise NetworkError.empty()
    checked = {}
    for name, own in states.items():
        if not isinstance(name, str) or not name:
            raise NetworkError.not_text("the name of a variable", name)
        for state in own:
            if not isinstance(state, str) or not state:
                raise NetworkError.not_text(f"a state of variable {name!r}", state)
        if not own:
            raise NetworkError.no_states(name)
        if twice := _twice(own):
            raise NetworkError.duplicate_states(name, twice)
        checked[name] = tuple(own)
    return checked


def checked_parents(
    states_of: Mapping[str, tuple[str, ...]], parents: Mapping[str, Sequence[str]]
) -> dict[str, Scope]:
    """The parents of each variable, if they are distinct variables."""
    if nobody := set(parents) - set(states_of):
        raise NetworkError.parents_of_nobody(nobody)
    for name, own in parents.items():
        if unknown := set(own) - set(states_of):
            raise NetworkError.unknown_parents(name, unknown)
        if twice := _twice(own):
            raise NetworkError.duplicate_parents(name, twice)
    return {name: tuple(parents.get(name, ())) for name in states_of}


def _twice(names: Sequence[str]) -> set[str]:
    return (
        {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else set()
    )


def topological_order(parents_of: Mapping[str, Scope]) -> Scope:
    """The variables, parents before children."""
    from graphlib import CycleError, TopologicalSorter

    try:
        return tuple(TopologicalSorter(parents_of).static_order())
    except CycleError as error:
        raise NetworkError.cycle(error.args[1][:-1]) from None


def checked_tables(
    states_of: Mapping[str, tuple[str, ...]],
    parents_of: Mapping[str, Scope],
    tables: Mapping[str, ArrayLike],
) -> dict[str, FloatArray]:
    """Read-only copies of the CPTs, if each has the right shape and its rows are distributions."""
    if nobody := set(tables) - set(states_of):
        raise NetworkError.cpts_of_nobody(nobody)
    if missing := set(states_of) - set(tables):
        raise NetworkError.cpts_missing(missing)
    checked = {}
    for name in states_of:
        family = (*parents_of[name], name)
        table = np.array(tables[name], dtype=np.float64)  # a copy: the caller's array stays theirs
        expected = tuple(len(states_of[axis]) for axis in family)
        if table.shape != expected:
            raise NetworkError.shape(name, expected, table.shape)
        _check_rows(name, table, [states_of[parent] for parent in parents_of[name]], family)
        table.setflags(write=False)
        checked[name] = table
    return checked


def _check_rows(
    name: str, table: FloatArray, parent_states: list[tuple[str, ...]], family: Scope
) -> None:
    def where(row: Sequence[int]) -> str:
        given = ", ".join(
            f"{parent}={states[index]}"
            for parent, states, index in zip(family, parent_states, row, strict=False)
        )
        return f" given {given}" if given else ""

    wrong = ~((table >= 0) & (table <= 1 + ROW_SUM_TOLERANCE))  # catches NaN as well
    if wrong.any():
        cell = tuple(np.argwhere(wrong)[0])
        raise NetworkError.not_a_probability(name, float(table[cell]), where(cell[:-1]))
    sums = table.sum(axis=-1)
    off = np.abs(sums - 1) > ROW_SUM_TOLERANCE
    if off.any():
        row = tuple(np.argwhere(off)[0])
        raise NetworkError.row_sum(name, float(sums[row]), where(row))
