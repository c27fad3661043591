"""Time that is up before the closed form, the start of EM, has counted its groups."""

from __future__ import annotations

from time import monotonic

import numpy as np
import pytest

import lacunet as lc
from lacunet.data.table import EncodedTable
from lacunet.deadline import Deadline
from lacunet.estimate.deletion.forms import FactoredMAR, FactoredMCAR
from lacunet.estimate.em.method import EM
from lacunet.estimate.learn import carry_out
from lacunet.estimate.method import Learned, Plan, Setting
from lacunet.statistics.gather import Statistics, gather
from lacunet.statistics.observations import Held

ASIA = lc.example("asia")
LONG_AGO = Deadline(monotonic() - 60)


def rows(seed: int) -> EncodedTable:
    return lc.simulate(ASIA, 500, lc.MCAR(0.5, 0.5), rng=seed).table


def test_groups_that_there_is_no_time_for_are_left_to_the_estimate_without_groups() -> None:
    table, form = rows(1), FactoredMAR()
    plan = form.plan(ASIA, table.partially_observed)
    late = gather(plan.needs, ASIA, [table], deadline=LONG_AGO)
    assert late.unreached == {asked.family for asked in plan.needs.groupings} != set()
    found = form.estimate(plan, late, Setting())
    expected = carry_out(FactoredMCAR(), ASIA, Held(table), Setting())
    for name in ASIA.variables:
        np.testing.assert_allclose(found.tables[name], expected.tables[name], rtol=1e-12)
        is_late = ASIA.family(name) in late.unreached
        assert found.families[name].fallback_mass == (1.0 if is_late else 0.0)


def test_a_family_that_one_part_did_not_reach_is_not_reached_by_the_sum() -> None:
    form = FactoredMAR()
    plan = form.plan(ASIA, rows(1).partially_observed)
    early = gather(plan.needs, ASIA, [rows(1)])
    late = gather(plan.needs, ASIA, [rows(2)], deadline=LONG_AGO)
    assert (early + late).unreached == (late + early).unreached == late.unreached
    assert not (early + late).reduced.keys() & late.unreached


@pytest.mark.parametrize("method", ["em", "auto", "one-step"])
def test_a_method_whose_time_is_up_says_so_and_still_answers(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lacunet.statistics.gather.GRACE", 0.0)
    result = lc.learn(ASIA, rows(3), method, time_limit=1e-9)
    assert result.ended is not None
    assert result.ended.reason == "time limit"
    for name in ASIA.variables:
        np.testing.assert_allclose(result.network.cpt(name).table.sum(axis=-1), 1.0)


def test_the_clock_of_a_limit_starts_before_the_rows_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = []
    estimate = EM.estimate

    def watched(method: EM, plan: Plan, statistics: Statistics, setting: Setting) -> Learned:
        seen.append(setting.deadline.at)
        return estimate(method, plan, statistics, setting)

    monkeypatch.setattr(EM, "estimate", watched)
    before = monotonic()
    lc.learn(ASIA, rows(3), "em", time_limit=100.0)
    assert before <= seen[0] - 100 <= monotonic()
