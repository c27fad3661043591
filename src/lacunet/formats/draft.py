"""From what a file says to a network: the checks that all formats share.

Every reader gives declarations (names and states) and, for each family, its numbers; here
they are held against each other, while the line that each came from is still known.

What a format cannot carry: names beyond its grammar, and networks without CPTs.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lacunet.errors import LacunetWarning
from lacunet.formats.errors import FormatError
from lacunet.model.errors import NetworkError
from lacunet.model.network import ROW_SUM_TOLERANCE, FloatArray, Network, Scope

# Rows further than this from 1 are rescaled with a warning, or refused.
NOTED_DEVIATION = 1e-6
REFUSED_DEVIATION = 1e-2

# A `default` row can announce a table far larger than the file; beyond 1 GiB it is refused.
MOST_CELLS = 2**27
MOST_AXES = 64

States = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Declared:
    """A variable and its states, and where the file declares it."""

    name: str
    states: tuple[str, ...]
    place: str


@dataclass(frozen=True)
class Family:
    """A variable and its parents, and where the file says so."""

    child: str
    parents: Scope
    states: tuple[tuple[str, ...], ...]  # of each parent, then of the child
    place: str

    @property
    def shape(self) -> tuple[int, ...]:
        """One axis for each parent, then the child's."""
        return tuple(map(len, self.states))

    @property
    def rows(self) -> int:
        """The number of configurations of the parents."""
        return math.prod(self.shape[:-1])

    def given(self, row: int) -> str:
        """The states of the parents in a row, in words."""
        named = []
        for parent, states in zip(reversed(self.parents), reversed(self.states[:-1]), strict=True):
            row, index = divmod(row, len(states))
            named.append(f"{parent}={states[index]}")
        return ", ".join(reversed(named))


@dataclass(frozen=True)
class Potential:
    """The numbers of a family as the file gives them, None for a bare structure."""

    family: Family
    table: FloatArray | None
    place_of: Callable[[int], str]  # where a row stands in the file


def declare(name: str, declared: Iterable[Declared]) -> dict[str, tuple[str, ...]]:
    """The states of every variable, in the order of the file."""
    states_of: dict[str, tuple[str, ...]] = {}
    for variable in declared:
        if not variable.name:
            raise FormatError.nameless(variable.place, "a variable")
        if variable.name in states_of:
            raise FormatError.duplicate_variable(variable.place, variable.name)
        _check_states(variable)
        states_of[variable.name] = variable.states
    if not states_of:
        raise FormatError.no_variables(name)
    return states_of


def _check_states(variable: Declared) -> None:
    if not variable.states:
        raise FormatError.no_states(variable.place, variable.name)
    seen: set[str] = set()
    for state in variable.states:
        if not state:
            raise FormatError.nameless(variable.place, f"a state of {variable.name!r}")
        if state in seen:
            raise FormatError.duplicate_state(variable.place, variable.name, state)
        seen.add(state)


def family(states_of: States, child: str, parents: Sequence[str], place: str) -> Family:
    """A family whose members the file declares."""
    if child not in states_of:
        raise FormatError.unknown_child(place, child)
    for at, parent in enumerate(parents):
        if parent not in states_of:
            raise FormatError.unknown_parent(place, child, parent)
        if parent == child:
            raise FormatError.own_parent(place, child)
        if parent in parents[:at]:
            raise FormatError.duplicate_parent(place, child, parent)
    states = tuple(states_of[name] for name in (*parents, child))
    return Family(child, tuple(parents), states, place)


def bare(members: Family) -> Potential:
    """A family without numbers."""
    return Potential(members, None, lambda _: members.place)


def from_flat(members: Family, numbers: Sequence[float] | FloatArray) -> Potential:
    """The CPT whose numbers stand in row-major order, parents first and the child fastest."""
    _check_size(members)
    expected = math.prod(members.shape)
    if len(numbers) != expected:
        raise FormatError.wrong_length(members.place, members.child, len(numbers), expected)
    table = np.array(numbers, dtype=np.float64).reshape(members.shape)
    return Potential(members, table, lambda _: members.place)


def from_rows(
    members: Family,
    rows: Mapping[int, Sequence[float]],
    place_of: Callable[[int], str],
    default: Sequence[float] | None = None,
) -> Potential:
    """The CPT whose rows were named one by one; ``default`` stands for those that were not."""
    if default is None and len(rows) < members.rows:
        missing = next(row for row in range(members.rows) if row not in rows)
        raise FormatError.missing_row(members.place, members.child, members.given(missing))
    _check_size(members)
    table = np.empty((members.rows, members.shape[-1]))
    if default is not None:
        table[:] = default
    table[list(rows)] = list(rows.values())
    return Potential(members, table.reshape(members.shape), place_of)


