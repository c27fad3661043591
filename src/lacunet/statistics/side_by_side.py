"""Work on several pieces side by side, in processes; results come in the order of the pieces.

NumPy's gathers hold the interpreter's lock, so threads would wait for each other.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import TypeVar

from lacunet.errors import LacunetError

AHEAD = 2  # pieces per process that may wait to be taken

Piece = TypeVar("Piece")
Found = TypeVar("Found")


def side_by_side(
    work: Callable[[Piece], Found], pieces: Sequence[Piece], jobs: int
) -> Iterator[Found]:
    """What the work finds in each piece; with one job, in this process."""
    if jobs == 1 or len(pieces) < 2:
        yield from map(work, pieces)
        return
    pool = ProcessPoolExecutor(min(jobs, len(pieces)), get_context("spawn"), _begin)
    waiting: deque[Future[Found]] = deque()
    try:
        for piece in pieces:
            waiting.append(pool.submit(work, piece))
            if len(waiting) > AHEAD * jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        raise LacunetError(
            "a process that counted rows was stopped, perhaps because memory ran out.",
            "give fewer jobs=... (--jobs), or a smaller memory=... (--memory).",
        ) from None
    except BaseException:
        for process in list(pool._processes.values()):  # what they work on is not wanted now
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin() -> None:
    """Leave Ctrl-C to the process that started this one, and end when it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
