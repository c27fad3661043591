"""Our own JSON: everything that a network holds, and nothing else.

One object with ``format``, ``version`` and ``variables``; each variable has its ``name``, its
``states``, its ``parents`` and, unless the network is a bare structure, its ``cpt``: lists
within lists, one level for each parent in their order, the innermost over the variable's
own states. A variable whose states are intervals of numbers also has its ``cuts``: where each
begins and where the last ends, null where there is no limit. ``codes`` says what values in data
mean (a state, a list of states, null for missing), ``not_asked`` when a question was not asked.
``unsupported`` numbers the CPT rows that no data support ("0 3-5", or "none"), where that is
known; ``reversible`` names the parents to whose edges the data give no direction. ``bootstrap``,
where edges were learned, has the parents and CPTs of the networks that replicates of the rows led
to. ``tied`` has the groups of variables whose CPTs are one, ``shapes`` what CPTs are that are no
full tables. How values went missing, if the network knows, is in ``missingness`` (the graph's
text), ``latent`` (the variables that it knows no data to show) and ``mechanisms``.
What a result of learning knows beyond its network is in ``learned``
(`lacunet.learning.result_json`), and of no concern here. The schema is in ``docs/formats.md``.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lacunet.network.cpt import Cpt
from lacunet.network.dictionary import DictionaryError
from lacunet.network.errors import NetworkError
from lacunet.network.formats.draft import (
    Declared,
    Family,
    Variables,
    assemble,
    declare,
    family,
    from_flat,
    rows_without_data,
)
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.source import Cursor, Source
from lacunet.network.interval_names import cuts_from_json, cuts_to_json
from lacunet.network.mechanisms import MISSING, SHOWN, Mechanisms
from lacunet.network.network import Network

FORMAT = "lacunet network"
NETWORK_VERSION = 1

_BLANKS = re.compile(r"[ \t\r\n]*")
_KNOWLEDGE = ("cuts", "codes", "not_asked", "unsupported", "reversible")
_MECHANISM = ("variable", "name", "parents", "cpt")
_KEYS_OF = {
    "variables": ("name", "states", "parents", "cpt", *_KNOWLEDGE),
    "mechanisms": _MECHANISM,
}
_KNOWN = ("tied", "shapes", "bootstrap", "missingness", "latent", "mechanisms", "learned")
_PARTS = ("format", "version", "variables", *_KNOWN)


@dataclass(frozen=True)
class VariableEntry:
    """The object of one variable, and where it stands."""

    content: dict[str, Any]
    location: str


def parse(source: Source) -> Network:
    """The network that a JSON text of ours describes."""
    document = _document(source)
    entries = document.get("variables", [])
    hiding = document.get("mechanisms", [])
    nodes = declare(source, [*map(_variable, entries), *map(_mechanism, hiding)])
    whole = assemble(nodes, (_family(entry, nodes) for entry in (*entries, *hiding)))
    dictionary = {
        key: {entry.content["name"]: read(entry) for entry in entries if key in entry.content}
        for key, read in (("cuts", _cuts), ("codes", _codes), ("not_asked", _rule))
    }
    try:
        network = _part(whole, [entry.content["name"] for entry in entries], dictionary)
        edges = [edge for entry in entries for edge in _reversible(entry, network)]
        network = network.with_reversible(edges)
        network = _with_shapes(network, document, source)
        if "bootstrap" in document:
            network = network.with_bootstrap(_bootstrap(document["bootstrap"], network, source))
        if "missingness" not in document and not hiding:
            return network
        if not network.has_cpts:
            raise NetworkError("mechanisms are given, but no CPTs of the variables.")
        graph = document.get("missingness", "")
        latent = document.get("latent", ())
        return network.with_mechanisms(Mechanisms(graph, _cpt_of(hiding, whole), latent))
    except (DictionaryError, NetworkError) as error:
        raise FormatError(f"{source.name}: {error.message}", error.hint) from None


def _cpt_of(hiding: Sequence[VariableEntry], whole: Network) -> dict[str, Cpt]:
    """The CPT of each variable's mechanism, in a network that has mechanisms as nodes."""
    cpt_of: dict[str, Cpt] = {}
    for entry in hiding:
        variable = entry.content["variable"]
        if variable in cpt_of:
            raise FormatError(f"{entry.location}: a second mechanism of {variable!r}.")
        cpt_of[variable] = whole.cpt(entry.content["name"])
    return cpt_of


def _part(whole: Network, names: list[str], dictionary: Mapping[str, Any]) -> Network:
    """The variables of a network, without its mechanisms; what values in data mean for them."""
    if len(names) == len(whole.variables) and not any(dictionary.values()):
        return whole
    network = Network(
        {name: whole.states(name) for name in names},
        {name: whole.parents(name) for name in names},
        whole.tables_of and {name: whole.tables_of[name] for name in names},
        **dictionary,
    )
    return network.with_support(whole.support)


