"""A finished run as one HTML page that needs nothing from outside."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from lacunet.experiments.paper.studies import Study
from lacunet.experiments.report.tables import LEGEND, Sheet
from lacunet.experiments.runner.outcomes import Outcome

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem;
  color: #222; background: #fff; }
table { border-collapse: collapse; margin: .5rem 0 1.5rem; font-size: .85rem; }
.wide { overflow-x: auto; }
th, td { padding: .15rem .6rem; text-align: right; white-space: nowrap; }
th { border-bottom: 1px solid #999; }
th.label, td.label { text-align: left; }
tr.paper td { color: #777; border-bottom: 1px solid #eee; }
td.best { font-weight: 600; }
figure { display: inline-block; margin: 0 1rem 1rem 0; }
svg { max-width: 100%; height: auto; }
footer, .legend { color: #666; font-size: .85rem; }
"""


def page(
    study: Study, made: Sequence[Sheet], pictures: Sequence[str], outcomes: Sequence[Outcome]
) -> str:
    """The page: what was run, its tables, its figures, and on what it was run."""
    title = escape(study.title)
    parts = [
        "<!DOCTYPE html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
        f"<style>{STYLE}</style></head><body>",
        f"<h1>{title}</h1>",
        f"<p>{escape(_summary(study, outcomes))}</p>",
        *(f"<p>{escape(setting.name)}: {escape(setting.words)}.</p>" for setting in study.settings),
        *(f"<figure>{picture}</figure>" for picture in pictures),
        *map(_table, made),
        f'<p class="legend">{escape(LEGEND)}</p>',
        f"<footer>{_made_on(outcomes)}</footer>",
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _summary(study: Study, outcomes: Sequence[Outcome]) -> str:
    failed = sum(one.status != "ok" for one in outcomes)
    return (
        f"Experiment {study.name} ({study.anchor}). {len(outcomes):,} cells, "
        f"{failed:,} of them without a network."
    )


def _table(sheet: Sheet) -> str:
    head = "".join(_cell("th", text, at < sheet.left) for at, text in enumerate(sheet.header))
    body = "\n".join(_row(row, sheet.left) for row in sheet.rows)
    return (
        f'<h2>{escape(sheet.title)}</h2>\n<div class="wide"><table>'
        f"<tr>{head}</tr>\n{body}</table></div>"
    )


def _row(row: Sequence[str], left: int) -> str:
    kind = ' class="paper"' if "paper" in row[:left] else ""
    cells = "".join(_cell("td", text, at < left) for at, text in enumerate(row))
    return f"<tr{kind}>{cells}</tr>"


def _cell(tag: str, text: str, is_label: bool) -> str:
    kind = ' class="label"' if is_label else ' class="best"' if "*" in text else ""
    return f"<{tag}{kind}>{escape(text)}</{tag}>"


def _made_on(outcomes: Sequence[Outcome]) -> str:
    pairs = dict.fromkeys((one.version, one.machine) for one in outcomes)
    return "<br>".join(escape(f"{version}; {machine}") for version, machine in pairs)
