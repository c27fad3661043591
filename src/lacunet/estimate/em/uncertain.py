"""How sure EM is: the step of this EM, handed to the rate matrix."""

from __future__ import annotations

from lacunet.estimate.em.start import Rows, maximise
from lacunet.inference.engine import Engine
from lacunet.model.network import FloatArray
from lacunet.progress import Progress, silent
from lacunet.uncertainty.rate_matrix import Curvature, EmSpreads, em_spreads, parts_of


def em_curvature(engine: Engine, cells: FloatArray, pseudo: FloatArray) -> Curvature:
    """Where EM has come to, as the rate matrix wants it.

    Parameters
    ----------
    engine
        The compiled rows.
    cells
        The cells of all CPTs, end to end, where EM has converged.
    pseudo
        Their pseudo-counts.
    """
    layout = engine.problems.layout
    rows = Rows.of(layout)

    def step(start: FloatArray) -> FloatArray:
        return maximise(engine.expect(start).counts, rows, 1 + pseudo)

    return Curvature.of(step, cells, engine.expect(cells).counts, layout, pseudo)


def em_uncertainty(
    engine: Engine, cells: FloatArray, pseudo: FloatArray, progress: Progress = silent
) -> EmSpreads:
    """The spread of every CPT, and what the data do not identify."""
    layout = engine.problems.layout
    curvature = em_curvature(engine, cells, pseudo)
    parts = parts_of(engine.problems, curvature.free, layout)
    return em_spreads(curvature, parts, layout, pseudo, progress)
