"""How sure every CPT is, whatever the method: functions of what was counted and learned.

| recipe | for | beside the fit |
|---|---|---|
| counts | listwise, direct-mcar; every family without missing values | nothing |
| influence of rows | direct and factored deletion | derivatives; the distinct rows are kept |
| rate matrix | em, auto, if EM has converged, few parameters, equal weights | a step for each |
| delete-a-row jackknife | mgraph, where there are few distinct rows | a fit for each of these |
| delete-a-group jackknife | every other | a fit for each of thirty folds |
| delete-a-cluster jackknife | surveys with strata or clusters | a fit for each cluster |
| replicate weights | surveys that come with them | a count and a fit for each replicate |
| posterior | experts: complete rows; em, auto | as counts; as the rate matrix |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import prod, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from lacunet.counts.counts import quotient
from lacunet.counts.distinct_rows import Rows
from lacunet.counts.errors import StatisticsError
from lacunet.counts.folds import FOLD, JACKKNIFE_GROUPS
from lacunet.counts.gather import Gathering, Statistics, gather
from lacunet.counts.observations import ReplicateSamples, replicates
from lacunet.data.scratch_rows import row_bytes
from lacunet.inference.answer import DEFAULT_LEVEL
from lacunet.inference.joint import NO_EVIDENCE
from lacunet.learning.family_reports import AT_PRIOR
from lacunet.learning.plan import (
    CLUSTERS,
    COUNTS,
    INFLUENCE,
    JACKKNIFE,
    JACKKNIFE_OF_ROWS,
    POSTERIOR,
    RATE_MATRIX,
    REPLICATE_WEIGHTS,
    Learned,
    MethodError,
    Plan,
    Setting,
    run,
)
from lacunet.learning.pseudo_counts import pseudo_tables
from lacunet.learning.uncertainty.cpt_intervals import Spread, SpreadOverOptima
from lacunet.learning.uncertainty.frequencies import Uncorrelated, counted_spread, rows_per_weight
from lacunet.limits import NEVER, Deadline
from lacunet.network.network import FloatArray, Mask, Network
from lacunet.network.waves import copied_from
from lacunet.progress import TimedProgress, silent
from lacunet.text import first_of, intervals_in_words

if TYPE_CHECKING:
    from lacunet.inference.engine import Engine
    from lacunet.inference.forecast import Forecast
    from lacunet.learning.uncertainty.delta import Covariance
    from lacunet.learning.uncertainty.jackknife import Replicates
    from lacunet.learning.uncertainty.rate_matrix import Direction

    # How sure each CPT is, how they vary together, and what the prior knows better than the rows.
    Spreads = tuple[dict[str, Spread], Covariance, tuple[Direction, ...]]


MOST_FREE = 3_000  # parameters whose rate matrix is worth inverting
MATRICES = 12  # of this size at once, by measurement
KEPT_SHARE = 8  # of the memory: the distinct rows that are kept for intervals
FEWEST_KEPT = 2**24  # bytes of them, however little memory there is
MOST_LEFT_OUT = 300  # distinct rows that there can be, of each of which one is left out in turn
CONVERGED = 1e-3  # a rate matrix means nothing where one more step moves a parameter by more


@dataclass(frozen=True, repr=False)
class Uncertainty:
    """How sure the CPTs of a learned network are."""

    network: Network
    spread_of: Mapping[str, Spread]  # how sure each variable's CPT is
    recipe: str  # how that was found
    covariance: Covariance  # how the entries of all CPTs vary together, for queries
    total: float  # the weight of all rows
    # Networks that the rows hardly tell from this one: intervals reach over them.
    others: tuple[Network, ...] = ()
    # Combinations of EM's parameters about which the prior tells more than the rows.
    weak_directions: tuple[Direction, ...] = ()
    doubts: tuple[str, ...] = ()  # what else to know of the intervals
    # For CPTs that have a shape, by how much the BIC would be higher with a full table.
    bic_gains: Mapping[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Uncertainty: {self.words(DEFAULT_LEVEL)}>"

    @property
    def unidentified(self) -> tuple[Direction, ...]:
        """The directions in which the data do not identify EM's parameters."""
        return tuple(direction for direction in self.weak_directions if not direction.is_identified)

    @property
    def is_credible(self) -> bool:
        """Whether intervals are those of a posterior, with experts as the prior."""
        return self.recipe == POSTERIOR

    def words(self, level: float) -> str:
        """The intervals at a level, and how they were found."""
        intervals = intervals_in_words(level, is_credible=self.is_credible)
        if self.is_credible:
            return f"{intervals}, with the experts as the prior"
        recipe = self.recipe
        if recipe == RATE_MATRIX:
            recipe = "the curvature of EM's likelihood (rate matrix)"
        return f"{intervals} by {recipe}"

    @property
    def chance(self) -> str:
        """What the intervals owe to the seed, in words; empty where they owe it nothing."""
        if self.recipe != JACKKNIFE:
            return ""
        groups = len(self.covariance.networks)  # type: ignore[attr-defined]
        share = 1 / sqrt(2 * (groups - 1))  # of a standard deviation found from as many values
        return (
            f"The rows were divided at random into {groups} groups: another seed moves the width "
            f"of intervals by some {share:.0%} either way."
        )

    def unrolled(self, waves: int) -> Uncertainty | None:
        """The same over so many waves of a panel; None if it is not known of tied CPTs."""
        from lacunet.learning.uncertainty.jackknife import Replicates
        from lacunet.learning.uncertainty.rate_matrix import EmSpreads

        if not isinstance(self.covariance, Replicates | EmSpreads):
            return None
        network = self.network.unroll(waves)  # with mechanisms as nodes, where there are any
        like = copied_from(self.network, network)
        copies = {new: self.spread_of[old] for new, old in like.items()}
        return replace(
            self,
            network=network,
            spread_of={**self.spread_of, **copies},
            covariance=self.covariance.unrolled(waves),
            others=tuple(other.unroll(waves) for other in self.others),
        )

    def cpt(self, variable: str) -> Spread:
        """How sure the CPT of a variable is."""
        spread = self.spread_of[variable]
        if not self.others:
            return spread
        tables = [other.cpt(variable).table for other in self.others]
        return SpreadOverOptima.of(spread, tables)

    def query(
        self,
        target: str | Sequence[str],
        evidence: Mapping[str, object] = NO_EVIDENCE,
        do: Mapping[str, object] = NO_EVIDENCE,
        support: Mapping[str, Mask] | None = None,
        bootstrap: Sequence[Network] | None = None,
    ) -> Spread:
        """How sure the answer to a query is.

        Parameters
        ----------
        support
            Which CPT rows data support, as a network has it: an interval stays within what the
            others allow.
        bootstrap
            What replicates of the rows led to, as a network whose edges were learned has it. What
            is done from outside is answered without them.
        """
        from lacunet.learning.uncertainty.after_search import SearchedSpread, answers_of
        from lacunet.learning.uncertainty.delta import AnsweredQuery, bounded_spread, query_spread

        network = self.network.with_support(support)
        scope = (target,) if isinstance(target, str) else tuple(target)
        asked = AnsweredQuery.of(network, scope, evidence, do)
        if self.is_credible:
            from lacunet.learning.uncertainty.posterior import posterior_of_answer

            spread = posterior_of_answer(asked, self.covariance)  # type: ignore[arg-type]
        else:
            spread = bounded_spread(
                asked,
                network,
                lambda answer: query_spread(answer, self.covariance, self.spread_of, self.total),
            )
        if self.others:
            answers = [np.asarray(asked.of_network(other)) for other in self.others]
            spread = SpreadOverOptima.of(spread, answers)
        if not bootstrap or do:
            return spread
        return SearchedSpread.of(spread, answers_of(bootstrap, scope, evidence))


