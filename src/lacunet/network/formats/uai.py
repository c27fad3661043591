"""The UAI competition's format: numbers only, so variables and states have no names.

Read are ``BAYES`` files, in which the last variable of each function's scope is the child
and runs fastest. Variables become ``X0``, ``X1``, ...; their states ``0``, ``1``, ...
Lines that begin with ``#`` are comments.

pyAgrum lists the numbers with the first parent fastest but for the child. Its files are told by
the name of a variable in a comment behind each scope, which no other program writes.
"""

from __future__ import annotations

import math
import re

from lacunet.network.formats.draft import (
    AxisOrder,
    Declared,
    Family,
    Variables,
    assemble,
    declare,
    family,
    from_flat,
    refuse,
    warn_of_agrum,
)
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.source import NUMBER, Cursor, Source, numerals
from lacunet.network.network import Network
from lacunet.text import listed

_KIND = re.compile(r"\s*([A-Za-z]+)(?!\S)")
_COUNT = re.compile(r"\s*([0-9]{1,9})(?!\S)")
_COMMENT = re.compile(r"[ \t]*#[^\r\n]*")
_COMMENT_LINES = r"(?m:^[ \t]*#[^\r\n]*)"
_OTHERS = ".bif or .json"


def parse(source: Source) -> Network:
    """The network that a UAI text describes."""
    source = source.without_comments(_COMMENT_LINES)
    cursor = Cursor(source)
    cursor.skip_blanks()
    kind = cursor.take(_KIND, "'BAYES'")[1]
    if kind != "BAYES":
        raise FormatError(
            f"{cursor.location}: the file is of the kind {kind!r}.",
            "only 'BAYES' networks can be read.",
        )
    variables = declare(source, _variables(cursor))
    families, is_agrum = _families(cursor, variables)
    if is_agrum and any(len(members.parents) > 1 for members in families):
        warn_of_agrum(source.name)
    order: AxisOrder = "reversed" if is_agrum else "parents first"
    tables = (from_flat(members, _numbers(cursor, members), order) for members in families)
    network = assemble(variables, tables)
    cursor.check_end()
    return network


def _count(cursor: Cursor, expected: str, most: int) -> int:
    location = cursor.skip_blanks()
    count = int(cursor.take(_COUNT, expected)[1])
    if count > most:
        raise FormatError.syntax(location, str(count), f"{expected}, at most {most},")
    return count


def _variables(cursor: Cursor) -> list[Declared]:
    # Every state has a number of its own in the file: a count beyond its length is damage.
    left = len(cursor.source.text)
    declared = []
    for number in range(_count(cursor, "the number of variables", left)):
        size = _count(cursor, f"the number of states of variable {number}", left)
        left -= size
        declared.append(Declared(f"X{number}", tuple(map(str, range(size))), cursor.location))
    return declared


def _families(cursor: Cursor, variables: Variables) -> tuple[list[Family], bool]:
    """The families that the scopes name, and whether comments say that pyAgrum wrote them."""
    names = [*variables.positions_of]
    location = cursor.skip_blanks()
    count = _count(cursor, "the number of functions", len(cursor.source.text))
    if count != len(names):
        raise FormatError.syntax(location, str(count), f"one function for {len(names)} variables")
    families = []
    has_comment = set()
    for _ in range(count):
        location = cursor.skip_blanks()
        size = _count(cursor, "the size of a scope", len(names))
        if not size:
            raise FormatError.syntax(location, "0", "the size of a scope, at least 1")
        numbers = [_count(cursor, "a variable's number", len(names) - 1) for _ in range(size)]
        *parents, child = [names[number] for number in numbers]
        families.append(family(variables, child, parents, location))
        has_comment.add(cursor.try_take(_COMMENT) is not None)
        if len(has_comment) > 1:
            raise FormatError.syntax(location, "some comments", "one behind each scope, or none")
    return families, has_comment == {True}


def _numbers(cursor: Cursor, members: Family) -> list[float]:
    """The numbers of a table, after their number, which must be that of its cells."""
    child = members.child
    needed = math.prod(members.shape)
    location = cursor.skip_blanks()
    announced = _count(cursor, f"the size of the table of {child!r}", len(cursor.source.text))
    if announced != needed:
        raise FormatError.wrong_length(location, child, announced, needed)
    pattern = re.compile(rf"(?:\s++{NUMBER}(?!\S)){{{announced}}}+")
    match = cursor.take(pattern, f"{announced} numbers for the table of {child!r}")
    return [float(word) for word in match[0].split()]


def render(network: Network) -> str:
    """The UAI text of a network with the names that reading a UAI file gives."""
    refuse(network, "UAI", _OTHERS, bool, bool, needs_cpts=True)
    _refuse_names(network)
    number = {name: index for index, name in enumerate(network.variables)}
    cpts = network.cpts
    scopes = [[number[name] for name in cpt.family] for cpt in cpts]
    lines = [
        "BAYES",
        str(len(number)),
        " ".join(str(network.cardinality(name)) for name in number),
        str(len(number)),
        *(" ".join(map(str, [len(scope), *scope])) for scope in scopes),
    ]
    for cpt in cpts:
        rows = cpt.table.reshape(-1, cpt.table.shape[-1])
        lines += ["", str(cpt.table.size), *(f" {numerals(row)}" for row in rows)]
    return "\n".join([*lines, ""])


def _refuse_names(network: Network) -> None:
    for number, name in enumerate(network.variables):
        numbered = tuple(map(str, range(network.cardinality(name))))
        if (name, network.states(name)) != (f"X{number}", numbered):
            what = (
                f"names: {name!r} would come back as 'X{number}', its states "
                f"{listed(network.states(name), most=5)} as {listed(numbered, most=5)}"
            )
            raise FormatError.cannot_carry_name("UAI", what, _OTHERS)
