r"""Mechanisms learned from data: what seems to decide whether a value is shown.

The parents of each mechanism :math:`R_i` are chosen greedily, forward and backward: the one
that raises the penalised log-likelihood of :math:`R_i` most is added, one that no longer pays
is taken out again, until nothing changes. A candidate that is itself missing at times is judged
on the rows that show it; where all rows that hide it hide :math:`X_i` too, as after dropout, on all
rows. Once :math:`R_j` is a cause beside :math:`X_j`, the rows that hide :math:`X_j` are a group of
their own, so that what decides among them is found. The penalty is that of BIC, half the logarithm
of the rows for each parameter. Where many candidates are tried, some pass by chance: of 36
independent ones, at 1,000 rows, one does in a quarter of all cases. So `learned_graph` adds the
logarithm of the number of candidates for each parent (J. Chen and Z. Chen, "Extended Bayesian
information criteria", 2008). For informed deletion the penalty is half that of BIC: there a parent
too many costs variance, one too few costs bias.

The rows that show :math:`X_j` say nothing of :math:`R_j \to R_i`, as :math:`R_j` is 1 in all of
them. So a mechanism is judged without the variables beside which it does not vary: in their place
are its own causes, which separate it from all that it does not cause. Nothing does where
:math:`X_j` decides on :math:`R_i` and :math:`X_i` on :math:`R_j`: there it is judged by how many
rows hide both (`lacunet.missingness.learned.mutual`). If it is a cause, the rows that show
:math:`X_i` are chosen by it, so that they say nothing of :math:`X_i \to R_j`: this is taken out,
or the other if its effect is smaller. Where :math:`X_i` decides on :math:`R_j`, :math:`R_i` is
learned first, so that it can be a cause of :math:`R_j`. Where no row shows B without A, the graph
says so: :math:`R_B \le R_A`.

It is sound if mechanisms cause nothing but mechanisms, no value hides itself, nothing unseen
drives both a mechanism and a candidate, and every configuration is shown at times. *That a
value is missing because of what it is cannot be seen in any data.*

`fitted_mechanisms` makes mechanisms that other rows can be put through. There,

.. math::
    \Pr(R \mid X_o) = \prod_i \Pr(R_i \mid W_i, R_{B_i}), \qquad
    W_i \subseteq X_o, \quad B_i \subseteq \{1, \ldots, i - 1\}

Parents among :math:`X_o` keep the dependence that makes the data missing at random and not
completely so; parents among the other mechanisms keep together what goes missing together,
such as the answers of one page of a questionnaire. Copying whole patterns from rows that agree
on :math:`X_o` would do both in one stroke, but hardly any two rows agree on many variables, and
the closest row is close in what does not matter as often as in what does. The simulated data
are missing at random.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isnan, nan, prod
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.distinct import pack_keys
from lacunet.counts.missing_values import PatternCounts
from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetError
from lacunet.limits import NEVER, Deadline, OutOfTimeError
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.graph_text import write_statements
from lacunet.missingness.implications import check_mechanisms_alone
from lacunet.missingness.independence.design_effect import (
    SurveyRows,
    has_hidden_group,
    independence_test,
)
from lacunet.missingness.learned.mutual import NOT_SHOWN, Half, apart_from_mutual
from lacunet.missingness.learned.not_asked import rows_that_tell
from lacunet.missingness.mechanism_cpts import MechanismCpt, Missingness
from lacunet.missingness.separation.drawing import mechanisms_in
from lacunet.missingness.separation.mixed import reachable
from lacunet.network.network import FloatArray, Network, Scope
from lacunet.network.nodes import SELECTION, Mechanism, Node, node_text, variable_of
from lacunet.text import counted

MOST_PARENTS = 4
MOST_ROWS = 100_000  # parents are chosen from these many rows, probabilities from all
MAX_CAUSE_CELLS = 100_000  # of a table over the causes of a mechanism
ROWS_FOR_A_GRAPH = 5000  # with fewer a learned graph is not reliable
CELLS_COUNTED_AT_ONCE = 2**16  # cells of the data that are counted at once
PRODUCT_ROWS = 2**13  # rows of a product at once

REFUTED = 0.001  # adjusted p-values of implications below: the rows refute the graph
CANNOT_BE_SEEN = (
    "whether a value is missing because of what it is (X -> R[X]) cannot be seen in any data"
)
BY_RULE = "by the rule of when it is asked"
BY_PATTERNS = "by the patterns: no row shows the one without the other"
MAY_STAND_IN = "if it is, what is named here as a cause may only stand in for X: it goes with X"

StateCodes = NDArray[np.int64]
Causes = Mapping[str, Collection[Node]]  # of the mechanisms of variables
NO_CAUSES: Causes = MappingProxyType({})


def fitted_mechanisms(network: Network, table: EncodedTable) -> Missingness:
    """Mechanisms that hide values of other rows as those of the table are hidden.

    Parameters
    ----------
    network
        Gives the variables of the table and their states.
    table
        The user's rows; weights count.

    Returns
    -------
    Mechanisms for the partially observed variables, each looking at a few fully observed
    variables and at mechanisms before it.
    """
    if not table.rows:
        raise LacunetError("the data have no rows.")
    seen: dict[Node, StateCodes] = {name: _column(table, name) for name in table.fully_observed}
    weights = table.scaled().row_weights
    mechanisms: dict[str, MechanismCpt] = {}
    for name in table.partially_observed:
        is_shown = _column(table, Mechanism(name))
        chosen = _choose(is_shown, seen, weights, network)
        parents = tuple(node for node in seen if node in chosen)
        rates = _rates(is_shown, parents, seen, weights, network)
        mechanisms[name] = MechanismCpt(name, parents, rates)
        seen[Mechanism(name)] = is_shown
    parents_of = {name: cpt.parents for name, cpt in mechanisms.items()}
    graph = MissingnessGraph.without_rules(network, parents_of)  # type: ignore[arg-type]
    return Missingness(graph, mechanisms)


def _choose(
    is_shown: StateCodes,
    seen: Mapping[Node, StateCodes],
    weights: FloatArray,
    network: Network,
    *,
    per_parameter: float = 1.0,
    per_parent: float = 0.0,
    given: tuple[Node, ...] = (),
    causes: Causes = NO_CAUSES,
    itself: tuple[str, StateCodes] | None = None,
    alone: _CountsAlone | None = None,
) -> tuple[Node, ...]:
    """The parents that raise the penalised log-likelihood, the best one first.

    There is a penalty for a parameter (1: BIC) and one for a parent. ``given`` are parents that
    stay whatever the data say; ``causes`` those of the mechanisms among the candidates, of which
    one may be the variable ``itself``. ``alone`` are the counts of each of them by itself, if they
    are known.
    """
    some = slice(None, None, max(1, len(is_shown) // MOST_ROWS))
    judge = _Judge.of(
        is_shown[some],
        {node: column[some] for node, column in seen.items()},
        weights[some],
        network,
        penalties=(per_parameter, per_parent),
        causes=causes,
        itself=None if itself is None else (itself[0], itself[1][some]),
        alone=alone,
    )
    chosen = given
    while len(chosen) < MOST_PARENTS + len(given):
        raised = judge.gains([node for node in seen if node not in chosen], chosen)
        best = max(raised, key=lambda node: raised[node], default=None)
        if best is None or raised[best] <= 0:
            break
        chosen = judge.paying((*chosen, best), (*given, best))
    while idle := {*chosen} - {*judge.paying(chosen, given)}:  # paid beside a node that is gone
        last = max(idle, key=chosen.index)
        chosen = tuple(node for node in chosen if node != last)
    return chosen


@dataclass(frozen=True, eq=False)
class _AllCountsAlone:
    """How many rows show the mechanisms' variables beside each state of each variable.

    ``shown[v]`` has a row for each state of v and one for v hidden, and a column for each mechanism
    (of ``position``); ``total[v]`` are all rows.
    """

    position: Mapping[str, int]
    shown: Mapping[str, FloatArray]
    total: Mapping[str, FloatArray]

    @classmethod
    def of(cls, table: EncodedTable) -> _AllCountsAlone | None:
        """From one product; None for rows that do not all weigh one."""
        names = table.partially_observed  # some may be hidden in other rows alone
        table = table.take(slice(None, None, max(1, table.rows // MOST_ROWS)))
        if not names or not (table.row_weights == 1).all():
            return None
        sizes = [table.cardinality_of[name] + 1 for name in table.variables]
        shown = np.zeros((sum(sizes), len(names)))
        for start in range(0, table.rows, PRODUCT_ROWS):
            part = {v: codes[start : start + PRODUCT_ROWS] for v, codes in table.columns.items()}
            states = [
                part[name] == np.arange(size)[:, None]
                for name, size in zip(table.variables, sizes, strict=True)
            ]
            is_shown = [part[name] != table.cardinality_of[name] for name in names]
            # Whole numbers below 2^24.
            shown += np.concatenate(states, dtype=np.float32) @ np.array(is_shown, np.float32).T
        shown_of = np.split(shown, np.cumsum(sizes)[:-1])
        total = [
            np.bincount(table.columns[name], minlength=size).astype(np.float64)
            for name, size in zip(table.variables, sizes, strict=True)
        ]
        return cls(
            {name: index for index, name in enumerate(names)},
            dict(zip(table.variables, shown_of, strict=True)),
            dict(zip(table.variables, total, strict=True)),
        )


class _CountsAlone(NamedTuple):
    """Those of one mechanism."""

    of_all: _AllCountsAlone
    name: str

    def of(self, node: Node) -> FloatArray:
        """For each state of a node, the last being hidden, the rows that do not show and show it.

        A mechanism is its variable, hidden or not.
        """
        variable = variable_of(node)
        shown = self.of_all.shown[variable][:, self.of_all.position[self.name]]
        counts: FloatArray = np.stack([self.of_all.total[variable] - shown, shown], axis=1)
        if isinstance(node, Mechanism):
            return np.stack([counts[-1], counts[:-1].sum(axis=0)])
        return counts

    def is_hidden(self, node: Node) -> bool:
        """Whether some row does not show a candidate."""
        return isinstance(node, str) and bool(self.of_all.total[node][-1])

    def is_hidden_with(self, node: Node) -> bool:
        """Whether some row does not show a candidate, and none of these shows the variable."""
        return self.is_hidden(node) and not self.of(node)[-1, 1]


@dataclass(frozen=True, eq=False)
class _Judge:
    """What candidates are judged by: a mechanism, their columns, penalties.

    Where a candidate is hidden only in rows in which the mechanism is 0, "hidden" is one more state
    of its column.
    """

    is_shown: StateCodes  # the mechanism, in each row
    columns: Mapping[Node, StateCodes]
    size_of: Mapping[Node, int]  # the states of each column
    # Candidates of which hidden values remain: rows that hide one are left out, unless its own
    # mechanism is a cause too; then they are one more group.
    partly: frozenset[Node]
    weights: FloatArray
    penalties: tuple[float, float]  # for a parameter and for a parent
    causes: Causes  # of the mechanisms among the candidates
    # The mechanism's variable, its values and its states, if it may be a candidate's cause.
    itself: tuple[str, StateCodes, int] | None
    alone: _CountsAlone | None  # counts of each candidate by itself, if they are known

    @classmethod
    def of(
        cls,
        is_shown: StateCodes,
        seen: Mapping[Node, StateCodes],
        weights: FloatArray,
        network: Network,
        *,
        penalties: tuple[float, float],
        causes: Causes,
        itself: tuple[str, StateCodes] | None,
        alone: _CountsAlone | None,
    ) -> _Judge:
        """From columns in which hidden values are marked."""
        columns = dict(seen)
        size_of = {node: _size(node, network) for node in seen}
        if alone is None:
            hidden_with = [node for node in seen if _is_hidden_with(is_shown, seen[node])]
            hidden = {node for node, column in seen.items() if column.min(initial=0) == NOT_SHOWN}
        else:
            hidden_with = [node for node in seen if alone.is_hidden_with(node)]
            hidden = {node for node in seen if alone.is_hidden(node)}
        for node in hidden_with:
            columns[node] = np.where(seen[node] == NOT_SHOWN, size_of[node], seen[node])
            size_of[node] += 1
        partly = frozenset(hidden.difference(hidden_with))
        sized = None if itself is None else (*itself, network.cardinality(itself[0]))
        return cls(is_shown, columns, size_of, partly, weights, penalties, causes, sized, alone)

    def gains(self, nodes: Sequence[Node], others: tuple[Node, ...]) -> dict[Node, float]:
        """What each of the nodes adds to the others, on rows in which it varies."""
        nodes_beside: dict[tuple[Node, ...], list[Node]] = {}
        gain_of: dict[Node, float] = {}
        for node in nodes:
            if self.itself and _are_mutual(node, self.itself[0], others, self.causes):
                gain_of[node] = self._gain_beyond_values(node, others, self.itself)
            else:
                beside = _varying_beside(node, others, self.columns, self.causes)
                nodes_beside.setdefault(beside, []).append(node)
        for beside, alike in nodes_beside.items():
            gain_of |= self._gains_beside(alike, beside)
        return gain_of

    def paying(self, nodes: tuple[Node, ...], kept: tuple[Node, ...]) -> tuple[Node, ...]:
        """Without the nodes that add nothing to the others, but for those that are kept."""
        return tuple(
            node
            for node in nodes
            if node in kept or self.gains([node], tuple(n for n in nodes if n != node))[node] > 0
        )

    def _gain_beyond_values(
        self, node: Node, others: tuple[Node, ...], itself: tuple[str, StateCodes, int]
    ) -> float:
        r"""What a mechanism adds where values decide on each other's mechanisms.

        Its distance from what the values alone explain, in standard errors, stands for a gain in
        log-likelihood: :math:`z^2 / 2`, less the penalties.
        """
        variable = variable_of(node)
        _, values, size = itself
        beside = [other for other in others if other != variable]
        theirs = [n for n in self.causes[variable] if n in self.columns]
        half = Half(
            self.is_shown,
            self.columns[variable],
            tuple(self.columns[other] for other in beside),
            tuple(self.size_of[other] for other in (variable, *beside)),
        )
        other_half = Half(
            self.columns[node],
            values,
            tuple(self.columns[other] for other in theirs),
            (size, *(self.size_of[other] for other in theirs)),
        )
        distance = apart_from_mutual(half, other_half, self.weights)
        per_parameter, per_parent = self.penalties
        penalty = per_parameter * 0.5 * float(np.log(max(len(self.is_shown), 1)))
        return distance**2 / 2 - penalty - per_parent

    def _gains_beside(self, nodes: Sequence[Node], others: tuple[Node, ...]) -> dict[Node, float]:
        """What each of the nodes adds to the others, on the rows that show it and them."""
        size_of = dict(self.size_of)
        grouped = {
            node for node in others if node in self.partly and has_hidden_group(node, others)
        }
        size_of |= {node: size_of[node] + 1 for node in grouped}
        groups = prod(size_of[node] for node in others)
        small = [node for node in nodes if groups * size_of[node] <= MAX_CAUSE_CELLS]
        if not small:
            return dict.fromkeys(nodes, -np.inf)
        starts = np.cumsum([0, *(size_of[node] for node in small)])
        if self.alone is not None and not others:
            counts = np.concatenate([self.alone.of(node)[: size_of[node]] for node in small])
            counts = counts[:, None]
        else:
            counts = self._counts(small, starts, others, grouped, size_of)
        per_parameter = self.penalties[0]
        without = np.add.reduceat(counts, starts[:-1], axis=0)
        raised = _scores(counts, starts[:-1], per_parameter)
        raised -= _scores(without, np.arange(len(small)), per_parameter)
        raised -= self.penalties[1]
        return dict.fromkeys(nodes, -np.inf) | dict(zip(small, raised.tolist(), strict=True))

    def _counts(
        self,
        nodes: Sequence[Node],
        starts: NDArray[np.int64],
        others: tuple[Node, ...],
        grouped: Collection[Node],
        size_of: Mapping[Node, int],
    ) -> FloatArray:
        """The rows with each state of each of the nodes, by the others, and by being shown.

        Parameters
        ----------
        starts
            Where the states of each node begin, and where the last end.
        grouped
            Those of the others of which "hidden" is one more state.
        size_of
            The states of each node, with that.
        """
        rows = len(self.is_shown)
        columns = dict(self.columns)
        for node in grouped:
            columns[node] = np.where(columns[node] == NOT_SHOWN, size_of[node] - 1, columns[node])
        sizes = [size_of[node] for node in others]
        groups = prod(sizes)
        # A row's place within the states of a node: its group, and whether it is shown.
        places = self.is_shown + 2 * pack_keys([columns[node] for node in others], sizes, rows)
        hidden = [columns[node] == NOT_SHOWN for node in others if node in self.partly - {*grouped}]
        is_left_out = np.logical_or.reduce(hidden) if hidden else None
        weights = None if (self.weights == 1).all() else self.weights

        # Of several nodes at once: one count of all of them is faster than one of each.
        together = max(1, CELLS_COUNTED_AT_ONCE // max(rows, 1))
        tallies = []
        for begin in range(0, len(nodes), together):
            batch = slice(begin, begin + together)
            cells = np.stack([columns[node] for node in nodes[batch]])
            bins = starts[:-1][batch, None] - starts[begin] + cells
            bins *= 2 * groups
            bins += places
            # One bin more takes the rows that do not count, and is dropped.
            size = 2 * groups * int(starts[begin + len(cells)] - starts[begin])
            if is_left_out is not None:
                bins[:, is_left_out] = size
            if not self.partly.isdisjoint(nodes[batch]):
                bins[cells == NOT_SHOWN] = size
            of_bins = None if weights is None else np.broadcast_to(weights, bins.shape).ravel()
            tallies.append(np.bincount(bins.ravel(), of_bins, size + 1)[:-1])
        return np.concatenate(tallies).astype(np.float64).reshape(-1, groups, 2)


def _is_hidden_with(is_shown: StateCodes, candidate: StateCodes) -> bool:
    """Whether all rows that hide a candidate hide the variable: it can matter only where shown."""
    where_hidden = is_shown[candidate == NOT_SHOWN]
    return bool(where_hidden.size) and not where_hidden.any()


def _are_mutual(node: Node, name: str, others: tuple[Node, ...], causes: Causes) -> bool:
    """Whether a mechanism's variable is among the causes, and the mechanism has the variable's."""
    return (
        isinstance(node, Mechanism)
        and node.variable in others
        and name in causes.get(node.variable, ())
    )


def _varying_beside(
    node: Node, others: tuple[Node, ...], columns: Mapping[Node, StateCodes], causes: Causes
) -> tuple[Node, ...]:
    """What a candidate is judged beside: of others, those beside which it varies.

    A mechanism does not in the rows that show its own variable. Where some are left out, its own
    causes take their place.
    """
    if not isinstance(node, Mechanism):
        return others
    kept = [other for other in others if not _is_same_where_shown(columns[node], columns[other])]
    if len(kept) == len(others):
        return others
    of_node = [cause for cause in causes.get(node.variable, ()) if cause in columns]
    telling = [
        cause for cause in of_node if not _is_same_where_shown(columns[node], columns[cause])
    ]
    return tuple(dict.fromkeys((*kept, *telling)))


def _is_same_where_shown(mechanism: StateCodes, other: StateCodes) -> bool:
    """Whether a mechanism is the same in all rows that show another node, and not in all rows."""
    is_out = other == NOT_SHOWN
    values = mechanism[~is_out]
    return bool(is_out.any() and (not values.size or (values == values[0]).all()))


def _scores(counts: FloatArray, starts: NDArray[np.int64], penalty: float) -> FloatArray:
    r"""The penalised log-likelihoods, :math:`\ell - \frac{1}{2} \log N \cdot` (groups seen).

    Of several tables, one after the other along the first axis, where they begin at ``starts``.
    The last axis is that of being shown.
    """
    starts = starts * counts.shape[1]
    counts = counts.reshape(-1, 2)
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, totals, out=np.ones_like(counts), where=counts > 0)
    terms = (counts * np.log(shares)).sum(axis=1)
    groups = np.add.reduceat(totals[:, 0] > 0, starts, dtype=np.int64)
    rows = np.maximum(np.add.reduceat(totals[:, 0], starts), 1.0)
    return np.asarray(np.add.reduceat(terms, starts) - penalty * 0.5 * np.log(rows) * groups)


def _rates(
    is_shown: StateCodes,
    parents: Sequence[Node],
    seen: Mapping[Node, StateCodes],
    weights: FloatArray,
    network: Network,
) -> FloatArray:
    """The probability of being missing for each configuration of the parents.

    One row's worth of the overall rate is added to every group, so that a configuration the
    data do not show has that rate.
    """
    codes, cells = _codes(parents, seen, network, len(is_shown))
    counts = np.bincount(2 * codes + is_shown, weights, 2 * cells).reshape(-1, 2)
    overall = counts[:, 0].sum() / counts.sum()
    rates = (counts[:, 0] + overall) / (counts.sum(axis=1) + 1)
    return np.asarray(rates.reshape([_size(node, network) for node in parents]))


def _codes(
    nodes: Sequence[Node], columns: Mapping[Node, StateCodes], network: Network, rows: int
) -> tuple[StateCodes, int]:
    """One number for each configuration of the nodes, the last node fastest."""
    sizes = [_size(node, network) for node in nodes]
    return pack_keys([columns[node] for node in nodes], sizes, rows), prod(sizes)


def _size(node: Node, network: Network) -> int:
    return network.cardinality(node) if isinstance(node, str) else 2


@dataclass(frozen=True)
class Origin:
    """Where an edge of a learned graph comes from."""

    source: str  # "given" or "learned"
    p_value: float  # of the edge given the mechanism's other parents
    effect: float  # its Cramér's V

    def __str__(self) -> str:
        if isnan(self.p_value):
            return f"{self.source}, cannot be tested"
        return f"{self.source}, p = {self.p_value:.2g}, V = {self.effect:.2f}"


@dataclass(frozen=True, init=False, eq=False, repr=False)
class LearnedGraph(MissingnessGraph):
    """A missingness graph that knows where each of its edges comes from.

    ``origin_of`` is keyed by edges: a parent, and the variable whose mechanism it is a parent
    of; those that a rule of the network requires are not in it. Printed or written, every edge
    carries its origin as a comment; it can be edited and read back like any graph.

    A learned graph is not always one that the rows agree with: causes that too few rows tell of, or
    more of them than are looked for, are left out. ``doubt`` says which of its implications the
    rows that it was learned from refute, whatever edges there are among the variables; it is empty
    if they refute none.

    ``rates`` are the probabilities of being missing in those rows, for the mechanisms of which they
    tell them.
    """

    origin_of: Mapping[tuple[Node, str], Origin] = field(default_factory=dict)
    doubt: str = ""
    rates: Mapping[str, MechanismCpt] = field(default_factory=dict, repr=False)

    def __init__(
        self,
        origin_of: Mapping[tuple[Node, str], Origin],
        doubt: str = "",
        rates: Mapping[str, MechanismCpt] = MappingProxyType({}),
        **parts: Any,
    ) -> None:
        super().__init__(**parts)
        vars(self).update(origin_of=dict(origin_of), doubt=doubt, rates=dict(rates))

    def __str__(self) -> str:
        lines = [f"# {CANNOT_BE_SEEN}"]
        if any(self.causes.values()):
            lines.append(f"# {MAY_STAND_IN}")
        if self.doubt:
            lines.append(f"# {self.doubt}")
        for variable, nodes in self.causes.items():
            for node in nodes:
                if (variable, variable_of(node)) in self.monotone and isinstance(node, Mechanism):
                    arrow = f"{Mechanism(variable)} <= {node}"
                    default = BY_PATTERNS
                else:
                    arrow = f"{node_text(node)} -> {Mechanism(variable)}"
                    default = BY_RULE
                lines.append(f"{arrow}  # {self.origin_of.get((node, variable), default)}")
        without = [str(Mechanism(name)) for name, nodes in self.causes.items() if not nodes]
        if without:
            lines.append(f"{'; '.join(without)}  # no cause found")
        given = self._statements({} if self.selection is None else {SELECTION: self.selection})
        given = [part for part in given if part.arrow != "<="]
        lines += [f"{line}  # given" for line in write_statements(given).splitlines()]
        return "\n".join(lines)

    def over(self, network: Network) -> Self:
        """The same graph over a network that may have more edges among the same variables.

        What decides on being shown is learned without them.
        """
        graph = self
        has_same_states = self.network.states_of == network.states_of
        if has_same_states and {*self.network.edges} <= {*network.edges}:
            graph = self.with_edges_of(network)
        return super(LearnedGraph, graph).over(network)

    @property
    def parts(self) -> dict[str, Any]:
        """What the graph is made from, with what else is known of it."""
        known = {"origin_of": self.origin_of, "doubt": self.doubt, "rates": self.rates}
        return super().parts | known

    def rates_over(self, network: Network) -> dict[str, FloatArray]:
        """The known probabilities of being missing, an axis for each cause in a network's order."""
        tables = {}
        causes_of = self.with_edges_of(network).causes
        own_states_of = self.network.states_of
        for name, cpt in self.rates.items():
            causes = causes_of[name]
            variables = [node for node in causes if isinstance(node, str)]
            are_same = all(own_states_of[v] == network.states_of[v] for v in variables)
            if are_same and {*causes} == {*cpt.parents}:
                tables[name] = np.transpose(cpt.missing, [cpt.parents.index(n) for n in causes])
        return tables

    def tested_on(self, table: EncodedTable, deadline: Deadline = NEVER) -> LearnedGraph:
        """The same graph, which knows whether these rows refute what it implies."""
        try:
            results = check_mechanisms_alone(self, table.without_sets(), deadline)
        except OutOfTimeError:
            return self.with_parts(doubt=UNTESTED)
        refuted = [result for result in results if result.adjusted < REFUTED]
        if not refuted:
            return self.with_parts(doubt="")
        first = refuted[0]
        return self.with_parts(
            doubt=f"the rows refute {counted(len(refuted), 'independence', 'independences')} that "
            f"the learned graph implies, first of all {first.implication} (Cramér's V = "
            f"{first.effect:.2f}): what is learned with it may be biased"
        )


