r"""A log-linear CPT: its probabilities row by row, its fit, its shrinkage, draws of its parameters.

.. math::
    P(y \mid x) \propto \exp\Bigl(c_y^\top \alpha + t_y^\top B^\top x + \sum_g \log \phi_g(x, y)
    \Bigr)

with the columns :math:`c` and :math:`t` of the child's scale, those of all parents in the row
:math:`x`, and residual tables :math:`\phi_g` (`lacunet.learning.dense.residual_tables`). Between
categories this is a multinomial logit with main effects; with scores it is a linear-by-linear
association, whose effect of a parent on a child is one parameter.

*Shrinkage.* The effects of one parent have a normal prior around zero with a precision of their
own, :math:`\lambda`. It is chosen by the rows, so that their evidence is largest (D. MacKay, 1992):

.. math::
    \lambda \leftarrow \frac{\gamma}{\lVert B \rVert^2}, \qquad
    \gamma = d - \lambda \operatorname{tr} (H^{-1}),

:math:`\gamma` being how many of the :math:`d` effects the rows determine. A parent that says
nothing is shrunk until it hardly adds noise; one that speaks keeps nearly all of its effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from lacunet.learning.dense.residual_tables import MOST_TABLES, ResidualTable, surest_table
from lacunet.learning.dense.scales import Scale
from lacunet.network.network import FloatArray

Codes = NDArray[np.int64]

CONSTANT_PRECISION = 0.1  # of the constants: as if each state had been seen a tenth of a time more
FIRST_PRECISION = 1.0  # of effects, before the rows have spoken
LEAST_PRECISION, MOST_PRECISION = 0.3, 300.0
KEPT_PRECISION = 3.0  # at most, of effects that are asked to be kept
PRIOR_EFFECTS, PRIOR_SQUARE = 1.0, 0.25  # what the prior of a precision counts as: one small effect
ENOUGH_PROMISE = 1e-2  # of a step, in nats: the maximum is near enough
HALVINGS = 12
TABLE_ROUNDS = 3  # in which a new table is fitted
CLIMB = 1e-4  # of what the slope promises: a step that climbs less is halved


@dataclass(frozen=True, eq=False)
class Parameters:
    """One set of parameters of a CPT."""

    constants: FloatArray
    effects: FloatArray  # a row for each column of the parents, a column for each of the child
    tables: tuple[ResidualTable, ...] = ()


@dataclass(frozen=True, eq=False)
class FittedRows:
    """The rows that a CPT is fitted to."""

    parents: FloatArray  # the columns of the parents
    child: Codes
    codes: Codes  # of all variables, for residual tables
    weights: FloatArray


@dataclass(frozen=True, eq=False)
class LogLinearForm:
    """A CPT but for its parameters."""

    child: int
    scale: Scale
    columns: NDArray[np.int64]  # of the parents, among those of all variables


@dataclass(eq=False)
class LogLinear:
    """A CPT while it is learned; the one object here that changes."""

    form: LogLinearForm
    groups: Sequence[tuple[slice, bool]]  # of these columns, one for each prior; kept or not
    at: Parameters = field(init=False)
    precisions: FloatArray = field(init=False)  # like the effects
    root: FloatArray | None = None  # of the information, a triangle

    def __post_init__(self) -> None:
        shape = len(self.form.columns), self.scale.as_child.shape[1]
        self.at = Parameters(np.zeros(self.scale.contrasts.shape[1]), np.zeros(shape))
        self.precisions = np.full(shape, FIRST_PRECISION)

    @property
    def child(self) -> int:
        """Whose CPT it is."""
        return self.form.child

    @property
    def scale(self) -> Scale:
        """How the child enters."""
        return self.form.scale

    def fit(self, rows: FittedRows, steps: int, *, anew: bool) -> None:
        """Climb to the maximum of the posterior, by so many steps.

        The information is computed ``anew``, or that of an earlier fit serves: rows whose missing
        cells were drawn again change it little.
        """
        from scipy.linalg import cho_solve  # not for those who only read a result

        offset = offsets(self.at.tables, rows.codes)
        for step in range(steps):
            logs = log_probabilities(self.scale, self.at, rows.parents, offset)
            probabilities = np.exp(logs)
            slope = self._slope(rows, probabilities)
            if self.root is None or (anew and step < steps):
                self.root = np.asarray(np.linalg.cholesky(self._information(rows, probabilities)))
            move = np.asarray(cho_solve((self.root, True), slope))
            promise = float(slope @ move)
            self.at = self._climbed(rows, offset, logs, move, promise)
            if promise < ENOUGH_PROMISE:
                break
        for index in range(len(self.at.tables)):
            self._refit_table(index, rows)

    def _slope(self, rows: FittedRows, probabilities: FloatArray) -> FloatArray:
        surplus = -probabilities * rows.weights
        surplus[rows.child, np.arange(len(rows.child))] += rows.weights
        constants = self.scale.contrasts.T @ surplus.sum(axis=1)
        constants -= CONSTANT_PRECISION * self.at.constants
        effects = (self.scale.as_child.T @ surplus) @ rows.parents
        effects -= (self.precisions * self.at.effects).T
        return np.concatenate([constants, effects.ravel()])

    def _information(self, rows: FittedRows, probabilities: FloatArray) -> FloatArray:
        """Minus the second derivative: covariances of the child's columns, row by row."""
        constants, child = self.scale.contrasts, self.scale.as_child
        first, width, columns = constants.shape[1], rows.parents.shape[1], child.shape[1]
        information = np.zeros((first + columns * width,) * 2)
        weighted = probabilities * rows.weights
        means = child.T @ probabilities
        constant_means = constants.T @ probabilities
        spread = np.diag(weighted.sum(axis=1)) - weighted @ probabilities.T
        information[:first, :first] = constants.T @ spread @ constants
        for left in range(columns):
            here = slice(first + left * width, first + (left + 1) * width)
            both = (constants * child[:, left : left + 1]).T @ weighted
            both -= constant_means * (rows.weights * means[left])
            information[:first, here] = both @ rows.parents
            information[here, :first] = information[:first, here].T
            for right in range(left + 1):
                there = slice(first + right * width, first + (right + 1) * width)
                covariance = (child[:, left] * child[:, right]) @ weighted
                covariance -= rows.weights * means[left] * means[right]
                block = rows.parents.T @ (rows.parents * covariance[:, None])
                information[here, there] = block
                information[there, here] = block.T
        prior = np.concatenate([np.full(first, CONSTANT_PRECISION), self.precisions.T.ravel()])
        information[np.diag_indices_from(information)] += prior
        return information

    def _climbed(
        self,
        rows: FittedRows,
        offset: FloatArray | None,
        logs: FloatArray,
        move: FloatArray,
        promise: float,
    ) -> Parameters:
        """The parameters a step further; a step that climbs less than it should is halved."""
        here = self._height(rows, self.at, logs)
        share = 1.0
        for _ in range(HALVINGS):
            there = self._moved(share * move)
            logs = log_probabilities(self.scale, there, rows.parents, offset)
            if self._height(rows, there, logs) >= here + CLIMB * share * promise - 1e-9:
                return there
            share /= 2
        return self.at

    def _height(self, rows: FittedRows, parameters: Parameters, logs: FloatArray) -> float:
        """The logarithm of the posterior."""
        fit = rows.weights @ logs[rows.child, np.arange(len(rows.child))]
        prior = CONSTANT_PRECISION * (parameters.constants**2).sum()
        prior += (self.precisions * parameters.effects**2).sum()
        return float(fit - prior / 2)

    def _moved(self, move: FloatArray) -> Parameters:
        first = len(self.at.constants)
        effects = move[first:].reshape(self.at.effects.shape[::-1]).T
        return Parameters(
            self.at.constants + move[:first], self.at.effects + effects, self.at.tables
        )

    def _refit_table(self, index: int, rows: FittedRows) -> None:
        """Fit one residual table, all else as it is."""
        tables = [*self.at.tables]
        logs = log_probabilities(
            self.scale, self.at, rows.parents, offsets(self.at.tables, rows.codes)
        )
        expected = np.exp(logs) * rows.weights
        tables[index] = tables[index].refitted(rows.codes, rows.child, expected, rows.weights)
        self.at = replace(self.at, tables=tuple(tables))

    def add_tables(
        self, rows: FittedRows, candidates: Sequence[tuple[int, ...]], sizes: Sequence[int]
    ) -> None:
        """Add the residual tables that the rows insist on, the surest first."""
        left = [*candidates]
        while left and _learned(self.at.tables) < MOST_TABLES:
            offset = offsets(self.at.tables, rows.codes)
            logs = log_probabilities(self.scale, self.at, rows.parents, offset)
            expected = np.exp(logs) * rows.weights
            table, left = surest_table(
                left, sizes, (rows.codes, rows.child, rows.weights), expected
            )
            if table is None:
                return
            self.at = replace(self.at, tables=(*self.at.tables, table))
            for _ in range(TABLE_ROUNDS):
                self._refit_table(len(self.at.tables) - 1, rows)

    def learn_precisions(self) -> None:
        """Choose the precision of each group of effects by what the rows determine."""
        from scipy.linalg import solve_triangular

        if self.root is None or not self.at.effects.size:
            return
        first = len(self.at.constants)
        inverse = solve_triangular(self.root, np.eye(len(self.root)), lower=True)
        variances = (inverse**2).sum(axis=0)[first:].reshape(self.at.effects.shape[::-1]).T
        for rows, is_kept in self.groups:
            most = KEPT_PRECISION if is_kept else MOST_PRECISION
            for first_column, end in self.scale.child_groups:
                columns = slice(first_column, end)
                effects = self.at.effects[rows, columns]
                before = self.precisions[rows, columns]
                determined = max(float((1 - before * variances[rows, columns]).sum()), 0.0)
                square = float((effects**2).sum())
                precision = (determined + PRIOR_EFFECTS) / (square + PRIOR_SQUARE)
                self.precisions[rows, columns] = np.clip(precision, LEAST_PRECISION, most)

        tables = tuple(table.relearned() for table in self.at.tables)
        self.at = replace(self.at, tables=tables)

    def drawn(self, rng: np.random.Generator) -> Parameters:
        """Parameters drawn from their posterior: normal, with the information of the last fit."""
        from scipy.linalg import solve_triangular

        if self.root is None:
            return self.at
        noise = rng.standard_normal(len(self.root))
        move = solve_triangular(self.root, noise, lower=True, trans="T")
        moved = self._moved(move)
        return replace(moved, tables=tuple(table.drawn(rng) for table in self.at.tables))


