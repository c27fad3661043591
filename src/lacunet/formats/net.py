"""Hugin's NET: a potential lists its numbers with the child fastest, the first parent slowest.

Parentheses inside ``data`` only show the shape and may be left out. Potentials that are all
empty give a network without CPTs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate

from lacunet.formats.draft import (
    Declared,
    Potential,
    States,
    assemble,
    bare,
    declare,
    family,
    from_flat,
    is_identifier,
    is_one_line,
    refuse_names,
)
from lacunet.formats.errors import FormatError
from lacunet.formats.source import (
    LONG_STRING,
    STRING,
    Cursor,
    Source,
    numerals,
    read_numbers,
    unquoted,
)
from lacunet.model.network import FloatArray, Network

_WORD = r"[A-Za-z_][A-Za-z0-9_]*"
_HEAD = re.compile(r"\s*net\s*\{")
_NODE = re.compile(rf"\s*(?:discrete\s+)?node\s+({_WORD})\s*\{{")
_POTENTIAL = re.compile(rf"\s*potential\s*\(\s*({_WORD})\s*(?:\|([\w\s,]*))?\)\s*\{{", re.ASCII)
_OTHER = re.compile(r"\s*(continuous|decision|utility|function|interval|class|instance)\b")
_ATTRIBUTE = re.compile(rf'\s*({_WORD})\s*=((?:[^;{{}}"]++|{LONG_STRING})*+);')
# Attributes of a potential that the format defines; those of applications have capitals.
_KNOWN = ("data", "experience", "fading", "samples_per_interval")
_END = re.compile(r"\s*\}")
_STATE = rf'(?:{STRING}|[^\s"(),;]++)'
_STATES = re.compile(rf"\s*\(((?:\s*{_STATE}(?=[\s)]))*+)\s*\)\s*")
_ONE_STATE = re.compile(_STATE)


def parse(source: Source) -> Network:
    """The network that a NET text describes."""
    source = source.without_comments(r"%[^\r\n]*", LONG_STRING)
    cursor = Cursor(source)
    if cursor.try_take(_HEAD):
        for _ in _attributes(cursor):
            pass
    declared: list[Declared] = []
    potentials: list[tuple[str, re.Match[str], dict[str, tuple[str, str]]]] = []
    cursor.skip_blanks()
    while not cursor.is_at_end:
        place = cursor.place
        if node := cursor.try_take(_NODE):
            declared.append(_variable(node[1], dict(_attributes(cursor)), place))
        elif other := cursor.try_take(_OTHER):
            hint = "only discrete chance nodes can be read."
            raise FormatError.unsupported(place, f"the file holds a {other[1]!r}", hint)
        else:
            found = cursor.take(_POTENTIAL, "'node' or 'potential ( child | parents ) {'")
            potentials.append((place, found, dict(_attributes(cursor))))
        cursor.skip_blanks()
    states_of = declare(source.name, declared)
    return assemble(source.name, states_of, [_potential(states_of, *each) for each in potentials])


def _attributes(cursor: Cursor) -> Iterator[tuple[str, tuple[str, str]]]:
    """The ``key = value;`` pairs up to the closing brace: each value with its place."""
    seen: set[str] = set()
    while not cursor.try_take(_END):
        cursor.skip_blanks()
        place = cursor.place
        key, value = cursor.take(_ATTRIBUTE, "'name = value;' or '}'").groups()
        if key in seen:
            raise FormatError.syntax(place, f"a second {key!r}", "another attribute")
        seen.add(key)
        yield key, (value, place)


def _variable(name: str, attributes: dict[str, tuple[str, str]], place: str) -> Declared:
    if "states" not in attributes:
        raise FormatError.no_states(place, name)
    text, place = attributes["states"]
    found = _STATES.fullmatch(text)
    if not found:
        raise FormatError.syntax(place, text.strip()[:30], f'states of {name!r} as ("a" "b")')
    words = _ONE_STATE.findall(found[1])
    states = tuple(unquoted(word) if word.startswith('"') else word for word in words)
    return Declared(name, states, place)


def _potential(
    states_of: States,
    place: str,
    found: re.Match[str],
    attributes: dict[str, tuple[str, str]],
) -> Potential:
    parents = (found[2] or "").replace(",", " ").split()
    members = family(states_of, found[1], parents, place)
    if "model_data" in attributes or "model_nodes" in attributes:
        hint = "let Hugin compute the table from the model, then save again."
        raise FormatError.unsupported(place, f"the CPT of {found[1]!r} is a model", hint)
    for key, (_, where) in attributes.items():
        if key.islower() and key not in _KNOWN:
            raise FormatError.syntax(where, f"{key} =", f"'data' of {found[1]!r}")
    if "data" not in attributes:
        return bare(members)
    text, place = attributes["data"]
    return from_flat(members, read_numbers(_opened(text, place), place, members.child))


def _opened(text: str, place: str) -> str:
    """The text of ``data`` with blanks in place of its parentheses, which must be in pairs."""
    depths = list(accumulate(1 if bracket == "(" else -1 for bracket in re.findall(r"[()]", text)))
    text = text.strip()
    is_one_group = text.startswith("(") and text.endswith(")")
    if not is_one_group or depths[-1] != 0 or min(depths[:-1]) < 1:
        raise FormatError.syntax(place, text[:30], "numbers in pairs of parentheses")
    return text.replace("(", " ").replace(")", " ")


def render(network: Network) -> str:
    """The NET text of a network; empty potentials where it has no CPTs."""
    refuse_names(network, "NET", is_identifier, _fits, ".bif or .json")
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


def _fits(state: str) -> bool:
    return is_one_line(state) and '"' not in state and "\\" not in state
