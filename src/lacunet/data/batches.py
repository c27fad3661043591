"""Rows as batches of codes, without ever holding the table.

The parser runs in the caller's thread and the encoder in another, one piece behind, so two
cores are busy; the order of the rows is kept.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, islice
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from lacunet.data.column_rules import Reading, check_beside
from lacunet.data.data import Data
from lacunet.data.encode import (
    NOUN,
    ColumnEncoder,
    OddCells,
    cell_at,
    first_wrong,
    label_column,
    number_column,
)
from lacunet.data.errors import (
    SHOWN_VALUES,
    DataError,
    PromiseError,
    UnknownStateError,
    WeightError,
    clipped,
    short_list,
)
from lacunet.data.matching import Matcher, known_matcher
from lacunet.data.skipped_questions import by_rules, skips_of
from lacunet.data.source_parts import DataSource, Part, Piece
from lacunet.data.table import (
    Codes,
    Copies,
    Design,
    EncodedTable,
    Labels,
    RowsOfUnits,
    added_rows,
    code_type,
)
from lacunet.network.dictionary import NotAsked
from lacunet.network.interval_names import cuts_of, spelled_cut
from lacunet.network.network import FloatArray
from lacunet.network.spelling import number_of, spelled
from lacunet.progress import Progress, silent
from lacunet.text import counted, did_you_mean, first_of, in_shell, keyed

if TYPE_CHECKING:  # what is read is collected by what is here
    from lacunet.data.donors import DonorSampler
    from lacunet.data.read import ReadReport

PIECES_AHEAD = 2
VALUES_IN_REMARK = 5
COLUMNS_IN_REMARK = 3
T = TypeVar("T")


@dataclass(frozen=True)
class _PlacedPiece:
    """A piece, the part it belongs to, and where its rows are."""

    piece: Piece
    part: Part
    row_in_part: int  # of its first row, from 0
    row: int  # the same in all the data

    def where(self, row: int) -> str:
        """Where one of the piece's rows (from 0) is found."""
        in_part = self.row_in_part + row
        return self.part.places([in_part])[in_part]


