"""The methods by name, with the options each takes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import Field, fields, replace
from inspect import signature
from typing import Any

from lacunet.counts.look import Look
from lacunet.learning.auto import Auto
from lacunet.learning.closed_forms.forms import Deletion
from lacunet.learning.em.em import ALL_LOOPY
from lacunet.learning.mgraph import STAND_INS, MGraph
from lacunet.learning.plan import Method, MethodError
from lacunet.learning.pseudo_counts import DESIGN_BASED, LEARN, ONE_PER_CELL, AskedPseudoCounts
from lacunet.network.arguments import unknown_arguments
from lacunet.network.network import Network
from lacunet.text import did_you_mean, listed, meaning_question

# The method of each name, without further options; mgraph is nothing without its graph.
METHOD_OF_NAME: dict[str, Method | type[MGraph]] = {**STAND_INS, MGraph.name: MGraph}
METHODS = tuple(METHOD_OF_NAME)


def options_of(name: str) -> dict[str, Field[Any]]:
    """The options of a method, by their names."""
    if name not in METHOD_OF_NAME:
        offer = _meant_method(str(name))
        choose = f"{offer} Or choose" if offer else "choose"
        raise MethodError(f"there is no method {name!r}.", f"{choose} one of {', '.join(METHODS)}.")
    kind = METHOD_OF_NAME[name]
    options = {option.name: option for option in fields(kind) if option.metadata}  # type: ignore[arg-type]
    if isinstance(kind, Deletion):
        return {option: options[option] for option in kind.free_options}
    if name == ALL_LOOPY:
        del options["inference"]
    return options


def _meant_method(name: str) -> str:
    """The method that was probably meant, in words, or nothing.

    Examples
    --------
    >>> _meant_method("factored_mar"), _meant_method("mar")
    ("did you mean 'factored-mar'?", "did you mean 'direct-mar' or 'factored-mar'?")
    """
    plain = name.lower().replace("_", "-").replace(" ", "-")
    parts = [method for method in METHODS if plain in method.split("-")]
    parts = [plain] if plain in METHODS else parts
    return meaning_question(parts) if parts else did_you_mean(plain, METHODS)


def method_of(
    network: Network,
    method: str | Method,
    options: Mapping[str, Any],
    latent: Collection[str] = (),
) -> Method:
    """The method with its options, if what was given makes sense.

    A missingness graph may be given as its text or a file's path; variables that are latent in the
    data are latent in it.
    """
    given = {option: value for option, value in options.items() if value is not None}
    if "missingness" in given:
        from lacunet.missingness.graph import graph_of

        given["missingness"] = graph_of(given["missingness"], network)
    if method == Auto.name and "missingness" in given:
        method = MGraph.name
    if isinstance(method, str):
        method = method_named(method, **given)
        given = {}
    if isinstance(method, type) or not hasattr(method, "plan"):
        raise MethodError(
            f"method is {method!r}, but must be a method's name or a method.",
            "name one, such as 'em', or give a value such as lacunet.EM().",
        )
    for option in given:
        raise MethodError(
            f"{option}= goes with a method's name; a method given as a value has its own options.",
            f"give {option} to the method.",
        )
    graph = getattr(method, "missingness", None)
    if graph is None or not latent:
        return method
    return replace(method, missingness=graph.hiding(latent))  # type: ignore[type-var]


def default_pseudo_counts(method: Method, look: Look) -> AskedPseudoCounts:
    """Those unless some are given: learned, but 1 with closed forms; docs/prior.md says why.

    Estimates of a survey are design-based, whatever the method.
    """
    if look.units is not None:
        return DESIGN_BASED
    return ONE_PER_CELL if isinstance(method, Deletion) else LEARN


WAY_TO_INTERVALS = (
    "write learn(..., intervals=True), and the level where intervals are asked for: "
    "result.interval(variable, 0.9), result.query(variable, level=0.9)."
)


def _way_to(option: str, known: Collection[str]) -> str:
    """Where an option belongs that a method does not take."""
    if _methods_with(option):
        return _of_methods(option)
    return did_you_mean(option, known)


def _of_methods(option: str) -> str:
    """Which methods take an option, and how to ask for one of them."""
    others = _methods_with(option)
    name = "em" if "em" in others else others[0]
    return f"{option!r} is an option of {', '.join(others)}: say method={name!r} (--method {name})."


def check_option_names(
    function: Callable[..., Any], method: str | Method, options: Mapping[str, Any]
) -> None:
    """Refuse options of a function that no method takes, before any data are read."""
    given = [option for option, value in options.items() if value is not None]
    name = getattr(method, "name", method)
    if name == Auto.name and "missingness" in given:
        name = MGraph.name
    if unknown := [option for option in given if not _methods_with(option)]:
        parameters = [each for each in signature(function).parameters if each != "options"]
        known = parameters
        if name in METHOD_OF_NAME:
            known += options_of(name)
        raise unknown_arguments(function.__name__, unknown, list(dict.fromkeys(known)))


def _not_taken(name: str, unknown: Sequence[str], known: Collection[str]) -> MethodError:
    """What to say of options that neither a method nor the function that was called takes."""
    way_of = {option: _way_to(option, known) for option in unknown}
    ways = [f"{option!r}: {way}" for option, way in way_of.items() if way]
    return MethodError(
        f"{listed(unknown)}: neither an argument here nor an option of {name!r}, which has "
        f"{', '.join(known) or 'none'}.",
        way_of[unknown[0]] if len(unknown) == 1 else " ".join(ways),
    )


def _methods_with(option: str) -> list[str]:
    return [name for name in METHODS if option in options_of(name)]


def method_named(name: str, **options: Any) -> Method:
    """The method of a name, with its options.

    Options that are None are taken as not given.

    Examples
    --------
    >>> method_named("factored-mcar", aggregation="median")
    Deletion(kind='factored', groups=None, aggregation='median', missingness=None)
    """
    known = options_of(name)
    given = {option: value for option, value in options.items() if value is not None}
    if unknown := [option for option in given if option not in known]:
        raise _not_taken(name, unknown, known)
    kind = METHOD_OF_NAME[name]
    if isinstance(kind, type):
        return kind(**given)
    is_informed = isinstance(kind, Deletion) and kind.is_informed
    if is_informed and not {"groups", "missingness"} & set(given):
        raise MethodError(
            f"method {name!r} needs to know what explains which values are missing.",
            "name the variables with groups=[...] (--groups A,B), let them be found with "
            "groups='learn', or give a missingness graph (--missingness FILE).",
        )
    method: Method = replace(kind, **given)  # type: ignore[type-var]
    if method.name != name:
        raise MethodError(
            f"with these options method {name!r} is {method.name!r}.", f"ask for {method.name!r}."
        )
    return method
