"""How sure every CPT is, whatever the method: the recipe that fits it.

| method | recipe | cost |
|---|---|---|
| listwise, direct-mcar | the counts themselves | nothing |
| direct-mar, informed-direct | influence of rows, from grouped counts | about one more fit |
| em | rate matrix, if it has converged and has few enough parameters | an EM step per parameter |
| every other | delete-a-group jackknife | as many fits as groups |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.estimate.em.uncertain import em_curvature, em_uncertainty
from lacunet.inference.engine import engine_of
from lacunet.inference.expectation.forecast import Forecast
from lacunet.inference.query import NOTHING
from lacunet.model.network import FloatArray, Network, Scope
from lacunet.progress import Progress, silent
from lacunet.statistics.count import count
from lacunet.statistics.counts import Tally, added_up
from lacunet.statistics.distinct import Index
from lacunet.statistics.groups import Groups, count_in_groups, group_rows
from lacunet.statistics.problems.compile import compile_problems
from lacunet.uncertainty.delta import Asked, Covariance, query_spread, scope_of
from lacunet.uncertainty.influence import direct_mar_spread, direct_mcar_spread
from lacunet.uncertainty.jackknife import GROUPS, Refit, jackknife
from lacunet.uncertainty.rate_matrix import Direction
from lacunet.uncertainty.row_influence import RowInfluence
from lacunet.uncertainty.spread import Spread, are_rows, rows_per_weight

COUNTED = ("listwise", "direct-mcar")
GROUPED = ("direct-mar", "informed-direct")
COUNTS = "counts"
INFLUENCE = "influence of rows"
RATE_MATRIX = "rate matrix of EM"
JACKKNIFE = "delete-a-group jackknife"
MOST_FREE = 3_000  # parameters whose rate matrix is worth inverting
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
        self, target: str | Sequence[str], evidence: Mapping[str, object] = NOTHING
    ) -> Spread:
        """How sure the answer to a query is."""
        asked = Asked.of(self.network, scope_of(target), evidence)
        rates_of = {name: spread.rates for name, spread in self.spread_of.items()}
        return query_spread(asked, self.covariance, rates_of, self.total)


def recipe_of(method: str, network: Network) -> str:
    """The recipe that fits a method; for EM that of parameters which have converged."""
    if method in COUNTED:
        return COUNTS
    if method in GROUPED:
        return INFLUENCE
    return RATE_MATRIX if method == "em" and _free(network) <= MOST_FREE else JACKKNIFE


def work_of(method: str, network: Network, step: Forecast | None) -> str:
    """What intervals will take beside the fit, before it is done; ``step`` is that of EM."""
    recipe = recipe_of(method, network)
    if recipe != RATE_MATRIX:
        costs = {COUNTS: "nothing", INFLUENCE: "about one fit", JACKKNIFE: f"{GROUPS} fits"}
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
    given_of: Mapping[str, Scope],
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
        Learns from other rows as this network was learned; for the jackknife.
    given_of
        For each variable, what rows were grouped by for its family; for methods that group.
    groups
        How many groups the jackknife leaves out in turn.
    """
    worth, recipe = rows_per_weight(table.weights), recipe_of(method, network)
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
        replicates = jackknife(network, table, refit, prior, groups, progress=progress)
        return Uncertainty(network, replicates.spreads(), recipe, replicates, total)
    if method == "listwise":
        table = table.take(table.is_shown(table.variables))
    given_of = given_of if recipe == INFLUENCE else {}
    spread_of = direct_spreads(network, table, given_of)
    return Uncertainty(network, spread_of, recipe, RowInfluence(table, given_of, prior), total)


def direct_spreads(
    network: Network, table: EncodedTable, given_of: Mapping[str, Scope]
) -> dict[str, Spread]:
    """The spread of every CPT by direct deletion, within groups where there are any."""
    counted = count(table, [network.family(name) for name in network.variables])
    weights = table.weights
    grouped: dict[Scope, tuple[Groups, Index, FloatArray | None]] = {}
    found = {}
    for name in network.variables:
        family, cpt = network.family(name), network.cpt(name).table
        hidden = tuple(one for one in family if table.missing_of[one])
        counts = replace(counted[family], tally=_as_rows(counted[family].tally, weights))
        if name not in given_of or not hidden:
            found[name] = direct_mcar_spread(counts, cpt)
            continue
        given = given_of[name]
        if given not in grouped:
            groups, group = group_rows(table, given)
            squares = None
            if weights is not None and not are_rows(weights):
                squares = added_up(group, weights**2, len(groups.weights))
            grouped[given] = groups, group, squares
        groups, group, squares = grouped[given]
        shown = count_in_groups(table, groups, group, hidden, whole=True)
        shown = replace(shown, tally=_as_rows(shown.tally, weights))
        found[name] = direct_mar_spread(shown, counts, cpt, squares)
    return found


def _as_rows(tally: Tally, weights: FloatArray | None) -> Tally:
    """The tally of as many rows as weights say, where they are whole."""
    return Tally(tally.weights, tally.weights, tally.weights) if are_rows(weights) else tally
