"""How far the work is: a bar on a terminal, lines of JSON in a log, nothing in a pipe."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path

import pytest

from examples import RAIN
from lacunet.cli import main
from lacunet.cli.terminal import JsonLines, LiveBar, display, progress_bar
from lacunet.network.formats.files import write_network
from lacunet.progress import Bar, as_progress, silent


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    write_network(RAIN, tmp_path / "rain.bif")
    (tmp_path / "rain.csv").write_text("Rain,Sprinkler,Wet\n" + "no,off,no\nyes,,yes\nno,on,\n" * 9)
    return [str(tmp_path / "rain.bif"), str(tmp_path / "rain.csv")]


def test_a_log_has_lines_of_json(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    out = str(Path(files[0]).with_name("out.bif"))
    assert main(["learn", *files, "--method", "em", "--progress", "json", "-o", out]) == 0
    told = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    stages = [own for own in told if "stage" in own]
    assert stages
    assert all(set(own) == {"stage", "done", "total", "note", "seconds"} for own in stages)
    notes = [own for own in told if "stage" not in own]
    assert all(set(own) == {"note"} for own in notes)
    assert any(out in own["note"] for own in notes)


def test_warnings_are_lines_of_json_in_a_log(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    learned = str(Path(files[0]).with_name("learned.json"))
    assert main(["learn", *files, "--method", "em", "-o", learned]) == 0
    capsys.readouterr()
    assert main(["impute", learned, files[1], "--progress", "json"]) == 0
    told = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert any("MAR" in own["note"] for own in told)


@pytest.mark.parametrize("option", [["--progress", "json"], ["--progress=json"]])
@pytest.mark.parametrize(
    ("wrong", "code", "named", "hint"),
    [
        (["--weight", "Weigth"], 1, "'Weigth'", ""),
        (["--missingness", "Rain -> R[Snow]", "--method", "mgraph"], 1, "Snow", ""),
        (["--priro", "1"], 2, "--priro", "--help"),
        (["--pseudo-counts", "much"], 2, "'much'", "--help"),
    ],
)
def test_an_error_is_one_line_of_json_in_a_log(
    files: list[str],
    capsys: pytest.CaptureFixture[str],
    option: list[str],
    wrong: list[str],
    code: int,
    named: str,
    hint: str,
) -> None:
    try:
        ended: object = main(["learn", *files, *wrong, *option])
    except SystemExit as usage:
        ended = usage.code
    assert ended == code
    *_, told = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert set(told) == {"error", "hint"}
    assert named in told["error"]
    assert hint in told["hint"]


def test_a_pipe_gets_nothing_unless_it_asks(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for mode in ("auto", "none"):
        assert main(["learn", *files, "--method", "em", "--progress", mode]) == 0
        assert "{" not in capsys.readouterr().err


def test_a_stage_is_told_when_it_begins_and_when_it_ends() -> None:
    stream = io.StringIO()
    lines = JsonLines(stream)
    for done in range(101):
        lines("reading", done, 100)
    lines("counting", 0, None)
    told = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(own["stage"], own["done"]) for own in told] == [
        ("reading", 0),
        ("reading", 100),
        ("counting", 0),
    ]


def test_work_that_reports_nothing_is_seen_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    bar = LiveBar(stream)
    bar.beat()
    assert stream.getvalue() == ""
    bar.began -= 60  # as if it had begun a minute ago
    bar.beat()
    assert "working" in stream.getvalue()
    bar("learning", 3, 10)
    bar.beat()
    assert "learning" in stream.getvalue()
    bar.clear()
    assert stream.getvalue().endswith("\r")  # nothing is left on the line


def test_work_within_a_command_reports_to_what_the_user_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert progress_bar() is silent
    with display("json"):
        progress_bar()("reading", 1, 2)
    assert json.loads(capsys.readouterr().err)["stage"] == "reading"
    assert progress_bar() is silent


def test_true_is_a_bar_and_false_is_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    assert as_progress(False) is silent
    assert as_progress(None) is silent
    bar = as_progress(True)
    assert isinstance(bar, Bar)
    bar.bar.delay = 0
    bar("learning", 1, 2, "a note")
    time.sleep(0.15)  # tqdm draws ten times per second at most
    bar("learning", 2, 2, "a note")
    bar.close()
    assert "learning" in capsys.readouterr().err
