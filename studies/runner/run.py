"""The run itself: what is there is kept, what is missing is solved, in any order."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from lacunet.progress import Progress, silent
from studies.problems.cells import Cell, jobs_by_problem
from studies.runner.journal import journal_in, read_journal
from studies.runner.outcomes import Outcome, revision
from studies.runner.pool import solve_all

Kind = tuple[str | int, ...]  # network, setting, rows, method


@dataclass(frozen=True)
class Forecast:
    """What a run has before it: all its cells, those to be run, and how long these will take.

    ``likely_seconds`` of processor time are judged by the finished cells of the same kind, and
    unknown (None) as long as there is a kind of which none is finished.
    """

    cells: int
    to_run: int
    problems: int
    likely_seconds: float | None


def forecast(
    cells: Sequence[Cell],
    folder: Path,
    processes: int,
    *,
    retry: bool = False,
    anew: Collection[str] = (),
) -> Forecast:
    """What running these cells in this folder means; nothing is run."""
    kept = read_journal(folder)
    there = {key for key, one in kept.items() if _holds(one, retry, anew)}
    missing = [cell for cell in cells if cell.key not in there]
    seconds_of: dict[Kind, list[float]] = {}
    for one in kept.values():
        if one.whole_seconds is not None:
            kind = (one.network, one.setting, one.rows, one.method)
            seconds_of.setdefault(kind, []).append(one.whole_seconds)
    known = [seconds_of.get(_kind(cell), []) for cell in missing]
    likely = sum(map(fmean, known)) / processes if all(known) else None
    problems = len({cell.problem.key for cell in missing})
    return Forecast(len(cells), len(missing), problems, likely)


def _kind(cell: Cell) -> Kind:
    labels = cell.problem.labels
    return (labels["network"], labels["setting"], labels["rows"], cell.learner.name)


def run(
    cells: Sequence[Cell],
    folder: Path,
    processes: int = 1,
    progress: Progress = silent,
    *,
    retry: bool = False,
    anew: Collection[str] = (),
) -> dict[str, Outcome]:
    """Run the cells that the folder does not have yet, and give all that it has then.

    Every outcome is on disk before the next is taken. However often a run is killed and
    started again, a finished cell is neither lost nor run again; with ``retry``, those whose
    process died are, and those of the methods that are to be run ``anew`` if another revision
    ran them.
    """
    with journal_in(folder) as journal:
        by_task: dict[str, list[Outcome]] = {}
        kept = {key: one for key, one in journal.finished.items() if _holds(one, retry, anew)}
        for outcome in kept.values():
            by_task.setdefault(outcome.task, []).append(outcome)

        def serve(cell: Cell) -> Outcome | None:
            known = by_task.get(cell.task, [])
            return next((one.under(cell) for one in known if one.serves(cell)), None)

        todo = [cell for cell in cells if cell.key not in kept]
        done = len(cells) - len(todo)
        progress("cells", done, len(cells))
        for outcome in solve_all(jobs_by_problem(todo), processes, serve):
            journal.append(outcome)
            by_task.setdefault(outcome.task, []).append(outcome)
            done += 1
            progress("cells", done, len(cells), f"{outcome.network} {outcome.rows:,} rows")
        return dict(journal.finished)


def _holds(one: Outcome, retry: bool, anew: Collection[str]) -> bool:
    """Whether an outcome need not be made again."""
    is_old = one.method in anew and one.revision != revision()
    return not (is_old or (retry and one.status == "died"))
