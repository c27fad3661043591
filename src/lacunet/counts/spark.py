"""Rows on a Spark cluster: the kernel runs where they are, and statistics come back.

One job takes every row through the door on the executors (`mapInArrow`) and counts all families;
it also tells which variables are ever missing. Where a method asks for more than these counts, rows
are turned into codes on the way, and Spark keeps the codes: so the source is read once, however
often they are counted. Where rows have to be together (`lacunet.counts.passes`), those that agree
on the key are brought to one task by one shuffle of their codes, and counted there.

What the tasks found is added up on the executors (`lacunet.counts.spark_answers`) before it reaches
the driver, which takes no more than a share of its budget, and of what Spark lets it take, and
refuses the rest in words. No row does; but the problems of EM and the distinct rows that graphs and
the intervals of deletion need are statistics that may stand for single rows.

PySpark is never imported on the driver: the data frame brings it.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil, inf, isfinite, prod
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.gather import Gathering, Needs, Statistics, of_part
from lacunet.counts.look import Look
from lacunet.counts.passes import GROUP_BYTES, in_passes
from lacunet.counts.spark_answers import (
    RESULT_SIZE,
    SCHEMA,
    Addition,
    collected,
    piece_bytes,
    sent,
    size_in_bytes,
)
from lacunet.counts.spark_columns import TravellingColumns, in_larger_batches
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
from lacunet.data.table import EncodedTable, code_type, in_tables
from lacunet.errors import LacunetError
from lacunet.limits import NEVER, Deadline, available, gibibytes, memory_budget
from lacunet.network.network import Network, Scope
from lacunet.progress import Progress, silent
from lacunet.text import own_version

ROWS_OF_A_TASK = 100_000  # at least, after a shuffle: fewer take less time than starting a task
DRIVER_SHARE = 4  # of the budget, for what the tasks found
LEAST_OVERHEAD = 384 * 2**20  # of an executor, beside the heap of Java
CODES, REPORT = "codes", "report"  # columns of rows as codes: a task's last row is its report

ArrowBatches = Iterator[Any]  # of Arrow
Answer = tuple[Statistics | None, ReadReport]


@dataclass(frozen=True)
class OnSpark:
    """Rows of a Spark data frame, once they have been read for the first time."""

    coded: Any  # the rows as codes, which Spark keeps once they have been made
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

    def warned_notes(self, _read_report: ReadReport) -> tuple[str, ...]:
        """What the user should know of how the rows were read."""
        return read_notes(self.reading, self.read_report, self.warned)

    def gather(self, gathering: Gathering, progress: Progress = silent) -> Statistics:
        """Count what is needed, by one job for each pass over the rows."""
        notes = self.warned_notes(self.read_report)
        needs = gathering.needs
        is_counted = self.counts.counts.keys() >= set(needs.families)
        if needs == Needs(needs.families) and is_counted and gathering.replicate is None:
            return replace(
                self.counts if gathering.scale == 1 else self.counts.scaled(), notes=notes
            )
        # The counts of families that are known already need not be counted again.
        is_known = is_counted and not needs.complete and needs.folds is None
        is_known = is_known and gathering.replicate is None
        asked = replace(gathering, needs=replace(needs, families=())) if is_known else gathering
        most = self.sizes.memory / GROUPS_SHARE
        statistics = in_passes(asked, most, partial(self._counted, progress=progress))
        if is_known:
            known = self.counts if gathering.scale == 1 else self.counts.scaled()
            counts = {family: known.counts[family] for family in needs.families}
            statistics = replace(statistics, counts=counts)
        return replace(statistics, notes=notes)

    def _counted(self, gathering: Gathering, progress: Progress) -> Statistics:
        """What one job over all rows finds."""
        progress("counting on Spark", 0, 1)
        asked = replace(gathering, deadline=NEVER)
        left = gathering.deadline.left
        task = Task(self.reading, asked, self.sizes, left=left)
        room = gathering.memory if isfinite(gathering.memory) else memory_budget() / DRIVER_SHARE
        statistics, _ = _collected(self._rows(task), task, room)
        assert statistics is not None  # there were rows before
        return statistics

    def _rows(self, task: Task) -> Any:
        """The rows as codes, with those in one task that agree on the key."""
        rows = self.coded.persist().where(f"{REPORT} is null").drop(REPORT)
        together = task.asked.together
        if together is None:
            return rows
        tasks = shuffle_tasks(self.counts.rows, self.sizes.room, _shuffled(rows))
        keyed = rows.selectExpr("*", f"{CodeColumns.of(self.reading).hashed(together)} as key")
        return keyed.repartition(tasks, "key").drop("key")

    def close(self) -> None:
        """Let Spark forget the codes."""
        self.coded.unpersist()


def on_spark(
    frame: Any, reading: Reading, progress: Progress = silent, *, is_read_again: bool = True
) -> OnSpark:
    """The rows of a Spark data frame, read for the first time.

    Parameters
    ----------
    is_read_again
        Whether more will be asked of the rows than the counts of families: then Spark keeps them as
        codes from the first time on.

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
    variable_of = {column: name for name, column in reading.column_of.items()}
    together = TravellingColumns.of(
        chosen,
        {
            position: network.cardinality(variable_of[column])
            for position, column in enumerate(reading.wanted)
            if column in variable_of
        },
    )
    task = Task(lenient, Gathering(Needs(families), network), sizes, together)
    source = chosen.selectExpr(*together.expressions)
    encode = partial(_encoded, own_version(), pickle.dumps(task))
    coded = source.mapInArrow(encode, CodeColumns.of(lenient).schema)
    rows = source
    if is_read_again:
        rows = coded.persist()
        task = replace(task, columns=None)
    try:
        statistics, read_report = _collected(rows, task, memory_budget() / DRIVER_SHARE)
        _check(reading, read_report)
    except BaseException:
        if is_read_again:
            coded.unpersist()
        raise
    assert statistics is not None
    return OnSpark(
        coded=coded, reading=lenient, counts=statistics, read_report=read_report, sizes=sizes
    )


