"""What the shelf of networks does not hold."""

from __future__ import annotations

from collections.abc import Iterable

from lacunet.errors import LacunetError


class UnknownNetworkError(LacunetError):
    """No bundled network has this name."""

    @classmethod
    def named(cls, name: str, known: Iterable[str]) -> UnknownNetworkError:
        from difflib import get_close_matches

        names = list(known)
        close = get_close_matches(name.lower(), names, 3)
        hint = (
            f"did you mean {' or '.join(map(repr, close))}?"
            if close
            else f"the bundled networks are {', '.join(names)}."
        )
        return cls(f"no bundled network is called {name!r}.\nHint: {hint}")
