r"""Fix and select: one formula for most queries P(A | B), and its odds form.

**Fix and select.** Choose disjoint sets of mechanisms: F, re-weighted as if fixed at 1, and S,
selected on. If

1. the rows with :math:`R_F = R_S = 1` show A and B,
2. the propensity :math:`\pi_j = \Pr(R_j = 1 \mid pa_j)` of each j in F is known in these rows,
3. :math:`A \perp R_S \mid B` once :math:`R_F` is fixed at 1,

then

.. math::
    P(a \mid b) \propto \sum_{\text{rows with } R_{F \cup S} = 1,\ a,\ b}
    \prod_{j \in F} \frac{1}{\pi_j(\text{row})}.

Why: dividing by :math:`\pi_j` takes the factor of :math:`R_j` out of the law of all nodes, so by
(2) the weighted rows follow :math:`P(\cdot, R_S = 1 \mid do(R_F = 1))`. Mechanisms cause no
variable, so fixing them leaves P(A | B) as it is; by (3) selecting on :math:`R_S` does too; and by
(1) the rows tell both sides of the bar. Deletion (F empty), informed deletion and the paper's MNAR
formula (S empty) are special cases. R. Bhattacharya, R. Nabi, I. Shpitser and J. Robins,
"Identification in missing data models represented by directed acyclic graphs", 2019, fix mechanisms
in this sense.

**The odds form.** Leave some mechanisms I free, at either value, and take a scope
:math:`Z \supseteq A \cup B` of variables. If, in the sample of some F and S as above,

.. math:: X_i \perp R_i \mid X_{Z \setminus i}, R_{I \setminus i} \quad \text{for each } i \in I,

no free variable has a say in whether it is shown itself, and the law of Z is put together from the
rows without gaps and the odds of the patterns of I, pattern by pattern (`formulas.pattern_odds`
has the formula). Why: given all the rest, the odds of missing :math:`X_i` are the same for each of
its values, so rows that show it tell them. Hidden causes are allowed. M. Sadinle and J. Reiter,
"Itemwise conditionally independent nonresponse modelling for incomplete multivariate data", 2017;
D. Malinsky, I. Shpitser and E. Tchetgen Tchetgen, "Semiparametric inference for nonmonotone
missing-not-at-random data: the no self-censoring model", 2022.

**Projections.** An estimand that holds in every model of a larger class holds in every model of
this graph. Two such classes are the latent projection, which hides some variables, and the directed
graphs in which edges stand for hidden causes. Either may have an estimand where the graph itself
has none that is found: a hidden variable need not be shown, and a mechanism without hidden causes
has a propensity.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial, reduce
from itertools import combinations, permutations

from lacunet.missingness.formulas.pattern_odds import NoSelfCensoring, PatternOdds
from lacunet.missingness.formulas.samples import Sample
from lacunet.missingness.formulas.terms import Factor, Term
from lacunet.missingness.limits import (
    MAX_HIDEABLE,
    MAX_MECHANISMS_FOR_ALL_PARTS,
    MAX_ODDS_MECHANISMS,
    MAX_ODDS_SCOPE,
    MAX_SCOPE_EXTENSIONS,
    MAX_TURNED_MECHANISMS,
)
from lacunet.missingness.recover.propensity import (
    NO_MECHANISMS,
    MechanismSet,
    find_sample,
    known_propensities,
)
from lacunet.missingness.recover.queries import Names, Query
from lacunet.missingness.separation.mixed import (
    MixedGraph,
    project_out,
    subsets,
    topological_nodes,
    without_bidirected,
)
from lacunet.network.nodes import SELECTION, Mechanism, Node


@lru_cache(maxsize=8192)
def fraction(graph: MixedGraph, query: Query, most: int = 1) -> list[Term]:
    """P(target | given) by fix and select, with the fewest mechanisms shown."""
    need = graph.mechanisms_of(query.names)  # condition 1
    allowed = graph.closure(need)
    local = restrict(graph, allowed, query.names)
    holds = partial(_selects, local, query)
    if holds(need, NO_MECHANISMS):  # deletion: no propensity need be known
        shown = tuple(mechanism for mechanism in local.mechanisms if mechanism in need)
        samples = [Sample((*shown, *graph.selection))]
    else:
        samples = find_sample(
            graph=local,
            known=known_propensities(local, most),
            need=need,
            allowed=allowed,
            holds=holds,
            most=most,
        )
    target = graph.named(query.target)
    given = graph.named(query.given)
    return [Factor(target, given, sample) for sample in samples]


def _selects(graph: MixedGraph, query: Query, shown: MechanismSet, fixed: MechanismSet) -> bool:
    """Condition 3; R[*] is always selected on, for there are no other rows."""
    selected = (shown - fixed) | graph.selection
    return not selected or graph.separated(query.target, selected, query.given, fixed)


@lru_cache(maxsize=4096)
def restrict(graph: MixedGraph, mechanisms: MechanismSet, names: Names) -> MixedGraph:
    """The graph of the mechanisms, the names and their ancestors; the rest sums to one."""
    kept = graph.ancestors(mechanisms | names | graph.selection)
    if len(kept) == len(graph.order):
        return graph
    return graph.among(kept)


@lru_cache(maxsize=8192)
def no_self_censoring(graph: MixedGraph, query: Query, most: int = 1) -> list[Term]:
    """P(target | given) by the odds of patterns over some scope, the smallest that does."""
    for scope in _scopes(graph, query.names):
        partially_observed = graph.mechanisms_of(scope)
        local = restrict(graph, graph.closure(partially_observed), scope)
        for free in _free_sets(local, partially_observed):
            samples = _odds_samples(local, query, scope, free, most)
            if samples:
                return [_odds_term(graph, query, scope, free, samples[0])]
    return []


def _odds_term(
    graph: MixedGraph, query: Query, scope: Names, free: MechanismSet, sample: Sample
) -> NoSelfCensoring:
    mechanisms = tuple(mechanism for mechanism in graph.mechanisms if mechanism in free)
    odds = PatternOdds(graph.named(scope), mechanisms, sample)
    return NoSelfCensoring(graph.named(query.target), graph.named(query.given), odds)


def _odds_samples(
    graph: MixedGraph, query: Query, scope: Names, free: MechanismSet, most: int
) -> list[Sample]:
    """A weighted sample in which no free mechanism censors its own variable."""
    need = graph.mechanisms_of(scope) - free
    holds = partial(_odds_hold, graph, query, scope, free)
    if not need and holds(NO_MECHANISMS, NO_MECHANISMS):
        return [Sample((*graph.selection,))]  # no propensity need be known
    known = known_propensities(graph, most)
    return find_sample(
        graph=graph,
        known=known,
        need=need,
        allowed=frozenset(graph.mechanisms) - free,
        holds=holds,
        most=most,
    )


def _odds_hold(
    graph: MixedGraph,
    query: Query,
    scope: Names,
    free: MechanismSet,
    shown: MechanismSet,
    fixed: MechanismSet,
) -> bool:
    """Condition 3 of fix and select, and that of the odds for each free mechanism."""
    if not _selects(graph, query, shown, fixed):
        return False
    selected = (shown - fixed) | graph.selection
    for i in graph.mechanisms:
        if i not in free:
            continue
        others = (scope - {i.variable}) | (free - {i}) | selected
        if not graph.separated([i.variable], [i], others, fixed):
            return False
    return True


def _scopes(graph: MixedGraph, names: Names) -> Iterator[Names]:
    """The query, then what its mechanisms depend on, step by step; each with one more variable."""
    grown = _grown(graph, names)
    nearby = graph.named(graph.ancestors(grown[-1]))
    # One more variable may block a path from X to R[X], although it decides on no mechanism.
    extended = [scope | {name} for scope in grown for name in nearby[:MAX_SCOPE_EXTENSIONS]]
    for scope in dict.fromkeys([*grown, *extended, frozenset(nearby)]):
        if len(scope) <= MAX_ODDS_SCOPE:
            yield scope


def _grown(graph: MixedGraph, names: Names) -> list[Names]:
    """The names, and again and again with what is joined to their mechanisms, until all is in."""
    grown = [names]
    while True:
        near: set[str] = set()
        for mechanism in graph.mechanisms_of(grown[-1]):
            around = graph.parents[mechanism] | graph.siblings[mechanism]
            near.update(node for node in around if isinstance(node, str))
        if near <= grown[-1]:
            return grown
        grown.append(grown[-1] | near)


def _free_sets(graph: MixedGraph, partially_observed: MechanismSet) -> Iterator[MechanismSet]:
    """The sets of mechanisms to leave free, large ones first: those that are not need a sample.

    One alone is not tried: that is the chain rule, with a factor for its variable.
    """
    order = [mechanism for mechanism in graph.mechanisms if mechanism in partially_observed]
    every = len(order)
    if every <= MAX_MECHANISMS_FOR_ALL_PARTS:
        return subsets(order, range(every, 1, -1))
    if every <= MAX_ODDS_MECHANISMS:
        return subsets(order, [every])
    return iter(())


def too_large_term(graph: MixedGraph, query: Query) -> NoSelfCensoring | None:
    """The odds form over a scope that is too large to compute, where it holds.

    It says that the query is recoverable, though not by any table that could be filled.
    """
    widest = _grown(graph, query.names)[-1]
    for scope in (widest, frozenset(graph.named(graph.ancestors(widest)))):
        free = graph.mechanisms_of(scope)
        term = _odds_term(graph, query, scope, free, Sample((*graph.selection,)))
        if not is_too_large(term.odds):
            continue
        if _odds_hold(
            graph=graph,
            query=query,
            scope=scope,
            free=free,
            shown=NO_MECHANISMS,
            fixed=NO_MECHANISMS,
        ):
            return term
    return None


def is_too_large(odds: PatternOdds) -> bool:
    """Whether the odds of patterns take more tables, or larger ones, than are computed."""
    return len(odds.scope) > MAX_ODDS_SCOPE or len(odds.free) > MAX_ODDS_MECHANISMS


def too_large_in_words(odds: PatternOdds) -> str:
    """Why the odds of patterns are too large to compute, behind a verdict."""
    scope = len(odds.scope)
    free = len(odds.free)
    return (
        f"; too large to compute: over {scope} variables, {free} of them partially observed, it "
        f"would need 2^{free} tables of their joint states; the limit is {MAX_ODDS_SCOPE} "
        f"variables, {MAX_ODDS_MECHANISMS} of them partially observed"
    )


@lru_cache(maxsize=8192)
def in_projections(graph: MixedGraph, query: Query, most: int = 1) -> list[Term]:
    """Fix and select where up to two variables outside the query are taken as hidden.

    And where hidden causes are replaced by edges.
    """
    near = graph.closure(graph.mechanisms_of(query.names))
    tight = restrict(graph, near, query.names)
    local_graphs = [tight]
    wider = graph.closure(near | graph.mechanisms_of(tight.variables))
    if wider != near:
        local_graphs.append(restrict(graph, wider, query.names))
    for local in local_graphs:
        for hide in _hidden_sets(local, query, near):
            for projection in _projections(local, hide):
                terms = fraction(projection, query, most)
                if terms:
                    return terms
    return []


def _hidden_sets(graph: MixedGraph, query: Query, near: MechanismSet) -> Iterator[tuple[str, ...]]:
    """What to hide: up to two variables that decide on a mechanism the query needs."""
    outside = [
        name
        for name in graph.variables
        if name not in query.names and not graph.children[name].isdisjoint(near)
    ]
    for size in (0, 1, 2):  # none hidden: only hidden causes are replaced
        yield from combinations(outside[:MAX_HIDEABLE], size)


@lru_cache(maxsize=4096)
def _projections(graph: MixedGraph, hide: tuple[str, ...]) -> tuple[MixedGraph, ...]:
    """The projections without the variables, with and without their mechanisms.

    A projection with hidden causes is followed by the directed graphs that contain it.
    """
    with_mechanisms = reduce(project_out, hide, graph)
    mechanisms = [Mechanism(name) for name in hide if Mechanism(name) in graph.parents]
    graphs = [reduce(project_out, mechanisms, with_mechanisms)]
    if mechanisms:  # R[X] may be selected on although X is hidden: every row tells it
        graphs.append(with_mechanisms)
    for projection in tuple(graphs):
        for order in _orders(projection):
            graphs.append(without_bidirected(projection, order))
    return tuple(graphs)


def _orders(graph: MixedGraph) -> list[tuple[Node, ...]]:
    """Topological orders of a graph with hidden causes, a few, each orienting them differently."""
    if not graph.hidden:
        return []
    joined = [mechanism for mechanism in graph.mechanisms if graph.siblings[mechanism]]
    orders: dict[tuple[bool, ...], tuple[Node, ...]] = {}
    for preferred in permutations(joined[:MAX_TURNED_MECHANISMS]):
        order = _order_with(graph, preferred)
        rank = {node: index for index, node in enumerate(order)}
        orientation = tuple(rank[left] < rank[right] for left, right in graph.hidden)
        orders.setdefault(orientation, order)
    return list(orders.values())


def _order_with(graph: MixedGraph, preferred: tuple[Mechanism, ...]) -> tuple[Node, ...]:
    """The nodes, parents first: variables as soon as can be, then mechanisms in this order."""
    priority: dict[Node, int] = {mechanism: index for index, mechanism in enumerate(preferred)}

    def key(node: Node) -> tuple[bool, bool, int]:
        return node == SELECTION, isinstance(node, Mechanism), priority.get(node, -1)

    return topological_nodes(graph, key)
