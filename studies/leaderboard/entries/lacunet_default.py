"""lacunet as it comes: `auto` with the prior that it learns from the counts."""

from typing import Any

import lacunet as lc
from studies.leaderboard.entry import Learned

NAME = "lacunet default (auto, learned prior)"


def learn(network: lc.Network, rows: Any) -> Learned:
    """Learn with intervals."""
    result = lc.learn(network, rows, intervals=True)
    intervals = {name: result.interval(name) for name in network.variables}
    return Learned(result.network, intervals)
