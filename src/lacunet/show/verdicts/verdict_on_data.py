"""A verdict together with what the data say: the estimate, its intervals, or the identified set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from lacunet.data.data import Data
from lacunet.data.table import EncodedTable
from lacunet.learning.uncertainty.by_formula import estimate_by_formula
from lacunet.missingness.errors import AgainstGraphError, NotRecoverableError
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.identified.assumptions import Assumptions
from lacunet.missingness.identified.identified_sets import IdentifiedSet
from lacunet.missingness.implications import (
    Implication,
    TestedImplication,
    check_implications,
    implications,
    never_testable,
)
from lacunet.missingness.verdict import Estimation, Verdict
from lacunet.network.network import FloatArray, Scope
from lacunet.text import first_of

MAX_ASSUMED_IN_NOTE = 5  # variables whose states are assumed


@dataclass(frozen=True)
class Reported:
    """A verdict and what the data say of it.

    ``estimate`` is that of what is recoverable, with ``interval`` if that was asked for;
    ``bounds`` the identified set of what is not; ``refusal`` says why there is neither. ``states``
    are those that the query named: cells with other states are not shown. ``assumptions`` are the
    graph's, if they were asked for. ``assumed`` are the variables that are taken to have two
    states, since nothing says which they have.
    """

    verdict: Verdict
    states: Mapping[str, str] = field(default_factory=dict)
    estimate: Estimation | None = None
    interval: FloatArray | None = None
    bounds: IdentifiedSet | None = None
    refusal: str = ""
    assumptions: Assumptions | None = None
    assumed: Scope = ()

    @property
    def standing(self) -> str:
        """That of the verdict, and which numbers of states it takes for granted."""
        if not (self.assumed and self.is_generic):
            return self.verdict.standing
        assumed = first_of(self.assumed, MAX_ASSUMED_IN_NOTE)
        return f"{self.verdict.standing} (two, assumed for {assumed})"

    @property
    def is_generic(self) -> bool:
        """Whether the states at hand identify what is not recoverable for all numbers of states."""
        return self.verdict.term is None and self.verdict.generic is True

    @property
    def is_narrow(self) -> bool:
        """Whether the range of what is not identified is narrower than its sampling error."""
        bounds = self.bounds
        return bounds is not None and bounds.is_narrow and self.verdict.generic is False


def report_on_data(
    verdict: Verdict,
    table: EncodedTable | None = None,
    *,
    states: Mapping[str, str] | None = None,
    level: float | None = None,
    with_set: bool = False,
    population: object = None,
    assumed: Scope = (),
) -> Reported:
    """A verdict, and what the data say of it if there are any.

    Parameters
    ----------
    level
        Of the intervals; None for none.
    with_set
        Whether to follow the identified set of what is not recoverable, which takes seconds.
    population
        The law of what decides on selection, as `Verdict.estimate` takes it.
    assumed
        The variables that are taken to have two states.
    """
    bare = Reported(verdict, states or {}, assumed=assumed)
    if table is None or (verdict.term is None and not with_set):
        return bare
    try:
        if verdict.term is None:
            bounds = verdict.identified_set(table, population=population)
            interval = None if level is None else bounds.interval(level)
            return replace(bare, bounds=bounds, interval=interval)
        if level is None:
            estimate = verdict.estimate_with_report(table, population=population)
            return replace(bare, estimate=estimate)
        laws = verdict.population_laws(population)
        both = estimate_by_formula(verdict, Data(table), population=laws)
        return replace(bare, estimate=both.estimation, interval=both.spread.interval(level))
    except NotRecoverableError as error:
        return replace(bare, refusal=error.message)
    except AgainstGraphError as error:
        return replace(bare, refusal=_with_way_out(error))


def with_assumptions(answer: Reported, table: EncodedTable, population: object = None) -> Reported:
    """The same with what the data say of the graph's assumptions, unless they contradict it."""
    try:
        assumptions = answer.verdict.assumptions(table, population=population)
    except AgainstGraphError as error:
        return replace(answer, refusal=_with_way_out(error))
    return replace(answer, assumptions=assumptions)


def _with_way_out(error: AgainstGraphError) -> str:
    return f"{error.message.removesuffix('.')}: {error.hint}"


class Implied(NamedTuple):
    """What a graph implies, what the data say of it if there are any, and what none ever could."""

    listed: Sequence[Implication]
    tested: Sequence[TestedImplication] | None
    silent: Sequence[str]


@dataclass(frozen=True)
class GraphReport:
    """All that is asked of a graph: answers, the verdict on its full law, what it implies.

    Without answers it is about what the graph implies alone.
    """

    graph: MissingnessGraph
    answers: Sequence[Reported] = ()
    full_law: Reported | None = None
    implied: Implied | None = None


def implied_by(graph: MissingnessGraph, table: EncodedTable | None) -> Implied:
    """What a graph implies about data; tested, if there are any."""
    tested = None if table is None else check_implications(graph, table)
    return Implied(implications(graph), tested, never_testable(graph))
