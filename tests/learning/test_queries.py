"""How sure answers are: derivatives by finite differences, variances by moving every row."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

import lacunet as lc
from lacunet.counts import observations
from lacunet.counts.counts import Tally
from lacunet.counts.distinct_rows import distinct_rows
from lacunet.counts.look import Look
from lacunet.data.table import Copies, EncodedTable
from lacunet.learning.closed_forms.forms import Deletion
from lacunet.learning.em.em import EM
from lacunet.learning.interval_recipes import recipe_of
from lacunet.learning.plan import INFLUENCE, JACKKNIFE, JACKKNIFE_OF_ROWS, RATE_MATRIX, make_plan
from lacunet.learning.uncertainty.delta import AnsweredQuery
from lacunet.missingness.graph import MissingnessGraph

NETWORK = lc.Network(
    {"A": ["0", "1"], "B": ["0", "1", "2"], "C": ["0", "1"], "D": ["0", "1"]},
    {"B": ["A"], "C": ["B"], "D": ["C", "A"]},
    {
        "A": [0.4, 0.6],
        "B": [[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]],
        "C": [[0.9, 0.1], [0.5, 0.5], [0.3, 0.7]],
        "D": [[[0.8, 0.2], [0.4, 0.6]], [[0.3, 0.7], [0.1, 0.9]]],
    },
)
QUESTIONS = [
    (("C",), {}, {}),
    (("B",), {"D": "1"}, {}),
    (("A", "D"), {"C": "0"}, {}),
    (("D",), {}, {"C": "1"}),
    (("A",), {"D": "1"}, {"B": "2"}),
]
UNCERTAIN_QUESTIONS: list[Any] = [
    (("A",), {"B": ["1", "2"]}, {}),
    (("D",), {"B": {"0": 0.2, "1": 0.5, "2": 0.9}}, {}),
    (("B", "A"), {"B": ["0", "2"], "D": {"0": 3, "1": 1}}, {}),
    (("D",), {"A": {"0": 0.1, "1": 0.3}}, {"C": "1"}),
]


def _rows(number: int, seed: int) -> EncodedTable:
    """B and C go missing by A."""
    rng = np.random.default_rng(seed)
    drawn = lc.simulate(NETWORK, number, None, rng=rng).table
    columns = dict(drawn.columns)
    for name in "BC":
        gone = rng.random(number) < np.where(columns["A"] == 1, 0.5, 0.2)
        columns[name] = np.where(gone, NETWORK.cardinality(name), columns[name]).astype(np.uint8)
    return EncodedTable(drawn.cardinality_of, columns)


def _frame(table: EncodedTable) -> pd.DataFrame:
    columns = {}
    for name, codes in table.columns.items():
        states = [*NETWORK.states(name), None]
        columns[name] = [states[code] for code in codes]
    return pd.DataFrame(columns)


BY_MEAN = Deletion("factored", aggregation="mean")
BY_A = MissingnessGraph.parse("A -> R[B]; A -> R[C]", NETWORK)


@pytest.mark.parametrize(("target", "evidence", "do"), [*QUESTIONS, *UNCERTAIN_QUESTIONS])
def test_gradients_are_what_moving_an_entry_does(
    target: tuple[str, ...], evidence: dict[str, object], do: dict[str, str]
) -> None:
    asked = AnsweredQuery.of(NETWORK, target, evidence, do)
    tables = {cpt.child: cpt.table for cpt in NETWORK.cpts}
    for name, cpt in tables.items():
        for place in np.ndindex(*cpt.shape[:-1]):
            for state in range(cpt.shape[-1] - 1):
                ends = []
                for move in (1e-6, -1e-6):
                    moved = cpt.copy()
                    moved[place][state] += move
                    moved[place][-1] -= move
                    there = NETWORK.with_tables(tables | {name: moved})
                    ends.append(np.ravel(there.query(target, evidence, do=do)))
                by_hand = (ends[0] - ends[1]) / 2e-6
                gradients = [one.get(name, np.zeros_like(cpt))[place] for one in asked.gradients]
                found = [gradient[state] - gradient[-1] for gradient in gradients]
                np.testing.assert_allclose(found, by_hand, atol=1e-8)


def _by_rows(
    table: EncodedTable, method: str, pseudo_counts: float, target: str, evidence: dict[str, Any]
) -> np.ndarray:
    """The sum over rows of the squared derivative of an answer by the row's weight."""
    rows = distinct_rows(table, table.variables).table
    counts, found = np.asarray(rows.weights), 0.0
    start = lc.learn(NETWORK, rows, method, pseudo_counts=pseudo_counts).query(target, evidence)
    for row, count in enumerate(counts):
        weights = counts.copy()
        weights[row] += 1e-5
        copies = Copies(weights, weights)
        moved = EncodedTable(rows.cardinality_of, rows.columns, weights, copies=copies)
        after = lc.learn(NETWORK, moved, method, pseudo_counts=pseudo_counts).query(
            target, evidence
        )
        found += count * ((after.probabilities - start) / 1e-5) ** 2
    return np.asarray(found)


