r"""How far CPT rows that no data support could move an answer.

With all other rows fixed, :math:`\Pr(y \mid e)` is a quotient of two functions that
are linear in any one row, so its extremes lie where each row without data puts all its weight on
one state. Such a choice is a *selector*: a further parent of the family, with a state for each
state of the child. One calibration over the target and all selectors holds the answers to all
choices. With many rows only those that weigh most become selectors, and the rest are bounded from
outside: what passes through them has some weight between zero and

.. math:: M = \Pr(e_0) - \Pr(e_0, S),

where :math:`e_0` is the evidence that does not lie below them, and may go to :math:`y` as a whole
or not at all:

.. math::
    \frac{\Pr(y, e, S)}{\Pr(e, S) + M} \le \Pr(y \mid e) \le \frac{\Pr(y, e, S) + M}{\Pr(e, S) + M}.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lacunet.inference.answer import Bounds
from lacunet.inference.errors import OverBudgetError
from lacunet.inference.joint import ANY, JointQuestion, pose_question
from lacunet.network.network import FloatArray, Mask, Network, Scope

MOST_CHOICES = 2**12  # of states for rows without data that are all tried
MAX_SELECTOR_CELLS = 2**22  # of a CPT with its selectors


def _bare_rows(question: JointQuestion) -> dict[str, Mask]:
    """For each family that the answer depends on, the rows without data that evidence allows."""
    network = question.network
    bare_of = {}
    for name in question.children:
        if name in network.masked_of and network.support is not None:
            allowed = tuple([question.seen.get(parent, ANY) for parent in network.parents(name)])
            bare = np.zeros(network.support[name].shape, dtype=np.bool_)
            bare[allowed] = ~network.support[name][allowed]
            if bare.any():
                bare_of[name] = bare
    return bare_of


def _masked(tables: Mapping[str, FloatArray], bare_of: Mapping[str, Mask]) -> dict[str, FloatArray]:
    """Tables with zeros in some of their rows."""
    return {name: np.where(bare[..., None], 0.0, tables[name]) for name, bare in bare_of.items()}


@dataclass(frozen=True)
class CptRow:
    """A row of a CPT: the variable, and the positions of its parents' states."""

    variable: str
    index: tuple[int, ...]

    def open_states(self, network: Network) -> NDArray[np.int64]:
        """The positions of the states that are possible here."""
        return np.flatnonzero(network.possible(self.variable)[self.index])


def masks_of(rows: Iterable[CptRow], network: Network) -> dict[str, Mask]:
    """Some rows of CPTs as masks, by variable."""
    mask_of: dict[str, Mask] = {}
    for row in rows:
        shape = network.shape(network.parents(row.variable))
        mask_of.setdefault(row.variable, np.zeros(shape, dtype=np.bool_))[row.index] = True
    return mask_of


def bounds_over_bare_rows(
    question: JointQuestion, most_choices: int = MOST_CHOICES
) -> tuple[Bounds, bool]:
    """The lowest and highest answer to a question with one scope; whether they are reached.

    Parameters
    ----------
    most_choices
        How many combinations of states for rows without data are all tried.

    Examples
    --------
    >>> heart = Network(
    ...     {"Age": ["kid", "adult"], "MI": ["no", "yes"]},
    ...     {"MI": ["Age"]},
    ...     {"Age": [0.4, 0.6], "MI": [[0.5, 0.5], [0.95, 0.05]]},
    ... ).with_support({"Age": 1000, "MI": [0, 600]})
    >>> bounds, is_exact = bounds_over_bare_rows(pose_question(heart, [("MI",)]))
    >>> bounds.low.round(6).tolist(), bounds.high.round(6).tolist(), is_exact
    ([0.57, 0.03], [0.97, 0.43], True)
    """
    rows = _rows_that_matter(question)
    (scope,) = question.scopes
    while True:
        chosen = _first(rows, question.network, most_choices)
        try:
            low, high, _ = _by_choice(question, chosen, rows[len(chosen) :])
        except OverBudgetError:
            if not chosen:
                raise
            most_choices //= 8
            continue
        extremes = low.min(axis=-1), high.max(axis=-1)
        bounds = Bounds(*(question.with_seen(bound, scope) for bound in extremes))
        return bounds, len(chosen) == len(rows)


