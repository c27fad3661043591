"""Scratch folders are gone when the work ends, and after the next start where it was killed."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
from collections import namedtuple
from contextlib import ExitStack
from pathlib import Path
from warnings import catch_warnings, simplefilter

import numpy as np
import pytest

from lacunet.data import scratch_rows
from lacunet.data.scratch_rows import CodeWriter, ScratchError, check_free, scratch_folder
from lacunet.data.table import Codes, Copies, EncodedTable
from lacunet.errors import LacunetWarning


def test_the_folder_is_gone_after_success_and_after_failure(tmp_path: Path) -> None:
    with scratch_folder(tmp_path) as folder:
        (folder / "rows").write_bytes(b"codes")
    assert not list(tmp_path.iterdir())
    with pytest.raises(IsADirectoryError), scratch_folder(tmp_path) as folder:
        folder.write_bytes(b"codes")
    assert not list(tmp_path.iterdir())


def test_what_a_killed_run_left_is_removed_and_what_is_in_use_is_not(tmp_path: Path) -> None:
    code = (
        "import os, signal; from lacunet.data.scratch_rows import scratch_folder\n"
        f"with scratch_folder({str(tmp_path)!r}) as folder:\n"
        "    (folder / 'rows').write_bytes(b'codes')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    (left,) = tmp_path.glob("*/rows")
    with scratch_folder(tmp_path) as one, scratch_folder(tmp_path) as two:
        assert not left.exists()
        assert one.is_dir()
        assert two.is_dir()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [errno.ENOTSUP, errno.ENOLCK, errno.ENOSYS, errno.EINVAL])
def test_a_file_system_without_locks_is_used_without(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[object] = []

    def refuse(*words: object) -> None:
        opened.append(words)
        assert len(opened) < 10  # not again and again
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with catch_warnings(record=True) as said, ExitStack() as stack:
        simplefilter("always")
        one = stack.enter_context(scratch_folder(tmp_path))
        (one / "rows").write_bytes(b"codes")
        two = stack.enter_context(scratch_folder(tmp_path))
        assert (one / "rows").exists()  # not taken for a leftover
        assert {*tmp_path.iterdir()} == {one, two}
    assert [warning.category for warning in said] == [LacunetWarning] * 2
    assert not list(tmp_path.iterdir())


def test_what_a_run_on_another_machine_uses_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with scratch_folder(tmp_path) as other:
        (lock,) = tmp_path.glob("*.lock")
        lock.write_text("another-host another-boot")
        monkeypatch.setattr(fcntl, "flock", lambda *_: None)  # its locks are not seen here
        with scratch_folder(tmp_path):
            assert other.is_dir()


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(ScratchError, match="directory"),
        scratch_folder(tmp_path / "nowhere"),
    ):
        pass


def test_more_than_the_disk_has_free_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(scratch_rows.shutil, "disk_usage", lambda _: usage(0, 0, 2**27))
    check_free(tmp_path, 2**25)
    with pytest.raises(ScratchError, match=r"1 GiB.*64 MiB"):
        check_free(tmp_path, 2**30)


def test_rows_come_back_from_the_disk_as_they_were(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    sizes = {"A": 2, "B": 300}
    columns: dict[str, Codes] = {
        "A": rng.integers(0, 3, 50).astype(np.uint8),
        "B": rng.integers(0, 301, 50).astype(np.uint16),
    }
    weights, copies = rng.random(50), Copies(rng.random(50), rng.random(50))
    table = EncodedTable(sizes, columns, weights, copies=copies)
    with CodeWriter(tmp_path / "rows", sizes) as writer:
        writer.append(table.take(slice(0, 20)))
        writer.append(table.take(slice(20, 50)))
        scratch_rows = writer.finished()
    parts = list(scratch_rows.tables(7))
    assert max(part.rows for part in parts) <= 7
    for name, column in columns.items():
        assert (np.concatenate([part.columns[name] for part in parts]) == column).all()
    assert (np.concatenate([part.weights for part in parts]) == weights).all()
    squares = [part.copies.squares for part in parts if part.copies]
    assert (np.concatenate(squares) == copies.squares).all()


def test_rows_that_only_count_are_not_weighted_on_the_disk(tmp_path: Path) -> None:
    columns: dict[str, Codes] = {"A": np.arange(10, dtype=np.uint8) % 2}
    number = np.arange(1.0, 11.0)
    table = EncodedTable({"A": 2}, columns, number, copies=Copies(number, number))
    with CodeWriter(tmp_path / "rows", {"A": 2}) as writer:
        writer.append(table)
        scratch_rows = writer.finished()
    for part in scratch_rows.tables(4):
        assert not part.is_weighted


def test_a_scratch_folder_of_a_name_too_long_is_refused_in_words() -> None:
    with pytest.raises(ScratchError, match="written"), scratch_folder("x" * 300):
        pass
