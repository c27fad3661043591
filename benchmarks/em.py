"""EM on Alarm: against pyAgrum at 10^3 rows, alone up to 10^6; compiling and iterating apart."""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import inf
from time import process_time
from typing import Any

import numpy as np

from lacunet.counts.em_problems.compile import compile_problems
from lacunet.data.table import EncodedTable
from lacunet.data.write import to_arrow
from lacunet.inference.engine import engine_of
from lacunet.learning.closed_forms.forms import Deletion
from lacunet.learning.em.em import EM
from lacunet.learning.learn import learn
from lacunet.network.bridges import to_pyagrum
from lacunet.network.catalogue import example
from lacunet.network.network import Network
from lacunet.text_tables import TextTable
from timing import alarm, read_once

PEER_ROWS = 1000
MEMORY = 8 * 2**30


def main(sizes: list[int]) -> None:
    network = example("alarm").with_tables(None)
    rows = []
    for size in sizes:
        table = alarm(size)
        limit = seconds(lambda table=table: read_once(table), 5)
        repeats = 1 if size > 2e5 else 5
        compiling = seconds(
            lambda table=table: engine_of(compile_problems(network, table), MEMORY), repeats
        )
        seeding = seconds(
            lambda t=table: learn(network, t, Deletion("factored"), pseudo_counts=1), repeats
        )
        one, several = (
            seconds(lambda t=table, em=em: learn(network, t, em, pseudo_counts=1), repeats)
            for em in (EM(restarts=1), EM())
        )
        ended = learn(network, table, EM(restarts=1), pseudo_counts=1).ended
        peer = pyagrum_em(table) if size == PEER_ROWS else None
        rows.append(
            [
                f"{size:,}",
                f"{compiling:.3f} s",
                f"{compiling / limit:.0f}x",
                f"{seeding:.3f} s",
                f"{ended.iterations}",
                f"{one:.3f} s",
                f"{several:.3f} s",
                f"{peer:.1f} s" if peer else "-",
                f"{peer / one:.0f}x" if peer else "-",
                f"{peer / several:.0f}x" if peer else "-",
            ]
        )
    header = ["rows", "compile", "x reading", "seed", "iterations", "restarts=1", "default"]
    header += ["pyAgrum", "/ restarts=1", "/ default"]
    print("\n## EM to 1e-4, processor time (Alarm, MCAR, 30% of variables, 70% hidden)\n")
    print(TextTable(header, rows))


def seconds(work: Callable[[], object], repeats: int) -> float:
    """The processor time of the shortest of several runs."""
    best = inf
    for _ in range(repeats):
        began = process_time()
        work()
        best = min(best, process_time() - began)
    return best


def pyagrum_em(table: EncodedTable) -> float:
    """The processor seconds that pyAgrum's EM takes on the same rows, smoothing 1."""
    network = example("alarm")
    learner, template = pyagrum_learner(network, table, 1e-4)
    start = process_time()
    learned = learner.learnParameters(template.dag())
    took = process_time() - start
    assert np.isfinite(learned.cpt(network.variables[0]).toarray()).all()
    return took


def pyagrum_learner(network: Network, table: EncodedTable, stop: float) -> tuple[Any, Any]:
    """Pyagrum's learner with EM, and the network it is to fill."""
    import pyagrum as gum

    template = to_pyagrum(network)
    frame = to_arrow(table, network).to_pandas().astype(object)
    frame = frame.where(frame.notna(), "?")
    learner = gum.BNLearner(frame, template, ["?"])
    learner.useSmoothingPrior(1)
    learner.useEM(stop)
    return learner, template


if __name__ == "__main__":
    main([int(float(size)) for size in sys.argv[1:]] or [10**3, 10**4, 10**5, 10**6])
