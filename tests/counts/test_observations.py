"""Sources of rows, and what of a gathering can travel."""

from __future__ import annotations

import pickle
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pytest

from lacunet.counts.count import count
from lacunet.counts.folds import row_hashes
from lacunet.counts.gather import Gathering, Statistics, of_part, with_reduced
from lacunet.counts.look import Look
from lacunet.counts.observations import Held
from lacunet.data.table import Copies, EncodedTable
from lacunet.learning.methods import METHODS, method_named
from lacunet.learning.plan import INFLUENCE, JACKKNIFE
from lacunet.missingness.graph import MissingnessGraph
from lacunet.network.network import Network

NETWORK = Network(
    {"A": ["0", "1"], "B": ["0", "1", "2"], "C": ["0", "1"], "D": ["0", "1"]},
    {"B": ["A"], "C": ["A", "B"], "D": ["C"]},
)
SIZES = {name: NETWORK.cardinality(name) for name in NETWORK.variables}


def rows(number: int, seed: int = 0, weighted: bool = False) -> EncodedTable:
    """Random rows; A is always shown."""
    rng = np.random.default_rng(seed)
    columns = {
        name: rng.integers(0, size + (name != "A"), number).astype(np.uint8)
        for name, size in SIZES.items()
    }
    return EncodedTable(SIZES, columns, rng.uniform(0.5, 2, number) if weighted else None)


def gathering(name: str, recipe: str | None = None, **how: object) -> Gathering:
    options: dict[str, object] = {}
    if name == "mgraph":
        graph = MissingnessGraph(NETWORK, dict.fromkeys("BCD", ()))
        options = {"missingness": graph, "otherwise": "auto"}
    if name.startswith("informed"):
        options["groups"] = ("A",)
    plan = method_named(name, **options).plan(NETWORK, Look(("B", "C", "D")))
    return Gathering(plan.needs(recipe, seed=3), NETWORK, **how)  # type: ignore[arg-type]


def assert_same(one: Statistics, two: Statistics) -> None:
    assert (one.rows, one.missing_of, one.stopped_by) == (two.rows, two.missing_of, two.stopped_by)
    assert one.total == pytest.approx(two.total, rel=1e-12)
    for scope, counts in one.counts.items():
        assert (counts.keys == two.counts[scope].keys).all()
        np.testing.assert_allclose(counts.tally.weights, two.counts[scope].tally.weights, 1e-12)
        np.testing.assert_allclose(counts.tally.squares, two.counts[scope].tally.squares, 1e-12)
        np.testing.assert_allclose(counts.tally.rows, two.counts[scope].tally.rows, 1e-12)
    assert one.reduced.keys() == two.reduced.keys()
    for scope, samples in one.reduced.items():
        for mine, other in zip(samples, two.reduced[scope], strict=True):
            for name in ("inside", "observed", "reached", "shown"):
                np.testing.assert_allclose(getattr(mine, name), getattr(other, name), 1e-12, 1e-12)
    assert one.distinct.keys() == two.distinct.keys()
    for scope, kept in one.distinct.items():
        for name in scope:
            np.testing.assert_array_equal(kept.column(name), two.distinct[scope].column(name))
        np.testing.assert_allclose(kept.weights, two.distinct[scope].weights, 1e-12)


@pytest.mark.parametrize("recipe", [None, INFLUENCE, JACKKNIFE])
@pytest.mark.parametrize("name", METHODS)
def test_what_is_asked_and_what_is_found_can_be_sent_to_another_process(
    name: str, recipe: str | None
) -> None:
    how = gathering(name, recipe)
    there = pickle.loads(pickle.dumps(how))
    found = of_part(there, rows(300))
    back = pickle.loads(pickle.dumps(found))
    assert_same(with_reduced(back, how), Held(rows(300)).gather(how))


@pytest.mark.parametrize("recipe", [None, INFLUENCE, JACKKNIFE])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["factored-mar", "direct-mar", "informed-factored"])
def test_groups_that_parts_share_are_reduced_when_all_are_added(
    name: str, weighted: bool, recipe: str | None
) -> None:
    whole = rows(400, weighted=weighted)
    how = gathering(name, recipe)
    families = frozenset(asked.family for asked in how.needs.groupings)
    shared = gathering(name, recipe, shared=families)
    part_of = row_hashes(NETWORK, whole) % 3  # equal rows are together
    parts = [whole.take(part_of == part) for part in range(3)]
    added = with_reduced(reduce(add, [of_part(shared, part) for part in parts]), shared)
    assert_same(added, Held(whole).gather(how))


def test_a_row_that_stands_for_several_counts_as_they_do() -> None:
    one = rows(50, seed=1)
    copies = np.random.default_rng(2).integers(1, 4, 50)
    each: Any = np.random.default_rng(3).uniform(0.5, 2, 50)
    columns: dict[str, Any] = {
        name: np.repeat(column, copies) for name, column in one.columns.items()
    }
    spelled = EncodedTable(SIZES, columns, np.repeat(each, copies))
    short = EncodedTable(
        SIZES, one.columns, each * copies, copies=Copies(copies.astype(float), each**2 * copies)
    )
    assert (short.row_count, short.missing_of) == (spelled.rows, spelled.missing_of)
    how = gathering("factored-mar")
    assert_same(Held(short).gather(how), Held(spelled).gather(how))
    assert count(short.take(slice(5)), [("A",)])[("A",)].tally.rows.sum() == copies[:5].sum()
