r"""The states that are seen, set or asked about: values are read as those of data are.

Of a variable may be seen

- its state, as data have it: ``"40-59"``, or a number in an interval, or a code;
- that it has one of several states: ``["40-59", "60+"]``, or a code that means several;
- a comparison, where the states are numbers or intervals of numbers, ``">=60"``, or periods of
  dates, ``"<2024Q3"``;
- how likely what was observed is in each of its states: ``{"pos": 0.8, "neg": 0.2}``. This is
  *likelihood evidence* (also: virtual evidence; J. Pearl 1988): it multiplies the odds that all
  else gives by the ratios of these numbers, whose sum does not matter. It does not say what the
  probabilities are to be afterwards (Jeffrey's rule).

All but the first are a likelihood :math:`\lambda(x)` of each state, for several states 1 and 0:

.. math:: \Pr(y \mid e) \propto \sum_x \Pr(y, x, e') \lambda(x).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import date
from decimal import Decimal
from itertools import pairwise
from typing import TypeGuard

import numpy as np

from lacunet.data.matching import is_null, known_matcher
from lacunet.network.dates import ends_of, unit_of
from lacunet.network.errors import NetworkError
from lacunet.network.network import Network
from lacunet.network.spelling import number_of
from lacunet.text import assigned, finite_number, first_of, listed

UNSEEN = "; leave the variable out if it was not observed"
MOST_BORDERS = 8  # named in an error
_COMPARISON = re.compile(r"\s*(>=|<=|>|<)\s*(\S+)\s*")

Likelihood = tuple[float, ...]  # of each state of a variable


def codes_seen(
    network: Network, evidence: Mapping[str, object], otherwise: str = UNSEEN
) -> dict[str, int]:
    """The index of each state seen; what is missing was not seen.

    ``otherwise`` is what to do where no state is meant, as the hint on an unknown one ends.
    """
    seen, likelihoods = states_and_likelihoods(network, evidence, otherwise)
    for name in likelihoods:
        raise NetworkError(
            f"{assigned(name, evidence[name])} is not one state of {name!r}.",
            f"name one of {listed(network.states(name))}.",
        )
    return seen


def states_and_sets(
    network: Network, cells: Mapping[str, object], otherwise: str = UNSEEN
) -> tuple[dict[str, int], dict[str, tuple[int, ...]]]:
    """The places of the states that cells of data mean, and of those that codes for several mean.

    Examples
    --------
    >>> ages = Network({"Age": ["<40", "40-49", "50+"]}, codes={"Age": {"40+": ["40-49", "50+"]}})
    >>> states_and_sets(ages, {"Age": "40+"}), states_and_sets(ages, {"Age": "50+"})
    (({}, {'Age': (1, 2)}), ({'Age': 2}, {}))
    """
    seen: dict[str, int] = {}
    sets: dict[str, tuple[int, ...]] = {}
    for name, value in cells.items():
        states = network.states(name)
        if type(value) is str and value in states:  # as it nearly always is
            seen[name] = states.index(value)
            continue
        places = _places_of(network, name, value)
        if places is None:
            raise NetworkError.no_such_state(name, str(value), states, otherwise)
        if len(places) == 1:
            seen[name] = places[0]
        elif places:
            sets[name] = places
    return seen, sets


def states_and_likelihoods(
    network: Network, evidence: Mapping[str, object], otherwise: str = UNSEEN
) -> tuple[dict[str, int], dict[str, Likelihood]]:
    """The index of each state seen, and the likelihoods of the states where none is certain.

    Examples
    --------
    >>> network = Network({"Age": ["<40", "40-49", "50+"], "Test": ["neg", "pos"]})
    >>> states_and_likelihoods(network, {"Age": ["40-49", "50+"], "Test": "pos"})
    ({'Test': 1}, {'Age': (0.0, 1.0, 1.0)})
    >>> states_and_likelihoods(network, {"Test": {"pos": 0.8, "neg": 0.2}})
    ({}, {'Test': (0.2, 0.8)})
    """
    seen: dict[str, int] = {}
    likelihoods: dict[str, Likelihood] = {}
    for name, value in evidence.items():
        states = network.states(name)
        if type(value) is str and value in states:  # as it nearly always is
            seen[name] = states.index(value)
            continue
        likelihood = _likelihood(network, name, value, otherwise)
        possible = np.flatnonzero(likelihood)
        if len(possible) == 1:
            seen[name] = int(possible[0])
        elif likelihood:
            likelihoods[name] = likelihood
    return seen, likelihoods


def _likelihood(network: Network, name: str, value: object, otherwise: str) -> Likelihood:
    """The likelihood of each state; nothing where the variable was not seen."""
    states = network.states(name)
    if isinstance(value, Mapping):
        return _likelihood_given(network, name, value, otherwise)
    if is_several(value):
        return _among(network, _one_of(network, name, value, otherwise), name)
    places = _places_of(network, name, value)
    if places is None and isinstance(value, str) and (comparison := _COMPARISON.fullmatch(value)):
        places = _left_by(network, name, comparison[1], comparison[2])
    if places is None:
        raise NetworkError.no_such_state(name, str(value), states, otherwise)
    return _among(network, places, name)


def is_several(value: object) -> TypeGuard[Collection[object]]:
    """Whether evidence is a collection of states: a list, a tuple, a set or an array."""
    return isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)


def _among(network: Network, places: Collection[int], name: str) -> Likelihood:
    """One for each of the states at some places; nothing where there are none."""
    if not places:
        return ()
    return tuple([float(index in places) for index in range(network.cardinality(name))])


def _places_of(network: Network, name: str, value: object) -> tuple[int, ...] | None:
    """The places of the states that a cell of data means: none if it is missing.

    None is returned for what means nothing here.
    """
    states = network.states(name)
    codes = tuple(network.codes_of.get(name, {}).items())
    matcher = known_matcher(states, cuts=tuple(network.cuts_of.get(name, ())), codes=codes)
    match = matcher.match(value)
    if match.is_refused:
        return None
    if match.code > len(states):
        return matcher.sets[match.code - len(states) - 1]
    return (match.code,) if match.code < len(states) else ()


def _one_of(network: Network, name: str, values: Iterable[object], otherwise: str) -> set[int]:
    """The places of the states that several values mean together."""
    places: set[int] = set()
    for value in values:
        likelihood = () if is_null(value) else _likelihood(network, name, value, otherwise)
        if not likelihood:
            raise NetworkError(
                f"one of the states that {name!r} may have is missing: {value!r}.",
                f"name states among {listed(network.states(name))}{otherwise}.",
            )
        places |= {index for index, number in enumerate(likelihood) if number}
    if not places:
        raise NetworkError(
            f"{name!r} is given no state: one of none.",
            f"name states among {listed(network.states(name))}{otherwise}.",
        )
    return places


def _likelihood_given(
    network: Network, name: str, value: Mapping[object, object], otherwise: str
) -> Likelihood:
    """What likelihood evidence says of each state."""
    states = network.states(name)
    likelihood = dict.fromkeys(range(len(states)), -1.0)  # below zero: not given yet
    for state, number in value.items():
        places = _places_of(network, name, state) or ()
        if len(places) != 1:
            raise NetworkError.no_such_state(name, str(state), states, otherwise)
        weight = finite_number(number)
        if weight is None or weight < 0 or likelihood[places[0]] >= 0:
            raise NetworkError(
                f"the likelihood of {assigned(name, states[places[0]])} is {number!r}, but must be "
                "one number from 0 on.",
                f"as in {{{states[0]!r}: 0.8, {states[-1]!r}: 0.2}}: how likely what was observed "
                "is in each state.",
            )
        likelihood[places[0]] = weight
    if absent := [states[index] for index, weight in likelihood.items() if weight < 0]:
        raise NetworkError(
            f"the likelihood of {name!r} is not given for {listed(absent)}.",
            "give one for each state; 0 rules a state out.",
        )
    if not any(likelihood.values()):
        raise NetworkError(
            f"every state of {name!r} has the likelihood 0, which nothing can show.",
            "give a likelihood above 0 to a state.",
        )
    return tuple(likelihood.values())


def _left_by(network: Network, name: str, sign: str, text: str) -> tuple[int, ...] | None:
    """The places of the states that a comparison leaves; None if this compares with nothing."""
    period = ends_of(text)
    number = number_of(text)
    rule = network.not_asked_of.get(name)
    asked = [state for state in network.states(name) if rule is None or state != rule.state]
    if period is not None and unit_of(asked) is not None:
        border = period[0] if sign in (">=", "<") else period[1]
        return _periods_left(network, name, sign, text, border)
    return None if number is None else _compared(network, name, sign, number)


def _periods_left(
    network: Network, name: str, sign: str, text: str, border: date
) -> tuple[int, ...]:
    """The places of the periods that a comparison leaves, none of which it may divide."""
    left = []
    for index, state in enumerate(network.states(name)):
        ends = ends_of(state)
        if ends is None:  # the state of a question that was not asked
            continue
        if ends[0] < border < ends[1]:
            raise NetworkError(
                f"{assigned(name, f'{sign}{text}')} divides {state!r}, so the states do not tell.",
                f"compare with a state, as in {assigned(name, f'>={state}')}.",
            )
        if (ends[0] >= border) == sign.startswith(">"):
            left.append(index)
    return _some_left(network, name, f"{sign}{text}", tuple(left))


def _some_left(
    network: Network, name: str, comparison: str, places: tuple[int, ...]
) -> tuple[int, ...]:
    """The places that a comparison leaves, if there are any."""
    if not places:
        raise NetworkError(
            f"no state of {name!r} is left by {assigned(name, comparison)}.",
            f"its states are {listed(network.states(name))}.",
        )
    return places


def _compared(network: Network, name: str, sign: str, number: Decimal) -> tuple[int, ...]:
    """The places of the states that a comparison leaves."""
    states = network.states(name)
    cuts = network.cuts_of.get(name, ())
    written = assigned(name, f"{sign}{number}")
    if cuts:
        places = _intervals_left(network, name, sign, number)
    else:
        numbers = [number_of(state) for state in states]
        if any(value is None for value in numbers):
            raise NetworkError(
                f"{written} compares with a number, but the states of {name!r} are not numbers.",
                f"name them, as in {assigned(name, list(states[:2]))}.",
            )
        holds = _COMPARED[sign]
        places = tuple([i for i, v in enumerate(numbers) if v is not None and holds(v, number)])
    return _some_left(network, name, f"{sign}{number}", places)


_COMPARED = {
    ">=": Decimal.__ge__,
    "<": Decimal.__lt__,
    ">": Decimal.__gt__,
    "<=": Decimal.__le__,
}


def _intervals_left(network: Network, name: str, sign: str, number: Decimal) -> tuple[int, ...]:
    """The places of the intervals that a comparison leaves, none of which it may divide.

    An interval holds its left end, the last one its right end too.
    """
    cuts = network.cuts_of[name]
    value = float(number)
    includes_end = sign in (">", "<=")  # of what is on the lower side
    left = []
    for index, (low, high) in enumerate(pairwise(cuts)):
        # Whether the interval has a part below the number, and no part from there on.
        is_closed = index == len(cuts) - 2
        starts_below = low <= value if includes_end else low < value
        ends_below = high < value if is_closed and not includes_end else high <= value
        if starts_below != ends_below:
            raise _divided_interval(network, name, sign, number, network.states(name)[index])
        if starts_below == (sign in ("<", "<=")):
            left.append(index)
    return tuple(left)


def _divided_interval(
    network: Network, name: str, sign: str, number: Decimal, state: str
) -> NetworkError:
    """What to say of a comparison that divides an interval: the nearest that divides none."""
    borders = network.cuts_of[name][1:-1]
    example = "another number"
    if borders:
        nearest = min(borders, key=lambda border: abs(border - float(number)))
        with_left_end = {">": ">=", "<=": "<"}.get(sign, sign)
        example = assigned(name, f"{with_left_end}{nearest:g}")
    listed_borders = first_of([f"{border:g}" for border in borders], MOST_BORDERS)
    return NetworkError(
        f"{assigned(name, f'{sign}{number}')} divides the interval {state!r}, so the states do "
        "not tell.",
        f"an interval holds its left end: write {example}; the borders are {listed_borders}.",
    )


def likelihoods_of(network: Network, evidence: Mapping[str, object]) -> dict[str, Likelihood]:
    """The likelihood of each state of all variables that something was seen of."""
    seen, likelihoods = states_and_likelihoods(network, evidence)
    return {name: _among(network, (code,), name) for name, code in seen.items()} | likelihoods


def places_seen(network: Network, evidence: Mapping[str, object]) -> dict[str, tuple[int, ...]]:
    """The places of the states that each variable seen may have."""
    seen, likelihoods = states_and_likelihoods(network, evidence)
    possible = {name: np.flatnonzero(weights).tolist() for name, weights in likelihoods.items()}
    return {
        **{name: (code,) for name, code in seen.items()},
        **{name: tuple(places) for name, places in possible.items()},
    }


def evidence_written(network: Network, evidence: Mapping[str, object]) -> dict[str, object]:
    """Evidence as it is written, which may be read again; not what was not seen.

    A state is its name. Comparisons and codes for several states are kept, several states are a
    list, and likelihoods a mapping.

    Examples
    --------
    >>> network = Network({"Age": ["<40", "40-49", "50+"], "Test": ["0", "1"]})
    >>> evidence_written(network, {"Age": ("50+", "<40"), "Test": {1: 4, 0: 1}})
    {'Age': ['<40', '50+'], 'Test': {'0': 1.0, '1': 4.0}}
    """
    seen, likelihoods = states_and_likelihoods(network, evidence)
    written: dict[str, object] = {}
    for name, value in evidence.items():
        states = network.states(name)
        if name in seen:
            written[name] = states[seen[name]]
        elif name in likelihoods:
            both = zip(states, likelihoods[name], strict=True)
            if isinstance(value, Mapping):
                written[name] = dict(both)
            elif is_several(value):
                written[name] = [state for state, weight in both if weight]
            else:
                comparison = _COMPARISON.fullmatch(str(value))
                written[name] = "".join(comparison.groups()) if comparison else str(value).strip()
    return written


def state_named(network: Network, variable: str, value: object) -> str:
    """The state that a value names, read as data and evidence are; what is missing names none."""
    code = codes_seen(network, {variable: value}, otherwise="").get(variable)
    if code is None:
        raise NetworkError.no_such_state(variable, str(value), network.states(variable))
    return network.states(variable)[code]
