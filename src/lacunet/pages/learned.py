"""The page of a learned network: what it rests on, where it is weak, and what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import EncodedTable
from lacunet.estimate.learn import Result
from lacunet.estimate.method import FamilyReport
from lacunet.missingness.graph import MissingnessGraph
from lacunet.model.network import Network
from lacunet.pages.disclosure import Disclosure, rows_behind
from lacunet.pages.kit import Cell, Tile, document, named, paragraph, section, table, tiles
from lacunet.pages.live import (
    SCRIPTS,
    Behind,
    carried,
    cliques_size,
    is_carried_in_full,
    network_section,
)
from lacunet.pages.numbers import pack_texts
from lacunet.pages.provenance import UNKNOWN, Provenance, provenance_section
from lacunet.pages.sections import complete_section, em_section, missing_section
from lacunet.statistics.missing import MissingSummary, missing_summary
from lacunet.wording import counted

SHOWN_WARNINGS = 12
MOST_SURE = 200_000  # cells of all cliques: beyond, intervals of the marginals would take long


def page(
    result: Result,
    seen: EncodedTable | MissingSummary | None = None,
    source: Provenance = UNKNOWN,
    *,
    level: float | None = None,
    min_count: int = 0,
    missingness: MissingnessGraph | None = None,
) -> str:
    """The page of a result, as one HTML text.

    Parameters
    ----------
    seen
        The data that were learned from, or their summary; without them the page does not say
        what is missing together, nor what complete rows say.
    source
        What made the result.
    level
        The level of the intervals, where the result has any.
    min_count
        Numbers that would tell a count of fewer rows than this are withheld. The page is not
        live then: beliefs would tell what the withheld rows of CPTs are.
    missingness
        How values go missing; its mechanisms are drawn.
    """
    network = result.network
    if min_count > 1:  # whoever has all rows but a few could try what hashes to the same
        source = replace(source, files=tuple((name, "") for name, _ in source.files))
    summary = missing_summary(seen, network.families) if isinstance(seen, EncodedTable) else seen
    told = Disclosure(min_count)
    withheld = {v: told.withheld(result.families[v].counts) for v in network.variables}
    behind = _behind(result, level, withheld, told)
    order = _trouble(result)
    facts = _facts(result, told)
    place = {name: number for number, name in enumerate(network.variables)}
    drawn = carried(
        _rounded(result, told),
        behind,
        graph=missingness,
        file=source.network or "NETWORK",
        digits=3 if min_count > 1 else None,
    )
    data = {
        "format": "lacunet page",
        "kind": "learned",
        "method": result.method,
        "why": "" if told.is_limited else result.why,
        "rows": result.rows,
        "weight": result.total,
        "prior": _prior(result),
        "notes": [] if told.is_limited else list(result.notes),
        "ended": None if result.ended is None or told.is_limited else asdict(result.ended),
        "provenance": asdict(source),
        "min_count": min_count,
        "withheld": int(sum(gone.sum() for gone in withheld.values())),
        "opens_on": place[order[0]],
        "variables": facts,
        "level": level,
        **drawn,
        "formulas": pack_texts([result.families[v].mathml for v in network.variables]),
    }
    body = [
        '<a class="skip" href="#panel">to the chosen variable</a><header>',
        f"<h1>{_title(result, source)}</h1>",
        paragraph(_chosen(result, told), "soft"),
        tiles(_tiles(result, summary, order[0], told)),
        _warnings(result, told),
        "</header><main>",
        network_section(data, why_not_live=_why_not_live(result, told)),
        _families_section(order, place, facts, told),
        *([] if summary is None else [missing_section(summary, told)]),
        em_section(result.ended, told),
        *([] if summary is None else [complete_section(network, summary, told)]),
        _provenance(source, data),
        "</main>",
    ]
    title = f"{counted(len(network.variables), 'CPT')} by {result.method}"
    return document(f"{source.subject}: {title}" if source.subject else title, body, data, SCRIPTS)


def _behind(
    result: Result,
    level: float | None,
    withheld: Mapping[str, NDArray[np.bool_]],
    told: Disclosure,
) -> Behind:
    """What is behind the CPTs, as far as it may be told."""
    names = result.network.variables
    rows = {name: rows_behind(result.families[name]) for name in names}
    intervals = marginals = None
    if level is not None and result.uncertainty is not None:
        intervals = {v: told.interval(result.interval(v, level), rows[v]) for v in names}
        if not told.is_limited and cliques_size(result.network) <= MOST_SURE:
            marginals = {v: result.uncertainty.query(v).interval(level) for v in names}
    counts = {name: np.nan_to_num(told.counts(own), nan=-1.0) for name, own in rows.items()}
    return Behind(counts, withheld if told.is_limited else None, intervals, marginals)


def _rounded(result: Result, told: Disclosure) -> Network:
    """The network with its CPTs as they may be told; rows then sum to about one."""
    network = result.network
    if not told.is_limited:
        return network
    tables = {
        name: told.probability(network.cpt(name).table, rows_behind(result.families[name]))
        for name in network.variables
    }
    sums = {name: table.sum(axis=-1, keepdims=True) for name, table in tables.items()}
    rounded = network.with_tables({name: table / sums[name] for name, table in tables.items()})
    return rounded.with_support(network.support)


def _why_not_live(result: Result, told: Disclosure) -> str:
    if told.is_limited:
        return (
            "No beliefs here: with --min-count they would tell what the withheld numbers are. "
            "Counts are rounded to multiples of "
            f"{told.min_count}, probabilities to as many rows; smaller counts are withheld."
        )
    if not is_carried_in_full(result.network):
        return (
            "No beliefs here: the CPTs are too large to carry in full. Ask the learned network "
            "with `lacunet query`."
        )
    return ""


def _prior(result: Result) -> float | None:
    """The prior where it is one number and weighs against rows, not against weights."""
    is_number = isinstance(result.prior, (int, float))
    return float(result.prior) if is_number and result.total == result.rows else None


def _trouble(result: Result) -> list[str]:
    """The variables, the one whose CPT rests on least first.

    First by the share of parent configurations that no row shows and of what fell back, then
    by the effective size, or the rows shown where it is not known.
    """

    def trouble(name: str) -> tuple[float, float]:
        report = result.families[name]
        return -_lost(report), report.effective_size or report.rows_shown

    return sorted(result.network.variables, key=trouble)


def _lost(report: FamilyReport) -> float:
    return report.unsupported / report.support.size + report.fallback_mass


def _facts(result: Result, told: Disclosure) -> list[dict[str, Any]]:
    """What the page says of each variable, in the network's order."""
    place = {name: number for number, name in enumerate(result.network.variables)}
    facts = []
    for name in result.network.variables:
        report = result.families[name]
        shown = told.count(report.rows_shown)
        size = report.effective_size
        facts.append(
            {
                "name": name,
                "states": list(result.network.states(name)),
                "parents": [place[parent] for parent in report.parents],
                "missing": told.share(result.missing[name], result.rows),
                "rows_shown": shown,
                "effective": None if size is None or shown is None else told.count(size),
                "fallback_mass": told.share(report.fallback_mass * result.rows, result.rows),
                "fallback": report.fallback,
                "unsupported": report.unsupported,
                "warnings": [] if told.is_limited else list(report.warnings),
            }
        )
    return facts