UNTESTED = (
    "the time limit ended the tests of what the learned graph implies: the rows may refute it"
)


def from_few_rows(rows: int) -> str:
    """What is to be known of a graph that is learned from these rows, if they are too few."""
    if rows >= ROWS_FOR_A_GRAPH:
        return ""
    return (
        f"a graph learned from {counted(rows, 'row')} is not reliable "
        f"(about {ROWS_FOR_A_GRAPH:,} are needed)"
    )


def learned_graph(
    network: Network,
    table: EncodedTable,
    given: MissingnessGraph | None = None,
    deadline: Deadline = NEVER,
    latent: Collection[str] = (),
    patterns: PatternCounts | None = None,
) -> LearnedGraph:
    """What decides whether the values of a table are shown; all that ``given`` says stays.

    Latent variables have no mechanism. ``patterns`` are those of missing values in all rows, where
    the table has only some: no row of them may show one variable without another of which the graph
    says so.

    Raises
    ------
    OutOfTimeError
        The deadline has passed.
    """
    table = table.without_sets().scaled()
    if not table.rows:
        raise LacunetError("the data have no rows.")
    given = given or MissingnessGraph(network, {})
    unseen = {*latent, *given.latent}
    known_of = given.causes

    def above(name: str) -> list[str]:
        return mechanisms_in(known_of.get(name, ()))

    names = [name for name in table.partially_observed if name not in unseen]
    pairs = monotone_pairs(patterns or PatternCounts.of(table), names)
    orders = [pair for pair in pairs if pair[0] not in reachable([pair[1]], above)]  # but for given
    monotone = sorted({*given.monotone, *orders})
    earlier_of = {name: [before for later, before in orders if later == name] for name in names}
    search = _Search(
        network=network,
        table=table,
        survey=SurveyRows.of(network, table),
        known_of=known_of,
        earlier_of=earlier_of,
    )
    while not search.completes(deadline):  # each time it knows a better order, or more is refuted
        search.causes.clear()
        search.origin_of.clear()
    turned = search.turned()
    if turned is not None and turned.completes(deadline) and turned.explains_away(search):
        search = turned

    causes: dict[str, set[Node]] = dict(search.causes)
    origin_of = dict(search.origin_of)
    for name in known_of.keys() - causes:  # the data show every value
        causes[name] = {*known_of[name]}
        origin_of |= {(node, name): Origin("given", nan, nan) for node in known_of[name]}
    learned = {"network": network, "causes": causes, "latent": unseen, "monotone": monotone}
    graph = LearnedGraph(**given.parts | learned | {"origin_of": origin_of})
    return graph.with_parts(rates=_known_rates(graph, table))


