"""``lacunet evaluate``."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from examples import RAIN
from lacunet.cli import main
from lacunet.network.formats.files import read_network, write_network

LEARNED = RAIN.with_tables({**dict(RAIN.tables_of), "Rain": [0.5, 0.5]})


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    write_network(RAIN, tmp_path / "truth.bif")
    write_network(LEARNED, tmp_path / "learned.bif")
    (tmp_path / "test.csv").write_text("Rain,Sprinkler,Wet\nno,off,no\nyes,off,\n")
    return [str(tmp_path / name) for name in ("truth.bif", "learned.bif", "test.csv")]


def test_evaluate_prints_the_divergence_and_the_errors(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", *files[:2], "--data", files[2], "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    # Only P(Rain) differs: KL = .8 log(.8 / .5) + .2 log(.2 / .5).
    assert found["divergence"]["value"] == pytest.approx(0.8 * math.log(1.6) + 0.2 * math.log(0.4))
    assert found["cpt_error"]["largest"] == pytest.approx(0.3)
    # no, off, no: .5 * .6 * 1; yes, off, not seen: .5 * .99.
    assert found["fit"]["mean"] == pytest.approx((math.log(0.3) + math.log(0.495)) / 2)


def test_one_network_is_evaluated_on_data_alone(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", files[1], "--data", files[2], "--json"]) == 0
    mean = json.loads(capsys.readouterr().out)["fit"]["mean"]
    assert mean == pytest.approx((math.log(0.3) + math.log(0.495)) / 2)
    assert main(["evaluate", files[1], "--data", files[2]]) == 0
    behind_option = capsys.readouterr().out
    assert main(["evaluate", files[1], files[2]]) == 0
    assert capsys.readouterr().out == behind_option
    assert "-0.9" in behind_option
    with pytest.raises(SystemExit):
        main(["evaluate", files[1]])
    assert "--data" in capsys.readouterr().err


def test_evaluate_speaks_to_people(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", *files[:2]]) == 0
    out = capsys.readouterr().out
    assert "nats, exact" in out
    assert "0.3 at Rain=no" in out


def test_an_infinite_divergence_is_valid_json(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    write_network(RAIN.with_tables({**dict(RAIN.tables_of), "Rain": [1.0, 0.0]}), files[1])
    assert main(["evaluate", *files[:2], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["divergence"]["value"] == "inf"


def test_a_small_budget_leaves_the_divergence_to_samples(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alarm, even = read_network("alarm"), str(tmp_path / "even.json")
    shapes = {name: alarm.cpt(name).table.shape for name in alarm.variables}
    tables = {name: np.full(shape, 1 / shape[-1]) for name, shape in shapes.items()}
    write_network(alarm.with_tables(tables), even)
    for options, is_exact in (([], True), (["--memory", "1e-6"], False)):
        assert main(["evaluate", "alarm", even, *options, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["divergence"]["exact"] is is_exact


@pytest.mark.parametrize(
    "command",
    ["evaluate {net} --data {rows}", "predict {net} {rows} --targets Wet", "impute {net} {rows}"],
)
def test_values_read_as_missing_are_told(
    command: str, files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "odd.csv"
    rows.write_text("Rain,Sprinkler,Wet,Day\nno,off,no,1\nhail,off,,2\n")
    asked = command.format(net=files[1], rows=rows).split()
    assert main([*asked, "--unknown", "missing"]) == 0
    assert "'Rain'" in capsys.readouterr().err
