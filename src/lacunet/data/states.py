"""The states that a column shows.

Every distinct value is a state, spelled so that the door (`lacunet.data.matching`) matches it
again: a number as the shortest numeral, a text without the spaces around it. The categories of
pandas, Polars' Enum and ordered ones of Arrow keep their order, all of them, whether they occur or
not; numbers, also those written as texts, are put in their order, everything else is sorted as
text, and so are other dictionaries of Arrow and categories of Polars. What a code was
declared to mean is a state in its place; what means "missing" is not a state.

States are never merged in silence. Values of a numeric type are one by their value. Texts that
differ only in how a number is written, as the codes ``250.1`` and ``250.10`` do, may be one state
or two: they are refused, unless the column declares them as categories, which are kept apart.

The word ``None`` is missing, as where a network owns the states, unless the column also has empty
cells: then it says something else.
"""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from lacunet.data.batches import copied_pieces
from lacunet.data.column_rules import NAMES_OF_WEIGHTS
from lacunet.data.data import Data
from lacunet.data.encode import distinct_cells
from lacunet.data.errors import DataError, clipped
from lacunet.data.matching import MISSING_TOKENS, is_null, with_points
from lacunet.data.proposals import ROWS_LOOKED_AT
from lacunet.data.source_parts import Column, DataSource, Piece
from lacunet.errors import LacunetError
from lacunet.network.dates import periods_of, usual_unit
from lacunet.network.interval_names import INTERVALS
from lacunet.network.network import FloatArray
from lacunet.network.spelling import TRUTH_WORDS, as_declared, number_of, spelled
from lacunet.text import counted, first_of, in_shell, keyed, listed, typed_list

MAX_COLUMNS_IN_NOTE = 5  # that are named of those with values taken as missing
DATA_CALL = "lacunet.Data(data,"
# A column with more is not a discrete variable that CPTs could be learned for.
MAX_LEARNABLE_STATES = 50
FEW_STATES = 6  # that a remark spells out
FEWEST_ROWS_OF_IDENTIFIER = 20
KEPT_VALUES = 4096
KEPT_WORDS = 20  # that are neither numbers nor dates
MOST_CHARACTERS = 4096  # of a state; a longer text is free text
SEEN_CHARACTERS = 2**20  # of all values of a column, 256 each; with more they are free text
FIRST_BYTES = 2**27  # of the first rows, which are kept; usual rows take less
LIKE_WEIGHTS = re.compile(r"\bwt|wt\b|wgt|weight|^w$", re.IGNORECASE)  # names that weights may have
NONE = "None"
INFINITE = frozenset(["inf", "infinity"])
TOKENS = frozenset({*MISSING_TOKENS} - {"", NONE})


class StatesError(LacunetError):
    """A column does not say which states its variable has.

    ``remedy`` are the options of `lacunet.Data` that make it a variable, with what they need to say
    of the column; without any, it is to be left out.
    """

    def __init__(
        self, message: str, hint: str = "", remedy: Mapping[str, Any] | None = None
    ) -> None:
        self.remedy = dict(remedy or {})
        super().__init__(message, hint)


class IdentifierError(StatesError):
    """A column has another value in every row, or free text."""


class WeightsError(StatesError):
    """A column has the name and the values of sampling weights."""


class NumbersError(StatesError):
    """A column of numbers has more different values than a variable may have states."""


class DatesError(StatesError):
    """A column has more different dates than a variable may have states."""


class NestedError(StatesError):
    """The cells of a column are lists or records, not single values."""


