r"""The text format of missingness graphs.

.. code-block:: text

    Age -> R[Income]; R[Income] -> R[Job]     # edges end with a line or with ;
    Age, "Place of birth" -> R[Job]           # several parents, names with blanks
    Health <-> R[Job]                         # a hidden common cause
    R[Sex], R[Age]                            # missing completely at random
    Age -> R[Sex] -> R[Job]                   # a chain; →, => and ↔ are read too
    H[t-1] -> R[S[t]]                         # a panel: the same in all waves
    R[Second] <= R[First]                     # monotone: Second is shown only where First is
    Age -> R_Job                              # R[Job], unless a variable is called R_Job

Inside quotes a backslash stands before a quote or a backslash, and ``\n``, ``\r`` and
``\t`` are the line end, the carriage return and the tab.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

from lacunet.missingness.errors import MissingnessGraphError
from lacunet.network.nodes import (
    BARE_NAME,
    BOTH,
    INDEX,
    RIGHT,
    Mechanism,
    Node,
    Token,
    Written,
    edges_in,
    node_text,
    variable_of,
)
from lacunet.network.waves import in_time, is_template
from lacunet.text import listed

_TOKEN = re.compile(
    r"(?P<blank>[^\S\n]+|\#[^\n]*)"
    r"|(?P<end>[\n;])"
    rf"|(?P<both>{BOTH})|(?P<right>{RIGHT})|(?P<order><=|≤)"
    r"|(?P<comma>,)"
    r"|(?P<open>R\[)|(?P<close>\])"
    rf'|(?P<quoted>"(?:[^"\\\n]|\\["\\nrt])*"(?:{INDEX})?)'
    rf"|(?P<bare>{BARE_NAME.pattern})"
)
_ARROWS = {"right": "->", "both": "<->", "order": "<="}
_HINT = "as in 'Age -> R[Income]'; R[Income] alone if nothing causes Income to be missing."
_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "r": "\r", "t": "\t"}


class Statement(NamedTuple):
    """One edge, or a bare node: the nodes left and right of the arrow."""

    left: tuple[Node, ...]
    arrow: str
    right: tuple[Node, ...]


def parse_statements(
    text: str,
    source: str = "missingness graph",
    *,
    lone_variables: bool = False,
    variables: Collection[str] = (),
) -> Iterator[Statement]:
    """Read the statements of a text, one after the other.

    Variables without an arrow are refused unless ``lone_variables``: they say nothing of how
    values go missing. R_X is the mechanism of X where that is among the ``variables``, and R_X
    itself is not.

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
    written = Written(
        source, text, lambda *words: MissingnessGraphError(words[0], words[1] or _HINT)
    )
    nodes = partial(_nodes, written, variables)
    statement: list[Token] = []
    for token in (*written.tokens(_TOKEN), Token("end", "", len(text))):
        if not token.kind:
            problem = "this cannot be read here (a name with such a character goes in quotes)"
            if token.text == '"':
                problem = "this quote is not closed"
            elif text.startswith(("<-", "←"), token.position):
                problem = "edges are written from cause to effect, as in A -> R[B]"
            raise written.wrong(problem, token.position)
        if token.kind != "end":
            statement.append(token)
        elif statement:
            alone, edges = edges_in([*statement, token], _ARROWS, nodes, written)
            if not (edges or lone_variables or all(isinstance(node, Mechanism) for node in alone)):
                raise written.wrong("an arrow is missing after this", token.position - 1)
            if not edges:
                yield from (Statement((node,), "", ()) for node in alone)
            yield from (Statement(tuple(left), arrow, tuple(right)) for left, arrow, right in edges)
            statement = []


def in_every_wave(statements: Sequence[Statement], variables: Collection[str]) -> list[Statement]:
    """Statements on any wave of a panel, in each of its waves; of nodes that the network has.

    Examples
    --------
    >>> panel = ["H[0]", "H[1]", "H[2]"]
    >>> statements = in_every_wave([*parse_statements("H[t-1] -> R[H[t]]")], panel)
    >>> print(write_statements(statements))
    R[H[0]]
    H[0] -> R[H[1]]
    H[1] -> R[H[2]]
    """
    waves = sorted({wave for _, _, wave in map(in_time, variables) if wave is not None})
    varying = {name for name, _, wave in map(in_time, variables) if wave is not None}
    unrolled: list[Statement] = []
    for statement in statements:
        nodes = (*statement.left, *statement.right)
        if not is_template(map(variable_of, nodes)):
            unrolled.append(statement)
            continue
        for name, lag, _ in (in_time(variable_of(node)) for node in nodes):
            if lag is not None and name not in varying:
                raise MissingnessGraphError(
                    f"{name}[t] in {write_statements([statement])!r} is no variable of the panel.",
                    f"its variables are {listed(varying) or 'none: it has no waves'}.",
                )
        _refuse_back_in_time(statement)
        by_wave = [_statements_in_wave(statement, wave, variables) for wave in waves]
        in_waves = [*chain.from_iterable(by_wave)]
        if statement.arrow and not any(each.arrow for each in in_waves):
            raise MissingnessGraphError(
                f"{write_statements([statement])!r} holds in none of the {len(waves)} waves.",
                "a lag is shorter than the panel.",
            )
        unrolled += in_waves
    return unrolled


