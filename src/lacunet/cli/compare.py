"""``lacunet compare``: which method is best on data like the user's own."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace

from lacunet.cli.asked import data_of, network_of, taken
from lacunet.cli.options import add, add_network_or_edges, add_shared
from lacunet.cli.output import deliver
from lacunet.cli.terminal import note, progress_bar
from lacunet.cli.values import limit, names, positive

HELP = "find the best method for a network and data, on simulated data of the same kind"
EXAMPLE = """examples:
  lacunet compare alarm.bif patients.csv
  lacunet compare alarm.bif patients.csv --methods factored-mar,em --repetitions 20 --json

The network is learned from the data and taken as the truth; rows are drawn from it, and
values are hidden by mechanisms fitted to the pattern of the data: each may depend on fully
observed variables and on other mechanisms (missing at random). What the data cannot show,
that values are missing because of what they are, is not simulated.
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_network_or_edges(command)
    methods = (
        "methods to compare (default: listwise, direct-mcar, factored-mcar, direct-mar, "
        "factored-mar, one-step, em, auto)"
    )
    add(command, "--methods A,B", methods, type=names)
    separator = "variables for informed-direct and informed-factored, which are then compared too"
    add(command, "--separator A,B", separator, type=names)
    truth = "the method that learns the network to simulate from"
    add(command, "--truth M", truth, default="factored-mar")
    add(command, "--rows N", "rows to simulate (default: as in the data)", type=positive)
    add(command, "--repetitions N", "how often to simulate", type=positive, default=5)
    seconds = "time limit for each method in seconds, as in 5, or 'none'"
    add(command, "--time-limit SECONDS", seconds, type=limit, default=60.0)
    jobs = "number of processes that run at the same time"
    add(command, "--jobs N", jobs, type=positive, default=1)
    add_shared(command, "--prior --seed --memory --json --report")


def run(options: Namespace) -> None:
    """Learn, simulate, learn by every method, and rank the methods."""
    from lacunet.comparison.compare import case_of, compare
    from lacunet.data.reading import with_data_codes
    from lacunet.pages.disclosure import Disclosure
    from lacunet.report.compared import comparison_as_data, comparison_as_text, comparison_page
    from lacunet.statistics.observations import whole_table

    separator = tuple(options.separator) if options.separator else None
    network, data = network_of(options).with_tables(None), data_of(options)
    table = whole_table(data, network, progress_bar())
    note(*table.notes)
    coded = with_data_codes(network, data)
    case = case_of(coded, table, separator=separator, **taken(options, "truth prior rows memory"))
    ranking = compare(
        case,
        limit=options.time_limit,
        processes=options.jobs,
        progress=progress_bar(),
        **taken(options, "methods repetitions seed memory"),
    )
    text = json.dumps(comparison_as_data(ranking)) if options.json else comparison_as_text(ranking)
    limited = Disclosure(options.min_count).without_hashes
    deliver(options, text, page=lambda source: comparison_page(ranking, limited(source)))
