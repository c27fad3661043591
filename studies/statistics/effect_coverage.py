"""Do intervals of effects cover the truth? Two studies with rows missing not at random.

*Back door*: severity Z decides on treatment X and outcome Y. The sicker skip the question about
treatment, the treated the question about severity, and those who fell ill are asked less about
severity: each mechanism depends on what may be missing itself. *Front door*: a hidden cause U of X
and Y, and a mediator M of three states; M is missing by X and Y, X by M. For each number of rows
and each way,

    python -m studies.statistics.effect_coverage STUDY [data sets] [first seed] [rows ...]

prints how often intervals of 95% hold the true difference, ratio and odds ratio, and for the
difference the standard deviation of the estimates beside the standard error that the length of the
intervals stands for. Where learning draws groups of rows, it draws others for each data set.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import lacunet as lc
from lacunet.ask.effect import Effect

NORMAL = 1.959964  # the quantile of 95%


@dataclass(frozen=True)
class Study:
    """What is simulated, and what is known of it."""

    network: lc.Network
    graph: lc.MissingnessGraph
    missing: dict[str, Any]
    known: lc.MissingnessGraph

    def rows(self, size: int, seed: int) -> Any:
        """One data set."""
        mechanisms = lc.MissingByGraph(self.graph, self.missing)
        rng = np.random.default_rng([size, seed])
        rows = lc.simulate(self.network, size, mechanisms, rng=rng).to_frame()
        return rows[list(self.known.network.variables)]


def ways(study: Study, rows: Any, seed: int) -> Iterator[tuple[str, Effect]]:
    """By the graph's estimand, and from networks that were learned."""
    graph = study.known
    yield "the graph's estimand", graph.effect("Y", do="X", data=rows)
    for method in (lc.MGraph(missingness=graph), lc.EM(missingness=graph)):
        if not graph.hidden:
            result = lc.learn(
                graph.network, rows, method, pseudo_counts=1, intervals=True, rng=seed
            )
            yield f"learned, {method.name}", result.effect("Y", do="X")


def back_door() -> Study:
    """Severity Z, which confounds X and Y."""
    network = lc.Network(
        {"Z": ["mild", "severe"], "X": ["no", "yes"], "Y": ["well", "ill"]},
        {"X": ["Z"], "Y": ["Z", "X"]},
        {
            "Z": [0.6, 0.4],
            "X": [[0.7, 0.3], [0.35, 0.65]],
            "Y": [[[0.8, 0.2], [0.9, 0.1]], [[0.45, 0.55], [0.65, 0.35]]],
        },
    )
    graph = lc.MissingnessGraph.parse("X, Y -> R[Z]; Z -> R[X]; R[Y]", network)
    missing = {"Z": [[0.1, 0.3], [0.2, 0.4]], "X": [0.1, 0.3], "Y": 0.15}
    return Study(network, graph, missing, graph)


def front_door() -> Study:
    """A hidden cause U of X and Y, and what X does by M."""
    states = {"X": ["no", "yes"], "M": ["low", "mid", "high"], "Y": ["well", "ill"]}
    network = lc.Network(
        {"U": ["0", "1"], **states},
        {"X": ["U"], "M": ["X"], "Y": ["M", "U"]},
        {
            "U": [0.5, 0.5],
            "X": [[0.7, 0.3], [0.3, 0.7]],
            "M": [[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]],
            "Y": [[[0.9, 0.1], [0.6, 0.4]], [[0.75, 0.25], [0.45, 0.55]], [[0.5, 0.5], [0.2, 0.8]]],
        },
    )
    mechanisms = "X, Y -> R[M]; M -> R[X]; R[Y]"
    graph = lc.MissingnessGraph.parse(mechanisms, network)
    missing = {"M": [[0.1, 0.3], [0.2, 0.4]], "X": [0.1, 0.2, 0.35], "Y": 0.15}
    seen = lc.Network(states, {"M": ["X"], "Y": ["M"]})
    known = lc.MissingnessGraph.parse(f"X <-> Y; {mechanisms}", seen)
    return Study(network, graph, missing, known)


STUDIES = {"back-door": back_door, "front-door": front_door}


def main(study: Study, sets: int, first: int, sizes: tuple[int, ...]) -> None:
    """Print the table."""
    truth = study.network.effect("Y", do="X").contrasts[0]
    print(f"truth: {truth.difference}, {truth.ratio}, {truth.odds_ratio}; {sets} data sets")
    print("   rows  way                   difference  ratio  odds ratio  deviation  standard error")
    for size in sizes:
        covered: dict[str, list[list[bool]]] = {}
        values: dict[str, list[float]] = {}
        errors: dict[str, list[float]] = {}
        for seed in range(first, first + sets):
            rows = study.rows(size, seed)
            for way, found in ways(study, rows, seed):
                (one,) = found.contrasts
                pairs = zip(one[3:], truth[3:], strict=True)
                holds = [own.low <= true.value <= own.high for own, true in pairs]
                covered.setdefault(way, []).append(holds)
                values.setdefault(way, []).append(one.difference.value)
                length = one.difference.high - one.difference.low
                errors.setdefault(way, []).append(length / (2 * NORMAL))
        for way, holds in covered.items():
            share = np.mean(holds, axis=0)
            numbers = f"{share[0]:>10.3f}  {share[1]:>5.3f}  {share[2]:>10.3f}"
            deviation, error = np.std(values[way], ddof=1), np.sqrt(np.mean(np.square(errors[way])))
            print(f"{size:>7}  {way:<20}  {numbers}  {deviation:>9.5f}  {error:.5f}", flush=True)


if __name__ == "__main__":
    numbers = [int(one) for one in sys.argv[2:]]
    sets, first = (numbers + [400, 0][len(numbers) :])[:2]
    main(STUDIES[sys.argv[1]](), sets, first, tuple(numbers[2:]) or (1000, 10_000))
