"""The command line, as a user types it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from examples import APPENDIX, RAIN, appendix_rows
from golden import golden
from lacunet.cli import main
from lacunet.data.data import Data
from lacunet.learning.learn import learn
from lacunet.learning.result import read_result
from lacunet.network.formats.files import read_network, write_network
from lacunet.network.network import Network

Captured = pytest.CaptureFixture[str]


def write_csv(path: Path, columns: dict[str, list[str | None]]) -> Path:
    lines = [
        ",".join(columns),
        *(",".join(cell or "" for cell in row) for row in zip(*columns.values(), strict=True)),
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def rain(tmp_path: Path) -> tuple[str, str]:
    write_network(RAIN, tmp_path / "rain.bif")
    data = {
        "Rain": ["no", "yes", "no"],
        "Sprinkler": ["off", None, "on"],
        "Wet": ["no", "yes", None],
    }
    return str(tmp_path / "rain.bif"), str(write_csv(tmp_path / "rain.csv", data))


@pytest.fixture
def appendix(tmp_path: Path) -> list[str]:
    write_network(APPENDIX, tmp_path / "net.json")
    columns = dict(zip("XYWZ", map(list, zip(*appendix_rows(), strict=True)), strict=True))
    return [str(tmp_path / "net.json"), str(write_csv(tmp_path / "rows.csv", columns))]


@pytest.mark.parametrize("name", ["fire-alarm-mar", "survey-mar-sparse", "asia-mcar"])
@pytest.mark.parametrize("suffix", [".bif", ".xdsl.gz", ".json"])
def test_the_golden_cpts_come_through_files(
    name: str, suffix: str, tmp_path: Path, capsys: Captured
) -> None:
    case = golden(name)
    network, out = tmp_path / "network.json", tmp_path / f"learned{suffix}"
    write_network(case.network, network)
    data = write_csv(tmp_path / "data.csv", case.texts())
    for method in case.expected["cpts"]:
        more = ["--groups", ",".join(case.expected["separator"])] if "informed" in method else []
        command = [
            "learn",
            str(network),
            str(data),
            "--method",
            method,
            "--pseudo-counts",
            "1",
            "-o",
            str(out),
            "--json",
            *more,
        ]
        assert main(command) == 0
        printed = json.loads(capsys.readouterr().out)
        written = read_network(out)
        for variable, expected in case.cpts(method).items():
            np.testing.assert_allclose(written.cpt(variable).table, expected, rtol=0, atol=1e-12)
            np.testing.assert_array_equal(
                printed["cpts"][variable]["table"], written.cpt(variable).table
            )


def test_learning_prints_what_every_cpt_rests_on(rain: tuple[str, str], capsys: Captured) -> None:
    assert main(["learn", *rain, "--method", "direct-mcar"]) == 0
    out = capsys.readouterr().out
    assert "3 CPTs" in out
    assert "3 rows" in out
    assert "pseudo-counts 1" in out
    assert "2 of 9 cells (22.2%)" in out
    assert "2 of 3" in out


def test_a_value_that_is_no_state_is_an_error_without_a_traceback(
    rain: tuple[str, str], capsys: Captured
) -> None:
    Path(rain[1]).write_text("Rain,Sprinkler,Wet\nno,off,no\nmaybe,on,yes\n")
    assert main(["learn", *rain]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "'maybe'" in err
    assert "'Rain'" in err
    assert "Traceback" not in err


def test_a_bad_output_name_is_refused_before_anything_is_read(
    rain: tuple[str, str], capsys: Captured
) -> None:
    assert main(["learn", rain[0], "no-such-file.csv", "-o", "out.docx"]) == 1
    assert "out.docx" in capsys.readouterr().err


def test_nothing_is_written_when_learning_fails(
    rain: tuple[str, str], tmp_path: Path, capsys: Captured
) -> None:
    assert main(["learn", *rain, "--pseudo-counts", "1e16", "-o", str(tmp_path / "out.bif")]) == 1
    assert "1e+16" in capsys.readouterr().err
    assert not (tmp_path / "out.bif").exists()


def test_wrong_usage_exits_with_two(capsys: Captured) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["learn", "only-a-network.bif"])
    assert stopped.value.code == 2
    capsys.readouterr()


def test_an_unknown_method_lists_the_known(rain: tuple[str, str], capsys: Captured) -> None:
    assert main(["learn", *rain, "--method", "magic"]) == 1
    assert "direct-mcar" in capsys.readouterr().err


def test_an_informed_method_asks_for_its_separator(rain: tuple[str, str], capsys: Captured) -> None:
    assert main(["learn", *rain, "--method", "informed-direct"]) == 1
    assert "--groups" in capsys.readouterr().err


def test_a_separator_with_holes_is_refused(rain: tuple[str, str], capsys: Captured) -> None:
    assert main(["learn", *rain, "--method", "informed-direct", "--groups", "Wet"]) == 1
    assert "'Wet'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("method", "query", "together"),
    [
        ("listwise", "X=1,W=1", ["11, 12, 15, 16"]),
        ("direct-mcar", "X=1,W=1", ["11, 12, 15, 16, 23, 24"]),
        (
            "factored-mcar",
            "X=1,W=1",
            ["3, 4, 7, 8, 11, 12, 15, 16, 19, 20, 23, 24, 27, 28, 31, 32, 35, 36", "9-16, 21-24"],
        ),
        ("direct-mar", "X=1,Y=1", ["1-36"]),
    ],
)
def test_explain_lists_the_rows_of_the_papers_tables(
    method: str, query: str, together: list[str], appendix: list[str], capsys: Captured
) -> None:
    assert main(["explain", *appendix, "--method", method, "--query", query, "--list-rows"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[1] for line in lines if line.startswith("  together")] == together


def test_a_query_is_explained_by_the_separator_that_is_learned(
    tmp_path: Path, capsys: Captured
) -> None:
    rows = ["0,0,1", "0,1,1", "1,1,1", "1,0,1"] * 10 + ["0,,0", "1,,0", "0,1,0", "1,,0"] * 40
    (tmp_path / "rows.csv").write_text("\n".join(["A,B,C", *rows]))
    asked = ["explain", "A -> B; C -> B", str(tmp_path / "rows.csv"), "--method", "informed-direct"]
    for separator in ("learn", "C"):
        assert main([*asked, "--groups", separator, "--query", "A=0,B=1"]) == 0
        assert "sum over C of P(B | A, C, R[B]=1) P(A, C)" in capsys.readouterr().out
    assert main([*asked, "--groups", "B", "--query", "A=0,B=1"]) == 1
    assert "'B'" in capsys.readouterr().err


def test_explain_knows_what_is_promised_to_be_fully_observed(
    appendix: list[str], capsys: Captured
) -> None:
    asked = ["explain", *appendix, "--method", "direct-mar", "--fully-observed", "W"]
    assert main(asked) == 0
    assert "grouped" in capsys.readouterr().out
    assert main([*asked, "--query", "X=1,W=1"]) == 0
    assert "P(X | W, R[X]=1) P(W)" in capsys.readouterr().out


def test_explain_counts_the_variables_that_rows_miss_whatever_is_promised(
    appendix: list[str], capsys: Captured
) -> None:
    asked = [*appendix, "--method", "direct-mar", "--fully-observed", "W"]
    assert main(["explain", *asked]) == 0
    heading = capsys.readouterr().out.splitlines()[0]
    assert "2 of 4" in heading
    assert "X, Y" in heading
    assert main(["explain", *asked, "--json"]) == 0
    explained = json.loads(capsys.readouterr().out)
    assert main(["learn", *asked, "--json"]) == 0
    learned = json.loads(capsys.readouterr().out)
    assert explained["assumption"] == learned["assumption"] == "values are missing at random"


def test_explain_prints_every_estimand_and_the_forecast(
    appendix: list[str], capsys: Captured
) -> None:
    assert main(["explain", *appendix, "--method", "direct-mar"]) == 0
    out = capsys.readouterr().out
    assert "P(W, Z, X) = P(X | W, Z, R[X]=1) P(W, Z)" in out
    assert "24 rows (66.7%) of 36" in out
    assert "W, Z" in out


def test_explain_works_without_data(appendix: list[str], capsys: Captured) -> None:
    assert main(["explain", appendix[0], "--method", "direct-mar"]) == 0
    assert "sum over X_o of" in capsys.readouterr().out


def test_explain_speaks_json(appendix: list[str], capsys: Captured) -> None:
    assert main(["explain", *appendix, "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["partially_observed"] == ["X", "Y"]
    assert plan["families"]["X"]["rows_shown"] == 24


def test_explain_counts_for_listwise_the_rows_without_a_hole(
    appendix: list[str], capsys: Captured
) -> None:
    assert main(["explain", *appendix, "--method", "listwise"]) == 0
    assert capsys.readouterr().out.count("16 rows (44.4%) of 36 show every variable") == 1


def test_a_query_may_have_blanks_but_not_a_variable_twice(
    appendix: list[str], capsys: Captured
) -> None:
    assert main(["explain", *appendix, "--method", "listwise", "--query", " X = 1 , W=1"]) == 0
    assert "4 rows" in capsys.readouterr().out
    assert main(["explain", *appendix, "--method", "listwise", "--query", "P(X=1, W=1)"]) == 0
    assert "4 rows" in capsys.readouterr().out
    assert main(["explain", *appendix, "--method", "listwise", "--query", "X=1|W=1"]) == 1
    assert '--query "X=x,Y=y"' in capsys.readouterr().err
    assert main(["explain", *appendix, "--query", "X=1"]) == 1
    assert "--method direct-mar" in capsys.readouterr().err
    assert main(["explain", *appendix, "--method", "listwise", "--query", "X=1,X=0"]) == 1
    assert "'X'" in capsys.readouterr().err


def test_a_family_too_large_is_refused_by_name_before_any_data_are_read(
    tmp_path: Path, capsys: Captured
) -> None:
    names = [f"V{at}" for at in range(32)]
    network = Network({name: ["0", "1"] for name in names}, {"V31": names[:31]})
    write_network(network, tmp_path / "large.json")
    for command in (["learn", "no.csv"], ["explain"]):
        full = [command[0], str(tmp_path / "large.json"), *command[1:], "--memory", "4"]
        assert main([*full, "--method", "direct-mcar"]) == 1
        error = capsys.readouterr().err
        assert "'V31'" in error
        assert "V0, V1" in error
        assert "160 GiB" in error
        assert "4 GiB" in error


def test_a_family_whose_lattice_is_too_large_is_planned_by_direct_deletion(
    tmp_path: Path, capsys: Captured
) -> None:
    names = [f"V{at}" for at in range(21)]
    network = Network({name: ["0", "1"] for name in names}, {"V20": names[:20]})
    write_network(network, tmp_path / "large.json")
    started = ["--method", "em", "--start", "factored-mar"]
    for method in (["--method", "factored-mar"], started):
        assert main(["explain", str(tmp_path / "large.json"), *method]) == 0
        told = "by direct-mar: the factorisation lattice of this family has"
        assert capsys.readouterr().out.count(told) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_an_output_that_cannot_be_written_is_told_in_words(appendix: list[str]) -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "lacunet", "explain", *appendix]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "No space left on device" in done.stderr


def test_convert_keeps_a_result_whole_or_says_what_it_leaves_out(
    tmp_path: Path, capsys: Captured
) -> None:
    rows = {"Age": [*range(40)], "Ill": ["no", "yes", None, "no"] * 10}
    network = Network.from_data(Data(rows, bins={"Age": 2}), "Age -> Ill")
    result = learn(network, rows, intervals=True)
    result.write(tmp_path / "result.json")
    assert (
        main(["convert", str(tmp_path / "result.json"), "-o", str(tmp_path / "again.json.gz")]) == 0
    )
    assert "does not carry" not in capsys.readouterr().err
    again = read_result(tmp_path / "again.json.gz")
    assert (again.interval("Ill") == result.interval("Ill")).all()
    assert main(["convert", str(tmp_path / "result.json"), "-o", str(tmp_path / "net.bif")]) == 0
    said = capsys.readouterr().err
    assert said.count("does not carry: where 'Age' is cut into intervals; how sure") == 1
    # a network alone has no intervals to lose
    write_network(result, tmp_path / "net.json")
    assert main(["convert", str(tmp_path / "net.json"), "-o", str(tmp_path / "net.bif")]) == 0
    assert "'Age'" in capsys.readouterr().err


def test_convert_keeps_every_probability(tmp_path: Path) -> None:
    write_network(RAIN, tmp_path / "rain.bif")
    assert main(["convert", str(tmp_path / "rain.bif"), "-o", str(tmp_path / "rain.xdsl.gz")]) == 0
    assert read_network(tmp_path / "rain.xdsl.gz") == RAIN


def test_the_demo_is_right_where_dropping_rows_is_wrong(tmp_path: Path, capsys: Captured) -> None:
    assert main(["demo", "-o", str(tmp_path / "demo"), "--json"]) == 0
    for answer in json.loads(capsys.readouterr().out)["answers"]:
        low, high = answer["interval"]
        assert low < answer["learned"] < high
        assert low < answer["truth"] < high  # one fixed table: all four intervals cover
        assert not low < answer["complete_rows"] < high
        assert abs(answer["complete_rows"] - answer["truth"]) > 0.1
    assert read_result(tmp_path / "demo" / "learned.json").uncertainty


def test_every_command_has_an_example(capsys: Captured) -> None:
    from lacunet.cli.parsing import COMMANDS

    for command in COMMANDS:
        with pytest.raises(SystemExit) as stopped:
            main([command, "--help"])
        assert stopped.value.code == 0
        assert re.search(rf"examples:\n(  .*\n)*?  lacunet {command}", capsys.readouterr().out)
