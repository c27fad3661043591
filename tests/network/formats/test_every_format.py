"""The laws that every format keeps: round trips to the bit, clean refusals, sums of rows."""

from __future__ import annotations

import re
import string
import warnings
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from examples import RAIN
from lacunet.errors import LacunetWarning
from lacunet.network.formats import bif, dsc, lacunet_json, net, uai, xdsl, xmlbif
from lacunet.network.formats.draft import is_one_line
from lacunet.network.formats.endings import FORMATS
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.source import Source
from lacunet.network.network import Network
from strategies import networks

KEYWORDS = ["table", "default", "property", "network", "variable", "probability", "node", "net"]
AWKWARD = ["null", "1", "0.5", "-1.5", "<5", "c(d)", "//x", "/*y*/", "&amp;", "]]>", "a,b", "x|y"]
HOSTILE = st.sampled_from(KEYWORDS + AWKWARD) | st.text(
    st.sampled_from("\"\\',;|(){}[]<>&%#/*=: \t\n\r\x00\x85\u2028\xa0é\u0416\U0001f600ab01")
    | st.characters(exclude_categories=["Cs"]),
    min_size=1,
    max_size=6,
)
ONE_LINE = HOSTILE.filter(is_one_line)
IDENTIFIERS = st.sampled_from(["net", "node", "table", "default", "type"]) | st.from_regex(
    r"[A-Za-z][A-Za-z0-9_]{0,3}", fullmatch=True
)
QUOTABLE = ONE_LINE.filter(lambda name: '"' not in name and "\\" not in name)
TRIMMED = ONE_LINE.filter(lambda name: name == name.strip())


def numbered(network: Network) -> Network:
    """The same network under the names that a UAI file gives."""
    name = {variable: f"X{at}" for at, variable in enumerate(network.variables)}
    return Network(
        {name[v]: [str(at) for at in range(network.cardinality(v))] for v in network.variables},
        {name[v]: [name[parent] for parent in network.parents(v)] for v in network.variables},
        {name[v]: network.cpt(v).table for v in network.variables},
    )


PLAIN = networks(max_variables=4)
# For each format the networks that it can carry, and the formats that can do without numbers.
CARRIED = {
    bif: networks(ONE_LINE, ONE_LINE),
    xmlbif: networks(TRIMMED, TRIMMED),
    net: networks(IDENTIFIERS, QUOTABLE),
    dsc: networks(IDENTIFIERS, QUOTABLE),
    xdsl: networks(IDENTIFIERS, IDENTIFIERS),
    uai: networks().map(numbered),
    lacunet_json: networks(HOSTILE, HOSTILE),
}
CARRIES_STRUCTURE = [bif, xmlbif, net, lacunet_json]
MODULE_OF = {
    suffix: import_module(f"lacunet.network.formats.{name}") for suffix, name in FORMATS.items()
}
SUFFIX_OF = {form: suffix for suffix, form in reversed(MODULE_OF.items())}
NEEDS_NUMBERS = [form for form in CARRIED if form not in CARRIES_STRUCTURE]
each_format = pytest.mark.parametrize("form", list(CARRIED), ids=SUFFIX_OF.get)


def test_no_format_escapes_the_laws() -> None:
    assert set(CARRIED) == set(MODULE_OF.values())


def example(form: ModuleType) -> Network:
    return numbered(RAIN) if form is uai else RAIN


def read(form: ModuleType, text: str) -> Network:
    return form.parse(Source.of(f"file{SUFFIX_OF[form]}", text))


def attempted(function: Callable[..., Any], *arguments: object) -> tuple[Any, str]:
    """What a function gives, or None and the words with which it refuses."""
    try:
        return function(*arguments), ""
    except FormatError as error:
        return None, str(error)


def bits(network: Network) -> dict[str, bytes]:
    return {variable: network.cpt(variable).table.tobytes() for variable in network.variables}


@each_format
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_round_trip_changes_no_name_and_no_bit(form: ModuleType, data: st.DataObject) -> None:
    network = data.draw(CARRIED[form])
    back = read(form, form.render(network))
    assert back == network
    assert bits(back) == bits(network)


@each_format
def test_numbers_at_the_edge_of_precision_come_back_to_the_bit(form: ModuleType) -> None:
    row = [5e-324, 2.2250738585072014e-308, 1 / 3, 2 / 3 - 1e-17]
    network = Network({"X0": list("0123" if form is uai else "abcd")}, {}, {"X0": row})
    assert bits(read(form, form.render(network))) == bits(network)


@each_format
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(network=networks(HOSTILE, HOSTILE))
def test_a_network_is_carried_whole_or_refused_with_a_format_that_can(
    form: ModuleType, network: Network
) -> None:
    text, refusal = attempted(form.render, network)
    if text is None:
        assert "cannot carry" in refusal
        assert ".json" in refusal
    else:
        assert read(form, text) == network


@pytest.mark.parametrize("form", CARRIES_STRUCTURE)
def test_a_network_without_cpts_stays_one(form: ModuleType) -> None:
    structure = RAIN.with_tables(None)
    assert read(form, form.render(structure)) == structure


@pytest.mark.parametrize("form", NEEDS_NUMBERS)
def test_a_format_that_needs_numbers_refuses_a_bare_structure(form: ModuleType) -> None:
    with pytest.raises(FormatError, match="CPTs"):
        form.render(example(form).with_tables(None))


