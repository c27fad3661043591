"""How long commands take on a grid that is too wide for them, under a limit of time or without.

    python benchmarks/grid_limit.py

A 25 x 25 grid of binary variables, 500 rows, 90% of the cells missing (seed 7).
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

import numpy as np

import lacunet as lc

SIDE, ROWS, MISSING, SEED = 25, 500, 0.9, 7


def grid() -> tuple[lc.Network, dict[str, list[str | None]]]:
    names = [[f"X{i}_{j}" for j in range(SIDE)] for i in range(SIDE)]
    parents = {
        names[i][j]: [names[i - 1][j]] * (i > 0) + [names[i][j - 1]] * (j > 0)
        for i in range(SIDE)
        for j in range(SIDE)
    }
    network = lc.Network({name: ["0", "1"] for name in parents}, parents)
    rng = np.random.default_rng(SEED)
    codes = rng.choice(3, (ROWS, SIDE**2), p=[(1 - MISSING) / 2, (1 - MISSING) / 2, MISSING])
    cells = np.array(["0", "1", None], dtype=object)[codes]
    return network, dict(zip(parents, cells.T.tolist(), strict=True))


def main() -> None:
    network, data = grid()
    print("method  limit [s]  processor [s]  wall clock [s]  ended")
    for method in ("em", "em-bp"):
        for limit in (1.0, 10.0):
            wall, processor = perf_counter(), process_time()
            result = lc.learn(network, data, method, time_limit=limit, rng=1)
            wall, processor = perf_counter() - wall, process_time() - processor
            print(f"{method:6}  {limit:9g}  {processor:13.1f}  {wall:14.1f}  {result.ended.reason}")
    print("step  processor [s]  ended")
    for name, call in steps(network, data).items():
        began = process_time()
        try:
            call()
            ended = "done"
        except lc.LacunetError as error:
            ended = f"{type(error).__name__}: {str(error)[:60]}"
        print(f"{name}  {process_time() - began:.1f}  {ended}", flush=True)


def steps(network: lc.Network, data: dict[str, list[str | None]]) -> dict[str, Callable[[], Any]]:
    """What takes long of other commands; those that take a limit get five seconds."""
    rng = np.random.default_rng(SEED)
    tables = {v: rng.dirichlet([1, 1], size=network.shape(network.parents(v))) for v in data}
    known, last = network.with_tables(tables), [*data][-1]
    few = {name: cells[:5] for name, cells in data.items()}
    seen, memory = {next(iter(data)): "0"}, "1GB"
    return {
        "learn with intervals": lambda: lc.learn(network, data, "em", time_limit=5, intervals=True),
        "explain": lambda: lc.explain(network, data, "em", time_limit=5),
        "structure": lambda: lc.learn_structure(lc.Data(data, states=network), time_limit=5),
        "learn_missingness": lambda: lc.learn_missingness(data, network, time_limit=5),
        "query": lambda: known.query(last, seen, memory=memory),
        "marginals": lambda: known.marginals({last: "0"}, memory=memory),
        "predict": lambda: known.predict(few, last, memory=memory),
        "impute": lambda: known.impute(few, how="most probable", memory=memory),
        "draws": lambda: known.impute(few, draws=2, proper=False, memory=memory),
        "log-likelihood": lambda: known.log_likelihood(few, memory=memory),
        "simulate": lambda: lc.simulate(known, 1_000, lc.MAR(share=0.3, beta=(1.0, 0.5)), rng=SEED),
    }


if __name__ == "__main__":
    main()
