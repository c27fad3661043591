"""A case that everybody knows: a test is judged on the patients whose disease was verified.

Whether a patient's disease is verified depends on the test's result and on the symptoms,
which are known of everybody: missing at random. Those who are verified are mostly positive,
so among the complete rows the test misses almost nobody. That is verification bias.

The demonstration as a short text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lacunet.building.network import Network
from lacunet.data.examples import example_data
from lacunet.data.table import EncodedTable
from lacunet.estimate.learn import learn
from lacunet.inference.query import query
from lacunet.missingness.graph import MissingnessGraph
from lacunet.simulation.by_graph import MissingByGraph
from lacunet.simulation.simulate import simulate
from lacunet.wording import text_table

ROWS = 50_000
SEED = 1
METHODS = ("listwise", "factored-mar")

SCREENING = Network(
    {
        "Age": ["under 50", "50 and over"],
        "Disease": ["no", "yes"],
        "Symptoms": ["no", "yes"],
        "Test": ["negative", "positive"],
    },
    {"Disease": ["Age"], "Symptoms": ["Disease"], "Test": ["Disease"]},
    {
        "Age": [0.6, 0.4],
        "Disease": [[0.95, 0.05], [0.8, 0.2]],
        "Symptoms": [[0.9, 0.1], [0.4, 0.6]],
        "Test": [[0.9, 0.1], [0.25, 0.75]],
    },
)
NOT_VERIFIED = {"Disease": [[0.95, 0.2], [0.5, 0.05]]}  # given Symptoms, Test


# What people ask for: in words, then the variable, then the cell of its CPT.
ASKED = (
    ("ill, under 50", "Disease", (0, 1)),
    ("ill, 50 and over", "Disease", (1, 1)),
    ("test finds the ill (sensitivity)", "Test", (1, 1)),
    ("test clears the healthy (specificity)", "Test", (0, 0)),
)


@dataclass(frozen=True)
class Demonstration:
    """The data, what each method learned, and the answers beside the truth."""

    table: EncodedTable
    learned: dict[str, Network]
    answers: tuple[tuple[Any, ...], ...]  # in words, the truth, what each method says
    obesity: dict[str, float]


def demonstrate() -> Demonstration:
    """Draw patients, hide the disease of those not verified, and learn from the rest."""
    graph = MissingnessGraph.parse("Symptoms, Test -> R[Disease]", SCREENING)
    missing = MissingByGraph(graph, NOT_VERIFIED)
    table = simulate(SCREENING, ROWS, missing, np.random.default_rng(SEED)).table
    learned = {method: learn(SCREENING, table, method).network for method in METHODS}
    answers = tuple(
        (words, *(float(one.cpt(variable).table[cell]) for one in (SCREENING, *learned.values())))
        for words, variable, cell in ASKED
    )
    return Demonstration(table, learned, answers, obesity())


def obesity() -> dict[str, float]:
    """The share of obese children at the third survey of Muscatine, by several methods."""
    children = example_data("muscatine")
    network = Network.from_data(children, "Sex, Age -> Obese1 -> Obese2 -> Obese3")
    return {
        method: float(
            query(learn(network, children, method, prior=1, weight="Count").network, "Obese3")[1]
        )
        for method in ("listwise", "factored-mar", "em")
    }


def demonstration_as_text(shown: Demonstration) -> str:
    """The answers of each method beside the truth."""
    table, obese = shown.table, shown.obesity
    missing = table.missing_of["Disease"]
    rows = [[words, *(f"{value:.3f}" for value in values)] for words, *values in shown.answers]
    return "\n".join(
        [
            f"{table.rows:,} patients were tested; whether they have the disease was verified",
            f"for {table.rows - missing:,} of them, mostly for those with a positive test.",
            "",
            text_table(["probability", "truth", "complete rows", "lacunet"], rows),
            "",
            "The complete rows are mostly patients with symptoms and a positive test, so every",
            "answer from them is off: verification bias. lacunet used all rows, by factored",
            "deletion for data missing at random.",
            "",
            "A real table: 4,856 children were weighed in three surveys (Muscatine), and most of",
            "them missed one or two. Obese at the third survey, by the rows without a gap "
            f"{obese['listwise']:.3f},",
            f"by factored-mar {obese['factored-mar']:.3f}, by em {obese['em']:.3f}.",
        ]
    )
