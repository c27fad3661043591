"""``lacunet effect``: what setting one variable does to another, as people report it."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from shlex import quote
from typing import TYPE_CHECKING, Any

from lacunet.cli.answering import (
    example_query,
    known_and_coded,
    learned_anew,
    note_what_is_not_used,
    queries_of,
)
from lacunet.cli.asked import graph_asked, noted_rows
from lacunet.cli.files import has_data
from lacunet.cli.options import (
    add,
    add_method_arguments,
    add_network_or_edges,
    add_output,
    add_shared,
)
from lacunet.cli.output import deliver
from lacunet.cli.terminal import note
from lacunet.data.typed import names_and_states, split_query, states_in
from lacunet.errors import LacunetError

if TYPE_CHECKING:
    from lacunet.model.network import Network
    from lacunet.uncertainty.effect import Effect

HELP = "estimate the effect of one variable on another: differences, ratios, odds ratios"
EXAMPLE = """examples:
  lacunet effect net.bif rows.csv --query "Ill | do(Smoke)"
  lacunet effect net.bif rows.csv --query "Ill=severe | do(Smoke), Age=old" --reference never
  lacunet effect net.bif rows.csv --query "Ill | do(Smoke)" --missingness mechanisms.txt

The edges of the network are taken as causes. With --missingness GRAPH the effect is recovered by
the graph's estimand, which allows for hidden common causes (Smoke <-> Ill) and for values that
are not missing at random; with --method too, the network is learned by it first. Without DATA the
network's own CPTs answer: with intervals if `lacunet learn --intervals -o FILE.json` has written
it.
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_network_or_edges(command, "NETWORK [DATA]")
    asked = "the outcome, the variable that is set, and what is given; may be repeated"
    add(command, "--query Y|do(X),Z=z", asked, action="append", default=[])
    add(command, "--reference STATE", "the state of X to compare with (default: its first)")
    add_output(command, "--forest FILE", "draw the contrasts: .svg, or .pdf and .png (matplotlib)")
    choices = ["difference", "ratio", "odds ratio"]
    add(command, "--measure", "what --forest draws", choices=choices, default="difference")
    add_shared(command, "--population --json --prior --memory --scratch --intervals")
    add_method_arguments(command)


def run(options: Namespace) -> int:
    """Print the effects, and draw them if that is asked for."""
    known, coded = known_and_coded(options)
    asked = [_parsed(coded, text) for text in queries_of(options, coded)]
    effects, code = _effects(known, asked, options)

    def draw() -> None:
        if options.forest:
            from lacunet.plots import effect_forest

            effect_forest(effects, options.measure).write(options.forest)
            note(f"the contrasts are drawn in {options.forest}")

    as_data = [effect.as_data() for effect in effects]
    deliver(options, json.dumps(as_data) if options.json else "\n\n".join(map(str, effects)), draw)
    return code


def _parsed(network: Network, text: str) -> dict[str, Any]:
    """The outcome, the cause that is set and what is given, as `Network.effect` takes them."""
    typed = split_query(text)
    target, outcomes = names_and_states(typed.target, network)
    do, states = names_and_states(typed.do, network)
    if states:
        raise LacunetError(
            f"the query {text!r} sets one state, {', '.join(typed.do)}; an effect compares all.",
            f"write do({', '.join(do)}) to compare them with that of --reference; what follows "
            f"from one is a query: lacunet query ... --query {quote(text)}.",
        )
    if len(target) != 1 or len(do) != 1:
        seen = [] if do else names_and_states(typed.given, network)[0]
        asked = f"{target[0]} | do({seen[0]})" if len(target) == len(seen) == 1 else None
        raise LacunetError(
            f"the query {text!r} does not ask for an effect.",
            f'as in --query "{asked or example_query("effect", network)}": one outcome, one cause.',
        )
    return {
        "target": network.known(target[0]),
        "do": network.known(do[0]),
        "evidence": states_in(typed.given, network, takes_sets=True),
        "outcome": outcomes.get(target[0]),
    }


def _effects(
    known: Any, asked: list[dict[str, Any]], options: Namespace
) -> tuple[list[Effect], int]:
    """The effects from the graph and rows, from what the rows teach, or from what is known."""
    from lacunet.inference.answer import LEVEL
    from lacunet.uncertainty.effect import effect, effect_by_graph

    source = known
    code = 0
    level = options.intervals or LEVEL
    more: dict[str, Any] = {"reference": options.reference, "level": level}
    if has_data(options) and options.missingness and options.method is None:
        graph = graph_asked(options, options.missingness, known)
        more |= {"data": noted_rows(options, graph.network), "population": options.population}
        note(*graph.check_data(more["data"]))
        note_what_is_not_used(options, "the effect is estimated anew from the data")
        return [effect_by_graph(graph, **question, **more) for question in asked], 0
    if options.population:
        options.usage_error("--population is for --missingness GRAPH without --method")
    if has_data(options):
        options.intervals = level
        source, code = learned_anew(known, options)
    return [effect(source, **question, **more) for question in asked], code
