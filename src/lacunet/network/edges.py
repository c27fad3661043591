r"""Edges, in the languages that people write them in.

.. code-block:: text

    Age -> Disease; Disease -> Test          # statements end with a line or with ;
    Smoking, Age -> Cancer -> Death          # several parents, chains
    Age -> {Cough, Fever} -> Visit           # a chain through both
    "Place, of birth" → Job; Job ← Age       # quotes where needed, arrows of any look
    Sex                                      # a variable without edges
    H[t-1] -> H[t]                           # a panel: the same in all waves
    digraph { A -> {B C} [color=red] }       # DOT
    dag { A [exposure]; A -> B <- C }        # dagitty
    [A][B|A][C|A:B]                          # bnlearn's model string

Also understood: pairs ``(parent, child)``, a mapping from each child to its parents, a graph of
networkx (and so a model of pgmpy), another network, and a frame of any library with the columns
``from`` and ``to`` (or ``parent`` and ``child``); and a file of the text, or a file of two
columns (with commas, tabs or spaces between) with one edge per line, the parent before the child,
with or without names of the columns.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from shlex import quote
from typing import Any

from lacunet.errors import LacunetError
from lacunet.network.edge_texts import (
    CHILDREN,
    EDGE_ARROW,
    PARENTS,
    is_list_of_pairs,
    is_list_of_words,
    pairs_in_frame,
)
from lacunet.network.network import Network, Scope
from lacunet.network.nodes import BOTH, INDEX, RIGHT, Token, Written, edges_in
from lacunet.text import first_of, in_quotes, near_files, separated

HINT = "write edges as 'Age -> Disease; Disease -> Test', or as pairs (parent, child)."

_TOKEN = re.compile(
    r"(?P<blank>[^\S\n]+|\#[^\n]*|//[^\n]*|/\*.*?\*/)"
    r"|(?P<end>[\n;])"
    rf"|(?P<both>{BOTH})|(?P<right>{RIGHT})"
    r"|(?P<left><-+|←|⟵|<=+|⇐)"
    r"|(?P<line>--+|[—–](?=\s)|-(?=\s|$))"
    r"|(?P<comma>,)|(?P<open>\{)|(?P<close>\})|(?P<equals>=)"
    r"|(?P<attributes>\[(?:[^\]\"]|\"(?:[^\"\\]|\\.)*\")*\])"
    rf'|(?P<quoted>"(?:[^"\\]|\\.)*"(?:{INDEX})?)'
    rf"|(?P<bare>(?:[^\s,;#\"\[\]{{}}<>=\-→⟶←⟵↔⟷⇒⇐/]|-(?![->])|/(?![/*]))+(?:{INDEX})?)",
    re.DOTALL,
)
NEEDS_QUOTES = re.compile(r"[,;#\"\[\]{}<>=→⟶←⟵↔⟷⇒⇐]|--|->|//|/\*")  # in a name
_BLOCK = re.compile(r"\s*(?:strict\s+)?(digraph|graph|dag|pdag|mag)\b[^{]*\{(.*)\}\s*", re.DOTALL)
_MECHANISM = re.compile(r"(?<![\w\"])R\[[^\]=]+\]")
_OF_GRAPH = re.compile(rf"{_MECHANISM.pattern}|{BOTH}")  # a mechanism, or a hidden common cause
_ARROWS = {"right": "->", "left": "<-"}
_BEHIND_A_NAME = (*_ARROWS, "comma")
END = Token("end", "", -1)
_ATTRIBUTE_OWNERS = ("graph", "node", "edge")  # `node [shape=box]` names no variable


# The variables left of an arrow and those right of it; nothing on the left for a lone variable.
TailsAndHeads = tuple[Sequence[Any], Sequence[Any]]


class EdgesError(LacunetError):
    """What is given does not describe the edges of a network."""


@dataclass(frozen=True)
class Edges:
    """The variables in the order in which they are named, and the parents of each that has any."""

    variables: Scope
    parents_of: Mapping[str, Scope]
    reversible: tuple[tuple[str, str], ...] = ()  # edges whose direction the data do not tell
    are_learned: bool = False  # by a search


def edges_of(edges: Any) -> Edges:
    """Read edges in any of the languages.

    Raises
    ------
    EdgesError
        They cannot be read; the message shows the place.

    Examples
    --------
    >>> edges_of("Smoking, Age -> Cancer -> Death").parents_of
    {'Cancer': ('Smoking', 'Age'), 'Death': ('Cancer',)}
    >>> edges_of("[A][B|A]") == edges_of([("A", "B")]) == edges_of("digraph { A -> B }")
    True
    """
    edges = pairs_in_frame(edges)
    if isinstance(edges, Network):
        parents_of = {v: parents for v, parents in edges.parents_of.items() if parents}
        are_learned = edges.bootstrap is not None
        return Edges(edges.variables, parents_of, edges.reversible, are_learned)
    return _collected(_steps_of(edges))


def edges_text(edges: Edges, without: Collection[str] = ()) -> str:
    """The edges as they are typed, without some of the variables; lone variables by their names.

    >>> edges_text(edges_of("Age, Id -> Ill -> Late visit"), ["Id"])
    'Age -> Ill; Ill -> "Late visit"'
    """
    kept = [name for name in edges.variables if name not in without]
    lines = []
    joined = set[str]()
    for child in kept:
        parents = [name for name in edges.parents_of.get(child, ()) if name in kept]
        if parents:
            lines.append(f"{', '.join(map(_typed, parents))} -> {_typed(child)}")
            joined |= {child, *parents}
    lines += [_typed(name) for name in kept if name not in joined]
    return "; ".join(lines) if joined or len(lines) != 1 else f"{lines[0]};"  # not a file's name


def _typed(name: str) -> str:
    if name.replace("_", "a").replace(".", "a").isalnum():
        return name
    return in_quotes(name)


def _steps_of(edges: Any) -> Iterable[TailsAndHeads]:
    """The edges of what is neither a network nor a frame."""
    if isinstance(edges, Path):
        return _in_file(edges)
    if isinstance(edges, str):
        return _written(edges)
    if isinstance(edges, Mapping):
        for child, parents in edges.items():
            if isinstance(parents, str):
                raise EdgesError(
                    f"the parents of {child!r} are given as the string {parents!r}, not as a list.",
                    f"write {{{child!r}: [{parents!r}]}}.",
                )
        return [(list(parents), [child]) for child, parents in edges.items()]
    if hasattr(edges, "is_directed"):
        if not edges.is_directed():
            raise EdgesError("the networkx graph is undirected.", "give a networkx.DiGraph.")
        alone: list[TailsAndHeads] = [((), [node]) for node in edges.nodes]
        return [*alone, *(([edge[0]], [edge[1]]) for edge in edges.edges)]
    if not isinstance(edges, Iterable) or hasattr(edges, "columns"):
        raise EdgesError(f"{type(edges).__name__} does not describe edges.", HINT)
    return _in_list(list(edges))


def _in_list(items: Sequence[Any]) -> list[TailsAndHeads]:
    """The edges of pairs and statements; of names alone, ("A", "B") is easily meant as an edge."""
    steps: list[TailsAndHeads] = []
    for item in items:
        if isinstance(item, str):
            steps += _written(item)
        elif isinstance(item, Sequence) and len(item) == 2:
            steps.append(_edge_of(item))
        else:
            raise EdgesError(f"{item!r} is not an edge.", HINT)
    names = [str(right[0]) for left, right in steps if not left]
    if len(items) > 1 and len(names) == len(steps) > 1:
        alone = "; ".join(names[:3]) + ("; ..." if len(names) > 3 else "")
        raise EdgesError(
            f"a list of names, {first_of(names, 3)}, does not say what the edges are.",
            f"one edge is [({names[0]!r}, {names[1]!r})]; variables without edges are {alone!r}.",
        )
    return steps


def _edge_of(item: Sequence[Any]) -> TailsAndHeads:
    """The edge of a parent and a child; refused where one of them is no name."""
    for end in item:
        if end is None or isinstance(end, list | tuple | set | dict):
            raise EdgesError(
                f"{item!r} is not an edge: {end!r} is not the name of a variable.",
                "write a pair for each edge, or {'child': ['parent', 'parent']}.",
            )
    parent, child = item
    return [parent], [child]


def tiers_of(tiers: Any) -> Sequence[Sequence[str]]:
    """Groups of columns, earlier ones first; a text such as ``"A, B; C"`` is read.

    A name alone is a group of its own.

    Examples
    --------
    >>> tiers_of('Age, Sex; "Ill, now"; Test')
    [['Age', 'Sex'], ['Ill, now'], ['Test']]
    """
    if not isinstance(tiers, str):
        return [[tier] if isinstance(tier, str) else tier for tier in tiers or ()]
    groups = [separated(group) for group in tiers.split(";") if group.strip()]
    if not all(map(all, groups)):
        raise LacunetError(
            f"the tiers {tiers!r} cannot be read.",
            "give names separated by commas, and groups by semicolons: 'A, B; C'.",
        )
    return groups


def _in_file(path: Path) -> Iterable[TailsAndHeads]:
    """The edges of a file of the text, or of a file of two columns."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise EdgesError(f"{path}: {error.strerror or error}.", near_files(str(path))) from None
    except UnicodeDecodeError:
        raise EdgesError(f"{path}: the file is not text in UTF-8.", HINT) from None
    if EDGE_ARROW.search(text):
        return _written(text, str(path))
    if path.suffix.lower() in (".csv", ".tsv") or is_list_of_pairs(text):
        return _in_columns(_cells(text), path)
    if is_list_of_words(text):
        return _in_columns(_words(text), path)
    return _written(text, str(path))


