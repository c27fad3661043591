"""What is missing, where, and together with what; nothing is assumed or tested here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import EncodedTable
from lacunet.model.network import FloatArray, Network, Scope

COMMONEST = 10
PAIRS = 10


@dataclass(frozen=True)
class Pattern:
    """The variables that some rows miss, and how many rows miss exactly these."""

    missing: Scope
    rows: int


@dataclass(frozen=True)
class Pair:
    """Two variables that are missing together more, or less, often than chance would have it.

    ``together`` rows miss both, where ``expected`` would if they went missing independently;
    ``phi`` is the correlation of their being missing.
    """

    one: str
    two: str
    together: int
    expected: float
    phi: float


@dataclass(frozen=True)
class Patterns:
    r"""What is missing.

    ``rate_of`` is the share of rows that miss each variable. ``commonest`` are the patterns
    most rows have, ``number`` how many there are. ``is_monotone`` if the variables can be
    ordered so that a row that misses one misses all after it. ``influx_of`` says how well a
    variable's missing values are connected to shown values of others, ``outflux_of`` how well
    its shown values are connected to the others' missing ones (S. van Buuren, "Flexible
    Imputation of Missing Data", 2018, section 4.1.3); both are between 0 and 1.
    ``family_rows`` is the number of rows that show a variable with all its parents.
    """

    rows: int
    cells: int
    missing_cells: int
    rate_of: Mapping[str, float]
    number: int
    commonest: tuple[Pattern, ...]
    complete_rows: int
    pairs: tuple[Pair, ...]
    is_monotone: bool
    influx_of: Mapping[str, float]
    outflux_of: Mapping[str, float]
    family_rows: Mapping[str, int]
    never_observed: Scope


def patterns(network: Network, table: EncodedTable) -> Patterns:
    """Look at what is missing; every row counts as one.

    Examples
    --------
    >>> network = Network({"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]})
    >>> rows = {"A": np.array([0, 1, 2, 0], np.uint8), "B": np.array([0, 2, 2, 1], np.uint8)}
    >>> found = patterns(network, EncodedTable.of({"A": 2, "B": 2}, rows))
    >>> found.rate_of, found.is_monotone, found.complete_rows
    ({'A': 0.25, 'B': 0.5}, True, 2)
    """
    partially = table.partially_observed
    gone = is_missing(table, partially)
    distinct, counts = _distinct(gone)
    order = sorted(range(len(counts)), key=lambda at: (-counts[at], tuple(~distinct[at])))
    commonest = tuple(
        Pattern(tuple(n for n, m in zip(partially, distinct[at], strict=True) if m), counts[at])
        for at in order[:COMMONEST]
    )
    complete = int(sum(counts[at] for at in range(len(counts)) if not distinct[at].any()))
    influx, outflux = _flux(gone, len(table.variables))
    shown = {
        name: int(np.count_nonzero(table.is_shown(network.family(name))))
        for name in network.variables
    }
    return Patterns(
        rows=table.rows,
        cells=table.rows * len(table.variables),
        missing_cells=int(sum(table.missing_of.values())),
        rate_of={name: table.missing_of[name] / table.rows for name in table.variables},
        number=len(counts),
        commonest=commonest,
        complete_rows=complete,
        pairs=_pairs(gone, partially),
        is_monotone=_is_monotone(distinct),
        influx_of=dict.fromkeys(table.variables, 0.0) | dict(zip(partially, influx, strict=True)),
        outflux_of=dict.fromkeys(table.variables, 1.0 if partially else 0.0)
        | dict(zip(partially, outflux, strict=True)),
        family_rows=shown,
        never_observed=tuple(n for n in partially if table.missing_of[n] == table.rows),
    )


def is_missing(table: EncodedTable, names: Scope) -> NDArray[np.bool_]:
    """Whether each row misses each of the variables: one column for each."""
    gone = np.empty((table.rows, len(names)), dtype=bool)
    for at, name in enumerate(names):
        gone[:, at] = table.columns[name] >= table.cardinality_of[name]
    return gone


def _distinct(gone: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], list[int]]:
    """The distinct rows of a table of booleans, and how often each occurs."""
    packed = np.ascontiguousarray(np.packbits(gone, axis=1))
    if not packed.shape[1]:
        return gone[:1], [len(gone)]
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).reshape(-1)
    _, member, counts = np.unique(keys, return_index=True, return_counts=True)
    return gone[member], [int(number) for number in counts]


def _is_monotone(distinct: NDArray[np.bool_]) -> bool:
    """Whether each pattern holds another or is held by it, for every two of them."""
    by_size = distinct[np.argsort(distinct.sum(axis=1), kind="stable")]
    return bool((by_size[1:] >= by_size[:-1]).all())


def _flux(gone: NDArray[np.bool_], variables: int) -> tuple[FloatArray, FloatArray]:
    rows = len(gone)
    in_row = gone.sum(axis=1, dtype=np.float64)
    shown_cells = rows * variables - in_row.sum()
    missing_cells = in_row.sum()
    influx = gone.T @ (variables - in_row)
    outflux = (~gone).T @ in_row
    return (
        influx / shown_cells if shown_cells else influx * 0,
        outflux / missing_cells if missing_cells else outflux * 0,
    )


def _pairs(gone: NDArray[np.bool_], names: Scope) -> tuple[Pair, ...]:
    rows = len(gone)
    values = gone.astype(np.float32)
    together = (values.T @ values).astype(np.float64)
    single = np.diag(together)
    expected = np.outer(single, single) / max(rows, 1)
    spread = np.sqrt(np.outer(single * (rows - single), single * (rows - single)))
    apart = rows * (together - expected)
    phi = np.divide(apart, spread, out=np.zeros_like(apart), where=spread > 0)
    one, two = np.triu_indices(len(names), 1)
    strongest = np.argsort(-np.abs(phi[one, two]), kind="stable")[:PAIRS]
    return tuple(
        Pair(
            names[one[at]],
            names[two[at]],
            int(together[one[at], two[at]]),
            float(expected[one[at], two[at]]),
            float(phi[one[at], two[at]]),
        )
        for at in strongest
    )
