"""Bundled tables that an empty folder is offered, each with what one may begin with."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO

from pyarrow import csv

from lacunet.data.examples import example_data


@dataclass(frozen=True)
class OfferedExample:
    """A bundled table: what it is about, and the graph that is drawn for it."""

    words: str
    graph: str


OFFERED_EXAMPLES = {
    "screening": OfferedExample(
        "50,000 simulated patients of a screening test: whether they have the disease was looked "
        "at mainly where the test or symptoms spoke for it. How good is the test?",
        "Age -> Disease\nDisease -> Symptoms\nDisease -> Test\n"
        "Symptoms -> R[Disease]\nTest -> R[Disease]",
    ),
    "nhanes": OfferedExample(
        "8,366 persons of the US health survey of 2017-2018, with questions that were skipped and "
        "refused. What goes with diabetes?",
        "",
    ),
}


def as_csv(name: str) -> bytes:
    """A bundled table as a file holds it."""
    file = BytesIO()
    csv.write_csv(example_data(name), file)
    return file.getvalue()
