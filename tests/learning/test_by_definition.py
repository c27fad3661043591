"""Random networks and tables against the definitions, written out row by row."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from by_definition import joint
from lacunet.learning.cpts import posterior_mode
from lacunet.learning.methods import method_named
from road import Task, learned_by
from strategies import networks, tables

METHODS = [
    "direct-mcar",
    "factored-mcar",
    "direct-mar",
    "factored-mar",
    "informed-direct",
    "informed-factored",
]


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_every_cpt_follows_its_definition(method: str, data: st.DataObject) -> None:
    network = data.draw(networks(max_variables=4, max_parents=2))
    table = data.draw(tables(network, max_rows=12, weighted=data.draw(st.booleans())))
    separator = (
        data.draw(st.lists(st.sampled_from(table.fully_observed), unique=True))
        if (method.startswith("informed") and table.fully_observed)
        else []
    )
    options = {"groups": separator} if method.startswith("informed") else {}
    learned = learned_by(method_named(method, **options), Task(network, table, 0.5))
    table = table.scaled()
    for name in network.variables:
        expected = joint(network, table, network.family(name), method, separator)
        cpt, _ = posterior_mode(expected, table.total, 0.5)
        np.testing.assert_allclose(learned.tables[name], cpt, rtol=1e-9, atol=1e-12)