# The number of a line, and its cells.
Line = tuple[int, list[str]]


def _cells(text: str) -> list[Line]:
    """The lines of a table with commas, semicolons or tabs."""
    delimiter = next((sign for sign in "\t;" if sign in text.partition("\n")[0]), ",")
    table = csv.reader(text.splitlines(), delimiter=delimiter)
    return [(table.line_num, [cell.strip() for cell in row]) for row in table if any(row)]


def _words(text: str) -> list[Line]:
    """The lines of a table with spaces between; quotes hold a name together."""
    lines = (re.findall(r'#.*|"([^"]*)"|([^\s"#]+)', line) for line in text.splitlines())
    cells = ([quoted or bare for quoted, bare in line if quoted or bare] for line in lines)
    return [(number, row) for number, row in enumerate(cells, 1) if row]


def _in_columns(lines: list[Line], path: Path) -> Iterator[TailsAndHeads]:
    """The edges of a file of columns: the columns with such names, or the two that there are."""
    header = [cell.lower() for cell in lines[0][1]] if lines else []
    named = [index for names in (PARENTS, CHILDREN) for index, c in enumerate(header) if c in names]
    pairs = lines
    if len(named) == 2:
        pairs = [
            (number, [row[index] for index in named if index < len(row)])
            for number, row in lines[1:]
        ]
    for number, row in pairs:
        if len(row) != 2 or not all(row):
            raise EdgesError(
                f"{path}, line {number}: {row} is not an edge, which has a parent and a child.",
                "give the file two columns, or name those of the parent and the child 'from' and "
                "'to' in its first line; names with spaces need quotes where spaces stand between.",
            )
        yield [row[0]], [row[1]]


