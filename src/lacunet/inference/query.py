"""What a network says about some variables, given others: exact posteriors.

Variables that are neither asked about nor seen, and have no such descendants, are barren:
their CPTs sum to one and are left out. Evidence cuts its axis out of every table before the
junction tree is planned, so that evidence only ever makes inference cheaper. What it cuts off
from all that is asked for is left out as well, unless it has zeros: only they can make the
evidence impossible.

An elimination order is searched for once per structure. Every question about it tries that order
first, and searches for a better one only where the cells to be saved are worth the search.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np

from lacunet.data.matching import Matcher
from lacunet.inference.elimination.junction_tree import (
    Factor,
    JunctionTree,
    calibrate,
    junction_tree,
)
from lacunet.inference.elimination.order import greedy_order, joined, numbered, one_per_edge
from lacunet.inference.errors import ImpossibleEvidenceError, OverBudgetError, QueryError
from lacunet.memory import memory_budget
from lacunet.model.errors import NetworkError
from lacunet.model.labelled import LabelledArray
from lacunet.model.network import FloatArray, Network, Scope, as_network

NOTHING: Mapping[str, str] = MappingProxyType({})


def query(
    network: Any,
    target: str | Sequence[str],
    evidence: Mapping[str, object] = NOTHING,
    *,
    memory: float | None = None,
    interval: bool = False,
) -> Any:
    r"""The posterior joint distribution :math:`\Pr(Y \mid e)`, one axis for each variable of it.

    A target that is also evidence has probability one at the state seen.

    Parameters
    ----------
    network
        A network with CPTs, or the result of learning one.
    target
        The variables :math:`Y`; the axes of the answer are in this order.
    evidence
        The states :math:`e` of the variables seen, as the data would have them: 5 and "5" are
        the same state, None and NaN mean that the variable was not seen.
    memory
        The bytes that inference may take.
    interval
        Whether to give the answer and its 95% interval (axes of the answer, then low and
        high), for a result that was learned with intervals.

    Raises
    ------
    ImpossibleEvidenceError
        The evidence has probability zero.
    OverBudgetError
        Inference would take more memory; nothing was allocated.

    Examples
    --------
    >>> rain = Network(
    ...     {"Rain": ["no", "yes"], "Wet": ["no", "yes"]},
    ...     {"Wet": ["Rain"]},
    ...     {"Rain": [0.8, 0.2], "Wet": [[0.9, 0.1], [0.2, 0.8]]},
    ... )
    >>> query(rain, ["Rain"], {"Wet": "yes"}).round(4)
    array([0.3333, 0.6667])
    """
    result, network = network, as_network(network)
    _check_evidence(evidence)
    if interval:
        if result is network:
            raise QueryError(
                "a network does not know how sure it is.",
                "give the result of lacunet.learn(..., intervals=True).",
            )
        spread = result.sure().query(target, evidence)
        return spread.table, spread.interval()
    scope = (target,) if isinstance(target, str) else tuple(target)
    (table,) = joint_marginals(network, [scope], evidence, memory=memory)
    return labelled(network, scope, table)


def _check_evidence(evidence: object) -> None:
    if not isinstance(evidence, Mapping):
        raise QueryError(
            f"the evidence is {evidence!r}, but must be a mapping of variables to states.",
            'write it as {"Test": "positive"}.',
        )


def marginals(
    network: Network, evidence: Mapping[str, object] = NOTHING, *, memory: float | None = None
) -> Mapping[str, LabelledArray]:
    r"""The posterior :math:`\Pr(X \mid e)` of every variable, all from one calibration.

    Examples
    --------
    >>> coin = Network({"Coin": ["head", "tail"]}, tables={"Coin": [0.25, 0.75]})
    >>> marginals(coin)["Coin"]
    P(Coin)
      head    tail
    0.2500  0.7500
    """
    network = as_network(network)
    _check_evidence(evidence)
    scopes = [(name,) for name in network.variables]
    tables = joint_marginals(network, scopes, evidence, memory=memory)
    return {
        name: labelled(network, (name,), table)
        for name, table in zip(network.variables, tables, strict=True)
    }


def labelled(network: Network, scope: Scope, table: FloatArray) -> LabelledArray:
    """A table over a scope, with the names of its states."""
    return LabelledArray.of(table, scope, [network.states(name) for name in scope])


def family_marginals(network: Network, *, memory: float | None = None) -> Mapping[str, FloatArray]:
    r"""The joint :math:`\Pr(u, x)` of every family, axes parents... then child."""
    scopes = [network.family(name) for name in network.variables]
    return dict(
        zip(network.variables, joint_marginals(network, scopes, memory=memory), strict=True)
    )


def joint_marginals(
    network: Network,
    scopes: Sequence[Scope],
    evidence: Mapping[str, object] = NOTHING,
    *,
    memory: float | None = None,
) -> tuple[FloatArray, ...]:
    """The posterior joint distribution over each of several scopes, all from one calibration."""
    seen = _seen(network, evidence)
    for scope in scopes:
        _check(network, scope)
    free = [tuple(name for name in scope if name not in seen) for scope in scopes]
    names = relevant(network, [*seen, *(v for s in scopes for v in s)])
    factors = _connected(_factors(network, names, seen), free)
    tree = planned(network, [*free, *(factor.scope for factor in factors)], memory=memory)
    calibrated = calibrate(tree, factors, free)
    if len(calibrated.marginals) < len(scopes):
        raise ImpossibleEvidenceError.of({name: str(state) for name, state in evidence.items()})
    return tuple(
        _with_seen(network, table, scope, seen)
        for table, scope in zip(calibrated.marginals, scopes, strict=True)
    )


def planned(
    network: Network, scopes: Sequence[Scope], *, memory: float | None = None
) -> JunctionTree:
    """The junction tree for some scopes of a network, if it fits the budget.

    Raises
    ------
    OverBudgetError
        It does not.
    """
    known = _order(tuple(network.parents_of.items()), network.shape(network.variables))
    names = tuple({name: None for scope in scopes for name in scope})
    tree = _tree(tuple(scopes), tuple(zip(names, network.shape(names), strict=True)), known)
    budget = memory_budget(memory)
    if tree.memory > budget:
        largest = tree.largest
        raise OverBudgetError.junction_tree(tree.memory, budget, largest, tree.cells(largest))
    return tree


@lru_cache(maxsize=16)
def _order(parents: tuple[tuple[str, Scope], ...], shape: tuple[int, ...]) -> Scope:
    """An elimination order for all of a network, which every question about it can use."""
    neighbours = joined([(name, *own) for name, own in parents])
    weights = [math.log(size) for size in shape]
    weight_of = {name: weight for (name, _), weight in zip(parents, weights, strict=True)}
    names = list(neighbours)
    graph = numbered(neighbours, weight_of)
    return tuple(names[at] for at in greedy_order(graph, one_per_edge, range(len(names))))


@lru_cache(maxsize=64)
def _tree(
    scopes: tuple[Scope, ...], sizes: tuple[tuple[str, int], ...], known: Scope
) -> JunctionTree:
    """The junction tree for the scopes; another question with the same ones needs no other."""
    cardinality_of = dict(sizes)
    return junction_tree(scopes, cardinality_of, [name for name in known if name in cardinality_of])


def _seen(network: Network, evidence: Mapping[str, object]) -> dict[str, int]:
    """The place of each state seen; what is missing was not seen."""
    seen = {}
    for name, value in evidence.items():
        states = network.states(name)
        match = _matcher(states, network.cuts_of.get(name, ())).match(value)
        if match.is_refused:
            raise NetworkError.no_such_state(name, str(value), states)
        if match.code < len(states):
            seen[name] = match.code
    return seen


@lru_cache(maxsize=1024)
def _matcher(states: tuple[str, ...], cuts: tuple[float, ...]) -> Matcher:
    return Matcher(states, cuts=cuts)


def _check(network: Network, scope: Scope) -> None:
    for name in scope:
        network.known(name)
    if len(set(scope)) < len(scope):
        raise QueryError.repeated({name for name in scope if scope.count(name) > 1})


def relevant(network: Network, variables: Iterable[str]) -> list[str]:
    """The variables and all their ancestors; every other variable is barren."""
    found = _reached(network.parents_of, set(variables))
    return [name for name in network.variables if name in found]


def _factors(network: Network, variables: Iterable[str], seen: Mapping[str, int]) -> list[Factor]:
    """The CPTs of the variables, cut down to what was seen."""
    factors, tables_of = [], network.tables_of
    for name in variables:
        family = network.family(name)
        table = tables_of[name] if tables_of else network.cpt(name).table  # which is refused
        scope = tuple(axis for axis in family if axis not in seen)
        if len(scope) < len(family):
            table = np.asarray(table[tuple(seen.get(axis, slice(None)) for axis in family)])
        factors.append(Factor(scope, table))
    return factors


def _connected(factors: Sequence[Factor], wanted: Iterable[Scope]) -> list[Factor]:
    """The factors that what is wanted depends on, and those that may turn out to be zero.

    The others, each connected part by itself, sum to some positive constant.
    """
    neighbours = joined([*wanted, *(factor.scope for factor in factors)])
    found = _reached(neighbours, {name for scope in wanted for name in scope})
    apart = [factor for factor in factors if not found.issuperset(factor.scope)]
    zeros = {name for factor in apart if not factor.table.all() for name in factor.scope}
    found |= _reached(neighbours, zeros)
    return [
        factor
        for factor in factors
        if (found.issuperset(factor.scope) if factor.scope else not factor.table.all())
    ]


def _reached(neighbours: Mapping[str, Iterable[str]], sources: set[str]) -> set[str]:
    found, waiting = set(sources), list(sources)
    while waiting:
        fresh = set(neighbours[waiting.pop()]) - found
        found |= fresh
        waiting += fresh
    return found


def _with_seen(
    network: Network, table: FloatArray, scope: Scope, seen: Mapping[str, int]
) -> FloatArray:
    """Give the variables seen their axes back, with all weight on the state seen."""
    if not any(name in seen for name in scope):
        return table
    full = np.zeros(network.shape(scope))
    full[tuple(seen.get(name, slice(None)) for name in scope)] = table
    return full
