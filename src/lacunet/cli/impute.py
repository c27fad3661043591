"""``lacunet impute``: a data file with every missing cell filled in."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lacunet.cli.options import add, add_json, add_network_and_data, add_seed, data_of, note
from lacunet.cli.output import refuse_overwriting
from lacunet.cli.predict import add_output_arguments, json_lines, print_rows

HELP = "fill in missing cells: most probable completion, or draws for multiple imputation"
EXAMPLE = """example:
  lacunet impute learned.bif patients.csv -o complete.csv
  lacunet impute learned.bif patients.csv --draws 20 --fixed-cpts --seed 1 -o draws.csv
      (writes draws-1.csv to draws-20.csv)
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_network_and_data(command)
    draws = "write M completions drawn from the joint posterior instead of the most probable one"
    add(command, "--draws M", draws, type=int)
    fixed = "draw with the network's CPTs as they are: right for CPTs that are certain"
    add(command, "--fixed-cpts", fixed, action="store_true")
    add_seed(command)
    add_json(command, "print one JSON object per row")
    add_output_arguments(command)


def run(options: Namespace) -> int:
    """Complete the rows some at a time, write them."""
    from lacunet.cli.output import OptionError

    several = bool(options.draws and options.draws > 1)
    if several and (options.json or not options.output):
        raise OptionError(
            f"{options.draws} completed tables cannot be printed.",
            "name a file with -o, and leave --json out.",
        )
    if not options.output:
        print_rows((rows for _, rows in _completed(options)), as_json=options.json)
        return 0
    outputs = [options.output]
    if several:
        outputs = [_numbered(options.output, at) for at in range(1, options.draws + 1)]
        refuse_overwriting(options, outputs)
    if options.json:
        _write_and_print(_completed(options), outputs)
    else:
        _write(_completed(options), outputs)
    return 0


def _completed(options: Namespace) -> Iterator[tuple[int, Any]]:
    import numpy as np

    from lacunet.estimate.result import read_learned
    from lacunet.imputation.pieces import completed_pieces

    return completed_pieces(
        read_learned(options.network),
        data_of(options),
        options.draws,
        rng=np.random.default_rng(options.seed),
        proper=not options.fixed_cpts,
        memory=options.memory,
    )


def _write(pieces: Iterator[tuple[int, Any]], outputs: Sequence[str]) -> None:
    """Write each draw to a file of its own; all are whole, or none is there."""
    from contextlib import ExitStack

    from lacunet.data.write import Write, opened_file
    from lacunet.wording import counted

    writes: dict[int, Write] = {}
    count = 0
    with ExitStack() as opened:
        for draw, rows in pieces:
            if draw not in writes:
                writes[draw] = opened.enter_context(opened_file(outputs[draw], rows.schema))
            writes[draw](rows)
            count += rows.num_rows if draw == 0 else 0
    for output in outputs:
        note(f"{counted(count, 'row')} written to {output}")


def _write_and_print(pieces: Iterator[tuple[int, Any]], outputs: Sequence[str]) -> None:
    """Write the rows to a file; when it is whole, print them as JSON, which waits on the disk."""
    import shutil
    import sys
    from tempfile import TemporaryFile

    with TemporaryFile("w+", encoding="utf-8") as waiting:

        def kept() -> Iterator[tuple[int, Any]]:
            for draw, rows in pieces:
                waiting.writelines(json_lines(rows))
                yield draw, rows

        _write(kept(), outputs)
        waiting.seek(0)
        shutil.copyfileobj(waiting, sys.stdout)


def _numbered(path: str, number: int) -> str:
    """The same path with a number before its endings.

    >>> _numbered("out/rows.csv.gz", 3)
    'out/rows-3.csv.gz'
    """
    name = Path(path).name
    stem, dot, endings = name.partition(".")
    return str(Path(path).with_name(f"{stem}-{number}{dot}{endings}"))
