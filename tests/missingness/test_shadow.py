from __future__ import annotations

import numpy as np
import pytest

from lacunet.missingness.errors import MissingnessGraphError, ShadowError
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.shadow import by_shadow
from lacunet.model.network import Network
from manifest_laws import random_model

NETWORK = Network(
    {"Z": ["0", "1"], "X": ["0", "1"], "Y": ["0", "1", "2"]}, {"X": ["Z"], "Y": ["X", "Z"]}
)
CENSORED = MissingnessGraph.parse("X, Z -> R[X]", NETWORK)


def test_a_shadow_variable_recovers_what_censors_itself() -> None:
    model = random_model(CENSORED, np.random.default_rng(4))
    result = by_shadow(CENSORED, "X", "Y", model.manifest(), given=["Z"])
    np.testing.assert_allclose(result.table, model.truth(["Z", "Y", "X"]), rtol=1e-9)
    assert result.condition_numbers.shape == (2,)
    assert (result.residuals < 1e-12).all()
    assert CENSORED.recover(["X"]).status == "not recoverable"


def test_a_shadow_that_cannot_tell_the_states_apart_is_refused() -> None:
    model = random_model(CENSORED, np.random.default_rng(4))
    with pytest.raises(ShadowError, match=r"condition number .* above the limit 1"):
        by_shadow(CENSORED, "X", "Y", model.manifest(), given=["Z"], condition_limit=1.0)


@pytest.mark.parametrize(
    ("text", "shadow", "given", "message"),
    [
        ("X, Y -> R[X]", "Y", ["Z"], r"the path Y -> R\[X\] joins it"),
        ("X -> R[X]; R[Y]", "Y", ["Z"], "'Y' may be missing itself"),
        ("X -> R[X]; R[Z]", "Y", ["Z"], "'Z' may be missing itself"),
        ("R[Y]", "Y", ["Z"], "'X' has no mechanism"),
    ],
)
def test_what_is_no_shadow_variable_is_refused(
    text: str, shadow: str, given: list[str], message: str
) -> None:
    graph = MissingnessGraph.parse(text, NETWORK)
    table = random_model(CENSORED, np.random.default_rng(4)).manifest()
    with pytest.raises(ShadowError, match=message):
        by_shadow(graph, "X", shadow, table, given=given)


def test_a_shadow_with_too_few_states_is_refused() -> None:
    network = Network({"X": ["0", "1", "2"], "Y": ["0", "1"]}, {"Y": ["X"]})
    graph = MissingnessGraph.parse("X -> R[X]", network)
    table = random_model(graph, np.random.default_rng(0)).manifest()
    with pytest.raises(ShadowError, match="it has 2 states, fewer than the 3 of 'X'"):
        by_shadow(graph, "X", "Y", table)


def test_a_shadow_with_missing_values_but_no_mechanism_is_refused() -> None:
    model = random_model(
        MissingnessGraph.parse("X, Z -> R[X]; R[Y]", NETWORK), np.random.default_rng(4)
    )
    with pytest.raises(MissingnessGraphError, match="missing values of 'Y', but"):
        by_shadow(CENSORED, "X", "Y", model.manifest(), given=["Z"])