def _title(result: Result, source: Provenance) -> str:
    cpts = counted(len(result.network.variables), "CPT")
    rows = counted(result.rows, "row")
    where = f"{named(source.data)}, {rows}" if source.data else rows
    of = f"{named(source.network)}: " if source.network else ""
    return f"{of}{cpts} from {where}"


def _chosen(result: Result, told: Disclosure) -> str:
    """The method, and why it was chosen; a sentence, whatever its length."""
    why = "" if told.is_limited else result.why.rstrip(".")
    return f"Learned by {result.method}{': ' if why else ''}{why}."


def _tiles(
    result: Result, summary: MissingSummary | None, weakest: str, told: Disclosure
) -> list[Tile]:
    missing = told.share(sum(result.missing.values()), result.rows * len(result.missing))
    partially = sum(count > 0 for count in result.missing.values())
    weight = "" if result.total == result.rows else f"weight {result.total:,.6g}"
    prior = _prior(result)
    rounded = f"rounded to {told.min_count}s" if told.is_limited else ""
    facts = [
        Tile("rows", f"{result.rows:,}", weight or ("" if prior is None else f"prior {prior:g}")),
        Tile(
            "missing",
            "–" if missing is None else f"{missing:.1%}",
            f"of the values, in {partially} of {counted(len(result.missing), 'variable')}",
        ),
    ]
    if summary is not None:
        complete = told.count(summary.complete_rows)
        text = f"fewer than {told.min_count}" if complete is None else f"{complete:,.0f}"
        facts.append(Tile("complete rows", text, rounded or "show every variable"))
    place = result.network.variables.index(weakest)
    link = f'<a href="#panel" data-choose="{place}">{named(weakest)}</a>'
    facts.append(Tile("weakest CPT", "", _weakness(result.families[weakest], told), link))
    warnings = 0 if told.is_limited else len(result.warnings)
    facts.append(
        Tile(
            "warnings", f"{warnings:,}" if warnings else "none", "listed below" if warnings else ""
        )
    )
    return facts


