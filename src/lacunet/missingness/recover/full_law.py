r"""The full law :math:`P(X, R)`: what completing rows takes, beyond the law of the variables.

**Theorem.** The full law is identified if and only if, given all the other nodes, no variable is
joined to its own mechanism: there is no *colluding path* from X to R[X], on which every node
between them is a collider. Without hidden causes these are the edges ``X -> R[X]`` and the
colluders ``X -> R[Y] <- R[X]``. R. Nabi, R. Bhattacharya and I. Shpitser, "Full law identification
in graphical models of missing data: completeness results", 2020.

Why: without such a path :math:`X_i \perp R_i \mid X_{-i}, R_{-i}` for each i, and the odds of the
missingness patterns put the law together (`formulas.pattern_odds.FullLaw`). On
one, what X does to R[X] cannot be told from what hides behind the missing values: two models that
look the same are the proof.

The law of the variables alone may be recoverable where the full law is not.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import cast

from lacunet.missingness.formulas.pattern_odds import FullLaw, PatternOdds
from lacunet.missingness.formulas.samples import Sample
from lacunet.missingness.recover.fix_and_select import is_too_large, too_large_in_words
from lacunet.missingness.refute.ordered_query import Asked
from lacunet.missingness.refute.submodels import Submodel, candidates
from lacunet.missingness.refute.witness import Witness, first_witness, in_submodel
from lacunet.missingness.separation.drawing import Drawing
from lacunet.missingness.separation.mixed import MixedGraph, path_in_words, reachable
from lacunet.missingness.verdict import NOT_RECOVERABLE, RECOVERABLE, UNDECIDED, Verdict
from lacunet.network.network import Scope
from lacunet.network.nodes import Node, quoted, variable_of

# The states of the variable with the colluding path, and of hidden causes, in the two models: with
# more of them the others cannot stand in for what is missing.
VARIABLE_STATES = (2, 4, 10)
HIDDEN_STATES = (2, 5)


@lru_cache(maxsize=256)
def recover_full_law(graph: Drawing) -> Verdict:
    """The verdict on the law of the mechanisms and all that they depend on.

    Given these variables the others do not depend on the mechanisms.

    Examples
    --------
    >>> from lacunet.network.network import Network
    >>> from lacunet.network.nodes import Mechanism
    >>> network = Network({name: ["0", "1"] for name in "XY"}, {"Y": ["X"]})
    >>> colluder = Drawing(network, {"Y": ["X", Mechanism("X")], "X": []})
    >>> print(recover_full_law(colluder).why[:48])
    X -> R[Y] <- R[X] joins X to its own mechanism g
    """
    mixed = graph.mixed
    scope = _scope(mixed)
    asked = Asked(cast("Scope", (*scope, *mixed.mechanisms)))
    if mixed.selection:
        path = mixed.open_path(asked.target, mixed.selection, ())
        if path:
            return _not_of_all_rows(graph, asked, path)
    if mixed.monotone:
        why = "with mechanisms that are never 1 without another, the law of all is not decided"
        return Verdict(graph, asked, UNDECIDED, why)
    path = _colluding_path(mixed)
    if path:
        why = _joined_to_its_mechanism(mixed, path)
        return Verdict(graph, asked, NOT_RECOVERABLE, why, witness=_witness(mixed, path))
    odds = PatternOdds(scope, mixed.mechanisms, Sample((*mixed.selection,)))
    term = FullLaw(asked.target, (), odds)
    why = (
        "given the others, no variable has a say in whether it is shown itself, so the odds of "
        "the missingness patterns put variables and mechanisms together"
    )
    if is_too_large(odds):
        why += too_large_in_words(odds)
        return Verdict(
            graph=graph, asked=asked, status=RECOVERABLE, why=why, term=term, is_computable=False
        )
    return Verdict(graph=graph, asked=asked, status=RECOVERABLE, why=why, term=term)


def _scope(graph: MixedGraph) -> Scope:
    """The partially observed variables and all that decides on mechanisms, hidden causes too."""
    joined = reachable(frozenset[Node](graph.mechanisms), lambda node: graph.siblings[node])
    partial = (mechanism.variable for mechanism in graph.mechanisms)
    return graph.named([*joined, *graph.variable_parents(joined), *partial])


def _not_of_all_rows(graph: Drawing, asked: Asked, path: tuple[Node, ...]) -> Verdict:
    """The verdict where rows are a selection: the others differ, and of them nothing is seen.

    It is a proof once two models agree on the recorded rows and differ in the law of the variable
    at the start of the path.
    """
    mixed = graph.mixed
    why = f"the path {mixed.in_words(path)} makes the rows that were recorded a selection"
    witness = None
    if isinstance(path[0], str):
        query = Asked((path[0],))
        witness = first_witness(candidates(mixed, query), query, 1.0)
    status = UNDECIDED if witness is None else NOT_RECOVERABLE
    return Verdict(graph, asked, status, why, witness=witness)


def _colluding_path(graph: MixedGraph) -> tuple[Node, ...] | None:
    """A shortest path from a variable to its mechanism that is open given all other nodes."""
    every = frozenset(graph.order)
    shortest: tuple[Node, ...] | None = None
    for mechanism in graph.mechanisms:
        name = mechanism.variable
        path = graph.open_path([name], [mechanism], every - {name, mechanism})
        if path and (shortest is None or len(path) < len(shortest)):
            shortest = path
    return shortest


def _joined_to_its_mechanism(graph: MixedGraph, path: tuple[Node, ...]) -> str:
    return (
        f"{path_in_words(path, _arrows(graph, path))} joins {quoted(str(path[0]))} to its own "
        "mechanism given all the rest, so rows in which it is missing do not tell how its values, "
        "and what else is missing, go together"
    )


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
    names = {variable_of(node) for node in path}
    kept = [node for node in graph.order if variable_of(node) in names]
    parents: dict[Node, list[Node]] = {node: [] for node in kept}
    hidden = []
    for (left, right), arrow in zip(pairwise(path), _arrows(graph, path), strict=True):
        if arrow == "<->":
            hidden.append((left, right))
        elif arrow == "->":
            parents[right].append(left)
        else:
            parents[left].append(right)
    part = MixedGraph.of(parents, hidden, graph.partial & names)
    asked = Asked(cast("Scope", part.order))
    for states in VARIABLE_STATES:
        cardinality_of = dict.fromkeys(part.variables, 2) | {str(path[0]): states}
        for hidden_states in HIDDEN_STATES if hidden else HIDDEN_STATES[:1]:
            submodel = Submodel(part, cardinality_of, hidden_states)
            for witness in in_submodel(submodel, asked):
                return witness
    return None
