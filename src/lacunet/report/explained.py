"""The rows behind an estimand, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lacunet.estimands.deletion import Estimand
from lacunet.estimate.explain import OrderRows, ranges
from lacunet.wording import counted


def rows_as_text(estimand: Estimand, orders: Sequence[OrderRows], numbers: bool) -> str:
    """The estimand of a query and the rows behind each of its factors."""
    lines = [estimand.estimand]
    for order in orders:
        lines += ["", " ".join(part.factor.text for part in order.factors)]
        for part in order.factors:
            rows = ranges(part.rows) if numbers else counted(len(part.rows), "row")
            lines.append(f"  {part.factor.text}: {rows}")
        together = ranges(order.together) if numbers else counted(len(order.together), "row")
        lines.append(f"  together: {together}")
    return "\n".join(lines)


def rows_as_data(estimand: Estimand, orders: Sequence[OrderRows]) -> dict[str, Any]:
    """The same in plain lists and dictionaries."""
    return {
        "estimand": estimand.estimand,
        "latex": estimand.latex,
        "orders": [
            {
                "factors": [
                    {"factor": part.factor.text, "rows": part.rows.tolist()}
                    for part in order.factors
                ],
                "together": order.together.tolist(),
            }
            for order in orders
        ],
    }
