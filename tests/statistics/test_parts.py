"""No part of the data counts twice, under whatever name or path it comes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lacunet as lc
from lacunet.cli import main
from lacunet.estimate.count import merge_into
from lacunet.statistics.errors import CountedTwiceError, StatisticsError
from lacunet.statistics.saved.header import Header
from lacunet.statistics.saved.parts import CountedPart, notes_on

NETWORK = lc.Network({"A": ["0", "1"], "B": ["x", "y", "z"]}, {"B": ["A"]})
METHODS = ("direct-mcar", "listwise", "em")


@pytest.fixture
def days(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files of rows for two days, and a corrected one for the first."""
    monkeypatch.chdir(tmp_path)
    lc.write_network(NETWORK, "net.bif")
    for day, seed in (("d1", 1), ("d2", 2), ("d3", 3)):
        rng = np.random.default_rng(seed)
        lines = [
            f"{rng.choice(['0', '1'])},{rng.choice(['x', 'y', 'z', ''])}" for _ in range(40 + seed)
        ]
        Path(f"{day}.csv").write_text("\n".join(["A,B", *lines, ""]))
    return tmp_path


def count(day: str, method: str, out: str | None = None, *more: str) -> None:
    words = ["count", "net.bif", f"{day}.csv", "--method", method, "-o", out or f"{day}.stats"]
    assert main([*words, *more]) == 0


def cpts(data: Any) -> list[Any]:
    return [cpt.table.tolist() for cpt in lc.learn(NETWORK, data, "direct-mcar").network.cpts]


@pytest.mark.parametrize("method", METHODS)
def test_one_file_under_several_names_is_refused(method: str, days: Path) -> None:
    count("d1", method)
    Path("sub").mkdir()
    Path("link.stats").symlink_to("d1.stats")
    Path("copy.stats").write_bytes(Path("d1.stats").read_bytes())
    count("d1", method, "again.stats")
    for other in (str(days / "d1.stats"), "sub/../d1.stats", "link.stats", "copy.stats"):
        assert main(["merge", "d1.stats", other, "-o", "all.stats"]) == 1
        with pytest.raises(CountedTwiceError):
            lc.learn(NETWORK, ["d1.stats", other])
    assert main(["merge", "d1.stats", "again.stats", "-o", "all.stats"]) == 1
    assert not Path("all.stats").exists()


