"""Plans and the rows behind an estimand, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from lacunet.estimands.deletion import Estimand
from lacunet.estimate.explain import Explanation, FamilyPlan, OrderRows, ranges
from lacunet.memory import gibibytes
from lacunet.wording import counted


def explanation_as_text(plan: Explanation) -> str:
    """The estimand of every family, what will be counted, and what it needs."""
    lines = [_heading(plan), *filter(None, (plan.category, plan.intention)), ""]
    for family in plan.families:
        lines.append(f"{family.variable}{_given(family)}")
        lines += [f"  {text}" for text in (family.estimand, family.verdict) if text]
        if family.rows_shown is not None and plan.rows:
            share = family.rows_shown / plan.rows
            rows = counted(family.rows_shown, "row")
            lines.append(f"  {rows} ({share:.1%}) of {plan.rows:,} {_shows(plan)}")
    lines += ["", f"one pass over the rows will count {counted(len(plan.tables), 'table')}"]
    for grouping in plan.groupings:
        lines.append(f"rows will be grouped by {_names(grouping)}")
    lines.append(f"the largest family needs {gibibytes(plan.bytes_needed)}")
    if plan.expectation is not None:
        lines += ["", "an exact expectation step:", plan.expectation.text]
    return "\n".join(lines)


def _heading(plan: Explanation) -> str:
    if plan.rows is None:
        return (
            f"{plan.method}, no data given: every variable is taken to have holes, "
            "X_o stands for the variables without"
        )
    return (
        f"{plan.method} on {plan.rows:,} rows; {len(plan.partially_observed)} of "
        f"{len(plan.families)} variables have holes: {_names(plan.partially_observed)}"
    )


def _shows(plan: Explanation) -> str:
    return "show every variable" if plan.method == "listwise" else "show the whole family"


def _given(family: FamilyPlan) -> str:
    return f" given {', '.join(family.parents)}" if family.parents else ""


def _names(names: Sequence[str], most: int = 12) -> str:
    shown = ", ".join(names[:most]) or "none"
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def explanation_as_data(plan: Explanation) -> dict[str, Any]:
    """The plan in plain lists and dictionaries."""
    return {
        "method": plan.method,
        "category": plan.category,
        "intention": plan.intention,
        "rows": plan.rows,
        "partially_observed": list(plan.partially_observed),
        "families": {
            family.variable: {
                "parents": list(family.parents),
                "estimand": family.estimand,
                "latex": family.latex,
                "verdict": family.verdict,
                "cells": family.cells,
                "rows_shown": family.rows_shown,
            }
            for family in plan.families
        },
        "tables": [list(union) for union in plan.tables],
        "groupings": [list(grouping) for grouping in plan.groupings],
        "bytes_needed": plan.bytes_needed,
        "expectation": None if plan.expectation is None else asdict(plan.expectation),
    }


def rows_as_text(estimand: Estimand, orders: Sequence[OrderRows], numbers: bool) -> str:
    """The estimand of a query and the rows behind each of its factors."""
    lines = [estimand.text]
    for order in orders:
        lines += ["", " ".join(one.factor.text for one in order.factors)]
        for one in order.factors:
            rows = ranges(one.rows) if numbers else counted(len(one.rows), "row")
            lines.append(f"  {one.factor.text}: {rows}")
        together = ranges(order.together) if numbers else counted(len(order.together), "row")
        lines.append(f"  together: {together}")
    return "\n".join(lines)


def rows_as_data(estimand: Estimand, orders: Sequence[OrderRows]) -> dict[str, Any]:
    """The same in plain lists and dictionaries."""
    return {
        "estimand": estimand.text,
        "latex": estimand.latex,
        "orders": [
            {
                "factors": [
                    {"factor": one.factor.text, "rows": one.rows.tolist()} for one in order.factors
                ],
                "together": order.together.tolist(),
            }
            for order in orders
        ],
    }
