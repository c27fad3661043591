"""What EM promises: it climbs, it stops as asked, it says how, and it gives the same bits."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lacunet as lc
from enumeration import enumerated
from examples import APPENDIX, TWINS, appendix_table, twins_with
from golden import golden
from lacunet.ask.evaluate import kl_divergence
from lacunet.counts.em_problems.cell_layout import layout_of
from lacunet.counts.em_problems.compile import compile_problems
from lacunet.data.table import EncodedTable
from lacunet.inference.engine import Engine, engine_of
from lacunet.inference.errors import ImpossibleDataError
from lacunet.learning.cpt_rows import CptRows
from lacunet.learning.cpts import posterior_mode
from lacunet.learning.em.em import EM
from lacunet.learning.em.iterations import Aim, Climb, Limits, Step, climb, extrapolated
from lacunet.learning.em.restarts import Fitting, Seeds
from lacunet.learning.em.start import maximise, random_cells
from lacunet.learning.learn import learn
from lacunet.learning.plan import (
    Ended,
    Learned,
    MethodError,
    UsedPseudoCounts,
    count_agreeing_starts,
)
from lacunet.limits import OutOfTimeError
from lacunet.network.catalogue import example
from lacunet.network.network import FloatArray, Network
from lacunet.simulation.at_random import MAR
from lacunet.simulation.simulate import simulate
from road import Task, learned_by
from strategies import networks, tables


def task(pseudo_counts: float = 1.0, seed: int = 0) -> Task:
    return Task(APPENDIX, appendix_table(), pseudo_counts, np.random.default_rng(seed))


def steps(number: int, **options: Any) -> EM:
    """So many plain steps from one start."""
    options |= {"max_iterations": number, "tolerance": 0.0, "accelerate": False, "restarts": 1}
    return EM(**options)


def ended(learned: Learned) -> Ended:
    assert learned.ended is not None
    return learned.ended


def same_bits(one: Learned, two: Learned) -> bool:
    return all(np.array_equal(one.tables[name], two.tables[name]) for name in one.tables)


@st.composite
def tables_with_latents(draw: st.DrawFn, network: Network) -> EncodedTable:
    table = draw(tables(network, weighted=draw(st.booleans())))
    latent = draw(st.sets(st.sampled_from(network.variables), max_size=2))
    columns = {
        name: np.full_like(column, network.cardinality(name)) if name in latent else column
        for name, column in table.columns.items()
    }
    return EncodedTable(table.cardinality_of, columns, table.weights)


def all_pseudo_counts(cells: int) -> st.SearchStrategy[UsedPseudoCounts]:
    """One number for all cells, or one for each."""
    each = st.integers(0, 99).map(
        lambda seed: np.random.default_rng(seed).choice([0, 0.1, 2], cells)
    )
    return st.one_of(st.sampled_from([0.0, 0.5, 1.0]), each)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_log_posterior_never_goes_down(data: st.DataObject) -> None:
    network = data.draw(networks())
    pseudo_counts = data.draw(all_pseudo_counts(layout_of(network.with_tables(None)).cells))
    table = data.draw(tables_with_latents(network))
    engine = engine_of(compile_problems(network, table), 2**30)
    start = random_cells(CptRows.of(engine.problems.layout), np.random.default_rng(0))
    for accelerate in (False, True):
        limits = Limits(1e-8, 60, accelerate=accelerate)
        trace = np.array(climb(engine, start, pseudo_counts, limits).trace)
        assert np.isfinite(trace).all()
        assert (np.diff(trace) >= -1e-10 * np.abs(trace[:-1]) - 1e-10).all()


def test_accelerated_em_ends_where_plain_em_does_in_a_quarter_of_the_expectations() -> None:
    case = golden("alarm-mar")
    plain, fast = (
        learned_by(
            EM(tolerance=1e-7, max_iterations=5000, restarts=1, accelerate=accelerate),
            Task(case.network, case.table, 1.0),
        )
        for accelerate in (False, True)
    )
    assert ended(fast).iterations < ended(plain).iterations / 4
    for name, table in plain.tables.items():
        np.testing.assert_allclose(fast.tables[name], table, atol=1e-4)


def test_along_a_ridge_accelerated_em_takes_a_tenth_of_the_expectations() -> None:
    # Two effects of a hidden cause: many CPTs say the same, and plain EM creeps along them.
    network = Network({name: ["0", "1"] for name in "HAB"}, {"A": ["H"], "B": ["H"]})
    codes = np.array([[0, 0]] * 40 + [[0, 1]] * 25 + [[1, 0]] * 20 + [[1, 1]] * 60, np.uint8)
    columns = {"H": np.full(len(codes), 2, np.uint8), "A": codes[:, 0], "B": codes[:, 1]}
    table = EncodedTable(dict.fromkeys("HAB", 2), columns)
    engine = engine_of(compile_problems(network, table), 2**30)
    starts = [
        random_cells(CptRows.of(engine.problems.layout), np.random.default_rng(s)) for s in range(8)
    ]
    plain, fast = (
        [climb(engine, start, 1.0, Limits(1e-7, 20_000, accelerate=accelerate)) for start in starts]
        for accelerate in (False, True)
    )
    assert {found.reason for found in [*plain, *fast]} == {"converged"}
    assert sum(x.iterations for x in fast) < sum(x.iterations for x in plain) / 10


def test_an_extrapolation_goes_where_geometric_series_of_steps_end() -> None:
    # Logarithms of odds shrink to a half with each step in one CPT row, to a tenth in the other.
    rows = CptRows(np.array([0, 2]), np.array([2, 2]))

    def cells(one: float, two: float) -> FloatArray:
        return 1 / (1 + np.exp(-np.array([one, -one, two, -two])))

    past = [
        Step.between(cells(one, two), cells(one / 2, two / 10))
        for one, two in ((8e-3, 9e-3), (4e-3, 5e-3), (3e-3, 1e-3))
    ]
    found, _ = extrapolated(Aim.of(past, np.ones(4)), rows, 100.0)
    np.testing.assert_allclose(found, [0.5, 0.5, 0.5, 0.5], atol=1e-5)
    found, length = extrapolated(Aim.of(past[:2], np.array([1.0, 1.0, 0.0, 0.0])), rows, 100.0)
    np.testing.assert_allclose(found[:2], [0.5, 0.5], atol=1e-5)
    assert length == pytest.approx(2.0, rel=1e-2)


def test_where_steps_become_longer_an_extrapolation_goes_on_and_not_back() -> None:
    # Logarithms of odds grow by a tenth: towards zero lies the saddle that EM is leaving.
    rows = CptRows(np.array([0]), np.array([2]))
    one, two, three = (1 / (1 + np.exp(-np.array([x, -x]))) for x in (1e-3, 1.1e-3, 1.21e-3))
    past = [Step.between(one, two), Step.between(two, three)]
    for longest, expected in ((4.0, 4.0), (100.0, 10.0)):
        found, length = extrapolated(Aim.of(past, np.ones(2)), rows, longest)
        assert length == pytest.approx(expected, rel=1e-2)
        assert found[0] > three[0]


def test_an_extrapolation_leaves_zeros_alone() -> None:
    rows = CptRows(np.array([0]), np.array([3]))
    one, two, three = (np.array([0.0, x, 1 - x]) for x in (0.2, 0.3, 0.35))
    past = [Step.between(one, two), Step.between(two, three)]
    found, _ = extrapolated(Aim.of(past, np.ones(3)), rows, 100.0)
    assert found[0] == 0
    assert found.sum() == pytest.approx(1)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_one_step_is_one_enumerated_expectation_from_the_seed(data: st.DataObject) -> None:
    network = data.draw(networks(max_variables=4))
    smooth = {cpt.child: 0.8 * cpt.table + 0.2 / cpt.table.shape[-1] for cpt in network.cpts}
    seed = network.with_tables(smooth)
    table = data.draw(tables_with_latents(network))
    learned = learned_by(steps(1, start=seed), Task(network, table, 1.0))
    counts, log_likelihood = enumerated(seed, table.scaled())
    for name, own in counts.items():
        expected, _ = posterior_mode(own, 1, 1.0)
        np.testing.assert_allclose(learned.tables[name], expected, rtol=1e-10)
    log_prior = sum(np.log(cpt.table).sum() for cpt in seed.cpts)
    np.testing.assert_allclose(ended(learned).trace[0], log_likelihood + log_prior)
    assert (ended(learned).reason, ended(learned).iterations) == ("iteration limit", 1)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_maximising_all_families_at_once_is_the_posterior_mode_of_each(
    data: st.DataObject,
) -> None:
    network = data.draw(networks())
    layout = layout_of(network.with_tables(None))
    pseudo_counts = data.draw(all_pseudo_counts(layout.cells))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    counts = rng.integers(0, 3, layout.cells).astype(float)
    found = layout.tables(maximise(counts, CptRows.of(layout), pseudo_counts))
    pseudo_of = layout.tables(np.broadcast_to(pseudo_counts, layout.cells))
    for name, own in layout.tables(counts).items():
        expected, _ = posterior_mode(own, 1, pseudo_of[name])
        np.testing.assert_allclose(found[name], expected, rtol=1e-12)


def test_em_on_the_appendix_table_converges_and_says_so() -> None:
    learned = learned_by(EM(), task())
    assert ended(learned).reason == "converged"
    assert ended(learned).log_posterior == ended(learned).trace[-1]
    plain = ended(learned_by(EM(accelerate=False), task()))
    assert len(plain.trace) == plain.iterations + 1
    report = learned.families["Y"]
    assert (report.rows_shown, report.rows_used, report.effective_size) == (16, 36, None)


def test_an_iteration_limit_is_named() -> None:
    learned = learned_by(EM(tolerance=0.0, max_iterations=3, restarts=1), task())
    assert (ended(learned).reason, ended(learned).iterations) == ("iteration limit", 3)


def test_no_steps_give_the_seed_itself() -> None:
    seed = learned_by(steps(2), task())
    again = learned_by(EM(start=APPENDIX.with_tables(seed.tables), max_iterations=0), task())
    assert same_bits(seed, again)
    assert ended(again).trace == (ended(seed).trace[-1],)


def test_steps_from_a_network_go_on_where_it_stopped() -> None:
    two = learned_by(steps(2), task())
    three = learned_by(steps(3), task())
    assert same_bits(three, learned_by(steps(1, start=APPENDIX.with_tables(two.tables)), task()))


def multimodal() -> tuple[Network, EncodedTable]:
    """A mixture of two classes that no row shows: the closed form knows nothing of them."""
    network = Network({name: ["0", "1"] for name in "HABC"}, {name: ["H"] for name in "ABC"})
    rng = np.random.default_rng(4)
    state = rng.integers(0, 2, 400)
    columns = {
        name: np.where(rng.random(400) < 0.85, state, 1 - state).astype(np.uint8) for name in "ABC"
    }
    columns["H"] = np.full(400, 2, dtype=np.uint8)
    return network, EncodedTable(dict.fromkeys("HABC", 2), columns)


def test_of_several_starts_the_best_posterior_is_kept_and_told() -> None:
    network, table = multimodal()
    engine = engine_of(compile_problems(network, table), 2**30)
    rows = CptRows.of(engine.problems.layout)
    tie = np.full(engine.problems.layout.cells, 0.5)  # EM never leaves it by itself
    one, ten = (
        Fitting(engine, 2.0, EM(restarts=restarts), np.random.default_rng(0)).fit(Seeds(tie))
        for restarts in (1, 10)
    )
    assert one.starts == (one.climb.log_posterior,)
    assert len(ten.starts) == 10
    assert max(ten.starts) == pytest.approx(ten.climb.log_posterior, abs=0.1)
    assert ten.climb.log_posterior > one.climb.log_posterior + 100
    assert 2 <= count_agreeing_starts(ten.starts) < 10  # those that broke the tie
    assert rows.normalised(ten.climb.cells) == pytest.approx(ten.climb.cells)


def test_a_closed_form_that_leads_to_a_bad_optimum_is_left_for_a_better_start() -> None:
    # The paper's first setting; EM from the closed form alone ends 13.5 nats below the optimum.
    truth = example("fire-alarm")
    drawn = simulate(
        truth, 1000, MAR(share=0.3, parents=2, beta=(1.0, 0.5)), rng=np.random.default_rng(405)
    )
    problem = Task(truth, drawn.table, 1.0)
    alone = learned_by(EM(restarts=1), problem)
    learned = learned_by(EM(), problem)
    assert ended(learned).log_posterior > ended(alone).log_posterior + 13
    assert re.search(r"would have ended [\d.]+ lower", ended(learned).notes[-1])
    assert kl_divergence(truth, truth.with_tables(alone.tables)) > 8
    assert kl_divergence(truth, truth.with_tables(learned.tables)) < 0.01


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_optima_that_the_data_hardly_tell_apart_are_told_and_in_the_intervals(seed: int) -> None:
    # One row for each state of H, else alike: nothing says which state is which.
    rows, rng = twins_with([0, 1]), np.random.default_rng(seed)
    result = learn(TWINS, rows, EM("random", restarts=10), pseudo_counts=1, rng=rng, intervals=True)
    truth = {name: TWINS.cpt(name).table for name in "ABC"}
    for name, table in truth.items():
        assert any("another start" in text for text in result.families[name].warnings)
        low, high = np.moveaxis(result.interval(name), -1, 0)
        for optimum in (table, table[::-1]):  # with the states of H in either order
            assert ((low <= optimum) & (optimum <= high)).all()
        assert (result.standard_error(name) > 0.7).all()
    answer = result.query("A", {"H": "0"})
    np.testing.assert_allclose(answer.interval, result.interval("A")[0], atol=1e-9)


@pytest.mark.parametrize("shown", [[], [0, 0, 0, 0]], ids=["never shown", "told by few rows"])
@pytest.mark.parametrize("start", ["factored-mar", "random"])
def test_another_order_of_states_is_no_other_optimum(shown: list[int], start: str) -> None:
    problem = Task(TWINS, twins_with(shown), 2.0)
    learned = learned_by(EM(start, restarts=10), problem)
    assert not learned.others
    assert np.abs(np.diff(learned.tables["A"], axis=0)).min() > 0.7


def test_a_restart_redraws_only_what_hidden_variables_touch() -> None:
    network = Network({name: ["0", "1"] for name in "HAXY"}, {"A": ["H"], "Y": ["X"]})
    columns = {name: np.array([0, 1, 1], np.uint8) for name in "AXY"}
    columns["H"] = np.full(3, 2, dtype=np.uint8)
    table = EncodedTable(dict.fromkeys("HAXY", 2), columns)
    starts = learned_by(EM(max_iterations=0, restarts=3), Task(network, table, 1.0))
    for name in "XY":  # as the closed form gives them
        closed = learned_by(EM(max_iterations=0, restarts=1), Task(network, table, 1.0))
        np.testing.assert_array_equal(starts.tables[name], closed.tables[name])


def test_the_result_says_how_many_starts_agreed_or_that_one_was_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (note,) = ended(learned_by(EM(), task())).notes
    assert note.startswith("3 starts were made, 3 of them ")
    assert note.endswith(" ended within 0.1 of the best log-posterior")
    monkeypatch.setattr("lacunet.learning.em.restarts.STARTS_UP_TO", ())
    (note,) = ended(learned_by(EM(), task())).notes
    assert note.startswith("only one start was made, since an iteration is expensive")
    *_, note = ended(learned_by(EM(inference="bp"), task())).notes
    assert note.startswith("only one start was made, since loopy belief propagation is used")


def test_where_no_row_shows_a_variable_three_starts_are_made_however_long_they_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lacunet.learning.em.restarts.STARTS_UP_TO", ())
    monkeypatch.setattr("lacunet.learning.em.restarts.STARTS_OF_HIDDEN_UP_TO", ())
    edges = "; ".join(f"H -> {name}" for name in "ABCDEFG")
    rows = lc.Data(lc.example_data("carcinoma"), latent={"H": 4})
    result = lc.learn(edges, rows)
    assert result.ended is not None
    assert len(result.ended.starts) == 3


def test_the_same_seed_data_and_options_give_the_same_bits() -> None:
    case = golden("alarm-mar")
    runs = [
        learned_by(EM(), Task(case.network, case.table, 1.0, np.random.default_rng(3)))
        for _ in range(2)
    ]
    assert same_bits(*runs)
    assert ended(runs[0]).trace == ended(runs[1]).trace


def test_out_of_time_before_the_first_expectation_gives_the_seed() -> None:
    seed = learned_by(steps(2), task())
    start = APPENDIX.with_tables(seed.tables)
    learned = learned_by(EM(start=start, time_limit=0.0), task())
    assert same_bits(seed, learned)
    assert ended(learned).reason == "time limit"
    assert np.isnan(ended(learned).log_posterior)


def interrupted_after(expectations: int, error: type[BaseException]):  # type: ignore[no-untyped-def]
    expect = Engine.expect
    done = 0

    def patched(self, cells, *_):  # type: ignore[no-untyped-def]
        nonlocal done
        done += 1
        if done > expectations:
            raise error
        return expect(self, cells)

    return patched


@pytest.mark.parametrize(
    ("error", "reason"),
    [(KeyboardInterrupt, "interrupted"), (OutOfTimeError, "time limit")],
)
def test_cut_short_the_best_so_far_is_returned(
    monkeypatch: pytest.MonkeyPatch, error: type[BaseException], reason: str
) -> None:
    three = learned_by(steps(3), task())
    monkeypatch.setattr(Engine, "expect", interrupted_after(4, error))
    learned = learned_by(EM(tolerance=0.0, accelerate=False), task())
    assert ended(learned).reason == reason
    assert same_bits(learned, three)  # four expectations: that of the seed, and of three steps
    np.testing.assert_allclose(ended(learned).trace, ended(three).trace, rtol=1e-12)


def test_interrupted_restarts_return_the_best_of_those_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Engine, "expect", interrupted_after(2, KeyboardInterrupt))
    learned = learned_by(EM(start="random", max_iterations=1, restarts=5), task())
    assert ended(learned).reason == "interrupted"
    assert np.isfinite(ended(learned).log_posterior)


def test_a_seed_that_rules_out_a_row_is_refused_with_the_row() -> None:
    network = Network({"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]})
    seed = network.with_tables({"A": [1.0, 0.0], "B": [[1.0, 0.0], [0.5, 0.5]]})
    columns = {"A": np.array([2], np.uint8), "B": np.array([1], np.uint8)}
    table = EncodedTable({"A": 2, "B": 2}, columns)
    with pytest.raises(ImpossibleDataError, match=r"miss \['A'\] and show B=1"):
        learned_by(EM(start=seed), Task(network, table, 1.0))


def test_a_seed_of_another_structure_is_refused() -> None:
    other = Network({name: ["0", "1"] for name in "XYWZ"})
    with pytest.raises(MethodError, match="structure must be the same"):
        learned_by(EM(start=other), task())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"restarts": 0}, "restarts is 0, but must be at least 1"),
        ({"tolerance": float("nan")}, "tolerance is nan"),
        ({"time_limit": -1.0}, "time_limit is -1.0"),
        (
            {"time_limit": "1 minute"},
            "must be a number, at least 0.\nHint: time_limit: time limit in seconds",
        ),
        ({"inference": "guess"}, "inference is 'guess'"),
    ],
)
def test_options_out_of_range_are_refused(options: dict, message: str) -> None:
    with pytest.raises(MethodError, match=message):
        EM(**options)


def test_maximum_likelihood_without_a_step_says_that_pseudo_counts_are_kept() -> None:
    rows = {"A": ["x"] * 6 + ["y"] * 2, "B": ["u", "v"] * 3 + ["u", None]}
    result = learn("A -> B", rows, "em", pseudo_counts=0, max_iterations=0)
    np.testing.assert_allclose(result.cpt("A").table, [7 / 10, 3 / 10])  # one pseudo-count each
    assert result.ended is not None
    assert any("hold one pseudo-count per cell" in note for note in result.ended.notes)


def test_maximum_likelihood_starts_from_a_smoothed_seed_and_says_so() -> None:
    learned = learned_by(EM(), task(pseudo_counts=0.0))
    assert any("smoothed" in note for note in ended(learned).notes)


def test_em_bp_names_the_families_it_touched() -> None:
    learned = learned_by(EM(inference="bp"), task())
    touched = {name for name, report in learned.families.items() if report.warnings}
    assert touched == {"X", "Y"}
    assert "loopy belief propagation touched 2 families" in ended(learned).notes


def test_a_component_beyond_the_budget_is_loopy_and_the_result_says_so() -> None:
    # {X} has 2 states, 64 bytes hold 1. (Y is barren wherever it is missing.)
    learned = learned_by(EM(restarts=1), replace(task(), memory=64))
    assert ended(learned).notes == ("loopy belief propagation touched 2 families",)
    exact = learned_by(EM(restarts=1), task())
    assert ended(exact).notes == ()
    np.testing.assert_allclose(  # a tree: loopy propagation is exact up to its tolerance
        learned.tables["Y"], exact.tables["Y"], atol=1e-3
    )


def test_progress_tells_iteration_and_log_posterior() -> None:
    told: list[tuple[str, float, float | None, str]] = []

    def listen(stage: str, done: float, total: float | None, note: str = "") -> None:
        told.append((stage, done, total, note))

    learned = learned_by(EM(restarts=1, accelerate=False), replace(task(), progress=listen))
    climbs = [item for item in told if item[0] == "em"]
    assert [item[1] for item in climbs] == list(range(ended(learned).iterations + 1))
    assert f"log-posterior {ended(learned).log_posterior:,.4f}" in climbs[-1][3]


def test_a_visitor_sees_every_start_and_every_iteration() -> None:
    seen: list[Climb] = []
    found = ended(learned_by(EM(restarts=2, visit=seen.append), task()))
    starts = [at for at in seen if not at.iterations]
    assert len(starts) == len(found.starts) == 2
    finals = [at.log_posterior for at in seen if at.reason]
    assert max(finals) == found.log_posterior


def test_restarts_of_a_random_start_are_random() -> None:
    seen: list[Climb] = []
    em = EM(start="random", restarts=4, max_iterations=0, visit=seen.append)
    learned_by(em, task(seed=5))
    rows, rng = CptRows.of(layout_of(APPENDIX)), np.random.default_rng(5)
    assert len(seen) == 4
    for at in seen:
        np.testing.assert_array_equal(at.cells, random_cells(rows, rng))


def test_a_start_near_the_optimum_is_left_if_many_rows_tell_it_from_there() -> None:
    # Replicates of a million rows start from where all rows ended: less than 1e-4 per step away,
    # and yet many standard errors.
    states = {name: ["0", "1"] for name in "AB"}
    rows = {"A": ["0", "1", "0", "1", None, None], "B": ["0", "0", "1", "1", "0", "1"]}
    counts = np.array([8.0, 12.0, 4.0, 6.0, 450.0, 520.0])
    network, data = lc.Network(states, {"B": ["A"]}), lc.Data(rows, counts=1e4 * counts)
    (end,) = (
        lc.learn(network, data, lc.EM(tolerance=1e-11, max_iterations=10**5), pseudo_counts=0),
    )
    near = end.network.with_tables(
        {name: end.cpt(name).table + 1e-3 * np.array([1, -1]) for name in network.variables}
    )
    found = lc.learn(network, data, lc.EM(start=near, restarts=1), pseudo_counts=0)
    for name in network.variables:
        np.testing.assert_allclose(found.cpt(name).table, end.cpt(name).table, atol=1e-4)


@pytest.mark.parametrize("options", [{"restarts": 2.5}, {"restarts": 2.0}, {"max_iterations": 1.5}])
def test_a_number_of_times_is_a_whole_number(options: dict[str, float]) -> None:
    with pytest.raises(MethodError, match="whole number"):
        EM(**options)  # type: ignore[arg-type]
