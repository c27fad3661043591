"""An array that grows at its end."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


class Growing:
    """Values appended piece by piece, with room made ahead.

    Room is made at once for as many values as are expected: memory that is never written is
    never resident, so expecting too many costs nothing, and expecting too few one copy.

    Examples
    --------
    >>> growing = Growing(np.int64)
    >>> for piece in ([1, 2], [3]):
    ...     growing.append(np.array(piece), expected=3)
    >>> growing.whole
    array([1, 2, 3])
    """

    def __init__(self, kind: DTypeLike) -> None:
        self.length = 0
        self._room: NDArray[Any] = np.empty(0, kind)

    def append(self, values: NDArray[Any], expected: int | None) -> None:
        """Append some values; ``expected`` is how many there will be in all, if known."""
        end = self.length + len(values)
        if end > len(self._room):
            room = np.empty(max(end, expected or 0, 3 * len(self._room) // 2), self._room.dtype)
            room[: self.length] = self.whole
            self._room = room
        self._room[self.length : end] = values
        self.length = end

    @property
    def whole(self) -> NDArray[Any]:
        """All values appended so far."""
        return self._room[: self.length]
