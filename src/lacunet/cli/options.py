"""Arguments that several commands share, and what becomes of them."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from typing import Any

from lacunet.data.table import EncodedTable
from lacunet.estimate.method import Method
from lacunet.estimate.registry import method_named
from lacunet.model.network import Network
from lacunet.progress import Progress

NETWORK_HELP = "the network: .bif .xmlbif .net .dsc .xdsl .uai .json, each also .gz"
DATA_HELP = "the data: .csv .tsv .parquet .arrow .feather, also .csv.gz, globs and folders of parts"


def add_data_arguments(command: ArgumentParser) -> None:
    """Say how the cells of the data are to be read."""
    group = command.add_argument_group("data")
    group.add_argument("--weight", metavar="COLUMN", help="the column with the rows' weights")
    group.add_argument(
        "--missing",
        metavar="TOKEN",
        action="extend",
        nargs="+",
        default=[],
        help="further texts that mean 'not observed' (after DATA)",
    )
    group.add_argument(
        "--unknown",
        choices=["error", "missing"],
        default="error",
        help="what to do with a value that is no state (default: error)",
    )
    group.add_argument(
        "--latent",
        metavar="A,B",
        type=names,
        default=[],
        help="variables that the data do not have (quote a name with a comma: '\"a,b\",c')",
    )


def add_method_arguments(command: ArgumentParser) -> None:
    """Say how the CPTs are to be learned."""
    from lacunet.estimate.deletion.lattice import AGGREGATIONS
    from lacunet.estimate.registry import METHODS

    group = command.add_argument_group("method")
    group.add_argument(
        "--method",
        metavar="M",
        help=f"one of {', '.join(METHODS)} (default: auto, or mgraph where a graph is given)",
    )
    group.add_argument(
        "--separator",
        metavar="A,B",
        type=names,
        help="for informed methods: what separates missing values from their mechanisms",
    )
    group.add_argument(
        "--missingness",
        metavar="GRAPH",
        help="a file with a missingness graph, for mgraph and the informed methods",
    )
    group.add_argument(
        "--otherwise",
        metavar="O",
        help="for mgraph: 'refuse' (default), 'prior', or a method for what is not recoverable",
    )
    group.add_argument(
        "--aggregation", choices=AGGREGATIONS, help="for factored methods: how estimates merge"
    )
    _add_em_arguments(command)


def _add_em_arguments(command: ArgumentParser) -> None:
    group = command.add_argument_group("em, one-step, em-bp")
    group.add_argument(
        "--start",
        metavar="S",
        help="where EM starts: a method (default: factored-mar), a network file, or 'random'",
    )
    group.add_argument(
        "--stop",
        type=_stop,
        metavar="S",
        help="'converge' (default), 'heldout', or a number of steps",
    )
    group.add_argument("--tolerance", type=float, help="converged below this change (1e-4)")
    group.add_argument("--max-iterations", type=int, metavar="N", help="at most so many (500)")
    group.add_argument("--restarts", type=int, metavar="N", help="starts, best posterior wins (1)")
    group.add_argument(
        "--time-limit", type=float, metavar="SECONDS", help="then the best so far is returned"
    )
    group.add_argument(
        "--seed", type=seed, default=0, metavar="N", help="seed of the random numbers (0)"
    )


def method_of(options: Namespace, network: Network) -> Method:
    """The method asked for, with its options."""
    graph = None
    if options.missingness:
        from lacunet.missingness.graph import MissingnessGraph

        graph = MissingnessGraph.read(options.missingness, network)
    return method_named(
        options.method or ("mgraph" if graph else "auto"),
        separator=options.separator,
        missingness=graph,
        otherwise=options.otherwise,
        aggregation=options.aggregation,
        seed=_start(options.start),
        stop=options.stop,
        tolerance=options.tolerance,
        max_iterations=options.max_iterations,
        restarts=options.restarts,
        time_limit=options.time_limit,
    )


def _start(text: str | None) -> str | Network | None:
    """A method's name as it is; the network in a file, if it names one."""
    from lacunet.formats.files import FORMATS, read_network

    if text is not None and any(suffix in text.lower() for suffix in FORMATS):
        return read_network(text)
    return text


def _stop(text: str) -> str | int:
    if text in ("converge", "heldout"):
        return text
    if text.isdecimal():
        return int(text)
    raise ArgumentTypeError(f"{text!r} is neither 'converge' nor 'heldout' nor a number of steps")


def table_of(options: Namespace, network: Network, progress: Progress) -> EncodedTable:
    """The data asked for, encoded."""
    from lacunet.data.read import read_table

    return read_table(
        one_or_many(options.data),
        network,
        weight=options.weight,
        missing=options.missing,
        unknown=options.unknown,
        latent=options.latent,
        progress=progress,
    )


def one_or_many(paths: Sequence[str]) -> Any:
    """A single path by itself: it may be a folder or a glob."""
    return paths[0] if len(paths) == 1 else list(paths)


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
        raise ArgumentTypeError(f"{text!r} is no whole number from zero upwards")
    return int(text)


def gigabytes(text: str) -> int:
    """A size in GiB as bytes."""
    try:
        size = float(text)
    except ValueError:
        size = 0
    if not 0 < size < 2**20:
        raise ArgumentTypeError(f"{text!r} is no size in GiB")
    return int(size * 2**30)


def note(text: str) -> None:
    """Say something that is not the result."""
    import sys

    print(f"lacunet: note: {text}", file=sys.stderr)
