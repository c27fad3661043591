"""How long EM takes on a grid that is too wide for it, under a limit of time.

    python benchmarks/grid_limit.py

A 25 x 25 grid of binary variables, 500 rows, 90% of the cells missing (seed 7).
"""

from __future__ import annotations

from time import perf_counter, process_time

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


if __name__ == "__main__":
    main()