def recipe_of(plan: Plan, memory: float, by_model: bool = False) -> str:
    """The recipe of a plan, if the method converges and memory holds what it takes.

    A rate matrix takes weights for numbers of rows: where they differ, groups of rows are left out
    in turn; so they are where there may be too many distinct rows to keep for their influence.

    Where CPTs are tied, a row of the data tells of several of their cases, which are alike in more
    than the network says: people differ. So rows are left out in groups, unless EM's likelihood
    is to be trusted (``by_model``).

    Raises
    ------
    MethodError
        Experts are the prior, and there is no posterior.
    """
    if plan.has_experts:
        _check_posterior(plan, memory)
        return POSTERIOR
    if plan.units is not None:
        return CLUSTERS if plan.units.products is None else REPLICATE_WEIGHTS
    is_tied = bool(plan.network.tied) and not (by_model and plan.recipe == RATE_MATRIX)
    is_known = plan.recipe == RATE_MATRIX or (
        plan.recipe == COUNTS and not plan.is_unequal and _is_worth(plan.network, memory)
    )
    if is_tied or (plan.network.shapes_of and not is_known):
        return JACKKNIFE
    if plan.recipe == INFLUENCE and not _influence_fits(plan, memory):
        return JACKKNIFE
    if plan.recipe == RATE_MATRIX and (plan.is_unequal or not _matrix_fits(plan, memory)):
        return JACKKNIFE
    is_by_rows = plan.recipe == JACKKNIFE and _rows_are_few(plan)
    return JACKKNIFE_OF_ROWS if is_by_rows else plan.recipe


