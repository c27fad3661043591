"""``lacunet completions``: what a shell needs to complete commands, options and their values."""

from __future__ import annotations

from argparse import Action, ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any

HELP = "print a script that completes commands, options, methods and networks in a shell"
EXAMPLE = """examples:
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


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    command.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell")


def run(options: Namespace) -> None:
    """Print the script."""
    from lacunet.cli.parsing import COMMANDS, command_parser

    offers = {name: _offered(command_parser(name)._actions) for name in COMMANDS}
    if options.shell == "fish":
        print(_fish(offers), end="")
    else:
        print(ZSH if options.shell == "zsh" else "", _bash(offers), sep="", end="")


def _offered(actions: Sequence[Action]) -> dict[str, str]:
    """The words that may follow each option; the empty one stands for the first word, or a file."""
    named = [(action, text) for action in actions for text in action.option_strings]
    first = (_values(action) for action in actions if not action.option_strings)
    options = {text: _values(action) for action, text in named if text.startswith("--")}
    return {"": next(filter(None, first), ""), **options}


def _values(action: Any) -> str:
    """The values that are known beforehand; all else is a file, or typed."""
    from lacunet.estimate.registry import METHODS
    from lacunet.formats.catalogue import catalogue

    if action.choices:
        return " ".join(map(str, action.choices))
    if action.option_strings:
        return "" if OF_METHODS.isdisjoint(action.option_strings) else " ".join(METHODS)
    is_network = str(action.metavar).partition(" ")[0] in OF_NETWORKS
    return " ".join(entry.name for entry in catalogue()) if is_network else ""


def _bash(offers: dict[str, dict[str, str]]) -> str:
    cases = [
        f'    {name}) options="{" ".join(offer).strip()}" names="{offer[""]}" ;;'
        for name, offer in offers.items()
    ]
    values = [
        f'    "{name} {text}") COMPREPLY=($(compgen -W "{words}" -- "$word")); return ;;'
        for name, offer in offers.items()
        for text, words in offer.items()
        if text and words
    ]
    return BASH.format(commands=" ".join(offers), cases="\n".join(cases), values="\n".join(values))


def _fish(offers: dict[str, dict[str, str]]) -> str:
    lines = [f'complete -c lacunet -n __fish_use_subcommand -f -a "{" ".join(offers)}"']
    for name, offer in offers.items():
        for text, words in offer.items():
            option = f" -l {text[2:]}" + " -x" * bool(words) if text else ""
            given = f' -a "{words}"' if words else ""
            if option or given:
                seen = f'complete -c lacunet -n "__fish_seen_subcommand_from {name}"'
                lines.append(f"{seen}{option}{given}")
    return "\n".join(lines) + "\n"
