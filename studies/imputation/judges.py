"""How near completed tables come to the truth that was hidden."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from studies.imputation.tables import Regression

PARTS = 5  # of a column of numbers, where two-way tables are compared

Numbers = NDArray[np.float64]
States = dict[str, NDArray[np.str_]]


def two_way_distance(
    truth: pd.DataFrame, completed: pd.DataFrame, numbers: Sequence[str] = ()
) -> float:
    """The mean total variation between all two-way tables of the truth and of a completed table.

    Columns of numbers are cut at the fifths of the truth.
    """
    cut = [_codes(truth[name], completed[name], is_number=name in numbers) for name in truth]
    distances = []
    for (one, first, size), (other, second, width) in combinations(cut, 2):
        cells = size * width
        table = np.bincount(one * width + other, minlength=cells) / len(one)
        drawn = np.bincount(first * width + second, minlength=cells) / len(first)
        distances.append(np.abs(table - drawn).sum() / 2)
    return float(np.mean(distances))


def _codes(
    truth: pd.Series, completed: pd.Series, *, is_number: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """The states of a column in both tables, and how many there are."""
    if is_number:
        cuts = np.unique(np.quantile(truth, np.arange(1, PARTS) / PARTS))
        both = [np.searchsorted(cuts, np.asarray(column, float)) for column in (truth, completed)]
        return both[0], both[1], len(cuts) + 1
    codes, states = pd.factorize(pd.concat([truth, completed]).astype(str), sort=True)
    return codes[: len(truth)], codes[len(truth) :], len(states)


def coefficients(
    frame: pd.DataFrame, regression: Regression, states: States
) -> tuple[Numbers, Numbers]:
    """Least-squares coefficients without the constant, and their variances.

    Categories are numbers, by the place of their names in order.
    """
    columns = [_as_numbers(frame[name], states) for name in regression.predictors]
    design = np.column_stack([np.ones(len(frame)), *columns])
    outcome = _as_numbers(frame[regression.outcome], states)
    solved, *_ = np.linalg.lstsq(design, outcome, rcond=None)
    left = outcome - design @ solved
    variance = left @ left / (len(frame) - design.shape[1])
    spread = variance * np.linalg.pinv(design.T @ design)
    return np.asarray(solved[1:], np.float64), np.asarray(np.diag(spread)[1:], np.float64)


def _as_numbers(column: pd.Series, states: States) -> Numbers:
    if str(column.name) not in states:
        return column.to_numpy(float)
    return states[str(column.name)].searchsorted(column.astype(str).to_numpy()).astype(float)


def states_of(truth: pd.DataFrame) -> States:
    """The states of the columns of categories in the truth: all completions are coded alike."""
    return {
        name: np.unique(truth[name].astype(str).to_numpy())
        for name in truth.columns
        if not pd.api.types.is_numeric_dtype(truth[name])
    }


def right_cells(truth: pd.DataFrame, holed: pd.DataFrame, completed: pd.DataFrame) -> float:
    """The share of hidden cells that are filled in as they were."""
    hidden = holed.isna().to_numpy()
    same = truth.astype(str).to_numpy() == completed.astype(str).to_numpy()
    return float(same[hidden].mean())
