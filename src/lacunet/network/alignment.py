"""Bring a learned network into the order of the true one, by names."""

from __future__ import annotations

import numpy as np

from lacunet.errors import LacunetError
from lacunet.network.network import FloatArray, Network, Scope
from lacunet.text import assigned, differing


class ComparisonError(LacunetError):
    """Two networks do not speak of the same thing."""


def match_network(truth: Network, learned: Network) -> Network:
    """The learned network with the variables, states and, if the same, parents in truth's order.

    Raises
    ------
    ComparisonError
        A variable or a state is in one of the networks only.

    Examples
    --------
    >>> truth = Network({"A": ["x", "y"]}, tables={"A": [0.25, 0.75]})
    >>> turned = Network({"A": ["y", "x"]}, tables={"A": [0.75, 0.25]})
    >>> match_network(truth, turned) == truth
    True
    """
    in_truth = {*truth.variables}
    in_learned = {*learned.variables}
    if in_truth == in_learned:
        in_truth = _states_of_all(truth)
        in_learned = _states_of_all(learned)
    if in_truth != in_learned:
        raise ComparisonError(
            "the networks have different variables or states: "
            f"{differing('the first', in_truth, 'the second', in_learned)}.",
            "compare networks of the same variables and states, spelled alike; one that is learned "
            "as learn(first, data) (lacunet learn FIRST DATA) has those of the first.",
        )
    parents_of: dict[str, Scope] = {}
    tables: dict[str, FloatArray] = {}
    for name in truth.variables:
        axes = learned.family(name)
        parents = learned.parents(name)
        if {*truth.parents(name)} == {*parents}:
            parents = truth.parents(name)
        family = (*parents, name)
        places = [
            [learned.state_index(axis, state) for state in truth.states(axis)] for axis in family
        ]
        moved = learned.cpt(name).table.transpose([axes.index(axis) for axis in family])
        parents_of[name] = parents
        tables[name] = moved[np.ix_(*places)]
    return Network(truth.states_of, parents_of, tables)


def _states_of_all(network: Network) -> set[str]:
    """All states, each with its variable."""
    return {assigned(v, state) for v in network.variables for state in network.states(v)}
