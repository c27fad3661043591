r"""Outcomes of repetitions in one number: the mean, and its standard error.

.. math::
    \bar{v} = \frac{1}{n} \sum_i v_i, \qquad
    \widehat{se} = \sqrt{\frac{\sum_i (v_i - \bar{v})^2}{n (n - 1)}}
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from lacunet.experiments.runner.outcomes import Outcome

Group = tuple[str, str, float | None, int, str]  # network, setting, limit, rows, method
LARGER_IS_BETTER = {"log_likelihood": True, "divergence": False, "seconds": False}


@dataclass(frozen=True)
class Mean:
    """A mean over repetitions; ``asked`` of them were run, ``count`` gave a number.

    ``stopped`` of those that gave one were stopped by their time limit.
    """

    value: float
    standard_error: float
    count: int
    asked: int
    stopped: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether every repetition gave a number."""
        return self.count == self.asked


def mean_of(values: Sequence[float], asked: int | None = None, stopped: int = 0) -> Mean | None:
    """The mean and its standard error; None of no values, an error of NaN for a single one.

    Examples
    --------
    >>> mean_of([1.0, 3.0])
    Mean(value=2.0, standard_error=1.0, count=2, asked=2, stopped=0)
    """
    if not values:
        return None
    count = len(values)
    error = float(np.std(values, ddof=1) / math.sqrt(count)) if count > 1 else math.nan
    return Mean(float(np.mean(values)), error, count, count if asked is None else asked, stopped)


def summarise(outcomes: Iterable[Outcome], measure: str) -> dict[Group, Mean | None]:
    """The mean of one measure in each group of repetitions, None where nobody gave a number."""
    groups: dict[Group, list[Outcome]] = {}
    for one in outcomes:
        group = (one.network, one.setting, one.limit, one.rows, one.method)
        groups.setdefault(group, []).append(one)
    return {group: _mean(members, value_of(measure)) for group, members in groups.items()}


def value_of(measure: str) -> Callable[[Outcome], float | None]:
    """What reads a measure off an outcome: a number only if the cell gave a network."""

    def read(outcome: Outcome) -> float | None:
        value: float | None = getattr(outcome, measure)
        return value if outcome.status == "ok" else None

    return read


def _mean(members: Sequence[Outcome], read: Callable[[Outcome], float | None]) -> Mean | None:
    values = [value for value in map(read, members) if value is not None]
    stopped = sum(one.ended == "time limit" for one in members)
    return mean_of(values, len(members), stopped)


def best_method(means: dict[str, Mean | None], measure: str) -> str | None:
    """The method of the best mean among those that gave a number in every repetition."""
    whole = {name: mean.value for name, mean in means.items() if mean and mean.is_whole}
    if not whole:
        return None
    choose = max if LARGER_IS_BETTER[measure] else min
    return choose(whole, key=lambda name: whole[name])