@pytest.mark.parametrize(
    "method",
    [
        "direct-mcar",
        "direct-mar",
        "listwise",
        "factored-mcar",
        BY_MEAN,
    ],
)
@pytest.mark.parametrize("pseudo_counts", [0.0, 1.0])
def test_the_variance_of_an_answer_is_that_of_its_derivative_by_rows(
    method: Any, pseudo_counts: float
) -> None:
    table = _rows(300, 1)
    result = lc.learn(NETWORK, table, method, pseudo_counts=pseudo_counts, intervals=True)
    variance = result.uncertainty.query("B", {"D": "1"}).standard_error ** 2
    by_rows = _by_rows(table, method, pseudo_counts, "B", {"D": "1"})
    # The smallest CPT row rests on some 15 rows, to which a pseudo-count adds per cell; the four
    # groups have some 30 rows, whose unbiased variances are 3% larger.
    np.testing.assert_allclose(variance, by_rows, rtol=0.2)


UNCERTAIN: list[dict[str, Any]] = [
    {"D": {"0": 0.2, "1": 0.7}},
    {"C": ["0"], "A": {"0": 3, "1": 1}},
    {"B": ["0", "2"]},
]


@pytest.mark.parametrize("evidence", UNCERTAIN)
@pytest.mark.parametrize("method", ["direct-mcar", "direct-mar", BY_MEAN])
def test_uncertain_evidence_has_the_variance_of_its_derivative_by_rows(
    method: Any, evidence: dict[str, Any]
) -> None:
    table = _rows(300, 1)
    result = lc.learn(NETWORK, table, method, pseudo_counts=0, intervals=True)
    answer = result.query("B", evidence)
    by_rows = _by_rows(table, method, 0, "B", evidence)
    # As above: the pseudo-counts add to small CPT rows, and groups have unbiased variances.
    np.testing.assert_allclose(answer.standard_error**2, by_rows, rtol=0.2)


@pytest.mark.parametrize("method", ["direct-mar", "em"])
def test_likelihoods_of_one_and_zero_have_the_intervals_of_the_states(method: str) -> None:
    result = lc.learn(NETWORK, _rows(400, 5), method, intervals=True)
    state = result.query("B", {"D": "1"})
    for same in ({"D": ["1"]}, {"D": {"0": 0, "1": 5}}, {"D": {"0": 1e-14, "1": 1}}):
        answer = result.query("B", same)
        np.testing.assert_allclose(answer.interval, state.interval, atol=1e-9)
        np.testing.assert_allclose(answer.standard_error, state.standard_error, rtol=1e-7)
    everything = result.query("B", {"D": ["0", "1"]})
    np.testing.assert_allclose(
        everything.standard_error, result.query("B").standard_error, rtol=1e-7
    )


@pytest.mark.slow
@pytest.mark.parametrize("evidence", UNCERTAIN)
@pytest.mark.parametrize("method", ["direct-mar", EM(tolerance=1e-8, max_iterations=5000)])
def test_the_variance_under_uncertain_evidence_is_that_of_repeated_draws(
    method: Any, evidence: dict[str, Any]
) -> None:
    answers, variances = [], []
    for seed in range(150):
        result = lc.learn(NETWORK, _rows(1_000, seed), method, intervals=True)
        answer = result.query("B", evidence)
        answers.append(answer.probabilities)
        variances.append(answer.standard_error**2)
    possible = np.mean(answers, axis=0) > 0
    ratio = np.mean(variances, axis=0)[possible] / np.var(answers, axis=0, ddof=1)[possible]
    # A variance from 150 draws has a standard error of sqrt(2/149) = 11.6%: three of them.
    np.testing.assert_allclose(ratio, 1, atol=0.35)


@pytest.mark.parametrize(
    "method",
    ["direct-mar", "factored-mar", "informed-direct", EM(tolerance=1e-8, max_iterations=5000)],
)
def test_begg_and_greenes_have_the_error_of_their_formula(method: Any) -> None:
    """Liver scans (C. B. Begg and R. A. Greenes 1983): the disease is verified in some."""
    rows = {
        "Test": ["+", "+", "+", "-", "-", "-"],
        "Ill": ["yes", "no", None, "yes", "no", None],
        "n": [231, 32, 166, 27, 54, 140],
    }
    network = lc.Network({"Test": ["-", "+"], "Ill": ["no", "yes"]}, {"Ill": ["Test"]})
    options: dict[str, Any] = {"groups": ["Test"]} if method == "informed-direct" else {}
    verified = {"+": (429, 231 / 263, 263), "-": (221, 27 / 81, 81)}
    total = 429 + 221
    ill = sum(n / total * share for n, share, _ in verified.values())
    # Var: how many have each result, and how many of these are ill.
    variance = sum(n / total * (share - ill) ** 2 / total for n, share, _ in verified.values())
    variance += sum((n / total) ** 2 * p * (1 - p) / m for n, p, m in verified.values())
    for seed in range(3):
        result = lc.learn(
            network,
            lc.Data(rows, counts="n"),
            method,
            pseudo_counts=0.0,
            intervals=True,
            rng=seed,
            **options,
        )
        answer = result.query("Ill")
        assert answer["yes"] == pytest.approx(ill, rel=1e-6)
        assert answer.standard_error[1] == pytest.approx(np.sqrt(variance), rel=0.005)
        sensitivity = result.query("Test", {"Ill": "yes"})["+"]
        specificity = result.query("Test", {"Ill": "no"})["-"]
        assert (sensitivity, specificity) == pytest.approx((0.8365, 0.7384), abs=5e-5)


