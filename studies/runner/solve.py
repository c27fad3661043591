"""One job: learn under the clock, then judge what was learned.

A job has the cells of one problem and one learner, the shortest limit first. Most jobs are one
cell; those of anytime methods have one for each limit, and are run once, under the longest. The
clock counts processor time, so that other work on the machine does not matter.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from time import process_time
from typing import Any

from lacunet.ask.evaluate import divergence, fit
from lacunet.counts.em_problems.cell_layout import layout_of
from lacunet.learning.learn import learn
from lacunet.learning.result import Result
from lacunet.limits import timed_by
from lacunet.network.network import Network
from studies.problems.cells import Cell, Drawn, generator
from studies.runner.marks import Marks, Snapshot
from studies.runner.outcomes import Outcome, outcome_of
from studies.runner.structures import find_structure

Tell = Callable[[str], None]
TOO_SLOW = "no iteration of EM was finished within the limit"


def solve(job: Sequence[Cell], drawn: Drawn, tell: Tell = lambda _: None) -> list[Outcome]:
    """Learn and judge; ``tell`` is called as the clock starts ("learning") and stops ("judging").

    A closed form that took longer than its limit is over the limit; a method that heeds the
    limit itself has kept it, give or take what it could not interrupt, unless it started at
    random and got nowhere. A refusal is raised.
    """
    with warnings.catch_warnings(), timed_by(process_time):
        warnings.simplefilter("ignore")  # the result says what the warnings say
        if job[-1].learner.finds == "structure":
            return [_solve_structure(cell, drawn, tell) for cell in job]
        return _solve(job, drawn, tell)


def _solve_structure(cell: Cell, drawn: Drawn, tell: Tell) -> Outcome:
    table = drawn.complete if cell.learner.learns_from == "complete" else drawn.table
    hidden = sum(table.missing_of.values()) / (table.rows * len(table.variables))
    found = find_structure(
        cell.learner.method, drawn.truth, table, cell.limit, generator(cell.task, "method"), tell
    )
    return outcome_of(cell, "ok", {"hidden": hidden, **found})


def _solve(job: Sequence[Cell], drawn: Drawn, tell: Tell) -> list[Outcome]:
    *shorter, cell = job
    learner, network = cell.learner, drawn.truth.with_tables(None)
    table = drawn.complete if learner.learns_from == "complete" else drawn.table
    rng = generator(cell.task, "method")
    marks = Marks(one.limit for one in shorter if one.limit is not None)
    method = learner.build(cell.limit, drawn.separator, drawn.graph, marks)
    tell("learning")
    marks.began = began = process_time()
    result = learn(network, table, method, pseudo_counts=learner.pseudo_counts, rng=rng)
    seconds = process_time() - began
    marks.keep()
    tell("judging")
    about = {"seconds": seconds, "hidden": _hidden(result), **_ended(result)}
    if cell.limit is not None and seconds > cell.limit and not hasattr(method, "time_limit"):
        return [outcome_of(cell, "over the limit", about)]
    if learner.is_anytime and about.get("iterations") == 0:
        last = outcome_of(cell, "over the limit", about | {"message": TOO_SLOW})
    else:
        last = outcome_of(cell, "ok", about | judged(cell, drawn, result.network))

    def at_mark(one: Cell) -> Outcome:
        if one.limit not in marks.kept:
            return last.under(one)
        return _cut_outcome(one, drawn, last, marks.kept[one.limit])

    return [*map(at_mark, shorter), last]


def _cut_outcome(cell: Cell, drawn: Drawn, last: Outcome, found: Snapshot | None) -> Outcome:
    """What would have come of a run under a shorter limit."""
    about: dict[str, Any] = {"seconds": cell.limit, "hidden": last.hidden, "ended": "time limit"}
    if found is None:
        return outcome_of(cell, "over the limit", about | {"message": TOO_SLOW})
    about |= {"iterations": found.iterations, "run_under": last.limit}
    network = drawn.truth.with_tables(layout_of(drawn.truth).tables(found.cells))
    return outcome_of(cell, "ok", about | judged(cell, drawn, network))


def judged(cell: Cell, drawn: Drawn, network: Network) -> dict[str, float]:
    """How a learned network does on the test rows, and how far it is from the truth."""
    tested = fit(network, drawn.test)
    found = {"log_likelihood": tested.mean, "log_likelihood_error": tested.standard_error}
    if cell.problem.judge_divergence:
        apart = divergence(drawn.truth, network)
        found |= {"divergence": apart.value, "divergence_error": apart.standard_error}
    return found


def _hidden(result: Result) -> float:
    cells = result.rows * len(result.missing)
    return sum(result.missing.values()) / cells if cells else 0.0


def _ended(result: Result) -> dict[str, Any]:
    """How the method ended, and what it says of that."""
    if result.ended is None:
        return {"message": result.why}
    ended = result.ended
    message = " ".join([result.why, *ended.notes]).strip()
    return {"message": message, "ended": ended.reason, "iterations": ended.iterations}
