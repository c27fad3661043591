"""pgmpy's `fit` with one pseudo-count per cell: the rows that show each family."""

from typing import Any

import lacunet as lc
from studies.leaderboard.entry import Learned

NAME = "pgmpy fit"


def learn(network: lc.Network, rows: Any) -> Learned:
    """Fit with the prior K2."""
    from pgmpy.models import DiscreteBayesianNetwork
    from pgmpy.parameter_estimator import DiscreteBayesianEstimator

    model = DiscreteBayesianNetwork(list(network.edges))
    model.add_nodes_from(network.variables)
    states = {name: list(network.states(name)) for name in network.variables}
    return Learned(
        lc.from_pgmpy(model.fit(rows, DiscreteBayesianEstimator(states, prior_type="K2")))
    )
