"""Everything that is written about a run: tidy results, tables, figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from lacunet.text import counted, finite
from studies.errors import StudyError
from studies.paper.studies import Study
from studies.problems.learners import learners_named
from studies.report.contest import agreement_sheet, contest_sheet
from studies.report.figures import can_draw, drawings, svg
from studies.report.provenance import facts
from studies.report.summary import by_group, summary
from studies.report.tables import LEGEND, Sheet, as_markdown, as_text, escaped, sheets
from studies.runner.journal import read_journal, replace_file
from studies.runner.outcomes import Outcome, tidy


@dataclass(frozen=True)
class Written:
    """The tables as text, the numbers as data, what failed, and the files that hold it all."""

    text: str
    data: dict[str, Any]
    failures: tuple[str, ...]
    is_empty: bool
    files: tuple[Path, ...]


def all_sheets(study: Study, outcomes: Sequence[Outcome]) -> list[Sheet]:
    """Every table of a study."""
    there = {one.method for one in outcomes}
    champions = [name for name in ("auto", "default") if name in there]
    return [
        *sheets(study, outcomes),
        *(sheet for name in champions for sheet in contest_sheet(study, outcomes, name)),
        *agreement_sheet(study, outcomes),
    ]


def report(study: Study, folder: Path) -> Written:
    """Write the results of a folder in every form; figures only if matplotlib is there."""
    from pyarrow import csv, parquet

    outcomes = list(read_journal(folder).values())
    if not outcomes:
        raise StudyError.no_results(folder)
    learners_named([one.method for one in outcomes], study.finds)  # refuses unknown methods
    made, about = all_sheets(study, outcomes), facts(study, outcomes)
    text = f"{study.title}\n{about}\n\n{as_text(made)}"
    texts = {
        "table.txt": text,
        "table.md": f"{about}\n\n{as_markdown(made)}\n\n{escaped(LEGEND)}",
    }
    contents = {name: f"{content.rstrip()}\n".encode() for name, content in texts.items()}
    for write, name in ((parquet.write_table, "results.parquet"), (csv.write_csv, "results.csv")):
        buffer = BytesIO()
        write(tidy(outcomes), buffer)
        contents[name] = buffer.getvalue()
    for drawing in drawings(study, outcomes) if can_draw() else ():
        contents[f"figure-{drawing.name}.svg"] = svg(drawing)
    for name, content in contents.items():
        replace_file(folder / name, content)
    return Written(
        text=text,
        data=as_data(study, outcomes),
        failures=failures(outcomes),
        is_empty=all(one.status != "ok" for one in outcomes),
        files=tuple(folder / name for name in contents),
    )


def failures(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """Why cells gave no network, each cause once, the most frequent first."""
    counts: dict[tuple[str, str], int] = {}
    for one in outcomes:
        if one.status != "ok":
            cause = (one.status, one.message)
            counts[cause] = counts.get(cause, 0) + 1
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return tuple(
        f"{counted(number, 'cell')} {status}: {message}" for (status, message), number in ordered
    )


def as_data(study: Study, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The summaries of all measures in plain lists and dictionaries."""
    found = []
    for measure in study.measures:
        for (network, setting, limit, rows, method), draws in by_group(outcomes).items():
            one = summary(draws, measure)
            place = {"network": network, "setting": setting, "limit": limit, "rows": rows}
            number = None if one is None else {"value": one.mean, **asdict(one)}
            found.append({**place, "method": method, "measure": measure, "mean": finite(number)})
    return {
        "experiment": study.name,
        "title": study.title,
        "seed": study.seed,
        "cells": len(outcomes),
        "means": found,
    }