def _with_shapes(network: Network, document: Mapping[str, Any], source: Source) -> Network:
    """The network with the CPTs that are one, and those that are no full tables."""
    location = f"{source.name}: tied"
    groups = _of_kind(document.get("tied", []), list, location, "a list of groups")
    network = network.with_ties(_texts(group, location, "tied") for group in groups)
    location = f"{source.name}: shapes"
    shapes = _of_kind(document.get("shapes", {}), dict, location, "an object")
    if not shapes:
        return network
    from lacunet.network.shapes.shape_names import shape_from_json

    return network.with_shapes({name: shape_from_json(value) for name, value in shapes.items()})


def _bootstrap(contents: object, network: Network, source: Source) -> Iterator[Network]:
    """The networks that replicates of the rows led to."""
    location = f"{source.name}: bootstrap"
    variables = declare(
        source, [Declared(v, network.states(v), location) for v in network.variables]
    )
    # Rules are the network's alone, so a state for those who were not asked is no interval here.
    cuts = {v: points for v, points in network.cuts_of.items() if v not in network.not_asked_of}
    for content in _of_kind(contents, list, location, "a list of networks"):
        families = []
        for member in _of_kind(content, list, location, "a list of variables"):
            entry = VariableEntry(_of_kind(member, dict, location, "an object"), location)
            _text(entry.content.get("name"), location, "the name of a variable")
            families.append(_family(entry, variables))
        replicate = assemble(variables, families)
        yield Network(
            network.states_of,
            replicate.parents_of,
            replicate.tables_of,
            cuts=cuts,
            codes=network.codes_of,
        )


def _reversible(entry: VariableEntry, network: Network) -> list[tuple[str, str]]:
    """The edges into a variable whose direction the data do not tell."""
    child = entry.content["name"]
    parents = _texts(entry.content.get("reversible", []), entry.location, "reversible")
    if strangers := [name for name in parents if name not in network.parents(child)]:
        raise FormatError.syntax(entry.location, strangers[0], f"a parent of {child!r}")
    return [(parent, child) for parent in parents]


def _mechanism(entry: VariableEntry) -> Declared:
    if missing := [key for key in _MECHANISM if key not in entry.content]:
        raise FormatError.syntax(entry.location, "a mechanism", f"its {missing[0]!r}")
    _text(entry.content["variable"], entry.location, "the variable of a mechanism")
    name = _text(entry.content["name"], entry.location, "the name of a mechanism")
    return Declared(name, (MISSING, SHOWN), entry.location)


def _cuts(entry: VariableEntry) -> Any:
    expected = "a list of cut points"
    values = _of_kind(entry.content["cuts"], list, entry.location, expected)
    for value in values:
        _of_kind(value, float | None, entry.location, expected)
    return cuts_from_json(values)


def _codes(entry: VariableEntry) -> Any:
    return _of_kind(entry.content["codes"], dict, entry.location, "an object of codes")


def _rule(entry: VariableEntry) -> Any:
    expected = 'an object with "when" and "state"'
    rule = _of_kind(entry.content["not_asked"], dict, entry.location, expected)
    if set(rule) != {"when", "state"}:
        raise FormatError.syntax(entry.location, json.dumps(rule)[:30], expected)
    return tuple(_text(rule[key], entry.location, repr(key)) for key in ("when", "state"))


