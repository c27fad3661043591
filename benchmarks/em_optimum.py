"""The optimum of our EM beside pyAgrum's: the log-posterior of both, on small networks."""

from __future__ import annotations

import numpy as np

from em import pyagrum_learner
from lacunet.data.table import EncodedTable
from lacunet.estimate.em.method import EM
from lacunet.estimate.learn import learn
from lacunet.formats.catalogue import example
from lacunet.inference.likelihood import observed_log_likelihood
from lacunet.model.network import Network
from lacunet.simulation.at_random import MAR
from lacunet.simulation.simulate import simulate
from lacunet.wording import text_table


def main() -> None:
    rows = []
    for name in ("fire-alarm", "asia", "survey", "cancer"):
        network = example(name)
        drawn = simulate(network, 500, MAR(0.5, 1, (1.0, 1.0)), rng=np.random.default_rng(3))
        learned = learn(network, drawn.table, EM(tolerance=1e-8, max_iterations=5000), 2)
        ours = log_posterior(learned.network, drawn.table)
        theirs = log_posterior(by_pyagrum(network, drawn.table), drawn.table)
        rows.append([name, f"{ours:.6f}", f"{theirs:.6f}", f"{ours - theirs:+.6f}"])
    print("\n## Log-posterior at the optimum (MAR, 500 rows, one pseudo-count a cell)\n")
    print(text_table(["network", "lacunet", "pyAgrum", "difference"], rows))


def log_posterior(network: Network, table: EncodedTable) -> float:
    prior = sum(float(np.log(cpt.table).sum()) for cpt in network.cpts)
    return observed_log_likelihood(network, table) + prior


def by_pyagrum(network: Network, table: EncodedTable) -> Network:
    learner, template = pyagrum_learner(network, table, 1e-8)
    learned = learner.learnParameters(template.dag())
    tables = {}
    for name in network.variables:
        cpt = learned.cpt(name)
        axes = list(reversed(cpt.names))  # toarray: the last named axis first
        array = cpt.toarray()
        family = network.family(name)
        table_ = array.transpose([axes.index(axis) for axis in family])
        tables[name] = table_ / table_.sum(axis=-1, keepdims=True)
    return network.with_tables(tables)


if __name__ == "__main__":
    main()
