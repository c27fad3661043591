"""``lacunet explain``: what a method will do, before anything is counted."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from contextlib import ExitStack

from lacunet.cli.options import (
    add,
    add_data_arguments,
    add_json,
    add_memory,
    add_method_arguments,
    add_network_and_data,
    data_of,
    has_data,
    method_of,
    note,
    noted_table,
)
from lacunet.cli.queries import parts_of, states_in
from lacunet.cli.terminal import progress_bar
from lacunet.estimate.method import Method, MethodError
from lacunet.model.network import Network

HELP = "say how each CPT would be estimated, from which rows, and what it will cost"
EXAMPLE = """example:
  lacunet explain alarm.bif patients.csv --method direct-mar
  lacunet explain net.bif rows.csv --method factored-mcar --query "X=1,W=1" --rows
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_network_and_data(command, nargs="*")
    add(command, "--query X=1,W=1", "explain this query instead of the families")
    rows = "list the rows that enter each factor of the query"
    add(command, "--rows", rows, action="store_true")
    add_json(command, "print the plan as JSON")
    add_memory(command)
    add_method_arguments(command)
    add_data_arguments(command)


def run(options: Namespace) -> int:
    """Print the plan."""
    from lacunet.formats.files import read_network

    network = read_network(options.network)
    method = method_of(options, network)
    if options.rows and options.query is None:
        raise MethodError("--rows lists the rows of a query.", 'give one, as in --query "X=1,W=1".')
    if options.query is not None and not has_data(options):
        raise MethodError("explaining a query needs data, and none are given.", "name a data file.")
    if options.query is not None:
        return _explain_query(options, network, method)
    return _explain_families(options, network, method)


def _explain_families(options: Namespace, network: Network, method: Method) -> int:
    from lacunet.estimate.explain import explain
    from lacunet.memory import memory_budget
    from lacunet.report.explained import explanation_as_data, explanation_as_text
    from lacunet.statistics.observations import observations

    with ExitStack() as stack:
        source = None
        if has_data(options):
            source = stack.enter_context(
                observations(
                    data_of(options),
                    network,
                    memory_budget(options.memory),
                    progress=stack.enter_context(progress_bar()),
                )
            )
        plan = explain(network, method, source, options.memory)
    for text in plan.notes:
        note(text)
    print(json.dumps(explanation_as_data(plan)) if options.json else explanation_as_text(plan))
    return 0


def _explain_query(options: Namespace, network: Network, method: Method) -> int:
    from lacunet.estimate.explain import explain_rows
    from lacunet.report.explained import rows_as_data, rows_as_text

    query = states_in(parts_of(options.query), network)
    if not query:
        raise MethodError("the query names no state.", 'give some, as in --query "X=1,W=1".')
    table = noted_table(options, network)
    estimand, orders = explain_rows(network, method, table, query)
    as_data, as_text = rows_as_data(estimand, orders), rows_as_text(estimand, orders, options.rows)
    print(json.dumps(as_data) if options.json else as_text)
    return 0
