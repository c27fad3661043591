"""``lacunet query``: what a network says of some variables given others, and how surely."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any

from lacunet.cli.learn import learned
from lacunet.cli.options import (
    add,
    add_data_arguments,
    add_json,
    add_learning_arguments,
    add_method_arguments,
    add_network_and_data,
    has_data,
    note,
)
from lacunet.cli.queries import split_query, states_in
from lacunet.cli.terminal import progress_bar
from lacunet.errors import LacunetError
from lacunet.model.network import Network

HELP = "answer queries about a network, or about one learned from data, with intervals"
EXAMPLE = """example:
  lacunet query learned.bif --query "Disease|Test=positive"
  lacunet query net.bif rows.csv --query "Disease|Test=positive" --query "Age" --intervals

Without DATA the network's own CPTs answer. With DATA the CPTs are learned first, as by
`lacunet learn`; --intervals then says how sure each answer is.
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_network_and_data(command, nargs="*")
    asked = "the variables asked about, and the states that are given; may be repeated"
    add(command, "--query X,Y|Z=z", asked, action="append", required=True)
    add_json(command, "print the answers as JSON")
    add_learning_arguments(command)
    add_method_arguments(command)
    add_data_arguments(command)


def run(options: Namespace) -> int:
    """Print the answers."""
    from lacunet.formats.files import read_network
    from lacunet.inference.query import query

    if options.intervals is not None and not has_data(options):
        raise LacunetError(
            "intervals come from data, and none are given.",
            "name the data after the network.",
        )
    network = read_network(options.network)
    asked = [_parsed(network, text) for text in options.query]
    result: Any = network
    code = 0
    if has_data(options):
        result, code = _learned(network, options)
    answers = []
    for target, evidence in asked:
        both = None
        answer = query(result, target, evidence)
        if options.intervals is not None and not code:
            both = result.sure().query(target, evidence).interval(options.intervals)
        answers.append((target, evidence, answer, both))
    if options.json:
        print(json.dumps([_as_data(network, *one) for one in answers]))
    else:
        print("\n\n".join(_as_text(network, *one) for one in answers))
    return code


def _parsed(network: Network, text: str) -> tuple[list[str], dict[str, str]]:
    """The variables asked about and what is given, if the network has them."""
    left, right = split_query(text)
    if not left:
        raise LacunetError(
            f"the query {text!r} names no variable to ask about.", 'as in "Ill,Test|Age=old".'
        )
    for name in left:
        if "=" in name and name not in network.states_of:
            raise LacunetError(
                f"the query {text!r} asks about {name!r}.",
                "name the variable alone: the answer has all its states.",
            )
        network.known(name)
    return left, states_in(right, network)


def _learned(network: Network, options: Namespace) -> tuple[Any, int]:
    """What the data give, and the exit status."""
    with progress_bar() as progress:
        result, code = learned(network, options, None, progress)
    for text in result.notes:
        note(text)
    if options.intervals is not None and not code:
        sure = result.sure()
        note(f"learned by {result.method}; {options.intervals:.0%} intervals by {sure.recipe}")
        for direction in sure.unidentified[:3]:
            note(f"not identified by the data: {direction}")
    return result, code


def _title(target: Sequence[str], evidence: dict[str, str]) -> str:
    given = ", ".join(f"{name}={state}" for name, state in evidence.items())
    return f"P({', '.join(target)}{' | ' if given else ''}{given})"


def _as_text(
    network: Network, target: Sequence[str], evidence: dict[str, str], answer: Any, both: Any
) -> str:
    """An answer for people: one line for each configuration."""
    from itertools import product

    from lacunet.wording import text_table

    rows = []
    for place in product(*(range(size) for size in answer.shape)):
        states = [network.states(v)[at] for v, at in zip(target, place, strict=True)]
        values = [answer[place]] if both is None else [answer[place], *both[place]]
        rows.append([*states, *(f"{value:.4f}" for value in values)])
    header = [*target, "probability", *(() if both is None else ("low", "high"))]
    table = text_table(header, rows, left=len(target))
    return f"{_title(target, evidence)}\n\n{table}"


def _as_data(
    network: Network, target: Sequence[str], evidence: dict[str, str], answer: Any, both: Any
) -> dict[str, Any]:
    """An answer for programs."""
    return {
        "target": list(target),
        "given": evidence,
        "states": [list(network.states(name)) for name in target],
        "answer": answer.tolist(),
        "intervals": None if both is None else both.tolist(),
    }
