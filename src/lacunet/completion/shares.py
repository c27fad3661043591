"""What is said where predictions and completions rest on CPT rows that no data support."""

from __future__ import annotations

import numpy as np

from lacunet.errors import warn
from lacunet.inference.errors import UnsupportedError
from lacunet.inference.query import NOTED_SHARE
from lacunet.model.network import FloatArray
from lacunet.wording import counted


def object_to_shares(shares: FloatArray, what: str, unsupported: str) -> None:
    """Warn of rows that rest on CPT rows without data, or refuse them.

    Parameters
    ----------
    shares
        The share of each row; NaN for a row of probability zero.
    what
        What rests on them, in words.
    """
    resting = int((shares >= NOTED_SHARE).sum())
    if not resting:
        return
    worst = int(np.nanargmax(shares))
    words = (
        f"{what}: those of {counted(resting, 'row')} rest on CPT rows that no data support, "
        f"by {np.nanmax(shares):.1%} in row {worst + 1}, by {np.nanmean(shares):.1%} on average"
    )
    if unsupported == "refuse":
        raise UnsupportedError(f"{words}.", "unsupported='ignore' accepts that.")
    warn(f"{words}.")
