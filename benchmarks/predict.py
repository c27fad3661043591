"""Prediction and imputation of many rows, against pyAgrum row by row on a part of them.

    python benchmarks/predict.py [ROWS [PART]]

Alarm, 30% of the variables 70% hidden. The ratio is that of the times per row, measured in one
run on one machine; pyAgrum keeps one LazyPropagation and changes its evidence for each row.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import lacunet as lc
from lacunet.completion.complete import draw_completions, most_probable
from lacunet.completion.posterior import row_posteriors
from lacunet.data.table import EncodedTable


def incomplete(network: lc.Network, rows: int, seed: int) -> tuple[EncodedTable, list[str]]:
    rng = np.random.default_rng(seed)
    table = lc.sample(network, rows, rng)
    hidden = sorted(rng.choice(network.variables, round(0.3 * len(network.variables)), False))
    columns = {
        name: np.where(rng.random(rows) < 0.7, network.cardinality(name), codes).astype(codes.dtype)
        if name in hidden
        else codes
        for name, codes in table.columns.items()
    }
    return EncodedTable.of(table.cardinality_of, columns), hidden


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


def main(rows: int = 1_000_000, part: int = 2_000) -> None:
    network = lc.example("alarm")
    table, hidden = incomplete(network, rows, seed=7)
    target = hidden[0]
    few = table.take(slice(0, part))
    row_posteriors(network, few, [target])  # imports are not measured
    start = time.perf_counter()
    found = row_posteriors(network, table, [target]).of_target[target]
    ours = time.perf_counter() - start
    answers, theirs = by_pyagrum(network, few, target)
    difference = np.abs(found[:part] - answers).max()
    print(f"posterior of {target}, {rows:,} rows: {ours:.1f} s")
    print(
        f"pyAgrum, {part:,} rows one by one: {theirs:.1f} s (largest difference {difference:.1e})"
    )
    print(f"per row: {theirs / part / (ours / rows):,.0f} times as fast as pyAgrum")
    start = time.perf_counter()
    most_probable(network, table)
    print(f"most probable completion: {time.perf_counter() - start:.1f} s")
    start = time.perf_counter()
    draw_completions(network, table, 1, np.random.default_rng(1))
    print(f"one draw of all missing cells: {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
