"""Bayesian networks with the face of scikit-learn: a classifier and an imputer.

Both take arrays and dataframes with missing values (NaN, None, pandas' NA and NaT, nothing else)
and categories of any type (1 and "1" are one, as everywhere in lacunet), and learn from incomplete
rows by any of lacunet's methods. Unless ``bins`` says otherwise, columns of numbers with many
values are cut into intervals with equally many rows, and dates go by month, quarter or year
(``bins="auto"``). What is learned is an ordinary network, ``network_``.

>>> import numpy as np
>>> X = np.array([[0, np.nan], [0, 1], [1, 0], [np.nan, 0]])
>>> BayesianNetworkClassifier().fit(X, ["a", "a", "b", "b"]).predict([[np.nan, 1]])
array(['a'], dtype='<U1')
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit, logsumexp, softmax

from lacunet.ask.predict.completions import most_probable, refuse_impossible_rows
from lacunet.ask.predict.predictor import Predictor
from lacunet.counts.distinct_rows import distinct_rows
from lacunet.counts.passes import hash32
from lacunet.data.bins import MOST_VALUES, cuts_found
from lacunet.data.column_rules import source_from
from lacunet.data.data import Data, in_row_order
from lacunet.data.matching import is_null
from lacunet.data.read import rows_with_codes
from lacunet.data.skipped_questions import ruled
from lacunet.data.states import MOST_STATES, Seen, StatesError
from lacunet.data.states import states_of as states_of_column
from lacunet.data.table import Copies, EncodedTable
from lacunet.errors import LacunetError, LacunetWarning
from lacunet.learning.learn import learn
from lacunet.network.dates import UNITS, periods_of, usual_unit
from lacunet.network.dictionary import Meaning, by_spelling, parsed_rule, when_and_state
from lacunet.network.edges import edges_of
from lacunet.network.interval_names import INTERVALS, labels_of
from lacunet.network.network import FloatArray, Network
from lacunet.network.spelling import as_declared, spelled
from lacunet.structure.gains import Gains
from lacunet.structure.indexed_rows import CodedRows

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
except ImportError:
    raise LacunetError("scikit-learn is not installed.", "pip install 'lacunet[sklearn]'") from None

__all__ = ["BayesianNetworkClassifier", "BayesianNetworkImputer", "Reason"]

EMPTY = "''"  # the state of an empty text
NUMBERS = {int, float, np.float64}
FOLDS = 5  # of the rows, for calibration
LEAST_ROWS = 10  # of every class; with fewer there is no calibration
SHRINKAGE = 1.0  # towards no calibration, as a ridge: matters for a few dozen rows only

Columns = dict[str, NDArray[Any]]
Edges = Any


class Reason(NamedTuple):
    """What one column of a row adds to a prediction.

    ``weight`` is by how much the log-odds of the predicted class, against all others, would fall
    if the column were not shown.
    """

    column: str
    value: Any
    weight: float


class NetworkEstimator(BaseEstimator):  # type: ignore[misc]
    """What both hold, and what scikit-learn is told that they take."""

    def __init__(
        self,
        edges: Edges = None,
        *,
        method: Any = "auto",
        pseudo_counts: Any = None,
        bins: Any = "auto",
        codes: Any = None,
        not_asked: Any = None,
    ) -> None:
        self.edges = edges
        self.method = method
        self.pseudo_counts = pseudo_counts
        self.bins = bins
        self.codes = codes
        self.not_asked = not_asked

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class BayesianNetworkClassifier(ClassifierMixin, NetworkEstimator):  # type: ignore[misc]
    """Classify by the posterior of a class variable in a network learned from incomplete data.

    Parameters
    ----------
    edges
        None for naive Bayes, in which the class is the only parent of every column; "tan" for a
        tree of the strongest dependences given the class beside it; "learn" for edges found by
        `lacunet.learn_structure`; or the edges themselves, in any language of
        `lacunet.Network.from_data`, over the names of the columns (``x0, x1, ...`` for arrays) and
        of the class.
    target
        The name of the class variable.
    method, pseudo_counts
        As for `lacunet.learn`.
    bins
        How columns of numbers and dates are cut, as in `lacunet.Data`. The default here is
        ``"auto"``: more than ten different numbers are cut into five intervals with equally many
        rows, and as many dates go by month, quarter or year. A number for all columns, or a
        mapping: ``{"Age": [0, 40, 65, 120], "Visit": "month", None: "auto"}``. Identifiers, free
        text, and what is not cut of more than 50 different values are refused.
    codes, not_asked
        What values of columns mean, and when a question was not asked, as in
        `lacunet.Network.from_data`: ``codes={"Smokes": {9: None, 1: "no"}}``.
    calibrate
        Make up for over-confidence: log-probabilities are stretched and shifted so that they fit
        rows that the network was not learned from (five folds). Without it `predict_proba` gives
        the posteriors of ``network_`` themselves.

    Attributes
    ----------
    network_ : Network
        What was learned.
    classes_ : array
        The classes, in the order of the columns of `predict_proba`.
    slope_, offsets_ : float, array
        What log-posteriors are multiplied by, and what is added for each class; 1 and zeros
        without calibration.
    """

    def __init__(
        self,
        edges: Edges = None,
        *,
        target: str = "class",
        method: Any = "auto",
        pseudo_counts: Any = None,
        bins: Any = "auto",
        calibrate: bool = True,
        codes: Any = None,
        not_asked: Any = None,
    ) -> None:
        super().__init__(
            edges,
            method=method,
            pseudo_counts=pseudo_counts,
            bins=bins,
            codes=codes,
            not_asked=not_asked,
        )
        self.target = target
        self.calibrate = calibrate

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BayesianNetworkClassifier:  # noqa: N803
        """Learn the network from rows and their classes; a weight counts as so many rows.

        A pandas series of weights goes by its index.
        """
        sample_weight = in_row_order(sample_weight, X, "sample_weight")
        X, y = _validated(self, X, y)  # noqa: N806
        check_classification_targets(y)
        weights, X, y = _weighted(self, sample_weight, X, y)  # noqa: N806
        self.classes_, codes = np.unique(y, return_inverse=True)
        columns = _columns(self, X)
        if self.target in columns:
            raise LacunetError(
                f"the class and a column are both called {self.target!r}.", "rename target=..."
            )
        states_of = _found_states(self, columns, weights)
        states_of[self.target] = ColumnStates.of_classes(self.classes_.tolist())
        columns[self.target] = np.array(states_of[self.target].states, dtype=object)[codes]
        self._states_of, asked = states_of, _network(states_of, {})
        table = _table(asked, columns, weights, is_strict=True)
        bare = _network(states_of, self._parents(table.without_sets(), asked))
        self.network_ = _fitted(self, bare, table)
        self._predictor = _predictor(self.network_, self.target)
        self.slope_, self.offsets_ = 1.0, np.zeros(len(self.classes_))
        counts = np.bincount(codes, weights, minlength=len(self.classes_))
        if self.calibrate and len(self.classes_) > 1 and counts.min() >= LEAST_ROWS:
            self._calibrate(bare, _table(bare, columns, weights, [self.target]))
        return self

    def _parents(self, table: EncodedTable, asked: Network) -> dict[str, list[str]]:
        """The parents of each variable, as the edges say."""
        if self.edges is not None and not _is_word(self.edges, "tan"):
            return _parents_from(self.edges, table, asked, self.target)
        parents = _parents_of_rules(asked)
        columns = [name for name in self._states_of if name != self.target]
        if self.edges is not None:
            parents |= _tree(table, [name for name in columns if name not in parents], self.target)
        return {
            name: list(dict.fromkeys([self.target, *parents.get(name, ())])) for name in columns
        }

    def _calibrate(self, bare: Network, table: EncodedTable) -> None:
        """Fit slope and offsets to rows that were not learned from.

        Rules have not looked at the class in ``table``, as they cannot where it is predicted.
        """
        rows = distinct_rows(table, table.variables).table
        held = _folds(rows)
        logs, classes, weights = [], [], []
        for fold in held.T:
            left, tested = rows.row_weights - fold, fold > 0
            if not tested.any() or not (left > 0).any():
                continue
            kept = replace(rows, weights=left, copies=Copies(left, left)).take(left > 1e-9)
            network = _fitted(self, bare, ruled(bare, kept))
            logs.append(_log_posteriors(_predictor(network, self.target), rows.take(tested)))
            classes.append(rows.columns[self.target][tested].astype(np.int64))
            weights.append(fold[tested])
        self.slope_, self.offsets_ = calibration(*map(np.concatenate, (logs, classes, weights)))

    def predict_proba(self, X: Any) -> FloatArray:  # noqa: N803
        """The probability of each class for each row, given what the row shows."""
        return self._probabilities(self._read(X))

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The most probable class of each row."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:  # noqa: N803
        """The share of rows, by weight, of which the class is predicted.

        A pandas series of weights goes by its index.
        """
        weights = in_row_order(sample_weight, X, "sample_weight")
        return float(super().score(X, y, sample_weight=weights))

    def reasons(self, X: Any, most: int = 5) -> list[list[Reason]]:  # noqa: N803
        """For each row the columns that speak most for, or against, the predicted class.

        Columns that a row does not show give no reason. Weights need not add up: columns that
        say the same share it.

        Examples
        --------
        >>> X = np.array([["hot"], ["hot"], ["cold"], ["cold"]])
        >>> model = BayesianNetworkClassifier(target="ill").fit(X, ["yes", "yes", "no", "no"])
        >>> [[(column, value, weight)]] = model.reasons([["hot"]])
        >>> column, str(value), round(weight, 3)
        ('x0', 'hot', 1.099)
        """
        columns = self._read(X)
        whole = self._probabilities(columns)
        predicted = whole.argmax(axis=1)
        odds = _log_odds(whole, predicted)
        reasons: list[list[Reason]] = [[] for _ in predicted]
        for name, cells in columns.items():
            hidden = {**columns, name: np.full(len(cells), None, dtype=object)}
            fall = odds - _log_odds(self._probabilities(hidden), predicted)
            for row in np.flatnonzero([cell is not None for cell in _read(cells, {})]):
                reasons[row].append(Reason(name, cells[row], float(fall[row])))
        return [sorted(of_row, key=lambda reason: -abs(reason.weight))[:most] for of_row in reasons]

    def _read(self, X: Any) -> Columns:  # noqa: N803
        check_is_fitted(self)
        return _columns(self, _validated(self, X, reset=False))

    def _probabilities(self, columns: Columns) -> FloatArray:
        table = _table(self.network_, columns, None)
        logs = _log_posteriors(self._predictor, table)
        return softmax(self.slope_ * logs + self.offsets_, axis=1)


class BayesianNetworkImputer(OneToOneFeatureMixin, TransformerMixin, NetworkEstimator):  # type: ignore[misc]
    """Fill in missing cells by the most probable completion of each row.

    What is learned in `fit` fills in any later data, also in columns that were complete before.

    Parameters
    ----------
    edges
        None for the tree of the strongest pairwise dependences (Chow and Liu), as far as rows show
        both; "learn" for edges found by `lacunet.learn_structure`; or the edges themselves over
        the names of the columns (``x0, x1, ...`` for arrays).
    method, pseudo_counts
        As for `lacunet.learn`.
    bins
        How columns of numbers and dates are cut, as in `lacunet.Data` and
        `BayesianNetworkClassifier`; by default ``"auto"``. A missing cell gets the mean of the
        numbers that were seen in its interval, or the first date that was seen in its period.
    codes, not_asked
        What values of columns mean, and when a question was not asked, as in
        `lacunet.Network.from_data`: ``codes={"Smokes": {9: None, 1: "no"}}``.
        A cell that is one of several states is filled in too.

    Attributes
    ----------
    network_ : Network
        What was learned.
    """

    def fit(self, X: Any, y: object = None, sample_weight: Any = None) -> BayesianNetworkImputer:  # noqa: ARG002, N803
        """Learn the network from the rows; a weight counts as so many rows.

        A pandas series of weights goes by its index.
        """
        sample_weight = in_row_order(sample_weight, X, "sample_weight")
        X = _validated(self, X)  # noqa: N806
        weights, X, _ = _weighted(self, sample_weight, X, None)  # noqa: N806
        columns = _columns(self, X)
        self._states_of = _found_states(self, columns, weights)
        asked = _network(self._states_of, {})
        table = _table(asked, columns, weights, is_strict=True)
        ruled, plain = _parents_of_rules(asked), table.without_sets()
        if self.edges is None:
            parents_of = _tree(plain, [v for v in self._states_of if v not in ruled]) | ruled
        else:
            parents_of = _parents_from(self.edges, plain, asked)
        self.network_ = _fitted(self, _network(self._states_of, parents_of), table)
        return self

    def transform(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The rows with every missing cell filled in; a column without any value stays as it is."""
        check_is_fitted(self)
        X = _validated(self, X, reset=False)  # noqa: N806
        columns = _columns(self, X)
        table = _table(self.network_, columns, None)
        refuse_impossible_rows(self.network_, table)
        completed = most_probable(self.network_, table)
        whole: NDArray[Any] = X.copy() if not self.not_asked else X.astype(object)
        for index, (name, cells) in enumerate(columns.items()):
            column = self._states_of[name]
            hidden = _is_hidden(_read(cells, column.meanings), column.meanings)
            if hidden.any() and column.filling:
                values = np.array(column.filling, dtype=object)
                whole[hidden, index] = values[completed.columns[name][hidden]]
        return whole