def _influence_fits(plan: Plan, memory: float) -> bool:
    """Whether the distinct rows, with what they move, may be kept."""
    kept = plan.most_distinct * row_bytes(plan.network.cardinality_of, extras=3)
    return kept <= max(memory / KEPT_SHARE, FEWEST_KEPT)


def _rows_are_few(plan: Plan) -> bool:
    """Whether one of each kind of rows may be left out in turn.

    Where EM has a part in it, what one row of many moves is too little for its tolerance.
    """
    is_iterative = plan.needs().problems is not None
    return _ways_to_be_a_row(plan) <= MOST_LEFT_OUT and not is_iterative


def _ways_to_be_a_row(plan: Plan) -> float:
    """How many distinct rows there can be, however many rows there are: parts say what all say."""
    sizes = plan.network.cardinality_of
    return prod(float(sizes[name] + (name in plan.partially)) for name in plan.network.variables)


def _matrix_fits(plan: Plan, memory: float) -> bool:
    """Whether the rate matrix of EM is worth inverting, and memory holds it."""
    problems = plan.needs().problems
    assert problems is not None
    return _is_worth(problems.network, memory)


def _is_worth(network: Network, memory: float) -> bool:
    """Whether the information on all parameters is worth inverting, and memory holds it."""
    free = network.free_parameters
    return free <= MOST_FREE and MATRICES * 8 * free**2 <= memory


def _check_posterior(plan: Plan, memory: float) -> None:
    """Refuse intervals where experts are the prior, but the rows have no likelihood beside it."""
    way_out = "learn without intervals, or without experts: then they come from the rows alone."
    if plan.units is not None:
        raise MethodError(
            "with experts intervals are those of a posterior, and rows that were sampled by a "
            "design (strata, clusters, replicate weights) have no likelihood for it.",
            way_out,
        )
    if plan.recipe == RATE_MATRIX:
        if not _matrix_fits(plan, memory):
            raise MethodError(
                "with experts intervals are those of a posterior, found from the curvature of EM's "
                f"likelihood: {_free(plan):,} free parameters are too many for that (at most "
                f"{MOST_FREE:,}, and what fits into memory).",
                way_out,
            )
    elif plan.network.tied or plan.network.shapes_of:
        raise MethodError(
            "with experts intervals are those of a posterior, which only EM has where CPTs are "
            "tied or are no full tables.",
            f"learn by method='em' (--method em); or {way_out}",
        )
    elif plan.partially:
        raise MethodError(
            f"with experts intervals are those of a posterior, and {plan.method} gives none of "
            f"incomplete rows: {first_of(plan.partially, 5)} may have missing values.",
            f"learn by method='em' (--method em); or {way_out}",
        )


def recipe_after(recipe: str, learned: Learned, setting: Setting) -> str:
    """The recipe, or a jackknife where EM has not converged: one more step moves a parameter."""
    if recipe != RATE_MATRIX:
        return recipe
    if learned.engine is None:
        return JACKKNIFE
    from lacunet.learning.em.em_uncertainty import em_curvature

    engine, cells, pseudo = _em_cells(learned, setting)
    moved = em_curvature(engine, cells, pseudo).step(cells) - cells
    return recipe if np.abs(moved).max() < CONVERGED else JACKKNIFE


def _em_cells(learned: Learned, setting: Setting) -> tuple[Engine, FloatArray, FloatArray]:
    """The problems of EM, the cells of all CPTs where it ended, and their pseudo-counts."""
    assert learned.engine is not None
    assert learned.network is not None
    layout = learned.engine.problems.layout
    cells = layout.flat(dict(learned.network.tables_of or {}))
    return (
        learned.engine,
        cells,
        layout.flat(pseudo_tables(setting.used_pseudo_counts, layout.network)),
    )


