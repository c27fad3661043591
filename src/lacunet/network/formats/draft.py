"""From what a file says to a network: the checks that all formats share.

Every reader gives declarations (names and states) and, for each family, its numbers; here
they are held against each other, while the line that each came from is still known.

What a format cannot carry: names beyond its grammar, and networks without CPTs.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, product
from typing import Literal

import numpy as np

from lacunet.errors import warn
from lacunet.limits import gibibytes
from lacunet.network.checks import ROW_SUM_TOLERANCE, problem_of
from lacunet.network.errors import NetworkError
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.source import Source, numerals, read_numbers
from lacunet.network.network import FloatArray, Mask, Network, Scope
from lacunet.text import counted, listed

# Rows further than this from 1 are rescaled with a warning, or refused.
NOTED_DEVIATION = 1e-6
REFUSED_DEVIATION = 1e-2

MOST_AXES = 64  # of a NumPy array
MAX_VARIABLES_LISTED = 5  # variables, in one line

AxisOrder = Literal["parents first", "child first", "reversed"]


@dataclass(frozen=True)
class Declared:
    """A variable and its states, and where the file declares it.

    ``unsupported`` are its CPT rows without data, as `rows_without_data` writes them, and where
    the file says so. ``cuts`` are the cut points between its states, where they are intervals.
    """

    name: str
    states: tuple[str, ...]
    location: str
    unsupported: tuple[str, str] | None = None
    cuts: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Variables:
    """What a file declares: for each variable the position of each of its states.

    ``unsupported_of`` has the CPT rows without data of the variables whose support is known,
    and where the file says so; ``cuts_of`` the cut points of those that have any.
    """

    source: Source
    positions_of: Mapping[str, Mapping[str, int]]
    unsupported_of: Mapping[str, tuple[str, str]]
    cuts_of: Mapping[str, tuple[float, ...]]


@dataclass(frozen=True)
class Family:
    """A variable, its parents and its CPT as a file gives them, and how many bytes are allowed.

    ``table`` has the numbers of the CPT, None for a bare structure.
    """

    child: str
    parents: Scope
    positions: tuple[Mapping[str, int], ...]  # of the states of each parent, then of the child
    location: str
    location_of: Callable[[int], str]  # where a row of the CPT stands
    limit: int
    table: FloatArray | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """One axis for each parent, then the child's."""
        return tuple(map(len, self.positions))

    @property
    def rows(self) -> int:
        """The number of configurations of the parents."""
        return math.prod(self.shape[:-1])

    def given(self, row: int) -> str:
        """The states of the parents in a row, in words."""
        codes = np.unravel_index(row, self.shape[:-1])
        named = zip(self.parents, self.positions[:-1], codes, strict=True)
        return ", ".join(f"{parent}={[*states][code]}" for parent, states, code in named)

    def check_size(self) -> None:
        """Refuse a table that is too large, before it is made."""
        if len(self.shape) > MOST_AXES:
            raise FormatError(
                f"{self.location}: {self.child!r} has {len(self.parents)} parents; "
                f"a table can have {MOST_AXES - 1} at most."
            )
        refuse_size(
            self.location, f"the CPT of {self.child!r}", 8 * math.prod(self.shape), self.limit
        )


@dataclass(frozen=True)
class Row:
    """A row of a CPT as the file gives it: the states of the parents, and the numbers."""

    key: Sequence[str]
    numbers: str
    location: str


def refuse_size(location: str, what: str, size: int, limit: int) -> None:
    """Refuse what would take more bytes than the limit."""
    if size > limit:
        raise FormatError(
            f"{location}: {what} would take {gibibytes(size)}, more than the limit of "
            f"{gibibytes(limit)}.",
            f"if you trust the file, raise the limit: read_network(path, limit={size}).",
        )


