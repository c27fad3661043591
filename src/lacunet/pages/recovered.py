"""The page of a missingness graph: what can be recovered, by which formula, and why not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.verdict import Verdict
from lacunet.pages.kit import Tile, document, named, paragraph, section, tiles
from lacunet.pages.mathml import mathml
from lacunet.pages.provenance import Provenance, provenance_section
from lacunet.wording import counted


def page(graph: MissingnessGraph, verdicts: Sequence[Verdict], source: Provenance) -> str:
    """The verdicts on a graph, as one HTML text.

    Parameters
    ----------
    verdicts
        The answers to the queries, in the order in which they are shown.
    source
        What made the verdicts.
    """
    found = Counter(verdict.status for verdict in verdicts)
    facts = [
        Tile("category", graph.category()),
        Tile("mechanisms", f"{len(graph.causes):,}", "variables that may be missing"),
        *(Tile(status, f"{number:,}", "queries") for status, number in found.most_common()),
    ]
    title = f"{counted(len(verdicts), 'query', 'queries')} to a missingness graph"
    data = {
        "format": "lacunet page",
        "kind": "recovered",
        "category": graph.category(),
        "graph": str(graph),
        "verdicts": [
            {"query": v.query, "status": v.status, "why": v.why, "estimand": v.estimand}
            for v in verdicts
        ],
    }
    body = [
        f"<header><h1>{title}</h1>",
        tiles(facts),
        "</header><main>",
        section("graph", "The graph", f"<pre>{named(str(graph))}</pre>"),
        *(_verdict(number, verdict) for number, verdict in enumerate(verdicts)),
        provenance_section(source),
        "</main>",
    ]
    return document(title, body, data)


def _verdict(number: int, verdict: Verdict) -> str:
    formula = f'<div class="formula" tabindex="0">{mathml(verdict.latex)}</div>'
    return section(
        f"query-{number}",
        f"{verdict.query}: {verdict.status}",
        *([formula] if verdict.is_recoverable else []),
        *([paragraph(verdict.why)] if verdict.why else []),
    )
