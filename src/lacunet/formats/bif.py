"""The Interchange Format (BIF), as written by the Bayesian network repository and others.

A row of a CPT names the states of the parents and lists the probabilities of the child's
states. A ``table`` lists the whole CPT with the *child slowest*; a ``default`` row stands for
every configuration without a row of its own. Probability blocks that are all empty give a
network without CPTs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from lacunet.formats.bif_names import counted, name, quoted, separated
from lacunet.formats.draft import (
    Declared,
    Family,
    Potential,
    States,
    assemble,
    bare,
    declare,
    family,
    from_flat,
    from_rows,
)
from lacunet.formats.errors import FormatError
from lacunet.formats.names import is_one_line, refuse_names
from lacunet.formats.numerals import numerals, read_numbers
from lacunet.formats.source import STRING, Cursor, Source
from lacunet.model.network import Network

_COMMENTS = r"//[^\n]*|/\*.*?\*/"
_FREE = rf'(?:[^;{{}}"]++|{STRING})*+'
_KEYWORD = re.compile(r'\s*(network|variable|probability)(?=[\s"({])')
_HEAD = re.compile(rf"({_FREE})\{{")
_END = re.compile(r"\s*\}")
_PROPERTY = re.compile(rf'\s*property\b(?:[^;"]++|{STRING})*+;')
_TYPE = re.compile(
    rf"\s*type\s+discrete\s*\[\s*([0-9]{{1,9}})\s*\]\s*\{{({_FREE})\}}\s*;",
)
_STATEMENT = re.compile(rf"\s*({_FREE});")
_WHOLE = re.compile(r"(table|default)\b")
_SIDE = rf'(?:[^"|]++|{STRING})*+'
_SIDES = re.compile(rf"({_SIDE})(?:\|({_SIDE}))?")


@dataclass(frozen=True)
class Block:
    """A probability block as it stands in the file: its members and its statements."""

    head: str
    place: str
    statements: tuple[tuple[int, str], ...]  # the offset and the text of each


@dataclass(frozen=True)
class Statements:
    """What the statements of a block say: rows by their number, a default, a whole table."""

    rows: dict[int, list[float]]
    offsets: dict[int, int]
    default: list[float] | None = None
    table: list[float] | None = None


def parse(source: Source) -> Network:
    """The network that a BIF text describes."""
    source = source.without_comments(_COMMENTS)
    declared: list[Declared] = []
    blocks: list[Block] = []
    cursor = Cursor(source)
    cursor.skip_blanks()
    while not cursor.is_at_end:
        keyword = cursor.take(_KEYWORD, "'network', 'variable' or 'probability'")[1]
        place = cursor.place
        head = cursor.take(_HEAD, "a name and '{'")[1]
        if keyword == "variable":
            declared.append(_variable(cursor, name(head, place), place))
        elif keyword == "probability":
            blocks.append(Block(head, place, tuple(_statements(cursor))))
        else:
            _skip_properties(cursor)
        cursor.skip_blanks()
    states_of = declare(source.name, declared)
    return assemble(source.name, states_of, [_potential(source, states_of, b) for b in blocks])


def _skip_properties(cursor: Cursor) -> None:
    while cursor.try_take(_PROPERTY):
        pass
    cursor.take(_END, "'property' or '}'")


def _variable(cursor: Cursor, variable: str, place: str) -> Declared:
    while cursor.try_take(_PROPERTY):
        pass
    found = cursor.take(_TYPE, "'type discrete [ number ] { states };'")
    _skip_properties(cursor)
    announced = int(found[1])
    states = counted(found[2], announced, place)
    if len(states) != announced:
        raise FormatError.state_count(place, variable, announced, states)
    return Declared(variable, tuple(states), place)


def _statements(cursor: Cursor) -> Iterator[tuple[int, str]]:
    while not cursor.try_take(_END):
        if not cursor.try_take(_PROPERTY):
            found = cursor.take(_STATEMENT, "a row of numbers with ';' or '}'")
            yield found.start(1), found[1]


def _potential(source: Source, states_of: States, block: Block) -> Potential:
    members = _members(states_of, block)
    if not block.statements:
        return bare(members)
    found = Statements({}, {})
    for offset, text in block.statements:
        found = _add(found, source, members, offset, text)
    if found.table is None:
        return from_rows(
            members,
            found.rows,
            lambda row: source.at(found.offsets.get(row, offset)),
            found.default,
        )
    if len(block.statements) > 1:
        raise FormatError.duplicate_row(members.place, members.child, "what its 'table' gives")
    flat = from_flat(members, found.table)
    slowest = np.reshape(found.table, (len(members.states[-1]), *members.shape[:-1]))
    return replace(flat, table=np.ascontiguousarray(np.moveaxis(slowest, 0, -1)))


def _members(states_of: States, block: Block) -> Family:
    """The child and its parents: ``( child | parents )``, or ``( child parents )`` as of old."""
    head = block.head.strip()
    found = _SIDES.fullmatch(head[1:-1])
    if not (found and head.startswith("(") and head.endswith(")") and len(head) > 1):
        raise FormatError.syntax(block.place, head, "'( child | parents )'")
    first = _variables(found[1], states_of, block.place)
    if found[2] is None:
        return family(states_of, first[0], first[1:], block.place)
    if len(first) != 1:
        raise FormatError.syntax(block.place, found[1].strip(), "one variable before '|'")
    return family(states_of, first[0], _variables(found[2], states_of, block.place), block.place)


def _variables(text: str, states_of: States, place: str) -> list[str]:
    """The variables of a list; a bare name may hold blanks where the file declares it so."""
    return [text.strip()] if text.strip() in states_of else separated(text, place)


def _add(found: Statements, source: Source, members: Family, offset: int, text: str) -> Statements:
    """Read one more statement of a block; the rows are added to those found so far."""
    place = source.at(offset)
    if text.startswith("("):
        key, closing, rest = text[1:].rpartition(")")
        if not closing:
            raise FormatError.syntax(place, text[:30], "'( states ) numbers'")
        row = _row_number(key, members, place)
        if row in found.rows:
            raise FormatError.duplicate_row(place, members.child, members.given(row))
        found.rows[row] = _row(rest, members, place)
        found.offsets[row] = offset
        return found
    whole = _WHOLE.match(text)
    if not whole:
        raise FormatError.syntax(place, text[:30], "'( states ) numbers', 'table' or 'default'")
    if (found.table if whole[1] == "table" else found.default) is not None:
        raise FormatError.duplicate_row(place, members.child, f"its {whole[1]!r}")
    if whole[1] == "table":
        return replace(found, table=read_numbers(text[whole.end() :], place, members.child))
    return replace(found, default=_row(text[whole.end() :], members, place))


def _row_number(key: str, members: Family, place: str) -> int:
    """The number of the row that a key such as ``yes, no`` names, the first parent slowest."""
    states = counted(key, len(members.parents), place)
    if len(states) != len(members.parents):
        raise FormatError.key_length(place, members.child, key.strip(), members.parents)
    row = 0
    for parent, state, known in zip(members.parents, states, members.states, strict=False):
        if state not in known:
            raise FormatError.unknown_state(place, members.child, parent, state, known)
        row = row * len(known) + known.index(state)
    return row


def _row(text: str, members: Family, place: str) -> list[float]:
    numbers = read_numbers(text, place, members.child)
    if len(numbers) != len(members.states[-1]):
        expected = len(members.states[-1])
        raise FormatError.wrong_length(place, members.child, len(numbers), expected)
    return numbers


def render(network: Network) -> str:
    """The BIF text of a network; empty probability blocks where it has no CPTs."""
    refuse_names(network, "BIF", is_one_line, is_one_line, ".json")
    blocks = ["network unknown {\n}\n"]
    for variable in network.variables:
        states = ", ".join(map(quoted, network.states(variable)))
        blocks.append(
            f"variable {quoted(variable)} {{\n"
            f"  type discrete [ {network.cardinality(variable)} ] {{ {states} }};\n}}\n"
        )
    blocks.extend(_probability(network, variable) for variable in network.variables)
    return "".join(blocks)


def _probability(network: Network, variable: str) -> str:
    parents = network.parents(variable)
    given = f" | {', '.join(map(quoted, parents))}" if parents else ""
    rows = "".join(_rendered_rows(network, variable)) if network.has_cpts else ""
    return f"probability ( {quoted(variable)}{given} ) {{\n{rows}}}\n"


def _rendered_rows(network: Network, variable: str) -> Iterator[str]:
    table = network.cpt(variable).table
    if table.ndim == 1:
        yield f"  table {numerals(table, ', ')};\n"
        return
    keys = product(*(map(quoted, network.states(one)) for one in network.parents(variable)))
    rows = table.reshape(-1, table.shape[-1]).tolist()
    for key, row in zip(keys, rows, strict=True):
        yield f"  ({', '.join(key)}) {numerals(row, ', ')};\n"
