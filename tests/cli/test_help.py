"""What the commands say of themselves, word for word.

After a change that is meant: `LACUNET_WRITE_HELP=1 pytest tests/cli/test_help.py`, and read the
difference.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from lacunet.cli import main
from lacunet.cli.help import ORDINARY
from lacunet.cli.options import DATA_HELP, NETWORK_HELP
from lacunet.cli.parsing import COMMANDS, command_parser
from lacunet.data.data_files import READER_OF_ENDING as TABLES
from lacunet.network.formats.endings import OF_DATA, READABLE_FORMATS

KEPT = Path(__file__).with_name("help")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("learn", "NETWORK DATA [DATA ...]"),
        ("sensitivity", "NETWORK DATA [DATA ...] --query X=x|Y=y --mechanism VARIABLE"),
        ("diagnose", "[NETWORK] DATA [DATA ...]"),
        ("query", "RESULT QUERY [QUERY ...]"),
        ("effect", "RESULT [DATA ...] OUTCOME"),
        ("recover", "NETWORK [GRAPH]"),
        ("impute", "RESULT DATA [DATA ...]"),
    ],
)
def test_the_usage_names_each_kind_of_file_once(command: str, words: str) -> None:
    usage = " ".join(command_parser(command).format_usage().split())
    assert usage == f"usage: lacunet {command} {words} [options]"


def test_the_endings_of_files_are_those_that_can_be_read() -> None:
    endings = set(re.findall(r"(?<=[ (])\.\w+", NETWORK_HELP)) - {".gz"}
    assert endings == {*READABLE_FORMATS}
    tables = {ending.removesuffix(".gz") for ending in TABLES}
    assert set(re.findall(r"(?<= )\.\w+", DATA_HELP)) == tables == {*OF_DATA}


def printed(capsys: pytest.CaptureFixture[str], command: str, option: str) -> str:
    with pytest.raises(SystemExit) as stopped:
        main([command, option])
    assert stopped.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_is_one_screen_as_it_was_read_and_approved(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = printed(capsys, command, "--help")
    assert len(text.splitlines()) <= 45
    assert max(map(len, text.splitlines())) <= 80
    text = re.sub(r"-o (\w+), --output", "-o, --output", text)  # as Python 3.13 spells it
    path = KEPT / f"{command}.txt"
    if os.environ.get("LACUNET_WRITE_HELP"):
        path.write_text(text, encoding="utf-8")
    assert text.split() == path.read_text(encoding="utf-8").split()


@pytest.mark.parametrize("command", COMMANDS)
def test_all_options_are_in_the_whole_help_and_ordinary_ones_in_both(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = {*command_parser(command)._option_string_actions}
    ordinary = {*ORDINARY[command].split()}
    assert ordinary <= options
    short, whole = printed(capsys, command, "--help"), printed(capsys, command, "--help-all")
    assert all(re.search(rf"{option}\b", short) for option in ordinary)
    assert all(re.search(rf"(?<![\w-]){option}\b", whole) for option in options)
