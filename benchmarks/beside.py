"""What users wait for, beside another commit: ratios of processor time within one run.

    git worktree add ../base COMMIT
    python benchmarks/beside.py ../base [--repeats 5] [CASE ...]

One process for each of the two source trees, which take turns at each case: what else runs on the
machine slows both alike. Printed are the least of the repeats of each, and the median of the ratios
of the runs that took turns. Cases call public names only, so that they mean the same in both trees;
one that a tree cannot do is printed as such.
"""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np

import lacunet as lc
from lacunet.simulation.simulate import Simulation

FOLDER = Path(os.environ.get("LACUNET_BESIDE", tempfile.gettempdir()))


@cache
def drawn(name: str, rows: int, share: float, rate: float) -> Simulation:
    return lc.simulate(
        lc.example(name), rows, lc.MCAR(rate, share=share), rng=np.random.default_rng(2015)
    )


@cache
def mar(rows: int) -> Simulation:
    alarm = lc.example("alarm")
    few = lc.MAR(share=0.3, parents=2, beta=(1.0, 2.0)).draw(alarm, np.random.default_rng(5))
    return lc.simulate(alarm, rows, few, rng=np.random.default_rng(1))


@cache
def bare(name: str) -> lc.Network:
    return lc.example(name).with_tables(None)


@cache
def parts(rows: int, files: int) -> str:
    """Alarm as Parquet files; both trees read those of the first."""
    folder = FOLDER / f"alarm-{rows}-{files}"
    if not folder.exists():
        folder.mkdir()
        frame = drawn("alarm", rows, 0.3, 0.7).to_frame()
        for part in range(files):
            frame.iloc[part::files].to_parquet(folder / f"{part}.parquet", index=False)
    return str(folder)


def held(method: object, rows: int, rate: float = 0.7, **options: object) -> Callable[[], object]:
    def work() -> object:
        return lc.learn(
            bare("alarm"), drawn("alarm", rows, 0.3, rate).table, method, pseudo_counts=1, **options
        )

    return work


def mar_held(method: str, *, intervals: bool) -> Callable[[], object]:
    return lambda: lc.learn(
        bare("alarm"), mar(100_000).table, method, pseudo_counts=1, intervals=intervals
    )


def mar_frame(method: str, *, intervals: bool) -> Callable[[], object]:
    @cache
    def frame() -> object:
        return mar(100_000).to_frame()

    return lambda: lc.learn(bare("alarm"), frame(), method, pseudo_counts=1, intervals=intervals)


def streamed(method: str, rows: int = 10**6, **options: object) -> Callable[[], object]:
    return lambda: lc.learn(
        bare("alarm"), parts(rows, 8), method, pseudo_counts=1, memory=2**26, **options
    )


def half_missing(rows: int, iterations: int) -> Callable[[], object]:
    em = lc.EM(max_iterations=iterations, restarts=1)
    return lambda: lc.learn(
        bare("alarm"), drawn("alarm", rows, 1.0, 0.5).table, em, pseudo_counts=1
    )


@cache
def one_row() -> object:
    return drawn("alarm", 1000, 0.3, 0.7).to_frame().iloc[:1]


@cache
def learned(name: str) -> lc.Network:
    return lc.learn(
        bare(name), drawn(name, 10**3, 0.3, 0.7).table, "direct-mar", pseudo_counts=1
    ).network


@cache
def chain(length: int) -> tuple[lc.Network, object]:
    names = [f"X{place}" for place in range(length)]
    network = lc.Network(
        {name: ["0", "1"] for name in names},
        dict(zip(names[1:], ([name] for name in names), strict=False)),
        {
            name: np.array([[0.7, 0.3], [0.2, 0.8]] if place else [0.4, 0.6])
            for place, name in enumerate(names)
        },
    )
    frame = lc.simulate(network, 1, lc.MCAR(0.9), rng=np.random.default_rng(3)).to_frame()
    return network, frame


def imputed(network: lc.Network, rows: object) -> object:
    return network.impute(rows, how="most probable")


