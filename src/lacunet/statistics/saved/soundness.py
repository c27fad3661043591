"""What files of statistics must be like to be believed: every number is held against the others.

A file may be damaged, made by another program, or changed by hand. Its header is sealed by a hash
of itself and holds one of the contents; but neither proves that the numbers make sense, so this is
checked too. Whatever is wrong is a `ValueError` with the reason, which `header` makes an error that
names the file.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from math import inf, isclose, prod
from types import NoneType
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import SetsOf
from lacunet.model.intervals import cuts_from_json, cuts_to_json
from lacunet.model.network import FloatArray, Network
from lacunet.statistics.counts import Counts, added_up
from lacunet.statistics.saved.parts import Block, CountedPart

CLOSE = 1e-9  # relative: sums of weights are made in any order
SAFE = 2**53  # whole numbers up to here are floating-point numbers too

Numbers = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]  # rows, weights, squares


def refuse(reason: str) -> NoReturn:
    """Say that something is wrong."""
    raise ValueError(reason)


def network_hash(network: Network) -> str:
    """A hash of the variables, their states and parents; CPTs have no part in it."""
    told = [[v, network.states(v), network.parents(v)] for v in network.variables]
    return sha256(json.dumps(told).encode()).hexdigest()


def network_as_data(network: Network) -> dict[str, Any]:
    """What a header says of a network: all but its CPTs."""
    told: dict[str, Any] = {
        "hash": network_hash(network),
        "states": {name: list(network.states(name)) for name in network.variables},
        "parents": {name: list(network.parents(name)) for name in network.variables},
    }
    cuts = {name: cuts_to_json(own) for name, own in network.cuts_of.items()}
    codes = {name: dict(own) for name, own in network.codes_of.items()}
    rules = {name: [own.when, own.state] for name, own in network.not_asked_of.items()}
    dictionary = {"cuts": cuts, "codes": codes, "not_asked": rules}
    return told | {key: own for key, own in dictionary.items() if own}


def seal(told: Mapping[str, Any]) -> str:
    """A hash of all that a header says."""
    rest = {name: value for name, value in told.items() if name != "seal"}
    return sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


@dataclass
class Digest:
    """A hash of columns, however they are cut into batches."""

    of_column: dict[str, Any] = field(default_factory=dict)

    def add(self, columns: Mapping[str, NDArray[Any]]) -> None:
        """Add the next rows of every column."""
        for name, values in columns.items():
            own = self.of_column.setdefault(name, sha256())
            own.update(np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<"))))

    def text(self) -> str:
        """The hash of all that was added."""
        every = "\n".join(f"{name} {own.hexdigest()}" for name, own in self.of_column.items())
        return sha256(every.encode()).hexdigest()


def checked_network(told: Any) -> Network:
    """The network of a header."""
    if not isinstance(told, dict):
        refuse("it does not say for which network it was counted")
    states: Any = told.get("states")
    parents: Any = told.get("parents")
    for own in (states, parents):
        if not isinstance(own, dict) or not all(_are_texts(names) for names in own.values()):
            refuse("its network is not variables with states and parents")
    network = Network(
        states,
        parents,
        cuts={
            name: cuts_from_json(own) for name, own in _entries(told, "cuts", _are_numbers).items()
        },
        codes=_entries(told, "codes", lambda own: isinstance(own, dict)),
        not_asked={
            name: tuple(own)
            for name, own in _entries(
                told, "not_asked", lambda own: _are_texts(own) and len(own) == 2
            ).items()
        },
    )
    if told.get("hash") != network_hash(network):
        refuse("its network does not have the hash that it names")
    return network


def _entries(told: dict[str, Any], key: str, is_sound: Callable[[Any], bool]) -> dict[str, Any]:
    """What a header says of some variables, if it can be."""
    found = told.get(key, {})
    if not isinstance(found, dict) or not all(map(is_sound, found.values())):
        refuse(f"its network has {key} that cannot be")
    return found


def _are_numbers(value: object) -> bool:
    return isinstance(value, list) and all(type(own) in (int, float, NoneType) for own in value)


def checked_sets(told: Any, network: Network) -> SetsOf:
    """The sets of states that cells may be one of, by the places of the states."""
    if not isinstance(told, dict):
        refuse("its sets of states are not an object")
    found = {}
    for name, sets in told.items():
        if name not in network.states_of or not isinstance(sets, list):
            refuse(f"it has sets of states for {name!r}")
        states = network.states(name)
        for own in sets:
            is_set = _are_texts(own) and set(own) < set(states) and len(set(own)) == len(own) > 1
            if not is_set:
                refuse(f"{own!r} is not a set of states of {name!r}")
        found[name] = tuple(tuple(map(states.index, own)) for own in sets)
    return found


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def checked_numbers(told: dict[str, Any], network: Network) -> None:
    """Refuse numbers of rows that cannot be."""
    rows: Any = told.get("rows")
    total: Any = told.get("total")
    missing = told.get("missing")
    if not _is_count(rows, SAFE) or rows == 0:
        refuse(f"its number of rows is {rows!r}")
    is_number = isinstance(total, int | float) and not isinstance(total, bool)
    if not is_number or not 0 <= total < inf:
        refuse(f"its total weight is {total!r}")
    if not isinstance(missing, dict) or set(missing) != set(network.variables):
        refuse("it does not say how often each variable is missing")
    if not all(_is_count(number, rows) for number in missing.values()):
        refuse("a variable is missing in more rows than there are")
    if told.get("fully_observed") != [v for v in network.variables if not missing[v]]:
        refuse("its fully observed variables are not those that are never missing")
    complete = told.get("complete_rows", "not given")
    if complete is not None and not _is_count(complete, rows - max(missing.values())):
        refuse(f"its number of complete rows is {complete!r}")
    if not isinstance(told.get("method"), str):
        refuse("it does not say for which method it was counted")


def _is_count(value: object, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def checked_blocks(told: Any, rows: int) -> tuple[Block, ...]:
    """The parts of a header."""
    if not isinstance(told, list) or not told or not all(isinstance(own, list) for own in told):
        refuse("it does not say which parts it holds")
    blocks = tuple(tuple(map(_checked_part, block)) for block in told)
    ids = [part.id for block in blocks for part in block]
    if len(set(ids)) < len(ids) or not all(blocks):
        refuse("it holds a part more than once, or none")
    if sum(part.rows for block in blocks for part in block) != rows:
        refuse("its parts do not have all its rows")
    return blocks


def _checked_part(told: Any) -> CountedPart:
    if not isinstance(told, dict) or set(told) != {"id", "name", "rows", "named"}:
        refuse("a part is not described as it should be")
    texts = isinstance(told["id"], str) and isinstance(told["name"], str)
    if not texts or not _is_count(told["rows"], SAFE) or not isinstance(told["named"], bool):
        refuse("a part is not described as it should be")
    return CountedPart(told["id"], told["name"], told["rows"], told["named"])


def with_losses(told: Mapping[str, Any], blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The parts of a header, with what it says of their data that their statistics do not keep."""
    designed, coarse = told.get("designed", []), told.get("coarse", {})
    texts = {key: told.get(key, {}) for key in ("notes", "latent")}
    part_of = {part.id: part for block in blocks for part in block}
    if not _are_texts(designed) or not isinstance(coarse, dict):
        refuse("it does not say which parts had a design, or cells of several states")
    for key, own in texts.items():
        if not isinstance(own, dict) or not all(map(_are_texts, own.values())):
            refuse(f"its {key} are not strings")
    described = {*designed, *coarse, *texts["notes"], *texts["latent"]}
    if len(set(designed)) < len(designed) or not described <= set(part_of):
        refuse("it describes a part that it does not hold")
    left = dict(told["missing"])
    for key, cells in coarse.items():
        if not isinstance(cells, dict) or not cells or not {*cells} <= {*left}:
            refuse("its cells of several states are not those of its variables")
        for name, number in cells.items():
            if not _is_count(number, min(part_of[key].rows, left[name])) or not number:
                refuse(f"{name!r} is one of several states in more rows than miss it")
            left[name] -= number
    return tuple(
        tuple(
            replace(
                part,
                is_designed=part.id in designed,
                cells_of_sets=coarse.get(part.id, {}),
                notes=tuple(texts["notes"].get(part.id, ())),
                latent=tuple(texts["latent"].get(part.id, ())),
            )
            for part in block
        )
        for block in blocks
    )


