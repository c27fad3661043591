"""lacunet's `auto`, with one pseudo-count per cell in place of the prior that it learns."""

from typing import Any

import lacunet as lc
from studies.leaderboard.entry import Learned

NAME = "lacunet auto"


def learn(network: lc.Network, rows: Any) -> Learned:
    """Learn with intervals."""
    result = lc.learn(network, rows, "auto", prior=2, intervals=True)
    intervals = {name: result.interval(name) for name in network.variables}
    return Learned(result.network, intervals)
