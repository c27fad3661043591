"""Learning a network from data alone, as a user does."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lacunet as lc
from enumeration import joint
from lacunet.cli import main
from lacunet.data.errors import DataWarning
from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetError
from lacunet.inference.sampling import sample_codes
from lacunet.learning.learn import learn
from lacunet.limits import Deadline, OutOfTimeError, timed_by
from lacunet.missingness.errors import MissingnessGraphError
from lacunet.show.structure_text import structure_as_text
from lacunet.structure import columns, final_moves
from lacunet.structure.gains import Gains
from lacunet.structure.indexed_rows import CodedRows
from lacunet.structure.judge_by_em import Judge
from lacunet.structure.knowledge import constraints_of
from lacunet.structure.learn_structure import LearnedStructure
from lacunet.structure.strengths import (
    CHANCE_OF_ARCS_FOUND,
    CHANCE_OF_DIRECTED,
    Strength,
    _strength,
)

ASIA = lc.example("asia")


def incomplete(network: lc.Network, rows: int, seed: int, share: float = 0.1) -> EncodedTable:
    rng = np.random.default_rng(seed)
    table = sample_codes(network, rows, rng)
    columns = {name: column.copy() for name, column in table.columns.items()}
    for name, column in columns.items():
        column[rng.random(rows) < share] = table.cardinality_of[name]
    return EncodedTable(table.cardinality_of, columns)


def frame(network: lc.Network, table: EncodedTable) -> pd.DataFrame:
    return pd.DataFrame(
        {
            name: [
                None if code == network.cardinality(name) else network.states(name)[code]
                for code in column
            ]
            for name, column in table.columns.items()
        }
    )


TABLE = incomplete(ASIA, 2_000, 1)


def in_all_replicates(found: LearnedStructure) -> float:
    """The probability of a pair that the structure and all replicates have."""
    odds = (
        CHANCE_OF_ARCS_FOUND[1]
        / (1 - CHANCE_OF_ARCS_FOUND[1])
        * (16 / len(found.network.variables)) ** 0.7
    )
    return odds / (1 + odds)


def test_the_score_is_the_bic_that_the_hint_of_a_result_writes_out() -> None:
    rows = frame(ASIA, sample_codes(ASIA, 300, np.random.default_rng(2)))
    found = lc.learn_structure(lc.Data(rows, states=ASIA.states_of), score="bic", strengths=0)
    result = lc.learn(found.network, rows, pseudo_counts=0)
    penalty = np.log(300) / 2 * result.network.free_parameters
    # Both sum the same logarithms, in another order.
    assert result.log_likelihood(rows) - penalty == pytest.approx(found.score, rel=1e-12)


def test_rows_without_a_value_are_not_said_to_be_none() -> None:
    with pytest.raises(LacunetError, match="every cell is missing"):
        lc.learn_structure({"A": [None, None], "B": [None, None]})


def test_incomplete_rows_give_nearly_the_structure_of_the_truth() -> None:
    found = lc.learn_structure(lc.Data(TABLE, states=ASIA.states_of), strengths=10)
    difference = lc.compare_structures(ASIA, found)
    assert difference.skeleton_errors <= 2  # asia -> tub has 20 rows in 2,000
    assert found.ended == "converged"
    assert found.network.has_cpts
    lasting = found.strengths["lung", "either"]
    assert lasting.adjacent == in_all_replicates(found)
    assert found.missingness is not None
    assert found.missingness.category() == "MCAR"


def test_the_strongest_pairs_left_out_are_named() -> None:
    rng = np.random.default_rng(0)
    rows = {name: rng.integers(0, 2, 200) for name in "AB"}
    found = replace(
        lc.learn_structure(rows, strengths=0),
        strengths={("A", "B"): Strength(0.43, 0.2), ("B", "A"): Strength(0.43, 0.23)},
    )
    assert found.edges == ()
    line = "not in the network, adjacent with probability: A -- B 0.43"
    assert line in str(found).splitlines()
    weak = replace(found, strengths={("A", "B"): Strength(0.2, 0.1)})
    assert "not in the network" not in str(weak)


def test_strengths_are_computed_or_not_by_true_and_false() -> None:
    rows = {"A": [0, 1] * 50, "B": [0, 1] * 45 + [1, 0] * 5}
    asked = lc.learn_structure(rows, strengths=True)
    assert asked.strengths == lc.learn_structure(rows, strengths=20).strengths
    assert str(asked).splitlines()[1:3] == [
        "from      to  adjacent  directed",
        f"B     --  A       0.99      {asked.strengths['B', 'A'].directed:.2f}",
    ]
    without = lc.learn_structure(rows, strengths=False)
    assert not without.strengths
    assert str(without).splitlines()[1] == "A -- B"
    with pytest.warns(lc.LacunetWarning, match=r"1 bootstrap replicate .* so few say little"):
        lc.learn_structure(rows, strengths=1)


def test_the_exact_score_never_falls_from_the_seed_to_the_result() -> None:
    found = lc.learn_structure(lc.Data(TABLE, states=ASIA.states_of), score="bic", strengths=0)
    accepted = [step.score for step in found.trace if step.is_accepted]
    assert accepted == sorted(accepted)
    assert found.score == accepted[-1]
    network = lc.learn(found.network, TABLE, lc.EM(tolerance=1e-6), pseudo_counts=0.0).network
    exact = network.log_likelihood(TABLE)
    for name, cpt in zip(network.variables, network.cpts, strict=True):
        shown = np.logical_and.reduce(
            [TABLE.columns[v] != TABLE.cardinality_of[v] for v in (name, *network.parents(name))]
        )
        configurations = cpt.table[..., 0].size
        each = np.log(shown.sum()) - (1 - shown.mean()) * np.log(configurations)
        exact -= each / 2 * (cpt.table.shape[-1] - 1) * configurations
    assert found.score == pytest.approx(exact, abs=0.05)  # EM was stopped at 1e-3


def test_the_same_seed_gives_the_same_result_whatever_the_order_of_rows() -> None:
    def learned(table: EncodedTable) -> tuple[Any, ...]:
        rng = np.random.default_rng(5)
        found = lc.learn_structure(lc.Data(table, states=ASIA.states_of), strengths=10, rng=rng)
        return dict(found.network.parents_of), found.score, dict(found.strengths)

    shuffled = TABLE.take(np.random.default_rng(0).permutation(TABLE.rows))
    assert learned(TABLE) == learned(TABLE) == learned(shuffled)


def test_rows_in_parts_give_the_network_of_the_whole(tmp_path: Path) -> None:
    whole = frame(ASIA, TABLE)
    whole.to_csv(tmp_path / "whole.csv", index=False)
    whole[:700].to_csv(tmp_path / "b.csv", index=False)
    whole[700:].to_csv(tmp_path / "a.csv", index=False)
    one = lc.learn_structure(tmp_path / "whole.csv", strengths=0)
    two = lc.learn_structure([tmp_path / "a.csv", tmp_path / "b.csv"], strengths=0)
    assert dict(one.network.parents_of) == dict(two.network.parents_of)
    assert one.score == two.score
    for name in one.network.variables:
        np.testing.assert_allclose(
            one.network.cpt(name).table, two.network.cpt(name).table, rtol=1e-12
        )


def test_complete_rows_need_no_rounds() -> None:
    table = sample_codes(ASIA, 5_000, np.random.default_rng(2))
    found = lc.learn_structure(lc.Data(table, states=ASIA.states_of), strengths=0)
    assert found.missingness is None
    assert len(found.trace) == 1
    assert "no cell is missing" in found.why
    assert lc.compare_structures(ASIA, found).skeleton_errors <= 1


def test_the_closed_form_does_not_iterate() -> None:
    found = lc.learn_structure(lc.Data(TABLE, states=ASIA.states_of), method="closed-form")
    assert found.ended == "closed form"
    assert found.trace == ()
    assert lc.compare_structures(ASIA, found).skeleton_errors <= 3


def test_mechanisms_are_learned() -> None:
    complete = sample_codes(ASIA, 3_000, np.random.default_rng(4))
    columns = {name: column.copy() for name, column in complete.columns.items()}
    rate = np.where(columns["smoke"] == 0, 0.6, 0.1)
    columns["dysp"][np.random.default_rng(5).random(3_000) < rate] = 2
    table = EncodedTable(complete.cardinality_of, columns)
    found = lc.learn_structure(lc.Data(table, states=ASIA.states_of), strengths=0)
    assert found.missingness is not None
    assert dict(found.missingness.causes) == {"dysp": ("smoke",)}
    assert "smoke -> R[dysp]  # learned, p = " in str(found.missingness)
    given = lc.learn_structure(
        lc.Data(table, states=ASIA.states_of), strengths=0, missingness="smoke -> R[dysp]"
    )
    assert dict(given.network.parents_of) == dict(found.network.parents_of)
    blind = lc.learn_structure(lc.Data(table, states=ASIA.states_of), strengths=0, missingness=None)
    assert blind.missingness is None


def selected(rows: int, seed: int) -> EncodedTable:
    """A and B are independent. C is mostly missing where both are 1, and A where C is."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.integers(0, 2, (3, rows))
    shows_c = rng.random(rows) > np.where(a & b, 0.9, 0.1)
    shows_a = rng.random(rows) > np.where(shows_c, 0.05, 0.8)
    shows_b = rng.random(rows) > 0.2
    columns = {
        name: np.where(shown, codes, 2).astype(np.uint8)
        for name, codes, shown in (("C", c, shows_c), ("A", a, shows_a), ("B", b, shows_b))
    }
    return EncodedTable(dict.fromkeys("CAB", 2), columns)