class SpellingsError(StatesError):
    """Texts of a column differ only in how a number is written.

    ``states_of`` has every text as a state of its own, by column; ``codes_of`` what codes would
    merge those of one number.
    """

    def __init__(
        self,
        message: str,
        states_of: Mapping[str, Sequence[str]],
        codes_of: Mapping[str, Mapping[str, str]],
    ) -> None:
        self.states_of = dict(states_of)
        self.codes_of = dict(codes_of)
        states = {name: [*texts] for name, texts in self.states_of.items()}
        typed = [states_option(name, texts) for name, texts in states.items()]
        codes = shlex.quote(json.dumps(self.codes_of, ensure_ascii=False))
        self.merging = f"codes={self.codes_of!r} (--codes {codes})"
        apart = f"keep them apart: states={states!r} ({' '.join(typed)})"
        remedy = {"states": next(iter(states.values()))} if len(states) == 1 else None
        super().__init__(message, f"{apart}; or merge them: {self.merging}.", remedy)

    @classmethod
    def joined(cls, errors: Sequence[SpellingsError]) -> SpellingsError:
        """One error for several columns."""
        states_of: dict[str, Sequence[str]] = {}
        codes_of: dict[str, Mapping[str, str]] = {}
        for error in errors:
            states_of |= error.states_of
            codes_of |= error.codes_of
        return cls("\n".join(error.message for error in errors), states_of, codes_of)


