r"""EM under a tilt: hidden values of one variable differ from shown ones by a stated amount.

The tilt of `lacunet.ask.sensitivity.tilt`, :math:`\Pr(x \mid \text{hidden}, \cdot) \propto \Pr(x
\mid \text{shown}, \cdot) \, e^{\delta a(x)}`, is a mechanism whose dependence on the variable
itself is given,

.. math::
    \Pr(\text{hidden} \mid x, w) = \frac{t_w e^{\delta a(x)}}{1 + t_w e^{\delta a(x)}},

:math:`w` being the variables it looks at besides. So the mechanism becomes an
observed node of the network, with parents :math:`x, w`, and EM runs as ever; only that node's CPT
is maximised over :math:`t_w` alone. With :math:`n_1, n_0` the expected rows with :math:`a = 1, 0`
and :math:`h` those that hide the variable, :math:`t_w` is the positive root of

.. math::
    k (n - h) t^2 + (k n_1 + n_0 - (1 + k) h) t - h = 0, \qquad k = e^\delta.

At :math:`\delta = 0` the mechanism looks at :math:`w` alone. Without a missingness graph that is
what a row shows of these variables, a state or that it is missing. So the mechanism does not depend
on anything hidden, and this is plain EM. With a graph :math:`w` are the causes that the graph gives
it, the graph's other mechanisms are nodes too, and this is EM on the graph.

After dropout no row of a group shows the variable: there is nothing that its hidden values could
differ from, and :math:`t_w` is infinite. They are taken to be like the values of all others with
the same history, shown and hidden.

Where the variable is a question that was not asked of all, only those who were asked can hide it:
the counts are of these. For who was not, being shown says no more than that a row shows what the
rule looks at: whatever it is, its probability is one.

A large ratio has two explanations: the other states are hardly ever hidden, or the tilted one is
hardly ever shown. EM climbs from either, and the higher posterior is kept. Where :math:`\delta` is
infinite all hidden values are the tilted state, or none is: that is the first alone.

A CPT row of the variable that no row shows has no shown values to differ from but those that the
prior stands for: there the pseudo-counts are tilted, :math:`A(x) \propto e^{\delta a(x)}`,
their sum staying what it was.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from math import exp, isinf

import numpy as np
from numpy.typing import NDArray

from lacunet.ask.sensitivity.tilt import Question, difference
from lacunet.counts.gather import Compiling
from lacunet.inference.engine import Engine
from lacunet.inference.query import after_doing, query
from lacunet.learning.cpt_rows import CptRows
from lacunet.learning.em.iterations import Climb, Climbing, Limits
from lacunet.learning.em.start import maximise
from lacunet.learning.plan import PerCell
from lacunet.missingness.augmented_network import augment, looks_at_hidden
from lacunet.missingness.graph import MissingnessGraph
from lacunet.network.cpt import Cpt
from lacunet.network.network import FloatArray, Network, Scope

TILTED_EM_TOLERANCE = 1e-6
MOST_STEPS = 2_000
BEYOND = 200.0  # the logarithm of a ratio that no evidence of a row makes up for


@dataclass(frozen=True)
class TiltedRows:
    """Rows compiled for EM with the mechanism of the question's variable as the last node."""

    engine: Engine
    start: Network  # as plain EM learned it
    question: Question
    pseudo_counts: PerCell
    model: TiltedModel
    # Cells to start from at some tilts, where they are known to be close.
    near: Mapping[float, FloatArray] = field(default_factory=dict)
    lost: float = 0.0  # no row is left out

    def answer(self, delta: float) -> float:
        """The answer if hidden values are tilted by ``delta``; it may be infinite."""
        return difference(self.probabilities(delta))

    def probabilities(self, delta: float) -> tuple[float, ...]:
        """The probability of each term of the question."""
        network = self.network(self.cells(delta))
        answers = []
        for term in self.question.terms:
            after, evidence = after_doing(network, term.evidence, term.do)
            answers.append(float(query(after, term.target, evidence)[term.state]))
        return tuple(answers)

    def network(self, cells: FloatArray) -> Network:
        """The network with these cells, the mechanism left out."""
        tables = self.engine.problems.layout.tables(cells)
        return self.start.with_tables({name: tables[name] for name in self.start.variables})

    def cells(
        self, delta: float, tolerance: float = TILTED_EM_TOLERANCE, max_iterations: int = MOST_STEPS
    ) -> FloatArray:
        """The cells of highest posterior if hidden values are tilted."""
        layout = self.engine.problems.layout
        variable = self.question.mechanism
        shows = layout.network.variables[-1]  # the mechanism comes last
        shape = layout.network.shape(layout.network.family(shows))
        size = int(np.prod(shape))
        ratio = exp(min(max(delta, -BEYOND), BEYOND))  # k
        state = self.start.state_index(variable, self.question.tilted_state)
        rows = CptRows.of(layout)
        rule = self.start.not_asked_of.get(variable)
        skip = None
        if rule is not None:
            skip = self.start.state_index(variable, rule.state)
            rows = _with_single_cells(rows, shape, skip)
        is_bare = self._bare_rows()
        times = np.ones(layout.cells)  # e^(delta a(x)) in CPT rows of the variable that are bare
        layout.tables(times)[variable][..., state] = ratio
        times[~is_bare] = 1.0
        pseudo_counts = self._tilted_pseudo_counts(rows, is_bare, times, size)

        def maximised(counts: FloatArray, near: FloatArray) -> FloatArray:
            after = maximise(counts, rows, pseudo_counts, near)
            after[-size:] = np.ravel(mechanism(counts[-size:].reshape(shape), state, ratio, skip))
            return after

        limits = Limits(tolerance, max_iterations)
        climbing = Climbing(
            engine=self.engine,
            rows=rows,
            pseudo_counts=pseudo_counts,
            maximised=maximised,
            limits=limits,
        )

        def climbed(start: FloatArray) -> Climb:
            *_, end = climbing.iterates(start)
            return end

        if delta in self.near:
            return climbed(self.near[delta]).cells

        # The two explanations of a large ratio: the tilted state is hardly ever shown, or the
        # others are hardly ever hidden.
        plain = layout.flat(self._plain_tables())
        as_at_random = rows.normalised(plain * times)
        others_shown = as_at_random.copy()
        others_shown[-size:] = np.ravel(_others_shown(shape, state, ratio))
        if isinf(delta) or ratio == 1:
            return climbed(others_shown).cells
        ends = [climbed(as_at_random), climbed(others_shown)]
        return max(ends, key=lambda end: end.log_posterior).cells

    def _tilted_pseudo_counts(
        self, rows: CptRows, is_bare: NDArray[np.bool_], times: FloatArray, size: int
    ) -> FloatArray:
        """The pseudo-counts, tilted in bare CPT rows whose sums stay; none for the mechanism.

        Parameters
        ----------
        size
            The cells of the mechanism, which is last.
        """
        plain = np.broadcast_to(np.asarray(self.pseudo_counts, np.float64), times.shape).copy()
        plain[-size:] = 0.0
        sums = np.repeat(np.add.reduceat(plain, rows.begins), rows.lengths)
        return np.where(is_bare, sums * rows.normalised(plain * times), plain)

    def _plain_tables(self) -> dict[str, FloatArray]:
        """The CPTs that plain EM learned; those of nodes that it does not have are even."""
        network = self.engine.problems.layout.network
        known = {**(self.start.tables_of or {}), **self.model.start}
        tables = {}
        for name in network.variables:
            shape = network.shape(network.family(name))
            if name in known and known[name].shape == shape:
                tables[name] = known[name]
            else:
                tables[name] = np.full(shape, 1 / shape[-1])
        return tables

    def _bare_rows(self) -> NDArray[np.bool_]:
        """The cells of the variable's CPT rows that no row of the data shows."""
        layout = self.engine.problems.layout
        is_bare = np.zeros(layout.cells)
        supported = self.start.cpt(self.question.mechanism).supported
        if supported is not None:
            layout.tables(is_bare)[self.question.mechanism][...] = ~supported[..., None]
        return is_bare > 0


