r"""MCAR, MAR, MNAR, read off a missingness graph by d-separation.

With :math:`X_o` the always observed and :math:`X_m` the partially observed variables,

.. math::
    \text{MCAR: } (X_o, X_m) \perp R, \qquad \text{MAR: } X_m \perp R \mid X_o,

and everything else is MNAR. These are the variable-level definitions of the paper.
"""

from __future__ import annotations

from lacunet.missingness.separation.mixed import MixedGraph
from lacunet.model.nodes import Mechanism, Node


def category(graph: MixedGraph) -> str:
    """The strongest category that the graph implies."""
    if graph.separated(graph.variables, graph.mechanisms, ()):
        return "MCAR"
    return "MNAR" if mar_violation(graph) else "MAR"


def mar_violation(graph: MixedGraph) -> tuple[Node, ...] | None:
    """A path from a partially observed variable to a mechanism that X_o leaves open."""
    observed = [name for name in graph.variables if Mechanism(name) not in graph.parents]
    partial = [name for name in graph.variables if Mechanism(name) in graph.parents]
    return graph.open_path(partial, graph.mechanisms, observed)


def why_category(graph: MixedGraph) -> str:
    """The category with its reason: the path that rules out the category before it."""
    to_mechanism = graph.open_path(graph.variables, graph.mechanisms, ())
    if to_mechanism is None:
        return "MCAR: no path leads from a variable to a mechanism."
    around = mar_violation(graph)
    if around is None:
        return (
            f"MAR: the path {graph.in_words(to_mechanism)} rules out MCAR, and the always "
            "observed variables block every path from a partially observed variable to a mechanism."
        )
    return (
        f"MNAR: the path {graph.in_words(around)} joins a partially observed variable to a "
        "mechanism, and no always observed variable blocks it."
    )
