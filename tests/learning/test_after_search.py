"""Intervals of answers of a network whose edges were learned from the same rows."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import lacunet as lc
from lacunet.inference.answer import Answer
from lacunet.learning.uncertainty.after_search import SearchedSpread
from lacunet.learning.uncertainty.cpt_intervals import Spread
from lacunet.network.network import Network

# Of 150 rows without A 60 have B, of 150 with A 78: BIC leaves the edge out (chi2 4.4 of the 5.7
# that it takes), and the share of all rows, .46, has an interval below .52.
WEAK = {
    "A": ["no"] * 150 + ["yes"] * 150,
    "B": ["yes"] * 60 + ["no"] * 90 + ["yes"] * 78 + ["no"] * 72,
}


@pytest.fixture(scope="module")
def searched() -> lc.Result:
    found = lc.learn_structure(WEAK)
    assert found.edges == ()
    return lc.learn(found, WEAK, pseudo_counts=0, intervals=True)


def asked(result: lc.Result) -> Answer:
    return result.query("P(B=yes | A=yes)")


def test_an_edge_that_the_search_leaves_out_may_be_there_by_the_interval(
    searched: lc.Result,
) -> None:
    known = replace(searched, network=searched.network.with_bootstrap(None))
    assert np.ravel(known.network.cpt("B").table).max() == pytest.approx(0.54)
    assert asked(known).interval[0, 1] < 0.52
    low, high = asked(searched).interval[0]
    assert low <= asked(known).interval[0, 0]
    assert high > 0.52
    assert float(asked(searched)) == float(asked(known)) == pytest.approx(0.46)
    assert asked(searched).standard_error[0] > asked(known).standard_error[0]


def test_the_interval_of_replicates_lies_around_their_mean_and_counts_their_distance() -> None:
    # Half of a hundred networks say .4, half say .6; the network says .4: the mean of the squared
    # distances is .02, as that of a share of one half among 12.5 rows.
    table = np.array([0.4, 0.6])
    answers = np.array([[0.4, 0.6], [0.6, 0.4]] * 50)
    spread = SearchedSpread.of(Spread(table, table, np.full(2, 1e6)), answers)
    half = np.full(2, 0.5)
    alone = Spread(table, half, np.full(2, 12.5), 100)
    np.testing.assert_allclose(spread.interval(), alone.interval(), rtol=1e-12)
    np.testing.assert_allclose(spread.standard_error, np.sqrt(0.02), rtol=1e-12)


def test_replicates_that_agree_with_the_network_leave_its_interval() -> None:
    table = np.array([0.4, 0.6])
    known = Spread(table, table, np.full(2, 80.0))
    spread = SearchedSpread.of(known, np.tile(table, (20, 1)))
    np.testing.assert_array_equal(spread.interval(), known.interval())
    np.testing.assert_array_equal(spread.standard_error, known.standard_error)


def test_intervals_and_doubts_survive_a_file(searched: lc.Result, tmp_path: Path) -> None:
    searched.write(tmp_path / "result.json")
    again = lc.read_result(tmp_path / "result.json")
    np.testing.assert_array_equal(asked(again).interval, asked(searched).interval)
    lc.learn_structure(WEAK).network.write(tmp_path / "network.json")
    result = lc.learn(tmp_path / "network.json", WEAK, pseudo_counts=0, intervals=True)
    np.testing.assert_array_equal(asked(result).interval, asked(searched).interval)


def test_without_replicates_a_warning_comes_along(tmp_path: Path) -> None:
    found = lc.learn_structure(WEAK, strengths=0)
    found.network.write(tmp_path / "network.json")
    for network in (found, found.network, tmp_path / "network.json"):
        result = lc.learn(network, WEAK, intervals=True)
        assert any("edges were learned" in warning for warning in result.warnings)
        result.write(tmp_path / "result.json")
        for source in (result, lc.read_result(tmp_path / "result.json")):
            with pytest.warns(lc.LacunetWarning, match="learned"):
                answer = source.query("B", {"A": "yes"})
            assert "learned" in str(answer)
    drawn = lc.learn(found.network.with_bootstrap(None), WEAK, intervals=True)
    assert "edges were learned" not in str(drawn.query("B", {"A": "yes"}))


def test_what_is_counted_needs_no_warning(searched: lc.Result) -> None:
    assert "edges were learned" not in str(asked(searched))
    assert not any("edges were learned" in warning for warning in searched.warnings)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asked(searched)


def test_what_is_done_from_outside_takes_the_edges_as_known_and_says_so(
    searched: lc.Result,
) -> None:
    answer = searched.query("P(B=yes | do(A=yes))")
    assert "learned" in str(answer)
    known = replace(searched, network=searched.network.with_bootstrap(None))
    np.testing.assert_array_equal(answer.interval, asked(known).interval)
    assert "learned" in str(searched.effect("B", do="A")).lower()


def test_a_paper_says_whether_the_search_was_counted(searched: lc.Result) -> None:
    bare, known = (searched.network.with_bootstrap(networks) for networks in ([], None))
    assert "20 Bayesian" in searched.methods_text()
    assert "intervals" in replace(searched, network=bare).methods_text()
    assert "edges were learned" not in replace(searched, network=known).methods_text()


def test_fewer_replicates_than_tell_anything_are_none() -> None:
    with pytest.warns(lc.LacunetWarning, match="little"):
        found = lc.learn_structure(WEAK, strengths=5)
    assert found.network.bootstrap == ()


def test_codes_and_cuts_of_evidence_are_read_by_replicates_too(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    age = rng.uniform(20, 80, 400)
    ill = np.where(rng.random(400) < age / 100, "yes", "no")
    data = {"Age": age.round(1).tolist(), "Ill": ill.tolist()}
    found = lc.learn_structure(lc.Data(data, bins={"Age": [20, 40, 60, 80]}))
    found.network.write(tmp_path / "network.json")
    intervals = []
    for network in (found, tmp_path / "network.json"):
        result = lc.learn(network, data, intervals=True)
        intervals.append(result.query("Ill", {"Age": 33.5}).interval)
    np.testing.assert_array_equal(*intervals)


@pytest.mark.slow
def test_intervals_cover_after_a_search_as_often_as_they_say() -> None:
    """Two weak causes of one effect, 300 rows: the search often misses one of them."""
    states = {name: ["no", "yes"] for name in "XYZ"}
    effect = [[[0.7, 0.3], [0.58, 0.42]], [[0.56, 0.44], [0.42, 0.58]]]
    tables = {"X": [0.5, 0.5], "Y": [0.5, 0.5], "Z": effect}
    truth = Network(states, {"Z": ["X", "Y"]}, tables)
    covered = {"edges as known": [], "counting the search": []}
    for seed in range(80):
        data = truth.sample(300, rng=seed)
        searched = lc.learn(lc.learn_structure(data), data, intervals=True)
        known = replace(searched, network=searched.network.with_bootstrap(None))
        for how, result in zip(covered, (known, searched), strict=True):
            for x, y in ((0, 0), (0, 1), (1, 0), (1, 1)):
                seen = {"X": states["X"][x], "Y": states["Y"][y]}
                answer = result.query("Z", seen)
                low, high = answer.interval[answer.states[0].index("yes")]
                covered[how].append(low <= effect[x][y][1] <= high)
    shares = {how: float(np.mean(hits)) for how, hits in covered.items()}
    assert shares["edges as known"] < 0.75, shares
    assert shares["counting the search"] > 0.90, shares


def gappy(share: int) -> dict[str, list[str | None]]:
    """The rows of the weak edge, of which every so manieth misses B."""
    cells: list[str | None] = [*WEAK["B"]]
    cells[::share] = [None] * len(cells[::share])
    return {"A": [*WEAK["A"]], "B": cells}


@pytest.mark.parametrize(("every", "is_short"), [(2, True), (4, True), (20, False)])
def test_where_many_cells_are_missing_the_search_is_said_to_fall_short(
    every: int, is_short: bool, tmp_path: Path
) -> None:
    rows = gappy(every)
    found = lc.learn_structure(rows)
    result = lc.learn(found, rows, intervals=True)
    assert any("miss many" in note for note in result.notes) == is_short
    assert ("miss many" in result.methods_text()) == is_short
    result.write(tmp_path / "result.json")
    for source in (result, lc.read_result(tmp_path / "result.json")):
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always")
            answer = source.query("B", {"A": "yes"})
        assert any("miss many" in str(note.message) for note in noted) == is_short
        assert ("miss many" in str(answer)) == is_short
    known = lc.learn(found.network.with_bootstrap(None), rows, intervals=True)
    assert not any("miss many" in note for note in known.notes)


@pytest.mark.parametrize("ending", [".bif", ".xdsl", ".net"])
def test_what_a_file_cannot_keep_of_the_search_is_said(ending: str, tmp_path: Path) -> None:
    found = lc.learn_structure(gappy(2))
    with pytest.warns(lc.LacunetWarning, match="the edges were learned, and how sure they are"):
        found.network.write(tmp_path / f"network{ending}")