def _check_size(members: Family) -> None:
    cells = math.prod(members.shape)
    if cells > MOST_CELLS or len(members.shape) > MOST_AXES:
        raise FormatError.too_large(members.place, members.child, cells, len(members.shape))


def assemble(name: str, states_of: States, potentials: Sequence[Potential]) -> Network:
    """The network that a file describes, each row of its CPTs summing to one.

    Rows within `ROW_SUM_TOLERANCE` of one keep every bit. Others are divided by their sum:
    in silence up to `NOTED_DEVIATION`, with a warning up to `REFUSED_DEVIATION`, not beyond.
    """
    seen: set[str] = set()
    for potential in potentials:
        if potential.family.child in seen:
            raise FormatError.duplicate_cpt(potential.family.place, potential.family.child)
        seen.add(potential.family.child)
    if missing := [variable for variable in states_of if variable not in seen]:
        raise FormatError.missing_cpts(name, missing)
    parents = {each.family.child: each.family.parents for each in potentials}
    try:
        return Network(states_of, parents, _tables(name, potentials))
    except NetworkError as error:  # a cycle: everything else was checked with its line
        raise FormatError.no_network(name, error) from None


def _tables(name: str, potentials: Sequence[Potential]) -> dict[str, FloatArray] | None:
    if all(potential.table is None for potential in potentials):
        return None
    tables, noted = {}, {}
    for potential in potentials:
        child = potential.family.child
        if potential.table is None:
            raise FormatError.without_numbers(potential.family.place, child)
        tables[child], rescaled = _normalised(potential, potential.table)
        if rescaled:
            noted[child] = rescaled
    if noted:
        _warn(name, noted)
    return tables


def _normalised(potential: Potential, table: FloatArray) -> tuple[FloatArray, int]:
    """The rows of a table divided by their sums where need be, and how many deserve a note."""
    members = potential.family
    wrong = ~(np.isfinite(table) & (table >= 0))
    if wrong.any():
        cell = int(np.argmax(wrong))
        row = cell // table.shape[-1]
        raise FormatError.not_a_probability(
            potential.place_of(row), members.child, float(table.flat[cell]), members.given(row)
        )
    sums = table.sum(axis=-1)
    deviation = np.abs(sums - 1)
    # 0.33 + 0.33 + 0.33 is off by 0.01 and a rounding error: the limits have that much slack.
    if (deviation > REFUSED_DEVIATION + ROW_SUM_TOLERANCE).any():
        row = int(np.argmax(deviation))
        total = float(sums.flat[row])
        place = potential.place_of(row)
        raise FormatError.row_sum(place, members.child, members.given(row), total)
    is_off = deviation > ROW_SUM_TOLERANCE
    scaled = np.where(is_off[..., None], table / sums[..., None], table)
    return scaled, int(np.count_nonzero(deviation > NOTED_DEVIATION + ROW_SUM_TOLERANCE))


def _warn(name: str, rows_of: Mapping[str, int]) -> None:
    which = ", ".join(
        f"{child!r} ({rows} {'row' if rows == 1 else 'rows'})" for child, rows in rows_of.items()
    )
    warnings.warn(
        f"{name}: rows that sum to 1 only within {REFUSED_DEVIATION} were rescaled: {which}.",
        LacunetWarning,
        stacklevel=2,
    )


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

Name = Callable[[str], bool]


def is_one_line(name: str) -> bool:
    """Whether a text holds no line break nor other control character."""
    return not _CONTROL.search(name)


def is_identifier(name: str) -> bool:
    """Whether a text is a letter or underscore, then letters, digits and underscores."""
    return _IDENTIFIER.fullmatch(name) is not None


def refuse_names(network: Network, form: str, variable: Name, state: Name, others: str) -> None:
    """Refuse a network with a name that the format cannot express, and say which format can."""
    for kind, name, fits in _names(network, variable, state):
        if not fits(name):
            raise FormatError.cannot_carry(form, f"the {kind} {name!r}", others)


def refuse_bare(network: Network, form: str, others: str) -> None:
    """Refuse a network without CPTs in a format that demands numbers."""
    if not network.has_cpts:
        raise FormatError.cannot_carry(form, "a network without CPTs", others)


def _names(network: Network, variable: Name, state: Name) -> Iterator[tuple[str, str, Name]]:
    for name in network.variables:
        yield "variable name", name, variable
        for own in network.states(name):
            yield f"state of {name!r}", own, state
