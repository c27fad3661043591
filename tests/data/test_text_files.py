"""Text files that are written in another way, from the standard input, or not text at all."""

from __future__ import annotations

import gc
import gzip
import io
import os
import subprocess
import sys
import threading
import tracemalloc
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lacunet as lc
from lacunet.data import delimited_text
from lacunet.data.column_rules import source_from
from lacunet.data.data import Data
from lacunet.data.errors import DataError, WeightError
from lacunet.data.matching import MISSING_TOKENS
from lacunet.data.read import read_table
from lacunet.network.network import Network

PAIR = Network({"A": ["no", "yes"], "B": ["0.5", "1"]}, {"B": ["A"]})


def columns(data: object, network: Network = PAIR, **options: Any) -> dict[str, list[int]]:
    table = read_table(data, network, **options)
    return {name: own.tolist() for name, own in table.columns.items()}


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16", "utf-16-le", "latin-1", "ascii"])
@pytest.mark.parametrize("delimiter", [";", "|", "\t", " "])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz"])
def test_delimiter_encoding_and_decimal_can_be_named(
    tmp_path: Path, encoding: str, delimiter: str, suffix: str
) -> None:
    word = "yes" if encoding == "ascii" else "é,"
    network = Network({"A": ["no", word], "B": ["0.5", "1"]})
    rows = [["A", "B", "w"], [word, "0,5", "1,25"], ["no", "1,0", "2"], ["", "1", "1e1"]]
    content = "\r\n".join(delimiter.join(row) for row in rows).encode(encoding)
    path = tmp_path / f"rows{suffix}"
    path.write_bytes(gzip.compress(content) if suffix.endswith(".gz") else content)
    data = Data(path, delimiter=delimiter, encoding=encoding, decimal=",", weight="w")
    table = read_table(data, network)
    assert table.columns["A"].tolist() == [1, 0, 2]
    assert table.columns["B"].tolist() == [0, 1, 1]
    np.testing.assert_array_equal(table.weights, [1.25, 2.0, 10.0])


def test_a_state_as_written_wins_over_a_number_with_a_comma(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("A\n0,5\n0.5\n1.000\n")
    network = Network({"A": ["0.5", "0,5", "1"]})
    data = Data(tmp_path / "rows.csv", delimiter=";", decimal=",", unknown="missing")
    table = read_table(data, network)
    assert table.columns["A"].tolist() == [1, 0, 3]  # 1.000 is not one, but could be a thousand


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (b"A;B\nyes;1\n", r"delimiter=';'\) \(--delimiter ';'\)"),
        (b"A|B\nyes|1\n", r"delimiter='\|'\)"),
        (b"A\tB\nyes\t1\n", r"delimiter='\\t'\)"),
        (b"A,B\nyes,\xe9\n", r"encoding='cp1252'\) \(--encoding cp1252\)"),
        (b"\xff\xfeA\x00,\x00B\x00\n\x00", r"encoding='utf-16'\)"),
    ],
)
def test_the_option_that_is_needed_is_shown(tmp_path: Path, content: bytes, hint: str) -> None:
    (tmp_path / "rows.csv").write_bytes(content)
    with pytest.raises(DataError, match=r"rows\.csv.*\n*.*lacunet\.Data\(path, " + hint):
        read_table(tmp_path / "rows.csv", PAIR)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delimiter": ";;"}, "';;'.*ASCII"),
        ({"delimiter": ""}, "''"),
        ({"delimiter": '"'}, "other"),
        ({"encoding": "klingon"}, "'klingon'"),
        ({"encoding": "rot13"}, "'rot13'"),  # of text to text
        ({"encoding": "bz2"}, "'bz2'"),
        ({"encoding": "utf-8\0"}, "is unknown"),
        ({"decimal": ";"}, "';'.*'.' or ','"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        lc.Data("rows.csv", **options)


def test_a_file_in_another_encoding_than_named_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_bytes(b"A,B\nyes,1\nyes,1\xff")
    for encoding in ("utf-16", "shift_jis"):
        with pytest.raises(DataError, match=rf"rows\.csv'.*{encoding.upper()}"):
            read_table(Data(tmp_path / "rows.csv", encoding=encoding), PAIR)


def test_a_dash_is_the_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    given = io.TextIOWrapper(io.BytesIO(b"A;B\nyes;1\nmaybe;1\n"))
    monkeypatch.setattr(sys, "stdin", given)
    with pytest.raises(DataError, match="line 3"):
        read_table(Data("-", delimiter=";"), PAIR)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"A,B\nyes,1\n")))
    assert columns("-") == {"A": [1], "B": [1]}


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz"])
def test_a_pipe_is_read_to_its_end(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    content = b"A,B\n" + b"yes,1\n" * 50_000
    packed = gzip.compress(content) if name.endswith(".gz") else content
    writer = threading.Thread(target=lambda: (tmp_path / name).write_bytes(packed))
    writer.start()
    assert read_table(tmp_path / name, PAIR).rows == 50_000
    writer.join(10)


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("rows.xlsx", r"pandas\.read_excel\('.*rows\.xlsx'\)"),
        ("rows.XLS", r"pandas\.read_excel\("),
        ("rows.dta", r"Python give pandas\.read_stata\("),
        ("rows.sav", r"pandas\.read_spss\("),
        ("rows.rds", r"pyreadr\.read_r\(.*\)\[None\]"),
    ],
)
def test_files_of_other_programs_are_refused_with_the_line_that_reads_them(
    tmp_path: Path, name: str, way: str
) -> None:
    (tmp_path / name).write_bytes(b"PK\x03\x04")
    with pytest.raises(DataError, match=way):
        read_table(tmp_path / name, PAIR)


