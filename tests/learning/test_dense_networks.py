"""Dense networks: learned from rows with missing cells, and completions drawn from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from lacunet.data.table import EncodedTable
from lacunet.inference.query import query
from lacunet.learning.dense.augmentation import Augmentation
from lacunet.learning.dense.cut_points import fine_cuts
from lacunet.learning.dense.dense_network import (
    KEPT_DRAWS,
    DenseNetwork,
    learn_dense_network,
)
from lacunet.limits import NEVER, Deadline
from lacunet.network.network import FloatArray, Network


def _learned(
    network: Network, table: EncodedTable, seed: int = 0, kept: tuple[str, ...] = ()
) -> DenseNetwork:
    return learn_dense_network(network, table, {}, kept, np.random.default_rng(seed), NEVER)[0]


def _table(network: Network, columns: Mapping[str, Any]) -> EncodedTable:
    return EncodedTable(
        network.cardinality_of, {name: column.astype(np.uint8) for name, column in columns.items()}
    )


def _chain(rows: int, seed: int) -> tuple[Network, EncodedTable, dict[str, FloatArray]]:
    """A -> B -> C; C is hidden in a third of the rows, B where A is 1 in half of them."""
    rng = np.random.default_rng(seed)
    a = rng.integers(2, size=rows)
    b = (rng.random(rows) < np.array([0.2, 0.7])[a]).astype(int) + (rng.random(rows) < 0.1)
    c = (rng.random(rows) < np.array([0.1, 0.5, 0.9])[b]).astype(int)
    network = Network({"A": ["0", "1"], "B": ["x", "y", "z"], "C": ["0", "1"]}, {})
    truth = {"A": a, "B": b, "C": c}
    shown = {
        "A": a,
        "B": np.where((rng.random(rows) < 0.5) & (a == 1), 3, b),
        "C": np.where(rng.random(rows) < 1 / 3, 2, c),
    }
    return network, _table(network, shown), truth


def test_completions_have_the_two_way_tables_of_what_was_hidden() -> None:
    network, table, truth = _chain(20_000, 1)
    learned = _learned(network, table)
    completed = learned.completed(table, learned.at, np.random.default_rng(2)).columns
    for one, other in (("A", "B"), ("A", "C"), ("B", "C")):
        wanted = np.bincount(truth[one] * 3 + truth[other], minlength=9) / 20_000
        drawn = np.bincount(completed[one].astype(int) * 3 + completed[other], minlength=9) / 20_000
        assert np.abs(wanted - drawn).max() < 0.012


def test_chances_of_a_missing_cell_are_those_of_a_saturated_network() -> None:
    """Of three variables: effects and a table say all there is."""
    network, table, _ = _chain(20_000, 3)
    learned = _learned(network, table)
    hidden = _table(network, {"A": np.ones(20_000), "B": np.full(20_000, 3), "C": np.ones(20_000)})
    drawn = learned.completed(hidden, learned.at, np.random.default_rng(4)).columns["B"]
    truth = Network(
        network.states_of,
        {"B": ["A"], "C": ["B"]},
        {
            "A": [0.5, 0.5],
            "B": [[0.72, 0.26, 0.02], [0.27, 0.66, 0.07]],
            "C": [[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]],
        },
    )
    wanted = query(truth, "B", {"A": "1", "C": "1"}).probabilities
    np.testing.assert_allclose(np.bincount(drawn, minlength=3) / 20_000, wanted, atol=0.03)


def test_the_same_seed_learns_and_draws_the_same() -> None:
    network, table, _ = _chain(400, 5)
    both = [_learned(network, table, 6), _learned(network, table, 6)]
    for one, other in zip(*(learned.at for learned in both), strict=True):
        np.testing.assert_array_equal(one.effects, other.effects)
    drawn = [
        learned.completed(table, learned.at, np.random.default_rng(7)).columns["B"]
        for learned in both
    ]
    np.testing.assert_array_equal(*drawn)


def test_what_rows_show_stays() -> None:
    network, table, _ = _chain(400, 5)
    learned = _learned(network, table)
    drawn = learned.completed(table, learned.at, np.random.default_rng(1))
    for name, codes in table.columns.items():
        is_shown = codes < network.cardinality(name)
        np.testing.assert_array_equal(drawn.columns[name][is_shown], codes[is_shown])
        assert (drawn.columns[name] < network.cardinality(name)).all()


def test_new_rows_may_miss_what_no_row_missed_before() -> None:
    network, table, _ = _chain(4_000, 8)
    learned = _learned(network, table)
    new = _table(network, {"A": np.full(4_000, 2), "B": np.full(4_000, 2), "C": np.ones(4_000)})
    drawn = learned.completed(new, learned.at, np.random.default_rng(2)).columns["A"]
    assert drawn.mean() == pytest.approx(0.78, abs=0.06)  # 0.07 / (0.02 + 0.07)


def test_a_state_that_no_row_shows_is_never_drawn() -> None:
    network, table, _ = _chain(400, 9)
    wider = Network({**network.states_of, "B": ["x", "y", "z", "never"]}, {})
    codes = table.columns["B"]
    table = EncodedTable(
        wider.cardinality_of,
        {**table.columns, "B": np.where(codes == 3, 4, codes).astype(np.uint8)},
    )
    learned = _learned(wider, table)
    for at in (learned.at, *learned.draws):
        assert (learned.completed(table, at, np.random.default_rng(1)).columns["B"] < 3).all()


def test_a_cell_that_is_one_of_several_states_gets_one_of_these() -> None:
    network, table, _ = _chain(400, 9)
    columns = {**table.columns}
    columns["B"] = columns["B"].copy()
    columns["B"][:100] = 4  # the first set
    table = EncodedTable(network.cardinality_of, columns, sets_of={"B": ((0, 2),)})
    learned = _learned(network, table.without_sets())
    drawn = learned.completed(table, learned.at, np.random.default_rng(1)).columns["B"]
    assert {*drawn[:100].tolist()} == {0, 2}


def test_a_question_that_was_not_asked_is_not_answered() -> None:
    rng = np.random.default_rng(3)
    smoked = rng.integers(2, size=1_000)
    now = np.where(smoked == 0, 2, rng.integers(2, size=1_000))
    age = np.clip(smoked + rng.integers(3, size=1_000), 0, 2)
    network = Network(
        {"Now": ["no", "yes", "na"], "Smoked": ["no", "yes"], "Age": ["a", "b", "c"]},
        {"Now": ["Smoked"]},
        not_asked={"Now": ("Smoked=no", "na")},
    )
    is_hidden = rng.random((2, 1_000)) < 0.3
    table = _table(
        network,
        {
            "Now": np.where(is_hidden[0], 3, now),
            "Smoked": np.where(is_hidden[1], 2, smoked),
            "Age": age,
        },
    )
    learned = _learned(network, table)
    assert learned.line.index("Smoked") < learned.line.index("Now")
    for at in (learned.at, *learned.draws[:3]):
        drawn = learned.completed(table, at, rng).columns
        assert ((drawn["Now"] == 2) == (drawn["Smoked"] == 0)).all()


def test_columns_of_one_state_and_tables_without_holes_are_learned() -> None:
    network = Network({"A": ["0", "1"], "B": ["only"], "C": ["x", "y", "z"]}, {})
    rng = np.random.default_rng(1)
    a, c = rng.integers(2, size=50), rng.integers(3, size=50)
    learned = _learned(network, _table(network, {"A": a, "B": np.zeros(50, int), "C": c}))
    new = _table(network, {"A": np.full(5, 2), "B": np.ones(5), "C": np.full(5, 3)})
    drawn = learned.completed(new, learned.at, rng)
    assert drawn.columns["B"].tolist() == [0] * 5


def test_likeliest_states_are_the_modes_of_draws() -> None:
    network, table, _ = _chain(600, 11)
    learned = _learned(network, table)
    best = learned.likeliest(table, np.random.default_rng(1)).columns["B"]
    draws = np.stack(
        [
            learned.completed(table, learned.at, np.random.default_rng(seed)).columns["B"]
            for seed in range(60)
        ]
    )
    shares = np.stack([(draws == state).mean(axis=0) for state in range(3)])
    sure = shares.max(axis=0) > 0.75
    np.testing.assert_array_equal(best[sure], shares.argmax(axis=0)[sure])


def test_draws_beyond_those_kept_vary_as_these_do() -> None:
    network, table, _ = _chain(500, 12)
    learned = _learned(network, table)
    rng = np.random.default_rng(1)
    drawn = [*learned.drawn(KEPT_DRAWS + 400, rng)][KEPT_DRAWS:]
    place = learned.line.index("C")
    kept = np.stack([draw[place].effects.ravel() for draw in learned.draws])
    further = np.stack([draw[place].effects.ravel() for draw in drawn])
    np.testing.assert_allclose(further.std(axis=0), kept.std(axis=0, ddof=1), rtol=0.15)


def test_parameters_vary_less_with_more_rows() -> None:
    spreads = []
    for rows in (300, 4_800):
        network, table, _ = _chain(rows, 13)
        learned = _learned(network, table)
        place = learned.line.index("C")
        effects = np.stack([draw[place].effects.ravel() for draw in learned.draws])
        spreads.append(effects.std(axis=0).mean())
    # Four times as sure with sixteen times the rows, but that few rows are shrunk.
    assert 1.6 < spreads[0] / spreads[1] < 7


def test_time_that_is_up_leaves_parameters_all_the_same() -> None:
    network, table, _ = _chain(300, 14)
    learned, is_done = learn_dense_network(
        network, table, {}, (), np.random.default_rng(0), Deadline(0.0)
    )
    assert not is_done
    drawn = learned.completed(table, learned.at, np.random.default_rng(0))
    assert not drawn.partially_observed


def test_of_very_many_columns_a_variable_has_the_parents_that_it_goes_with_and_those_kept() -> None:
    rng = np.random.default_rng(2)
    names = [f"V{index}" for index in range(90)]
    network = Network({name: ["a", "b", "c"] for name in names}, {})
    columns = {name: rng.integers(3, size=300) for name in names}
    columns["V80"] = np.where(rng.random(300) < 0.8, columns["V3"], columns["V80"])
    learned = _learned(network, _table(network, columns), kept=("V5", "V85"))
    place = learned.line.index
    assert place("V3") in learned.parents(place("V80"))
    assert place("V5") in learned.parents(place("V85"))
    assert len(learned.parents(place("V89"))) < 89


def test_heaps_of_numbers_are_intervals_by_themselves() -> None:
    numbers = np.arange(1.0, 61.0)
    rows = np.where(numbers % 20 == 0, 200.0, 5.0)
    cuts = fine_cuts(numbers, rows)
    assert len(cuts) <= 31 + 2 * 3  # heaps end intervals that are not full
    for heap in (20.0, 40.0, 60.0):
        assert heap in cuts
        inside = numbers[np.searchsorted(cuts, numbers, "right") == cuts.index(heap) + 1]
        assert inside.tolist() == [heap]


def test_rows_begin_as_what_the_others_show() -> None:
    network, table, _ = _chain(2_000, 15)
    learned = _learned(network, table)
    rows = Augmentation.of_table(table, learned.line, learned.scales, np.random.default_rng(1))
    place = learned.line.index("B")
    drawn = np.bincount(rows.codes[rows.missing[:, place], place], minlength=3)
    shown = learned.scales[place].seen
    np.testing.assert_allclose(drawn / drawn.sum(), shown / shown.sum(), atol=0.06)
