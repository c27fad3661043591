"""Arguments that several commands share: single ones in a table, groups as functions."""

from __future__ import annotations

from argparse import Action, ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from dataclasses import Field
from typing import Any

from lacunet.cli.values import (
    gigabytes,
    groups,
    level,
    natural,
    parse_names,
    positive,
    pseudo_counts,
    rows_of_experts,
)
from lacunet.errors import LacunetError
from lacunet.network.formats.endings import OF_DATA, READABLE_FORMATS

# Of each text `--help` shows what stands before a line break, `--help-all` all of it.
NETWORK_FILES = f"({' '.join(READABLE_FORMATS)}, each also .gz)"
NETWORK_HELP = f"a network file, or the name of a bundled network\n; files: {NETWORK_FILES}"
NETWORK_OR_EDGES_HELP = (
    "a network file, the name of a bundled network, or edges: 'A -> B; B -> C'\n, a model string "
    f"'[A][B|A]', or a file of edges; network files: {NETWORK_FILES}, edges as text, DOT, dagitty "
    "or two columns, from and to"
)
RESULT_HELP = (
    "a result (.json of lacunet learn), or a network with CPTs: a file or a bundled one\n; files: "
    f"{NETWORK_FILES}"
)
DATA_HELP = (
    f"data files: {' '.join(OF_DATA)}\n, also .csv.gz, globs and folders of parts, or - for CSV "
    "from standard input"
)


class OutputFile(str):
    """The path of a file that a command writes; every other string may name one that it reads."""

    __slots__ = ()


SHARED: dict[str, tuple[str, dict[str, Any]]] = {
    "--json": ("print the result as JSON", {"action": "store_true"}),
    "--report": ("write the result as a page", {"metavar": "PAGE.html", "type": OutputFile}),
    "--seed": ("random seed", {"metavar": "N", "type": natural, "default": 0}),
    "--pseudo-counts": (
        "what is added to each cell of a CPT: a number, or 'learn' (default: by the method)\n; 0 "
        "is maximum likelihood; 'learn' estimates it from all counts (empirical Bayes); the "
        "default is 1 for listwise, direct, factored and informed methods, 'learn' for all others; "
        "of a survey with strata, clusters or replicates, none where rows tell",
        {"metavar": "N", "type": pseudo_counts},
    ),
    "--experts": (
        "how many rows of data each CPT row that NETWORK brings counts as, in place of "
        "pseudo-counts (default: its CPTs are not used)",
        {"metavar": "ROWS", "type": rows_of_experts},
    ),
    "--memory": (
        "memory budget in GiB, or with a unit: 500MB (default: half of the available memory)",
        {"metavar": "GIB", "type": gigabytes},
    ),
    "--threads": (
        "how many threads work (default: one for each core)",
        {"metavar": "N", "type": positive},
    ),
    "--intervals": ("add an interval for every probability", {"action": "store_true"}),
    "--donors": (
        "rows that the result keeps, as they were observed, of each interval that numbers are cut "
        "into, to draw missing numbers from; 0 keeps none (default: 200)",
        {"metavar": "N", "type": natural, "default": 200},
    ),
    "--level": ("level of intervals (default: 0.95)", {"metavar": "LEVEL", "type": level}),
    "--unroll": (
        "of a panel: go on to so many waves, as the last, to forecast",
        {"metavar": "WAVES", "type": positive},
    ),
    "--population": (
        "where the graph says that DATA are a selection (X -> R[*]): a file of rows from the whole "
        "population, with the causes of R[*] as columns",
        {"metavar": "FILE"},
    ),
    "--progress": (
        "show how far the work is: a bar, lines of JSON on stderr, or nothing; auto is a bar in a "
        "terminal, and nothing elsewhere",
        {"choices": ["auto", "bar", "json", "none"], "default": "auto"},
    ),
}


def add(command: Any, spelled: str, text: str, **more: Any) -> None:
    """Add an argument, spelled as its help shows it: ``"-o --output FILE"``, ``"data DATA"``.

    A default is told at the end of its text.
    """
    names = spelled.split()
    if len(names) > 1 and not names[-1].startswith("-"):
        more["metavar"] = names.pop()
    default = more.get("default", [])
    if default not in (None, [], ""):
        head, line_break, rest = text.partition("\n")
        usual = f"{default:g}" if isinstance(default, float) else default
        text = f"{head} (default: {usual}){line_break}{rest}"
    command.add_argument(*names, help=text, **more)


