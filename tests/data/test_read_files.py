"""Files, folders and patterns: what is read, and what is refused in which words."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from lacunet.data import delimited_text
from lacunet.data.column_rules import source_from
from lacunet.data.data import Data
from lacunet.data.errors import DataError, DataWarning, UnknownStateError
from lacunet.data.read import read_table
from lacunet.learning.learn import learn
from lacunet.network.network import Network

PAIR = Network({"A": ["no", "yes"], "B": ["0", "1"]}, {"B": ["A"]})
ONE = Network({"A": ["no", "yes"]})


@pytest.fixture
def csv_file(tmp_path: Path) -> Path:
    return tmp_path / "rows.csv"


def columns(data: object, network: Network = PAIR) -> dict[str, list[int]]:
    return {name: own.tolist() for name, own in read_table(data, network).columns.items()}


def test_several_files_are_read_in_the_order_given_whatever_their_kinds(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text("A,B\nyes,0\n")
    (tmp_path / "a.tsv").write_text("B\tA\n1\tno\n")  # the columns in another order
    pa.parquet.write_table(pa.table({"B": [1, 1], "A": ["yes", None]}), tmp_path / "c.parquet")
    paths = [tmp_path / "b.csv", str(tmp_path / "a.tsv"), tmp_path / "c.parquet"]
    assert columns(paths) == {"A": [1, 0, 1, 2], "B": [0, 1, 1, 1]}
    assert columns(paths[::-1]) == {"A": [1, 2, 0, 1], "B": [1, 1, 1, 0]}


def test_several_files_are_counted_in_words(tmp_path: Path) -> None:
    paths = [tmp_path / f"{at}.csv" for at in range(3)]
    for path in paths:
        path.write_text("A\nyes\n")
    for several, words in ((paths[:2], "and 1 more part)"), (paths, "and 2 more parts)")):
        assert source_from(Data(several)).label.endswith(words)


def test_a_folder_is_read_by_the_names_of_its_parts_without_markers(tmp_path: Path) -> None:
    folder = tmp_path / "rows.parquet"
    (folder / "sub").mkdir(parents=True)
    for at, name in enumerate(["part-1.parquet", "part-0.parquet", "sub/part-2.parquet"]):
        pa.parquet.write_table(pa.table({"A": ["yes"], "B": [at % 2]}), folder / name)
    (folder / "_SUCCESS").write_text("")
    (folder / ".part-0.parquet.crc").write_text("")
    (folder / "_tmp").mkdir()
    (folder / "_tmp" / "part-9.csv").write_text("nothing of this")
    (folder / "notes.md").write_text("")
    assert columns(folder)["B"] == [1, 0, 0]


def test_a_pattern_is_read_by_name(tmp_path: Path) -> None:
    for at in (2, 0, 1):
        (tmp_path / f"part-{at}.csv").write_text(f"A,B\n{'yes' if at == 1 else 'no'},0\n")
    assert columns(str(tmp_path / "part-*.csv"))["A"] == [0, 1, 0]


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "rows[1].csv").write_text("A,B\nyes,0\n")
    assert columns(str(tmp_path / "rows[1].csv"))["A"] == [1]


def test_the_suffix_is_read_in_any_case(tmp_path: Path) -> None:
    (tmp_path / "ROWS.CSV").write_text("A,B\nyes,0\n")
    with gzip.open(tmp_path / "ROWS.CSV.GZ", "wt") as file:
        file.write("A,B\nno,0\n")
    assert columns(tmp_path / "ROWS.CSV")["A"] == [1]
    assert columns(tmp_path / "ROWS.CSV.GZ")["A"] == [0]


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_feather_and_arrow_files_are_the_same(tmp_path: Path, compression: str) -> None:
    table = pa.table({"x": [1, 2, 3], "B": [1, None, 0], "A": ["no", "yes", "?"]})
    for suffix in (".feather", ".arrow"):
        path = tmp_path / f"rows{suffix}"
        pa.feather.write_feather(table, path, compression=compression, chunksize=2)
        assert columns(path) == {"A": [0, 1, 2], "B": [1, 2, 0]}


def test_only_the_columns_the_network_needs_are_read(tmp_path: Path) -> None:
    table = pa.table({"A": ["no"], "A.x": [[1, 2]], "B": ["1"], "other": [{"deep": [1]}]})
    pa.parquet.write_table(table, tmp_path / "rows.parquet")
    with pytest.warns(DataWarning, match="A.x, other") as told:
        read = read_table(tmp_path / "rows.parquet", PAIR)
    assert told[0].filename == __file__  # the line that the user wrote
    assert read.notes == (
        "2 columns are ignored, since the network does not have them: A.x, other.",
    )


def test_csv_is_text_and_stays_as_written(csv_file: Path) -> None:
    network = Network({"A": ["1", "01", "1.0", "true", "TRUE", "1e0"]})
    csv_file.write_text("A\n01\n1.0\ntrue\n1e0\nTRUE\n1\n")
    assert columns(csv_file, network)["A"] == [1, 2, 3, 5, 4, 0]


def test_an_empty_line_is_an_empty_cell_of_one_column_and_no_row_of_several(
    csv_file: Path,
) -> None:
    csv_file.write_text('A\nyes\n\n""\nno\n')
    assert columns(csv_file, ONE)["A"] == [1, 2, 2, 0]
    csv_file.write_text('A,B\nyes,1\n\n"",\nno,"0"\n\n')
    assert columns(csv_file) == {"A": [1, 2, 0], "B": [1, 2, 0]}


def test_the_last_cell_may_hold_newlines(csv_file: Path) -> None:
    csv_file.write_text('A,B,note\nyes,1,"two\nlines"\nno,0,"a ""quote""\n"')
    assert columns(csv_file) == {"A": [1, 0], "B": [1, 0]}


def test_a_file_need_not_end_in_a_newline(csv_file: Path) -> None:
    csv_file.write_text("A,B\nyes,1\nno,0")
    assert columns(csv_file) == {"A": [1, 0], "B": [1, 0]}


def test_blanks_around_names_and_values_are_ignored_with_a_note(csv_file: Path) -> None:
    csv_file.write_text("A, B\nyes, 1\nno ,0\n,  \n")
    with pytest.warns(DataWarning, match="spaces around"):
        read = read_table(csv_file, PAIR)
    assert read.columns["A"].tolist() == [1, 0, 2]
    assert read.columns["B"].tolist() == [1, 0, 2]
    assert read.notes == (
        "read the columns [' B'] without the spaces around their names.",
        "2 columns (A, B): ignored the spaces around the values of 2 cells, as in 'no '.",
        "column 'B': 1 cell of spaces alone taken as missing.",
    )


def test_an_unknown_value_is_named_with_its_count_and_its_first_line(csv_file: Path) -> None:
    csv_file.write_text('A,B,note\n\nyes,1,"two\nlines"\nno,7,\nmaybe,7,\nmaybe,0,\n')
    with pytest.raises(UnknownStateError) as error:
        read_table(csv_file, PAIR)
    assert str(error.value) == (
        f"column 'A' holds 'maybe' (2 rows), first in '{csv_file}', line 6, but the network "
        "gives 'A' the states ['no', 'yes'].\n"
        f"column 'B' holds '7' (2 rows), first in '{csv_file}', line 5, but the network "
        "gives 'B' the states ['0', '1'].\n"
        "Hint: say what they mean: lacunet.Data(data, codes={'A': {...}}) (--codes), rename the "
        'values, add the states to the network, name values that mean "not observed" in '
        "missing=[...] (--missing), or read every unknown value as missing with "
        'lacunet.Data(data, unknown="missing") (--unknown missing).'
    )


def test_an_unknown_value_is_found_in_the_part_that_holds_it(tmp_path: Path) -> None:
    for at, rows in enumerate(["yes,1\nno,0\n", "", "no,1\nno,x\n"]):
        (tmp_path / f"{at}.csv").write_text("A,B\n" + rows)
    with pytest.raises(UnknownStateError, match=r"'x' \(1 row\).*'.*2\.csv', line 3"):
        read_table(tmp_path, PAIR)
    pa.parquet.write_table(pa.table({"A": ["yes"], "B": [5]}), tmp_path / "3.parquet")
    with pytest.raises(UnknownStateError, match=r"5 \(1 row\).*'.*3\.parquet', row 1"):
        read_table(tmp_path / "3.parquet", PAIR)


def test_unknown_values_are_missing_if_asked_for_and_noted(csv_file: Path) -> None:
    csv_file.write_text("A,B\nyes,1\nmaybe,0\nmaybe,-1\n")
    with pytest.warns(DataWarning, match="2 cells"):
        read = read_table(Data(csv_file, unknown="missing", missing=["-1"]), PAIR)
    assert read.columns["A"].tolist() == [1, 2, 2]
    assert read.columns["B"].tolist() == [1, 0, 2]
    assert read.notes == (
        "column 'A': read 2 cells as missing, with values ('maybe') that are not states.",
    )


def test_blocks_and_pieces_do_not_show(csv_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, (2, 5000))
    frame = pd.DataFrame({"A": codes[0], "B": codes[1]})
    frame["A"] = frame["A"].map({0: "no", 1: "yes", 2: "n/k"})
    frame["B"] = frame["B"].map({0: "0.0", 1: "1", 2: ""})
    frame["long"] = "a,b\n" * 20
    frame.to_csv(csv_file, index=False)
    monkeypatch.setattr(delimited_text, "BLOCK_BYTES", 4096)
    read = read_table(Data(csv_file, missing=["n/k"]), PAIR)
    assert np.array_equal(np.array([*read.columns.values()]), codes)
    frame.loc[4321, "B"] = "bad"
    frame.to_csv(csv_file, index=False)
    # Each row has 21 lines; the header is the first.
    with pytest.raises(UnknownStateError, match=f"{2 + 21 * 4321}"):
        read_table(Data(csv_file, missing=["n/k"]), PAIR)


def test_progress_is_told_in_bytes_of_text_and_rows_of_parquet(tmp_path: Path) -> None:
    table = pa.table({"A": ["yes", "no", "no"], "B": [0, 1, 1]})
    (tmp_path / "rows.csv").write_text("A,B\nyes,0\nno,1\nno,1\n")
    pa.parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=2)
    told: list[tuple[object, ...]] = []
    read_table(tmp_path / "rows.csv", PAIR, progress=lambda *args: told.append(args))
    size = os.path.getsize(tmp_path / "rows.csv")
    assert told == [("reading", size, size, "bytes")]
    told.clear()
    pa.parquet.write_table(table, tmp_path / "more.parquet", row_group_size=2)
    paths = [tmp_path / "rows.parquet", tmp_path / "more.parquet"]
    read_table(paths, PAIR, progress=lambda *args: told.append(args))
    assert told == [("reading", done, 6, "rows") for done in (2, 3, 5, 6)]


@pytest.mark.parametrize("pattern", ["", "*", "**", "**/*", "*/*"])
def test_every_file_of_a_folder_or_pattern_counts_once(pattern: str, tmp_path: Path) -> None:
    (tmp_path / "day" / "one").mkdir(parents=True)
    for name in ("day/a.csv", "day/one/b.csv", "day/one/c.csv"):
        (tmp_path / name).write_text("A,B\nyes,0\n")
    expected = 1 if pattern == "*" else 2 if pattern == "*/*" else 3
    assert read_table(str(tmp_path / "day" / pattern), PAIR).rows == expected


def test_a_file_named_twice_is_refused(csv_file: Path) -> None:
    csv_file.write_text("A,B\nyes,0\n")
    with pytest.raises(DataError, match="count"):
        read_table([csv_file, csv_file.parent / "." / csv_file.name], PAIR)
    with pytest.raises(DataError, match="once"):
        read_table([csv_file, csv_file.parent], PAIR)


def test_what_to_do_with_unknown_values_must_be_known(csv_file: Path) -> None:
    csv_file.write_text("A,B\nyes,0\n")
    misspelt: Any = "mising"
    with pytest.raises(DataError, match=r"unknown= is 'mising'.*'error' or 'missing'"):
        read_table(Data(csv_file, unknown=misspelt), PAIR)


REFUSED = {
    "": "is empty: it has no header",
    "\n\n": "is empty: it has no header",
    "A,B\n": "has no rows",
    "A,B,A\nyes,1,no\n": r"names columns more than once: \['A'\]",
    "A,B\nyes,1\nno\n": "line 3: the row has 1 cell, but the header names 2 columns",
    'A,B\n"y\nes",1\n\nno,1,1\n': "line 5: the row has 3 cells",
    "A;B\nyes;1\n": "separated by ';'",
    "a,B\nyes,1\n": r"no column for the variables \['A'\].*\n.*latent=\[...\]",
    "A,BB\nyes,1\n": r"no column for the variables \['B'\].*\n.*mean the column 'BB' for 'B'",
    "A,B,B \nyes,1,1\nmaybe,,\n": r"'maybe' \(1 row\)",
    'A,B\nyes,1\n"no,1\nno,1\n': "line 3: the row has 1 cell",
    'A,B\nyes,1\nno,"1\nno,1\n': "line 3: the row does not end.*quote that is never closed",
    'A,B,x\nyes,1,"a\nb"\nno,0,"\nno,1,\n': "line 4: the row does not end",
    "A,B\nyes," + "z" * 200_000: "line 2: the row does not end",
    "A,B\nyes," + "z" * 5_000_000: "line 2: the row does not end",
}


@pytest.mark.parametrize("content", REFUSED, ids=lambda content: repr(content[:40]))
def test_a_damaged_text_file_is_refused_with_the_way_out(csv_file: Path, content: str) -> None:
    csv_file.write_text(content)
    with pytest.raises(DataError, match=REFUSED[content]) as error:
        read_table(csv_file, Network({"A": ["no", "yes"], "B": ["0", "1"]}))
    assert "rows.csv" in str(error.value)


@pytest.mark.parametrize("content", [b"A,B\nyes,\xe9\n", "A,B\nyes,1\n".encode("utf-16")])
def test_a_file_in_another_encoding_is_refused(csv_file: Path, content: bytes) -> None:
    csv_file.write_bytes(content)
    with pytest.raises(DataError, match="UTF-8"):
        read_table(csv_file, PAIR)


def test_a_column_that_is_not_read_may_be_in_any_encoding(csv_file: Path) -> None:
    csv_file.write_bytes(b"A,B,x\nyes,1,\xe9\nno,?,\xff\n")
    assert columns(csv_file) == {"A": [1, 0], "B": [1, 2]}


def test_a_truncated_archive_is_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = "".join(f"yes,{bit}\n" for bit in rng.integers(0, 2, 100_000))
    whole = gzip.compress(("A,B\n" + rows).encode())
    for length in (5, len(whole) // 2, len(whole) - 4):
        (tmp_path / "rows.csv.gz").write_bytes(whole[:length])
        with pytest.raises(DataError, match=r"rows\.csv\.gz"):
            read_table(tmp_path / "rows.csv.gz", PAIR)


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow", ".csv.gz"])
def test_a_file_that_is_not_what_its_name_says_is_refused(tmp_path: Path, suffix: str) -> None:
    for content in (b"", b"A,B\nyes,1\n"):
        (tmp_path / f"rows{suffix}").write_bytes(content)
        with pytest.raises(DataError, match=f"rows{suffix}") as refusal:
            read_table(tmp_path / f"rows{suffix}", PAIR)
        assert ".." not in refusal.value.message
        assert refusal.value.hint


def test_a_damaged_parquet_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    table = pa.table({"A": ["yes", "no"] * 500, "B": ["0", "1"] * 500})
    pa.parquet.write_table(table, path, compression="zstd")
    content = bytearray(path.read_bytes())
    content[4:60] = b"\xff" * 56
    path.write_bytes(content)
    with pytest.raises(DataError, match="read"):
        read_table(path, PAIR)


def test_paths_that_lead_nowhere_are_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.txt").write_text("")
    (tmp_path / "empty").mkdir()
    for data, message in [
        (tmp_path / "no.csv", r"no file or folder '.*no\.csv'"),
        (str(tmp_path / "*.csv"), r"no file matches '.*\*\.csv'"),
        (tmp_path / "empty", "holds no data file"),
        (tmp_path / "rows.txt", r"Hint: rename it to end in one of \.csv"),
        ([], "the list of data files is empty"),
        ([3], "data are a list of int"),
        (object(), "data of the type object"),
        (None, "data of the type NoneType"),
    ]:
        with pytest.raises(DataError, match=message):
            read_table(data, PAIR)


def test_parts_with_different_columns_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("A,B\nyes,1\n")
    (tmp_path / "b.csv").write_text("A,C\nyes,1\n")
    with pytest.raises(DataError, match=r"b\.csv' lacks \['B'\].*\['C'\] compared .*a\.csv"):
        read_table(tmp_path, PAIR)


def test_an_ignored_column_with_a_name_of_weights_is_said_to_be_perhaps_some() -> None:
    network = Network({"A": ["x", "y"]})
    with pytest.warns(DataWarning, match="'Wt'.*weight='Wt', --weight Wt"):
        learn(network, {"A": ["x", "y"], "Wt": [1.5, 2.0]}, "direct-mcar")
