"""How many threads may work at once; only PyArrow starts any that count."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lacunet.errors import LacunetError


@contextmanager
def decoding_threads(threads: int | None) -> Iterator[None]:
    """Let PyArrow decode in so many threads within, and in as many as before afterwards.

    None changes nothing. The number is PyArrow's, which has one for the whole process.
    """
    if threads is None:
        yield
        return
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
        raise LacunetError(
            f"threads is {threads!r}, but must be a whole number from 1.",
            "threads=1 reads rows in one thread; without it there is one for each core.",
        )
    import pyarrow as pa

    before = pa.cpu_count()
    pa.set_cpu_count(threads)
    try:
        yield
    finally:
        pa.set_cpu_count(before)
