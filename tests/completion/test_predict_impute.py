"""Prediction and imputation for every kind of dataframe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lacunet as lc
from examples import RAIN
from lacunet.data.errors import DataError
from lacunet.inference.errors import ImpossibleDataError
from lacunet.model.network import NetworkError

ROWS: dict[str, list[Any]] = {
    "Day": [10, 20, 30, 40],
    "Rain": ["no", None, "yes", None],
    "Wet": ["yes", "yes", None, "?"],
    "Sprinkler": [None, "on", "off", None],
}
KINDS = {
    "pandas": pd.DataFrame(ROWS, index=[7, 5, 5, 1]),
    "polars": pl.DataFrame(ROWS),
    "pyarrow": pa.table(ROWS),
    "dict": ROWS,
}


def as_lists(frame: Any) -> dict[Any, list[Any]]:
    if isinstance(frame, pd.DataFrame):
        return frame.to_dict("list")
    if isinstance(frame, pl.DataFrame):
        return frame.to_dict(as_series=False)
    return frame.to_pydict() if isinstance(frame, pa.Table) else frame


@pytest.mark.parametrize("kind", KINDS)
def test_each_row_gets_what_a_query_gives(kind: str) -> None:
    frame = KINDS[kind]
    found = lc.predict(RAIN, frame, ["Rain", "Wet"])
    assert type(found) is type(frame)
    rows = as_lists(found)
    assert list(rows) == ["Rain=no", "Rain=yes", "Wet=no", "Wet=yes"]
    for row in range(4):
        shown = {name: ROWS[name][row] for name in RAIN.variables}
        for name in ("Rain", "Wet"):
            answer = lc.query(RAIN, name, shown)
            got = [rows[f"{name}={state}"][row] for state in RAIN.states(name)]
            np.testing.assert_allclose(got, answer, rtol=1e-12, atol=1e-14)
    if isinstance(found, pd.DataFrame):
        assert found.index.tolist() == [7, 5, 5, 1]


def test_most_probable_states_and_log_probabilities_come_on_request() -> None:
    frame = pd.DataFrame({"Wet": ["yes", "no", None]})
    found = lc.predict(
        RAIN, frame, "Rain", give=["states", "log-probability"], latent=["Sprinkler"]
    )
    assert found["Rain"].tolist() == ["no", "no", "no"]
    np.testing.assert_allclose(np.exp(found["log-probability"]), [0.44838, 0.55162, 1], rtol=1e-12)


def test_a_target_that_is_shown_is_certain_unless_it_is_hidden() -> None:
    frame = pd.DataFrame({"Rain": ["yes"], "Wet": ["yes"], "Sprinkler": [None]})
    assert lc.predict(RAIN, frame, ["Rain"]).to_numpy().tolist() == [[0.0, 1.0]]
    hidden = lc.predict(RAIN, frame, ["Rain"], hide_targets=True).to_numpy()[0]
    np.testing.assert_allclose(hidden, lc.query(RAIN, "Rain", {"Wet": "yes"}), rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_most_probable_completion_is_filled_in_and_all_else_is_kept(kind: str) -> None:
    frame = KINDS[kind]
    before = as_lists(frame)
    whole = lc.impute(RAIN, frame)
    assert type(whole) is type(frame)
    rows = as_lists(whole)
    # Row 1: the sprinkler alone explains wet grass. Row 4: dry, no rain, off: .8 * .6.
    assert rows == {
        "Day": [10, 20, 30, 40],
        "Rain": ["no", "no", "yes", "no"],
        "Wet": ["yes", "yes", "yes", "no"],
        "Sprinkler": ["on", "on", "off", "off"],
    }
    assert as_lists(frame) == before == ROWS or kind == "pandas"
    if isinstance(whole, pd.DataFrame):
        assert whole.index.tolist() == [7, 5, 5, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_draws_are_frames_that_keep_what_is_shown(kind: str) -> None:
    drawn = lc.impute(RAIN, KINDS[kind], draws=5, rng=np.random.default_rng(2))
    assert len(drawn) == 5
    for whole in drawn:
        rows = as_lists(whole)
        assert rows["Day"] == ROWS["Day"]
        for name in RAIN.variables:
            for shown, now in zip(ROWS[name], rows[name], strict=True):
                assert now == shown or shown in (None, "?")
                assert now in RAIN.states(name)
    assert len({str(as_lists(whole)) for whole in drawn}) > 1


def test_columns_keep_their_types() -> None:
    network = lc.Network(
        {"N": ["1", "2"], "B": ["False", "True"], "C": ["lo", "hi"], "F": ["1.5", "2.5"]},
        {"B": ["N"], "C": ["N"], "F": ["N"]},
        {"N": [0.5, 0.5], "B": [[1, 0], [0, 1]], "C": [[1, 0], [0, 1]], "F": [[1, 0], [0, 1]]},
    )
    frame = pd.DataFrame(
        {
            "N": pd.array([1, 2, None], dtype="Int64"),
            "B": pd.array([False, None, True], dtype="boolean"),
            "C": pd.Categorical(["lo", None, "hi"], ["hi", "lo"]),
            "F": [1.5, 2.5, np.nan],
        }
    )
    whole = lc.impute(network, frame)
    assert whole.dtypes.tolist() == frame.dtypes.tolist()
    assert whole["N"].tolist() == [1, 2, 2]
    assert whole["B"].tolist() == [False, True, True]
    assert whole["C"].tolist() == ["lo", "hi", "hi"]
    assert whole["F"].tolist() == [1.5, 2.5, 2.5]


@pytest.mark.parametrize("library", [pd, pl])
def test_a_number_that_no_row_has_is_still_a_number(library: Any) -> None:
    network = lc.Network({"N": ["1", "2"]}, tables={"N": [0.1, 0.9]})
    whole = lc.impute(network, library.DataFrame({"N": [1.0, None]}))
    assert list(whole["N"]) == [1.0, 2.0]


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "dict"])
def test_a_text_that_no_row_has_is_still_a_text(kind: str) -> None:
    network = lc.Network({"T": ["a", "b"]}, tables={"T": [0.1, 0.9]})
    rows = {"T": ["a", None]}
    frame: Any = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table, "dict": dict}
    whole = lc.impute(network, frame[kind](rows))
    assert type(whole) is type(frame[kind](rows))
    assert as_lists(whole) == {"T": ["a", "b"]}
    if kind == "pandas":
        assert whole["T"].dtype == pd.DataFrame(rows)["T"].dtype


def test_a_column_that_the_network_cuts_is_filled_with_intervals() -> None:
    network = lc.Network(
        {"Age": ["[0,40)", "[40,99]"], "Ill": ["no", "yes"]},
        {"Ill": ["Age"]},
        {"Age": [0.5, 0.5], "Ill": [[1, 0], [0, 1]]},
        cuts={"Age": [0, 40, 99]},
    )
    whole = lc.impute(network, pd.DataFrame({"Age": [30, 50, None], "Ill": [None, "yes", "yes"]}))
    assert whole["Age"].tolist() == ["[0,40)", "[40,99]", "[40,99]"]
    assert whole["Ill"].tolist() == ["no", "yes", "yes"]
    untouched = lc.impute(network, pd.DataFrame({"Age": [30, 50], "Ill": [None, "yes"]}))
    assert untouched["Age"].tolist() == [30, 50]


def test_files_become_arrow_tables(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("Day,Rain,Wet,Sprinkler\n1,,yes,on\n2,yes,?,off\n")
    whole = lc.impute(RAIN, path)
    assert whole.to_pydict() == {
        "Day": ["1", "2"],
        "Rain": ["no", "yes"],
        "Wet": ["yes", "yes"],
        "Sprinkler": ["on", "off"],
    }
    assert lc.predict(RAIN, str(path), "Rain").num_rows == 2


def test_a_latent_variable_becomes_a_column() -> None:
    whole = lc.impute(RAIN, {"Rain": ["no"], "Wet": ["yes"]}, latent=["Sprinkler"])
    assert whole == {"Rain": ["no"], "Wet": ["yes"], "Sprinkler": ["on"]}


def test_what_cannot_be_done_is_said() -> None:
    frame = pd.DataFrame({"Rain": ["no"], "Sprinkler": ["off"], "Wet": ["yes"]})
    with pytest.warns(lc.LacunetWarning, match=r"1 row of probability zero .*first: row 1"):
        assert lc.predict(RAIN, frame, "Rain").isna().to_numpy().all()
    with pytest.raises(NetworkError, match="no variable 'Snow'"):
        lc.predict(RAIN, frame, "Snow")
    with pytest.raises(DataError, match="Sprinkler"):
        lc.predict(RAIN, frame[["Wet"]], "Rain")
    with pytest.raises(lc.LacunetError, match="draws need a random generator"):
        lc.impute(RAIN, frame, draws=2)
    with pytest.raises(lc.LacunetError, match="draws=0"):
        lc.impute(RAIN, frame, draws=0)
    with pytest.raises(lc.LacunetError, match="give='odds' is not known"):
        lc.predict(RAIN, frame, "Rain", give="odds")  # type: ignore[arg-type]
    with pytest.raises(lc.LacunetError, match="there are no targets"):
        lc.predict(RAIN, frame, [])
    never = lc.Network(
        {"A": ["0", "1"], "B": ["0", "1"]},
        {"B": ["A"]},
        {"A": [0.5, 0.5], "B": [[1, 0], [1, 0]]},
    )
    with pytest.raises(ImpossibleDataError, match="row 1"):
        lc.impute(never, {"A": [None], "B": ["1"]})
