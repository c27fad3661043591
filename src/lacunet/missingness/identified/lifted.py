r"""All models of a graph at once: the law of each district as a mixture of ways to respond.

Nodes that bidirected edges join form a district. Whatever their hidden causes are, each state of
these makes every node of the district a function of its parents; so the kernel of a district is a
mixture over all tuples of such *response functions* (A. Balke and J. Pearl 1994),

.. math:: Q[D](d \mid pa) = \sum_t w_t \prod_{v \in D} 1[d_v = f_{t,v}(pa_v)],

and linear in the weights :math:`w`. A node without hidden causes has its CPT for that, which is
linear as well. The law of everything is a product of these kernels over the districts. If not all
pairs of a district are joined, the mixtures are more than the models of the graph: what holds for
all of them holds for all models, and sets that are found are outer ones.
"""

from __future__ import annotations

from itertools import combinations, product
from math import prod

import numpy as np

from lacunet.missingness.errors import TooLargeEstimandError
from lacunet.missingness.refute.grid import Grid, Integers, grid_of
from lacunet.missingness.refute.models import Block, Models, cpt_block, matching
from lacunet.missingness.refute.submodels import AnyNode, Submodel
from lacunet.missingness.separation.mixed import MixedGraph, districts
from lacunet.network.network import Scope
from lacunet.network.nodes import Node

MOST_TYPES = 20_000
MAX_LIFTED_CONFIGURATIONS = 2_000_000


def response_function_models(
    graph: MixedGraph, cardinality_of: dict[str, int], known: tuple[Scope, ...] = ()
) -> Models:
    """Lay out the configurations of a graph and the response functions of its districts.

    ``known`` are sets of variables whose law in the population is known from elsewhere.

    Raises
    ------
    TooLargeEstimandError
        There are too many.
    """
    plain = graph.with_edges(graph.parents, ())
    submodel = Submodel(plain, cardinality_of, known=known)
    if submodel.configurations > MAX_LIFTED_CONFIGURATIONS:
        raise _too_large("configurations")
    grid = grid_of(submodel)
    all_districts = districts(graph, frozenset(graph.order))
    blocks = tuple(_block(grid, graph.sorted(district)) for district in all_districts)
    is_outer = any(
        right not in graph.siblings[left]
        for district in all_districts
        for left, right in combinations(graph.sorted(district), 2)
    )
    return Models(grid, blocks, is_outer)


def _too_large(what: str) -> TooLargeEstimandError:
    return TooLargeEstimandError(
        f"the identified set has too many {what} to be followed.",
        "leave out variables that the query does not need, or merge states.",
    )


def _block(grid: Grid, nodes: tuple[Node, ...]) -> Block:
    if len(nodes) == 1:
        return cpt_block(grid, nodes[0])
    counts = [float(grid.sizes[node][1]) ** grid.sizes[node][0] for node in nodes]
    if prod(counts) > MOST_TYPES:
        raise _too_large("response functions")
    functions = [list(product(range(grid.sizes[n][1]), repeat=grid.sizes[n][0])) for n in nodes]
    tuples = np.array(list(product(*(range(len(options)) for options in functions))))
    responses: dict[AnyNode, Integers] = {
        node: np.array(options)[tuples[:, index]]
        for index, (node, options) in enumerate(zip(nodes, functions, strict=True))
    }  # tuples x configurations of the parents
    group = np.zeros(len(tuples), dtype=np.int64)
    return Block(
        nodes=nodes,
        group=group,
        entries=None,
        matrix=matching(grid, nodes, responses),
        responses=responses,
    )
