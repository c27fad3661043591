"""Sampling weights have no scale: multiplied by any constant, nothing that is said changes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lacunet as lc
from lacunet.ask.evaluate import evaluate
from lacunet.show.evaluation_text import evaluation_as_data
from lacunet.show.results.result_text import result_as_text
from lacunet.show.results.show_result import result_page

SCALES = (1 / 30_000, 7_300.0)
METHODS = (
    *("auto", "listwise", "direct-mcar", "factored-mcar", "direct-mar", "factored-mar"),
    *("em", "em-bp"),
)
NETWORK = lc.Network(
    {"Age": ["young", "middle", "old"], "Smokes": ["no", "yes"], "Ill": ["no", "yes"]},
    {"Smokes": ["Age"], "Ill": ["Age", "Smokes"]},
)
NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]\d+)?")
SECONDS = re.compile(r"[\d.]+ s\b|'seconds': [-\d.e]+")


def people(scale: float = 1.0) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    rows = 300
    age = rng.integers(0, 3, rows)
    smokes = (rng.random(rows) < 0.2 + 0.2 * age).astype(int)
    ill = (rng.random(rows) < 0.1 + 0.15 * age + 0.2 * smokes).astype(int)
    codes = {"Age": age, "Smokes": smokes, "Ill": ill}
    frame = pd.DataFrame(
        {name: np.array(NETWORK.states(name), dtype=object)[own] for name, own in codes.items()}
    )
    frame.loc[rng.random(rows) < 0.1 + 0.2 * (age == 2), "Smokes"] = None
    frame.loc[rng.random(rows) < 0.25, "Ill"] = None
    return frame.assign(weight=rng.lognormal(0, 0.7, rows) * scale)


def assert_says_the_same(one: str, two: str) -> None:
    """The same text, with numbers that differ by rounding at most."""
    one, two = SECONDS.sub("", one), SECONDS.sub("", two)
    assert NUMBER.sub("0", one) == NUMBER.sub("0", two)
    pairs = zip(NUMBER.findall(one), NUMBER.findall(two), strict=True)
    for first, second in pairs:
        assert float(first) == pytest.approx(float(second), rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_what_is_learned_and_its_page(method: str) -> None:
    def learned(scale: float) -> lc.Result:
        data = lc.Data(people(scale), weight="weight")
        return lc.learn(NETWORK, data, method, intervals=True)

    first = learned(1.0)
    for scale in SCALES:
        other = learned(scale)
        assert other.total == pytest.approx(first.total, rel=1e-8)
        assert (other.rows, other.missing, other.why) == (first.rows, first.missing, first.why)
        for name in NETWORK.variables:
            tables = [result.network.cpt(name).table for result in (first, other)]
            np.testing.assert_allclose(*tables, rtol=0, atol=1e-8)
            intervals = [result.interval(name) for result in (first, other)]
            np.testing.assert_allclose(*intervals, rtol=0, atol=1e-8)
            support = [result.families[name].support for result in (first, other)]
            np.testing.assert_allclose(*support, rtol=1e-12)
        assert_says_the_same(
            result_as_text(first, with_cpts=True), result_as_text(other, with_cpts=True)
        )
    assert_says_the_same(str(result_page(first)), str(result_page(learned(SCALES[1]))))


def rare() -> pd.DataFrame:
    """Rows of many CPT rows that one row supports, or none."""
    rng = np.random.default_rng(3)
    rows = 150
    frame = pd.DataFrame(
        {
            "A": rng.choice(list("abcdef"), rows, p=[0.5, 0.3, 0.1, 0.05, 0.03, 0.02]),
            "B": rng.choice(list("uvw"), rows, p=[0.7, 0.2, 0.1]),
            "C": rng.choice(["p", "q"], rows),
        }
    )
    frame.loc[rng.random(rows) < 0.2, "B"] = None
    frame.loc[rng.random(rows) < 0.3, "C"] = None
    return frame


@pytest.mark.parametrize("method", METHODS)
def test_one_row_is_one_row_whatever_all_weigh(method: str) -> None:
    network = lc.Network(
        {"A": list("abcdef"), "B": list("uvw"), "C": ["p", "q"]}, {"B": ["A"], "C": ["A", "B"]}
    )
    frame = rare()

    def learned(weight: float) -> lc.Result:
        data = lc.Data(frame, weight=np.full(len(frame), weight))
        return lc.learn(network, data, method, pseudo_counts="learn", intervals=True)

    first = learned(1.0)
    for weight in (7.3, 1 / 30_000):
        other = learned(weight)
        for name in network.variables:
            tables = [result.network.cpt(name).table for result in (first, other)]
            np.testing.assert_allclose(*tables, rtol=0, atol=1e-8)
            intervals = [result.interval(name) for result in (first, other)]
            np.testing.assert_allclose(*intervals, rtol=0, atol=1e-8)


@pytest.mark.parametrize("weight", [7.3, 0.1, 1.1, 49.0])
def test_ten_rows_are_ten_rows_whatever_all_weigh(weight: float) -> None:
    network = lc.Network({"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]})
    rows = {"A": [0, 1] * 5, "B": [0, 1, 0, None, 1, 0, None, 0, 0, 1]}
    one, other = (
        lc.learn(network, lc.Data(rows, weight=np.full(10, own)), "auto", pseudo_counts=0.0)
        for own in (1.0, weight)
    )
    assert other.why == one.why
    assert "EM" in one.why


def told(data: lc.Data) -> list[Any]:
    """What other functions say of weighted rows."""
    known = lc.learn(NETWORK, data, "direct-mcar").network
    diagnosis = lc.diagnose(data, NETWORK)
    return [
        known.log_likelihood(data),
        str(diagnosis.as_data()),
        str(diagnosis),
        str(lc.explain(NETWORK, data, "auto").plan.families),
        str(evaluation_as_data(evaluate(known, known, data))["fit"]),
    ]


def test_what_else_is_said() -> None:
    first, *others = (told(lc.Data(people(scale), weight="weight")) for scale in (1.0, *SCALES))
    for other in others:
        assert other[0] == pytest.approx(first[0], rel=1e-8)
        assert_says_the_same(str(other[1:]), str(first[1:]))


GRAPH = "Age -> R[Smokes]; Smokes -> R[Ill]"


def by_graph(data: lc.Data) -> list[Any]:
    graph = lc.MissingnessGraph.parse(GRAPH, NETWORK)
    verdict = graph.recover(["Smokes"], ["Age"])
    result = lc.learn(NETWORK, data, "mgraph", missingness=graph)
    learned = lc.learn(NETWORK, data, "em", missingness=graph)
    tables = [one.network.cpt("Ill").table.tolist() for one in (result, learned)]
    found = verdict.estimate_with_report(data)
    return [
        tables,
        verdict.estimate(data).probabilities.tolist(),
        found.weighted_size,
        found.largest_weight,
    ]


def by_counts(data: lc.Data) -> list[Any]:
    result = lc.learn(NETWORK, lc.count(NETWORK, data), "em", intervals=True, pseudo_counts="learn")
    return [result.interval(name).tolist() for name in NETWORK.variables]


def by_structure(data: lc.Data) -> list[Any]:
    found = lc.learn_structure(data, strengths=10, rng=1)
    tables = [found.network.cpt(name).table.tolist() for name in found.network.variables]
    strengths = sorted(map(str, found.strengths.items()))
    return [found.network.edges, found.score, strengths, tables, str(found.missingness)]


def by_tilts(data: lc.Data) -> list[Any]:
    return [str(lc.sensitivity(NETWORK, data, "Ill=yes | Age=old", "Ill"))]


@pytest.mark.parametrize("told", [by_graph, by_counts, by_structure, by_tilts])
@pytest.mark.filterwarnings("ignore::lacunet.errors.LacunetWarning")
def test_whole_numbers_are_no_counts_either(told: Callable[[lc.Data], list[Any]]) -> None:
    frame = people()
    frame["weight"] = np.ceil(3 * frame["weight"])
    first, other = (
        told(lc.Data(frame.assign(weight=frame["weight"] * scale), weight="weight"))
        for scale in (1.0, 1_500.0)
    )
    assert_says_the_same(str(first), str(other))