def _known_rates(graph: LearnedGraph, table: EncodedTable) -> dict[str, MechanismCpt]:
    """The mechanisms of which the rows tell with which probabilities they hide.

    Of a cause that is itself missing at times, only rows that show it tell anything. They stand for
    all rows if its mechanism does not follow from the one in question. Where it is a cause too,
    rows that hide the value must all hide the other: else nobody knows which value hid it.
    """
    if graph.selection is not None:  # whole rows are missing: shares of the others are not rates
        return {}
    known = {}
    for name in graph.causes:
        if _can_have_rates(graph, table, name):
            cpt = _cpt_from_rows(graph, table, name)
            if cpt is not None:
                known[name] = cpt
    return known


def _can_have_rates(graph: LearnedGraph, table: EncodedTable, name: str) -> bool:
    """Whether all that decides on a mechanism is told by rows, and fits in a table."""
    parents = graph.causes[name]
    if name in parents or not _has_seen_parents(graph, name):
        return False
    if rows_that_tell(graph.network, table, name) is not table:  # some rows were not asked
        return False
    return prod(_size(node, graph.network) for node in parents) <= MAX_CAUSE_CELLS


def _has_seen_parents(graph: LearnedGraph, name: str) -> bool:
    """Whether neither a latent variable nor an unseen common cause decides on a mechanism."""
    if not set(graph.latent).isdisjoint(graph.causes[name]):
        return False
    return not any(Mechanism(name) in pair for pair in graph.hidden)