def declare(source: Source, declared: Sequence[Declared]) -> Variables:
    """The states of every variable, in the order of the file."""
    positions_of: dict[str, Mapping[str, int]] = {}
    for each in declared:
        name, states = each.name, each.states
        positions = {state: index for index, state in enumerate(states)}
        twice = [state for index, state in enumerate(states) if positions[state] > index]
        _refuse_first(
            each.location,
            (not name, "a variable has an empty name"),
            (name in positions_of, f"variable {name!r} is declared more than once"),
            (not states, f"variable {name!r} has no states"),
            ("" in positions, f"a state of {name!r} has an empty name"),
            (twice, f"variable {name!r} has the state {listed(twice)} more than once"),
        )
        positions_of[name] = positions
    if not positions_of:
        raise FormatError(f"{source.name}: the file declares no variable.")
    unsupported_of = {each.name: each.unsupported for each in declared if each.unsupported}
    cuts_of = {each.name: each.cuts for each in declared if each.cuts is not None}
    return Variables(source, positions_of, unsupported_of, cuts_of)


def _refuse_first(location: str, *problems: tuple[object, str]) -> None:
    """Refuse what is declared for the first of these problems that it has."""
    for is_wrong, words in problems:
        if is_wrong:
            raise FormatError(
                f"{location}: {words}.",
                "declare each variable once, with states of different names, and spell it alike.",
            )


def family(variables: Variables, child: str, parents: Sequence[str], location: str) -> Family:
    """A family whose members the file declares, without a table."""
    declared = variables.positions_of
    strangers = [parent for parent in parents if parent not in declared]
    twice = [parent for index, parent in enumerate(parents) if parent in parents[:index]]
    _refuse_first(
        location,
        (child not in declared, f"a CPT is given for {child!r}, which the file does not declare"),
        (
            strangers,
            f"{child!r} has the parent {listed(strangers)}, which the file does not declare",
        ),
        (child in parents, f"{child!r} is named among its own parents"),
        (twice, f"{child!r} names the parent {listed(twice)} more than once"),
    )
    positions = tuple(declared[name] for name in (*parents, child))
    limit = variables.source.limit
    return Family(
        child=child,
        parents=tuple(parents),
        positions=positions,
        location=location,
        location_of=lambda _: location,
        limit=limit,
    )


def from_flat(
    members: Family, numbers: Sequence[float] | FloatArray, order: AxisOrder = "parents first"
) -> Family:
    """The family with the CPT whose numbers stand in a row.

    With "parents first", as it should be, the first parent is slowest and the child fastest;
    with "child first" the child is slowest; with "reversed" the first parent runs fastest
    but for the child.
    """
    members.check_size()
    shape = members.shape
    if len(numbers) != math.prod(shape):
        raise FormatError.wrong_length(
            members.location, members.child, len(numbers), math.prod(shape)
        )
    axes = list(range(len(shape)))
    if order == "child first":
        axes = [axes[-1], *axes[:-1]]
    elif order == "reversed":
        axes = [*axes[-2::-1], axes[-1]]
    stored = np.array(numbers, dtype=np.float64).reshape([shape[axis] for axis in axes])
    return replace(members, table=np.ascontiguousarray(stored.transpose(np.argsort(axes))))


def check_nesting(text: str, location: str, members: Family, shape: tuple[int, ...]) -> None:
    """Refuse parentheses that do not pair, or that show another shape than the parents have.

    All entries may stand in one pair; a pair inside another must hold the entries of one
    index of an axis, one pair for each axis of ``shape``.
    """
    text = text.strip()
    depths = list(accumulate(1 if bracket == "(" else -1 for bracket in re.findall(r"[()]", text)))
    is_one_group = text.startswith("(") and text.endswith(")")
    if not is_one_group or depths[-1] != 0 or min(depths[:-1]) < 1:
        raise FormatError.syntax(location, text[:30], "numbers in pairs of parentheses")
    sizes = [math.prod(shape[axis:]) for axis in range(len(shape))] or [1]  # of a pair, by axis
    numbers = 0  # so far
    starts = []  # of each pair that is open: the numbers before it
    pairs: Counter[tuple[int, int]] = Counter()  # around the same numbers
    for piece in re.split(r"([()])", text):
        if piece == "(":
            starts.append(numbers)
        elif piece == ")":
            start = starts.pop()
            size = numbers - start
            pairs[start, size] += 1
            if pairs[start, size] > sizes.count(size) or start % size:
                raise FormatError(
                    f"{location}: the parentheses in the CPT of {members.child!r} hold "
                    f"{counted(size, 'number')} where its parents and states, in their order, have "
                    f"the sizes {', '.join(map(str, shape))}.",
                    "correct the order of the parents, or write all numbers in one pair.",
                )
        else:
            numbers += len(piece.replace(",", " ").split())


