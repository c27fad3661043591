"""The page on the paper and this program: a template whose marks are filled from finished runs.

A mark is ``{{STUDY: KIND MORE}}`` on a line of its own, where KIND is one of

- ``facts``: command, seed, numbers of problems, revision, machine;
- ``table NAME``: the sheets whose names begin so;
- ``figure NAME``: the figure, with its caption; its files are copied beside the page;
- ``tallies METHOD``: wins, ties and losses of a method against the paper's best;
- ``agreement``: how many means of closed forms agree with the paper's.

``{{legend}}`` says what the signs in the tables mean, ``{{left_out}}`` what the schedule has and
the runs do not; ``{{example}}`` is the appendix example. A mark whose study has no results says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path

from lacunet.wording import counted
from studies.paper.appendix import appendix_as_text, appendix_example
from studies.paper.schedule import SCHEDULE
from studies.paper.studies import Study, study_named
from studies.report.contest import contest_tallies
from studies.report.figures import Drawing, drawings, pdfs, svg
from studies.report.provenance import facts
from studies.report.tables import LEGEND, Sheet, as_markdown, escaped, power
from studies.report.write import all_sheets
from studies.runner.journal import kept_study, read_journal, replace_file
from studies.runner.outcomes import Outcome, outcome_of

MARK = re.compile(r"^\{\{(?P<study>[\w-]+)(?:: (?P<kind>\w+) ?(?P<more>\S*))?\}\}$", re.MULTILINE)
COMMAND = "python -m studies all --grid grid-90-20-1.bif.gz"
NOT_RUN = "*Not run at this revision.*"


@dataclass(frozen=True)
class Finished:
    """A study with its outcomes, and what is made of them once."""

    study: Study
    outcomes: Sequence[Outcome]

    @cached_property
    def sheets(self) -> list[Sheet]:
        """Every table."""
        return all_sheets(self.study, self.outcomes)

    @cached_property
    def drawings(self) -> dict[str, Drawing]:
        """Every figure by its name."""
        return {one.name: one for one in drawings(self.study, self.outcomes)}


def write_page(runs: Path, page: Path) -> list[str]:
    """Fill the template from the folders of runs, and write the page and its figures.

    Returns
    -------
    The marks that nothing was found for.
    """
    finished: dict[str, Finished | None] = {}
    missing: list[str] = []

    def filled(mark: re.Match[str]) -> str:
        name, kind = mark["study"], mark["kind"]
        if kind is None:
            return PLAIN[name](runs)
        if name not in finished:
            finished[name] = _finished(name, runs / name)
        found = finished[name]
        text = _part(found, kind, mark["more"], page) if found is not None else ""
        if not text:
            missing.append(mark[0])
        return text or NOT_RUN

    template = (files("studies.report") / "side_by_side.md").read_text(encoding="utf-8")
    replace_file(page, MARK.sub(filled, template).encode())
    return missing


def _finished(name: str, folder: Path) -> Finished | None:
    outcomes = list(read_journal(folder).values())
    return Finished(kept_study(study_named(name), folder), outcomes) if outcomes else None


def _part(found: Finished, kind: str, more: str, page: Path) -> str:
    """What stands in the place of a mark; nothing if it is not there."""
    if kind == "facts":
        return facts(found.study, found.outcomes, COMMAND)
    if kind == "table":
        return as_markdown([one for one in found.sheets if one.name.startswith(more)])
    if kind == "figure":
        return _figure(found, more, page)
    if kind == "tallies":
        return " ".join(contest_tallies(found.study, found.outcomes, more))
    assert kind == "agreement", kind
    return _agreement(found.sheets)


def _figure(found: Finished, name: str, page: Path) -> str:
    drawing = found.drawings.get(name)
    if drawing is None:
        return ""
    folder = page.parent / "figures"
    folder.mkdir(exist_ok=True)
    stem = f"{found.study.name}-{name}"
    for ending, content in {".svg": svg(drawing), **pdfs(drawing)}.items():
        replace_file(folder / f"{stem}{ending}", content)
    links = f"([PDF](figures/{stem}.pdf), [dark](figures/{stem}-dark.pdf))"
    return f"![{drawing.caption}](figures/{stem}.svg)\n\n*{drawing.caption}* {links}"


def _agreement(made: Sequence[Sheet]) -> str:
    sheet = next((one for one in made if one.name == "agreement"), None)
    if sheet is None:
        return ""
    agree, all_of_them = (sum(int(row[at]) for row in sheet.rows) for at in (3, 4))
    total = f"{agree} of {counted(all_of_them, 'mean')} agree within two standard errors of ours."
    return f"{as_markdown([sheet])}\n\n{total}"


def left_out(runs: Path) -> str:
    """What the schedule has and the runs do not, in a table; a sentence if that is nothing."""
    problems: dict[tuple[str, str, str, int], set[tuple[str, int]]] = {}
    for name in dict.fromkeys(study.name for study in SCHEDULE):
        there = {_place(one) for one in read_journal(runs / name).values()}
        for cell in (cell for study in SCHEDULE if study.name == name for cell in study.cells):
            place = _place(outcome_of(cell, "ok", {}))
            if place not in there:
                network, setting, rows, repetition, method, _ = place
                lacking = problems.setdefault((name, network, method, rows), set())
                lacking.add((setting, repetition))
    if not problems:
        return "Nothing."
    lines = [
        (name, network, method, power(rows), f"{len(lacking)}")
        for (name, network, method, rows), lacking in sorted(problems.items())
    ]
    header = ("study", "network", "method", "rows", "problems not run within every limit")
    return as_markdown([Sheet("left-out", "Left out", header, tuple(lines), 3)])


def _place(one: Outcome) -> tuple[str, str, int, int, str, float | None]:
    network = one.network.removesuffix("-like")  # the paper's grid or one like it
    return network, one.setting, one.rows, one.repetition, one.method, one.limit


PLAIN: dict[str, Callable[[Path], str]] = {
    "legend": lambda _: escaped(LEGEND),
    "example": lambda _: f"```text\n{appendix_as_text(appendix_example())}\n```",
    "left_out": left_out,
}
