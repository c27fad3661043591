"""New names for a network, where a format cannot carry those that it has."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from lacunet.network.formats.errors import FormatError
from lacunet.network.network import Network
from lacunet.network.shapes.fixed import Fixed
from lacunet.network.shapes.noisy_max import NoisyMax, absent_states
from lacunet.network.shapes.noisy_or import NoisyOr
from lacunet.network.shapes.shape import Shape


def rename_portably(
    network: Network,
    render: Callable[[Network], object],
    is_portable: Callable[[str, str], bool],
    *,
    is_numbered: bool = False,
) -> tuple[Network, list[str]]:
    """The network with names that ``render`` does not refuse, and what has a new one.

    Nor do other programs: ``is_portable`` tells that of a variable and a state. In a format that
    ``is_numbered`` all names are by number: ``X0``, with states ``0`` and ``1``.
    """

    def fits(variable: str, state: str) -> bool:
        if not is_portable(variable, state):
            return False
        try:
            render(Network({variable: [state]}, {}, {variable: [1.0]}))
        except FormatError:
            return False
        return True

    def new_names(names: Sequence[str], letter: str, fits: Callable[[str], bool]) -> dict[str, str]:
        if is_numbered:
            return {name: f"{letter}{number}" for number, name in enumerate(names)}
        return _new_names(names, fits)

    name_of = new_names(network.variables, "X", lambda name: fits(name, "a"))
    states_of = {
        name: new_names(states, "", lambda state: fits("X", state))
        for name, states in network.states_of.items()
    }
    changes = [f"{name!r} is {other!r}" for name, other in name_of.items() if name != other]
    for name, states in states_of.items():
        changes += [f"{name}={old} is {other!r}" for old, other in states.items() if old != other]
    return _renamed(network, name_of, states_of), changes


def _renamed(
    network: Network, name_of: Mapping[str, str], states_of: Mapping[str, Mapping[str, str]]
) -> Network:
    """The network with other names for its variables, and for the states of each."""
    variables = network.variables
    copy = Network(
        {name_of[v]: [states_of[v][state] for state in network.states(v)] for v in variables},
        {name_of[v]: [name_of[parent] for parent in network.parents(v)] for v in variables},
        network.tables_of and {name_of[v]: table for v, table in network.tables_of.items()},
    )
    support = network.support and {name_of[v]: rows for v, rows in network.support.items()}
    shapes: dict[str, Shape] = {}
    for name, shape in network.shapes_of.items():
        if isinstance(shape, NoisyOr | NoisyMax):  # new names of states may not say "absent"
            absent = {
                name_of[v]: states_of[v][state]
                for v, state in absent_states(network, name, shape).items()
            }
            shapes[name_of[name]] = replace(shape, absent=absent)
        elif not isinstance(shape, Fixed):
            shapes[name_of[name]] = shape
    return copy.with_support(support).with_shapes(shapes)


# What stands for a sign in a name of letters, digits and underscores.
_WORDS = {
    r"^\[(.+),(.+)\)$": r"from_\1_to_\2",
    r"\[(\d+)\]$": r"_\1",
    "^>=": "from_",
    "^<=": "up_to_",
    "^>": "above_",
    "^<": "below_",
    r"\W": "_",
}


def _new_names(names: Sequence[str], fits: Callable[[str], bool]) -> dict[str, str]:
    """Each name, or letters, digits and underscores in its place; no two are alike.

    Examples
    --------
    >>> _new_names(["40-59", "40+59", "all"], str.isidentifier)
    {'all': 'all', '40-59': 's40_59', '40+59': 's40_59_'}
    >>> [*_new_names(["<5.8", "[5.8,9)", ">=9"], str.isidentifier).values()]
    ['below_5_8', 'from_5_8_to_9', 'from_9']
    >>> [*_new_names(["H[0]", "H[11]", "H_0"], str.isidentifier).values()]
    ['H_0', 'H_0_', 'H_11']
    """
    new_of = {name: name for name in names if fits(name)}
    for name in names:
        plain = name
        for sign, word in _WORDS.items():
            plain = re.sub(sign, word, plain, flags=re.ASCII)
        plain = plain if plain[:1].isalpha() else f"s{plain}"
        while name not in new_of and (plain in new_of.values() or not fits(plain)):
            plain += "_"
        new_of.setdefault(name, plain)
    return new_of
