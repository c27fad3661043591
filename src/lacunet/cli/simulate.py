"""``lacunet simulate``: rows drawn from a network, with values hidden from them."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from lacunet.cli.inputs import data_of
from lacunet.cli.options import NETWORK_HELP, add, add_data_arguments, add_output, add_shared
from lacunet.cli.parsing import HIDING_KINDS
from lacunet.cli.predict import deliver_rows
from lacunet.cli.terminal import note
from lacunet.cli.typed_files import has_data
from lacunet.cli.values import natural
from lacunet.errors import LacunetError
from lacunet.text import first_of

if TYPE_CHECKING:
    from lacunet.network.network import Network
    from lacunet.simulation.at_random import Missing
    from lacunet.simulation.simulate import Simulation

HIDING = ("share", "rate", "parents", "separator", "beta")  # options of how values are hidden
HELP = "draw rows from a network, and hide values of them; or a twin of a table"
EXAMPLE = """examples:
  lacunet simulate alarm --rows 10000 -o rows.csv
  lacunet simulate alarm --rows 10000 --hide mar --seed 7 -o rows.csv
  lacunet simulate net.bif --rows 500 --missingness "X -> R[Y]" -o rows.csv
  lacunet simulate result.json --twin --data survey.csv --rows 2000 -o twin.csv
"""
MORE = """  lacunet simulate net.bif --rows 500 --hide mcar --rate 0.2 -o rows.csv
  lacunet simulate net.bif --rows 500 --missingness graph.txt -o rows.csv \\
      --complete-out all.csv
  lacunet simulate alarm --rows 9 --hide mar -o one.csv --missingness-out m.json
  lacunet simulate alarm --rows 99999 --missingness m.json --seed 1 -o other.csv

m.json has the graph, and each variable's probability of being missing for each
state of X:
  {"graph": "X -> R[Y]; R[Z]",
   "mechanisms": {"Y": {"missing": [0.1, 0.5]}, "Z": {"missing": 0.3}}}
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    add(command, "network NETWORK", NETWORK_HELP)
    add(command, "--rows N", "number of rows", type=natural, required=True)
    add_output(command, "-o --output DATA", "file for the rows; without it they are printed")
    twin = (
        "draw a twin of the table that a result was learned from: the same columns, numbers as "
        "numbers, and the same holes, by the result's mechanisms or those of --data"
    )
    add(command, "--twin", twin, action="store_true")
    data = "the rows that --twin learns from how values go missing, where the result does not know"
    add(command, "--data DATA", data, nargs="+", action="extend")
    hide = (
        "how values go missing: mcar by chance alone, mar by variables that are always observed, "
        "informed by a few of these, the same for all mechanisms (default: none)"
    )
    add(command, "--hide", hide, choices=HIDING_KINDS)
    graph = (
        "hide values by these mechanisms instead: a missingness graph (its text, or a file), with "
        "probabilities drawn at random; or a .json file that has them too (below)"
    )
    add(command, "--missingness GRAPH", graph)
    drawn = (
        "file for the missingness graph, or for the mechanisms with all their probabilities "
        "if it ends in .json"
    )
    add_output(command, "--missingness-out FILE", drawn)
    add_output(command, "--complete-out FILE", "file for the complete rows")
    add_shared(command, "--seed --json")
    group = command.add_argument_group("how values go missing")
    rate = (
        "mcar, mar, informed: share of cells that are missing, of variables that have missing "
        "values (default: 0.2)"
    )
    add(group, "--rate", rate, type=float)
    share = (
        "mcar, mar, informed: share of the variables that have missing values (default: 1 for "
        "mcar, else 0.5)"
    )
    add(group, "--share", share, type=float)
    add(group, "--parents N", "mar, informed: parents per mechanism (default: 2)", type=int)
    separator = "informed: number of variables that the mechanisms depend on (default: 3)"
    add(group, "--separator-size N", separator, dest="separator", type=int)
    beta = (
        "mar, informed (in place of --rate), graph: the Beta distribution from which the "
        "probabilities of being missing are drawn (default: 1,0.5 for a graph)"
    )
    add(group, "--beta A,B", beta, type=two_numbers)
    add_data_arguments(command)


def run(options: Namespace) -> None:
    """Draw, hide, write, and say what is missing."""
    import numpy as np

    from lacunet.data.write import check_table_name, to_arrow, write_table
    from lacunet.network.formats.files import read_network
    from lacunet.show.simulation_text import simulation_as_data, simulation_as_text
    from lacunet.simulation.by_graph import MissingByGraph
    from lacunet.simulation.simulate import simulate

    for output in filter(None, (options.output, options.complete_out)):
        check_table_name(output)
    if options.twin or has_data(options):
        _draw_twin(options)
        return
    network = read_network(options.network)
    missing = missing_of(options, network)
    drawn = simulate(network, options.rows, missing, rng=np.random.default_rng(options.seed))
    if options.output:
        write_table(drawn.table, network, options.output)
    if options.complete_out:
        write_table(drawn.complete, network, options.complete_out)
    if options.missingness_out:
        _write_graph(drawn, options.missingness_out)
    if options.output:
        data = simulation_as_data(drawn)
        print(json.dumps(data) if options.json else simulation_as_text(data))
        note(f"the rows are in {options.output}")
    else:
        deliver_rows([(0, to_arrow(drawn.table, network))], (), as_json=options.json)
    if isinstance(missing, MissingByGraph):
        note(_on_rates(drawn))


