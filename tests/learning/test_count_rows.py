"""Counted rows are data again: what two places count is learned from as all rows together."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lacunet as lc
from lacunet.counts import observations, streaming
from lacunet.data.copies_columns import KEY
from lacunet.data.errors import DataError, DataWarning, WeightError
from lacunet.data.read import read_table
from lacunet.learning.count_rows import count_into
from lacunet.learning.methods import METHODS
from lacunet.learning.result import Result

STATES = {"Age": ["0-39", "40-49", "50+"], "Smoked": ["no", "yes"], "Now": ["a", "b", "not_asked"]}
CODES = {"Age": {"40+": ["40-49", "50+"]}}
NETWORK = lc.Network(
    {"Sex": ["f", "m"], **STATES, "Ill": ["no", "yes"]},
    {"Now": ["Smoked"], "Ill": ["Age", "Now", "Sex"]},
    codes=CODES,
    not_asked={"Now": "Smoked=no"},
)
FAY = lc.ReplicateWeights(["r0", "r1", "r2", "r3"], "fay", rho=0.5)
DESIGNS: dict[str, dict[str, Any]] = {
    "plain": {},
    "counts": {"counts": "n"},
    "weights": {"weight": "w"},
    "counts and weights": {"counts": "n", "weight": "w"},
    "strata and clusters": {"weight": "w", "strata": "region", "cluster": "town"},
    "replicate weights": {"weight": "w", "replicate_weights": FAY},
}
ROWS = 360


def survey() -> pa.Table:
    """Incomplete rows with codes of several states, questions not asked, and a design."""
    rng = np.random.default_rng(11)
    smoked = rng.choice(["no", "yes"], ROWS).astype(object)
    columns: dict[str, Any] = {
        "Sex": rng.choice(["f", "m"], ROWS),
        "Age": rng.choice(["0-39", "40-49", "50+", "40+", None], ROWS),
        "Smoked": np.where(rng.random(ROWS) < 0.1, None, smoked),
        "Now": np.where(smoked == "no", None, rng.choice(["a", "b", None], ROWS)),
        "Ill": rng.choice(["no", "yes", None], ROWS, p=[0.5, 0.3, 0.2]),
        "w": rng.uniform(0.2, 3.0, ROWS),
        "n": rng.integers(1, 4, ROWS),
        "region": rng.choice(["east", "west"], ROWS),
        "town": rng.integers(0, 9, ROWS).astype(str),
    }
    columns["w"][(columns["region"] == "east") & (columns["town"] == "3")] = 0.0
    columns["w"][rng.random(ROWS) < 0.03] = 0.0
    for name in FAY.columns:
        columns[name] = columns["w"] * rng.choice([0.5, 1.5], ROWS)
    return pa.table(columns)


def options_of(method: str) -> dict[str, Any]:
    options: dict[str, Any] = {"rng": 3}
    if method.startswith("informed"):
        options["groups"] = ["Sex"]
    if method == "mgraph":
        options |= {"missingness": "Sex -> R[Ill]; R[Age]; R[Now]; R[Smoked]", "otherwise": "em"}
    return options


def assert_same(found: Result, expected: Result, *, to_the_bit: bool) -> None:
    tolerance = 0.0 if to_the_bit else 1e-12
    assert (found.rows, found.missing) == (expected.rows, expected.missing)
    for name in NETWORK.variables:
        cpt, interval = found.network.cpt(name).table, found.interval(name)
        np.testing.assert_allclose(cpt, expected.network.cpt(name).table, rtol=0, atol=tolerance)
        np.testing.assert_allclose(interval, expected.interval(name), rtol=0, atol=tolerance)
        report, own = expected.families[name], found.families[name]
        assert (own.rows_shown, own.rows_used) == (report.rows_shown, report.rows_used)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("method", METHODS)
def test_two_counted_parts_learn_what_the_whole_table_learns(
    method: str, design: str, tmp_path: Path
) -> None:
    rows, options = survey(), options_of(method)
    given = DESIGNS[design]
    beside = [name for name in rows.column_names if name not in NETWORK.variables]
    used = [given.get(role) for role in ("weight", "counts", "strata", "cluster")]
    used += FAY.columns if "replicate_weights" in given else []
    rows = rows.drop_columns([name for name in beside if name not in used])
    expected = lc.learn(NETWORK, lc.Data(rows, **given), method, intervals=True, **options)
    here, there = tmp_path / "here" / "rows.parquet", tmp_path / "there" / "rows.parquet"
    for path, part in ((here, rows.slice(0, 140)), (there, rows.slice(140))):
        path.parent.mkdir()
        pq.write_table(lc.count(NETWORK, lc.Data(part, **given)), path)
    found = lc.learn(NETWORK, [here, there], method, intervals=True, **options)
    assert_same(found, expected, to_the_bit="weight" not in given)


def test_counted_parts_have_the_intervals_of_leaving_out_each_row() -> None:
    states = {"Age": STATES["Age"], "Ill": ["no", "yes"]}
    network = lc.Network(states, {"Ill": ["Age"]}, codes=CODES)
    rows = survey().select([*states])
    parts = [lc.count(network, rows.slice(0, 100)), lc.count(network, rows.slice(100))]
    whole, found = (
        lc.learn(network, data, "mgraph", missingness="R[Age]; R[Ill]", intervals=True)
        for data in (rows, pa.concat_tables(parts))
    )
    for name in network.variables:
        np.testing.assert_array_equal(found.interval(name), whole.interval(name))


@pytest.mark.parametrize("design", ["plain", "weights", "strata and clusters"])
@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".csv"])
def test_rows_are_counted_and_read_in_pieces(
    design: str, suffix: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(observations, "HELD_SHARE", np.inf)
    data, path = lc.Data(survey(), **DESIGNS[design]), tmp_path / f"rows{suffix}"
    monkeypatch.setattr(streaming, "LEAST_ROWS", 8)
    rows, _ = count_into(path, NETWORK, data, memory=2**14)
    expected = lc.learn(NETWORK, data, "em", intervals=True)
    assert rows == expected.rows
    counted = lc.Data(path)
    if suffix == ".csv":
        counted = replace(counted, counts="copies", **DESIGNS[design])
    found = lc.learn(NETWORK, counted, "em", intervals=True, memory=2**20)
    assert_same(found, expected, to_the_bit=design == "plain")


def test_counted_rows_are_counted_again_as_what_they_stand_for() -> None:
    rows = survey()
    parts = [
        lc.count(NETWORK, lc.Data(part, weight="w")) for part in (rows.slice(0, 99), rows.slice(99))
    ]
    whole, once = lc.count(NETWORK, parts), lc.count(NETWORK, lc.Data(rows, weight="w"))
    assert whole.schema == once.schema
    for name in once.column_names:
        cells, expected = whole.column(name).to_pylist(), once.column(name).to_pylist()
        assert cells == (expected if name in NETWORK.variables else pytest.approx(expected))


def test_parts_are_joined_by_arrow_too() -> None:
    rows = survey()
    parts = [lc.count(NETWORK, part) for part in (rows.slice(0, 99), rows.slice(99))]
    learned = lc.learn(NETWORK, pa.concat_tables(parts), "em", intervals=True)
    assert_same(learned, lc.learn(NETWORK, rows, "em", intervals=True), to_the_bit=True)


@pytest.mark.parametrize("promote", ["default", "permissive"])
@pytest.mark.parametrize("is_first_weighted", [False, True])
@pytest.mark.parametrize("design", ["weights", "strata and clusters"])
def test_parts_with_and_without_weights_or_a_design_are_refused_together(
    promote: Any, is_first_weighted: bool, design: str
) -> None:
    rows = survey()
    plain = lc.count(NETWORK, rows.slice(0, 99))
    of_design = lc.count(NETWORK, lc.Data(rows.slice(99), **DESIGNS[design]))
    parts = [of_design, plain] if is_first_weighted else [plain, of_design]
    with pytest.raises(lc.LacunetError):
        lc.learn(NETWORK, pa.concat_tables(parts, promote_options=promote))
    with pytest.raises(lc.LacunetError):
        lc.learn(NETWORK, parts)


def test_a_variable_may_have_the_name_of_a_column_beside() -> None:
    network = lc.Network({"weight": ["low", "high"], "copies": ["0", "1"]})
    counted = lc.count(network, {"weight": ["low", "high", "low"], "copies": ["0", "1", "0"]})
    learned = lc.learn(network, counted, "listwise", pseudo_counts=0)
    np.testing.assert_allclose(learned.cpt("weight").table, [2 / 3, 1 / 3], rtol=1e-12)


def test_counts_without_their_description_are_named_with_the_way_out() -> None:
    frame = lc.count(NETWORK, survey()).to_pandas()
    with pytest.warns(DataWarning, match=r"counts='copies'\), --counts copies"):
        lc.learn(NETWORK, frame)
    frame = lc.count(NETWORK, lc.Data(survey(), weight="w")).to_pandas()
    named = "weight='w', counts='copies', squared_weight='squared weight'"
    with pytest.warns(DataWarning, match=named):
        lc.learn(NETWORK, frame)


def test_cells_are_the_names_of_states_and_the_codes_of_sets() -> None:
    rows = {
        "Sex": ["f", "m"],
        "Age": ["40+", "50+"],
        "Smoked": ["no", "yes"],
        "Now": [None, None],
        "Ill": ["no", ""],
    }
    counted = lc.count(NETWORK, rows).to_pylist()
    assert [[*row.values()] for row in counted] == [
        ["f", "40+", "no", "not_asked", "no", 1.0],
        ["m", "50+", "yes", None, None, 1.0],
    ]


def test_codes_and_rules_of_the_data_come_with_their_counts(tmp_path: Path) -> None:
    bare = lc.Network(NETWORK.states_of, NETWORK.parents_of)
    data = lc.Data(survey(), codes=CODES, not_asked={"Now": "Smoked=no"})
    pq.write_table(lc.count(bare, data), tmp_path / "rows.parquet")
    found = lc.learn(bare, tmp_path / "rows.parquet", "em", intervals=True)
    assert found.network.not_asked_of == NETWORK.not_asked_of
    assert_same(found, lc.learn(NETWORK, survey(), "em", intervals=True), to_the_bit=True)


def test_a_state_whose_name_is_a_code_for_another_is_read_back_as_itself() -> None:
    swapped = lc.Network({"Sex": ["1", "2"]}, codes={"Sex": {"1": "2", "2": "1"}})
    counted = lc.count(swapped, {"Sex": ["1"] * 3 + ["2"] * 5})
    assert read_table(counted, swapped).columns["Sex"].tolist() == [0, 1]
    assert lc.learn(swapped, counted, "em", pseudo_counts=0).cpt("Sex").table.tolist() == [
        5 / 8,
        3 / 8,
    ]


def test_a_latent_variable_has_no_column_and_stays_latent() -> None:
    coin = lc.Network({"Coin": ["head", "tail"], "Bent": ["no", "yes"]}, {"Coin": ["Bent"]})
    counted = lc.count(coin, lc.Data({"Coin": ["head", "tail"]}, latent=["Bent"]))
    assert counted.column_names == ["Coin", "copies"]
    assert lc.Data(counted).latent == ("Bent",)


def test_columns_are_named_so_that_no_variable_is_hidden() -> None:
    network = lc.Network({"copies": ["one", "two"]})
    counted = lc.count(network, {"copies": ["one", "one"]})
    assert counted.to_pylist() == [{"copies": "one", "copies_": 2.0}]
    assert lc.learn(network, counted, "em").rows == 2


def test_the_same_rows_twice_are_refused(tmp_path: Path) -> None:
    pq.write_table(survey(), tmp_path / "rows.parquet")
    for name in ("one.parquet", "two.parquet"):
        count_into(tmp_path / name, NETWORK, tmp_path / "rows.parquet")
    (tmp_path / "link.parquet").symlink_to(tmp_path / "one.parquet")
    for other in ("one", "two", "link"):
        with pytest.raises(DataError, match="would count twice"):
            lc.learn(NETWORK, [tmp_path / "one.parquet", tmp_path / f"{other}.parquet"])
    counted = lc.count(NETWORK, survey())
    with pytest.raises(DataError, match="Arrow table"):
        lc.learn(NETWORK, [counted, counted])


def test_parts_that_say_different_things_of_their_columns_are_refused() -> None:
    bare = lc.Network(NETWORK.states_of, NETWORK.parents_of)
    one = lc.count(bare, lc.Data(survey(), codes=CODES, unknown="missing"))
    two = lc.count(bare, lc.Data(survey(), codes={"Age": {"40+": "50+"}}, unknown="missing"))
    with pytest.raises(DataError, match="codes"):
        lc.learn(bare, [one, two])


def test_another_column_than_the_table_names_is_refused() -> None:
    with pytest.raises(WeightError, match="'copies'"):
        lc.learn(NETWORK, lc.Data(lc.count(NETWORK, survey()), counts="Age"))


@pytest.mark.parametrize(
    "said",
    [b"{", b"[]", *(json.dumps({key: 7}).encode() for key in ("counts", "latent", "codes"))],
)
def test_a_damaged_description_is_refused(said: bytes, tmp_path: Path) -> None:
    damaged = lc.count(NETWORK, survey()).replace_schema_metadata({KEY: said})
    pq.write_table(damaged, tmp_path / "rows.parquet")
    for data in (damaged, tmp_path / "rows.parquet"):
        with pytest.raises(DataError, match="damaged"):
            lc.learn(NETWORK, data)


def test_more_distinct_rows_than_memory_takes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observations, "HELD_SHARE", np.inf)
    monkeypatch.setattr(streaming, "LEAST_ROWS", 8)
    with pytest.raises(DataError, match="lacunet count"):
        lc.count(NETWORK, survey(), memory=2**10)
