"""Structures found under the clock: by this library, and by others on rows filled in.

No other library here takes discrete rows with missing values. So they get the most frequent
state of a column in place of its missing cells: what their users do.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from time import process_time
from typing import Any

import numpy as np

from lacunet.data.data import Data
from lacunet.data.table import EncodedTable
from lacunet.network.network import Network
from lacunet.structure.cpdag import Cpdag, compare_structures, to_cpdag
from lacunet.structure.learn_structure import learn_structure

MOST_PARENTS = 4
Arcs = set[tuple[str, str]]  # an undirected edge is there in both directions


def find_structure(
    method: str,
    truth: Network,
    table: EncodedTable,
    limit: float | None,
    rng: np.random.Generator,
    tell: Callable[[str], None],
) -> dict[str, Any]:
    """How far what a method finds is from the truth, and how long it took.

    Parameters
    ----------
    method
        "auto", "closed-form", or one of `PEERS`.
    tell
        Called with "learning" as the clock starts, with "judging" as it stops.
    """
    _warm_up()
    frame = _filled_in(table) if method in PEERS else None
    tell("learning")
    began = process_time()
    ended, found = "", Cpdag(table.variables, frozenset(), frozenset())
    if method in PEERS:
        found = _class(truth, PEERS[method](frame))
    else:
        learned = learn_structure(  # type: ignore[call-overload]
            Data(table, states=truth.states_of),
            method=method,
            time_limit=limit,
            rng=rng,
            strengths=0,
        )
        ended, found = learned.ended, learned.cpdag
    seconds = process_time() - began
    tell("judging")
    apart = compare_structures(truth, found)
    return {
        "seconds": seconds,
        "ended": ended,
        "shd": apart.shd / apart.edges[0],
        "f1": apart.f1,
        "skeleton_errors": apart.skeleton_errors,
    }


@cache
def _warm_up() -> None:
    """Import what the search imports when first called: no clock may count that."""
    learn_structure({"A": [0, 1, None, 1] * 5, "B": [0, None, 1, 1] * 5}, strengths=0)


def _filled_in(table: EncodedTable) -> Any:
    import pandas as pd

    columns = {}
    for name, codes in table.columns.items():
        size = table.cardinality_of[name]
        most = np.bincount(codes, minlength=size + 1)[:size].argmax()
        columns[name] = np.where(codes == size, most, codes).astype(np.int64)
    return pd.DataFrame(columns)


def _class(truth: Network, arcs: Arcs) -> Cpdag:
    """The class of a DAG, or of a CPDAG that has an undirected edge as two arcs."""
    both = {(x, y) for x, y in arcs if (y, x) in arcs}
    if both:
        reversible = frozenset((min(arc), max(arc)) for arc in both)
        return Cpdag(truth.variables, frozenset(arcs - both), reversible)
    parents: dict[str, list[str]] = {}
    for x, y in sorted(arcs):
        parents.setdefault(y, []).append(x)
    return to_cpdag(Network(truth.states_of, parents))


def _pyagrum_tabu(frame: Any) -> Arcs:
    import pyagrum as gum

    learner: Any = gum.BNLearner(frame.astype(str))  # type: ignore[no-untyped-call]
    learner.useScoreBIC()
    learner.setMaxIndegree(MOST_PARENTS)
    learner.useLocalSearchWithTabuList()
    arcs = learner.learnDAG().arcs()
    return {(learner.nameFromId(x), learner.nameFromId(y)) for x, y in arcs}


def _pgmpy_hill_climbing(frame: Any) -> Arcs:
    from pgmpy.estimators import HillClimbSearch

    search = HillClimbSearch(frame.astype("category"))
    found = search.estimate("bic-d", max_indegree=MOST_PARENTS, show_progress=False)
    return set(found.edges())


def _pgmpy_ges(frame: Any) -> Arcs:
    from pgmpy.estimators import GES

    return set(GES(frame.astype("category")).estimate("bic-d").edges())


def _causal_learn_ges(frame: Any) -> Arcs:
    from causallearn.search.ScoreBased.GES import ges

    names = list(frame.columns)
    found = ges(frame.to_numpy(), score_func="local_score_BDeu", node_names=names)
    arcs: Arcs = set()
    for edge in found["G"].get_graph_edges():
        one, two = edge.get_node1().get_name(), edge.get_node2().get_name()
        points = [edge.get_endpoint1().name, edge.get_endpoint2().name]
        arcs |= {(one, two)} if points[1] == "ARROW" or points[0] == points[1] else set()
        arcs |= {(two, one)} if points[0] == "ARROW" or points[0] == points[1] else set()
    return arcs


PEERS: dict[str, Callable[[Any], Arcs]] = {
    "pyagrum-tabu": _pyagrum_tabu,
    "pgmpy-hill-climbing": _pgmpy_hill_climbing,
    "pgmpy-ges": _pgmpy_ges,
    "causal-learn-ges": _causal_learn_ges,
}
