"""``lacunet demo``: where dropping rows goes wrong, and what to do instead."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path

from lacunet.cli.options import add, add_shared
from lacunet.cli.terminal import note
from lacunet.errors import LacunetError

HELP = "learn from an example where dropping rows gives a wrong answer"
EXAMPLE = """examples:
  lacunet demo
  lacunet demo -o screening
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    text = "folder for the networks and the data"
    add(command, "-o --output FOLDER", text, default="demo-output")
    add_shared(command, "--json")


def run(options: Namespace) -> None:
    """Run the demonstration, print it, and write what it learned."""
    from lacunet.data.write import write_arrow
    from lacunet.demo import demonstrate, demonstration_as_text
    from lacunet.network.formats.files import write_network

    shown = demonstrate()
    folder = Path(options.output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"{options.output}: the folder cannot be made: {error.strerror}."
        raise LacunetError(problem, "name another.") from None
    write_network(shown.truth, folder / "truth.bif")
    write_arrow(shown.patients, folder / "data.csv")
    shown.result.write(folder / "learned.json")
    if options.json:
        report = {
            "rows": shown.patients.num_rows,
            "method": shown.result.method,
            "answers": [asdict(answer) for answer in shown.answers],
            "obesity": shown.obesity,
        }
        print(json.dumps(report))
    else:
        print(demonstration_as_text(shown))
    note(f"what was learned is in {folder / 'learned.json'}, the data in {folder / 'data.csv'}")
