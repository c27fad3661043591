"""``lacunet simulate``: rows drawn from a network, with values hidden from them."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from lacunet.cli.errors import OutputError
from lacunet.cli.options import note, seed

if TYPE_CHECKING:
    from lacunet.model.network import Network
    from lacunet.simulate.at_random import Missing
    from lacunet.simulate.simulation import Simulation

HELP = "draw rows from a network and hide values: MCAR, MAR, informed MAR, or by a graph"
EXAMPLE = """example:
  lacunet simulate alarm --rows 10000 --missing mar --seed 7 -o rows.csv --graph-out graph.txt
  lacunet simulate net.bif --rows 500 --missing mcar --share 0.5 --rate 0.2 -o rows.parquet
  lacunet simulate net.bif --rows 500 --missing mechanisms.txt -o rows.csv --complete-out all.csv
"""
KINDS = ("none", "mcar", "mar", "informed")


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    command.add_argument(
        "network", metavar="NETWORK", help="a network file, or the name of a bundled network"
    )
    command.add_argument("--rows", type=int, required=True, metavar="N", help="how many rows")
    command.add_argument(
        "-o", "--output", required=True, metavar="DATA", help="where to write them"
    )
    command.add_argument("--seed", type=seed, default=0, metavar="S", help="(default: 0)")
    command.add_argument(
        "--missing",
        default="mar",
        metavar="HOW",
        help="mcar, mar, informed, none, or the file of a missingness graph (default: mar)",
    )
    command.add_argument(
        "--graph-out",
        metavar="FILE",
        help="where to write the missingness graph; with all parameters if it ends in .json",
    )
    command.add_argument("--complete-out", metavar="FILE", help="where to write the complete rows")
    command.add_argument("--json", action="store_true", help="print what was hidden as JSON")
    _add_missing_arguments(command)


def _add_missing_arguments(command: ArgumentParser) -> None:
    group = command.add_argument_group("how values go missing")
    group.add_argument(
        "--share",
        type=float,
        default=0.3,
        help="the share of the variables that are partially observed (default: 0.3)",
    )
    group.add_argument(
        "--rate", type=float, default=0.7, help="mcar: the rate of missing values (default: 0.7)"
    )
    group.add_argument(
        "--parents", type=int, default=2, help="mar, informed: parents of a mechanism (default: 2)"
    )
    group.add_argument(
        "--separator-size", type=int, default=3, help="informed: variables looked at (default: 3)"
    )
    group.add_argument(
        "--beta",
        type=two_numbers,
        default=(1.0, 0.5),
        metavar="A,B",
        help="the Beta distribution of the probabilities of being missing (default: 1,0.5)",
    )


def run(options: Namespace) -> int:
    """Draw, hide, write, and say what is missing."""
    import numpy as np

    from lacunet.data.write import write_table
    from lacunet.experiments.paper.sources import source_of
    from lacunet.report.simulated import simulation_as_data, simulation_as_text
    from lacunet.simulate.simulation import simulate

    network = source_of(options.network).read()
    missing = missing_of(options, network)
    targets = [p for p in (options.output, options.complete_out, options.graph_out) if p]
    if len(set(map(os.path.realpath, targets))) < len(targets):
        raise OutputError.twice(targets)
    drawn = simulate(network, options.rows, missing, np.random.default_rng(options.seed))
    write_table(drawn.table, network, options.output)
    if options.complete_out:
        write_table(drawn.complete, network, options.complete_out)
    if options.graph_out:
        _write_graph(drawn, options.graph_out)
    data = simulation_as_data(drawn)
    print(json.dumps(data) if options.json else simulation_as_text(data))
    note(f"the rows are in {options.output}")
    return 0


def missing_of(options: Namespace, network: Network) -> Missing | None:
    """How values are to go missing."""
    from lacunet.cli.errors import OptionError
    from lacunet.missingness.graph import MissingnessGraph
    from lacunet.simulate.at_random import MAR, MCAR, InformedMAR
    from lacunet.simulate.by_graph import MissingByGraph

    share, parents, beta = options.share, options.parents, options.beta
    if options.missing == "none":
        return None
    if options.missing == "mcar":
        return MCAR(share, options.rate)
    if options.missing == "mar":
        return MAR(share, parents, beta)
    if options.missing == "informed":
        return InformedMAR(share, options.separator_size, parents, beta)
    if not Path(options.missing).is_file():
        raise OptionError.missing(options.missing, KINDS)
    return MissingByGraph(MissingnessGraph.read(options.missing, network), beta=beta)


def _write_graph(drawn: Simulation, path: str) -> None:
    from lacunet.missingness.mechanisms import parameters

    text = str(drawn.graph)
    if path.endswith(".json"):
        text = json.dumps(parameters(drawn.missingness) if drawn.missingness else {}, indent=1)
    try:
        Path(path).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise OutputError.file(path, error) from None


def two_numbers(text: str) -> tuple[float, float]:
    """Two numbers separated by a comma.

    Examples
    --------
    >>> two_numbers("1, .5")
    (1.0, 0.5)
    """
    try:
        one, two = map(float, text.split(","))
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not of the form A,B") from None
    return one, two
