"""What EM promises: it climbs, it stops as asked, it says how, and it gives the same bits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enumeration import enumerated
from examples import APPENDIX, appendix_table
from golden import Golden, golden
from lacunet.data.table import EncodedTable
from lacunet.estimate.cpts import posterior_mode
from lacunet.estimate.em import method as em_module
from lacunet.estimate.em.heldout import Followed, is_settled, steps_supported
from lacunet.estimate.em.method import EM, LoopyEM, OneStep, followed_heldout
from lacunet.estimate.em.start import Rows, maximise
from lacunet.estimate.method import Ended, Learned, MethodError, Setting
from lacunet.inference.engine import Engine
from lacunet.inference.errors import ImpossibleDataError
from lacunet.inference.likelihood import observed_log_likelihood
from lacunet.model.network import Network
from lacunet.statistics.gather import gather, put_aside
from lacunet.statistics.problems.layout import layout_of
from learning import Task, learned_by
from strategies import networks, tables


def task(prior: float = 2.0, seed: int = 0) -> Task:
    return Task(APPENDIX, appendix_table(), prior, np.random.default_rng(seed))


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
    return EncodedTable.of(table.cardinality_of, columns, table.weights)


@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from([1.0, 1.5, 2.0]))
def test_the_log_posterior_never_goes_down(data: st.DataObject, prior: float) -> None:
    network = data.draw(networks())
    table = data.draw(tables_with_latents(network))
    learned = learned_by(
        EM(seed="random", tolerance=1e-8, max_iterations=60),
        Task(network, table, prior, np.random.default_rng(0)),
    )
    trace = np.array(ended(learned).trace)
    assert np.isfinite(trace).all()
    assert (np.diff(trace) >= -1e-10 * np.abs(trace[:-1]) - 1e-10).all()


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_one_step_is_one_enumerated_expectation_from_the_seed(data: st.DataObject) -> None:
    network = data.draw(networks(max_variables=4))
    smooth = {cpt.child: 0.8 * cpt.table + 0.2 / cpt.table.shape[-1] for cpt in network.cpts}
    seed = network.with_tables(smooth)
    table = data.draw(tables_with_latents(network))
    learned = learned_by(OneStep(seed=seed), Task(network, table, 2.0))
    counts, log_likelihood = enumerated(seed, table)
    for name, own in counts.items():
        expected, _ = posterior_mode(own, 1, 2.0)
        np.testing.assert_allclose(learned.tables[name], expected, rtol=1e-10)
    log_prior = sum(np.log(cpt.table).sum() for cpt in seed.cpts)
    np.testing.assert_allclose(ended(learned).trace[0], log_likelihood + log_prior)
    assert (ended(learned).reason, ended(learned).iterations) == ("steps done", 1)


@settings(max_examples=40, deadline=None)
@given(st.data(), st.sampled_from([1.0, 1.5, 2.0]))
def test_maximising_all_families_at_once_is_the_posterior_mode_of_each(
    data: st.DataObject, prior: float
) -> None:
    network = data.draw(networks())
    layout = layout_of(network.with_tables(None))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    counts = rng.integers(0, 3, layout.cells).astype(float)
    found = layout.tables(maximise(counts, Rows.of(layout), prior))
    for name, own in layout.tables(counts).items():
        np.testing.assert_allclose(found[name], posterior_mode(own, 1, prior)[0], rtol=1e-12)


def test_em_on_the_appendix_table_converges_and_says_so() -> None:
    learned = learned_by(EM(), task())
    assert ended(learned).reason == "converged"
    assert ended(learned).log_posterior == ended(learned).trace[-1]
    assert len(ended(learned).trace) == ended(learned).iterations + 1
    report = learned.families["Y"]
    assert (report.rows_shown, report.rows_used, report.effective_size) == (16, 36, None)


def test_an_iteration_limit_is_named() -> None:
    learned = learned_by(EM(tolerance=0.0, max_iterations=3), task())
    assert (ended(learned).reason, ended(learned).iterations) == ("iteration limit", 3)


def test_no_steps_give_the_seed_itself() -> None:
    seed = learned_by(EM(stop=2), task())
    again = learned_by(EM(seed=APPENDIX.with_tables(seed.tables), stop=0), task())
    assert same_bits(seed, again)
    assert ended(again).trace == (ended(seed).trace[-1],)


def test_steps_from_a_network_go_on_where_it_stopped() -> None:
    two = learned_by(EM(stop=2), task())
    three = learned_by(EM(stop=3), task())
    assert same_bits(three, learned_by(EM(seed=APPENDIX.with_tables(two.tables), stop=1), task()))


def test_of_several_starts_the_best_posterior_wins() -> None:
    # Few steps, so that starts end apart; one generator gives the starts one after the other.
    random = EM(seed="random", stop=3)
    one_generator = task(seed=9)
    each = [ended(learned_by(random, one_generator)).log_posterior for _ in range(6)]
    many = learned_by(replace(random, restarts=6), task(seed=9))
    assert len(set(each)) == 6
    assert max(each) > each[0]
    assert ended(many).log_posterior == max(each)


def test_the_same_seed_data_and_options_give_the_same_bits() -> None:
    case = golden("alarm-mar")
    runs = [
        learned_by(
            EM(stop="heldout"), Task(case.network, case.table, 2.0, np.random.default_rng(3))
        )
        for _ in range(2)
    ]
    assert same_bits(*runs)
    assert ended(runs[0]).trace == ended(runs[1]).trace
    assert ended(runs[0]).heldout == ended(runs[1]).heldout


def followed_rows(case: Golden, seed: int) -> Followed:
    method = EM(stop="heldout")
    plan = method.plan(case.network, case.table.partially_observed)
    chosen = int(np.random.default_rng(seed).integers(2**63))
    statistics = gather(plan.needs, case.network, [case.table], seed=chosen)
    return followed_heldout(method, plan, statistics, Setting())


def test_held_out_steps_are_those_that_the_curves_support() -> None:
    case = golden("asia-mar")
    one = Task(case.network, case.table, 2.0, np.random.default_rng(5))
    learned = learned_by(EM(stop="heldout"), one)
    followed = followed_rows(case, seed=5)
    steps = steps_supported(followed.heldout, followed.learned, followed.rows)
    assert followed.rows == round(0.2 * case.table.rows)
    assert ended(learned).reason == "held-out peak"
    assert ended(learned).iterations == steps
    assert ended(learned).heldout == tuple(followed.rows * value for value in followed.heldout)
    assert same_bits(learned, learned_by(EM(stop=steps), Task(case.network, case.table, 2.0)))


def test_the_held_out_curve_is_the_likelihood_of_the_rows_put_aside() -> None:
    case = golden("asia-mar")
    followed = followed_rows(case, seed=5)
    chosen = int(np.random.default_rng(5).integers(2**63))
    rest, aside = put_aside(case.table, 0.2, np.random.default_rng(chosen))
    for steps in (0, 1, 2):
        learned = learned_by(EM(stop=steps), Task(case.network, rest, 2.0))
        network = case.network.with_tables(learned.tables)
        np.testing.assert_allclose(
            followed.heldout[steps], observed_log_likelihood(network, aside) / aside.rows
        )
        np.testing.assert_allclose(
            followed.learned[steps], observed_log_likelihood(network, rest) / rest.rows
        )


@pytest.mark.parametrize(
    ("heldout", "learned", "steps"),
    [
        ([-9.0], [-9.0], 1),
        ([-9.0, -10.0], [-9.0, -8.0], 1),
        ([-9.0, -7.0, -6.0, -5.0], [-9.0, -7.0, -6.0, -5.0], 3),
        ([-9.0, -7.0, -6.0, -5.999, -5.0], [-9.0, -7.0, -6.0, -5.999, -5.0], 3),  # 0.01 nats
        ([-9.0, -7.0, -6.0, -6.001, -5.0], [-9.0, -7.0, -6.0, -6.1, -5.0], 2),
        ([-9.0, -7.0, -6.0, -5.8, -5.0], [-9.0, -7.0, -6.0, -5.0, -4.0], 2),  # 20% of the gain
        ([-9.0, -7.0, -np.inf, -6.0], [-9.0, -7.0, -6.0, -5.0], 1),
        ([-np.inf, -np.inf, -np.inf, -6.0], [-9.0, -7.0, -6.0, -5.0], 1),
    ],
)
def test_steps_go_on_while_they_gain_enough(
    heldout: list[float], learned: list[float], steps: int
) -> None:
    assert steps_supported(heldout, learned, 10) == steps


@given(st.lists(st.tuples(st.floats(-100, 0), st.floats(-100, 0)), min_size=1, max_size=8))
def test_once_settled_further_steps_change_nothing(curves: list[tuple[float, float]]) -> None:
    heldout, learned = [pair[0] for pair in curves], [pair[1] for pair in curves]
    for length in range(1, len(curves) + 1):
        if is_settled(heldout[:length], learned[:length], 10):
            assert steps_supported(heldout[:length], learned[:length], 10) == steps_supported(
                heldout, learned, 10
            )
            return
    assert steps_supported(heldout, learned, 10) == max(len(curves) - 1, 1)


def test_the_scale_of_the_weights_does_not_change_the_steps() -> None:
    case = golden("asia-mar")
    table = replace(case.table, weights=np.ones(case.table.rows))
    heavy = replace(case.table, weights=np.full(case.table.rows, 1000.0))
    curves = [
        ended(learned_by(EM(stop="heldout", seed="random"), Task(case.network, one, 1.0))).heldout
        for one in (table, heavy)
    ]
    np.testing.assert_allclose(curves[0], curves[1], rtol=1e-9)


def test_cut_short_while_following_rows_put_aside_the_others_are_the_best_so_far(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = golden("alarm-mcar")
    monkeypatch.setattr(Engine, "expect", interrupted_after(2, KeyboardInterrupt))
    learned = learned_by(EM(stop="heldout"), Task(case.network, case.table, 2.0))
    assert (ended(learned).reason, ended(learned).iterations) == ("interrupted", 1)


def test_one_row_cannot_be_put_aside() -> None:
    table = appendix_table().take(slice(0, 1))
    with pytest.raises(MethodError, match="too few"):
        learned_by(EM(stop="heldout"), Task(APPENDIX, table, 2.0))


def test_out_of_time_before_the_first_expectation_gives_the_seed() -> None:
    seed = learned_by(EM(stop=2), task())
    start = APPENDIX.with_tables(seed.tables)
    learned = learned_by(EM(seed=start, time_limit=0.0), task())
    assert same_bits(seed, learned)
    assert ended(learned).reason == "time limit"
    assert np.isnan(ended(learned).log_posterior)


def interrupted_after(expectations: int, error: type[BaseException]):  # type: ignore[no-untyped-def]
    expect = Engine.expect
    done = 0

    def patched(self, cells, deadline):  # type: ignore[no-untyped-def]
        nonlocal done
        done += 1
        if done > expectations:
            raise error
        return expect(self, cells, deadline)

    return patched


@pytest.mark.parametrize(
    ("error", "reason"),
    [(KeyboardInterrupt, "interrupted"), (em_module.OutOfTimeError, "time limit")],
)
def test_cut_short_the_best_so_far_is_returned(
    monkeypatch: pytest.MonkeyPatch, error: type[BaseException], reason: str
) -> None:
    three = learned_by(EM(stop=3), task())
    monkeypatch.setattr(Engine, "expect", interrupted_after(4, error))
    learned = learned_by(EM(tolerance=0.0), task())
    assert ended(learned).reason == reason
    assert same_bits(learned, three)  # four expectations: that of the seed, and of three steps
    np.testing.assert_allclose(ended(learned).trace, ended(three).trace, rtol=1e-12)


def test_interrupted_restarts_return_the_best_of_those_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Engine, "expect", interrupted_after(2, KeyboardInterrupt))
    learned = learned_by(EM(seed="random", stop=1, restarts=5), task())
    assert ended(learned).reason == "interrupted"
    assert np.isfinite(ended(learned).log_posterior)


def test_a_seed_that_rules_out_a_row_is_refused_with_the_row() -> None:
    network = Network({"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]})
    seed = network.with_tables({"A": [1.0, 0.0], "B": [[1.0, 0.0], [0.5, 0.5]]})
    columns = {"A": np.array([2], np.uint8), "B": np.array([1], np.uint8)}
    table = EncodedTable.of({"A": 2, "B": 2}, columns)
    with pytest.raises(ImpossibleDataError, match=r"miss \['A'\] and show B=1"):
        learned_by(EM(seed=seed), Task(network, table, 2.0))


def test_a_seed_of_another_structure_is_refused() -> None:
    other = Network({name: ["0", "1"] for name in "XYWZ"})
    with pytest.raises(MethodError, match="structure must be the same"):
        learned_by(EM(seed=other), task())


def test_an_unknown_way_to_stop_is_refused() -> None:
    with pytest.raises(MethodError, match="stop is 'soon'"):
        EM(stop="soon")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stop": -1}, "stop is -1"),
        ({"restarts": 0}, "restarts is 0, but must be at least 1"),
        ({"tolerance": float("nan")}, "tolerance is nan"),
        ({"time_limit": -1.0}, "time_limit is -1.0"),
        ({"heldout_share": 1.5}, "heldout_share is 1.5, but must be from 0.01 to 0.99"),
        ({"inference": "guess"}, "inference is 'guess'"),
    ],
)
def test_options_out_of_range_are_refused(options: dict, message: str) -> None:
    with pytest.raises(MethodError, match=message):
        EM(**options)


def test_maximum_likelihood_starts_from_a_smoothed_seed_and_says_so() -> None:
    learned = learned_by(EM(), task(prior=1.0))
    assert any("smoothed" in note for note in ended(learned).notes)


def test_em_bp_names_the_families_it_touched() -> None:
    learned = learned_by(LoopyEM(), task())
    touched = {name for name, report in learned.families.items() if report.warnings}
    assert touched == {"X", "Y"}
    assert ended(learned).notes == ("loopy belief propagation touched 2 families",)


def test_within_a_small_budget_only_large_components_are_loopy_and_the_result_says_so() -> None:
    # {X} and {Y} have 2 states each, {X, Y} cliques of 4 and 2; 192 bytes hold 3.
    learned = learned_by(EM(), replace(task(), memory=192))
    assert ended(learned).notes == ("loopy belief propagation touched 2 families",)
    exact = learned_by(EM(), task())
    assert ended(exact).notes == ()
    np.testing.assert_allclose(  # a tree: loopy propagation is exact up to its tolerance
        learned.tables["Y"], exact.tables["Y"], atol=1e-3
    )


def test_progress_tells_iteration_and_log_posterior() -> None:
    told: list[tuple[str, float, float | None, str]] = []

    def listen(stage: str, done: float, total: float | None, note: str = "") -> None:
        told.append((stage, done, total, note))

    learned = learned_by(EM(), replace(task(), progress=listen))
    climbs = [item for item in told if item[0] == "em"]
    assert [item[1] for item in climbs] == list(range(ended(learned).iterations + 1))
    assert f"log-posterior {ended(learned).log_posterior:,.4f}" in climbs[-1][3]
