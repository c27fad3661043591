"""The referee's verdict, for people and for programs.

An evaluation, for people and for programs.
"""

from __future__ import annotations

from dataclasses import asdict
from math import isnan
from typing import Any

from lacunet.evaluate.evaluation import Evaluation
from lacunet.experiments.referee import YARDSTICK, Comparison, Standing
from lacunet.experiments.report.summary import Mean
from lacunet.wording import finite, text_table


def comparison_as_text(found: Comparison) -> str:
    """Who is the most accurate on data like the user's, who is as good, and what it costs."""
    lines = [
        f"simulated from the learned network: {found.case.rows:,} rows, "
        f"{found.hidden:.1%} of the cells hidden by mechanisms fitted to the data, "
        f"{found.repetitions} draws",
        "",
        _table(found),
        "",
        *_verdict(found),
    ]
    return "\n".join(lines)


def _verdict(found: Comparison) -> list[str]:
    best = found.best
    lines = [f"{best.method} is the most accurate here, {_cost(best)}"]
    peers = [
        one
        for one in found.standings
        if one.is_as_good_as_best and one.method not in (best.method, YARDSTICK)
    ]
    if peers:
        told = ", ".join(f"{one.method} ({_cost(one)})" for one in peers)
        lines.append(f"not clearly worse (within 2 standard errors): {told}")
    lines += [f"{one.method}: {one.message}" for one in found.standings if one.message]
    lines.append(
        "the complete rows, which nobody has, would give the line 'complete': "
        "it is the price of what is missing"
    )
    return lines


def _cost(one: Standing) -> str:
    return "time unknown" if one.seconds is None else f"{one.seconds.value:.2g} s"


def _table(found: Comparison) -> str:
    header = ["method", "KL divergence", "behind the best", "test log-likelihood", "seconds"]
    rows = [
        [
            one.method,
            _number(one.divergence, 4),
            _number(one.behind, 4) if one.method != YARDSTICK else "",
            _number(one.log_likelihood, 3),
            "-" if one.seconds is None else f"{one.seconds.value:.3g}",
        ]
        for one in found.standings
    ]
    return text_table(header, rows)


def _number(mean: Mean | None, digits: int) -> str:
    if mean is None:
        return "-"
    text = f"{mean.value:.{digits}f}"
    if not isnan(mean.standard_error):
        text += f" ± {mean.standard_error:.{digits}f}"
    return text if mean.is_whole else f"{text} ({mean.count}/{mean.asked})"


def comparison_as_data(found: Comparison) -> dict[str, Any]:
    """The same in plain lists and dictionaries."""
    return {
        "rows": found.case.rows,
        "hidden": found.hidden,
        "repetitions": found.repetitions,
        "mechanisms": str(found.case.missingness.graph),
        "best": found.best.method,
        "as_good": [
            one.method
            for one in found.standings
            if one.is_as_good_as_best and one.method != YARDSTICK
        ],
        "methods": [_standing_as_data(one) for one in found.standings],
    }


def _standing_as_data(one: Standing) -> dict[str, Any]:
    numbers = {
        name: _mean_as_data(getattr(one, name))
        for name in ("divergence", "behind", "log_likelihood", "seconds")
    }
    return {"method": one.method, **numbers, "message": one.message}


def _mean_as_data(mean: Mean | None) -> dict[str, Any] | None:
    if mean is None:
        return None
    data = asdict(mean)
    if isnan(mean.standard_error):
        data["standard_error"] = None  # one draw says nothing of the spread
    return data


def evaluation_as_text(found: Evaluation) -> str:
    """The divergence, the CPT errors and the fit, a line each."""
    lines = [f"KL divergence        {_divergence(found)}"]
    error = found.cpt_error
    if error.cells:
        given = ", ".join(f"{name}={state}" for name, state in error.given.items())
        where = f"{error.variable}={error.state}{f' given {given}' if given else ''}"
        lines += [
            f"largest CPT error    {error.largest:.6g} at {where}",
            f"mean CPT error       {error.mean:.6g} over {error.cells:,} cells",
        ]
    if error.left_out:
        lines.append(f"not compared         {', '.join(error.left_out)}: other parents")
    if found.fit is not None:
        fit = found.fit
        lines.append(
            f"log-likelihood       {fit.mean:.6g} a row (standard error "
            f"{fit.standard_error:.2g}) on {fit.rows:,} rows"
        )
    return "\n".join(lines)


def _divergence(found: Evaluation) -> str:
    divergence = found.divergence
    if divergence.exact:
        return f"{divergence.value:.6g} nats, exact"
    return (
        f"{divergence.value:.6g} nats (standard error {divergence.standard_error:.2g}), "
        f"estimated from {divergence.samples:,} samples: exact is beyond the memory budget"
    )


def evaluation_as_data(found: Evaluation) -> dict[str, Any]:
    """The same in plain dictionaries; an infinity is a text, what is no number None."""
    return {
        part: None if value is None else finite(asdict(value))
        for part, value in (
            ("divergence", found.divergence),
            ("cpt_error", found.cpt_error),
            ("fit", found.fit),
        )
    }
