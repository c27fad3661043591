r"""The identified set of a query: its lowest and highest value over all models that look the same.

.. math::
    \min_w / \max_w \; q(w) \quad \text{such that} \quad m(w) = \hat m, \; w \ge 0

where w are the weights of all models of the graph (`response_function_models`) and :math:`\hat m`
is the manifest law of highest likelihood. Starting from models that EM finds, the set is followed
by a sequence of linear programs: around a model both the query and the manifest law are replaced
by their tangents, the program is solved within a region that is trusted, the result is brought
back onto the manifest law, and kept if it gains. Every end of a set is thus the answer of a model
that looks the same; that no other goes further is proved only where everything is linear,
elsewhere several starts stand for it.

*Sampling error.* At an end the multipliers of :math:`m(w) = \hat m` say how the end moves with the
manifest law, which has the covariance of maximum likelihood,
:math:`J (J^\top \mathrm{diag}(\hat m)^{-1} J)^{+} J^\top / n`, or with the clusters or replicate
weights of a survey what the same projection makes of the covariance of shares. An interval that
covers the parameter, not the set, is that of G. Imbens and C. F. Manski, "Confidence intervals for
partially identified parameters", 2004.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from lacunet.counts.counts import added_up, quotient
from lacunet.counts.distinct import pack_keys
from lacunet.counts.distinct_rows import Rows
from lacunet.missingness.errors import NotRecoverableError, TooLargeEstimandError
from lacunet.missingness.identified.generic import near
from lacunet.missingness.identified.lifted import response_function_models
from lacunet.missingness.identified.set_intervals import covering
from lacunet.missingness.refute.grid import Grid
from lacunet.missingness.refute.models import Models
from lacunet.missingness.refute.ordered_query import Asked
from lacunet.missingness.separation.drawing import Drawing
from lacunet.network.named_axes import Table
from lacunet.network.network import FloatArray, Scope
from lacunet.network.nodes import node_text, quoted
from lacunet.text import counted, interval_in_words
from lacunet.text_tables import Displayed, TextTable

STARTS_OF_FIT = 3
FIRST_STEPS = 200  # of EM, from each start
EM_STEPS = 5000  # from there on, where no model has the law of the rows
SETTLED = 1e-14  # relative change of the log-likelihood by a step
RESTORING_STEPS = 40
ZERO_WEIGHT = 1e-9  # a weight below stays at its bound
SAME_LAW = 1e-9  # manifest laws as close as this are the same
PROGRAMS = 60  # at most, for one end from one start
SMALLEST_REGION = 1e-9  # the smallest region trusted
LARGEST_REGION = 4.0  # and the largest
POINT = 1e-6  # a set that is not wider is a point
ENOUGH = 1e-10  # a promised gain that is not worth a step
WORTH_A_STEP = 0.1  # of the promised gain: with less the region is made smaller
AS_PROMISED = 0.7  # with more it is made larger
SMALLEST_UNIT = 1e-300  # of a step, so that none is zero
KEPT_SHARE = 0.1  # of a weight, by a step that is measured as a share of it
NO_LAWS: Mapping[Scope, Table] = {}
NARROW = (
    "narrower than its sampling error: the models that fit best are at or near an edge of what the "
    "graph allows, such as a state that is always recorded, and other rows would give another "
    "range; go by the interval"
)


@dataclass(frozen=True, repr=False)
class IdentifiedSet(Displayed):
    """The lowest and highest value of every cell of a query, axes do..., given..., target...."""

    asked: Asked
    low: FloatArray
    high: FloatArray
    low_error: FloatArray  # standard errors of these ends
    high_error: FloatArray
    is_outer: bool  # the set may be too wide: where not all pairs of a district are joined
    used: Scope  # the variables whose values it rests on
    degrees: float = np.inf  # of freedom, of the standard errors
    states: tuple[tuple[str, ...], ...] = ()  # of each axis

    def interval(self, level: float = 0.95) -> FloatArray:
        """Intervals that cover the parameter (not all of the set): axes, then low and high."""
        errors = self.low_error, self.high_error
        return covering(self.low, self.high, *errors, level, self.degrees)

    @property
    def width(self) -> float:
        """The largest distance between the ends of a cell."""
        return float((self.high - self.low).max())

    @property
    def is_narrow(self) -> bool:
        """Whether even the widest cell is narrower than the standard error of its ends.

        Of what is not identified this means that the models that fit best are at or near an edge.
        """
        cell = self.widest
        errors = self.low_error[cell], self.high_error[cell]
        return bool(self.high[cell] - self.low[cell] < max(errors))

    @property
    def widest(self) -> tuple[int, ...]:
        """The place of the cell whose ends are farthest apart."""
        cell = np.unravel_index(int((self.high - self.low).round(6).argmax()), self.low.shape)
        return tuple(map(int, cell))

    def __repr__(self) -> str:
        return f"<IdentifiedSet of {self.asked}: {counted(self.low.size, 'cell')}>"

    def _parts(self) -> Iterator[object]:
        """A line for each cell: its states, both ends, and the interval of the parameter."""
        what = "lowest and highest values that fit the data"
        ends = ["lowest", "highest"]
        values = [self.low, self.high]
        if self.width < POINT:
            what = "one value fits the data"
            ends = ["P"]
            values = [self.low]
        intervals = self.interval()
        rows = [
            [
                *(states[index] for states, index in zip(self.states, cell, strict=True)),
                *(f"{abs(value[cell]):.4f}" for value in values),
                "[{:.4f}, {:.4f}]".format(*intervals[cell]),
            ]
            for cell in np.ndindex(self.low.shape)
        ]
        names = [*map(node_text, self.asked.names)]
        header = [*names, *ends, interval_in_words(0.95)]
        yield f"{self.asked}: {what}"
        yield TextTable(header, rows, left=len(names))


def lifted_near(graph: Drawing, asked: Asked, known: tuple[Scope, ...] = ()) -> Models:
    """All models of a graph, or of its part near a query where the whole is too large.

    ``known`` are sets of variables whose law in the population is known from elsewhere.

    Raises
    ------
    TooLargeEstimandError
        There are too many configurations.
    NotRecoverableError
        The query is about a latent variable.
    """
    if latent := [name for name in asked.variables if name in graph.latent]:
        raise NotRecoverableError(
            f"nothing bounds what is asked about {quoted(latent[0])}: it is latent, and other "
            "states of it fit the data as well.",
            "ask about variables that rows show.",
        )
    sizes = graph.network.cardinality_of
    try:
        return response_function_models(graph.mixed, sizes, known)
    except TooLargeEstimandError:
        return response_function_models(near(graph.mixed, asked, known), sizes, known)


@dataclass(frozen=True, eq=False)
class BestModels:
    """The models that fit rows best."""

    model: Models
    counts: FloatArray
    # What they say of what can be observed, followed by the laws of the population that are known
    # from elsewhere, if there are any.
    law: FloatArray
    best: FloatArray  # one of them
    starts: list[FloatArray]  # others near by
    scale: float  # makes the covariance of independent rows from that of one
    scope: Scope
    covariance: FloatArray | None = None  # of the shares of rows that are not independent

    @property
    def log_likelihood(self) -> float:
        """The highest log-likelihood of the rows."""
        return _log_likelihood(self.counts, self.law)

    def answer(self, asked: Asked) -> FloatArray:
        """What the best model says of a query, axes as the query's."""
        return self.model.query(self.best, asked).reshape(self.model.grid.shape(asked.names))


