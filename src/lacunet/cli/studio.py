"""``lacunet studio``: the whole work on a page in the browser."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from lacunet.cli.options import add
from lacunet.cli.terminal import note
from lacunet.cli.values import natural

if TYPE_CHECKING:
    from lacunet.show.studio.server import Studio

HELP = "work on a local page: look at data, draw, learn, ask, export"
EXAMPLE = """examples:
  lacunet studio                       tables of this folder and below
  lacunet studio patients.csv          begins with this table
  lacunet studio --no-browser --port 8080

The page is on this machine only. Everything is kept in the folder
lacunet-studio, beside the table; Ctrl-C ends the studio, and the next one goes
on where it was left.
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    text = "a data file to begin with, or the folder to work in (default: this folder)"
    add(command, "table DATA", text, nargs="?")
    add(command, "--port N", "port of the page on this machine (default: a free one)", type=natural)
    add(command, "--no-browser", "print the address and open no browser", action="store_true")


def run(options: Namespace) -> None:
    """Serve the page until Ctrl-C."""
    import webbrowser

    from lacunet.errors import LacunetError
    from lacunet.show.studio.folder import Folder
    from lacunet.show.studio.server import Server, Studio

    given = Path(options.table or ".").resolve()
    if not os.path.exists(given):
        raise LacunetError(f"there is no file or folder {options.table!r}.", "check the path.")
    folder = Folder(given if given.is_dir() else given.parent)
    studio = Studio(folder)
    if given.is_file():
        folder.table(given.name)  # refuses what is not a table
        _begin_with(studio, given.name)
    try:
        server = Server(studio, options.port or 0)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise LacunetError(
            f"port {options.port} cannot be used: {reason}.", "leave --port out."
        ) from None
    with server:
        print(server.address, flush=True)
        note(f"the studio works in {folder.root}; Ctrl-C ends it")
        if not options.no_browser:
            webbrowser.open(server.way_in().as_uri())
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            note(f"the studio has ended; its project is in {folder.project}")


def _begin_with(studio: Studio, table: str) -> None:
    """Make a data file the one of the project, if it is not already."""
    from dataclasses import replace

    version, project = studio.store.current()
    if project.data != table:
        reading = studio.reading({"data": table})
        studio.store.save(replace(project, data=table, **reading), version)
