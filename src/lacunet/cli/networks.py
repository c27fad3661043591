"""``lacunet networks``: the bundled networks, and how to get one as a file.

The catalogue of bundled networks as a table.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import asdict, astuple
from typing import TYPE_CHECKING

from lacunet.cli.options import add, add_output, add_shared
from lacunet.cli.terminal import note
from lacunet.errors import LacunetError
from lacunet.wording import text_table

if TYPE_CHECKING:
    from lacunet.formats.catalogue import Entry

HELP = "list the bundled benchmark networks, or write one to a file"
EXAMPLE = """examples:
  lacunet networks
  lacunet networks alarm -o alarm.bif
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    add(command, "name NAME", "one network only", nargs="?")
    add_output(command, "-o --output OUT", "where to write this network")
    add_shared(command, "--json")


def run(options: Namespace) -> None:
    """Print the catalogue, and write a network if asked."""
    from lacunet.formats.catalogue import catalogue, example
    from lacunet.formats.files import write_network

    if options.output and not options.name:
        problem = f"give a network to write to {options.output}."
        raise LacunetError(problem, "name it, as in: lacunet networks alarm -o alarm.bif")
    entries = catalogue()
    if options.name:
        network = example(options.name)
        entries = tuple(entry for entry in entries if entry.name == options.name)
        if options.output:
            write_network(network, options.output)
            note(f"{options.name} is in {options.output}")
    data = [asdict(entry) for entry in entries]
    print(json.dumps(data) if options.json else catalogue_as_text(entries))


def catalogue_as_text(entries: Sequence[Entry]) -> str:
    """One line for each network; the source is left without alignment, it comes last."""
    header = ["network", "variables", "edges", "parameters", "largest in-degree"]
    rows, sources = [], ["source"]
    for name, *sizes, source in map(astuple, entries):
        rows.append([name, *(f"{size:,}" for size in sizes)])
        sources.append(source)
    lines = text_table(header, rows).splitlines()
    width = max(map(len, lines))
    return "\n".join(
        f"{line.ljust(width)}  {source}" for line, source in zip(lines, sources, strict=True)
    )
