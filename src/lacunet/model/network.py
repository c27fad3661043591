"""A discrete Bayesian network: variables with ordered states, a DAG and, if known, CPTs.

A network is a value: it is checked once, when it is made, and never changes. Names and
states are arbitrary texts; the order of the states is the order of the axes of every table.
A CPT has one axis for each parent, in the order of the parents, and the child's axis last.

What makes a network: checked once, when it is made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lacunet.model.errors import NetworkError

__all__ = ["Cpt", "FloatArray", "Network", "Scope"]


@dataclass(frozen=True)
class Cpt:
    """The conditional distribution of ``child`` given ``parents``.

    ``table`` has one axis for each parent, then the child's; every row sums to one.
    """

    child: str
    parents: Scope
    table: FloatArray

    @property
    def family(self) -> Scope:
        """The parents, then the child: the axes of the table."""
        return (*self.parents, self.child)


@dataclass(frozen=True, init=False, repr=False)
class Network:
    """Variables with ordered states, the parents of each and, if known, their CPTs.

    Parameters
    ----------
    states
        The states of each variable, in order. The order of the keys is that of the variables.
    parents
        The parents of each variable that has any.
    tables
        The CPT of every variable, axes parents... then child; or None for a bare structure.

    Raises
    ------
    NetworkError
        What is given is no Bayesian network; the message names the variable.

    Examples
    --------
    >>> rain = Network(
    ...     {"Rain": ["no", "yes"], "Wet": ["no", "yes"]},
    ...     {"Wet": ["Rain"]},
    ...     {"Rain": [0.8, 0.2], "Wet": [[0.9, 0.1], [0.2, 0.8]]},
    ... )
    >>> rain.parents("Wet"), rain.states("Rain")
    (('Rain',), ('no', 'yes'))
    >>> rain.cpt("Wet").table[1, 1].item()
    0.8
    """

    variables: Scope
    states_of: Mapping[str, tuple[str, ...]]
    parents_of: Mapping[str, Scope]
    tables_of: Mapping[str, FloatArray] | None
    order: Scope  # parents before children

    def __init__(
        self,
        states: Mapping[str, Sequence[str]],
        parents: Mapping[str, Sequence[str]] | None = None,
        tables: Mapping[str, ArrayLike] | None = None,
    ) -> None:
        states_of = checked_states(states)
        parents_of = checked_parents(states_of, parents or {})
        order = topological_order(parents_of)
        tables_of = None if tables is None else checked_tables(states_of, parents_of, tables)
        for name, value in (
            ("variables", tuple(states_of)),
            ("states_of", MappingProxyType(states_of)),
            ("parents_of", MappingProxyType(parents_of)),
            ("tables_of", None if tables_of is None else MappingProxyType(tables_of)),
            ("order", order),
        ):
            object.__setattr__(self, name, value)

    def states(self, variable: str) -> tuple[str, ...]:
        """The states of a variable, in order."""
        return self.states_of[self.known(variable)]

    def parents(self, variable: str) -> Scope:
        """The parents of a variable, in the order of the CPT's axes."""
        return self.parents_of[self.known(variable)]

    def family(self, variable: str) -> Scope:
        """The parents of a variable, then the variable itself."""
        return (*self.parents(variable), variable)

    def cardinality(self, variable: str) -> int:
        """The number of states of a variable."""
        return len(self.states(variable))

    def shape(self, scope: Iterable[str]) -> tuple[int, ...]:
        """The shape of a table over ``scope``."""
        return tuple(self.cardinality(name) for name in scope)

    @property
    def has_cpts(self) -> bool:
        """Whether the network carries parameters."""
        return self.tables_of is not None

    def cpt(self, variable: str) -> Cpt:
        """The CPT of a variable."""
        self.known(variable)
        if self.tables_of is None:
            raise NetworkError.without_cpts(variable)
        return Cpt(variable, self.parents_of[variable], self.tables_of[variable])

    @property
    def cpts(self) -> tuple[Cpt, ...]:
        """All CPTs, in the order of the variables."""
        return tuple(self.cpt(name) for name in self.variables)

    def known(self, variable: str) -> str:
        """The variable itself, if the network has it."""
        if variable not in self.states_of:
            raise NetworkError.no_such_variable(variable, self.variables)
        return variable

    def state_index(self, variable: str, state: str) -> int:
        """The position of a state on its variable's axis."""
        states = self.states(variable)
        if state not in states:
            raise NetworkError.no_such_state(variable, state, states)
        return states.index(state)

    def with_tables(self, tables: Mapping[str, ArrayLike] | None) -> Network:
        """The same structure with other parameters, or with none."""
        return Network(self.states_of, self.parents_of, tables)

    def __repr__(self) -> str:
        edges = sum(len(parents) for parents in self.parents_of.values())
        cpts = "with" if self.has_cpts else "without"
        return f"<Network: {len(self.variables)} variables, {edges} edges, {cpts} CPTs>"

    def __reduce__(self) -> tuple[type[Network], tuple[object, ...]]:
        tables = None if self.tables_of is None else dict(self.tables_of)
        return Network, (dict(self.states_of), dict(self.parents_of), tables)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Network):
            return NotImplemented
        return _skeleton(self) == _skeleton(other) and _same_tables(self, other)

    def __hash__(self) -> int:
        return hash(_skeleton(self))


def _skeleton(network: Network) -> tuple[object, ...]:
    return tuple(
        (name, network.states_of[name], network.parents_of[name]) for name in network.variables
    )


def _same_tables(one: Network, two: Network) -> bool:
    if one.tables_of is None or two.tables_of is None:
        return one.tables_of is two.tables_of
    return all(np.array_equal(table, two.tables_of[name]) for name, table in one.tables_of.items())


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
        if unknown := {parent for parent in own if parent not in states_of}:
            raise NetworkError.unknown_parents(name, unknown)
        if twice := _twice(own):
            raise NetworkError.duplicate_parents(name, twice)
    return {name: tuple(parents.get(name, ())) for name in states_of}


def _twice(names: Sequence[str]) -> set[str]:
    return {name for name, times in Counter(names).items() if times > 1}


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
