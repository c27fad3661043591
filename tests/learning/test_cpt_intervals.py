"""One value for how sure a table is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from lacunet.errors import LacunetError
from lacunet.learning.uncertainty.cpt_intervals import Spread


def test_the_interval_is_that_of_as_many_complete_rows() -> None:
    table = np.array([[0.2, 0.8], [0.5, 0.5]])
    variance = table * (1 - table) / np.array([[50.0], [8.0]])
    spread = Spread.of_variance(table, table, variance)
    np.testing.assert_allclose(spread.sizes, [[50, 50], [8, 8]])
    low, high = np.moveaxis(spread.interval(0.9), -1, 0)
    # Ten of fifty rows under Jeffreys' prior, by scipy.
    assert low[0, 0] == pytest.approx(stats.beta(10.5, 40.5).ppf(0.05))
    assert high[0, 0] == pytest.approx(stats.beta(10.5, 40.5).ppf(0.95))


def test_an_entry_of_zero_takes_the_size_of_its_row() -> None:
    table = np.array([0.0, 0.25, 0.75])
    spread = Spread.of_variance(table, table, table * (1 - table) / 40)
    np.testing.assert_allclose(spread.sizes, [40, 40, 40])
    assert 0 < spread.interval()[0, 1] < 0.1


def test_where_nothing_is_known_the_interval_is_nearly_everything() -> None:
    half = np.array([0.5, 0.5])
    spread = Spread.of_variance(half, half, np.full(2, np.inf))
    assert np.isinf(spread.standard_error).all()
    assert spread.interval()[0, 0] < 0.01
    assert spread.interval()[0, 1] > 0.99


def test_a_level_is_a_share_or_from_fifty_in_per_cent() -> None:
    spread = Spread(np.full(2, 0.5), np.full(2, 0.5), np.full(2, 40.0))
    np.testing.assert_array_equal(spread.interval(90), spread.interval(0.9))
    for level in (0, 1, 5, 100, True, "0.9"):
        with pytest.raises(LacunetError, match=f"{level!r}"):
            spread.interval(level)  # type: ignore[arg-type]


def test_an_interval_holds_the_entry_however_strong_the_prior_pulls() -> None:
    # Thirty rows, all in one of twenty states, and one pseudo-count per state.
    table = np.array([31 / 50, *[1 / 50] * 19])
    spread = Spread(table, np.eye(20)[0], np.full(20, 30.0))
    low, high = np.moveaxis(spread.interval(), -1, 0)
    assert (low <= table).all()
    assert (table <= high).all()
    assert high[0] > 0.99


def test_what_all_rows_agree_on_may_be_impossible_or_certain() -> None:
    rates = np.array([0.0, 1.0])
    low, high = Spread(rates, rates, np.array([40.0, 40.0])).interval().T
    assert (low[0], high[1]) == (0.0, 1.0)
    assert high[0] == pytest.approx(1 - low[1])
    # Forty rows without a single one are one in forty at this rate; the interval is no wider.
    assert 0 < high[0] < 1 - 0.025 ** (1 / 40)


def test_what_no_row_shows_may_be_impossible_unless_it_is_standard_errors_away() -> None:
    rates = np.array([[0.03, 0.97], [0.05, 0.95], [0.03, 0.97]])
    spread = Spread(rates, rates, np.full((3, 2), 100.0))
    counts = np.array([[0.0, 60], [0, 60], [1, 60]])
    low, high = np.moveaxis(spread.shown_by(counts).interval(), -1, 0)
    # .03 is 1.76 standard errors from 0, .05 is 2.29; and a row that shows a state proves it.
    assert (low[0, 0], high[0, 1]) == (0.0, 1.0)
    unshown = spread.interval()
    np.testing.assert_array_equal(high[:, 0], unshown[:, 0, 1])
    np.testing.assert_array_equal(low[:, 1], unshown[:, 1, 0])
    np.testing.assert_array_equal(low[1:, 0], unshown[1:, 0, 0])
    np.testing.assert_array_equal(high[1:, 1], unshown[1:, 1, 1])
    assert low[1:, 0].min() > 0
    # 1.76 standard errors are more than at 90%.
    assert spread.shown_by(counts).interval(0.9)[0, 0, 0] > 0


def test_an_entry_keeps_what_rows_rule_out() -> None:
    rates = np.array([[0.03, 0.97], [0.4, 0.6]])
    spread = Spread(rates, rates, np.full((2, 2), 100.0)).shown_by(np.array([[0.0, 60], [9, 9]]))
    entry = spread.at((0, 0))
    np.testing.assert_array_equal(entry.interval(), spread.interval()[0, 0])
    moved = spread.with_entries({(1, 1): entry})
    np.testing.assert_array_equal(moved.interval()[1, 1], spread.interval()[0, 0])
    np.testing.assert_array_equal(moved.interval()[:, 0], spread.interval()[:, 0])


def test_what_hardly_a_row_speaks_for_is_known_no_better_than_the_rest_of_its_row() -> None:
    rates = np.array([0.0001, 0.9824, 0.0175])
    spread = Spread.of_variance(rates, rates, rates * (1 - rates) / np.array([800.0, 100.0, 90.0]))
    np.testing.assert_allclose(spread.sizes, [90.0, 100.0, 90.0])


def test_a_variable_of_one_state_is_certain() -> None:
    only = np.ones((2, 1))
    np.testing.assert_array_equal(Spread(only, only, np.full((2, 1), 9.0)).interval(), 1.0)