@dataclass(frozen=True)
class ColumnStates:
    """The states of a column, found in its cells, and what each is filled in by.

    ``filling`` has a value for each state: one that was seen, or the mean of its interval. A column
    without any value has one state, which never occurs, and no filling. ``meanings`` are those of
    the column's own codes, by their spelling; ``rule`` says when the question was not asked.
    """

    states: tuple[str, ...]
    filling: tuple[Any, ...]
    cuts: tuple[float, ...] | None
    meanings: Mapping[str, Meaning]
    rule: tuple[str, str] | None

    @classmethod
    def of(
        cls,
        cells: NDArray[Any],
        weights: FloatArray,
        bins: Any,
        meanings: Mapping[str, Meaning],
        rule: tuple[str, str] | None,
    ) -> ColumnStates:
        """The states that the cells of a column show, or its intervals."""
        read, skip = _read(cells, meanings), () if rule is None else (rule[1],)
        is_shown = ~_is_hidden(read, meanings)
        is_shown &= [cell not in skip for cell in read]  # it comes by itself
        shown = [read[row] for row in np.flatnonzero(is_shown)]
        try:
            values = {*shown}
        except TypeError:
            raise LacunetError("a column holds values that cannot be compared.") from None
        asked = _bins_chosen(bins, values)
        if isinstance(asked, str):
            value_of_period = _by_period(shown, asked)
            states = (*value_of_period, *skip)
            return cls(states, (*value_of_period.values(), *skip), None, meanings, rule)
        if asked is not None:
            numbers, heavy = np.array(shown, dtype=np.float64), weights[is_shown]
            cuts = _cut_points(numbers, heavy, asked)
            code = np.searchsorted(cuts[1:-1], numbers, side="right")
            sums, rows = (np.bincount(code, by, len(cuts) - 1) for by in (heavy * numbers, heavy))
            # An interval that no row shows is never filled in: its CPT entries come from the prior.
            means = np.divide(sums, rows, out=np.array(cuts[:-1]), where=rows > 0).tolist()
            return cls((*labels_of(cuts), *skip), (*means, *skip), cuts, meanings, rule)
        written = {
            meaning: cell
            for meaning, cell in zip(read, cells.tolist(), strict=True)
            if isinstance(meaning, str) and meaning != cell
        }
        labels = [meaning for meaning in meanings.values() if isinstance(meaning, str)]
        value_of: dict[str, Any] = {}
        for value in [*sorted(values, key=_order), *labels]:
            value_of.setdefault(spelled(value), written.get(value, value))
        if "" in value_of:  # no state is called so
            value_of = {text or EMPTY: value for text, value in value_of.items()}
            meanings = {"": EMPTY, **meanings}
        states = (*(value_of or ["no value"]), *skip)
        filling = (*value_of.values(), *skip) if value_of else ()
        return cls(states, filling, None, meanings, rule)

    @classmethod
    def of_classes(cls, classes: Sequence[Any]) -> ColumnStates:
        """The states of the class variable; classes that are spelled alike are told apart."""
        texts = [str(value) for value in classes]
        states = [
            text if text and texts.count(text) == 1 else repr(value)
            for value, text in zip(classes, texts, strict=True)
        ]
        return cls(tuple(states), tuple(classes), None, {}, None)


