"""What is missing, and what the data say about why; checked against scipy and by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

import lacunet as lc
from lacunet.ask.diagnose.at_random_tests import mar_tests, mcar_tests, mechanism_tables, positivity
from lacunet.ask.diagnose.diagnosis import diagnose
from lacunet.ask.diagnose.patterns import Patterns, patterns
from lacunet.cli import main
from lacunet.counts.missing_values import missing_summary
from lacunet.counts.observations import Held, observations, rows_within
from lacunet.data.data import Data
from lacunet.data.read import ReadReport
from lacunet.data.table import Copies, EncodedTable
from lacunet.data.write import write_arrow
from lacunet.errors import LacunetWarning
from lacunet.learning.explain import explain
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.independence.stratified import holm, independence
from lacunet.missingness.learned.from_rows import observed_parents
from lacunet.network.network import Network
from lacunet.simulation.at_random import MAR, MCAR
from lacunet.simulation.by_graph import MissingByGraph
from lacunet.simulation.simulate import simulate

THREE = Network(
    {name: ["0", "1"] for name in "ABC"},
    {"B": ["A"], "C": ["B"]},
    {"A": [0.4, 0.6], "B": [[0.7, 0.3], [0.2, 0.8]], "C": [[0.9, 0.1], [0.4, 0.6]]},
)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def table_of(rows: list[str]) -> EncodedTable:
    """Rows such as ``"0?1"`` over A, B, C."""
    columns = {
        name: np.array([2 if row[at] == "?" else int(row[at]) for row in rows], np.uint8)
        for at, name in enumerate("ABC")
    }
    return EncodedTable(dict.fromkeys("ABC", 2), columns)


def described(rows: list[str]) -> Patterns:
    return patterns(THREE, missing_summary(table_of(rows), ()))


def hidden_by(text: str, rows: int, tables: dict[str, object]) -> EncodedTable:
    graph = MissingnessGraph.parse(text, THREE)
    return simulate(THREE, rows, MissingByGraph(graph, tables), rng=np.random.default_rng(3)).table  # type: ignore[arg-type]


def test_large_tables_are_tested_as_scipy_does() -> None:
    counts = np.array([[30.0, 60.0, 25.0], [200.0, 250.0, 190.0]])
    found = independence(counts[None], rng())
    expected = stats.chi2_contingency(counts, correction=False)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.effect == pytest.approx(stats.contingency.association(counts.astype(int)))
    assert found.how != "draws"


def test_small_tables_are_compared_with_draws_as_fishers_test_does() -> None:
    counts = np.array([[3.0, 9.0], [12.0, 6.0]])
    found = independence(counts[None], rng())
    exact = stats.fisher_exact(counts).pvalue  # two-sided by probability, here the same tables
    assert found.how == "draws"
    # 4,000 draws or more, of which a share p is as far: four standard errors.
    assert found.p_value == pytest.approx(exact, abs=4 * (exact / 4000) ** 0.5)


def test_strata_add_up() -> None:
    one, two = np.array([[30.0, 60.0], [80.0, 75.0]]), np.array([[40.0, 20.0], [90.0, 120.0]])
    both = independence(np.stack([one, two]), rng())
    single = [stats.chi2_contingency(t, correction=False) for t in (one, two)]
    assert both.statistic == pytest.approx(sum(result.statistic for result in single))
    assert both.degrees_of_freedom == 2


def test_rows_and_columns_that_do_not_occur_take_no_degrees_of_freedom() -> None:
    counts = np.array([[[200.0, 0.0, 150.0], [300.0, 0.0, 350.0]]])
    assert independence(counts, rng()).degrees_of_freedom == 1
    assert independence(np.array([[[0.0, 0.0], [3.0, 4.0]]]), rng()).p_value == 1


def test_holm_by_hand() -> None:
    adjusted = holm(np.array([0.01, 0.04, 0.03, 0.5]))
    np.testing.assert_allclose(adjusted, [0.04, 0.09, 0.09, 0.5])


def test_the_tables_of_all_pairs_are_those_of_each_pair() -> None:
    table = hidden_by("A -> R[B]; R[C]", 500, {"B": [0.2, 0.6], "C": 0.3})
    found = mechanism_tables(table, table.partially_observed)["C"]
    assert table.partially_observed == ("B", "C")
    for state in (0, 1):
        for shown in (0, 1):
            rows = (table.columns["C"] == state) & ((table.columns["B"] != 2) == shown)
            assert found[0, shown, state] == rows.sum()


def test_patterns_by_hand() -> None:
    found = described(["000", "01?", "0??", "1??", "11?", "110"])
    assert found.rate_of == {"A": 0, "B": 1 / 3, "C": 2 / 3}
    assert found.number == 3
    assert {(one.missing, one.rows) for one in found.commonest} == {
        ((), 2),
        (("C",), 2),
        (("B", "C"), 2),
    }
    assert found.is_monotone
    assert found.complete_rows == 2
    assert dict(found.family_rows) == {"A": 6, "B": 4, "C": 2}
    # B is missing in two rows that show one cell each, of 12 cells shown in all.
    assert found.influx_of["B"] == pytest.approx(2 / 12)
    # B is shown in four rows, two of which miss one cell, of 6 missing in all.
    assert found.outflux_of["B"] == pytest.approx(2 / 6)
    assert found.outflux_of["A"] == 1
    pair = found.pairs[0]
    assert (pair.together, pair.expected) == (2, pytest.approx(2 * 4 / 6))


def test_a_pattern_that_holds_no_other_is_not_monotone() -> None:
    assert not described(["0?1", "01?", "001"]).is_monotone


def test_what_is_missing_at_random_is_found_and_said() -> None:
    table = hidden_by("A -> R[B]; R[C]", 2000, {"B": [0.1, 0.6], "C": 0.3})
    found = diagnose(table, THREE)
    first = found.mcar[0]
    assert (first.missing, first.cause, first.highest) == ("B", "A", "1")
    assert first.ratio == pytest.approx(6, rel=0.3)
    assert "B is" in found.conclusions[0]
    assert "on A" in found.conclusions[0]
    assert found.mar[0].adjusted > 0.05
    assert "seen" in found.conclusions[-1]
    assert "B is missing in" in str(found)


def test_dependence_on_values_that_are_missing_themselves_is_found() -> None:
    table = hidden_by("B -> R[C]; R[B]", 4000, {"B": 0.3, "C": [0.1, 0.7]})
    tests = mar_tests(THREE, table, rng(), observed_parents(THREE, table))
    assert (tests[0].missing, tests[0].cause) == ("C", "B")
    assert tests[0].adjusted < 1e-6


def _hidden_a_little_by_age() -> dict[str, list[str | None]]:
    """Whether Ill is shown depends on Age, too little to be noticed; Work goes with Age."""
    rows: list[tuple[str | None, ...]] = []
    cells = {"old": (490, 10, 0.25), "mid": (5, 495, 0.19), "young": (5, 495, 0.19)}
    for age, (yes, no, rate) in cells.items():
        for work, number in (("retired", yes), ("other", no), (None, 20)):
            hidden = round(rate * number)
            rows += [(age, work, None)] * hidden
            rows += [(age, work, ("no", "yes")[row % 2]) for row in range(number - hidden)]
    return dict(zip(("Age", "Work", "Ill"), map(list, zip(*rows, strict=True)), strict=True))


def test_a_variable_that_was_not_noticed_raises_no_alarm() -> None:
    found = lc.diagnose(_hidden_a_little_by_age())
    (test,) = [test for test in found.mar if test.missing == "Ill"]
    assert test.given == ("Age",)
    assert test.p_value > 0.5
    (words,) = [words for words in found.conclusions if words.startswith("No sign that")]
    assert "(2 tests, the smallest adjusted p = " in words


def test_an_alarm_comes_with_its_numbers_and_is_as_sure_as_they_are() -> None:
    def rows(times: int) -> dict[str, list[str | None]]:
        shown = ["0"] * 80 + ["1"] * 60 + ["0"] * 20 + ["1"] * 40
        return {
            "A": (shown + [None] * 20) * times,
            "B": ((["0", "1"] * 70 + [None] * 60) + ["0", "1"] * 10) * times,
        }

    weak, strong = (lc.diagnose(rows(times)) for times in (1, 10))
    (words,) = [text for text in weak.conclusions if "always at random" in text]
    first = weak.mar[0]
    assert 0.001 < first.adjusted < 0.05
    numbers = f"V = {first.effect:.2f}, p = {first.adjusted:.2g}, adjusted for 2 tests; of data"
    assert words.startswith("Perhaps not always at random: it seems that whether B is missing")
    assert numbers in words
    assert "MAR data" in words
    (words,) = [text for text in strong.conclusions if "always at random" in text]
    assert words.startswith("Nor always at random: whether B is missing depends on A")
    assert "2 tests). Methods for MAR" in words


@pytest.mark.slow
def test_false_alarms_of_missing_at_random_are_as_many_as_the_level_says() -> None:
    alarms = []
    for seed in range(400):
        random = np.random.default_rng([7, seed])
        age = random.integers(0, 3, 1500)
        ill = random.random(1500) < np.array([0.05, 0.3, 0.8])[age]
        test = random.random(1500) < np.where(ill, 0.95, 0.05)
        columns: dict[str, Any] = {"Age": np.array(["young", "mid", "old"])[age]}
        for name, values in (("Ill", ill), ("Test", test)):
            hides = random.random(1500) < np.array([0.18, 0.2, 0.22])[age]
            columns[name] = np.where(hides, None, np.array(["no", "yes"], object)[values * 1])
        alarms.append(lc.diagnose(columns).mar[0].adjusted < 0.05)
    assert np.mean(alarms) < 0.083  # 5% of 400 and three standard errors


def test_a_state_under_which_nothing_is_shown_is_named() -> None:
    table = hidden_by("A -> R[B]", 500, {"B": [0.2, 1.0]})
    (never,) = positivity(THREE, table)
    assert (never.missing, never.cause, never.state) == ("B", "A", "1")
    assert never.rows == int((table.columns["A"] == 1).sum())
    assert "where A=1" in str(diagnose(table, THREE))


def test_complete_data_and_latent_variables_are_said_plainly() -> None:
    complete = simulate(THREE, 50, None, rng=rng()).table
    assert diagnose(complete, THREE).conclusions == ("Nothing is missing.",)
    rows = {"A": ["0", "1"] * 20, "B": ["0", "1"] * 20}
    found = diagnose(Data(rows, latent=["C"]), THREE)
    assert any(words.startswith("No row shows C") for words in found.conclusions)
    str(found)


def test_what_might_have_gone_unnoticed_is_said() -> None:
    table = simulate(THREE, 400, MCAR(0.3, share=0.4), rng=np.random.default_rng(1)).table
    assert "unnoticed" in diagnose(table, THREE).conclusions[0]


def test_every_method_is_told_what_it_would_rest_on_and_which_one_auto_takes() -> None:
    table = hidden_by("A -> R[B]; R[C]", 600, {"B": [0.1, 0.6], "C": 0.3})
    found = diagnose(table, THREE)
    shown = table.is_shown(["B", "C"])
    assert found.grounds.complete_rows == int(shown.sum())
    # B depends on A alone, which every row shows: the groups are the states of A.
    assert found.grounds.informed_groups == 2
    assert found.grounds.informed_fallback_of == {"B": 0.0, "C": 0.0}
    assert found.grounds.auto == explain(THREE, table).plan.intention
    assert found.grounds.auto.startswith("EM to convergence, starting from the factored-mcar")
    assert found.grounds.expectation is not None
    for method in ("listwise", "factored-mcar", "informed-direct", "em", "mgraph"):
        assert method in str(found)
    assert f"{found.grounds.auto}" in str(found)


@pytest.mark.slow
def test_false_alarms_are_as_many_as_the_level_says() -> None:
    alarms = []
    for seed in range(400):
        own = np.random.default_rng([5, seed])
        table = simulate(THREE, 300, MCAR(0.3, share=0.7), rng=own).table
        alarms.append(mcar_tests(THREE, table, own)[0].adjusted < 0.05)
    # 5% of 400 with a standard error of 1.1%, three of them; Holm is never above.
    assert 0.02 < np.mean(alarms) < 0.083


def test_counts_count_as_rows() -> None:
    table = hidden_by("A -> R[B]", 400, {"B": [0.3, 0.5]})
    weights = np.random.default_rng(1).integers(1, 4, table.rows)
    number = weights.astype(float)
    once = replace(table, weights=number, copies=Copies(number, number))
    repeated = table.take(np.repeat(np.arange(table.rows), weights))
    one, two = (mcar_tests(THREE, t, rng())[0] for t in (once, repeated))
    assert one.p_value == pytest.approx(two.p_value)


@pytest.mark.slow
def test_a_hundred_variables_take_seconds() -> None:
    names = [f"X{at}" for at in range(131)]
    network = Network({n: ["0", "1", "2"] for n in names}, {}, {n: [0.3, 0.3, 0.4] for n in names})
    table = simulate(
        network, 2000, MAR(share=0.3, parents=2, beta=(1.0, 0.5)), rng=np.random.default_rng(0)
    ).table
    began = process_time()
    diagnose(table, network)
    assert process_time() - began < 20


def test_the_command_prints_words_or_json(
    tmp_path: object, capsys: pytest.CaptureFixture[str]
) -> None:
    from pathlib import Path

    from lacunet.network.formats.files import write_network

    folder = Path(str(tmp_path))
    write_network(THREE, folder / "net.bif")
    rows = ["A,B,C", *(f"{a},{'' if a == '1' and k % 2 else a},0" for k in range(60) for a in "01")]
    (folder / "rows.csv").write_text("\n".join(rows) + "\n")
    arguments = ["diagnose", str(folder / "net.bif"), str(folder / "rows.csv")]
    assert main([*arguments, "--missingness-out", str(folder / "graph.txt")]) == 0
    out, err = capsys.readouterr()
    assert "B is" in out
    assert "on A" in out
    assert "(120)" in err
    assert main([*arguments, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["mcar"][0]["cause"] == "A"
    assert MissingnessGraph.read(folder / "graph.txt", THREE).causes == {"B": ("A",)}


CLINIC = {
    "Id": [f"p{row}" for row in range(120)],
    "Age": [20 + row / 3 for row in range(120)],
    "Ill": ["no", "yes", None] * 20 + ["yes", "no", None] * 20,
    "Country": ["DE"] * 100 + [None] * 20,
    "Empty": [None] * 120,
    "wt": [1.0, 2.0] * 60,
}


def test_data_alone_are_diagnosed_by_all_their_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(lc.LacunetError, match=r"bins=\{'Age': 5\}, without=\['Id'\]"):
        diagnose(Data(CLINIC, weight="wt"))
    with pytest.warns(LacunetWarning) as told:
        found = diagnose(Data(CLINIC, weight="wt", bins={"Age": 5}, without="Id"))
    assert list(found.patterns.rate_of) == ["Age", "Ill", "Country"]
    assert found.mcar[0].missing == "Country"
    assert found.mcar[0].cause == "Age"
    words = "\n".join(str(warning.message) for warning in told)
    assert "'Empty'" in words
    assert "famil" not in str(found)  # without edges
    assert "ignored" not in words  # there is no network that does not have them
    assert any("'Empty'" in own for own in found.conclusions)
    pd.DataFrame(CLINIC).to_csv(tmp_path / "clinic.csv", index=False)
    path = str(tmp_path / "clinic.csv")
    again = Data(path, weight="wt", bins={"Age": 5}, without="Id")
    with pytest.warns(LacunetWarning):
        assert str(diagnose(again)) == str(found)
    said = ["--bins", "Age=5", "--without", "Id"]
    assert main(["diagnose", str(tmp_path / "clinic.csv"), "--weight", "wt", *said]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"{found}\n"
    assert (printed.out + printed.err).lower().count("left out 'empty'") == 1
    assert "ignored" not in printed.err
    said[1] = "Age=2"
    assert main(["diagnose", str(tmp_path / "clinic.csv"), *said, "--json"]) == 0
    assert "Age" in json.loads(capsys.readouterr().out)["patterns"]["rate_of"]


def test_columns_alone_keep_the_rules_of_questions_that_were_not_asked() -> None:
    rows = {"Smoked": ["no", "yes"] * 30, "Now": [None, "no", None, "yes"] * 15}
    found = diagnose(Data(rows, not_asked={"Now": "Smoked=no"}))
    assert not found.patterns.missing_cells


def test_a_question_that_is_always_shown_or_not_asked_is_no_stratum_of_what_its_rule_looks_at() -> (
    None
):
    rows = {
        "Smoked": ["no", "yes", "yes", None] * 60,
        "Now": [None, "no", "yes", "yes"] * 60,
        "Ill": ["a", None, "b", "a", "a", "b"] * 40,
    }
    found = diagnose(Data(rows, not_asked={"Now": "Smoked=no"}))
    assert {test.given for test in found.mar if test.missing == "Smoked"} == {()}


def test_a_network_alone_is_not_diagnosed() -> None:
    for given in (THREE, "net.bif", None):
        with pytest.raises(lc.LacunetError):
            diagnose(given)
    with pytest.raises(lc.LacunetError, match="'A -> B; B -> C'"):
        diagnose("A -> B; B -> C")
    with pytest.raises(lc.LacunetError, match="'Id'"):
        diagnose({name: CLINIC[name] for name in ("Id", "Empty")})


def _random_rows(width: int, rows: int = 20_000) -> tuple[Network, dict[str, list[str | None]]]:
    rng = np.random.default_rng(0)
    names = [f"V{k}" for k in range(width)]
    network = Network({v: ["0", "1"] for v in names}, {"V1": ["V0"]})
    columns = {v: np.array(["0", "1"])[rng.integers(0, 2, rows)].tolist() for v in names}
    seen = [None if rng.random() < 0.3 else cell for cell in columns["V1"]]
    return network, {**columns, "V1": seen}


def test_of_more_rows_than_memory_holds_some_are_looked_at_and_that_is_said() -> None:
    network, rows = _random_rows(20)
    found = diagnose(rows, network, memory=2**21)
    assert found.conclusions[0].startswith("All tests are of 2,223 of the 20,000 rows")
    assert not diagnose(rows, network).conclusions[0].startswith("All tests")


# ru_maxrss would inherit the size of the process that runs the tests.
MAIN_WITH_PEAK = """
import sys
from pathlib import Path
from lacunet.cli import main
status = main()
print(Path("/proc/self/status").read_text())
sys.exit(status)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize("command", ["diagnose", "structure"])
@pytest.mark.parametrize(("rows", "width", "cardinality"), [(3_000_000, 6, 40), (600_000, 37, 4)])
def test_rows_that_are_nearly_all_different_are_kept_within_the_budget(
    tmp_path: Path, rows: int, width: int, cardinality: int, command: str
) -> None:
    rng = np.random.default_rng(11)
    states = [f"s{k}" for k in range(cardinality)]
    names = [f"V{k}" for k in range(width)]
    cells = rng.integers(0, cardinality, (len(names), rows)).astype(np.int8)
    columns = {
        name: pa.DictionaryArray.from_arrays(
            pa.array(column, mask=rng.random(rows) < 0.2), pa.array(states)
        )
        for name, column in zip(names, cells, strict=True)
    }
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet")
    network = Network(dict.fromkeys(names, states), {"V1": ["V0"]})
    network.write(tmp_path / "network.json")
    inputs = ["network.json"] if command == "diagnose" else []
    limits = ["--memory", "0.4", *(["--time-limit", "10"] if command == "structure" else [])]
    words = [sys.executable, "-c", MAIN_WITH_PEAK, command, *inputs, "rows.parquet", *limits]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert int(done.stdout.rsplit("VmHWM:")[1].split()[0]) / 2**20 < 0.4, done.stdout  # in GiB


