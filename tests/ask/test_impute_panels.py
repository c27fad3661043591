"""Panels completed: every unit in every wave, as the panel came."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import lacunet as lc
from lacunet.cli import main

TEMPLATE = "Z -> H[t]; H[t-1] -> H[t] -> S[t]"
pytestmark = pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")  # that MAR is assumed


def long_rows(units: int = 40, waves: int = 4) -> dict[str, list[Any]]:
    """Units that come late, skip waves and leave, with a note that is no variable."""
    rng = np.random.default_rng(1)
    rows: dict[str, list[Any]] = {name: [] for name in ("who", "wave", "Z", "H", "S", "note")}
    for who in range(units):
        group, health = rng.choice(list("fm")), rng.choice(list("ab"))
        for wave in range(waves):
            health = health if rng.random() < 0.8 else rng.choice(list("ab"))
            if rng.random() < 0.25:
                continue
            cells = (f"u{who}", 2000 + wave, group, health, rng.choice(list("ny")), f"{who}/{wave}")
            for name, cell in zip(rows, cells, strict=True):
                is_hidden = name in "ZHS" and rng.random() < 0.2
                rows[name].append(None if is_hidden else cell)
    return rows


def of_units(rows: Any, **options: Any) -> lc.Data:
    return lc.Data(rows, unit="who", time="wave", **options)


@pytest.mark.parametrize("kind", ["dict", "pandas", "polars", "pyarrow", "csv"])
def test_every_unit_is_completed_in_every_wave(kind: str, tmp_path: Path) -> None:
    rows = long_rows()
    frame = pd.DataFrame(rows)
    frame.to_csv(tmp_path / "long.csv", index=False)
    given = {
        "dict": rows,
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "pyarrow": pl.from_pandas(frame).to_arrow(),
        "csv": tmp_path / "long.csv",
    }[kind]
    result = lc.learn(TEMPLATE, of_units(rows), "em")
    completed = result.impute(of_units(given), rng=1)
    assert type(completed).__module__.partition(".")[0] == {
        "dict": "builtins",
        "csv": "pyarrow",
    }.get(kind, kind)
    whole = (
        pd.DataFrame(completed if kind == "dict" else completed.to_pandas())
        if kind not in ("pandas",)
        else completed
    )
    whole["wave"] = whole["wave"].astype(int)
    assert list(whole.columns) == list(rows)
    assert len(whole) == frame["who"].nunique() * 4
    assert not whole[["who", "wave", "Z", "H", "S"]].isna().any().any()
    assert not whole.duplicated(["who", "wave"]).any()
    assert (whole.groupby("who")["Z"].nunique() == 1).all()
    both = frame.merge(whole, on=["who", "wave"], suffixes=("", "_now"))
    assert len(both) == len(frame)
    for name in ("Z", "H", "S", "note"):
        shown = both[name].notna()
        assert (both.loc[shown, name] == both.loc[shown, f"{name}_now"]).all()
    added = whole.merge(frame[["who", "wave"]], how="left", indicator=True)
    assert added.loc[added["_merge"] == "left_only", "note"].replace("", None).isna().all()


def test_a_wide_panel_comes_back_in_its_columns() -> None:
    rows = {
        "id": list(range(60)),
        "first": (["a", "b", None] * 20),
        "then": (["a", None, "b", "b"] * 15),
        "sign": (["n", "y", "n", None, "y"] * 12),
    }
    data = lc.Data(rows, waves={"H": ["first", "then"], "S": ["sign", None]})
    result = lc.learn("H[t-1] -> H[t] -> S[t]", data, "em")
    completed = result.impute(data, rng=1)
    assert list(completed) == [*rows, "S[2]"]
    assert completed["id"] == rows["id"]
    for name in ("first", "then", "sign"):
        pairs = zip(rows[name], completed[name], strict=True)
        assert all(now is not None and before in (now, None) for before, now in pairs)


def test_draws_of_a_panel_are_those_of_its_units_as_rows() -> None:
    rows = long_rows()
    data = of_units(rows)
    result = lc.learn(TEMPLATE, data, "em", intervals=True)
    names = list(dict.fromkeys(rows["who"]))
    wide: dict[str, list[Any]] = {v: [None] * len(names) for v in result.network.variables}
    for who, wave, z, h, s, _ in zip(*rows.values(), strict=True):
        row = names.index(who)
        wide["Z"][row] = wide["Z"][row] or z
        wide[f"H[{wave}]"][row], wide[f"S[{wave}]"][row] = h, s
    by_units = result.impute(wide, draws=3, rng=5)
    by_waves = result.impute(data, draws=3, rng=5)
    for ours, theirs in zip(by_waves, by_units, strict=True):
        for place, who in enumerate(ours["who"]):
            unit, wave = names.index(who), ours["wave"][place]
            for name, node in (("Z", "Z"), ("H", f"H[{wave}]"), ("S", f"S[{wave}]")):
                assert ours[name][place] == theirs[node][unit]


def test_the_shell_completes_panels(tmp_path: Path) -> None:
    rows = long_rows()
    pd.DataFrame(rows).to_csv(tmp_path / "long.csv", index=False)
    lc.learn(TEMPLATE, of_units(rows), "em", intervals=True).write(tmp_path / "result.json")
    words = ["impute", str(tmp_path / "result.json"), str(tmp_path / "long.csv")]
    words += ["--unit", "who", "--time", "wave", "--draws", "2"]
    assert main([*words, "-o", str(tmp_path / "whole.csv")]) == 0
    for number in (1, 2):
        whole = pd.read_csv(tmp_path / f"whole-{number}.csv")
        assert len(whole) == whole["who"].nunique() * 4
        assert not whole[["Z", "H", "S"]].isna().any().any()
