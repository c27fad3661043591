"""``lacunet predict``: the posterior of some variables for every row of a file."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from lacunet.cli.inputs import data_of, options_for
from lacunet.cli.known_networks import unrolled
from lacunet.cli.options import add, add_names, add_output, add_result_and_data, add_shared
from lacunet.cli.terminal import note
from lacunet.cli.values import parse_names

HELP = "predict variables for every row, even with missing values"
EXAMPLE = """examples:
  lacunet predict result.json rows.csv --targets Disease
  lacunet predict result.json rows.csv --targets Disease,Stage -o out.parquet
  lacunet predict result.json rows.csv --targets Disease --keep Id -o out.csv

what is written for each row and target X:
  X=state          the probability of each state, given what the row shows
  X                the most probable state
  unsupported(X)   with --unsupported-share: the share that rests on CPT rows
                   without data
  log-probability  natural logarithm of the probability of all the row shows
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_result_and_data(command)
    add(command, "--targets A,B", "the variables to predict", type=parse_names, required=True)
    given = "use targets that a row shows as evidence: they are then certain, and inform the others"
    add(command, "--given-targets", given, action="store_true")
    kept = "columns of the data to write before the predictions, such as an identifier"
    add_names(command, "--keep A,B", kept)
    share = "add the share of each prediction that rests on CPT rows without data"
    add(command, "--unsupported-share", share, action="store_true")
    add_output(command, "-o --output OUT", "the data file to write")
    add(command, "--json", "print one JSON object per row", action="store_true")
    add_shared(command, "--unroll --memory")


def run(options: Namespace) -> None:
    """Predict, write the rows."""
    from lacunet.ask.predict.predict import GIVEN, predicted_pieces
    from lacunet.data.write import check_table_name
    from lacunet.learning.result import read_learned

    outputs = [options.output] if options.output else []
    for output in outputs:
        check_table_name(output)
    pieces = predicted_pieces(
        unrolled(read_learned(options.network), options),
        data_of(options),
        options.targets,
        give=[kind for kind in GIVEN if kind != "unsupported" or options.unsupported_share],
        **options_for(options, "given_targets keep memory"),
    )
    deliver_rows(((0, rows) for rows in pieces), outputs, as_json=options.json)


def deliver_rows(
    pieces: Iterable[tuple[int, Any]],
    outputs: Sequence[str],
    *,
    as_json: bool,
    delimiter: str | None = None,
) -> None:
    """Write Arrow tables, each with the number of its file, to files; print them if there are none.

    All files are whole, or none is there. What is printed waits on the disk until all rows are
    done, and the files are there.

    Parameters
    ----------
    delimiter
        What takes the place of the comma in CSV.
    """
    import shutil
    import sys
    from contextlib import ExitStack
    from tempfile import TemporaryFile

    from lacunet.data.write import Write, opened_file, table_writer
    from lacunet.text import counted

    writes: dict[int, Write] = {}  # of each file; of stdout, where nothing else is written
    rows_written = 0  # to each file
    with TemporaryFile() as waiting:
        with ExitStack() as opened:
            for index, rows in pieces:
                if as_json:
                    waiting.writelines(line.encode() for line in _json_lines(rows))
                if index not in writes and outputs:
                    writes[index] = opened.enter_context(
                        opened_file(outputs[index], rows.schema, delimiter)
                    )
                elif not (writes or as_json):
                    writes[0] = opened.enter_context(
                        table_writer(".csv", delimiter)(waiting, rows.schema)
                    )
                if index in writes:
                    writes[index](rows)
                if index == 0:
                    rows_written += rows.num_rows
        note(*(f"{counted(rows_written, 'row')} written to {output}" for output in outputs))
        waiting.seek(0)
        if as_json:
            sys.stdout.writelines(line.decode() for line in waiting)
        elif not outputs:
            sys.stdout.flush()
            shutil.copyfileobj(waiting, sys.stdout.buffer)


def _json_lines(table: Any) -> Iterator[str]:
    """Each row of an Arrow table as a line of JSON.

    Dates, times, durations, decimals and bytes are strings, spelled as states are; lists and
    records stay what they are.
    """
    import json

    from pyarrow import types

    from lacunet.data.write import spelled_out
    from lacunet.network.spelling import spelled
    from lacunet.text import finite

    # Python has no date after the year 9999: as texts they need not become any.
    for row in spelled_out(table, types.is_temporal).to_pylist():
        yield json.dumps(finite(row), default=spelled) + "\n"
