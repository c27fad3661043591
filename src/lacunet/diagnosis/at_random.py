r"""Are values missing completely at random? At random? What the data can say about it.

*Completely at random* means that no mechanism depends on anything. Each :math:`R_i` is tested
against each :math:`X_j` on the rows that show :math:`X_j`; p-values are adjusted for the number
of tests (Holm), so that in 95% of data sets that are missing completely at random nothing is
found.

*Always at random* means that no mechanism depends on a variable that is itself missing at
times, given those that are not. Each :math:`R_i` is tested against each partially observed
:math:`X_j`, within the strata of the fully observed variables that :math:`R_i` seems to depend
on (`lacunet.missingness.fitted`).

*Positivity*: a state under which a variable is never shown leaves nothing to learn from.

Never testable: that :math:`X` does not depend on its own :math:`R_X`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.diagnosis.patterns import is_missing
from lacunet.missingness.independence import holm, independence
from lacunet.model.network import FloatArray, Network, Scope

BLOCK = 2**16
FEWEST_ROWS = 10  # fewer rows that never show a variable are no surprise
MOST_STRATA = 5_000


@dataclass(frozen=True)
class MissingTest:
    """Whether ``missing`` is shown depends on ``cause``, given ``given``.

    ``effect`` is Cramér's V. ``highest`` and ``lowest`` are the states of the cause under
    which the variable is missing most and least often, ``rates`` how often; ``ratio`` is the
    one over the other (only states with at least ten rows count).
    """

    __test__ = False  # not a test case of pytest

    missing: str
    cause: str
    given: Scope
    p_value: float
    adjusted: float
    effect: float
    highest: str
    lowest: str
    rates: tuple[float, float]
    ratio: float
    rows: float
    by_draws: bool


@dataclass(frozen=True)
class NeverShown:
    """``rows`` rows have ``cause`` in ``state``, and none of them shows ``missing``."""

    missing: str
    cause: str
    state: str
    rows: int


def mechanism_tables(table: EncodedTable) -> dict[str, FloatArray]:
    """For each variable: by mechanism, the rows that miss or show it, by the variable's state.

    The axes are the partially observed variables, missing or shown, states. One pass of
    matrix products, whatever the number of pairs.
    """
    partially = table.partially_observed
    gone = is_missing(table, partially)
    found = {
        name: np.zeros((len(partially), 2, table.cardinality_of[name])) for name in table.variables
    }
    for start in range(0, table.rows, BLOCK):
        block = slice(start, start + BLOCK)
        weights = None if table.weights is None else table.weights[block]
        missing = gone[block].astype(np.float32 if weights is None else np.float64)
        for name in table.variables:
            states = np.arange(table.cardinality_of[name])
            shown = (table.columns[name][block][:, None] == states).astype(missing.dtype)
            if weights is not None:
                shown *= weights[:, None]
            hidden = missing.T @ shown
            found[name][:, 0] += hidden
            found[name][:, 1] += shown.sum(axis=0, dtype=np.float64) - hidden
    return found


def mcar_tests(
    network: Network, table: EncodedTable, rng: np.random.Generator
) -> tuple[MissingTest, ...]:
    """Every mechanism against every other variable, smallest p-value first."""
    partially = table.partially_observed
    scale_of = _scales(table)
    tests = []
    for cause, counts in mechanism_tables(table).items():
        for at, missing in enumerate(partially):
            if cause != missing and _varies(counts[at]):
                scaled = counts[at] * scale_of[cause]
                tests.append(_test(network, missing, cause, (), scaled[None], rng))
    return _adjusted(tests)


def mar_tests(
    network: Network,
    table: EncodedTable,
    rng: np.random.Generator,
    parents_of: Mapping[str, Scope],
) -> tuple[MissingTest, ...]:
    """Every mechanism against the other partially observed variables, within strata.

    The strata are those of its parents among the fully observed variables.
    """
    scale_of = _scales(table)
    tests = []
    for missing in table.partially_observed:
        given = parents_of[missing]
        strata, number = _strata(table, given)
        gone = table.columns[missing] == table.cardinality_of[missing]
        for cause in table.partially_observed:
            if cause == missing:
                continue
            size = table.cardinality_of[cause]
            rows = table.columns[cause] != size
            place = (strata[rows] * 2 + ~gone[rows]) * size + table.columns[cause][rows]
            weights = None if table.weights is None else table.weights[rows]
            counts = np.bincount(place, weights, number * 2 * size).astype(np.float64)
            counts = counts.reshape(number, 2, size) * scale_of[cause]
            if any(map(_varies, counts)):
                tests.append(_test(network, missing, cause, given, counts, rng))
    return _adjusted(tests)


def positivity(network: Network, table: EncodedTable) -> tuple[NeverShown, ...]:
    """The states under which a variable is never shown, most rows first."""
    found = []
    unweighted = EncodedTable.of(table.cardinality_of, table.columns)
    for cause, counts in mechanism_tables(unweighted).items():
        for at, missing in enumerate(table.partially_observed):
            if cause == missing or table.missing_of[missing] == table.rows:
                continue
            for state in np.flatnonzero((counts[at, 1] == 0) & (counts[at, 0] >= FEWEST_ROWS)):
                name, rows = network.states(cause)[state], int(counts[at, 0, state])
                found.append(NeverShown(missing, cause, name, rows))
    return tuple(sorted(found, key=lambda one: -one.rows))


def smallest_effect(rows: float, tests: int) -> float:
    """The smallest Cramér's V that would be found in four of five data sets, about.

    Examples
    --------
    >>> round(smallest_effect(1000, 1), 3)
    0.089
    """
    from scipy.special import ndtri

    needed = ndtri(1 - 0.05 / max(tests, 1) / 2) + ndtri(0.8)
    return float(min(needed / np.sqrt(max(rows, 1)), 1.0))


def _test(
    network: Network,
    missing: str,
    cause: str,
    given: Scope,
    counts: FloatArray,
    rng: np.random.Generator,
) -> MissingTest:
    result = independence(counts, rng)
    states = counts.sum(axis=0)
    total = states.sum(axis=0)
    known = total >= min(FEWEST_ROWS, total.max())
    share = np.divide(states[0], total, out=np.zeros(len(total)), where=total > 0)
    high = int(np.argmax(np.where(known, share, -1)))
    low = int(np.argmin(np.where(known, share, 2)))
    names = network.states(cause)
    return MissingTest(
        missing,
        cause,
        given,
        result.p_value,
        result.p_value,
        result.effect,
        names[high],
        names[low],
        (float(share[high]), float(share[low])),
        float(share[high] / share[low]) if share[low] > 0 else float("inf"),
        result.rows,
        result.by_draws,
    )


def _adjusted(tests: Sequence[MissingTest]) -> tuple[MissingTest, ...]:
    from dataclasses import replace

    adjusted = holm(np.array([test.p_value for test in tests]))
    found = [
        replace(test, adjusted=float(value)) for test, value in zip(tests, adjusted, strict=True)
    ]
    return tuple(sorted(found, key=lambda test: (test.p_value, -test.effect)))


def _varies(counts: FloatArray) -> bool:
    """Whether a table has two rows and two columns at least."""
    return bool((counts.sum(axis=1) > 0).all() and np.count_nonzero(counts.sum(axis=0)) > 1)


def _scales(table: EncodedTable) -> dict[str, float]:
    """What makes weights add up to the effective size of the rows that show each variable."""
    if not table.is_weighted:
        return dict.fromkeys(table.variables, 1.0)
    shown = {name: table.take(table.is_shown((name,))) for name in table.variables}
    return {name: own.scaled().total / max(own.total, 1e-300) for name, own in shown.items()}


def _strata(table: EncodedTable, given: Scope) -> tuple[np.ndarray, int]:
    codes, number = np.zeros(table.rows, np.int64), 1
    for name in given:
        if number * table.cardinality_of[name] > MOST_STRATA:
            break
        codes = codes * table.cardinality_of[name] + table.columns[name]
        number *= table.cardinality_of[name]
    return codes, number
