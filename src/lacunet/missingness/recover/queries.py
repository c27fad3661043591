r"""Queries :math:`P(A \mid B, do(C))`, and the three rules that change how one is written.

J. Pearl, "Causality", 2009, section 3.4. With :math:`G_{\overline{C}}` the graph without the
edges into C and :math:`G_{\underline{X}}` the graph without those out of X,

.. math::
    P(a \mid b, z, do(c)) &= P(a \mid b, do(c))
    && \text{if } A \perp Z \mid B \text{ in } G_{\overline{C}}, \\
    P(a \mid b, do(x, c)) &= P(a \mid b, x, do(c))
    && \text{if } A \perp X \mid B \text{ in } G_{\overline{C} \underline{X}}, \\
    P(a \mid b, do(x, c)) &= P(a \mid b, do(c))
    && \text{if } A \perp X \mid B \text{ in } G_{\overline{C} \, \overline{X(B)}},

where X(B) is X unless it is an ancestor of B. Nodes that are intervened on are constants: no
path goes through them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from lacunet.missingness.separation.mixed import MixedGraph, cut

Names = frozenset[str]
NO_NAMES: Names = frozenset()


class Query(NamedTuple):
    """P(target | given, do(do))."""

    target: Names
    given: Names = NO_NAMES  # seen
    do: Names = NO_NAMES  # intervened on

    @property
    def names(self) -> Names:
        """All the variables it is about."""
        return self.target | self.given | self.do


def needs_no_observation(graph: MixedGraph, query: Query, name: str) -> bool:
    """Whether ``name`` may be dropped from what is given: the first rule."""
    return graph.separated(query.target, [name], query.given - {name}, query.do)


def is_as_observed(graph: MixedGraph, query: Query, names: Names) -> bool:
    """Whether seeing ``names`` is as good as doing them: the second rule.

    They may be among what is given or what is done; the others stay as they are.
    """
    given = query.given - names
    do = query.do - names
    without_effects = cut(graph, out_of=frozenset(names))
    return without_effects.separated(query.target, names, given, do)


def has_no_effect(graph: MixedGraph, query: Query, name: str) -> bool:
    """Whether ``name`` may be dropped from what is done: the third rule."""
    do = query.do - {name}
    local = graph
    if name not in graph.ancestors(query.given, do):  # it is in X(B), so no path leads into it
        local = cut(graph, into=frozenset({name}))
    return local.separated(query.target, [name], query.given, do)


@lru_cache(maxsize=8192)
def simplify(graph: MixedGraph, query: Query) -> Query:
    """The same quantity with as few interventions as these rules leave.

    All at once first, for two that are as observed together need not be so one by one.
    """
    if query.do and is_as_observed(graph, query, query.do):
        return Query(query.target, query.given | query.do)
    for name in graph.named(query.do):
        rest = query.do - {name}
        if has_no_effect(graph, query, name):
            return simplify(graph, query._replace(do=rest))
        if is_as_observed(graph, query, frozenset({name})):
            return simplify(graph, query._replace(given=query.given | {name}, do=rest))
    return query
