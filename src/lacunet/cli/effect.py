"""``lacunet effect``: what setting one variable does to another, as people report it."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lacunet.cli.inputs import graph_asked, read_rows_with_notes, with_codes_asked
from lacunet.cli.known_networks import known_network
from lacunet.cli.options import (
    RESULT_HELP,
    add,
    add_data_arguments,
    add_output,
    add_shared,
)
from lacunet.cli.output import deliver
from lacunet.cli.terminal import note
from lacunet.cli.typed_files import has_data, is_data_name
from lacunet.cli.typed_networks import typed_network
from lacunet.data.query_text import evidence_in, names_and_states, split_query
from lacunet.errors import LacunetError

if TYPE_CHECKING:
    from lacunet.ask.effect import Effect
    from lacunet.network.network import Network

HELP = "estimate the effect of one variable on another"
EXAMPLE = """examples:
  lacunet effect result.json Disease --do Treatment
  lacunet effect result.json "Ill=severe | Age=old" --do Smoke --reference never
  lacunet effect net.bif rows.csv Ill --do Smoke --missingness "Ill -> R[Smoke]"

The edges of the network are taken as causes; a result answers with its
intervals. With DATA and --missingness GRAPH the effect is recovered by the
graph's estimand, which allows for hidden common causes (Smoke <-> Ill) and for
values that are not missing at random.
"""


OUTCOME = (
    "the variable that the effect is on, or one state of it; a group stands behind a bar: "
    '"Ill=severe | Age=old"'
)


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    given = f"{RESULT_HELP}; with DATA and --missingness also edges, or a network without CPTs"
    add(command, "network RESULT", given)
    command.add_argument("words", metavar="[DATA ...] OUTCOME", nargs="+", help=OUTCOME)
    add(command, "--do TREATMENT", "the variable that is set")
    add(command, "--reference STATE", "the state of TREATMENT to compare with (default: its first)")
    graph = "recover the effect from DATA by this missingness graph: a file, or its text"
    add(command, "--missingness GRAPH", graph)
    add_output(command, "--forest FILE", "draw the contrasts: .svg, or .pdf and .png (matplotlib)")
    choices = ["difference", "ratio", "odds ratio"]
    add(command, "--measure", "what --forest draws", choices=choices, default="difference")
    add_shared(command, "--population --level --json --memory")
    add_data_arguments(command)


def run(options: Namespace) -> None:
    """Print the effects, and draw them if that is asked for."""
    effects = _effects(options)

    def draw() -> None:
        if options.forest:
            from lacunet.plots import effect_forest

            effect_forest(effects, options.measure).write(options.forest)
            note(f"the contrasts are drawn in {options.forest}")

    as_data = [effect.as_data() for effect in effects]
    deliver(options, json.dumps(as_data) if options.json else "\n\n".join(map(str, effects)), draw)


def _effects(options: Namespace) -> list[Effect]:
    """The effects from a result or a network, or from data by a missingness graph."""
    from lacunet.inference.answer import DEFAULT_LEVEL

    more: dict[str, Any] = {"reference": options.reference, "level": options.level or DEFAULT_LEVEL}
    if options.missingness is None:
        return _effects_by_network(options, more)
    return _effects_by_graph(options, more)


def _effects_by_network(options: Namespace, more: Mapping[str, Any]) -> list[Effect]:
    """The effects by the CPTs of a result or a network."""
    from lacunet.ask.effect import effect
    from lacunet.inference.answer import NO_INTERVALS, NOT_LEARNED
    from lacunet.network.formats.files import as_network

    if options.population:
        options.usage_error("--population is for --missingness GRAPH")
    known: Any = known_network(options, options.words)
    if options.level is not None and getattr(known, "uncertainty", None) is None:
        raise LacunetError(*(NO_INTERVALS if hasattr(known, "method") else NOT_LEARNED))
    asked = [_question(as_network(known), text, options) for text in options.words]
    return [effect(known, **question, **more) for question in asked]


def _effects_by_graph(options: Namespace, more: Mapping[str, Any]) -> list[Effect]:
    """The effects that a missingness graph recovers from data."""
    from lacunet.ask.effect import effect_by_graph

    outcomes = [word for word in options.words if not is_data_name(word)]
    options.data = [word for word in options.words if is_data_name(word)]
    if not has_data(options):
        options.usage_error("--missingness needs DATA: the graph recovers the effect from rows")
    if not outcomes:
        options.usage_error("name the OUTCOME after the data")
    network = _network(options)
    coded = with_codes_asked(options, network)
    asked = [_question(coded, text, options) for text in outcomes]
    graph = graph_asked(options, options.missingness, network)
    rows = read_rows_with_notes(options, graph.network)
    note(*graph.check_data(rows))
    if network.has_cpts:
        note(f"the CPTs of {options.network} are not used: the data give the effect by the graph")
    return [
        effect_by_graph(graph, data=rows, population=options.population, **question, **more)
        for question in asked
    ]


def _network(options: Namespace) -> Network:
    """The network that is named, or that edges in its place make of the data."""
    from lacunet.network.edge_texts import is_edges
    from lacunet.network.formats.files import is_file_of_edges

    options.edges = None
    if is_edges(options.network) or is_file_of_edges(options.network):
        options.edges = options.network
        options.network = None
    return typed_network(options)


def _question(network: Network, text: str, options: Namespace) -> dict[str, Any]:
    """The outcome, the cause that is set and what is given, as `Network.effect` takes them."""
    typed = split_query(text)
    target, outcomes = names_and_states(typed.target, network)
    do, states = names_and_states(typed.do, network)
    if not (typed.do or options.do):
        options.usage_error("give --do TREATMENT: the variable that is set")
    if states or len(target) != 1 or len(do) + (options.do is not None) != 1:
        raise LacunetError(
            f"{text!r} does not ask for an effect: that is of one variable that is set (--do), "
            "whose states are compared, on one outcome.",
            'as in "Ill" --do Smoke, or "Ill | Age=old" --do Smoke.',
        )
    return {
        "target": network.known(target[0]),
        "do": network.known(options.do or do[0]),
        "evidence": evidence_in(typed.given, network),
        "outcome": outcomes.get(target[0]),
    }
