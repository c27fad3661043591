"""``lacunet convert``: a network from one format into another, with all that can be carried."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from lacunet.cli.options import NETWORK_HELP, add, add_output, note

HELP = "convert a network file into another format"
EXAMPLE = """example:
  lacunet convert alarm.bif alarm.xdsl
  lacunet convert munin1.bif.gz munin1.json.gz
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    add(command, "source IN", NETWORK_HELP)
    add_output(command, "target OUT", "the file to write; its name says the format")


def run(options: Namespace) -> int:
    """Read the one, write the other."""
    from lacunet.estimate.result import Result, read_learned
    from lacunet.formats.errors import FormatError
    from lacunet.formats.files import read_network, write_network

    try:
        found = read_learned(options.source)
    except FormatError as error:
        found = read_network(options.source)
        note(f"the network alone is kept: {error.message}")
    if isinstance(found, Result):
        found.write(options.target)
        found = found.network
    else:
        write_network(found, options.target)
    note(f"{len(found.variables)} variables written to {options.target}")
    return 0
