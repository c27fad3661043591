"""``lacunet impute``: a data file with every missing cell filled in."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from lacunet.cli.inputs import data_of
from lacunet.cli.options import add, add_output, add_result_and_data, add_shared
from lacunet.cli.output import refuse_overwriting
from lacunet.cli.predict import deliver_rows
from lacunet.cli.values import positive
from lacunet.errors import LacunetError

HELP = "fill in missing cells by a draw, or by several for multiple imputation"
EXAMPLE = """examples:
  lacunet impute result.json patients.csv -o complete.csv
  lacunet learn net.bif patients.csv --intervals -o result.json
  lacunet impute result.json patients.csv --draws 20 --seed 1 -o draws.csv
      (writes draws-1.csv to draws-20.csv)

--most-probable gives a number that is cut into bins its interval's mean.
With --delimiter and --decimal, CSV is written as it was read.
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_result_and_data(command)
    draws = (
        "write M completed tables, for multiple imputation, instead of one; two or more need a "
        ".json of lacunet learn --intervals (often without, if DATA are the rows learned from), or "
        "--fixed-cpts"
    )
    add(command, "--draws M", draws, type=positive)
    likeliest = "give each row its most probable completion instead of a draw"
    add(command, "--most-probable", likeliest, action="store_true")
    fixed = "use the same CPTs in all draws: right if certain; if learned, draws vary too little"
    add(command, "--fixed-cpts", fixed, action="store_true")
    add_output(command, "-o --output OUT", "the data file to write")
    add(command, "--json", "print one JSON object per row", action="store_true")
    add_shared(command, "--seed --memory")


def run(options: Namespace) -> None:
    """Complete the rows some at a time, write them."""
    import numpy as np

    from lacunet.ask.impute.impute import DRAW, MOST_PROBABLE
    from lacunet.ask.impute.pieces import completed_panel, completed_pieces
    from lacunet.data.write import check_table_name
    from lacunet.learning.result import read_completing
    from lacunet.network.edge_texts import is_edges, refuse_edges

    if options.most_probable and (options.draws or options.fixed_cpts):
        other = "--draws" if options.draws else "--fixed-cpts"
        options.usage_error(f"give --most-probable or {other}, not both")
    several = bool(options.draws and options.draws > 1)
    if several and not options.fixed_cpts and is_edges(options.network):
        refuse_edges(options.network, needs_intervals=True)
    if several and (options.json or not options.output):
        ways = []
        if not options.output:
            ways.append("name a file with -o")
        if options.json:
            ways.append("leave --json out")
        raise LacunetError(
            f"{options.draws} completed tables cannot be printed.", f"{', and '.join(ways)}."
        )
    outputs = [options.output] if options.output else []
    if several:
        outputs = [_numbered(options.output, number) for number in range(1, options.draws + 1)]
        refuse_overwriting(options, outputs)
    for output in outputs:
        check_table_name(output)
    data = data_of(options)
    completed = completed_panel if data.is_panel else completed_pieces
    pieces = completed(
        read_completing(options.network),
        data,
        options.draws,
        how=MOST_PROBABLE if options.most_probable else DRAW,
        rng=np.random.default_rng(options.seed),
        proper=False if options.fixed_cpts else None,
        memory=options.memory,
    )
    deliver_rows(pieces, outputs, as_json=options.json, delimiter=data.delimiter)


def _numbered(path: str, number: int) -> str:
    """The same path with a number before its endings.

    >>> _numbered("out/rows.csv.gz", 3)
    'out/rows-3.csv.gz'
    """
    name = Path(path).name
    stem, dot, endings = name.partition(".")
    return str(Path(path).with_name(f"{stem}-{number}{dot}{endings}"))
