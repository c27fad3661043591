"""Time that is up before the closed form, the start of EM, has counted its groups."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from time import monotonic, process_time
from typing import Any

import numpy as np
import pytest

import lacunet as lc
from lacunet.counts import gather as statistics
from lacunet.counts.em_problems import compile as compiled
from lacunet.counts.gather import Gathering, Statistics, gather
from lacunet.counts.look import Look
from lacunet.counts.observations import Held, observations
from lacunet.counts.passes import passes
from lacunet.counts.streaming import Streamed
from lacunet.data.read import read_table
from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetWarning
from lacunet.inference.errors import OverBudgetError
from lacunet.inference.expectation.expectation_plan import plan_of
from lacunet.learning import learn as learning
from lacunet.learning import pseudo_counts
from lacunet.learning.closed_forms import forms
from lacunet.learning.closed_forms.forms import Deletion
from lacunet.learning.em import em_stage
from lacunet.learning.interval_recipes import seconds_of_part
from lacunet.learning.learn import SECONDS_TO_REPORT, carry_out
from lacunet.learning.plan import JACKKNIFE, RATE_MATRIX, Ended, Learned, Plan, Setting, run
from lacunet.limits import Deadline, OutOfTimeError, timed_by
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.recover.decide import recover_families
from road import Task, learned_by

ASIA = lc.example("asia")
MISSED = ("asia", "tub", "smoke", "lung", "bronc", "either", "xray")
LONG_AGO = Deadline(monotonic() - 60)


def rows(seed: int) -> EncodedTable:
    return lc.simulate(ASIA, 500, lc.MCAR(0.5, share=0.5), rng=seed).table


def test_groups_that_there_is_no_time_for_are_left_to_the_estimate_without_groups() -> None:
    table = rows(1)
    plan = Deletion("factored").plan(ASIA, Held(table).look())
    needs = plan.needs()
    late = gather(Gathering(needs, ASIA, LONG_AGO), [table])
    unreached = {asked.family for asked in needs.groupings}
    assert unreached
    assert not late.reduced
    found = run(plan, late, Setting(1.0))
    expected = learned_by(Deletion("factored", groups=None), Task(ASIA, table))
    for name in ASIA.variables:
        np.testing.assert_allclose(found.tables[name], expected.tables[name], rtol=1e-12)
        is_late = ASIA.family(name) in unreached
        assert found.families[name].fallback_mass == (1.0 if is_late else 0.0)


def test_groups_take_half_of_the_time_and_leave_the_rest_to_em(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = rows(1)
    needs = Deletion("factored").plan(ASIA, Held(table).look()).needs()
    now, grouped = [0.0], statistics.count_in_groups

    def in_a_second(**given: Any) -> Any:
        now[0] += 1
        return grouped(**given)

    monkeypatch.setattr(statistics, "count_in_groups", in_a_second)
    parts = {(asked.given, asked.hidden, asked.whole) for asked in needs.groupings}
    assert len(parts) > 2
    enough, half = (Deadline(at, clock=lambda: now[0]) for at in (2.0 * len(parts), 4.0))
    all_of_them = gather(Gathering(needs, ASIA, enough), [table])
    assert set(all_of_them.reduced) == {asked.family for asked in needs.groupings}
    now[0] = 0.0
    gather(Gathering(needs, ASIA, half), [table])
    assert now[0] == 3.0  # the third was begun at half of the time


def test_a_family_that_one_part_did_not_reach_is_not_reached_by_the_sum() -> None:
    needs = Deletion("factored").plan(ASIA, Held(rows(1)).look()).needs()
    early = gather(Gathering(needs, ASIA), [rows(1)])
    late = gather(Gathering(needs, ASIA, LONG_AGO), [rows(2)])
    assert early.reduced
    assert not (early + late).reduced
    assert not (late + early).reduced


def test_families_that_a_later_reading_does_not_reach_say_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("lacunet.counts.observations.HELD_SHARE", np.inf)
    monkeypatch.setattr("lacunet.counts.streaming.GROUPS_SHARE", 2**40)
    pairs = lc.Network(
        dict.fromkeys("AXBY", ("no", "yes")), {"A": (), "X": ("A",), "B": (), "Y": ("B",)}
    )
    rng, file = np.random.default_rng(4), tmp_path / "rows.csv"
    cells = rng.integers(0, [2, 3, 2, 3], (200, 4))  # of X and Y some are missing
    lines = [",".join(["no", "yes", ""][code] for code in row) for row in cells]
    file.write_text("\n".join(["A,X,B,Y", *lines]))
    form = Deletion(
        "factored", missingness=lc.MissingnessGraph.parse("A -> R[X]; B -> R[Y]", pairs)
    )
    late = Setting(1.0, deadline=LONG_AGO)
    held = carry_out(form.plan(pairs, Look(("X", "Y"))), Held(read_table(file, pairs)), late)
    with observations(lc.Data(file), pairs, 2**30) as streamed:
        assert isinstance(streamed, Streamed)
        plan = form.plan(pairs, streamed.look())
        assert len(passes(Gathering(plan.needs(), pairs), 2**-10)) == 2
        found = carry_out(plan, streamed, late)
    for name, mass in {"A": 0.0, "X": 1.0, "B": 0.0, "Y": 1.0}.items():
        assert found.families[name].fallback_mass == held.families[name].fallback_mass == mass
        np.testing.assert_allclose(found.cpt(name).table, held.cpt(name).table, rtol=1e-12)


@pytest.mark.parametrize("method", ["em", "auto"])
def test_a_method_whose_time_is_up_says_so_and_still_answers(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lacunet.counts.gather.GRACE", 0.0)
    with pytest.warns(LacunetWarning, match="missing completely at random"):
        result = lc.learn(ASIA, rows(3), method, time_limit=1e-9)
    assert result.ended is not None
    assert (result.ended.reason, result.ended.stands) == ("time limit", "factored-mcar")
    assert result.assumption == "values are missing completely at random"  # no step made it weaker
    assert any("EM made no iteration" in note for note in result.notes)
    for name in ASIA.variables:
        np.testing.assert_allclose(result.network.cpt(name).table.sum(axis=-1), 1.0)


def test_the_clock_of_a_limit_starts_before_the_rows_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = []

    def watched(plan: Plan, statistics: Statistics, setting: Setting) -> Learned:
        seen.append(setting.deadline.moment)
        return run(plan, statistics, setting)

    monkeypatch.setattr("lacunet.learning.learn.run", watched)
    kept = SECONDS_TO_REPORT * len(ASIA.variables)  # of the limit, for what comes after EM
    before = monotonic()
    lc.learn(ASIA, rows(3), "em", time_limit=100.0)
    assert before <= seen[0] + kept - 100 <= monotonic()


@pytest.mark.filterwarnings("ignore:EM made no iteration")
@pytest.mark.parametrize("method", ["em", "auto"])
def test_nothing_is_prepared_for_em_once_its_time_is_up(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, closed = [0.0], forms.JointEstimate

    def an_hour_later(*given: Any, **said: Any) -> Any:
        now[0] += 3600
        return closed(*given, **said)

    def too_late(*given: Any, **said: Any) -> Any:
        raise AssertionError("prepared in vain")

    monkeypatch.setattr(forms, "JointEstimate", an_hour_later)
    monkeypatch.setattr(em_stage, "engine_of", too_late)
    with timed_by(lambda: now[0]):
        result = lc.learn(ASIA, rows(3), method, time_limit=600.0)
    assert now[0] > 600
    assert result.ended is not None
    assert result.ended.reason == "time limit"


def test_compiling_stops_between_its_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    now, patterns_of = [0.0], compiled.patterns_of

    def in_a_minute(table: EncodedTable) -> Any:
        now[0] += 60
        return patterns_of(table)

    def too_late(*given: Any) -> Any:
        raise AssertionError("the time was up")

    monkeypatch.setattr(compiled, "patterns_of", in_a_minute)
    monkeypatch.setattr(compiled, "components_of", too_late)
    limit = Deadline(30.0, lambda: now[0])
    with pytest.raises(OutOfTimeError):
        compiled.compile_problems(ASIA, rows(1), deadline=limit)


@pytest.mark.filterwarnings("ignore:EM made no iteration")
def test_em_takes_the_prior_that_its_start_has_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    learned, times = pseudo_counts.learn_pseudo_counts, [0]

    def once_more(*given: Any, **said: Any) -> Any:
        times[0] += 1
        return learned(*given, **said)

    monkeypatch.setattr(pseudo_counts, "learn_pseudo_counts", once_more)
    monkeypatch.setattr(em_stage, "engine_of", lambda **_: (_ for _ in ()).throw(OutOfTimeError))
    lc.learn(ASIA, rows(3), "em", pseudo_counts="learn", time_limit=600.0)
    assert times[0] == 1


@pytest.mark.filterwarnings("ignore:EM made no iteration")
@pytest.mark.parametrize(
    "options",
    [
        {"time_limit": 1e-9},
        {"max_iterations": 0},
        {
            "max_iterations": 0,
            "missingness": "; ".join(["smoke -> R[dysp]", *map("R[{}]".format, MISSED)]),
        },
    ],
)
def test_em_without_a_step_says_what_it_would_have_started_from(options: dict[str, Any]) -> None:
    explained = lc.explain(ASIA, rows(1), "em", **options)
    result = lc.learn(ASIA, rows(1), "em", pseudo_counts=1.0, **options)
    assert result.ended is not None
    assert not result.ended.iterations
    assert ("EM makes no step" in str(explained)) == ("time_limit" in options)  # else it is certain
    assert ("(EM)" in str(explained)) == ("time_limit" in options)
    assert not any("(EM)" in report.estimand for report in result.families.values())
    assert "before its first iteration" in result.methods_text()
    assert "maximise" not in result.methods_text()


def test_a_prior_that_there_was_no_time_to_learn_is_not_called_learned() -> None:
    result = lc.learn(ASIA, rows(1), "em")
    assert isinstance(result.pseudo_counts, pseudo_counts.PseudoCounts)
    assert "were learned from the counts" in result.methods_text()
    kept = replace(result, pseudo_counts=result.pseudo_counts.keeping(ASIA.variables))
    assert "learned from the counts" not in kept.methods_text()
    assert "added one pseudo-count to each cell" in kept.methods_text()


def lattice(width: int, *, states: int = 2, rng: np.random.Generator) -> lc.Network:
    """A grid of variables, each with the one above and the one on its left as parents."""
    names = {(i, j): f"V{i}_{j}" for i in range(width) for j in range(width)}
    parents = {
        name: [names[near] for near in ((i - 1, j), (i, j - 1)) if near in names]
        for (i, j), name in names.items()
    }
    tables = {
        name: rng.dirichlet(np.ones(states), [states] * len(above))
        for name, above in parents.items()
    }
    return lc.Network(
        {name: [*map(str, range(states))] for name in names.values()}, parents, tables
    )


class Watch:
    """A clock that counts how often it is looked at, and stops at a number of looks."""

    def __init__(self) -> None:
        self.looks = 0

    def __call__(self) -> float:
        self.looks += 1
        return float(self.looks)


@pytest.mark.parametrize("looks", [3, 20, 80])
def test_planning_stops_as_soon_as_its_time_is_up(looks: int) -> None:
    rng = np.random.default_rng(23)
    network = lattice(14, rng=rng)
    table = lc.simulate(network, 6, lc.MCAR(0.97), rng=5).table
    problems = compiled.compile_problems(network, table)
    watch = Watch()
    with pytest.raises(OutOfTimeError):
        plan_of(problems, 2.0**32, deadline=Deadline(looks, watch))
    assert watch.looks == looks + 1
    rarely = Watch()  # it is looked at all along: no part of the work takes long in between
    began, gaps = process_time(), [0.0]

    def timed() -> float:
        nonlocal began
        now = process_time()
        gaps.append(now - began)
        began = now
        return rarely()

    with pytest.raises(OutOfTimeError):
        plan_of(problems, 2.0**32, deadline=Deadline(looks, timed))
    assert max(gaps) < 0.5


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:EM made no iteration")
@pytest.mark.parametrize(("width", "share", "limit"), [(20, 0.8, 4), (25, 0.9, 6), (32, 0.5, 10)])
def test_em_on_a_grid_keeps_its_time_limit(width: int, share: float, limit: float) -> None:
    rng = np.random.default_rng(width)
    network = lattice(width, rng=rng)
    rows = lc.simulate(network, 400, lc.MCAR(share, share=share), rng=9).table
    for inference, intervals in product(("exact", "bp"), (False, True)):
        method, began = lc.EM(time_limit=limit, inference=inference), process_time()
        with timed_by(process_time):
            lc.learn(network.with_tables(None), rows, method, rng=4, intervals=intervals)
        assert process_time() - began < limit + max(1.0, 0.1 * limit)


def test_explaining_em_keeps_its_time_limit_too() -> None:
    network = lattice(14, rng=np.random.default_rng(14))
    table = lc.simulate(network, 200, lc.MCAR(0.9, share=0.9), rng=9).table
    clock = Watch()  # a second for each look at it
    with timed_by(lambda: float(clock())):
        plan = lc.explain(network.with_tables(None), table, "em", time_limit=100.0)
    assert plan.expectation is None
    assert clock.looks < 200


@pytest.mark.filterwarnings("ignore:EM made no iteration")
@pytest.mark.parametrize("method", ["em", "em-bp", "auto"])
def test_intervals_of_what_made_no_step_in_its_time_are_left_out(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_late(*_: object) -> None:
        raise AssertionError("an expectation is planned")

    monkeypatch.setattr(em_stage, "engine_of", too_late)
    result = lc.learn(ASIA, rows(3), method, time_limit=1e-9, intervals=True)
    assert result.ended is not None
    assert not result.ended.iterations
    assert result.uncertainty is None


def test_the_first_part_of_intervals_takes_a_step_there_and_back_or_a_fit() -> None:
    ended = Ended("converged", 10, 4.0, 0.0, 0.0, (), starts=(1.0, 1.0))
    learned = Learned({}, {}, ended=ended)
    assert seconds_of_part(RATE_MATRIX, learned) == 2 * 4.0 / 20
    assert seconds_of_part(JACKKNIFE, learned) == 4.0
    assert seconds_of_part(JACKKNIFE, Learned({}, {})) == 0.0


def test_without_a_time_limit_intervals_take_their_time_after_the_usual_one_of_auto() -> None:
    now = [0.0]

    def slowly(stage: str, done: float, total: float | None, note: str = "") -> None:
        now[0] += 100 * (stage == "em") + 1000 * (stage == "intervals")

    with timed_by(lambda: now[0]):
        result = lc.learn(ASIA, rows(3), intervals=True, progress=slowly)
    assert result.ended is not None
    assert result.ended.reason == "time limit"
    assert now[0] > 2000
    assert result.uncertainty is not None


def test_numbers_of_classes_share_a_time_limit() -> None:
    now, stages = [0.0], []

    def slowly(stage: str, done: float, total: float | None, note: str = "") -> None:
        now[0] += 10 * (stage == "em")
        stages.append(stage)

    frame = lc.simulate(ASIA, 300, rng=2).to_frame()[["smoke", "bronc", "dysp", "xray"]]
    data = lc.Data(frame, latent={"Class": range(2, 6)})
    edges = "; ".join(f"Class -> {name}" for name in frame)
    with timed_by(lambda: now[0]):
        result = lc.learn(edges, data, "em", time_limit=400.0, progress=slowly)
    assert result.alternatives is not None
    assert len(result.alternatives.fits) == 4
    assert 300 < now[0] <= 440


def many_mechanisms() -> MissingnessGraph:
    """All of Alarm is incomplete: each mechanism has two causes, and every third another one."""
    alarm = lc.example("alarm")
    rng, names = np.random.default_rng(5), list(alarm.variables)
    lines = []
    for number, name in enumerate(names):
        others = [other for other in names if other != name]
        lines += [f"{cause} -> R[{name}]" for cause in rng.choice(others, 2, replace=False)]
        if number % 3 == 2:
            lines.append(f"R[{names[number - 1]}] -> R[{name}]")
    return MissingnessGraph.parse("; ".join(lines), alarm)


@pytest.mark.parametrize("looks", [100, 2000])
def test_deciding_what_a_graph_recovers_stops_as_soon_as_its_time_is_up(looks: int) -> None:
    graph, watch = many_mechanisms(), Watch()
    verdicts = recover_families(graph, deadline=Deadline(looks, watch))
    late = [verdict for verdict in verdicts.values() if verdict.is_cut_short]
    assert len(late) >= 30
    assert {verdict.status for verdict in late} == {"undecided"}
    assert not any(verdict.generic for verdict in late)
    assert watch.looks <= looks + 2 * len(verdicts)  # each of the others looks at it
    unlimited = recover_families(graph, effort=0.01)
    assert not any(verdict.is_cut_short for verdict in unlimited.values())


@pytest.mark.slow
@pytest.mark.parametrize("intervals", [False, True])
def test_em_on_a_graph_keeps_its_time_limit(*, intervals: bool) -> None:
    graph, limit = many_mechanisms(), 2.0
    rows = lc.simulate(lc.example("alarm"), 2000, lc.MCAR(0.2), rng=4).table
    began = process_time()
    with timed_by(process_time):
        result = lc.learn(
            graph.network, rows, "em", missingness=graph, time_limit=limit, intervals=intervals
        )
    assert process_time() - began < limit + 1.0
    assert result.mechanisms


def test_a_network_is_not_lost_where_its_intervals_take_too_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def too_large(*_: object) -> object:
        raise OverBudgetError.component(["A", "B"], 1.0)

    table = rows(2)
    plain = lc.learn(ASIA, table, "direct-mar")
    monkeypatch.setattr(learning.Fitted, "uncertainty", too_large)
    result = lc.learn(ASIA, table, "direct-mar", intervals=True)
    assert result.uncertainty is None
    (note,) = set(result.notes) - set(plain.notes)
    assert "intervals were left out" in note
    for name in ASIA.variables:
        np.testing.assert_array_equal(result.network.cpt(name).table, plain.network.cpt(name).table)
