from __future__ import annotations

import pytest

import lacunet as lc
from examples import APPENDIX, appendix_table
from lacunet.report.learned.methods import CLOSED, ENDED

HEART = lc.Network({"Age": ["kid", "adult"], "MI": ["no", "yes"]}, {"MI": ["Age"]})
ASKED = {"Age": ["kid"] * 40 + ["adult"] * 60, "MI": [None] * 40 + ["no"] * 57 + ["yes"] * 3}


def test_a_closed_form_is_named_with_what_it_assumes() -> None:
    text = lc.learn(HEART, ASKED, method="direct-mcar", prior=2).methods_text()
    assert "2 variables and 1 edge were estimated from 100 rows of data; 20.0%" in text
    assert "by direct deletion" in text
    assert "missing completely at random [1]" in text
    assert "added one pseudo-count to each cell" in text
    assert "No data support 1 of 3 CPT rows" in text
    assert "UAI" in text
    assert "[2]" not in text


def test_em_says_how_it_really_ended() -> None:
    table = appendix_table()
    short = lc.learn(APPENDIX, table, method=lc.EM(start="random", max_iterations=1), rng=1)
    assert short.ended
    text = short.methods_text()
    assert ENDED[short.ended.reason] in text
    assert f"after {short.ended.iterations} iteration" in text
    assert "[2] S. L. Lauritzen" in text
    assert "Intervals" not in text


def test_intervals_are_told_by_their_recipe() -> None:
    result = lc.learn(HEART, ASKED, method="direct-mcar", intervals=True, prior=1)
    text = result.methods_text()
    assert "Intervals were computed from the counts" in text
    assert "No prior was used." in text


def test_complete_data_are_frequencies() -> None:
    rows = {"Age": ["kid", "adult"], "MI": ["no", "yes"]}
    text = lc.learn(HEART, rows).methods_text()
    assert "no value was missing. They are the relative frequencies" in text


def test_a_missingness_graph_is_cited() -> None:
    result = lc.learn(HEART, ASKED | {"MI": ["no", None] * 50}, missingness="Age -> R[MI]")
    text = result.methods_text()
    assert "missingness graph" in text
    assert "Mohan and J. Pearl, Graphical Models" in text


@pytest.mark.parametrize("method", [m for m in CLOSED if m not in ("auto", "one-step")])
def test_every_closed_form_has_its_words(method: str) -> None:
    more = {"separator": ["Age"]} if method.startswith("informed") else {}
    text = lc.learn(HEART, ASKED, method=method, **more).methods_text()
    assert CLOSED[method] in text
