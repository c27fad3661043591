"""Where EM starts, and what becomes of variables that no row shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lacunet as lc
from golden import golden
from lacunet.data.table import EncodedTable
from lacunet.inference.sampling import sample_codes
from lacunet.learning.auto import Auto
from lacunet.learning.em.em import EM
from lacunet.learning.plan import Learned, MethodError
from lacunet.network.network import Network
from road import Task, learned_by

CLASSES = Network(
    {name: ["0", "1"] for name in "HABCD"},
    {name: ["H"] for name in "ABCD"},
    {"H": [0.4, 0.6], **{name: [[0.9, 0.1], [0.2, 0.8]] for name in "ABCD"}},
)


def latent_task(seed: int) -> Task:
    drawn = sample_codes(CLASSES, 3000, np.random.default_rng(1))
    columns = {**drawn.columns, "H": np.full(3000, 2, dtype=np.uint8)}
    table = EncodedTable(drawn.cardinality_of, columns)
    return Task(CLASSES.with_tables(None), table, 1.0, np.random.default_rng(seed))


def assert_finds_the_classes(learned: Learned) -> None:
    low, high = sorted(learned.tables["A"][:, 1])  # the two classes, in either order
    # About 1,200 and 1,800 rows, whose classes the other three answers tell but roughly: the
    # standard errors of a mixture are here some three times those of the proportions.
    assert abs(low - 0.1) < 0.07
    assert abs(high - 0.8) < 0.07


@pytest.mark.parametrize("method", [EM(), EM(tolerance=1e-6), Auto()])
def test_a_variable_that_no_row_shows_does_not_stay_where_all_its_states_are_alike(
    method: EM | Auto,
) -> None:
    assert_finds_the_classes(learned_by(method, latent_task(3)))


def test_the_result_says_that_em_started_at_random() -> None:
    ended = learned_by(EM(), latent_task(3)).ended
    assert any("no row shows H" in note for note in ended.notes)
    assert any("starts were made" in note for note in ended.notes)
    assert "no row shows H" in learned_by(Auto(), latent_task(3)).why


def test_a_seed_network_may_list_everything_in_another_order() -> None:
    case = golden("fire-alarm-mar")
    seed = case.network.with_tables(case.cpts("direct-mar"))
    turned = Network(
        {name: seed.states(name)[::-1] for name in reversed(seed.variables)},
        {name: seed.parents(name)[::-1] for name in seed.variables},
        {
            name: np.flip(table).transpose([*range(table.ndim - 2, -1, -1), table.ndim - 1])
            for name, table in seed.tables_of.items()
        },
    )
    task = Task(case.network, case.table, 1.0)
    one, two = (learned_by(EM(start=start, max_iterations=3), task) for start in (seed, turned))
    for name, table in one.tables.items():
        np.testing.assert_array_equal(two.tables[name], table)


def test_a_seed_network_of_another_structure_is_refused() -> None:
    case = golden("fire-alarm-mar")
    with pytest.raises(MethodError, match="structure must be the same"):
        learned_by(EM(start=CLASSES), Task(case.network, case.table, 1.0))


def latent_rows(seed: int, rows: int = 600) -> dict[str, list[str]]:
    drawn = sample_codes(CLASSES, rows, np.random.default_rng(seed))
    return {name: drawn.columns[name].astype(str).tolist() for name in "ABCD"}


def learned_classes(rows: dict[str, list[str]], **options: Any) -> lc.Result:
    data = lc.Data(rows, latent=["H"])
    return lc.learn(CLASSES.with_tables(None), data, "em", **options)


@pytest.mark.parametrize("seed", range(4))
def test_asking_for_intervals_does_not_change_the_estimate(seed: int) -> None:
    rows = latent_rows(seed)
    alone, sure = (learned_classes(rows, rng=seed, intervals=i) for i in (False, True))
    for name in CLASSES.variables:
        np.testing.assert_allclose(alone.cpt(name).table, sure.cpt(name).table, atol=1e-9)


@pytest.mark.parametrize("start", ["factored-mar", "random"])
def test_seeds_and_row_orders_agree_on_the_states_of_a_latent_variable(start: str) -> None:
    rows = latent_rows(7)
    turned = {name: column[::-1] for name, column in rows.items()}
    first, *others = [
        learned_classes(table, rng=seed, start=start, pseudo_counts=1, tolerance=1e-7)
        for seed in range(5)
        for table in (rows, turned)
    ]
    assert first.cpt("H").table[0] > 0.5  # the larger class comes first
    for other in others:
        for name in CLASSES.variables:
            np.testing.assert_allclose(other.cpt(name).table, first.cpt(name).table, atol=1e-4)


def test_classes_of_one_size_are_ordered_by_the_first_column() -> None:
    # The exact law of two equal classes: the rows of one are those of the other, turned around.
    tables = {"H": [0.5, 0.5], **{name: [[0.1, 0.9], [0.9, 0.1]] for name in "ABCD"}}
    twins = Network(CLASSES.states_of, CLASSES.parents_of, tables)
    rows = list(np.ndindex(2, 2, 2, 2))
    weights = [twins.query(tuple("ABCD"))[row] for row in rows]
    columns = {name: [str(row[k]) for row in rows] for k, name in enumerate("ABCD")}
    counts = [1000 * weight for weight in weights]
    data = lc.Data(columns, latent=["H"], counts=counts)
    for seed in range(6):
        found = lc.learn(CLASSES.with_tables(None), data, "em", pseudo_counts=0, rng=seed)
        np.testing.assert_allclose(found.cpt("A").table, [[0.9, 0.1], [0.1, 0.9]], atol=0.01)


@pytest.mark.parametrize("seed", range(4))
def test_rounding_does_not_order_states_of_which_no_row_says_anything(seed: int) -> None:
    # Where EM stops, the two sizes differ by some 1e-4; what they say of A and B, by rounding.
    network = Network({"H": "01", "A": "0", "B": "0"}, {"A": ["H"], "B": ["H"]})
    rng = np.random.default_rng(seed)
    shown = rng.random((50, 2)) < 0.5
    weights = rng.uniform(0.1, 3.0, 50)
    sizes = []
    for _ in range(8):
        order = rng.permutation(50)
        rows = {
            name: ["0" if is_shown else None for is_shown in column]
            for name, column in zip("AB", shown[order].T, strict=True)
        }
        data = lc.Data(rows, latent=["H"], weight=weights[order])
        result = lc.learn(network, data, "em", pseudo_counts=1, rng=seed)
        sizes.append(result.cpt("H").table)
    assert sizes[0][0] > sizes[0][1] + 1e-6
    np.testing.assert_allclose(sizes, sizes[:1] * len(sizes), rtol=0, atol=1e-10)


def test_a_prior_that_names_the_states_of_a_latent_variable_is_heard() -> None:
    rows, pseudo_counts = latent_rows(3), {"A": [[1.0, 19.0], [19.0, 1.0]]}
    for seed in range(4):
        found = learned_classes(rows, rng=seed, pseudo_counts=pseudo_counts)
        assert found.cpt("A").table[0, 1] > found.cpt("A").table[1, 1]
