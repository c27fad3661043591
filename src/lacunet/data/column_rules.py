"""What is to be read: which column gives which variable, by which rules.

The plan is made from names alone, before any row is read, and refuses what cannot fit.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from lacunet.data.copies_columns import COLUMN_NAMES
from lacunet.data.data import Data, as_data
from lacunet.data.data_files import file_parts
from lacunet.data.databases import query_part
from lacunet.data.delimited_text import delimiter_hint
from lacunet.data.errors import (
    MOST_COMPARED,
    SHOWN_VALUES,
    DataError,
    WeightError,
    refuse_strangers,
    short_list,
)
from lacunet.data.frames import frame_part, is_arrow_tables, is_spark
from lacunet.data.panels import Panel, in_waves, panel_of
from lacunet.data.source_parts import DataSource, source_of
from lacunet.data.table import SetsOf
from lacunet.network.dates import UNITS, is_period
from lacunet.network.dictionary import sets_among
from lacunet.network.interval_names import INTERVALS
from lacunet.network.network import Network, Scope
from lacunet.network.spelling import spelled
from lacunet.network.waves import in_time
from lacunet.text import close_to, first_of, in_shell

if TYPE_CHECKING:  # it reads what is planned here
    from lacunet.data.donors import DonorSampler

MAX_CODED_STATES = np.iinfo(np.uint16).max  # one code more stands for missing


NAMES_OF_WEIGHTS = {"w", "wt", "wgt", "weight", "weights", "pweight", "pweights"}
IGNORED = "ignored, since the network does not have"  # in the note on columns beside the variables
MOST_IGNORED = 3  # names of them


@dataclass(frozen=True)
class Reading:
    """A plan to read rows over the network's variables.

    ``column_of`` names the column of each variable that is not latent. ``network`` has the codes
    and rules by which the data are read, those that came with the data among them. ``keep`` are
    columns that are wanted as they are. A ``sampler`` sees all rows once, and chooses donors.
    """

    network: Network
    source: DataSource
    data: Data
    column_of: Mapping[str, str]
    notes: tuple[str, ...]
    keep: Sequence[str] = ()
    sampler: DonorSampler | None = None

    @property
    def sets_of(self) -> SetsOf:
        """The sets of several states that cells of each variable may be known to be one of."""
        states_of, codes_of = self.network.states_of, self.network.codes_of
        sets_of = {v: sets_among(states_of[v], codes.values()) for v, codes in codes_of.items()}
        return {name: sets for name, sets in sets_of.items() if sets}

    @property
    def wanted(self) -> tuple[str, ...]:
        """The columns to be read, each once."""
        return tuple(dict.fromkeys((*self.column_of.values(), *self.data.beside, *self.keep)))


def plan_reading(data: Data, network: Network) -> Reading:
    """Find the columns that the network needs, or refuse what cannot fit."""
    if isinstance(data.source, Network):
        raise DataError(
            "the data are a network: perhaps the two are swapped.",
            "the network comes first, then the data.",
        )
    source = source_of_data(data)
    data = with_waves(data, network.variables)
    data = data.with_latent(network.states_of, source.columns)
    _check_network(network, tuple(data.latent))
    promised = checked_promise(network, data)
    if promised != data.fully_observed:  # as the network orders its variables
        data = replace(data, fully_observed=promised)
    column_of, notes = _matched_columns(source, network, tuple(data.latent))
    check_columns(source, network.variables, data)
    check_beside(source, network.variables, data)
    reading = Reading(
        network=with_data_codes(network, data),
        source=source,
        data=data,
        column_of=column_of,
        notes=(),
    )
    replacements = _replaced(network, reading.network)
    return replace(reading, notes=(*notes, *replacements, *_remarks(reading)))


def with_data_codes(network: Network, data: Data) -> Network:
    """The network with the codes and rules that come with data; these come before its own."""
    rules = {name: rule for name, rule in data.not_asked.items() if name in network.states_of}
    every: dict[str, Any] = {name: dict(meanings) for name, meanings in network.codes_of.items()}
    for name, meanings in _declared_codes(network, data).items():
        every[name] = {**every.get(name, {}), **meanings}
    whole = {**network.not_asked_of, **rules}
    if whole == network.not_asked_of and every == network.codes_of:
        return network
    return network.with_codes(every, whole)


def _declared_codes(network: Network, data: Data) -> dict[str, dict[str, object]]:
    """What the data say of codes of the network's variables, by their spelling.

    What is missing in any column is so where the network has a code for it, unless it is a state.
    """
    meanings_of: dict[str, dict[str, object]] = {}
    if not (data.missing or data.codes):  # nothing is said, of however many columns
        return meanings_of
    for name in network.variables:
        known = network.codes_of.get(name, {}).keys() - set(network.states(name))
        anywhere = {spelled(code): None for code in data.missing_anywhere if spelled(code) in known}
        if meanings := anywhere | data.codes_in(name):
            meanings_of[name] = meanings
    return meanings_of


def _replaced(network: Network, updated: Network) -> Iterator[str]:
    """What the network says of codes, and the data say otherwise."""
    for name, meanings in network.codes_of.items():
        now = updated.codes_of[name]
        if other := [code for code, meaning in meanings.items() if now[code] != meaning]:
            yield f"{name!r}: the data say what {short_list(other)} mean, in place of the network."
    for name, rule in network.not_asked_of.items():
        if updated.not_asked_of[name] != rule:
            yield f"{name!r}: the data say when it is not asked, in place of the network."


def _remarks(reading: Reading) -> Iterator[str]:
    """What the user should know of the plan."""
    wanted = {*reading.wanted, *reading.data.aside, *reading.data.without}
    ignored = [name for name in reading.source.columns if name not in wanted]
    if reading.data.is_panel:  # a column in some waves is one in all of them
        used = {reading.data.unit, *(in_time(name).name for name in wanted)}
        ignored = list(dict.fromkeys(in_time(name).name for name in ignored))
        ignored = [name for name in ignored if name not in used]
        yield from _other_waves(reading)
    if ignored:
        columns, them = ("column is", "it") if len(ignored) == 1 else ("columns are", "them")
        names = first_of(ignored, MOST_IGNORED)
        note = f"{len(ignored)} {columns} {IGNORED} {them}: {names}"
        if COLUMN_NAMES["counts"] in ignored:
            note += f" ({_as_counted(ignored)})"
        elif weight := next((name for name in ignored if name.lower() in NAMES_OF_WEIGHTS), None):
            note += f" (if {weight!r} are sampling weights: weight={weight!r}, "
            note += f"--weight {in_shell(weight)})"
        yield f"{note}."
    yield from _other_cuts(reading.network, reading.data.bins)
    yield from _other_states(reading.network, reading.data.states)
    states_of = reading.network.states_of
    for code in reading.data.missing_anywhere:
        if owners := [name for name in reading.column_of if spelled(code) in states_of[name]]:
            yield f"{code!r} is a state of {short_list(owners)}, so there it does not mean missing."


def _other_waves(reading: Reading) -> Iterator[str]:
    """Rows of waves that the network does not have."""
    known = {node.wave for node in map(in_time, reading.network.variables)} - {None}
    others = [wave for wave in panel_from(reading.data).waves if known and wave not in known]
    if others:
        waves = f"wave {others[0]} is" if len(others) == 1 else f"waves {short_list(others)} are"
        yield (
            f"{waves} not in the network, and not read; network.unroll(waves) gives one over more "
            "waves."
        )


def _other_cuts(network: Network, bins: Mapping[str | None, Any]) -> Iterator[str]:
    """Columns for which the data ask for other intervals than the network has."""
    other = []
    for name in network.variables if bins else ():
        asked = bins.get(name, bins.get(None) if name in network.cuts_of else None)
        if asked is not None and not _may_be_asked(network, name, asked):
            intervals = len(network.cuts_of.get(name, ())) - 1
            is_fewer = isinstance(asked, Integral) and 0 < intervals < int(asked)
            other.append(f"{name!r} ({intervals} for {asked})" if is_fewer else repr(name))
    if other:
        yield (
            f"the network has its own states of {', '.join(other)}, which are used in place of "
            "those that bins= (--bins) asks for."
        )


def _other_states(network: Network, states: Network | Mapping[str, Any]) -> Iterator[str]:
    """Columns for which the data name states that the network does not have."""
    known = network.states_of
    asked = {} if isinstance(states, Network) else states
    other = []
    for name in network.variables:
        # A state is named as it is written, or as the number that it writes: "1.10" stays apart
        # from "1.1" where a network was made with both.
        names = asked.get(name, ())
        if not all(str(state) in known[name] or spelled(state) in known[name] for state in names):
            other.append(name)
    if other:
        yield (
            f"the network has its own states of {short_list(other)}, which are used in place of "
            "those that states= (--states) names."
        )


def _may_be_asked(network: Network, name: str, bins: Any) -> bool:
    """Whether a network's states may come from what is asked: points, a number of bins, a unit."""
    cuts = network.cuts_of.get(name)
    if isinstance(bins, str) and bins in UNITS:
        rule = network.not_asked_of.get(name)
        states = [s for s in network.states(name) if rule is None or s != rule.state]
        return all(is_period(state, bins) for state in states)
    is_auto = isinstance(bins, str)
    if cuts is None:
        return is_auto
    if not is_auto and not isinstance(bins, Integral | tuple):
        return [*cuts] == [*bins]
    count = bins[1] if isinstance(bins, tuple) else bins
    if is_auto:
        count = INTERVALS
    return (cuts[0], cuts[-1], len(cuts)) == (-np.inf, np.inf, int(count) + 1)


