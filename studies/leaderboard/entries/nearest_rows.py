"""scikit-learn's imputer by the nearest row, on codes, then counting."""

from typing import Any

import lacunet as lc
from studies.leaderboard.entry import Learned

NAME = "nearest row (KNNImputer) + counting"


def learn(network: lc.Network, rows: Any) -> Learned:
    """Fill in, count, and add one pseudo-count per cell."""
    import pandas as pd
    from sklearn.impute import KNNImputer

    codes = pd.DataFrame(
        {
            name: rows[name].map({state: code for code, state in enumerate(network.states(name))})
            for name in network.variables
        }
    ).astype(float)
    filled = KNNImputer(n_neighbors=1, keep_empty_features=True).fit_transform(codes)
    named = {
        name: [network.states(name)[int(code)] for code in column]
        for name, column in zip(network.variables, filled.T, strict=True)
    }
    return Learned(lc.learn(network, named, "listwise", pseudo_counts=1).network)
