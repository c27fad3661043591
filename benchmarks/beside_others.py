"""The same rows for lacunet, pgmpy and pyAgrum: divergence from the truth, and processor time.

    python benchmarks/beside_others.py ROWS.csv [SECONDS]     # measure, or go on measuring
    python benchmarks/beside_others.py ROWS.csv --table       # print what is there
    python benchmarks/beside_others.py --queries              # one target, given two variables
    python benchmarks/beside_others.py --screening            # the patients of the book

Values go missing at random (30% of the variables, chances of being missing from Beta(1, 0.5)).
Every learner adds one pseudo-count per cell (our prior 2, pgmpy's K2, pyAgrum's smoothing 1), so
that only the missing values tell them apart. Each line of ROWS.csv is one learner on one draw;
draws that are there are not made again. After SECONDS (default 600) no new one is begun.
"""

from __future__ import annotations

import csv
import logging
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import monotonic, process_time
from typing import Any

import numpy as np

import lacunet as lc
from lacunet.ask.evaluate import kl_divergence
from lacunet.data.read import read_table
from lacunet.data.table import EncodedTable
from lacunet.data.write import to_arrow
from lacunet.inference.sampling import sample_codes
from lacunet.text_tables import TextTable

CASES = (("asia", 300), ("asia", 3_000), ("child", 1_000))
DRAWS = 10
QUERIES = 27  # the first two are not counted
MOST_ROWS = {"pyAgrum EM": 300}  # beyond, a draw takes it minutes
STOP = 1e-4
FIELDS = ("network", "rows", "draw", "learner", "divergence", "seconds")
Learner = Callable[[lc.Network, EncodedTable], lc.Network]


def ours(method: Any) -> Learner:
    return lambda network, table: lc.learn(network, table, method=method, pseudo_counts=1).network


def frame_of(network: lc.Network, table: EncodedTable) -> Any:
    frame = to_arrow(table, network).to_pandas().astype(object)
    return frame.where(frame.notna(), None)


def pgmpy_model(network: lc.Network) -> Any:
    from pgmpy.models import DiscreteBayesianNetwork

    edges = [(p, child) for child in network.variables for p in network.parents(child)]
    model = DiscreteBayesianNetwork(edges)
    model.add_nodes_from(network.variables)
    return model


def pgmpy_fit(network: lc.Network, table: EncodedTable) -> lc.Network:
    """pgmpy's `fit` with pseudo-counts of one: the rows that show each family."""
    from pgmpy.parameter_estimator import DiscreteBayesianEstimator

    states = {name: list(network.states(name)) for name in network.variables}
    estimator = DiscreteBayesianEstimator(state_names=states, prior_type="K2")
    model = pgmpy_model(network).fit(frame_of(network, table), estimator)
    return lc.from_pgmpy(model)


def pyagrum_em(network: lc.Network, table: EncodedTable) -> lc.Network:
    """pyAgrum's exact EM until a step changes the log-likelihood by less than 1e-4 of itself."""
    import pyagrum as gum

    template = lc.to_pyagrum(network)
    frame = frame_of(network, table).fillna("?")
    learner = gum.BNLearner(frame, template, ["?"])
    learner.useSmoothingPrior(1)
    learner.useEM(STOP)
    learner.setNumberOfThreads(1)  # as all others here; threads that wait for each other cost time
    return lc.from_pyagrum(learner.learnParameters(template.dag()))


LEARNERS: dict[str, Learner] = {
    "lacunet listwise": ours("listwise"),
    "lacunet direct-mcar": ours("direct-mcar"),
    "lacunet factored-mar": ours("factored-mar"),
    "lacunet em, one start": ours(lc.EM(tolerance=STOP, restarts=1)),
    "lacunet auto": ours("auto"),
    "pgmpy fit, K2": pgmpy_fit,
    "pyAgrum EM": pyagrum_em,
}


def measure(path: Path, most: float) -> None:
    done = {(row["network"], row["rows"], row["draw"], row["learner"]) for row in read(path)}
    small = lc.example("cancer")
    for learn in LEARNERS.values():  # so that no import is measured
        learn(small, lc.simulate(small, 50, lc.MAR(share=0.5, beta=(1.0, 0.5)), rng=0).table)
    began = monotonic()
    for draw in range(DRAWS):
        for name, rows in CASES:
            network = lc.example(name)
            rng = np.random.default_rng([2026, rows, draw])
            table = lc.simulate(network, rows, lc.MAR(share=0.3, beta=(1, 0.5)), rng=rng).table
            for learner, learn in LEARNERS.items():
                if (name, str(rows), str(draw), learner) in done or monotonic() - began > most:
                    continue
                if rows > MOST_ROWS.get(learner, rows):
                    continue
                start = process_time()
                learned = learn(network, table)
                took = process_time() - start
                aligned = lc.Network(network.states_of, network.parents_of)
                tables = {v: aligned_table(learned, network, v) for v in aligned.variables}
                divergence = kl_divergence(network, aligned.with_tables(tables))
                write(path, (name, rows, draw, learner, f"{divergence:.6g}", f"{took:.4g}"))


