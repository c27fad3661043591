"""What may be seen of a variable: a state, one of several, a comparison, likelihoods of states."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lacunet as lc
from enumeration import joint
from examples import RAIN
from lacunet.cli import main
from lacunet.data.evidence import states_and_likelihoods
from lacunet.errors import LacunetError
from lacunet.inference.errors import ImpossibleEvidenceError, QueryError
from lacunet.inference.query import marginals, query
from lacunet.network.errors import NetworkError
from lacunet.network.network import Network
from strategies import networks

AGES = Network(
    {
        "Age": ["[0,40)", "[40,60)", "[60,99]"],
        "Visits": ["0", "1", "2", "10"],
        "Ill": ["no", "yes"],
    },
    {"Visits": ["Age"], "Ill": ["Age", "Visits"]},
    {
        "Age": [0.5, 0.3, 0.2],
        "Visits": [[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25]],
        "Ill": np.stack([np.linspace(0.9, 0.2, 12), np.linspace(0.1, 0.8, 12)], -1).reshape(
            3, 4, 2
        ),
    },
    cuts={"Age": [0, 40, 60, 99]},
)


@st.composite
def uncertain_questions(draw: st.DrawFn) -> tuple[Network, str, dict[str, Any], dict[str, Any]]:
    """A network, a target, evidence of all kinds, and the likelihood of every state by hand."""
    network = draw(networks(max_variables=5))
    evidence: dict[str, Any] = {}
    likelihoods = {name: np.ones(network.cardinality(name)) for name in network.variables}
    for name in network.variables:
        states = network.states(name)
        kind = draw(st.sampled_from(["nothing", "state", "several", "likelihoods"]))
        if kind == "state":
            evidence[name] = draw(st.sampled_from(states))
            likelihoods[name] = np.array([float(state == evidence[name]) for state in states])
        elif kind == "several":
            chosen = draw(st.lists(st.sampled_from(states), min_size=1, unique=True))
            kinds: list[Any] = [list, tuple, set, np.array]
            evidence[name] = draw(st.sampled_from(kinds))(chosen)
            likelihoods[name] = np.array([float(state in chosen) for state in states])
        elif kind == "likelihoods":
            numbers = draw(
                st.lists(
                    st.sampled_from([0.0, 0.1, 0.5, 1.0, 4.0]),
                    min_size=len(states),
                    max_size=len(states),
                ).filter(any)
            )
            evidence[name] = dict(zip(states, numbers, strict=True))
            likelihoods[name] = np.array(numbers)
    return network, draw(st.sampled_from(network.variables)), evidence, likelihoods


def by_enumeration(network: Network, target: str, likelihoods: dict[str, Any]) -> np.ndarray:
    law = joint(network)
    for axis, name in enumerate(network.variables):
        law = law * likelihoods[name].reshape([-1 if a == axis else 1 for a in range(law.ndim)])
    kept = network.variables.index(target)
    return law.sum(axis=tuple(axis for axis in range(law.ndim) if axis != kept))


@settings(deadline=None)
@given(uncertain_questions())
def test_answers_and_marginals_are_what_enumeration_gives(
    question: tuple[Network, str, dict[str, Any], dict[str, Any]],
) -> None:
    network, target, evidence, likelihoods = question
    expected = by_enumeration(network, target, likelihoods)
    if expected.sum() == 0:
        with pytest.raises(ImpossibleEvidenceError):
            query(network, target, evidence)
        return
    np.testing.assert_allclose(
        query(network, target, evidence), expected / expected.sum(), rtol=1e-10, atol=1e-14
    )
    for name, answer in marginals(network, evidence).items():
        weights = by_enumeration(network, name, likelihoods)
        np.testing.assert_allclose(answer, weights / weights.sum(), rtol=1e-10, atol=1e-14)


def test_likelihoods_are_what_pyagrum_takes_as_soft_evidence() -> None:
    gum = pytest.importorskip("pyagrum")
    network = lc.example("asia")
    theirs = lc.to_pyagrum(network)
    evidence = {
        "xray": {"yes": 0.8, "no": 0.2},
        "smoke": {"yes": 3.0, "no": 7.0},
        "dysp": {"yes": 1.0, "no": 1.0},
        "bronc": {"yes": 0.05, "no": 0.6},
    }
    engine = gum.LazyPropagation(theirs)
    engine.setEvidence({name: [*weights.values()] for name, weights in evidence.items()})
    engine.makeInference()
    for name, answer in marginals(network, evidence).items():
        states = network.states(name)
        named = [theirs.variable(name).label(i) for i in range(len(states))]
        posterior = dict(zip(named, engine.posterior(name).tolist(), strict=True))
        assert {s: answer[s] for s in states} == pytest.approx(posterior, rel=1e-12)


def test_only_ratios_of_likelihoods_matter_and_one_state_is_the_state() -> None:
    base = query(RAIN, "Rain", {"Wet": {"yes": 0.8, "no": 0.2}})
    for scale in (1e-300, 7, 1e300):
        scaled = query(RAIN, "Rain", {"Wet": {"no": 0.2 * scale, "yes": 0.8 * scale}})
        np.testing.assert_allclose(scaled, base.probabilities, rtol=1e-12)
    certain = query(RAIN, "Rain", {"Wet": "yes"})
    assert query(RAIN, "Rain", {"Wet": {"yes": 3, "no": 0}}) == certain
    assert query(RAIN, "Rain", {"Wet": ["yes"]}) == certain
    nothing = query(RAIN, "Rain", {"Wet": {"yes": 3, "no": 3}})
    np.testing.assert_allclose(nothing, query(RAIN, "Rain").probabilities, rtol=1e-12)


def test_likelihoods_of_the_target_weigh_its_own_states() -> None:
    # P(no) = .8, P(yes) = .2; with the likelihoods 1 and 4 both odds are even.
    np.testing.assert_allclose(query(RAIN, "Rain", {"Rain": {"no": 1, "yes": 4}}), [0.5, 0.5])


@pytest.mark.parametrize(
    ("comparison", "left"),
    [
        (">=40", [1, 2]),
        ("< 60", [0, 1]),
        (">=0", [0, 1, 2]),
        ("<=99", [0, 1, 2]),
        ("<1e3", [0, 1, 2]),
        (">=60.0", [2]),
        ("<40", [0]),
    ],
)
def test_a_comparison_with_a_border_leaves_intervals(comparison: str, left: list[int]) -> None:
    states = [AGES.states("Age")[index] for index in left]
    expected = query(AGES, "Ill", {"Age": states})
    np.testing.assert_array_equal(query(AGES, "Ill", {"Age": comparison}), expected)
    np.testing.assert_array_equal(query(AGES, f"Ill | Age{comparison}"), expected)


@pytest.mark.parametrize(
    ("comparison", "left"),
    [(">=2", ["2", "10"]), (">1", ["2", "10"]), ("<=2", "012"), ("<2", "01"), (">9.5", ["10"])],
)
def test_states_that_are_numbers_are_compared_as_numbers(comparison: str, left: Any) -> None:
    expected = query(AGES, "Ill", {"Visits": list(left)})
    np.testing.assert_array_equal(query(AGES, "Ill", {"Visits": comparison}), expected)
    np.testing.assert_array_equal(query(AGES, f"P(Ill | Visits {comparison})"), expected)


VISITS = Network(
    {
        "Month": ["2023-11", "2023-12", "2024-01", "2024-02"],
        "Quarter": ["2023Q4", "2024Q1", "2024Q2"],
        "Ill": ["no", "yes"],
    },
    {"Ill": ["Month", "Quarter"]},
    {
        "Month": [0.1, 0.2, 0.3, 0.4],
        "Quarter": [0.5, 0.3, 0.2],
        "Ill": np.stack([np.linspace(0.9, 0.1, 12), np.linspace(0.1, 0.9, 12)], -1).reshape(
            4, 3, 2
        ),
    },
)


@pytest.mark.parametrize(
    ("name", "comparison", "left"),
    [
        ("Month", ">=2024-01", [2, 3]),
        ("Month", "> 2023-11", [1, 2, 3]),
        ("Month", "<2024", [0, 1]),
        ("Month", "<=2023-12-31", [0, 1]),
        ("Month", ">=2023Q4", [0, 1, 2, 3]),
        ("Quarter", "<=2024Q1", [0, 1]),
        ("Quarter", ">2023", [1, 2]),
        ("Quarter", ">=2024-04", [2]),
        ("Quarter", "<2024-04-01", [0, 1]),
    ],
)
def test_periods_are_compared_with_dates(name: str, comparison: str, left: list[int]) -> None:
    states = [VISITS.states(name)[index] for index in left]
    expected = query(VISITS, "Ill", {name: states})
    np.testing.assert_array_equal(query(VISITS, "Ill", {name: comparison}), expected)
    typed = query(VISITS, f"P(Ill | {name}{comparison})")
    np.testing.assert_array_equal(typed, expected)
    assert query(VISITS, typed.title) == typed  # what is printed can be asked


def test_a_date_that_divides_a_period_or_leaves_none_is_named() -> None:
    for text, message in [
        ("Quarter>=2024-02", "divides '2024Q1'(.|\n)*Quarter>=2024Q1"),
        ("Month<=2024-01-30", "divides '2024-01'"),
        ("Month<2023", "no state of 'Month' is left"),
        ("Month>=2024-02-30", "'>=2024-02-30'"),
        ("Ill>=2024-02", "'>=2024-02'"),
    ]:
        target = "Quarter" if text.startswith("Month") else "Month"
        with pytest.raises(NetworkError, match=message):
            query(VISITS, f"{target} | {text}")


def test_dates_of_a_question_that_was_not_asked_are_compared_too() -> None:
    rows = {
        "Moved": ["no", "yes", "yes", "yes"] * 5,
        "When": [None, "2024-01-05", "2024-02-07", "2024-03-09"] * 5,
    }
    data = lc.Data(rows, bins={"When": "month"}, not_asked={"When": "Moved=no"})
    result = lc.learn("Moved -> When", data, "direct-mcar", pseudo_counts=0)
    assert len(result.network.states("When")) == 4
    answer = result.query("Moved | When>=2024-02")
    assert answer == result.query("Moved", {"When": ["2024-02", "2024-03"]})
    assert answer["yes"] == 1


def test_two_comparisons_give_both_ends() -> None:
    expected = query(AGES, "Ill", {"Visits": ["1", "2"]})
    for text in ("Ill | Visits>=1, Visits<10", "Ill | Visits > 0, Age>=0, Visits<=2"):
        np.testing.assert_array_equal(query(AGES, text), expected)
    middle = query(AGES, "Ill | Age>=40, Age<60")
    np.testing.assert_array_equal(middle, query(AGES, "Ill", {"Age": 50}))
    with pytest.raises(LacunetError, match="Visits"):
        query(AGES, "Ill | Visits>=2, Visits<2")
    with pytest.raises(LacunetError, match="more than once"):
        query(AGES, "Ill | Visits=2, Visits<10")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("Age", ">=50", r"divides the interval '\[40,60\)'(.|\n)*Age>=40"),
        ("Age", ">55", r"divides the interval '\[40,60\)'(.|\n)*Age>=60"),
        ("Age", ">40", r"divides the interval '\[40,60\)'(.|\n)*Age>=40"),
        ("Age", "<=60", r"divides the interval '\[60,99\]'(.|\n)*Age<60"),
        ("Age", "<99", "divides the interval"),
        ("Age", "<0", "no state of 'Age' is left"),
        ("Age", ">=100", "no state of 'Age' is left"),
        ("Visits", ">10", "no state of 'Visits' is left"),
        ("Ill", ">=1", "not numbers"),
        ("Ill", [], "given no state"),
        ("Ill", ["no", None], "missing"),
        ("Ill", ["no", "ys"], "'ys'.*\n.*'yes'"),
        ("Ill", {"yes": 0.3}, "not given for 'no'"),
        ("Ill", {"yes": 0.3, "no": -0.1}, "Ill=no.*-0.1"),
        ("Ill", {"yes": "much", "no": 0.1}, "'much'"),
        ("Ill", {"yes": float("nan"), "no": 0.1}, "nan"),
        ("Ill", {"yes": 0, "no": 0}, "likelihood 0"),
        ("Ill", {"yes": 0.5, "no": 0.5, "maybe": 0.1}, "'maybe'"),
        ("Visits", {0: 1, "0": 2, 1: 1, 2: 1, 10: 1}, "Visits=0"),
    ],
)
def test_evidence_that_cannot_be_read_is_named(name: str, value: object, message: str) -> None:
    target = next(other for other in AGES.variables if other != name)
    with pytest.raises(NetworkError, match=message):
        query(AGES, target, {name: value})


def test_what_is_set_is_one_state() -> None:
    for value in (["1", "2"], ">=1", {"0": 1, "1": 1, "2": 1, "10": 1}):
        with pytest.raises(NetworkError, match="Visits"):
            query(AGES, "Ill", do={"Visits": value})
    with pytest.raises(LacunetError, match="Visits"):
        query(AGES, "Ill | do(Visits in {1, 2})")
    assert query(AGES, "Ill", do={"Visits": ">=10"}) == query(AGES, "Ill", do={"Visits": 10})


def test_evidence_after_an_intervention_is_weighed_in_the_network_that_is_cut() -> None:
    age, ill = AGES.cpt("Age").table, AGES.cpt("Ill").table
    weights = np.array([0.2, 1.0, 0.5])
    expected = np.einsum("a,a,ay->y", age, weights, ill[:, 3])
    soft = dict(zip(AGES.states("Age"), weights, strict=True))
    answer = query(AGES, "Ill", {"Age": soft}, do={"Visits": 10})
    np.testing.assert_allclose(answer, expected / expected.sum(), rtol=1e-12)
    text = 'Ill | do(Visits=10), Age ~ {[0,40): 0.2, [40,60): 1, "[60,99]": 0.5}'
    np.testing.assert_array_equal(query(AGES, text), answer)
    assert query(AGES, answer.title) == answer  # what is printed can be asked


@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        ("Ill | Age in {[40,60), [60,99]}", {"Age": ["[40,60)", "[60,99]"]}),
        ('P(Ill | Visits in {0, "1"}, Age=[40,60))', {"Visits": [0, 1], "Age": 50}),
        ("Ill | Visits in {0,1} , Age<40", {"Visits": ["0", "1"], "Age": "[0,40)"}),
        ("Ill | Age>=40, Visits=2", {"Age": ["[40,60)", "[60,99]"], "Visits": "2"}),
        ("Ill|Visits~{0: .1, 1: .2, 2: 3, 10: 4e-1}", {"Visits": {0: 0.1, 1: 0.2, 2: 3, 10: 0.4}}),
    ],
)
def test_what_is_typed_is_what_is_given(text: str, evidence: dict[str, object]) -> None:
    np.testing.assert_array_equal(query(AGES, text), query(AGES, "Ill", evidence))


def test_names_and_states_with_signs_are_quoted_in_braces() -> None:
    odd = Network(
        {"a in {b}": ["x, y", "u: 1", "{w}", 'q"'], "B": ["0", "1"]},
        {"B": ["a in {b}"]},
        {"a in {b}": [0.1, 0.2, 0.3, 0.4], "B": [[0.9, 0.1], [0.5, 0.5], [0.2, 0.8], [0.7, 0.3]]},
    )
    several = query(odd, 'B | "a in {b}" in {"x, y", "u: 1", "{w}"}')
    assert several == query(odd, "B", {"a in {b}": ["x, y", "u: 1", "{w}"]})
    soft = query(odd, 'B | "a in {b}" ~ {"x, y": 1, "u: 1": 2, "{w}": 3, "q""": 4}')
    assert soft == query(odd, "B", {"a in {b}": {"x, y": 1, "u: 1": 2, "{w}": 3, 'q"': 4}})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Ill | Visits in {0, 1", "not closed"),
        ("Ill | Visits in {}", "no state"),
        ("Ill | Visits in {0, 7}", "'7'"),
        ("Ill | Visits in {0} Age=50", "comma"),
        ("Ill | Visits ~ {0, 1}", "likelihood"),
        ("Ill | Visits ~ {0: 1, 0: 2}", "more than once"),
        ("Ill | Visits ~ {0: 1, 1: 2}", "not given for '2', '10'"),
        ("Ill | Visits in {0, 1}, Visits=2", "more than once"),
        ("Ill | Visits!=10", r"Visits in \{0, 1, 2\}"),
        ("Ill | Age!=50", r'Age in \{"\[0,40\)", "\[60,99\]"\}'),
        ("P(Visits in {0, 1})", "Visits"),
        ("P(Visits>=2 | Age=50)", "Visits"),
    ],
)
def test_a_text_that_cannot_be_read_says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(LacunetError, match=message):
        query(AGES, text)


