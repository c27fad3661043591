"""How near the truth a rule for the prior comes, against one pseudo-count per cell.

    python -m studies.statistics.prior run RESULTS.jsonl SEED SECONDS GROUP
        [--folder FOLDER] [--rows 300 1000] [--missing mcar mar mnar ...]
        [--methods em auto ...] [--rules]
    python -m studies.statistics.prior report RESULTS.jsonl ...

GROUP is ``choose`` or ``judge`` (the networks of the folder, halved by the CRC-32 of their names),
``bundled``, ``large`` (those bundled that the others leave out, having more than 4,000 cells), or
``random`` (rows drawn from Dirichlet distributions of concentration .2, 1 and 3).
``run`` appends one line for each problem (a network, a way of going missing, a number of rows), for
so much processor time, and goes on where it was stopped. Each line has the Kullback-Leibler
divergence of every method as `lacunet.learn` runs it, with one pseudo-count per cell and with the
learned prior (where values are missing not at random: of every method with the missingness graph).
It is exact wherever the family marginals of the truth are (all networks but the largest, whose
parents' states are then counted in two million samples);
with ``--rules`` also that of EM under other rules for the prior, each going on from where EM ended
with one pseudo-count per cell. ``report`` prints the tables of docs/prior.md
and of docs/details/prior.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise, product
from pathlib import Path
from time import process_time

import numpy as np

import lacunet as lc
from lacunet.counts.em_problems.cell_layout import Layout
from lacunet.counts.gather import Compiling, Gathering, Needs
from lacunet.counts.observations import Held
from lacunet.data.table import EncodedTable
from lacunet.inference.engine import Engine, engine_of
from lacunet.inference.errors import OverBudgetError
from lacunet.inference.joint import family_marginals
from lacunet.learning.em.iterations import Limits, climb
from lacunet.learning.pseudo_counts import (
    Components,
    learn_pseudo_counts,
    log_dirichlet_multinomial,
)
from lacunet.missingness.graph import MissingnessGraph
from lacunet.network.catalogue import bundled_names, example
from lacunet.network.network import FloatArray, Network
from lacunet.simulation.at_random import MAR, MCAR
from lacunet.simulation.by_graph import MissingByGraph
from lacunet.simulation.simulate import Simulation, simulate
from lacunet.text_tables import TextTable
from studies.statistics.regret import sampled_marginals

MECHANISMS = {
    "mcar": MCAR(0.4, share=0.6),
    "mar": MAR(share=0.5, parents=2, beta=(1.0, 0.5)),
    "mcar-10": MCAR(0.1),
    "mcar-70": MCAR(0.7, share=0.6),
    "mar-90": MAR(share=0.9, parents=2, beta=(0.5, 0.5)),
    "thin": MCAR(0.99, share=0.3),  # a few rows show a variable
}
USUAL = ("mcar", "mar")
SIZES = (300, 1000)
CONCENTRATIONS = ("0.2", "1", "3")
RANDOM_NETWORKS = 4  # of each concentration
MOST_CELLS = 4_000  # of a network's CPTs
MADE_UP = ("screening",)  # an example for the documentation, of 14 cells; the others are published
METHODS = ("em", "auto", "factored-mar", "direct-mar", "direct-mcar")
TEN = Components((0.02, 0.06, 0.2, 0.5, 1, 2), (1, 4, 16, 64), (0.1,) * 10, power=1.0)
ALIKE_ONLY = Components(like_neighbours=(), belief=(0.0, 0.0, 0.0, 2.0, 0.0))


class TowardsMargin(Components):
    """Pseudo-counts shared out like the margin of the variable in place of equally.

    The margin is that of the other CPT rows, and of one row that is spread equally.
    """

    def pseudo_counts(self, counts: FloatArray, possible: FloatArray) -> Iterator[FloatArray]:
        """The pseudo-counts of CPTs of one shape, side by side, under each component."""
        cells = possible.sum(axis=-1, keepdims=True)
        shares = margin_shares(counts, possible)
        for per_cell in self.alike:
            yield per_cell * cells * shares
        yield from [*super().pseudo_counts(counts, possible)][len(self.alike) :]


class AlsoTowardsMargin(Components):
    """The components as they are, and some whose pseudo-counts are shared out like the margin."""

    def pseudo_counts(self, counts: FloatArray, possible: FloatArray) -> Iterator[FloatArray]:
        """The pseudo-counts of CPTs of one shape, side by side, under each component."""
        yield from super().pseudo_counts(counts, possible)
        shares = margin_shares(counts, possible)
        for per_row in (0.5, *self.like_neighbours):
            yield per_row * shares


class HalfTowardsMargin(TowardsMargin):
    """Pseudo-counts shared out halfway between equally and like the margin of the variable."""

    def pseudo_counts(self, counts: FloatArray, possible: FloatArray) -> Iterator[FloatArray]:
        """The pseudo-counts of CPTs of one shape, side by side, under each component."""
        towards_margin = super().pseudo_counts(counts, possible)
        for margin, equal in zip(
            towards_margin, Components.pseudo_counts(self, counts, possible), strict=True
        ):
            yield (margin + equal) / 2


class MarginForNeighbours(Components):
    """The components that are like neighbouring rows are like the margin."""

    def pseudo_counts(self, counts: FloatArray, possible: FloatArray) -> Iterator[FloatArray]:
        """The pseudo-counts of CPTs of one shape, side by side, under each component."""
        yield from [*super().pseudo_counts(counts, possible)][: len(self.alike)]
        shares = margin_shares(counts, possible)
        for per_row in self.like_neighbours:
            yield per_row * shares


def margin_shares(counts: FloatArray, possible: FloatArray) -> FloatArray:
    """The shares of the states in all other rows of the CPT; without parents equal shares."""
    equal = possible / np.maximum(possible.sum(axis=-1, keepdims=True), 1)
    rows = tuple(range(1, counts.ndim - 1))
    if not rows:
        return equal
    others = np.where(possible, counts.sum(axis=rows, keepdims=True) - counts + equal, 0.0)
    return others / others.sum(axis=-1, keepdims=True)


MARGIN_TOO = AlsoTowardsMargin(belief=(0.0, 0.0, 0.0, 2.0, *[0.0] * 8))  # 12 components
Tables = Mapping[str, FloatArray]
Judge = Callable[[Network], float]
MEMORY = 2**30


def one_strength(counts_of: Tables) -> float:
    """One pseudo-count for all cells: the likeliest of a grid from .05 to 1."""
    grid = np.geomspace(0.05, 1.0, 25)

    def evidence(value: float) -> float:
        tables = counts_of.values()
        return sum(
            float(log_dirichlet_multinomial(own, np.full(own.shape, value)).sum()) for own in tables
        )

    return float(grid[np.argmax([evidence(value) for value in grid])])


def rules(expected: Tables, shown: Tables) -> dict[str, Tables | float]:
    """The pseudo-counts of every rule."""
    both = {name: (own + shown[name]) / 2 for name, own in expected.items()}
    return {
        "2": 1.0,
        "0.5 for all": 0.5,
        "one strength by likelihood": one_strength(shown),
        "alike only": learn_pseudo_counts(expected, components=ALIKE_ONLY),
        "ten components": learn_pseudo_counts(both, components=TEN),
        "margin for equal shares": learn_pseudo_counts(expected, components=TowardsMargin()),
        "half margin, half equal": learn_pseudo_counts(expected, components=HalfTowardsMargin()),
        "margin for neighbours": learn_pseudo_counts(expected, components=MarginForNeighbours()),
        "margin too": learn_pseudo_counts(expected, components=MARGIN_TOO),
        "learned": learn_pseudo_counts(expected),
    }


def by_rules(network: Network, table: EncodedTable, judge: Judge) -> dict[str, float]:
    """The divergence of EM under every rule, from where it ends with one pseudo-count per cell."""
    bare = network.with_tables(None)
    needs = Needs(bare.families, problems=Compiling(bare))
    statistics = Held(table).gather(Gathering(needs, bare))
    engine = engine_of(statistics.problems, MEMORY)
    layout: Layout = engine.problems.layout
    first = lc.learn(bare, table, "em", pseudo_counts=1).network
    start = layout.flat({name: first.cpt(name).table for name in bare.variables})
    expected = layout.tables(engine.expect(start).counts)
    shown = {name: statistics.counts[bare.family(name)].dense() for name in bare.variables}
    found = {}
    for name, pseudo in rules(expected, shown).items():
        cells = fitted(
            engine, start, pseudo if isinstance(pseudo, float) else layout.flat(dict(pseudo))
        )
        found[name] = judge(bare.with_tables(layout.tables(cells)))
    return found


def fitted(engine: Engine, start: FloatArray, pseudo: float | FloatArray) -> FloatArray:
    return climb(engine, start, pseudo, Limits(1e-4, 500)).cells


def measured(
    network: Network,
    drawn: Simulation,
    missing: str,
    methods: Iterable[str],
    with_rules: bool,
    judge: Judge,
) -> dict[str, object]:
    """The divergences of one problem, by methods and by rules."""
    bare, table = network.with_tables(None), drawn.table
    by_method, seconds, ended, words = {}, {}, {}, ""
    for name, pseudo_counts in product(methods, (1, "learn")):
        key = f"{name} {'learned' if pseudo_counts == 'learn' else pseudo_counts}"
        options = {"missingness": drawn.graph} if missing == "mnar" else {}
        if name == "mgraph":
            options["otherwise"] = "em"
        began = process_time()
        result = lc.learn(bare, table, name, pseudo_counts=pseudo_counts, **options)
        seconds[key] = process_time() - began
        by_method[key] = judge(result.network)
        ended[key] = "" if result.ended is None else result.ended.reason
        words = str(result.pseudo_counts) if pseudo_counts == "learn" and not words else words
    found = {"methods": by_method, "seconds": seconds, "ended": ended, "words": words}
    return found | ({"rules": by_rules(network, table, judge)} if with_rules else {})


def in_a_chain(network: Network, rng: np.random.Generator) -> MissingByGraph:
    """Missing not at random: half of the variables, whether each is shown depends on the next.

    The last of them goes missing completely at random.
    """
    chosen = rng.permutation(list(network.variables))[: -(-len(network.variables) // 2)]
    causes = {name: (after,) for name, after in pairwise(chosen)} | {chosen[-1]: ()}
    return MissingByGraph(MissingnessGraph(network, causes), beta=(1.0, 2.0))


def drawn(
    network: Network, mechanism: str, rows: int, rng: np.random.Generator
) -> Simulation | None:
    """Rows, unless values cannot go missing so, or a variable is never shown."""
    missing = in_a_chain(network, rng) if mechanism == "mnar" else MECHANISMS[mechanism]
    try:
        made = simulate(network, rows, missing, rng=rng)
    except lc.LacunetError:
        return None  # too few variables
    # A hidden variable's states have no names to compare by.
    if not made.table.partially_observed or max(made.table.missing_of.values()) == rows:
        return None
    return made


def judge_of(truth: Network) -> Judge:
    """The Kullback-Leibler divergence of a network from the truth."""
    try:
        weights = family_marginals(truth, memory=MEMORY)
    except OverBudgetError:
        weights = sampled_marginals(truth)

    def divergence(learned: Network) -> float:
        total = 0.0
        for name, weight in weights.items():
            possible = weight > 0
            ratio = truth.cpt(name).table[possible] / learned.cpt(name).table[possible]
            total += float(weight[possible] @ np.log(ratio))
        return total

    return divergence


def networks(group: str, folder: Path | None) -> list[tuple[str, Network]]:
    """A group's networks, those of few cells first."""
    found = [
        (name, network)
        for name, network in all_networks(group, folder)
        if (cells_of(network) > MOST_CELLS) == (group == "large")
    ]
    return sorted(found, key=lambda own: cells_of(own[1]))