def from_states(
    members: Family, states: Sequence[str], location: str, order: AxisOrder = "parents first"
) -> Family:
    """The family whose CPT holds ones and zeros: one state for each configuration of the parents.

    The first parent is slowest, or in the order "reversed" fastest.
    """
    position_of = members.positions[-1]
    if len(states) != members.rows:
        raise FormatError.wrong_length(location, members.child, len(states), members.rows)
    for state in states:
        if state not in position_of:
            child = members.child
            raise FormatError.unknown_state(location, child, child, state, position_of)
    members.check_size()
    chosen = np.zeros((members.rows, members.shape[-1]))
    chosen[np.arange(members.rows), [position_of[state] for state in states]] = 1
    return from_flat(members, chosen.ravel(), order)


def warn_of_agrum(name: str) -> None:
    """Say that a file was read by its writer's order of numbers, not by the format's."""
    warn(
        f"{name}: the file was written by pyAgrum, which lets the first parent run fastest where "
        "the format wants the last; it was read as pyAgrum means it."
    )


def from_rows(
    members: Family,
    rows: Iterable[Row],
    default: Row | None = None,
    states: Sequence[Mapping[str, int]] = (),
) -> Family:
    """The family with the CPT whose rows were given one by one; a default stands for the others.

    ``states`` are the positions of what a key may name, where these are not the states' names.
    """
    members.check_size()
    numbers: dict[int, list[float]] = {}
    locations: dict[int, str] = {}
    for row in rows:
        number = _row_number(members, row, states or members.positions)
        if number in numbers:
            raise FormatError.duplicate_row(row.location, members.child, members.given(number))
        numbers[number] = _row_numbers(members, row, number)
        locations[number] = row.location
    if default is None and len(numbers) < members.rows:
        missing = next(row for row in range(members.rows) if row not in numbers)
        raise FormatError(
            f"{members.location}: the CPT of {members.child!r} has no row for "
            f"{members.given(missing) or 'no parents'}.",
            "give a row for every configuration of the parents.",
        )
    table = np.empty((members.rows, members.shape[-1]))
    if default is not None:
        table[:] = _row_numbers(members, default)
    table[list(numbers)] = np.reshape([*numbers.values()], (-1, members.shape[-1]))
    elsewhere = default.location if default else members.location
    return replace(
        members,
        table=table.reshape(members.shape),
        location_of=lambda row: locations.get(row, elsewhere),
    )


def _row_number(members: Family, row: Row, positions: Sequence[Mapping[str, int]]) -> int:
    """The number of the row with a key such as ``yes, no``, the first parent slowest."""
    parents = members.parents
    if len(row.key) != len(parents):
        raise FormatError(
            f"{row.location}: the row ({', '.join(row.key)}) of {members.child!r} must name one "
            f"state for each of its {counted(len(parents), 'parent')}: "
            f"{listed(parents, most=MAX_VARIABLES_LISTED) or 'none'}."
        )
    number = 0
    for parent, state, known in zip(parents, row.key, positions, strict=False):
        if state not in known:
            raise FormatError.unknown_state(row.location, members.child, parent, state, known)
        number = number * len(known) + known[state]
    return number


def _row_numbers(members: Family, row: Row, number: int | None = None) -> list[float]:
    numbers = read_numbers(row.numbers, row.location, members.child)
    needed = members.shape[-1]
    if len(numbers) != needed:
        given = "" if number is None else members.given(number)
        raise FormatError.wrong_length(row.location, members.child, len(numbers), needed, given)
    return numbers