def _rows_that_matter(question: JointQuestion) -> list[CptRow]:
    """The rows without data that can be passed through, those with most weight first."""
    network = question.network
    bare_of = _bare_rows(question)
    families = [network.parents(name) for name in bare_of]
    even = {name: table.copy() for name, table in (network.tables_of or {}).items()}
    for name, bare in bare_of.items():  # whatever the rows hold: what can be reached at all
        possible = network.possible(name)
        even[name][bare] = (possible / possible.sum(axis=-1, keepdims=True))[bare]
    evened = network.with_tables(even)
    reach, weights = (
        pose_question(variant, families, question.evidence, question.budget).answers
        for variant in (evened, network)
    )
    weighted = []
    for name, reached, weight in zip(bare_of, reach, weights, strict=True):
        for index in map(tuple, np.argwhere(bare_of[name] & (reached > 0)).tolist()):
            weighted.append((float(weight[index]), CptRow(name, index)))
    return [row for _, row in sorted(weighted, key=lambda pair: -pair[0])]


def _first(rows: Sequence[CptRow], network: Network, most: int) -> list[CptRow]:
    """As many rows as make at most so many choices, with CPTs that stay of a size."""
    choices = 1
    cells_of = {row.variable: network.cpt(row.variable).table.size for row in rows}
    for number, row in enumerate(rows):
        states = len(row.open_states(network))
        choices *= states
        cells_of[row.variable] *= states
        if choices > most or cells_of[row.variable] > MAX_SELECTOR_CELLS:
            return list(rows[:number])
    return list(rows)


def _by_choice(
    question: JointQuestion, chosen: Sequence[CptRow], left: Sequence[CptRow]
) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
    """The lowest and highest answer by each choice that the evidence allows, and the choices.

    The axes are those of what is not seen, then the choices, numbered with the last row fastest.
    """
    (scope,) = question.scopes
    wide, selectors = _with_selectors(question.network, chosen)
    open_scope = tuple(name for name in scope if name not in question.seen)
    asked = pose_question(wide, [(*open_scope, *selectors)], question.evidence, question.budget)
    scale = asked.calibration.log_total
    axes = len(open_scope)
    bare_of = masks_of(left, wide)
    tables = _masked(wide.tables_of or {}, bare_of)
    supported = _weights(asked, tables, axes, scale)  # P(y, e, S) for each choice
    extra = _most_weight(asked, bare_of, axes, scale)  # M
    total = supported.sum(axis=tuple(range(axes))) + extra
    possible = np.flatnonzero(total > 0)
    low = supported[..., possible] / total[possible]
    high = (supported + extra)[..., possible] / total[possible]
    return low, high, possible


@dataclass(frozen=True)
class ExtremeRows:
    """The CPT rows without data that an answer depends on, as they make it lowest and highest."""

    rows: tuple[CptRow, ...]
    # For each cell of the answer a state for each row, on which it puts all its weight; -1 where
    # a cell is decided by what was seen.
    lowest: NDArray[np.int64]
    highest: NDArray[np.int64]  # the same where it is highest


