r"""Which donors are like a row: rules, each of which gives rows a place.

A missing number is taken from one of the donors of its interval that are nearest to the row. A rule
says where rows are. It is a function of what the donors of a variable show: the cells of all other
variables, as columns (`lacunet.ask.impute.missing_numbers`), and their own numbers. It returns a
function from cells to points; those of donors and of rows with missing numbers can be compared.

`by_prediction` is predictive mean matching (R. Little, 1988): a row is where a regression of the
number on all other cells puts it,

.. math::
    \hat y = x \beta, \qquad \beta = (X' W X + \lambda I)^{-1} X' W y.

The regression is of all intervals together: within an interval, too, larger numbers are where it
predicts larger ones. `by_cells` takes all cells alike, whether they say something of the number or
not.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lacunet.network.network import FloatArray

Places = Callable[[FloatArray], FloatArray]
# From cells of donors, their numbers and their weights: where rows are.
DonorRule = Callable[[FloatArray, FloatArray, FloatArray], Places]

RIDGE = 1.0  # as if one further row had no effect of any cell
MISMATCH = np.sqrt(0.5)  # two indicators differ where categories do: together a distance of one


def by_prediction(cells: FloatArray, numbers: FloatArray, weights: FloatArray) -> Places:
    """By what a regression on all other cells predicts.

    Examples
    --------
    >>> cells = np.array([[0.0, 1.0], [1.0, 5.0], [2.0, 3.0], [3.0, 2.0]])
    >>> places = by_prediction(cells, np.array([0.0, 10.0, 20.0, 30.0]), np.ones(4))
    >>> bool(np.all(np.diff(places(cells)[:, 0]) > 0))
    True
    """
    weights = weights * (len(weights) / weights.sum())
    centre = weights @ cells / len(weights)
    centred = cells - centre
    weighed = centred * weights[:, None]
    gram = weighed.T @ centred
    gram[np.diag_indices_from(gram)] += RIDGE
    slopes = np.linalg.solve(gram, weighed.T @ (numbers - weights @ numbers / len(weights)))
    return lambda others: (others @ slopes)[:, None]


def by_cells(cells: FloatArray, numbers: FloatArray, weights: FloatArray) -> Places:  # noqa: ARG001
    """By all other cells: numbers in standard deviations, categories by whether they differ."""
    are_indicators = ((cells == 0) | (cells == 1)).all(axis=0)
    scales = np.where(are_indicators, MISMATCH, 1.0)
    return lambda others: others * scales


def at_random(cells: FloatArray, numbers: FloatArray, weights: FloatArray) -> Places:  # noqa: ARG001
    """All in one place: any donor of the interval will do."""
    return lambda others: np.zeros((len(others), 1))
