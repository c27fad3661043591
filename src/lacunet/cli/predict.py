"""``lacunet predict``: the posterior of some variables for every row of a file."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from lacunet.cli.errors import refuse_overwriting
from lacunet.cli.options import (
    NETWORK_HELP,
    add_data,
    add_data_arguments,
    data_of,
    gigabytes,
    names,
    note,
)

HELP = "predict variables for every row, even with missing values"
EXAMPLE = """example:
  lacunet predict learned.bif patients.csv --targets Disease
  lacunet predict learned.bif patients.csv --targets Disease,Stage -o predicted.parquet

what is written for each row and target X:
  X=state          the probability of each state, given what the row shows
  X                the most probable state
  log-probability  natural logarithm of the probability of what the row shows
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    command.add_argument("network", metavar="NETWORK", help=NETWORK_HELP)
    add_data(command)
    command.add_argument(
        "--targets", metavar="A,B", type=names, required=True, help="the variables to predict"
    )
    command.add_argument(
        "--hide-targets",
        action="store_true",
        help="predict the targets from the other columns even in rows that show them",
    )
    command.add_argument("--json", action="store_true", help="print one JSON object per row")
    add_output_arguments(command)


def add_output_arguments(command: ArgumentParser) -> None:
    """Say where the rows go and how those of the data are read."""
    command.add_argument("-o", "--output", metavar="OUT", help="the data file to write")
    command.add_argument("--memory", type=gigabytes, metavar="GIB", help="memory budget in GiB")
    add_data_arguments(command)


def run(options: Namespace) -> int:
    """Predict, write the rows."""
    from lacunet.completion.frames import ANSWERS, predict
    from lacunet.formats.files import read_network

    refuse_overwriting([options.output], [options.network, *options.data])
    found = predict(
        read_network(options.network),
        data_of(options),
        options.targets,
        give=ANSWERS,
        hide_targets=options.hide_targets,
        missing=options.missing,
        unknown=options.unknown,
        latent=options.latent,
        memory=options.memory,
    )
    write_rows(found, options.output, as_json=options.json)
    return 0


def write_rows(rows: object, output: str | None, *, as_json: bool) -> None:
    """An Arrow table to a file, or to stdout as CSV or JSON."""
    import json
    import sys
    from typing import Any

    from lacunet.data.write import WRITERS, write_arrow
    from lacunet.wording import counted, finite

    table: Any = rows
    if output:
        write_arrow(table, output)
        note(f"{counted(table.num_rows, 'row')} written to {output}")
    if as_json:
        for row in table.to_pylist():
            print(json.dumps(finite(row)))
    elif not output:
        sys.stdout.flush()
        WRITERS[".csv"](table, sys.stdout.buffer)