def _as_counted(ignored: Sequence[str]) -> str:
    """How to read a table of counted rows that does not say what its columns hold."""
    named = {option: name for option, name in COLUMN_NAMES.items() if name in ignored}
    others = [name for name in ignored if name not in named.values()]
    if "squared_weight" in named and "weight" not in named and len(others) == 1:
        named = {"weight": others[0], **named}  # the column had a name in the data
    python = ", ".join(f"{option}={name!r}" for option, name in named.items())
    shell = {option: name for option, name in named.items() if option != "squared_weight"}
    options = " ".join(f"--{option} {in_shell(name)}" for option, name in shell.items())
    remark = "; the command line has none for squared weights"
    if shell == named:
        remark = ""
    return f"if each row stands for several: lacunet.Data(..., {python}), {options}{remark}"


def source_from(given: Any) -> DataSource:
    """The source of rows for whatever holds them."""
    return source_of_data(as_data(given))


def source_of_data(data: Data) -> DataSource:
    """The source of the rows of data: files, a query, frames, or what is open already."""
    if isinstance(data.source, DataSource):  # opened before, as standard input can be only once
        return data.source
    return panel_from(data).source() if data.is_panel else _rows_from(data)


def panel_from(data: Data) -> Panel:
    """The units and waves of a panel, which are put in order once, before rows are opened."""
    held = data.held_panel
    is_opened = isinstance(data.source, DataSource) or hasattr(data.source, "gather")
    if "panel" not in held or not (is_opened or held["of"] is data.source):
        held["panel"] = panel_of(data, _rows_from(data))
        held["of"] = data.source
    panel: Panel = held["panel"]
    return panel


