"""Results written to files and read again, with all that they know."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lacunet as lc
from examples import RAIN
from lacunet.cli import main
from lacunet.counts.em_problems.cell_layout import Layout
from lacunet.learning.methods import METHODS
from lacunet.learning.result_json import _digest
from lacunet.network.formats.errors import FormatError
from lacunet.network.network import Network

GRAPH = "Rain -> R[Wet]"


def rows(number: int = 400) -> lc.Data:
    """Rain, and whether the grass is wet, which one does not see on one rainy day in two."""
    rng = np.random.default_rng(3)
    frame = lc.simulate(RAIN, number, rng=1).to_frame()
    hidden = (frame["Rain"] == "yes") & (rng.random(number) < 0.5)
    frame["Wet"] = frame["Wet"].mask(hidden)
    return lc.Data(frame)


def learned(method: str, **options: Any) -> lc.Result:
    if method.startswith("informed"):
        options["groups"] = ["Rain"]
    if method == "mgraph":
        options["missingness"] = GRAPH
    return lc.learn(RAIN.with_tables(None), rows(), method, rng=0, **options)


def assert_same(one: Any, two: Any) -> None:
    """The same to the last bit, formulas in what is written of them, and all that files keep."""
    if isinstance(one, Network | Layout):
        one, two = getattr(one, "network", one), getattr(two, "network", two)
        assert one == two
    elif isinstance(one, np.ndarray):
        assert (one.dtype, one.shape) == (two.dtype, two.shape)
        np.testing.assert_array_equal(one, two)
    elif isinstance(one, Mapping):
        assert list(one) == list(two)
        for key in one:
            assert_same(one[key], two[key])
    elif isinstance(one, tuple):
        assert len(one) == len(two)
        for first, second in zip(one, two, strict=True):
            assert_same(first, second)
    elif is_dataclass(one) and type(one) is type(two):
        for own in fields(one):
            if own.name != "formula" and own.metadata.get("kept", True):
                assert_same(getattr(one, own.name), getattr(two, own.name))
    else:
        assert one == two or np.isnan([one, two]).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("pseudo_counts", [1.0, "learn"])
def test_a_result_of_every_method_comes_back_whole(
    method: str, pseudo_counts: Any, tmp_path: Path
) -> None:
    result = learned(method, pseudo_counts=pseudo_counts, intervals=True)
    result.write(tmp_path / "result.json")
    back = lc.read_result(tmp_path / "result.json")
    assert_same(back, result)
    assert str(back.pseudo_counts) == str(result.pseudo_counts)
    assert (str(back), back.methods_text()) == (str(result), result.methods_text())
    for name, report in result.families.items():
        own = back.families[name]
        assert (own.estimand, own.latex, own.mathml) == (
            report.estimand,
            report.latex,
            report.mathml,
        )
    for given in (result, back):
        given.interval("Wet")
    asked = result.query("Rain", {"Wet": "yes"})
    answer = back.query("Rain", {"Wet": "yes"})
    np.testing.assert_array_equal(answer, asked)
    np.testing.assert_array_equal(answer.interval, asked.interval)
    assert lc.read_network(tmp_path / "result.json") == result.network


def test_mechanisms_support_and_uncertainty_of_mechanisms_come_back(tmp_path: Path) -> None:
    result = learned("em", missingness=GRAPH, intervals=True)
    result.write(tmp_path / "result.json.gz")
    back = lc.read_result(tmp_path / "result.json.gz")
    assert_same(back, result)
    assert back.network.mechanisms is not None
    assert back.network.support is not None
    data = rows().source
    drawn = [one.impute(data, draws=2, rng=5) for one in (result, back)]
    for one, two in zip(*drawn, strict=True):
        assert one.equals(two)


def test_a_result_without_intervals_comes_back_without(tmp_path: Path) -> None:
    result = learned("em")
    result.write(tmp_path / "result.json")
    back = lc.read_result(tmp_path / "result.json")
    assert back.uncertainty is None
    np.testing.assert_array_equal(back.bounds("Wet").low, result.bounds("Wet").low)


def test_a_result_that_was_read_is_asked_as_the_one_that_was_written(tmp_path: Path) -> None:
    result, path = learned("em", intervals=True), str(tmp_path / "result.json")
    result.write(path)
    back = lc.read_result(path)
    np.testing.assert_array_equal(back.query("Wet").interval, result.query("Wet").interval)
    effect, same = (source.effect("Wet", do="Rain") for source in (back, result))
    np.testing.assert_array_equal(effect.to_frame(), same.to_frame())
    frame = rows().source
    with pytest.warns(lc.LacunetWarning, match="assumes MAR"):
        assert len(back.impute(frame, draws=2, rng=0)) == 2
    with pytest.warns(lc.LacunetWarning, match="assumes MAR"):
        back.predict(frame, "Rain")
    assert "em" in result.show(path).text


def test_the_layout_of_the_file_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    learned("em", intervals=True).write(path)
    path.write_text(json.dumps(json.loads(path.read_text()), indent=4), encoding="utf-8")
    assert lc.read_result(path).uncertainty is not None


def test_a_file_that_was_changed_is_refused_and_its_network_is_read(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    learned("em", intervals=True).write(path)
    data = json.loads(path.read_text())
    data["variables"][0]["cpt"] = [0.5, 0.5]
    path.write_text(json.dumps(data))
    with pytest.raises(FormatError, match="changed after it was written"):
        lc.read_result(path)
    assert lc.read_network(path).cpt(RAIN.variables[0]).table.tolist() == [0.5, 0.5]
    with warnings.catch_warnings(record=True):  # what the error offers
        assert main(["convert", str(path), "-o", str(tmp_path / "network.json")]) == 0
    assert lc.read_network(tmp_path / "network.json") == lc.read_network(path)


def test_a_network_is_not_a_result(tmp_path: Path) -> None:
    for name in ("net.json", "net.bif"):
        RAIN.write(tmp_path / name)
        with pytest.raises(FormatError, match="no result of learning"):
            lc.read_result(tmp_path / name)


def test_formats_that_carry_less_say_so(tmp_path: Path) -> None:
    result = learned("em", intervals=True)
    with pytest.warns(lc.LacunetWarning, match="how sure the CPTs are"):
        result.write(tmp_path / "result.bif")
    with pytest.raises(FormatError, match="cannot be written as"):
        result.write(tmp_path / "result.csv")
    learned("em").write(tmp_path / "network.bif")
    assert lc.read_network(tmp_path / "network.bif").variables == RAIN.variables


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("families", {"is": "map", "of": []}),
        ("rows", "many"),
        ("notes", 3),
        ("uncertainty", {"is": "Counts", "fields": {}}),
        ("uncertainty", {"is": "os.system", "fields": {}}),
        ("total", {"is": "array", "type": "O", "shape": [1], "bytes": ""}),
        ("unknown", 1),
    ],
)
def test_values_that_no_result_has_are_refused(field: str, value: Any, tmp_path: Path) -> None:
    """Also where the hash is right: a file can be made by anybody."""
    path = tmp_path / "result.json"
    learned("em", intervals=True).write(path)
    data = json.loads(path.read_text())
    own = [pair for pair in data["learned"]["known"]["of"] if pair[0] != field]
    data["learned"]["known"]["of"] = [*own, [field, value]]
    del data["learned"]["sha256"]
    data["learned"]["sha256"] = _digest(data)
    path.write_text(json.dumps(data))
    with pytest.raises(FormatError):
        lc.read_result(path)


def test_a_result_whose_recoverable_cpt_has_no_rows_can_be_read_again(tmp_path: Path) -> None:
    network = lc.Network({name: ["0", "1"] for name in "ABC"}, {"B": ["A"], "C": ["B"]})
    rows = {"A": [None] * 6, "B": ["0", "1"] * 3, "C": ["0", "1", "1"] * 2}
    result = lc.learn(network, rows, "mgraph", missingness="R[A]", otherwise="prior")
    result.write(tmp_path / "result.json")
    assert list(lc.read_result(tmp_path / "result.json").families) == ["A", "B", "C"]
