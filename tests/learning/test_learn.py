"""The road itself: what goes in, what comes out, what is refused at its head."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lacunet as lc
from examples import RAIN
from lacunet.data.errors import DataWarning
from lacunet.learning.closed_forms.forms import Deletion

ROWS = {
    "Rain": ["no", "yes", "no", "no"],
    "Sprinkler": ["off", None, "on", "off"],
    "Wet": ["no", "yes", None, "no"],
}


def test_a_result_tells_what_it_is() -> None:
    result = lc.learn(RAIN, ROWS, "direct-mcar", pseudo_counts=1)
    assert repr(result) == "<Result: 3 CPTs by direct-mcar from 4 rows, 3 warnings>"
    assert result.missing == {"Rain": 0, "Sprinkler": 1, "Wet": 1}
    assert result.network.parents_of == RAIN.parents_of
    assert repr(result.network) == "<Network: 3 variables, 3 edges, with CPTs>"


def test_the_report_on_a_family_prints_in_a_few_lines() -> None:
    result = lc.learn(RAIN, ROWS, "direct-mcar", pseudo_counts=1)
    first, estimand, rows, unsupported, warning = str(result.families["Wet"]).splitlines()
    assert first == "Wet given Rain, Sprinkler"
    assert estimand.strip() == result.families["Wet"].estimand
    assert rows == "  2 rows shown, 2 used; effective 2"
    assert unsupported == "  3 configurations of the parents unsupported"
    assert warning == f"  ! {result.families['Wet'].warnings[0]}"
    planned = lc.explain(RAIN, ROWS, "direct-mcar").families["Wet"]
    assert str(planned) == f"{first}\n{estimand}"
    assert repr(planned) == "<FamilyPlan: Wet given Rain, Sprinkler>"


def test_that_missing_values_may_depend_on_an_ignored_column_is_noted() -> None:
    rows = {**ROWS, "Season": ["dry", "wet", "wet", "dry"]}
    with pytest.warns(DataWarning, match="Sprinkler, Wet"):
        result = lc.learn(RAIN, rows)
    assert "lacunet.diagnose(data)" in result.notes[-1]
    complete = {name: ["no", "yes"] for name in ("Rain", "Wet")} | {"Sprinkler": ["off", "on"]}
    with pytest.warns(DataWarning, match="ignored"):
        result = lc.learn(RAIN, {**complete, "Season": ["dry", "wet"]})
    assert len(result.notes) == 2  # that the CPTs of the network are not used, too
    assert result.warnings[0] == result.notes[0]


def test_a_method_may_be_a_value_with_its_options() -> None:
    named = lc.learn(RAIN, ROWS, "factored-mcar", aggregation="mean")
    given = lc.learn(RAIN, ROWS, Deletion("factored", groups=None, aggregation="mean"))
    assert named.network == given.network


def test_the_cpts_of_the_network_given_are_not_looked_at() -> None:
    bare = RAIN.with_tables(None)
    assert lc.learn(RAIN, ROWS).network == lc.learn(bare, ROWS).network


@pytest.mark.parametrize("method", ["em", "direct-mcar"])
def test_a_column_without_a_value_is_noted_unless_it_is_latent(method: str) -> None:
    rows = {**ROWS, "Sprinkler": [None] * 4}
    with pytest.warns(DataWarning, match="'Sprinkler'"):
        result = lc.learn(RAIN, rows, method)
    assert any("no row shows 'Sprinkler'" in note for note in result.notes)
    del rows["Sprinkler"]
    result = lc.learn(RAIN, lc.Data(rows, latent=["Sprinkler"]), method)
    assert not any("no row shows" in note for note in result.notes)


def test_weights_may_be_a_column_or_an_array() -> None:
    weights = [1.0, 2.0, 0.5, 3.0]
    by_column = lc.learn(RAIN, lc.Data({**ROWS, "w": weights}, weight="w"), "factored-mar")
    by_array = lc.learn(RAIN, lc.Data(ROWS, weight=np.array(weights)), "factored-mar")
    assert by_column.network == by_array.network
    assert by_column.total == pytest.approx(6.5**2 / (1 + 4 + 0.25 + 9))  # what they are worth


def test_memory_takes_sizes_with_their_unit() -> None:
    rows = {"A": ["no", "yes"] * 5}
    assert lc.learn("A", rows, memory="500MB").query(
        "A", memory="1 GiB"
    ).probabilities.tolist() == [0.5, 0.5]
    with pytest.raises(lc.LacunetError, match="memory"):
        lc.learn("A", rows, memory="0.001KB")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"network": 5}, "int"),
        ({"network": "rows.csv", "data": RAIN}, "network"),
        ({"data": RAIN}, "the data are a network"),
        ({"weights": "pop"}, "'weights'"),
        ({"method": 5}, "method is 5"),
        ({"method": "magic"}, "'magic'"),
        ({"method": "MLE"}, "'MLE'"),
        ({"method": "EM"}, "'em'"),
        ({"method": "factored_mar"}, "'factored-mar'"),
        ({"pseudo_counts": -0.5}, "pseudo_counts is -0.5"),
        ({"pseudo_counts": "2"}, "pseudo_counts is '2'"),
        ({"pseudo_counts": float("nan")}, "pseudo_counts is nan"),
        ({"pseudo_counts": True}, "pseudo_counts is True"),
        ({"memory": "500"}, "'500'"),
        ({"memory": "much"}, "memory is 'much'"),
        ({"memory": 0.5}, r"memory is 0\.5"),
        ({"memory": -1}, "memory is -1"),
        ({"memory": float("nan")}, "memory is nan"),
        ({"memory": float("inf")}, "memory is inf"),
        ({"intervals": 0.9}, r"intervals is 0\.9"),
        ({"data": 42}, "data of the type int"),
        ({"data": None}, "data of the type NoneType"),
        (
            {"method": "direct-mcar", "aggregation": "mean"},
            "'aggregation': .*an option of 'direct-mcar'",
        ),
        ({"method": "factored-mar", "aggregation": "mode"}, "aggregation is 'mode'"),
        ({"method": Deletion("factored", groups=None), "aggregation": "mean"}, "aggregation"),
        ({"method": "mgraph"}, "needs a missingness graph"),
    ],
)
def test_what_makes_no_sense_is_refused_before_data_are_read(
    arguments: dict[str, Any], message: str
) -> None:
    others: dict[str, Any] = {"network": RAIN, "data": "no-such-file.csv"}
    with pytest.raises(lc.LacunetError, match=message):
        lc.learn(**(others | arguments))


def test_pseudo_counts_may_be_any_real_number() -> None:
    pseudo_counts: Any = np.int64(1)
    given = lc.learn(RAIN, ROWS, "em", pseudo_counts=pseudo_counts)
    assert given.network == lc.learn(RAIN, ROWS, "em", pseudo_counts=1.0).network


PAIRS = [("Rain", "Wet")]
SEEN = {"Rain": ["no", "yes", "no"], "Wet": ["no", "yes", "yes"]}


@pytest.mark.parametrize(
    ("first", "second", "order"),
    [
        ("rows.csv", PAIRS, r"learn\(edges, 'rows.csv'\)"),
        ("rows.csv", "Rain -> Wet", r"learn\('Rain -> Wet', 'rows.csv'\)"),
        ("rows.csv", RAIN, r"learn\(network, 'rows.csv'\)"),
        ("rows.csv", "rain.bif", r"learn\('rain.bif', 'rows.csv'\)"),
        ("rows.csv", "asia", r"learn\('asia', 'rows.csv'\)"),
        (pd.DataFrame(SEEN), PAIRS, r"learn\(edges, data\)"),
        (pd.DataFrame(SEEN), ["Rain -> Wet"], r"learn\(edges, data\)"),
    ],
)
def test_data_before_edges_are_answered_with_the_order(first: Any, second: Any, order: str) -> None:
    with pytest.raises(lc.LacunetError, match=rf"swapped(?s:.)*{order}"):
        lc.learn(first, second)


@pytest.mark.parametrize(
    "name",
    [
        *("learn", "explain", "count"),
        *("sensitivity", "worst_case", "hide"),
    ],
)
def test_the_function_that_was_called_is_named_where_its_arguments_are_swapped(name: str) -> None:
    frame: Any = pd.DataFrame(SEEN)
    called: Any = getattr(lc, name)
    rest: dict[str, list[Any]] = {
        "sensitivity": ["Wet=yes", "Wet"],
        "worst_case": ["Wet"],
        "hide": [lc.MCAR(0.7, share=0.3)],
    }
    more = rest.get(name, [])
    for first, given in ((frame, "data"), ("rows.csv", "'rows.csv'"), (SEEN, "data")):
        with pytest.raises(lc.LacunetError, match=rf"{name}\(network, {given}[,)]"):
            called(first, RAIN, *more)


def test_data_in_place_of_a_network_are_answered_in_python(tmp_path: Path) -> None:
    pd.DataFrame(SEEN).assign(Id=1).to_csv(tmp_path / "rows.csv", index=False)
    for first in (tmp_path / "rows.csv", pd.DataFrame(SEEN)):
        with pytest.raises(lc.LacunetError, match="network") as refused:
            lc.learn(first, SEEN)
        assert "--edges" not in str(refused.value)


def test_the_name_of_a_column_is_a_network_of_one_variable() -> None:
    assert lc.learn("Rain", SEEN).network.variables == ("Rain",)
    assert lc.learn("is wet?", {"is wet?": ["no", "yes"]}).edges == ()


@pytest.mark.parametrize("text", ["Wet ~ Rain", "", "Rain Wet"])
def test_a_text_that_is_neither_a_file_nor_edges_is_answered_with_both(text: str) -> None:
    refused = r"neither a network file nor edges.\n.*'Age -> Ill"
    with pytest.raises(lc.LacunetError, match=refused):
        lc.learn(text, SEEN)


def test_edges_without_a_direction_are_told_so() -> None:
    with pytest.raises(lc.LacunetError, match="direction"):
        lc.learn("Rain -- Wet", SEEN)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("edges.txt", "Rain -> Wet\n"),
        ("edges.txt", "from,to\nRain,Wet\n"),
        ("edges.txt", "Rain\tWet\n"),
        ("edges.csv", "Rain,Wet\n"),
        ("edges.dot", "digraph { Rain -> Wet }"),
        ("edges", "[Rain][Wet|Rain]"),
    ],
)
def test_a_file_of_edges_stands_for_them(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    for path in (tmp_path / name, str(tmp_path / name)):
        assert lc.learn(path, SEEN).network.parents("Wet") == ("Rain",)


def test_a_file_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(lc.LacunetError, match="such"):
        lc.learn(str(tmp_path / "edges.txt"), SEEN)
