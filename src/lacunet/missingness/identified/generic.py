r"""Whether a query is identified for the numbers of states at hand, locally.

At a generic model the manifest law determines the query nearby if and only if the query's gradient
lies in the row space of the manifest law's Jacobian (`refute.tangent`). The ranks are exact, at
random points modulo a prime.

A hidden cause may have any number of states. More states are more models, so the ranks grow
with them; when one state more changes neither rank, they have reached those of all numbers (for
one hidden cause the joint laws are its secant varieties, which stay once they stop growing).
"""

from __future__ import annotations

from functools import lru_cache
from itertools import chain

from lacunet.missingness.refute.ordered_query import Asked
from lacunet.missingness.refute.submodels import Submodel
from lacunet.missingness.refute.tangent import ranks
from lacunet.missingness.separation.drawing import Drawing
from lacunet.missingness.separation.mixed import MixedGraph
from lacunet.network.network import Scope
from lacunet.network.nodes import Mechanism

LARGEST_WORK = 3e8  # in rough operations
MOST_HIDDEN_STATES = 6


@lru_cache(maxsize=512)
def is_generic(graph: Drawing, asked: Asked, known: tuple[Scope, ...] = ()) -> bool | None:
    """Whether the states of the network identify a query near almost every model; None: too large.

    ``known`` are sets of variables whose law in the population is known from elsewhere.

    Examples
    --------
    With two states each, a test tells of an illness that hides itself; with three it does not.

    >>> from lacunet.network.network import Network
    >>> for states in ("01", "012"):
    ...     network = Network({"Ill": list(states), "Test": ["0", "1"]}, {"Test": ["Ill"]})
    ...     print(is_generic(Drawing(network, {"Ill": ["Ill"]}), Asked(("Ill",))))
    True
    False
    """
    if {*graph.latent} & {*asked.names}:
        return False
    is_identified = _in_part(graph, graph.mixed, asked, known)
    if is_identified is None:  # fewer variables may tell enough; if not, they prove nothing
        return _in_part(graph, near(graph.mixed, asked, known), asked, known) or None
    return is_identified


def near(graph: MixedGraph, asked: Asked, known: tuple[Scope, ...] = ()) -> MixedGraph:
    """The query, what decides on its mechanisms, and what depends on these: may tell enough."""
    names = {*asked.variables, *chain(*known), *graph.variable_parents(graph.selection)}
    mechanisms = graph.closure(graph.mechanisms_of(names))
    names |= {*(m.variable for m in mechanisms), *graph.variable_parents(mechanisms)}
    kept = graph.named(graph.ancestors(names))
    return graph.among([*kept, *map(Mechanism, kept), *graph.selection])


def _in_part(
    graph: Drawing, part: MixedGraph, asked: Asked, known: tuple[Scope, ...]
) -> bool | None:
    sizes = {name: graph.network.cardinality(name) for name in part.variables}
    before: tuple[int, int] | None = None  # the ranks with one hidden state less
    for hidden_states in range(2, MOST_HIDDEN_STATES + 1):
        submodel = Submodel(part, sizes, hidden_states, known)
        if submodel.work > LARGEST_WORK:
            return None
        both = ranks(submodel, asked)
        observed, with_query = both
        if with_query > observed:
            return False
        if not part.hidden or both == before:
            return True
        before = both
    return None
