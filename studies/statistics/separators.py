"""Informed deletion with learned separators, in both readings of the paper's informed setting.

KL divergence of informed-direct on Alarm by where its separators come from: the one that the data
were drawn with, learned from the data, read off the true missingness graph; and of direct-mar,
which has none. Every data set adds a line to a file, so that a run that was cut short goes on
where it was; the table is made from the file:

    python -m studies.statistics.separators separators.csv [--rows 10000 100000] [--sets 30]
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

import lacunet as lc
from lacunet.missingness.learned.from_rows import observed_parents
from lacunet.simulation.at_random import InformedMAR
from lacunet.simulation.simulate import simulate

SETTINGS = {"informed": (1.0, 0.5), "informed-shown": (0.5, 1.0)}  # Beta of being missing
COLUMNS = ("setting", "rows", "set", "true", "learned", "graph", "none", "extra", "lost")


def divergences(setting: str, rows: int, seed: int) -> list[float]:
    alarm = lc.example("alarm")
    rng = np.random.default_rng([13, rows, seed])
    drawn = simulate(alarm, rows, InformedMAR(share=0.3, beta=SETTINGS[setting]), rng=rng)
    informed = [
        {"groups": drawn.missingness.separator},
        {"groups": "learn"},
        {"missingness": drawn.graph},
    ]
    networks = [
        lc.learn(alarm, drawn.table, "informed-direct", pseudo_counts=1, **how).network
        for how in informed
    ]
    networks.append(lc.learn(alarm, drawn.table, "direct-mar", pseudo_counts=1).network)
    causes, parents = drawn.graph.causes, observed_parents(alarm, drawn.table)
    return [
        *(lc.kl_divergence(alarm, network) for network in networks),
        sum(len(set(own) - set(causes[name])) for name, own in parents.items()),
        sum(len(set(causes[name]) - set(own)) for name, own in parents.items()),
    ]


def _mean(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean of every column, and its standard error."""
    return values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))


def show(lines: list[list[str]]) -> None:
    header = ("setting", "rows", "sets", *COLUMNS[3:], "learned / true", "learned / none")
    print(f"| {' | '.join(header)} |")
    for setting, rows in dict.fromkeys((line[0], line[1]) for line in lines):
        own = np.array([line[3:] for line in lines if line[:2] == [setting, rows]], float)
        words = ["{:.4g} ({:.2g})".format(*pair) for pair in zip(*_mean(own), strict=True)]
        for other in (0, 3):  # the true separator, and none
            ratio = own[:, 1].mean() / own[:, other].mean()
            apart = "{:+.2g} ({:.2g})".format(*_mean(own[:, 1] - own[:, other]))
            words.append(f"{ratio:.2f}, paired difference {apart}")
        print(f"| {' | '.join((setting, rows, str(len(own)), *words))} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, help="where each data set adds a line")
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--sets", type=int, default=30)
    chosen = parser.parse_args()
    chosen.file.touch()
    lines = list(csv.reader(chosen.file.open()))
    done = {tuple(line[:3]) for line in lines}
    for rows in chosen.rows:
        for seed in range(chosen.sets):
            for setting in SETTINGS:
                if (setting, str(rows), str(seed)) in done:
                    continue
                line = [setting, rows, seed, *divergences(setting, rows, seed)]
                lines.append(list(map(str, line)))
                with chosen.file.open("a", newline="") as out:
                    csv.writer(out).writerow(line)
    show(lines)


if __name__ == "__main__":
    main()
