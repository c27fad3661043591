"""Cells handed to child processes, each under a clock that is really enforced.

A method that heeds its time limit stops by itself; the clock is for those that do not. It
runs while the child is learning, not while it imports, draws the problem or judges. When the
limit and the grace have passed the child is killed and another takes its place.

A child keeps the last problem drawn, so that the methods that meet the same problem do not pay
for drawing it again. Messages to the parent: "learning" as the clock starts, "judging" as it
stops, then the outcome.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from math import inf
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from threading import Thread
from time import monotonic, perf_counter, sleep

from lacunet.errors import LacunetError
from lacunet.simulation.at_random import MAR
from studies.problems.cells import Cell, Problem
from studies.problems.learners import LEARNERS
from studies.problems.settings import Setting
from studies.problems.sources import Source
from studies.runner.outcomes import Outcome, outcome_of
from studies.runner.solve import solve

GRACE_SECONDS = 5.0  # for what cannot be interrupted at the very end
GRACE_SHARE = 0.1

Serve = Callable[[Cell], Outcome | None]


@dataclass
class _Child:
    """A child process, what it is at, and until when it may go on."""

    process: SpawnProcess
    connection: Connection
    waiting: list[Cell] = field(default_factory=list)
    cell: Cell | None = None
    began: float = inf

    @property
    def deadline(self) -> float:
        if self.cell is None or self.cell.limit is None:
            return inf
        return self.began + self.cell.limit + grace(self.cell.limit)


def grace(limit: float) -> float:
    """How long after its limit a method is killed, in seconds."""
    return max(GRACE_SECONDS, GRACE_SHARE * limit)


def solve_all(
    batches: Iterable[Sequence[Cell]], processes: int, serve: Serve = lambda _: None
) -> Iterator[Outcome]:
    """Solve all cells, in child processes, and give each outcome as it comes.

    Parameters
    ----------
    batches
        The cells of one problem together: one child solves them one after the other.
    processes
        How many children work at the same time.
    serve
        Asked just before a cell would be run: an outcome that makes running it needless.
    """
    waiting = list(batches)
    queue = iter(waiting)
    children: list[_Child] = []
    try:
        for _ in range(min(processes, len(waiting))):
            child = _start()
            children.append(child)
            yield from _next_cell(child, queue, serve)
        while busy := [child for child in children if child.cell]:
            for child in _ready(busy):
                if (outcome := _heard(child)) is not None:
                    yield outcome
                    yield from _next_cell(child, queue, serve)
    finally:
        for child in children:
            _end(child)


def _next_cell(child: _Child, queue: Iterator[Sequence[Cell]], serve: Serve) -> Iterator[Outcome]:
    """Send the child its next cell; outcomes that came without running are given at once."""
    child.cell, child.began = None, inf
    while True:
        if not child.waiting:
            batch = next(queue, None)
            if batch is None:
                return
            child.waiting.extend(batch)
            continue
        cell = child.waiting.pop(0)
        served = serve(cell)
        if served is None:
            child.cell = cell
            with suppress(BrokenPipeError, ConnectionResetError):  # seen at its connection next
                child.connection.send(cell)
            return
        yield served


def _ready(busy: Sequence[_Child]) -> list[_Child]:
    """The children that have said something, ended, or passed their deadline."""
    soonest = min(child.deadline for child in busy)
    timeout = None if soonest == inf else max(0.0, soonest - monotonic())
    heard = set(wait([child.connection for child in busy], timeout))
    now = monotonic()
    return [child for child in busy if child.connection in heard or now >= child.deadline]


def _heard(child: _Child) -> Outcome | None:
    """The outcome, if there is one now; a child that is overdue or gone is replaced."""
    cell = child.cell
    assert cell is not None
    if not child.connection.poll():
        seconds = monotonic() - child.began
        _replace(child)
        about = {
            "seconds": cell.limit,
            "message": f"stopped after {seconds:.3g} s: it did not keep its time limit",
            "whole_seconds": seconds,
        }
        return outcome_of(cell, "over the limit", about)
    try:
        message = child.connection.recv()
    except (EOFError, ConnectionResetError):
        child.process.join()
        code = child.process.exitcode
        _replace(child)
        return outcome_of(cell, "died", {"message": f"the process ended with code {code}"})
    if isinstance(message, Outcome):
        return message
    child.began = monotonic() if message == "learning" else inf
    return None


def _start() -> _Child:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=work, args=(theirs, os.getpid()), daemon=True)
    with _plain_main():
        process.start()
    theirs.close()
    return _Child(process, ours)


@contextmanager
def _plain_main() -> Iterator[None]:
    """Let the child not run the caller's script again: it needs nothing from there."""
    import __main__

    kept = {name: __main__.__dict__.pop(name, None) for name in ("__file__", "__spec__")}
    __main__.__dict__["__spec__"] = None
    try:
        yield
    finally:
        __main__.__dict__.update({name: value for name, value in kept.items() if value})


def _replace(child: _Child) -> None:
    _end(child)
    fresh = _start()
    child.process, child.connection = fresh.process, fresh.connection


def _end(child: _Child) -> None:
    child.process.kill()
    child.process.join()
    child.connection.close()


def work(connection: Connection, parent: int) -> None:
    """Solve the cells that come in until the parent is gone or says so (None)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    Thread(target=_die_with, args=(parent,), daemon=True).start()
    warm_up()
    key, drawn = "", None
    try:
        while (cell := connection.recv()) is not None:
            began = perf_counter()
            try:
                if drawn is None or cell.problem.key != key:
                    key, drawn = cell.problem.key, cell.problem.draw()
                outcome = solve(cell, drawn, connection.send)
            except LacunetError as error:
                outcome = outcome_of(cell, "refused", {"message": error.message})
            except Exception as error:
                outcome = outcome_of(cell, "died", {"message": f"{type(error).__name__}: {error}"})
            connection.send(replace(outcome, whole_seconds=perf_counter() - began))
    except (EOFError, BrokenPipeError):
        return


def warm_up() -> None:
    """Import what learning and judging import when first called: no clock may count that."""
    problem = Problem(Source("pair"), Setting("tiny", MAR(0.5, 1)), 20, 0, test_rows=2)
    drawn = problem.draw()
    for learner in {one.method: one for one in LEARNERS.values()}.values():
        solve(Cell(problem, learner, 1.0), drawn)


def _die_with(parent: int) -> None:
    """End this process soon after its parent, even in the middle of a long cell."""
    while os.getppid() == parent:
        sleep(0.5)
    os._exit(1)
