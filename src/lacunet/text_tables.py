"""How values are shown: tables that fit a terminal, and the same for notebooks.

What is printed keeps to the width of the terminal. Names that take too much of it are elided in the
middle, since many begin alike; a table that would be wider even so stands upright, a line for each
cell. Sentences are broken between words. Where there is no terminal, as in a file or behind a pipe,
nothing is elided.
"""

from __future__ import annotations

import os
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

READABLE_WIDTH = 100  # columns that lay out a table where there is no terminal
SHORTEST = 8  # columns that a name keeps
COLUMN_GAP = "  "
ELLIPSIS = "…"
OF_NAMES = 'style="text-align:left"'  # in notebooks
OF_NUMBERS = 'style="text-align:right; white-space:pre"'
OF_DRAWING = 'style="text-align:left; white-space:pre; font-family:monospace"'


def terminal_width() -> int | None:
    """The columns of the terminal that is printed to; None where there is none.

    The environment variable COLUMNS says it too, as for other programs.
    """
    try:
        is_terminal = sys.stdout.isatty()
    except (AttributeError, ValueError):  # no standard output, or a closed one
        is_terminal = False
    if not is_terminal and not os.environ.get("COLUMNS"):
        return None
    return shutil.get_terminal_size((0, 0)).columns or None


