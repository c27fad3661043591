from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lacunet as lc
import lacunet.inference.joint as joint_module
from examples import RAIN
from lacunet.errors import LacunetError, LacunetWarning
from lacunet.inference.answer import Answer
from lacunet.inference.errors import ImpossibleEvidenceError, OverBudgetError, QueryError
from lacunet.inference.joint import family_marginals, plan_joint
from lacunet.inference.query import marginals, query
from lacunet.learning.learn import learn
from lacunet.network.errors import NetworkError
from lacunet.network.mechanisms import Mechanisms
from lacunet.network.network import Network
from strategies import networks


def full_joint(network: Network) -> np.ndarray:
    """Every configuration's probability, one by one: axes in the order of the variables."""
    joint = np.zeros(network.shape(network.variables))
    for cell in product(*map(range, joint.shape)):
        at = dict(zip(network.variables, cell, strict=True))
        joint[cell] = np.prod(
            [
                network.cpt(name).table[tuple(at[axis] for axis in network.family(name))]
                for name in network.variables
            ]
        )
    return joint


def by_enumeration(network: Network, target: tuple[str, ...], seen: dict[str, str]) -> np.ndarray:
    joint = full_joint(network)
    for axis, name in enumerate(network.variables):
        if name in seen:
            mask = np.zeros(joint.shape[axis])
            mask[network.states(name).index(seen[name])] = 1
            joint = joint * mask.reshape([-1 if a == axis else 1 for a in range(joint.ndim)])
    out = tuple(axis for axis, name in enumerate(network.variables) if name not in target)
    left = [name for name in network.variables if name in target]
    return joint.sum(axis=out).transpose([left.index(name) for name in target])


@st.composite
def questions(draw: st.DrawFn) -> tuple[Network, tuple[str, ...], dict[str, str]]:
    network = draw(networks(max_variables=7))
    target = tuple(draw(st.lists(st.sampled_from(network.variables), max_size=4, unique=True)))
    seen = draw(st.lists(st.sampled_from(network.variables), max_size=4, unique=True))
    return network, target, {name: draw(st.sampled_from(network.states(name))) for name in seen}


@settings(deadline=None)
@given(questions())
def test_a_joint_query_is_what_enumeration_gives(
    question: tuple[Network, tuple[str, ...], dict[str, str]],
) -> None:
    network, target, evidence = question
    expected = by_enumeration(network, target, evidence)
    if expected.sum() == 0:
        with pytest.raises(ImpossibleEvidenceError):
            query(network, target, evidence)
    else:
        answer = query(network, target, evidence)
        np.testing.assert_allclose(answer, expected / expected.sum(), rtol=1e-10, atol=1e-14)


@settings(deadline=None)
@given(questions())
def test_all_marginals_are_what_enumeration_gives(
    question: tuple[Network, tuple[str, ...], dict[str, str]],
) -> None:
    network, _, evidence = question
    if by_enumeration(network, (), evidence) == 0:
        with pytest.raises(ImpossibleEvidenceError):
            marginals(network, evidence)
        return
    for name, answer in marginals(network, evidence).items():
        expected = by_enumeration(network, (name,), evidence)
        np.testing.assert_allclose(answer, expected / expected.sum(), rtol=1e-10, atol=1e-14)


@settings(deadline=None)
@given(networks(max_variables=7))
def test_the_family_marginals_are_what_enumeration_gives(network: Network) -> None:
    for name, answer in family_marginals(network).items():
        expected = by_enumeration(network, network.family(name), {})
        np.testing.assert_allclose(answer, expected, rtol=1e-10, atol=1e-14)


def test_wet_grass_makes_rain_likelier_as_done_by_hand() -> None:
    # Pr(wet) = .8 (.6 * 0 + .4 * .9) + .2 (.99 * .8 + .01 * .99) = .288 + .16038
    answer = query(RAIN, ["Rain"], {"Wet": "yes"})
    np.testing.assert_allclose(answer, [0.288 / 0.44838, 0.16038 / 0.44838], rtol=1e-14)


def test_a_target_that_is_seen_is_certain() -> None:
    answer = query(RAIN, ["Wet", "Rain"], {"Wet": "yes"})
    assert (answer.probabilities[0] == 0).all()
    np.testing.assert_allclose(
        answer.probabilities[1], query(RAIN, ["Rain"], {"Wet": "yes"}), rtol=1e-15
    )


