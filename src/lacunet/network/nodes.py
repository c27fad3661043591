"""How graphs are written: the nodes of missingness graphs, and texts with arrows.

Nodes are variables, named by a text, and mechanisms ``R[X]``. Texts with edges, of networks and
of missingness graphs, are read token by token.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import NamedTuple, TypeVar

from lacunet.errors import LacunetError
from lacunet.text import in_quotes

# The arrows of texts with edges, for patterns.
RIGHT = "-+>|=+>|[→⟶⇒]"
BOTH = "<-+>|<=+>|[↔⟷]"
# In which wave a variable of a panel is: H[t], H[t-1], H[5].
INDEX = r"\[\s*(?:t(?:\s*[+-]\s*\d+)?|-?\d+)\s*\]"
BARE_NAME = re.compile(rf"(?!R\[)(?:[^\s,;#\"\[\]<>\-=←→↔⟵⟶⟷⇒≤]|[-=](?![-=]*>))+(?:{INDEX})?")


class Mechanism(NamedTuple):
    """The mechanism ``R[X]`` that decides whether a row shows ``variable``; 1 means shown.

    Examples
    --------
    >>> print(Mechanism("Income"), Mechanism("net income"))
    R[Income] R["net income"]
    """

    variable: str

    def __str__(self) -> str:
        return f"R[{quoted(self.variable)}]"


SELECTION = Mechanism("*")  # R[*]: whether a row was recorded at all
Node = str | Mechanism
GroupNode = TypeVar("GroupNode", bound=Node)
Sides = list[tuple[Sequence[GroupNode], Sequence[GroupNode]]]  # what is left and right of each edge


def quoted(name: str) -> str:
    """A variable's name as the text format writes it: bare if it can be, else in quotes."""
    if BARE_NAME.fullmatch(name):
        return name
    return in_quotes(name).replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")


def variable_of(node: Node) -> str:
    """The variable itself, or the one of a mechanism."""
    return node.variable if isinstance(node, Mechanism) else node


def node_text(node: Node) -> str:
    """A node as the text format writes it."""
    return str(node) if isinstance(node, Mechanism) else quoted(node)


class Token(NamedTuple):
    """A piece of a text, and where it begins; the kind ``""`` is what no pattern knows."""

    kind: str
    text: str
    position: int


@dataclass(frozen=True)
class Written:
    """A text under the name that messages give it, and what it raises."""

    name: str
    text: str
    error: Callable[[str, str], LacunetError]  # of a problem and a hint

    def tokens(
        self, pattern: re.Pattern[str], start: int = 0, end: int | None = None
    ) -> Iterator[Token]:
        """The tokens between two places, but for those of the kind "blank"."""
        position = start
        end = len(self.text) if end is None else end
        while position < end:
            match = pattern.match(self.text, position, end)
            kind, text = (str(match.lastgroup), match[0]) if match else ("", self.text[position])
            if kind != "blank":
                yield Token(kind, text, position)
            position += len(text)

    def wrong(self, problem: str, position: int, hint: str = "") -> LacunetError:
        """What to raise: the problem, with its line, column and a mark below the place."""
        begin = self.text.rfind("\n", 0, position) + 1
        line = self.text.count("\n", 0, position) + 1
        shown = self.text[begin:].split("\n", 1)[0]
        return self.error(
            f"{self.name}, line {line}, column {position - begin + 1}: {problem}.\n"
            f"  {shown}\n  {' ' * (position - begin)}^",
            hint,
        )


AMBIGUOUS = "a comma between two arrows can be read in two ways"