def _check(reading: Reading, read_report: ReadReport) -> None:
    """Refuse rows with which something is wrong, by what the tasks told."""
    if reading.data.unknown == "error":
        refused = {name: odd for name, odd in read_report.odd_in.items() if odd.refused}
        if refused:
            raise unknown_states(refused, reading.network.states_of, {})
        for name, rows in read_report.contradicted.items():
            raise contradiction(name, reading.network.not_asked_of[name], rows, "")
    read_notes(replace(reading, notes=()), read_report, set())  # refuses data without rows


@dataclass(frozen=True)
class CodeColumns:
    """How rows lie side by side as codes: the bytes of all variables in one cell."""

    kinds: Mapping[str, np.dtype[Any]]  # of each variable's code
    extras: Mapping[str, str]  # the columns beside the codes, with their types in Spark

    @classmethod
    def of(cls, reading: Reading) -> CodeColumns:
        """That of the rows that come through the door."""
        data = reading.data
        sets_of = reading.sets_of
        kinds = {
            name: np.dtype(code_type(size, len(sets_of.get(name, ()))))
            for name, size in reading.network.cardinality_of.items()
        }
        extras = {WEIGHT: "double"} if data.is_weighted else {}
        if data.counts is not None:
            extras |= dict.fromkeys((ROWS, SQUARES), "double")
        if data.strata is not None:
            extras |= {STRATUM: "string"}
        if data.cluster is not None:
            extras |= {CLUSTER: "string"}
        replicates = () if data.replicate_weights is None else data.replicate_weights.factors
        extras |= {f"{REPLICATE}{index}": "double" for index in range(len(replicates))}
        return cls(kinds, extras)

    @property
    def schema(self) -> str:
        """The columns, in the words of Spark."""
        kinds = {CODES: "binary", REPORT: "binary", **self.extras}
        return ", ".join(f"{name} {kind}" for name, kind in kinds.items())

    @property
    def width(self) -> int:
        """The bytes of a row's codes."""
        return sum(kind.itemsize for kind in self.kinds.values())

    def hashed(self, names: Scope) -> str:
        """A hash of the codes of some variables, in the words of Spark."""
        parts: list[tuple[int, int]] = []  # where bytes begin, and how many there are
        start = 1
        for name, kind in self.kinds.items():
            if name in names:
                if parts and sum(parts[-1]) == start:
                    parts[-1] = parts[-1][0], parts[-1][1] + kind.itemsize
                else:
                    parts.append((start, kind.itemsize))
            start += kind.itemsize
        cells = [f"substring({CODES}, {start}, {length})" for start, length in parts]
        return f"hash({', '.join(cells) or 0})"

    def rows(self, table: EncodedTable) -> Any:
        """Rows as a record batch."""
        import pyarrow as pa

        codes = np.concatenate([_bytes(column) for column in table.columns.values()], axis=1)
        ends = np.arange(table.rows + 1, dtype=np.int32) * np.int32(codes.shape[1])
        buffers = [None, pa.py_buffer(ends), pa.py_buffer(codes)]
        given = extras_of(table)
        cells = {
            CODES: pa.Array.from_buffers(pa.binary(), table.rows, buffers),
            REPORT: pa.nulls(table.rows, pa.binary()),
        } | {
            name: given[name].cast(pa.string()) if kind == "string" else given[name]
            for name, kind in self.extras.items()
        }
        return pa.record_batch(list(cells.values()), names=list(cells))

    def report(self, report: ReadReport | LacunetError) -> Any:
        """What was met while rows were read, or what is wrong with them, in the place of a row."""
        import pyarrow as pa

        kinds = {"double": pa.float64(), "string": pa.string()}
        cells = {
            CODES: pa.nulls(1, pa.binary()),
            REPORT: pa.array([pickle.dumps(report)], pa.binary()),
        } | {name: pa.nulls(1, kinds[kind]) for name, kind in self.extras.items()}
        return pa.record_batch(list(cells.values()), names=list(cells))


