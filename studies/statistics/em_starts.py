"""How many starts EM needs: how often one, three, ten miss the best optimum known.

Small networks, five ways of missing, 10^2 to 10^5 rows. From each problem EM climbs from the
closed form, and from many perturbed closed forms and random CPTs; the best of all is the best
known. A policy misses it if its best is more than 0.1 nats below. Policies that stop once some
starts agree make perturbed and random starts in turn, as `lacunet.learning.em.restarts` does.

    python -m studies.statistics.em_starts RESULTS.jsonl SECONDS [FIRST DRAW]

appends one line per problem to the file, for so much processor time, and reports on all of it.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from time import process_time

import numpy as np

import lacunet as lc
from lacunet.counts.em_problems.compile import compile_problems
from lacunet.data.write import to_arrow
from lacunet.inference.engine import Engine, engine_of
from lacunet.learning.em.iterations import Limits, climb
from lacunet.learning.em.restarts import STARTS_UP_TO
from lacunet.learning.em.start import CptRows, perturbed_cells, random_cells
from lacunet.network.catalogue import example
from lacunet.simulation.at_random import MAR, MCAR, InformedMAR
from lacunet.simulation.simulate import simulate
from lacunet.text_tables import TextTable

NETWORKS = ("asia", "cancer", "earthquake", "fire-alarm", "survey", "sachs", "child")
SETTINGS = {
    "mcar": MCAR(0.7, share=0.3),
    "first": MAR(share=0.3, parents=2, beta=(1.0, 0.5)),
    "second": MAR(share=0.9, parents=2, beta=(0.5, 0.5)),
    "half": MCAR(0.5),
    "informed": InformedMAR(share=0.3, separator=3, parents=2, beta=(1.0, 0.5)),
}
SIZES = (100, 1000, 10_000, 100_000)
OTHERS = 7  # perturbed starts, and random ones
MISSED = 0.1  # nats
DRAWS = 20  # orders of the starts


def main(results: Path, seconds: float, first: int = 0) -> None:
    done = [json.loads(line) for line in results.read_text().splitlines()]
    known = {tuple(problem["key"]) for problem in done}
    began = process_time()
    for draw, name, setting, rows in product(range(first, first + 99), NETWORKS, SETTINGS, SIZES):
        if process_time() - began > seconds:
            break
        if (draw, name, setting, rows) in known:
            continue
        network = example(name)
        rng = np.random.default_rng([draw, rows, NETWORKS.index(name)])
        try:
            table = simulate(network, rows, SETTINGS[setting], rng=rng).table
        except lc.LacunetError:
            continue  # too few variables for the setting
        engine = engine_of(compile_problems(network, table), 2**30)
        if table.partially_observed and engine.reads <= STARTS_UP_TO[0][0]:
            closed, perturbed, random = ends(engine, network, table)
            done.append(
                {
                    "key": [draw, name, setting, rows],
                    "closed": closed,
                    "perturbed": perturbed,
                    "random": random,
                }
            )
            with results.open("a") as file:
                file.write(json.dumps(done[-1]) + "\n")
    report(done)


def ends(
    engine: Engine, network: lc.Network, table: object
) -> tuple[float, list[float], list[float]]:
    """The log-posteriors where EM ends: from the closed form, perturbed ones, random ones."""
    layout = engine.problems.layout
    rows, rng = CptRows.of(layout), np.random.default_rng(1)
    closed = layout.flat(
        lc.learn(
            network, to_arrow(table, network), "factored-mar", pseudo_counts=1
        ).network.tables_of
    )
    limits = Limits(1e-4, 500)

    def top(start: np.ndarray) -> float:
        return climb(engine, start, 1.0, limits).log_posterior

    perturbed = [top(perturbed_cells(closed, rows, rng)) for _ in range(OTHERS)]
    return top(closed), perturbed, [top(random_cells(rows, rng)) for _ in range(OTHERS)]


def in_turn(problem: dict, rng: np.random.Generator) -> Iterator[float]:
    """The ends of the closed form, then of perturbed and random starts in turn."""
    yield problem["closed"]
    for pair in zip(
        rng.permutation(problem["perturbed"]), rng.permutation(problem["random"]), strict=True
    ):
        yield from pair


def fixed(number: int) -> Callable[[list[float]], bool]:
    """Stop after so many starts."""
    return lambda found: len(found) >= number


def agreeing(number: int, most: int) -> Callable[[list[float]], bool]:
    """Stop once so many starts agree with the best, or after the most."""
    return lambda found: (
        sum(end >= max(found) - MISSED for end in found) >= number or len(found) >= most
    )


def report(done: list[dict]) -> None:
    policies = {
        "the closed form": fixed(1),
        "3 starts": fixed(3),
        "10 starts": fixed(10),
        "until 2 agree, at most 10": agreeing(2, 10),
        "until 3 agree, at most 10": agreeing(3, 10),
        "until 4 agree, at most 10": agreeing(4, 10),
    }
    rng, lines = np.random.default_rng(0), []
    for words, is_enough in policies.items():
        behind, made = [], []
        for problem in done:
            best = max(problem["closed"], *problem["perturbed"], *problem["random"])
            for _ in range(DRAWS):
                found: list[float] = []
                for end in in_turn(problem, rng):
                    found.append(end)
                    if is_enough(found):
                        break
                behind.append(best - max(found))
                made.append(len(found))
        missed, far = np.array(behind) > MISSED, np.array(behind) > 2
        lines.append([words, f"{np.mean(made):.1f}", f"{missed.mean():.2%}", f"{far.mean():.2%}"])
    print(f"\n## Policies that miss the best of {1 + 2 * OTHERS} starts ({len(done)} problems)\n")
    print(TextTable(["policy", "starts made", "by 0.1 nats", "by 2 nats"], lines, left=1))
    print("\nProblems by setting:", dict(Counter(problem["key"][2] for problem in done)))
    print("Problems by rows:", dict(Counter(problem["key"][3] for problem in done)))


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.touch()
    main(path, *(int(word) for word in sys.argv[2:4]))
