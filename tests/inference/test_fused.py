"""Compiled loops give what NumPy gives, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest

import lacunet as lc
from lacunet.counts.em_problems.compile import compile_problems
from lacunet.inference.engine import engine_of
from lacunet.inference.expectation import fused, shards

pytest.importorskip("numba")


@pytest.mark.parametrize(("name", "rows"), [("asia", 200), ("alarm", 150), ("child", 150)])
def test_compiled_loops_find_the_same_bits(
    name: str, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = lc.example(name)
    table = lc.simulate(network, rows, lc.MCAR(0.5), rng=1).table
    problems = compile_problems(network.with_tables(None), table)
    cells = problems.layout.flat({own: network.cpt(own).table for own in network.variables})
    found = []
    monkeypatch.setattr(shards, "CELLS_WORTH_A_GROUP", 0)  # few are not worth compiled loops
    for values in (-np.inf, np.inf):
        monkeypatch.setattr(fused.READ, "values", values)
        found.append(engine_of(problems, 2**30).expect(cells))
    np.testing.assert_array_equal(found[0].counts, found[1].counts)
    np.testing.assert_array_equal(found[0].log_likelihoods, found[1].log_likelihoods)


def test_loops_are_compiled_when_that_has_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fused.READ, "values", 0.0)
    assert fused.kernels(int(fused.PAYS_FROM) - 1) is None
    assert fused.kernels(1) is not None
