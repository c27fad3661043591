"""Costs that should grow as the work grows, beside another commit: processor time in one run.

    git worktree add ../base COMMIT
    python benchmarks/cliffs.py [--base ../base] [--repeats 3] [LINE ...]

A line is a function in `LINES`: it gives cases, each with a size. One process for each source
tree, which take turns at each case; the least of the repeats counts. Cases that differ in their
size alone give a growth: the exponent of the size, or the factor for each unit of it.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from os import environ
from pathlib import Path
from time import process_time

import numpy as np

import lacunet as lc
from lacunet.text_tables import TextTable


@dataclass(frozen=True)
class Case:
    """Something that takes time; those called alike differ in size alone."""

    what: str
    size: float
    work: Callable[[], object]

    @property
    def name(self) -> str:
        return f"{self.what}: {self.size:,.0f}"


@dataclass(frozen=True)
class Line:
    """A line of what should be no cliff."""

    cases: Callable[[], Iterator[Case]]
    axis: str  # what the size is
    is_power: bool = True  # whether time is a power of the size, or a number to the power of it


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
    rows = lc.simulate(network, 10**4, lc.MCAR(0.3), rng=np.random.default_rng(1)).table
    return network.with_tables(None), rows


def parents() -> Iterator[Case]:
    for method in ("factored-mar", "em"):
        for number in (6, 8, 10, 12):
            em = method == "em"
            options = {"max_iterations": 1, "restarts": 1} if em else {}
            yield Case(
                method + (", 1 iteration" if em else ""),
                number,
                lambda number=number, method=method, options=options: lc.learn(
                    *many_parents(number), method, pseudo_counts=1, **options
                ),
            )


@cache
def alarm(rows: int, *, at_random: bool) -> tuple[lc.Network, object]:
    """Alarm, three tenths of the variables incomplete: completely at random (70%), or at random."""
    truth = lc.example("alarm")
    hide: object = lc.MCAR(0.7, share=0.3)
    if at_random:
        few = lc.MAR(share=0.3, parents=2, beta=(1.0, 2.0))
        hide = few.draw(truth, np.random.default_rng(5))
    table = lc.simulate(truth, rows, hide, rng=np.random.default_rng(1)).table
    return truth.with_tables(None), table


def em_start() -> Iterator[Case]:
    for words, at_random in (("MCAR", False), ("MAR", True)):
        for method in ("em", "direct-mcar", "factored-mar"):
            for rows in (10**4, 10**5, 10**6):
                yield Case(
                    f"{method}, {words}",
                    rows,
                    lambda rows=rows, at_random=at_random, method=method: lc.learn(
                        *alarm(rows, at_random=at_random), method, pseudo_counts=1
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
                        lambda rows=rows, at_random=at_random, method=method, sure=sure: lc.learn(
                            *alarm(rows, at_random=at_random),
                            method,
                            pseudo_counts=1,
                            intervals=sure,
                        ),
                    )


LINES: dict[str, Line] = {
    "em start": Line(em_start, "rows"),
    "parents": Line(parents, "binary parents", is_power=False),
    "intervals": Line(intervals, "rows"),
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
    workers = [Tree(tree, name) for tree in trees]
    seconds: dict[str, list[tuple[float, list[float]]]] = {}
    rows = []
    for case in line.cases():
        rounds = [[worker.seconds(case) for worker in workers] for _ in range(1 + repeats)]
        times = [min(each) for each in zip(*rounds[1:], strict=True)]  # the first draws the data
        seconds.setdefault(case.what, []).append((case.size, times))
        shown = [f"{time:.3f}" for time in times]
        ratio = [f"{times[-1] / times[0]:.2f}"] if len(times) > 1 else []
        rows.append([case.what, f"{case.size:,.0f}", *shown, *ratio])
    heads = ["base, s", "now, s", "now / base"] if len(trees) > 1 else ["now, s"]
    print(f"\n## {name}\n")
    print(TextTable(["what", line.axis, *heads], rows, left=1))
    for what, points in seconds.items():
        if len(points) > 1:
            print(f"{what}: {growth(line, points)}", flush=True)


def growth(line: Line, points: list[tuple[float, list[float]]]) -> str:
    sizes = np.array([size for size, _ in points])
    words = []
    for times in zip(*(times for _, times in points), strict=True):
        slope = np.polyfit(np.log(sizes) if line.is_power else sizes, np.log(times), 1)[0]
        words.append(f"exponent {slope:.2f}" if line.is_power else f"times {np.exp(slope):.2f}")
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
