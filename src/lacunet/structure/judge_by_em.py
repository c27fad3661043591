r"""The judge: the BIC of the *observed* data, by exact EM.

.. math::
    \max_\theta \log \Pr_\theta(\text{observed cells}) - \sum_y \mathrm{penalty}(y, S_y)

The penalty is that of BIC where all rows show a family, and less where some do not
(`lacunet.structure.penalty`).

Everything else of this room only suggests structures; what is suggested is taken only if this
score rises. It is the one place of the room that calls EM.

*A whole structure* is fitted by EM on all rows. *Another set of parents of one variable* touches
only the missing values that depend on each other through it (`lacunet.structure.affected_region`).
EM runs on these alone, and what the others expect of each family is held as it was. That makes the
result a lower bound of the exact score (R. Neal and G. Hinton, "A view of the EM algorithm that
justifies incremental, sparse, and other variants", 1998): a change that gains by it gains indeed.
Both sides are evaluated in one network, in which the variable has the parents of both: its CPT is
constant in those that do not count.

Where a mechanism looks at values that are missing themselves, leaving it out would bias both the
score and the completions. Then the mechanisms are observed nodes of the network
(`lacunet.missingness.augmented_network`): the score is that of the cells and of which of them are
shown, and completions are drawn given both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lacunet.counts.em_problems.cell_layout import Layout
from lacunet.counts.em_problems.compile import Problems, compile_problems
from lacunet.counts.gather import with_mechanism_columns
from lacunet.data.table import EncodedTable
from lacunet.inference.completions import draw_completions
from lacunet.inference.engine import engine_of
from lacunet.learning.em.iterations import Limits, climb
from lacunet.limits import NEVER, Deadline, OutOfTimeError
from lacunet.missingness.augmented_network import augment
from lacunet.missingness.graph import MissingnessGraph
from lacunet.network.network import FloatArray, Mask, Network
from lacunet.structure.affected_region import (
    Families,
    MissingPatterns,
    is_barren_somewhere,
    region_of,
)
from lacunet.structure.cpdag import Children, children_of
from lacunet.structure.indexed_rows import CodedRows
from lacunet.structure.penalty import Penalty
from lacunet.structure.search import Dag

EM_TOLERANCE = 1e-3
MOST_ITERATIONS = 60
LEAST_OF_FIT = 0.01  # rise of the log-likelihood: a tenth of what counts as one
TRIAL_ITERATIONS = 12
NO_COUNT = 1e-9  # expected counts below this are none
SMOOTHING = 0.5  # added to the counts that EM starts from: it never leaves a zero


def network_of_dag(columns: Network, dag: Sequence[Iterable[int]]) -> Network:
    """The network of a DAG over these variables, parents in their order."""
    names = columns.variables
    parents = {names[y]: [names[x] for x in sorted(into)] for y, into in enumerate(dag)}
    return network_with_parents(columns, names, parents)


def network_with_parents(
    columns: Network, names: Sequence[str], parents: Mapping[str, Sequence[str]]
) -> Network:
    """The variables in this order and with these parents, without CPTs."""
    return Network(
        {name: columns.states(name) for name in names},
        parents,
        cuts=columns.cuts_of,
        codes=columns.codes_of,
        not_asked=columns.not_asked_of,
    )


@dataclass(frozen=True, eq=False)
class FittedStructure:
    """A structure with its maximum likelihood CPTs and its score.

    Its nodes are the variables, then the mechanisms that cannot be left out.
    """

    dag: Dag  # the variables alone
    families: Families  # the parents of every node
    tables: tuple[FloatArray, ...]  # the CPT of every node: parents, then the node
    counts: tuple[FloatArray, ...]  # expected of each family, with the same axes
    score: float

    @cached_property
    def children(self) -> Children:
        """The children of each node."""
        return children_of(self.families)


class Judge:
    """The rows that structures are judged by.

    ``nodes`` are the variables and the mechanisms that cannot be left out, with no other arcs than
    rules need, and ``table`` shows both; ``rows`` are the same by index.

    Parameters
    ----------
    columns
        The variables, without arcs.
    graph
        The mechanisms, over any network of these variables; None if they can be left out.
    is_sparse
        Whether what cannot occur is not charged for.
    """

    def __init__(
        self,
        columns: Network,
        table: EncodedTable,
        memory: int,
        deadline: Deadline = NEVER,
        graph: MissingnessGraph | None = None,
        is_sparse: bool = True,
    ) -> None:
        self.columns = self.nodes = columns
        self.graph = graph
        self.memory = memory
        self.deadline = deadline
        if graph is not None:
            extended = augment(graph.with_edges_of(columns), table.partially_observed)
            rules = columns.not_asked_of
            self.nodes = Network(extended.network.states_of, columns.parents_of, not_asked=rules)
            table = with_mechanism_columns(
                table, {node: name for name, node in extended.name_of.items()}
            )
        self.table = table
        self.rows = CodedRows.of(table)
        self.patterns = MissingPatterns(table)
        self.penalty = Penalty(self.rows, self.patterns, is_sparse)

    def fit(
        self,
        dag: Dag,
        near: FittedStructure | None = None,
        rows: CodedRows | None = None,
        least_rise: float = LEAST_OF_FIT,
    ) -> FittedStructure:
        """The exact score of a structure, by EM on all rows.

        Parameters
        ----------
        near
            Another fit, whose CPTs EM starts from where the families are the same.
        rows
            Where it starts from in other families, such as completions; the judged rows if None.
        least_rise
            EM ends with an iteration that raises the log-likelihood by less.
        """
        families = self._families(dag)
        start = [
            near.tables[node]
            if near is not None and near.families[node] == parents
            else self._start(node, parents, rows)
            for node, parents in enumerate(families)
        ]
        problems = compile_problems(
            network_of_dag(self.nodes, families), self.table, deadline=self.deadline
        )
        engine = engine_of(problems, self.memory, deadline=self.deadline)
        limits = Limits(
            tolerance=EM_TOLERANCE,
            iterations=MOST_ITERATIONS,
            accelerate=True,
            deadline=self.deadline,
            least_rise=least_rise,
        )
        reached = climb(engine, np.concatenate([np.ravel(cpt) for cpt in start]), 0.0, limits)
        if reached.reason == "interrupted":
            raise KeyboardInterrupt
        if reached.reason == "time limit":
            raise OutOfTimeError
        penalty = sum(self.penalty(node, parents) for node, parents in enumerate(families))
        return FittedStructure(
            dag=dag,
            families=families,
            tables=tuple(problems.layout.tables(reached.cells).values()),
            counts=tuple(problems.layout.tables(reached.expected).values()),
            score=float(reached.log_likelihoods.sum()) - penalty,
        )

    def _families(self, dag: Dag) -> Families:
        """The parents of all nodes."""
        families = tuple(tuple(sorted(parents)) for parents in dag)
        if self.graph is None:
            return families
        graph = self.graph.with_edges_of(network_of_dag(self.columns, dag))
        whole = augment(graph, self.table.partially_observed).network
        index_of = {name: index for index, name in enumerate(self.nodes.variables)}
        return families + tuple(
            tuple(sorted(index_of[parent] for parent in whole.parents(name)))
            for name in self.nodes.variables[len(dag) :]
        )

    def _start(
        self, node: int, parents: Sequence[int], rows: CodedRows | None = None
    ) -> FloatArray:
        """A CPT from the rows that show the family, smoothed so that no cell is zero.

        A mechanism starts with the share of rows that show its variable, whatever it looks at:
        of the rows that show what hides it, too many show it.
        """
        is_mechanism = node >= len(self.columns.variables)
        if is_mechanism:
            counts = self.rows.count([node])
            shape = [self.rows.sizes[member] for member in (*parents, node)]
            return np.broadcast_to(_normalised(counts + SMOOTHING), shape).copy()
        counts = (self.rows if rows is None else rows).count([*parents, node])
        return self.normalised(counts + SMOOTHING, node, parents)

    def normalised(self, counts: FloatArray, node: int, parents: Sequence[int]) -> FloatArray:
        """The CPT with these counts; what a rule excludes has probability zero."""
        names = self.nodes.variables
        rule = self.nodes.not_asked_of.get(names[node])
        if rule is None:
            return _normalised(counts)
        variable = names[node]
        family = [names[member] for member in (*parents, node)]
        possible = rule.can_occur(family, variable, self.nodes.states(variable))
        return _normalised(counts, possible)

    def changed(self, fit: FittedStructure, node: int, parents: frozenset[int]) -> FittedStructure:
        """The structure with other parents of one variable; the score is a lower bound.

        It is close where the change gains something. Far below that, EM is stopped early.
        """
        dag = (*fit.dag[:node], parents, *fit.dag[node + 1 :])
        if self.graph is not None and self.graph.hidden:  # other families may change along
            return self.fit(dag, fit)
        trial = _Trial(self, fit, node, parents)
        before = trial.before
        after = trial.after
        both = trial.both
        gain = self.penalty(node, before) - self.penalty(node, after)
        tables = list(fit.tables)
        counts = list(fit.counts)
        if node not in trial.region.active:
            counts[node] = _narrowed(trial.complete, both, after)
            tables[node] = self.normalised(counts[node], node, after)
            gain += _log_likelihood(counts[node], tables[node])
            gain -= _log_likelihood(trial.complete, _widened(fit.tables[node], before, both))
        else:
            gain = trial.run(gain, tables, counts)
        families = (*fit.families[:node], after, *fit.families[node + 1 :])
        return FittedStructure(
            dag=dag,
            families=families,
            tables=tuple(tables),
            counts=tuple(counts),
            score=fit.score + gain,
        )

    def network(self, fit: FittedStructure) -> Network:
        """The variables and mechanisms with their CPTs."""
        tables = dict(zip(self.nodes.variables, fit.tables, strict=True))
        return network_of_dag(self.nodes, fit.families).with_tables(tables)

    def draw(self, fit: FittedStructure, number: int, rng: np.random.Generator) -> list[CodedRows]:
        """Completions of the rows from their posterior, without the mechanisms."""
        drawn = draw_completions(self.network(fit), self.table, number, rng, self.memory)
        return [CodedRows.of(completion, self.columns.variables) for completion in drawn]


class _Trial:
    """EM within the region of one family, from the parents before to those after."""

    def __init__(
        self, judge: Judge, fit: FittedStructure, node: int, parents: frozenset[int]
    ) -> None:
        self.judge = judge
        self.fit = fit
        self.node = node
        self.before = fit.families[node]
        self.after = tuple(sorted(parents))
        both = tuple(sorted({*self.before, *self.after}))
        self.both = both  # the parents of either side
        # All families, the changed one with both sides' parents.
        self.wide: Families = (*fit.families[:node], both, *fit.families[node + 1 :])
        self.region = region_of((*both, node), self.wide, children_of(self.wide), judge.patterns)
        # The counts of the rows that show all of these parents and the node.
        self.complete = judge.rows.count([*both, node])

    def run(self, gain: float, tables: list[FloatArray], counts: list[FloatArray]) -> float:
        """What the change gains; the CPTs and counts of the region are put in place.

        EM starts from the old CPTs and, in the changed family, from the rows that show it.

        Parameters
        ----------
        gain
            What it gains by the number of parameters.
        """
        judge = self.judge
        fit = self.fit
        node = self.node
        others = self.region.active - {node}
        problems = self._problems(self.wide)
        layout = problems.layout
        cells, held, expected = (np.zeros(layout.cells) for _ in range(3))
        cpt_of, held_of, expected_of = (self._of_nodes(layout, x) for x in (cells, held, expected))
        for member, cpt in self._cpts_before().items():
            cpt_of[member][...] = _widened(cpt, self.before, self.both) if member == node else cpt

        # The engine adds what is held to what it expects. Nothing is held yet: this is what the
        # rows of the region add to the old counts.
        engine = engine_of(
            replace(problems, fixed=held[:, None]), judge.memory, deadline=judge.deadline
        )
        touched = engine.expect(cells, deadline=judge.deadline)
        gain -= float(touched.log_likelihoods.sum())
        part_of = self._of_nodes(layout, touched.counts)
        if self._gives_barren_values_a_child():
            part_of = self._expected_before()

        # From now on the rest of the old counts is held.
        for member in others:
            rest = fit.counts[member] - part_of[member]
            held_of[member][...] = np.where(rest > NO_COUNT, rest, 0.0)
        held_of[node][...] = self.complete
        gain -= _log_likelihood(held, cells)

        cpt = judge._start(node, self.after)
        reached = -np.inf
        for iteration in range(TRIAL_ITERATIONS):
            cpt_of[node][...] = _widened(cpt, self.after, self.both)
            expectation = engine.expect(cells, deadline=judge.deadline)
            expected[:] = expectation.counts
            previous = reached
            reached = gain + float(expectation.log_likelihoods.sum())
            rise = reached - previous
            if iteration and (rise < LEAST_EM_RISE or reached + HOPED_FOR * rise < 0):
                break
            for member in others:
                cpt_of[member][...] = judge.normalised(
                    expected_of[member], member, self.wide[member]
                )
            narrowed = _narrowed(expected_of[node], self.both, self.after)
            cpt = judge.normalised(narrowed, node, self.after)
        for member in others:
            tables[member] = cpt_of[member]
            counts[member] = expected_of[member]
        tables[node] = cpt
        counts[node] = _narrowed(expected_of[node], self.both, self.after)
        return reached

    def _gives_barren_values_a_child(self) -> bool:
        """Whether missing values that no row tells of, in the fit, get a child that is shown."""
        fit = self.fit
        return any(
            is_barren_somewhere(parent, fit.families, fit.children, self.judge.patterns)
            for parent in {*self.after} - {*self.before}
        )

    def _of_nodes(self, layout: Layout, cells: FloatArray) -> dict[int, FloatArray]:
        """The part of each node of the region, as views."""
        return dict(zip(self.region.nodes, layout.tables(cells).values(), strict=True))

    def _problems(self, families: Families) -> Problems:
        """What the rows of the region miss of it, in a network with these families."""
        variables = self.judge.nodes.variables
        names = [variables[node] for node in self.region.nodes]
        local = Network(
            {name: self.judge.nodes.states(name) for name in names},
            {
                variables[child]: [variables[parent] for parent in families[child]]
                for child in sorted(self.region.active)
            },
        )
        rows = self.region.table(self.judge.table, names)
        return compile_problems(local, rows, deadline=self.judge.deadline)

    def _cpts_before(self) -> dict[int, FloatArray]:
        """The CPTs of the fit, for nodes that are only looked at any without parents."""
        sizes = self.judge.rows.sizes
        return {
            node: self.fit.tables[node]
            if node in self.region.active
            else np.full(sizes[node], 1 / sizes[node])
            for node in self.region.nodes
        }

    def _expected_before(self) -> dict[int, FloatArray]:
        """What the rows of the region have added to the counts of the fit."""
        problems = self._problems(self.fit.families)
        layout = problems.layout
        problems = replace(problems, fixed=np.zeros((layout.cells, 1)))
        cells = np.concatenate([np.ravel(cpt) for cpt in self._cpts_before().values()])
        engine = engine_of(problems, self.judge.memory, deadline=self.judge.deadline)
        return self._of_nodes(layout, engine.expect(cells).counts)


LEAST_EM_RISE = 0.05  # of a step of EM that is followed by another
HOPED_FOR = 8.0  # times the last rise: a change that needs more is given up


def _widened(cpt: FloatArray, parents: tuple[int, ...], both: tuple[int, ...]) -> FloatArray:
    """A CPT with further parents that it is constant in; their axes have length one."""
    shape = [cpt.shape[parents.index(parent)] if parent in parents else 1 for parent in both]
    return cpt.reshape([*shape, cpt.shape[-1]])


def _narrowed(counts: FloatArray, both: tuple[int, ...], parents: tuple[int, ...]) -> FloatArray:
    """Counts without the parents that are no longer there."""
    left_out = tuple(axis for axis, parent in enumerate(both) if parent not in parents)
    narrowed: FloatArray = counts.sum(axis=left_out)
    return narrowed


def _normalised(counts: FloatArray, possible: Mask | None = None) -> FloatArray:
    """Each row divided by its sum; uniform where nothing was counted, over what is possible."""
    even = np.full(counts.shape[-1], 1 / counts.shape[-1])
    if possible is not None:
        counts = counts * possible
        even = possible / possible.sum(axis=-1, keepdims=True)
    sums = counts.sum(axis=-1, keepdims=True)
    is_empty = sums == 0
    cpt: FloatArray = np.where(is_empty, even, counts / np.where(is_empty, 1.0, sums))
    return cpt


def _log_likelihood(counts: FloatArray, cpt: FloatArray) -> float:
    r""":math:`\sum n \log \theta`, over what was counted."""
    cpt = np.broadcast_to(cpt, counts.shape)
    some = counts > 0
    return float(counts[some] @ np.log(cpt[some]))