def _found_states(estimator: Any, columns: Columns, weights: FloatArray) -> dict[str, ColumnStates]:
    """The states of each column, by what is said of its codes."""
    data = Data({}, codes=estimator.codes, not_asked=estimator.not_asked, bins=estimator.bins)
    for option in ("codes", "not_asked", "bins"):
        names = [name for name in getattr(data, option) if name is not None]
        _refuse_strangers(f"{option}={{...}} names", names, columns)
    states_of = {}
    for name, cells in columns.items():
        codes = by_spelling(name, data.codes.get(name, {}))
        meanings = {code: _meaning(given) for code, given in codes.items()}
        rule = when_and_state(name, data.not_asked[name]) if name in data.not_asked else None
        bins = data.bins.get(name, data.bins.get(None))
        states_of[name] = ColumnStates.of(cells, weights, bins, meanings, rule)
    _refuse_raw(states_of)
    return states_of


def _refuse_raw(states_of: Mapping[str, ColumnStates]) -> None:
    """Refuse columns of too many different values, as `lacunet.learn` does."""
    ways: dict[str, Any] = {}
    dropped, problems = [], []
    for name, column in states_of.items():
        if column.cuts is not None or len(column.states) <= MOST_STATES:
            continue
        seen = Seen.of(name, Data({}))
        seen.add([cell for cell in column.filling if cell is not None])
        try:
            states_of_column(name, seen)
        except StatesError as error:
            problems.append(error.message)
            if "bins" in error.remedy and "missing" not in error.remedy:
                ways[name] = error.remedy["bins"]
            else:
                dropped.append(name)
    if problems:
        hints = [f"leave columns out: X.drop(columns={dropped!r})"] * bool(dropped)
        hints += [f"say how to cut: bins={ways!r}, or bins='auto'"] * bool(ways)
        raise StatesError("\n".join(problems), f"{'; '.join(hints)}.")