def best_fit(
    model: Models,
    rows: Rows,
    population: Mapping[Scope, Table] = NO_LAWS,
    parts: Iterable[Rows] = (),
    scales: FloatArray | None = None,
) -> BestModels:
    """The models of a graph that fit best the rows over its variables.

    They have the laws of the population that the models know of. ``parts`` of the rows, whose
    squared differences count ``scales`` times, give a survey's covariance of shares.
    """
    counts = manifest_counts(model.grid, rows)
    known = [population[names].aligned(names).ravel() for names in model.grid.submodel.known]
    law = np.concatenate([counts / counts.sum(), *known])  # no law fits better
    randoms = [_random(model, seed) for seed in range(STARTS_OF_FIT)]
    starts = [fit_by_em(model, counts, weights, FIRST_STEPS, known) for weights in randoms]
    exact = (_restored(model, weights, law) for weights in starts)
    best = next((weights for weights in exact if weights is not None), None)
    if best is None:  # no model has this law: the one that comes nearest in likelihood
        starts = [fit_by_em(model, counts, weights, EM_STEPS, known) for weights in starts]
        best = max(starts, key=lambda weights: _log_likelihood(counts, model.manifest(weights)))
        law = np.concatenate([model.manifest(best)[: len(counts)], *known])
    scale = float(rows.tally.squares.sum()) / float(counts.sum()) ** 2
    covariance = None
    if scales is not None and len(scales):
        counts_of_parts = [manifest_counts(model.grid, part) for part in parts]
        covariance = _covariance_of_shares(counts, counts_of_parts, scales)
    return BestModels(
        model=model,
        counts=counts,
        law=law,
        best=best,
        starts=starts,
        scale=scale,
        scope=rows.scope,
        covariance=covariance,
    )


