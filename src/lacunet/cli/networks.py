"""``lacunet networks``: the bundled networks, and how to get one as a file."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from dataclasses import asdict

from lacunet.cli.errors import OutputError
from lacunet.cli.options import note

HELP = "list the bundled benchmark networks, or write one to a file"
EXAMPLE = """example:
  lacunet networks
  lacunet networks alarm -o alarm.bif
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    command.add_argument("name", metavar="NAME", nargs="?", help="one network only")
    command.add_argument("-o", "--output", metavar="OUT", help="where to write this network")
    command.add_argument("--json", action="store_true", help="print the catalogue as JSON")


def run(options: Namespace) -> int:
    """Print the catalogue, and write a network if asked."""
    from lacunet.formats.files import write_network
    from lacunet.networks.catalogue import catalogue, example
    from lacunet.report.catalogue import catalogue_as_text

    if options.output and not options.name:
        raise OutputError.of_nothing(options.output)
    entries = catalogue()
    if options.name:
        network = example(options.name)
        entries = tuple(entry for entry in entries if entry.name == options.name)
        if options.output:
            write_network(network, options.output)
            note(f"{options.name} is in {options.output}")
    data = [asdict(entry) for entry in entries]
    print(json.dumps(data) if options.json else catalogue_as_text(entries))
    return 0
