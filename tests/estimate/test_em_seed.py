"""Where EM starts, and what becomes of variables that no row shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from golden import golden
from lacunet.data.table import EncodedTable
from lacunet.estimate.auto import Auto
from lacunet.estimate.em.method import EM
from lacunet.estimate.method import Learned, MethodError
from lacunet.model.network import Network
from lacunet.simulation.sampling import sample
from learning import Task, learned_by

CLASSES = Network(
    {name: ["0", "1"] for name in "HABCD"},
    {name: ["H"] for name in "ABCD"},
    {"H": [0.4, 0.6], **{name: [[0.9, 0.1], [0.2, 0.8]] for name in "ABCD"}},
)


def latent_task(seed: int) -> Task:
    drawn = sample(CLASSES, 3000, np.random.default_rng(1))
    columns = {**drawn.columns, "H": np.full(3000, 2, dtype=np.uint8)}
    table = EncodedTable(drawn.cardinality_of, columns)
    return Task(CLASSES.with_tables(None), table, 2.0, np.random.default_rng(seed))


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
    task = Task(case.network, case.table, 2.0)
    one, two = (learned_by(EM(seed=start, stop=3), task) for start in (seed, turned))
    for name, table in one.tables.items():
        np.testing.assert_array_equal(two.tables[name], table)


def test_a_seed_network_of_another_structure_is_refused() -> None:
    case = golden("fire-alarm-mar")
    with pytest.raises(MethodError, match="structure must be the same"):
        learned_by(EM(seed=CLASSES), Task(case.network, case.table, 2.0))


@pytest.mark.parametrize("stop", [np.int64(3), 3])
def test_any_whole_number_is_a_number_of_steps(stop: int) -> None:
    case = golden("asia-mcar")
    ended = learned_by(EM(stop=stop), Task(case.network, case.table, 2.0)).ended
    assert (ended.reason, ended.iterations) == ("steps done", 3)


@pytest.mark.parametrize("stop", [3.0, 2.5, None, "later"])
def test_what_is_no_way_to_stop_is_refused(stop: Any) -> None:
    with pytest.raises(MethodError, match="stop is"):
        EM(stop=stop)
