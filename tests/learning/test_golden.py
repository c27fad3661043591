"""Digit by digit against the paper's authors' own program."""

import numpy as np
import pytest

from golden import NAMES, golden
from lacunet.learning.methods import method_named
from road import Task, learned_by

CASES = [(name, method) for name in NAMES for method in golden(name).expected["cpts"]]


@pytest.mark.parametrize(("name", "method"), CASES)
def test_the_authors_cpts_are_reproduced(name: str, method: str) -> None:
    case = golden(name)
    separator = case.expected.get("separator") if method.startswith("informed") else None
    task = Task(case.network, case.table, case.expected["prior_concentration"] - 1)
    learned = learned_by(method_named(method, groups=separator), task)
    for variable, expected in case.cpts(method).items():
        # A careful implementation agrees to rounding; nothing here needs more room than that.
        np.testing.assert_allclose(learned.tables[variable], expected, rtol=0, atol=1e-12)
