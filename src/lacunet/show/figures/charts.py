"""Charts: lines with bands, ranges, patterns of missing values, heat maps, forest plots.

Series are told apart by colour and by dashes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from lacunet.counts.missing_values import MissingSummary
from lacunet.network.network import FloatArray
from lacunet.show.figures.picture import (
    DASHES,
    SERIES,
    SIZE,
    Box,
    Disc,
    Line,
    Picture,
    Shape,
    Words,
    stroke,
)
from lacunet.show.figures.text_width import shorten_to_width, text_width, wrap_words
from lacunet.text import counted

WIDTH, HEIGHT = 380, 230
LEFT, RIGHT, TOP, BOTTOM = 58, 22, 14, 40
MOST_POINTS = 400
WIDEST_LABEL = 220.0  # pixels; longer ones lose their middle
MOST_ACROSS = 12  # states that stand side by side, where the parents have fewer configurations
TITLE_ROOM = 420.0
HOLLOW_SHARE = 0.1  # of an estimate, that rests on no data
WIDE_STRETCH = 0.3  # probabilities that differ by more are drawn on a line from 0 to 1


@dataclass(frozen=True)
class Series:
    """Points to be joined, or not; ``low`` and ``high`` give them a band (quartiles, say)."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    is_joined: bool = True


def lines(
    series: Sequence[Series],
    x_label: str,
    y_label: str,
    *,
    log_x: bool = False,
    log_y: bool = False,
) -> Picture:
    """A line chart; points that are not numbers are left out of their line.

    More than one line have a legend below, in columns.
    """
    shown = [value for line in series for value in (*line.y, *line.low, *line.high)]
    base = HEIGHT - BOTTOM
    y_axis = _Axis.over(shown, base, TOP + 8, log_y)
    shapes: list[Shape] = []
    y_title = y_label
    named = [f"{value:,.6g}" for value in y_axis.ticks]
    if len(set(named)) < len(named):  # they differ in later digits
        named = [f"{value - y_axis.high:,.3g}" for value in y_axis.ticks]
        y_title = f"{y_label}, from {y_axis.high:,.9g}"
    left = max(LEFT, 14 + max(map(_room, named), default=0.0))
    width = max(float(WIDTH), _room(y_title) + 8, _room(x_label) + 8)
    far = [x for line in series for x in line.x if math.isfinite(x)]
    right = max(RIGHT, _room(f"{max(far, default=0):,.9g}") / 2 + 4)
    x_axis = _Axis.over(far, left, width - right, log_x)
    for value, name in zip(y_axis.ticks, named, strict=True):
        y = y_axis.pixel(value)
        shapes.append(Line(stroke((left, y), (width - right, y)), "grid"))
        shapes.append(Words(left - 6, y + 4, name, "end"))
    shapes += [
        *_below(x_axis, base, x_label),
        Line(stroke((left, TOP), (left, base), (width - right, base)), "axis"),
        Words(4, 10, y_title),
    ]
    for number, line in enumerate(series):
        shapes += _line(number, line, x_axis, y_axis)
    height = float(HEIGHT)
    if len(series) > 1:
        labels = [line.label for line in series]
        width = max(width, 44 + max(map(_room, labels)))
        legend, height = _legend(labels, width)
        shapes += legend
    return Picture(width, height, tuple(shapes), f"{y_title} against {x_label}")


def _room(text: str) -> float:
    """The width of a text in the size of all figures."""
    return text_width(text, SIZE)


def line_style(number: int) -> str:
    """The style of the line of a series: a colour, and dashes."""
    return f"s{number % len(SERIES)}-{number % len(DASHES)}"


