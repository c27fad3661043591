"""Prediction and imputation for every kind of dataframe."""

from __future__ import annotations

import tracemalloc
import warnings
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lacunet as lc
from examples import RAIN
from lacunet.ask.impute.pieces import completed_pieces
from lacunet.ask.predict.missingness_assumptions import AssumptionWarning
from lacunet.ask.predict.posteriors import unsupported_completion_shares
from lacunet.ask.predict.predict import GIVEN
from lacunet.data.errors import DataError, DataWarning
from lacunet.data.original_tables import FEW_ROWS, few_rows
from lacunet.data.table import EncodedTable
from lacunet.data.write import write_arrow
from lacunet.inference.completions import most_probable
from lacunet.inference.errors import (
    ImpossibleDataError,
    ImpossibleEvidenceError,
    UnsupportedError,
)
from lacunet.network.errors import NetworkError
from strategies import networks, tables

ROWS: dict[str, list[Any]] = {
    "Day": [10, 20, 30, 40],
    "Rain": ["no", None, "yes", None],
    "Wet": ["yes", "yes", None, "?"],
    "Sprinkler": [None, "on", "off", None],
}
KINDS = {
    "pandas": pd.DataFrame(ROWS, index=[7, 5, 5, 1]),
    "polars": pl.DataFrame(ROWS),
    "pyarrow": pa.table(ROWS),
    "dict": ROWS,
}


def as_lists(frame: Any) -> dict[Any, list[Any]]:
    if isinstance(frame, pd.DataFrame):
        return frame.to_dict("list")
    if isinstance(frame, pl.DataFrame):
        return frame.to_dict(as_series=False)
    return frame.to_pydict() if isinstance(frame, pa.Table) else frame


@pytest.mark.filterwarnings("ignore:.* some of the targets and miss others")
@pytest.mark.parametrize("kind", KINDS)
def test_each_row_gets_what_a_query_gives(kind: str) -> None:
    frame = KINDS[kind]
    found = RAIN.predict(frame, ["Rain", "Wet"])
    assert type(found) is type(frame)
    rows = as_lists(found)
    assert list(rows) == ["Rain=no", "Rain=yes", "Wet=no", "Wet=yes"]
    for row in range(4):
        shown = {"Sprinkler": ROWS["Sprinkler"][row]}  # no target is evidence
        for name in ("Rain", "Wet"):
            answer = RAIN.query(name, shown)
            got = [rows[f"{name}={state}"][row] for state in RAIN.states(name)]
            np.testing.assert_allclose(got, answer, rtol=1e-12, atol=1e-14)
    if isinstance(found, pd.DataFrame):
        assert found.index.tolist() == [7, 5, 5, 1]


def test_most_probable_states_and_log_probabilities_come_on_request() -> None:
    frame = pd.DataFrame({"Wet": ["yes", "no", None]})
    found = RAIN.predict(
        lc.Data(frame, latent=["Sprinkler"]), "Rain", give=["states", "log-probability"]
    )
    assert found["Rain"].tolist() == ["no", "no", "no"]
    np.testing.assert_allclose(np.exp(found["log-probability"]), [0.44838, 0.55162, 1], rtol=1e-12)


def test_a_target_that_is_shown_is_not_its_own_evidence() -> None:
    frame = pd.DataFrame({"Rain": ["yes"], "Wet": ["yes"], "Sprinkler": [None]})
    predicted = RAIN.predict(frame, ["Rain"]).to_numpy()[0]
    np.testing.assert_allclose(predicted, RAIN.query("Rain", {"Wet": "yes"}), rtol=1e-12)
    given = RAIN.predict(frame, ["Rain", "Sprinkler"], given_targets=True)
    assert given[["Rain=no", "Rain=yes"]].to_numpy().tolist() == [[0.0, 1.0]]
    both = RAIN.query("Sprinkler", {"Rain": "yes", "Wet": "yes"})
    np.testing.assert_allclose(given.to_numpy()[0, 2:], both, rtol=1e-12)


def test_log_probabilities_are_those_of_all_that_a_row_shows() -> None:
    frame = pd.DataFrame({"Rain": ["yes", None], "Wet": ["yes", "no"], "Sprinkler": [None, "on"]})
    found = RAIN.predict(frame, "Rain", give="log-probability")["log-probability"]
    for row in (0, 1):
        whole = RAIN.log_likelihood(frame.iloc[[row]])
        np.testing.assert_allclose(found[row], whole, rtol=1e-12)


