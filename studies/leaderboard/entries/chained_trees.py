"""scikit-learn's imputer by chained equations with decision trees, on codes, then counting."""

from typing import Any

import lacunet as lc
from studies.leaderboard.entry import Learned

NAME = "chained trees (IterativeImputer) + counting"


def learn(network: lc.Network, rows: Any) -> Learned:
    """Fill in, count, and add one pseudo-count per cell."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer
    from sklearn.tree import DecisionTreeClassifier

    codes = {
        name: rows[name].map({state: code for code, state in enumerate(network.states(name))})
        for name in network.variables
    }
    tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=0)
    imputer = IterativeImputer(
        tree, initial_strategy="most_frequent", keep_empty_features=True, random_state=0
    )
    filled = imputer.fit_transform(type(rows)(codes).astype(float))
    named = {
        name: [network.states(name)[int(code)] for code in column]
        for name, column in zip(network.variables, filled.T, strict=True)
    }
    return Learned(lc.learn(network, named, "listwise", pseudo_counts=1).network)
