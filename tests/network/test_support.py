"""Networks that know which rows of their CPTs data support: kept, marked, saved."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lacunet as lc
from lacunet.network.cpt import Cpt
from lacunet.network.errors import NetworkError
from lacunet.network.formats import bif, lacunet_json, xdsl
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.source import Source
from lacunet.network.mechanisms import Mechanisms, with_nodes
from lacunet.network.network import Network
from strategies import networks

WET = Network(
    {"Rain": ["no", "yes"], "Wet": ["no", "yes"]},
    {"Wet": ["Rain"]},
    {"Rain": [0.8, 0.2], "Wet": [[0.9, 0.1], [0.2, 0.8]]},
)
HALF = WET.with_support({"Rain": 100, "Wet": [80, 0]})


@st.composite
def supported(draw: st.DrawFn) -> Network:
    """Networks of which some variables know their support."""
    network = draw(networks())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    known = [name for name in network.variables if rng.random() < 0.8]
    return network.with_support(
        {name: rng.integers(0, 2, network.shape(network.parents(name))) for name in known}
    )


def same_support(one: Network, two: Network) -> bool:
    if one.support is None or two.support is None:
        return not one.support and not two.support
    return set(one.support) == set(two.support) and all(
        np.array_equal(mask, two.support[name]) for name, mask in one.support.items()
    )


@pytest.mark.parametrize("form", [bif, xdsl, lacunet_json])
@given(network=supported())
def test_support_survives_a_file(form: Any, network: Network) -> None:
    read = form.parse(Source.of("n", form.render(network)))
    assert read == network
    assert same_support(read, network)


@given(supported())
def test_support_survives_pickling_and_goes_with_the_parameters(network: Network) -> None:
    assert same_support(pickle.loads(pickle.dumps(network)), network)
    assert network.with_tables(network.tables_of).support is None
    assert network.with_support(None).support is None


def test_rows_without_data_are_marked_wherever_a_cpt_is_shown() -> None:
    cpt = HALF.cpt("Wet")
    assert [line.endswith("no data") for line in str(cpt).splitlines()] == [
        False,
        False,
        False,
        True,
    ]
    assert cpt._repr_html_().count("no data") == 1
    assert cpt._repr_html_().count("repeating-linear-gradient") == 2
    assert cpt.to_frame()["supported"].tolist() == [True, False]
    assert cpt.to_frame("polars", tidy=True)["supported"].to_list() == [True, True, False, False]
    assert cpt.to_frame("pyarrow")["supported"].to_pylist() == [True, False]
    assert "supported" not in HALF.cpt("Rain").to_frame()  # all of it has data
    assert "no data" not in str(WET.cpt("Wet"))


def test_learned_networks_know_their_support() -> None:
    rows = {"Rain": ["no", "yes", "no", None], "Wet": ["no", None, "yes", "yes"]}
    network = lc.learn(WET, rows, method="direct-mcar").network
    assert network.support is not None
    assert network.support["Rain"].tolist() is True
    assert network.support["Wet"].tolist() == [True, False]


def test_hidden_variables_are_not_called_unsupported() -> None:
    hidden = Network({"H": ["0", "1"], "A": ["0", "1"], "B": ["0", "1"]}, {"A": ["H"], "B": ["A"]})
    rows = {"A": ["0", "1", "0"], "B": ["0", "0", "1"]}
    network = lc.learn(hidden, lc.Data(rows, latent=["H"]), method="em").network
    assert network.support is not None
    assert all(own.all() for own in network.support.values())


def test_support_must_fit_the_cpts() -> None:
    with pytest.raises(NetworkError, match=re.escape("(2,)")):
        WET.with_support({"Wet": [1, 2, 3]})
    with pytest.raises(NetworkError, match="below zero"):
        WET.with_support({"Wet": [-1, 2]})
    with pytest.raises(NetworkError, match="Snow"):
        WET.with_support({"Snow": 1})
    with pytest.raises(NetworkError, match="no CPTs"):
        WET.with_tables(None).with_support({"Rain": 1})


@pytest.mark.parametrize("rows", ["1-5", "2-1", "x"])
def test_rows_that_a_cpt_does_not_have_are_refused_with_their_line(rows: str) -> None:
    text = bif.render(HALF).replace('"1"', f'"{rows}"')
    with pytest.raises(FormatError, match=f"n:9: found '{rows}'.*2 rows"):
        bif.parse(Source.of("n", text))


def test_formats_say_what_they_leave_out(tmp_path: Path) -> None:
    with pytest.warns(lc.LacunetWarning, match="support"):
        HALF.write(tmp_path / "half.net")
    WET.with_support({"Rain": 1, "Wet": [1, 1]}).write(tmp_path / "whole.net")
    cut = Network({"A": ["low", "high"]}, cuts={"A": [0, 1, 2]})
    with pytest.warns(lc.LacunetWarning, match="'A'"):
        cut.write(tmp_path / "cut.bif")


HIDDEN = WET.with_mechanisms(
    Mechanisms(
        "Rain -> R[Wet]; Wet, R[Wet] -> R[Rain]",
        {
            "Wet": Cpt("R[Wet]", ("Rain",), np.array([[0.25, 0.75], [0.5, 0.5]])),
            "Rain": Cpt("R[Rain]", ("Wet", "R[Wet]"), np.full((2, 2, 2), 0.5)),
        },
    )
)


def test_mechanisms_survive_json_and_pickling() -> None:
    for read in (
        lacunet_json.parse(Source.of("n", lacunet_json.render(HIDDEN))),
        pickle.loads(pickle.dumps(HIDDEN)),
    ):
        assert read.mechanisms is not None
        assert HIDDEN.mechanisms is not None
        assert read.mechanisms.graph == HIDDEN.mechanisms.graph
        assert with_nodes(read) == with_nodes(HIDDEN)
        assert list(read.mechanisms.cpt_of) == ["Wet", "Rain"]
    assert HIDDEN.with_tables(HIDDEN.tables_of).mechanisms is None
    assert with_nodes(WET) is WET


def test_a_graph_without_learned_mechanisms_is_kept_too() -> None:
    network = WET.with_mechanisms(Mechanisms("R[Wet]", {}))
    read = lacunet_json.parse(Source.of("n", lacunet_json.render(network)))
    assert read.mechanisms is not None
    assert read.mechanisms.graph == "R[Wet]"


def test_mechanisms_must_fit_the_network() -> None:
    fair = np.array([0.5, 0.5])
    with pytest.raises(NetworkError, match="Snow"):
        WET.with_mechanisms(Mechanisms("", {"Snow": Cpt("R[Snow]", (), fair)}))
    with pytest.raises(NetworkError, match="Wet"):
        WET.with_mechanisms(Mechanisms("", {"Wet": Cpt("Wet", (), fair)}))
    with pytest.raises(NetworkError, match="shape"):
        WET.with_mechanisms(Mechanisms("", {"Wet": Cpt("R[Wet]", ("Rain",), fair)}))


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ('"variable": "Wet", "name"', '"variable": "Snow", "name"', "Snow"),
        ('"name": "R[Wet]"', '"name": "Wet"', "declared"),
        ("[0.25, 0.75]", "[0.25, 0.5]", "sums to"),
        ('"parents": ["Rain"], "cpt": [[0.25', '"parents": ["Snow"], "cpt": [[0.25', "Snow"),
        ('"variable": "Wet", "name"', '"name"', "variable"),
        ('"missingness": "Rain', '"missingness": 5, "x": "Rain', "missingness"),
    ],
)
def test_damaged_mechanisms_are_refused(old: str, new: str, word: str) -> None:
    text = lacunet_json.render(HIDDEN)
    assert old in text
    with pytest.raises(FormatError, match=word):
        lacunet_json.parse(Source.of("n", text.replace(old, new)))
