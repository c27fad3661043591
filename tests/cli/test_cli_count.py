"""``lacunet count``, ``merge``, ``learn`` from statistics; what is left when they are killed."""

from __future__ import annotations

import json
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
    lc.write_network(NETWORK, tmp_path / "net.bif")
    for part in range(3):
        rng = np.random.default_rng(part)
        columns = {
            "A": rng.integers(0, 2, 2500).astype(np.uint8),
            "B": rng.integers(0, 3, 2500).astype(np.uint8),
            "C": rng.integers(0, 4, 2500).astype(np.uint8),
        }
        table = EncodedTable({"A": 2, "B": 2, "C": 3}, columns)
        write_table(table, NETWORK, tmp_path / f"{part}.parquet")
    (tmp_path / "scratch").mkdir()
    return tmp_path


def test_counting_merging_and_learning_give_what_learning_gives(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    net = str(folder / "net.bif")
    for method in ("direct-mcar", "factored-mar"):
        for part in range(3):
            rows, out = str(folder / f"{part}.parquet"), str(folder / f"{part}.stats")
            assert main(["count", net, rows, "--method", method, "-o", out]) == 0
        told = capsys.readouterr().err
        assert "the statistics of 2,500 rows are in" in told
        assert ("--method direct-mcar or listwise" in told) == (method == "factored-mar")
        assert main(["merge", str(folder / "?.stats"), "-o", str(folder / "all.stats")]) == 0
        assert "the statistics of 7,500 rows" in capsys.readouterr().err
        learned, whole = str(folder / "learned.bif"), str(folder / "whole.bif")
        assert main(["learn", net, str(folder / "all.stats"), "-o", learned]) == 0
        assert main(["learn", net, str(folder), "--method", method, "-o", whole]) == 0
        found, expected = lc.read_network(learned), lc.read_network(whole)
        for name in NETWORK.variables:
            np.testing.assert_allclose(found.cpt(name).table, expected.cpt(name).table, rtol=1e-12)


def test_what_cannot_be_merged_is_told_without_a_traceback(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["merge", str(folder / "0.parquet"), "-o", str(folder / "all.stats")]) == 1
    assert "is not a file of statistics" in capsys.readouterr().err
    out = str(folder / "part.stats")
    assert main(["count", str(folder / "net.bif"), str(folder / "0.parquet"), "-o", out]) == 0
    assert main(["merge", out, "-o", out]) == 1
    assert "is also an input file" in capsys.readouterr().err
    families = ["count", str(folder / "net.bif"), str(folder / "0.parquet"), "-o", out]
    assert main([*families, "--method", "direct-mcar"]) == 0
    page = ["learn", str(folder / "net.bif"), out, "--report", str(folder / "p.html")]
    assert main([*page, "--method", "direct-mcar"]) == 1
    assert "do not hold the rows, which are needed here" in capsys.readouterr().err
    assert main(["learn", str(folder / "net.bif"), out, "--method", "em"]) == 1
    assert "do not hold what the method asked for needs" in capsys.readouterr().err


def test_a_page_and_a_diagnosis_of_statistics_are_those_of_the_rows(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    net, rows, counted = (str(folder / name) for name in ("net.bif", "0.parquet", "rows.stats"))
    assert main(["count", net, rows, "--method", "em", "-o", counted]) == 0
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


def test_learning_from_a_file_says_that_the_design_was_not_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lc.write_network(NETWORK, tmp_path / "net.bif")
    lines = [f"{row % 2},{row % 3 % 2},{row % 3},{1 + row % 4},{row % 6}" for row in range(60)]
    (tmp_path / "rows.csv").write_text("A,B,C,w,psu\n" + "\n".join(lines) + "\n")
    net, rows, out = (str(tmp_path / name) for name in ("net.bif", "rows.csv", "rows.stats"))
    design = ["--weight", "w", "--cluster", "psu", "--method", "direct-mcar"]
    assert main(["count", net, rows, *design, "-o", out]) == 0
    assert "keep no strata, clusters" in capsys.readouterr().err
    assert main(["learn", net, out, "--intervals", "--json"]) == 0
    assert "keep no strata, clusters" in str(json.loads(capsys.readouterr().out)["notes"])


def commands(folder: Path) -> dict[str, list[str]]:
    """What is killed; each writes one file. Nothing is held in memory."""
    net, parts = str(folder / "net.bif"), [str(folder / f"{part}.parquet") for part in range(3)]
    little = ["--memory", LITTLE, "--scratch", str(folder / "scratch")]
    stats = [str(folder / f"{part}.stats") for part in range(3)]
    return {
        "count.stats": ["count", net, *parts, *little, "--method", "auto"],
        "merge.stats": ["merge", *stats, "--memory", LITTLE],
        "learn.bif": ["learn", net, *parts, *little, "--method", "auto", "--prior", "2"],
        "again.bif": ["learn", net, *stats, *little, "--method", "auto"],
    }


def kill_and_start_again(folder: Path, kills: int, names: Sequence[str]) -> int:
    """Kill at random moments; how often the command had not ended before."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["lacunet.estimate.learn", "pyarrow.parquet", "scipy.special"])
    context.Process(target=print).start()  # the server itself is slow to start
    for part in range(3):
        rows, out = str(folder / f"{part}.parquet"), str(folder / f"{part}.stats")
        assert main(["count", str(folder / "net.bif"), rows, "-o", out]) == 0
    asked = {name: commands(folder)[name] for name in names}
    seconds, expected = {}, {}
    for name, arguments in asked.items():
        begin = time.monotonic()
        whole = context.Process(target=quietly, args=([*arguments, "-o", str(folder / name)],))
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
        process = context.Process(target=quietly, args=(arguments, began))
        process.start()
        began.wait()
        time.sleep(rng.uniform(0, 0.9) * seconds[name])
        process.kill()
        process.join()
        landed += process.exitcode == -signal.SIGKILL
        if target.exists():  # then it is whole
            assert target.read_bytes() == expected[name]
        if (at + 1) % len(asked) == 0:
            again = context.Process(target=quietly, args=(arguments,))
            again.start()
            again.join()
            assert again.exitcode == 0
            assert target.read_bytes() == expected[name]
            assert not list((folder / "scratch").iterdir())
    return landed


def test_ctrl_c_leaves_no_scratch(folder: Path) -> None:
    context = multiprocessing.get_context("forkserver")
    arguments = [*commands(folder)["learn.bif"], "-o", str(folder / "learned.bif")]
    process = context.Process(target=quietly, args=(arguments,))
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
    kill_and_start_again(folder, 2, ["count.stats", "learn.bif"])


@pytest.mark.slow
def test_a_hundred_kills_leave_no_half_file_and_no_scratch_after_the_next_start(
    folder: Path,
) -> None:
    assert kill_and_start_again(folder, 100, list(commands(folder))) > 25


@pytest.mark.parametrize(
    "words",
    [
        ["structure", "all.stats"],
        ["predict", "asia", "all.stats", "--targets", "dysp"],
        ["impute", "asia", "all.stats"],
    ],
    ids=lambda words: words[0],
)
def test_statistics_where_rows_are_needed_are_answered_with_what_they_serve(
    words: Sequence[str],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    assert main(["count", "net.bif", "0.parquet", "-o", "all.stats"]) == 0
    capsys.readouterr()
    assert main(words) == 1
    told = capsys.readouterr().err
    assert "'all.stats' holds statistics" in told
    assert "lacunet learn" in told
    assert ".csv" not in told


def test_files_of_other_cut_points_are_answered_with_one_set_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, ages in (("a", (20, 30, 40, 50)), ("b", (30, 50, 60, 80))):
        rows = "".join(f"{age},no\n{age},yes\n" for age in ages)
        Path(f"{name}.csv").write_text(f"Age,Ill\n{rows}")
        assert (
            main(["count", "Age -> Ill", f"{name}.csv", "--bins", "Age=2", "-o", f"{name}.stats"])
            == 0
        )
    assert main(["merge", "a.stats", "b.stats", "-o", "sum.stats"]) == 1
    assert "or with --bins Age=-inf,40,inf." in capsys.readouterr().err
