"""``lacunet networks``: the bundled networks, and how to get one as a file.

The catalogue of bundled networks as a table.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import asdict

from lacunet.cli.errors import OutputError
from lacunet.cli.options import note
from lacunet.formats.catalogue import Entry
from lacunet.wording import text_table

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
    from lacunet.formats.catalogue import catalogue, example
    from lacunet.formats.files import write_network

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


def catalogue_as_text(entries: Sequence[Entry]) -> str:
    """One line for each network; the source is left without alignment, it comes last."""
    header = ["network", "variables", "edges", "parameters", "largest in-degree"]
    rows = [
        [
            entry.name,
            f"{entry.variables:,}",
            f"{entry.edges:,}",
            f"{entry.parameters:,}",
            f"{entry.largest_in_degree}",
        ]
        for entry in entries
    ]
    sizes = text_table(header, rows).splitlines()
    sources = ["source", *(entry.source for entry in entries)]
    width = max(map(len, sizes))
    return "\n".join(
        f"{size.ljust(width)}  {source}" for size, source in zip(sizes, sources, strict=True)
    )
