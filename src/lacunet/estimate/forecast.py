"""What learning will need, told before any row is counted."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from lacunet.estimate.method import Method
from lacunet.model.network import Network
from lacunet.statistics.distinct import LARGEST_KEY
from lacunet.statistics.errors import TooLargeError

# What is alive at once for each cell of the largest family, measured at 8 million cells:
# the joint, its weighted copy and the CPT; for factored methods also the estimates of the
# lattice, their variances and what they are made of.
DIRECT_BYTES_A_CELL = 40
FACTORED_BYTES_A_CELL = 144
DIRECT = ("listwise", "direct-mcar", "direct-mar", "informed-direct", "mgraph")
# Each lattice cell costs a few dozen operations an edge; beyond this it takes hours.
LATTICE_CELLS = 10**9


def family_bytes(network: Network, variable: str, bytes_a_cell: int) -> int:
    """What the CPT of a variable and the estimate behind it need while it is learned."""
    return prod(network.shape(network.family(variable))) * bytes_a_cell


def check_families(network: Network, budget: int, bytes_a_cell: int) -> None:
    """Refuse a network with a family whose tables do not fit, naming the largest."""
    variable = max(network.variables, key=lambda name: family_bytes(network, name, 1))
    needed = family_bytes(network, variable, bytes_a_cell)
    cells = prod(size + 1 for size in network.shape(network.family(variable)))
    if needed > budget or cells >= LARGEST_KEY:
        raise TooLargeError.family(variable, network.parents(variable), needed, budget)
    kept = sum(family_bytes(network, name, 8) for name in network.variables)
    if kept + needed > budget:
        raise TooLargeError.network(variable, kept + needed, budget)


def lattice_cells(network: Network, variables: Iterable[str]) -> int:
    """The number of cells of all tables of the lattice over some variables."""
    sizes = [network.cardinality(name) for name in variables]
    return prod(size + 1 for size in sizes) * max(len(sizes), 1)


def bytes_a_cell(method: Method) -> int:
    """What a method needs for each cell of a family, while it learns that family."""
    return DIRECT_BYTES_A_CELL if method.name in DIRECT else FACTORED_BYTES_A_CELL


def check_size(network: Network, method: Method, budget: int) -> None:
    """Refuse, before any row is counted, what does not fit or would not end."""
    check_families(network, budget, bytes_a_cell(method))
    if method.name not in DIRECT:
        check_lattices(network)


def check_lattices(network: Network) -> None:
    """Refuse to walk a lattice that no machine walks in reasonable time."""
    for name in network.variables:
        cells = lattice_cells(network, network.family(name))
        if cells > LATTICE_CELLS:
            raise TooLargeError.lattice(name, network.parents(name), cells, LATTICE_CELLS)