def with_waves(data: Data, variables: Collection[str]) -> Data:
    """What is said of variables of a panel, said of each in all waves."""
    if not data.is_panel:
        return data
    if is_spark(data.source):
        from lacunet.data.spark_panels import units_on_spark

        return units_on_spark(data, variables)
    return in_waves(data, panel_from(data), variables)


def _rows_from(data: Data) -> DataSource:
    """The rows as they come, of units and waves or not."""
    if data.query is not None:
        return source_of([query_part(data.query, data.database)])
    if is_arrow_tables(data.source):
        return source_of([frame_part(table) for table in data.source])
    if isinstance(data.source, list | tuple) and not all(map(_is_path, data.source)):
        raise DataError.unknown_kind(data.source)
    is_files = isinstance(data.source, list | tuple) or _is_path(data.source)
    return source_of(file_parts(data) if is_files else [frame_part(data.source)])


def _is_path(source: object) -> bool:
    return isinstance(source, str | os.PathLike)


def _check_network(network: Network, latent: Sequence[str]) -> None:
    for name in network.variables:
        if network.cardinality(name) > MAX_CODED_STATES:
            raise DataError(
                f"variable {name!r} has {network.cardinality(name)} states; "
                f"at most {MAX_CODED_STATES} are supported."
            )
    refuse_strangers("latent", latent, network.variables, "the network")
    if set(latent) == set(network.variables):
        raise DataError("every variable is declared latent: there is nothing to learn from.")