class Door:
    """Takes rows in once, and tells an empty report what it met.

    ``encoders`` know what could not be matched, ``skips`` what contradicts a rule. Rules take
    ``unseen`` variables as missing, though what contradicts a rule is found by all variables.
    """

    def __init__(self, reading: Reading, report: ReadReport, unseen: Collection[str] = ()) -> None:
        self.reading = reading
        self.report = report
        self.unseen = unseen
        self.encoders = {
            name: ColumnEncoder(matcher_of(reading, name)) for name in reading.column_of
        }
        report.odd_in = {name: encoder.odd for name, encoder in self.encoders.items()}
        self.skips = skips_of(reading.network, reading.sets_of)
        self._part_starts: list[tuple[int, Part]] = []  # the first row of each part
        self.sampler: DonorSampler | None = None  # which the rows pass, if they have not before

    def batches(self, progress: Progress = silent) -> Iterator[EncodedTable]:
        """The rows as codes, in order, in bounded memory; what is missing is not counted.

        Rows of weight zero are left out. Where rows have weights, ``row_numbers`` (from 1, in all
        the data) says which are left.

        Parameters
        ----------
        progress
            Called after each piece, with rows or, for text files, bytes.

        Raises
        ------
        UnknownStateError
            Values were not states. Raised after the last row, to name all of them with counts.
        WeightError
            A weight is not a finite number from zero upwards.
        """
        sampler = self.reading.sampler
        if sampler is not None and sampler.is_complete:
            sampler = None
        if sampler is not None:
            sampler.begin()
        self.sampler = sampler
        yield from self._each(lambda _, table, __: table, progress)
        if sampler is not None:
            sampler.is_complete = True

    def rows(self) -> Iterator[tuple[Piece, EncodedTable, EncodedTable]]:
        """The rows as they came, as codes, and as codes of what they show themselves.

        The last two differ in cells that are empty because their question was not asked. For rows
        without weights.
        """
        yield from self._each(lambda *rows: rows, silent)

    def _each(self, give: Callable[..., T], progress: Progress) -> Iterator[T]:
        """What is made of each piece: itself, its rows as codes, and what they show alone.

        In a thread, while the next piece is read, unless there is but one.
        """

        def encoded(placed: _PlacedPiece) -> T:
            return give(placed.piece, *self._encoded(placed))

        data = self.reading.data
        report = self.report
        pieces = _placed_pieces(self.reading.source, self.reading.wanted, progress)
        first = list(islice(pieces, 2))
        if len(first) < 2:
            yield from map(encoded, first)
        else:
            yield from _mapped_in_thread(encoded, chain(first, pieces))
        for option, length in data.lengths.items():
            if length != report.given:
                raise WeightError.length(f"{option}=", length, report.given)
        if data.unknown == "error":
            self._refuse_odd()
        report.contradicted += Counter({skips.name: skips.contradicted for skips in self.skips})

    def _refuse_odd(self) -> None:
        """Refuse values that are not states, and cells that contradict a rule."""
        row_of = {name: encoder.first_refused for name, encoder in self.encoders.items()}
        rows = {name: row for name, row in row_of.items() if row is not None}
        if rows:
            place_of = _places_of(rows.values(), self._part_starts)
            odd_in = {name: self.encoders[name].odd for name in rows}
            states_of = self.reading.network.states_of
            raise unknown_states(odd_in, states_of, {v: place_of[row] for v, row in rows.items()})
        for skips in self.skips:
            if skips.first is not None:
                where = _places_of([skips.first], self._part_starts)[skips.first]
                raise contradiction(skips.name, skips.rule, skips.contradicted, where)

    def _encoded(self, placed: _PlacedPiece) -> tuple[EncodedTable, EncodedTable]:
        """The rows of a piece that have a weight; the report is told of all of them.

        Then the same rows by what they show alone, whatever was not asked.
        """
        reading = self.reading
        network = self.reading.network
        if not placed.row_in_part:
            self._part_starts.append((placed.row, placed.part))
        columns = {name: self._codes(name, placed.piece) for name in network.variables}
        whole = dict(columns)
        for skips in self.skips:
            whole[skips.name] = skips.applied(whole)
        if self.unseen:
            whole = by_rules(self.skips, columns, self.unseen)
        for name in reading.data.fully_observed:
            missing = whole[name] >= network.cardinality(name)
            if missing.any():
                raise PromiseError.broken(name, placed.where(int(np.argmax(missing))))
        weights, copies = _weights(reading.data, placed)
        every_row = EncodedTable(
            network.cardinality_of,
            whole,
            weights=weights,
            row_numbers=None if weights is None else placed.row + 1 + np.arange(len(weights)),
            copies=copies,
            design=_design(reading.data, placed),
            sets_of=reading.sets_of,
        )
        if self.sampler is not None:
            named = {
                name: placed.piece.columns[column] for name, column in reading.column_of.items()
            }
            self.sampler.add(named, every_row)
        table = self._reported(every_row)
        return table, replace(table, columns=columns)

    def _codes(self, name: str, piece: Piece) -> Codes:
        """The codes of a variable, as its column says; it is missing in every row without one."""
        if name in self.encoders:
            return self.encoders[name].encode(piece.columns[self.reading.column_of[name]])
        states = self.reading.network.cardinality(name)
        return np.full(piece.rows, states, code_type(states))  # type: ignore[return-value]

    def _reported(self, every_row: EncodedTable) -> EncodedTable:
        """The rows of some weight; the report takes in what all of them say."""
        report = self.report
        data = self.reading.data
        table = every_row
        if every_row.weights is not None and not every_row.weights.all():
            # Rows of weight zero were sampled too; a count of zero is no row.
            if data.is_clustered and data.weight is not None:
                report.unweighted = added_rows(report.unweighted, _rows_of_zero(every_row))
            table = every_row.take(np.flatnonzero(every_row.weights))
        if not report.given and data.counts is None:
            report.is_aggregated = _looks_aggregated(table)
        if table.copies is not None:
            report.has_fractions |= bool((table.copies.rows % 1).any())
        report.given += every_row.rows
        report.kept += table.rows
        if table.design is not None and table.design.replicates is not None:
            report.add_replicates(table.design.replicates.sum(axis=0))
        return table


