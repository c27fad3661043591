"""The demonstration as a short text."""

from __future__ import annotations

from lacunet.experiments.demo import Demonstration
from lacunet.report.text_table import text_table


def demonstration_as_text(shown: Demonstration) -> str:
    """The answers of each method beside the truth."""
    table = shown.table
    missing = table.missing_of["Disease"]
    rows = [
        [words, *(f"{value:.3f}" for value in (truth, *values))]
        for words, truth, values in shown.answers
    ]
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
        ]
    )
