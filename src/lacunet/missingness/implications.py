r"""What the data can refute of a missingness graph.

A separation :math:`A \perp B \mid C` that still holds with the mechanisms of A, B and C at
1 can be seen in the rows that show them all (`independence` has the test), with Cramér's V as the
size of the effect, and Holm's adjustment for testing many. That X does not depend on its own
mechanism, :math:`X \perp R_X \mid \cdot`, can never be tested: where R_X = 0 there is no X.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from lacunet.counts.distinct_rows import distinct_rows
from lacunet.counts.observations import whole_table
from lacunet.data.data import as_data
from lacunet.data.table import EncodedTable
from lacunet.limits import NEVER, Deadline
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.independence.design_effect import (
    SurveyRows,
    has_hidden_group,
    independence_test,
    packed_cells,
)
from lacunet.missingness.independence.stratified import holm
from lacunet.missingness.limits import MAX_CONDITIONS, MAX_PARENTS_TRIED
from lacunet.missingness.separation.mixed import MixedGraph, subsets
from lacunet.missingness.verdict_rows import check_rules
from lacunet.network.network import Network
from lacunet.network.nodes import SELECTION, Mechanism, Node, node_text, variable_of


@dataclass(frozen=True)
class Implication:
    """``one`` does not depend on ``two`` given ``given``, among the rows that show them."""

    one: Node
    two: Node
    given: tuple[Node, ...]
    shown: tuple[Mechanism, ...]

    def __str__(self) -> str:
        conditions = [*map(node_text, self.given), *(f"{m}=1" for m in self.shown)]
        bar = f" | {', '.join(conditions)}" if conditions else ""
        return f"{node_text(self.one)} ⊥ {node_text(self.two)}{bar}"


@dataclass(frozen=True)
class TestedImplication:
    """An implication and what the data say: small ``adjusted`` p-values refute it."""

    __test__ = False  # not a test case of pytest

    implication: Implication
    statistic: float
    degrees_of_freedom: int
    p_value: float
    adjusted: float  # by Holm, for the number of tests
    effect: float  # Cramér's V within the strata of the conditions, between 0 and 1
    rows: int
    how: str  # what Pearson's statistic was compared with


def implications(graph: MissingnessGraph) -> list[Implication]:
    """The testable implications that involve a mechanism, one for each pair of nodes."""
    mixed = graph.mixed
    nodes: list[Node] = [*mixed.variables, *mixed.mechanisms]
    pairs = [pair for pair in combinations(nodes, 2) if isinstance(pair[1], Mechanism)]
    return [*filter(None, (_between(mixed, *pair) for pair in pairs))]


def never_testable(graph: MissingnessGraph) -> list[str]:
    """The assumptions of the graph that no data can refute, in words."""
    assumptions = []
    if graph.selection is not None:
        assumptions.append(
            f"{SELECTION} depends on nothing else: never testable, as no row that was not recorded "
            "is seen"
        )
    for mechanism in graph.mixed.mechanisms:
        name = mechanism.variable
        if mechanism not in graph.mixed.children[name] | graph.mixed.siblings[name]:
            assumptions.append(
                f"{node_text(name)} ⊥ {mechanism} | ...: never testable, as no row with "
                f"{mechanism}=0 shows {node_text(name)}"
            )
    return assumptions


def _between(graph: MixedGraph, left: Node, right: Node) -> Implication | None:
    """The implication between two nodes with the smallest conditions that are tried."""
    return _separated_by(graph, left, right, _conditions(graph, left, right))


def _separated_by(
    graph: MixedGraph, left: Node, right: Node, conditions: Iterable[frozenset[Node]]
) -> Implication | None:
    """The implication between two nodes with the first conditions that separate them."""
    if right in graph.children[left] | graph.parents[left] | graph.siblings[left]:
        return None
    for given in conditions:
        shown = graph.mechanisms_of([left, right, *given])
        if {left, right} & shown:
            continue
        if graph.separated([left], [right], {*given} | shown | graph.selection):
            at_one = (*(m for m in graph.mechanisms if m in shown), *graph.selection)
            return Implication(left, right, graph.sorted(given - shown), at_one)
    return None


def _conditions(graph: MixedGraph, left: Node, right: Node) -> Iterator[frozenset[Node]]:
    """Nothing, then subsets of the parents of both, small ones first; at last the parents."""
    around = graph.sorted((graph.parents[left] | graph.parents[right]) - {left, right})
    largest = min(len(around), MAX_CONDITIONS)
    yield from subsets(around[:MAX_PARENTS_TRIED], range(largest + 1))
    yield graph.parents[right] - {left}
    yield graph.parents[left] - {right}
    yield frozenset(around)


def check_implications(graph: MissingnessGraph, data: object) -> list[TestedImplication]:
    r"""Test the implications on data, smallest p-value first; Holm-adjusted.

    Only the ratios of sampling weights matter: the counts of each test are scaled to the
    weighted sample size :math:`(\sum w)^2 / \sum w^2` of the rows it uses. A survey's design is
    heard (`lacunet.missingness.independence.design_effect`).

    Raises
    ------
    MissingnessGraphError
        The data miss values of a variable that has no mechanism, or come with a rule of what was
        not asked that the graph does not know.
    """
    rows = as_data(data)
    check_rules(graph, rows)
    table = whole_table(rows, graph.network)
    graph.check_data(table)
    return _tests(implications(graph), graph, table)


def check_mechanisms_alone(
    graph: MissingnessGraph, table: EncodedTable, deadline: Deadline = NEVER
) -> list[TestedImplication]:
    """Test what a graph implies whatever edges there are among the variables; Holm-adjusted.

    That is: a mechanism does not depend, given its causes, on what it does not cause. Where a
    variable and its mechanism are both causes, the rows that hide the variable are a group: what
    decides among them should be in the graph.
    """
    variables = graph.network.variables
    earlier = {name: variables[:index] for index, name in enumerate(variables)}
    every_edge = Network(graph.network.states_of, earlier, not_asked=graph.network.not_asked_of)
    mixed = graph.with_edges_of(every_edge).mixed
    return _tests(_of_mechanisms_alone(mixed), graph, table, deadline)


def _of_mechanisms_alone(graph: MixedGraph) -> Iterator[Implication]:
    nodes: list[Node] = [*graph.variables, *graph.mechanisms]
    for left, right in combinations(nodes, 2):
        if isinstance(right, Mechanism):
            conditions = [graph.parents[right]]
            if isinstance(left, Mechanism):
                conditions.append(graph.parents[left])
            implied = _on_all_rows(graph, left, right) or _separated_by(
                graph, left, right, conditions
            )
            if implied is not None:
                yield implied


def _on_all_rows(graph: MixedGraph, left: Node, right: Mechanism) -> Implication | None:
    """That a mechanism does not depend on a node given its causes, where hidden is a group."""
    causes = graph.parents[right]
    if left in causes | graph.children[right] | graph.siblings[right]:
        return None
    groups = [node for node in causes if has_hidden_group(node, causes)]
    if not groups:
        return None
    shown = graph.mechanisms_of([left, *(node for node in causes if node not in groups)])
    if right in shown or left in shown:
        return None
    if not graph.separated([left], [right], causes | shown | graph.selection):
        return None
    at_one = (*(m for m in graph.mechanisms if m in shown), *graph.selection)
    return Implication(left, right, graph.sorted(causes - shown), at_one)


def _tests(
    implied: Iterable[Implication],
    graph: MissingnessGraph,
    table: EncodedTable,
    deadline: Deadline = NEVER,
) -> list[TestedImplication]:
    """The tests of implications, smallest p-value first."""
    survey = SurveyRows.of(graph.network, table)
    results = []
    for implication in implied:
        deadline.check()  # a hundred mechanisms have thousands of pairs
        results.append(_test(implication, table, survey))
    results.sort(key=lambda result: result.p_value)
    adjusted = holm(np.array([result.p_value for result in results])).tolist()
    return [
        replace(result, adjusted=value) for result, value in zip(results, adjusted, strict=True)
    ]


def _test(
    implication: Implication, table: EncodedTable, survey: SurveyRows | None
) -> TestedImplication:
    nodes = implication.one, implication.two, implication.given
    names = dict.fromkeys(map(variable_of, (*nodes[:2], *implication.given)))
    distinct = distinct_rows(table, [*names]).table
    shown = distinct.take(packed_cells(distinct, *nodes)[0])
    result = independence_test(shown.scaled() if table.is_weighted else shown, survey, *nodes)
    values = result._asdict() | {"rows": shown.row_count}
    return TestedImplication(implication, adjusted=result.p_value, **values)
