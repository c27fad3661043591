"""pyAgrum's exact EM, until a step changes the log-likelihood by less than 1e-4 of itself."""

from typing import Any

import lacunet as lc
from studies.leaderboard.entries import uniform
from studies.leaderboard.entry import Learned

NAME = "pyAgrum EM"


def learn(network: lc.Network, rows: Any) -> Learned:
    """EM with one pseudo-count per cell, on one thread."""
    import pyagrum as gum

    template = lc.to_pyagrum(uniform.learn(network, rows).network)  # CPTs are not looked at
    learner = gum.BNLearner(rows.fillna("?"), template, ["?"])  # type: ignore[no-untyped-call]
    learner.useSmoothingPrior(1)
    learner.useEM(1e-4)
    learner.setNumberOfThreads(1)
    return Learned(lc.from_pyagrum(learner.learnParameters(template.dag())))
