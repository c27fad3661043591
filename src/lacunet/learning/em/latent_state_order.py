r"""An order for the states of variables that no row shows.

Where no row shows a variable and the prior treats its states alike, the data say what its states
are, but not which is which: two states may change places, and every row is as likely as before.
Which of them comes first is chance then, unless a rule decides: the largest state comes first, by
the rows that EM expects in it. States of the same size are ordered by the first variable beside
them that rows show: first comes the state that makes its first state likeliest.

States that the prior tells apart, or one of which is a structural zero, stay where they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from lacunet.counts.em_problems.cell_layout import Layout
from lacunet.counts.em_problems.ragged import Integers
from lacunet.learning.em.iterations import Climb
from lacunet.learning.em.start import CptRows
from lacunet.network.network import FloatArray, Scope

TIE = 0.01  # of the rows: sizes that differ by less may change places from one start to another
ROW_ORDER_ROUNDING = 1e-6  # differences below may come from the order in which rows were added up
IMPOSSIBLE = -1.0  # stands for the pseudo-counts of a structural zero


def with_ordered_states(
    climb: Climb, layout: Layout, pseudo: FloatArray, variables: Scope
) -> Climb:
    """Where EM came to, with the states of some variables put in order.

    Parameters
    ----------
    pseudo
        The pseudo-counts of all cells, end to end.
    variables
        Those that no row shows.
    """
    if not climb.expected.size:
        return climb
    possible = CptRows.of(layout).possible
    if possible is not None:
        pseudo = np.where(possible, pseudo, IMPOSSIBLE)
    for variable in variables:
        columns = [*_columns(layout, climb.expected, variable, {*variables})]
        if not columns:
            continue
        cells = np.arange(layout.cells)  # where each cell comes from
        for states in _exchangeable(layout, pseudo, variable):
            chosen = np.array(states)
            ranks = ranked([column[chosen] for column in columns])
            _rearrange(layout, cells, variable, chosen, chosen[ranks])
        climb = replace(
            climb,
            cells=climb.cells[cells],
            start=climb.start[cells],
            expected=climb.expected[cells],
        )
    return climb


def ranked(columns: Sequence[FloatArray]) -> list[int]:
    """The places of values in descending order of the first column; ties go by the next ones.

    What ties in every column goes by smaller differences, in the same way. What rounding alone
    tells apart stays where it is.

    Examples
    --------
    >>> ranked([np.array([0.2, 0.401, 0.399]), np.array([0.9, 0.1, 0.7])])
    [2, 1, 0]
    >>> ranked([np.array([0.4999, 0.5001]), np.array([1.0, 1 - 1e-15])])
    [1, 0]
    """
    groups = [np.arange(len(columns[0]))]
    for tie in (TIE, ROW_ORDER_ROUNDING):
        for column in columns:
            groups = [part for group in groups for part in _split(group, column, tie)]
    return [int(state) for group in groups for state in group]


def _split(states: Integers, column: FloatArray, tie: float) -> list[Integers]:
    """States in descending order of a column, those that tie together, each group as it was."""
    descending = states[np.argsort(-column[states], kind="stable")]
    ends = np.flatnonzero(np.diff(column[descending]) < -tie) + 1
    return [np.sort(group) for group in np.split(descending, ends)]


def _columns(
    layout: Layout, expected: FloatArray, variable: str, hidden: Collection[str]
) -> Iterator[FloatArray]:
    """What the states are ordered by: their share of the rows, then what it says of others."""
    counts_of = layout.tables(expected)
    sizes = _by_states(layout, counts_of[variable], variable, (variable,))
    if not sizes.any():  # no row says anything about it
        return
    yield sizes / sizes.sum()
    divisors = np.where(sizes > 0, sizes, 1.0)
    for family in layout.network.families:
        if variable not in family:
            continue
        child = family[-1]
        for other in family:
            if other not in hidden:
                counts = _by_states(layout, counts_of[child], child, (variable, other))
                yield from (counts / divisors[:, None]).T  # one column for each state of the other


def _by_states(layout: Layout, counts: FloatArray, child: str, names: Scope) -> FloatArray:
    """The counts of a family by the states of one variable in it, or of two."""
    family = layout.network.family(child)
    axes = [family.index(name) for name in names]
    others = tuple(axis for axis in range(counts.ndim) if axis not in axes)
    summed = counts.sum(axis=others, keepdims=True)
    in_order = np.moveaxis(summed, axes, range(len(axes)))
    return np.asarray(in_order.reshape([counts.shape[axis] for axis in axes]))


def _exchangeable(layout: Layout, pseudo: FloatArray, variable: str) -> list[list[int]]:
    """The states of a variable, in groups that the prior treats alike."""
    pseudo_of = layout.tables(pseudo)
    by_state = []
    for family in layout.network.families:
        if variable in family:
            table = np.moveaxis(pseudo_of[family[-1]], family.index(variable), 0)
            by_state.append(table.reshape(len(table), -1))
    profiles = np.concatenate(by_state, axis=1)
    groups: list[list[int]] = []
    for state, profile in enumerate(profiles):
        for group in groups:
            if np.allclose(profile, profiles[group[0]]):
                group.append(state)
                break
        else:
            groups.append([state])
    return groups


def _rearrange(
    layout: Layout, cells: Integers, variable: str, states: Integers, sources: Integers
) -> None:
    """Let the cells of some states of a variable, in all CPTs, come from those of others."""
    table_of = layout.tables(cells)  # type: ignore[arg-type]
    for family in layout.network.families:
        if variable in family:
            table = np.moveaxis(table_of[family[-1]], family.index(variable), 0)
            table[states] = table[sources].copy()
