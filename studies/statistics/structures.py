"""Structures from incomplete rows: beside complete rows, other programs and other versions.

    python -m studies.statistics.structures quality --networks child --kinds mar,mnar --seeds 0,1
    python -m studies.statistics.structures time --versions ../another/checkout/src
    python -m studies.statistics.structures grid --networks child,alarm --output grid.jsonl
    python -m studies.statistics.structures strengths --networks asia --seeds 0,1 --output s.jsonl

Quality: 60% of the variables are incomplete, each hidden with probability .6 or .1 by the state
of one other variable: a complete one (MAR), another incomplete one (MNAR), or none of them (MCAR,
at .35). Grid: the same at several numbers of rows and shares of all cells, beside other programs,
whose structures are scored by the exact judge too; what the output file holds is not run again.
Strengths: of the arcs that were said to be there with some probability, how many are; rows with
gaps as for quality, 1,000, 2,000 or 5,000 of them, MAR or MNAR, drawn with the seed.
Time: random networks, 10^4 rows, 10% of all cells missing. Every version gets the same
tables, one after the other in one run: its seconds of processor time can be compared.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from lacunet.data.data import Data
from lacunet.data.table import EncodedTable
from lacunet.inference.sampling import sample_codes
from lacunet.network.catalogue import catalogue, example
from lacunet.network.network import Network
from lacunet.structure.cpdag import compare_structures, extension, to_cpdag
from lacunet.structure.learn_structure import learn_structure
from lacunet.text_tables import TextTable
from studies.problems.generators import random_network

ROOT = Path(__file__).parents[2]
SHARE = 0.6  # of the variables
RATES = (0.6, 0.1)
FEWEST_PAIRS = 30
Arcs = list[tuple[str, str]]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    kinds = parser.add_subparsers(dest="what", required=True)
    quality = kinds.add_parser("quality")
    quality.add_argument("--networks", default="child,alarm,insurance")
    quality.add_argument("--folder", type=Path, help="where networks that are not bundled are")
    quality.add_argument("--kinds", default="mar,mnar")
    quality.add_argument("--rows", type=int, default=5_000)
    quality.add_argument("--seeds", default="0,1")
    quality.add_argument("--peers", default="", help=", ".join(PEERS))
    grid = kinds.add_parser("grid")
    grid.add_argument("--networks", default="asia,sachs,child,alarm,insurance")
    grid.add_argument("--folder", type=Path, help="where networks that are not bundled are")
    grid.add_argument("--kinds", default="mcar,mar,mnar")
    grid.add_argument("--rows", default="1000,5000,20000")
    grid.add_argument("--shares", default="0.1,0.3", help="of all cells")
    grid.add_argument("--seeds", default="0")
    searches = f"complete rows,this,{','.join(PEERS)}"
    grid.add_argument("--who", default=searches, help=f"some of {searches}")
    grid.add_argument("--output", type=Path, required=True)
    strengths = kinds.add_parser("strengths")
    strengths.add_argument("--networks", default="asia,sachs,child", help="or all of the folder")
    strengths.add_argument("--folder", type=Path, help="where networks that are not bundled are")
    strengths.add_argument("--seeds", default="0")
    strengths.add_argument("--most", type=int, default=30, help="variables of a network")
    strengths.add_argument("--output", type=Path, required=True)
    time = kinds.add_parser("time")
    time.add_argument("--variables", default="20,50,100")
    time.add_argument("--rows", type=int, default=10_000)
    for one in (quality, time):
        one.add_argument("--versions", nargs="*", default=[], help="src folders of checkouts")
        one.add_argument("--output", type=Path, help="a file for one line of JSON for each run")
    kinds.add_parser("worker")
    asked = parser.parse_args(arguments)
    ways = {"quality": _quality, "grid": _grid, "strengths": _strengths, "time": _time}
    (ways | {"worker": _work})[asked.what](asked)


def _quality(asked: argparse.Namespace) -> None:
    versions = {"this": "", **{Path(one).parent.name: one for one in asked.versions}}
    found = defaultdict(list)
    for name in asked.networks.split(","):
        truth = _network(name, asked.folder)
        for kind in asked.kinds.split(","):
            for seed in map(int, asked.seeds.split(",")):
                whole, table = incomplete(truth, kind, asked.rows, seed)
                runs = {"complete rows": _learned(truth, whole, "")}
                for version, path in versions.items():
                    runs[version] = _learned(truth, table, path)
                for peer in filter(None, asked.peers.split(",")):
                    runs[peer] = _found_by(peer, table)
                for who, run in runs.items():
                    run["f1"] = compare_structures(truth, _class(truth, run.pop("arcs"))).f1
                    found[kind, who].append(run)
                    _note(asked.output, network=name, kind=kind, seed=seed, who=who, **run)
    print(
        TextTable(
            ["", "", "n", "F1", "standard error", "seconds"],
            [
                [
                    kind,
                    who,
                    str(len(runs)),
                    *_summary([run["f1"] for run in runs]),
                    f"{sum(run['seconds'] for run in runs):.1f}",
                ]
                for (kind, who), runs in found.items()
            ],
            left=2,
        )
    )


def _grid(asked: argparse.Namespace) -> None:
    """Run what is not in the output yet, then summarise all that is in it."""
    lines = asked.output.read_text().splitlines() if asked.output.exists() else []
    keys = ("network", "kind", "rows", "share", "seed", "who")
    done = {tuple(run[key] for key in keys) for run in map(json.loads, lines)}
    for seed, rows, share, kind, name in product(
        map(int, asked.seeds.split(",")),
        map(int, asked.rows.split(",")),
        map(float, asked.shares.split(",")),
        asked.kinds.split(","),
        asked.networks.split(","),
    ):
        cell = (name, kind, rows, share, seed)
        if left := [one for one in asked.who.split(",") if (*cell, one) not in done]:
            truth = _network(name, asked.folder)
            whole, table = incomplete(truth, kind, rows, seed, share)
            judge = _judge(truth, table)
            for one in left:
                run = _run_of(one, truth, whole, table, judge)
                _note(asked.output, **dict(zip(keys, (*cell, one), strict=True)), **run)
    runs = [json.loads(line) for line in asked.output.read_text().splitlines()]
    _summarise(runs)


def _run_of(
    who: str, truth: Network, whole: EncodedTable, table: EncodedTable, judge: Any
) -> dict[str, Any]:
    """F1, seconds and the exact score on the incomplete rows of what a program finds."""
    if who in PEERS:
        try:
            run = _found_by(who, table)
        except Exception as error:
            return {"f1": None, "seconds": None, "exact": None, "error": str(error)}
    else:
        run = _learned(truth, whole if who == "complete rows" else table, "")
    arcs = run["arcs"]
    f1 = compare_structures(truth, _class(truth, arcs)).f1
    return {"f1": f1, "seconds": run["seconds"], "exact": _exact(truth, judge, arcs)}


def _judge(truth: Network, table: EncodedTable) -> Any:
    from lacunet.limits import memory_budget  # not at the top: another version may lack them
    from lacunet.structure.judge_by_em import Judge
    from lacunet.structure.mechanisms_of_rows import mechanisms_of

    columns = Network(truth.states_of)
    graph = mechanisms_of(columns, table, "learn").to_judge
    return Judge(columns, table, memory_budget(None), graph=graph)


def _exact(truth: Network, judge: Any, arcs: Arcs) -> float | None:
    """What the judge says of a structure, None where it has too many cells."""
    from lacunet.structure.scored_parents import MAX_FAMILY_CELLS

    place = {name: at for at, name in enumerate(truth.variables)}
    dag = tuple(frozenset(place[x] for x, z in arcs if z == y) for y in truth.variables)
    sizes = [prod(truth.cardinality(truth.variables[x]) for x in own) for own in dag]
    if max(sizes) > MAX_FAMILY_CELLS:
        return None
    return float(judge.fit(dag).score)


def _summarise(runs: Sequence[dict[str, Any]]) -> None:
    cells = defaultdict(dict)
    for run in runs:
        at = (run["network"], run["kind"], run["rows"], run["share"], run["seed"])
        cells[at][run["who"]] = run
    found = defaultdict(list)
    for (_, kind, rows, share, _), cell in cells.items():
        for who, run in cell.items():
            if "this" in cell and run["f1"] is not None:
                found[kind, rows, share, who].append((run, cell["this"]))
    print(
        TextTable(
            ["", "rows", "share", "", "n", "F1", "standard error", "ours more", "error", "above"],
            [
                [
                    kind,
                    f"{rows:,}",
                    f"{share:.0%}",
                    who,
                    str(len(pairs)),
                    *_summary([run["f1"] for run, _ in pairs]),
                    *_summary([ours["f1"] - run["f1"] for run, ours in pairs]),
                    str(sum(_is_above(run, ours) for run, ours in pairs)),
                ]
                for (kind, rows, share, who), pairs in sorted(found.items())
            ],
            left=1,
        )
    )


def _is_above(run: dict[str, Any], ours: dict[str, Any]) -> bool:
    """Whether the exact score of another structure is above ours, the tolerance of EM aside."""
    return run["exact"] is not None and run["exact"] > ours["exact"] + 0.5


def _strengths(asked: argparse.Namespace) -> None:
    """Run what is not in the output yet, then what was said beside what is true, by tenths."""
    lines = asked.output.read_text().splitlines() if asked.output.exists() else []
    done = {(run["network"], run["seed"]) for run in map(json.loads, lines)}
    names = asked.networks.split(",")
    if asked.networks == "all":
        names = sorted(one.name.split(".")[0] for one in asked.folder.glob("*.json.gz"))
    for seed, name in product(map(int, asked.seeds.split(",")), names):
        truth = _network(name, asked.folder)
        if (name, seed) in done or not 3 <= len(truth.variables) <= asked.most:
            continue
        rng = np.random.default_rng([seed, *map(ord, name)])
        kind, rows = str(rng.choice(["mar", "mnar"])), int(rng.choice([1_000, 2_000, 5_000]))
        _, table = incomplete(truth, kind, rows, seed)
        states = {one: list(truth.states(one)) for one in truth.variables}
        found = learn_structure(Data(table, states=states), strengths=20).strengths
        arcs = {(x, y) for y in truth.variables for x in truth.parents(y)}
        said = [
            (one.adjacent, one.directed, (x, y) in arcs or (y, x) in arcs, (x, y) in arcs)
            for (x, y), one in found.items()
        ]
        _note(asked.output, network=name, seed=seed, kind=kind, rows=rows, said=said)
    runs = [json.loads(line) for line in asked.output.read_text().splitlines()]
    said = np.array([one for run in runs for one in run["said"]], float)
    print(f"{len(runs)} tables")
    _by_tenths("adjacent", said[:, 0], said[:, 2], weight=0.5)  # every pair is there twice
    _by_tenths("directed", said[:, 1], said[:, 3])


def _by_tenths(what: str, said: Any, true: Any, weight: float = 1.0) -> None:
    tenth = np.minimum((said * 10).astype(int), 9)
    for one in range(10):
        own = tenth == one
        if (number := weight * own.sum()) >= FEWEST_PAIRS:
            error = np.sqrt(true[own].mean() * (1 - true[own].mean()) / number)
            print(
                f"{what}: said {said[own].mean():.3f}, true {true[own].mean():.3f} "
                f"± {error:.3f} ({number:.0f})"
            )


def _time(asked: argparse.Namespace) -> None:
    versions = {"this": "", **{Path(one).parent.name: one for one in asked.versions}}
    for number in map(int, asked.variables.split(",")):
        rng = np.random.default_rng(number)
        truth = random_network(number, rng, max_parents=3, states=(2, 4))
        whole = sample_codes(truth, asked.rows, rng)
        for share in (0.0, 0.1):
            hidden = {
                name: np.where(rng.random(asked.rows) < share, whole.cardinality_of[name], column)
                for name, column in whole.columns.items()
            }
            table = EncodedTable(whole.cardinality_of, hidden)
            for version, path in versions.items():
                run = _learned(truth, table, path)
                f1 = compare_structures(truth, _class(truth, run.pop("arcs"))).f1
                print(
                    f"{number} variables, {share:.0%} missing, {version}: "
                    f"{run['seconds']:.1f} s, F1 {f1:.3f}, score {run['score']:,.1f}",
                    flush=True,
                )
                _note(asked.output, variables=number, share=share, who=version, f1=f1, **run)


def incomplete(
    truth: Network, kind: str, rows: int, seed: int, share: float | None = None
) -> tuple[EncodedTable, EncodedTable]:
    """Complete rows, and the same with values hidden: a share of all cells, or at fixed rates."""
    mean = sum(RATES) / 2 if share is None else share / SHARE
    rates = [mean * 2 * rate / sum(RATES) for rate in RATES]
    rng = np.random.default_rng([seed, *map(ord, kind)])
    whole = sample_codes(truth, rows, rng)
    names = [truth.variables[at] for at in rng.permutation(len(truth.variables))]
    several = max(2, round(SHARE * len(names)))
    hidden, shown = names[:several], names[several:]
    columns = dict(whole.columns)
    for at, name in enumerate(hidden):
        rate = np.full(rows, mean)
        if kind != "mcar":
            other = rng.choice(shown) if kind == "mar" else hidden[at - 1]
            states = truth.cardinality(other)
            rate = np.where(rng.permutation(states) < states / 2, *rates)[whole.columns[other]]
        size = whole.cardinality_of[name]
        columns[name] = np.where(rng.random(rows) < rate, size, columns[name])
    return whole, EncodedTable(whole.cardinality_of, columns)


def _network(name: str, folder: Path | None) -> Network:
    if folder is None or name in {entry.name for entry in catalogue()}:
        return example(name)
    import gzip

    with gzip.open(folder / f"{name}.json.gz", "rt") as file:
        parts = json.load(file)["variables"]
    return Network(
        {one["name"]: one["states"] for one in parts},
        {one["name"]: one["parents"] for one in parts},
        {one["name"]: np.array(one["cpt"]) for one in parts},
    )


def _learned(truth: Network, table: EncodedTable, path: str) -> dict[str, Any]:
    """What a version of the search finds, in a process of its own."""
    with tempfile.NamedTemporaryFile(suffix=".npz") as file:
        np.savez(file.name, *table.columns.values())
        states = {name: list(truth.states(name)) for name in truth.variables}
        job = json.dumps({"states": states, "codes": file.name})
        environment = dict(os.environ)
        if path:
            environment["PYTHONPATH"] = str(Path(path).resolve())
        command = [sys.executable, "-m", "studies.statistics.structures", "worker"]
        done = subprocess.run(
            command,
            input=job,
            capture_output=True,
            text=True,
            env=environment,
            check=False,
            cwd=ROOT,
        )
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _work(_: argparse.Namespace) -> None:
    job = json.load(sys.stdin)
    learn_structure({"A": [0, 1, None, 1] * 5, "B": [0, None, 1, 1] * 5}, strengths=0)  # warm
    codes = np.load(job["codes"])
    columns = {name: codes[f"arr_{at}"] for at, name in enumerate(job["states"])}
    sizes = {name: len(own) for name, own in job["states"].items()}
    began = process_time()
    found = learn_structure(Data(EncodedTable(sizes, columns), states=job["states"]), strengths=0)
    seconds = process_time() - began
    arcs = [(x, y) for y in found.network.variables for x in found.network.parents(y)]
    trace = [(one.what, one.score, one.seconds) for one in found.trace]
    print(json.dumps({"arcs": arcs, "score": found.score, "seconds": seconds, "trace": trace}))


def _found_by(peer: str, table: EncodedTable) -> dict[str, Any]:
    """What another program finds: in rows that are filled in, those without a gap, or all."""
    import pandas as pd

    rows = peer.rsplit("-", 1)[1]
    frame = pd.DataFrame({name: column.astype(int) for name, column in table.columns.items()})
    for name, size in table.cardinality_of.items():
        shown = frame[name] != size
        if rows == "filled":
            frame[name] = frame[name].where(shown, frame[name][shown].mode()[0])
        if rows == "gaps":
            frame[name] = frame[name].where(shown)
    if rows == "cases":
        shown = np.logical_and.reduce([frame[n] != s for n, s in table.cardinality_of.items()])
        frame = frame[shown]
    frame = frame[[name for name in frame if frame[name].nunique() > 1]]
    if min(frame.shape) < 2:
        return {"arcs": [], "score": None, "seconds": 0.0}
    began = process_time()
    arcs = PEERS[peer](frame)
    return {"arcs": arcs, "score": None, "seconds": process_time() - began}


def _by_pyagrum(frame: Any) -> Arcs:
    import pyagrum as gum

    learner: Any = gum.BNLearner(frame.astype(str))
    learner.useScoreBIC()
    learner.setMaxIndegree(4)
    learner.useLocalSearchWithTabuList()
    return [(learner.nameFromId(x), learner.nameFromId(y)) for x, y in learner.learnDAG().arcs()]


def _by_pgmpy(frame: Any) -> Arcs:
    from pgmpy.estimators import HillClimbSearch

    search = HillClimbSearch(frame.astype("category"))
    found = search.estimate(scoring_method="bic-d", max_indegree=4, show_progress=False)
    return list(found.edges())


def _by_causal_learn(frame: Any) -> Arcs:
    from causallearn.search.ScoreBased.GES import ges

    graph = ges(frame.to_numpy(), score_func="local_score_BDeu")["G"].graph
    return _extended(list(frame), graph)


def _by_mvpc(frame: Any) -> Arcs:
    """The one algorithm of causal-learn that takes gaps; its test takes codes for numbers."""
    from causallearn.search.ConstraintBased.PC import pc
    from causallearn.utils.cit import mv_fisherz

    found = pc(frame.to_numpy(float), 0.01, mv_fisherz, mvpc=True, show_progress=False)
    return _extended(list(frame), found.G.graph)


def _extended(names: Sequence[str], graph: Any) -> Arcs:
    """A DAG of the class that causal-learn gives: [j, i] = 1 and [i, j] = -1 is i -> j."""
    nodes = range(len(names))
    into = [{i for i in nodes if graph[j, i] == 1 and graph[i, j] == -1} for j in nodes]
    edges = [{i for i in nodes if graph[j, i] == -1 and graph[i, j] == -1} for j in nodes]
    found = extension(into, edges)
    if found is None:  # tests that contradict each other: arcs first, cycles left out
        found = [set() for _ in nodes]
        for some in (into, edges, [{i for i in nodes if graph[j, i] == 1} for j in nodes]):
            for y in nodes:
                for x in sorted(some[y]):
                    if y not in found[x] and not _leads(found, y, x):
                        found[y].add(x)
    return [(names[x], names[y]) for y in nodes for x in found[y]]


def _leads(parents: Sequence[set[int]], one: int, other: int) -> bool:
    """Whether a directed path leads from one variable to another."""
    return one == other or any(_leads(parents, one, x) for x in parents[other])


PEERS: dict[str, Callable[[Any], Arcs]] = {
    "pyagrum-filled": _by_pyagrum,
    "pyagrum-cases": _by_pyagrum,
    "pgmpy-filled": _by_pgmpy,
    "causal-learn-ges-filled": _by_causal_learn,
    "causal-learn-mvpc-gaps": _by_mvpc,
}


def _class(truth: Network, arcs: Arcs) -> Any:
    parents = defaultdict(list)
    for x, y in arcs:
        parents[y].append(x)
    return to_cpdag(Network(truth.states_of, parents))


def _summary(values: Sequence[float]) -> tuple[str, str]:
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{np.mean(values):.3f}", f"{error:.3f}"


def _note(output: Path | None, **line: Any) -> None:
    if output is not None:
        with output.open("a") as file:
            file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
