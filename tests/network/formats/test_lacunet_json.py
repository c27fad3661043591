"""Our own JSON: its form, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from examples import RAIN
from lacunet.errors import LacunetWarning
from lacunet.network.formats import lacunet_json
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.files import read_network, write_network
from lacunet.network.formats.source import Source
from lacunet.network.network import Network

TEXT = """{
  "format": "lacunet network", "version": 1,
  "variables": [
    {"name": "A", "states": ["a0", "a1"], "parents": [], "cpt": [0.25, 0.75]},
    {"name": "B", "states": ["b0", "b1"], "parents": ["A"], "cpt": [[1, 0], [0.5, 0.5]]}
  ]
}
"""


def read(text: str) -> Network:
    return lacunet_json.parse(Source.of("net.json", text))


def test_the_file_says_what_docs_formats_says() -> None:
    network = read(TEXT)
    assert network.states("B") == ("b0", "b1")
    assert network.parents("B") == ("A",)
    assert network.cpt("B").table.tolist() == [[1.0, 0.0], [0.5, 0.5]]
    written = json.loads(lacunet_json.render(RAIN))
    assert written["format"] == "lacunet network"
    assert written["version"] == 1
    assert written["variables"][2] == {
        "name": "Wet",
        "states": ["no", "yes"],
        "parents": ["Rain", "Sprinkler"],
        "cpt": [[[1.0, 0.0], [0.1, 0.9]], [[0.2, 0.8], [0.01, 0.99]]],
    }


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"parents": ["A"]', '"parents": ["D"]', r"json:5: 'B'.*'D'"),
        ('"parents": ["A"]', '"parents": ["B"]', r"json:5: 'B'"),
        ('"parents": ["A"]', '"parents": "A"', r"json:5"),
        (', "parents": ["A"]', "", r"json:5"),
        (', "cpt": [[1, 0], [0.5, 0.5]]', "", r"json:5: the CPT of 'B'"),
        ("[[1, 0], [0.5, 0.5]]", "[[1, 0]]", r"json:5: the CPT of 'B' has 1"),
        ("[[1, 0], [0.5, 0.5]]", "[1, 0, 0.5, 0.5]", r"json:5: the CPT of 'B' has 4"),
        ("[[1, 0], [0.5, 0.5]]", "[1, 0]", r"json:5.*length 2"),
        ("[1, 0]", '["1", 0]', r"json:5: the CPT of 'B'"),
        ("[1, 0]", "[true, 0]", r"json:5: the CPT of 'B' holds 'true'"),
        ("[1, 0]", "[NaN, 0]", r"json:5.*JSON: NaN"),
        ("[1, 0]", "[1" + "0" * 5000 + ", 0]", r"json:5"),
        ("[1, 0]", "[" * 100_000, r"json:5.*JSON"),
        ('"b0", "b1"', '"b0", "b0"', r"json:5: variable 'B'.*'b0'"),
        ('"b0", "b1"', '"b0", ""', r"json:5.*'B'"),
        ('"b0", "b1"', '"b0", "\\ud800"', r"json:5.*Unicode"),
        ('"name": "B"', '"name": "A"', r"json:5: variable 'A'"),
        ('"name": "B"', '"name": "A", "name": "B"', r"json:5.*'name'"),
        ('"name": "B"', '"label": "B"', r"json:5: found 'label'"),
        ('"version": 1', '"version": 2', r"net.json.*JSON"),
        ('"version": 1', '"format": 1', r"json:2: found 'format'"),
        ("0.75]},", "0.75]}", r"json:5.*',' or '\]'"),
        ("0.75]},", "0.75},", r"json:4.*JSON"),
    ],
)
def test_a_wrong_file_is_refused_with_line_and_names(old: str, new: str, message: str) -> None:
    assert old in TEXT
    with pytest.raises(FormatError, match=message):
        read(TEXT.replace(old, new, 1))


@pytest.mark.parametrize("text", ["[]", "{}", "null", '{"variables": []}', TEXT + "x", "{"])
def test_other_json_is_no_network(text: str) -> None:
    with pytest.raises(FormatError):
        read(text)


def test_codes_and_rules_are_kept_and_other_formats_say_that_they_lose_them(tmp_path: Path) -> None:
    survey = Network(
        {"Smoked": ["no", "yes"], "Now": ["0", "1-9", "10+", "not_asked"]},
        {"Now": ["Smoked"]},
        codes={"Now": {"some": ["1-9", "10+"], -9: None}, "Smoked": {2: "no"}},
        not_asked={"Now": "Smoked=no"},
    )
    write_network(survey, tmp_path / "survey.json")
    again = read_network(tmp_path / "survey.json")
    assert again == survey
    assert again.codes_of == {"Now": {"some": ("1-9", "10+"), "-9": None}, "Smoked": {"2": "no"}}
    assert again.not_asked_of["Now"].when == "Smoked=no"
    lost = r"what the codes of .* mean; when 'Now' is not asked\. A \.json file does"
    with pytest.warns(LacunetWarning, match=lost):
        write_network(survey, tmp_path / "survey.bif")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('"codes": [9]', r"json:5"),
        ('"codes": {"9": "b7"}', r"net\.json.*'9' of 'B'"),
        ('"not_asked": "A=a0"', r"json:5: .*\"when\" and \"state\""),
        ('"not_asked": {"when": "A=a7", "state": "b0"}', r"net\.json.*'A=a7'"),
        ('"not_asked": {"when": 3, "state": "b0"}', r"json:5: .*'when'"),
    ],
)
def test_codes_and_rules_that_cannot_be_meant_are_refused(more: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(TEXT.replace('"name": "B"', f'"name": "B", {more}', 1))


def test_two_mechanisms_of_one_variable_are_refused() -> None:
    mechanisms = [
        {"variable": "X", "name": name, "parents": [], "cpt": [rate, 1 - rate]}
        for name, rate in (("R[X]", 0.1), ("S[X]", 0.9))
    ]
    document = {
        "format": "lacunet network",
        "version": 1,
        "variables": [{"name": "X", "states": ["0", "1"], "parents": [], "cpt": [0.5, 0.5]}],
        "missingness": "R[X]",
        "mechanisms": mechanisms,
    }
    with pytest.raises(FormatError, match="'X'"):
        read(json.dumps(document))


@pytest.mark.parametrize("end", ["\x0b", "\x0c", "\u00a0"])
def test_what_json_does_not_call_a_blank_is_refused_behind_the_network(end: str) -> None:
    assert read(TEXT + " \n").states("A") == ("a0", "a1")
    with pytest.raises(FormatError):
        read(TEXT + end)