def test_the_marginals_of_some_variables_are_those_among_all() -> None:
    every = marginals(RAIN, {"Wet": "yes"})
    some = marginals(RAIN, {"Wet": "yes"}, variables=["Sprinkler"])
    assert list(some) == ["Sprinkler"]
    np.testing.assert_allclose(some["Sprinkler"], every["Sprinkler"], rtol=1e-14)


def test_impossible_evidence_is_named() -> None:
    evidence = {"Rain": "no", "Sprinkler": "off", "Wet": "yes"}
    with pytest.raises(ImpossibleEvidenceError, match=r"Rain=no.*Wet=yes"):
        marginals(RAIN, evidence)


def test_an_unknown_state_or_variable_in_the_evidence_is_named() -> None:
    with pytest.raises(NetworkError, match="damp"):
        query(RAIN, ["Rain"], {"Wet": "damp"})
    with pytest.raises(NetworkError, match="Snow"):
        query(RAIN, ["Snow"])


def test_a_target_named_twice_is_refused() -> None:
    with pytest.raises(QueryError, match=r"\['Rain'\]"):
        query(RAIN, ["Rain", "Wet", "Rain"])


def crowd(leaves: int, likelihood: float) -> Network:
    """One hidden cause with two states and many symptoms, all of them rare."""
    names = [f"S{at}" for at in range(leaves)]
    states = {"Cause": ["a", "b"], **{name: ["no", "yes"] for name in names}}
    rare = [[1 - likelihood, likelihood], [1 - likelihood / 2, likelihood / 2]]
    tables: dict[str, Any] = {"Cause": [0.5, 0.5], **dict.fromkeys(names, rare)}
    return Network(states, {name: ["Cause"] for name in names}, tables)


def test_evidence_far_below_the_smallest_float_does_not_underflow() -> None:
    # A thousand symptoms of 1e-3 each: the evidence has a probability of 1e-3000.
    network = crowd(1000, 1e-3)
    half = {f"S{at}": "yes" if at < 500 else "no" for at in range(1000)}
    odds = 0.5**500 * ((1 - 1e-3 / 2) / (1 - 1e-3)) ** 500
    answer = query(network, ["Cause"], half)
    np.testing.assert_allclose(answer.probabilities[1] / answer.probabilities[0], odds, rtol=1e-10)


def chain(length: int) -> Network:
    names = [f"X{at}" for at in range(length)]
    step = [[1 - 1e-5, 1e-5], [2e-5, 1 - 2e-5]]
    tables: dict[str, Any] = {names[0]: [0.5, 0.5], **dict.fromkeys(names[1:], step)}
    parents = {after: [before] for before, after in pairwise(names)}
    return Network({name: ["0", "1"] for name in names}, parents, tables)


