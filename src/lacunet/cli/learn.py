"""``lacunet learn``: a network file and data in, a network with learned CPTs out."""

from __future__ import annotations

import json
import os
import tempfile
from argparse import ArgumentParser, Namespace

from lacunet.cli.errors import OutputError
from lacunet.cli.options import (
    DATA_HELP,
    NETWORK_HELP,
    add_data_arguments,
    add_method_arguments,
    data_of,
    data_options,
    gigabytes,
    method_options,
    note,
)
from lacunet.cli.progress import progress_bar
from lacunet.errors import LacunetError

HELP = "learn the CPTs of a network from data with missing values"
EXAMPLE = """example:
  lacunet learn alarm.bif patients.csv -o learned.bif
  lacunet learn alarm.bif patients.parquet --method informed-direct --separator HR,BP --json

what is printed for each CPT:
  rows shown   rows in which the variable and all its parents are observed
  effective    the number of complete rows that would give the same variance, where known
  fell back    share of the rows' weight whose group had no data of its own
  unsupported  parent configurations that no row shows together with the variable
"""


REASONS = {
    "time limit": "the time limit",
    "interrupted": "an interruption",
    "iteration limit": "the limit of iterations",
}


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    command.add_argument("network", metavar="NETWORK", help=NETWORK_HELP)
    command.add_argument("data", metavar="DATA", nargs="+", help=DATA_HELP)
    command.add_argument("-o", "--output", metavar="OUT", help="where to write the learned network")
    command.add_argument("--json", action="store_true", help="print the result as JSON")
    command.add_argument(
        "--prior",
        type=float,
        default=2.0,
        metavar="ALPHA",
        help="concentration of the Dirichlet prior: 2 adds one pseudo-count per cell, 1 none "
        "(default: 2)",
    )
    command.add_argument(
        "--memory",
        type=gigabytes,
        metavar="GIB",
        help="memory budget in GiB (default: half of the memory there is)",
    )
    add_method_arguments(command)
    add_data_arguments(command)


def run(options: Namespace) -> int:
    """Learn, write the network, print what it rests on."""
    import numpy as np

    from lacunet.estimate.learn import Interrupted, learn
    from lacunet.formats.files import check_target, read_network, write_network
    from lacunet.report.learned import result_as_data, result_as_text

    network = read_network(options.network)
    if options.output:
        check_target(network, options.output)
        if os.path.exists(options.output) and os.path.samefile(options.output, options.network):
            raise OutputError(
                f"{options.output} is the network that is read.", "write to another file."
            )
    code = 0
    with progress_bar() as progress:
        try:
            result = learn(
                network,
                data_of(options),
                options.method,
                options.prior,
                **data_options(options),
                rng=np.random.default_rng(options.seed),
                memory=options.memory,
                progress=progress,
                **method_options(options),
            )
        except Interrupted as interrupted:
            result, code = interrupted.result, 130
    for text in result.notes:
        note(text)
    if result.ended and result.ended.reason in ("time limit", "interrupted", "iteration limit"):
        note(f"ended by {REASONS[result.ended.reason]}: the result is the best so far")
    print(json.dumps(result_as_data(result)) if options.json else result_as_text(result))
    if options.output:
        try:
            write_network(result.network, options.output)
        except LacunetError as error:  # what was learned must not be lost
            saved = os.path.join(tempfile.mkdtemp(prefix="lacunet-"), "learned.json")
            write_network(result.network, saved)
            raise OutputError(error.message, f"the learned network is in {saved}.") from None
        note(f"the learned network is in {options.output}")
    elif not options.json:
        note("nothing was written; -o FILE keeps the learned network")
    return code
