"""Hugin's NET: a potential lists its numbers with the child fastest, the first parent slowest.

Parentheses inside ``data`` only show the shape: those inside the outermost pair may be left
out, but must not contradict the parents. Where all numbers of a potential are whole and its rows
have larger sums than one, they are counts, and each row is divided by its sum.

Potentials that are all empty give a network without CPTs. A file that holds one class instead of
a network is read if the class has no inputs.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from lacunet.errors import warn
from lacunet.network.formats.draft import (
    MAX_VARIABLES_LISTED,
    Declared,
    Family,
    Variables,
    assemble,
    check_nesting,
    declare,
    family,
    from_flat,
    is_identifier,
    is_quotable,
    refuse,
)
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.source import (
    LONG_STRING,
    PERCENT_COMMENTS,
    STRING,
    Cursor,
    Source,
    numerals,
    read_numbers,
    without_quotes,
)
from lacunet.network.network import FloatArray, Network
from lacunet.text import listed

_WORD = r"[A-Za-z0-9_][A-Za-z0-9_.]*"  # bnlearn writes names with dots, others numbers
_HEAD = re.compile(r"\s*net\s*\{")
_CLASS = re.compile(rf"\s*class\s+{_WORD}\s*\{{")
_NODE = re.compile(rf"\s*(?:discrete\s+)?node\s+({_WORD})\s*\{{")
_POTENTIAL = re.compile(rf"\s*potential\s*\(\s*({_WORD})\s*(?:\|([\w\s,.]*))?\)\s*\{{", re.ASCII)
_OTHER = re.compile(r"\s*(continuous|decision|utility|function|interval|class|instance)\b")
_ATTRIBUTE = re.compile(rf'\s*({_WORD})\s*=((?:[^;{{}}"]++|{LONG_STRING})*+);')
# Attributes of a potential that the format defines; those of applications have capitals.
_KNOWN = ("data", "experience", "fading", "samples_per_interval")
_END = re.compile(r"\s*\}")
_STATE = rf'(?:{STRING}|[^\s"(),;]++)'
_STATES = re.compile(rf"\s*\(((?:\s*{_STATE}(?=[\s)]))*+)\s*\)\s*")
_ONE_STATE = re.compile(_STATE)

Attributes = dict[str, tuple[str, str]]  # each value with its location


def parse(source: Source) -> Network:
    """The network that a NET text describes."""
    source = source.without_comments(PERCENT_COMMENTS, LONG_STRING)
    cursor = Cursor(source)
    is_class = cursor.try_take(_CLASS) is not None
    if not is_class and cursor.try_take(_HEAD):
        _attributes(cursor)
    declared: list[Declared] = []
    potentials: list[tuple[str, re.Match[str], Attributes]] = []

    def is_within() -> bool:  # a class ends with a brace, any other network with the text
        return cursor.try_take(_END) is None if is_class else cursor.has_more()

    while is_within():
        location = cursor.skip_blanks()
        if node := cursor.try_take(_NODE):
            declared.append(_variable(node[1], _attributes(cursor), location))
        elif other := cursor.try_take(_OTHER):
            raise FormatError(
                f"{location}: the file holds a {other[1]!r}.",
                "only discrete chance nodes can be read.",
            )
        elif is_class and (attribute := cursor.try_take(_ATTRIBUTE)):
            if attribute[1] == "inputs" and attribute[2].strip(" \t\r\n()"):
                raise FormatError(
                    f"{location}: the class has inputs, which come from outside the file.",
                    "let Hugin save the network that uses the class.",
                )
        else:
            head = cursor.take(_POTENTIAL, "'node' or 'potential ( child | parents ) {'")
            potentials.append((location, head, _attributes(cursor)))
    cursor.check_end()
    variables = declare(source, declared)
    with_counts: list[str] = []  # grows while the network is assembled, family by family
    families = (_family(variables, *each) for each in potentials)
    network = assemble(variables, (_as_shares(members, with_counts) for members in families))
    if with_counts:
        warn(
            f"{source.name}: counts in place of probabilities, each row was divided by its sum: "
            f"{listed(with_counts, most=MAX_VARIABLES_LISTED)}."
        )
    return network


def _attributes(cursor: Cursor) -> Attributes:
    """The ``key = value;`` pairs up to the closing brace."""
    attributes: Attributes = {}
    while not cursor.try_take(_END):
        location = cursor.skip_blanks()
        key, value = cursor.take(_ATTRIBUTE, "'name = value;' or '}'").groups()
        if key in attributes:
            raise FormatError.syntax(location, f"a second {key!r}", "another attribute")
        attributes[key] = value, location
    return attributes


def _variable(name: str, attributes: Attributes, location: str) -> Declared:
    if "states" not in attributes:
        return Declared(name, (), location)
    text, location = attributes["states"]
    match = _STATES.fullmatch(text)
    if not match:
        raise FormatError.syntax(location, text.strip()[:30], f'states of {name!r} as ("a" "b")')
    return Declared(name, tuple(map(without_quotes, _ONE_STATE.findall(match[1]))), location)


def _family(
    variables: Variables, location: str, head: re.Match[str], attributes: Attributes
) -> Family:
    parents = (head[2] or "").replace(",", " ").split()
    members = family(variables, head[1], parents, location)
    if "model_data" in attributes or "model_nodes" in attributes:
        raise FormatError(
            f"{location}: the CPT of {head[1]!r} is a model.",
            "let Hugin compute the table from the model, then save again.",
        )
    for key, (_, where) in attributes.items():
        if key.islower() and key not in _KNOWN:
            raise FormatError.syntax(where, f"{key} =", f"'data' of {head[1]!r}")
    if "data" not in attributes:
        return members
    text, location = attributes["data"]
    numbers = read_numbers(text.replace("(", " ").replace(")", " "), location, members.child)
    members = from_flat(members, numbers)
    check_nesting(text, location, members, members.shape)
    return members


def _as_shares(members: Family, with_counts: list[str]) -> Family:
    """The family with shares in place of counts; one that had counts is added to the list.

    Counts are whole numbers, some in each row and not just one in all.
    """
    table = members.table
    if table is None or (table != np.floor(table)).any() or (table < 0).any():
        return members
    sums = table.sum(axis=-1, keepdims=True)
    if (sums < 1).any() or (sums == 1).all():
        return members
    with_counts.append(members.child)
    return replace(members, table=table / sums)


def render(network: Network) -> str:
    """The NET text of a network; empty potentials where it has no CPTs."""
    refuse(network, "NET", ".bif or .json", is_identifier, is_quotable)
    blocks = ["net\n{\n}\n"]
    for variable in network.variables:
        states = " ".join(f'"{state}"' for state in network.states(variable))
        blocks.append(f"node {variable}\n{{\n  states = ( {states} );\n}}\n")
    for variable in network.variables:
        parents = network.parents(variable)
        given = f" | {' '.join(parents)}" if parents else ""
        data = _nested(network.cpt(variable).table) if network.has_cpts else ""
        body = f"  data = {data};\n" if data else ""
        blocks.append(f"potential ( {variable}{given} )\n{{\n{body}}}\n")
    return "".join(blocks)


def _nested(table: FloatArray) -> str:
    """The numbers of a table in parentheses, a pair for each axis."""
    if table.ndim == 1:
        return f"( {numerals(table)} )"
    return "(" + "\n    ".join(_nested(part) for part in table) + ")"