def test_a_long_chain_of_unlikely_turns_does_not_underflow() -> None:
    # Every second variable is seen, at alternating states; those between are symmetric
    # but for the step, so that Pr(between) follows from its two neighbours alone.
    evidence = {f"X{at}": str(at // 2 % 2) for at in range(0, 1000, 2)}
    answer = marginals(chain(1000), evidence)
    stay = [(1 - 1e-5) * 1e-5, 1e-5 * (1 - 2e-5)]  # 0 -> x -> 1
    np.testing.assert_allclose(answer["X401"], np.array(stay) / sum(stay), rtol=1e-10)


def lattice(side: int) -> Network:
    names = {(i, j): f"{i}.{j}" for i in range(side) for j in range(side)}
    parents = {
        name: [names[at] for at in ((i - 1, j), (i, j - 1)) if at in names]
        for (i, j), name in names.items()
    }
    tables = {
        name: np.random.default_rng(at).dirichlet([1, 1], size=(2,) * len(parents[name]))
        for at, name in names.items()
    }
    return Network({name: ["0", "1"] for name in names.values()}, parents, tables)


def test_too_large_a_clique_is_refused_before_anything_is_allocated() -> None:
    network = lattice(18)
    tracemalloc.start()
    with pytest.raises(OverBudgetError, match="8 MiB"):
        family_marginals(network, memory=8 * 2**20)
    assert tracemalloc.get_traced_memory()[1] < 4 * 2**20
    tracemalloc.stop()


def test_the_forecast_bounds_the_memory_taken() -> None:
    network = lattice(15)
    tree = plan_joint(
        network, [network.family(name) for name in network.variables]
    ).calibration.tree
    tracemalloc.start()
    family_marginals(network)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # What is not tables (names, sets, small arrays) stays below two megabytes.
    assert 0.3 * tree.memory < peak < tree.memory + 2 * 2**20


def test_what_has_no_descendants_of_interest_is_left_out() -> None:
    network = lattice(40)
    corner = query(network, ["1.1"], memory=10_000)
    np.testing.assert_allclose(corner, query(lattice(2), ["1.1"]), rtol=1e-12)


def test_what_the_evidence_cuts_off_takes_no_memory() -> None:
    grid = lattice(12)
    states = {"Cause": ["0", "1"], "Effect": ["0", "1"], **grid.states_of}
    parents = {"Effect": ["Cause"], **grid.parents_of, "0.0": ["Effect"]}
    tables: dict[str, Any] = {
        **(grid.tables_of or {}),
        "Cause": [0.5, 0.5],
        "Effect": [[0.9, 0.1], [0.3, 0.7]],
        "0.0": [[0.5, 0.5], [0.2, 0.8]],
    }
    network = Network(states, parents, tables)
    far = {"Effect": "1", "11.11": "0"}
    with pytest.raises(OverBudgetError):
        query(network, "10.10", far, memory=10_000)
    np.testing.assert_allclose(
        query(network, "Cause", far, memory=10_000), [0.125, 0.875], rtol=1e-14
    )


def test_evidence_that_contradicts_itself_far_from_the_target_is_impossible() -> None:
    names = ["Target", "Wall", "Hidden", "Twin", "Other"]
    copy = [[1.0, 0.0], [0.0, 1.0]]
    network = Network(
        {name: ["0", "1"] for name in names},
        {"Wall": ["Target"], "Hidden": ["Wall"], "Twin": ["Hidden"], "Other": ["Hidden"]},
        {
            "Target": [0.5, 0.5],
            "Wall": [[0.9, 0.1], [0.3, 0.7]],
            "Hidden": [[0.5, 0.5], [0.2, 0.8]],
            "Twin": copy,
            "Other": copy,
        },
    )
    with pytest.raises(ImpossibleEvidenceError, match="Twin=0, Other=1"):
        query(network, "Target", {"Wall": "1", "Twin": "0", "Other": "1"})


def test_the_same_question_with_other_states_is_not_planned_again() -> None:
    network = lattice(5)
    query(network, "2.2", {"4.4": "0"})
    planned_before = joint_module._plan.cache_info().misses
    again = query(network, "2.2", {"4.4": "1"})
    assert joint_module._plan.cache_info().misses == planned_before
    np.testing.assert_allclose(again, marginals(network, {"4.4": "1"})["2.2"], rtol=1e-12)


def test_a_plan_does_not_depend_on_the_questions_before() -> None:
    network = lattice(6)
    scopes = [network.family(name) for name in network.variables]
    first = plan_joint(network, scopes).calibration.tree
    joint_module._plan.cache_clear()
    joint_module._structure.cache_clear()
    query(network, "3.3", {"5.5": "1"})
    assert plan_joint(network, scopes).calibration.tree == first


def test_an_intervention_is_refused_where_hidden_common_causes_matter() -> None:
    names = ("Z", "X", "Y", "W")
    parents = {"X": ["Z"], "Y": ["X"], "W": ["Y"]}
    rng = np.random.default_rng(0)
    tables = {n: rng.dirichlet([1, 1], [2] * len(parents.get(n, []))) for n in names}
    network = Network({name: ["0", "1"] for name in names}, parents, tables)
    known = network.with_mechanisms(Mechanisms("X <-> W", {}))
    with pytest.raises(QueryError, match="'X' and 'W'"):
        query(known, "W", do={"X": "1"})
    with pytest.raises(QueryError, match="hidden"):
        marginals(known, do={"X": "1"})
    # W comes after all that is asked about, and nobody sets it.
    np.testing.assert_array_equal(
        query(known, "Y", do={"X": "1"}), query(network, "Y", do={"X": "1"})
    )
    with pytest.warns(LacunetWarning, match="'X' and 'W'"):
        np.testing.assert_array_equal(
            query(known, "W", {"X": "1"}), query(network, "W", {"X": "1"})
        )
    with pytest.warns(LacunetWarning, match="'X' and 'W'"):
        marginals(known, {"X": "1"})
    for name in marginals(known):  # the law of each variable alone is right, and nothing is said
        np.testing.assert_array_equal(query(known, name), query(network, name))


@pytest.mark.parametrize(
    ("typed", "call"),
    [
        ("P(Rain | Wet=yes)", lambda: query(RAIN, "Rain", {"Wet": "yes"})),
        ("Rain | Wet = yes", lambda: query(RAIN, "Rain", {"Wet": "yes"})),
        ("P(Rain)", lambda: query(RAIN, "Rain")),
        (
            "P(Wet, Sprinkler | do(Rain=yes))",
            lambda: query(RAIN, ["Wet", "Sprinkler"], do={"Rain": "yes"}),
        ),
        (
            "Rain | do(Sprinkler=on), Wet=yes",
            lambda: query(RAIN, "Rain", {"Wet": "yes"}, do={"Sprinkler": "on"}),
        ),
        ('Rain | Wet="yes"', lambda: query(RAIN, "Rain", {"Wet": "yes"})),
    ],
)
def test_a_query_may_be_written_as_on_the_command_line(
    typed: str, call: Callable[[], Answer]
) -> None:
    assert str(query(RAIN, typed)) == str(call())


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("P(Rain | Rain)", "'Rain'"),
        ("P(Rain | Wet, do(Wet))", "'Wet'"),
        ("P(Rain | Wet, Wet=yes)", "'Wet'"),
        ("P(Rain | Wet=damp)", "damp"),
        ("P(Snow)", "Snow"),
        ("P(| Wet=yes)", "variable"),
    ],
)
def test_a_written_query_that_cannot_be_asked_says_what_can(typed: str, message: str) -> None:
    with pytest.raises(LacunetError, match=message):
        query(RAIN, typed)


