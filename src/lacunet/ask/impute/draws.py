r"""Networks drawn from what is known about the parameters, given the data.

Completions drawn with fixed CPTs differ too little from each other: they know nothing of how
unsure the CPTs themselves are, and intervals pooled over them are too short. So each completed
table has parameters of its own, drawn from their approximate posterior:

- *rate matrix of EM*: normal in the log-ratios :math:`\log \theta_x / \theta_0` of every CPT row,
  all rows together, with the covariance of the rate matrix carried over to them;
- *replicates* of the jackknife: the same, with :math:`\sum_g z_g \sqrt{c} (\eta_g - \bar\eta)`,
  standard normal :math:`z_g` and the factor :math:`c` of the variance;
- *influence of rows*: the same, each row moving the CPTs by a standard normal number of copies;
- *posterior with experts*: as the rate matrix, the prior's part in it; of complete rows the
  Dirichlet distribution that it is;
- *counts*, and whatever else gives effective sizes: a Dirichlet distribution for each CPT row, of
  so many rows and the prior.

In log-ratios draws stay within 0 and 1, and an entry near 0 or 1 has a skew posterior, as it
should. But they say nothing of entries that are zero, and of the one row that speaks for an entry a
jackknife makes far too much. Such CPT rows are drawn by their effective sizes, too. Entries that a
rule excludes stay zero. A CPT row about which nothing is known is drawn from the prior.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.counts import quotient
from lacunet.learning.closed_forms.influence import RowInfluence
from lacunet.learning.interval_recipes import Uncertainty
from lacunet.learning.pseudo_counts import PseudoCounts, UsedPseudoCounts, per_cell
from lacunet.learning.result import Result, uncertainty_of
from lacunet.learning.uncertainty.delta import JEFFREYS_PSEUDO_COUNT
from lacunet.learning.uncertainty.jackknife import Replicates
from lacunet.learning.uncertainty.posterior import DirichletPosterior, EmPosterior
from lacunet.learning.uncertainty.rate_matrix import EmSpreads
from lacunet.network.cpt import Cpt
from lacunet.network.network import FloatArray, Network, Tables

FEW_BEHIND = 5.0  # rows of an entry; fewer, and those left out of a replicate differ too much


def parameter_draws(result: Result, number: int, rng: np.random.Generator) -> list[Network]:
    """Networks with parameters drawn given the data, mechanisms included.

    Parameters
    ----------
    result
        Learned with intervals.
    """
    uncertainty = uncertainty_of(result)
    return [
        _as_learned(result, tables)
        for tables in _drawn(uncertainty, result.pseudo_counts, number, rng)
    ]


def _as_learned(result: Result, tables: Tables) -> Network:
    """The learned network, its mechanisms too, with other parameters.

    Mechanisms that were counted beside EM stay as they are.
    """
    network = result.network
    drawn = network.with_tables({name: tables[name] for name in network.variables})
    mechanisms = network.mechanisms
    if mechanisms is not None:
        cpt_of = {
            variable: Cpt(cpt.child, cpt.parents, tables.get(cpt.child, cpt.table), cpt.states)
            for variable, cpt in mechanisms.cpt_of.items()
        }
        drawn = drawn.with_mechanisms(replace(mechanisms, cpt_of=cpt_of))
    return drawn.with_support(network.support)


def _drawn(
    uncertainty: Uncertainty, pseudo_counts: UsedPseudoCounts, number: int, rng: np.random.Generator
) -> list[Tables]:
    """The draws; those of CPT rows with few rows for an entry are by effective sizes."""
    covariance = uncertainty.covariance
    if isinstance(covariance, DirichletPosterior | EmPosterior):
        return by_posterior(uncertainty, covariance, number, rng)
    if isinstance(covariance, EmSpreads):
        draws = by_covariance(uncertainty.network, covariance, number, rng)
        few = JEFFREYS_PSEUDO_COUNT
    elif isinstance(covariance, Replicates):
        draws = by_replicates(uncertainty.network, covariance, number, rng)
        few = FEW_BEHIND
    elif isinstance(covariance, RowInfluence):
        draws = by_influence(uncertainty.network, covariance, number, rng)
        few = JEFFREYS_PSEUDO_COUNT
    else:
        return by_sizes(uncertainty, pseudo_counts, number, rng)
    thin_of = {name: _are_thin(uncertainty, name, few) for name in uncertainty.spread_of}
    thin_of = {name: are_thin for name, are_thin in thin_of.items() if are_thin.any()}
    if not thin_of:
        return draws
    by_size = by_sizes(uncertainty, pseudo_counts, number, rng)
    return [
        {
            **tables,
            **{name: np.where(thin, sized[name], tables[name]) for name, thin in thin_of.items()},
        }
        for tables, sized in zip(draws, by_size, strict=True)
    ]


def _are_thin(uncertainty: Uncertainty, name: str, few: float) -> NDArray[np.bool_]:
    """Which rows of a CPT have fewer rows for an entry, on an axis of length one for the child."""
    spread = uncertainty.spread_of[name]
    possible = uncertainty.network.possible(name)
    if name in uncertainty.network.shaped_of:  # its rows are known from one another
        return np.zeros((*spread.table.shape[:-1], 1), dtype=bool)
    is_sure = np.isinf(spread.sizes)
    lacks = ~is_sure & (spread.rates * np.where(is_sure, 0.0, spread.sizes) < few)
    return np.asarray((lacks & possible).any(axis=-1, keepdims=True))


def by_posterior(
    uncertainty: Uncertainty,
    posterior: DirichletPosterior | EmPosterior,
    number: int,
    rng: np.random.Generator,
) -> list[Tables]:
    """Draws of the posterior that has experts as its prior.

    CPT rows with few rows for an entry, experts' included, are drawn from a Dirichlet distribution.
    """
    network = uncertainty.network
    joint: list[Tables] = [{} for _ in range(number)]
    if isinstance(posterior, EmPosterior):
        joint = by_covariance(network, posterior, number, rng)
    draws: list[dict[str, FloatArray]] = [{} for _ in range(number)]
    for name, spread in uncertainty.spread_of.items():
        sizes = spread.sizes.min(axis=-1, keepdims=True)
        weights = spread.table * np.where(np.isinf(sizes), 1.0, sizes)
        is_single = (spread.table > 0).sum(axis=-1, keepdims=True) <= 1
        thin = (np.where(spread.table > 0, weights, np.inf) < FEW_BEHIND).any(
            axis=-1, keepdims=True
        )
        gammas = rng.standard_gamma(np.broadcast_to(weights, (number, *weights.shape)))
        for drawn, correlated, gamma in zip(draws, joint, gammas, strict=True):
            total = gamma.sum(axis=-1, keepdims=True)
            is_drawn = (total > 0) & ~is_single
            alone = np.divide(gamma, total, out=spread.table.copy(), where=is_drawn)
            drawn[name] = np.where(thin, alone, correlated.get(name, alone))
    return list(draws)


def by_covariance(
    network: Network, em: EmSpreads | EmPosterior, number: int, rng: np.random.Generator
) -> list[Tables]:
    """Draws with the covariance of EM's free parameters."""
    from scipy.special import softmax

    free = em.free
    cells = em.layout.flat(dict(network.tables_of or {}))
    theta, reference = cells[free.cell], cells[free.reference]
    # d log(theta_x / theta_0) = d theta_x / theta_x + (sum of the row's d theta) / theta_0
    number_of_cells = len(theta)
    slopes = np.eye(free.number)  # parameters of shapes are drawn as they are
    slopes[:number_of_cells, :number_of_cells] = (
        np.diag(1 / theta) + (free.row[:, None] == free.row) / reference[:, None]
    )
    spread = slopes @ em.covariance @ slopes.T
    values, vectors = np.linalg.eigh((spread + spread.T) / 2)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    draws: list[Tables] = []
    for step in rng.standard_normal((number, free.number)) @ root.T:
        logs = np.full(len(cells), -np.inf)
        np.log(cells, out=logs, where=cells > 0)
        logs[free.cell] += step[:number_of_cells]
        for shape, part in zip(free.shapes, free.parts, strict=True):
            shaped = em.layout.network.shaped_of[shape.variable]
            parameters = shaped.parameters(cells[shape.cells].reshape(shaped.shape))
            parameters[shape.is_free] += step[part]
            with np.errstate(divide="ignore"):
                logs[shape.cells] = np.log(np.ravel(shaped.table(shaped.within(parameters))))
        draws.append({name: softmax(log, axis=-1) for name, log in em.layout.tables(logs).items()})
    return draws


