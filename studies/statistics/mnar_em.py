"""EM on a missingness graph against `mgraph` and plain EM, where values are missing not at random.

Part one: the five graphs of `mnar_consistency.py`; KL(truth || learned) in nats, mean over the
seeds, and the slope of the logarithm of sqrt(KL) on that of the rows (-0.5: consistent at the
usual rate). Part two: Alarm with 10 and 20 mechanisms, each looking at one other partially
observed variable (a neighbour if there is one), probabilities of being missing from
Beta(1, 2). Everything is drawn with fixed seeds:

    python -m studies.statistics.mnar_em [--rows 1000 10000 100000] [--seeds 5] [--figure SVG]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from time import perf_counter

import numpy as np

import lacunet as lc
from lacunet.data.table import EncodedTable
from lacunet.missingness.graph import MissingnessGraph
from lacunet.simulation.by_graph import MissingByGraph
from lacunet.simulation.simulate import simulate
from studies.statistics import mnar_consistency as five

METHODS = ("mgraph", "em on graph", "em")


def divergences(
    truth: lc.Network, graph: MissingnessGraph, table: EncodedTable
) -> tuple[list[float], list[float]]:
    began = perf_counter()
    learned, seconds = [], []
    for method in METHODS:
        if method == "em on graph":
            network = lc.learn(truth, table, "em", pseudo_counts=1, missingness=graph).network
        elif method == "mgraph":
            network = lc.learn(
                truth, table, "mgraph", pseudo_counts=1, missingness=graph, otherwise="factored-mar"
            ).network
        else:
            network = lc.learn(truth, table, "em", pseudo_counts=1).network
        learned.append(lc.kl_divergence(truth, network))
        seconds.append(perf_counter() - began)
        began = perf_counter()
    return learned, seconds


def five_graphs(rows_list: list[int], seeds: int) -> Iterator[tuple[str, int, np.ndarray]]:
    for at, name in enumerate(five.GRAPHS):
        graph = five.graph_of(name)
        truth, shows = five.law_of(graph, np.random.default_rng([1, at]))
        for rows in rows_list:
            found = []
            for seed in range(seeds):
                rng = np.random.default_rng([2, at, rows, seed])
                table = five.sample(graph, truth, shows, rows, rng)
                found.append(divergences(truth, graph, table))
            yield name, rows, np.mean(found, axis=0)


def alarm_graph(alarm: lc.Network, mechanisms: int, seed: int) -> MissingnessGraph:
    rng = np.random.default_rng([seed, mechanisms])
    names = [str(name) for name in rng.choice(alarm.variables, mechanisms, replace=False)]
    causes = {}
    for name in names:
        others = [other for other in names if other != name]
        near = [o for o in others if o in alarm.parents(name) or name in alarm.parents(o)]
        causes[name] = [str(rng.choice(near or others))]
    return MissingnessGraph(alarm, causes)


def alarms(rows_list: list[int], seeds: int) -> Iterator[tuple[str, int, np.ndarray]]:
    alarm = lc.example("alarm")
    for mechanisms in (10, 20):
        for rows in rows_list:
            found = []
            for seed in range(seeds):
                graph = alarm_graph(alarm, mechanisms, seed)
                rng = np.random.default_rng([7, seed, mechanisms, rows])
                drawn = simulate(alarm, rows, MissingByGraph(graph, beta=(1.0, 2.0)), rng=rng)
                found.append(divergences(alarm, graph, drawn.table))
            yield f"Alarm, {mechanisms} mechanisms", rows, np.mean(found, axis=0)


def draw(points: dict[str, list[tuple[int, np.ndarray]]], path: str) -> None:
    import matplotlib.pyplot as plt

    plt.switch_backend("svg")
    plt.rcParams |= {"svg.hashsalt": "lacunet", "svg.fonttype": "none"}
    figure, panels = plt.subplots(1, len(points), figsize=(3 * len(points), 3.4), sharey=True)
    for panel, (name, found) in zip(panels, points.items(), strict=True):
        rows = [one for one, _ in found]
        for at, (method, style) in enumerate(zip(METHODS, ("o-", "D-", "s--"), strict=True)):
            panel.loglog(rows, [kl[at] for _, kl in found], style, label=method)
        guide = [found[0][1][1] * rows[0] / one for one in rows]
        panel.loglog(rows, guide, color="0.7", lw=1, label="$N^{-1}$")
        panel.set_title(name, fontsize=8)
        panel.set_xlabel("rows")
    panels[0].set_ylabel("KL divergence")
    panels[-1].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10**3, 10**4, 10**5, 10**6])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--figure")
    parser.add_argument("--no-alarm", action="store_true")
    chosen = parser.parse_args()
    points: dict[str, list[tuple[int, np.ndarray]]] = {}
    print(f"{'graph':34} {'rows':>9} " + " ".join(f"{m:>12}" for m in METHODS) + "   seconds")
    for study in (five_graphs,) if chosen.no_alarm else (five_graphs, alarms):
        for name, rows, (kl, seconds) in study(chosen.rows, chosen.seeds):
            points.setdefault(name, []).append((rows, kl))
            times = " ".join(f"{value:.2f}" for value in seconds)
            print(
                f"{name:34} {rows:9,} " + " ".join(f"{v:12.6f}" for v in kl) + "   " + times,
                flush=True,
            )
    if chosen.figure:
        draw(points, chosen.figure)
    print("\nslope of log sqrt(KL) on log rows")
    for name, found in points.items():
        logs = np.log([rows for rows, _ in found])
        halves = np.log(np.array([kl for _, kl in found])) / 2
        print(f"{name:34} " + " ".join(f"{np.polyfit(logs, h, 1)[0]:+12.2f}" for h in halves.T))


if __name__ == "__main__":
    main()