def test_mechanisms_that_look_at_missing_values_are_nodes_in_the_score() -> None:
    table = selected(4_000, 0)
    blind = lc.learn_structure(table, missingness=None, strengths=0)
    assert str(blind.cpdag) == "A -- B"  # rows that show both are a selection
    graph = "A, B -> R[C]; R[C] -> R[A]; R[B]"
    for missingness in (graph, "learn"):
        found = lc.learn_structure(table, missingness=missingness, strengths=0)
        assert found.cpdag.edges == 0
        assert found.missingness is not None
        assert found.missingness.causes["C"] == ("A", "B")
        # P(A) = 1/2: the rows that show A say .31. Four standard errors of 2,600 shown rows.
        assert found.network.cpt("A").table[1] == pytest.approx(0.5, abs=4 * 0.5 / 2_600**0.5)
        assert "how values go missing is part of the BIC" in found.why


def test_the_score_under_a_graph_is_the_likelihood_of_cells_and_of_what_is_shown() -> None:
    table = selected(300, 1)
    network = lc.Network({name: ["0", "1"] for name in "CAB"}, {"B": ["A"]})
    graph = lc.MissingnessGraph.parse("A, B -> R[C]; R[C] -> R[A]; R[B]", network)
    judge = Judge(lc.Network(network.states_of), table, 2**30, graph=graph)
    found = judge.fit((frozenset(), frozenset(), frozenset({1})))
    whole = judge.network(found)
    law = joint(whole)
    assert whole.variables == ("C", "A", "B", "R[C]")  # every row shows what R[A] looks at
    total = 0.0
    for row in np.stack(list(table.columns.values()), axis=1):
        cells = tuple(slice(None) if code == 2 else code for code in row)
        total += np.log(law[(*cells, int(row[0] != 2))].sum())
    shown = {name: table.columns[name] != 2 for name in "CAB"}
    rows = [
        (shown["C"], 1),
        (shown["A"], 1),
        (shown["A"] & shown["B"], 2),  # B given A
        (shown["A"] & shown["B"], 4),  # R[C] given A and B
    ]
    for families, free in rows:
        each = np.log(families.sum()) - (1 - families.mean()) * np.log(free)
        total -= each / 2 * free
    assert found.score == pytest.approx(total, rel=1e-9)


def test_a_graph_without_a_mechanism_that_the_data_need_is_refused() -> None:
    with pytest.raises(LacunetError, match="'B'"):
        lc.learn_structure(selected(100, 2), missingness="A, B -> R[C]; R[A]")


def test_odd_columns_are_named() -> None:
    rows = frame(ASIA, incomplete(ASIA, 500, 7)).assign(
        constant="k", empty=None, twin=lambda data: data["smoke"].map({"yes": 1, "no": 0})
    )
    found = lc.learn_structure(rows, strengths=0)
    assert "empty" not in found.network.variables
    assert found.network.parents("constant") == ()
    assert not any("constant" in found.network.parents(name) for name in found.network.variables)
    notes = "\n".join(found.notes)
    assert "left out 'empty': every cell is missing" in notes
    assert "'constant': no row shows more than one state" in notes
    assert "'smoke' and 'twin'" in notes
    assert found.network.states("twin") == ("0", "1")


