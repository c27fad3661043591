"""Arguments that several commands share, and what becomes of them."""

from __future__ import annotations

import os
import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from math import inf
from shlex import quote
from typing import TYPE_CHECKING, Any, TypeVar

from lacunet.cli.terminal import progress_bar, say
from lacunet.errors import LacunetError, as_level
from lacunet.wording import key_and_rest, separated

if TYPE_CHECKING:
    from lacunet.data.given import Data, ReplicateWeights
    from lacunet.data.table import EncodedTable
    from lacunet.missingness.graph import MissingnessGraph
    from lacunet.model.network import Network

NETWORK_HELP = (
    "the network: .bif .xmlbif .xml .bifxml .net .hugin .dsc .xdsl .uai .json, each also .gz, or "
    "the name of a bundled one"
)
DATA_HELP = (
    "the data: .csv .tsv .parquet .arrow .feather, also .csv.gz, globs and folders of parts, or - "
    "for CSV from standard input"
)
DATA_OR_STATISTICS_HELP = f"{DATA_HELP}; or .stats of lacunet count"


EDGES_HELP = (
    "edges such as 'Age -> Disease; Disease -> Test', a bnlearn model string '[A][B|A]', or a "
    "file with edges as text, DOT, dagitty or two columns, from and to; then no "
    "NETWORK is given"
)
DATA_OPTIONS = "weight counts strata cluster unknown latent fully_observed encoding decimal"
SMALLEST = 5e-324  # the first number above zero
Number = TypeVar("Number", int, float)


def add(command: Any, spelled: str, text: str, **more: Any) -> None:
    """Add an argument, spelled as its help shows it: ``"-o --output FILE"``, ``"data DATA"``.

    A default is told at the end of its text.
    """
    names = spelled.split()
    if len(names) > 1 and not names[-1].startswith("-"):
        more["metavar"] = names.pop()
    default = more.get("default", [])
    if default not in (None, [], ""):
        text += f" (default: {f'{default:g}' if isinstance(default, float) else default})"
    command.add_argument(*names, help=text, **more)


class OutputFile(str):
    """The path of a file that a command writes; every other string may name one that it reads."""

    __slots__ = ()


def add_output(command: Any, spelled: str, text: str, **more: Any) -> None:
    """Add an argument that names a file to write; `main` protects what the command reads."""
    add(command, spelled, text, type=OutputFile, **more)


def add_json(command: Any, text: str = "print the result as JSON") -> None:
    """Let the results be printed for programs."""
    add(command, "--json", text, action="store_true")


def add_network_and_data(command: ArgumentParser) -> None:
    """Take a network with CPTs, and data files."""
    add(command, "network NETWORK", NETWORK_HELP)
    add_data(command)


def add_network_or_edges(
    command: ArgumentParser,
    text: str = DATA_HELP,
    *,
    then: str = "data",
    needs_data: bool = True,
    needs_network: bool = True,
) -> None:
    """Take a network, or edges and what the data do not say; then data, or a graph.

    `split_files` tells them apart, and `network_of` gives the network. Where a graph follows, data
    are an option of the command's own. Where no network is needed, data alone stand for their
    columns.
    """
    edges = ", or edges such as 'A -> B; B -> C'" + " or a file of them" * (then == "data")
    given = f"{NETWORK_HELP}{edges}; {text}"
    second = then.upper() if needs_data else f"[{then.upper()}]"
    metavar = f"{'NETWORK' if needs_network else '[NETWORK]'} {second}"
    command.add_argument("files", metavar=metavar, nargs="+", help=given)
    group = command.add_argument_group("edges in place of a network")
    add(group, "--edges EDGES", EDGES_HELP)
    add_building_arguments(group)
    command.set_defaults(then=then, needs_data=needs_data, needs_network=needs_network)
    command.set_defaults(in_place=("--edges", "--sql") if then == "data" else ("--edges",))
    if then == "data":
        add_query_arguments(command)


