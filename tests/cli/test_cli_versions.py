"""What a bug report is asked for."""

from __future__ import annotations

import platform
import re
from pathlib import Path

import numpy as np
import pytest

import lacunet
from lacunet.cli import main
from lacunet.cli.versions import CORE


def test_versions_are_those_of_what_is_imported(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version", "--verbose"])
    assert ended.value.code == 0
    versions = dict(re.findall(r"^(\S+) +(.+)$", capsys.readouterr().out, re.MULTILINE))
    assert versions["lacunet"] == lacunet.__version__
    assert versions["numpy"] == np.__version__
    assert platform.python_version() in versions["python"]


def test_what_is_not_installed_is_said_to_be_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lacunet.cli.versions.OPTIONAL", ("no-such-library",))
    with pytest.raises(SystemExit):
        main(["--version", "--verbose"])
    assert re.search(r"^no-such-library +not installed$", capsys.readouterr().out, re.MULTILINE)


def test_all_core_dependencies_are_listed() -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    needed = text.split("\ndependencies = [")[1].split("]")[0]
    assert set(re.findall(r'"([a-z_]+)>=', needed)) == set(CORE)
