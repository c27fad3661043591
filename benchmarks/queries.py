"""Exact queries against pyAgrum's LazyPropagation: one target, several, and all marginals.

    python benchmarks/queries.py [BIF ...]

All bundled networks, and the BIF files given. A tenth of the variables is seen, at the states of
one sampled row, drawn anew for every question, so that none finds its own plan made already.
Processor time in milliseconds, of both in turn: the median over 60 questions for one target (three
for each evidence; pyAgrum makes a new inference for each, as its `gum.getPosterior` does), over 12
for up to 15 targets given the same evidence (one inference of pyAgrum), and over 8 for all
marginals. All marginals that take pyAgrum longer than 20 seconds are given up (a ratio of 0.00).
The last column is the largest difference between answers to the same question about one target.
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
from lacunet.inference.sampling import sample_codes
from lacunet.network.catalogue import bundled_names
from lacunet.text_tables import TextTable

ONE, SEVERAL, ALL = 20, 12, 8  # questions: kinds of evidence
TARGETS = 15
SECONDS = 20
SEED = 11


def networks(paths: list[str]) -> Iterator[tuple[str, lc.Network, bool]]:
    """The name of each network, the network, and whether pyAgrum can give all its marginals."""
    yield from ((name, lc.example(name), True) for name in bundled_names())
    for path in paths:
        yield Path(path).name.split(".")[0], lc.read_network(path), ends_in_time(path)


def evidence_of(network: lc.Network, rng: np.random.Generator) -> dict[str, str]:
    row = sample_codes(network, 1, rng)
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


def by_pyagrum(bn: Any, targets: list[str], evidence: dict[str, str]) -> dict[str, np.ndarray]:
    inference = gum.LazyPropagation(bn)
    inference.setEvidence(evidence)
    inference.setTargets(set(targets))
    inference.makeInference()
    return {name: inference.posterior(name).toarray() for name in targets}


def rest_of(network: lc.Network, evidence: dict[str, str]) -> list[str]:
    return [variable for variable in network.variables if variable not in evidence]


def ratio(times: list[tuple[float, float]]) -> list[str]:
    ours, theirs = (median(side) for side in zip(*times, strict=True))
    return [f"{ours:.2f}", f"{theirs:.2f}", f"{ours / theirs:.2f}"]


def line(name: str, network: lc.Network, can_pyagrum: bool) -> list[str]:
    rng = np.random.default_rng(SEED)
    bn = lc.to_pyagrum(network)
    single, several, every, worst = [], [], [], 0.0
    network.query(network.variables[0])  # what is made once per network
    for _ in range(ONE):
        evidence = evidence_of(network, rng)
        for target in map(str, rng.permutation(rest_of(network, evidence))[:3]):
            ours, mine = milliseconds(lambda: network.query(target, evidence))  # noqa: B023
            theirs, other = milliseconds(lambda: by_pyagrum(bn, [target], evidence))  # noqa: B023
            worst = max(worst, float(np.abs(np.asarray(mine) - other[target]).max()))
            single.append((ours, theirs))
    for _ in range(SEVERAL):
        evidence = evidence_of(network, rng)
        some = [str(target) for target in rng.permutation(rest_of(network, evidence))[:TARGETS]]
        ours, _ = milliseconds(lambda: network.marginals(evidence, variables=some))  # noqa: B023
        theirs, _ = milliseconds(lambda: by_pyagrum(bn, some, evidence))  # noqa: B023
        several.append((ours, theirs))
    for _ in range(ALL):
        evidence = evidence_of(network, rng)
        ours, _ = milliseconds(lambda: network.marginals(evidence))  # noqa: B023
        theirs = float("inf")
        if can_pyagrum:
            rest = rest_of(network, evidence)
            theirs, _ = milliseconds(lambda: by_pyagrum(bn, rest, evidence))  # noqa: B023
        every.append((ours, theirs))
    figures = [*ratio(single), *ratio(several), *ratio(every), f"{worst:.0e}"]
    return [name, str(len(network.variables)), *figures]


def main(paths: list[str]) -> None:
    lines = []
    for name, network, can_pyagrum in networks(paths):
        lines.append(line(name, network, can_pyagrum))
        print(*lines[-1], file=sys.stderr, flush=True)
    header = ["network", "variables", "one target", "pyAgrum", "ratio", "15 targets", "pyAgrum"]
    header += ["ratio", "all marginals", "pyAgrum", "ratio", "largest difference"]
    print("\n## Queries, milliseconds of processor time\n")
    print(TextTable(header, lines, left=1))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--try"]:
        tried = lc.read_network(sys.argv[2])
        seen = evidence_of(tried, np.random.default_rng(SEED))
        by_pyagrum(lc.to_pyagrum(tried), rest_of(tried, seen), seen)
    else:
        main(sys.argv[1:])