@st.composite
def supported_rows(draw: st.DrawFn) -> tuple[lc.Network, EncodedTable]:
    network = draw(networks(max_variables=5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    support = {v: rng.random(network.shape(network.parents(v))) < 0.7 for v in network.variables}
    return network.with_support(support), draw(tables(network, max_rows=12))


@given(supported_rows())
def test_each_prediction_has_the_share_that_a_query_gives(
    case: tuple[lc.Network, EncodedTable],
) -> None:
    network, table = case
    targets = network.variables[:2]
    rows = {
        name: [[*network.states(name), None][code] for code in table.columns[name]]
        for name in network.variables
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lc.LacunetWarning)  # rows of probability zero
        by_batch, by_query = (
            network.predict(frame, targets, give=["probabilities", "unsupported"])
            for frame in (pd.DataFrame(rows), {name: own[:8] for name, own in rows.items()})
        )
    for row in range(table.rows):
        shown = {name: own[row] for name, own in rows.items() if name not in targets}
        for name in targets:
            columns = [f"{name}={state}" for state in network.states(name)]
            got = by_batch.loc[row, columns].to_numpy(float)
            try:
                answer = network.query(name, shown, unsupported="ignore")
            except ImpossibleEvidenceError:
                assert np.isnan(got).all()
                continue
            np.testing.assert_allclose(got, answer, atol=1e-9)
            share = by_batch.loc[row, f"unsupported({name})"]
            np.testing.assert_allclose(share, answer.unsupported, atol=1e-9)
            if row < 8:
                few = [by_query[column][row] for column in columns]
                np.testing.assert_allclose(few, answer, atol=1e-12)
                np.testing.assert_allclose(
                    by_query[f"unsupported({name})"][row], answer.unsupported, atol=1e-12
                )


def test_what_rules_say_rests_on_no_other_cpt_row() -> None:
    rule = {"Now": "Smoked=no"}
    survey = lc.Network(
        {"Age": ["old", "young"], "Smoked": ["no", "yes"], "Now": ["a bit", "a lot", "not_asked"]},
        {"Smoked": ["Age"], "Now": ["Smoked", "Age"]},
        {
            "Age": [0.5, 0.5],
            "Smoked": [[0.2, 0.8], [0.6, 0.4]],
            "Now": [[[0.0, 0.0, 1.0]] * 2, [[0.3, 0.7, 0.0], [0.4, 0.6, 0.0]]],
        },
        codes={"Now": {"now": ["a bit", "a lot"], "x": ["a bit", "not_asked"]}},
        not_asked=rule,
    ).with_support({"Age": 9, "Smoked": [9, 9], "Now": [[9, 9], [0, 9]]})
    rows = [("yes", "now"), ("no", None), ("no", "x"), ("no", "not_asked"), ("yes", "a bit")]
    frame = pd.DataFrame(rows, columns=["Smoked", "Now"])
    given = survey.predict(frame.assign(Age=None), "Age", give="unsupported", unsupported="ignore")
    # Pr(old | Smoked = yes, Now = a bit) = .24 / (.24 + .16)
    expected = [0, 0, 0, 0, 0.6]
    np.testing.assert_allclose(given["unsupported(Age)"], expected, atol=1e-12)
    compiled = survey.compile("Age")
    for row, share in zip(frame.to_dict("records"), expected, strict=True):
        answer = survey.query("Age", row, unsupported="ignore")
        for own in (answer, compiled(row)["Age"]):
            np.testing.assert_allclose(own.unsupported, share, atol=1e-12)


def test_bounds_of_rows_with_one_of_several_states_are_those_of_a_query() -> None:
    states = {"Age": ["kid", "adult", "old"], "MI": ["no", "yes"]}
    tables = {"Age": [0.4, 0.5, 0.1], "MI": [[0.5, 0.5], [0.96, 0.04], [0.8, 0.2]]}
    codes = {"Age": {"18-": ["kid", "adult"], "18+": ["adult", "old"]}}
    support = {"Age": 9, "MI": [0, 9, 9]}
    rows = {"Age": ["18-", "18+", None, "kid"], "MI": [None] * 4}
    ages, bare = (
        lc.Network(states, {"MI": ["Age"]}, tables, codes=own).with_support(support)
        for own in (codes, {})
    )
    for network, data in ((ages, rows), (bare, lc.Data(rows, codes=codes))):
        found = network.predict(data, "MI", unsupported="bounds")
        # .5 * .04 / .9 and the weight .4 / .9 of kids; adults and the old have data
        expected = [[0.02 / 0.9, 0.42 / 0.9], [0.04 / 0.6] * 2, [0.04, 0.44], [0, 1]]
        ends = np.transpose([found["lowest(MI=yes)"], found["highest(MI=yes)"]])
        np.testing.assert_allclose(ends, expected, rtol=1e-12, atol=1e-12)


@given(supported_rows())
def test_the_share_of_a_completion_is_by_definition(case: tuple[lc.Network, EncodedTable]) -> None:
    network, table = case
    found = unsupported_completion_shares(network, table)
    assert network.support is not None
    for row in range(table.rows):
        bare = total = 0.0
        hidden = {v for v in network.variables if table.columns[v][row] == network.cardinality(v)}
        for states in product(*(range(network.cardinality(v)) for v in network.variables)):
            at = dict(zip(network.variables, states, strict=True))
            if any(at[v] != table.columns[v][row] for v in at if v not in hidden):
                continue
            weight = np.prod(
                [network.cpt(v).table[tuple(at[u] for u in network.family(v))] for v in at]
            )
            total += weight
            bare += weight * any(
                not network.support[v][tuple(at[u] for u in network.parents(v))]
                for v in at
                if hidden & set(network.family(v))
            )
        if total:
            np.testing.assert_allclose(found[row], bare / total, atol=1e-9)


def test_what_predictions_and_completions_rest_on_is_said() -> None:
    heart = lc.Network(
        {"Age": ["kid", "adult"], "MI": ["no", "yes"]},
        {"MI": ["Age"]},
        {"Age": [0.4, 0.6], "MI": [[0.5, 0.5], [0.95, 0.05]]},
    ).with_support({"Age": 1000, "MI": [0, 600]})
    rows = {"Age": ["kid", "adult", None], "MI": [None, None, "no"]}
    with pytest.warns(lc.LacunetWarning, match=r"'MI': .* 2 rows .* 100.0% in row 1"):
        found = heart.predict(rows, "MI", give="unsupported")
    np.testing.assert_allclose(found["unsupported(MI)"], [1, 0, 0.4])
    with pytest.warns(lc.LacunetWarning, match=r"completions: .* 2 rows"):
        heart.impute(rows, how="most probable")
    for call in (partial(heart.predict, targets="MI"), heart.impute):
        with pytest.raises(UnsupportedError, match=r"100.0% in row 1"):
            call(rows, unsupported="refuse")
    with pytest.raises(lc.LacunetError, match="does not know"):
        heart.with_support(None).predict(rows, "MI", give="unsupported")


@given(networks(max_variables=4, max_parents=2), st.data())
def test_bounds_of_predictions_are_those_of_queries(
    network: lc.Network, data: st.DataObject
) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    network = network.with_support(
        {v: rng.random(network.shape(network.parents(v))) < 0.7 for v in network.variables}
    )
    target = network.variables[-1]
    cells = {v: [*network.states(v), None] for v in network.variables}
    rows = {v: [own[at] for at in rng.integers(0, len(own), 4)] for v, own in cells.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows of probability zero
        found = network.predict(rows, target, unsupported="bounds")
    for row in range(4):
        seen = {v: own[row] for v, own in rows.items() if v != target}
        lowest, highest = (
            [found[f"{end}({target}={state})"][row] for state in network.states(target)]
            for end in ("lowest", "highest")
        )
        try:
            expected = network.query(target, seen, unsupported="bounds").bounds
        except ImpossibleEvidenceError:
            assert np.isnan([*lowest, *highest]).all()
            continue
        np.testing.assert_allclose([lowest, highest], np.array(expected), atol=1e-12)


def test_a_completed_table_has_no_bounds() -> None:
    with pytest.raises(lc.LacunetError, match="'bounds'"):
        RAIN.impute(ROWS, unsupported="bounds", how="most probable")  # type: ignore[arg-type]


def test_names_of_columns_do_not_meet() -> None:
    network = lc.Network(
        {"A": ["b=c", "d"], "A=b": ["c", "d"]},
        tables={"A": [0.25, 0.75], "A=b": [0.5, 0.5]},
    )
    found = network.predict({"A": [None]}, ["A", "A=b"])
    assert found == {
        '"A"="b=c"': [0.25],
        '"A"="d"': [0.75],
        '"A=b"="c"': [0.5],
        '"A=b"="d"': [0.5],
    }
    assert list(network.predict({"A=b": [None]}, "A")) == ["A=b=c", "A=d"]


def test_naming_the_columns_of_one_prediction_names_no_others() -> None:
    first = RAIN.predict(pd.DataFrame(ROWS), "Rain")
    first.columns.name = "posterior"
    assert RAIN.predict(pd.DataFrame(ROWS), "Rain").columns.name is None


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "dict", "file"])
@pytest.mark.parametrize("many", [1, 5])
def test_predicted_states_are_written_as_the_data_write_them(
    kind: str, many: int, tmp_path: Path
) -> None:
    rows: dict[str, list[Any]] = {
        "Grade": [1, 2, 3, None] * many,
        "Pass": [True, False, True, None] * many,
        "Sex": ["f", "m", "m", None] * many,
        "Age": [20, 40, 60, None] * many,
    }
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "dict": dict}.get(kind, pa.table)
    frame: Any = make(rows)
    network = lc.Network(
        {
            "Grade": ["1", "2", "3"],
            "Pass": ["False", "True"],
            "Sex": ["female", "male"],
            "Age": ["young", "old"],
        },
        cuts={"Age": [0, 50, 100]},
        codes={"Sex": {"f": "female", "m": "male"}},
    )
    tables = {"Grade": [0.2, 0.5, 0.3], "Pass": [0.25, 0.75], "Sex": [0.4, 0.6], "Age": [0.9, 0.1]}
    network = network.with_tables(tables)
    if kind == "file":
        frame = tmp_path / "rows.parquet"
        write_arrow(make(rows), frame)
    targets = ["Grade", "Pass", "Sex", "Age"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lc.LacunetWarning)
        found = as_lists(network.predict(frame, targets, give="states"))
        completed = as_lists(network.impute(frame, how="most probable"))
    assert found == {
        "Grade": [2] * 4 * many,
        "Pass": [True] * 4 * many,
        "Sex": ["m"] * 4 * many,
        "Age": ["young"] * 4 * many,
    }
    for name in targets[:3]:
        assert type(found[name][0]) is type(completed[name][-1]), name
    assert completed["Age"] == [20, 40, 60, 30] * many  # the mean of its interval


