"""The states that a column shows.

Every distinct value is a state, spelled so that the door (`lacunet.data.matching`) matches it
again: a number as the shortest numeral, a text without the spaces around it. The categories of
pandas, Polars' Enum and ordered ones of Arrow keep their order, all of them, whether they occur or
not; numbers, also those written as texts, are put in their order, everything else is sorted as
text, and so are other dictionaries of Arrow and Polars, which only store texts. What a code was
declared to mean is a state in its place; what means "missing" is not a state.

Here, where states are invented, more means "missing" than where a network owns them: also ``.``,
``n/a``, ``#N/A`` and ``<NA>``, as other programs write it. The word ``None`` is missing too, unless
the column also has empty cells: then it says something else.
"""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from lacunet.building.proposals import MOST_ROWS
from lacunet.data.batches import copied_pieces
from lacunet.data.encode import distinct_cells
from lacunet.data.errors import DataError
from lacunet.data.given import Data
from lacunet.data.matching import MISSING_TOKENS, is_null
from lacunet.data.reading import NAMES_OF_WEIGHTS
from lacunet.data.source import Column, DataSource, Piece
from lacunet.errors import LacunetError
from lacunet.model.network import FloatArray
from lacunet.model.spelling import TRUTH_WORDS, as_declared, number_of, spelled
from lacunet.wording import counted, first_of, in_shell, keyed, listed

MOST_COLUMNS = 5  # that are named of those with values taken as missing
MOST_STATES = 50  # a column with more is not a discrete variable that CPTs could be learned for
FEW_STATES = 6  # that a remark spells out
FEWEST_ROWS_OF_IDENTIFIER = 20
KEPT_VALUES = 4096
NONE = "None"
OF_OTHER_PROGRAMS = (".", "n/a", "#N/A", "<NA>")
TOKENS = frozenset({*MISSING_TOKENS, *OF_OTHER_PROGRAMS} - {"", NONE})


class StatesError(LacunetError):
    """A column does not say which states its variable has."""


class IdentifierError(StatesError):
    """A column has another value in every row."""


class WeightsError(StatesError):
    """A column has the name and the values of sampling weights."""


class NestedError(StatesError):
    """The cells of a column are lists or records, not single values."""


@dataclass(frozen=True)
class DeclaredCodes:
    """What is said of the values of one column, by their spelling.

    ``codes`` are those declared for the column, with what they mean (None: missing), ``missing``
    what means "not observed" in all columns.
    """

    codes: Mapping[str, object] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()

    @classmethod
    def of(cls, name: str, data: Data) -> DeclaredCodes:
        """What the data's owner says of a column."""
        return cls(data.codes_in(name), frozenset(map(spelled, data.missing_anywhere)))

    def spelled(self, value: object) -> str:
        """A value as it is spelled among what is said, if it is, else as states are."""
        return as_declared(as_declared(spelled(value), self.missing), self.codes)

    @property
    def labels(self) -> dict[str, str]:
        """The state that each code stands for, where it stands for one."""
        return {
            code: meaning if isinstance(meaning, str) else spelled(meaning)
            for code, meaning in self.codes.items()
            if meaning is not None and not isinstance(meaning, list | tuple | set | frozenset)
        }


@dataclass
class Seen:
    """What a column was found to hold: the one object here that grows, piece by piece.

    ``cells`` counts each value by its spelling, ``order`` lists all categories of a column that has
    some, ``tokens`` counts what was taken as missing without having been asked for, ``asked`` what
    was because of that, ``labelled`` the codes that stand for a state, ``nones`` the cells with the
    word None, ``empty`` those with nothing. A column that ``is_nested`` holds lists or records,
    which are not counted.
    """

    declared: DeclaredCodes = field(default_factory=DeclaredCodes)
    cells: Counter[str] = field(default_factory=Counter)
    order: dict[str, None] = field(default_factory=dict)
    tokens: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
    labelled: Counter[str] = field(default_factory=Counter)
    nones: int = 0
    empty: int = 0
    has_fractions: bool = False
    is_nested: bool = False
    rows: int = 0

    def add(self, column: Column) -> None:
        """Count the next cells."""
        if _is_nested(column):
            self.is_nested = True
            return
        counts, values = distinct_cells(column)
        self.empty += len(column) - sum(counts)
        if getattr(getattr(column, "type", None), "ordered", False):
            self.order |= dict.fromkeys(map(self.declared.spelled, values))
        for value, count in zip(values, counts, strict=True):
            if is_null(value):
                self.empty += count
            elif count:
                self._count(self.declared.spelled(value), value, count)
                self.rows += count

    def _count(self, text: str, value: object, count: int) -> None:
        codes = self.declared.codes
        if text in codes or text in self.declared.missing:
            if codes.get(text) is None:
                self.asked[text] += count
            else:
                self.labelled[text] += count
        elif not text:
            self.empty += count
        elif text == NONE:
            self.nones += count
        elif text in TOKENS:
            self.tokens[text] += count
        elif text in self.cells or len(self.cells) <= KEPT_VALUES:
            self.cells[text] += count
            self.has_fractions |= isinstance(value, float | Decimal) and value % 1 != 0

    def completed(self) -> Seen:
        """The same when all is read: the word None is a state where other cells are empty."""
        if self.nones and self.empty:
            self.cells[NONE] += self.nones
        elif self.nones:
            self.tokens[NONE] += self.nones
        return self

    @property
    def missing_codes(self) -> dict[str, object]:
        """What later data have to be told about the column: its codes, and what was missing."""
        codes: dict[str, object] = dict.fromkeys(self.declared.missing, None)
        codes |= {token: None for token in self.tokens if token in OF_OTHER_PROGRAMS}
        return codes | dict(self.declared.codes)


