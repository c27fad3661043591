"""``lacunet sensitivity``: how far an answer moves if values are not missing at random."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace

from lacunet.cli.options import (
    NETWORK_HELP,
    add_data,
    add_data_arguments,
    names,
    note,
    table_of,
)
from lacunet.cli.progress import progress_bar
from lacunet.cli.query import states_of
from lacunet.cli.recover import split_query
from lacunet.errors import LacunetError

HELP = "show how far an answer moves if values are not missing at random"
EXAMPLE = """example:
  lacunet sensitivity net.bif rows.csv --query "Ill=yes|Age=old" --mechanism Ill
  lacunet sensitivity net.bif rows.csv --query "Ill=yes" --mechanism Ill --threshold 0.3

Hidden values are like shown ones in the same group if values are missing at random (delta 0).
A tilt of delta multiplies the odds of the state among hidden values by e^delta.
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    command.add_argument("network", metavar="NETWORK", help=NETWORK_HELP)
    add_data(command)
    command.add_argument(
        "--query", metavar="X=x|Y=y", required=True, help="one state, and what is given"
    )
    command.add_argument(
        "--mechanism",
        metavar="X",
        required=True,
        help="the variable whose hidden values may differ from the shown ones",
    )
    command.add_argument("--state", metavar="S", help="the state whose odds differ")
    command.add_argument(
        "--threshold", type=float, metavar="P", help="the answer that would change a conclusion"
    )
    command.add_argument(
        "--separator",
        metavar="A,B",
        type=names,
        help="compare within groups by these variables (default: learned from the data)",
    )
    command.add_argument("--json", action="store_true", help="print everything as JSON")
    add_data_arguments(command)


def run(options: Namespace) -> int:
    """Print the answer over the tilts."""
    from lacunet.formats.files import read_network
    from lacunet.uncertainty.sensitivity import as_data, sensitivity

    network = read_network(options.network)
    left, right = split_query(options.query)
    asked, evidence = states_of(left), states_of(right)
    if len(asked) != 1:
        raise LacunetError(
            f"the query {options.query!r} asks for {len(asked)} states.",
            'ask for one, as in --query "Ill=yes|Age=old".',
        )
    with progress_bar() as progress:
        table = table_of(options, network, progress)
    for text in table.notes:
        note(text)
    ((target, state),) = asked.items()
    found = sensitivity(
        network,
        table,
        target,
        state,
        evidence,
        options.mechanism,
        tilted_state=options.state,
        threshold=options.threshold,
        given=options.separator,
    )
    print(json.dumps(as_data(found)) if options.json else found)
    return 0
