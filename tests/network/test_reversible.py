"""Networks that know which of their edges have no direction that data tell: kept and saved."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import lacunet as lc
from examples import RAIN
from lacunet.network.errors import NetworkError
from lacunet.network.formats import lacunet_json
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.source import Source
from lacunet.network.network import Network

LOOSE = RAIN.with_reversible([("Wet", "Rain"), ("Rain", "Sprinkler")])


def read(text: str) -> Network:
    return lacunet_json.parse(Source.of("net.json", text))


def test_edges_without_direction_are_named_as_the_network_has_them() -> None:
    assert RAIN.reversible == ()
    assert LOOSE.reversible == (("Rain", "Sprinkler"), ("Rain", "Wet"))
    assert LOOSE.with_reversible([]).reversible == ()
    with pytest.raises(NetworkError, match=r"'Rain' and 'Snow'"):
        RAIN.with_reversible([("Rain", "Snow")])


def test_edges_without_direction_survive_json_pickling_and_other_parameters() -> None:
    for network in (
        read(lacunet_json.render(LOOSE)),
        pickle.loads(pickle.dumps(LOOSE)),
        LOOSE.with_tables(None),
        LOOSE.with_codes({"Rain": {9: None}}),
        read(lacunet_json.render(LOOSE.with_codes({"Rain": {9: None}}))),
    ):
        assert network.reversible == LOOSE.reversible


def test_edges_that_an_intervention_cuts_are_gone() -> None:
    assert LOOSE.intervened({"Wet": 0}).reversible == (("Rain", "Sprinkler"),)


def test_a_file_that_gives_no_direction_to_what_is_not_an_edge_is_refused_with_its_line() -> None:
    text = lacunet_json.render(LOOSE)
    assert '"reversible": ["Rain"]' in text
    with pytest.raises(FormatError, match=r"net.json:6: found 'Wet'"):
        read(text.replace('"reversible": ["Rain"]', '"reversible": ["Wet"]', 1))
    with pytest.raises(FormatError, match=r"net.json:6"):
        read(text.replace('"reversible": ["Rain"]', '"reversible": "Rain"', 1))


def test_other_formats_say_that_they_leave_out_which_edges_have_no_direction(
    tmp_path: Path,
) -> None:
    with pytest.warns(lc.LacunetWarning, match="direction"):
        LOOSE.write(tmp_path / "loose.bif")
    assert lc.read_network(tmp_path / "loose.bif").reversible == ()
    RAIN.write(tmp_path / "rain.bif")
