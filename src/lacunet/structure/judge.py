r"""The judge: the BIC of the *observed* data, by exact EM.

.. math::
    \mathrm{BIC}(G) = \max_\theta \log \Pr_\theta(\text{observed cells}) -
    \frac{\log N}{2} \sum_y (r_y - 1) q_y

Completions guide the search; what they suggest is taken only if this score rises. It is the
one place of the room that calls EM.

Where a mechanism looks at values that are missing themselves, leaving it out would bias both the
score and the completions. Then the mechanisms are observed nodes of the network
(`lacunet.missingness.augmented`): the score is that of the cells and of which of them are shown,
and completions are drawn given both.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np

from lacunet.completion.rows import draw_completions
from lacunet.data.table import EncodedTable
from lacunet.deadline import NEVER, Deadline, OutOfTimeError
from lacunet.estimate.em.climb import Limits, climb
from lacunet.inference.engine import engine_of
from lacunet.missingness.augmented import augmented, mechanism_start
from lacunet.missingness.graph import MissingnessGraph
from lacunet.model.network import FloatArray, Network
from lacunet.statistics.gather import with_mechanisms
from lacunet.statistics.problems.compile import compile_problems
from lacunet.structure.rows import Rows
from lacunet.structure.search import Dag

TOLERANCE = 1e-3
MOST_ITERATIONS = 60
SMOOTHING = 0.5  # added to the counts that EM starts from: it never leaves a zero


@dataclass(frozen=True, eq=False)
class Judged:
    """A network with its maximum likelihood CPTs, and its exact score.

    ``whole`` has the mechanisms that cannot be left out as further nodes, and ``rows`` show them.
    """

    network: Network
    score: float
    whole: Network
    rows: EncodedTable

    def draw(self, number: int, rng: np.random.Generator, memory: int) -> list[EncodedTable]:
        """Completions of the rows from their posterior, without the mechanisms."""
        drawn = draw_completions(self.whole, self.rows, number, rng, memory)
        names = self.network.variables
        return [
            EncodedTable.of(
                {name: one.cardinality_of[name] for name in names},
                {name: one.columns[name] for name in names},
                one.weights,
            )
            for one in drawn
        ]


def network_of(columns: Network, dag: Dag) -> Network:
    """The network of a DAG over these variables, parents in their order."""
    names = columns.variables
    parents = {names[y]: [names[x] for x in sorted(own)] for y, own in enumerate(dag)}
    return Network(columns.states_of, parents, cuts=columns.cuts_of)


def free_parameters(network: Network) -> int:
    """The number of free parameters of all CPTs."""
    return sum(
        (network.cardinality(name) - 1) * int(np.prod(network.shape(network.parents(name))))
        for name in network.variables
    )


def judge(
    network: Network,
    table: EncodedTable,
    start: dict[str, FloatArray],
    memory: int,
    deadline: Deadline = NEVER,
    graph: MissingnessGraph | None = None,
) -> Judged:
    """The exact score of a structure on the observed cells, and its CPTs.

    Parameters
    ----------
    start
        Where EM starts: a table for each family, every cell positive.
    graph
        The mechanisms, over any network of these variables; None if they can be left out.
    """
    if graph is not None:
        own = MissingnessGraph(network, graph.causes, graph.hidden)
        made = augmented(own, table.partially_observed)
        shown_of = {name: 1 - hidden / table.stand_for for name, hidden in table.missing_of.items()}
        start = start | mechanism_start(made, shown_of)
        whole = made.network
        table = with_mechanisms(table, {node: name for name, node in made.name_of.items()})
    else:
        whole = network
    problems = compile_problems(whole, table)
    engine = engine_of(problems, memory, deadline=deadline)
    layout = problems.layout
    limits = Limits(TOLERANCE, MOST_ITERATIONS, deadline=deadline)
    reached = climb(engine, layout.flat(start), 1.0, limits)
    if reached.reason == "interrupted":
        raise KeyboardInterrupt
    if reached.reason == "time limit":
        raise OutOfTimeError
    penalty = log(max(table.total, 2.0)) / 2 * free_parameters(whole)
    tables = layout.tables(reached.cells)
    found = network.with_tables({name: tables[name] for name in network.variables})
    score = float(reached.log_likelihoods.sum()) - penalty
    return Judged(found, score, whole.with_tables(tables), table)


def tables_from(rows: Rows, network: Network) -> dict[str, FloatArray]:
    """CPTs from the rows that show each family, smoothed so that no cell is zero."""
    place = {name: at for at, name in enumerate(network.variables)}
    found = {}
    for name in network.variables:
        counts, _ = rows.count([place[one] for one in network.family(name)])
        counts = counts + SMOOTHING
        found[name] = counts / counts.sum(axis=-1, keepdims=True)
    return found
