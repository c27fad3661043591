"""Networks that know what the search for their edges found in replicates: kept, saved, lost."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import lacunet as lc
from examples import RAIN
from lacunet.network.errors import NetworkError
from lacunet.network.formats import lacunet_json
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.source import Source
from lacunet.network.network import Network

SHARES = {name: [1 / RAIN.cardinality(name)] * RAIN.cardinality(name) for name in RAIN.variables}
EMPTY = Network(RAIN.states_of, {}, SHARES)
SEARCHED = RAIN.with_bootstrap([EMPTY, RAIN])


def read(text: str) -> Network:
    return lacunet_json.parse(Source.of("net.json", text))


def test_replicates_survive_json_pickling_other_parameters_and_codes() -> None:
    for network in (
        read(lacunet_json.render(SEARCHED)),
        pickle.loads(pickle.dumps(SEARCHED)),
        SEARCHED.with_tables(None),
        SEARCHED.with_support({"Rain": 5}),
    ):
        assert network.bootstrap == (EMPTY, RAIN)
    coded = SEARCHED.with_codes({"Rain": {9: None}})
    again = read(lacunet_json.render(coded))
    assert coded.bootstrap == again.bootstrap
    assert [one.codes_of for one in again.bootstrap or ()] == [coded.codes_of] * 2


def test_replicates_of_a_column_that_is_cut_and_not_asked_of_everybody_survive_json() -> None:
    rng = np.random.default_rng(1)
    smokes = rng.choice(["no", "yes"], 400)
    number = [str(rng.poisson(9)) if one == "yes" else None for one in smokes]
    rows = lc.Data(
        {"Smokes": smokes.tolist(), "PerDay": number},
        bins={"PerDay": 3},
        not_asked={"PerDay": "Smokes=no"},
    )
    network = lc.learn_structure(rows, strengths=20, rng=0).network
    again = read(lacunet_json.render(network))
    assert again.bootstrap is not None
    assert len(again.bootstrap) == 20
    for here, there in zip(network.bootstrap or (), again.bootstrap, strict=True):
        assert here.parents_of == there.parents_of
        np.testing.assert_array_equal(here.cpt("PerDay").table, there.cpt("PerDay").table)
    assert again.cuts_of == network.cuts_of


def test_edges_that_were_learned_without_replicates_are_not_taken_for_known_ones() -> None:
    assert RAIN.bootstrap is None
    assert SEARCHED.with_bootstrap(None).bootstrap is None
    assert read(lacunet_json.render(RAIN)).bootstrap is None
    assert read(lacunet_json.render(RAIN.with_bootstrap([]))).bootstrap == ()
    assert SEARCHED.intervened({"Wet": 0}).bootstrap == ()


def test_edges_in_other_data_are_still_learned_ones() -> None:
    rows = {name: [state, state] for name, (state, *_) in RAIN.states_of.items()}
    known = Network.from_data(lc.Data(rows, states=RAIN.states_of), RAIN)
    searched = Network.from_data(lc.Data(rows, states=RAIN.states_of), SEARCHED)
    assert (known.bootstrap, searched.bootstrap) == (None, ())


def test_replicates_over_other_variables_or_without_cpts_are_refused() -> None:
    with pytest.raises(NetworkError):
        RAIN.with_bootstrap([Network({"Rain": ["no", "yes"]}, {}, {"Rain": [0.5, 0.5]})])
    with pytest.raises(NetworkError):
        RAIN.with_bootstrap([RAIN.with_tables(None)])


@pytest.mark.parametrize(
    "damage", ['"bootstrap": {}', '"bootstrap": [[3]]', '"bootstrap": [[{"parents": []}]]']
)
def test_a_file_whose_replicates_are_no_networks_is_refused(damage: str) -> None:
    text = lacunet_json.render(RAIN.with_bootstrap([]))
    before = '"bootstrap": [\n    \n  ]'
    assert before in text
    with pytest.raises(FormatError):
        read(text.replace(before, damage))


def test_other_formats_say_that_they_leave_out_that_edges_were_learned(tmp_path: Path) -> None:
    with pytest.warns(lc.LacunetWarning, match="learned"):
        SEARCHED.write(tmp_path / "searched.bif")
    assert lc.read_network(tmp_path / "searched.bif").bootstrap is None