def _draw_twin(options: Namespace) -> None:
    """Draw a twin of the rows that were learned from, write it, and say what it misses."""
    import numpy as np

    from lacunet.data.write import write_arrow
    from lacunet.learning.result import read_learned
    from lacunet.show.simulation_text import simulation_as_text, twin_as_data

    if not options.twin:
        options.usage_error("--data is for --twin")
    others = ("hide", "missingness", "missingness_out", "complete_out", *HIDING)
    if given := [name for name in others if getattr(options, name) is not None]:
        options.usage_error(f"--twin does not use {_spelled(given)}")
    missing = data_of(options) if has_data(options) else True
    frame = read_learned(options.network).sample(
        options.rows, missing=missing, rng=np.random.default_rng(options.seed), library="pyarrow"
    )
    if not options.output:
        deliver_rows([(0, frame)], (), as_json=options.json)
        return
    write_arrow(frame, options.output)
    data = twin_as_data(frame)
    print(json.dumps(data) if options.json else simulation_as_text(data))
    note(f"the rows are in {options.output}")


def _spelled(names: Sequence[str]) -> str:
    """Options as they are typed."""
    dashed = {name: f"--{name.replace('_', '-')}" for name in names}
    return ", ".join("--separator-size" if name == "separator" else dashed[name] for name in names)


def _on_rates(drawn: Simulation) -> str:
    """The probabilities of being missing, which the graph does not have."""
    rates = []
    for mechanism in drawn.mechanisms.values():
        low = f"{mechanism.missing.min():.2f}"
        high = f"{mechanism.missing.max():.2f}"
        rates.append(f"{mechanism.node} {low if low == high else f'{low} to {high}'}")
    return (
        f"the probabilities of being missing were drawn at random: {first_of(rates, 5)}; to give "
        "them, edit what --missingness-out mechanisms.json writes, and give --missingness "
        "mechanisms.json"
    )


def missing_of(options: Namespace, network: Network) -> Missing | None:
    """How values are to go missing; options that have no effect there are wrong usage."""
    from dataclasses import fields

    from lacunet.missingness.graph import graph_of, is_path
    from lacunet.simulation.at_random import MAR, MCAR, InformedMAR
    from lacunet.simulation.by_graph import MissingByGraph, read_missingness

    kind = options.hide
    path = options.missingness
    if kind and path:
        options.usage_error("give --hide or --missingness, not both")
    given = _given_of_hiding(options)
    if not path and kind in (None, "none"):
        if given or options.missingness_out:
            options.usage_error(
                "nothing is hidden by default or by --hide none: give --hide mcar, mar or informed"
            )
        return None
    kinds: dict[str, Any] = {"mcar": MCAR, "mar": MAR, "informed": InformedMAR}
    has_probabilities = bool(path) and path.endswith(".json")
    used: list[str] = []
    if not has_probabilities:
        used = [field.name for field in fields(kinds.get(kind, MissingByGraph))]
    if unused := [name for name in given if name not in used]:
        choice = f"--missingness {path}" if path else f"--hide {kind}"
        options.usage_error(f"{choice} does not use {_spelled(unused)}")
    if kind in kinds:
        return cast("Missing", kinds[kind](**given))
    if is_path(path) and not os.path.isfile(path):
        raise LacunetError(
            f"{path!r} is neither a file nor a missingness graph.",
            "a missingness graph is text such as 'Age -> R[Income]', or a file with it. To draw "
            f"mechanisms at random, give --hide: {', '.join(HIDING_KINDS)}; --hide mcar "
            "--rate 0.3 hides three in ten values of every variable.",
        )
    if has_probabilities:
        return read_missingness(path, network)
    return MissingByGraph(graph_of(path, network), **given)


def _given_of_hiding(options: Namespace) -> dict[str, Any]:
    """The options on how values go missing that were given."""
    values = {name: getattr(options, name) for name in HIDING}
    return {name: value for name, value in values.items() if value is not None}


def _write_graph(drawn: Simulation, path: str) -> None:
    """Write the missingness graph; as JSON, with the probabilities of being missing."""
    from lacunet.atomic_files import writing_to
    from lacunet.missingness.mechanism_cpts import parameters

    text = str(drawn.graph)
    if path.endswith(".json") and drawn.missingness:
        text = json.dumps(parameters(drawn.missingness), indent=1)
    with writing_to(path, LacunetError) as file:
        file.write(f"{text}\n".encode())


def two_numbers(text: str) -> tuple[float, float]:
    """Two numbers separated by a comma.

    Examples
    --------
    >>> two_numbers("1, .5")
    (1.0, 0.5)
    """
    try:
        first, second = map(float, text.split(","))
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not of the form A,B") from None
    return first, second
