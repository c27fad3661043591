"""What the options ask for: the network, the data and how they are read, graphs, methods."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lacunet.cli.terminal import note, progress_bar
from lacunet.cli.typed_files import has_data
from lacunet.cli.values import names_in
from lacunet.errors import LacunetError
from lacunet.limits import Deadline
from lacunet.text import key_and_rest

if TYPE_CHECKING:
    from lacunet.data.data import Data, ReplicateWeights
    from lacunet.data.table import EncodedTable
    from lacunet.missingness.graph import MissingnessGraph
    from lacunet.network.network import Network

DATA_OPTIONS = (
    "weight counts strata cluster without unknown fully_observed encoding decimal unit time"
)
LEAST_TIME_LIMIT = 1e-6  # seconds: a limit of none would be refused


def options_for(options: Namespace, names: str) -> dict[str, Any]:
    """The options that a function takes by the names that they have here."""
    return {name: getattr(options, name) for name in names.split()}


def limit_of(options: Namespace) -> Deadline:
    """When a command is to be done, as far as its options say so."""
    return Deadline.within(getattr(options, "time_limit", None))


def time_limit_left(options: Namespace) -> float | None:
    """The seconds that are left of a time limit; one that is not positive is refused later."""
    asked: float | None = options.time_limit
    if asked is None or asked <= 0:
        return asked
    left: float = options.limit.left
    return max(left, LEAST_TIME_LIMIT)


def method_options(options: Namespace) -> dict[str, Any]:
    """The options of methods that were given."""
    from lacunet.learning.methods import METHODS, options_of

    every = dict.fromkeys(name for method in METHODS for name in options_of(method))
    given = {name: getattr(options, name) for name in every}
    return {**given, "start": _start(given["start"]), "time_limit": time_limit_left(options)}


def _start(text: str | None) -> str | Network | None:
    """A method's name as it is; the network in a file, if it names one."""
    from lacunet.network.formats.endings import READABLE_FORMATS
    from lacunet.network.formats.files import read_network

    if text is not None and any(suffix in text.lower() for suffix in READABLE_FORMATS):
        return read_network(text)
    return text


def data_of(options: Namespace) -> Data:
    """The data asked for, and how they are to be read."""
    from lacunet.data.data import Data

    if getattr(options, "held", None) is not None:
        return options.held  # type: ignore[no-any-return]
    keywords = _reading_asked(options)
    if has_data(options) and options.sql is not None:
        return Data(query=options.sql, database=options.database, **keywords)
    source = options.data[0] if len(options.data) == 1 else list(options.data)
    data = Data(source, **keywords)
    if options.data == ["-"] and getattr(options, "network", "") is None:
        from lacunet.data.original_tables import hold_data_in_memory

        # Stdin can be read once only: it is read for the states, then for the rows.
        options.held = hold_data_in_memory(data)
        return options.held  # type: ignore[no-any-return]
    return data


def _reading_asked(options: Namespace) -> dict[str, Any]:
    """How the data are to be read, as `Data` takes it."""
    keywords: dict[str, Any] = {}
    for name in DATA_OPTIONS.split():
        value = getattr(options, name, None)
        if value not in (None, []):
            keywords[name] = value
    keywords["delimiter"] = "\t" if options.delimiter == "\\t" else options.delimiter
    keywords["missing"] = missing_asked(options.missing)
    keywords["states"] = states_asked(options)
    keywords["bins"] = bins_asked(options)
    keywords["latent"] = latent_asked(options.latent)
    keywords |= codes_asked(options.codes, options.not_asked)
    if options.waves:
        waves = dict(_parted(text, "--waves H=H1,H2,H3") for text in options.waves)
        keywords["waves"] = {name: names_in("--waves", columns) for name, columns in waves.items()}
    if options.replicates is not None:
        keywords["replicate_weights"] = replicates_asked(options.replicates)
    return keywords