@pytest.mark.parametrize("method", ["direct-mar", "factored-mar", "factored-mcar"])
def test_rows_that_are_streamed_make_answers_as_sure(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = _frame(_rows(250, 12)).assign(w=np.random.default_rng(3).uniform(0.5, 2, 250))
    intervals = []
    for share in (4, 1e12):
        monkeypatch.setattr(observations, "HELD_SHARE", share)
        result = lc.learn(NETWORK, lc.Data(frame, weight="w"), method, intervals=True)
        assert result.uncertainty is not None
        assert result.uncertainty.recipe == INFLUENCE
        intervals.append(result.query("B", {"D": "1"}).interval)
    np.testing.assert_allclose(intervals[1], intervals[0], rtol=1e-9)


def test_where_distinct_rows_may_be_too_many_to_keep_groups_of_rows_are_left_out() -> None:
    wide = lc.Network({f"X{number}": ["0", "1"] for number in range(40)}, {"X1": ["X0"]})
    for network, rows, recipe in (
        (wide, 1e5, INFLUENCE),
        (wide, 1e8, JACKKNIFE),
        (NETWORK, 1e8, INFLUENCE),  # there are few ways to be a row
    ):
        number = np.array([rows])
        look = Look(network.variables[:2], Tally(number, number, number))
        plan = make_plan(Deletion("factored"), network, look, 2.0)
        assert recipe_of(plan, 2**30) == recipe


@pytest.mark.parametrize("method", ["direct-mar", "factored-mar", "factored-mcar", lc.MGraph(BY_A)])
def test_no_seed_changes_the_interval_of_an_answer_without_em(method: Any) -> None:
    intervals = [
        lc.learn(NETWORK, _rows(250, 11), method, intervals=True, rng=seed)
        .query(
            "B",
            {"D": "1"},
        )
        .interval
        for seed in range(2)
    ]
    np.testing.assert_array_equal(intervals[0], intervals[1])


def test_formulas_of_a_graph_have_the_variance_of_leaving_out_each_row_in_turn() -> None:
    frame = _frame(_rows(60, 13))

    def learned(rows: pd.DataFrame, *, intervals: bool = False) -> lc.Result:
        return lc.learn(NETWORK, rows, lc.MGraph(BY_A), pseudo_counts=0, intervals=intervals)

    result = learned(frame, intervals=True)
    assert result.uncertainty is not None
    assert result.uncertainty.recipe == JACKKNIFE_OF_ROWS
    answers = np.array([learned(frame.drop(row)).query("B", {"D": "1"})["1"] for row in range(60)])
    expected = 59 / 60 * np.square(answers - answers.mean()).sum()
    replicates: Any = result.uncertainty.covariance
    found = replicates.variance(lambda network: network.query("B", {"D": "1"}))
    assert found[1] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("method", ["direct-mcar", "em"])
def test_of_a_cpt_row_the_answer_is_as_sure_as_the_entry(method: str) -> None:
    result = lc.learn(NETWORK, _rows(20_000, 2), method, intervals=True)
    spread = result.uncertainty.query("C", {"B": "1"})
    # The pseudo-counts, 2 of some 3,000 rows, are data for the one and not for the other.
    np.testing.assert_allclose(spread.standard_error, result.standard_error("C")[1], rtol=0.002)
    np.testing.assert_allclose(spread.interval(), result.interval("C")[1], atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["direct-mar", EM(tolerance=1e-8, max_iterations=5000)])
def test_the_variance_of_an_answer_is_that_of_repeated_draws(method: Any) -> None:
    answers, variances = [], []
    for seed in range(150):
        result = lc.learn(NETWORK, _rows(1_000, seed), method, intervals=True)
        spread = result.uncertainty.query("B", {"D": "1"})
        answers.append(spread.table)
        variances.append(spread.standard_error**2)
    ratio = np.mean(variances, axis=0) / np.var(answers, axis=0, ddof=1)
    # A variance from 150 draws has a standard error of sqrt(2/149) = 11.6%: three of them.
    np.testing.assert_allclose(ratio, 1, atol=0.35)


def test_weights_in_another_unit_change_no_interval() -> None:
    table = _rows(400, 3)
    answers = []
    for weight in (1.0, 2.5):
        weighted = EncodedTable(table.cardinality_of, table.columns, np.full(400, weight))
        result = lc.learn(NETWORK, weighted, "direct-mar", pseudo_counts=0, intervals=True)
        answers.append(result.uncertainty.query("C", {"D": "1"}).interval())
    # The pseudo-rows weigh one each, whatever the unit of the rows.
    np.testing.assert_allclose(answers[0], answers[1], rtol=0.01)


def _sizes(table: EncodedTable, method: str, rng: int = 0) -> tuple[np.ndarray, np.ndarray]:
    sure = lc.learn(NETWORK, table, method, intervals=True, rng=rng).uncertainty
    return sure.spread_of["C"].sizes, sure.query("B", {"D": "1"}).sizes


@pytest.mark.parametrize("method", ["listwise", "direct-mcar", "direct-mar", "factored-mar", "em"])
def test_a_row_that_stands_for_several_is_as_many_rows_for_every_recipe(method: str) -> None:
    table = _rows(300, 6)
    weights = np.random.default_rng(1).integers(1, 4, table.rows)
    number = weights.astype(float)
    once = EncodedTable(table.cardinality_of, table.columns, number, copies=Copies(number, number))
    copies = table.take(np.repeat(np.arange(table.rows), weights))
    for one, two in zip(_sizes(once, method), _sizes(copies, method), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-6)


@pytest.mark.parametrize("method", ["listwise", "direct-mcar", "direct-mar", "factored-mar", "em"])
def test_weights_are_worth_their_effective_size(method: str) -> None:
    table = _rows(2_000, 6)
    weights = np.random.default_rng(1).gamma(2.0, size=table.rows)
    heavy = EncodedTable(table.cardinality_of, table.columns, weights)
    # Weights that have nothing to do with what rows hold: Kish's effective size. The least CPT
    # row has some 100 rows. Variances by a jackknife of 30 groups have a standard error of 26%, a
    # ratio of two 37%, the mean over four ways to make groups 19%, over some five entries 8%.
    worth = weights.sum() ** 2 / (weights**2).sum() / table.rows
    logs = [
        np.log(one / two)
        for seed in range(4)
        for one, two in zip(_sizes(heavy, method, seed), _sizes(table, method, seed), strict=True)
    ]
    found = np.exp(np.mean(np.concatenate([np.ravel(own) for own in logs])))
    np.testing.assert_allclose(found, worth, rtol=0.3)


def test_what_no_row_supports_makes_answers_vague_as_far_as_they_depend_on_it() -> None:
    rows = {"A": ["0"] * 300 + ["1"] * 300, "B": ["0", "1"] * 150 + [None] * 300}
    network = lc.Network({"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]})
    for method in ("direct-mcar", "em"):
        for pseudo_counts in (0.0, 1.0):
            result = lc.learn(network, rows, method, pseudo_counts=pseudo_counts, intervals=True)
            (low, high), _ = result.query("B", unsupported="ignore").interval
            assert high - low > 0.5  # half of the rows might be anything
            (low, high), _ = result.query("B", {"A": "0"}).interval
            assert high - low < 0.12


def test_what_was_seen_is_certain_and_what_is_unknown_is_refused() -> None:
    result = lc.learn(NETWORK, _rows(200, 4), "direct-mar", intervals=True)
    answer = result.query("A", {"A": "1"})
    np.testing.assert_array_equal(answer, [0, 1])
    np.testing.assert_array_equal(answer.interval, [[0, 0], [1, 1]])
    with pytest.raises(lc.LacunetError, match="'Z'"):
        result.query("Z")
    with pytest.raises(lc.LacunetError, match="'7'"):
        result.query("A", {"D": "7"})


@pytest.mark.parametrize("method", ["direct-mar", "em", "factored-mar"])
def test_a_result_with_intervals_can_be_stored(method: str) -> None:
    result = lc.learn(NETWORK, _rows(100, 4), method, intervals=True)
    again = pickle.loads(pickle.dumps(result))
    np.testing.assert_array_equal(
        again.query("C", {"D": "1"}).interval,
        result.query("C", {"D": "1"}).interval,
    )


@pytest.mark.parametrize("method", ["direct-mcar", "direct-mar", "em", "factored-mar", "auto"])
def test_of_a_single_row_and_of_what_is_never_shown_little_is_known(method: str) -> None:
    network = lc.Network({name: ["0", "1"] for name in "AB"}, {"B": ["A"]})
    one = lc.learn(network, {"A": ["0"], "B": ["1"]}, method, intervals=True)
    both = one.query("B", {"A": "0"}).interval
    assert (both[:, 1] - both[:, 0] > 0.7).all()
    never = lc.learn(network, {"A": ["0", "1"] * 50, "B": [None] * 100}, method, intervals=True)
    both = never.query("B", unsupported="ignore").interval
    assert (both[:, 1] - both[:, 0] > 0.8).all()


@pytest.mark.parametrize("method", ["direct-mcar", "direct-mar", "em", "factored-mar"])
def test_effects_have_intervals(method: str) -> None:
    result = lc.learn(NETWORK, _rows(2000, 5), method, intervals=True)
    answer = result.query("D", {"A": "1"}, do={"C": "1"}, level=0.9)
    assert answer.level == 0.9
    assert str(answer).endswith("low, high: 90% interval")
    seen = result.query("D", {"A": "1", "C": "1"}, level=0.9)
    # given its other parent, doing and seeing C are the same
    np.testing.assert_allclose(answer, seen, rtol=1e-9)
    np.testing.assert_allclose(answer.interval, seen.interval, rtol=1e-6)
    effect = result.query("D", do={"C": "1"}, level=0.999)
    assert effect.interval is not None
    assert effect.standard_error is not None
    truth = NETWORK.query("D", do={"C": "1"})
    assert ((effect.interval[:, 0] < truth) & (truth < effect.interval[:, 1])).all()
    usual = result.query("D", do={"C": "1"})
    assert (usual.interval[:, 1] - usual.interval[:, 0] < 4.3 * usual.standard_error).all()


@pytest.mark.parametrize("level", ["x", 30])
def test_a_level_that_is_neither_a_share_nor_per_cent_is_refused(level: Any) -> None:
    result = lc.learn(NETWORK, _rows(200, 0), "direct-mar", intervals=True)
    with pytest.raises(lc.LacunetError, match=f"{level!r}"):
        result.query("A", level=level)


def test_a_network_by_itself_has_no_intervals() -> None:
    with pytest.raises(lc.LacunetError, match=r"lacunet.learn\(..., intervals=True\)"):
        _ = NETWORK.query("A").interval


@pytest.mark.parametrize("method", ["direct-mcar", "direct-mar", "factored-mar", "em"])
@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")
def test_what_no_row_shows_makes_an_answer_as_unsure_as_it_could_move_it(method: str) -> None:
    network = lc.Network({"Age": ["kid", "adult"], "Ill": ["no", "yes"]}, {"Ill": ["Age"]})
    rows = {"Age": ["kid"] * 40 + ["adult"] * 60, "Ill": [None] * 40 + ["no"] * 57 + ["yes"] * 3}
    result = lc.learn(network, rows, method, pseudo_counts=1, intervals=True)
    answer = result.query("Ill", unsupported="bounds")
    assert answer.unsupported == pytest.approx(0.4, abs=0.01)
    for (low, high), (least, most) in zip(answer.interval, answer.bounds, strict=True):
        assert low < least
        assert high > most


FEW_NEW = {"Drug": ["new"] * 6 + ["old"] * 194, "Died": ["no"] * 6 + ["yes"] * 94 + ["no"] * 100}
OF_SIX = (0.0, 0.33)  # Beta(.5, 6.5): none of six


@pytest.mark.parametrize("method", ["direct-mcar", "direct-mar", "factored-mar", "em"])
@pytest.mark.parametrize("pseudo_counts", [0, 1, "learn"])
@pytest.mark.parametrize("hidden", [0, 60])
def test_none_of_six_is_none_of_six_in_answers_too(
    method: str, pseudo_counts: float | str, hidden: int
) -> None:
    rows = {
        "Drug": ["new"] * hidden + FEW_NEW["Drug"],
        "Died": [None] * hidden + FEW_NEW["Died"],
    }
    network = lc.Network.from_data(FEW_NEW, "Drug -> Died")
    result = lc.learn(network, rows, method, pseudo_counts=pseudo_counts, intervals=True)  # type: ignore[arg-type]
    answer = result.query("Died", {"Drug": "new"})
    for low, high in (answer.interval[1], result.interval("Died")[0, 1]):
        # The t distribution of thirty folds makes the end .353. A pseudo-count of direct-mcar is
        # 6 / 7.8 of a row where 60 of 260 rows are hidden, and is taken for a whole one: .364.
        np.testing.assert_allclose((low, high), OF_SIX, atol=0.035)


@pytest.mark.parametrize(
    ("method", "pseudo_counts"), [("direct-mcar", 0), ("em", 0), ("em", "learn")]
)
def test_mixtures_cover_the_truth_where_part_of_them_was_never_seen(
    method: str, pseudo_counts: float | str
) -> None:
    truth = lc.Network(
        {"A": ["0", "1"], "X": ["no", "yes"], "Y": ["no", "yes"]},
        {"X": ["A"], "Y": ["A", "X"]},
        {
            "A": [0.6, 0.4],
            "X": [[0.98, 0.02], [0.5, 0.5]],
            "Y": [[[0.9, 0.1], [0.8, 0.2]], [[0.5, 0.5], [0.4, 0.6]]],
        },
    )
    risk = truth.query("Y", do={"X": "yes"}).probabilities[1]
    missing = lc.MCAR(0.1) if method == "em" else None
    covered = []
    for seed in range(60):
        table = lc.simulate(truth, 500, missing, rng=np.random.default_rng(seed)).table
        bare = truth.with_tables(None)
        result = lc.learn(bare, table, method, pseudo_counts=pseudo_counts, intervals=True)  # type: ignore[arg-type]
        asked = {"do": {"X": "yes"}, "unsupported": "ignore"}
        low, high = result.query("Y", **asked).interval[1]
        covered.append(low <= risk <= high)
    # Some six rows have A=0 and X=yes: in a third of the tables none of them has Y=yes. 95% of 60
    # less two standard errors of 2.8%.
    assert np.mean(covered) >= 0.89


@pytest.mark.parametrize("method", ["em", "factored-mar", "direct-mar", "direct-mcar"])
def test_equal_weights_within_cpt_rows_change_nothing_there(method: str) -> None:
    rng = np.random.default_rng(8)
    small = np.repeat([True, False], [400, 1600])
    ill = rng.random(2000) < np.where(small, 0.4, 0.2)
    shown = rng.random(2000) < 0.9
    rows = {
        "Group": np.where(small, "small", "big").tolist(),
        "Ill": [
            ("yes" if one else "no") if here else None for one, here in zip(ill, shown, strict=True)
        ],
        "weight": np.where(small, 50.0, 1.0).tolist(),
    }
    network = lc.Network({"Group": ["small", "big"], "Ill": ["no", "yes"]}, {"Ill": ["Group"]})
    found = []
    for seed in range(8):
        result = lc.learn(
            network,
            lc.Data(rows, weight="weight"),
            method,
            pseudo_counts=0,
            intervals=True,
            rng=seed,
        )
        asked = [
            result.query("Ill", {"Group": group}).standard_error[1] for group in ("small", "big")
        ]
        found.append([result.standard_error("Ill")[:, 1], asked])
    seen = [ill[own & shown] for own in (small, ~small)]
    errors = [np.sqrt(own.mean() * (1 - own.mean()) / len(own)) for own in seen]
    # A standard error from 30 folds has one of 13% itself, the mean of eight 4.6%.
    np.testing.assert_allclose(np.mean(found, axis=0), [errors, errors], rtol=0.12)


def test_weights_by_the_outcome_are_heard() -> None:
    # Cases are sampled a hundred times as often: by linearisation, as R's survey does it.
    rng = np.random.default_rng(3)
    exposed = np.concatenate([rng.random(500) < 0.5, rng.random(500) < 0.3])
    rows = {
        "Exposed": np.where(exposed, "yes", "no").tolist(),
        "Ill": ["yes"] * 500 + ["no"] * 500,
        "weight": [1.0] * 500 + [100.0] * 500,
    }
    for at in range(0, 1000, 10):
        rows["Ill"][at] = None  # type: ignore[call-overload]
    network = lc.Network({"Exposed": ["no", "yes"], "Ill": ["no", "yes"]}, {"Ill": ["Exposed"]})
    found = [
        lc.learn(
            network, lc.Data(rows, weight="weight"), "em", pseudo_counts=0, intervals=True, rng=seed
        ).standard_error("Ill")[1]
        for seed in range(8)
    ]
    ill = np.array([one == "yes" for one in rows["Ill"]])
    kept = exposed & np.array([one is not None for one in rows["Ill"]])
    weights = np.array(rows["weight"])[kept]
    rate = weights @ ill[kept] / weights.sum()
    error = np.sqrt(weights**2 @ (ill[kept] - rate) ** 2) / weights.sum()
    np.testing.assert_allclose(np.mean(found), error, rtol=0.12)


@pytest.mark.parametrize("method", ["em", "direct-mcar", "direct-mar", "factored-mar"])
def test_an_interval_goes_no_further_than_what_rows_without_data_allow(method: str) -> None:
    rows = {
        "Age": ["kid"] * 400 + ["adult"] * 600,
        "MI": [None] * 400 + ["no"] * 570 + ["yes"] * 30,
    }
    heart = lc.Network({"Age": ["kid", "adult"], "MI": ["no", "yes"]}, {"MI": ["Age"]})
    result = lc.learn(heart, rows, method, intervals=True)
    asked = {
        target: result.query(target, unsupported="ignore").interval
        for target in ("Age", ("Age", "MI"), "MI")
    }
    age, both, ill = (np.asarray(own) for own in asked.values())
    # At most all children have it or not: P(kid, x) <= P(kid), P(yes) <= 1 - P(adult, no).
    np.testing.assert_allclose(both[0, :, 1], age[0, 1], rtol=1e-9)
    np.testing.assert_allclose(ill[1, 1], 1 - both[1, 0, 0], rtol=1e-9)
    np.testing.assert_allclose(ill[1, 0], both[1, 1, 0], rtol=1e-9)


@pytest.mark.parametrize("method", ["em", "direct-mcar", "factored-mar"])
@pytest.mark.parametrize(("target", "evidence", "do"), QUESTIONS)
def test_intervals_within_bounds_hold_the_answer(
    method: str, target: tuple[str, ...], evidence: dict[str, str], do: dict[str, str]
) -> None:
    table = _rows(300, 5)
    kept = ~((table.columns["C"] == 1) & (table.columns["A"] == 1))
    kept &= ~((table.columns["B"] == 2) & (table.columns["C"] < 2))
    result = lc.learn(NETWORK, table.take(np.flatnonzero(kept)), method, intervals=True)
    options: Any = {"do": do, "unsupported": "bounds"}
    answer = result.query(target, evidence, **options)
    assert answer.bounds is not None
    assert answer.unsupported is not None
    assert answer.unsupported > 0.001
    low, high = np.moveaxis(np.asarray(answer.interval), -1, 0)
    assert (low <= np.asarray(answer)).all()
    assert (np.asarray(answer) <= high).all()
    # Bounds rest on a hundred rows or more: three standard errors of a share are 0.15 at most.
    assert (low >= answer.bounds.low - 0.15).all()
    assert (high <= answer.bounds.high + 0.15).all()


@pytest.mark.parametrize(
    ("share", "pseudo_counts"),
    [(0.0, 1), (0.0, "learn"), (0.05, 0), (0.05, 1), (0.05, "learn"), (0.2, 0), (0.2, "learn")],
)
def test_an_answer_that_is_counted_is_sure_however_little_is_known_of_its_parents(
    share: float, pseudo_counts: float | str
) -> None:
    rng = np.random.default_rng(3)
    classes = rng.integers(0, 6, 1000)
    seen = rng.random(1000) < share
    ill = rng.random(1000) < 0.2 + 0.1 * classes
    rows = {
        "L": [str(one) if here else None for one, here in zip(classes, seen, strict=True)],
        "B": [str(int(one)) for one in ill],
    }
    network = lc.Network({"L": list("012345"), "B": ["0", "1"]}, {"B": ["L"]})
    result = lc.learn(network, rows, "em", pseudo_counts=pseudo_counts, intervals=True)  # type: ignore[arg-type]
    answer = result.query("B", unsupported="ignore")
    error = np.sqrt(ill.mean() * (1 - ill.mean()) / 1000)
    np.testing.assert_allclose(answer.standard_error, error, rtol=0.1)


@pytest.mark.parametrize("method", ["em", "direct-mcar"])
@pytest.mark.parametrize("pseudo_counts", [0, 1])
def test_of_a_cpt_row_without_data_nothing_is_known_in_answers_either(
    method: str, pseudo_counts: float
) -> None:
    states = [f"s{at}" for at in range(10)]
    rows = {"A": ["0"] * 600 + ["1"] * 400, "B": states * 60 + [None] * 400}
    network = lc.Network({"A": ["0", "1"], "B": states}, {"B": ["A"]})
    result = lc.learn(network, rows, method, pseudo_counts=pseudo_counts, intervals=True)
    answer = result.query("B", {"A": "1"}, unsupported="ignore")
    low, high = answer.interval.T
    assert (low < 0.01).all()
    assert (high > 0.99).all()


def test_weights_by_a_child_are_heard_in_answers() -> None:
    # Cases are sampled more often: a jackknife of 200 groups, by hand.
    rng = np.random.default_rng(7)
    a = rng.random(40_000) < 0.3
    b = rng.random(40_000) < np.where(a, 0.7, 0.2)
    c = rng.random(40_000) < np.where(b, 0.3, 0.05)
    kept = rng.random(40_000) < np.where(c, 1.0, 0.05)
    a, b, c = a[kept], b[kept], c[kept]
    weights = np.where(c, 1.0, 20.0)

    def risk(use: np.ndarray) -> float:
        """P(C=1 | A=0) through B."""
        w = weights * use
        of_b = (w * b * ~a).sum() / (w * ~a).sum()
        given = [(w * c * (b == at)).sum() / (w * (b == at)).sum() for at in (False, True)]
        return float((1 - of_b) * given[0] + of_b * given[1])

    group = rng.integers(0, 200, len(a))
    apart = np.array([risk(group != at) for at in range(200)])
    error = np.sqrt(199 / 200 * ((apart - apart.mean()) ** 2).sum())
    rows = {
        name: own.astype(int).astype(str).tolist()
        for name, own in zip("ABC", (a, b, c), strict=False)
    }
    network = lc.Network({name: ["0", "1"] for name in "ABC"}, {"B": ["A"], "C": ["B"]})
    found = [
        lc.learn(
            network,
            lc.Data({**rows, "w": weights.tolist()}, weight="w"),
            "em",
            pseudo_counts=0,
            intervals=True,
            rng=seed,
        )
        .query(
            "C",
            {"A": "0"},
        )
        .standard_error[1]
        for seed in range(8)
    ]
    # Eight divisions into 30 groups: 13% / sqrt(8); the 200 groups 5%.
    np.testing.assert_allclose(np.mean(found), error, rtol=0.15)


def test_what_a_rule_excludes_adds_nothing_to_an_answer() -> None:
    rows = {"S": ["no"] * 30 + ["yes"] * 6, "N": [None] * 30 + ["no", "yes"] * 3}
    network = lc.Network.from_data(lc.Data(rows, not_asked={"N": "S=no"}), "S -> N")
    for method in ("em", "direct-mar", "auto"):
        result = lc.learn(network, rows, method, pseudo_counts=0, intervals=True)
        answer = result.query("N", {"S": "yes"})
        np.testing.assert_allclose(answer.interval, result.interval("N")[1], atol=1e-6)


def test_what_is_set_has_no_rule() -> None:
    rows = {
        "S": ["no", "no", "yes", "yes", "yes", "yes"],
        "N": [None, None, "no", "yes", "no", None],
        "K": list("ababba"),
    }
    network = lc.Network.from_data(lc.Data(rows, not_asked={"N": "S=no"}), "S -> N -> K")
    result = lc.learn(network, rows, "em", intervals=True)
    answer = result.query("K", do={"N": "yes"})
    low, high = answer.interval.T
    assert ((low <= np.asarray(answer)) & (np.asarray(answer) <= high)).all()
    assert result.effect("K", do="N").interval is not None


@pytest.mark.parametrize("weights", [(1.0, 1.0), (1.0, 3.0)])
def test_explain_names_the_intervals_that_weights_lead_to(weights: tuple[float, float]) -> None:
    rows = {"A": ["0", "1"] * 50, "B": ["0", "1", "1", None] * 25, "w": [*weights] * 50}
    network = lc.Network({"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]})
    result = lc.learn(network, lc.Data(rows, weight="w"), "em", intervals=True)
    recipe = result.uncertainty.recipe
    assert ("jackknife" in recipe) is (weights[0] != weights[1])
    said = str(lc.explain(network, lc.Data(rows, weight="w"), "em"))
    words = {RATE_MATRIX: "the curvature of EM's likelihood"}.get(recipe, recipe)
    assert f"{words}" in said


@pytest.mark.parametrize("pseudo_counts", [0, 1, "learn"])
@pytest.mark.parametrize("method", ["em", "direct-mcar", "direct-mar", "factored-mar", "listwise"])
def test_an_answer_that_is_a_cpt_row_has_its_interval(method: str, pseudo_counts: Any) -> None:
    table = _rows(60, 2)
    result = lc.learn(NETWORK, table, method, pseudo_counts=pseudo_counts, intervals=True)
    beside: dict[str, object] = {"B": "1"}  # which says nothing more about D
    for c, a in np.ndindex(2, 2):
        seen = {"C": str(c), "A": str(a)}
        for given in (seen, seen | beside):
            found = result.query("D", given, unsupported="ignore")
            np.testing.assert_allclose(found.interval, result.interval("D")[c, a], rtol=1e-9)
            np.testing.assert_allclose(
                found.standard_error, result.standard_error("D")[c, a], rtol=1e-9
            )
        done = result.query("D", do=seen, unsupported="ignore")
        np.testing.assert_allclose(done.interval, result.interval("D")[c, a], rtol=1e-9)
    np.testing.assert_allclose(result.query("A").interval, result.interval("A"), rtol=1e-9)


def test_evidence_that_a_replicate_holds_for_impossible_leaves_intervals() -> None:
    rows = {"A": ["x"] + ["y"] * 79, "B": ["u"] + ["v"] * 39 + ["u"] * 39 + [None]}
    pair = lc.Network({"A": ["x", "y"], "B": ["u", "v"]}, {"A": ["B"]})
    result = lc.learn(pair, rows, "factored-mar", pseudo_counts=0, intervals=True)
    found = result.query("B", {"A": "x"})  # seen in one row alone
    low, high = np.moveaxis(np.asarray(found.interval), -1, 0)
    assert (low <= np.asarray(found)).all()
    assert (np.asarray(found) <= high).all()


@pytest.mark.parametrize("method", ["factored-mcar", "factored-mar"])
def test_pseudo_counts_do_not_pass_for_rows_where_values_are_missing(method: str) -> None:
    table = _rows(400, 7)
    hidden = np.random.default_rng(1).random(400) < 0.6
    columns = dict(table.columns) | {"D": np.where(hidden, 2, table.columns["D"]).astype(np.uint8)}
    rows = EncodedTable(table.cardinality_of, columns)
    sizes = []
    for pseudo_counts in (0, 3):
        uncertainty = lc.learn(
            NETWORK, rows, method, pseudo_counts=pseudo_counts, intervals=True
        ).uncertainty
        assert uncertainty is not None
        sizes.append([uncertainty.query("D", {"B": b}).sizes[0] for b in "012"])
    # What the prior knows of an answer is taken off in first order.
    np.testing.assert_allclose(sizes[1], sizes[0], rtol=0.1)


def test_only_what_was_seen_of_the_target_itself_is_certain() -> None:
    network = lc.Network(
        {"X": ["a", "b", "c"], "Y": ["no", "yes"]}, {"Y": ["X"]}, codes={"X": {"b+": ["b", "c"]}}
    )
    rows = {"X": ["a"] * 50 + ["b"] * 50, "Y": ["no"] * 70 + ["yes"] * 30}
    result = lc.learn(network, rows, "em", pseudo_counts=0, intervals=True)
    half = beta(0.5, 50.5).ppf(0.975)  # fifty rows agree
    (alone, both, several) = (
        result.query(target, seen, unsupported="ignore").interval
        for target, seen in (("Y", {"X": "a"}), ("X,Y", {"X": "a"}), ("X", {"X": "b+"}))
    )
    np.testing.assert_allclose(alone, [[1 - half, 1], [0, half]], atol=1e-9)
    np.testing.assert_allclose(both, [alone, np.zeros((2, 2)), np.zeros((2, 2))], atol=1e-12)
    # by the delta method, a hair off zero: the size is half a row off
    np.testing.assert_allclose(several, [[0, 0], [1 - half, 1], [0, half]], rtol=0.01)


def test_intervals_on_a_graph_read_evidence_as_the_answer_does() -> None:
    network = lc.Network(
        {"Age": ["[0,40)", "[40,60)", "[60,99)"], "Ill": ["no", "yes"]},
        {"Ill": ["Age"]},
        cuts={"Age": [0, 40, 60, 99]},
        codes={"Age": {"40+": ["[40,60)", "[60,99)"]}},
    )
    rows = {
        "Age": [10, 50, 70, None] * 60,
        "Ill": ["no", "yes", "no", "yes", "no", None, "yes", "no"] * 30,
    }
    result = lc.learn(network, rows, "em", missingness="Ill -> R[Age]; R[Ill]", intervals=True)
    for value in (50, "40+"):
        answer = result.query("Ill", {"Age": value})
        low, high = np.moveaxis(np.asarray(answer.interval), -1, 0)
        assert (low <= answer).all()
        assert (answer <= high).all()
