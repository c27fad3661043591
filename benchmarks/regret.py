"""How well `auto` chooses: its divergence from the truth against that of every other method.

    regret.py run RESULTS.jsonl SEED SECONDS [FOLDER]
    regret.py report RESULTS.jsonl ...

``run`` draws problems (a network, a way of going missing, a number of rows) in an order that the
seed gives, and appends one line for each, for so much processor time; it goes on where it was
stopped. Networks that are not bundled are read from the folder. A problem whose iterations are
too expensive for a benchmark is drawn with fewer rows. The truth's marginals are kept beside the
results.

Each line has the Kullback-Leibler divergence of every method and of `auto`. Where iterations are
cheap it has, for every way to run EM that `auto` might take, its divergence and the
log-likelihood of rows put aside when they have no part in the learning, so that other rules can
be replayed. ``report`` replays some, and prints the tables of docs/auto.md. The divergence is
exact wherever the family marginals of the truth are (all networks but the largest, whose parents'
states are then counted in two million samples).
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from time import process_time

import numpy as np

import lacunet as lc
from lacunet.data.table import EncodedTable
from lacunet.estimate.deletion.forms import FactoredMAR
from lacunet.estimate.em.climb import Climb, Limits
from lacunet.estimate.em.heldout import SHARES, visit_stops
from lacunet.estimate.em.method import EM
from lacunet.estimate.em.start import Rows, maximise
from lacunet.estimate.learn import carry_out
from lacunet.estimate.method import Setting
from lacunet.estimate.registry import method_named
from lacunet.formats.catalogue import example, names
from lacunet.inference.engine import Engine, engine_of
from lacunet.inference.errors import OverBudgetError
from lacunet.inference.query import family_marginals
from lacunet.model.network import FloatArray, Network
from lacunet.simulation.at_random import MAR, MCAR, InformedMAR
from lacunet.simulation.sampling import sample
from lacunet.simulation.simulate import simulate
from lacunet.statistics.problems.compile import compile_problems
from lacunet.statistics.problems.layout import layout_of
from lacunet.statistics.split import split_weights
from lacunet.wording import text_table

LARGE = ("water", "mildew", "barley", "munin1", "grid-90-20-1")  # up to 1,000 rows, less missing
NETWORKS = (
    *("asia", "survey", "fire-alarm", "sachs", "child", "insurance", "alarm"),
    *("win95pts", "hepar2", "hailfinder", *LARGE),
)
MECHANISMS = {
    "mcar 30/70": MCAR(0.3, 0.7),
    "mcar 50/50": MCAR(0.5, 0.5),
    "mcar 100/20": MCAR(1.0, 0.2),
    "mar 30": MAR(0.3, 2, (1.0, 0.5)),
    "mar 60": MAR(0.6, 1, (0.5, 1.0)),
    "mar 90": MAR(0.9, 2, (0.5, 0.5)),
    "separator 30": InformedMAR(0.3, 3, 2, (1.0, 0.5)),
    "separator 60": InformedMAR(0.6, 2, 2, (0.5, 0.5)),
}
SIZES = (100, 1000, 10_000, 100_000)
FORMS = ("listwise", "direct-mcar", "factored-mcar", "direct-mar", "factored-mar")
READS, REPLAYED = 1.5e5, 3e4  # cells that an iteration may multiply, and for rules replayed
GROWTH = 2.5  # at least, of that number with ten times the rows
MEMORY = 2**30
SAMPLES, BATCH = 2_000_000, 100_000
SPLIT = np.array([0.7, 0.3])
Judge = Callable[[FloatArray], float]


def run(results: Path, seed: int, seconds: float, folder: Path | None) -> None:
    results.touch()
    done = {tuple(json.loads(line)["key"]) for line in results.read_text().splitlines()}
    began = process_time()
    for place, name, mechanism, rows in order(seed):
        if process_time() - began > seconds:
            return
        network = None if (seed, place) in done else network_named(name, folder)
        if network is None:
            continue
        about = {"key": (seed, place), "network": name, "mechanism": mechanism}
        judge = judge_of(network, results.parent / f"{name}-marginals.npy")
        rng = np.random.default_rng([seed, place])
        found = about | measured(network, judge, mechanism, rows, rng)
        with results.open("a") as file:
            file.write(json.dumps(found) + "\n")


def order(seed: int) -> Iterator[tuple[int, str, str, int]]:
    """The combinations in random order, each with its place."""
    found = [
        (name, mechanism, rows)
        for name, mechanism, rows in product(NETWORKS, MECHANISMS, SIZES)
        if not (name in LARGE and rows > 10_000)
    ]
    for place, which in enumerate(np.random.default_rng(seed).permutation(len(found))):
        name, mechanism, rows = found[which]
        if name not in LARGE or (rows <= 1000 and "30" in mechanism):
            yield place, name, mechanism, rows


def network_named(name: str, folder: Path | None) -> Network | None:
    if name in names():
        return example(name)
    paths = sorted(folder.glob(f"{name}.bif*")) if folder else []
    return lc.read_network(paths[0]) if paths else None


def measured(
    network: Network, judge: Judge, mechanism: str, rows: int, rng: np.random.Generator
) -> dict[str, object]:
    """One problem: the divergences of all methods and of all ways to run EM."""
    drawn = affordable(network, mechanism, rows, rng)
    if drawn is None:
        return {"skipped": "too expensive, impossible, or a variable is never shown"}
    table, weights, engine = drawn
    layout = engine.problems.layout
    divergences, seconds = {}, {}
    start = network
    for name in (*FORMS, "em", "auto"):
        # EM starts from what factored-mar gave, as it would by itself.
        method = EM(start=start) if name == "em" else method_named(name)
        began = process_time()
        try:
            learned = carry_out(method, network, table, Setting(memory=MEMORY))
        except lc.LacunetError:
            continue  # no row is complete
        seconds[name] = process_time() - began
        divergences[name] = judge(layout.flat(learned.tables))
        if name == "factored-mar":
            start, seed = network.with_tables(learned.tables), layout.flat(learned.tables)
    seconds["em"] += seconds["factored-mar"]
    counts = engine.expect(seed).counts
    divergences["one-step"] = judge(maximise(counts, Rows.of(layout), 2.0))
    return {
        "rows": table.rows,
        "reads": engine.reads,
        "cells": layout.cells,
        "divergences": divergences,
        "seconds": seconds,
        "why": learned.why,
        "ways": ways(network, table, weights, engine, seed, judge)
        if engine.reads <= REPLAYED
        else [],
    }


def affordable(
    network: Network, mechanism: str, rows: int, rng: np.random.Generator
) -> tuple[EncodedTable, FloatArray, Engine] | None:
    """Rows that are not too many, as they are split and compiled."""
    drawn = None
    for size in (own for own in SIZES if own <= rows):
        try:
            table = simulate(network, size, MECHANISMS[mechanism], rng).table
        except lc.LacunetError:
            return None  # too few variables
        weights = split_weights(network, table, SPLIT, int(rng.integers(2**62)))
        if not (table.partially_observed and weights.any(axis=0).all()):
            return None
        engine = engine_of(compile_problems(network, table, weights), MEMORY)
        if engine.reads > READS or engine.loopy.graphs:
            break
        if max(table.missing_of.values()) < size:  # hidden states have no names to compare by
            drawn = (table, weights, engine)
        if engine.reads > READS / GROWTH:
            break
    return drawn


def ways(
    network: Network,
    table: EncodedTable,
    weights: FloatArray,
    engine: Engine,
    start: FloatArray,
    judge: Judge,
) -> list[list[object]]:
    """For each way: its share of the prior, steps, divergence, and the held-out likelihood."""
    layout, limits = engine.problems.layout, Limits(1e-4, 500)
    rest = replace(table, weights=weights[:, 0]).take(weights[:, 0] > 0)
    learning = layout.flat(carry_out(FactoredMAR(), network, rest, Setting()).tables)
    found: list[list[object]] = []
    for share in SHARES:
        whole: dict[int | None, float] = {}
        aside: dict[int | None, float] = {}

        def on_all(at: Climb, whole: dict[int | None, float] = whole) -> None:
            whole[None if at.reason else at.iterations] = judge(at.cells)

        def without(at: Climb, aside: dict[int | None, float] = aside) -> None:
            aside[None if at.reason else at.iterations] = engine.log_likelihoods(at.cells)[1]

        visit_stops(engine, start, 2.0, share, limits, on_all, parts=np.ones(2))
        visit_stops(engine, learning, 2.0, share, limits, without, parts=np.array([1.0, 0.0]))
        # A climb that converges before a stop gives the same from there on.
        found += [
            [share, steps, whole.get(steps, whole[None]), aside.get(steps, aside[None])]
            for steps in (*sorted({*whole, *aside} - {None}), None)
        ]
    return found


def judge_of(network: Network, kept: Path) -> Judge:
    """The divergence of CPT cells from a network, whose marginals are kept in a file."""
    layout = layout_of(network.with_tables(None))
    if not kept.exists():
        try:
            marginals = family_marginals(network, memory=3 * 2**30)
        except OverBudgetError:
            marginals = sampled_marginals(network)
        np.save(kept, layout.flat(marginals))
    weights = np.load(kept)
    possible = weights > 0
    truth = layout.flat({name: network.cpt(name).table for name in network.variables})
    weights, logs = weights[possible], np.log(truth[possible])
    return lambda cells: float(weights @ (logs - np.log(cells[possible])))


def sampled_marginals(network: Network) -> dict[str, FloatArray]:
    """The families' marginals, only the parents' states left to chance."""
    rng = np.random.default_rng(5)
    parents_of = {
        name: np.zeros(network.shape(network.parents(name))) for name in network.variables
    }
    for _ in range(SAMPLES // BATCH):
        rows = sample(network, BATCH, rng).columns
        for name, counts in parents_of.items():
            np.add.at(counts, tuple(rows[parent] for parent in network.parents(name)), 1 / SAMPLES)
    return {
        name: counts[..., None] * network.cpt(name).table for name, counts in parents_of.items()
    }


def report(problems: list[dict]) -> None:
    skipped = [problem for problem in problems if "skipped" in problem]
    problems = [problem for problem in problems if "skipped" not in problem]
    print(f"{len(problems)} problems ({len(skipped)} more were too expensive or impossible)\n")
    header = ["", "problems", "within 5%", "mean", "worst", "worse than factored-mar by 5%"]
    methods = [line(*one, problems) for one in methods_compared()]
    print(text_table(["method", *header[1:]], methods, left=1))
    replayed = [problem for problem in problems if problem["ways"]]
    rules = [line(*one, replayed) for one in (*methods_compared(), *rules_replayed())]
    print("\n" + text_table(["rule", *header[1:]], rules, left=1))
    for by in ("rows", "network", "mechanism"):
        groups = defaultdict(list)
        for problem in problems:
            groups[problem[by]].append(problem)
        auto = dict(methods_compared())["auto"]
        lines = [
            line(f"{key:,}" if by == "rows" else key, auto, groups[key]) for key in sorted(groups)
        ]
        print("\n" + text_table([by, *header[1:]], lines, left=1))
    seconds = {
        name: np.median([problem["seconds"][name] for problem in problems])
        for name in ("factored-mar", "em", "auto")
    }
    print(
        "\nmedian processor seconds:", {name: round(float(own), 3) for name, own in seconds.items()}
    )
    print("\nwhere auto is furthest behind:")
    for problem in sorted(problems, key=lambda one: -regret(one, auto))[:8]:
        own = {name: round(value, 5) for name, value in problem["divergences"].items()}
        print(problem["network"], problem["rows"], problem["mechanism"], own)


def methods_compared() -> Iterator[tuple[str, Callable[[dict], float]]]:
    for name in (*FORMS[1:], "one-step", "em", "auto"):
        yield name, lambda problem, name=name: problem["divergences"][name]


def rules_replayed() -> Iterator[tuple[str, Callable[[dict], float]]]:
    for share in SHARES:
        yield (
            f"convergence, {share:.0%} of the prior",
            lambda one, share=share: at(one, share, None),
        )
    for fewer, less in ((0.0, 0.0), (0.5, np.inf), (0.5, 2.0), (0.5, 3.0), (0.5, 5.0), (3.0, 3.0)):
        words = f"{fewer:g} nats for fewer steps, {less:g} for less prior"
        yield words, lambda one, margins={1.0: fewer, 0.1: less}: ruled(one, margins)


def at(problem: dict, share: float, steps: int | None) -> float:
    return next(own[2] for own in problem["ways"] if own[:2] == [share, steps])


def ruled(problem: dict, margins: dict[float, float]) -> float:
    """The divergence of the way that a rule takes."""
    usual = next(own for own in problem["ways"] if own[:2] == [1.0, None])
    best = max(problem["ways"], key=lambda own: own[3] - margins[own[0]])
    return best[2] if best[3] > usual[3] + margins[best[0]] else usual[2]


def regret(problem: dict, divergence: Callable[[dict], float]) -> float:
    """How much further from the truth than the best of all methods, that one among them."""
    others = [own for name, own in problem["divergences"].items() if name != "auto"]
    return max(divergence(problem) / min(others) - 1, 0.0)


def line(words: str, divergence: Callable[[dict], float], problems: list[dict]) -> list[str]:
    regrets = np.array([regret(problem, divergence) for problem in problems])
    worse = [
        divergence(problem) > 1.05 * problem["divergences"]["factored-mar"] for problem in problems
    ]
    return [
        words,
        str(len(problems)),
        f"{np.mean(regrets <= 0.05):.0%}",
        f"{regrets.mean():.1%}",
        f"{regrets.max():.0%}",
        str(sum(worse)),
    ]


if __name__ == "__main__":
    if sys.argv[1] == "run":
        where = Path(sys.argv[5]) if sys.argv[5:] else None
        run(Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), where)
    else:
        lines = "".join(Path(path).read_text() for path in sys.argv[2:]).splitlines()
        report([json.loads(own) for own in lines])
