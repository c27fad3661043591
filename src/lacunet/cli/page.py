"""``--report``: the result of a command as a page."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lacunet.cli.options import add, note

if TYPE_CHECKING:
    from lacunet.pages.provenance import Provenance


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