def add_shared(command: Any, names: str) -> None:
    """Add options of the table, by their names."""
    for name in names.split():
        text, more = SHARED[name]
        add(command, name, text, **more)


def add_names(command: Any, spelled: str, text: str, **more: Any) -> None:
    """Add an option of names separated by commas; given several times, they add up."""
    add(command, spelled, text, type=parse_names, action="extend", **{"default": [], **more})


def add_output(command: Any, spelled: str, text: str, **more: Any) -> None:
    """Add an argument that names a file to write; `main` protects what the command reads."""
    add(command, spelled, text, type=OutputFile, **more)


def add_result_and_data(command: ArgumentParser) -> None:
    """Take a result, or a network with CPTs, and data files."""
    add(command, "network RESULT", RESULT_HELP)
    add_data(command)


def add_network_or_edges(
    command: ArgumentParser, metavar: str = "NETWORK DATA", text: str = DATA_HELP
) -> None:
    """Take a network or edges; then data, or a graph that ``text`` explains; data options.

    `split_files` tells them apart, and `typed_network` gives the network. ``metavar`` has brackets
    around what is not needed. Where a graph follows, data are an option of the command's own.
    Where no network is needed, data alone stand for their columns.
    """
    first, second = metavar.split()
    then = "graph" if "GRAPH" in second else "data"
    command.add_argument("files", metavar=metavar, nargs="+")
    command.set_defaults(
        files_help={first: NETWORK_OR_EDGES_HELP, second: text},
        then=then,
        needs_data=not metavar.endswith("]"),
        needs_network=not metavar.startswith("["),
        in_place=("--sql",) if then == "data" else (),
    )
    add_data_arguments(command)


def add_data(command: ArgumentParser) -> None:
    """Take data files, or a query, and how they are read."""
    add(command, "data DATA", DATA_HELP, nargs="+")
    command.set_defaults(in_place=("--sql",))
    add_data_arguments(command)


def add_data_arguments(command: ArgumentParser) -> None:
    """Say where rows are queried, what they weigh, what cells mean, how text files are written."""
    group = command.add_argument_group("how rows are read")
    _add_sources_and_weights(group)
    _add_meanings_of_cells(group)
    _add_panels(group)
    add(group, "--delimiter C", "character between cells of text files (.csv: a comma)")
    add(group, "--encoding E", "encoding of text files", default="utf-8")
    add(group, "--decimal C", "decimal character of text files", default=".")


def _add_sources_and_weights(group: Any) -> None:
    """Say where rows are queried, and what they weigh."""
    add(group, "--sql SELECT", "a query whose rows are the data, in place of files")
    queried = (
        "the database to query: a DuckDB or SQLite file, or postgresql://user@host/name "
        "(default: the files that the query names, read by DuckDB)"
    )
    add(group, "--database DB", queried)
    add(group, "--weight COLUMN", "sampling weights of the rows; only their ratios matter")
    add(group, "--counts COLUMN", "how many rows each row stands for")
    add(group, "--strata COLUMN", "the stratum that each row was sampled in")
    add(group, "--cluster COLUMN", "the cluster, within its stratum, that each row was sampled in")
    replicates = (
        "replicate weights and their kind, as in 'jackknife: w1..w80', 'brr: a,b,c,d' or "
        "'fay 0.5: w1..w80'"
    )
    add(group, "--replicates KIND", replicates)


