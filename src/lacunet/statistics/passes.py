"""How often rows must be read for what is needed, and which of them must be kept together.

Family counts, problems and distinct rows add up whatever the parts. Groups of rows add up
before they are reduced; where they could be too many to hold, the rows of a group must be in
one part. All rows that agree on some variables are kept together by a hash of these: one such
*key* serves every family whose groups agree on it. Rows that are put aside are drawn by what
they hold, so equal rows must be together then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from lacunet.model.network import Network, Scope
from lacunet.statistics.gather import Grouping, Needs

GROUP_BYTES = 48  # of a cell in a group: its numbers, weight, rows and squares
ENOUGH_VALUES = 2**12  # configurations of a key that spread rows over many parts


@dataclass(frozen=True)
class Pass:
    """One reading of all rows.

    Parts may be any if ``together`` is None; otherwise rows that agree on it must be in one.
    The groups of the families in ``shared`` may be split between parts all the same.
    """

    needs: Needs
    shared: frozenset[Scope]
    together: Scope | None


def passes(needs: Needs, network: Network, most_bytes: float) -> list[Pass]:
    """The readings that gather what is needed, holding so many bytes of groups at most."""
    few, many = _by_size(needs.groupings, network, most_bytes)
    classes = _classes(many, network)
    shared = frozenset(asked.family for asked in few)
    together = classes[0][0] if classes else None
    if together is None and needs.heldout is not None:
        together = network.variables
    first = replace(needs, groupings=(*few, *(classes[0][1] if classes else ())))
    others = [
        Pass(Needs((), groupings=tuple(groupings)), frozenset(), key)
        for key, groupings in classes[1:]
    ]
    return [Pass(first, shared, together), *others]


def _by_size(
    groupings: Sequence[Grouping], network: Network, most_bytes: float
) -> tuple[list[Grouping], list[Grouping]]:
    """Those whose groups fit in memory whatever the rows, smallest first, and the others."""
    few: list[Grouping] = []
    many: list[Grouping] = []
    left = most_bytes
    for asked in sorted(groupings, key=lambda asked: _cells(asked, network)):
        needed = GROUP_BYTES * _cells(asked, network)
        is_few = needed <= left or not asked.given  # all rows are one group: a table of a family
        (few if is_few else many).append(asked)
        left -= needed if is_few else 0
    return few, many


def _cells(asked: Grouping, network: Network) -> int:
    given = prod(network.cardinality(name) for name in asked.given)
    return given * prod(network.cardinality(name) + 1 for name in asked.hidden)


def _classes(groupings: Sequence[Grouping], network: Network) -> list[tuple[Scope, list[Grouping]]]:
    """Groupings that one key serves, with the key."""
    classes: list[tuple[Scope, list[Grouping]]] = []
    for asked in groupings:
        for at, (key, members) in enumerate(classes):
            both = tuple(name for name in key if name in asked.given)
            values = prod(network.cardinality(name) for name in both)
            if both == key or values >= ENOUGH_VALUES:
                classes[at] = both, [*members, asked]
                break
        else:
            classes.append((asked.given, [asked]))
    return classes
