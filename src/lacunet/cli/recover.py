"""``lacunet recover``: what a missingness graph lets one learn, and how."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from dataclasses import replace
from typing import TYPE_CHECKING

from lacunet.cli.inputs import graph_asked, level_asked, read_rows_with_notes
from lacunet.cli.options import DATA_HELP, add, add_network_or_edges, add_shared
from lacunet.cli.output import deliver
from lacunet.cli.terminal import note
from lacunet.cli.typed_files import has_data
from lacunet.cli.typed_networks import typed_network
from lacunet.data.query_text import names_and_states, split_query
from lacunet.errors import LacunetError

if TYPE_CHECKING:
    from lacunet.data.table import EncodedTable
    from lacunet.missingness.graph import MissingnessGraph
    from lacunet.show.verdicts.verdict_on_data import Reported

HELP = "decide what a missingness graph lets be recovered, and how"
EXAMPLE = """examples:
  lacunet recover net.bif mechanisms.txt
  lacunet recover net.bif "Age -> R[Income]" --query "X,Y|Z" --data rows.csv
  lacunet recover net.bif mechanisms.txt --implications --data rows.csv
  lacunet recover net.bif mechanisms.txt --query "Y|do(X)" --data rows.csv
"""
MORE = """A graph is text, edges separated by newlines or ';': "Age -> R[Income]",
"R[A] -> R[B]", "X <-> R[Y]", and a bare "R[X]" for a variable that is missing
completely at random; "Age -> R[*]" says that Age decides whether a row was
recorded at all, and "R[B] <= R[A]" that B is shown only where A is.
A network that was learned with a graph (.json) knows it: no GRAPH is needed.
A query is "X,Y|Z" or "P(X,Y|Z=z)"; "Y | do(X), Z" asks for the effect of an
intervention.
With --data, what is recoverable is estimated; for a query that is not, the
lowest and highest values that fit the data are given, or the one value if these
agree.
"""

GRAPH = "name the graph after the network: lacunet recover NETWORK GRAPH"


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    graph = "a missingness graph: a file, or its text; none where the network knows its own"
    add_network_or_edges(command, "NETWORK [GRAPH]", graph)
    queries = "a query instead of all CPTs; may be repeated"
    add(command, "--query X,Y|Z", queries, action="append", default=[])
    data = f"estimate what is recoverable: {DATA_HELP.removeprefix('data files: ')}"
    add(command, "--data DATA", data, nargs="+", action="extend")
    implied = "list what the graph implies about the data; with --data, test it"
    add(command, "--implications", implied, action="store_true")
    assumed = (
        "with --query and --data: what each assumption of the graph means for the answer, and "
        "whether the data refute it"
    )
    add(command, "--assumptions", assumed, action="store_true")
    effort = "search effort: 2 searches twice as long as the default"
    add(command, "--effort E", effort, type=float, default=1.0)
    add_shared(command, "--intervals --level --memory --population --json --report")


def run(options: Namespace) -> None:
    """Print the category, the verdicts and, with data, the estimates or the tests."""
    from lacunet.show.verdicts.verdict_on_data import GraphReport, implied_by, report_on_data
    from lacunet.show.verdicts.verdict_page import page
    from lacunet.show.verdicts.verdict_text import recovered_as_data, recovered_as_text

    graph = _graph(options)
    table = None
    if has_data(options):
        table = read_rows_with_notes(options, graph.network)
        note(*graph.check_data(table))
        if options.query and not options.assumptions:
            note("the graph is taken as true; --assumptions holds it against the rows")
    elif options.intervals:
        raise LacunetError("intervals come from data, and none are given.", "give --data ROWS.")
    if options.assumptions and (table is None or not options.query):
        options.usage_error("--assumptions needs --query and --data")
    report = GraphReport(graph, implied=implied_by(graph, table) if options.implications else None)
    if options.query or not options.implications:
        report = replace(report, answers=_answered(graph, table, options))
    if graph.mixed.mechanisms and not (options.query or options.implications):
        law = report_on_data(graph.recover_full_law(), assumed=getattr(options, "assumed", ()))
        report = replace(report, full_law=law)

    text = json.dumps(recovered_as_data(report)) if options.json else recovered_as_text(report)
    deliver(options, text, page=lambda source: page(report, source))


def _graph(options: Namespace) -> MissingnessGraph:
    """The graph that is named, or the one that the network was learned with."""
    network = typed_network(options)
    text = options.graph
    known = network.mechanisms
    if text is None and known is not None and known.graph:
        return graph_asked(options, known.graph, network).hiding(known.latent)
    if not text:
        options.usage_error("name a graph after the network: this network was learned without one")
    return graph_asked(options, text, network)


def _answered(
    graph: MissingnessGraph, table: EncodedTable | None, options: Namespace
) -> list[Reported]:
    """The verdicts on the queries typed, or on every family, with what the data say."""
    from lacunet.missingness.population import known_variables
    from lacunet.show.verdicts.verdict_on_data import report_on_data, with_assumptions

    level = level_asked(options)
    assumed = getattr(options, "assumed", ())
    population = options.population
    if not options.query:
        if population:
            options.usage_error("--population is for queries: give --query too")
        verdicts = graph.recover_families(options.effort).values()
        return [
            report_on_data(verdict, table, level=level, assumed=assumed) for verdict in verdicts
        ]
    answers = []
    known = known_variables(graph.network, population)
    for text in options.query:
        typed = [names_and_states(part, graph.network) for part in split_query(text)]
        verdict = graph.recover(
            *(names for names, _ in typed), population=known, effort=options.effort
        )
        answer = report_on_data(
            verdict,
            table,
            with_set=True,
            states={name: state for _, state_of in typed for name, state in state_of.items()},
            level=level,
            assumed=assumed,
            population=population,
        )
        if options.assumptions and table is not None:
            answer = with_assumptions(answer, table, population)
        answers.append(answer)
    return answers
