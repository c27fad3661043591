"""The answer to a query: probabilities by state, with what they rest on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple, overload

import numpy as np

from lacunet.errors import ByName, LacunetError
from lacunet.inference.errors import QueryError
from lacunet.network.errors import NetworkError
from lacunet.network.labelled_tables import (
    Labelled,
    Library,
    StatesOfScope,
    columns_beside,
    interval_columns,
    interval_legend,
    probability,
)
from lacunet.network.network import FloatArray, Scope
from lacunet.network.spelling import as_declared, spelled
from lacunet.text import assigned, conditional, counted, first_of, in_quotes
from lacunet.text_tables import as_html

DEFAULT_LEVEL = 0.95  # of intervals, if no other is asked for
MAX_STATES_IN_LINE = 5  # of the states in an answer's one line
SHOWN_SHARE = 0.0005  # what a percentage with one digit would round to 0.0
EDGES_AS_KNOWN = (
    "the edges were learned from rows, and the intervals take them as known: they may be too narrow"
)
SEARCH_FALLS_SHORT = (
    "the edges were learned from rows that miss many of their cells: the intervals count the "
    "search, but may be too narrow"
)
NO_INTERVALS = (
    "the result has no intervals.",
    "learn it again with them: lacunet.learn(network, data, intervals=True) (lacunet learn NETWORK "
    "DATA --intervals -o result.json).",
)
NOT_LEARNED = (
    "intervals need a learned result; this is a network alone.",
    "ask the result of lacunet.learn(..., intervals=True).",
)
WITH_REPLICATES = "; learn_structure(strengths=20) (--strengths 20) lets them count the search"


Share = float | FloatArray | None | Callable[[], float | None]

Spread = Callable[[], tuple[FloatArray, FloatArray]]  # intervals and standard errors


class Bounds(NamedTuple):
    """The lowest and the highest value of each cell of an answer."""

    low: FloatArray
    high: FloatArray

    def __repr__(self) -> str:
        lowest, highest = float(self.low.min()), float(self.high.max())
        return f"<Bounds: {counted(self.low.size, 'cell')} from {lowest:.4f} to {highest:.4f}>"

    def __str__(self) -> str:
        return f"low: {self.low.tolist()}\nhigh: {self.high.tolist()}"

    def _repr_html_(self) -> str:
        return as_html([str(self)])


class AnswerBasis(NamedTuple):
    """What an answer is about and what it rests on; the fields are those of `Answer`.

    What takes long is computed once.
    """

    heading: str | Callable[[], str]  # what is asked as it is written, or what writes it
    scope: Scope
    states: StatesOfScope
    share: Share = None  # without support, or what computes it, or that of each row
    level: float | None = None
    bounds: Bounds | None = None
    bounds_are_exact: bool | None = None
    bounds_over: str = "values of the CPT rows without data"
    # Computes the intervals and the standard errors when somebody looks at them.
    spread: Spread | None = None
    lacks_intervals: bool = False  # learning could have given them
    # The edges were learned, and intervals do not count the search for them.
    takes_edges_as_known: bool = False
    is_credible: bool = False  # intervals are of a posterior
    search_falls_short: bool = False  # intervals count the search, and still may be too narrow

    @property
    def title(self) -> str:
        """What is asked, as it is written."""
        return self.heading() if callable(self.heading) else self.heading


class Answer:
    """The answer to a query: the probability of each state, with what it rests on.

    It is read like a mapping: ``answer["yes"]`` is a number, ``dict(answer)`` has all of them. Of
    two variables ``answer["yes", "no"]`` or ``answer[{"Rain": "yes", "Wet": "no"}]`` is a number,
    and ``answer["yes"]`` or ``answer[{"Wet": "no"}]`` the answer about the other variable. States
    are written as in data: ``answer[1]`` is the state "1", ``answer.probabilities[1]`` the second
    number. `print` shows the table, with its intervals; ``float(answer)`` is that of
    ``query("Ill=yes")``, which asks about one state. For arrays there is ``probabilities``,
    or `numpy.asarray`.

    Attributes
    ----------
    probabilities
        An array with an axis for each variable asked about. Before these come the axes of what is
        given without a state, as Age in ``P(Ill | Age)``.
    variables, states
        The variable of each axis, and the states along it.
    interval
        The interval of each cell (axes of the probabilities, then low and high); computed when it
        is looked at or printed. Where learning gave none, to look at it is an error.
    standard_error
        The standard error of each cell, where there are intervals.
    level
        The level of the intervals, None where there are none.
    unsupported
        The share of the answer that rests on CPT rows without data: the posterior probability
        of passing through one; of several rows, the largest. None where the network does not know
        what supports it.
    bounds
        The lowest and the highest answer over all values of the CPT rows without data, if
        they were asked for; of what a missingness graph does not recover, over all models that fit
        the data. ``bounds_are_exact`` is False where they may be too wide.
    title
        What was asked.

    Examples
    --------
    >>> basis = AnswerBasis("P(Coin)", ("Coin",), (("head", "tail"),))
    >>> answer = Answer(np.array([0.25, 0.75]), basis)
    >>> print(answer)
    P(Coin)
      head    tail
    0.2500  0.7500
    >>> answer["tail"], dict(answer)
    (0.75, {'head': 0.25, 'tail': 0.75})
    >>> np.asarray(answer) * 2
    array([0.5, 1.5])
    >>> answer
    <P(Coin): head 0.2500, tail 0.7500>
    """

    __slots__ = ("_basis", "_table")

    def __init__(self, table: FloatArray, basis: AnswerBasis) -> None:
        """The table, with what it is about."""
        self._table = np.array(table, dtype=np.float64)
        self._table.flags.writeable = False
        self._basis = basis

    @property
    def probabilities(self) -> FloatArray:
        """The probabilities, an axis for each of the variables."""
        return self._table

    @property
    def title(self) -> str:
        """What was asked, as it is written."""
        return self._basis.title

    @property
    def variables(self) -> Scope:
        """The variables asked about, one for each axis."""
        return self._basis.scope

    @property
    def states(self) -> StatesOfScope:
        """The states along each axis."""
        return self._basis.states

    @property
    def unsupported(self) -> float | None:
        """The share of the answer that rests on CPT rows without data; None if not known."""
        share = self._basis.share
        value = share() if callable(share) else share
        return float(value.max()) if isinstance(value, np.ndarray) else value

    @property
    def interval(self) -> FloatArray:
        """The interval of each cell: axes of the answer, then low and high."""
        return self._spread()[0]

    @property
    def level(self) -> float | None:
        """The level of the intervals; None where there are none."""
        return self._basis.level

    @property
    def standard_error(self) -> FloatArray:
        """The standard error of each cell."""
        return self._spread()[1]

    def _spread(self) -> tuple[FloatArray, FloatArray]:
        if self._basis.spread is None:
            raise QueryError(*(NO_INTERVALS if self._basis.lacks_intervals else NOT_LEARNED))
        return self._basis.spread()

    @property
    def bounds(self) -> Bounds | None:
        """The lowest and the highest answer over all that the data leave open."""
        return self._basis.bounds

    @property
    def bounds_are_exact(self) -> bool | None:
        """Whether the bounds are reached; False where they may be too wide."""
        return self._basis.bounds_are_exact

    def keys(self) -> list[Any]:
        """The states; of several variables, tuples of them."""
        if len(self.states) == 1:
            return list(self.states[0])
        return list(product(*self.states))

    def values(self) -> list[float]:
        """The probability of each of the `keys`."""
        numbers: list[float] = self._table.ravel().tolist()
        return numbers

    def items(self) -> list[tuple[Any, float]]:
        """Each state, or tuple of states, with its probability."""
        return list(zip(self.keys(), self.values(), strict=True))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.keys())

    def __len__(self) -> int:
        return self._table.size

    def __contains__(self, key: object) -> bool:
        return key in self.keys()

    @overload
    def __getitem__(self, key: Mapping[str, object]) -> float | Answer: ...

    # Of one variable, as most answers are, or with a state for each.
    @overload
    def __getitem__(self, key: str | float | tuple[object, ...]) -> float: ...

    def __getitem__(self, key: object) -> float | Answer:
        """The number of a state, or the answer that is left where some variables have one."""
        state_of = self._states_of_key(key)
        named = {}
        for name, states in zip(self.variables, self.states, strict=True):
            if name in state_of:
                named[name] = _declared(name, state_of[name], states)
        if len(named) < len(self.variables):
            return _without(self, named)
        return float(self._table[_places(self._basis, named)])

    def _states_of_key(self, key: object) -> Mapping[str, object]:
        """The states that a key names, by variable: a mapping, or states in order of the axes."""
        if isinstance(key, Mapping):
            if strangers := [name for name in key if name not in self.variables]:
                raise LacunetError(
                    f"{strangers[0]!r} is not a variable of {self.title}.",
                    f"name states of {', '.join(self.variables)}.",
                )
            return key
        states = key if isinstance(key, tuple) else (key,)
        if len(states) > len(self.variables):
            raise LacunetError(
                f"{key!r} names {len(states)} states, but {self.title} has "
                f"{counted(len(self.variables), 'variable')}.",
                f"name a state for each of {', '.join(self.variables)}.",
            )
        return dict(zip(self.variables, states, strict=False))

    def __float__(self) -> float:
        if self._table.size == 1:
            return float(self._table.item())
        last = {name: states[-1] for name, states in zip(self.variables, self.states, strict=True)}
        named = ", ".join(map(in_quotes, last.values()))
        raise TypeError(
            f"{self.title} is {self._table.size:,} numbers, not one\n"
            f"Hint: ask {in_quotes(_stated(self.title, last))}, or take answer[{named}]."
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """A copy of the probabilities; the array itself with ``copy=False``."""
        if copy is False:
            return np.asarray(self._table, dtype=dtype, copy=False)
        return np.array(self._table, dtype=dtype)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Answer):
            return NotImplemented
        same_labels = (self.variables, self.states) == (other.variables, other.states)
        return same_labels and np.array_equal(self._table, other._table, equal_nan=True)

    def __hash__(self) -> int:
        return hash((self.variables, self.states, self._table.tobytes()))

    def __reduce__(self) -> Any:
        basis = self._basis
        spread = basis.spread and partial(_known_spread, *basis.spread())
        share = basis.share() if callable(basis.share) else basis.share
        return Answer, (self._table, basis._replace(heading=self.title, spread=spread, share=share))

    def __copy__(self) -> Answer:
        return self

    def __deepcopy__(self, memo: object) -> Answer:
        return self

    def __repr__(self) -> str:
        if len(self.variables) != 1:
            return f"<{self.title}: {counted(len(self), 'probability', 'probabilities')}>"
        shown = [f"{state} {probability(value)}" for state, value in self.items()]
        return f"<{self.title}: {first_of(shown, MAX_STATES_IN_LINE)}>"

    def __str__(self) -> str:
        return labelled(self).text()

    def _repr_html_(self) -> str:
        return labelled(self).html()

    def to_frame(self, library: Library | None = None, *, tidy: bool = True) -> Any:
        """The probabilities as a dataframe: a row for each cell, or a column for each state.

        The tidy frame also has the ends of intervals (low, high) and bounds (lowest, highest).
        It is of pandas where that is installed, otherwise of PyArrow, unless ``library`` says
        which: "pandas", "polars" or "pyarrow".
        """
        return labelled(self).frame(library, tidy=tidy)


class Answers(ByName[Answer]):
    """The answers on several variables, by variable."""


def basis_of(answer: Answer) -> AnswerBasis:
    """What an answer is about and what it rests on."""
    return answer._basis


def notes_of(answer: Answer) -> list[str]:
    """What must be read with the numbers."""
    share = answer.unsupported or 0
    notes = [resting(share)] if share >= SHOWN_SHARE else []
    if basis_of(answer).takes_edges_as_known:
        notes.append(EDGES_AS_KNOWN)
    if basis_of(answer).search_falls_short:
        notes.append(SEARCH_FALLS_SHORT)
    return notes


def legend_of(answer: Answer) -> list[str]:
    """What the columns beside the probabilities are."""
    basis = basis_of(answer)
    lines = []
    if answer.level is not None:
        lines.append(interval_legend(answer.level, is_credible=basis.is_credible))
    if basis.lacks_intervals:
        lines.append("No intervals: learn with intervals=True (--intervals).")
    if answer.bounds is not None:
        kind = "" if answer.bounds_are_exact else "outer bounds, perhaps too wide: "
        lines.append(f"lowest, highest: {kind}over all {basis.bounds_over}")
    return lines


def labelled(answer: Answer) -> Labelled:
    """An answer with what stands beside and below it when it is printed."""
    ends = interval_columns(None if answer.level is None else answer.interval)
    if answer.bounds is not None:
        ends |= {"lowest": answer.bounds.low, "highest": answer.bounds.high}
    return Labelled(
        answer.title,
        answer.variables,
        answer.states,
        answer.probabilities,
        columns=columns_beside(answer.variables, ends),
        legend=(*notes_of(answer), *legend_of(answer)),
    )


def at_states(answer: Answer, states: Mapping[str, str]) -> Answer:
    """The answer of these states alone; their variables keep an axis of length one."""
    return _cut(answer, states, keeps_axes=True) if states else answer


def _without(answer: Answer, states: Mapping[str, str]) -> Answer:
    """What is left of an answer where some of its variables have these states."""
    return _cut(answer, states, keeps_axes=False)


def _cut(answer: Answer, states: Mapping[str, str], *, keeps_axes: bool) -> Answer:
    basis = basis_of(answer)
    cells = _places(basis, states, keeps_axes=keeps_axes)
    kept = [
        (name, (states[name],) if name in states else declared)
        for name, declared in zip(basis.scope, basis.states, strict=True)
        if keeps_axes or name not in states
    ]
    changed: dict[str, Any] = {
        "heading": _stated(basis.title, states),
        "scope": tuple(name for name, _ in kept),
        "states": tuple(declared for _, declared in kept),
    }
    if basis.bounds is not None:
        changed["bounds"] = Bounds(basis.bounds.low[cells], basis.bounds.high[cells])
    if isinstance(basis.share, np.ndarray):
        share = basis.share[cells[: basis.share.ndim]]
        changed["share"] = share if share.ndim else float(share)
    if basis.spread is not None:
        changed["spread"] = partial(_spread_at, basis.spread, cells)
    return Answer(answer.probabilities[cells], basis._replace(**changed))


def _places(
    basis: AnswerBasis, states: Mapping[str, str], *, keeps_axes: bool = False
) -> tuple[Any, ...]:
    """The place along each axis where a state is named, all of the axis where none is."""
    cells: list[Any] = []
    for name, declared in zip(basis.scope, basis.states, strict=True):
        if name not in states:
            cells.append(slice(None))
            continue
        index = declared.index(states[name])
        cells.append(slice(index, index + 1) if keeps_axes else index)
    return tuple(cells)


def _declared(name: str, state: object, declared: Sequence[str]) -> str:
    """The state that is meant, written as in data."""
    if type(state) is str and state in declared:
        return state
    written = as_declared(spelled(state), declared)
    if written not in declared:
        is_place = isinstance(state, int) and not isinstance(state, bool)
        by_place = ""
        if is_place:
            by_place = f"; answer.probabilities[{state}] is a number by its place"
        raise NetworkError.no_such_state(name, str(state), declared, by_place)
    return written


def _stated(heading: str, states: Mapping[str, str]) -> str:
    """What is asked, with the states of some variables that stood without one.

    >>> _stated("P(Rain, Wet | Age, Sex=f)", {"Wet": "yes", "Age": "old"})
    'P(Rain, Wet=yes | Age=old, Sex=f)'
    """
    for name, state in states.items():
        bare = rf"((?:^|[(,|])\s*){re.escape(name)}(?=\s*(?:[,|)]|$))"
        if match := re.search(bare, heading):
            written = f"{match[1]}{assigned(name, state)}"
            heading = f"{heading[: match.start()]}{written}{heading[match.end() :]}"
    return heading


def answer_table(
    answers: Sequence[Answer], title: str, scope: Scope, states: StatesOfScope
) -> Answer:
    """Answers of one kind as one: a row for each configuration of the variables of ``scope``."""
    first = basis_of(answers[0])
    shape = tuple(map(len, states))

    def stacked(rows: Iterable[Any]) -> FloatArray:
        cells = np.stack([np.asarray(row) for row in rows])
        return cells.reshape(*shape, *cells.shape[1:])

    def spread() -> tuple[FloatArray, FloatArray]:
        intervals = stacked(answer.interval for answer in answers)
        return intervals, stacked(answer.standard_error for answer in answers)

    shares = [share for answer in answers if (share := answer.unsupported) is not None]
    bounds = [answer.bounds for answer in answers if answer.bounds is not None]
    basis = first._replace(
        heading=title,
        scope=(*scope, *first.scope),
        states=(*states, *first.states),
        share=np.reshape(shares, shape) if shares else None,
        bounds=Bounds(*map(stacked, zip(*bounds, strict=True))) if bounds else None,
        bounds_are_exact=all(answer.bounds_are_exact for answer in answers) if bounds else None,
        spread=None if first.level is None else spread,
    )
    return Answer(stacked(answers), basis)


def _spread_at(spread: Spread, cells: tuple[Any, ...]) -> tuple[FloatArray, FloatArray]:
    """The intervals and the standard errors of some cells."""
    interval, error = spread()
    return interval[cells], error[cells]


def _known_spread(interval: FloatArray, error: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Intervals and standard errors that were computed."""
    return interval, error


def resting(share: float) -> str:
    """The share of an answer that no data support, in words.

    >>> resting(0.4)
    '40.0% of the answer rests on CPT rows that no data support'
    """
    return f"{share:.1%} of the answer rests on CPT rows that no data support"


def title(
    scope: Sequence[str],
    evidence: Mapping[str, object],
    do: Mapping[str, object],
    each: Sequence[str] = (),
    each_do: Sequence[str] = (),
) -> str:
    """What is asked, as it is written; of ``each`` and ``each_do`` all states are given or set.

    >>> title(["Y"], {"Z": "a"}, {"X": "yes"})
    'P(Y | do(X=yes), Z=a)'
    >>> title(["Y"], {"Age": ">=60"}, {})
    'P(Y | Age>=60)'
    """
    fixed = ", ".join([*each_do, *(assigned(name, state) for name, state in do.items())])
    given = [f"do({fixed})"] if fixed else []
    given += [*each, *(assigned(name, state) for name, state in evidence.items())]
    return conditional(", ".join(scope), given)