@each_format
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_random_damage_gives_an_error_of_ours_or_a_network(
    form: ModuleType, data: st.DataObject
) -> None:
    text = form.render(data.draw(CARRIED[form]))
    for _ in range(data.draw(st.integers(1, 3))):
        text = damaged(text, data.draw)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LacunetWarning)
        network, refusal = attempted(read, form, text)
    assert isinstance(network, Network) or refusal.startswith(f"file{SUFFIX_OF[form]}")


def damaged(text: str, draw: Any) -> str:
    """A text with a part deleted, doubled, moved or replaced."""
    start = draw(st.integers(0, len(text)))
    stop = min(len(text), start + draw(st.sampled_from([1, 1, 1, 2, 5, 20, 200])))
    part, rest = text[start:stop], text[:start] + text[stop:]
    kind = draw(st.sampled_from(["delete", "double", "move", "replace", "cut"]))
    if kind == "delete":
        return rest
    if kind == "double":
        return text[:stop] + text[start:]
    if kind == "move":
        at = draw(st.integers(0, len(rest)))
        return rest[:at] + part + rest[at:]
    if kind == "cut":
        return text[:start]
    return text[:start] + draw(st.text(string.printable + "é\x00", max_size=5)) + text[stop:]


@each_format
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_file_that_lacks_one_number_is_refused(form: ModuleType, data: st.DataObject) -> None:
    text = form.render(numbered(data.draw(networks())) if form is uai else data.draw(PLAIN))
    numbers = list(re.finditer(r"(?<![\w.])\d\.[\de.-]+", text))
    lost = data.draw(st.sampled_from([found for found in numbers if found[0] != "0.3"]))
    # The versions of XML and of the format are numbers, but no probabilities.
    if text[lost.start() - 1] != '"':
        with pytest.raises(FormatError):
            read(form, text[: lost.start()] + text[lost.end() :])


@each_format
@pytest.mark.parametrize("unit", [r".*\n", r'"[^"\n]*"|[\w.+-]+|[^\s\w]'], ids=["line", "token"])
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_file_that_lacks_one_part_never_gives_other_numbers(
    form: ModuleType, unit: str, data: st.DataObject
) -> None:
    network = data.draw(PLAIN.map(numbered) if form is uai else PLAIN)
    text = form.render(network)
    lost = data.draw(st.sampled_from(list(re.finditer(unit, text))))
    back, _ = attempted(read, form, text[: lost.start()] + text[lost.end() :])
    if back and back.has_cpts and structure(back) == structure(network):
        assert bits(back) == bits(network)


def structure(network: Network) -> tuple[object, object]:
    return dict(network.states_of), dict(network.parents_of)


@each_format
def test_a_cut_file_is_refused_wherever_it_is_cut(form: ModuleType) -> None:
    text = form.render(example(form)).rstrip()
    for length in range(1, len(text)):
        if form is uai and text[length:].lstrip("0123456789.") == "" and text[length - 1] != " ":
            continue  # half of the last number is a number, too
        with pytest.raises(FormatError):
            read(form, text[:length])


@each_format
def test_a_row_that_sums_to_one_within_a_millionth_is_rescaled(form: ModuleType) -> None:
    text = form.render(example(form)).replace("0.2, 0.8", "0.2, 0.8000005")
    text = text.replace("0.2 0.8", "0.2 0.8000005")
    back = read(form, text)
    table = back.cpt(back.variables[2]).table
    np.testing.assert_allclose(table[1, 0], [0.2 / 1.0000005, 0.8000005 / 1.0000005], rtol=1e-15)
    np.testing.assert_array_equal(table[0], [[1.0, 0.0], [0.1, 0.9]])


@each_format
def test_a_row_that_sums_to_one_within_a_hundredth_is_rescaled_with_a_warning(
    form: ModuleType,
) -> None:
    text = (
        form.render(example(form)).replace("0.2, 0.8", "0.2, 0.79").replace("0.2 0.8", "0.2 0.79")
    )
    name = example(form).variables[2]
    with pytest.warns(LacunetWarning, match=rf"file\{SUFFIX_OF[form]}: .*'{name}' \(1 row\)"):
        back = read(form, text)
    np.testing.assert_allclose(back.cpt(name).table[1, 0], [0.2 / 0.99, 0.79 / 0.99], rtol=1e-15)


@each_format
def test_a_row_further_from_one_is_refused(form: ModuleType) -> None:
    text = (
        form.render(example(form)).replace("0.2, 0.8", "0.2, 0.78").replace("0.2 0.8", "0.2 0.78")
    )
    first, second, name = example(form).variables
    zero, one = example(form).states(first)[1], example(form).states(second)[0]
    expected = rf"'{name}' given {first}={zero}, {second}={one} sums to 0\.98"
    with pytest.raises(FormatError, match=expected):
        read(form, text)


@each_format
@pytest.mark.parametrize("wrong", ["nan", "inf", "-0.8", "0,8", "0x1", "1_0", "1e999", "٠.٨"])
def test_what_is_no_probability_is_refused(form: ModuleType, wrong: str) -> None:
    text = form.render(example(form))
    changed = text.replace("0.2, 0.8", f"0.2, {wrong}").replace("0.2 0.8", f"0.2 {wrong}")
    assert changed != text
    with pytest.raises(FormatError):
        read(form, changed)
