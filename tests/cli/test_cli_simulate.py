"""Simulating and comparing, as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lacunet.cli import main
from lacunet.data.read import read_table
from lacunet.missingness.graph import MissingnessGraph
from lacunet.network.catalogue import catalogue, example
from lacunet.network.formats.files import read_network

Captured = pytest.CaptureFixture[str]


def simulate(tmp_path: Path, *more: str, name: str = "rows.csv", seed: int = 3) -> Path:
    out = tmp_path / name
    command = ["simulate", "asia", "--rows", "400", "--seed", str(seed), "-o", str(out), *more]
    assert main(command) == 0
    return out


def test_a_seed_gives_the_same_file_and_another_seed_another(tmp_path: Path) -> None:
    hide = ("--hide", "mar")
    one, same = simulate(tmp_path, *hide), simulate(tmp_path, *hide, name="again.csv")
    assert one.read_bytes() == same.read_bytes()
    assert one.read_bytes() != simulate(tmp_path, *hide, name="other.csv", seed=4).read_bytes()


def test_without_a_file_the_rows_are_printed(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    written = simulate(tmp_path, "--hide", "mar").read_bytes()
    capfdbinary.readouterr()
    command = ["simulate", "asia", "--rows", "400", "--seed", "3", "--hide", "mar"]
    assert main(command) == 0
    assert capfdbinary.readouterr().out == written
    assert main([*command, "--json"]) == 0
    lines = capfdbinary.readouterr().out.splitlines()
    assert len(lines) == 400
    assert json.loads(lines[0])["asia"] in ("yes", "no", None)


def test_shown_values_are_those_of_the_complete_rows(tmp_path: Path) -> None:
    asia, complete = example("asia"), tmp_path / "complete.parquet"
    shown = read_table(simulate(tmp_path, "--hide", "mar", "--complete-out", str(complete)), asia)
    whole = read_table(complete, asia)
    assert shown.partially_observed
    assert not whole.partially_observed
    for name in asia.variables:
        is_shown = shown.columns[name] != asia.cardinality(name)
        np.testing.assert_array_equal(shown.columns[name][is_shown], whole.columns[name][is_shown])


@pytest.mark.parametrize("kind", ["mcar", "mar", "informed"])
def test_the_graph_written_is_that_of_the_data(kind: str, tmp_path: Path) -> None:
    asia, graph = example("asia"), tmp_path / "graph.txt"
    rows = simulate(tmp_path, "--hide", kind, "--share", "0.5", "--missingness-out", str(graph))
    read = MissingnessGraph.read(graph, asia)
    assert len(read.partially_observed) == 4
    assert set(read_table(rows, asia).partially_observed) <= set(read.partially_observed)
    assert read.category() == {"mcar": "MCAR"}.get(kind, "MAR")


def test_values_go_missing_as_a_graph_file_says(tmp_path: Path, capsys: Captured) -> None:
    graph, parameters = tmp_path / "mechanisms.txt", tmp_path / "parameters.json"
    graph.write_text("smoke -> R[smoke]\n")
    simulate(tmp_path, "--missingness", str(graph), "--json", "--missingness-out", str(parameters))
    told = json.loads(capsys.readouterr().out)
    assert told["category"] == "MNAR"
    assert list(told["missing"]) == ["smoke"]
    assert json.loads(parameters.read_text())["mechanisms"]["smoke"]["parents"] == ["smoke"]


def test_the_text_of_a_graph_stands_for_its_file(tmp_path: Path, capsys: Captured) -> None:
    simulate(tmp_path, "--missingness", "smoke -> R[xray]; R[dysp]", "--json")
    told = capsys.readouterr()
    assert json.loads(told.out)["graph"] == "smoke -> R[xray]\nR[dysp]"
    assert "R[xray]" in told.err
    assert "--missingness-out mechanisms.json" in told.err


@pytest.mark.parametrize("rate", [0.3, [0.3]])
def test_mechanisms_are_written_by_hand(rate: float | list[float], tmp_path: Path) -> None:
    mechanisms = {"xray": {"missing": [0.0, 1.0]}, "dysp": {"missing": rate}}
    path = tmp_path / "mechanisms.json"
    path.write_text(json.dumps({"graph": "smoke -> R[xray]; R[dysp]", "mechanisms": mechanisms}))
    table = read_table(simulate(tmp_path, "--missingness", str(path)), example("asia"))
    assert 80 < table.missing_of["dysp"] < 160  # of 400, four standard errors
    np.testing.assert_array_equal(table.columns["xray"] == 2, table.columns["smoke"] == 1)


@pytest.mark.parametrize("ending", ["txt", "json"])
@pytest.mark.parametrize("kind", ["mcar", "mar", "informed"])
def test_the_graph_that_was_written_is_read_back(
    kind: str, ending: str, tmp_path: Path, capsys: Captured
) -> None:
    path, again = tmp_path / f"graph.{ending}", tmp_path / f"again.{ending}"
    simulate(tmp_path, "--hide", kind, "--share", "0.5", "--missingness-out", str(path))
    simulate(
        tmp_path,
        "--missingness",
        str(path),
        "--missingness-out",
        str(again),
        name="more.csv",
        seed=9,
    )
    assert again.read_text() == path.read_text()  # in JSON, the probabilities too


@pytest.mark.parametrize(
    ("kind", "unused"),
    [
        ("none", ["--share", "0.5"]),
        ("none", ["--missingness-out", "graph.txt"]),
        ("mcar", ["--parents", "1"]),
        ("mcar", ["--beta", "1,1"]),
        ("mar", ["--separator-size", "3"]),
        ("graph.txt", ["--rate", "0.5"]),
        ("graph.txt", ["--share", "0.5"]),
        ("mechanisms.json", ["--beta", "1,1"]),
    ],
)
def test_an_option_that_a_way_of_going_missing_does_not_use_is_wrong_usage(
    kind: str, unused: list[str], tmp_path: Path, capsys: Captured
) -> None:
    out = tmp_path / "rows.csv"
    option = "--missingness" if "." in kind else "--hide"
    with pytest.raises(SystemExit) as stopped:
        main(["simulate", "asia", "--rows", "5", option, kind, *unused, "-o", str(out)])
    assert stopped.value.code == 2
    assert f"{option} {kind}" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize("said", [(), ("--hide", "none")])
def test_nothing_is_hidden_unless_it_is_asked_for(said: tuple[str, ...], tmp_path: Path) -> None:
    rows = simulate(tmp_path, *said)
    assert not read_table(rows, example("asia")).partially_observed


@pytest.mark.parametrize("unused", [("--share", "0.5"), ("--missingness-out", "graph.txt")])
def test_options_of_hiding_alone_are_answered_with_the_option_that_hides(
    unused: tuple[str, str], tmp_path: Path, capsys: Captured
) -> None:
    with pytest.raises(SystemExit):
        main(["simulate", "asia", "--rows", "5", *unused, "-o", str(tmp_path / "rows.csv")])
    assert "--hide mcar" in capsys.readouterr().err


def test_an_unknown_way_of_going_missing_lists_the_known(tmp_path: Path, capsys: Captured) -> None:
    command = [
        "simulate",
        "asia",
        "--rows",
        "5",
        "--hide",
        "mnar",
        "-o",
        str(tmp_path / "x.csv"),
    ]
    with pytest.raises(SystemExit):
        main(command)
    assert "'mcar', 'mar', 'informed'" in capsys.readouterr().err


def test_the_catalogue_is_listed(capsys: Captured) -> None:
    assert main(["show", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in listed] == [entry.name for entry in catalogue()]
    assert main(["show"]) == 0
    assert "114,005" in capsys.readouterr().out


def test_a_bundled_network_is_written_to_a_file(tmp_path: Path) -> None:
    assert main(["convert", "asia", "-o", str(tmp_path / "asia.bif")]) == 0
    assert read_network(tmp_path / "asia.bif") == example("asia")


def test_simulate_refuses_to_write_two_results_to_one_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    same = str(tmp_path / "same.csv")
    command = ["simulate", "asia", "--rows", "5", "--hide", "mar", "-o", same]
    assert main([*command, "--missingness-out", same]) == 1
    capsys.readouterr()
    assert not (tmp_path / "same.csv").exists()


def test_a_rate_alone_hides_that_share_of_all_cells(tmp_path: Path) -> None:
    rows = read_table(simulate(tmp_path, "--hide", "mcar", "--rate", "0.2"), example("asia"))
    cells = rows.rows * len(rows.variables)
    assert {*rows.partially_observed} == {*rows.variables}
    assert abs(sum(rows.missing_of.values()) / cells - 0.2) < 4 * (0.16 / cells) ** 0.5
