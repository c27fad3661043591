"""Panels: rows of units in waves become one row for each unit, with a column for each wave.

What the data show of a person in wave 3 stands in the column ``H[3]`` of that person's row; waves
that a unit has no row for are missing. A column that is asked for without a wave is the same in all
rows of a unit. Everything behind reads this table as it reads any other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lacunet.data.errors import DataError, DataWarning, clipped, short_list
from lacunet.data.matching import MISSING_TOKENS, is_null
from lacunet.data.source_parts import PIECE_ROWS, DataSource, Part, Piece
from lacunet.errors import warn
from lacunet.network.spelling import number_of, spelled
from lacunet.network.waves import MOST_WAVES, in_all_waves, in_time, wave_name

if TYPE_CHECKING:
    import pyarrow as pa

    from lacunet.data.data import Data

LARGEST_WAVE = 2**53  # what a column of floats still tells apart
ABSENT = -1  # of a wave that a unit has no row for


class Panel(Protocol):
    """Rows of units in waves."""

    @property
    def waves(self) -> range:
        """The waves, from the first that is seen to the last."""
        ...

    @property
    def varying(self) -> Sequence[str]:
        """The columns that may differ from wave to wave."""
        ...

    def warn_of_gaps(self) -> None:
        """Warn where no row is of some wave between the first and the last."""
        ...

    def source(self) -> DataSource:
        """One row for each unit, with the columns ``H[0]``, ``H[1]``, ... and those of the unit."""
        ...

    def stacked(self) -> Any:
        """One row for each unit and wave: what the states of a variable are found in."""
        ...


class _UnitsInWaves(NamedTuple):
    """Which unit each row is of, and in which wave."""

    units: NDArray[np.int64]  # by number, in the order in which they come
    waves: NDArray[np.int64]
    labels: list[str]  # of the units


@dataclass(frozen=True, eq=False)
class LongPanel:
    """Rows that each hold one unit in one wave, as two of their columns say."""

    rows: DataSource
    unit: str
    time: str
    # For a column what some of its values mean, by their spelling; None for "not observed".
    meanings: Callable[[str], Mapping[str, object]] = field(default=lambda _: {})

    def __post_init__(self) -> None:
        for option, column in (("unit", self.unit), ("time", self.time)):
            if column not in self.rows.columns:
                raise DataError(
                    f"{option}={column!r} names no column of {self.rows.label}.",
                    f"its columns are {short_list(self.rows.columns)}.",
                )
        if self.unit == self.time:
            raise DataError(
                f"unit= and time= both name the column {self.unit!r}.",
                "one column says whose row it is, another of which wave.",
            )

    @cached_property
    def _index(self) -> _UnitsInWaves:
        """The unit of each row, and its wave."""
        columns = whole_columns(self.rows, [self.unit, self.time])
        units, labels = _labelled(columns[self.unit])
        self._refuse_nulls(units, "unit", self.unit)
        codes, times = _labelled(columns[self.time])
        self._refuse_nulls(codes, "time", self.time)
        numbers = np.array([self._wave(text, codes, k) for k, text in enumerate(times)], np.int64)
        return _UnitsInWaves(units, numbers[codes], labels)

    def _refuse_nulls(self, codes: NDArray[np.int64], option: str, column: str) -> None:
        if (codes < 0).any():
            row = int(np.argmax(codes < 0))
            raise DataError(
                f"{self._place(row)}: the column {column!r} is empty, and {option}= names it.",
                "every row says which unit it is of, and in which wave.",
            )

    def _wave(self, text: str, codes: NDArray[np.int64], code: int) -> int:
        """The number of a wave, as it is written."""
        number: Any = int(text) if text.isdecimal() else number_of(spelled(text))
        if number is None or number != int(number) or abs(number) > LARGEST_WAVE:
            row = int(np.argmax(codes == code))
            what = "a wave"
            if number is None or number != int(number):
                what = "a whole number"
            raise DataError(
                f"{self._place(row)}: {text!r} in the column {self.time!r} is not {what}, "
                "and time= names it.",
                "number the waves: 0, 1, 2 and so on.",
            )
        return int(number)

    def _place(self, row: int) -> str:
        """The words for where a row is."""
        before = 0
        for part in self.rows.parts:
            rows = sum(piece.rows for piece in part.read([self.unit]))
            if row < before + rows:
                return part.places([row - before])[row - before]
            before += rows
        return f"row {row + 1}"

    @cached_property
    def waves(self) -> range:
        """The waves, from the first that is seen to the last."""
        wave_of_row = self._index.waves
        if not len(wave_of_row):
            raise DataError.no_rows(self.rows.label)
        waves = range(int(wave_of_row.min()), int(wave_of_row.max()) + 1)
        if len(waves) > MOST_WAVES:
            raise DataError(
                f"the column {self.time!r} has waves from {waves[0]:,} to {waves[-1]:,}, more than "
                f"{MOST_WAVES:,}.",
                "number the waves one after another: 0, 1, 2 and so on.",
            )
        return waves

    def warn_of_gaps(self) -> None:
        """Warn where no row is of some wave between the first and the last."""
        unseen = sorted({*self.waves} - {*self._index.waves.tolist()})
        if unseen:
            some = f"{unseen[0]}" if len(unseen) == 1 else f"{unseen[0]} and {len(unseen) - 1} more"
            warn(
                f"no row is of wave {some}, between the first and the last: such waves are missing "
                "for all. If nothing happened in them, number the waves one after another.",
                DataWarning,
            )

    @property
    def varying(self) -> Sequence[str]:
        """The columns that may differ from wave to wave."""
        return [name for name in self.rows.columns if name not in (self.unit, self.time)]

    def stacked(self) -> Any:
        """One row for each unit and wave."""
        return self.rows

    @cached_property
    def row_at(self) -> NDArray[np.int64]:
        """The row of each unit in each wave, -1 where it has none."""
        units, waves, labels = self._index
        places = waves - self.waves[0]
        rows = np.arange(len(units))
        row_at = np.full((int(units.max()) + 1, len(self.waves)), ABSENT, np.int64)
        row_at[units, places] = rows
        is_overwritten = row_at[units, places] != rows
        if is_overwritten.any():
            row = int(np.argmax(is_overwritten))
            again = int(row_at[units[row], places[row]])
            label = labels[units[row]]
            raise DataError(
                f"{self._place(again)}: unit {label!r} is in wave {waves[row]} twice; the other is "
                f"{self._place(row)}.",
                "a unit has one row in a wave: drop the other, or number the waves anew.",
            )
        return row_at

    def source(self) -> DataSource:
        """One row for each unit."""
        units = len(self.row_at)
        label = f"{self.rows.label}, a row for each {self.unit!r}"
        names = (self.unit, *self.varying, *_in_waves(self.varying, self.waves))
        return DataSource((Part(label, names, self._pieces, units),))

    def _pieces(self, wanted: Sequence[str]) -> Iterator[Piece]:
        """The units, some at a time."""
        constant = [name for name in wanted if name in self.rows.columns]
        node_of = {name: in_time(name) for name in wanted if name not in constant}
        columns = {*constant, *(node.name for node in node_of.values())}
        whole = whole_columns(self.rows, sorted(columns))
        # Which row each cell of a wanted column is taken from.
        rows_of = {name: self._row_of_unit(name, whole[name]) for name in constant}
        for name, node in node_of.items():
            rows_of[name] = self.row_at[:, (node.wave or 0) - self.waves[0]]
        for start in range(0, len(self.row_at), PIECE_ROWS):
            some = slice(start, start + PIECE_ROWS)
            cells = {}
            for name in wanted:
                column = node_of[name].name if name in node_of else name
                cells[name] = _taken(whole[column], rows_of[name][some])
            yield Piece(cells, len(self.row_at[some]))

    def _row_of_unit(self, name: str, column: pa.Array) -> NDArray[np.int64]:
        """A row of each unit that shows what is the same in all of them, -1 where none does.

        Raises
        ------
        DataError
            It is not the same.
        """
        units = self._index.units
        codes, labels = _labelled(column, MISSING_TOKENS)
        meanings = self.meanings(name)
        meant = [meanings.get(label, label) for label in labels]
        number_of = {text: number for number, text in enumerate(dict.fromkeys(map(str, meant)))}
        same = np.array([ABSENT if m is None else number_of[str(m)] for m in meant] + [ABSENT])
        means = same[codes]
        row_of = np.full(len(self.row_at), ABSENT, np.int64)
        # The first row of each unit that tells; else one with a code that may be a state yet.
        for rows in (np.flatnonzero(codes >= 0), np.flatnonzero(means >= 0)):
            row_of[units[rows][::-1]] = rows[::-1]  # the last that is written is the first row
        shown = np.flatnonzero(means >= 0)
        is_other = means[shown] != means[row_of[units[shown]]]
        if is_other.any():
            other = int(shown[np.argmax(is_other)])
            first = int(row_of[units[other]])
            label = self._index.labels[units[other]]
            raise DataError(
                f"{self._place(other)}: {name!r} of unit {label!r} is {labels[codes[other]]!r} "
                f"here and {labels[codes[first]]!r} in {self._place(first)}.",
                f"without a wave it is the same in all rows of a unit; else write {name}[t].",
            )
        return row_of


@dataclass(frozen=True, eq=False)
class WidePanel:
    """Rows that each hold one unit, with a column for each wave of a variable."""

    rows: DataSource
    columns_of: Mapping[str, Sequence[str | None]]  # wave by wave; None where it has none

    def __post_init__(self) -> None:
        lengths = {name: len(columns) for name, columns in self.columns_of.items()}
        if len({*lengths.values()}) > 1:
            each = ", ".join(f"{name!r} {number}" for name, number in lengths.items())
            raise DataError(
                f"waves= names different numbers of columns: {each}.",
                "name one column for each wave; None where a variable has none.",
            )
        every = [column for columns in self.columns_of.values() for column in columns if column]
        if len({*every}) < len(every):
            twice = next(column for column in every if every.count(column) > 1)
            raise DataError(
                f"waves= names the column {twice!r} twice.", "a column is one variable in one wave."
            )
        for name, columns in self.columns_of.items():
            for column in filter(None, columns):
                if column not in self.rows.columns:
                    raise DataError(
                        f"waves= names the column {column!r} for {name!r}, but {self.rows.label} "
                        "has no such column.",
                        f"its columns are {short_list(self.rows.columns)}.",
                    )

    @property
    def waves(self) -> range:
        """The waves, numbered from 1 in the order of the columns."""
        return range(1, len(next(iter(self.columns_of.values()))) + 1)

    def warn_of_gaps(self) -> None:
        """A wave without columns was named as such."""

    @property
    def varying(self) -> Sequence[str]:
        """The variables that have a column for each wave."""
        return list(self.columns_of)

    @property
    def _constant(self) -> list[str]:
        """The columns of the units themselves."""
        used = {column for columns in self.columns_of.values() for column in columns}
        return [name for name in self.rows.columns if name not in used]

    def source(self) -> DataSource:
        """The same rows, with columns named by variable and wave."""
        names = (*self._constant, *_in_waves(self.varying, self.waves))
        # What a part knows of its columns without reading them goes by their own names.
        parts = [
            replace(
                part,
                columns=names,
                read=partial(self._pieces, part),
                nulls=None,
                values=None,
                packed=[name for name in names if self._column(name) in part.packed],
            )
            for part in self.rows.parts
        ]
        return DataSource(tuple(parts))

    def _pieces(self, part: Part, wanted: Sequence[str]) -> Iterator[Piece]:
        import pyarrow as pa

        column_of = {name: self._column(name) for name in wanted}
        present = [column for column in column_of.values() if column is not None]
        # A piece knows its rows by its columns: of a wave that nobody was asked in, another's.
        for piece in part.read(list(dict.fromkeys(present or [self.rows.columns[0]]))):
            empty = pa.nulls(piece.rows)
            columns = {
                name: empty if column is None else piece.columns[column]
                for name, column in column_of.items()
            }
            yield replace(piece, columns=columns)

    def _column(self, name: str) -> str | None:
        """The column of a variable in a wave, or of the unit."""
        node = in_time(name)
        if node.wave is None or node.name not in self.columns_of:
            return name
        return self.columns_of[node.name][node.wave - 1]

    def stacked(self) -> Any:
        """One row for each unit and wave."""
        import pyarrow as pa

        held = whole_columns(self.rows, list(self.rows.columns))
        # Texts that were only packed into dictionaries declare no categories.
        for name in {name for part in self.rows.parts for name in part.packed}:
            if pa.types.is_dictionary(held[name].type):
                held[name] = held[name].dictionary_decode()
        rows = len(next(iter(held.values())))
        stacked = {name: joined([held[name]] * len(self.waves)) for name in self._constant}
        for name, columns in self.columns_of.items():
            every = [pa.nulls(rows) if column is None else held[column] for column in columns]
            stacked[name] = joined(every)
        return stacked


def _in_waves(names: Sequence[str], waves: range) -> Iterator[str]:
    for name in names:
        yield from (wave_name(name, wave) for wave in waves)


def whole_columns(source: DataSource, names: Sequence[str]) -> dict[str, Any]:
    """All rows of some columns, as one Arrow array each."""
    pieces: dict[str, list[Any]] = {name: [] for name in names}
    for part in source.parts:
        for piece in part.read(list(names)):
            for name in names:
                pieces[name].append(piece.columns[name])
    return {name: joined(columns) for name, columns in pieces.items()}


def joined(columns: Sequence[Any]) -> Any:
    """Columns one after another; as texts where they are of several types."""
    import pyarrow as pa

    filled = [column for column in columns if not _is_of_nulls(column)]
    kinds = {column.type for column in filled if hasattr(column, "type")}
    if len(kinds) == 1 and all(hasattr(column, "type") for column in filled):
        (kind,) = kinds
        same = [pa.nulls(len(c), kind) if _is_of_nulls(c) else c for c in columns]
        return pa.chunked_array(same, kind).unify_dictionaries().combine_chunks()
    cells = [cell for column in columns for cell in _as_list(column)]
    return pa.array([None if is_null(cell) else spelled(cell) for cell in cells], pa.string())


def _is_of_nulls(column: Any) -> bool:
    import pyarrow as pa

    return hasattr(column, "type") and pa.types.is_null(column.type)


def _as_list(column: Any) -> list[Any]:
    return column.to_pylist() if hasattr(column, "to_pylist") else list(column)


def _labelled(
    column: pa.Array, missing: Collection[str] = ("",)
) -> tuple[NDArray[np.int64], list[str]]:
    """The values of a column as texts, in the order in which they come, and which each row has.

    -1 where it has none.
    """
    import pyarrow as pa

    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    codes = encoded.indices.fill_null(ABSENT).to_numpy(zero_copy_only=False).astype(np.int64)
    labels: list[str] = []
    number_of_label: dict[str, int] = {}
    numbers = []
    for value in encoded.dictionary.to_pylist():
        text = "" if is_null(value) else spelled(value)
        if text in missing:
            numbers.append(ABSENT)
            continue
        number = number_of_label.setdefault(text, len(labels))
        if number == len(labels):
            labels.append(text)
        numbers.append(number)
    return np.array([*numbers, ABSENT], np.int64)[codes], labels


def _taken(column: pa.Array, rows: NDArray[np.int64]) -> pa.Array:
    """Some rows of a column, null for those that are absent."""
    import pyarrow as pa

    return column.take(pa.array(rows, mask=rows < 0))


def panel_of(data: Data, rows: DataSource) -> Panel:
    """How the rows of data are units in waves, as the data say."""
    if data.lengths:
        given = short_list([f"{name}=" for name in data.lengths])
        raise DataError(
            f"{given} is given row by row, and the rows are units in waves.",
            "name a column, which is the same in all rows of a unit.",
        )
    if data.waves is not None:
        return WidePanel(rows, data.waves)

    def meanings(column: str) -> Mapping[str, object]:
        everywhere = dict.fromkeys(map(spelled, data.missing.get(None, ())))
        return {**everywhere, **data.codes_in(column)}

    return LongPanel(rows, str(data.unit), str(data.time), meanings)


def checked_waves(waves: Any) -> dict[str, list[str | None]]:
    """The columns of each variable of a wide panel, wave by wave."""
    every = list(waves.values()) if isinstance(waves, Mapping) else []
    are_lists = [isinstance(c, Iterable) and not isinstance(c, str) and [*c] for c in every]
    if not every or not all(are_lists):
        raise DataError(
            f"waves= is {clipped(waves)}, but must say which columns are a variable's waves.",
            "as in waves={'H': ['H1', 'H2', 'H3']}; None stands for a wave without a column.",
        )
    return {
        str(name): [None if column is None else str(column) for column in columns]
        for name, columns in waves.items()
    }


def in_waves(data: Data, panel: Panel, variables: Collection[str]) -> Data:
    """What is said of a variable, said of it in all waves; those that no row shows are latent."""
    known = {node.wave for node in map(in_time, variables) if node.wave is not None}
    if known and known.isdisjoint(panel.waves):
        raise DataError(
            f"the rows are of waves from {panel.waves[0]} to {panel.waves[-1]}, and the network "
            f"has those from {min(known)} to {max(known)}.",
            "network.unroll(waves) gives one over more waves.",
        )
    options: dict[str, Any] = {}
    for option in ("missing", "codes", "bins", "states"):
        values = getattr(data, option)
        if isinstance(values, Mapping):
            in_each: dict[str | None, Any] = {}
            for key, value in values.items():
                names = [None] if key is None else in_all_waves([key], variables)
                in_each |= dict.fromkeys(names, value)
            options[option] = in_each
    unseen = []  # in waves that no row is of
    for name in variables:
        node = in_time(name)
        if node.name in panel.varying and node.wave not in (None, *panel.waves):
            unseen.append(name)
    latent = in_all_waves(data.latent, variables)
    options["latent"] = tuple(dict.fromkeys((*latent, *unseen)))
    options["fully_observed"] = tuple(in_all_waves(data.fully_observed, variables))
    return replace(data, **options)


def refuse_panel(data: Data, function: str) -> None:
    """Refuse units in waves where a function takes rows as they are."""
    if data.is_panel:
        raise DataError(
            f"{function} takes no panel: unit= and time=, or waves=, are for a template of edges.",
            "leave them out, or give edges: learn('H[t-1] -> H[t]', data).",
        )
