"""Scratch folders are gone when the work ends, and after the next start where it was killed."""

from __future__ import annotations

import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest

from lacunet.data import coded
from lacunet.data.coded import CodeWriter, ScratchError, check_free, scratch_folder
from lacunet.data.table import Codes, Copies, EncodedTable


def test_the_folder_is_gone_after_success_and_after_failure(tmp_path: Path) -> None:
    with scratch_folder(tmp_path) as folder:
        (folder / "rows").write_bytes(b"codes")
    assert not list(tmp_path.iterdir())
    with pytest.raises(IsADirectoryError), scratch_folder(tmp_path) as folder:
        folder.write_bytes(b"codes")
    assert not list(tmp_path.iterdir())


def test_what_a_killed_run_left_is_removed_and_what_is_in_use_is_not(tmp_path: Path) -> None:
    code = (
        "import os, signal; from lacunet.data.coded import scratch_folder\n"
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


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(ScratchError, match=r"no folder .*nowhere"),
        scratch_folder(tmp_path / "nowhere"),
    ):
        pass


def test_more_than_the_disk_has_free_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(coded.shutil, "disk_usage", lambda _: usage(0, 0, 2**27))
    check_free(tmp_path, 2**25)
    with pytest.raises(ScratchError, match=r"need 1 GiB, but .* has 64 MiB free"):
        check_free(tmp_path, 2**30)


def test_rows_come_back_from_the_disk_as_they_were(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    sizes = {"A": 2, "B": 300}
    columns: dict[str, Codes] = {
        "A": rng.integers(0, 3, 50).astype(np.uint8),
        "B": rng.integers(0, 301, 50).astype(np.uint16),
    }
    weights, copies = rng.random(50), Copies(rng.random(50), rng.random(50))
    table = EncodedTable.of(sizes, columns, weights, copies=copies)
    with CodeWriter(tmp_path / "rows", sizes) as writer:
        writer.append(table.take(slice(0, 20)))
        writer.append(table.take(slice(20, 50)))
        coded = writer.finished()
    parts = list(coded.tables(7))
    assert max(part.rows for part in parts) <= 7
    for name, column in columns.items():
        assert (np.concatenate([part.columns[name] for part in parts]) == column).all()
    assert (np.concatenate([part.weights for part in parts]) == weights).all()
    squares = [part.copies.squares for part in parts if part.copies]
    assert (np.concatenate(squares) == copies.squares).all()
