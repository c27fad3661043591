"""``lacunet count``: what a method needs of the data, in a file that adds up."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from typing import TYPE_CHECKING

from lacunet.cli.asked import data_of, network_of, taken
from lacunet.cli.options import add, add_network_or_edges, add_output, add_shared
from lacunet.cli.terminal import note, progress_bar
from lacunet.wording import counted

if TYPE_CHECKING:
    from lacunet.statistics.saved.header import Header

HELP = "count what a method needs from the data, to merge and learn from later"
EXAMPLE = """examples:
  lacunet count alarm.bif monday.parquet --method factored-mar -o monday.stats
  lacunet merge monday.stats tuesday.stats -o all.stats
  lacunet learn alarm.bif all.stats -o learned.bif
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_network_or_edges(command)
    add_output(command, "-o --output OUT", "where to write the statistics, .stats", required=True)
    method = (
        "the method to count for: listwise and direct-mcar need the counts of "
        "families, all others the distinct rows"
    )
    add(command, "--method M", method, default="auto")
    part = "what to call this part of the data (default: the names of the files)"
    add(command, "--part NAME", part)
    add_shared(command, "--json --memory --scratch")


def run(options: Namespace) -> None:
    """Count, and say what the file holds."""
    from lacunet.estimate.count import count_into

    header, notes = count_into(
        options.output,
        network_of(options),
        data_of(options),
        options.method,
        progress=progress_bar(),
        **taken(options, "part memory scratch"),
    )
    report_written(header, notes, options)


def report_written(header: Header, notes: Iterable[str], options: Namespace) -> None:
    """Say what was written, and whether single rows can be told from it."""
    import json

    from lacunet.statistics.saved.header import ROWS

    note(*notes)
    if options.json:
        print(json.dumps(header.as_data()))
    note(f"the statistics of {counted(header.rows, 'row')} are in {options.output}")
    if header.kind == ROWS:
        note(
            "the file holds the distinct rows and how often each occurs: keep it as private as the "
            "data; for --method direct-mcar or listwise it would hold only counts of each variable "
            "with its parents"
        )
    else:
        note("a count of one reveals values of a single row: keep the file as private as the data")
