"""The closed forms as terms: what is written down is what is computed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import lacunet as lc
from lacunet.counts.distinct_rows import distinct_rows
from lacunet.data.read import read_table
from lacunet.missingness.formulas.deletion import (
    Estimand,
    direct_mar_estimand,
    direct_mcar_estimand,
    listwise_estimand,
)
from lacunet.missingness.formulas.samples import Run
from lacunet.network.network import Network

NETWORK = Network({name: ["0", "1"] for name in "ABCD"}, {"C": ["A", "B"], "D": ["C"]})
PARTIALLY = ("B", "C", "D")


@pytest.mark.parametrize(
    ("method", "estimand", "given"),
    [
        ("listwise", listwise_estimand, ()),
        ("direct-mcar", direct_mcar_estimand, ()),
        ("direct-mar", direct_mar_estimand, ("A",)),
    ],
)
def test_the_term_of_a_direct_form_comes_to_its_cpts(
    method: str, estimand: Callable[..., Estimand], given: tuple[str, ...]
) -> None:
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 2, (400, 4))
    gone = rng.random((400, 4)) < 0.2
    rows = {
        name: [
            None if name != "A" and is_gone else str(code)
            for code, is_gone in zip(codes[:, k], gone[:, k], strict=True)
        ]
        for k, name in enumerate("ABCD")
    }
    table = read_table(rows, NETWORK)
    result = lc.learn(NETWORK, rows, method, pseudo_counts=0)
    for name in NETWORK.variables:
        family = NETWORK.family(name)
        term = estimand(family, PARTIALLY, given).term
        joint = term.compute(Run(distinct_rows(table, NETWORK.variables))).table.aligned(family)
        cpt = joint / joint.sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(result.network.cpt(name).table, cpt, rtol=1e-12)
