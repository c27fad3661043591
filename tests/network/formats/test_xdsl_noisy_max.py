"""Noisy-MAX nodes of XDSL, beside their tables by enumeration and by pyAgrum."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lacunet as lc
from lacunet.errors import LacunetWarning
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.files import read_network, write_network

# As GeNIe writes a car that does not start: the states of Fuel from the strongest effect to none
# are empty, low, full, which are its third, second and first.
CAR = """<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<!-- This network was created in GeNIe Academic -->
<smile version="1.0" id="Car" numsamples="10000" discsamples="10000">
\t<nodes>
\t\t<cpt id="Battery">
\t\t\t<state id="flat" />
\t\t\t<state id="good" />
\t\t\t<probabilities>0.1 0.9</probabilities>
\t\t</cpt>
\t\t<cpt id="Fuel">
\t\t\t<state id="full" />
\t\t\t<state id="low" />
\t\t\t<state id="empty" />
\t\t\t<probabilities>0.7 0.2 0.1</probabilities>
\t\t</cpt>
\t\t<noisymax id="Trouble">
\t\t\t<state id="severe" />
\t\t\t<state id="slight" />
\t\t\t<state id="none" />
\t\t\t<parents>Battery Fuel</parents>
\t\t\t<strengths>0 1 2 1 0</strengths>
\t\t\t<parameters>0.5 0.3 0.2 0 0 1 0.9 0.1 0 0.1 0.4 0.5 0 0 1 0.01 0.04 0.95</parameters>
\t\t</noisymax>
\t</nodes>
\t<extensions>
\t\t<genie version="1.0" app="GeNIe 5.0.5023.0" name="Car">
\t\t\t<node id="Trouble"><name>Trouble</name></node>
\t\t</genie>
\t</extensions>
</smile>
"""
LEAK = (0.01, 0.04, 0.95)
OF_BATTERY = {"flat": (0.5, 0.3, 0.2), "good": (0.0, 0.0, 1.0)}
OF_FUEL = {"full": (0.0, 0.0, 1.0), "low": (0.1, 0.4, 0.5), "empty": (0.9, 0.1, 0.0)}


def written(folder: Path, text: str) -> Path:
    path = folder / "car.xdsl"
    path.write_text(text)
    return path


def strongest(*causes: Sequence[float]) -> list[float]:
    """The distribution of the strongest of some levels, drawn independently: the first is."""
    total = [0.0] * len(causes[0])
    for levels in product(*(range(len(cause)) for cause in causes)):
        chance = np.prod([cause[level] for cause, level in zip(causes, levels, strict=True)])
        total[min(levels)] += float(chance)
    return total


def test_a_node_is_read_as_a_shape_with_the_table_of_independent_causes(tmp_path: Path) -> None:
    network = read_network(written(tmp_path, CAR))
    table = network.cpt("Trouble").table
    for i, battery in enumerate(("flat", "good")):
        for j, fuel in enumerate(("full", "low", "empty")):
            expected = strongest(OF_BATTERY[battery], OF_FUEL[fuel], LEAK)
            np.testing.assert_allclose(table[i, j], expected, atol=1e-15)
    assert network.shapes_of == {"Trouble": lc.NoisyMax(absent={"Battery": "good", "Fuel": "full"})}
    assert network.free_parameters == 1 + 2 + 2 * (1 + 1 + 2)


def test_what_is_learned_of_it_has_its_shape(tmp_path: Path) -> None:
    network = read_network(written(tmp_path, CAR))
    result = lc.learn(network, network.sample(4_000, rng=1))
    shaped = result.network.shaped_of["Trouble"]
    table = result.cpt("Trouble").table
    np.testing.assert_allclose(shaped.table(shaped.parameters(table)), table, atol=1e-9)
    assert np.abs(table - network.cpt("Trouble").table).max() < 0.08


def test_a_node_comes_back_from_a_file(tmp_path: Path) -> None:
    network = read_network(written(tmp_path, CAR))
    write_network(network, tmp_path / "again.xdsl")
    text = (tmp_path / "again.xdsl").read_text()
    assert "<strengths>0 1 1 2 0</strengths>" in text
    again = read_network(tmp_path / "again.xdsl")
    assert again.shapes_of == network.shapes_of
    for name in network.variables:
        np.testing.assert_allclose(again.cpt(name).table, network.cpt(name).table, atol=1e-12)


@pytest.mark.parametrize("order", [("none", "mild", "high"), ("high", "mild", "none")])
def test_the_state_of_no_effect_may_be_first_or_last(
    tmp_path: Path, order: tuple[str, ...]
) -> None:
    states = {"Flu": ["no", "yes"], "Cold": ["yes", "no"], "Fever": list(order), "Bed": ["n", "y"]}
    bare = lc.Network(states, {"Fever": ["Flu", "Cold"], "Bed": ["Fever"]})
    shaped = bare.with_shapes({"Fever": "noisy-max"}).shaped_of["Fever"]
    tables: dict[str, Any] = {
        "Flu": [0.8, 0.2],
        "Cold": [0.3, 0.7],
        "Fever": shaped.table(np.array([0.02, 0.4, 0.7, 0.1, 1.2, 0.3])),
        "Bed": [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]],
    }
    network = bare.with_tables(tables).with_shapes({"Fever": "noisy-max"})
    network = network.with_support({"Bed": [1, 0, 1]})
    write_network(network, tmp_path / "fever.xdsl")
    again = read_network(tmp_path / "fever.xdsl")
    assert again.states("Fever") == order
    assert [*again.shapes_of] == ["Fever"]
    for name in network.variables:
        np.testing.assert_allclose(again.cpt(name).table, network.cpt(name).table, atol=1e-12)
    assert again.support is not None
    assert again.support["Bed"].tolist() == [True, False, True]


def test_a_noisy_or_is_the_one_of_pyagrum(tmp_path: Path) -> None:
    gum = pytest.importorskip("pyagrum")
    model = gum.BayesNet()
    names = ("A", "B", "C")
    for name in names:
        model.add(gum.LabelizedVariable(name, name, ["no", "yes"]))
    model.addNoisyORNet(gum.LabelizedVariable("E", "E", ["no", "yes"]), 0.1)
    links = {"A": 0.6, "B": 0.3, "C": 0.8}
    for name in names:
        model.addWeightedArc(name, "E", links[name])
    nodes = "".join(
        f'<cpt id="{name}"><state id="no"/><state id="yes"/>'
        "<probabilities>0.5 0.5</probabilities></cpt>"
        for name in names
    )
    parameters = " ".join(f"{link} {1 - link} 0 1" for link in links.values())
    text = (
        f'<smile version="1.0" id="n"><nodes>{nodes}<noisymax id="E"><state id="yes"/>'
        '<state id="no"/><parents>A B C</parents><strengths>1 0 1 0 1 0</strengths>'
        f"<parameters>{parameters} 0.1 0.9</parameters></noisymax></nodes></smile>"
    )
    network = read_network(written(tmp_path, text))
    assert network.shapes_of == {"E": lc.NoisyOr()}
    for codes in product(range(2), repeat=3):
        given = dict(zip(names, codes, strict=True))
        theirs = [model.cpt("E")[{**given, "E": state}] for state in (1, 0)]
        np.testing.assert_allclose(network.cpt("E").table[codes], theirs, atol=1e-12)


def test_other_formats_get_the_table_and_say_so(tmp_path: Path) -> None:
    network = read_network(written(tmp_path, CAR))
    with pytest.warns(LacunetWarning, match="Trouble noisy-max"):
        write_network(network, tmp_path / "car.bif")
    bif = read_network(tmp_path / "car.bif")
    assert (bif.shapes_of, bif.cpt("Trouble").table.tolist()) == (
        {},
        network.cpt("Trouble").table.tolist(),
    )
    network = network.with_shapes({"Trouble": "logistic"})
    with pytest.warns(LacunetWarning, match="Trouble logistic"):
        write_network(network, tmp_path / "logistic.xdsl")
    assert not read_network(tmp_path / "logistic.xdsl").shapes_of


def test_new_names_keep_the_shape(tmp_path: Path) -> None:
    states = {"Flu-B": ["no", "yes"], "Fever": ["no", "yes"]}
    network = lc.Network(
        states, {"Fever": ["Flu-B"]}, {"Flu-B": [0.9, 0.1], "Fever": [[0.8, 0.2], [0.4, 0.6]]}
    ).with_shapes({"Fever": "noisy-or"})
    with pytest.warns(LacunetWarning, match="Flu_B"):
        write_network(network, tmp_path / "flu.xdsl", rename=True)
    again = read_network(tmp_path / "flu.xdsl")
    assert [*again.shapes_of] == ["Fever"]
    np.testing.assert_allclose(again.cpt("Fever").table, [[0.8, 0.2], [0.4, 0.6]], atol=1e-12)


def test_names_of_waves_are_refused_or_renamed(tmp_path: Path) -> None:
    states = {"H[0]": ["a", "b"], "H[1]": ["a", "b"], "H[2]": ["a", "b"]}
    panel = lc.Network(
        states,
        {"H[1]": ["H[0]"], "H[2]": ["H[1]"]},
        {"H[0]": [0.5, 0.5], "H[1]": [[0.9, 0.1], [0.2, 0.8]], "H[2]": [[0.9, 0.1], [0.2, 0.8]]},
    ).with_ties([["H[1]", "H[2]"]])
    for suffix in ("xdsl", "net", "dsc", "uai"):
        path = tmp_path / f"panel.{suffix}"
        with pytest.raises(FormatError, match=r"'H\[0\]'.*\n.*rename=True"):
            write_network(panel, path)
        with pytest.warns(LacunetWarning) as notes:
            write_network(panel, path, rename=True)
        assert "which variables share a CPT" in "".join(str(note.message) for note in notes)
        again = read_network(path)
        expected = ("X0", "X1", "X2") if suffix == "uai" else ("H_0", "H_1", "H_2")
        assert again.variables == expected
        assert again.cpt(expected[2]).table.tolist() == panel.cpt("H[2]").table.tolist()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("0.01 0.04 0.95</par", "0.01 0.04</par", "17 parameters"),
        ("<parameters>0.5 0.3", "<parameters>0.5 0.4", "do not sum to 1"),
        ("0.5 0.3 0.2", "0.7 0.5 -0.2", "below 0"),
        ("0 1 2 1 0<", "0 1 2 1<", "for each parent"),
        ("0 1 2 1 0<", "0 1 2 1 1<", "for each parent"),
        ("<strengths>0 1 2 1 0", "<strengths>a 1 2 1 0", "for each parent"),
    ],
)
def test_a_damaged_node_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in CAR
    with pytest.raises(FormatError, match=words):
        read_network(written(tmp_path, CAR.replace(old, new)))


def test_a_last_state_with_effects_makes_a_table(tmp_path: Path) -> None:
    text = CAR.replace("0.5 0.3 0.2 0 0 1", "0.5 0.3 0.2 0.1 0.2 0.7")
    with pytest.warns(LacunetWarning, match="Battery"):
        network = read_network(written(tmp_path, text))
    assert not network.shapes_of
    expected = strongest((0.1, 0.2, 0.7), OF_FUEL["low"], LEAK)
    np.testing.assert_allclose(network.cpt("Trouble").table[1, 1], expected, atol=1e-15)


def test_what_was_learned_is_written_with_the_support_of_its_rows(tmp_path: Path) -> None:
    # The first states, "no", are those of no effect, so that all are written the other way round.
    rows = {"A": ["no", "yes"] * 4, "C": ["no", "no", "yes", "yes"] * 2, "B": ["no", "yes"] * 4}
    learned = lc.learn("A, C -> B", rows, shapes={"B": "noisy-max"}).network
    learned.write(tmp_path / "b.xdsl")
    again = lc.read_network(tmp_path / "b.xdsl")
    assert again.shapes_of["B"].name == "noisy-or"  # what a noisy-MAX of two states is
    np.testing.assert_allclose(again.cpt("B").table, learned.cpt("B").table, rtol=1e-12)
