"""The E-step by NumPy and compiled, what threads gain, and what a wide grid takes.

    python benchmarks/threads.py [--beside TREE] [--threads 2] [--grid] [--locks PY-SPY]

With ``--beside``, E-steps of another source tree are timed in turns with those of this one
(processor time, the least of all rounds). What threads gain is wall clock, so it means something on
a quiet machine alone: beside each job stand as many loops that hold no lock at all, which show how
many cores there were at that moment.

With ``--locks``, py-spy (none of our dependencies) looks a hundred times a second at each job in
one thread, and tells in how many of its samples the interpreter's lock is held. So much goes on in
one thread however many there are, which bounds what 16 cores can do.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np

import lacunet as lc
from lacunet.counts.count import count
from lacunet.counts.em_problems.compile import Problems, compile_problems
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


ALARM = lc.example("alarm")
BARE = ALARM.with_tables(None)


@cache
def many() -> EncodedTable:
    return drawn("alarm", 200_000, 0.5)


@cache
def few() -> EncodedTable:
    return drawn("alarm", 10_000, 0.1)


@cache
def compiled() -> Problems:
    return compile_problems(BARE, many())


@cache
def e_step(*, is_compiled: bool) -> Callable[[], Any]:
    compile_always(is_compiled=is_compiled)
    engine = engine_of(compiled(), MEMORY)
    return partial(engine.expect, cells_of(ALARM, engine))


def stepped(*, is_compiled: bool) -> object:
    return e_step(is_compiled=is_compiled)()


# What threads divide with 200,000 rows, half of all values missing; and whole calls, which have
# other work too, with 10,000 rows, a tenth missing.
JOBS: dict[str, Callable[[], Any]] = {
    "counting": lambda: count(many(), BARE.families),
    "compiling": lambda: compile_problems(BARE, many()),
    "planning": lambda: engine_of(compiled(), MEMORY),
    "E-step, NumPy": lambda: stepped(is_compiled=False),
    "E-step, compiled": lambda: stepped(is_compiled=True),
    "factored-mar": lambda: lc.learn(BARE, many(), "factored-mar"),
    "em": lambda: lc.learn(BARE, few(), "em"),
    "factored-mar, intervals": lambda: lc.learn(BARE, few(), "factored-mar", intervals=True),
    "em, intervals": lambda: lc.learn(BARE, few(), "em", intervals=True),
    "diagnose": lambda: lc.diagnose(few(), BARE),
    "structure": lambda: lc.learn_structure(lc.Data(few(), states=BARE), strengths=0),
}


def repeated(job: Callable[[], Any], seconds: float) -> None:
    """A job again and again; its name is looked for in samples."""
    began = perf_counter()
    while perf_counter() - began < seconds:
        job()


def loop(name: str, seconds: float) -> None:
    from lacunet.threads import working_threads

    job = JOBS[name]
    with working_threads(1):
        job()
        print("ready", flush=True)
        repeated(job, seconds)


def show_locks(py_spy: str, seconds: float = 12) -> None:
    rows = []
    for name in JOBS:
        command = [sys.executable, "-W", "ignore", __file__, "--loop", name]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            process.stdout.readline()
            held, every = (
                samples(py_spy, process.pid, seconds, words) for words in (["--gil"], [])
            )
            process.terminate()
        share = held / every
        most = 1 / (share + (1 - share) / 16)
        rows.append([name, f"{every}", f"{share:.2f}", f"{most:.1f}"])
        print(*rows[-1], file=sys.stderr, flush=True)
    header = ["Alarm", "samples", "holds the lock", "on 16 cores at most"]
    print("\n## What holds the interpreter's lock, one thread\n")
    print(TextTable(header, rows))


def samples(py_spy: str, process: int, seconds: float, words: list[str]) -> int:
    """How many samples of a process are of its job."""
    with TemporaryDirectory() as folder:
        found = Path(folder) / "samples"
        command = [py_spy, "record", "--pid", str(process), "--duration", str(int(seconds))]
        command += ["--format", "raw", "--output", str(found), "--nonblocking", *words]
        subprocess.run(command, check=True, capture_output=True)
        lines = [line for line in found.read_text().splitlines() if "repeated (" in line]
    return sum(int(line.rpartition(" ")[2]) for line in lines)


def time_threads(threads: int) -> None:
    from lacunet.threads import working_threads

    rows = []
    for name, job in JOBS.items():
        walls = []
        for number in (1, threads):
            with working_threads(number):
                walls.append(least(job, perf_counter, 5))
        gain = walls[0] / walls[1]
        rows.append([name, *(f"{wall:.3f}" for wall in walls), f"{gain:.2f}"])
        rows[-1].append(f"{cores_free(threads):.2f}")
    header = ["Alarm", "1 thread [s]", f"{threads} threads", "gain", "control"]
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
    parser.add_argument(
        "--locks", metavar="PY-SPY", help="what holds the interpreter's lock, alone"
    )
    parser.add_argument("--loop", metavar="JOB", help="run one job for a minute or two")
    options = parser.parse_args()
    if options.loop:
        loop(options.loop, seconds=120)
        return
    if options.locks:
        show_locks(options.locks)
        return
    if options.esteps:
        time_esteps()
        return
    compare_esteps(options.beside)
    time_threads(options.threads)
    if options.grid:
        time_grid()


if __name__ == "__main__":
    main()
