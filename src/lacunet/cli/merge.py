"""``lacunet merge``: statistics of several parts added up."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from lacunet.cli.count import report_written
from lacunet.cli.options import add, add_output, add_shared

HELP = "combine statistics written by lacunet count"
EXAMPLE = """examples:
  lacunet merge monday.stats tuesday.stats -o all.stats
  lacunet merge all.stats monday.stats --replace -o corrected.stats
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    add(command, "parts PART.stats", "statistics, or a pattern", nargs="+")
    add_output(command, "-o --output OUT", "where to write the sum, .stats", required=True)
    replace = "a part that an earlier file holds too is taken from the later one"
    add(command, "--replace", replace, action="store_true")
    add_up = "add the parts up: a smaller file, in which none can be replaced any more"
    add(command, "--sum", add_up, action="store_true")
    add_shared(command, "--json --memory")


def run(options: Namespace) -> None:
    """Add up, and say what the file holds."""
    from lacunet.estimate.count import merge_into

    header, notes = merge_into(
        options.output,
        options.parts,
        options.memory,
        replacing=options.replace,
        summing=options.sum,
    )
    report_written(header, notes, options)
