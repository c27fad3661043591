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

from lacunet.estimate.deletion.forms import FORMS, Deletion, DirectMCAR, Informed
from lacunet.estimate.method import MethodError, Plan, Setting
from lacunet.model.aligned import ComparisonError, matched
from lacunet.model.network import FloatArray, Network
from lacunet.statistics.gather import Statistics
from lacunet.statistics.problems.layout import Layout, layout_of
from lacunet.statistics.problems.ragged import Integers

START_PRIOR = 2.0  # smooths a seed where the prior itself does not: EM never leaves a zero


def starting_form(start: str | Network) -> Deletion:
    """The closed form that EM starts from; direct deletion where it starts from something else."""
    if not isinstance(start, str) or start == "random":
        return DirectMCAR()
    known = {kind.name: kind for kind in FORMS if not issubclass(kind, Informed)}
    if start not in known:
        raise MethodError(
            f"start is {start!r}, but must be 'random', a network, or one of {', '.join(known)}."
        )
    return known[start]()


def start_cells(
    start: str | Network, plan: Plan, statistics: Statistics, setting: Setting
) -> tuple[FloatArray, tuple[str, ...]]:
    """The cells to start from, and what the user should know about them."""
    network = plan.network
    layout = layout_of(network.with_tables(None))
    if isinstance(start, Network):
        return layout.flat(_tables_of(start, network)), ()
    if start == "random":
        return random_cells(Rows.of(layout), setting.rng), ()
    assert plan.start is not None
    notes: tuple[str, ...] = ()
    if setting.prior <= 1:
        setting = replace(setting, prior=START_PRIOR)
        notes = (f"the start was smoothed with prior {START_PRIOR:g}: EM never leaves a zero",)
    tables = starting_form(start).estimate(plan.start, statistics, setting).tables
    hidden = statistics.never_shown
    if hidden:
        drawn = layout.tables(random_cells(Rows.of(layout), setting.rng))
        touched = [v for v in network.variables if set(network.family(v)) & set(hidden)]
        tables = {**tables, **{name: drawn[name] for name in touched}}
        words = ", ".join(hidden[:5]) + (" and others" if len(hidden) > 5 else "")
        notes += (f"no row shows {words}: EM starts there at random, and restarts may pay",)
    return layout.flat(tables), notes


def _tables_of(start: Network, network: Network) -> Mapping[str, FloatArray]:
    """The CPTs of another network over the same variables, states and edges, in any order."""
    try:
        found = matched(network, start) if start.has_cpts else None
    except ComparisonError:
        found = None
    if found is None or found.parents_of != network.parents_of:
        raise MethodError(
            "the network to start from has other variables, states or parents than the one to "
            "learn.",
            "it gives CPTs only; its structure must be the same.",
        )
    return {name: found.cpt(name).table for name in network.variables}


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

    The same line as `lacunet.estimate.cpts.posterior_mode`, for all families end to end.

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
