"""Networks for imputation, as users learn them, write them and complete rows with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import lacunet as lc
from lacunet.cli import main
from lacunet.errors import LacunetError
from lacunet.learning.imputation_model import ImputationModel
from lacunet.sklearn import BayesianNetworkImputer


def patients(rows: int = 300, seed: int = 0) -> pd.DataFrame:
    """Categories, numbers and whole numbers that go with each other; a fifth of each is missing."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, rows)
    whole = pd.DataFrame(
        {
            "Age": pd.array(age, dtype="Int64"),
            "Dose": (age / 10 + rng.normal(0, 1, rows)).round(2),
            "Ill": pd.Categorical(np.where(rng.random(rows) < age / 100, "yes", "no")),
            "Town": rng.choice(["a", "b", "c"], rows),
        },
        index=pd.RangeIndex(100, 100 + rows),
    )
    return whole.mask(rng.random(whole.shape) < 0.2)


@pytest.fixture(scope="module")
def model() -> ImputationModel:
    return lc.learn_structure(patients(), purpose="imputation", rng=0)


def test_completed_rows_keep_what_was_shown_with_its_type(model: ImputationModel) -> None:
    rows = patients()
    for whole in (model.impute(rows, rng=1), *model.impute(rows, draws=3, rng=1)):
        assert whole.dtypes.equals(rows.dtypes)
        assert whole.index.equals(rows.index)
        assert whole.notna().all(axis=None)
        for name in rows:
            shown = rows[name].notna()
            assert whole[name][shown].equals(rows[name][shown])
            assert {*whole[name]} <= {*rows[name][shown]}  # numbers, too, are observed ones


def test_numbers_go_with_the_other_columns(model: ImputationModel) -> None:
    rows = patients()
    hidden = rows["Dose"].isna() & rows["Age"].notna()
    tables = model.impute(rows, draws=20, rng=2)
    slopes = [np.polyfit(t["Age"][hidden].astype(float), t["Dose"][hidden], 1)[0] for t in tables]
    # Of so many hidden cells the standard error of a slope is .007.
    assert abs(np.mean(slopes) - 0.1) < 4 * 0.007


def test_a_seed_gives_the_same_tables_and_draws_differ(model: ImputationModel) -> None:
    rows = patients()
    one, other = model.impute(rows, draws=2, rng=3)
    again, _ = model.impute(rows, draws=2, rng=3)
    assert one.equals(again)
    assert not one.equals(other)


def test_what_is_written_is_read_and_draws_the_same(model: ImputationModel, tmp_path: Path) -> None:
    model.write(tmp_path / "model.json.gz")
    read = lc.read_result(tmp_path / "model.json.gz")
    rows = patients(40, seed=5)
    assert read.impute(rows, rng=4).equals(model.impute(rows, rng=4))
    model.write(tmp_path / "bare.json", donors=False)
    bare = lc.read_result(tmp_path / "bare.json")
    assert bare.donors is None
    assert bare.impute(rows, rng=4).notna().all(axis=None)
    with pytest.raises(LacunetError, match=r"model\.bif"):
        model.write(tmp_path / "model.bif")


def test_pairs_that_are_kept_are_shrunk_less() -> None:
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(rng.choice(list("uvwxyz"), (200, 4)), columns=list("ABCD"))
    rows = rows.mask(rng.random(rows.shape) < 0.2)

    def effect(**options: Any) -> float:
        dense = lc.learn_structure(rows, purpose="imputation", rng=0, **options).dense
        return float(np.mean([np.abs(p.effects).mean() for p in dense.at if p.effects.size]))

    assert effect(keep_pairs="A, B, C, D") > 1.5 * effect()


def test_frames_of_polars_and_rows_without_a_column_are_completed(model: ImputationModel) -> None:
    frame = pl.DataFrame({"Age": [30, None], "Dose": [None, 6.5], "Ill": ["yes", None]})
    whole = model.impute(lc.Data(frame, latent=["Town"]), rng=0)
    assert whole.null_count().sum_horizontal().item() == 0
    assert {*whole["Town"]} <= {"a", "b", "c"}
    assert whole.select("Age", "Dose").schema == frame.select("Age", "Dose").schema


