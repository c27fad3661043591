"""A comparison of methods, for people and for programs."""

from __future__ import annotations

from dataclasses import asdict
from math import isnan
from typing import Any

from lacunet.text import counted, finite
from lacunet.text_tables import TextTable
from studies.comparison.compare import YARDSTICK, Comparison, Standing
from studies.comparison.summary import Difference, Summary

DIGITS = 4  # of divergences
HEADER = (
    *("method", "KL divergence", "median", "worst", "behind the best [95% interval]"),
    *("test log-likelihood per row", "seconds"),
)


def comparison_as_text(comparison: Comparison) -> str:
    """Who is the most accurate on data like the user's, who is as good, and what it costs."""
    lines = [
        f"simulated from the learned network: {counted(comparison.case.rows, 'row')}, "
        f"{comparison.hidden:.1%} of the cells hidden by mechanisms fitted to the data, "
        f"{counted(comparison.repetitions, 'draw')}",
        "",
        str(TextTable(HEADER, _rows(comparison))),
        "",
        *_verdict(comparison),
        *_messages(comparison),
        "the line 'complete' is what the rows would give if nothing were missing",
    ]
    return "\n".join(lines)


def _messages(comparison: Comparison) -> list[str]:
    return [f"{entry.method}: {entry.message}" for entry in comparison.standings if entry.message]


def _verdict(comparison: Comparison) -> list[str]:
    best = comparison.best
    if best is None:
        cause = "all are level" if comparison.case.missingness.mechanisms else "nothing is missing"
        return [f"{cause}: the methods learn the same, so there is no winner"]
    level = _level_with(best, comparison)
    if level:
        costs = ", ".join(f"{entry.method} ({_cost(entry)})" for entry in (best, *level))
        lines = [f"{costs} are the most accurate here, equal to {DIGITS} digits"]
    else:
        lines = [f"{best.method} is the most accurate here, {_cost(best)}"]
    if comparison.repetitions < 2:
        lines.append("one draw does not show what is chance: ask for more with --repetitions")
    if peers := [entry for entry in comparison.as_good if entry not in (best, *level)]:
        listed = ", ".join(f"{entry.method} ({_cost(entry)})" for entry in peers)
        lines.append(f"not clearly worse (the 95% interval of the difference holds 0): {listed}")
    return lines


def _level_with(best: Standing, comparison: Comparison) -> list[Standing]:
    """The methods that the printed digits do not tell from the best."""
    others = [
        entry for entry in comparison.standings if entry.method not in (best.method, YARDSTICK)
    ]
    return [entry for entry in others if entry.is_whole and _mean(entry) == _mean(best)]


def _mean(entry: Standing) -> str:
    return "" if entry.divergence is None else f"{entry.divergence.mean:.{DIGITS}f}"


def _cost(entry: Standing) -> str:
    return "time unknown" if entry.seconds is None else f"{entry.seconds.mean:.2g} s"


def _rows(comparison: Comparison) -> list[list[str]]:
    return [
        [
            entry.method,
            _number(entry.divergence, DIGITS),
            *_spread(entry.divergence),
            _behind(entry.behind) if entry.method != YARDSTICK else "",
            _number(entry.log_likelihood, 3),
            "-" if entry.seconds is None else f"{entry.seconds.mean:.3g}",
        ]
        for entry in comparison.standings
    ]


def _number(summary: Summary | None, digits: int) -> str:
    if summary is None:
        return "-"
    text = f"{summary.mean:.{digits}f}"
    if not isnan(summary.standard_error):
        text += f" ± {summary.standard_error:.{digits}f}"
    return text if summary.is_whole else f"{text} ({summary.count}/{summary.asked})"


def _spread(summary: Summary | None) -> tuple[str, str]:
    return ("-", "-") if summary is None else (f"{summary.median:.4f}", f"{summary.worst:.4f}")


def _behind(difference: Difference | None) -> str:
    if difference is None:
        return "-"
    interval = "" if isnan(difference.low) else f" [{difference.low:+.4f}, {difference.high:+.4f}]"
    return f"{difference.mean:.4f}{interval}"


def comparison_as_data(comparison: Comparison) -> dict[str, Any]:
    """The same in plain lists and dictionaries."""
    best = comparison.best
    return {
        "rows": comparison.case.rows,
        "hidden": comparison.hidden,
        "repetitions": comparison.repetitions,
        "mechanisms": str(comparison.case.missingness.graph),
        "best": None if best is None else best.method,
        "as_good": [entry.method for entry in comparison.as_good],
        "methods": [_standing_as_data(entry) for entry in comparison.standings],
    }


def _standing_as_data(entry: Standing) -> dict[str, Any]:
    names = ("divergence", "behind", "log_likelihood", "seconds")
    parts = {name: getattr(entry, name) for name in names}
    numbers = {
        name: None if part is None else {"value": part.mean, **asdict(part)}
        for name, part in parts.items()
    }
    return {"method": entry.method, **finite(numbers), "message": entry.message}
