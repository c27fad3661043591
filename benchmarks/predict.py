"""Prediction and imputation of many rows, against pyAgrum row by row on a part of them.

    python benchmarks/predict.py [ROWS [PART]]

Alarm, 30% of the variables 70% hidden. The ratio is that of the times per row, measured in one
run on one machine; pyAgrum keeps one LazyPropagation and changes its evidence for each row.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import lacunet as lc
from lacunet.completion.posteriors import row_posteriors
from lacunet.completion.rows import draw_completions, most_probable
from lacunet.data.table import EncodedTable
from lacunet.simulation.sampling import sample


def incomplete(network: lc.Network, rows: int, seed: int) -> tuple[EncodedTable, list[str]]:
    rng = np.random.default_rng(seed)
    table = sample(network, rows, rng)
    hidden = sorted(rng.choice(network.variables, round(0.3 * len(network.variables)), False))
    columns = {
        name: np.where(rng.random(rows) < 0.7, network.cardinality(name), codes).astype(codes.dtype)
        if name in hidden
        else codes
        for name, codes in table.columns.items()
    }
    return EncodedTable(table.cardinality_of, columns), hidden


def by_pyagrum(network: lc.Network, table: EncodedTable, target: str) -> tuple[np.ndarray, float]:
    import pyagrum as gum

    inference = gum.LazyPropagation(lc.to_pyagrum(network))
    inference.setTargets({target})
    answers = np.empty((table.rows, network.cardinality(target)))
    start = time.perf_counter()
    for row in range(table.rows):
        shown = {
            name: int(codes[row])
            for name, codes in table.columns.items()
            if codes[row] < table.cardinality_of[name]
        }
        inference.setEvidence(shown)
        answers[row] = inference.posterior(target).toarray()
    return answers, time.perf_counter() - start


def timed(job: Callable[[], Any]) -> tuple[Any, float, str]:
    """What a job gives, its seconds, and both kinds of seconds in words."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = job()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return found, wall, f"{wall:.1f} s ({cpu:.1f} s of processor)"


def main(rows: int = 1_000_000, part: int = 2_000) -> None:
    network = lc.example("alarm")
    table, hidden = incomplete(network, rows, seed=7)
    target = hidden[0]
    few = table.take(slice(0, part))
    row_posteriors(network, few, [target])  # imports are not measured
    found, ours, words = timed(lambda: row_posteriors(network, table, [target]))
    answers, theirs = by_pyagrum(network, few, target)
    difference = np.abs(found.of_target[target][:part] - answers).max()
    print(f"posterior of {target}, {rows:,} rows: {words}")
    print(
        f"pyAgrum, {part:,} rows one by one: {theirs:.1f} s (largest difference {difference:.1e})"
    )
    print(f"per row: {theirs / part / (ours / rows):,.0f} times as fast as pyAgrum")
    print(f"most probable completion: {timed(lambda: most_probable(network, table))[2]}")
    rng = np.random.default_rng(1)
    drawn = timed(lambda: draw_completions(network, table, 1, rng))
    print(f"one draw of all missing cells: {drawn[2]}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
