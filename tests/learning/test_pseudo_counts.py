"""The prior learned from counts: by hand, against SciPy's Dirichlet-multinomial, and its laws."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln
from scipy.stats import dirichlet_multinomial

import lacunet as lc
from lacunet.learning.pseudo_counts import (
    COMPONENTS,
    Components,
    PseudoCounts,
    component_weights,
    for_closed_form,
    learn_pseudo_counts,
    log_dirichlet_multinomial,
    log_gamma,
    neighbour_shares,
)
from lacunet.network.network import FloatArray

EXACT = {"rtol": 1e-9, "atol": 1e-12}  # sums of logarithms of gamma functions


@given(st.floats(1e-6, 1e12))
def test_the_gamma_function_is_that_of_scipy(value: float) -> None:
    own = log_gamma(np.array([value]))
    np.testing.assert_allclose(own, gammaln([value]), rtol=1e-12, atol=1e-11)


@st.composite
def count_tables(draw: st.DrawFn) -> FloatArray:
    """Counts of one CPT: up to three parents, some rows without any, some large."""
    shape = draw(st.lists(st.integers(2, 3), min_size=1, max_size=4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    scale = draw(st.sampled_from([0.3, 3.0, 100.0]))
    return rng.poisson(scale * rng.standard_gamma(0.4, shape)).astype(float)


def by_loops(counts: FloatArray, row: tuple[int, ...]) -> FloatArray:
    """What the rows around one CPT row say, one row after the other."""
    states = counts.shape[-1]
    others = [j for j in product(*map(range, counts.shape[:-1])) if j != row]
    near = [j for j in others if sum(a != b for a, b in zip(j, row, strict=True)) == 1]
    vote = {j: counts[j] / (counts[j].sum() + 2) for j in others}
    weight = {j: counts[j].sum() / (counts[j].sum() + 2) for j in others}
    mean = sum((vote[j] for j in others), np.full(states, 1 / states))
    mean = mean / (sum(weight[j] for j in others) + 1)
    return (sum((vote[j] for j in near), mean)) / (sum(weight[j] for j in near) + 1)


@given(count_tables())
def test_neighbours_are_the_rows_that_differ_in_one_parent(counts: FloatArray) -> None:
    (shares,) = neighbour_shares(counts[None], np.full((1, *counts.shape), fill_value=True))
    np.testing.assert_allclose(shares.sum(axis=-1), 1)
    for row in product(*map(range, counts.shape[:-1])):
        np.testing.assert_allclose(shares[row], by_loops(counts, row))


@given(count_tables(), st.integers(0, 99))
def test_rows_are_as_likely_as_scipy_says(counts: FloatArray, seed: int) -> None:
    pseudo = np.random.default_rng(seed).uniform(0.05, 3, counts.shape)
    rows, priors = counts.reshape(-1, counts.shape[-1]), pseudo.reshape(-1, counts.shape[-1])
    logs = log_dirichlet_multinomial(counts, pseudo).ravel()
    for row, pseudo_counts, log in zip(rows.astype(int), priors, logs, strict=True):
        # SciPy adds up all orders of the rows; all priors share that factor.
        whole = dirichlet_multinomial.logpmf(row, pseudo_counts, row.sum())
        orders = dirichlet_multinomial.logpmf(row, 1e9 * np.ones(len(row)), row.sum())
        orders += row.sum() * np.log(len(row))
        np.testing.assert_allclose(log, whole - orders, rtol=1e-6, atol=1e-3)


def test_two_components_by_hand() -> None:
    # Ten rows, all in the first state. One pseudo-count per cell makes that as likely as
    # a = 1/2 * 2/3 * ... * 10/11 = 1/11, a quarter per cell as b = 1/2 * 5/6 * ... * 37/38.
    components = Components((1.0, 0.25), (), (1.0, 0.0), power=1.0)
    counts = np.array([10.0, 0.0])
    one, quarter = 1 / 11, float(np.prod([(i + 0.25) / (i + 0.5) for i in range(10)]))
    logs = np.array(
        [log_dirichlet_multinomial(counts, np.full(2, value)) for value in components.alike]
    )
    np.testing.assert_allclose(np.exp(logs), [one, quarter])
    # One row speaks for the first beforehand: pi = (1 + w) / 2, w = a pi / (a pi + b (1 - pi)),
    # so w = a / (b - a).
    share = one / (quarter - one)
    weights, near = component_weights(logs[:, None], np.array([1.0, 0.0]), alike=2)
    np.testing.assert_allclose(weights, [(1 + share) / 2, (1 - share) / 2], rtol=1e-6)
    assert near == 0
    # The posterior means of the second state are 1/12 and .25/10.5.
    mean = share / 12 + (1 - share) * 0.25 / 10.5
    first, second = learn_pseudo_counts({"A": counts}, components=components)["A"]
    assert second / (10 + first + second) == pytest.approx(mean)


@settings(deadline=None)
@given(count_tables(), count_tables())
def test_pseudo_counts_give_the_posterior_mean_of_the_mixture(
    one: FloatArray, two: FloatArray
) -> None:
    counts_of = {"A": one, "B": two}
    learned = learn_pseudo_counts(counts_of)
    logs_of = {
        name: np.stack([log_dirichlet_multinomial(own, a) / 2 for a in candidates(own)])
        for name, own in counts_of.items()
    }
    every = np.concatenate([logs_of[v][:, own.sum(-1) >= 1] for v, own in counts_of.items()], 1)
    weights, _ = component_weights(every, np.array(COMPONENTS.belief), len(COMPONENTS.alike))
    for name, own in counts_of.items():
        joint = np.exp(logs_of[name]) * weights.reshape(-1, *[1] * (own.ndim - 1))
        share = (joint / joint.sum(axis=0))[..., None]
        posterior = np.stack(
            [(own + a) / (own + a).sum(-1, keepdims=True) for a in candidates(own)]
        )
        mean = (share * posterior).sum(axis=0)
        smooth = own + learned[name]
        np.testing.assert_allclose(smooth / smooth.sum(-1, keepdims=True), mean, **EXACT)


def candidates(counts: FloatArray) -> list[FloatArray]:
    possible = np.full((1, *counts.shape), fill_value=True)
    return [own[0] for own in COMPONENTS.pseudo_counts(counts[None], possible)]


@settings(deadline=None)
@given(count_tables(), count_tables(), st.data())
def test_permuting_states_and_parents_commutes(
    one: FloatArray, two: FloatArray, data: st.DataObject
) -> None:
    parents = data.draw(st.permutations(range(one.ndim - 1)))
    orders = [data.draw(st.permutations(range(size))) for size in one.shape]

    def permuted(table: FloatArray) -> FloatArray:
        return table[np.ix_(*orders)].transpose(*parents, one.ndim - 1)

    plain = learn_pseudo_counts({"A": one, "B": two})
    other = learn_pseudo_counts({"B": two, "A": permuted(one)})
    np.testing.assert_allclose(other["B"], plain["B"], **EXACT)
    expected = permuted(plain["A"])
    np.testing.assert_allclose(other["A"], expected, **EXACT)


@settings(deadline=None)
@given(count_tables())
def test_pseudo_counts_lie_between_those_of_the_components(counts: FloatArray) -> None:
    before = counts.copy()
    learned = learn_pseudo_counts({"A": counts})
    low, high = np.min(candidates(counts), axis=0), np.max(candidates(counts), axis=0)
    found = learned["A"]
    assert (found >= low * (1 - 1e-12)).all()
    assert (found <= high * (1 + 1e-12)).all()
    assert learned.least == found.min()
    assert learned.most == found.max()
    np.testing.assert_array_equal(counts, before)


@settings(deadline=None)
@given(count_tables())
def test_a_state_that_is_impossible_everywhere_might_as_well_not_be_there(
    counts: FloatArray,
) -> None:
    wider = np.concatenate([counts, np.zeros((*counts.shape[:-1], 1))], axis=-1)
    possible = np.broadcast_to(np.arange(wider.shape[-1]) < counts.shape[-1], wider.shape)
    plain = learn_pseudo_counts({"A": counts})["A"]
    masked = learn_pseudo_counts({"A": wider}, possible_of={"A": possible})["A"]
    np.testing.assert_allclose(masked[..., :-1], plain, **EXACT)
    assert (masked[..., -1] == 0).all()


def test_an_impossible_state_of_one_row_has_no_pseudo_counts_there_alone() -> None:
    counts = np.array([[5.0, 0, 4], [6, 7, 3], [2, 1, 9]])
    possible = np.full((3, 3), fill_value=True)
    possible[0, 1] = False
    learned = learn_pseudo_counts({"A": counts}, possible_of={"A": possible})
    assert ((learned["A"] == 0) == ~possible).all()
    assert learned.least > 0


def test_a_family_that_no_row_shows_keeps_one_and_has_no_say() -> None:
    shown = np.array([[30.0, 0], [0, 20], [15, 0]])
    alone = learn_pseudo_counts({"A": shown})
    beside = learn_pseudo_counts({"A": shown, "B": np.full((4, 3), 50.0)}, kept=["B"])
    assert (beside["B"] == 1).all()
    np.testing.assert_array_equal(beside["A"], alone["A"])
    assert beside.kept == ("B",)
    assert "B" in str(beside)


def test_without_counts_there_is_one_pseudo_count_per_cell() -> None:
    nothing = learn_pseudo_counts({"A": np.zeros((2, 3)), "B": np.zeros(2)})
    np.testing.assert_allclose(nothing["A"], 1)
    np.testing.assert_allclose(nothing["B"], 1)
    assert str(learn_pseudo_counts({"A": np.zeros(2)}, kept=["A"])) == "one pseudo-count per cell"


def rows_of(concentration: float, size: int = 200) -> FloatArray:
    """Counts of 40 draws from each of many rows, themselves drawn from a Dirichlet."""
    rng = np.random.default_rng(7)
    rows = rng.dirichlet(np.full(3, concentration), size)
    return np.array([rng.multinomial(40, row) for row in rows]).astype(float)


@pytest.mark.parametrize(
    ("concentration", "least", "most"), [(0.05, 0.025, 0.1), (1.0, 0.7, 1.4), (10.0, 1.9, 30.0)]
)
def test_rows_drawn_from_a_prior_give_about_that_prior(
    concentration: float, least: float, most: float
) -> None:
    # The nearest components are 0.02 and 0.1, 1, and the largest; medians over 600 cells.
    learned = learn_pseudo_counts({"A": rows_of(concentration)})["A"]
    assert least <= np.median(learned) <= most


def test_rows_that_are_alike_borrow_from_each_other() -> None:
    rng = np.random.default_rng(3)
    counts = rng.multinomial(12, [0.9, 0.08, 0.02], size=(6, 5)).astype(float)
    learned = learn_pseudo_counts({"A": counts})
    assert learned.like_neighbours > 0.9
    assert "CPT rows" in str(learned)
    shares = learned["A"] / learned["A"].sum(-1, keepdims=True)
    # Shares of 29 rows of 12 have standard errors of at most .016; two draws of these.
    np.testing.assert_allclose(shares, np.broadcast_to([0.9, 0.08, 0.02], shares.shape), atol=0.07)


@pytest.mark.parametrize(("total", "factor"), [(4, 1), (16, 2), (1000, 3)])
def test_for_a_closed_form_pseudo_counts_are_weighed_up_as_counts_are(
    total: float, factor: float
) -> None:
    shown = {"A": np.array([5.0, 3.0])}
    learned = learn_pseudo_counts(shown)
    scaled = for_closed_form(learned, shown, total)["A"]
    np.testing.assert_allclose(scaled, factor * learned["A"])


def test_what_is_kept_is_not_scaled_and_json_carries_it() -> None:
    counts = {"A": np.array([5.0, 1]), "B": np.array([[2.0, 2], [1, 7]])}
    learned = learn_pseudo_counts(counts, kept=["B"])
    scaled = for_closed_form(learned, counts, 1000)
    np.testing.assert_allclose(scaled["A"], 3 * learned["A"])
    np.testing.assert_array_equal(scaled["B"], learned["B"])
    read = json.loads(json.dumps(learned.as_json()))
    np.testing.assert_array_equal(read["cells"]["B"], learned["B"])
    assert read["words"] == str(learned)


def test_pseudo_counts_in_a_table_of_pandas_have_the_axes_of_the_network() -> None:
    rows = {"Age": ["old", "young"] * 20, "Home": ["family", "single"] * 20}
    table = pd.DataFrame(np.ones((2, 2)), index=["old", "young"], columns=["family", "single"])
    result = lc.learn("Age -> Home", rows, "em", pseudo_counts={"Home": table})
    assert isinstance(result.pseudo_counts, PseudoCounts)
    assert result.pseudo_counts["Home"].tolist() == [[1, 1], [1, 1]]
    with pytest.raises(lc.LacunetError, match="'Age'"):
        lc.learn("Age -> Home", rows, "em", pseudo_counts={"Home": table.T})
