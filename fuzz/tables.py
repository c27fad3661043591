"""Damaged data files of every format, held against independent readers."""

from __future__ import annotations

import csv
import gzip
import io
import random
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
from pyarrow import feather, parquet

from damage import damaged
from lacunet.data.data import Data
from lacunet.data.read import read_table
from lacunet.errors import LacunetError
from lacunet.network.network import Network

NETWORK = Network({"A": ["no", "yes"], "B": ["low", "middle", "high"]})
ROWS = {
    "A": ["yes", "no", None, "yes"] * 6,
    "B": ["low", None, "middle", "high", "low"] * 4 + ["high"] * 4,
    "other": [1, 2, None] * 8,
    "note": ["a, b", 'c "d"', "", "e\nf"] * 6,
}
CODES = {name: {state: at for at, state in enumerate(NETWORK.states(name))} for name in "AB"}
Column = list[int]


def prepared(seed: int) -> Callable[[int], str]:
    """What reads the file of a number: all bases are written beforehand."""
    warnings.simplefilter("ignore")
    bases = list(_bases())
    folder = Path(tempfile.mkdtemp(prefix="lacunet-fuzz-"))

    def check(number: int) -> str:
        rng = random.Random(f"{seed} {number}")
        suffix, content = rng.choice(bases)
        if suffix.endswith(".gz") and rng.random() < 0.5:
            content = gzip.compress(damaged(gzip.decompress(content), rng), mtime=0)
        else:
            content = damaged(content, rng)
        path = folder / f"rows{suffix}"
        path.write_bytes(content)
        try:
            table = read_table(Data(path, unknown=rng.choice(("error", "missing"))), NETWORK)
        except LacunetError as error:
            assert path.name in str(error), f"no place: {error}"
            return "refused"
        found = {name: [int(code) for code in table.columns[name]] for name in "AB"}
        expected = _independent(path, suffix, content)
        assert expected is None or found == expected, "an independent reader finds other cells"
        return "read"

    return check


def _bases() -> list[tuple[str, bytes]]:
    with_dictionaries = pa.table(ROWS)
    for name in ("A", "B"):
        place = with_dictionaries.column_names.index(name)
        encoded = with_dictionaries.column(name).dictionary_encode()
        with_dictionaries = with_dictionaries.set_column(place, name, encoded)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(ROWS)
    writer.writerows(zip(*ROWS.values(), strict=True))
    plain = text.getvalue().encode()
    bases = [(".csv", plain)] * 3 + [(".csv", plain.replace(b"\n", b"\r\n"))]
    bases += [(".csv.gz", gzip.compress(plain, mtime=0))] * 3
    for table in (pa.table(ROWS), with_dictionaries):
        for compression in ("none", "snappy", "zstd"):
            sink = io.BytesIO()
            parquet.write_table(table, sink, compression=compression, row_group_size=10)
            bases.append((".parquet", sink.getvalue()))
        for compression in ("uncompressed", "lz4", "zstd"):
            sink = io.BytesIO()
            feather.write_feather(table, sink, compression=compression, chunksize=10)
            bases.append((".feather", sink.getvalue()))
            bases.append((".arrow", sink.getvalue()))
        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table, max_chunksize=10)
        bases.append((".arrow", sink.getvalue()))
    return bases


def _independent(path: Path, suffix: str, content: bytes) -> dict[str, Column] | None:
    """The codes that other libraries find, None where they cannot tell."""
    if suffix in (".csv", ".csv.gz"):
        if suffix == ".csv.gz":
            content = gzip.decompress(content)
        # What the two readers take as a quote or a line differs where a cell is not well formed.
        text = content.decode("utf-8-sig", "replace").replace("\r\n", "\n")
        if "\r" in text or "\x00" in text or text.count('"') != 24:
            return None
        header, *rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
        cells = {name: [row[header.index(_column(header, name))] for row in rows] for name in "AB"}
    elif suffix == ".parquet":
        cells = parquet.read_table(path, columns=["A", "B"]).to_pydict()
    else:
        return None  # there is one reader of Arrow files, and we use it
    return {name: [_code(name, cell) for cell in cells[name]] for name in "AB"}


def _column(header: list[str], name: str) -> str:
    return name if name in header else next(own for own in header if own.strip() == name)


def _code(name: str, cell: object) -> int:
    cell = cell.decode() if isinstance(cell, bytes) else cell
    plain = cell.strip() if isinstance(cell, str) and cell not in CODES[name] else cell
    return CODES[name].get(str(plain), len(CODES[name]))
