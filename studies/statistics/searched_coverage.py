"""How often 95% intervals cover the truth if the structure was learned from the same rows.

    python -m studies.statistics.searched_coverage coverage.jsonl --half judged [--folder BNREP]
        [--rows 300,1000,5000] [--sets 10] [--seed 0] [--missing 0,0.2]

Ten published networks of each half, which the hash of the name decides: rules were chosen on one
half, and judged once on the other. Of every data set six questions are asked, each of which counts:
a variable given a neighbour, given any other variable, and given all its parents, in states that
some 20 rows or more have. Three intervals of each answer are compared with the truth: those on the
true graph, those that take the learned edges as known, and those that count the search. With a
share of all cells missing, six in ten variables are incomplete, hidden by the state of a complete
one.

Every data set adds a line to the file, so that a run that was cut short goes on where it was; the
table is made from the file. Standard errors are by data sets, whose questions are not independent.
"""

from __future__ import annotations

import argparse
import json
import warnings
import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import lacunet as lc
from lacunet.inference.joint import joint_marginals
from lacunet.network.catalogue import catalogue
from lacunet.network.network import Network
from lacunet.text_tables import TextTable
from studies.statistics.structures import incomplete

HALVES = ("chosen", "judged")
NETWORKS = 10
FEWEST, MOST, MOST_FREE = 6, 40, 3_000  # variables and free parameters of a network
KINDS = ("neighbour", "any", "parents")
QUESTIONS = 6
TRIES = 600
ENOUGH = 20  # rows that are expected to have what is given
LIKELY = 0.01  # a state asked about has this probability, and so have the others
WAYS = ("true graph", "edges as known", "counting the search")
Question = tuple[str, str, str, dict[str, str], float]  # kind, target, state, given, truth


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    parser.add_argument("--half", choices=HALVES, default="judged")
    parser.add_argument("--folder", type=Path, help="where networks that are not bundled are")
    parser.add_argument("--rows", default="300,1000,5000")
    parser.add_argument("--missing", default="0", help="shares of all cells")
    parser.add_argument("--sets", type=int, default=10, help="data sets of each network and size")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    done = {key_of(line) for line in lines_of(options.output)}
    truth_of = networks(options.half, options.folder)
    for number, share, rows, name in product(
        range(options.sets),
        map(float, options.missing.split(",")),
        map(int, options.rows.split(",")),
        truth_of,
    ):
        line: dict[str, Any] = {"network": name, "rows": rows, "missing": share}
        line["seed"] = options.seed + number
        if key_of(line) not in done:
            line["answers"] = answers_of(name, truth_of[name], rows, share, line["seed"])
            with options.output.open("a") as file:
                file.write(json.dumps(line) + "\n")
    summarise(lines_of(options.output))


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [*map(json.loads, path.read_text().splitlines())] if path.exists() else []


def key_of(line: dict[str, Any]) -> tuple[object, ...]:
    return line["network"], line["rows"], line["missing"], line["seed"]


def networks(half: str, folder: Path | None) -> dict[str, Network]:
    """The networks of a half, by the hash of their names."""
    known = {entry.name: lc.example(entry.name) for entry in catalogue()}
    for path in folder.glob("*.json.gz") if folder else ():
        known[path.name.split(".")[0]] = lc.read_network(path)
    chosen: dict[str, Network] = {}
    for name in sorted(known, key=hash_of):
        network = known[name]
        fits = FEWEST <= len(network.variables) <= MOST and network.free_parameters <= MOST_FREE
        if fits and HALVES[hash_of(name) % 2] == half and len(chosen) < NETWORKS:
            chosen[name] = network
    return chosen


def hash_of(name: str) -> int:
    return zlib.crc32(name.encode())


