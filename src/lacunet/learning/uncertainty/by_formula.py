r"""How sure an estimate by an estimand is: the same estimand without each row, or group of rows.

Rows that are equal make the same difference, so that leaving out every row in turn takes one
estimate for each *distinct* row. Where there are few of these, that is what is done: with
:math:`m_d` copies of row d, n in all, and :math:`\theta_{(-d)}` the estimate without one of them,

.. math::
    \mathrm{Var}(\theta) = \frac{n - 1}{n} \sum_d m_d (\theta_{(-d)} - \bar\theta)^2 .

Copies with weights count as the units that they are worth (`lacunet.counts.folds`). Nothing is
drawn at random here. That matters most where rows are few in kind and many in number: the groups
into which the same kinds of rows fall are nearly the same in all data sets, and so is their luck.
Where there are many distinct rows, each of thirty groups is left out; in surveys, each cluster;
or the rows count by each of the replicate weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from lacunet.counts.counts import quotient
from lacunet.counts.distinct import pack_keys
from lacunet.counts.distinct_rows import Rows
from lacunet.counts.folds import JACKKNIFE_GROUPS
from lacunet.data.data import Data
from lacunet.data.evidence import Likelihood
from lacunet.errors import as_level
from lacunet.inference.answer import Answer, AnswerBasis, Bounds
from lacunet.learning.uncertainty.cpt_intervals import Spread
from lacunet.missingness.errors import NoRowsError
from lacunet.missingness.identified.identified_sets import POINT, IdentifiedSet
from lacunet.missingness.verdict import (
    Estimation,
    Verdict,
    columns_needed,
    estimate,
    largest_table,
)
from lacunet.missingness.verdict_rows import GatheredRows, gather_rows
from lacunet.network.mechanisms import MECHANISM_STATES
from lacunet.network.named_axes import Table
from lacunet.network.network import FloatArray, Scope
from lacunet.network.nodes import Mechanism

MOST_DISTINCT = 500  # rows, for each of them to be left out
MAX_REFILLED_CELLS = 3e6  # of the largest table, filled again and again without each of them


class LeftOut(NamedTuple):
    """All rows, what is left of them in turn, and how squared differences add up to a variance."""

    rows: Rows
    parts: Callable[[], Iterable[Rows]]  # what is left of the rows, time after time
    scales: FloatArray  # what each squared difference counts
    degrees: float  # of freedom of the variance
    # Whether clusters or replicates of a survey are left out: differences are then from the
    # estimate of all rows.
    by_design: bool
    words: str  # what is done


@dataclass(frozen=True)
class Recovered:
    """An estimate of a query, and the same from the rows without each of many parts of them."""

    estimation: Estimation
    replicates: FloatArray  # a row for each part, the cells of the query as columns
    left_out: LeftOut  # what the parts are
    # That show the query, for each configuration of its conditions: how many know a probability
    # of zero or one, which all parts agree on.
    rows: FloatArray

    @property
    def covariance(self) -> FloatArray:
        """How the cells of the estimate vary together: the jackknife's covariance."""
        scales = self.left_out.scales
        centre = scales @ self.replicates / scales.sum()
        if self.left_out.by_design:
            centre = np.nan_to_num(self.estimation.table.reshape(-1))
        apart = self.replicates - centre
        return np.asarray(apart.T @ (scales[:, None] * apart))

    @property
    def spread(self) -> Spread:
        """The standard error and the interval of every cell."""
        table = self.estimation.table
        used = float(max(self.estimation.rows_used, 1))
        known = np.nan_to_num(table)
        by_row = known.reshape(self.rows.size, -1)
        variance = np.diag(self.covariance).reshape(by_row.shape)
        rows = np.minimum(self.rows.reshape(-1, 1), used)
        sizes = Spread.of_variance(by_row, by_row, variance, rows).sizes.reshape(table.shape)
        sizes = np.where(np.isnan(table), 0.0, np.minimum(sizes, used))
        return Spread(known, known, sizes, self.left_out.degrees)


Laws = Mapping[Scope, Table]


Likelihoods = Mapping[str, Likelihood]
NO_LIKELIHOODS: Likelihoods = MappingProxyType({})


def estimate_by_formula(
    verdict: Verdict,
    data: Data,
    *,
    population: Laws | None = None,
    likelihoods: Likelihoods = NO_LIKELIHOODS,
) -> Recovered:
    """Estimate a query, and again without each part of the rows, by the estimand chosen first.

    What is known of the ``population`` is taken as exact. Variables of the target that have
    ``likelihoods`` become conditions: what was observed is as likely as these in their states.

    Raises
    ------
    NotRecoverableError
        The query is not recoverable, or no row shows what its estimand needs.
    """
    gathered = gather_rows(verdict.graph, data, columns_needed(verdict), JACKKNIFE_GROUPS)
    left_out = _left_out(verdict, gathered)
    estimation = _weighed(estimate(verdict, left_out.rows, population), likelihoods)
    chosen = replace(verdict, term=estimation.term, find_terms=None)
    again_of = []
    for rows in left_out.parts():
        try:
            again = estimate(chosen, rows, population)
            again_of.append(_weighed(again, likelihoods).table.reshape(-1))
        except NoRowsError:
            again_of.append(np.full(estimation.table.size, np.nan))
    whole = np.stack(again_of)
    known = np.nan_to_num(estimation.table.reshape(-1))
    replicates = np.where(np.isnan(whole), known, whole)
    shown = _rows_that_show(estimation, left_out.rows, likelihoods)
    return Recovered(estimation, replicates, left_out, shown)


