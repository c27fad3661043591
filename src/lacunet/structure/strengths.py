"""How sure each arc is: probabilities from bootstrap replicates.

Each replicate weighs the rows of a completion by independent exponential numbers (the Bayesian
bootstrap) and repeats the search from the order found. The score counts all rows: with half of
them, which is the weighted sample size of such weights, arcs are found in far fewer replicates than
they are true.

Shares of replicates are not probabilities yet. Of the pairs that all replicates have and the
structure found has too, 95 in 100 are adjacent in the truth, but 77 of those that all but one in
twenty have, and 4 in 10 of those that half of them have. Pairs that the structure found does not
have are true in no more than 4 in 10, however many replicates have them: the search judges by the
rows as they are, replicates by rows that were completed. Most replicates leave most edges
undirected. If those that direct an edge one way are more than those that direct it the other way,
the first direction is true in 61 of 100 if there is one more in twenty, in 66 if there are four
more, and in 91 if all are. So probabilities are read off lines through the points of
``CHANCE_OF_ARCS_FOUND``, ``CHANCE_OF_ARCS_NOT_FOUND`` and ``CHANCE_OF_DIRECTED``. The more
variables, the fewer pairs with the same share are true: their odds fall with a power of the number.
All this was fitted to tables of published networks; what is said of networks that had no part in
the fit is in `docs/decisions/0017-structure-search.md`.

Each replicate also gives a network, from which the intervals of answers count the search
(`lacunet.learning.uncertainty.after_search`). Its DAG is the best by AIC: the edges that BIC leaves
out for want of rows are what these intervals are about, and replicates judged by BIC lack most of
them too. Its CPTs are counted from the weighted rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np

from lacunet.learning.uncertainty.delta import JEFFREYS_PSEUDO_COUNT
from lacunet.limits import NEVER, Deadline, OutOfTimeError
from lacunet.network.network import FloatArray
from lacunet.progress import Progress, silent
from lacunet.structure.cpdag import compelled_arcs
from lacunet.structure.indexed_rows import CodedRows
from lacunet.structure.order_search import Ordered, Scores, search
from lacunet.structure.scored_parents import CandidateParents, HopelessSets, parent_sets
from lacunet.structure.search import Constraints, Dag, Screen
from lacunet.structure.set_scores import CountedSets, ScoredSets

AIC = 1.0  # that it takes for each free parameter
KICKS_OF_REPLICATE = 5
CANDIDATES = 8
MOST_TOGETHER = 10  # replicates that are counted at once

# The chance that an arc is true, by the share of the replicates that have it: where the network of
# all rows has it, and where it has not. Then the chance of a direction, by how far it leads.
CHANCE_OF_ARCS_FOUND = {
    0: 0.33,
    0.3: 0.36,
    0.5: 0.44,
    0.7: 0.47,
    0.8: 0.57,
    0.85: 0.64,
    0.95: 0.77,
    1: 0.95,
}
CHANCE_OF_ARCS_NOT_FOUND = {0: 0, 0.05: 0.09, 0.1: 0.13, 0.25: 0.22, 0.5: 0.3, 1: 0.37}
CHANCE_OF_DIRECTED = {0: 0.5, 0.05: 0.61, 0.2: 0.66, 0.5: 0.69, 0.85: 0.75, 0.9: 0.84, 1: 0.91}
CALIBRATED_VARIABLES = 16  # the chances above are for tables of so many
MOST_VARIABLES = 30  # the fit saw no more
POWER = 0.7


@dataclass(frozen=True)
class Strength:
    """The probabilities that two variables are adjacent, and that the arc has this direction.

    ``directed`` is at most ``adjacent``, of which the other direction has the rest.
    """

    adjacent: float
    directed: float

    def __repr__(self) -> str:
        return f"Strength(adjacent={self.adjacent:.2f}, directed={self.directed:.2f})"


@dataclass(frozen=True, eq=False)
class Replicate:
    """What the search found in reweighted rows.

    ``compelled`` are the arcs of the DAG that all DAGs of its class share. ``wider`` is the best
    DAG by AIC.
    """

    dag: Dag
    compelled: set[tuple[int, int]]
    wider: Dag
    rows: CodedRows  # complete, with the weights of the replicate

    def counts(self, node: int) -> FloatArray:
        """The weights of the configurations of a variable and its parents in ``wider``, child last.

        Each configuration of the parents gets one row more, which is spread like all rows: where
        a replicate shows none, its CPT is the margin of the variable.
        """
        counts = self.rows.count([*sorted(self.wider[node]), node])
        margin = self.rows.frequencies[node] + JEFFREYS_PSEUDO_COUNT
        return np.asarray(counts + margin / margin.sum())


def bootstrap(
    completions: Sequence[CodedRows],
    dag: Dag,
    screen: Screen,
    replicates: int,
    rng: np.random.Generator,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
) -> list[Replicate]:
    """Search again in so many replicates of the rows; in fewer if it is cut short.

    Parameters
    ----------
    completions
        Complete rows, several draws of what was missing, each for as many replicates.
    dag
        What was found: replicates start from it.
    screen
        What the search chose candidates by.
    """
    constraints, score = screen.constraints, screen.score
    learned: list[Replicate] = []
    try:
        order = constraints.order(dag)
        families = [
            CandidateParents(y, screen.candidates(y, dag, CANDIDATES), required)
            for y, required in enumerate(constraints.required)
        ]
        aic = replace(score, equivalent_size=None, price=AIC)
        hopeless_by_aic = HopelessSets()
        rng_of_wider = deepcopy(rng)  # so that strengths are the same without the wider networks

        def best_of_sample(
            sets: ScoredSets,
            start: Sequence[int],
            hopeless: HopelessSets,
            kicks: np.random.Generator,
        ) -> Ordered:
            scored = parent_sets(families, sets, constraints.max_parents, hopeless, deadline)
            scores = Scores(scored, constraints.required)
            return search(scores, start, KICKS_OF_REPLICATE, kicks, deadline)

        for group in _groups(completions, replicates):
            samples = [_reweighted(rows, rng) for rows in group]
            counted = CountedSets(samples, [score, aic])  # nearly the same sets are wanted in all
            for sample in samples:
                by_score = ScoredSets(sample, score, counted)
                by_aic = ScoredSets(sample, aic, counted)
                best = best_of_sample(by_score, order, screen.hopeless, rng)
                compelled = compelled_arcs(best.parents, constraints.contradicted)
                wider = best_of_sample(by_aic, best.order, hopeless_by_aic, rng_of_wider)
                learned.append(Replicate(best.parents, compelled, wider.parents, sample))
                progress("edge strengths", len(learned), replicates)
    except (OutOfTimeError, KeyboardInterrupt):
        return learned
    return learned


def _groups(completions: Sequence[CodedRows], replicates: int) -> Iterator[list[CodedRows]]:
    """The completion of each replicate; those of one group have the same and are counted together.

    Completions are shared out evenly.
    """
    for first, completion in enumerate(completions):
        of_completion = len(range(first, replicates, len(completions)))
        for begin in range(0, of_completion, MOST_TOGETHER):
            yield [completion] * min(MOST_TOGETHER, of_completion - begin)


def strengths_of(
    learned: Sequence[Replicate], dag: Dag, constraints: Constraints
) -> dict[tuple[int, int], Strength]:
    """The strength of each arc that a replicate has.

    Parameters
    ----------
    dag
        What was found: what replicates share with it is more probable.
    """
    adjacent = Counter(
        (min(x, y), max(x, y))
        for replicate in learned
        for y, some in enumerate(replicate.dag)
        for x in some
    )
    directed = Counter(arc for replicate in learned for arc in replicate.compelled)
    strength_of = {}
    for pair, times in sorted(adjacent.items()):
        for x, y in (pair, pair[::-1]):
            forward = directed[x, y] / len(learned)
            backward = directed[y, x] / len(learned)
            share = times / len(learned)
            lead = forward - backward
            strength_of[x, y] = _strength(
                x=x, y=y, dag=dag, constraints=constraints, share=share, lead=lead
            )
    return strength_of


def _strength(
    x: int, y: int, dag: Dag, constraints: Constraints, share: float, lead: float
) -> Strength:
    """The probabilities of an arc; what was said beforehand is not in doubt.

    Parameters
    ----------
    share, lead
        The share of replicates that have it in any direction, and by how much more of them direct
        it this way than the other.
    """
    is_required = x in constraints.required[y] or y in constraints.required[x]
    points = CHANCE_OF_ARCS_FOUND if x in dag[y] or y in dag[x] else CHANCE_OF_ARCS_NOT_FOUND
    is_adjacent = 1.0 if is_required else _among(len(dag), _read_off(points, share))
    is_directed = _read_off(CHANCE_OF_DIRECTED, abs(lead))
    if lead < 0:
        is_directed = 1 - is_directed
    if constraints.contradicted[x, y] != constraints.contradicted[y, x]:
        is_directed = 0.0 if constraints.contradicted[x, y] else 1.0
    return Strength(is_adjacent, is_adjacent * is_directed)


def _read_off(points: Mapping[float, float], share: float) -> float:
    """The probability that belongs to a share of replicates."""
    return float(np.interp(share, list(points), list(points.values())))


def _among(variables: int, probability: float) -> float:
    """The probability of a pair among so many variables, given that among the calibrated."""
    fewer: float = (CALIBRATED_VARIABLES / min(variables, MOST_VARIABLES)) ** POWER
    odds = probability / (1 - probability) * fewer
    return odds / (1 + odds)


def _reweighted(rows: CodedRows, rng: np.random.Generator) -> CodedRows:
    """The rows with exponential weights; a row that counts for several gets their sum."""
    weights = np.ones(rows.rows) if rows.weights is None else rows.weights
    return replace(rows, weights=rng.standard_gamma(weights))
