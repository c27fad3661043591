"""What a missingness graph says of a query, and the estimate where it says yes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from html import escape
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lacunet.counts.distinct_rows import Rows
from lacunet.data.data import as_data
from lacunet.data.table import whole_rows
from lacunet.errors import ByName, warn
from lacunet.missingness.errors import (
    MissingnessGraphError,
    NoRowsError,
    NotRecoverableError,
    TooLargeEstimandError,
)
from lacunet.missingness.formulas.notation import Notation, Readable
from lacunet.missingness.formulas.pattern_odds import PatternOdds
from lacunet.missingness.formulas.samples import (
    Run,
    Sample,
    Unfounded,
    choose_samples,
    parts_of_term,
)
from lacunet.missingness.formulas.terms import LARGEST_TABLE, Basis, Conditional, InPopulation, Term
from lacunet.missingness.identified.assumptions import Assumptions, check_assumptions
from lacunet.missingness.identified.generic import is_generic
from lacunet.missingness.identified.identified_sets import (
    IdentifiedSet,
    best_fit,
    ends_of,
    lifted_near,
)
from lacunet.missingness.population import laws_over
from lacunet.missingness.refute.ordered_query import Asked
from lacunet.missingness.refute.witness import Witness
from lacunet.missingness.refute.witness_text import other_states, two_models
from lacunet.missingness.separation.drawing import Drawing
from lacunet.missingness.verdict_rows import gather_rows
from lacunet.network.arguments import clear_arguments
from lacunet.network.named_axes import Table
from lacunet.network.network import FloatArray, Network, Scope
from lacunet.network.nodes import SELECTION, Mechanism
from lacunet.text import counted, listed, read_formula
from lacunet.text_tables import Displayed, TextTable, details

if TYPE_CHECKING:
    from lacunet.inference.answer import Answer

RECOVERABLE = "recoverable"
NOT_RECOVERABLE = "not recoverable"
UNDECIDED = "undecided"
BETTER = 1.05  # times the weighted sample size, for another estimand than the first to be taken
IDENTIFIED = (
    "for almost all models with these numbers of states, no other model close by gives the same "
    "data"
)
WAY_OUT = (
    f"{IDENTIFIED}, so EM estimates it: "
    "result = lacunet.learn(graph, data, method='em', intervals=True)"
)
WAY_OUT_IN_POPULATION = (
    f"{IDENTIFIED} and the same population: verdict.identified_set(data, population=...)"
)
FEW_OF_SHOWN = 0.05  # of the rows that show the query; below it a warning


class _WithEstimand(Readable):
    """How an estimand is written, if there is one."""

    asked: Asked
    term: Term | None

    @property
    def target(self) -> Scope:
        """The variables left of the bar: the last axes of a table."""
        return self.asked.target

    def written(self, notation: Notation) -> str:
        """The estimand in some notation; empty if there is none."""
        return "" if self.term is None else self.term.equation(notation)


@dataclass(frozen=True, repr=False)
class Estimation(Displayed, _WithEstimand):
    r"""An estimate of P(target | given, do(do)) and what it rests on.

    ``table`` has the axes do..., given... then target...; a configuration of the conditions
    about which the data say nothing holds NaN, and ``unseen`` counts these. ``given_share`` is
    the share of each configuration of the conditions among the weighted rows. ``weighted_size`` is
    Kish's :math:`(\sum w)^2 / \sum w^2` over the inverse propensities of the rows used,
    ``largest_weight`` the largest of these, ``share_used`` the rows used among all rows.
    ``term`` is the estimand that was computed: of several, the one with the largest weighted
    sample size. ``warnings`` name what backed off for lack of data. Where the data contradict what
    the estimand assumes, the table holds NaN alone, ``is_founded`` is false and the warning
    says why.
    """

    asked: Asked
    table: FloatArray
    given_share: FloatArray
    rows_shown: int
    unseen: int
    warnings: tuple[str, ...]
    term: Term
    weighted_size: float
    largest_weight: float
    rows_used: int
    share_used: float
    is_founded: bool

    def __repr__(self) -> str:
        return f"<Estimation of {self.asked} from {counted(self.rows_used, 'row')}>"

    def _parts(self) -> list[str]:
        rows = f"{counted(self.rows_used, 'row')} ({self.share_used:.1%} of all)"
        return [f"{self.asked}, from {rows}", read_formula(self.estimand), *self.warnings]

    @property
    def given(self) -> Scope:
        """The conditions: what is done, then what is seen; the first axes."""
        return self.asked.conditions


@clear_arguments
@dataclass(frozen=True)
class Verdict(_WithEstimand):
    """Whether P(target | given, do(do)) can be recovered, why, and by which estimand.

    ``status`` is "recoverable", "not recoverable" or "undecided". ``estimand`` and ``latex``
    are empty unless it is recoverable. ``witness`` holds two models that look the same and
    differ in the query, where such a pair is the reason. ``is_computable`` is false where
    the estimand is too large to compute. A verdict is true where ``is_recoverable`` is.
    ``find_terms`` gives more estimands of the same query;
    on data the one with the largest weighted sample size is taken.
    """

    graph: Drawing
    asked: Asked
    status: str
    why: str
    term: Term | None = None
    witness: Witness | None = None
    is_computable: bool = True
    find_terms: Callable[[], tuple[Term, ...]] | None = None
    population: tuple[Scope, ...] = ()
    is_cut_short: bool = False  # whether a time limit ended the search

    @property
    def terms(self) -> tuple[Term, ...]:
        """The estimand and others of the same query, searched for when they are asked for."""
        if self.find_terms is not None:
            return self.find_terms()
        return () if self.term is None else (self.term,)

    @property
    def given(self) -> Scope:
        """The variables seen."""
        return self.asked.given

    @property
    def do(self) -> Scope:
        """The variables intervened on."""
        return self.asked.do

    @property
    def query(self) -> str:
        """The query in words."""
        return str(self.asked)

    def _repr_html_(self) -> str:
        entries = "".join(
            f'<li style="white-space:pre-wrap">{escape(line)}</li>' for line in self._reasons
        )
        why = details("why", f"<p>{escape(self.why)}</p>") if self.estimand else ""
        return f"<p>{escape(self.query)} is <b>{self.standing}</b></p><ul>{entries}</ul>{why}"

    def __repr__(self) -> str:
        return f"<Verdict: {self._sentence}>"

    def __str__(self) -> str:
        return f"{self._sentence}: {'; '.join(self._reasons)}"

    @property
    def _sentence(self) -> str:
        return f"{self.query} is {self.standing}"

    @property
    def _reasons(self) -> list[str]:
        """The formula or why there is none, and what to do then."""
        why = read_formula(self.estimand) or self.why
        if self.status == NOT_RECOVERABLE and self.generic:
            why = f"no formula recovers it in every model ({why})"
        return [line for line in (why, self._way_out) if line]

    @property
    def _way_out(self) -> str:
        if self.term is not None or not self.generic:
            return ""
        return WAY_OUT_IN_POPULATION if self.population else WAY_OUT

    def __bool__(self) -> bool:
        return self.is_recoverable

    @property
    def is_recoverable(self) -> bool:
        """Whether there is an estimand that can be computed."""
        return self.term is not None and self.is_computable

    @property
    def generic(self) -> bool | None:
        """Whether the data determine the query for the numbers of states of this network.

        "Not recoverable" means that no formula gives the query in every model of the graph: for
        some numbers of states, two models give the same data and differ in the query. This is
        about the numbers of states at hand: for almost all models with these, no other model close
        by gives the same data. None where that is too large to decide, or a time limit left no time
        for it. Where it is true, EM on the graph estimates it: ``learn(network, data, method="em",
        missingness=graph)``.
        """
        if self.term is None and self.is_cut_short:
            return None
        return self.term is not None or is_generic(self.graph, self.asked, self.population)

    @property
    def standing(self) -> str:
        """The status in words, and whether the states at hand identify what it leaves open."""
        if self.term is None and self.generic:
            return f"{self.status} in general, but identified for these numbers of states"
        return self.status

    @property
    def two_models(self) -> str:
        """Where two models that give the same data differ, as a table; empty without a pair."""
        if self.witness is None:
            return ""
        network = self.graph.network
        rows = two_models(self.witness, network)
        states = other_states(self.witness, network)
        table = str(TextTable(["", "model 1", "model 2"], rows))
        return f"{table}\n({states})" if states else table

    def population_laws(self, given: Any) -> dict[Scope, Table]:
        """The laws that are known in the population, as tables over the sets of variables.

        Raises
        ------
        MissingnessGraphError
            They are needed and not given, or not for these variables; or given, and the verdict
            does not know of them.
        """
        scopes = self.population
        if given is not None and not scopes:
            raise MissingnessGraphError(
                f"{self.query} was decided without a law of the population.",
                "say which variables it is known of: graph.recover(..., population=['Age']).",
            )
        if given is None and (self.term is None or not _needed(self.term)):
            return {}
        if given is None:
            raise MissingnessGraphError(
                f"the estimand needs the law of {listed(scopes[0])} in the population.",
                "give it as population=: rows that are no selection, or {name: probabilities}.",
            )
        return laws_over(self.graph.network, scopes, given)

    def identified_set(self, data: object, *, population: object = None) -> IdentifiedSet:
        """The lowest and highest values of the query over all models that fit the data best.

        One point where the query is recoverable or otherwise identified. ``population`` is as in
        `estimate`: models that differ from it are left out.

        Raises
        ------
        TooLargeEstimandError
            The models have too many configurations to be followed.
        """
        laws = self.population_laws(population)
        model = lifted_near(self.graph, self.asked, tuple(laws))
        given = as_data(data)
        gathered = gather_rows(self.graph, given, model.variables, groups=0)
        fit = best_fit(model, gathered.whole, laws, gathered.parts(), gathered.scales)
        states = tuple(
            ("0", "1") if isinstance(name, Mechanism) else self.graph.network.states(name)
            for name in self.asked.names
        )
        return replace(ends_of(fit, self.asked), degrees=gathered.degrees, states=states)

    def assumptions(self, data: object, *, population: object = None) -> Assumptions:
        """What the graph assumes, edge by edge: if the data can refute it, and if the query moves.

        ``population`` is as in `estimate`.

        Raises
        ------
        TooLargeEstimandError
            The models have too many configurations to be fitted.
        """
        laws = self.population_laws(population)
        model = lifted_near(self.graph, self.asked, tuple(laws))
        given = as_data(data)
        rows = gather_rows(self.graph, given, model.variables).rows
        assumptions = check_assumptions(self.graph, self.asked, model, rows, laws)
        return replace(assumptions, is_designed=given.has_design)

    def estimate(
        self,
        data: object,
        *,
        intervals: bool = False,
        level: float = 0.95,
        population: object = None,
    ) -> Answer:
        """The probabilities asked for, estimated from data; no pseudo-counts are added.

        By the formula, where there is one. Else it is the value that all models of the graph that
        fit the data best agree on, or NaN with the lowest and highest of theirs as ``bounds``
        (`identified_set`), which take seconds.

        Parameters
        ----------
        data
            As `lacunet.learn` takes it.
        intervals, level
            Whether to compute intervals, and their level.
        population
            Where the formula needs a distribution among everyone that `MissingnessGraph.recover`
            was told is known: rows that are not selected, or the probabilities of the states of
            each variable, ``{"Age": [0.4, 0.6]}``.

        Returns
        -------
        What `Network.query` returns: an array that prints with the names of its states. Its first
        axes are the variables set by do, then those given, the last ones the target. Conditions
        about which the data say nothing hold NaN.

        Raises
        ------
        NotRecoverableError
            No row shows what its estimand needs, or the query is about a latent variable.
        TooLargeEstimandError
            There is no formula, and too many models to follow.

        Warns
        -----
        LacunetWarning
            The query is not recoverable, positivity fails in the data, or few rows stand for all.
        """
        from lacunet.learning.uncertainty.by_formula import answer_to

        answer, warnings = answer_to(self, as_data(data), level if intervals else None, population)
        for text in warnings:
            warn(f"{self.query}: {text}.")
        return answer

    def estimate_with_report(self, data: object, *, population: object = None) -> Estimation:
        """The estimate together with what it rests on; its ``warnings`` are not issued."""
        laws = self.population_laws(population)
        gathered = gather_rows(self.graph, as_data(data), columns_needed(self))
        return estimate(self, gathered.rows, laws)


def columns_needed(verdict: Verdict) -> Scope:
    """The columns that a verdict's estimand reads, in the network's order; none without one."""
    if verdict.term is None:
        return ()
    asked = frozenset(verdict.asked.variables)
    columns = asked.union(*(term.columns for term in verdict.terms))
    return tuple(name for name in verdict.graph.network.variables if name in columns)


def _needed(term: Term) -> list[Scope]:
    """The laws of the population that an estimand takes."""
    return [part.known for part in parts_of_term(term) if isinstance(part, InPopulation)]


def estimate(
    verdict: Verdict, rows: Rows, population: Mapping[Scope, Table] | None = None
) -> Estimation:
    """Carry out a verdict's estimand on the distinct rows over `columns_needed`."""
    term = verdict.term
    network = verdict.graph.network
    if term is None:
        raise not_recoverable(verdict, f"result.query({verdict.query!r})")
    laws = population or {}
    usable = [each for each in verdict.terms if all(scope in laws for scope in _needed(each))]
    small = [each for each in usable if largest_table(each, network) <= LARGEST_TABLE]
    if not small or not verdict.is_computable:
        reason = f"is {verdict.status}: {verdict.why}"
        if verdict.is_computable:
            cells = largest_table(term, network)
            reason = f"is too large to compute: tables of up to {cells:.3g} cells"
        hint = "ask for fewer variables at once."
        raise TooLargeEstimandError(f"{verdict.query} {reason}.", hint)

    best: _Computed | None = None
    refusals = []
    for candidate in small:
        run = Run(rows, laws)
        try:
            result = candidate.compute(run)
        except Unfounded as error:
            refusals.append(str(error))
            continue
        if best is None or result.basis.weighted_size > BETTER * best.result.basis.weighted_size:
            best = _Computed(result, run, candidate)

    if best is None:  # the rows contradict each of them: a table of NaN, with the first reason
        run = Run(rows, notes={f"positivity: {refusals[0]}: nothing is estimated": None})
        nothing = _Computed(_unknown(verdict.asked, rows), run, choose_samples(term, run.chosen))
        return _reported(verdict, nothing, is_founded=False)
    computed = best._replace(term=choose_samples(best.term, best.run.chosen))
    if not (computed.result.basis.rows_used and computed.result.mass.array.sum()):
        raise _no_rows(verdict, computed.term, rows)
    return _reported(verdict, computed, is_founded=True)


