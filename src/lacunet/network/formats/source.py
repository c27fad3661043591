"""A text with a name, and a cursor that moves through it: what every error message points into.

Numbers in text, both ways, without the loss of a bit.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, replace

from lacunet.network.formats.errors import FormatError
from lacunet.network.network import FloatArray

# A quoted name: \" stands for a quote and \\ for a backslash; other backslashes mean themselves.
STRING = r'"(?:[^"\\\r\n]|\\[^\r\n])*+"'
# The same, but allowed to run over several lines, as free texts do.
LONG_STRING = r'"(?:[^"\\]|\\[\s\S])*+"'

# Comments to the end of the line, and between /* and */; a /* alone is one never closed.
SLASH_COMMENTS = r"//[^\r\n]*|/\*.*?\*/|/\*"
PERCENT_COMMENTS = r"%[^\r\n]*"

# The most bytes that the CPTs of a file may take, and the text that a gzip file unpacks to.
MAX_FILE_BYTES = 2**28

_BREAK = re.compile(r"\r\n?|\n")
_BLANKS = re.compile(r"\s*")
_MARK = re.compile("[;}]")  # ends a statement or a block
_SNIPPET = re.compile(r"[^\r\n]{1,30}")
_ESCAPE = re.compile(r'\\(["\\])')


@dataclass(frozen=True)
class Source:
    """The text of a file, under the name that messages give it."""

    name: str
    text: str
    breaks: tuple[int, ...]  # the offset of every line break
    limit: int = MAX_FILE_BYTES

    @classmethod
    def of(cls, name: str, text: str, limit: int = MAX_FILE_BYTES) -> Source:
        """Find the lines of a text, once."""
        return cls(name, text, tuple(match.start() for match in _BREAK.finditer(text)), limit)

    def location(self, offset: int) -> str:
        """The name of the file and the number of the line, as messages begin."""
        return f"{self.name}:{bisect_left(self.breaks, offset) + 1}"

    def without_comments(self, comments: str, string: str = STRING) -> Source:
        """The same text with spaces in place of comments; texts in quotes stay as they are.

        A quote that is never closed takes what follows with it: looked at again from every
        character behind it, a long text would cost quadratic time.
        """
        unclosed = string.removesuffix('"')
        pattern = re.compile(f"({string}|{unclosed})|(?:{comments})", re.DOTALL)

        def kept_or_blank(match: re.Match[str]) -> str:
            if match[0] == "/*":
                raise FormatError.syntax(
                    self.location(match.start()), "/*", "'*/' somewhere after it"
                )
            return match[1] or re.sub(r"[^\r\n]", " ", match[0])

        return replace(self, text=pattern.sub(kept_or_blank, self.text))


@dataclass
class Cursor:
    """A position in a text that moves forward as parts of the text are taken."""

    source: Source
    offset: int = 0
    within: str = ""  # the block that the cursor is in, in words

    def try_take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The match of a pattern here, moving behind it; None, and no move, without a match."""
        match = pattern.match(self.source.text, self.offset)
        if match:
            self.offset = match.end()
        return match

    def take(self, pattern: re.Pattern[str], expected: str) -> re.Match[str]:
        """The match of a pattern here, or an error that says what was expected."""
        match = self.try_take(pattern)
        if not match:
            raise self.unexpected(expected)
        return match

    def skip_blanks(self) -> str:
        """Move to the next character that is no blank; its location, as messages begin."""
        self.try_take(_BLANKS)
        return self.location

    def has_more(self) -> bool:
        """Whether anything but blanks is left; these are skipped."""
        self.skip_blanks()
        return self.offset < len(self.source.text)

    def check_end(self) -> None:
        """Refuse anything but blanks."""
        if self.has_more():
            raise self.unexpected("the end of the file")

    @property
    def location(self) -> str:
        """Where the cursor is, as messages begin."""
        return self.source.location(self.offset)

    def unexpected(self, expected: str) -> FormatError:
        """What to raise when the text here is not what it should be."""
        self.skip_blanks()
        text = self.source.text
        if self.within and not _MARK.search(text, self.offset):
            return FormatError(
                f"{self.source.location(len(text.rstrip()))}: the file ends here, within "
                f"{self.within}.",
                "it may be cut short: write or fetch it again.",
            )
        snippet = _SNIPPET.match(text, self.offset)
        return FormatError.syntax(self.location, snippet[0] if snippet else None, expected)


def without_quotes(word: str) -> str:
    """A name that may be in quotes."""
    return unquoted(word) if word.startswith('"') else word


def unquoted(text: str) -> str:
    """The name that a text in quotes stands for."""
    return _ESCAPE.sub(r"\1", text[1:-1])


NUMBER = r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?"
_SEPARATOR = r"(?:\s*+,\s*+|\s++)"
_NUMBERS = re.compile(rf"\s*+{NUMBER}(?:{_SEPARATOR}{NUMBER})*+\s*+")


def read_numbers(text: str, location: str, child: str) -> list[float]:
    """The numbers of a CPT, separated by blanks or single commas; at least one."""
    if not _NUMBERS.fullmatch(text):
        words = re.split(r"\s*,\s*|\s+", text.strip())
        wrong = next((word for word in words if not re.fullmatch(NUMBER, word)), text.strip())
        raise FormatError.not_a_number(location, child, wrong)
    return [float(word) for word in text.replace(",", " ").split()]


def numerals(row: Iterable[float] | FloatArray, separator: str = " ") -> str:
    """The shortest texts that give back each number to the bit, at most 17 digits."""
    return separator.join(map(repr, map(float, row)))
