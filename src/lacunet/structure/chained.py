r"""Completions that no DAG shapes: each variable drawn given those that predict it best.

Completions drawn from a network know only the dependences that it has. A search in them finds
that network again, even where another one explains the rows far better. Here the missing values
of one variable after the other are drawn from

.. math::
    \Pr(y \mid x_1, \dots, x_k)

with the predictors chosen on the rows that show y: those whose gain is positive with a fifth of
the penalty of BIC, the largest first. They may be causes, effects or neither, and what one
variable is drawn by need not agree with what another is (chained equations; S. van Buuren,
"Flexible imputation of missing data", 2018). With each predictor the estimate falls back on the
one before it, which weighs as much as one row.

The values begin as a completion from a network. Two sweeps free them of it; with more they drift,
since there need not be any joint distribution with all these conditional ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import log, prod

import numpy as np

from lacunet.data.table import Codes
from lacunet.deadline import NEVER, Deadline
from lacunet.model.network import FloatArray, Mask
from lacunet.structure.gains import information
from lacunet.structure.rows import CodedRows, Integers

SWEEPS = 2
MOST_PREDICTORS = 7
PREDICTOR_SHARE = 0.2  # of the penalty
MOST_CELLS = 2**16
FALLBACK_ROWS = 1.0


def chained(
    rows: CodedRows, start: CodedRows, rng: np.random.Generator, deadline: Deadline = NEVER
) -> CodedRows:
    """A completion of rows with gaps, from another completion of them.

    A variable that no row shows stays as it is there: nothing says how to draw it.
    """
    columns = [column.copy() for column in start.columns]
    is_shown = [(own < size).any() for own, size in zip(rows.columns, rows.sizes, strict=True)]
    partial = np.flatnonzero(rows.is_partial & np.array(is_shown))
    for _ in range(SWEEPS):
        for y in rng.permutation(partial).tolist():
            deadline.check()
            is_missing = rows.columns[y] == rows.sizes[y]
            columns[y][is_missing] = _drawn(y, is_missing, columns, rows, rng)
    return replace(start, columns=tuple(columns))


def _drawn(
    y: int,
    is_missing: Mask,
    columns: Sequence[Codes],
    rows: CodedRows,
    rng: np.random.Generator,
) -> Integers:
    """The missing values of a variable, given those of the others."""
    states, configurations = rows.sizes[y], 1
    shown = [column[~is_missing] for column in columns]
    weights = None if rows.weights is None else rows.weights[~is_missing]
    keys = np.zeros(len(shown[y]), np.int64)
    wanted = np.zeros(int(is_missing.sum()), np.int64)
    estimate = np.bincount(shown[y], weights, states).astype(np.float64)[None]  # Pr(y | x...)
    cost = PREDICTOR_SHARE * log(max(float(estimate.sum()), 2.0)) / 2
    estimate /= estimate.sum()
    left = set(range(len(columns))) - {y}
    while len(columns) - len(left) <= MOST_PREDICTORS:
        best_gain, best, table = 0.0, y, estimate
        for x in sorted(left):
            size = rows.sizes[x]
            shape = (configurations, size, states)
            if prod(shape) <= MOST_CELLS:
                here = (keys * size + shown[x]) * states + shown[y]
                counts = np.bincount(here, weights, prod(shape)).astype(np.float64).reshape(shape)
                free = (states - 1) * (size - 1) * configurations
                gain = information(counts.transpose(2, 1, 0)) - cost * free
                if gain > best_gain:
                    best_gain, best, table = gain, x, counts
        if best == y:
            break
        left.remove(best)
        keys = keys * rows.sizes[best] + shown[best]
        wanted = wanted * rows.sizes[best] + columns[best][is_missing]
        configurations *= rows.sizes[best]
        table = (table + FALLBACK_ROWS * estimate[:, None]).reshape(configurations, states)
        estimate = table / table.sum(axis=1, keepdims=True)
    return _sampled(estimate[wanted], rng)


def _sampled(probabilities: FloatArray, rng: np.random.Generator) -> Integers:
    """One state for each row of probabilities."""
    sums = np.cumsum(probabilities, axis=1)
    draws = rng.random((len(sums), 1)) * sums[:, -1:]
    drawn: Integers = np.minimum((sums <= draws).sum(axis=1), sums.shape[1] - 1)
    return drawn