def by_replicates(
    network: Network, replicates: Replicates, number: int, rng: np.random.Generator
) -> list[Tables]:
    """Draws with the covariance of refits on parts of the rows."""
    from scipy.special import softmax

    steps = rng.standard_normal((number, len(replicates.networks))) * np.sqrt(replicates.scales)
    draws: list[dict[str, FloatArray]] = [{} for _ in range(number)]
    for cpt in network.cpts:
        tables = np.stack([refit.cpt(cpt.child).table for refit in replicates.networks])
        if cpt.child in network.shaped_of:
            shaped = network.shaped_of[cpt.child]
            parameters = np.stack([shaped.parameters(table) for table in tables])
            moves = steps @ (parameters - parameters.mean(axis=0))
            around = shaped.parameters(cpt.table)
            for drawn, move in zip(draws, moves, strict=True):
                drawn[cpt.child] = shaped.table(shaped.within(around + move))
            continue
        is_free = (tables > 0).all(axis=0) & (cpt.table > 0)
        logs = np.log(np.where(is_free, tables, 1.0))
        apart = np.where(is_free, logs - logs.mean(axis=0), 0.0)
        centre = np.full(cpt.table.shape, -np.inf)
        np.log(cpt.table, out=centre, where=cpt.table > 0)
        for drawn, step in zip(draws, steps, strict=True):
            drawn[cpt.child] = softmax(centre + np.tensordot(step, apart, axes=1), axis=-1)
    return list(draws)