def _others_shown(shape: tuple[int, ...], state: int, ratio: float) -> FloatArray:
    """A mechanism that hardly ever hides the states with the lower odds, whatever it looks at."""
    odds = np.full(shape[0], min(1.0, 1 / ratio))
    odds[state] *= ratio
    hidden = (odds / (1 + odds)).reshape(-1, *[1] * (len(shape) - 2))
    both = [np.broadcast_to(share, shape[:-1]) for share in (hidden, 1 - hidden)]
    return np.stack(both, axis=-1)


def _with_single_cells(rows: CptRows, shape: tuple[int, ...], skip: int) -> CptRows:
    """The rows where those of the mechanism of who was not asked are cells by themselves."""
    of_state = int(np.prod(shape[1:-1]))
    first = len(rows.lengths) - (shape[0] - skip) * of_state
    cells = np.ones(2 * of_state, rows.lengths.dtype)
    lengths = np.concatenate([rows.lengths[:first], cells, rows.lengths[first + of_state :]])
    return replace(rows, begins=np.cumsum(lengths) - lengths, lengths=lengths)


@dataclass(frozen=True)
class TiltedModel:
    """A network whose last node is the mechanism that is tilted."""

    compiling: Compiling  # what its nodes are in the rows
    # Variables that the mechanism looks at, and without which no row shows the variable.
    never_without: Scope = ()
    # CPTs of nodes beside those of the variables.
    start: Mapping[str, FloatArray] = field(default_factory=dict)


