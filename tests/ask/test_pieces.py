"""Completing files some rows at a time gives what completing all rows together gives."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import lacunet as lc
from lacunet.ask.impute.pieces import completed_pieces
from lacunet.cli import main
from lacunet.inference.errors import ImpossibleDataError

NETWORK = lc.Network(
    {"Sex": ["female", "male"], "Grade": ["1", "2", "3"], "Hidden": ["no", "yes"]},
    {"Grade": ["Sex"], "Hidden": ["Grade"]},
    {
        "Sex": [0.4, 0.6],
        "Grade": [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]],
        "Hidden": [[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]],
    },
).with_codes({"Sex": {"F": "female", "M": "male"}})


def rows(seed: int, count: int = 300) -> pd.DataFrame:
    """Rows with codes, numbers, and a column that is not the network's."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], count).astype(object)
    grade = rng.integers(1, 4, count).astype(float)
    sex[rng.random(count) < 0.3] = None
    grade[rng.random(count) < 0.3] = np.nan
    return pd.DataFrame({"Day": np.arange(count), "Sex": sex, "Grade": grade})


def parts(folder: Path, ending: str, *frames: pd.DataFrame) -> str:
    """A folder with each frame as a file: each is a piece."""
    folder.mkdir()
    for at, frame in enumerate(frames):
        path = folder / f"part-{at}{ending}"
        if ending == ".csv":
            frame.to_csv(path, index=False)
        else:
            frame.to_parquet(path, index=False)
    return str(folder)


def joined(*arguments: Any, **options: Any) -> dict[int, pd.DataFrame]:
    """The pieces of each draw put together; they are of one schema."""
    found: dict[int, list[pa.Table]] = {}
    for draw, piece in completed_pieces(*arguments, **options):
        found.setdefault(draw, []).append(piece)
    assert all(len({str(piece.schema) for piece in own}) == 1 for own in found.values())
    assert all(len(own) == 3 for own in found.values())
    return {draw: pa.concat_tables(own).to_pandas() for draw, own in found.items()}


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_parts_are_completed_as_the_whole_is(ending: str, tmp_path: Path) -> None:
    first, second, third = rows(1), rows(2), rows(3)
    first = first[first["Sex"] != "M"]  # how M is written is to be seen in later parts only
    second["Sex"] = None
    folder = parts(tmp_path / "parts", ending, first, second, third)
    data = lc.Data(folder, latent=["Hidden"])
    together = pd.concat([first, second, third], ignore_index=True)
    expected = NETWORK.impute(lc.Data(together, latent=["Hidden"]), how="most probable")
    found = joined(NETWORK, data, how="most probable", rng=np.random.default_rng(0))[0]
    assert list(found) == ["Day", "Sex", "Grade", "Hidden"]
    assert found["Sex"].tolist() == expected["Sex"].tolist()
    assert set(found["Sex"]) == {"F", "M"}
    assert found["Grade"].astype(float).tolist() == expected["Grade"].tolist()
    assert found["Hidden"].tolist() == expected["Hidden"].tolist()
    assert found["Day"].astype(int).tolist() == together["Day"].tolist()


def test_draws_of_one_piece_are_those_of_the_frame(tmp_path: Path) -> None:
    frame = rows(4)
    path = tmp_path / "rows.parquet"
    frame.to_parquet(path, index=False)
    known = lc.Network(
        {name: NETWORK.states(name) for name in ("Sex", "Grade")}, {"Grade": ["Sex"]}
    ).with_codes(NETWORK.codes_of)
    result = lc.learn(known, frame, "em", intervals=True)
    with pytest.warns(UserWarning, match="assumes MAR"):
        expected = result.impute(frame, draws=3, rng=7)
    drawn = completed_pieces(result, str(path), 3, rng=np.random.default_rng(7))
    with pytest.warns(UserWarning, match="assumes MAR"):
        found = {draw: piece.to_pandas() for draw, piece in drawn}
    for draw, whole in enumerate(expected):
        assert found[draw].astype(object).equals(whole.astype(object))
    assert not found[0].equals(found[1])


