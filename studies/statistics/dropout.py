"""Bias and coverage where people drop out: four ways to answer, on five designs.

::

    python -m studies.statistics.dropout --sets 300 --rows 5000 --seed 0

Every design is missing at random given what a row shows. In all of them a baseline X is always
shown. The answer is the share of people with a bad outcome at the last visit (or on the last item),
whose true value is computed exactly from the network.

- *by the last value*: three visits; who drops out does not come back. Whether one does depends on
  the outcome of the visit before.
- *by the baseline*: the same, but it depends on X.
- *intermittent*: visits are missed one by one. Whether one is depends on the visit before where
  that is shown, else on X.
- *module*: a page of three items is skipped by X; where it is not, the second and the third item
  have gaps that depend on the first one.
- *arm by visit*: two arms; whether one drops out depends on arm, visit and the value before.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import lacunet as lc
from lacunet.ask.sensitivity.sensitivity import sensitivity
from lacunet.data.table import EncodedTable

Columns = dict[str, np.ndarray]
Hiding = Callable[[Columns, np.random.Generator], dict[str, np.ndarray]]
WAYS = ("learn", "em on the learned graph", "mgraph on it", "sensitivity at 0")
Z = 1.959964

NO_YES = ["no", "yes"]


def network_of(parents: dict[str, list[str]], shares: dict[str, list]) -> lc.Network:
    """A network of variables with two states; of each CPT the probabilities of "yes"."""
    tables = {
        name: np.stack([1 - np.array(yes), np.array(yes)], axis=-1) for name, yes in shares.items()
    }
    return lc.Network(dict.fromkeys(shares, NO_YES), parents, tables)


TRIAL = network_of(
    {"Y1": ["X"], "Y2": ["Y1"], "Y3": ["X", "Y2"]},
    {"X": 0.4, "Y1": [0.3, 0.6], "Y2": [0.25, 0.8], "Y3": [[0.25, 0.7], [0.45, 0.9]]},
)
ARMS = network_of(
    {"Y1": ["X", "Arm"], "Y2": ["Y1", "Arm"], "Y3": ["Y2", "Arm"]},
    {
        "X": 0.4,
        "Arm": 0.5,
        "Y1": [[0.4, 0.25], [0.7, 0.5]],
        "Y2": [[0.3, 0.2], [0.85, 0.65]],
        "Y3": [[0.3, 0.15], [0.9, 0.65]],
    },
)
PAGE = network_of(
    {"Q1": ["X"], "Q2": ["Q1"], "Q3": ["Q1", "Q2"]},
    {"X": 0.4, "Q1": [0.25, 0.65], "Q2": [0.3, 0.75], "Q3": [[0.1, 0.5], [0.45, 0.85]]},
)


def chance(rates: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Which of the rows something happens to, with these probabilities."""
    return rng.random(len(rates)) < rates


