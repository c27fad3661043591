"""Processor time by rows, variables and the share of missing values, with slopes in log-log scale.

    python benchmarks/sizes.py [--rows 1e4 1e5 1e6] [--rates 0.1 0.3 0.5] [--methods em ...]
    python benchmarks/sizes.py --variables 20 40 80 --rows 1e3 1e4 5e4

Alarm, or random networks of so many variables (up to three parents, two to four states; the
number of variables is the seed). Every cell is missing with the given probability; for MAR
methods those of 30% of the variables. One run of each after a small one; EM runs to convergence
from one start. In the end, for each method, the exponents of rows and variables and the factor
for each tenth of the cells missing, all by one least-squares fit of the logarithm of time.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import process_time

import numpy as np

import lacunet as lc

sys.path.insert(0, str(Path(__file__).parents[1]))
from studies.problems.generators import random_network

METHODS = {
    "direct-mcar": "direct-mcar",
    "factored-mcar": "factored-mcar",
    "direct-mar": "direct-mar",
    "factored-mar": "factored-mar",
    "em": lc.EM(restarts=1),
}
SHARES = {"direct-mar": 0.3, "factored-mar": 0.3}  # of the variables that are ever missing


def network_of(variables: int | None) -> lc.Network:
    if variables is None:
        return lc.example("alarm")
    rng = np.random.default_rng(variables)
    return random_network(variables, rng, max_parents=3, states=(2, 4))


def timed(name: str, network: lc.Network, rows: int, rate: float) -> tuple[float, str]:
    """The processor time of a fit, and its iterations."""
    hide = lc.MCAR(rate, share=SHARES.get(name, 1.0))
    bare = network.with_tables(None)
    lc.learn(bare, lc.simulate(network, 100, hide, rng=0).table, METHODS[name], pseudo_counts=1)
    table = lc.simulate(network, rows, hide, rng=1).table
    began = process_time()
    result = lc.learn(bare, table, METHODS[name], pseudo_counts=1)
    return process_time() - began, str(getattr(result.ended, "iterations", ""))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", nargs="+", type=float, default=[1e4, 1e5, 1e6])
    parser.add_argument("--rates", nargs="+", type=float, default=[0.1, 0.3, 0.5])
    parser.add_argument("--variables", nargs="+", type=int, default=[None])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    chosen = parser.parse_args()
    heads = [f"{rows:.0e} rows" for rows in chosen.rows]
    print(f"| method | variables | missing | {' | '.join(heads)} | slope | iterations |")
    print("|---|---:|---:|" + "---:|" * (len(heads) + 2))
    for name in chosen.methods:
        points, logs = [], []
        for variables in chosen.variables:
            network = network_of(variables)
            number = len(network.variables)
            for rate in chosen.rates:
                found = [timed(name, network, int(rows), rate) for rows in chosen.rows]
                own = np.log([time for time, _ in found])
                points += [(1, np.log(rows), np.log(number), 10 * rate) for rows in chosen.rows]
                logs += own.tolist()
                slope = np.polyfit(np.log(chosen.rows), own, 1)[0] if len(own) > 1 else 0.0
                shown = " | ".join(f"{time:.3g} s" for time, _ in found)
                told = ", ".join(iterations for _, iterations in found)
                print(
                    f"| {name} | {number} | {rate:.0%} | {shown} | {slope:.2f} | {told} |",
                    flush=True,
                )
        _, by_rows, by_variables, by_tenth = np.linalg.lstsq(np.array(points), logs)[0]
        print(
            f"{name}: rows^{by_rows:.2f}, variables^{by_variables:.2f}, "
            f"times {np.exp(by_tenth):.2f} for each tenth missing",
            flush=True,
        )


if __name__ == "__main__":
    main()