def _bins_chosen(bins: Any, values: Collection[Any]) -> Any:
    """How the distinct values of a column are cut: points, a number, a unit of dates; or not."""
    if isinstance(bins, str) and bins in UNITS:
        return bins
    is_of_all = isinstance(bins, str | Integral)
    are_numbers = {*map(type, values)} <= NUMBERS
    if bins is None or not is_of_all:
        return bins
    if are_numbers:
        most, intervals = (MOST_VALUES, INTERVALS) if bins == "auto" else (int(bins), int(bins))
        return intervals if len(values) > most else None
    days = [periods_of(spelled(value)) for value in values]
    if bins != "auto" or len(values) <= MOST_VALUES or None in days:
        return None
    return usual_unit({day["month"] for day in days if day is not None})


def _by_period(cells: Sequence[Any], unit: str) -> dict[str, Any]:
    """The first date that was seen in each period, in the order of periods."""
    first: dict[str, Any] = {}
    for cell in cells:
        day = periods_of(spelled(cell))
        if day is None:
            raise LacunetError(
                f"{cell!r} is not a date.", f"bins={unit!r} is for columns of dates."
            )
        first.setdefault(day[unit], cell)
    return dict(sorted(first.items()))


def _cut_points(numbers: FloatArray, weights: FloatArray, bins: Any) -> tuple[float, ...]:
    """The cut points as given, or those that leave equally many rows between them."""
    if isinstance(bins, Integral):
        return (-np.inf, *_quantiles(numbers, weights, int(bins)), np.inf)
    return cuts_found(source_from({"x": numbers}), {"x": bins}, Data({"x": numbers}))["x"]