def assemble(variables: Variables, families: Iterable[Family]) -> Network:
    """The network that a file describes, each row of its CPTs summing to one.

    Rows within `ROW_SUM_TOLERANCE` of one keep every bit. Others are divided by their sum:
    in silence up to `NOTED_DEVIATION`, with a warning up to `REFUSED_DEVIATION`, not beyond. A
    number below zero by no more than `NOTED_DEVIATION` is a rounding error as well, and zero.
    """
    name = variables.source.name
    family_of = _family_of(variables, families)
    states_of = {
        variable: tuple(positions) for variable, positions in variables.positions_of.items()
    }
    parents = {child: members.parents for child, members in family_of.items()}
    try:
        network = Network(states_of, parents, _tables_of(name, family_of), variables.cuts_of)
    except NetworkError as error:  # a cycle, or cut points: all else was checked with its line
        raise FormatError(f"{name}: {error.message}", error.hint) from None
    if not variables.unsupported_of:
        return network
    return network.with_support(
        {child: _support(network, child, *note) for child, note in variables.unsupported_of.items()}
    )


def _family_of(variables: Variables, families: Iterable[Family]) -> dict[str, Family]:
    """The family of each variable: one, and all of them within the limit of bytes."""
    size = 0
    family_of: dict[str, Family] = {}
    for members in families:  # one after the other, so that the sum of their sizes is known
        child = members.child
        if child in family_of:
            raise FormatError(
                f"{members.location}: a second CPT is given for {child!r}.",
                "remove one of the two.",
            )
        family_of[child] = members
        if members.table is not None:
            size += members.table.nbytes
        refuse_size(members.location, "the CPTs up to here", size, variables.source.limit)
    if missing := [variable for variable in variables.positions_of if variable not in family_of]:
        names = listed(missing, most=MAX_VARIABLES_LISTED)
        raise FormatError(
            f"{variables.source.name}: the parents and CPT of {names} are not given.",
            "the file may be cut short; fetch it again, or add what is missing.",
        )
    return family_of


def keyed_rows(
    network: Network, variable: str, names: Callable[[str], Iterable[str]]
) -> Iterator[tuple[str, str]]:
    """Each row of a CPT as text: the states of the parents as ``names`` gives them, the numbers."""
    table = network.cpt(variable).table
    keys = product(*map(names, network.parents(variable)))
    for key, row in zip(keys, table.reshape(-1, table.shape[-1]).tolist(), strict=True):
        yield ", ".join(key), numerals(row, ", ")


NONE_UNSUPPORTED = "none"
_ROW_RANGE = r"([0-9]{1,9})(?:-([0-9]{1,9}))?"
_ROW_RANGES = re.compile(rf"{_ROW_RANGE}(?: {_ROW_RANGE})*")


def rows_without_data(network: Network, variable: str) -> str | None:
    """The numbers of the CPT rows that no data support, as files have them; None if not known.

    Rows are numbered from 0, the first parent slowest.

    Examples
    --------
    >>> dice = {"A": ["1", "2", "3", "4", "5", "6"], "B": ["0", "1"]}
    >>> network = Network(dice, {"B": ["A"]}, {"A": [1 / 6] * 6, "B": [[0.5, 0.5]] * 6})
    >>> network = network.with_support({"A": 20, "B": [0, 0, 0, 9, 0, 11]})
    >>> rows_without_data(network, "A"), rows_without_data(network, "B")
    ('none', '0-2 4')
    """
    supported = None if network.support is None else network.support.get(variable)
    if supported is None:
        return None
    edges = np.flatnonzero(np.diff(np.concatenate([[0], ~supported.ravel(), [0]])))
    parts = [
        str(first) if last == first + 1 else f"{first}-{last - 1}"
        for first, last in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
    ]
    return " ".join(parts) or NONE_UNSUPPORTED


