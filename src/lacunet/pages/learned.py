"""The page of a learned network: what it rests on, where it is weak, and how it was made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from lacunet.data.table import EncodedTable
from lacunet.estimate.learn import Result
from lacunet.missingness.graph import MissingnessGraph
from lacunet.model.network import FloatArray, Network
from lacunet.pages.kit import Cell, Tile, document, named, paragraph, section, table, tiles
from lacunet.pages.mathml import mathml
from lacunet.pages.numbers import pack, pack_texts, told, withheld_rows
from lacunet.pages.provenance import Provenance, provenance_section
from lacunet.pages.recovered import drawn_mechanisms
from lacunet.pages.sections import complete_section, em_section, missing_section
from lacunet.statistics.missing import MissingSummary, missing_summary
from lacunet.wording import counted

SHOWN_WARNINGS = 12
SCRIPTS = ("sorting.js", "page.js", "dagre.min.js", "learned.js")


def page(
    result: Result,
    seen: EncodedTable | MissingSummary,
    source: Provenance,
    min_count: int = 0,
    *,
    intervals: Mapping[str, FloatArray] | None = None,
    level: float | None = None,
    missingness: MissingnessGraph | None = None,
) -> str:
    """The page of a result, as one HTML text.

    Parameters
    ----------
    seen
        The data that were learned from, or their summary.
    source
        What made the result.
    min_count
        Numbers that would tell a count of fewer rows than this are withheld.
    intervals
        For each variable the axes of its CPT, then low and high.
    level
        The level of the intervals, for the legend.
    missingness
        How values go missing; its mechanisms are drawn.
    """
    network = result.network
    summary = missing_summary(seen, network.families) if isinstance(seen, EncodedTable) else seen
    withheld = withheld_rows(network, summary, min_count)
    support = {name: result.families[name].support for name in network.variables}
    packed = pack(network, support, withheld, intervals)
    order = _trouble(result)
    facts = _facts(result, summary, min_count)
    place = {name: number for number, name in enumerate(network.variables)}
    data = {
        "format": "lacunet page",
        "kind": "learned",
        "method": result.method,
        "why": result.why,
        "rows": result.rows,
        "weight": result.total,
        "prior": result.prior,
        "notes": list(result.notes),
        "ended": None if result.ended is None else asdict(result.ended),
        "provenance": asdict(source),
        "min_count": min_count,
        "withheld": int(sum(gone.sum() for gone in withheld.values())),
        "weakest": place[order[0]],
        "variables": facts,
        **drawn_mechanisms(missingness, place),
        "has_intervals": intervals is not None,
        "level": level,
        "digits": packed.digits,
        "packed": packed.text,
        "formulas": pack_texts([mathml(result.families[v].latex) for v in network.variables]),
    }
    body = [
        '<a class="skip" href="#panel">to the chosen variable</a><header>',
        f"<h1>{_title(result)}</h1>",
        tiles(_verdict(result, summary, order, place, min_count)),
        _warnings(result),
        "</header><main>",
        _network_section(result.network, bool(missingness)),
        _families_section(order, place, facts, min_count),
        missing_section(summary, min_count),
        em_section(result.ended),
        complete_section(network, summary, min_count),
        _provenance(source, packed.digits, min_count, data["withheld"]),
        "</main>",
    ]
    title = f"{counted(len(network.variables), 'CPT')} by {result.method}"
    return document(title, body, data, SCRIPTS)


def _trouble(result: Result) -> list[str]:
    """The variables, the one whose CPT rests on least first.

    First by the share of parent configurations that no row shows and of what fell back, then
    by the effective size, or the rows shown where it is not known.
    """

    def trouble(name: str) -> tuple[float, float]:
        report = result.families[name]
        lost = report.unsupported / report.support.size + report.fallback_mass
        return -lost, report.effective_size or report.rows_shown

    return sorted(result.network.variables, key=trouble)


def _facts(result: Result, summary: MissingSummary, min_count: int) -> list[dict[str, Any]]:
    """What the page says of each variable, in the network's order."""
    place = {name: number for number, name in enumerate(result.network.variables)}
    missing = dict(zip(summary.variables, summary.missing_rows, strict=True))
    facts = []
    for name in result.network.variables:
        report = result.families[name]
        gone = told(float(missing[name]), result.rows, min_count)
        shown = told(report.rows_shown, result.rows, min_count)
        facts.append(
            {
                "name": name,
                "states": list(result.network.states(name)),
                "parents": [place[parent] for parent in report.parents],
                "missing": None if gone is None else gone / result.rows,
                "rows_shown": shown,
                "effective": report.effective_size if shown is not None else None,
                "fallback_mass": report.fallback_mass,
                "fallback": report.fallback,
                "unsupported": report.unsupported,
                "warnings": list(report.warnings),
            }
        )
    return facts


def _title(result: Result) -> str:
    return (
        f"{counted(len(result.network.variables), 'CPT')} by {named(result.method)} from "
        f"{counted(result.rows, 'row')}"
    )


