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

from lacunet.data.databases import SQL, query_part
from lacunet.data.encode import weight_array
from lacunet.data.errors import SHOWN_VALUES, DataError, WeightError, listed
from lacunet.data.files import file_parts
from lacunet.data.frames import frame_part
from lacunet.data.source import Source, source_of
from lacunet.data.text import TextFiles, delimiter_hint
from lacunet.model.network import FloatArray, Network, Scope
from lacunet.wording import close_to, did_you_mean

Unknown = Literal["error", "missing"]
MOST_COMPARED = 1000  # columns whose names are looked at for a close one
MOST_STATES = np.iinfo(np.uint16).max  # one code more stands for missing


def _several(names: Sequence[str]) -> tuple[str, ...]:
    """The names as strings; a lone string is one name, not its letters."""
    return (names,) if isinstance(names, str) else tuple(map(str, names))


@dataclass(frozen=True, kw_only=True)
class How:
    """How rows are read, as `read_table` and `lacunet.learn` are told.

    ``weight`` is the name of a column, an array with one number for each row, or None;
    ``missing`` are further strings that mean "not observed"; ``unknown`` says whether a value that
    is not a state is an error or missing; ``latent`` variables have no column, and
    ``fully_observed`` ones are promised to be shown by every row.
    """

    weight: Any = None
    missing: Sequence[str] = ()
    unknown: Unknown = "error"
    latent: Sequence[str] = ()
    fully_observed: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.unknown not in get_args(Unknown):
            raise DataError(f"unknown= is {self.unknown!r}, but must be 'error' or 'missing'.")
        for name in ("missing", "latent", "fully_observed"):
            object.__setattr__(self, name, _several(getattr(self, name)))
        if self.weight is not None and not isinstance(self.weight, str):
            object.__setattr__(self, "weight", weight_array(self.weight))


AS_IT_IS = How()


@dataclass(frozen=True)
class Reading:
    """A plan to read rows over the network's variables.

    ``column_of`` names the column of each variable that is not latent; ``decimal`` is the
    character before decimals.
    """

    network: Network
    source: Source
    how: How
    column_of: Mapping[str, str]
    decimal: str
    notes: tuple[str, ...]

    @property
    def cardinality_of(self) -> dict[str, int]:
        """The number of states of each variable."""
        return self.network.cardinality_of

    @property
    def wanted(self) -> tuple[str, ...]:
        """The columns to be read, each once."""
        weight = (self.how.weight,) if isinstance(self.how.weight, str) else ()
        return tuple(dict.fromkeys((*self.column_of.values(), *weight)))


def plan_reading(data: Any, network: Network, how: How = AS_IT_IS) -> Reading:
    """Find the columns that the network needs, or refuse what cannot fit."""
    refuse_swapped(network, data)
    source = source_from(data)
    _check_network(network, how.latent)
    how = replace(how, fully_observed=checked_promise(network, how))
    column_of, notes = _matched_columns(source, network, how.latent)
    _check_weight(source, network, how.weight)
    decimal = data.decimal if isinstance(data, TextFiles) else "."
    reading = Reading(network, source, how, column_of, decimal, ())
    return replace(reading, notes=(*notes, *_remarks(reading)))


def _remarks(reading: Reading) -> Iterator[str]:
    """What the user should know of the plan."""
    wanted = set(reading.wanted)
    if ignored := [name for name in reading.source.columns if name not in wanted]:
        yield f"ignored the columns {listed(ignored)}, which the network does not have."
    states_of = reading.network.states_of
    for token in reading.how.missing:
        if owners := [name for name in reading.column_of if token in states_of[name]]:
            yield f"{token!r} is a state of {listed(owners)}, so there it does not mean missing."


def refuse_swapped(network: object, data: object) -> None:
    """Refuse data where the network belongs, and the other way round."""
    if isinstance(data, Network):
        raise DataError(
            "the network and the data are swapped."
            if not isinstance(network, Network)
            else "the data are a network.",
            "the network comes first, then the data: learn(network, data).",
        )


