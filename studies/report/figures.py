"""The figures of a study: log axes, at most seven lines, the paper's points hollow.

As SVG, which is light or dark as its reader prefers, and as PDF in both.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import count
from math import floor, isfinite, isnan, log10, nan
from typing import TYPE_CHECKING, Any

from studies.paper.published import printed
from studies.paper.studies import Study
from studies.report.summary import by_group, summary
from studies.report.tables import MEASURES, power
from studies.runner.outcomes import Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure


MOST_LINES = 7
GRAY, PURPLE, GREEN, BLUE, SKY = "#808080", "#a873c9", "#009e73", "#2b83c9", "#56b4e9"
ORANGE, RED, BROWN, OLIVE = "#e69f00", "#d55e00", "#a6761d", "#93a000"
INK = "#010203"  # stands for what is dark on light and light on dark
STYLES = {
    "em-1": (GRAY, ":", "v"),
    "em-1-80": (GRAY, ":", "v"),
    "em-1-5000": (GRAY, "-", "v"),
    "em-10": (PURPLE, ":", "^"),
    "em-10-80": (PURPLE, ":", "^"),
    "em-10-5000": (PURPLE, "-", "^"),
    "em-80": (GREEN, ":", "o"),
    "em-5000": (GREEN, "-", "o"),
    "em-bp-10": (BROWN, ":", "<"),
    "direct-mcar": (ORANGE, "--", "s"),
    "factored-mcar": (RED, "--", "D"),
    "direct-mar": (SKY, "-", "s"),
    "factored-mar": (BLUE, "-", "D"),
    "informed-direct": (OLIVE, "-", "s"),
    "informed-factored": (BROWN, "-", "D"),
    "em": (GREEN, "-", "o"),
    "auto": (INK, "-.", "*"),
    "default": (PURPLE, "-", "*"),
    "mgraph": (OLIVE, "-", "P"),
    "complete": (GRAY, "-", "."),
}
PLAIN = (GRAY, "-", "x")
LIGHT, DARK = ("#1b1f24", "#ffffff"), ("#e8e8e8", "#131416")  # ink and paper
ADAPTING = (
    f"<style>svg{{color:{LIGHT[0]};--paper:{LIGHT[1]}}}@media (prefers-color-scheme:dark)"
    f"{{svg{{color:{DARK[0]};--paper:{DARK[1]}}}}}</style>"
    '<rect width="100%" height="100%" style="fill:var(--paper)"/>'
)


@dataclass(frozen=True)
class Line:
    """What is drawn of one method: means with standard errors, and the paper's points."""

    method: str
    title: str
    across: tuple[float, ...]
    means: tuple[float, ...]
    errors: tuple[float, ...]
    paper: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Drawing:
    """One set of axes, before anything is drawn; ``caption`` is what stands below it."""

    name: str
    title: str
    across: str
    measure: str
    lines: tuple[Line, ...]
    caption: str


def drawings(study: Study, outcomes: Sequence[Outcome]) -> list[Drawing]:
    """Every measure against the number of rows and, if times are asked for, against time."""
    made: dict[str, Drawing] = {}
    longest = max([one.limit for one in outcomes if one.limit is not None], default=None)
    words_of = {setting.name: setting.words for setting in study.settings}
    for network, setting in dict.fromkeys((one.network, one.setting) for one in outcomes):
        own = [
            one
            for one in outcomes
            if (one.network, one.setting, one.limit) == (network, setting, longest)
        ]
        for measure in (name for name in study.measures if name != "seconds"):
            for across in ("rows", "seconds") if "seconds" in study.measures else ("rows",):
                lines = _lines(study, own, across, measure)
                if lines:
                    title = f"{network}: {words_of.get(setting, setting)}"
                    name = _file_name(f"{network}-{setting}-{measure}-{across}", made)
                    caption = _caption(title, measure, across, own, lines)
                    made[name] = Drawing(name, title, across, measure, lines, caption)
    return list(made.values())


def _file_name(text: str, taken: Container[str]) -> str:
    """A name that cannot leave the folder, and that no other figure has."""
    stem = re.sub(r"[^\w.-]+", "-", text.replace("_", "-"), flags=re.ASCII)[-100:]
    names = (stem if number == 1 else f"{stem}-{number}" for number in count(1))
    return next(name for name in names if name not in taken)


def _lines(
    study: Study, outcomes: Sequence[Outcome], across: str, measure: str
) -> tuple[Line, ...]:
    found = []
    groups = sorted(by_group(outcomes).items(), key=lambda item: item[0][3])
    for method in study.drawn[:MOST_LINES]:
        points: list[tuple[float, float, float]] = []
        paper: list[tuple[float, float]] = []
        for (network, setting, limit, rows, name), draws in groups:
            height, time = summary(draws, measure), summary(draws, "seconds")
            at = float(rows) if across == "rows" else time.mean if time else nan
            if name == method and height is not None and isfinite(height.mean) and at > 0:
                error = 0.0 if isnan(height.standard_error) else height.standard_error
                points.append((at, height.mean, error))
            if name == method:
                place = (study.name, network, setting, limit, rows)
                paper += _paper_point(place, measure, method, across)
        if points:
            across_them, means, errors = zip(*points, strict=True)
            title = study.title_of(method)
            found.append(Line(method, title, across_them, means, errors, tuple(paper)))
    return tuple(found)