@dataclass
class Seen:
    """What a column was found to hold: the one object here that grows, piece by piece."""

    # What the user says of it.
    codes: Mapping[str, object] = field(default_factory=dict)  # by spelling; None means missing
    missing: frozenset[str] = frozenset()  # what means "not observed" in all columns

    # How many cells hold each value, by its spelling.
    cells: Counter[str] = field(default_factory=Counter)  # values that are states as they stand
    labelled: Counter[str] = field(default_factory=Counter)  # codes that stand for a state
    asked: Counter[str] = field(default_factory=Counter)  # what the user says is missing
    tokens: Counter[str] = field(default_factory=Counter)  # what is missing though nobody says so
    nones: int = 0  # cells with the word None
    empty: int = 0  # cells with nothing
    rows: int = 0  # cells with something

    # How it writes them.
    written: dict[Decimal, set[str]] = field(default_factory=dict)  # the texts of each number
    order: dict[str, None] = field(default_factory=dict)  # all categories, where they are ordered
    is_declared: bool = False  # its type says, in all pieces, that its values are categories
    is_nested: bool = False  # it holds lists or records, which are not counted
    is_free_text: bool = False  # it holds longer texts than can be states; none is kept
    characters: int = 0  # of all texts that `cells` keeps

    # Of all values, also of those that are not kept.
    decimal: str = "."  # the character in its texts of numbers
    has_texts: bool = False
    has_numbers: bool = False
    months: set[str] = field(default_factory=set)  # of its dates
    words: dict[str, None] = field(default_factory=dict)  # the first that are no number, no date

    @classmethod
    def of(cls, name: str, data: Data) -> Seen:
        """A column of which nothing is seen yet, with what the data's owner says of it."""
        missing = frozenset(map(spelled, data.missing_anywhere))
        return cls(data.codes_in(name), missing, decimal=data.decimal)

    @property
    def labels(self) -> dict[str, str]:
        """The state that each code stands for, where it stands for one."""
        return {
            code: meaning if isinstance(meaning, str) else spelled(meaning)
            for code, meaning in self.codes.items()
            if meaning is not None and not isinstance(meaning, list | tuple | set | frozenset)
        }

    @property
    def numbers(self) -> list[Decimal]:
        """The numbers that it holds; none where it holds anything else."""
        # A column of a numeric type has its points, whatever the decimal character of texts.
        decimal = self.decimal if self.has_texts else "."
        numbers = [number_of(with_points(text, decimal)) for text in self.cells]
        if None not in numbers:
            return [number for number in numbers if number is not None]
        return []

    @property
    def are_numbers(self) -> bool:
        """Whether most of its values are numbers, with a point or a comma, beside a few words."""
        numbers = (number_of(text.replace(",", ".")) for text in self.cells)
        return 2 * sum(number is not None for number in numbers) > len(self.cells)

    @property
    def is_declared_or_coded(self) -> bool:
        """Whether its type or its codes say what its states are."""
        return bool(self.is_declared or self.order or self.labels)

    @property
    def are_all_numbers(self) -> bool:
        """Whether all of its values are numbers."""
        return self.has_numbers and not (self.words or self.months or self.is_nested)

    @property
    def are_dates(self) -> bool:
        """Whether all of its values are dates or moments."""
        return bool(self.months) and not (self.words or self.has_numbers or self.is_nested)

    @property
    def is_serial(self) -> bool:
        """Whether its numbers count the rows, as whole numbers without large gaps."""
        if not (self.is_identifier and self.numbers):
            return False
        return max(self.numbers) - min(self.numbers) < 2 * self.rows

    @property
    def is_identifier(self) -> bool:
        """Whether it has another value in every row, and no fractions."""
        occur_once = max(self.cells.values(), default=0) == 1
        are_all = len(self.cells) == self.rows or len(self.cells) > KEPT_VALUES
        is_long = self.rows >= FEWEST_ROWS_OF_IDENTIFIER
        return occur_once and are_all and is_long and not any(n % 1 for n in self.numbers)

    def add(self, column: Column, *, is_declared: bool = False) -> None:
        """Count the next cells; those of a column that declares them as categories stay apart."""
        if _is_nested(column):
            self.is_nested = True
            return
        counts, values = distinct_cells(column)
        self.empty += len(column) - sum(counts)
        texts = [self._spelled(value) for value in values]
        self.is_declared = is_declared and (self.is_declared or not self.cells)
        if is_declared:
            texts = self._kept_apart(values, texts)
        if is_declared and column.type.ordered:
            self.order |= dict.fromkeys(texts)
        for value, text, count in zip(values, texts, counts, strict=True):
            if is_null(value):
                self.empty += count
            elif count:
                self.has_texts |= isinstance(value, str)
                self._count(text, count)
                self.rows += count
                if isinstance(value, str) and text in self.cells:
                    self._remember(value.strip())

    def _kept_apart(self, categories: Sequence[object], texts: Sequence[str]) -> list[str]:
        """The spellings of categories; as they were declared where two would be one."""
        times = Counter(texts)
        return [
            str(category) if times[text] > 1 and not self._is_code(text) else text
            for category, text in zip(categories, texts, strict=True)
        ]

    def _remember(self, text: str) -> None:
        """Keep how a text writes a number."""
        number = number_of(text)
        if number is not None and (number in self.written or len(self.written) <= KEPT_VALUES):
            self.written.setdefault(number, set()).add(text)

    def _is_code(self, text: str) -> bool:
        """Whether a spelling is among what is said of codes."""
        return text in self.codes or text in self.missing

    def _spelled(self, value: object) -> str:
        """A value as it is spelled among what is said, if it is, else as states are."""
        return as_declared(as_declared(spelled(value), self.missing), self.codes)

    def _count(self, text: str, count: int) -> None:
        if self._is_code(text):
            if self.codes.get(text) is None:
                self.asked[text] += count
            else:
                self.labelled[text] += count
        elif not text:
            self.empty += count
        elif text == NONE:
            self.nones += count
        elif text in TOKENS:
            self.tokens[text] += count
        elif text in self.cells:
            self.cells[text] += count
        else:
            self._see_kind(text)
            if len(self.cells) <= KEPT_VALUES and not self.is_free_text:
                self._keep(text, count)

    def _see_kind(self, text: str) -> None:
        """Take in whether a value is a number, a date or a word."""
        decimal = self.decimal if self.has_texts else "."
        if number_of(with_points(text, decimal)) is not None:
            self.has_numbers = True
        elif (day := periods_of(text)) is not None:
            self.months.add(day["month"])
        elif len(self.words) < KEPT_WORDS:
            self.words[text[:MOST_CHARACTERS]] = None

    def _keep(self, text: str, count: int) -> None:
        """Count a new value; if that takes too many characters, all of them are free text."""
        self.characters += len(text)
        if len(text) <= MOST_CHARACTERS and self.characters <= SEEN_CHARACTERS:
            self.cells[text] = count
            return
        self.is_free_text = True
        self.cells.clear()
        self.written.clear()
        self.order.clear()

    def completed(self) -> Seen:
        """The same when all is read: the word None is a state where other cells are empty."""
        if self.is_free_text:
            return self
        if self.nones and self.empty:
            self.cells[NONE] += self.nones
        elif self.nones:
            self.tokens[NONE] += self.nones
        return self

    @property
    def texts_of_numbers(self) -> list[list[str]]:
        """The texts of each number that is written in several ways, the shortest first.

        None of a column that declares its categories.
        """
        if self.order or self.is_declared:
            return []
        several = [texts for texts in self.written.values() if len(texts) > 1]
        return [sorted(texts, key=lambda text: (len(text), text)) for texts in several]

    @property
    def missing_codes(self) -> dict[str, object]:
        """What later data have to be told about the column: its codes, and what was missing."""
        return dict.fromkeys(self.missing, None) | dict(self.codes)