def _refuse_strangers(subject: str, names: Iterable[str], columns: Collection[str]) -> None:
    if strangers := [name for name in names if name not in columns]:
        raise LacunetError(
            f"{subject} {strangers}, which are not columns.",
            f"the columns are called {list(columns)}.",
        )


def _meaning(given: object) -> Meaning:
    if isinstance(given, list | tuple | set | frozenset):
        return tuple(sorted(str(state) for state in given))
    return None if given is None else str(given)


def _read(cells: NDArray[Any], meanings: Mapping[str, Meaning]) -> list[Any]:
    """The cells, with None for missing ones and what codes mean in their place."""
    if cells.dtype.kind == "f":
        read: list[Any] = np.where(np.isnan(cells), np.array(None), cells).tolist()
    elif cells.dtype.kind in "iub":  # which cannot be missing
        read = cells.tolist()
    elif cells.dtype.kind == "M":
        read = cells.astype("datetime64[us]").tolist()
    else:
        read = [None if is_null(cell) else cell for cell in cells.tolist()]
    if not meanings:
        return read
    return [
        cell if cell is None else meanings.get(as_declared(spelled(cell), meanings), cell)
        for cell in read
    ]


def _is_hidden(read: Sequence[Any], meanings: Mapping[str, Meaning]) -> NDArray[np.bool_]:
    """Which cells are missing, or one of several states as codes say."""
    several = tuple if meanings else ()
    return np.array([cell is None or isinstance(cell, several) for cell in read], dtype=bool)


