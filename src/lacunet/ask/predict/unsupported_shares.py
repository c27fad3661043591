"""What is said where predictions and completions rest on CPT rows that no data support."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lacunet.errors import warn
from lacunet.inference.errors import UnsupportedError
from lacunet.inference.query import NOTED_SHARE
from lacunet.network.network import FloatArray
from lacunet.text import counted


@dataclass
class RowShares:
    """How far rows rest on CPT rows without data: what is said of all of them, not the shares."""

    rows: int = 0
    possible: int = 0  # the rows that are not of probability zero
    resting: int = 0
    total: float = 0.0
    largest: float = -1.0
    row_of_largest: int = 0

    def add(self, shares: FloatArray) -> None:
        """Take in the shares of some rows; NaN for a row of probability zero."""
        is_possible = ~np.isnan(shares)
        known = shares[is_possible]
        if len(known) and known.max() > self.largest:
            self.largest = float(known.max())
            self.row_of_largest = self.rows + int(np.nanargmax(shares)) + 1
        self.rows += len(shares)
        self.possible += len(known)
        self.resting += int((known >= NOTED_SHARE).sum())
        self.total += float(known.sum())

    def object(self, what: str, unsupported: str) -> None:
        """Warn of rows that rest on CPT rows without data, or refuse them; ``what`` does, in words.

        Examples
        --------
        >>> shares = RowShares()
        >>> shares.add(np.array([0.0, 0.5, np.nan]))
        >>> shares.resting, shares.row_of_largest, shares.total / shares.possible
        (1, 2, 0.25)
        """
        if not self.resting:
            return
        largest, mean = (
            f"{share:.1%}" if share >= 0.001 else "less than 0.1%"
            for share in (self.largest, self.total / self.possible)
        )
        words = (
            f"{what}: those of {counted(self.resting, 'row')} rest on CPT rows that no data "
            f"support, by {largest} in row {self.row_of_largest}, by {mean} on average"
        )
        if unsupported == "refuse":
            raise UnsupportedError(f"{words}.", "unsupported='ignore' accepts that.")
        warn(f"{words}.")