def _is_dictionary(column: Column) -> bool:
    if isinstance(column, list):
        return False
    from pyarrow import types

    return bool(types.is_dictionary(column.type))


def _is_nested(column: Column) -> bool:
    if isinstance(column, list):
        return False
    from pyarrow import types

    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    return bool(types.is_nested(kind))


# The first pieces of the data, and how many rows each row stands for, if that is said.
FirstRows = Sequence[tuple[Piece, FloatArray | None]]


def look_at_columns(
    source: DataSource, columns: Sequence[str], data: Data, also: Sequence[str] = ()
) -> tuple[dict[str, Seen], FirstRows]:
    """What each of the columns holds, and the first rows, of other columns also.

    The data are read once, in bounded memory.

    Raises
    ------
    DataError
        There are no rows, and a column does not say its states otherwise.
    """
    seen = {name: Seen.of(name, data) for name in columns}
    first: list[tuple[Piece, FloatArray | None]] = []
    first_rows = first_bytes = 0
    packed = {name for part in source.parts for name in part.packed}
    for piece, copies in copied_pieces(source, (*columns, *also), data):
        if first_rows < ROWS_LOOKED_AT and first_bytes < FIRST_BYTES:
            first.append((piece, copies))
            first_rows += piece.rows
            # A list, of values that Arrow has no type for, refers to objects that are there anyway.
            first_bytes += sum(getattr(column, "nbytes", 0) for column in piece.columns.values())
        for name in columns:
            column = piece.columns[name]
            seen[name].add(column, is_declared=_is_dictionary(column) and name not in packed)
    has_rows = any(column.rows or column.empty or column.is_nested for column in seen.values())
    if not has_rows and not all(column.labels for column in seen.values()):
        raise DataError.no_rows(source.label)
    return {name: column.completed() for name, column in seen.items()}, first


def tokens_in(name: str, data: Data) -> frozenset[str]:
    """What is not a number in a column of numbers, spelled as states are."""
    column = Seen.of(name, data)
    return frozenset({*TOKENS, "", NONE, *column.missing, *column.codes})


def states_of(
    name: str, seen: Seen, extra: Sequence[str] = (), *, in_edges: bool = False
) -> tuple[str, ...]:
    """The states of a column in their order, then some that it has besides.

    What edges name is a variable; another column of numbers may hold weights.

    Raises
    ------
    StatesError
        It holds no value, one value, an identifier, free text, too many values, or lists and
        records; or texts that differ only in how a number is written.

    Examples
    --------
    >>> column = Seen(cells=Counter({"10": 3, "9": 1}), rows=5)
    >>> states_of("Age", column)
    ('9', '10')
    >>> coded = Seen({"2": "female", "1": "male", "9": None}, rows=5)
    >>> states_of("Sex", coded, extra=["not_asked"])
    ('male', 'female', 'not_asked')
    """
    if seen.is_nested:
        raise NestedError(
            f"column {name!r} holds lists or records; a variable has one value in each row."
        )
    if seen.is_free_text:
        raise IdentifierError(
            f"column {name!r} looks like free text: its values are longer than states can be, "
            f"which have at most {MOST_CHARACTERS:,} characters."
        )
    labels = seen.labels
    named = (labels.get(text, text) for text in _texts_in_order(seen))
    states = tuple(dict.fromkeys((*named, *labels.values(), *extra)))
    if len(states) <= MAX_LEARNABLE_STATES:
        _refuse_spellings(name, seen, states)
    _check(name, seen, states, in_edges)
    return states


