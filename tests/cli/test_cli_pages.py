"""``--report``: every command that has a page writes one that is whole and stays to itself."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path, PureWindowsPath
from typing import Any

import numpy as np
import pytest

import lacunet as lc
from examples import NOT_VERIFIED, SCREENING
from lacunet.cli import main
from lacunet.cli.show import labels_apart
from lacunet.data.column_rules import plan_reading
from lacunet.data.write import write_table
from lacunet.simulation.by_graph import MissingByGraph
from lacunet.simulation.simulate import simulate

Captured = pytest.CaptureFixture[str]
PAGES = {
    "learn": ["learn", "net.bif", "rows.csv", "--method", "em", "--intervals"],
    "diagnose": ["diagnose", "net.bif", "rows.csv"],
    "recover": ["recover", "net.bif", "mar.txt", "--data", "rows.csv"],
    "implications": ["recover", "net.bif", "mar.txt", "--data", "rows.csv", "--implications"],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    graph = lc.MissingnessGraph.parse("Symptoms, Test -> R[Disease]", SCREENING)
    drawn = simulate(
        SCREENING, 600, MissingByGraph(graph, NOT_VERIFIED), rng=np.random.default_rng(5)
    )
    SCREENING.write(tmp_path / "net.bif")
    write_table(drawn.table, SCREENING, str(tmp_path / "rows.csv"))
    graph.write(str(tmp_path / "mar.txt"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def carried(text: str) -> dict[str, Any]:
    found = re.search(r'id="page-data">(.*?)</script>', text, re.DOTALL)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


@pytest.mark.parametrize("words", [*PAGES.values(), ["show", "net.bif"]])
def test_a_page_is_refused_as_pdf_before_anything_is_done(
    words: list[str], folder: Path, capsys: Captured
) -> None:
    option = "--page" if words[0] == "show" else "--report"
    assert main([*words, option, "page.pdf"]) == 1
    seen = capsys.readouterr()
    assert "page.pdf" in seen.err
    assert not seen.out
    assert not (folder / "page.pdf").exists()


@pytest.mark.parametrize("name", PAGES)
def test_the_page_says_what_the_command_prints_and_where_it_comes_from(
    name: str, folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [*PAGES[name], "--json", "--report", "page.html"]
    monkeypatch.setattr("sys.argv", ["lacunet", *words])
    assert main(words) == 0
    seen = capsys.readouterr()
    assert "page.html" in seen.err
    text = (folder / "page.html").read_text(encoding="utf-8")
    data = carried(text)
    assert " ".join(words) in data["provenance"]["command"]
    assert {Path(path).name for path, _ in data["provenance"]["files"]} >= {"net.bif", "rows.csv"}
    assert "default-src 'none'" in text
    assert "unsafe" not in text
    printed = json.loads(seen.out)
    if name != "learn":  # that page packs its numbers
        assert {key: data[key] for key in printed} == printed


@pytest.mark.parametrize("name", PAGES)
def test_what_is_read_is_not_written_over(name: str, folder: Path, capsys: Captured) -> None:
    before = (folder / "rows.csv").read_bytes()
    assert main([*PAGES[name], "--report", "rows.csv"]) == 1
    assert (folder / "rows.csv").read_bytes() == before
    assert "rows.csv" in capsys.readouterr().err


def test_a_page_that_cannot_be_written_is_an_error_in_words(folder: Path, capsys: Captured) -> None:
    assert main([*PAGES["diagnose"], "--report", "no/such/page.html"]) == 1
    capsys.readouterr()


def test_a_diagnosis_shows_the_dependence_that_is_there(folder: Path) -> None:
    main([*PAGES["diagnose"], "--report", "page.html"])
    text = (folder / "page.html").read_text(encoding="utf-8")
    assert "Disease" in text
    rows = re.findall(r'id="mcar-tests".*?</table>', text, re.DOTALL)
    assert "<bdi>Disease</bdi>" in rows[0]


def test_show_writes_a_live_page_of_a_network_and_of_two(folder: Path, capsys: Captured) -> None:
    assert main(["show", "net.bif", "--page", "one.html"]) == 0
    data = carried((folder / "one.html").read_text(encoding="utf-8"))
    assert data["live"]["file"] == "net.bif"
    assert [v["name"] for v in data["variables"]] == list(SCREENING.variables)
    assert main(["show", "net.bif", "--page", "two.html", "--beside", "net.bif"]) == 0
    both = carried((folder / "two.html").read_text(encoding="utf-8"))
    assert both["labels"] == ["net.bif", "net.bif"]
    assert both["other"]["packed"] == both["packed"]
    assert "two.html" in capsys.readouterr().err


def test_two_networks_are_called_by_what_tells_their_files_apart(folder: Path) -> None:
    names = ["runs/1/net.bif", "runs/2/net.bif"]
    for name in names:
        (folder / name).parent.mkdir(parents=True)
        shutil.copy(folder / "net.bif", folder / name)
    for first, second, labels in (
        (names[0], names[1], ["1/net.bif", "2/net.bif"]),
        (names[0], "net.bif", ["runs/1/net.bif", "net.bif"]),
        (str(folder / "net.bif"), "screening", ["net.bif", "screening"]),
    ):
        assert main(["show", first, "--page", "two.html", "--beside", second]) == 0
        assert carried((folder / "two.html").read_text(encoding="utf-8"))["labels"] == labels


def test_files_on_two_drives_are_called_by_their_whole_paths() -> None:
    paths = [PureWindowsPath("C:/runs/net.bif"), PureWindowsPath("D:/net.bif")]
    assert labels_apart(paths) == [r"C:\runs\net.bif", r"D:\net.bif"]


def test_show_refuses_a_second_network_with_other_states(folder: Path, capsys: Captured) -> None:
    assert main(["show", "net.bif", "--page", "two.html", "--beside", "asia"]) == 1
    capsys.readouterr()
    assert not (folder / "two.html").exists()


def test_a_page_of_rows_from_the_standard_input_is_that_of_their_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = []
    for data in ("rows.csv", "-"):
        with (folder / "rows.csv").open() as rows:
            monkeypatch.setattr("sys.stdin", rows)
            words = ["learn", "net.bif", data, "--method", "direct-mcar", "--report", "page.html"]
            assert main(words) == 0
        pages.append((folder / "page.html").read_text(encoding="utf-8"))
    sections = [text[text.index("What is missing") :].split("</section>")[0] for text in pages]
    assert sections[0] == sections[1]


@pytest.mark.parametrize("memory", ["1", "0.000001"])
def test_rows_are_opened_once_for_the_network_and_its_page(
    memory: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[object] = []

    def opening(*given: Any) -> Any:
        opened.append(given)
        return plan_reading(*given)

    monkeypatch.setattr("lacunet.counts.observations.plan_reading", opening)
    words = ["learn", "net.bif", "rows.csv", "--method", "direct-mcar", "--memory", memory]
    assert main([*words, "--report", "page.html"]) == 0
    assert len(opened) == 1