def _parents_of_rules(asked: Network) -> dict[str, list[str]]:
    """What the rules of columns look at, as a network without other parents has it."""
    return {name: list(parents) for name, parents in asked.parents_of.items() if parents}


def _order(value: Hashable) -> tuple[str, Any]:
    """Numbers by size, all else by type and spelling."""
    if isinstance(value, int | float):
        return "", value
    return type(value).__name__, str(value)


def _quantiles(numbers: FloatArray, weights: FloatArray, count: int) -> list[float]:
    """Numbers that leave equally many rows between them."""
    values, index = np.unique(numbers, return_inverse=True)
    counts = np.bincount(index, weights)
    before = np.cumsum(counts) - counts
    cuts = np.searchsorted(before, np.arange(1, count) / count * counts.sum() * (1 - 1e-12))
    return list(map(float, values[np.unique(np.clip(cuts, 1, len(values) - 1))]))


def _validated(estimator: Any, rows: Any, *y: Any, reset: bool = True) -> Any:
    """The rows, and their classes if they are given, as scikit-learn checks them."""
    return validate_data(
        estimator, _plain(rows), *y, dtype=None, ensure_all_finite="allow-nan", reset=reset
    )


def _weighted(estimator: Any, given: Any, rows: Any, y: Any) -> tuple[FloatArray, Any, Any]:
    """The weights, and the rows that have one."""
    if given is None:
        return np.ones(len(rows)), rows, y
    weights = _check_sample_weight(given, rows, dtype=np.float64, ensure_non_negative=True)
    has = weights > 0
    if not has.any():
        raise LacunetError(f"{type(estimator).__name__}: all weights are zero.")
    return weights[has], rows[has], None if y is None else np.asarray(y)[has]


