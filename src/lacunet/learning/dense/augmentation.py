r"""Data augmentation: parameters and missing cells are drawn in turn.

Of a dense network neither the E-step nor the posterior of a row's missing cells can be computed
exactly: every variable is married to every other. Both are drawn instead (M. Tanner and W. Wong,
1987). Given completed rows, the parameters of each CPT are drawn from their posterior; given
parameters, each missing cell is drawn from its distribution given all other cells of its row,

.. math::
    P(y \mid \text{rest}) \propto P(y \mid x_{<y}) \prod_{c > y} P(x_c \mid x_{<c}),

its own CPT and those of all after it. There is one joint distribution whose conditionals these are,
so sweeps converge to completions of it, whatever the order. (Chained equations draw from a separate
regression for each variable, and whether there is a joint distribution behind them is not known.)

The line begins with the variables that miss least: those that miss nothing need no CPT while others
are completed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import EncodedTable, allowed_states
from lacunet.learning.dense.log_linear import (
    FittedRows,
    LogLinear,
    LogLinearForm,
    Parameters,
    log_probabilities,
    offsets,
)
from lacunet.learning.dense.residual_tables import ResidualTable, candidates_of
from lacunet.learning.dense.scales import Scale
from lacunet.limits import Deadline
from lacunet.network.network import FloatArray, Scope

Codes = NDArray[np.int64]
Line = Sequence[LogLinear]  # a CPT for each variable, in their order

ROWS_AT_ONCE = 4_096
FIRST_STEPS, LATER_STEPS = 8, 2  # of Newton's method: from nothing, and in a sweep
SHRINKING_ROUNDS = 3  # fits, each followed by a choice of precisions
TABLE_SWEEPS = 2
WARM_SWEEPS = 8
SWEEPS_BETWEEN = 3  # parameters that are kept
COMPLETING_SWEEPS = 10
AVERAGED_SWEEPS = 60  # where the likeliest state is looked for
NEVER_DRAWN = -1e9
LARGEST_LOG = 700.0  # whose exponential is a number


@dataclass(eq=False)
class Augmentation:
    """Rows with missing cells, and what they hold for now: the one object here that changes.

    Variables are numbered by their places in the line.
    """

    variables: Scope
    scales: Sequence[Scale]
    codes: Codes  # a column for each variable; missing cells hold what was drawn last
    missing: NDArray[np.bool_]
    allowed: dict[int, FloatArray]  # logarithms of 1 and 0, where missing cells are sets of states
    weights: FloatArray
    rng: np.random.Generator
    columns: FloatArray = field(init=False)  # by which variables enter as parents
    starts: Codes = field(init=False)  # of each variable's columns

    def __post_init__(self) -> None:
        widths = [scale.as_parent.shape[1] for scale in self.scales]
        self.starts = np.concatenate([[0], np.cumsum(widths)])
        self.columns = np.zeros((len(self.codes), self.starts[-1]))
        for index, scale in enumerate(self.scales):
            self.columns[:, self.of(index)] = scale.as_parent[self.codes[:, index]]

    @classmethod
    def of_table(
        cls, table: EncodedTable, line: Scope, scales: Sequence[Scale], rng: np.random.Generator
    ) -> Augmentation:
        """The rows of a table; missing cells begin as draws from what the rows show."""
        codes = np.empty((table.rows, len(line)), np.int64)
        missing = np.zeros(codes.shape, bool)
        allowed: dict[int, FloatArray] = {}
        for index, (name, scale) in enumerate(zip(line, scales, strict=True)):
            shown = table.columns[name].astype(np.int64)
            is_missing = shown >= scale.states
            missing[:, index] = is_missing
            shares = scale.seen / scale.seen.sum()
            drawn = rng.choice(scale.states, int(is_missing.sum()), p=shares)
            codes[:, index] = shown
            codes[is_missing, index] = drawn
            sets = table.sets_of.get(name, ())
            if sets and (shown > scale.states).any():
                may_be = allowed_states(scale.states, sets)[shown[is_missing]]
                allowed[index] = np.where(may_be, 0.0, NEVER_DRAWN)
        weights = table.row_weights.astype(np.float64)
        return cls(line, scales, codes, missing, allowed, weights, rng)

    def of(self, index: int) -> slice:
        """The columns of a variable."""
        return slice(int(self.starts[index]), int(self.starts[index + 1]))

    @property
    def incomplete(self) -> list[int]:
        """The variables that some row misses."""
        return np.flatnonzero(self.missing.any(axis=0)).tolist()

    def design(self, cpt: LogLinear, *, shown: bool) -> FittedRows:
        """The rows, or those that show the child, as the CPT is fitted to them."""
        rows: Any = ~self.missing[:, cpt.child] if shown else slice(None)
        return FittedRows(
            self.columns[rows][:, cpt.form.columns],
            self.codes[rows, cpt.child],
            self.codes[rows],
            self.weights[rows],
        )

    def redraw(
        self,
        forms: Sequence[LogLinearForm],
        parameters: Sequence[Parameters],
        variables: Sequence[int],
        *,
        forward: bool = False,
        shares: dict[int, FloatArray] | None = None,
    ) -> None:
        """Draw missing cells, one variable after the other, given all other cells of their rows.

        Or ``forward``: given those before them in the line alone. The chances of the states of each
        missing cell are added to ``shares``.
        """
        for index in variables:
            rows = np.flatnonzero(self.missing[:, index])
            for first in range(0, len(rows), ROWS_AT_ONCE):
                part = slice(first, first + ROWS_AT_ONCE)
                logs = self.log_weights(forms, parameters, index, rows[part], forward=forward)
                if index in self.allowed:
                    logs += self.allowed[index][part].T
                if shares is not None:
                    chances = np.exp(logs - logs.max(axis=0))
                    shares[index][part] += (chances / chances.sum(axis=0)).T
                self.set(index, rows[part], sampled(logs, self.rng))

    def set(self, index: int, rows: Codes, codes: Codes) -> None:
        """Give cells a state."""
        self.codes[rows, index] = codes
        self.columns[rows, self.of(index)] = self.scales[index].as_parent[codes]

    def log_weights(
        self,
        forms: Sequence[LogLinearForm],
        parameters: Sequence[Parameters],
        index: int,
        rows: Codes,
        *,
        forward: bool,
    ) -> FloatArray:
        """The logarithm of the weight of each state of a variable in some rows, behind states."""
        form = forms[index]
        codes, columns = self.codes[rows], self.columns[rows]
        logs = log_probabilities(
            form.scale,
            parameters[index],
            columns[:, form.columns],
            offsets(parameters[index].tables, codes),
        )
        logs[form.scale.seen == 0] = NEVER_DRAWN
        if not forward:
            columns[:, self.of(index)] = 0.0
            for child in forms[index + 1 :]:
                self._add_child(logs, form, child, parameters[child.child], columns, codes)
        return logs

    def _add_child(
        self,
        logs: FloatArray,
        form: LogLinearForm,
        child: LogLinearForm,
        parameters: Parameters,
        columns: FloatArray,
        codes: Codes,
    ) -> None:
        """Add the logarithm of the probability that a child is what it is, for each state.

        ``columns`` are those of the rows, zero where they are the variable's own.
        """
        index, scale, columns_of_it = form.child, form.scale, self.of(form.child)
        mine = np.flatnonzero(
            (child.columns >= columns_of_it.start) & (child.columns < columns_of_it.stop)
        )
        if not len(mine) and not any(index in table.parents for table in parameters.tables):
            return
        sums = child.scale.as_child @ (columns[:, child.columns] @ parameters.effects).T
        sums += (child.scale.contrasts @ parameters.constants)[:, None]
        shifts = child.scale.as_child @ (scale.as_parent @ parameters.effects[mine]).T
        held, rows = codes[:, child.child], np.arange(len(codes))
        acting: list[tuple[ResidualTable, Codes]] = []  # tables that the variable has a part in
        for table in parameters.tables:
            if index in table.parents:
                first = codes.copy()
                first[:, index] = 0
                steps = table.stride(index) * np.arange(scale.states)
                acting.append((table, table.cells(first) + steps[:, None]))
            else:
                sums += table.logs[:, table.cells(codes)]
        sums -= sums.max(axis=0)
        # What exp(sums + shifts) adds up to, over the states of the child, for each of the variable
        # is a product of matrices, unless tables tie the two together.
        weights, factors = np.exp(sums), np.exp(np.minimum(shifts, LARGEST_LOG))
        logs += shifts[held].T
        if acting:
            whole = weights[:, None, :] * factors[:, :, None]
            for table, cells in acting:
                whole *= table.by_state[:, cells]
                logs += table.logs[held, cells]
            totals = whole.sum(axis=0)
        else:
            totals = factors.T @ weights
        logs += sums[held, rows] - np.log(np.maximum(totals, np.finfo(float).tiny))


def sampled(logs: FloatArray, rng: np.random.Generator) -> Codes:
    """A state for each row, of logarithms of weights with rows behind states.

    >>> sampled(np.log([[0.5, 1e-9], [1e-9, 0.5]]), np.random.default_rng(0)).tolist()
    [0, 1]
    """
    sums = np.exp(logs - logs.max(axis=0)).cumsum(axis=0)
    thresholds = rng.random(sums.shape[1]) * sums[-1]
    return np.asarray(np.minimum((sums <= thresholds).sum(axis=0), len(sums) - 1))


def learn(rows: Augmentation, line: Line, deadline: Deadline) -> None:
    """Fit all CPTs, choose their shrinkage and tables, and bring completions near the posterior."""
    for cpt in line:
        deadline.check()
        cpt.fit(rows.design(cpt, shown=True), FIRST_STEPS, anew=True)
        rows.redraw(forms_of(line), maxima_of(line), [cpt.child], forward=True)
    for _ in range(SHRINKING_ROUNDS):
        _shrink(rows, line, deadline)
    sizes = [scale.states for scale in rows.scales]
    for cpt in line:
        deadline.check()
        parents = sorted({*np.searchsorted(rows.starts, cpt.form.columns, side="right") - 1})
        candidates = candidates_of(parents, sizes, cpt.scale.states)
        if not cpt.scale.is_number:  # effects of one category on another say all that there is
            candidates = [
                candidate
                for candidate in candidates
                if len(candidate) > 1 or rows.scales[candidate[0]].is_number
            ]
        cpt.add_tables(rows.design(cpt, shown=True), candidates, sizes)
    for _ in range(TABLE_SWEEPS):
        _shrink(rows, line, deadline)


def forms_of(line: Line) -> list[LogLinearForm]:
    """The CPTs but for their parameters."""
    return [cpt.form for cpt in line]


def maxima_of(line: Line) -> list[Parameters]:
    """The parameters where the posterior is highest."""
    return [cpt.at for cpt in line]


def _shrink(rows: Augmentation, line: Line, deadline: Deadline) -> None:
    """A sweep at the maximum, with the information and the precisions chosen anew."""
    for cpt in line:
        deadline.check()
        cpt.fit(rows.design(cpt, shown=False), LATER_STEPS, anew=True)
        cpt.learn_precisions()
    rows.redraw(forms_of(line), maxima_of(line), rows.incomplete)


def drawn_parameters(
    rows: Augmentation, line: Line, number: int, deadline: Deadline
) -> Iterator[tuple[list[Parameters], list[Parameters]]]:
    """Parameters drawn from their posterior, each time some sweeps after the last, and the maxima.

    The second of each pair are those at the maximum for the completion of the same sweep.
    """
    incomplete = rows.incomplete
    changing = [cpt for cpt in line if incomplete and cpt.child >= incomplete[0]]
    for sweep in range(WARM_SWEEPS + number * SWEEPS_BETWEEN):
        deadline.check()
        for cpt in changing:
            cpt.fit(rows.design(cpt, shown=False), LATER_STEPS, anew=sweep == WARM_SWEEPS)
        drawn = [cpt.drawn(rows.rng) for cpt in line]
        rows.redraw(forms_of(line), drawn, incomplete)
        if sweep >= WARM_SWEEPS and (sweep - WARM_SWEEPS) % SWEEPS_BETWEEN == SWEEPS_BETWEEN - 1:
            yield drawn, maxima_of(line)


def complete(
    rows: Augmentation, forms: Sequence[LogLinearForm], parameters: Sequence[Parameters]
) -> None:
    """Draw the missing cells of every row jointly, from parameters as they are."""
    incomplete = rows.incomplete
    rows.redraw(forms, parameters, incomplete, forward=True)
    if len(incomplete) > 1 or any(form.child > incomplete[0] for form in forms if incomplete):
        for _ in range(COMPLETING_SWEEPS):
            rows.redraw(forms, parameters, incomplete)


def complete_by_likeliest(
    rows: Augmentation, forms: Sequence[LogLinearForm], parameters: Sequence[Parameters]
) -> None:
    """Give each missing cell the state that is likeliest given what its row shows.

    Its chances are the mean, over sweeps, of those given all other cells as they are drawn by then.
    """
    complete(rows, forms, parameters)
    incomplete = rows.incomplete
    shares = {
        index: np.zeros((int(rows.missing[:, index].sum()), rows.scales[index].states))
        for index in incomplete
    }
    for _ in range(AVERAGED_SWEEPS):
        rows.redraw(forms, parameters, incomplete, shares=shares)
    for index, of_cells in shares.items():
        rows.set(index, np.flatnonzero(rows.missing[:, index]), of_cells.argmax(axis=1))
