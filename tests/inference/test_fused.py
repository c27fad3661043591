"""Compiled loops give what NumPy gives, but for the order of sums."""

from __future__ import annotations

import numpy as np
import pytest

import lacunet as lc
from lacunet.counts.em_problems.compile import compile_problems
from lacunet.data.table import EncodedTable
from lacunet.inference.engine import engine_of
from lacunet.inference.errors import ImpossibleDataError
from lacunet.inference.expectation import fused
from lacunet.inference.expectation.fused import Fused

pytest.importorskip("numba")


@pytest.mark.parametrize(
    ("name", "rows"), [("asia", 200), ("alarm", 150), ("child", 150), ("hailfinder", 100)]
)
def test_compiled_loops_find_the_same_counts(
    name: str, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = lc.example(name)
    table = lc.simulate(network, rows, lc.MCAR(0.5), rng=1).table
    problems = compile_problems(network.with_tables(None), table)
    cells = problems.layout.flat({own: network.cpt(own).table for own in network.variables})
    plain = engine_of(problems, 2**30)
    monkeypatch.setattr(fused, "PAYS_FROM", 0)
    compiled = engine_of(problems, 2**30)
    assert any(isinstance(group, Fused) for s in compiled.plan.shards for group in s.groups)
    found, expected = compiled.expect(cells), plain.expect(cells)
    np.testing.assert_allclose(found.counts, expected.counts, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(found.log_likelihoods, expected.log_likelihoods, rtol=1e-12)


# Forty children that a row shows, each of probability 1e-9: the product has no floating point.
@pytest.mark.parametrize("probability", [1e-9, 0.0])
def test_compiled_loops_neither_underflow_nor_pass_over_what_is_impossible(
    probability: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    children = [f"X{number}" for number in range(40)]
    states = {key: ["0", "1"] for key in ["A", *children]}
    network = lc.Network(states, {key: ["A"] for key in children})
    columns = {name: np.array([1 if name in children else 2], np.uint8) for name in states}
    table = EncodedTable(dict.fromkeys(states, 2), columns)
    cells = {"A": np.array([0.25, 0.75])}
    share = np.array([[1 - probability, probability]] * 2)
    cells |= dict.fromkeys(children, share)
    problems = compile_problems(network, table)
    flat = problems.layout.flat(cells)
    monkeypatch.setattr(fused, "PAYS_FROM", 0)
    engine = engine_of(problems, 2**30)
    if not probability:
        with pytest.raises(ImpossibleDataError):
            engine.expect(flat)
        return
    found = engine.expect(flat)
    np.testing.assert_allclose(found.log_likelihoods, [40 * np.log(probability)])
    np.testing.assert_allclose(problems.layout.tables(found.counts)["A"], [0.25, 0.75])