def add_building_arguments(command: Any) -> None:
    """Say what edges and data alone do not: states, and how to cut numbers."""
    states = (
        "the states of a variable, in order, instead of those found in the data (quote a name with "
        """an equals sign: '"X=1"=A,B,C')"""
    )
    add(command, "--states X=A,B,C", states, action="append", default=[])
    bins = (
        "cut the numbers of a column: X=5 (equally many rows), X=width:5 (equally wide) "
        "or cut points: X=18,40,65 is 18 to 40 and 40 to 65, and no others; X=-inf,40,65,inf has "
        "open ends"
    )
    add(command, "--bins X=N", bins, action="append", default=[])


def split_files(options: Namespace) -> None:
    """Tell the network and what follows it among the files that were typed."""
    if not hasattr(options, "files"):
        return
    files = _without_queries(options)
    is_alone = not options.needs_network and (not files or is_data_name(files[0]))
    if options.edges is None and not is_alone and _begin_with_edges(files, options):
        options.edges = files.pop(0)
    options.network = files.pop(0) if options.edges is None and files and not is_alone else None
    if options.edges is None and options.network is None and not is_alone:
        options.usage_error("name a network, or give edges such as 'A -> B' in its place")
    for text in files:
        if hasattr(options, "query") and _looks_asked(text):
            options.usage_error(
                f"{text!r} looks like a query: lacunet {options.command} NETWORK "
                f"{'GRAPH ' * (options.then == 'graph')}--query {quote(text)}"
            )
    if options.then == "graph" and options.network:
        _refuse_graph_or_edges(options)
    if options.then == "data":
        _refuse_data_first(options, files)
        options.data = files
        if options.needs_data and not has_data(options):
            options.usage_error(
                "a network and data are needed: name the data after the network, or after "
                "edges such as 'A -> B'"
            )
    elif len(files) <= 1:
        setattr(options, options.then, files[0] if files else None)
    else:
        data = [name for name in files if is_data_name(name)]
        more = f"; data go with --data {quote(data[0])}" if data and options.then == "graph" else ""
        options.usage_error(f"name one {options.then} after the network{more}")


def _refuse_data_first(options: Namespace, files: Sequence[str]) -> None:
    """Refuse data in place of the network; with what follows them they may be swapped."""
    from lacunet.formats.edges import is_edges
    from lacunet.formats.files import is_network

    if not options.network or not is_data_name(options.network) or options.sql is not None:
        return
    meant = [text for text in files if is_edges(text) or is_network(text)]
    problem = "they are swapped" if meant else "a network and data are needed"
    command = ["lacunet", options.command, *map(quote, meant or ["A -> B"]), quote(options.network)]
    options.usage_error(
        f"{problem}: the network, or edges such as 'A -> B', come first, then the data: "
        f"{' '.join(command)}"
    )


def _begin_with_edges(files: Sequence[str], options: Namespace) -> bool:
    """Whether edges, or a file of them, stand in place of a network.

    A file of columns alone may be data, and edges alone may be the graph.
    """
    from lacunet.formats.edges import is_edges
    from lacunet.formats.files import is_file_of_edges

    if not files:
        return False
    if is_edges(files[0]):
        return options.then == "data" or len(files) > 1
    if options.then != "data" or not is_file_of_edges(files[0]):
        return False
    return not is_data_name(files[0]) or len(files) > 1 or options.sql is not None


def _refuse_graph_or_edges(options: Namespace) -> None:
    """Refuse a graph without a network, and edges without a graph or with one among them."""
    from lacunet.building.edges import mechanisms_apart
    from lacunet.formats.edges import is_edges

    if options.network.lower().endswith(".txt"):
        options.usage_error(
            "name the network before the graph, or give edges such as 'A -> B' in its place"
        )
    if not is_edges(options.network):
        return
    edges, graph = mechanisms_apart(options.network)
    if edges:
        words = "write the missingness graph apart" if graph else "name the graph after the edges"
        write = f"lacunet {options.command} {quote(edges)} {quote(graph) if graph else 'GRAPH'}"
        options.usage_error(f"{words}: {write}")
    options.usage_error(
        f"name the network before the graph, or give edges: lacunet {options.command} 'A -> B' "
        f"{quote(options.network)}"
    )


