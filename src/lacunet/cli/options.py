"""Arguments that several commands share, and what becomes of them."""

from __future__ import annotations

from argparse import Action, ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from typing import Any

from lacunet.data.matching import MISSING_TOKENS
from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetError
from lacunet.estimate.method import Method
from lacunet.model.network import Network
from lacunet.progress import Progress

NETWORK_HELP = (
    "the network: .bif .xmlbif .bifxml .xml .net .dsc .xdsl .uai .json, each also .gz, or the name "
    "of a bundled one"
)
DATA_HELP = (
    "the data: .csv .tsv .parquet .arrow .feather, also .csv.gz, globs and folders of parts, or - "
    "for CSV from standard input"
)


# Options that `learn` itself hands to methods which do not have them as fields.
ALSO = {"missingness": ("em", "auto")}


def add_data(command: ArgumentParser) -> None:
    """Ask for the data: files, or a query."""
    files = command.add_argument("data", metavar="DATA", nargs="+", help=DATA_HELP)
    add_query_arguments(command, files)


def add_query_arguments(command: ArgumentParser, files: Action) -> None:
    """Ask for a query, which may stand in place of data files."""
    group = command.add_argument_group("databases")
    group.add_argument(
        "--sql",
        metavar="SELECT",
        action=_InPlaceOf,
        files=files,
        help="a query whose rows are the data, in place of files",
    )
    group.add_argument(
        "--database",
        metavar="DB",
        help="what is queried: a DuckDB or SQLite file, or postgresql://user@host/name "
        "(default: the files that the query names, read by DuckDB)",
    )


class _InPlaceOf(Action):
    """Keeps the text of an option with which files need not be named."""

    def __init__(self, files: Action, **kept: Any) -> None:
        super().__init__(**kept)
        self.files = files

    def __call__(
        self, _: ArgumentParser, options: Namespace, values: Any, __: str | None = None
    ) -> None:
        setattr(options, self.dest, values)
        self.files.nargs, self.files.required = "*", False


def add_data_arguments(command: ArgumentParser) -> None:
    """Say how the cells of the data are to be read."""
    group = command.add_argument_group("data")
    add_row_arguments(group)
    group.add_argument(
        "--unknown",
        choices=["error", "missing"],
        default="error",
        help="what to do with a value that is not a state (default: error)",
    )
    group.add_argument(
        "--latent",
        metavar="A,B",
        type=names,
        default=[],
        help="variables without a column in the data (quote a name with a comma: '\"a,b\",c')",
    )
    add_text_arguments(group)


def add_memory_argument(command: Any) -> None:
    """Say how much memory may be used."""
    command.add_argument(
        "--memory",
        type=gigabytes,
        metavar="GIB",
        help="memory budget in GiB (default: half of the available memory)",
    )


def add_size_arguments(command: Any) -> None:
    """Say what may be used for data that do not fit in memory."""
    add_memory_argument(command)
    command.add_argument(
        "--scratch",
        metavar="DIR",
        help="folder for temporary files of rows that do not fit in memory (default: the system's)",
    )
    command.add_argument(
        "--jobs",
        type=jobs,
        default=1,
        metavar="N",
        help="processes that read and count rows that do not fit in memory (default: 1)",
    )


def size_options(options: Namespace) -> dict[str, Any]:
    """What may be used for data that do not fit in memory."""
    return {"memory": options.memory, "scratch": options.scratch, "jobs": options.jobs}


def add_row_arguments(group: Any) -> None:
    """Say what rows weigh, and which strings mean a missing value."""
    group.add_argument("--weight", metavar="COLUMN", help="the column with the rows' weights")
    group.add_argument(
        "--missing",
        metavar="TOKEN",
        action="extend",
        nargs="+",
        default=[],
        help="further strings that mean 'not observed', beside "
        f"{', '.join(token or 'an empty cell' for token in MISSING_TOKENS)} (after DATA)",
    )


def add_text_arguments(group: Any) -> None:
    """Say how text files are written."""
    group.add_argument(
        "--delimiter", metavar="C", help="character between cells of text files (.csv: a comma)"
    )
    group.add_argument(
        "--encoding", metavar="E", default="utf-8", help="encoding of text files (default: utf-8)"
    )
    group.add_argument(
        "--decimal", metavar="C", default=".", help="decimal character of text files (default: .)"
    )


