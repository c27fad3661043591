"""Missing numbers are numbers that were observed, in rows like this one."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lacunet as lc
from lacunet.ask.impute import missing_numbers as rules
from lacunet.ask.impute.donor_rules import at_random, by_cells, by_prediction
from lacunet.ask.impute.pieces import completed_pieces
from lacunet.cli import main

pytestmark = pytest.mark.filterwarnings("ignore:this assumes MAR")
FRAMES: dict[str, Any] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "dict": lambda columns: {name: list(cells) for name, cells in columns.items()},
}


def measured(number: int, seed: int = 0) -> pd.DataFrame:
    """Weight goes with height, whose effect is the same in both groups; visits are days."""
    rng = np.random.default_rng(seed)
    height = rng.normal(170, 10, number).round(1)
    group = rng.choice(["a", "b"], number)
    weight = np.round(0.9 * (height - 170) + 70 + 5 * (group == "b") + rng.normal(0, 4, number))
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, number), "D")
    return pd.DataFrame({"height": height, "weight": weight, "group": group, "visit": days})


def hidden(frame: pd.DataFrame, share: float = 0.3, seed: int = 1) -> pd.DataFrame:
    return frame.mask(np.random.default_rng(seed).random(frame.shape) < share)


EDGES = "height -> weight; group -> weight; visit"
BINS = {"height": 4, "weight": 4, "visit": "month"}


def learned(frame: Any, **options: Any) -> lc.Result:
    return lc.learn(EDGES, lc.Data(frame, bins=BINS), "em", **options)


def as_columns(frame: Any) -> dict[str, list[Any]]:
    if isinstance(frame, pd.DataFrame):
        return {str(name): frame[name].tolist() for name in frame}
    if isinstance(frame, pl.DataFrame):
        return frame.to_dict(as_series=False)
    return frame.to_pydict() if isinstance(frame, pa.Table) else frame


@pytest.mark.parametrize("kind", FRAMES)
def test_missing_numbers_are_observed_ones_of_the_interval_of_their_state(kind: str) -> None:
    frame = hidden(measured(500))
    result = learned(frame)
    data = (
        frame if kind == "pandas" else FRAMES[kind](frame.astype(object).where(frame.notna(), None))
    )
    whole = as_columns(result.impute(data, rng=2))
    for name in ("height", "weight", "visit"):
        seen = {*frame[name].dropna().tolist()}
        assert {pd.Timestamp(v) if name == "visit" else v for v in whole[name]} <= seen
        kept = frame[name].notna()
        assert [v for v, is_kept in zip(whole[name], kept, strict=True) if is_kept] == [
            *frame[name][kept]
        ]


def test_a_network_with_its_rows_takes_donors_among_them() -> None:
    frame = hidden(measured(400))
    network = learned(frame).network
    whole = network.impute(frame, rng=1)
    for name in ("height", "weight", "visit"):
        assert set(whole[name]) <= {*frame[name].dropna()}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [(pa.int16(), int), (pa.float32(), float), (pa.decimal128(6, 1), None), (pa.string(), str)],
)
def test_numbers_have_the_type_of_their_column(kind: Any, expected: type | None) -> None:
    frame = hidden(measured(300))
    weights = pa.array([None if pd.isna(w) else w for w in frame["weight"]], pa.float64())
    texts = pa.array([None if w is None else str(int(w)) for w in weights.to_pylist()])
    column = (
        texts.cast(kind) if pa.types.is_decimal(kind) or kind == pa.string() else weights.cast(kind)
    )
    table = pa.table({"weight": column, "group": pa.array(frame["group"], pa.string())})
    data = lc.Data(table, bins={"weight": 4})
    whole = lc.learn("group -> weight", data, "em").impute(table, rng=3)
    assert whole.schema == table.schema
    assert not whole["weight"].null_count
    assert set(whole["weight"].to_pylist()) == set(table["weight"].drop_null().to_pylist())
    if expected is not None:
        assert {type(cell) for cell in whole["weight"].to_pylist()} == {expected}


@pytest.mark.parametrize("kind", [pa.date32(), pa.timestamp("us"), pa.timestamp("ns", "UTC"), None])
def test_dates_are_dates_of_their_period(kind: Any) -> None:
    rng = np.random.default_rng(5)
    days = [date(2024, 1 + int(d) // 28, 1 + int(d) % 28) for d in rng.integers(0, 80, 200)]
    cells = [None if x else d for x, d in zip(rng.random(200) < 0.3, days, strict=True)]
    column = pa.array(cells)
    column = column.cast(pa.string()) if kind is None else column.cast(kind)
    table = pa.table({"visit": column, "group": ["a", "b"] * 100})
    data = lc.Data(table, bins={"visit": "month"})
    whole = lc.learn("group -> visit", data, "em").impute(table, rng=3)
    assert whole.schema == table.schema
    assert set(whole["visit"].to_pylist()) <= set(table["visit"].drop_null().to_pylist())
    drawn = [v for v, cell in zip(whole["visit"].to_pylist(), cells, strict=True) if cell is None]
    assert len(set(drawn)) > 20


def test_commas_stay_commas() -> None:
    numbers = ["1,5", "2,5", "3,5", "4,25", None, None] * 5
    data = lc.Data({"N": numbers}, bins={"N": 2}, decimal=",")
    whole = lc.learn([], data, "direct-mcar").impute(data, rng=0)
    assert set(whole["N"]) == {"1,5", "2,5", "3,5", "4,25"}


def slopes(frame: pd.DataFrame) -> np.ndarray:
    columns = [np.ones(len(frame)), frame["height"] - 170, frame["group"] == "b"]
    design = np.column_stack([np.asarray(column, float) for column in columns])
    return np.linalg.lstsq(design, frame["weight"].to_numpy(float), rcond=None)[0]


def test_donors_are_like_the_row_within_the_interval_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Height and weight go together within intervals as between them, if donors are alike."""
    whole = measured(4000, 3)
    frame = hidden(whole, 0.4, 4)
    result = learned(frame)
    both = frame["height"].isna() | frame["weight"].isna()
    within = {}
    for rule in (at_random, by_cells, by_prediction):
        monkeypatch.setattr(rules, "RULE", rule)
        drawn = result.impute(frame, rng=1)[both]
        parts = drawn.groupby(
            [pd.qcut(drawn["height"], 4), pd.qcut(drawn["weight"], 4)], observed=True
        )
        rest = drawn[["height", "weight"]] - parts[["height", "weight"]].transform("mean")
        within[rule] = np.corrcoef(rest.T)[0, 1]
    assert within[at_random] < 0.06
    assert within[by_cells] > 0.1
    assert within[by_prediction] > 0.2
    truth, guess = slopes(whole), result.impute(frame, rng=1)
    assert slopes(guess)[1] == pytest.approx(truth[1], rel=0.07)