def is_data_name(name: str) -> bool:
    """Whether a file that is typed can only be data."""
    from lacunet.formats.files import OF_DATA

    return name == "-" or os.path.isdir(name) or name.lower().removesuffix(".gz").endswith(OF_DATA)


def _without_queries(options: Namespace) -> list[str]:
    """The files that were typed; ``P(X | Y=y)`` or ``X | Y=y`` among them is a query.

    So is a bare name behind the network, unless it is a file or could be one.
    """
    takes_queries = isinstance(getattr(options, "query", None), list)
    behind = options.files[options.edges is None :] if options.then == "data" else []
    asked = [
        text
        for text in options.files
        if not os.path.exists(text) and (_looks_asked(text) or (text in behind and _is_bare(text)))
    ]
    if not (takes_queries and asked):
        return list(options.files)
    options.query = [*asked, *options.query]
    return [text for text in options.files if text not in asked]


def _is_bare(text: str) -> bool:
    """Whether a text has nothing that names of files and addresses have."""
    return text != "-" and not {*text} & {*"./\\*?[]:"}


def _looks_asked(text: str) -> bool:
    """Whether a text looks like a query; ``[A][B|A]`` is a model string."""
    start = text.lstrip().lower()
    return start.startswith(("p(", "pr(")) or ("|" in text and not start.startswith("["))


def network_of(options: Namespace) -> Network:
    """The network that is named, or that edges, data and states make."""
    from lacunet.cli.network import network_from_data, network_without_data
    from lacunet.formats.files import read_network

    if options.network is not None:
        return read_network(options.network)
    if has_data(options):
        return network_from_data(options)
    return network_without_data(options)


def add_data(command: ArgumentParser) -> None:
    """Take data files, or a query."""
    add(command, "data DATA", DATA_HELP, nargs="+")
    command.set_defaults(in_place=("--sql",))
    add_query_arguments(command)


def add_query_arguments(command: ArgumentParser) -> None:
    """Take a query, which may stand in place of data files."""
    group = command.add_argument_group("databases")
    query = "a query whose rows are the data, in place of files"
    add(group, "--sql SELECT", query)
    queried = (
        "the database to query: a DuckDB or SQLite file, or postgresql://user@host/name "
        "(default: the files that the query names, read by DuckDB)"
    )
    add(group, "--database DB", queried)


def add_progress(command: Any) -> None:
    """Let the user choose how to see how far the work is."""
    shown = "show how far the work is: a bar, lines of JSON on stderr, or nothing"
    modes = ["auto", "bar", "json", "none"]
    add(command, "--progress", shown, choices=modes, default="auto")


def add_seed(command: Any, text: str = "random seed") -> None:
    """Let the random numbers be chosen."""
    add(command, "--seed N", text, type=natural, default=0)


def add_prior(command: Any, text: str = "") -> None:
    """Let the prior be chosen."""
    words = f"concentration of the Dirichlet prior{text}: 2 adds one pseudo-count per cell, "
    words += "1 none, 'learn' estimates the pseudo-counts from all counts (empirical Bayes); "
    words += "learned by default; closed forms use 2"
    add(command, "--prior ALPHA", words, type=prior, default=None)


