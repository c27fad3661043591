"""The Interchange Format (BIF), as written by the Bayesian network repository and others.

A row of a CPT names the states of the parents and lists the probabilities of the child's
states. A ``table`` lists the whole CPT with the *child slowest*; a ``default`` row stands for
every configuration without a row of its own. Probability blocks that are all empty give a
network without CPTs, and so do those that hold only -1, which stands for "to be learned". The
property ``lacunet_unsupported`` of a variable numbers the rows of its CPT that no data support.

Names in BIF: bare or in quotes, in lists with commas or without.

Files in the wild write states such as ``<5``, ``c(d)``, ``Asy/Patch`` and ``very low`` without
quotes. So a bare name is whatever stands between two commas. Only a list without any comma
is split at its spaces.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from lacunet.network.formats.draft import (
    Declared,
    Family,
    Row,
    Variables,
    assemble,
    declare,
    family,
    from_flat,
    from_rows,
    is_one_line,
    keyed_rows,
    refuse,
    rows_without_data,
)
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.source import (
    SLASH_COMMENTS,
    STRING,
    Cursor,
    Source,
    read_numbers,
    unquoted,
)
from lacunet.network.network import Network
from lacunet.text import in_quotes

_TO_BE_LEARNED = -1  # in place of every probability

_FREE = rf'(?:[^;{{}}"]++|{STRING})*+'
_KEYWORD = re.compile(r'\s*(network|variable|probability)(?=[\s"({])')
_HEAD = re.compile(rf"({_FREE})\{{")
_END = re.compile(r"\s*\}")
_PROPERTY = re.compile(rf'\s*property\b((?:[^;"]++|{STRING})*+);')
_UNSUPPORTED = re.compile(r'\s*lacunet_unsupported\s*=\s*"([^"]*)"\s*')
_TYPE = re.compile(rf"\s*type\s+discrete\s*\[\s*([0-9]{{1,9}})\s*\]\s*\{{({_FREE})\}}\s*;")
_STATEMENT = re.compile(rf"\s*({_FREE});")
_WHOLE = re.compile(r"(table|default)\b")
_ROW = re.compile(r"\([^)]*+\)")
_SIDE = rf'(?:[^"|]++|{STRING})*+'
_SIDES = re.compile(rf"({_SIDE})(?:\|({_SIDE}))?")


def parse(source: Source) -> Network:
    """The network that a BIF text describes."""
    source = source.without_comments(SLASH_COMMENTS)
    declared: list[Declared] = []
    blocks: list[tuple[str, str, list[tuple[str, str]]]] = []  # head, location, statements
    cursor = Cursor(source)
    while cursor.has_more():
        cursor.within = ""
        keyword = cursor.take(_KEYWORD, "'network', 'variable' or 'probability'")[1]
        location = cursor.location
        head = cursor.take(_HEAD, "a name and '{'")[1]
        if keyword == "variable":
            declared.append(_variable(cursor, name(head, location), location))
        elif keyword == "probability":
            child = head.strip().removeprefix("(").partition("|")[0].rstrip(" )").strip()
            cursor.within = f"the CPT of {child}"
            blocks.append((head, location, [*_statements(cursor)]))
        else:
            deque(_properties(cursor), maxlen=0)  # the network's own are passed over
            cursor.take(_END, "'property' or '}'")
    variables = declare(source, declared)
    return assemble(variables, (_family(variables, *block) for block in blocks))


def _properties(cursor: Cursor) -> Iterator[tuple[str, str]]:
    """The text of each property that follows, and its location."""
    while match := cursor.try_take(_PROPERTY):
        yield match[1], cursor.source.location(match.start(1))


def _variable(cursor: Cursor, variable: str, location: str) -> Declared:
    cursor.within = f"the variable {variable}"
    properties = [*_properties(cursor)]
    declaration = cursor.take(_TYPE, "'type discrete [ number ] { states };'")
    properties += _properties(cursor)
    cursor.take(_END, "'property' or '}'")
    announced = int(declaration[1])
    states = listed_names(declaration[2], location, announced)
    if len(states) != announced:
        raise FormatError.state_count(location, variable, announced, states)
    rows = [(mark[1], line) for text, line in properties if (mark := _UNSUPPORTED.fullmatch(text))]
    return Declared(variable, tuple(states), location, rows[0] if rows else None)


def _statements(cursor: Cursor) -> Iterator[tuple[str, str]]:
    """The text of each statement of a probability block, and its location."""
    while not cursor.try_take(_END):
        if not cursor.try_take(_PROPERTY):
            match = cursor.take(_STATEMENT, "a row of numbers with ';' or '}'")
            text = match[1]
            location = cursor.source.location(match.start(1))
            if not _ROW.match(text) and not _WHOLE.match(text):
                expected = "'( states ) numbers', 'table' or 'default'"
                raise FormatError.syntax(location, text[:30], expected)
            yield text, location


def _family(
    variables: Variables, head: str, location: str, statements: list[tuple[str, str]]
) -> Family:
    """The family of a probability block: rows with their keys, a whole table or a default."""
    members = _with_table(_members(variables, head.strip(), location), statements)
    if members.table is not None and (members.table == _TO_BE_LEARNED).all():
        return replace(members, table=None)
    return members


def _with_table(members: Family, statements: list[tuple[str, str]]) -> Family:
    """The family with the CPT that the statements of its block give, if there are any."""
    if not statements:
        return members
    rows: list[Row] = []
    whole: dict[str, Row] = {}  # what stands for many rows, by its keyword
    for text, where in statements:
        if kind := _WHOLE.match(text):
            if kind[1] in whole:
                raise FormatError.duplicate_row(where, members.child, f"its {kind[1]!r}")
            whole[kind[1]] = Row((), text[kind.end() :], where)
        else:
            # States may hold parentheses, numbers do not: the last one closes the key.
            key, _, numbers = text.removeprefix("(").rpartition(")")
            rows.append(Row(listed_names(key, where, len(members.parents)), numbers, where))
    table = whole.get("table")
    if table is None:
        return from_rows(members, rows, whole.get("default"))
    if len(statements) > 1:
        what = "what its 'table' gives"
        raise FormatError.duplicate_row(members.location, members.child, what)
    numbers_of_all = read_numbers(table.numbers, table.location, members.child)
    return from_flat(members, numbers_of_all, order="child first")


def _members(variables: Variables, head: str, location: str) -> Family:
    """The child and its parents: ``( child | parents )``, or ``( child parents )`` as of old."""
    sides = _SIDES.fullmatch(head[1:-1])
    if not (sides and head.startswith("(") and head.endswith(")") and len(head) > 1):
        raise FormatError.syntax(location, head, "'( child | parents )'")
    first = _names(sides[1], variables, location)
    if sides[2] is None:
        return family(variables, first[0], first[1:], location)
    if len(first) != 1:
        raise FormatError.syntax(location, sides[1].strip(), "one variable before '|'")
    return family(variables, first[0], _names(sides[2], variables, location), location)


def _names(text: str, variables: Variables, location: str) -> list[str]:
    """The variables of a list; a bare name may hold blanks where the file declares it so."""
    bare_name = text.strip()
    if bare_name in variables.positions_of:
        return [bare_name]
    return listed_names(text, location)


def render(network: Network) -> str:
    """The BIF text of a network; empty probability blocks where it has no CPTs."""
    refuse(network, "BIF", ".json", is_one_line, is_one_line)

    def names_of(parent: str) -> Iterator[str]:
        return map(bif_name, network.states(parent))

    blocks = ["network unknown {\n}\n"]
    for variable in network.variables:
        states = ", ".join(map(bif_name, network.states(variable)))
        unsupported = ""
        if (numbers := rows_without_data(network, variable)) is not None:
            unsupported = f'  property lacunet_unsupported = "{numbers}";\n'
        blocks.append(
            f"variable {bif_name(variable)} {{\n"
            f"  type discrete [ {network.cardinality(variable)} ] {{ {states} }};\n"
            f"{unsupported}}}\n"
        )
    for variable in network.variables:
        parents = network.parents(variable)
        given = f" | {', '.join(map(bif_name, parents))}" if parents else ""
        blocks.append(f"probability ( {bif_name(variable)}{given} ) {{\n")
        rows = keyed_rows(network, variable, names_of) if network.has_cpts else ()
        for key, numbers in rows:
            blocks.append(f"  {f'({key})' if key else 'table'} {numbers};\n")
        blocks.append("}\n")
    return "".join(blocks)


def is_portable(variable: str, state: str) -> bool:
    """Whether the readers of other programs take the names, not only ours."""
    is_keyword = variable.lower() in _KEYWORDS or state.lower() in _KEYWORDS
    has_marks = not (_PORTABLE_NAME.fullmatch(variable) and _PORTABLE_STATE.fullmatch(state))
    return not (is_keyword or has_marks)


_ITEM = re.compile(rf'\s*+({STRING}|[^",]*+)\s*+,')
_WORD = re.compile(rf'\s*({STRING}|[^",\s]+)(?=\s|"|$)')
# What pyAgrum and bnlearn read without quotes, which neither of them knows.
_PORTABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PORTABLE_STATE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+")
_KEYWORDS = (
    "network",
    "variable",
    "probability",
    "property",
    "type",
    "discrete",
    "default",
    "table",
)
_BARE = re.compile(r'[^\s",;|(){}\[\]\\]+')


def listed_names(text: str, location: str, count: int = 0) -> list[str]:
    """The names of a list: between commas, or between blanks where it has no comma.

    A name in quotes may hold commas and blanks; so may the only name of a list that should have
    one, ``count``, hold blanks without quotes.
    """
    has_quotes = '"' in text
    if count == 1 or "," in (re.sub(STRING, "", text) if has_quotes else text):
        if not has_quotes:
            return [name(item, location) for item in text.split(",")]
        pattern = _ITEM
        text = f"{text},"
    else:
        pattern = _WORD
        text = text.strip() or ","
    listed = []
    offset = 0
    while offset < len(text):
        match = pattern.match(text, offset)
        if not match:
            raise FormatError.syntax(location, text.strip(" ,"), "a list of names")
        listed.append(name(match[1], location))
        offset = match.end()
    return listed


def name(text: str, location: str) -> str:
    """The one name that a text stands for."""
    text = text.strip()
    if text.startswith('"'):
        if not re.fullmatch(STRING, text):
            raise FormatError.syntax(location, text, "one name in quotes")
        return unquoted(text)
    if not text:
        raise FormatError.syntax(location, text, "a name")
    if re.search(r'[\r\n"]', text):
        raise FormatError.syntax(
            location, text, "a name on one line, with quotes around all of it,"
        )
    return text


def bif_name(text: str) -> str:
    """A name as BIF carries it: bare where every reader takes it, in quotes elsewhere."""
    if _BARE.fullmatch(text) and "//" not in text and "/*" not in text:
        return text
    return in_quotes(text)
