from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lacunet as lc
from examples import APPENDIX, appendix_table
from lacunet.show.results.methods_text import CLOSED, ENDED

HEART = lc.Network({"Age": ["kid", "adult"], "MI": ["no", "yes"]}, {"MI": ["Age"]})
ASKED = {"Age": ["kid"] * 40 + ["adult"] * 60, "MI": [None] * 40 + ["no"] * 57 + ["yes"] * 3}


def test_a_closed_form_is_named_with_what_it_assumes() -> None:
    text = lc.learn(HEART, ASKED, method="direct-mcar", pseudo_counts=1).methods_text()
    assert "2 variables" in text
    assert "1 edge" in text
    assert "100" in text
    assert "20.0%" in text
    assert "deletion" in text
    assert "[1]" in text
    assert "pseudo-count" in text
    explained = lc.explain(HEART, ASKED, "direct-mcar", pseudo_counts=1)
    assert explained.pseudo_counts == "1 pseudo-count per cell of the estimate, scaled to all rows"
    assert (
        lc.explain(HEART, ASKED, "em", pseudo_counts=1).pseudo_counts == "1 pseudo-count per cell"
    )
    assert "1 of 3 CPT" in text
    assert "UAI" in text
    assert f"{lc.__version__} [2]" in text
    assert "[1]" in text
    assert "[2] The" in text
    assert f"{lc.__version__}" in text
    assert "[3]" not in text


def test_em_says_how_it_really_ended() -> None:
    table = appendix_table()
    short = lc.learn(APPENDIX, table, method=lc.EM(start="random", max_iterations=1), rng=1)
    assert short.ended
    text = short.methods_text()
    assert ENDED[short.ended.reason] in text
    assert f"{short.ended.iterations}" in text
    assert "[1]" in text
    assert "[1] S. L. Lauritzen" in text
    assert "Intervals" not in text


@pytest.mark.parametrize(
    ("method", "options", "words"),
    [
        ("em", {}, "The CPTs maximise the posterior given all"),
        ("em", {"pseudo_counts": 0}, "The CPTs maximise the likelihood of all"),
        (
            "em",
            {"max_iterations": 2, "tolerance": 0},
            "The CPTs approach the maximum of the posterior given all",
        ),
        (
            "em",
            {"max_iterations": 2, "tolerance": 0, "pseudo_counts": 0},
            "The CPTs approach the maximum of the likelihood of all",
        ),
        ("listwise", {}, "from the complete rows alone (60 of 100), assuming"),
        ("informed-direct", {"groups": "Age"}, "missing at random given Age [1]"),
        ("mgraph", {"missingness": "Age -> R[MI]"}, "causes of missing values (Age -> R[MI])."),
    ],
)
def test_the_text_says_what_was_really_computed(
    method: str, options: dict[str, Any], words: str
) -> None:
    assert words in lc.learn(HEART, ASKED, method, **options).methods_text()


def test_loopy_belief_propagation_is_named() -> None:
    text = lc.learn(APPENDIX, appendix_table(), "em-bp").methods_text()
    assert "approximated" in text


def test_intervals_by_the_rate_matrix_are_cited() -> None:
    text = lc.learn(HEART, ASKED, "em", intervals=True).methods_text()
    assert "EM [2]" in text
    assert "[2] X.-L. Meng" in text


def test_intervals_are_told_by_their_recipe() -> None:
    result = lc.learn(HEART, ASKED, method="direct-mcar", intervals=True, pseudo_counts=0)
    text = result.methods_text()
    assert "95%" in text
    assert "90%" in result.methods_text(0.9)
    assert "at random into" not in text  # nothing is drawn
    assert "prior" in text


def test_what_intervals_owe_to_the_seed_is_told_where_rows_are_drawn() -> None:
    weighted = lc.Data({**ASKED, "w": [1, 2] * 50}, weight="w")  # groups of rows are left out
    result = lc.learn(HEART, weighted, "em", pseudo_counts=1, intervals=True)
    assert result.uncertainty is not None
    text = result.methods_text()
    assert "30" in text
    assert "13%" in text
    by_rows = lc.learn(HEART, ASKED, method="factored-mar", intervals=True).methods_text()
    assert "influence" in by_rows
    assert "another seed" not in by_rows


@pytest.mark.slow
def test_the_width_of_jackknife_intervals_moves_with_the_seed_as_told() -> None:
    rng = np.random.default_rng(4)
    ill = np.where(rng.random(600) < 0.3, "yes", "no").astype(object)
    ill[rng.random(600) < 0.3] = None
    age = np.where(rng.random(600) < 0.5, "kid", "adult")
    widths = []
    for seed in range(200):
        found = lc.learn(
            HEART,
            lc.Data({"Age": age, "MI": ill, "w": [1, 2] * 300}, weight="w"),
            "em",
            pseudo_counts=1,
            intervals=True,
            rng=seed,
        )
        low, high = found.interval("MI")[0, 1]
        widths.append(high - low)
    moved = float(np.std(widths) / np.mean(widths))
    assert abs(moved - 0.131) < 4 * 0.131 / np.sqrt(2 * 200)  # four standard errors


def test_cuts_codes_and_rules_are_told() -> None:
    network = lc.Network(
        {
            "Age": ["<18", "[18,65)", ">=65"],
            "Smoked": ["no", "yes"],
            "Now": ["no", "yes", "not_asked"],
            "Diet": ["bad", "fair", "good"],
        },
        {"Now": ["Smoked"]},
        cuts={"Age": [-np.inf, 18, 65, np.inf]},
        codes={
            "Smoked": {"9": None, "7": None},
            "Diet": {"9": None, "7": None, "1": "bad", "23": ["fair", "good"]},
            "Now": {"9": None, "7": None},
        },
        not_asked={"Now": "Smoked=no"},
    )
    rows = {"Age": [3, 70, 20], "Smoked": [9, "yes", "no"], "Now": ["no", "yes", ""]}
    text = lc.learn(network, rows | {"Diet": [1, 23, 7]}).methods_text()
    assert "Age at 18 and 65" in text
    assert "9 and 7" in text
    assert "Smoked and Now; 9 and 7" in text
    assert "1 as" in text
    assert "23" in text
    assert "Diet" in text
    assert "Smoked=no" in text
    assert "'not_asked'" in text


def test_complete_data_are_frequencies() -> None:
    rows = {"Age": ["kid", "adult"], "MI": ["no", "yes"]}
    plain = lc.learn(HEART, rows, pseudo_counts=0).methods_text()
    assert "The CPTs" in plain
    for pseudo_counts in (1, "learn"):
        text = lc.learn(HEART, rows, pseudo_counts=pseudo_counts).methods_text()
        assert "CPTs" in text


def test_a_missingness_graph_is_cited() -> None:
    result = lc.learn(HEART, ASKED | {"MI": ["no", None] * 50}, missingness="Age -> R[MI]")
    text = result.methods_text()
    assert "missingness graph" in text
    assert "Mohan and J. Pearl, Graphical Models" in text


@pytest.mark.parametrize("method", [m for m in CLOSED if m != "auto"])
def test_every_closed_form_has_its_words(method: str) -> None:
    more = {"groups": ["Age"]} if method.startswith("informed") else {}
    text = lc.learn(HEART, ASKED, method=method, **more).methods_text()
    assert CLOSED[method] in text
