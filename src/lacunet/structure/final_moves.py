"""The last word: moves that the exact judge accepts, until none is left that promises anything.

A false arc reproduces itself in completions, so a search in completions ends with structures
that the judge itself holds for worse than others. Here it is asked about single moves
(`lacunet.structure.moves`), the most promising first. What it rejected is not asked again while
the variables that get other parents have the same ones, in later rounds and from other starts
either: of 733 such moves that were judged again 6 were accepted, and gained less than half a nat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from lacunet.limits import Deadline
from lacunet.structure.cpdag import Children, children_of
from lacunet.structure.indexed_rows import CodedRows
from lacunet.structure.judge_by_em import FittedStructure, Judge
from lacunet.structure.moves import LEAST_PROMISE, Move, ParentsOfNode, Promises, closes_a_cycle
from lacunet.structure.search import Constraints, Dag

LEAST_SCORE_RISE = 0.1  # of the exact score: less is the tolerance of EM
MOST_SWEEPS = 12
MOST_REJECTED = 15  # moves in a row, after which no other is asked about

Rejected = set[tuple[ParentsOfNode, ...]]  # parents before a move and after it


def polish(
    judge: Judge,
    fit: FittedStructure,
    limits: Constraints,
    candidates: Sequence[Sequence[int]],
    completions: Callable[[FittedStructure], Sequence[CodedRows]],
    rejected: Rejected,
) -> Iterator[FittedStructure]:
    """Ever better structures, until no promising move makes one better; the scores are exact.

    Parameters
    ----------
    candidates
        For each variable those that may become its parents.
    completions
        The completions of a fit that moves are chosen by.
    rejected
        Moves that need not be judged; those that the judge rejects are added.
    """
    nodes: Iterable[int] = range(len(fit.dag))
    for _ in range(MOST_SWEEPS):
        promises = Promises(judge.rows, completions(fit), judge.penalty)
        moves = _moves(promises, fit.dag, nodes, limits, candidates, judge.deadline)
        after, changed = _accepted(judge, fit, moves, rejected)
        if not changed:
            return
        exact = judge.fit(after.dag, after)
        if exact.score <= fit.score + LEAST_SCORE_RISE:  # several bounds together may be off
            return
        yield exact
        fit = exact
        nodes = _around(exact.dag, changed)


def _moves(
    promises: Promises,
    dag: Dag,
    nodes: Iterable[int],
    limits: Constraints,
    candidates: Sequence[Sequence[int]],
    deadline: Deadline,
) -> list[Move]:
    """What promises something, the most first."""
    moves: list[Move] = []
    children = children_of(dag)
    for y in nodes:
        below = _descendants(children, y)
        others = [z for z in candidates[y] if z not in below]
        of_arcs = (promises.of_arc(x, y, dag, limits) for x in sorted(dag[y]))
        for move in chain(promises.of_family(y, dag, others, limits), *of_arcs):
            deadline.check()
            moves.append(move)
    some = (move for move in moves if move.promise > LEAST_PROMISE)
    return sorted(some, key=lambda move: -move.promise)


def _descendants(children: Children, node: int) -> set[int]:
    """The variables that a directed path leads to."""
    waiting = [node]
    descendants = set[int]()
    while waiting:
        fresh = set(children[waiting.pop()]) - descendants
        descendants |= fresh
        waiting += fresh
    return descendants


def _accepted(
    judge: Judge, fit: FittedStructure, moves: Sequence[Move], rejected: Rejected
) -> tuple[FittedStructure, set[int]]:
    """The structure after all moves that gain something, and the variables that they changed."""
    best = fit
    changed: set[int] = set()
    rejected_in_a_row = 0
    for move in moves:
        judge.deadline.check()
        if rejected_in_a_row == MOST_REJECTED:
            break
        if not changed.isdisjoint(move.nodes) or closes_a_cycle(best.dag, move):
            continue
        before = tuple((node, best.dag[node]) for node, _ in move.steps)
        trial = before + move.steps
        if trial in rejected:
            continue
        after = best
        for node, parents in move.steps:
            after = judge.changed(after, node, parents)
        if after.score > best.score + LEAST_SCORE_RISE:
            best = after
            changed |= move.nodes
            rejected_in_a_row = 0
        else:
            rejected.add(trial)
            rejected_in_a_row += 1
    return best, changed


def _around(dag: Dag, changed: set[int]) -> list[int]:
    """The variables whose moves may promise something else after some have changed."""
    near = set(changed)
    for y, parents in enumerate(dag):
        if y in changed or parents & changed:
            near |= {y, *parents}
    return sorted(near)