def tilted_model(
    network: Network, question: Question, given: Scope, partially: Scope, never_without: Scope
) -> TiltedModel:
    """The network with a mechanism that looks at what rows show of some variables.

    ``never_without`` are variables without which no row shows that of the mechanism.
    """
    others = tuple(name for name in given if name != question.mechanism)
    copy_of = {
        name: _free_name(network.states_of, f"{name} as shown")
        for name in others
        if name in partially
    }
    states = dict(network.states_of)
    for name, copy in copy_of.items():
        states[copy] = (*network.states(name), "missing")
    shows = _free_name(states, f"shows {question.mechanism}")
    states[shows] = ("no", "yes")  # the mechanism comes last
    causes = (question.mechanism, *(copy_of.get(name, name) for name in others))
    model = Network(
        states, dict(network.parents_of) | {shows: causes}, not_asked=network.not_asked_of
    )
    model = model.with_ties(network.tied).with_shapes(network.shapes_of)
    compiling = Compiling(
        model,
        {shows: question.mechanism},
        as_shown={copy: name for name, copy in copy_of.items()},
    )
    return TiltedModel(compiling, tuple(name for name in copy_of if name in never_without))


def tilted_model_on_graph(
    graph: MissingnessGraph, question: Question, partially: Scope, cpt_of: Mapping[str, Cpt]
) -> TiltedModel:
    """The network with the mechanisms of a graph, one of them tilted.

    ``cpt_of`` are mechanisms as EM on the graph learned them. Those that change nothing need no
    causes: they stay since others look at them.
    """
    variable = question.mechanism
    augmentation = augment(graph, partially, kept=(variable,))
    whole = augmentation.network
    node = augmentation.name_of[variable]
    parents = dict(whole.parents_of)
    for name, other in augmentation.name_of.items():
        if name != variable and not looks_at_hidden(augmentation.graph, name, partially):
            parents[other] = ()
    parents[node] = (variable, *(name for name in parents[node] if name != variable))
    states = {name: whole.states(name) for name in whole.variables if name != node}
    model = Network(
        states | {node: whole.states(node)}, parents, not_asked=graph.network.not_asked_of
    )
    model = model.with_ties(graph.network.tied).with_shapes(graph.network.shapes_of)
    mechanism_of = {other: name for name, other in augmentation.name_of.items()}
    earlier = tuple(earlier for later, earlier in graph.monotone if later == variable)
    start = {mechanism.child: mechanism.table for mechanism in cpt_of.values()}
    return TiltedModel(Compiling(model, mechanism_of), earlier, start)


def _free_name(taken: Container[str], name: str) -> str:
    """A name that no variable has."""
    while name in taken:
        name += "'"
    return name


def mechanism(counts: FloatArray, state: int, ratio: float, skip: int | None = None) -> FloatArray:
    r"""The CPT of a mechanism that hides one state with ``ratio`` times the odds of the others.

    With the odds :math:`t` of the others, and of the state :math:`k t`, the expected log-likelihood
    is highest at the positive root of

    .. math::
        k (n - h) t^2 + (k n_1 + n_0 - (1 + k) h) t - h = 0 .

    Who was not asked, the state ``skip``, is hidden and shown with probability one.

    Parameters
    ----------
    counts
        The expected rows by the variable, what the mechanism looks at besides, and whether the
        variable is hidden or shown.

    Examples
    --------
    Ten of forty say yes; of the twenty who hide it half do, if the odds are three times as high.

    >>> counts = np.array([[10.0, 30.0], [10.0, 10.0]])
    >>> mechanism(counts, 1, 3.0)[:, 0].tolist()
    [0.25, 0.5]
    """
    asked = counts if skip is None else np.delete(counts, skip, axis=0)
    hidden = asked[..., 0].sum(axis=0).clip(0)  # h
    every = asked.sum(axis=(0, -1)).clip(0)  # n
    tilted = counts[state].sum(axis=-1).clip(0)  # n_1
    shown = (every - hidden).clip(0)
    linear = ratio * tilted + (every - tilted) - (1 + ratio) * hidden
    root = np.sqrt(linear**2 + 4 * ratio * shown * hidden)
    # 2 / t: whichever form does not subtract what is nearly the same.
    with np.errstate(divide="ignore", invalid="ignore"):
        by_sum = (linear + root) / hidden
        by_difference = 4 * ratio * shown / (root - linear)
    inverse = np.where(linear > 0, by_sum, by_difference) / 2  # 1 / t
    inverse = np.where(shown > 0, inverse, 0.0)
    inverse = np.where(hidden > 0, inverse, np.inf)
    times = np.ones(len(counts))
    times[state] = ratio
    share = 1 / (1 + np.multiply.outer(1 / times, inverse))
    table = np.stack([share, 1 - share], axis=-1)
    if skip is not None:
        table[skip] = 1.0
    return table
