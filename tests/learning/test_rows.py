"""The paper's appendix example: which of the 36 rows each estimator uses (its Tables 2 and 3)."""

from typing import Any

from examples import appendix_table
from lacunet.learning.explain import OrderRows, rows_entering
from lacunet.learning.methods import method_named

TABLE = appendix_table()


def _orders(method: str, values: dict[str, int], **options: object) -> tuple[OrderRows, ...]:
    form: Any = method_named(method, **options)
    estimand = form.estimand(tuple(values), TABLE.partially_observed, TABLE.fully_observed)
    return rows_entering(estimand, TABLE, values)


def _by_factor(order: OrderRows) -> dict[str, list[int]]:
    return {factor: rows.tolist() for factor, rows in order.rows_of.items()}


def test_listwise_deletion_uses_four_rows_for_x_and_w() -> None:
    (order,) = _orders("listwise", {"X": 1, "W": 1})
    assert order.together.tolist() == [11, 12, 15, 16]


def test_direct_deletion_adds_the_rows_that_hide_only_y() -> None:
    (order,) = _orders("direct-mcar", {"X": 1, "W": 1})
    assert order.together.tolist() == [11, 12, 15, 16, 23, 24]


def test_factored_deletion_uses_two_thirds_of_the_rows_in_two_orders() -> None:
    given_w, given_x = _orders("factored-mcar", {"X": 1, "W": 1})
    assert [*given_w.rows_of] == ["P(X | W, R[X]=1)", "P(W)"]
    assert given_w.together.tolist() == [
        3, 4, 7, 8, 11, 12, 15, 16, 19, 20, 23, 24, 27, 28, 31, 32, 35, 36,
    ]  # fmt: skip
    assert [*given_x.rows_of] == ["P(W | X, R[X]=1)", "P(X | R[X]=1)"]
    assert given_x.together.tolist() == [9, 10, 11, 12, 13, 14, 15, 16, 21, 22, 23, 24]
    assert len({*given_w.together.tolist(), *given_x.together.tolist()}) == 24


def test_direct_deletion_under_mar_weights_four_rows_by_all() -> None:
    (order,) = _orders("direct-mar", {"X": 1, "Y": 1})
    assert _by_factor(order) == {
        "P(X, Y | W, Z, R[X]=1, R[Y]=1)": [13, 14, 15, 16],
        "P(W, Z)": list(range(1, 37)),
    }


def test_factored_deletion_under_mar_uses_the_rows_that_show_one_of_the_two() -> None:
    x_first, y_first = _orders("factored-mar", {"X": 1, "Y": 1})
    assert _by_factor(x_first) == {
        "P(X | Y, W, Z, R[X]=1, R[Y]=1)": [13, 14, 15, 16],
        "P(Y | W, Z, R[Y]=1)": [5, 6, 7, 8, 13, 14, 15, 16, 29, 30, 31, 32],
        "P(W, Z)": list(range(1, 37)),
    }
    assert _by_factor(y_first) == {
        "P(Y | X, W, Z, R[Y]=1, R[X]=1)": [13, 14, 15, 16],
        "P(X | W, Z, R[X]=1)": [9, 10, 11, 12, 13, 14, 15, 16, 21, 22, 23, 24],
        "P(W, Z)": list(range(1, 37)),
    }


def test_informed_deletion_sums_over_the_separator_alone() -> None:
    (order,) = _orders("informed-direct", {"X": 1, "Y": 1}, groups=["W"])
    assert _by_factor(order) == {
        "P(X, Y | W, R[X]=1, R[Y]=1)": [13, 14, 15, 16],
        "P(W)": list(range(1, 37)),
    }
