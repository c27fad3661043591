"""What is known of everyone, not only of the rows that were recorded: laws from elsewhere.

They are given by probabilities of the states of some variables, or by rows that are no selection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lacunet.counts.distinct_rows import distinct_rows
from lacunet.data.column_rules import source_from
from lacunet.data.data import as_data
from lacunet.data.evidence import state_named
from lacunet.data.read import read_table
from lacunet.missingness.errors import MissingnessGraphError
from lacunet.network.named_axes import Table
from lacunet.network.network import FloatArray, Network, Scope
from lacunet.text import listed


def known_variables(network: Network, population: Any) -> list[Scope]:
    """The sets of variables whose law a population gives: those of a mapping, or its columns."""
    if population is None:
        return []
    laws = _given_laws(population)
    if laws is not None:
        return [*laws]
    columns = source_from(as_data(population)).columns
    names = tuple(name for name in network.variables if name in columns)
    if not names:
        raise MissingnessGraphError(
            "the rows of the population have no column of the network's variables.",
            "they show, of everyone, what decides whether a row was recorded.",
        )
    return [names]


def laws_over(network: Network, scopes: Sequence[Scope], given: Any) -> dict[Scope, Table]:
    """The laws of a population over some sets of variables, as tables.

    Raises
    ------
    MissingnessGraphError
        They are not given for these variables, or not by probabilities or rows that show them.
    """
    given_laws = _given_laws(given)
    if given_laws is not None:
        return {scope: _law_over(network, scope, given_laws) for scope in scopes}
    states = {name: network.states(name) for scope in scopes for name in scope}
    codes = {name: coding for name, coding in network.codes_of.items() if name in states}
    cuts = {name: points for name, points in network.cuts_of.items() if name in states}
    table = read_table(given, Network(states, codes=codes, cuts=cuts))
    laws = {}
    for scope in scopes:
        rows = distinct_rows(table, scope)
        if not rows.is_shown(scope).all():
            raise MissingnessGraphError(
                f"the rows of the population do not show all of {listed(scope)}.",
                "leave out the rows that do not, if that is no selection either.",
            )
        every = np.ones(len(rows.weights), dtype=bool)
        laws[scope] = rows.tabled(scope, every, rows.weights).shares()
    return laws


def _given_laws(population: Any) -> dict[Scope, Any] | None:
    """Probabilities by sets of variables; None if the population is given as columns of rows."""
    if not isinstance(population, Mapping):
        return None
    try:
        for value in population.values():
            if not isinstance(value, Mapping):
                np.asarray(value, dtype=np.float64)
                if np.asarray(value).dtype.kind in "OSUb":  # cells: the states "0", "1", or True
                    return None
    except (TypeError, ValueError):
        return None
    return {(k,) if isinstance(k, str) else tuple(k): value for k, value in population.items()}


def _law_over(network: Network, scope: Scope, given: Mapping[Scope, Any]) -> Table:
    """The law over a set of variables, as it is given for these in any order."""
    names = next((names for names in given if {*names} == {*scope}), None)
    if names is None:
        raise MissingnessGraphError(f"the law of {listed(scope)} in the population is not given.")
    numbers = _in_order(network, names, given[names])
    has_each_state = numbers.shape == network.shape(names)
    are_shares = bool((numbers >= 0).all()) and numbers.sum() > 0
    if not (has_each_state and are_shares):
        raise MissingnessGraphError(
            f"the law of {listed(names)} in the population does not give each state once, "
            "or holds what is no probability: numbers of the shape "
            f"{network.shape(names)} are needed.",
            "as in population={'Age': {'young': 0.4, 'old': 0.6}}; of several variables, "
            "{('A', 'B'): table}; give rows of numbers as a frame.",
        )
    law = Table(names, numbers)
    return law.marginal(scope).shares()  # nothing is summed out: the axes come in order


def _in_order(network: Network, names: Scope, law: Any) -> FloatArray:
    """The probabilities in the order of the states that they are given for; none if some lack."""
    if isinstance(law, Mapping):
        states = network.states(names[0])
        known = {state_named(network, names[0], state): share for state, share in law.items()}
        is_whole = len(known) == len(law) and {*known} == {*states}
        law = [known[state] for state in states] if is_whole else []
    return np.asarray(law, dtype=np.float64)
