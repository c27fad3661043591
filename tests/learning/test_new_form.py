"""A new estimator is one function and one row of the table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import lacunet as lc
from examples import RAIN
from lacunet.counts.counts import Counts
from lacunet.learning import methods
from lacunet.learning.closed_forms.direct import direct_mcar
from lacunet.learning.closed_forms.forms import Deletion, Form
from lacunet.learning.explain import explain
from lacunet.missingness.formulas.deletion import direct_mcar_estimand
from lacunet.network.network import FloatArray
from lacunet.show.results.result_text import result_as_text

ROWS = {"Rain": ["no", "yes", "no"], "Sprinkler": ["off", None, "on"], "Wet": ["no", "yes", None]}


def shrunk(counts: Counts) -> FloatArray:
    """Half of what the rows say, half uniform."""
    return (direct_mcar(counts) + 1 / np.prod(counts.cardinalities)) / 2


@dataclass(frozen=True)
class Shrunk(Deletion):
    """Direct deletion, shrunk towards the uniform distribution."""

    name = "shrunk"
    form = Form("shrunk", direct_mcar_estimand, shrunk)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(methods.METHOD_OF_NAME, "shrunk", Shrunk())


def test_a_registered_form_learns_explains_and_reports_like_any_other() -> None:
    result = lc.learn(RAIN, ROWS, "shrunk", pseudo_counts=0)
    # P(Rain): half of (2/3, 1/3), half uniform.
    np.testing.assert_allclose(result.network.cpt("Rain").table, [7 / 12, 5 / 12])
    assert result.families["Wet"].unsupported == 3
    assert "3 rows" in result_as_text(result)
    assert "R[Wet]=1" in explain(RAIN, None, Shrunk()).families["Wet"].estimand
