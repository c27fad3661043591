r"""Where EM starts: a closed form, a network, or chance.

A variable that no row shows is known to a closed form only by the prior: all its states are
alike, and so they stay, for EM never breaks a tie. The CPTs that such a variable has a part
in are therefore drawn at random, whatever the seed.

The maximisation: the posterior mode given expected counts, for all families at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from lacunet.estimate.errors import MethodError
from lacunet.estimate.method import Task
from lacunet.model.network import FloatArray, Network, Scope
from lacunet.statistics.problems.layout import Layout, layout_of
from lacunet.statistics.problems.ragged import Integers

SEED_PRIOR = 2.0  # smooths a seed where the prior itself does not: EM never leaves a zero


def seed_cells(seed: str | Network, task: Task) -> tuple[FloatArray, tuple[str, ...]]:
    """The cells to start from, and what the user should know about them."""
    layout = layout_of(task.network.with_tables(None))
    if isinstance(seed, Network):
        return layout.flat(_tables_of(seed, task.network)), ()
    if seed == "random":
        return random_cells(Rows.of(layout), task.rng), ()
    tables, notes = _learned_tables(seed, task)
    hidden = never_shown(task)
    if hidden:
        drawn = layout.tables(random_cells(Rows.of(layout), task.rng))
        touched = [v for v in task.network.variables if set(task.network.family(v)) & set(hidden)]
        tables = {**tables, **{name: drawn[name] for name in touched}}
        words = ", ".join(hidden[:5]) + (" and others" if len(hidden) > 5 else "")
        notes += (f"no row shows {words}: EM starts there at random, and restarts may pay",)
    return layout.flat(tables), notes


def never_shown(task: Task) -> Scope:
    """The variables that no row shows."""
    table = task.table
    return tuple(name for name in table.variables if table.missing_of[name] == table.rows)


def _learned_tables(name: str, task: Task) -> tuple[Mapping[str, FloatArray], tuple[str, ...]]:
    from lacunet.estimate.registry import method_named

    if task.prior > 1:
        return method_named(name).learn(task).tables, ()
    note = f"the seed was smoothed with prior {SEED_PRIOR:g}: EM never leaves a zero"
    return method_named(name).learn(replace(task, prior=SEED_PRIOR)).tables, (note,)


def _tables_of(seed: Network, network: Network) -> Mapping[str, FloatArray]:
    """The CPTs of another network over the same variables, states and edges, in any order."""
    if set(seed.variables) != set(network.variables):
        raise MethodError.seed_of_another_structure()
    return {name: _moved(seed, network, name) for name in network.variables}


def _moved(seed: Network, network: Network, variable: str) -> FloatArray:
    theirs, ours = seed.family(variable), network.family(variable)
    same = set(theirs) == set(ours) and all(
        set(seed.states(name)) == set(network.states(name)) for name in ours
    )
    if not same:
        raise MethodError.seed_of_another_structure()
    table = seed.cpt(variable).table.transpose([theirs.index(name) for name in ours])
    for axis, name in enumerate(ours):
        order = [seed.states(name).index(state) for state in network.states(name)]
        table = np.take(table, order, axis=axis)
    return table


@dataclass(frozen=True)
class Rows:
    """The rows of all CPTs, laid end to end: where each begins and how long it is."""

    begins: Integers
    lengths: Integers

    @classmethod
    def of(cls, layout: Layout) -> Rows:
        """The rows of a layout's CPTs."""
        sizes = np.diff(layout.offsets)
        lengths = np.repeat(layout.cardinalities, sizes // layout.cardinalities)
        return cls(np.cumsum(lengths) - lengths, lengths)

    def normalised(self, weights: FloatArray) -> FloatArray:
        """Each row divided by its sum; a row of zeros becomes uniform."""
        sums = np.repeat(np.add.reduceat(weights, self.begins), self.lengths)
        empty = sums == 0
        if empty.any():
            weights = np.where(empty, 1.0, weights)
            sums = np.where(empty, np.repeat(self.lengths, self.lengths), sums)
        rows: FloatArray = weights / sums
        return rows


def maximise(counts: FloatArray, rows: Rows, prior: float) -> FloatArray:
    r"""The CPTs of highest posterior given expected counts.

    .. math::
        \theta(x \mid u) \propto E[n(u, x)] + (\alpha - 1)

    The same line as `lacunet.estimate.method.posterior_mode`, for all families end to end.

    Examples
    --------
    >>> one_variable = Rows(np.array([0]), np.array([2]))
    >>> maximise(np.array([5.0, 3.0]), one_variable, 2.0).tolist()
    [0.6, 0.4]
    """
    return rows.normalised(counts + (prior - 1))


def log_prior(cells: FloatArray, prior: float) -> float:
    r"""The Dirichlet prior's part of the log-posterior, up to a constant.

    .. math::
        (\alpha - 1) \sum \log \theta
    """
    if prior == 1:
        return 0.0
    with np.errstate(divide="ignore"):
        return float((prior - 1) * np.log(cells).sum())


def random_cells(rows: Rows, rng: np.random.Generator) -> FloatArray:
    """CPTs whose rows are drawn uniformly from all distributions."""
    return rows.normalised(rng.standard_exponential(int(rows.lengths.sum())))
