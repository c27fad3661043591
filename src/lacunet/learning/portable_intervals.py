r"""What intervals of answers need, without rows and without the code that learned: for pages.

However CPTs were learned, the variance of an answer with the gradient :math:`g` by their entries is

.. math::
    v = d^\top C d + \sum_c a_c (g_c - \theta g)^2, \qquad v' = \frac{v}{1 - v_s / v}, \qquad
    v_s = \sum_u k_u \sum_x \theta_{x|u} (g_x - \theta g)^2

with :math:`d` the gradient of each free cell less that of its CPT row's reference. :math:`C` is how
the CPTs vary together, where they do. :math:`a` is what single cells bring, pseudo-counts taken
for rows, and :math:`k` what these know, to be taken off again (`delta.without_prior`). Replicates
need no :math:`C`: each of them answers. None of it depends on the question.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.counts import quotient
from lacunet.learning.closed_forms.influence import RowInfluence
from lacunet.learning.interval_recipes import Uncertainty
from lacunet.learning.uncertainty.cpt_intervals import Spread
from lacunet.learning.uncertainty.delta import JEFFREYS_PSEUDO_COUNT, in_rows, lacking
from lacunet.learning.uncertainty.frequencies import Uncorrelated
from lacunet.learning.uncertainty.jackknife import Replicates
from lacunet.learning.uncertainty.rate_matrix import EmSpreads
from lacunet.network.network import FloatArray, Network, Tables

MOST_FREE = 600  # cells that vary together: 360 kB at two bytes for each pair
MOST_CELLS = 3_000  # of all CPTs, and of all replicates thirty times as many
MOST_MOVES = 5_000_000  # of cells by distinct rows

Weights = tuple[dict[str, FloatArray], dict[str, FloatArray]]  # a and k of each CPT


@dataclass(frozen=True)
class Together:
    """How free cells vary together; cells are numbered through all CPTs, variable by variable."""

    cell: NDArray[np.int64]
    reference: NDArray[np.int64]  # the cell that makes up for it, in the same CPT row
    covariance: FloatArray


@dataclass(frozen=True)
class Portable:
    """What intervals of answers need beside the CPTs."""

    spread_of: Mapping[str, Spread]
    brought: Tables  # a, for each cell of each CPT
    known: Tables  # k, of each CPT row, on an axis of length one for the child
    together: Together | None  # None: they do not vary together, or replicates answer
    replicates: Replicates | None
    degrees: float  # of freedom
    total: float  # the weight of all rows


def portable(uncertainty: Uncertainty, network: Network) -> Portable | None:
    """What intervals of answers need; None where that is too much, or not known in this form.

    Parameters
    ----------
    network
        The one that is asked: without mechanisms as nodes.
    """
    covariance = uncertainty.covariance
    is_own = not (uncertainty.is_credible or uncertainty.others or network.bootstrap)
    if not is_own or sum(cpt.table.size for cpt in network.cpts) > MOST_CELLS:
        return None
    spread_of = {name: uncertainty.spread_of[name] for name in network.variables}
    weights: Weights | None = None
    together = replicates = None
    if isinstance(covariance, Uncorrelated):
        weights = _of_frequencies(covariance, network, spread_of)
    elif isinstance(covariance, EmSpreads):
        together = _of_em(covariance, network)
        if together is not None:
            weights = _of_em_alone(covariance, network)
    elif isinstance(covariance, RowInfluence):
        together = _of_rows(covariance, network)
        if together is not None:
            weights = _of_rows_alone(covariance, network, spread_of)
    elif isinstance(covariance, Replicates):
        replicates = covariance
        weights = _of_replicates(covariance, network, spread_of)
    if weights is None:
        return None
    degrees = float(covariance.degrees)
    return Portable(spread_of, *weights, together, replicates, degrees, uncertainty.total)


def _of_pseudo_counts(
    network: Network, pseudo_of: Tables, sizes_of: Tables, weight_of: Tables
) -> Weights:
    """As `delta.with_pseudo_rows`: what pseudo-counts bring, and what they know."""
    in_rows_of = in_rows(network, pseudo_of, sizes_of, weight_of)
    return _brought(sizes_of, in_rows_of), _known(network, sizes_of, in_rows_of)


def _brought(rows_of: Tables, pseudo_of: Tables) -> dict[str, FloatArray]:
    """As `delta.pseudo_variances`."""
    return {
        name: quotient(pseudo, np.square(rows_of[name] + pseudo.sum(axis=-1, keepdims=True)))
        for name, pseudo in pseudo_of.items()
    }


def _known(network: Network, rows_of: Tables, pseudo_of: Tables) -> dict[str, FloatArray]:
    """As `delta.without_prior`."""
    known = {}
    for cpt in network.cpts:
        pseudo = pseudo_of[cpt.child].sum(axis=-1, keepdims=True)
        known[cpt.child] = quotient(pseudo, np.square(rows_of[cpt.child] + pseudo))
    return known


def _of_frequencies(
    covariance: Uncorrelated, network: Network, spread_of: Mapping[str, Spread]
) -> Weights:
    weight_of = {
        name: counts.dense().sum(axis=-1, keepdims=True)
        for name, counts in covariance.counts_of.items()
    }
    sizes_of = {name: spread.row_sizes[..., None] for name, spread in spread_of.items()}
    brought, known = _of_pseudo_counts(network, covariance.pseudo_of, sizes_of, weight_of)
    for name in brought:
        total = weight_of[name] + covariance.pseudo_of[name].sum(axis=-1, keepdims=True)
        brought[name] = brought[name] + quotient(
            covariance.counts_of[name].squares(), np.square(total)
        )
    return brought, known


def _offsets(network: Network) -> dict[str, int]:
    """Where the cells of each CPT begin."""
    sizes = [cpt.table.size for cpt in network.cpts]
    begins = np.cumsum([0, *sizes[:-1]]).tolist()
    return dict(zip(network.variables, begins, strict=True))


def _of_em(em: EmSpreads, network: Network) -> Together | None:
    """Of EM's free parameters those of the network; there are others where CPTs have shapes."""
    if em.free.shapes or network.tied or em.lost.shape[1]:
        return None
    layout, begins = em.layout, _offsets(network)
    moved = np.full(layout.cells, -1)  # from the cells there to those here
    for index, name in enumerate(layout.network.variables):
        if name in begins:
            size, start = int(layout.sizes[index]), int(layout.offsets[index])
            moved[start : start + size] = begins[name] + np.arange(size)
    kept = np.flatnonzero(moved[em.free.cell] >= 0)
    if len(kept) > MOST_FREE:
        return None
    cell, reference = moved[em.free.cell[kept]], moved[em.free.reference[kept]]
    return Together(cell, reference, em.covariance[np.ix_(kept, kept)])


