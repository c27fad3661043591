"""The parts of a page about data and method: what is missing, EM, the complete rows."""

from __future__ import annotations

import math

import numpy as np

from lacunet.counts.missing_values import MissingSummary
from lacunet.data.table import whole_rows
from lacunet.learning.alternatives import Alternatives
from lacunet.learning.plan import AGREEMENT, Ended, count_agreeing_starts
from lacunet.network.network import Network
from lacunet.show.figures.charts import Series, dumbbell, lines, patterns
from lacunet.show.pages.kit import (
    Markup,
    figure,
    isolated,
    panel_link,
    paragraph,
    section,
    table,
)
from lacunet.show.pages.numbers import ROWS_TO_COMPARE, Shift, largest_moves
from lacunet.text import assigned, conditional, counted

MOST_PATTERNS = 14
MOST_LINES = 24
MOST_PAIRS = 12
MOST_MOVES = 16


def missing_section(summary: MissingSummary) -> str:
    """Rates, the commonest patterns, and what goes missing together."""
    holes = int(np.count_nonzero(summary.missing_rows))
    if not holes:
        return section("missing", "What is missing", paragraph("No value is missing."))
    left_out = max(holes - MOST_LINES, 0)
    drawn = figure(patterns(summary, MOST_PATTERNS, MOST_LINES), _about_patterns(summary))
    return section(
        "missing",
        "What is missing",
        f'<div class="wide" tabindex="0">{drawn}</div>',
        paragraph(f"{counted(left_out, 'more variable')} not drawn." if left_out else ""),
        "<h3>Missing together</h3>",
        _pairs(summary),
    )


def _about_patterns(summary: MissingSummary) -> str:
    counts = summary.patterns
    shown = counts.rows[counts.commonest(MOST_PATTERNS)]
    rest = counts.number - len(shown)
    return (
        f"{counted(counts.number, 'pattern')} of missing values in "
        f"{counted(whole_rows(summary.rows), 'row')}; "
        f"{counted(int(summary.complete_rows), 'row')} without any. Each column is a pattern, a "
        f"filled disc a missing value; the {counted(len(shown), 'commonest pattern')} shown cover "
        f"{float(shown.sum() / summary.rows):.1%} of the rows"
        + (f", {counted(rest, 'other')} are not shown." if rest else ".")
    )


def _pairs(summary: MissingSummary) -> str:
    rows, missing = summary.rows, summary.missing_rows
    together = summary.missing_together
    expected = summary.expected_together
    phi = summary.phi
    partly = (missing > 0) & (missing < rows)
    lines_ = [
        [
            summary.variables[a],
            summary.variables[b],
            f"{together[a, b] / rows:.1%}",
            f"{expected[a, b] / rows:.1%}",
            f"{phi[a, b]:+.2f}",
        ]
        for a, b in summary.strongest_pairs(partly, MOST_PAIRS)
    ]
    if not lines_:
        return paragraph("No two variables are missing in a part of the rows.")
    note = "Both missing, beside what independent mechanisms would give; phi is their correlation."
    header = ["variable", "and", "both missing", "if independent", "phi"]
    return paragraph(note, "soft") + table(header, lines_, left=2)


def em_section(ended: Ended | None, *, has_learned_pseudo_counts: bool) -> str:
    """How an iterative method went; empty for a closed form."""
    if ended is None:
        return ""
    words = (
        f"EM stopped after {counted(ended.iterations, 'iteration')} and {ended.seconds:.2f} s: "
        f"{ended.reason}."
    )
    if math.isfinite(ended.log_likelihood):
        words += f" Log-likelihood {ended.log_likelihood:,.3f}."
    if len(ended.starts) > 1:
        words += (
            f" {counted(len(ended.starts), 'start')}: {count_agreeing_starts(ended.starts)} ended "
            f"within {AGREEMENT:g} nats of the best."
        )
    figures = _em_figures(ended, has_learned_pseudo_counts=has_learned_pseudo_counts)
    drawn = f'<div class="figures">{"".join(figures)}</div>'
    return section("em", "How EM went", paragraph(words), *map(paragraph, ended.notes), drawn)


def _em_figures(ended: Ended, *, has_learned_pseudo_counts: bool) -> list[str]:
    """The climb of EM, and where its starts ended if these are different optima."""
    figures = []
    if len(ended.trace) > 1:
        trace = Series("log-posterior", range(len(ended.trace)), ended.trace)
        last = len(ended.trace) - 1
        words = "The climb of EM on all rows."
        if has_learned_pseudo_counts and last < ended.iterations:
            before = "those before learned the pseudo-counts"
            words = f"The last {counted(last, 'iteration')} of EM; {before}."
        figures.append(figure(lines([trace], "iteration", "log-posterior"), words))
    best = max(ended.starts, default=0.0)
    if len(ended.starts) > 1 and min(ended.starts) < best - AGREEMENT:
        ends = [end - best for end in ended.starts]
        series = Series("", range(len(ends)), ends, is_joined=False)
        picture = lines([series], "start", "log-posterior, from the best [nats]")
        words = "Where each start ended; start 0 is the one that is always made."
        figures.append(figure(picture, words))
    return figures


def alternatives_section(alternatives: Alternatives | None) -> str:
    """Numbers of latent states side by side; empty where none were given."""
    if alternatives is None:
        return ""
    shown = alternatives.table
    return section(
        "alternatives",
        "Numbers of latent states",
        *map(paragraph, filter(None, [alternatives.sentence])),
        table(shown.header, shown.rows, left=len(alternatives.fits[0].numbers)),
    )


def complete_section(network: Network, summary: MissingSummary) -> str:
    """Which entries of the CPTs differ most from what complete rows say."""
    title = "Complete rows against the result"
    if summary.complete_rows == summary.rows:
        return section("complete", title, paragraph("Every row is complete: nothing can move."))
    moves = largest_moves(network, summary, True, MOST_MOVES)
    among = "rows without any missing value"
    if not moves:
        moves = largest_moves(network, summary, False, MOST_MOVES)
        among = "rows that show the whole family (too few rows have no missing value at all)"
    if not moves:
        words = "Too few rows show whole families: there is nothing to compare with."
        return section("complete", title, paragraph(words))
    words = (
        f"The entries that differ most from their plain share among the {among}. Only parent "
        f"configurations that at least {ROWS_TO_COMPARE} of these rows show are "
        "compared. A large move is where learning from complete rows alone would have misled."
    )
    body = [
        [
            panel_link(network.variables.index(move.variable), _entry(network, move)),
            f"{move.complete:.3f}",
            f"{move.learned:.3f}",
            Markup(dumbbell(move.complete, move.learned).markup()),
            f"{move.learned - move.complete:+.3f}",
            f"{move.errors:.1f}",
            f"{move.rows:,.0f}",
        ]
        for move in moves
    ]
    header = ["entry", "these rows", "result", "from, to", "move", "standard errors", "rows"]
    return section("complete", title, paragraph(words), table(header, body))


def _entry(network: Network, move: Shift) -> str:
    *given, entry = map(isolated, map(assigned, network.family(move.variable), move.states))
    return conditional(entry, given)