def cells_of(network: Network) -> int:
    return sum(cpt.table.size for cpt in network.cpts)


def all_networks(group: str, folder: Path | None) -> Iterator[tuple[str, Network]]:
    if group in ("bundled", "large"):
        for name in sorted(set(bundled_names()).difference(MADE_UP)):
            yield name, example(name)
    elif group == "random":
        for concentration, place in product(CONCENTRATIONS, range(RANDOM_NETWORKS)):
            yield (
                f"Dirichlet({concentration}) {place}",
                dirichlet_network(float(concentration), place),
            )
    else:
        if folder is None:
            sys.exit("published networks need a folder of network files")
        for path in sorted(folder.iterdir()):
            name = path.name.split(".")[0]
            if zlib.crc32(name.encode()) % 2 == ("choose", "judge").index(group):
                yield name, lc.read_network(path)


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


def run(given: argparse.Namespace) -> None:
    given.results.touch()
    done = {tuple(json.loads(line)["key"]) for line in given.results.read_text().splitlines()}
    began = process_time()
    for name, network in networks(given.group, given.folder):
        judge: Judge | None = None
        for mechanism, rows in product(given.missing, given.rows):
            key = (given.group, name, mechanism, rows, given.seed)
            if key in done:
                continue
            if process_time() - began > given.seconds:
                return
            text = f"{name} {mechanism} {rows}"
            chance = np.random.default_rng([given.seed, zlib.crc32(text.encode())])
            made = drawn(network, mechanism, rows, chance)
            line: dict[str, object] = {"key": key, "skipped": True}
            if made is not None:
                judge = judge or judge_of(network)
                found = measured(network, made, mechanism, given.methods, given.rules, judge)
                line = {"key": key} | found
            with given.results.open("a") as file:
                file.write(json.dumps(line) + "\n")


