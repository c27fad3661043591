"""Whole runs from files: how much of the time is reading, and the memory at the peak."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from lacunet.data.read import read_table
from lacunet.data.write import write_table
from lacunet.estimate.learn import learn
from lacunet.formats.catalogue import example
from lacunet.wording import text_table
from timing import alarm, seconds

METHODS = ("direct-mcar", "factored-mar")


def main(sizes: list[int]) -> None:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            table = alarm(size)
            for suffix in (".csv", ".parquet"):
                path = Path(folder) / f"alarm{suffix}"
                write_table(table, example("alarm"), path)
                rows += _runs(size, path)
    header = ["rows", "file", "method", "time", "reading", "x Arrow's own reading", "peak memory"]
    print("\n## Whole runs from files (Alarm, MCAR, 30% of variables, 70% hidden)\n")
    print(text_table(header, rows, left=3))


def _runs(size: int, path: Path) -> list[list[str]]:
    network = example("alarm")
    repeats = 1 if size > 2e6 else 3
    arrow = seconds(lambda: _arrow_reads(path), repeats)
    reading = seconds(lambda: read_table(path, network), repeats)
    rows = []
    for method in METHODS:
        whole = seconds(lambda m=method: learn(network, path, m, 2), repeats)
        rows.append(
            [
                f"{size:,}",
                path.suffix,
                method,
                f"{whole:.2f} s",
                f"{reading / whole:.0%}",
                f"{whole / arrow:.2f}",
                f"{_peak(path, method) / 2**20:,.0f} MiB",
            ]
        )
    return rows


def _arrow_reads(path: Path) -> None:
    if path.suffix == ".csv":
        from pyarrow import csv

        csv.read_csv(path)
    else:
        from pyarrow import parquet

        parquet.read_table(path)


def _peak(path: Path, method: str) -> int:
    """The largest resident size of a process that does nothing but this run, in bytes."""
    done = subprocess.run(
        [sys.executable, __file__, "--peak", str(path), method],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peak"]:
        learn(example("alarm"), sys.argv[2], sys.argv[3], 2)
        status = Path("/proc/self/status").read_text()  # ru_maxrss would inherit the parent's
        print(int(status.split("VmHWM:")[1].split()[0]) * 1024)
    else:
        main([int(float(size)) for size in sys.argv[1:]] or [10**6, 10**7])
