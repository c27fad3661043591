"""The table `nhanes` of R's `survey`, as the package bundles it: the same shares and errors.

The reference values are those of R 4.2.2 with survey 4.1.1:
`svydesign(id=~SDMVPSU, strata=~SDMVSTRA, weights=~WTMEC2YR, nest=TRUE, data=nhanes)`, then
`svyby(~HI_CHOL, ~RIAGENDR+agecat, ., svymean, na.rm=TRUE)`, linearised.
"""

from __future__ import annotations

import numpy as np
import pytest

import lacunet as lc

# sex (male, female) by age (0-19, 20-39, 40-59, 60+)
SHARES = [
    [0.008854650657, 0.092711614779, 0.166668829683, 0.098904564040],
    [0.008456578477, 0.065356672434, 0.190072147749, 0.201549304860],
]
ERRORS = [
    [0.002916035451, 0.012221628233, 0.017386165166, 0.013521480298],
    [0.004385217045, 0.009491284282, 0.011504923911, 0.018820937078],
]
ALL = (0.11214295634969, 0.00544583969895)  # svymean(~HI_CHOL, ., na.rm=TRUE)


@pytest.mark.parametrize("method", ["direct-mcar", "em"])
def test_conditional_proportions_and_their_errors_are_those_of_r(method: str) -> None:
    rows = lc.example_data("cholesterol").drop(["Race"])
    network = lc.Network.from_data(
        lc.Data(
            rows, codes={"Sex": {1: "male", 2: "female"}, "HighCholesterol": {0: "no", 1: "yes"}}
        ),
        "Sex, Age -> HighCholesterol",
    )
    data = lc.Data(rows, weight="Weight", strata="Stratum", cluster="Unit")
    result = lc.learn(network, data, method, pseudo_counts=0, intervals=True)
    shares = result.network.cpt("HighCholesterol").table[..., 1]
    np.testing.assert_allclose(shares, SHARES, rtol=1e-6)
    errors = result.standard_error("HighCholesterol")[..., 1]
    np.testing.assert_allclose(errors, ERRORS, rtol=0.03)


def test_a_proportion_and_its_error_are_those_of_r() -> None:
    rows = lc.example_data("cholesterol").select(["Stratum", "Unit", "Weight", "HighCholesterol"])
    network = lc.Network({"HighCholesterol": ["0", "1"]})
    data = lc.Data(rows, weight="Weight", strata="Stratum", cluster="Unit")
    result = lc.learn(network, data, "direct-mcar", pseudo_counts=0, intervals=True)
    share, error = ALL
    assert result.network.cpt("HighCholesterol").table[1] == pytest.approx(share, rel=1e-9)
    assert result.standard_error("HighCholesterol")[1] == pytest.approx(error, rel=0.03)