def test_draws_of_several_pieces_have_the_right_rates(tmp_path: Path) -> None:
    blank = pd.DataFrame({"Sex": [None] * 4000, "Grade": [None] * 4000})
    told = pd.DataFrame({"Sex": ["F", "M"], "Grade": ["1", "2"]})
    folder = parts(tmp_path / "parts", ".csv", blank, told, blank)
    data = lc.Data(folder, latent=["Hidden"])
    found = joined(NETWORK, data, 2, rng=np.random.default_rng(1), proper=False)
    for own in found.values():
        # 8,000 draws: a standard error of 0.0055 each
        assert (own["Sex"] == "F").mean() == pytest.approx(0.4, abs=0.02)
        assert (own["Hidden"] == "yes").mean() == pytest.approx(
            0.4 * (0.02 + 0.15 + 0.4) + 0.6 * (0.06 + 0.15 + 0.08), abs=0.02
        )
    assert not found[0].equals(found[1])


def test_missing_numbers_get_the_mean_of_their_interval_in_all_parts(tmp_path: Path) -> None:
    full = pd.DataFrame({"Age": [1.0, 30.0, 70.0], "Ill": ["no", "no", "yes"]})
    partly = pd.DataFrame({"Age": [None, 20.0], "Ill": ["yes", "no"]})
    cut = lc.Network.from_data(lc.Data(full, bins={"Age": [0, 25, 50, 100]}), "Age -> Ill")
    network = cut.with_tables({"Age": [0.2, 0.3, 0.5], "Ill": [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]]})
    folder = parts(tmp_path / "parts", ".csv", full, partly, full)
    with pytest.warns(lc.LacunetWarning, match="interval"):
        found = joined(network, folder, how="most probable", rng=np.random.default_rng(0))[0]
    with pytest.warns(lc.LacunetWarning, match="interval"):
        expected = network.impute(
            pd.concat([full, partly, full], ignore_index=True), how="most probable"
        )
    assert found["Age"].astype(float).tolist() == expected["Age"].tolist()
    assert found["Age"].astype(float).tolist() == [1, 30, 70, 70, 20, 1, 30, 70]
    assert found["Ill"].tolist() == expected["Ill"].tolist()


def test_the_command_writes_all_parts_or_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    network, out = str(tmp_path / "network.json"), tmp_path / "out.parquet"
    NETWORK.write(network)
    folder = parts(tmp_path / "parts", ".csv", rows(1), rows(2), rows(3))
    words = ["impute", network, folder, "--latent", "Hidden"]
    assert main([*words, "-o", str(out)]) == 0
    written = parquet.read_table(out)
    assert written.num_rows == 900
    assert not any(column.null_count for column in written.columns)
    capfd.readouterr()
    assert main([*words, "--draws", "2", "--fixed-cpts", "-o", str(out), "--json"]) == 1
    capfd.readouterr()
    odd = pd.DataFrame({"Day": [1], "Sex": ["?!"], "Grade": [1]})
    odd.to_csv(Path(folder) / "part-9.csv", index=False)
    before = out.read_bytes()
    assert main([*words, "-o", str(out)]) == 1
    assert "part-9.csv" in capfd.readouterr().err
    assert out.read_bytes() == before
    assert not list(tmp_path.glob(".*.part"))


