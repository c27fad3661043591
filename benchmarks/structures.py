"""Structures from incomplete rows: beside complete rows, other programs and other versions.

    python benchmarks/structures.py quality --networks child,alarm --kinds mar,mnar --seeds 0,1
    python benchmarks/structures.py time --versions ../another/checkout/src

Quality: 60% of the variables are incomplete, each hidden with probability .6 or .1 by the state
of one other variable: a complete one (MAR), another incomplete one (MNAR), or none of them (MCAR,
at .35). Time: random networks, 10^4 rows, 10% of all cells missing. Every version gets the same
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
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.formats.catalogue import catalogue, example
from lacunet.model.network import Network
from lacunet.simulation.generators import random_network
from lacunet.simulation.sampling import sample
from lacunet.structure.cpdag import compare_structures, to_cpdag
from lacunet.structure.learn import learn_structure
from lacunet.wording import text_table

SHARE = 0.6  # of the variables
RATES = (0.6, 0.1)
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
    quality.add_argument("--peers", default="", help="of pyagrum-filled, pyagrum-cases")
    time = kinds.add_parser("time")
    time.add_argument("--variables", default="20,50,100")
    time.add_argument("--rows", type=int, default=10_000)
    for one in (quality, time):
        one.add_argument("--versions", nargs="*", default=[], help="src folders of checkouts")
        one.add_argument("--output", type=Path, help="a file for one line of JSON for each run")
    kinds.add_parser("worker")
    asked = parser.parse_args(arguments)
    {"quality": _quality, "time": _time, "worker": _work}[asked.what](asked)


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
        text_table(
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


def _time(asked: argparse.Namespace) -> None:
    versions = {"this": "", **{Path(one).parent.name: one for one in asked.versions}}
    for number in map(int, asked.variables.split(",")):
        rng = np.random.default_rng(number)
        truth = random_network(number, rng, max_parents=3, states=(2, 4))
        whole = sample(truth, asked.rows, rng)
        for share in (0.0, 0.1):
            hidden = {
                name: np.where(rng.random(asked.rows) < share, whole.cardinality_of[name], column)
                for name, column in whole.columns.items()
            }
            table = EncodedTable.of(whole.cardinality_of, hidden)
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
    truth: Network, kind: str, rows: int, seed: int
) -> tuple[EncodedTable, EncodedTable]:
    """Complete rows, and the same with values hidden."""
    rng = np.random.default_rng([seed, *map(ord, kind)])
    whole = sample(truth, rows, rng)
    names = [truth.variables[at] for at in rng.permutation(len(truth.variables))]
    several = max(2, round(SHARE * len(names)))
    hidden, shown = names[:several], names[several:]
    columns = dict(whole.columns)
    for at, name in enumerate(hidden):
        rate = np.full(rows, sum(RATES) / 2)
        if kind != "mcar":
            other = rng.choice(shown) if kind == "mar" else hidden[at - 1]
            states = truth.cardinality(other)
            rate = np.where(rng.permutation(states) < states / 2, *RATES)[whole.columns[other]]
        size = whole.cardinality_of[name]
        columns[name] = np.where(rng.random(rows) < rate, size, columns[name])
    return whole, EncodedTable.of(whole.cardinality_of, columns)


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
        environment = dict(os.environ, **({"PYTHONPATH": path} if path else {}))
        command = [sys.executable, __file__, "worker"]
        done = subprocess.run(
            command, input=job, capture_output=True, text=True, env=environment, check=False
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
    found = learn_structure(EncodedTable.of(sizes, columns), job["states"], strengths=0)
    seconds = process_time() - began
    arcs = [(x, y) for y in found.network.variables for x in found.network.parents(y)]
    trace = [(one.what, one.score, one.seconds) for one in found.trace]
    print(json.dumps({"arcs": arcs, "score": found.score, "seconds": seconds, "trace": trace}))


def _found_by(peer: str, table: EncodedTable) -> dict[str, Any]:
    """What pyAgrum finds in rows that are filled in, or in those without a gap."""
    import pandas as pd
    import pyagrum as gum

    frame = pd.DataFrame({name: column.astype(int) for name, column in table.columns.items()})
    for name, size in table.cardinality_of.items():
        shown = frame[name] != size
        if peer == "pyagrum-filled":
            frame[name] = frame[name].where(shown, frame[name][shown].mode()[0])
    if peer == "pyagrum-cases":
        shown = np.logical_and.reduce([frame[n] != s for n, s in table.cardinality_of.items()])
        frame = frame[shown]
    frame = frame[[name for name in frame if frame[name].nunique() > 1]]
    if len(frame) < 2:
        return {"arcs": [], "score": None, "seconds": 0.0}
    began = process_time()
    learner: Any = gum.BNLearner(frame.astype(str))
    learner.useScoreBIC()
    learner.setMaxIndegree(4)
    learner.useLocalSearchWithTabuList()
    arcs = [(learner.nameFromId(x), learner.nameFromId(y)) for x, y in learner.learnDAG().arcs()]
    return {"arcs": arcs, "score": None, "seconds": process_time() - began}


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