def _cpt_from_rows(graph: LearnedGraph, table: EncodedTable, name: str) -> MechanismCpt | None:
    """The rates of a mechanism among the rows that show its causes; None if they are of others."""
    parents = graph.causes[name]
    is_shown = _column(table, Mechanism(name))
    columns = {node: _column(table, node) for node in parents}

    # Where one of these causes is 0, the value is hidden in every row.
    surely_hiding = []
    for node in parents:
        if isinstance(node, Mechanism) and not is_shown[columns[node] == 0].any():
            surely_hiding.append(node)

    def mechanisms_above(name: str) -> list[str]:
        return mechanisms_in(graph.causes.get(name, ()))

    shows_causes = np.ones(table.rows, dtype=bool)
    for node in parents:
        is_hidden = columns[node] == NOT_SHOWN
        if isinstance(node, Mechanism) or not is_hidden.any():
            continue
        if name in reachable([node], mechanisms_above):
            return None  # rows show this cause because of the mechanism: they are chosen by it
        mechanism = Mechanism(node)
        if mechanism in parents and mechanism not in surely_hiding:
            return None  # some rows hide the cause and show the value: by which cause?
        shows_causes &= ~is_hidden

    weights = table.row_weights[shows_causes]
    if not weights.any():
        return None
    shown = {node: column[shows_causes] for node, column in columns.items()}
    rates = _rates(is_shown[shows_causes], parents, shown, weights, graph.network)
    for mechanism in surely_hiding:
        np.moveaxis(rates, parents.index(mechanism), 0)[0] = 1.0  # no row shows both: not a share
    return MechanismCpt(name, parents, rates)


