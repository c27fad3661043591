"""Tables with answers that others published: `docs/published.md` lists them with their sources."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import log
from pathlib import Path
from typing import Any

import pytest

import lacunet as lc

TABLES = json.loads((Path(__file__).parent / "cases" / "published.json").read_text())


def counted(name: str) -> lc.Data:
    """A published table of counts."""
    return lc.Data(TABLES[name], counts="n")


def saturated(names: Sequence[str]) -> str:
    """Edges that leave nothing out: any joint distribution is one of this network."""
    return "; ".join(f"{earlier} -> {later}" for earlier, later in combinations(names, 2))


def most_likely(name: str, variables: Sequence[str]) -> lc.Result:
    """The joint distribution of maximum likelihood."""
    exact = lc.EM(tolerance=1e-10, max_iterations=20_000)
    return lc.learn(saturated(variables), counted(name), exact, pseudo_counts=0)


def multinomial_likelihood(network: lc.Network, table: Mapping[str, list[Any]]) -> float:
    """The log-likelihood of counts, one query for each row of the table."""
    total = 0.0
    for row in range(len(table["n"])):
        shown = {name: cells[row] for name, cells in table.items() if name != "n"}
        shown = {name: state for name, state in shown.items() if state is not None}
        if shown:
            answer = network.query(", ".join(f"{name}={state}" for name, state in shown.items()))
            total += table["n"][row] * log(float(answer.probabilities.squeeze()))
    return total


def test_victims_of_crimes_in_two_half_years() -> None:
    # National Crime Survey; J. L. Schafer, "Analysis of Incomplete Multivariate Data" (1997).
    joint = most_likely("crimes", ["V1", "V2"]).query(["V1", "V2"]).probabilities
    assert joint.ravel().tolist() == pytest.approx([0.6971, 0.0986, 0.1358, 0.0685], abs=5e-5)


def test_a_table_with_both_margins() -> None:
    # R. J. A. Little and D. B. Rubin, "Statistical Analysis with Missing Data", EM for 2 x 2.
    joint = most_likely("little-rubin", ["A", "B"]).query(["A", "B"]).probabilities
    assert joint.ravel().tolist() == pytest.approx([0.2795, 0.1740, 0.2387, 0.3078], abs=5e-5)


def test_belts_and_injuries_reported_twice_for_some() -> None:
    # Y. Hochberg (1977), 81,880 drivers; saturated maximum by R's cat (J. L. Schafer).
    names = ["I1", "D", "S", "B1", "I2", "B2"]
    result = most_likely("belt", names)
    ours = multinomial_likelihood(result.network, TABLES["belt"])
    assert ours == pytest.approx(-175372.0956, abs=1e-3)
    assert ours == pytest.approx(result.log_likelihood(counted("belt")), abs=1e-6)


def test_respondents_of_the_general_social_survey_in_three_classes() -> None:
    # Linzer and Lewis, poLCA; 258 of 500 random starts reach this maximum.
    items = ["PURPOSE", "ACCURACY", "UNDERSTA", "COOPERAT"]
    edges = "; ".join(f"Class -> {item}" for item in items)
    data = lc.Data(TABLES["gss82"], counts="n", latent={"Class": 3})
    result = lc.learn(edges, data, lc.EM(restarts=20), pseudo_counts=0, rng=0)
    assert result.ended is not None
    assert result.ended.log_likelihood == pytest.approx(-2754.545, abs=2e-3)


@pytest.mark.parametrize(
    ("variables", "at_random", "complete_rows"),
    [
        (["Attendance", "Independence"], 0.892, 0.929),
        (["Secession", "Attendance", "Independence"], 0.883, 0.928),
    ],
)
def test_the_slovenian_plebiscite(
    variables: list[str], at_random: float, complete_rows: float
) -> None:
    # Rubin, Stern and Vehovar (1995): answers to the Slovenian public opinion survey of 1990.
    data = counted("slovenia")
    query = "Attendance=yes, Independence=yes"
    result = most_likely("slovenia", variables)
    assert result.query(query).probabilities.item() == pytest.approx(at_random, abs=5e-4)
    dropped = lc.learn(saturated(variables), data, "listwise", pseudo_counts=0)
    assert dropped.query(query).probabilities.item() == pytest.approx(complete_rows, abs=5e-4)
    low, high = lc.worst_case(saturated(variables), data, "Attendance, Independence")
    assert (low[1, 1], high[1, 1]) == pytest.approx((0.694, 0.905), abs=6e-4)