def extreme_rows(question: JointQuestion) -> ExtremeRows | None:
    """What `bounds_over_bare_rows` are reached by; None where they are outer bounds.

    Examples
    --------
    >>> heart = Network(
    ...     {"Age": ["kid", "adult"], "MI": ["no", "yes"]},
    ...     {"MI": ["Age"]},
    ...     {"Age": [0.4, 0.6], "MI": [[0.5, 0.5], [0.95, 0.05]]},
    ... ).with_support({"Age": 1000, "MI": [0, 600]})
    >>> extreme_rows(pose_question(heart, [("MI",)])).highest.tolist()
    [[0], [1]]
    """
    rows = _rows_that_matter(question)
    chosen = _first(rows, question.network, MOST_CHOICES)
    if len(chosen) < len(rows):
        return None
    try:
        answers, _, possible = _by_choice(question, chosen, ())
    except OverBudgetError:
        return None
    (scope,) = question.scopes
    states = [row.open_states(question.network) for row in chosen]
    picked = np.unravel_index(possible, [len(free) for free in states])
    choices = np.stack([free[pick] for free, pick in zip(states, picked, strict=True)], axis=-1)
    cells = tuple(question.seen.get(name, slice(None)) for name in scope)
    ends = []
    for best in (answers.argmin(axis=-1), answers.argmax(axis=-1)):
        picks = np.full((*question.network.shape(scope), len(chosen)), -1)
        picks[cells] = choices[best]
        ends.append(picks)
    return ExtremeRows(tuple(chosen), *ends)


def _with_selectors(network: Network, rows: Sequence[CptRow]) -> tuple[Network, Scope]:
    """The network in which a selector chooses the state that each of some rows puts all weight on.

    Selectors are roots with even odds.
    """
    states_of = dict(network.states_of)
    parents_of = dict(network.parents_of)
    tables_of: dict[str, FloatArray] = dict(network.tables_of or {})
    selectors = []
    for number, row in enumerate(rows):
        name = f"selector {number}"
        while name in states_of:
            name += "'"
        free = row.open_states(network)
        states = network.states(row.variable)
        table = tables_of[row.variable]
        wider = np.repeat(table[..., None, :], len(free), axis=-2)
        # whatever the other selectors of the family choose
        wider[row.index] = np.eye(len(states))[free]
        states_of[name] = tuple(states[state] for state in free)
        tables_of[name] = np.full(len(free), 1 / len(free))
        parents_of[row.variable] = (*parents_of[row.variable], name)
        tables_of[row.variable] = wider
        selectors.append(name)
    return Network(states_of, parents_of, tables_of), tuple(selectors)


def _weights(
    question: JointQuestion, tables: Mapping[str, FloatArray], axes: int, log_scale: float
) -> FloatArray:
    """The weight of each answer and choice: the first axes, then all choices on one."""
    calibrated = question.calibrated(tables) if tables else question.calibration
    (scope,) = question.scopes
    shape = question.network.shape(scope)
    if calibrated.log_total == -math.inf:
        return np.zeros((*shape[:axes], math.prod(shape[axes:])))
    weights = calibrated.marginals[0] * math.exp(calibrated.log_total - log_scale)
    return np.asarray(weights.reshape(*shape[:axes], -1))


def _most_weight(
    question: JointQuestion, bare_of: Mapping[str, Mask], axes: int, log_scale: float
) -> FloatArray:
    """The most weight that can pass through some rows, for each choice."""
    network = question.network
    below = [
        name
        for name in question.children
        if name in question.seen and _is_below(network, name, bare_of, question.seen)
    ]
    anything = {name: np.ones(network.cpt(name).table.shape) for name in below}
    nothing = _masked({**(network.tables_of or {}), **anything}, bare_of)
    both = [
        _weights(question, tables, axes, log_scale).sum(axis=tuple(range(axes)))
        for tables in (anything, {**anything, **nothing})
    ]
    return np.asarray(np.maximum(both[0] - both[1], 0.0))


def _is_below(
    network: Network, name: str, families: Mapping[str, object], seen: Mapping[str, int]
) -> bool:
    """Whether a variable is a child of one of the families, or hangs on one by unseen variables."""
    waiting = [name]
    known = {name}
    while waiting:
        variable = waiting.pop()
        if variable in families:
            return True
        fresh = [p for p in network.parents(variable) if p not in seen and p not in known]
        known.update(fresh)
        waiting += fresh
    return False