@dataclass(frozen=True)
class Task:
    """What every task does with its rows; it travels to the executors."""

    reading: Reading
    asked: Gathering
    sizes: Sizes
    columns: TravellingColumns | None = None  # how they come; None where they come as codes
    left: float = inf  # seconds until problems are not compiled any more: clocks do not travel

    @property
    def gathering(self) -> Gathering:
        """What is asked of the rows, from now on."""
        return replace(
            self.asked, deadline=Deadline.within(self.left), memory=self.sizes.memory / 4
        )

    def unread(self, batches: ArrowBatches) -> Unread:
        """The rows of this task, at the door."""
        assert self.columns is not None
        (part,) = self.reading.source.parts
        apart = partial(self.columns.apart, names=self.reading.wanted)
        named = map(apart, in_larger_batches(batches))
        part = replace(part, read=partial(pieces_of, named))
        return Unread(replace(self.reading, source=DataSource((part,))))

    def answer(self, batches: ArrowBatches) -> Answer | LacunetError:
        """What the rows of this task say."""
        if self.columns is None:
            return self._of_codes(batches)
        read_report = ReadReport()
        tables = self.unread(batches).tables(self.sizes.most, read_report)
        return count_tables(self.gathering, tables), read_report

    def _of_codes(self, batches: ArrowBatches) -> Answer | LacunetError:
        """What rows say that came as codes: all that there is room for at a time."""
        reports: list[ReadReport | LacunetError] = []
        decode = partial(_decoded, self.reading, CodeColumns.of(self.reading))
        tables = map(decode, _without_reports(batches, reports))
        if self.asked.together is None:
            whole = count_tables(self.gathering, in_tables(tables, self.sizes.most))
        else:
            whole = self._together(tables)
        read_report = ReadReport()
        for report in reports:
            if isinstance(report, LacunetError):
                return report
            read_report.add(report)
        return whole, read_report

    def _together(self, tables: Iterator[EncodedTable]) -> Statistics | None:
        """What rows say of which no group is elsewhere: from memory, or from the disk."""
        with ExitStack() as stack:
            kept, _ = held_or_coded(
                tables,
                self.reading,
                self.sizes.room,
                lambda: stack.enter_context(scratch_folder()),
            )
            if isinstance(kept, EncodedTable):
                return of_part(self.gathering, kept) if kept.rows else None
            return of_rows(self.gathering, self.sizes, kept)


def _called(version: str, task: bytes, piece_size: int, batches: ArrowBatches) -> ArrowBatches:
    """On an executor: what a task's rows say, or what is wrong with them."""
    from pyspark import TaskContext

    try:
        _check_version(version)
        answer: Answer | LacunetError = pickle.loads(task).answer(batches)
    except LacunetError as error:
        answer = error
    context = TaskContext.get()
    yield from sent(context.partitionId() if context else 0, answer, piece_size)


def _encoded(version: str, task: bytes, batches: ArrowBatches) -> ArrowBatches:
    """On an executor: rows as codes, and what was met on the way."""
    _check_version(version)
    loaded: Task = pickle.loads(task)
    layout = CodeColumns.of(loaded.reading)
    report = ReadReport()
    try:
        for table in loaded.unread(batches).tables(loaded.sizes.most, report):
            yield layout.rows(table)
    except LacunetError as error:
        yield layout.report(error)
    else:
        yield layout.report(report)