def work_of(plan: Plan, memory: float, step: Forecast | None) -> str:
    """What intervals will take beside the fit, before it is done; ``step`` is that of EM."""
    try:
        recipe = recipe_of(plan, memory)
    except MethodError as error:
        return f"intervals will be refused: {error.message}"
    if recipe == POSTERIOR:  # it is found as without experts
        recipe = RATE_MATRIX if plan.recipe == RATE_MATRIX else COUNTS
    if recipe == RATE_MATRIX:
        steps = 2 * _free(plan)  # there and back for each
        time = "" if step is None else f", {steps * step.seconds:,.2g} s"
        return (
            "intervals by the curvature of EM's likelihood will take at most "
            f"{steps:,} EM steps more{time}; "
            f"{JACKKNIFE_GROUPS} fits if EM is stopped before it converges"
        )

    try:
        folds = plan.needs(recipe).folds
    except StatisticsError as error:
        return f"intervals will be refused: {error}"
    units = plan.units
    if units is not None and units.factors is not None:
        cost = f"{len(units.factors)} countings and fits"
    elif recipe == COUNTS:
        cost = "nothing"
    elif recipe == INFLUENCE:
        cost = "a few fits"
    elif recipe == JACKKNIFE_OF_ROWS:
        cost = f"at most {min(plan.most_distinct, _ways_to_be_a_row(plan)):,.0f} fits"
    else:
        fits = 0 if folds is None else len(folds.scales)
        cost = f"{fits} fits"
    parts = [f"intervals by {recipe} will take {cost} more"]
    if units is not None:
        parts += units.doubts
    return "; ".join(parts)


def seconds_of_part(recipe: str, learned: Learned) -> float:
    """About how long the intervals of a fit by EM take until they first report: by that fit."""
    ended = learned.ended
    if ended is None or not ended.iterations:
        return 0.0
    if recipe in (RATE_MATRIX, POSTERIOR):  # a step there, and one back
        return 2 * ended.seconds / (ended.iterations * max(len(ended.starts), 1))
    return 0.0 if recipe == COUNTS else ended.seconds


def _free(plan: Plan) -> int:
    """The number of free parameters of EM."""
    problems = plan.needs().problems
    assert problems is not None
    return problems.network.free_parameters


