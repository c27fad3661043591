"""Our own JSON: everything that a network holds, and nothing else.

One object with ``format``, ``version`` and ``variables``; each variable has its ``name``, its
``states``, its ``parents`` and, unless the network is a bare structure, its ``cpt``: lists
within lists, one level for each parent in their order, the innermost over the variable's
own states. A variable whose states are intervals of numbers also has its ``cuts``: where each
begins and where the last ends, null where there is no limit. ``codes`` says what values in data
mean (a state, a list of states, null for missing), ``not_asked`` when a question was not asked.
``unsupported`` numbers the CPT rows that no data support ("0 3-5", or "none"), where that is
known; ``reversible`` names the parents to whose edges the data give no direction. How values
went missing, if the network knows, is in ``missingness`` (the graph's text), ``latent`` (the
variables that it knows no data to show) and ``mechanisms``.
What a result of learning knows beyond its network is in ``learned`` (`lacunet.estimate.saved`),
and of no concern here. The schema is in ``docs/formats.md``.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import Any

from lacunet.formats.draft import (
    Declared,
    Family,
    Variables,
    assemble,
    declare,
    family,
    from_flat,
    rows_without_data,
    tables_of,
)
from lacunet.formats.errors import FormatError
from lacunet.formats.source import Cursor, Source
from lacunet.model.dictionary import DictionaryError
from lacunet.model.intervals import cuts_from_json, cuts_to_json
from lacunet.model.mechanisms import MISSING, SHOWN, Mechanisms
from lacunet.model.network import Cpt, Network, NetworkError

FORMAT = "lacunet network"
VERSION = 1

_BLANKS = re.compile(r"[ \t\r\n]*")
_KNOWLEDGE = ("cuts", "codes", "not_asked", "unsupported", "reversible")
_MECHANISM = ("variable", "name", "parents", "cpt")
_KEYS_OF = {
    "variables": ("name", "states", "parents", "cpt", *_KNOWLEDGE),
    "mechanisms": _MECHANISM,
}
_PARTS = ("format", "version", "variables", "missingness", "latent", "mechanisms", "learned")


@dataclass(frozen=True)
class VariableEntry:
    """The object of one variable, and where it stands."""

    content: dict[str, object]
    location: str


def parse(source: Source) -> Network:
    """The network that a JSON text of ours describes."""
    document = _document(source)
    entries = document.get("variables", [])
    variables = declare(source, [_variable(entry) for entry in entries])
    network = assemble(variables, (_family(entry, variables) for entry in entries))
    dictionary = {
        key: {str(entry.content["name"]): read(entry) for entry in entries if key in entry.content}
        for key, read in (("cuts", _cuts), ("codes", _codes), ("not_asked", _rule))
    }
    if any(dictionary.values()):
        try:
            whole = Network(network.states_of, network.parents_of, network.tables_of, **dictionary)
        except DictionaryError as error:
            raise FormatError(f"{source.name}: {error.message}", error.hint) from None
        network = whole.with_support(network.support)
    edges = [edge for entry in entries for edge in _reversible(entry, network)]
    return _with_mechanisms(network.with_reversible(edges), document, source)


def _reversible(entry: VariableEntry, network: Network) -> list[tuple[str, str]]:
    """The edges into a variable whose direction the data do not tell."""
    if "reversible" not in entry.content:
        return []
    child, parents = str(entry.content["name"]), _texts(entry, "reversible")
    if strangers := [name for name in parents if name not in network.parents(child)]:
        raise FormatError.syntax(entry.location, strangers[0], f"a parent of {child!r}")
    return [(parent, child) for parent in parents]


def _with_mechanisms(network: Network, document: Mapping[str, Any], source: Source) -> Network:
    """The network with what the file says about how values went missing."""
    graph, entries = document.get("missingness"), document.get("mechanisms", [])
    if graph is None and not entries:
        return network
    if not network.has_cpts:
        raise FormatError(f"{source.name}: mechanisms are given, but no CPTs of the variables.")
    declared = [Declared(v, states, source.name) for v, states in network.states_of.items()]
    nodes = declare(source, [*declared, *map(_mechanism, entries)])
    family_of: dict[str, Family] = {}
    for entry in entries:
        variable = str(entry.content["variable"])
        if variable in family_of:
            raise FormatError(
                f"{entry.location}: a second mechanism of {variable!r}.",
                "a variable has one mechanism: keep the entry that is right.",
            )
        family_of[variable] = _family(entry, nodes)
    tables = tables_of(source.name, family_of) or {}
    cpt_of = {
        variable: Cpt(
            members.child,
            members.parents,
            tables[variable],
            tuple(tuple(states) for states in members.positions),
        )
        for variable, members in family_of.items()
    }
    try:
        return network.with_mechanisms(Mechanisms(graph or "", cpt_of, document.get("latent", ())))
    except NetworkError as error:
        raise FormatError(f"{source.name}: {error.message}", error.hint) from None


def _mechanism(entry: VariableEntry) -> Declared:
    if missing := [key for key in _MECHANISM if key not in entry.content]:
        raise FormatError.syntax(entry.location, "a mechanism", f"its {missing[0]!r}")
    _text(entry.content["variable"], entry.location, "the variable of a mechanism")
    name = _text(entry.content["name"], entry.location, "the name of a mechanism")
    return Declared(name, (MISSING, SHOWN), entry.location)


def _cuts(entry: VariableEntry) -> Any:
    values = entry.content["cuts"]
    if not isinstance(values, list) or not all(
        value is None or isinstance(value, float) for value in values
    ):
        raise FormatError.syntax(entry.location, json.dumps(values)[:30], "a list of cut points")
    return cuts_from_json(values)


def _codes(entry: VariableEntry) -> Any:
    codes = entry.content["codes"]
    if not isinstance(codes, dict):
        raise FormatError.syntax(entry.location, json.dumps(codes)[:30], "an object of codes")
    return dict(codes)


def _rule(entry: VariableEntry) -> Any:
    rule = entry.content["not_asked"]
    if not isinstance(rule, dict) or set(rule) != {"when", "state"}:
        what = 'an object with "when" and "state"'
        raise FormatError.syntax(entry.location, json.dumps(rule)[:30], what)
    when, state = (_text(rule[key], entry.location, repr(key)) for key in ("when", "state"))
    return when, state


def _document(source: Source) -> dict[str, Any]:
    """The parts of the file: entries of variables and of mechanisms, what they are beside.

    The outer layers are walked by hand, to know the lines.
    """
    cursor = Cursor(source)
    parts: dict[str, Any] = {}
    _punctuation(cursor, "{")
    while True:
        location = cursor.location
        key = _text(_value(cursor), location, "a key")
        if key in parts or key not in _PARTS:
            raise FormatError.syntax(location, key, f"{', '.join(map(repr, _PARTS))}, once each")
        _punctuation(cursor, ":")
        parts[key] = _entries(cursor, _KEYS_OF[key]) if key in _KEYS_OF else _value(cursor)
        if key == "missingness":
            _text(parts[key], location, "the missingness graph")
        if key == "latent":
            parts[key] = _texts(VariableEntry({key: parts[key]}, location), key)
        if _punctuation(cursor, ",}") == "}":
            break
    if cursor.offset < len(source.text):
        raise cursor.unexpected("the end of the file")
    if (parts.get("format"), parts.get("version")) != (FORMAT, VERSION):
        raise FormatError(
            f'{source.name}: not the JSON of a network: needs "format": "{FORMAT}", "version": 1.'
        )
    return parts


def _entries(cursor: Cursor, keys: Sequence[str]) -> list[VariableEntry]:
    entries: list[VariableEntry] = []
    _punctuation(cursor, "[")
    while True:
        location = cursor.location
        value = _value(cursor)
        if not isinstance(value, dict):
            raise FormatError.syntax(location, json.dumps(value)[:30], "the object of a variable")
        if unknown := [key for key in value if key not in keys]:
            raise FormatError.syntax(location, unknown[0], f"one of {', '.join(keys)}")
        entries.append(VariableEntry(value, location))
        if _punctuation(cursor, ",]") == "]":
            return entries


def _punctuation(cursor: Cursor, allowed: str) -> str:
    cursor.try_take(_BLANKS)
    expected = " or ".join(map(repr, allowed))
    mark = cursor.take(re.compile(f"[{re.escape(allowed)}]"), expected)[0]
    cursor.try_take(_BLANKS)
    return mark


def _value(cursor: Cursor) -> object:
    try:
        value, cursor.offset = _DECODER.raw_decode(cursor.source.text, cursor.offset)
    except json.JSONDecodeError as error:
        raise FormatError.unsound(cursor.source.location(error.pos), "JSON", error.msg) from None
    except (ValueError, RecursionError) as error:
        raise FormatError.unsound(cursor.location, "JSON", error) from None
    return value


def no_key_twice(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of JSON, as a hook of its decoder; a key that occurs twice is refused."""
    content = dict(pairs)
    if len(content) < len(pairs):
        key = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise ValueError(f"the key {key!r} occurs twice in one object")
    return content


