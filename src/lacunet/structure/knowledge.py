"""What the user knows of the arcs, checked: required, forbidden, tiers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from numbers import Integral
from typing import Any

import numpy as np

from lacunet.errors import LacunetError
from lacunet.network.edges import edges_of
from lacunet.network.network import Mask, Scope
from lacunet.structure.cpdag import topological_by_number
from lacunet.structure.search import Constraints
from lacunet.text import did_you_mean


def constraints_of(
    variables: Scope,
    required: Iterable[tuple[str, str] | str] | str,
    forbidden: Iterable[tuple[str, str] | str] | str,
    tiers: Sequence[Sequence[str]],
    max_parents: int,
    rules: Iterable[tuple[str, str]] = (),
) -> Constraints:
    """The constraints by index; ``rules`` are arcs that questions which were not asked require.

    Raises
    ------
    LacunetError
        They name what is not there, or contradict each other.
    """
    if not (isinstance(max_parents, Integral) and max_parents >= 1):
        raise LacunetError(f"max_parents is {max_parents!r}, not a whole number from 1 upwards.")
    index_of = {name: index for index, name in enumerate(variables)}
    forbidden_arcs = {*_indices(forbidden, index_of, "forbidden")}
    excluded = np.eye(len(variables), dtype=bool) | _against(tiers, index_of)
    for x, y in forbidden_arcs:
        excluded[x, y] = True
    parents: list[set[int]] = [set() for _ in variables]
    for x, y in chain(
        _indices(required, index_of, "required"), _indices(rules, index_of, "required")
    ):
        if x == y:
            raise LacunetError(f"{variables[x]!r} cannot be its own parent.")
        if excluded[x, y]:
            reason = "it leads into an earlier tier"
            argument = "tiers"
            if (x, y) in forbidden_arcs:
                reason = "it is forbidden"
                argument = "forbidden"
            raise LacunetError(
                f"the edge {variables[x]} -> {variables[y]} is required, but {reason}.",
                f"change required (or the rule of not_asked that requires it), or {argument}.",
            )
        parents[y].add(x)
    if len(topological_by_number(parents)) < len(variables):
        raise LacunetError("the required edges form a cycle.")
    for y, into in enumerate(parents):
        if len(into) > max_parents:
            raise LacunetError(
                f"{variables[y]!r} has {len(into)} required parents, max_parents is {max_parents}."
            )
    return Constraints(tuple(map(frozenset, parents)), excluded, max_parents)


def untiered(tiers: Sequence[Sequence[str]], variables: Scope) -> Iterator[str]:
    """A note on the variables that tiers leave out, if there are any."""
    named = {name for tier in tiers for name in tier}
    if named and (others := [name for name in variables if name not in named]):
        yield f"in no tier: {', '.join(others)}; they may come before or after any."


def _indices(arcs: Iterable[Any], index_of: dict[str, int], kind: str) -> Iterable[tuple[int, int]]:
    """Arcs, given as pairs or as texts, by the indices of their ends."""
    pairs: list[Any] = []
    for arc in [arcs] if isinstance(arcs, str) else arcs:
        if isinstance(arc, str):
            pairs += _arcs_of_text(arc)
        else:
            pairs.append(arc)
    for arc in pairs:
        if len(arc) != 2:
            raise LacunetError(f"the {kind} edge {arc!r} is not a pair (parent, child).")
        yield _index(arc[0], index_of), _index(arc[1], index_of)


def _arcs_of_text(text: str) -> list[tuple[str, str]]:
    """The arcs of a text such as "A -> B; A, C -> D"."""
    if not text.strip():
        return []
    edges = edges_of(text)
    arcs = [(parent, child) for child, parents in edges.parents_of.items() for parent in parents]
    if lone := {*edges.variables}.difference(*arcs):
        name = min(lone)
        raise LacunetError(f"{text!r}: {name!r} is a variable, not an edge.", "as in 'A -> B'.")
    return arcs


def _index(name: str, index_of: dict[str, int]) -> int:
    if name not in index_of:
        raise LacunetError(
            f"there is no variable {name!r}.",
            did_you_mean(name, index_of) or f"the variables are {', '.join(index_of)}.",
        )
    return index_of[name]


def _against(tiers: Sequence[Sequence[str]], index_of: dict[str, int]) -> Mask:
    """The arcs from a later tier into an earlier one."""
    tier_of = np.full(len(index_of), np.nan)  # which is neither earlier nor later
    for number, tier in enumerate(tiers):
        for name in tier:
            node = _index(name, index_of)
            if tier_of[node] >= 0:
                raise LacunetError(f"{name!r} is in two tiers.", "name it in one of them.")
            tier_of[node] = number
    return np.asarray(tier_of[:, None] > tier_of)
