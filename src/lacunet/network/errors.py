"""What does not make a network."""

from __future__ import annotations

from collections.abc import Iterable

from lacunet.errors import LacunetError
from lacunet.text import beginning_with, beginnings_of, close_to, meaning_question


class NetworkError(LacunetError):
    """The variables, edges or CPTs given do not make a Bayesian network."""

    @classmethod
    def no_such_state(
        cls, variable: str, state: object, states: Iterable[str], otherwise: str = ""
    ) -> NetworkError:
        """A variable does not have a state; ``otherwise`` ends the hint."""
        known = list(states)
        return cls(
            f"variable {variable!r} has no state {state!r}, only {known}.",
            meaning_question(
                close_to(str(state), known)
                or beginning_with(str(state), known)
                or beginnings_of(str(state), known)
            )
            or f"use one of these, spelled as here{otherwise}.",
        )
