"""Help on one screen: what `--help` shows of a command, and what only `--help-all` does.

`ORDINARY` names the options that most people need. Of the text of an option, `--help` shows what
stands before a line break.
"""

from __future__ import annotations

from argparse import Action, ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterable, Mapping
from copy import copy
from textwrap import fill

READING = "--missing --bins --weight"  # the most used of the options of reading
ORDINARY: Mapping[str, str] = {
    "learn": (
        "--output --intervals --method --missingness --pseudo-counts "
        f"{READING} --seed --report --json"
    ),
    "structure": f"--output --required --forbidden --tiers --without {READING} --seed --json",
    "query": "--level --unsupported --unroll --memory --json",
    "effect": f"--do --reference --level --forest --missingness {READING} --json",
    "predict": "--targets --keep --output --missing --json",
    "impute": "--output --draws --most-probable --fixed-cpts --seed --missing --json",
    "explain": f"--method --missingness --pseudo-counts --query --list-rows {READING} --json",
    "diagnose": f"--missingness-out --try-graph {READING} --seed --report --json",
    "recover": f"--query --data --intervals --implications --assumptions {READING} --report --json",
    "sensitivity": (
        f"--query --mechanism --threshold --within --method --missingness {READING} --json"
    ),
    "simulate": (
        "--rows --output --twin --data --hide --rate --share --missingness --missingness-out "
        "--seed --json"
    ),
    "evaluate": "--data --missing --weight --json",
    "show": "--page --beside --dot --json",
    "convert": f"--output --rename {READING} --states",
    "count": f"--output --counts {READING}",
    "studio": "--port --no-browser",
    "demo": "--output --json",
}


class Formatter(RawDescriptionHelpFormatter):
    """Help in which a list of files repeats the last kind alone: ``NETWORK DATA [DATA ...]``."""

    def _format_args(self, action: Action, default_metavar: str) -> str:
        first, blank, last = str(action.metavar).rpartition(" ")
        if action.option_strings or not blank:
            return super()._format_args(action, default_metavar)
        repeated = {"DATA": "DATA [DATA ...]", "[DATA]": "[DATA ...]"}
        return f"{first} {repeated.get(last, last)}"

    def files(self, actions: Iterable[Action]) -> str:
        """The files and other words that come without an option, as the usage has them."""
        return " ".join(self._format_args(action, "") for action in actions)


def usage_text(parser: ArgumentParser) -> str:
    """The files, what must be given, and that there are options."""
    formatter = Formatter(parser.prog)
    required = [action for action in parser._actions if action.option_strings and action.required]
    files = formatter.files(a for a in parser._actions if not a.option_strings)
    needed = [f"{action.option_strings[0]} {action.metavar}" for action in required]
    words = [parser.prog, *filter(None, [files]), *needed, "[options]"]
    usage = f"usage: {' '.join(words)}"
    wrapped = fill(usage, formatter._width, subsequent_indent="       ", break_on_hyphens=False)
    return f"{wrapped}\n"


def help_text(parser: ArgumentParser, name: str, more: str) -> str:
    """The help of a command on one screen: files, ordinary options, examples."""
    by_name = {action.option_strings[-1]: action for action in _options(parser)}
    shown = ["--help", *ORDINARY[name].split()]
    left = len(set(by_name) - {*shown, "--help-all"})
    if left or more:
        others = []
        if left:
            others.append(f"{left} more options")
        if more:
            others.append("what is printed")
        by_name["--help-all"].help = f"show {' and '.join(others)}"
        shown.append("--help-all")
    sections = {"options": [by_name[option] for option in shown]}
    return _sections(parser, sections, parser.epilog or "", is_whole=False)


def help_all_text(parser: ArgumentParser, more: str) -> str:
    """The help of a command with all its options, and what its output means."""
    groups = {str(group.title): group._group_actions for group in parser._action_groups}
    sections = {
        title: options
        for title, actions in groups.items()
        if (options := [action for action in actions if action.option_strings])
    }
    return _sections(parser, sections, f"{parser.epilog or ''}\n{more}", is_whole=True)


def _options(parser: ArgumentParser) -> list[Action]:
    return [action for action in parser._actions if action.option_strings]


def _sections(
    parser: ArgumentParser, sections: Mapping[str, Iterable[Action]], ending: str, *, is_whole: bool
) -> str:
    """Usage, description, files, the options of each section, and the ending."""
    formatter = Formatter(parser.prog)
    formatter.add_text(parser.description)
    notes = {group.title: group.description for group in parser._action_groups}
    for title, actions in {"arguments": _files(parser), **sections}.items():
        formatter.start_section(title)
        formatter.add_text(notes.get(title) if is_whole else None)
        for action in actions:
            entry = copy(action)
            text = action.help or ""
            entry.help = text.replace("\n", "") if is_whole else text.partition("\n")[0]
            formatter.add_argument(entry)
        formatter.end_section()
    formatter.add_text(ending)
    return f"{usage_text(parser)}\n{formatter.format_help()}"


def _files(parser: ArgumentParser) -> list[Action]:
    """What is named without an option, each kind of file by itself."""
    each: Mapping[str, str] = parser.get_default("files_help") or {}
    named = [action for action in parser._actions if not action.option_strings]
    apart = [Action([], name, metavar=name, help=text) for name, text in each.items()]
    return apart or named
