"""How sure an answer is if the edges of the network were learned, too.

The interval of an answer by one network takes its edges as known. A search that misses a weak edge
then gives a narrow interval around an answer in which two variables have nothing to do with each
other: with few rows it often misses the truth. What replicates of the rows led to
(`lacunet.structure.strengths`) answers in the network's place: some have the edge, and tell how
much it moves the answer.

Their answers give a second interval, and the answer's own reaches over both. The second one lies
around the mean of the replicates' answers; its variance is the mean of their squared distances
from the network's answer. Where that is the mean, it is their variance, in which that of the CPTs
is included; where it is not, the distance between the two is what the search decided.

What is done from outside is not answered so: replicates also differ in directions, which no rows
tell.

Where much is missing, that is not enough. Replicates complete the rows by the network that was
found, which lacks the same edges as its completions, however many rows there are. By measurement
(``docs/details/structure.md``) intervals then cover less than they say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lacunet.counts.counts import quotient
from lacunet.inference.joint import joint_marginals
from lacunet.learning.uncertainty.cpt_intervals import Spread
from lacunet.network.network import FloatArray, Network, Scope

# Shares of all cells that are missing, from which on intervals cover less than nine in ten of what
# they should: whatever the number of rows, and with few of them.
MUCH_MISSING = 0.25
MUCH_IN_FEW_ROWS = 0.1
FEW_SEARCHED_ROWS = 1_000


def coverage_falls_short(network: Network, rows: int, missing: Mapping[str, int]) -> bool:
    """Whether intervals that count a search are known to cover too little.

    Parameters
    ----------
    missing
        How many of the rows miss each variable.

    Examples
    --------
    >>> empty = Network({"A": ["0", "1"]}, {}, {"A": [0.5, 0.5]})
    >>> searched = empty.with_bootstrap([empty])
    >>> coverage_falls_short(searched, 300, {"A": 60})
    True
    >>> coverage_falls_short(searched, 3000, {"A": 600}), coverage_falls_short(empty, 300, {"A": 9})
    (False, False)
    """
    if not network.bootstrap or not rows:
        return False
    share = sum(missing.values()) / (rows * len(missing))
    return share >= (MUCH_IN_FEW_ROWS if rows < FEW_SEARCHED_ROWS else MUCH_MISSING)


@dataclass(frozen=True)
class SearchedSpread(Spread):
    """The spread of an answer by a network whose edges were learned.

    Sizes and rates are those of the known edges.
    """

    known_edges: Spread = field(kw_only=True)  # how sure the answer is if the edges are right
    replicates: Spread = field(kw_only=True)  # what the networks of replicates answered

    @classmethod
    def of(cls, known_edges: Spread, answers: FloatArray) -> SearchedSpread:
        """The spread by the answers of replicates, of which each is one on the first axis."""
        mean = answers.mean(axis=0)
        variance = np.square(answers - known_edges.table).mean(axis=0)
        sizes = quotient(mean * (1 - mean), variance, np.inf)
        return cls(
            known_edges.table,
            known_edges.rates,
            known_edges.sizes,
            known_edges.degrees,
            known_edges.open_ends,
            known_edges=known_edges,
            replicates=Spread(known_edges.table, mean, sizes, len(answers)),
        )

    def interval(self, level: float = 0.95) -> FloatArray:
        """The interval of each entry: the table's axes, then low and high."""
        as_known = self.known_edges.interval(level)
        as_searched = self.replicates.interval(level)
        low = np.minimum(as_known[..., 0], as_searched[..., 0])
        high = np.maximum(as_known[..., 1], as_searched[..., 1])
        return np.stack([low, high], axis=-1)

    @property
    def standard_error(self) -> FloatArray:
        """The standard error of each entry: the larger one."""
        mean, sizes = self.replicates.rates, self.replicates.sizes
        by_replicates = np.sqrt(quotient(mean * (1 - mean), sizes, np.inf))
        return np.maximum(self.known_edges.standard_error, by_replicates)


def answers_of(
    networks: Sequence[Network], scope: Scope, evidence: Mapping[str, object]
) -> FloatArray:
    """What each network answers, one after the other on the first axis."""
    return np.stack([joint_marginals(network, [scope], evidence)[0] for network in networks])
