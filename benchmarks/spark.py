"""Learning on a local Spark cluster, beside Spark's own ``groupBy`` of the same families.

    python benchmarks/spark.py FOLDER [--cores 2] [JOB ...]

FOLDER has Parquet files of Alarm's rows, as ``benchmarks/scale.py`` writes them. Each line is one
run: seconds by the clock, processor seconds of all processes (the driver, the JVM, its Python
workers), what Spark says of its stages (tasks that ran, bytes written for a shuffle, bytes that the
driver got, bytes that it kept of codes and answers), and the peaks of the driver and of the JVM.
A job is a method, which is run in one process without Spark too; ``reading``, by which Spark reads
the files and does nothing with the rows; or ``groupBy``, which counts the 37 families one after the
other: what MCAR methods need, with nothing learned.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from time import perf_counter, sleep
from typing import Any
from urllib.request import urlopen

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


class Told:
    """What Spark says of the stages of a run, and of what it keeps, by its own pages."""

    def __init__(self, session: SparkSession) -> None:
        context = session.sparkContext
        port = str(context.uiWebUrl).rpartition(":")[2]
        self.pages = f"http://localhost:{port}/api/v1/applications/{context.applicationId}"
        self.seen = {stage["stageId"] for stage in self.stages()}

    def stages(self) -> list[dict[str, Any]]:
        return self._page("stages")

    def _page(self, name: str) -> list[dict[str, Any]]:
        with urlopen(f"{self.pages}/{name}") as page:
            found: list[dict[str, Any]] = json.load(page)
        return found

    def since(self) -> list[dict[str, Any]]:
        """The stages since the last time."""
        new = [stage for stage in self.stages() if stage["stageId"] not in self.seen]
        self.seen |= {stage["stageId"] for stage in new}
        return new

    def kept(self) -> int:
        """The bytes of what Spark keeps now."""
        return sum(each["memoryUsed"] + each["diskUsed"] for each in self._page("storage/rdd"))


def most_kept(told: Told, work: Callable[[], object]) -> int:
    """The most bytes that Spark kept at a time while something ran."""
    most = [0]
    is_done = Event()

    def look() -> None:
        while not is_done.wait(0.5):
            most[0] = max(most[0], told.kept())

    looking = Thread(target=look)
    looking.start()
    try:
        work()
    finally:
        is_done.set()
        looking.join()
    return most[0]


def grouped(network: lc.Network, frame: DataFrame) -> None:
    for name in network.variables:
        frame.groupBy(*network.family(name)).count().collect()


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("folder")
    asked.add_argument("--cores", type=int, default=2)
    asked.add_argument("--memory", default="4g", help="of the JVM")
    jobs = ["reading", "groupBy", "direct-mcar", "factored-mar", "em"]
    asked.add_argument("jobs", nargs="*", default=jobs)
    options = asked.parse_intermixed_args()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(f"local[{options.cores}]")
    builder = builder.config("spark.driver.memory", options.memory)
    builder = builder.config("spark.ui.port", "0")  # any that is free
    session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    frame = session.read.parquet(options.folder)
    network = lc.example("alarm").with_tables(None)

    def learned(data: object, method: str) -> Callable[[], object]:
        return lambda: lc.learn(network, data, method, pseudo_counts=1)

    by_spark: dict[str, Callable[[], object]] = {
        "reading": lambda: frame.write.format("noop").mode("overwrite").save(),
        "groupBy": lambda: grouped(network, frame),
    }
    work = {}
    for job in options.jobs:
        if job not in by_spark:
            work[f"{job}, one process"] = learned(options.folder, job)
    for job in options.jobs:
        work[job] = by_spark.get(job) or learned(frame, job)
    print(f"{frame.count():,} rows, Spark {pyspark.__version__}")
    heads = ["", "seconds", "processor", "tasks", "shuffled, MB", "to the driver, MB", "kept, MB"]
    heads += ["driver, GiB", "JVM, GiB"]
    print(f"| {' | '.join(heads)} |\n|---|{'---:|' * (len(heads) - 1)}")
    told = Told(session)
    for name, run in work.items():
        began = perf_counter()
        spent = processor()
        kept = most_kept(told, run)
        sleep(1)  # workers that end are counted by their parents
        cells = [perf_counter() - began - 1, processor() - spent]
        stages = told.since()
        counts = [
            f"{sum(stage['numCompleteTasks'] for stage in stages)}",
            *(
                f"{sum(stage[what] for stage in stages) / 1e6:.3f}"
                for what in ("shuffleWriteBytes", "resultSize")
            ),
            f"{kept / 1e6:.1f}",
        ]
        words = [f"{cell:.1f}" for cell in cells] + counts
        words += [f"{peak('python'):.2f}", f"{peak('java'):.2f}"]
        print(f"| {name} | {' | '.join(words)} |", flush=True)


if __name__ == "__main__":
    main()
