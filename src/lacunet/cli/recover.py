"""``lacunet recover``: what a missingness graph lets one learn, and how."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace

from lacunet.cli.options import (
    DATA_HELP,
    add,
    add_data_arguments,
    add_json,
    add_network_or_edges,
    add_query_arguments,
    has_data,
    network_of,
    note,
    noted_table,
)
from lacunet.cli.output import add_report_argument, keep_page, page_source
from lacunet.cli.queries import split_query

HELP = "decide from a missingness graph which CPTs or queries can be recovered, and how"
EXAMPLE = """example:
  lacunet recover net.bif mechanisms.txt
  lacunet recover net.bif mechanisms.txt --query "X,Y|Z" --data rows.csv
  lacunet recover net.bif mechanisms.txt --implications --data rows.csv

A graph is text, edges separated by newlines or ';': "Age -> R[Income]", "R[A] -> R[B]",
"X <-> R[Y]", and a bare "R[X]" for a variable that is missing completely at random.
A query is "X,Y|Z" or "P(X,Y|Z)"; "Y | do(X), Z" asks for the effect of an intervention.
"""

READ = ("network", "graph", "data")  # the files that the result rests on


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    graph = "a text file with the missingness graph"
    add_network_or_edges(command, graph, then="graph", needs_data=False)
    add(
        command,
        "--query X,Y|Z",
        "a query instead of the families; may be repeated",
        action="append",
    )
    data = f"estimate what is recoverable: {DATA_HELP.removeprefix('the data: ')}"
    files = add(command, "--data DATA", data, nargs="+")
    implied = "list what the graph implies about the data; with --data, test it"
    add(command, "--implications", implied, action="store_true")
    effort = "search effort: 2 searches twice as long as the default"
    add(command, "--effort E", effort, type=float, default=1.0)
    add_json(command, "print the verdicts as JSON")
    add_report_argument(command)
    add_query_arguments(command, files)
    add_data_arguments(command)


def run(options: Namespace) -> int:
    """Print the category, the verdicts and, with data, the estimates or the tests."""
    from lacunet.missingness.graph import graph_of
    from lacunet.missingness.implications import check_implications, implications, never_testable
    from lacunet.missingness.verdict import Estimation
    from lacunet.pages.disclosure import Disclosure, told_estimation
    from lacunet.report.recovered.page import implications_page, page
    from lacunet.report.recovered.text import (
        estimated,
        implications_as_data,
        implications_as_text,
        verdicts_as_data,
        verdicts_as_text,
    )

    graph = graph_of(options.graph, network_of(options))
    graph = graph.hiding(options.latent or ())
    table = None
    if has_data(options):
        table = noted_table(options, graph.network)
        for text in graph.check_data(table):
            note(text)
    told = Disclosure(options.min_count, 0 if table is None else table.rows)
    if options.implications:
        found = (
            implications(graph),
            None if table is None else check_implications(graph, table),
            never_testable(graph),
        )
        data = implications_as_data(*found)
        if options.report:
            shown = {**data, "tested": None} if told.is_limited else data
            source = page_source(options, READ)
            keep_page(options.report, implications_page(graph, *found, shown, source, told))
        print(json.dumps(data) if options.json else implications_as_text(*found))
        return 0
    typed = [split_query(text) for text in options.query or ()]
    queries = [graph.recover(*query, effort=options.effort) for query in typed]
    verdicts = queries or list(graph.recover_families(options.effort).values())
    reported = (graph, verdicts, [estimated(verdict, table) for verdict in verdicts])
    data = verdicts_as_data(*reported)
    if options.report:
        estimates = [
            told_estimation(one, table, told) if table and isinstance(one, Estimation) else one
            for one in reported[-1]
        ]
        shown = verdicts_as_data(graph, verdicts, estimates) if told.is_limited else data
        source = page_source(options, READ)
        keep_page(options.report, page(graph, verdicts, estimates, shown, source, told))
    print(json.dumps(data) if options.json else verdicts_as_text(*reported))
    return 0
