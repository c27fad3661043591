"""The methods by name, with the options each takes."""

from __future__ import annotations

from dataclasses import Field, fields
from typing import Any

from lacunet.data.given import Data
from lacunet.estimate.deletion.forms import Informed
from lacunet.estimate.method import Method, MethodError
from lacunet.estimate.mgraph import STAND_INS, MGraph
from lacunet.wording import did_you_mean

KINDS: dict[str, type[Method]] = {**STAND_INS, MGraph.name: MGraph}
METHODS = tuple(KINDS)


def options_of(name: str) -> dict[str, Field[Any]]:
    """The options of a method, by their names."""
    if name not in KINDS:
        offer = f"{did_you_mean(str(name), METHODS)} "
        raise MethodError(
            f"there is no method {name!r}.", f"{offer.lstrip()}choose one of {', '.join(METHODS)}."
        )
    every = fields(KINDS[name])  # type: ignore[arg-type]
    return {own.name: own for own in every if own.metadata}


def method_named(name: str, **options: Any) -> Method:
    """The method of a name, with its options.

    Options that are None are taken as not given.

    Examples
    --------
    >>> method_named("factored-mcar", aggregation="median")
    FactoredMCAR(aggregation='median')
    """
    known = options_of(name)
    given = {option: value for option, value in options.items() if value is not None}
    for option in given:
        if option not in known and not (option == "seed" and "start" in known):
            takes = ", ".join(known) or "no options"
            others = [other for other in METHODS if option in options_of(other)]
            hint = f"{option} is an option of {', '.join(others)}." if others else ""
            if option in Data.__dataclass_fields__:
                hint = f"it belongs to the data: lacunet.Data(data, {option}=...)."
            raise MethodError(f"method {name!r} takes no {option!r}; it takes {takes}.", hint)
    if issubclass(KINDS[name], Informed) and not {"separator", "missingness"} & set(given):
        raise MethodError(
            f"method {name!r} needs to know what separates the missing values from their "
            "mechanisms.",
            "name the variables with separator=[...] (--separator A,B), or give a missingness "
            "graph (--missingness FILE).",
        )
    return KINDS[name](**given)