def test_what_a_written_query_says_is_not_said_twice() -> None:
    assert query(RAIN, "P(Rain)", {"Wet": "yes"})["yes"] == query(RAIN, "Rain | Wet=yes")["yes"]
    with pytest.raises(QueryError, match="in one of the two"):
        query(RAIN, "Rain | Wet=yes", {"Sprinkler": "on"})


def test_evidence_in_another_form_is_answered_with_the_mapping_of_it() -> None:
    for written in ("Wet=yes, Sprinkler = on", ["Wet=yes", "Sprinkler=on"]):
        with pytest.raises(QueryError, match=r"\{'Wet': 'yes', 'Sprinkler': 'on'\}"):
            query(RAIN, "Rain", written)  # type: ignore[arg-type]
    with pytest.raises(QueryError, match=r"\{'Sprinkler': 'on'\}"):
        query(RAIN, "Rain", "Sprinkler")  # type: ignore[arg-type]
    with pytest.raises(QueryError, match=r"\{'Wet': 'yes'\}"):
        query(RAIN, "Rain", "yes")  # type: ignore[arg-type]


def test_an_answer_has_the_intervals_of_its_result_without_being_asked() -> None:
    rows = {"Rain": ["no", "yes"] * 20, "Sprinkler": ["on", "off"] * 20, "Wet": ["no", "yes"] * 20}
    result = learn(RAIN, rows, "direct-mcar", intervals=True)
    seen = {"Wet": "yes"}
    answer = query(result, "Rain", seen, unsupported="ignore")
    asked = query(result, "Rain", {"Wet": "yes"}, unsupported="ignore")
    seen["Wet"] = "no"  # intervals are computed later, of what was asked
    assert str(answer) == str(asked)
    np.testing.assert_array_equal(answer.interval, asked.interval)
    for same in (pickle.loads(pickle.dumps(answer)), copy.copy(answer), copy.deepcopy(answer)):
        assert str(same) == str(answer)
        np.testing.assert_array_equal(same.interval, asked.interval)
    narrow = query(result, "Rain", seen, level=0.5, unsupported="ignore")
    assert narrow.level == 0.5
    assert "50% interval" in str(narrow)


def test_an_answer_without_intervals_says_how_to_get_them() -> None:
    rows = {"Rain": ["no", "yes"] * 20, "Sprinkler": ["on", "off"] * 20, "Wet": ["no", "yes"] * 20}
    result = learn(RAIN, rows, "direct-mcar")
    line = "No intervals: learn with intervals=True (--intervals)."
    assert str(query(result, "Rain")).endswith(f"\n{line}")
    assert line not in str(query(result.network, "Rain"))
    with pytest.raises(LacunetError, match=r"learn\(network, data, intervals=True\)"):
        _ = query(result, "Rain").interval
    with pytest.raises(LacunetError, match="a network alone"):
        _ = query(result.network, "Rain").interval


