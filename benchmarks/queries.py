"""Exact queries against pyAgrum's LazyPropagation: one target, and all marginals.

    python benchmarks/queries.py [BIF ...]

All bundled networks, and the BIF files given. A tenth of the variables is seen, at the states of
one sampled row. Processor time in milliseconds: the median over several targets, each asked for
once after one that is not measured, and the shorter of two times for all marginals. Each question
about all marginals sees other variables, so that none finds its own plan made already. pyAgrum
makes a new inference for each question, as its `gum.getPosterior` does; all marginals that take it
longer than 20 seconds are given up (a ratio of 0.00).
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import pyagrum as gum

import lacunet as lc
from lacunet.formats.catalogue import names
from lacunet.wording import text_table

TARGETS = 15
SECONDS = 20
SEED = 11


def networks(paths: list[str]) -> Iterator[tuple[str, lc.Network, bool]]:
    """The name of each network, the network, and whether pyAgrum can give all its marginals."""
    yield from ((name, lc.example(name), True) for name in names())
    for path in paths:
        yield Path(path).name.split(".")[0], lc.read_network(path), ends_in_time(path)


def evidence_of(network: lc.Network, rng: np.random.Generator) -> dict[str, str]:
    row = lc.sample(network, 1, rng)
    names = rng.choice(network.variables, max(1, len(network.variables) // 10), replace=False)
    return {str(name): network.states(name)[int(row.columns[name][0])] for name in names}


def milliseconds(work: Callable[[], Any]) -> tuple[float, Any]:
    start = process_time()
    found = work()
    return 1000 * (process_time() - start), found


def ends_in_time(path: str) -> bool:
    """Whether pyAgrum gives all marginals of a file within the limit, tried in another process."""
    command = [sys.executable, __file__, "--try", path]
    try:
        subprocess.run(command, check=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True


def all_by_pyagrum(network: lc.Network, bn: Any, evidence: dict[str, str]) -> None:
    rest = [variable for variable in network.variables if variable not in evidence]
    by_pyagrum(bn, rest, evidence)


def by_pyagrum(bn: Any, targets: list[str], evidence: dict[str, str]) -> dict[str, np.ndarray]:
    inference = gum.LazyPropagation(bn)
    inference.setEvidence(evidence)
    inference.setTargets(set(targets))
    inference.makeInference()
    return {name: inference.posterior(name).toarray() for name in targets}


def line(name: str, network: lc.Network, can_pyagrum: bool) -> list[str]:
    rng = np.random.default_rng(SEED)
    bn = lc.to_pyagrum(network)
    evidence = evidence_of(network, rng)
    rest = [variable for variable in network.variables if variable not in evidence]
    targets = [str(target) for target in rng.choice(rest, min(TARGETS, len(rest)), replace=False)]
    single, worst = [], 0.0
    for target in targets:
        ours, mine = milliseconds(lambda: lc.query(network, target, evidence))  # noqa: B023
        theirs, other = milliseconds(lambda: by_pyagrum(bn, [target], evidence))  # noqa: B023
        worst = max(worst, float(np.abs(np.asarray(mine) - other[target]).max()))
        single.append((ours, theirs))
    every = []
    for evidence in (evidence_of(network, rng), evidence_of(network, rng)):
        ours, _ = milliseconds(lambda: lc.marginals(network, evidence))  # noqa: B023
        theirs = float("inf")
        if can_pyagrum:
            theirs, _ = milliseconds(lambda: all_by_pyagrum(network, bn, evidence))  # noqa: B023
        every.append((ours, theirs))
    one, two = (median(times) for times in zip(*single[1:], strict=True))
    three, four = (min(times) for times in zip(*every, strict=True))
    figures = [f"{one:.1f}", f"{two:.1f}", f"{one / two:.2f}"]
    figures += [f"{three:.1f}", f"{four:.1f}", f"{three / four:.2f}", f"{worst:.0e}"]
    return [name, str(len(network.variables)), *figures]


def main(paths: list[str]) -> None:
    lines = []
    for name, network, can_pyagrum in networks(paths):
        lines.append(line(name, network, can_pyagrum))
        print(*lines[-1], file=sys.stderr, flush=True)
    header = ["network", "variables", "one target", "pyAgrum", "ratio"]
    header += ["all marginals", "pyAgrum", "ratio", "largest difference"]
    print("\n## Queries, milliseconds of processor time\n")
    print(text_table(header, lines, left=1))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--try"]:
        tried = lc.read_network(sys.argv[2])
        seen = evidence_of(tried, np.random.default_rng(SEED))
        all_by_pyagrum(tried, lc.to_pyagrum(tried), seen)
    else:
        main(sys.argv[1:])