def test_a_dict_of_single_values_is_one_row() -> None:
    row = {"Rain": None, "Wet": "yes", "Sprinkler": "on"}
    lists = {name: [value] for name, value in row.items()}
    assert RAIN.predict(row, "Rain") == RAIN.predict(lists, "Rain")
    assert RAIN.impute(row, how="most probable") == RAIN.impute(lists, how="most probable")
    with pytest.raises(DataError, match="lists"):
        RAIN.predict({"Wet": "yes", "Sprinkler": ["on"]}, "Rain")


def test_a_value_spelled_like_a_state_is_answered_with_it_and_with_what_reads_the_others() -> None:
    row = {"Wet": "Yes", "Sprinkler": "on"}
    with pytest.raises(DataError, match=r"did you mean 'yes'\?.*lacunet\.Data\(data, unknown="):
        RAIN.predict(row, "Rain")


def test_variables_without_a_column_are_not_known() -> None:
    with pytest.warns(lc.LacunetWarning, match=r"no column for .*Sprinkler"):
        found = RAIN.predict({"Wet": ["yes"]}, "Rain")
    assert RAIN.predict({"Wet": "yes"}, "Rain") == found  # one new row: no warning
    same = RAIN.predict({"Wet": "yes", "Sprinkler": None}, "Rain")
    np.testing.assert_allclose(found["Rain=yes"], same["Rain=yes"], rtol=1e-12)
    with pytest.raises(DataError, match="Sprinkler"):  # or is it misspelled?
        RAIN.predict({"Wet": "yes", "sprinkler": "on"}, "Rain")
    with pytest.raises(DataError, match="no column"):
        RAIN.predict({"Day": 1}, "Rain")


