"""How sure each arc is: the share of bootstrap replicates that have it.

Each replicate weighs the rows of a completion by independent exponential numbers (the Bayesian
bootstrap) and repeats the search from the order found. The score counts all rows: with half of
them, which is the effective size of such weights, arcs are found in far fewer replicates than
they are true.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lacunet.deadline import NEVER, Deadline, OutOfTimeError
from lacunet.progress import Progress, silent
from lacunet.structure.cpdag import compelled_arcs
from lacunet.structure.order import Ordered, Scores, search
from lacunet.structure.parents import Score, parent_sets
from lacunet.structure.rows import CodedRows
from lacunet.structure.search import Constraints, Dag, Screen

KICKS = 5
CANDIDATES = 8


@dataclass(frozen=True)
class Strength:
    """The shares of replicates in which two variables are adjacent, and in this direction.

    An edge that a replicate leaves undirected counts half for each direction.
    """

    adjacent: float
    directed: float


def strengths_of(
    completions: Sequence[CodedRows],
    dag: Dag,
    constraints: Constraints,
    score: Score,
    replicates: int,
    rng: np.random.Generator,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
) -> dict[tuple[int, int], Strength]:
    """The strength of each arc that a replicate has; fewer replicates if it is cut short.

    Parameters
    ----------
    completions
        Complete rows, several draws of what was missing; replicates take turns.
    dag
        What was found: replicates start from it.
    """
    adjacent: defaultdict[tuple[int, int], float] = defaultdict(float)
    directed: defaultdict[tuple[int, int], float] = defaultdict(float)
    found: list[Ordered] = []
    try:
        screen, order = Screen.of(completions[0], score), constraints.order(dag)
        candidates = [screen.candidates(y, dag, constraints, CANDIDATES) for y in range(len(dag))]
        for at in range(replicates):
            sample = _reweighted(completions[at % len(completions)], rng)
            sets = []
            for y, some in enumerate(candidates):
                deadline.check()
                required = constraints.required[y]
                sets.append(parent_sets(y, some, required, sample, score, constraints.max_parents))
            scores = Scores(sets, constraints.required)
            found.append(search(scores, order, KICKS, rng, deadline))
            progress("arc strengths", len(found), replicates)
    except (OutOfTimeError, KeyboardInterrupt):
        pass
    for ordered in found:
        _tally(ordered.parents, adjacent, directed)
    done = len(found)
    return {
        arc: Strength(adjacent[min(arc), max(arc)] / done, directed[arc] / done)
        for arc in sorted(directed)
    }


def _reweighted(rows: CodedRows, rng: np.random.Generator) -> CodedRows:
    """The rows with exponential weights; a row that counts for several gets their sum."""
    own = np.ones(rows.rows) if rows.weights is None else rows.weights
    return replace(rows, weights=rng.standard_gamma(own))


def _tally(
    dag: Sequence[frozenset[int]],
    adjacent: defaultdict[tuple[int, int], float],
    directed: defaultdict[tuple[int, int], float],
) -> None:
    fixed = compelled_arcs([set(own) for own in dag])
    for y, own in enumerate(dag):
        for x in own:
            adjacent[min(x, y), max(x, y)] += 1
            directed[x, y] += 1 if (x, y) in fixed else 0.5
            directed[y, x] += 0 if (x, y) in fixed else 0.5
