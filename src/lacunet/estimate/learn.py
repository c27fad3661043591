"""The road itself: a network and data in, a network with learned CPTs out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from lacunet.data.given import data_given
from lacunet.data.table import EncodedTable
from lacunet.deadline import NEVER, Deadline
from lacunet.errors import LacunetError
from lacunet.estimate.count import method_counted_for
from lacunet.estimate.deletion.forms import (
    LEARN,
    UNGROUPED,
    Deletion,
    DirectMCAR,
    FactoredMAR,
    Informed,
    check_size,
)
from lacunet.estimate.deletion.settled import settled_tables
from lacunet.estimate.em.method import EM
from lacunet.estimate.em.on_graph import OnGraph, learn_on_graph
from lacunet.estimate.intervals import Uncertainty, uncertainty_of
from lacunet.estimate.method import Ended, FamilyReport, Learned, Method, MethodError, Setting
from lacunet.estimate.mgraph import MGraph, standing_in
from lacunet.estimate.registry import method_named
from lacunet.formats.files import AnyNetwork, as_network
from lacunet.memory import memory_budget
from lacunet.missingness.augmented import augmented, without_hidden_causes
from lacunet.missingness.fitted import MOST_ROWS, observed_mechanisms
from lacunet.missingness.graph import MissingnessGraph, graph_of
from lacunet.model.mechanisms import Mechanisms
from lacunet.model.network import Cpt, FloatArray, Network
from lacunet.progress import Progress, silent
from lacunet.statistics.gather import Gathering, Statistics
from lacunet.statistics.observations import AnyRows, Held, Observations, observations
from lacunet.statistics.spark import OnSpark
from lacunet.statistics.streamed import KnownBetterError, Streamed
from lacunet.uncertainty.bounds import WorstCase, bounds
from lacunet.uncertainty.spread import rows_per_weight
from lacunet.uncertainty.steps import step_scopes
from lacunet.wording import counted

MUCH = 0.05  # of the rows' weight fell back: more than chance may hide
SETTLED = (
    "{}: rows that fell back pull what was learned; intervals go by what seems to decide on "
    "being missing instead, and may lie to one side"
)
ON_GRAPH = "EM on the missingness graph: the mechanisms are observed nodes of the network"


@dataclass(frozen=True, repr=False)
class Result:
    """What was learned, and what it rests on.

    ``network`` has the learned CPTs; ``families`` says of each variable's CPT which estimand
    it is, from how many rows, how much of it fell back and on what. ``ended`` tells how an
    iterative method ended, None for a closed form. ``why`` is the reason for the method,
    where the method was chosen and not given. ``mechanisms`` are the CPTs of the mechanisms,
    where EM learned them from a missingness graph; ``uncertainty`` is None unless intervals
    were asked for.
    """

    network: Network
    families: Mapping[str, FamilyReport]
    method: str
    rows: int
    total: float
    prior: float
    missing: Mapping[str, int]
    notes: tuple[str, ...]
    ended: Ended | None = None
    why: str = ""
    mechanisms: Mapping[str, Cpt] = field(default_factory=dict)
    uncertainty: Uncertainty | None = None

    def __repr__(self) -> str:
        warnings = counted(len(self.warnings), "warning")
        cpts = counted(len(self.network.variables), "CPT")
        return f"<Result: {cpts} by {self.method} from {counted(self.rows, 'row')}, {warnings}>"

    def _repr_html_(self) -> str:
        told = "".join(f"<li>{escape(warning)}</li>" for warning in self.warnings)
        return f"<p>{escape(repr(self))}</p><ul>{told}</ul>{self.network._repr_html_()}"

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings of all families, each with its variable."""
        return tuple(
            f"{name}: {warning}"
            for name, report in self.families.items()
            for warning in report.warnings
        )

    def interval(self, variable: str, level: float = 0.95) -> FloatArray:
        """The interval of every entry of a CPT: its axes, then low and high."""
        return self.sure().interval(self.network.known(variable), level)

    def standard_error(self, variable: str) -> FloatArray:
        """The standard error of every entry of a CPT."""
        return self.sure().standard_error(self.network.known(variable))

    def bounds(self, variable: str) -> WorstCase:
        """The lowest and highest value of every CPT entry, whatever the missing values are.

        They rest on no assumption about why values are missing; the prior has no part in them.
        The rows are a sample: `interval` of what is returned allows for that.
        """
        return bounds(self.families[self.network.known(variable)].counts)

    def sure(self) -> Uncertainty:
        """How sure the CPTs are, if that was asked for."""
        if self.uncertainty is None:
            raise MethodError(
                "the result has no intervals.", "learn with intervals=True (--intervals)."
            )
        return self.uncertainty


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while learning; ``result`` is the best so far."""

    def __init__(self, result: Result) -> None:
        super().__init__("interrupted; the best so far is in the exception's `result`")
        self.result = result


def learn(
    network: AnyNetwork,
    data: Any,
    method: str | Method | None = None,
    prior: float = 2.0,
    weight: Any = None,
    *,
    counts: Any = None,
    strata: Any = None,
    cluster: Any = None,
    missing: Any = (),
    rng: np.random.Generator | int | None = None,
    memory: int | None = None,
    scratch: str | Path | None = None,
    jobs: int = 1,
    progress: Progress = silent,
    intervals: bool = False,
    **options: Any,
) -> Result:
    """Learn the CPTs of a network from data with missing values.

    Parameters
    ----------
    network
        Structure and states; CPTs, if it has any, are not looked at. Also a result of learning,
        a file's path, or the name of a bundled network.
    data
        A path or several, a dataframe of any library, an Arrow table, a DuckDB relation; or
        `lacunet.Data`, which also says how to read them: queries, delimiters, latent variables,
        values that are not states.
    method
        A method's name, or a method with its options. By default "auto", or "mgraph" where
        ``missingness`` is given.
    prior
        The concentration of the symmetric Dirichlet prior: 2 adds one pseudo-count per cell,
        1 none.
    weight
        Sampling weights: the name of a column, or one for each row.
    counts
        How many rows each row stands for: the name of a column, or one for each row.
    strata, cluster
        How the rows were sampled: the names of columns, or one label for each row.
    missing
        Further values that mean "not observed": one, a list, or a mapping from columns to them.
    rng
        The source of randomness, or a seed, for methods that use any.
    memory
        The budget in bytes; by default half of the memory there is. Rows that take more than a
        fourth of it are not held: they are read when they are counted.
    scratch
        The folder for temporary files of rows that do not fit in memory; by default the system's.
    jobs
        The number of processes that read and count such rows.
    progress
        Called as the work goes on.
    intervals
        Whether to find out how sure every CPT entry is: `Result.interval` and
        `Result.standard_error`, and for answers `lacunet.query` with ``interval=True``. Direct
        deletion and EM take a few more fits, other methods some thirty.
    options
        The options of the method, such as ``restarts=5`` for "em" or ``separator=["Age"]`` for
        "informed-direct"; ``missingness`` is a graph, its text or a file's path. With it, "em"
        and "auto" learn the mechanisms too, as observed nodes of the network: maximum
        likelihood under the graph.

    Raises
    ------
    LacunetError
        Something is wrong with the input; the message says what, where and the way out.
    Interrupted
        On Ctrl-C, once there is a result to return; it is a KeyboardInterrupt.
    """
    network = as_network(network)
    method = method_counted_for(data) if method is None else method
    graph = None
    if options.get("missingness") is not None and (method in ("em", "auto")):
        graph = graph_of(options.pop("missingness"), network)
    method = checked_method(network, method, options)
    if not (isinstance(prior, Real) and np.isfinite(float(prior)) and prior >= 1):
        raise MethodError(
            f"prior is {prior!r}, but the Dirichlet concentration must be a number of at least 1 "
            "(1: maximum likelihood, 2: one pseudo-count per cell)."
        )
    budget = memory_budget(memory)
    check_size(network, method.bytes_per_cell, budget)
    deadline = Deadline.within(getattr(method, "time_limit", None))  # reading takes time too
    said = {"weight": weight, "counts": counts, "missing": missing}
    said |= {"strata": strata, "cluster": cluster}
    jobs = _checked_jobs(jobs)
    with observations(
        data_given(data, **said), network, budget, scratch=scratch, jobs=jobs, progress=progress
    ) as source:
        random = np.random.default_rng(0 if rng is None else rng)
        setting = Setting(float(prior), random, budget, progress, deadline)
        state = random.bit_generator.state
        try:
            return _learned(method, network, graph, source, setting, intervals)
        except KnownBetterError as better:  # begin again, as if it had been known
            random.bit_generator.state = state
            return _learned(method, network, graph, better.source, setting, intervals)


def _learned(
    method: Method,
    network: Network,
    graph: MissingnessGraph | None,
    source: AnyRows,
    setting: Setting,
    intervals: bool,
) -> Result:
    """The result of a method, from rows that are in memory or not."""
    _check_rows(source, graph, intervals)
    if isinstance(method, Informed) and method.separator == LEARN:
        known = observed_mechanisms(network, source.some_rows(MOST_ROWS))
        method = replace(method, separator=(), missingness=known)
    if graph is None:
        learned = _fitted(method, network, source, setting)
        learner, learned_from = method, source.table
    else:
        time_limit = getattr(method, "time_limit", None)
        learner = method if isinstance(method, EM) else EM(time_limit=time_limit)
        found, learned = _on_graph(graph, learner, source, setting)
        learned_from = found.augmented.table
    seen = learned.statistics
    assert seen is not None
    result = Result(
        network.with_tables(learned.tables)
        .with_support(_support(learned, seen))
        .with_mechanisms(_mechanisms(method, graph, {} if graph is None else found.mechanisms)),
        learned.families,
        method.name,
        seen.rows,
        seen.total,
        setting.prior,
        {name: seen.missing_of[name] for name in network.variables},
        (*seen.notes, *learned.notes),
        learned.ended,
        learned.why,
        {} if graph is None else found.mechanisms,
    )
    if result.ended is not None and result.ended.reason == "interrupted":
        raise Interrupted(result)
    if intervals and learned_from is not None:
        whole = result.network if graph is None else found.whole
        try:
            sure = _uncertainty(learner, whole, learned_from, setting, learned)
        except KeyboardInterrupt:  # what was learned is not lost
            raise Interrupted(result) from None
        if not sure.by_likelihood:
            worth = rows_per_weight(learned_from.weights)
            supported = {
                name: spread.supported_by(result.families[name].support * worth)
                for name, spread in sure.spread_of.items()
                if name in result.families
            }
            sure = replace(sure, spread_of=supported)
        result = replace(
            result,
            uncertainty=sure,
            families=_with_sizes(result.families, sure),
            notes=(*result.notes, *_on_fallen(result.families)),
        )
    return result


def _support(learned: Learned, seen: Statistics) -> dict[str, FloatArray]:
    """The weight behind each CPT row; a variable that no row shows is hidden, not unsupported."""
    hidden = {name for name, missing in seen.missing_of.items() if missing == seen.rows}
    return {
        name: report.support
        for name, report in learned.families.items()
        if hidden.isdisjoint((name, *report.parents))
    }


def _mechanisms(
    method: Method, graph: MissingnessGraph | None, cpt_of: Mapping[str, Cpt]
) -> Mechanisms | None:
    """How values went missing, where a graph was given."""
    known = method.graph if isinstance(method, MGraph) else graph
    return None if known is None else Mechanisms(str(known), cpt_of)


def _fitted(method: Method, network: Network, source: AnyRows, setting: Setting) -> Learned:
    """What a method learns; the CPTs that `mgraph` leaves to EM by EM on its graph.

    Plain EM takes them where rows are not held, or where two variables share a hidden cause.
    """
    if not (isinstance(method, MGraph) and method.otherwise == EM.name and source.table):
        return carry_out(method, network, source, setting)
    try:
        without_hidden_causes(method.graph)
    except LacunetError:
        return carry_out(method, network, source, setting)
    learned = carry_out(replace(method, otherwise="prior"), network, source, setting)
    left = [name for name, report in learned.families.items() if report.fallback == "prior"]
    if not left:
        return learned
    _, stand_in = _on_graph(method.graph, EM(), source, setting)
    return standing_in(learned, stand_in, left, "em on the missingness graph")


def _on_graph(
    graph: MissingnessGraph, em: EM, source: AnyRows, setting: Setting
) -> tuple[OnGraph, Learned]:
    """EM on the network that the mechanisms are part of, from what the graph recovers."""
    assert not isinstance(source, OnSpark)  # refused before
    network = graph.network
    first = carry_out(MGraph(graph, otherwise="factored-mar"), network, source, setting)
    table = source.patterns() if source.table is None else source.table
    with_mechanisms = partial(_with_mechanisms, graph, table.missing_of)

    def fit(wide: Network, rows: EncodedTable, start: Network | str) -> Learned:
        own = replace(em, start=start, restarts=1 if start == "random" else em.restarts)
        wider = Held(rows) if source.table is not None else source.mapped(with_mechanisms, wide)
        return carry_out(own, wide, wider, setting)

    found = learn_on_graph(graph, table, fit, network.with_tables(first.tables))
    learned = Learned(found.tables, found.families, found.ended, ON_GRAPH, (), first.statistics)
    return found, learned


def _with_mechanisms(
    graph: MissingnessGraph, missing_of: Mapping[str, int], table: EncodedTable
) -> EncodedTable:
    """Some of the rows with the mechanisms that all of them ask for."""
    return augmented(graph, replace(table, missing_of=missing_of)).table


def _uncertainty(
    method: Method,
    network: Network,
    table: EncodedTable,
    setting: Setting,
    learned: Learned,
) -> Uncertainty:
    """How sure the CPTs of a network are that a method learned from rows."""
    ended = learned.ended
    fell_back = {name for name, report in learned.families.items() if report.fallback_mass > 0}
    if method.name == "auto" and not table.partially_observed:
        method = DirectMCAR()  # plain frequencies
    elif method.name == "auto" and fell_back:
        method = FactoredMAR()  # EM made no step
    plan = None if method.name == "mgraph" else method.plan(network, table.partially_observed)
    given_of = {asked.family[-1]: asked.given for asked in plan.needs.groupings} if plan else {}
    scopes_of = step_scopes(network, table, given_of, fell_back)
    hides_any = any(count == table.rows for count in table.missing_of.values())
    again = _again(method, network, ended, hides_any)
    is_em = method.name == "auto" and ended is not None and ended.reason == "converged"
    quietly = replace(setting, progress=silent, deadline=NEVER)

    def refit(rows: EncodedTable) -> Network:
        if not isinstance(again, Deletion):
            return network.with_tables(_fitted(again, network, Held(rows), quietly).tables)
        needs = again.plan(network, rows.partially_observed).needs
        counted_rows = Held(rows).gather(Gathering(needs, network, memory=setting.memory / 4))
        return network.with_tables(
            settled_tables(again, network, rows, counted_rows, scopes_of, setting.prior)
        )

    return uncertainty_of(
        EM.name if is_em else method.name,
        network,
        table,
        setting.prior,
        refit,
        scopes_of,
        memory=setting.memory,
        progress=setting.progress,
    )


def _again(method: Method, network: Network, ended: Ended | None, hides_any: bool) -> Method:
    """The method that parts of the rows are learned by, to see how far the CPTs move.

    As many steps as all rows made, where rows held out chose their number: were it chosen anew
    from each part, a step more or less would count for more than the rows left out. EM that
    has converged starts from where it ended; so does EM that ``hides_any`` variable from view,
    or its states would change places. Where optima were averaged, all of it is done again.
    """
    is_em = isinstance(method, EM) or method.name == "auto"
    if ended is None or not is_em or ended.reason == "optima averaged":
        return method
    em = method if isinstance(method, EM) else EM()
    if ended.reason == "held-out peak" and not hides_any:
        return replace(em, stop=ended.iterations, restarts=1)
    if em.stop == "converge" or hides_any:
        return replace(em, start=network, stop="converge", restarts=1)
    return em


def _with_sizes(families: Mapping[str, FamilyReport], sure: Uncertainty) -> dict[str, FamilyReport]:
    """The reports with the effective size of each family, and what intervals do not know.

    The effective size is that of all rows of the CPT together.
    """
    found = {}
    for name, report in families.items():
        doubts = [
            f"not identified by the data: {d}" for d in sure.unidentified if name in d.families
        ]
        if report.fallback_mass > MUCH and report.fallback != UNGROUPED:
            doubts.append("its intervals do not count the bias of the rows that fell back")
        found[name] = replace(
            report,
            effective_size=float(sure.effective_size(name).sum()),
            warnings=(*report.warnings, *doubts),
        )
    return found


def _on_fallen(families: Mapping[str, FamilyReport]) -> list[str]:
    """What intervals make of rows that fell back on an estimate without groups."""
    reports = families.values()
    fell = sum(one.fallback_mass > MUCH and one.fallback == UNGROUPED for one in reports)
    return [SETTLED.format(counted(fell, "CPT"))] if fell else []


def carry_out(method: Method, network: Network, source: Observations, setting: Setting) -> Learned:
    """Plan, count, estimate."""
    if setting.deadline == NEVER:
        setting = replace(setting, deadline=Deadline.within(getattr(method, "time_limit", None)))
    plan = method.plan(network, source.partially_observed)
    seed = int(setting.rng.integers(2**62)) if plan.needs.heldout else 0
    how = Gathering(plan.needs, network, setting.deadline, setting.memory / 4, seed)
    statistics = source.gather(how, setting.progress)
    learned = method.estimate(plan, statistics, setting)
    return replace(learned, notes=(*plan.notes, *learned.notes), statistics=statistics)


def _check_rows(source: AnyRows, graph: MissingnessGraph | None, intervals: bool) -> None:
    """Refuse, before anything is counted, what needs rows that are not there."""
    if isinstance(source, OnSpark) and (intervals or graph is not None):
        raise MethodError(
            f"{'intervals' if intervals else 'EM on a missingness graph'}: the rows of a Spark "
            "DataFrame stay where they are, and they are needed here.",
            "learn without, or from as many rows as fit in memory: data.limit(1000000).toArrow().",
        )
    if intervals and isinstance(source, Streamed):
        raise MethodError(
            "intervals: all rows have to be in memory for them, and they do not fit in the budget.",
            "raise memory=... (--memory), or learn without.",
        )
    if intervals and (source.table is None or source.table.copies is not None):
        raise MethodError(
            "intervals: the rows themselves are needed for them, not their statistics.",
            "learn from the data, or without.",
        )


def _checked_jobs(jobs: int) -> int:
    if not isinstance(jobs, int) or isinstance(jobs, bool) or jobs < 1:
        raise MethodError(f"jobs is {jobs!r}, but must be a whole number of at least 1.")
    return jobs


def checked_method(
    network: Network, method: str | Method | None, options: Mapping[str, Any]
) -> Method:
    """The method with its options, if what was given makes sense."""
    given = {option: value for option, value in options.items() if value is not None}
    if "missingness" in given:
        given["missingness"] = graph_of(given["missingness"], network)
    if method is None:
        method = "mgraph" if "missingness" in given else "auto"
    if isinstance(method, str):
        return method_named(method, **given)
    if not (hasattr(method, "plan") and hasattr(method, "estimate")):
        raise MethodError(f"method is {method!r}, but must be a method's name or a method.")
    for option in given:
        raise MethodError(
            f"{option}= goes with a method's name; a method given as a value has its own options.",
            f"give {option} to the method.",
        )
    return method