def _support(network: Network, child: str, text: str, location: str) -> Mask:
    """Which rows of a CPT have data, from what `rows_without_data` wrote."""
    shape = network.shape(network.parents(child))
    number = math.prod(shape) if network.has_cpts else 0
    rows = [(int(first), int(last or first)) for first, last in re.findall(_ROW_RANGE, text)]
    is_list = text == NONE_UNSUPPORTED or _ROW_RANGES.fullmatch(text)
    if not (number and is_list and all(first <= last < number for first, last in rows)):
        expected = (
            f"row numbers such as '0 3-5', or {NONE_UNSUPPORTED!r}, of the "
            f"{counted(number, 'row')} of the CPT of {child!r}, from 0 on,"
        )
        raise FormatError.syntax(location, text[:30], expected)
    mask = np.ones(number, dtype=np.bool_)
    for first, last in rows:
        mask[first : last + 1] = False
    return mask.reshape(shape)


def network_of(
    label: str,
    states_of: Mapping[str, Sequence[str]],
    cpts: Iterable[tuple[str, Sequence[str], FloatArray]],
) -> Network:
    """The network of another program: states, and each child with its parents and its table."""
    declared = [Declared(name, tuple(states), label) for name, states in states_of.items()]
    variables = declare(Source.of(label, ""), declared)
    families = (
        from_flat(family(variables, child, parents, label), table.ravel())
        for child, parents, table in cpts
    )
    return assemble(variables, families)


def _tables_of(name: str, family_of: Mapping[str, Family]) -> dict[str, FloatArray] | None:
    """The tables of a file's families, rows rescaled where need be; None if they have none."""
    if all(members.table is None for members in family_of.values()):
        return None
    tables = {}
    noted = []
    for child, members in family_of.items():
        if members.table is None:
            raise FormatError(
                f"{members.location}: the CPT of {child!r} holds no numbers, though others do.",
                "give numbers for every variable, or for none to have a bare structure.",
            )
        tables[child], rescaled = _normalised(members, members.table)
        if rescaled:
            noted.append(f"{child!r} ({counted(rescaled, 'row')})")
    if noted:
        warn(
            f"{name}: rows that sum to 1 only within {REFUSED_DEVIATION} were rescaled: "
            f"{', '.join(noted)}."
        )
    return tables


def _normalised(members: Family, table: FloatArray) -> tuple[FloatArray, int]:
    """The rows of a table divided by their sums where need be, and how many deserve a note."""
    if table.min() < 0:
        table = np.where((table < 0) & (table >= -NOTED_DEVIATION), 0.0, table)
    # 0.33 + 0.33 + 0.33 is off by 0.01 and a rounding error: the limits have that much slack.
    if problem := problem_of(table, REFUSED_DEVIATION + ROW_SUM_TOLERANCE):
        row, words = problem
        where = f" given {members.given(row)}" if members.parents else ""
        raise FormatError(
            f"{members.location_of(row)}: the CPT of {members.child!r}{where} {words}.",
            "correct the row; only sums within 0.01 of 1 are rescaled.",
        )
    sums = table.sum(axis=-1, keepdims=True)
    deviation = np.abs(sums - 1)
    if (deviation > ROW_SUM_TOLERANCE).any():
        table = np.where(deviation > ROW_SUM_TOLERANCE, table / sums, table)
    return table, int(np.count_nonzero(deviation > NOTED_DEVIATION + ROW_SUM_TOLERANCE))


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")

Name = Callable[[str], bool]


def is_one_line(name: str) -> bool:
    """Whether a text holds no line break nor other control character."""
    return not _CONTROL.search(name)


def is_quotable(name: str) -> bool:
    """Whether a text can stand between quotes as it is."""
    return is_one_line(name) and '"' not in name and "\\" not in name


def is_identifier(name: str) -> bool:
    """Whether a text is a letter or underscore, then letters, digits and underscores."""
    return name.isascii() and name.isidentifier()


def refuse(
    network: Network, form: str, others: str, variable: Name, state: Name, needs_cpts: bool = False
) -> None:
    """Refuse a network that the format cannot express, and say which format can."""
    for name in network.variables:
        if not variable(name):
            raise FormatError.cannot_carry_name(form, f"variable name {name!r}", others)
        for label in network.states(name):
            if not state(label):
                raise FormatError.cannot_carry_name(form, f"state {label!r} of {name!r}", others)
    if needs_cpts and not network.has_cpts:
        raise FormatError(
            f"{form} cannot carry a network without CPTs.", f"write {others} instead."
        )
