"""The divergence as a mean over samples of the true network, where exact is out of reach.

Only the states of the parents are left to chance: given them, the divergence of the row is
known. So the estimate of networks of one structure has less spread than the mean of
log-ratios, and none at all where the rows agree. A state that the true network makes rare
and the learned one excludes may be missed by all samples: then the value is finite and the
true divergence is not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.evaluate.terms import log_table, row_divergences, same_parents
from lacunet.model.network import FloatArray, Network, Scope
from lacunet.simulate.sampling import sample

BATCH = 10_000
Lookup = tuple[Scope, FloatArray]


def sampled_divergence(
    truth: Network, learned: Network, samples: int, rng: np.random.Generator
) -> tuple[float, float]:
    """The mean over samples of the sum of the families' terms, and its standard error."""
    terms = _terms(truth, learned)
    sizes = [min(BATCH, samples - start) for start in range(0, samples, BATCH)]
    values = np.concatenate([_added_up(sample(truth, rows, rng), terms) for rows in sizes])
    mean = float(values.mean())
    if math.isinf(mean):
        return mean, 0.0
    return mean, float(values.std(ddof=1)) / math.sqrt(samples)


def _terms(truth: Network, learned: Network) -> list[Lookup]:
    """The tables whose cells add up, at the states of a sample, to its term."""
    found: list[Lookup] = []
    for name in truth.variables:
        if same_parents(truth, learned, name):
            found.append((truth.parents(name), row_divergences(truth, learned, name)))
        else:
            found.append((truth.family(name), log_table(truth, name)))
            found.append((learned.family(name), -log_table(learned, name)))
    return found


def _added_up(rows: EncodedTable, terms: Sequence[Lookup]) -> FloatArray:
    total = np.zeros(rows.rows)
    for scope, table in terms:
        total += table[tuple(rows.columns[name] for name in scope)]
    return total
