"""The page of a diagnosis: what is missing, on what that depends, and what it permits."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

from lacunet.ask.diagnose.at_random_tests import MissingTest
from lacunet.ask.diagnose.diagnosis import FLUX, Diagnosis, methods_as_text
from lacunet.counts.missing_values import MissingSummary
from lacunet.missingness.independence.stratified import SIGNIFICANCE
from lacunet.show.figures.charts import dumbbell
from lacunet.show.pages.kit import (
    Markup,
    Tile,
    bullets,
    isolated,
    missing_tile,
    paragraph,
    section,
    table,
)
from lacunet.show.pages.provenance import Provenance, report_page
from lacunet.show.results.page_sections import missing_section
from lacunet.text import assigned, counted

MOST_TESTS = 40
NOTHING_FOUND = "Nothing was found."
SMALLEST_PRINTED_P = 1e-16

Parts = tuple[list[Tile], list[str], dict[str, Any]]  # facts, sections and data of a page


def page(diagnosis: Diagnosis, summary: MissingSummary, source: Provenance) -> str:
    """The diagnosis of data, as one HTML text.

    Parameters
    ----------
    summary
        The patterns of missing values in the same data.
    source
        What made the diagnosis.
    """
    title = f"What is missing from {counted(diagnosis.patterns.rows, 'row')}"
    facts, sections, data = _whole(diagnosis, summary)
    return report_page("diagnosed", title, sections, data, source, facts=facts)


def _whole(diagnosis: Diagnosis, summary: MissingSummary) -> Parts:
    """Everything."""
    methods = methods_as_text(diagnosis.patterns, diagnosis.grounds)
    sections = [
        section("conclusions", "In words", bullets(map(isolated, diagnosis.conclusions))),
        missing_section(summary),
        _variables(diagnosis),
        _tests(
            "mcar",
            "Are values missing completely at random?",
            "Whether a value is shown, against each variable that is itself shown; adjusted for "
            "the number of tests (Holm). The ring is how often the variable is missing under the "
            "state where it is missing least often, the disc where most often.",
            diagnosis.mcar,
        ),
        _tests(
            "mar",
            "Are they always missing at random?",
            "The same against variables that are missing at times, given those always shown on "
            "which the mechanism seems to depend. That a value hides itself no test can see.",
            diagnosis.mar,
        ),
        _never(diagnosis),
        section("grounds", "What methods would rest on", f"<pre>{isolated(methods)}</pre>"),
    ]
    return _facts(diagnosis), sections, diagnosis.as_data()


def _facts(diagnosis: Diagnosis) -> list[Tile]:
    described = diagnosis.patterns
    share = described.missing_cells / max(described.cells, 1)
    partially = sum(rate > 0 for rate in described.rate_of.values())
    against = sum(test.adjusted < SIGNIFICANCE for test in diagnosis.mcar)
    shape = "monotone" if described.is_monotone else "not monotone"
    return [
        Tile("rows", f"{described.rows:,}"),
        missing_tile(share, partially, len(described.rate_of)),
        Tile("complete rows", f"{described.complete_rows:,}", "show every variable"),
        Tile("patterns", f"{described.number:,}", shape),
        Tile("against MCAR", f"{against:,}", f"of {counted(len(diagnosis.mcar), 'test')} at 5%"),
        Tile(
            "positivity", f"{len(diagnosis.positivity):,}", "states under which one is never shown"
        ),
    ]


def _variables(diagnosis: Diagnosis) -> str:
    described = diagnosis.patterns
    fallback = diagnosis.grounds.fallback_of
    rows = [
        [
            name,
            f"{rate:.1%}",
            f"{described.family_rows[name]:,}",
            f"{fallback.get(name, 0.0):.1%}",
            f"{described.influx_of[name]:.2f}",
            f"{described.outflux_of[name]:.2f}",
        ]
        for name, rate in sorted(described.rate_of.items(), key=lambda pair: -pair[1])
    ]
    words = (
        "Family shown: rows that show the variable with all its parents. In empty groups: rows "
        f"whose group (by the variables that are always shown) never shows the family; {FLUX}"
    )
    header = ["variable", "missing", "family shown", "in empty groups", "influx", "outflux"]
    listed = table(header, rows, identifier="variables-table")
    return section("variables", "Variable by variable", paragraph(words, "soft"), listed)


def _tests(identifier: str, title: str, words: str, tests: Sequence[MissingTest]) -> str:
    """Tests of one kind as a section of the page, the clearest first."""
    if not tests:
        return section(identifier, title, paragraph("Nothing here can be tested."))
    rows = [
        [
            test.missing,
            test.cause,
            ", ".join(test.given),
            f"{test.adjusted:.2g}" if test.adjusted >= SMALLEST_PRINTED_P else "< 1e-16",
            f"{test.effect:.2f}",
            f"{test.rates[1]:.0%} at {test.lowest}",
            Markup(dumbbell(*reversed(test.rates)).markup() if isfinite(sum(test.rates)) else ""),
            f"{test.rates[0]:.0%} at {test.highest}",
            f"{test.rows:,.0f}",
        ]
        for test in tests[:MOST_TESTS]
    ]
    header = ["missing", "depends on", "given", "p (Holm)", "V"]
    header += ["least often", "from, to", "most often"]
    refuted = sum(test.adjusted < SIGNIFICANCE for test in tests)
    more = len(tests) - MOST_TESTS
    return section(
        identifier,
        title,
        paragraph(f"{refuted:,} of {counted(len(tests), 'test')} say no at 5%."),
        paragraph(words, "soft"),
        table([*header, "rows"], rows, 3, f"{identifier}-tests"),
        paragraph(f"and {more:,} more, in what can be saved" if more > 0 else "", "soft"),
    )


def _never(diagnosis: Diagnosis) -> str:
    title = "Where positivity fails"
    if not diagnosis.positivity:
        return section("positivity", title, paragraph("Every variable is shown under every state."))
    rows = [
        [gap.missing, assigned(gap.cause, gap.state), f"{gap.rows:,}"]
        for gap in diagnosis.positivity[:MOST_TESTS]
    ]
    return section("positivity", title, table(["never shown", "under", "rows"], rows, 2))
