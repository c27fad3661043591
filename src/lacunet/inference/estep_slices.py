"""The slices of CPTs that each component is summed over.

A family that touches a component enters its problems as a *slice*: the CPT at the states of the
family's observed variables. Which axes are left is the component's, where the slice begins
among the cells of all CPTs is the boundary value's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lacunet.statistics.problem_layout import Layout
from lacunet.statistics.problem_ragged import Integers, Ragged

LARGEST_LABEL = 2**24  # leaves room, in one integer, for where the slice begins


@dataclass(frozen=True)
class Slices:
    """The families that touch each component, in the order of component, then family.

    ``label`` tells families and their missing axes apart. ``missing`` lists each slice's axes,
    by their variables' places among all components' members, with ``missing_stride`` beside
    them; ``observed`` lists where the boundary holds the states of the other axes, with how
    far each moves the beginning of the slice in ``observed_stride``.
    """

    of_component: Integers  # where the slices of each component begin; one more at the end
    family: Integers
    label: Integers
    missing: Ragged
    missing_stride: Integers
    observed: Ragged
    observed_stride: Integers


def places_of(layout: Layout, rows: Ragged) -> NDArray[np.int32]:
    """Where each variable stands among the items of ``rows``, for each row; -1 if not."""
    place = np.full((len(rows), len(layout.cardinalities)), -1, dtype=np.int32)
    place[rows.owners, rows.items] = np.arange(len(rows.items))
    return place


def slices_of(layout: Layout, members: Ragged, boundaries: Ragged) -> Slices:
    """The slices of all components."""
    component, family = _touching(layout, members)
    axes = layout.axes.take(family)
    strides = layout.strides[layout.axes.places(family)]
    whose = axes.owners
    inside = places_of(layout, members)[component[whose], axes.items].astype(np.int64)
    around = places_of(layout, boundaries)[component[whose], axes.items].astype(np.int64)
    hidden = inside >= 0
    bits = np.left_shift(1, np.arange(len(whose)) - axes.starts[whose]) * hidden
    masks = np.bincount(whose, bits, minlength=len(family)).astype(np.int64)
    labels = family + len(layout.cardinalities) * masks
    seen = around - boundaries.starts[component[whose]]
    return Slices(
        of_component=np.searchsorted(component, np.arange(len(members) + 1)),
        family=family,
        label=labels if labels.max(initial=0) < LARGEST_LABEL else _numbered(labels),
        missing=_where(hidden, whose, inside, len(family)),
        missing_stride=strides[hidden],
        observed=_where(~hidden, whose, seen, len(family)),
        observed_stride=strides[~hidden],
    )


def _touching(layout: Layout, members: Ragged) -> tuple[Integers, Integers]:
    """Every component with each family that touches it, in that order."""
    families = layout.families_of().take(members.items)
    touches = np.zeros((len(members), len(layout.cardinalities)), dtype=bool)
    touches[members.owners[families.owners], families.items] = True
    component, family = np.nonzero(touches)
    return component, family


def _numbered(labels: Integers) -> Integers:
    return np.unique(labels, return_inverse=True)[1]


def _where(chosen: NDArray[np.bool_], whose: Integers, items: Integers, rows: int) -> Ragged:
    return Ragged.of_lengths(np.bincount(whose[chosen], minlength=rows), items[chosen])
