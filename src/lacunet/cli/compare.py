"""``lacunet compare``: which method is best on data like the user's own."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace

from lacunet.cli.errors import refuse_overwriting
from lacunet.cli.experiment import PROCESSES_HELP, SEED_HELP, limit, positive
from lacunet.cli.options import (
    DATA_HELP,
    NETWORK_HELP,
    add_data_arguments,
    names,
    note,
    seed,
    table_of,
)
from lacunet.cli.page import add_report_argument, keep_page, page_source
from lacunet.cli.progress import progress_bar

HELP = "find the best method for a network and data, on simulated data of the same kind"
EXAMPLE = """example:
  lacunet compare alarm.bif patients.csv
  lacunet compare alarm.bif patients.csv --methods factored-mar,em --repetitions 20 --json

The network is learned from the data and taken as the truth; rows are drawn from it, and
values are hidden by mechanisms fitted to the pattern of the data: each may depend on fully
observed variables and on other mechanisms (missing at random). What the data cannot show,
that values are missing because of what they are, is not simulated.
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    command.add_argument("network", metavar="NETWORK", help=NETWORK_HELP)
    command.add_argument("data", metavar="DATA", nargs="+", help=DATA_HELP)
    command.add_argument("--methods", type=names, metavar="A,B", help="methods to compare")
    command.add_argument(
        "--separator",
        type=names,
        metavar="A,B",
        help="variables for the informed methods, which are then compared too",
    )
    command.add_argument(
        "--truth",
        default="factored-mar",
        metavar="M",
        help="the method that learns the network to simulate from (default: factored-mar)",
    )
    command.add_argument(
        "--prior", type=float, default=2.0, help="concentration of the Dirichlet prior (default: 2)"
    )
    command.add_argument(
        "--rows", type=positive, metavar="N", help="rows to simulate (default: as in the data)"
    )
    command.add_argument(
        "--repetitions",
        type=positive,
        default=5,
        metavar="N",
        help="how often to simulate (default: 5)",
    )
    command.add_argument(
        "--limit",
        type=limit,
        default=60.0,
        metavar="SECONDS",
        help="time limit for each method, or 'none' (default: 60)",
    )
    command.add_argument("--seed", type=seed, default=0, metavar="N", help=SEED_HELP)
    command.add_argument("--processes", type=positive, default=1, metavar="N", help=PROCESSES_HELP)
    command.add_argument("--json", action="store_true", help="print the result as JSON")
    add_report_argument(command)
    add_data_arguments(command)


def run(options: Namespace) -> int:
    """Learn, simulate, learn by every method, and rank the methods."""
    from lacunet.experiments.paper.sources import source_of
    from lacunet.experiments.referee import case_of, compare, learners_for
    from lacunet.experiments.runner.learners import learners_named
    from lacunet.report.compared import comparison_as_data, comparison_as_text, comparison_page

    refuse_overwriting([options.report], [options.network, *options.data])
    network = source_of(options.network).read()
    separator = tuple(options.separator) if options.separator else None
    with progress_bar() as progress:
        table = table_of(options, network, progress)
        for text in table.notes:
            note(text)
        case = case_of(network, table, options.truth, options.prior, options.rows, separator)
        found = compare(
            case,
            learners_named(options.methods) if options.methods else learners_for(case),
            options.repetitions,
            options.limit,
            options.seed,
            options.processes,
            progress,
        )
    print(json.dumps(comparison_as_data(found)) if options.json else comparison_as_text(found))
    if options.report:
        keep_page(options, comparison_page(found, page_source(options, ("network", "data"))))
    return 0