def _weakness(report: FamilyReport, told: Disclosure) -> str:
    """Why a CPT is taken for the weakest, by what put it there."""
    size = report.support.size
    if report.unsupported / size > report.fallback_mass:
        return f"no row for {report.unsupported:,} of {counted(size, 'parent configuration')}"
    if report.fallback_mass > 0:
        return f"{report.fallback_mass:.0%} of the rows fell back"
    shown = told.count(report.effective_size or report.rows_shown)
    if shown is None:
        return f"fewer than {told.min_count} rows show its family"
    kind = "an effective size of" if report.effective_size else "rows that show its family:"
    return f"{kind} {shown:,.0f}"


def _warnings(result: Result, told: Disclosure) -> str:
    if told.is_limited or not (result.warnings or result.notes):
        return ""
    place = {name: number for number, name in enumerate(result.network.variables)}
    items = [
        f'<li><a href="#panel" data-choose="{place[name]}">{named(name)}</a>: {named(text)}</li>'
        for name, report in result.families.items()
        for text in report.warnings
    ]
    items = [*(f"<li>{named(text)}</li>" for text in result.notes), *items]
    opened = " open" if len(items) <= SHOWN_WARNINGS else ""
    return (
        f"<details{opened}><summary>{counted(len(items), 'warning or note', 'warnings and notes')}"
        f"</summary><ul>{''.join(items)}</ul></details>"
    )


def _families_section(
    order: list[str], place: Mapping[str, int], facts: list[dict[str, Any]], told: Disclosure
) -> str:
    def number(value: float | None) -> Cell:
        if value is None:
            return Cell(f"< {told.min_count}", value=0)
        return Cell(f"{value:,.0f}", value=value)

    def share(value: float | None) -> Cell:
        return Cell("few" if value is None else f"{value:.1%}", value=value or 0.0)

    rows = []
    for name in order:
        fact = facts[place[name]]
        link = f'<a href="#panel" data-choose="{place[name]}">{named(name)}</a>'
        rows.append(
            [
                Cell(markup=link, kind="label"),
                share(fact["missing"]),
                number(fact["rows_shown"]),
                Cell("–", value=0.0) if fact["effective"] is None else number(fact["effective"]),
                share(fact["fallback_mass"]),
                Cell(f"{fact['unsupported']:,}", value=fact["unsupported"]),
            ]
        )
    header = ["variable", "missing", "rows shown", "effective", "fell back", "without a row"]
    words = (
        "The CPT that rests on least first: by the share of parent configurations without a row "
        "and of what fell back, then by effective size. Rows shown: rows in which the variable "
        "and its parents are all observed. Effective: the number of complete rows that would give "
        "the same variance, where known. Without a row: parent configurations that no row shows "
        "with the variable; there positivity fails."
    )
    attributes = [f' data-place="{place[name]}"' for name in order]
    return section(
        "trouble",
        "What each CPT rests on",
        paragraph(words, "soft"),
        table(header, rows, identifier="families", attributes=attributes),
    )


def _provenance(source: Provenance, data: Mapping[str, Any]) -> str:
    buttons = (
        '<div class="bar scripted" hidden><button type="button" id="save-network">save the network'
        ' (JSON)</button><button type="button" id="save-cpts">save all CPTs (CSV)</button>'
        '<button type="button" id="save-report">save this report (JSON)</button></div>'
    )
    words = (
        "The page holds the CPTs in full, and what is saved from it does too."
        if data["digits"] is None
        else f"The page holds probabilities to {data['digits']} decimals; what is saved does too."
    )
    if data["min_count"] > 1:
        words += (
            f" Counts are rounded to multiples of {data['min_count']} and withheld below it, with "
            f"the {counted(data['withheld'], 'CPT row')} that would tell one; probabilities are "
            f"rounded to as many of the rows that they rest on."
        )
    return provenance_section(source, paragraph(words, "soft"), buttons)
