"""What values in data mean: codes, and questions that some were not asked.

A *code* of a variable stands for one state (a label), for one of several (a set), or for nothing
known (missing). A *rule* says when a question was not asked: there the variable has a state of its
own, and nowhere else. Both travel with the network, so that later data are read the same way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.errors import LacunetError
from lacunet.network.spelling import spelled
from lacunet.text import did_you_mean, listed

NOT_ASKED = "not_asked"  # the usual name of the state; every format can carry it
MOST_CASES = 2**20  # combinations of states that a rule may look at

# What a code means: a state, one of several states (in the order of all), or None: missing.
Meaning = str | tuple[str, ...] | None
StatesOf = Mapping[str, tuple[str, ...]]
CodesOf = Mapping[str, Mapping[str, Meaning]]
Truth = NDArray[np.bool_]


class DictionaryError(LacunetError):
    """Codes or rules that cannot be meant."""


def checked_codes(
    states_of: StatesOf, codes: Mapping[str, Mapping[Any, Any]]
) -> dict[str, dict[str, Meaning]]:
    """The meaning of each code of each variable, by its spelling.

    Examples
    --------
    >>> states = {"Age": ("0-39", "40-49", "50+"), "Smoke": ("no", "yes")}
    >>> checked_codes(states, {"Age": {"40+": ["50+", "40-49"]}, "Smoke": {7.0: None, 2: "no"}})
    {'Age': {'40+': ('40-49', '50+')}, 'Smoke': {'7': None, '2': 'no'}}
    """
    checked: dict[str, dict[str, Meaning]] = {}
    for name, given in codes.items():
        _refuse_stranger("codes are given for", name, states_of)
        if meanings := by_spelling(name, given):
            checked[name] = {
                code: _meaning(name, code, meaning, states_of[name])
                for code, meaning in meanings.items()
            }
    return checked


def _refuse_stranger(problem: str, name: str, variables: Iterable[str]) -> None:
    if name not in variables:
        hint = did_you_mean(name, variables)
        raise DictionaryError(f"{problem} {name!r}, which is not a variable.", hint)


def by_spelling(name: str, codes: Any) -> dict[str, object]:
    """What each code of a variable is said to mean, by its spelling."""
    if not isinstance(codes, Mapping):
        raise DictionaryError(
            f"the codes of {name!r} are not a mapping from codes to what they mean.",
            f"write codes={{{name!r}: {{9: None, 1: 'yes'}}}}.",
        )
    meaning_of: dict[str, object] = {}
    for code, meaning in codes.items():
        if _named(meaning_of.setdefault(spelled(code), meaning)) != _named(meaning):
            raise DictionaryError(
                f"the code {code!r} of {name!r} is said to mean both "
                f"{meaning_of[spelled(code)]!r} and {meaning!r}.",
                "codes are compared by value: 9, 9.0 and '9' are one.",
            )
    return meaning_of


def _meaning(name: str, code: object, meaning: object, states: Sequence[str]) -> Meaning:
    if meaning is None:
        return None
    named = _named(meaning)
    strangers = sorted(named - set(states))
    if strangers or not named:
        raise DictionaryError(
            f"the code {code!r} of {name!r} is said to mean {listed(strangers) or 'none of them'}, "
            f"but the states are {list(states)}.",
            did_you_mean("".join(strangers[:1]), states) or "name states, or None for missing.",
        )
    ordered = tuple(state for state in states if state in named)
    if len(ordered) == len(states) and len(states) > 1:
        return None
    return ordered[0] if len(ordered) == 1 else ordered


def _named(meaning: object) -> frozenset[str]:
    """The states that a meaning names; none for what is missing, or an empty set."""
    if meaning is None:
        return frozenset()
    several = meaning if isinstance(meaning, list | tuple | set | frozenset) else [meaning]
    return frozenset(state if isinstance(state, str) else spelled(state) for state in several)


def sets_among(states: Sequence[str], meanings: Iterable[Meaning]) -> tuple[tuple[int, ...], ...]:
    """The distinct sets of several states that codes mean, as places of the states."""
    sets = {
        tuple(states.index(state) for state in meaning)
        for meaning in meanings
        if isinstance(meaning, tuple)
    }
    return tuple(sorted(sets))


def align_axes(
    array: NDArray[Any], scope: Sequence[Hashable], names: Sequence[Hashable]
) -> NDArray[Any]:
    """An array over ``scope`` with the axes of ``names``, of length one where it has none."""
    moved = array.transpose([scope.index(name) for name in names if name in scope])
    sizes = iter(moved.shape)
    return moved.reshape([next(sizes) if name in scope else 1 for name in names])


@dataclass(frozen=True)
class NotAsked:
    """When a question was not asked, and the state that a variable has there."""

    when: str  # the rule, as it is typed
    state: str
    scope: tuple[str, ...] = field(compare=False)  # the variables that the rule looks at
    truth: Truth = field(compare=False)  # whether it holds, with an axis for each of these

    def can_occur(self, names: Sequence[str], variable: str, states: Sequence[str]) -> Truth:
        """Which states of some variables do not contradict the rule of ``variable``, one of them.

        Whatever else the rule looks at may have any state. The axis of a variable that it does
        not look at has length one.
        """
        elsewhere = tuple(axis for axis, name in enumerate(self.scope) if name not in names)
        scope = [*(name for name in self.scope if name in names), variable]
        can_hold, can_fail = (
            np.asarray(truth.any(axis=elsewhere))[..., None] for truth in (self.truth, ~self.truth)
        )
        allowed = np.where(np.array(states) == self.state, can_hold, can_fail)
        return align_axes(allowed, scope, names)


def checked_rules(
    states_of: StatesOf, parents_of: StatesOf, not_asked: Mapping[str, object]
) -> dict[str, NotAsked]:
    """The rule of each variable that has any."""
    rules = {}
    for name, given in not_asked.items():
        _refuse_stranger("not_asked={...} names", name, states_of)
        when, state = when_and_state(name, given)
        if state not in states_of[name]:
            raise DictionaryError(
                f"variable {name!r} has no state {state!r} for those who were not asked, only "
                f"{list(states_of[name])}.",
                "add it to the states, or name another: "
                f"not_asked={{{name!r}: ({when!r}, 'STATE')}}.",
            )
        scope, truth = parsed_rule(when, states_of)
        if name in scope:
            raise DictionaryError(
                f"the rule for {name!r}, {when!r}, looks at {name!r} itself.",
                "name what decides whether the question is asked.",
            )
        if strangers := [other for other in scope if other not in parents_of[name]]:
            edges = "; ".join(f"{other} -> {name}" for other in strangers)
            raise DictionaryError(
                f"the rule for {name!r}, {when!r}, looks at what is no parent of {name!r}: "
                f"{listed(strangers)}.",
                f"add the edges {edges}: who is asked depends on them.",
            )
        rules[name] = NotAsked(when, state, scope, truth)
    return rules


def when_and_state(name: str, given: object) -> tuple[str, str]:
    """A rule as it may be given: its text, or its text and the name of the state."""
    if isinstance(given, str):
        return given, NOT_ASKED
    if isinstance(given, NotAsked):
        return given.when, given.state
    if isinstance(given, Sequence) and len(given) == 2 and all(isinstance(t, str) for t in given):
        return given[0], given[1]
    raise DictionaryError(
        f"the rule for {name!r} is {given!r}.",
        f"write not_asked={{{name!r}: 'Other=state'}}, or ('Other=state', 'name of the state').",
    )


def mentions(text: str, name: str) -> bool:
    """Whether a rule seems to look at a variable.

    Examples
    --------
    >>> mentions("Age=young or not Ever Smoked = no", "Ever Smoked"), mentions("Page=1", "Age")
    (True, False)
    """
    return re.search(rf"(?<!\w)['\"]?{re.escape(name)}['\"]?\s*!?=", text) is not None


def parsed_rule(text: str, states_of: StatesOf) -> tuple[tuple[str, ...], Truth]:
    """The variables that a rule looks at, and whether it holds for each of their states.

    A rule is made of ``X=state`` and ``X!=state`` by ``and``, ``or``, ``not`` and parentheses.
    Names are known, so they need no quotes unless they could be read in two ways.

    Examples
    --------
    >>> states = {"Age": ("<20", ">=20"), "Smoked": ("no", "yes")}
    >>> scope, truth = parsed_rule("Age=<20 or not (Smoked=yes)", states)
    >>> scope, truth.tolist()
    (('Age', 'Smoked'), [[True, True], [True, False]])
    """
    parser = _Parser(text, states_of)
    rule = parser.whole()
    scope = tuple(name for name in states_of if name in parser.mentioned)
    shape = [len(states_of[name]) for name in scope]
    if np.prod(shape, dtype=float) > MOST_CASES:
        raise DictionaryError(f"the rule {text!r} looks at too many combinations of states.")
    axes = dict(zip(scope, np.indices(shape), strict=True))
    return scope, np.asarray(rule(axes), dtype=bool)


# Where it holds, by the place of its state that each variable has.
_Rule = Callable[[Mapping[str, NDArray[np.int64]]], Truth]


class _Parser:
    """Reads a rule from left to right; names are looked for among those that there are."""

    def __init__(self, text: str, states_of: StatesOf) -> None:
        self.text = text
        self.states_of = states_of
        self.position = 0
        self.mentioned: set[str] = set()

    def whole(self) -> _Rule:
        rule = self._any()
        self._skip()
        if self.position < len(self.text):
            raise self._wrong("'and', 'or' or the end")
        return rule

    def _any(self) -> _Rule:
        return self._joined("or", lambda: self._joined("and", self._factor))

    def _joined(self, word: str, part: Callable[[], _Rule]) -> _Rule:
        """Parts with a word between them."""
        parts = [part()]
        reduce = {"or": np.logical_or.reduce, "and": np.logical_and.reduce}[word]
        while self._takes(rf"{word}\b(?!\s*!?=)"):
            parts.append(part())
        return lambda axes: reduce([part(axes) for part in parts])

    def _factor(self) -> _Rule:
        if self._takes(r"not\b(?!\s*!?=)"):
            rule = self._factor()
            return lambda axes: ~rule(axes)
        if self._takes(r"\("):
            rule = self._any()
            if not self._takes(r"\)"):
                raise self._wrong("a closing parenthesis")
            return rule
        return self._comparison()

    def _comparison(self) -> _Rule:
        name = self._name(self.states_of, "the name of a variable", r"\s*!?=")
        self.mentioned.add(name)
        is_unequal = self._takes("!=")
        if not is_unequal:
            self._takes("=")  # which follows, for the name was found before one of the two
        states = self.states_of[name]
        state = self._name(states, f"a state of {name!r}, one of {list(states)}", r"\s|\)|$")
        index = states.index(state)
        if is_unequal:
            return lambda axes: axes[name] != index
        return lambda axes: axes[name] == index

    def _name(self, names: Iterable[str], expected: str, end: str) -> str:
        """The longest of the names that stands here, quoted or not."""
        self._skip()
        rest = self.text[self.position :]
        for name in sorted(names, key=len, reverse=True):
            for written in (name, f'"{name}"', f"'{name}'"):
                if rest.startswith(written) and re.match(end, rest[len(written) :]):
                    self.position += len(written)
                    return name
        raise self._wrong(expected)

    def _takes(self, pattern: str) -> bool:
        match = re.compile(rf"\s*{pattern}", re.IGNORECASE).match(self.text, self.position)
        self.position = match.end() if match else self.position
        return match is not None

    def _skip(self) -> None:
        self.position = len(self.text) - len(self.text[self.position :].lstrip())

    def _wrong(self, expected: str) -> DictionaryError:
        here = self.text[self.position :].strip() or "the end"
        return DictionaryError(
            f"the rule {self.text!r} is not understood at {here!r}: expected {expected}.",
            "write conditions such as 'Smoked=no and not Age=young'.",
        )
