"""The bytes that compiling problems takes for each cell: rows times partially observed variables.

    python benchmarks/compile_memory.py [BIF ...]

What is allocated at the peak beyond the rows before and the problems after (tracemalloc, which
NumPy reports to), in one go, for several networks, sizes and shares of missing values; beside it
the processor time. `BYTES_A_CELL` in `lacunet.statistics.problems.compile` is read off here.
"""

from __future__ import annotations

import sys
import tracemalloc
from pathlib import Path
from time import process_time

import numpy as np

import lacunet as lc
from lacunet.simulation.at_random import MAR
from lacunet.simulation.simulate import simulate
from lacunet.statistics.problems import compile as compiling
from lacunet.wording import text_table

SETTINGS = {"30%": MAR(0.3, 2, (1.0, 0.5)), "90%": MAR(0.9, 2, (0.5, 0.5))}
SIZES = (10**3, 10**4, 10**5)
NETWORKS = ("child", "alarm", "hepar2", "win95pts", "munin1", "barley")
MOST_CELLS = 10**7


def line(name: str, network: lc.Network, rows: int, share: str) -> list[str]:
    table = simulate(network, rows, SETTINGS[share], rng=np.random.default_rng(3)).table
    cells = rows * len(table.partially_observed)
    start = process_time()
    compiling.compile_problems(network, table)
    took = process_time() - start
    tracemalloc.start()
    problems = compiling.compile_problems(network, table)
    after, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    figures = [f"{(peak - after) / cells:.0f}", f"{after / cells:.0f}", f"{1e9 * took / cells:.0f}"]
    return [name, f"{rows:,}", share, f"{cells:.1e}", f"{len(problems):,}", *figures]


def main(paths: list[str]) -> None:
    networks = {name: lc.example(name) for name in NETWORKS}
    networks |= {Path(path).name.split(".")[0]: lc.read_network(path) for path in paths}
    lines = []
    for name, network in networks.items():
        for rows in SIZES:
            for share in SETTINGS:
                if rows * len(network.variables) <= MOST_CELLS:
                    lines.append(line(name, network, rows, share))
                    print(*lines[-1], sep="\t", file=sys.stderr, flush=True)
    header = ["network", "rows", "incomplete", "cells", "problems", "bytes a cell", "kept", "ns"]
    print(text_table(header, lines, left=1))


if __name__ == "__main__":
    main(sys.argv[1:])
