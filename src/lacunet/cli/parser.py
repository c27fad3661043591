"""What can be typed."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from importlib import import_module

COMMANDS = (
    "learn",
    "query",
    "structure",
    "count",
    "merge",
    "explain",
    "diagnose",
    "sensitivity",
    "recover",
    "evaluate",
    "compare",
    "simulate",
    "predict",
    "impute",
    "network",
    "networks",
    "show",
    "convert",
    "experiment",
    "demo",
    "completions",
)


def parser() -> ArgumentParser:
    """The parser of the whole command line; each command adds its own part."""
    from lacunet import __version__

    top = ArgumentParser(
        prog="lacunet",
        description="Learn the parameters of discrete Bayesian networks from incomplete data.",
        epilog="`lacunet COMMAND --help` shows the options of a command, with an example.",
    )
    top.add_argument("--version", action="version", version=f"lacunet {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = import_module(f"lacunet.cli.{name}")
        command = commands.add_parser(
            name,
            help=module.HELP,
            description=module.HELP,
            epilog=module.EXAMPLE,
            formatter_class=RawDescriptionHelpFormatter,
        )
        module.add_arguments(command)
        command.set_defaults(run=module.run, usage_error=command.error)
    return top
