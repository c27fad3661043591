"""Rows on a Spark cluster: the kernel runs where they are, and statistics come back.

One job takes every row through the door on the executors (`mapInArrow`) and counts all families;
it also tells which variables are ever missing. Where rows have to be together
(`lacunet.counts.passes`), a second job turns them into codes, brings those that agree on the
key to one task by one shuffle, and counts there. What the tasks found is added up on the
executors before it reaches the driver, which takes no more than a share of its budget and refuses
the rest in words. No row does; but the problems of EM and the distinct rows that graphs and the
intervals of deletion need are statistics that may stand for single rows.

PySpark is never imported on the driver: the data frame brings it.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil, inf, isfinite, prod
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.gather import Gathering, Needs, Statistics, of_part
from lacunet.counts.look import Look
from lacunet.counts.passes import GROUP_BYTES, hash32, in_passes
from lacunet.counts.streaming import GROUPS_SHARE, MAX_ROWS_AT_ONCE, Sizes, count_tables, of_rows
from lacunet.data.batches import contradiction, unknown_states
from lacunet.data.column_rules import Reading
from lacunet.data.errors import DataError, WeightError
from lacunet.data.read import ReadReport, read_notes
from lacunet.data.scratch_rows import (
    CLUSTER,
    REPLICATE,
    ROWS,
    SQUARES,
    STRATUM,
    WEIGHT,
    beside_codes,
    extras_of,
    row_bytes,
    scratch_folder,
)
from lacunet.data.source_parts import DataSource, pieces_of
from lacunet.data.stream import Unread, held_or_coded
from lacunet.data.table import EncodedTable, code_type
from lacunet.errors import LacunetError
from lacunet.limits import NEVER, Deadline, available, gibibytes, memory_budget
from lacunet.network.network import FloatArray, Network, Scope
from lacunet.progress import Progress, silent
from lacunet.text import own_version

COLLECTED_SCHEMA = "bucket int, found binary"
ROWS_OF_A_TASK = 100_000  # at least, after a shuffle: fewer take less time than starting a task
MERGES = 8  # tasks that add up what all others found
SALT = 255  # another than those by which a task spreads its rows again
DRIVER_SHARE = 4  # of the budget, for what the tasks found
LEAST_OVERHEAD = 384 * 2**20  # of an executor, beside the heap of Java

ArrowBatches = Iterator[Any]  # of Arrow
Answer = tuple[Statistics | None, ReadReport]


@dataclass(frozen=True)
class OnSpark:
    """Rows of a Spark data frame, once they have been read for the first time."""

    frame: Any
    reading: Reading
    counts: Statistics  # what the first reading gave: the counts of all families
    read_report: ReadReport  # what was met in it
    sizes: Sizes  # of one task
    warned: set[str] = field(default_factory=set)  # the notes that were given as warnings already

    def look(self) -> Look:
        """What the first reading told."""
        promised = self.reading.data.fully_observed
        names = self.reading.network.variables
        partially = tuple(name for name in names if self.counts.missing_of[name])
        if promised:
            partially = tuple(name for name in names if name not in promised)
        units = self.counts.units
        if units is not None:
            units = replace(units, unweighted=self.read_report.unweighted)
        return Look(partially, self.counts.tally, self._refused, units)

    def scratch_bytes(self, _needs: Needs) -> None:
        """No files of ours."""

    @property
    def sampler(self) -> None:
        """None: single rows stay where they are."""

    def _refused(self, *_: object) -> NoReturn:
        raise DataError(
            "this looks at single rows, and those of a Spark DataFrame stay where they are.",
            "take some of them, data.limit(100000).toArrow(); groups can be named instead.",
        )

    def tables(self, _read_report: ReadReport) -> Iterator[EncodedTable]:
        """The distinct rows, each once, with its copies."""
        every = self.reading.network.variables
        statistics = self.gather(Gathering(Needs((), rows=(every,)), self.reading.network))
        yield statistics.distinct[every].table

    def notes(self, _read_report: ReadReport) -> tuple[str, ...]:
        """What the user should know of how the rows were read."""
        return read_notes(self.reading, self.read_report, self.warned)

    def gather(self, gathering: Gathering, progress: Progress = silent) -> Statistics:
        """Count what is needed, by one job for each pass over the rows."""
        notes = self.notes(self.read_report)
        needs = gathering.needs
        is_counted = self.counts.counts.keys() >= set(needs.families)
        if needs == Needs(needs.families) and is_counted and gathering.replicate is None:
            return replace(
                self.counts if gathering.scale == 1 else self.counts.scaled(), notes=notes
            )
        most = self.sizes.memory / GROUPS_SHARE
        statistics = in_passes(gathering, most, partial(self._counted, progress=progress))
        return replace(statistics, notes=notes)

    def _counted(self, gathering: Gathering, progress: Progress) -> Statistics:
        """What one job over all rows finds."""
        progress("counting on Spark", 0, 1)
        asked = replace(gathering, deadline=NEVER)
        left = gathering.deadline.left
        task = Task(self.reading, asked, self.sizes, left)
        room = gathering.memory if isfinite(gathering.memory) else memory_budget() / DRIVER_SHARE
        statistics, _ = _collected(self._rows(task), task, room)
        assert statistics is not None  # there were rows before
        return statistics

    def _rows(self, task: Task) -> Any:
        """The rows as they are, or as codes with those in one task that agree on the key."""
        if task.asked.together is None:
            return self.frame
        tasks = shuffle_tasks(self.counts.rows, self.sizes.room, _shuffled(self.frame))
        coded = self.frame.mapInArrow(
            partial(_coded, own_version(), pickle.dumps(task)), task.coded
        )
        return coded.repartition(tasks, "key")


def on_spark(frame: Any, reading: Reading, progress: Progress = silent) -> OnSpark:
    """The rows of a Spark data frame, read for the first time.

    Raises
    ------
    DataError
        Something is wrong with the rows, or with how Spark is set up.
    """
    for option in reading.data.lengths:
        raise WeightError(
            f"the rows of a Spark DataFrame have no order that the values of {option}= could "
            "follow.",
            "put them into a column, and name it.",
        )
    chosen = frame.select(*("`" + name.replace("`", "``") + "`" for name in reading.wanted))
    # Names that Spark can parse.
    chosen = chosen.toDF(*(f"c{index}" for index in range(len(reading.wanted))))
    network = reading.network
    memory = task_memory(frame.sparkSession.conf.get)
    families = network.families
    _check_tables(families, network, memory)
    progress("counting on Spark", 0, 1)
    # What the tasks refuse they take as missing: only all of it together can be told.
    # The frame itself cannot travel to them.
    lenient = replace(reading, data=replace(reading.data, unknown="missing", source=reading.source))
    sizes = Sizes(memory, row_bytes(reading.network.cardinality_of, reading.data.extras))
    task = Task(lenient, Gathering(Needs(families), network), sizes)
    statistics, read_report = _collected(chosen, task, memory_budget() / DRIVER_SHARE)
    refused = {name: odd for name, odd in read_report.odd_in.items() if odd.refused}
    if refused and reading.data.unknown == "error":
        raise unknown_states(refused, network.states_of, {})
    if reading.data.unknown == "error":
        for name, rows in read_report.contradicted.items():
            raise contradiction(name, reading.network.not_asked_of[name], rows, "")
    read_notes(replace(reading, notes=()), read_report, set())  # refuses data without rows
    assert statistics is not None
    return OnSpark(
        frame=chosen, reading=lenient, counts=statistics, read_report=read_report, sizes=sizes
    )


@dataclass(frozen=True)
class Task:
    """What every task does with its rows; it travels to the executors."""

    reading: Reading
    asked: Gathering
    sizes: Sizes
    left: float = inf  # seconds until problems are not compiled any more: clocks do not travel

    @property
    def coded(self) -> str:
        """The columns of rows as codes, in the words of Spark."""
        data = self.reading.data
        kinds = {"key": "int", "codes": "binary"} | ({WEIGHT: "double"} if data.is_weighted else {})
        if data.counts is not None:
            kinds |= dict.fromkeys((ROWS, SQUARES), "double")
        if data.strata is not None:
            kinds |= {STRATUM: "string"}
        if data.cluster is not None:
            kinds |= {CLUSTER: "string"}
        replicates = () if self.factors is None else range(len(self.factors))
        kinds |= {f"{REPLICATE}{index}": "double" for index in replicates}
        return ", ".join(f"{name} {kind}" for name, kind in kinds.items())

    @property
    def factors(self) -> FloatArray | None:
        """How much each replicate weight counts in a variance, if there are any."""
        replicates = self.reading.data.replicate_weights
        return None if replicates is None else replicates.factors

    @property
    def gathering(self) -> Gathering:
        """What is asked of the rows, from now on."""
        return replace(
            self.asked, deadline=Deadline.within(self.left), memory=self.sizes.memory / 4
        )

    def unread(self, batches: ArrowBatches) -> Unread:
        """The rows of this task, at the door."""
        (part,) = self.reading.source.parts
        named = (batch.rename_columns(list(self.reading.wanted)) for batch in batches)
        part = replace(part, read=partial(pieces_of, named))
        return Unread(replace(self.reading, source=DataSource((part,))))

    def answer(self, batches: ArrowBatches) -> Answer:
        """What the rows of this task say."""
        if self.asked.together is not None:
            return self._of_codes(batches), ReadReport()
        read_report = ReadReport()
        tables = self.unread(batches).tables(self.sizes.most, read_report)
        return count_tables(self.gathering, tables), read_report

    def _of_codes(self, batches: ArrowBatches) -> Statistics | None:
        """What rows say that came as codes: in memory while they fit, else from the disk."""
        decoded = partial(_decoded, self.reading, self.factors)
        with ExitStack() as stack:
            kept, _ = held_or_coded(
                map(decoded, batches),
                self.reading,
                self.sizes.room,
                lambda: stack.enter_context(scratch_folder()),
            )
            if isinstance(kept, EncodedTable):
                return of_part(self.gathering, kept) if kept.rows else None
            return of_rows(self.gathering, self.sizes, kept)


def _called(version: str, task: bytes, batches: ArrowBatches) -> ArrowBatches:
    """On an executor: what a task's rows say, or what is wrong with them, as one row of bytes."""
    from pyspark import TaskContext

    try:
        _check_version(version)
        answer: Answer | LacunetError = pickle.loads(task).answer(batches)
    except LacunetError as error:
        answer = error
    context = TaskContext.get()
    yield _row(context.partitionId() if context else 0, answer)


