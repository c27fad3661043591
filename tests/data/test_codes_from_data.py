"""Networks from survey tables: codes, tokens, questions not asked, and what is proposed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import lacunet as lc
from lacunet.cli import main
from lacunet.data.data import Data
from lacunet.data.network_from_data import find_network
from lacunet.data.proposals import ROWS_FOR_A_RULE, Skip, skips_in, suspicious
from lacunet.data.read import read_table
from lacunet.data.states import StatesError
from lacunet.network.dictionary import DictionaryError, parsed_rule
from operations import calls_in

RNG = np.random.default_rng(22)
EVER = RNG.choice([1, 2], 300)
SURVEY = pd.DataFrame(
    {
        "Sex": RNG.choice([1, 2], 300),
        "Ever": EVER,
        "Now": np.where(EVER == 2, np.nan, RNG.choice([1, 2, 7, 9], 300)),
        "Age": RNG.choice(["0-39", "40-49", "50+", "40+"], 300),
    }
)
CODES: dict[str, dict[Any, Any]] = {
    "Sex": {1: "male", 2: "female"},
    "Ever": {2: "no", 1: "yes"},
    "Now": {7: None, 9: None, 1: "daily", 2: "sometimes"},
    "Age": {"40+": ["40-49", "50+"]},
}
RULES = {"Now": "Ever=no"}


@pytest.mark.parametrize("kind", ["pandas", "polars", "file"])
def test_codes_and_rules_are_declared_once_and_heard_by_all(kind: str, tmp_path: Path) -> None:
    data: Any = SURVEY if kind == "pandas" else pl.from_pandas(SURVEY)
    if kind == "file":
        data = tmp_path / "rows.csv"
        SURVEY.to_csv(data, index=False)
    network = lc.Network.from_data(
        lc.Data(data, codes=CODES, not_asked=RULES), "Sex -> Ever; Ever -> Now; Age"
    )
    assert network.states_of == {
        "Sex": ("male", "female"),
        "Ever": ("yes", "no"),
        "Now": ("daily", "sometimes", "not_asked"),
        "Age": ("0-39", "40-49", "50+"),
    }
    network.write(tmp_path / "survey.json")
    again = lc.read_network(tmp_path / "survey.json")
    assert again == network
    table = read_table(data, again, keep_sets=True)
    skipped = (table.columns["Now"] == 2).sum()
    assert skipped == (SURVEY["Ever"] == 2).sum()
    assert table.missing_of["Now"] == SURVEY["Now"].isin([7, 9]).sum()
    assert table.cells_of_sets == {"Age": (SURVEY["Age"] == "40+").sum()}


@pytest.mark.parametrize("keys", [(True, False), ("True", "False"), ("true", "false")])
@pytest.mark.parametrize("kind", ["bool", "boolean", "object", "polars", "dict", "file", "text"])
def test_truth_values_have_codes(keys: tuple[Any, Any], kind: str, tmp_path: Path) -> None:
    rows: dict[str, list[Any]] = {"Ill": [True, False, False, False], "Sex": ["f", "m"] * 2}
    data: Any = pd.DataFrame(rows)
    if kind in ("boolean", "object"):
        data = data.astype({"Ill": kind})
    elif kind in ("polars", "dict"):
        data = rows if kind == "dict" else pl.DataFrame(rows)
    elif kind in ("file", "text"):
        data = data.assign(Ill=data["Ill"].astype(str).str.upper())
        data.to_csv(tmp_path / "rows.csv", index=False)
        data = tmp_path / "rows.csv" if kind == "file" else data
    codes = dict(zip(keys, ("ja", "nein"), strict=True))
    network = lc.Network.from_data(lc.Data(data, codes={"Ill": codes}), "Ill -> Sex")
    assert network.states("Ill") == ("ja", "nein")
    learned = lc.learn(network, data, "direct-mcar", pseudo_counts=0)
    assert learned.cpt("Ill").table.tolist() == [0.25, 0.75]


def test_truth_values_may_mean_missing() -> None:
    rows = pd.DataFrame({"Ill": [True, False, True, None], "Sex": ["f", "m"] * 2}, dtype=object)
    network = lc.Network({"Ill": ["no", "True"], "Sex": ["f", "m"]}, {"Sex": ["Ill"]})
    for missing in ([False], {"Ill": [False]}):
        codes = read_table(Data(rows, missing=missing), network).columns["Ill"]
        assert codes.tolist() == [1, 2, 1, 2]


def test_a_rule_whose_variable_is_not_a_parent_proposes_the_edge() -> None:
    with pytest.raises(DictionaryError, match="Ever -> Now"):
        find_network(Data(SURVEY, codes=CODES, not_asked=RULES), "Sex -> Now; Ever")
    with pytest.raises(StatesError, match=r"\['Ever'\]"):
        find_network(Data(SURVEY, codes={"Sex": CODES["Sex"]}, not_asked=RULES), "Sex -> Now")


def test_intervals_may_have_a_state_for_those_who_were_not_asked(tmp_path: Path) -> None:
    rows = {"Smoked": ["no", "yes"] * 20, "Since": [None, 20, None, 35, None, 50, None, 77] * 5}
    found = find_network(
        Data(
            rows,
            bins={"Since": [0, 30, 60]},
            codes={"Since": {77: None}},
            not_asked={"Since": ("Smoked=no", "never")},
        ),
        "Smoked -> Since",
    )
    assert found.network.states("Since") == ("[0,30)", "[30,60]", "never")
    found.network.write(tmp_path / "net.json")
    table = read_table(rows, lc.read_network(tmp_path / "net.json"))
    assert table.columns["Since"].tolist() == [2, 0, 2, 1, 2, 1, 2, 3] * 5


@pytest.mark.parametrize("token", [".", "n/a", "#N/A", "<NA>", "NA", "?", "NULL"])
def test_what_other_programs_write_for_missing_is_missing_and_is_told(token: str) -> None:
    rows = {"A": ["x", "y", token, token], "B": ["0", "1", "0", "1"]}
    found = find_network(rows, "A -> B")
    assert found.network.states("A") == ("x", "y")
    assert any(f"'{token}'" in note for note in found.remarks)
    assert read_table(rows, found.network).missing_of == {"A": 2, "B": 0}


def test_a_network_that_is_given_owns_its_states() -> None:
    network = lc.Network({"A": ["x", "."]})
    assert read_table({"A": ["x", "."]}, network).columns["A"].tolist() == [0, 1]


@pytest.mark.parametrize("token", [".", "n/a", "#N/A", "<NA>"])
def test_what_other_programs_write_for_missing_is_missing_where_it_is_no_state(token: str) -> None:
    rows = {"A": ["x", token, "y"]}
    assert read_table(rows, lc.Network({"A": ["x", "y"]})).columns["A"].tolist() == [0, 2, 1]
    assert read_table(rows, lc.Network({"A": ["x", token, "y"]})).missing_of == {"A": 0}


@pytest.mark.parametrize(
    "column",
    [
        ["a", "None", "b", "None"],
        pd.Series(["a", "None", "b", "None"], dtype="category"),
        pl.Series(["a", "None", "b", "None"], dtype=pl.Enum(["a", "b", "None"])),
    ],
)
def test_the_word_none_is_missing_where_no_cell_is_empty(column: Any) -> None:
    found = find_network({"A": column}, "A")
    assert found.network.states("A") == ("a", "b")
    assert any("'None'" in note for note in found.remarks)
    assert read_table({"A": column}, found.network).missing_of == {"A": 2}


def test_the_word_none_is_a_state_where_other_cells_are_empty(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("A,B\nNone,1\nMild,0\n,1\nNone,0\n")
    found = find_network(path, "A -> B")
    assert found.network.states("A") == ("Mild", "None")
    assert any("2 cells with 'None'" in n for n in found.remarks)
    assert read_table(path, found.network).missing_of == {"A": 1, "B": 0}
    again = find_network(
        Data(path, codes={"A": {"None": None, "Mild": "Mild", "Bad": "Bad"}}), "A -> B"
    )
    assert again.network.states("A") == ("Mild", "Bad")
    assert read_table(path, again.network).missing_of == {"A": 3, "B": 0}


@pytest.mark.parametrize(
    "column",
    [
        pd.Categorical(["lo", "hi", "NA", "hi"], ["lo", "NA", "hi"], ordered=True),
        pd.Categorical(["lo", "hi", None, "hi"], ["lo", "hi"], ordered=True),
        pl.Series(["lo", "hi", "NA", "hi"], dtype=pl.Enum(["lo", "NA", "hi"])),
        pd.array(["lo", "hi", pd.NA, "hi"], dtype="string"),
        ["lo", "hi", "NA", "hi"],
        np.array(["lo", "hi", None, "hi"], dtype=object),
    ],
    ids=["ordered NA", "ordered", "Enum", "string", "list", "object"],
)
def test_one_rule_for_all_ways_to_be_missing(column: Any) -> None:
    found = find_network({"A": column}, "A")
    assert set(found.network.states("A")) == {"lo", "hi"}
    table = read_table({"A": column}, found.network)
    assert table.missing_of == {"A": 1}
    assert (table.columns["A"] == found.network.state_index("A", "hi")).sum() == 2


@pytest.mark.parametrize("dtype", ["int64", "float64", "Int64", "Float64", "boolean", "object"])
def test_states_of_numbers_are_the_same_from_files_and_from_frames(
    dtype: str, tmp_path: Path
) -> None:
    frame = pd.DataFrame({"A": pd.array([0, 1, 1, 0], dtype=dtype)})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    expected = ("False", "True") if dtype == "boolean" else ("0", "1")
    assert find_network(frame, "A").network.states("A") == expected
    assert find_network(tmp_path / "rows.csv", "A").network.states("A") == expected
    with_holes = pd.DataFrame({"A": [0.0, 1.0, np.nan, 1.0]})
    with_holes.to_csv(tmp_path / "holes.csv", index=False)
    assert find_network(tmp_path / "holes.csv", "A").network.states("A") == ("0", "1")


def test_missing_in_all_columns_is_doubted_where_it_is_a_number_among_others() -> None:
    rows = {"Age": list(range(5, 20)) * 2, "Q": [1, 2, 9] * 10}
    found = find_network(Data(rows, missing=["9"]), "Age -> Q")
    assert "9" not in found.network.states("Age")
    assert any("'9' (2)" in n for n in found.remarks)
    apart = find_network(Data(rows, missing={"Q": 9}), "Age -> Q")
    assert "9" in apart.network.states("Age")
    assert apart.network.states("Q") == ("1", "2")
    assert apart.network.codes_of == {"Q": {"9": None}}
    with pytest.raises(lc.LacunetError, match="'Q'"):
        find_network(Data(rows, missing={"q": 9}), "Age -> Q")


@pytest.mark.parametrize(
    ("states", "odd"),
    [
        (["1", "2", "7", "9"], ["7", "9"]),
        (["1", "2", "3", "4", "5", "77", "99"], ["77", "99"]),
        (["0", "1", "-9"], ["-9"]),
        (["-8", "-9", "0", "1", "9"], ["-8", "-9", "9"]),
        (["1", "2", "3", "4", "5", "6", "7"], []),
        (["5", "6", "7", "8", "9"], []),
        (["-2", "-1", "0", "1", "2"], []),
        (["8", "9"], []),
        (["no", "yes", "Refused", "don't know"], ["Refused", "don't know"]),
        (["a", "--", "missing"], ["--", "missing"]),
        (["none", "some"], []),
        (["no", "not recorded", "NR", "unk", "yes"], ["not recorded", "NR", "unk"]),
        (["north", "runk"], []),
    ],
)
def test_states_that_look_like_codes_are_found(states: list[str], odd: list[str]) -> None:
    assert suspicious(states) == odd


def test_codes_and_skips_are_proposed_as_the_code_that_declares_them() -> None:
    notes = find_network(SURVEY, "Sex -> Ever -> Now; Age").remarks
    assert any("lacunet.Data(data, missing={'Now': [7, 9]})" in note for note in notes)
    assert any("lacunet.Data(data, not_asked={'Now': 'Ever=2'})" in note for note in notes)
    quiet = find_network(
        Data(SURVEY, codes=CODES, not_asked=RULES), "Sex -> Ever -> Now; Age"
    ).remarks
    assert not any("say " in note for note in quiet)
    with pytest.warns(lc.LacunetWarning) as warned:
        lc.Network.from_data(SURVEY, "Ever -> Now")
    assert {Path(one.filename).name for one in warned} == {Path(__file__).name}


def test_the_state_of_who_was_not_asked_is_not_called_a_category_without_rows() -> None:
    rows = SURVEY.assign(Now=SURVEY["Now"].replace({7: np.nan, 9: np.nan}).astype("category"))
    found = find_network(Data(rows, not_asked={"Now": "Ever=2"}), "Sex -> Ever -> Now")
    assert "not_asked" in found.network.states("Now")
    assert not any("categories" in note for note in found.remarks)


def test_proposals_rest_on_the_same_rows_however_they_are_cut_into_parts(tmp_path: Path) -> None:
    SURVEY.to_csv(tmp_path / "whole.csv", index=False)
    parts = [tmp_path / f"part{start}.csv" for start in range(0, 300, 20)]
    for start, part in enumerate(parts):
        SURVEY[start * 20 : start * 20 + 20].to_csv(part, index=False)
    whole = find_network(tmp_path / "whole.csv", "Sex -> Ever -> Now; Age").remarks
    assert any("lacunet.Data(data, not_asked={'Now': 'Ever=2'})" in note for note in whole)
    assert find_network(parts, "Sex -> Ever -> Now; Age").remarks == whole


def test_a_skip_is_not_seen_in_values_that_are_missing_at_random() -> None:
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(rng.choice(["0", "1", "2"], (500, 6)), columns=list("ABCDEF"))
    rows = rows.mask(rng.random(rows.shape) < 0.4)
    rows.loc[rows["A"] == "1", "B"] = rows["B"].mask(rng.random(500) < 0.9)  # often, not always
    assert not any("not_asked" in note for note in find_network(rows, "A; B; C; D; E; F").remarks)


def skips_by_definition(
    network: lc.Network, columns: dict[str, np.ndarray[Any, Any]]
) -> list[Skip]:
    """Every variable, every other as the cause, every state: the one that explains most."""
    found = []
    for name in network.variables:
        is_empty = columns[name] >= network.cardinality(name)
        best: tuple[float, Skip | None] = (0.0, None)
        for cause in network.variables:
            codes, skipped = columns[cause], []
            for state in range(network.cardinality(cause)):
                rows = codes == state
                if rows.sum() >= ROWS_FOR_A_RULE and is_empty[rows].all():
                    skipped.append(state)
            others = (codes < network.cardinality(cause)) & ~np.isin(codes, skipped)
            if cause == name or not skipped or not others.any() or is_empty.all():
                continue
            rows = np.isin(codes, skipped)
            explained = rows.sum() / is_empty.sum()
            worth = explained + 0.01 * (cause in network.parents(name))
            if is_empty[others].mean() <= 0.5 <= explained and worth > best[0]:
                rule = " or ".join(f"{cause}={network.states(cause)[s]}" for s in skipped)
                best = (worth, Skip(name, rule, int(rows.sum()), float(is_empty[others].mean())))
        found += [best[1]] if best[1] is not None else []
    return found


@pytest.mark.parametrize("seed", range(40))
def test_skips_are_those_of_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = [f"V{at}" for at in range(6)]
    states = {name: [str(s) for s in range(rng.integers(2, 5))] for name in names}
    network = lc.Network(states, {"V5": ["V1"]})
    rows = int(rng.integers(30, 400))
    columns = {name: rng.integers(0, len(own), rows) for name, own in states.items()}
    for name in names[2:]:  # some are not asked by a rule, some lack values at random
        cause = names[rng.integers(2)]
        is_skipped = columns[cause] < rng.integers(0, 3)
        is_lost = rng.random(rows) < rng.choice([0, 0.1, 0.6])
        columns[name] = np.where(is_skipped | is_lost, len(states[name]), columns[name])
    columns["V0"] = np.where(rng.random(rows) < 0.1, len(states["V0"]), columns["V0"])
    assert skips_in(network, columns) == skips_by_definition(network, columns)


@pytest.mark.parametrize("cause", ["not employed", "(a) Job", "a or b", "x=y", "Job"])
@pytest.mark.parametrize("state", ["no", "x or y", "(a)", "a=b"])
def test_a_rule_that_is_proposed_can_be_given(cause: str, state: str) -> None:
    network = lc.Network({cause: [state, "other"], "Hours": ["few", "many"]}, {"Hours": [cause]})
    columns = {cause: np.repeat([0, 1], 40), "Hours": np.repeat([2, 0], 40)}
    (skip,) = skips_in(network, columns)
    _, holds = parsed_rule(skip.rule, network.states_of)
    assert holds.tolist() == [True, False]


def test_skips_are_looked_for_without_a_call_for_every_pair_of_variables() -> None:
    def calls(number: int) -> int:
        rng = np.random.default_rng(4)
        columns = {f"V{at}": rng.integers(0, 3, 200) for at in range(number)}
        network = lc.Network({name: ["a", "b"] for name in columns}, {})
        return calls_in(lambda: skips_in(network, columns))

    assert calls(200) < 2.2 * calls(100)


def test_structure_requires_the_arcs_that_rules_look_at() -> None:
    survey = lc.Data(SURVEY, codes=CODES, not_asked=RULES)
    found = lc.learn_structure(survey, strengths=0, forbidden=[("Sex", "Age")])
    assert ("Ever", "Now") in found.network.edges
    assert found.network.not_asked_of["Now"].when == "Ever=no"
    assert found.network.codes_of["Sex"] == {"1": "male", "2": "female"}
    with pytest.raises(lc.LacunetError, match="Ever -> Now"):
        lc.learn_structure(survey, forbidden=[("Ever", "Now")])


def test_codes_may_come_with_the_data() -> None:
    given = Data(SURVEY, codes=CODES, not_asked=RULES)
    network = find_network(given, "Ever -> Now").network
    assert network.states("Now") == ("daily", "sometimes", "not_asked")
    assert lc.Data(given, codes=CODES).codes == given.codes  # the same, said again
    with pytest.raises(lc.LacunetError, match="said twice"):
        lc.Data(given, codes={name: {5: None} for name in CODES})


def test_codes_are_proposed_among_words_and_for_columns_that_are_cut() -> None:
    rng = np.random.default_rng(3)
    ages = [*rng.integers(18, 80, 190).tolist(), *[999] * 10]
    rows = {"Ill": ["no", "yes"] * 98 + ["9"] * 4, "Age": ages}
    (note,) = find_network(Data(rows, bins={"Age": 4}), "Age -> Ill").remarks
    assert "missing={'Ill': 9, 'Age': 999}) (--missing Ill=9 --missing Age=999)" in note
    said = {"Ill": {9: None}, "Age": {999: None}}
    quiet = find_network(Data(rows, bins={"Age": 4}, codes=said), "Age -> Ill").remarks
    assert not any("look like" in note for note in quiet)


def test_the_command_line_takes_what_it_proposes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, edges = tmp_path / "rows.csv", "Ever -> Now"
    SURVEY[["Ever", "Now"]].to_csv(path, index=False)
    assert main(["convert", edges, str(path), "-o", str(tmp_path / "net.json")]) == 0
    told = capsys.readouterr().err
    assert "(--missing Now=7,9)" in told
    assert '(--not-asked "Now: Ever=2")' in told
    said = ["--missing", "Now=7,9", "--not-asked", "Now: Ever=2"]
    command = ["convert", edges, str(path), "-o", str(tmp_path / "net.json"), *said]
    assert main(command) == 0
    assert "look" not in capsys.readouterr().err


def test_what_is_taken_as_missing_unasked_in_numbers_that_are_cut_is_said_and_kept() -> None:
    rows = {"Age": ["20", "-1", "40", ".", "60", "-1"], "Ill": ["no", "yes"] * 3}
    with pytest.warns(lc.LacunetWarning) as told:
        network = lc.Network.from_data(
            lc.Data(rows, missing={"Age": [-1]}, bins={"Age": 2}), "Age -> Ill"
        )
    said = " ".join(str(one.message) for one in told)
    assert "'-1'" not in said
    assert "'Age': 1" in said
    assert "'.'" in said
    assert network.codes_of["Age"] == {"-1": None}


def test_what_is_proposed_for_codes_is_what_learn_takes() -> None:
    rows = {"Age": ["old", "young"] * 10, "Ill": [0, 1, 1, 0, 9] * 4}
    with pytest.warns(lc.LacunetWarning, match=r"Data\(data, missing=\{'Ill': 9\}\)"):
        lc.learn("Age -> Ill", rows)
    for result in (
        lc.learn("Age -> Ill", lc.Data(rows, missing={"Ill": 9})),
        lc.learn("Age -> Ill", lc.Data(rows, missing={"Ill": 9})),
    ):
        assert result.missing == {"Age": 0, "Ill": 4}
    data = lc.Data(rows, missing={"Ill": 9})
    graph = lc.MissingnessGraph.parse("Age -> R[Ill]", "Age -> Ill", data=data)
    assert graph.recover("P(Ill)").estimate(data).probabilities.shape == (2,)


def test_values_for_missing_that_do_not_occur_are_told() -> None:
    rows = {"Age": ["old", "young"] * 5, "Ill": ["no", "yes", "gone", "no", "yes"] * 2}
    with pytest.warns(lc.LacunetWarning, match="-8 or -9, which missing="):
        lc.Network.from_data(lc.Data(rows, missing=[-8, "-9"]), "Age -> Ill")
    network = lc.Network.from_data(lc.Data(rows, missing=["gone", "-9"]), "Age -> Ill")
    assert network.states("Ill") == ("no", "yes")
