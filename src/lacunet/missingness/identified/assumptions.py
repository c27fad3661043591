r"""What a missingness graph assumes, edge by edge: if data can refute it, and if it matters.

Every edge that could lead into a mechanism and does not is an assumption. The graph with that edge
is wider: it has all the models of the graph, and more. Both are fitted to the rows by maximum
likelihood, and

.. math::
    2 (\ell_{\text{wider}} - \ell) \sim \chi^2_d, \qquad d = \dim(\text{wider}) - \dim(\text{graph})

under the graph, where the dimensions are those of the manifest laws. All rows count in it, those
with missing values too, however many parents a mechanism has. If d = 0 the two graphs allow the
same laws, and no data can refute the assumption. (If the best model has probabilities of zero, the
test rejects too rarely.)

Whether it can be refuted or not: under the wider graph the query has another answer, or a set of
them. How far that is from the answer of the graph says how much hangs on the assumption.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from lacunet.counts.distinct_rows import Rows
from lacunet.missingness.errors import MissingnessGraphError, TooLargeEstimandError
from lacunet.missingness.identified.generic import is_generic
from lacunet.missingness.identified.identified_sets import (
    NO_LAWS,
    POINT,
    BestModels,
    best_fit,
    ends_of,
    freedom,
    lifted_near,
)
from lacunet.missingness.independence.stratified import SIGNIFICANCE, holm
from lacunet.missingness.refute.models import Models
from lacunet.missingness.refute.ordered_query import Asked
from lacunet.missingness.separation.drawing import Drawing
from lacunet.network.named_axes import Table
from lacunet.network.network import FloatArray, Scope
from lacunet.network.nodes import SELECTION, Mechanism, Node, node_text
from lacunet.text import counted, first_of
from lacunet.text_tables import Displayed, TextTable

STILL = 0.001  # an answer that moves less does not move
MAX_EDGES_LISTED = 6  # edges, in one line
NO_ASSUMPTIONS: Mapping[str, str] = {}


class Assumption(NamedTuple):
    """An edge that the graph does not have, and what would follow if it were there."""

    cause: Node
    mechanism: Mechanism
    statistic: float  # the likelihood ratio
    degrees_of_freedom: int  # zero: no data can refute the assumption, and p-values are NaN
    p_value: float
    adjusted: float  # by Holm, for the number of edges
    low: FloatArray  # the answers to the query under the wider graph, axes as the query's
    high: FloatArray

    @property
    def edge(self) -> str:
        """The edge as text."""
        return f"{node_text(self.cause)} -> {self.mechanism}"


@dataclass(frozen=True, repr=False)
class Assumptions(Displayed):
    """Every assumption that the answer to a query may hang on; what moves it most first."""

    asked: Asked
    states: tuple[tuple[str, ...], ...]  # of each axis
    low: FloatArray  # the answers under the graph itself; equal where it identifies them
    high: FloatArray
    assumptions: tuple[Assumption, ...] = ()
    left_out: tuple[str, ...] = ()  # edges that were too large to try
    # Whether rows have strata, clusters or replicate weights, of which the p-values know nothing.
    is_designed: bool = False

    def moved(self, assumption: Assumption) -> FloatArray:
        """How far each cell could move, if an assumption does not hold."""
        return np.maximum(self.low - assumption.low, assumption.high - self.high)

    def most_moved(self, chosen: Mapping[str, str] = NO_ASSUMPTIONS) -> tuple[int, ...]:
        """The cell that moves most under any of the assumptions, among those of some states."""
        moved = np.max([np.zeros_like(self.low), *map(self.moved, self.assumptions)], axis=0)
        for axis, (name, states) in enumerate(zip(self.asked.names, self.states, strict=True)):
            others = [k for k, state in enumerate(states) if state != chosen.get(name, state)]
            np.moveaxis(moved, axis, 0)[others] = -1.0
        best = np.argwhere(np.isclose(moved, moved.max(), rtol=0, atol=1e-9))
        return tuple(map(int, best[-1]))  # of two states, the second

    def as_text(self, chosen: Mapping[str, str] = NO_ASSUMPTIONS) -> str:
        """A line for each assumption that moves the cell that moves most, or is refuted."""
        cell = self.most_moved(chosen)
        rows: list[list[str]] = []
        idle: list[str] = []
        for assumption in self.assumptions:
            is_refuted = assumption.adjusted < SIGNIFICANCE
            if is_refuted or self.moved(assumption)[cell] >= STILL:
                rows.append(_table_row(assumption, cell))
            else:
                idle.append(assumption.edge)
        answer = self.asked.at([s[k] for s, k in zip(self.states, cell, strict=True)])
        lines = [
            "What the graph assumes: these edges are absent. "
            f"{answer} is {_between(self.low[cell], self.high[cell])} by maximum likelihood; "
            "with each edge:",
        ]
        if rows:
            lines.append(str(TextTable(["edge", "LR", "df", "p (Holm)", "answer", ""], rows)))
        if idle:
            them = "it" if len(idle) == 1 else "them"
            lines.append(
                f"{counted(len(idle), 'edge', 'edges')} would move it by less than {STILL}, and "
                f"the data do not call for {them}: {first_of(idle, MAX_EDGES_LISTED)}"
            )
        if self.left_out:
            lines.append(f"too large to try: {', '.join(self.left_out)}")
        if self.is_designed:
            lines.append(
                "The p-values take rows as independent: strata, clusters and replicate weights are "
                "not heard here."
            )
        text = "\n".join(lines)  # tables have lines of their own, with spaces behind
        return "\n".join(line.rstrip() for line in text.splitlines())

    def __repr__(self) -> str:
        return f"<Assumptions of {self.asked}: {counted(len(self.assumptions), 'absent edge')}>"

    def _parts(self) -> list[str]:
        return [self.as_text()]


def _table_row(assumption: Assumption, cell: tuple[int, ...]) -> list[str]:
    return [
        assumption.edge,
        f"{assumption.statistic:.2f}",
        f"{assumption.degrees_of_freedom}",
        f"{assumption.adjusted:.2g}" if assumption.degrees_of_freedom else "-",
        _between(assumption.low[cell], assumption.high[cell]),
        _judged(assumption),
    ]


def _between(low: float, high: float) -> str:
    return f"{low:.3f}" if high - low < POINT else f"{low:.3f} to {high:.3f}"


def _judged(assumption: Assumption) -> str:
    if not assumption.degrees_of_freedom:
        return "cannot be tested"
    return "the data call for it" if assumption.adjusted < SIGNIFICANCE else ""


def check_assumptions(
    graph: Drawing,
    asked: Asked,
    narrow: Models,
    rows: Rows,
    population: Mapping[Scope, Table] = NO_LAWS,
) -> Assumptions:
    """Test every assumption near a query, and see what becomes of the query without it.

    Parameters
    ----------
    narrow
        The models of the graph near the query (`lifted_near`).
    rows
        The distinct rows over their variables.
    population
        The laws that are known of the population.
    """
    names = narrow.variables
    known = tuple(population)
    fit = best_fit(narrow, rows, population)
    dimension = freedom(narrow)
    # Weights add up to as much as rows are worth: the effective size over the weight of all.
    scale = float(rows.weights.sum()) / float(rows.tally.squares.sum())
    base = _answers(graph, asked, fit, known)
    checked: list[Assumption] = []
    left_out: list[str] = []
    for cause, mechanism, wide in wider(graph, names):
        try:
            model = lifted_near(wide, asked, known)
            if model.variables != names:
                raise TooLargeEstimandError("other variables would have to be fitted.")
            wide_fit = best_fit(model, rows, population)
            statistic = max(2 * scale * (wide_fit.log_likelihood - fit.log_likelihood), 0.0)
            degrees = freedom(model) - dimension
            low, high = _answers(wide, asked, wide_fit, known)
        except TooLargeEstimandError:
            left_out.append(f"{node_text(cause)} -> {mechanism}")
            continue
        checked.append(
            Assumption(
                cause=cause,
                mechanism=mechanism,
                statistic=statistic,
                degrees_of_freedom=degrees,
                p_value=_upper_tail(statistic, degrees),
                adjusted=np.nan,
                low=low,
                high=high,
            )
        )
    states = tuple(map(graph.network.states, asked.names))
    base_low, base_high = base
    whole = Assumptions(asked, states, base_low, base_high, left_out=tuple(left_out))
    order = sorted(_adjusted(checked), key=lambda each: -float(whole.moved(each).max()))
    return replace(whole, assumptions=tuple(order))


def _upper_tail(statistic: float, degrees: int) -> float:
    """The p-value of a likelihood ratio, by chi-squared; NaN without degrees of freedom."""
    from scipy.special import gammaincc

    return float(gammaincc(degrees / 2, statistic / 2)) if degrees > 0 else np.nan


def _adjusted(checked: Sequence[Assumption]) -> list[Assumption]:
    """The same with p-values by Holm, of those that data can refute."""
    adjusted = list(checked)
    tested = [k for k, assumption in enumerate(checked) if assumption.degrees_of_freedom > 0]
    p_values = holm(np.array([checked[k].p_value for k in tested]))
    for k, value in zip(tested, p_values, strict=True):
        adjusted[k] = checked[k]._replace(adjusted=float(value))
    return adjusted


def wider(graph: Drawing, inside: Scope) -> Iterator[tuple[Node, Mechanism, Drawing]]:
    """The graphs with one edge more into a mechanism, among some variables."""
    candidates: list[Node] = [
        *inside,
        *(Mechanism(name) for name in inside if name in graph.causes),
    ]
    for mechanism, parents in graph.causes_of.items():
        if mechanism not in candidates and mechanism != SELECTION:
            continue
        for cause in (node for node in candidates if node not in (*parents, mechanism)):
            causes = {**graph.causes, mechanism.variable: (*parents, cause)}
            with suppress(MissingnessGraphError):  # a cycle of mechanisms
                selection = causes.pop(SELECTION.variable, graph.selection)
                yield cause, mechanism, graph.with_parts(causes=causes, selection=selection)


def _answers(
    graph: Drawing, asked: Asked, fit: BestModels, known: tuple[Scope, ...]
) -> tuple[FloatArray, FloatArray]:
    """The lowest and highest answers of the models that fit best."""
    if is_generic(graph, asked, known):
        answer = fit.answer(asked)
        return answer, answer
    ends = ends_of(fit, asked)
    return ends.low, ends.high
