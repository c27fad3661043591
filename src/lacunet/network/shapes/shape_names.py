"""Shapes by their names, and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lacunet.network.errors import NetworkError
from lacunet.network.shapes.fixed import Fixed
from lacunet.network.shapes.full_table import TableShape
from lacunet.network.shapes.logistic import Logistic
from lacunet.network.shapes.noisy_max import NoisyMax
from lacunet.network.shapes.noisy_or import NoisyOr
from lacunet.network.shapes.ordinal import Ordinal
from lacunet.network.shapes.shape import Shape
from lacunet.text import did_you_mean

SHAPES: Mapping[str, Any] = {
    kind.name: kind for kind in (TableShape, NoisyOr, NoisyMax, Logistic, Ordinal, Fixed)
}


def shape_named(given: Any) -> Shape:
    """The shape that a name means; a shape means itself.

    Examples
    --------
    >>> shape_named("noisy-or")
    NoisyOr(absent={})
    """
    if isinstance(given, tuple(SHAPES.values())):
        known: Shape = given  # type: ignore[assignment]
        return known
    if given == Fixed.name:
        raise NetworkError(
            "a CPT is to be 'fixed', and it is not said to what.",
            "give the table, lc.Fixed([[0.9, 0.1], [0.2, 0.8]]), or a network that has it.",
        )
    if not isinstance(given, str) or given not in SHAPES:
        close = did_you_mean(given, SHAPES) if isinstance(given, str) else ""
        hint = close or f"there are {_all()}."
        raise NetworkError(f"there is no shape {given!r} of a CPT.", hint)
    named: Shape = SHAPES[given]()
    return named


def shape_as_json(shape: Shape) -> object:
    """What a file says of a shape: its name, or an object with its options."""
    if isinstance(shape, Fixed):
        return {"shape": shape.name, "table": shape.table.tolist()}
    if isinstance(shape, NoisyOr | NoisyMax) and shape.absent:
        return {"shape": shape.name, "absent": dict(shape.absent)}
    return shape.name


def shape_from_json(value: object) -> Shape:
    """The shape that a file means.

    Examples
    --------
    >>> shape_from_json(shape_as_json(NoisyOr(absent={"Flu": "low"})))
    NoisyOr(absent={'Flu': 'low'})
    """
    if not isinstance(value, Mapping):
        return shape_named(value)
    options = {key: option for key, option in value.items() if key != "shape"}
    kind = SHAPES.get(str(value.get("shape")))
    takes = {NoisyOr: ["absent"], NoisyMax: ["absent"], Fixed: ["table"]}.get(kind, [])  # type: ignore[arg-type]
    if kind is None or [*options] != takes:
        raise NetworkError(f"{dict(value)!r} is not the shape of a CPT.", f"there are {_all()}.")
    shape: Shape = kind(**options)
    return shape


def _all() -> str:
    return ", ".join(map(repr, SHAPES))
