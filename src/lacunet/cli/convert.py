"""``lacunet convert``: a network from one format into another, with all that can be carried."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from lacunet.cli.options import NETWORK_HELP, add, add_output
from lacunet.cli.terminal import note

HELP = "convert a network file into another format"
EXAMPLE = """examples:
  lacunet convert alarm.bif alarm.xdsl
  lacunet convert munin1.bif.gz munin1.json.gz
  lacunet convert survey.json survey.xdsl --rename
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    add(command, "source IN", NETWORK_HELP)
    add_output(command, "target OUT", "the file to write; its name says the format")
    rename = "replace names that the format cannot carry: 40-59 by s40_59, in .uai by X0, X1, ..."
    add(command, "--rename", rename, action="store_true")


def run(options: Namespace) -> None:
    """Read the one, write the other."""
    from lacunet.estimate.result import KEEP_ALL, Result, read_learned
    from lacunet.formats.errors import FormatError
    from lacunet.formats.files import as_network, read_network, write_network

    try:
        learned = read_learned(options.source)
    except FormatError as error:
        learned = read_network(options.source)
        note(f"the network alone is kept: {error.message}")
    if isinstance(learned, Result) and (not options.rename or options.target.endswith(KEEP_ALL)):
        learned.write(options.target)
    else:
        write_network(learned, options.target, rename=options.rename)
        if isinstance(learned, Result):
            note(f"{options.target}: the format does not carry how sure the CPTs are; .json does")
    note(f"{len(as_network(learned).variables)} variables written to {options.target}")