def _texts_in_order(seen: Seen) -> list[str]:
    """What a column holds, one text for each state: as it orders them, by number, or as texts."""
    if seen.order:
        unwanted = {*seen.asked, *seen.tokens, *(seen.codes.keys() - seen.labels.keys()), ""}
        if NONE not in seen.cells:
            unwanted.add(NONE)
        texts = [text for text in seen.order if text not in unwanted]
        # Programs sort categories as texts where nobody gave an order: "10" then stands before "9".
        if texts != sorted(texts):
            return texts
    else:
        texts = sorted(seen.cells if seen.is_declared else _merged(seen.cells))
        texts += seen.labels
    numbers = {text: number_of(text) for text in texts}
    if None in numbers.values():
        return texts
    return sorted(texts, key=lambda text: numbers[text] or 0)


def _merged(cells: Mapping[str, int]) -> list[str]:
    """One spelling, the shortest, for each number and truth value; other texts as they are."""
    spelling: dict[object, str] = {}
    for text in sorted(cells, key=lambda text: (len(text), text)):
        number = number_of(text)
        word = text.lower() if text.lower() in TRUTH_WORDS else text
        spelling.setdefault(word if number is None else number, text)
    return list(spelling.values())


def _refuse_spellings(name: str, seen: Seen, states: Sequence[str]) -> None:
    """Refuse texts of which nobody knows whether they are one state or two."""
    if not (several := seen.texts_of_numbers):
        return
    apart: dict[str, None] = {}
    for state in states:
        number = number_of(state)
        texts = {state} if number is None else seen.written.get(number, {state})
        apart |= dict.fromkeys(sorted(texts))
    pairs = first_of([" and ".join(map(repr, texts)) for texts in several], FEW_STATES, "; ")
    codes = {text: shortest for shortest, *others in several for text in others}
    raise SpellingsError(
        f"column {name!r}: some values differ only in how a number is written: {pairs}.",
        {name: [*apart]},
        {name: codes},
    )


def _check(name: str, seen: Seen, states: Sequence[str], in_edges: bool) -> None:
    """Refuse a column that is no discrete variable: constant, or of too many different values."""
    if len(states) < 2:
        raise _constant(name, states)
    _check_numbers(name, seen)
    if len(states) > MAX_LEARNABLE_STATES:
        raise _too_many_values(name, seen, states, in_edges)


def _constant(name: str, states: Sequence[str]) -> StatesError:
    typed = in_shell(f"{keyed(name, '=')}=A,B")
    give = f"{DATA_CALL} states={{{name!r}: [...]}}) (--states {typed})"
    held = "holds no value"
    if states:
        held = f"is constant: it holds nothing but {states[0]!r}"
    return StatesError(
        f"column {name!r} {held}.",
        f"leave {name!r} out of the edges, or give all its states: {give}.",
    )


def _too_many_values(name: str, seen: Seen, states: Sequence[str], in_edges: bool) -> StatesError:
    """What to say of a column by what its values look like: dates, names of rows, texts, numbers.

    Only the first `KEPT_VALUES` values of a column are counted.
    """
    if seen.is_identifier and not seen.are_dates:
        return _identifier(name, seen)
    many = f"{len(states):,}"
    if len(seen.cells) > KEPT_VALUES:
        many = f"more than {KEPT_VALUES:,}"
    few = f"a discrete variable may have at most {MAX_LEARNABLE_STATES} states"
    remedy = _remedy(seen)
    if seen.are_dates:
        months = sorted(seen.months)
        return DatesError(
            f"column {name!r} holds {many} different dates, from {months[0]} to {months[-1]}; "
            f"{few}.",
            remedy=remedy,
        )
    if not seen.are_numbers:
        example = ", ".join(map(clipped, states[:3]))
        return StatesError(
            f"column {name!r} looks like free text: {many} different values "
            f"(for example {example}); {few}.",
            remedy=remedy,
        )
    error: type[StatesError] = NumbersError
    weights = ""
    if not in_edges and LIKE_WEIGHTS.search(name) and seen.numbers and min(seen.numbers) >= 0:
        weights = f" If they are sampling weights: weight={name!r}, --weight {in_shell(name)}."
        if name.lower() in NAMES_OF_WEIGHTS:
            error = WeightsError
    return error(
        f"column {name!r} holds numbers with {many} different values "
        f"(for example {', '.join(states[:3])}); {few}.{weights}",
        remedy=remedy,
    )


