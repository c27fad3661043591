"""A finished run as one HTML page that needs nothing from outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from html import escape
from typing import Any

from lacunet.figures.charts import Series, lines
from lacunet.figures.shapes import Picture
from lacunet.pages.kit import Cell, Tile, document, figure, paragraph, section, table, tiles
from lacunet.pages.provenance import SAVE, Provenance, provenance_section
from studies.paper.studies import Study, study_named
from studies.problems.learners import TITLES
from studies.report.figures import Drawing
from studies.report.figures import Line as Drawn
from studies.report.tables import LEGEND, MEASURES, Sheet
from studies.runner.outcomes import Outcome

DOWNLOADS = ("results.csv", "results.parquet", "table.md", "table.txt")
ACROSS = {"rows": "rows", "seconds": "mean learning time [s]"}
CAPTION = (
    "Line: the median over the learning problems; band: the quartiles; hollow diamond: what the "
    "paper printed, a mean. Point at a mark for its numbers."
)


def page(
    study: Study,
    made: Sequence[Sheet],
    drawn: Sequence[Drawing],
    outcomes: Sequence[Outcome],
    data: Mapping[str, Any],
    finished: datetime,
) -> str:
    """The page: what was run, its figures, its tables, and how to make it again.

    Parameters
    ----------
    made, drawn
        The tables and the figures.
    data
        The numbers of the run, plain; the page carries them.
    finished
        When the last result came.
    """
    source = _source(study, outcomes, finished)
    links = " · ".join(f'<a href="{name}">{name}</a>' for name in DOWNLOADS)
    charts = "".join(figure(_chart(one), one.title) for one in drawn)
    body = [
        f"<header><h1>{escape(study.title)}</h1>",
        tiles(_facts(study, outcomes)),
        *(paragraph(f"{setting.name}: {setting.words}.") for setting in study.settings),
        "</header><main>",
        section(
            "figures", "Figures", paragraph(CAPTION, "soft"), f'<div class="figures">{charts}</div>'
        ),
        *(
            section(f"table-{number}", sheet.title, _table(sheet))
            for number, sheet in enumerate(made)
        ),
        paragraph(LEGEND, "soft"),
        provenance_section(source, f"<p>In the folder of the run: {links}</p>", SAVE),
        "</main>",
    ]
    carried = {"format": "lacunet page", "kind": "experiment", **data, "provenance": asdict(source)}
    return document(study.title, body, carried, ("page.js",))


def command(study: Study, outcomes: Sequence[Outcome]) -> str:
    """The command line that gives these results: what differs from the study's own choices."""
    usual = study_named(study.name)
    sizes = sorted({one.rows for one in outcomes})
    at = {rows: max(one.repetition + 1 for one in outcomes if one.rows == rows) for rows in sizes}
    most = max(at.values())
    others = [f"{rows}:{number}" for rows, number in at.items() if number != most]
    as_usual = all(usual.repetitions_at.get(rows, usual.repetitions) == at[rows] for rows in sizes)
    parts = {
        "sizes": _other(usual.sizes, sizes),
        "repetitions": [] if as_usual else [most, *others],
        "limits": _other(usual.limits, [one.limit for one in outcomes]),
        "networks": _other([one.name for one in usual.networks], [one.network for one in outcomes]),
        "settings": _other([one.name for one in usual.settings], [one.setting for one in outcomes]),
        "methods": _other([one.name for one in usual.learners], [one.method for one in outcomes]),
        "seed": _other([usual.seed], [study.seed]),
        "test-rows": _other([usual.test_rows], [study.test_rows]),
    }
    words = [f"--{name} {','.join(map(_typed, own))}" for name, own in parts.items() if own]
    return " ".join(["python -m studies", study.name, *words])


def _other(usual: Sequence[Any], there: Sequence[Any]) -> list[Any]:
    """What is there, each once, unless it is what is usual."""
    found = list(dict.fromkeys(there))
    return [] if set(found) == set(usual) else found


def _typed(value: float | str | None) -> str:
    return "none" if value is None else f"{value:.9g}" if isinstance(value, float) else str(value)


def _source(study: Study, outcomes: Sequence[Outcome], finished: datetime) -> Provenance:
    pairs = dict.fromkeys((one.version, one.machine) for one in outcomes)
    return Provenance(
        command(study, outcomes),
        finished.isoformat(sep=" ", timespec="seconds"),
        study.seed,
        versions=tuple(pairs),
    )


def _facts(study: Study, outcomes: Sequence[Outcome]) -> list[Tile]:
    failed = sum(one.status != "ok" for one in outcomes)
    networks = dict.fromkeys(one.network for one in outcomes)
    problems = {(one.network, one.setting, one.rows, one.repetition) for one in outcomes}
    return [
        Tile("experiment", study.name, study.anchor),
        Tile("learning problems", f"{len(problems):,}", f"seed {study.seed}"),
        Tile("cells", f"{len(outcomes):,}", f"{failed:,} of them without a network"),
        Tile("networks", f"{len(networks):,}", ", ".join(networks)),
        Tile("learners", f"{len({one.method for one in outcomes}):,}"),
    ]


def _chart(drawing: Drawing) -> Picture:
    return lines(
        [_line(line) for line in drawing.lines],
        ACROSS[drawing.across],
        MEASURES[drawing.measure],
        log_x=True,
        log_y=drawing.measure == "divergence",
    )


def _line(line: Drawn) -> Series:
    title = TITLES[line.method]
    told = [
        f"{title}: median {one.median:.4g}, quartiles {one.quartiles[0]:.4g} and "
        f"{one.quartiles[1]:.4g}, mean {one.mean:.4g}, worst {one.worst:.4g}, n = {one.count}"
        for one in line.found
    ]
    counts = sorted({one.count for one in line.found})
    many = f"n = {counts[0]}" + (f" to {counts[-1]}" if len(counts) > 1 else "")
    return Series(
        f"{title} ({many})",
        line.across,
        [one.median for one in line.found],
        [one.quartiles[0] for one in line.found],
        [one.quartiles[1] for one in line.found],
        line.paper,
        told,
    )


def _table(sheet: Sheet) -> str:
    rows = [
        [Cell(text, kind="best") if "*" in text else text for text in row] for row in sheet.rows
    ]
    attributes = [' class="paper"' if "paper" in row[: sheet.left] else "" for row in sheet.rows]
    return table(sheet.header, rows, sheet.left, attributes=attributes)
