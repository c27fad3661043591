"""A finished run as one HTML page that needs nothing from outside."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from lacunet.experiments.paper.studies import Study
from lacunet.experiments.report.tables import LEGEND, Sheet
from lacunet.experiments.runner.outcomes import Outcome
from lacunet.pages.kit import Cell, Tile, document, paragraph, section, table, tiles

DOWNLOADS = ("results.csv", "results.parquet", "table.md", "table.txt")


def page(
    study: Study, made: Sequence[Sheet], pictures: Sequence[str], outcomes: Sequence[Outcome]
) -> str:
    """The page: what was run, its tables, its figures, and on what it was run."""
    settings = [f"{setting.name}: {setting.words}." for setting in study.settings]
    links = " · ".join(f'<a href="{name}">{name}</a>' for name in DOWNLOADS)
    body = [
        f"<header><h1>{escape(study.title)}</h1>",
        tiles(_facts(study, outcomes)),
        *map(paragraph, settings),
        "</header><main>",
        f'<div class="figures">{"".join(f"<figure>{one}</figure>" for one in pictures)}</div>',
        *(
            section(f"table-{number}", sheet.title, _table(sheet))
            for number, sheet in enumerate(made)
        ),
        paragraph(LEGEND, "soft"),
        section("provenance", "Where this page comes from", _made_on(outcomes), f"<p>{links}</p>"),
        "</main>",
    ]
    return document(study.title, body, has_foreign_pictures=bool(pictures))


def _facts(study: Study, outcomes: Sequence[Outcome]) -> list[Tile]:
    failed = sum(one.status != "ok" for one in outcomes)
    networks = dict.fromkeys(one.network for one in outcomes)
    return [
        Tile("experiment", study.name, study.anchor),
        Tile("cells", f"{len(outcomes):,}", f"{failed:,} of them without a network"),
        Tile("networks", f"{len(networks):,}", ", ".join(networks)),
        Tile("learners", f"{len({one.method for one in outcomes}):,}"),
    ]


def _table(sheet: Sheet) -> str:
    rows = [
        [Cell(text, kind="best") if "*" in text else text for text in row] for row in sheet.rows
    ]
    attributes = [' class="paper"' if "paper" in row[: sheet.left] else "" for row in sheet.rows]
    return table(sheet.header, rows, sheet.left, attributes=attributes)


def _made_on(outcomes: Sequence[Outcome]) -> str:
    pairs = dict.fromkeys((one.version, one.machine) for one in outcomes)
    return "".join(paragraph(f"{version}; {machine}") for version, machine in pairs)
