"""One value for how sure a table is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from lacunet.errors import LacunetError
from lacunet.uncertainty.spread import Spread


def test_the_interval_is_that_of_as_many_complete_rows() -> None:
    table = np.array([[0.2, 0.8], [0.5, 0.5]])
    spread = Spread(table, table * (1 - table) / np.array([[50.0], [8.0]]))
    np.testing.assert_allclose(spread.sizes, [[50, 50], [8, 8]])
    low, high = np.moveaxis(spread.interval(0.9), -1, 0)
    # Ten of fifty rows under Jeffreys' prior, by scipy.
    assert low[0, 0] == pytest.approx(stats.beta(10.5, 40.5).ppf(0.05))
    assert high[0, 0] == pytest.approx(stats.beta(10.5, 40.5).ppf(0.95))
    assert spread.is_vague().tolist() == [[False, False], [True, True]]


def test_an_entry_of_zero_takes_the_size_of_its_row() -> None:
    table = np.array([0.0, 0.25, 0.75])
    spread = Spread(table, table * (1 - table) / 40)
    np.testing.assert_allclose(spread.sizes, [40, 40, 40])
    assert 0 < spread.interval()[0, 1] < 0.1


def test_where_nothing_is_known_the_interval_is_nearly_everything() -> None:
    spread = Spread.of_sizes(np.array([0.5, 0.5]), np.zeros(2))
    assert np.isinf(spread.standard_error).all()
    assert spread.interval()[0, 0] < 0.01
    assert spread.interval()[0, 1] > 0.99


def test_a_level_outside_zero_and_one_is_refused() -> None:
    with pytest.raises(LacunetError, match="95 is not between 0 and 1"):
        Spread(np.array([1.0]), np.array([0.0])).interval(95)
