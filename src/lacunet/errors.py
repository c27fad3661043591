"""The root of every deliberate error.

What descends from `LacunetError` is a problem with the user's input: the command line prints
its message without a traceback. Anything else is our bug. An error that is raised in one place
is a sentence at that place; a named constructor is for one that is raised in several.
"""

from __future__ import annotations


class LacunetError(ValueError):
    """Something is wrong with the input.

    ``message`` says what and where, ``hint`` the way out; printed, the one follows the other.

    Examples
    --------
    >>> print(LacunetError("column 'Age' is missing.", "name it in latent=[...]."))
    column 'Age' is missing.
    Hint: name it in latent=[...].
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\nHint: {self.hint}" if self.hint else self.message


class LacunetWarning(UserWarning):
    """The input was accepted, but the user should know how."""
