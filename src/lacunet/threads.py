"""Work on several cores: in threads, where NumPy and compiled loops hold no lock.

What is divided among threads, and in which order its parts are added up, never depends on how many
there are: so results are the same bits on any number. How many may work is set where rows are
learned from (`working_threads`) and holds for all that is done within; without it there is one for
each core. Work within a thread is not divided again.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache, lru_cache, partial
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, TypeVar

from lacunet.errors import LacunetError

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

AHEAD = 2  # times as many parts as threads are begun before the first is waited for

_threads: ContextVar[int | None] = ContextVar("threads", default=None)


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def working_threads(threads: int | None) -> Iterator[None]:
    """Let so many threads work within: None for one on each core, 1 for none beside this one.

    PyArrow decodes rows in as many. Its number is that of the whole process, so it is put back.
    """
    if threads is None:
        yield
        return
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
        raise LacunetError(
            f"threads is {threads!r}, but must be a whole number from 1.",
            "threads=1 works in one thread; without it there is one for each core.",
        )
    import pyarrow as pa

    before = pa.cpu_count()
    pa.set_cpu_count(threads)
    token = _threads.set(threads)
    try:
        yield
    finally:
        _threads.reset(token)
        pa.set_cpu_count(before)


def in_threads(
    work: Callable[[Item], Outcome],
    items: Iterable[Item],
    most: float = inf,
    *,
    is_worth: bool = True,
) -> Iterator[Outcome]:
    """What work makes of each item, in the order of the items.

    Parameters
    ----------
    work
        May not depend on what becomes of other items.
    most
        How many items memory allows at once.
    is_worth
        Whether an item takes longer than passing it to a thread, some 50 us.

    Examples
    --------
    >>> list(in_threads(abs, [-2, 3]))
    [2, 3]
    """
    number = int(min(_threads.get() or cores(), max(1.0, most)))
    left = iter(items)
    first = list(islice(left, 2))
    if number == 1 or len(first) < 2 or not is_worth:
        yield from map(work, first)
        yield from map(work, left)
        return
    from concurrent.futures import wait

    pool = _pool(number)
    futures: deque[Future[Outcome]] = deque()

    def begin(item: Item) -> None:
        context = copy_context()  # of NumPy's warnings, and clocks
        futures.append(pool.submit(context.run, partial(_alone, work), item))

    # With a limit of memory, no more than may be alive at once are begun.
    ahead = number if most < inf else AHEAD * number
    try:
        for item in (*first, *islice(left, ahead - len(first))):
            begin(item)
        while futures:
            outcome = futures.popleft().result()
            for item in islice(left, 1):
                begin(item)
            yield outcome
            del outcome
    finally:  # nothing goes on behind whoever was refused, or stopped it
        for future in futures:
            future.cancel()
        wait(futures)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let products of matrices take one thread within: where they are small, others only wait.

    Those of BLAS wait by spinning, which takes a core each. The number is that of the whole
    process, so it is put back.
    """
    with _blas().limit(limits=1, user_api="blas"):
        yield


@cache
def _blas() -> ThreadpoolController:
    """What sets the threads of the BLAS that NumPy has loaded."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _alone(work: Callable[[Item], Outcome], item: Item) -> Outcome:
    """The work on one item, in one thread."""
    _threads.set(1)
    return work(item)


@lru_cache(maxsize=2)
def _pool(number: int) -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(number, "lacunet")


if hasattr(os, "register_at_fork"):  # the threads of a pool do not follow into another process
    os.register_at_fork(after_in_child=_pool.cache_clear)
