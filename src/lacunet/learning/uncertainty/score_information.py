r"""The observed information of EM where some CPTs are no full tables: how the score falls.

The derivative of the log-posterior by the free parameters :math:`\phi` needs an E-step and nothing
else (R. A. Fisher, 1925; T. A. Louis, 1982),

.. math::
    s(\phi) = J(\phi)^\top \frac{E_\theta[n] + a}{\theta(\phi)}, \qquad
    I_\mathrm{obs} = -\frac{\partial s}{\partial \phi},

with :math:`J` how parameters move the cells :math:`\theta` and :math:`a` the pseudo-counts. It is
taken at parameters moved there and back. A rate matrix (`rate_matrix`) tells the same of full
tables, whose step is linear in what is expected; for other shapes it would need a step that goes
all the way, and complete information that depends on the counts.
"""

from __future__ import annotations

import numpy as np

from lacunet.counts.counts import quotient
from lacunet.learning.uncertainty.rate_matrix import MOVE, Curvature, Integers
from lacunet.network.network import FloatArray
from lacunet.progress import Progress


def score_information(curvature: Curvature, parts: Integers, progress: Progress) -> FloatArray:
    """The observed information of the free parameters, prior included.

    Parameters
    ----------
    parts
        For each free parameter the part it belongs to: parameters of different parts do not
        meet in any problem. Part -1 meets no problem at all.
    """
    # What meets no problem is a part for each family: there counts stay, and the score still falls.
    alone = parts < 0
    parts = np.where(alone, parts.max(initial=-1) + 1 + curvature.family, parts)
    whole = np.zeros((len(parts), len(parts)))
    members = [np.flatnonzero(parts == part) for part in np.unique(parts)]
    room = rooms(curvature)
    turns = max(map(len, members), default=0)
    for turn in range(turns):
        progress("intervals", turn, turns, "E-steps there and back")
        blocks = [block for block in members if turn < len(block)]
        chosen = np.array([block[turn] for block in blocks])
        move = np.zeros(len(parts))
        move[chosen] = MOVE * room[chosen]
        fall = score(curvature, -move) - score(curvature, move)
        for block, index in zip(blocks, chosen, strict=True):
            whole[block, index] = fall[block] / (2 * move[index])
    return (whole + whole.T) / 2


def score(curvature: Curvature, move: FloatArray) -> FloatArray:
    """The derivative of the log-posterior by each free parameter, where these are moved."""
    free = curvature.free
    network = curvature.layout.network
    of_tables = np.where(np.arange(free.number) < len(free.cell), move, 0.0)
    cells = curvature.cells + free.spread_out(of_tables, len(curvature.cells))
    moved_to = []
    for shape, part in zip(free.shapes, free.parts, strict=True):
        shaped = network.shaped_of[shape.variable]
        parameters = shaped.parameters(curvature.cells[shape.cells].reshape(shaped.shape))
        parameters[shape.is_free] += move[part]
        cells[shape.cells] = np.ravel(shaped.table(parameters))
        moved_to.append(parameters)
    slopes = quotient(curvature.expect(cells) + curvature.pseudo, cells)  # by each cell
    terms = [slopes[free.cell] - slopes[free.reference]]
    for shape, parameters in zip(free.shapes, moved_to, strict=True):
        shaped = network.shaped_of[shape.variable]
        jacobian = shaped.derivative(parameters).reshape(len(parameters), slopes[shape.cells].size)
        terms.append(jacobian[shape.is_free] @ slopes[shape.cells])
    return np.concatenate(terms)


def rooms(curvature: Curvature) -> FloatArray:
    """How far each free parameter may move until the first cell is zero, about."""
    free, cells = curvature.free, curvature.cells
    of_tables = np.minimum(cells[free.cell], cells[free.reference])
    of_shapes = [
        1 / np.abs(quotient(shape.jacobian, cells[shape.cells])).max(axis=1, initial=0.0)
        for shape in free.shapes
    ]
    return np.concatenate([of_tables, *of_shapes])
