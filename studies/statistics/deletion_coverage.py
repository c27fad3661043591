"""How often intervals of deletion contain the truth: thin CPTs, answers and effects.

Each problem is a network with CPTs from a Dirichlet(2, ..., 2) by a seed, and data sets drawn
from it; data set k comes from the seed [seed, first + k]. Values go missing at random, with
probabilities from .1 to .55 by the state of another variable. Sets from 0 on served development.

    python -m studies.statistics.deletion_coverage thin400 factored-mar --sets 150 --first 1000
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
import pandas as pd

import lacunet as lc

KINDS: dict[str, tuple[dict[str, str], dict[str, list[str]]]] = {
    "thin": (
        {"A": "abc", "B": "ab", "C": "abc", "Y": "ab", "Z": "abc"},
        {"B": ["A"], "Y": ["A", "B", "C"], "Z": ["Y", "B"]},
    ),
    "effect": (
        {"W": "ab", "V": "abc", "T": "ab", "M": "ab", "Y": "ab"},
        {"V": ["W"], "T": ["W", "V"], "M": ["T"], "Y": ["T", "W", "M"]},
    ),
}
ANSWERS: dict[str, list[tuple[str, dict[str, str]]]] = {
    "thin": [
        ("Y", {}),
        ("Z", {"A": "a"}),
        ("Y", {"Z": "a"}),
        ("Y", {"A": "a", "B": "a"}),
        ("B", {"Z": "c"}),
        ("C", {"Z": "b"}),
    ],
    "effect": [("Y", {}), ("Y", {"T": "a"}), ("T", {"Y": "b"}), ("V", {"Y": "a"})],
}
EFFECTS = {"thin": [("Z", "B"), ("Y", "A")], "effect": [("Y", "T"), ("M", "T")]}

# The kind of network, its seed, the rows, and by which variable each other one goes missing.
PROBLEMS: dict[str, tuple[str, int, int, dict[str, str]]] = {
    "thin300": ("thin", 901, 300, {"B": "A", "Y": "A", "Z": "A"}),
    "thin1000": ("thin", 902, 1000, {"B": "A", "Y": "A", "Z": "A"}),
    "thin400": ("thin", 906, 400, {"B": "A", "Y": "A", "Z": "A", "C": "A"}),
    "effect300": ("effect", 903, 300, {"V": "W", "T": "W", "Y": "W"}),
    "effect1000": ("effect", 904, 1000, {"V": "W", "M": "W", "Y": "W"}),
    "effect400": ("effect", 907, 400, {"V": "W", "T": "W", "M": "W", "Y": "W"}),
}
MANY, FEW = 30, 3  # rows that show a CPT row, on average: thin ones have from few to many


def network_of(kind: str, seed: int) -> lc.Network:
    """The network of a kind with CPTs by a seed."""
    states, parents = KINDS[kind]
    network = lc.Network({name: [*of] for name, of in states.items()}, parents)
    rng, tables = np.random.default_rng(seed), {}
    for name in network.variables:
        shape = network.shape(network.family(name))
        tables[name] = rng.dirichlet(np.full(shape[-1], 2.0), size=shape[:-1] or None)
    return network.with_tables(tables)


def rows_of(
    network: lc.Network, number: int, hidden: dict[str, str], rng: np.random.Generator
) -> pd.DataFrame:
    """Rows drawn from a network, with values that go missing."""
    table = lc.simulate(network, number, None, rng=rng).table
    columns = {
        name: np.array(network.states(name), object)[table.columns[name]]
        for name in network.variables
    }
    for name, by in hidden.items():
        chances = np.linspace(0.1, 0.55, network.cardinality(by))[table.columns[by]]
        columns[name] = np.where(rng.random(number) < chances, None, columns[name])
    return pd.DataFrame(columns)


def covered(interval: Any, truth: Any) -> np.ndarray:
    """Whether each interval holds the truth."""
    return np.asarray((interval[..., 0] <= truth) & (truth <= interval[..., 1])).ravel()


def measured(problem: str, method: str, sets: int, first: int) -> dict[str, str]:
    """The coverage of entries, of answers and of effects, in words."""
    kind, seed, number, hidden = PROBLEMS[problem]
    network = network_of(kind, seed)
    options = {"groups": [*{*hidden.values()}]} if method.startswith("informed") else {}
    entries, supports, answers, effects = [], [], [], []
    for index in range(first, first + sets):
        rows = rows_of(network, number, hidden, np.random.default_rng([seed, index]))
        bare = network.with_tables(None)
        result = lc.learn(bare, rows, method, intervals=True, rng=index, **options)
        of_entries, of_rows, of_answers, of_effects = [], [], [], []
        for name in network.variables:
            truth, support = network.cpt(name).table, result.families[name].support
            of_entries.append(covered(result.interval(name), truth))
            of_rows.append(np.broadcast_to(support[..., None], truth.shape).ravel())
        for target, evidence in ANSWERS[kind]:
            answer = result.query(target, evidence)
            of_answers.append(covered(answer.interval, np.asarray(network.query(target, evidence))))
        for target, cause in EFFECTS[kind]:
            pairs = zip(
                network.effect(target, do=cause).contrasts,
                result.effect(target, do=cause).contrasts,
                strict=True,
            )
            for truth, found in pairs:
                _, low, high = found.difference
                of_effects.append(low <= truth.difference.value <= high)
        entries.append(np.concatenate(of_entries))
        supports.append(np.concatenate(of_rows))
        answers.append(np.concatenate(of_answers))
        effects.append(of_effects)

    support, by_entry = np.mean(supports, axis=0), np.mean(entries, axis=0)
    is_thin = (support >= FEW) & (support < MANY)
    return {
        "entries": in_words(by_entry[support >= MANY]),
        "thin entries": in_words(by_entry[is_thin]),
        "answers": in_words(np.mean(answers, axis=0)),
        "effects": in_words(np.mean(effects, axis=0)),
    }


def in_words(shares: np.ndarray) -> str:
    """The mean, the least and the largest."""
    if not shares.size:
        return "-"
    return f"{shares.mean():.3f} ({shares.min():.3f} to {shares.max():.3f}; {shares.size})"


def main() -> None:
    """Print the coverage of one problem by one method."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problem", choices=PROBLEMS)
    parser.add_argument("method")
    parser.add_argument("--sets", type=int, default=150)
    parser.add_argument("--first", type=int, default=1000)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for what, share in measured(asked.problem, asked.method, asked.sets, asked.first).items():
        print(f"{asked.problem}  {asked.method}  {what}: {share}")


if __name__ == "__main__":
    main()
