"""Which state a value stands for."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacunet.data.matching import MISSING_TOKENS, Matcher, Outcome


def state(states: list[str], value: object, missing: list[str] | None = None) -> str | Outcome:
    """The state a value is matched to, or how it failed."""
    match = Matcher(states, missing or []).match(value)
    return match.outcome if match.code == len(states) else states[match.code]


@pytest.mark.parametrize("value", ["1", 1, 1.0, "1.0", "1.", "+1", "1e0", Decimal("1.00"), b"1"])
def test_every_way_to_write_one_matches_the_state_1(value: object) -> None:
    assert state(["0", "1", "2"], value) == "1"


@pytest.mark.parametrize("value", [True, "true", "True", "TRUE"])
def test_a_truth_value_matches_the_same_word_in_any_case(value: object) -> None:
    assert state(["FALSE", "tRUE"], value) == "tRUE"


@pytest.mark.parametrize("value", [True, "true", "TRUE", "True"])
@pytest.mark.parametrize("code", ["true", "True", "TRUE"])
def test_a_code_for_a_truth_value_is_the_same_word_in_any_case(value: object, code: str) -> None:
    assert Matcher(["no", "yes"], codes={code: "yes"}).match(value).code == 1


def test_a_text_is_matched_as_written_before_a_code_in_another_case() -> None:
    matcher = Matcher(["no", "yes"], codes={"TRUE": "no", "true": "yes"})
    assert [matcher.match(value).code for value in ("TRUE", "true", True)] == [0, 1, 1]


def test_a_text_is_matched_as_written_before_it_is_read_as_a_number() -> None:
    assert state(["1", "1.0", "01"], "1.0") == "1.0"
    assert state(["1", "1.0", "01"], "01") == "01"
    assert state(["true", "True"], "True") == "True"


def test_two_states_that_are_the_same_number_make_other_spellings_ambiguous() -> None:
    assert state(["1", "1.0"], "1.00") is Outcome.AMBIGUOUS
    assert state(["1", "1.0"], 1.0) is Outcome.AMBIGUOUS  # was it 1, turned into a float by a hole?
    assert state(["1", "1.0"], 1) == "1"
    assert state(["true", "True"], "TRUE") is Outcome.AMBIGUOUS
    assert state(["true", "True"], True) is Outcome.AMBIGUOUS


@pytest.mark.parametrize("value", ["01", "001.0", "1_0", "١", "0x1", "1 0"])
def test_a_label_that_merely_looks_like_a_number_matches_as_written_only(value: str) -> None:
    assert state(["1", "10"], value) is Outcome.UNKNOWN
    assert state(["1", value], value) == value


def test_a_truth_value_is_no_number_and_a_number_no_truth_value() -> None:
    assert state(["0", "1"], True) is Outcome.UNKNOWN
    assert state(["false", "true"], 1) is Outcome.UNKNOWN


@pytest.mark.parametrize("token", MISSING_TOKENS)
def test_a_missing_token_is_missing_unless_it_is_a_state(token: str) -> None:
    assert state(["a"], token) is Outcome.MISSING
    if token:
        assert state(["a", token], token) == token


def test_null_and_nan_are_missing_even_if_states_are_called_so() -> None:
    assert state(["None", "nan", "NaN"], None) is Outcome.MISSING
    assert state(["None", "nan", "NaN"], float("nan")) is Outcome.MISSING
    for null in (np.float32("nan"), np.datetime64("NaT"), pd.NA, pd.NaT):
        assert state(["nan", "<NA>", "NaT"], null) is Outcome.MISSING


def test_tokens_of_the_user_are_missing_in_every_spelling_of_the_number() -> None:
    for value in ("99", 99, 99.0, "99.0"):
        assert state(["0", "1"], value, ["99"]) is Outcome.MISSING
    assert state(["0", "99"], 99.0, ["99"]) == "99"
    assert state(["a"], "unknown", ["unknown"]) is Outcome.MISSING


def test_blanks_around_a_text_are_ignored_only_if_the_text_matches_nothing_else() -> None:
    assert Matcher(["yes", " yes"]).match(" yes").code == 1
    assert Matcher(["yes"]).match(" yes\t").outcome is Outcome.STRIPPED
    assert Matcher(["yes"]).match(" ? ").outcome is Outcome.STRIPPED
    assert Matcher(["yes"]).match("   ").code == 1
    assert Matcher(["1", "1.0"]).match(" 1.00 ").outcome is Outcome.AMBIGUOUS
    assert Matcher(["yes"]).match("y es").outcome is Outcome.UNKNOWN


def test_numbers_are_compared_exactly() -> None:
    assert state(["0.1"], 0.1) == "0.1"
    assert state(["0.10", "0.2"], "0.1") == "0.10"
    assert state(["9007199254740993", "x"], "9007199254740992") is Outcome.UNKNOWN
    assert state(["-1.5", "0"], -1.5) == "-1.5"
    assert state(["-1.5", "0"], -0.0) == "0"
    assert state(["1e400"], float("inf")) is Outcome.UNKNOWN
    assert state(["inf"], float("inf")) == "inf"


@given(st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=5, unique=True), st.data())
def test_every_state_matches_itself(states: list[str], data: st.DataObject) -> None:
    own = data.draw(st.sampled_from(states))
    assert state(states, own) == own


@given(
    st.lists(st.text("01.?+-e truTRU", min_size=1, max_size=5), min_size=1, unique=True),
    st.text("01.?+-e truTRU", max_size=6),
)
def test_permuting_the_states_commutes_with_matching(states: list[str], value: str) -> None:
    assert state(states, value) == state(states[::-1], value)
