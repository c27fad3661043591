"""What it costs to start: processor time of whole processes, as ratios to ``import numpy``.

    python benchmarks/startup.py

Aims: ``lacunet --version`` below 1, ``lacunet learn`` on four rows below 3.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import lacunet as lc

RUNS = 9


def seconds(words: list[str]) -> float:
    """The least processor time of some runs; the first writes what Python compiles."""
    best = float("inf")
    for _ in range(RUNS):
        before = os.times()
        subprocess.run([sys.executable, *words], check=True, capture_output=True)
        after = os.times()
        spent = after.children_user + after.children_system
        best = min(best, spent - before.children_user - before.children_system)
    return best


def main() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        rows, network = Path(folder, "rows.csv"), Path(folder, "net.json")
        rows.write_text("A,B\n0,1\n1,\n0,0\n1,1\n")
        lc.write_network(lc.Network({"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]}), network)
        files = [str(network), str(rows)]
        timed = {
            "lacunet --version": ["-m", "lacunet", "--version"],
            "lacunet --help": ["-m", "lacunet", "--help"],
            "import lacunet": ["-c", "import lacunet"],
            "lacunet learn, 4 rows": ["-m", "lacunet", "learn", *files],
            "the same, direct-mcar": ["-m", "lacunet", "learn", *files, "--method", "direct-mcar"],
        }
        unit = seconds(["-c", "import numpy"])
        ratios = {name: seconds(words) / unit for name, words in timed.items()}
    print(f"import numpy: {unit:.3f} s of the processor")
    for name, ratio in ratios.items():
        print(f"{name:24} {ratio:5.2f} times")
    return ratios


if __name__ == "__main__":
    main()