CASES: dict[str, Callable[[], object]] = {
    "direct-mcar, 10^6": held("direct-mcar", 10**6),
    "factored-mcar, 10^6": held("factored-mcar", 10**6),
    "direct-mar, 10^6": held("direct-mar", 10**6),
    "factored-mar, 10^6": held("factored-mar", 10**6),
    "informed-direct, 10^5": held("informed-direct", 10**5, groups="learn"),
    "em, 10^3": held("em", 10**3),
    "em, 10^4": held("em", 10**4),
    "em, 10^5": held("em", 10**5),
    "em, 10^6": held("em", 10**6),
    "auto, 10^5": held("auto", 10**5),
    "auto, 10^3": held("auto", 10**3),
    "em, half missing, 10^5, 1 iteration": half_missing(10**5, 1),
    "em, half missing, 10^5, 21 iterations": half_missing(10**5, 21),
    "held, direct-mar": mar_held("direct-mar", intervals=False),
    "held, direct-mar, intervals": mar_held("direct-mar", intervals=True),
    "held, factored-mar": mar_held("factored-mar", intervals=False),
    "held, factored-mar, intervals": mar_held("factored-mar", intervals=True),
    "held, em": mar_held("em", intervals=False),
    "held, em, intervals": mar_held("em", intervals=True),
    "pandas, direct-mar": mar_frame("direct-mar", intervals=False),
    "pandas, direct-mar, intervals": mar_frame("direct-mar", intervals=True),
    "pandas, em": mar_frame("em", intervals=False),
    "pandas, em, intervals": mar_frame("em", intervals=True),
    "Parquet, direct-mcar": lambda: lc.learn(
        bare("alarm"), parts(10**6, 8), "direct-mcar", pseudo_counts=1
    ),
    "Parquet, factored-mar": lambda: lc.learn(
        bare("alarm"), parts(10**6, 8), "factored-mar", pseudo_counts=1
    ),
    "streamed, direct-mcar": streamed("direct-mcar"),
    "streamed, direct-mcar, intervals": streamed("direct-mcar", intervals=True),
    "streamed, direct-mar": streamed("direct-mar"),
    "streamed, direct-mar, intervals": streamed("direct-mar", intervals=True),
    "streamed, factored-mar": streamed("factored-mar"),
    "streamed, factored-mar, intervals": streamed("factored-mar", intervals=True),
    "streamed, em": streamed("em"),
    "streamed, em, intervals": streamed("em", intervals=True),
    "predict, one row": lambda: [
        lc.example("alarm").predict(one_row(), targets=["HR"]) for _ in range(10)
    ],
    "predict, 10^4": lambda: lc.example("alarm").predict(
        drawn("alarm", 10**4, 0.3, 0.7).to_frame(), targets=["HR"]
    ),
    "impute, 10^4": lambda: imputed(
        lc.example("alarm"), drawn("alarm", 10**4, 0.3, 0.7).to_frame()
    ),
    "impute, chain of 500": lambda: imputed(*chain(500)),
    "log_likelihood, 10^4": lambda: lc.example("alarm").log_likelihood(
        drawn("alarm", 10**4, 0.3, 0.7).table
    ),
    "query of a result": lambda: [learned("alarm").query("HR", {"BP": "LOW"}) for _ in range(100)],
    "marginals of a result": lambda: [learned("alarm").marginals() for _ in range(20)],
    "query": lambda: [lc.example("alarm").query("HR", {"BP": "LOW"}) for _ in range(100)],
    "explain, munin1": lambda: str(lc.explain(bare("munin1"), method="auto")),
    "diagnose, munin1, 10^3": lambda: lc.diagnose(
        drawn("munin1", 1000, 0.3, 0.5).table, bare("munin1")
    ),
    "factored-mar, munin1, 10^3": lambda: lc.learn(
        bare("munin1"), drawn("munin1", 1000, 0.3, 0.5).table, "factored-mar", pseudo_counts=1
    ),
    "diagnose, alarm, 10^5": lambda: lc.diagnose(
        drawn("alarm", 10**5, 0.3, 0.7).table, bare("alarm")
    ),
    "count, 10^6": lambda: lc.count(bare("alarm"), parts(10**6, 8)),
}


def serve() -> None:
    """Run what is asked for on stdin; answer with its processor time, or with what went wrong."""
    for line in sys.stdin:
        with redirect_stdout(io.StringIO()):
            try:
                began = process_time()
                CASES[line.strip()]()
                answer = str(process_time() - began)
            except Exception as error:
                answer = f"{type(error).__name__}: {error}".splitlines()[0]
        print(answer, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base", type=Path, help="a source tree of the other commit")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("cases", nargs="*", help="names of cases, or how they begin")
    chosen = parser.parse_intermixed_args()
    names = [name for name in CASES if not chosen.cases or name.startswith(tuple(chosen.cases))]
    with tempfile.TemporaryDirectory() as folder:
        trees = (chosen.base, Path(__file__).parents[1])
        workers = [_worker(tree, folder) for tree in trees]
        print("| what | base, s | now, s | median ratio |\n|---|---:|---:|---:|")
        for name in names:
            rounds = [[_ask(worker, name) for worker in workers]]  # also draws the data
            rounds = [
                [_ask(worker, name) for worker in workers]
                for _ in range(chosen.repeats if _worth(rounds) else 1)
            ]
            print(_line(name, rounds), flush=True)
        for worker in workers:
            worker.communicate()


def _worker(tree: Path, folder: str) -> subprocess.Popen[str]:
    environment = os.environ | {
        "PYTHONPATH": str(tree.resolve() / "src"),
        "LACUNET_BESIDE": folder,
    }
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", __file__, "--serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )


def _ask(worker: subprocess.Popen[str], name: str) -> float | str:
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(name + "\n")
    worker.stdin.flush()
    answer = worker.stdout.readline().strip()
    try:
        return float(answer)
    except ValueError:
        return answer or "ended"


def _worth(rounds: list[list[float | str]]) -> bool:
    return not any(isinstance(time, str) for time in rounds[0])


def _line(name: str, rounds: list[list[float | str]]) -> str:
    if not _worth(rounds):
        base, now = rounds[0]
        return f"| {name} | {base} | {now} | |"
    base, now = (min(float(times[tree]) for times in rounds) for tree in (0, 1))
    paired = median(float(after) / float(before) for before, after in rounds)
    return f"| {name} | {base:.3f} | {now:.3f} | {paired:.2f} |"


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
    else:
        main()
