"""The figures of an experiment, like the paper's: log axes, one line per method, error bars."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import count
from math import isfinite, isnan, nan
from typing import TYPE_CHECKING, Any

from lacunet.comparison.summary import Summary
from studies.paper.published import printed
from studies.paper.studies import Study
from studies.problems.learners import TITLES
from studies.report.summary import by_group, summary
from studies.report.tables import MEASURES, methods_in_order
from studies.runner.outcomes import Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure


STYLES = {
    "em-1": ("tab:gray", ":", "v"),
    "em-1-80": ("silver", ":", "v"),
    "em-1-5000": ("dimgray", "-", "v"),
    "em-10": ("black", ":", "^"),
    "em-10-80": ("tab:red", ":", "^"),
    "em-10-5000": ("tab:blue", "-", "^"),
    "em-80": ("plum", ":", "o"),
    "em-5000": ("darkviolet", "-", "o"),
    "em-bp-10": ("tab:brown", ":", "<"),
    "direct-mcar": ("tab:orange", "--", "s"),
    "factored-mcar": ("tab:red", "--", "D"),
    "direct-mar": ("tab:cyan", "-", "s"),
    "factored-mar": ("tab:blue", "-", "D"),
    "informed-direct": ("tab:olive", "-", "s"),
    "informed-factored": ("tab:green", "-", "D"),
    "one-step": ("tab:pink", "-", "o"),
    "em": ("tab:purple", "-", "o"),
    "em-heldout": ("indigo", "-.", "o"),
    "auto": ("magenta", "-.", "*"),
    "mgraph": ("darkgreen", "-", "P"),
    "complete": ("lightgray", "-", "."),
}
PLAIN = ("tab:gray", "-", "x")


@dataclass(frozen=True)
class Line:
    """What is drawn of one method: a point for each size, and what the paper printed there."""

    method: str
    across: tuple[float, ...]
    found: tuple[Summary, ...]
    paper: tuple[float, ...]


@dataclass(frozen=True)
class Drawing:
    """One set of axes, before anything is drawn."""

    name: str
    title: str
    across: str
    measure: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Picture:
    """A drawing, drawn: SVG as text, PNG as bytes."""

    name: str
    svg: str
    png: bytes


def drawings(study: Study, outcomes: Sequence[Outcome]) -> list[Drawing]:
    """Every measure against the number of rows and, if times are asked for, against time."""
    made: dict[str, Drawing] = {}
    places = dict.fromkeys((one.network, one.setting) for one in outcomes)
    longest = max([one.limit for one in outcomes if one.limit is not None], default=None)
    words_of = {setting.name: setting.words for setting in study.settings}
    for network, setting in places:
        own = [
            one
            for one in outcomes
            if (one.network, one.setting, one.limit) == (network, setting, longest)
        ]
        for measure in (name for name in study.measures if name != "seconds"):
            for across in ("rows", "seconds") if "seconds" in study.measures else ("rows",):
                lines = _lines(study, own, across, measure)
                if not lines:
                    continue
                title = f"{network}: {words_of.get(setting, setting)}"
                name = _file_name(f"{network}-{setting}-{measure}-{across}", made)
                made[name] = Drawing(name, title, across, measure, lines)
    return list(made.values())


def _file_name(text: str, taken: Container[str]) -> str:
    """A name that cannot leave the folder, and that no other figure has."""
    stem = re.sub(r"[^\w.-]+", "-", text.replace("_", "-"), flags=re.ASCII)[-100:]
    names = (stem if number == 1 else f"{stem}-{number}" for number in count(1))
    return next(name for name in names if name not in taken)


def _lines(
    study: Study, outcomes: Sequence[Outcome], across: str, measure: str
) -> tuple[Line, ...]:
    methods = methods_in_order(study, outcomes)
    points: dict[str, list[tuple[float, Summary, float]]] = {name: [] for name in methods}
    for group, draws in sorted(by_group(outcomes).items(), key=lambda item: item[0][3]):
        network, setting, limit, rows, method = group
        height, time = summary(draws, measure), summary(draws, "seconds")
        at = float(rows) if across == "rows" else time.mean if time else nan
        if height is not None and isfinite(height.mean) and isfinite(at) and at > 0:
            paper = printed(study.name, network, setting, limit, rows, measure).get(method)
            beside = paper.value if paper and across == "rows" else None
            points[method].append((at, height, nan if beside is None else beside))
    return tuple(
        Line(method, *zip(*found, strict=True)) for method, found in points.items() if found
    )


def draw(drawing: Drawing) -> Figure:
    """Draw with matplotlib, which the ``plots`` extra brings."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes: Any = figure.add_subplot()
    for line in drawing.lines:
        colour, dash, marker = STYLES.get(line.method, PLAIN)
        axes.errorbar(
            line.across,
            [one.mean for one in line.found],
            yerr=[0.0 if isnan(one.standard_error) else one.standard_error for one in line.found],
            label=TITLES[line.method],
            color=colour,
            linestyle=dash,
            marker=marker,
            markersize=4,
            linewidth=1.2,
            capsize=2,
        )
    _dress(axes, drawing)
    return figure


def _dress(axes: Any, drawing: Drawing) -> None:
    axes.set_xscale("log")
    if drawing.measure == "divergence":
        axes.set_yscale("log")
    axes.set_xlabel("Dataset size (rows)" if drawing.across == "rows" else "Learning time [s]")
    axes.set_ylabel(MEASURES[drawing.measure])
    axes.set_title(drawing.title, fontsize="medium")
    axes.grid(alpha=0.3, which="major")
    axes.legend(fontsize="x-small", ncols=2)


def picture(drawing: Drawing) -> Picture:
    """The drawing as files, the same SVG for the same numbers."""
    from matplotlib import rc_context

    svg, png = BytesIO(), BytesIO()
    figure = draw(drawing)
    with rc_context({"svg.hashsalt": drawing.name, "svg.fonttype": "none"}):
        figure.savefig(svg, format="svg", metadata={"Date": None})
    figure.savefig(png, format="png", dpi=150)
    text = svg.getvalue().decode()
    return Picture(drawing.name, text[text.index("<svg") :], png.getvalue())


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None
