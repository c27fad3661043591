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
LEVEL = 0.05
TEST_HEADER = ("implication", "against", "statistic", "df", "p", "Holm", "effect", "rows", "at 5%")

Estimate = Estimation | str | None
Rows = list[list[str]]


def estimated(verdict: Verdict, table: EncodedTable | None) -> Estimate:
    """The estimate, or why there is none; None without data and for what is not recoverable."""
    if table is None or verdict.term is None:
        return None
    try:
        return estimate(verdict, distinct_rows(table, columns_needed(verdict)))
    except (NoRowsError, TooLargeEstimandError) as error:
        return error.message


def verdicts_as_text(
    graph: MissingnessGraph, verdicts: Sequence[Verdict], estimates: Sequence[Estimate]
) -> str:
    """The graph and its category, then each query with its verdict, estimand and estimate."""
    lines = [*str(graph).splitlines(), *(f"{name} is latent" for name in graph.latent)]
    lines += ["", graph.why()]
    for verdict, found in zip(verdicts, estimates, strict=True):
        too_large = "" if verdict.is_computable else ", TOO LARGE TO COMPUTE"
        lines += ["", f"{verdict.query}: {verdict.status.upper()}{too_large}", f"  {verdict.why}"]
        chosen = found if isinstance(found, Estimation) else verdict
        lines += [f"  {line}" for line in chosen.estimand.splitlines()]
        if verdict.witness is not None:
            lines += _table(["", "model 1", "model 2"], two_models(verdict.witness), "rows")
        if isinstance(found, str):
            lines += [f"  ! {found}"]
        elif found is not None:
            lines += _table([*found.given, *found.target, "P"], estimate_rows(graph, found))
            lines += [f"  {rests_on(found)}", *(f"  ! {warning}" for warning in found.warnings)]
    count = sum(verdict.term is not None for verdict in verdicts)
    lines += ["", f"{count} of {len(verdicts)} are recoverable"]
    return "\n".join(lines)


def _table(
    header: Sequence[str], rows: Sequence[Sequence[str]], things: str = "cells"
) -> list[str]:
    left = 1 if things == "rows" else len(header) - 1
    lines = text_table(header, rows[:SHOWN_CELLS], left=left).splitlines()
    if len(rows) > SHOWN_CELLS:
        lines.append(f"and {len(rows) - SHOWN_CELLS:,} more {things} (--json has all)")
    return [f"  {line}" for line in lines]


def _witness_as_data(witness: Witness | None) -> dict[str, Any] | None:
    if witness is None:
        return None
    return {
        "target": list(witness.asked.target),
        "given": list(witness.asked.given),
        "manifest_difference": witness.manifest_difference,
        "query_difference": witness.query_difference,
        "parents": {str(n): [*map(str, witness.submodel.parents(n))] for n in witness.one},
        "model_1": {str(node): table.tolist() for node, table in witness.one.items()},
        "model_2": {str(node): table.tolist() for node, table in witness.two.items()},
    }


def verdicts_as_data(
    graph: MissingnessGraph, verdicts: Sequence[Verdict], estimates: Sequence[Estimate]
) -> dict[str, Any]:
    """The same in plain lists and dictionaries; a cell that the data never show is None."""
    return {
        "graph": str(graph),
        "latent": list(graph.latent),
        "category": graph.category(),
        "why": graph.why(),
        "queries": [*map(_verdict_as_data, verdicts, estimates)],
    }


def _verdict_as_data(verdict: Verdict, found: Estimate) -> dict[str, Any]:
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
        lines = text_table(TEST_HEADER, tested_rows(tested)).splitlines()
        if any(one.how != "chi2" for one in tested):
            lines += [
                "gamma, draws: counts are small, so that Pearson's statistic is compared with its "
                "own mean and variance, or with tables drawn under independence"
            ]
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
        else [{**vars(one), "implication": str(one.implication)} for one in tested],
        "never_testable": list(silent),
    }


def two_models(witness: Witness) -> Rows:
    """The CPTs of both models: an entry, what it is in the one and in the other."""
    rows = []
    for node, cpt in witness.one.items():
        names = [*map(str, witness.submodel.parents(node)), str(node)]
        for cell in np.ndindex(*cpt.shape):
            states = ", ".join(f"{n}={k}" for n, k in zip(names[:-1], cell, strict=False))
            given = f" | {states}" if states else ""
            values = [f"{one[node][cell]:.6f}" for one in (witness.one, witness.two)]
            rows.append([f"P({node}={cell[-1]}{given})", *values])
    return rows


def estimate_rows(graph: MissingnessGraph, found: Estimation) -> Rows:
    """The states of each cell, then its probability."""
    scope = (*found.given, *found.target)
    states = [graph.network.states(name) for name in scope]
    return [
        [*cell, "unseen" if np.isnan(value) else f"{value:.4f}"]
        for cell, value in zip(product(*states), found.table.ravel().tolist(), strict=True)
    ]


def rests_on(found: Estimation) -> str:
    """What an estimate rests on, in words."""
    return (
        f"{found.rows_used:,} rows used ({found.share_used:.1%}), effective size "
        f"{found.effective_size:,.0f}, largest weight {found.largest_weight:.3g}"
    )


def tested_rows(tested: Sequence[TestedImplication]) -> Rows:
    """An implication, its test, and whether the data refute it."""
    return [
        [
            str(one.implication),
            one.how,
            f"{one.statistic:.2f}",
            f"{one.degrees_of_freedom}",
            f"{one.p_value:.3g}",
            f"{one.adjusted:.3g}",
            f"{one.effect:.3f}",
            f"{one.rows:,}",
            "REFUTED" if one.adjusted < LEVEL else "-",
        ]
        for one in tested
    ]
