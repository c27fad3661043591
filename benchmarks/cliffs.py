"""Costs that should grow as the work grows, beside another commit: processor time in one run.

    git worktree add ../base COMMIT
    python benchmarks/cliffs.py [--base ../base] [--repeats 3] [LINE ...]

A line is a function in `LINES`: it gives cases, each with a size. One process for each source
tree, which take turns at each case; the least of the repeats counts. Cases that differ in their
size alone give a growth: the exponent of the size, or the factor for each unit of it. Cases beside
another one of their size are given as so many times that one.

The other commit may be one before the arguments of `lacunet.learn` were named anew: what is called
differently there is in `learned`, `diagnosed` and `hidden`.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from functools import cache, partial
from inspect import signature
from os import environ
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import lacunet as lc

sys.path.insert(0, str(Path(__file__).parents[1]))


@dataclass(frozen=True)
class Case:
    """Something that takes time; those called alike differ in size alone."""

    what: str
    size: float
    work: Callable[[], object]
    beside: str = ""  # the case of this size that it is compared with

    @property
    def name(self) -> str:
        return f"{self.what}: {self.size:,g}"


@dataclass(frozen=True)
class Line:
    """A line of what should be no cliff."""

    cases: Callable[[], Iterator[Case]]
    axis: str  # what the size is
    is_power: bool = True  # whether time is a power of the size, or a number to the power of it


def learned(network: lc.Network, rows: object, method: object, **options: object) -> object:
    """What is learned with one pseudo-count for each cell."""
    is_new = "pseudo_counts" in signature(lc.learn).parameters
    pseudo_counts = {"pseudo_counts": 1} if is_new else {"prior": 2}
    return lc.learn(network, rows, method, **pseudo_counts, **options)


def diagnosed(network: lc.Network, rows: object) -> object:
    is_new = next(iter(signature(lc.diagnose).parameters)) == "data"
    return lc.diagnose(rows, network) if is_new else lc.diagnose(network, rows)


def hidden(network: lc.Network, rows: int, rate: float, share: float = 1.0) -> Any:
    """Rows of a network, of which a share of the variables lose cells at a rate."""
    table = lc.simulate(network, rows, rng=np.random.default_rng(1)).table
    rng = np.random.default_rng(2)
    names = list(network.variables)
    losing = set(rng.choice(names, round(share * len(names)), replace=False).tolist())
    columns = {
        name: np.where(rng.random(rows) < rate, table.cardinality_of[name], column)
        if name in losing
        else column
        for name, column in table.columns.items()
    }
    return replace(table, columns={name: c.astype(np.uint8) for name, c in columns.items()})


@cache
def alarm(rows: int, *, at_random: bool) -> tuple[lc.Network, Any]:
    """Alarm, three tenths of the variables incomplete: completely at random (70%), or at random."""
    truth = lc.example("alarm")
    bare = truth.with_tables(None)
    if not at_random:
        return bare, hidden(truth, rows, rate=0.7, share=0.3)
    few = lc.MAR(share=0.3, parents=2, beta=(1.0, 2.0)).draw(truth, np.random.default_rng(5))
    return bare, lc.simulate(truth, rows, few, rng=np.random.default_rng(1)).table


def em_start() -> Iterator[Case]:
    """EM, and the closed forms that it may start from."""
    for words, at_random in (("MCAR", False), ("MAR", True)):
        for method in ("em", "direct-mcar", "factored-mcar", "factored-mar"):
            for rows in (10**4, 10**5, 10**6):
                yield Case(
                    f"{method}, {words}",
                    rows,
                    lambda rows=rows, at_random=at_random, method=method: learned(
                        *alarm(rows, at_random=at_random), method
                    ),
                    beside="" if method == "em" else f"em, {words}",
                )


@cache
def many_parents(parents: int) -> tuple[lc.Network, object]:
    """A binary variable with so many binary parents, 10^4 rows, 30% of all values missing."""
    names = [f"P{place}" for place in range(parents)]
    table = np.random.default_rng(0).dirichlet([1, 1], size=(2,) * parents)
    network = lc.Network(
        {name: ["0", "1"] for name in [*names, "X"]},
        {"X": names},
        {**{name: np.array([0.4, 0.6]) for name in names}, "X": table},
    )
    return network.with_tables(None), hidden(network, 10**4, rate=0.3)


def parents() -> Iterator[Case]:
    for method in ("factored-mar", "em", "auto"):
        for number in (6, 8, 10, 11, 12, 14, 16):
            one = {"max_iterations": 1, "restarts": 1} if method == "em" else {}
            yield Case(
                method + (", 1 iteration" if one else ""),
                number,
                lambda number=number, method=method, options=one: learned(
                    *many_parents(number), method, **options
                ),
            )


def intervals() -> Iterator[Case]:
    for words, at_random in (("MCAR", False), ("MAR", True)):
        for method in ("direct-mar", "factored-mar", "em"):
            for sure in (False, True):
                for rows in (10**4, 10**5):
                    yield Case(
                        f"{method}, {words}" + (", intervals" if sure else ""),
                        rows,
                        lambda rows=rows, at_random=at_random, method=method, sure=sure: learned(
                            *alarm(rows, at_random=at_random), method, intervals=sure
                        ),
                        beside=f"{method}, {words}" if sure else "",
                    )


@cache
def incomplete(name: str, rows: int, rate: float, share: float) -> tuple[lc.Network, Any]:
    network = lc.example(name)
    return network.with_tables(None), hidden(network, rows, rate, share)


def diagnosis() -> Iterator[Case]:
    """Munin1; half of the cells of three tenths of the variables, or three tenths of all cells."""
    for words, rate, share in (("half of 30%", 0.5, 0.3), ("30% of all", 0.3, 1.0)):
        for rows in (10**3, 10**4):
            data = partial(incomplete, "munin1", rows, rate, share)
            fit = f"factored-mar, {words}"
            yield Case(fit, rows, lambda data=data: learned(*data(), "factored-mar"))
            yield Case(f"diagnose, {words}", rows, lambda data=data: diagnosed(*data()), beside=fit)


@cache
def wide_grid(side: int, rows: int, rate: float) -> tuple[lc.Network, Any]:
    names = [[f"X{i}_{j}" for j in range(side)] for i in range(side)]
    parents_of = {
        names[i][j]: [names[i - 1][j]] * (i > 0) + [names[i][j - 1]] * (j > 0)
        for i in range(side)
        for j in range(side)
    }
    rng = np.random.default_rng(1)
    tables = {v: rng.dirichlet([1, 1], size=(2,) * len(above)) for v, above in parents_of.items()}
    network = lc.Network({name: ["0", "1"] for name in parents_of}, parents_of, tables)
    return network.with_tables(None), hidden(network, rows, rate)


def treewidth() -> Iterator[Case]:
    """What auto does where much is missing at high treewidth, at most ten minutes of it."""
    least = {"time_limit": 600.0}
    for rate in (0.3, 0.7):
        yield Case(
            f"auto, munin1, {rate:.0%} missing, rows",
            1_000,
            lambda rate=rate: learned(*incomplete("munin1", 1_000, rate, 1.0), "auto", **least),
        )
    for side in (8, 12, 16):
        yield Case(
            "auto, grid of 90% missing, 500 rows, side",
            side,
            lambda side=side: learned(*wide_grid(side, 500, 0.9), "auto", **least),
        )


@cache
def classifier() -> tuple[Any, Any]:
    """A fitted classifier of 20 columns, and one row."""
    from lacunet.sklearn import BayesianNetworkClassifier

    rng = np.random.default_rng(0)
    rows = rng.integers(0, 3, (2_000, 20)).astype(float)
    classes = np.where(rows[:, 0] + rows[:, 1] + rng.normal(size=2_000) > 2, "a", "b")
    rows[rng.random(rows.shape) < 0.2] = np.nan
    return BayesianNetworkClassifier().fit(rows, classes), rows[:1]


def one_row() -> Iterator[Case]:
    def work(times: int) -> None:
        fitted, row = classifier()
        for _ in range(times):
            fitted.predict_proba(row)

    yield Case("predict_proba, calls", 100, lambda: work(100))


@cache
def random_one(variables: int, most_parents: int, states: int) -> lc.Network:
    """A random network, with the number of its variables as the seed."""
    rng = np.random.default_rng(variables)
    names = [f"X{place}" for place in range(variables)]
    parents_of: dict[str, list[str]] = {}
    for place, name in enumerate(names):
        number = min(place, int(rng.integers(most_parents + 1)))
        parents_of[name] = (
            rng.choice(names[:place], number, replace=False).tolist() if number else []
        )
    tables = {
        name: rng.dirichlet([1.0] * states, size=(states,) * len(above))
        for name, above in parents_of.items()
    }
    return lc.Network({name: list(map(str, range(states))) for name in names}, parents_of, tables)


def grown(sizes: Sequence[float], draw: Callable[[Any], tuple[lc.Network, Any]]) -> Iterator[Case]:
    """Every method on data of each size; those for MAR where three tenths are ever missing."""
    for method in ("direct-mcar", "factored-mcar", "direct-mar", "factored-mar", "em"):
        for size in sizes:
            data = draw(size, 0.3 if method.endswith("-mar") else 1.0)
            options = {"restarts": 1} if method == "em" else {}
            yield Case(
                method,
                size,
                lambda data=data, method=method, options=options: learned(
                    *data(), method, **options
                ),
            )


@cache
def random_data(
    share: float, *, variables: int = 40, states: int = 3, rows: int = 10**4, rate: float = 0.2
) -> tuple[lc.Network, Any]:
    network = random_one(variables, 3, states)
    return network.with_tables(None), hidden(network, rows, rate, share)


def random_of(what: str) -> Callable[[Any, float], Callable[[], tuple[lc.Network, Any]]]:
    """Data of random networks, forty variables of three states and 10^4 rows but for one size."""
    return lambda size, share: partial(random_data, share, **{what: size})


LINES: dict[str, Line] = {
    "em start": Line(em_start, "rows"),
    "parents": Line(parents, "binary parents", is_power=False),
    "intervals": Line(intervals, "rows"),
    "diagnosis": Line(diagnosis, "rows"),
    "treewidth": Line(treewidth, "size"),
    "one row": Line(one_row, "calls"),
    "rows": Line(lambda: grown((10**3, 10**4, 10**5), random_of("rows")), "rows"),
    "variables": Line(lambda: grown((20, 40, 80), random_of("variables")), "variables"),
    "states": Line(lambda: grown((2, 4, 8), random_of("states")), "states"),
    "missing": Line(
        lambda: grown((0.1, 0.2, 0.3, 0.4), random_of("rate")), "share missing", is_power=False
    ),
}


def serve(line: str) -> None:
    """Run the cases asked for on stdin; answer with the processor time, or with what went wrong."""
    case_of = {case.name: case for case in LINES[line].cases()}
    for name in sys.stdin:
        with redirect_stdout(io.StringIO()):
            try:
                began = process_time()
                case_of[name.strip()].work()
                answer = str(process_time() - began)
            except Exception as error:
                answer = f"{type(error).__name__}: {error}".splitlines()[0]
        print(answer, flush=True)


class Tree:
    """A process that runs the cases of a line with the package of a source tree."""

    def __init__(self, tree: Path, line: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", __file__, "--serve", line],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environ | {"PYTHONPATH": str(tree.resolve() / "src")},
        )

    def seconds(self, case: Case) -> float:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(case.name + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        try:
            return float(answer)
        except ValueError:
            print(f"{case.name}: {answer}", file=sys.stderr)
            return float("nan")


def measured(name: str, line: Line, trees: list[Path], repeats: int) -> None:
    from lacunet.text_tables import TextTable

    workers = [Tree(tree, name) for tree in trees]
    seconds: dict[str, dict[float, list[float]]] = {}
    rows = []
    for case in line.cases():
        first = [worker.seconds(case) for worker in workers]  # it draws the data
        rounds = [[worker.seconds(case) for worker in workers] for _ in range(repeats)]
        times = [min(each) for each in zip(*rounds or [first], strict=True)]
        seconds.setdefault(case.what, {})[case.size] = times
        row = [case.what, f"{case.size:,g}", *(f"{time:.3f}" for time in times)]
        row.append(f"{times[-1] / times[0]:.2f}" if len(times) > 1 else "")
        others = seconds.get(case.beside, {}).get(case.size)
        row.append(
            ", ".join(f"{time / other:.2f}" for time, other in zip(times, others, strict=True))
            + f" x {case.beside}"
            if others
            else ""
        )
        rows.append(row)
        print(*row, file=sys.stderr, flush=True)
    heads = ["base, s", "now, s"] if len(trees) > 1 else ["now, s"]
    print(f"\n## {name}\n")
    print(TextTable(["what", line.axis, *heads, "now / base", "beside"], rows, left=1))
    for what, times_of in seconds.items():
        if len(times_of) > 1:
            print(f"{what}: {growth(line, times_of)}", flush=True)


def growth(line: Line, times_of: dict[float, list[float]]) -> str:
    sizes = np.array(list(times_of))
    words = []
    for times in zip(*times_of.values(), strict=True):
        slope = np.polyfit(np.log(sizes) if line.is_power else sizes, np.log(times), 1)[0]
        words.append(f"exponent {slope:.2f}" if line.is_power else f"times {np.exp(slope):.3g}")
    return f"{line.axis}, {' before, '.join(words)}{' now' if len(words) > 1 else ''}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--base", type=Path, help="a source tree of the other commit")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("lines", nargs="*", metavar="LINE", help=f"of {', '.join(LINES)}")
    chosen = parser.parse_intermixed_args()
    trees = [Path(__file__).parents[1]]
    if chosen.base is not None:
        trees.insert(0, chosen.base)
    for name in chosen.lines or LINES:
        measured(name, LINES[name], trees, chosen.repeats)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2])
    else:
        main()