def _refuse_constant(word: str) -> object:
    raise ValueError(f"{word} is not a number")


_DECODER = json.JSONDecoder(
    object_pairs_hook=no_key_twice, parse_constant=_refuse_constant, parse_int=float
)


def _text(value: object, location: str, what: str) -> str:
    if not isinstance(value, str):
        raise FormatError.syntax(location, json.dumps(value)[:30], f"{what} as a string")
    if re.search("[\ud800-\udfff]", value):
        raise FormatError.syntax(
            location, ascii(value), f"{what} as a string of Unicode characters"
        )
    return value


def _texts(entry: VariableEntry, key: str) -> tuple[str, ...]:
    values = entry.content.get(key)
    if not isinstance(values, list):
        raise FormatError.syntax(entry.location, json.dumps(values)[:30], f"a list of {key}")
    return tuple(_text(value, entry.location, f"each of {key!r}") for value in values)


def _variable(entry: VariableEntry) -> Declared:
    name = _text(entry.content.get("name"), entry.location, "the name of a variable")
    unsupported = None
    if "unsupported" in entry.content:
        rows = _text(entry.content["unsupported"], entry.location, "the CPT rows without data")
        unsupported = rows, entry.location
    return Declared(name, _texts(entry, "states"), entry.location, unsupported)