def test_marginals_have_the_intervals_of_their_result() -> None:
    rows = {"Rain": ["no", "yes"] * 20, "Sprinkler": ["on", "off"] * 20, "Wet": ["no", "yes"] * 20}
    result = learn(RAIN, rows, "direct-mcar", intervals=True)
    seen = {"Wet": "yes"}
    found = result.marginals(seen, level=0.8, unsupported="ignore")
    for name, answer in found.items():
        alone = result.query(name, seen, level=0.8, unsupported="ignore")
        assert str(answer) == str(alone)
        np.testing.assert_array_equal(answer.interval, alone.interval)


def test_an_answer_is_read_by_states() -> None:
    answer: Any = query(RAIN, ["Rain", "Wet"])
    table = answer.probabilities
    rain, wet = RAIN.states("Rain"), RAIN.states("Wet")
    for i, j in np.ndindex(*table.shape):
        number = answer[rain[i], wet[j]]
        assert type(number) is float
        assert number == table[i, j] == answer[rain[i]][wet[j]]
        assert (
            number == answer[{"Wet": wet[j], "Rain": rain[i]}] == answer[{"Wet": wet[j]}][rain[i]]
        )
    assert answer[{"Wet": "yes"}].title == "P(Rain, Wet=yes)"
    assert answer[{"Wet": "yes"}].variables == ("Rain",)
    for wrong, named in [
        (("no", "wet"), r"'Wet'.*'wet'"),
        ((rain[0], wet[0], "more"), "Rain, Wet"),
        ({"Age": "old"}, "Age"),
        (1, r"'Rain'.*'1'(.|\n)*probabilities\[1\]"),
        (True, "True"),
    ]:
        with pytest.raises(LacunetError, match=named):
            answer[wrong]


def test_an_answer_is_a_mapping_of_states_to_numbers() -> None:
    answer, joint = query(RAIN, "Rain", {"Wet": "yes"}), query(RAIN, ["Rain", "Wet"])
    assert dict(answer) == dict(answer.items()) == {s: answer[s] for s in RAIN.states("Rain")}
    assert len(answer) == 2
    assert [*joint] == joint.keys() == [*product(("no", "yes"), ("no", "yes"))]
    assert joint.values() == joint.probabilities.ravel().tolist() == [joint[key] for key in joint]
    assert "yes" in answer
    assert "damp" not in answer


def test_an_answer_is_a_value_and_not_an_array() -> None:
    answer = query(RAIN, "Rain", {"Wet": "yes"})
    assert not isinstance(answer, np.ndarray)
    assert {name for name in dir(answer) if not name.startswith("_")} == {
        *("bounds", "bounds_are_exact", "interval", "items", "keys", "level", "probabilities"),
        *("standard_error", "states", "title", "to_frame", "unsupported", "values", "variables"),
    }
    assert answer == query(RAIN, "P(Rain | Wet=yes)")
    assert hash(answer) == hash(query(RAIN, "P(Rain | Wet=yes)"))
    assert answer != query(RAIN, "Rain")
    with pytest.raises(ValueError, match="read-only"):
        answer.probabilities[0] = 1.0
    copied = np.asarray(answer)
    copied[:] = 0.0  # a copy
    np.testing.assert_allclose(np.exp(np.log(answer)), answer.probabilities)
    assert np.asarray(answer, np.float32).dtype == np.float32


def test_an_answer_is_shown_in_one_line_and_printed_as_a_table() -> None:
    answer = query(RAIN, "Rain", {"Wet": "yes"})
    assert repr(answer) == "<P(Rain | Wet=yes): no {:.4f}, yes {:.4f}>".format(*answer.values())
    assert repr(query(RAIN, ["Rain", "Wet"])) == "<P(Rain, Wet): 4 probabilities>"
    assert str(answer).count("\n") == 2
    many = Network({"A": [*map(str, range(40))]}, {}, {"A": np.full(40, 1 / 40)})
    assert repr(query(many, "A")).endswith("4 0.0250 and 35 more>")


