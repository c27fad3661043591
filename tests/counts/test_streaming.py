"""Rows that memory does not hold: what is believed, promised, spread and left behind."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lacunet as lc
from lacunet.cli import main
from lacunet.counts import observations, streaming
from lacunet.counts.family_sums import Solved
from lacunet.counts.folds import folds_of
from lacunet.counts.gather import Gathering, Grouping, Needs
from lacunet.counts.groups import GroupedCounts
from lacunet.counts.passes import passes
from lacunet.data import data_files
from lacunet.data.errors import PromiseError, UnknownStateError
from lacunet.data.source_parts import Piece
from lacunet.data.table import EncodedTable
from lacunet.data.write import write_table
from lacunet.learning.learn import learn
from lacunet.learning.result import Result
from lacunet.network.network import Network

NETWORK = Network(
    {"A": ["0", "1"], "B": ["0", "1"], "C": ["0", "1", "2"]}, {"B": ["A"], "C": ["B"]}
)


@pytest.fixture(autouse=True)
def nothing_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observations, "HELD_SHARE", np.inf)
    monkeypatch.setattr(streaming, "LEAST_ROWS", 16)
    monkeypatch.setattr(streaming, "TABLE_SHARE", 2**30)
    monkeypatch.setattr(streaming, "PART_SHARE", 2**30)
    monkeypatch.setattr(streaming, "GROUPS_SHARE", 2**30)


def table(rows: int = 200, seed: int = 0) -> EncodedTable:
    rng = np.random.default_rng(seed)
    columns = {
        "A": rng.integers(0, 2, rows).astype(np.uint8),
        "B": rng.integers(0, 3, rows).astype(np.uint8),
        "C": rng.integers(0, 4, rows).astype(np.uint8),
    }
    return EncodedTable({"A": 2, "B": 2, "C": 3}, columns)


def assert_same(found: Result, expected: Result, atol: float = 1e-12) -> None:
    assert found.rows == expected.rows
    for name in NETWORK.variables:
        cpt = expected.network.cpt(name).table
        np.testing.assert_allclose(found.network.cpt(name).table, cpt, rtol=0, atol=atol)


def test_a_string_that_means_missing_is_found_although_the_footer_tells_of_no_null(
    tmp_path: Path,
) -> None:
    whole = table()
    pq.write_table(as_texts(whole), tmp_path / "rows.parquet")
    for method in ("factored-mar", "auto"):
        rng = np.random.default_rng(5)
        found = learn(NETWORK, tmp_path / "rows.parquet", method, rng=rng, memory=2**20)
        expected = learn(NETWORK, whole, method, rng=np.random.default_rng(5))
        assert_same(found, expected)
        assert found.missing == expected.missing


def as_texts(rows: EncodedTable, missing: str = "?") -> pa.Table:
    """The rows as an Arrow table of texts without nulls."""
    return pa.table(
        {
            name: [
                NETWORK.states(name)[code] if code < size else missing
                for code in rows.columns[name]
            ]
            for name, size in rows.cardinality_of.items()
        }
    )


@pytest.mark.parametrize(
    ("how", "reads"),
    [
        ({}, False),
        ({"row_group_size": 50}, False),
        ({"dictionary_pagesize_limit": 1, "data_page_size": 64}, True),  # plain after its start
        ({"use_dictionary": False}, True),
    ],
)
def test_columns_of_texts_are_read_to_find_what_is_missing_if_dictionaries_do_not_tell(
    how: dict[str, Any], reads: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[tuple[str, ...]] = []
    pieces = data_files._parquet_pieces

    def noted(path: Path, nested: frozenset[str], wanted: Sequence[str]) -> Iterator[Piece]:
        read.append(tuple(wanted))
        return pieces(path, nested, wanted)

    monkeypatch.setattr(data_files, "_parquet_pieces", noted)
    rows = table(20_000)
    shown = EncodedTable(rows.cardinality_of, {**rows.columns, "C": rows.columns["C"] % 3})
    pq.write_table(as_texts(shown), tmp_path / "rows.parquet", **how)
    plan = lc.explain(NETWORK, tmp_path / "rows.parquet", method="direct-mar", memory=2**20)
    assert plan.plan.partially == ("B",)
    # At first all of them, or B alone: its dictionary has a value that means missing.
    assert read[0] == (("A", "B", "C") if reads else ("B",))


def test_a_value_of_a_dictionary_that_no_row_has_is_not_missing(tmp_path: Path) -> None:
    shown = as_texts(table().take(np.flatnonzero(table().columns["B"] < 2)))
    with_more = pa.DictionaryArray.from_arrays(
        shown["A"].combine_chunks().cast(pa.int32()), pa.array(["0", "1", "NA", "other"])
    )
    shown = shown.set_column(0, "A", with_more)
    pq.write_table(shown, tmp_path / "rows.parquet")
    plan = lc.explain(NETWORK, tmp_path / "rows.parquet", method="direct-mar", memory=2**20)
    assert plan.plan.partially == ("C",)


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.string()])
@pytest.mark.parametrize(
    "said", [{"missing": 9}, {"missing": {"A": 9}}, {"codes": {"A": {9: None}}}, {"codes": "own"}]
)
def test_codes_for_missing_are_found_where_the_footer_tells_of_no_null(
    kind: pa.DataType, said: dict[str, Any], tmp_path: Path
) -> None:
    cells = {"A": [0, 1, 9] * 50, "B": [0, 1, 1] * 50, "C": [0, 1, 2] * 50}
    rows = pa.table({name: pa.array(own).cast(kind) for name, own in cells.items()})
    pq.write_table(rows, tmp_path / "rows.parquet")
    network = NETWORK
    if said == {"codes": "own"}:
        said, network = {}, NETWORK.with_codes({"A": {9: None}})
    data = lc.Data(tmp_path / "rows.parquet", **said)
    plan = lc.explain(network, data, method="direct-mar", memory=2**20)
    assert plan.plan.partially == ("A",)
    found = learn(network, data, "direct-mar", memory=2**20)
    assert_same(found, learn(network, lc.Data(rows, **said), "direct-mar"))


def test_numbers_that_the_network_cuts_are_looked_at_where_the_footer_does_not_tell(
    tmp_path: Path,
) -> None:
    rows = pa.table({"Age": [10.0, 30.0, None, 70.0] * 50, "Size": [0.5, 1.5, 2.5, 3.5] * 50})
    pq.write_table(rows, tmp_path / "rows.parquet")
    network = Network.from_data(lc.Data(rows, bins={"Age": 2, "Size": 2}), "Age -> Size")
    plan = lc.explain(network, tmp_path / "rows.parquet", method="direct-mar", memory=2**20)
    assert plan.plan.partially == ("Age",)


def test_nulls_of_questions_that_were_not_asked_are_not_missing(tmp_path: Path) -> None:
    rows = {"Smoked": ["no", "yes", "yes"] * 50, "Now": [None, "no", "yes"] * 50}
    network = Network.from_data(lc.Data(rows, not_asked={"Now": "Smoked=no"}), "Smoked -> Now")
    for smoked, partially in (("no", ()), ("yes", ("Now",))):
        rows["Smoked"][0] = smoked
        pq.write_table(pa.table(rows), tmp_path / "rows.parquet")
        plan = lc.explain(network, tmp_path / "rows.parquet", method="direct-mar", memory=2**20)
        assert plan.plan.partially == partially


def test_files_that_tell_wrong_values_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(as_texts(table()), tmp_path / "rows.parquet")
    monkeypatch.setattr(
        data_files, "_dictionaries", lambda _, __, wanted: dict.fromkeys(wanted, pa.array(["0"]))
    )
    with pytest.raises(lc.LacunetError, match=r"tell the values of \['B', 'C'\] without"):
        learn(NETWORK, tmp_path / "rows.parquet", "factored-mar", memory=2**20)


def test_rows_that_all_agree_are_counted_in_bounded_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    whole = table(300)
    same = {**whole.columns, "A": np.zeros(300, np.uint8)}
    one_group = EncodedTable(whole.cardinality_of, same)
    few_rows = whole.take(np.repeat(np.arange(4), 100))
    for at, rows in enumerate((one_group, few_rows)):
        path = tmp_path / f"{at}.parquet"
        write_table(rows, NETWORK, path)
        for method in ("direct-mar", "factored-mar", "auto"):
            found = learn(NETWORK, path, method, rng=1, memory=2**20)
            assert_same(found, learn(NETWORK, rows, method, rng=1))
    assert len(list(tmp_path.iterdir())) == 2


SURVEY = {
    "clusters": {"cluster": "P"},
    "clusters in strata": {"cluster": "P", "strata": "H"},
    "strata": {"strata": "H"},
    "strata with weights": {"strata": "H", "weight": "w"},
    "replicates": {
        "weight": "w",
        "replicate_weights": lc.ReplicateWeights(["r0", "r1"], "brr"),
    },
}


def surveyed(distinct: int, copies: int) -> dict[str, Any]:
    """Few distinct rows, many times, from all clusters."""
    rng = np.random.default_rng(3)
    rows, number = table(distinct, seed=1), distinct * copies
    chosen = np.resize(np.arange(distinct), number)
    states = {name: np.array([*NETWORK.states(name), None], object) for name in NETWORK.variables}
    cluster = rng.integers(0, 4, number)
    weight = rng.gamma(3, 1, number)
    return {
        **{name: own[rows.columns[name][chosen]].tolist() for name, own in states.items()},
        "P": cluster.tolist(),
        "H": rng.integers(0, 3, number).tolist(),
        "w": weight.tolist(),
        **{f"r{at}": (weight * 2 * (cluster % 2 == at)).tolist() for at in range(2)},
    }


@pytest.mark.parametrize(("distinct", "copies"), [(3, 100), (150, 2)])
@pytest.mark.parametrize("design", SURVEY.values(), ids=SURVEY)
@pytest.mark.parametrize("method", ["direct-mcar", "factored-mar", "em", "auto"])
def test_surveys_have_the_intervals_of_rows_in_memory(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    design: dict[str, Any],
    distinct: int,
    copies: int,
) -> None:
    rows = surveyed(distinct, copies)
    pq.write_table(pa.table(rows), tmp_path / "rows.parquet")
    data = lc.Data(tmp_path / "rows.parquet", **design)
    found = lc.learn(NETWORK, data, method, pseudo_counts=0.0, intervals=True, memory=2**20)
    monkeypatch.setattr(observations, "HELD_SHARE", 1)
    expected = lc.learn(NETWORK, data, method, pseudo_counts=0.0, intervals=True)
    assert_same(found, expected, atol=1e-9)
    for name in NETWORK.variables:
        intervals = [result.interval(name) for result in (found, expected)]
        np.testing.assert_allclose(*intervals, rtol=0, atol=1e-9)


def test_a_promise_is_held_to_and_is_all_that_counts_as_fully_observed(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    write_table(table(), NETWORK, path)
    with pytest.raises(PromiseError, match=r"'B' is promised .*rows.csv', line \d+"):
        learn(NETWORK, lc.Data(path, fully_observed=["B"]), "factored-mar", memory=2**20)
    found = learn(NETWORK, lc.Data(path, fully_observed=["A"]), "factored-mar", memory=2**20)
    assert_same(found, learn(NETWORK, table(), "factored-mar"))
    complete = {name: np.zeros(20, np.uint8) for name in NETWORK.variables}
    shown = EncodedTable(table().cardinality_of, complete)
    promised = learn(NETWORK, lc.Data(shown, fully_observed=["A"]), "direct-mar")
    assert promised.families["B"].formula.given == ("A",)
    with pytest.raises(PromiseError, match="row 1"):
        learn(
            NETWORK,
            lc.Data(table().take(np.flatnonzero(table().columns["B"] == 2)), fully_observed=["B"]),
            "direct-mar",
        )


def test_scratch_files_are_gone_when_learning_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    rows = "A,B,C\n" + "0,,1\n" * 100 + "0,other,1\n"
    (tmp_path / "rows.csv").write_text(rows)
    with pytest.raises(UnknownStateError, match="'other'"):
        learn(NETWORK, tmp_path / "rows.csv", "factored-mar", memory=2**20)
    assert not list(scratch.iterdir())


def test_explain_says_that_rows_will_be_streamed_and_what_scratch_that_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_table(table(2000), NETWORK, tmp_path / "rows.parquet")
    NETWORK.write(tmp_path / "net.bif")
    data_files = [str(tmp_path / "net.bif"), str(tmp_path / "rows.parquet")]
    for method, words in (
        ("direct-mcar", "read as they are counted, no scratch files"),
        ("factored-mar", "read as they are counted, scratch files of 5.86 KiB"),
    ):
        assert main(["explain", *data_files, "--method", method, "--memory", "0.001"]) == 0
        told = capsys.readouterr().out
        assert words in told
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(observations, "HELD_SHARE", 4)
            assert main(["explain", *data_files, "--method", method]) == 0
        held = capsys.readouterr().out
        assert "read as they are counted" not in held
        assert [line for line in told.splitlines() if words not in line] == held.splitlines()


@pytest.mark.parametrize("graph", ["C -> R[B]; R[C]", "A -> R[B]; R[C]"])
def test_em_on_a_missingness_graph_finds_what_rows_in_memory_give(
    graph: str, tmp_path: Path
) -> None:
    for part in range(2):
        write_table(table(200, part), NETWORK, tmp_path / f"{part}.parquet")
    found = learn(NETWORK, tmp_path, "em", missingness=graph, memory=2**20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(observations, "HELD_SHARE", 4)
        expected = learn(NETWORK, tmp_path, "em", missingness=graph)
    assert_same(found, expected)
    assert found.mechanisms.keys() == expected.mechanisms.keys()
    for name, cpt in expected.mechanisms.items():
        np.testing.assert_allclose(found.mechanisms[name].table, cpt.table, rtol=0, atol=1e-12)


def test_a_learned_separator_is_the_one_that_rows_in_memory_give(tmp_path: Path) -> None:
    whole = table(2000)
    hidden = np.where((whole.columns["A"] == 1) & (np.arange(2000) % 3 > 0), 2, 0)
    columns = {**whole.columns, "B": np.maximum(whole.columns["B"] % 2, hidden).astype(np.uint8)}
    rows = EncodedTable(whole.cardinality_of, columns)
    write_table(rows, NETWORK, tmp_path / "rows.parquet")
    found = learn(
        NETWORK, tmp_path / "rows.parquet", "informed-direct", groups="learn", memory=2**20
    )
    expected = learn(NETWORK, rows, "informed-direct", groups="learn")
    assert found.families["C"].formula.given == expected.families["C"].formula.given == ("A",)
    assert_same(found, expected)


def test_weights_of_zero_and_odd_values_are_told_as_they_are_in_memory(tmp_path: Path) -> None:
    for part in ("a", "b"):
        rows = "A,B,C,w\n" + "0, 1,1,1\n" * 30 + "1,x,2,0\n" * 10 + "1,y,2,.5\n" * 10
        (tmp_path / f"{part}.csv").write_text(rows)
    given = lc.Data(tmp_path, weight="w", unknown="missing")
    found = learn(NETWORK, given, "direct-mar", memory=2**20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(observations, "HELD_SHARE", 4)
        expected = learn(NETWORK, given, "direct-mar")
    assert found.notes == expected.notes
    assert any("left out 20 of 100 rows" in note for note in found.notes)
    assert_same(found, expected)


def _within(_: GroupedCounts) -> Solved:
    raise AssertionError


def test_families_that_group_by_different_variables_are_read_in_as_few_passes_as_may_be() -> None:
    network = Network({name: [str(at) for at in range(80)] for name in "ABCDE"})
    asked = [
        Grouping(("D",), ("D",), ("A", "B", "C"), False, _within),
        Grouping(("E",), ("E",), ("A", "B"), False, _within),
        Grouping(("B",), ("B",), ("C", "D"), False, _within),
        Grouping(("A",), ("A",), (), False, _within),
    ]
    needs = Needs((("A",),), groupings=tuple(asked))
    first, second = passes(Gathering(needs, network), most_bytes=10_000)
    assert first.shared == {("A",)}  # its groups fit in memory
    assert first.together == ("A", "B")
    assert {one.family for one in first.needs.groupings} == {("A",), ("D",), ("E",)}
    assert (second.together, second.needs.families) == (("C", "D"), ())
    folded = Needs((("A",),), folds=folds_of(5, 0))
    (alone,) = passes(Gathering(folded, network), most_bytes=0)
    assert alone.together == network.variables  # equal rows fall into folds together


def test_rows_that_stand_for_several_are_as_many_as_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("A,B,C,n\n" + "0,1,2,3\n1,,0,4\n" * 20)
    counted, looks = lc.Data(path, counts="n"), []
    for share in (np.inf, 1.0):
        monkeypatch.setattr(observations, "HELD_SHARE", share)
        with observations.observations(counted, NETWORK, 1e6) as source:
            looks.append(source.look())
    assert [look.rows for look in looks] == [140, 140]
    assert [look.total for look in looks] == [140.0, 140.0]


def test_some_of_the_rows_still_say_which_states_a_cell_is_one_of(tmp_path: Path) -> None:
    network = NETWORK.with_codes({"C": {"0 or 1": ["0", "1"]}}, {})
    path = tmp_path / "rows.csv"
    path.write_text("A,B,C\n" + "0,1,2\n1,,0 or 1\n" * 20)
    with observations.observations(lc.Data(path), network, 1e6) as source:
        assert source.look().sampled(40).cells_of_sets == {"C": 20}


def test_rows_of_few_columns_are_held_only_if_their_groups_can_be_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 2^16 rows of 3 bytes are less than a quarter of 2^20 bytes, but 40 more of each are not left.
    monkeypatch.setattr(observations, "HELD_SHARE", 4)
    path = tmp_path / "rows.parquet"
    write_table(table(2**16), NETWORK, path)

    def kind(memory: int) -> str:
        with observations.observations(lc.Data(path), NETWORK, memory) as rows:
            return type(rows).__name__

    assert [kind(2**20), kind(2**22)] == ["Streamed", "Held"]