def _add_meanings_of_cells(group: Any) -> None:
    """Say what cells mean, and which columns are variables."""
    from lacunet.data.matching import MISSING_TOKENS

    known = ", ".join(token or "an empty cell" for token in MISSING_TOKENS)
    missing = (
        "values that mean 'not observed': 9 in all columns, X=7,9 in one\n; beside "
        f"{known}; can be given several times"
    )
    add(group, "--missing CODE", missing, action="append", default=[])
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
    states = (
        "the states of a variable, in order, instead of those found\n in the data (quote a name "
        """with an equals sign: '"X=1"=A,B,C')"""
    )
    add(group, "--states X=A,B,C", states, action="append", default=[])
    bins = (
        "cut numbers: 5 or auto in all columns, X=5 or X=18,40,65 in one\n; dates: X=year, "
        "X=quarter or X=month; 5 bins hold equally many rows, X=width:5 are equally wide; "
        "18,40,65 are 18 to 40 and 40 to 65, and no others; X=-inf,40,65,inf has open ends; auto "
        "cuts more than ten numbers into five bins, and dates; a network keeps its own cuts"
    )
    add(group, "--bins [X=]N", bins, action="append", default=[])
    add_names(group, "--without A,B", "columns that are not variables")
    unknown = "what to do with a value that is not a state"
    add(group, "--unknown", unknown, choices=["error", "missing"], default="error")
    latent = (
        "variables without a column in the data, with the number of their states: Class=3, or "
        "Class=2..6 to choose by BIC\n; without a number --states gives them (quote a name with a "
        "comma: '\"a,b\",c')"
    )
    add_names(group, "--latent A,B", latent)


def _add_panels(group: Any) -> None:
    """Say where the waves of units are."""
    add(group, "--unit COLUMN", "where rows are units in waves: the column of the unit")
    add(group, "--time COLUMN", "and the column of the wave, a whole number; edges: H[t-1] -> H[t]")
    waves = (
        "where each row is a unit: the columns of a variable, wave by wave, as in H=H1,H2,H3; can "
        "be given several times"
    )
    add(group, "--waves X=A,B", waves, action="append", default=[])


class AddUp(Action):
    """Names that add up where an option is given several times; a word has to stand alone."""

    def __call__(
        self, parser: ArgumentParser, options: Namespace, values: Any, option: str | None = None
    ) -> None:
        """Take the names in."""
        before = getattr(options, self.dest)
        if before is not None and isinstance(before, str) != isinstance(values, str):
            parser.error(f"{option} is given as a word and as names: give one of them")
        is_list = isinstance(values, list)
        setattr(options, self.dest, [*(before or ()), *values] if is_list else values)


def add_method_arguments(command: ArgumentParser) -> None:
    """Say how the CPTs are to be learned: every option of every method, from its own words."""
    from lacunet.learning.methods import METHODS, options_of

    brackets = "in brackets, the methods that take an option"
    group = command.add_argument_group("method", brackets)
    methods = f"one of {', '.join(METHODS)}; auto is mgraph where a graph is given"
    add(group, "--method M", methods, default="auto")
    declared = "variables that you declare observed in every row; all others count as partially so"
    add_names(group, "--fully-observed A,B", declared)
    shapes = (
        "what a CPT is in place of a full table, as in Fault=noisy-or: noisy-or, noisy-max, "
        "logistic or ordinal; can be given several times"
    )
    add(group, "--shapes X=SHAPE", shapes, action="append", default=[])
    tied = (
        "variables whose CPTs are one, as in Y1,Y2,Y3; in a panel H=no gives H a CPT of its own in "
        "each wave; can be given several times"
    )
    add(group, "--tied A,B", tied, action="append", default=[])
    methods_of: dict[str, list[str]] = {}
    for method in METHODS:
        for name in options_of(method):
            methods_of.setdefault(name, []).append(method)
    for name, owners in methods_of.items():
        _add_method_option(group, name, options_of(owners[-1])[name], owners)
    add_shared(group, "--seed")


def _add_method_option(group: Any, name: str, field: Field[Any], owners: Sequence[str]) -> None:
    """Add the option of some methods that a field of their classes describes."""
    metadata = field.metadata
    usual = field.default
    if isinstance(usual, bool):
        usual = "yes" if usual else "no"
    default = "" if usual in (None, ()) else f"; default: {usual}"
    metavar = metadata["metavar"]
    if metavar is None and not metadata["choices"]:
        metavar = name.upper()[:1]
    group.add_argument(
        f"--{name.replace('_', '-')}",
        type=refusing(groups if name == "groups" else metadata["kind"]),
        action=AddUp if name == "groups" else "store",
        choices=metadata["choices"],
        metavar=metavar,
        help=f"{metadata['text']} ({', '.join(owners)}{default})",
    )


def refusing(kind: Callable[[str], Any]) -> Callable[[str], Any]:
    """The same, with our own refusals as refusals of the command line."""

    def parsed(text: str) -> Any:
        try:
            return kind(text)
        except LacunetError as error:
            raise ArgumentTypeError(str(error)) from None

    parsed.__name__ = kind.__name__
    return parsed
