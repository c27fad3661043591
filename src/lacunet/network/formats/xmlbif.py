"""XMLBIF 0.3: a CPT lists its numbers with the child fastest and the first parent slowest."""

from __future__ import annotations

from lacunet.network.formats.draft import (
    Declared,
    Family,
    Variables,
    assemble,
    declare,
    family,
    from_flat,
    is_one_line,
    refuse,
)
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.source import Source, numerals, read_numbers
from lacunet.network.formats.xml_tree import Element, parse_xml, tagged
from lacunet.network.network import Network


def parse(source: Source) -> Network:
    """The network that an XMLBIF text describes."""
    root = parse_xml(source, "BIF")
    root.check(["NETWORK"])
    network = root.only("NETWORK")
    network.check(["NAME", "PROPERTY", "VARIABLE", "DEFINITION"])
    variables = declare(source, [_variable(element) for element in network.all("VARIABLE")])
    families = (_family(element, variables) for element in network.all("DEFINITION"))
    return assemble(variables, families)


def _variable(element: Element) -> Declared:
    element.check(["NAME", "OUTCOME", "PROPERTY"])
    name = element.only("NAME").text
    kind = element.attributes.get("TYPE", "nature")
    if kind != "nature":
        raise FormatError(
            f"{element.location}: variable {name!r} is of the type {kind!r}.",
            "only 'nature' can be read.",
        )
    states = tuple(outcome.text for outcome in element.all("OUTCOME"))
    return Declared(name, states, element.location)


def _family(element: Element, variables: Variables) -> Family:
    element.check(["FOR", "GIVEN", "TABLE", "PROPERTY"])
    parents = [given.text for given in element.all("GIVEN")]
    members = family(variables, element.only("FOR").text, parents, element.location)
    table = element.at_most_one("TABLE")
    if table is None:
        return members
    table.check([], has_text=True)
    return from_flat(members, read_numbers(table.text, table.location, members.child))


def render(network: Network) -> str:
    """The XMLBIF text of a network; definitions without a table where it has no CPTs."""
    refuse(network, "XMLBIF", ".json", _fits, _fits)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<BIF VERSION="0.3">', "<NETWORK>"]
    lines.append(tagged("NAME", "unknown"))
    for variable in network.variables:
        outcomes = [f"  {tagged('OUTCOME', state)}" for state in network.states(variable)]
        lines += ['<VARIABLE TYPE="nature">', f"  {tagged('NAME', variable)}", *outcomes]
        lines.append("</VARIABLE>")
    for variable in network.variables:
        family = [tagged("FOR", variable)]
        family += [tagged("GIVEN", parent) for parent in network.parents(variable)]
        if network.has_cpts:
            family.append(tagged("TABLE", numerals(network.cpt(variable).table.ravel())))
        lines += ["<DEFINITION>", *(f"  {line}" for line in family), "</DEFINITION>"]
    return "\n".join([*lines, "</NETWORK>", "</BIF>", ""])


def _fits(name: str) -> bool:
    return is_one_line(name) and name == name.strip()  # XML readers drop blanks at the ends