def _covariance_of_shares(
    counts: FloatArray, counts_of_parts: Sequence[FloatArray], scales: FloatArray
) -> FloatArray:
    r""":math:`\sum_k c_k (p_k - p)(p_k - p)^\top`, where p are shares, and :math:`p_k` a part's."""
    every = np.stack([counts, *counts_of_parts])
    shares = every / every.sum(axis=1, keepdims=True)
    deviations = shares[1:] - shares[0]
    return np.asarray(deviations.T @ (scales[:, None] * deviations))


def freedom(model: Models) -> int:
    """The number of dimensions of the manifest laws: the rank of their tangents, at random."""
    weights = _random(model, 0)
    slopes = model.manifest_slopes(weights) @ _within_groups(model, weights)
    return int(np.linalg.matrix_rank(slopes, tol=1e-9 * float(np.abs(slopes).max())))


def ends_of(fit: BestModels, asked: Asked) -> IdentifiedSet:
    """Both ends of the identified set of every cell of a query, axes as the query's."""
    model = fit.model
    restored = [_restored(model, weights, fit.law) for weights in fit.starts]
    starts = [start for start in restored if start is not None]
    if not starts:
        raise NotRecoverableError(
            "no model of the graph was found that fits the data and has the law of the population.",
            "check that both are about the same people, and what decides on R[*].",
        )
    shape = model.grid.shape(asked.names)
    states = prod(model.grid.shape(asked.target))
    covariance = _covariance(fit)
    low, high, low_error, high_error = np.zeros((4, prod(shape)))
    for cell in range(prod(shape)):
        if states == 2 and cell % 2:  # what the first state does not have, the second has
            low[cell] = 1 - high[cell - 1]
            high[cell] = 1 - low[cell - 1]
            low_error[cell] = high_error[cell - 1]
            high_error[cell] = low_error[cell - 1]
            continue
        for sign, end, error in ((-1.0, low, low_error), (1.0, high, high_error)):
            end[cell], slope = _furthest_end(fit, asked, starts, cell, sign)
            error[cell] = np.sqrt(max(float(slope @ covariance @ slope), 0.0))
    return IdentifiedSet(
        asked=asked,
        low=low.reshape(shape),
        high=high.reshape(shape),
        low_error=low_error.reshape(shape),
        high_error=high_error.reshape(shape),
        is_outer=model.is_outer,
        used=fit.scope,
    )