def test_a_compiled_predictor_gives_what_predict_gives() -> None:
    asia = lc.example("asia")
    predictor = asia.compile(["lung", "bronc"])
    row: dict[str, Any] = dict.fromkeys(asia.variables, "no") | {"smoke": "yes", "Id": 7}
    row["xray"] = float("nan")
    found = predictor(row)
    shown = dict.fromkeys(("asia", "tub", "either", "dysp"), "no") | {"smoke": "yes"}
    for name in ("lung", "bronc"):
        np.testing.assert_allclose(found[name], asia.query(name, shown), rtol=1e-12)
    with pytest.raises(NetworkError, match="'Snow'"):
        asia.compile("Snow")
    with pytest.raises(NetworkError, match="without parameters"):
        asia.with_tables(None).compile("lung")
    with pytest.raises(NetworkError, match="'perhaps'"):
        predictor({"smoke": "perhaps"})


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "dict"])
def test_one_row_and_many_are_predicted_alike(kind: str) -> None:
    network = lc.example("alarm")
    rng = np.random.default_rng(11)
    rows = network.sample(40, rng=rng).astype(object)
    rows = rows.mask(rng.random(rows.shape) < 0.4, None)
    targets = ["HR", "SAO2"]
    make: Any = {
        "pandas": lambda frame: frame,
        "polars": lambda frame: pl.DataFrame(frame.to_dict("list")),
        "pyarrow": lambda frame: pa.table(frame.to_dict("list")),
        "dict": lambda frame: frame.to_dict("list"),
    }[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lc.LacunetWarning)  # rows that show one target of two
        whole = as_lists(network.predict(make(rows), targets))
        alone = [as_lists(network.predict(make(rows.iloc[[row]]), targets)) for row in range(40)]
    predictor = network.compile(targets)
    for row, predicted in enumerate(alone):
        answers = predictor(rows.iloc[row].to_dict())
        for name, (cell,) in predicted.items():
            target, _, state = name.partition("=")
            np.testing.assert_allclose(cell, whole[name][row], rtol=1e-10, atol=1e-14)
            np.testing.assert_allclose(cell, answers[target][state], rtol=1e-10, atol=1e-14)


def test_a_row_that_contradicts_a_rule_is_impossible_to_a_predictor() -> None:
    network = lc.Network(
        {"Smoked": ["no", "yes"], "Now": ["some", "not_asked"], "Ill": ["no", "yes"]},
        {"Now": ["Smoked"], "Ill": ["Smoked"]},
        {"Smoked": [0.5, 0.5], "Now": [[0, 1], [1, 0]], "Ill": [[0.8, 0.2], [0.4, 0.6]]},
        not_asked={"Now": "Smoked=no"},
    )
    predictor = network.compile("Ill")
    assert predictor({"Smoked": "no", "Now": None})["Ill"].probabilities.tolist() == [0.8, 0.2]
    with pytest.raises(ImpossibleEvidenceError):
        predictor({"Smoked": "no", "Now": "some"})


def test_completing_a_chain_takes_memory_in_proportion_to_its_length() -> None:
    peaks = []
    for length in (250, 2000):
        names = [f"V{at}" for at in range(length)]
        rows: Any = [[0.9, 0.1], [0.2, 0.8]]
        chain = lc.Network(
            {name: ["0", "1"] for name in names},
            {child: [parent] for parent, child in pairwise(names)},
            dict.fromkeys(names, rows) | {names[0]: [0.5, 0.5]},
        )
        rng = np.random.default_rng(1)
        columns = {name: rng.integers(0, 3, 20).astype(np.uint8) for name in names}
        table = EncodedTable(chain.cardinality_of, columns)
        most_probable(chain, table)  # what is kept for the structure is kept
        tracemalloc.start()
        most_probable(chain, table)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 12 * peaks[0]  # eight times as long; the square would be 64 times