def test_states_that_are_numbers_or_truth_values_are_named_by_them() -> None:
    graded = Network({"Grade": ["1", "2", "3"]}, tables={"Grade": [0.5, 0.3, 0.2]})
    answer = query(graded, "Grade")
    assert answer[1] == answer["1"] == answer[1.0] == answer[{"Grade": 1}] == 0.5
    assert answer.probabilities[1] == 0.3
    for number in (0, -1, 4):
        with pytest.raises(LacunetError, match="Grade"):
            answer[number]
    tables = {"Ill": [0.25, 0.75], "Old": [0.5, 0.5]}
    network = Network({"Ill": ["False", "True"], "Old": ["true", "false"]}, tables=tables)
    joint: Any = query(network, ["Ill", "Old"])
    assert joint[True, False] == joint[{"Ill": True, "Old": False}] == joint[True][False] == 0.375


WITHOUT_PANDAS = """
import sys

class Hidden:
    def find_spec(self, name, *_):
        if name.partition(".")[0] == "pandas":
            raise ModuleNotFoundError(name)

if sys.argv[1] == "hidden":
    sys.meta_path.insert(0, Hidden())
import lacunet as lc
asia = lc.example("asia")
frames = [asia.query("lung").to_frame(), asia.effect("lung", do="smoke").to_frame()]
frames += [asia.cpt("lung").to_frame(), asia.sample(3, rng=0)]
print({type(frame).__module__.partition(".")[0] for frame in frames})
"""


@pytest.mark.parametrize(("pandas_is", "library"), [("hidden", "pyarrow"), ("installed", "pandas")])
def test_a_frame_needs_no_pandas(pandas_is: str, library: str) -> None:
    words = [sys.executable, "-c", WITHOUT_PANDAS, pandas_is]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str({library})


def test_a_state_that_is_asked_about_is_the_answer() -> None:
    whole = query(RAIN, ["Rain", "Wet"], {"Sprinkler": "on"})
    answer = query(RAIN, "P(Rain=yes, Wet | Sprinkler=on)")
    np.testing.assert_array_equal(answer, whole.probabilities[1:])
    assert str(answer).startswith("P(Rain=yes, Wet | Sprinkler=on)\n")
    assert answer.states == (("yes",), RAIN.states("Wet"))
    alone = query(RAIN, "P(Rain=yes)")
    assert float(alone) == alone["yes"] == query(RAIN, "Rain")["yes"]
    with pytest.raises(TypeError, match=r'P\(Rain=yes, Wet=yes \| .*answer\["yes", "yes"\]'):
        float(whole)


def test_what_is_given_without_a_state_has_a_row_for_each() -> None:
    table: Any = query(RAIN, "P(Rain, Wet=yes | Sprinkler)")
    assert table.variables == ("Sprinkler", "Rain", "Wet")
    assert str(table).startswith("P(Rain, Wet=yes | Sprinkler)\n")
    for state in RAIN.states("Sprinkler"):
        row = query(RAIN, "P(Rain, Wet=yes)", {"Sprinkler": state})
        np.testing.assert_array_equal(table[state], row)
        assert table[state].title == "P(Rain, Wet=yes | Sprinkler=" + state + ")"
    done = query(RAIN, "P(Wet | do(Sprinkler), Rain)")
    assert done.title == "P(Wet | do(Sprinkler), Rain)"
    for sprinkler, rain in product(RAIN.states("Sprinkler"), RAIN.states("Rain")):
        row = query(RAIN, "Wet", {"Rain": rain}, do={"Sprinkler": sprinkler})
        np.testing.assert_array_equal(done[sprinkler, rain], row)
    whole = query(RAIN, "P(Wet | Rain, Sprinkler)")
    np.testing.assert_allclose(whole, RAIN.cpt("Wet").table, rtol=1e-12)


def test_a_table_of_answers_has_their_intervals_bounds_and_shares() -> None:
    rows = {"Rain": ["no", "yes"] * 20, "Sprinkler": ["on", "off"] * 20, "Wet": ["no", "yes"] * 20}
    result = learn(RAIN, rows, "direct-mcar", intervals=True)
    with pytest.warns(LacunetWarning, match=r"P\(Wet \| Rain=") as told:
        table: Any = query(result, "P(Wet | Rain)")
    assert len(told) == 1
    each = [
        query(result, "Wet", {"Rain": rain}, unsupported="bounds") for rain in RAIN.states("Rain")
    ]
    np.testing.assert_array_equal(table.interval, [answer.interval for answer in each])
    np.testing.assert_array_equal(table.standard_error, [own.standard_error for own in each])
    assert table.unsupported == max(answer.unsupported or 0 for answer in each)
    bounds = query(result, "P(Wet | Rain)", unsupported="bounds").bounds
    assert bounds is not None
    np.testing.assert_array_equal(bounds.low, [own.bounds.low for own in each if own.bounds])
    for rain, own in zip(RAIN.states("Rain"), each, strict=True):
        assert table[rain].unsupported == own.unsupported
        assert table[rain].title == own.title
        np.testing.assert_array_equal(table[rain].interval, own.interval)
        np.testing.assert_array_equal(table[rain].standard_error, own.standard_error)
    assert len(table.to_frame()) == 4
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(table)).interval, table.interval)


