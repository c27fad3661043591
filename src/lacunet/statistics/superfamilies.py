"""Superfamilies: count a few unions of families instead of every family.

Reading a column and looking up a cell is what counting costs; a union of families is read
once, and each family is then summed out of it, which costs nothing. A union may have at
most ``limit`` cells, so that its table stays in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from lacunet.model.network import Scope

UNION_CELLS = 2**14


def superfamilies(
    families: Sequence[Scope], radix_of: Mapping[str, int], limit: int = UNION_CELLS
) -> list[tuple[Scope, list[Scope]]]:
    """Unions of the families, with the families to be summed out of each.

    Each family, largest first, joins the union that grows least by it; a family larger than
    the limit stays alone.

    Examples
    --------
    >>> radix_of = {"A": 3, "B": 3, "C": 3}
    >>> superfamilies([("A",), ("A", "B"), ("B", "C")], radix_of, limit=9)
    [(('A', 'B'), [('A', 'B'), ('A',)]), (('B', 'C'), [('B', 'C')])]
    """

    def cells(scope: Sequence[str]) -> int:
        return prod(radix_of[name] for name in scope)

    unions: list[tuple[Scope, list[Scope]]] = []
    for family in sorted(families, key=lambda scope: (-cells(scope), scope)):
        best = None
        for at, (union, _) in enumerate(unions):
            grown = tuple(dict.fromkeys([*union, *family]))
            growth = cells(grown) / cells(union)
            if (grown == union or cells(grown) <= limit) and (best is None or growth < best[0]):
                best = (growth, at, grown)
        if best is None:
            unions.append((family, [family]))
        else:
            _, at, grown = best
            unions[at] = (grown, [*unions[at][1], family])
    return unions
