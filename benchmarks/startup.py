"""What it costs to start: processor time of whole processes, as ratios to ``import numpy``.

    python benchmarks/startup.py

Aims: ``lacunet --version`` below 1, ``lacunet learn`` on four rows below 3.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

import lacunet as lc

RUNS = 9


def seconds(words: list[str], compiled: Path) -> float:
    """The least processor time of some runs; the first writes what Python compiles.

    That is kept in a folder of its own: an installed package is compiled already, and whether it
    would be here depends on the surroundings.
    """
    surroundings = {**os.environ, "PYTHONPYCACHEPREFIX": str(compiled)}
    surroundings.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, *words]
    spent = [_children()]
    for _ in range(RUNS):
        subprocess.run(command, check=True, capture_output=True, env=surroundings)
        spent.append(_children())
    return min(after - before for before, after in pairwise(spent))


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        rows, network = Path(folder, "rows.csv"), Path(folder, "net.json")
        rows.write_text("A,B\n0,1\n1,\n0,0\n1,1\n")
        lc.Network({"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]}).write(network)
        files = [str(network), str(rows)]
        timed = {
            "lacunet --version": ["-m", "lacunet", "--version"],
            "lacunet --help": ["-m", "lacunet", "--help"],
            "import lacunet": ["-c", "import lacunet"],
            "lacunet learn, 4 rows": ["-m", "lacunet", "learn", *files],
            "the same, direct-mcar": ["-m", "lacunet", "learn", *files, "--method", "direct-mcar"],
        }
        compiled = Path(folder, "compiled")
        unit = seconds(["-c", "import numpy"], compiled)
        ratios = {name: seconds(words, compiled) / unit for name, words in timed.items()}
    print(f"import numpy: {unit:.3f} s of the processor")
    for name, ratio in ratios.items():
        print(f"{name:24} {ratio:5.2f} times")
    return ratios


if __name__ == "__main__":
    main()