def _mapped_in_thread(
    function: Callable[[_PlacedPiece], T], pieces: Iterable[_PlacedPiece]
) -> Iterator[T]:
    """What a function gives for each piece, in order, while the next pieces are read."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1, "lacunet-encode") as pool:
        pending = deque[Any]()
        for placed in pieces:
            pending.append(pool.submit(function, placed))
            if len(pending) > PIECES_AHEAD:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


def _rows_of_zero(table: EncodedTable) -> RowsOfUnits:
    """How many rows of weight zero each stratum and cluster has, of those that have any."""
    if table.design is None:
        return {}
    rows = 1.0 if table.copies is None else table.copies.rows
    labels, unit_of_row = table.design.units()
    sums = np.bincount(unit_of_row, (table.row_weights == 0) * rows, len(labels)).tolist()
    return {unit: number for unit, number in zip(labels, sums, strict=True) if number}


def matcher_of(reading: Reading, name: str) -> Matcher:
    """How the values of one variable's column are matched."""
    network = reading.network
    data = reading.data
    missing = [code if isinstance(code, str) else spelled(code) for code in data.missing_anywhere]
    return known_matcher(
        network.states(name),
        missing=tuple(missing),
        decimal=data.decimal,
        cuts=tuple(network.cuts_of.get(name, ())),
        codes=tuple(network.codes_of.get(name, {}).items()),
    )


def encoded_column(
    reading: Reading, name: str, pieces: Iterable[Piece]
) -> tuple[Codes, ColumnEncoder]:
    """The codes of one variable in some rows, and the encoder, which knows what was odd."""
    encoder = ColumnEncoder(matcher_of(reading, name))
    codes: Any = [encoder.encode(piece.columns[reading.column_of[name]]) for piece in pieces]
    return np.concatenate(codes), encoder


FIRST_ROWS = 4096  # looked at to tell a table of counts


def _looks_aggregated(table: EncodedTable) -> bool:
    """Whether weights are whole numbers and no two rows are equal."""
    if table.weights is None or len(table.weights) < 2:
        return False
    weights = table.weights[:FIRST_ROWS]
    if (weights != np.round(weights)).any() or (weights == weights[0]).all():
        return False
    codes = np.stack([column[:FIRST_ROWS] for column in table.columns.values()], axis=1)
    return len(np.unique(codes, axis=0)) == len(codes)


def matching_remarks(
    reading: Reading, odd_in: Mapping[str, OddCells], contradicted: Mapping[str, int]
) -> Iterator[str]:
    """What the user should know of the matching, once all is read."""
    for name, rows in contradicted.items():
        contradict = "contradicts" if rows == 1 else "contradict"
        were = "was" if rows == 1 else "were"
        yield (
            f"column {name!r}: {counted(rows, 'row')} {contradict} its rule (not asked where "
            f"{reading.network.not_asked_of[name].when}), and {were} read as the rule says."
        )
    padded: dict[str, Counter[object]] = {}  # values with spaces around them
    blank: dict[str, int] = {}  # cells of spaces alone
    for name, odd in odd_in.items():
        values = {value: cells for value, cells in odd.stripped.items() if str(value).strip()}
        if values:
            padded[name] = Counter(values)
        if spaces := odd.stripped.total() - sum(values.values()):
            blank[name] = spaces
    if padded:
        cells = counted(sum(values.total() for values in padded.values()), "cell")
        first = clipped(next(iter(next(iter(padded.values())))))
        yield f"{_columns(padded)}: ignored the spaces around the values of {cells}, as in {first}."
    if blank:
        cells = counted(sum(blank.values()), "cell")
        yield f"{_columns(blank)}: {cells} of spaces alone taken as missing."
    if reading.data.unknown == "missing":
        yield from _remark_on_refused({v: odd.refused for v, odd in odd_in.items() if odd.refused})


def _remark_on_refused(refused: Mapping[str, Counter[object]]) -> Iterator[str]:
    """Which values that are not states were read as missing; nothing where there are none."""
    if not refused:
        return
    every = sum(refused.values(), Counter[object]())
    values = ", ".join(clipped(value) for value, _ in every.most_common(VALUES_IN_REMARK))
    more = ", ..." if len(every) > VALUES_IN_REMARK else ""
    yield (
        f"{_columns(refused)}: read {counted(every.total(), 'cell')} as missing, with values "
        f"({values}{more}) that are not states."
    )


def _columns(names: Collection[str]) -> str:
    """The columns that a note is on, by a few of their names."""
    first, *others = names
    if not others:
        return f"column {first!r}"
    return f"{len(names)} columns ({first_of([*names], COLUMNS_IN_REMARK)})"