def _of_em_alone(em: EmSpreads, network: Network) -> Weights:
    """As EM has them, beside the covariance."""
    rows_of: dict[str, FloatArray] = {}
    pseudo_of: dict[str, FloatArray] = {}
    rows, pseudo = em.layout.tables(em.rows), em.layout.tables(em.pseudo)
    for name in network.variables:
        rows_of[name], pseudo_of[name] = rows[name][..., :1], pseudo[name]
    lacks_of = lacking(network, pseudo_of, rows_of)
    if em.pseudo.any():
        lacks_of = {name: lacks * (rows_of[name] > 0) for name, lacks in lacks_of.items()}
    brought = _brought(rows_of, lacks_of)
    if not em.pseudo.any():
        rows_of = {name: np.where(rows > 0, np.inf, 0.0) for name, rows in rows_of.items()}
    half = {name: np.maximum(each, JEFFREYS_PSEUDO_COUNT) for name, each in pseudo_of.items()}
    return brought, _known(network, rows_of, half)


def _of_rows(influence: RowInfluence, network: Network) -> Together | None:
    """What the distinct rows move the free cells by, as a covariance."""
    rows = len(influence.weights)
    free = sum(cpt.table.size - cpt.table[..., 0].size for cpt in network.cpts)
    if free > MOST_FREE or free * rows > MOST_MOVES:
        return None
    begins = _offsets(network)
    cell, reference, moves_by = [], [], []
    for name, moves in influence.moves(network.variables):
        table = network.cpt(name).table
        states = table.shape[-1]
        weight = moves.weights().sum(axis=-1)
        total = weight + influence.pseudo_of[name].sum(axis=-1)
        for number, index in enumerate(np.ndindex(table.shape[:-1])):
            best = int(table[index].argmax())
            for state in range(states if total[index] > 0 else 0):
                if state == best:
                    continue
                direction = np.zeros(table.shape)
                direction[index] = (np.arange(states) == state) - table[(*index, state)]
                moves_by.append(moves.along(direction / total[index]))
                cell.append(begins[name] + number * states + state)
                reference.append(begins[name] + number * states + best)
    moved = np.stack(moves_by, axis=1) if moves_by else np.zeros((rows, 0))
    moved = moved - influence.weights @ moved / influence.weights.sum()
    covariance = (moved * influence.squares[:, None]).T @ moved
    return Together(np.array(cell, np.int64), np.array(reference, np.int64), covariance)


def _of_rows_alone(
    influence: RowInfluence, network: Network, spread_of: Mapping[str, Spread]
) -> Weights:
    weight_of = {
        name: moves.weights().sum(axis=-1, keepdims=True)
        for name, moves in influence.moves(network.variables)
    }
    sizes_of = {name: spread.row_sizes[..., None] for name, spread in spread_of.items()}
    return _of_pseudo_counts(network, influence.pseudo_of, sizes_of, weight_of)


def _of_replicates(
    covariance: Replicates, network: Network, spread_of: Mapping[str, Spread]
) -> Weights:
    """As replicates have them, beside their answers."""
    weight_of, rows_of, known_of = covariance.rows_and_known(spread_of)
    mine = {name: weight_of[name] for name in network.variables}
    brought = _brought(rows_of, in_rows(network, covariance.pseudo_of, rows_of, mine))
    known = _known(network, known_of, in_rows(network, covariance.pseudo_of, known_of, mine))
    return brought, known