def _identifier(name: str, seen: Seen) -> IdentifierError:
    measured = ""
    if seen.numbers and not seen.is_serial:
        measured = f" If its numbers measure something, give bins={{{name!r}: {INTERVALS}}}."
    first = f"first {KEPT_VALUES:,} " if len(seen.cells) > KEPT_VALUES else ""
    return IdentifierError(
        f"column {name!r} looks like an identifier: none of its {first}values occurs "
        f"twice.{measured}"
    )


def _check_numbers(name: str, seen: Seen) -> None:
    """Refuse numbers among which some are infinite, or written with another decimal character."""
    if not seen.has_numbers or not seen.are_numbers or seen.is_declared_or_coded:
        return
    infinite = [word for word in seen.words if word.lower().lstrip("+-") in INFINITE]
    if infinite:
        raise NumbersError(
            f"column {name!r} holds numbers, some of them infinite: {first_of(infinite, 3)}.",
            remedy={**_remedy(seen), "missing": infinite},
        )
    decimal = seen.decimal if seen.has_texts else "."
    other = {".": ",", ",": "."}[decimal]
    otherwise = [word for word in seen.words if number_of(with_points(word, other)) is not None]
    usual = [text for text in seen.cells if decimal in text and text not in seen.words]
    if otherwise and usual:
        raise NumbersError(
            f"column {name!r} holds numbers with the decimal character {decimal!r} (for example "
            f"{usual[0]}), and others with {other!r}: {first_of(otherwise, 3)}. If they mean the "
            f"same, write them alike: {with_points(otherwise[0], ',')}.",
        )


def _remedy(seen: Seen) -> dict[str, Any]:
    """What makes a variable of numbers or dates, also with a few words among them."""
    words = list(seen.words)
    other = {".": ",", ",": "."}[seen.decimal]
    otherwise = [number_of(with_points(word, other)) for word in words]
    if words and not seen.months and None not in otherwise:
        return {"bins": INTERVALS, "decimal": other}
    if len(words) == KEPT_WORDS or len(words) > len(seen.cells) / 2:
        return {}
    missing = {"missing": words} if words else {}
    if seen.has_numbers and not seen.months:
        return {"bins": INTERVALS, **missing}
    if len(seen.months) > 1 and not seen.has_numbers:
        return {"bins": usual_unit(seen.months), **missing}
    return {}


def may_be_cut(name: str, seen: Seen) -> bool:
    """Whether numbers are not those of weights, nor of rows, in a column that nobody names."""
    is_numbered = seen.is_serial and len(seen.cells) > MAX_LEARNABLE_STATES
    return not is_numbered and name.lower() not in NAMES_OF_WEIGHTS