def _plain(rows: Any) -> Any:
    """The rows with dates and pandas' own kinds as objects, which scikit-learn leaves alone."""
    if type(rows).__module__.partition(".")[0] != "pandas" or not hasattr(rows, "columns"):
        return rows
    kinds = {
        name: object
        for name, kind in rows.dtypes.items()
        if not isinstance(kind, np.dtype) or kind.kind == "M"
    }
    return rows.astype(kinds) if kinds else rows


def _columns(estimator: Any, rows: NDArray[Any]) -> Columns:
    """The columns by name: those of the dataframe, or x0, x1, ..."""
    numbered = [f"x{index}" for index in range(rows.shape[1])]
    names = getattr(estimator, "feature_names_in_", numbered)
    return {str(name): rows[:, index] for index, name in enumerate(names)}


def _is_word(edges: Edges, word: str) -> bool:
    return isinstance(edges, str) and edges == word


def _parents_from(
    given: Edges, table: EncodedTable, asked: Network, target: str | None = None
) -> dict[str, list[str]]:
    """The parents of each variable: learned, or as the edges say, which must name the class."""
    if _is_word(given, "learn"):
        from lacunet.structure.learn_structure import learn_structure

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LacunetWarning)
            learned = learn_structure(Data(table, states=asked), strengths=0, rng=0)
        return {name: list(parents) for name, parents in learned.network.parents_of.items()}
    edges = edges_of(given)
    if target is not None and target not in edges.variables:
        raise LacunetError(
            f"the edges do not name the class, which is called {target!r}.",
            "name it in the edges, or say what it is called there with target='...'.",
        )
    _refuse_strangers("the edges name", edges.variables, asked.states_of)
    return {name: list(parents) for name, parents in edges.parents_of.items()}


def _network(
    states_of: Mapping[str, ColumnStates], parents_of: Mapping[str, Sequence[str]]
) -> Network:
    """The network of these columns; without any parents, with those that rules need."""
    states = {name: column.states for name, column in states_of.items()}
    cuts = {name: column.cuts for name, column in states_of.items() if column.cuts is not None}
    codes = {name: column.meanings for name, column in states_of.items() if column.meanings}
    rules = {name: column.rule for name, column in states_of.items() if column.rule is not None}
    needed = {name: parsed_rule(when, states)[0] for name, (when, _) in rules.items()}
    return Network(states, parents_of or needed, cuts=cuts, codes=codes, not_asked=rules)


def _table(
    network: Network,
    columns: Columns,
    weights: FloatArray | None,
    unseen: Sequence[str] = (),
    *,
    is_strict: bool = False,
) -> EncodedTable:
    """The rows as codes; a row of weight two counts as two rows.

    Rules take ``unseen`` variables as missing. A value that is no state and a cell that contradicts
    a rule are refused if that ``is_strict``; else they are missing, and read as the rule says.
    """
    cells = {
        # A narrow float is the number that it is, not the shortest that rounds to it.
        name: column.astype(np.float64) if column.dtype.kind == "f" else column
        for name, column in columns.items()
    }
    latent = [name for name in network.variables if name not in columns]
    data = Data(cells, unknown="error" if is_strict else "missing", latent=latent)
    pieces = rows_with_codes(source_from(data), data, network, unseen=unseen, tell=False)
    table = EncodedTable.joined(network.cardinality_of, [rows for _, rows, _ in pieces])
    table = replace(table, row_numbers=None)
    if weights is None or (weights == 1).all():
        return table
    return replace(table, weights=weights, copies=Copies(weights, weights))


