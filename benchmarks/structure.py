"""How well structures are learned, and at what cost.

    python benchmarks/structure.py mcar --network alarm --rows 5090 --beta 0.1 --seeds 20
    python benchmarks/structure.py mechanisms --rows 10000 --networks 30
    python benchmarks/structure.py peers --network child --rows 5000 --beta 0.1 --seeds 3
    python benchmarks/structure.py cost --rows 100000 --beta 0.1

``mcar``: the design of Bodewes and Scutari (2021): rows sampled from a network, every cell
hidden with probability beta; the same search on the complete rows beside it.
``mechanisms``: networks and mechanisms of the kind of Liu and Constantinou (2022): random
networks, half of the variables incomplete, missing with probability .6 or .1 depending on a
parent (MAR: a complete variable; MNAR: an incomplete one; MCAR: none).
``peers``: hill climbing and tabu search of pyAgrum, hill climbing and GES of pgmpy, on complete
rows, on the rows that show everything, and with the most frequent state filled in.
Distances are between CPDAGs; times are CPU seconds of one core.
"""

from __future__ import annotations

import argparse
import json
import warnings
from time import process_time
from typing import Any

import numpy as np

import lacunet as lc
from lacunet.data.table import EncodedTable
from lacunet.structure.cpdag import Cpdag


def hidden_at_random(table: EncodedTable, beta: float, rng: np.random.Generator) -> EncodedTable:
    columns = {}
    for name in table.variables:
        columns[name] = table.columns[name].copy()
        columns[name][rng.random(table.rows) < beta] = table.cardinality_of[name]
    return EncodedTable.of(table.cardinality_of, columns)


def measured(truth: lc.Network, table: EncodedTable, seed: int, **options: object) -> dict:
    began = process_time()
    found = lc.learn_structure(
        table, truth.states_of, rng=np.random.default_rng(seed), **{"strengths": 0, **options}
    )
    seconds = process_time() - began
    return judged(truth, found, seconds) | {"ended": found.ended, "rounds": len(found.trace)}


def judged(truth: lc.Network, found: object, seconds: float) -> dict:
    difference = lc.compare_structures(truth, found)
    return {
        "shd": difference.shd,
        "shd_per_edge": difference.shd / difference.edges[0],
        "f1": difference.f1,
        "skeleton_f1": difference.skeleton_f1,
        "skeleton_errors": difference.skeleton_errors,
        "edges": difference.edges[1],
        "seconds": seconds,
    }


def mcar(options: argparse.Namespace) -> None:
    truth = lc.example(options.network)
    for seed in range(options.first, options.first + options.seeds):
        rng = np.random.default_rng([seed, options.rows])
        complete = lc.sample(truth, options.rows, rng)
        table = hidden_at_random(complete, options.beta, rng)
        about = {
            "network": options.network,
            "rows": options.rows,
            "beta": options.beta,
            "seed": seed,
        }
        if options.beta:
            said(about | {"on": "incomplete"} | measured(truth, table, seed))
            if options.closed_form:
                row = measured(truth, table, seed, method="closed-form")
                said(about | {"on": "incomplete, closed form"} | row)
        if not options.skip_complete:
            said(about | {"on": "complete"} | measured(truth, complete, seed))
        if options.closed_form:
            row = measured(truth, complete, seed, method="closed-form")
            said(about | {"on": "complete, greedy equivalence search"} | row)


def random_network(rng: np.random.Generator, variables: int = 20) -> lc.Network:
    """A random network with 2 to 4 states, at most 3 parents, 1.5 arcs per variable."""
    names = [f"X{at}" for at in range(variables)]
    states = {name: [str(s) for s in range(rng.integers(2, 5))] for name in names}
    parents: dict[str, list[str]] = {name: [] for name in names}
    while sum(map(len, parents.values())) < 1.5 * variables:
        x, y = sorted(rng.choice(variables, 2, replace=False))
        if names[x] not in parents[names[y]] and len(parents[names[y]]) < 3:
            parents[names[y]].append(names[x])
    tables = {}
    for name in names:
        shape = [len(states[one]) for one in parents[name]]
        tables[name] = rng.dirichlet(np.full(len(states[name]), 0.5), size=shape or None)
    return lc.Network(states, parents, tables)


