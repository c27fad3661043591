"""pyAgrum's exact EM, until a step changes the log-likelihood by less than 1e-4 of itself."""

from typing import Any

import lacunet as lc
from studies.leaderboard.entries import uniform
from studies.leaderboard.entry import Learned

NAME = "pyAgrum EM"


def learn(network: lc.Network, rows: Any) -> Learned:
    """EM with one pseudo-count per cell, on one thread; states by number, as spaces are cut off."""
    import pyagrum as gum

    gum.initRandom(1)  # its starts are drawn
    names = network.variables
    number = {name: {s: f"s{at}" for at, s in enumerate(network.states(name))} for name in names}
    parents = {name: network.parents(name) for name in names}
    bare = lc.Network({name: list(number[name].values()) for name in names}, parents)
    template = lc.to_pyagrum(uniform.learn(bare, rows).network)  # CPTs are not looked at
    coded = rows.apply(lambda column: column.map(number[column.name])).fillna("?")
    learner = gum.BNLearner(coded, template, ["?"])  # type: ignore[no-untyped-call]
    learner.useSmoothingPrior(1)
    learner.useEM(1e-4)
    learner.setNumberOfThreads(1)
    found = lc.from_pyagrum(learner.learnParameters(template.dag()))
    tables = {name: found.cpt(name).table for name in names}
    parents = {name: found.parents(name) for name in names}
    return Learned(lc.Network({name: network.states(name) for name in names}, parents, tables))
