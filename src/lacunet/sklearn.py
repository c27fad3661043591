"""Bayesian networks with the face of scikit-learn: a classifier and an imputer.

Both take arrays and dataframes with missing values and categories of any type, and learn from
incomplete rows by any of lacunet's methods. Rows are read as `lacunet.learn` reads them: the same
values mean "missing", the same columns are refused or left out, and the same warnings say so. Only
the default of ``bins`` differs: ``"auto"`` cuts columns of numbers with many values into intervals
with equally many rows, and lets dates go by month, quarter or year. What is learned is an ordinary
network, ``network_``.

>>> import numpy as np
>>> X = np.array([[0, np.nan], [0, 1], [1, 0], [np.nan, 0]])
>>> BayesianNetworkClassifier().fit(X, ["a", "a", "b", "b"]).predict([[np.nan, 1]])
array(['a'], dtype='<U1')
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit, logsumexp, softmax

from lacunet.ask.impute.draws import parameter_draws
from lacunet.ask.impute.impute import (
    DRAW,
    ColumnsToFill,
    Drawn,
    are_proper,
    completed_tables,
    number_of_draws,
    with_numbers,
)
from lacunet.ask.impute.missing_numbers import NumbersOfRows, joined_numbers
from lacunet.ask.predict.predictor import Predictor
from lacunet.counts.distinct_rows import distinct_rows
from lacunet.counts.open_rows import open_rows
from lacunet.counts.passes import hash32
from lacunet.data.column_rules import source_from
from lacunet.data.data import Data, in_row_order
from lacunet.data.donors import Donors, DonorSampler
from lacunet.data.errors import DataError, refuse_strangers
from lacunet.data.fill import StateCells, cells_of_states
from lacunet.data.network_from_data import warned_network_of_columns
from lacunet.data.original_tables import fill_frame
from lacunet.data.read import ReadReport, rows_with_codes
from lacunet.data.skipped_questions import apply_rules
from lacunet.data.source_parts import Piece
from lacunet.data.spellings import SeenValues, is_any_text, plain_type
from lacunet.data.states import StatesError
from lacunet.data.table import Copies, EncodedTable
from lacunet.errors import LacunetError, LacunetWarning
from lacunet.learning.imputation_model import ImputationModel
from lacunet.learning.learn import learn
from lacunet.learning.result import Result
from lacunet.network.arguments import clear_arguments
from lacunet.network.edges import edges_of
from lacunet.network.network import FloatArray, Network
from lacunet.network.spelling import spelled
from lacunet.progress import silent
from lacunet.structure.for_imputation import learn_imputation_model
from lacunet.structure.judge_by_em import network_with_parents
from lacunet.structure.tree import tree_parents

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils import _safe_indexing, check_random_state
    from sklearn.utils._set_output import _get_output_config, _wrap_data_with_container
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
except ImportError:
    raise LacunetError("scikit-learn is not installed.", "pip install 'lacunet[sklearn]'") from None

__all__ = ["BayesianNetworkClassifier", "BayesianNetworkImputer", "Reason"]

LEARNING_SEED = 0  # where fits draw missing cells
DONOR_SEED = 0  # by which the rows are chosen that missing numbers are drawn from


def __dir__() -> list[str]:
    """What people use; not what this file imports."""
    return __all__


FOLDS = 5  # of the rows, for calibration
CALIBRATION_ROWS = 10  # of every class; with fewer there is no calibration
SHRINKAGE = 1.0  # towards no calibration, as a ridge: matters for a few dozen rows only

ColumnsByName = dict[str, Any]  # each an array, a series or a list
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

    def _learned_from(
        self, columns: ColumnsByName, weights: FloatArray, states: Mapping[str, Sequence[str]]
    ) -> tuple[Network, EncodedTable]:
        """The network of the columns, with no edges but those of rules, and the rows as codes.

        Some columns have ``states`` that are given.
        """
        data = Data(
            columns,
            counts=weights,
            codes=self.codes,
            not_asked=self.not_asked,
            bins=self.bins,
            states=states,
        )
        with self._told_of_states():
            columns_found, data = warned_network_of_columns(data)
        self._left_out, self._empty = tuple(columns_found.left_out), columns_found.empty
        opened = open_rows(type(self).__name__, columns_found.network, replace(data, counts=None))
        with opened.rows() as rows:
            tables = [*rows.tables(ReadReport())]
        table = EncodedTable.joined(opened.network.cardinality_of, tables)
        return opened.network, _counted(table, weights)

    @contextmanager
    def _told_of_states(self) -> Iterator[None]:
        """Say of columns that cannot be variables what this class itself takes."""
        try:
            yield
        except StatesError as error:
            name = type(self).__name__
            way = f"{name} itself takes bins= and codes=; X.drop(columns=[...]) leaves columns out."
            raise StatesError(error.message, f"{error.hint} {way}".lstrip()) from None

    def _rows_of(
        self, columns: ColumnsByName, read_report: ReadReport | None = None, *, tell: bool = True
    ) -> tuple[EncodedTable, EncodedTable]:
        """Later rows as codes, and by what they show alone; what is not a state is missing."""
        _, tables, shown = zip(*self._read_rows(columns, read_report, tell=tell), strict=True)
        sizes = self.network_.cardinality_of
        return EncodedTable.joined(sizes, tables), EncodedTable.joined(sizes, shown)

    def _read_rows(
        self, columns: ColumnsByName, read_report: ReadReport | None = None, *, tell: bool = True
    ) -> Iterator[tuple[Piece, EncodedTable, EncodedTable]]:
        """The same rows some at a time, also as they came."""
        latent = [name for name in self.network_.variables if name not in columns]
        data = Data(columns, unknown="missing", latent=latent, aside=self._left_out)
        return rows_with_codes(
            source_from(data), data, self.network_, read_report=read_report, tell=tell
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


@clear_arguments
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
        mapping: ``{"Age": [0, 40, 65, 120], "Visit": "month", None: "auto"}``. As in
        `lacunet.learn`, identifiers, free text, and what is not cut of more than 50 different
        values are refused.
    codes, not_asked
        What values of columns mean, and when a question was not asked, as in
        `lacunet.Data`: ``codes={"Smokes": {9: None, 1: "no"}}``; ``{"Answer": {"NA": "NA"}}`` keeps
        a word that else means "missing".
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
        rows, y = _validated(self, X, y)
        check_classification_targets(y)
        weights, X, rows, y = _weighted(self, sample_weight, X, rows, y)  # noqa: N806
        self.classes_, codes = np.unique(y, return_inverse=True)
        columns = _columns(self, X, rows)
        if self.target in columns:
            raise LacunetError(
                f"the class and a column are both called {self.target!r}.", "rename target=..."
            )
        states = _states_of_classes(self.classes_.tolist())
        columns[self.target] = [states[code] for code in codes]
        asked, table = self._learned_from(columns, weights, {self.target: states})
        bare = network_with_parents(
            asked, asked.variables, self._parents(table.without_sets(), asked)
        )
        self.network_ = _fitted(self, bare, table)
        self._predictor = _predictor(self.network_, self.target)
        self.slope_, self.offsets_ = 1.0, np.zeros(len(self.classes_))
        counts = np.bincount(codes, weights, minlength=len(self.classes_))
        if self.calibrate and len(self.classes_) > 1 and counts.min() >= CALIBRATION_ROWS:
            data = Data(columns, aside=self._left_out)
            unseen = [self.target]
            pieces = rows_with_codes(source_from(data), data, bare, unseen=unseen, tell=False)
            table = EncodedTable.joined(bare.cardinality_of, [codes for _, codes, _ in pieces])
            self._calibrate(bare, _counted(table, weights))
        return self

    def _parents(self, table: EncodedTable, asked: Network) -> dict[str, list[str]]:
        """The parents of each variable, as the edges say."""
        if self.edges is not None and not _is_word(self.edges, "tan"):
            return _parents_from(self.edges, table, asked, self._left_out, self.target)
        parents = _parents_of_rules(asked)
        columns = [name for name in asked.variables if name != self.target]
        if self.edges is not None:
            parents |= tree_parents(
                table, [name for name in columns if name not in parents], self.target
            )
        return {
            name: list(dict.fromkeys([self.target, *parents.get(name, ())])) for name in columns
        }

    def _calibrate(self, bare: Network, table: EncodedTable) -> None:
        """Fit slope and offsets to rows that were not learned from.

        Rules have not looked at the class in ``table``, as they cannot where it is predicted.
        """
        rows = distinct_rows(table, table.variables).table
        held = _folds(rows)
        logs = []
        classes = []
        weights = []
        for fold in held.T:
            left = rows.row_weights - fold
            tested = fold > 0
            if not tested.any() or not (left > 0).any():
                continue
            kept = replace(rows, weights=left, copies=Copies(left, left)).take(left > 1e-9)
            with warnings.catch_warnings():  # all rows gave them before
                warnings.simplefilter("ignore", LacunetWarning)
                network = _fitted(self, bare, apply_rules(bare, kept))
            logs.append(_log_posteriors(_predictor(network, self.target), rows.take(tested)))
            classes.append(rows.columns[self.target][tested].astype(np.int64))
            weights.append(fold[tested])
        self.slope_, self.offsets_ = calibration(*map(np.concatenate, (logs, classes, weights)))

    def predict_proba(self, X: Any) -> FloatArray:  # noqa: N803
        """The probability of each class for each row, given what the row shows."""
        columns, _ = self._read(X)
        return self._probabilities(self._rows_of(columns)[0])

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
        columns, rows = self._read(X)
        table, shown = self._rows_of(columns)
        whole = self._probabilities(table)
        predicted = whole.argmax(axis=1)
        odds = _log_odds(whole, predicted)
        reasons: list[list[Reason]] = [[] for _ in predicted]
        for column, name in enumerate(columns):
            if name in self._left_out:
                continue
            hidden, _ = self._rows_of({**columns, name: [None] * len(rows)}, tell=False)
            fall = odds - _log_odds(self._probabilities(hidden), predicted)
            is_shown = shown.columns[name] != self.network_.cardinality(name)
            for row in np.flatnonzero(is_shown):
                reasons[row].append(Reason(name, rows[row, column], float(fall[row])))
        return [sorted(of_row, key=lambda reason: -abs(reason.weight))[:most] for of_row in reasons]

    def _read(self, X: Any) -> tuple[ColumnsByName, NDArray[Any]]:  # noqa: N803
        """The columns as they came, and the rows as scikit-learn checks them."""
        check_is_fitted(self)
        rows = _validated(self, X, reset=False)
        return _columns(self, X, rows), rows

    def _probabilities(self, table: EncodedTable) -> FloatArray:
        logs = _log_posteriors(self._predictor, table)
        return softmax(self.slope_ * logs + self.offsets_, axis=1)


@clear_arguments
class BayesianNetworkImputer(OneToOneFeatureMixin, TransformerMixin, NetworkEstimator):  # type: ignore[misc]
    """Fill in missing cells by draws from their distribution given what the row shows.

    `transform` gives one completed table, in which columns vary, and go together, as measured ones
    do; `draw` gives several, of which `lacunet.pool` makes the answer of an analysis. What is
    learned in `fit` fills in any later data, also in columns that were complete before. Cells that
    are shown keep their values, also those that `fit` has not seen; the columns of a dataframe keep
    their types as in `Network.impute`, where ``set_output(transform="pandas")`` or
    ``"polars"`` asks for dataframes. Of a question that was not asked every cell says so, and its
    column becomes one of objects or texts where it cannot.

    Parameters
    ----------
    edges
        None for a network in which no edge is left out, as `lacunet.learn_structure` learns it
        with ``purpose="imputation"``; its time goes with the square of the number of columns (500
        rows of numbers: 2 s for 20 columns, 19 s for 80). "tree" for the tree of the strongest
        pairwise dependences (Chow and Liu), quick for any number of them; "learn" for edges found
        by `lacunet.learn_structure`; or the edges themselves over the names of the columns
        (``x0, x1, ...`` for arrays).
    method, pseudo_counts
        As for `lacunet.learn`, where there are edges.
    bins
        How columns of numbers and dates are cut, as in `lacunet.Data` and
        `BayesianNetworkClassifier`; by default ``"auto"``: without edges numbers are cut finely,
        into at most some thirty intervals. A missing cell gets a number that `fit`
        saw in its interval, in a row like this one, or a date of its period; the most probable
        completion has the mean of the interval's numbers, and the first date of the period.
    codes, not_asked
        What values of columns mean, and when a question was not asked, as in
        `lacunet.Data`: ``codes={"Smokes": {9: None, 1: "no"}}``; ``{"Answer": {"NA": "NA"}}`` keeps
        a word that else means "missing".
        A cell that is one of several states is filled in too.
    sample_posterior
        False for the most probable completion of each row in place of a draw.
    draws
        How many completed tables `draw` gives if it is not told.
    random_state
        A seed gives the same draws for the same rows; a ``numpy.random.RandomState`` or
        ``Generator`` goes on where it is, and None gives others each time.

    Attributes
    ----------
    network_ : Network
        What was learned; without edges, its variables and their states alone.
    model_ : ImputationModel
        What completes rows, without edges; None with edges.
    donors_ : Donors
        Rows of `fit`, at most 200 of each interval, from which missing numbers are drawn; None
        where no column is cut.
    """

    def __init__(
        self,
        edges: Edges = None,
        *,
        method: Any = "auto",
        pseudo_counts: Any = None,
        bins: Any = "auto",
        codes: Any = None,
        not_asked: Any = None,
        sample_posterior: bool = True,
        draws: int = 20,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            edges,
            method=method,
            pseudo_counts=pseudo_counts,
            bins=bins,
            codes=codes,
            not_asked=not_asked,
        )
        self.sample_posterior = sample_posterior
        self.draws = draws
        self.random_state = random_state

    def fit(self, X: Any, y: object = None, sample_weight: Any = None) -> BayesianNetworkImputer:  # noqa: ARG002, N803
        """Learn the network from the rows; a weight counts as so many rows.

        A pandas series of weights goes by its index.
        """
        sample_weight = in_row_order(sample_weight, X, "sample_weight")
        rows = _validated(self, X)
        weights, X, rows, _ = _weighted(self, sample_weight, X, rows, None)  # noqa: N806
        columns = _columns(self, X, rows)
        self.model_: ImputationModel | None = None
        if self.edges is None:
            self._fit_dense(columns, weights)
        else:
            self._fit_edges(columns, weights)
        self._seen, self.donors_ = self._values_in(columns, weights)
        return self

    def _fit_dense(self, columns: ColumnsByName, weights: FloatArray) -> None:
        """Learn a network in which no edge is left out."""
        if self.method != "auto" or self.pseudo_counts is not None:
            name = "method" if self.method != "auto" else "pseudo_counts"
            raise LacunetError(
                f"{name}={getattr(self, name)!r} is for networks with edges of their own.",
                "give edges= as well: 'tree', 'learn' or the edges; or leave it out.",
            )
        bins = None if isinstance(self.bins, str) and self.bins == "auto" else self.bins
        counts = None if (weights == 1).all() else weights
        data = Data(columns, counts=counts, codes=self.codes, not_asked=self.not_asked, bins=bins)
        with self._told_of_states():
            self.model_ = learn_imputation_model(
                data, rng=np.random.default_rng(LEARNING_SEED), progress=silent
            )
        self.network_ = self.model_.network
        self._left_out = tuple(name for name in columns if name not in self.network_.variables)

    def _fit_edges(self, columns: ColumnsByName, weights: FloatArray) -> None:
        """Learn the CPTs of a network with the edges asked for."""
        asked, table = self._learned_from(columns, weights, {})
        if self._empty:
            raise DataError.empty_columns(self._empty)
        ruled = _parents_of_rules(asked)
        plain = table.without_sets()
        if _is_word(self.edges, "tree"):
            parents_of = tree_parents(plain, [v for v in asked.variables if v not in ruled]) | ruled
        else:
            parents_of = _parents_from(self.edges, plain, asked, self._left_out)
        bare = network_with_parents(asked, asked.variables, parents_of)
        self.network_ = _fitted(self, bare, table)
        self._learned_from_rows = bare, table
        self._sure: Result | None = None

    def _values_in(
        self, columns: ColumnsByName, weights: FloatArray
    ) -> tuple[SeenValues, Donors | None]:
        """How the rows write each state, and the numbers in each interval; donors of these."""
        data = Data(columns, aside=self._left_out)
        seen, row = SeenValues(dict(self.network_.cuts_of)), 0
        sampler = DonorSampler(self.network_, DONOR_SEED)
        for piece, _, shown in rows_with_codes(source_from(data), data, self.network_, tell=False):
            here = weights[row : row + piece.rows]
            seen.add(piece.columns, shown, self.network_.variables, here)
            sampler.add(piece.columns, replace(shown, weights=here))
            row += piece.rows
        return seen, sampler.donors()

    def transform(self, X: Any) -> Any:  # noqa: N803
        """The rows with every missing cell filled in."""
        check_is_fitted(self)
        (whole,) = self._completed(X, 1 if self.sample_posterior else None)
        return whole

    def draw(self, X: Any, m: int | None = None) -> list[Any]:  # noqa: N803
        """Several completed tables, for multiple imputation: each as `transform` gives it.

        Two or more are proper: each is drawn with CPTs of its own, which are drawn first, within
        their uncertainty. For that the rows of `fit` are kept, and learned from once more.

        Parameters
        ----------
        m
            How many; by default ``draws``.

        Examples
        --------
        >>> X = np.array([["u", "p"], ["v", "q"], ["u", None]] * 20, dtype=object)
        >>> imputer = BayesianNetworkImputer(random_state=0).fit(X)
        >>> tables = imputer.draw(X, 5)
        >>> len(tables), tables[0].shape
        (5, (60, 2))
        """
        check_is_fitted(self)
        number = number_of_draws(self.draws if m is None else m, DRAW)
        assert number is not None
        return [
            _wrap_data_with_container("transform", whole, X, self)
            for whole in self._completed(X, number)
        ]

    def _completed(self, X: Any, number: int | None) -> Iterator[Any]:  # noqa: N803
        """So many tables that are drawn; without a number the most probable one."""
        network, rng = self.network_, _generator(self.random_state)
        rows = _validated(self, X, reset=False)
        columns, read_report = _columns(self, X, rows), ReadReport()
        pieces = [*self._read_rows(columns, read_report)]
        table = EncodedTable.joined(network.cardinality_of, (coded for _, coded, _ in pieces))
        shown = EncodedTable.joined(network.cardinality_of, (seen for *_, seen in pieces))
        numbers = NumbersOfRows.of(self.donors_, network, ".", None if number is None else rng)
        shown_numbers = joined_numbers([numbers.shown(p.columns, seen) for p, _, seen in pieces])
        type_of = {
            name: getattr(column, "type", None) for name, column in pieces[0][0].columns.items()
        }
        to_draw = numbers.to_draw(shown.partially_observed, type_of)
        is_proper = are_proper(number, None)
        networks: Sequence[Drawn] | None = None
        if self.model_ is not None:
            networks = [*self.model_.draws(number or 1, rng, proper=is_proper)]
        elif is_proper and number is not None:
            networks = parameter_draws(self._with_intervals(), number, rng)
        tables = completed_tables(
            network=network,
            table=table,
            absent=(),
            draws=number,
            drawn=networks,
            rng=rng,
            memory=None,
        )
        for completed, of_draw in zip(tables, networks or repeat(network), strict=False):
            filler = to_draw.filler(of_draw, is_proper=is_proper)
            drawn = filler.fill(completed, shown_numbers)
            states = {
                name: (codes, (completed.columns[name], network.states(name)))
                for name, codes in self._codes_shown(columns, shown, read_report).items()
            }
            seen = replace(self._seen, type_of=self._types_to_fill(columns, type_of))
            cells_of = {name: self._cells(name, columns[name], type_of[name]) for name in states}
            fills = with_numbers(network, states, cells_of, drawn, seen, to_draw.whole)
            yield self._filled(X, rows, columns, *fills)

    def _with_intervals(self) -> Result:
        """What was learned, with intervals: learned again from the same rows, the first time."""
        if self._sure is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LacunetWarning)  # given when it was fitted
                bare, table = self._learned_from_rows
                self._sure = learn(
                    bare, table, self.method, pseudo_counts=self.pseudo_counts, intervals=True
                )
        return self._sure

    def _codes_shown(
        self, columns: ColumnsByName, shown: EncodedTable, read_report: ReadReport
    ) -> dict[str, NDArray[Any]]:
        """What rows show of each variable that some miss; a value that is not a state stays."""
        codes_of: dict[str, NDArray[Any]] = {}
        for name in shown.partially_observed:
            codes_of[name] = shown.columns[name]
            if odd := read_report.odd_in[name].refused:
                is_odd = [cell in odd for cell in _plain_cells(columns[name])]
                codes_of[name] = np.where(is_odd, 0, codes_of[name])
        return codes_of

    def _types_to_fill(self, columns: ColumnsByName, type_of: Mapping[str, Any]) -> dict[str, Any]:
        """The types that numbers are filled in with: where some were not asked, what holds words.

        Those are Python objects, which Polars does not have.
        """
        import pyarrow as pa

        words = {
            name: pa.string() if type(columns[name]).__module__.startswith("polars") else None
            for name in self.network_.not_asked_of
            if not is_any_text(plain_type(type_of.get(name) or pa.null()))
        }
        return {**type_of, **words}

    def _filled(
        self,
        X: Any,  # noqa: N803
        rows: NDArray[Any],
        columns: ColumnsByName,
        fills: ColumnsToFill,
        cells_of: Mapping[str, StateCells],
    ) -> Any:
        """The rows with what they do not show filled in."""
        frame: Any = X
        if not _is_frame(X):
            frame = {name: list(cells) for name, cells in columns.items()}
        whole = fill_frame(frame, fills, cells_of)
        if not _is_frame(X):
            return _as_array(rows, [*whole.values()], [*columns], {*fills})
        if _get_output_config("transform", self)["dense"] == "default":
            return np.asarray(whole)
        return whole

    def _cells(self, name: str, column: Any, kind: Any) -> StateCells:
        """What is filled in for each state of a column of an Arrow type, by what `fit` saw."""
        import pyarrow as pa

        cells = cells_of_states(self.network_, name, self._seen, kind)
        rule = self.network_.not_asked_of.get(name)
        states = self.network_.states(name)
        if rule is not None and states.index(rule.state) not in cells.values:
            values = {**cells.values, states.index(rule.state): rule.state}
            kind = None
            if type(column).__module__.startswith("polars"):
                values = {code: spelled(value) for code, value in values.items()}
                kind = pa.string()
            cells = StateCells(values, kind)
        return replace(cells, are_means=True)  # none is taken from the rows to be completed


def _generator(random_state: Any) -> np.random.Generator:
    """The source of randomness, from scikit-learn's ``random_state``."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    try:
        state = check_random_state(random_state)
    except ValueError:
        raise LacunetError(
            f"random_state is {random_state!r}, which is not a seed.",
            "give a whole number from zero up, a numpy.random.RandomState or Generator, or None.",
        ) from None
    return np.random.default_rng(state.randint(2**31, size=4))