def _weighed(estimation: Estimation, likelihoods: Likelihoods) -> Estimation:
    """The estimate given the likelihoods of states of variables of its target, without these."""
    if not likelihoods:
        return estimation
    table = estimation.table
    names = estimation.asked.names
    for name, likelihood in likelihoods.items():
        along = np.array(likelihood).reshape([-1 if v == name else 1 for v in names])
        table = np.where(along > 0, table * along, 0.0)  # what is ruled out need not be known
    table = table.sum(axis=tuple(map(names.index, likelihoods)))
    rest = tuple(range(len(estimation.given), table.ndim))
    return replace(estimation, table=quotient(table, table.sum(axis=rest, keepdims=True), np.nan))


def answer_to(
    verdict: Verdict, data: Data, level: float | None, population: object
) -> tuple[Answer, tuple[str, ...]]:
    """What `Verdict.estimate` gives, and its warnings: the estimate, with intervals of a level."""
    network = verdict.graph.network
    names = verdict.asked.names
    states = [MECHANISM_STATES if isinstance(x, Mechanism) else network.states(x) for x in names]
    basis = AnswerBasis(verdict.query, tuple(map(str, names)), tuple(states))
    if verdict.term is None:
        return _identified(verdict, data, level, population, basis)
    if level is None:
        estimation = verdict.estimate_with_report(data, population=population)
        return Answer(estimation.table, basis), estimation.warnings
    level = as_level(level)
    both = estimate_by_formula(verdict, data, population=verdict.population_laws(population))
    spread = both.spread
    ends = spread.interval(level), spread.standard_error
    basis = basis._replace(level=level, spread=lambda: ends)
    return Answer(both.estimation.table, basis), both.estimation.warnings


def _identified(
    verdict: Verdict,
    data: Data,
    level: float | None,
    population: object,
    basis: AnswerBasis,
) -> tuple[Answer, tuple[str, ...]]:
    """The one value that fits the data where no formula gives it; else NaN between its bounds."""
    ends = verdict.identified_set(data, population=population)
    if level is not None:
        level = as_level(level)
        spread = ends.interval(level), np.maximum(ends.low_error, ends.high_error)
        basis = basis._replace(level=level, spread=lambda: spread)
    if is_one_value(verdict, ends):
        return Answer(ends.low, basis), ()
    basis = basis._replace(
        bounds=Bounds(ends.low, ends.high),
        bounds_are_exact=not ends.is_outer,
        bounds_over="models of the missingness graph that fit the data",
    )
    words = f"{verdict.standing}; its bounds are the lowest and highest values that fit the data"
    return Answer(np.full(ends.low.shape, np.nan), basis), (words,)


def is_one_value(verdict: Verdict, ends: IdentifiedSet) -> bool:
    """Whether all models that fit the data best give one answer, and not by being at an edge."""
    return ends.width <= POINT and not (ends.is_narrow and verdict.generic is False)


def _rows_that_show(estimation: Estimation, rows: Rows, likelihoods: Likelihoods) -> FloatArray:
    """The rows that show a query, for each configuration of its conditions."""
    shape = estimation.given_share.shape
    if any(isinstance(name, Mechanism) for name in estimation.asked.names):
        return np.full(shape, float(estimation.rows_shown))
    shown = rows.is_shown(estimation.asked.variables)
    for name, likelihood in likelihoods.items():
        shown = shown & np.isin(rows.column(name), np.flatnonzero(likelihood))
    keys = pack_keys(
        [rows.column(name)[shown] for name in estimation.given], shape, int(shown.sum())
    )
    number = np.bincount(keys, rows.counts[shown], minlength=int(np.prod(shape, dtype=int)))
    return number.reshape(shape).astype(np.float64)


def _left_out(verdict: Verdict, gathered: GatheredRows) -> LeftOut:
    """One of the copies of each distinct row where these are few; else each part of the rows."""
    units, scales = gathered.units, gathered.scales
    if units is None and verdict.term is not None:
        rows = gathered.rows.numbered()
        number = len(rows.weights)
        cells = number * largest_table(verdict.term, verdict.graph.network)
        if number <= MOST_DISTINCT and cells <= MAX_REFILLED_CELLS:
            return _each_row_left_out(rows)

    what = "clusters"
    if units is None or units.clusters != len(scales):
        what = "groups of rows"
    words = f"leaving out each of {len(scales)} {what} in turn"
    if units is not None and units.factors is not None:
        words = f"{len(scales)} replicate weights"
    by_design = units is not None
    degrees = gathered.degrees
    return LeftOut(
        rows=gathered.whole,
        parts=gathered.parts,
        scales=scales,
        degrees=degrees,
        by_design=by_design,
        words=words,
    )


def _each_row_left_out(rows: Rows) -> LeftOut:
    """Of each distinct row one copy less; alike copies count once, as often as they are."""
    number = len(rows.weights)
    worth = quotient(rows.weights**2, rows.tally.squares)  # in effective rows
    weighty = np.flatnonzero(worth)
    samples = np.ones((len(weighty), number))
    samples[np.arange(len(weighty)), weighty] -= np.minimum(1 / worth[weighty], 1.0)
    total = float(worth.sum())
    return LeftOut(
        rows=rows.sampled(np.ones(number)),
        parts=partial(map, rows.sampled, samples),
        scales=worth[weighty] * (total - 1) / total,
        degrees=total - 1,
        by_design=False,
        words="leaving out each row in turn",
    )