def _without_reports(
    batches: ArrowBatches, reports: list[ReadReport | LacunetError]
) -> ArrowBatches:
    """The rows that came as codes; the reports among them go to a list."""
    from pyarrow import compute

    for batch in batches:
        if REPORT not in batch.schema.names or batch.column(REPORT).null_count == batch.num_rows:
            yield batch
            continue
        is_report = compute.is_valid(batch.column(REPORT))
        cells = batch.filter(is_report).column(REPORT)
        reports += [pickle.loads(cell.as_py()) for cell in cells]
        rows = batch.filter(compute.invert(is_report))
        if rows.num_rows:
            yield rows


def _check_version(version: str) -> None:
    if version != own_version():
        raise DataError(
            f"the driver has lacunet {version}, an executor {own_version()}.",
            "install the same version on all machines.",
        )


def _too_much(size: float, room: float) -> DataError:
    return DataError(
        f"what the tasks found takes {gibibytes(size)} or more, and the driver has room for "
        f"{gibibytes(room)}: where values are missing in many ways, the distinct problems of EM or "
        "the distinct rows are nearly as many as the rows.",
        f"give more memory ({gibibytes(size * DRIVER_SHARE)} would do: memory=, and "
        f"{RESULT_SIZE}), choose a deletion method such as factored-mar, or learn from some rows: "
        "data.sample(0.1).",
    )


def _added(answers: Iterator[Answer | LacunetError]) -> Answer | LacunetError:
    """The sum of answers."""
    whole = None
    read_report = ReadReport()
    for each in answers:
        if isinstance(each, LacunetError):
            return each
        statistics, report = each
        read_report.add(report)
        if statistics is not None:
            whole = statistics if whole is None else whole + statistics
    return whole, read_report


def _collected(rows: Any, task: Task, room: float) -> Answer:
    """What all tasks found together, if the driver has room for so many bytes."""
    setting = rows.sparkSession.conf.get
    call = partial(_called, own_version(), pickle.dumps(task), piece_bytes(setting))
    try:
        addition = Addition(_added, _too_much, room, piece_bytes(setting))
        answer = collected(rows.mapInArrow(call, SCHEMA), addition, setting)
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        raise _in_words(str(error)) from None
    if isinstance(answer, LacunetError):
        raise answer
    whole: Answer = answer
    return whole


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


def _bytes(column: NDArray[Any]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(column).view(np.uint8).reshape(len(column), -1)


def _decoded(reading: Reading, layout: CodeColumns, batch: Any) -> EncodedTable:
    """Rows from their codes."""
    cells = batch.column(CODES)
    rows = batch.num_rows
    width = layout.width
    _, _, data = cells.buffers()
    codes = np.frombuffer(data, np.uint8, rows * width, cells.offset * width)
    codes = codes.reshape(rows, width)
    columns: dict[str, Any] = {}
    byte = 0
    for name, kind in layout.kinds.items():
        columns[name] = np.ascontiguousarray(codes[:, byte : byte + kind.itemsize]).view(kind)[:, 0]
        byte += kind.itemsize
    replicates = reading.data.replicate_weights
    return EncodedTable(
        reading.network.cardinality_of,
        columns,
        sets_of=reading.sets_of,
        **beside_codes(batch, None if replicates is None else replicates.factors),
    )


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
    heap = size_in_bytes(setting("spark.executor.memory", None) or "1g")
    overhead = setting("spark.executor.memoryOverhead", None)
    python = setting("spark.executor.pyspark.memory", None) or overhead
    return int(size_in_bytes(python) if python else max(LEAST_OVERHEAD, 0.1 * heap)) // cores


def _check_tables(families: tuple[Scope, ...], network: Network, memory: int) -> None:
    """Refuse a network whose counts cannot be held by a task."""
    cells = [min(MAX_ROWS_AT_ONCE, prod(n + 1 for n in network.shape(scope))) for scope in families]
    if sum(cells) * GROUP_BYTES > memory:
        raise DataError(
            f"the counts of all families may take {gibibytes(sum(cells) * GROUP_BYTES)} in each "
            f"task, which has {gibibytes(memory)}.",
            "give Python on the executors more: spark.executor.pyspark.memory.",
        )
