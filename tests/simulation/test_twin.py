"""Synthetic twins: rows that nobody gave, with the columns and the holes of a table."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import lacunet as lc
from lacunet.cli import main
from lacunet.data.read import read_table
from lacunet.simulation.simulate import SimulationError

pytestmark = pytest.mark.filterwarnings("ignore::lacunet.errors.LacunetWarning")


def patients(number: int = 3000, seed: int = 0) -> pd.DataFrame:
    """The old are ill more often; who is old often misses the test, which then has no date."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 90, number)
    ill = rng.random(number) < np.where(age > 60, 0.5, 0.1)
    test = np.where(rng.random(number) < np.where(ill, 0.9, 0.1), "pos", "neg").astype(object)
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, number), "D")
    frame = pd.DataFrame({"Age": age, "Ill": ill, "Test": test, "Day": day})
    frame["Ill"] = frame["Ill"].map({True: "yes", False: "no"})
    skips = rng.random(number) < np.where(age > 60, 0.6, 0.1)
    frame.loc[skips, ["Test", "Day"]] = None
    frame.loc[rng.random(number) < 0.2, "Ill"] = None
    return frame


def learned(frame: Any, **options: Any) -> lc.Result:
    return lc.learn("Age -> Ill -> Test; Day", lc.Data(frame, bins="auto"), **options)


def codes_of(frame: Any, network: lc.Network) -> dict[str, np.ndarray]:
    table = read_table(frame, network)
    sizes = table.cardinality_of
    return {name: np.minimum(codes, sizes[name]) for name, codes in table.columns.items()}


def distance(one: dict[str, np.ndarray], two: dict[str, np.ndarray]) -> float:
    """The mean total variation of two columns together, over all pairs of columns."""
    distances = []
    for first, second in combinations(one, 2):
        size = 1 + max(int(one[second].max()), int(two[second].max()))
        cells = [of[first].astype(int) * size + of[second] for of in (one, two)]
        number = 1 + max(int(each.max()) for each in cells)
        shares = [np.bincount(each, minlength=number) / len(each) for each in cells]
        distances.append(np.abs(shares[0] - shares[1]).sum() / 2)
    return float(np.mean(distances))


def test_a_twin_misses_what_the_table_misses() -> None:
    frame = patients()
    result = learned(frame)
    twin = result.sample(3000, missing=True, rng=1)
    assert list(twin) == list(frame)
    assert twin.equals(result.sample(3000, missing=True, rng=1))
    assert not twin.equals(result.sample(3000, missing=True, rng=2))
    for where in (slice(None), "old", "young"):
        parts = []
        for each in (frame, twin):
            rows = each["Age"] > 60 if where == "old" else each["Age"] <= 60
            parts.append(each if isinstance(where, slice) else each[rows])
        real, made = (part.isna() for part in parts)
        for name in frame:
            share = real[name].mean()
            spread = np.sqrt(max(share * (1 - share), 1e-4) * (1 / len(real) + 1 / len(made)))
            assert abs(made[name].mean() - share) < 4 * spread, (where, name)
        assert (made["Test"] == made["Day"]).all()  # they are missing together
    assert (pd.crosstab(twin["Ill"], twin["Test"], normalize="index")["pos"] > [0.05, 0.8]).all()


def test_numbers_of_a_twin_are_numbers_that_were_observed() -> None:
    frame = patients()
    twin = learned(frame).sample(500, missing=True, rng=1, library="pyarrow")
    assert twin.schema.field("Age").type == pa.int64()
    assert twin.schema.field("Day").type == pa.date32()
    assert set(twin["Age"].to_pylist()) <= set(frame["Age"].tolist())
    days = {day.date() for day in frame["Day"].dropna()}
    assert set(twin["Day"].drop_null().to_pylist()) <= days


@pytest.mark.parametrize("seed", range(2))
def test_pairs_of_columns_of_a_twin_are_as_near_as_chance_has_them(seed: int) -> None:
    frame = lc.example_data("nhanes").to_pandas().sample(2000, random_state=seed)
    data = lc.Data(frame, bins="auto")
    structure = lc.learn_structure(data, rng=0, strengths=0, method="closed-form")
    result = lc.learn(structure.network, frame)
    table = codes_of(frame, result.network)
    rng = np.random.default_rng(seed)
    noise = []
    for _ in range(10):
        chosen = rng.integers(0, len(frame), len(frame))
        noise.append(distance(table, {name: codes[chosen] for name, codes in table.items()}))
    twin = result.sample(len(frame), missing=True, rng=seed)
    assert distance(table, codes_of(twin, result.network)) < 1.2 * np.mean(noise)


