"""Five MNAR graphs: the error of `mgraph` falls like N^-1/2, that of EM and available cases stays.

The error of a CPT is the mean over parent configurations, weighted by their true probability,
of the total variation between the true and the learned row; a network's is the mean over its
CPTs. Prints one line for each graph, method and number of rows (mean over the seeds), then the
slope of the logarithms, and writes the same as CSV if a path is given. Everything is drawn
with fixed seeds. The figure of docs/missingness.md is drawn from such a file:

    python -m studies.statistics.mnar_consistency [CSV] [--rows 1000 10000 100000] [--seeds 10]
    python -m studies.statistics.mnar_consistency studies/statistics/mnar_consistency.csv --draw SVG
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from itertools import product

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.learning.learn import learn
from lacunet.learning.methods import method_named
from lacunet.learning.mgraph import MGraph
from lacunet.learning.plan import Method
from lacunet.missingness.graph import MissingnessGraph
from lacunet.network.network import Network
from lacunet.network.nodes import Mechanism

GRAPHS = {
    "the paper's pair": ("XY", {"Y": "X"}, "X -> R[Y]; Y -> R[X]"),
    "one mechanism drives the other": ("XY", {"Y": "X"}, "Y -> R[X]; R[X] -> R[Y]"),
    "each depends on the other two": (
        "XYZ",
        {"Y": "X", "Z": "XY"},
        "Y, Z -> R[X]; X, Z -> R[Y]; X, Y -> R[Z]",
    ),
    "a ring": ("XYZ", {"Y": "X", "Z": "Y"}, "X -> R[Y]; Y -> R[Z]; Z -> R[X]"),
    "a hidden cause behind X and R[Y]": ("XY", {"Y": "X"}, "X <-> R[Y]; Y -> R[X]"),
}
METHODS = ("mgraph", "em", "direct-mcar")
STYLE = {"mgraph": "o-", "em": "s--", "direct-mcar": "^:"}
PSEUDO_COUNTS = 1.0


def graph_of(name: str) -> MissingnessGraph:
    variables, parents, text = GRAPHS[name]
    states = {variable: ["0", "1"] for variable in variables}
    network = Network(states, {child: list(above) for child, above in parents.items()})
    return MissingnessGraph.parse(text, network)


def law_of(graph: MissingnessGraph, rng: np.random.Generator) -> tuple[Network, dict]:
    """Random CPTs far from uniform, and how likely each mechanism shows its variable."""
    network = graph.network
    tables = {}
    for name in network.variables:
        yes = rng.choice([0.15, 0.3, 0.7, 0.85], network.shape(network.parents(name)))
        tables[name] = np.stack([1 - yes, yes], axis=-1)
    shows = {}
    for name, causes in graph.causes.items():
        hidden = sum(Mechanism(name) in pair for pair in graph.hidden)
        shape = (2,) * (len(causes) + hidden)
        table = np.zeros(shape)
        for values in product((0, 1), repeat=len(shape)):
            high = sum(values) % 2 == 0
            table[values] = rng.uniform(0.75, 0.95) if high else rng.uniform(0.2, 0.4)
        shows[name] = table
    return network.with_tables(tables), shows


def sample(
    graph: MissingnessGraph, truth: Network, shows: dict, rows: int, rng: np.random.Generator
) -> EncodedTable:
    values: dict[object, np.ndarray] = {}
    for name in truth.order:
        above = tuple(values[parent] for parent in truth.parents(name))
        yes = truth.cpt(name).table[(*above, 1)] if above else truth.cpt(name).table[1]
        values[name] = (rng.random(rows) < yes).astype(np.uint8)
    for pair in graph.hidden:  # a cause that goes with the variable: drawn from it, backwards
        values[pair] = (rng.random(rows) < np.where(values[pair[0]] == 1, 0.85, 0.15)).astype(int)
    waiting = list(graph.causes)
    while waiting:
        name = next(n for n in waiting if all(cause in values for cause in graph.causes[n]))
        waiting.remove(name)
        own = Mechanism(name)
        above = [values[cause] for cause in graph.causes[name]]
        above += [values[pair] for pair in graph.hidden if own in pair]
        values[own] = (rng.random(rows) < shows[name][tuple(above)]).astype(np.uint8)
    columns = {
        name: np.where(values.get(Mechanism(name), 1) == 1, values[name], 2).astype(np.uint8)
        for name in truth.variables
    }
    return EncodedTable(dict.fromkeys(truth.variables, 2), columns)


def error(truth: Network, tables: dict[str, np.ndarray]) -> float:
    names = list(truth.variables)
    operands: list[object] = []
    for name in names:
        operands += [truth.cpt(name).table, [names.index(axis) for axis in truth.family(name)]]
    joint = np.einsum(*operands, list(range(len(names))))
    errors = []
    for name in names:
        above = [names.index(parent) for parent in truth.parents(name)]
        weight = np.einsum(joint, list(range(len(names))), above)
        apart = np.abs(tables[name] - truth.cpt(name).table).sum(axis=-1) / 2
        errors.append(float((weight * apart).sum()))
    return float(np.mean(errors))


def method_of(name: str, graph: MissingnessGraph) -> Method:
    return MGraph(graph) if name == "mgraph" else method_named(name)


def study(rows_list: list[int], seeds: int) -> list[tuple[str, str, int, float]]:
    results = []
    for at, name in enumerate(GRAPHS):
        graph = graph_of(name)
        truth, shows = law_of(graph, np.random.default_rng([1, at]))
        for rows in rows_list:
            errors: dict[str, list[float]] = {method: [] for method in METHODS}
            for seed in range(seeds):
                table = sample(
                    graph, truth, shows, rows, np.random.default_rng([2, at, rows, seed])
                )
                for method in METHODS:
                    learned = learn(
                        graph.network, table, method_of(method, graph), pseudo_counts=PSEUDO_COUNTS
                    ).network
                    errors[method].append(error(truth, dict(learned.tables_of)))
            for method in METHODS:
                results.append((name, method, rows, float(np.mean(errors[method]))))
                print(f"{name:34} {method:12} {rows:9,} {results[-1][3]:.5f}", flush=True)
    return results


def slopes(results: list[tuple[str, str, int, float]]) -> None:
    print("\nslope of log error on log rows (-0.5: consistent at the usual rate)")
    for name, method in product(GRAPHS, METHODS):
        points = [(rows, value) for g, m, rows, value in results if (g, m) == (name, method)]
        slope = np.polyfit(*np.log(np.array(points)).T, 1)[0] if len(points) > 1 else np.nan
        print(f"{name:34} {method:12} {slope:+.2f}")


def draw(path: str, target: str) -> None:
    """Draw the errors of a CSV file against the number of rows, one panel for each graph."""
    import matplotlib.pyplot as plt

    plt.switch_backend("svg")
    plt.rcParams["svg.hashsalt"] = "lacunet"
    errors: dict[str, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            errors[row["graph"]][row["method"]][int(row["rows"])] = float(row["error"])
    figure, panels = plt.subplots(1, len(errors), figsize=(16, 3.4), sharey=True)
    for panel, (graph, methods) in zip(panels, errors.items(), strict=True):
        for method, curve in methods.items():
            panel.loglog(list(curve), list(curve.values()), STYLE[method], label=method)
        first = next(iter(methods["mgraph"].items()))
        guide = {rows: first[1] * (first[0] / rows) ** 0.5 for rows in methods["mgraph"]}
        panel.loglog(list(guide), list(guide.values()), color="0.7", lw=1, label="$N^{-1/2}$")
        panel.set_title(graph, fontsize=9)
        panel.set_xlabel("rows")
    panels[0].set_ylabel("mean error of a CPT row")
    panels[-1].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(target, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("csv", nargs="?")
    parser.add_argument("--rows", type=int, nargs="+", default=[10**3, 10**4, 10**5, 10**6])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--draw", metavar="SVG", help="run nothing: draw what the CSV file has")
    chosen = parser.parse_args()
    if chosen.draw:
        draw(chosen.csv, chosen.draw)
        return
    results = study(chosen.rows, chosen.seeds)
    slopes(results)
    if chosen.csv:
        with open(chosen.csv, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["graph", "method", "rows", "error"])
            writer.writerows(results)


if __name__ == "__main__":
    main()
