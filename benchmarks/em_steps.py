"""Expectations that EM takes to converge: with barren variables or without, plain or accelerated.

One MAR problem a network, the paper's first setting (30% of the variables) or second (90%), from
the factored-mar CPTs until no parameter moves by 1e-4, at most 500 expectations, with the processor
time that they took. Networks are read from the folder given as second argument.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import process_time

import numpy as np

import lacunet as lc
from lacunet.data.write import to_arrow
from lacunet.estimate.em.climb import Limits, climb
from lacunet.inference.engine import engine_of
from lacunet.simulation.at_random import MAR
from lacunet.simulation.simulate import simulate
from lacunet.statistics.problems.compile import compile_problems
from lacunet.wording import text_table

FIRST, SECOND = MAR(0.3, 2, (1.0, 0.5)), MAR(0.9, 2, (0.5, 0.5))
CASES = [
    ("child", SECOND),
    ("hepar2", SECOND),
    ("alarm", SECOND),
    ("win95pts", SECOND),
    ("insurance", SECOND),
    ("water", FIRST),
    ("barley", FIRST),
    ("munin1", FIRST),
    ("grid-90-20-1", FIRST),
]


def main(rows: int, folder: str) -> None:
    lines = []
    for name, missing in CASES:
        paths = sorted(Path(folder).glob(f"{name}.bif*"))
        if not paths:
            continue
        network = lc.read_network(paths[0])
        table = simulate(network, rows, missing, rng=np.random.default_rng(7)).table
        seed = lc.learn(network, to_arrow(table, network), "factored-mar", 2).network
        line = [name, "30%" if missing is FIRST else "90%"]
        for prune, accelerate in ((False, False), (True, False), (True, True)):
            engine = engine_of(compile_problems(network, table, prune=prune), 4 * 2**30)
            start = engine.problems.layout.flat(seed.tables_of or {})
            began = process_time()
            found = climb(engine, start, 2.0, Limits(1e-4, 500, accelerate=accelerate))
            took = process_time() - began
            reached = "" if found.reason == "converged" else " (limit)"
            line += [f"{found.iterations}{reached}", f"{took:.1f} s"]
        line.append(f"{found.log_posterior:,.2f}")
        lines.append(line)
        print(*line, file=sys.stderr, flush=True)
    header = ["network", "variables", "as it was", "", "pruned", "", "accelerated", "", "ends at"]
    print(f"\n## Expectations until no parameter moves by 1e-4 ({rows:,} rows)\n")
    print(text_table(header, lines, left=2))


if __name__ == "__main__":
    main(int(float(sys.argv[1])), sys.argv[2])
