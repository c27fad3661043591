"""The source of randomness, from what the user gave for it: one place."""

from __future__ import annotations

from typing import Any

import numpy as np

from lacunet.errors import LacunetError


def generator(rng: Any) -> np.random.Generator:
    """The generator of a seed, or the one that was given.

    Examples
    --------
    >>> int(generator(1).integers(100)) == int(np.random.default_rng(1).integers(100))
    True
    """
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise LacunetError(
            f"rng is {rng!r}, which is neither a seed nor a generator.",
            "give a seed, a whole number from zero up, or a numpy.random.Generator.",
        ) from None