def _paper_point(
    place: tuple[str, str, str, float | None, int], measure: str, method: str, across: str
) -> list[tuple[float, float]]:
    """Where the paper's number stands; its times of 0 s have no place on a log axis."""
    height, time = (printed(*place, name).get(method) for name in (measure, "seconds"))
    at = float(place[-1]) if across == "rows" else (time and time.value) or 0.0
    return [(at, height.value)] if height and height.value is not None and at > 0 else []


def _caption(
    title: str, measure: str, across: str, outcomes: Sequence[Outcome], lines: Sequence[Line]
) -> str:
    number_at: dict[int, int] = {}
    for one in outcomes:
        number_at[one.rows] = max(number_at.get(one.rows, 0), one.repetition + 1)
    axis = "dataset size" if across == "rows" else "processor time of learning"
    text = f"{title}. {MEASURES[measure]} against {axis}: means and standard errors over "
    text += f"{numbers_in_words(number_at)} learning problems."
    return text + (" Hollow: the paper's." if any(line.paper for line in lines) else "")


def numbers_in_words(number_at: Mapping[int, int]) -> str:
    """How many problems there are, and at which sizes fewer.

    Examples
    --------
    >>> numbers_in_words({100: 8, 1000: 8, 100_000: 4, 1_000_000: 2})
    '8 (4 at 10^5, 2 at 10^6 rows)'
    """
    most = max(number_at.values())
    fewer = [f"{n} at {power(rows)}" for rows, n in sorted(number_at.items()) if n < most]
    return f"{most} ({', '.join(fewer)} rows)" if fewer else f"{most}"


def draw(drawing: Drawing, ink: str) -> Figure:
    """Draw with matplotlib, which the ``plots`` extra brings."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    figure = Figure(figsize=(7.2, 3.8), layout="constrained")
    axes: Any = figure.add_subplot()
    handles = []
    for line in drawing.lines:
        colour, dash, marker = STYLES.get(line.method, PLAIN)
        colour = ink if colour == INK else colour
        style = {"color": colour, "marker": marker, "markersize": 4.5}
        drawn = axes.errorbar(
            line.across, line.means, yerr=line.errors, linestyle=dash, linewidth=1.3, capsize=2,
            label=line.title, **style,
        )  # fmt: skip
        handles.append(drawn)
        if line.paper:
            hollow = {**style, "markersize": 7.5, "markerfacecolor": "none"}
            axes.plot(*zip(*line.paper, strict=True), linestyle="none", **hollow)
    if any(line.paper for line in drawing.lines):
        look: dict[str, Any] = {"marker": "o", "markerfacecolor": "none", "linestyle": "none"}
        handles.append(Line2D([], [], label="in the paper", color=ink, **look))
    _dress(axes, drawing, ink)
    figure.legend(
        handles=handles, loc="outside right upper", frameon=False, fontsize="small", labelcolor=ink
    )
    return figure


def _dress(axes: Any, drawing: Drawing, ink: str) -> None:
    axes.set_xscale("log")
    _tick(axes.xaxis, [at for line in drawing.lines for at in line.across])
    if drawing.measure == "divergence":
        axes.set_yscale("log")
        _tick(axes.yaxis, [mean for line in drawing.lines for mean in line.means])
    words = "Dataset size [rows]" if drawing.across == "rows" else "Processor time [s]"
    axes.set_xlabel(words, color=ink)
    axes.set_ylabel(MEASURES[drawing.measure], color=ink)
    axes.set_title(drawing.title, fontsize="medium", color=ink)
    axes.grid(alpha=0.2, which="major", color=ink)
    axes.tick_params(which="both", colors=ink)
    axes.set_facecolor("none")
    for spine in axes.spines.values():
        spine.set_color(ink)


def _tick(axis: Any, values: Sequence[float]) -> None:
    """Powers of ten where there are at least two among the values; else 1, 2 and 5 times them."""
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

    low, high = min(values), max(values)
    axis.set_minor_formatter(NullFormatter())
    if floor(log10(high)) - floor(log10(low)) < 2:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FormatStrFormatter("%g"))


def svg(drawing: Drawing) -> bytes:
    """The drawing as SVG, light or dark as its reader prefers; the same for the same numbers."""
    text = _saved(drawing, "svg", INK, "none").decode().replace(INK, "currentColor")
    start = text.index("<svg")
    inside = text.index(">", start) + 1
    return (text[start:inside] + ADAPTING + text[inside:]).encode()


def pdfs(drawing: Drawing) -> dict[str, bytes]:
    """The drawing as PDF, light and dark, by the endings of their names."""
    return {
        ".pdf": _saved(drawing, "pdf", *LIGHT),
        "-dark.pdf": _saved(drawing, "pdf", *DARK),
    }


def _saved(drawing: Drawing, kind: str, ink: str, paper: str) -> bytes:
    from matplotlib import rc_context

    buffer = BytesIO()
    with rc_context({"svg.hashsalt": drawing.name, "svg.fonttype": "none"}):
        no_date = {"Date": None} if kind == "svg" else {"CreationDate": None}
        draw(drawing, ink).savefig(buffer, format=kind, facecolor=paper, metadata=no_date)
    return buffer.getvalue()


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None