def test_of_many_equal_rows_all_are_looked_at_in_little_memory() -> None:
    network, rows = _random_rows(3)
    assert str(diagnose(rows, network, memory=2**18)) == str(diagnose(rows, network))


def test_rows_that_are_looked_at_keep_the_design_of_a_survey() -> None:
    network, rows = _random_rows(3)
    clusters = [f"c{k % 50}" for k in range(20_000)]
    data = lc.Data({**rows, "Place": clusters}, cluster="Place")
    with observations(data, network, 2**18) as opened:
        assert not isinstance(opened, Held)
        table, _ = rows_within(opened, network, 2**18, ReadReport())
    assert table.rows < 20_000
    assert table.design is not None
    assert table.design.clusters is not None
    assert set(table.design.clusters.labels) == set(clusters)


@pytest.mark.parametrize("options", [{"weight": "Weight"}, {"fully_observed": ["V0"]}])
@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_rows_are_not_said_to_be_left_out_where_none_is(
    tmp_path: Path, options: dict[str, Any], ending: str
) -> None:
    network, columns = _random_rows(3)
    weights = np.arange(20_000) % 10.0  # those of weight zero are not in the table
    rows = pa.table({**columns, "Weight": weights, "Note": ["a long text"] * 20_000})
    write_arrow(rows, tmp_path / f"rows{ending}")
    data = lc.Data(tmp_path / f"rows{ending}", **options)
    with pytest.warns(lc.LacunetWarning, match="Note") as warned:
        streamed = diagnose(data, network, memory=2**18)
    with pytest.warns(lc.LacunetWarning, match="Note") as expected:
        assert str(streamed) == str(diagnose(data, network))
    assert [str(w.message) for w in warned] == [str(w.message) for w in expected]


