"""A result of learning, for people and for programs."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from lacunet.estimate.learn import Result
from lacunet.estimate.method import FamilyReport
from lacunet.wording import counted, finite, text_table

SHOWN_WARNINGS = 12


def result_as_text(result: Result) -> str:
    """What was learned by which method, and what each CPT rests on."""
    gaps = sum(result.missing.values())
    partially = sum(count > 0 for count in result.missing.values())
    cells = result.rows * len(result.missing)
    weight = "" if result.total == result.rows else f" (weight {result.total:g})"
    lines = [
        f"{counted(len(result.network.variables), 'CPT')} by {result.method} from "
        f"{counted(result.rows, 'row')}"
        f"{weight}, prior {result.prior:g}",
        f"{gaps:,} of {cells:,} cells ({gaps / cells:.1%}) are missing, "
        f"in {partially} of {len(result.missing)} variables",
    ]
    lines += [result.why] if result.why else []
    lines += [_ended(result), *result.ended.notes] if result.ended else []
    lines += ["", _families(result)]
    warnings = result.warnings
    if warnings:
        lines += ["", *(f"! {warning}" for warning in warnings[:SHOWN_WARNINGS])]
        if len(warnings) > SHOWN_WARNINGS:
            lines.append(f"! and {len(warnings) - SHOWN_WARNINGS} more (--json lists all)")
    return "\n".join(lines)


def _ended(result: Result) -> str:
    ended = result.ended
    assert ended is not None
    return (
        f"{ended.reason} after {counted(ended.iterations, 'iteration')}, {ended.seconds:.2f} s; "
        f"log-likelihood {_known(ended.log_likelihood)}, "
        f"log-posterior {_known(ended.log_posterior)}"
    )


def _known(value: float) -> str:
    return "not known" if math.isnan(value) else f"{value:.10g}"


def _families(result: Result) -> str:
    rows = [
        [
            name,
            ", ".join(report.parents) or "-",
            f"{report.rows_shown:,}",
            "-" if report.effective_size is None else f"{report.effective_size:,.0f}",
            f"{report.fallback_mass:.1%}" if report.fallback_mass else "-",
            f"{report.unsupported:,}" if report.unsupported else "-",
        ]
        for name, report in result.families.items()
    ]
    header = ["variable", "parents", "rows shown", "effective", "fell back", "unsupported"]
    return text_table(header, rows, left=2)


def result_as_data(result: Result) -> dict[str, Any]:
    """Everything of a result, in plain lists and dictionaries."""
    return {
        "method": result.method,
        "why": result.why,
        "rows": result.rows,
        "weight": result.total,
        "prior": result.prior,
        "missing": dict(result.missing),
        "notes": list(result.notes),
        "ended": None if result.ended is None else finite(asdict(result.ended)),
        "families": {name: _report(report) for name, report in result.families.items()},
        "states": {name: list(states) for name, states in result.network.states_of.items()},
        "cpts": {
            cpt.child: {"parents": list(cpt.parents), "table": cpt.table.tolist()}
            for cpt in result.network.cpts
        },
    }


def _report(report: FamilyReport) -> dict[str, Any]:
    return {
        "variable": report.variable,
        "parents": list(report.parents),
        "estimand": report.estimand,
        "latex": report.latex,
        "rows_shown": report.rows_shown,
        "rows_used": report.rows_used,
        "effective_size": report.effective_size,
        "fallback_mass": report.fallback_mass,
        "fallback": report.fallback,
        "support": report.support.tolist(),
        "unsupported": report.unsupported,
        "unseen": report.unseen,
        "warnings": list(report.warnings),
    }
