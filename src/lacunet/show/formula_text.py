"""The rows behind an estimand, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lacunet.learning.explain import OrderRows, row_ranges
from lacunet.missingness.formulas.deletion import Estimand
from lacunet.text import counted


def rows_as_text(estimand: Estimand, orders: Sequence[OrderRows], numbers: bool) -> str:
    """The estimand of a query and the rows behind each of its factors."""
    lines = [estimand.estimand]
    for order in orders:
        lines += ["", " ".join(order.rows_of)]
        for factor, rows in {**order.rows_of, "together": order.together}.items():
            lines.append(
                f"  {factor}: {row_ranges(rows) if numbers else counted(len(rows), 'row')}"
            )
    return "\n".join(lines)


def rows_as_data(estimand: Estimand, orders: Sequence[OrderRows]) -> dict[str, Any]:
    """The same in plain lists and dictionaries."""
    return {
        "estimand": estimand.estimand,
        "latex": estimand.latex,
        "orders": [
            {
                "factors": [
                    {"factor": factor, "rows": rows.tolist()}
                    for factor, rows in order.rows_of.items()
                ],
                "together": order.together.tolist(),
            }
            for order in orders
        ],
    }
