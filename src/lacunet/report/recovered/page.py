"""The page of a missingness graph: what can be recovered, by which formula, and why not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from lacunet.data.table import EncodedTable
from lacunet.missingness.identified.sets import NARROW
from lacunet.missingness.refute.printed import other_states, two_models
from lacunet.pages.disclosure import Disclosure, disclosed_estimation
from lacunet.pages.kit import Tile, bullets, folded, named, paragraph, section, table
from lacunet.pages.live import drawing, network_section, variables_as_data
from lacunet.pages.provenance import Provenance, report_page
from lacunet.report.recovered.reported import GraphReport, Implied, Reported
from lacunet.report.recovered.text import (
    GENERIC,
    LEVEL,
    SHOWN_CELLS,
    TEST_HEADER,
    TWO_MODELS,
    caption_of,
    cells_of,
    recovered_as_data,
    rests_on,
    tested_rows,
)
from lacunet.wording import counted, sentence

FEW = 8  # queries: of more, each is folded


def page(
    report: GraphReport, source: Provenance, rows: EncodedTable | None = None, min_count: int = 0
) -> str:
    """What was asked of a graph, as one HTML text.

    Parameters
    ----------
    report
        Its answers are in the order in which they are shown.
    source
        What made it.
    rows
        The data that were asked, if there are any.
    min_count
        Numbers that would tell a count of fewer rows than this are withheld.
    """
    disclosure = Disclosure(min_count, 0 if rows is None else rows.row_count)
    if rows is not None and disclosure.is_limited:
        answers = [_limited(answer, rows, disclosure) for answer in report.answers]
        report = replace(report, answers=answers)
    graph, implied = report.graph, report.implied
    data = recovered_as_data(report)
    if implied is not None and disclosure.is_limited:
        data["tested"] = None
    title = "What a missingness graph implies"
    facts = [
        Tile("category", graph.category()),
        Tile("mechanisms", f"{len(graph.causes):,}", "one for each variable that may be missing"),
    ]
    if report.answers:
        title = f"{counted(len(report.answers), 'query', 'queries')} to a missingness graph"
        standings = Counter(answer.verdict.standing for answer in report.answers)
        facts += [
            Tile(standing, f"{number:,}", "query" if number == 1 else "queries")
            for standing, number in standings.most_common()
        ]
    elif implied is not None:
        facts.append(Tile("testable implications", f"{len(implied.listed):,}"))
        if implied.tested is not None:
            refuted = sum(test.adjusted < LEVEL for test in implied.tested)
            facts.append(Tile("refuted", f"{refuted:,}", "at 5%, after Holm"))
    drawn = {
        **data,
        "variables": [
            {**fact, "partial": fact["name"] in graph.causes}
            for fact in variables_as_data(graph.network)
        ],
        **drawing(graph.network, graph),
        "opens_on": 0,
    }
    as_text = folded("as text", f"<pre>{named(str(graph))}</pre>")
    sections = [
        network_section(drawn, "The graph", after=as_text),
        *_groups(report.answers, disclosure),
        "" if implied is None else _implications(implied, disclosure),
    ]
    source = disclosure.without_hashes(source)
    words = graph.why()
    return report_page("recovered", title, sections, drawn, source, words=words, facts=facts)


def _limited(answer: Reported, rows: EncodedTable, disclosure: Disclosure) -> Reported:
    """An answer as it may be told."""
    estimate = answer.estimate and disclosed_estimation(answer.estimate, rows, disclosure)
    return replace(answer, estimate=estimate, interval=None, bounds=None, assumptions=None)


def _implications(implied: Implied, disclosure: Disclosure) -> str:
    """What a graph implies, as a section of a page."""
    listed, tested, silent = implied
    rows = [[str(implication)] for implication in listed] if tested is None else tested_rows(tested)
    header = ["implication"] if tested is None else TEST_HEADER
    if tested is not None and disclosure.is_limited:  # statistics could give counts away
        header = [header[0], header[-1]]
        rows = [[row[0], row[-1]] for row in rows]
    never = f"<h3>Never testable by any data</h3>{bullets(map(named, silent))}" if silent else ""
    tests = table(header, rows, identifier="tests")
    return section("implications", "What the graph implies about data", tests, never)


def _groups(answers: Sequence[Reported], disclosure: Disclosure) -> list[str]:
    """A section for each verdict, what cannot be recovered first; in it the queries, folded."""
    texts_of: dict[str, list[str]] = {}
    for answer in answers:
        is_open = len(answers) <= FEW or not answer.verdict.is_recoverable
        query = f"<b>{named(answer.verdict.query)}</b>"
        text = folded(query, *_answer(answer, disclosure), kind="query", is_open=is_open)
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


def _answer(answer: Reported, disclosure: Disclosure) -> list[str]:
    """Why a query has its verdict, by which formula it is recovered, and what the data say."""
    verdict, estimate, network = answer.verdict, answer.estimate, answer.verdict.graph.network
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
        parts.append(folded(TWO_MODELS, models, more))
    parts.append(paragraph(answer.refusal))
    header, rows = cells_of(answer)
    if rows:
        more_cells = len(rows) - SHOWN_CELLS
        parts += [
            paragraph("" if answer.bounds is None else f"{caption_of(answer)}:"),
            table(header, rows[:SHOWN_CELLS], len(verdict.asked.names)),
            paragraph(f"and {more_cells:,} more cells, in what can be saved" * (more_cells > 0)),
        ]
    if answer.is_narrow:
        parts.append(paragraph(f"The range of lowest and highest is {NARROW}.", "soft"))
    if estimate is not None:
        words = rests_on(estimate)
        if disclosure.is_limited:
            words = (
                f"Probabilities in steps of {disclosure.min_count} rows; unseen or withheld below."
            )
        parts += [paragraph(text, "soft") for text in (words, *estimate.warnings)]
    return parts