def source_from(data: Any) -> Source:
    """The source of rows for whatever holds them."""
    if isinstance(data, str | os.PathLike):
        data = TextFiles(data)
    elif isinstance(data, SQL):
        return source_of([query_part(data)])
    elif isinstance(data, list | tuple):
        if not all(isinstance(path, str | os.PathLike) for path in data):
            raise DataError.unknown_kind(data)
        data = TextFiles(data)
    return source_of(file_parts(data) if isinstance(data, TextFiles) else [frame_part(data)])


def _check_network(network: Network, latent: Sequence[str]) -> None:
    for name in network.variables:
        if network.cardinality(name) > MOST_STATES:
            raise DataError(
                f"variable {name!r} has {network.cardinality(name)} states; "
                f"at most {MOST_STATES} are supported."
            )
    if strangers := [name for name in latent if name not in network.states_of]:
        raise DataError(
            f"latent=[...] names {listed(strangers)}, which are not variables of the network."
        )
    if set(latent) == set(network.variables):
        raise DataError("every variable is declared latent: there is nothing to learn from.")


def checked_promise(network: Network, how: How) -> Scope:
    """The variables that are promised to be never missing, in the network's order."""
    promised = how.fully_observed
    if strangers := [name for name in promised if name not in network.states_of]:
        raise DataError(
            f"fully_observed=[...] names {listed(strangers)}, which are not variables of the "
            "network."
        )
    if hidden := [name for name in promised if name in how.latent]:
        raise DataError(f"{listed(hidden)} are declared both latent and fully observed.")
    return tuple(name for name in network.variables if name in promised)


def _matched_columns(
    source: Source, network: Network, latent: Sequence[str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The column of each variable: of the same name or, failing that, with blanks around it."""
    columns = set(source.columns)
    if present := [name for name in latent if name in columns]:
        raise DataError(
            f"{listed(present)} are declared latent, but {source.label} has columns of these "
            "names.",
            "take them out of latent=[...] (--latent), or drop the columns.",
        )
    bare = Counter(name.strip() for name in source.columns)
    padded = {name.strip(): name for name in source.columns if bare[name.strip()] == 1}
    observed = [name for name in network.variables if name not in latent]
    column_of = {name: name if name in columns else padded.get(name) for name in observed}
    if absent := [name for name, column in column_of.items() if column is None]:
        raise DataError(
            f"{source.label} has no column for the variables {listed(absent)}.",
            " Or: ".join(_ways_out(absent, source.columns)),
        )
    found = {name: column for name, column in column_of.items() if column is not None}
    blanks = [column for name, column in found.items() if name != column]
    note = f"read the columns {listed(blanks)} without the spaces around their names."
    return found, (note,) if blanks else ()


def _ways_out(absent: Sequence[str], columns: Sequence[str]) -> Iterator[str]:
    """What may be done about variables without a column; only a few are looked at."""
    close = {name: close_to(name, columns[:MOST_COMPARED]) for name in absent[:SHOWN_VALUES]}
    if meant := [f"{own[0]!r} for {name!r}" for name, own in close.items() if own]:
        yield f"did you mean the column {', '.join(meant)}?"
    if hint := delimiter_hint(columns):
        yield hint
    yield "rename the columns, or declare what was never observed in latent=[...] (--latent)."


def _check_weight(source: Source, network: Network, weight: str | FloatArray | None) -> None:
    if isinstance(weight, str):
        if weight in network.states_of:
            raise WeightError(
                f"the weight column {weight!r} is a variable of the network.",
                "rename the column that holds the weights.",
            )
        if weight not in source.columns:
            raise WeightError(
                f"{source.label} has no column {weight!r} to take the row weights from.",
                did_you_mean(weight, source.columns[:MOST_COMPARED]),
            )
    elif weight is not None and source.rows is not None and len(weight) != source.rows:
        raise WeightError.length(len(weight), source.rows)
