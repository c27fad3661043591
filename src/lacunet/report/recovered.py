"""Verdicts on recoverability and tests of a missingness graph, for people and programs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.implications import Implication, TestedImplication
from lacunet.missingness.verdict import Estimation, Verdict, estimate
from lacunet.wording import finite, text_table

SHOWN_CELLS = 64


def verdicts_as_text(
    graph: MissingnessGraph, verdicts: Sequence[Verdict], table: EncodedTable | None
) -> str:
    """The category of the graph, then each query with its verdict, estimand and estimate."""
    lines = [graph.why()]
    for verdict in verdicts:
        lines += ["", f"{verdict.query}: {verdict.status.upper()}", f"  {verdict.why}"]
        lines += [f"  {line}" for line in verdict.estimand.splitlines()]
        if table is not None and verdict.is_recoverable:
            lines += [f"  {line}" for line in _estimate(graph, estimate(verdict, table))]
    found = sum(verdict.is_recoverable for verdict in verdicts)
    lines += ["", f"{found} of {len(verdicts)} are recoverable"]
    return "\n".join(lines)


def _estimate(graph: MissingnessGraph, found: Estimation) -> list[str]:
    network = graph.network
    scope = (*found.given, *found.target)
    rows = [
        [*(network.states(name)[at] for name, at in zip(scope, cell, strict=True)), _share(value)]
        for cell, value in zip(
            product(*map(range, found.table.shape)), found.table.ravel().tolist(), strict=True
        )
    ]
    lines = text_table([*scope, "P"], rows[:SHOWN_CELLS], left=len(scope)).splitlines()
    if len(rows) > SHOWN_CELLS:
        lines.append(f"and {len(rows) - SHOWN_CELLS:,} more cells (--json has all)")
    lines.append(
        f"{found.rows_used:,} rows used ({found.share_used:.1%}), effective size "
        f"{found.effective_size:,.0f}, largest weight {found.largest_weight:.3g}"
    )
    return [*lines, *(f"! {warning}" for warning in found.warnings)]


def _share(value: float) -> str:
    return "unseen" if np.isnan(value) else f"{value:.4f}"


def verdicts_as_data(
    graph: MissingnessGraph, verdicts: Sequence[Verdict], table: EncodedTable | None
) -> dict[str, Any]:
    """The same in plain lists and dictionaries; a cell that the data never show is None."""
    return {
        "category": graph.category(),
        "why": graph.why(),
        "queries": [
            {
                "target": list(verdict.target),
                "given": list(verdict.given),
                "status": verdict.status,
                "why": verdict.why,
                "estimand": verdict.estimand,
                "latex": verdict.latex,
                "estimate": None
                if table is None or not verdict.is_recoverable
                else _estimate_as_data(estimate(verdict, table)),
            }
            for verdict in verdicts
        ],
    }


def _estimate_as_data(found: Estimation) -> dict[str, Any]:
    return {
        "table": finite(found.table.tolist()),
        "rows_used": found.rows_used,
        "share_used": found.share_used,
        "effective_size": found.effective_size,
        "largest_weight": found.largest_weight,
        "unseen": found.unseen,
        "warnings": list(found.warnings),
    }


def implications_as_text(
    listed: Sequence[Implication],
    tested: Sequence[TestedImplication] | None,
    silent: Sequence[str],
) -> str:
    """What the graph implies about the data and, where it was tested, what they answer."""
    if tested is None:
        lines = [f"{len(listed)} testable implications:", *(f"  {one}" for one in listed)]
    else:
        rows = [
            [
                str(one.implication),
                f"{one.statistic:.2f}",
                f"{one.degrees_of_freedom}",
                f"{one.p_value:.3g}",
                f"{one.adjusted:.3g}",
                f"{one.effect:.3f}",
                f"{one.rows:,}",
                "REFUTED" if one.adjusted < 0.05 else "-",
            ]
            for one in tested
        ]
        header = ["implication", "G2", "df", "p", "Holm", "effect", "rows", "at 5%"]
        lines = text_table(header, rows).splitlines()
    if silent:
        lines += ["", "never testable by any data:", *(f"  {text}" for text in silent)]
    return "\n".join(lines)


def implications_as_data(
    listed: Sequence[Implication],
    tested: Sequence[TestedImplication] | None,
    silent: Sequence[str],
) -> dict[str, Any]:
    """The same in plain lists and dictionaries."""
    return {
        "implications": [str(one) for one in listed],
        "tested": None
        if tested is None
        else [
            {
                "implication": str(one.implication),
                "statistic": one.statistic,
                "degrees_of_freedom": one.degrees_of_freedom,
                "p_value": one.p_value,
                "adjusted": one.adjusted,
                "effect": one.effect,
                "rows": one.rows,
            }
            for one in tested
        ],
        "never_testable": list(silent),
    }
