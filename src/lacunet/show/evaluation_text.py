"""An evaluation, for people and for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from lacunet.ask.evaluate import DataFit, Evaluation
from lacunet.text import assigned, counted, finite
from lacunet.text_tables import fitting


def evaluation_as_text(evaluation: Evaluation) -> str:
    """The divergence, the CPT errors and the fit, one line each."""
    divergence, error = evaluation.divergence, evaluation.cpt_error
    unit = "nats, exact"
    if not divergence.exact:
        unit = (
            f"nats (standard error {divergence.standard_error:.2g}), estimated from "
            f"{divergence.samples:,} samples: exact is beyond the memory budget"
        )
    lines = [f"KL divergence        {divergence.value:.6g} {unit}"]
    if error.cells:
        given = ", ".join(assigned(name, state) for name, state in error.given.items())
        where = assigned(error.variable, error.state) + (f" given {given}" if given else "")
        lines += [
            f"largest CPT error    {error.largest:.6g} at {where}",
            f"mean CPT error       {error.mean:.6g} over {error.cells:,} cells",
        ]
    if error.left_out:
        lines.append(f"not compared         {', '.join(error.left_out)}: other parents")
    if evaluation.fit is not None:
        lines.append(fit_as_text(evaluation.fit))
    return fitting("\n".join(lines))


def fit_as_text(fit: DataFit) -> str:
    """The log-likelihood of test data, in a line."""
    return fitting(
        f"log-likelihood       {fit.mean:.6g} per row (standard error "
        f"{fit.standard_error:.2g}) on {counted(fit.rows, 'row')}"
    )


def evaluation_as_data(evaluation: Evaluation | DataFit) -> dict[str, Any]:
    """The same in plain dictionaries; an infinity is a string, NaN is None."""
    data: dict[str, Any] = finite(asdict(evaluation))
    return {"fit": data} if isinstance(evaluation, DataFit) else data