def aligned_table(learned: lc.Network, network: lc.Network, variable: str) -> np.ndarray:
    """The CPT with the parents and states in the network's order."""
    cpt = learned.cpt(variable)
    order = [cpt.parents.index(parent) for parent in network.parents(variable)]
    table = np.transpose(cpt.table, [*order, len(order)])
    for axis, name in enumerate(network.family(variable)):
        states = learned.states(name)
        table = np.take(table, [states.index(state) for state in network.states(name)], axis)
    return table


def read(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file, FIELDS))


def write(path: Path, row: tuple[Any, ...]) -> None:
    with path.open("a", encoding="utf-8") as file:
        csv.writer(file).writerow(row)


def show(path: Path) -> None:
    found = read(path)
    rows = []
    for name, size in CASES:
        for learner in LEARNERS:
            own = [
                row
                for row in found
                if (row["network"], row["rows"], row["learner"]) == (name, str(size), learner)
            ]
            if own:
                far = [float(row["divergence"]) for row in own]
                took = median(float(row["seconds"]) for row in own)
                low, high = np.quantile(far, [0.25, 0.75])
                spread = f"{median(far):.4f} [{low:.4f}, {high:.4f}]"
                rows.append([name, f"{size:,}", learner, f"{len(own)}", spread, f"{took:.3g}"])
    header = ["network", "rows", "learner", "n", "KL, median [quartiles]", "seconds"]
    print(TextTable(header, rows, left=3))


def _ways(network: lc.Network) -> dict[str, Callable[[str, dict[str, str]], Any]]:
    """Each library's answer to P(target | given)."""
    import pyagrum as gum
    from pgmpy.inference import VariableElimination

    theirs, other = lc.to_pyagrum(network), lc.to_pgmpy(network)
    return {
        "lacunet": lambda v, e: np.asarray(network.query([v], e)),
        "pyAgrum": lambda v, e: gum.getPosterior(theirs, target=v, evs=e).toarray(),
        "pgmpy": lambda v, e: VariableElimination(other).query([v], e, show_progress=False),
    }


def queries() -> None:
    """The median processor time of one exact answer, and the largest difference between them."""
    rows = []
    for name in ("asia", "child", "alarm"):
        network = lc.example(name)
        ways = _ways(network)
        took: dict[str, list[float]] = {"lacunet": [], "pyAgrum": [], "pgmpy": []}
        apart, rng = 0.0, np.random.default_rng(11)
        row = sample_codes(network, 1, rng)
        for _ in range(QUERIES):
            target, *seen = map(str, rng.choice(network.variables, 3, replace=False))
            given = {v: network.states(v)[int(row.columns[v][0])] for v in seen}
            answers = {}
            for library, ask in ways.items():
                start = process_time()
                answers[library] = ask(target, given)
                took[library].append(1000 * (process_time() - start))
            factor = answers["pgmpy"]
            order = [factor.state_names[target].index(state) for state in network.states(target)]
            for answer in (answers["pyAgrum"], np.asarray(factor.values)[order]):
                apart = max(apart, float(np.abs(answer - answers["lacunet"]).max()))
        medians = [f"{median(took[library][2:]):.2g}" for library in took]
        rows.append([name, f"{QUERIES - 2}", *medians, f"{apart:.1g}"])
    print(TextTable(["network", "n", *took, "largest difference"], rows))


def filled_in(network: lc.Network, table: EncodedTable) -> lc.Network:
    """Every missing value replaced by the most frequent one of its column, then counted."""
    frame = frame_of(network, table)
    frame = frame.fillna(frame.mode().iloc[0])
    return lc.learn(network, frame, "listwise", pseudo_counts=1).network


def screening() -> None:
    """The sensitivity of the test, from the patients of the book, by every learner."""
    network = lc.example("screening")
    table = read_table(lc.example_data("screening"), network)
    print(f"truth {network.cpt('Test').table[1, 1]:.3f}")
    for name, learn in {**LEARNERS, "most frequent value": filled_in}.items():
        start = process_time()
        learned = learn(network, table)
        seconds = process_time() - start
        sensitivity = aligned_table(learned, network, "Test")[1, 1]
        print(f"{name:24} {sensitivity:.3f} {seconds:8.2f} s", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    if sys.argv[1] in ("--queries", "--screening"):
        {"--queries": queries, "--screening": screening}[sys.argv[1]]()
        sys.exit()
    where = Path(sys.argv[1])
    if "--table" not in sys.argv:
        measure(where, float(sys.argv[2]) if len(sys.argv) > 2 else 600.0)
    show(where)