def _collected(steps: Iterable[TailsAndHeads]) -> Edges:
    variables: dict[str, None] = {}
    parents: dict[str, dict[str, None]] = {}
    for left, right in steps:
        variables |= dict.fromkeys(str(name) for name in (*left, *right))
        for child in right if left else ():
            parents.setdefault(str(child), {}).update(dict.fromkeys(map(str, left)))
    if not variables:
        raise EdgesError("the edges name no variables.", HINT)
    return Edges(tuple(variables), {child: tuple(names) for child, names in parents.items()})


def _written(text: str, name: str = "edges") -> Iterator[TailsAndHeads]:
    if text.lstrip().startswith("["):
        return _model_string(text)
    block = _BLOCK.fullmatch(text)
    if block is None and _MECHANISM.search(text):
        edges, graph = mechanisms_apart(text)
        raise EdgesError(
            f"{graph!r} says why values are missing, and stands among the edges of a network.",
            f"write the mechanisms apart: {_calls(edges, graph)}.",
        )
    if block is None:
        return _statements(Written(name, text, _refusal), 0, len(text), in_block=False)
    if block.group(1) == "graph":
        raise EdgesError("the DOT text is an undirected graph.", "write digraph { A -> B }.")
    return _statements(Written(name, text, _refusal), *block.span(2), in_block=True)


def mechanisms_apart(text: str) -> tuple[str, str]:
    """The statements of edges, and those of a missingness graph among them.

    The latter name a mechanism, such as R[X] or R_X, or a hidden common cause.

    Examples
    --------
    >>> mechanisms_apart("X -> Y; Y -> R[X]"), mechanisms_apart("X -> Y; Y -> R_X")
    (('X -> Y', 'Y -> R[X]'), ('X -> Y', 'Y -> R_X'))
    >>> mechanisms_apart("X -> Y; X <-> Y")
    ('X -> Y', 'X <-> Y')
    """
    statements = [statement.strip() for statement in re.split("[;\n]", text) if statement.strip()]
    names = {*re.findall(r"\w+", text)}
    spelled = {f"R_{name}" for name in names} & names
    graph = [
        statement
        for statement in statements
        if _OF_GRAPH.search(statement) or spelled & {*re.findall(r"\w+", statement)}
    ]
    edges = [statement for statement in statements if statement not in graph]
    return "; ".join(edges), "; ".join(graph)


