"""Plans and the rows behind an estimand, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from lacunet.estimands.deletion import Estimand
from lacunet.estimands.notation import LATEX, TEXT
from lacunet.estimate.explain import Explanation, OrderRows, ranges
from lacunet.memory import gibibytes
from lacunet.wording import counted, first_of

MOST_NAMES = 12


def explanation_as_text(told: Explanation) -> str:
    """The estimand of every family, what will be counted, and what it needs."""
    plan = told.plan
    lines = [_heading(told), *filter(None, (plan.category, plan.intention)), ""]
    for family in (plan.start or plan).families.values():
        given = f" given {', '.join(family.parents)}" if family.parents else ""
        verdict = plan.families[family.variable].verdict
        lines.append(f"{family.variable}{given}")
        lines += [
            f"  {text}" for text in (family.formula.written(TEXT), verdict, family.note) if text
        ]
        if told.rows:
            number = told.shown[family.variable]
            shows = "show every variable" if plan.needs.complete else "show the whole family"
            of = f"({number / told.rows:.1%}) of {told.rows:,}"
            lines.append(f"  {counted(number, 'row')} {of} {shows}")
    lines += ["", f"one pass over the rows will count {counted(len(told.tables), 'table')}"]
    lines += [
        f"rows will be grouped by {first_of(grouping, MOST_NAMES)}" for grouping in told.groupings
    ]
    lines.append(f"the largest family needs {gibibytes(told.bytes_needed)}")
    if told.scratch is not None:
        files = (
            f"scratch files of {gibibytes(told.scratch)}" if told.scratch else "no scratch files"
        )
        lines.append(f"the rows do not fit in memory: they are read as they are counted, {files}")
    if told.expectation is not None:
        lines += ["", "an exact expectation step:", told.expectation.text]
    lines += ["", told.intervals]
    return "\n".join(lines)


def _heading(told: Explanation) -> str:
    plan = told.plan
    if told.rows is None:
        return (
            f"{plan.method}, no data given: every variable is taken to have missing values, "
            "X_o stands for the variables without"
        )
    partially = first_of(plan.partially, MOST_NAMES) or "none"
    return (
        f"{plan.method} on {counted(told.rows, 'row')}; {len(plan.partially)} of "
        f"{len(plan.families)} variables have missing values: {partially}"
    )


def explanation_as_data(told: Explanation) -> dict[str, Any]:
    """The plan in plain lists and dictionaries."""
    plan = told.plan
    return {
        "method": plan.method,
        "category": plan.category,
        "intention": plan.intention,
        "rows": told.rows,
        "partially_observed": list(plan.partially),
        "families": {
            name: {
                "parents": list(family.parents),
                "estimand": family.formula.written(TEXT),
                "latex": family.formula.written(LATEX),
                "verdict": plan.families[name].verdict,
                "note": family.note,
                "cells": family.cells,
                "rows_shown": told.shown.get(name),
            }
            for name, family in (plan.start or plan).families.items()
        },
        "tables": [list(union) for union in told.tables],
        "groupings": [list(grouping) for grouping in told.groupings],
        "bytes_needed": told.bytes_needed,
        "scratch_bytes": told.scratch,
        "expectation": None if told.expectation is None else asdict(told.expectation),
        "intervals": told.intervals,
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
