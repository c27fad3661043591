"""How sure every CPT is, whatever the method: the recipe that fits it.

| method | recipe | cost |
|---|---|---|
| listwise, direct-mcar | the counts themselves | nothing |
| direct-mar, informed-direct | influence of rows, from grouped counts | a few fits |
| em, auto | rate matrix, if EM has converged with few enough parameters | a step per parameter |
| every other | delete-a-group jackknife | as many fits as groups |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from math import prod

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.estimate.em.uncertain import em_curvature, em_uncertainty
from lacunet.inference.engine import engine_of
from lacunet.inference.expectation.forecast import Forecast
from lacunet.inference.joint import NOTHING
from lacunet.model.network import FloatArray, Network, Scope
from lacunet.progress import Progress, silent
from lacunet.statistics.count import count
from lacunet.statistics.counts import Tally
from lacunet.statistics.groups import group_rows
from lacunet.statistics.problems.compile import compile_problems
from lacunet.uncertainty.delta import Asked, Covariance, query_spread, scope_of
from lacunet.uncertainty.influence import direct_mar_spread, direct_mcar_spread
from lacunet.uncertainty.jackknife import GROUPS, Refit, jackknife
from lacunet.uncertainty.rate_matrix import Direction
from lacunet.uncertainty.row_influence import RowInfluence
from lacunet.uncertainty.spread import Spread, are_rows, rows_per_weight
from lacunet.uncertainty.steps import steps

COUNTED = ("listwise", "direct-mcar")
GROUPED = ("direct-mar", "informed-direct")
COUNTS = "counts"
INFLUENCE = "influence of rows"
RATE_MATRIX = "rate matrix of EM"
EM_OR_NOT = {"auto": "em"}  # what may end as EM
JACKKNIFE = "delete-a-group jackknife"
MOST_FREE = 3_000  # parameters whose rate matrix is worth inverting
MATRICES = 12  # of this size at once, by measurement
CONVERGED = 1e-3  # a rate matrix means nothing where one more step moves a parameter by more


@dataclass(frozen=True)
class Uncertainty:
    """How sure the CPTs of a learned network are.

    ``recipe`` is how it was found. ``covariance`` is how the entries of all CPTs vary
    together, for queries; ``total`` the rows that all weight is worth. ``unidentified`` are
    directions in which the data do not identify EM's parameters.
    """

    network: Network
    spread_of: Mapping[str, Spread]
    recipe: str
    covariance: Covariance
    total: float
    unidentified: tuple[Direction, ...] = ()

    @property
    def by_likelihood(self) -> bool:
        """Whether rows that show a part of a family are accounted for: the rate matrix does."""
        return self.recipe == RATE_MATRIX

    def interval(self, variable: str, level: float = 0.95) -> FloatArray:
        """The interval of every entry of a CPT: its axes, then low and high."""
        return self.spread_of[variable].interval(level)

    def standard_error(self, variable: str) -> FloatArray:
        """The standard error of every entry of a CPT."""
        return self.spread_of[variable].standard_error

    def effective_size(self, variable: str) -> FloatArray:
        """The effective size of every row of a CPT."""
        return self.spread_of[variable].row_sizes

    def query(
        self,
        target: str | Sequence[str],
        evidence: Mapping[str, object] = NOTHING,
        do: Mapping[str, object] = NOTHING,
    ) -> Spread:
        """How sure the answer to a query is."""
        asked = Asked.of(self.network, scope_of(target), evidence, do)
        rates_of = {name: spread.rates for name, spread in self.spread_of.items()}
        return query_spread(asked, self.covariance, rates_of, self.total)


def recipe_of(method: str, network: Network, memory: float) -> str:
    """The recipe that fits a method and the memory; for EM where parameters have converged."""
    if method in COUNTED:
        return COUNTS
    if method in GROUPED:
        return INFLUENCE
    free = _free(network)
    fits = free <= MOST_FREE and MATRICES * 8 * free**2 <= memory
    return RATE_MATRIX if method == "em" and fits else JACKKNIFE


def work_of(method: str, network: Network, step: Forecast | None, memory: float) -> str:
    """What intervals will take beside the fit, before it is done; ``step`` is that of EM."""
    recipe = recipe_of(EM_OR_NOT.get(method, method), network, memory)
    if recipe != RATE_MATRIX:
        costs = {COUNTS: "nothing", INFLUENCE: "a few fits", JACKKNIFE: f"{GROUPS} fits"}
        return f"intervals by {recipe} will take {costs[recipe]} more"
    steps = 2 * _free(network)  # there and back for each
    time = "" if step is None else f", {steps * step.seconds:,.2g} s"
    return (
        f"intervals by {recipe} will take at most {steps:,} EM steps more{time}; "
        f"{GROUPS} fits if EM is stopped before it converges"
    )


def _free(network: Network) -> int:
    """The number of free parameters."""
    shapes = [network.shape(network.family(name)) for name in network.variables]
    return sum(prod(shape) - prod(shape[:-1]) for shape in shapes)


def uncertainty_of(
    method: str,
    network: Network,
    table: EncodedTable,
    prior: float,
    refit: Refit,
    scopes_of: Mapping[str, tuple[Scope, ...]],
    *,
    memory: float,
    groups: int = GROUPS,
    progress: Progress = silent,
) -> Uncertainty:
    """How sure the CPTs are, by the recipe that fits the method.

    Parameters
    ----------
    method
        The name of the method that the network was learned with.
    network
        What was learned.
    table
        The rows it was learned from.
    refit
        Learns from other rows as this network was learned, but settles rows whose groups do
        not tell; for the jackknife.
    scopes_of
        For each variable, what rows are grouped by for its family, step by step; for methods
        that group.
    groups
        How many groups the jackknife leaves out in turn.
    """
    worth, recipe = rows_per_weight(table.weights), recipe_of(method, network, memory)
    total = table.total * worth
    if recipe == RATE_MATRIX:
        engine = engine_of(compile_problems(network.with_tables(None), table), memory)
        cells = engine.problems.layout.flat(dict(network.tables_of or {}))
        curvature = em_curvature(engine, cells, prior)
        if np.abs(curvature.step(cells) - cells).max() < CONVERGED:
            em = em_uncertainty(engine, cells, prior, progress).worth(worth)
            return Uncertainty(network, em.spread_of, recipe, em, total, em.unidentified)
        recipe = JACKKNIFE
    if recipe == JACKKNIFE:
        fell_back = any(len(scopes) > 1 for scopes in scopes_of.values())
        centre = refit(table) if fell_back else network
        replicates = jackknife(centre, table, refit, prior, groups, progress=progress)
        spread_of = {
            name: replace(spread, table=network.cpt(name).table)
            for name, spread in replicates.spreads().items()
        }
        return Uncertainty(network, spread_of, recipe, replicates, total)
    if method == "listwise":
        table = table.take(table.is_shown(table.variables))
    scopes_of = scopes_of if recipe == INFLUENCE else {}
    spread_of = direct_spreads(network, table, scopes_of)
    return Uncertainty(network, spread_of, recipe, RowInfluence(table, scopes_of, prior), total)


def direct_spreads(
    network: Network, table: EncodedTable, scopes_of: Mapping[str, tuple[Scope, ...]]
) -> dict[str, Spread]:
    """The spread of every CPT by direct deletion, within groups where there are any."""
    hidden_of = {
        name: tuple(one for one in network.family(name) if table.missing_of[one])
        for name in network.variables
    }
    plain = [v for v in network.variables if v not in scopes_of or not hidden_of[v]]
    counted = count(table, [network.family(name) for name in plain])
    grouped = cache(partial(group_rows, table))
    found = {}
    for name in network.variables:
        family, cpt = network.family(name), network.cpt(name).table
        if family not in counted:
            settled = steps(table, hidden_of[name], scopes_of[name], grouped)
            found[name] = direct_mar_spread(settled, family, cpt.shape, cpt)
            continue
        counts = counted[family]
        if are_rows(table.weights):
            weights = counts.tally.weights
            counts = replace(counts, tally=Tally(weights, weights, weights))
        found[name] = direct_mcar_spread(counts, cpt)
    return found
