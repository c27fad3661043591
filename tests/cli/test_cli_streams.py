"""Streams that are closed or narrow, results that cannot be written, and Ctrl-C."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from examples import RAIN
from lacunet.cli import main
from lacunet.network.formats.files import read_network, write_network
from lacunet.network.network import Network

LACUNET = [sys.executable, "-m", "lacunet"]


@pytest.fixture
def rain(tmp_path: Path) -> list[str]:
    write_network(RAIN, tmp_path / "rain.bif")
    (tmp_path / "rain.csv").write_text("Rain,Sprinkler,Wet\nno,off,no\nyes,,yes\nno,on,\n")
    return [str(tmp_path / "rain.bif"), str(tmp_path / "rain.csv")]


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_are_no_reason_to_die(closed: str, rain: list[str]) -> None:
    words = " ".join([*LACUNET, "learn", *rain, closed])
    done = subprocess.run(["sh", "-c", words], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "Traceback" not in done.stdout + done.stderr


def test_a_terminal_without_unicode_is_spelled_out(tmp_path: Path) -> None:
    network = Network({"Gr\u00f6\u00dfe": ["klein", "gro\u00df"]})
    write_network(network, tmp_path / "net.json")
    (tmp_path / "data.csv").write_text("Gr\u00f6\u00dfe\nklein\n\n", encoding="utf-8")
    words = [*LACUNET, "learn", str(tmp_path / "net.json"), str(tmp_path / "data.csv")]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert "Gr\\xf6\\xdfe" in done.stdout


@pytest.mark.parametrize(("command", "shown"), [("learn", "3 CPTs"), ("structure", "3 variables")])
def test_what_was_learned_is_not_lost_when_it_cannot_be_written(
    command: str,
    shown: str,
    rain: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import lacunet.network.formats.files as files

    real = files.replacing

    def full(path: str) -> Any:
        if path.endswith(".bif"):
            raise OSError(28, "No space left on device")
        return real(path)

    monkeypatch.setattr(files, "replacing", full)
    read = rain if command == "learn" else rain[1:]
    assert main([command, *read, "-o", str(Path(rain[0]).with_name("out.bif"))]) == 1
    printed = capsys.readouterr()
    assert shown in printed.out
    saved = printed.err.split("the learned network is in ")[1].strip().rstrip(".")
    assert read_network(saved).has_cpts


def test_the_network_that_is_read_is_not_written_over(
    rain: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["learn", *rain, "-o", rain[0]]) == 1
    capsys.readouterr()
    assert read_network(rain[0]) == RAIN


def test_an_interrupted_run_writes_the_best_so_far_and_exits_130(
    rain: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from lacunet.inference.engine import Engine

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Engine, "expect", interrupted)
    out = tmp_path / "best.bif"
    assert main(["learn", *rain, "--method", "em", "-o", str(out)]) == 130
    assert read_network(str(out)).has_cpts


@pytest.mark.parametrize("memory", ["1", "0.0001"])
def test_sensitivity_says_what_of_the_rows_it_did_not_read(
    memory: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{a},{a if k % 3 else ''},{k}" for k in range(3_000) for a in ("no", "yes")]
    (tmp_path / "rows.csv").write_text("\n".join(["Age,Ill,id", *rows]) + "\n")
    network = Network({"Age": ["no", "yes"], "Ill": ["no", "yes"]}, {"Ill": ["Age"]})
    write_network(network, tmp_path / "net.json")
    files = [str(tmp_path / "net.json"), str(tmp_path / "rows.csv")]
    asked = ["--query", "Ill=yes", "--mechanism", "Ill", "--memory", memory]
    assert main(["sensitivity", *files, *asked]) == 0
    assert ": id." in capsys.readouterr().err
