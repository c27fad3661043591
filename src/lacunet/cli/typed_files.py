"""The files that are typed: networks, edges, data, graphs and queries, told apart."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence
from shlex import quote


def split_files(options: Namespace) -> None:
    """Tell the network, or edges in its place, and what follows among the files typed."""
    if not hasattr(options, "files"):
        return
    files = list(options.files)
    _take_network(files, options)
    for text in files:
        if hasattr(options, "query") and not os.path.exists(text) and _looks_asked(text):
            options.usage_error(f"{text!r} looks like a query: give it by --query {quote(text)}")
    if options.then == "graph" and options.network:
        _refuse_graph_or_edges(options)
    if options.then == "data":
        _refuse_data_first(options, files)
        options.data = files
        if options.needs_data and not has_data(options):
            options.usage_error(
                "a network and data are needed: name the data after the network, or after "
                "edges such as 'A -> B'"
            )
        return
    options.graph = files[0] if files else None
    if len(files) > 1:
        data = [name for name in files if is_data_name(name)]
        more = f"; data go with --data {quote(data[0])}" if data else ""
        options.usage_error(f"name one graph after the network{more}")


def _take_network(files: list[str], options: Namespace) -> None:
    """Take the network, or edges in its place, from the front of the files."""
    options.network = options.edges = None
    if not options.needs_network and files and is_data_name(files[0]):
        return  # data alone stand for their columns
    if files and _begin_with_edges(files, options):
        options.edges = files.pop(0)
    elif files:
        options.network = files.pop(0)
    elif options.needs_network:
        options.usage_error("name a network, or give edges such as 'A -> B' in its place")


def _refuse_data_first(options: Namespace, files: Sequence[str]) -> None:
    """Refuse data in place of the network; with what follows them they may be swapped."""
    from lacunet.network.edge_texts import is_edges
    from lacunet.network.formats.files import is_network

    if not options.network or not is_data_name(options.network) or options.sql is not None:
        return
    meant = [text for text in files if is_edges(text) or is_network(text)] or ["A -> B"]
    options.usage_error(
        "a network and data are needed: the network, or edges such as 'A -> B', come first, then "
        f"the data: lacunet {options.command} {' '.join(map(quote, [*meant, options.network]))}"
    )


def _begin_with_edges(files: Sequence[str], options: Namespace) -> bool:
    """Whether edges, or a file of them, stand in place of a network.

    A file of columns alone may be data, and edges alone may be the graph.
    """
    from lacunet.network.edge_texts import is_edges
    from lacunet.network.formats.files import is_file_of_edges

    is_alone = len(files) == 1 and options.sql is None
    if is_edges(files[0]):
        return options.then == "data" or not is_alone
    if not is_file_of_edges(files[0]):
        return False
    return not is_alone or (options.then == "data" and not is_data_name(files[0]))


def _refuse_graph_or_edges(options: Namespace) -> None:
    """Refuse a graph without a network, and edges without a graph or with one among them."""
    from lacunet.network.edge_texts import is_edges
    from lacunet.network.edges import mechanisms_apart

    if is_edges(options.network):
        edges, graph = mechanisms_apart(options.network)
    elif options.network.lower().endswith(".txt"):
        edges = ""
        graph = options.network
    else:
        return
    typed = f"{quote(edges or 'A -> B')} {quote(graph) if graph else 'GRAPH'}"
    options.usage_error(
        "name the network before the graph, or give edges in its place: lacunet "
        f"{options.command} {typed}"
    )


def is_data_name(name: str) -> bool:
    """Whether a file that is typed can only be data."""
    from lacunet.network.formats.endings import OF_DATA

    return name == "-" or os.path.isdir(name) or name.lower().removesuffix(".gz").endswith(OF_DATA)


def _looks_asked(text: str) -> bool:
    """Whether a text looks like a query; ``[A][B|A]`` is a model string."""
    start = text.lstrip().lower()
    return start.startswith(("p(", "pr(")) or ("|" in text and not start.startswith("["))


def has_data(options: Namespace) -> bool:
    """Whether any data are given, of one kind."""
    if options.sql is None and options.database is not None:
        options.usage_error("--database needs a query: give --sql 'select ...' too")
    if options.sql is not None and options.data:
        options.usage_error("give data files or --sql, not both")
    return bool(options.data) or options.sql is not None
