"""When to stop EM: rules for the held-out curve, replayed on fresh problems.

Each problem is learned without a fifth of the weight, and from all rows, 60 plain steps each. The
judge is the Kullback-Leibler divergence from the truth after each step, by complete test rows.
A rule's excess is that of its step over the best step's divergence.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import product
from time import perf_counter

import numpy as np

import lacunet as lc
from lacunet.data.write import to_arrow
from lacunet.estimate.em import heldout as rule
from lacunet.estimate.em.climb import Climb, Limits, climb
from lacunet.formats.catalogue import example
from lacunet.inference.engine import engine_of
from lacunet.inference.likelihood import complete_log_likelihoods
from lacunet.simulation.at_random import MAR, MCAR
from lacunet.simulation.sampling import sample
from lacunet.simulation.simulate import simulate
from lacunet.statistics.problems.compile import compile_problems
from lacunet.statistics.split import split_weights
from lacunet.wording import text_table

NETWORKS = ("alarm", "child", "insurance", "asia", "hepar2", "win95pts", "sachs", "hailfinder")
SETTINGS = (MAR(0.3, 2, (1.0, 0.5)), MAR(0.9, 2, (0.5, 0.5)), MCAR(0.5, 0.5))
SIZES = (100, 1000, 10_000)
STEPS, TESTED = 60, 20_000


def main(seconds: float) -> None:
    began, problems = perf_counter(), []
    for draw, rows, name, missing in product(range(99), SIZES, NETWORKS, SETTINGS):
        if perf_counter() - began > seconds:
            break
        rng = np.random.default_rng([77, draw, rows, NETWORKS.index(name)])
        try:
            network = example(name)
            table = simulate(network, rows, missing, rng).table
        except lc.LacunetError:
            continue
        problems.append((rows, *curves(network, table)))
        print(name, rows, missing, file=sys.stderr, flush=True)
    report(problems)


def curves(network: lc.Network, table: object) -> tuple[list, list, list, float, float]:
    """Held-out and learning means without a fifth, divergences from all rows, by step."""
    weights = split_weights(network, table, np.array([0.8, 0.2]), 5)
    engine = engine_of(compile_problems(network, table, weights), 2**30)
    layout, totals = engine.problems.layout, engine.problems.totals
    arrow = to_arrow(table, network)
    seeds = [
        lc.learn(network, arrow, "factored-mar", weight=own).network.tables_of
        for own in (weights[:, 0], weights.sum(axis=1))
    ]
    tested = sample(network, TESTED, np.random.default_rng(1))
    truth = complete_log_likelihoods(network, tested).mean()
    means: list[np.ndarray] = []
    divergences: list[float] = []

    def follow(at: Climb) -> bool:
        means.append(at.log_likelihoods / totals)
        return True

    def judge(at: Climb) -> bool:
        learned = network.with_tables(layout.tables(at.cells))
        divergences.append(truth - complete_log_likelihoods(learned, tested).mean())
        return True

    limits = Limits(0.0, STEPS, accelerate=False)
    climb(engine, layout.flat(seeds[0]), 2.0, limits, parts=np.array([1.0, 0.0]), goes_on=follow)
    climb(engine, layout.flat(seeds[1]), 2.0, limits, goes_on=judge)
    heldout, learned = [float(own[1]) for own in means], [float(own[0]) for own in means]
    return heldout, learned, divergences, float(totals[1]), float(totals.sum())


def report(problems: list[tuple]) -> None:
    rules: dict[str, Callable[[list, list, float, float], int]] = {
        "no step": lambda *_: 0,
        "one step": lambda *_: 1,
        f"{STEPS} steps": lambda *_: STEPS,
        "the peak": lambda heldout, *_: int(np.argmax(heldout)),
        "step by step": lambda *curve: rule.steps_supported(*curve[:3], 0),
        "since the first step": lambda *curve: rule.steps_supported(*curve[:3], 1e9),
        "lacunet's": rule.steps_supported,
    }
    lines = []
    for words, steps_of in rules.items():
        excess = np.array(
            [
                divergences[min(steps_of(heldout, learned, aside, total), STEPS)] / min(divergences)
                - 1
                for _, heldout, learned, divergences, aside, total in problems
            ]
        )
        lines.append(
            [words, f"{np.mean(excess <= 0.05):.0%}", f"{excess.mean():.1%}", f"{excess.max():.0%}"]
        )
    sizes = {size: sum(problem[0] == size for problem in problems) for size in SIZES}
    print(f"\n## Rules to stop by ({len(problems)} problems; by rows: {sizes})\n")
    print(text_table(["rule", "within 5%", "mean excess", "worst"], lines, left=1))


if __name__ == "__main__":
    main(float(sys.argv[1]) if sys.argv[1:] else 900)