def _refusal(problem: str, hint: str) -> EdgesError:
    return EdgesError(problem, hint or HINT)


def _model_string(text: str) -> Iterator[TailsAndHeads]:
    """The model string of bnlearn: each variable in brackets, its parents after a bar."""
    bare = "".join(text.split("\n")).strip()
    if not re.fullmatch(r"(?:\s*\[[^\[\]]+\])+", bare):
        raise EdgesError(f"{text!r} is not a model string.", "write it as [A][B|A][C|A:B].")
    for node in re.findall(r"\[([^\[\]]+)\]", bare):
        child, _, parents = node.partition("|")
        yield [name.strip() for name in parents.split(":") if name.strip()], [child.strip()]


def _statements(
    written: Written, start: int, end: int, *, in_block: bool
) -> Iterator[TailsAndHeads]:
    tokens = list(written.tokens(_TOKEN, start, end))
    for kind, sign, position in tokens:
        if kind in _REFUSED:
            edges, graph = mechanisms_apart("" if in_block else written.text)
            apart = ""
            if edges and graph:
                apart = f"or write it apart: {_calls(edges, graph)}."
            raise written.wrong(_REFUSED[kind].format(sign), position, apart)
    for statement in _split(tokens):
        if in_block and any(token.kind == "equals" for token in statement):
            continue  # rankdir=LR, bb="0,0,1,1"
        if in_block and statement[0].text == "subgraph":
            problem = "subgraphs are not read: list their edges outside"
            raise written.wrong(problem, statement[0].position)
        yield from _steps(statement, written, in_block=in_block)


_REFUSED = {
    "": "{!r} is not understood here",
    "both": "an edge with two heads is not an edge of a Bayesian network: add the hidden "
    "common cause as a variable, or choose a direction",
    "line": "the edges of a Bayesian network have a direction: write -> or <-",
}


def _calls(edges: str, graph: str) -> str:
    """What takes edges and a missingness graph."""
    return (
        f"learn({edges!r}, data, missingness={graph!r}) (lacunet learn {quote(edges)} DATA "
        f"--missingness {quote(graph)}; lacunet recover {quote(edges)} {quote(graph)})"
    )


def _split(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """The statements; a line that ends or begins with an arrow is not yet over.

    Attributes end a statement, but for those of a name in a list, or before an arrow.
    """
    statement: list[Token] = []
    depth = 0
    for token, after in pairwise([*tokens, END, END]):
        depth += (token.kind == "open") - (token.kind == "close")
        if token.kind == "end":
            beside_arrow = after.kind in _ARROWS or (statement and statement[-1].kind in _ARROWS)
            goes_on = depth > 0 or (token.text == "\n" and beside_arrow)
            if not goes_on and statement:
                yield statement
                statement = []
        elif token.kind == "attributes" and (depth > 0 or after.kind in _BEHIND_A_NAME):
            statement.append(token)
        elif token.kind == "attributes":
            if len(statement) > 1 or (statement and statement[0].text not in _ATTRIBUTE_OWNERS):
                yield statement
            statement = []
        else:
            statement.append(token)
    if statement:
        yield statement


def _steps(
    statement: Sequence[Token], written: Written, *, in_block: bool
) -> Iterator[TailsAndHeads]:
    arrows = [token for token in statement if token.kind in _ARROWS]
    end = Token("end", "", (arrows[-1] if arrows else statement[0]).position)
    group = partial(_group, written=written, in_block=in_block)
    alone, edges = edges_in([*statement, end], _ARROWS, group, written)
    if not edges:
        if len(alone) > 1 and not in_block:
            raise written.wrong("there is no arrow between these variables", statement[0].position)
        yield from (((), [name]) for name in alone)
    for left, sign, right in edges:
        yield (left, right) if sign == "->" else (right, left)


def _group(tokens: Sequence[Token], near: Token, written: Written, *, in_block: bool) -> list[str]:
    """The names on one side of an arrow; outside blocks, words without a comma are one name."""
    names: list[list[str]] = [[]]
    for token in tokens:
        if token.kind in ("comma", "open", "close", "attributes"):
            names.append([])
        elif token.kind == "equals":
            raise written.wrong("'=' is not understood here", token.position)
        elif token.kind == "quoted":
            inner, _, index = token.text[1:].rpartition('"')
            names += [[re.sub(r"\\(.)", r"\1", inner) + index], []]
        elif in_block:
            names.append([token.text])
        else:
            names[-1].append(token.text)
    joined = [" ".join(words) for words in names if words]
    if not joined:
        raise written.wrong("a variable is missing beside the arrow", near.position)
    return joined