def _document(source: Source) -> dict[str, Any]:
    """The parts of the file by their keys; variables and mechanisms are lists of entries.

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
            parts[key] = _texts(parts[key], location, key)
        if _punctuation(cursor, ",}") == "}":
            break
    _check_end(cursor)
    if (parts.get("format"), parts.get("version")) != (FORMAT, NETWORK_VERSION):
        raise FormatError(
            f'{source.name}: not the JSON of a network: needs "format": "{FORMAT}", "version": 1.'
        )
    return parts


def _entries(cursor: Cursor, keys: Sequence[str]) -> list[VariableEntry]:
    entries: list[VariableEntry] = []
    _punctuation(cursor, "[")
    while True:
        location = cursor.location
        value = _of_kind(_value(cursor), dict, location, "the object of a variable")
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


def _check_end(cursor: Cursor) -> None:
    """Refuse anything but the blanks of JSON, which are fewer than those of other formats."""
    cursor.try_take(_BLANKS)
    if cursor.offset < len(cursor.source.text):
        raise cursor.unexpected("the end of the file")


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


def _of_kind(value: object, kind: Any, location: str, expected: str) -> Any:
    """The value, if it is of this kind."""
    if not isinstance(value, kind):
        raise FormatError.syntax(location, json.dumps(value)[:30], expected)
    return value


def _text(value: object, location: str, what: str) -> str:
    text: str = _of_kind(value, str, location, f"{what} as a string")
    if re.search("[\ud800-\udfff]", text):
        raise FormatError.syntax(location, ascii(text), f"{what} as a string of Unicode characters")
    return text


def _texts(values: object, location: str, key: str) -> tuple[str, ...]:
    listed = _of_kind(values, list, location, f"a list of {key}")
    return tuple(_text(value, location, f"each of {key!r}") for value in listed)


def _variable(entry: VariableEntry) -> Declared:
    content = entry.content
    location = entry.location
    name = _text(content.get("name"), location, "the name of a variable")
    states = _texts(content.get("states"), location, "states")
    if "unsupported" not in content:
        return Declared(name, states, location)
    rows = _text(content["unsupported"], location, "the CPT rows without data")
    return Declared(name, states, location, (rows, location))


def _family(entry: VariableEntry, variables: Variables) -> Family:
    content = entry.content
    location = entry.location
    parents = _texts(content.get("parents"), location, "parents")
    members = family(variables, content["name"], parents, location)
    if "cpt" not in content:
        return members
    members.check_size()
    return from_flat(members, _flat(content["cpt"], members, 0))


def _flat(value: object, members: Family, axis: int) -> list[float]:
    """The numbers of lists within lists, whose lengths must be those of the axes."""
    if axis == len(members.shape):
        if not isinstance(value, float):
            raise FormatError.not_a_number(members.location, members.child, json.dumps(value)[:30])
        return [value]
    needed = members.shape[axis]
    expected = f"a list of length {needed} in the CPT of {members.child!r}"
    parts = _of_kind(value, list, members.location, expected)
    if len(parts) != needed:
        raise FormatError.wrong_length(members.location, members.child, len(parts), needed)
    return [number for part in parts for number in _flat(part, members, axis + 1)]


def render(network: Network, learned: str | None = None) -> str:
    """The JSON text of a network; every name and every network fits.

    Parameters
    ----------
    learned
        What a result knows beyond the network, as JSON.
    """
    parts = {
        "format": _written(FORMAT),
        "version": _written(NETWORK_VERSION),
        "variables": _lines(_content(network, name) for name in network.variables),
    }
    if network.tied:
        parts["tied"] = _written(network.tied)
    if network.shapes_of:
        from lacunet.network.shapes.shape_names import shape_as_json

        parts["shapes"] = _written(
            {v: shape_as_json(shape) for v, shape in network.shapes_of.items()}
        )
    if network.bootstrap is not None:
        members = ([_member(net, name) for name in net.variables] for net in network.bootstrap)
        parts["bootstrap"] = _lines(members)
    if (mechanisms := network.mechanisms) is not None:
        parts["missingness"] = _written(mechanisms.graph)
        if mechanisms.latent:
            parts["latent"] = _written(mechanisms.latent)
        if mechanisms.cpt_of:
            contents = (
                (name, cpt.child, cpt.parents, cpt.table.tolist())
                for name, cpt in mechanisms.cpt_of.items()
            )
            parts["mechanisms"] = _lines(
                dict(zip(_MECHANISM, values, strict=True)) for values in contents
            )
    if learned is not None:
        parts["learned"] = learned
    return "{\n  " + ",\n  ".join(f'"{key}": {text}' for key, text in parts.items()) + "\n}\n"


def _written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _lines(objects: Iterable[object]) -> str:
    """A list with a line for each object."""
    return "[\n    " + ",\n    ".join(map(_written, objects)) + "\n  ]"


def _member(network: Network, name: str) -> dict[str, object]:
    """The parents and the CPT of a variable, in a network whose states are known."""
    table = network.cpt(name).table.tolist()
    return {"name": name, "parents": network.parents(name), "cpt": table}


def _content(network: Network, name: str) -> dict[str, object]:
    cuts = network.cuts_of.get(name)
    rule = network.not_asked_of.get(name)
    content = {
        "name": name,
        "states": network.states(name),
        "parents": network.parents(name),
        "cpt": network.cpt(name).table.tolist() if network.has_cpts else None,
        "cuts": cuts and cuts_to_json(cuts),
        "codes": network.codes_of.get(name),
        "not_asked": rule and {"when": rule.when, "state": rule.state},
        "unsupported": rows_without_data(network, name),
        "reversible": [tail for tail, head in network.reversible if head == name] or None,
    }
    return {key: value for key, value in content.items() if value is not None}
