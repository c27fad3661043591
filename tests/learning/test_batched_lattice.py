"""The lattice in batches: what it gives one edge after the other, and by its definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from by_definition import joint
from lacunet.counts.count import count
from lacunet.counts.groups import count_in_groups, group_rows
from lacunet.data.table import EncodedTable
from lacunet.learning.closed_forms import batched_lattice
from lacunet.learning.closed_forms.factored import factored_mcar, rows_in_groups, rows_in_table
from lacunet.learning.closed_forms.lattice import AGGREGATIONS, lattice
from lacunet.learning.plan import Aggregation
from lacunet.network.network import Network
from strategies import tables


@st.composite
def incomplete_families(draw: st.DrawFn, max_states: int = 3, max_rows: int = 60) -> EncodedTable:
    """Rows over a variable for groups and up to five others, with missing values and weights."""
    sizes = draw(st.lists(st.integers(1, max_states), min_size=1, max_size=5))
    network = Network(
        {"G": ["a", "b", "c"]}
        | {f"V{place}": [str(state) for state in range(size)] for place, size in enumerate(sizes)}
    )
    table = draw(tables(network, max_rows, weighted=draw(st.booleans())))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    groups = rng.integers(0, 3, table.rows).astype(np.uint8)
    return EncodedTable(table.cardinality_of, {**table.columns, "G": groups}, table.weights)


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@settings(max_examples=40, deadline=None)
@given(table=incomplete_families())
def test_batches_give_what_the_edges_one_after_the_other_give(
    aggregation: Aggregation, table: EncodedTable
) -> None:
    scope = tuple(name for name in table.columns if name != "G")
    (counts,) = count(table, [scope]).values()
    one_by_one = lattice(counts.cardinalities, rows_in_table(counts), aggregation)
    batches = batched_lattice.lattice_table(counts, aggregation)
    np.testing.assert_allclose(batches, one_by_one, rtol=1e-12, atol=1e-15)

    groups, group = group_rows(table, ("G",))
    cells = count_in_groups(table, groups, group, scope, whole=False)
    one_by_one = lattice(cells.cardinalities, rows_in_groups(cells), aggregation)
    batches = batched_lattice.in_groups(cells, aggregation)
    np.testing.assert_allclose(batches, one_by_one, rtol=1e-12, atol=1e-15)


def test_more_groups_than_are_estimated_together_give_what_they_give_one_edge_at_a_time() -> None:
    rng = np.random.default_rng(7)
    rows = 40_000
    columns = {f"V{place}": rng.integers(0, 3, rows).astype(np.uint8) for place in range(4)}
    columns["G"] = rng.integers(0, 20_000, rows).astype(np.uint16)
    table = EncodedTable({name: 20_000 if name == "G" else 2 for name in columns}, columns)
    groups, group = group_rows(table, ("G",))
    assert len(groups.weights) * 3**4 > batched_lattice.MAX_CELLS
    cells = count_in_groups(table, groups, group, ("V0", "V1", "V2", "V3"), whole=False)
    one_by_one = lattice(cells.cardinalities, rows_in_groups(cells), "inverse-variance")
    batches = batched_lattice.in_groups(cells, "inverse-variance")
    assert batches.tolist() == one_by_one.tolist()


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_a_family_of_four_follows_its_definition(data: st.DataObject) -> None:
    names = ["A", "B", "C", "X"]
    network = Network({name: ["0", "1"] for name in names}, {"X": names[:3]})
    table = data.draw(tables(network, max_rows=12, weighted=data.draw(st.booleans()))).scaled()
    counts = count(table, [("A", "B", "C", "X")])["A", "B", "C", "X"]
    assert batched_lattice.pays_in_a_table(4, 81)  # so it is what factored_mcar takes
    expected = joint(network, table, ("A", "B", "C", "X"), "factored-mcar", [])
    np.testing.assert_allclose(factored_mcar(counts), expected, rtol=1e-9, atol=1e-12)
