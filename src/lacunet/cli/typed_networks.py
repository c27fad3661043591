"""Networks from what is typed: edges, with the states that data or options give."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from lacunet.cli.inputs import data_of, states_asked
from lacunet.cli.terminal import note
from lacunet.cli.typed_files import has_data
from lacunet.errors import LacunetError

if TYPE_CHECKING:
    from lacunet.network.network import Network


def typed_network(options: Namespace) -> Network:
    """The network that is named, or that edges, data and states make."""
    from lacunet.network.formats.files import read_network

    if options.network is not None:
        return read_network(options.network)
    if has_data(options):
        return network_from_data(options)
    return network_without_data(options)


def network_from_data(options: Namespace) -> Network:
    """The network of the edges, states and bins asked for, with notes on stderr.

    Without edges it is that of all columns; the options say what is ``left_out``.
    """
    from lacunet.data.network_from_data import find_network, network_of_columns

    data = data_of(options)
    if options.edges is None:
        built = network_of_columns(data)
    else:
        built = find_network(data, edges_asked(options.edges))
    note(built.summary, *(text for text in built.remarks if text not in built.left_out.values()))
    options.left_out = built.left_out
    return built.network


def network_without_data(options: Namespace) -> Network:
    """The network of edges whose states are given; without data a graph needs none."""
    from lacunet.data.network_from_data import network_of_edges

    states = states_asked(options)
    network, absent = network_of_edges(edges_asked(options.edges), states)
    if absent and options.then == "graph":
        note(f"{', '.join(absent)}: taken to have two states each; --states gives others")
        options.assumed = tuple(absent)
    elif absent:
        raise LacunetError(
            f"the edges do not say which states {', '.join(absent)} have.",
            "name data that show them, or give --states for every variable.",
        )
    return network


def edges_asked(text: str) -> str | Path:
    """The file of this name, if there is one; else the text itself."""
    is_name = "\n" not in text and len(text) < 256
    return Path(text) if is_name and Path(text).is_file() else text


def note_written(network: Network, path: str) -> None:
    """Say where the network is, and what the file does not keep."""
    note(f"the network is in {path}")
    if network.cuts_of and ".json" not in path:
        note("cut points are kept in .json files only: new numbers will not be cut")
