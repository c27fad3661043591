"""GeNIe's XDSL: a CPT lists its numbers with the child fastest and the first parent slowest.

Read are nodes with a CPT and deterministic nodes, whose CPTs hold ones and zeros.
"""

from __future__ import annotations

import re

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
    refuse_bare,
    refuse_names,
)
from lacunet.formats.errors import FormatError
from lacunet.formats.source import Source, numerals, read_numbers
from lacunet.formats.xml_tree import Element, attribute, parse_xml, tagged
from lacunet.model.network import Network, Scope

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
# GeNIe wants parents before their children. Where that is not the network's own order, this
# user property of each node keeps it.
_POSITION = "lacunet_position"
_READ = ("cpt", "deterministic")
_KNOWN = ("state", "parents", "probabilities", "resultingstates", "property")


def parse(source: Source) -> Network:
    """The network that an XDSL text describes."""
    root = parse_xml(source, "smile")
    root.check(["nodes", "extensions", "properties", "property", "cases", "observationcost"])
    nodes = root.one("nodes").children
    for node in nodes:
        if node.tag not in _READ:
            what = f"node {node.attributes.get('id')!r} is of the type {node.tag!r}"
            hint = "let GeNIe turn it into a node with a CPT, then save again."
            raise FormatError.unsupported(node.place, what, hint)
    states_of = declare(source.name, [_variable(node) for node in _in_order(nodes)])
    return assemble(source.name, states_of, [_potential(node, states_of) for node in nodes])


def _in_order(nodes: list[Element]) -> list[Element]:
    """The nodes in the order that we noted when we wrote them, else as they stand."""
    noted = [
        (each.text, node)
        for node in nodes
        for each in node.all("property")
        if each.attributes.get("id") == _POSITION
    ]
    positions = sorted(text for text, _ in noted)
    if positions != sorted(str(at) for at in range(len(nodes))):
        return nodes
    return [node for _, node in sorted(noted, key=lambda pair: int(pair[0]))]


def _variable(node: Element) -> Declared:
    node.check(_KNOWN)
    states = tuple(state.attribute("id") for state in node.all("state"))
    return Declared(node.attribute("id"), states, node.place)


def _potential(node: Element, states_of: States) -> Potential:
    parents = node.at_most_one("parents")
    names = parents.text.split() if parents else []
    members = family(states_of, node.attribute("id"), names, node.place)
    if node.tag == "deterministic":
        return _deterministic(node, members)
    if (wrong := node.at_most_one("resultingstates")) is not None:
        raise FormatError.syntax(wrong.place, "<resultingstates>", "<probabilities>")
    numbers = node.at_most_one("probabilities")
    if numbers is None:
        return bare(members)
    numbers.check([], has_text=True)
    return from_flat(members, read_numbers(numbers.text, numbers.place, members.child))


def _deterministic(node: Element, members: Family) -> Potential:
    """One state for each configuration of the parents, the first parent slowest."""
    results = node.one("resultingstates")
    states = members.states[-1]
    given = results.text.split()
    if len(given) != members.rows:
        raise FormatError.wrong_length(results.place, members.child, len(given), members.rows)
    for state in given:
        if state not in states:
            child = members.child
            raise FormatError.unknown_state(results.place, child, child, state, states)
    return from_flat(members, [float(own == state) for state in given for own in states])


def render(network: Network) -> str:
    """The XDSL text of a network whose names are GeNIe's identifiers."""
    refuse_names(network, "XDSL", _fits, _fits, ".bif or .json")
    refuse_bare(network, "XDSL", ".bif or .json")
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<smile version="1.0" id="Network" numsamples="1000">',
        "  <nodes>",
    ]
    for variable in _parents_first(network):
        lines.append(f"    <cpt {attribute('id', variable)}>")
        lines += [f"      {line}" for line in _node(network, variable)]
        lines.append("    </cpt>")
    return "\n".join([*lines, "  </nodes>", "</smile>", ""])


def _parents_first(network: Network) -> Scope:
    seen: set[str] = set()
    for variable in network.variables:
        if not seen.issuperset(network.parents(variable)):
            return network.order
        seen.add(variable)
    return network.variables


def _node(network: Network, variable: str) -> list[str]:
    parents = network.parents(variable)
    position = network.variables.index(variable)
    is_moved = _parents_first(network) is not network.variables
    return [
        *(f"<state {attribute('id', state)} />" for state in network.states(variable)),
        *([tagged("parents", " ".join(parents))] if parents else []),
        tagged("probabilities", numerals(network.cpt(variable).table.ravel())),
        *([f'<property id="{_POSITION}">{position}</property>'] if is_moved else []),
    ]


def _fits(name: str) -> bool:
    return _IDENTIFIER.fullmatch(name) is not None
