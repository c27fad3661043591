"""The page of a missingness graph: what can be recovered, by which formula, and why not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lacunet.missingness.identified.identified_sets import NARROW
from lacunet.missingness.independence.stratified import SIGNIFICANCE
from lacunet.missingness.refute.witness_text import other_states, two_models
from lacunet.show.pages.kit import (
    Tile,
    bullets,
    disclosure,
    isolated,
    paragraph,
    section,
    table,
)
from lacunet.show.pages.live_network import drawing, network_section, variables_as_data
from lacunet.show.pages.provenance import Provenance, report_page
from lacunet.show.verdicts.verdict_on_data import GraphReport, Implied, Reported
from lacunet.show.verdicts.verdict_text import (
    GENERIC,
    SHOWN_CELLS,
    TEST_HEADER,
    TWO_MODELS,
    answer_rows,
    caption_of,
    recovered_as_data,
    rests_on,
    tested_rows,
)
from lacunet.text import counted, sentence

FEW_QUERIES = 8  # queries: of more, each is folded


def page(report: GraphReport, source: Provenance) -> str:
    """What was asked of a graph, as one HTML text.

    Parameters
    ----------
    report
        Its answers are in the order in which they are shown.
    source
        What made it.
    """
    graph = report.graph
    implied = report.implied
    data = recovered_as_data(report)
    title = "What a missingness graph implies"
    if report.answers:
        title = f"{counted(len(report.answers), 'query', 'queries')} to a missingness graph"
    drawn = {
        **data,
        "variables": [
            {**fact, "partial": fact["name"] in graph.causes}
            for fact in variables_as_data(graph.network)
        ],
        **drawing(graph.network, graph),
        "opens_on": 0,
    }
    as_text = disclosure("as text", f"<pre>{isolated(str(graph))}</pre>")
    sections = [
        network_section(drawn, "The graph", after=as_text),
        *_groups(report.answers),
        "" if implied is None else _implications(implied),
    ]
    return report_page(
        "recovered", title, sections, drawn, source, words=graph.why(), facts=_tiles(report)
    )


def _tiles(report: GraphReport) -> list[Tile]:
    """The category of the graph, its mechanisms, and how many queries or tests came out how."""
    graph = report.graph
    implied = report.implied
    facts = [
        Tile("category", graph.category()),
        Tile("mechanisms", f"{len(graph.causes):,}", "one for each variable that may be missing"),
    ]
    if report.answers:
        standings = Counter(answer.verdict.standing for answer in report.answers)
        for standing, number in standings.most_common():
            facts.append(Tile(standing, f"{number:,}", "query" if number == 1 else "queries"))
    elif implied is not None:
        facts.append(Tile("testable implications", f"{len(implied.listed):,}"))
        if implied.tested is not None:
            refuted = sum(test.adjusted < SIGNIFICANCE for test in implied.tested)
            facts.append(Tile("refuted", f"{refuted:,}", "at 5%, after Holm"))
    return facts


def _implications(implied: Implied) -> str:
    """What a graph implies, as a section of a page."""
    listed, tested, silent = implied
    rows = [[str(implication)] for implication in listed] if tested is None else tested_rows(tested)
    header = ["implication"] if tested is None else TEST_HEADER
    never = ""
    if silent:
        never = f"<h3>Never testable by any data</h3>{bullets(map(isolated, silent))}"
    tests = table(header, rows, identifier="tests")
    return section("implications", "What the graph implies about data", tests, never)


def _groups(answers: Sequence[Reported]) -> list[str]:
    """A section for each verdict, what cannot be recovered first; in it the queries, folded."""
    texts_of: dict[str, list[str]] = {}
    for answer in answers:
        is_open = len(answers) <= FEW_QUERIES or not answer.verdict.is_recoverable
        query = f"<b>{isolated(answer.verdict.query)}</b>"
        text = disclosure(query, *_answer(answer), kind="query", is_open=is_open)
        texts_of.setdefault(answer.verdict.standing, []).append(text)
    order = sorted(texts_of, key=lambda standing: (standing == "recoverable", standing))
    return [
        section(
            standing.replace(",", "").replace(" ", "-"),
            f"{standing.capitalize()}: {len(texts_of[standing]):,} of {len(answers):,}",
            f'<div class="queries">{"".join(texts_of[standing])}</div>',
        )
        for standing in order
    ]


def _answer(answer: Reported) -> list[str]:
    """Why a query has its verdict, by which formula it is recovered, and what the data say."""
    verdict = answer.verdict
    estimate = answer.estimate
    network = answer.verdict.graph.network
    parts = [paragraph(verdict.why)]
    if verdict.is_recoverable:
        parts.append(f'<div class="formula" tabindex="0">{(estimate or verdict).mathml}</div>')
    parts.append(paragraph(GENERIC if answer.is_generic else ""))
    if answer.standing != verdict.standing:
        parts.append(paragraph(f"It is {answer.standing}."))
    if verdict.witness is not None:
        models = table(["", "model 1", "model 2"], two_models(verdict.witness, network))
        states = other_states(verdict.witness, network)
        more = paragraph(f"{sentence(states)}." if states else "", "soft")
        parts.append(disclosure(TWO_MODELS, models, more))
    parts.append(paragraph(answer.refusal))
    header, rows = answer_rows(answer)
    if rows:
        parts.append(paragraph("" if answer.bounds is None else f"{caption_of(answer)}:"))
        parts.append(table(header, rows[:SHOWN_CELLS], len(verdict.asked.names)))
        more_cells = len(rows) - SHOWN_CELLS
        if more_cells > 0:
            parts.append(paragraph(f"and {more_cells:,} more cells, in what can be saved"))
    if answer.is_narrow:
        parts.append(paragraph(f"The range of lowest and highest is {NARROW}.", "soft"))
    if estimate is not None:
        parts += [paragraph(text, "soft") for text in (rests_on(estimate), *estimate.warnings)]
    return parts
