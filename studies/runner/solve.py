"""One cell: learn under the clock, then judge what was learned."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any

from lacunet.estimate.learn import Result, learn
from lacunet.evaluate import divergence, fit
from studies.problems.cells import Cell, Drawn, generator
from studies.runner.outcomes import Outcome, outcome_of


def solve(cell: Cell, drawn: Drawn, tell: Callable[[str], None] = lambda _: None) -> Outcome:
    """Learn and judge; ``tell`` is called as the clock starts ("learning") and stops ("judging").

    A closed form that took longer than its limit is over the limit; a method that heeds the
    limit itself has kept it, give or take what it could not interrupt. A refusal is raised.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the result says what the warnings say
        return (_solve_structure if cell.learner.finds == "structure" else _solve)(
            cell, drawn, tell
        )


def _solve_structure(cell: Cell, drawn: Drawn, tell: Callable[[str], None]) -> Outcome:
    from studies.runner.structures import find_structure

    table = drawn.complete if cell.learner.learns_from == "complete" else drawn.table
    cells = table.rows * len(table.variables)
    hidden = sum(table.missing_of.values()) / cells
    found = find_structure(
        cell.learner.method, drawn.truth, table, cell.limit, generator(cell.task, "method"), tell
    )
    return outcome_of(cell, "ok", {"hidden": hidden, **found})


def _solve(cell: Cell, drawn: Drawn, tell: Callable[[str], None]) -> Outcome:
    table = drawn.complete if cell.learner.learns_from == "complete" else drawn.table
    rng = generator(cell.task, "method")
    method = cell.learner.build(cell.limit, drawn.separator, drawn.graph)
    tell("learning")
    began = perf_counter()
    result = learn(drawn.truth.with_tables(None), table, method, rng=rng)
    seconds = perf_counter() - began
    tell("judging")
    about = {"seconds": seconds, "hidden": _hidden(result), "message": result.why} | _ended(result)
    if cell.limit is not None and seconds > cell.limit and not hasattr(method, "time_limit"):
        return outcome_of(cell, "over the limit", about)
    return outcome_of(cell, "ok", about | judged(cell, drawn, result))


def judged(cell: Cell, drawn: Drawn, result: Result) -> dict[str, float]:
    """How the learned network does on the test rows, and how far it is from the truth."""
    tested = fit(result.network, drawn.test)
    found = {"log_likelihood": tested.mean, "log_likelihood_error": tested.standard_error}
    if cell.problem.judge_divergence:
        apart = divergence(drawn.truth, result.network)
        found |= {"divergence": apart.value, "divergence_error": apart.standard_error}
    return found


def _hidden(result: Result) -> float:
    cells = result.rows * len(result.missing)
    return sum(result.missing.values()) / cells if cells else 0.0


def _ended(result: Result) -> dict[str, Any]:
    if result.ended is None:
        return {}
    return {"ended": result.ended.reason, "iterations": result.ended.iterations}
