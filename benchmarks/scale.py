"""Rows by the hundred million: each method in a process of its own, under a memory budget.

    python benchmarks/scale.py --rows 1e8 --memory 2 --out scale.jsonl

Rows of Alarm are simulated in parts (30% of the variables with 70% of their values hidden) and
written as Parquet files, which are deleted afterwards. Each figure is appended to ``--out`` as soon
as it is there; what is there already is not measured again. Times are also given as processor
time, since the machine may be shared.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from lacunet.data.write import write_table
from lacunet.learning.learn import learn
from lacunet.missingness.mechanism_cpts import Missingness
from lacunet.network.catalogue import example
from lacunet.simulation.at_random import MCAR
from lacunet.simulation.simulate import simulate
from lacunet.text_tables import TextTable

METHODS = ("direct-mcar", "factored-mcar", "direct-mar", "factored-mar", "em")
READING = "reading"
PART_ROWS = 10**6
ROW_BYTES = 80  # on the disk: Parquet and, for a while, the codes; a generous guess


@dataclass(frozen=True)
class Drawn:
    """The same mechanisms for every part."""

    mechanisms: Missingness

    def draw(self, *_: object) -> Missingness:
        return self.mechanisms


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rows", type=lambda text: int(float(text)), default=10**8)
    asked.add_argument("--memory", type=float, default=2.0, help="budget in GiB")
    asked.add_argument("--methods", nargs="+", default=METHODS)
    asked.add_argument("--out", type=Path, default=Path("scale.jsonl"))
    asked.add_argument("--folder", type=Path, help="where the rows are written (temporary)")
    asked.add_argument("--one", help=argparse.SUPPRESS)
    options = asked.parse_args()
    if options.one:
        print(json.dumps(run(options)))
        return
    folder = Path(tempfile.mkdtemp(prefix="lacunet-scale-", dir=options.folder))
    try:
        make(folder, options.rows)
        for method in (READING, *options.methods):
            measure(options, folder, method)
    finally:
        shutil.rmtree(folder)
    show(options)


def make(folder: Path, rows: int) -> None:
    """The rows, in files of a million."""
    if shutil.disk_usage(folder).free < 2 * ROW_BYTES * rows:
        sys.exit(f"{folder}: {2 * ROW_BYTES * rows / 2**30:.0f} GiB of free disk are needed")
    network = example("alarm")
    missing = Drawn(MCAR(0.7, share=0.3).draw(network, np.random.default_rng(2015)))
    for part, start in enumerate(range(0, rows, PART_ROWS)):
        number = min(PART_ROWS, rows - start)
        table = simulate(network, number, missing, rng=np.random.default_rng([2015, part])).table
        write_table(table, network, folder / f"{part:05d}.parquet")
        print(f"\r{start + number:,} rows written", end="", file=sys.stderr)
    print(file=sys.stderr)


def measure(options: argparse.Namespace, folder: Path, method: str) -> None:
    """One run in a process of its own, unless it is there already."""
    key = {"rows": options.rows, "memory": options.memory, "method": method}
    if any(key.items() <= done.items() for done in measured(options.out)):
        return
    command = [sys.executable, __file__, "--one", method, "--folder", str(folder)]
    command += ["--memory", str(options.memory)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    found = json.loads(done.stdout) if done.returncode == 0 else {"failed": done.returncode}
    with options.out.open("a") as file:
        print(json.dumps({**key, **found}), file=file)
    print({**key, **found}, file=sys.stderr)


def run(options: argparse.Namespace) -> dict[str, float]:
    """Read or learn, in this process; seconds, processor seconds and peak bytes."""
    from pyarrow import parquet

    start, processor = perf_counter(), process_time()
    if options.one == READING:
        for path in sorted(options.folder.glob("*.parquet")):
            parquet.read_table(path)
    else:
        budget = int(options.memory * 2**30)
        learn(example("alarm"), options.folder, options.one, pseudo_counts=1, memory=budget)
    status = Path("/proc/self/status").read_text()  # ru_maxrss would inherit the parent's
    peak = int(status.split("VmHWM:")[1].split()[0]) * 1024
    seconds, processor = perf_counter() - start, process_time() - processor
    return {"seconds": seconds, "processor": processor, "peak": peak}


def measured(out: Path) -> list[dict[str, Any]]:
    """The figures so far."""
    return [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []


def show(options: argparse.Namespace) -> None:
    """The figures as a table."""
    rows = []
    for own in measured(options.out):
        read = next(
            other
            for other in measured(options.out)
            if other["method"] == READING and other["rows"] == own["rows"]
        )
        if "failed" in own:
            rows.append([f"{own['rows']:,}", own["method"], *["failed"] * 5])
            continue
        rows.append(
            [
                f"{own['rows']:,}",
                own["method"],
                f"{own['seconds']:.1f}",
                f"{own['rows'] / own['seconds'] / 1e6:.2f}",
                f"{own['seconds'] / read['seconds']:.2f}",
                f"{own['processor'] / read['processor']:.2f}",
                f"{own['peak'] / 2**30:.2f}",
            ]
        )
    header = ["rows", "method", "seconds", "million rows/s", "x reading", "processor", "peak GiB"]
    print(TextTable(header, rows, left=2))


if __name__ == "__main__":
    main()
