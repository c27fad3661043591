"""A network as a page that answers questions; and two of them, side by side."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from lacunet.errors import LacunetError
from lacunet.model.network import Network
from lacunet.pages.kit import NETWORK_SAVES, document, named, paragraph, save_bar, section, table
from lacunet.pages.live import (
    DRAWING_SCRIPTS,
    SCRIPTS,
    carried,
    drawing,
    network_section,
    variables_as_data,
    why_not_live,
)
from lacunet.pages.numbers import NOTHING, Behind
from lacunet.pages.provenance import UNKNOWN, Provenance, provenance_section
from lacunet.wording import counted, first_of


@dataclass(frozen=True)
class ShownNetwork:
    """A network to be shown beside another one: what to call it, and what is behind its CPTs."""

    label: str
    network: Network
    behind: Behind = NOTHING


def page(network: Network, source: Provenance = UNKNOWN, behind: Behind = NOTHING) -> str:
    """The page of a network as it is: its graph, its CPTs, and beliefs given evidence."""
    data = _data("network", ShownNetwork("", network, behind), source)
    heading = f"{source.network}: " if source.network else ""
    size = f"{counted(len(network.variables), 'variable')}, {counted(len(network.edges), 'edge')}"
    section_ = network_section(data, why_not_live=why_not_live(network))
    return _page(heading + size, "", [section_, _listing(network)], data, source)


def pair_page(first: ShownNetwork, second: ShownNetwork, source: Provenance = UNKNOWN) -> str:
    """Two networks over the same variables: each bar twice, the same evidence in both."""
    _check_pair(first.network, second.network)
    data = _data("pair", first, source, other=second)
    data["labels"] = [first.label, second.label]
    words = (
        "The upper bar of each state is the first, the lower the second; evidence is set in both."
    )
    edges, others = set(first.network.edges), set(second.network.edges)
    if edges != others:
        words += (
            f" {counted(len(edges - others), 'edge')} only in the first, {len(others - edges):,} "
            "only in the second (dotted)."
        )
    sections = [network_section(data, "Side by side"), _listing(first.network)]
    title = f"{first.label} and {second.label}"
    return _page(title, words, sections, data, source, "paired")


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
    kind: str, side: ShownNetwork, source: Provenance, other: ShownNetwork | None = None
) -> dict[str, Any]:
    network = side.network
    if not network.has_cpts:
        content = drawing(network)
    else:
        content = carried(
            network,
            side.behind,
            other=None if other is None else other.network,
            behind_other=NOTHING if other is None else other.behind,
            file=source.network or "NETWORK",
        )
    return {
        "format": "lacunet page",
        "kind": kind,
        "provenance": asdict(source),
        "opens_on": network.variables.index(_best_connected(network)),
        "variables": variables_as_data(network),
        **content,
    }


def _best_connected(network: Network) -> str:
    """The variable that a large network opens on: the one with most parents and children."""
    ends = Counter(end for edge in network.edges for end in edge)
    return max(network.variables, key=ends.__getitem__)


def _listing(network: Network) -> str:
    rows = [
        [
            name,
            ", ".join(network.parents(name)) or "–",
            ", ".join(network.states(name)),
        ]
        for name in network.variables
    ]
    return section("listing", "Variables", table(["variable", "parents", "states"], rows, 3))


def _page(
    title: str,
    words: str,
    sections: list[str],
    data: dict[str, Any],
    source: Provenance,
    kind: str = "",
) -> str:
    bar = save_bar(NETWORK_SAVES) if data["live"] else ""
    body = [
        f'<div class="{kind}"><header><h1>{named(title)}</h1>',
        *([paragraph(words, "soft")] if words else []),
        "</header><main>",
        *sections,
        provenance_section(source, bar),
        "</main></div>",
    ]
    return document(title, body, data, SCRIPTS if "packed" in data else DRAWING_SCRIPTS)
