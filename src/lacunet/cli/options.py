"""Arguments that several commands share, and what becomes of them."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lacunet.cli.values import gigabytes, level, names, natural, prior
from lacunet.errors import LacunetError

if TYPE_CHECKING:
    pass

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