MUTUAL = lc.Network(
    {"X": ["0", "1"], "Y": ["0", "1"]},
    {"Y": ["X"]},
    {"X": [0.5, 0.5], "Y": [[0.8, 0.2], [0.3, 0.7]]},
)


@pytest.mark.parametrize(
    ("rows", "missing", "words"),
    [
        (6000, {"X": [0.05, 0.6], "Y": [0.1, 0.6]}, "gives another network than EM under MAR"),
        (2000, {"X": [0.05, 0.6], "Y": [0.1, 0.6]}, "about 5,000 are needed"),
    ],
)
def test_em_on_a_learned_graph_is_offered_where_it_differs(
    rows: int, missing: dict[str, list[float]], words: str
) -> None:
    graph = lc.MissingnessGraph.parse("Y -> R[X]; X -> R[Y]", MUTUAL)
    table = lc.simulate(MUTUAL, rows, lc.MissingByGraph(graph, missing), rng=0).table
    found = lc.diagnose(table, MUTUAL, try_graph=True)
    assert found.trial is not None
    assert any(words in sentence for sentence in found.conclusions)
    assert found.trial.is_recommended is (rows > 5000)
    assert lc.diagnose(table, MUTUAL).trial is None
    if found.trial.is_recommended:  # and it is better: closer to the truth
        graph_free = lc.learn(MUTUAL, table, "em")
        learned = lc.MissingnessGraph.parse(found.trial.graph, MUTUAL)
        on_graph = lc.learn(MUTUAL, table, lc.EM(missingness=learned))
        assert lc.kl_divergence(MUTUAL, on_graph) < 0.2 * lc.kl_divergence(MUTUAL, graph_free)
    assert found.as_data()["trial"]["variable"] in ("", "X", "Y")


