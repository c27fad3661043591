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

import numpy as np
from numpy.typing import NDArray

from lacunet.limits import NEVER, Deadline
from lacunet.network.network import FloatArray, Mask
from lacunet.structure.gains import informations, tables_beside
from lacunet.structure.indexed_rows import CodedRows, Integers

COMPLETION_SWEEPS = 2
MOST_PREDICTORS = 7
PREDICTOR_SHARE = 0.2  # of the penalty
MAX_COMPLETION_CELLS = 2**16  # of a table that missing values are drawn from
FALLBACK_ROWS = 1.0


def complete_in_turn(
    rows: CodedRows, start: CodedRows, rng: np.random.Generator, deadline: Deadline = NEVER
) -> CodedRows:
    """A completion of rows with gaps, from another completion of them.

    A variable that no row shows stays as it is there: nothing says how to draw it.
    """
    columns = [*start.columns]
    states = None if start.states is None else start.states.copy()
    shown = [codes < size for codes, size in zip(rows.columns, rows.sizes, strict=True)]
    partial = [y for y, is_shown in enumerate(shown) if is_shown.any() and not is_shown.all()]
    for _ in range(COMPLETION_SWEEPS):
        for y in rng.permutation(partial).tolist():
            deadline.check()
            is_missing = ~shown[y]
            before = columns[y]
            complete_but_y = replace(
                rows, columns=(*columns[:y], rows.columns[y], *columns[y + 1 :])
            )
            after = before.copy()
            after[is_missing] = _drawn(y, is_missing, complete_but_y, states, rng)
            columns[y] = after
            if states is not None:  # a one where each row's state is
                redrawn = np.flatnonzero(is_missing)
                first = rows.starts[y]
                states[redrawn, first + before[redrawn]] = 0.0
                states[redrawn, first + after[redrawn]] = 1.0
    return replace(start, columns=tuple(columns))


def _drawn(
    y: int,
    is_missing: Mask,
    rows: CodedRows,
    states: NDArray[np.floating] | None,
    rng: np.random.Generator,
) -> Integers:
    """The missing values of a variable, given those of the others, which are complete."""
    estimate = rows.count([y])[None]  # Pr(y | x...), a row for each configuration of x
    estimate /= estimate.sum()
    configuration = np.zeros(int(is_missing.sum()), np.int64)  # of x, in the rows that miss y
    chosen: list[int] = []
    while len(chosen) < MOST_PREDICTORS:
        best = _best_predictor(y, chosen, rows, states)
        if best is None:
            break
        predictor, table = best
        chosen.append(predictor)
        configuration = configuration * rows.sizes[predictor] + rows.columns[predictor][is_missing]
        counts = table.transpose(0, 2, 1) + FALLBACK_ROWS * estimate[:, None]
        counts = counts.reshape(-1, rows.sizes[y])
        estimate = counts / counts.sum(axis=1, keepdims=True)
    return _sampled(estimate[configuration], rng)


def _best_predictor(
    y: int, chosen: Sequence[int], rows: CodedRows, states: NDArray[np.floating] | None
) -> tuple[int, FloatArray] | None:
    """What predicts a variable best, given some, and its table with them; None if nothing does."""
    others = [x for x in range(len(rows)) if x != y and x not in chosen]
    # With y missing as one more state.
    room = MAX_COMPLETION_CELLS * (rows.sizes[y] + 1) // rows.sizes[y]
    best = None
    best_gain = 0.0
    for tables in tables_beside(
        rows=rows, y=y, given=chosen, others=others, room=room, states=states
    ):
        information, cost = informations(tables)
        gains = information - PREDICTOR_SHARE * cost
        top = int(gains.argmax())
        if gains[top] > best_gain:
            best_gain = float(gains[top])
            best = tables.others[top], tables.table(top)
    return best


def _sampled(probabilities: FloatArray, rng: np.random.Generator) -> Integers:
    """One state for each row of probabilities."""
    sums = np.cumsum(probabilities, axis=1)
    draws = rng.random((len(sums), 1)) * sums[:, -1:]
    drawn: Integers = np.minimum((sums <= draws).sum(axis=1), sums.shape[1] - 1)
    return drawn
