"""``lacunet query``: what a result or a network says of some variables given others."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from lacunet.cli.known_networks import known_network, unrolled
from lacunet.cli.options import RESULT_HELP, add, add_shared
from lacunet.data.query_text import AskedQuery, as_probability, parse_query

if TYPE_CHECKING:
    from lacunet.inference.answer import Answer

HELP = "ask a result or a network for probabilities, with intervals"
EXAMPLE = """examples:
  lacunet learn "Age -> Disease -> Test" data.csv --intervals -o result.json
  lacunet query result.json "Disease | Test=positive"
  lacunet query result.json "P(Disease | Test=positive)" Age --level 0.9
  lacunet query alarm.bif "Disease | do(Treatment=yes), Age=old" --json
  lacunet query result.json "Disease | Age in {40-59, 60+}, Weight>=80"
  lacunet query result.json 'Ill | Stay="1 day, 0:00:00"'

do(X=x) sets X from outside: edges into X are cut. X ~ {a: 0.8, b: 0.2} says how
likely what was observed is in each state. Names and states that hold a comma, a
bar or a parenthesis are in quotes.
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    add(command, "network RESULT", RESULT_HELP)
    asked = 'what is asked about, and what is given: "Disease | Test=positive"'
    add(command, "queries QUERY", asked, nargs="+")
    add_shared(command, "--level")
    rests = "what to do if an answer rests on CPT rows without data: warn, refuse, bounds, ignore"
    choices = ("warn", "refuse", "bounds", "ignore")
    add(command, "--unsupported HOW", rests, choices=choices, default="warn")
    add_shared(command, "--unroll --json --memory")


def run(options: Namespace) -> None:
    """Print the answers."""
    from lacunet.inference.answer import DEFAULT_LEVEL
    from lacunet.inference.query import query
    from lacunet.network.formats.files import as_network

    known = unrolled(known_network(options, options.queries), options)
    texts = [*map(as_probability, options.queries)]
    asked = [parse_query(text, as_network(known)) for text in texts]
    unsupported = options.unsupported
    if unsupported == "warn" and not options.json:
        unsupported = "ignore"  # the answer itself says it
    level = options.level or DEFAULT_LEVEL
    answers = [
        query(known, text, level=level, unsupported=unsupported, memory=options.memory)
        for text in texts
    ]
    if options.level is not None:
        for answer in answers:
            _ = answer.interval  # asked for: what is wrong with them is said here
    if options.json:
        print(json.dumps([*map(_as_data, asked, answers)]))
    else:
        print("\n\n".join(map(_as_text, answers)))


def _as_text(answer: Answer) -> str:
    """An answer for people: one line for each configuration."""
    from lacunet.inference.answer import labelled
    from lacunet.text_tables import TextTable, fitting

    shown = labelled(answer)
    table = TextTable(*shown.cells(), left=len(answer.variables))
    return "\n".join([f"{fitting(answer.title)}\n\n{table}", *shown.legend])


def _as_data(asked: AskedQuery, answer: Answer) -> dict[str, Any]:
    """An answer for programs."""
    from lacunet.show.plain_values import plain_attributes

    data: dict[str, Any] = {
        **asked._asdict(),
        "states": [list(states) for states in answer.states],
        "answer": answer.probabilities.tolist(),
        "intervals": None if answer.level is None else answer.interval.tolist(),
        "unsupported": answer.unsupported,
    }
    if answer.bounds is not None:
        data["bounds"] = {
            **plain_attributes(answer.bounds, "low high"),
            "exact": answer.bounds_are_exact,
        }
    return data
