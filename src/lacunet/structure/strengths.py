"""How sure each arc is: the share of bootstrap replicates that have it.

Each replicate weighs the rows by independent exponential numbers (the Bayesian bootstrap) and
repeats the search from the order found. The weights' effective number of rows stands in the
score, else replicates would take chance for structure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lacunet.deadline import NEVER, Deadline, OutOfTimeError
from lacunet.progress import Progress, silent
from lacunet.structure.cpdag import compelled_arcs
from lacunet.structure.order import Ordered, Scores, search
from lacunet.structure.parents import Score, parent_sets
from lacunet.structure.rows import Rows
from lacunet.structure.search import Constraints, candidates_of

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
    completions: Sequence[Rows],
    best: Ordered,
    constraints: Constraints,
    score: Score,
    replicates: int,
    rng: np.random.Generator,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
) -> dict[tuple[int, int], Strength]:
    """The strength of each arc that a replicate has; fewer replicates if time is up."""
    candidates = (
        [candidates_of(completions[0], best.parents, constraints, CANDIDATES)][0]
        if replicates
        else []
    )
    adjacent: Counter[tuple[int, int]] = Counter()
    directed: Counter[tuple[int, int]] = Counter()
    done = 0
    try:
        for at in range(replicates):
            rows = completions[at % len(completions)]
            dag = _replicate(rows, best, candidates, constraints, score, rng, deadline)
            _tally(dag, adjacent, directed)
            done += 1
            progress("arc strengths", done, replicates)
    except OutOfTimeError:
        pass
    return {
        arc: Strength(adjacent[min(arc), max(arc)] / done, directed[arc] / done)
        for arc in sorted(directed)
    }


def _replicate(
    rows: Rows,
    best: Ordered,
    candidates: Sequence[tuple[int, ...]],
    constraints: Constraints,
    score: Score,
    rng: np.random.Generator,
    deadline: Deadline,
) -> Sequence[frozenset[int]]:
    drawn = rng.standard_exponential(rows.rows)
    weights = drawn if rows.weights is None else drawn * rows.weights
    own = np.ones(rows.rows) if rows.weights is None else rows.weights
    effective = (
        score.total * float(weights.sum()) ** 2 / float((weights**2 / own).sum()) / own.sum()
    )
    sample = replace(rows, weights=weights)
    sets = []
    for y, some in enumerate(candidates):
        deadline.check()
        required = constraints.required[y]
        own_score = replace(score, total=effective)
        sets.append(parent_sets(y, some, required, sample, own_score, constraints.max_parents))
    return search(Scores(sets, constraints.required), best.order, KICKS, rng, deadline).parents


def _tally(
    dag: Sequence[frozenset[int]],
    adjacent: Counter[tuple[int, int]],
    directed: Counter[tuple[int, int]],
) -> None:
    fixed = compelled_arcs([set(own) for own in dag])
    for y, own in enumerate(dag):
        for x in own:
            adjacent[min(x, y), max(x, y)] += 1
            directed[x, y] += 1 if (x, y) in fixed else 0.5  # type: ignore[assignment]
            if (x, y) not in fixed:
                directed[y, x] += 0.5  # type: ignore[assignment]
