"""From what is typed to options: the commands, their parsers, and what was probably meant.

Only the command that is asked for is imported, and no command imports the libraries that it works
with before it runs: `lacunet --version` must not wait for NumPy.
"""

from __future__ import annotations

import re
import sys
from argparse import SUPPRESS, Action, ArgumentParser, Namespace
from collections.abc import Iterable, Sequence
from importlib import import_module
from itertools import pairwise
from shlex import quote
from typing import Any, NoReturn

from lacunet.cli.help import Formatter, help_all_text, help_text, usage_text
from lacunet.cli.terminal import say_error
from lacunet.text import did_you_mean

COMMANDS_BY_AIM = {
    "learn from incomplete data": ("learn", "structure"),
    "ask what was learned": ("query", "effect", "predict", "impute"),
    "look at the data, the plan and the assumptions": (
        *("explain", "diagnose", "recover", "sensitivity"),
    ),
    "make, show and judge networks": ("simulate", "evaluate", "show", "convert", "count"),
    "begin": ("studio", "demo"),
}
COMMANDS = tuple(name for names in COMMANDS_BY_AIM.values() for name in names)
IMMEDIATE = ("query", "show", "studio", "demo")  # without progress

# As argparse says it.
REQUIRED = "the following arguments are required: "
WITHOUT_VALUE = re.compile(r"argument (\S+): expected (?:at least )?one argument")
INVALID_INT = re.compile(r"invalid int value: ('.*')$")
INVALID_FLOAT = re.compile(r"invalid float value: ('.*')$")

HIDING_KINDS = ("none", "mcar", "mar", "informed")


class Parser(ArgumentParser):
    """A parser that takes no abbreviations, and offers what was probably meant.

    ``words`` are those that were typed; ``more`` is what `--help-all` says beyond `--help`.
    """

    def __init__(self, command: str = "", more: str = "", **others: Any) -> None:
        self.words: Sequence[str] = ()
        self.command = command
        self.more = more
        super().__init__(allow_abbrev=False, formatter_class=Formatter, add_help=False, **others)
        self.add_argument("-h", "--help", action="help", help="show this help")

    def format_usage(self) -> str:
        """The files, what must be given, and that there are options."""
        return usage_text(self)

    def format_help(self) -> str:
        """What most people need, on one screen."""
        return help_text(self, self.command, self.more)

    def error(self, message: str) -> NoReturn:
        """End with the message and what was probably meant; the usage would hide it."""
        # argparse tells its errors apart by their words alone: each kind has its own beginning.
        without_value = WITHOUT_VALUE.fullmatch(message)
        if "invalid choice: '" in message:
            message = self._say_invalid_choice(message)
        elif message.startswith(REQUIRED):
            message = self._say_required(message.removeprefix(REQUIRED).split(", "))
        elif without_value:
            name = without_value[1]
            message = f"{name} needs a value: {self._as_typed(name)}"
        else:
            message = _say_invalid_number(message)
        self._end(message, f"{self.prog} --help shows how it is used")

    def _say_invalid_choice(self, message: str) -> str:
        """What argparse says of a word that is none of the choices, with the closest of them."""
        word = message.split("'")[1]
        choices: list[str] = []
        for action in self._actions:
            choices += map(str, action.choices or ())
        return _with_offer(message, word, choices)

    def _say_required(self, names: Sequence[str]) -> str:
        """What is to be given; a file of data that stands alone was read as the network."""
        message = f"give {' and '.join(map(self._as_typed, names))}"
        first = self.words[0] if self.words else ""
        if "DATA" in names and first and not first.startswith("-"):
            message += f"; {first} was taken for the network, which comes first"
        return message

    def parsed(self, words: Sequence[str]) -> Namespace:
        """The options; files may also be named after some of them, as argparse does not read.

        Options that stand in place of files are those of the default ``in_place``.
        """
        words = self._with_values(words)
        self.refuse_unknown(words)
        self.words = words
        last = [action for action in self._actions if not action.option_strings][-1:]
        if {word.partition("=")[0] for word in words} & {*(self.get_default("in_place") or ())}:
            last[0].nargs = "*"
            last[0].required = False
        options, left = self.parse_known_args(words)
        if not left:
            return options
        if not last or last[0].nargs not in ("+", "*") or any(map(_is_option, left)):
            self.error(f"unrecognized arguments: {' '.join(left)}")
        setattr(options, last[0].dest, [*(getattr(options, last[0].dest) or ()), *left])
        return options

    def _with_values(self, words: Sequence[str]) -> list[str]:
        """The words, with values such as ``-9,unk`` joined to the option before them.

        To argparse only a number alone may begin with a minus sign.
        """
        joined: list[str] = []
        for word in words:
            action = self._option_string_actions.get(joined[-1]) if joined else None
            takes_value = action is not None and action.nargs is None
            if takes_value and "--" not in joined and re.match(r"-[.\d]", word):
                joined[-1] += f"={word}" if joined[-1].startswith("--") else word
            else:
                joined.append(word)
        return joined

    def _end(self, message: str, hint: str) -> NoReturn:
        say_error(message, hint, f"{self.prog}: error: {message}\n{hint}")
        self.exit(2)

    def _as_typed(self, name: str) -> str:
        """An argument with what stands behind it: ``--query 'X|Y=y'``, and what it is."""
        for action in self._actions:
            spelled = [action.option_strings[-1]] if action.option_strings else []
            if name in ("/".join(action.option_strings), action.metavar) and action.metavar:
                text = (action.help or "").partition("\n")[0]
                metavar = str(action.metavar)
                shown = " ".join([*spelled, quote(metavar) if spelled else metavar])
                return f"{shown} ({text})" if text else shown
        return name

    def refuse_unknown(self, words: Iterable[str]) -> None:
        """End at the first word that looks like an option and is none."""
        spelled = self._option_string_actions
        known = [
            text for text, action in spelled.items() if text[1] == "-" and action.help != SUPPRESS
        ]
        files = " ".join(
            str(action.metavar) for action in self._actions if not action.option_strings
        )
        for word in words:
            name = word.partition("=")[0]
            if word == "--":
                return
            is_short = word[:1] == "-" and word[1:2].isalpha() and word[:2] not in spelled
            if is_short or (word.startswith("--") and name not in spelled):
                message = f"there is no option {name}"
                if word[2:].upper() in re.findall(r"\w+", files):
                    self.error(f"{message}; it is named without one: {self.prog} {files}")
                if owners := _owners(name):
                    message += f" here; it is one of lacunet {', '.join(owners)}"
                self.error(_with_offer(message, name, known))


