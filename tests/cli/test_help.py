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
from lacunet.cli.options import DATA_HELP, NETWORK_HELP
from lacunet.cli.parsing import COMMANDS, command_parser
from lacunet.data.files import FORMATS as TABLES
from lacunet.formats.endings import OF_DATA, READABLE

KEPT = Path(__file__).with_name("help")


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("learn", "NETWORK DATA [DATA ...]"),
        ("diagnose", "[NETWORK] DATA [DATA ...]"),
        ("query", "RESULT QUERY [QUERY ...]"),
        ("effect", "RESULT [DATA ...] OUTCOME"),
        ("recover", "NETWORK [GRAPH]"),
        ("impute", "NETWORK DATA [DATA ...]"),
    ],
)
def test_the_usage_names_each_kind_of_file_once(command: str, files: str) -> None:
    assert command_parser(command).format_usage().rstrip().endswith(f" {files}")


def test_the_endings_of_files_are_those_that_can_be_read() -> None:
    endings = set(re.findall(r"(?<= )\.\w+", NETWORK_HELP)) - {".gz"}
    assert endings == {*READABLE}
    tables = {ending.removesuffix(".gz") for ending in TABLES}
    assert set(re.findall(r"(?<= )\.\w+", DATA_HELP)) == tables == {*OF_DATA}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_is_as_it_was_read_and_approved(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    assert stopped.value.code == 0
    text = capsys.readouterr().out.partition("options:")[2]
    text = re.sub(r"-o (\w+), --output", "-o, --output", text)  # as Python 3.13 spells it
    text = re.sub(
        r"\n(data|databases):\n.*?\n(?=\n|$)", "\n", text, flags=re.DOTALL
    )  # shared by many commands
    path = KEPT / f"{command}.txt"
    if os.environ.get("LACUNET_WRITE_HELP"):
        path.write_text(text, encoding="utf-8")
    assert text.split() == path.read_text(encoding="utf-8").split()
