"""Damaged Arrow data: an index or an offset that leads nowhere is refused, not read."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from lacunet.data.batches import Door
from lacunet.data.column_rules import plan_reading
from lacunet.data.data import Data
from lacunet.data.errors import DataError
from lacunet.data.read import ReadReport, read_table
from lacunet.data.source_parts import DataSource, pieces_of
from lacunet.network.network import Network

NETWORK = Network({"A": ["no", "yes"]})


def dictionary(indices: list[int]) -> pa.Table:
    wrong = pa.DictionaryArray.from_arrays(
        pa.array(indices, pa.int32()), pa.array(["no", "yes"]), safe=False
    )
    return pa.table({"A": wrong})


@pytest.mark.parametrize("index", [-1, 2, 2**31 - 1, -(2**31)])
def test_an_index_outside_of_the_dictionary_is_refused(tmp_path: Path, index: int) -> None:
    good = dictionary([0, 1, 1, 123_456_789 % 2])
    with pa.ipc.new_file(tmp_path / "rows.arrow", good.schema) as writer:
        writer.write_table(good)
    assert read_table(tmp_path / "rows.arrow", NETWORK).rows == 4
    content = (tmp_path / "rows.arrow").read_bytes()
    stored = np.array([0, 1, 1, 1], np.int32).tobytes()
    assert content.count(stored) == 1
    bad = content.replace(stored, stored[:-4] + struct.pack("<i", index))
    for name in ("rows.arrow", "rows.feather"):
        (tmp_path / name).write_bytes(bad)
        with pytest.raises(DataError, match=f"{name}'"):
            read_table(tmp_path / name, NETWORK)
    with pytest.raises(DataError, match="PyArrow Table"):
        read_table(dictionary([0, index]), NETWORK)


def test_offsets_that_lead_outside_and_text_that_is_not_utf8_are_refused() -> None:
    backwards = np.array([0, 4, 1, 5], np.int32)
    whole = np.array([0, 2], np.int32)
    for texts in (
        pa.StringArray.from_buffers(3, pa.py_buffer(backwards), pa.py_buffer(b"noyes")),
        pa.StringArray.from_buffers(1, pa.py_buffer(whole), pa.py_buffer(b"\xff\xfe")),
    ):
        with pytest.raises(DataError, match="PyArrow Table"):
            read_table(pa.table({"A": texts}), NETWORK)


def test_a_part_with_fewer_rows_than_it_announces_is_refused() -> None:
    reading = plan_reading(Data(pa.table({"A": ["no", "yes"]})), NETWORK)
    (part,) = reading.source.parts
    short = replace(reading, source=DataSource((replace(part, size=3),)))
    with pytest.raises(DataError, match=r"3 rows.*holds 2"):
        list(Door(short, ReadReport()).batches())


def test_a_column_of_a_type_that_pyarrow_has_no_array_for_is_refused_if_it_is_wanted() -> None:
    class Batch:
        num_rows = 2

        def column(self, name: str) -> Any:
            if name == "Months":
                raise KeyError(21)  # as PyArrow does for intervals of months
            return pa.array(["x", "y"])

    (piece,) = pieces_of(iter([Batch()]), ["A"])
    assert piece.columns["A"].to_pylist() == ["x", "y"]
    with pytest.raises(pa.ArrowNotImplementedError, match="'Months'"):
        list(pieces_of(iter([Batch()]), ["A", "Months"]))


def test_a_parquet_file_whose_names_are_not_text_is_refused_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"Alarm": ["no", "yes"]}), path)
    path.write_bytes(path.read_bytes().replace(b"Alarm", b"Al\xf4rm"))
    data = Data(path)  # looks at what the file says of its columns
    with pytest.raises(DataError, match=r"rows\.parquet"):
        read_table(data, Network({"Alarm": ["no", "yes"]}))
