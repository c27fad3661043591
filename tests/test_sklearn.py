"""The face for scikit-learn, held to scikit-learn's own checks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import calibration_curve
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils.estimator_checks import check_estimator

import lacunet as lc
from lacunet.sklearn import BayesianNetworkClassifier, BayesianNetworkImputer

DOES_NOT_APPLY = {
    "check_array_api_input": "needs SCIPY_ARRAY_API: arrays of other libraries are not taken",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", [BayesianNetworkClassifier(), BayesianNetworkImputer()])
def test_the_checks_of_scikit_learn_pass(estimator: Any) -> None:
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    assert len(results) > 40
    failed = {
        result["check_name"]: repr(result["exception"])
        for result in results
        if result["status"] != "passed" and result["check_name"] not in DOES_NOT_APPLY
    }
    assert failed == {}


def asia_rows(rows: int, seed: int, hidden: float) -> tuple[pd.DataFrame, pd.Series]:
    asia = lc.example("asia")
    rng = np.random.default_rng(seed)
    table = lc.sample(asia, rows, rng)
    frame = pd.DataFrame(
        {name: np.array(asia.states(name))[codes] for name, codes in table.columns.items()}
    )
    y = frame.pop("bronc")
    return frame.mask(rng.random(frame.shape) < hidden), y


EDGES = (
    "smoke -> lung, bronc; asia -> tub; lung, tub -> either; either -> xray; bronc, either -> dysp"
)


def test_probabilities_are_those_of_the_network_that_was_learned() -> None:
    X, y = asia_rows(400, 1, 0.3)
    model = BayesianNetworkClassifier(EDGES, target="bronc", method="em").fit(X, y)
    assert model.classes_.tolist() == ["no", "yes"]
    found = model.predict_proba(X.head(20))
    for row, (_, shown) in enumerate(X.head(20).iterrows()):
        evidence: dict[Any, Any] = shown.to_dict()
        answer = lc.query(model.network_, "bronc", evidence)
        np.testing.assert_allclose(found[row], answer, rtol=1e-10)


def test_pipelines_cross_validation_and_calibration_work_with_missing_values() -> None:
    X, y = asia_rows(1000, 2, 0.2)
    model = BayesianNetworkClassifier(EDGES, target="bronc", method="factored-mar")
    scores = cross_val_score(model, X, y, cv=3)
    assert scores.mean() > 0.7  # the majority has 0.55; the truth, with nothing hidden, 0.83
    proba = model.fit(X, y).predict_proba(X)[:, 1]
    calibration_curve(y == "yes", proba, n_bins=4)
    naive = make_pipeline(OrdinalEncoder(), BayesianNetworkClassifier(method="factored-mar"))
    assert cross_val_score(naive, X, y, cv=3).mean() > 0.7


def test_a_column_never_seen_missing_is_imputed_in_later_data() -> None:
    X = pd.DataFrame({"a": ["u", "v"] * 20, "b": ["p", "q"] * 20, "n": [1.0, 2.0] * 20})
    imputer = BayesianNetworkImputer(method="direct-mcar").set_output(transform="pandas").fit(X)
    new = pd.DataFrame({"a": [None, "v"], "b": ["q", None], "n": [np.nan, 2.0]})
    whole = imputer.transform(new)
    assert whole["a"].tolist() == ["v", "v"]
    assert whole["b"].tolist() == ["q", "q"]
    assert whole["n"].tolist() == [2.0, 2.0]


def test_numbers_are_imputed_by_the_mean_of_their_interval() -> None:
    rng = np.random.default_rng(3)
    low, high = rng.random(200), rng.random(200) + 10
    X = np.column_stack([np.r_[low, high], np.r_[low, high] * 2])
    imputer = BayesianNetworkImputer(bins=2, method="direct-mcar").fit(X)
    filled = imputer.transform([[10.5, np.nan], [np.nan, 0.5]])
    np.testing.assert_allclose(filled, [[10.5, 2 * high.mean()], [low.mean(), 0.5]], rtol=1e-12)


def test_a_category_that_was_never_seen_counts_as_missing() -> None:
    X = pd.DataFrame({"a": ["u", "v"] * 10})
    model = BayesianNetworkClassifier(method="direct-mcar").fit(X, ["p", "q"] * 10)
    np.testing.assert_allclose(model.predict_proba(pd.DataFrame({"a": ["w"]})), [[0.5, 0.5]])
    with pytest.raises(lc.LacunetError, match="both called 'a'"):
        BayesianNetworkClassifier(target="a").fit(X, ["p", "q"] * 10)