def _furthest_end(
    fit: BestModels, asked: Asked, starts: Sequence[FloatArray], cell: int, sign: float
) -> tuple[float, FloatArray]:
    """The highest (sign 1) or lowest value of a cell that a start leads to, and its slope."""
    value = -sign * np.inf
    slope = np.zeros_like(fit.law)
    for start in starts:
        reached, slope_there = _end(fit, asked, start, cell, sign)
        if sign * reached > sign * value:
            value = reached
            slope = slope_there
        if sign * value > max(sign, 0.0) - SMALLEST_REGION:  # no probability goes further
            break
    return value, slope


def manifest_counts(grid: Grid, rows: Rows) -> FloatArray:
    """The weight of the rows that look like each number of the manifest law."""
    # A cell that is one of several states counts as missing.
    codes = [np.minimum(rows.column(name), rows.size(name)) for name in grid.codes_of]
    sizes = [int(values.max()) + 1 for values in grid.codes_of.values()]
    numbers = pack_keys(codes, sizes, len(rows.weights))  # the grid has all, in this order
    return added_up(numbers, rows.weights, grid.cells)


def _random(model: Models, seed: int) -> FloatArray:
    weights = np.random.default_rng(seed).uniform(0.2, 1.0, model.size)
    return model.normalised(np.where(model.zeros, 0.0, weights))


def fit_by_em(
    model: Models,
    counts: FloatArray,
    start: FloatArray,
    steps: int,
    known: Sequence[FloatArray] = (),
) -> FloatArray:
    """The weights that EM reaches from a start: of highest likelihood, if all goes well.

    Laws that are known of the population count as much as the rows.
    """
    weights = start
    before = -np.inf
    grid = model.grid
    for _ in range(steps):
        factors = model.factors(weights)
        joint = np.prod(factors, axis=0)
        law = grid.law(joint)
        recorded = float(law.sum())
        fit = _log_likelihood(counts, law / recorded)
        ratio = quotient(counts, law)
        # Rows that were not recorded are expected to be so many more.
        expected = joint * np.append(ratio, counts.sum() / recorded)[grid.manifest]
        for (groups, cells), shares in zip(model.known, known, strict=True):
            mass = added_up(groups, joint, cells)
            fit += float(counts.sum()) * _log_likelihood(shares, mass)
            expected += joint * quotient(counts.sum() * shares, mass)[groups]
        parts = [
            part * block.gathered(quotient(expected, f))
            for part, block, f in zip(model.parts(weights), model.blocks, factors, strict=True)
        ]
        weights = model.normalised(np.concatenate(parts), weights)
        if fit - before <= SETTLED * abs(fit):
            break
        before = fit
    return weights


def _log_likelihood(counts: FloatArray, law: FloatArray) -> float:
    seen = np.flatnonzero(counts)  # the law may be followed by those of the population
    return float((counts[seen] * np.log(law[seen])).sum())


def _covariance(fit: BestModels) -> FloatArray:
    """The covariance of the manifest law estimated by maximum likelihood.

    That projects the shares of the rows, each divided by the root of its law, on the tangents.
    What is known of the population does not vary.
    """
    model, law = fit.model, fit.law
    seen = np.flatnonzero(law[: model.grid.cells])
    inside = _within_groups(model, fit.best)
    root = np.sqrt(law[seen])[:, None]
    slopes = (model.manifest_slopes(fit.best) @ inside)[seen] / root
    left, sizes, _ = np.linalg.svd(slopes, full_matrices=False)
    basis = left[:, sizes > 1e-8 * sizes[0]]
    middle = np.eye(basis.shape[1]) * fit.scale
    if fit.covariance is not None:
        middle = basis.T @ (fit.covariance[np.ix_(seen, seen)] / root / root.T) @ basis
    whole = np.zeros((len(law), len(law)))
    whole[np.ix_(seen, seen)] = (basis * root) @ middle @ (basis * root).T
    return whole