@pytest.mark.parametrize("kind", KINDS)
def test_the_most_probable_completion_is_filled_in_and_all_else_is_kept(kind: str) -> None:
    frame = KINDS[kind]
    before = as_lists(frame)
    whole = RAIN.impute(frame, how="most probable")
    assert type(whole) is type(frame)
    rows = as_lists(whole)
    # Row 1: the sprinkler alone explains wet grass. Row 4: dry, no rain, off: .8 * .6.
    assert rows == {
        "Day": [10, 20, 30, 40],
        "Rain": ["no", "no", "yes", "no"],
        "Wet": ["yes", "yes", "yes", "no"],
        "Sprinkler": ["on", "on", "off", "off"],
    }
    assert as_lists(frame) == before == ROWS or kind == "pandas"
    if isinstance(whole, pd.DataFrame):
        assert whole.index.tolist() == [7, 5, 5, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_draws_are_frames_that_keep_what_is_shown(kind: str) -> None:
    drawn = RAIN.impute(KINDS[kind], draws=5, rng=2, proper=False)
    assert len(drawn) == 5
    for whole in drawn:
        rows = as_lists(whole)
        assert rows["Day"] == ROWS["Day"]
        for name in RAIN.variables:
            for shown, now in zip(ROWS[name], rows[name], strict=True):
                assert now == shown or shown in (None, "?")
                assert now in RAIN.states(name)
    assert len({str(as_lists(whole)) for whole in drawn}) > 1


def test_by_default_there_is_one_draw() -> None:
    rows = {"Rain": [None] * 4000, "Wet": ["yes"] * 4000, "Sprinkler": ["on"] * 4000}
    whole = RAIN.impute(rows, rng=3)
    assert whole == RAIN.impute(rows, 1, rng=3)[0] == RAIN.impute(rows, how="draw", rng=3)
    expected = RAIN.query("Rain", {"Wet": "yes", "Sprinkler": "on"})["yes"]
    share = whole["Rain"].count("yes") / 4000
    assert share == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / 4000))
    likeliest = RAIN.impute(rows, how="most probable")["Rain"]
    assert set(likeliest) == {"yes" if expected > 0.5 else "no"}


def test_a_way_to_complete_rows_that_there_is_not_is_refused() -> None:
    with pytest.raises(lc.LacunetError, match="'mean'"):
        RAIN.impute(ROWS, how="mean")  # type: ignore[call-overload]
    with pytest.raises(lc.LacunetError, match="draws=5"):
        RAIN.impute(ROWS, 5, how="most probable")


def test_columns_keep_their_types() -> None:
    network = lc.Network(
        {"N": ["1", "2"], "B": ["False", "True"], "C": ["lo", "hi"], "F": ["1.5", "2.5"]},
        {"B": ["N"], "C": ["N"], "F": ["N"]},
        {"N": [0.5, 0.5], "B": [[1, 0], [0, 1]], "C": [[1, 0], [0, 1]], "F": [[1, 0], [0, 1]]},
    )
    frame = pd.DataFrame(
        {
            "N": pd.array([1, 2, None], dtype="Int64"),
            "B": pd.array([False, None, True], dtype="boolean"),
            "C": pd.Categorical(["lo", None, "hi"], ["hi", "lo"]),
            "F": [1.5, 2.5, np.nan],
        }
    )
    whole = network.impute(frame, how="most probable")
    assert whole.dtypes.tolist() == frame.dtypes.tolist()
    assert whole["N"].tolist() == [1, 2, 2]
    assert whole["B"].tolist() == [False, True, True]
    assert whole["C"].tolist() == ["lo", "hi", "hi"]
    assert whole["F"].tolist() == [1.5, 2.5, 2.5]


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "dict"])
def test_a_number_that_no_row_has_is_still_a_number(kind: str) -> None:
    network = lc.Network({"N": ["1", "2"]}, tables={"N": [0.1, 0.9]})
    frame: Any = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table, "dict": dict}
    assert as_lists(network.impute(frame[kind]({"N": [1.0, None]}), how="most probable")) == {
        "N": [1.0, 2.0]
    }


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "dict"])
def test_a_text_that_no_row_has_is_still_a_text(kind: str) -> None:
    network = lc.Network({"T": ["a", "b"]}, tables={"T": [0.1, 0.9]})
    rows = {"T": ["a", None]}
    frame: Any = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table, "dict": dict}
    whole = network.impute(frame[kind](rows), how="most probable")
    assert type(whole) is type(frame[kind](rows))
    assert as_lists(whole) == {"T": ["a", "b"]}
    if kind == "pandas":
        assert whole["T"].dtype == pd.DataFrame(rows)["T"].dtype


SMOKERS = lc.Network(
    {"Smoked": ["yes", "no"], "Now": ["yes", "no", "not_asked"]},
    {"Now": ["Smoked"]},
    {"Smoked": [0.5, 0.5], "Now": [[0.3, 0.7, 0.0], [0.0, 0.0, 1.0]]},
).with_codes(
    {"Smoked": {1: "yes", 2: "no"}, "Now": {1: "yes", 2: "no", 9: None}}, {"Now": "Smoked=no"}
)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "dict", "csv", "parquet"])
@pytest.mark.parametrize("as_text", [False, True])
def test_a_question_that_was_not_asked_stays_empty_in_a_column_of_numbers(
    kind: str, as_text: bool, tmp_path: Path
) -> None:
    cells = ["1.0", "2.0", "9.0", None] if as_text else [1.0, 2.0, 9.0, None]
    rows = {"Smoked": [1, 1, 1, 2], "Now": cells}
    frame: Any = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table, "dict": dict}
    path = tmp_path / f"rows.{kind}"
    if kind in ("csv", "parquet"):
        write_arrow(pa.table(rows), path)
    whole = as_lists(
        SMOKERS.impute(frame[kind](rows) if kind in frame else path, how="most probable")
    )
    *answered, not_asked = whole["Now"]
    if as_text or kind in ("csv", "dict"):
        assert not_asked == "not_asked"
    else:
        assert not_asked is None or np.isnan(not_asked)
    assert answered == (
        ["1", "2", "2"] if kind == "csv" and not as_text else [*cells[:2], cells[1]]
    )
    assert [str(cell) for cell in whole["Smoked"]] == ["1", "1", "1", "2"]
    if kind not in frame:
        [(_, piece)] = completed_pieces(SMOKERS, path, rng=np.random.default_rng(0))
        assert as_lists(piece) == whole