def test_mechanisms_that_were_learned_are_those_of_the_twin() -> None:
    """Who is ill does not say so: the twin's ill are as rarely shown as the mechanism says."""
    truth = lc.Network(
        {"A": ["0", "1"], "B": ["0", "1"]},
        {"B": ["A"]},
        {"A": [0.5, 0.5], "B": [[0.8, 0.2], [0.3, 0.7]]},
    )
    hiding = lc.MissingByGraph("B -> R[B]", {"B": [0.1, 0.7]})
    rows = lc.simulate(truth, 4000, hiding, rng=0).to_frame()
    result = lc.learn(truth.with_tables(None), rows, "em", missingness="A -> R[B]")
    twin = result.sample(20_000, missing=True, rng=1)
    for state in "01":
        real = rows[rows["A"] == state]["B"].isna().mean()
        assert twin[twin["A"] == state]["B"].isna().mean() == pytest.approx(real, abs=0.03)
    known = result.network.sample(20_000, missing=True, rng=1)
    assert known["B"].isna().mean() == pytest.approx(rows["B"].isna().mean(), abs=0.03)


def test_who_does_not_know_the_holes_is_told_where_to_look(tmp_path: Path) -> None:
    frame = patients(800)
    result = learned(frame)
    result.write(tmp_path / "result.json")
    read = lc.read_result(tmp_path / "result.json")
    for unknowing in (read, result.network, learned(frame, donors=0)):
        with pytest.raises(SimulationError, match="missing=data"):
            unknowing.sample(10, missing=True)
    for source in (read, result.network):
        twin = source.sample(800, missing=frame, rng=0)
        assert twin["Test"].isna().mean() == pytest.approx(frame["Test"].isna().mean(), abs=0.06)
        assert set(twin["Age"]) <= {*frame["Age"]}


def test_a_table_without_holes_has_a_twin_without_holes() -> None:
    frame = patients(300).dropna()
    assert learned(frame).sample(50, missing=True, rng=0).notna().all(axis=None)


def test_a_hidden_variable_is_no_column_and_a_column_of_nulls_stays_empty() -> None:
    rng = np.random.default_rng(0)
    rows = {name: rng.choice(["0", "1"], 300).tolist() for name in "AB"} | {"C": [None] * 300}
    states = {name: ["0", "1"] for name in "HABC"}
    network = lc.Network(states, {name: ["H"] for name in "ABC"})
    result = lc.learn(network, lc.Data(rows, latent=["H"]), "em")
    twin = result.sample(100, missing=True, rng=0)
    assert list(twin) == ["A", "B", "C"]
    assert twin["C"].isna().all()
    assert twin[["A", "B"]].notna().all(axis=None)


def test_questions_that_were_not_asked_are_not_answered_in_a_twin() -> None:
    rng = np.random.default_rng(3)
    smokes = rng.choice(["no", "yes", None], 1500, p=[0.5, 0.3, 0.2])
    packs = [
        float(p) if s == "yes" else None
        for s, p in zip(smokes, rng.integers(1, 40, 1500), strict=True)
    ]
    packs = [None if rng.random() < 0.1 else pack for pack in packs]
    rows = {"Smokes": smokes.tolist(), "Packs": packs}
    data = lc.Data(rows, bins={"Packs": 4}, not_asked={"Packs": "Smokes=no"})
    twin = lc.learn("Smokes -> Packs", data, "em").sample(1500, missing=True, rng=0)
    assert twin["Packs"][twin["Smokes"] == "no"].isna().all()
    shown = twin["Packs"][twin["Smokes"] == "yes"].notna().mean()
    real = pd.DataFrame(rows)
    expected = real["Packs"][real["Smokes"] == "yes"].notna().mean()
    assert shown == pytest.approx(expected, abs=0.06)


def test_weights_of_rows_are_those_of_the_twin() -> None:
    rows = {"A": ["x", None, "y", None] * 100, "B": ["u", "v"] * 200, "w": [3.0, 1.0] * 200}
    result = lc.learn("A -> B", lc.Data(rows, weight="w"), "em")
    twin = result.sample(4000, missing=True, rng=0)
    assert twin["A"].isna().mean() == pytest.approx(0.25, abs=0.03)


@pytest.mark.parametrize("number", [0, 1, 7, 12_345])
def test_a_twin_has_so_many_rows(number: int) -> None:
    assert len(learned(patients(400)).sample(number, missing=True, rng=0)) == number


def test_the_command_draws_a_twin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = patients(600)
    rows, result, out = (str(tmp_path / name) for name in ("rows.csv", "r.json", "twin.csv"))
    frame.to_csv(rows, index=False)
    words = ["learn", "Age -> Ill -> Test; Day", rows, "--bins", "auto", "-o", result]
    assert main(words) == 0
    capsys.readouterr()
    twin = ["simulate", result, "--rows", "600", "--twin", "-o", out]
    assert main(twin) == 1
    assert "--data" in capsys.readouterr().err
    assert main([*twin, "--data", rows, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    made = pd.read_csv(out)
    assert said["rows"] == len(made) == 600
    assert said["missing"] == {n: int(k) for n, k in made.isna().sum().items() if k}
    assert made["Test"].isna().mean() == pytest.approx(frame["Test"].isna().mean(), abs=0.08)
    for wrong in (["--hide", "mcar"], ["--rate", "0.5"], ["--complete-out", rows + "x.csv"]):
        with pytest.raises(SystemExit):
            main([*twin, *wrong])
    with pytest.raises(SystemExit):
        main(["simulate", result, "--rows", "5", "-o", out, "--data", rows])
