r"""Worst-case bounds: what the data say if nothing is assumed about why values are missing.

Whatever the missing values are, the frequencies that the complete rows would have given lie
between these bounds (C. F. Manski, "Partial Identification of Probability Distributions",
2003; for conditions missing as well, M. Ramoni and P. Sebastiani, 2001). The rows are a sample:
the bounds have standard errors, and intervals that cover the parameter wherever it lies between
them (`lacunet.missingness.identified.set_intervals`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.counts import quotient
from lacunet.counts.distinct_rows import Rows
from lacunet.counts.folds import folds_of
from lacunet.counts.gather import Gathering, Needs
from lacunet.counts.observations import Observations, replicates
from lacunet.counts.open_rows import open_rows
from lacunet.data.query_text import names_and_states, split_query
from lacunet.data.table import allowed_states
from lacunet.errors import LacunetError
from lacunet.learning.uncertainty.jackknife import replicate_variance
from lacunet.limits import Memory
from lacunet.missingness.identified.set_intervals import covering
from lacunet.network.arguments import clear_arguments
from lacunet.network.formats.files import NetworkOrEdges
from lacunet.network.labelled_tables import probability
from lacunet.network.network import FloatArray, Network, Scope
from lacunet.text import assigned, conditional, counted
from lacunet.text_tables import Displayed, TextTable

CELLS_LOOKED_AT_ONCE = 2**22  # of all rows that are looked at together


@dataclass(frozen=True, repr=False)
class WorstCase(Displayed):
    """The lowest and highest value of every cell of P(target | given), axes given... then target.

    It unpacks into ``low`` and ``high``, and prints with its ``states``. Their standard errors are
    ``low_error`` and ``high_error``, with so many ``degrees`` of freedom; `interval` allows for
    both.
    """

    title: str
    scope: Scope
    states: tuple[tuple[str, ...], ...]
    low: FloatArray
    high: FloatArray
    low_error: FloatArray
    high_error: FloatArray
    degrees: float = np.inf

    def __repr__(self) -> str:
        return f"<WorstCase: {self.title}, {counted(self.low.size, 'range')}>"

    def _parts(self) -> Iterator[object]:
        ends = zip(self.low.ravel().tolist(), self.high.ravel().tolist(), strict=True)
        cells = zip(product(*self.states), ends, strict=True)
        rows = [[*states, *map(probability, pair)] for states, pair in cells]
        yield f"{self.title}, whatever the missing values are"
        yield TextTable([*self.scope, "low", "high"], rows, left=len(self.scope))

    def __iter__(self) -> Iterator[FloatArray]:
        return iter((self.low, self.high))

    def of_states(self, state_of: Mapping[str, str], title: str) -> WorstCase:
        """Those of some states alone: each of these axes has one entry then."""
        kept = []
        indices = []
        for name, states in zip(self.scope, self.states, strict=True):
            left = (state_of[name],) if name in state_of else states
            kept.append(left)
            indices.append([states.index(state) for state in left])
        cells = np.ix_(*indices)
        return replace(
            self,
            title=title,
            states=tuple(kept),
            low=self.low[cells],
            high=self.high[cells],
            low_error=self.low_error[cells],
            high_error=self.high_error[cells],
        )

    def interval(self, level: float = 0.95) -> FloatArray:
        """Intervals that cover the parameter: the axes of the bounds, then low and high."""
        errors = self.low_error, self.high_error
        return covering(self.low, self.high, *errors, level, self.degrees)


@clear_arguments
def worst_case(
    network: NetworkOrEdges,
    data: Any,
    query: str,
    *,
    memory: Memory = None,
) -> WorstCase:
    """The worst-case bounds on the probabilities of a query, whatever the missing values are.

    A missing cell may hold any state, with two limits. A cell that is known to be one of several
    states holds one of these. And rows keep to the rules on questions that were not asked: those of
    the variables of the query, and of the variables that these rules look at. Other rules are not
    used, so the bounds may be wider than they need to be.

    Parameters
    ----------
    network
        Gives the variables, their states and rules; its edges are ignored.
    data
        What `learn` takes: a path, a dataframe of any library, `lacunet.Data`, ... Clusters and
        replicate weights change the standard errors, not the bounds.
    query
        Variables, and those that are given: ``"Ill"``, ``"Ill | Age"``. The bounds are those of all
        states; with states, as in ``"Ill=yes | Age=old"``, of these alone.
    memory
        The budget in bytes, or such as ``"500MB"``; by default half of the memory there is.

    Returns
    -------
    A value that prints, with the bounds as ``low`` and ``high``. Their standard errors, which are
    not printed, are ``low_error`` and ``high_error``; ``interval()`` allows for both.

    Examples
    --------
    Three say no, one says yes, four do not answer.

    >>> from lacunet import Network
    >>> rows = {"Ill": ["no"] * 3 + ["yes"] + [None] * 4}
    >>> print(worst_case(Network({"Ill": ["no", "yes"]}), rows, "Ill"))
    P(Ill), whatever the missing values are
    Ill     low    high
    no   0.3750  0.8750
    yes  0.1250  0.6250
    """
    opened = open_rows("worst_case", network, data, memory)
    model = opened.network
    target, given, state_of = _asked(model, query)
    scope: Scope = (*given, *target)
    if twice := [name for index, name in enumerate(scope) if name in scope[:index]]:
        raise LacunetError(f"the query names {twice[0]!r} more than once.", "name it once.")
    for name in scope:
        model.known(name)  # refuses other names
    with opened.rows() as rows:
        whole = _bounds_of_rows(rows, model, target, given)
    return _in_states(whole, target, given, state_of)


def _bounds_of_rows(rows: Observations, network: Network, target: Scope, given: Scope) -> WorstCase:
    """The bounds; their standard errors are from replicates where rows come from a design."""
    look = rows.look()
    columns = network.with_rule_variables((*given, *target))
    # Distinct rows: counts would take a cell that is one of several states as missing.
    needs = Needs((), rows=(columns,), folds=folds_of(0, 0, look.units))
    gathering = Gathering(needs, network, scale=look.scale)
    statistics = rows.gather(gathering)
    whole = bounds(statistics.sample(0).distinct[columns], network, target, given)
    if look.units is None:
        return whole
    again = replicates(
        look.units, statistics, lambda index: rows.gather(replace(gathering, replicate=index))
    )
    parts = [bounds(sample.distinct[columns], network, target, given) for sample in again.samples]

    def error(values: list[FloatArray], centre: FloatArray) -> FloatArray:
        return np.sqrt(replicate_variance(np.array(values), again.scales, centre))

    return replace(
        whole,
        low_error=error([part.low for part in parts], whole.low),
        high_error=error([part.high for part in parts], whole.high),
        degrees=again.degrees,
    )


def _in_states(
    whole: WorstCase, target: Scope, given: Scope, state_of: Mapping[str, str]
) -> WorstCase:
    """The bounds of the states that the query names; all of them where it names none."""
    if not state_of:
        return whole

    def in_words(names: Scope) -> list[str]:
        return [assigned(name, state_of[name]) if name in state_of else name for name in names]

    return whole.of_states(state_of, conditional(", ".join(in_words(target)), in_words(given)))


def _asked(network: Network, query: str) -> tuple[Scope, Scope, dict[str, str]]:
    """The variables left and right of the bar, and the states of those that are named with one."""
    if not isinstance(query, str):
        raise LacunetError(f"the query is {query!r}, but must be text.", 'as in "Ill | Age".')
    typed = split_query(query)
    if typed.do:
        raise LacunetError(
            f"the query {query!r} sets a variable, which these bounds do not answer.",
            "leave do(...) out.",
        )
    left, states_left = names_and_states(typed.target, network)
    right, states_right = names_and_states(typed.given, network)
    if not left:
        raise LacunetError(f"the query {query!r} names no variable.", 'as in "Ill | Age".')
    return tuple(left), tuple(right), {**states_left, **states_right}


def bounds(rows: Rows, network: Network, target: Scope, given: Scope = ()) -> WorstCase:
    r"""The lowest and highest frequency of every cell over all completions of the rows.

    .. math::
        \frac{n(x, u)}{n(x, u) + c(\bar x, u)} \;\le\; \theta(x \mid u) \;\le\;
        \frac{c(x, u)}{c(x, u) + n(\bar x, u)}

    :math:`n` is the weight of the rows that show the configuration, :math:`c` that of the
    rows that do not contradict it. Where no row need have the conditions' states :math:`u`, those
    that may have them count as one row if none of them can be :math:`x`, or all must: the share is
    0, or 1, in every completion that has :math:`u`. Where none may have them, the bounds are 0 and
    1. Each bound is the share f of one part in two, whose rows have the weight w and the squared
    weights s together; its variance is :math:`f (1 - f) s / w^2`, with f drawn a little to the
    middle, as by one row more in either part. Where one state alone can occur it is 0 or 1.

    Parameters
    ----------
    rows
        Distinct rows over at least the targets and the conditions.
    network
        Says which states of variables occur together.
    """
    scope = (*given, *target)
    sums = _sums_by_axes if network.can_occur(rows.scope).all() else _sums_by_completions
    of_weights = sums(rows, rows.tally.weights, network, scope, len(target))
    of_squares = sums(rows, rows.tally.squares, network, scope, len(target))
    # Each with the weights first and their squares second.
    surely, against, agrees, surely_not = map(np.stack, zip(of_weights, of_squares, strict=True))
    low, low_error = _share(_with_one_row(surely, agrees, against), against, 0.0)
    high, high_error = _share(agrees, _with_one_row(surely_not, against, agrees), 1.0)
    possible = network.can_occur(scope)
    others = tuple(range(len(given), len(scope)))
    choices = possible.sum(axis=others, keepdims=True)
    # By rules: one state alone can occur, or this one cannot.
    is_decided = (choices == 1) | (~possible & (choices > 0))
    return WorstCase(
        title=conditional(", ".join(target), given),
        scope=scope,
        states=tuple(map(network.states, scope)),
        low=np.where(is_decided, possible, low),
        high=np.where(is_decided, possible, high),
        low_error=np.where(is_decided, 0.0, low_error),
        high_error=np.where(is_decided, 0.0, high_error),
    )


# Of the rows: those that show (x, u), n(x, u); may have (not x, u), c(not x, u); may have (x, u),
# c(x, u); and show (not x, u), n(not x, u).
Sums = tuple[FloatArray, FloatArray, FloatArray, FloatArray]
Masks = NDArray[np.bool_]  # whether each code of a variable allows each state


def _sums_by_axes(
    rows: Rows, values: FloatArray, network: Network, scope: Scope, targets: int
) -> Sums:
    """The sums axis by axis: where all can occur, what rows allow one variable is left to each."""
    sets = [allowed_states(network.cardinality(v), rows.sets_of.get(v, ())) for v in scope]
    only = [allows & (allows.sum(axis=1, keepdims=True) == 1) for allows in sets]
    whole = np.zeros([len(allows) for allows in sets])
    np.add.at(whole, tuple(rows.column(name) for name in scope), values)
    axes = tuple(range(whole.ndim))
    conditions = axes[: whole.ndim - targets]
    last = axes[whole.ndim - targets :]
    shown = _by_states(whole, only, conditions)
    may = _by_states(whole, sets, conditions)
    return (
        _by_states(shown, only, last),
        may.sum(axis=last, keepdims=True) - _by_states(may, only, last),
        _by_states(may, sets, last),
        shown.sum(axis=last, keepdims=True) - _by_states(shown, sets, last),
    )


def _by_states(whole: FloatArray, sets: Sequence[Masks], axes: Sequence[int]) -> FloatArray:
    """The rows whose codes along some axes allow each state."""
    for axis in axes:
        summed = np.tensordot(whole, sets[axis].astype(np.float64), axes=(axis, 0))
        whole = np.moveaxis(summed, -1, axis)
    return whole


def _sums_by_completions(
    rows: Rows, values: FloatArray, network: Network, scope: Scope, targets: int
) -> Sums:
    """The sums over what each distinct row allows all variables together."""
    shape = network.shape(scope)
    given = int(np.prod(shape[: len(shape) - targets]))
    parts = np.zeros((4, int(np.prod(shape))))
    step = max(1, CELLS_LOOKED_AT_ONCE // int(np.prod(network.shape(rows.scope))))
    for start in range(0, len(values), step):
        here = slice(start, start + step)
        cells = _completions(rows, network, scope, here).reshape(-1, given, parts.shape[1] // given)
        within = cells.sum(axis=2, keepdims=True)  # completions of each row that have u
        every = within.sum(axis=1, keepdims=True)
        is_given = (within == every) & (every > 0)
        masks = (cells & (every == 1), within > cells, cells, ~cells & is_given)
        parts += [values[here] @ mask.reshape(len(cells), -1) for mask in masks]
    surely, against, agrees, surely_not = parts.reshape(4, *shape)
    return surely, against, agrees, surely_not


def _completions(rows: Rows, network: Network, scope: Scope, here: slice) -> NDArray[np.bool_]:
    """For some rows, which cells of a table over ``scope`` a completion can have."""
    number = len(rows.weights[here])
    possible = np.repeat(network.can_occur(rows.scope)[None], number, axis=0)
    for axis, name in enumerate(rows.scope):
        sets = allowed_states(rows.size(name), rows.sets_of.get(name, ()))
        after = (1,) * (len(rows.scope) - axis - 1)
        possible &= sets[rows.column(name)[here]].reshape(number, *(1,) * axis, -1, *after)
    others = tuple(1 + axis for axis, name in enumerate(rows.scope) if name not in scope)
    left = [name for name in rows.scope if name in scope]
    axes = [1 + left.index(name) for name in scope]
    return np.asarray(possible.any(axis=others)).transpose(0, *axes)


def _with_one_row(shown: FloatArray, may: FloatArray, rest: FloatArray) -> FloatArray:
    """The rows that show a part, or one of those that may have it where nothing else is there.

    As all sums here, with their weights and their squared weights on the first axis.
    """
    row = quotient(may[1], may[0])
    return np.where((rest[0] == 0) & (shown[0] == 0), [row, row**2], shown)


def _share(part: FloatArray, rest: FloatArray, otherwise: float) -> tuple[FloatArray, FloatArray]:
    """The share of one part in two, and its standard error."""
    total, squares = part + rest
    row = quotient(squares, total)
    drawn = quotient(part[0] + row, total + 2 * row, 0.5)
    error = quotient(np.sqrt(drawn * (1 - drawn) * squares), total)
    return quotient(part[0], total, otherwise), error
