"""What runs without the interpreter's lock: what a second thread could do at the same time.

    python benchmarks/threads.py

While one thread works, another counts in pure Python, which needs the lock. Both are timed by their
own processor time, so that other work on the machine matters less. Where the lock is free all the
time, both get as much; where it is held, the counting thread gets little: single calls take far
longer than the interval after which threads take turns. Then the two threads of BLAS: processor
time of an E-step with one and with two.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from threading import Thread
from time import process_time, thread_time

import numpy as np

import lacunet as lc
from lacunet.inference.engine import engine_of
from lacunet.statistics.problems.compile import compile_problems

SECONDS = 1.0  # of processor time, of each kernel
CELLS = 2**24


def free_share(work: Callable[[], object]) -> float:
    """The processor time of a thread that needs the lock, for each second of the work's own."""
    taken = 0.0
    is_done = False

    def worker() -> None:
        nonlocal taken, is_done
        began = thread_time()
        while thread_time() - began < SECONDS:
            work()
        taken, is_done = thread_time() - began, True

    thread = Thread(target=worker)
    thread.start()
    began, turns = thread_time(), 0
    while not is_done:
        turns += 1
    spent = thread_time() - began
    thread.join()
    return spent / taken


def kernels() -> dict[str, Callable[[], object]]:
    rng = np.random.default_rng(0)
    values, index = rng.random(CELLS), rng.integers(0, CELLS, CELLS)
    codes = rng.integers(0, 4, CELLS).astype(np.uint8)
    sums, square = np.zeros(CELLS), rng.random((1500, 1500))
    return {
        "multiply": lambda: np.multiply(values, values, out=sums),
        "take": lambda: values.take(index),
        "fancy index": lambda: values[index],
        "add.at": lambda: np.add.at(sums, index, values),
        "bincount": lambda: np.bincount(index, values),
        "compare codes": lambda: codes == 4,
        "sort": lambda: np.sort(index),
        "argsort": lambda: np.argsort(index),
        "matrix product": lambda: square @ square,
    }


def e_step() -> float:
    """The least processor time of an E-step: Alarm, 20,000 rows, half of all values missing."""
    network = lc.example("alarm")
    table = lc.simulate(network, 20_000, lc.MCAR(share=1.0, rate=0.5), rng=1).table
    problems = compile_problems(network.with_tables(None), table)
    engine = engine_of(problems, 2**30)
    cells = problems.layout.flat({name: network.cpt(name).table for name in network.variables})
    times = []
    for _ in range(8):
        began = process_time()
        engine.expect(cells)
        times.append(process_time() - began)
    return min(times)


def main() -> None:
    if sys.argv[1:] == ["--e-step"]:
        print(e_step())
        return
    sys.setswitchinterval(1e-4)
    print("| kernel | share of its time without the lock |\n|---|---:|")
    for name, work in kernels().items():
        print(f"| {name} | {min(free_share(work), 1.0):.0%} |", flush=True)
    spent = []
    for threads in "12":
        done = subprocess.run(
            [sys.executable, __file__, "--e-step"],
            env=os.environ | {"OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        )
        spent.append(float(done.stdout))
    print(f"E-step with two threads of BLAS: {spent[1] / spent[0]:.2f} times the processor time")


if __name__ == "__main__":
    main()
