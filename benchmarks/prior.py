"""How near the truth a rule for the prior comes, against one pseudo-count per cell.

    prior.py run RESULTS.jsonl SEED SECONDS GROUP [FOLDER]
    prior.py report RESULTS.jsonl ...

GROUP is ``choose`` or ``judge`` (the networks of the folder, halved by the CRC-32 of their names),
``bundled``, or ``random`` (rows drawn from Dirichlet distributions of concentration .2, 1 and 3).
``run`` appends one line for each problem (a network, a way of going missing, a number of rows), for
so much processor time, and goes on where it was stopped. Each line has the Kullback-Leibler
divergence of EM under every rule (one start: factored-mar, or the first fit where the rule learns
from it), and of every method as `lacunet.learn` runs it, with one pseudo-count per cell and with
the learned prior; ``report`` prints the tables of docs/prior.md.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from time import process_time

import numpy as np

import lacunet as lc
from lacunet.data.table import EncodedTable
from lacunet.estimate.em.climb import Limits, climb
from lacunet.estimate.prior import Components, learn_prior, log_likelihood
from lacunet.formats.catalogue import example, names
from lacunet.inference.engine import Engine, engine_of
from lacunet.inference.joint import family_marginals
from lacunet.model.network import FloatArray, Network
from lacunet.simulation.at_random import MAR, MCAR
from lacunet.simulation.simulate import simulate
from lacunet.statistics.gather import Compiling, Gathering, Needs
from lacunet.statistics.observations import Held
from lacunet.statistics.problems.layout import Layout
from lacunet.wording import text_table

MECHANISMS = {"mcar": MCAR(0.6, 0.4), "mar": MAR(0.5, 2, (1.0, 0.5))}
SIZES = (300, 1000)
TOO_LARGE = ("water", "munin1", "barley")
CONCENTRATIONS = ("0.2", "1", "3")
RANDOM_NETWORKS = 4  # of each concentration
FIRST_FIT = 0.25  # pseudo-counts per cell
METHODS = ("em", "auto", "factored-mar", "direct-mar", "direct-mcar")
TEN = Components((0.02, 0.06, 0.2, 0.5, 1, 2), (1, 4, 16, 64), (0.1,) * 10, power=1.0)
ALIKE_ONLY = Components(like_neighbours=(), belief=(0.0, 0.0, 1.0, 0.0))
Tables = Mapping[str, FloatArray]
MEMORY = 2**30


def one_strength(counts_of: Tables) -> float:
    """One pseudo-count for all cells: the likeliest of a grid from .05 to 1."""
    grid = np.geomspace(0.05, 1.0, 25)

    def evidence(value: float) -> float:
        tables = counts_of.values()
        return sum(float(log_likelihood(own, np.full(own.shape, value)).sum()) for own in tables)

    return float(grid[np.argmax([evidence(value) for value in grid])])


def rules(expected: Tables, shown: Tables) -> dict[str, Tables | float]:
    """The pseudo-counts of every rule."""
    both = {name: (own + shown[name]) / 2 for name, own in expected.items()}
    return {
        "2": 1.0,
        "0.5 for all": 0.5,
        "one strength by likelihood": one_strength(shown),
        "alike only": learn_prior(expected, components=ALIKE_ONLY),
        "ten components": learn_prior(both, components=TEN),
        "learned": learn_prior(expected),
    }


def by_rules(network: Network, table: EncodedTable) -> dict[str, float]:
    """The divergence of EM from one start, under every rule."""
    bare = network.with_tables(None)
    needs = Needs(bare.families, problems=Compiling(bare))
    statistics = Held(table).gather(Gathering(needs, bare))
    engine = engine_of(statistics.problems, MEMORY)
    layout: Layout = engine.problems.layout
    closed = lc.learn(bare, table, "factored-mar", prior=2).network
    start = layout.flat({name: closed.cpt(name).table for name in bare.variables})
    first = fitted(engine, start, FIRST_FIT)
    expected = layout.tables(engine.expect(first).counts)
    shown = {name: statistics.counts[bare.family(name)].dense() for name in bare.variables}
    found = {}
    for name, pseudo in rules(expected, shown).items():
        if isinstance(pseudo, float):
            cells = fitted(engine, start, pseudo)
        else:
            cells = fitted(engine, first, layout.flat(dict(pseudo)))
        found[name] = divergence(network, bare.with_tables(layout.tables(cells)))
    return found


def fitted(engine: Engine, start: FloatArray, pseudo: float | FloatArray) -> FloatArray:
    return climb(engine, start, 1 + pseudo, Limits(1e-4, 500)).cells


def measured(network: Network, table: EncodedTable) -> dict[str, object]:
    """The divergences of one problem, by rules (EM, one start) and by methods."""
    bare = network.with_tables(None)
    by_method, seconds, words = {}, {}, ""
    for name, prior in product(METHODS, (2, "learn")):
        key = f"{name} {'learned' if prior == 'learn' else prior}"
        began = process_time()
        result = lc.learn(bare, table, name, prior)
        seconds[key] = process_time() - began
        by_method[key] = divergence(network, result.network)
        words = str(result.prior) if key == "em learned" else words
    found = {"rules": by_rules(network, table), "methods": by_method}
    return found | {"seconds": seconds, "words": words}


def drawn(
    network: Network, mechanism: str, rows: int, rng: np.random.Generator
) -> EncodedTable | None:
    """Rows, unless values cannot go missing so, or a variable is never shown."""
    try:
        table = simulate(network, rows, MECHANISMS[mechanism], rng).table
    except lc.LacunetError:
        return None  # too few variables
    # A hidden variable's states have no names to compare by.
    if not table.partially_observed or max(table.missing_of.values()) == rows:
        return None
    return table


def divergence(truth: Network, learned: Network) -> float:
    """The Kullback-Leibler divergence of a network from the truth."""
    weights = family_marginals(truth, memory=MEMORY)
    total = 0.0
    for name, weight in weights.items():
        possible = weight > 0
        ratio = truth.cpt(name).table[possible] / learned.cpt(name).table[possible]
        total += float(weight[possible] @ np.log(ratio))
    return total


def networks(group: str, folder: Path | None) -> Iterator[tuple[str, Callable[[], Network]]]:
    """The names of a group's networks, and how to have each."""
    if group == "bundled":
        for name in names():
            if name not in TOO_LARGE:
                yield name, lambda name=name: example(name)
    elif group == "random":
        for concentration, place in product(CONCENTRATIONS, range(RANDOM_NETWORKS)):
            name = f"Dirichlet({concentration}) {place}"
            yield name, lambda a=float(concentration), i=place: dirichlet_network(a, i)
    else:
        if folder is None:
            sys.exit("published networks need a folder of network files")
        for path in sorted(folder.iterdir()):
            name = path.name.split(".")[0]
            if zlib.crc32(name.encode()) % 2 == ("choose", "judge").index(group):
                yield name, lambda path=path: lc.read_network(path)


