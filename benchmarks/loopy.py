"""When loopy belief propagation is worth it: its time and its loss beside exact inference.

    python benchmarks/loopy.py

Grids of binary variables with CPTs drawn at random, values missing completely at random. An EM step
is timed with both, and the divergence of what EM learns with both from the truth is compared.
"""

from __future__ import annotations

import warnings
from time import process_time

import numpy as np

import lacunet as lc
from lacunet.ask.evaluate import kl_divergence
from lacunet.counts.em_problems.compile import compile_problems
from lacunet.data.table import EncodedTable
from lacunet.inference.engine import engine_of
from lacunet.inference.sampling import sample_codes

MEMORY = 2.0**33
ONE_START = {"restarts": 1, "time_limit": 60.0}
STEPS = [(5, 300, 0.9), (8, 300, 0.9), (10, 200, 0.9), (12, 60, 0.9), (14, 20, 0.9), (16, 5, 0.9)]
LEARNED = [(8, 300, 0.6, 1), (8, 300, 0.9, 1), (10, 300, 0.3, 1), (10, 300, 0.6, 1)]
LEARNED += [(8, 1_000, 0.6, 3), (10, 1_000, 0.6, 2), (12, 200, 0.6, 1)]


def grid(side: int, rows: int, missing: float, seed: int) -> tuple[lc.Network, EncodedTable]:
    names = [[f"X{i}_{j}" for j in range(side)] for i in range(side)]
    parents = {
        names[i][j]: [names[i - 1][j]] * (i > 0) + [names[i][j - 1]] * (j > 0)
        for i in range(side)
        for j in range(side)
    }
    rng = np.random.default_rng(seed)
    tables = {v: rng.dirichlet([1, 1], size=(2,) * len(above)) for v, above in parents.items()}
    network = lc.Network({name: ["0", "1"] for name in parents}, parents, tables)
    columns = dict(sample_codes(network, rows, rng).columns)
    for name, column in columns.items():
        columns[name] = np.where(rng.random(rows) < missing, 2, column).astype(np.uint8)
    return network, EncodedTable(network.cardinality_of, columns)


def time_steps() -> None:
    print("side  missing  problems  cells/problem  exact [ms/problem]  ns/cell  loopy [ms/problem]")
    for side, rows, missing in STEPS:
        network, table = grid(side, rows, missing, 1)
        problems = compile_problems(network, table)
        cells = np.concatenate([network.cpt(name).table.ravel() for name in network.variables])
        seconds = {}
        for inference in ("exact", "bp"):
            engine = engine_of(problems, MEMORY, inference)
            if inference == "exact":
                states = engine.plan.states
            began = process_time()
            engine.expect(cells)
            seconds[inference] = process_time() - began
        number = len(problems)
        print(
            f"{side:4}  {missing:7.0%}  {number:8}  {states / number:13,.0f}  "
            f"{1e3 * seconds['exact'] / number:18.2f}  {1e9 * seconds['exact'] / states:7.0f}  "
            f"{1e3 * seconds['bp'] / number:18.2f}",
            flush=True,
        )


def compare_results() -> None:
    print("side  missing   rows  KL exact  KL loopy  ratio")
    for side, rows, missing, seed in LEARNED:
        network, table = grid(side, rows, missing, seed)
        divergences = [
            kl_divergence(network, lc.learn(network, table, lc.EM(**options)).network)
            for options in ({**ONE_START, "inference": "exact"}, {**ONE_START, "inference": "bp"})
        ]
        exact, loopy = divergences
        print(
            f"{side:4}  {missing:7.0%}  {rows:5}  {exact:8.3f}  {loopy:8.3f}  {loopy / exact:5.2f}",
            flush=True,
        )


def main() -> None:
    warnings.simplefilter("ignore")
    time_steps()
    compare_results()


if __name__ == "__main__":
    main()