def test_a_column_that_looks_like_weights_is_no_variable_unless_it_is_cut() -> None:
    rng = np.random.default_rng(4)
    rows = {"A": rng.integers(0, 2, 200), "wt": rng.random(200), "B": rng.integers(0, 2, 200)}
    found = lc.learn_structure(rows, strengths=0)
    assert found.network.variables == ("A", "B")
    assert any("weight='wt'" in note for note in found.notes)
    assert "wt" in lc.learn_structure(lc.Data(rows, bins={"wt": 3}), strengths=0).network.variables
    with pytest.raises(LacunetError, match=r"is left to learn from: .*'wt'.*'empty'"):
        lc.learn_structure({"wt": rows["wt"], "empty": [None] * 200})
    with pytest.raises(LacunetError, match="200 different values"):
        lc.learn_structure({"income": rows.pop("wt"), **rows})
    with pytest.warns(lc.LacunetWarning, match="weight='w'"):
        assert [*lc.diagnose({"w": rng.random(200), **rows}).patterns.rate_of] == ["A", "B"]


def test_an_error_on_a_column_that_was_left_out_comes_with_the_note_on_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = pd.DataFrame({"A": ["a", "b"] * 50, "w": np.random.default_rng(4).random(100)})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    assert main(["structure", str(tmp_path / "rows.csv"), "--required", "w -> A"]) == 1
    said = capsys.readouterr().err
    assert said.index("left out 'w'") < said.index("no variable 'w'")


def test_a_function_of_another_column_is_named_and_learned() -> None:
    rng = np.random.default_rng(3)
    grade = rng.integers(0, 4, 600)
    rows = {"grade": grade, "passed": grade >= 2, "other": rng.integers(0, 2, 600)}
    found = lc.learn_structure(rows, strengths=0)
    assert any("'passed' by 'grade'" in note for note in found.notes)
    assert str(found.cpdag) == "grade -- passed"


def test_words_taken_as_missing_and_columns_left_out_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = pd.DataFrame(
        {"flow": ["some", "None", "much", "-9"] * 10, "ill": ["no", "yes"] * 20, "empty": None}
    )
    notes = (
        "left out 'empty': every cell is missing; give states to keep it.",
        "column 'flow': 10 cells with 'None' taken as missing; if it is a state, name it with all "
        "others: states={'flow': ['much', 'some', 'None']} (--states flow=much,some,None).",
    )
    found = lc.learn_structure(lc.Data(rows, missing="-9"), strengths=0)
    assert found.notes[:2] == notes
    assert found.network.states("flow") == ("much", "some")
    rows.to_csv(tmp_path / "rows.csv", index=False)
    asked = ["structure", str(tmp_path / "rows.csv"), "--strengths", "0", "--json"]
    assert main([*asked, "--missing=-9"]) == 0
    assert tuple(json.loads(capsys.readouterr().out)["notes"][:2]) == notes
    assert main([*asked, "--without", "flow,ill,empty"]) == 1
    assert "rows.csv' is left to learn from" in capsys.readouterr().err


@pytest.mark.parametrize("rows", [{"a": [None, None], "b": ["?", ""]}])
def test_data_without_any_value_are_refused(rows: dict[str, list[object]]) -> None:
    with pytest.raises(LacunetError, match="every cell is missing"):
        lc.learn_structure(rows)


def test_numbers_are_states_in_their_order() -> None:
    rows = {"dose": [10, 9, 100, None] * 5, "ill": ["no", "?", "yes", "no"] * 5}
    found = lc.learn_structure(rows, strengths=0)
    assert found.network.states("dose") == ("9", "10", "100")
    assert found.network.states("ill") == ("no", "yes")
    wider = lc.learn_structure(lc.Data(rows, states={"dose": [1, 9, 10, 100]}), strengths=0)
    assert wider.network.states("dose") == ("1", "9", "10", "100")


def measured(rows: int) -> dict[str, Any]:
    rng = np.random.default_rng(6)
    height = rng.normal(170, 10, rows)
    tall = np.where(rng.random(rows) < 0.95, height > 175, height <= 175)
    shown = rng.random(rows) > 0.1
    return {
        "height": [round(float(h), 2) if s else None for h, s in zip(height, shown, strict=True)],
        "tall": ["yes" if one else "no" for one in tall],
        "coin": rng.integers(0, 2, rows).tolist(),
    }


def test_numbers_are_cut_as_asked_and_the_network_keeps_the_cuts() -> None:
    rows = measured(600)
    with pytest.raises(LacunetError, match=r"bins=\{'height': 5\}"):
        lc.learn_structure(rows)
    cuts = [-np.inf, 165, 175, np.inf]
    found = lc.learn_structure(lc.Data(rows, bins={"height": cuts}), strengths=0)
    assert str(found.cpdag) == "height -- tall"
    assert found.network.states("height") == ("<165", "[165,175)", ">=175")
    assert found.network.cuts_of["height"] == tuple(cuts)
    with pytest.raises(LacunetError, match="both bins and states"):
        lc.learn_structure(lc.Data(rows, states={"height": ["a"]}, bins={"height": 2}))
    again = lc.learn_structure(lc.Data(rows, states=found.network), strengths=0)
    assert again.network == found.network


