"""``lacunet drift``: what has changed between two files of statistics."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace

from lacunet.cli.options import add, add_shared

HELP = "say what has changed between two parts of the data, from their statistics"
EXAMPLE = """example:
  lacunet drift monday.stats tuesday.stats

what is printed for each variable:
  missing        share of the rows (weighted) that do not show it, before and after
  values         how far the distribution of its shown values has moved (0 to 1)
  given parents  the same for its CPT: among rows that show it and its parents
  *              chance hardly explains it (p < 0.05, adjusted for the number of tests)
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    add(command, "before BEFORE.stats", "statistics of lacunet count or merge")
    add(command, "after AFTER.stats", "statistics for the same network, to compare with them")
    add_shared(command, "--json --seed --memory")


def run(options: Namespace) -> None:
    """Print what has changed."""
    from lacunet.diagnosis.drift import drift

    report = drift(options.before, options.after, rng=options.seed, memory=options.memory)
    print(json.dumps(report.as_data()) if options.json else report)
