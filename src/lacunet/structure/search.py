"""The best DAG for complete rows: candidates, scored parent sets, orders, and again.

In a small network all variables are candidates of each other. Else those of a variable are its
neighbours in the DAG so far, those that add most to its parents there, or to these and one of its
children (two causes of one effect may each look like no cause of it without the other), the other
parents of its children, and those with the largest gain by themselves.
With a better DAG the candidates get better, and with better candidates the DAG: a few rounds
settle both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lacunet.limits import NEVER, Deadline
from lacunet.network.network import FloatArray
from lacunet.structure.cpdag import topological_by_number
from lacunet.structure.gains import Gains, variables_that_gain
from lacunet.structure.indexed_rows import CodedRows
from lacunet.structure.order_search import IMPROVEMENT, Ordered, Scores, search
from lacunet.structure.scored_parents import CandidateParents, HopelessSets, ParentSets, parent_sets
from lacunet.structure.set_scores import Score, ScoredSets

BY_PAIR_GAIN = 9
BY_CONDITIONAL_GAIN = 4
MOST_CANDIDATES = 12
SCREENING_ROWS = 20_000  # candidates are chosen from these many rows, scores from all
KICKS_WITHOUT_RISE = (20, 60)  # without a better order: in the first round, in later ones
FEW_KICKS = (10, 20)  # in completions, whose best DAG is only a suggestion
MAX_KICK_ROUNDS = 8

Dag = tuple[frozenset[int], ...]


@dataclass(frozen=True, eq=False)
class Constraints:
    """What the user knows: parents that a variable must have, and those that it cannot have.

    ``required[y]`` are the parents of y; ``forbidden[x, y]`` says that x -> y may not be.
    """

    required: tuple[frozenset[int], ...]
    forbidden: NDArray[np.bool_]
    max_parents: int

    @cached_property
    def contradicted(self) -> NDArray[np.bool_]:
        """The arcs that are forbidden, or against required ones."""
        against = self.forbidden.copy()
        for y, parents in enumerate(self.required):
            against[y, list(parents)] = True
        return against

    def order(self, dag: Sequence[Set[int]]) -> list[int]:
        """An order that required arcs respect, and those of a DAG where they can."""
        nodes = topological_by_number(dag)
        index_of = {node: index for index, node in enumerate(nodes)}
        required = [{index_of[parent] for parent in self.required[node]} for node in nodes]
        return [nodes[index] for index in topological_by_number(required)]

    def directed(self, dag: Sequence[Set[int]]) -> Dag:
        """A DAG within the constraints that has the adjacencies of another where it can."""
        order = self.order(dag)
        index_of = {node: index for index, node in enumerate(order)}
        parents = [set(required) for required in self.required]
        for y, into in enumerate(dag):
            for x in into:
                # Only one direction goes along the order.
                parent, child = (x, y) if index_of[x] < index_of[y] else (y, x)
                if self.forbidden[parent, child]:
                    continue
                if len(parents[child] | {parent}) <= self.max_parents:
                    parents[child].add(parent)
        return tuple(map(frozenset, parents))


def add_gaining_arcs(dag: Dag, gains: Gains, constraints: Constraints) -> Dag:
    """The DAG with further arcs that gain something, the largest gains first.

    Completions drawn from a network know nothing of the dependences that it lacks, and so dilute
    what the rows show of them: the more is missing, the more. Drawn from a wider network they
    leave it to the search what to keep.
    """
    order = constraints.order(dag)
    wider = [set(into) for into in dag]
    ranked = []
    for index, y in enumerate(order):
        allowed = [x for x in order[:index] if x not in dag[y] and not constraints.forbidden[x, y]]
        others = [x for x in allowed if gains.related is None or y in gains.related[x]]
        added = gains.of_each(y, others, dag[y])
        ranked += [(-gain, x, y) for x, gain in zip(others, added, strict=True)]
    for _, x, y in sorted(ranked):
        if len(wider[y]) < constraints.max_parents and gains.gain(x, y, frozenset(wider[y])) > 0:
            wider[y].add(x)
    return tuple(map(frozenset, wider))


def better_dags(
    rows: CodedRows,
    start: Dag,
    screen: Screen,
    rng: np.random.Generator,
    deadline: Deadline = NEVER,
    kicks: tuple[int, int] = KICKS_WITHOUT_RISE,
) -> Iterator[Ordered]:
    """Ever better DAGs for complete rows, from another DAG on; the last is the best found.

    Parameters
    ----------
    screen
        What candidates are chosen by: these rows, or others.
    kicks
        How many kicks that lead to no better order end the first search, and later ones.
    """
    constraints = screen.constraints
    dag = start
    order = constraints.order(start)
    last: Ordered | None = None
    sets = ScoredSets(rows, screen.score)
    known: dict[tuple[int, tuple[int, ...]], ParentSets] = {}
    for done in range(MAX_KICK_ROUNDS):
        keys = [(y, screen.candidates(y, dag)) for y in range(len(rows))]
        if last and all(key in known for key in keys):
            break
        fresh = [key for key in keys if key not in known]
        families = [
            CandidateParents(y, candidates, constraints.required[y]) for y, candidates in fresh
        ]
        fresh_sets = parent_sets(families, sets, constraints.max_parents, screen.hopeless, deadline)
        known.update(zip(fresh, fresh_sets, strict=True))
        scores = Scores([known[key] for key in keys], constraints.required)
        best = search(scores, order, kicks[min(done, 1)], rng, deadline)
        if last and best.score <= last.score + IMPROVEMENT:
            break
        yield best
        deadline.check()
        last = best
        dag = best.parents
        order = list(best.order)


class Screen:
    """What candidates are chosen by: gains of some rows by a score, each computed once.

    ``related`` are the variables that gain by each one alone, None for all; ``hopeless``
    has of each variable the sets of parents that are not worth counting.

    Parameters
    ----------
    hopeless
        Those of other completions of the same rows; those of these rows are added.
    """

    def __init__(
        self,
        rows: CodedRows,
        constraints: Constraints,
        score: Score,
        hopeless: HopelessSets | None = None,
    ) -> None:
        self.rows = rows.thinned(SCREENING_ROWS)
        self.constraints = constraints
        self.score = score
        self.pairs = score.pair_gains(self.rows)
        self.related = variables_that_gain(self.pairs)
        self.hopeless = HopelessSets() if hopeless is None else hopeless
        self.known: dict[tuple[int, frozenset[int]], FloatArray] = {}

    def candidates(self, y: int, dag: Dag, most: int = MOST_CANDIDATES) -> tuple[int, ...]:
        """The variables that may become parents of y: all, or those that promise most."""
        forbidden = self.constraints.forbidden
        required = self.constraints.required[y]
        if len(dag) <= most + 1:
            return tuple(x for x in range(len(dag)) if not forbidden[x, y])
        children = [node for node, parents in enumerate(dag) if y in parents]
        neighbours = sorted(dag[y] | set(children))
        spouses = sorted({x for child in children for x in dag[child]} - {y})
        added = _ranked(self._added(y, dag[y]), -np.inf)[:BY_CONDITIONAL_GAIN]
        # The best given each child as well, among those that do not gain alone: two causes of one
        # effect may each look like no cause of it without the other.
        not_alone = np.where(self.pairs[y] > 0, -np.inf, 0.0)
        with_child: list[int] = []
        for child in children:
            with_child += _ranked(self._added(y, dag[y] | {child}) + not_alone, 0.0)[:1]
        alone = _ranked(self.pairs[y], 0.0)[:BY_PAIR_GAIN]
        ordered = dict.fromkeys(
            [*sorted(required), *neighbours, *added, *with_child, *spouses, *alone]
        )
        allowed = [x for x in ordered if not forbidden[x, y]]
        return tuple(sorted(allowed[: max(most, len(required))]))

    def _added(self, y: int, parents: frozenset[int]) -> FloatArray:
        """What every other variable would add to these parents of y."""
        if (y, parents) not in self.known:
            others = frozenset(range(len(self.rows)))
            if self.related is not None:
                others = self.related[y].union(*(self.related[x] for x in parents))
            self.known[y, parents] = self.score.gains(
                self.rows, y, sorted(parents), sorted(others - parents - {y})
            )
        return self.known[y, parents]


def _ranked(gains: FloatArray, above: float) -> list[int]:
    """The variables that gain more than that, the largest gains first."""
    order = np.argsort(-gains, kind="stable")
    ranked: list[int] = order[gains[order] > above].tolist()
    return ranked
