"""The forecast counts what the plan will hold."""

from __future__ import annotations

import numpy as np
import pytest

import lacunet as lc
from lacunet.counts.em_problems.compile import compile_problems
from lacunet.data.table import EncodedTable
from lacunet.inference.expectation import fused
from lacunet.inference.expectation.expectation_plan import drafted_runs, plan_of
from lacunet.inference.forecast import forecast, seconds_a_read
from lacunet.network.catalogue import example
from lacunet.network.network import Network

CHAIN = Network({name: ["0", "1", "2"] for name in "ABC"}, {"B": ["A"], "C": ["B"]})


def problems_of(rows: list[list[int]]):  # type: ignore[no-untyped-def]
    columns = {
        name: np.array(column, np.uint8)
        for name, column in zip("ABC", zip(*rows, strict=True), strict=True)
    }
    return compile_problems(CHAIN, EncodedTable(dict.fromkeys("ABC", 3), columns))


def test_components_problems_and_states_of_a_chain_are_those_counted_by_hand() -> None:
    # {B} at two boundary values: 3 states each. {A, B} at one: 9 to sum A out, then 3 for B.
    found = forecast(problems_of([[0, 3, 1], [1, 3, 1], [0, 3, 1], [3, 3, 2]]), 2**30)
    assert (found.components, found.largest_component, found.problems) == (2, 2, 3)
    assert (found.states, found.loopy_problems) == (18.0, 0)
    # P(B|A) and P(C|B) for {B}; P(A) and P(B|A), then the message and P(C|B) for {A, B}.
    assert found.reads == 2 * 3 * 2 + 9 * 2 + 3 * 2
    assert found.seconds > 0
    assert "3" in found.text


def test_what_is_beyond_the_budget_is_left_to_loopy_propagation() -> None:
    found = forecast(problems_of([[0, 3, 1], [3, 3, 2]]), 64 * 4)
    assert (found.loopy_problems, found.states) == (1, 3.0)
    assert "1 problems" in found.text


def test_complete_data_cost_nothing() -> None:
    found = forecast(problems_of([[0, 1, 2]]), 2**30)
    assert (found.problems, found.states, found.bytes_needed) == (0, 0.0, 0.0)


def test_a_read_takes_some_nanoseconds() -> None:
    assert 1e-10 < seconds_a_read() < 1e-6


def test_groups_are_counted_as_the_plan_lays_them_out(monkeypatch: pytest.MonkeyPatch) -> None:
    network = example("alarm")
    table = lc.simulate(network, 300, lc.MCAR(0.6), rng=1).table
    problems = compile_problems(network.with_tables(None), table)
    for memory in (2**30, 2**16):  # indices are kept, or most are not
        for pays_from in (np.inf, 0):
            monkeypatch.setattr(fused, "PAYS_FROM", pays_from)
            plan = plan_of(problems, memory)
            runs = list(drafted_runs(problems, memory))
            expected = sum(len(shard.groups) for shard in plan.shards)
            assert sum(drafted.groups for drafted in runs) == expected > 0
