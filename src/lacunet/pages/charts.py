"""Charts as SVG, made when the page is built: lines with bands, patterns of missing values.

Series are told apart by colour and by dashes. Colours come from the page's style, so that a
chart is right in light and in dark.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT = 460, 260
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 12, 40
MOST_POINTS = 400
SERIES_STYLES = 6


@dataclass(frozen=True)
class Line:
    """A series of points; ``low`` and ``high`` give it a band (quartiles, say).

    ``beside`` are values of somebody else at the same places, NaN where there is none; ``told``
    is what each point says when it is pointed at.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    beside: Sequence[float] = ()
    told: Sequence[str] = ()


def lines(
    series: Sequence[Line],
    x_label: str,
    y_label: str,
    *,
    log_x: bool = False,
    log_y: bool = False,
) -> str:
    """A line chart; points that are not numbers are left out of their line."""
    shown = [value for line in series for value in (*line.y, *line.low, *line.high, *line.beside)]
    x_axis = _Axis.over([x for line in series for x in line.x], LEFT, WIDTH - RIGHT, log_x)
    y_axis = _Axis.over(shown, HEIGHT - BOTTOM, TOP + 8, log_y)
    base = HEIGHT - BOTTOM
    parts = [_begun(WIDTH, HEIGHT + 18 * len(series), f"{y_label} against {x_label}")]
    for value in y_axis.ticks:
        y = y_axis.at(value)
        parts.append(f'<path class="grid" d="M{LEFT},{y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:,.6g}</text>')
    parts += [
        *_below(x_axis, base, x_label),
        f'<path class="axis" d="M{LEFT},{TOP}V{base}H{WIDTH - RIGHT}"/>',
        f'<text x="{LEFT}" y="9" text-anchor="start">{escape(y_label)}</text>',
    ]
    for number, line in enumerate(series):
        parts += _line(number, line, x_axis, y_axis)
    return "".join(parts) + "</svg>"


def _line(number: int, line: Line, x_axis: _Axis, y_axis: _Axis) -> list[str]:
    step = max(1, math.ceil(len(line.x) / MOST_POINTS))
    kept = [*range(0, len(line.x), step)]
    kept += [len(line.x) - 1] if kept and kept[-1] != len(line.x) - 1 else []
    xs = {k: x_axis.at(line.x[k]) for k in kept}
    style = f"s{number % SERIES_STYLES}"
    parts = []
    if line.low:
        there = [k for k in kept if y_axis.shows(line.low[k]) and y_axis.shows(line.high[k])]
        path = [f"{xs[k]:.1f},{y_axis.at(line.high[k]):.1f}" for k in there]
        path += [f"{xs[k]:.1f},{y_axis.at(line.low[k]):.1f}" for k in reversed(there)]
        parts.append(f'<path class="band {style}" d="M{"L".join(path)}Z"/>' if path else "")
    points = {k: y_axis.at(line.y[k]) for k in kept if y_axis.shows(line.y[k])}
    path = [f"{xs[k]:.1f},{y:.1f}" for k, y in points.items()]
    if path:
        parts.append(f'<path class="{style} d{number % 4}" d="M{"L".join(path)}"/>')
    if len(points) <= 40:
        for k, y in points.items():
            told = f"<title>{escape(line.told[k])}</title>" if line.told else ""
            parts.append(
                f'<circle class="{style}" cx="{xs[k]:.1f}" cy="{y:.1f}" r="3">{told}</circle>'
            )
    for k in (k for k in kept if line.beside and y_axis.shows(line.beside[k])):
        x, y = xs[k], y_axis.at(line.beside[k])
        told = f"<title>{escape(line.label)}, published: {line.beside[k]:.6g}</title>"
        shape = f"M{x - 5:.1f},{y:.1f}l5,-5l5,5l-5,5z"
        parts.append(f'<path class="beside {style}" d="{shape}">{told}</path>')
    y = HEIGHT + 18 * number + 8
    parts.append(f'<path class="{style} d{number % 4}" d="M{LEFT},{y}H{LEFT + 30}"/>')
    parts.append(f'<text x="{LEFT + 38}" y="{y + 4}">{escape(line.label)}</text>')
    return parts


