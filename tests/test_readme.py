"""The README shows output that was really produced, and fits one screen and a half."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from lacunet.cli import main

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_every_command_runs_and_prints_what_is_shown_below_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```console\n(\$ lacunet .*?)```", README, flags=re.DOTALL)
    commands = block.removeprefix("$ lacunet ").split("\n$ lacunet ")
    assert len(commands) == 4
    for command in commands:
        line, _, output = command.partition("\n")
        assert main(shlex.split(line)) == 0
        printed = capsys.readouterr().out
        # What all but the last print is left out, as the README says.
        assert output == (printed if command == commands[-1] else "")


def test_the_readme_has_at_most_900_words() -> None:
    assert len(README.split()) <= 900


def test_the_badge_of_the_version_is_that_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f"badge/version-{project['version']}-" in README
