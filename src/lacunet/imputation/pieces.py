"""Files completed some rows at a time: `completed_pieces`.

The rows are gone through twice. The first time shows which columns miss something, of which type
each column is, and how each state is written where a row shows it: so what is filled in can be
written the same way in every row. The second time the rows are completed. What is held is some
rows, never all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lacunet.completion.assumptions import (
    completed_questions,
    say_assumptions,
    say_hidden_causes,
    shown_patterns,
)
from lacunet.completion.mechanisms import rows_with_mechanisms
from lacunet.completion.posteriors import completion_shares
from lacunet.completion.shares import object_to_shares
from lacunet.data.given import Data, data_given
from lacunet.data.read import rows_with_codes
from lacunet.data.reading import source_from, with_data_codes
from lacunet.data.source import DataSource
from lacunet.data.table import EncodedTable
from lacunet.data.whole import SeenValues, arrow_kind, replaced, spellings
from lacunet.formats.files import AnyNetwork, as_network
from lacunet.imputation.draws import parameter_draws
from lacunet.imputation.impute import (
    as_shown,
    completed_tables,
    read_quietly,
    refuse_no_draws,
    with_intervals,
)
from lacunet.model.network import Network


def completed_pieces(
    learned: AnyNetwork,
    data: Any,
    draws: int | None = None,
    *,
    rng: np.random.Generator,
    proper: bool = True,
    memory: float | None = None,
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
    refuse_no_draws(draws)
    given = data_given(data).every_row(learned)
    network, source = with_data_codes(as_network(learned), given), source_from(given)
    given = given.with_latent(network.states_of, source.columns)
    opened, seen_columns = _opened(given, source), SeenColumns()
    patterns = frozenset[frozenset[str]]()
    for frame, table, shown in _pieces(network, given, source, tell=True):
        seen_columns.add(frame, shown)
        patterns |= shown_patterns(network, table)
    if seen_columns.partly - {*given.latent}:
        say_assumptions(learned, network, draws=draws is not None)
    say_hidden_causes(network, completed_questions(network, patterns))
    drawn = None
    if draws is not None and proper:
        result = with_intervals(learned, network, lambda: read_quietly(opened, network))
        drawn = parameter_draws(result, draws, rng)
    shares = []
    for frame, table, shown in _pieces(network, given, source, tell=False):
        if network.support is not None:
            whole, seen = rows_with_mechanisms(network, table, given.latent)
            shares.append(completion_shares(whole, seen, memory))
        tables = completed_tables(network, table, given.latent, draws, drawn, rng, memory)
        for draw, completed in enumerate(tables):
            yield draw, seen_columns.completed(network, frame, shown, completed)
    if shares:
        object_to_shares(np.concatenate(shares), "completions", "warn")


def _pieces(
    network: Network, data: Data, source: DataSource, *, tell: bool
) -> Iterator[tuple[Any, EncodedTable, EncodedTable]]:
    """Some rows as they came, as codes, and as codes of what they show themselves.

    The two differ in cells that are empty because their question was not asked.
    """
    import pyarrow as pa

    columns = source.columns
    for piece, table in rows_with_codes(source, data, network, columns=columns, tell=tell):
        frame, shown = pa.table({name: piece.columns[name] for name in columns}), table
        if network.not_asked_of:
            shown = as_shown(replace(_opened(data, frame), unknown="missing"), network)
        yield frame, table, shown


def _opened(data: Data, source: Any) -> Data:
    """The data that are read from a source that is open."""
    return replace(data, source=source, query=None, database=None)


@dataclass
class SeenColumns:
    """What is known of all rows before any is completed."""

    partly: set[str] = field(default_factory=set)  # variables that some row misses
    seen: SeenValues = field(default_factory=SeenValues)
    schema: Any = None

    def add(self, frame: Any, shown: EncodedTable) -> None:
        """Take in some rows."""
        import pyarrow as pa

        type_of = {field.name: field.type for field in frame.schema}
        for name, kind in type_of.items():
            if pa.types.is_dictionary(kind):
                type_of[name] = kind.value_type
        schema = pa.schema(type_of)
        schemas = [schema] if self.schema is None else [self.schema, schema]
        self.schema = pa.unify_schemas(schemas, promote_options="permissive")
        self.partly |= {*shown.partially_observed}
        columns = {name: frame.column(name) for name in frame.column_names}
        self.seen.add(columns, shown, shown.variables)

    def completed(
        self, network: Network, frame: Any, shown: EncodedTable, whole: EncodedTable
    ) -> Any:
        """Some rows with what they miss filled in, of the same schema as all others."""
        import pyarrow as pa
        from pyarrow import compute

        arrays, states = {}, {}
        for name in frame.column_names:
            kind = self.schema.field(name).type
            if name not in self.partly or name in network.cuts_of:
                arrays[name] = frame.column(name).cast(kind)
                continue
            values = self._values(network, name)
            is_filled = shown.columns[name] >= network.cardinality(name)
            codes = pa.array(np.where(is_filled, whole.columns[name], shown.columns[name]))
            if values is None:
                arrays[name] = pa.array(network.states(name), pa.string()).take(codes)
                continue
            cells = frame.column(name).cast(values.type)
            arrays[name] = compute.if_else(is_filled, values.take(codes), cells)
        for name in network.variables:
            if name in self.partly and (name in network.cuts_of or name not in arrays):
                states[name] = whole.columns[name], network.states(name)
        return replaced(pa.table(arrays), states)

    def _values(self, network: Network, name: str) -> Any:
        """How each state is written in its column; None if the column must become texts."""
        import pyarrow as pa

        column = self.schema.field(name).type
        values = self.seen.value_of.get(name, {})
        written = spellings(arrow_kind(column), values, network.states(name))
        if written is None:
            return None
        try:
            return pa.array(written, pa.string() if pa.types.is_null(column) else column)
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # as 300 among bytes
            return None