def test_a_learned_graph_that_changes_little_is_not_recommended() -> None:
    graph = lc.MissingnessGraph.parse("Y -> R[X]; R[Y]", MUTUAL)
    missing = lc.MissingByGraph(graph, {"X": [0.2, 0.3], "Y": 0.1})
    table = lc.simulate(MUTUAL, 6000, missing, rng=0).table
    trial = lc.diagnose(table, MUTUAL, try_graph=True).trial
    assert trial is None or not trial.is_recommended


def test_cells_of_several_states_are_taken_as_missing_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = {
        "Age": ["young", "old", "older", "old or older", "young", None] * 20,
        "Ill": ["no", "yes", "yes", "no", None, "no"] * 20,
    }
    codes = {"Age": {"old or older": ["old", "older"]}}
    network = lc.Network.from_data(lc.Data(rows, codes=codes), "Age -> Ill")
    said = "Cells that are one of several states were taken as missing here: Age 20."
    found = diagnose(rows, network)
    assert said in found.conclusions
    assert found.patterns.rate_of["Age"] == pytest.approx(40 / 120)
    plain = {**rows, "Age": [None if age == "old or older" else age for age in rows["Age"]]}
    assert [text for text in found.conclusions if text != said] == list(
        diagnose(plain, network).conclusions
    )
    network.write(tmp_path / "network.json")
    pd.DataFrame(rows).to_csv(tmp_path / "rows.csv", index=False)
    assert main(["diagnose", str(tmp_path / "network.json"), str(tmp_path / "rows.csv")]) == 0
    out, err = capsys.readouterr()
    assert (out + err).count(said[1:]) == 1


