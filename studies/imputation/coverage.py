"""How often pooled 95% intervals hold the truth: samples of a table that stands for everybody.

Rows are drawn from a table with replacement, half of the columns are hidden in part, completions
are drawn, and means, proportions and regression coefficients are pooled over them. The truth is
what the whole table says.

    python -m studies.imputation coverage JOURNAL.jsonl --tables TV16,earnings --samples 100
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

import lacunet as lc
from studies.imputation.holes import with_holes
from studies.imputation.judges import Numbers, States, coefficients, states_of
from studies.imputation.rivals import RIVALS, quietly
from studies.imputation.tables import Regression, StudyTable

DRAWS = 10
LEAST_SHARE = 0.05  # of a state whose proportion is asked for


@dataclass(frozen=True)
class Asked:
    """What is estimated of one kind, of all columns with holes."""

    kind: str
    names: tuple[str, ...]
    estimates: Numbers
    variances: Numbers
    df: float


def estimated(
    frame: pd.DataFrame,
    holed: list[str],
    numbers: tuple[str, ...],
    regressions: tuple[Regression, ...],
    states: States,
    asked_states: dict[str, list[str]],
) -> Iterator[Asked]:
    """Means, proportions and coefficients of one complete table, and their variances."""
    rows = len(frame)
    means = [name for name in holed if name in numbers]
    if means:
        columns = frame[means].to_numpy(float)
        yield Asked(
            "mean", tuple(means), columns.mean(axis=0), columns.var(axis=0, ddof=1) / rows, rows - 1
        )
    of_states = [(name, state) for name in holed for state in asked_states.get(name, [])]
    if of_states:
        shares = np.array([(frame[name] == state).mean() for name, state in of_states])
        labels = tuple(f"{name}={state}" for name, state in of_states)
        yield Asked("proportion", labels, shares, shares * (1 - shares) / rows, rows - 1)
    for regression in regressions:
        values, variances = coefficients(frame, regression, states)
        labels = tuple(f"{regression.outcome} ~ {name}" for name in regression.predictors)
        yield Asked("coefficient", labels, values, variances, rows - len(labels) - 1)


def sample_of(table: StudyTable, sample: int, rows: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows drawn with replacement, before and after cells are hidden."""
    everybody = table.complete()
    rng = np.random.default_rng([sample, 4])
    drawn = everybody.iloc[rng.integers(len(everybody), size=rows)].reset_index(drop=True)
    return drawn, with_holes(drawn, sample, table.hidden)


def what_is_asked(table: StudyTable, holed: pd.DataFrame) -> tuple[Any, ...]:
    """What `estimated` is to know besides the rows."""
    everybody = table.complete()
    states = states_of(everybody)
    incomplete = [name for name in holed.columns if holed[name].isna().any()]
    asked_states = {}
    for name in states:
        shares = everybody[name].value_counts(normalize=True)
        asked_states[name] = [str(state) for state in shares.index[shares >= LEAST_SHARE]]
    return incomplete, table.numbers, table.regressions, states, asked_states


def covered_by_complete(
    truths: Sequence[Asked], complete: Sequence[Asked]
) -> dict[str, tuple[int, int]]:
    """The same of intervals from complete rows."""
    counts: dict[str, tuple[int, int]] = {}
    for truth, estimate in zip(truths, complete, strict=True):
        widths = stdtrit(estimate.df, 0.975) * np.sqrt(estimate.variances)
        holds = np.abs(estimate.estimates - truth.estimates) <= widths
        held, number = counts.get(truth.kind, (0, 0))
        counts[truth.kind] = (held + int(holds.sum()), number + len(holds))
    return counts


def covered(table: StudyTable, rival: str, sample: int, rows: int) -> dict[str, Any]:
    """Of one sample: of each kind how many intervals hold the truth, and of how many.

    Also of the same sample before cells were hidden: some intervals hold too rarely with complete
    rows, as those of least squares do where spreads differ.
    """
    drawn, holed = sample_of(table, sample, rows)
    tables, seconds = quietly(RIVALS[rival], holed, table.numbers, DRAWS, sample)
    known = what_is_asked(table, holed)
    truths = [*estimated(table.complete(), *known)]
    of_tables = [[*estimated(whole, *known)] for whole in tables]
    line: dict[str, Any] = {"seconds": round(seconds, 2), "covered": {}, "misses": []}
    line["without_holes"] = covered_by_complete(truths, [*estimated(drawn, *known)])
    for place, truth in enumerate(truths):
        same = [one[place] for one in of_tables]
        pooled = lc.pool(
            [one.estimates for one in same], [one.variances for one in same], df=same[0].df
        )
        low, high = np.moveaxis(pooled.interval(), -1, 0)
        holds = (low <= truth.estimates) & (truth.estimates <= high)
        held, number = line["covered"].get(truth.kind, (0, 0))
        line["covered"][truth.kind] = (held + int(holds.sum()), number + len(holds))
        line["misses"] += [truth.names[index] for index in np.flatnonzero(~holds)]
    return line
