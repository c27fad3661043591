"""What a file of statistics says of itself, and which files belong together."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from glob import glob
from os import PathLike
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lacunet.data.errors import listed
from lacunet.data.reading import with_further_codes
from lacunet.data.table import SetsOf
from lacunet.errors import LacunetError
from lacunet.formats.endings import STATISTICS
from lacunet.model.intervals import spelled_cut
from lacunet.model.network import Network, NetworkError, Scope
from lacunet.statistics.errors import CountedTwiceError, StatisticsError
from lacunet.statistics.saved.parts import (
    Block,
    CountedPart,
    check_distinct,
    unnamed_part,
)
from lacunet.statistics.saved.soundness import (
    HEADER,
    check_numbers,
    checked,
    checked_blocks,
    checked_network,
    checked_sets,
    network_as_data,
    network_hash,
    refuse,
    seal,
)
from lacunet.wording import in_shell, keyed

if TYPE_CHECKING:  # statistics are made of what is here
    from lacunet.statistics.gather import Statistics

KEY = b"lacunet"
FORMAT, VERSION = "lacunet statistics", 2
FAMILIES, ROWS = "families", "rows"
OWN = "lacunet:"  # begins the names of columns that are not variables
NUMBERS = (OWN + "rows", OWN + "weight", OWN + "squares")
PART = OWN + "part"
COUNT = (
    "count the data first: lacunet.count(network, data).write('part.stats') (lacunet count NETWORK "
    "DATA -o part.stats)."
)
REMAKE = "make it again with lacunet count."
MOST_DIFFERENT = 3  # variables of which a hint names the states


@dataclass(frozen=True)
class Header:
    """What a file of statistics says of itself."""

    kind: str
    network: Network
    method: str
    rows: int
    total: float
    missing_of: Mapping[str, int]
    complete_rows: int | None = None
    blocks: tuple[Block, ...] = ()
    data: str = ""
    sets_of: SetsOf = field(default_factory=dict)  # what cells may be known to be one of

    @property
    def partially_observed(self) -> Scope:
        """The variables that some row does not show."""
        return tuple(name for name in self.network.variables if self.missing_of[name])

    @property
    def parts(self) -> tuple[CountedPart, ...]:
        """All parts, whether or not they can be told apart."""
        return tuple(part for block in self.blocks for part in block)

    def as_data(self) -> dict[str, Any]:
        """What is written."""
        network = self.network
        data: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "kind": self.kind,
            "network": network_as_data(network),
            "method": self.method,
            "rows": self.rows,
            "total": self.total,
            "missing": dict(self.missing_of),
            "fully_observed": [v for v in network.variables if not self.missing_of[v]],
            "complete_rows": self.complete_rows,
            "parts": [
                [
                    {"id": part.id, "name": part.name, "rows": part.rows, "named": part.is_named}
                    for part in block
                ]
                for block in self.blocks
            ],
            "data": self.data,
        }
        losses = {
            "sets": {
                name: [[network.states(name)[code] for code in subset] for subset in sets]
                for name, sets in self.sets_of.items()
            },
            "designed": [part.id for part in self.parts if part.is_designed],
            "coarse": {p.id: dict(p.cells_of_sets) for p in self.parts if p.cells_of_sets},
            "notes": {part.id: list(part.notes) for part in self.parts if part.notes},
            "latent": {part.id: list(part.latent) for part in self.parts if part.latent},
        }
        data |= {key: loss for key, loss in losses.items() if loss}
        return {**data, "seal": seal(data)}

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Header:
        """What the file says, or why it is not taken.

        Raises
        ------
        StatisticsError
            It is not a whole file of statistics, or a later version wrote it.
        """
        import pyarrow as pa
        from pyarrow import parquet

        try:
            with parquet.ParquetFile(path) as file:
                data = json.loads((file.metadata.metadata or {}).get(KEY, b"null"))
        except FileNotFoundError:
            raise StatisticsError(f"there is no file {str(path)!r}.", "check the path.") from None
        except (pa.ArrowException, OSError, ValueError, RecursionError):
            raise StatisticsError(
                f"{str(path)!r} is not a file of statistics, or only a part of one.", COUNT
            ) from None
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise StatisticsError(f"{str(path)!r} is not a file of statistics.", COUNT)
        version = data.get("version")
        if isinstance(version, int) and version > VERSION:
            raise StatisticsError(
                f"{str(path)!r} was written by a newer lacunet: its format has version "
                f"{version}, and {VERSION} is the latest that this one reads.",
                "upgrade lacunet.",
            )
        with believed(path):
            return cls._checked(data, Path(path).name)

    @classmethod
    def _checked(cls, data: dict[str, Any], name: str) -> Header:
        """What a header says, if it can be."""
        version, kind = data.get("version"), data.get("kind")
        if version not in (1, VERSION) or isinstance(version, bool):
            refuse(f"its format has the version {version!r}")
        if kind not in (FAMILIES, ROWS):
            refuse(f"its kind is {kind!r}")
        if ("seal" in data) is (version == 1) or (version > 1 and data["seal"] != seal(data)):
            refuse("its header was changed")
        if version == 1:  # which had no parts
            data = {**data, "data": ""}
            part = {"id": seal(data)[:16], "name": name, "rows": data.get("rows"), "named": False}
            data["parts"] = [[part]]
        if kind == ROWS and "coarse" in data:
            refuse("its rows show which cells are one of several states, and it counts them too")
        entries = checked(data, HEADER)
        network = checked_network(entries["network"])
        check_numbers(entries, network)
        return cls(
            kind,
            network,
            entries["method"],
            entries["rows"],
            float(entries["total"]),
            entries["missing"],
            entries["complete_rows"],
            checked_blocks(entries),
            entries["data"],
            checked_sets(entries["sets"], network),
        )


def header_of(statistics: Statistics) -> Header:
    """The header of the file that statistics are written to."""
    if statistics.network is None:
        raise StatisticsError(
            "the statistics do not say which network they were counted for.",
            "make them with lacunet.count.",
        )
    complete = statistics.complete_rows if statistics.complete else None
    return Header(
        ROWS if statistics.distinct else FAMILIES,
        statistics.network,
        statistics.method,
        statistics.rows,
        statistics.total,
        statistics.missing_of,
        complete,
        (statistics.parts or (unnamed_part(statistics.rows),),),
    )


def check_same(network: Network, other: Network, label: str) -> None:
    """Refuse statistics that were counted for another network, and say in what it differs."""
    if network_hash(network) == network_hash(other):
        return
    names = set(network.variables) ^ set(other.variables)
    both = [name for name in network.variables if name not in names]
    differ = {
        "variables": sorted(names),
        "states": [name for name in both if network.states(name) != other.states(name)],
        "parents": [name for name in both if network.parents(name) != other.parents(name)],
        "order of the variables": list(network.variables),
    }
    what, where = next((what, where) for what, where in differ.items() if where)
    hint = "count the data again with this network."
    if what == "states":
        hint = _with_all_states(network, other, where)
    raise StatisticsError(
        f"{label} were counted for another network: the {what} differ, in {listed(where)}.", hint
    )


def check_same_rules(network: Network, other: Network, label: str) -> None:
    """Refuse statistics whose rows were read by other rules of what was not asked."""
    rules, others = network.not_asked_of, other.not_asked_of
    if differ := [name for name in network.variables if rules.get(name) != others.get(name)]:
        ours, theirs = rules.get(differ[0]), others.get(differ[0])
        raise StatisticsError(
            f"{label} were counted by another rule of when {differ[0]!r} was not asked: "
            f"{repr(theirs.when) if theirs else 'none'} instead of "
            f"{repr(ours.when) if ours else 'none'}.",
            "count all data by the same rules.",
        )


def _with_all_states(network: Network, other: Network, differ: Sequence[str]) -> str:
    """The states that variables have in either network, and the options that name them all."""
    phrases, options = [], []
    for name in differ[:MOST_DIFFERENT]:
        ours, theirs = network.states(name), other.states(name)
        phrases.append(f"{name} the states {', '.join(theirs)} instead of {', '.join(ours)}")
        if cuts := network.cuts_of.get(name):
            option, values = "--bins", [spelled_cut(cut) for cut in cuts]
        else:
            both = dict.fromkeys([*ours, *theirs])
            option, values = "--states", [f'"{state}"' if "," in state else state for state in both]
        typed = f"{keyed(name, '=')}={','.join(values)}"
        options.append(f"{option} {in_shell(typed)}")
    more = " ..." if len(differ) > MOST_DIFFERENT else ""
    return (
        f"they give {'; '.join(phrases)}{more}. Count all data again with one network, or with "
        f"{' '.join(options)}{more}."
    )


def with_dictionary(network: Network, other: Network) -> Network:
    """The network with the codes and rules by which statistics for another were counted.

    CPTs that do not obey a rule are left out.
    """
    try:
        return with_further_codes(network, other.codes_of, other.not_asked_of)
    except NetworkError:
        bare = network.with_tables(None)
        return with_further_codes(bare, other.codes_of, other.not_asked_of)


def check_summands(left: Statistics, right: Statistics) -> None:
    """Refuse to add statistics of different networks or kinds."""
    assert left.network is not None
    assert right.network is not None
    check_same(left.network, right.network, "the statistics to be added")
    check_same_rules(left.network, right.network, "the statistics to be added")
    check_kinds([header_of(left), header_of(right)])
    check_distinct([("the one", [left.parts]), ("the other", [right.parts])])


def check_kinds(headers: Sequence[Header]) -> None:
    """Refuse statistics of different kinds: those of families do not tell the rows."""
    if len({(header.kind, header.complete_rows is None) for header in headers}) > 1:
        methods = dict.fromkeys(header.method or header.kind for header in headers)
        raise StatisticsError(
            f"statistics counted for {' and for '.join(methods)} hold different things and do not "
            "add up.",
            "count all parts for one method.",
        )


def headers_of(
    paths: Sequence[str | PathLike[str]], network: Network | None = None
) -> list[Header]:
    """The headers of files whose statistics add up: those of one network, and of one kind.

    Without a network it is that of the first. All get the codes of each other.
    """
    headers = [Header.read(path) for path in paths]
    for path, header in zip(paths, headers, strict=True):
        label = f"the statistics in {str(path)!r}"
        check_same(network or headers[0].network, header.network, label)
        check_same_rules(headers[0].network, header.network, label)
    check_kinds(headers)
    whole = reduce(with_dictionary, (header.network for header in headers))
    return [replace(header, network=whole) for header in headers]


def saved_paths(data: Any) -> list[Path]:
    """The files of statistics that data name, by themselves or by a pattern, if they do."""
    several = [data] if isinstance(data, str | PathLike) else data
    if not isinstance(several, list | tuple) or not several:
        return []
    are_saved = [
        isinstance(path, str | PathLike) and str(path).endswith(STATISTICS) for path in several
    ]
    if not any(are_saved):
        return []
    if not all(are_saved):
        raise StatisticsError(
            "files of statistics are given together with something else.",
            "count the rows too, then add all up: lacunet count, lacunet merge; in Python, "
            "lacunet.Statistics.read(path) + lacunet.count(network, rows).",
        )
    paths = [
        Path(name)
        for given in several
        for name in ([given] if os.path.exists(given) else sorted(glob(str(given))) or [given])
    ]
    real = [realpath(path) for path in paths]
    twice = [str(path) for index, path in enumerate(paths) if real[index] in real[:index]]
    if twice:
        shown = ", ".join(map(repr, sorted(twice)))
        raise CountedTwiceError(
            f"{shown} is named more than once: its rows would count twice.",
            "name each file once.",
        )
    return paths


@contextmanager
def believed(path: str | PathLike[str]) -> Iterator[None]:
    """What makes a file unbelievable, as an error that names it."""
    try:
        yield
    except StatisticsError:
        raise
    except ValueError as error:
        reason = error.message if isinstance(error, LacunetError) else f"{error}."
        raise StatisticsError(f"{str(path)!r} cannot be believed: {reason}", REMAKE) from None
