r"""The text format of missingness graphs.

.. code-block:: text

    Age -> R[Income]; R[Income] -> R[Job]     # edges end with a line or with ;
    Age, "Place of birth" -> R[Job]           # several parents, names with blanks
    Health <-> R[Job]                         # a hidden common cause
    R[Sex], R[Age]                            # missing completely at random
    Age -> R[Sex] -> R[Job]                   # a chain; → and ↔ are read too

Inside quotes a backslash stands before a quote or a backslash, and ``\n``, ``\r`` and
``\t`` are the line end, the carriage return and the tab.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from lacunet.missingness.errors import MissingnessGraphError
from lacunet.model.nodes import BARE_NAME, Mechanism, Node, named

_TOKEN = re.compile(
    r"(?P<blank>[^\S\n]+|\#[^\n]*)"
    r"|(?P<end>[\n;])"
    r"|(?P<arrow><->|->|[→⟶↔⟷])"
    r"|(?P<comma>,)"
    r"|(?P<open>R\[)|(?P<close>\])"
    r'|(?P<quoted>"(?:[^"\\\n]|\\["\\nrt])*")'
    rf"|(?P<bare>{BARE_NAME.pattern})"
)
ARROWS = {"->": "->", "→": "->", "⟶": "->", "<->": "<->", "↔": "<->", "⟷": "<->"}
_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True)
class Statement:
    """One edge, or a bare mechanism: the nodes left and right of the arrow."""

    left: tuple[Node, ...]
    arrow: str
    right: tuple[Node, ...]


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    at: int


def parse_statements(text: str, source: str = "missingness graph") -> Iterator[Statement]:
    """Read the statements of a text, one after the other.

    Raises
    ------
    MissingnessGraphError
        The text does not follow the format; the message has line, column and the line itself.

    Examples
    --------
    >>> for statement in parse_statements('A, "b c" -> R[D]; R[E]'):
    ...     print(statement.left, statement.arrow, statement.right)
    ('A', 'b c') -> (Mechanism(variable='D'),)
    (Mechanism(variable='E'),)  ()
    """
    tokens = list(_tokens(text, source))
    statement: list[_Token] = []
    for token in tokens:
        if token.kind != "end":
            statement.append(token)
        elif statement:
            yield from _statements([*statement, token], text, source)
            statement = []


def _tokens(text: str, source: str) -> Iterator[_Token]:
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            _fail(_unreadable(text, at), text, at, source)
        if match.lastgroup != "blank":
            yield _Token(str(match.lastgroup), match.group(), at)
        at = match.end()
    yield _Token("end", "", len(text))


def _unreadable(text: str, at: int) -> str:
    if text[at] == '"':
        return "this quote is not closed"
    if text.startswith(("<-", "←"), at):
        return "edges are written from cause to effect, as in A -> R[B]"
    return "this cannot be read here (a name with such a character goes in quotes)"


def _statements(tokens: list[_Token], text: str, source: str) -> Iterator[Statement]:
    """One edge after the other of a chain, or bare mechanisms."""
    left, at = _nodes(tokens, 0, text, source)
    if tokens[at].kind == "end":
        if not all(isinstance(node, Mechanism) for node in left):
            _fail("an arrow is missing after this", text, tokens[at].at - 1, source)
        yield from (Statement((node,), "", ()) for node in left)
    while tokens[at].kind != "end":
        if tokens[at].kind != "arrow":
            _fail("an arrow -> or <-> was expected", text, tokens[at].at, source)
        arrow = ARROWS[tokens[at].text]
        right, at = _nodes(tokens, at + 1, text, source)
        yield Statement(left, arrow, right)
        left = right


def _nodes(tokens: list[_Token], at: int, text: str, source: str) -> tuple[tuple[Node, ...], int]:
    node, at = _node(tokens, at, text, source)
    nodes = [node]
    while tokens[at].kind == "comma":
        node, at = _node(tokens, at + 1, text, source)
        nodes.append(node)
    return tuple(nodes), at


def _node(tokens: list[_Token], at: int, text: str, source: str) -> tuple[Node, int]:
    token = tokens[at]
    if token.kind == "open":
        name = _name(tokens[at + 1], text, source)
        if tokens[at + 2].kind != "close":
            _fail("a ] was expected", text, tokens[at + 2].at, source)
        return Mechanism(name), at + 3
    return _name(token, text, source), at + 1


def _name(token: _Token, text: str, source: str) -> str:
    if token.kind not in ("bare", "quoted"):
        _fail("a variable or a mechanism R[...] was expected", text, token.at, source)
    if token.kind == "bare":
        return token.text
    return re.sub(r"\\(.)", lambda match: _ESCAPES[match.group(1)], token.text[1:-1])


def _fail(problem: str, text: str, at: int, source: str) -> NoReturn:
    at = max(at, 0)
    line = text.count("\n", 0, at) + 1
    start = text.rfind("\n", 0, at) + 1
    stop = text.find("\n", start)
    shown = text[start : len(text) if stop < 0 else stop]
    column = at - start + 1
    raise MissingnessGraphError(
        f"{source}, line {line}, column {column}: {problem}.\n  {shown}\n  {' ' * (column - 1)}^"
    )


def write_statements(statements: list[Statement]) -> str:
    """The text of some statements, one a line."""
    return "\n".join(
        " ".join(
            part
            for part in (
                ", ".join(map(named, statement.left)),
                statement.arrow,
                ", ".join(map(named, statement.right)),
            )
            if part
        )
        for statement in statements
    )