def test_the_command_reads_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "A,B\n" + "x,u\ny,v\ny,\n" * 20
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert main(["structure", "-", "--strengths", "0", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rows"] == 60
    assert found["reversible"] == [["A", "B"]]


def test_tiers_without_a_name_between_commas_are_wrong_usage(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["structure", "rows.csv", "--tiers", "A,,B; C"])
    assert "give names separated by commas" in capsys.readouterr().err


def test_the_command_cuts_numbers_and_refuses_a_target_before_it_learns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "rows.csv"
    pd.DataFrame(measured(600)).to_csv(data, index=False, sep=";")
    asked = ["structure", str(data), "--delimiter", ";", "--strengths", "0", "--bins", "height=3"]
    assert main([*asked, "-o", str(tmp_path / "net.txt")]) == 1
    assert "a network cannot be written as .txt" in capsys.readouterr().err
    assert main([*asked, "-o", str(tmp_path / "net.json")]) == 0
    assert "3 variables, 1 edge" in capsys.readouterr().out
    assert len(lc.read_network(tmp_path / "net.json").cuts_of["height"]) == 4
    assert main([*asked, "-o", str(tmp_path / "net.bif")]) == 0
    assert "kept in .json files only" in capsys.readouterr().err


def test_constraints_are_kept_with_missing_values() -> None:
    found = lc.learn_structure(
        lc.Data(TABLE, states=ASIA.states_of),
        required="xray -> asia",
        forbidden=[("smoke", "lung"), ("lung", "smoke")],
        tiers=[["dysp"], ["bronc", "either"]],
        max_parents=2,
        strengths=0,
    )
    network = found.network
    assert "xray" in network.parents("asia")
    assert "smoke" not in network.parents("lung")
    assert "lung" not in network.parents("smoke")
    assert not {"bronc", "either"} & {*network.parents("dysp")}
    assert max(len(network.parents(name)) for name in network.variables) <= 2
    assert "dysp" in {*network.parents("bronc"), *network.parents("either")}


def test_bdeu_can_guide_the_search() -> None:
    found = lc.learn_structure(lc.Data(TABLE, states=ASIA.states_of), score="bdeu", strengths=0)
    assert lc.compare_structures(ASIA, found).skeleton_errors <= 3


def test_time_ends_the_search_with_what_there_is() -> None:
    found = lc.learn_structure(lc.Data(TABLE, states=ASIA.states_of), time_limit=1e-3)
    assert found.ended == "time limit"
    assert found.network.has_cpts


def test_looking_for_single_moves_stops_as_soon_as_the_time_is_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = CodedRows.of(TABLE)
    judge = Judge(ASIA, TABLE, 2**30)
    names = judge.nodes.variables
    limits = constraints_of(variables=names, required=(), forbidden=(), tiers=(), max_parents=4)
    fit = judge.fit([set() for _ in names])
    looks, judged = [0], []

    def clock() -> float:
        looks[0] += 1
        return float(looks[0])

    monkeypatch.setattr(final_moves, "_accepted", lambda *_: judged.append(True))
    judge.deadline = Deadline(20, clock)
    nodes = range(len(names))
    with pytest.raises(OutOfTimeError):
        next(final_moves.polish(judge, fit, limits, [nodes] * len(names), lambda _: [rows], set()))
    assert looks == [21]
    assert not judged


@pytest.mark.slow
@pytest.mark.parametrize("limit", [4.0, 8.0])
def test_a_search_in_many_rows_keeps_its_time_limit(limit: float) -> None:
    rows = lc.simulate(lc.example("alarm"), 100_000, lc.MCAR(0.3), rng=5).table
    began = process_time()
    with timed_by(process_time):
        found = lc.learn_structure(rows, time_limit=limit)
    assert process_time() - began < limit + 1.0
    assert found.ended == "time limit"
    assert found.network.has_cpts


def test_an_interruption_ends_the_search_with_what_there_is() -> None:
    def interrupting(stage: str, done: float, total: float | None, note: str = "") -> None:
        if stage == "rounds" and not done:
            raise KeyboardInterrupt

    found = lc.learn_structure(
        lc.Data(TABLE, states=ASIA.states_of), progress=interrupting, strengths=0
    )
    assert found.ended == "interrupted"
    assert [step.what for step in found.trace] == ["first graph", "start 1"]
    assert found.network.has_cpts


def test_an_interruption_of_the_seed_keeps_the_arcs_found_so_far(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = 0

    class Interrupted(Gains):
        def of_each(self, y: int, others: Sequence[int], given: frozenset[int]) -> list[float]:
            nonlocal calls
            calls += 1
            if calls > 40:
                raise KeyboardInterrupt
            return super().of_each(y, others, given)

    monkeypatch.setattr("lacunet.structure.learn_structure.Gains", Interrupted)
    found = lc.learn_structure(lc.Data(TABLE, states=ASIA.states_of))
    assert found.ended == "interrupted"
    assert found.cpdag.edges == 3
    assert not lc.compare_structures(ASIA, found).extra
    assert found.why.startswith("greedy equivalence search, each step judged by")


def test_an_interruption_keeps_the_strengths_of_the_replicates_so_far() -> None:
    def interrupting(stage: str, done: float, total: float | None, note: str = "") -> None:
        if stage == "edge strengths" and done == 2:
            raise KeyboardInterrupt

    found = lc.learn_structure(lc.Data(TABLE, states=ASIA.states_of), progress=interrupting)
    assert found.strengths["smoke", "bronc"].adjacent == in_all_replicates(found)
    assert len({one.adjacent for one in found.strengths.values()}) <= 2  # in one of two, or both


def test_an_interruption_of_the_search_in_complete_rows_keeps_the_best_so_far() -> None:
    def interrupting(stage: str, done: float, total: float | None, note: str = "") -> None:
        if stage == "search" and done:
            raise KeyboardInterrupt

    rows = sample_codes(ASIA, 1_000, np.random.default_rng(3))
    found = lc.learn_structure(lc.Data(rows, states=ASIA.states_of), progress=interrupting)
    whole = lc.learn_structure(lc.Data(rows, states=ASIA.states_of))
    assert found.ended == "interrupted"
    assert not found.strengths
    assert found.score == whole.score == found.trace[-1].score
    assert found.cpdag == whole.cpdag


@pytest.mark.parametrize("method", ["auto", "closed-form"])
def test_an_interruption_while_cpts_are_counted_keeps_the_structure(
    monkeypatch: pytest.MonkeyPatch, method: Literal["auto", "closed-form"]
) -> None:
    whole = lc.learn_structure(lc.Data(TABLE, states=ASIA.states_of), method=method, strengths=0)
    calls = 0

    def interrupted(*args: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise KeyboardInterrupt
        return learn(*args, **options)

    monkeypatch.setattr("lacunet.structure.learn_structure.learn", interrupted)
    found = lc.learn_structure(lc.Data(TABLE, states=ASIA.states_of), method=method, strengths=0)
    assert (found.ended, found.cpdag, calls) == ("interrupted", whole.cpdag, 2)
    assert found.network.has_cpts


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"required": [("smoke", "Lung")]}, "no variable 'Lung'"),
        ({"required": [("smoke", "lung"), ("lung", "smoke")]}, "cycle"),
        (
            {"required": "smoke -> lung", "forbidden": [("smoke", "lung")]},
            "required, but it is forbidden",
        ),
        ({"required": "smoke -> lung", "tiers": "lung; smoke"}, "it leads into an earlier tier"),
        ({"required": ["smoke"]}, "'smoke' is a variable, not an edge"),
        ({"required": [("smoke", "lung", "asia")]}, "not a pair"),
        ({"tiers": [["smoke"], ["smoke"]]}, "in two tiers"),
        ({"max_parents": 0}, "max_parents is 0"),
        ({"max_parents": 1, "required": "smoke, asia -> lung"}, "2 required parents"),
        ({"method": "ges"}, "no method 'ges'"),
        ({"score": "aic"}, "no score 'aic'"),
        ({"time_limit": 0}, "time_limit is 0"),
        ({"time_limit": "1 minute"}, "time_limit is '1 minute', not a positive number of seconds"),
        ({"strengths": -1}, "strengths is -1"),
        ({"strengths": 2.5}, r"strengths is 2\.5"),
        ({"score": ("bdeu", float("inf"))}, "BDeu is inf"),
        ({"score": ("bic", 1)}, "no score"),
        ({"tiers": "smoke,, asia; lung"}, "tiers .* cannot be read"),
        ({"required": "lung -> lung"}, "'lung' cannot be its own parent"),
        ({"missingness": 3}, "missingness is 3"),
    ],
)
def test_what_cannot_be_meant_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(LacunetError, match=message):
        lc.learn_structure(lc.Data(TABLE, states=ASIA.states_of), **options)


