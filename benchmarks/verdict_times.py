"""How long does a verdict on an effect take? Random graphs with hidden causes, fixed seeds.

    python benchmarks/verdict_times.py [graphs]

prints, for graphs of 5 and 10 variables, the median, the 90th percentile and the longest time of
``graph.recover(target, given, do)`` in processor time, and how often each verdict was given. The
search has a limit in steps, which is what keeps the longest times where they are.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from itertools import combinations

import numpy as np

import lacunet as lc
from lacunet.model.nodes import Mechanism, Node


def random_graph(variables: int, rng: np.random.Generator) -> lc.MissingnessGraph:
    """About 1.5 edges per variable, half of the variables missing at times, some hidden causes."""
    names = [f"V{k}" for k in range(variables)]
    share = min(3 / (variables - 1), 1.0)
    parents: dict[str, list[str]] = {name: [] for name in names}
    for one, two in combinations(names, 2):
        if rng.random() < share:
            parents[two].append(one)
    network = lc.Network({name: ["0", "1"] for name in names}, parents)
    partial = [name for name in names if rng.random() < 0.5] or names[:1]
    causes: dict[str, list[Node]] = {}
    for at, name in enumerate(partial):
        causes[name] = [other for other in names if rng.random() < 1.5 / variables]
        causes[name] += [Mechanism(other) for other in partial[:at] if rng.random() < 0.2]
    nodes: list[Node] = [*names, *map(Mechanism, partial)]
    pairs = [pair for pair in combinations(nodes, 2) if rng.random() < 1 / variables**2]
    return lc.MissingnessGraph(network, causes, pairs)


def main(graphs: int = 200) -> None:
    """Print the table."""
    print("variables  graphs   median      90%      max  verdicts")
    for variables in (5, 10):
        times, verdicts = [], Counter[str]()
        for seed in range(graphs):
            rng = np.random.default_rng([variables, seed])
            graph = random_graph(variables, rng)
            names = [str(name) for name in rng.permutation(graph.network.variables)]
            begun = time.process_time()
            verdict = graph.recover(names[:1], names[2 : 2 + seed % 2], names[1:2])
            times.append(1000 * (time.process_time() - begun))
            verdicts[verdict.status] += 1
        middle, high, longest = np.quantile(times, [0.5, 0.9, 1.0])
        print(
            f"{variables:>9}  {graphs:>6}  {middle:>4.1f} ms  {high:>4.0f} ms  {longest:>4.0f} ms  "
            + ", ".join(f"{count} {status}" for status, count in verdicts.most_common()),
            flush=True,
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
