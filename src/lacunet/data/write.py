"""Encoded rows out again, as an Arrow table or a file.

Every state is written as it is spelled, and what is not observed as a null (in a text file:
an empty cell). A state that is spelled like a missing value is still a state.
"""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lacunet.atomic_files import writing_to
from lacunet.data.encode import is_text, spelled_column
from lacunet.data.errors import DataError
from lacunet.data.matching import Matcher
from lacunet.data.table import EncodedTable, Sets
from lacunet.network.network import Network

if TYPE_CHECKING:
    import pyarrow as pa


Sink = IO[bytes] | gzip.GzipFile
Write = Callable[["pa.Table"], None]
Writer = Callable[[Sink, "pa.Schema"], AbstractContextManager[Write]]

# Rows decoded at a time when text is written: bounds the memory, costs no speed.
ROWS_WRITTEN_AT_ONCE = 65_536


def to_arrow(table: EncodedTable, network: Network) -> pa.Table:
    """An Arrow table with one dictionary column for each variable, null where not observed.

    The dictionary of a column is the list of all states in the network's order, whether
    they occur or not.

    Examples
    --------
    >>> rain = Network({"Rain": ["no", "yes"]})
    >>> rows = EncodedTable({"Rain": 2}, {"Rain": np.array([1, 2, 0], np.uint8)})
    >>> to_arrow(rows, rain).to_pydict()
    {'Rain': ['yes', None, 'no']}
    """
    import pyarrow as pa

    if table.weights is not None or table.cells_of_sets:
        raise DataError(
            "a table with weights, or with cells that are one of several states, cannot be written."
        )
    columns = {}
    for name, codes in table.columns.items():
        size = table.cardinality_of[name]
        signed = codes.astype(np.min_scalar_type(-size))  # pandas takes no unsigned indices
        indices = pa.array(signed, mask=codes >= size)
        states = pa.array(network.states(name), pa.string())
        columns[name] = pa.DictionaryArray.from_arrays(indices, states)
    return pa.table(columns)


def texts_of_codes(
    network: Network, name: str, sets: Sets
) -> tuple[list[str | None], dict[str, list[str]]]:
    """What each code of a variable is written as, so that it is read back as the same.

    A state is written as it is spelled, one of several states as the code that the network has for
    them. Where a state's name is also a code for something else, another code has to stand for it.

    Returns
    -------
    The text of each code, None for "not observed"; and what the codes mean that the network has, or
    should have to read them.

    Examples
    --------
    >>> codes = {"Age": {"40+": ["40-49", "50+"], "9": None}}
    >>> aged = Network({"Age": ["0-39", "40-49", "50+"]}, codes=codes)
    >>> texts_of_codes(aged, "Age", [(1, 2), (0, 1)])[0]
    ['0-39', '40-49', '50+', None, '40+', '0-39 or 40-49']
    """
    states = network.states(name)
    known = network.codes_of.get(name, {})
    matcher = Matcher(states, cuts=network.cuts_of.get(name, ()), codes=known)
    members_of = [*((code,) for code in range(len(states))), (), *matcher.sets]
    text_of = {}
    for text in (*known, *states):  # the names of states come last: they are what is written
        text_of[members_of[matcher.match(text).code]] = text
    meanings = {}
    for code, meaning in known.items():
        if meaning is not None:
            meanings[code] = [meaning] if isinstance(meaning, str) else [*meaning]
    texts: list[str | None] = []
    for members in (*members_of[: len(states)], *sets):
        named = [states[code] for code in members]
        if members not in text_of:
            text_of[members] = " or ".join(named) if len(named) > 1 else f"the state {named[0]}"
            meanings[text_of[members]] = named
        texts.append(text_of[members])
    return [*texts[: len(states)], None, *texts[len(states) :]], meanings


def coded_texts(codes: NDArray[np.integer[Any]], texts: Sequence[str | None]) -> pa.DictionaryArray:
    """A column of texts, one for each code; those of the same texts have the same dictionary."""
    import pyarrow as pa

    shown = [text for text in texts if text is not None]
    missing = texts.index(None)
    place_of = np.arange(len(texts)).astype(np.min_scalar_type(-len(texts)))
    place_of[missing:] -= 1
    indices = pa.array(place_of[codes], mask=codes == missing)
    return pa.DictionaryArray.from_arrays(indices, pa.array(shown, pa.string()))


def write_table(table: EncodedTable, network: Network, path: str | os.PathLike[str]) -> None:
    """Write rows to a file whose name says how.

    The file appears under its name when it is whole, never in part; a file that was there
    before is replaced.

    Parameters
    ----------
    table
        The rows; every weight must be one.
    network
        Gives the states their spelling.
    path
        A name that ends in ``.csv``, ``.tsv``, ``.csv.gz``, ``.tsv.gz``, ``.parquet``,
        ``.arrow`` or ``.feather``.

    Raises
    ------
    DataError
        The name ends otherwise, the rows have weights, or the file cannot be written.
    """
    write_arrow(to_arrow(table, network), path)


def write_arrow(rows: pa.Table, path: str | os.PathLike[str]) -> None:
    """Write an Arrow table to a file whose name says how, as `write_table` does."""
    with opened_file(path, rows.schema) as write:
        write(rows)


