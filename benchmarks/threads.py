"""The E-step by NumPy and compiled, what threads gain, and what a wide grid takes.

    python benchmarks/threads.py [--beside TREE] [--threads 2] [--grid]

With ``--beside``, E-steps of another source tree are timed in turns with those of this one
(processor time, the least of all rounds). What threads gain is wall clock, so it means something on
a quiet machine alone: beside each job stand as many loops that hold no lock at all, which show how
many cores there were at that moment.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from math import inf
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

import lacunet as lc
from lacunet.counts.em_problems.compile import compile_problems
from lacunet.data.table import EncodedTable
from lacunet.inference.engine import Engine, engine_of
from lacunet.inference.expectation import fused
from lacunet.network.network import FloatArray, Network
from lacunet.text_tables import TextTable

MEMORY = 2.0**33
ROUNDS = 4
CASES = [
    ("alarm", 20_000, 0.5),
    ("alarm", 100_000, 0.5),
    ("child", 20_000, 0.5),
    ("hailfinder", 5_000, 0.3),
    ("barley", 1_000, 0.3),
]


def drawn(name: str, rows: int, share: float) -> EncodedTable:
    return lc.simulate(lc.example(name), rows, lc.MCAR(share), rng=1).table


def cells_of(network: Network, engine: Engine) -> FloatArray:
    tables = {name: network.cpt(name).table for name in network.variables}
    return engine.problems.layout.flat(tables)


def least(work: Callable[[], object], clock: Callable[[], float], repeats: int = 7) -> float:
    best = inf
    for _ in range(repeats):
        began = clock()
        work()
        best = min(best, clock() - began)
    return best


def compile_always(*, is_compiled: bool) -> None:
    if hasattr(fused, "PAYS_FROM"):
        fused.PAYS_FROM = 0 if is_compiled else inf
    else:  # trees before it, where it depended on what the process had read
        fused.READ.values = inf if is_compiled else -inf


def time_esteps() -> None:
    """Print the milliseconds of an E-step of each case: NumPy, compiled."""
    for name, rows, share in CASES:
        network = lc.example(name)
        problems = compile_problems(network.with_tables(None), drawn(name, rows, share))
        times = []
        for is_compiled in (False, True):
            compile_always(is_compiled=is_compiled)
            engine = engine_of(problems, MEMORY)
            step: Any = partial(engine.expect, cells_of(network, engine))
            step()
            times.append(1e3 * least(step, process_time))
        print(*times, flush=True)


def esteps_of(source: Path) -> FloatArray:
    command = [sys.executable, __file__, "--esteps"]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return np.array([line.split() for line in done.stdout.splitlines()], dtype=float)


def compare_esteps(beside: Path | None) -> None:
    sources = [Path(lc.__file__).parents[1], *([] if beside is None else [beside / "src"])]
    rounds = [[esteps_of(source) for source in sources] for _ in range(ROUNDS)]
    best = np.min(rounds, axis=0)  # tree, case, way
    header = ["case", "NumPy [ms]", "compiled [ms]"]
    if beside is not None:
        header += ["NumPy there", "compiled there", "times as fast"]
    rows = []
    for case, (name, number, share) in enumerate(CASES):
        row = [f"{name}, {number:,} rows, {share:.0%}", *(f"{t:.1f}" for t in best[0, case])]
        if beside is not None:
            row += [f"{t:.1f}" for t in best[1, case]]
            row.append(f"{best[1, case, 1] / best[0, case, 1]:.2f}")
        rows.append(row)
    print(f"\n## An E-step, one thread, processor time, least of {ROUNDS} rounds\n")
    print(TextTable(header, rows))


def spin() -> float:
    """A loop that holds no lock: NumPy's, on an array that stays in the cache."""
    values = np.linspace(0.0, 1.0, 2**14)
    for _ in range(4_000):
        np.sqrt(values, out=values)
    return float(values[0])


def cores_free(threads: int) -> float:
    """How many of the loops were as good as alone."""
    alone = least(spin, perf_counter, 3)
    with ThreadPoolExecutor(threads) as pool:
        together = least(lambda: list(pool.map(lambda _: spin(), range(threads))), perf_counter, 3)
    return threads * alone / together


def time_threads(threads: int) -> None:
    from lacunet.counts.count import count
    from lacunet.threads import working_threads

    network = lc.example("alarm")
    bare = network.with_tables(None)
    table = drawn("alarm", 200_000, 0.5)
    problems = compile_problems(bare, table)
    steps = {}
    for word, is_compiled in (("NumPy", False), ("compiled", True)):
        compile_always(is_compiled=is_compiled)
        engine = engine_of(problems, MEMORY)
        steps[f"E-step, {word}"] = partial(engine.expect, cells_of(network, engine))
    jobs: dict[str, Callable[[], Any]] = {
        "counting": lambda: count(table, bare.families),
        "factored-mar": lambda: lc.learn(bare, table, "factored-mar"),
        "compiling": lambda: compile_problems(bare, table),
        "planning": lambda: engine_of(problems, MEMORY),
        **steps,
    }
    rows = []
    for name, job in jobs.items():
        walls = []
        for number in (1, threads):
            with working_threads(number):
                walls.append(least(job, perf_counter, 5))
        gain = walls[0] / walls[1]
        rows.append([name, *(f"{wall:.3f}" for wall in walls), f"{gain:.2f}"])
        rows[-1].append(f"{cores_free(threads):.2f}")
    header = ["Alarm, 200,000 rows, 50%", "1 thread [s]", f"{threads} threads", "gain", "control"]
    print("\n## Threads, wall clock\n")
    print(TextTable(header, rows))


def time_grid() -> None:
    from loopy import grid

    network, table = grid(16, 500, 0.9, 1)
    bare = network.with_tables(None)
    print("\n## A 16 x 16 grid, 500 rows, 90% missing\n")
    print(lc.explain(bare, table).expectation.text)
    began = process_time()
    result = lc.learn(bare, table)
    ended = result.ended
    print(f"{ended.reason} after {ended.iterations} steps, {process_time() - began:.0f} s")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--grid", action="store_true")
    parser.add_argument("--esteps", action="store_true", help="print the times of this tree alone")
    options = parser.parse_args()
    if options.esteps:
        time_esteps()
        return
    compare_esteps(options.beside)
    time_threads(options.threads)
    if options.grid:
        time_grid()


if __name__ == "__main__":
    main()