class _Computed(NamedTuple):
    """What an estimand comes to on some rows."""

    result: Conditional
    run: Run  # with what was noted of the data
    term: Term


def not_recoverable(verdict: Verdict, question: str) -> NotRecoverableError:
    """Refuse an estimate; ``question`` is what to ask EM's result, where the states identify it."""
    if verdict.generic and not verdict.population:
        hint = f"{WAY_OUT}, then {question}."
    elif {*verdict.asked.variables} & {*verdict.graph.latent}:
        hint = "ask about variables that rows show."
    else:
        hint = (
            "verdict.identified_set(data) gives the lowest and highest values that fit the data "
            "(lacunet recover --query ... --data ROWS)."
        )
    return NotRecoverableError(
        f"{verdict.query} is {verdict.standing} under this missingness graph ({verdict.why}).", hint
    )


def largest_table(term: Term, network: Network) -> float:
    """The number of cells of the largest table that a term fills."""

    def cells(scope: Scope) -> float:
        mechanisms = sum(isinstance(name, Mechanism) for name in scope)
        variables = [name for name in scope if not isinstance(name, Mechanism)]
        return prod(map(float, network.shape(variables))) * 2.0**mechanisms

    return max(map(cells, term.scopes()))


def _no_rows(verdict: Verdict, term: Term, rows: Rows) -> NoRowsError:
    """What should have been shown together: all that a sample of the estimand selects on."""
    samples = [part.selected for part in parts_of_term(term) if isinstance(part, Sample)]
    odds = [part for part in parts_of_term(term) if isinstance(part, PatternOdds)]
    samples += [(*part.free, *part.sample.selected) for part in odds]
    lacking = next((sample for sample in samples if not rows.shows(sample).any()), ())
    needed = [mechanism.variable for mechanism in lacking if mechanism != SELECTION]
    return NoRowsError(
        f"{verdict.query} cannot be estimated: no row shows all of {listed(needed or rows.scope)}, "
        "which its estimand needs together."
    )


