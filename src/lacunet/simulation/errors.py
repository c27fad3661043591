"""What cannot be simulated, and the checks that several ways of simulating share."""

from __future__ import annotations

from math import inf

from lacunet.errors import LacunetError


class SimulationError(LacunetError):
    """The data asked for cannot be made."""


def check_least(what: str, least: int, value: int) -> None:
    """Refuse what is too small."""
    if value < least:
        raise SimulationError(f"{what} must be at least {least}, not {value}.")


def check_share(what: str, value: float) -> None:
    """Refuse what is not a share."""
    if not 0 <= value <= 1:
        raise SimulationError(f"{what} must lie between 0 and 1, not {value!r}.")


def check_beta(shapes: tuple[float, float]) -> None:
    """Refuse shape parameters that no Beta distribution has."""
    for shape in shapes:
        if not 0 < shape < inf:
            raise SimulationError(
                f"a shape parameter of the Beta must be above zero, not {shape!r}."
            )
