"""The page of a learned network: what it rests on, where it is weak, and what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from html import escape
from typing import Any

from lacunet.counts.missing_values import MissingSummary
from lacunet.learning.family_reports import FamilyReport
from lacunet.learning.portable_intervals import portable
from lacunet.learning.pseudo_counts import PseudoCounts
from lacunet.learning.result import Result
from lacunet.missingness.graph import MissingnessGraph
from lacunet.show.pages.kit import (
    NETWORK_SAVES,
    Markup,
    Tile,
    bullets,
    disclosure,
    isolated,
    missing_tile,
    panel_link,
    paragraph,
    save_bar,
    section,
    table,
    tiles,
)
from lacunet.show.pages.live_network import (
    cliques_size,
    network_section,
    page_content,
    shape_as_data,
    variables_as_data,
    why_not_live,
)
from lacunet.show.pages.numbers import Behind, pack_portable, pack_texts, rows_behind
from lacunet.show.pages.provenance import UNKNOWN, Provenance, report_page
from lacunet.show.plain_values import plain_attributes
from lacunet.show.results.page_sections import (
    alternatives_section,
    complete_section,
    em_section,
    missing_section,
)
from lacunet.show.results.result_text import pseudo_counts_in_words
from lacunet.text import counted

SHOWN_WARNINGS = 12
MAX_CELLS_FOR_MARGINALS = 200_000  # of all cliques: their intervals would take long beyond


def page(
    result: Result,
    summary: MissingSummary | None = None,
    source: Provenance = UNKNOWN,
    *,
    level: float | None = None,
    missingness: MissingnessGraph | None = None,
) -> str:
    """The page of a result, as one HTML text.

    Parameters
    ----------
    summary
        What the data that were learned from do not show, with the counts of families in what
        they do; without it the page does not say what is missing together, nor what complete
        rows say.
    source
        What made the result.
    level
        The level of the intervals, where the result has any.
    missingness
        How values go missing; its mechanisms are drawn.
    """
    network = result.network
    weakest_first = _trouble(result)
    facts = _facts(result, level)
    data = {
        **plain_attributes(result, "method why rows notes"),
        "weight": result.total,
        "pseudo_counts": _pseudo_counts(result),
        "ended": None if result.ended is None else asdict(result.ended),
        "opens_on": weakest_first[0],
        "variables": facts,
        "level": level,
        **page_content(
            network,
            _behind(result, level),
            graph=missingness,
            file=source.learned or "LEARNED.json",
        ),
        "formulas": pack_texts([result.families[v].mathml for v in network.variables]),
    }
    sections = [
        network_section(data, why_not_live=why_not_live(network)),
        section(
            "learned",
            "How it was learned",
            paragraph(_chosen(result, level)),
            tiles(_tiles(result, summary, weakest_first[0])),
            _warnings(result),
        ),
        _families_section(weakest_first, facts),
        alternatives_section(result.alternatives),
        "" if summary is None else missing_section(summary),
        em_section(
            result.ended, has_learned_pseudo_counts=isinstance(result.pseudo_counts, PseudoCounts)
        ),
        "" if summary is None else complete_section(network, summary),
    ]
    learned = f"{counted(len(network.heads), 'CPT')} by {result.method}"
    return report_page(
        "learned",
        f"{learned} from {counted(result.rows, 'row')}",
        sections,
        data,
        source,
        words=_in_short(result),
        ending=_ending(data),
    )


def _behind(result: Result, level: float | None) -> Behind:
    """What is behind the CPTs: rows, and intervals where the result has any."""
    network = result.network
    rows = {name: rows_behind(result.families[name]) for name in network.variables}
    if level is None or result.uncertainty is None:
        return Behind(rows)
    intervals = {name: result.interval(name, level) for name in network.variables}
    if cliques_size(network) > MAX_CELLS_FOR_MARGINALS:
        return Behind(rows, intervals)
    marginals = {}
    for name in network.variables:
        spread = result.uncertainty.query(name, {}, {}, network.support, network.bootstrap)
        marginals[name] = spread.interval(level)
    uncertainty = None
    carried = portable(result.uncertainty, network)
    if carried is not None:
        uncertainty = pack_portable(carried, network, level)
    return Behind(rows, intervals, marginals, uncertainty)


def _pseudo_counts(result: Result) -> float | None:
    """The pseudo-counts where they are one number and count against rows, not against weights."""
    if isinstance(result.pseudo_counts, PseudoCounts) or result.total != result.rows:
        return None
    return float(result.pseudo_counts)


def _trouble(result: Result) -> list[int]:
    """The places of the variables, of tied ones the first, whose CPT rests on least first.

    First by the share of parent configurations that no row shows and of what fell back, then
    by the effective size, or the rows shown where it is not known.
    """
    names = result.network.variables
    heads = {*result.network.heads}

    def trouble(index: int) -> tuple[float, float]:
        report = result.families[names[index]]
        lost = report.unsupported / report.support.size + report.fallback_mass
        return -lost, report.effective_size or report.rows_shown

    return sorted((k for k, name in enumerate(names) if name in heads), key=trouble)


def _facts(result: Result, level: float | None) -> list[dict[str, Any]]:
    """What the page says of each variable, in the network's order."""
    facts = variables_as_data(result.network)
    for fact in facts:
        report = result.families[fact["name"]]
        fact |= {
            "missing": result.missing[fact["name"]] / result.rows if result.rows else 0.0,
            "unsupported": report.unsupported,
            "configurations": report.support.size,
        }
        known = plain_attributes(report, "rows_shown fallback_mass fallback warnings")
        fact.update(known, effective=report.effective_size)
        if level and fact["name"] in result.network.shaped_of:
            fact["shape"] = shape_as_data(result.parameters(fact["name"], level))
    return facts