def edges_in(
    statement: Sequence[Token],
    arrows: Mapping[str, str],
    group: Callable[[Sequence[Token], Token], Sequence[GroupNode]],
    written: Written,
) -> tuple[Sequence[GroupNode], list[tuple[Sequence[GroupNode], str, Sequence[GroupNode]]]]:
    """The first nodes of a statement, and its edges: what is left and right of each arrow.

    Parameters
    ----------
    statement
        Its tokens; the last one is its "end".
    arrows
        How the arrows are written, by their kinds of tokens.
    group
        Reads the nodes in some tokens, with the token behind them: an arrow, or the end.
    written
        The text, for what is wrong with it.
    """
    ends = [i for i, token in enumerate(statement) if token.kind in arrows or token.kind == "end"]
    groups = [
        group(statement[begin + 1 : end], statement[end]) for begin, end in pairwise([-1, *ends])
    ]
    signs = [arrows[statement[index].kind] for index in ends[:-1]]
    sides: Sides[GroupNode] = [*pairwise(groups)]
    between = statement[ends[0] : ends[-2]] if signs else ()
    if comma := _outer_comma(between):
        apart = as_separate_edges(groups, signs)
        if apart is None:
            raise written.wrong(AMBIGUOUS, comma.position, both_readings(groups, signs))
        sides = apart
    edges = [(left, sign, right) for (left, right), sign in zip(sides, signs, strict=True)]
    return groups[0], edges


def _outer_comma(tokens: Sequence[Token]) -> Token | None:
    """The first comma; within braces it is clear that all that is listed is meant."""
    depth = 0
    for token in tokens:
        depth += (token.kind == "open") - (token.kind == "close")
        if token.kind == "comma" and not depth:
            return token
    return None


def as_separate_edges(
    groups: Sequence[Sequence[GroupNode]], arrows: Sequence[str]
) -> Sides[GroupNode] | None:
    """The sides of separate edges, where a chain that lists nodes in its middle is not meant.

    It would have a cycle, or is the same. None where both can be meant.

    Examples
    --------
    >>> as_separate_edges([["A"], ["B", "A"], ["C"]], ["->", "->"])
    [(['A'], ['B']), (['A'], ['C'])]
    >>> as_separate_edges([["A"], ["B", "C"], ["D"]], ["->", "->"])
    """
    if any(len(group) > 2 for group in groups[1:-1]):
        return None
    chain = [*pairwise(groups)]
    apart = _apart(groups)
    pairs = [*zip(chain, apart, strict=True)]
    is_same = all({*product(*chained)} == {*product(*separate)} for chained, separate in pairs)
    is_meant = _has_cycle(chain, arrows) and not _has_cycle(apart, arrows)
    return apart if is_same or is_meant else None


def _apart(groups: Sequence[Sequence[GroupNode]]) -> Sides[GroupNode]:
    """The sides of each arrow, where the last node before it begins an edge of its own."""
    heads = [
        group[-1:] if index and len(group) > 1 else group for index, group in enumerate(groups[:-1])
    ]
    tails = [group[:-1] if len(group) > 1 else group for group in groups[1:-1]] + [groups[-1]]
    return [*zip(heads, tails, strict=True)]


def _has_cycle(sides: Sides[GroupNode], arrows: Sequence[str]) -> bool:
    """Whether a node leads to itself, or has an edge of any kind with itself."""
    import networkx as nx

    graph: nx.DiGraph[GroupNode] = nx.DiGraph()
    for (left, right), arrow in zip(sides, arrows, strict=True):
        is_directed = arrow in ("->", "<-")
        edges = [(a, b) for a, b in product(left, right) if is_directed or a == b]
        graph.add_edges_from(edges if arrow == "->" else ((end, start) for start, end in edges))
    return not nx.is_directed_acyclic_graph(graph)


def both_readings(groups: Sequence[Sequence[Node]], arrows: Sequence[str]) -> str:
    """What to write for each reading of a chain of groups of nodes that lists some in its middle.

    Examples
    --------
    >>> print(both_readings([["A"], ["B", "C"], ["D"]], ["->", "->"]))
    for separate edges write 'A -> B; C -> D'; for a chain 'A -> B; A -> C; B -> D; C -> D'.
    """
    apart = [
        f"{', '.join(map(node_text, left))} {arrow} {', '.join(map(node_text, right))}"
        for (left, right), arrow in zip(_apart(groups), arrows, strict=True)
    ]
    chain = [
        f"{node_text(start)} {arrow} {node_text(end)}"
        for sides, arrow in zip(pairwise(groups), arrows, strict=True)
        for start, end in product(*sides)
    ]
    return f"for separate edges write '{'; '.join(apart)}'; for a chain '{'; '.join(chain)}'."
