r"""Whether the CPTs of a network answer a question although hidden common causes exist.

The CPTs are what the data have, :math:`\Pr(a \mid pa_a)`; an answer multiplies those of the
ancestors of what is asked and given, with the edges into what is set cut. Where two variables
share a hidden cause, the truth multiplies one term for each *district*, the variables that hidden
causes join (J. Tian and J. Pearl 2002), and a term whose variables are all given, or set, cancels:
so do those that what is not given joins to no target. Every other term is a product of CPTs if, for
each of its variables *a*, given the parents,

- *a* does not depend on what comes before it in an order with causes first, after the intervention;
- *a* does not depend on whether the intervention was made: on :math:`F_x \to x`, a cause of each
  variable that is set, in the graph whose edges are not cut (Pearl's rules of do-calculus).

Both are read off paths. They are enough, and not always needed. One more way is seen: without an
intervention, the law of a variable and some of its parents is right if that of all its parents is,
and given all of them and nothing else the CPT is the answer.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

from lacunet.missingness.graph import MissingnessGraph, graph_of
from lacunet.missingness.separation.mixed import MixedGraph, Nodes, cut, districts, reachable
from lacunet.network.checks import topological_order
from lacunet.network.network import Network
from lacunet.network.nodes import BOTH, Mechanism, Node, node_text

NOT_DESCRIBED = (
    "the CPTs of the network do not describe how they go together, so answers that depend on it "
    "may be wrong; graph.recover([...], [...]) decides whether the data have the answer, and its "
    "estimate(data) computes it (lacunet recover --data)"
)
Path = tuple[Node, ...]
_NONE: Nodes = frozenset()


def confounded_pair(
    network: Network, targets: Iterable[str], given: Iterable[str] = (), do: Collection[str] = ()
) -> tuple[str, str] | None:
    """Two variables whose hidden cause may make the CPTs' answer wrong; None where it is right.

    Parameters
    ----------
    network
        Its own missingness graph says which variables share a hidden cause.
    targets
        The variables asked about, together.
    given
        The variables whose states are seen.
    do
        The variables that are set.

    Examples
    --------
    >>> from lacunet.network.mechanisms import Mechanisms
    >>> chain = Network(
    ...     {name: ["0", "1"] for name in "STI"},
    ...     {"T": ["S"], "I": ["T"]},
    ...     {"S": [0.5, 0.5], "T": [[0.9, 0.1], [0.2, 0.8]], "I": [[0.7, 0.3], [0.4, 0.6]]},
    ... ).with_mechanisms(Mechanisms("S <-> I", {}))
    >>> confounded_pair(chain, ["I"], do=["T"]), confounded_pair(chain, ["T"], do=["S"])
    (('S', 'I'), None)
    """
    mechanisms = network.mechanisms
    # Most graphs have no hidden cause: their text, without a two-headed arrow, need not be read.
    if mechanisms is None or not re.search(BOTH, mechanisms.graph):
        return None
    graph = _read(mechanisms.graph, network)
    return _pair(graph, frozenset(targets), frozenset(given), frozenset(do))


@lru_cache(maxsize=4096)
def _pair(graph: MixedGraph, targets: Nodes, given: Nodes, do: Nodes) -> tuple[str, str] | None:
    if not graph.hidden:
        return None
    fixed = do & cut(graph, do).ancestors(targets | given)  # setting anything else changes nothing
    path = _open_path(graph, targets, given, fixed)
    if path is None or (not fixed and _is_in_family(graph, targets, given)):
        return None
    return _hidden_step(graph, path)


def _open_path(graph: MixedGraph, targets: Nodes, given: Nodes, fixed: Nodes) -> Path | None:
    """A path by which a term that matters is not the product of its CPTs."""
    after = cut(graph, fixed)
    above = after.ancestors(targets | given) - fixed
    free = above - given
    # Each district with what its term is a function of, but for what is given or set.
    terms = [
        (district, district.union(*(after.parents[node] for node in district)) & free)
        for district in districts(after, above)
    ]

    def near(node: Node) -> Nodes:
        return _NONE.union(*(scope for _, scope in terms if node in scope))

    joined = reachable(targets & free, near)
    # Every other term is a factor of both P(targets, given) and P(given), and cancels.
    matters = _NONE.union(*(district for district, scope in terms if scope & joined))
    return next(_dependences(graph, after, matters, above | fixed, fixed), None)


def _is_in_family(graph: MixedGraph, targets: Nodes, given: Nodes) -> bool:
    """Whether one CPT, and the law of its parents, are enough for the answer."""
    last = graph.sorted(targets | given)[-1]
    parents = graph.parents[last]
    if targets == {last} and given == parents:
        return True
    if not targets | given <= parents | {last}:
        return False
    return _open_path(graph, parents, _NONE, _NONE) is None or _is_in_family(graph, parents, _NONE)


def undescribed_pairs(graph: MissingnessGraph) -> tuple[tuple[str, str], ...]:
    """Pairs with a hidden cause for which the CPTs of the network do not give the joint law.

    Examples
    --------
    >>> chain = Network({name: ["0", "1"] for name in "STI"}, {"T": ["S"], "I": ["T"]})
    >>> undescribed_pairs(MissingnessGraph.parse("S <-> I", chain))
    (('S', 'I'),)
    >>> undescribed_pairs(MissingnessGraph.parse("S <-> T", chain))  # P(S) P(T | S) is their law
    ()
    """
    among = _among_variables(graph)
    nodes = frozenset(among.order)
    paths = _dependences(among, among, nodes, nodes, _NONE)
    return tuple(dict.fromkeys(_hidden_step(among, path) for path in paths))


def notes_on_graph(graph: MissingnessGraph, partially: Collection[str] | None) -> tuple[str, ...]:
    """What there is to say of learning CPTs with a graph; ``partially`` is None before the data.

    Raises
    ------
    MissingnessGraphError
        The data miss values of a variable that has no mechanism.
    """
    variables = graph.network.variables
    pairs = undescribed_pairs(graph)
    notes = () if partially is None else graph.check_partially(partially, variables)
    return (*notes, *(f"{hidden_cause(pair)}: {NOT_DESCRIBED}" for pair in pairs))


@lru_cache(maxsize=16)
def _read(text: str, network: Network) -> MixedGraph:
    return _among_variables(graph_of(text, network))


def _among_variables(graph: MissingnessGraph) -> MixedGraph:
    """The network's variables, causes first, and their hidden causes."""
    order = topological_order(graph.network.parents_of)
    parents: dict[Node, Iterable[Node]] = {name: graph.network.parents(name) for name in order}
    pairs = [pair for pair in graph.hidden if not any(isinstance(n, Mechanism) for n in pair)]
    return MixedGraph.of(parents, pairs)


