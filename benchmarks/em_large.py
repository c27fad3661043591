"""EM to convergence where components are large: Barley, 90% of the variables incomplete.

    python benchmarks/em_large.py [ROWS [SEED ...]]

One MAR problem a seed, the paper's second setting, from the factored-mar CPTs until no parameter
moves by 1e-4. Processor time in seconds, of the whole run as `lacunet.learn` makes it from a table
in memory, and of its parts.
"""

from __future__ import annotations

import sys
from time import perf_counter, process_time

import numpy as np

import lacunet as lc
from lacunet.data.write import to_arrow
from lacunet.inference.engine import engine_of
from lacunet.memory import memory_budget
from lacunet.simulation.at_random import MAR
from lacunet.simulation.simulate import simulate
from lacunet.statistics.problems.compile import compile_problems
from lacunet.wording import text_table

MISSING = MAR(0.9, 2, (0.5, 0.5))


def line(rows: int, seed: int) -> list[str]:
    network = lc.example("barley")
    table = simulate(network, rows, MISSING, rng=np.random.default_rng(seed)).table
    start = process_time()
    problems = compile_problems(network, table)
    compiled = process_time()
    engine = engine_of(problems, memory_budget())
    planned = process_time()
    cells = problems.layout.flat(network.tables_of or {})
    engine.log_likelihoods(cells)
    frame = to_arrow(table, network)
    wall, whole = perf_counter(), process_time()
    result = lc.learn(network, frame, lc.EM(restarts=1), 2)
    whole, wall = process_time() - whole, perf_counter() - wall
    assert result.ended is not None
    steps = result.ended.iterations
    return [
        str(seed),
        f"{engine.plan.states:.1e}",
        f"{compiled - start:.1f}",
        f"{planned - compiled:.1f}",
        f"{steps} ({result.ended.reason})",
        f"{(whole - (planned - start)) / max(steps, 1):.2f}",
        f"{whole:.1f}",
        f"{wall:.1f}",
    ]


def main(rows: int, seeds: list[int]) -> None:
    lines = []
    for seed in seeds:
        lines.append(line(rows, seed))
        print(*lines[-1], sep="\t", file=sys.stderr, flush=True)
    header = ["seed", "states", "compile", "plan", "E-steps", "each", "whole", "wall clock"]
    print(f"\n## EM on Barley, 90% incomplete, {rows:,} rows: seconds of processor time\n")
    print(text_table(header, lines, left=1))


if __name__ == "__main__":
    main(int(float((sys.argv[1:] or ["1e4"])[0])), [int(seed) for seed in sys.argv[2:]] or [5])
