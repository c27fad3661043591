"""Count now, learn later: the statistics that a method needs, as a value or a file that adds up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from lacunet.data.given import Data, data_given
from lacunet.data.read import ReadReport
from lacunet.data.reading import with_data_codes
from lacunet.estimate.deletion.direct import direct_mcar
from lacunet.estimate.deletion.forms import Deletion, Listwise
from lacunet.estimate.method import Method
from lacunet.estimate.registry import KINDS, options_of
from lacunet.formats.files import NetworkOrEdges, network_beside
from lacunet.memory import Memory, gibibytes, memory_budget
from lacunet.model.network import Network
from lacunet.progress import AskedProgress, Progress, as_progress, silent
from lacunet.statistics.counts import summed
from lacunet.statistics.errors import StatisticsError
from lacunet.statistics.gather import Gathering, Needs, Statistics, read_families
from lacunet.statistics.observations import Observations, observations, warn_of_design
from lacunet.statistics.rows import Rows, rows_in_parts
from lacunet.statistics.saved.header import (
    FAMILIES,
    Header,
    header_of,
    headers_of,
    saved_paths,
)
from lacunet.statistics.saved.parts import (
    Block,
    CountedPart,
    Fingerprint,
    check_distinct,
    name_of,
    notes_on,
    replaced,
    unnamed_part,
)
from lacunet.statistics.saved.read import MOST_ROWS, SavedRows
from lacunet.statistics.saved.write import RowsToWrite, families_part, write_families, write_rows

KEPT_SHARE = 8  # of the memory budget: distinct rows that are held; adding them takes as much again


def count(
    network: NetworkOrEdges,
    data: Any,
    method: str | Method = "auto",
    *,
    part: str | None = None,
    weight: Any = None,
    counts: Any = None,
    missing: Any = (),
    memory: Memory = None,
    scratch: str | Path | None = None,
    progress: AskedProgress = False,
) -> Statistics:
    """Count what a method needs from the data, so that counts add up and are learned from later.

    Parameters
    ----------
    network, data
        As `lacunet.learn` takes them; the data are rows, not statistics.
    method
        The method, or its name. For "listwise" and "direct-mcar" the tables of the families are
        counted; for every other method the distinct rows, so the file may disclose individuals'
        rows.
    part
        A name for this part of the data, so that no part is added twice by mistake: that is
        refused. Files are recognised by their name and contents; a dataframe only if it
        has a name here.
    weight, counts, missing, memory, scratch, progress
        As `lacunet.learn` takes them.

    Warns
    -----
    DataWarning
        The data have strata, clusters or replicate weights, which statistics do not keep; or
        there are notes on how they were read.

    Returns
    -------
    Statistics that add up with ``+``, can be written to a file, ``statistics.write("x.stats")``,
    and learned from: ``lacunet.learn(network, statistics)``, ``lacunet.learn(network, "x.stats")``.

    Examples
    --------
    >>> network = Network({"Coin": ["head", "tail"]})
    >>> yesterday = count(network, {"Coin": ["head", "tail"]}, "direct-mcar")
    >>> yesterday + count(network, {"Coin": ["head", None]}, "direct-mcar")
    <Statistics of 4 rows for direct-mcar>
    """
    progress = as_progress(progress)
    data = data_given(data, weight=weight, counts=counts, missing=missing)
    _refuse_counted(data)
    given = network_beside(network, data, "count")
    network = with_data_codes(given, data)
    method = method if isinstance(method, str) else method.name
    budget, is_rows = memory_budget(memory), needs_rows(method)
    name, is_named = name_of(data, part), part is not None
    with observations(data, given, budget, scratch=scratch, progress=progress) as source:
        if not is_rows:
            statistics = _of_families(network, source, method, progress)
            counted = families_part(statistics, name, is_named=is_named)
        else:
            read_report = ReadReport()
            every = _distinct(network, source, budget, read_report)
            whole = next(every)
            if next(every, None) is not None:
                raise StatisticsError(
                    f"the distinct rows need more than {gibibytes(budget / KEPT_SHARE)}, an eighth "
                    "of the memory budget.",
                    "raise memory=... (--memory), or count them into a file: lacunet count.",
                )
            statistics = Statistics(
                tally=whole.tally.all_rows,
                missing_of=whole.table.missing_of,
                counts={},
                distinct={network.variables: whole},
                notes=source.notes(read_report),
                network=network,
                method=method,
            )
            rows = Fingerprint()
            rows.add(whole.table.columns.values(), whole.counts)
            counted = rows.part(
                name, rows=statistics.rows, total=statistics.total, is_named=is_named
            )
    counted = counted if name else unnamed_part(statistics.rows)
    parts = (_with_losses(counted, data, statistics.notes, statistics.cells_of_sets),)
    warn_of_design(parts)
    return replace(statistics, notes=notes_on(parts), parts=parts)


def _refuse_counted(data: Data) -> None:
    """Refuse to count statistics again: their rows would be a new part, and could count twice."""
    if saved_paths(data.source) or isinstance(data.source, Statistics):
        raise StatisticsError(
            "statistics cannot be counted again: what they hold has been counted.",
            "add them up with lacunet merge, in Python with +; learn from them as they are, "
            "by any method that they serve.",
        )


def _with_losses(
    part: CountedPart, data: Data, notes: tuple[str, ...], cells_of_sets: Mapping[str, int]
) -> CountedPart:
    """The part with what its statistics do not keep of the data."""
    lost = replace(part, is_designed=data.has_design, latent=tuple(data.latent))
    return replace(lost, cells_of_sets=cells_of_sets, notes=notes)


def count_into(
    path: str | PathLike[str],
    network: Network,
    data: Any,
    method: str = "auto",
    *,
    part: str | None = None,
    memory: Memory = None,
    scratch: str | Path | None = None,
    progress: Progress = silent,
) -> tuple[Header, tuple[str, ...]]:
    """Count into a file, however many distinct rows there are; its header, and notes on the data.

    The parameters are those of `count`.
    """
    data = data_given(data)
    _refuse_counted(data)
    given, network = network, with_data_codes(network, data)
    budget, is_rows = memory_budget(memory), needs_rows(method)
    with observations(data, given, budget, scratch=scratch, progress=progress) as source:
        if not is_rows:
            statistics = _of_families(network, source, method, progress)
            named = families_part(statistics, name_of(data, part), is_named=part is not None)
            block = (_with_losses(named, data, statistics.notes, statistics.cells_of_sets),)
            header = write_families(header_of(statistics), [(statistics, block)], path)
            return header, notes_on(header.parts)
        read_report = ReadReport()
        counted = RowsToWrite(
            _distinct(network, source, budget, read_report),
            name=name_of(data, part),
            is_named=part is not None,
            described=lambda part: _with_losses(part, data, source.notes(read_report), {}),
        )
        header = write_rows([counted], network, method, path)
        return header, notes_on(header.parts)


def merge_into(
    path: str | PathLike[str],
    parts: Sequence[str | PathLike[str]],
    memory: Memory = None,
    *,
    replacing: bool = False,
    summing: bool = False,
) -> tuple[Header, tuple[str, ...]]:
    """Put the statistics in files together in another; its header, and notes on the parts.

    Parameters
    ----------
    replacing
        A part that an earlier file holds too is taken from the later one; else it is refused.
    summing
        Add the parts up: the file is smaller, but none of them can be replaced any more.

    Raises
    ------
    StatisticsError
        A file is not taken, or the parts do not belong together; nothing is written then.
    """
    parts = saved_paths(list(parts)) or parts
    headers = headers_of(parts)
    network = headers[0].network
    holders = [
        (repr(str(part)), header.blocks) for part, header in zip(parts, headers, strict=True)
    ]
    notes = () if replacing else check_distinct(holders)
    stays = replaced(holders) if replacing else [[True] * len(header.blocks) for header in headers]
    kept = [
        (part, index, block)
        for part, header, stay in zip(parts, headers, stays, strict=True)
        for index, block in enumerate(header.blocks)
        if stay[index]
    ]
    methods = {header.method for header in headers}
    method = methods.pop() if len(methods) == 1 else ""
    if headers[0].kind == FAMILIES:
        counts = {part: read_families(part) for part in parts}
        blocks = [(counts[part][index], block) for part, index, block in kept]
        if summing:
            whole = summed(statistics for statistics, _ in blocks)
            blocks = [(whole, whole.parts)]
        header = header_of(summed(replace(statistics, parts=()) for statistics, _ in blocks))
        return write_families(replace(header, method=method), blocks, path), notes
    room = memory_budget(memory) / KEPT_SHARE

    def rows(chosen: Sequence[tuple[str | PathLike[str], int, Block]]) -> Iterator[Rows]:
        tables = (
            table
            for part, index, _ in chosen
            for table in SavedRows(network, Path(part), index).tables(MOST_ROWS)
        )
        return rows_in_parts(tables, network.variables, room)

    if summing:
        every = tuple(part for _, _, block in kept for part in block)
        sources = [RowsToWrite(rows(kept), every)]
    else:
        sources = [RowsToWrite(rows([entry]), entry[2]) for entry in kept]
    return write_rows(sources, network, method, path), notes


def needs_rows(method: str) -> bool:
    """Whether a method, or its intervals, need the rows beyond the counts of families."""
    options_of(method)  # refuses a name that is not a method's
    kind = KINDS[method]
    return not (
        issubclass(kind, Deletion) and kind.form.joint is direct_mcar and not kind.form.within
    )


def _of_families(
    network: Network, source: Observations, method: str, progress: Progress
) -> Statistics:
    needs = Needs(network.families, complete=method == Listwise.name)
    statistics = source.gather(Gathering(needs, network), progress)
    return replace(statistics, network=network, method=method)


def _distinct(
    network: Network, source: Observations, budget: float, read_report: ReadReport
) -> Iterator[Rows]:
    tables = source.tables(read_report)
    return rows_in_parts(tables, network.variables, budget / KEPT_SHARE)
