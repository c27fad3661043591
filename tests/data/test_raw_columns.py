"""Columns that are not variables as they are: one error, and the line that it says works."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lacunet
from lacunet.cli import main
from lacunet.data.states import DatesError, IdentifierError, NumbersError, StatesError

ROWS = 400
DRAWN = np.random.default_rng(8)
RAW = ("Id", "Name", "Note", "Visit", "Age", "Dose, mg", "Answer")
TABLE = pd.DataFrame(
    {
        "Id": range(ROWS),
        "Name": [f"person {row}" for row in range(ROWS)],
        "Note": [f"came {row % 77} times" for row in range(ROWS)],
        "Visit": pd.date_range("2024-01-05", periods=ROWS, freq="D").astype(str),
        "Age": DRAWN.integers(18, 90, ROWS),
        "Dose, mg": DRAWN.lognormal(0, 1, ROWS).round(4),
        "Answer": [["refused", "not known", *map(str, range(70))][row % 72] for row in range(ROWS)],
        "Sex": DRAWN.choice(["f", "m"], ROWS),
        "Ill": DRAWN.choice(["no", "yes", None], ROWS),
    }
)
EDGES = 'Id, Name, Note, Visit, Age, "Dose, mg" -> Ill; Sex -> Ill; Answer'
LINE = re.compile(r"give (lacunet\.Data\(data, .*\)) \((--.*)\)\.", re.DOTALL)
KEPT = {"Visit", "Age", "Dose, mg", "Answer", "Sex", "Ill"}


def pasted(error: StatesError, data: Any) -> Any:
    """What the line of an error makes of the data."""
    line = LINE.search(error.hint)
    assert line is not None
    return eval(line[1], {"lacunet": lacunet, "data": data})


QUESTIONS: dict[str, Callable[[Any], Any]] = {
    "learn_structure": lambda data: lacunet.learn_structure(data, strengths=0, missingness=None),
    "diagnose": lacunet.diagnose,
    "learn_missingness": lacunet.learn_missingness,
    "from_data": lambda data: lacunet.Network.from_data(data, []),
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("kind", ["frame", "file"])
def test_all_raw_columns_are_named_in_one_error_whose_line_works(
    question: str, kind: str, tmp_path: Path
) -> None:
    source: Any = TABLE
    if kind == "file":
        source = tmp_path / "rows.csv"
        TABLE.to_csv(source, index=False)
    with pytest.raises(StatesError) as refused:
        QUESTIONS[question](source)
    assert all(repr(name) in refused.value.message for name in RAW)
    assert "'Sex'" not in str(refused.value)
    data = pasted(refused.value, source)
    network = lacunet.Network.from_data(data, [])
    assert set(network.variables) == KEPT
    assert network.cardinality_of["Age"] == network.cardinality_of["Answer"] == 5
    assert network.states("Visit")[0] == "2024Q1"
    QUESTIONS[question](data)


EDGE_QUESTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "from_data": lambda edges, data: lacunet.Network.from_data(data, edges),
    "learn": lambda edges, data: lacunet.learn(edges, data, "listwise"),
    "count": lacunet.count,
    "diagnose": lambda edges, data: lacunet.diagnose(data, edges),
    "sensitivity": lambda edges, data: lacunet.sensitivity(
        edges, data, "Ill=yes | Sex=f", mechanism="Ill"
    ),
}


@pytest.mark.parametrize("question", EDGE_QUESTIONS)
@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")
def test_edges_come_back_without_the_columns_that_are_to_be_left_out(question: str) -> None:
    with pytest.raises(StatesError) as refused:
        EDGE_QUESTIONS[question](EDGES, TABLE)
    assert all(repr(name) in refused.value.message for name in RAW)
    left = re.search(r"leave 'Id', 'Name', 'Note' out of the edges: '(.*?)';", refused.value.hint)
    assert left is not None
    data = pasted(refused.value, TABLE)
    fewer = "Age -> Ill; Sex -> Ill" if question != "from_data" else left[1]  # of CPTs that fit
    EDGE_QUESTIONS[question](fewer, data)
    network = lacunet.Network.from_data(data, left[1])
    assert set(network.variables) == KEPT
    assert set(network.parents("Ill")) == {"Visit", "Age", "Dose, mg", "Sex"}


def test_the_options_of_the_shell_work_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "rows.csv")
    TABLE.to_csv(path, index=False)
    expected = None
    for command in (["structure", path, "--strengths", "0"], ["diagnose", path]):
        assert main([*command, "--json"]) == 1
        line = LINE.search(capsys.readouterr().err)
        assert line is not None
        assert main([*command, "--json", *shlex.split(line[2])]) == 0
        capsys.readouterr()
        target = tmp_path / "net.json"
        lone = ['"Dose, mg"' if name == "Dose, mg" else name for name in sorted(KEPT)]
        options = shlex.split(line[2])
        cut = options[: options.index("--without")]
        assert main(["convert", "; ".join(lone), path, *cut, "-o", str(target)]) == 0
        capsys.readouterr()
        data = eval(line[1], {"lacunet": lacunet, "data": path})
        expected = lacunet.Network.from_data(data, "; ".join(lone))
        assert lacunet.read_network(target).cuts_of == expected.cuts_of
    assert expected is not None


@pytest.mark.parametrize(
    ("said", "column"),
    [
        ({"bins": 5}, "Visit"),
        ({"bins": {"Age": [0, 40, 99]}}, "Dose, mg"),
        ({"without": "Id", "missing": {None: ["refused"]}}, "Answer"),
        ({"states": {"Sex": ["m", "f"]}, "weight": "Age"}, "Visit"),
    ],
)
def test_the_line_repeats_what_was_said_before(said: dict[str, Any], column: str) -> None:
    data = lacunet.Data(TABLE, **said)
    with pytest.raises(StatesError, match=f"'{column}'") as refused:
        lacunet.Network.from_data(data, [])
    again = pasted(refused.value, data)
    network = lacunet.Network.from_data(again, [])
    assert set(network.variables) == KEPT - ({"Age"} if "weight" in said else set())
    alone = pasted(refused.value, TABLE)  # in place of what was said
    for option in said.keys() & {"bins", "missing", "without"}:
        assert getattr(alone, option) == getattr(again, option)


@pytest.mark.parametrize(
    ("column", "error"),
    [("Id", IdentifierError), ("Visit", DatesError), ("Age", NumbersError), ("Note", StatesError)],
)
def test_a_column_alone_has_the_error_of_its_kind(column: str, error: type[StatesError]) -> None:
    with pytest.raises(StatesError, match=f"'{column}'") as refused:
        lacunet.learn(f"{column} -> Sex", TABLE)
    assert type(refused.value) is error


def test_commas_in_numbers_are_a_matter_of_the_decimal_character(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    numbers = DRAWN.normal(50, 20, ROWS).round(2)
    TABLE[["Sex"]].assign(X=numbers).to_csv(path, index=False, sep=";", decimal=",")
    data = lacunet.Data(path, delimiter=";")
    with pytest.raises(NumbersError) as refused:
        lacunet.Network.from_data(data, "X -> Sex")
    network = lacunet.Network.from_data(pasted(refused.value, data), "X -> Sex")
    frame = lacunet.Data({"X": numbers}, bins=5)
    assert network.cuts_of == lacunet.Network.from_data(frame, "X").cuts_of
