"""The plan in full, told before anything is estimated; and the rows behind a query's factors.

Which rows of the data enter each factor of an estimand is the paper's appendix example.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import EncodedTable
from lacunet.estimands.deletion import Estimand, Factor
from lacunet.estimate.cpts import cells_of
from lacunet.estimate.deletion.forms import Deletion, check_size
from lacunet.estimate.intervals import work_of
from lacunet.estimate.method import Method, MethodError, Plan
from lacunet.inference.expectation.forecast import Forecast, forecast
from lacunet.memory import memory_budget
from lacunet.model.network import Network, Scope
from lacunet.statistics.count import superfamilies
from lacunet.statistics.gather import Gathering, Needs
from lacunet.statistics.observations import AnyRows
from lacunet.statistics.streamed import KnownBetterError, Streamed


@dataclass(frozen=True)
class Explanation:
    """A plan, and what it will meet in these data.

    ``shown`` counts for each variable the rows that show its family (with "listwise", every
    variable). ``tables`` are the unions of families that will be counted, ``groupings`` the
    sets of variables that rows will be grouped by, ``bytes_needed`` what the largest family
    takes. ``rows`` is None and ``shown`` empty where no data were given; ``expectation`` is
    None where the method has none. ``intervals`` says what intervals would take, ``scratch`` how
    many bytes the scratch files of rows that memory does not hold; None where it holds them.
    """

    plan: Plan
    rows: int | None
    shown: Mapping[str, int]
    tables: tuple[Scope, ...]
    groupings: tuple[Scope, ...]
    bytes_needed: int
    expectation: Forecast | None
    intervals: str
    scratch: int | None = None
    notes: tuple[str, ...] = ()


def explain(
    network: Network,
    method: Method,
    source: AnyRows | None = None,
    memory: int | None = None,
) -> Explanation:
    """Say what a method will count and estimate; no estimate is made yet.

    The data, if given, are compiled where the plan needs problems, to forecast the cost of an
    expectation.
    """
    budget = memory_budget(memory)
    check_size(network, method.bytes_per_cell, budget)
    plan = method.plan(network, None if source is None else source.partially_observed)
    radix_of = {v: network.cardinality(v) + (v in plan.partially) for v in network.variables}
    shown: dict[str, int] = {}
    cost = found = None
    if source is not None:
        needs = Needs(plan.needs.families, plan.needs.complete, problems=plan.needs.problems)
        try:
            found = source.gather(Gathering(needs, network, memory=budget / 4))
        except KnownBetterError as better:
            return explain(network, method, better.source, memory)
        for name in network.variables:
            counts = found.counts[network.family(name)]
            whole = int(counts.showing(counts.scope).tally.rows.sum())
            shown[name] = found.complete_rows if needs.complete else whole
        cost = None if found.problems is None else forecast(found.problems, budget)
    return Explanation(
        plan,
        None if found is None else found.rows,
        shown,
        tuple(union for union, _ in superfamilies(plan.needs.families, radix_of)),
        tuple(dict.fromkeys(asked.given for asked in plan.needs.groupings if asked.given)),
        max(cells_of(network, name) for name in network.variables) * plan.bytes_per_cell,
        cost,
        work_of(method.name, network, cost, budget),
        source.scratch_bytes(plan.needs) if isinstance(source, Streamed) else None,
        () if found is None else found.notes,
    )


def explain_rows(
    network: Network, method: Method, table: EncodedTable, query: Mapping[str, str]
) -> tuple[Estimand, tuple[OrderRows, ...]]:
    """The estimand of any query, and the rows that enter each of its factors."""
    if not isinstance(method, Deletion):
        raise MethodError(
            f"method {method.name!r} has no estimand to write down.",
            "choose a closed form, such as direct-mar or factored-mar.",
        )
    values = {name: network.state_index(name, state) for name, state in query.items()}
    estimand = method.estimand(tuple(query), table.partially_observed, table.fully_observed)
    return estimand, rows_entering(estimand, table, values)


RowNumbers = NDArray[np.int64]


@dataclass(frozen=True)
class FactorRows:
    """A factor and the numbers of the rows that enter it, the first row being 1."""

    factor: Factor
    rows: RowNumbers


@dataclass(frozen=True)
class OrderRows:
    """One product of factors, each with its rows, and the rows of all of them together."""

    factors: tuple[FactorRows, ...]
    together: RowNumbers


def rows_entering(
    estimand: Estimand, table: EncodedTable, values: Mapping[str, int]
) -> tuple[OrderRows, ...]:
    """The rows that each factor of the estimand counts, for one configuration of its left side.

    A row enters a factor if it shows every variable that the factor mentions, or that its
    condition asks to be shown, and agrees with ``values`` where these say anything; the
    variables summed over are free.
    """
    return tuple(_order(order, table, values) for order in estimand.orders)


def _order(order: tuple[Factor, ...], table: EncodedTable, values: Mapping[str, int]) -> OrderRows:
    factors = tuple(FactorRows(factor, _rows(factor, table, values)) for factor in order)
    together = np.unique(np.concatenate([one.rows for one in factors]))
    return OrderRows(factors, together)


def _rows(factor: Factor, table: EncodedTable, values: Mapping[str, int]) -> RowNumbers:
    enters = table.is_shown((*factor.mentions, *factor.shown))
    for name in factor.mentions:
        if name in values:
            enters &= table.columns[name] == values[name]
    rows = np.flatnonzero(enters)
    return rows + 1 if table.row_numbers is None else table.row_numbers[rows]


def ranges(rows: RowNumbers) -> str:
    """Row numbers in words, runs of three and more as ranges.

    Examples
    --------
    >>> ranges(np.array([1, 2, 3, 7, 8]))
    '1-3, 7, 8'
    """
    breaks = np.flatnonzero(np.diff(rows) > 1) + 1
    words: list[str] = []
    for run in np.split(rows, breaks):
        words += [f"{run[0]}-{run[-1]}"] if len(run) > 2 else map(str, run.tolist())
    return ", ".join(words) or "none"