def cells(text: str) -> int:
    """The columns that a text takes on a terminal: wide characters take two, marks on others none.

    >>> cells("Alter"), cells("年齢"), cells("e\u0301")
    (5, 4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(map(_cells_of_character, text))


def _cells_of_character(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):  # drawn upon others, or not at all
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def elide(text: str, width: int) -> str:
    """A text without its middle, if it takes more columns than there are.

    >>> elide("R_MED_ALLCV_EW", 9), elide("Age", 9)
    ('R_ME…V_EW', 'Age')
    """
    if cells(text) <= width:
        return text
    room = max(width - cells(ELLIPSIS), 0)
    start = _beginning(text, room - room // 2)
    end = _beginning(text[::-1], room // 2)[::-1]
    return f"{start}{ELLIPSIS}{end}"


def _beginning(text: str, width: int) -> str:
    """As much of the beginning as fits."""
    taken = 0
    for position, character in enumerate(text):
        taken += _cells_of_character(character)
        if taken > width:
            return text[:position]
    return text


def fitting(text: str, width: int | None = None) -> str:
    """A text whose lines are broken between words where the terminal is narrower.

    What follows on a break is indented by two more columns than its line. A word that is wider than
    the terminal stays whole. Without ``width`` it is the terminal's.

    >>> print(fitting("  rows of the survey that show it", 16))
      rows of the
        survey that
        show it
    """
    width = terminal_width() if width is None else width
    if width is None:
        return text
    return "\n".join(broken for line in text.split("\n") for broken in _broken(line, width))


def _broken(line: str, width: int) -> list[str]:
    if cells(line) <= width:
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    first, *words = line.split()
    lines = [indent + first]
    for word in words:
        if cells(lines[-1]) + 1 + cells(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(f"{indent}  {word}")
    return lines


def _padded(text: str, width: int, *, is_left: bool) -> str:
    blank = " " * (width - cells(text))
    return text + blank if is_left else blank + text


@dataclass(frozen=True)
class TextTable:
    """A table of texts: the first ``left`` columns are names, the others numbers.

    Names are aligned to the left, numbers to the right.

    Examples
    --------
    >>> table = TextTable(["name", "rows"], [["A", "10"], ["a long name", "7"]])
    >>> print(table)
    name         rows
    A              10
    a long name     7
    >>> print(table.text(width=14))
    name      rows
    A           10
    a lo…ame     7
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1

    def __str__(self) -> str:
        return self.text(terminal_width())

    def text(self, width: int | None = None) -> str:
        """The table within so many columns; as wide as it is without a limit."""
        widths = self._widths()
        if width is not None and _total(widths) > width:
            least = self._least_widths()
            if _total(least) > width:
                return self._upright(width)
            widths = _shrunk(widths, least, width)
        lines = []
        for row in [self.header, *self.rows]:
            shown = [
                _padded(elide(cell, columns), columns, is_left=index < self.left)
                for index, (cell, columns) in enumerate(zip(row, widths, strict=True))
            ]
            lines.append(COLUMN_GAP.join(shown).rstrip())
        return "\n".join(lines)

    def lines(self, indent: int = 0) -> list[str]:
        """The lines of what is printed, each moved to the right by so many columns."""
        width = terminal_width()
        text = self.text(None if width is None else width - indent)
        return [" " * indent + line if line else "" for line in text.splitlines()]

    def fits(self, width: int) -> bool:
        """Whether the numbers and their headings fit in full, next to names that may be elided."""
        least = [*self._least_widths()[: self.left], *self._widths()[self.left :]]
        return _total(least) <= width

    def _repr_html_(self) -> str:
        return self.html()

    def html(self, caption: str = "") -> str:
        """The table for notebooks."""
        styles = []
        for index, column in enumerate(zip(self.header, *self.rows, strict=True)):
            if index < self.left:
                styles.append(OF_NAMES)
            else:
                styles.append(OF_DRAWING if _is_drawn(column) else OF_NUMBERS)
        lines = []
        for row in self.rows:
            both = zip(row, styles, strict=True)
            lines.append("".join(f"<td {style}>{escape(cell)}</td>" for cell, style in both))
        return html_table(self.header, lines, caption, styles)

    def _widths(self) -> list[int]:
        """The columns that the widest cell of each column takes."""
        return [max(map(cells, column)) for column in zip(self.header, *self.rows, strict=True)]

    def _least_widths(self) -> list[int]:
        """The columns that each must keep: numbers stay whole, names and headings may be elided."""
        least = []
        for index, width in enumerate(self._widths()):
            whole = 0
            if index >= self.left:
                whole = max((cells(row[index]) for row in self.rows), default=0)
            least.append(min(width, max(whole, SHORTEST)))
        return least

    def _upright(self, width: int) -> str:
        """A line for each cell, behind the heading of its column."""
        first = min(max(map(cells, self.header), default=0), max(width // 2, SHORTEST))
        room = max(width - first - len(COLUMN_GAP), SHORTEST)
        blocks = []
        for row in self.rows:
            lines = []
            for name, cell in zip(self.header, row, strict=True):
                heading = _padded(elide(name, first), first, is_left=True)
                lines.append(f"{heading}{COLUMN_GAP}{elide(cell, room)}")
            blocks.append("\n".join(line.rstrip() for line in lines))
        return "\n\n".join(blocks)


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(COLUMN_GAP) * (len(widths) - 1)


def _shrunk(widths: Sequence[int], least: Sequence[int], width: int) -> list[int]:
    """Widths that fit: the widest of those that can shrink does so, again and again."""
    shrunk = list(widths)
    for _ in range(_total(widths) - width):
        index = max(
            (index for index, columns in enumerate(shrunk) if columns > least[index]),
            key=lambda index: shrunk[index],
        )
        shrunk[index] -= 1
    return shrunk


def _is_drawn(column: Sequence[str]) -> bool:
    """Whether spaces place what cells hold."""
    return any("  " in cell for cell in column)


def html_table(
    header: Sequence[str], rows: Iterable[str], caption: str = "", styles: Sequence[str] = ()
) -> str:
    """A table for notebooks whose rows have their cells in HTML already."""
    styled = [f" {style}" for style in styles] or [""] * len(header)
    both = zip(header, styled, strict=True)
    head = "".join(f"<th{style}>{escape(name)}</th>" for name, style in both)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class Displayed:
    """What can be printed in full and shown in a notebook.

    Classes say in ``_parts`` what there is to see, once for both: lines of text, tables, and other
    values that are displayed. An empty text ends a paragraph.
    """

    __slots__ = ()

    def _parts(self) -> Iterable[object]:
        raise NotImplementedError

    def __str__(self) -> str:
        return "\n".join(fitting(str(part)) for part in self._parts())

    def _repr_html_(self) -> str:
        return as_html(self._parts())


def as_html(parts: Iterable[object]) -> str:
    """Lines of text, tables and other values that are displayed, for a notebook.

    >>> as_html(["P(A)", "is known", "", "by rows"]).count("<p ")
    2
    """
    pieces: list[str] = []
    lines: list[str] = []
    for part in parts:
        html = getattr(part, "_repr_html_", None)
        if html is None and part:
            lines.append(str(part))
            continue
        pieces += _paragraph(lines)
        lines = []
        if html is not None:
            pieces.append(html())
    return "".join([*pieces, *_paragraph(lines)])


def _paragraph(lines: Sequence[str]) -> list[str]:
    text = escape("\n".join(lines))
    return [f'<p style="white-space:pre-wrap">{text}</p>'] if lines else []


def details(summary: str, html: str) -> str:
    """What is seen behind a click."""
    return f"<details><summary>{escape(summary)}</summary>{html}</details>"
