"""Bundled tables are what their description says."""

from __future__ import annotations

import pytest

import lacunet as lc
from examples import NOT_VERIFIED, SCREENING
from lacunet.data.errors import DataError


def test_the_screening_table_is_drawn_from_the_bundled_network() -> None:
    graph = lc.MissingnessGraph.parse("Symptoms, Test -> R[Disease]", SCREENING)
    drawn = lc.simulate(SCREENING, 50_000, lc.MissingByGraph(graph, NOT_VERIFIED), rng=1)
    assert lc.example_data("screening").to_pydict() == drawn.to_frame("pyarrow").to_pydict()


def test_a_table_that_is_not_bundled_is_named_with_those_that_are() -> None:
    with pytest.raises(DataError, match="'screenings'"):
        lc.example_data("screenings")