def hidden_by(kind: str, table: EncodedTable, rng: np.random.Generator) -> EncodedTable:
    """Half of the variables incomplete, by .6 or .1 depending on the state of a parent."""
    names = list(table.variables)
    incomplete = [names[at] for at in rng.permutation(len(names))[: len(names) // 2]]
    others = [name for name in names if name not in incomplete]
    columns = {name: column.copy() for name, column in table.columns.items()}
    for name in incomplete:
        rate = np.full(table.rows, 0.35)
        if kind != "mcar":
            pool = others if kind == "mar" else [one for one in incomplete if one != name]
            parent = pool[rng.integers(len(pool))]
            high = rng.permutation(table.cardinality_of[parent]) < table.cardinality_of[parent] / 2
            rate = np.where(high[table.columns[parent]], 0.6, 0.1)
        columns[name][rng.random(table.rows) < rate] = table.cardinality_of[name]
    return EncodedTable.of(table.cardinality_of, columns)


def mechanisms(options: argparse.Namespace) -> None:
    for seed in range(options.first, options.first + options.networks):
        rng = np.random.default_rng([seed, options.rows, 7])
        truth = random_network(rng)
        complete = lc.sample(truth, options.rows, rng)
        about = {"network": f"random {seed}", "rows": options.rows, "seed": seed}
        said(about | {"on": "complete"} | measured(truth, complete, seed))
        for kind in ("mcar", "mar", "mnar"):
            table = hidden_by(kind, complete, rng)
            said(about | {"on": kind} | measured(truth, table, seed))
            row = measured(truth, table, seed, method="closed-form")
            said(about | {"on": f"{kind}, closed form"} | row)


def peers(options: argparse.Namespace) -> None:
    """What others find: on complete rows, listwise, and with the most frequent state filled in."""
    warnings.filterwarnings("ignore")
    import pandas as pd

    searches = [pyagrum_hill_climbing, pyagrum_tabu]
    if not options.fast_peers:
        searches += [pgmpy_hill_climbing, pgmpy_greedy_equivalence]
    truth = lc.example(options.network)
    for seed in range(options.first, options.first + options.seeds):
        rng = np.random.default_rng([seed, options.rows])
        complete = lc.sample(truth, options.rows, rng)
        table = hidden_at_random(complete, options.beta, rng)
        shown = _frame(pd, table)
        frames = {
            "complete": _frame(pd, complete),
            "listwise": shown.dropna(),
            "most frequent filled in": shown.apply(lambda cells: cells.fillna(cells.mode()[0])),
        }
        for on, frame in frames.items():
            for search in searches:
                about = {
                    "network": options.network,
                    "rows": options.rows,
                    "beta": options.beta,
                    "seed": seed,
                    "on": f"{search.__name__}, {on} ({len(frame)} rows)",
                }
                if len(frame) >= 50:
                    began = process_time()
                    arcs = search(frame)
                    seconds = process_time() - began
                    said(about | judged(truth, _class(truth, arcs), seconds))


Arcs = set[tuple[str, str]]


def pgmpy_hill_climbing(frame: Any) -> Arcs:
    from pgmpy.estimators import HillClimbSearch

    search = HillClimbSearch(frame.astype("category"))
    return set(search.estimate("bic-d", max_indegree=4, show_progress=False).edges())


def pgmpy_greedy_equivalence(frame: Any) -> Arcs:
    from pgmpy.estimators import GES

    return set(GES(frame.astype("category")).estimate("bic-d").edges())


def pyagrum_hill_climbing(frame: Any) -> Arcs:
    return _pyagrum(frame, "useGreedyHillClimbing")


def pyagrum_tabu(frame: Any) -> Arcs:
    return _pyagrum(frame, "useLocalSearchWithTabuList")


def _pyagrum(frame: Any, search: str) -> Arcs:
    import pyagrum as gum

    learner = gum.BNLearner(frame)
    learner.useScoreBIC()
    learner.setMaxIndegree(4)
    getattr(learner, search)()
    arcs = learner.learnDAG().arcs()
    return {(learner.nameFromId(x), learner.nameFromId(y)) for x, y in arcs}


def _class(truth: lc.Network, pairs: Arcs) -> Cpdag:
    """The class of a DAG, or of a CPDAG that has an undirected edge as two arcs."""
    if not any((y, x) in pairs for x, y in pairs):
        parents: dict[str, list[str]] = {}
        for x, y in pairs:
            parents.setdefault(y, []).append(x)
        return lc.to_cpdag(lc.Network(truth.states_of, parents))
    compelled = frozenset((x, y) for x, y in pairs if (y, x) not in pairs)
    both = frozenset((min(x, y), max(x, y)) for x, y in pairs if (y, x) in pairs)
    return Cpdag(truth.variables, compelled, both)


def _frame(pd: Any, table: EncodedTable) -> Any:
    return pd.DataFrame(
        {
            name: np.where(column == table.cardinality_of[name], None, column.astype(object))
            for name, column in table.columns.items()
        }
    ).map(lambda cell: None if cell is None else str(cell))


def cost(options: argparse.Namespace) -> None:
    truth = lc.example(options.network)
    rng = np.random.default_rng([options.first, options.rows])
    table = hidden_at_random(lc.sample(truth, options.rows, rng), options.beta, rng)
    about = {"network": options.network, "rows": options.rows, "beta": options.beta}
    said(about | measured(truth, table, options.first))


def said(row: dict) -> None:
    rounded = {k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()}
    print(json.dumps(rounded), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["mcar", "mechanisms", "peers", "cost"])
    parser.add_argument("--network", default="alarm")
    parser.add_argument("--rows", type=int, default=5090)
    parser.add_argument("--beta", type=float, default=0.1)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--networks", type=int, default=30)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--closed-form", action="store_true")
    parser.add_argument("--skip-complete", action="store_true")
    parser.add_argument("--fast-peers", action="store_true", help="pyAgrum alone")
    options = parser.parse_args()
    {"mcar": mcar, "mechanisms": mechanisms, "peers": peers, "cost": cost}[options.what](options)


if __name__ == "__main__":
    main()
