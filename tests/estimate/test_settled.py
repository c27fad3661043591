"""Rows whose groups do not tell pull what is learned; the intervals know where to."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import lacunet as lc
from lacunet.data.table import EncodedTable
from lacunet.estimate.deletion.forms import FactoredMAR
from lacunet.estimate.deletion.settled import settled_tables
from lacunet.estimate.learn import carry_out
from lacunet.estimate.method import Setting
from lacunet.statistics.count import count
from lacunet.statistics.groups import group_rows
from lacunet.statistics.observations import Held
from lacunet.uncertainty.influence import direct_mar_spread
from lacunet.uncertainty.steps import step_scopes, steps

NOISE = tuple(f"N{number}" for number in range(8))
NETWORK = lc.Network(
    {name: ["0", "1"] for name in ("Z", "B", "C", *NOISE)},
    {"Z": ["B"], "C": ["B"]},
    {
        "B": [0.55, 0.45],
        "Z": [[0.8, 0.2], [0.3, 0.7]],
        "C": [[0.9, 0.1], [0.4, 0.6]],
        **{name: [0.5, 0.5] for name in NOISE},
    },
)
METHODS = ["direct-mar", "factored-mar"]


def _rows(number: int, hidden: tuple[str, ...] = ("B", "C"), seed: int = 0) -> EncodedTable:
    """B and C go missing by Z; most groups that agree on all else have a row or two."""
    rng = np.random.default_rng(seed)
    drawn = lc.simulate(NETWORK, number, None, rng).table
    columns = dict(drawn.columns)
    for name in hidden:
        gone = rng.random(number) < np.where(columns["Z"] == 1, 0.8, 0.1)
        columns[name] = np.where(gone, 2, columns[name]).astype(np.uint8)
    return EncodedTable.of(drawn.cardinality_of, columns)


@pytest.mark.parametrize("method", METHODS)
def test_intervals_hold_the_truth_that_fallen_rows_pull_the_estimate_away_from(method: str) -> None:
    result = lc.learn(NETWORK, _rows(1000), method, intervals=True)
    truth = lc.query(NETWORK, "B")
    assert result.families["B"].fallback_mass > 0.1
    low, high = result.interval("B").T
    assert ((low < truth) & (truth < high)).all()
    # Of the rows that show B most have Z = 0, and most of these B = 0.
    sure = result.sure().spread_of["B"]
    error = np.sqrt(sure.rates * (1 - sure.rates) / sure.sizes)
    learned = result.network.cpt("B").table
    assert (np.abs(learned - truth) > 2 * error).all()
    assert (np.abs(sure.rates - truth) < 3 * error).all()
    assert ((low <= learned) & (learned <= high)).all()


@pytest.mark.parametrize("method", METHODS)
def test_answers_know_it_too(method: str) -> None:
    result = lc.learn(NETWORK, _rows(1000), method, intervals=True)
    low, high = lc.query(result, "C", interval=True).interval.T
    truth = lc.query(NETWORK, "C")
    assert ((low < truth) & (truth < high)).all()


def test_where_all_groups_tell_there_is_one_step_and_what_was_learned() -> None:
    table, network, method = _rows(1000), NETWORK.with_tables(None), FactoredMAR()
    given_of = {"B": ("Z",), "C": ("Z",)}
    scopes_of = step_scopes(network, table, given_of, set())
    assert scopes_of == {"B": (("Z",),), "C": (("Z",),)}
    learned = carry_out(method, network, Held(table), Setting(2.0, np.random.default_rng(0)))
    assert learned.statistics is not None
    found = settled_tables(method, network, table, learned.statistics, scopes_of, 2.0)
    for name, cpt in learned.tables.items():
        np.testing.assert_array_equal(found[name], cpt)


def test_what_is_settled_is_informed_deletion_where_no_group_tells_but_by_itself() -> None:
    """Every row is a group of its own: rows that hide B are settled by Z, which hides them."""
    table = _rows(400, hidden=("B",))
    row = np.arange(400)
    columns = {name: (row >> bit & 1).astype(np.uint8) for bit, name in enumerate((*NOISE, "C"))}
    table = EncodedTable.of(table.cardinality_of, {**table.columns, **columns})
    network = lc.Network({v: NETWORK.states(v) for v in NETWORK.variables}, {})
    informed = lc.learn(network, table, "informed-direct", prior=1, separator="Z").network
    cpt = informed.cpt("B").table
    own, by_z = steps(table, ("B",), (table.fully_observed, ("Z",)), partial(group_rows, table))
    np.testing.assert_allclose(own.settled(("B",), (2,)), count(table, [("B",)])[("B",)].dense())
    spread = direct_mar_spread([own, by_z], ("B",), (2,), cpt)
    np.testing.assert_allclose(spread.rates, cpt, rtol=1e-12)


def test_rows_that_weigh_two_are_two_rows_and_other_weights_have_any_unit() -> None:
    table = _rows(300)
    twice = table.take(np.repeat(np.arange(300), 2))
    rng = np.random.default_rng(1)
    uneven = rng.uniform(0.5, 2.0, 300)

    def sure(rows: EncodedTable, weights: np.ndarray | None) -> lc.Result:
        weighted = EncodedTable.of(rows.cardinality_of, rows.columns, weights)
        return lc.learn(NETWORK, weighted, "direct-mar", prior=1, intervals=True)

    one, two = sure(twice, None), sure(table, np.full(300, 2.0))
    assert one.families["B"].fallback_mass > 0.1
    np.testing.assert_allclose(one.interval("C"), two.interval("C"), rtol=1e-9)
    answers = [lc.query(each, "C", interval=True).interval for each in (one, two)]
    np.testing.assert_allclose(*answers, rtol=1e-9)
    one, two = sure(table, uneven), sure(table, uneven * 7.3)
    np.testing.assert_allclose(one.interval("C"), two.interval("C"), rtol=1e-9)
