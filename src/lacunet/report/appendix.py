"""The appendix example, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lacunet.estimate.rows import ranges
from lacunet.experiments.appendix import Line


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
        f"  {factor}: {ranges(np.array(rows))}"
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