@dataclass(frozen=True)
class _Axis:
    """A stretch of numbers laid on a stretch of pixels, in logarithms if ``is_log``."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    @classmethod
    def over(cls, values: Sequence[float], start: float, end: float, is_log: bool = False) -> _Axis:
        known = [value for value in values if math.isfinite(value) and (value > 0 or not is_log)]
        known = known or [1.0, 10.0]
        low, high = min(known), max(known)
        if low == high:
            low, high = (low / 3, high * 3) if is_log else (low - 0.5, high + 0.5)
        return cls(low, high, start, end, is_log)

    def shows(self, value: float) -> bool:
        """Whether the value has a place."""
        return math.isfinite(value) and (value > 0 or not self.is_log)

    def at(self, value: float) -> float:
        low, high, here = map(math.log10 if self.is_log else float, (self.low, self.high, value))
        return self.start + (here - low) / (high - low) * (self.end - self.start)

    @property
    def ticks(self) -> list[float]:
        """Some four round numbers."""
        if self.is_log and self.high / self.low >= 10:
            low = math.ceil(math.log10(self.low) - 1e-9)
            high = math.floor(math.log10(self.high) + 1e-9)
            return [10.0**power for power in range(low, high + 1, max(1, (high - low) // 6))]
        rough = (self.high - self.low) / 4
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= rough * 0.999)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(k * step, 12) for k in range(first, last + 1)]


def _begun(width: float, height: float, words: str) -> str:
    """The start of a chart; ``words`` say what it shows to those who cannot see it."""
    size = f'width="{width}" viewBox="0 0 {width} {height}"'
    return f'<svg class="chart" {size} role="img" aria-label="{escape(words)}">'


def _below(axis: _Axis, base: float, label: str) -> list[str]:
    """The numbers below a horizontal axis at ``base``, and what they are."""
    words = [(axis.at(value), base + 16, f"{value:,.9g}") for value in axis.ticks]
    words.append(((axis.start + axis.end) / 2, base + 34, escape(label)))
    return [f'<text x="{x:.1f}" y="{y}" text-anchor="middle">{word}</text>' for x, y, word in words]


def dots(values: Sequence[float], label: str) -> str:
    """Values on one axis, the first as a ring; those that fall together are stacked."""
    axis = _Axis.over(values, LEFT, WIDTH - RIGHT)
    stacked: dict[int, int] = {}
    discs = []
    for number, value in enumerate(values):
        if not axis.shows(value):
            continue
        column = round(axis.at(value) / 8)
        stacked[column] = stacked.get(column, 0) + 1
        kind = "first" if number == 0 else "s0"
        discs.append((8 * column, stacked[column], kind, value))
    base = 14 + 9 * max(stacked.values(), default=1)
    parts = [
        _begun(WIDTH, base + 40, f"{label} of {len(values)}"),
        f'<path class="axis" d="M{LEFT},{base}H{WIDTH - RIGHT}"/>',
    ]
    for left, height, kind, value in discs:
        spot = f'cx="{left}" cy="{base - 9 * height + 2}" r="3.5"'
        parts.append(f'<circle class="{kind}" {spot}><title>{value:.6g}</title></circle>')
    return "".join([*parts, *_below(axis, base, label)]) + "</svg>"


def ranges(rows: Sequence[tuple[str, Sequence[float]]], label: str) -> str:
    """For each name the lower quartile, median, upper quartile and worst, on one log axis."""
    values = [value for _, spread in rows for value in spread]
    left = min(20 + 7 * max((len(name) for name, _ in rows), default=1), 190)
    axis, step = _Axis.over(values, left, WIDTH - RIGHT, is_log=True), 22
    base = 8 + step * len(rows)
    parts = [_begun(WIDTH, base + 40, label)]
    parts += [f'<path class="grid" d="M{axis.at(value):.1f},4V{base}"/>' for value in axis.ticks]
    for number, (name, spread) in enumerate(rows):
        y = 4 + step * number + step / 2
        parts.append(f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{escape(name)}</text>')
        if not all(map(axis.shows, spread)):
            continue
        low, median, high, worst = map(axis.at, spread)
        words = "lower quartile {:.4g}, median {:.4g}, upper quartile {:.4g}, worst {:.4g}"
        told = f"<title>{words.format(*spread)}</title>"
        parts.append(
            f'<g>{told}<path class="range s0" d="M{low:.1f},{y}H{high:.1f}"/>'
            f'<circle class="s0" cx="{median:.1f}" cy="{y}" r="4"/>'
            f'<path class="axis" d="M{worst:.1f},{y - 5}v10"/></g>'
        )
    return "".join([*parts, *_below(axis, base, label)]) + "</svg>"


def patterns(
    names: Sequence[str],
    is_missing: NDArray[np.bool_],
    shares: Sequence[float],
    rates: Sequence[float],
) -> str:
    """The commonest patterns, a column each: what is missing together, and how often.

    Parameters
    ----------
    names
        The variables, a line each.
    is_missing
        One row for each pattern, one column for each variable.
    shares
        The share of the rows with each pattern.
    rates
        The share of the rows in which each variable is missing.
    """
    step, top = 22, 96
    label = min(10 + 7 * max(map(len, names), default=1), 220)
    left = label + 70
    width, height = left + step * len(is_missing) + 10, top + step * len(names) + 6
    parts = [_begun(width, height, "commonest patterns of missing values")]
    tallest = max(shares, default=1.0) or 1.0
    for row, (name, rate) in enumerate(zip(names, rates, strict=True)):
        y = top + step * row + step / 2
        short = name if len(name) <= 30 else f"{name[:29]}…"
        parts.append(f'<text x="{label - 4}" y="{y + 4}" text-anchor="end">{escape(short)}</text>')
        parts.append(f'<rect class="block" x="{label}" y="{y - 6}" width="{rate * 34:.1f}"'
                     f' height="12"/>')  # fmt: skip
        parts.append(f'<text x="{label + 36}" y="{y + 4}">{rate:.0%}</text>')
    for column, (pattern, share) in enumerate(zip(is_missing, shares, strict=True)):
        x, tall = left + step * column + step / 2, 70 * share / tallest
        title = f"<title>{share:.1%} of the rows</title>"
        size = f'width="14" height="{tall:.1f}"'
        parts.append(f'<rect class="block" x="{x - 7}" y="{84 - tall:.1f}" {size}>{title}</rect>')
        parts.append(f'<text x="{x}" y="{79 - tall:.1f}" text-anchor="middle">{share:.0%}</text>')
        shown = np.flatnonzero(pattern)
        if len(shown) > 1:
            first, last = (top + step * row + step / 2 for row in (shown[0], shown[-1]))
            parts.append(f'<path class="link" d="M{x},{first}V{last}"/>')
        for kind, rows in (("off", np.flatnonzero(~pattern)), ("on", shown)):
            discs = "".join(f"M{x:g},{top + step * row + step / 2:g}h0" for row in rows)
            parts.append(f'<path class="{kind}" d="{discs}"/>' if discs else "")
    return "".join(parts) + "</svg>"


def dumbbell(first: float, second: float) -> str:
    """Two probabilities on one line from 0 to 1: a ring, and a disc where it went."""
    at = [6 + 108 * min(max(value, 0.0), 1.0) for value in (first, second)]
    return (
        '<svg class="chart" width="120" viewBox="0 0 120 14" aria-hidden="true">'
        '<path class="grid" d="M6,7H114"/>'
        f'<path class="s0" d="M{at[0]:.1f},7H{at[1]:.1f}"/>'
        f'<circle class="axis" cx="{at[0]:.1f}" cy="7" r="4"/>'
        f'<circle class="s0" cx="{at[1]:.1f}" cy="7" r="4"/></svg>'
    )