def _learned(tables: Sequence[ResidualTable]) -> int:
    return sum(not table.is_known for table in tables)


def mean_of(parameters: Sequence[Parameters]) -> Parameters:
    """The mean of several sets of parameters of one CPT."""
    tables = zip(*(drawn.tables for drawn in parameters), strict=True)
    return Parameters(
        np.mean([drawn.constants for drawn in parameters], axis=0),
        np.mean([drawn.effects for drawn in parameters], axis=0),
        tuple(
            replace(same[0], factors=np.mean([table.factors for table in same], axis=0))
            for same in tables
        ),
    )


def offsets(tables: Sequence[ResidualTable], codes: Codes) -> FloatArray | None:
    """What residual tables add to the logarithms: rows behind states; None if there are none."""
    added: FloatArray | None = None
    for table in tables:
        more = table.logs[:, table.cells(codes)]
        added = more if added is None else added + more
    return added


def log_probabilities(
    scale: Scale, parameters: Parameters, parents: FloatArray, offset: FloatArray | None
) -> FloatArray:
    """The logarithm of the probability of each state in each row: rows behind states.

    Sums over states are many times as fast on the first axis as on the last.
    """
    sums = (
        scale.as_child @ (parents @ parameters.effects).T
        + (scale.contrasts @ parameters.constants)[:, None]
    )
    if offset is not None:
        sums += offset
    sums -= sums.max(axis=0)
    sums -= np.log(np.exp(sums).sum(axis=0))
    return np.asarray(sums)
