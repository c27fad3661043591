"""Processor time by rows and by the share of missing values, with slopes in log-log scale.

    python benchmarks/sizes.py [--rows 1e4 1e5 1e6] [--rates 0.1 0.3 0.5] [--methods em ...]

Alarm; every cell is missing with the given probability. One run of each after a small one; EM
runs to convergence from one start.
"""

from __future__ import annotations

import argparse
from time import process_time

import numpy as np

import lacunet as lc

METHODS = {
    "direct-mcar": "direct-mcar",
    "factored-mcar": "factored-mcar",
    "em": lc.EM(stop="converge", restarts=1),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", nargs="+", type=float, default=[1e4, 1e5, 1e6])
    parser.add_argument("--rates", nargs="+", type=float, default=[0.1, 0.3, 0.5])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    chosen = parser.parse_args()
    alarm = lc.example("alarm")
    bare = alarm.with_tables(None)
    heads = [f"{rows:.0e} rows" for rows in chosen.rows]
    print(f"| method | missing | {' | '.join(heads)} | slope | iterations |")
    print("|---|---:|" + "---:|" * (len(heads) + 2))
    for name in chosen.methods:
        for rate in chosen.rates:
            hide = lc.MCAR(share=1.0, rate=rate)
            lc.learn(bare, lc.simulate(alarm, 100, hide, rng=0).table, METHODS[name], 2)
            times, iterations = [], []
            for rows in chosen.rows:
                table = lc.simulate(alarm, int(rows), hide, rng=1).table
                began = process_time()
                result = lc.learn(bare, table, METHODS[name], 2)
                times.append(process_time() - began)
                iterations.append(str(getattr(result.ended, "iterations", "")))
            slope = np.polyfit(np.log(chosen.rows), np.log(times), 1)[0] if len(times) > 1 else 0.0
            shown = " | ".join(f"{time:.3g} s" for time in times)
            told = ", ".join(iterations)
            print(f"| {name} | {rate:.0%} | {shown} | {slope:.2f} | {told} |", flush=True)


if __name__ == "__main__":
    main()
