"""One spelling and one meaning for every option: all commands against the table in the docs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from lacunet.cli import main
from lacunet.cli.parsing import COMMANDS, IMMEDIATE, command_parser

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
PARSERS = {name: command_parser(name) for name in COMMANDS}
OPTIONS = {
    name: {text for text in parser._option_string_actions if text.startswith("--")}
    - {"--help", "--help-all"}
    for name, parser in PARSERS.items()
}


def tables() -> list[list[list[str]]]:
    """The cells of each table of the page, without its header."""
    found: list[list[list[str]]] = []
    for block in re.findall(r"(?:^\|.*\n)+", PAGE, re.MULTILINE):
        lines = [line.strip("|\n").split(" | ") for line in block.splitlines()[2:]]
        found.append([[cell.strip() for cell in line] for line in lines])
    return found


def codes(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


_BY_AIM, SETS, SHARED = tables()
COMMANDS_OF = {
    "data": set(codes(SETS[0][1])),
    "edges": set(codes(SETS[1][1])),
    "methods": set(codes(SETS[2][1])),
    "long": set(COMMANDS) - set(codes(SETS[3][1])),
}


def commands_in(cell: str) -> set[str]:
    """The commands that a cell of the table names."""
    if cell.startswith("all but"):
        return set(COMMANDS) - set(codes(cell))
    named = set(codes(cell)) & set(COMMANDS)
    return named.union(*(COMMANDS_OF[one] for one in re.findall(r"\*(\w+)\*", cell)))


# option: (its metavar, the commands that have it)
TABLE = {
    spelled.split()[0]: (spelled.partition(" ")[2], commands_in(commands))
    for options, _, _, commands in SHARED
    for spelled in codes(options)
    if spelled.startswith("--")
}
ANY_VALUE = {"--query", "--output", "--accelerate"}  # each command says more of the value


def test_the_table_has_every_option_that_several_commands_share() -> None:
    every = [option for own in OPTIONS.values() for option in own]
    shared = {option for option in every if every.count(option) > 1}
    assert shared - set(TABLE) == set()
    assert set(TABLE) - set(every) == set()


@pytest.mark.parametrize("option", TABLE)
def test_an_option_is_spelled_alike_on_exactly_the_commands_of_the_table(option: str) -> None:
    metavar, commands = TABLE[option]
    assert {name for name, own in OPTIONS.items() if option in own} == commands
    spelled = set()
    for name in commands:
        action = PARSERS[name]._option_string_actions[option]
        if action.metavar is not None or not action.choices:
            spelled.add(action.metavar or "")
    if option not in ANY_VALUE:
        expected = {"T"} if option == "--time-limit" else set()  # of methods, by their own field
        assert spelled - expected <= {metavar}


def test_the_sets_of_commands_are_what_the_page_says_they_are() -> None:
    assert {name for name in COMMANDS if "--sql" in OPTIONS[name]} == COMMANDS_OF["data"]
    assert {*EDGED} == COMMANDS_OF["edges"]
    assert COMMANDS_OF["long"] == set(COMMANDS) - set(IMMEDIATE)


def test_every_command_that_draws_has_a_seed_and_every_page_hides_small_counts() -> None:
    for name, own in OPTIONS.items():
        if "--method" in own and "--restarts" in own:
            assert "--seed" in own, name


@pytest.mark.parametrize(
    ("typed", "offer"),
    [
        (["lern"], "'learn'"),
        (["--versoin"], "'--version'"),
        (["learn", "asia", "rows.csv", "--metod", "em"], "'--method'"),
        (["learn", "asia", "rows.csv", "--intervalls"], "'--intervals'"),
        (["learn", "asia", "rows.csv", "--threshold", "3"], "lacunet sensitivity"),
        (["query", "asia", "lung", "--method", "em"], "lacunet learn"),
        (["predict", "asia", "rows.csv", "--target", "lung"], "'--targets'"),
        (["learn", "asia", "rows.csv", "--unknown", "mising"], "'missing'"),
    ],
)
def test_what_was_probably_meant_is_offered(
    typed: list[str], offer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(typed)
    assert stopped.value.code == 2
    told = capsys.readouterr().err
    assert f"{offer}" in told
    assert len(told.splitlines()) == 2


def test_methods_and_states_are_offered_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "rows.csv"
    assert main(["simulate", "asia", "--rows", "5", "-o", str(rows)]) == 0
    assert main(["learn", "asia", str(rows), "--method", "factored-mra"]) == 1
    assert "'factored-mar'" in capsys.readouterr().err
    assert main(["query", "asia", "lung|smoke=yess"]) == 1
    assert "'yes'" in capsys.readouterr().err


EDGED = {
    "learn": ["--method", "direct-mcar"],
    "effect": ["Wet", "--do", "Rain", "--missingness", "Rain -> R[Wet]"],
    "explain": [],
    "diagnose": [],
    "sensitivity": ["--query", "Wet=yes", "--mechanism", "Wet"],
    "count": ["-o", "OUT.parquet"],
    "convert": ["-o", "OUT.json"],
    "recover": ["--data", "rows.csv"],
}


@pytest.mark.parametrize("name", EDGED)
def test_edges_stand_in_for_a_network(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("Rain,Wet\n" + "no,no\nyes,\nyes,yes\nno,\n" * 20)
    Path("graph.txt").write_text("Rain -> R[Wet]\n")
    Path("edges.txt").write_text("Rain Wet\n")
    file = "graph.txt" if name == "recover" else "rows.csv"
    for edges in ("Rain -> Wet", "edges.txt"):
        assert main([name, edges, file, "--states", "Wet=no,yes", *EDGED[name]]) == 0


def test_edges_without_data_need_all_states(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "A -> B", "--states", "A=0,1"]) == 1
    assert "which states B have" in capsys.readouterr().err
    assert main(["explain", "A -> B", "--states", "A=0,1", "--states", "B=0,1"]) == 0


def test_no_command_imports_numpy_before_it_runs() -> None:
    script = (
        "import importlib, sys\n"
        "from lacunet.cli.parsing import COMMANDS\n"
        "import lacunet.cli\n"
        "for name in COMMANDS: importlib.import_module(f'lacunet.cli.{name}')\n"
        "heavy = ('numpy', 'scipy', 'pyarrow', 'networkx', 'narwhals', 'tqdm', 'pandas')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    words = [sys.executable, "-c", script]
    environment = {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.strip() == "[]"
