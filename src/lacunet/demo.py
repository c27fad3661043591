"""A case that everybody knows: a test is judged on the patients whose disease was verified.

Whether a patient's disease is verified depends on the test's result and on the symptoms,
which are known of everybody: missing at random. Those who are verified are mostly positive,
so among the complete rows the test misses almost nobody. That is verification bias.

The demonstration as a short text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lacunet.data.data import Data
from lacunet.data.examples import example_data
from lacunet.inference.query import query
from lacunet.learning.learn import learn
from lacunet.learning.result import Result
from lacunet.network.catalogue import example
from lacunet.network.network import Network
from lacunet.text import interval_in_words
from lacunet.text_tables import TextTable

if TYPE_CHECKING:
    import pyarrow as pa

# What people ask for: in words, then the variable, then the cell of its CPT.
ASKED = (
    ("ill, under 50", "Disease", (0, 1)),
    ("ill, 50 and over", "Disease", (1, 1)),
    ("test finds the ill (sensitivity)", "Test", (1, 1)),
    ("test clears the healthy (specificity)", "Test", (0, 0)),
)


@dataclass(frozen=True)
class ComparedAnswer:
    """One probability: the truth, what the complete rows say, and what all rows say."""

    what: str
    truth: float
    complete_rows: float
    learned: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class Demonstration:
    """The data, what was learned from all rows, and the answers beside the truth."""

    truth: Network
    patients: pa.Table
    result: Result
    answers: tuple[ComparedAnswer, ...]
    obesity: dict[str, float]


def demonstrate() -> Demonstration:
    """Learn from patients of whom few were verified: by the complete rows, and by all rows."""
    truth, patients = example("screening"), example_data("screening")
    complete_rows = learn(truth, patients, "listwise")
    result = learn(truth, patients, intervals=True)
    answers = []
    for what, variable, cell in ASKED:
        by_truth, by_complete, by_all = (
            float(model.cpt(variable).table[cell]) for model in (truth, complete_rows, result)
        )
        low, high = result.interval(variable)[cell].tolist()
        answers.append(
            ComparedAnswer(
                what=what,
                truth=by_truth,
                complete_rows=by_complete,
                learned=by_all,
                interval=(low, high),
            )
        )
    return Demonstration(
        truth=truth, patients=patients, result=result, answers=tuple(answers), obesity=obesity()
    )


def obesity() -> dict[str, float]:
    """The share of obese children at the third survey of Muscatine, by several methods."""
    children = example_data("muscatine")
    network = Network.from_data(children, "Sex, Age -> Obese1 -> Obese2 -> Obese3")
    return {
        method: float(
            query(learn(network, Data(children, counts="Count"), method), "Obese3")["yes"]
        )
        for method in ("listwise", "auto")
    }


DEMO_HEADER = ["probability", "truth", "complete rows", "lacunet", interval_in_words(0.95)]


def demonstration_as_text(shown: Demonstration) -> str:
    """The answers beside the truth."""
    patients, obese = shown.patients, shown.obesity
    verified = patients.num_rows - patients["Disease"].null_count
    rows = [
        [
            answer.what,
            *(f"{value:.3f}" for value in (answer.truth, answer.complete_rows, answer.learned)),
            "{:.3f} to {:.3f}".format(*answer.interval),
        ]
        for answer in shown.answers
    ]
    return "\n".join(
        [
            f"{patients.num_rows:,} patients were tested; whether they have the disease was",
            f"verified for {verified:,} of them, mostly for those with a positive test.",
            "",
            str(TextTable(DEMO_HEADER, rows)),
            "",
            "The complete rows are mostly patients with symptoms and a positive test, so",
            "every answer from them is off: verification bias. lacunet used all rows, by its",
            "default method.",
            "",
            "A real table: 4,856 children were weighed in three surveys (Muscatine), and most",
            f"of them missed one or two. Obese at the third survey: {obese['auto']:.3f}; by the",
            f"complete rows, {obese['listwise']:.3f}.",
        ]
    )