def by_influence(
    network: Network, influence: RowInfluence, number: int, rng: np.random.Generator
) -> list[Tables]:
    """Draws with the covariance that the influence of rows gives."""
    from scipy.special import softmax

    draws: list[dict[str, FloatArray]] = [{} for _ in range(number)]
    for name, steps in influence.steps(number, rng):
        table = network.cpt(name).table
        logs = np.full(table.shape, -np.inf)
        np.log(table, out=logs, where=table > 0)
        for drawn, step in zip(draws, steps, strict=True):
            drawn[name] = softmax(logs + quotient(step, table), axis=-1)  # d log p = d p / p
    return list(draws)


def by_sizes(
    uncertainty: Uncertainty, pseudo_counts: UsedPseudoCounts, number: int, rng: np.random.Generator
) -> list[Tables]:
    """Draws of each CPT row by itself, from a Dirichlet distribution of its effective size.

    Pseudo-counts that were given are what the posterior's mode adds, so its Dirichlet distribution
    has one more; Jeffreys' half where nothing is added, as to what rows of a survey show. Learned
    pseudo-counts give the posterior's mean.
    """
    draws: list[dict[str, FloatArray]] = [{} for _ in range(number)]
    for name, spread in uncertainty.spread_of.items():
        sizes = np.where(np.isinf(spread.row_sizes), 0.0, spread.row_sizes)
        if isinstance(pseudo_counts, PseudoCounts) and not pseudo_counts.is_given:
            learned = pseudo_counts.get(name, np.asarray(JEFFREYS_PSEUDO_COUNT))
            pseudo = np.where(learned > 0, learned, JEFFREYS_PSEUDO_COUNT)
        else:
            given = per_cell(pseudo_counts, name)
            pseudo = np.where(given > 0, 1.0 + given, JEFFREYS_PSEUDO_COUNT)
        weights = spread.rates * sizes[..., None] + pseudo
        weights = np.where(uncertainty.network.possible(name), weights, 0.0)
        gammas = rng.standard_gamma(np.broadcast_to(weights, (number, *weights.shape)))
        for drawn, gamma in zip(draws, gammas, strict=True):
            drawn[name] = gamma / gamma.sum(axis=-1, keepdims=True)
    return list(draws)