def answers_of(
    name: str, truth: Network, rows: int, share: float, seed: int
) -> list[dict[str, Any]]:
    """What is asked of one data set, whether each interval covers the truth, and its width."""
    whole, table = incomplete(truth, "mar", rows, hash_of(name) + seed, share)
    data = {}
    for variable in truth.variables:
        labels = [*truth.states(variable), None]
        data[variable] = [labels[code] for code in (table if share else whole).columns[variable]]
    found = lc.learn_structure(lc.Data(data, states=truth), rng=seed)
    searched = lc.learn(found, data, intervals=True)
    as_known = replace(searched, network=searched.network.with_bootstrap(None))
    by_truth = lc.learn(truth.with_tables(None), data, intervals=True)
    rng = np.random.default_rng([hash_of(name), rows, seed])
    answers = []
    for kind, target, state, given, right in questions(truth, rows, rng):
        answer: dict[str, Any] = {"kind": kind}
        for way, result in zip(WAYS, (by_truth, as_known, searched), strict=True):
            told = result.query(target, given, unsupported="ignore")
            low, high = told.interval[told.states[0].index(state)].tolist()
            answer[way] = [low <= right <= high, high - low]
        answers.append(answer)
    return answers


def questions(truth: Network, rows: int, rng: np.random.Generator) -> Iterator[Question]:
    """Questions of each kind in turn, as far as the network has any."""
    names, asked = truth.variables, 0
    for _ in range(TRIES):
        if asked == QUESTIONS:
            return
        kind = KINDS[asked % len(KINDS)]
        if kind == "neighbour":
            scope = [*rng.permutation(truth.edges[rng.integers(len(truth.edges))])]
        elif kind == "any":
            scope = [names[place] for place in rng.permutation(len(names))[:2]]
        else:
            child = names[rng.integers(len(names))]
            scope = [child, *truth.parents(child)]
            if len(scope) < 3:  # one parent is a neighbour
                kind, scope = "neighbour", [*rng.permutation(truth.edges[0])]
        target, *given = map(str, scope)
        (joint,) = joint_marginals(truth, [(target, *given)])
        margin = joint.sum(axis=0)
        enough = np.argwhere(margin * rows >= ENOUGH)
        if not len(enough):
            continue
        place = tuple(enough[rng.integers(len(enough))].tolist())
        law = joint[(slice(None), *place)] / margin[place]
        likely = np.flatnonzero((law > LIKELY) & (law < 1 - LIKELY))
        if not len(likely):
            continue
        state = int(rng.choice(likely))
        seen = {v: truth.states(v)[code] for v, code in zip(given, place, strict=True)}
        asked += 1
        yield kind, target, truth.states(target)[state], seen, float(law[state])


def summarise(lines: list[dict[str, Any]]) -> None:
    """Coverage by rows and by network, with standard errors by data sets."""
    by_size, by_network, by_kind = (defaultdict(list) for _ in range(3))
    for line in lines:
        if line["answers"]:
            by_size[line["missing"], line["rows"]].append(line["answers"])
            by_network[line["network"], line["rows"]].append(line["answers"])
        for answer in line["answers"]:
            by_kind[answer["kind"], line["rows"]].append([answer])
    header = ["", "rows", "data sets", *WAYS, "times as wide"]
    for title, groups in (
        ("missing", by_size),
        ("asked given", by_kind),
        ("network", by_network),
    ):
        table = []
        for (first, rows), sets in sorted(groups.items()):
            ratio = np.median([a[WAYS[2]][1] / a[WAYS[1]][1] for answers in sets for a in answers])
            shares = [coverage(sets, way) for way in WAYS]
            table.append([str(first), f"{rows:,}", str(len(sets)), *shares, f"{ratio:.2f}"])
        print(TextTable([title, *header[1:]], table, left=1), end="\n\n")


def coverage(sets: list[list[dict[str, Any]]], way: str) -> str:
    """The share of answers whose interval covers the truth, with its standard error."""
    covered = np.array([sum(answer[way][0] for answer in answers) for answers in sets])
    asked = np.array([len(answers) for answers in sets])
    share = covered.sum() / asked.sum()
    error = np.sqrt(np.square(covered - share * asked).sum()) / asked.sum()
    return f"{share:.3f} ± {error:.3f}"


if __name__ == "__main__":
    main()
