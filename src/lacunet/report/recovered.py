"""Verdicts on recoverability and tests of a missingness graph, for people and programs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.missingness.errors import NoRowsError, TooLargeEstimandError
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.implications import Implication, TestedImplication
from lacunet.missingness.refute.witness import Witness
from lacunet.missingness.verdict import Estimation, Verdict, columns_needed, estimate
from lacunet.statistics.rows import distinct_rows
from lacunet.wording import finite, text_table

SHOWN_CELLS = 64


def verdicts_as_text(
    graph: MissingnessGraph, verdicts: Sequence[Verdict], table: EncodedTable | None
) -> str:
    """The graph and its category, then each query with its verdict, estimand and estimate."""
    lines = [*str(graph).splitlines(), *(f"{name} is latent" for name in graph.latent)]
    lines += ["", graph.why()]
    for verdict in verdicts:
        too_large = "" if verdict.is_computable else ", TOO LARGE TO COMPUTE"
        lines += ["", f"{verdict.query}: {verdict.status.upper()}{too_large}", f"  {verdict.why}"]
        found = None if table is None else _estimated(verdict, table)
        chosen = found if isinstance(found, Estimation) else verdict
        lines += [f"  {line}" for line in chosen.estimand.splitlines()]
        if verdict.witness is not None:
            lines += [f"  {line}" for line in _two_models(verdict.witness)]
        if isinstance(found, str):
            lines += [f"  ! {found}"]
        elif found is not None:
            lines += [f"  {line}" for line in _estimate(graph, found)]
    count = sum(verdict.term is not None for verdict in verdicts)
    lines += ["", f"{count} of {len(verdicts)} are recoverable"]
    return "\n".join(lines)


def _estimated(verdict: Verdict, table: EncodedTable) -> Estimation | str | None:
    """The estimate, or why there is none; None for what is not recoverable."""
    if verdict.term is None:
        return None
    try:
        return estimate(verdict, distinct_rows(table, columns_needed(verdict)))
    except (NoRowsError, TooLargeEstimandError) as error:
        return error.message


def _two_models(witness: Witness) -> list[str]:
    """The CPTs of both models, one row for each state of a node given each of its parents'."""
    rows = []
    for node, table in witness.one.items():
        names = [*map(str, witness.submodel.parents(node)), str(node)]
        for cell in np.ndindex(*table.shape):
            states = ", ".join(f"{n}={k}" for n, k in zip(names[:-1], cell, strict=False))
            given = f" | {states}" if states else ""
            values = [f"{one[node][cell]:.6f}" for one in (witness.one, witness.two)]
            rows.append([f"P({node}={cell[-1]}{given})", *values])
    lines = text_table(["", "model 1", "model 2"], rows[:SHOWN_CELLS]).splitlines()
    if len(rows) > SHOWN_CELLS:
        lines.append(f"and {len(rows) - SHOWN_CELLS:,} more rows (--json has all)")
    return lines


def _witness_as_data(witness: Witness | None) -> dict[str, Any] | None:
    if witness is None:
        return None
    return {
        "target": list(witness.target),
        "given": list(witness.given),
        "manifest_difference": witness.manifest_difference,
        "query_difference": witness.query_difference,
        "parents": {str(n): [*map(str, witness.submodel.parents(n))] for n in witness.one},
        "model_1": {str(node): table.tolist() for node, table in witness.one.items()},
        "model_2": {str(node): table.tolist() for node, table in witness.two.items()},
    }


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
        "graph": str(graph),
        "latent": list(graph.latent),
        "category": graph.category(),
        "why": graph.why(),
        "queries": [_verdict_as_data(verdict, table) for verdict in verdicts],
    }


def _verdict_as_data(verdict: Verdict, table: EncodedTable | None) -> dict[str, Any]:
    found = None if table is None else _estimated(verdict, table)
    chosen = found if isinstance(found, Estimation) else verdict
    return {
        "target": list(verdict.target),
        "given": list(verdict.given),
        "status": verdict.status,
        "why": verdict.why,
        "is_computable": verdict.is_computable,
        "estimand": chosen.estimand,
        "latex": chosen.latex,
        "witness": _witness_as_data(verdict.witness),
        "estimate": _estimate_as_data(found) if isinstance(found, Estimation) else None,
        "not_estimated": found if isinstance(found, str) else None,
    }


def _estimate_as_data(found: Estimation) -> dict[str, Any]:
    return {
        "table": finite(found.table.tolist()),
        "rows_used": found.rows_used,
        "rows_shown": found.rows_shown,
        "share_used": found.share_used,
        "effective_size": found.effective_size,
        "largest_weight": found.largest_weight,
        "unseen": found.unseen,
        "is_founded": found.is_founded,
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
                one.test,
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
        header = ["implication", "test", "statistic", "df", "p", "Holm", "effect", "rows", "at 5%"]
        lines = text_table(header, rows).splitlines()
        if any(one.test == "X2" for one in tested):
            lines += ["X2: some expected counts are below 5, so Pearson's test replaces G2"]
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
                "test": one.test,
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