def test_constraints_are_written_as_pairs_texts_or_lists_of_both() -> None:
    rows, given = lc.Data(TABLE, states=ASIA.states_of), []
    written: list[Any] = [
        [("smoke", "lung"), ("asia", "lung")],
        "smoke, asia -> lung",
        ["smoke -> lung", ("asia", "lung")],
    ]
    for required in written:
        found = lc.learn_structure(
            rows, required=required, forbidden=["dysp -> bronc"], strengths=0
        )
        assert {"smoke", "asia"} <= {*found.network.parents("lung")}
        given.append(found.edges)
    assert given[0] == given[1] == given[2]


def test_a_column_with_very_many_values_is_refused() -> None:
    rows = {"id": range(200), "a": [0, 1] * 100, "t": np.linspace(0, 1, 200)}
    with pytest.raises(LacunetError, match="'id' looks like an identifier") as refused:
        lc.learn_structure(rows)
    assert "bins={'t': 5}, without=['id'])" in str(refused.value)  # all of them at once
    assert "(--bins t=5 --without id)" in str(refused.value)
    found = lc.learn_structure(lc.Data(rows, without="id", bins={"t": 2}), strengths=0)
    assert set(found.network.variables) == {"a", "t"}
    with pytest.raises(LacunetError, match=r"without= .* names \['ID'\]"):
        lc.learn_structure(lc.Data(rows, without=["id", "ID"]))
    with pytest.raises(LacunetError, match=r"without= .* names \['a'\], which the network has"):
        lc.learn_structure(lc.Data(rows, states=found.network, without=["id", "a"]))


def test_strong_arcs_are_in_all_replicates_and_independent_columns_in_few() -> None:
    rng = np.random.default_rng(8)
    a = rng.integers(0, 2, 1_000)
    rows = {
        "A": a,
        "B": np.where(rng.random(1_000) < 0.9, a, 1 - a),
        "C": rng.integers(0, 2, 1_000),
    }
    found = lc.learn_structure(rows, strengths=400)
    assert found.strengths["A", "B"].adjacent == in_all_replicates(found)
    # either direction fits as well; a replicate that takes C by chance may tell one
    shares = [
        found.strengths[arc].directed / in_all_replicates(found) for arc in (("A", "B"), ("B", "A"))
    ]
    assert max(shares) <= CHANCE_OF_DIRECTED[0.2] + 1e-9
    others = [one.adjacent for arc, one in found.strengths.items() if "C" in arc]
    assert max(others) <= 0.37  # what is said of one in seven


def test_what_is_said_beforehand_directs_edges() -> None:
    rng = np.random.default_rng(2)
    a = rng.integers(0, 2, 600)
    b, c = (np.where(rng.random(600) < 0.1, 1 - a, a) for _ in range(2))
    d = np.where(rng.random(600) < 0.1, 1 - c, c)
    rows = {"A": a, "B": b, "C": c, "D": d}
    assert str(lc.learn_structure(rows, strengths=0).cpdag) == "A -- B\nA -- C\nC -- D"
    tiers = lc.learn_structure(rows, strengths=0, tiers=[["B"], ["A", "C", "D"]])
    assert str(tiers.cpdag) == "B -> A\nA -> C\nC -> D"  # no collider at A, nor at C
    required = lc.learn_structure(rows, strengths=0, required="C -> D")
    assert ("C", "D") in required.cpdag.compelled
    assert lc.compare_structures(required.network, required).is_equivalent


def test_required_parents_with_too_many_states_are_refused() -> None:
    rows = {name: [str(i % 40) for i in range(80)] for name in "ABCD"}
    with pytest.raises(LacunetError, match="'D' with its required parents would have more than"):
        lc.learn_structure(rows, required="A, B, C -> D")


@pytest.mark.parametrize(
    ("arcs", "message"),
    [
        ("A->B, C->D", r"two ways(?s:.)*'A -> B; C -> D'"),
        ("A -> B; C", "'C' is a variable, not an edge"),
    ],
)
def test_arcs_that_cannot_be_read_are_said_to_be_edges(arcs: str, message: str) -> None:
    rows = {name: ["0", "1"] * 20 for name in "ABCD"}
    with pytest.raises(LacunetError, match=message) as refused:
        lc.learn_structure(rows, required=arcs)
    assert not isinstance(refused.value, MissingnessGraphError)


def test_learned_mechanisms_are_named_with_what_they_may_be() -> None:
    rng = np.random.default_rng(0)
    a, b, c, d = rng.integers(0, 2, (4, 1_000)).astype(object)
    rows = {"A": a}
    for name, codes, rate in (("B", b, np.where(a == 1, 0.5, 0.1)), ("C", c, 0.2), ("D", d, 0.2)):
        rows[name] = np.where(rng.random(1_000) < rate, None, codes)
    lines = str(lc.learn_structure(rows, strengths=0).missingness).splitlines()
    assert lines[1].startswith("# if it is, what is named here as a cause may only stand in for X")
    assert lines[2].startswith("A -> R[B]  # learned")
    assert lines[3:] == ["R[C]; R[D]  # no cause found"]


def test_strengths_are_of_the_network_that_was_found() -> None:
    table = incomplete(ASIA, 2_000, 3, share=0.3)
    found = lc.learn_structure(lc.Data(table, states=ASIA.states_of), strengths=10)
    arcs = [(x, y) for y in ASIA.variables for x in found.network.parents(y)]
    assert all(found.strengths[arc].adjacent > 0 for arc in arcs)
    assert found.strengths["lung", "either"].adjacent == in_all_replicates(found)
    weak = [one.adjacent for arc, one in found.strengths.items() if arc not in arcs]
    assert np.mean([found.strengths[arc].adjacent for arc in arcs]) > np.mean(weak)