def test_what_methods_rest_on_is_said_for_python_too() -> None:
    rows = {"Age": ["old", "young"] * 5, "Ill": ["no", None, "yes", "no", None] * 2}
    told = str(lc.diagnose(rows, "Age -> Ill"))
    assert "groups='learn'" in told
    assert "missingness=..." in told
    alone = lc.diagnose({**rows, "Ill": ["no", "yes", "no", "yes", None] * 2})
    assert "0.1" in str(alone)


def test_a_learned_graph_is_proposed_only_where_rows_are_enough_to_try_one() -> None:
    few = {
        "A": (["0"] * 40 + ["1"] * 40 + [None] * 10) * 4,
        "B": (["0"] * 40 + [None] * 30 + ["1"] * 20) * 4,
    }
    many = {name: cells * 14 for name, cells in few.items()}
    by_few, by_many = (" ".join(lc.diagnose(rows).conclusions) for rows in (few, many))
    assert "always" in by_few
    assert "always" in by_many
    assert "--try-graph" not in by_few
    assert "--try-graph" in by_many


def test_the_numbers_of_the_table_are_explained_below_it() -> None:
    rows = {"A": ["0", "1", None, "0"] * 5, "B": ["0", "1", "1", None] * 5}
    text = str(diagnose(rows))
    assert text.index("outflux\n") < text.index("\ninflux: share") < text.index("\noutflux: share")


@pytest.mark.filterwarnings("ignore:left out 1 of 5 rows")
def test_a_row_that_stands_for_many_counts_as_many_in_what_is_never_shown() -> None:
    cells = [("yes", "few"), ("yes", "many"), ("yes", None), ("no", None), ("no", "many")]
    table = pd.DataFrame(cells, columns=["Smoke", "Cigs"])
    number = [30, 25, 5, 60, 0]
    rows = table.loc[table.index.repeat(number)]
    states = {"Smoke": ["no", "yes"], "Cigs": ["few", "many"]}
    network = Network(states, {"Cigs": ["Smoke"]})
    counted = diagnose(Data(table, counts=number), network)
    expected = diagnose(rows, network)
    assert counted.positivity == expected.positivity
    assert counted.conclusions == expected.conclusions
    assert "--not-asked" in counted.conclusions[-1]
    with pytest.warns(LacunetWarning, match="60.*Smoke=no"):
        Network.from_data(Data(table, counts=number), "Smoke -> Cigs")
