"""Names in BIF: bare or in quotes, in lists with commas or without.

Files in the wild write states such as ``<5``, ``c(d)``, ``Asy/Patch`` and ``very low`` without
quotes. So a bare name is whatever stands between two commas. Only a list without any comma
is split at its blanks.
"""

from __future__ import annotations

import re

from lacunet.formats.errors import FormatError
from lacunet.formats.source import STRING, unquoted

_ITEM = re.compile(rf'\s*+({STRING}|[^",]*+)\s*+(,|$)')
_WORD = re.compile(rf'\s*({STRING}|[^",\s]+)(?=\s|"|$)')
_BARE = re.compile(r'[^\s",;|(){}\[\]\\]+')


def listed(text: str, place: str) -> list[str]:
    """The names between commas; a name in quotes may hold commas itself."""
    if '"' not in text:
        return [_checked(item.strip(), place) for item in text.split(",")]
    names, at = [], 0
    while True:
        found = _ITEM.match(text, at)
        if not found:
            raise FormatError.syntax(place, text.strip(), "a list of names with commas")
        names.append(name(found[1], place))
        if not found[2]:
            return names
        at = found.end()


def counted(text: str, count: int, place: str) -> list[str]:
    """The names of a list that should have ``count``: one name may hold blanks without quotes."""
    return listed(text, place) if count == 1 else separated(text, place)


def separated(text: str, place: str) -> list[str]:
    """The names of a list: between commas, or between blanks where it has no comma."""
    outside_quotes = re.sub(STRING, "", text) if '"' in text else text
    return listed(text, place) if "," in outside_quotes else _words(text, place)


def _words(text: str, place: str) -> list[str]:
    """The names between blanks; a name in quotes may hold blanks itself."""
    names: list[str] = []
    at, text = 0, text.strip()
    if not text:
        raise FormatError.syntax(place, text, "a name")
    while at < len(text):
        found = _WORD.match(text, at)
        if not found:
            raise FormatError.syntax(place, text.strip(), "a list of names")
        names.append(name(found[1], place))
        at = found.end()
    return names


def name(text: str, place: str) -> str:
    """The one name that a text stands for."""
    text = text.strip()
    if not text.startswith('"'):
        return _checked(text, place)
    if not re.fullmatch(STRING, text):
        raise FormatError.syntax(place, text, "one name in quotes")
    return unquoted(text)


def _checked(text: str, place: str) -> str:
    if not text:
        raise FormatError.syntax(place, text, "a name")
    if "\n" in text or "\r" in text or '"' in text:
        raise FormatError.syntax(place, text, "a name on one line, with quotes around all of it,")
    return text


def quoted(text: str) -> str:
    """A name as BIF carries it: bare where every reader takes it, in quotes elsewhere."""
    if _BARE.fullmatch(text) and "//" not in text and "/*" not in text:
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
