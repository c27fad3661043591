"""Files are replaced whole, through links, with their mode; devices and pipes are written to."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from examples import RAIN
from lacunet.atomic_files import replacing
from lacunet.data.write import write_table
from lacunet.errors import LacunetError
from lacunet.inference.sampling import sample_codes
from lacunet.network.formats.files import read_network, write_network

Writer = Callable[[Path], None]
WRITERS: dict[str, Writer] = {
    "out.bif": lambda path: write_network(RAIN, path),
    "out.csv": lambda path: write_table(
        sample_codes(RAIN, 3, np.random.default_rng(0)), RAIN, path
    ),
}
each_writer = pytest.mark.parametrize("name", WRITERS)


@each_writer
def test_a_pipe_is_written_to(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append((tmp_path / name).read_bytes()))
    reader.start()
    WRITERS[name](tmp_path / name)
    reader.join(10)
    assert received[0].startswith((b"network", b"Rain,"))
    assert stat.S_ISFIFO(os.stat(tmp_path / name).st_mode)


@each_writer
def test_a_link_to_a_device_stays_one(tmp_path: Path, name: str) -> None:
    (tmp_path / name).symlink_to(os.devnull)
    WRITERS[name](tmp_path / name)
    assert os.readlink(tmp_path / name) == os.devnull
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    assert os.listdir(tmp_path) == [name]


@each_writer
def test_the_mode_of_a_file_that_is_replaced_is_kept(tmp_path: Path, name: str) -> None:
    for mode in (0o600, 0o664, 0o755):
        (tmp_path / name).write_text("before")
        (tmp_path / name).chmod(mode)
        WRITERS[name](tmp_path / name)
        assert stat.S_IMODE(os.stat(tmp_path / name).st_mode) == mode
        assert (tmp_path / name).read_text() != "before"


def test_the_mode_holds_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes: list[int] = []
    open_file = os.open

    def watched(path: str, flags: int, mode: int = 0o777) -> int:
        descriptor = open_file(path, flags, mode)
        modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        return descriptor

    monkeypatch.setattr(os, "open", watched)
    (tmp_path / "out").write_text("before")
    before = os.umask(0)
    try:
        for mode in (0o600, 0o640, 0o664):
            (tmp_path / "out").chmod(mode)
            with replacing(tmp_path / "out") as file:
                (draft,) = [path for path in tmp_path.iterdir() if path.name != "out"]
                modes.append(stat.S_IMODE(draft.stat().st_mode))
                file.write(b"after")
            assert [now & ~mode for now in modes] == [0] * len(modes)
            assert modes[-1] == mode
            modes.clear()
    finally:
        os.umask(before)


@each_writer
def test_a_read_only_file_is_not_replaced(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).write_text("before")
    # A superuser may write everything; so the answer of the system is given by hand.
    monkeypatch.setattr(os, "access", lambda path, _: not str(path).endswith(name))
    with pytest.raises(LacunetError, match=f"{name}.*read-only"):
        WRITERS[name](tmp_path / name)
    assert (tmp_path / name).read_text() == "before"


def test_a_name_of_the_greatest_length_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("a" * 251 + ".bif")
    write_network(RAIN, path)
    assert read_network(path) == RAIN


def test_an_interrupt_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("before")

    def interrupted() -> None:
        with replacing(tmp_path / "out") as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert (tmp_path / "out").read_text() == "before"
    assert os.listdir(tmp_path) == ["out"]