@dataclass(frozen=True, eq=False)
class _Search:
    """The causes of all mechanisms, one mechanism after the other."""

    network: Network
    table: EncodedTable
    survey: SurveyRows | None
    known_of: Causes  # the causes that are given
    earlier_of: Mapping[str, Sequence[str]]  # mechanisms that must be learned before each
    # Those that should be learned before, as their values decide.
    first_of: dict[str, set[str]] = field(default_factory=dict)
    # Values that do not decide on another's mechanism.
    refuted: set[tuple[str, str]] = field(default_factory=set)
    # Of the candidates, as they were first needed.
    columns: dict[Node, StateCodes] = field(default_factory=dict)
    causes: dict[str, set[Node]] = field(default_factory=dict)  # found so far
    # Where each edge comes from.
    origin_of: dict[tuple[Node, str], Origin] = field(default_factory=dict)
    keeps_order: bool = False  # whether `first_of` stays as it is

    @property
    def edges(self) -> int:
        """The number of causes of all mechanisms."""
        return sum(len(nodes) for nodes in self.causes.values())

    def turned(self) -> _Search | None:
        """A search that learns mechanisms before those that seem to decide on them.

        Where A and R[A] both decide on R[B], it may be R[B] that decides on R[A]. Then what decides
        on R[B] seems to decide on R[A], too, and the graph has more edges than it needs.
        """
        first_of: dict[str, set[str]] = {}
        for name, nodes in self.causes.items():
            for node in nodes - {*self.known_of.get(name, ())}:
                variable = variable_of(node)
                is_free = variable not in self.earlier_of[name]
                if isinstance(node, Mechanism) and variable in nodes and is_free:
                    first_of.setdefault(variable, set()).add(name)
        if not first_of:
            return None
        return replace(
            self, first_of=first_of, causes={}, origin_of={}, columns={}, keeps_order=True
        )

    def explains_away(self, other: _Search) -> bool:
        """Whether fewer causes do, as those of the mechanisms that come later go through others.

        A mechanism that comes first now must have all the causes that it had: what decides on it
        among the rows that hide one of them is seen only beside that one's mechanism.
        """
        earlier = {name for names in self.first_of.values() for name in names}
        lost = {
            node
            for name in earlier
            for node in other.causes[name] - self.causes[name]
            if not isinstance(node, Mechanism)
        }
        return not lost and self.edges < other.edges

    def completes(self, deadline: Deadline) -> bool:
        """Learn in one order; False, at once, if another order or fewer candidates are better."""
        return all(
            self._learns(name, deadline) for name in _in_order(self.earlier_of, self.first_of)
        )

    def _learns(self, name: str, deadline: Deadline) -> bool:
        """Find the causes of one mechanism; False if that shows the order to be wrong."""
        deadline.check()
        known = self.known_of.get(name, ())
        part = rows_that_tell(self.network, self.table, name)
        candidates = self._candidates(name, part)
        ordered = [Mechanism(earlier) for earlier in self.earlier_of[name]]
        kept = [node for node in known if node in candidates]
        fixed = tuple(dict.fromkeys((*kept, *ordered)))
        chosen = _choose(
            _column(part, Mechanism(name)),
            candidates,
            part.row_weights,
            self.network,
            per_parent=float(np.log(max(len(candidates), 1))),
            given=fixed,
            causes=self.causes,
            itself=(name, _column(part, name)),
            alone=self._alone(name, part),
        )
        survey = self.survey
        if part is not self.table and part.rows:
            survey = SurveyRows.of(self.network, part)

        mechanisms = [node for node in chosen if isinstance(node, Mechanism) and node not in fixed]
        for mechanism in mechanisms:
            # Where the value decides on that mechanism, this one should have come first.
            if self._decides(name, mechanism) and self._is_mended(
                name, mechanism.variable, chosen, part, survey
            ):
                return False

        for node in chosen:
            if node in ordered and node not in known:
                continue  # the patterns say so, and no test could
            beside = _varying_beside(
                node, tuple(other for other in chosen if other != node), candidates, self.causes
            )
            result = independence_test(part, survey, Mechanism(name), node, beside)
            source = "given" if node in known else "learned"
            self.origin_of[node, name] = Origin(source, result.p_value, result.effect)
        if name in known:
            self.origin_of[name, name] = Origin("given", nan, nan)
        self.causes[name] = {*chosen, *known}
        return True

    def _candidates(self, name: str, part: EncodedTable) -> dict[Node, StateCodes]:
        """What may decide on a mechanism: variables, and mechanisms before it."""
        known = self.known_of.get(name, ())
        nodes: list[Node] = [node for node in self.table.variables if node != name]
        nodes = [node for node in nodes if (node, name) not in self.refuted or node in known]
        mechanisms: list[Node] = [Mechanism(other) for other in self.causes]
        nodes += [m for m in mechanisms if name not in reachable(mechanisms_in([m]), self._above)]
        nodes += [node for node in known if isinstance(node, Mechanism) and node not in nodes]
        if part is not self.table:
            return {node: _column(part, node) for node in nodes}
        for node in nodes:
            if node not in self.columns:
                self.columns[node] = _column(part, node)
        return {node: self.columns[node] for node in nodes}

    @cached_property
    def _all_alone(self) -> _AllCountsAlone | None:
        return _AllCountsAlone.of(self.table)

    def _alone(self, name: str, part: EncodedTable) -> _CountsAlone | None:
        """The counts of each candidate by itself, if all rows tell of a mechanism."""
        if part is not self.table or self._all_alone is None:
            return None
        return _CountsAlone(self._all_alone, name)

    def _above(self, name: str) -> list[str]:
        return mechanisms_in(self.causes.get(name, self.known_of.get(name, ())))

    def _decides(self, name: str, mechanism: Mechanism) -> bool:
        """Whether a value was found to decide on another's mechanism."""
        other = mechanism.variable
        return name in self.causes.get(other, ()) and name not in self.known_of.get(other, ())

    def _is_mended(
        self,
        name: str,
        other: str,
        chosen: tuple[Node, ...],
        part: EncodedTable,
        survey: SurveyRows | None,
    ) -> bool:
        """Whether something follows from that a value decides on a mechanism, and this on its own.

        The other's value may decide too: then one of the two does not, the one with the smaller
        effect. Where only the value decides, its mechanism comes first.
        """
        if self.keeps_order:
            return False
        if other in chosen:
            beside = tuple(node for node in chosen if variable_of(node) != other)
            effect = independence_test(part, survey, Mechanism(name), other, beside).effect
            is_known = other in self.known_of.get(name, ())
            if is_known or effect >= self.origin_of[name, other].effect:
                self.refuted.add((name, other))
                return True
            self.refuted.add((other, name))
        first = self.first_of.setdefault(other, set())
        is_new = other in chosen or name not in first
        first.add(name)
        return is_new