def test_a_cell_that_contradicts_its_rule_lends_its_value_to_no_other() -> None:
    rows = {"Smoked": [1, 1, 2, 2], "Now": ["yes", "no", "yes", None]}
    with pytest.warns(UserWarning, match="contradict"):
        whole = SMOKERS.impute(lc.Data(rows, unknown="missing"), how="most probable")
    assert whole["Now"] == ["yes", "no", "yes", "not_asked"]


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_half_among_whole_numbers_makes_a_column_of_numbers(kind: str) -> None:
    network = lc.Network({"N": ["1", "2.5"]}, tables={"N": [0.1, 0.9]}).with_codes({"N": {9: None}})
    frame: Any = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
    assert as_lists(network.impute(frame[kind]({"N": [1, 9]}), how="most probable")) == {
        "N": [1, 2.5]
    }


def test_a_number_that_the_network_cuts_is_filled_in_as_the_mean_of_its_interval() -> None:
    network = lc.Network(
        {"Age": ["[0,40)", "[40,99]"], "Ill": ["no", "yes"]},
        {"Ill": ["Age"]},
        {"Age": [0.5, 0.5], "Ill": [[1, 0], [0, 1]]},
        cuts={"Age": [0, 40, 99]},
    )
    rows = pd.DataFrame({"Age": [30, 50, None, 71], "Ill": [None, "yes", "yes", "yes"]})
    with pytest.warns(lc.LacunetWarning, match="numbers of 'Age'.*mean of their interval"):
        whole = network.impute(rows, how="most probable")
    assert whole["Age"].tolist() == [30, 50, 60.5, 71]
    assert whole["Ill"].tolist() == ["no", "yes", "yes", "yes"]
    untouched = network.impute(
        pd.DataFrame({"Age": [30, 50], "Ill": [None, "yes"]}), how="most probable"
    )
    assert untouched["Age"].tolist() == [30, 50]


