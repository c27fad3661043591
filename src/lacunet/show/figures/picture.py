"""Shapes with a style each, and the picture that they make.

A picture in a page takes its colours from the page, so that it is right in light and in dark; one
in a file of its own has the light ones. SVG needs nothing; PDF and PNG are drawn by matplotlib
(``pip install lacunet[plots]``), shape by shape.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lacunet.atomic_files import writing_to
from lacunet.errors import LacunetError, warn
from lacunet.text_tables import Displayed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FONT = "Helvetica, Arial, sans-serif"
SIZE = 12.0  # of words, in pixels
MEASURED_FONT = "DejaVu Sans"  # by which room is made for words; matplotlib brings it
OF_WIDE_CHARACTERS = (  # fonts that have them; those that a machine has stand in for the other
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "Noto Sans JP",
    "Noto Sans SC",
    "Hiragino Sans",
    "PingFang SC",
    "Yu Gothic",
    "Microsoft YaHei",
    "Malgun Gothic",
    "IPAGothic",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
)
POINTS_PER_PIXEL = 0.75

COLOURS = {  # in light; pages know them as --NAME, in light and in dark
    "paper": "#ffffff",
    "ink": "#1b1f24",
    "soft": "#57606a",
    "line": "#d0d7de",
    "missing": "#d9730d",
    "mark": "#0b5cad",
    "second": "#a84300",
    "third": "#3d7046",
    "fourth": "#7b4fa3",
    "heat": "#2f81d6",
}


@dataclass(frozen=True)
class Style:
    """How a shape looks: colours by name, the width of its line, its dashes, its opacity."""

    stroke: str = ""
    fill: str = ""
    width: float = 1.0
    dash: tuple[float, ...] = ()
    opacity: float = 1.0


SERIES = ("mark", "second", "third", "fourth", "ink", "soft")
DASHES: tuple[tuple[float, ...], ...] = ((), (7, 3), (2, 3), (9, 3, 2, 3))
STYLES = {
    "axis": Style("soft"),
    "grid": Style("line", width=0.5),
    "block": Style(fill="missing"),
    "link": Style("missing", width=2),
    "on": Style(fill="missing"),
    "off": Style(fill="line"),
    "hollow": Style("mark", "paper", 1.5),
    "ring": Style("soft", "paper"),
    "box": Style("soft", "paper"),
    "dashed-box": Style("second", "paper", dash=(4, 2)),
    "edge": Style("soft", width=1.2),
    "arrow": Style(fill="soft"),
    "cause": Style("second", width=1.2, dash=(5, 3)),
    "cause-arrow": Style(fill="second"),
    "range": Style("mark", width=6, opacity=0.45),
    "hatch": Style("ink", width=0.7, opacity=0.6),
    **{f"heat-{tenth}": Style("paper", "heat", opacity=0.055 * tenth) for tenth in range(11)},
    **{
        f"s{index}-{number}": Style(colour, width=2, dash=dash)
        for index, colour in enumerate(SERIES)
        for number, dash in enumerate(DASHES)
    },
    **{f"dot-{index}": Style(fill=colour) for index, colour in enumerate(SERIES)},
    **{f"band-{index}": Style(fill=colour, opacity=0.15) for index, colour in enumerate(SERIES)},
}


@dataclass(frozen=True)
class Line:
    """A path, in the words of SVG: M, L, C, Q and Z."""

    path: str
    style: str
    title: str = ""


@dataclass(frozen=True)
class Box:
    """A rectangle, with round corners if ``radius`` says so."""

    x: float
    y: float
    width: float
    height: float
    style: str
    title: str = ""
    radius: float = 0.0


@dataclass(frozen=True)
class Disc:
    """A circle."""

    x: float
    y: float
    radius: float
    style: str
    title: str = ""


@dataclass(frozen=True)
class Words:
    """A text that starts, has its middle or ends at a point on its base line."""

    x: float
    y: float
    text: str
    anchor: str = "start"
    size: float = SIZE
    is_bold: bool = False


Shape = Line | Box | Disc | Words


@dataclass(frozen=True, repr=False)
class Picture(Displayed):
    """A figure: shapes, and ``words`` that say what it shows to those who cannot see it.

    A notebook shows it; ``write`` keeps it as SVG, PDF or PNG, as the name ends.
    """

    width: float
    height: float
    shapes: tuple[Shape, ...]
    words: str

    def __repr__(self) -> str:
        return f"<Picture: {self.words}>"

    def _parts(self) -> list[str]:
        return [self.words]

    def _repr_html_(self) -> str:
        return on_paper(self.svg())

    def svg(self) -> str:
        """The picture as a file of its own, in light colours."""
        size = f'width="{self.width:g}" height="{self.height:g}"'
        view = f'viewBox="0 0 {self.width:g} {self.height:g}"'
        parts = "".join(_element(shape, in_page=False) for shape in self.shapes)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} {view} role="img" '
            f'aria-label="{escape(self.words)}" font-family="{FONT}">'
            f"<title>{escape(self.words)}</title>{parts}</svg>\n"
        )

    def markup(self) -> str:
        """The picture as a part of a page, which gives it its colours."""
        parts = "".join(_element(shape, in_page=True) for shape in self.shapes)
        return (
            f'<svg class="chart" width="{self.width:g}" viewBox="0 0 {self.width:g} '
            f'{self.height:g}" role="img" aria-label="{escape(self.words)}">{parts}</svg>'
        )

    def figure(self) -> Figure:
        """The picture as a matplotlib figure."""
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise LacunetError(
                "PDF and PNG need matplotlib.",
                "install it with: pip install lacunet[plots]; SVG needs nothing.",
            ) from None

        figure = Figure(
            figsize=(self.width * POINTS_PER_PIXEL / 72, self.height * POINTS_PER_PIXEL / 72)
        )
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set(xlim=(0, self.width), ylim=(self.height, 0))
        for order, shape in enumerate(self.shapes):
            _draw(axes, shape, order)
        return figure

    def _by_matplotlib(self, kind: str) -> bytes:
        stream = BytesIO()
        metadata = {"CreationDate": None} if kind == ".pdf" else {}
        figure = self.figure()
        # One warning for all characters that no font has.
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            figure.savefig(stream, format=kind[1:], dpi=300, metadata=metadata)
        for other in caught:
            if not str(other.message).startswith("Glyph "):
                warnings.warn(other.message, other.category, stacklevel=3)
        if characters := _characters(caught):
            warn(
                f"no font that matplotlib knows has {characters[:20]!r}: boxes stand in their "
                "place. Install one that has them, or write SVG."
            )
        return stream.getvalue()

    def write(self, path: str | Path) -> None:
        """Keep the picture in a file: ``.svg``, ``.pdf`` or ``.png``."""
        kind = Path(path).suffix.lower()
        if kind not in (".svg", ".pdf", ".png"):
            raise LacunetError(
                f"a figure cannot be written to {str(path)!r}.", "end the name in .svg, .pdf, .png."
            )
        if kind == ".svg":
            content = self.svg().encode()
        else:
            content = self._by_matplotlib(kind)
        with writing_to(path, LacunetError) as file:
            file.write(content)


def _characters(lacking: Iterable[Any]) -> str:
    """The characters that matplotlib warned of: each by its code."""
    codes = [re.match(r"Glyph (\d+)", str(caught.message)) for caught in lacking]
    return "".join(sorted({chr(int(code[1])) for code in codes if code}))


def on_paper(svg: str) -> str:
    """A picture in light colours for a notebook, which may be dark; a large one can be scrolled."""
    look = "background:#fff; overflow:auto; max-height:480px; width:fit-content; max-width:100%"
    return f'<div style="{look}">{svg}</div>'


def page_style(markup: str) -> str:
    """The styles of the shapes in a page's markup; their colours are the page's."""
    colour_of = {name: f"var(--{name})" for name in COLOURS}
    rules = []
    for name, style in STYLES.items():
        if f'class="{name}"' in markup:
            look = "; ".join(f"{key}: {value}" for key, value in _look(style, colour_of).items())
            rules.append(f".chart .{name} {{ {look} }}")
    return "\n".join(rules)


def _look(style: Style, colour_of: Mapping[str, str]) -> dict[str, str]:
    """A style in the words of SVG, as far as it is not the usual one."""
    look = {key: colour_of.get(getattr(style, key), "none") for key in ("stroke", "fill")}
    if style.stroke and style.width != 1:
        look["stroke-width"] = f"{style.width:g}"
    if style.dash:
        look["stroke-dasharray"] = " ".join(f"{value:g}" for value in style.dash)
    if style.opacity != 1:
        look["opacity"] = f"{style.opacity:g}"
    return look


def _element(shape: Shape, *, in_page: bool) -> str:
    """A shape in the words of SVG; a page has the styles apart."""
    if isinstance(shape, Words):
        return _text(shape, in_page=in_page)
    title = f"<title>{escape(shape.title)}</title>" if shape.title else ""
    styled = {"class": shape.style} if in_page else _look(STYLES[shape.style], COLOURS)
    look = " ".join(f'{key}="{value}"' for key, value in styled.items())
    if isinstance(shape, Line):
        return f'<path {look} d="{shape.path}">{title}</path>'
    if isinstance(shape, Disc):
        geometry = f'cx="{shape.x:.1f}" cy="{shape.y:.1f}" r="{shape.radius:g}"'
        return f"<circle {look} {geometry}>{title}</circle>"
    geometry = f'x="{shape.x:.1f}" y="{shape.y:.1f}" width="{shape.width:.1f}"'
    corner = f' rx="{shape.radius:g}"' if shape.radius else ""
    return f'<rect {look} {geometry} height="{shape.height:.1f}"{corner}>{title}</rect>'


def _text(shape: Words, *, in_page: bool) -> str:
    parts = [f'x="{shape.x:.1f}" y="{shape.y:.1f}"']
    if shape.anchor != "start":
        parts.append(f'text-anchor="{shape.anchor}"')
    if shape.is_bold:
        parts.append('font-weight="bold"')
    if not in_page:
        parts += [f'font-size="{shape.size:g}" fill="{COLOURS["ink"]}"']
    return f"<text {' '.join(parts)}>{escape(shape.text)}</text>"


@cache
def _fonts() -> list[str]:
    """The fonts of PDF and PNG: what one does not have is taken from the next."""
    from matplotlib.font_manager import fontManager

    there = set(fontManager.get_font_names())
    return [MEASURED_FONT, *(name for name in OF_WIDE_CHARACTERS if name in there)]


def _draw(axes: Any, shape: Shape, order: int) -> None:
    """Draw a shape by matplotlib, above those before it."""
    from matplotlib.patches import Circle, FancyBboxPatch, PathPatch
    from matplotlib.path import Path as Outline

    if isinstance(shape, Words):
        axes.text(
            shape.x,
            shape.y,
            shape.text,
            ha={"start": "left", "middle": "center", "end": "right"}[shape.anchor],
            va="baseline",
            size=shape.size * POINTS_PER_PIXEL,
            family=_fonts(),
            weight="bold" if shape.is_bold else "normal",
            color=COLOURS["ink"],
            zorder=order,
            parse_math=False,
        )
        return
    style = STYLES[shape.style]
    if isinstance(shape, Line):
        codes_of = {"M": Outline.MOVETO, "L": Outline.LINETO, "C": Outline.CURVE4}
        codes_of |= {"Q": Outline.CURVE3, "Z": Outline.CLOSEPOLY}
        codes = [codes_of[letter] for letter, points in steps(shape.path) for _ in points]
        patch: Any = PathPatch(Outline(corners(shape.path), codes))
    elif isinstance(shape, Disc):
        patch = Circle((shape.x, shape.y), shape.radius)
    else:
        kind = f"round,pad=0,rounding_size={shape.radius}"
        patch = FancyBboxPatch((shape.x, shape.y), shape.width, shape.height, kind)
    patch.set(
        edgecolor=COLOURS.get(style.stroke, "none"),
        facecolor=COLOURS.get(style.fill, "none"),
        linewidth=style.width * POINTS_PER_PIXEL if style.stroke else 0,
        alpha=style.opacity,
        zorder=order,
    )
    if style.dash:
        patch.set_linestyle((0, tuple(dash / style.width for dash in style.dash)))
    axes.add_patch(patch)


def steps(path: str) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    """The letter of each step of a path, and its points; the point of Z means nothing."""
    for letter, text in re.findall(r"([MLCQZ])([^MLCQZ]*)", path):
        numbers = [float(word) for word in re.findall(r"-?[\d.]+(?:e-?\d+)?", text)] or [0.0, 0.0]
        yield letter, list(zip(numbers[::2], numbers[1::2], strict=True))


def corners(path: str) -> list[tuple[float, float]]:
    """All points of a path, those that it only bends towards too."""
    return [point for _, points in steps(path) for point in points]


def stroke(*points: tuple[float, float]) -> str:
    """The path of straight lines between points."""
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points)
