r"""What the data can refute of a missingness graph.

A separation :math:`A \perp B \mid C` that still holds with the mechanisms of A, B and C at
1 can be seen in the rows that show them all: a :math:`G^2` test, with Cramér's V as the size
of the effect, and Holm's adjustment for testing many. That X does not depend on its own
mechanism, :math:`X \perp R_X \mid \cdot`, can never be tested: where R_X = 0 there is no X.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.estimands.rows import Codes, Rows, distinct_rows
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.separation.mixed import MixedGraph
from lacunet.missingness.verdict import Weight, as_table
from lacunet.model.network import FloatArray
from lacunet.model.nodes import Mechanism, Node, named


@dataclass(frozen=True)
class Implication:
    """``one`` does not depend on ``two`` given ``given``, among the rows that show them."""

    one: Node
    two: Node
    given: tuple[Node, ...]
    shown: tuple[Mechanism, ...]

    def __str__(self) -> str:
        conditions = [*map(named, self.given), *(f"{m}=1" for m in self.shown)]
        bar = f" | {', '.join(conditions)}" if conditions else ""
        return f"{named(self.one)} ⊥ {named(self.two)}{bar}"


@dataclass(frozen=True)
class TestedImplication:
    """An implication and what the data say: small ``adjusted`` p-values refute it.

    ``effect`` is Cramér's V within the strata of the conditions, between 0 and 1.
    """

    __test__ = False  # not a test case of pytest

    implication: Implication
    statistic: float
    degrees_of_freedom: int
    p_value: float
    adjusted: float
    effect: float
    rows: int


def implications(graph: MissingnessGraph, include_network: bool = False) -> list[Implication]:
    """The testable implications that involve a mechanism, one for each pair of nodes.

    Parameters
    ----------
    graph
        The missingness graph.
    include_network
        Also those among the variables alone, which test the network rather than the
        mechanisms.
    """
    mixed = graph.mixed
    found = []
    for one, two in combinations(mixed.order, 2):
        if isinstance(two, Mechanism) or include_network:
            implication = _between(mixed, one, two)
            if implication is not None:
                found.append(implication)
    return found


def never_testable(graph: MissingnessGraph) -> list[str]:
    """The assumptions of the graph that no data can refute, in words."""
    return [
        f"{named(name)} ⊥ {Mechanism(name)} | ...: never testable, as no row with "
        f"{Mechanism(name)}=0 shows {named(name)}"
        for name in graph.partially_observed
        if Mechanism(name) not in graph.mixed.children[name] | graph.mixed.siblings[name]
    ]


def _between(graph: MixedGraph, one: Node, two: Node) -> Implication | None:
    """The implication between two nodes with the smallest conditions that are tried."""
    if two in graph.children[one] | graph.parents[one] | graph.siblings[one]:
        return None
    for given in _conditions(graph, one, two):
        shown = graph.mechanisms_of([one, two, *given])
        if {one, two} & shown:
            continue
        if graph.separated([one], [two], {*given} | shown):
            rest = tuple(m for m in graph.mechanisms if m in shown and m not in given)
            return Implication(one, two, graph.sorted(given), rest)
    return None


def _conditions(graph: MixedGraph, one: Node, two: Node) -> Iterator[frozenset[Node]]:
    """Nothing, then subsets of the parents of both, small ones first; at last the parents."""
    around = graph.sorted((graph.parents[one] | graph.parents[two]) - {one, two})
    for size in range(min(len(around), 3) + 1):
        for given in combinations(around[:6], size):
            yield frozenset(given)
    yield graph.parents[two] - {one}
    yield graph.parents[one] - {two}
    yield frozenset(around)


def check_implications(
    graph: MissingnessGraph,
    data: object,
    weight: Weight = None,
    include_network: bool = False,
) -> list[TestedImplication]:
    r"""Test the implications on data, smallest p-value first; Holm-adjusted.

    A row whose weight is a whole number counts as so many rows. Other weights say how much
    a row stands for, not how often it was seen: the counts of each test are then scaled to
    the effective size :math:`(\sum w)^2 / \sum w^2` of the rows it uses.
    """
    table = as_table(data, graph.network, weight)
    graph.check_mechanisms(table, table.partially_observed)
    tested = [_test(one, table) for one in implications(graph, include_network)]
    return _holm(sorted(tested, key=lambda result: result.p_value))


def _holm(ordered: Sequence[TestedImplication]) -> list[TestedImplication]:
    adjusted, highest = [], 0.0
    for at, result in enumerate(ordered):
        highest = max(highest, min(1.0, result.p_value * (len(ordered) - at)))
        adjusted.append(
            TestedImplication(
                result.implication,
                result.statistic,
                result.degrees_of_freedom,
                result.p_value,
                highest,
                result.effect,
                result.rows,
            )
        )
    return adjusted


def _test(implication: Implication, table: EncodedTable) -> TestedImplication:
    from scipy.stats import chi2

    nodes = (implication.one, implication.two, *implication.given)
    names = [n.variable if isinstance(n, Mechanism) else n for n in (*nodes, *implication.shown)]
    rows = distinct_rows(table, list(dict.fromkeys(names)))
    where = rows.shows(implication.shown)
    columns = [_values(rows, node)[where] for node in nodes]
    strata, groups = _strata(columns[2:], int(where.sum()))
    sizes = [_size(rows, node) for node in nodes[:2]]
    counts = np.zeros((strata, *sizes))
    np.add.at(counts, (groups, columns[0], columns[1]), rows.weights[where])
    counts *= _scale(table, implication.shown)
    statistic, freedom, smaller = _g_squared(counts)
    total = counts.sum()
    effect = np.sqrt(statistic / (total * smaller)) if total > 0 and smaller > 0 else 0.0
    p_value = float(chi2.sf(statistic, freedom)) if freedom else 1.0
    shown = int(rows.counts[where].sum())
    return TestedImplication(
        implication, statistic, freedom, p_value, p_value, float(min(effect, 1.0)), shown
    )


def _scale(table: EncodedTable, shown: Sequence[Mechanism]) -> float:
    """What makes the weights of the rows used add up to their effective size."""
    if table.weights is None or (table.weights == np.floor(table.weights)).all():
        return 1.0
    weights = table.weights[table.is_shown([mechanism.variable for mechanism in shown])]
    squares = float((weights**2).sum())
    return float(weights.sum()) / squares if squares > 0 else 1.0


def _values(rows: Rows, node: Node) -> Codes:
    if isinstance(node, Mechanism):
        return rows.shows([node]).astype(np.int64)
    return rows.codes[node]


def _size(rows: Rows, node: Node) -> int:
    return 2 if isinstance(node, Mechanism) else rows.cardinality_of[node]


def _strata(columns: list[Codes], length: int) -> tuple[int, Codes]:
    """Number the configurations of the conditions that occur."""
    if not columns:
        return 1, np.zeros(length, dtype=np.int64)
    distinct, groups = np.unique(np.stack(columns), axis=1, return_inverse=True)
    return distinct.shape[1], groups.reshape(-1).astype(np.int64)


def _g_squared(counts: FloatArray) -> tuple[float, int, int]:
    r""":math:`G^2 = 2 \sum n \log(n / e)` over strata, its degrees of freedom, the scale of V.

    Empty rows and columns of a stratum take no degrees of freedom.
    """
    right, below = counts.sum(axis=2, keepdims=True), counts.sum(axis=1, keepdims=True)
    total = counts.sum(axis=(1, 2), keepdims=True)
    expected = np.divide(right * below, total, out=np.zeros_like(counts), where=total > 0)
    ratio = np.divide(counts, expected, out=np.ones_like(counts), where=counts > 0)
    statistic = float(2 * (counts * np.log(ratio)).sum())
    rows = (right[:, :, 0] > 0).sum(axis=1) - 1
    columns = (below[:, 0, :] > 0).sum(axis=1) - 1
    freedom = int((np.maximum(rows, 0) * np.maximum(columns, 0)).sum())
    smaller = int(np.minimum(rows, columns).max(initial=0))
    return max(statistic, 0.0), freedom, smaller
