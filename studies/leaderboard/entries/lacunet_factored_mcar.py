"""lacunet's `factored-mcar`: every part of a row."""

from typing import Any

import lacunet as lc
from studies.leaderboard.entry import Learned

NAME = "lacunet factored-mcar"


def learn(network: lc.Network, rows: Any) -> Learned:
    """Learn with intervals."""
    result = lc.learn(network, rows, "factored-mcar", pseudo_counts=1, intervals=True)
    intervals = {name: result.interval(name) for name in network.variables}
    return Learned(result.network, intervals)