def test_columns_that_learning_never_saw_are_refused(model: ImputationModel) -> None:
    rows = patients(20, seed=3).assign(Weight=70.0)
    with pytest.raises(LacunetError, match="'Weight'"):
        model.impute(rows)
    kept = model.impute(lc.Data(rows, without=["Weight"]), rng=0)
    assert kept["Weight"].eq(70.0).all()
    with pytest.raises(LacunetError, match="'Dose'"):
        model.impute(patients(20).drop(columns="Dose"))
    with pytest.raises(ValueError, match="Weight"):
        BayesianNetworkImputer().fit(patients()).transform(rows)


def test_columns_that_were_left_out_are_known(tmp_path: Path) -> None:
    rows = patients().assign(Id=range(300))
    model = lc.learn_structure(lc.Data(rows, without=["Id"]), purpose="imputation", rng=0)
    assert model.impute(rows, rng=0)["Id"].equals(rows["Id"])
    model.write(tmp_path / "model.json")
    assert lc.read_result(tmp_path / "model.json").left_out == ("Id",)


def _spoilt(name: str, cells: list[Any]) -> pd.DataFrame:
    rows = patients()
    column = rows[name].astype(object)
    column.iloc[: len(cells)] = cells
    return rows.assign(**{name: column})


BAD: dict[str, tuple[pd.DataFrame, str]] = {
    "no value": (patients().assign(Empty=None), "'Empty'"),
    "infinite": (_spoilt("Dose", [np.inf, 1.0]), "inf"),
    "minus infinity among few numbers": (
        patients().assign(Score=[-np.inf, *np.arange(299.0) % 7]),
        "-inf",
    ),
    "three decimal commas": (
        patients().assign(Text=["1,5", "2,5", "3,5", *map(str, np.arange(297) / 8)]),
        "1,5",
    ),
}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.filterwarnings("ignore::lacunet.errors.LacunetWarning")
def test_bad_columns_are_named_with_their_values(kind: str) -> None:
    rows, named = BAD[kind]
    with pytest.raises(LacunetError, match=named):
        lc.learn_structure(rows, purpose="imputation")
    for edges in (None, "tree"):
        with pytest.raises(LacunetError, match=named):
            BayesianNetworkImputer(edges).fit(rows)


def test_states_that_are_given_and_never_shown_cannot_be_drawn() -> None:
    data = lc.Data(patients().assign(Empty=None), states={"Empty": ["p", "q"]})
    with pytest.raises(LacunetError, match="'Empty'"):
        lc.learn_structure(data, purpose="imputation")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"purpose": "guessing"}, "guessing"),
        ({"purpose": "imputation", "max_parents": 2}, "max_parents"),
        ({"purpose": "imputation", "keep_pairs": "Age, Wealth"}, "Wealth"),
        ({"keep_pairs": ["Age", "Ill"]}, "keep_pairs"),
    ],
)
def test_arguments_of_the_other_purpose_are_refused(options: dict[str, Any], named: str) -> None:
    with pytest.raises(LacunetError, match=named):
        lc.learn_structure(lc.Data(patients(), bins="auto"), **options)


LEARN = "structure rows.csv --purpose imputation -o model.json --json"
COMPLETE = "impute model.json rows.csv --draws 2 --seed 1 -o filled.csv"


def test_the_commands_learn_and_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    patients().to_csv("rows.csv", index=False)
    assert (
        main(["structure", "rows.csv", "--purpose", "imputation", "-o", "model.json", "--json"])
        == 0
    )
    assert {*json.loads(capsys.readouterr().out)["variables"]} == {*patients()}
    assert (
        main(
            ["impute", "model.json", "rows.csv", "--draws", "2", "--seed", "1", "-o", "filled.csv"]
        )
        == 0
    )
    first, second = pd.read_csv("filled-1.csv"), pd.read_csv("filled-2.csv")
    assert first.notna().all(axis=None)
    assert not first.equals(second)
    assert main(["query", "model.json", "Ill"]) == 1  # it completes rows, and answers no queries
    assert "model.json" in capsys.readouterr().err


def test_no_query_is_answered(model: ImputationModel) -> None:
    with pytest.raises(AttributeError):
        model.query  # type: ignore[attr-defined]  # noqa: B018
