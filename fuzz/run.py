"""Damage files at random and see whether reading them ever goes wrong.

    python fuzz/run.py networks --files 1000000
    python fuzz/run.py data --files 100000 --seed 7

Reading a damaged file may give an error of ours or a result; never a traceback, a crash of the
process, more than five seconds of the processor, or a result other than an independent reader
gives. Files are numbered and follow from the seed and their number alone: ``--first N --files 1``
makes one again. They are read by a child process, which is replaced if it dies.
"""

from __future__ import annotations

import argparse
import importlib
import json
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SECONDS = 5.0  # of the processor, for one file
PATIENCE = 60.0  # seconds of waiting for one file; ten times that for the child to begin
KINDS = {
    "networks": "networks",
    "data": "tables",
}  # the module of each kind


def main() -> int:
    """Run the fuzzer; 0 if nothing was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--files", type=int, default=10_000, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--first", type=int, default=0, metavar="N", help="number of the first file"
    )
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        read_all(options.kind, options.seed, options.first, options.first + options.files)
        return 0
    start = time.perf_counter()
    outcomes: Counter[str] = Counter()
    for finding in findings(options.kind, options.seed, options.first, options.files, outcomes):
        print(json.dumps(finding), flush=True)
    words = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(outcomes.items()))
    seconds = time.perf_counter() - start
    print(
        f"{options.files:,} files of {options.kind}, seed {options.seed}: {words}; {seconds:.0f} s"
    )
    return int(any(outcome not in ("read", "refused") for outcome in outcomes))


def read_all(kind: str, seed: int, first: int, end: int) -> None:
    """In the child: read file by file, and tell what became of each."""
    module = importlib.import_module(KINDS[kind])
    check = module.prepared(seed)
    print("ready", flush=True)
    for number in range(first, end):
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # its signal ends the process
        try:
            outcome = check(number)
        except AssertionError as error:
            outcome = {"outcome": "wrong", "why": str(error)}
        except Exception:
            outcome = {"outcome": "traceback", "why": traceback.format_exc()[-1500:]}
        print(outcome if isinstance(outcome, str) else json.dumps(outcome), flush=True)


def findings(
    kind: str, seed: int, first: int, files: int, outcomes: Counter[str]
) -> Iterator[dict[str, Any]]:
    """In the parent: what went wrong, file by file; the outcomes are counted."""
    number, end = first, first + files
    while number < end:
        child, lines = _started(kind, seed, number, end)
        if lines.get(timeout=10 * PATIENCE) != "ready":
            raise RuntimeError("the child does not begin")
        while number < end:
            try:
                line = lines.get(timeout=PATIENCE)
            except queue.Empty:
                child.kill()
                line = "hang"
            if line is None:
                ended = child.wait()
                line = "hang" if ended == -signal.SIGPROF else f"crash ({ended})"
            finding = json.loads(line) if line.startswith("{") else {"outcome": line}
            outcomes[finding["outcome"]] += 1
            number += 1
            if line not in ("read", "refused"):
                yield {"file": number - 1, "seed": seed, **finding}
            if line.startswith(("hang", "crash")):
                break
        child.kill()
        child.wait()


def _started(
    kind: str, seed: int, first: int, end: int
) -> tuple[subprocess.Popen[str], queue.Queue[str | None]]:
    child = subprocess.Popen(
        [
            *(sys.executable, str(Path(__file__)), kind, "--child"),
            *(f"--seed={seed}", f"--first={first}", f"--files={end - first}"),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    lines: queue.Queue[str | None] = queue.Queue(10_000)

    def pass_on() -> None:
        assert child.stdout is not None
        for line in child.stdout:
            lines.put(line.rstrip("\n"))
        lines.put(None)

    threading.Thread(target=pass_on, daemon=True).start()
    return child, lines


if __name__ == "__main__":
    sys.exit(main())
