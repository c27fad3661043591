"""The rows that a network is learned from, wherever they are.

An estimate sees statistics only, so a source of rows is what gathers them: rows held in memory,
streamed from files, or spread over a cluster. Every source gives the same statistics for the
same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from math import inf
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from lacunet.data.coded import row_bytes
from lacunet.data.errors import PromiseError
from lacunet.data.read import read_table, told_notes
from lacunet.data.reading import Reading, checked_promise, plan_reading
from lacunet.data.scratch import check_free, scratch_folder
from lacunet.data.stream import forecast_bytes, held_or_coded, missing_by_footers, stretches
from lacunet.data.table import EncodedTable
from lacunet.deadline import NEVER, Deadline
from lacunet.model.network import Network, Scope
from lacunet.progress import Progress, silent
from lacunet.statistics.gather import Needs, Statistics, gather
from lacunet.statistics.streamed import Streamed

HELD_SHARE = 4  # of the budget: the codes of a table that is held; the rest is for counting


class Observations(Protocol):
    """Rows over a network's variables, of which statistics can be gathered."""

    @property
    def partially_observed(self) -> Scope:
        """The variables that some row does not show, as known before anything is counted."""
        ...

    def gather(
        self,
        needs: Needs,
        network: Network,
        *,
        progress: Progress = silent,
        deadline: Deadline = NEVER,
        memory: float = inf,
        seed: int = 0,
    ) -> Statistics:
        """Count what is needed among all rows; see `lacunet.statistics.gather.gather`."""
        ...


@dataclass(frozen=True)
class Held:
    """Rows that are held in memory.

    ``promised`` are the variables that alone count as fully observed, if any are.
    """

    table: EncodedTable
    promised: Scope = ()

    @property
    def partially_observed(self) -> Scope:
        """The variables that some row does not show, or may not show."""
        if self.promised:
            return _all_but(self.table.variables, self.promised)
        return self.table.partially_observed

    def some_rows(self, _most: int) -> EncodedTable:
        """The rows, from which some are chosen."""
        return self.table

    def gather(
        self,
        needs: Needs,
        network: Network,
        *,
        progress: Progress = silent,
        deadline: Deadline = NEVER,
        memory: float = inf,
        seed: int = 0,
    ) -> Statistics:
        """Count what is needed, all rows at once."""
        return gather(
            needs,
            network,
            [self.table],
            progress=progress,
            deadline=deadline,
            memory=memory,
            seed=seed,
        )


@contextmanager
def observations(
    data: Any,
    network: Network,
    budget: float,
    *,
    scratch: str | PathLike[str] | None = None,
    jobs: int = 1,
    fully_observed: Sequence[str] = (),
    progress: Progress = silent,
    **how: Any,
) -> Iterator[Held | Streamed]:
    """The rows of ``data``: in memory if they take a fourth of the budget at most, else streamed.

    Parameters
    ----------
    data, how
        As `lacunet.data.read.read_table` takes them.
    budget
        The bytes of memory that may be used.
    scratch
        The folder for files of codes, which are gone in the end.
    jobs
        The number of processes that read and count.
    fully_observed
        Variables that every row is promised to show; no others count as fully observed then.
    """
    if isinstance(data, EncodedTable):
        table = read_table(data, network, **how)
        promised = checked_promise(network, tuple(fully_observed))
        for name in promised:
            if table.missing_of[name]:
                missing = table.columns[name] == table.cardinality_of[name]
                raise PromiseError.broken(name, f"row {int(np.argmax(missing)) + 1}")
        yield Held(table, promised)
        return
    reading = plan_reading(data, network, fully_observed=fully_observed, **how)
    with ExitStack() as stack:
        folder = cache(lambda: stack.enter_context(scratch_folder(scratch)))
        yield _opened(reading, budget, folder, jobs, progress)


def _opened(
    reading: Reading, budget: float, folder: Callable[[], Path], jobs: int, progress: Progress
) -> Held | Streamed:
    promised, held = reading.fully_observed, budget / HELD_SHARE
    expected = forecast_bytes(reading)
    each = row_bytes(reading.cardinality_of, int(reading.weight is not None))
    partially = _all_but(reading.network.variables, promised) if promised else None
    is_large = held < expected < inf
    if is_large and not any(part.is_once for part in reading.source.parts):
        partially = missing_by_footers(reading) if partially is None else partially
        if partially is not None:
            believed = promised or _all_but(reading.network.variables, partially)
            rows = reading.source.rows or int(expected / each)
            parts = stretches(reading, believed)
            return Streamed(reading, parts, partially, rows, each, budget, folder, jobs)
    if is_large:
        check_free(folder(), expected)
    found, missing, told = held_or_coded(reading, held, folder, progress)
    if isinstance(found, EncodedTable):
        notes = told_notes(reading, told)
        return Held(replace(found, notes=notes), promised)
    partially = missing if partially is None else partially
    return Streamed(reading, [found], partially, found.rows, each, budget, folder, jobs, told)


def _all_but(names: Scope, others: Sequence[str]) -> Scope:
    return tuple(name for name in names if name not in others)