def _within_groups(model: Models, weights: FloatArray) -> FloatArray:
    """Directions in which the weights of every group keep adding up to one.

    And in which the laws that are known of the population stay as they are.
    """
    from scipy.linalg import null_space

    free = weights > ZERO_WEIGHT
    known = model.manifest_slopes(weights)[model.grid.cells :]
    basis = null_space(np.concatenate([model.group_sums, known])[:, free])
    inside = np.zeros((model.size, basis.shape[1]))
    inside[free] = basis
    return inside


def _restored(model: Models, weights: FloatArray, law: FloatArray) -> FloatArray | None:
    """Weights near by whose manifest law is the one wanted, by Gauss-Newton; None if they fail."""
    before = np.inf
    for _ in range(RESTORING_STEPS):
        gap = law - model.manifest(weights)
        size = float(np.abs(gap).max())
        if size < SAME_LAW / 1000:
            return weights
        if size > 0.9 * before:
            return weights if size < SAME_LAW / 10 else None
        before = size
        slopes = np.concatenate([model.manifest_slopes(weights), model.group_sums]) * weights
        sides = np.concatenate([gap, np.zeros(model.group_sums.shape[0])])
        change = np.linalg.lstsq(slopes, sides, rcond=1e-10)[0]  # as a share of each weight
        weights = model.normalised(np.maximum(weights + weights * change, 0.0))
    return None


def _end(
    fit: BestModels, asked: Asked, start: FloatArray, cell: int, sign: float
) -> tuple[float, FloatArray]:
    """The highest (sign 1) or lowest value of a cell, and its slope by the manifest law.

    The models with that law are followed from one of them. Where rows are a selection, ends lie
    where hardly anybody is recorded: there the weights are tiny, and only their ratios matter. So
    steps are measured as shares of the weights.

    The slope is that of the widest region around where it ends: in a narrow one the region's own
    bounds take the place of the law.
    """
    model = fit.model

    def value_of(weights: FloatArray) -> float:
        return float(model.query(weights, asked)[cell])

    now = start
    value = value_of(now)
    slope = np.zeros_like(fit.law)
    trusted = 1.0
    has_moved = True
    for _ in range(PROGRAMS):
        aim = sign * model.query_slopes(now, asked)[cell]
        unit = np.maximum(now, SMALLEST_UNIT) if model.grid.is_selected else np.ones_like(now)
        change, multipliers = _program(model, now, aim, unit, trusted)
        if has_moved:
            slope = sign * multipliers
        promised = float(aim @ (unit * change))
        if promised < ENOUGH or trusted < SMALLEST_REGION:
            break
        trial = _restored(model, np.clip(now + unit * change, 0.0, 1.0), fit.law)
        gained = -1.0 if trial is None else sign * (value_of(trial) - value)
        has_moved = gained > WORTH_A_STEP * promised
        if trial is not None and has_moved:
            now = trial
            value = value_of(trial)
            if gained > AS_PROMISED * promised:
                trusted = min(2 * trusted, LARGEST_REGION)
        else:
            trusted = min(trusted, float(np.abs(change).max())) / 4
    return value, slope


def _program(
    model: Models, now: FloatArray, aim: FloatArray, unit: FloatArray, trusted: float
) -> tuple[FloatArray, FloatArray]:
    """The best step by tangents that keeps the manifest law, and the law's multipliers.

    Steps are in units of their own for each weight. Shares of weights leave some of each: from
    zero there is no way back.
    """
    from scipy.optimize import linprog

    slopes = model.manifest_slopes(now)
    kept = KEPT_SHARE if model.grid.is_selected else 0.0
    lowest = np.maximum((kept - 1) * now / unit, -trusted)
    highest = np.minimum((1 - now) / unit, trusted)
    equal = np.concatenate([slopes, model.group_sums]) * unit
    solution = linprog(
        -aim * unit,
        A_eq=equal,
        b_eq=np.zeros(len(equal)),
        bounds=[*zip(lowest, highest, strict=True)],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if solution.x is None:
        return np.zeros_like(now), np.zeros(len(slopes))
    return solution.x, -solution.eqlin.marginals[: len(slopes)]
