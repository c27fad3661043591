"""The network that is meant beside data: a network, or edges over the columns of the data."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lacunet.data.column_rules import source_of_data
from lacunet.data.data import Data
from lacunet.errors import LacunetError
from lacunet.network.edge_texts import are_edges, is_edges, pairs_in_frame, with_arrows
from lacunet.network.errors import NetworkError
from lacunet.network.formats.endings import OF_DATA, READABLE_FORMATS
from lacunet.network.formats.files import (
    NetworkOrEdges,
    as_network,
    content_of,
    is_file_of_edges,
    is_network,
    names_network,
    near_bundled,
    suffix_of,
)
from lacunet.network.network import Network


def network_beside(value: NetworkOrEdges, data: Data | None, function: str) -> Network:
    """The network that is meant beside data: edges in place of it are those of `Network.from_data`.

    Parameters
    ----------
    data
        The data beside it, if there are any.
    function
        The name of the public function that was called.

    Raises
    ------
    NetworkError
        It is neither a network nor edges.
    """
    if data is None:
        return as_network(value)
    value = pairs_in_frame(value)
    _refuse_swapped(value, data, function)
    edges = _edges_in(value, data)
    if edges is None or isinstance(data.source, Network):
        return as_network(value)
    return Network.from_data(data, edges)


def _refuse_swapped(value: object, data: Data, function: str) -> None:
    """Refuse data in place of a network where a network or edges stand in place of the data."""
    source = data.source
    is_table = hasattr(value, "columns") and not hasattr(value, "network")
    is_table |= isinstance(value, Mapping) and isinstance(source, Network)
    is_file = isinstance(value, str | os.PathLike) and suffix_of(os.fspath(value)) in OF_DATA
    is_data = is_table or is_file or isinstance(value, Data)
    if is_data and (is_network(source) or are_edges(source)):
        kind = "network" if is_network(source) else "edges"
        second = repr(source) if isinstance(source, str) else kind
        first = repr(value) if isinstance(value, str) else "data"
        raise NetworkError(
            "the arguments are swapped: the network comes first, then the data.",
            f"as in {function}({second}, {first}).",
        )


def _edges_in(value: Any, data: Data) -> Any:
    """The edges that are given, or the path of a file that holds some; None for a network.

    The name of a column alone is a network of that variable.

    Raises
    ------
    NetworkError
        It is a text that is neither the name of a network or a file, nor edges.
    """
    if is_edges(value):
        return value
    if not isinstance(value, str | os.PathLike):
        return None
    name = os.fspath(value)
    if names_network(name):
        return None
    if os.path.exists(name):
        return Path(name) if is_file_of_edges(name) else None
    if name in _columns(data):
        return {name: ()}
    if Path(name).suffix:
        content_of(name)  # which says that there is no such file
    raise NetworkError(
        f"{name!r} is neither a network file nor edges.",
        with_arrows(name)
        or "edges look like 'Age -> Ill; Sex -> Ill'; the file of a network ends with one of "
        f"{', '.join(READABLE_FORMATS)}.{near_bundled(name)}",
    )


def _columns(data: Data) -> Sequence[str]:
    """The columns of data; none where they are not rows, or cannot be read."""
    try:
        return source_of_data(data).columns
    except LacunetError:
        return ()