def _owners(option: str) -> list[str]:
    """The commands that have an option."""
    return [name for name in COMMANDS if option in command_parser(name)._option_string_actions]


def _is_option(word: str) -> bool:
    return word.startswith("-") and word != "-"


def _say_invalid_number(message: str) -> str:
    """What argparse says of a word that is not a number, in plain English."""
    message = INVALID_INT.sub(r"\1 is not a whole number", message)
    message = INVALID_FLOAT.sub(r"\1 is not a number", message)
    if "--time-limit: " in message and message.endswith(" number"):
        message += " of seconds, as in 5"
    return message


def _with_offer(message: str, word: str, known: Iterable[str]) -> str:
    offer = did_you_mean(word, known)
    return f"{message}; {offer}" if offer else message


def asks_for_json(words: Sequence[str]) -> bool:
    """Whether progress is to be lines of JSON; what is wrong with the words is then one too."""
    return "--progress=json" in words or ("--progress", "json") in pairwise(words)


def parse_command_line(words: Sequence[str]) -> Namespace:
    """The options of the command that is asked for; ``run`` is what carries it out."""
    if words and words[0] in COMMANDS:
        return command_parser(words[0]).parsed(words[1:])
    top = top_parser(words)
    if words and _is_option(words[0]):
        top.refuse_unknown(words[:1])
    return top.parse_args(words)


def command_parser(name: str) -> Parser:
    """The parser of one command."""
    from lacunet.cli.options import add_shared

    module = import_module(f"lacunet.cli.{name}")
    more = getattr(module, "MORE", "")
    texts = {"description": module.HELP, "epilog": module.EXAMPLE}
    command = Parser(prog=f"lacunet {name}", command=name, more=more, **texts)
    module.add_arguments(command)
    if name not in IMMEDIATE:
        add_shared(command, "--progress")
    command.add_argument("--help-all", action=_HelpAll, nargs=0, help="show all options")
    command.set_defaults(run=module.run, usage_error=command.error, command=name)
    return command


def top_parser(words: Sequence[str] = ()) -> Parser:
    """The parser of what comes before any command: help, the version, and a command's name."""
    from lacunet import __version__

    top = _Top(
        prog="lacunet",
        usage="lacunet [-h] [--version] COMMAND ...",
        description="Learn the parameters of discrete Bayesian networks from incomplete data.",
        epilog="`lacunet COMMAND --help` shows the options of a command, with an example.",
    )
    version = f"lacunet {__version__}"
    if "--verbose" in words:
        from lacunet.cli.versions import versions_as_text

        version = versions_as_text()
    top.add_argument("--version", action="version", version=version)
    libraries = "with --version: also those of Python and the libraries, for a bug report"
    top.add_argument("--verbose", action="store_true", help=libraries)
    top.add_argument("command", metavar="COMMAND", choices=COMMANDS, help=SUPPRESS)
    return top


class _HelpAll(Action):
    """Print the help with all options, and end."""

    def __call__(self, parser: ArgumentParser, *_: Any) -> None:
        parser._print_message(help_all_text(parser, getattr(parser, "more", "")), sys.stdout)
        parser.exit()


class _Top(Parser):
    """Lists the commands by group."""

    def format_help(self) -> str:
        """The help, with the commands."""
        lines: list[str] = []
        for title, names in COMMANDS_BY_AIM.items():
            lines += ["", f"{title}:"]
            for name in names:
                summary = import_module(f"lacunet.cli.{name}").HELP
                lines.append(f"  {name:<13}{summary}")
        commands = "\n".join(lines)
        text = ArgumentParser.format_help(self)
        description, heading, options = text.partition("\noptions:")
        return f"{description}{commands}\n{heading}{options}"

    def error(self, message: str) -> NoReturn:
        """End with what was probably meant."""
        if "invalid choice: '" in message:
            word = message.split("'")[1]
            message = _with_offer(f"there is no command {word!r}", word, COMMANDS)
        elif "required" in message:
            message = "name a command"
        self._end(message, f"the commands are {', '.join(COMMANDS)}; lacunet --help says more")
