"""Bring a learned network into the order of the true one, by names."""

from __future__ import annotations

import numpy as np

from lacunet.errors import LacunetError
from lacunet.model.network import FloatArray, Network, Scope
from lacunet.wording import differing


class ComparisonError(LacunetError):
    """Two networks do not speak of the same thing."""


def matched(truth: Network, learned: Network) -> Network:
    """The learned network with the variables, states and, if the same, parents in truth's order.

    Raises
    ------
    ComparisonError
        A variable or a state is in one of the networks only.

    Examples
    --------
    >>> truth = Network({"A": ["x", "y"]}, tables={"A": [0.25, 0.75]})
    >>> turned = Network({"A": ["y", "x"]}, tables={"A": [0.75, 0.25]})
    >>> matched(truth, turned) == truth
    True
    """
    _check(truth, learned)
    parents_of: dict[str, Scope] = {}
    tables: dict[str, FloatArray] = {}
    for name in truth.variables:
        axes, parents = learned.family(name), learned.parents(name)
        if {*truth.parents(name)} == {*parents}:
            parents = truth.parents(name)
        family = (*parents, name)
        places = [
            [learned.state_index(axis, state) for state in truth.states(axis)] for axis in family
        ]
        moved = learned.cpt(name).table.transpose([axes.index(axis) for axis in family])
        parents_of[name], tables[name] = parents, moved[np.ix_(*places)]
    return Network(truth.states_of, parents_of, tables)


LEARNED_ALIKE = (
    "compare networks of the same variables and states, spelled alike; one that is learned as "
    "learn(truth, data) (lacunet learn TRUTH DATA) has those of the true one."
)


def _check(truth: Network, learned: Network) -> None:
    true_names, learned_names = set(truth.variables), set(learned.variables)
    if true_names != learned_names:
        raise ComparisonError(
            "the networks have different variables: "
            f"{differing('the true one', true_names, 'the learned one', learned_names)}.",
            LEARNED_ALIKE,
        )
    for name in truth.variables:
        if set(truth.states(name)) != set(learned.states(name)):
            raise ComparisonError(
                f"variable {name!r} has the states {list(truth.states(name))} in the true network, "
                f"but {list(learned.states(name))} in the learned one.",
                LEARNED_ALIKE,
            )
