"""Blocks in braces with ``key = value;`` and blocks inside, as in Netica's DNE and GeNIe's DSL.

A block begins with a word or two, ``node Age {`` or ``DEFINITION = {``. Only the blocks that a
reader asks for are looked into; the others, which hold colours and places, are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.source import LONG_STRING, STRING, Cursor, without_quotes

_WORD = r"[A-Za-z0-9_.]++"
_BLOCK = re.compile(rf"\s*({_WORD})\s*(?:=\s*)?({_WORD}|{STRING})?\s*\{{")
_ATTRIBUTE = re.compile(rf'\s*({_WORD})\s*=((?:[^;{{}}"]++|{LONG_STRING})*+);')
_END = re.compile(r"\s*\}(?:\s*;)?")
_STRAY = re.compile(r"\s*;")
_INSIDE = re.compile(rf'(?:[^{{}}"]++|{LONG_STRING})*+([{{}}])')
_ENTRY = rf'(?:{STRING}|[^\s"(),;{{}}]++)'
_LIST = re.compile(rf"\s*\(\s*(?:{_ENTRY}\s*(?:,\s*{_ENTRY}\s*)*+,?)?\s*\)\s*|\s*{_ENTRY}\s*")
_ONE_ENTRY = re.compile(_ENTRY)


@dataclass
class BracedBlock:
    """What stands between two braces: the values by their keys, and the blocks inside."""

    kind: str
    name: str
    location: str
    values: dict[str, Value] = field(default_factory=dict)
    blocks: list[BracedBlock] = field(default_factory=list)

    def value(self, key: str) -> Value | None:
        """The value of a key, None where it is not given."""
        return self.values.get(key)

    def word(self, key: str, default: str) -> str:
        """The value of a key that is one word or text."""
        value = self.values.get(key)
        return default if value is None else without_quotes(value.text.strip())

    def inside(self, kind: str) -> Iterator[BracedBlock]:
        """The blocks of a kind."""
        return (block for block in self.blocks if block.kind == kind)


@dataclass(frozen=True)
class Value:
    """The text behind a key, and where it begins."""

    text: str
    location: str

    def entries(self, what: str) -> list[str]:
        """The entries of a list in parentheses, ``(a, b)``, or the only one; ``what`` they are."""
        if not _LIST.fullmatch(self.text):
            raise FormatError.syntax(self.location, self.text.strip()[:30], f"{what} as (a, b)")
        return [without_quotes(entry) for entry in _ONE_ENTRY.findall(self.text)]

    def without_nesting(self) -> str:
        """The text with spaces in place of parentheses."""
        return self.text.replace("(", " ").replace(")", " ")


def read_block(
    cursor: Cursor, wanted: Mapping[str, Collection[str]], kind: str = ""
) -> BracedBlock:
    """The block that begins here, with the blocks inside that are wanted in a block of its kind.

    Parameters
    ----------
    wanted
        The kinds of blocks that are looked into, for each kind of block they stand in; the
        outermost stands in "". None is inside one of its own kind.
    kind
        The kind of block around it.
    """
    location = cursor.skip_blanks()
    expected = " or ".join(f"'{each} name {{'" for each in wanted[kind])
    head = cursor.take(_BLOCK, expected)
    if head[1] not in wanted[kind]:
        raise FormatError.syntax(location, head[0].strip()[:30], expected)
    block = BracedBlock(head[1], without_quotes(head[2] or ""), location)
    outer = cursor.within
    cursor.within = f"the block {f'{block.kind} {block.name}'.strip()}"
    while not cursor.try_take(_END):
        _take_item(cursor, wanted, block)
    cursor.within = outer
    return block


def _take_item(cursor: Cursor, wanted: Mapping[str, Collection[str]], block: BracedBlock) -> None:
    """Read what comes next in a block: a value, a block, or a semicolon that was left over."""
    location = cursor.skip_blanks()
    if attribute := cursor.try_take(_ATTRIBUTE):
        key = attribute[1]
        if key in block.values:
            raise FormatError.syntax(location, f"a second {key!r}", "another key")
        block.values[key] = Value(attribute[2], location)
        return
    if cursor.try_take(_STRAY):
        return
    start = cursor.offset
    head = cursor.take(_BLOCK, "'key = value;' or '}'")
    if head[1] in wanted.get(block.kind, ()):
        cursor.offset = start
        block.blocks.append(read_block(cursor, wanted, block.kind))
        return
    _pass_over(cursor)


def _pass_over(cursor: Cursor) -> None:
    """Move behind the brace that closes a block whose opening brace was taken."""
    depth = 1
    while depth:
        depth += 1 if cursor.take(_INSIDE, "'}'")[1] == "{" else -1
    cursor.try_take(_STRAY)
