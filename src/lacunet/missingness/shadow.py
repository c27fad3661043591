r"""A shadow variable for self-censoring: an opt-in that rests on more than the graph.

X censors itself, but a variable Y that is always observed follows X and has no say in
whether X is shown: :math:`Y \perp R_X \mid X, Z`. Then for each z

.. math::
    \sum_x P(x, y, z, R_X = 1) \, \mathrm{odds}(x, z) = P(y, z, R_X = 0), \qquad
    P(x, y, z) = P(x, y, z, R_X = 1) (1 + \mathrm{odds}(x, z)),

one equation for each y. It takes :math:`|Y| \ge |X|` and a Y that tells the states of X
apart; the condition number says how well it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lacunet.data.given import data_given
from lacunet.data.read import read_table
from lacunet.missingness.errors import ShadowError, without_mechanism
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.verdict import Weight
from lacunet.model.network import FloatArray, Scope
from lacunet.model.nodes import Mechanism
from lacunet.statistics.rows import distinct_rows
from lacunet.wording import listed

CONDITION_LIMIT = 100.0


@dataclass(frozen=True)
class ShadowEstimate:
    """P(given, shadow, variable), axes in this order, and how well it was determined.

    ``condition_numbers`` and ``residuals`` have one entry for each configuration of
    ``given``; a residual is the share of the rows' weight that the equations leave over.
    """

    variable: str
    shadow: str
    given: Scope
    table: FloatArray
    odds: FloatArray
    condition_numbers: FloatArray
    residuals: FloatArray


def by_shadow(
    graph: MissingnessGraph,
    variable: str,
    shadow: str,
    data: object,
    given: Sequence[str] = (),
    weight: Weight = None,
    condition_limit: float = CONDITION_LIMIT,
) -> ShadowEstimate:
    """Estimate P(given, shadow, variable) for a self-censoring variable by its shadow.

    Raises
    ------
    ShadowError
        The graph or the states do not make it a shadow variable, or the equations are
        ill-conditioned.
    """
    _check(graph, variable, shadow, given)
    table = read_table(data_given(data, weight=weight), graph.network)
    names = (*given, shadow, variable)
    gaps = [name for name in names[:-1] if table.missing_of[name]]
    if gaps:
        raise without_mechanism(gaps)
    rows = distinct_rows(table, names)
    shown = rows.is_shown([variable])
    seen = rows.tabled(names, shown, rows.weights[shown]).array
    unseen = rows.tabled(names[:-1], ~shown, rows.weights[~shown]).array
    odds = np.zeros((*seen.shape[:-2], seen.shape[-1]))
    conditions, residuals = np.zeros(seen.shape[:-2]), np.zeros(seen.shape[:-2])
    for at in np.ndindex(*seen.shape[:-2]):
        where = _where(graph, given, at)
        odds[at], conditions[at], residuals[at] = _solve(
            variable, where, seen[at], unseen[at], condition_limit
        )
    joint = seen * (1 + odds[..., None, :])
    total = joint.sum()
    return ShadowEstimate(
        variable, shadow, tuple(given), joint / total, odds, conditions, residuals / total
    )


def _solve(
    variable: str, where: str, seen: FloatArray, unseen: FloatArray, limit: float
) -> tuple[FloatArray, float, float]:
    from scipy.optimize import nnls

    columns = seen.sum(axis=0)
    if (columns <= 0).any():
        raise ShadowError(f"no row shows {variable!r} and its shadow variable{where}.")
    number = float(np.linalg.cond(seen / columns))  # of P(y | x, z, R_X = 1)
    if not number <= limit:
        raise ShadowError(
            f"the equations for the missing values of {variable!r}{where} have the condition "
            f"number {number:.3g}, above the limit {limit:.3g}: the data do not tell the states "
            "apart.",
            "use a shadow variable that depends on it more strongly, or more rows.",
        )
    scaled, residual = nnls(seen / columns, unseen)
    return scaled / columns, number, float(residual)


def _where(graph: MissingnessGraph, given: Sequence[str], at: tuple[int, ...]) -> str:
    parts = [f"{n}={graph.network.states(n)[k]}" for n, k in zip(given, at, strict=True)]
    return f" where {', '.join(parts)}" if parts else ""


def _check(graph: MissingnessGraph, variable: str, shadow: str, given: Sequence[str]) -> None:
    for name in (variable, shadow, *given):
        graph.network.known(name)
    if variable not in graph.causes:
        raise ShadowError.not_a_shadow(shadow, variable, f"{variable!r} has no mechanism")
    partial = [name for name in (shadow, *given) if name in graph.causes]
    if partial:
        why = f"{listed(partial)} may be missing itself"
        raise ShadowError.not_a_shadow(shadow, variable, why)
    states = graph.network.cardinality
    if states(shadow) < states(variable):
        why = f"it has {states(shadow)} states, fewer than the {states(variable)} of {variable!r}"
        raise ShadowError.not_a_shadow(shadow, variable, why)
    own = Mechanism(variable)
    path = graph.mixed.open_path([shadow], [own], [variable, *given])
    if path is not None:
        why = f"the path {graph.mixed.in_words(path)} joins it to the mechanism"
        raise ShadowError.not_a_shadow(shadow, variable, why)
