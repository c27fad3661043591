r"""The variance of direct deletion, from sums over groups that add up like counts.

Direct deletion gives :math:`\theta = T_{xu} / T_u` with :math:`T_y = \sum_g n_g P_g(y)` over
the groups :math:`g` of rows that agree on what is conditioned on; :math:`n_g` is the weight of
the group, :math:`m_g` that of its rows that show the family, :math:`P_g` their frequencies.
To first order the error of :math:`\theta` is the mean of :math:`D = 1[x, u] - \theta 1[u]`,
and its variance has two parts: how many rows fell into each group, and which of them show

.. math::
    \mathrm{Var}(\theta) \approx \frac{1}{T_u^2} \sum_g
    \Bigl( n_g d_g^2 + \frac{n_g^2 - n_g}{m_g} v_g \Bigr),

with the mean :math:`d_g` and the unbiased variance :math:`v_g` of :math:`D` among the rows of
:math:`g` that show the family (:math:`n_g d_g^2` alone overstates by :math:`n_g v_g / m_g`,
whence the difference in the numerator). Where all rows show the family this is
:math:`\sum D^2 / T_u^2`, the usual variance of a frequency. A group with one such row has no
variance of its own; :math:`D^2` stands in for it, which overstates.

With :math:`p = P_g(x, u)` and :math:`q = P_g(u)`: :math:`d = p - \theta q` and :math:`E D^2 =
p (1 - 2 \theta) + q \theta^2`. So everything is a polynomial in :math:`\theta` whose coefficients
are sums over groups, which are made in one pass, group by group, and add up.

Groups without a row that shows the family are settled by further steps
(`lacunet.uncertainty.steps`). The same rows then stand in several sums, so not their variances but
their standard errors are added: right if they go together, too large otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from lacunet.model.network import FloatArray, Scope
from lacunet.statistics.counts import Counts, added_up
from lacunet.statistics.distinct import distinct, pack, unpack
from lacunet.uncertainty.spread import Spread
from lacunet.uncertainty.steps import Step


@dataclass(frozen=True)
class Influence:
    r"""Sums over groups that the variance of every entry of a CPT is made of; they add up.

    ``weight`` is :math:`\sum n p`. With :math:`\alpha` and :math:`\beta` the coefficients of
    :math:`d^2` and of :math:`E D^2`: ``cells``, ``cross`` and ``rows`` are :math:`\sum \alpha p^2`,
    :math:`\sum \alpha p q` and :math:`\sum \alpha q^2`; ``inside`` and ``inside_rows`` are
    :math:`\sum \beta p` and :math:`\sum \beta q`. Those of rows have an axis of length one for
    the child.
    """

    weight: FloatArray
    cells: FloatArray
    cross: FloatArray
    rows: FloatArray
    inside: FloatArray
    inside_rows: FloatArray

    def __add__(self, other: Influence) -> Influence:
        return Influence(
            self.weight + other.weight,
            self.cells + other.cells,
            self.cross + other.cross,
            self.rows + other.rows,
            self.inside + other.inside,
            self.inside_rows + other.inside_rows,
        )

    def numerator(self, rates: FloatArray) -> FloatArray:
        r"""The variance times :math:`T_u^2`."""
        means = self.cells - 2 * rates * self.cross + rates**2 * self.rows
        squares = self.inside * (1 - 2 * rates) + rates**2 * self.inside_rows
        return np.asarray(np.maximum(means + squares, 0.0))


def spread(steps: Sequence[Influence], table: FloatArray) -> Spread:
    """The spread of a CPT, as learned, from the sums of each step that settles rows."""
    weight = np.asarray(sum(step.weight for step in steps))
    total = weight.sum(axis=-1, keepdims=True)  # T_u
    rates = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    error = sum(np.sqrt(step.numerator(rates)) for step in steps)
    return Spread.of_variance(table, rates, _divided(np.square(error), total**2), total)


def influence(step: Step, family: Scope, sizes: Sequence[int]) -> Influence:
    """What the groups of rows say about how sure the CPT of a family is.

    Parameters
    ----------
    step
        The groups, and what their rows say of the family's partially observed part.
    family, sizes
        The variables of the family, child last, and their numbers of states.
    """
    shown, states = step.shown, sizes[-1]
    mass, share = shown.groups.weights, step.share  # p
    entered = added_up(shown.group, shown.tally.weights, len(mass))
    square = added_up(shown.group, shown.tally.squares, len(mass))
    place = shown.in_family(family, sizes)
    row = place // states
    pairs, pair = distinct(shown.group * prod(sizes[:-1]) + row, len(mass) * prod(sizes[:-1]))
    in_row = added_up(pair, share, len(pairs))  # q
    group, of_pair = np.divmod(pairs, prod(sizes[:-1]))

    number = mass if step.squares is None else _quotient(mass**2, step.squares)  # n_g
    size = _quotient(entered**2, square)  # m_g
    rest = _quotient(number**2 - number, size)
    unbiased = np.divide(size, size - 1, out=np.ones_like(size), where=size > 1)
    beta = rest * unbiased
    alpha = np.where(size > 1, number - beta, number)
    unit = _quotient(mass, number) ** 2
    alpha, beta = alpha * unit, beta * unit

    def cells(values: FloatArray) -> FloatArray:
        return added_up(place, values, prod(sizes)).reshape(tuple(sizes))

    def rows(values: FloatArray) -> FloatArray:
        summed = added_up(of_pair, values, prod(sizes[:-1]))
        return summed.reshape((*sizes[:-1], 1))

    at = shown.group
    return Influence(
        cells(mass[at] * share),
        cells(alpha[at] * share**2),
        cells(alpha[at] * share * in_row[pair]),
        rows(alpha[group] * in_row**2),
        cells(beta[at] * share),
        rows(beta[group] * in_row),
    )


def _over_child(values: FloatArray) -> FloatArray:
    return np.asarray(values.sum(axis=-1, keepdims=True))


def direct_mcar_spread(counts: Counts, table: FloatArray) -> Spread:
    r"""The spread of a CPT by direct deletion for MCAR data, or listwise deletion.

    .. math::
        \mathrm{Var}(\theta) = \sum w^2 D^2 / n(u)^2

    Parameters
    ----------
    counts
        Counts of the family, child last, missing as a state.
    table
        The CPT, as learned.

    Examples
    --------
    >>> from lacunet.statistics.counts import Counts, Tally
    >>> weights = np.array([30.0, 10.0, 60.0])
    >>> counts = Counts(("Ill",), (2,), np.array([0, 1, 2]), Tally(weights, weights, weights))
    >>> direct_mcar_spread(counts, np.array([0.75, 0.25])).sizes.round(6).tolist()
    [40.0, 40.0]
    """
    shown = counts.showing(counts.scope)
    squares = np.zeros(prod(counts.cardinalities))
    place = pack(unpack(shown.keys, shown.radices), shown.cardinalities, len(shown.keys))
    squares[place] = shown.tally.squares
    squares = squares.reshape(counts.cardinalities)
    nothing = np.zeros_like(squares)
    found = Influence(
        counts.dense(), nothing, nothing, nothing[..., :1], squares, _over_child(squares)
    )
    return spread([found], table)


def direct_mar_spread(
    steps: Sequence[Step], family: Scope, sizes: Sequence[int], table: FloatArray
) -> Spread:
    """The spread of a CPT by direct deletion within groups: direct-mar, informed-direct.

    Parameters
    ----------
    steps
        The groups, and those that settle what they leave open.
    family, sizes
        The variables of the family, child last, and their numbers of states.
    table
        The CPT, as learned.
    """
    return spread([influence(step, family, sizes) for step in steps], table)


def _quotient(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.asarray(np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0))


def _divided(part: FloatArray, whole: FloatArray) -> FloatArray:
    whole = np.broadcast_to(whole, part.shape)
    divided = np.divide(part, whole, out=np.full(part.shape, np.inf), where=whole > 0)
    return np.asarray(divided, np.float64)