def _unknown(asked: Asked, rows: Rows) -> Conditional:
    """No number where the data contradict what the estimand assumes."""
    shape = tuple(2 if isinstance(name, Mechanism) else rows.size(name) for name in asked.names)
    table = Table(asked.names, np.full(shape, np.nan))
    mass = Table(asked.conditions, np.zeros(shape[: len(asked.conditions)]))
    return Conditional(
        target=asked.target,
        given=asked.conditions,
        table=table,
        mass=mass,
        basis=Basis(0.0, 0.0, 0.0),
    )


def _reported(verdict: Verdict, computed: _Computed, *, is_founded: bool) -> Estimation:
    """The estimate with what it rests on; unless it ``is_founded`` it has no numbers."""
    asked = verdict.asked
    result, run, term = computed
    basis = result.basis
    rows = run.rows
    table = result.table.aligned(asked.names)
    empty = np.isnan(table).any(axis=tuple(range(len(asked.conditions), table.ndim)))
    shown = whole_rows(float(rows.counts[rows.is_shown(asked.variables)].sum()))
    used = round(basis.rows_used)
    notes = tuple(run.notes)
    if is_founded and used < FEW_OF_SHOWN * shown:
        notes += (f"it rests on {used:,} of the {shown:,} rows that show the query",)
    return Estimation(
        asked=asked,
        table=np.array(table, order="C"),
        given_share=np.array(result.mass.aligned(asked.conditions), order="C"),
        weighted_size=basis.weighted_size,
        largest_weight=basis.largest_weight,
        rows_used=used,
        rows_shown=shown,
        share_used=basis.rows_used / rows.counts.sum(),
        unseen=int(np.count_nonzero(empty)),
        warnings=notes,
        term=term,
        is_founded=is_founded,
    )


class Verdicts(ByName[Verdict]):
    """The verdicts on several CPTs, by variable; printed one line each."""

    def __repr__(self) -> str:
        counts = Counter(verdict.status for verdict in self.values())
        standings = ", ".join(f"{number} {status}" for status, number in counts.items())
        return f"<Verdicts: {standings}>"

    def _parts(self) -> Iterator[object]:
        yield from map(str, self.values())
