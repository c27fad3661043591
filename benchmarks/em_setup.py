"""What EM does before its first iteration, in iterations: Alarm, half of all values missing.

    python benchmarks/em_setup.py [ROWS [TREE ...]]

Compiling the rows and planning the E-step, beside one E-step by NumPy: the least processor time of
five runs. Trees are other checkouts, each measured by a process of its own; they take turns.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from time import process_time

import numpy as np

import lacunet as lc
from lacunet.inference.engine import engine_of
from lacunet.statistics.problems.compile import compile_problems

RUNS = 5
E_STEPS = 3  # in each run: so few that Numba is not loaded
MEMORY = 4 * 2**30


def measured(rows: int) -> list[float]:
    """The seconds of compiling, of planning, and of an E-step."""
    network = lc.example("alarm")
    missing = lc.MCAR(share=1.0, rate=0.5)
    table = lc.simulate(network, rows, missing, rng=np.random.default_rng(1)).table
    times: list[list[float]] = [[], [], []]
    for _ in range(RUNS):
        began = process_time()
        problems = compile_problems(network.with_tables(None), table)
        compiled = process_time()
        engine = engine_of(problems, MEMORY)
        planned = process_time()
        times[0].append(compiled - began)
        times[1].append(planned - compiled)
        cells = problems.layout.flat({name: network.cpt(name).table for name in network.variables})
        for _ in range(E_STEPS):
            began = process_time()
            engine.expect(cells)
            times[2].append(process_time() - began)
    return [min(own) for own in times]


def main(rows: str, *trees: str) -> None:
    if rows == "--here":
        print(*measured(int(float(trees[0]))))
        return
    here = Path(__file__).parent.parent
    found: dict[Path, list[list[float]]] = {tree: [] for tree in (here, *map(Path, trees))}
    for _ in range(2):
        for tree, own in found.items():
            done = subprocess.run(
                [sys.executable, __file__, "--here", rows],
                env=os.environ | {"PYTHONPATH": str(tree / "src")},
                capture_output=True,
                text=True,
                check=True,
            )
            own.append([float(word) for word in done.stdout.split()])
    for tree, own in found.items():
        compiling, planning, step = (min(times) for times in zip(*own, strict=True))
        print(
            f"{tree.resolve().name}: compile {compiling:.2f} s, plan {planning:.2f} s, E-step "
            f"{step * 1e3:.0f} ms: {(compiling + planning) / step:.0f} E-steps"
        )


if __name__ == "__main__":
    main(*(sys.argv[1:] or ["1e5"]))