def _legend(labels: Sequence[str], width: float) -> tuple[list[Shape], float]:
    """What the lines are called, in as many columns as there is room for; and where it ends."""
    widest = max(map(_room, labels)) + 44
    columns = max(1, int((width - 8) // widest))
    shapes: list[Shape] = []
    for number, label in enumerate(labels):
        x = 8 + widest * (number % columns)
        y = HEIGHT + 8 + 16 * (number // columns)
        shapes.append(Line(stroke((x, y), (x + 22, y)), line_style(number)))
        shapes.append(Words(x + 28, y + 4, label))
    return shapes, HEIGHT + 16.0 * math.ceil(len(labels) / columns) + 6


def _line(number: int, line: Series, x_axis: _Axis, y_axis: _Axis) -> list[Shape]:
    every = range(len(line.x))
    step = max(1, math.ceil(len(every) / MOST_POINTS))
    kept = [k for k in sorted({*every[::step], *every[-1:]}) if x_axis.shows(line.x[k])]
    xs = {k: x_axis.pixel(line.x[k]) for k in kept}
    colour = number % len(SERIES)
    shapes: list[Shape] = []
    if line.low:
        there = [k for k in kept if y_axis.shows(line.low[k]) and y_axis.shows(line.high[k])]
        band = [(xs[k], y_axis.pixel(line.high[k])) for k in there]
        band += [(xs[k], y_axis.pixel(line.low[k])) for k in reversed(there)]
        if band:
            shapes.append(Line(f"{stroke(*band)}Z", f"band-{colour}"))
    points = [(xs[k], y_axis.pixel(line.y[k])) for k in kept if y_axis.shows(line.y[k])]
    if points and line.is_joined:
        shapes.append(Line(stroke(*points), line_style(number)))
    if len(points) <= 40:
        shapes += [Disc(*point, 3, f"dot-{colour}") for point in points]
    return shapes


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

    def pixel(self, value: float) -> float:
        low, high, here = map(math.log10 if self.is_log else float, (self.low, self.high, value))
        return self.start + (here - low) / (high - low) * (self.end - self.start)

    @property
    def ticks(self) -> list[float]:
        """Some four round numbers."""
        if self.is_log and (powers := self._log_ticks()):
            return powers
        rough = (self.high - self.low) / 4
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= rough * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [round(k * step, 12) for k in range(first, last + 1)]

    def _log_ticks(self) -> list[float]:
        """Powers of ten, or some of their multiples where those are fewer than three."""
        low = math.floor(math.log10(self.low) + 1e-9)
        high = math.floor(math.log10(self.high) + 1e-9)
        for multiples in ((1,), (1, 3), (1, 2, 5)):
            ticks = [float(f"{m}e{power}") for power in range(low, high + 1) for m in multiples]
            inside = [tick for tick in ticks if self.low * 0.999 <= tick <= self.high * 1.001]
            if len(inside) >= 3:
                return inside[:: math.ceil(len(inside) / 7)]
        return []


def _below(axis: _Axis, base: float, label: str) -> list[Shape]:
    """The numbers below a horizontal axis at ``base``, and what they are."""
    words: list[Shape] = []
    free = -math.inf  # to the right of the number before
    for value in axis.ticks:
        x = axis.pixel(value)
        text = f"{value:,.9g}"
        if x - _room(text) / 2 >= free:
            words.append(Words(x, base + 16, text, "middle"))
            free = x + _room(text) / 2 + 6
    middle = max((axis.start + axis.end) / 2, _room(label) / 2 + 4)
    return [*words, Words(middle, base + 34, label, "middle")]


def ranges(rows: Sequence[tuple[str, Sequence[float]]], label: str) -> Picture:
    """For each name the lower quartile, median, upper quartile and worst, on one log axis."""
    values = [value for _, spread in rows for value in spread]
    left = _label_room([name for name, _ in rows])
    axis = _Axis.over(values, left, WIDTH - RIGHT, is_log=True)
    step = 22
    base = 8.0 + step * len(rows)
    shapes: list[Shape] = [_upright(axis.pixel(value), 4, base) for value in axis.ticks]
    for number, (name, spread) in enumerate(rows):
        y = 4 + step * number + step / 2
        shapes.append(Words(left - 8, y + 4, short(name), "end"))
        if not all(map(axis.shows, spread)):
            continue
        low, median, high, worst = map(axis.pixel, spread)
        words = "lower quartile {:.4g}, median {:.4g}, upper quartile {:.4g}, worst {:.4g}"
        shapes += [
            Line(stroke((low, y), (high, y)), "range", words.format(*spread)),
            Disc(median, y, 4, "dot-0"),
            _upright(worst, y - 5, y + 5, "axis"),
        ]
    shapes += _below(axis, base, label)
    return Picture(WIDTH, base + 40, tuple(shapes), label)


def _upright(x: float, y: float, to_y: float, style: str = "grid") -> Line:
    return Line(stroke((x, y), (x, to_y)), style)


def _label_room(names: Sequence[str]) -> float:
    return 20 + max((_room(short(name)) for name in names), default=0.0)


def short(name: str) -> str:
    """A label, without its middle where it is too long."""
    return shorten_to_width(name, WIDEST_LABEL, SIZE)


def patterns(summary: MissingSummary, most: int, most_lines: int | None = None) -> Picture:
    """The commonest patterns, a column each: what is missing together, and how often.

    Parameters
    ----------
    most
        The number of patterns to draw.
    most_lines
        The number of variables to draw, a line each; those missing most often, None for all.
    """
    total = summary.rows
    missing = summary.missing_rows
    counts = summary.patterns
    holes = [k for k in np.argsort(-missing) if missing[k] > 0][:most_lines]
    common = counts.commonest(most)
    names = [summary.variables[k] for k in holes]
    is_missing = counts.is_missing(tuple(names), common)
    shares = (counts.rows[common] / total).tolist()
    rates = (missing[holes] / total).tolist()
    step, top = 30, 96
    heights = [top + step * row + step / 2 for row in range(len(names))]
    label = _label_room(names)
    left = label + 74
    shapes: list[Shape] = []
    tallest = max(shares, default=1.0) or 1.0
    for y, name, rate in zip(heights, names, rates, strict=True):
        shapes += [
            Words(label - 6, y + 4, short(name), "end"),
            Box(label, y - 6, rate * 34, 12, "block"),
            Words(label + 38, y + 4, f"{rate:.0%}"),
        ]
    for column, (pattern, share) in enumerate(zip(is_missing, shares, strict=True)):
        x = left + step * column + step / 2
        tall = 66 * share / tallest
        shapes += [
            Box(x - 7, 84 - tall, 14, tall, "block", f"{share:.1%} of the rows"),
            Words(x, 79 - tall, f"{share:.0%}", "middle"),
        ]
        shown = np.flatnonzero(pattern)
        if len(shown) > 1:
            shapes.append(_upright(x, heights[shown[0]], heights[shown[-1]], "link"))
        for y, is_on in zip(heights, pattern, strict=True):
            shapes.append(Disc(x, y, 5, "on" if is_on else "off"))
    width = left + step * len(is_missing) + 12
    height = top + step * len(names) + 6
    return Picture(width, height, tuple(shapes), "commonest patterns of missing values")


def dumbbell(first: float, second: float) -> Picture:
    """Two probabilities on one line from 0 to 1: a ring, and a disc where it went."""
    start, end = (6 + 108 * min(max(value, 0.0), 1.0) for value in (first, second))
    shapes = (
        Line(stroke((6, 7), (114, 7)), "grid"),
        Line(stroke((start, 7), (end, 7)), "s0-0"),
        Disc(start, 7, 4, "ring"),
        Disc(end, 7, 4, "dot-0"),
    )
    return Picture(120, 14, shapes, f"from {first:.3f} to {second:.3f}")


def heat_map(
    table: FloatArray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str,
    given: str,
    is_supported: Sequence[bool],
) -> Picture:
    """A CPT: a line for each parent configuration, shaded; hatched where no data support it.

    Of many states and few configurations each state has a line, each configuration a column.
    """
    unsupported = [number for number, is_known in enumerate(is_supported) if not is_known]
    if len(columns) > MOST_ACROSS and len(rows) <= MOST_ACROSS:
        return _shaded(table.T, columns, rows, title, given="", hatched_columns=unsupported)
    return _shaded(table, rows, columns, title, given=given, hatched_rows=unsupported)


def _shaded(
    table: FloatArray,
    rows: Sequence[str],
    columns: Sequence[str],
    title: str,
    *,
    given: str,
    hatched_rows: Sequence[int] = (),
    hatched_columns: Sequence[int] = (),
) -> Picture:
    """A table of probabilities with a shade for each, and some of its rows or columns hatched."""
    lines_ = wrap_words(title.split(" "), TITLE_ROOM, SIZE, is_bold=True)
    top = 16.0 * len(lines_)
    left = _label_room([*rows, given])
    cell = max(56.0, 14 + max(_room(short(name)) for name in columns))
    shapes: list[Shape] = [
        Words(6, 16.0 * (number + 1), line, is_bold=True) for number, line in enumerate(lines_)
    ]
    shapes.append(Words(left - 8, top + 22, short(given), "end"))
    shapes += [
        Words(left + cell * (column + 0.5), top + 22, short(name), "middle")
        for column, name in enumerate(columns)
    ]
    for number, name in enumerate(rows):
        y = top + 30 + 24 * number
        shapes.append(Words(left - 8, y + 16, short(name), "end"))
        for column, value in enumerate(table[number]):
            x = left + cell * column
            shapes.append(Box(x, y, cell - 1, 23, f"heat-{round(10 * float(value))}"))
            shapes.append(Words(x + cell / 2, y + 16, f"{value:.3f}", "middle"))
    for number in hatched_rows:
        shapes.append(_hatched(left, top + 30 + 24 * number, cell * len(columns) - 1, 23))
    for number in hatched_columns:
        shapes.append(_hatched(left + cell * number, top + 30, cell - 1, 24.0 * len(rows) - 1))
    widest = max(text_width(line, SIZE, is_bold=True) for line in lines_)
    width = max(left + cell * len(columns), 6 + widest) + 8
    return Picture(width, top + 38 + 24.0 * len(rows), tuple(shapes), title)


def _hatched(x: float, y: float, width: float, height: float) -> Line:
    """Strokes across a box."""
    strokes = []
    for start in np.arange(0, width + height, 8):
        ends = min(start, width), max(start - height, 0)
        strokes.append(stroke(*((x + end, y + start - end) for end in ends)))
    return Line("".join(strokes), "hatch")


@dataclass(frozen=True)
class Estimate:
    """A number with its interval, where it has one, and the share of it that no data support."""

    label: str
    value: float
    low: float = math.nan
    high: float = math.nan
    unsupported: float = 0.0
    group: str = field(default="", kw_only=True)


def forest(
    estimates: Sequence[Estimate], axis_label: str, *, reference: float | None = None
) -> Picture:
    """Estimates below one another, each with its interval and in numbers.

    Where a tenth or more of an estimate rests on no data its disc is hollow and its interval
    dotted. Estimates of one group stand under its name; ``reference`` is a line to compare with.
    """
    ends = [end for estimate in estimates for end in (estimate.value, estimate.low, estimate.high)]
    known = [end for end in ends if math.isfinite(end)] or [0.0, 1.0]
    if min(known) >= 0 and max(known) <= 1 and max(known) - min(known) > WIDE_STRETCH:
        known = [0.0, 1.0]
    left = _label_room([f"  {estimate.label}" for estimate in estimates])
    across = 300.0
    values = known if reference is None else [*known, reference]
    axis = _Axis.over(values, left, left + across)
    shapes: list[Shape] = []
    heads: list[Words] = []
    stretches: list[tuple[float, float]] = []  # of the grid, which leaves the headings free
    y = 12.0
    start = 8.0
    group = ""
    for estimate in estimates:
        if estimate.group != group:
            if y > start + 4:
                stretches.append((start, y))
            group = estimate.group
            heads.append(Words(6, y + 12, group, is_bold=True))
            y += 22
            start = y - 4
        shapes += _estimate(estimate, axis, left, y + 8)
        y += 20
    base = y + 4
    stretches.append((start, base))
    grid: list[Shape] = []
    for top, bottom in stretches:
        grid += [_upright(axis.pixel(value), top, bottom) for value in axis.ticks]
        if reference is not None:
            grid.append(_upright(axis.pixel(reference), top, bottom, "axis"))
    grid.append(Line(stroke((left, base), (left + across, base)), "axis"))
    grid += _below(axis, base, axis_label)
    right = [_room(_in_numbers(estimate)) for estimate in estimates]
    groups = [6 + text_width(head.text, SIZE, is_bold=True) for head in heads]
    width = max(left + across + 22 + max(right, default=0.0), *groups, _room(axis_label) + 8, 0.0)
    words = f"{axis_label}: {counted(len(estimates), 'estimate')}"
    return Picture(width, base + 42, (*grid, *heads, *shapes), words)


def _estimate(estimate: Estimate, axis: _Axis, left: float, y: float) -> list[Shape]:
    is_bare = _is_bare(estimate)
    shapes: list[Shape] = [Words(left - 10, y + 4, short(estimate.label), "end")]
    if math.isfinite(estimate.low) and math.isfinite(estimate.high):
        low, high = axis.pixel(estimate.low), axis.pixel(estimate.high)
        shapes.append(Line(stroke((low, y), (high, y)), "s0-2" if is_bare else "s0-0"))
        shapes += [_upright(end, y - 4, y + 4, "s0-0") for end in (low, high)]
    shapes.append(Disc(axis.pixel(estimate.value), y, 4, "hollow" if is_bare else "dot-0"))
    shapes.append(Words(axis.end + 14, y + 4, _in_numbers(estimate)))
    return shapes


def _is_bare(estimate: Estimate) -> bool:
    """Whether so much of an estimate rests on no data that it is drawn hollow."""
    return estimate.unsupported >= HOLLOW_SHARE


def _in_numbers(estimate: Estimate) -> str:
    text = f"{estimate.value:.3f}"
    if math.isfinite(estimate.low) and math.isfinite(estimate.high):
        text += f" [{estimate.low:.3f}, {estimate.high:.3f}]"
    if _is_bare(estimate):
        text += f" {estimate.unsupported:.0%} no data"
    return text