def add_method_arguments(command: ArgumentParser) -> None:
    """Say how the CPTs are to be learned: every option of every method, from its own words."""
    from lacunet.estimate.registry import METHODS, options_of

    group = command.add_argument_group("method")
    group.add_argument(
        "--method",
        metavar="M",
        help=f"one of {', '.join(METHODS)} (default: auto, or mgraph where a graph is given)",
    )
    methods_of: dict[str, list[str]] = {}
    for method in METHODS:
        for name in options_of(method):
            methods_of.setdefault(name, []).append(method)
    for name, methods in methods_of.items():
        own = options_of(methods[-1])[name]
        told = own.metadata
        kind = names if name == "separator" else _start if name == "start" else told["kind"]
        default = f"; default: {own.default}" if own.default not in (None, ()) else ""
        group.add_argument(
            f"--{name.replace('_', '-')}",
            type=_refusing(kind),
            choices=told["choices"],
            metavar=told["metavar"] or (None if told["choices"] else name.upper()[:1]),
            help=f"{told['text']} ({', '.join([*methods, *ALSO.get(name, ())])}{default})",
        )
    group.add_argument("--seed", type=seed, default=0, metavar="N", help="random seed (default: 0)")


def _refusing(kind: Callable[[str], Any]) -> Callable[[str], Any]:
    """The same, with our own refusals as refusals of the command line."""

    def parsed(text: str) -> Any:
        try:
            return kind(text)
        except LacunetError as error:
            raise ArgumentTypeError(str(error)) from None

    parsed.__name__ = kind.__name__
    return parsed


def method_options(options: Namespace) -> dict[str, Any]:
    """The options of methods that were given."""
    from lacunet.estimate.registry import METHODS, options_of

    every = dict.fromkeys(name for method in METHODS for name in options_of(method))
    return {name: getattr(options, name) for name in every}


def method_of(options: Namespace, network: Network) -> Method:
    """The method asked for, with its options."""
    from lacunet.estimate.learn import checked_method

    return checked_method(network, options.method, method_options(options))


def _start(text: str) -> str | Network:
    """A method's name as it is; the network in a file, if it names one."""
    from lacunet.formats.files import FORMATS, read_network

    if any(suffix in text.lower() for suffix in FORMATS):
        return read_network(text)
    return text


def one_or_many(paths: Sequence[str]) -> Any:
    """A single path by itself: it may be a folder or a glob."""
    return paths[0] if len(paths) == 1 else list(paths)


def has_data(options: Namespace) -> bool:
    """Whether any data are given, of one kind."""
    if options.sql is None and options.database is not None:
        options.usage_error("--database is asked by a query: give --sql 'select ...' too")
    if options.sql is not None and options.data:
        options.usage_error("the data come from files or from --sql: give one of them")
    return bool(options.data) or options.sql is not None


def data_of(options: Namespace) -> Any:
    """The data asked for."""
    from lacunet.data.databases import SQL
    from lacunet.data.text import TextFiles

    if getattr(options, "held", None) is not None:
        return options.held
    if has_data(options) and options.sql is not None:
        return SQL(options.sql, options.database)
    paths = one_or_many(options.data)
    delimiter = "\t" if options.delimiter == "\\t" else options.delimiter
    return TextFiles(paths, delimiter=delimiter, encoding=options.encoding, decimal=options.decimal)


def data_options(options: Namespace) -> dict[str, Any]:
    """How the data are to be read."""
    return {
        "weight": options.weight,
        "missing": options.missing,
        "unknown": options.unknown,
        "latent": options.latent,
    }


def table_of(options: Namespace, network: Network, progress: Progress) -> EncodedTable:
    """The data asked for, encoded."""
    from lacunet.data.read import read_table

    return read_table(data_of(options), network, **data_options(options), progress=progress)


def names(text: str) -> list[str]:
    """Names separated by commas; one that holds a comma is quoted.

    Examples
    --------
    >>> names('Age, "income, net"')
    ['Age', 'income, net']
    """
    import csv

    (found,) = csv.reader([text], skipinitialspace=True) if text.strip() else ([],)
    if not all(found):
        raise ArgumentTypeError("give names separated by commas")
    return found


def seed(text: str) -> int:
    """A seed for random numbers."""
    if not text.isdecimal():
        raise ArgumentTypeError(f"{text!r} is not a whole number from zero upwards")
    return int(text)


def jobs(text: str) -> int:
    """A number of processes."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number from one upwards")
    return int(text)


def gigabytes(text: str) -> int:
    """A size in GiB as bytes."""
    try:
        size = float(text)
    except ValueError:
        size = 0
    if not 0 < size < 2**20:
        raise ArgumentTypeError(f"{text!r} is not a size in GiB")
    return int(size * 2**30)


def note(text: str) -> None:
    """Say something that is not the result."""
    import sys

    print(f"lacunet: note: {text}", file=sys.stderr)
