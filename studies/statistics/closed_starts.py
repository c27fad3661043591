"""Whether EM needs a consistent start: `direct-mcar`, `factored-mcar` or `factored-mar`.

Published networks, rows with values missing completely at random, at random, in two files that no
row joins, with latent variables, and not at random (EM on the graph); one start of EM each. Of each
problem where EM ends, beside where it ends from `factored-mar`: nats of log-posterior, the ratio of
the divergences from the truth, and that of the processor times.

    python -m studies.statistics.closed_starts RESULTS.jsonl SECONDS [NETWORK ...]

appends a line per problem to the file, for so much processor time, and reports on all of it.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import lacunet as lc
from lacunet.data.table import EncodedTable
from lacunet.missingness.graph import MissingnessGraph
from lacunet.simulation.by_graph import MissingByGraph
from lacunet.text_tables import TextTable
from studies.statistics.mnar_em import alarm_graph

NETWORKS = ("asia", "cancer", "earthquake", "survey", "sachs", "child", "fire-alarm", "insurance")
NETWORKS += ("alarm", "win95pts", "hepar2", "hailfinder", "water", "barley", "munin1")
STARTS = ("factored-mar", "direct-mcar", "factored-mcar")
SIZES = (300, 2000)
SETTINGS = ("two files", "latent", "mnar", "mcar 40", "mcar 70", "mcar 95", "mar 30", "mar 90")
MISSED = 0.1  # nats


def rows_of(
    truth: lc.Network, setting: str, rows: int, rng: np.random.Generator
) -> tuple[EncodedTable, MissingnessGraph | None]:
    """Rows of a network with values missing in a way, and the graph if that is not at random."""
    kind, _, number = setting.partition(" ")
    if kind == "mcar":
        return lc.simulate(truth, rows, lc.MCAR(int(number) / 100), rng=rng).table, None
    if kind == "mar":
        beta = (1.0, 0.5) if number == "30" else (0.5, 0.5)
        hide = lc.MAR(share=int(number) / 100, parents=2, beta=beta)
        return lc.simulate(truth, rows, hide, rng=rng).table, None
    if kind == "mnar":
        mechanisms = max(len(truth.variables) // 3, 2)
        graph = alarm_graph(truth, mechanisms, int(rng.integers(1000)))
        hide = MissingByGraph(graph, beta=(1.0, 2.0))
        return lc.simulate(truth, rows, hide, rng=rng).table, graph
    table = lc.simulate(truth, rows, lc.MCAR(0.2), rng=rng).table
    columns: dict[str, Any] = dict(table.columns)
    names = rng.permutation(truth.variables)
    in_second = rng.random(rows) < 0.5
    few = max(len(names) // 5, 1)
    for place, name in enumerate(names):
        if setting == "latent":
            hidden = np.full(rows, place < few)
        else:  # a fifth of the variables is in both files, the others in one of them
            hidden = (in_second if place % 2 else ~in_second) & (place >= few)
        missing = table.cardinality_of[name]
        columns[name] = np.where(hidden, missing, columns[name]).astype(columns[name].dtype)
    return EncodedTable(table.cardinality_of, columns), None


def problems(names: list[str]) -> Iterator[tuple[int, int, str, str]]:
    """Draw, rows, setting and network, so that each is met early."""
    for draw in range(99):
        yield from product([draw], SIZES, SETTINGS, names)


def main(results: Path, seconds: float, names: list[str]) -> None:
    done = [json.loads(line) for line in results.read_text().splitlines()]
    known = {tuple(problem["key"]) for problem in done}
    began = process_time()
    for key in problems(names or [*NETWORKS]):
        draw, rows, setting, name = key
        if process_time() - began > seconds:
            break
        if key in known:
            continue
        truth = lc.read_network(name) if Path(name).exists() else lc.example(name)
        rng = np.random.default_rng([draw, rows, SETTINGS.index(setting), len(truth.variables)])
        try:
            table, graph = rows_of(truth, setting, rows, rng)
            ends = {start: ended(truth, table, graph, start) for start in STARTS}
        except lc.LacunetError as error:  # too few variables for the setting
            print(*key, str(error).splitlines()[0], sep="\t", file=sys.stderr)
            continue
        done.append({"key": key, **ends})
        with results.open("a") as file:
            file.write(json.dumps(done[-1]) + "\n")
    report(done)


def ended(
    truth: lc.Network, table: EncodedTable, graph: MissingnessGraph | None, start: str
) -> dict[str, float]:
    """Where EM ends from a closed form: log-posterior, divergence, iterations and time."""
    em = lc.EM(start=start, restarts=1, max_iterations=500, time_limit=20)
    if graph is not None:
        em = replace(em, missingness=graph)
    began = process_time()
    result = lc.learn(truth.with_tables(None), table, em, pseudo_counts=1, rng=1)
    took = process_time() - began
    assert result.ended is not None
    return {
        "log_posterior": result.ended.log_posterior,
        "kl": lc.kl_divergence(truth, result.network),
        "iterations": result.ended.iterations,
        "converged": result.ended.reason == "converged",
        "seconds": took,
    }


def report(done: list[dict[str, Any]]) -> None:
    for start in STARTS[1:]:
        print(f"\n## {start} beside {STARTS[0]} ({len(done)} problems)\n")
        print(TextTable(HEADS, list(beside(done, start)), left=1))
    print("Problems by network:", dict(Counter(Path(problem["key"][3]).name for problem in done)))


HEADS = ["setting", "converged", "same optimum", "higher", "lower", "KL ratio", "90% of them"]
HEADS += ["iterations", "time"]


def beside(done: list[dict[str, Any]], start: str) -> Iterator[list[str]]:
    for setting in (*SETTINGS, "all"):
        some = [problem for problem in done if setting in (problem["key"][2], "all")]
        both = [p for p in some if p[start]["converged"] and p[STARTS[0]]["converged"]]
        if not both:
            continue
        pairs = [(problem[STARTS[0]], problem[start]) for problem in both]
        gain = np.array([b["log_posterior"] - a["log_posterior"] for a, b in pairs])
        ratio = np.array([b["kl"] / a["kl"] for a, b in pairs])
        steps, times = (
            sum(b[what] for _, b in pairs) / sum(a[what] for a, _ in pairs)
            for what in ("iterations", "seconds")
        )
        yield [
            setting,
            f"{len(both)} of {len(some)}",
            f"{(np.abs(gain) <= MISSED).mean():.0%}",
            f"{(gain > MISSED).sum()}",
            f"{(gain < -MISSED).sum()}",
            f"{np.exp(np.log(ratio).mean()):.4f}",
            f"{np.quantile(ratio, 0.05):.3f} to {np.quantile(ratio, 0.95):.3f}",
            f"{steps:.2f}",
            f"{times:.2f}",
        ]


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.touch()
    main(path, float(sys.argv[2]), sys.argv[3:])
