"""The catalogue of bundled networks as a table."""

from __future__ import annotations

from collections.abc import Sequence

from lacunet.networks.catalogue import Entry
from lacunet.report.text_table import text_table


def catalogue_as_text(entries: Sequence[Entry]) -> str:
    """One line for each network; the source is left without alignment, it comes last."""
    header = ["network", "variables", "edges", "parameters", "largest in-degree"]
    rows = [
        [
            entry.name,
            f"{entry.variables:,}",
            f"{entry.edges:,}",
            f"{entry.parameters:,}",
            f"{entry.largest_in_degree}",
        ]
        for entry in entries
    ]
    sizes = text_table(header, rows).splitlines()
    sources = ["source", *(entry.source for entry in entries)]
    width = max(map(len, sizes))
    return "\n".join(
        f"{size.ljust(width)}  {source}" for size, source in zip(sizes, sources, strict=True)
    )
