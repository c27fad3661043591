"""Work on several pieces side by side, in processes; results come in the order of the pieces.

Processes, not threads: much of learning is Python, and `numpy.add.at` holds the interpreter's lock.

Every process has a pipe of its own, and this process keeps no copy of the far end. So a process
that is gone is seen as the end of its pipe, even in the middle of a result. A pool with one pipe
for all results (`concurrent.futures`) waits for the rest of that result for ever.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import wait
from threading import Thread
from traceback import format_exc
from typing import Any, TypeVar

from lacunet.errors import LacunetError

AHEAD = 2  # pieces per process that may be given out before an earlier one is done

Piece = TypeVar("Piece")
Found = TypeVar("Found")


def parallel_map(
    work: Callable[[Piece], Found], pieces: Sequence[Piece], jobs: int
) -> Iterator[Found]:
    """What the work finds in each piece; with one job, in this process.

    Raises
    ------
    LacunetError
        A process was stopped by something else, or could not begin.
    """
    if jobs == 1 or len(pieces) < 2:
        yield from map(work, pieces)
        return
    workers: list[_Worker] = []
    try:
        for _ in range(min(jobs, len(pieces))):
            with _uninterrupted():
                workers.append(_Worker.started(work))
        yield from _in_order(workers, pieces)
    finally:
        for worker in workers:
            worker.stop()


def _in_order(workers: Sequence[_Worker], pieces: Sequence[Any]) -> Iterator[Any]:
    given = returned = 0
    answers: dict[int, Any] = {}
    piece_of: dict[int, int] = {}  # by the index of the worker
    idle: list[int] = []
    while returned < len(pieces):
        while idle and given < min(len(pieces), returned + AHEAD * len(workers)):
            index = idle.pop()
            workers[index].send(pieces[given])
            piece_of[index] = given
            given += 1
        if returned in answers:
            yield answers.pop(returned)
            returned += 1
            continue
        waited = {
            worker.connection: index for index, worker in enumerate(workers) if index not in idle
        }
        for connection in wait(list(waited)):
            index = waited[connection]
            answer = workers[index].receive()
            if index in piece_of:  # the first message says that it has started
                answers[piece_of.pop(index)] = answer
            idle.append(index)


@dataclass
class _Worker:
    """A process that works on one piece after another."""

    process: Any
    connection: Any
    has_started: bool = False

    @classmethod
    def started(cls, work: Callable[[Any], Any]) -> _Worker:
        context = get_context("spawn")
        connection, far_end = context.Pipe()
        process = context.Process(target=_serve, args=(far_end, work), daemon=True)
        process.start()
        far_end.close()
        return cls(process, connection)

    def send(self, piece: object) -> None:
        try:
            self.connection.send(piece)
        except OSError:
            raise self._lost() from None

    def receive(self) -> Any:
        try:
            is_answer, answer = self.connection.recv()
        except (EOFError, OSError):
            raise self._lost() from None
        self.has_started = True
        if not is_answer:
            raise answer
        return answer

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self.connection.close()
        self.process.kill()
        self.process.join()

    def _lost(self) -> LacunetError:
        self.process.join()
        return LacunetError(
            "a process that should compare methods was stopped, perhaps because memory ran out."
            if self.has_started
            else "a process that should compare methods ended before it began "
            f"(exit code {self.process.exitcode}).",
            "give fewer --jobs, or fewer --rows.",
        )


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C and the like back; a process that is started meanwhile never gets Ctrl-C."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # its own start would let them through again
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)


def _serve(connection: Any, work: Callable[[Any], Any]) -> None:
    """In the process: answer one piece after another, until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # left to the process that started this one
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM, signal.SIGHUP})
    Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):  # the other end is gone
        connection.send((True, None))
        while True:
            piece = connection.recv()
            try:
                answer = True, work(piece)
            except Exception as error:
                if not isinstance(error, LacunetError):
                    error.add_note(f"In a process of its own:\n{format_exc()}")
                answer = False, error
            connection.send(answer)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
