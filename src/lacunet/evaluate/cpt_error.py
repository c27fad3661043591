"""How far the single parameters are off, and which is furthest off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lacunet.evaluate.matching import matched
from lacunet.evaluate.terms import same_parents
from lacunet.model.network import Network


@dataclass(frozen=True)
class CptError:
    r"""Absolute differences :math:`|\theta_{x|u} - \theta'_{x|u}|` over the cells of all CPTs.

    The largest is at state ``state`` of ``variable`` where the parents are as in ``given``.
    Families whose parents differ between the networks have no cells to compare; they are
    named in ``left_out``. Where that is all of them, the largest and the mean are NaN.
    """

    largest: float
    mean: float
    cells: int
    variable: str
    state: str
    given: Mapping[str, str]
    left_out: tuple[str, ...]


def cpt_error(truth: Network, learned: Network) -> CptError:
    """The largest and the mean difference between the CPTs of two networks.

    Examples
    --------
    >>> truth = Network({"A": ["x", "y"]}, tables={"A": [0.5, 0.5]})
    >>> learned = Network({"A": ["x", "y"]}, tables={"A": [0.25, 0.75]})
    >>> error = cpt_error(truth, learned)
    >>> error.largest, error.mean, error.variable, error.state
    (0.25, 0.25, 'A', 'x')
    """
    own = matched(truth, learned)
    compared = [name for name in truth.variables if same_parents(truth, own, name)]
    left_out = tuple(name for name in truth.variables if name not in compared)
    if not compared:
        return CptError(np.nan, np.nan, 0, "", "", {}, left_out)
    differences = {name: np.abs(truth.cpt(name).table - own.cpt(name).table) for name in compared}
    worst = max(compared, key=lambda name: float(differences[name].max()))
    table = differences[worst]
    at = np.unravel_index(np.argmax(table), table.shape)
    *given, child = zip(truth.family(worst), at, strict=True)
    cells = sum(table.size for table in differences.values())
    return CptError(
        largest=float(table.max()),
        mean=sum(float(table.sum()) for table in differences.values()) / cells,
        cells=cells,
        variable=worst,
        state=truth.states(worst)[child[1]],
        given={name: truth.states(name)[state] for name, state in given},
        left_out=left_out,
    )