def test_columns_of_lists_and_records_are_carried_along(tmp_path: Path) -> None:
    network = lc.Network({"A": ["0", "1"]}, {}, {"A": [0.8, 0.2]})
    nested = {
        "tags": pa.array([["a"], None, []], pa.list_(pa.string())),
        "place": pa.array([{"x": 1, "y": "n"}, {"x": 2, "y": None}, None]),
        "sizes": pa.array([[("k", 1)], [], None], pa.map_(pa.string(), pa.int64())),
    }
    given = pa.table({"A": ["1", None, "0"], **nested})
    parquet.write_table(given, tmp_path / "rows.parquet")
    ((_, found),) = completed_pieces(
        network, tmp_path / "rows.parquet", rng=np.random.default_rng(1)
    )
    assert found["A"].to_pylist() == ["1", "0", "0"]
    assert found.drop_columns(["A"]).to_pylist() == given.drop_columns(["A"]).to_pylist()


def test_an_impossible_row_is_named_by_its_number_in_all_data(tmp_path: Path) -> None:
    copy = lc.Network(
        {"A": ["0", "1"], "B": ["0", "1"], "C": ["0", "1"]},
        {"B": ["A"], "C": ["A"]},
        {"A": [0.5, 0.5], "B": [[1, 0], [0, 1]], "C": [[1, 0], [0, 1]]},
    )
    fine = pd.DataFrame({"A": [None] * 3, "B": ["0", "1", "1"], "C": ["0", "1", "1"]})
    wrong = pd.DataFrame({"A": [None] * 2, "B": ["0", "1"], "C": ["0", "0"]})
    folder = parts(tmp_path / "parts", ".csv", fine, wrong)
    with pytest.raises(ImpossibleDataError, match="row 5"):
        list(completed_pieces(copy, folder, rng=np.random.default_rng(0)))


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_a_file_with_semicolons_and_commas_is_written_back_as_it_was_read(
    tmp_path: Path, ending: str
) -> None:
    file, network = tmp_path / "rows.csv", tmp_path / "network.json"
    file.write_text('Dose;Ill;Note\n"1,5";yes;"a; b"\n"2,25";no;c,d\n;yes;e\n"1,5";;f\n', "utf-8")
    written = lc.Network(
        {"Dose": ["1.5", "2.25", "3.5"], "Ill": ["no", "yes"]},
        {"Ill": ["Dose"]},
        {"Dose": [0.1, 0.1, 0.8], "Ill": [[0.1, 0.9], [0.9, 0.1], [0.2, 0.8]]},
    )
    written.write(network)
    output = tmp_path / f"out{ending}"
    options = ["--delimiter", ";", "--decimal", ","]
    assert main(["impute", str(network), str(file), *options, "-o", str(output)]) == 0
    opened = gzip.open if ending.endswith(".gz") else open
    with opened(output, "rt", encoding="utf-8") as lines:
        assert next(lines) == "Dose;Ill;Note\n"
    table = pd.read_csv(output, sep=";", dtype=str)
    assert table["Dose"].tolist() == ["1,5", "2,25", "3,5", "1,5"]  # no row shows 3.5
    assert table["Ill"].tolist() == ["yes", "no", "yes", "yes"]
    assert table["Note"].tolist() == ["a; b", "c,d", "e", "f"]


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_the_command_draws_for_every_copy_of_a_counted_row(tmp_path: Path, ending: str) -> None:
    frame = pd.concat([rows(3, 5).assign(n=count) for count in (1, 0, 70_000)])
    counted, network = parts(tmp_path / "parts", ending, frame), tmp_path / "network.json"
    NETWORK.write(network)
    known = lc.learn(NETWORK, lc.Data(counted, counts="n", latent="Hidden"), "em", max_iterations=2)
    result = tmp_path / "result.json"
    known.write(result)
    output = tmp_path / f"out{ending}"
    options = ["--draws", "1", "--fixed-cpts", "--seed", "2", "-o", str(output)]
    assert main(["impute", str(result), counted, *options]) == 0
    read = pd.read_csv if ending == ".csv" else pd.read_parquet
    table = read(output)
    assert len(table) == 5 * 70_001
    assert (table["n"] == 1).all()
    assert table[["Sex", "Grade", "Hidden"]].notna().all().all()
    assert (table["Hidden"].iloc[-70_000:].nunique()) == 2
