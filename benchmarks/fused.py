"""What compiled loops bring to the E-step: Numba beside NumPy, in one process.

    pip install '.[fast]' && python -P benchmarks/fused.py [ROWS]

Alarm, half of all values missing. Both take turns; the least processor time of each counts, and
the first step by Numba, which compiles, is told apart.
"""

from __future__ import annotations

import sys
from time import process_time

import numpy as np

import lacunet as lc
from lacunet.inference.engine import engine_of
from lacunet.inference.expectation import fused
from lacunet.statistics.problems.compile import compile_problems

ROUNDS = 12


def main(rows: int) -> None:
    network = lc.example("alarm")
    table = lc.simulate(network, rows, lc.MCAR(share=1.0, rate=0.5), rng=1).table
    problems = compile_problems(network.with_tables(None), table)
    engine = engine_of(problems, 2**31)
    cells = problems.layout.flat({name: network.cpt(name).table for name in network.variables})
    spent: dict[str, list[float]] = {"NumPy": [], "Numba": []}
    counts = {}
    for _ in range(ROUNDS):
        for name, values in (("NumPy", -np.inf), ("Numba", np.inf)):
            fused.READ.values = values
            began = process_time()
            counts[name] = engine.expect(cells).counts
            spent[name].append(process_time() - began)
    is_same = bool((counts["NumPy"] == counts["Numba"]).all())
    numpy, numba = (min(own) for own in spent.values())
    first = spent["Numba"][0] - numba
    print(f"{rows:,} rows, {engine.plan.reads:.2g} values read: NumPy {1e3 * numpy:.1f} ms,")
    print(
        f"Numba {1e3 * numba:.1f} ms, {numpy / numba:.2f} times; {first:.1f} s to load and compile"
    )
    print(f"the same bits: {is_same}")


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 20_000)
