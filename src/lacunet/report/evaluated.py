"""An evaluation, for people and for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from lacunet.evaluate.evaluation import Evaluation
from lacunet.report.numbers import finite


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