def _is_nested(column: Column) -> bool:
    if isinstance(column, list):
        return False
    from pyarrow import types

    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    return bool(types.is_nested(kind))


# The first pieces of the data, and how many rows each row stands for, if that is said.
FirstRows = Sequence[tuple[Piece, FloatArray | None]]


def seen_in(
    source: DataSource, columns: Sequence[str], data: Data, also: Sequence[str] = ()
) -> tuple[dict[str, Seen], FirstRows]:
    """What each of the columns holds, and the first rows, of other columns also.

    The data are read once, in bounded memory.

    Raises
    ------
    DataError
        There are no rows, and a column does not say its states otherwise.
    """
    seen = {name: Seen(DeclaredCodes.of(name, data)) for name in columns}
    first: list[tuple[Piece, FloatArray | None]] = []
    for piece, copies in copied_pieces(source, (*columns, *also), data):
        if sum(held.rows for held, _ in first) < MOST_ROWS:
            first.append((piece, copies))
        for name in columns:
            seen[name].add(piece.columns[name])
    has_rows = any(column.rows or column.empty or column.is_nested for column in seen.values())
    if not has_rows and not all(column.declared.labels for column in seen.values()):
        raise DataError.no_rows(source.label)
    return {name: column.completed() for name, column in seen.items()}, first


def tokens_in(name: str, data: Data) -> frozenset[str]:
    """What is not a number in a column of numbers, spelled as states are."""
    declared = DeclaredCodes.of(name, data)
    return frozenset({*TOKENS, "", NONE, *declared.missing, *declared.codes})


def states_of(
    name: str, seen: Seen, extra: Sequence[str] = (), *, in_edges: bool = False
) -> tuple[str, ...]:
    """The states of a column in their order, then some that it has besides.

    What edges name is a variable; another column of numbers may hold weights.

    Raises
    ------
    StatesError
        It holds no value, one value, an identifier, too many values, or lists and records.

    Examples
    --------
    >>> column = Seen(cells=Counter({"10": 3, "9": 1}), rows=5)
    >>> states_of("Age", column)
    ('9', '10')
    >>> coded = Seen(DeclaredCodes({"2": "female", "1": "male", "9": None}), rows=5)
    >>> states_of("Sex", coded, extra=["not_asked"])
    ('male', 'female', 'not_asked')
    """
    if seen.is_nested:
        raise NestedError(
            f"column {name!r} holds lists or records; a variable has one value in each row.",
            f"leave {name!r} out of the edges, or make columns of single values from it.",
        )
    labels = seen.declared.labels
    if seen.order:
        dropped = {*seen.asked, *seen.tokens, *(seen.declared.codes.keys() - labels.keys()), ""}
        dropped |= set() if NONE in seen.cells else {NONE}
        kept = [text for text in seen.order if text not in dropped]
        if kept == sorted(kept) and None not in map(number_of, kept):  # numbers sorted as texts
            kept.sort(key=lambda text: number_of(text) or 0)
        kept = [labels.get(text, text) for text in kept]
        states = tuple(dict.fromkeys((*kept, *labels.values(), *extra)))
        _check(name, seen, states, in_edges)
        return states
    spelling = {text: text for text in _merged(seen.cells)} | labels
    _check(name, seen, list(dict.fromkeys([*spelling.values(), *extra])), in_edges)
    numbers = {text: number_of(text) for text in spelling}
    if None not in numbers.values():
        ordered = sorted(spelling, key=lambda text: numbers[text] or 0)
    else:
        ordered = sorted(_merged(seen.cells)) + list(labels)
    return tuple(dict.fromkeys([*(spelling[text] for text in ordered), *extra]))