def report(lines: Iterable[dict]) -> None:
    groups = defaultdict(list)
    for line in lines:
        groups[line["key"][0]].append(line)
    for group, found in groups.items():
        problems = [line for line in found if "skipped" not in line]
        print(f"\n## {group}: {len(problems)} problems ({len(found) - len(problems)} left out)\n")
        parts = parts_of(group, problems)
        if all("rules" in line for line in problems):
            every = [
                [rule, *(summary(own, "rules", rule, "2") for own in parts.values())]
                for rule in problems[0]["rules"]
                if rule != "2"
            ]
            print(TextTable(["em", *parts], every, left=1))
        methods = dict.fromkeys(key.split()[0] for key in problems[0]["methods"])
        pairs = {name: (f"{name} learned", f"{name} 1") for name in methods}
        if {"auto", "em"} <= set(methods):
            pairs |= {
                f"auto, em: pseudo-counts {added}": (f"auto {added}", f"em {added}")
                for added in ("1", "learned")
            }
        every = [
            [name, *(summary(part, "methods", *pair) for part in parts.values())]
            for name, pair in pairs.items()
        ]
        print("\nlearned pseudo-counts, against 1 per cell")
        print(TextTable(["method", *parts], every, left=1))
        for name in methods:
            taken = [[own["seconds"][f"{name} {p}"] for p in ("1", "learned")] for own in problems]
            two, learned = np.array(taken).T
            print(
                f"processor seconds of {name}: {np.median(two):.4f} and {np.median(learned):.4f} "
                f"(medians); ratio {np.median(learned / two):.2f}, of the sums "
                f"{learned.sum() / two.sum():.2f}"
            )