def _family(entry: VariableEntry, variables: Variables) -> Family:
    child = str(entry.content["name"])
    members = family(variables, child, _texts(entry, "parents"), entry.location)
    if "cpt" not in entry.content:
        return members
    members.check_size()
    return from_flat(members, _flat(entry.content["cpt"], members, 0))


def _flat(value: object, members: Family, axis: int) -> list[float]:
    """The numbers of lists within lists, whose lengths must be those of the axes."""
    if axis == len(members.shape):
        if not isinstance(value, float):
            raise FormatError.not_a_number(members.location, members.child, json.dumps(value)[:30])
        return [value]
    if not isinstance(value, list):
        what = f"a list of length {members.shape[axis]} in the CPT of {members.child!r}"
        raise FormatError.syntax(members.location, json.dumps(value)[:30], what)
    if len(value) != members.shape[axis]:
        needed = members.shape[axis]
        raise FormatError.wrong_length(members.location, members.child, len(value), needed)
    return [number for part in value for number in _flat(part, members, axis + 1)]


def render(network: Network, learned: str | None = None) -> str:
    """The JSON text of a network; every name and every network fits.

    Parameters
    ----------
    learned
        What a result knows beyond the network, as JSON.
    """
    parts = [f'"format": {json.dumps(FORMAT)}', f'"version": {VERSION}']
    parts.append(_list("variables", [_rendered(network, name) for name in network.variables]))
    if (mechanisms := network.mechanisms) is not None:
        parts.append(f'"missingness": {json.dumps(mechanisms.graph, ensure_ascii=False)}')
        if mechanisms.latent:
            parts.append(f'"latent": {json.dumps(mechanisms.latent, ensure_ascii=False)}')
        if mechanisms.cpt_of:
            parts.append(
                _list("mechanisms", starmap(_rendered_mechanism, mechanisms.cpt_of.items()))
            )
    if learned is not None:
        parts.append(f'"learned": {learned}')
    return "{\n  " + ",\n  ".join(parts) + "\n}\n"


def _list(key: str, objects: Iterable[str]) -> str:
    return f'"{key}": [\n    ' + ",\n    ".join(objects) + "\n  ]"


def _rendered_mechanism(variable: str, cpt: Cpt) -> str:
    content = {
        "variable": variable,
        "name": cpt.child,
        "parents": cpt.parents,
        "cpt": cpt.table.tolist(),
    }
    return json.dumps(content, ensure_ascii=False)


def _rendered(network: Network, name: str) -> str:
    content: dict[str, object] = {
        "name": name,
        "states": network.states(name),
        "parents": network.parents(name),
    }
    if network.has_cpts:
        content["cpt"] = network.cpt(name).table.tolist()
    if name in network.cuts_of:
        content["cuts"] = cuts_to_json(network.cuts_of[name])
    if name in network.codes_of:
        content["codes"] = network.codes_of[name]
    if (rule := network.not_asked_of.get(name)) is not None:
        content["not_asked"] = {"when": rule.when, "state": rule.state}
    if (rows := rows_without_data(network, name)) is not None:
        content["unsupported"] = rows
    if parents := [parent for parent, child in network.reversible if child == name]:
        content["reversible"] = parents
    return json.dumps(content, ensure_ascii=False)
