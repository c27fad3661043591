"""``lacunet count``: the distinct rows of data, as a table that is data again."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from lacunet.cli.inputs import data_of, options_for
from lacunet.cli.options import add_network_or_edges, add_output, add_shared
from lacunet.cli.terminal import note, progress_bar
from lacunet.cli.typed_networks import typed_network
from lacunet.text import counted

HELP = "count the distinct rows of data, to learn from several parts"
EXAMPLE = """examples:
  lacunet count alarm.bif here.csv -o here.parquet
  lacunet learn alarm.bif here.parquet there.parquet -o result.json
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_network_or_edges(command)
    out = "where to write the table: .parquet, .csv, ..."
    add_output(command, "-o --output OUT", out, required=True)
    add_shared(command, "--memory")


def run(options: Namespace) -> None:
    """Count, and say what the file holds."""
    from lacunet.learning.count_rows import count_into

    rows, notes = count_into(
        options.output,
        typed_network(options),
        data_of(options),
        progress=progress_bar(),
        **options_for(options, "memory"),
    )
    note(*notes)
    note(f"the counts of {counted(rows, 'row')} are in {options.output}")
    note("the file holds the distinct rows: keep it as private as the data")
