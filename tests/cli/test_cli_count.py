"""``lacunet count``, ``learn`` from what it wrote; what is left when they are killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import lacunet as lc
from lacunet.cli import main
from lacunet.data.table import EncodedTable
from lacunet.data.write import write_table
from quiet import quietly

NETWORK = lc.Network(
    {"A": ["0", "1"], "B": ["0", "1"], "C": ["0", "1", "2"]}, {"B": ["A"], "C": ["B"]}
)
LITTLE = "0.00005"  # GiB: nothing is held


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A network and three parts of rows."""
    NETWORK.write(tmp_path / "net.bif")
    for part in range(3):
        rng = np.random.default_rng(part)
        columns = {
            "A": rng.integers(0, 2, 2500).astype(np.uint8),
            "B": rng.integers(0, 3, 2500).astype(np.uint8),
            "C": rng.integers(0, 4, 2500).astype(np.uint8),
        }
        table = EncodedTable({"A": 2, "B": 2, "C": 3}, columns)
        write_table(table, NETWORK, tmp_path / f"{part}.parquet")
        write_table(table, NETWORK, tmp_path / f"{part}.csv")
    (tmp_path / "scratch").mkdir()
    return tmp_path


@pytest.mark.parametrize("suffix", ["parquet", "csv", "arrow"])
@pytest.mark.parametrize("memory", [[], ["--memory", LITTLE]])
def test_files_of_counted_rows_give_what_the_rows_give(
    suffix: str, memory: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    net = str(folder / "net.bif")
    outs = [str(folder / f"counted-{part}.{suffix}") for part in range(3)]
    for part, out in enumerate(outs):
        assert main(["count", net, str(folder / f"{part}.parquet"), *memory, "-o", out]) == 0
    told = capsys.readouterr().err
    assert "the counts of 2,500 rows are in" in told
    assert "as private as the data" in told
    rows = [str(folder / f"{part}.parquet") for part in range(3)]
    counts = ["--counts", "copies"] if suffix == "csv" else []
    for method in ("direct-mcar", "factored-mar"):
        learned, whole = str(folder / "learned.bif"), str(folder / "whole.bif")
        assert main(["learn", net, *outs, *counts, "--method", method, "-o", learned]) == 0
        assert main(["learn", net, *rows, "--method", method, "-o", whole]) == 0
        assert Path(learned).read_bytes() == Path(whole).read_bytes()


def test_one_file_under_two_names_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    net, out = str(folder / "net.bif"), folder / "one.parquet"
    assert main(["count", net, str(folder / "0.parquet"), "-o", str(out)]) == 0
    (folder / "two.parquet").write_bytes(out.read_bytes())
    assert main(["learn", net, str(out), str(folder / "two.parquet")]) == 1
    assert "two.parquet" in capsys.readouterr().err


def test_a_page_and_a_diagnosis_of_counted_rows_are_those_of_the_rows(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    net, rows, counted = (str(folder / name) for name in ("net.bif", "0.parquet", "c.parquet"))
    assert main(["count", net, rows, "-o", counted]) == 0
    capsys.readouterr()
    found = []
    for data in (rows, counted):
        page = folder / "page.html"
        assert main(["learn", net, data, "--method", "em", "--report", str(page)]) == 0
        capsys.readouterr()
        assert main(["diagnose", net, data]) == 0
        text = page.read_text()
        missing = text[text.index("What is missing") :].split("</section>")[0]
        found.append((missing, capsys.readouterr().out))
    assert found[0] == found[1]


def commands(folder: Path) -> dict[str, list[str]]:
    """What is killed; each writes one file. Nothing is held in memory."""
    net, parts = str(folder / "net.bif"), [str(folder / f"{part}.parquet") for part in range(3)]
    texts = [str(folder / f"{part}.csv") for part in range(3)]
    counted = [str(folder / f"{part}.feather") for part in range(3)]
    little = ["--memory", LITTLE]
    return {
        "count.arrow": ["count", net, *parts, *little],
        "learn.bif": ["learn", net, *texts, *little, "--method", "em"],  # codes go to the disk
        "again.bif": ["learn", net, *counted, *little, "--method", "auto"],
    }


def kill_and_start_again(folder: Path, kills: int, names: Sequence[str]) -> int:
    """Kill at random moments; how often the command had not ended before."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["lacunet.learning.learn", "pyarrow.parquet", "scipy.special"])
    context.Process(target=print).start()  # the server itself is slow to start
    for part in range(3):
        rows, out = str(folder / f"{part}.parquet"), str(folder / f"{part}.feather")
        assert main(["count", str(folder / "net.bif"), rows, "-o", out]) == 0
    asked = {name: commands(folder)[name] for name in names}
    seconds, expected = {}, {}
    for name, arguments in asked.items():
        begin = time.monotonic()
        written = [*arguments, "-o", str(folder / name)]
        whole = context.Process(target=quietly, args=(written, folder / "scratch"))
        whole.start()
        whole.join()
        assert whole.exitcode == 0
        seconds[name], expected[name] = time.monotonic() - begin, (folder / name).read_bytes()
    rng, landed = np.random.default_rng(kills), 0
    for at in range(kills):
        name = list(asked)[at % len(asked)]
        target = folder / f"killed-{name}"
        target.unlink(missing_ok=True)
        arguments = [*asked[name], "-o", str(target)]
        began = context.Event()
        process = context.Process(target=quietly, args=(arguments, folder / "scratch", began))
        process.start()
        began.wait()
        time.sleep(rng.uniform(0, 0.9) * seconds[name])
        process.kill()
        process.join()
        landed += process.exitcode == -signal.SIGKILL
        if target.exists():  # then it is whole
            assert target.read_bytes() == expected[name]
        if (at + 1) % len(asked) == 0:
            again = context.Process(target=quietly, args=(arguments, folder / "scratch"))
            again.start()
            again.join()
            assert again.exitcode == 0
            assert target.read_bytes() == expected[name]
            assert not list((folder / "scratch").iterdir())
    return landed


def test_ctrl_c_leaves_no_scratch(folder: Path) -> None:
    context = multiprocessing.get_context("forkserver")
    arguments = [*commands(folder)["learn.bif"], "-o", str(folder / "learned.bif")]
    process = context.Process(target=quietly, args=(arguments, folder / "scratch"))
    process.start()
    while process.is_alive() and not list((folder / "scratch").glob("*/*")):
        time.sleep(0.01)
    os.kill(process.pid or 0, signal.SIGINT)
    process.join()
    assert process.exitcode == 130
    assert not list((folder / "scratch").iterdir())
    assert not (folder / "learned.bif").exists()


def test_a_killed_command_leaves_no_half_file_and_no_scratch_after_the_next_start(
    folder: Path,
) -> None:
    kill_and_start_again(folder, 2, ["count.arrow", "learn.bif"])


@pytest.mark.slow
def test_a_hundred_kills_leave_no_half_file_and_no_scratch_after_the_next_start(
    folder: Path,
) -> None:
    assert kill_and_start_again(folder, 100, list(commands(folder))) > 25
