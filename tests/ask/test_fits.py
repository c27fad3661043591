"""Fits of any library to several completed tables, pooled."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lacunet as lc

NAMES = ["(Intercept)", "age", "bmi"]
# R's mice 3.15: mice(nhanes, m = 4, seed = 1), with(imp, lm(chl ~ age + bmi)): coef and vcov
FITS = [
    (
        [-61.42957544491129, 30.27709913498655, 7.41242626962222],
        [
            [2991.2178547941148, -297.21251652817512, -88.88512436324810],
            [-297.2125165281751, 66.73028133543279, 6.56468088583893],
            [-88.8851243632481, 6.56468088583893, 2.82395873518009],
        ],
    ),
    (
        [-11.33490992652772, 24.97187121591760, 6.08432208440155],
        [
            [2864.4706702194994, -202.11622278527625, -93.64635568490112],
            [-202.1162227852762, 61.69726997478015, 3.54545214668928],
            [-93.6463556849011, 3.54545214668928, 3.31335708516785],
        ],
    ),
    (
        [11.31375414732319, 28.03989435982252, 5.06547471213234],
        [
            [3171.4425500088832, -346.28274405845104, -94.10105035962752],
            [-346.2827440584510, 77.94338096946768, 7.79650982670351],
            [-94.1010503596275, 7.79650982670351, 2.99698706430385],
        ],
    ),
    (
        [-50.39376079384416, 29.65065490268318, 7.48588065175188],
        [
            [2359.9005795618009, -232.06285464533698, -70.89171751431080],
            [-232.0628546453370, 63.63042318578971, 4.44518398631524],
            [-70.8917175143108, 4.44518398631524, 2.33482132749874],
        ],
    ),
]
# The same, pooled by mice 3.19.10 (pool.vector, 22 complete degrees of freedom)
POOLED = {
    "estimate": [-27.9611230044900, 28.2348799033525, 6.5120259294770],
    "standard_error": np.sqrt([4281.05269845812563, 74.52547357272053, 4.54834555142279]),
    "df": [8.95127964644124, 17.38793475201379, 8.07046337052672],
    "lambda_": [0.3350331999717337, 0.0942648784311038, 0.3695991167292234],
    "fmi": [0.446312798424821, 0.183114988320673, 0.483487914726445],
}
INTERVALS = [  # mice 3.15, summary(pool(fits), conf.int = TRUE)
    [-176.09640372453981, 120.1741577155598],
    [10.05214052529634, 46.4176192814086],
    [1.60150946006868, 11.4225423988853],
]


def result(fit: Any, names: list[str] = NAMES) -> Any:
    """A fit as statsmodels gives it, coefficients in an order of its own."""
    params = pd.Series(fit[0], NAMES)[names]
    covariance = pd.DataFrame(fit[1], NAMES, NAMES).loc[names, names]
    return SimpleNamespace(params=params, cov_params=lambda: covariance, df_resid=22.0)


def test_fits_are_pooled_as_mice_does() -> None:
    for pooled in (lc.pool_fits(FITS, df=22), lc.pool_fits(map(result, FITS))):
        for name, expected in POOLED.items():
            np.testing.assert_allclose(getattr(pooled, name), expected, rtol=1e-10)
        np.testing.assert_allclose(pooled.interval(), INTERVALS, rtol=1e-10)
        assert pooled.covariance is not None
        np.testing.assert_allclose(np.sqrt(np.diag(pooled.covariance)), pooled.standard_error)
        np.testing.assert_allclose(pooled.covariance, pooled.covariance.T)
    assert pooled.names == tuple(NAMES)
    assert str(pooled).splitlines()[2].split()[0] == "age"
    assert lc.pool_fits(FITS).names == ()
    assert (lc.pool_fits(FITS).df > pooled.df).all()


def test_coefficients_are_matched_by_their_names() -> None:
    turned = [result(FITS[0]), *(result(fit, ["bmi", "(Intercept)", "age"]) for fit in FITS[1:])]
    pooled, expected = lc.pool_fits(turned), lc.pool_fits(map(result, FITS))
    np.testing.assert_allclose(pooled.covariance, expected.covariance, rtol=1e-12)
    np.testing.assert_allclose(pooled.interval(), expected.interval(), rtol=1e-12)


def test_results_of_statsmodels_are_pooled() -> None:
    smf = pytest.importorskip("statsmodels.formula.api")
    rng = np.random.default_rng(0)
    x, group = rng.normal(size=80), rng.choice(["a", "b"], 80)
    frame = pd.DataFrame({"x": x, "g": group, "y": 2 * x + (group == "b") + rng.normal(size=80)})
    holes = frame.mask(rng.random(frame.shape) < 0.25)
    edges, data = "x -> y; g -> y", lc.Data(holes, bins={"x": 3, "y": 3})
    with pytest.warns(lc.LacunetWarning):
        tables = lc.learn(edges, data, "em", intervals=True).impute(holes, 5, rng=1)
    fits = [smf.ols("y ~ x + g", table).fit() for table in tables]
    pooled = lc.pool_fits(fits)
    assert pooled.names == ("Intercept", "g[T.b]", "x")
    by_hand = lc.pool([fit.params for fit in fits], [fit.bse**2 for fit in fits], df=77)
    np.testing.assert_allclose(pooled.interval(), by_hand.interval(), rtol=1e-10)
    binary = [
        smf.logit("z ~ x", table.assign(z=(table["y"] > 0).astype(int))).fit(disp=0)
        for table in tables
    ]
    assert np.isfinite(lc.pool_fits(binary).interval()).all()
    arrays = [fit.model.__class__(fit.model.endog, fit.model.exog).fit() for fit in fits]
    np.testing.assert_allclose(lc.pool_fits(arrays).estimate, pooled.estimate, rtol=1e-10)


WRONG: dict[str, Any] = {
    "one fit": FITS[:1],
    "not a list": result(FITS[0]),
    "no fit": [FITS[0], "ols"],
    "other shapes": [FITS[0], ([1.0, 2.0], [[1.0, 0.0], [0.0, 1.0]])],
    "no matrix": [([1.0, 2.0], [1.0, 2.0])] * 2,
    "texts": [(["a"], [["b"]])] * 2,
    "infinite": [([1.0], [[np.inf]])] * 2,
    "negative": [([1.0], [[-1.0]])] * 2,
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_fit_is_refused(case: str) -> None:
    with pytest.raises(lc.LacunetError):
        lc.pool_fits(WRONG[case])


def test_a_category_that_one_table_lacks_is_named() -> None:
    other = SimpleNamespace(
        params=pd.Series([1.0, 2.0], ["(Intercept)", "age"]), cov_params=lambda: np.eye(2)
    )
    with pytest.raises(lc.LacunetError, match="bmi"):
        lc.pool_fits([result(FITS[0]), other])