def _in_order(
    earlier_of: Mapping[str, Collection[str]], first_of: Mapping[str, Collection[str]]
) -> list[str]:
    """The keys in their order, each after those that are earlier, and after the first if it can."""
    names: list[str] = []
    while left := [name for name in earlier_of if name not in names]:
        ready = [name for name in left if {*earlier_of[name]} <= {*names}]
        preferred = [name for name in ready if {*first_of.get(name, ())} <= {*names}]
        names.append((preferred or ready)[0])
    return names


def monotone_pairs(patterns: PatternCounts, names: Sequence[str]) -> list[tuple[str, str]]:
    """The pairs of variables of which the first is shown only where the second is.

    Pairs that others imply are left out: of three visits, the third is compared with the second
    alone.

    Examples
    --------
    >>> codes = {"A": np.array([0, 0, 2, 2] * 9), "B": np.array([0, 2, 2, 2] * 9)}
    >>> monotone_pairs(PatternCounts.of(EncodedTable({"A": 2, "B": 2}, codes)), ["A", "B"])
    [('B', 'A')]
    """
    is_order = _is_never_shown_without(patterns, names)
    steps = is_order.astype(np.float64)
    direct = is_order & (steps @ steps == 0)
    return [(names[later], names[earlier]) for later, earlier in np.argwhere(direct).tolist()]