def add_data_arguments(command: ArgumentParser) -> None:
    """Say what rows weigh, what their cells mean, and how text files are written."""
    from lacunet.data.matching import MISSING_TOKENS

    group = command.add_argument_group("data")
    add(group, "--weight COLUMN", "sampling weights of the rows; only their ratios matter")
    add(group, "--counts COLUMN", "how many rows each row stands for")
    add(group, "--strata COLUMN", "the stratum that each row was sampled in")
    add(group, "--cluster COLUMN", "the cluster, within its stratum, that each row was sampled in")
    text = (
        "replicate weights and their kind, as in 'jackknife: w1..w80', 'brr: a,b,c,d' or "
        "'fay 0.5: w1..w80'"
    )
    add(group, "--replicates KIND", text)
    known = ", ".join(token or "an empty cell" for token in MISSING_TOKENS)
    text = (
        f"further values that mean 'not observed', beside {known}: 9 in all columns, or X=7,9 in "
        "one; give it after DATA"
    )
    add(group, "--missing CODE", text, action="extend", nargs="+", default=[])
    codes = (
        """what values mean, as JSON or a file of it: '{"Smokes": {"9": null, "1": "yes"}}' """
        "(null: missing, a list: one of several states); a network in .json keeps its own"
    )
    add(group, "--codes JSON", codes)
    rule = (
        "when a question was not asked, as in 'SmokesNow: Smoked=no' (quote a name with a colon); "
        "can be given several times"
    )
    add(group, "--not-asked RULE", rule, action="append", default=[])
    unknown = "what to do with a value that is not a state"
    add(group, "--unknown", unknown, choices=["error", "missing"], default="error")
    latent = "variables without a column in the data (quote a name with a comma: '\"a,b\",c')"
    add(group, "--latent A,B", latent, type=names, default=[])
    add(group, "--delimiter C", "character between cells of text files (.csv: a comma)")
    add(group, "--encoding E", "encoding of text files", default="utf-8")
    add(group, "--decimal C", "decimal character of text files", default=".")


def add_size_arguments(command: Any) -> None:
    """Say what may be used for data that do not fit in memory."""
    add_memory(command)
    scratch = "folder for temporary files of rows that do not fit in memory (default: the system's)"
    add(command, "--scratch DIR", scratch)


def taken(options: Namespace, names: str) -> dict[str, Any]:
    """The options that a function takes by the names that they have here."""
    return {name: getattr(options, name) for name in names.split()}


def add_method_arguments(command: ArgumentParser) -> None:
    """Say how the CPTs are to be learned: every option of every method, from its own words."""
    from lacunet.estimate.registry import METHODS, options_of

    group = command.add_argument_group("method")
    methods = f"one of {', '.join(METHODS)} (default: auto, or mgraph where a graph is given)"
    add(group, "--method M", methods)
    promised = "variables that every row is promised to show; no others count as fully observed"
    add(group, "--fully-observed A,B", promised, type=names, default=[])
    methods_of: dict[str, list[str]] = {}
    for method in METHODS:
        for name in options_of(method):
            methods_of.setdefault(name, []).append(method)
    for name, owners in methods_of.items():
        field = options_of(owners[-1])[name]
        metadata = field.metadata
        kind = names if name == "separator" else metadata["kind"]
        usual = ("no", "yes")[field.default] if isinstance(field.default, bool) else field.default
        default = f"; default: {usual}" if usual not in (None, ()) else ""
        group.add_argument(
            f"--{name.replace('_', '-')}",
            type=_refusing(kind),
            choices=metadata["choices"],
            metavar=metadata["metavar"] or (None if metadata["choices"] else name.upper()[:1]),
            help=f"{metadata['text']} ({', '.join(owners)}{default})",
        )
    add_seed(group)


def add_learning_arguments(command: ArgumentParser) -> None:
    """Say what goes with every method: the prior, what may be used, whether to give intervals."""
    add_prior(command)
    add_size_arguments(command)
    add_intervals(command)


def add_intervals(command: Any) -> None:
    """Let intervals be asked for, and their level."""
    intervals = "add an interval for every probability, at this level (0.95 if none is given)"
    add(command, "--intervals LEVEL", intervals, nargs="?", type=level, const=0.95)