def _states_of_classes(classes: Sequence[Any]) -> tuple[str, ...]:
    """The states of the class variable; classes that are spelled alike are told apart."""
    texts = [str(value) for value in classes]
    return tuple(
        text if text and texts.count(text) == 1 else repr(value)
        for value, text in zip(classes, texts, strict=True)
    )


def _parents_of_rules(asked: Network) -> dict[str, list[str]]:
    """What the rules of columns look at, as a network without other parents has it."""
    return {name: list(parents) for name, parents in asked.parents_of.items() if parents}


def _validated(estimator: Any, rows: Any, *y: Any, reset: bool = True) -> Any:
    """The rows, and their classes if they are given, as scikit-learn checks them."""
    return validate_data(
        estimator, _plain(rows), *y, dtype=None, ensure_all_finite="allow-nan", reset=reset
    )


def _weighted(
    estimator: Any, given: Any, frame: Any, rows: Any, y: Any
) -> tuple[FloatArray, Any, Any, Any]:
    """The weights, and the rows that have one, as they came and as scikit-learn checks them."""
    if given is None:
        return np.ones(len(rows)), frame, rows, y
    weights = _check_sample_weight(given, rows, dtype=np.float64, ensure_non_negative=True)
    has = weights > 0
    if not has.any():
        raise LacunetError(f"{type(estimator).__name__}: all weights are zero.")
    if has.all():
        return weights, frame, rows, y
    if _is_frame(frame):
        frame = _safe_indexing(frame, np.flatnonzero(has))
    return weights[has], frame, rows[has], None if y is None else np.asarray(y)[has]


