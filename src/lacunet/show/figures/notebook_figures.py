"""Networks and graphs in notebooks: drawn, small, with what else there is behind a click."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from html import escape

from lacunet.missingness.graph import MissingnessGraph
from lacunet.network.cpt import Cpt
from lacunet.network.network import Network
from lacunet.show.figures.network_figure import network_picture
from lacunet.text import counted
from lacunet.text_tables import as_html, details

WIDTH = 560  # pixels
MAX_NODES_DRAWN = 80  # more make a picture that nobody reads
MAX_CELLS_LISTED = 4_000  # of the CPTs behind the click, all together


def network_html(network: Network, heading: str, listing: object) -> str:
    """A network: drawn, with its variables and its CPTs behind a click each."""
    parts = [as_html([heading]), notebook_figure(network), details("variables", as_html([listing]))]
    if network.has_cpts:
        parts.append(details("CPTs", _cpts_html(network.cpts)))
    return "".join(parts)


def structure_html(
    network: Network, undirected: Collection[tuple[str, str]], heading: str, edges: str
) -> str:
    """A learned structure: drawn, with its edges and CPTs behind a click each."""
    parts = [as_html([heading]), notebook_figure(network, undirected=undirected)]
    parts.append(details("edges", f"<pre>{escape(edges)}</pre>"))
    parts.append(details("CPTs", _cpts_html(network.cpts)))
    return "".join(parts)


def graph_html(graph: MissingnessGraph, heading: str) -> str:
    """A missingness graph: drawn, with its arrows as text behind a click."""
    arrows = details("arrows", f"<pre>{escape(str(graph))}</pre>")
    return "".join([as_html([heading]), notebook_figure(graph.network, graph), arrows])


def notebook_figure(
    network: Network,
    graph: MissingnessGraph | None = None,
    undirected: Collection[tuple[str, str]] | None = None,
) -> str:
    """The picture; of many variables a sentence in its place."""
    nodes = len(network.variables) + (0 if graph is None else len(graph.causes_of))
    if nodes > MAX_NODES_DRAWN:
        return as_html([f"{nodes:,} nodes are too many to be drawn here."])
    if undirected is None:
        undirected = network.reversible
    picture = network_picture(network, graph=graph, undirected=undirected, width=WIDTH)
    return picture._repr_html_()


def _cpts_html(cpts: Iterable[Cpt]) -> str:
    """The CPTs, each behind a click of its own, as far as a notebook should hold them."""
    shown = []
    left = 0
    room = MAX_CELLS_LISTED
    for cpt in cpts:
        room -= cpt.table.size
        if room >= 0:
            shown.append(details(cpt.title, cpt._repr_html_()))
        else:
            left += 1
    if left:
        shown.append(as_html([f"and {counted(left, 'CPT')} more: print(network.cpt(name))"]))
    return "".join(shown)
