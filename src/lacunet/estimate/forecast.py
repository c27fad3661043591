"""What learning will need, told before any row is counted."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from lacunet.model.network import Network
from lacunet.statistics.distinct import LARGEST_KEY
from lacunet.statistics.errors import TooLargeError

# The joint, its weighted copy and the CPT are alive at once, 8 bytes a cell each.
BYTES_A_CELL = 24
# Each lattice cell costs a few dozen operations an edge; beyond this it takes hours.
LATTICE_CELLS = 10**9


def family_bytes(network: Network, variable: str) -> int:
    """What the CPT of a variable and the estimate behind it need while it is learned."""
    return prod(network.shape(network.family(variable))) * BYTES_A_CELL


def check_families(network: Network, budget: int) -> None:
    """Refuse a network with a family whose tables do not fit, naming the largest."""
    variable = max(network.variables, key=lambda name: family_bytes(network, name))
    needed = family_bytes(network, variable)
    cells = prod(size + 1 for size in network.shape(network.family(variable)))
    if needed > budget or cells >= LARGEST_KEY:
        raise TooLargeError.family(variable, network.parents(variable), needed, budget)
    kept = sum(family_bytes(network, name) // 3 for name in network.variables)
    if kept + needed > budget:
        raise TooLargeError.network(variable, kept + needed, budget)


def lattice_cells(network: Network, variables: Iterable[str]) -> int:
    """The number of cells of all tables of the lattice over some variables."""
    sizes = [network.cardinality(name) for name in variables]
    return prod(size + 1 for size in sizes) * max(len(sizes), 1)


def check_lattices(network: Network, variables: Iterable[str]) -> None:
    """Refuse to walk a lattice that no machine walks in reasonable time."""
    for name in variables:
        cells = lattice_cells(network, network.family(name))
        if cells > LATTICE_CELLS:
            raise TooLargeError.lattice(name, network.parents(name), cells, LATTICE_CELLS)


def memory_budget() -> int:
    """Half of the machine's memory."""
    import os

    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
