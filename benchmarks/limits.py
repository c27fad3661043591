"""Whether `auto` and `em` keep to a memory budget and a time limit.

    python benchmarks/limits.py [BIF ...]

The BIF files given (10^5 rows), Barley and Munin1 (10^4 rows) and Alarm (10^6 rows); MAR, 90% of
the variables incomplete; 500 MB and 5 s. Every run has a process of its own that reads a Parquet
file. The peak is its largest resident size, interpreter and libraries included; "before" is what
it held when learning began. Memory is kept if the peak is within 1.2 times the budget plus 200 MB,
time if the wall clock is within 1.1 times the limit plus 1 s. The processor's seconds are beside
it: on a busy machine they are the fairer figure. A run is killed after a minute.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

import lacunet as lc
from lacunet.data.write import write_table
from lacunet.simulation.at_random import MAR
from lacunet.simulation.simulate import simulate
from lacunet.text_tables import TextTable

BUDGET, SECONDS, PATIENCE = 500_000_000, 5.0, 60
MOST_BYTES, MOST_SECONDS = 1.2 * BUDGET + 200e6, 1.1 * SECONDS + 1
MISSING = MAR(share=0.9, parents=2, beta=(0.5, 0.5))
CASES = (("barley", 10**4), ("munin1", 10**4), ("alarm", 10**6))
METHODS = ("auto", "em")


def network_of(name: str) -> lc.Network:
    return lc.read_network(name) if Path(name).exists() else lc.example(name)


def main(paths: list[str]) -> None:
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for name, rows in [*((path, 10**5) for path in paths), *CASES]:
            network = network_of(name)
            file = Path(folder) / "rows.parquet"
            table = simulate(network, rows, MISSING, rng=np.random.default_rng(5)).table
            write_table(table, network, file)
            del table
            for method in METHODS:
                lines.append([Path(name).name.split(".")[0], f"{rows:,}", method])
                lines[-1] += measured(name, file, method)
                print(*lines[-1], sep="\t", file=sys.stderr, flush=True)
    header = ["network", "rows", "method", "before", "peak", "kept", "time", "processor", "kept"]
    print(f"\n## Limits: {BUDGET / 1e6:.0f} MB and {SECONDS:.0f} s\n")
    print(TextTable([*header, "ended"], lines, left=3))


def measured(name: str, file: Path, method: str) -> list[str]:
    command = [sys.executable, __file__, "--run", name, str(file), method]
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        return ["", "", "", f"over {PATIENCE} s", "", "no", "killed"]
    if done.returncode:
        return ["", "", "", "", "", "", done.stderr.strip().splitlines()[-1]]
    run = json.loads(done.stdout)
    return [
        f"{run['before'] / 1e6:,.0f} MB",
        f"{run['peak'] / 1e6:,.0f} MB",
        "yes" if run["peak"] <= MOST_BYTES else "no",
        f"{run['wall']:.1f} s",
        f"{run['cpu']:.1f} s",
        "yes" if run["wall"] <= MOST_SECONDS else "no",
        run["ended"],
    ]


def run(name: str, file: str, method: str) -> None:
    network = network_of(name).with_tables(None)
    before, wall, cpu = peak(), perf_counter(), process_time()
    result = lc.learn(network, file, method, pseudo_counts=1, memory=BUDGET, time_limit=SECONDS)
    figures = {"wall": perf_counter() - wall, "cpu": process_time() - cpu}
    ended = f"{result.ended.reason}, {result.ended.iterations} steps" if result.ended else "seed"
    print(json.dumps({"before": before, "peak": peak(), "ended": ended, **figures}))


def peak() -> int:
    """The largest resident size so far, in bytes; ru_maxrss would inherit the parent's."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run(*sys.argv[2:])
    else:
        main(sys.argv[1:])
