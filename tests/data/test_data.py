"""`Data` is one value for data and how they are read: weights, counts, designs, codes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lacunet as lc
from lacunet.data.data import Data, as_data
from lacunet.data.errors import DataError, WeightError
from lacunet.data.read import read_table
from lacunet.data.scratch_rows import CodeWriter, scratch_folder
from lacunet.data.table import Design, EncodedTable, Labels

PAIR = lc.Network({"A": ["no", "yes"], "B": ["0", "1"]})
ROWS = {"A": ["no", "yes", None, "no"], "B": ["0", "1", "1", "0"]}


def spelled_out(labels: Labels | None) -> list[str]:
    assert labels is not None
    return [labels.labels[code] for code in labels.codes]


def test_options_are_said_in_one_data_or_added_to_it() -> None:
    rows = ROWS | {"n": [1, 2, 3, 4], "w": [0.5, 1.5, 2, 1]}
    at_once = Data(rows, weight="w", counts="n", missing="yes")
    added = Data(Data(rows, weight="w"), counts="n", missing="yes")
    learned = [lc.learn(PAIR, data, "direct-mcar").network for data in (at_once, added)]
    assert learned[0] == learned[1]
    with pytest.raises(DataError, match="weight="):
        Data(Data(rows, weight="w"), weight="n")


@pytest.mark.parametrize(
    ("function", "arguments", "option"),
    [
        (lc.learn, (PAIR, ROWS), "weight"),
        (lc.learn, (PAIR, ROWS, "em"), "latent"),
        (lc.explain, (PAIR, ROWS), "counts"),
        (lc.learn_structure, (ROWS,), "without"),
        (lc.learn_missingness, (ROWS,), "missing"),
        (lc.diagnose, (ROWS,), "bins"),
        (lc.sensitivity, (PAIR, ROWS, "P(A=no)"), "strata"),
        (lc.worst_case, (PAIR, ROWS, "A"), "cluster"),
        (lc.count, (PAIR, ROWS), "codes"),
        (lc.Network.from_data, (ROWS, "A -> B"), "states"),
        (PAIR.predict, (ROWS, "A"), "missing"),
    ],
)
def test_how_data_are_read_is_said_in_data_alone(
    function: Callable[..., object], arguments: tuple[object, ...], option: str
) -> None:
    with pytest.raises(DataError, match=rf"lacunet\.Data\(data, {option}=\.\.\.\)"):
        function(*arguments, **{option: "w"})


def test_counts_and_weights_say_how_many_rows_there_are_and_what_they_weigh() -> None:
    counts, weights = np.array([1.0, 2.0, 3.0, 2.0]), np.array([0.5, 1.5, 2.0, 1.0])
    counted = read_table(Data(ROWS, counts=counts), PAIR)
    assert counted.copies is not None
    assert (counted.rows, counted.row_count, counted.total) == (4, 8, 8.0)
    assert counted.missing_of == {"A": 3, "B": 0}
    np.testing.assert_array_equal(counted.copies.squares, counts)
    weighted = read_table(Data(ROWS, weight=weights), PAIR)
    assert (weighted.copies, weighted.row_count, weighted.total) == (None, 4, 5.0)
    both = read_table(Data(ROWS, weight=weights, counts=counts), PAIR)
    assert both.copies is not None
    np.testing.assert_array_equal(both.weights, counts * weights)
    np.testing.assert_array_equal(both.copies.rows, counts)
    np.testing.assert_array_equal(both.copies.squares, counts * weights**2)
    # As many rows of that weight each.
    again = np.repeat(np.arange(4), counts.astype(int))
    rows = {name: [column[at] for at in again] for name, column in ROWS.items()}
    expected = read_table(Data(rows, weight=weights[again]), PAIR)
    assert (both.row_count, both.missing_of) == (expected.row_count, expected.missing_of)
    assert both.total == pytest.approx(expected.total, rel=1e-15)


def test_rows_that_count_nothing_are_left_out() -> None:
    table = read_table(Data(ROWS, counts=[0, 1, 0.25, 2]), PAIR)
    assert table.copies is not None
    assert (table.rows, table.row_count, table.missing_of["A"]) == (3, 3, 1)
    assert table.row_numbers is not None
    assert table.row_numbers.tolist() == [2, 3, 4]


def test_whole_weights_of_distinct_rows_are_told_to_look_like_counts() -> None:
    rows = {"A": ["no", "yes", "no", "yes"], "B": ["0", "1", "1", "0"], "n": [3, 5, 1, 2]}
    with pytest.warns(lc.LacunetWarning, match=r"counts= \(--counts\)"):
        read_table(Data(rows, weight="n"), PAIR)
    for other in (
        Data(rows, counts="n"),
        Data(rows | {"n": [3, 5.5, 1, 2]}, weight="n"),
        Data(rows | {"n": [3, 3, 3, 3]}, weight="n"),
        Data(rows | {"B": ["0", "1", "0", "1"]}, weight="n"),  # equal rows
    ):
        assert not any("counts=" in note for note in read_table(other, PAIR).notes)


def test_counts_that_are_not_whole_are_told_to_look_like_weights() -> None:
    notes = read_table(Data(ROWS, counts=[1, 2, 0.5, 1]), PAIR).notes
    assert any("weight= (--weight)" in note for note in notes)
    assert read_table(Data(ROWS, counts=[1, 2, 3, 1]), PAIR).notes == ()


def test_the_same_numbers_as_weight_and_counts_are_refused() -> None:
    for own in ("n", [1, 2, 3, 1]):
        with pytest.raises(WeightError, match="one of the two"):
            Data(ROWS | {"n": [1, 2, 3, 1]}, weight=own, counts=own)


@pytest.mark.parametrize("kind", [dict, pd.DataFrame, pl.DataFrame, pa.table, "file"])
def test_strata_and_clusters_are_labels_whatever_holds_them(kind: Any, tmp_path: Path) -> None:
    columns = ROWS | {"s": [10.0, 2.0, 2.0, 10.0], "c": ["x", "y", "x", "z"]}
    data = columns if kind == "file" else kind(columns)
    if kind == "file":
        data = tmp_path / "rows.csv"
        pd.DataFrame(columns).to_csv(data, index=False)
    table = read_table(Data(data, strata="s", cluster="c"), PAIR)
    assert table.design is not None
    number = "{}.0" if kind == "file" else "{}"  # a text is a name: it stays as it is written
    assert spelled_out(table.design.strata) == [number.format(s) for s in (10, 2, 2, 10)]
    assert spelled_out(table.design.clusters) == ["x", "y", "x", "z"]
    beside = read_table(Data(ROWS, strata=columns["s"], cluster=np.array(list("xyxz"))), PAIR)
    assert beside.design is not None
    assert spelled_out(beside.design.strata) == ["10", "2", "2", "10"]


LABELLED = pd.DataFrame({"A": ["0", "1", "0"]}, index=["p", "q", "r"])
ROLES = ("weight", "counts", "strata", "cluster")


class SubSeries(pd.Series):
    """As other libraries make them, such as GeoPandas."""


class SubFrame(pd.DataFrame):
    """A frame of another library."""


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("source", [LABELLED, {"A": LABELLED["A"]}], ids=["frame", "dict"])
def test_a_series_of_pandas_goes_by_its_index(role: str, source: Any) -> None:
    shuffled = pd.Series([3, 9, 1, 2], index=["r", "elsewhere", "p", "q"])
    assert getattr(Data(source, **{role: shuffled}), role).tolist() == [1, 2, 3]
    added = Data(Data(source), **{role: shuffled})
    assert getattr(added, role).tolist() == [1, 2, 3]
    twice = LABELLED.loc[["q", "q", "p"]]
    assert getattr(Data(twice, **{role: shuffled}), role).tolist() == [2, 2, 1]
    same = pd.Series([5, 6, 7], index=twice.index)  # the same index, in which a label is twice
    assert getattr(Data(twice, **{role: same}), role).tolist() == [5, 6, 7]


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(
    ("source", "index", "offender"),
    [
        (LABELLED, ["p", "q", "other"], "'r'"),
        (LABELLED, [0, 1, 2], "3 rows"),
        (LABELLED, ["p", "p", "q"], "'p' occurs twice"),
        ({"A": ["0", "1", "0"]}, ["p", "q", "r"], "no index"),
        ({"A": ["0", "1", "0"]}, [2, 1, 0], "no index"),
        (pl.DataFrame({"A": ["0", "1", "0"]}), [4, 5, 6], "no index"),
        ("rows.csv", [4, 5, 6], "no index"),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "columns") else str(value),
)
def test_a_series_of_pandas_is_never_taken_by_position(
    role: str, source: Any, index: list[Any], offender: str
) -> None:
    with pytest.raises(DataError, match=f"{role}=.*{offender}.*\n.*{role}.to_numpy"):
        Data(source, **{role: pd.Series([1, 2, 3], index=index)})


@pytest.mark.parametrize("role", ROLES)
def test_a_series_goes_by_its_index_whatever_class_or_wrapper_holds_it(role: str) -> None:
    turned = LABELLED.iloc[::-1]
    labelled = pd.Series([1, 2, 3], index=LABELLED.index)
    for source, values in (
        (turned, SubSeries(labelled)),
        (SubFrame(turned), labelled),
        (nw.from_native(turned), labelled),
        (turned, nw.from_native(labelled, series_only=True)),
        (turned["A"], labelled),
    ):
        assert getattr(Data(source, **{role: values}), role).tolist() == [3, 2, 1]
    polars = pl.Series([1, 2, 3])  # it has no index: its values are in the order of the rows
    assert getattr(Data(turned, **{role: polars}), role).tolist() == [1, 2, 3]


def test_what_is_learned_is_the_same_for_a_series_in_any_order() -> None:
    rng = np.random.default_rng(8)
    rows = lc.example("asia").sample(60, rng=rng).mask(rng.random((60, 8)) < 0.2)
    rows.index = pd.Index(rng.permutation(60) + 7)
    values = {
        "weight": rng.uniform(0.5, 2, 60),
        "counts": rng.integers(1, 5, 60),
        "strata": rng.integers(0, 2, 60),
        "cluster": rng.integers(0, 10, 60),
    }
    in_order = {role: pd.Series(of_rows, index=rows.index) for role, of_rows in values.items()}
    turned = {role: series.sort_index() for role, series in in_order.items()}
    expected, result = (
        lc.learn("smoke -> lung -> xray", lc.Data(rows, **options), "direct-mcar", intervals=True)
        for options in (values, turned)
    )
    for variable in ("lung", "xray"):
        tables = expected.cpt(variable).table, result.cpt(variable).table
        np.testing.assert_array_equal(*tables)
    answers = expected.query("xray | smoke=yes"), result.query("xray | smoke=yes")
    assert str(answers[0]) == str(answers[1])


def test_weights_of_a_filtered_frame_are_those_of_its_rows() -> None:
    rows = pd.DataFrame({"A": ["0", "1"] * 50, "Wt": [1.0, 3.0] * 50})
    chosen = rows[rows.index % 4 > 1].sort_index(ascending=False)
    by_series = lc.learn(
        "A", lc.Data(chosen[["A"]], weight=rows["Wt"]), "listwise", pseudo_counts=0
    )
    np.testing.assert_allclose(by_series.network.cpt("A").table, [0.25, 0.75], rtol=1e-12)
    rows_of_file = lc.Data({"A": rows["A"].tolist()}, weight=rows["Wt"])  # numbered from 0
    assert read_table(rows_of_file, lc.Network({"A": ["0", "1"]})).weights is not None


def test_a_row_without_a_stratum_is_refused_by_its_place() -> None:
    for column in ([1, None, 2, 2], ["1", "NA", "2", "2"], [1.0, np.nan, 2.0, 2.0]):
        with pytest.raises(DataError, match=r"strata=.*row 2"):
            read_table(Data(ROWS | {"s": column}, strata="s"), PAIR)
    with pytest.raises(WeightError, match="cluster='A'"):
        read_table(Data(ROWS, cluster="A"), PAIR)
    with pytest.raises(WeightError, match=r"cluster= has 3.*4 rows"):
        read_table(Data(ROWS, cluster=["a", "b", "c"]), PAIR)


def test_replicate_weights_say_how_a_variance_is_made() -> None:
    rows = ROWS | {"r1": [2, 0, 1, 1], "r2": [0, 2, 1, 1]}
    named = Data(
        rows, weight=[0, 1.5, 1, 1], replicate_weights=lc.ReplicateWeights(["r1", "r2"], "brr")
    )
    matrix = lc.ReplicateWeights(np.array([rows["r1"], rows["r2"]]).T, "brr")
    for data in (named, Data(ROWS, weight=[0, 1.5, 1, 1], replicate_weights=matrix)):
        design = read_table(data, PAIR).design
        assert design is not None
        np.testing.assert_array_equal(design.replicates, [[0, 2], [1, 1], [1, 1]])
        np.testing.assert_array_equal(design.factors, [0.5, 0.5])
    many = [f"r{at}" for at in range(10)]
    assert lc.ReplicateWeights(many, "jackknife").factors[0] == 0.9
    assert lc.ReplicateWeights(many, "fay", rho=0.3).factors[0] == pytest.approx(1 / 4.9)
    assert lc.ReplicateWeights(["r1", "r2"], factors=[0.25, 0.5]).factors.tolist() == [0.25, 0.5]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"replicate_weights": ["r1", "r2"]}, "their"),
        ({"weight": "no"}, r"weight= \(--weight\) names \['no'\]"),
        (
            {"weight": [1] * 4, "replicate_weights": lc.ReplicateWeights(["r1", "r2"], "brr")},
            r"replicate_weights= \(--replicates\) names \['r1'\]",
        ),
        ({"missing": {"C": [9]}}, r"missing=.*\['C'\]"),
        ({"unknown": "no"}, "unknown= is 'no'"),
        ({"query": "select 1"}, "source"),
        ({"counts": [1, -1, 1, 1]}, r"row 2 is -1\.0"),
    ],
)
def test_what_cannot_be_meant_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_table(Data(ROWS, **options), PAIR)


def test_kinds_of_replicate_weights_are_refused_that_say_too_little() -> None:
    for options in ({}, {"kind": "fay"}, {"kind": "brr", "rho": 0.5}, {"factors": [1]}):
        with pytest.raises(WeightError):
            lc.ReplicateWeights(["r1", "r2"], **options)  # type: ignore[arg-type]


def test_a_replicate_that_is_named_twice_is_refused() -> None:
    with pytest.raises(WeightError, match="'r2'"):
        lc.ReplicateWeights(["r1", "r2", "r2"], "brr")


def test_a_replicate_weight_of_zero_in_all_rows_is_refused() -> None:
    rows = {**ROWS, "r1": [1, 1, 2, 0], "r2": [3, 0, 0, 0]}
    named = lc.ReplicateWeights(["r1", "r2"], "brr")
    matrix = lc.ReplicateWeights(np.array([rows["r1"], rows["r2"]]).T, "brr")
    for given, column in ((named, "'r2'"), (matrix, "number 2")):
        read_table(Data(rows, weight=[1, 1, 1, 1], replicate_weights=given), PAIR)
        data = Data(rows, weight=[0, 1, 1, 1], replicate_weights=given)  # without the first row
        with pytest.raises(WeightError, match=f"{column}"):
            read_table(data, PAIR)


def test_codes_of_one_column_mean_missing_there_alone_and_by_value() -> None:
    network = lc.Network({"Age": ["8", "9"], "Q": ["1", "2", "9"]})
    for code in (9, 9.0, "9", "9.0"):
        for column in ([1, 9, 2], [1.0, 9.0, 2.0], ["1", "9", "2"], ["1.0", "9.0", "2.0"]):
            rows = {"Age": [9, 8, 9], "Q": column}
            for missing in ({"Q": [code]}, {"Q": code}):
                table = read_table(Data(rows, missing=missing), network)
                assert table.columns["Q"].tolist() == [0, 3, 1]
                assert table.columns["Age"].tolist() == [1, 0, 1]
    everywhere = read_table(Data({"Age": [9, 8, 7], "Q": [1, 9, 7]}, missing=7), network)
    assert everywhere.columns["Age"].tolist() == [1, 0, 2]
    assert everywhere.columns["Q"].tolist() == [0, 2, 3]
    both = Data({"Age": [9, 8, 7], "Q": [1, 9, 7]}, missing={None: [7], "Q": [9]})
    assert read_table(both, network).columns["Q"].tolist() == [0, 3, 3]


def test_data_print_what_was_said_of_them_and_no_secret() -> None:
    assert repr(Data("rows.csv", weight="w")) == "Data('rows.csv', weight='w')"
    assert (
        repr(Data(ROWS, missing=["9"], counts=[1, 2]))
        == "Data(<dict of 4 rows and 2 columns>, counts=<2 values>, missing=['9'])"
    )
    secret = Data(query="select 1", database="postgresql://ann:secret@db/clinic")
    assert "secret" not in repr(secret)
    assert as_data(secret) is secret
    assert as_data("rows.csv").source == "rows.csv"


def test_labels_of_several_tables_are_joined_by_their_names() -> None:
    one = Design(Labels(("a", "b"), np.array([1, 0], np.int32)), None, np.ones((2, 1)))
    two = Design(Labels(("c", "a"), np.array([0, 1], np.int32)), None, np.zeros((2, 1)))
    whole = Design.joined([one, two])
    assert spelled_out(whole.strata) == ["b", "a", "c", "a"]
    assert whole.replicates is not None
    assert whole.replicates.ravel().tolist() == [1, 1, 0, 0]


def written_and_read(parts: list[EncodedTable]) -> EncodedTable:
    with scratch_folder() as folder, CodeWriter(folder / "rows", PAIR.cardinality_of) as writer:
        for part in parts:
            writer.append(part)
        (whole,) = writer.finished().tables(100)
    return whole


def test_strata_are_kept_on_the_disk_whatever_labels_each_batch_has() -> None:
    def table(strata: list[str], counts: list[float]) -> EncodedTable:
        rows = {"A": ["no"] * len(strata), "B": ["1"] * len(strata), "s": strata, "r": counts}
        return read_table(Data(rows, strata="s", counts="r"), PAIR)

    parts = [table(["b", "a"], [1.0, 2.0]), table(["c", "a", "b"], [3.0, 4.0, 5.5])]
    whole = written_and_read(parts)
    assert whole.design is not None
    assert whole.copies is not None
    assert spelled_out(whole.design.strata) == ["b", "a", "c", "a", "b"]
    np.testing.assert_array_equal(whole.copies.rows, [1, 2, 3, 4, 5.5])


def test_replicate_weights_are_kept_on_the_disk() -> None:
    def table(weights: list[float]) -> EncodedTable:
        rows = {"A": ["no"] * len(weights), "B": ["1"] * len(weights), "r": weights}
        replicates = lc.ReplicateWeights(["r"], factors=[0.5])
        return read_table(Data(rows, weight="r", replicate_weights=replicates), PAIR)

    whole = written_and_read([table([1.0, 2.0]), table([3.0, 4.0, 5.5])])
    assert whole.design is not None
    np.testing.assert_array_equal(whole.design.replicates, [[1], [2], [3], [4], [5.5]])
    np.testing.assert_array_equal(whole.design.factors, [0.5])


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_arrays_beside_the_data_are_cut_with_the_tables(suffix: str, tmp_path: Path) -> None:
    from lacunet.data.column_rules import plan_reading
    from lacunet.data.read import ReadReport
    from lacunet.data.stream import Unread

    for part in "ab":
        frame = pd.DataFrame(ROWS)
        path = tmp_path / f"{part}{suffix}"
        frame.to_csv(path, index=False) if suffix == ".csv" else frame.to_parquet(path)
    given = Data(tmp_path, strata=list("uvwxyzst"), counts=np.arange(8.0))
    tables = list(Unread(plan_reading(given, PAIR)).tables(3, ReadReport()))
    assert len(tables) == 3
    strata = [
        label for table in tables if table.design for label in spelled_out(table.design.strata)
    ]
    assert strata == list("vwxyzst")  # the first row counts nothing


SINGLE = [np.array(1), np.array("x"), np.array(None)]


@pytest.mark.parametrize("cell", SINGLE, ids=str)
def test_an_array_without_a_dimension_is_refused_in_words(cell: Any) -> None:
    network = lc.Network({"A": ["0", "1"]}, {}, {"A": [0.5, 0.5]})
    asks = partial(lc.learn, network), network.impute, partial(network.predict, targets="A")
    for ask in asks:
        for column in (cell, cell.reshape(1, 1)):
            with pytest.raises(DataError, match="arrays"):
                ask({"A": column})
    for role in ROLES:
        with pytest.raises(lc.LacunetError, match=f"{role}="):
            Data({"A": ["0"]}, **{role: cell})
    for option in ("latent", "fully_observed"):
        with pytest.raises(lc.LacunetError, match=option):
            lc.learn(network, Data({"A": ["0"]}, **{option: cell}))


@pytest.mark.parametrize("names", [[["A"]], [None], [("A", "B")]])
def test_what_is_no_name_is_no_latent_variable(names: Any) -> None:
    with pytest.raises(DataError, match="latent="):
        Data(ROWS, latent=names)


@pytest.mark.parametrize("rows", [[["0", "1"]], [("0", "1")], [{"A": "0"}], [1, 2]])
def test_a_list_of_rows_is_refused_with_what_to_give(rows: Any) -> None:
    with pytest.raises(DataError, match=r"pandas\.DataFrame\(rows"):
        read_table(Data(rows), PAIR)
