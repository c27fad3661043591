"""A network as a page that answers questions; and two of them, side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from lacunet.errors import LacunetError
from lacunet.network.network import Network
from lacunet.show.pages.kit import NETWORK_SAVES, save_bar, section, table
from lacunet.show.pages.live_network import (
    ShownNetwork,
    drawing,
    network_section,
    page_content,
    variables_as_data,
    why_not_live,
)
from lacunet.show.pages.numbers import NOTHING_BEHIND, Behind
from lacunet.show.pages.provenance import UNKNOWN, Provenance, report_page
from lacunet.text import counted, first_of


def page(network: Network, source: Provenance = UNKNOWN, behind: Behind = NOTHING_BEHIND) -> str:
    """The page of a network as it is: its graph, its CPTs, and beliefs given evidence."""
    size = f"{counted(len(network.variables), 'variable')}, {counted(len(network.edges), 'edge')}"
    data = _data(ShownNetwork("", network, behind), source)
    drawn = network_section(data, why_not_live=why_not_live(network))
    sections = [drawn, _listing(network)]
    ending = _ending(data)
    return report_page("network", size, sections, data, source, ending=ending)


def pair_page(first: ShownNetwork, second: ShownNetwork, source: Provenance = UNKNOWN) -> str:
    """Two networks over the same variables: each bar twice, the same evidence in both."""
    _check_pair(first.network, second.network)
    words = (
        "The upper bar of each state is the first, the lower the second; evidence is set in both."
    )
    edges, others = set(first.network.edges), set(second.network.edges)
    if edges != others:
        words += (
            f" {counted(len(edges - others), 'edge')} only in the first, {len(others - edges):,} "
            "only in the second (dotted)."
        )
    title = f"{first.label} and {second.label}"
    data = _data(first, source, second) | {"labels": [first.label, second.label]}
    sections = [network_section(data, "Side by side"), _listing(first.network)]
    ending = _ending(data)
    return report_page("pair", title, sections, data, source, about="", words=words, ending=ending)


def _check_pair(first: Network, second: Network) -> None:
    for network, label in ((first, "first"), (second, "second")):
        if why := why_not_live(network):
            raise LacunetError(f"the {label} network has no CPTs, or too many to carry.", why)
    left, right = first.states_of, second.states_of
    if others := [name for name in {**left, **right} if left.get(name) != right.get(name)]:
        raise LacunetError(
            "two networks side by side need the same variables with the same states; "
            f"different: {first_of(sorted(others), 5)}."
        )


def _data(
    side: ShownNetwork, source: Provenance, other: ShownNetwork | None = None
) -> dict[str, Any]:
    network = side.network
    ends = Counter(end for edge in side.network.edges for end in edge)
    busiest = max(network.variables, key=ends.__getitem__)  # with most parents and children
    shown = {"opens_on": network.variables.index(busiest), "variables": variables_as_data(network)}
    if not network.has_cpts:
        return shown | drawing(network)
    file = source.network or "NETWORK"
    return shown | page_content(network, side.behind, other=other, file=file)


def _listing(network: Network) -> str:
    rows = []
    for name in network.heads:
        group = network.tied_with(name)
        label = name if len(group) == 1 else f"{name} to {group[-1]}"
        parents = ", ".join(network.parents(name)) or "–"
        rows.append([label, parents, ", ".join(network.states(name))])
    return section("listing", "Variables", table(["variable", "parents", "states"], rows, 3))


def _ending(data: Mapping[str, Any]) -> list[str]:
    """What can be saved of a network that is carried in full."""
    return [save_bar(NETWORK_SAVES)] if data["live"] else []
