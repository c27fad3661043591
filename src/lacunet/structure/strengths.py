"""How sure each arc is: probabilities from bootstrap replicates.

Each replicate weighs the rows of a completion by independent exponential numbers (the Bayesian
bootstrap) and repeats the search from the order found. The score counts all rows: with half of
them, which is the weighted sample size of such weights, arcs are found in far fewer replicates than
they are true.

Shares of replicates are not probabilities yet. Of the pairs that all replicates have, 95 in 100
are adjacent in the truth, but 75 of those that all but one in twenty have, and a third of those
that four to six in ten have. Most replicates leave most edges undirected. If those that direct an
edge one way are more than those that direct it the other way, the first direction is true in 61 of
100 if there is one more in twenty, in 71 if there are four more, and in 90 if all are. So
probabilities are read off lines through the points of ``ADJACENT`` and ``DIRECTED``. These were
fitted to tables of published networks; what is said of tables that had no part in the fit is in
`docs/decisions/0017-structure-search.md`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
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
ADJACENT = {
    0: 0,
    0.05: 0.1,
    0.1: 0.13,
    0.2: 0.21,
    0.35: 0.26,
    0.6: 0.38,
    0.85: 0.61,
    0.95: 0.75,
    1: 0.95,
}
DIRECTED = {
    0: 0.5,
    0.05: 0.61,
    0.1: 0.66,
    0.2: 0.71,
    0.65: 0.71,
    0.75: 0.77,
    0.9: 0.78,
    0.95: 0.82,
    1: 0.905,
}


@dataclass(frozen=True)
class Strength:
    """The probabilities that two variables are adjacent, and that the arc has this direction.

    ``directed`` is at most ``adjacent``, of which the other direction has the rest.
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
    return {
        arc: _strength(arc, constraints, adjacent, directed, len(found))
        for pair in sorted(adjacent)
        for arc in (pair, pair[::-1])
    }


def _strength(
    arc: tuple[int, int],
    constraints: Constraints,
    adjacent: Mapping[tuple[int, int], float],
    directed: Mapping[tuple[int, int], float],
    replicates: int,
) -> Strength:
    """The probabilities of an arc; what was said beforehand is not in doubt."""
    x, y = arc
    one, other = directed[x, y] / replicates, directed[y, x] / replicates
    is_required = x in constraints.required[y] or y in constraints.required[x]
    share = adjacent[min(arc), max(arc)] / replicates
    is_adjacent = 1.0 if is_required else _read_off(ADJACENT, share)
    is_directed = _read_off(DIRECTED, abs(one - other))
    if one < other:
        is_directed = 1 - is_directed
    if constraints.contradicted[x, y] != constraints.contradicted[y, x]:
        is_directed = 0.0 if constraints.contradicted[x, y] else 1.0
    return Strength(is_adjacent, is_adjacent * is_directed)


def _read_off(points: Mapping[float, float], share: float) -> float:
    """The probability that belongs to a share of replicates."""
    return float(np.interp(share, list(points), list(points.values())))


def _reweighted(rows: CodedRows, rng: np.random.Generator) -> CodedRows:
    """The rows with exponential weights; a row that counts for several gets their sum."""
    own = np.ones(rows.rows) if rows.weights is None else rows.weights
    return replace(rows, weights=rng.standard_gamma(own))


def _tally(
    dag: Sequence[frozenset[int]],
    adjacent: defaultdict[tuple[int, int], float],
    directed: defaultdict[tuple[int, int], float],
) -> None:
    """Count the pairs of a replicate, and the directions that its class has."""
    for x, y in compelled_arcs([set(own) for own in dag]):
        directed[x, y] += 1
    for y, own in enumerate(dag):
        for x in own:
            adjacent[min(x, y), max(x, y)] += 1