def parts_of(group: str, problems: list[dict]) -> dict[str, list[dict]]:
    """All problems, and those of each mechanism, number of rows and kind of network."""
    parts = {"all": problems}
    for at in (2, 3, *([1] if group == "bundled" else [])):
        for value in dict.fromkeys(line["key"][at] for line in problems):
            parts[str(value)] = [line for line in problems if line["key"][at] == value]
    if group == "random":
        for value in CONCENTRATIONS:
            start = f"Dirichlet({value})"
            parts[start] = [own for own in problems if own["key"][1].startswith(start)]
    return {name: part for name, part in parts.items() if part}


def summary(problems: list[dict], what: str, rule: str, base: str) -> str:
    """Geometric mean of the ratios, share more than 5% worse, worst."""
    ratios = np.array([own[what][rule] / own[what][base] for own in problems])
    mean = np.exp(np.log(ratios).mean())
    return f"{mean:.3f} {np.mean(ratios > 1.05):.0%} {ratios.max():.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(required=True)
    to_run = commands.add_parser("run")
    to_run.set_defaults(does=run)
    to_run.add_argument("results", type=Path)
    to_run.add_argument("seed", type=int)
    to_run.add_argument("seconds", type=float)
    to_run.add_argument("group", choices=["choose", "judge", "bundled", "large", "random"])
    to_run.add_argument("--folder", type=Path)
    to_run.add_argument("--rows", type=int, nargs="+", default=SIZES)
    to_run.add_argument("--missing", nargs="+", default=USUAL)
    to_run.add_argument("--methods", nargs="+", default=METHODS)
    to_run.add_argument("--rules", action="store_true")
    to_report = commands.add_parser("report")
    to_report.set_defaults(does=lambda given: report(map(json.loads, lines_of(given.results))))
    to_report.add_argument("results", type=Path, nargs="+")
    given = parser.parse_args()
    given.does(given)


def lines_of(paths: Iterable[Path]) -> list[str]:
    return [line for path in paths for line in path.read_text().splitlines()]


if __name__ == "__main__":
    main()
