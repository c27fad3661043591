"""Codes and rules that networks carry."""

from __future__ import annotations

import pickle
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lacunet as lc
from lacunet.network.dictionary import DictionaryError, parsed_rule

STATES = {
    "Age": ("<20", "[20,40)", ">=40"),
    "Smoked 100": ("no", "yes"),
    "or": ("and", "not x"),
    "Now": ("no", "yes", "not_asked"),
}


def survey() -> lc.Network:
    return lc.Network(
        STATES,
        {"Now": ["or", "Smoked 100", "Age"]},
        codes={
            "Now": {7: None, 9.0: None, "some": ["no", "yes"]},
            "Smoked 100": {1: "yes", 2: "no"},
        },
        not_asked={"Now": "Smoked 100=no or Age=<20"},
    )


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("Age=<20", "age == 0"),
        ("Age!=[20,40)", "age != 1"),
        ("not Age=>=40", "age != 2"),
        ("Smoked 100=no and Age=<20", "smoked == 0 and age == 0"),
        ('"Smoked 100" = "no" OR Age = <20', "smoked == 0 or age == 0"),
        ("not (Age=<20 or Age=[20,40)) and (Smoked 100=yes)", "age == 2 and smoked == 1"),
        ("or=not x or Age=<20", "word == 1 or age == 0"),
        # 'and' binds more closely than 'or'
        ("Age=<20 or Age=>=40 and Smoked 100=no", "age == 0 or (age == 2 and smoked == 0)"),
    ],
)
def test_rules_say_what_they_say(rule: str, expected: str) -> None:
    scope, truth = parsed_rule(rule, STATES)
    place_of = {"Age": "age", "Smoked 100": "smoked", "or": "word"}
    for age, smoked, word in product(range(3), range(2), range(2)):
        states = {"age": age, "smoked": smoked, "word": word}
        cell = tuple(states[place_of[name]] for name in scope)
        assert truth[cell] == eval(expected, {}, states), (rule, states)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("Smoke=no", "the name of a variable"),
        ("Age=young", "a state of 'Age'"),
        ("Age <20", "the name of a variable"),
        ("Age=<20 Smoked 100=no", "'and', 'or' or the end"),
        ("(Age=<20", "a closing parenthesis"),
        ("", "the name of a variable"),
        ("Age=<20 and", "the name of a variable"),
    ],
)
def test_rules_that_say_nothing_are_refused(rule: str, message: str) -> None:
    with pytest.raises(DictionaryError, match=message):
        parsed_rule(rule, STATES)


def test_only_the_state_for_not_asked_is_possible_under_the_rule_and_nowhere_else() -> None:
    network = survey()
    possible = network.possible("Now")
    assert possible.shape == (2, 2, 3, 3)
    for word, smoked, age in product(range(2), range(2), range(3)):
        is_skipped = smoked == 0 or age == 0
        assert possible[word, smoked, age].tolist() == [not is_skipped] * 2 + [is_skipped]
    assert network.possible("Age").all()
    assert [*network.possible_of] == ["Now"]


def test_codes_and_rules_go_with_the_network() -> None:
    network = survey()
    uniform = {}
    for name in network.variables:
        possible = network.possible(name)
        uniform[name] = possible / possible.sum(axis=-1, keepdims=True)
    for other in (network.with_tables(uniform), pickle.loads(pickle.dumps(network))):
        assert other.codes_of == network.codes_of
        assert other.not_asked_of == network.not_asked_of
    assert pickle.loads(pickle.dumps(network)) == network
    assert network.with_codes() != network
    assert network.codes_of["Now"] == {"7": None, "9": None, "some": ("no", "yes")}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"codes": {"Ago": {9: None}}}, "did you mean 'Age'"),
        ({"codes": {"Now": {1: "often"}}}, "'often'"),
        ({"codes": {"Now": [9]}}, "not a mapping"),
        ({"codes": {"Now": {9: "yes", "9.0": "no"}}}, "both"),
        ({"codes": {"Now": {9: []}}}, "none of them"),
        ({"not_asked": {"Now": "Age=<20"}}, r"add the edges Age -> Now"),
        ({"not_asked": {"Now": "Now=no"}}, "'Now' itself"),
        ({"not_asked": {"Age": "Now=no"}}, "no state 'not_asked'"),
        ({"not_asked": {"Now": 3}}, "write not_asked="),
        ({"not_asked": {"Then": "Age=<20"}}, "'Then'"),
    ],
)
def test_what_cannot_be_meant_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(DictionaryError, match=message):
        lc.Network(STATES, {}, **options)  # type: ignore[arg-type]


def test_the_state_for_not_asked_can_have_another_name() -> None:
    network = lc.Network(
        {"A": ["no", "yes"], "B": ["0", "skipped"]},
        {"B": ["A"]},
        not_asked={"B": ("A=no", "skipped")},
    )
    assert network.possible("B").tolist() == [[False, True], [True, False]]


def test_sets_of_one_or_of_all_states_are_no_sets() -> None:
    network = lc.Network(
        {"A": ["a", "b", "c"]}, codes={"A": {1: ["a"], 2: ["c", "b", "a"], 3: {"c", "a"}}}
    )
    assert network.codes_of["A"] == {"1": "a", "2": None, "3": ("a", "c")}


@given(
    st.recursive(
        st.sampled_from(["Age=<20", "Age!=>=40", "Smoked 100=no", "or=and"]),
        lambda inner: st.one_of(
            inner.map(lambda one: f"not {one}" if " " not in one else f"not ({one})"),
            st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(
                lambda t: f"({t[0]}) {t[1]} ({t[2]})"
            ),
        ),
        max_leaves=6,
    )
)
def test_the_negation_of_a_rule_holds_where_it_does_not(rule: str) -> None:
    scope, truth = parsed_rule(rule, STATES)
    again, negated = parsed_rule(f"not ({rule})", STATES)
    assert again == scope
    assert (negated == ~truth).all()


def test_one_meaning_of_a_code_may_be_written_in_two_ways() -> None:
    rows = {"A": ["1", "2", "9"], "B": ["x", "y", "x"]}
    network = lc.Network({"A": ["1", "2", "3"], "B": ["x", "y"]}, {"B": ["A"]})
    for codes in ({9: 1, "9": "1"}, {9: ["1", "2"], "9.0": (2, 1)}):
        assert lc.learn(network, lc.Data(rows, codes={"A": codes}), "direct-mcar").rows == 3


def test_two_meanings_of_a_code_are_refused_wherever_they_are_said() -> None:
    rows = {"A": ["1", "2", "9"], "B": ["x", "y", "x"]}
    codes = {"A": {9: None, "9.0": "nine"}}
    network = lc.Network({"A": ["1", "2", "nine"], "B": ["x", "y"]}, {"B": ["A"]})
    with pytest.raises(DictionaryError, match="both None and 'nine'"):
        lc.Network.from_data(lc.Data(rows, codes=codes), "A -> B")
    with pytest.raises(DictionaryError, match="both None and 'nine'"):
        lc.learn(network, lc.Data(rows, codes=codes), "direct-mcar")