def copied_pieces(
    source: DataSource, columns: Sequence[str], data: Data
) -> Iterator[tuple[Piece, FloatArray | None]]:
    """The pieces of some columns, and how many rows each row stands for, if that is said.

    Raises
    ------
    WeightError
        A count is not a number of rows, or there is no such column.
    """
    check_beside(source, columns, data)
    beside = [data.counts] if isinstance(data.counts, str) else []
    for placed in _placed_pieces(source, [*columns, *beside], silent):
        yield placed.piece, _numbers(data.counts, "counts", data.decimal, placed)


def _placed_pieces(
    source: DataSource, wanted: Sequence[str], progress: Progress
) -> Iterator[_PlacedPiece]:
    """Each piece of each part, with its place; tells the progress as it goes."""
    row = before = 0
    for part in source.parts:
        first = row
        for piece in _read(part, wanted):
            done = piece.bytes_read if part.unit == "bytes" else row - first + piece.rows
            progress("reading", before + done, source.total, source.parts[0].unit)
            yield _PlacedPiece(piece, part, row - first, row)
            row += piece.rows
        before += row - first if part.size is None else part.size


def _read(part: Part, wanted: Sequence[str]) -> Iterator[Piece]:
    """The pieces of a part, with damage told in words."""
    import pyarrow as pa

    rows = 0
    try:
        for piece in part.read(wanted):
            rows += piece.rows
            yield piece
    except pa.ArrowException as error:
        raise DataError.damaged(part.label, error) from None
    except (OSError, UnicodeError) as error:
        raise DataError.unreadable(part.label, error) from None
    if part.unit == "rows" and part.size is not None and part.size != rows:
        reason = f"it announces {counted(part.size, 'row')} but holds {rows:,}"
        raise DataError.unreadable(part.label, reason)


def _weights(data: Data, placed: _PlacedPiece) -> tuple[FloatArray | None, Copies | None]:
    """What each row weighs, and how many rows it stands for."""
    weights = _numbers(data.weight, "weight", data.decimal, placed)
    counts = _numbers(data.counts, "counts", data.decimal, placed)
    if counts is None:
        return weights, None
    if weights is None:
        return counts, Copies(counts, counts)
    squared = _numbers(data.squared_weight, "squared_weight", data.decimal, placed)
    if squared is None:
        squared = weights**2
    return counts * weights, Copies(counts, counts * squared)


def _numbers(given: Any, option: str, decimal: str, placed: _PlacedPiece) -> FloatArray | None:
    """The numbers of the rows of a piece, from a column or from beside the data."""
    column = _cells(given, option, placed)
    if column is None or isinstance(column, np.ndarray):
        return column
    numbers = number_column(column, decimal)
    if (wrong := first_wrong(numbers)) is not None:
        where = f"{placed.where(wrong)}, column {given!r}"
        raise WeightError.value(NOUN[option], where, cell_at(column, wrong))
    return numbers


def _cells(given: Any, option: str, placed: _PlacedPiece) -> Any:
    """What a column, or an array beside the data, says of the rows of a piece."""
    if given is None or isinstance(given, str):
        return None if given is None else placed.piece.columns[given]
    stop = placed.row + placed.piece.rows
    if stop > len(given):
        raise WeightError.length(f"{option}=", len(given), f"{stop} or more")
    return given[placed.row : stop]


def _design(data: Data, placed: _PlacedPiece) -> Design | None:
    strata = _labels(data.strata, "strata", placed)
    clusters = _labels(data.cluster, "cluster", placed)
    if data.replicate_weights is None:
        if strata is None and clusters is None:
            return None
        return Design(strata, clusters)
    replicates = data.replicate_weights
    given = replicates.names or [replicates.columns]
    columns = [_numbers(each, "replicate_weights", data.decimal, placed) for each in given]
    matrix: Any = np.column_stack([column for column in columns if column is not None])
    return Design(strata, clusters, matrix, replicates.factors)


def _labels(given: Any, option: str, placed: _PlacedPiece) -> Labels | None:
    """The stratum or the cluster of each row of a piece."""
    column = _cells(given, option, placed)
    if column is None:
        return None
    labels = label_column(list(column) if isinstance(column, np.ndarray) else column)
    if (labels.codes < 0).any():
        where = placed.where(int(np.argmax(labels.codes < 0)))
        raise DataError(
            f"{option}= is missing in {where}.",
            "every row needs one: drop the row, or give it a label of its own.",
        )
    return labels


