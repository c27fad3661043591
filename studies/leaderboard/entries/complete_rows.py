"""lacunet's `listwise`: rows without a missing value, counted."""

from typing import Any

import lacunet as lc
from studies.leaderboard.entry import Learned

NAME = "complete rows"


def learn(network: lc.Network, rows: Any) -> Learned:
    """Learn with intervals."""
    result = lc.learn(network, rows, "listwise", pseudo_counts=1, intervals=True)
    intervals = {name: result.interval(name) for name in network.variables}
    return Learned(result.network, intervals)