def test_one_column_is_a_network_without_arcs() -> None:
    found = lc.learn_structure({"A": ["x", None, "y"]})
    assert found.network.variables == ("A",)
    assert found.cpdag.edges == 0


def test_counts_are_numbers_of_rows() -> None:
    table = incomplete(ASIA, 400, 9)
    times = np.random.default_rng(1).integers(1, 4, 400)
    rows = frame(ASIA, table)
    repeated = rows.iloc[np.repeat(np.arange(400), times)]
    one = lc.learn_structure(
        lc.Data(rows.assign(times=times), states=ASIA.states_of, counts="times"), strengths=0
    )
    two = lc.learn_structure(lc.Data(repeated, states=ASIA.states_of), strengths=0)
    assert one.trace[0].score == pytest.approx(two.trace[0].score, rel=1e-9)
    assert dict(one.network.parents_of) == dict(two.network.parents_of)


@pytest.mark.parametrize("method", ["auto", "closed-form"])
def test_the_scale_of_sampling_weights_does_not_matter(method: Any) -> None:
    rows = frame(ASIA, incomplete(ASIA, 600, 9))
    drawn = np.random.default_rng(1).exponential(size=600)
    found = [
        lc.learn_structure(
            lc.Data(rows.assign(w=drawn * scale), weight="w"), method=method, strengths=0
        )
        for scale in (1.0, 5_000.0)
    ]
    assert dict(found[0].network.parents_of) == dict(found[1].network.parents_of)
    if method == "auto":
        assert found[0].score == pytest.approx(found[1].score, rel=1e-9)


def test_equal_sampling_weights_change_nothing() -> None:
    rows = frame(ASIA, incomplete(ASIA, 600, 9))
    one = lc.learn_structure(rows, strengths=0)
    two = lc.learn_structure(lc.Data(rows.assign(w=730.0), weight="w"), strengths=0)
    assert dict(one.network.parents_of) == dict(two.network.parents_of)
    assert one.score == pytest.approx(two.score, rel=1e-9)


def test_sampling_weights_count_as_many_rows_as_they_are_worth() -> None:
    rng = np.random.default_rng(3)
    a = rng.integers(0, 2, 4_000)
    b = np.where(rng.random(4_000) < 0.46, 1 - a, a)  # 4,000 rows tell that, a few hundred do not
    rows = pd.DataFrame({"A": a, "B": b})
    uneven = rows.assign(w=np.where(np.arange(4_000) % 20, 0.01, 10.0))
    assert lc.learn_structure(rows, strengths=0).cpdag.edges == 1
    assert lc.learn_structure(lc.Data(uneven, weight="w"), strengths=0).cpdag.edges == 0


