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
LARGEST_ERROR = 1e-9  # of a probability, where a table counts as the one that its shape gives


def read_noisy_max(node: Element, members: Family) -> tuple[Family, NoisyMax | NoisyOr | None]:
    """The CPT of a noisy-MAX node and its shape, none where the last state of a parent has effects.

    Raises
    ------
    FormatError
        There are too few or too many numbers, or strengths that are not of the parents' states.
    """
    members.check_size()
    parameters = node.only("parameters")
    below = _cumulative_distributions(parameters, members)
    ends = [*accumulate(members.shape[:-1], initial=0)]
    cumulative = below[-1]  # F_leak, and in the loop times F_i of each parent
    absent: dict[str, str] = {}
    with_effects = []
    for axis, order in enumerate(_strengths(node, members)):
        parent = members.parents[axis]
        of_parent = below[ends[axis] : ends[axis + 1]]
        of_state = np.empty_like(of_parent)
        of_state[order] = of_parent
        # One axis for each parent, and all but this one of size one.
        shape = [1] * (len(members.shape) - 1)
        shape[axis] = members.shape[axis]
        cumulative = cumulative * of_state.reshape(*shape, members.shape[-1])
        weakest = order[-1]
        absent[parent] = [*members.positions[axis]][weakest]
        if (of_state[weakest] < 1 - REFUSED_DEVIATION).any():
            with_effects.append(parent)
    cumulative = np.broadcast_to(cumulative, members.shape)
    table = np.diff(cumulative, axis=-1, prepend=0.0)[..., ::-1]
    read = replace(members, table=np.ascontiguousarray(table))
    if with_effects:
        warn(
            f"{parameters.location}: {read.child!r} is read as a full table: the last "
            f"state of {', '.join(with_effects)} by strength has an effect, which a noisy-MAX "
            "cannot have."
        )
        return read, None
    kind = NoisyOr if set(read.shape) == {2} else NoisyMax
    return read, kind(_unsaid(absent, read))


def _cumulative_distributions(parameters: Element, members: Family) -> FloatArray:
    """A row for each state of each parent, by strength, then the leak's, the lowest level first."""
    configurations = sum(members.shape[:-1]) + 1
    levels = members.shape[-1]
    numbers = read_numbers(parameters.text, parameters.location, members.child)
    if len(numbers) != configurations * levels:
        raise FormatError.syntax(
            parameters.location,
            f"{len(numbers)} parameters of {members.child!r}",
            f"{configurations * levels}: {levels} for each state of each parent, and for the leak",
        )
    distributions = np.array(numbers).reshape(configurations, levels)
    sums = distributions.sum(axis=1)
    if (distributions < 0).any() or (np.abs(sums - 1) > REFUSED_DEVIATION).any():
        raise FormatError(
            f"{parameters.location}: parameters of {members.child!r} are below 0, or those of a "
            "state do not sum to 1.",
            "correct them in GeNIe.",
        )
    # The child's last state is the lowest level.
    below = np.cumsum((distributions / sums[:, None])[:, ::-1], axis=1)
    below[:, -1] = 1.0
    return below


def _strengths(node: Element, members: Family) -> list[list[int]]:
    """The states of each parent, from the strongest to the one without effect."""
    strengths = node.at_most_one("strengths")
    sizes = members.shape[:-1]
    if strengths is None:
        return [[*range(size)] for size in sizes]
    words = strengths.text.split()
    ends = [*accumulate(sizes, initial=0)]
    parts = [words[begin:end] for begin, end in pairwise(ends)]
    are_orders = len(words) == ends[-1] and all(
        sorted(part) == sorted(map(str, range(size)))
        for part, size in zip(parts, sizes, strict=True)
    )
    if not are_orders:
        raise FormatError.syntax(
            strengths.location,
            strengths.text.strip()[:30],
            f"for each parent of {members.child!r} the numbers of its states from 0 on, in order",
        )
    return [[int(word) for word in part] for part in parts]


def _unsaid(absent: dict[str, str], members: Family) -> dict[str, str]:
    """The states that mean "absent" and are not known by their words, as `NoisyMax` takes them."""
    absent_of = {**absent, members.child: [*members.positions[-1]][-1]}
    unsaid = {}
    for name, positions in zip((*members.parents, members.child), members.positions, strict=True):
        try:
            by_word = absent_index("NoisyMax", name, [*positions], {}, members.child)
        except NetworkError:  # no state has such a word, or several have
            by_word = None
        if by_word != positions[absent_of[name]]:
            unsaid[name] = absent_of[name]
    return unsaid


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
    shape = network.shapes_of[variable]
    assert isinstance(shape, NoisyOr | NoisyMax)
    levels = network.cardinality(variable)
    leak, *distributions = _distributions(_increments(network, variable))
    effects = iter(distributions)  # of each parent's states but the absent one, as they stand
    no_effect = np.eye(levels)[-1]
    strengths: list[int] = []
    parameters = []
    for parent in network.parents(variable):
        states = network.states(parent)
        baseline = absent_index("NoisyMax", parent, states, shape.absent, variable)
        for code in range(len(states)):
            if code != baseline:
                strengths.append(code)
                parameters.append(next(effects))
        # GeNIe has the state of no effect last.
        strengths.append(baseline)
        parameters.append(no_effect)
    parameters.append(leak)
    return [
        f"      {tagged('strengths', ' '.join(map(str, strengths)))}",
        f"      {tagged('parameters', numerals(np.concatenate(parameters)))}",
    ]


def _increments(network: Network, variable: str) -> FloatArray:
    """For each level but the last the increments of the leak, and of each effect; inf: certain."""
    shaped = network.shaped_of[variable]
    assert isinstance(shaped, IndependentCauses)
    parameters = shaped.parameters(network.cpt(variable).table)
    increments = parameters.reshape(-1, shaped.effects.columns)
    return np.where(increments >= INCREMENT_OF_CERTAINTY, np.inf, increments)


def _distributions(increments: FloatArray) -> list[FloatArray]:
    r"""What the leak and each cause alone would bring the child to, the highest level first.

    :math:`F(y) = \exp (-\sum_{z \ge y} \delta_z)`, and what the levels add to it are their
    probabilities.
    """
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
