r"""Where EM starts: a closed form, a network, or chance; and the line that ends each step.

A variable that no row shows is known to a closed form only by the prior: unless pseudo-counts
that were given say otherwise, all its states are alike, and so they stay, for EM never breaks a
tie. The CPTs that such a variable has a part in are therefore drawn at random, whatever the seed,
and only they are drawn anew at a restart.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.em_problems.cell_layout import Layout
from lacunet.learning.closed_forms.forms import DELETIONS, Deletion
from lacunet.learning.cpt_rows import CptRows
from lacunet.learning.plan import MethodError, PerCell
from lacunet.network.alignment import ComparisonError, match_network
from lacunet.network.network import FloatArray, Network, Scope, Tables

START_PSEUDO_COUNTS = 1.0  # smooth a start where those asked for do not: EM never leaves a zero
SPREAD_OF_START = 1.0  # standard deviation of the logarithm of a cell of a perturbed start


def maximise(
    counts: FloatArray,
    rows: CptRows,
    pseudo_counts: PerCell,
    near: FloatArray | None = None,
) -> FloatArray:
    r"""The CPTs of highest posterior given expected counts.

    .. math::
        \theta(x \mid u) \propto E[n(u, x)] + A(u, x)

    Pseudo-counts are one number, or one for each cell.

    Examples
    --------
    >>> one_variable = CptRows(np.array([0]), np.array([2]))
    >>> maximise(np.array([5.0, 3.0]), one_variable, 1.0).tolist()
    [0.6, 0.4]
    """
    return rows.likeliest(counts + pseudo_counts, near)


def log_prior(cells: FloatArray, pseudo_counts: PerCell) -> float:
    r"""The Dirichlet prior's part of the log-posterior, up to a constant.

    .. math::
        \sum A \log \theta

    A cell without pseudo-counts has no part in it, even where it is zero.

    Examples
    --------
    >>> round(log_prior(np.array([0.25, 0.75, 0.0]), np.array([1.0, 0.0, 0.0])), 3)
    -1.386
    """
    pseudo = np.broadcast_to(np.asarray(pseudo_counts, np.float64), cells.shape)
    with np.errstate(divide="ignore"):
        return float(pseudo @ np.log(cells, out=np.zeros_like(cells), where=pseudo != 0))


def random_cells(rows: CptRows, rng: np.random.Generator) -> FloatArray:
    """CPTs whose rows are drawn uniformly from all distributions."""
    return rows.likeliest(rng.standard_exponential(int(rows.lengths.sum())))


def perturbed_cells(cells: FloatArray, rows: CptRows, rng: np.random.Generator) -> FloatArray:
    """CPTs around others: every cell multiplied by a factor of lognormal distribution."""
    moved = cells * rng.lognormal(0.0, SPREAD_OF_START, len(cells))
    return rows.likeliest(rows.normalised(moved), cells)


def alike_states(network: Network, tables: Tables, variables: Iterable[str]) -> Scope:
    """Those of some variables that have two states which no CPT tells apart.

    Examples
    --------
    >>> network = Network({"H": ["0", "1"], "X": ["0", "1"]}, {"X": ["H"]})
    >>> root, even = np.array([0.5, 0.5]), np.full((2, 2), 0.5)
    >>> alike_states(network, {"H": root, "X": even}, ["H"])
    ('H',)
    >>> alike_states(network, {"H": root, "X": np.array([[0.9, 0.1], [0.2, 0.8]])}, ["H"])
    ()
    """
    alike = []
    for name in variables:
        # A state as all CPTs know it: its cells in the families that the variable has a part in.
        families = [family for family in network.families if name in family]
        by_state = [np.moveaxis(tables[family[-1]], family.index(name), 0) for family in families]
        rows = np.concatenate([table.reshape(len(table), -1) for table in by_state], axis=1)
        if any(np.allclose(row, other) for row, other in combinations(rows, 2)):
            alike.append(name)
    return tuple(alike)


def cells_about(layout: Layout, variables: Iterable[str]) -> NDArray[np.bool_]:
    """Which cells are those of families that some variables have a part in."""
    names = set(variables)
    touched = np.zeros(layout.cells, dtype=bool)
    for name, table in layout.tables(touched).items():
        if not names.isdisjoint(layout.network.family(name)):
            table[...] = True
    return touched


def starting_form(start: str | Network) -> Deletion:
    """The closed form that EM starts from; direct deletion where it starts from something else."""
    if not isinstance(start, str) or start == "random":
        return Deletion("direct", groups=None, starts_em=True)
    known = {name: form for name, form in DELETIONS.items() if not form.is_informed}
    if start not in known:
        raise MethodError(
            f"start is {start!r}, but must be 'random', a network, or one of {', '.join(known)}."
        )
    return replace(known[start], starts_em=True)


def tables_of(start: Network, network: Network) -> Tables:
    """The CPTs of another network over the same variables, states and edges, in any order."""
    try:
        reordered = match_network(network, start) if start.has_cpts else None
    except ComparisonError:
        reordered = None
    if reordered is None or reordered.parents_of != network.parents_of:
        raise MethodError(
            "the network to start from has other variables, states or parents than the one to "
            "learn.",
            "it gives CPTs only; its structure must be the same.",
        )
    return {name: reordered.cpt(name).table for name in network.variables}