def test_a_table_with_too_many_rows_is_refused() -> None:
    network = Network({name: [*map(str, range(40))] for name in "ABC"}, {})
    network = network.with_tables({name: np.full(40, 1 / 40) for name in "ABC"})
    with pytest.raises(QueryError, match="1,600"):
        query(network, "P(A | B, C)")


def test_the_interval_of_a_state_is_that_of_the_whole_answer() -> None:
    rows = {"Rain": ["no", "yes"] * 20, "Sprinkler": ["on", "off"] * 20, "Wet": ["no", "yes"] * 20}
    result = learn(RAIN, rows, "direct-mcar", intervals=True)
    whole, state = query(result, "Rain"), query(result, "P(Rain=yes)")
    at = RAIN.states("Rain").index("yes")
    assert whole.interval is not None
    assert state.interval is not None
    np.testing.assert_array_equal(state.interval[0], whole.interval[at])
    bounded = query(result, "P(Rain=yes)", unsupported="bounds").bounds
    assert bounded is not None
    assert bounded.low.shape == (1,)


@pytest.mark.parametrize(
    "text",
    ["p(Rain | Wet=yes)", "P(Rain | Wet='yes')", "P('Rain' | Wet==yes)", "Pr(Rain|Wet = 'yes')"],
)
def test_a_query_may_be_written_in_many_ways(text: str) -> None:
    assert str(query(RAIN, text)) == str(query(RAIN, "Rain", {"Wet": "yes"}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("P(Rain | Wet=yes; Sprinkler=on)", "Wet=yes, Sprinkler=on"),
        ("P(Rain | Wet=yes & Sprinkler=on)", "Wet=yes, Sprinkler=on"),
        ("P(Rain | Wet=yes and Sprinkler=on)", "Wet=yes, Sprinkler=on"),
        ("P(Rain | Wet!=yes)", "Wet=no"),
    ],
)
def test_a_query_that_cannot_be_read_is_answered_with_the_way(text: str, message: str) -> None:
    with pytest.raises(LacunetError, match=message):
        query(RAIN, text)


def test_names_with_a_comma_between_ask_for_the_joint() -> None:
    joint = query(RAIN, ["Rain", "Sprinkler"], {"Wet": "yes"})
    np.testing.assert_array_equal(query(RAIN, "Rain,Sprinkler", {"Wet": "yes"}), joint)
    odd = Network({"a,b": ["0", "1"]}, {}, {"a,b": [0.25, 0.75]})
    assert query(odd, "a,b")["1"] == 0.75


@pytest.mark.parametrize("null", [pd.NA, pd.NaT])
def test_pandas_own_nulls_are_not_evidence(null: object) -> None:
    assert (
        query(RAIN, "Rain", {"Wet": null}).probabilities.tolist()
        == query(RAIN, "Rain").probabilities.tolist()
    )


CODED = Network(
    {"Age": ["0-39", "40-49", "50+"], "Smokes": ["no", "yes"], "Ill": ["a", "b", "c"]},
    {"Smokes": ["Age"], "Ill": ["Age", "Smokes"]},
    {
        "Age": [0.5, 0.3, 0.2],
        "Smokes": [[0.8, 0.2], [0.6, 0.4], [0.7, 0.3]],
        "Ill": [
            [[0.7, 0.2, 0.1], [0.5, 0.3, 0.2]],
            [[0.4, 0.4, 0.2], [0.2, 0.6, 0.2]],
            [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]],
        ],
    },
    codes={"Age": {"40+": ["40-49", "50+"], 9: None}, "Ill": {"ab": ["a", "b"]}},
).with_support({"Age": 10, "Smokes": [4, 0, 3], "Ill": [[1, 1], [1, 0], [1, 1]]})