@dataclass(frozen=True)
class Fitted:
    """A plan that was carried out: what was counted, also for its intervals, and what it gave."""

    plan: Plan
    statistics: Statistics
    learned: Learned
    setting: Setting
    # Counts what the plan needs with the weights of a replicate, by its number.
    replicate: Callable[[int], Statistics]

    def uncertainty(self, recipe: str, limit: Deadline = NEVER) -> Uncertainty:
        """How sure the CPTs are, by a recipe, within a limit that ends the reports of progress too.

        Raises
        ------
        OutOfTimeError
            The limit leaves too little time.
        """
        plan = self.plan
        network = self.network
        whole = self.whole
        ways: dict[str, Callable[[], Spreads]] = {
            COUNTS: self._by_counts,
            INFLUENCE: self._by_influence,
            RATE_MATRIX: self._by_rate_matrix,
            POSTERIOR: self._by_posterior,
            JACKKNIFE_OF_ROWS: partial(self._by_rows, limit),
        }
        by_replicates = partial(self._by_replicates, limit)
        spread_of, covariance, weak = ways.get(recipe, by_replicates)()
        is_jackknife = recipe in (JACKKNIFE, JACKKNIFE_OF_ROWS)
        are_counted = is_jackknife and not (plan.graph and plan.graph.selection)
        for name in plan.network.variables if recipe != POSTERIOR else ():
            family = plan.network.family(name)
            report = self.learned.families[name]
            is_table = name not in network.shaped_of
            is_own = is_table and len(network.tied_with(name)) == 1
            if are_counted and is_own and not set(family) & set(plan.partially):
                spread_of[name] = counted_spread(whole.counts[family], network.cpt(name).table)
            if recipe != RATE_MATRIX and is_table:
                is_prior = report.fallback == AT_PRIOR
                backing = np.zeros_like(report.support) if is_prior else report.backing
                spread_of[name] = spread_of[name].supported_by(backing)
            if is_table:
                spread_of[name] = spread_of[name].shown_by(report.counts.row_counts())
        for name, possible in network.possible_of.items():
            spread = spread_of[name]
            # Nothing is uncertain about structural zeros, and where all states but one are such.
            is_sure = ~possible | (possible.sum(axis=-1, keepdims=True) == 1)
            rates = np.where(is_sure, spread.table, spread.rates)
            sizes = np.where(is_sure, np.inf, spread.sizes)
            spread_of[name] = replace(spread, rates=rates, sizes=sizes)
        others = tuple(
            network.with_tables({**(network.tables_of or {}), **tables})
            for tables in self.learned.others
        )
        has_doubts = recipe in (RATE_MATRIX, POSTERIOR)
        doubts = covariance.doubts if has_doubts else ()  # type: ignore[attr-defined]
        return Uncertainty(
            network=network,
            spread_of=spread_of,
            recipe=recipe,
            covariance=covariance,
            total=whole.total,
            others=others,
            weak_directions=weak,
            doubts=doubts,
            bic_gains=self._bic_gains(),
        )

    def _bic_gains(self) -> dict[str, float]:
        """What shapes are worth by the BIC, where the rows are of equal weight."""
        network, whole = self.network, self.whole
        if not network.shapes_of or self.plan.units is not None or self.plan.is_unequal:
            return {}
        from lacunet.learning.em.full_table_bic import (
            bic_gains_by_counts,
            bic_gains_by_em,
        )

        if self.learned.engine is None:
            counts_of = whole.complete or whole.counts
            dense_of = {v: counts_of[network.family(v)].dense() for v in network.shaped_of}
            return bic_gains_by_counts(network, dense_of, whole.total)
        engine, cells, _ = _em_cells(self.learned, self.setting)
        if engine.loopy_families:
            return {}
        return bic_gains_by_em(engine, cells, whole.total)

    @cached_property
    def network(self) -> Network:
        """The network that was learned, with mechanisms as nodes where EM has any."""
        learned = self.learned
        network = self.plan.network
        if learned.network is not None:  # EM's, but for what a later stage estimated
            network = learned.network
        return network.with_tables({**(network.tables_of or {}), **learned.tables})

    @cached_property
    def whole(self) -> Statistics:
        """What was counted of all rows, of families that are tied together."""
        return self.statistics.sample(0).pooled(self.plan.network)

    def _by_counts(self) -> Spreads:
        network = self.network
        counts = self.whole.complete or self.whole.counts
        counts_of = {v: counts[network.family(v)] for v in network.variables}
        spread_of = {
            v: counted_spread(counts, network.cpt(v).table) for v, counts in counts_of.items()
        }
        pseudo_of = pseudo_tables(self.setting.used_pseudo_counts, network)
        if not network.shapes_of:
            return spread_of, Uncorrelated(counts_of, pseudo_of), ()
        # The rows of a CPT that has a shape tell of one another: EM's information, all counted.
        from lacunet.counts.em_problems.compile import counted_problems
        from lacunet.inference.engine import engine_of
        from lacunet.learning.em.em_uncertainty import em_uncertainty

        dense_of = {name: counts.dense() for name, counts in counts_of.items()}
        engine = engine_of(
            counted_problems(network, dense_of, self.whole.rows), self.setting.memory
        )
        layout = engine.problems.layout
        cells = layout.flat(dict(network.tables_of or {}))
        em = em_uncertainty(engine, cells, layout.flat(pseudo_of))
        shaped_of = {name: em.spread_of[name] for name in network.shaped_of}
        return spread_of | shaped_of, em, em.weak_directions

    def _by_influence(self) -> Spreads:
        """By what each row moves every entry by."""
        from lacunet.learning.closed_forms.influence import RowInfluence

        plan = self.plan
        network = self.network
        whole = self.whole
        rows = whole.distinct[network.variables].table.without_sets()
        pseudo_of = pseudo_tables(self.setting.used_pseudo_counts, network)
        influence = RowInfluence.of(network, rows, plan.estimated_of, pseudo_of)
        hidden = [name for name in network.variables if plan.estimated_of[name].hidden]
        spread_of = {}
        for name in (name for name in network.variables if name not in hidden):
            counts = whole.counts[network.family(name)]
            spread_of[name] = counted_spread(counts, network.cpt(name).table)
        self.setting.progress("intervals", 0, len(hidden))
        for done, (name, spread) in enumerate(influence.spreads(hidden), start=1):
            spread_of[name] = spread
            self.setting.progress("intervals", done, len(hidden), name)
        return spread_of, influence, ()

    def _by_posterior(self) -> Spreads:
        """By the posterior that has experts as its prior: exact where rows are complete."""
        from lacunet.learning.uncertainty.posterior import (
            DirichletPosterior,
            EmPosterior,
            Posterior,
        )

        tables = {v: self.network.cpt(v).table for v in self.network.variables}
        if self.learned.engine is not None:
            from lacunet.learning.em.em_uncertainty import em_uncertainty

            engine, cells, pseudo = _em_cells(self.learned, self.setting)
            em = em_uncertainty(engine, cells, pseudo, self.setting.progress)
            posterior: Posterior = EmPosterior.of(em, cells)
            return posterior.spreads(tables), posterior, em.weak_directions
        pseudo_of = pseudo_tables(self.setting.used_pseudo_counts, self.network)
        counts_of = {v: self.learned.families[v].counts.dense() for v in tables}
        posterior = DirichletPosterior(pseudo_of, counts_of)
        return posterior.spreads(tables), posterior, ()

    def _by_replicates(self, limit: Deadline) -> Spreads:
        """By the networks learned from each sample: rows without a fold, or weighted anew."""
        return self._by_samples(replicates(self.plan.units, self.statistics, self.replicate), limit)

    def _by_rows(self, limit: Deadline) -> Spreads:
        """By the networks learned without one of the copies of each distinct row.

        Nothing is drawn at random. Copies with weights count as the units that they are worth.
        """
        plan, setting = self.plan, self.setting
        distinct = self.whole.distinct[plan.network.variables]
        number, tally = len(distinct.weights), distinct.tally
        numbers: Any = np.arange(number)
        sizes = {**distinct.table.cardinality_of, FOLD: number}
        columns = {**distinct.table.columns, FOLD: numbers}
        numbered = Rows(distinct.table.with_columns(sizes, columns))
        units = quotient(tally.weights**2, tally.squares)
        total = float(units.sum())
        gathering = Gathering(plan.needs(), plan.network, memory=setting.memory / 4)
        weighty = np.flatnonzero(units)

        def without_one(position: int) -> Statistics:
            multiples = np.ones(number)
            multiples[position] -= min(1 / units[position], 1.0)
            return gather(gathering, [numbered.sampled(multiples).table])

        samples = ReplicateSamples(
            map(without_one, weighty.tolist()),
            units[weighty] * (total - 1) / total,
            max(total - 1, 1.0),
        )
        return self._by_samples(samples, limit)

    def _by_samples(self, replicates: ReplicateSamples, limit: Deadline) -> Spreads:
        plan, setting = self.plan, self.setting
        samples, scales, degrees = replicates
        unseen = TimedProgress(silent, limit, paced="")
        quietly = replace(setting, progress=unseen, deadline=NEVER, whole=self.learned)
        networks = []
        for index, sample in enumerate(samples):
            setting.progress("intervals", index, len(scales), "fits")
            networks.append(replace(self, learned=run(plan, sample, quietly)).network)
        setting.progress("intervals", len(scales), len(scales), "fits")
        covariance = self._replicates(networks, scales, degrees)
        return covariance.spreads(limit), covariance, ()

    def _replicates(
        self, networks: Iterable[Network], scales: FloatArray, degrees: float
    ) -> Replicates:
        """The network and those of replicates, with what a unit of weight is worth."""
        from lacunet.learning.uncertainty.jackknife import Replicates

        plan = self.plan
        network = self.network
        whole = self.whole
        counted = [family for family in plan.network.families if family in whole.counts]
        weighed = counted if plan.is_unequal else []
        worth_of = {family[-1]: rows_per_weight(whole.counts[family]) for family in weighed}
        return Replicates(
            network=network,
            networks=tuple(networks),
            scales=scales,
            degrees=degrees,
            total=whole.total,
            pseudo_of=pseudo_tables(self.setting.used_pseudo_counts, network),
            by_design=plan.units is not None,
            worth_of=worth_of,
            row_weights=self.learned.row_weights,
        )

    def _by_rate_matrix(self) -> Spreads:
        from lacunet.learning.em.em_uncertainty import em_uncertainty

        em = em_uncertainty(*_em_cells(self.learned, self.setting), self.setting.progress)
        return dict(em.spread_of), em, em.weak_directions
