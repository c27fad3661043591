"""Do intervals of effects cover the truth? A confounded treatment, rows missing not at random.

Severity Z decides on treatment X and outcome Y. The sicker skip the question about treatment, the
treated the question about severity, and those who died are not asked about severity: each
mechanism depends on what may be missing itself. For each number of rows and each way,

    python benchmarks/effect_coverage.py [data sets] [rows ...]

prints how often intervals of 95% hold the true difference, ratio and odds ratio.
"""

from __future__ import annotations

import sys

import numpy as np

import lacunet as lc

NETWORK = lc.Network(
    {"Z": ["mild", "severe"], "X": ["no", "yes"], "Y": ["well", "ill"]},
    {"X": ["Z"], "Y": ["Z", "X"]},
    {
        "Z": [0.6, 0.4],
        "X": [[0.7, 0.3], [0.35, 0.65]],
        "Y": [[[0.8, 0.2], [0.9, 0.1]], [[0.45, 0.55], [0.65, 0.35]]],
    },
)
GRAPH = lc.MissingnessGraph.parse("X, Y -> R[Z]; Z -> R[X]; R[Y]", NETWORK)
MISSING = {  # the probability of being missing
    "Z": [[0.1, 0.3], [0.2, 0.4]],  # by X, then Y
    "X": [0.1, 0.3],  # by Z
    "Y": 0.15,
}
TRUTH = lc.effect(NETWORK, "Y", do="X").contrasts[0]


def main(sets: int = 400, sizes: tuple[int, ...] = (1000, 10_000)) -> None:
    """Print the table."""
    print(f"truth: {TRUTH.difference}, {TRUTH.ratio}, {TRUTH.odds_ratio}; {sets} data sets")
    print(f"{'rows':>7}  {'way':<22}  difference  ratio  odds ratio  mean length of difference")
    for size in sizes:
        covered: dict[str, list[list[bool]]] = {}
        lengths: dict[str, list[float]] = {}
        for seed in range(sets):
            mechanisms = lc.MissingByGraph(GRAPH, MISSING)
            rows = lc.simulate(NETWORK, size, mechanisms, np.random.default_rng([size, seed])).table
            result = lc.learn(NETWORK, rows, lc.MGraph(missingness=GRAPH), 2, intervals=True)
            ways = {
                "recovered by the graph": lc.effect(GRAPH, "Y", do="X", data=rows),
                "learned, mgraph": lc.effect(result, "Y", do="X"),
            }
            for way, found in ways.items():
                (one,) = found.contrasts
                pairs = zip(one[3:], TRUTH[3:], strict=True)
                holds = [own.low <= true.value <= own.high for own, true in pairs]
                covered.setdefault(way, []).append(holds)
                lengths.setdefault(way, []).append(one.difference.high - one.difference.low)
        for way, holds in covered.items():
            share = np.mean(holds, axis=0)
            numbers = f"{share[0]:>10.3f}  {share[1]:>5.3f}  {share[2]:>10.3f}"
            print(f"{size:>7}  {way:<22}  {numbers}  {np.mean(lengths[way]):.3f}", flush=True)


if __name__ == "__main__":
    numbers = [int(one) for one in sys.argv[1:]]
    main(*(numbers[:1] or [400]), tuple(numbers[1:]) or (1000, 10_000))