def _counted(table: EncodedTable, weights: FloatArray) -> EncodedTable:
    """The rows, each of which counts as so many."""
    table = replace(table, row_numbers=None)
    if (weights == 1).all():
        return table
    return replace(table, weights=weights, copies=Copies(weights, weights))


def _is_frame(rows: Any) -> bool:
    """Whether rows are a dataframe in memory, of pandas or Polars."""
    library = type(rows).__module__.partition(".")[0]
    return library in ("pandas", "polars") and type(rows).__name__ == "DataFrame"


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


def _columns(estimator: Any, frame: Any, rows: NDArray[Any]) -> ColumnsByName:
    """The columns by name: those of the dataframe, or x0, x1, ..."""
    numbered = [f"x{index}" for index in range(rows.shape[1])]
    names = [str(name) for name in getattr(estimator, "feature_names_in_", numbered)]
    if not _is_frame(frame):
        if rows.dtype.kind == "f":
            # A narrow float is the number that it is, not the shortest that rounds to it.
            rows = rows.astype(np.float64)
        return dict(zip(names, rows.T, strict=True))
    series = (
        frame.iloc[:, k] if hasattr(frame, "iloc") else frame[:, k] for k in range(len(names))
    )
    return dict(zip(names, series, strict=True))


def _plain_cells(column: Any) -> list[Any]:
    """The cells as Python objects."""
    return list(column.tolist() if hasattr(column, "tolist") else column)


