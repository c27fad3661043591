"""The connected components of a graph with many nodes, found by halving what is left.

Each node holds a node of its component that is no greater; a root holds itself. Every edge between
two roots hooks the greater to the less, then all nodes jump to what their holders hold until they
hold roots. Edges whose ends hold the same root are done, and there are fewer roots each round.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.integer]


def connected_components(
    nodes: int, left: Integers, right: Integers
) -> tuple[int, NDArray[np.int64]]:
    """How many components there are and the number of each node's, by their least nodes.

    Parameters
    ----------
    nodes
        How many nodes there are.
    left, right
        The ends of each edge, of a type that holds all nodes.

    Examples
    --------
    >>> connected_components(5, np.array([3, 4]), np.array([1, 3]))
    (3, array([0, 1, 2, 1, 1]))
    """
    start = np.arange(nodes, dtype=left.dtype)
    root = start.copy()
    while len(left):
        np.minimum.at(root, np.maximum(left, right), np.minimum(left, right))
        above = root[root]
        while not np.array_equal(above, root):
            root = above
            above = above[above]
        left, right = root[left], root[right]
        is_apart = left != right
        left, right = left[is_apart], right[is_apart]
    is_root = root == start
    return int(np.count_nonzero(is_root)), (np.cumsum(is_root) - 1)[root]