def test_the_same_numbers_come_from_a_file_of_the_result_and_of_the_rows(tmp_path: Path) -> None:
    frame = hidden(measured(300))
    frame["visit"] = frame["visit"].astype("string").str[:10]
    result = learned(frame, intervals=True)
    result.write(tmp_path / "result.json")
    again = lc.read_result(tmp_path / "result.json")
    for one, two in zip(result.impute(frame, 3, rng=5), again.impute(frame, 3, rng=5), strict=True):
        assert one.equals(two)
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    drawn = completed_pieces(again, tmp_path / "rows.parquet", 3, rng=np.random.default_rng(5))
    for (_, piece), expected in zip(drawn, result.impute(frame, 3, rng=5), strict=True):
        pd.testing.assert_frame_equal(piece.to_pandas().astype(object), expected.astype(object))
    result.write(tmp_path / "bare.json", donors=False)
    assert lc.read_result(tmp_path / "bare.json").donors is None


def test_a_file_whose_donors_do_not_fit_is_refused(tmp_path: Path) -> None:
    from dataclasses import replace

    result = learned(hidden(measured(60)))
    assert result.donors is not None
    rows = {name: codes[:-1] for name, codes in result.donors.columns.items()}
    codes = {name: codes + np.uint8(9) for name, codes in result.donors.columns.items()}
    weights = {name: weights[:-1] for name, weights in result.donors.weights_of.items()}
    for wrong in ({"columns": rows}, {"columns": codes}, {"weights_of": weights}):
        replace(result, donors=replace(result.donors, **wrong)).write(tmp_path / "wrong.json")
        with pytest.raises(lc.LacunetError, match=r"wrong\.json"):
            lc.read_result(tmp_path / "wrong.json")


