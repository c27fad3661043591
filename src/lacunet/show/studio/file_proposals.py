"""How a text file seems to be written: a proposal, from its first lines."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Sequence
from pathlib import Path

from lacunet.data.delimited_text import DELIMITERS

USUAL_TEXT = {"delimiter": "", "encoding": "utf-8", "decimal": "."}
LOOKED_AT, MOST_LINES = 2**16, 50  # bytes, lines
COMMA, POINT = re.compile(r"-?\d+,\d+"), re.compile(r"-?\d+\.\d+")


def proposed_reading(path: Path) -> dict[str, str]:
    """The delimiter ("" where the name says it), encoding and decimal character of a file."""
    usual = {".csv": ",", ".tsv": "\t"}.get(path.suffix.lower())
    if usual is None:
        return dict(USUAL_TEXT)
    with path.open("rb") as file:
        start = file.read(LOOKED_AT)
    encoding = encoding_of(start)
    lines = [line for line in start.decode(encoding, "ignore").splitlines() if line.strip()]
    lines = lines[:MOST_LINES] if len(lines) < 2 else lines[:-1][:MOST_LINES]
    delimiter = delimiter_of(lines, usual)
    decimal = "."
    if delimiter != ",":
        decimal = decimal_of(lines, delimiter)
    return {
        "delimiter": "" if delimiter == usual else delimiter.replace("\t", "\\t"),
        "encoding": encoding,
        "decimal": decimal,
    }


def encoding_of(start: bytes) -> str:
    """The encoding that the first bytes of a file are in.

    >>> encoding_of("Größe".encode()), encoding_of("Größe".encode("cp1252"))
    ('utf-8', 'cp1252')
    """
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)  # the last letter may be cut
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def delimiter_of(lines: Sequence[str], usual: str) -> str:
    """What separates cells: the usual, unless another one cuts all lines into equally many.

    >>> delimiter_of(["a;b", "1,5;2"], ","), delimiter_of(["a,b", "x;y,z;w"], ",")
    (';', ',')
    """

    def columns(delimiter: str) -> int:
        widths = {len(row) for row in csv.reader(lines, delimiter=delimiter)}
        return widths.pop() if len(widths) == 1 else 0

    best = max(DELIMITERS, key=lambda mark: (columns(mark), mark == usual))
    return best if columns(best) > max(1, columns(usual)) else usual


def decimal_of(lines: Sequence[str], delimiter: str) -> str:
    """What stands before the fractions of numbers.

    >>> decimal_of(["a;b", "1,5;x", "2,25;y"], ";"), decimal_of(["a", "1,000,000"], ";")
    (',', '.')
    """
    cells = [cell.strip() for row in csv.reader(lines, delimiter=delimiter) for cell in row]
    commas = sum(COMMA.fullmatch(cell) is not None for cell in cells)
    if commas > sum(POINT.fullmatch(cell) is not None for cell in cells):
        return ","
    return "."
