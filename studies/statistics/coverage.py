"""How often 95% intervals cover the truth: data drawn anew, learned by `learn`, and looked up.

Entries count whose CPT row has at least 30 rows that show the family with these parents'
states; answers of queries always. Every data set adds a line to a file, so that a run that was
cut short goes on where it was; the table is made from the file. With ``--cost``, the processor
time of intervals on Alarm with 10^5 rows against that of the fit:

    python -m studies.statistics.coverage coverage.jsonl [--sets 200]
        [--only survey prior several ...] [--methods NAME ...] [--cost]
"""

from __future__ import annotations

import argparse
import json
import warnings
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from time import process_time

import numpy as np

import lacunet as lc
from lacunet.data.table import EncodedTable
from lacunet.inference.sampling import sample_codes
from lacunet.network.network import Network
from lacunet.simulation.at_random import MAR, MCAR
from lacunet.simulation.simulate import hide_cells
from studies.statistics import mnar_consistency as five
from studies.statistics.prior import dirichlet_network

ENOUGH = 30  # rows that support a CPT row
Draw = Callable[[np.random.Generator], EncodedTable]
Methods = dict[str, dict[str, object]]


def problems() -> Iterator[tuple[str, Network, Draw, Methods]]:
    survey = lc.example("survey")
    missing = MAR(share=0.5, parents=2, beta=(1.0, 2.0)).draw(survey, np.random.default_rng(3))
    yield (
        "survey, MAR, 3 of 6 variables incomplete, 2,000 rows",
        survey,
        lambda rng: hide_cells(sample_codes(survey, 2000, rng), missing, rng),
        {
            "direct-mar": {"method": "direct-mar"},
            "direct-mar, no pseudo-counts": {"method": "direct-mar", "pseudo_counts": 0.0},
            "factored-mar": {"method": "factored-mar"},
            "em": {"method": "em"},
        },
    )
    for rows in (300, 1_000, 10_000):
        yield (
            f"prior, survey, MAR, 3 of 6 variables incomplete, {rows:,} rows",
            survey,
            lambda rng, n=rows: hide_cells(sample_codes(survey, n, rng), missing, rng),
            {
                f"{method}, pseudo-counts {added}": {"method": method, "pseudo_counts": added}
                for method in ("direct-mar", "em")
                for added in (1, "learn")
            },
        )
    several = {name: lc.example(name) for name in ("cancer", "asia", "sachs", "child")}
    several["Dirichlet(1)"] = dirichlet_network(1.0, 0)
    going = {"MAR": MAR(share=0.5, parents=2, beta=(1.0, 2.0)), "MCAR": MCAR(0.4, share=0.5)}
    for (name, truth), (how, goes), rows in product(
        several.items(), going.items(), (300, 1_000, 10_000)
    ):
        drawn = goes.draw(truth, np.random.default_rng(3))
        problem = f"several, {name}, {how}, {rows:,} rows"

        def draw(rng, truth=truth, rows=rows, drawn=drawn, problem=problem):
            # Data sets of one number have nothing in common: the problems are put together.
            rng = np.random.default_rng([zlib.crc32(problem.encode()), rng.integers(2**62)])
            return hide_cells(sample_codes(truth, rows, rng), drawn, rng)

        yield (
            problem,
            truth,
            draw,
            {
                f"{method}, pseudo-counts learned": {
                    "method": method,
                    "pseudo_counts": "learn",
                }
                for method in ("auto", "em", "direct-mar", "factored-mar")
            },
        )
    alarm = lc.example("alarm")
    few = MAR(share=0.3, parents=2, beta=(1.0, 2.0)).draw(alarm, np.random.default_rng(5))
    yield (
        "alarm, MAR, 11 of 37 variables incomplete, 5,000 rows",
        alarm,
        lambda rng: hide_cells(sample_codes(alarm, 5000, rng), few, rng),
        {
            "direct-mar": {"method": "direct-mar"},
            "informed-direct, true separator": {
                "method": "informed-direct",
                "groups": few.separator,
            },
            "informed-direct, learned": {"method": "informed-direct", "groups": "learn"},
            "em": {"method": "em"},
            "factored-mar": {"method": "factored-mar"},
        },
    )
    for name, rows in product(("the paper's pair", "a ring"), (1_000, 5_000)):
        graph = five.graph_of(name)
        law = np.random.default_rng([1, list(five.GRAPHS).index(name)])
        truth, shows = five.law_of(graph, law)
        yield (
            f"mnar, {name}, {rows:,} rows",
            truth,
            lambda rng, g=graph, t=truth, s=shows, n=rows: five.sample(g, t, s, n, rng),
            {
                f"{method} on the graph": {"method": method, "missingness": graph}
                for method in ("em", "mgraph")
            },
        )


def questions(truth: Network, incomplete: list[str]) -> list[tuple[str, dict[str, str]]]:
    """Of a few incomplete variables: by itself, and given one without children if there is."""
    leaves = [v for v in truth.variables if not any(v in truth.parents(c) for c in truth.variables)]
    leaves += truth.variables
    asked = []
    for name in incomplete[:3]:
        seen = next(leaf for leaf in leaves if leaf != name)
        asked += [(name, {}), (name, {seen: truth.states(seen)[0]})]
    return asked


