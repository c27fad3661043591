"""``lacunet studio`` as it is started and ended."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from lacunet.cli import main


def test_the_studio_serves_its_address_until_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("A,B\nno,yes\nyes,no\n")
    words = [sys.executable, "-m", "lacunet", "studio", str(tmp_path / "rows.csv"), "--no-browser"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        address = urlsplit(run.stdout.readline().strip())
        assert address.hostname == "127.0.0.1"
        connection = HTTPConnection(address.netloc, timeout=30)
        token = parse_qs(address.query)["token"][0]
        connection.request("GET", "/state", headers={"X-Studio-Token": token})
        state = json.loads(connection.getresponse().read())
        connection.close()
        run.send_signal(signal.SIGINT)
        _, notes = run.communicate(timeout=30)
    assert state["project"]["data"] == "rows.csv"
    assert run.returncode == 0
    assert "lacunet-studio" in notes
    assert (tmp_path / "lacunet-studio" / "project.json").is_file()


@pytest.mark.parametrize("words", [["nowhere"], ["--port", "99999"]])
def test_a_place_or_port_that_is_none_is_refused(
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["studio", "--no-browser", *words]) == 1
    assert words[-1] in capsys.readouterr().err