def _statements_in_wave(
    statement: Statement, wave: int, variables: Collection[str]
) -> list[Statement]:
    """What a statement says where t is a wave: itself, bare mechanisms, or nothing."""
    left = _in_wave(statement.left, wave, variables)
    right = _in_wave(statement.right, wave, variables)
    if statement.arrow == "<=" and left == right:  # nothing to itself
        return []
    if left and right:
        return [Statement(left, statement.arrow, right)]
    # Nothing before the first wave causes its mechanisms, but they are there.
    is_bare = statement.arrow == ""
    is_without_causes = statement.arrow == "->" and not left
    if not (is_bare or is_without_causes):
        return []
    return [Statement((node,), "", ()) for node in (*left, *right) if isinstance(node, Mechanism)]


def _refuse_back_in_time(statement: Statement) -> None:
    """Refuse a wave after t, and causes that come after what they cause."""
    lags = [
        [(node, in_time(variable_of(node)).lag) for node in side]
        for side in (statement.left, statement.right)
    ]
    for node, lag in (*lags[0], *lags[1]):
        if lag is not None and lag < 0:
            name = in_time(variable_of(node)).name
            raise MissingnessGraphError(
                f"{write_statements([statement])!r} names {str(node)!r}, a wave after t.",
                f"write the later of the two with {name}[t], the other with t-1.",
            )
    causes = [lag for _, lag in lags[0] if lag is not None]
    effects = [lag for _, lag in lags[1] if lag is not None]
    if statement.arrow == "->" and causes and effects and min(causes) < max(effects):
        raise MissingnessGraphError(
            f"{write_statements([statement])!r} goes back in time.",
            "write the later of the two with t, and the other with t-1.",
        )


def _in_wave(nodes: Sequence[Node], wave: int, variables: Collection[str]) -> tuple[Node, ...]:
    """The nodes that are meant where t is a wave, as far as there are such."""
    names = [in_time(variable_of(node)).in_wave(wave) for node in nodes]
    return tuple(
        Mechanism(name) if isinstance(node, Mechanism) else name
        for node, name in zip(nodes, names, strict=True)
        if name in variables or in_time(variable_of(node)).lag is None
    )


def _nodes(
    written: Written, variables: Collection[str], part: Sequence[Token], after: Token
) -> list[Node]:
    """The nodes of a list; R_X is a mechanism where only X is a variable."""
    tokens = [*part, after]
    index = 0
    nodes: list[Node] = []
    while not nodes or tokens[index - 1].kind == "comma":
        if tokens[index].kind == "open":  # R[, a name and ]
            mechanism = Mechanism(_name(tokens[index + 1], written))
            close = tokens[index + 2]
            if close.kind != "close":
                hint = _quotes(close) or f"close the mechanism: {mechanism}."
                raise written.wrong("expected ']'", close.position, hint)
            nodes.append(mechanism)
            index += 3
        else:
            name = _name(tokens[index], written)
            variable = name.removeprefix("R_")
            is_mechanism = variable in variables and name not in variables
            nodes.append(Mechanism(variable) if is_mechanism else name)
            index += 1
        if tokens[index].kind == "comma":
            index += 1
    if index < len(part):
        raise written.wrong(
            "expected '->', '<->' or '<='", tokens[index].position, _quotes(tokens[index])
        )
    return nodes


def _quotes(token: Token) -> str:
    """What to do with a second name behind a name, unless it was meant as an arrow."""
    is_name = token.kind == "bare" and token.text.strip("-=")
    return 'a name with a space goes in quotes: R["X Y"].' if is_name else ""


def _name(token: Token, written: Written) -> str:
    if token.kind == "bare":
        return token.text
    if token.kind == "quoted":
        inner, _, index = token.text[1:].rpartition('"')
        return re.sub(r"\\(.)", lambda match: _ESCAPES[match[1]], inner) + index
    raise written.wrong("expected a variable or a mechanism R[...]", token.position)


def write_statements(statements: list[Statement]) -> str:
    """The text of some statements, one a line."""
    return "\n".join(
        " ".join(filter(None, (_listed(s.left), s.arrow, _listed(s.right)))) for s in statements
    )


def _listed(nodes: tuple[Node, ...]) -> str:
    return ", ".join(map(node_text, nodes))