def _in_short(result: Result) -> Markup:
    """One sentence: what was missing, what is assumed of that, and whether there are warnings."""
    cells = max(result.rows * len(result.missing), 1)
    share = sum(result.missing.values()) / cells
    words = "No value was missing"
    if share:
        words = f"{share:.1%} of the values were missing"
    if result.assumption:
        words += f"; it is assumed that {result.assumption}"
    if not (number := len(_remarks(result))):
        return Markup(f"{escape(words)}.")
    link = f'<a href="#learned">{counted(number, "warning or note", "warnings and notes")}</a>'
    return Markup(f"{escape(words)}; there {'is' if number == 1 else 'are'} {link}.")


def _chosen(result: Result, level: float | None) -> str:
    """The method, why it was chosen, what it assumes, and where intervals come from."""
    why = result.why.rstrip(".")
    words = f"Learned by {result.method}{': ' if why else ''}{why}."
    if result.assumption not in why:
        words += f" It assumes that {result.assumption}."
    if level is not None and result.uncertainty is not None:
        words += f" {result.uncertainty.words(level)}."
    return words


def _tiles(result: Result, summary: MissingSummary | None, weakest: int) -> list[Tile]:
    """The rows, what they miss, the weakest CPT, and whether there are warnings."""
    counts = [*result.missing.values()]  # of missing cells, by variable
    share = sum(counts) / max(result.rows * len(counts), 1)
    partially = sum(count > 0 for count in counts)
    weight = pseudo_counts_in_words(result)
    if result.total != result.rows:
        weight = f"worth {result.total:,.0f} of equal weight"
    facts = [
        Tile("rows", f"{result.rows:,}", weight),
        missing_tile(share, partially, len(counts)),
    ]
    if summary is not None:
        facts.append(Tile("complete rows", f"{summary.complete_rows:,.0f}", "show every variable"))
    name = result.network.variables[weakest]
    link = panel_link(weakest, isolated(name))
    facts.append(Tile("weakest CPT", link, _weakness(result.families[name])))
    if result.warnings:
        facts.append(Tile("warnings", f"{len(result.warnings):,}", "listed below"))
    else:
        facts.append(Tile("warnings", "none"))
    return facts


def _weakness(report: FamilyReport) -> str:
    """Why a CPT is taken for the weakest, by what put it there."""
    size = report.support.size
    if report.unsupported / size > report.fallback_mass:
        return f"no row for {report.unsupported:,} of {counted(size, 'parent configuration')}"
    if report.fallback_mass > 0:
        return f"{report.fallback_mass:.0%} of the rows fell back"
    shown = report.effective_size or report.rows_shown
    kind = "rows that show its family:"
    if report.effective_size:
        kind = "an effective size of"
    return f"{kind} {shown:,.0f}"


def _warnings(result: Result) -> str:
    """The warnings and notes, folded where they are many."""
    if not result.warnings:
        return ""
    items = _remarks(result)
    words = counted(len(items), "warning or note", "warnings and notes")
    return disclosure(words, bullets(items), is_open=len(items) <= SHOWN_WARNINGS)


def _remarks(result: Result) -> list[str]:
    """Notes on the whole, then the warnings of each CPT, as markup."""
    return [isolated(text) for text in result.notes] + [
        f"{panel_link(result.network.variables.index(name), isolated(name))}: {isolated(text)}"
        for name in result.network.heads
        for text in result.families[name].warnings
    ]


def _families_section(places: list[int], facts: list[dict[str, Any]]) -> str:
    """What each CPT rests on, as a table; ``places`` are the variables in its order."""
    words = {
        "missing": "",
        "rows shown": "Rows shown: rows in which the variable and its parents are all observed. ",
        "effective": "Effective: the number of complete rows that would give the same variance, "
        "where known. ",
        "fell back": "Fell back: share of the rows' weight whose group had no data of its own. ",
        "without a row": "Without a row: parent configurations that no row shows with the "
        "variable; there positivity fails.",
    }
    rows = []
    for index in places:
        fact = facts[index]
        size = fact["effective"]
        rows.append(
            [
                panel_link(index, _of_group(fact)),
                f"{fact['missing']:.1%}",
                f"{fact['rows_shown']:,}",
                "–" if size is None else f"{size:,.0f}",
                f"{fact['fallback_mass']:.1%}",
                f"{fact['unsupported']:,} of {fact['configurations']:,}",
            ]
        )
    order_words = (
        "The CPT that rests on least first: by the share of parent configurations without a row "
        "and of what fell back, then by effective size. "
    )
    text = order_words + "".join(words.values())
    attributes = [f' data-place="{index}"' for index in places]
    families = table(["variable", *words], rows, identifier="families", attributes=attributes)
    return section("trouble", "What each CPT rests on", paragraph(text, "soft"), families)


def _of_group(fact: Mapping[str, Any]) -> str:
    """A variable, and the last of those that share its CPT."""
    tied = fact.get("tied")
    return isolated(fact["name"]) + (f" to {isolated(tied['last'])}" if tied else "")


def _ending(data: Mapping[str, Any]) -> list[str]:
    """What the page holds of the CPTs, and what can be saved from it."""
    words = "The page holds the CPTs in full, and what is saved from it does too."
    if (digits := data["digits"]) is not None:
        words = f"The page holds probabilities to {digits} decimals; what is saved does too."
    saves = {**NETWORK_SAVES, "save-report": "save this report (JSON)"}
    return [paragraph(words, "soft"), save_bar(saves)]