def judged(truth: Network, result: lc.Result) -> tuple[str, str]:
    """For every entry, and every state asked about: covered (1), missed (0), not counted (-)."""
    signs = []
    for name in truth.variables:
        right = truth.cpt(name).table
        counts = (result.families[name].support >= ENOUGH)[..., None] & (right > 0) & (right < 1)
        low, high = np.moveaxis(result.interval(name), -1, 0)
        inside = (low <= right) & (right <= high)
        signs += np.where(counts, np.where(inside, "1", "0"), "-").ravel().tolist()
    asked = []
    for target, evidence in questions(truth, [v for v, n in result.missing.items() if n]):
        right = truth.query(target, evidence)
        both = result.query(target, evidence).interval
        asked += [
            "01"[bool(lo <= p <= hi)] for p, (lo, hi) in zip(right.values(), both, strict=True)
        ]
    return "".join(signs), "".join(asked)


def study(file: Path, sets: int, only: list[str], asked: list[str]) -> None:
    lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    done = {(line["problem"], line["method"], line["set"]) for line in lines}
    chosen = [own for own in problems() if any(own[0].startswith(word) for word in only)]
    for seed, (problem, truth, draw, methods) in product(range(sets), chosen):
        bare = truth.with_tables(None)
        for method, options in methods.items():
            is_asked = not asked or method.split(",")[0].split()[0] in asked
            if not is_asked or (problem, method, seed) in done:
                continue
            table = draw(np.random.default_rng([17, seed]))
            result = lc.learn(bare, table, intervals=True, **{"pseudo_counts": 1.0} | options)
            entries, answers = judged(truth, result)
            line = {"problem": problem, "method": method, "set": seed}
            line |= {"recipe": result.uncertainty.recipe}
            with file.open("a") as out:
                out.write(json.dumps(line | {"entries": entries, "answers": answers}) + "\n")


def coverage(signs: list[str], least: int) -> tuple[int, float, float]:
    """The number of entries, their mean coverage, and the share between 92% and 98%."""
    found = np.array([list(line) for line in signs])
    counted = (found != "-").sum(axis=0)
    kept = counted >= least
    shares = (found == "1").sum(axis=0)[kept] / counted[kept]
    return int(kept.sum()), float(shares.mean()), float(np.mean(abs(shares - 0.95) <= 0.03 + 1e-9))


def show(file: Path) -> None:
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for problem, method in dict.fromkeys((line["problem"], line["method"]) for line in lines):
        own = [line for line in lines if (line["problem"], line["method"]) == (problem, method)]
        entries = coverage([line["entries"] for line in own], len(own) // 2)
        answers = coverage([line["answers"] for line in own], 1)
        print(
            f"| {problem} | {method} | {own[0]['recipe']} | {len(own)} | {entries[0]} "
            f"| {entries[1]:.3f} | {entries[2]:.0%} | {answers[0]} | {answers[1]:.3f} |"
        )


def show_together(file: Path) -> None:
    """Over all networks and mechanisms: by method and rows, with standard errors over data sets."""
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    groups = defaultdict(list)
    for line in lines:
        kind, *_, rows = line["problem"].split(", ")
        if kind == "several":
            groups[line["method"], int(rows.split()[0].replace(",", ""))].append(line)
    for (method, rows), own in sorted(groups.items()):
        cells = [together([line[what] for line in own]) for what in ("entries", "answers")]
        print(f"| {method} | {rows:,} | {len(own)} | {' | '.join(cells)} |")


def together(signs: list[str]) -> str:
    """The share that is covered of all that count, and its standard error over data sets."""
    covered, missed = (np.array([line.count(sign) for line in signs]) for sign in "10")
    counted = covered + missed
    share = covered.sum() / counted.sum()
    error = np.sqrt(((covered - share * counted) ** 2).sum()) / counted.sum()
    return f"{share:.3f} ± {error:.3f}"


def cost() -> None:
    """Medians of three, after a first run of everything; rows held, and in a data frame."""
    alarm = lc.example("alarm")
    few = MAR(share=0.3, parents=2, beta=(1.0, 2.0)).draw(alarm, np.random.default_rng(5))
    drawn = lc.simulate(alarm, 100_000, few, rng=np.random.default_rng(1))
    bare = alarm.with_tables(None)
    for rows, data in (("held", drawn.table), ("pandas", drawn.to_frame())):
        for method in ("direct-mar", "em"):
            times: dict[bool, list[float]] = {False: [], True: []}
            for _ in range(4):
                for intervals, taken in times.items():
                    began = process_time()
                    result = lc.learn(bare, data, method, pseudo_counts=1, intervals=intervals)
                    taken.append(process_time() - began)
            began = process_time()
            result.query("CATECHOL", {"BP": "LOW"})
            asked = process_time() - began
            fit, sure = (float(np.median(taken[1:])) for taken in times.values())
            print(
                f"{rows}, {method}: fit {fit:.2f} s, with intervals {sure:.2f} s, "
                f"{sure / fit - 1:.1f} fits more; one query {asked:.2f} s"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, help="where each data set adds a line")
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument(
        "--only", nargs="+", default=["survey", "prior", "several", "alarm", "mnar"]
    )
    parser.add_argument("--methods", nargs="+", default=[], help="of its methods, only these")
    parser.add_argument("--cost", action="store_true")
    chosen = parser.parse_args()
    if chosen.cost:
        cost()
        return
    warnings.simplefilter("ignore", lc.LacunetWarning)  # answers that rest on the prior
    study(chosen.file, chosen.sets, chosen.only, chosen.methods)
    show(chosen.file)
    show_together(chosen.file)


if __name__ == "__main__":
    main()
