"""Where results go: what is refused as a place, and ``--report``, the result as a page."""

from __future__ import annotations

import os
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from lacunet.cli.options import add, note
from lacunet.errors import LacunetError

if TYPE_CHECKING:
    from lacunet.model.network import Network
    from lacunet.pages.provenance import Provenance


class OutputError(LacunetError):
    """The result cannot be put where it should go."""


def keep_learned(network: Network, path: str) -> None:
    """Write a learned network; it must not be lost, so if that fails it goes elsewhere."""
    from lacunet.formats.files import write_network

    try:
        write_network(network, path)
    except LacunetError as error:
        saved = os.path.join(tempfile.mkdtemp(prefix="lacunet-"), "learned.json")
        write_network(network, saved)
        raise OutputError(error.message, f"the learned network is in {saved}.") from None


def refuse_overwriting(targets: Iterable[str | None], read: Iterable[str | None]) -> None:
    """Refuse to write over a file that the command reads, or where nothing can be written."""
    sources = [name for name in read if name and os.path.exists(name)]
    for target in filter(None, targets):
        if os.path.exists(target) and any(os.path.samefile(target, name) for name in sources):
            raise OutputError(f"{target} is also an input file.", "write to another file.")
        folder = os.path.dirname(os.path.realpath(target))
        if not os.access(folder, os.W_OK):
            raise OutputError(
                f"{target} cannot be written: there is no folder {folder} to write into.",
                "name another.",
            )


def deliver(text: str, *writes: Callable[[], None]) -> None:
    """Write the files, then print the text.

    A pipe that is closed, or a full disk behind stdout, must not cost the files; so they come
    first. A file that cannot be written must not cost the text: the error is raised after it.
    """
    failed: list[LacunetError] = []
    for write in writes:
        try:
            write()
        except LacunetError as error:
            failed.append(error)
    print(text, flush=True)
    if failed:
        raise failed[0]


class OptionError(LacunetError):
    """An option has a value that means nothing."""


def add_report_argument(command: ArgumentParser, more: str = "") -> None:
    """Add ``--report``."""
    add(command, "--report PAGE.html", f"write the result as a page{more}")


def page_source(options: Namespace, read: Sequence[str]) -> Provenance:
    """What was typed, the files that the arguments called ``read`` name, and the seed."""
    from datetime import datetime

    from lacunet.pages.provenance import provenance

    given = [getattr(options, name) or () for name in read]
    files = [file for one in given for file in ([one] if isinstance(one, str) else one)]
    now = datetime.now().astimezone()
    return provenance(
        without_password(options.database), files, now, getattr(options, "seed", None)
    )


def without_password(address: str | None) -> list[str]:
    """The arguments as typed, with the database's address as it is told."""
    from lacunet.data.databases import database_label

    told = database_label(address)
    return [word.replace(address, told) if address else word for word in sys.argv[1:]]


def keep_page(options: Namespace, text: str) -> None:
    """Write the page, and say where it is."""
    from lacunet.pages.kit import write_page

    write_page(options.report, text)
    note(f"the page is in {options.report}")