def shown_wherever_it_matters(patterns: PatternCounts, names: Sequence[str]) -> dict[str, Scope]:
    """For each variable, those that every row shows which shows it.

    Its mechanism may depend on them, as dropout does on the last value; it does so on shown values
    alone, so that the data may be missing at random.
    """
    is_order = _is_never_shown_without(patterns, names)
    return {
        name: tuple(other for other, is_before in zip(names, before, strict=True) if is_before)
        for name, before in zip(names, is_order.tolist(), strict=True)
    }


def _is_never_shown_without(patterns: PatternCounts, names: Sequence[str]) -> NDArray[np.bool_]:
    """Whether no row shows a variable (axis 0) without another (axis 1).

    Of variables that are always shown together, each is compared with those before it. Where a
    variable is hidden in few rows, others are hidden there by chance: a pair counts if the
    dependence pays for its parameter by BIC, and for the number of pairs.
    """
    if not names:
        return np.zeros((0, 0), dtype=bool)
    # The axes: the later, the earlier, whether the earlier is shown, whether the later is.
    counts = patterns.shown_together(tuple(names)).swapaxes(2, 3)
    size = len(names) ** 2
    tables = counts.reshape(size, 2, 2)
    raised = _scores(tables, np.arange(size), 1.0)
    raised -= _scores(tables.sum(axis=1, keepdims=True), np.arange(size), 1.0)
    is_clear = raised.reshape(len(names), -1) > np.log(len(names))
    is_order = is_clear & (counts[:, :, 0, 1] == 0) & (counts[:, :, 0, 0] > 0)
    is_before_itself = is_order.T & np.triu(np.ones_like(is_order))
    return np.asarray(is_order & ~is_before_itself)