def add_population(command: Any) -> None:
    """Take rows of everyone, where the data are a selection."""
    text = (
        "rows of everyone, not a selection, that show what decides whether a row was recorded "
        "(R[*] in the graph)"
    )
    add(command, "--population FILE", text)


def add_memory(command: Any) -> None:
    """Let the memory be limited."""
    memory = "memory budget in GiB, or with a unit: 500MB (default: half of the available memory)"
    add(command, "--memory GIB", memory, type=gigabytes)


def _refusing(kind: Callable[[str], Any]) -> Callable[[str], Any]:
    """The same, with our own refusals as refusals of the command line."""

    def parsed(text: str) -> Any:
        try:
            return kind(text)
        except LacunetError as error:
            raise ArgumentTypeError(str(error)) from None

    parsed.__name__ = kind.__name__
    return parsed


def method_options(options: Namespace) -> dict[str, Any]:
    """The options of methods that were given."""
    from lacunet.estimate.registry import METHODS, options_of

    every = dict.fromkeys(name for method in METHODS for name in options_of(method))
    given = {name: getattr(options, name) for name in every}
    return {**given, "start": _start(given["start"])}


def _start(text: str | None) -> str | Network | None:
    """A method's name as it is; the network in a file, if it names one."""
    from lacunet.formats.files import FORMATS, read_network

    if text is not None and any(suffix in text.lower() for suffix in FORMATS):
        return read_network(text)
    return text


def has_data(options: Namespace) -> bool:
    """Whether any data are given, of one kind."""
    if options.sql is None and options.database is not None:
        options.usage_error("--database needs a query: give --sql 'select ...' too")
    if options.sql is not None and options.data:
        options.usage_error("give data files or --sql, not both")
    return bool(options.data) or options.sql is not None


def data_of(options: Namespace) -> Data:
    """The data asked for, and how they are to be read."""
    from lacunet.data.given import Data

    if getattr(options, "held", None) is not None:
        return options.held  # type: ignore[no-any-return]
    delimiter = "\t" if options.delimiter == "\\t" else options.delimiter
    keywords = {
        name: value
        for name in DATA_OPTIONS.split()
        if (value := getattr(options, name, None)) not in (None, [])
    }
    keywords |= {"delimiter": delimiter, "missing": missing_asked(options.missing)}
    keywords |= codes_asked(options.codes, options.not_asked)
    if options.replicates is not None:
        keywords["replicate_weights"] = replicates_asked(options.replicates)
    if has_data(options) and options.sql is not None:
        return Data(query=options.sql, database=options.database, **keywords)
    data = Data(options.data[0] if len(options.data) == 1 else list(options.data), **keywords)
    if options.data == ["-"] and getattr(options, "network", "") is None:
        from lacunet.data.whole import held_data

        options.held = data = held_data(data)  # read for the states, then for the rows
    return data


def missing_asked(tokens: Sequence[str]) -> dict[str | None, list[str]]:
    """What means "not observed", as typed.

    Examples
    --------
    >>> missing_asked(["99", "Smokes=7,9"])
    {None: ['99'], 'Smokes': ['7', '9']}
    """
    codes_of: dict[str | None, list[str]] = {}
    for token in tokens:
        column, codes = key_and_rest(token, "=")
        if column and codes:
            codes_of.setdefault(column, []).extend(names_in("--missing", codes))
        else:
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
    from lacunet.data.given import ReplicateWeights

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

    return graph_of(text, with_codes_asked(options, network)).hiding(options.latent)


def with_codes_asked(options: Namespace, network: Network) -> Network:
    """The network with the codes and rules that the options name: queries may use these too."""
    from lacunet.data.given import Data
    from lacunet.data.reading import with_data_codes

    keywords: dict[str, Any] = codes_asked(options.codes, options.not_asked)
    if not keywords:
        return network
    return with_data_codes(network.with_tables(None), Data({}, **keywords))


