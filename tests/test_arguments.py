"""Arguments that public functions, methods and classes do not take are answered in words."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import pytest

import lacunet as lc
import lacunet.plots
import lacunet.sklearn
from lacunet.network.arguments import ArgumentsError
from lacunet.network.askable import Askable

KEPT = {"LacunetError", "LacunetWarning", "Interrupted"}  # exceptions


def callables() -> Iterator[tuple[str, Any]]:
    for name in lc.__all__:
        if name not in KEPT:
            yield name, getattr(lc, name)
    for module in (lacunet.plots, lacunet.sklearn):
        for name, value in vars(module).items():
            is_own = getattr(value, "__module__", "") == module.__name__
            if is_own and name[0] != "_" and hasattr(value, "__wrapped__"):
                yield f"{module.__name__}.{name}", value
    asia = lc.example("asia")
    for name, value in vars(Askable).items():
        if inspect.isfunction(value) and name[0] != "_":
            yield f"Network.{name}", getattr(asia, name)


CALLABLES = dict(callables())


@pytest.mark.parametrize("name", [name for name in CALLABLES if "." not in name])
def test_every_public_name_lists_its_parameters_for_one_it_does_not_have(name: str) -> None:
    function = CALLABLES[name]
    needed = [
        parameter.name
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    ]
    rows = {"A": ["a", "b"], "B": ["c", "d"]}
    given: dict[str, Any] = {each: {"network": "A -> B"}.get(each, rows) for each in needed}
    with pytest.raises(ArgumentsError, match="no parameter 'zzz'") as refused:
        function(**given, zzz=1)
    for parameter in needed:
        assert parameter in refused.value.hint


@pytest.mark.parametrize("name", [name for name in CALLABLES if "." in name])
def test_verbs_and_pictures_name_a_parameter_they_do_not_have(name: str) -> None:
    with pytest.raises((ArgumentsError, TypeError), match="'zzz'"):
        CALLABLES[name](zzz=1)


def test_the_nearest_parameter_comes_first() -> None:
    with pytest.raises(ArgumentsError, match="parameters max_parents, ") as refused:
        lc.learn_structure({"A": [1, 2]}, max_parent=2)  # type: ignore[call-arg]
    assert "did you mean 'max_parents'?" in refused.value.hint
    assert isinstance(refused.value, TypeError)
    assert isinstance(refused.value, lc.LacunetError)


def test_data_without_edges_are_answered_with_the_search_for_edges() -> None:
    with pytest.raises(ArgumentsError, match="learn_structure"):
        lc.learn({"A": [1, 2]})  # type: ignore[call-arg]


def test_an_error_from_within_stays_what_it_is() -> None:
    def progress(*_: Any) -> None:
        raise TypeError("from within")

    with pytest.raises(TypeError, match="from within") as raised:
        lc.learn("A -> B", {"A": ["a", "b"], "B": ["c", "d"]}, "em", progress=progress)  # type: ignore[arg-type]
    assert not isinstance(raised.value, ArgumentsError)