def test_a_code_for_one_of_several_states_is_evidence() -> None:
    age, smokes, ill = (CODED.cpt(name).table for name in CODED.variables)
    joint = age[:, None, None] * smokes[:, :, None] * ill
    supported = joint * CODED.support["Smokes"][:, None, None] * CODED.support["Ill"][:, :, None]

    def share(places: slice) -> float:
        return float(1 - supported[places, :, :2].sum() / joint[places, :, :2].sum())

    answer = CODED.query("Smokes", {"Age": "40+", "Ill": "ab"}, unsupported="ignore")
    expected = joint[1:, :, :2].sum(axis=(0, 2)) / joint[1:, :, :2].sum()
    np.testing.assert_allclose(answer, expected, rtol=1e-12)
    assert answer.unsupported == pytest.approx(share(slice(1, 3)), rel=1e-12)
    assert str(answer).startswith("P(Smokes | Age=40+, Ill=ab)")
    text = CODED.query("P(Smokes | Age=40+, Ill=ab)", unsupported="ignore")
    np.testing.assert_array_equal(text, answer)
    row = {"Age": "40+", "Ill": "ab"}
    np.testing.assert_allclose(CODED.compile("Smokes")(row)["Smokes"], expected, rtol=1e-12)
    rows = {name: [own] for name, own in row.items()}
    frame = CODED.predict(rows, "Smokes", unsupported="ignore")
    np.testing.assert_allclose([frame[f"Smokes={s}"][0] for s in ("no", "yes")], expected)
    missing = CODED.query("Smokes", {"Age": 9, "Ill": "ab"}, unsupported="ignore")
    np.testing.assert_allclose(missing, joint[..., :2].sum(axis=(0, 2)) / joint[..., :2].sum())
    itself = CODED.query("Age", {"Age": "40+"})
    np.testing.assert_allclose(itself, [0, 0.6, 0.4])
    done = CODED.query("Ill", {"Age": "40+"}, do={"Smokes": "no"}, unsupported="bounds")
    after = (age[1:, None] * ill[1:, 0]).sum(axis=0) / age[1:].sum()
    np.testing.assert_allclose(done, after)
    for asked in ({"do": {"Age": "40+"}}, {}):
        with pytest.raises(LacunetError, match="'Age'"):
            CODED.query("Ill" if asked else "P(Age=40+)", **asked)


def test_codes_are_read_beside_mechanisms() -> None:
    rows = {"A": ["1", "2", "2", None] * 5, "B": ["0", "1", None, "1"] * 5}
    states = {"A": ["one", "two", "three"], "B": ["0", "1"]}
    codes = {"A": {1: "one", 2: "two", 3: "three", 4: ["two", "three"]}}
    network = lc.Network(states, {"B": ["A"]}, codes=codes)
    result = lc.learn(network, rows, "em", pseudo_counts=1, missingness="A -> R[B]; R[A]")
    predictor = result.compile("B")
    by_name, by_code = (predictor({"A": own})["B"] for own in ("two", 2))
    np.testing.assert_array_equal(by_name, by_code)
    coarse = result.predict({"A": [4]}, "B", unsupported="ignore")
    np.testing.assert_allclose(predictor({"A": 4})["B"].probabilities[0], coarse["B=0"][0])


def test_states_are_not_given_with_the_target() -> None:
    for target in ({"Rain": "yes"}, {"Rain": "snow"}):  # a state that there is not, too
        with pytest.raises(QueryError, match=r"'Rain'.*(?s:.)*behind the bar.*evidence"):
            query(RAIN, target)  # type: ignore[arg-type]


def test_a_comparison_as_evidence_is_answered_with_the_mapping_of_it() -> None:
    ages = Network({"Age": ["<62", ">=62"]}, tables={"Age": [0.5, 0.5]}, cuts={"Age": [0, 62, 99]})
    with pytest.raises(QueryError, match=r"\{'Age': '>=62'\}"):
        query(ages, "Age", evidence="Age>=62")  # type: ignore[arg-type]


def test_a_query_about_several_probabilities_names_what_answers_it() -> None:
    network = lc.example("screening")
    text = "P(Disease=yes | Test=positive) - P(Disease=yes | Test=negative)"
    with pytest.raises(LacunetError, match=r"several probabilities(.|\n)*effect"):
        network.query(text)