def _check_version(version: str) -> None:
    if version != own_version():
        raise DataError(
            f"the driver has lacunet {version}, an executor {own_version()}.",
            "install the same version on all machines.",
        )


def _row(bucket: int, answer: Answer | LacunetError) -> Any:
    import pyarrow as pa

    cells = [pa.array([bucket], pa.int32()), pa.array([pickle.dumps(answer)], pa.binary())]
    return pa.record_batch(cells, names=["bucket", "found"])


def _merged(room: float, batches: ArrowBatches) -> ArrowBatches:
    """On an executor: what several tasks found, added up, or that it takes more than ``room``."""
    row = _row(0, _added(cell.as_py() for batch in batches for cell in batch.column("found")))
    yield row if row.nbytes <= room else _row(0, _too_much(row.nbytes, room))


def _too_much(size: float, room: float) -> DataError:
    return DataError(
        f"what one of {MERGES} tasks found takes {gibibytes(size)}, and the driver has room for "
        f"{gibibytes(room)} from each: where values are missing in many ways, the distinct "
        "problems of EM or the distinct rows are nearly as many as the rows.",
        f"give more memory ({gibibytes(size * MERGES * DRIVER_SHARE)} would do: memory=), choose a "
        "deletion method such as factored-mar, or learn from some rows: data.sample(0.1).",
    )


