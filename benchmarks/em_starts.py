"""How many starts EM needs: how often one, three, ten miss the best optimum known.

Small networks, four ways of missing, 10^2 to 10^5 rows. From each problem EM climbs from the
closed form, and from many perturbed closed forms and random CPTs; the best of all is the best
known. A number of starts misses it if its best is more than 0.1 nats below.
"""

from __future__ import annotations

import sys
from itertools import product
from time import perf_counter

import numpy as np

import lacunet as lc
from lacunet.estimate.em.climb import Limits, climb
from lacunet.estimate.em.fit import STARTS_UP_TO
from lacunet.estimate.em.start import Rows, perturbed_cells, random_cells
from lacunet.formats.catalogue import example
from lacunet.inference.engine import Engine, engine_of
from lacunet.simulation.at_random import MAR, MCAR, InformedMAR
from lacunet.simulation.simulate import simulate
from lacunet.statistics.problems.compile import compile_problems
from lacunet.wording import text_table

NETWORKS = ("asia", "cancer", "earthquake", "fire-alarm", "survey", "sachs", "child")
SETTINGS = {
    "mcar": MCAR(share=0.3, rate=0.7),
    "first": MAR(share=0.3, parents=2, beta=(1.0, 0.5)),
    "second": MAR(share=0.9, parents=2, beta=(0.5, 0.5)),
    "informed": InformedMAR(share=0.3, separator=3, parents=2, beta=(1.0, 0.5)),
}
SIZES = (100, 1000, 10_000, 100_000)
OTHERS = 12  # perturbed starts, and random ones
MISSED = 0.1  # nats
DRAWS = 200  # of the further starts among those made


def main(repetitions: int, seconds: float, first: int = 0) -> None:
    found, began = [], perf_counter()
    for draw, name, (setting, missing), rows in product(
        range(first, first + repetitions), NETWORKS, SETTINGS.items(), SIZES
    ):
        if perf_counter() - began > seconds:
            break
        network = example(name)
        rng = np.random.default_rng([draw, rows, NETWORKS.index(name)])
        try:
            table = simulate(network, rows, missing, rng).table
        except lc.LacunetError:
            continue  # too few variables for the setting
        engine = engine_of(compile_problems(network, table), 2**30)
        if table.partially_observed and engine.reads <= STARTS_UP_TO[-1][0]:
            found.append((setting, rows, *ends(engine, network, table)))
            closed, *others = found[-1][2:]
            behind = max(map(max, others)) - closed
            print(name, setting, rows, f"{behind:.2f} nats behind", file=sys.stderr, flush=True)
    report(found)


def ends(
    engine: Engine, network: lc.Network, table: object
) -> tuple[float, list[float], list[float]]:
    """The log-posteriors where EM ends: from the closed form, perturbed ones, random ones."""
    layout = engine.problems.layout
    rows, rng = Rows.of(layout), np.random.default_rng(1)
    closed = layout.flat(lc.learn(network, shown(network, table), "factored-mar").network.tables_of)
    limits = Limits(1e-4, 500)

    def top(start: np.ndarray) -> float:
        return climb(engine, start, 2.0, limits).log_posterior

    perturbed = [top(perturbed_cells(closed, rows, rng)) for _ in range(OTHERS)]
    return top(closed), perturbed, [top(random_cells(rows, rng)) for _ in range(OTHERS)]


def shown(network: lc.Network, table: object) -> object:
    from lacunet.data.write import to_arrow

    return to_arrow(table, network)


def report(found: list[tuple]) -> None:
    rng = np.random.default_rng(0)
    lines = []
    for words, perturbed, random in (
        ("the closed form", 0, 0),
        ("and 1 perturbed, 1 random", 1, 1),
        ("and 2 perturbed", 2, 0),
        ("and 2 random", 0, 2),
        ("and 2 perturbed, 2 random", 2, 2),
        ("and 5 perturbed, 4 random", 5, 4),
        ("and 9 perturbed", 9, 0),
        ("and 9 random", 0, 9),
    ):
        missed, far = [], []
        for _, _, closed, near, wide in found:
            best = max(closed, *near, *wide)
            tops = [
                max([closed, *rng.choice(near, perturbed, False), *rng.choice(wide, random, False)])
                for _ in range(DRAWS)
            ]
            missed.append(np.mean([best - top > MISSED for top in tops]))
            far.append(np.mean([best - top > 2.0 for top in tops]))
        lines.append(
            [words, str(1 + perturbed + random), f"{np.mean(missed):.1%}", f"{np.mean(far):.1%}"]
        )
    print(
        f"\n## Starts of EM that miss the best of {1 + 2 * OTHERS} starts ({len(found)} problems)\n"
    )
    print(text_table(["starts", "number", "by 0.1 nats", "by 2 nats"], lines, left=1))


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:4] or (4, 900)))
