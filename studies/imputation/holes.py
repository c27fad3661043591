"""Half of the columns hidden at random, each given another column that stays complete.

Of every state of that other column (a fifth of the rows, for a column of numbers) the cells are
hidden with probability .1 or .6, so that rows without gaps are unlike the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

RATES = (0.1, 0.6)
PARTS = 5  # of a column of numbers


def with_holes(frame: pd.DataFrame, seed: int, columns: Sequence[str] = ()) -> pd.DataFrame:
    """The rows with half of the columns hidden in part, or those that are named."""
    rng = np.random.default_rng([seed, 2])
    names = [*frame.columns]
    hidden = sorted(rng.permutation(len(names))[: len(names) // 2].tolist())
    if columns:
        hidden = [names.index(name) for name in columns]
    shown = [index for index in range(len(names)) if index not in hidden]
    holed = frame.copy()
    for index in hidden:
        cause = frame[names[rng.choice(shown)]]
        if pd.api.types.is_numeric_dtype(cause) and cause.nunique() > PARTS:
            states = pd.qcut(cause.rank(method="average"), PARTS, labels=False, duplicates="drop")
        else:
            states = pd.Series(pd.factorize(cause, sort=True)[0])
        number = int(states.max()) + 1
        rates = np.array(RATES)[(rng.permutation(number) + rng.integers(2)) % 2]
        is_hidden = rng.random(len(frame)) < rates[states.to_numpy()]
        holed[names[index]] = frame[names[index]].mask(is_hidden)
    return holed
