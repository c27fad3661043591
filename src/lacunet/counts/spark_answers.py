"""What the tasks of a Spark job found, added up in a tree on its way to the driver.

Each task answers with statistics, or with what is wrong. Answers travel in pieces: Arrow sends rows
in batches of two GiB at most. Spark keeps them until the driver has their sum, so that their number
and their size are known before they are added up: a few come to the driver at once, more are added
up by eight, these sums by eight again, and so on, each on some executor.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

SCHEMA = "task int, piece int, pieces int, found binary"
ANSWERS_OF_A_SUM = 8
BATCH_BYTES = 2**30  # of a batch of Arrow, half of what it can hold
LARGEST_PIECE = 2**17
RECORDS = "spark.sql.execution.arrow.maxRecordsPerBatch"
RESULT_SIZE = "spark.driver.maxResultSize"
RESULT_SHARE = 0.9  # of it: Spark counts more than the answers
HASH_SEED = 42  # of the hash by which Spark spreads rows

Batches = Iterable[Any]  # of Arrow
Setting = Callable[[str, Any], Any]  # of Spark, by its name


@dataclass(frozen=True)
class Addition:
    """How answers are added up, and how many bytes their sum may take."""

    add: Callable[[Iterator[Any]], Any]
    refuse: Callable[[float, float], Any]  # the answer where a sum takes more, and how many it may
    room: float
    piece_size: int


def sent(task: int, answer: object, piece_size: int = LARGEST_PIECE) -> Iterator[Any]:
    """An answer in pieces of so many bytes."""
    return _in_pieces(task, pickle.dumps(answer), piece_size)


def _in_pieces(task: int, pickled: bytes, piece_size: int) -> Iterator[Any]:
    import pyarrow as pa

    pieces = max(1, ceil(len(pickled) / piece_size))
    kinds = (pa.int32(), pa.int32(), pa.int32(), pa.binary())
    for piece in range(pieces):
        cells = (task, piece, pieces, pickled[piece * piece_size : (piece + 1) * piece_size])
        columns = [pa.array([cell], kind) for cell, kind in zip(cells, kinds, strict=True)]
        yield pa.record_batch(columns, names=["task", "piece", "pieces", "found"])


def received(rows: Iterable[Any]) -> Iterator[Any]:
    """Answers from rows with their pieces, each as soon as all of these are there."""
    held: dict[int, dict[int, bytes]] = {}
    for row in rows:
        pieces = held.setdefault(row["task"], {})
        pieces[row["piece"]] = bytes(row["found"])
        if len(pieces) == row["pieces"]:
            del held[row["task"]]
            yield pickle.loads(b"".join(pieces[piece] for piece in sorted(pieces)))


def summed_up(addition: Addition, batches: Batches) -> Iterator[Any]:
    """On an executor: the sum of some answers, as the answer of this task."""
    from pyspark import TaskContext

    answer = addition.add(received(row for batch in batches for row in _rows(batch)))
    pickled = pickle.dumps(answer)
    if len(pickled) > addition.room:
        pickled = pickle.dumps(addition.refuse(len(pickled), addition.room))
    context = TaskContext.get()
    yield from _in_pieces(context.partitionId() if context else 0, pickled, addition.piece_size)


def _rows(batch: Any) -> Iterator[dict[str, Any]]:
    names = batch.schema.names
    for index in range(batch.num_rows):
        yield {name: batch.column(name)[index].as_py() for name in names}


def collected(answers: Any, addition: Addition, setting: Setting) -> Any:
    """The sum of the answers that a frame of Spark gives."""
    room = min(addition.room, RESULT_SHARE * most_collected(setting))
    answers = answers.persist()
    try:
        (known,) = answers.selectExpr("max(task) + 1", "sum(length(found))").collect()
        tasks, size = (int(number or 0) for number in known)  # no task answers for no rows
        sums, is_added_first = answers, tasks > ANSWERS_OF_A_SUM or size > room
        while is_added_first:
            tasks = ceil(tasks / ANSWERS_OF_A_SUM)
            is_added_first = tasks > ANSWERS_OF_A_SUM
            keys = ", ".join(map(str, even_keys(tasks)))
            adder = f"element_at(array({keys}), int(task div {ANSWERS_OF_A_SUM}) + 1) as adder"
            # Of the last sums the driver has room for all together.
            part = replace(addition, room=room if is_added_first else room / tasks)
            sums = sums.selectExpr("*", adder).repartition(tasks, "adder").drop("adder")
            sums = sums.mapInArrow(partial(summed_up, part), SCHEMA)
        return addition.add(received(row.asDict() for row in sums.collect()))
    finally:
        answers.unpersist()


def most_collected(setting: Setting) -> float:
    """The bytes that Spark lets the driver collect.

    Examples
    --------
    >>> most_collected({}.get) == 2**30, most_collected({RESULT_SIZE: "0"}.get)
    (True, inf)
    """
    return size_in_bytes(setting(RESULT_SIZE, None) or "1g", unit="b") or float("inf")


def piece_bytes(setting: Setting) -> int:
    """How large a piece may be, so that a batch of them is not too large.

    Examples
    --------
    >>> piece_bytes({}.get) // 2**10, piece_bytes({RECORDS: "65536"}.get) // 2**10
    (104, 16)
    """
    records = int(setting(RECORDS, None) or 10_000)
    return min(LARGEST_PIECE, BATCH_BYTES // (records if records > 0 else 2**20))


def size_in_bytes(text: str, unit: str = "m") -> int:
    """A size as Spark writes it; the unit is that of a bare number.

    Examples
    --------
    >>> size_in_bytes("1g") == size_in_bytes("1024m") == size_in_bytes("1024") == 2**30
    True
    """
    digits = text.rstrip("bBkKmMgGtTpPiI")
    return int(digits) << 10 * "bkmgtp".index(text[len(digits) :].lower()[:1] or unit)


def even_keys(tasks: int) -> list[int]:
    """A key for each of some tasks, such that Spark sends each key to a task of its own.

    By its hash of an integer (Murmur3). If it had another, sums would be uneven, and no less right.

    Examples
    --------
    >>> len(set(even_keys(5)))
    5
    """
    key_of: dict[int, int] = {}
    start = 0
    while len(key_of) < tasks:
        keys = np.arange(start, start + 8 * tasks, dtype=np.int32)
        parts = np.mod(_hashes(keys), tasks)
        for part, key in zip(parts.tolist(), keys.tolist(), strict=True):
            key_of.setdefault(part, key)
        start += 8 * tasks
    return [key_of[part] for part in range(tasks)]


def _hashes(keys: NDArray[np.int32]) -> NDArray[np.int32]:
    """Murmur3 of integers, with Spark's seed.

    Examples
    --------
    >>> _hashes(np.array([0, 1], np.int32)).tolist()  # select hash(0), hash(1)
    [933211791, -559580957]
    """

    def rotated(numbers: NDArray[np.uint32], bits: int) -> NDArray[np.uint32]:
        return (numbers << np.uint32(bits)) | (numbers >> np.uint32(32 - bits))

    mixed = rotated(keys.astype(np.uint32) * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
    hashes = rotated(mixed ^ np.uint32(HASH_SEED), 13) * np.uint32(5) + np.uint32(0xE6546B64)
    hashes ^= np.uint32(4)  # the bytes of an integer
    hashes = (hashes ^ (hashes >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    hashes = (hashes ^ (hashes >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return (hashes ^ (hashes >> np.uint32(16))).view(np.int32)
