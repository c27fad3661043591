"""Bayesian networks with the face of scikit-learn: a classifier and an imputer.

Both take arrays and dataframes with missing values (NaN, None) and categories of any type, and
learn from incomplete rows by any of lacunet's methods. Columns of numbers with many values are
cut into intervals with equally many rows. What is learned is an ordinary network, ``network_``.

>>> import numpy as np
>>> X = np.array([[0, np.nan], [0, 1], [1, 0], [np.nan, 0]])
>>> BayesianNetworkClassifier().fit(X, ["a", "a", "b", "b"]).predict([[np.nan, 1]])
array(['a'], dtype='<U1')
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.building.bins import Bins
from lacunet.building.edges import edges_of
from lacunet.building.network import find_network
from lacunet.completion.rows import most_probable, row_posteriors
from lacunet.data.matching import interval_of
from lacunet.data.read import read_table
from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetError, LacunetWarning
from lacunet.estimate.learn import learn
from lacunet.model.network import FloatArray, Network

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise LacunetError("scikit-learn is not installed.", "pip install 'lacunet[sklearn]'") from None

MOST_VALUES = 10  # a column of numbers with more values is cut into intervals

Columns = dict[str, NDArray[Any]]


class BayesianNetworkClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classify by the posterior of a class variable in a network learned from incomplete data.

    Parameters
    ----------
    edges
        The edges of the network, in any language of `lacunet.Network.from_data`, over the names
        of the columns (``x0, x1, ...`` for arrays) and of the class; None for naive Bayes, in
        which the class is the only parent of every column.
    target
        The name of the class variable.
    method, prior
        As for `lacunet.learn`.
    bins
        The number of intervals for columns of numbers with more than ten different values.

    Attributes
    ----------
    network_ : Network
        What was learned.
    classes_ : array
        The classes, in the order of the columns of `predict_proba`.
    """

    def __init__(
        self,
        edges: Any = None,
        *,
        target: str = "class",
        method: Any = "auto",
        prior: float = 2.0,
        bins: int = 5,
    ) -> None:
        self.edges = edges
        self.target = target
        self.method = method
        self.prior = prior
        self.bins = bins

    def fit(self, X: Any, y: Any) -> BayesianNetworkClassifier:  # noqa: N803
        """Learn the network from rows and their classes."""
        X, y = validate_data(self, X, y, dtype=None, ensure_all_finite="allow-nan")  # noqa: N806
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        columns = _columns(self, X)
        if self.target in columns:
            raise LacunetError(
                f"the class and a column are both called {self.target!r}.", "rename target=..."
            )
        edges: Any = self.edges
        if edges is None:
            edges = [(self.target, name) for name in _informative(columns)] or self.target
        elif self.target not in edges_of(edges).variables:
            raise LacunetError(
                f"the edges do not name the class, which is called {self.target!r}.",
                "name it in the edges, or say what it is called there with target='...'.",
            )
        states = {self.target: [str(at) for at in range(len(self.classes_))]}
        rows = {**columns, self.target: codes.astype(str)}
        self.network_ = _fitted(self, _found(self, rows, edges, states), rows)
        return self

    def predict_proba(self, X: Any) -> FloatArray:  # noqa: N803
        """The probability of each class for each row, given what the row shows."""
        check_is_fitted(self)
        X = validate_data(  # noqa: N806
            self, X, dtype=None, ensure_all_finite="allow-nan", reset=False
        )
        table = _table(self.network_, _columns(self, X), [self.target])
        found = row_posteriors(self.network_, table, [self.target]).of_target[self.target]
        if np.isnan(found).any():
            raise LacunetError(
                "the network gives some row the probability zero: nothing can be predicted.",
                "fit with prior=2 or more, so that no probability is zero.",
            )
        return found

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The most probable class of each row."""
        check_is_fitted(self)
        classes: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return classes

    def __sklearn_tags__(self) -> Any:
        return _tagged(super().__sklearn_tags__())


class BayesianNetworkImputer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Fill in missing cells by the most probable completion of each row.

    What is learned in `fit` fills in any later data, also in columns that were complete before.

    Parameters
    ----------
    edges
        The edges of the network over the names of the columns (``x0, x1, ...`` for arrays);
        None for the tree of the strongest pairwise dependences (Chow and Liu), as far as rows
        show both.
    method, prior
        As for `lacunet.learn`.
    bins
        The number of intervals for columns of numbers with more than ten different values; a
        missing cell gets the mean of the numbers that were seen in its interval.

    Attributes
    ----------
    network_ : Network
        What was learned.
    """

    def __init__(
        self, edges: Any = None, *, method: Any = "auto", prior: float = 2.0, bins: int = 5
    ) -> None:
        self.edges = edges
        self.method = method
        self.prior = prior
        self.bins = bins

    def fit(self, X: Any, y: object = None) -> BayesianNetworkImputer:  # noqa: ARG002, N803
        """Learn the network from the rows."""
        X = validate_data(self, X, dtype=None, ensure_all_finite="allow-nan")  # noqa: N806
        columns = _columns(self, X)
        self.only_ = {name: _only_value(cells) for name, cells in columns.items()}
        names = _informative(columns)
        if self.edges is None and not names:
            self.network_ = None
            return self
        edges = names if self.edges is None else self.edges
        bare = _found(self, columns, edges, {})
        if self.edges is None:
            tree = _tree(bare, _table(bare, columns, ()))
            bare = Network(bare.states_of, tree, cuts=bare.cuts_of)
        self.network_ = _fitted(self, bare, columns)
        self.value_of_ = {
            name: _values(self.network_, name, columns[name]) for name in self.network_.variables
        }
        return self

    def transform(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The rows with every missing cell filled in; a column without any value stays as it is."""
        check_is_fitted(self)
        X = validate_data(  # noqa: N806
            self, X, dtype=None, ensure_all_finite="allow-nan", reset=False
        )
        columns = _columns(self, X)
        whole: NDArray[Any] = X.copy()
        for place, name in enumerate(columns):
            holes = _is_missing(columns[name])
            if holes.any() and self.only_[name] is not None:
                whole[holes, place] = self.only_[name]
        if self.network_ is None:
            return whole
        completed = most_probable(self.network_, _table(self.network_, columns, ()))
        for place, name in enumerate(columns):
            holes = _is_missing(columns[name])
            if name in self.value_of_ and holes.any():
                whole[holes, place] = self.value_of_[name][completed.columns[name][holes]]
        return whole

    def __sklearn_tags__(self) -> Any:
        return _tagged(super().__sklearn_tags__())


def _tagged(tags: Any) -> Any:
    tags.input_tags.allow_nan = True
    tags.input_tags.categorical = True
    tags.input_tags.string = True
    return tags


def _columns(estimator: Any, rows: NDArray[Any]) -> Columns:
    """The columns by name: those of the dataframe, or x0, x1, ..."""
    numbered = [f"x{place}" for place in range(rows.shape[1])]
    names = getattr(estimator, "feature_names_in_", numbered)
    return {str(name): rows[:, place] for place, name in enumerate(names)}


def _is_missing(cells: NDArray[Any]) -> NDArray[np.bool_]:
    if cells.dtype.kind in "fiub":
        is_nan: NDArray[np.bool_] = np.isnan(cells)
        return is_nan
    return np.array([cell is None or cell != cell for cell in cells], dtype=bool)  # noqa: PLR0124


def _shown(cells: NDArray[Any]) -> NDArray[Any]:
    return cells[~_is_missing(cells)]


def _only_value(cells: NDArray[Any]) -> Any:
    """The one value of a column that has only one."""
    values = set(_shown(cells).tolist())
    return values.pop() if len(values) == 1 else None


def _informative(columns: Columns) -> list[str]:
    """The columns that have more than one value."""
    return [name for name, cells in columns.items() if len(set(_shown(cells).tolist())) > 1]


def _bins(columns: Columns, count: int) -> dict[str, Bins]:
    """The columns of numbers that are to be cut, with the number of intervals."""
    return {
        name: count
        for name, cells in columns.items()
        if _holds_numbers(cells) and len(set(_shown(cells).tolist())) > MOST_VALUES
    }


def _holds_numbers(cells: NDArray[Any]) -> bool:
    if cells.dtype.kind in "fiu":
        return True
    return cells.dtype.kind == "O" and all(
        isinstance(cell, int | float | np.number) for cell in _shown(cells)
    )


def _found(
    estimator: Any, columns: Columns, edges: Any, states: Mapping[str, Sequence[str]]
) -> Network:
    cut = [name for name in edges_of(edges).variables if name in columns and name not in states]
    bins = _bins({name: columns[name] for name in cut}, estimator.bins)
    return find_network(columns, edges, states, bins=bins).network


def _fitted(estimator: Any, network: Network, rows: Columns) -> Network:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LacunetWarning)
        used = {name: rows[name] for name in network.variables}
        return learn(network, used, estimator.method, estimator.prior).network


def _table(network: Network, columns: Columns, latent: Sequence[str]) -> EncodedTable:
    """New rows as codes: a value that was never seen counts as missing."""
    used = {name: columns[name] for name in network.variables if name not in latent}
    if not used:
        rows = len(next(iter(columns.values())))
        hidden = {
            name: np.full(rows, network.cardinality(name), np.uint16) for name in network.variables
        }
        return EncodedTable.of(network.cardinality_of, hidden)
    return read_table(used, network, unknown="missing", latent=latent)


def _tree(network: Network, table: EncodedTable) -> dict[str, list[str]]:
    """The parents of each variable in the tree of largest mutual information."""
    import networkx as nx

    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(network.variables)
    for place, one in enumerate(network.variables):
        for two in network.variables[place + 1 :]:
            graph.add_edge(one, two, weight=_mutual_information(table, one, two))
    tree = nx.maximum_spanning_tree(graph)
    directed = nx.bfs_tree(tree, network.variables[0])
    return {child: [parent] for parent, child in directed.edges}


def _mutual_information(table: EncodedTable, one: str, two: str) -> float:
    shown = table.is_shown([one, two])
    size = table.cardinality_of[two]
    keys = table.columns[one][shown].astype(np.int64) * size + table.columns[two][shown]
    counts = np.bincount(keys, minlength=table.cardinality_of[one] * size).astype(np.float64)
    joint = counts.reshape(-1, size) / max(1.0, counts.sum())
    product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    seen = joint > 0
    return float((joint[seen] * np.log(joint[seen] / product[seen])).sum())


def _values(network: Network, name: str, cells: NDArray[Any]) -> NDArray[Any]:
    """The value of a column that stands for each state: one that was seen, or a mean."""
    shown = _shown(cells)
    cuts = network.cuts_of.get(name)
    if cuts is None:
        codes = read_table({name: shown}, Network({name: network.states(name)})).columns[name]
        return np.array([shown[np.argmax(codes == at)] for at in range(codes.max() + 1)])
    codes = np.array([interval_of(float(number), cuts) for number in shown])
    return np.array([shown[codes == at].mean() for at in range(len(cuts) - 1)])