def test_files_become_arrow_tables(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("Day,Rain,Wet,Sprinkler\n1,,yes,on\n2,yes,?,off\n")
    whole = RAIN.impute(path, how="most probable")
    assert whole.to_pydict() == {
        "Day": ["1", "2"],
        "Rain": ["no", "yes"],
        "Wet": ["yes", "yes"],
        "Sprinkler": ["on", "off"],
    }
    assert RAIN.predict(str(path), "Rain").num_rows == 2


@pytest.mark.parametrize("more", [0, 20])  # a few rows are asked one by one
def test_a_row_that_shows_one_of_two_targets_is_warned_of(more: int) -> None:
    rows = {"Rain": ["no", None, "yes"], "Wet": ["yes", None, None], "Sprinkler": ["on"] * 3}
    rows = {name: [*cells, *[cells[0]] * more] for name, cells in rows.items()}
    with pytest.warns(lc.LacunetWarning, match="^1 row shows some of the targets and misses"):
        found = RAIN.predict(rows, ["Rain", "Wet"])
    assert found["Wet=no"][1] == found["Wet=no"][2]
    RAIN.predict(rows, ["Rain", "Wet"], given_targets=True)
    RAIN.predict(rows, "Rain")
    RAIN.predict({name: cells[:2] for name, cells in rows.items()}, ["Rain", "Wet"])


@pytest.mark.filterwarnings("ignore:.* some of the targets and miss others")
def test_predictions_of_files_are_those_of_the_frame(tmp_path: Path) -> None:
    """Read in pieces, one file after the other; a path is never taken for rows."""
    frame = KINDS["polars"]
    expected = as_lists(RAIN.predict(frame, ["Rain", "Wet"], give=GIVEN[:3]))
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for path in paths:
        frame.write_parquet(path)
    sources = [paths[0], paths, frame.lazy()]
    for source, copies in zip(sources, (1, 2, 1), strict=True):
        found = as_lists(RAIN.predict(source, ["Rain", "Wet"], give=GIVEN[:3]))
        assert list(found) == list(expected)
        for name, cells in expected.items():
            assert found[name] == pytest.approx(cells * copies)


def test_the_standard_input_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Day,Rain,Wet,Sprinkler\n1,,yes,on\n2,yes,?,off\n"
    (tmp_path / "rows.csv").write_text(text)
    with (tmp_path / "rows.csv").open() as rows:
        monkeypatch.setattr("sys.stdin", rows)
        piped = RAIN.predict("-", "Rain")
    assert piped == RAIN.predict(tmp_path / "rows.csv", "Rain")


@pytest.mark.parametrize("option", ["weight", "counts"])
def test_rows_of_weight_zero_are_predicted_and_completed_too(option: str) -> None:
    frame = pd.DataFrame({**ROWS, "often": [0, 1, 2, 0]}).drop(columns="Day")
    given: dict[str, Any] = {option: "often"}
    assert len(RAIN.predict(lc.Data(frame, **given), "Rain")) == len(frame)
    whole = RAIN.impute(lc.Data(frame, **given), how="most probable")
    assert whole["Wet"].notna().all()
    assert whole["often"].tolist() == [0, 1, 2, 0]


@pytest.mark.parametrize("kind", KINDS)
def test_no_rows_of_a_frame_are_predicted_and_completed(kind: str) -> None:
    frame = KINDS[kind]
    empty = {name: [] for name in ROWS} if kind == "dict" else frame[:0]
    assert as_lists(RAIN.predict(empty, "Rain")) == {"Rain=no": [], "Rain=yes": []}
    completed = [
        RAIN.impute(empty, how="most probable"),
        *RAIN.impute(empty, draws=2, proper=False),
    ]
    assert [*map(as_lists, completed)] == [{name: [] for name in ROWS}] * 3


def test_a_file_without_rows_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("Rain,Wet,Sprinkler\n")
    for complete in (RAIN.impute, partial(RAIN.predict, targets="Rain")):
        with pytest.raises(DataError, match="has no rows"):
            complete(tmp_path / "rows.csv")


def test_a_latent_variable_becomes_a_column() -> None:
    whole = RAIN.impute(
        lc.Data({"Rain": ["no"], "Wet": ["yes"]}, latent=["Sprinkler"]), how="most probable"
    )
    assert whole == {"Rain": ["no"], "Wet": ["yes"], "Sprinkler": ["on"]}


@pytest.mark.parametrize("draws", [None, 2])
def test_a_row_that_shows_what_cannot_be_is_not_completed_anywhere(draws: int | None) -> None:
    tables = {"A": [0.5, 0.5], "B": [[1, 0], [1, 0]], "C": [[0.5, 0.5], [0.5, 0.5]]}
    states = {name: ["x", "y"] for name in tables}
    network = lc.Network(states, {"B": ["A"], "C": ["B"]}, tables)
    rows = {"A": ["x", "x", "y"], "B": ["x", "y", "y"], "C": [None, "x", None]}
    with pytest.raises(ImpossibleDataError, match="row 3 "):  # row 2 misses nothing
        network.impute(rows, draws=draws, proper=False, rng=0)
    kept = {name: cells[:2] for name, cells in rows.items()}
    network.impute(kept, draws=draws, proper=False, rng=0)


@pytest.mark.parametrize("many", [1, 20])
def test_a_row_of_probability_zero_has_no_share_without_support(many: int) -> None:
    dry = lc.Network(
        {"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]}, {"A": [0.5, 0.5], "B": [[1, 0], [1, 0]]}
    ).with_support({"A": np.array(9.0), "B": np.array([9.0, 0.0])})
    rows = {"A": [None] * 2 * many, "B": ["1", "0"] * many}
    with pytest.warns(lc.LacunetWarning) as said:
        found = dry.predict(rows, "A", give=["probabilities", "unsupported"])
    for cells in map(np.asarray, found.values()):
        assert np.isnan(cells[::2]).all()
        np.testing.assert_allclose(cells[1::2], 0.5)  # half of P(A | B=0) is that of A=1
    assert any("50.0% on average" in str(own.message) for own in said)


def test_what_cannot_be_done_is_said() -> None:
    frame = pd.DataFrame({"Rain": ["no"], "Sprinkler": ["off"], "Wet": ["yes"]})
    with pytest.warns(lc.LacunetWarning, match=r"1 row of probability zero .*first: row 1"):
        assert RAIN.predict(frame, "Rain", given_targets=True).isna().to_numpy().all()
    dry = lc.Network(
        {"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]}, {"A": [0.5, 0.5], "B": [[1, 0], [1, 0]]}
    )
    for many in (1, 20):
        with pytest.warns(lc.LacunetWarning, match=rf"{many} rows? of probability zero"):
            found = dry.predict({"A": ["0"] * many, "B": ["1"] * many}, "A")
        assert np.isnan(found["A=0"]).all()
    with pytest.raises(NetworkError, match="no variable 'Snow'"):
        RAIN.predict(frame, "Snow")
    for draws in (0, 2.5, "many", True):
        with pytest.raises(lc.LacunetError, match=f"draws={draws!r} is not a number"):
            RAIN.impute(frame, draws=draws)
    with pytest.raises(lc.LacunetError, match="give='odds' is not known"):
        RAIN.predict(frame, "Rain", give="odds")  # type: ignore[arg-type]
    with pytest.raises(lc.LacunetError, match="there are no targets"):
        RAIN.predict(frame, [])
    with pytest.raises(lc.LacunetError, match="targets is 3"):
        RAIN.predict(frame, 3)  # type: ignore[arg-type]
    never = lc.Network(
        {"A": ["0", "1"], "B": ["0", "1"]},
        {"B": ["A"]},
        {"A": [0.5, 0.5], "B": [[1, 0], [1, 0]]},
    )
    with pytest.raises(ImpossibleDataError, match="row 1"):
        never.impute({"A": [None], "B": ["1"]}, how="most probable")


@pytest.mark.parametrize("rows", [1, FEW_ROWS, FEW_ROWS + 1])
def test_cells_of_few_rows_are_those_of_many(rows: int) -> None:
    pd = pytest.importorskip("pandas")
    states, missing = ["a", "b", None, "a", "b"], [None, 1.5, None, 2.0, 3.0]
    frame = pd.DataFrame(
        {
            "category": pd.Categorical(states),
            "text": pd.array(states, "string"),
            "number": pd.array([1, 2, None, 4, 5], "Int64"),
            "float": missing,
            "object": pd.Series(states, dtype=object),
        }
    ).iloc[:rows]
    found = few_rows(frame, most=5)
    assert found is not None
    expected = frame.astype(object).where(frame.notna(), None).to_dict("records")
    assert [{key: None if pd.isna(own) else own for key, own in row.items()} for row in found] == (
        expected
    )
    assert all(type(row["category"]) in (str, float) for row in found)


@pytest.mark.parametrize("kind", [dict, pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table])
def test_kept_columns_are_those_of_the_data(kind: Any) -> None:
    rows = kind({"Day": [7, 8], "Rain": ["no", None], "Sprinkler": ["on", "off"]})
    found = as_lists(RAIN.predict(rows, "Wet", keep="Day"))  # without a warning of it
    assert [*found] == ["Day", "Wet=no", "Wet=yes"]
    assert found["Day"] == [7, 8]


def test_a_result_knows_its_columns_of_weights_and_clusters(tmp_path: Path) -> None:
    rows = {"A": ["0", "1"] * 20, "B": ["0", "1", "1", "0"] * 10}
    rows |= {"Weight": ["1.5", "0.5", "1", "2"] * 10, "Town": ["a", "a", "b", "b", "c"] * 8}
    result = lc.learn("A -> B", lc.Data(rows, weight="Weight", cluster="Town"), "direct-mcar")
    assert result.beside == {"weight": ("Weight",), "cluster": ("Town",)}
    result.write(tmp_path / "result.json")
    for source in (result, lc.read_result(tmp_path / "result.json")):
        source.predict(rows, "B")  # warns of no column
        source.impute(rows, how="most probable")
        with pytest.warns(DataWarning, match=r"1 column is ignored.*: Weight"):
            source.log_likelihood(rows)  # in which they would count
        source.log_likelihood(lc.Data(rows, weight="Weight"))
    result.network.predict(lc.Data(rows, weight="Weight", cluster="Town"), "B")


def test_a_code_for_all_that_a_rule_leaves_open_shows_nothing() -> None:
    tables: dict[str, Any] = {
        "S": [0.4, 0.6],
        "Z": [0.3, 0.7],
        "Now": [[[0, 0, 1], [0, 0, 1]], [[0.2, 0.8, 0], [0.6, 0.4, 0]]],
    }
    network = lc.Network(
        {"S": ["no", "yes"], "Z": ["0", "1"], "Now": ["never", "some", "not_asked"]},
        {"Now": ["S", "Z"]},
        tables,
        not_asked={"Now": "S=no"},
        codes={"Now": {"any": ["never", "some"]}},
    ).with_support({"Now": [[1, 1], [0, 5]]})
    for cell in ("any", None):
        rows: dict[str, Any] = {"S": ["yes"], "Now": [cell]}
        found = network.predict(rows, "Z", give=["probabilities", "unsupported"])
        assert found == {"Z=0": [0.3], "Z=1": [0.7], "unsupported(Z)": [0.0]}


def test_what_was_latent_to_a_result_stays_latent(tmp_path: Path) -> None:
    network = lc.Network(
        {name: ["0", "1"] for name in "HABC"}, {"A": ["H"], "B": ["H"], "C": ["H"]}
    )
    rng = np.random.default_rng(0)
    hidden = rng.random(300) < 0.5
    rows = {
        name: (rng.random(300) < 0.15 + 0.7 * hidden).astype(int).astype(str).tolist()
        for name in "ABC"
    }
    data = lc.Data(rows, latent=["H"])
    result = lc.learn(network, data, "em")
    result.write(tmp_path / "result.json")
    for source in (result, lc.read_result(tmp_path / "result.json")):
        assert source.log_likelihood(rows) == source.log_likelihood(data)
        assert source.impute(rows, how="most probable") == source.impute(data, how="most probable")
        assert source.predict(rows, "A") == source.predict(data, "A")  # no warning
    result.report(tmp_path / "page.html", rows)
    shown = {**rows, "H": ["1", *[None] * 299]}  # a column is used where there is one
    with pytest.warns(AssumptionWarning):
        found = result.predict(shown, "A")
    assert found["A=1"][0] == pytest.approx(result.cpt("A").table[1, 1])


def test_a_predictor_names_the_variable_that_was_meant() -> None:
    predictor = RAIN.compile("Rain")
    with pytest.warns(DataWarning, match="did you mean 'Wet'"):
        predictor({"wet": "yes"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        predictor({"Wet": "yes", "wett": "no", "Day": 3})  # Wet is shown


@pytest.mark.parametrize("row", [["yes"], None, "Wet=yes", 3])
def test_a_predictor_refuses_what_is_no_row(row: Any) -> None:
    with pytest.raises(lc.LacunetError, match="one row as a mapping"):
        RAIN.compile("Rain")(row)


def test_a_predictor_takes_a_series() -> None:
    answer = RAIN.compile("Rain")(pd.Series({"Wet": "yes"}))["Rain"]
    np.testing.assert_allclose(answer, RAIN.query("Rain", {"Wet": "yes"}), rtol=1e-12)


def test_states_are_not_given_with_the_targets() -> None:
    for targets in ({"Wet": "yes"}, {"Wet": "snow"}):  # a state that there is not, too
        with pytest.raises(lc.LacunetError, match=r"'Wet'(?s:.)*cells of the rows"):
            RAIN.predict({"Rain": ["yes"]}, targets)  # type: ignore[call-overload]