def _added(answers: Iterator[bytes]) -> Answer | LacunetError:
    whole = None
    read_report = ReadReport()
    for each in map(pickle.loads, answers):
        if isinstance(each, LacunetError):
            return each
        statistics, report = each
        read_report.add(report)
        if statistics is not None:
            whole = statistics if whole is None else whole + statistics
    return whole, read_report


def _collected(rows: Any, task: Task, room: float) -> Answer:
    """What all tasks found together, if the driver has room for so many bytes."""
    called = partial(_called, own_version(), pickle.dumps(task))
    try:
        merges = min(MERGES, _shuffled(rows))
        merged = rows.mapInArrow(called, COLLECTED_SCHEMA).repartition(merges, "bucket")
        answers = merged.mapInArrow(partial(_merged, room / merges), COLLECTED_SCHEMA).collect()
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        raise _in_words(str(error)) from None
    answer = _added(bytes(row["found"]) for row in answers)
    if isinstance(answer, LacunetError):
        raise answer
    return answer


def shuffle_tasks(rows: int, room: int, setting: int) -> int:
    """Into how many tasks to bring rows together.

    As many as Spark is set to, but not so many that most of their time goes into starting them, nor
    so few that one has more rows than it has room for.

    Examples
    --------
    >>> shuffle_tasks(10**6, room=10**6, setting=200)
    10
    >>> shuffle_tasks(10**9, room=10**6, setting=200)
    1000
    """
    return max(1, min(setting, ceil(rows / ROWS_OF_A_TASK)), ceil(rows / room))


def _shuffled(frame: Any) -> int:
    """The number of tasks after a shuffle, as Spark is set."""
    return int(frame.sparkSession.conf.get("spark.sql.shuffle.partitions", "200"))


