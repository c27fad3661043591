"""``lacunet explain``: what a method will do, before anything is counted."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from lacunet.cli.inputs import data_of, method_options, options_for, shapes_asked
from lacunet.cli.options import (
    add,
    add_method_arguments,
    add_network_or_edges,
    add_shared,
)
from lacunet.cli.terminal import note, progress_bar
from lacunet.cli.typed_files import has_data
from lacunet.cli.typed_networks import typed_network
from lacunet.data.query_text import split_query, states_in
from lacunet.errors import LacunetError

if TYPE_CHECKING:
    from lacunet.network.network import Network

HELP = "say how each CPT would be estimated, from which rows"
EXAMPLE = """examples:
  lacunet explain alarm.bif patients.csv --method direct-mar
  lacunet explain net.bif rows.csv --method listwise --query "Age=old,Ill=yes"
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_network_or_edges(command, "NETWORK [DATA]")
    add(command, "--query X=x,Y=y", "explain the probability of these states instead of the CPTs")
    rows = "list the rows that enter each factor of the query"
    add(command, "--list-rows", rows, action="store_true")
    add_shared(command, "--json --pseudo-counts --experts --memory --threads")
    add_method_arguments(command)


def run(options: Namespace) -> None:
    """Print the plan."""
    from lacunet.learning.explain import explain

    network = typed_network(options)
    if options.list_rows and options.query is None:
        problem = "--list-rows lists the rows of a query."
        raise LacunetError(problem, 'give one, as in --query "X=x,Y=y".')
    if options.query is not None:
        _explain_query(options, network)
        return
    explanation = explain(
        network,
        data_of(options) if has_data(options) else None,
        progress=progress_bar(),
        **options_for(options, "method pseudo_counts experts memory threads"),
        **shapes_asked(options),
        **method_options(options),
    )
    note(*explanation.notes)
    print(json.dumps(explanation.as_data()) if options.json else explanation)


def _explain_query(options: Namespace, network: Network) -> None:
    """Print by which formula, and from which rows, a query is estimated."""
    from lacunet.counts.observations import Held
    from lacunet.data.read import read_table
    from lacunet.learning.explain import explain_rows
    from lacunet.learning.methods import method_of
    from lacunet.show.formula_text import rows_as_data, rows_as_text

    if not has_data(options):
        raise LacunetError("a query is explained from data: none are given.", "name a file.")
    method = method_of(network, options.method, method_options(options))
    typed = split_query(options.query)
    if typed.given or typed.do:
        raise LacunetError(
            f"the query {options.query!r}: rows are explained for states together, without a bar.",
            'P(X=x | Y=y) is P(X=x, Y=y) / P(Y=y): give --query "X=x,Y=y", then --query "Y=y".',
        )
    query = states_in(typed.target, network)
    if not query:
        raise LacunetError("the query names no state.", 'give some, as in --query "X=x,Y=y".')
    table = read_table(data_of(options), network, progress_bar())
    note(*table.notes)
    rows = Held(table, tuple(options.fully_observed))
    estimand, orders = explain_rows(network, method, rows, query)
    if options.json:
        print(json.dumps(rows_as_data(estimand, orders)))
    else:
        print(rows_as_text(estimand, orders, options.list_rows))
