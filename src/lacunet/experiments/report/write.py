"""Everything that is written about a run: tidy results, tables, figures, a page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from math import isnan
from pathlib import Path
from typing import Any

from lacunet.experiments.errors import ExperimentError
from lacunet.experiments.paper.studies import Study
from lacunet.experiments.report.contest import contest_sheet
from lacunet.experiments.report.figures import can_draw, drawings, picture, write_pictures
from lacunet.experiments.report.page import page
from lacunet.experiments.report.summary import summarise
from lacunet.experiments.report.tables import as_markdown, as_text, sheets
from lacunet.experiments.runner.journal import read_journal
from lacunet.experiments.runner.outcomes import Outcome, write_tidy


@dataclass(frozen=True)
class Written:
    """The tables as text, the means as data, and the files that hold it all."""

    text: str
    data: dict[str, Any]
    files: tuple[Path, ...]


def report(study: Study, folder: Path) -> Written:
    """Write the results of a folder in every form; figures only if matplotlib is there."""
    outcomes = list(read_journal(folder).values())
    if not outcomes:
        raise ExperimentError.no_results(folder)
    made = [*sheets(study, outcomes), *contest_sheet(study, outcomes)]
    text = f"{study.title}\n\n{as_text(made)}"
    pictures = [picture(one) for one in drawings(study, outcomes)] if can_draw() else []
    written = {
        folder / "table.txt": text,
        folder / "table.md": as_markdown(made),
        folder / "index.html": page(study, made, [one.svg for one in pictures], outcomes),
    }
    for path, content in written.items():
        path.write_text(content.rstrip() + "\n", encoding="utf-8")
    files = (*written, *write_tidy(outcomes, folder), *write_pictures(pictures, folder))
    return Written(text, as_data(study, outcomes), files)


def as_data(study: Study, outcomes: Iterable[Outcome]) -> dict[str, Any]:
    """The means of all measures in plain lists and dictionaries."""
    kept = list(outcomes)
    means = []
    for measure in study.measures:
        for group, mean in summarise(kept, measure).items():
            network, setting, limit, rows, method = group
            place = {"network": network, "setting": setting, "limit": limit, "rows": rows}
            number = None if mean is None else asdict(mean)
            if number and isnan(number["standard_error"]):
                number["standard_error"] = None
            means.append({**place, "method": method, "measure": measure, "mean": number})
    return {"experiment": study.name, "title": study.title, "cells": len(kept), "means": means}