def _merged(cells: Mapping[str, int]) -> list[str]:
    """One spelling, the shortest, for each number and truth value; other texts as they are."""
    spelling: dict[object, str] = {}
    for text in sorted(cells, key=lambda text: (len(text), text)):
        number = number_of(text)
        word = text.lower() if text.lower() in TRUTH_WORDS else text
        spelling.setdefault(word if number is None else number, text)
    return list(spelling.values())


def _check(name: str, seen: Seen, states: Sequence[str], in_edges: bool) -> None:
    built = "lacunet.Network.from_data(data, edges,"
    key = keyed(name, "=")
    give = f"{built} states={{{name!r}: [...]}}) (--states {in_shell(f'{key}=A,B')})"
    if not states:
        raise StatesError(
            f"column {name!r} holds no value: every cell is missing.",
            f"leave {name!r} out of the edges, or give its states: {give}.",
        )
    if len(states) == 1:
        raise StatesError(
            f"column {name!r} is constant: it holds nothing but {states[0]!r}.",
            f"leave {name!r} out of the edges, or give all its states: {give}.",
        )
    if len(states) <= MOST_STATES:
        return
    many = "more than 4,096" if len(seen.cells) > KEPT_VALUES else f"{len(states):,}"
    is_identifier = len(seen.cells) == seen.rows >= FEWEST_ROWS_OF_IDENTIFIER
    if is_identifier and not seen.has_fractions and not _are_fractions(seen.cells):
        raise IdentifierError(
            f"column {name!r} looks like an identifier: each of its {seen.rows:,} values "
            "occurs once.",
            f"leave {name!r} out of the edges.",
        )
    weights = "" if in_edges else _or_weights(name, seen)
    kind = WeightsError if weights and name.lower() in NAMES_OF_WEIGHTS else StatesError
    raise kind(
        f"column {name!r} has {many} different values (for example {', '.join(states[:3])}); "
        f"a discrete variable may have at most {MOST_STATES}{weights}.",
        f"cut numbers into intervals: {built} bins={{{name!r}: 5}}) (--bins "
        f"{in_shell(f'{key}=5')}; lacunet.discretise does the same to a dataframe), merge rare "
        f"values, or give the states: {give}.",
    )


def _are_fractions(cells: Iterable[str]) -> bool:
    """Whether texts, as files hold them, are numbers and some of these are not whole."""
    numbers = [number_of(text) for text in cells]
    return None not in numbers and any(number % 1 > 0 for number in numbers if number is not None)


def _or_weights(name: str, seen: Seen) -> str:
    """What to write if the numbers are weights; nothing if they cannot be."""
    numbers = [number_of(text) for text in seen.cells]
    if not all(number is not None and number >= 0 for number in numbers):
        return ""
    return f" (if they are sampling weights: weight={name!r}, --weight {in_shell(name)})"


