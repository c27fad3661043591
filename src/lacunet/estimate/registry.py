"""The methods by name, with the options each takes."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from lacunet.estimate.auto import Auto
from lacunet.estimate.deletion.direct_mar import DirectMar, InformedDirect
from lacunet.estimate.deletion.direct_mcar import DirectMcar, Listwise
from lacunet.estimate.deletion.factored_mar import FactoredMar, InformedFactored
from lacunet.estimate.deletion.factored_mcar import FactoredMcar
from lacunet.estimate.deletion.lattice import AGGREGATIONS
from lacunet.estimate.em.method import EM, LoopyEM, OneStep
from lacunet.estimate.errors import MethodError
from lacunet.estimate.method import Method
from lacunet.estimate.mgraph import Mgraph

KINDS: dict[str, type[Method]] = {
    kind.name: kind
    for kind in (
        Auto,
        Listwise,
        DirectMcar,
        FactoredMcar,
        DirectMar,
        FactoredMar,
        InformedDirect,
        InformedFactored,
        OneStep,
        EM,
        LoopyEM,
        Mgraph,
    )
}
METHODS = tuple(KINDS)


def method_named(name: str, **options: Any) -> Method:
    """The method of a name, with its options.

    Options that are None are taken as not given.

    Examples
    --------
    >>> method_named("factored-mcar", aggregation="median")
    FactoredMcar(aggregation='median')
    """
    if name not in KINDS:
        raise MethodError.unknown(name, METHODS)
    kind = KINDS[name]
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    given = {option: value for option, value in options.items() if value is not None}
    for option in given:
        if option not in known:
            raise MethodError.option(name, option, known)
    if given.get("aggregation", AGGREGATIONS[0]) not in AGGREGATIONS:
        raise MethodError.choice("aggregation", given["aggregation"], AGGREGATIONS)
    if "separator" in known and not {"separator", "missingness"} & set(given):
        raise MethodError.no_separator(name)
    if kind is Mgraph and "missingness" not in given:
        raise MethodError.no_graph()
    if "separator" in given:
        names = given["separator"]
        given["separator"] = (names,) if isinstance(names, str) else tuple(names)
        if given["separator"] == ("learn",):
            raise MethodError.separator_not_learned()
    return kind(**given)
