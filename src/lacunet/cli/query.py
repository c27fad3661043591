"""``lacunet query``: what a network says of some variables given others, and how surely."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from lacunet.cli.answering import known_and_coded, learned_anew, queries_of
from lacunet.cli.files import has_data
from lacunet.cli.options import (
    add,
    add_method_arguments,
    add_network_or_edges,
    add_shared,
)
from lacunet.data.typed import AskedQuery, as_probability, asked_query

if TYPE_CHECKING:
    from lacunet.inference.answer import Answer

HELP = "answer queries about a network, or about one learned from data, with intervals"
EXAMPLE = """examples:
  lacunet query learned.bif --query "Disease|Test=positive"
  lacunet query net.bif rows.csv --query "Disease|Test=positive" --query "Age" --intervals
  lacunet query learned.bif --query "Disease | do(Treatment=yes), Age=old"
  lacunet query learned.json --query 'Ill | Stay="1 day, 0:00:00"'
  lacunet query learned.bif "P(Disease | Test=positive)"
  lacunet query learned.bif Disease

Without DATA the network's own CPTs answer. With DATA the CPTs are learned first, as by
`lacunet learn`; --intervals then says how sure each answer is. What `lacunet learn
--intervals -o FILE.json` has written says so by itself. do(X=x) sets X from outside: edges
into X are cut. Names and states that hold a comma, a bar or a parenthesis are in quotes.
"""

GIVEN = "what is given stands behind a bar: --query 'X | Y=y, Z=z'"


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_network_or_edges(command, "NETWORK [DATA]")
    asked = "the variables asked about, and the states that are given or set; may be repeated"
    add(command, "--query X,Y|do(W=w),Z=z", asked, action="append", default=[])
    rests = "what to do if an answer rests on CPT rows without data: warn, refuse, bounds, ignore"
    choices = ("warn", "refuse", "bounds", "ignore")
    add(command, "--unsupported HOW", rests, choices=choices, default="warn")
    add_shared(command, "--json --prior --memory --scratch --intervals")
    add_method_arguments(command)


def run(options: Namespace) -> int:
    """Print the answers."""
    from lacunet.inference.answer import LEVEL
    from lacunet.inference.query import query

    result, coded = known_and_coded(options)
    texts = [*map(as_probability, queries_of(options, coded))]
    asked = [asked_query(text, coded) for text in texts]
    code = 0
    if has_data(options):
        result, code = learned_anew(result, options)
    unsupported = options.unsupported
    if unsupported == "warn" and not options.json:
        unsupported = "ignore"  # the answer itself says it
    level = options.intervals or LEVEL
    answers = [query(result, text, level=level, unsupported=unsupported) for text in texts]
    if options.intervals is not None and not code:  # an interruption leaves none
        for answer in answers:
            _ = answer.interval  # asked for: what is wrong with them is said here
    if options.json:
        print(json.dumps([*map(_as_data, asked, answers)]))
    else:
        print("\n\n".join(map(_as_text, answers)))
    return code


def _as_text(answer: Answer) -> str:
    """An answer for people: one line for each configuration."""
    from lacunet.wording import text_table

    header, rows = answer.rows()
    table = text_table(header, rows, left=len(answer.scope))
    return "\n".join([f"{answer.basis.title}\n\n{table}", *answer.notes(), *answer.legend()])


def _as_data(asked: AskedQuery, answer: Answer) -> dict[str, Any]:
    """An answer for programs."""
    from lacunet.report.plain import plain

    data: dict[str, Any] = {
        **asked._asdict(),
        "states": [list(states) for states in answer.states],
        "answer": answer.tolist(),
        "intervals": None if answer.level is None else answer.interval.tolist(),
        "unsupported": answer.unsupported,
    }
    if answer.bounds is not None:
        data["bounds"] = {**plain(answer.bounds, "low high"), "exact": answer.bounds_are_exact}
    return data
