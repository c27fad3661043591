"""Edges in place of a network: how they are told from files, names and tables.

What they say is read by `lacunet.network.edges`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lacunet.network.formats.errors import FormatError
from lacunet.network.network import Network

# In a string that is not a file: an arrow, two statements, a block of DOT, a model string.
_EDGES = re.compile(r"[-=]>|<[-=]|[→←⟶⟵⇒⇐;{\n]|\s--+\s|^\s*\[")
_EDGES_OR_CELLS = re.compile(rf"{_EDGES.pattern}|[,\[\]]")
# In the text of a file.
EDGE_ARROW = re.compile(r"->|<-|→|←|^\s*\[[^\[\]]+\]")
DATA_ALONE = (
    "learn_structure(data) takes data alone, and edges as required='A -> B'; if you know all "
    "edges, learn(edges, data)."
)
MOST_EDGES = 2**20  # bytes of a file that may hold edges in place of a network
FROM_EDGES = "lacunet.Network.from_data(data, edges)"


def are_edges(value: object) -> bool:
    """Whether it can only be edges: their text, or a list of them."""
    if isinstance(value, str):
        return is_edges(value)
    return isinstance(value, list | tuple) and bool(value) and all(map(_is_edge, value))


def _is_edge(value: object) -> bool:
    if isinstance(value, str):
        return _EDGES.search(value) is not None
    return isinstance(value, tuple) and len(value) == 2


def is_edges(value: object) -> bool:
    """Whether it may be edges: a text of them that names no file, or what holds them."""
    if isinstance(value, str):
        return not os.path.exists(value) and _EDGES.search(value) is not None
    if isinstance(value, os.PathLike) or isinstance(getattr(value, "network", value), Network):
        return False
    return isinstance(value, Iterable) and not hasattr(value, "columns")  # as tables have


PARENTS = ("from", "parent", "source", "cause", "tail")
CHILDREN = ("to", "child", "target", "effect", "head")


def pairs_in_frame(value: Any) -> Any:
    """The edges of a frame with two columns such as 'from' and 'to'; anything else as it was."""
    if not hasattr(value, "columns"):
        return value
    import narwhals as nw

    frame = nw.from_native(value, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame) or len(frame.columns) != 2:
        return value
    name_of = {str(name).lower(): name for name in frame.columns}
    parents = [name_of[word] for word in PARENTS if word in name_of]
    children = [name_of[word] for word in CHILDREN if word in name_of]
    if len(parents) != 1 or len(children) != 1:  # two columns of something else
        return value
    return frame.select([*parents, *children]).rows()


def holds_edges(name: str, *, is_table: bool) -> bool:
    """Whether a file holds edges: arrows, or a parent and a child on every line.

    A table of data has cells between its words, so words alone are not edges there.
    """
    if not os.path.isfile(name) or os.path.getsize(name) > MOST_EDGES:
        return False
    text = Path(name).read_bytes().decode("utf-8-sig", errors="replace")
    is_list = is_list_of_pairs(text) or (not is_table and is_list_of_words(text))
    return EDGE_ARROW.search(text) is not None or is_list


def is_list_of_pairs(text: str) -> bool:
    r"""Whether every line has two cells, between which stands a comma or a tab.

    Examples
    --------
    >>> is_list_of_pairs("from,to\nAge,Ill"), is_list_of_pairs("Age, Sex, Ill")
    (True, False)
    """
    lines = [line for line in _without_quoted(text).splitlines() if line.strip()]
    return any(lines and all(line.count(sign) == 1 for line in lines) for sign in "\t,")


def is_list_of_words(text: str) -> bool:
    r"""Whether the first line has two words, and no line a sign of the language of edges.

    Examples
    --------
    >>> is_list_of_words("Age Ill\nSex Ill"), is_list_of_words("Age -> Ill")
    (True, False)
    """
    lines = [line.partition("#")[0].split() for line in _without_quoted(text).splitlines()]
    lines = [words for words in lines if words]
    is_pair = bool(lines) and len(lines[0]) == 2
    return is_pair and not any(_EDGES_OR_CELLS.search(" ".join(words)) for words in lines)


def _without_quoted(text: str) -> str:
    return re.sub(r'"[^"\n]*"', '""', text)


def with_arrows(text: str) -> str:
    """How edges are written, where a text may have meant some.

    Examples
    --------
    >>> with_arrows("Age>Ill"), with_arrows("Age - Ill"), with_arrows("net")
    ("edges are written 'Age -> Ill'.", "edges are written 'Age -> Ill'.", '')
    """
    arrows = r"-\s+>|>|~>|\|>|(?<=\s)-(?=\s)"
    if re.fullmatch(r"[^,.>]+,[^,.>]+", text):
        arrows = ","
    edges = re.sub(rf"\s*({arrows})\s*", " -> ", text)
    if edges == text or _EDGES.search(text):
        return ""
    return f"edges are written {edges!r}."


def refuse_edges(text: str, *, needs_intervals: bool = False) -> None:
    """Refuse edges in place of a network, whose states they do not say."""
    if _EDGES.search(text):
        more = ""
        keep = "-o net.json"
        if needs_intervals:
            more = ", intervals=True"
            keep = "--intervals -o result.json"
        raise FormatError(
            f"a network is needed, and {text!r} looks like edges.",
            f"learn its CPTs from data first: lacunet.learn(edges, data{more}) (lacunet learn "
            f"EDGES DATA {keep}); lacunet.Network.from_data(data, edges) (lacunet convert EDGES "
            "DATA -o net.json) gives it without CPTs.",
        )
