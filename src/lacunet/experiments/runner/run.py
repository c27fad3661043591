"""The run itself: what is there is kept, what is missing is solved, in any order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lacunet.experiments.runner.cells import Cell, by_problem
from lacunet.experiments.runner.journal import journal_in, read_journal
from lacunet.experiments.runner.outcomes import Outcome
from lacunet.experiments.runner.pool import solve_all
from lacunet.progress import Progress, silent


@dataclass(frozen=True)
class Forecast:
    """What a run has before it: cells, those already there, and the longest it can take."""

    cells: int
    finished: int
    problems: int
    longest_seconds: float | None

    @property
    def to_run(self) -> int:
        """The cells that are not there yet."""
        return self.cells - self.finished


def forecast(
    cells: Sequence[Cell], folder: Path, processes: int, *, retry: bool = False
) -> Forecast:
    """What running these cells in this folder means; nothing is run.

    The longest it can take is the sum of the limits over the processes, unknown if a cell
    has none. It takes as long only if every method uses up its limit.
    """
    missing = _missing(cells, read_journal(folder), retry)
    limits = [cell.limit for cell in missing]
    known = [limit for limit in limits if limit is not None]
    longest = sum(known) / processes if len(known) == len(limits) else None
    problems = len({cell.problem.key for cell in missing})
    return Forecast(len(cells), len(cells) - len(missing), problems, longest)


def run(
    cells: Sequence[Cell],
    folder: Path,
    processes: int = 1,
    progress: Progress = silent,
    *,
    retry: bool = False,
) -> dict[str, Outcome]:
    """Run the cells that the folder does not have yet, and give all that it has then.

    Every outcome is on disk before the next is taken. However often a run is killed and
    started again, a finished cell is neither lost nor run again; with ``retry``, those whose
    process died are.
    """
    with journal_in(folder) as journal:
        by_task: dict[str, list[Outcome]] = {}
        for outcome in journal.finished.values():
            by_task.setdefault(outcome.task, []).append(outcome)

        def serve(cell: Cell) -> Outcome | None:
            known = by_task.get(cell.task, [])
            return next((one.under(cell) for one in known if one.serves(cell)), None)

        todo = _missing(cells, journal.finished, retry)
        done = len(cells) - len(todo)
        progress("cells", done, len(cells))
        for outcome in solve_all(by_problem(todo), processes, serve):
            journal.append(outcome)
            by_task.setdefault(outcome.task, []).append(outcome)
            done += 1
            progress("cells", done, len(cells), f"{outcome.network} {outcome.rows:,} rows")
        return dict(journal.finished)


def _missing(cells: Sequence[Cell], finished: Mapping[str, Outcome], retry: bool) -> list[Cell]:
    there = {key for key, one in finished.items() if not (retry and one.status == "died")}
    return [cell for cell in cells if cell.key not in there]