def test_where_nobody_shows_a_number_any_of_the_interval_will_do() -> None:
    cuts = [0, 10, 40, float("inf")]
    network = lc.Network(
        {"N": ["[0,10)", "[10,40)", ">=40"]}, {}, {"N": [0.2, 0.5, 0.3]}, cuts={"N": cuts}
    )
    drawn = np.array(network.impute({"N": [None] * 3000}, rng=1)["N"], dtype=float)
    assert drawn.min() >= 0
    assert drawn.max() < 70  # an open interval is as wide as the one beside it
    middle = drawn[(drawn >= 10) & (drawn < 40)]
    assert len(middle) == pytest.approx(1500, abs=4 * np.sqrt(750))
    assert middle.mean() == pytest.approx(25, abs=4 * 30 / np.sqrt(12 * len(middle)))
    table = pa.table({"N": pa.array([None] * 50, pa.int32())})
    assert network.impute(table, rng=1).schema == table.schema
    narrow = lc.Network({"N": ["low", "high"]}, {}, {"N": [0.5, 0.5]}, cuts={"N": [0, 0.5, 0.9]})
    assert network.impute(table, rng=1)["N"].type == pa.int32()
    assert narrow.impute(table, rng=1)["N"].type == pa.float64()


@pytest.mark.parametrize("kind", FRAMES)
def test_what_was_not_asked_stays_empty_among_numbers(kind: str) -> None:
    rng = np.random.default_rng(2)
    smokes = rng.choice(["no", "yes"], 200)
    packs = [
        None if s == "no" else float(p)
        for s, p in zip(smokes, rng.integers(1, 30, 200), strict=True)
    ]
    packs = [None if rng.random() < 0.2 else pack for pack in packs]
    columns = {"Smokes": [*smokes], "Packs": packs}
    data = lc.Data(columns, bins={"Packs": 3}, not_asked={"Packs": "Smokes=no"})
    result = lc.learn("Smokes -> Packs", data, "em")
    whole = as_columns(result.impute(FRAMES[kind](columns), rng=0))
    for smoker, pack in zip(whole["Smokes"], whole["Packs"], strict=True):
        if smoker == "no":
            assert pack == "not_asked" if kind == "dict" else pd.isna(pack)
        else:
            assert pack in packs


@pytest.mark.parametrize("kind", FRAMES)
def test_a_column_that_shows_nothing_gets_numbers_of_the_donors(kind: str) -> None:
    frame = hidden(measured(200))
    result = learned(frame)
    columns = {"height": [150.0, 171.5], "weight": [None, None], "group": ["a", "b"]}
    columns["visit"] = [None, None]
    whole = as_columns(result.impute(FRAMES[kind](columns), rng=0))
    assert set(whole["weight"]) <= {*frame["weight"].dropna()}
    assert whole["weight"][0] < whole["weight"][1]
    assert {pd.Timestamp(day) for day in whole["visit"]} <= {*frame["visit"].dropna()}


@pytest.mark.filterwarnings("ignore:completions")
def test_proper_draws_know_how_sure_the_regression_is() -> None:
    frame = hidden(measured(60, 6), 0.4, 7)
    result = learned(frame, intervals=True)

    def spread(*, proper: bool) -> float:
        tables = result.impute(frame, 40, rng=1, proper=proper)
        return float(np.std([slopes(table)[1] for table in tables]))

    assert spread(proper=True) > 1.1 * spread(proper=False)


def test_the_command_says_that_rows_are_kept_and_leaves_them_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hidden(measured(100))[["height", "weight"]].to_csv(tmp_path / "rows.csv", index=False)
    rows, out = str(tmp_path / "rows.csv"), str(tmp_path / "result.json")
    words = ["learn", "height -> weight", rows, "--bins", "3", "-o", out]
    assert main(words) == 0
    assert "at most 200 of each interval of height, weight" in capsys.readouterr().err
    expected = lc.read_result(out).donors
    assert expected is not None
    assert main([*words, "--report", str(tmp_path / "page.html")]) == 0
    again = lc.read_result(out).donors
    assert again is not None
    np.testing.assert_array_equal(expected.numbers["height"], again.numbers["height"])
    capsys.readouterr()
    assert main([*words, "--donors", "0"]) == 0
    assert "interval of" not in capsys.readouterr().err
    assert lc.read_result(out).donors is None
    assert main([*words, "--donors", "7"]) == 0
    assert main(["impute", out, rows, "-o", str(tmp_path / "whole.csv")]) == 0
    whole = pd.read_csv(tmp_path / "whole.csv")
    assert whole.notna().all(axis=None)
