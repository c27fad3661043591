"""Microsoft's DSC: the rows of a CPT are keyed by the numbers of the parents' states, from 0."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from lacunet.formats.draft import (
    Declared,
    Family,
    Potential,
    Variables,
    assemble,
    bare,
    declare,
    family,
    from_rows,
    is_identifier,
    is_quotable,
    refuse_bare,
    refuse_names,
)
from lacunet.formats.errors import FormatError
from lacunet.formats.source import (
    SLASH_COMMENTS,
    STRING,
    Cursor,
    Source,
    numerals,
    read_numbers,
    unquoted,
)
from lacunet.model.network import Network

_WORD = rf"(?:{STRING}|[A-Za-z0-9_.-]++)"
_HEAD = re.compile(rf"\s*belief\s+network(?:\s*{_WORD})?")
_NODE = re.compile(rf"\s*node\s*({_WORD})\s*\{{")
_TYPE = re.compile(
    rf"\s*type\s*:\s*discrete\s*\[\s*([0-9]{{1,9}})\s*\]\s*=\s*\{{"
    rf"(\s*{_WORD}(?:\s*,\s*{_WORD})*+)\s*\}}\s*;?"
)
_FIELD = re.compile(
    rf'\s*(name|position|state|property|category)\s*[:=](?:[^;{{}}"]++|{STRING})*+;'
)
_PROBABILITY = re.compile(
    rf"\s*probability\s*\(\s*({_WORD})\s*(?:\|(\s*{_WORD}(?:\s*,\s*{_WORD})*+)\s*)?\)\s*\{{"
)
_ROW = re.compile(r"\s*(?:\(([0-9,\s]*)\)\s*:)?((?:[^;{}:()])*+);")
_SPECIAL = re.compile(r"\s*(function|default|leak)\b")
_END = re.compile(r"\s*\}\s*;?")
_ONE_WORD = re.compile(_WORD)


@dataclass(frozen=True)
class Block:
    """A probability block as it stands in the file: its members and its rows."""

    child: str
    parents: tuple[str, ...]
    place: str
    rows: tuple[tuple[str, str | None, str], ...]  # place, key, numbers


def parse(source: Source) -> Network:
    """The network that a DSC text describes."""
    source = source.without_comments(SLASH_COMMENTS)
    cursor = Cursor(source)
    cursor.try_take(_HEAD)
    declared: list[Declared] = []
    blocks: list[Block] = []
    cursor.skip_blanks()
    while not cursor.is_at_end:
        place = cursor.place
        if node := cursor.try_take(_NODE):
            declared.append(_variable(cursor, _plain(node[1]), place))
        else:
            found = cursor.take(_PROBABILITY, "'node' or 'probability ( child | parents ) {'")
            parents = tuple(_words(found[2] or ""))
            blocks.append(Block(_plain(found[1]), parents, place, tuple(_rows(cursor))))
        cursor.skip_blanks()
    variables = declare(source, declared)
    return assemble(variables, (_potential(variables, block) for block in blocks))


def _plain(word: str) -> str:
    return unquoted(word) if word.startswith('"') else word


def _words(text: str) -> list[str]:
    return [_plain(word) for word in _ONE_WORD.findall(text)]


def _variable(cursor: Cursor, name: str, place: str) -> Declared:
    while cursor.try_take(_FIELD):
        pass
    found = cursor.take(_TYPE, "'type : discrete [ number ] = { \"states\" };'")
    while cursor.try_take(_FIELD):
        pass
    cursor.take(_END, "'}'")
    states = tuple(_words(found[2]))
    if len(states) != int(found[1]):
        raise FormatError.state_count(place, name, int(found[1]), states)
    return Declared(name, states, place)


def _rows(cursor: Cursor) -> Iterator[tuple[str, str | None, str]]:
    while not cursor.try_take(_END):
        cursor.skip_blanks()
        place = cursor.place
        if special := cursor.try_take(_SPECIAL):
            raise FormatError(
                f"{place}: a CPT uses {special[1]!r}.",
                "only plain tables can be read; convert the node to one first.",
            )
        found = cursor.take(_ROW, "'( state numbers ) : numbers;' or '}'")
        yield place, found[1], found[2]


def _potential(variables: Variables, block: Block) -> Potential:
    members = family(variables, block.child, block.parents, block.place)
    if not block.rows:
        return bare(members)
    rows: dict[int, list[float]] = {}
    places: dict[int, str] = {}
    for place, key, text in block.rows:
        row = _row_number(key, members, place)
        if row in rows:
            raise FormatError.duplicate_row(place, members.child, members.given(row))
        rows[row] = read_numbers(text, place, members.child)
        places[row] = place
        if len(rows[row]) != members.shape[-1]:
            found, needed = len(rows[row]), members.shape[-1]
            raise FormatError.wrong_length(place, members.child, found, needed, members.given(row))
    return from_rows(members, rows, places.__getitem__)


def _row_number(key: str | None, members: Family, place: str) -> int:
    """The number of the row with a key such as ``0, 2``, the first parent slowest."""
    words = [word.strip() for word in key.split(",")] if key is not None else []
    if len(words) != len(members.parents) or not all(re.fullmatch("[0-9]{1,9}", w) for w in words):
        raise FormatError.key_length(place, members.child, key or "", members.parents)
    row = 0
    for parent, word, size in zip(members.parents, words, members.shape, strict=False):
        if int(word) >= size:
            numbers = map(str, range(size))
            raise FormatError.unknown_state(place, members.child, parent, word, numbers)
        row = row * size + int(word)
    return row


def render(network: Network) -> str:
    """The DSC text of a network with CPTs."""
    refuse_names(network, "DSC", is_identifier, is_quotable, ".bif or .json")
    refuse_bare(network, "DSC", ".bif or .json")
    blocks = ['belief network "unknown"\n']
    for variable in network.variables:
        states = ", ".join(f'"{state}"' for state in network.states(variable))
        size = network.cardinality(variable)
        blocks.append(f"node {variable} {{\n  type : discrete [ {size} ] = {{ {states} }};\n}}\n")
    for variable in network.variables:
        parents = network.parents(variable)
        given = f" | {', '.join(parents)}" if parents else ""
        rows = "".join(_rendered_rows(network, variable))
        blocks.append(f"probability ( {variable}{given} ) {{\n{rows}}}\n")
    return "".join(blocks)


def _rendered_rows(network: Network, variable: str) -> Iterator[str]:
    table = network.cpt(variable).table
    keys = product(*(range(size) for size in table.shape[:-1]))
    for key, row in zip(keys, table.reshape(-1, table.shape[-1]).tolist(), strict=True):
        prefix = f"({', '.join(map(str, key))}) : " if key else ""
        yield f"  {prefix}{numerals(row, ', ')};\n"