def observed_mechanisms(network: Network, table: EncodedTable) -> MissingnessGraph:
    """The graph of what, among the fully observed variables, decides on being shown.

    Informed deletion takes the smallest separators that it allows. The penalty is half of
    BIC's: a parent too many costs variance, one too few bias.

    Examples
    --------
    Those in pain answer half of the time, the others always.

    >>> network = Network({"Ill": ["no", "yes"], "Pain": ["no", "yes"]}, {"Pain": ["Ill"]})
    >>> columns = {
    ...     "Ill": np.repeat([0, 2], [75, 25]).astype(np.uint8),
    ...     "Pain": np.repeat([0, 1], 50).astype(np.uint8),
    ... }
    >>> print(observed_mechanisms(network, EncodedTable({"Ill": 2, "Pain": 2}, columns)))
    Pain -> R[Ill]
    """
    return MissingnessGraph.without_rules(network, observed_parents(network, table))


def observed_parents(network: Network, table: EncodedTable) -> dict[str, Scope]:
    """The parents of each mechanism among the fully observed variables."""
    seen: dict[Node, StateCodes] = {name: _column(table, name) for name in table.fully_observed}
    weights = table.scaled().row_weights
    all_alone = _AllCountsAlone.of(table)
    parents_of = {}
    for name in table.partially_observed:
        alone = None if all_alone is None else _CountsAlone(all_alone, name)
        parents_of[name] = _parents(network, table, name, seen, weights, alone)
    return parents_of


def parents_among(network: Network, table: EncodedTable, name: str, others: Scope) -> Scope:
    """The parents of a variable's mechanism among some others; half of BIC's penalty."""
    seen: dict[Node, StateCodes] = {other: _column(table, other) for other in others}
    return _parents(network, table, name, seen, table.scaled().row_weights, None)


def _parents(
    network: Network,
    table: EncodedTable,
    name: str,
    seen: Mapping[Node, StateCodes],
    weights: FloatArray,
    alone: _CountsAlone | None,
) -> Scope:
    """The parents of a variable's mechanism among those whose columns are given."""
    is_shown = _column(table, Mechanism(name))
    chosen = _choose(is_shown, seen, weights, network, per_parameter=0.5, alone=alone)
    return tuple(variable_of(other) for other in seen if other in chosen)


def _column(table: EncodedTable, node: Node) -> StateCodes:
    """The state of a variable in each row, or whether a mechanism is 1 there."""
    codes = table.columns[variable_of(node)]
    states = table.cardinality_of[variable_of(node)]
    if isinstance(node, Mechanism):
        return np.asarray(codes < states, np.int64)
    return np.where(codes >= states, NOT_SHOWN, codes.astype(np.int64))
