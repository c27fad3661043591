"""Files of statistics: what they say of themselves, what adds up, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lacunet as lc
from lacunet.cli import main
from lacunet.data.errors import DataWarning
from lacunet.data.table import EncodedTable
from lacunet.data.write import to_arrow
from lacunet.estimate.count import count_into, merge_into
from lacunet.statistics import observations, streamed
from lacunet.statistics.errors import StatisticsError
from lacunet.statistics.saved import header
from lacunet.statistics.saved.soundness import Digest, seal

STATES = {"A": ["0", "1"], "B": ["0", "1"], "C": ["x", "y", "z"]}
NETWORK = lc.Network(STATES, {"B": ["A"], "C": ["B"]})


def frame(rows: int, seed: int, hidden: str = "BC") -> pa.Table:
    rng = np.random.default_rng(seed)
    sizes = {name: len(own) for name, own in STATES.items()}
    columns = {
        name: rng.integers(0, size + (name in hidden), rows).astype(np.uint8)
        for name, size in sizes.items()
    }
    return to_arrow(EncodedTable(sizes, columns), NETWORK)


def part(path: Path, method: str = "factored-mar", seed: int = 0, hidden: str = "BC") -> Path:
    lc.count(NETWORK, frame(50, seed, hidden), method).write(path)
    return path


def test_a_file_can_be_read_by_anyone(tmp_path: Path) -> None:
    rows = {"A": ["0", "0", "1"], "B": [None, None, "1"], "C": ["x", "x", "z"], "w": [1, 3, 0.5]}
    lc.count(NETWORK, rows, "em", weight="w").write(tmp_path / "a.stats")
    file = pq.ParquetFile(tmp_path / "a.stats")
    told = json.loads(file.metadata.metadata[b"lacunet"])
    assert (told["format"], told["version"], told["kind"]) == ("lacunet statistics", 2, "rows")
    assert (told["method"], told["rows"], told["total"]) == ("em", 3, 4.5)
    assert told["missing"] == {"A": 0, "B": 2, "C": 0}
    assert told["fully_observed"] == ["A", "C"]
    assert told["network"]["states"] == STATES
    assert file.read().to_pylist() == [
        {"A": "0", "B": None, "C": "x", "lacunet:rows": 2, "lacunet:weight": 4.0,
         "lacunet:squares": 10.0, "lacunet:part": 0},
        {"A": "1", "B": "1", "C": "z", "lacunet:rows": 1, "lacunet:weight": 0.5,
         "lacunet:squares": 0.25, "lacunet:part": 0},
    ]  # fmt: skip


def test_the_cells_of_families_are_numbered_as_the_page_says(tmp_path: Path) -> None:
    rows = {"A": ["0", None], "B": ["1", "1"], "C": ["x", "y"]}
    lc.count(NETWORK, rows, "listwise").write(tmp_path / "a.stats")
    cells = pq.read_table(tmp_path / "a.stats").to_pylist()
    found = {(c["family"], c["complete"], c["cell"]) for c in cells}
    # B given A: 3 values each, missing last; A=0, B=1 is 0 * 3 + 1; A missing, B=1 is 2 * 3 + 1.
    assert found >= {("B", False, 1), ("B", False, 7), ("B", True, 1)}
    assert ("B", True, 7) not in found


def test_listwise_without_a_complete_row_is_what_it_is_in_memory(tmp_path: Path) -> None:
    rows = {"A": ["0", None], "B": [None, "1"], "C": ["x", "y"]}
    lc.count(NETWORK, rows, "listwise").write(tmp_path / "a.stats")
    found = lc.learn(NETWORK, tmp_path / "a.stats").network
    assert found == lc.learn(NETWORK, rows, "listwise").network


@pytest.mark.parametrize("method", ["direct-mcar", "factored-mar"])
def test_parts_that_differ_in_what_is_fully_observed_add_up_to_the_whole(
    method: str, tmp_path: Path
) -> None:
    one, two = frame(80, 0, hidden="B"), frame(80, 1, hidden="C")
    lc.count(NETWORK, one, method).write(tmp_path / "one.stats")
    lc.count(NETWORK, two, method).write(tmp_path / "two.stats")
    whole = lc.learn(NETWORK, pa.concat_tables([one, two]), method)
    merge_into(tmp_path / "all.stats", [tmp_path / "one.stats", tmp_path / "two.stats"])
    paths = [str(tmp_path / "two.stats"), str(tmp_path / "one.stats")]
    for data in (tmp_path / "all.stats", paths, str(tmp_path / "[ot]*.stats")):
        found = lc.learn(NETWORK, data)
        assert (found.method, found.missing) == (method, whole.missing)
        for name in NETWORK.variables:
            np.testing.assert_allclose(
                found.network.cpt(name).table, whole.network.cpt(name).table, rtol=1e-12
            )


def test_every_cut_of_a_file_is_refused_by_its_name(tmp_path: Path) -> None:
    whole = part(tmp_path / "whole.stats").read_bytes()
    for length in [*range(0, len(whole), 97), len(whole) - 1]:
        (tmp_path / "cut.stats").write_bytes(whole[:length])
        with pytest.raises(StatisticsError, match=r"cut.stats' is not a file of statistics, or"):
            lc.Statistics.read(tmp_path / "cut.stats")


def test_a_changed_byte_is_told_or_changes_nothing(tmp_path: Path) -> None:
    whole = part(tmp_path / "whole.stats").read_bytes()
    expected = lc.learn(NETWORK, tmp_path / "whole.stats").network
    rng = np.random.default_rng(0)
    end = len(whole) - int.from_bytes(whole[-8:-4], "little") - 8  # where the footer begins
    for at in rng.integers(4, end, 40):
        changed = bytearray(whole)
        changed[at] ^= 1 << int(rng.integers(8))
        (tmp_path / "changed.stats").write_bytes(changed)
        try:
            found = lc.learn(NETWORK, tmp_path / "changed.stats").network
        except StatisticsError as error:
            told = str(error)
        else:
            told = "changed.stats" if found == expected else ""
        assert "changed.stats" in told


def test_a_foreign_file_is_refused(tmp_path: Path) -> None:
    pq.write_table(frame(5, 0), tmp_path / "rows.stats")
    with pytest.raises(StatisticsError, match=r"rows.stats' is not a file of statistics"):
        lc.learn(NETWORK, tmp_path / "rows.stats")
    (tmp_path / "text.stats").write_text("A,B,C\n0,1,x\n")
    with pytest.raises(StatisticsError, match=r"text.stats' is not a file of statistics") as told:
        lc.learn(NETWORK, tmp_path / "text.stats")
    assert "lacunet count NETWORK DATA" in told.value.hint
    assert "Parquet" not in str(told.value)
    with pytest.raises(StatisticsError, match=r"there is no file .*none.stats"):
        lc.learn(NETWORK, tmp_path / "none.stats")


def test_a_later_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as later:
        later.setattr(header, "VERSION", 3)
        part(tmp_path / "later.stats")
    with pytest.raises(StatisticsError, match=r"later.stats' was written by a newer lacunet.* 3"):
        lc.learn(NETWORK, tmp_path / "later.stats")


@pytest.mark.parametrize(
    ("states", "parents", "words"),
    [
        (STATES, {"B": ["A"]}, r"parents differ, in \['C'\]"),
        ({**STATES, "A": ["0", "2"]}, {"B": ["A"], "C": ["B"]}, r"states differ, in \['A'\]"),
        ({**STATES, "D": ["0"]}, {"B": ["A"], "C": ["B"]}, r"variables differ, in \['D'\]"),
    ],
)
def test_statistics_of_another_network_are_refused(
    states: dict[str, list[str]], parents: dict[str, list[str]], words: str, tmp_path: Path
) -> None:
    other = lc.Network(states, parents)
    for method in ("direct-mcar", "em"):
        part(tmp_path / "part.stats", method)
        with pytest.raises(StatisticsError, match=rf"part.stats' were .*: the {words}"):
            lc.learn(other, tmp_path / "part.stats")
        with pytest.raises(StatisticsError, match=words):
            lc.learn(other, lc.count(NETWORK, frame(5, 0), method))


def test_sites_with_other_states_are_told_the_states_that_both_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one.csv").write_text("A,B\na,x\nb,y\n")
    Path("two.csv").write_text("A,B\na,x\nc,y\n")

    def merged(*more: str) -> int:
        for site in ("one", "two"):
            assert main(["count", "A -> B", f"{site}.csv", "-o", f"{site}.stats", *more]) == 0
        return main(["merge", "one.stats", "two.stats", "-o", "all.stats"])

    assert merged() == 1
    told = capsys.readouterr().err
    assert "they give A the states a, c instead of a, b." in told
    assert "--states A=a,b,c" in told
    assert merged("--states", "A=a,b,c") == 0


def test_edges_in_any_order_stand_for_the_network_of_statistics(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = part(tmp_path / "part.stats")
    by_network, edges = lc.learn(NETWORK, path), "B -> C; A -> B"
    assert lc.learn(edges, path).network == by_network.network
    assert lc.learn(edges, lc.count(NETWORK, frame(50, 0), "em")).rows == 50
    assert main(["learn", edges, str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 50
    with pytest.raises(StatisticsError, match=r"only what is given has .A -> C., only .* .B -> C."):
        lc.learn("A -> B; A -> C", path)


def test_the_cpts_of_the_network_have_no_part_in_its_hash(tmp_path: Path) -> None:
    part(tmp_path / "part.stats")
    learned = lc.learn(NETWORK, tmp_path / "part.stats").network
    assert lc.learn(learned, tmp_path / "part.stats").network == learned


def test_what_does_not_add_up_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    rows, families = part(tmp_path / "a.stats", "em"), part(tmp_path / "b.stats", "direct-mcar")
    with pytest.raises(StatisticsError, match="for em and for direct-mcar hold different things"):
        merge_into(tmp_path / "all.stats", [rows, families])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.stats", "b.stats"]
    with pytest.raises(StatisticsError, match="do not add up"):
        lc.Statistics.read(rows) + lc.Statistics.read(families)
    with pytest.raises(StatisticsError, match="named more than once"):
        merge_into(tmp_path / "all.stats", [rows, rows])
    with pytest.raises(StatisticsError, match="given together"):
        lc.learn(NETWORK, [str(rows), "rows.csv"])


def test_counts_of_families_do_not_serve_methods_that_need_rows(tmp_path: Path) -> None:
    path = part(tmp_path / "a.stats", "direct-mcar")
    assert lc.learn(NETWORK, path, "factored-mcar").method == "factored-mcar"
    for method in ("em", "factored-mar", "listwise"):
        with pytest.raises(StatisticsError, match="for direct-mcar, and do not hold what"):
            lc.explain(NETWORK, path, method)
        with pytest.raises(StatisticsError, match="for direct-mcar, and do not hold what"):
            lc.learn(NETWORK, path, method)
    with pytest.raises(StatisticsError, match="weight= has no meaning for statistics"):
        lc.learn(NETWORK, path, weight=np.ones(3))


def test_rows_serve_every_method(tmp_path: Path) -> None:
    path = part(tmp_path / "a.stats", "auto")
    for method in ("listwise", "direct-mcar", "direct-mar", "em"):
        found, expected = lc.learn(NETWORK, path, method), lc.learn(NETWORK, frame(50, 0), method)
        for name in NETWORK.variables:
            np.testing.assert_allclose(
                found.network.cpt(name).table, expected.network.cpt(name).table, rtol=1e-12
            )


def test_what_is_not_statistics_is_not_added() -> None:
    statistics: Any = lc.count(NETWORK, frame(50, 0), "em")
    with pytest.raises(TypeError, match="'Statistics' and 'int'"):
        statistics + 3
    with pytest.raises(TypeError, match="'NoneType' and 'Statistics'"):
        None + statistics


@pytest.mark.parametrize("method", ["direct-mcar", "em"])
def test_rows_that_only_count_are_not_weighted_in_a_file(method: str, tmp_path: Path) -> None:
    counted = lc.Data({**frame(50, 0).to_pydict(), "n": [1, 2] * 25}, counts="n")
    lc.count(NETWORK, counted, method).write(tmp_path / "a.stats")
    read = lc.Statistics.read(tmp_path / "a.stats")
    tallies = [counts.tally for counts in read.counts.values()]
    tallies += [rows.tally for rows in read.distinct.values()]
    for tally in tallies:
        assert tally.rows is tally.weights is tally.squares


def test_more_distinct_rows_than_fit_are_refused_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streamed, "LEAST_ROWS", 5)
    with pytest.raises(StatisticsError, match="need more than 50 bytes, an eighth"):
        lc.count(NETWORK, frame(50, 0), "em", memory=400)
    with pytest.raises(StatisticsError, match="does not say that it holds statistics"):
        lc.count(NETWORK, frame(50, 0), "em").write(tmp_path / "part.parquet")
    with pytest.raises(lc.LacunetError, match="there is no method 'ems'"):
        lc.count(NETWORK, frame(50, 0), "ems")
    other = replace(lc.count(NETWORK, frame(5, 0), "em"), network=None)
    with pytest.raises(StatisticsError, match="do not say which network"):
        other.write(tmp_path / "part.stats")


DESIGNED = {"weight": "w", "strata": "h", "cluster": "c"}
COARSE = NETWORK.with_codes({"C": {"yz": ["y", "z"]}}, {})


def surveyed(rows: int, seed: int) -> pa.Table:
    table = frame(rows, seed)
    for name, column in {"w": 1.0 + np.arange(rows) % 3, "h": np.arange(rows) % 2}.items():
        table = table.append_column(name, pa.array(column))
    return table.append_column("c", pa.array(np.arange(rows) % 6))


def coarsened(seed: int) -> pa.Table:
    """Thirty rows, in the first three of which C is one of two states."""
    table = frame(30, seed)
    values = ["yz"] * 3 + table.column("C").to_pylist()[3:]
    return table.set_column(table.column_names.index("C"), "C", pa.array(values))


@pytest.mark.parametrize("memory", [None, 2000])
@pytest.mark.parametrize("summing", [False, True])
@pytest.mark.parametrize("method", ["direct-mcar", "em"])
def test_a_file_says_that_its_data_had_a_design(
    method: str, summing: bool, memory: int | None, tmp_path: Path
) -> None:
    one, two, both = (tmp_path / f"{name}.stats" for name in ("one", "two", "both"))
    with pytest.warns(DataWarning, match="keep no strata, clusters"):
        lc.count(NETWORK, lc.Data(surveyed(60, 0), **DESIGNED), method).write(one)
    _, notes = count_into(two, NETWORK, frame(40, 1), method)
    assert notes == ()
    merge_into(both, [two, one], summing=summing)
    assert "keep no strata, clusters" in str(lc.Statistics.read(both).notes)
    with pytest.warns(DataWarning, match="keep no strata, clusters"):
        found = lc.learn(NETWORK, both, "direct-mcar", intervals=True, memory=memory)
    (note,) = (note for note in found.notes if "strata" in note)
    assert "take rows as independent" in note
    assert lc.learn(NETWORK, two, "direct-mcar", intervals=True, memory=memory).notes == ()


SURVEY = {
    "Age": [12.5, 40, 61, 33, 70, 18],
    "Smoked": [1, 2, 2, 1, 2, 9],
    "Now": [None, "no", "yes", None, None, None],
    "Size": ["s", "m", "l", "m+", "m+", "s"],
}


@pytest.mark.parametrize("method", ["direct-mcar", "em"])
def test_a_file_keeps_rules_codes_and_cut_points(method: str, tmp_path: Path) -> None:
    edges = "Smoked -> Now; Age -> Now; Size"
    network = lc.Network.from_data(
        SURVEY,
        edges,
        codes={"Smoked": {1: "no", 2: "yes", 9: None}, "Size": {"m+": ["m", "l"]}},
        not_asked={"Now": "Smoked=no"},
        bins={"Age": [0, 30, np.inf]},
    )
    whole = lc.learn(network, SURVEY, method, prior=2).network
    path = tmp_path / "rows.stats"
    count_into(path, network, SURVEY, method)
    counted = lc.count(network, SURVEY, method)
    for given in (edges, network, lc.Network(network.states_of, network.parents_of)):
        for data in (path, counted):
            found = lc.learn(given, data, prior=2).network
            assert found.cpt("Now").table[:, 0] == pytest.approx(whole.cpt("Now").table[:, 0])
            assert found.not_asked_of == network.not_asked_of
            assert found.codes_of == network.codes_of
    assert lc.learn(edges, path).network.cuts_of == network.cuts_of
    assert lc.Statistics.read(path).network == counted.network


def test_codes_of_one_part_are_those_of_the_sum(tmp_path: Path) -> None:
    network = lc.Network({"A": ["x", "y", "z"]})
    for name, codes in (("one", {1: "x"}), ("two", {2: "y", 9: None})):
        data = lc.Data({"A": [*codes, "z"]}, codes={"A": codes})
        count_into(tmp_path / f"{name}.stats", network, data, "em")
    paths = [tmp_path / "one.stats", tmp_path / "two.stats"]
    merge_into(tmp_path / "all.stats", paths)
    one, two = map(lc.Statistics.read, paths)
    for statistics in (tmp_path / "all.stats", paths, one + two):
        found = lc.learn(network, statistics, "em").network
        assert found.codes_of == {"A": {"1": "x", "2": "y", "9": None}}


def test_bounds_from_a_file_use_cells_of_several_states(tmp_path: Path) -> None:
    network = lc.Network({"A": ["x", "y", "z"]})
    data = lc.Data({"A": ["x", "y", "q", None]}, codes={"A": {"q": ["x", "y"]}})
    count_into(tmp_path / "rows.stats", network, data, "em")
    found = lc.worst_case(network, tmp_path / "rows.stats", "A")
    # z is possible in the last row alone
    assert (found.low.tolist(), found.high.tolist()) == ([1 / 4, 1 / 4, 0], [3 / 4, 3 / 4, 1 / 4])


def test_bounds_need_rows_and_counts_of_families_are_refused() -> None:
    network = lc.Network({"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]})
    statistics = lc.count(network, {"A": ["0", None], "B": ["1", "0"]}, "direct-mcar")
    with pytest.raises(StatisticsError, match="direct-mcar"):
        lc.worst_case(network, statistics, "B")


@pytest.mark.parametrize("few_rows", [2**10, 16])
def test_files_whose_sets_of_states_differ_are_learned_from_beyond_memory(
    few_rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = lc.Network({"A": ["x", "y", "z"], "B": ["0", "1"]}, {"B": ["A"]})
    rng, paths = np.random.default_rng(0), []
    for code, states in {"p": ["x", "y"], "q": ["y", "z"]}.items():
        rows = {"A": rng.choice([*"xyz", code], 100), "B": rng.choice(["0", "1"], 100)}
        paths.append(tmp_path / f"{code}.stats")
        lc.count(network, lc.Data(rows, codes={"A": {code: states}}), "em").write(paths[-1])
    expected = lc.learn(network, paths, "em").network
    monkeypatch.setattr(observations, "HELD_SHARE", np.inf)
    for name in ("TABLE_SHARE", "PART_SHARE"):
        monkeypatch.setattr(streamed, name, 2**60)
    monkeypatch.setattr(streamed, "LEAST_ROWS", few_rows)
    found = lc.learn(network, paths, "em").network
    np.testing.assert_allclose(found.cpt("A").table, expected.cpt("A").table, atol=1e-9)


def test_more_sets_of_states_than_a_column_of_a_file_holds_are_refused(tmp_path: Path) -> None:
    states = [f"s{at:03}" for at in range(130)]
    pairs = {f"{one}/{two}": [one, two] for one, two in combinations(states[:17], 2)}
    data = lc.Data({"A": [*states, *pairs]}, codes={"A": pairs})
    statistics = lc.count(lc.Network({"A": states}), data, "em")
    with pytest.raises(StatisticsError, match="too many different sets"):
        statistics.write(tmp_path / "rows.stats")


@pytest.mark.parametrize("method", ["direct-mcar", "em"])
def test_a_file_knows_which_variables_are_latent(method: str, tmp_path: Path) -> None:
    rows = {"B": ["0", "1", "1"], "C": ["x", None, "z"]}
    count_into(tmp_path / "latent.stats", NETWORK, lc.Data(rows, latent=["A"]), method)
    assert lc.learn(NETWORK, tmp_path / "latent.stats").notes == ()
    empty = lc.count(NETWORK, {**rows, "A": [None] * 3}, method)
    with pytest.warns(DataWarning, match="no row shows 'A'"):
        lc.learn(NETWORK, empty + lc.count(NETWORK, lc.Data(rows, latent=["A"]), method))


@pytest.mark.parametrize("method", ["direct-mcar", "em"])
def test_a_file_keeps_the_notes_on_how_its_data_were_read(method: str, tmp_path: Path) -> None:
    rows = {**{name: own[:2] * 2 for name, own in STATES.items()}, "n": [1, 0, 0, 2], "x": [1] * 4}
    counted = []
    for name in ("monday", "tuesday"):
        path = tmp_path / f"{name}.stats"
        with pytest.warns(DataWarning, match="ignored the columns"):
            counted.append(lc.count(NETWORK, rows, method, counts="n", part=name))
        with pytest.warns(DataWarning, match="ignored the columns"):
            count_into(path, NETWORK, lc.Data(rows, counts="n"), method, part=name)
        assert lc.learn(NETWORK, path).notes == counted[-1].notes
    columns, zero = counted[0].notes
    assert zero == "left out 2 of 4 rows: their count is zero."
    paths = [tmp_path / "monday.stats", tmp_path / "tuesday.stats"]
    merge_into(tmp_path / "all.stats", paths)
    merge_into(tmp_path / "sum.stats", paths, summing=True)
    whole = counted[0] + counted[1]
    for data in (whole, paths, tmp_path / "all.stats", tmp_path / "sum.stats"):
        both = lc.learn(NETWORK, data).notes
        assert both == (f"in each of 2 parts: {columns}", f"in each of 2 parts: {zero}")
    other = lc.count(NETWORK, {**rows, "n": [1, 0, 1, 1]}, method, counts="n", part="friday")
    assert (whole + other).notes[-1] == "in friday: left out 1 of 4 rows: its count is zero."


@pytest.mark.parametrize("method", ["em", "direct-mcar"])
def test_counting_into_a_file_keeps_that_the_data_had_a_design(method: str, tmp_path: Path) -> None:
    path = tmp_path / "part.stats"
    _, notes = count_into(path, NETWORK, lc.Data(surveyed(60, 0), **DESIGNED), method)
    assert "keep no strata, clusters" in notes[-1]
    assert lc.Statistics.read(path).notes == notes[-1:]


@pytest.mark.parametrize("summing", [False, True])
@pytest.mark.parametrize("method", ["direct-mcar", "listwise", "factored-mar"])
def test_a_file_says_how_many_cells_of_several_states_were_taken_as_missing(
    method: str, summing: bool, tmp_path: Path
) -> None:
    one, two, both = (tmp_path / f"{name}.stats" for name in ("one", "two", "both"))
    count_into(one, COARSE, lc.Data(coarsened(0)), method, part="one")
    lc.count(COARSE, coarsened(1), method, part="two").write(two)
    merge_into(both, [one, two], summing=summing)
    whole = lc.learn(COARSE, pa.concat_tables([coarsened(0), coarsened(1)]), method)
    (note,) = lc.learn(COARSE, both).notes
    assert note.endswith("taken as missing here: C 6.")
    assert (note,) == whole.notes


def test_cells_of_several_states_go_with_the_part_that_is_replaced(tmp_path: Path) -> None:
    one, two, both = (tmp_path / f"{name}.stats" for name in ("one", "two", "both"))
    lc.count(COARSE, coarsened(0), "direct-mcar", part="monday").write(one)
    lc.count(COARSE, frame(30, 1), "direct-mcar", part="monday").write(two)
    merge_into(both, [one, two], replacing=True)
    assert lc.learn(COARSE, both).notes == ()


def forged(path: Path, change: Callable[[dict[str, Any], pa.Table], pa.Table]) -> Path:
    """The file with its header and contents changed, and all hashes made to fit."""
    with pq.ParquetFile(path) as file:
        table, told = file.read(), json.loads(file.metadata.metadata[b"lacunet"])
    table = change(told, table)
    digest = Digest()
    for name in table.column_names:
        values = table.column(name).to_pylist()
        if name in STATES:
            codes = [[*STATES[name], None].index(value) for value in values]
            array = np.array(codes, dtype=np.uint8)
        elif name == "family":
            array = np.array([list(STATES).index(value) for value in values], dtype=np.int32)
        else:
            array = np.array(values, dtype=table.column(name).type.to_pandas_dtype())
        digest.add({name: array})
    told["data"] = digest.text()
    told["seal"] = seal(told)
    with pq.ParquetWriter(path, table.schema) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"lacunet": json.dumps(told)})
    return path


def with_number(name: str, change: Callable[[float], float]) -> Callable[..., pa.Table]:
    def changed(_: dict[str, Any], table: pa.Table) -> pa.Table:
        values = table.column(name).to_pylist()
        values[0] = change(values[0])
        at = table.column_names.index(name)
        return table.set_column(at, name, pa.array(values, table.column(name).type))

    return changed


def with_header(key: str, change: Callable[[Any], Any]) -> Callable[..., pa.Table]:
    def changed(told: dict[str, Any], table: pa.Table) -> pa.Table:
        told[key] = change(told[key])
        return table

    return changed


FORGERIES = {
    "negative weight": with_number("lacunet:weight", lambda own: -own),
    "weight that is no number": with_number("lacunet:weight", lambda _: float("nan")),
    "another weight": with_number("lacunet:weight", lambda own: own + 1),
    "other squares": with_number("lacunet:squares", lambda own: own * 100),
    "another number of rows": with_number("lacunet:rows", lambda own: own + 1),
    "another part": with_number("lacunet:part", lambda _: 7),
    "another total": with_header("total", lambda own: own + 1),
    "more rows": with_header("rows", lambda own: own + 1),
    "no rows": with_header("rows", lambda _: None),
    "other missing values": with_header("missing", lambda own: {**own, "B": own["B"] - 1}),
    "no parts": with_header("parts", lambda _: []),
    "a part twice": with_header("parts", lambda own: own + own),
    "another kind": with_header("kind", {"rows": "families", "families": "rows"}.get),
    "another hash": with_header("network", lambda own: {**own, "hash": "0"}),
    "states that are numbers": with_header("network", lambda own: {**own, "states": {"A": [1]}}),
    "codes that are a list": with_header("network", lambda own: {**own, "codes": ["A"]}),
    "codes of no variable": with_header("network", lambda own: {**own, "codes": {"Z": {"1": "0"}}}),
    "a rule of numbers": with_header("network", lambda own: {**own, "not_asked": {"B": [1, 2]}}),
    "a rule that cannot be": with_header(
        "network", lambda own: {**own, "not_asked": {"B": ["Z=1", "0"]}}
    ),
    "cuts that are strings": with_header("network", lambda own: {**own, "cuts": {"A": ["x"]}}),
    "too many cuts": with_header("network", lambda own: {**own, "cuts": {"A": [1, None, 2, 3]}}),
    "fewer entries": lambda _, table: table.slice(1),
    "entries twice": lambda _, table: pa.concat_tables([table, table]),
    "one column less": lambda _, table: table.drop_columns(["lacunet:squares"]),
}


@pytest.mark.parametrize("method", ["factored-mar", "direct-mcar", "listwise"])
@pytest.mark.parametrize("what", FORGERIES)
def test_a_forged_file_is_refused_by_its_name(what: str, method: str, tmp_path: Path) -> None:
    path = forged(part(tmp_path / "forged.stats", method), FORGERIES[what])
    with pytest.raises(StatisticsError, match=r"forged\.stats"):
        lc.learn(NETWORK, path, "direct-mcar")


def with_losses(name: str, value: Callable[[str], object]) -> Callable[..., pa.Table]:
    def changed(told: dict[str, Any], table: pa.Table) -> pa.Table:
        told[name] = value(told["parts"][0][0]["id"])
        return table

    return changed


LOSSES = {
    "a design of another part": with_losses("designed", lambda _: ["other"]),
    "a design twice": with_losses("designed", lambda own: [own, own]),
    "a design that is no list": with_losses("designed", lambda own: own),
    "cells of another part": with_losses("coarse", lambda _: {"other": {"B": 1}}),
    "cells of no variable": with_losses("coarse", lambda own: {own: {"D": 1}}),
    "more cells than are missing": with_losses("coarse", lambda own: {own: {"B": 49}}),
    "no cells": with_losses("coarse", lambda own: {own: {"B": 0}}),
    "cells that are no number": with_losses("coarse", lambda own: {own: {"B": True}}),
    "no variables": with_losses("coarse", lambda own: {own: {}}),
    "cells that are a list": with_losses("coarse", lambda own: [own]),
    "notes on another part": with_losses("notes", lambda _: {"other": ["a note"]}),
    "notes that are no strings": with_losses("notes", lambda own: {own: [1]}),
    "latent variables that are one": with_losses("latent", lambda own: {own: "A"}),
    "notes that are a list": with_losses("notes", lambda own: [own]),
}


@pytest.mark.parametrize("what", LOSSES)
def test_a_file_forged_in_what_it_does_not_keep_is_refused(what: str, tmp_path: Path) -> None:
    path = forged(part(tmp_path / "forged.stats", "direct-mcar"), LOSSES[what])
    with pytest.raises(StatisticsError, match=r"forged\.stats"):
        lc.learn(NETWORK, path)


def test_rows_that_show_their_sets_of_states_do_not_count_them_too(tmp_path: Path) -> None:
    change = with_losses("coarse", lambda own: {own: {"B": 1}})
    path = forged(part(tmp_path / "forged.stats", "em"), change)
    with pytest.raises(StatisticsError, match=r"forged\.stats"):
        lc.learn(NETWORK, path)


@pytest.mark.parametrize("method", ["factored-mar", "direct-mcar"])
def test_a_header_that_does_not_fit_its_own_hash_is_refused(method: str, tmp_path: Path) -> None:
    path = part(tmp_path / "changed.stats", method)
    with pq.ParquetFile(path) as file:
        table, told = file.read(), json.loads(file.metadata.metadata[b"lacunet"])
    with pq.ParquetWriter(path, table.schema) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"lacunet": json.dumps({**told, "method": "em"})})
    with pytest.raises(StatisticsError, match="its header was changed"):
        lc.learn(NETWORK, path, "direct-mcar")


def test_contents_that_do_not_fit_their_hash_are_refused(tmp_path: Path) -> None:
    path = part(tmp_path / "changed.stats", "em")
    with pq.ParquetFile(path) as file:
        table, header_text = file.read(), file.metadata.metadata[b"lacunet"]
    order = np.arange(table.num_rows)[::-1]
    with pq.ParquetWriter(path, table.schema) as writer:
        writer.write_table(table.take(order))
        writer.add_key_value_metadata({"lacunet": header_text})
    with pytest.raises(StatisticsError, match="its contents were changed"):
        lc.learn(NETWORK, path, "direct-mcar")


def test_headers_of_pages_that_say_other_things_are_told(tmp_path: Path) -> None:
    """Checksums do not cover them: a column may say that its dictionary is empty."""
    whole = part(tmp_path / "whole.stats").read_bytes()
    expected = lc.learn(NETWORK, tmp_path / "whole.stats", "direct-mcar").network
    refused = 0
    for at in range(4, 260):
        changed = bytearray(whole)
        changed[at] = 84
        (tmp_path / "changed.stats").write_bytes(changed)
        try:
            found = lc.learn(NETWORK, tmp_path / "changed.stats", "direct-mcar").network
        except StatisticsError:
            refused += 1
        else:
            assert found == expected
    assert refused > 100
