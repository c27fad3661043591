"""Microsoft's DSC: the rows of a CPT are keyed by the numbers of the parents' states, from 0."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lacunet.network.formats.draft import (
    Declared,
    Family,
    Row,
    Variables,
    assemble,
    declare,
    family,
    from_rows,
    is_identifier,
    is_quotable,
    keyed_rows,
    refuse,
)
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.source import SLASH_COMMENTS, STRING, Cursor, Source, without_quotes
from lacunet.network.network import Network

_WORD = rf"(?:{STRING}|[A-Za-z0-9_.-]++)"
_HEAD = re.compile(rf"\s*belief\s+network(?:\s*{_WORD})?")
_NODE = re.compile(rf"\s*node\s*({_WORD})\s*\{{")
_TYPE = re.compile(
    rf"\s*type\s*:\s*discrete\s*\[\s*([0-9]{{1,9}})\s*\]\s*=\s*\{{"
    rf"(\s*{_WORD}(?:\s*,\s*{_WORD})*+)\s*\}}\s*;?"
)
_FIELDS = re.compile(
    rf'(?:\s*(?:name|position|state|property|category)\s*[:=](?:[^;{{}}"]++|{STRING})*+;)*+'
)
_PROBABILITY = re.compile(
    rf"\s*probability\s*\(\s*({_WORD})\s*(?:\|(\s*{_WORD}(?:\s*,\s*{_WORD})*+)\s*)?\)\s*\{{"
)
_ROW = re.compile(r"\s*(?:\(([0-9,\s]*)\)\s*:)?((?:[^;{}:()])*+);")
_SPECIAL = re.compile(r"\s*(function|default|leak)\b")
_END = re.compile(r"\s*\}\s*;?")
_ONE_WORD = re.compile(_WORD)


def parse(source: Source) -> Network:
    """The network that a DSC text describes."""
    source = source.without_comments(SLASH_COMMENTS)
    cursor = Cursor(source)
    cursor.try_take(_HEAD)
    declared: list[Declared] = []
    blocks: list[tuple[str, list[str], str, list[Row]]] = []  # child, parents, location, rows
    while cursor.has_more():
        location = cursor.location
        if node := cursor.try_take(_NODE):
            declared.append(_variable(cursor, without_quotes(node[1]), location))
        else:
            match = cursor.take(_PROBABILITY, "'node' or 'probability ( child | parents ) {'")
            child = without_quotes(match[1])
            parents = _words(match[2] or "")
            blocks.append((child, parents, location, [*_rows(cursor)]))
    variables = declare(source, declared)
    return assemble(variables, (_family(variables, *block) for block in blocks))


def _words(text: str) -> list[str]:
    return [without_quotes(word) for word in _ONE_WORD.findall(text)]


def _variable(cursor: Cursor, name: str, location: str) -> Declared:
    cursor.try_take(_FIELDS)
    declaration = cursor.take(_TYPE, "'type : discrete [ number ] = { \"states\" };'")
    cursor.try_take(_FIELDS)
    cursor.take(_END, "'}'")
    states = tuple(_words(declaration[2]))
    if len(states) != int(declaration[1]):
        raise FormatError.state_count(location, name, int(declaration[1]), states)
    return Declared(name, states, location)


def _rows(cursor: Cursor) -> Iterator[Row]:
    while not cursor.try_take(_END):
        location = cursor.skip_blanks()
        if special := cursor.try_take(_SPECIAL):
            raise FormatError(
                f"{location}: a CPT uses {special[1]!r}.",
                "only plain tables can be read; convert the node to one first.",
            )
        match = cursor.take(_ROW, "'( state numbers ) : numbers;' or '}'")
        key = () if match[1] is None else [_number(word) for word in match[1].split(",")]
        yield Row(key, match[2], location)


def _number(word: str) -> str:
    return word.strip().lstrip("0") or word.strip()[:1]


def _family(
    variables: Variables, child: str, parents: list[str], location: str, rows: list[Row]
) -> Family:
    members = family(variables, child, parents, location)
    numbered = [{str(index): index for index in range(size)} for size in members.shape]
    return from_rows(members, rows, states=numbered) if rows else members


def render(network: Network) -> str:
    """The DSC text of a network with CPTs."""
    refuse(network, "DSC", ".bif or .json", is_identifier, is_quotable, needs_cpts=True)

    def numbers_of(parent: str) -> Iterator[str]:
        return map(str, range(network.cardinality(parent)))

    blocks = ['belief network "unknown"\n']
    for variable in network.variables:
        states = ", ".join(f'"{state}"' for state in network.states(variable))
        size = network.cardinality(variable)
        blocks.append(f"node {variable} {{\n  type : discrete [ {size} ] = {{ {states} }};\n}}\n")
    for variable in network.variables:
        parents = network.parents(variable)
        given = f" | {', '.join(parents)}" if parents else ""
        blocks.append(f"probability ( {variable}{given} ) {{\n")
        for key, numbers in keyed_rows(network, variable, numbers_of):
            blocks.append(f"  {f'({key}) : ' if key else ''}{numbers};\n")
        blocks.append("}\n")
    return "".join(blocks)