@dataclass
class Sums:
    """What the entries of a file add up to, to be held against its header."""

    blocks: Sequence[Block]
    rows: Counter[int] = field(default_factory=Counter)
    total: float = 0.0

    def add(self, numbers: Numbers, block: NDArray[Any]) -> None:
        """Add entries that were checked."""
        added = np.bincount(block, weights=numbers[0], minlength=len(self.blocks))
        self.rows.update({at: int(new) for at, new in enumerate(added)})
        self.total += float(numbers[1].sum())

    def check_entries(self, numbers: Numbers, block: NDArray[Any]) -> None:
        """Refuse numbers of entries that cannot be."""
        check_tally(numbers)
        if len(block) and not 0 <= block.min() <= block.max() < len(self.blocks):
            refuse("an entry belongs to none of its parts")

    def check(self, rows: int, total: float) -> None:
        """Refuse sums that are not those of the header."""
        expected = {at: sum(part.rows for part in own) for at, own in enumerate(self.blocks)}
        if self.rows.total() != rows or self.rows != expected:
            refuse(f"its entries have {self.rows.total():,} rows, and {rows:,} were counted")
        if not isclose(self.total, total, rel_tol=CLOSE, abs_tol=CLOSE):
            refuse(f"its entries weigh {self.total!r}, and {total!r} was counted")


