"""What files of statistics must be like to be believed: every number is held against the others.

A file may be damaged, made by another program, or changed by hand. Its header is sealed by a hash
of itself and holds one of the contents; but neither proves that the numbers make sense, so this is
checked too. Whatever is wrong is a `ValueError` with the reason, which `header` makes an error that
names the file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
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
Check = Callable[[Any], bool]


def refuse(reason: str) -> NoReturn:
    """Say that something is wrong."""
    raise ValueError(reason)


def network_hash(network: Network) -> str:
    """A hash of the variables, their states and parents; CPTs have no part in it."""
    data = [[v, network.states(v), network.parents(v)] for v in network.variables]
    return sha256(json.dumps(data).encode()).hexdigest()


def network_as_data(network: Network) -> dict[str, Any]:
    """What a header says of a network: all but its CPTs."""
    data: dict[str, Any] = {
        "hash": network_hash(network),
        "states": {name: list(network.states(name)) for name in network.variables},
        "parents": {name: list(network.parents(name)) for name in network.variables},
    }
    cuts = {name: cuts_to_json(bounds) for name, bounds in network.cuts_of.items()}
    codes = {name: dict(code_of) for name, code_of in network.codes_of.items()}
    rules = {name: [rule.when, rule.state] for name, rule in network.not_asked_of.items()}
    dictionary = {"cuts": cuts, "codes": codes, "not_asked": rules}
    return data | {key: entry for key, entry in dictionary.items() if entry}


def seal(data: Mapping[str, Any]) -> str:
    """A hash of all that a header says."""
    rest = {name: value for name, value in data.items() if name != "seal"}
    return sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


@dataclass
class Digest:
    """A hash of columns, however they are cut into batches."""

    of_column: dict[str, Any] = field(default_factory=dict)

    def add(self, columns: Mapping[str, NDArray[Any]]) -> None:
        """Add the next rows of every column."""
        for name, values in columns.items():
            sha = self.of_column.setdefault(name, sha256())
            sha.update(np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<"))))

    def text(self) -> str:
        """The hash of all that was added."""
        every = "\n".join(f"{name} {sha.hexdigest()}" for name, sha in self.of_column.items())
        return sha256(every.encode()).hexdigest()


def is_a(*types: type) -> Check:
    """Whether a value of JSON has one of some types; True is not a number."""
    return lambda value: type(value) in types


def is_list(check: Check) -> Check:
    """Whether it is a list of such values."""
    return lambda value: type(value) is list and all(map(check, value))


def is_object(check: Check) -> Check:
    """Whether it is an object of such values."""
    return lambda value: type(value) is dict and all(map(check, value.values()))


def is_count(value: Any, most: int = SAFE) -> bool:
    """Whether it is a whole number from zero to ``most``."""
    return type(value) is int and 0 <= value <= most


TEXTS = is_list(is_a(str))
CUTS = is_list(is_a(int, float, NoneType))
STATES = "its network is not variables with states and parents"
LOSSES = "it does not say which parts had a design, or cells of several states"
DICTIONARY = "its network has {key} that cannot be"
# What a header holds, and what it says of its network: the key, what stands for it where it is not
# there, what it must be like, and the reason to refuse another value.
Entries = Sequence[tuple[str, Any, Check, str]]
HEADER: Entries = (
    ("network", None, is_a(dict), "it does not say for which network it was counted"),
    ("method", None, is_a(str), "it does not say for which method it was counted"),
    ("rows", None, lambda rows: is_count(rows) and rows > 0, "its number of rows is {!r}"),
    ("total", None, is_a(int, float), "its total weight is {!r}"),
    ("missing", None, is_object(is_a(int)), "it does not say how often each variable is missing"),
    ("complete_rows", "", is_a(int, NoneType), "its number of complete rows is {!r}"),
    ("parts", None, is_list(is_list(is_a(dict))), "it does not say which parts it holds"),
    ("data", None, is_a(str), "it does not have a hash of its contents"),
    ("sets", {}, is_object(is_list(TEXTS)), "its sets of states are not an object of lists"),
    ("designed", [], TEXTS, LOSSES),
    ("coarse", {}, is_object(is_object(is_a(int))), LOSSES),
    ("notes", {}, is_object(TEXTS), "its {key} are not strings"),
    ("latent", {}, is_object(TEXTS), "its {key} are not strings"),
)
NETWORK: Entries = (
    ("states", None, is_object(TEXTS), STATES),
    ("parents", None, is_object(TEXTS), STATES),
    ("cuts", {}, is_object(CUTS), DICTIONARY),
    ("codes", {}, is_object(is_a(dict)), DICTIONARY),
    ("not_asked", {}, is_object(lambda rule: TEXTS(rule) and len(rule) == 2), DICTIONARY),
)
PART = {"id": is_a(str), "name": is_a(str), "rows": is_count, "named": is_a(bool)}


def checked(data: Mapping[str, Any], entries: Entries) -> dict[str, Any]:
    """All the data, if each of some entries can be."""
    values = {**{key: otherwise for key, otherwise, _, _ in entries}, **data}
    for key, _, is_sound, reason in entries:
        if not is_sound(values[key]):
            refuse(reason.format(values[key], key=key))
    return values


def checked_network(data: Mapping[str, Any]) -> Network:
    """The network of a header."""
    entries = checked(data, NETWORK)
    network = Network(
        entries["states"],
        entries["parents"],
        cuts={name: cuts_from_json(cuts) for name, cuts in entries["cuts"].items()},
        codes=entries["codes"],
        not_asked={name: tuple(rule) for name, rule in entries["not_asked"].items()},
    )
    if entries.get("hash") != network_hash(network):
        refuse("its network does not have the hash that it names")
    return network


def checked_sets(sets_of: Mapping[str, Any], network: Network) -> SetsOf:
    """The sets of states that cells may be one of, by the places of the states."""
    coded = {}
    for name, sets in sets_of.items():
        if name not in network.states_of:
            refuse(f"it has sets of states for {name!r}")
        states = network.states(name)
        for subset in sets:
            if not (set(subset) < set(states) and len(set(subset)) == len(subset) > 1):
                refuse(f"{subset!r} is not a set of states of {name!r}")
        coded[name] = tuple(tuple(map(states.index, subset)) for subset in sets)
    return coded


def check_numbers(data: Mapping[str, Any], network: Network) -> None:
    """Refuse numbers of rows that cannot be."""
    rows, total, missing = data["rows"], data["total"], data["missing"]
    if not 0 <= total < inf:
        refuse(f"its total weight is {total!r}")
    if set(missing) != set(network.variables):
        refuse("it does not say how often each variable is missing")
    if not all(is_count(number, rows) for number in missing.values()):
        refuse("a variable is missing in more rows than there are")
    if data.get("fully_observed") != [v for v in network.variables if not missing[v]]:
        refuse("its fully observed variables are not those that are never missing")
    complete = data["complete_rows"]
    if complete is not None and not is_count(complete, rows - max(missing.values())):
        refuse(f"its number of complete rows is {complete!r}")


def _is_part(part: Mapping[str, Any]) -> bool:
    return part.keys() == PART.keys() and all(check(part[key]) for key, check in PART.items())


def checked_blocks(data: Mapping[str, Any]) -> tuple[Block, ...]:
    """The parts of a header, with what it says of their data that their statistics do not keep."""
    blocks, designed, coarse = data["parts"], data["designed"], data["coarse"]
    parts = [part for block in blocks for part in block]
    if not all(map(_is_part, parts)):
        refuse("a part is not described as it should be")
    rows_of = {part["id"]: part["rows"] for part in parts}
    if not blocks or not all(blocks) or len(rows_of) < len(parts):
        refuse("it holds a part more than once, or none")
    if sum(rows_of.values()) != data["rows"]:
        refuse("its parts do not have all its rows")
    described = {*designed, *coarse, *data["notes"], *data["latent"]}
    if len(set(designed)) < len(designed) or not described <= set(rows_of):
        refuse("it describes a part that it does not hold")
    left = dict(data["missing"])
    for part_id, cells in coarse.items():
        if not cells or not set(cells) <= set(left):
            refuse("its cells of several states are not those of its variables")
        for name, number in cells.items():
            if not 0 < number <= min(rows_of[part_id], left[name]):
                refuse(f"{name!r} is one of several states in more rows than miss it")
            left[name] -= number

    def part_of(part: Mapping[str, Any]) -> CountedPart:
        return CountedPart(
            part["id"],
            part["name"],
            part["rows"],
            is_named=part["named"],
            is_designed=part["id"] in designed,
            cells_of_sets=coarse.get(part["id"], {}),
            notes=tuple(data["notes"].get(part["id"], ())),
            latent=tuple(data["latent"].get(part["id"], ())),
        )

    return tuple(tuple(map(part_of, block)) for block in blocks)


def check_entries(rows: NDArray[Any], weights: NDArray[Any], squares: NDArray[Any]) -> None:
    """Refuse numbers of entries that cannot be."""
    if rows.min() < 1 or rows.max() > SAFE:
        refuse("an entry stands for no row, or for too many")
    for values in (weights, squares):
        if not np.isfinite(values).all() or values.min() < 0:
            refuse("a weight is negative or not a number")
    most = weights * weights
    least = most / rows
    if (squares < least * (1 - CLOSE)).any() or (squares > most * (1 + CLOSE) + 1e-300).any():
        refuse("squared weights do not belong to the weights")


def check_families(
    every: Mapping[str, Counts], complete: Mapping[str, Counts], network: Network, rows: int
) -> tuple[dict[str, int], int]:
    """Refuse counts of families that no rows can have: all are counts of the same rows.

    Gives in how many rows each variable is missing, and the number of complete rows.
    """
    missing_of, counted = _check_side(every, network)
    if counted != rows:
        refuse(f"its families count {counted:,} rows, not {rows:,}")
    if not complete:
        return missing_of, 0
    lacking, complete_rows = _check_side(complete, network)
    if any(lacking.values()):
        refuse("its complete rows are not complete")
    for name, counts in complete.items():
        whole = every[name]
        index = np.searchsorted(whole.keys, counts.keys)
        known = np.append(whole.keys, -1)[index] == counts.keys
        if not known.all() or (counts.tally.rows > whole.tally.rows[index]).any():
            refuse(f"the family of {name!r} has complete rows that are no rows")
    return missing_of, complete_rows


def _check_side(counts_of: Mapping[str, Counts], network: Network) -> tuple[dict[str, int], int]:
    """Refuse families that do not count the same rows.

    Gives in how many rows each variable is missing, and the number of rows.
    """
    if set(counts_of) != set(network.variables):
        refuse("it does not have the counts of all families")
    marginal_of: dict[str, FloatArray] = {}
    total = counts_of[network.variables[0]].total
    for name, counts in counts_of.items():
        keys = counts.keys
        if len(keys) and (keys.min() < 0 or keys.max() >= prod(counts.radices)):
            refuse(f"the family of {name!r} has a cell that does not exist")
        if (np.diff(keys) <= 0).any():
            refuse(f"the cells of the family of {name!r} are not in order")
        if not isclose(counts.total, total, rel_tol=CLOSE, abs_tol=CLOSE):
            refuse("its families have different weights")
        for variable, codes in counts.columns().items():
            marginal = added_up(codes, counts.tally.rows, network.cardinality(variable) + 1)
            if (marginal_of.setdefault(variable, marginal) != marginal).any():
                refuse(f"{variable!r} is counted differently in two families")
    missing_of = {name: int(marginal_of[name][-1]) for name in network.variables}
    return missing_of, int(marginal_of[network.variables[0]].sum())
