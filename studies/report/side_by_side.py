"""The page on the paper and this program: a template whose marks are filled from finished runs.

A mark is ``{{STUDY: KIND MORE}}`` on a line of its own, where KIND is one of

- ``facts``: command, seed, numbers of problems, revision, machine; how much of the schedule was
  run, and why cells gave no network;
- ``left_out``: what the schedule has and the run does not, in a table;
- ``table NAME``: the sheets whose names begin so;
- ``figure NAME``: the figure, with its caption; its files are copied beside the page;
- ``tallies METHOD``: wins, ties and losses of a method against the paper's best;
- ``agreement``: how many means of closed forms agree with the paper's.

``{{legend}}`` says what the signs in the tables mean, ``{{schedule}}`` how much of the schedule
was run; ``{{example}}`` is the appendix example. A mark whose study has no results says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path

from lacunet.text import counted
from studies.paper.appendix import appendix_as_text, appendix_example
from studies.paper.schedule import SCHEDULE
from studies.paper.studies import Study, study_named
from studies.report.contest import SAME_NETWORKS, contest_tallies
from studies.report.figures import Drawing, drawings, pdfs, svg
from studies.report.provenance import facts
from studies.report.tables import LEGEND, Sheet, as_markdown, escaped, power
from studies.report.write import all_sheets, failures
from studies.runner.journal import kept_study, read_journal, replace_file
from studies.runner.outcomes import Outcome, outcome_of

MARK = re.compile(r"^\{\{(?P<study>[\w-]+)(?:: (?P<kind>\w+) ?(?P<more>\S*))?\}\}$", re.MULTILINE)
COMMAND = "python -m studies all --grid grid-90-20-1.bif.gz"
NOT_RUN = "*Not run at this revision.*"
Place = tuple[str, str, int, int, str, float | None]  # what names a cell on this page


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
        return _facts(found)
    if kind == "left_out":
        return _left_out(found)
    if kind == "table":
        return as_markdown([one for one in found.sheets if one.name.startswith(more)])
    if kind == "figure":
        return _figure(found, more, page)
    if kind == "tallies":
        return " ".join(contest_tallies(found.study, found.outcomes, more))
    assert kind == "agreement", kind
    return _agreement(found.sheets)


def _facts(found: Finished) -> str:
    """What made the numbers, how much of the schedule they are, and what gave no network."""
    there, scheduled = _share(found.study.name, found.outcomes)
    text = facts(found.study, found.outcomes, COMMAND)
    if there < scheduled:
        text += f" This is {there:,} of the {scheduled:,} cells of the schedule."
    causes = "; ".join(escaped(one) for one in failures(found.outcomes))
    return f"{text} Without a network: {causes}." if causes else text


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
    lines = [as_markdown([sheet]), ""]
    others = [row for row in sheet.rows if _is_of_another_network(row)]
    same = [row for row in sheet.rows if row not in others]
    for rows, more in (
        (same, ""),
        (others, " that cannot be compared, as the paper's network is another one,"),
    ):
        if rows:
            agree, all_of_them = (sum(int(row[at]) for row in rows) for at in (4, 5))
            means = f"{counted(all_of_them, 'mean')}{more}"
            lines.append(f"{agree} of {means} agree within two standard errors of ours.")
    return "\n".join(lines)


def _is_of_another_network(row: Sequence[str]) -> bool:
    """Whether a line holds log-likelihoods of a network that is not the paper's."""
    network, _, measure, *_ = row
    return measure == "log-likelihood" and not network.startswith(SAME_NETWORKS)


def _left_out(found: Finished) -> str:
    """The problems that the schedule has and the run does not; a sentence if there are none."""
    there = {_place(one) for one in found.outcomes}
    scheduled: dict[tuple[str, int], set[tuple[str, int]]] = {}
    lacking: dict[tuple[str, int], dict[str, set[tuple[str, int]]]] = {}
    for place in _scheduled(found.study.name):
        network, setting, rows, repetition, method, _ = place
        scheduled.setdefault((network, rows), set()).add((setting, repetition))
        problems = lacking.setdefault((network, rows), {}).setdefault(method, set())
        if place not in there:
            problems.add((setting, repetition))
    sizes: dict[tuple[str, str, str], list[str]] = {}
    for (network, rows), methods in lacking.items():
        if words := _lacking_words(found.study, methods):
            number = f"{len(scheduled[network, rows])}"
            sizes.setdefault((network, number, words), []).append(power(rows))
    lines = [
        (network, ", ".join(powers), number, words)
        for (network, number, words), powers in sizes.items()
    ]
    if not lines:
        return "All that was scheduled was run."
    header = ("network", "rows", "problems scheduled", "of them not run within every limit")
    title = "Left out: the run was ended before it came to these"
    return as_markdown([Sheet("left-out", title, header, tuple(lines), 4)])


def _lacking_words(study: Study, methods: Mapping[str, Collection[object]]) -> str:
    """How many problems are lacking, and which methods lack them."""
    by_number: dict[int, list[str]] = {}
    for method, lacking in methods.items():
        by_number.setdefault(len(lacking), []).append(study.title_of(method))
    if len(by_number) == 1:
        number = next(iter(by_number))
        return f"{number} (all methods)" if number else ""
    numbers = sorted((number for number in by_number if number), reverse=True)
    return "; ".join(f"{number} ({', '.join(by_number[number])})" for number in numbers)


def _schedule(runs: Path) -> str:
    """How much of the schedule was run, study by study."""
    lines = []
    for name in dict.fromkeys(study.name for study in SCHEDULE):
        there, scheduled = _share(name, list(read_journal(runs / name).values()))
        lines.append((name, f"{scheduled:,}", f"{there:,}"))
    header = ("study", "cells scheduled", "of them run")
    return as_markdown(
        [Sheet("schedule", "How much of the schedule was run", header, tuple(lines), 1)]
    )


def _share(name: str, outcomes: Sequence[Outcome]) -> tuple[int, int]:
    """How many cells of the schedule of a study are there, and how many it has."""
    scheduled = _scheduled(name)
    return len(scheduled & {_place(one) for one in outcomes}), len(scheduled)


@cache
def _scheduled(name: str) -> Set[Place]:
    """The places of all cells that the schedule has of a study, in its order."""
    cells = (cell for study in SCHEDULE if study.name == name for cell in study.cells)
    return dict.fromkeys(_place(outcome_of(cell, "ok", {})) for cell in cells).keys()


def _place(one: Outcome) -> Place:
    network = one.network.removesuffix("-like")  # the paper's grid or one like it
    return network, one.setting, one.rows, one.repetition, one.method, one.limit


PLAIN: dict[str, Callable[[Path], str]] = {
    "legend": lambda _: escaped(LEGEND),
    "example": lambda _: f"```text\n{appendix_as_text(appendix_example())}\n```",
    "schedule": _schedule,
}
