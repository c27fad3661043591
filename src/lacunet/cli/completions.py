"""``lacunet completions``: what a shell needs to complete commands and options."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, _SubParsersAction

HELP = "print a script that completes commands and options in a shell"
EXAMPLE = """example:
  lacunet completions bash > ~/.local/share/bash-completion/completions/lacunet
  lacunet completions zsh > ~/.zfunc/_lacunet
  lacunet completions fish > ~/.config/fish/completions/lacunet.fish
"""
BASH = """_lacunet() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} options=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{commands}" -- "$word")); return
  fi
  case ${{COMP_WORDS[1]}} in
{cases}
  esac
  case $word in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}}
complete -o filenames -F _lacunet lacunet
"""
ZSH = "#compdef lacunet\nautoload -U +X bashcompinit && bashcompinit\n"


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    command.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell")


def run(options: Namespace) -> int:
    """Print the script."""
    from lacunet.cli import parser

    found = options_of(parser())
    if options.shell == "fish":
        print(_fish(found), end="")
    else:
        print(ZSH if options.shell == "zsh" else "", _bash(found), sep="", end="")
    return 0


def options_of(top: ArgumentParser) -> dict[str, list[str]]:
    """The long options of each command, read off the parser."""
    commands = next(a for a in top._actions if isinstance(a, _SubParsersAction)).choices
    return {
        name: [text for action in command._actions for text in action.option_strings
               if text.startswith("--")]
        for name, command in commands.items()
    }  # fmt: skip


def _bash(found: dict[str, list[str]]) -> str:
    cases = "\n".join(f'    {name}) options="{" ".join(own)}" ;;' for name, own in found.items())
    return BASH.format(commands=" ".join(found), cases=cases)


def _fish(found: dict[str, list[str]]) -> str:
    lines = [f'complete -c lacunet -n __fish_use_subcommand -f -a "{" ".join(found)}"']
    lines += [
        f'complete -c lacunet -n "__fish_seen_subcommand_from {name}" -l {text[2:]}'
        for name, own in found.items()
        for text in own
    ]
    return "\n".join(lines) + "\n"
