"""The files that are typed: networks, edges, data, graphs and queries, told apart."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence
from shlex import quote


def split_files(options: Namespace) -> None:
    """Tell the network and what follows it among the files that were typed."""
    if not hasattr(options, "files"):
        return
    files = _without_queries(options)
    is_alone = not options.needs_network and (not files or is_data_name(files[0]))
    if options.edges is None and not is_alone and _begin_with_edges(files, options):
        options.edges = files.pop(0)
    options.network = files.pop(0) if options.edges is None and files and not is_alone else None
    if options.edges is None and options.network is None and not is_alone:
        options.usage_error("name a network, or give edges such as 'A -> B' in its place")
    for text in files:
        if hasattr(options, "query") and _looks_asked(text):
            options.usage_error(
                f"{text!r} looks like a query: lacunet {options.command} NETWORK "
                f"{'GRAPH ' * (options.then == 'graph')}--query {quote(text)}"
            )
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


def _refuse_data_first(options: Namespace, files: Sequence[str]) -> None:
    """Refuse data in place of the network; with what follows them they may be swapped."""
    from lacunet.formats.edges import is_edges
    from lacunet.formats.files import is_network

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
    from lacunet.formats.edges import is_edges
    from lacunet.formats.files import is_file_of_edges

    if not files:
        return False
    if is_edges(files[0]):
        return options.then == "data" or len(files) > 1
    if options.then != "data" or not is_file_of_edges(files[0]):
        return False
    return not is_data_name(files[0]) or len(files) > 1 or options.sql is not None


def _refuse_graph_or_edges(options: Namespace) -> None:
    """Refuse a graph without a network, and edges without a graph or with one among them."""
    from lacunet.building.edges import mechanisms_apart
    from lacunet.formats.edges import is_edges

    if is_edges(options.network):
        edges, graph = mechanisms_apart(options.network)
    elif options.network.lower().endswith(".txt"):
        edges, graph = "", options.network
    else:
        return
    typed = f"{quote(edges or 'A -> B')} {quote(graph) if graph else 'GRAPH'}"
    options.usage_error(
        "name the network before the graph, or give edges in its place: lacunet "
        f"{options.command} {typed}"
    )


def is_data_name(name: str) -> bool:
    """Whether a file that is typed can only be data."""
    from lacunet.formats.endings import OF_DATA

    return name == "-" or os.path.isdir(name) or name.lower().removesuffix(".gz").endswith(OF_DATA)


def _without_queries(options: Namespace) -> list[str]:
    """The files that were typed; ``P(X | Y=y)`` or ``X | Y=y`` among them is a query.

    So is a bare name behind the network, unless it is a file or could be one.
    """
    takes_queries = isinstance(getattr(options, "query", None), list)
    behind = options.files[options.edges is None :] if options.then == "data" else []
    asked = [
        text
        for text in options.files
        if not os.path.exists(text) and (_looks_asked(text) or (text in behind and _is_bare(text)))
    ]
    if not (takes_queries and asked):
        return list(options.files)
    options.query = [*asked, *options.query]
    return [text for text in options.files if text not in asked]


def _is_bare(text: str) -> bool:
    """Whether a text has nothing that names of files and addresses have."""
    return text != "-" and not {*text} & {*"./\\*?[]:"}


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