def _in_words(error: str) -> DataError:
    if "No module named 'lacunet'" in error:
        return DataError(
            "the executors of Spark cannot import lacunet.",
            "install it on all machines, or send it along: spark-submit --archives.",
        )
    lines = [line.strip() for line in error.strip().splitlines() if line.strip()]
    raised = [line for line in lines if line.partition(":")[0].endswith(("Error", "Exception"))]
    return DataError.unreadable("the Spark DataFrame", (raised or lines or [""])[-1].rstrip("."))


def _coded(version: str, task: bytes, batches: ArrowBatches) -> ArrowBatches:
    """On an executor: rows as codes, with a hash of the values that bring them together."""
    import pyarrow as pa

    _check_version(version)
    loaded: Task = pickle.loads(task)
    together = loaded.asked.together
    assert together is not None
    for table in loaded.unread(batches).tables(loaded.sizes.most, ReadReport()):
        key = (hash32(table, together, SALT) >> np.uint64(1)).astype(np.int32)
        codes = np.concatenate([_bytes(column) for column in table.columns.values()], axis=1)
        ends = np.arange(table.rows + 1, dtype=np.int32) * np.int32(codes.shape[1])
        buffers = [None, pa.py_buffer(ends), pa.py_buffer(codes)]
        cells = {
            "key": pa.array(key),
            "codes": pa.Array.from_buffers(pa.binary(), table.rows, buffers),
        } | {
            name: column.cast(pa.string()) if name in (STRATUM, CLUSTER) else column
            for name, column in extras_of(table).items()
        }
        yield pa.record_batch(list(cells.values()), names=list(cells))


def _bytes(column: NDArray[Any]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(column).view(np.uint8).reshape(len(column), -1)


def _decoded(reading: Reading, factors: FloatArray | None, batch: Any) -> EncodedTable:
    """Rows from their codes."""
    cells = batch.column("codes")
    rows = batch.num_rows
    sizes = reading.network.cardinality_of
    sets_of = reading.sets_of
    types = {
        name: np.dtype(code_type(size, len(sets_of.get(name, ())))) for name, size in sizes.items()
    }
    width = sum(kind.itemsize for kind in types.values())
    _, _, data = cells.buffers()
    start = cells.offset * width
    codes = np.frombuffer(data, np.uint8, rows * width, start).reshape(rows, width)
    columns: dict[str, Any] = {}
    byte = 0
    for name, kind in types.items():
        columns[name] = np.ascontiguousarray(codes[:, byte : byte + kind.itemsize]).view(kind)[:, 0]
        byte += kind.itemsize
    return EncodedTable(sizes, columns, sets_of=sets_of, **beside_codes(batch, factors))


def task_memory(setting: Callable[[str, Any], Any]) -> int:
    """The bytes that one task may take, by the settings of Spark.

    In local mode half of the machine is shared by its cores; elsewhere it is what an executor
    has for Python, or its overhead, shared by its cores.

    Examples
    --------
    >>> settings = {"spark.executor.memory": "20g", "spark.executor.cores": "4"}
    >>> task_memory(settings.get) // 2**20
    512
    """
    master = setting("spark.master", None) or ""
    if master.startswith("local") and not master.startswith("local-cluster"):
        cores = master.partition("[")[2].partition("]")[0].partition(",")[0]
        return available() // 2 // (int(cores) if cores.isdecimal() else os.cpu_count() or 1)
    cores = int(setting("spark.executor.cores", None) or 1)
    heap = _size(setting("spark.executor.memory", None) or "1g")
    overhead = setting("spark.executor.memoryOverhead", None)
    python = setting("spark.executor.pyspark.memory", None) or overhead
    return int(_size(python) if python else max(LEAST_OVERHEAD, 0.1 * heap)) // cores


def _size(text: str) -> int:
    """A size as Spark writes it; a bare number is of MiB.

    Examples
    --------
    >>> _size("1g") == _size("1024m") == _size("1024") == 2**30
    True
    """
    digits = text.rstrip("bBkKmMgGtTpPiI")
    unit = text[len(digits) :].lower()[:1] or "m"
    return int(digits) << 10 * "bkmgtp".index(unit)


def _check_tables(families: tuple[Scope, ...], network: Network, memory: int) -> None:
    """Refuse a network whose counts cannot be held by a task."""
    cells = [min(MAX_ROWS_AT_ONCE, prod(n + 1 for n in network.shape(scope))) for scope in families]
    if sum(cells) * GROUP_BYTES > memory:
        raise DataError(
            f"the counts of all families may take {gibibytes(sum(cells) * GROUP_BYTES)} in each "
            f"task, which has {gibibytes(memory)}.",
            "give Python on the executors more: spark.executor.pyspark.memory.",
        )
