r"""GeNIe's noisy-MAX nodes: what each state of each parent alone would bring the child to.

``<parameters>`` has a distribution of the child for each state of the first parent, then for those
of the second and so on, and in the end for the leak. The child's last state is that of no effect.
``<strengths>`` says for each parent which of its states a distribution is of, from the strongest
to the one that has no effect, the last; without it they stand in their own order. With
:math:`F` the probability of a level or one below it,

.. math::
    F(y \mid u) = F_\mathrm{leak}(y) \prod_i F_{i u_i}(y).

A node is written so where its CPT has the shape noisy-OR or noisy-MAX. If its state of no effect is
the first, its states are written the other way round, and a user property says so.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.errors import warn
from lacunet.network.errors import NetworkError
from lacunet.network.formats.draft import REFUSED_DEVIATION, Family
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.source import numerals, read_numbers
from lacunet.network.formats.xml_tree import Element, tagged
from lacunet.network.network import FloatArray, Network
from lacunet.network.shapes.absent import absent_index
from lacunet.network.shapes.noisy_max import INCREMENT_OF_CERTAINTY, IndependentCauses, NoisyMax
from lacunet.network.shapes.noisy_or import NoisyOr

REVERSED = "lacunet_reversed"  # the user property of a node whose states were written backwards
NOISY = (NoisyOr.name, NoisyMax.name)
LARGEST_ERROR = 1e-9  # of a table that its shape gives


def read_noisy_max(node: Element, members: Family) -> tuple[Family, NoisyMax | NoisyOr | None]:
    """The CPT of a noisy-MAX node and its shape, none where the last state of a parent has effects.

    Raises
    ------
    FormatError
        There are too few or too many numbers, or strengths that are not of the parents' states.
    """
    members.check_size()
    sizes = members.shape[:-1]
    levels = members.shape[-1]
    parameters = node.only("parameters")
    numbers = read_numbers(parameters.text, parameters.location, members.child)
    expected = (sum(sizes) + 1) * levels
    if len(numbers) != expected:
        raise FormatError.syntax(
            parameters.location,
            f"{len(numbers)} parameters of {members.child!r}",
            f"{expected}: {levels} for each state of each parent, and for the leak",
        )
    columns = np.array(numbers).reshape(-1, levels)
    sums = columns.sum(axis=1)
    if (columns < 0).any() or (np.abs(sums - 1) > REFUSED_DEVIATION).any():
        raise FormatError(
            f"{parameters.location}: parameters of {members.child!r} are below 0, or those of a "
            "state do not sum to 1.",
            "correct them in GeNIe.",
        )
    # The child's last state is the lowest level.
    below = np.cumsum((columns / sums[:, None])[:, ::-1], axis=1)
    below[:, -1] = 1.0
    cumulative = below[-1]
    absent: dict[str, str] = {}
    effects = []
    begins = accumulate(sizes, initial=0)
    for axis, (begin, order) in enumerate(zip(begins, _strengths(node, members), strict=False)):
        of_state = np.empty((sizes[axis], levels))
        of_state[order] = below[begin : begin + sizes[axis]]
        beside = [1] * axis + [sizes[axis]] + [1] * (len(sizes) - axis - 1)
        cumulative = cumulative * of_state.reshape(*beside, levels)
        absent[members.parents[axis]] = [*members.positions[axis]][order[-1]]
        if (of_state[order[-1]] < 1 - REFUSED_DEVIATION).any():
            effects.append(members.parents[axis])
    cumulative = np.broadcast_to(cumulative, members.shape)
    table = np.diff(cumulative, axis=-1, prepend=0.0)[..., ::-1]
    members = replace(members, table=np.ascontiguousarray(table))
    if effects:
        warn(
            f"{parameters.location}: {members.child!r} is read as a full table: the last state of "
            f"{', '.join(effects)} by strength has an effect, which a noisy-MAX cannot have."
        )
        return members, None
    kind = NoisyOr if {*members.shape} == {2} else NoisyMax
    return members, kind(_unsaid(absent, members))


def _strengths(node: Element, members: Family) -> list[list[int]]:
    """The states of each parent, from the strongest to the one without effect."""
    given = node.at_most_one("strengths")
    sizes = members.shape[:-1]
    if given is None:
        return [[*range(size)] for size in sizes]
    words = given.text.split()
    ends = [*accumulate(sizes, initial=0)]
    parts = [words[begin:end] for begin, end in pairwise(ends)]
    are_orders = len(words) == ends[-1] and all(
        sorted(part) == sorted(map(str, range(size)))
        for part, size in zip(parts, sizes, strict=True)
    )
    if not are_orders:
        raise FormatError.syntax(
            given.location,
            given.text.strip()[:30],
            f"for each parent of {members.child!r} the numbers of its states from 0 on, in order",
        )
    return [[int(word) for word in part] for part in parts]


def _unsaid(absent: dict[str, str], members: Family) -> dict[str, str]:
    """What the states do not say by themselves: which of them means that there is nothing."""
    absent = {**absent, members.child: [*members.positions[-1]][-1]}
    kept = {}
    for name, positions in zip((*members.parents, members.child), members.positions, strict=True):
        try:
            known = absent_index("NoisyMax", name, [*positions], {}, members.child)
        except NetworkError:
            known = -1
        if known != positions[absent[name]]:
            kept[name] = absent[name]
    return kept


def is_noisy(network: Network, variable: str) -> bool:
    """Whether a CPT is written by its causes: its shape is noisy-OR or noisy-MAX, and it has it."""
    shape = network.shapes_of.get(variable)
    if shape is None or shape.name not in NOISY or not network.parents(variable):
        return False
    shaped = network.shaped_of.get(variable)
    if shaped is None or not network.has_cpts:
        return False
    table = network.cpt(variable).table
    return bool(np.abs(shaped.table(shaped.parameters(table)) - table).max() < LARGEST_ERROR)


def first_is_absent(network: Network, variable: str) -> bool:
    """Whether the state of no effect of a noisy-MAX is its first: GeNIe has it last."""
    shaped = network.shaped_of[variable]
    assert isinstance(shaped, IndependentCauses)
    return not shaped.is_reversed


def noisy_max_lines(network: Network, variable: str) -> list[str]:
    """The strengths and parameters of a node, whose last state is that of no effect."""
    shaped, shape = network.shaped_of[variable], network.shapes_of[variable]
    assert isinstance(shaped, IndependentCauses)
    levels = network.cardinality(variable)
    flat = shaped.parameters(network.cpt(variable).table)
    increments = flat.reshape(levels - 1, shaped.effects.columns)
    increments = np.where(increments >= INCREMENT_OF_CERTAINTY, np.inf, increments)
    leak, *causes = _distributions(increments)
    lines, strengths = [], []
    nothing = np.eye(levels)[-1]
    absent = getattr(shape, "absent", {})
    for parent in network.parents(variable):
        states = network.states(parent)
        baseline = absent_index("NoisyMax", parent, states, absent, variable)
        strengths += [code for code in range(len(states)) if code != baseline] + [baseline]
        lines += [causes.pop(0) for _ in states[1:]] + [nothing]
    parameters = np.concatenate([*lines, leak])
    return [
        f"      {tagged('strengths', ' '.join(map(str, strengths)))}",
        f"      {tagged('parameters', numerals(parameters))}",
    ]


def _distributions(increments: FloatArray) -> list[FloatArray]:
    """What the leak and each cause alone would bring the child to, the highest level first."""
    below = np.exp(-np.cumsum(increments[::-1], axis=0)[::-1])
    cumulative = np.vstack([below, np.ones((1, below.shape[1]))])
    return [*np.diff(cumulative, axis=0, prepend=0.0)[::-1].T]


def with_reversed_states(network: Network, names: Collection[str]) -> Network:
    """The same network with the states of some variables the other way round."""
    if not names:
        return network

    def turned(table: NDArray[Any], axes: Collection[str]) -> NDArray[Any]:
        chosen = tuple(axis for axis, name in enumerate(axes) if name in names)
        return np.flip(table, chosen).copy()

    copy = Network(
        {
            name: states[::-1] if name in names else states
            for name, states in network.states_of.items()
        },
        network.parents_of,
        network.tables_of
        and {v: turned(table, network.family(v)) for v, table in network.tables_of.items()},
    )
    support = network.support and {
        v: turned(rows, network.parents(v)) for v, rows in network.support.items()
    }
    return copy.with_support(support).with_shapes(network.shapes_of)
