"""The page of a missingness graph: what can be recovered, by which formula, and why not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.implications import Implication, TestedImplication
from lacunet.missingness.verdict import Estimation, Verdict
from lacunet.pages.disclosure import EVERYTHING, Disclosure
from lacunet.pages.kit import Tile, named, paragraph, section, table
from lacunet.pages.live import DRAWING_SCRIPTS, drawing, network_section
from lacunet.pages.provenance import Provenance, report_page
from lacunet.report.recovered.text import (
    LEVEL,
    SHOWN_CELLS,
    TEST_HEADER,
    estimate_rows,
    rests_on,
    tested_rows,
    two_models,
)
from lacunet.wording import counted

FEW = 8  # queries: of more, each is folded


def page(
    graph: MissingnessGraph,
    verdicts: Sequence[Verdict],
    estimates: Sequence[Estimation | str | None],
    data: Mapping[str, Any],
    source: Provenance,
    told: Disclosure = EVERYTHING,
) -> str:
    """The verdicts on a graph, as one HTML text.

    Parameters
    ----------
    verdicts
        The answers to the queries, in the order in which they are shown.
    estimates
        For each of them what the data say, or why they say nothing; None without data.
    data
        The same, plain; the page carries it.
    source
        What made the verdicts.
    told
        What may be told; ``estimates`` and ``data`` are told by it already.
    """
    found = Counter(verdict.status for verdict in verdicts)
    answers = [Tile(status, f"{number:,}", "queries") for status, number in found.most_common()]
    title = f"{counted(len(verdicts), 'query', 'queries')} to a missingness graph"
    groups = _groups(graph, verdicts, estimates, told)
    return _page(graph, title, answers, groups, data, told.without_hashes(source))


def implications_page(
    graph: MissingnessGraph,
    listed: Sequence[Implication],
    tested: Sequence[TestedImplication] | None,
    silent: Sequence[str],
    data: Mapping[str, Any],
    source: Provenance,
    told: Disclosure = EVERYTHING,
) -> str:
    """What a graph implies about the data and, where it was tested, what they answer."""
    refuted = [one for one in tested or () if one.adjusted < LEVEL]
    facts = [Tile("testable implications", f"{len(listed):,}")]
    facts += [] if tested is None else [Tile("refuted", f"{len(refuted):,}", "at 5%, after Holm")]
    rows = [[str(one)] for one in listed] if tested is None else tested_rows(tested)
    header = ["implication"] if tested is None else TEST_HEADER
    if tested is not None and told.is_limited:  # statistics could give counts away
        header = [header[0], header[-1]]
        rows = [[row[0], row[-1]] for row in rows]
    parts = [table(header, rows, identifier="tests")]
    if silent:
        items = "".join(f"<li>{named(text)}</li>" for text in silent)
        parts.append(f"<h3>Never testable by any data</h3><ul>{items}</ul>")
    title = "What a missingness graph implies"
    sections = [section("implications", "What the graph implies about data", *parts)]
    return _page(graph, title, facts, sections, data, told.without_hashes(source))


def _page(
    graph: MissingnessGraph,
    title: str,
    facts: Sequence[Tile],
    sections: Sequence[str],
    data: Mapping[str, Any],
    source: Provenance,
) -> str:
    place = {name: number for number, name in enumerate(graph.network.variables)}
    drawn = {
        **data,
        "variables": [
            {
                "name": name,
                "parents": [place[parent] for parent in graph.network.parents(name)],
                "partial": name in graph.causes,
            }
            for name in graph.network.variables
        ],
        **drawing(graph.network, graph),
        "has_rows": False,
        "live": None,
        "opens_on": 0,
    }
    about = [
        Tile("category", graph.category()),
        Tile("mechanisms", f"{len(graph.causes):,}", "variables that may be missing"),
        *facts,
    ]
    picture = network_section(
        drawn,
        "The graph",
        after=f"<details><summary>as text</summary><pre>{named(str(graph))}</pre></details>",
    )
    parts = [picture, *sections]
    why = graph.why()
    return report_page("recovered", title, about, parts, drawn, source, DRAWING_SCRIPTS, words=why)


def _groups(
    graph: MissingnessGraph,
    verdicts: Sequence[Verdict],
    estimates: Sequence[Estimation | str | None],
    told: Disclosure,
) -> list[str]:
    """A section for each verdict, what cannot be recovered first; in it the queries, folded."""
    found: dict[str, list[str]] = {}
    for verdict, estimate in zip(verdicts, estimates, strict=True):
        is_open = len(verdicts) <= FEW or not verdict.is_recoverable
        text = _verdict(graph, verdict, estimate, is_open, told)
        found.setdefault(verdict.status, []).append(text)
    order = sorted(found, key=lambda status: (status == "recoverable", status))
    return [
        section(
            status.replace(" ", "-"),
            f"{status.capitalize()}: {len(found[status]):,} of {len(verdicts):,}",
            f'<div class="queries">{"".join(found[status])}</div>',
        )
        for status in order
    ]


def _verdict(
    graph: MissingnessGraph,
    verdict: Verdict,
    found: Estimation | str | None,
    is_open: bool,
    told: Disclosure,
) -> str:
    chosen = found if isinstance(found, Estimation) else verdict
    parts = [paragraph(verdict.why)] if verdict.why else []
    if verdict.is_recoverable:
        parts.append(f'<div class="formula" tabindex="0">{chosen.mathml}</div>')
    if verdict.witness is not None:
        rows = two_models(verdict.witness)
        words = "Two models that give the same data and different answers"
        parts.append(
            f"<details><summary>{words}</summary>"
            f"{table(['', 'model 1', 'model 2'], rows)}</details>"
        )
    if isinstance(found, str):
        parts.append(paragraph(found))
    elif found is not None:
        header = [*found.given, *found.target, "P"]
        rows = estimate_rows(graph, found)
        parts.append(table(header, rows[:SHOWN_CELLS], len(header) - 1))
        more = len(rows) - SHOWN_CELLS
        parts += [paragraph(f"and {more:,} more cells, in what can be saved")] if more > 0 else []
        words = (
            f"Probabilities in steps of {told.min_count} rows; unseen or withheld below."
            if told.is_limited
            else rests_on(found)
        )
        parts += [paragraph(text, "soft") for text in (words, *found.warnings)]
    opened = " open" if is_open else ""
    summary = f"<summary><b>{named(verdict.query)}</b></summary>"
    return f'<details class="query"{opened}>{summary}{"".join(parts)}</details>'
