"""What data seem to say and nobody has declared: codes for missing, questions not asked.

Nothing is taken from here; it is proposed, as the code that would declare it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import Codes, Columns, whole_rows
from lacunet.network.network import FloatArray, Network
from lacunet.network.spelling import number_of
from lacunet.text import counted, in_shell, keyed

# Numbers that stand for "refused", "don't know" and the like at the end of a scale.
ABOVE = frozenset(map(Decimal, (7, 8, 9, 77, 88, 97, 98, 99, 777, 888, 999, 7777, 8888, 9999)))
BELOW = frozenset(map(Decimal, (-1, -2, -7, -8, -9, -77, -88, -99, -777, -888, -999, -9999)))
WORDS_FOR_MISSING = re.compile(
    r"-+|refused|refusal|don'?t know|do not know|dk|d/k|unk(?:nown)?|missing|not (?:stated|"
    r"available|answered|reported|recorded|known)|no (?:answer|response|data)|inapplicable|iap|"
    r"n\.?k\.?|n\.?a\.?|n\.?r\.?|nil",
    re.IGNORECASE,
)
READ_OTHERWISE = re.compile(r"\(|not\b", re.IGNORECASE)  # names of variables, in a rule
FEWEST_VALUES = 3  # of a column of numbers, beside which one may be far off
FEWEST_WORDS = 2  # states that are no numbers, beside which a number is odd
ROWS_FOR_A_RULE = 20  # that have a state under which another column is always empty
ROWS_LOOKED_AT = 2**16  # that are looked at for this
MOST_ELSEWHERE = 0.5  # of the cells elsewhere may be empty
LEAST_EXPLAINED = 0.5  # of the empty cells have that state
WORTH_OF_PARENT = 0.01  # of being a parent: of rules that explain the same, that of a parent


def suspicious(states: Sequence[str]) -> list[str]:
    """Those of the states that look like codes for missing.

    Examples
    --------
    >>> suspicious(["1", "2", "7", "9"]), suspicious(["7", "8", "9", "10"])
    (['7', '9'], [])
    >>> suspicious(["no", "yes", "Don't know", "-"]), suspicious(["-9", "0", "1"])
    (["Don't know", '-'], ['-9'])
    >>> suspicious(["no", "not recorded", "NR", "unk", "yes"])
    ['not recorded', 'NR', 'unk']
    >>> suspicious(["no", "yes", "9"]), suspicious(["7", "8", "9+"])
    (['9'], [])
    """
    words = [state for state in states if WORDS_FOR_MISSING.fullmatch(state.strip())]
    numbers = {state: number for state in states if (number := number_of(state)) is not None}
    if len(numbers) + len(words) < len(states):
        return words + _odd_among_words(states, numbers)
    low = sorted(number for number in numbers.values() if number < 0)
    scale = sorted(number for number in numbers.values() if number >= 0)
    high: list[Decimal] = []
    while len(scale) > 2 and scale[-1] in ABOVE:
        high.append(scale.pop())
    while high and high[-1] <= scale[-1] + 1:  # the scale itself goes on
        scale.append(high.pop())
    is_both_ways = bool(low) and -low[0] in scale  # such as -2, -1, 0, 1, 2
    if is_both_ways or len(scale) < 2 or not BELOW.issuperset(low):
        low = []
    odd = {*low, *high}
    return [state for state in states if state in words or numbers.get(state) in odd]


def _odd_among_words(states: Sequence[str], numbers: Mapping[str, Decimal]) -> list[str]:
    """The numbers among states that are words, if all of them are usual codes."""
    plain = [state for state in states if not any(char.isdigit() for char in state)]
    are_codes = (ABOVE | BELOW).issuperset(numbers.values())
    return [*numbers] if are_codes and len(plain) >= FEWEST_WORDS else []


def far_off(numbers: NDArray[np.floating]) -> list[str]:
    """Those of the numbers of a column that are usual codes, and far from all others.

    Examples
    --------
    >>> far_off(np.array([18.0, 45.5, 61.0, 80.0, 777.0, 999.0, np.nan, -9.0]))
    ['777', '999', '-9']
    >>> far_off(np.array([70.0, 77.0, 85.0, 99.0]))
    []
    """
    values = np.unique(numbers[np.isfinite(numbers)])
    usual = {float(code): code for code in (*ABOVE, *BELOW)}
    rest = values[[value not in usual for value in values.tolist()]]
    if len(rest) < FEWEST_VALUES:
        return []
    low, high = float(rest[0]), float(rest[-1])
    room = max(high - low, abs(high))
    codes = [value for value in values.tolist() if value in usual]
    above = [value for value in codes if value - high > room]
    below = [value for value in codes if value < 0 <= low]
    return [str(usual[value]) for value in (*above, *below)]


@dataclass(frozen=True)
class Skip:
    """A question that seems not to have been asked under some states of another variable."""

    variable: str
    rule: str
    rows: int  # that have these states, all with an empty cell
    elsewhere: float  # the share of empty cells in the other rows


def skips_in(network: Network, columns: Columns, copies: FloatArray | None = None) -> list[Skip]:
    """For each variable the states of another under which its cells are always empty.

    Parameters
    ----------
    columns
        The codes of each variable; from the number of states on, a cell is empty.
    copies
        How many rows each stands for, one if it is not given.
    """
    names = [name for name in network.variables if name in columns]
    codes = {name: columns[name][:ROWS_LOOKED_AT] for name in names}
    weights = np.ones(len(codes[names[0]])) if copies is None else copies[:ROWS_LOOKED_AT]
    if not weights.all():
        kept = np.flatnonzero(weights)
        codes = {name: column[kept] for name, column in codes.items()}
        weights = weights[kept]

    hidden = np.stack([codes[name] >= network.cardinality(name) for name in names], axis=1)
    total = weights @ hidden
    was_declared = np.array([name in network.not_asked_of for name in names])
    partial = np.flatnonzero(~was_declared & hidden.any(axis=0) & ~hidden.all(axis=0))

    best: dict[int, tuple[float, Skip]] = {}  # by the index of the variable, with its worth
    for cause in names:
        column = codes[cause]
        size = network.cardinality(cause)
        states_of = _states_that_hide(column, size, hidden, weights, partial)
        for index, states in sorted(states_of.items()):
            is_skipped = np.isin(column, states)
            is_other = ~is_skipped & (column < size)
            others = float(weights[is_other].sum())
            if names[index] == cause or others == 0:
                continue
            # A rule explains most of what is hidden, and hides where other states hide little.
            elsewhere = float(weights[hidden[:, index] & is_other].sum()) / others
            rows = whole_rows(float(weights[is_skipped].sum()))
            explained = rows / float(total[index])
            worth = explained + WORTH_OF_PARENT * (cause in network.parents(names[index]))
            is_likely = elsewhere <= MOST_ELSEWHERE and explained >= LEAST_EXPLAINED
            if is_likely and (index not in best or worth > best[index][0]):
                rule = _rule_text(cause, [network.states(cause)[state] for state in states])
                best[index] = (worth, Skip(names[index], rule, rows, elsewhere))
    return [skip for _, (_, skip) in sorted(best.items())]


def _states_that_hide(
    column: Codes,
    size: int,
    hidden: NDArray[np.bool_],
    weights: FloatArray,
    partial: NDArray[np.intp],
) -> dict[int, list[int]]:
    """For each variable, by its index, the states of one column in whose rows it is never shown.

    Parameters
    ----------
    column
        The codes of the column; its states are those below ``size``.
    hidden
        For each row and variable whether its cell is empty.
    partial
        The variables that are looked at.
    """
    states_of: dict[int, list[int]] = {}
    ends = np.cumsum(np.bincount(column))[:-1]
    rows_by_code = np.split(np.argsort(column, kind="stable"), ends)
    for state, rows in enumerate(rows_by_code[:size]):
        if weights[rows].sum() < ROWS_FOR_A_RULE:
            continue
        # A few rows rule out nearly all variables; the others are looked at in all rows.
        few = rows[:: max(len(rows) // ROWS_FOR_A_RULE, 1)]
        left = partial[hidden[np.ix_(few, partial)].all(axis=0)]
        for index in left[hidden[np.ix_(rows, left)].all(axis=0)].tolist():
            states_of.setdefault(index, []).append(state)
    return states_of


def _rule_text(cause: str, states: Sequence[str]) -> str:
    """The rule as it is typed: the variable has one of the states."""
    written = f'"{cause}"' if READ_OTHERWISE.match(cause) else cause
    return " or ".join(f"{written}={state}" for state in states)


def proposals(
    network: Network,
    columns: Columns,
    numbers_of: Mapping[str, NDArray[np.floating]] | None = None,
    copies: FloatArray | None = None,
) -> Iterator[str]:
    """What is proposed for a network and some rows, as the code that would declare it.

    ``numbers_of`` has the numbers of columns that are cut, ``copies`` how many rows each row stands
    for.
    """
    odd_of = {
        name: [s for s in suspicious(network.states(name)) if not _is_declared(network, name, s)]
        for name in network.variables
        if name not in network.cuts_of
    }
    odd_of |= {name: far_off(numbers) for name, numbers in (numbers_of or {}).items()}
    codes_of = {name: codes for name, codes in odd_of.items() if codes}
    if codes_of:
        yield _missing_proposed(codes_of)
    if not columns:
        return
    for skip in skips_in(network, columns, copies):
        key = keyed(skip.variable, ":")
        yield (
            f"{skip.variable!r} is empty in all {counted(skip.rows, 'row')} where {skip.rule}, and "
            f"in {skip.elsewhere:.0%} of the others: it looks like a question that was not asked "
            "there. If so, give "
            f"lacunet.Data(data, not_asked={{{skip.variable!r}: {skip.rule!r}}}) "
            f"(--not-asked {in_shell(f'{key}: {skip.rule}')})."
        )


def _missing_proposed(codes_of: Mapping[str, Sequence[str]]) -> str:
    """The options that would declare codes of some columns as missing."""
    values_of = {name: [*map(_as_code, codes)] for name, codes in codes_of.items()}
    missing = {name: codes[0] if len(codes) == 1 else codes for name, codes in values_of.items()}
    each = "; ".join(f"{name}: {', '.join(codes)}" for name, codes in codes_of.items())
    typed = [in_shell(f"{keyed(name, '=')}={','.join(codes)}") for name, codes in codes_of.items()]
    option = " ".join(f"--missing {text}" for text in typed)
    return (
        f"some values look like codes for missing ones ({each}). If so, give "
        f"lacunet.Data(data, missing={missing!r}) ({option})."
    )


def _is_declared(network: Network, name: str, state: str) -> bool:
    rule = network.not_asked_of.get(name)
    return state in network.codes_of.get(name, {}) or (rule is not None and rule.state == state)


def _as_code(state: str) -> object:
    number = number_of(state)
    return state if number is None or number % 1 else int(number)
