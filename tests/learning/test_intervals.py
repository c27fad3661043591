"""Every method is told how sure its CPTs are, by the recipe that fits it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lacunet.counts.look import Look
from lacunet.data.data import Data
from lacunet.data.table import EncodedTable
from lacunet.learning.em.em import EM
from lacunet.learning.interval_recipes import MATRICES, Uncertainty, recipe_of
from lacunet.learning.learn import learn
from lacunet.network.network import Network
from lacunet.simulation.at_random import MCAR
from lacunet.simulation.simulate import simulate

RECIPES = {
    "listwise": "counts",
    "direct-mcar": "counts",
    "direct-mar": "influence of rows",
    "em": "rate matrix of EM",
    "factored-mar": "influence of rows",
    "factored-mcar": "influence of rows",
}
NETWORK = Network(
    {name: ["0", "1"] for name in "ABC"},
    {"B": ["A"], "C": ["B"]},
    {"A": [0.4, 0.6], "B": [[0.7, 0.3], [0.2, 0.8]], "C": [[0.9, 0.1], [0.4, 0.6]]},
)


def uncertain(method: str, table: EncodedTable) -> Uncertainty:
    own = EM(tolerance=1e-8, max_iterations=5000) if method == "em" else method
    return learn(NETWORK, table, own, pseudo_counts=1, intervals=True).uncertainty


@pytest.mark.parametrize("method", RECIPES)
def test_complete_data_make_every_method_as_sure_as_the_counts(method: str) -> None:
    table = simulate(NETWORK, 2000, None, rng=np.random.default_rng(0)).table
    found = uncertain(method, table)
    number = np.bincount(table.columns["A"], minlength=2)
    np.testing.assert_allclose(found.spread_of["B"].row_sizes, number, rtol=1e-6)
    low, high = np.moveaxis(found.spread_of["B"].interval(), -1, 0)
    assert ((low < NETWORK.cpt("B").table) & (NETWORK.cpt("B").table < high)).mean() >= 0.5


def test_missing_values_make_less_sure() -> None:
    drawn = simulate(NETWORK, 2000, MCAR(0.4, share=0.7), rng=np.random.default_rng(1))
    for method in ("direct-mcar", "direct-mar", "em"):
        whole = uncertain(method, drawn.complete).spread_of["C"].row_sizes
        part = uncertain(method, drawn.table).spread_of["C"].row_sizes
        assert (part < whole).all()
    em = uncertain("em", drawn.table).spread_of["C"].row_sizes
    assert (em >= uncertain("listwise", drawn.table).spread_of["C"].row_sizes).all()


@pytest.mark.parametrize("method", RECIPES)
def test_every_recipe_tells_how_sure_an_answer_is(method: str) -> None:
    table = simulate(NETWORK, 500, MCAR(0.3, share=0.7), rng=np.random.default_rng(1)).table
    found = uncertain(method, table).query("C", {"A": "0"})
    low, high = np.moveaxis(found.interval(), -1, 0)
    assert ((low < found.table) & (found.table < high)).all()
    # 500 rows, of which some 40% have A = 0 and not all show what matters.
    assert ((high - low > 0.05) & (high - low < 0.3)).all()


def test_every_method_has_the_recipe_that_fits_it() -> None:
    table = simulate(NETWORK, 500, MCAR(0.3, share=0.7), rng=np.random.default_rng(1)).table
    assert {method: uncertain(method, table).recipe for method in RECIPES} == RECIPES


def test_em_that_was_stopped_early_is_refitted() -> None:
    table = simulate(NETWORK, 500, MCAR(0.4, share=0.7), rng=np.random.default_rng(1)).table
    early = EM(start="random", max_iterations=1, accelerate=False)
    found = learn(NETWORK, table, early, intervals=True).uncertainty
    assert found.recipe == "delete-a-group jackknife"


def test_a_rate_matrix_that_does_not_fit_in_memory_gives_way_to_refits() -> None:
    # One free parameter for A, two each for B and C: matrices of 5 x 5 numbers.
    plan = EM().plan(NETWORK, Look())
    assert recipe_of(plan, MATRICES * 8 * 5**2) == "rate matrix of EM"
    assert recipe_of(plan, MATRICES * 8 * 5**2 - 1) == "delete-a-group jackknife"


def test_complete_rows_are_no_surer_of_what_all_rows_show_than_they_are_many() -> None:
    """Where only complete rows count, they count for families without missing values too."""
    rng = np.random.default_rng(4)
    columns = {
        "A": rng.integers(0, 2, 2_000).astype(np.uint8),
        "B": np.where(rng.random(2_000) < 0.75, 2, rng.integers(0, 2, 2_000)).astype(np.uint8),
    }
    network = Network({"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]})
    table = EncodedTable({"A": 2, "B": 2}, columns)
    complete = int(table.is_shown(("A", "B")).sum())
    found = learn(network, table, "listwise", pseudo_counts=0.0, intervals=True)
    share = found.cpt("A").table[1]
    expected = np.sqrt(share * (1 - share) / complete)
    np.testing.assert_allclose(found.standard_error("A"), expected, rtol=1e-9)
    for method in ("direct-mar", "factored-mar"):  # all rows count
        share = learn(network, table, method, pseudo_counts=0.0).cpt("A").table[1]
        own = learn(network, table, method, pseudo_counts=0.0, intervals=True).standard_error("A")
        np.testing.assert_allclose(own, np.sqrt(share * (1 - share) / 2_000), rtol=1e-9)


def test_a_printed_cpt_has_the_intervals_of_its_result() -> None:
    rows = {"A": ["0"] * 30 + ["1"] * 70, "B": ["0", "1"] * 30 + ["1"] * 40, "C": ["0"] * 100}
    result = learn(NETWORK, rows, "direct-mcar", intervals=True)
    cpt = result.cpt("B")
    np.testing.assert_array_equal(cpt.interval, result.interval("B"))
    low, high = result.interval("B")[0, 1]
    assert f"{low:.4f}  {high:.4f}" in str(cpt)
    assert "95%" in str(cpt)
    assert cpt.to_frame()["low"][1] == cpt.to_frame(tidy=True)["low"][1] == low
    assert cpt.to_frame().columns.tolist()[-3:] == ["probability", "low", "high"]
    assert not {"low", "high"} & {*cpt.to_frame(tidy=False)}
    plain = learn(NETWORK, rows, "direct-mcar").cpt("B")
    assert plain.interval is None
    assert "interval" not in str(plain)


@pytest.mark.parametrize("seed", range(4))
def test_of_equally_wide_intervals_the_first_is_printed_in_any_order_of_rows(seed: int) -> None:
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"A": rng.choice(["a", "b"], 90), "w": rng.gamma(2, 1, 90)})
    rows = rows.sample(frac=1, random_state=seed)
    coin = Network({"A": ["a", "b"]})
    result = learn(coin, Data(rows, weight="w"), "direct-mcar", intervals=True)
    assert "  P(A=a) = " in str(result)
