r"""The maximum of a concave function within bounds, by Newton's method.

Each step is the maximum of the parabola

.. math::
    g^\top d - \tfrac12 d^\top H d, \qquad l \le x + d \le h,

where :math:`g` is the gradient and :math:`H` the negative Hessian: parameters that would leave are
put on their bounds, and those that want to come back are let go, all at once, until nothing changes
(block pivoting; J. J. Júdice and F. M. Pires, 1994). A step that climbs less than it should is
halved. Near the maximum each step squares what is left of the way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lacunet.network.network import FloatArray

MAX_NEWTON_STEPS = 200
HALVINGS = 60
CLIMB = 1e-4  # of what the slope promises: a step that climbs less is halved
# What a step promises near the maximum: less is not to be told from rounding.
SMALL_STEP_GAIN = 1e-9
# The same of the last step: what is left behind it is about the square of that.
LAST_GAIN = 1e-13
LAST_GAIN_OF_MANY = 1e-4  # where the next step of EM comes anyway
RIDGE = 1e-11  # of its curvature, added to that of each parameter: ridges have a way up
PIVOTS = 30


@dataclass(frozen=True)
class Slope:
    """What a function is at a point: its value, its gradient, and minus its Hessian."""

    value: float
    gradient: FloatArray
    curvature: FloatArray


Function = Callable[[FloatArray], Slope]


def maximum(
    function: Function,
    start: FloatArray,
    low: FloatArray,
    high: FloatArray,
    last_gain: float = LAST_GAIN,
) -> FloatArray:
    """The point within bounds where a concave function is highest.

    Values are of the order of one: what a function of counts is for each row.

    Parameters
    ----------
    start
        Within the bounds; the function is finite there.
    last_gain
        What the last step promises at most.

    Examples
    --------
    >>> def parabola(x):
    ...     return Slope(float(-(((x - 3) ** 2).sum())), -2 * (x - 3), 2 * np.eye(2))
    >>> maximum(parabola, np.zeros(2), np.zeros(2), np.array([1.0, 5.0])).round(6).tolist()
    [1.0, 3.0]
    """
    point = start
    here = function(start)
    for _ in range(MAX_NEWTON_STEPS):
        step = newton_step(here, point, low, high)
        promise = float(here.gradient @ step)
        if not promise > last_gain:
            return np.minimum(np.maximum(point + step, low), high)
        for _ in range(HALVINGS):
            aim = np.minimum(np.maximum(point + step, low), high)
            there = function(aim)
            enough = here.value + (
                CLIMB * promise if promise > SMALL_STEP_GAIN else -SMALL_STEP_GAIN
            )
            if there.value >= enough:
                break
            step = step / 2
            promise = promise / 2
        else:
            return point
        point = aim
        here = there
    return point


def newton_step(slope: Slope, point: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """The step to the maximum of the parabola within bounds."""
    diagonal = slope.curvature.diagonal()
    if diagonal.min(initial=1.0) > 0:  # mostly no bound is in the way
        raised = slope.curvature.copy()
        raised.flat[:: len(raised) + 1] += RIDGE * diagonal
        step = np.linalg.solve(raised, slope.gradient)
        aim = point + step
        if (aim >= low).all() and (aim <= high).all() and slope.gradient @ step >= 0:
            return np.asarray(step)
    scale = np.sqrt(np.diag(slope.curvature))
    scale = np.where(scale > 0, scale, 1.0)
    gradient = slope.gradient / scale
    curvature = slope.curvature / scale / scale[:, None]
    curvature[np.diag_indices(len(scale))] += RIDGE
    lowest, highest = (low - point) * scale, (high - point) * scale

    step = np.zeros(len(scale))
    at_low = (lowest == 0) & (gradient < 0)
    at_high = (highest == 0) & (gradient > 0)
    for _ in range(PIVOTS):
        step = np.where(at_low, lowest, np.where(at_high, highest, 0.0))
        free = ~(at_low | at_high)
        rest = (gradient - curvature @ step)[free]
        step[free] = np.linalg.solve(curvature[np.ix_(free, free)], rest)
        push = gradient - curvature @ step
        stays_low = (at_low & (push <= 0)) | (free & (step < lowest))
        stays_high = (at_high & (push >= 0)) | (free & (step > highest))
        if (stays_low == at_low).all() and (stays_high == at_high).all():
            break
        at_low = stays_low
        at_high = stays_high
    step = np.clip(step, lowest, highest)
    if gradient @ step <= 0:  # pivoting went round in circles: each parameter by itself
        step = np.clip(gradient / np.diag(curvature), lowest, highest)
    return np.asarray(step / scale)
