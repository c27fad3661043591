"""What answers a query on the command line: a network, a result, or what data teach."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from lacunet.cli.asked import data_of, network_of, with_codes_asked
from lacunet.cli.files import has_data
from lacunet.cli.learn import learned
from lacunet.cli.terminal import note
from lacunet.errors import LacunetError
from lacunet.wording import assigned, in_shell

if TYPE_CHECKING:
    from lacunet.estimate.result import Result
    from lacunet.model.network import Network


def known_and_coded(options: Namespace) -> tuple[Any, Network]:
    """What answers, or with data the network to learn; and the network with codes for queries.

    Without data it is the network that is named, or the result with all that it knows.
    """
    from lacunet.estimate.result import read_learned
    from lacunet.formats.files import as_network

    if has_data(options):
        network = network_of(options)
        return network, with_codes_asked(options, network)
    known = network_of(options) if options.network is None else read_learned(options.network)
    network = as_network(known)
    if not network.has_cpts:
        raise LacunetError(
            "the network has no CPTs, and no data are given to learn them from.",
            f"name the data after the network: lacunet {options.command} "
            f"{options.network or 'NETWORK'} DATA --query ...",
        )
    if options.intervals is not None and getattr(known, "uncertainty", None) is None:
        raise LacunetError(
            "intervals come from data, and none are given.",
            "name the data after the network, or learn with --intervals -o FILE.json.",
        )
    return known, network


def queries_of(options: Namespace, network: Network) -> list[str]:
    """The queries that were typed; without any, an example of one ends the command."""
    if not options.query:
        example = in_shell(example_query(options.command, network))
        options.usage_error(f"give a query: --query {example}")
    queries: list[str] = options.query
    return queries


def example_query(command: str, network: Network) -> str:
    """A query for a command, by names of the network."""
    child = next((name for name in network.variables if network.parents(name)), None)
    if child is None:
        return network.variables[0]
    given = network.parents(child)[0]
    seen = f"do({given})" if command == "effect" else assigned(given, network.states(given)[0])
    return f"{child} | {seen}"


def learned_anew(network: Network, options: Namespace) -> tuple[Result, int]:
    """What the data give, and the exit status; notes say how it was learned, and what is not used.

    An interruption leaves no intervals.
    """
    result, code = learned(network, options, data_of(options))
    note(*result.notes)
    if options.intervals is not None and not code:
        uncertainty = result.require_intervals()
        intervals = f"{100 * options.intervals:g}% intervals by {uncertainty.recipe}"
        note(f"learned by {result.method}; {intervals}")
        for direction in uncertainty.unidentified[:3]:
            note(f"not identified by the data: {direction}")
    note_what_is_not_used(options, f"the CPTs are learned anew from the data by {result.method}")
    return result, code


def note_what_is_not_used(options: Namespace, instead: str) -> None:
    """Say what a file knows of rows seen before that has no part in answers from new data."""
    from lacunet.estimate.result import Result, read_learned

    known = None if options.network is None else read_learned(options.network)
    if not isinstance(known, Result):
        return
    unused, graph = ["CPTs"], known.network.mechanisms and known.network.mechanisms.graph
    unused += ["missingness graph"] if graph and not options.missingness else []
    unused += ["intervals"] if known.uncertainty is not None else []
    named = " and ".join(", ".join(unused).rsplit(", ", 1))
    text = f"{options.network} keeps a learned result, but its {named} are not used"
    note(f"{text}: {instead}; without data the result itself answers")
    if graph and not options.missingness:
        note(f"--missingness {in_shell('; '.join(graph.splitlines()))} gives the graph again")