@pytest.mark.parametrize("summing", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_a_part_that_a_sum_holds_is_refused(method: str, summing: bool, days: Path) -> None:
    count("d1", method)
    count("d2", method)
    merge_into("all.stats", ["d1.stats", "d2.stats"], summing=summing)
    assert cpts("all.stats") == cpts(["d1.csv", "d2.csv"])
    with pytest.raises(CountedTwiceError, match=r"d1\.csv .*is in 'all\.stats' and in 'd1\.stats'"):
        merge_into("more.stats", ["all.stats", "d1.stats"])
    with pytest.raises(CountedTwiceError):
        lc.Statistics.read("all.stats") + lc.Statistics.read("d2.stats")
    merge_into("twice.stats", ["all.stats"])
    with pytest.raises(CountedTwiceError):
        merge_into("more.stats", ["all.stats", "twice.stats"])


@pytest.mark.parametrize("method", METHODS)
def test_a_corrected_part_replaces_the_old_one(
    method: str, days: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    count("d1", method)
    count("d2", method)
    merge_into("all.stats", ["d1.stats", "d2.stats"])
    Path("d1.csv").write_bytes(Path("d3.csv").read_bytes())
    count("d1", method, "new.stats")
    capsys.readouterr()
    words = ["merge", "all.stats", "new.stats", "-o", "now.stats"]
    assert main(words) == 0
    assert "both hold a part called d1.csv" in capsys.readouterr().err
    assert main([*words, "--replace", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [part["name"] for (part,) in told["parts"]] == ["d2.csv", "d1.csv"]
    assert told["rows"] == 42 + 43
    assert cpts("now.stats") == cpts(["d1.csv", "d2.csv"])


def test_what_was_added_up_cannot_be_replaced(days: Path) -> None:
    count("d1", "em")
    count("d2", "em")
    merge_into("all.stats", ["d1.stats", "d2.stats"], summing=True)
    with pytest.raises(CountedTwiceError, match=r"d1\.csv .*cannot be replaced"):
        merge_into("now.stats", ["all.stats", "d1.stats"], replacing=True)
    header, _ = merge_into("both.stats", ["d1.stats", "all.stats"], replacing=True)
    assert header.rows == 41 + 42


def test_a_name_that_the_user_gives_is_the_name_of_one_part(days: Path) -> None:
    count("d1", "em", "a.stats", "--part", "monday")
    count("d2", "em", "b.stats", "--part", "monday")
    with pytest.raises(CountedTwiceError, match="monday"):
        merge_into("all.stats", ["a.stats", "b.stats"])
    count("d1", "em", "c.stats", "--part", "tuesday")
    header, notes = merge_into("all.stats", ["a.stats", "c.stats"])
    assert (header.rows, notes) == (82, ())


def test_the_identifier_does_not_depend_on_how_the_rows_are_read(days: Path) -> None:
    lines = Path("d1.csv").read_text().splitlines()
    count("d1", "em")
    first = Header.read("d1.stats").parts
    Path("d1.csv").write_text("\n".join([lines[0], *reversed(lines[1:]), ""]))
    count("d1", "em", None, "--memory", "0.0000001")
    assert Header.read("d1.stats").parts == first


@pytest.mark.parametrize("method", METHODS)
def test_statistics_are_not_counted_again(
    method: str, days: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    count("d1", method)
    words = ["d1.stats", "--method", method, "--part", "other", "-o", "again.stats"]
    assert main(["count", "net.bif", *words]) == 1
    assert main(["count", "--edges", "A -> B", *words]) == 1
    assert capsys.readouterr().err.count("lacunet merge") == 2
    assert not Path("again.stats").exists()
    counted = lc.Statistics.read("d1.stats")
    for data in ("d1.stats", Path("d1.stats"), ["d1.stats"], counted, lc.Data("d1.stats")):
        with pytest.raises(StatisticsError, match="counted again"):
            lc.count(NETWORK, data, method)


def test_dataframes_are_told_apart_unless_they_have_names() -> None:
    rows = {"A": ["0"], "B": ["x"]}
    one, two = lc.count(NETWORK, rows, "em"), lc.count(NETWORK, rows, "em")
    assert (one + two).rows == 2
    with pytest.raises(CountedTwiceError):
        one + one
    named = lc.count(NETWORK, rows, "em", part="monday")
    with pytest.raises(CountedTwiceError):
        named + lc.count(NETWORK, {"A": ["1"], "B": ["y"]}, "em", part="monday")


def test_many_notes_on_parts_are_cut_short() -> None:
    parts = [CountedPart(str(at), str(at), 1, notes=(f"note {at}",)) for at in range(25)]
    notes = notes_on(parts)
    assert notes[0] == "in 0: note 0"
    assert notes[20:] == ("5 more notes on single parts.",)


@pytest.mark.parametrize("kind", ["rows", "families"])
def test_files_of_the_first_version_are_read(kind: str, tmp_path: Path) -> None:
    folder = Path(__file__).parents[1] / "cases" / "statistics"
    network = lc.Network(
        {"A": ["0", "1"], "B": ["0", "1"], "C": ["x", "y", "z"]}, {"B": ["A"], "C": ["B"]}
    )
    rows = {
        "A": ["0", "0", "1", "1", "0"],
        "B": [None, None, "1", "0", "1"],
        "C": ["x", "x", "z", None, "y"],
        "w": [1, 3, 0.5, 1, 2],
    }
    path = folder / f"version-1-{kind}.stats"
    found = lc.learn(network, path, "listwise").network
    expected = lc.learn(network, rows, "listwise", weight="w").network
    for name in network.variables:
        np.testing.assert_allclose(found.cpt(name).table, expected.cpt(name).table, rtol=1e-12)
    merge_into(tmp_path / "new.stats", [path])
    assert lc.learn(network, tmp_path / "new.stats", "listwise").network == found
    with pytest.raises(CountedTwiceError):
        merge_into(tmp_path / "all.stats", [os.fspath(path), tmp_path / "new.stats"])
