r"""The full law :math:`P(X, R)`: what completing rows takes, beyond the law of the variables.

It is identified if and only if, given all the others, no variable is joined to its own
mechanism: there is no *colluding path* from X to R[X], on which every node between them is a
collider. Without hidden causes these are the edges ``X -> R[X]`` and the colluders
``X -> R[Y] <- R[X]`` (R. Nabi, R. Bhattacharya and I. Shpitser, "Full law identification in
graphical models of missing data: completeness results", 2020). The law of the variables alone
may be recoverable where the full law is not.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise, product
from typing import cast

from lacunet.estimands.patterns import FullLaw, PatternOdds
from lacunet.estimands.samples import Sample
from lacunet.missingness.recover.fix_and_select import too_large
from lacunet.missingness.refute.asked import Asked
from lacunet.missingness.refute.submodels import Submodel, candidates
from lacunet.missingness.refute.witness import Witness, first_witness, in_submodel
from lacunet.missingness.separation.drawing import Drawing
from lacunet.missingness.separation.mixed import MixedGraph, path_in_words, reached
from lacunet.missingness.verdict import NOT_RECOVERABLE, RECOVERABLE, UNDECIDED, Verdict
from lacunet.model.network import Scope
from lacunet.model.nodes import Node, quoted, variable_of


@lru_cache(maxsize=256)
def recover_full_law(graph: Drawing) -> Verdict:
    """The verdict on the law of the mechanisms and all that they depend on.

    Given these variables the others do not depend on the mechanisms.

    Examples
    --------
    >>> from lacunet.model.network import Network
    >>> from lacunet.model.nodes import Mechanism
    >>> network = Network({name: ["0", "1"] for name in "XY"}, {"Y": ["X"]})
    >>> colluder = Drawing(network, {"Y": ["X", Mechanism("X")], "X": []})
    >>> print(recover_full_law(colluder).why[:48])
    X -> R[Y] <- R[X] joins X to its own mechanism g
    """
    mixed = graph.mixed
    scope = _scope(mixed)
    asked = Asked(cast("Scope", (*scope, *mixed.mechanisms)))
    selected = mixed.open_path(asked.target, mixed.selection, ()) if mixed.selection else None
    if selected:  # the other rows are not like these, and of them nothing is seen
        why = f"the path {mixed.in_words(selected)} makes the rows that were recorded a selection"
        witness = None
        if isinstance(selected[0], str):
            query = Asked((selected[0],))
            witness = first_witness(candidates(mixed, query), query, 1.0)
        status = UNDECIDED if witness is None else NOT_RECOVERABLE
        return Verdict(graph, asked, status, why, witness=witness)
    if mixed.monotone:
        why = "with mechanisms that are never 1 without another, the law of all is not decided"
        return Verdict(graph, asked, UNDECIDED, why)
    every = frozenset(mixed.order)
    ends = [(mechanism.variable, mechanism) for mechanism in mixed.mechanisms]
    paths = [mixed.open_path([name], [m], every - {name, m}) for name, m in ends]
    if any(paths):
        path = min(filter(None, paths), key=len)
        written = path_in_words(path, _arrows(mixed, path))
        why = (
            f"{written} joins {quoted(str(path[0]))} to its own mechanism given all "
            "the rest, so rows in which it is missing do not tell how its values, and what else "
            "is missing, go together"
        )
        return Verdict(graph, asked, NOT_RECOVERABLE, why, witness=_witness(mixed, path))
    odds = PatternOdds(scope, mixed.mechanisms, Sample((*mixed.selection,)))
    why = (
        "given the others, no variable has a say in whether it is shown itself, so the odds of "
        "the missingness patterns put variables and mechanisms together"
    )
    term, large = FullLaw(asked.target, (), odds), too_large(odds)
    return Verdict(graph, asked, RECOVERABLE, why + large, term, is_computable=not large)


def _scope(graph: MixedGraph) -> Scope:
    """The partially observed variables and all that decides on mechanisms, hidden causes too."""
    joined = reached(frozenset[Node](graph.mechanisms), lambda node: graph.siblings[node])
    partial = (m.variable for m in graph.mechanisms)
    return graph.named([*joined, *graph.variable_parents(joined), *partial])


def _arrows(graph: MixedGraph, path: tuple[Node, ...]) -> list[str]:
    """The edges of a path on which every node between the ends is a collider."""
    arrows = ["<->"] * (len(path) - 1)
    if path[-1] in graph.parents[path[-2]]:
        arrows[-1] = "<-"
    if path[0] in graph.parents[path[1]]:
        arrows[0] = "->"
    return arrows


def _witness(graph: MixedGraph, path: tuple[Node, ...]) -> Witness | None:
    """Two models of the path alone, with one manifest law and two full laws."""
    names = set(map(variable_of, path))
    kept = [node for node in graph.order if variable_of(node) in names]
    parents: dict[Node, list[Node]] = {node: [] for node in kept}
    hidden = []
    for (left, right), arrow in zip(pairwise(path), _arrows(graph, path), strict=True):
        if arrow == "<->":
            hidden.append((left, right))
        else:
            cause, effect = (left, right) if arrow == "->" else (right, left)
            parents[effect].append(cause)
    part = MixedGraph.of(parents, hidden, graph.partial & names)
    asked = Asked(cast("Scope", part.order))
    for states, hidden_states in product((2, 4, 10), (2, 5) if hidden else (2,)):
        cardinality_of = dict.fromkeys(part.variables, 2) | {str(path[0]): states}
        for witness in in_submodel(Submodel(part, cardinality_of, hidden_states), asked):
            return witness
    return None
