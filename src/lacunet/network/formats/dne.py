"""Netica's DNE: a table lists its numbers with the child fastest and the first parent slowest.

Read are nature nodes. One that is deterministic has a ``functable`` of states, or of their numbers
``#0``, ``#1``, ... A node of a continuous variable has ``levels``, between which its states
lie: they are cut points. Old versions of Netica write a table as one list, new ones with
parentheses for each parent.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import pairwise

from lacunet.network.formats.blocks import BracedBlock, Value, read_block
from lacunet.network.formats.draft import (
    Declared,
    Family,
    Variables,
    assemble,
    check_nesting,
    declare,
    family,
    from_flat,
    from_states,
)
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.source import (
    LONG_STRING,
    NUMBER,
    SLASH_COMMENTS,
    Cursor,
    Source,
    read_numbers,
)
from lacunet.network.interval_names import labels_of
from lacunet.network.network import Network

_WANTED = {"": ("bnet",), "bnet": ("node",)}
_INFINITY = {"INFINITY": math.inf, "+INFINITY": math.inf, "-INFINITY": -math.inf}
_IMPOSSIBLE = "@imposs"  # a probability that is zero by definition
_POSITION = re.compile(r"#([0-9]{1,9})")


def parse(source: Source) -> Network:
    """The network that a DNE text describes."""
    source = source.without_comments(SLASH_COMMENTS, LONG_STRING)
    cursor = Cursor(source)
    net = read_block(cursor, _WANTED)
    cursor.check_end()
    nodes = [node for node in net.inside("node") if not _is_remark(node)]
    for node in nodes:
        _refuse_kind(node)
    variables = declare(source, [_variable(node) for node in nodes])
    return assemble(variables, (_family(node, variables) for node in nodes))


def _is_remark(node: BracedBlock) -> bool:
    """Whether it is a text or a number beside the network: a constant."""
    return node.word("kind", "NATURE") == "CONSTANT"


def _refuse_kind(node: BracedBlock) -> None:
    """Refuse what is no variable of a Bayesian network, or one of several time slices."""
    kind = node.word("kind", "NATURE")
    if kind != "NATURE":
        raise FormatError(
            f"{node.location}: node {node.name!r} is of the kind {kind!r}.",
            "only nature nodes can be read.",
        )
    delays = node.value("delays")
    if delays is not None and re.search("[1-9]", delays.text):
        raise FormatError(
            f"{delays.location}: the network has time slices: the links of {node.name!r} have "
            "delays.",
            "let Netica expand it over its time slices, then save again.",
        )


def _variable(node: BracedBlock) -> Declared:
    """The states of a node by their names, by its levels, or by numbers."""
    is_continuous = node.word("discrete", "TRUE") == "FALSE"
    names = node.value("states")
    levels = node.value("levels")
    if is_continuous:
        if levels is None:
            raise FormatError(
                f"{node.location}: node {node.name!r} is continuous, without levels.",
                "let Netica discretise it, then save again.",
            )
        cuts = _cuts(node, levels)
        states = names.entries("states") if names else labels_of(cuts)
        return Declared(node.name, tuple(states), node.location, cuts=cuts)
    if names is not None:
        return Declared(node.name, tuple(names.entries("states")), names.location)
    if levels is not None:
        return Declared(node.name, tuple(levels.entries("levels")), levels.location)
    count = node.value("numstates")
    number = "0" if count is None else count.text.strip()
    if not re.fullmatch("[0-9]{1,6}", number):
        raise FormatError.syntax(node.location, number[:30], "the number of states")
    return Declared(node.name, tuple(map(str, range(int(number)))), node.location)


def _cuts(node: BracedBlock, levels: Value) -> tuple[float, ...]:
    """The levels between which the states lie, as numbers that ascend."""
    cuts = []
    for text in levels.entries("levels"):
        if text not in _INFINITY and not re.fullmatch(NUMBER, text):
            raise FormatError.syntax(levels.location, text[:30], "levels that are numbers")
        cuts.append(_INFINITY[text] if text in _INFINITY else float(text))
    is_ascending = all(low < high for low, high in pairwise(cuts))
    if len(cuts) < 2 or not is_ascending:
        raise FormatError.syntax(
            levels.location, levels.text.strip()[:30], f"levels of {node.name!r} that ascend"
        )
    return tuple(cuts)


def _family(node: BracedBlock, variables: Variables) -> Family:
    value = node.value("parents")
    parents = value.entries("parents") if value else []
    members = family(variables, node.name, parents, node.location)
    probabilities = node.value("probs")
    function = node.value("functable")
    if probabilities is not None:
        numbers = probabilities.without_nesting().replace(_IMPOSSIBLE, "0")
        given = read_numbers(numbers, probabilities.location, members.child)
        members = from_flat(members, given)
        check_nesting(probabilities.text, probabilities.location, members, members.shape)
        return members
    if function is not None:
        if function.text.lstrip().startswith("("):
            check_nesting(function.text, function.location, members, members.shape[:-1])
        return from_states(members, [*_results(members, function)], function.location)
    if node.value("equation") is not None:
        raise FormatError(
            f"{node.location}: the CPT of {node.name!r} is an equation.",
            "let Netica make a table of it ('Equation to Table'), then save again.",
        )
    return members


def _results(members: Family, function: Value) -> Iterator[str]:
    """The state that a function gives for each configuration of the parents, by its name."""
    states = [*members.positions[-1]]
    for word in function.without_nesting().replace(",", " ").split():
        position = _POSITION.fullmatch(word)
        if position and int(position[1]) < len(states):
            yield states[int(position[1])]
        else:
            yield word.strip('"')
