"""``lacunet merge``: statistics of several parts added up."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from lacunet.cli.count import told
from lacunet.cli.options import add, add_memory, add_output

HELP = "add up the statistics that lacunet count wrote"
EXAMPLE = """example:
  lacunet merge monday.stats tuesday.stats -o all.stats
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    add(command, "parts PART.stats", "statistics, or a pattern", nargs="+")
    add_output(command, "-o --output OUT", "where to write the sum, .stats", required=True)
    add_memory(command)


def run(options: Namespace) -> int:
    """Add up, and say what the file holds."""
    from lacunet.estimate.count import merge_into

    header = merge_into(options.output, options.parts, options.memory)
    told(options.output, header.kind, header.rows)
    return 0
