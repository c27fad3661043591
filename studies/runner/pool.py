"""Jobs handed to child processes, each under a clock that is really enforced.

A method that heeds its time limit stops by itself; the clock is for those that do not. It
counts the child's processor time while the child is learning, not while it imports, draws the
problem or judges. When the limit and the grace have passed, the system ends the child (RLIMIT_CPU,
SIGXCPU) and another takes its place. Linear algebra gets one thread: processor time is then the
time that an idle core would take.

A child keeps the last problem drawn, so that the methods that meet the same problem do not pay
for drawing it again.
"""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from math import ceil
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from threading import Thread
from time import process_time, sleep

from lacunet.errors import LacunetError
from lacunet.simulation.at_random import MAR
from studies.problems.cells import Cell, Job, Problem
from studies.problems.learners import LEARNERS
from studies.problems.settings import Setting
from studies.problems.sources import Source
from studies.runner.outcomes import Outcome, Status, outcome_of
from studies.runner.solve import solve

GRACE_SECONDS = 5.0  # for what cannot be interrupted at the very end
GRACE_SHARE = 0.1
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

Serve = Callable[[Cell], Outcome | None]


@dataclass
class _Child:
    """A child process and what it is at."""

    process: SpawnProcess
    connection: Connection
    waiting: list[Job] = field(default_factory=list)
    job: Job = ()


def grace(limit: float) -> float:
    """How long after its limit a method is killed, in seconds."""
    return max(GRACE_SECONDS, GRACE_SHARE * limit)


def solve_all(
    batches: Iterable[Sequence[Job]], processes: int, serve: Serve = lambda _: None
) -> Iterator[Outcome]:
    """Solve all jobs, in child processes, and give each outcome as it comes.

    Parameters
    ----------
    batches
        The jobs of one problem together: one child solves them one after the other.
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
            yield from _next_job(child, queue, serve)
        while busy := {child.connection: child for child in children if child.job}:
            for connection in wait(list(busy)):
                child = busy[connection]  # type: ignore[index]
                yield from _received(child)
                yield from _next_job(child, queue, serve)
    finally:
        for child in children:
            _end(child)


def _next_job(child: _Child, queue: Iterator[Sequence[Job]], serve: Serve) -> Iterator[Outcome]:
    """Send the child its next job; outcomes that came without running are given at once."""
    child.job = ()
    while True:
        if not child.waiting:
            batch = next(queue, None)
            if batch is None:
                return
            child.waiting.extend(batch)
            continue
        served = {cell: serve(cell) for cell in child.waiting.pop(0)}
        yield from (outcome for outcome in served.values() if outcome is not None)
        child.job = tuple(cell for cell, outcome in served.items() if outcome is None)
        if child.job:
            with suppress(BrokenPipeError, ConnectionResetError):  # seen at its connection next
                child.connection.send(child.job)
            return


def _received(child: _Child) -> list[Outcome]:
    """What came of the child's job; of a child that ended, how."""
    try:
        found: list[Outcome] = child.connection.recv()
    except (EOFError, ConnectionResetError):
        child.process.join()
        code = child.process.exitcode
        _replace(child)
        if code == -signal.SIGXCPU:
            return _all(child.job, "over the limit", "stopped: it did not keep its time limit")
        return _all(child.job, "died", f"the process ended with code {code}")
    return found


def _all(job: Job, status: Status, message: str) -> list[Outcome]:
    return [outcome_of(cell, status, {"message": message}) for cell in job]


def _start() -> _Child:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=work, args=(theirs, os.getpid()), daemon=True)
    with _plain_main(), _environment(ONE_THREAD):
        process.start()
    theirs.close()
    return _Child(process, ours)


@contextmanager
def _environment(more: dict[str, str]) -> Iterator[None]:
    """Let a child that is started within have some variables more in its environment."""
    kept = dict(os.environ)
    os.environ.update(more)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(kept)


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
    """Solve the jobs that come in until the parent is gone or says so (None)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    Thread(target=_die_with, args=(parent,), daemon=True).start()
    warm_up()
    key, drawn = "", None
    try:
        while (job := connection.recv()) is not None:
            began = process_time()

            def tell(stage: str, limit: float | None = job[-1].limit) -> None:
                keep_to(limit if stage == "learning" else None)

            try:
                if drawn is None or job[0].problem.key != key:
                    drawn, key = None, job[0].problem.key  # the old one goes first
                    drawn = job[0].problem.draw()
                outcomes = solve(job, drawn, tell)
            except LacunetError as error:
                outcomes = _all(job, "refused", error.message)
            except Exception as error:
                outcomes = _all(job, "died", f"{type(error).__name__}: {error}")
            keep_to(None)
            share = (process_time() - began) / len(outcomes)
            connection.send([replace(one, whole_seconds=share) for one in outcomes])
    except (EOFError, BrokenPipeError):
        return


def keep_to(limit: float | None) -> None:
    """Let the system end this process a grace after so many more seconds of processor time."""
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    soft = most if limit is None else ceil(process_time() + limit + grace(limit))
    resource.setrlimit(resource.RLIMIT_CPU, (soft, most))


def warm_up() -> None:
    """Import what learning and judging import when first called: no clock may count that."""
    problem = Problem(
        Source("pair"),
        Setting("tiny", MAR(share=0.5, parents=1, beta=(1.0, 0.5))),
        20,
        0,
        test_rows=2,
    )
    drawn = problem.draw()
    for learner in {(one.method, one.pseudo_counts): one for one in LEARNERS.values()}.values():
        with suppress(LacunetError):
            solve([Cell(problem, learner, 1.0)], drawn)


def _die_with(parent: int) -> None:
    """End this process soon after its parent, even in the middle of a long job."""
    while os.getppid() == parent:
        sleep(0.5)
    os._exit(1)
