"""The options of methods: fields of their classes, with what the help says and what they take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from math import inf, isinf
from numbers import Integral
from typing import Any, TypedDict

import numpy as np

from lacunet.inference.engine import Inference
from lacunet.learning.plan import Aggregation, MethodError
from lacunet.network.network import Network

ABOVE_ZERO = 1e-9  # the least of what must be positive
TIME_LIMIT_HELP = "time limit in seconds, as in 5; the best so far is returned"


class MethodOptions(TypedDict, total=False):
    """The fields of all methods, which `lacunet.learn` takes beside a method's name."""

    # of the deletion methods
    groups: str | Sequence[str]
    aggregation: Aggregation
    # of EM
    start: str | Network
    tolerance: float
    max_iterations: int
    restarts: int | None
    inference: Inference
    accelerate: bool
    time_limit: float | None  # also of auto
    # of mgraph
    otherwise: str
    effort: float


def option(
    default: Any,
    text: str,
    *,
    kind: Callable[[str], Any] = str,
    metavar: str | None = None,
    choices: Sequence[str] | None = None,
    least: float = -inf,
    most: float = inf,
) -> Any:
    """A field of a method that users can set, from Python and from the command line.

    Parameters
    ----------
    text
        What it does, for the help.
    kind
        Turns what was typed into a value.
    choices, least, most
        What is accepted; None is, where it is the default.
    """
    metadata = {
        "text": text,
        "kind": kind,
        "metavar": metavar,
        "choices": choices,
        "least": least,
        "most": most,
    }
    return field(default=default, metadata=metadata)


def graph_option() -> Any:
    """The field of a method that takes a missingness graph."""
    return option(None, "the missingness graph: a file, or its text", metavar="GRAPH")


def check_options(method: Any) -> None:
    """Refuse a value that an option does not take; for a method's ``__post_init__``."""
    for option in method.__dataclass_fields__.values():
        allowed = option.metadata
        value = getattr(method, option.name, None)
        if not allowed or value is None:
            continue
        least, most = allowed["least"], allowed["most"]
        is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        bounds = "above 0" if least == ABOVE_ZERO else f"at least {least:g}"
        bounds = bounds if isinf(most) else f"from {least:g} to {most:g}"
        noun = "a number"
        if allowed["kind"] is int:
            noun = "a whole number"
            is_number = is_number and isinstance(value, Integral)
        takes = f"{'' if is_number else f'{noun}, '}{bounds}"
        is_taken = isinf(least) or (is_number and least <= value <= most)
        if allowed["choices"] is not None:
            is_taken = value in allowed["choices"]
            takes = f"one of {', '.join(allowed['choices'])}"
        if not is_taken:
            raise MethodError(
                f"{option.name} is {value!r}, but must be {takes}.",
                f"{option.name}: {allowed['text']}.",
            )
