"""What a network refuses to be."""

from __future__ import annotations

from collections.abc import Iterable

from lacunet.errors import LacunetError


class NetworkError(LacunetError):
    """The variables, edges or CPTs given do not make a Bayesian network."""

    @classmethod
    def no_such_state(cls, variable: str, state: object, states: Iterable[str]) -> NetworkError:
        return cls(
            f"variable {variable!r} has no state {state!r}, only {list(states)}.",
            "use one of these, spelled as here; leave the variable out if it was not observed.",
        )