def test_one_column_may_have_empty_lines_before_its_name(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("\n\nA\nyes\n\nno\nmaybe\n")
    one = Network({"A": ["no", "yes", "maybe"]})
    assert columns(tmp_path / "rows.csv", one)["A"] == [1, 3, 0, 2]
    with pytest.raises(DataError, match=r"'maybe'.*line 7"):
        read_table(tmp_path / "rows.csv", Network({"A": ["no", "yes"]}))


@pytest.mark.parametrize(
    "end", ['no,"1', 'no,"', 'no,"1""', '"no,1', 'no,"1\nyes,1', 'no,"1\n', 'no,"1"\nyes,"0.5']
)
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_a_quote_that_is_open_at_the_end_is_refused(tmp_path: Path, end: str, suffix: str) -> None:
    content = f"A,B\nyes,1\n{end}".encode()
    path = tmp_path / f"rows{suffix}"
    path.write_bytes(gzip.compress(content) if suffix.endswith(".gz") else content)
    with pytest.raises(DataError, match=r"line [34]: the row (does not end|has 1 cell)"):
        read_table(path, PAIR)


@pytest.mark.parametrize("end", ['no,"1"', 'no,""', 'no,"1"\n', "no,1", '"no","1"\r', 'no,"1"\r\n'])
def test_a_quote_that_is_closed_at_the_end_is_read(tmp_path: Path, end: str) -> None:
    (tmp_path / "rows.csv").write_text(f"A,B\nyes,1\n{end}", newline="")
    assert columns(tmp_path / "rows.csv")["A"] == [1, 0]


def test_a_damaged_archive_is_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv.gz"
    whole = gzip.compress(b"A,B\n" + b"yes,1\nno,0.5\n" * 3000)
    for at in range(10, len(whole), 3):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        with pytest.raises(DataError, match=r"rows\.csv\.gz"):
            read_table(path, PAIR)


def test_the_error_of_a_damaged_archive_holds_nothing_that_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv.gz"
    whole = gzip.compress(b"A,B\n" + b"yes,1\nno,0.5\n" * 3000)
    path.write_bytes(whole[:-8] + bytes([whole[-8] ^ 0xFF]) + whole[-7:])  # the checksum
    with pytest.raises(DataError) as caught:
        read_table(path, PAIR)
    assert not [own for own in gc.get_objects() if isinstance(own, delimited_text._Handed)]
    assert "rows.csv.gz" in str(caught.value)


@pytest.mark.parametrize("huge", [10**400, 10**5000], ids=["400", "5000"])
def test_a_weight_beyond_every_float_is_refused(huge: int) -> None:
    rows = {"A": ["no", "yes"], "B": ["1", "1"]}
    with pytest.raises(WeightError, match="2 is"):
        read_table(Data(rows, weight=[1, huge]), PAIR)
    with pytest.raises(WeightError, match="2, column 'w'"):
        read_table(Data(rows | {"w": [1, huge]}, weight="w"), PAIR)
    with pytest.raises(DataError, match="'B'"):
        read_table(rows | {"B": ["1", huge]}, PAIR)


def test_the_missing_tokens_of_the_docs_are_those_of_the_code() -> None:
    page = Path(__file__).parents[2] / "docs" / "data.md"
    tokens = ", ".join(f"`{token}`" for token in MISSING_TOKENS if token)
    assert f"{tokens}" in page.read_text()


SLOW_DISK = """
import sys, time
from lacunet.data import delimited_text as text
from lacunet.data.data import data_given
from lacunet.data.column_rules import source_from

text.BLOCK_BYTES = 1 << 10
read = text._OpenReader._read
text._OpenReader._read = lambda stream, size: time.sleep(0.05) or read(stream, size)
rows = source_from(data_given(sys.argv[1])).parts[0].read(["A"])
next(rows)
if sys.argv[2] == "closed":
    rows.close()
    assert not text.OPEN
"""


@pytest.mark.parametrize("end", ["closed", "left"])
def test_a_process_that_ends_while_arrow_reads_ahead_does_not_abort(
    end: str, tmp_path: Path
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("A\n" + "yes\n" * 20_000)
    done = subprocess.run(
        [sys.executable, "-c", SLOW_DISK, str(path), end],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr


def noting(ended: list[delimited_text._OpenReader]) -> type[delimited_text._OpenReader]:
    class Noted(delimited_text._OpenReader):
        def close(self) -> None:
            super().close()
            ended.append(self)

    return Noted


@pytest.mark.parametrize("blocks", [1, 20])
@pytest.mark.parametrize("what", ["whole", "left early", "wrong row", "latin-1", "gzip"])
def test_arrow_lets_go_of_a_file_whatever_happens(
    what: str, blocks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[delimited_text._OpenReader] = []
    monkeypatch.setattr(delimited_text, "BLOCK_BYTES", 1 << 12)
    monkeypatch.setattr(delimited_text, "_OpenReader", noting(ended))
    rows = b"A,B\n" + b"y\xe9s,no\n" * (600 * blocks)
    rows = rows if what == "latin-1" else rows.replace(b"\xe9", b"e")
    rows += b"yes,no,no\n" * (what == "wrong row")
    path = tmp_path / ("rows.csv.gz" if what == "gzip" else "rows.csv")
    path.write_bytes(gzip.compress(rows) if what == "gzip" else rows)
    said: dict[str, Any] = {"encoding": "latin-1"} if what == "latin-1" else {}
    with suppress(DataError):
        pieces = source_from(Data(path, **said)).parts[0].read(["A", "B"])
        for piece in pieces:
            assert piece.rows
            if what == "left early":
                break
        pieces.close()  # type: ignore[attr-defined]
    assert len(ended) == 1
    assert [lent() for own in ended for lent in own._lent if lent() is not None] == []
    assert not delimited_text.OPEN


MIB = 2**20
LONG_ROWS = {  # what comes before, what is repeated, and the line that is too long
    "header, one name": (b"A,B", b"a", 1),
    "header, many names": (b"A,B", b",", 1),
    "one cell": (b"A,B\nx,y\n", b"a", 3),
    "many cells": (b"A,B\nx,y\nx,y\n", b",", 4),
    "many lines in quotes": (b"A,B\n", b'"' + b"a" * 100 + b'\n",', 2),
}


@pytest.mark.parametrize("kind", LONG_ROWS)
@pytest.mark.parametrize("size", [96, pytest.param(1536, marks=pytest.mark.slow)])
def test_a_row_that_memory_should_not_hold_is_refused_by_its_line(
    tmp_path: Path, kind: str, size: int
) -> None:
    before, repeated, line = LONG_ROWS[kind]
    path = tmp_path / "rows.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(before)
        for _ in range(size):
            file.write(repeated * (MIB // len(repeated)))
        file.write(b"\n")
    network = lc.Network({"A": ["x", "z"], "B": ["y", "z"]}, {})
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=f"{line}"):
            read_table(lc.Data(path), network)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 64 * MIB


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_row_that_is_longer_than_a_block_is_named(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "rows.csv"
    row = ",".join(["x" * 1000] * 9000)
    head = ",".join(f"V{k}" for k in range(9000))
    path.write_text(f"{head}\n{row}\n", encoding=encoding)
    with pytest.raises(DataError, match=r"2: the.*4 MiB"):
        lc.Network.from_data(lc.Data(path, encoding=encoding), "V1 -> V2")


def test_empty_lines_at_the_end_are_not_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b"A,B\nx,y\nz,y\n" + b"\n" * (9 * MIB))
    network = lc.Network({"A": ["x", "z"], "B": ["y", "z"]}, {})
    assert read_table(lc.Data(path), network).rows == 2
