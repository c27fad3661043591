r"""What the BIC would be with a full table in place of a shape: how much the shape is worth.

.. math::
    \mathrm{BIC} = -2 \log L + k \log N

with :math:`k` free parameters and :math:`N` rows (G. Schwarz, 1978). Both likelihoods are the
highest, without pseudo-counts. EM goes on from where it is, first with the shape, then with a table
of which all cells are possible. Closed forms have no likelihood of all rows: there it is that of
the rows which show the family, whose other terms are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from lacunet.inference.engine import Engine
from lacunet.learning.em.iterations import Limits, climb
from lacunet.learning.uncertainty.shape_parameters import full_parameters
from lacunet.network.network import FloatArray, Network

FAR_ENOUGH = Limits(tolerance=1e-4, iterations=500)
OFF_ZERO = 0.01  # of a table's start, spread evenly: EM never leaves a zero


def bic_gains_by_em(engine: Engine, cells: FloatArray, rows: float) -> dict[str, float]:
    """By how much the BIC is higher with a full table, for each CPT that has a shape.

    Parameters
    ----------
    engine
        The compiled rows.
    cells
        The cells of all CPTs, end to end, where EM has come to.
    rows
        Their number, or what they are worth.
    """
    layout = engine.problems.layout
    network = layout.network
    best = _log_likelihood(engine, cells)
    gains: dict[str, float] = {}
    for name in _with_parameters(network):
        group = network.tied_with(name)
        kept = {v: shape for v, shape in network.shapes_of.items() if v not in group}
        freer = network.with_shapes(kept)
        problems = replace(engine.problems, layout=replace(layout, network=freer))
        start = cells.copy()
        table = layout.tables(start)[name]
        table[...] = (1 - OFF_ZERO) * table + OFF_ZERO / table.shape[-1]
        with_table = replace(engine, plan=replace(engine.plan, problems=problems))
        fall = 2 * (best - _log_likelihood(with_table, start))
        more = freer.free_parameters - network.free_parameters
        gains |= dict.fromkeys(group, fall + more * float(np.log(rows)))
    return gains


def bic_gains_by_counts(
    network: Network, table_of: Mapping[str, FloatArray], rows: float
) -> dict[str, float]:
    """The same from the counts of families, those that are tied added up.

    Examples
    --------
    The odds of each cause are those of the other: three parameters do what four would.

    >>> states = dict.fromkeys("ABY", ["no", "yes"])
    >>> network = Network(states, {"Y": ["A", "B"]}).with_shapes({"Y": "logistic"})
    >>> counts = {"Y": np.array([[[80, 20], [50, 50]], [[50, 50], [20, 80]]])}
    >>> gains = bic_gains_by_counts(network, counts, 400)
    >>> round(gains["Y"], 3) == round(float(np.log(400)), 3)
    True
    """
    gains: dict[str, float] = {}
    for name in _with_parameters(network):
        shaped, counts = network.shaped_of[name], table_of[name]
        shares = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1)
        fall = 2 * (_of_counts(counts, shaped.fit(counts)) - _of_counts(counts, shares))
        more = full_parameters(shaped) - len(shaped.parameter_names)
        gains |= dict.fromkeys(network.tied_with(name), fall + more * float(np.log(rows)))
    return gains


def _with_parameters(network: Network) -> list[str]:
    """The CPTs that have a shape with parameters, each once where some are tied."""
    shaped_of = network.shaped_of
    return [v for v in network.heads if v in shaped_of and shaped_of[v].parameter_names]


def _log_likelihood(engine: Engine, cells: FloatArray) -> float:
    """The highest that EM finds from some cells."""
    return float(climb(engine, cells, 0.0, FAR_ENOUGH).log_likelihoods.sum())


def _of_counts(counts: FloatArray, table: FloatArray) -> float:
    seen = counts > 0
    return float(counts[seen] @ np.log(table[seen]))