def checked_promise(network: Network, data: Data) -> Scope:
    """The variables that are promised to be never missing, in the network's order."""
    promised = data.fully_observed
    refuse_strangers("fully_observed", promised, network.variables, "the network")
    if hidden := [name for name in promised if name in data.latent]:
        raise DataError(f"{short_list(hidden)} are declared both latent and fully observed.")
    return tuple(name for name in network.variables if name in promised)


def _matched_columns(
    source: DataSource, network: Network, latent: Sequence[str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The column of each variable: of the same name or, failing that, with blanks around it."""
    columns = set(source.columns)
    if present := [name for name in latent if name in columns]:
        raise DataError(
            f"{short_list(present)} are declared latent, but {source.label} has columns of these "
            "names.",
            "take them out of latent=[...] (--latent), or drop the columns.",
        )
    bare = Counter(name.strip() for name in source.columns)
    padded = {name.strip(): name for name in source.columns if bare[name.strip()] == 1}
    observed = [name for name in network.variables if name not in latent]
    column_of = {name: name if name in columns else padded.get(name) for name in observed}
    if absent := [name for name, column in column_of.items() if column is None]:
        raise DataError(
            f"{source.label} has no column for the variables {short_list(absent)}.",
            " Or: ".join(_ways_out(absent, source.columns)),
        )
    matched = {name: column for name, column in column_of.items() if column is not None}
    blanks = [column for name, column in matched.items() if name != column]
    note = f"read the columns {short_list(blanks)} without the spaces around their names."
    return matched, (note,) if blanks else ()


def _ways_out(absent: Sequence[str], columns: Sequence[str]) -> Iterator[str]:
    """What may be done about variables without a column; only a few are looked at."""
    close = {name: close_to(name, columns[:MOST_COMPARED]) for name in absent[:SHOWN_VALUES]}
    if meant := [f"{matches[0]!r} for {name!r}" for name, matches in close.items() if matches]:
        yield f"did you mean the column {', '.join(meant)}?"
    if hint := delimiter_hint(columns):
        yield hint
    yield (
        "rename the columns; if a variable is never observed, say so: "
        f"lacunet.Data(data, latent=[{absent[0]!r}{', ...' * (len(absent) > 1)}]) (--latent)."
    )


def check_columns(source: DataSource, variables: Collection[str], data: Data) -> None:
    """Refuse codes of columns that do not exist: they would be ignored in silence."""
    known = (*variables, *source.columns)
    for option in ("missing", "codes", "not_asked", "bins"):
        names = [name for name in getattr(data, option) if name is not None]
        refuse_strangers(option, names, known, source.label)
    if not isinstance(data.states, Network):
        refuse_strangers("states", data.states, known, source.label)
    refuse_strangers("without", data.without, source.columns, source.label)
    if both := [name for name in data.without if name in variables]:
        raise DataError(
            f"without= (--without) names {short_list(both)}, which the network has as variables.",
            "take them out of one of the two.",
        )


def check_beside(source: DataSource, variables: Collection[str], data: Data) -> None:
    """Refuse weights and labels that cannot be what they are said to be."""
    for column, option in data.beside.items():
        if column in variables:
            raise WeightError(
                f"{option}={column!r} names a variable of the network.",
                "name another column, or give this one another name than the variable.",
            )
        refuse_strangers(option, [column], source.columns, source.label, WeightError)
    for option, length in data.lengths.items():
        if source.rows is not None and length != source.rows:
            raise WeightError.length(f"{option}=", length, source.rows)
