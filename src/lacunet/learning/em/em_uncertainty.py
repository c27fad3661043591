"""How sure EM is: the step of this EM, handed to the rate matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lacunet.counts.counts import quotient
from lacunet.inference.engine import Engine
from lacunet.inference.expectation.draw import batches_of, solve
from lacunet.learning.cpt_rows import CptRows
from lacunet.learning.em.iterations import Limits, climb
from lacunet.learning.em.start import maximise
from lacunet.learning.uncertainty.rate_matrix import (
    ARRIVED,
    Curvature,
    EmSpreads,
    em_spreads,
    information,
    parts_of_parameters,
)
from lacunet.learning.uncertainty.score_information import score_information
from lacunet.limits import memory_budget
from lacunet.network.network import FloatArray
from lacunet.progress import Progress, silent

FURTHER = Limits(tolerance=1e-9, iterations=20_000)
NOT_ARRIVED = (
    "EM had not arrived at its maximum: intervals are those of where it arrives, with entries of "
    "CPTs up to {:.2g} away; a smaller tolerance= goes there"
)
NO_MAXIMUM = (
    "EM ends where the likelihood has no maximum: intervals are widened, and those of answers may "
    "still be too narrow; more starts (restarts=) may end elsewhere"
)
RELATIVE_STEP = 1e-4  # how far cells are moved, relative to themselves, for a derivative


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
    rows = CptRows.of(layout)

    def expect(start: FloatArray) -> FloatArray:
        return engine.expect(start).counts

    def step(start: FloatArray) -> FloatArray:
        return maximise(expect(start), rows, pseudo, start)

    expected = expect(cells) + pseudo
    return Curvature(
        layout=layout,
        step=step,
        expect=expect,
        cells=cells,
        pseudo=pseudo,
        expected=expected,
        begins=rows.begins,
        lengths=rows.lengths,
    )


def em_uncertainty(
    engine: Engine, cells: FloatArray, pseudo: FloatArray, progress: Progress = silent
) -> EmSpreads:
    """The spread of every CPT, and what the data do not identify.

    Where the curvature says that EM has not arrived, it goes on from there, and how sure it is is
    found where it arrives; the estimate stays what it was.
    """
    spreads = _spreads_at(engine, cells, pseudo, progress)
    if spreads.is_at_maximum or engine.loopy_families:
        return spreads

    end = climb(engine, cells, pseudo, FURTHER).cells
    spreads = _spreads_at(engine, end, pseudo, progress)
    doubts: tuple[str, ...] = ()
    if spreads.is_at_maximum:
        moved = np.abs(end - cells)
        errors = ARRIVED * np.sqrt(np.diag(spreads.covariance))[: len(spreads.free.cell)]
        if (moved[spreads.free.cell] > errors).any():
            doubts = (NOT_ARRIVED.format(float(moved.max())),)
    else:
        doubts = (NO_MAXIMUM,)

    # The spreads of where it arrives, around the estimate.
    tables = engine.problems.layout.tables(cells)
    spread_of = {
        name: replace(spread, table=tables[name]) for name, spread in spreads.spread_of.items()
    }
    return replace(spreads, spread_of=spread_of, doubts=doubts)


def _spreads_at(
    engine: Engine, cells: FloatArray, pseudo: FloatArray, progress: Progress
) -> EmSpreads:
    """The spreads as if EM had arrived."""
    curvature = em_curvature(engine, cells, pseudo)
    parts = parts_of_parameters(engine.problems, curvature)
    find = score_information if curvature.free.shapes else information
    observed = find(curvature, parts, progress)
    return em_spreads(curvature, observed, row_information(engine, cells))


def row_information(engine: Engine, cells: FloatArray) -> Callable[[FloatArray], FloatArray] | None:
    r"""What single rows say about each of some moves of all cells; None with loopy propagation.

    :math:`\sum_r w_r (\partial \log \Pr(r))^2`, summed over the problems and the complete
    families that a row falls into: each of them is a distribution of its own, so none makes up
    for another. (On the nodes of mechanisms they can; whether those are identified, the graph
    says.)
    """
    if engine.loopy_families:
        return None
    problems = engine.problems
    weights = problems.weights.sum(axis=1)
    complete = problems.fixed.sum(axis=1)

    def of_moves(moves: FloatArray) -> FloatArray:
        slopes = quotient(moves, cells)  # of the logarithm of each cell
        steps = RELATIVE_STEP / np.abs(slopes).max(axis=1)
        information = np.square(slopes) @ complete
        for batch in batches_of(problems, memory_budget(None)):
            for index, (move, step) in enumerate(zip(moves, steps, strict=True)):
                up = solve(batch, cells + step * move).log_z
                down = solve(batch, cells - step * move).log_z
                slope = (up - down) / (2 * step)
                information[index] += weights[batch.problems] @ np.square(slope)
        return np.asarray(information)

    return of_moves