def test_the_command_writes_a_network_and_says_what_it_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame(ASIA, TABLE).to_csv(tmp_path / "rows.csv", index=False)
    out = tmp_path / "net.bif"
    arguments = ["structure", str(tmp_path / "rows.csv"), "-o", str(out), "--strengths", "10"]
    assert main(arguments) == 0
    text = capsys.readouterr().out
    assert "lung    ->  either" in text
    assert "R[smoke]" in text
    written = lc.read_network(out)
    assert main([*arguments, "--json", "--tiers", "smoke; lung,either"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert sorted(found["variables"]) == sorted(written.variables)
    assert ["lung", "either"] in found["arcs"]
    assert found["ended"] == "converged"
    assert main([*arguments, "--time-limit", "1e-9"]) == 0
    said = capsys.readouterr()
    assert "no edges: the search ended before it found one" in said.out
    assert "the search ended by time limit: the result is the best so far" in said.err
    assert main([*arguments, "--without", "either,xray", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["variables"]) == 6
    assert main([*arguments, "--without", "Xray"]) == 1
    assert "names ['Xray']" in capsys.readouterr().err
    assert main(["structure", str(tmp_path / "rows.csv"), "--required", "a -> b"]) == 1
    assert "no variable 'a'" in capsys.readouterr().err


def test_reading_the_columns_is_part_of_the_shell_s_time_limit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now, find = [0.0], columns.find_columns

    def slowly(data: object) -> columns.Columns:
        now[0] += 100
        return find(data)

    monkeypatch.setattr(columns, "find_columns", slowly)
    frame(ASIA, TABLE).to_csv(tmp_path / "rows.csv", index=False)

    def clock() -> float:
        now[0] += 0.01  # a look takes time
        return now[0]

    with timed_by(clock):
        assert main(["structure", str(tmp_path / "rows.csv"), "--time-limit", "60"]) == 0
    assert "ended by time limit" in capsys.readouterr().err


def test_mechanisms_that_there_is_no_time_for_are_said_not_to_be_learned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def late(*_: object, deadline: Deadline, **_options: Any) -> None:
        assert deadline.left < 20
        raise OutOfTimeError

    monkeypatch.setattr("lacunet.structure.mechanisms_of_rows.learned_graph", late)
    found = lc.learn_structure(lc.Data(TABLE, states=ASIA.states_of), time_limit=60.0, strengths=0)
    assert "no time to learn how values go missing" in " ".join(found.notes)
    assert found.missingness is None
    assert found.cpdag.edges


def survey_rows(rng: np.random.Generator) -> pd.DataFrame:
    """A question that was not asked of all, and cells that are hidden by what is hidden itself."""
    rows = 200
    frame = pd.DataFrame({"Age": rng.choice(list("abc"), rows)})
    frame["Ever"] = rng.choice(["no", "yes", "unsure"], rows)
    is_asked = (frame["Ever"] == "yes") & (rng.random(rows) < 0.8)
    frame["Now"] = pd.Series(rng.choice(["u", "v", "w"], rows), dtype=object).where(is_asked, None)
    ill = np.where(frame["Now"] == "u", rng.random(rows) < 0.2, rng.random(rows) < 0.5)
    frame["Ill"] = pd.Series(np.where(ill, "yes", "no"), dtype=object)
    for name in ("Ever", "Ill"):
        is_hidden = (rng.random(rows) < 0.2) | (ill & (rng.random(rows) < 0.4))
        frame[name] = frame[name].where(~is_hidden | frame["Now"].notna(), None)
    return frame


@pytest.mark.parametrize("missingness", ["learn", None])
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_what_was_not_asked_is_obeyed(missingness: str | None, seed: int) -> None:
    rows = survey_rows(np.random.default_rng(seed))
    found = lc.learn_structure(
        lc.Data(rows, not_asked={"Now": "Ever=no or Ever=unsure"}),
        strengths=0,
        rng=seed,
        missingness=missingness,
    )
    possible = found.network.possible("Now")
    assert not found.network.cpt("Now").table[~possible].any()
    assert "Ever" in found.network.parents("Now")


def test_what_the_columns_seem_to_say_is_a_warning() -> None:
    rows = {"Ill": [0, 1, 1, 0, 9] * 12, "Old": ["no", "yes"] * 30}
    with pytest.warns(lc.LacunetWarning, match=r"missing=\{'Ill': 9\}"):
        lc.learn_structure(rows, strengths=0)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_order_of_the_columns_changes_nothing(missing: float) -> None:
    rng = np.random.default_rng(8)
    whole = sample_codes(ASIA, 600, rng)
    columns = {
        name: np.where(rng.random(600) < missing, whole.cardinality_of[name], own)
        for name, own in whole.columns.items()
    }
    found = []
    for names in (ASIA.variables, tuple(rng.permutation(ASIA.variables).tolist())):
        table = EncodedTable(whole.cardinality_of, {name: columns[name] for name in names})
        states = {name: ASIA.states(name) for name in names}
        found.append(
            lc.learn_structure(lc.Data(table, states=states), missingness=None, strengths=10)
        )
        assert found[-1].network.variables == found[-1].cpdag.variables == names
    one, two = found
    assert one.score == two.score
    assert one.strengths == two.strengths
    assert lc.compare_structures(one.cpdag, two.cpdag).shd == 0
    for name in ASIA.variables:
        assert one.network.parents(name) == two.network.parents(name)
        np.testing.assert_allclose(one.network.cpt(name).table, two.network.cpt(name).table)


def test_strengths_of_both_directions_add_up_and_what_is_said_is_not_in_doubt() -> None:
    found = lc.learn_structure(
        lc.Data(TABLE, states=ASIA.states_of), required="smoke -> lung", strengths=10
    )
    for (x, y), one in found.strengths.items():
        both = one.directed + found.strengths[y, x].directed
        assert both == pytest.approx(one.adjacent) == found.strengths[y, x].adjacent
    assert found.strengths["smoke", "lung"] == Strength(1.0, 1.0)
    assert found.strengths["lung", "smoke"] == Strength(1.0, 0.0)


def test_rows_beyond_memory_are_learned_from_as_distinct_rows(tmp_path: Path) -> None:
    frame(ASIA, incomplete(ASIA, 30_000, 3, 0.05)).to_csv(tmp_path / "rows.csv", index=False)
    held = lc.learn_structure(tmp_path / "rows.csv", strengths=0)
    streamed = lc.learn_structure(tmp_path / "rows.csv", strengths=0, memory=1_000_000)
    assert str(streamed.cpdag) == str(held.cpdag)
    assert streamed.score == pytest.approx(held.score, abs=1e-6)
    assert streamed.rows == held.rows == 30_000


def test_of_more_distinct_rows_than_memory_holds_some_are_taken_and_that_is_said() -> None:
    rng = np.random.default_rng(0)
    rows = {f"V{k}": rng.integers(0, 2, 6_000).tolist() for k in range(16)}
    with pytest.warns(DataWarning, match="holds 1,000 of the 6,000 rows"):
        lc.learn_structure(rows, method="closed-form", strengths=0, memory=100_000)


def test_a_parquet_file_of_more_rows_than_the_budget_holds_is_sampled(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    columns = {f"V{at}": rng.integers(0, 4, 20_000).astype(str) for at in range(10)}
    columns["W"] = columns["V0"]
    pd.DataFrame(columns).to_parquet(tmp_path / "rows.parquet")
    with pytest.warns(DataWarning, match=r"of the 20,000 rows"):
        found = lc.learn_structure(
            tmp_path / "rows.parquet", method="closed-form", strengths=0, memory=400_000
        )
    assert set(found.edges) <= {("V0", "W"), ("W", "V0")}
    assert found.edges


@given(st.lists(st.integers(0, 20), min_size=3, max_size=3))
def test_strengths_rise_with_the_replicates_and_directions_add_up(numbers: list[int]) -> None:
    both, one, other = sorted(numbers, reverse=True)
    other = min(other, both - one)
    limits = constraints_of(("A", "B"), (), (), (), 2)
    share, lead = both / 20, one / 20 - other / 20
    empty, found = (frozenset[int](),) * 2, (frozenset[int](), frozenset({0}))
    there = _strength(0, 1, found, limits, share, lead)
    back = _strength(1, 0, found, limits, share, -lead)
    assert there.adjacent == back.adjacent
    assert there.directed + back.directed == pytest.approx(there.adjacent)
    assert (there.directed >= back.directed) == (one >= other or both == 0)
    if both < 20:
        more = _strength(0, 1, found, limits, (both + 1) / 20, lead)
        assert more.adjacent > there.adjacent
    assert _strength(0, 1, empty, limits, share, lead).adjacent < there.adjacent


@pytest.mark.parametrize("how", ["graph", "text", "learn"])
def test_variables_without_a_column_stay_latent_in_the_graph(how: str) -> None:
    rng = np.random.default_rng(0)
    age = rng.integers(0, 2, 500)
    came = rng.random(500) < 0.9 - 0.5 * age
    ill = [str(value) if shown else None for value, shown in zip(age, came, strict=True)]
    rows = {"Age": list(map(str, age)), "Ill": ill}
    network = lc.Network({name: ["0", "1"] for name in ("Age", "Ill", "Hidden")})
    text = "Age -> R[Ill]"
    latent = () if how == "graph" else ("Hidden",)
    data = lc.Data(rows, latent=latent) if latent else {**rows, "Hidden": [None] * 500}
    graph = lc.MissingnessGraph.parse(text, network).hiding(["Hidden"])
    given = {"graph": graph, "text": text, "learn": "learn"}[how]
    found = lc.learn_structure(
        lc.Data(data, states=network), missingness=given, strengths=0
    ).missingness
    assert found is not None
    assert found.latent == ("Hidden",)
    assert found.causes == graph.causes


def test_the_network_knows_which_rows_of_its_cpts_have_no_data() -> None:
    rows = {"A": [0, 1] * 40, "B": [0, 1] * 39 + [0, None], "C": ["x", "y", "y", "x"] * 20}
    states = {"A": ["0", "1", "2"], "B": ["0", "1"], "C": ["x", "y"]}
    found = lc.learn_structure(lc.Data(rows, states=states), required="A -> B", strengths=0)
    assert found.network.variables == ("A", "B", "C")
    again = lc.learn(found.network.with_tables(None), rows).network
    for name in "ABC":
        supported = found.network.cpt(name).supported
        assert supported is not None
        np.testing.assert_array_equal(supported, again.cpt(name).supported)
    assert found.network.cpt("B").supported is not None
    assert not np.asarray(found.network.cpt("B").supported)[-1]  # no row has A=2


def test_a_given_graph_stays_whole_over_the_learned_arcs() -> None:
    rng = np.random.default_rng(3)
    age = rng.integers(0, 2, 600)
    first, second = (np.where(rng.random(600) < 0.2, 1 - age, age) for _ in range(2))
    came = rng.random(600) < 0.5 + 0.4 * age
    stayed = came & (rng.random(600) < 0.8)
    data = {
        "Age": age,
        "First": [value if shown else None for value, shown in zip(first, came, strict=True)],
        "Second": [value if shown else None for value, shown in zip(second, stayed, strict=True)],
    }
    text = "Age -> R[First]; First, R[First] -> R[Second]; R[Second] <= R[First]"
    found = lc.learn_structure(data, missingness=text, strengths=0)
    assert found.missingness is not None
    assert found.missingness.network.edges == found.network.edges
    assert found.missingness.monotone == (("Second", "First"),)
    assert "R[Second] <= R[First]" in str(found.missingness)


def test_an_edge_without_a_direction_is_explained_below() -> None:
    rows = {"A": ["0", "0", "1", "1"] * 20, "B": ["0", "0", "1", "0"] * 20}
    found = lc.learn_structure(rows, strengths=10)
    told = "--: the data do not tell the direction"
    assert str(replace(found, strengths={})).endswith(f"\nA -- B\n{told}")
    printed = structure_as_text(found)
    assert told in printed
    assert "adjacent: the probability that" in printed
    directed = lc.learn_structure(rows, strengths=0, required="A -> B")
    assert told not in str(directed)
    assert "adjacent" not in structure_as_text(directed)


def test_states_may_be_those_of_a_result_but_a_graph_is_refused() -> None:
    rows = {"A": ["0", "1"] * 50, "B": ["0", "1"] * 40 + ["1", "0"] * 10}
    network = lc.Network({"A": ["1", "0", "2"], "B": ["0", "1"]})
    result = lc.learn(network, rows)
    assert lc.learn_structure(lc.Data(rows, states=result), strengths=0).network.states("A") == (
        "1",
        "0",
        "2",
    )
    graph = lc.MissingnessGraph.parse("R[A]", network)
    with pytest.raises(LacunetError, match="missingness graph"):
        lc.learn_structure(lc.Data(rows, states=graph), strengths=0)


def test_one_row_is_warned_of() -> None:
    with pytest.warns(DataWarning, match="1 row"):
        found = lc.learn_structure(
            lc.Data({"A": ["x"], "B": ["y"]}, states={"A": ["x", "z"], "B": ["y", "w"]})
        )
    assert not found.network.edges


def test_directions_that_follow_from_tiers_in_all_replicates_are_as_strong_as_these() -> None:
    rng = np.random.default_rng(0)
    b = rng.integers(0, 2, 1_000)
    a, c = (np.where(rng.random(1_000) < 0.2, 1 - b, b) for _ in range(2))
    found = lc.learn_structure({"A": a, "B": b, "C": c}, tiers=["A", "B"])
    assert str(found.cpdag) == "A -> B\nB -> C"  # no collider at B
    assert found.strengths["B", "C"].directed == in_all_replicates(found) * CHANCE_OF_DIRECTED[1]


def test_variables_in_no_tier_are_noted() -> None:
    rows = {"A": [0, 1] * 50, "B": [0, 1] * 45 + [1, 0] * 5, "C": [0, 0, 1, 1] * 25}
    found = lc.learn_structure(rows, tiers=["B"], strengths=0)
    assert found.notes == ("in no tier: A, C; they may come before or after any.",)
    assert not lc.learn_structure(rows, tiers="B, C; A", strengths=0).notes


def test_tiers_may_be_a_text_and_the_command_lines_none_is_answered_with_pythons() -> None:
    rows = {"A": ["0", "1"] * 60, "B": ["0", "1"] * 60, "C": ["0", "0", "1"] * 40}
    by_text = lc.learn_structure(rows, tiers="B, C; A", strengths=0)
    assert by_text.network.edges == (("B", "A"),)
    assert (
        by_text.network == lc.learn_structure(rows, tiers=[["B", "C"], ["A"]], strengths=0).network
    )
    with pytest.raises(LacunetError, match="missingness=None"):
        lc.learn_structure(rows, missingness="none")


def test_clusters_and_strata_are_not_variables_and_have_no_part_in_the_search() -> None:
    rows = {"A": [0, 1, 0, 1] * 5, "B": [0, 1, 1, 0] * 5}
    design = {"psu": [*range(10)] * 2, "st": [0, 1] * 10}
    with pytest.warns(DataWarning, match="as if rows were independent"):
        found = lc.learn_structure(
            lc.Data({**rows, **design}, cluster="psu", strata="st"), strengths=0
        )
    assert found.network == lc.learn_structure(rows, strengths=0).network
    assert any("clusters" in note for note in found.notes)
    with_strengths = replace(found, strengths={("A", "B"): Strength(0.1, 0.1)})
    assert "as if rows were independent" not in str(with_strengths)  # the warning has said it
    assert "as if rows were independent" in str(replace(with_strengths, warned=()))


@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")
@pytest.mark.parametrize("rows", [{"A": ["x"], "B": ["y"]}, {"A": ["x", "y", "x"]}])
def test_no_independence_is_claimed_of_one_row_or_one_variable(rows: dict[str, list[str]]) -> None:
    text = structure_as_text(lc.learn_structure(rows))
    assert "no edges: " in text
    assert "independent" not in text


def test_states_are_given_as_to_networks_from_data() -> None:
    rows = {"A": [1, 2] * 50, "B": [1, 2] * 45 + [2, 1] * 5}
    options: Any = {"strengths": 0, "method": "closed-form"}
    found = lc.learn_structure(lc.Data(rows, states={"A": [1.0, 2.0]}), **options)
    assert found.network.states("A") == ("1", "2")
    for wrong in ("12", []):
        with pytest.raises(LacunetError, match="states of 'A'"):
            lc.learn_structure(lc.Data(rows, states={"A": wrong}), **options)
