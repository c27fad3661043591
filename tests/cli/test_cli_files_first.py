"""Files are written before anything is printed: a closed pipe or a full disk loses no result."""

from __future__ import annotations

import errno
import io
import subprocess
import sys
from pathlib import Path

import pytest

from examples import RAIN
from lacunet.cli import main
from lacunet.errors import LacunetError
from lacunet.network.formats.files import write_network

WRITING = {
    "learn": "learn rain.bif rain.csv --method direct-mcar -o OUT.bif --report OUT.html --json",
    "diagnose": "diagnose rain.bif rain.csv --missingness-out OUT.txt --report OUT.html",
    "structure": "structure rain.csv --strengths 0 -o OUT.bif",
    "recover": "recover rain.bif graph.txt --report OUT.html",
    "implications": "recover rain.bif graph.txt --implications --report OUT.html",
    "effect": "effect rain.bif Wet --do Rain --forest OUT.svg",
    "simulate": "simulate rain.bif --rows 5 --hide mar -o OUT.csv --missingness-out OUT.txt",
    "convert": "convert Rain->Wet rain.csv -o OUT.json",
    "predict": "predict rain.bif rain.csv --targets Wet -o OUT.csv --json",
    "impute": "impute rain.bif rain.csv -o OUT.csv --json",
}


class _Refusing(io.TextIOBase):
    """A stream that nothing can be written to."""

    def __init__(self, error: OSError) -> None:
        self.error = error

    def write(self, _: str) -> int:
        raise self.error


def _words(command: str) -> list[str]:
    """The words of the command, with the files that it reads."""
    write_network(RAIN, "rain.bif")
    rows = "Rain,Sprinkler,Wet\n" + "no,off,no\nyes,,yes\nno,on,\nyes,on,no\n" * 5
    Path("rain.csv").write_text(rows)
    Path("graph.txt").write_text("Rain -> R[Wet]")
    return WRITING[command].split()


@pytest.mark.parametrize(
    ("error", "code"),
    [(BrokenPipeError(errno.EPIPE, "broken"), 0), (OSError(errno.ENOSPC, "no space"), 1)],
    ids=["closed pipe", "full disk"],
)
@pytest.mark.parametrize("command", WRITING)
def test_a_stream_that_takes_nothing_costs_no_file(
    command: str, error: OSError, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = _words(command)
    monkeypatch.setattr(sys, "stdout", _Refusing(error))
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert main(words) == (0 if command == "convert" else code)  # it prints nothing
    sys.stdout.close()
    assert all(Path(word).stat().st_size > 0 for word in words if word.startswith("OUT"))


@pytest.mark.parametrize(
    "error",
    [BrokenPipeError(errno.EPIPE, "broken"), OSError(errno.ENOSPC, "no space")],
    ids=["closed pipe", "full disk"],
)
@pytest.mark.parametrize("command", WRITING)
def test_notes_that_cannot_be_written_cost_no_file(
    command: str, error: OSError, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = _words(command)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setattr(sys, "stderr", _Refusing(error))
    assert main(words) == 0
    assert all(Path(word).stat().st_size > 0 for word in words if word.startswith("OUT"))


@pytest.mark.parametrize("command", ["learn", "diagnose", "recover"])
def test_a_page_that_cannot_be_written_costs_no_text(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def full(*_: object) -> None:
        raise LacunetError("no space is left.")

    monkeypatch.chdir(tmp_path)
    words = _words(command)
    monkeypatch.setattr("lacunet.show.pages.kit.write_page", full)
    assert main(words) == 1
    printed = capsys.readouterr()

    assert printed.out.count("\n") >= 1
    assert len(printed.out) > 50


def test_what_is_noted_of_rows_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    _words("learn")
    for command in (
        "learn rain.bif more.csv",
        "evaluate rain.bif --data more.csv",
        "diagnose rain.bif more.csv",
        "sensitivity rain.bif more.csv --query Wet=yes --mechanism Wet --method direct-mar",
    ):
        rows = Path("rain.csv").read_text().replace("\n", ",x\n").replace(",x", ",Day", 1)
        Path("more.csv").write_text(rows)
        assert main(command.split()) == 0
        told = capsys.readouterr().err.splitlines()
        assert sum("ignored" in line and line.endswith(": Day.") for line in told) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_log_on_a_full_disk_changes_neither_the_files_nor_the_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [sys.executable, "-m", "lacunet", *_words("structure")]
    with open("/dev/full", "w") as full:
        done = subprocess.run(words, check=False, stdout=subprocess.DEVNULL, stderr=full)
    assert done.returncode == 0
    assert Path("OUT.bif").exists()