def noted_rows(options: Namespace, network: Network) -> EncodedTable:
    """The data asked for within the memory budget: equal rows as one, or as many as it holds."""
    from lacunet.data.read import ReadReport, taken_as_missing
    from lacunet.memory import memory_budget
    from lacunet.statistics.observations import observations, rows_within

    budget, read_report = memory_budget(options.memory), ReadReport()
    with (
        progress_bar() as progress,
        observations(data_of(options), network, budget, progress=progress) as rows,
    ):
        table, row_count = rows_within(rows, network, budget, read_report)
        table = taken_as_missing(table)
        notes = dict.fromkeys((*rows.notes(read_report), *table.notes))
    note(*notes)
    if table.row_count < row_count:
        note(
            f"the memory budget holds {table.row_count:,} of the {row_count:,} rows: all numbers "
            "are of these (--memory raises it)"
        )
    return table


def names(text: str) -> list[str]:
    """Names separated by commas; one that holds a comma is quoted.

    Examples
    --------
    >>> names('Age, "income, net"')
    ['Age', 'income, net']
    """
    parts = separated(text) if text.strip() else []
    if not all(parts):
        raise ArgumentTypeError("give names separated by commas")
    return parts


def names_in(option: str, text: str) -> list[str]:
    """The names in a part of what is typed behind an option, which is read after all options."""
    try:
        return names(text)
    except ArgumentTypeError as error:
        raise LacunetError(f"{option}: {text!r} has an empty name.", f"{error}.") from None


def number(text: str, kind: Callable[[str], Number], low: float, high: float, what: str) -> Number:
    """A number from ``low`` and below ``high``."""
    wrong = ArgumentTypeError(f"{text!r} is not {what}")
    try:
        value = kind(text)
    except ValueError:
        raise wrong from None
    if not low <= value < high:
        raise wrong
    return value


def prior(text: str) -> float | str:
    """The concentration of the prior, or that it is to be learned."""
    return text if text == "learn" else number(text, float, 1, inf, "a number from 1, or 'learn'")


def natural(text: str) -> int:
    """A whole number from zero upwards."""
    return number(text, int, 0, inf, "a whole number from zero upwards")


def positive(text: str) -> int:
    """A whole number of at least one."""
    return number(text, int, 1, inf, "a whole number of at least one")


def gigabytes(text: str) -> int:
    """A size in GiB, or with its unit, as bytes.

    Examples
    --------
    >>> gigabytes("0.5"), gigabytes("500MB"), gigabytes("512 MiB")
    (536870912, 500000000, 536870912)
    """
    what = "a number of GiB, such as 0.5, or a size such as 500MB"
    parts = re.fullmatch(r"(.*?)\s*([KMGT]i?B?)?", text.strip(), re.IGNORECASE)
    assert parts is not None
    unit = (parts[2] or "GiB").upper()
    scale = (1000 if unit[1:] == "B" else 1024) ** (1 + "KMGT".index(unit[0]))
    return int(number(parts[1], float, SMALLEST, 2**50 / scale, what) * scale)


def limit(text: str) -> float | None:
    """A time limit in seconds; ``none`` is no limit."""
    if text.strip() == "none":
        return None
    return number(text, float, SMALLEST, 1e7, "a time limit in seconds")


def level(text: str) -> float:
    """A level as a share, or in per cent."""
    bare = text.removesuffix("%")
    wrong = f"{text!r} is not a level such as 0.95, or 95 per cent"
    try:
        share = as_level(float(bare))
    except ValueError:  # of ours, or of float
        raise ArgumentTypeError(wrong) from None
    if bare != text and float(bare) == share:
        raise ArgumentTypeError(wrong)
    return share


def note(*texts: str) -> None:
    """Say what is not the result, a line for each text."""
    for text in texts:
        say(text)
