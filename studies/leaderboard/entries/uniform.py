"""The same probability for every state: what any learner should be better than."""

from typing import Any

import numpy as np

import lacunet as lc
from studies.leaderboard.entry import Learned

NAME = "uniform"


def learn(network: lc.Network, rows: Any) -> Learned:
    """Do not look at the rows."""
    del rows
    states = {name: network.states(name) for name in network.variables}
    parents = {name: network.parents(name) for name in network.variables}
    tables = {}
    for name in network.variables:
        shape = [network.cardinality(member) for member in network.family(name)]
        tables[name] = np.full(shape, 1 / shape[-1])
    return Learned(lc.Network(states, parents, tables))
