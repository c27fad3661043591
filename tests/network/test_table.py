"""Tables with named axes, against einsum."""

from __future__ import annotations

import numpy as np
import pytest

from lacunet.network.named_axes import Table

RNG = np.random.default_rng(0)
ONE = Table(("A", "B", "C"), RNG.random((2, 3, 4)))
TWO = Table(("C", "D"), RNG.random((4, 5)))


def test_a_product_matches_axes_by_name() -> None:
    product = ONE * TWO
    assert product.scope == ("A", "B", "C", "D")
    np.testing.assert_allclose(product.array, np.einsum("abc,cd->abcd", ONE.array, TWO.array))


def test_a_marginal_has_its_axes_in_the_order_asked_for() -> None:
    np.testing.assert_allclose(ONE.marginal(("C", "A")).array, np.einsum("abc->ca", ONE.array))
    assert ONE.marginal(()).array.shape == ()


def test_a_conditional_sums_to_one_and_is_nan_where_nothing_is_known() -> None:
    empty = Table(ONE.scope, ONE.array * np.array([1.0, 0.0, 1.0])[:, None])
    given = empty.given(("B",))
    assert given.scope == ONE.scope
    sums = given.marginal(("B",)).array
    np.testing.assert_allclose(sums[[0, 2]], 1)
    assert np.isnan(given.array[:, 1]).all()


def test_a_table_is_aligned_with_axes_of_length_one() -> None:
    assert TWO.aligned(("D", "A", "C")).shape == (5, 1, 4)
    np.testing.assert_array_equal(TWO.aligned(("D", "C")), TWO.array.T)


@pytest.mark.parametrize("names", [("A",), ("B", "C"), ()])
def test_conditional_times_marginal_is_the_table(names: tuple[str, ...]) -> None:
    product = ONE.given(names) * ONE.marginal(names)
    np.testing.assert_allclose(product.marginal(ONE.scope).array, ONE.array)
