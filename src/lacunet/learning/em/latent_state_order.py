r"""An order for the states of variables that no row shows.

Where no row shows a variable and the prior treats its states alike, the data say what its states
are, but not which is which: two states may change places, and every row is as likely as before.
Which of them comes first is chance then, unless a rule decides: the largest state comes first, by
the rows that EM expects in it. States of the same size are ordered by the first variable beside
them that rows show: first comes the state that makes its first state likeliest.

States that the prior tells apart, or one of which is a structural zero, stay where they are. So do
those of a variable that a CPT of ordered states, or of causes that may be absent, has a part in.
Variables whose CPTs are one, as a hidden state in every wave, change the order of their states
together: their size is that of all waves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.em_problems.cell_layout import Layout
from lacunet.counts.em_problems.ragged import Integers
from lacunet.learning.cpt_rows import CptRows
from lacunet.learning.em.iterations import Climb
from lacunet.network.network import FloatArray, Network, Scope
from lacunet.network.shapes.logistic import Logistic
from lacunet.network.shapes.ordinal import Ordinal

TIE = 0.01  # of the rows: sizes that differ by less may change places from one start to another
ROW_ORDER_ROUNDING = 1e-6  # differences below may come from the order in which rows were added up
STRUCTURAL_ZERO = -1.0  # stands for the pseudo-counts of a structural zero


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
        pseudo = np.where(possible, pseudo, STRUCTURAL_ZERO)
    for group in _ordered_together(layout.network, variables):
        columns = [*_columns(layout, climb.expected, group, {*variables})]
        if not columns:
            continue
        cells = np.arange(layout.cells)  # where each cell comes from
        for states in _exchangeable(layout, pseudo, group):
            chosen = np.array(states)
            ranks = rank_places([column[chosen] for column in columns])
            order = np.arange(layout.network.cardinality(group[0]))
            order[chosen] = chosen[ranks]
            _rearrange(layout, cells, group, order)
        climb = replace(
            climb,
            cells=climb.cells[cells],
            start=climb.start[cells],
            expected=climb.expected[cells],
        )
    return climb


def _ordered_together(network: Network, variables: Scope) -> Iterator[Scope]:
    """The variables in groups whose states can change their order, and do so together.

    Where families are tied, the variables that correspond in them have one order.

    Examples
    --------
    >>> states = {name: ["0", "1"] for name in ("H1", "H2", "S1", "S2")}
    >>> waves = Network(states, {"H2": ["H1"], "S1": ["H1"], "S2": ["H2"]})
    >>> [*_ordered_together(waves, ("H1", "H2"))]
    [('H1',), ('H2',)]
    >>> [*_ordered_together(waves.with_ties([["S1", "S2"]]), ("H1", "H2"))]
    [('H1', 'H2')]
    """
    first_of = {name: name for name in network.variables}
    for tied in network.tied:
        for same in zip(*map(network.family, tied), strict=True):
            firsts = {first_of[name] for name in same}
            merged = min(firsts)
            first_of = {n: merged if first in firsts else first for n, first in first_of.items()}
    for first in dict.fromkeys(first_of[name] for name in variables):
        group = tuple(name for name in network.variables if first_of[name] == first)
        if {*group} <= {*variables} and all(_keeps_shape(network, name) for name in group):
            yield group


def _keeps_shape(network: Network, variable: str) -> bool:
    """Whether the CPTs that a variable is in keep their shape in any order of its states."""
    for child, shape in network.shapes_of.items():
        if variable not in network.family(child):
            continue
        is_nominal = shape.name == Logistic.name or (
            shape.name == Ordinal.name and variable != child
        )
        if not is_nominal:
            return False
    return True


def rank_places(columns: Sequence[FloatArray]) -> list[int]:
    """The places of values in descending order of the first column; ties go by the next ones.

    What ties in every column goes by smaller differences, in the same way. What rounding alone
    tells apart stays where it is.

    Examples
    --------
    >>> rank_places([np.array([0.2, 0.401, 0.399]), np.array([0.9, 0.1, 0.7])])
    [2, 1, 0]
    >>> rank_places([np.array([0.4999, 0.5001]), np.array([1.0, 1 - 1e-15])])
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
    layout: Layout, expected: FloatArray, group: Scope, hidden: Collection[str]
) -> Iterator[FloatArray]:
    """What the states are ordered by: their share of the rows, then what it says of others."""
    counts_of = layout.tables(expected)
    heads = [name for name in layout.network.heads if name in group]
    sizes: FloatArray = np.sum(
        [_by_states(layout, counts_of[name], name, (name,)) for name in heads], axis=0
    )
    if not sizes.any():  # no row says anything about it
        return
    yield sizes / sizes.sum()
    divisors = np.where(sizes > 0, sizes, 1.0)
    for child in layout.network.heads:
        family = layout.network.family(child)
        for variable in (name for name in family if name in group):
            for other in family:
                if other not in hidden:
                    counts = _by_states(layout, counts_of[child], child, (variable, other))
                    yield from (counts / divisors[:, None]).T  # one for each state of the other


def _by_states(layout: Layout, counts: FloatArray, child: str, names: Scope) -> FloatArray:
    """The counts of a family by the states of one variable in it, or of two."""
    family = layout.network.family(child)
    axes = [family.index(name) for name in names]
    others = tuple(axis for axis in range(counts.ndim) if axis not in axes)
    summed = counts.sum(axis=others, keepdims=True)
    in_order = np.moveaxis(summed, axes, range(len(axes)))
    return np.asarray(in_order.reshape([counts.shape[axis] for axis in axes]))


def _exchangeable(layout: Layout, pseudo: FloatArray, group: Scope) -> list[list[int]]:
    """The states of variables, in groups that the prior treats alike."""
    pseudo_of = layout.tables(pseudo)
    groups: list[list[int]] = []
    for state in range(layout.network.cardinality(group[0])):
        for alike in groups:
            swapped = np.arange(layout.network.cardinality(group[0]))
            swapped[[state, alike[0]]] = alike[0], state
            tables = _reordered(layout, pseudo_of, group, swapped)
            if all(np.allclose(table, pseudo_of[child]) for child, table in tables):
                alike.append(state)
                break
        else:
            groups.append([state])
    return groups


def _reordered(
    layout: Layout, table_of: Mapping[str, NDArray[Any]], group: Scope, order: Integers
) -> Iterator[tuple[str, NDArray[Any]]]:
    """The tables that some variables have a part in, with their states in another order."""
    for child in layout.network.heads:
        axes = [axis for axis, name in enumerate(layout.network.family(child)) if name in group]
        table = table_of[child]
        for axis in axes:
            table = table.take(order, axis=axis)
        if axes:
            yield child, table


def _rearrange(layout: Layout, cells: Integers, group: Scope, order: Integers) -> None:
    """Let the cells of the states of some variables, in all CPTs, come from those of others."""
    table_of = layout.tables(cells)  # type: ignore[arg-type]
    for child, table in _reordered(layout, table_of, group, order):
        table_of[child][...] = table
