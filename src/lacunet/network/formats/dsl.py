"""GeNIe's DSL, the format before XDSL: the child runs fastest, the first parent slowest.

Read are nodes with a CPT and truth tables, whose CPTs hold ones and zeros.
"""

from __future__ import annotations

from lacunet.network.formats.blocks import BracedBlock, read_block
from lacunet.network.formats.draft import (
    Declared,
    Family,
    Variables,
    assemble,
    declare,
    family,
    from_flat,
    from_states,
)
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.source import LONG_STRING, SLASH_COMMENTS, Cursor, Source, read_numbers
from lacunet.network.network import Network

_WANTED = {"": ("net",), "net": ("node",), "node": ("DEFINITION",)}
_COMMENTS = rf"{SLASH_COMMENTS}|/#.*?#/"
_READ = ("CPT", "TRUTHTABLE")


def parse(source: Source) -> Network:
    """The network that a DSL text describes."""
    source = source.without_comments(_COMMENTS, LONG_STRING)
    cursor = Cursor(source)
    net = read_block(cursor, _WANTED)
    cursor.check_end()
    nodes = [*net.inside("node")]
    for node in nodes:
        kind = node.word("TYPE", "CPT")
        if kind not in _READ:
            raise FormatError(
                f"{node.location}: node {node.name!r} is of the type {kind!r}.",
                "let GeNIe turn it into a node with a CPT, then save again.",
            )
    variables = declare(source, [_variable(node) for node in nodes])
    return assemble(variables, (_family(node, variables) for node in nodes))


def _definition(node: BracedBlock) -> BracedBlock:
    """The only definition of a node; an empty one where it has none."""
    definitions = [*node.inside("DEFINITION")]
    if len(definitions) > 1:
        raise FormatError.syntax(definitions[1].location, "a second DEFINITION", "another block")
    if definitions:
        return definitions[0]
    return BracedBlock("DEFINITION", "", node.location)


def _variable(node: BracedBlock) -> Declared:
    states = _definition(node).value("NAMESTATES")
    names = states.entries("states") if states else []
    return Declared(node.name, tuple(names), node.location)


def _family(node: BracedBlock, variables: Variables) -> Family:
    value = node.value("PARENTS")
    definition = _definition(node)
    parents = value.entries("parents") if value else []
    members = family(variables, node.name, parents, node.location)
    numbers, results = (definition.value(key) for key in ("PROBABILITIES", "RESULTINGSTATES"))
    if numbers is not None:
        given = read_numbers(numbers.without_nesting(), numbers.location, members.child)
        return from_flat(members, given)
    if results is not None:
        return from_states(members, results.entries("states"), results.location)
    return members
