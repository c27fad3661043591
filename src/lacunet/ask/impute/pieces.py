"""Files completed some rows at a time: `completed_pieces`.

The rows are gone through twice. The first time shows which columns miss something, of which type
each column is, and how each state is written where a row shows it: so what is filled in can be
written the same way in every row. The second time the rows are completed. What is held is some
rows, never all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lacunet.ask.impute.copies import CountedRows, copies_in_parts
from lacunet.ask.impute.impute import (
    DRAW,
    How,
    are_proper,
    completed_tables,
    donors_of,
    drawn_networks,
    number_of_draws,
    refuse_unlearned_columns,
    rows_learned_from,
    say_means,
)
from lacunet.ask.impute.missing_numbers import NumbersOfRows
from lacunet.ask.predict.missingness_assumptions import (
    completed_questions,
    say_assumptions,
    say_hidden_causes,
    shown_patterns,
)
from lacunet.ask.predict.posteriors import unsupported_completion_shares
from lacunet.ask.predict.rows_with_mechanisms import rows_with_mechanisms
from lacunet.ask.predict.unsupported_shares import RowShares
from lacunet.data.column_rules import source_from, with_data_codes
from lacunet.data.completed_panels import UnitRows
from lacunet.data.data import Data, as_data
from lacunet.data.fill import arrow_filled, cells_of_states, number_cells, rows_with_cells
from lacunet.data.original_tables import repeat_rows, replace_columns
from lacunet.data.read import rows_with_codes
from lacunet.data.source_parts import DataSource, with_nulls
from lacunet.data.spellings import SeenValues, as_type, keys_by_name, widen_types
from lacunet.data.table import EncodedTable
from lacunet.limits import Memory
from lacunet.network.formats.files import AnyNetwork, as_network
from lacunet.network.network import FloatArray, Network


def completed_pieces(
    learned: AnyNetwork,
    data: Any,
    draws: int | None = None,
    *,
    how: How = DRAW,
    rng: np.random.Generator,
    proper: bool | None = None,
    memory: Memory = None,
) -> Iterator[tuple[int, Any]]:
    """The completed rows as Arrow tables, some rows at a time, each with its draw (from 0).

    The parameters of each draw are drawn once, before the first row. Randomness is used up rows
    first, then draws: the same rows, cut into the same pieces, give the same completions. All
    tables have the same schema.

    Parameters
    ----------
    data
        Files, or what else can be read twice.
    """
    number = number_of_draws(draws, how)
    weighed = as_data(data)
    given = weighed.every_row(learned)
    network = with_data_codes(as_network(learned), given)
    source = with_nulls(source_from(given), network.states_of)
    refuse_unlearned_columns(learned, given, source.columns)
    counted = None if number is None else CountedRows.of(weighed, learned, source)
    given = given.with_latent(network.states_of, source.columns)
    opened: Any = replace(given, source=source, query=None, database=None)
    seen_columns = SeenColumns(SeenValues(network.cuts_of, given.decimal))
    chance = None if number is None else rng
    numbers = NumbersOfRows.of(donors_of(learned), network, given.decimal, chance)
    patterns = frozenset[frozenset[str]]()
    for frame, table, shown in _pieces(network, given, source, tell=True):
        seen_columns.add(frame, shown)
        numbers.add(columns_of(frame), shown)
        patterns |= shown_patterns(network, table)
    kept = donors_of(learned)
    if kept is not None:
        kept.add_means(seen_columns.seen)
    if number is None:
        say_means(network, seen_columns.partly)
    if seen_columns.partly - {*given.latent}:
        say_assumptions(learned, network, draws=draws is not None)
    say_hidden_causes(network, completed_questions(network, patterns))
    again = rows_learned_from(weighed, opened, learned)
    is_proper = are_proper(number, proper)
    drawn = drawn_networks(learned, network, number, again, rng, is_proper=is_proper)
    to_draw = numbers.to_draw(seen_columns.partly, seen_columns.types_of_variables(network))
    fillers = [
        to_draw.filler(of_draw, is_proper=is_proper, memory=memory)
        for of_draw in drawn or [network] * (number or 1)
    ]
    shares = RowShares()
    rows = _pieces(network, given, source, tell=False)
    for frame, table, shown in rows if counted is None else _copied(rows, counted):
        if network.support is not None:
            whole, seen = rows_with_mechanisms(network, table, given.latent)
            shares.add(unsupported_completion_shares(whole, seen, memory))
        tables = completed_tables(
            network=network,
            table=table,
            absent=given.latent,
            draws=number,
            drawn=drawn,
            rng=rng,
            memory=memory,
        )
        shown_numbers = numbers.shown(columns_of(frame), shown)
        for draw, (completed, filler) in enumerate(zip(tables, fillers, strict=True)):
            filled_in = completed, filler.fill(completed, shown_numbers), to_draw.whole
            yield draw, seen_columns.completed(network, frame, shown, *filled_in)
    shares.object("completions", "warn")


def completed_panel(
    learned: AnyNetwork, data: Data, draws: int | None = None, **options: Any
) -> Iterator[tuple[int, Any]]:
    """The completed tables of a panel, each as a whole, with its draw (from 0)."""
    import pyarrow as pa

    units = UnitRows.of(data, as_network(learned).variables)
    pieces_of: dict[int, list[Any]] = {}
    for draw, table in completed_pieces(learned, units.data, draws, **options):
        pieces_of.setdefault(draw, []).append(table)
    for draw, pieces in pieces_of.items():
        yield draw, units.given_back(pa.concat_tables(pieces))


def _pieces(
    network: Network, data: Data, source: DataSource, *, tell: bool
) -> Iterator[tuple[Any, EncodedTable, EncodedTable]]:
    """Some rows as they came, as codes, and as codes of what they show themselves.

    The two differ in cells that are empty because their question was not asked.
    """
    import pyarrow as pa

    columns = source.columns
    for piece, *tables in rows_with_codes(source, data, network, columns=columns, tell=tell):
        yield pa.table({name: piece.columns[name] for name in columns}), *tables


def _copied(
    pieces: Iterator[tuple[Any, EncodedTable, EncodedTable]], counted: CountedRows
) -> Iterator[tuple[Any, EncodedTable, EncodedTable]]:
    """The same rows, each as often as it counts."""
    first = 0
    for frame, table, shown in pieces:
        copies = counted.numbers(frame, first, frame.num_rows)
        first += frame.num_rows
        for rows in copies_in_parts(copies):
            yield repeat_rows(frame, rows, counted.column), table.take(rows), shown.take(rows)


def columns_of(frame: Any) -> dict[str, Any]:
    """The columns of an Arrow table by name."""
    return {name: frame.column(name).combine_chunks() for name in frame.column_names}


@dataclass
class SeenColumns:
    """What is known of all rows before any is completed."""

    seen: SeenValues
    partly: set[str] = field(default_factory=set)  # variables that some row misses
    type_of: dict[str, Any] = field(default_factory=dict)

    def add(self, frame: Any, shown: EncodedTable) -> None:
        """Take in some rows."""
        widen_types(self.type_of, frame)
        self.partly |= {*shown.partially_observed}
        self.seen.add(columns_of(frame), shown, shown.variables)

    def types_of_variables(self, network: Network) -> dict[str, Any]:
        """The type of each variable that has a column."""
        column_of = keys_by_name(self.type_of)
        return {
            name: self.type_of[column_of[name]] for name in network.variables if name in column_of
        }

    def completed(
        self,
        network: Network,
        frame: Any,
        shown: EncodedTable,
        completed: EncodedTable,
        numbers: Mapping[str, FloatArray],
        whole: Collection[str],
    ) -> Any:
        """Some rows with what they miss filled in, of the same schema as all others.

        Parameters
        ----------
        numbers
            Those that were drawn, in place of their intervals.
        whole
            The variables of which all numbers are whole.
        """
        import pyarrow as pa

        column_of = keys_by_name(frame.column_names)
        arrays = {name: as_type(frame.column(name), kind) for name, kind in self.type_of.items()}
        replacements = {}
        for name in network.variables:
            if name not in self.partly:
                continue
            codes = completed.columns[name]
            if name not in column_of:
                replacements[name] = codes, network.states(name)
                continue
            column = column_of[name]
            kind = self.type_of[column]
            missing = shown.columns[name] >= network.cardinality(name)
            if name in numbers:
                drawn, places = (numbers[name][missing], codes[missing]), np.zeros(len(codes), int)
                cells, places[missing] = number_cells(
                    network, name, drawn, self.seen, kind, are_whole=name in whole
                )
                codes = places
            else:
                cells = cells_of_states(network, name, self.seen, kind)
            rows = rows_with_cells(shown.rows, cells.values, missing, codes)
            arrays[column] = arrow_filled(arrays[column], cells, rows)
        return replace_columns(pa.table(arrays), replacements)