def by_last_value(values: Columns, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Who drops out does so by what the visit before showed."""
    first = chance(np.array([0.05, 0.25])[values["X"]], rng)
    second = first | chance(np.array([0.1, 0.5])[values["Y1"]], rng)
    third = second | chance(np.array([0.1, 0.5])[values["Y2"]], rng)
    return {"Y1": first, "Y2": second, "Y3": third}


def by_baseline(values: Columns, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Who drops out does so by the baseline."""
    rates = np.array([0.1, 0.4])[values["X"]]
    first = chance(rates / 2, rng)
    second = first | chance(rates, rng)
    third = second | chance(rates, rng)
    return {"Y1": first, "Y2": second, "Y3": third}


def intermittent(values: Columns, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Visits are missed one by one, by the visit before where it is shown, else by X."""
    first = chance(np.array([0.1, 0.3])[values["X"]], rng)
    by_value, by_x = np.array([0.1, 0.5]), np.array([0.4, 0.6])
    second = chance(np.where(first, by_x[values["X"]], by_value[values["Y1"]]), rng)
    third = chance(np.where(second, by_x[values["X"]], by_value[values["Y2"]]), rng)
    return {"Y1": first, "Y2": second, "Y3": third}


def module(values: Columns, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """A page is skipped by X; on the others two items have gaps by the first one."""
    skipped = chance(np.array([0.15, 0.45])[values["X"]], rng)
    second = skipped | chance(np.array([0.1, 0.4])[values["Q1"]], rng)
    third = skipped | chance(np.array([0.1, 0.5])[values["Q1"]], rng)
    return {"Q1": skipped, "Q2": second, "Q3": third}


def arm_by_visit(values: Columns, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Who drops out does so by arm, visit and the value before."""
    arm = values["Arm"]
    first = chance(np.array([[0.05, 0.15], [0.1, 0.25]])[arm, values["X"]], rng)
    second = first | chance(np.array([[0.05, 0.2], [0.1, 0.5]])[arm, values["Y1"]], rng)
    third = second | chance(np.array([[0.05, 0.45], [0.2, 0.3]])[arm, values["Y2"]], rng)
    return {"Y1": first, "Y2": second, "Y3": third}


DESIGNS: dict[str, tuple[lc.Network, Hiding, str]] = {
    "by the last value": (TRIAL, by_last_value, "Y3"),
    "by the baseline": (TRIAL, by_baseline, "Y3"),
    "intermittent": (TRIAL, intermittent, "Y3"),
    "module": (PAGE, module, "Q3"),
    "arm by visit": (ARMS, arm_by_visit, "Y3"),
}


def drawn(design: str, rows: int, rng: np.random.Generator) -> EncodedTable:
    """Rows of a design, with what it hides."""
    network, hiding, _ = DESIGNS[design]
    values: Columns = {}
    for name in network.variables:
        parents = tuple(values[parent] for parent in network.parents(name))
        yes = network.cpt(name).table[..., 1]
        values[name] = chance(np.broadcast_to(yes[parents], (rows,)), rng).astype(np.intp)
    gone = hiding(values, rng)
    columns = {
        name: np.where(gone[name], 2, codes) if name in gone else codes
        for name, codes in values.items()
    }
    sizes = dict.fromkeys(network.variables, 2)
    return EncodedTable(sizes, {name: codes.astype(np.uint8) for name, codes in columns.items()})


@dataclass(frozen=True)
class Outcome:
    """An answer and its interval, and whether a warning came with it."""

    answer: float
    low: float
    high: float
    warned: bool


def _of_result(result: lc.Result, target: str) -> Outcome:
    answer = result.query(target)
    low, high = answer.interval[1]
    return Outcome(float(answer["yes"]), float(low), float(high), bool(result.warnings))


def outcomes(design: str, table: EncodedTable) -> tuple[dict[str, Outcome], lc.MissingnessGraph]:
    """What each of the ways answers."""
    network, _, target = DESIGNS[design]
    network = network.with_tables(None)
    graph = lc.learn_missingness(table, network)
    found = {WAYS[0]: _of_result(lc.learn(network, table, intervals=True), target)}
    on_graph = {WAYS[1]: lc.EM(missingness=graph), WAYS[2]: lc.MGraph(graph, otherwise="em")}
    for way, method in on_graph.items():
        result = lc.learn(network, table, method, intervals=True)
        found[way] = _of_result(result, target)
    tilted = sensitivity(network, table, f"{target}=yes", mechanism=target, deltas=[0])
    (low, high), answer = tilted.intervals[0], float(tilted.answers[0])
    found[WAYS[3]] = Outcome(answer, float(low), float(high), warned=False)
    return found, graph


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=300, help="data sets of each design")
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--designs", nargs="*", default=[*DESIGNS])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| design | truth | rows that show it |", *(f"{way} |" for way in WAYS))
    print("|---|---|---|" + "---|" * len(WAYS))
    for design in options.designs:
        network, _, target = DESIGNS[design]
        truth = float(network.query(target)["yes"])
        results: dict[str, list[Outcome]] = {way: [] for way in WAYS}
        shown_shares = []
        for index in range(options.sets):
            rng = np.random.default_rng([options.seed, [*DESIGNS].index(design), index])
            table = drawn(design, options.rows, rng)
            codes = table.columns[target]
            shown_shares.append((codes == 1).sum() / (codes < 2).sum())
            for way, outcome in outcomes(design, table)[0].items():
                results[way].append(outcome)
        cells = [design, f"{truth:.4f}", f"{np.mean(shown_shares) - truth:+.4f}"]
        for way in WAYS:
            apart = np.array([outcome.answer for outcome in results[way]]) - truth
            covered = np.mean([o.low <= truth <= o.high for o in results[way]])
            warned = np.mean([outcome.warned for outcome in results[way]])
            cells.append(
                f"{apart.mean():+.4f} ± {apart.std() / np.sqrt(len(apart)):.4f}, {covered:.1%}"
                + (f", warned {warned:.0%}" if warned else "")
            )
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
