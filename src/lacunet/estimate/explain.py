"""The plan, told before any counting: estimands, rows, tables and what they will cost.

Which rows of the data enter each factor of an estimand: the paper's appendix example.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import EncodedTable
from lacunet.estimands.deletion import Estimand, Factor
from lacunet.estimate.auto import Auto
from lacunet.estimate.deletion.direct_mcar import DirectMcar
from lacunet.estimate.deletion.factored_mar import FactoredMar
from lacunet.estimate.em.method import EM
from lacunet.estimate.errors import MethodError
from lacunet.estimate.forecast import bytes_a_cell, check_size, family_bytes
from lacunet.estimate.method import ClosedForm, Method
from lacunet.estimate.mgraph import Mgraph
from lacunet.estimate.registry import method_named
from lacunet.inference.expectation.forecast import Forecast, forecast
from lacunet.memory import memory_budget
from lacunet.missingness.recover.answers import recover_families
from lacunet.model.network import Network, Scope
from lacunet.statistics.count import superfamilies
from lacunet.statistics.problems.compile import compile_problems

NOT_KNOWN: Scope = ("X_o",)  # stands for the fully observed variables while no data are given


@dataclass(frozen=True)
class FamilyPlan:
    """How one CPT will be estimated.

    ``given`` are the variables that rows are grouped by. ``verdict`` says, where a
    missingness graph decides, whether the CPT can be recovered, and why.
    """

    variable: str
    parents: Scope
    estimand: str
    latex: str
    given: Scope
    cells: int
    rows_shown: int | None
    verdict: str = ""


@dataclass(frozen=True)
class Explanation:
    """What a method will do with these data.

    ``tables`` are the unions of families that will be counted, ``groupings`` the sets of
    fully observed variables that rows will be grouped by, ``bytes_needed`` what the largest
    family takes. ``category`` says how values go missing, where a missingness graph is given,
    ``intention`` what a method that starts from a closed form will do after it.
    ``rows`` is None where no data were given, ``expectation`` where the method has none.
    """

    method: str
    rows: int | None
    partially_observed: Scope
    families: tuple[FamilyPlan, ...]
    tables: tuple[Scope, ...]
    groupings: tuple[Scope, ...]
    bytes_needed: int
    expectation: Forecast | None = None
    category: str = ""
    intention: str = ""


def explain(
    network: Network, method: Method, table: EncodedTable | None = None, memory: int | None = None
) -> Explanation:
    """Say what a method will count and estimate; no estimate is made yet.

    Of a method that computes expectations, the closed form it starts from is explained, and
    the data are compiled to forecast what an expectation will cost.
    """
    budget = memory_budget(memory)
    check_size(network, method, budget)
    partially = network.variables if table is None else table.partially_observed
    families = tuple(_plans(network, method, table))
    radix_of = {name: network.cardinality(name) + (name in partially) for name in network.variables}
    unions = superfamilies([network.family(name) for name in network.variables], radix_of)
    groupings = dict.fromkeys(plan.given for plan in families if plan.given)
    cost = _expectation(network, method, table, budget)
    return Explanation(
        method.name,
        None if table is None else table.rows,
        partially,
        families,
        tuple(union for union, _ in unions),
        tuple(groupings),
        max(family_bytes(network, name, bytes_a_cell(method)) for name in network.variables),
        cost,
        _category(method, table),
        _intention(method, cost),
    )


def _intention(method: Method, cost: Forecast | None) -> str:
    if isinstance(method, EM):
        if method.seed == "random" or isinstance(method.seed, Network):
            start = "chance" if method.seed == "random" else "a given network"
            return f"{method.name} starts from {start}; below, what available cases would give"
        return f"{method.name} starts from {method.seed}, whose estimands are below"
    if not isinstance(method, Auto):
        return ""
    if cost is None:
        return "auto starts from factored-mar, whose estimands are below"
    reason = method.too_costly(cost)
    if reason:
        return f"auto will use factored-mar alone, by the estimands below: {reason}"
    return "auto starts from factored-mar, by the estimands below, and will go on with EM"


def _category(method: Method, table: EncodedTable | None) -> str:
    graph = getattr(method, "missingness", None)
    if graph is None:
        return ""
    if table is not None:
        graph.check_data(table)
    return str(graph.why())


def _expectation(
    network: Network, method: Method, table: EncodedTable | None, memory: int
) -> Forecast | None:
    if not isinstance(method, EM | Auto) or table is None:
        return None
    return forecast(compile_problems(network, table), memory)


def explain_rows(
    network: Network, method: Method, table: EncodedTable, query: Mapping[str, str]
) -> tuple[Estimand, tuple[OrderRows, ...]]:
    """The estimand of any query, and the rows that enter each of its factors."""
    values = {name: network.state_index(name, state) for name, state in query.items()}
    estimand = closed_form(method).estimand(tuple(query), *table.observed_or_not)
    return estimand, rows_entering(estimand, table, values)


def closed_form(method: Method) -> ClosedForm:
    """The method itself, if its estimates are closed forms."""
    if not isinstance(method, ClosedForm):
        raise MethodError.not_a_closed_form(method.name)
    return method


def _plans(network: Network, method: Method, table: EncodedTable | None) -> Iterator[FamilyPlan]:
    partially = network.variables if table is None else table.partially_observed
    observed = NOT_KNOWN if table is None else table.fully_observed
    verdicts = recover_families(method.missingness) if isinstance(method, Mgraph) else {}
    start = starting_form(method)
    for name in network.variables:
        family = network.family(name)
        cells = prod(network.shape(family))
        if verdicts:
            one, shown = verdicts[name], _rows_showing(table, family)
            words = f"{one.status}: {one.why}"
            yield FamilyPlan(
                name, network.parents(name), one.estimand, one.latex, (), cells, shown, words
            )
        else:
            found = start.estimand(family, partially, observed)
            shown = _rows_showing(table, (*family, *found.orders[0][0].shown))
            yield FamilyPlan(
                name, network.parents(name), found.text, found.latex, found.given, cells, shown
            )


def _rows_showing(table: EncodedTable | None, variables: Scope) -> int | None:
    return None if table is None else int(np.count_nonzero(table.is_shown(variables)))


def starting_form(method: Method) -> ClosedForm:
    """The closed form that a method is, or starts from."""
    if isinstance(method, EM):
        named = isinstance(method.seed, str) and method.seed != "random"
        return closed_form(method_named(str(method.seed)) if named else DirectMcar())
    if isinstance(method, Auto | Mgraph):
        return FactoredMar()
    return closed_form(method)


def parsed_query(text: str, network: Network) -> dict[str, str]:
    """A query such as ``X=1,W=1`` as a mapping from variables to states.

    Names and states that hold a comma are quoted: ``"a,b=1",W=1``.
    """
    import csv

    (items,) = csv.reader([text], skipinitialspace=True) if text.strip() else ([],)
    query = {}
    for item in items:
        names = [name for name in network.variables if _is_about(item, name)]
        if not names:
            raise MethodError.query(item, network.variables)
        name = max(names, key=len)
        if name in query:
            raise MethodError.twice(name)
        query[name] = _state(network, name, item)
    if not query:
        raise MethodError.query(text, network.variables)
    return query


def _is_about(item: str, name: str) -> bool:
    return item.startswith(name) and item[len(name) :].lstrip().startswith("=")


def _state(network: Network, name: str, item: str) -> str:
    """The state that an item asks for, blanks around it aside unless they belong to it."""
    state = item[len(name) :].lstrip()[1:]
    state = state if state in network.states(name) else state.strip()
    network.state_index(name, state)
    return state


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
