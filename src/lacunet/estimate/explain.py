"""The plan, told before any counting: estimands, rows, tables and what they will cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.estimate.errors import MethodError
from lacunet.estimate.estimands import Estimand
from lacunet.estimate.forecast import BYTES_A_CELL
from lacunet.estimate.method import ClosedForm, Method
from lacunet.estimate.rows import OrderRows, rows_entering
from lacunet.model.network import Network, Scope
from lacunet.statistics.superfamilies import superfamilies

NOT_KNOWN: Scope = ("X_o",)  # stands for the fully observed variables while no data are given


@dataclass(frozen=True)
class FamilyPlan:
    """How one CPT will be estimated."""

    variable: str
    parents: Scope
    estimand: Estimand
    cells: int
    rows_shown: int | None


@dataclass(frozen=True)
class Explanation:
    """What a method will do with these data.

    ``tables`` are the unions of families that will be counted, ``groupings`` the sets of
    fully observed variables that rows will be grouped by, ``bytes_needed`` what the largest
    family takes. ``rows`` is None where no data were given.
    """

    method: str
    rows: int | None
    partially_observed: Scope
    families: tuple[FamilyPlan, ...]
    tables: tuple[Scope, ...]
    groupings: tuple[Scope, ...]
    bytes_needed: int


def explain(network: Network, method: Method, table: EncodedTable | None = None) -> Explanation:
    """Say what a closed-form method will count and estimate; nothing is counted yet."""
    form = closed_form(method)
    partially = network.variables if table is None else table.partially_observed
    observed = NOT_KNOWN if table is None else table.fully_observed
    families = tuple(
        _plan(network, form, name, (partially, observed), table) for name in network.variables
    )
    radix_of = {name: network.cardinality(name) + (name in partially) for name in network.variables}
    unions = superfamilies([network.family(name) for name in network.variables], radix_of)
    groupings = dict.fromkeys(plan.estimand.given for plan in families if plan.estimand.given)
    return Explanation(
        method.name,
        None if table is None else table.rows,
        partially,
        families,
        tuple(union for union, _ in unions),
        tuple(groupings),
        max(plan.cells for plan in families) * BYTES_A_CELL,
    )


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


def _plan(
    network: Network,
    method: ClosedForm,
    name: str,
    observed_or_not: tuple[Scope, Scope],
    table: EncodedTable | None,
) -> FamilyPlan:
    family = network.family(name)
    shown = None if table is None else int(np.count_nonzero(table.is_shown(family)))
    estimand = method.estimand(family, *observed_or_not)
    return FamilyPlan(name, network.parents(name), estimand, prod(network.shape(family)), shown)


def parsed_query(text: str, network: Network) -> dict[str, str]:
    """A query such as ``X=1,W=1`` as a mapping from variables to states.

    Names and states that hold a comma are quoted: ``"a,b=1",W=1``.
    """
    import csv

    (items,) = csv.reader([text], skipinitialspace=True) if text.strip() else ([],)
    query = {}
    for item in items:
        names = [name for name in network.variables if item.startswith(f"{name}=")]
        if not names:
            raise MethodError.query(item, network.variables)
        name = max(names, key=len)
        network.state_index(name, item[len(name) + 1 :])
        query[name] = item[len(name) + 1 :]
    if not query:
        raise MethodError.query(text, network.variables)
    return query
