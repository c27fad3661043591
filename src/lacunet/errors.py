"""The root of every deliberate error.

Each room words its own refusals in its ``errors.py``, by named constructors, so that the
raising line stays short. What descends from `LacunetError` is a problem with the user's
input: the command line prints its message without a traceback. Anything else is our bug.
"""


class LacunetError(Exception):
    """Something is wrong with the input; the message says what, where and the way out."""


class LacunetWarning(UserWarning):
    """The input was accepted, but the user should know how."""
