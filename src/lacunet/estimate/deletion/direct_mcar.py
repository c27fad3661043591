r"""Direct deletion for MCAR data.

Van den Broeck, Mohan, Choi, Pearl and Darwiche (2015), "Direct Deletion for MCAR". The
estimate of a family uses the rows that show the whole family. Available-case analysis is
another name for it.
"""

from __future__ import annotations

from lacunet.model.network import FloatArray
from lacunet.statistics.counts import Counts


def direct_mcar(counts: Counts) -> FloatArray:
    r"""Estimate the joint of a family from the rows that show all of it.

    .. math::
        \Pr(y) \approx \Pr_D(y \mid R_Y = \mathsf{ob})

    Where no row shows all of :math:`Y` the estimate is zero everywhere.

    Examples
    --------
    >>> import numpy as np
    >>> from lacunet.statistics.counts import Counts, Tally
    >>> ones = np.array([3.0, 1.0, 5.0])
    >>> direct_mcar(Counts(("A",), (2,), np.array([0, 1, 2]), Tally(ones, ones, ones))).tolist()
    [0.75, 0.25]
    """
    shown = counts.dense()
    total = shown.sum()
    return shown / total if total > 0 else shown