def _verdict(
    result: Result,
    summary: MissingSummary,
    order: list[str],
    place: Mapping[str, int],
    min_count: int,
) -> list[Tile]:
    holes = float(summary.missing_rows.sum())
    cells = result.rows * len(summary.variables)
    complete = told(summary.complete_rows, result.rows, min_count)
    partially = int((summary.missing_rows > 0).sum())
    weakest = result.families[order[0]]
    shown = told(weakest.rows_shown, result.rows, min_count)
    weight = "" if result.total == result.rows else f"weight {result.total:,.6g}"
    return [
        Tile("method", result.method, result.why),
        Tile("rows", f"{result.rows:,}", weight or f"prior {result.prior:g}"),
        Tile(
            "missing",
            f"{holes / cells:.1%}" if cells else "-",
            f"of the values, in {partially} of {counted(len(summary.variables), 'variable')}",
        ),
        Tile(
            "complete rows",
            f"fewer than {min_count}" if complete is None else f"{int(complete):,}",
            "show every variable",
        ),
        Tile(
            "weakest CPT",
            "",
            "few rows show its family"
            if shown is None
            else f"shown whole by {counted(int(shown), 'row')}",
            f'<a href="#panel" data-choose="{place[order[0]]}">{named(order[0])}</a>',
        ),
        Tile("warnings", f"{len(result.warnings):,}", "listed below" if result.warnings else ""),
    ]


def _warnings(result: Result) -> str:
    if not (result.warnings or result.notes):
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


def _network_section(network: Network, has_mechanisms: bool) -> str:
    legend = (
        '<p class="soft">Shade: share missing <span class="scale"></span> 0 to 100%. Ring: '
        "effective size over rows. ! marks a warning."
        + (" Dashed: mechanisms of missing values." if has_mechanisms else "")
        + " Arrow keys walk along the network, Enter opens the table.</p>"
    )
    hatched = (
        '<p class="soft"><span class="swatch hatched"></span> no row shows this configuration of '
        "the parents with the variable: the numbers rest on the prior or on the rest of the "
        "network alone.</p>"
    )
    return section(
        "network",
        "The network",
        '<noscript><p class="scriptless">Drawings and CPTs need scripts; the tables below do '
        "not.</p></noscript>",
        '<div class="scripted" hidden><div class="bar"><label>find a variable '
        '<input id="find" list="names" autocomplete="off"></label><datalist id="names"></datalist>'
        '<button type="button" id="larger" aria-label="larger">+</button>'
        '<button type="button" id="smaller" aria-label="smaller">−</button>'
        '<button type="button" id="fit">fit</button>'
        '<button type="button" id="whole" hidden>whole network</button></div>',
        '<div class="look"><div><p class="soft name" id="view" role="status"></p>'
        '<div id="drawing"></div><div id="overview" hidden></div>'
        f"{legend}</div>"
        f'<div><div id="panel" tabindex="-1" aria-live="polite"></div>{hatched}</div></div></div>',
        f'<p class="soft">{counted(len(network.variables), "variable")}, '
        f"{counted(sum(map(len, network.parents_of.values())), 'edge')}.</p>",
    )


def _families_section(
    order: list[str], place: Mapping[str, int], facts: list[dict[str, Any]], min_count: int
) -> str:
    def number(value: float | None) -> Cell:
        if value is None:
            return Cell(f"< {min_count}", value=0)
        return Cell(f"{value:,.0f}", value=value)

    rows = []
    for name in order:
        fact = facts[place[name]]
        gone = fact["missing"]
        link = f'<a href="#panel" data-choose="{place[name]}">{named(name)}</a>'
        rows.append(
            [
                Cell(markup=link, kind="label"),
                Cell("few" if gone is None else f"{gone:.1%}", value=gone or 0.0),
                number(fact["rows_shown"]),
                Cell("–", value=0.0) if fact["effective"] is None else number(fact["effective"]),
                Cell(f"{fact['fallback_mass']:.1%}", value=fact["fallback_mass"]),
                number(fact["unsupported"]),
            ]
        )
    header = ["variable", "missing", "rows shown", "effective", "fell back", "without a row"]
    words = (
        "The CPT that rests on least first. Rows shown: rows in which the variable and its parents "
        "are all observed. Effective: the number of complete rows that would give the same "
        "variance, where known. Without a row: parent configurations that no row "
        "shows with the variable; there positivity fails."
    )
    attributes = [f' data-variable="{place[name]}"' for name in order]
    return section(
        "trouble",
        "What each CPT rests on",
        paragraph(words, "soft"),
        table(header, rows, identifier="families", attributes=attributes),
    )


def _provenance(source: Provenance, digits: int, min_count: int, withheld: int) -> str:
    buttons = (
        '<div class="bar scripted" hidden><button type="button" id="save-network">save the network'
        ' (JSON)</button><button type="button" id="save-cpts">save all CPTs (CSV)</button>'
        '<button type="button" id="save-report">save this report (JSON)</button></div>'
    )
    words = f"The page holds probabilities to {digits} decimals; what is saved from it does too."
    if min_count > 1:
        words += (
            f" Counts below {min_count} rows and the {counted(withheld, 'CPT row')} that would "
            "tell one are withheld; what can be worked out from several numbers together is not "
            "checked."
        )
    return provenance_section(source, paragraph(words, "soft"), buttons)