def dirichlet_network(concentration: float, place: int) -> Network:
    """A network of 6 to 12 variables of 2 to 4 states, up to 3 parents, rows by a Dirichlet."""
    rng = np.random.default_rng([int(1000 * concentration), place])
    variables = [f"X{i}" for i in range(rng.integers(6, 13))]
    states = {name: [str(k) for k in range(rng.integers(2, 5))] for name in variables}
    parents = {}
    for i, name in enumerate(variables):
        chosen = rng.choice(i, min(i, rng.integers(0, 4)), replace=False) if i else []
        parents[name] = [variables[at] for at in sorted(chosen)]
    bare = Network(states, parents)
    tables = {}
    for name in variables:
        rows = rng.dirichlet(
            np.full(len(states[name]), concentration), bare.shape(bare.parents(name))
        )
        rows = np.maximum(rows, 1e-12)  # what underflows
        tables[name] = rows / rows.sum(axis=-1, keepdims=True)
    return bare.with_tables(tables)


def run(results: Path, seed: int, seconds: float, group: str, folder: Path | None) -> None:
    results.touch()
    done = {tuple(json.loads(line)["key"]) for line in results.read_text().splitlines()}
    began = process_time()
    for (name, read), mechanism, rows in product(networks(group, folder), MECHANISMS, SIZES):
        key = (group, name, mechanism, rows, seed)
        if key in done:
            continue
        if process_time() - began > seconds:
            return
        chance = np.random.default_rng([seed, zlib.crc32(f"{name} {mechanism} {rows}".encode())])
        network = read()
        table = drawn(network, mechanism, rows, chance)
        line = {"key": key} | ({"skipped": True} if table is None else measured(network, table))
        with results.open("a") as file:
            file.write(json.dumps(line) + "\n")


def report(lines: Iterable[dict]) -> None:
    groups = defaultdict(list)
    for line in lines:
        groups[line["key"][0]].append(line)
    for group, found in groups.items():
        problems = [line for line in found if "skipped" not in line]
        print(f"\n## {group}: {len(problems)} problems ({len(found) - len(problems)} impossible)\n")
        parts = {"all": problems}
        for at in (2, 3):
            for value in dict.fromkeys(line["key"][at] for line in problems):
                parts[str(value)] = [line for line in problems if line["key"][at] == value]
        if group == "random":
            for value in CONCENTRATIONS:
                start = f"Dirichlet({value})"
                parts[start] = [own for own in problems if own["key"][1].startswith(start)]
        parts = {name: part for name, part in parts.items() if part}
        every = [
            [rule, *(summary(own, "rules", rule, "2") for own in parts.values())]
            for rule in problems[0]["rules"]
            if rule != "2"
        ]
        print(text_table(["em, one start", *parts], every, left=1))
        for against in ("its own", "em"):
            every = []
            for name in METHODS:
                base = f"{name if against == 'its own' else 'em'} 2"
                own = f"{name} learned"
                every.append(
                    [name, *(summary(part, "methods", own, base) for part in parts.values())]
                )
            print(f"\nlearned prior, against {against} with prior 2")
            print(text_table(["method", *parts], every, left=1))
        every = [
            [
                words,
                *(
                    summary(part, "methods", f"auto {words}", f"em {words}")
                    for part in parts.values()
                ),
            ]
            for words in ("2", "learned")
        ]
        print("\nauto against em")
        print(text_table(["prior", *parts], every, left=1))
        for what in problems[0]["seconds"]:
            taken = [own["seconds"][what] for own in problems]
            print(f"median processor seconds of {what}: {np.median(taken):.4f}", end="; ")
        print()


def summary(problems: list[dict], what: str, rule: str, base: str) -> str:
    """Geometric mean of the ratios, share more than 5% worse, worst."""
    ratios = np.array([own[what][rule] / own[what][base] for own in problems])
    mean = np.exp(np.log(ratios).mean())
    return f"{mean:.3f} {np.mean(ratios > 1.05):.0%} {ratios.max():.1f}"


if __name__ == "__main__":
    if sys.argv[1] == "report":
        text = "".join(Path(path).read_text() for path in sys.argv[2:])
        report([json.loads(line) for line in text.splitlines()])
    else:
        where = Path(sys.argv[6]) if sys.argv[6:] else None
        run(Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), sys.argv[5], where)
