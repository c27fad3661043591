"""``lacunet experiment``: where the studies of the paper are now."""

from __future__ import annotations

from argparse import REMAINDER, ArgumentParser, Namespace

HELP = "moved: the paper's experiments are in the source repository (python -m studies)"
EXAMPLE = """example:
  lacunet experiment      # says how to run them: python -m studies table-mcar --quick
"""
MOVED = (
    "the paper's experiments are no longer part of the package: in a checkout of the source "
    "repository, run `python -m studies NAME`, or all of them with `make studies`"
)


def add_arguments(command: ArgumentParser) -> None:
    """Take whatever used to be given."""
    command.add_argument("rest", metavar="...", nargs=REMAINDER, help="not used any more")


def run(options: Namespace) -> None:
    """Say where the experiments are."""
    options.usage_error(MOVED)
