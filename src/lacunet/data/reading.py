"""What is to be read: which column gives which variable, by which rules.

The plan is made from names alone, before any row is read, and refuses what cannot fit.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from lacunet.data.errors import DataError, WeightError, listed
from lacunet.data.files import file_parts
from lacunet.data.frames import frame_part
from lacunet.data.source import Source, source_of
from lacunet.data.weights import weight_array
from lacunet.model.network import FloatArray, Network, Scope

Unknown = Literal["error", "missing"]
MOST_STATES = np.iinfo(np.uint16).max  # one code more stands for missing


@dataclass(frozen=True)
class Reading:
    """A plan to read rows over the network's variables.

    ``column_of`` names the column of each variable that is not ``latent``. ``weight`` is the
    name of a column, an array with one number for each row, or None.
    """

    network: Network
    source: Source
    column_of: Mapping[str, str]
    latent: Scope
    weight: str | FloatArray | None
    missing: tuple[str, ...]
    unknown: Unknown
    notes: tuple[str, ...]

    @property
    def wanted(self) -> tuple[str, ...]:
        """The columns to be read, each once."""
        weight = (self.weight,) if isinstance(self.weight, str) else ()
        return tuple(dict.fromkeys((*self.column_of.values(), *weight)))


def plan_reading(
    data: Any,
    network: Network,
    *,
    weight: str | ArrayLike | None = None,
    missing: Sequence[str] = (),
    unknown: Unknown = "error",
    latent: Sequence[str] = (),
) -> Reading:
    """Find the columns that the network needs; the arguments are those of `read_table`."""
    if unknown not in get_args(Unknown):
        raise DataError.unknown_option(unknown)
    source = _source(data)
    hidden = _several(latent)
    _check_network(network, hidden)
    column_of, notes = _matched_columns(source, network, hidden)
    weights = _checked_weight(source, network, weight)
    tokens = _several(missing)
    reading = Reading(network, source, column_of, hidden, weights, tokens, unknown, ())
    return replace(reading, notes=(*notes, *_remarks(reading)))


def _remarks(reading: Reading) -> Iterator[str]:
    """What the user should know of the plan."""
    wanted = set(reading.wanted)
    if ignored := [name for name in reading.source.columns if name not in wanted]:
        yield f"ignored the columns {listed(ignored)}, which the network does not have."
    states_of = reading.network.states_of
    for token in reading.missing:
        if owners := [name for name in reading.column_of if token in states_of[name]]:
            yield f"{token!r} is a state of {listed(owners)}, so there it does not mean missing."


def _source(data: Any) -> Source:
    if isinstance(data, str | os.PathLike):
        return source_of(file_parts([data]))
    if isinstance(data, list | tuple):
        if not all(isinstance(path, str | os.PathLike) for path in data):
            raise DataError.unknown_kind(data)
        return source_of(file_parts(data))
    return source_of([frame_part(data)])


def _several(names: Sequence[str]) -> tuple[str, ...]:
    """The names as texts; a lone text is one name, not its letters."""
    return (names,) if isinstance(names, str) else tuple(map(str, names))


def _check_network(network: Network, latent: Scope) -> None:
    for name in network.variables:
        if network.cardinality(name) > MOST_STATES:
            raise DataError.too_many_states(name, network.cardinality(name))
    if strangers := [name for name in latent if name not in network.states_of]:
        raise DataError.latent_unknown(strangers)
    if set(latent) == set(network.variables):
        raise DataError.nothing_observed()


def _matched_columns(
    source: Source, network: Network, latent: Scope
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The column of each variable: of the same name or, failing that, with blanks around it."""
    columns = set(source.columns)
    if present := [name for name in latent if name in columns]:
        raise DataError.latent_in_data(source.label, present)
    bare = Counter(name.strip() for name in source.columns)
    padded = {name.strip(): name for name in source.columns if bare[name.strip()] == 1}
    observed = [name for name in network.variables if name not in latent]
    column_of = {name: name if name in columns else padded.get(name) for name in observed}
    if absent := [name for name, column in column_of.items() if column is None]:
        raise DataError.absent_variables(source.label, absent, source.columns)
    found = {name: column for name, column in column_of.items() if column is not None}
    blanks = [column for name, column in found.items() if name != column]
    note = f"read the columns {listed(blanks)} without the blanks around their names."
    return found, (note,) if blanks else ()


def _checked_weight(
    source: Source, network: Network, weight: str | ArrayLike | None
) -> str | FloatArray | None:
    if weight is None:
        return None
    if isinstance(weight, str):
        if weight in network.states_of:
            raise WeightError.is_variable(weight)
        if weight not in source.columns:
            raise WeightError.no_column(source.label, weight, source.columns)
        return weight
    weights = weight_array(weight)
    if source.rows is not None and len(weights) != source.rows:
        raise WeightError.length(len(weights), source.rows)
    return weights
