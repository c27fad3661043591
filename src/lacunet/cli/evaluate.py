"""``lacunet evaluate``: a learned network against the truth and against test data."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace

from lacunet.cli.options import (
    DATA_HELP,
    NETWORK_HELP,
    add_data_arguments,
    add_query_arguments,
    data_of,
    has_data,
)

HELP = "compare a learned network with the true one, and with test data"
EXAMPLE = """example:
  lacunet evaluate truth.bif learned.bif
  lacunet evaluate truth.bif learned.bif --data test.csv --json
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    command.add_argument("truth", metavar="TRUTH", help=NETWORK_HELP)
    command.add_argument("learned", metavar="LEARNED", help="the network to compare with it")
    data = command.add_argument(
        "--data",
        metavar="TEST",
        nargs="+",
        help=f"test data, complete or not: {DATA_HELP.removeprefix('the data: ')}",
    )
    command.add_argument("--json", action="store_true", help="print the numbers as JSON")
    add_query_arguments(command, data)
    add_data_arguments(command)


def run(options: Namespace) -> int:
    """Print the divergence, the errors of the CPTs and the fit to test data."""
    from lacunet.evaluate.evaluation import evaluate
    from lacunet.experiments.paper.sources import source_of
    from lacunet.report.compared import evaluation_as_data, evaluation_as_text

    found = evaluate(
        source_of(options.truth).read(),
        source_of(options.learned).read(),
        data_of(options) if has_data(options) else None,
        weight=options.weight,
        missing=options.missing,
        unknown=options.unknown,
        latent=options.latent,
    )
    print(json.dumps(evaluation_as_data(found)) if options.json else evaluation_as_text(found))
    return 0