def contradiction(name: str, rule: NotAsked, rows: int, where: str) -> DataError:
    """The error that names cells which show what was not asked."""
    first = f", first in {where}" if where else ""
    return DataError(
        f"column {name!r} contradicts its rule in {counted(rows, 'row')}{first}: it was not asked "
        f"where {rule.when}, and only there.",
        "correct the rule or the data, or read the cells as the rule says with "
        'lacunet.Data(data, unknown="missing") (--unknown missing).',
    )


def unknown_states(
    odd_in: Mapping[str, OddCells],
    states_of: Mapping[str, Sequence[str]],
    place_of: Mapping[str, str],
) -> UnknownStateError:
    """The error that names, of each column, what is not a state, where first, what is ambiguous."""
    lines = []
    for name, odd in [*odd_in.items()][:SHOWN_VALUES]:
        first = f", first in {place_of[name]}" if name in place_of else ""
        lines.append(_not_states(name, odd, states_of[name], first))
    if len(odd_in) > SHOWN_VALUES:
        lines.append(f"and {len(odd_in) - SHOWN_VALUES} more columns.")
    hint = ""
    offer = next(filter(None, _offers(odd_in, states_of)), "")  # to look for all takes long
    if offer:
        hint = f"{offer} Otherwise "
    wider = [wider_cuts(name, odd.refused, states_of[name]) for name, odd in odd_in.items()]
    hint += "".join(wider)
    if not all(wider):
        codes = f"lacunet.Data(data, codes={{{next(iter(odd_in))!r}: {{...}}}}) (--codes)"
        hint += f"say what they mean: {codes}, rename the values, add the states to the network, "
    hint += (
        'name values that mean "not observed" in missing=[...] (--missing), or read every '
        'unknown value as missing with lacunet.Data(data, unknown="missing") (--unknown missing).'
    )
    return UnknownStateError("\n".join(lines), hint)


def _not_states(name: str, odd: OddCells, states: Sequence[str], first: str) -> str:
    """What a column holds that is not a state, and where ``first``."""
    common = odd.refused.most_common(SHOWN_VALUES)
    values = ", ".join(f"{clipped(value)} ({counted(cells, 'row')})" for value, cells in common)
    more = len(odd.refused) - len(common)
    if more:
        values += f" and {more} more"
    words = (
        f"column {name!r} holds {values}{first}, but the network gives {name!r} the states "
        f"{short_list(states)}."
    )
    alike = ", ".join(sorted(map(clipped, odd.ambiguous))[:SHOWN_VALUES])
    return f"{words} More than one of them equals {alike}." if alike else words


def _offers(
    odd_in: Mapping[str, OddCells], states_of: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """What may have been meant by values that are not states, of the columns that are named."""
    for name, odd in islice(odd_in.items(), SHOWN_VALUES):
        for value, _ in odd.refused.most_common(SHOWN_VALUES):
            if isinstance(value, str) and value not in odd.ambiguous:
                yield did_you_mean(value, states_of[name])


def wider_cuts(name: str, values: Iterable[object], states: Sequence[str]) -> str:
    """How to cut so that numbers outside of all intervals are within one; or nothing."""
    cuts = cuts_of(states)
    # clipped: also of a number with thousands of digits; the comma: as decimal="," has it
    numbers = [number_of(clipped(value).strip("'").replace(",", ".")) for value in values]
    if cuts is None or None in numbers:
        return ""
    wider = ",".join(dict.fromkeys(["-inf", *map(spelled_cut, cuts), "inf"]))
    shell = in_shell(f"{keyed(name, '=')}={wider}")
    return f"widen the cut points (bins=, --bins {shell}) and keep them in a network as .json, "


def _places_of(rows: Iterable[int], part_starts: Sequence[tuple[int, Part]]) -> dict[int, str]:
    """Where each row is found, in words; each part is searched once."""
    starts = [start for start, _ in part_starts]
    place_of: dict[int, str] = {}
    for index, in_part in groupby(sorted(rows), lambda row: bisect_right(starts, row) - 1):
        start, part = part_starts[index]
        places = part.places([row - start for row in in_part])
        place_of |= {row + start: where for row, where in places.items()}
    return place_of