def _dependences(
    graph: MixedGraph, after: MixedGraph, matters: Nodes, nodes: Nodes, fixed: Nodes
) -> Iterator[Path]:
    """Paths by which variables depend on more than their parents, or on the intervention."""
    interventions: list[Node] = [Mechanism(str(node)) for node in graph.sorted(fixed)]  # F_x
    causes = {**dict.fromkeys(interventions, _NONE), **graph.parents}
    for node in fixed:
        causes[node] |= {Mechanism(str(node))}
    regimes = MixedGraph.of(causes, graph.hidden)
    for node in graph.sorted(matters):
        parents = graph.parents[node]
        earlier = {other for other in nodes if graph.rank[other] < graph.rank[node]} - parents
        if path := after.open_path([node], earlier, parents):
            yield path
        if path := regimes.open_path([node], interventions, parents):
            yield path


def _hidden_step(graph: MixedGraph, path: Path) -> tuple[str, str]:
    """The first hidden cause on a path, its ends in the order of the network."""
    pair = next(both for both in pairwise(path) if both[1] in graph.siblings.get(both[0], ()))
    left, right = graph.sorted(pair)
    return str(left), str(right)


def hidden_cause(pair: tuple[str, str]) -> str:
    """The pair in words, with the edge as the graph's text has it."""
    left, right = pair
    edge = f"{node_text(left)} <-> {node_text(right)}"
    return f"{left!r} and {right!r} share a hidden common cause ({edge})"