@contextmanager
def opened_file(
    path: str | os.PathLike[str], schema: pa.Schema, delimiter: str | None = None
) -> Iterator[Write]:
    """A file as `write_table` writes it, for tables that come one after the other.

    A ``delimiter`` takes the place of the comma.
    """
    writer = table_writer(check_table_name(path), delimiter)
    with writing_to(path, DataError) as file, writer(file, schema) as write:
        yield write


def table_writer(ending: str, delimiter: str | None = None) -> Writer:
    """What writes a file of this ending, where a ``delimiter`` takes the place of the comma."""
    if delimiter is None or not ending.startswith(".csv"):
        return WRITERS[ending]
    return _text_writer(delimiter, is_gzipped=ending.endswith(".gz"))


def check_table_name(path: str | os.PathLike[str]) -> str:
    """The ending of a file's name, which says how to write a table."""
    name = Path(path).name
    ending = next((suffix for suffix in WRITERS if name.lower().endswith(suffix)), None)
    if ending is None:
        raise DataError(
            f"the name {name!r} does not say how to write the table.",
            f"end it in one of {', '.join(WRITERS)}.",
        )
    return ending


@contextmanager
def _table_writer(module: str, opener: str, file: Sink, schema: pa.Schema) -> Iterator[Write]:
    """A writer of PyArrow, named by its module and the function that opens it."""
    with getattr(import_module(f"pyarrow.{module}"), opener)(file, schema) as writer:
        yield writer.write_table


def _text_writer(delimiter: str, *, is_gzipped: bool = False) -> Writer:
    @contextmanager
    def opened(file: Sink, schema: pa.Schema) -> Iterator[Write]:
        from pyarrow.csv import CSVWriter, WriteOptions

        def write(rows: pa.Table) -> None:
            rows = spelled_out(rows, _has_own_spelling)
            text = _as_text(rows.slice(0, 0))
            style = "needed" if _must_quote(rows, delimiter) else "none"
            options = WriteOptions(include_header=False, delimiter=delimiter, quoting_style=style)
            with CSVWriter(sink, text.schema, write_options=options) as writer:
                for start in range(0, rows.num_rows, ROWS_WRITTEN_AT_ONCE):
                    writer.write_table(_as_text(rows.slice(start, ROWS_WRITTEN_AT_ONCE)))

        # Neither name nor time goes in: the same rows give the same bytes.
        gzipped = partial(gzip.GzipFile, "", "wb", compresslevel=6, fileobj=file, mtime=0)
        with gzipped() if is_gzipped else nullcontext(file) as sink:
            sink.write(_header(schema.names, delimiter))
            yield write

    return opened


def _header(names: list[str], delimiter: str) -> bytes:
    doubled = (name.replace('"', '""') for name in names)
    structural = set(f'{delimiter}"\r\n')  # a bare name could be taken for two cells or two lines
    cells = (name if structural.isdisjoint(name) else f'"{name}"' for name in doubled)
    return (delimiter.join(cells) + "\n").encode()


def spelled_out(rows: pa.Table, is_spelled: Callable[[pa.DataType], bool]) -> pa.Table:
    """The rows with columns of some types as texts, spelled as states are."""
    import pyarrow as pa

    for index, field in enumerate(rows.schema):
        is_dictionary = pa.types.is_dictionary(field.type)
        if is_spelled(field.type.value_type if is_dictionary else field.type):
            rows = rows.set_column(index, field.name, spelled_column(rows.column(index)))
    return rows


def _has_own_spelling(kind: pa.DataType) -> bool:
    """Whether Arrow writes values otherwise than states are spelled, or not at all."""
    from pyarrow import types

    kinds_of_bytes = (types.is_binary, types.is_large_binary, types.is_fixed_size_binary)
    is_bytes = any(is_kind(kind) for is_kind in kinds_of_bytes)
    is_clock = types.is_temporal(kind) and not types.is_date(kind)
    return bool(is_clock or is_bytes or types.is_nested(kind))


def _must_quote(rows: pa.Table, delimiter: str) -> bool:
    """Whether a cell needs quotes; a lone column does where it is empty (see `_as_text`)."""
    from pyarrow import compute

    chunks = [getattr(cells, "dictionary", cells) for c in rows.columns for cells in c.chunks]
    texts = (cells for cells in chunks if is_text(cells.type))
    special = f'[{re.escape(delimiter)}"\r\n]'
    structural = (compute.match_substring_regex(cells, special) for cells in texts)
    return rows.num_columns == 1 or any(compute.any(cells).as_py() for cells in structural)


def _as_text(rows: pa.Table) -> pa.Table:
    import pyarrow as pa

    text = rows.cast(pa.schema([(name, pa.string()) for name in rows.column_names]))
    if text.num_columns > 1:
        return text
    # A lone empty cell would be an empty line, which readers skip; "" in quotes is a row.
    return text.set_column(0, text.column_names[0], text.column(0).fill_null(""))


WRITERS: dict[str, Writer] = {
    ".csv": _text_writer(","),
    ".tsv": _text_writer("\t"),
    ".csv.gz": _text_writer(",", is_gzipped=True),
    ".tsv.gz": _text_writer("\t", is_gzipped=True),
    ".parquet": partial(_table_writer, "parquet", "ParquetWriter"),
    ".arrow": partial(_table_writer, "ipc", "new_file"),
    ".feather": partial(_table_writer, "ipc", "new_file"),
}
