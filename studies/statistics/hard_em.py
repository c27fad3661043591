"""Hard and soft EM, and the default: is the default at most the better of both?

The design of A. Ruggieri, F. Stranieri, F. Stella and M. Scutari, "Hard and Soft EM in Bayesian
Network Learning from Incomplete Data" (Algorithms 13, 2020), for CPTs of a known network: small,
medium and large networks; few to many cells missing, in any variable, in leaves, in roots or in
the quarter with most neighbours; completely at random, or by another variable that is shown;
from few rows per parameter to many. Hard EM completes rows by their most probable states and
counts them, again and again, until nothing changes. Hard and soft EM both add one pseudo-count to
each cell and begin at the rows that show a family.

    python -m studies.statistics.hard_em RESULTS.jsonl SECONDS

appends one line per problem to the file, for so much processor time, and reports on all of it.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable
from itertools import product
from pathlib import Path
from time import process_time

import numpy as np

import lacunet as lc
from lacunet.data.read import read_table
from lacunet.inference.completions import most_probable
from lacunet.text_tables import TextTable

NETWORKS = {
    "small": ("asia", "cancer", "earthquake", "survey", "sachs"),
    "medium": ("child", "insurance", "alarm", "water"),
    "large": ("hailfinder", "hepar2", "win95pts"),
}
SEVERITY = {"low": 0.01, "medium": 0.05, "high": 0.2}  # of the cells of variables with gaps
PATTERNS = ("any", "leaves", "roots", "hubs")
MECHANISMS = ("mcar", "mar")
ROWS_PER_PARAMETER = (0.2, 1.0, 5.0)
FEWEST, MOST = 30, 20_000  # rows
ROUNDS = 50  # of hard EM
LEARNERS = ("hard", "soft", "default")
DRAWS = 5


def variables_with_gaps(network: lc.Network, pattern: str) -> list[str]:
    """Where values are missing: in all variables, leaves, roots, or the quarter with most edges."""
    children: dict[str, int] = dict.fromkeys(network.variables, 0)
    for parent, _ in network.edges:
        children[parent] += 1
    if pattern == "leaves":
        return [name for name in network.variables if not children[name]]
    if pattern == "roots":
        return [name for name in network.variables if not network.parents(name)]
    if pattern == "hubs":
        degree = {name: children[name] + len(network.parents(name)) for name in network.variables}
        by_degree = sorted(network.variables, key=lambda name: -degree[name])
        return by_degree[: max(1, len(by_degree) // 4)]
    return list(network.variables)


def with_gaps(
    network: lc.Network, rows: int, setting: tuple[str, str, str], rng: np.random.Generator
) -> dict[str, list[str | None]]:
    """Rows of the network, with values missing as the setting says."""
    severity, pattern, mechanism = setting
    rate = SEVERITY[severity]
    complete = lc.simulate(network, rows, rng=rng).table
    gaps = variables_with_gaps(network, pattern)
    always_shown = [name for name in network.variables if name not in gaps]
    columns: dict[str, list[str | None]] = {}
    for name in network.variables:
        codes = complete.columns[name]
        hidden = np.zeros(rows, bool)
        if name in gaps:
            hide = np.full(rows, rate)
            others = always_shown or [other for other in network.variables if other != name]
            if mechanism == "mar" and others:
                by = complete.columns[others[int(rng.integers(len(others)))]]
                hide = np.where(by == 0, 1.8 * rate, 0.2 * rate)
            hidden = rng.random(rows) < hide
        states = network.states(name)
        cells = zip(codes.tolist(), hidden.tolist(), strict=True)
        columns[name] = [None if is_hidden else states[code] for code, is_hidden in cells]
    return columns


def hard_em(network: lc.Network, columns: dict[str, list[str | None]]) -> lc.Network:
    """CPTs counted from rows that are completed by these CPTs."""
    data = lc.Data(columns)
    table = read_table(data, network)
    learned = lc.learn(network, data, "direct-mcar", pseudo_counts=1).network
    before: dict[str, np.ndarray] = {}
    for _ in range(ROUNDS):
        completed = most_probable(learned, table)
        if before and all(np.array_equal(before[x], completed.columns[x]) for x in before):
            break
        before = dict(completed.columns)
        learned = lc.learn(network, completed, "direct-mcar", pseudo_counts=1).network
    return learned


def soft_em(network: lc.Network, columns: dict[str, list[str | None]]) -> lc.Network:
    method = lc.EM(start="direct-mcar", restarts=1)
    return lc.learn(network, lc.Data(columns), method, pseudo_counts=1).network


def by_default(network: lc.Network, columns: dict[str, list[str | None]]) -> lc.Network:
    return lc.learn(network, lc.Data(columns)).network


LEARN: dict[str, Callable[[lc.Network, dict[str, list[str | None]]], lc.Network]] = {
    "hard": hard_em,
    "soft": soft_em,
    "default": by_default,
}


def main(results: Path, seconds: float) -> None:
    warnings.simplefilter("ignore")
    results.touch()
    done = [json.loads(line) for line in results.read_text().splitlines()]
    known = {tuple(problem["key"]) for problem in done}
    began = process_time()
    names = [name for group in NETWORKS.values() for name in group]
    settings = product(SEVERITY, PATTERNS, MECHANISMS)
    problems = list(product(ROWS_PER_PARAMETER, settings, names))
    order = np.random.default_rng(0).permutation(len(problems))  # a part is a fair sample
    for draw, number in product(range(DRAWS), order):
        per_parameter, setting, name = problems[number]
        key = (draw, per_parameter, *setting, name)
        if process_time() - began > seconds:
            break
        if key in known:
            continue
        truth = lc.example(name)
        rows = int(np.clip(per_parameter * truth.free_parameters, FEWEST, MOST))
        rng = np.random.default_rng([draw, rows, names.index(name), *setting_numbers(setting)])
        columns = with_gaps(truth, rows, setting, rng)
        shape = lc.Network(truth.states_of, truth.parents_of)
        found = {
            learner: float(lc.kl_divergence(truth, learn(shape, columns)))
            for learner, learn in LEARN.items()
        }
        done.append({"key": key, **found})
        with results.open("a") as file:
            file.write(json.dumps(done[-1]) + "\n")
    report(done)


def setting_numbers(setting: tuple[str, str, str]) -> list[int]:
    severity, pattern, mechanism = setting
    return [
        [*SEVERITY].index(severity),
        PATTERNS.index(pattern),
        MECHANISMS.index(mechanism),
    ]


def report(done: list[dict]) -> None:
    """For each size of networks: in how many cells each learner is the best, and the medians."""
    cells = defaultdict(list)
    for problem in done:
        cells[tuple(problem["key"][1:])].append(problem)
    size_of = {name: size for size, names in NETWORKS.items() for name in names}
    lines = []
    for size in (*NETWORKS, "all"):
        means = [
            {learner: np.mean([problem[learner] for problem in held]) for learner in LEARNERS}
            for key, held in cells.items()
            if size in ("all", size_of[key[-1]])
        ]
        if not means:
            continue
        ratio = [mean["default"] / min(mean["hard"], mean["soft"]) for mean in means]
        lines.append(
            [
                size,
                str(len(means)),
                f"{np.mean([mean['hard'] < mean['soft'] for mean in means]):.0%}",
                f"{np.mean([r <= 1 for r in ratio]):.1%}",
                f"{np.median(ratio):.2f}",
                f"{np.max(ratio):.2f}",
            ]
        )
    head = ["networks", "cells", "hard < soft", "default <= both", "median ratio", "worst"]
    print(TextTable(head, lines))
    print(f"{len(done)} problems")


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
