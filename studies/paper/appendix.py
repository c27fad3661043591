"""The paper's appendix example: which rows of a small table each estimator uses.

Table 1 of the appendix has 36 rows over X, Y, W, Z, of which W and Z are always shown. Tables 2
and 3 list the rows that enter the estimate of Pr(X=1, W=1) under MCAR and of Pr(X=1, Y=1) under
MAR. Here they are found anew by `lacunet.learning.explain` and held against the printed ones.

The appendix example, for people and for programs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from lacunet.counts.observations import Held
from lacunet.data.table import EncodedTable
from lacunet.learning.explain import explain_rows, row_ranges
from lacunet.learning.methods import method_named
from lacunet.network.network import Network

MISSING = 2
NETWORK = Network({name: ["0", "1"] for name in "XYWZ"}, {"X": ["W", "Z"], "Y": ["X", "Z"]})

XW, XY = {"X": "1", "W": "1"}, {"X": "1", "Y": "1"}
ALL = tuple(range(1, 37))
BOTH = (13, 14, 15, 16)
WITH_Y = (5, 6, 7, 8, 13, 14, 15, 16, 29, 30, 31, 32)
WITH_X = (9, 10, 11, 12, 13, 14, 15, 16, 21, 22, 23, 24)
WITH_W = (3, 4, 7, 8, 11, 12, 15, 16, 19, 20, 23, 24, 27, 28, 31, 32, 35, 36)

Rows = tuple[int, ...]


@dataclass(frozen=True)
class Printed:
    """A line of the paper's Table 2 or 3: an algorithm, a query, and the rows it lists.

    ``rows`` has one entry for each list in the paper: in Table 2 for each factorisation, all
    its factors together; in Table 3 for each factor.
    """

    method: str
    separator: tuple[str, ...] | None
    query: Mapping[str, str]
    by_factor: bool
    rows: tuple[Rows, ...]


@dataclass(frozen=True)
class Line:
    """A line of the paper with the estimand and the rows found here."""

    printed: Printed
    estimand: str
    factors: tuple[str, ...]
    found: tuple[Rows, ...]

    @property
    def agrees(self) -> bool:
        """Whether the rows found here are those that the paper lists, in whatever order."""
        return sorted(self.found) == sorted(self.printed.rows)


PRINTED = (
    Printed("listwise", None, XW, False, ((11, 12, 15, 16),)),
    Printed("direct-mcar", None, XW, False, ((11, 12, 15, 16, 23, 24),)),
    Printed("factored-mcar", None, XW, False, (WITH_W, WITH_X)),
    Printed("direct-mar", None, XY, True, (BOTH, ALL)),
    Printed("factored-mar", None, XY, True, (BOTH, WITH_Y, ALL, BOTH, WITH_X, ALL)),
    Printed("informed-direct", ("W",), XY, True, (BOTH, ALL)),
)


def appendix_example() -> tuple[Line, ...]:
    """All lines of the paper's Tables 2 and 3, found anew."""
    table = appendix_table()
    return tuple(_line(printed, table) for printed in PRINTED)


def appendix_table() -> EncodedTable:
    """The 36 rows of the paper's Table 1, in its order."""
    both = list(product((0, 1), repeat=4))
    x_only = [(x, MISSING, w, z) for x, w, z in product((0, 1), repeat=3)]
    y_only = [(MISSING, y, w, z) for y, w, z in product((0, 1), repeat=3)]
    neither = [(MISSING, MISSING, w, z) for w, z in product((0, 1), repeat=2)]
    codes = np.array([*both, *x_only, *y_only, *neither], np.uint8)
    columns = {name: codes[:, at].copy() for at, name in enumerate("XYWZ")}
    return EncodedTable(dict.fromkeys("XYWZ", 2), columns)


def _line(printed: Printed, table: EncodedTable) -> Line:
    method = method_named(printed.method, groups=printed.separator)
    estimand, orders = explain_rows(NETWORK, method, Held(table), printed.query)
    if printed.by_factor:
        pairs = [pair for order in orders for pair in order.rows_of.items()]
    else:
        pairs = [(" ".join(order.rows_of), order.together) for order in orders]
    factors: Sequence[str] = [text for text, _ in pairs]
    return Line(
        printed, estimand.estimand, tuple(factors), tuple(tuple(r.tolist()) for _, r in pairs)
    )


def appendix_as_text(lines: Sequence[Line]) -> str:
    """Each estimator's estimand, the rows behind it, and whether the paper lists the same."""
    parts = [_part(line) for line in lines]
    agree = sum(line.agrees for line in lines)
    return "\n\n".join(
        [*parts, f"{agree} of {len(lines)} lines list the rows that the paper lists"]
    )


def _part(line: Line) -> str:
    query = ", ".join(f"{name}={state}" for name, state in line.printed.query.items())
    told = f", separator {', '.join(line.printed.separator)}" if line.printed.separator else ""
    found = [
        f"  {factor}: {row_ranges(np.array(rows))}"
        for factor, rows in zip(line.factors, line.found, strict=True)
    ]
    verdict = "as in the paper" if line.agrees else "the paper has other rows"
    return "\n".join(
        [f"{line.printed.method}{told}, query {query}: {verdict}", f"  {line.estimand}", *found]
    )


def appendix_as_data(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """The same in plain lists and dictionaries."""
    return [
        {
            "method": line.printed.method,
            "query": dict(line.printed.query),
            "estimand": line.estimand,
            "factors": list(line.factors),
            "rows": [list(rows) for rows in line.found],
            "paper": [list(rows) for rows in line.printed.rows],
            "agrees": line.agrees,
        }
        for line in lines
    ]
