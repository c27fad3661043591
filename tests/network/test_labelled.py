"""Tables that say what their axes are."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from examples import RAIN
from lacunet.errors import LacunetError
from lacunet.inference.query import query
from lacunet.network.network import Network


def test_a_cpt_prints_its_states() -> None:
    assert str(RAIN.cpt("Wet")).splitlines() == [
        "P(Wet | Rain, Sprinkler)",
        "Rain  Sprinkler      no     yes",
        "no    off             1       0",
        "no    on         0.1000  0.9000",
        "yes   off        0.2000  0.8000",
        "yes   on         0.0100  0.9900",
    ]
    assert str(RAIN.cpt("Rain")).splitlines() == ["P(Rain)", "    no     yes", "0.8000  0.2000"]


def test_a_cpt_is_its_table_for_numpy() -> None:
    cpt = RAIN.cpt("Wet")
    np.testing.assert_array_equal(np.asarray(cpt), cpt.table, strict=True)
    assert np.array(cpt, dtype=np.float32).dtype == np.float32
    assert np.array(cpt) is not cpt.table
    assert np.asarray(cpt).sum(axis=-1).tolist() == cpt.table.sum(axis=-1).tolist()


def test_a_cpt_asked_for_a_state_says_where_its_numbers_are() -> None:
    cpt = RAIN.cpt("Wet")
    with pytest.raises(TypeError, match=r"cpt\.to_frame\(\)\['yes'\].*cpt\.table"):
        _ = cpt["yes"]  # type: ignore[index]
    assert cpt.to_frame()["yes"].tolist() == cpt.table[..., 1].reshape(-1).tolist()
    with pytest.raises(TypeError, match=r"not subscriptable\n.*cpt\.to_frame\(\) for"):
        _ = cpt[0]  # type: ignore[index]


def test_only_what_is_exactly_zero_or_one_is_printed_so() -> None:
    cpt = Network({"A": ["x", "y"]}, tables={"A": [1e-9, 1 - 1e-9]}).cpt("A")
    assert str(cpt).splitlines()[-1].split() == ["1.0e-09", "1"] or "0.99999999" in str(cpt)
    assert " 0 " not in f" {cpt} "


def test_a_long_cpt_is_cut_and_says_so() -> None:
    states = {"A": [str(s) for s in range(60)], "B": ["0", "1"]}
    tables = {"A": np.full(60, 1 / 60), "B": np.full((60, 2), 0.5)}
    text = str(Network(states, {"B": ["A"]}, tables).cpt("B"))
    assert "20 rows" in text.splitlines()[-1]
    assert len(text.splitlines()) == 43


def test_frames_are_wide_or_tidy_in_every_library() -> None:
    cpt = RAIN.cpt("Wet")
    wide = cpt.to_frame()
    assert isinstance(wide, pd.DataFrame)
    assert wide.loc[("yes", "off"), "yes"] == 0.8
    assert wide.index.names == ["Rain", "Sprinkler"]
    tidy = cpt.to_frame(tidy=True)
    assert tidy.query("Rain == 'yes' and Sprinkler == 'off' and Wet == 'yes'")[
        "probability"
    ].tolist() == [0.8]
    np.testing.assert_array_equal(tidy["probability"], cpt.table.ravel())
    for library in ("polars", "pyarrow"):
        rows = cpt.to_frame(library)  # type: ignore[arg-type]
        as_dicts = rows.to_dicts() if library == "polars" else rows.to_pylist()
        assert as_dicts[2] == {"Rain": "yes", "Sprinkler": "off", "no": 0.2, "yes": 0.8}
    assert RAIN.cpt("Rain").to_frame().to_numpy().tolist() == [[0.8, 0.2]]
    assert RAIN.cpt("Sprinkler").to_frame().loc["yes", "on"] == 0.01


def test_a_frame_that_would_mix_up_names_is_refused() -> None:
    states = {"A": ["x", "y"], "B": ["A", "C"]}
    cpt = Network(states, {"B": ["A"]}, {"A": [0.5, 0.5], "B": [[0.5, 0.5]] * 2}).cpt("B")
    with pytest.raises(LacunetError, match=r"\['A'\]"):
        cpt.to_frame("polars")
    with pytest.raises(LacunetError, match="library"):
        RAIN.cpt("Rain").to_frame("R")  # type: ignore[arg-type]


def test_html_escapes_what_it_shows() -> None:
    network = Network({"<A>": ["<5", ">5"]}, tables={"<A>": [0.5, 0.5]})
    for html in (network._repr_html_(), network.cpt("<A>")._repr_html_()):
        assert "&lt;5" in html
        assert "<5" not in html
    assert "P(Rain, Wet)" in query(RAIN, ["Rain", "Wet"])._repr_html_()


def test_a_network_prints_its_variables() -> None:
    assert str(RAIN).splitlines()[0] == "<Network: 3 variables, 3 edges, with CPTs>"
    assert str(RAIN).splitlines()[-1].split() == ["Wet", "Rain,", "Sprinkler", "no,", "yes"]


def test_the_answer_to_a_query_is_labelled() -> None:
    answer = query(RAIN, ["Wet", "Rain"])
    assert str(answer).splitlines()[:2] == ["P(Wet, Rain)", "Wet      no     yes"]
    assert answer.to_frame().columns.tolist() == ["Wet", "Rain", "probability"]
    assert pickle.loads(pickle.dumps(answer)) == answer


def test_evidence_is_read_as_data_are() -> None:
    network = Network(
        {"N": ["1", "5"], "M": ["0", "1"]},
        {"M": ["N"]},
        {"N": [0.5, 0.5], "M": [[0.9, 0.1], [0.2, 0.8]]},
    )
    for five in (5, "5", 5.0, np.int64(5), np.float64(5)):
        np.testing.assert_array_equal(query(network, "M", {"N": five}), [0.2, 0.8])
    for missing in (None, float("nan"), np.nan, "?"):
        np.testing.assert_array_equal(query(network, "M", {"N": missing}), query(network, "M"))
