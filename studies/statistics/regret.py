"""How well `auto` chooses: its divergence from the truth against that of every other method.

    python -m studies.statistics.regret run RESULTS.jsonl SEED SECONDS [FOLDER]
    python -m studies.statistics.regret repeat RESULTS.jsonl SEED SECONDS
    python -m studies.statistics.regret report RESULTS.jsonl ...

``run`` draws problems (a network, a way of going missing, a number of rows; every network in
turn) in an order that the seed gives, and appends one line for each, for so much processor time;
it goes on where it was stopped. Networks that are not bundled are read from the folder. A problem
whose iterations are too expensive for a benchmark is drawn with fewer rows. The truth's marginals
are kept beside the results. ``repeat`` does so for small networks, with eight data sets for every
problem: what a rule could gain that knows which method is best on average in each.

Each line has the Kullback-Leibler divergence of every method and of `auto`; ``report`` prints the
tables of docs/decisions/0016-rule-of-auto.md. The divergence is exact wherever the family marginals
of the truth are (all networks but the largest, whose parents' states are then counted in two
million samples).
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import product, zip_longest
from pathlib import Path
from time import process_time

import numpy as np

import lacunet as lc
from lacunet.counts.em_problems.cell_layout import layout_of
from lacunet.counts.em_problems.compile import compile_problems
from lacunet.data.table import EncodedTable
from lacunet.inference.engine import Engine, engine_of
from lacunet.inference.errors import OverBudgetError
from lacunet.inference.joint import family_marginals
from lacunet.inference.sampling import sample_codes
from lacunet.learning.em.em import EM
from lacunet.learning.em.start import CptRows, maximise
from lacunet.learning.learn import learn
from lacunet.learning.methods import method_named
from lacunet.network.catalogue import bundled_names, example
from lacunet.network.network import FloatArray, Network
from lacunet.simulation.at_random import MAR, MCAR, InformedMAR
from lacunet.simulation.simulate import simulate
from lacunet.text_tables import TextTable

SMALL = ("asia", "survey", "fire-alarm", "sachs")  # up to 11 variables
LARGE = ("water", "mildew", "barley", "munin1", "grid-90-20-1")  # up to 1,000 rows
NETWORKS = (*SMALL, "child", "insurance", "alarm", "win95pts", "hepar2", "hailfinder", *LARGE)
REPEATS = 8
MECHANISMS = {
    "mcar 30/70": MCAR(0.7, share=0.3),
    "mcar 50/50": MCAR(0.5, share=0.5),
    "mcar 100/20": MCAR(0.2),
    "mar 30": MAR(share=0.3, parents=2, beta=(1.0, 0.5)),
    "mar 60": MAR(share=0.6, parents=1, beta=(0.5, 1.0)),
    "mar 90": MAR(share=0.9, parents=2, beta=(0.5, 0.5)),
    "separator 30": InformedMAR(share=0.3, separator=3, parents=2, beta=(1.0, 0.5)),
    "separator 60": InformedMAR(share=0.6, separator=2, parents=2, beta=(0.5, 0.5)),
}
SIZES = (100, 1000, 10_000, 100_000)
FORMS = ("listwise", "direct-mcar", "factored-mcar", "direct-mar", "factored-mar")
READS = 1.5e5  # cells that an iteration may multiply
GROWTH = 2.5  # at least, of that number with ten times the rows
METHODS = (*FORMS[1:], "one-step", "em")
MEMORY = 2**30
SAMPLES, BATCH = 2_000_000, 100_000
Judge = Callable[[FloatArray], float]


def run(
    results: Path, seed: int, seconds: float, folder: Path | None, networks: Iterable[str]
) -> None:
    results.touch()
    done = {tuple(json.loads(line)["key"]) for line in results.read_text().splitlines()}
    began = process_time()
    for place, (name, mechanism, rows) in enumerate(order(seed, networks)):
        network = network_named(name, folder)
        for repeat in range(1 if networks == NETWORKS else REPEATS):
            if process_time() - began > seconds:
                return
            if network is None or (seed, place, repeat) in done:
                continue
            about = {"key": (seed, place, repeat), "network": name, "mechanism": mechanism}
            judge = judge_of(network, results.parent / f"{name}-marginals.npy")
            rng = np.random.default_rng([seed, place, repeat])
            found = about | measured(network, judge, mechanism, rows, rng)
            with results.open("a") as file:
                file.write(json.dumps(found) + "\n")


def order(seed: int, networks: Iterable[str]) -> Iterator[tuple[str, str, int]]:
    """What to draw, every network in turn."""
    rng = np.random.default_rng(seed)
    problems = []
    for name in networks:
        found = [
            (name, mechanism, rows)
            for mechanism, rows in product(MECHANISMS, SIZES)
            if not (name in LARGE and rows > 1000)
        ]
        problems.append([found[which] for which in rng.permutation(len(found))])
    return (problem for turn in zip_longest(*problems) for problem in turn if problem is not None)


def network_named(name: str, folder: Path | None) -> Network | None:
    if name in bundled_names():
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
    table, engine = drawn
    layout = engine.problems.layout
    divergences, seconds = {}, {}
    start = network
    for name in (*FORMS, "em", "auto"):
        # EM starts from what factored-mar gave, as it would by itself.
        method = EM(start=start) if name == "em" else method_named(name)
        began = process_time()
        try:
            result = learn(network, table, method, pseudo_counts=1.0, memory=MEMORY)
        except lc.LacunetError:
            continue  # no row is complete
        seconds[name] = process_time() - began
        learned = result.network
        divergences[name] = judge(layout.flat(dict(learned.tables_of)))
        if name == "factored-mar":
            start, seed = learned, layout.flat(dict(learned.tables_of))
    seconds["em"] += seconds["factored-mar"]
    counts = engine.expect(seed).counts
    divergences["one-step"] = judge(maximise(counts, CptRows.of(layout), 1.0))
    return {
        "rows": table.rows,
        "reads": engine.reads,
        "divergences": divergences,
        "seconds": seconds,
        "why": result.why,
    }


def affordable(
    network: Network, mechanism: str, rows: int, rng: np.random.Generator
) -> tuple[EncodedTable, Engine] | None:
    """Rows that are not too many, as they are compiled."""
    drawn = None
    for size in (own for own in SIZES if own <= rows):
        try:
            table = simulate(network, size, MECHANISMS[mechanism], rng=rng).table
        except lc.LacunetError:
            return None  # too few variables
        if not table.partially_observed:
            return None
        engine = engine_of(compile_problems(network, table), MEMORY)
        if engine.reads > READS or engine.loopy.graphs:
            break
        if max(table.missing_of.values()) < size:  # hidden states have no names to compare by
            drawn = (table, engine)
        if engine.reads > READS / GROWTH:
            break
    return drawn


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
        rows = sample_codes(network, BATCH, rng).columns
        for name, counts in parents_of.items():
            np.add.at(counts, tuple(rows[parent] for parent in network.parents(name)), 1 / SAMPLES)
    return {
        name: counts[..., None] * network.cpt(name).table for name, counts in parents_of.items()
    }


def report(problems: list[dict]) -> None:
    skipped = [problem for problem in problems if "skipped" in problem]
    problems = [problem for problem in problems if "skipped" not in problem]
    print(f"{len(problems)} problems ({len(skipped)} more were too expensive or impossible)")
    columns = ["problems", "within 5%", "mean", "worst", "worse than factored-mar by 5%"]
    small = [problem for problem in problems if problem["network"] in SMALL]
    larger = [problem for problem in problems if problem["network"] not in SMALL]
    for words, group in (("all", problems), ("up to 11 variables", small), ("more", larger)):
        if group:
            lines = [line(name, taken(name), group) for name in (*METHODS, "auto")]
            lines += [line("best on average", of_setting(group), group)] if repeated(group) else []
            print("\n" + TextTable([words, *columns], lines, left=1))
    for by in ("rows", "network", "mechanism"):
        groups = defaultdict(list)
        for problem in problems:
            groups[problem[by]].append(problem)
        lines = [line(f"{key:,}" if by == "rows" else key, taken("auto"), groups[key])
                 for key in sorted(groups)]  # fmt: skip
        print("\n" + TextTable([by, *columns], lines, left=1))
    for name in ("factored-mar", "em", "auto"):
        taken_s = np.median([problem["seconds"][name] for problem in problems])
        print(f"median processor seconds of {name}: {taken_s:.3f}")
    print("\nwhere auto is furthest behind:")
    for problem in sorted(problems, key=lambda one: -regret(one, taken("auto")))[:8]:
        own = {name: round(value, 5) for name, value in problem["divergences"].items()}
        print(problem["network"], problem["rows"], problem["mechanism"], own)
        print("   ", problem["why"].split("Chosen: ")[-1])


def taken(name: str) -> Callable[[dict], float]:
    return lambda problem: problem["divergences"][name]


def setting(problem: dict) -> tuple[int, int]:
    return tuple(problem["key"][:2])


def repeated(problems: list[dict]) -> bool:
    return len({setting(problem) for problem in problems}) < len(problems)


def of_setting(problems: list[dict]) -> Callable[[dict], float]:
    """The divergence of the method that is best on the other data sets of the same setting."""
    groups = defaultdict(list)
    for problem in problems:
        groups[setting(problem)].append(problem)

    def divergence(problem: dict) -> float:
        others = [own for own in groups[setting(problem)] if own["key"] != problem["key"]]
        logs = {
            name: np.mean([np.log(own["divergences"][name]) for own in others or [problem]])
            for name in METHODS
        }
        return problem["divergences"][min(METHODS, key=lambda name: logs[name])]

    return divergence


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
    if sys.argv[1] == "report":
        lines = "".join(Path(path).read_text() for path in sys.argv[2:]).splitlines()
        report([json.loads(own) for own in lines])
    else:
        where = Path(sys.argv[5]) if sys.argv[5:] else None
        chosen = NETWORKS if sys.argv[1] == "run" else SMALL
        run(Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), where, chosen)
