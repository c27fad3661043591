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
LEFT, RIGHT, TOP, BOTTOM = 64, 14, 12, 40
MOST_POINTS = 400
SERIES_STYLES = 6


@dataclass(frozen=True)
class Line:
    """A series of points; ``low`` and ``high`` give it a band (quartiles, say)."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


def lines(series: Sequence[Line], x_label: str, y_label: str, log_x: bool = False) -> str:
    """A line chart; points that are not numbers are left out of their line."""
    shown = [value for line in series for value in (*line.y, *line.low, *line.high)]
    places = [math.log10(x) if log_x else x for line in series for x in line.x]
    x_axis = _Axis.over(places, LEFT, WIDTH - RIGHT)
    y_axis = _Axis.over(shown, HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg class="chart" width="{WIDTH}" viewBox="0 0 {WIDTH} {HEIGHT + 18 * len(series)}" '
        f'role="img" aria-label="{escape(y_label)} against {escape(x_label)}">'
    ]
    for value in y_axis.ticks:
        y = y_axis.at(value)
        parts.append(f'<path class="grid" d="M{LEFT},{y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:,.6g}</text>')
    for value in x_axis.ticks:
        label = f"{10**value:,.0f}" if log_x else f"{value:,.6g}"
        x = x_axis.at(value)
        y = HEIGHT - BOTTOM + 16
        parts.append(f'<text x="{x:.1f}" y="{y}" text-anchor="middle">{label}</text>')
    parts.append(f'<path class="axis" d="M{LEFT},{TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}"/>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(
        f'<text x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">{escape(x_label)}</text>'
        f'<text x="{LEFT}" y="9" text-anchor="start">{escape(y_label)}</text>'
    )
    for number, line in enumerate(series):
        parts += _line(number, line, x_axis, y_axis, log_x)
    return "".join(parts) + "</svg>"


def _line(number: int, line: Line, x_axis: _Axis, y_axis: _Axis, log_x: bool) -> list[str]:
    step = max(1, math.ceil(len(line.x) / MOST_POINTS))
    kept = [*range(0, len(line.x), step)]
    kept += [len(line.x) - 1] if kept and kept[-1] != len(line.x) - 1 else []
    xs = [x_axis.at(math.log10(line.x[k]) if log_x else line.x[k]) for k in kept]
    style = f"s{number % SERIES_STYLES}"
    parts = []
    if line.low:
        there = [(x, line.low[k], line.high[k]) for x, k in zip(xs, kept, strict=True)]
        there = [one for one in there if math.isfinite(one[1]) and math.isfinite(one[2])]
        path = [f"{x:.1f},{y_axis.at(high):.1f}" for x, _, high in there]
        path += [f"{x:.1f},{y_axis.at(low):.1f}" for x, low, _ in reversed(there)]
        parts.append(f'<path class="band {style}" d="M{"L".join(path)}Z"/>' if path else "")
    points = [(x, y_axis.at(line.y[k])) for x, k in zip(xs, kept, strict=True)
              if math.isfinite(line.y[k])]  # fmt: skip
    path = [f"{x:.1f},{y:.1f}" for x, y in points]
    if path:
        parts.append(f'<path class="{style} d{number % 4}" d="M{"L".join(path)}"/>')
    if len(points) <= 40:
        parts += [f'<circle class="{style}" cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>' for x, y in points]
    y = HEIGHT + 18 * number + 8
    parts.append(f'<path class="{style} d{number % 4}" d="M{LEFT},{y}H{LEFT + 30}"/>')
    parts.append(f'<text x="{LEFT + 38}" y="{y + 4}">{escape(line.label)}</text>')
    return parts


@dataclass(frozen=True)
class _Axis:
    """A stretch of numbers laid on a stretch of pixels."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def over(cls, values: Sequence[float], start: float, end: float) -> _Axis:
        known = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
        low, high = min(known), max(known)
        if low == high:
            low, high = low - 0.5, high + 0.5
        return cls(low, high, start, end)

    def at(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    @property
    def ticks(self) -> list[float]:
        """Some four round numbers."""
        rough = (self.high - self.low) / 4
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= rough * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [round(k * step, 12) for k in range(first, last + 1)]


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
    words = "commonest patterns of missing values"
    parts = [
        f'<svg class="chart" width="{width}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{words}">'
    ]
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