def _fitted(estimator: Any, network: Network, table: EncodedTable) -> Network:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LacunetWarning)
        return learn(
            network, table, estimator.method, pseudo_counts=estimator.pseudo_counts
        ).network


def _tree(
    table: EncodedTable, names: Sequence[str], given: str | None = None
) -> dict[str, list[str]]:
    """The parent of each variable in the forest of largest mutual information, given another.

    An edge is worth the log-likelihood that it adds, less what its parameters cost (BIC); edges
    that are worth nothing are left out.
    """
    import networkx as nx

    gains = Gains.of(CodedRows.of(table))
    index_of = {name: index for index, name in enumerate(table.variables)}
    always = frozenset() if given is None else frozenset({index_of[given]})
    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(names)
    for index, name in enumerate(names):
        others = names[index + 1 :]
        worths = gains.of_each(index_of[name], [index_of[other] for other in others], always)
        for other, worth in zip(others, worths, strict=True):
            if worth > 0:
                graph.add_edge(name, other, weight=worth)
    forest = nx.maximum_spanning_tree(graph)
    parents: dict[str, list[str]] = {}
    for component in nx.connected_components(forest):
        root = min(component, key=names.index)
        parents |= {child: [parent] for parent, child in nx.bfs_edges(forest, root)}
    return parents


def _folds(table: EncodedTable) -> FloatArray:
    """The weight of each distinct row in each fold.

    Copies of a row are dealt out in turn, from a fold that follows from what the row holds: so
    neither the order of rows or columns matters, nor whether a row is there twice or has weight
    two.
    """
    hashes = hash32(table, tuple(sorted(table.variables)), salt=0)
    first = (hashes % np.uint64(FOLDS)).astype(np.int64)
    turn = (np.arange(FOLDS) - first[:, None]) % FOLDS
    rest = table.row_weights[:, None] % FOLDS
    return np.asarray(table.row_weights[:, None] // FOLDS + np.clip(rest - turn, 0, 1))


def _predictor(network: Network, target: str) -> Predictor:
    """The network made ready to predict the class, which is never evidence."""
    return Predictor.of(network, [target], unseen=[target], memory=None)


def _log_posteriors(predictor: Predictor, table: EncodedTable) -> FloatArray:
    """The logarithm of the probability of each class, whatever the rows show of it."""
    (target,) = predictor.targets
    posteriors = predictor.posteriors(table).of_target[target]
    if np.isnan(posteriors).any():
        raise LacunetError(
            "the network gives some row the probability zero: nothing can be predicted.",
            "fit with pseudo_counts=1 or more, so that no probability is zero.",
        )
    with np.errstate(divide="ignore"):
        return np.log(posteriors)


def calibration(
    logs: FloatArray, classes: NDArray[np.int64], weights: FloatArray
) -> tuple[float, FloatArray]:
    """The slope and the offset of each class under which log-posteriors fit the classes best."""
    from scipy.optimize import minimize

    logs = np.maximum(logs, -700.0)
    rows, number = np.arange(len(classes)), logs.shape[1]

    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        slope, offsets = np.exp(parameters[0]), np.append(0.0, parameters[1:])
        scores = slope * logs + offsets
        surplus = scores - logsumexp(scores, axis=1, keepdims=True)
        share = weights[:, None] * np.exp(surplus)
        share[rows, classes] -= weights
        gradient = np.append((share * slope * logs).sum(), share.sum(axis=0)[1:])
        value = -(weights * surplus[rows, classes]).sum()
        value += 0.5 * SHRINKAGE * (parameters**2).sum()
        return float(value), gradient + SHRINKAGE * parameters

    optimum = minimize(loss, np.zeros(number), jac=True, method="L-BFGS-B").x
    return float(np.exp(optimum[0])), np.append(0.0, optimum[1:])


def _log_odds(probabilities: FloatArray, classes: NDArray[np.int64]) -> FloatArray:
    """The log-odds of one class of each row against all others."""
    return np.asarray(logit(probabilities[np.arange(len(classes)), classes]))
