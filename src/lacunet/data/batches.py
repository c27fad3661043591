"""Rows as batches of codes, without ever holding the table.

The parser runs in the caller's thread and the encoder in another, one piece behind, so two
cores are busy; the order of the rows is kept.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lacunet.data.encode import ColumnEncoder
from lacunet.data.errors import UnknownStateError, WeightError, clipped, unknown_values
from lacunet.data.matching import Matcher
from lacunet.data.reading import Reading
from lacunet.data.source import Part, Piece
from lacunet.data.table import Codes, code_type
from lacunet.data.weights import cell_at, first_wrong, weight_column
from lacunet.model.network import FloatArray
from lacunet.progress import Progress, silent

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
                reading.missing,
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
        Values were no states. Raised after the last row, to name all of them with counts.
    WeightError
        A weight is no finite number from zero upwards.
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
    if isinstance(reading.weight, np.ndarray) and len(reading.weight) != rows:
        raise WeightError.length(len(reading.weight), rows)
    if reading.unknown == "error" and any(own.refused for own in encoders.values()):
        raise _unknown_states(encoders, begun)


def remarks(reading: Reading, encoders: Encoders) -> Iterator[str]:
    """What the user should know of the matching, once all is read."""
    for name, own in encoders.items():
        if own.stripped:
            yield (
                f"column {name!r}: ignored the blanks around the values of "
                f"{own.stripped.total()} cells, as in {clipped(next(iter(own.stripped)))}."
            )
        if own.refused and reading.unknown == "missing":
            values = ", ".join(clipped(value) for value, _ in own.refused.most_common(5))
            yield (
                f"column {name!r}: read {own.refused.total()} cells as missing whose values "
                f"({values}{', ...' if len(own.refused) > 5 else ''}) are no states."
            )


def _places(reading: Reading, progress: Progress) -> Iterator[_Place]:
    """Each piece of each part, with its place; tells the progress as it goes."""
    source, row, before = reading.source, 0, 0
    unit = source.parts[0].unit
    for part in source.parts:
        row_in_part = done = 0
        for piece in part.read(reading.wanted):
            done = before + piece.done
            progress("reading", done, source.total, unit)
            expected = source.rows
            if expected is None and source.total and done:
                expected = -(-(row + piece.rows) * source.total // done)
            yield _Place(piece, part, row_in_part, row, expected)
            row_in_part += piece.rows
            row += piece.rows
        before += part.size if part.size is not None else row_in_part


def _encoded(reading: Reading, encoders: Encoders, place: _Place) -> EncodedBatch:
    piece = place.piece
    columns = {
        name: encoders[name].encode(piece.columns[reading.column_of[name]])
        if name in encoders
        else _never_observed(reading.network.cardinality(name), piece.rows)
        for name in reading.network.variables
    }
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
    if not isinstance(reading.weight, str):
        whole = reading.weight
        stop = place.row + place.piece.rows
        if whole is not None and stop > len(whole):
            raise WeightError.length(len(whole), f"{stop} or more")
        return None if whole is None else whole[place.row : stop]
    column = place.piece.columns[reading.weight]
    weights = weight_column(column)
    if (wrong := first_wrong(weights)) is not None:
        row = place.row_in_part + wrong
        where = dict(place.part.places([row]))[row]
        raise WeightError.value(f"{where}, column {reading.weight!r}", cell_at(column, wrong))
    return weights


def _unknown_states(encoders: Encoders, begun: Sequence[tuple[int, Part]]) -> UnknownStateError:
    """The error that names all refused values; ``begun`` is the first row of each part."""
    rows = {name: own.first_refused for name, own in encoders.items() if own.refused}
    place_of = _places_of({row for row in rows.values() if row is not None}, begun)
    return UnknownStateError.in_columns(
        [
            unknown_values(name, place_of[row], own.refused, own.ambiguous, own.matcher.states)
            for name, row in rows.items()
            if row is not None and (own := encoders[name])
        ]
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
