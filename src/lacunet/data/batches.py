"""Rows as batches of codes, without ever holding the table.

The parser runs in the caller's thread and the encoder in another, one piece behind, so two
cores are busy; the order of the rows is kept.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lacunet.data.encode import ColumnEncoder, cell_at, first_wrong, weight_column
from lacunet.data.errors import (
    SHOWN_VALUES,
    DataError,
    PromiseError,
    UnknownStateError,
    WeightError,
    clipped,
    listed,
)
from lacunet.data.matching import Matcher
from lacunet.data.reading import Reading
from lacunet.data.source import Part, Piece
from lacunet.data.table import Codes, code_type
from lacunet.model.network import FloatArray
from lacunet.progress import Progress, silent
from lacunet.wording import counted

PIECES_AHEAD = 2

Encoders = Mapping[str, ColumnEncoder]


@dataclass(frozen=True)
class EncodedBatch:
    """Consecutive rows as codes, one column for each variable of the network.

    Rows of weight zero are left out: ``given`` counts them too, and ``row_numbers`` (from 1, in
    all the data) says which rows are left. Both it and ``weights`` are None where every row
    weighs one. ``expected`` is how many rows all the data will have, as far as it is known.
    """

    columns: Mapping[str, Codes]
    weights: FloatArray | None
    row_numbers: NDArray[np.int64] | None
    given: int
    expected: int | None


@dataclass(frozen=True)
class _Place:
    """A piece, the part it belongs to, its first row there and in all the data."""

    piece: Piece
    part: Part
    row_in_part: int
    row: int
    expected: int | None


def encoders_of(reading: Reading) -> Encoders:
    """One encoder for each column that is read."""
    return {
        name: ColumnEncoder(
            Matcher(
                reading.network.states(name),
                reading.how.missing,
                reading.decimal,
                reading.network.cuts_of.get(name, ()),
            )
        )
        for name in reading.column_of
    }


def batches(
    reading: Reading, encoders: Encoders, progress: Progress = silent
) -> Iterator[EncodedBatch]:
    """The rows as codes, in order, in bounded memory.

    Parameters
    ----------
    reading
        What is to be read.
    encoders
        What `encoders_of` gave for it: afterwards they know what could not be matched.
    progress
        Called after each piece, with rows or, for text files, bytes.

    Raises
    ------
    UnknownStateError
        Values were not states. Raised after the last row, to name all of them with counts.
    WeightError
        A weight is not a finite number from zero upwards.
    """
    pending: deque[Future[EncodedBatch]] = deque()
    begun: list[tuple[int, Part]] = []
    rows = 0
    with ThreadPoolExecutor(1, "lacunet-encode") as pool:
        for place in _places(reading, progress):
            rows = place.row + place.piece.rows
            if not place.row_in_part:
                begun.append((place.row, place.part))
            pending.append(pool.submit(_encoded, reading, encoders, place))
            if len(pending) > PIECES_AHEAD:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    if isinstance(reading.how.weight, np.ndarray) and len(reading.how.weight) != rows:
        raise WeightError.length(len(reading.how.weight), rows)
    if reading.how.unknown == "error" and any(own.refused for own in encoders.values()):
        raise _refusal(encoders, begun)


class Odd(Protocol):
    """The cells of a column that were not simply states or missing."""

    stripped: Counter[object]
    refused: Counter[object]


def remarks(reading: Reading, odd_in: Mapping[str, Odd]) -> Iterator[str]:
    """What the user should know of the matching, once all is read."""
    for name, own in odd_in.items():
        if own.stripped:
            yield (
                f"column {name!r}: ignored the spaces around the values of "
                f"{counted(own.stripped.total(), 'cell')}, as in "
                f"{clipped(next(iter(own.stripped)))}."
            )
        if own.refused and reading.how.unknown == "missing":
            values = ", ".join(clipped(value) for value, _ in own.refused.most_common(5))
            yield (
                f"column {name!r}: read {counted(own.refused.total(), 'cell')} as missing, with "
                f"values ({values}{', ...' if len(own.refused) > 5 else ''}) that are not states."
            )


def _places(reading: Reading, progress: Progress) -> Iterator[_Place]:
    """Each piece of each part, with its place; tells the progress as it goes."""
    source, row, before = reading.source, 0, 0
    unit = source.parts[0].unit
    for part in source.parts:
        row_in_part = done = 0
        for piece in _read(part, reading.wanted):
            done = before + piece.done
            progress("reading", done, source.total, unit)
            expected = source.rows
            if expected is None and source.total and done:
                expected = -(-(row + piece.rows) * source.total // done)
            yield _Place(piece, part, row_in_part, row, expected)
            row_in_part += piece.rows
            row += piece.rows
        before += part.size if part.size is not None else row_in_part


def _read(part: Part, wanted: Sequence[str]) -> Iterator[Piece]:
    """The pieces of a part, with damage told in words."""
    import pyarrow as pa

    rows = 0
    try:
        for piece in part.read(wanted):
            rows += piece.rows
            yield piece
    except (OSError, UnicodeError, pa.ArrowException) as error:
        raise DataError.unreadable(part.label, error) from None
    if part.unit == "rows" and part.size is not None and part.size != rows:
        reason = f"it announces {counted(part.size, 'row')} but holds {rows:,}"
        raise DataError.unreadable(part.label, reason)


def _encoded(reading: Reading, encoders: Encoders, place: _Place) -> EncodedBatch:
    piece = place.piece
    columns = {
        name: encoders[name].encode(piece.columns[reading.column_of[name]])
        if name in encoders
        else _never_observed(reading.network.cardinality(name), piece.rows)
        for name in reading.network.variables
    }
    for name in reading.how.fully_observed:
        missing = columns[name] == reading.network.cardinality(name)
        if missing.any():
            row = place.row_in_part + int(np.argmax(missing))
            raise PromiseError.broken(name, dict(place.part.places([row]))[row])
    weights = _weights(reading, place)
    if weights is None:
        return EncodedBatch(columns, None, None, piece.rows, place.expected)
    numbers = np.arange(place.row + 1, place.row + piece.rows + 1)
    if not weights.all():
        kept = np.flatnonzero(weights)
        columns = {name: codes[kept] for name, codes in columns.items()}
        weights, numbers = weights[kept], numbers[kept]
    return EncodedBatch(columns, weights, numbers, piece.rows, place.expected)


def _never_observed(cardinality: int, rows: int) -> Codes:
    codes: Codes = np.full(rows, cardinality, code_type(cardinality))  # type: ignore[assignment]
    return codes


def _weights(reading: Reading, place: _Place) -> FloatArray | None:
    if not isinstance(reading.how.weight, str):
        whole = reading.how.weight
        stop = place.row + place.piece.rows
        if whole is not None and stop > len(whole):
            raise WeightError.length(len(whole), f"{stop} or more")
        return None if whole is None else whole[place.row : stop]
    column = place.piece.columns[reading.how.weight]
    weights = weight_column(column, reading.decimal)
    if (wrong := first_wrong(weights)) is not None:
        row = place.row_in_part + wrong
        where = dict(place.part.places([row]))[row]
        raise WeightError.value(f"{where}, column {reading.how.weight!r}", cell_at(column, wrong))
    return weights


def _refusal(encoders: Encoders, begun: Sequence[tuple[int, Part]]) -> UnknownStateError:
    """The error that names all refused values; ``begun`` is the first row of each part."""
    rows = {name: own.first_refused for name, own in encoders.items() if own.refused}
    place_of = _places_of({row for row in rows.values() if row is not None}, begun)
    return unknown_states(
        {
            name: (encoders[name].refused, place_of[row], encoders[name].ambiguous)
            for name, row in rows.items()
            if row is not None
        },
        {name: own.matcher.states for name, own in encoders.items()},
    )


def unknown_states(
    refused: Mapping[str, tuple[Counter[object], str, set[object]]],
    states_of: Mapping[str, Sequence[str]],
) -> UnknownStateError:
    """The error that names, of each column, what is not a state, where first, what is ambiguous."""
    columns = [
        _unknown_values(name, *own, states_of[name])
        for name, own in list(refused.items())[:SHOWN_VALUES]
    ]
    more = len(refused) - SHOWN_VALUES
    return UnknownStateError(
        "\n".join([*columns, *([f"and {more} more columns."] if more > 0 else [])]),
        "rename the values, add the states to the network, name them in "
        'missing=[...] (--missing) if they mean "not observed", or read every unknown value '
        'as missing with unknown="missing" (--unknown missing).',
    )


def _unknown_values(
    column: str,
    counts: Counter[object],
    where: str,
    ambiguous: set[object],
    states: Sequence[str],
) -> str:
    """One sentence on the unknown values of a column."""
    values = ", ".join(
        f"{clipped(value)} ({counted(count, 'row')})"
        for value, count in counts.most_common(SHOWN_VALUES)
    )
    more = f" and {len(counts) - SHOWN_VALUES} more" if len(counts) > SHOWN_VALUES else ""
    alike = sorted(map(clipped, ambiguous))[:SHOWN_VALUES]
    several = f" More than one of them equals {', '.join(alike)}." if alike else ""
    first = f", first in {where}" if where else ""
    return (
        f"column {column!r} holds {values}{more}{first}, but the network gives "
        f"{column!r} the states {listed(states)}.{several}"
    )


def _places_of(rows: set[int], begun: Sequence[tuple[int, Part]]) -> dict[int, str]:
    """Where each row is found, in words; each part is searched once."""
    starts = [start for start, _ in begun]
    in_part: dict[int, list[int]] = {}
    for row in sorted(rows):
        in_part.setdefault(bisect_right(starts, row) - 1, []).append(row)
    place_of: dict[int, str] = {}
    for at, own in in_part.items():
        start, part = begun[at]
        place_of |= {row + start: place for row, place in part.places([r - start for r in own])}
    return place_of