def taken_as_missing(
    seen: Mapping[str, Seen], states_of: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """Which values were taken as missing without being named, in one line for all columns.

    Those that were named are told only where one of them may be a value of its column.

    ``states_of`` are the states that were found, of columns that are not cut.
    """
    cells = {v: column.tokens.total() for v, column in seen.items() if column.tokens}
    tokens = dict.fromkeys(token for v in cells for token in seen[v].tokens)
    if len(cells) == 1:
        ((name, number),) = cells.items()
        note = f"column {name!r}: {counted(number, 'cell')} with {listed(tokens)} taken as missing"
    elif cells:
        columns = first_of([f"{v!r} ({number:,})" for v, number in cells.items()], MOST_COLUMNS)
        total = counted(sum(cells.values()), "cell")
        note = f"{total} with {listed(tokens)} taken as missing, in the columns {columns}"
    if cells:
        yield f"{note}{_as_states(seen, states_of, cells)}."
    columns_of: dict[str, list[str]] = {}
    for name, column in seen.items():
        codes = ", ".join(f"{code!r} ({count:,})" for code, count in column.asked.items())
        if doubt := _within(column):
            columns_of.setdefault(doubt, []).append(f"column {name!r}: {codes}")
    for doubt, some in columns_of.items():
        yield f"taken as missing, as asked for, in {first_of(some, MOST_COLUMNS, '; ')}.{doubt}"


def _as_states(
    seen: Mapping[str, Seen], states_of: Mapping[str, Sequence[str]], names: Iterable[str]
) -> str:
    """What to write if a token is a state: of the first column that has states."""
    for name in (v for v in names if v in states_of):
        states, tokens = states_of[name], seen[name].tokens
        it = "it is a state" if len(tokens) == 1 else "any of them is a state"
        are_few = len(states) <= FEW_STATES
        every = "".join(f"{state!r}, " for state in states) if are_few else "..., "
        every += ", ".join(map(repr, tokens))
        typed = [*(states if are_few else ["..."]), *tokens]
        typed = [f'"{text}"' if "," in text else text for text in typed]
        option = in_shell(f"{keyed(name, '=')}={','.join(typed)}")
        return (
            f"; if {it}, name it with all others: states={{{name!r}: [{every}]}} "
            f"(--states {option})"
        )
    return ""


def codes_not_seen(seen: Mapping[str, Seen]) -> Iterator[str]:
    """That no column holds any of the values that were said to mean "not observed"."""
    asked = sorted({code for column in seen.values() for code in column.declared.missing})
    if asked and not any(column.declared.missing & column.asked.keys() for column in seen.values()):
        yield f"no variable has the value {' or '.join(asked)}, which missing= (--missing) names."


def remarks(name: str, seen: Seen, states: Sequence[str]) -> Iterator[str]:
    """What may surprise the user about the states of one column."""
    if seen.nones and seen.empty:
        option = in_shell(f"{keyed(name, '=')}=None")
        yield (
            f"column {name!r}: {counted(seen.nones, 'cell')} with 'None' taken as a state, since "
            f"{counted(seen.empty, 'cell')} {'is' if seen.empty == 1 else 'are'} empty; say "
            f"codes={{{name!r}: {{'None': None}}}} (--missing {option}) if it "
            "means missing too."
        )
    labels = seen.declared.labels
    occurring = {*seen.cells, *(labels.get(code) for code in seen.labelled)}
    for code, state in labels.items():
        if state not in occurring:
            yield f"column {name!r}: no row has the code {code!r}; its state {state!r} has no data."
    known = {*seen.cells, *labels.values()}
    if absent := [state for state in states if state in seen.order and state not in known]:
        yield (
            f"column {name!r}: no row has the categories {absent}; they are states all the same. "
            "In pandas, .cat.remove_unused_categories() leaves them out."
        )
    if unlike := _unlike_in_case(seen.cells, states):
        yield (
            f"column {name!r}: some states differ only in upper and lower case "
            f"({', '.join(f'{other!r} and {most!r}' for other, most in unlike.items())}). "
            f"If they are the same, say codes={{{name!r}: {unlike!r}}} "
            f"(--codes {shlex.quote(json.dumps({name: unlike}, ensure_ascii=False))})."
        )
    if len(merged := set(seen.cells) - set(states)):
        yield f"column {name!r}: {sorted(merged)} mean the same as other states and are not listed."


def _unlike_in_case(cells: Mapping[str, int], states: Sequence[str]) -> dict[str, str]:
    """States that are the same word in upper and lower case, each with its commonest spelling.

    A single letter written in several ways, such as the genotypes AA, Aa and aa, is left alone.

    >>> _unlike_in_case({"yes": 9, "Yes": 2, "no": 5}, ["Yes", "no", "yes"])
    {'Yes': 'yes'}
    """
    spellings: dict[str, list[str]] = {}
    for state in states:
        if len(set(state.casefold())) > 1:
            spellings.setdefault(state.casefold(), []).append(state)
    commonest = {
        word: max(forms, key=lambda state: cells.get(state, 0)) for word, forms in spellings.items()
    }
    return {
        state: commonest[word]
        for word, forms in spellings.items()
        for state in forms
        if state != commonest[word]
    }


def _within(seen: Seen) -> str:
    """A doubt where a number means missing in all columns, and is one among others here."""
    numbers = [number_of(text) for text in seen.cells]
    shown = [number for number in numbers if number is not None]
    if len(shown) < len(numbers) or len(shown) < 2:
        return ""
    for code in seen.asked:
        number = number_of(code)
        is_general = code in seen.declared.missing and code not in seen.declared.codes
        if is_general and number is not None and min(shown) < number < max(shown):
            return (
                f" Among the numbers here {code!r} could be one too: missing={{...: [{code}]}} "
                "names the columns in which it is missing."
            )
    return ""
