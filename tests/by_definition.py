"""The closed forms written out row by row and cell by cell, as their definitions read.

Slow on purpose and sharing no line with the package: a second reading of the same page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.network.network import Network

Row = dict[str, int]
Weighted = list[tuple[Row, float]]


def rows_of(table: EncodedTable) -> Weighted:
    """Each row as the values it shows, with its weight."""
    found = []
    for at in range(table.rows):
        row = {
            name: int(column[at])
            for name, column in table.columns.items()
            if column[at] != table.cardinality_of[name]
        }
        found.append((row, float(table.row_weights[at])))
    return found


def weight(rows: Weighted, values: Row, shown: Iterable[str]) -> float:
    """The weight of the rows that show all of ``shown`` and agree with ``values``."""
    shown = tuple(shown)
    return sum(
        w
        for row, w in rows
        if all(name in row for name in shown)
        and all(row.get(name) == value for name, value in values.items())
    )


def cells(network: Network, scope: Sequence[str]) -> Iterable[Row]:
    for values in product(*(range(network.cardinality(name)) for name in scope)):
        yield dict(zip(scope, values, strict=True))


def direct(rows: Weighted, cell: Row) -> float:
    whole = weight(rows, {}, cell)
    return weight(rows, cell, cell) / whole if whole > 0 else 0.0


def lattice(network: Network, rows: Weighted, cell: Row, empty: bool) -> tuple[float, float] | None:
    """Mean and variance of a cell; None where a conditional is empty and that is not allowed."""
    if not cell:
        return 1.0, 0.0
    candidates = []
    for name in cell:
        rest = {other: value for other, value in cell.items() if other != name}
        below = lattice(network, rows, rest, empty)
        n = weight(rows, rest, cell)
        if below is None or (n == 0 and not empty):
            return None
        if n > 0:
            p = weight(rows, cell, cell) / n
            spread = 1.0 if p in (0.0, 1.0) else p * (1 - p)
            if n >= 2:
                v = spread / (n - 1)
            elif n > 1:  # weights: in proportion between one row and two
                v = (2 - n) * 0.5 + (n - 1) * spread
            else:
                v = 0.5
        else:
            p = 1 / network.cardinality(name)
            v = p * (1 - p)
        mean, variance = below
        candidates.append((p * mean, v * variance + v * mean**2 + variance * p**2))
    if any(v == 0 for _, v in candidates):
        certain = [m for m, v in candidates if v == 0]
        return sum(certain) / len(certain), 0.0
    total = sum(1 / v for _, v in candidates)
    return sum(m / v for m, v in candidates) / total, 1 / total


def grouped(rows: Weighted, given: Sequence[str]) -> list[Weighted]:
    found: dict[tuple[int, ...], Weighted] = {}
    for row, w in rows:
        found.setdefault(tuple(row[name] for name in given), []).append((row, w))
    return list(found.values())


def joint(
    network: Network,
    table: EncodedTable,
    family: Sequence[str],
    method: str,
    separator: Sequence[str],
) -> np.ndarray:
    rows, n = rows_of(table), table.total
    estimate = np.zeros(network.shape(family))
    for cell in cells(network, family):
        estimate[tuple(cell.values())] = _one(network, table, rows, n, cell, method, separator)
    return estimate


def _one(
    network: Network,
    table: EncodedTable,
    rows: Weighted,
    n: float,
    cell: Row,
    method: str,
    separator: Sequence[str],
) -> float:
    if method == "direct-mcar":
        return direct(rows, cell)
    if method == "factored-mcar":
        return lattice(network, rows, cell, True)[0]
    observed = {name: value for name, value in cell.items() if not table.missing_of[name]}
    hidden = {name: value for name, value in cell.items() if table.missing_of[name]}
    if not hidden:
        return direct(rows, cell)
    given = (
        [*observed, *(name for name in separator if name not in observed)]
        if method.startswith("informed")
        else table.fully_observed
    )
    total = 0.0
    for group in grouped(rows, given):
        if any(group[0][0][name] != value for name, value in observed.items()):
            continue
        mass = sum(w for _, w in group) / n
        total += mass * _within(network, rows, group, observed, hidden, "direct" in method)
    return total


def _within(
    network: Network, rows: Weighted, group: Weighted, observed: Row, hidden: Row, is_direct: bool
) -> float:
    cell = {**observed, **hidden}
    if is_direct:
        whole = weight(group, {}, hidden)
        if whole > 0:
            return weight(group, hidden, hidden) / whole
        return direct(rows, cell) / direct(rows, observed)
    found = lattice(network, group, hidden, False)
    if found is not None:
        return found[0]
    return lattice(network, rows, cell, True)[0] / lattice(network, rows, observed, True)[0]
