from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import lacunet as lc
from lacunet.ask.predict.predict import GIVEN, predicted_pieces
from lacunet.cli import main
from lacunet.data.spellings import SeenValues

NUMBERS = lc.Network(
    {"A": ["0", "1"], "B": ["1", "2"]},
    {"B": ["A"]},
    {"A": [0.25, 0.75], "B": [[1.0, 0.0], [0.5, 0.5]]},
).with_support({"B": [5, 0]})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three files; in the first no row can be, in the last numbers are written another way."""
    rows = tmp_path / "rows"
    rows.mkdir()
    first = pd.DataFrame({"Id": [1, 2], "A": [0, 0], "B": [2, 2]})
    first.to_parquet(rows / "0.parquet", index=False)
    second = pd.DataFrame({"Id": [3, 4], "A": [None, 1], "B": [2, None]})
    second.to_parquet(rows / "1.parquet", index=False)
    pd.DataFrame({"Id": ["x"], "A": ["1"], "B": ["1.0"]}).to_csv(rows / "2.csv", index=False)
    return rows


@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")
@pytest.mark.parametrize("targets", [["A"], ["A", "B"]])
@pytest.mark.parametrize("keep", [[], ["Id"]])
@pytest.mark.parametrize("given_targets", [False, True])
def test_pieces_hold_what_predict_gives_for_all_rows(
    folder: Path, targets: list[str], keep: list[str], given_targets: bool
) -> None:
    pieces = list(
        predicted_pieces(
            NUMBERS, lc.Data(folder), targets, give=GIVEN, given_targets=given_targets, keep=keep
        )
    )
    assert [piece.num_rows for piece in pieces] == [2, 2, 1]
    whole = NUMBERS.predict(folder, targets, give=GIVEN, given_targets=given_targets, keep=keep)
    assert pa.concat_tables(pieces).to_pandas().equals(whole.to_pandas())


@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")
def test_how_targets_are_written_is_noted_in_one_of_the_two_readings(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted, add = [], SeenValues.add

    def noting(self: SeenValues, columns: Mapping[str, Any], *more: Any) -> None:
        noted.append(columns["Id"])
        add(self, columns, *more)

    monkeypatch.setattr(SeenValues, "add", noting)
    pieces = predicted_pieces(NUMBERS, lc.Data(folder), ["B"], give=["states"], keep=["Id"])
    assert [piece.num_rows for piece in pieces] == [2, 2, 1]
    assert len(noted) == 3


@pytest.mark.parametrize("seen", [1, 2, 3])
def test_what_is_said_of_rows_counts_those_of_all_pieces(tmp_path: Path, seen: int) -> None:
    for part in range(3):
        state = ["2"] if part < seen else ["1"]
        pd.DataFrame({"A": ["0"] * 2, "B": state * 2}).to_csv(tmp_path / f"{part}.csv", index=False)
    with pytest.warns(UserWarning, match=rf"{2 * seen} rows of probability zero.*first: row 1"):
        for _ in predicted_pieces(
            NUMBERS, lc.Data(tmp_path), ["A"], give=["states"], given_targets=True
        ):
            pass


def test_nothing_is_printed_before_all_rows_are_read(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    NUMBERS.write(tmp_path / "net.json")
    (tmp_path / "0.csv").write_text("B\n1\n")
    (tmp_path / "1.csv").write_text("B\n7\n")
    files = [str(tmp_path / name) for name in ("net.json", "0.csv", "1.csv")]
    for more in ([], ["--json"]):
        assert main(["predict", *files, "--targets", "A", *more]) == 1
        assert capfdbinary.readouterr().out == b""
    (tmp_path / "1.csv").write_text("B\n2\n")
    assert main(["predict", *files, "--targets", "A", "-o", str(tmp_path / "p.parquet")]) == 0
    assert parquet.read_table(tmp_path / "p.parquet").num_rows == 2
