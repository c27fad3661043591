"""The road itself: a network and data in, a network with learned CPTs out.

Look at the data, plan, count, run: the plan decides everything, and what runs carries it out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from numbers import Real
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Unpack
from warnings import catch_warnings, simplefilter

import numpy as np

from lacunet.counts.gather import Gathering, Needs, Statistics
from lacunet.counts.look import Look
from lacunet.counts.observations import Observations
from lacunet.counts.open_rows import OpenRows, open_rows
from lacunet.data.donors import MOST_DONORS, donor_sampler, is_number_of_donors
from lacunet.data.errors import DataWarning
from lacunet.data.frames import is_spark
from lacunet.data.read import ReadReport, sets_as_missing
from lacunet.errors import LacunetError
from lacunet.inference.answer import EDGES_AS_KNOWN, SEARCH_FALLS_SHORT, WITH_REPLICATES
from lacunet.inference.errors import OverBudgetError
from lacunet.learning.alternatives import Alternative, Alternatives, Memberships
from lacunet.learning.closed_forms.forms import UNGROUPED, refuse_large_tables
from lacunet.learning.family_reports import NOT_IDENTIFIED, OUTWEIGHED, FamilyReport, Warned
from lacunet.learning.interval_recipes import (
    Fitted,
    Uncertainty,
    recipe_after,
    recipe_of,
    seconds_of_part,
)
from lacunet.learning.method_options import MethodOptions
from lacunet.learning.methods import (
    WAY_TO_INTERVALS,
    check_option_names,
    default_pseudo_counts,
    method_of,
)
from lacunet.learning.notes import notes_on_rows, warn_of_missing, warn_of_no_step
from lacunet.learning.plan import (
    POSTERIOR,
    RATE_MATRIX,
    Learned,
    Method,
    MethodError,
    Plan,
    Setting,
    count_agreeing_starts,
    make_plan,
    run,
)
from lacunet.learning.pseudo_count_arguments import checked_pseudo_counts, pseudo_counts_of_experts
from lacunet.learning.pseudo_counts import DESIGN_BASED, LEARN, AskedPseudoCounts
from lacunet.learning.result import Interrupted, Result
from lacunet.limits import NEVER, Deadline, Memory, OutOfTimeError
from lacunet.missingness.graph import MissingnessGraph, network_and_graph
from lacunet.network.arguments import clear_arguments_or
from lacunet.network.formats.files import NetworkOrEdges
from lacunet.network.mechanisms import Mechanisms
from lacunet.network.network import Network, Scope
from lacunet.network.waves import in_all_waves
from lacunet.progress import AskedProgress, TimedProgress
from lacunet.randomness import generator
from lacunet.threads import working_threads

if TYPE_CHECKING:
    from lacunet.learning.uncertainty.rate_matrix import Direction
    from lacunet.network.shapes.shape import Shape

MUCH = 0.01  # of the rows' weight fell back: more than chance may hide
NOT_USED = (
    "the CPTs that the network brings are not used: they are learned from the rows alone. "
    "experts=20 (--experts 20) lets each of their rows count as 20 rows"
)
NO_POSTERIOR = (
    "EM made no step: there are no intervals, which with experts are those of the posterior that "
    "EM climbs; time_limit= allows more"
)
PSEUDO_COUNTS_OF_CLASSES = 0.0  # numbers of latent states are compared by the likelihood
BIASED = "{:.1%} of the rows' weight fell back, and intervals do not count the bias of that"

NO_TIME_FOR_INTERVALS = (
    "the intervals were left out, because they take longer than the time limit left: time_limit= "
    "allows more; those of direct-mar and factored-mar take no more than a few fits"
)
NO_ROOM_FOR_INTERVALS = "the intervals were left out, because they take more than there is: {}"

# What is kept of a time limit for each CPT: to estimate it in closed form, which is where EM
# starts, and to report on it in the end.
SECONDS_TO_ESTIMATE = 3e-4
SECONDS_TO_REPORT = 1e-4


@clear_arguments_or("lacunet.learn_structure(data) learns edges and CPTs from data alone.")
def learn(
    network: NetworkOrEdges,
    data: Any,
    method: str | Method = "auto",
    *,
    pseudo_counts: AskedPseudoCounts | Mapping[str, Any] | None = None,
    experts: float | None = None,
    missingness: MissingnessGraph | str | PathLike[str] | None = None,
    shapes: Mapping[str, str | Shape] | None = None,
    tied: Iterable[Sequence[str]] | Mapping[str, bool] = (),
    intervals: bool | Literal["model"] = False,
    donors: int = MOST_DONORS,
    rng: np.random.Generator | int = 0,
    memory: Memory = None,
    threads: int | None = None,
    progress: AskedProgress = False,
    **options: Unpack[MethodOptions],
) -> Result:
    """Learn the CPTs of a network from data with missing values.

    Parameters
    ----------
    network
        Structure and states; CPTs, if it has any, are used with ``experts`` alone. Also a result of
        learning, a file's path, or the name of a bundled network. Or edges, such as
        ``"Age -> Ill"`` or ``[("Age", "Ill")]``: `Network.from_data` then takes the states from the
        data. Or a missingness graph, which stands for its network and for ``missingness``.
    data
        A path or several, a dataframe of any library, an Arrow table, a DuckDB relation; or
        `lacunet.Data`, which also says how to read them: weights and the design of a survey, values
        that mean "not observed", intervals of numbers, latent variables, queries, delimiters.
    method
        A method's name, or a method as a value, with its options. "auto" counts where nothing is
        missing, and runs EM elsewhere. Where ``missingness`` is given, it is "mgraph", which
        estimates each CPT by the formula that the graph gives for it; "em" learns how values go
        missing together with the CPTs then, by maximum likelihood under the graph.
    pseudo_counts
        What is added to each cell of a CPT: a number (0: maximum likelihood), or "learn", which
        estimates it from the counts of all CPTs (empirical Bayes); with
        ``pseudo_counts=earlier.pseudo_counts`` those that another result learned are used. A
        mapping, such as ``{"Ill": [[18, 2], [12, 8]]}``, gives them cell by cell: an axis for each
        parent, in the network's order, then one for the variable. States are in the network's order
        too, ``network.states("Ill")``: those found in data alphabetically, numbers by size.
        Variables that it does not name get one per cell.
        The default is 1 for closed forms ("listwise", and the direct, factored and informed
        methods), 0 where `Data.latent` gives numbers of states, and "learn" for all others. Closed
        forms add pseudo-counts to an estimate that is scaled to all rows. With 0, "em" gives
        maximum likelihood; "auto" may stop EM earlier, which `Result.why` says. Estimates of a
        survey, rows with strata, clusters or replicate weights, are design-based by default: a CPT
        row that rows show has no pseudo-counts, and those of others are learned.
    experts
        How many rows of data each CPT row that the network brings counts as: with 20, its entries
        times 20 are the pseudo-counts, in place of learned ones. Intervals are then credible: those
        of the posterior that has the experts as its prior. Other methods than "em" and "auto" have
        one for complete rows alone, and rows of a design have none.
    missingness
        How values go missing: a missingness graph, its text or a file's path, for the methods that
        take one.
    shapes
        What some CPTs are in place of full tables, such as ``{"Fever": "noisy-or"}``:
        ``"noisy-or"``, ``"noisy-max"``, ``"logistic"`` or ``"ordinal"``, which need far fewer rows
        where there are many parents.
    tied
        Groups of variables whose CPTs are one, such as ``[["Visit2", "Visit3", "Visit4"]]``: what
        rows show of one tells of all. Parents correspond in the order in which edges name them. In
        a panel the CPTs of a variable are one in all waves; ``{"Visit": False}`` gives each its
        own.
    intervals
        Whether to compute confidence intervals of all CPT entries. `Result.cpt` and `Result.table`
        show them, `Result.interval` and `Result.standard_error` give them as numbers, and answers
        of `Result.query` and `Result.effect` have them too. They are made from the rows alone,
        around the estimate without pseudo-counts, and stretched to hold the entry of
        the CPT: it need not be in their middle. What they cost depends on the method: for
        "listwise" and "direct-mcar" nothing; for all other deletion no more than a few further
        fits; for "em" up to two EM steps for each free parameter; for the other methods, and for EM
        with more than 3,000 free parameters, about thirty fits. `lacunet.explain` says it
        beforehand. Where CPTs are tied, they come from replicates of the rows, since rows (people)
        may differ in more than the model says; ``"model"`` trusts the likelihood instead.
    donors
        How many rows the result keeps, as they were observed, of each interval that a column of
        numbers is cut into: `Result.impute` draws missing numbers from them. They are chosen by
        chance, and written to the result's file. With 0 none is kept.
    rng
        A seed or a generator. The same seed gives the same result.
    memory
        The budget in bytes, or such as ``"500MB"``; by default half of the memory there is.
        Rows that take more than a quarter of it are not held: they are read when they are counted,
        and what has to be put aside goes to the system's folder for temporary files (TMPDIR).
    threads
        How many threads may work at a time; by default one for each core that the process may use.
        They share the memory. The result is the same, bit by bit, whatever their number is.
    progress
        True for a bar, in notebooks too, or a function to call as the work goes on.
    options
        The options of the method, such as ``restarts=5`` for "em" or ``groups=["Age"]`` for
        "informed-direct".

    Returns
    -------
    A result, which prints. Its ``network`` has the learned CPTs, its ``families`` say what each
    rests on, and its ``warnings`` what to know of them. Where `Data.latent` gives numbers of
    states, it is the best by BIC, and its ``alternatives`` has them all.

    Raises
    ------
    LacunetError
        Something is wrong with the input; the message says what, where and the way out.
    Interrupted
        You pressed Ctrl-C when there was a result already: the exception, a KeyboardInterrupt,
        has it as ``result``.

    Examples
    --------
    Of the three old people one does not answer, and one of the other two is ill.

    >>> rows = {"Age": ["old", "old", "old", "young"], "Ill": ["yes", None, "no", "no"]}
    >>> result = learn("Age -> Ill", rows, "direct-mcar", pseudo_counts=0)
    >>> print(result.cpt("Ill"))
    P(Ill | Age)
    Age        no     yes
    old    0.5000  0.5000
    young       1       0
    """
    if not isinstance(intervals, bool) and intervals != "model":
        message = f"intervals is {intervals!r}, but must be True, False or 'model'."
        raise MethodError(message, WAY_TO_INTERVALS)
    if not is_number_of_donors(donors):
        raise MethodError(
            f"donors is {donors!r}, but must be a number of rows.", "give 0 to keep none."
        )
    limit = limit_of(method, options)  # reading takes time too
    network, missingness = network_and_graph(network, missingness)
    given = {**options, "missingness": missingness}
    check_option_names(learn, method, given)
    opened = open_rows("learn", network, data, memory, progress)
    if opened.data.classes and pseudo_counts is None and experts is None:
        pseudo_counts = PSEUDO_COUNTS_OF_CLASSES
    asked = LearnArguments(
        method=method,
        options=given,
        pseudo_counts=pseudo_counts,
        experts=experts,
        shapes=shapes or {},
        tied=tied,
        intervals=intervals,
        donors=donors,
        rng=rng,
        threads=threads,
    )
    if opened.data.classes:
        return _with_best_number(asked, opened, limit)
    return asked.learned(opened, limit)


def limit_of(method: str | Method, options: Mapping[str, Any]) -> Deadline:
    """When all of it is to be done, as a method or its option says; no number is refused later."""
    seconds: Any = options.get("time_limit")
    if seconds is None:
        seconds = getattr(method, "time_limit", None)
    return Deadline.within(float(seconds) if isinstance(seconds, Real) else None)


@dataclass(frozen=True)
class LearnArguments:
    """The arguments of `learn` beside a network and data, with which it may learn several times."""

    method: str | Method
    options: Mapping[str, Any]
    pseudo_counts: AskedPseudoCounts | Mapping[str, Any] | None
    experts: float | None
    shapes: Mapping[str, str | Shape]
    tied: Iterable[Sequence[str]] | Mapping[str, bool]
    intervals: bool | Literal["model"]
    donors: int
    rng: np.random.Generator | int
    threads: int | None

    def learned(self, opened: OpenRows, limit: Deadline) -> Result:
        """The result from rows, within a limit."""
        return self.fitted(opened, limit)[0]

    def fitted(
        self, opened: OpenRows, limit: Deadline, hidden: Sequence[str] = ()
    ) -> tuple[Result, Memberships | None]:
        """The result from rows, and what these say of the states of hidden variables, if any."""
        opened = opened.with_shapes(self.tied, self.shapes)
        asked = check_request(
            network=opened.network,
            brought=opened.brought,
            method=self.method,
            options=self.options,
            pseudo_counts=self.pseudo_counts,
            experts=self.experts,
            latent=opened.latent,
            budget=opened.budget,
        )
        limit_of_estimate = limit
        if limit == NEVER:
            limit_of_estimate = Deadline.within(getattr(asked.method, "usual_limit", None))
        seconds_to_report = SECONDS_TO_REPORT * len(opened.network.variables)
        deadline = limit_of_estimate.earlier(seconds_to_report)
        chance = generator(self.rng)
        sampler = None
        if self.donors:
            sampler = donor_sampler(opened.network, opened.data, chance, self.donors)
        is_read_once = is_spark(opened.data.source) and not self.intervals
        is_read_again = not (is_read_once and asked.counts_families_alone)
        with (
            working_threads(self.threads),
            opened.rows(sampler, is_read_again=is_read_again) as rows,
        ):
            plan = asked.plan(rows.look(), deadline)
            setting = Setting(
                pseudo_counts=plan.pseudo_counts,
                rng=chance,
                memory=opened.budget,
                progress=opened.progress,
                deadline=deadline,
            )
            limit = limit.earlier(seconds_to_report)
            result = carry_out(plan, rows, setting, self.intervals, opened.latent, limit)
            memberships = None
            if hidden:
                memberships = _memberships(result.network, rows, hidden, opened.budget)
            result = replace(result, beside=opened.data.roles)
            if rows.sampler is not None and rows.sampler.is_complete:
                donors, observed = rows.sampler.donors(), rows.sampler.observed()
                result = replace(result, donors=donors, _observed=observed)
        return result, memberships


def _with_best_number(asked: LearnArguments, opened: OpenRows, limit: Deadline) -> Result:
    """The result with the number of latent states that has the lowest BIC, the others beside it.

    All are maximum likelihood unless pseudo-counts are asked for: with some in each cell more
    states had more of them, and were less likely for that alone.
    """
    numbers_of = opened.data.classes
    results: list[Result] = []
    fits: list[Alternative] = []
    combinations = [*product(*numbers_of.values())]
    to_fit = len(combinations) + bool(asked.intervals)
    for fitted, numbers in enumerate(combinations):
        share = limit.partway(1 / (to_fit - fitted))
        number_of = dict(zip(numbers_of, numbers, strict=True))
        hidden = in_all_waves(number_of, opened.network.variables)
        again = opened.with_classes(number_of)
        with catch_warnings():
            if results:  # what is wrong with the rows was said the first time
                simplefilter("ignore", DataWarning)
            result, memberships = replace(asked, intervals=False).fitted(again, share, hidden)
            if result.ended is None and asked.method == "auto":  # few rows: it learns without EM
                asked = replace(asked, method="em")
                result, memberships = replace(asked, intervals=False).fitted(again, share, hidden)
        assert memberships is not None
        results.append(result)
        fits.append(_alternative(result, number_of, memberships))
    best = min(range(len(fits)), key=lambda position: fits[position].bic)
    if asked.intervals:
        with catch_warnings():
            simplefilter("ignore", DataWarning)
            results[best] = asked.learned(opened.with_classes(fits[best].numbers), limit)
    result = results[best]
    alternatives = Alternatives(tuple(fits), best, tuple(results))
    why = f"{result.why} {alternatives.sentence}".strip()
    return replace(result, why=why, alternatives=alternatives)


def _alternative(
    result: Result, number_of: Mapping[str, int], memberships: Memberships
) -> Alternative:
    """The row of a result in the table of all numbers of states."""
    if result.ended is None:
        raise MethodError(
            f"the method {result.method!r} does not learn of variables that no row shows.",
            "numbers of latent states are compared by the likelihood: leave the method to 'auto', "
            "or say method='em'.",
        )
    parameters = result.network.free_parameters
    logs = result.ended.log_likelihood
    starts = result.ended.starts or (result.ended.log_posterior,)
    return Alternative(
        number_of,
        logs,
        parameters,
        bic=-2 * logs + parameters * float(np.log(result.total)),
        entropy=memberships.relative_entropy,
        smallest=memberships.smallest,
        starts=len(starts),
        agreed=count_agreeing_starts(starts),
        ended=result.ended.reason,
    )


def _memberships(
    network: Network, rows: Observations, hidden: Sequence[str], memory: int
) -> Memberships:
    """What all rows say of the states of variables that none shows."""
    from lacunet.inference.row_posteriors import NetworkCells, solve_rows

    cells = NetworkCells.of(network)
    parts = []
    for table in rows.tables(ReadReport()):
        for batch in solve_rows(cells, sets_as_missing(table), hidden, memory):
            parts.append(Memberships.of(batch.of_target, batch.rows.row_weights))
    return Memberships.added(parts)


@dataclass(frozen=True)
class AskedMethod:
    """A method and all that its plan needs, but a look at the rows."""

    method: Method
    network: Network  # with the codes and rules of the data
    pseudo_counts: AskedPseudoCounts | None  # None: the method and the rows decide
    notes: tuple[str, ...] = ()  # what to know before any row is read

    @property
    def counts_families_alone(self) -> bool:
        """Whether the method asks for the counts of families alone, whatever rows miss."""
        try:
            needs = self.plan(Look(), NEVER).needs()
        except LacunetError:  # it has to look at rows first
            return False
        return needs == Needs(needs.families)

    def plan(self, look: Look, deadline: Deadline) -> Plan:
        """What the method will do, as far as there is time to plan it."""
        pseudo_counts = (
            default_pseudo_counts(self.method, look)
            if self.pseudo_counts is None
            else self.pseudo_counts
        )
        plan = make_plan(self.method, self.network, look, pseudo_counts, deadline)
        return replace(plan, notes=(*plan.notes, *self.notes))


def check_request(
    network: Network,
    brought: Network,
    method: str | Method,
    options: Mapping[str, Any],
    pseudo_counts: AskedPseudoCounts | Mapping[str, Any] | None,
    experts: float | None,
    latent: Scope,
    budget: int,
) -> AskedMethod:
    """What is asked for, checked before any row is read.

    Parameters
    ----------
    network
        With the codes and rules of the data.
    brought
        The network as it was given: ``experts`` count its CPTs.
    latent
        The variables that the data declare hidden.
    budget
        The bytes of memory that may be used.
    """
    chosen = method_of(network, method, options, latent)
    refuse_large_tables(network, chosen.bytes_per_cell, budget)
    asked: AskedPseudoCounts | None = None
    if experts is not None:
        asked = pseudo_counts_of_experts(experts, pseudo_counts, brought, network)
    elif pseudo_counts is not None:
        asked = checked_pseudo_counts(pseudo_counts, network)
    notes = (NOT_USED,) if experts is None and brought.has_cpts else ()
    return AskedMethod(chosen, network, asked, notes)


def carry_out(
    plan: Plan,
    rows: Observations,
    setting: Setting,
    intervals: bool | Literal["model"] = False,
    latent: Sequence[str] | None = None,
    limit: Deadline = NEVER,
) -> Result:
    """Count what a plan needs, run it, and find out how sure the CPTs are if that is asked.

    With notes on what the rows miss where it is said which variables are ``latent``. Intervals that
    are not there by the ``limit`` are left out.
    """
    recipe = None
    if intervals:
        recipe = recipe_of(plan, setting.memory, intervals == "model")
    seed = int(setting.rng.integers(2**62))  # drawn in any case: intervals move no estimate
    statistics = rows.gather(gathering(plan, setting, recipe, seed), setting.progress)
    learned = run(plan, statistics, setting)
    if learned.pseudo_counts is not None:  # the same for intervals and all replicates
        setting = replace(setting, pseudo_counts=learned.pseudo_counts)
    result = _result(plan, statistics, learned, setting)
    if latent is not None:
        notes = warn_of_missing(plan, statistics, latent)
        result = replace(result, notes=(*result.notes, *notes))
        warn_of_no_step(learned)
    if learned.ended is not None and learned.ended.reason == "interrupted":
        raise Interrupted(result)
    if recipe is None:
        return result
    if plan.has_experts and plan.recipe == RATE_MATRIX and learned.engine is None:
        return replace(result, notes=(*result.notes, NO_POSTERIOR))
    timed = TimedProgress(setting.progress, limit, paced="intervals")
    setting = replace(setting, progress=timed, deadline=NEVER)
    try:
        return _how_sure(
            plan=plan,
            rows=rows,
            setting=setting,
            limit=limit,
            result=result,
            learned=learned,
            statistics=statistics,
            recipe=recipe,
            seed=seed,
        )
    except KeyboardInterrupt:  # what was learned is not lost
        raise Interrupted(result) from None
    except OutOfTimeError:
        return replace(result, notes=(*result.notes, NO_TIME_FOR_INTERVALS))
    except OverBudgetError as refusal:  # nor where the intervals alone are too much
        return replace(result, notes=(*result.notes, NO_ROOM_FOR_INTERVALS.format(refusal.message)))


def _how_sure(
    plan: Plan,
    rows: Observations,
    setting: Setting,
    limit: Deadline,
    result: Result,
    learned: Learned,
    statistics: Statistics,
    recipe: str,
    seed: int,
) -> Result:
    """The result with its intervals, from what was counted or, where a recipe asks it, more.

    Raises
    ------
    OutOfTimeError
        The limit leaves too little time for them.
    """
    is_out_of_time = learned.ended is not None and learned.ended.reason == "time limit"
    if limit != NEVER and (is_out_of_time or seconds_of_part(recipe, learned) > limit.left):
        raise OutOfTimeError
    chosen = recipe_after(recipe, learned, setting)
    if seconds_of_part(chosen, learned) > limit.left:
        raise OutOfTimeError
    is_fitted_again = chosen not in (RATE_MATRIX, POSTERIOR)
    is_cut_short = is_fitted_again and learned.ended is not None and learned.ended.is_cut_short
    if is_cut_short:
        # EM starts from a closed form of each replicate, too.
        stages = tuple(replace(stage, is_replicated=True) for stage in plan.stages)
        plan = replace(plan, stages=stages)
    if chosen != recipe or is_cut_short:
        statistics = rows.gather(gathering(plan, setting, chosen, seed), setting.progress)
    again = gathering(plan, setting, None, seed)
    fitted = Fitted(
        plan=plan,
        statistics=statistics,
        learned=learned,
        setting=setting,
        replicate=lambda k: rows.gather(replace(again, replicate=k)),
    )
    uncertainty = fitted.uncertainty(chosen, limit)
    doubts = uncertainty.doubts
    if plan.units is not None:
        doubts += plan.units.doubts
    if statistics.folds is not None:
        doubts += statistics.folds.doubts
    doubts += _doubts_of_search(result)
    return _with_intervals(replace(result, notes=(*result.notes, *doubts)), uncertainty)


def gathering(plan: Plan, setting: Setting, recipe: str | None, seed: int) -> Gathering:
    """What a plan needs, with weights that add up to what the rows are worth."""
    needs = plan.needs(recipe, seed)
    memory = setting.memory / 4
    deadline = setting.deadline.earlier(SECONDS_TO_ESTIMATE * len(plan.network.variables))
    return Gathering(needs, plan.network, deadline, memory, scale=plan.scale)


def _doubts_of_search(result: Result) -> tuple[str, ...]:
    """What to know of intervals where the edges were learned."""
    if result.network.bootstrap is not None and not result.network.bootstrap:
        return (f"{EDGES_AS_KNOWN}{WITH_REPLICATES}",)
    return (SEARCH_FALLS_SHORT,) if result.search_falls_short else ()


def _result(plan: Plan, statistics: Statistics, learned: Learned, setting: Setting) -> Result:
    mechanisms = None
    if plan.graph is not None:
        mechanisms = Mechanisms(str(plan.graph), learned.mechanisms, plan.graph.latent)
    families = {name: learned.families[name] for name in plan.network.variables}
    backing_of = {
        name: plan.network.backing(name, report.backing) for name, report in families.items()
    }
    network = plan.network.with_tables(learned.tables).with_support(backing_of)
    result = Result(
        network=network.with_mechanisms(mechanisms),
        families=families,
        method=plan.method,
        rows=statistics.rows,
        total=statistics.total,
        pseudo_counts=setting.used_pseudo_counts,
        missing={name: statistics.missing_of[name] for name in plan.network.variables},
        notes=(*notes_on_rows(plan, statistics), *learned.notes),
        ended=learned.ended,
        mechanisms=learned.mechanisms,
    )
    return replace(result, why=_why(plan, learned, result.assumption))


def _why(plan: Plan, learned: Learned, assumption: str) -> str:
    """The reason for the method and what it assumes; where they were learned, the pseudo-counts."""
    why = f"{learned.why.removesuffix('.')}." if learned.why else ""
    if why and assumption:
        why += f" It assumes that {assumption}."
    pseudo_counts = learned.pseudo_counts
    if plan.pseudo_counts == DESIGN_BASED and pseudo_counts is not None:
        return f"{why} The estimate is design-based, with {pseudo_counts}.".lstrip()
    if plan.pseudo_counts != LEARN:
        return why
    was = "not learned"
    if pseudo_counts is None or pseudo_counts.is_learned:
        was = "learned"
    return f"{why} The pseudo-counts were {was}: {pseudo_counts}.".lstrip()


def _weak(name: str, directions: Sequence[Direction]) -> Iterator[Warned]:
    """What the rows say too little of in a CPT: once for each kind, by the weakest direction."""
    for is_identified, kind in ((False, NOT_IDENTIFIED), (True, OUTWEIGHED)):
        named = [direction for direction in directions if name in direction.families]
        if weak := [direction for direction in named if direction.is_identified is is_identified]:
            least = min(weak, key=lambda direction: direction.information)
            others = [other for other in least.families if other != name]
            share = f"{least.information:.1%} of what complete rows would tell"
            detail = f"with {', '.join(others)}" if others else share
            words = f": {least}" if others else str(least).removeprefix(name)
            yield Warned(f"{kind}{words}", kind, detail, 1 - least.information)


def _with_intervals(result: Result, uncertainty: Uncertainty) -> Result:
    """The result with its intervals, the effective size of each CPT row, and doubts."""
    families: dict[str, FamilyReport] = {}
    for name, report in result.families.items():
        doubts: list[str] = [*_weak(name, uncertainty.weak_directions)]
        if report.fallback_mass > MUCH:
            way_out = "; em has none" if report.fallback == UNGROUPED else ""
            doubts.append(BIASED.format(report.fallback_mass) + way_out)
        families[name] = replace(
            report,
            effective_sizes=uncertainty.spread_of[name].row_sizes,
            warnings=(*report.warnings, *doubts),
        )
    return replace(result, uncertainty=uncertainty, families=families)