def check_tally(numbers: Numbers) -> None:
    """Refuse numbers of rows, weights and squared weights that no rows can have."""
    rows, weights, squares = numbers
    if not len(rows):
        return
    if rows.min() < 1 or rows.max() > SAFE:
        refuse("an entry stands for no row, or for too many")
    for values in (weights, squares):
        if not np.isfinite(values).all() or values.min() < 0:
            refuse("a weight is negative or not a number")
    least, most = weights * weights / rows, weights * weights
    if (squares < least * (1 - CLOSE)).any() or (squares > most * (1 + CLOSE) + 1e-300).any():
        refuse("squared weights do not belong to the weights")


def check_families(
    families: Mapping[tuple[str, bool], Counts], network: Network, rows: int
) -> tuple[dict[str, int], int]:
    """Refuse counts of families that no rows can have: all are counts of the same rows.

    Gives in how many rows each variable is missing, and the number of complete rows.
    """
    missing_of: dict[str, int] = {}
    complete_rows = 0
    for is_complete in (False, True):
        own = {name: counts for (name, side), counts in families.items() if side == is_complete}
        if not is_complete or own:
            if set(own) != set(network.variables):
                refuse("it does not have the counts of all families")
            lacking = _check_side(own, network)
            counted = int(own[network.variables[0]].tally.rows.sum())
            if is_complete and any(lacking.values()):
                refuse("its complete rows are not complete")
            if not is_complete and counted != rows:
                refuse(f"its families count {counted:,} rows, not {rows:,}")
            missing_of = missing_of or lacking
            complete_rows = counted if is_complete else 0
    _check_complete(families)
    return missing_of, complete_rows


def _check_side(own: Mapping[str, Counts], network: Network) -> dict[str, int]:
    """Refuse families that do not count the same rows; in how many each variable is missing."""
    marginal_of: dict[str, FloatArray] = {}
    weights = []
    for name, counts in own.items():
        keys = counts.keys
        if len(keys) and (keys.min() < 0 or keys.max() >= prod(counts.radices)):
            refuse(f"the family of {name!r} has a cell that does not exist")
        if (np.diff(keys) <= 0).any():
            refuse(f"the cells of the family of {name!r} are not in order")
        weights.append(counts.total)
        if not isclose(weights[-1], weights[0], rel_tol=CLOSE, abs_tol=CLOSE):
            refuse("its families have different weights")
        for variable, codes in counts.columns().items():
            found = added_up(codes, counts.tally.rows, network.cardinality(variable) + 1)
            if (marginal_of.setdefault(variable, found) != found).any():
                refuse(f"{variable!r} is counted differently in two families")
    return {name: int(marginal_of[name][-1]) for name in network.variables}


def _check_complete(families: Mapping[tuple[str, bool], Counts]) -> None:
    """Refuse complete rows that are not among all rows."""
    for (name, is_complete), counts in families.items():
        if is_complete:
            every = families[name, False]
            place = np.searchsorted(every.keys, counts.keys)
            known = np.append(every.keys, -1)[place] == counts.keys
            if not known.all() or (counts.tally.rows > every.tally.rows[place]).any():
                refuse(f"the family of {name!r} has complete rows that are no rows")