@pytest.mark.parametrize(
    "text", ["Visits in {1, 10}", "Visits != 10", "Visits in {1, 10} | Age=50"]
)
def test_several_states_stand_behind_the_bar_alone(text: str) -> None:
    with pytest.raises(LacunetError, match=r"(?s)'Visits .* behind the bar"):
        AGES.query(f"Ill=no, {text}")


def test_what_rests_on_rows_without_data_is_weighed_too() -> None:
    bare = RAIN.with_support({"Rain": 9, "Sprinkler": [9, 9], "Wet": [[9, 0], [9, 9]]})
    law = joint(RAIN)
    axes = {name: axis for axis, name in enumerate(RAIN.variables)}
    likelihood = np.array([0.3, 0.9])
    weighed = law * likelihood.reshape([-1 if a == axes["Wet"] else 1 for a in range(law.ndim)])
    cells = np.indices(law.shape)
    parents = [cells[axes[name]] for name in RAIN.parents("Wet")]
    through = (parents[0] == 0) & (parents[1] == 1)
    share = weighed[through].sum() / weighed.sum()
    soft = {"Wet": dict(zip(RAIN.states("Wet"), likelihood, strict=True))}
    answer = query(bare, "Rain", soft, unsupported="bounds")
    assert answer.unsupported == pytest.approx(share, rel=1e-12)
    assert answer.bounds is not None
    ends = []
    for state in (0, 1):  # whichever state the row without data puts its weight on
        table = RAIN.cpt("Wet").table.copy()
        table[0, 1] = np.eye(2)[state]
        tables = {cpt.child: cpt.table for cpt in RAIN.cpts} | {"Wet": table}
        ends.append(query(RAIN.with_tables(tables), "Rain", soft).probabilities)
    np.testing.assert_allclose(answer.bounds.low, np.min(ends, axis=0), rtol=1e-10)
    np.testing.assert_allclose(answer.bounds.high, np.max(ends, axis=0), rtol=1e-10)