def states_asked(options: Namespace) -> dict[str, list[str]]:
    """The states of variables, as typed."""
    states = dict(_parted(text, "--states Stage=I,II,III") for text in options.states)
    return {name: names_in("--states", values) for name, values in states.items()}


def latent_asked(names: Sequence[str]) -> dict[str, range | None]:
    """Latent variables as typed, some with the number of their states, or the least and the most.

    Examples
    --------
    >>> latent_asked(["Class=2..6", "Mood=3", "Taste"])
    {'Class': range(2, 7), 'Mood': range(3, 4), 'Taste': None}
    """
    numbers_of: dict[str, range | None] = {}
    for text in names:
        numbered = re.fullmatch(r"(.+)=(\d+)(?:\.\.(\d+))?", text)
        if numbered is None:
            numbers_of[text] = None
        else:
            name, least, most = numbered.groups()
            numbers_of[name] = range(int(least), int(most or least) + 1)
    return numbers_of


def bins_asked(options: Namespace) -> dict[str | None, Any]:
    """How columns of numbers and dates are cut, as typed."""
    from lacunet.data.bins import parse_bins

    bins: dict[str | None, Any] = {}
    for text in options.bins:
        name, values = key_and_rest(text, "=")
        if name:
            bins[name] = parse_bins(name, values)
        else:  # as 5 or auto, for all columns
            bins[None] = int(text) if text.strip().isdecimal() else text.strip()
    return bins


def shapes_asked(options: Namespace) -> dict[str, Any]:
    """Which CPTs are one, and which are no full tables, as typed."""
    shapes = dict(_parted(text, "--shapes Fault=noisy-or") for text in options.shapes)
    untied: dict[str, bool] = {}
    groups: list[list[str]] = []
    for text in options.tied:
        name, word = key_and_rest(text, "=")
        if word == "no":
            untied[name] = False
        else:
            groups.append(names_in("--tied", text))
    if untied and groups:
        raise LacunetError(
            "--tied names groups, and variables that are not tied.",
            "leave the groups out: in a panel a variable is tied to itself in all waves.",
        )
    return {"shapes": shapes, "tied": untied or groups}


def _parted(text: str, example: str) -> tuple[str, str]:
    """The name of a variable, and what stands behind the equals sign."""
    name, values = key_and_rest(text, "=")
    if not (name and values):
        raise LacunetError(f"{text!r} does not name a variable and its values.", f"as in {example}")
    return name, values


def level_asked(options: Namespace) -> float | None:
    """The level of the intervals; none where none are asked for."""
    if options.level is not None and not options.intervals:
        options.usage_error("--level is that of intervals: give --intervals too")
    return (options.level or 0.95) if options.intervals else None


def missing_asked(tokens: Sequence[str]) -> dict[str | None, list[str]]:
    """What means "not observed", as typed, by column; under None what does in all columns.

    Examples
    --------
    >>> missing_asked(["98,99", "Smokes=7,9"])
    {None: ['98', '99'], 'Smokes': ['7', '9']}
    """
    codes_of: dict[str | None, list[str]] = {}
    for token in tokens:
        column, codes = key_and_rest(token, "=")
        if column and codes:
            codes_of.setdefault(column, []).extend(names_in("--missing", codes))
        elif token.strip():
            codes_of.setdefault(None, []).extend(names_in("--missing", token))
        else:  # data may write "not observed" as a space
            codes_of.setdefault(None, []).append(token)
    return codes_of


