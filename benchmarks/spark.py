"""Learning on a local Spark cluster, beside Spark's own ``groupBy`` of the same families.

    python benchmarks/spark.py FOLDER [--cores 2] [direct-mcar factored-mar em]

FOLDER has Parquet files of Alarm's rows, as ``benchmarks/scale.py`` writes them. Each line is one
run: seconds by the clock, processor seconds of all processes (the driver, the JVM, its Python
workers), and the peaks of the driver and of the JVM. ``groupBy`` counts the 37 families one after
the other: what MCAR methods need, with nothing learned.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, sleep

import pyspark
from pyspark.sql import DataFrame, SparkSession

import lacunet as lc

TICKS = os.sysconf("SC_CLK_TCK")


def family() -> list[int]:
    """This process and all that came of it."""
    parent_of = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parent_of[int(path.name)] = int(_stat(path)[1])
        except OSError:  # it has ended
            continue
    found = [os.getpid()]
    for one in found:
        found += [child for child, parent in parent_of.items() if parent == one]
    return found


def _stat(path: Path) -> list[str]:
    return (path / "stat").read_text().rpartition(")")[2].split()


def processor() -> float:
    """The processor seconds of all of them, of children that have ended too."""
    spent = 0.0
    for one in family():
        try:
            spent += sum(map(int, _stat(Path(f"/proc/{one}"))[11:15])) / TICKS
        except OSError:
            continue
    return spent


def peak(name: str) -> float:
    """The highest peak, in GiB, of those whose command is called so."""
    peaks = [0.0]
    for one in family():
        try:
            status = Path(f"/proc/{one}/status").read_text()
        except OSError:
            continue
        if status.split()[1].startswith(name) and "VmHWM:" in status:
            peaks.append(int(status.split("VmHWM:")[1].split()[0]) / 2**20)
    return max(peaks)


def grouped(network: lc.Network, frame: DataFrame) -> None:
    for name in network.variables:
        frame.groupBy(*network.family(name)).count().collect()


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("folder")
    asked.add_argument("--cores", type=int, default=2)
    asked.add_argument("--memory", default="4g", help="of the JVM")
    asked.add_argument("methods", nargs="*", default=["direct-mcar", "factored-mar", "em"])
    options = asked.parse_intermixed_args()
    builder = SparkSession.builder.master(f"local[{options.cores}]")
    builder = builder.config("spark.driver.memory", options.memory)
    session = builder.config("spark.ui.enabled", "false").getOrCreate()
    frame = session.read.parquet(options.folder)
    network = lc.example("alarm").with_tables(None)
    work: dict[str, Callable[[], object]] = {"groupBy": lambda: grouped(network, frame)}
    for method in options.methods:
        work[method] = lambda method=method: lc.learn(network, frame, method, pseudo_counts=1)  # type: ignore[misc]
    print(f"{frame.count():,} rows, Spark {pyspark.__version__}")
    print("| | seconds | processor | driver, GiB | JVM, GiB |\n|---|---:|---:|---:|---:|")
    for name, run in work.items():
        began, spent = perf_counter(), processor()
        run()
        sleep(1)  # workers that end are counted by their parents
        seconds, spent = perf_counter() - began - 1, processor() - spent
        peaks = f"{peak('python'):.2f} | {peak('java'):.2f}"
        print(f"| {name} | {seconds:.1f} | {spent:.1f} | {peaks} |", flush=True)


if __name__ == "__main__":
    main()