def _as_array(
    rows: NDArray[Any], columns: Sequence[Any], names: Sequence[str], changed: Collection[str]
) -> NDArray[Any]:
    """The rows with some columns changed; objects, where their type does not hold these."""
    whole = rows.copy()
    for index, name in enumerate(names):
        if name not in changed:
            continue
        if whole.dtype != object and any(isinstance(cell, str) for cell in columns[index]):
            whole = whole.astype(object)
        whole[:, index] = columns[index]
    return whole


def _is_word(edges: Edges, word: str) -> bool:
    return isinstance(edges, str) and edges == word


def _parents_from(
    given: Edges,
    table: EncodedTable,
    asked: Network,
    left_out: Collection[str],
    target: str | None = None,
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
    known = [*asked.variables, *left_out]
    refuse_strangers("edges", edges.variables, known, "the rows")
    return {
        name: [parent for parent in parents if parent not in left_out]
        for name, parents in edges.parents_of.items()
        if name not in left_out
    }


def _fitted(estimator: Any, network: Network, table: EncodedTable) -> Network:
    return learn(network, table, estimator.method, pseudo_counts=estimator.pseudo_counts).network


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
    rows = np.arange(len(classes))
    number = logs.shape[1]

    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        slope = np.exp(parameters[0])
        offsets = np.append(0.0, parameters[1:])
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