def replicates_asked(text: str) -> ReplicateWeights:
    """Replicate weights as typed: their kind, and columns or the first and last of them.

    Examples
    --------
    >>> asked = replicates_asked("fay 0.5: w8..w11, last")
    >>> asked.names, asked.kind, asked.rho
    (('w8', 'w9', 'w10', 'w11', 'last'), 'fay', 0.5)
    """
    from lacunet.data.data import ReplicateWeights

    scheme, sign, columns = text.partition(":")
    kind, _, rho = scheme.strip().partition(" ")
    replicates: list[str] = []
    for part in names_in("--replicates", columns):
        between = re.fullmatch(r"(.*?)(\d+)\.\.(.*?)(\d+)", part)
        if between is None or between[1] != between[3]:
            replicates.append(part)
            continue
        width = len(between[2]) if between[2].startswith("0") else 0
        numbers = range(int(between[2]), int(between[4]) + 1)
        replicates += [f"{between[1]}{number:0{width}}" for number in numbers]
    try:
        share = float(rho) if rho.strip() else None
    except ValueError:
        sign = ""
    if not sign or not replicates:
        raise LacunetError(
            f"--replicates {text!r} does not name a kind and columns.",
            "as in --replicates 'jackknife: w1..w80' or 'fay 0.5: w1..w80'.",
        )
    return ReplicateWeights(replicates, kind, rho=share)  # type: ignore[arg-type]


def codes_asked(text: str | None, rules: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Codes and rules as typed, or as a file has them.

    Examples
    --------
    >>> codes_asked('{"Smokes": {"9": null}}', ["SmokesNow: Smoked=no"])
    {'codes': {'Smokes': {'9': None}}, 'not_asked': {'SmokesNow': 'Smoked=no'}}
    """
    import json
    from pathlib import Path

    parsed: Any = {}
    if text is not None:
        try:
            parsed = json.loads(text if text.lstrip().startswith("{") else Path(text).read_text())
        except (OSError, ValueError) as error:
            raise LacunetError(
                f"--codes {text[:40]}: neither JSON nor a file of it: {error}.",
                """as in --codes '{"Smokes": {"9": null, "1": "yes"}}'.""",
            ) from None
    is_whole = isinstance(parsed, dict) and parsed.keys() <= {"codes", "not_asked"}
    keywords: dict[str, dict[str, Any]] = dict(parsed) if is_whole else {"codes": parsed}
    for rule in rules:
        name, when = key_and_rest(rule, ":")
        if not (name.strip() and when.strip()):
            raise LacunetError(
                f"--not-asked {rule!r} does not name a variable and a rule.",
                "as in --not-asked 'SmokesNow: Smoked=no'.",
            )
        keywords.setdefault("not_asked", {})[name.strip()] = when.strip()
    return {option: value for option, value in keywords.items() if value}


def graph_asked(options: Namespace, text: str, network: Network) -> MissingnessGraph:
    """A graph of the network, with the rules and latent variables that the options name."""
    from lacunet.missingness.graph import graph_of

    return graph_of(text, with_codes_asked(options, network)).hiding(latent_asked(options.latent))


def with_codes_asked(options: Namespace, network: Network) -> Network:
    """The network with the codes and rules that the options name: queries may use these too."""
    from lacunet.data.column_rules import with_data_codes
    from lacunet.data.data import Data

    keywords: dict[str, Any] = codes_asked(options.codes, options.not_asked)
    if not keywords:
        return network
    return with_data_codes(network.with_tables(None), Data({}, **keywords))


def read_rows_with_notes(options: Namespace, network: Network) -> EncodedTable:
    """The data asked for within the memory budget: equal rows as one, or as many as it holds."""
    from lacunet.counts.observations import observations, rows_within
    from lacunet.data.read import ReadReport, sets_as_missing
    from lacunet.limits import memory_budget

    budget = memory_budget(options.memory)
    read_report = ReadReport()
    with observations(data_of(options), network, budget, progress=progress_bar()) as rows:
        table, row_count = rows_within(rows, network, budget, read_report)
        table = sets_as_missing(table)
        notes = dict.fromkeys((*rows.warned_notes(read_report), *table.notes))
    note(*notes)
    if table.row_count < row_count:
        note(
            f"the memory budget holds {table.row_count:,} of the {row_count:,} rows: all numbers "
            "are of these (--memory raises it)"
        )
    return table
