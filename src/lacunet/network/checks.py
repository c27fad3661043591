"""What a network must be: its states, edges, CPTs, cut points and ties, checked as it is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from lacunet.network.dictionary import NotAsked, StatesOf
from lacunet.network.errors import NetworkError
from lacunet.text import apart_from, assigned, did_you_mean

if TYPE_CHECKING:
    from lacunet.network.network import FloatArray, Mask, Network, Scope

# Rows that sum to one within this are kept to the bit; the sum of a few hundred
# correctly rounded probabilities stays well below it.
ROW_SUM_TOLERANCE = 1e-12


def checked_states(states: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """The states of each variable, if they are proper and distinct texts."""
    if not isinstance(states, Mapping):
        raise NetworkError(
            f"the states of a network are a dict, not {type(states).__name__}.",
            "lacunet.read_network('alarm.bif') reads a file, Network.from_data(data, edges) makes "
            "one of edges and data; by hand: "
            "Network({'A': ['no', 'yes'], 'B': ['no', 'yes']}, {'B': ['A']}).",
        )
    if not states:
        raise NetworkError("a network needs at least one variable.")
    checked = {}
    for name, given in states.items():
        labels = tuple(given)  # of an array, too
        _check_text("the name of a variable", name)
        for label in labels:
            _check_text(f"a state of {name!r}", label)
        if not labels:
            raise NetworkError(f"variable {name!r} has no states.")
        if twice := _twice(labels):
            raise NetworkError(f"variable {name!r} has the states {sorted(twice)} more than once.")
        checked[str(name)] = tuple(map(str, labels))  # numpy's strings show their type
    return checked


def _check_text(what: str, text: object) -> None:
    """Refuse a name that is not a text, or an empty one."""
    if not isinstance(text, str) or not text:
        raise NetworkError(
            f"{what} must be a non-empty string, not {text!r}.",
            f"write {str(text)!r}." if str(text) else "give it a name.",
        )


def checked_parents(
    states_of: StatesOf, parents: Mapping[str, Sequence[str]] | str
) -> dict[str, Scope]:
    """The parents of each variable, if they are distinct variables."""
    if isinstance(parents, str):
        from lacunet.network.edges import edges_of

        edges = edges_of(parents)
        refuse_unknown_variables("edges are", edges.variables, states_of)
        parents = edges.parents_of
    refuse_unknown_variables("parents are", parents, states_of)
    for name, listed in parents.items():
        if unknown := {parent for parent in listed if parent not in states_of}:
            raise NetworkError(
                f"variable {name!r} has parents that are not variables: {sorted(unknown)}.",
                _as_variable(min(unknown), states_of),
            )
        if twice := _twice(listed):
            raise NetworkError(f"variable {name!r} names a parent more than once: {sorted(twice)}.")
    return {name: tuple(map(str, parents.get(name, ()))) for name in states_of}


def checked_cuts(
    states_of: StatesOf, cuts: Mapping[str, Sequence[float]], rules: Mapping[str, NotAsked]
) -> dict[str, tuple[float, ...]]:
    """The cut points of each variable that has any: ascending, one more than it has intervals.

    All states are intervals, but for a last one for those who were not asked.
    """
    refuse_unknown_variables("cut points are", cuts, states_of)
    checked = {name: tuple(map(float, points)) for name, points in cuts.items()}
    for name, points in checked.items():
        is_last_no_interval = name in rules and rules[name].state == states_of[name][-1]
        intervals = len(states_of[name]) - is_last_no_interval
        if len(points) != intervals + 1 or not all(low < high for low, high in pairwise(points)):
            raise NetworkError(
                f"variable {name!r} has {intervals} intervals and the cut points {list(points)}.",
                "give one cut point more than there are intervals, in ascending order.",
            )
    return checked


def topological_order(parents_of: Mapping[str, Scope]) -> Scope:
    """The variables, parents before children."""
    from graphlib import CycleError, TopologicalSorter

    try:
        return tuple(TopologicalSorter(parents_of).static_order())
    except CycleError as error:
        path = " -> ".join(map(repr, error.args[1]))
        raise NetworkError(
            f"the edges form a cycle: {path}.", "reverse or drop one of them."
        ) from None


def checked_tables(
    states_of: StatesOf, parents_of: Mapping[str, Scope], tables: Mapping[str, ArrayLike]
) -> dict[str, FloatArray]:
    """Read-only copies of the CPTs, if each has the right shape and its rows are distributions."""
    refuse_unknown_variables("CPTs are", tables, states_of)
    if missing := set(states_of) - set(tables):
        raise NetworkError(
            f"CPTs are missing for {sorted(missing)}.",
            "give a CPT for every variable, or none at all.",
        )
    checked = {}
    for name in states_of:
        family = (*parents_of[name], name)
        table = np.array(tables[name], dtype=np.float64)  # a copy: the caller's array stays theirs
        expected = tuple(len(states_of[axis]) for axis in family)
        if table.shape != expected:
            raise NetworkError(
                f"the CPT of {name!r} has the shape {table.shape}, but its parents and states "
                f"need {expected}.",
                "one axis for each parent in their order, the variable's own states last.",
            )
        if problem := problem_of(table, ROW_SUM_TOLERANCE):
            row = np.unravel_index(problem[0], table.shape[:-1])
            states = [states_of[parent][index] for parent, index in zip(family, row, strict=False)]
            given = ", ".join(map(assigned, family, states))
            where = f" given {given}" if given else ""
            raise NetworkError(
                f"the CPT of {name!r}{where} {problem[1]}.",
                "every row holds numbers from 0 to 1, and sums to 1: divide it by its sum.",
            )
        table.setflags(write=False)
        checked[name] = table
    return checked


def checked_support(network: Network, support: Mapping[str, ArrayLike]) -> dict[str, Mask]:
    """Of each CPT row whether it has weight, if there is one number for each."""
    if not network.has_cpts:
        raise NetworkError(
            "support is given, but the network has no CPTs.", "give it to the learned network."
        )
    refuse_unknown_variables("support is", support, network.states_of)
    checked = {}
    for name in (v for v in network.variables if v in support):
        weights = np.asarray(support[name], dtype=np.float64)
        expected = network.shape(network.parents_of[name])
        if weights.shape != expected or not (weights >= 0).all():
            raise NetworkError(
                f"the support of {name!r} must be weights of the shape {expected}, one for each "
                f"parent configuration and none below zero; it has the shape {weights.shape}."
            )
        checked[name] = weights > 0
        checked[name].setflags(write=False)
    return checked


def check_ties(network: Network, groups: Sequence[Scope]) -> None:
    """Refuse groups whose families do not correspond, and variables of several groups."""
    seen: dict[str, Scope] = {}
    for group in groups:
        for name in map(network.known, group):
            if name in seen:
                raise NetworkError(
                    f"{name!r} is tied twice.", "a variable is in one group, and there once."
                )
            seen[name] = group
        for name in group[1:]:
            _check_tie(network, group[0], name)


def _check_tie(network: Network, first: str, other: str) -> None:
    """Refuse two variables that cannot share a CPT."""
    family_of_first = network.family(first)
    family_of_other = network.family(other)
    what = f"the CPTs of {first!r} and {other!r} cannot be one"
    if len(family_of_first) != len(family_of_other):
        parents = " and ".join(
            f"{name!r} has {list(network.parents(name))}" for name in (first, other)
        )
        raise NetworkError(
            f"{what}: of parents, {parents}.",
            "parents of tied variables correspond, in the order in which the edges name them.",
        )
    for here, there in zip(family_of_first, family_of_other, strict=True):
        if network.states(here) != network.states(there):
            raise NetworkError(
                f"{what}: {here!r} has the states {list(network.states(here))}, {there!r} has "
                f"{list(network.states(there))}.",
                "tied variables and their parents have the same states in the same order "
                "(Data(states=...)).",
            )
    if not np.array_equal(network.possible(first), network.possible(other)):
        raise NetworkError(f"{what}: a rule excludes cells of one of them only.")
    tables = network.tables_of
    if tables is not None and not np.array_equal(tables[first], tables[other]):
        raise NetworkError(f"{what}: the network has a CPT of its own for each of them.")


def problem_of(table: FloatArray, tolerance: float) -> tuple[int, str] | None:
    """The first row of a CPT that is no distribution, by its number, and what is wrong with it."""
    rows = table.reshape(-1, table.shape[-1])
    wrong = ~((rows >= 0) & (rows <= 1 + tolerance))  # catches NaN as well
    if wrong.any():
        row, column = np.argwhere(wrong)[0].tolist()
        return row, f"holds {float(rows[row, column])!r}, which is not a probability"
    sums = rows.sum(axis=-1)
    off = np.abs(sums - 1) > tolerance
    if not off.any():
        return None
    row = int(off.argmax())
    return row, f"sums to {apart_from(float(sums[row]), 1)}, not to 1"


def refuse_unknown_variables(what: str, given: Iterable[str], variables: Iterable[str]) -> None:
    """Refuse what is given for names that are not variables; ``what`` says it, with its verb."""
    if nobody := set(given) - set(variables):
        raise NetworkError(
            f"{what} given for {sorted(nobody)}, which are not variables.",
            _as_variable(min(nobody), variables),
        )


def _as_variable(name: str, variables: Iterable[str]) -> str:
    """The way to what is meant by a name that is not a variable."""
    added = f"add its states: Network({{{name!r}: ['no', 'yes'], ...}}, ...)."
    return did_you_mean(name, variables) or added


def _twice(names: Sequence[str]) -> set[str]:
    return {name for name, times in Counter(names).items() if times > 1}
