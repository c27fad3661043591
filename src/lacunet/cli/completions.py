"""``lacunet completions``: what a shell needs to complete commands, options and their values."""

from __future__ import annotations

from argparse import Action, ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any, NamedTuple

HELP = "print a script that completes commands, options, methods and networks in a shell"
EXAMPLE = """example:
  lacunet completions bash > ~/.local/share/bash-completion/completions/lacunet
  lacunet completions zsh > ~/.zfunc/_lacunet
  lacunet completions fish > ~/.config/fish/completions/lacunet.fish
"""
BASH = """_lacunet() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} options="" names=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{commands}" -- "$word")); return
  fi
  case "${{COMP_WORDS[1]}} $before" in
{values}
  esac
  case ${{COMP_WORDS[1]}} in
{cases}
  esac
  case $word in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) COMPREPLY=($(compgen -W "$names" -- "$word") $(compgen -f -- "$word")) ;;
  esac
}}
complete -o filenames -F _lacunet lacunet
"""
ZSH = "#compdef lacunet\nautoload -U +X bashcompinit && bashcompinit\n"
OF_METHODS = {"--method", "--methods", "--truth", "--start", "--otherwise"}
OF_NETWORKS = {"NETWORK", "TRUTH", "LEARNED", "IN", "NAME"}


class Offer(NamedTuple):
    """What a command can be completed with.

    ``options`` with the values that each can have, if they are known; ``names`` are what the
    first word may be, beside a file.
    """

    options: dict[str, tuple[str, ...]]
    names: tuple[str, ...]


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    command.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell")


def run(options: Namespace) -> None:
    """Print the script."""
    from lacunet.cli.parsing import COMMANDS, command_parser

    offers = {name: offer_of(command_parser(name)._actions) for name in COMMANDS}
    if options.shell == "fish":
        print(_fish(offers), end="")
    else:
        print(ZSH if options.shell == "zsh" else "", _bash(offers), sep="", end="")


def offer_of(actions: Sequence[Action]) -> Offer:
    """What a command's arguments can be completed with."""
    named = [(action, text) for action in actions for text in action.option_strings]
    options = {text: _values(action) for action, text in named if text.startswith("--")}
    words = (_values(action) for action in actions if not action.option_strings)
    return Offer(options, next(filter(None, words), ()))


def _values(action: Any) -> tuple[str, ...]:
    """The values that are known beforehand; all else is a file, or typed."""
    from lacunet.estimate.registry import METHODS
    from lacunet.formats.catalogue import catalogue

    if action.choices:
        return tuple(map(str, action.choices))
    if action.option_strings:
        return () if OF_METHODS.isdisjoint(action.option_strings) else tuple(METHODS)
    is_network = str(action.metavar).partition(" ")[0] in OF_NETWORKS
    return tuple(entry.name for entry in catalogue()) if is_network else ()


def _bash(offers: dict[str, Offer]) -> str:
    cases = [
        f'    {name}) options="{" ".join(offer.options)}" names="{" ".join(offer.names)}" ;;'
        for name, offer in offers.items()
    ]
    values = [
        f'    "{name} {text}") COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$word")); return ;;'
        for name, offer in offers.items()
        for text, words in offer.options.items()
        if words
    ]
    return BASH.format(commands=" ".join(offers), cases="\n".join(cases), values="\n".join(values))


def _fish(offers: dict[str, Offer]) -> str:
    lines = [f'complete -c lacunet -n __fish_use_subcommand -f -a "{" ".join(offers)}"']
    for name, offer in offers.items():
        seen = f'complete -c lacunet -n "__fish_seen_subcommand_from {name}"'
        for text, words in offer.options.items():
            values = f' -x -a "{" ".join(words)}"' if words else ""
            lines.append(f"{seen} -l {text[2:]}{values}")
        if offer.names:
            lines.append(f'{seen} -a "{" ".join(offer.names)}"')
    return "\n".join(lines) + "\n"
