"""The answer to a query: an array of probabilities that knows what it rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from html import escape
from typing import Any, NamedTuple

import numpy as np

from lacunet.errors import LacunetError
from lacunet.inference.errors import QueryError
from lacunet.model.labelled import (
    Labelled,
    Library,
    States,
    columns_beside,
    interval_columns,
    interval_legend,
)
from lacunet.model.network import FloatArray, NetworkError, Scope
from lacunet.model.spelling import TRUTH_WORDS, as_declared, number_of, spelled
from lacunet.wording import assigned, conditional, in_quotes

LEVEL = 0.95  # of intervals, if no other is asked for
SHOWN_SHARE = 0.0005  # what a percentage with one digit would round to 0.0
EDGES_AS_KNOWN = (
    "the edges were learned from rows, and the intervals take them as known: they may be too narrow"
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


Share = float | None | Callable[[], float | None]


class Bounds(NamedTuple):
    """The lowest and the highest value of each cell of an answer."""

    low: FloatArray
    high: FloatArray


class AnswerBasis(NamedTuple):
    """What an answer is about and what it rests on; the fields are those of `Answer`.

    ``heading`` is what is asked as it is written, or what writes it; ``share`` is the share
    without support, or what computes it; ``spread`` computes the intervals and the standard errors
    when somebody looks at them; ``lacks_intervals`` says that learning could have given them;
    ``takes_edges_as_known`` that the edges were learned, and that intervals do not count the search
    for them. What takes long is computed once.
    """

    heading: str | Callable[[], str]
    scope: Scope
    states: States
    share: Share = None
    level: float | None = None
    bounds: Bounds | None = None
    bounds_are_exact: bool | None = None
    bounds_over: str = "values of the CPT rows without data"
    spread: Callable[[], tuple[FloatArray, FloatArray]] | None = None
    lacks_intervals: bool = False
    takes_edges_as_known: bool = False

    @property
    def title(self) -> str:
        """What is asked, as it is written."""
        return self.heading() if callable(self.heading) else self.heading


class Answer(np.ndarray[Any, np.dtype[np.float64]]):
    """The answer to a query: probabilities, an axis for each variable asked about.

    Before these come the axes of what is given without a state, as Age in ``P(Ill | Age)``.
    It is an array; whatever is computed from it is a plain one. Printed, it is labelled. States may
    be named in place of numbers: ``answer["yes"]``, of two variables ``answer["yes", "no"]`` or
    ``answer[{"Rain": "yes"}]``. Where states are numbers, a number that could be a state or a place
    is refused: ``answer["1"]`` is the state, ``np.asarray(answer)[1]`` the place.

    Attributes
    ----------
    unsupported
        The share of the answer that rests on CPT rows without data: the posterior probability
        of passing through one; of several rows, the largest. None where the network does not know
        what supports it.
    interval
        The interval of each cell (axes of the answer, then low and high); computed when it is
        looked at or printed. Where learning gave none, to look at it is an error.
    level
        The level of the intervals; None where there are none.
    standard_error
        The standard error of each cell, where there are intervals.
    bounds
        The lowest and the highest answer over all values of the CPT rows without data, if
        they were asked for; of what a missingness graph does not recover, over all models that fit
        the data. ``bounds_are_exact`` is False where they may be too wide.

    Examples
    --------
    >>> basis = AnswerBasis("P(Coin)", ("Coin",), (("head", "tail"),))
    >>> answer = Answer.of(np.array([0.25, 0.75]), basis)
    >>> print(answer)
    P(Coin)
      head    tail
    0.2500  0.7500
    >>> float(answer["tail"])
    0.75
    >>> answer * 2
    array([0.5, 1.5])
    """

    _basis: AnswerBasis | None

    @classmethod
    def of(cls, table: FloatArray, basis: AnswerBasis) -> Answer:
        """The table, with what it is about."""
        array = np.asarray(table, dtype=np.float64).view(cls)
        array._basis = basis
        return array

    def __array_finalize__(self, parent: object) -> None:
        self._basis = None

    def __array_wrap__(
        self, array: Any, context: object = None, return_scalar: bool = False
    ) -> Any:
        return array[()] if return_scalar else np.asarray(array)

    def __getitem__(self, key: Any) -> Any:
        """What numpy would give; a state may be named in place of its number."""
        if isinstance(key, Mapping):
            key = self._of_each_axis(key)
        parts = key if isinstance(key, tuple) else (key,)
        are_plain = all(isinstance(part, str | int | slice) for part in parts)
        is_known = self._basis is not None and len(parts) <= self.ndim
        if any(isinstance(part, str) for part in parts) or (are_plain and is_known):
            key = tuple(map(self._number, range(len(parts)), parts))
        return np.asarray(self)[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(np.asarray(self))  # by place, whatever the states are

    def _of_each_axis(self, states: Mapping[str, object]) -> tuple[Any, ...]:
        """The state of each variable, or all of them where none is named."""
        if strangers := [name for name in states if name not in self.scope]:
            raise LacunetError(
                f"{strangers[0]!r} is not a variable of {self.basis.title}.",
                f"name states of {', '.join(self.scope)}.",
            )
        return tuple(
            as_declared(spelled(states[name]), declared) if name in states else slice(None)
            for name, declared in zip(self.scope, self.states, strict=True)
        )

    def _number(self, axis: int, part: Any) -> Any:
        """The number of a state that is named; places and slices stay as they are."""
        if isinstance(part, bool) and axis < self.ndim:
            part = as_declared(str(part), self.states[axis])
        elif isinstance(part, int) and axis < self.ndim:
            return self._index(axis, part)
        if isinstance(part, (int, slice)):
            return part
        if axis >= self.ndim or not isinstance(part, str):
            raise LacunetError(
                f"{part!r} does not say a state of what is asked about.",
                f"name one state for each of {', '.join(self.scope)}, or : for all.",
            )
        states = self.states[axis]
        if part not in states:
            raise NetworkError.no_such_state(self.scope[axis], part, states)
        return states.index(part)

    def _index(self, axis: int, number: int) -> int:
        """The number, unless it may be meant as another state than the one at that place."""
        states = self.states[axis]
        label = states[number] if 0 <= number < len(states) else None
        is_only = len(states) == 1 and number == 0
        is_same = label is not None and label.lower() in (str(number), str(number == 1).lower())
        names_number = any(_is_whole(state) or state.lower() in TRUTH_WORDS for state in states)
        if not names_number or is_same or is_only:
            return number
        named = str(number) if str(number) in states else states[0]
        raise LacunetError(
            f"{number} may be a state of {self.scope[axis]}, whose states are "
            f"{', '.join(states)}, or a place in the array.",
            f'write answer["{named}"] for a state, np.asarray(answer)[{number}] for a place.',
        )

    def __float__(self) -> float:
        if self.size == 1 or self._basis is None:
            return float(np.asarray(self).item())
        last = {name: states[-1] for name, states in zip(self.scope, self.states, strict=True)}
        named = ", ".join(map(in_quotes, last.values()))
        raise TypeError(
            f"{self.basis.title} is {self.size:,} numbers, not one\n"
            f"Hint: ask {in_quotes(self.at_states(last).basis.title)}, or take answer[{named}]."
        )

    def at_states(self, states: Mapping[str, str]) -> Answer:
        """The answer of these states alone; their variables keep an axis of length one."""
        if not states:
            return self
        basis, axes = self.basis, [*zip(self.scope, self.states, strict=True)]
        kept = [(states[name],) if name in states else declared for name, declared in axes]
        both = zip(kept, self.states, strict=True)
        cut = np.ix_(*([declared.index(state) for state in some] for some, declared in both))
        names = [assigned(name, states[name]) if name in states else name for name in self.scope]
        rest = basis.title.removeprefix(f"P({', '.join(self.scope)}")
        basis = basis._replace(heading=f"P({', '.join(names)}{rest}", states=tuple(kept))
        if basis.bounds is not None:
            basis = basis._replace(bounds=Bounds(basis.bounds.low[cut], basis.bounds.high[cut]))
        if (spread := basis.spread) is not None:
            basis = basis._replace(spread=lambda: _spread(*spread(), cut))
        return Answer.of(np.asarray(self)[cut], basis)

    def __reduce__(self) -> Any:
        if self._basis is None:
            return np.asarray(self).__reduce__()
        spread = self._basis.spread and partial(_spread, *self._basis.spread())
        title, share = self._basis.title, self.unsupported
        basis = self._basis._replace(heading=title, spread=spread, share=share)
        return Answer.of, (np.array(self), basis)

    def __copy__(self) -> Answer:
        copied = self.copy()
        copied._basis = self._basis
        return copied

    def __deepcopy__(self, memo: object) -> Answer:
        return self.__copy__()

    @property
    def basis(self) -> AnswerBasis:
        """What the answer is about and what it rests on."""
        if self._basis is None:
            raise LacunetError(
                "this array was computed from an answer, and does not know what it rests on.",
                "look at the answer itself.",
            )
        return self._basis

    @property
    def scope(self) -> Scope:
        """The variables asked about, one for each axis."""
        return self.basis.scope

    @property
    def states(self) -> States:
        """The states along each axis."""
        return self.basis.states

    @property
    def unsupported(self) -> float | None:
        """The share of the answer that rests on CPT rows without data; None if not known."""
        share = self.basis.share
        return share() if callable(share) else share

    @property
    def interval(self) -> FloatArray:
        """The interval of each cell: axes of the answer, then low and high."""
        return self._spread()[0]

    @property
    def level(self) -> float | None:
        """The level of the intervals; None where there are none."""
        return self.basis.level

    @property
    def standard_error(self) -> FloatArray:
        """The standard error of each cell."""
        return self._spread()[1]

    def _spread(self) -> tuple[FloatArray, FloatArray]:
        if self.basis.spread is None:
            raise QueryError(*(NO_INTERVALS if self.basis.lacks_intervals else NOT_LEARNED))
        return self.basis.spread()

    @property
    def bounds(self) -> Bounds | None:
        """The lowest and the highest answer over all that the data leave open."""
        return self.basis.bounds

    @property
    def bounds_are_exact(self) -> bool | None:
        """Whether the bounds are reached; False where they may be too wide."""
        return self.basis.bounds_are_exact

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows: a row for each cell."""
        return self._labelled().cells()

    def notes(self) -> list[str]:
        """What must be read with the numbers."""
        share = self.unsupported or 0
        notes = [resting(share)] if share >= SHOWN_SHARE else []
        if self.basis.takes_edges_as_known:
            notes.append(EDGES_AS_KNOWN)
        return notes

    def legend(self) -> list[str]:
        """What the columns beside the probabilities are."""
        lines = []
        if self.level is not None:
            lines.append(interval_legend(self.level))
        if self.basis.lacks_intervals:
            lines.append("No intervals: learn with intervals=True (--intervals).")
        if self.bounds is not None:
            kind = "" if self.bounds_are_exact else "outer bounds, perhaps too wide: "
            lines.append(f"lowest, highest: {kind}over all {self.basis.bounds_over}")
        return lines

    def _labelled(self) -> Labelled:
        ends = interval_columns(None if self.level is None else self.interval)
        if self.bounds is not None:
            ends |= {"lowest": self.bounds.low, "highest": self.bounds.high}
        basis = self.basis
        return Labelled(
            basis.title,
            basis.scope,
            basis.states,
            np.asarray(self),
            columns=columns_beside(self.scope, ends),
            legend=(*self.notes(), *self.legend()),
        )

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return repr(np.asarray(self)) if self._basis is None else self._labelled().text()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>" if self._basis is None else self._labelled().html()

    def to_frame(self, library: Library = "pandas", *, tidy: bool = True) -> Any:
        """The probabilities as a dataframe: a row for each cell, or a column for each state.

        The tidy frame also has the ends of intervals (low, high) and bounds (lowest, highest).
        """
        return self._labelled().frame(library, tidy=tidy)


def table_of(answers: Sequence[Answer], title: str, scope: Scope, states: States) -> Answer:
    """Answers of one kind as one: a row for each configuration of the variables of ``scope``."""
    first, shape = answers[0].basis, tuple(map(len, states))

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
        share=max(shares, default=None),
        bounds=Bounds(*map(stacked, zip(*bounds, strict=True))) if bounds else None,
        bounds_are_exact=all(answer.bounds_are_exact for answer in answers) if bounds else None,
        spread=None if first.level is None else spread,
    )
    return Answer.of(stacked(answers), basis)


def _is_whole(state: str) -> bool:
    number = number_of(state)
    return number is not None and number == number.to_integral_value()


def _spread(
    interval: FloatArray, error: FloatArray, cut: Any = slice(None)
) -> tuple[FloatArray, FloatArray]:
    """The intervals and the standard errors of some cells."""
    return interval[cut], error[cut]


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
