"""Log-linear CPTs of dense networks: against scikit-learn, by hand, and by enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from lacunet.learning.dense.augmentation import Augmentation, complete
from lacunet.learning.dense.log_linear import (
    CONSTANT_PRECISION,
    FittedRows,
    LogLinear,
    LogLinearForm,
    Parameters,
    log_probabilities,
)
from lacunet.learning.dense.residual_tables import ResidualTable
from lacunet.learning.dense.scales import (
    Scale,
    scale_of_categories,
    scale_of_intervals,
    scale_of_numerals,
)
from lacunet.network.network import FloatArray


def _categories(states: int) -> Scale:
    return scale_of_categories(np.ones(states))


def _rows(codes: FloatArray, parents: list[Scale], weights: FloatArray | None = None) -> FittedRows:
    """Rows whose last column is the child."""
    whole = codes.astype(np.int64)
    columns = [scale.as_parent[whole[:, index]] for index, scale in enumerate(parents)]
    if weights is None:
        weights = np.ones(len(whole))
    return FittedRows(np.hstack(columns), whole[:, -1], whole, weights)


def _cpt(child: Scale, parents: list[Scale], precision: float = 1.0) -> LogLinear:
    width = sum(scale.as_parent.shape[1] for scale in parents)
    groups, first = [], 0
    for scale in parents:
        for start, end in scale.parent_groups:
            groups.append((slice(first + start, first + end), False))
        first += scale.as_parent.shape[1]
    cpt = LogLinear(LogLinearForm(len(parents), child, np.arange(width)), groups)
    cpt.precisions[:] = precision
    return cpt


def _some_rows(rng: np.random.Generator, number: int) -> FloatArray:
    """Two parents of three and two states, and a child of four that goes with both."""
    first, second = rng.integers(3, size=number), rng.integers(2, size=number)
    scores = np.array([[0.0, 1.0, 2.0, -1.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, -1.0, 1.0]])[first]
    scores = scores + second[:, None] * np.array([0.0, 0.8, 0.0, -0.8])
    chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    child = (rng.random((number, 1)) > chances.cumsum(axis=1)).sum(axis=1)
    return np.column_stack([first, second, child]).astype(float)


def test_the_fit_of_categories_is_scikit_learns_multinomial_ridge_regression() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    parents = [_categories(3), _categories(2)]
    rows = _rows(_some_rows(np.random.default_rng(1), 800), parents)
    cpt = _cpt(_categories(4), parents, precision=2.0)
    cpt.fit(rows, 50, anew=True)
    # Its constants have no prior: one more column, which makes theirs that of ours.
    constant = np.full((800, 1), np.sqrt(2.0 / CONSTANT_PRECISION))
    other = linear_model.LogisticRegression(C=0.5, tol=1e-10, max_iter=10_000, fit_intercept=False)
    other.fit(np.hstack([rows.parents, constant]), rows.child)
    np.testing.assert_allclose(
        cpt.scale.as_child @ cpt.at.effects.T, other.coef_[:, :-1], atol=1e-5
    )


def test_a_row_of_weight_three_counts_as_three_rows() -> None:
    parents = [_categories(3), _categories(2)]
    codes = _some_rows(np.random.default_rng(2), 60)
    thrice = np.repeat(codes, 3, axis=0)
    fits = []
    for rows in (_rows(codes, parents, np.full(60, 3.0)), _rows(thrice, parents)):
        cpt = _cpt(_categories(4), parents)
        cpt.fit(rows, 50, anew=True)
        fits.append(cpt.at.effects)
    np.testing.assert_allclose(*fits, atol=1e-6)


def test_the_information_is_minus_the_second_derivative() -> None:
    parents = [_categories(3), _categories(2)]
    rows = _rows(_some_rows(np.random.default_rng(3), 50), parents)
    child = scale_of_intervals(np.array([10.0, 20, 15, 5]), [1.0, 2.0, 4.0, 9.0])
    cpt = _cpt(child, parents)
    cpt.fit(rows, 3, anew=True)

    def slope(step: FloatArray) -> FloatArray:
        moved = _cpt(child, parents)
        moved.at = cpt._moved(step)
        logs = log_probabilities(child, moved.at, rows.parents, None)
        return moved._slope(rows, np.exp(logs))

    logs = log_probabilities(child, cpt.at, rows.parents, None)
    information = cpt._information(rows, np.exp(logs))
    width = len(information)
    numerical = np.empty((width, width))
    for index in range(width):
        step = np.zeros(width)
        step[index] = 1e-5
        numerical[index] = (slope(-step) - slope(step)) / 2e-5
    np.testing.assert_allclose(information, numerical, atol=1e-4)


def test_a_scored_child_keeps_its_covariances_with_its_parents() -> None:
    rng = np.random.default_rng(4)
    seen = np.full(12, 50.0)
    means = np.arange(12.0) ** 1.3
    parent, child = scale_of_intervals(seen, means), scale_of_intervals(seen, means)
    first = rng.integers(12, size=600)
    second = np.clip(first + rng.integers(-4, 5, size=600), 0, 11)
    rows = _rows(np.column_stack([first, second]).astype(float), [parent])
    cpt = _cpt(child, [parent], precision=1e-6)
    cpt.fit(rows, 50, anew=True)
    chances = np.exp(log_probabilities(child, cpt.at, rows.parents, None))
    expected = (child.as_child.T @ chances) @ rows.parents
    shown = child.as_child[second].T @ rows.parents
    np.testing.assert_allclose(expected, shown, atol=0.5)  # of some 600


def test_a_parent_that_says_nothing_is_shrunk_and_one_that_speaks_is_not() -> None:
    rng = np.random.default_rng(5)
    codes = _some_rows(rng, 2_000)
    codes = np.column_stack([codes[:, 0], rng.integers(5, size=2_000), codes[:, 2]])
    parents = [_categories(3), _categories(5)]
    cpt = _cpt(_categories(4), parents)
    rows = _rows(codes, parents)
    for _ in range(6):
        cpt.fit(rows, 8, anew=True)
        cpt.learn_precisions()
    assert cpt.precisions[0, 0] < 3
    assert cpt.precisions[2, 0] > 20


def test_effects_that_are_kept_are_hardly_shrunk() -> None:
    rng = np.random.default_rng(5)
    codes = np.column_stack([rng.integers(5, size=500), rng.integers(4, size=500)]).astype(float)
    cpt = _cpt(_categories(4), [_categories(5)])
    cpt.groups = [(group, True) for group, _ in cpt.groups]
    for _ in range(6):
        cpt.fit(_rows(codes, [_categories(5)]), 8, anew=True)
        cpt.learn_precisions()
    assert cpt.precisions.max() <= 3


def test_parameters_are_drawn_with_the_covariance_of_the_posterior() -> None:
    parents = [_categories(3), _categories(2)]
    rows = _rows(_some_rows(np.random.default_rng(6), 400), parents)
    cpt = _cpt(_categories(4), parents)
    cpt.fit(rows, 20, anew=True)
    assert cpt.root is not None
    rng = np.random.default_rng(7)
    draws = [cpt.drawn(rng) for _ in range(4_000)]
    moves = np.stack([np.concatenate([one.constants, one.effects.T.ravel()]) for one in draws])
    wanted = np.linalg.inv(cpt.root @ cpt.root.T)
    np.testing.assert_allclose(np.cov(moves.T), wanted, atol=0.12 * np.diag(wanted).max())


def test_scales_of_numbers_are_orthogonal_over_the_rows_and_begin_with_the_mean() -> None:
    seen = np.array([5.0, 30, 20, 25, 10, 10])
    means = [1.0, 2.0, 4.0, 5.0, 9.0, 30.0]
    scale = scale_of_intervals(seen, means)
    shares = seen / seen.sum()
    gram = scale.as_parent.T @ (shares[:, None] * scale.as_parent)
    np.testing.assert_allclose(gram, np.eye(len(gram)), atol=1e-12)
    first = scale.as_child[:, 0]
    assert np.corrcoef(first, means)[0, 1] == pytest.approx(1)


def test_few_numerals_have_as_many_columns_as_categories() -> None:
    scale = scale_of_numerals(np.ones(5), [1, 2, 3, 4, 5])
    assert scale.as_child.shape == (5, 4)
    np.testing.assert_allclose(np.diff(scale.as_child[:, 0]), np.diff(scale.as_child[:2, 0])[0])
    assert scale.child_groups == ((0, 1), (1, 4))


def test_a_state_that_is_no_interval_has_a_column_of_its_own() -> None:
    scale = scale_of_intervals(np.array([4.0, 4, 4, 7]), [1.0, 2.0, 3.0, np.nan])
    assert scale.as_parent[3, :-1].tolist() == [0.0] * (scale.as_parent.shape[1] - 1)
    assert scale.as_parent[:, -1].tolist() == [0.0, 0.0, 0.0, 1.0]


def test_a_table_is_added_where_parents_act_together_and_not_elsewhere() -> None:
    rng = np.random.default_rng(8)
    one, other, third = rng.integers(2, size=(3, 3_000))
    child = np.where(rng.random(3_000) < 0.8, one ^ other, rng.integers(2, size=3_000))
    codes = np.column_stack([one, other, third, child]).astype(float)
    parents = [_categories(2)] * 3
    rows = _rows(codes, parents)
    cpt = _cpt(_categories(2), parents)
    cpt.fit(rows, 20, anew=True)
    cpt.add_tables(rows, [(0, 1), (0, 2), (1, 2)], [2, 2, 2, 2])
    assert [table.parents for table in cpt.at.tables] == [(0, 1)]
    offset = cpt.at.tables[0].logs[:, cpt.at.tables[0].cells(rows.codes)]
    chances = np.exp(log_probabilities(cpt.scale, cpt.at, rows.parents, offset))
    shown = child[(one == 1) & (other == 0)].mean()
    assert chances[1, (one == 1) & (other == 0)].mean() == pytest.approx(shown, abs=0.02)


def test_factors_of_a_table_are_those_of_a_gamma_prior() -> None:
    codes = np.array([[0, 0]] * 6 + [[0, 1]] * 2 + [[1, 1]] * 4)
    table = ResidualTable.even([0], [2], 2, kappa=3.0)
    table = table.refitted(codes, codes[:, 1], np.full((2, 12), 0.5), np.ones(12))
    wanted = (3 + np.array([[6.0, 2.0], [0.0, 4.0]])) / (3 + np.array([[4.0, 4.0], [2.0, 2.0]]))
    np.testing.assert_allclose(table.factors, wanted**0.8)  # a step towards it
    rng = np.random.default_rng(0)
    draws = np.mean([table.drawn(rng).factors for _ in range(4_000)], axis=0)
    np.testing.assert_allclose(draws, wanted, rtol=0.05)


def _random_line(
    rng: np.random.Generator,
) -> tuple[list[Scale], list[LogLinearForm], list[Parameters]]:
    """Four variables with random parameters, one of them of numbers, and a table of two parents."""
    scales = [
        _categories(3),
        scale_of_intervals(np.array([3.0, 4, 2, 1]), [1.0, 2.0, 5.0, 6.0]),
        _categories(2),
        _categories(3),
    ]
    forms, at, columns = [], [], 0
    for index, scale in enumerate(scales):
        forms.append(LogLinearForm(index, scale, np.arange(columns)))
        at.append(
            Parameters(
                rng.normal(size=scale.contrasts.shape[1]),
                rng.normal(size=(columns, scale.as_child.shape[1])),
            )
        )
        columns += scale.as_parent.shape[1]
    factors = rng.gamma(2.0, 0.5, size=(3 * 4, 2))
    table = ResidualTable((0, 1), (3, 4), factors, 1.0, factors, factors)
    at[2] = Parameters(at[2].constants, at[2].effects, (table,))
    return scales, forms, at


def _joint(scales: list[Scale], forms: list[LogLinearForm], at: list[Parameters]) -> FloatArray:
    """The joint distribution, by the formula of each CPT, cell by cell."""
    joint = np.ones([scale.states for scale in scales])
    for states in product(*map(range, joint.shape)):
        for form, parameters in zip(forms, at, strict=True):
            parents = np.concatenate(
                [np.zeros(0), *(s.as_parent[x] for s, x in zip(scales, states, strict=True))]
            )[form.columns]
            scale = form.scale
            logs = scale.as_child @ (parameters.effects.T @ parents)
            logs = logs + scale.contrasts @ parameters.constants
            for table in parameters.tables:
                logs = logs + np.log(table.factors[states[0] * 4 + states[1]])
            joint[states] *= np.exp(logs[states[form.child]]) / np.exp(logs).sum()
    return joint


def _augmentation(scales: list[Scale], codes: FloatArray, missing: FloatArray) -> Augmentation:
    rng, weights = np.random.default_rng(0), np.ones(len(codes))
    names = tuple("ABCD")
    return Augmentation(
        names, scales, codes.astype(np.int64), missing.astype(bool), {}, weights, rng
    )


def test_weights_of_a_missing_cell_are_those_of_the_joint_distribution() -> None:
    rng = np.random.default_rng(9)
    scales, forms, at = _random_line(rng)
    joint = _joint(scales, forms, at)
    codes = np.column_stack([rng.integers(scale.states, size=20) for scale in scales])
    for index in range(4):
        missing = np.zeros_like(codes)
        missing[:, index] = 1
        rows = _augmentation(scales, codes.copy(), missing)
        logs = rows.log_weights(forms, at, index, np.arange(20), forward=False)
        chances = np.exp(logs) / np.exp(logs).sum(axis=0)
        for row, states in enumerate(codes.tolist()):
            cell = tuple(slice(None) if k == index else x for k, x in enumerate(states))
            np.testing.assert_allclose(chances[:, row], joint[cell] / joint[cell].sum())


def test_completions_are_drawn_from_the_joint_distribution_given_what_rows_show() -> None:
    scales, forms, at = _random_line(np.random.default_rng(10))
    joint = _joint(scales, forms, at)
    number = 20_000
    codes = np.tile([1, 0, 0, 2], (number, 1))
    missing = np.tile([1, 1, 0, 0], (number, 1))
    rows = _augmentation(scales, codes, missing)
    complete(rows, forms, at)
    counts = np.bincount(rows.codes[:, 0] * 4 + rows.codes[:, 1], minlength=12)
    wanted = joint[:, :, 0, 2].ravel() / joint[:, :, 0, 2].sum()
    assert (rows.codes[:, 2:] == [0, 2]).all()
    error = np.sqrt(wanted * (1 - wanted) / number)
    assert (np.abs(counts / number - wanted) < 4.5 * error + 1e-9).all()