def test_likelihoods_know_which_states_a_rule_leaves() -> None:
    rows = {"Smoked": ["no", "yes", "yes", "yes"] * 5, "Now": [None, "less", "more", "more"] * 5}
    network = Network.from_data(lc.Data(rows, not_asked={"Now": "Smoked=no"}), "Smoked -> Now")
    result = lc.learn(network, rows, "direct-mcar", pseudo_counts=0)
    law = joint(result.network)
    states = network.states("Now")
    for weights in product([0.0, 0.5, 1.0], repeat=len(states)):
        expected = (law * np.array(weights)).sum(axis=1)
        if expected.sum() == 0:
            continue
        soft = {"Now": dict(zip(states, weights, strict=True))}
        answer = query(result, "Smoked", soft, unsupported="ignore")
        np.testing.assert_allclose(answer, expected / expected.sum(), rtol=1e-12, atol=1e-15)


def test_an_effect_is_that_among_those_who_may_have_any_of_several_states() -> None:
    network = Network(
        {"Z": ["a", "b", "c"], "X": ["no", "yes"], "Y": ["well", "ill"]},
        {"X": ["Z"], "Y": ["Z", "X"]},
        {
            "Z": [0.5, 0.3, 0.2],
            "X": [[0.7, 0.3], [0.2, 0.8], [0.5, 0.5]],
            "Y": [[[0.9, 0.1], [0.8, 0.2]], [[0.5, 0.5], [0.3, 0.7]], [[0.6, 0.4], [0.1, 0.9]]],
        },
    )
    z, y = network.cpt("Z").table, network.cpt("Y").table
    cases: list[tuple[Any, Any]] = [
        (["b", "c"], np.array([0, 1, 1])),
        ({"a": 0.1, "b": 0.5, "c": 1}, np.array([0.1, 0.5, 1])),
    ]
    for value, weights in cases:
        shares = z * weights / (z * weights).sum()
        effect = network.effect("Y", do="X", evidence={"Z": value})
        np.testing.assert_allclose(effect.probabilities, np.einsum("z,zxy->xy", shares, y))
        (contrast,) = effect.contrasts
        assert contrast.difference.value == pytest.approx(
            effect.probabilities[1, 1] - effect.probabilities[0, 1]
        )
        assert effect.as_data()["given"] == {"Z": value}
        rows = lc.simulate(network, 2000, None, rng=3).to_frame("pandas")
        graph = lc.MissingnessGraph.parse("R[Z]", network)
        found = graph.effect("Y", do="X", evidence={"Z": value}, data=rows)
        shown = pd.crosstab([rows["Z"], rows["X"]], rows["Y"], normalize="index").to_numpy()
        known = rows["Z"].value_counts(normalize=True).loc[["a", "b", "c"]].to_numpy() * weights
        by_hand = np.einsum("z,zxy->xy", known / known.sum(), shown.reshape(3, 2, 2))
        np.testing.assert_allclose(found.probabilities, by_hand, rtol=1e-9)
        assert found.interval is not None
        low, high = np.moveaxis(found.interval, -1, 0)
        assert ((low < found.probabilities) & (found.probabilities < high)).all()


