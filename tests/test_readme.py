"""The README shows output that was really produced."""

import re
import shlex
from pathlib import Path

import pytest

from lacunet.cli import main

README = (Path(__file__).parent.parent / "README.md").read_text()


def test_every_console_block_is_what_the_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```console\n\$ lacunet (.*?)\n(.*?)```", README, flags=re.DOTALL)
    assert len(blocks) >= 2
    for command, printed in blocks:
        assert main(shlex.split(command)) == 0
        assert capsys.readouterr().out == printed
