"""What is public, looked up in one place."""

from __future__ import annotations

import inspect

import lacunet as lc
from lacunet.network.askable import Askable


def functions_with(parameter: str) -> set[str]:
    """The names of the public functions, and of the verbs of networks, that have a parameter."""
    public = {name: getattr(lc, name) for name in lc.__all__} | vars(Askable)
    return {
        name
        for name, one in public.items()
        if inspect.isfunction(one) and parameter in inspect.signature(one).parameters
    }