def note_on_missing_words(
    seen: Mapping[str, Seen], states_of: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """Which values were taken as missing without being named, in one line for all columns.

    Those that were named are told only where one of them may be a value of its column.

    ``states_of`` are the states that were found, of columns that are not cut.
    """
    yield from _note_on_tokens(seen, states_of)
    columns_of: dict[str, list[str]] = {}  # by the doubt, which several columns may share
    for name, column in seen.items():
        if doubt := _within(column):
            codes = ", ".join(f"{code!r} ({count:,})" for code, count in column.asked.items())
            columns_of.setdefault(doubt, []).append(f"column {name!r}: {codes}")
    for doubt, columns in columns_of.items():
        named = first_of(columns, MAX_COLUMNS_IN_NOTE, "; ")
        yield f"taken as missing, as asked for, in {named}.{doubt}"


def _note_on_tokens(
    seen: Mapping[str, Seen], states_of: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """Words such as NA, which nobody said to be missing; nothing where no column has any."""
    cells_of = {v: column.tokens.total() for v, column in seen.items() if column.tokens}
    if not cells_of:
        return
    tokens = dict.fromkeys(token for v in cells_of for token in seen[v].tokens)
    taken = f"{counted(sum(cells_of.values()), 'cell')} with {listed(tokens)} taken as missing"
    if len(cells_of) > 1:
        each = [f"{v!r} ({cells:,})" for v, cells in cells_of.items()]
        note = f"{taken}, in the columns {first_of(each, MAX_COLUMNS_IN_NOTE)}"
    else:
        note = f"column {next(iter(cells_of))!r}: {taken}"
    yield f"{note}{_as_states(seen, states_of, cells_of)}."


def _as_states(
    seen: Mapping[str, Seen], states_of: Mapping[str, Sequence[str]], names: Iterable[str]
) -> str:
    """What to write if a token is a state: of the first column that has states."""
    name = next((name for name in names if name in states_of), None)
    if name is None:
        return ""
    tokens = seen[name].tokens
    it = "it is a state" if len(tokens) == 1 else "any of them is a state"
    states = states_of[name] if len(states_of[name]) <= FEW_STATES else ["..."]
    with_tokens = [*states, *tokens]
    every = ", ".join(text if text == "..." else repr(text) for text in with_tokens)
    return (
        f"; if {it}, name it with all others: states={{{name!r}: [{every}]}} "
        f"({states_option(name, with_tokens)})"
    )


def states_option(name: str, states: Iterable[str]) -> str:
    """The option of the shell that gives a variable these states."""
    option = in_shell(f"{keyed(name, '=')}={typed_list(states)}")
    return f"--states {option}"


def codes_not_seen(seen: Mapping[str, Seen]) -> Iterator[str]:
    """That no column holds any of the values that were said to mean "not observed"."""
    asked = sorted({code for column in seen.values() for code in column.missing})
    if asked and not any(column.missing & column.asked.keys() for column in seen.values()):
        yield f"no variable has the value {' or '.join(asked)}, which missing= (--missing) names."


def state_remarks(name: str, seen: Seen, states: Sequence[str]) -> Iterator[str]:
    """What may surprise the user about the states of one column."""
    if seen.nones and seen.empty:
        option = in_shell(f"{keyed(name, '=')}=None")
        yield (
            f"column {name!r}: {counted(seen.nones, 'cell')} with 'None' taken as a state, since "
            f"{counted(seen.empty, 'cell')} {'is' if seen.empty == 1 else 'are'} empty; say "
            f"codes={{{name!r}: {{'None': None}}}} (--missing {option}) if it "
            "means missing too."
        )
    labels = seen.labels
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
    forms_of: dict[str, list[str]] = {}
    for state in states:
        if len(set(state.casefold())) > 1:
            forms_of.setdefault(state.casefold(), []).append(state)
    unlike: dict[str, str] = {}
    for forms in forms_of.values():
        commonest = max(forms, key=lambda state: cells.get(state, 0))
        unlike |= {state: commonest for state in forms if state != commonest}
    return unlike


def _within(seen: Seen) -> str:
    """A doubt where a number means missing in all columns, and is one among others here."""
    if len(seen.numbers) < 2:
        return ""
    for code in seen.asked:
        number = number_of(code)
        is_general = code in seen.missing and code not in seen.codes
        if is_general and number is not None and min(seen.numbers) < number < max(seen.numbers):
            return (
                f" Among the numbers here {code!r} could be one too: missing={{...: [{code}]}} "
                "names the columns in which it is missing."
            )
    return ""