def test_the_shell_takes_what_a_text_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "ages.json")
    AGES.write(path)
    asked = ["Ill | Age>=40", "Ill | Visits in {0, 1}", "Ill | Visits ~ {0: 1, 1: 2, 2: 3, 10: 0}"]
    assert main(["query", path, *asked, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [part["given"] for part in shown] == [
        {"Age": ">=40"},
        {"Visits": ["0", "1"]},
        {"Visits": {"0": 1.0, "1": 2.0, "2": 3.0, "10": 0.0}},
    ]
    for part, text in zip(shown, asked, strict=True):
        np.testing.assert_allclose(part["answer"], query(AGES, text).probabilities)
    assert main(["effect", path, "Ill | do(Visits), Age>=40"]) == 0
    assert "Age>=40" in capsys.readouterr().out


def test_a_row_to_predict_has_values_and_no_sets() -> None:
    predictor = AGES.compile("Ill")
    for value in (["0", "1"], {"0": 1.0}, ">=1"):
        with pytest.raises(LacunetError, match="Visits"):
            predictor({"Visits": value})


def test_hidden_common_causes_are_named_behind_uncertain_evidence() -> None:
    assert states_and_likelihoods(AGES, {"Age": None, "Visits": "1"}) == ({"Visits": 1}, {})
    with pytest.raises(QueryError, match="'Age'"):
        query(AGES, "Ill", {"Age": ["[0,40)", "[40,60)"]}, do={"Age": "[0,40)"})
