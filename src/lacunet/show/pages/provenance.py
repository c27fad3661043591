"""Pages that say where they come from: the command, files and hashes, versions, seed, time."""

from __future__ import annotations

import os
import platform
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import file_digest
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lacunet.show.pages.kit import Tile, document, isolated, paragraph, section, table, tiles
from lacunet.text import counted, first_of, own_version

MAX_FILES_IN_TITLE = 3
SCRIPTS = ("sorting.js", "page.js")
DRAWN = ("network.js", "picture.js", "drawing.js")  # of a network without CPTs
LIVE = ("beliefs.js", "network.js", "picture.js", "cpts.js")
SURE = ("intervals.js",)  # where the page carries what intervals given evidence need
SAVE = (
    '<div class="bar scripted" hidden><button type="button" data-save="report.json">save this '
    "report (JSON)</button></div>"
)


@dataclass(frozen=True)
class Provenance:
    """What made a result.

    ``files`` pairs each file that was read with the SHA-256 of its bytes; ``versions`` pairs
    programs with their versions. ``made`` is the time, in words. ``network`` and ``data`` are
    what a reader would call them, ``learned`` is the file that keeps the whole result.
    """

    command: str
    made: str
    seed: int | None = None
    files: tuple[tuple[str, str], ...] = ()
    versions: tuple[tuple[str, str], ...] = ()
    network: str = ""
    data: str = ""
    learned: str = ""

    @property
    def subject(self) -> str:
        """The network and the data, as far as they have names."""
        return ", ".join(filter(None, (self.network, self.data)))


UNKNOWN = Provenance("", "")


def provenance(
    time: datetime,
    arguments: Sequence[str] = (),
    read: Sequence[str | Path] = (),
    *,
    seed: int | None = None,
    network: str = "",
    data: Sequence[str] = (),
) -> Provenance:
    """What a command line read, if there is one, and with which versions.

    A folder stands for the files in it, each with its hash; what is not on this machine's
    disk (an address, a pattern) is named without one. ``network`` and ``data`` are the
    arguments that the title names.
    """
    from glob import glob

    files: list[Path] = []
    for name in read:
        paths = [name] if os.path.exists(name) else sorted(glob(str(name)))
        for path in map(Path, paths or [name]):
            is_folder = os.path.isdir(path)
            files += sorted(p for p in path.rglob("*") if p.is_file()) if is_folder else [path]
    versions = [("lacunet", own_version()), ("Python", platform.python_version())]
    versions += [(name, version(name)) for name in ("numpy", "scipy", "pyarrow", "narwhals")]
    return Provenance(
        command=shlex.join(["lacunet", *arguments]) if arguments else "",
        made=time.isoformat(sep=" ", timespec="seconds"),
        seed=seed,
        files=tuple((str(path), _hash(path)) for path in files),
        versions=tuple(versions),
        network=Path(network).name,
        data=first_of([Path(name).name or name for name in data], MAX_FILES_IN_TITLE),
    )


def _hash(path: Path) -> str:
    if not os.path.isfile(path):
        return ""
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


def provenance_section(source: Provenance, *further: str) -> str:
    """The part of a page that says how to make it again."""
    rows: list[list[str]] = []
    if source.made:
        rows.append(["made", source.made])
    if source.seed is not None:
        rows.append(["seed", str(source.seed)])
    for path, digest in source.files:
        rows.append([f"SHA-256 of {path}", digest or "not a file on disk"])
    rows += [[name, number] for name, number in source.versions]
    return section(
        "provenance",
        "Where this page comes from",
        f"<pre>{escape(source.command)}</pre>" if source.command else "",
        table(["what", counted(len(rows), "entry", "entries")], rows, left=2) if rows else "",
        *further,
    )


def report_page(
    kind: str,
    title: str,
    sections: Sequence[str],
    data: Mapping[str, Any],
    source: Provenance,
    *,
    about: str | None = None,
    words: str = "",
    facts: Sequence[Tile] = (),
    notes: str = "",
    ending: Sequence[str] = (SAVE,),
) -> str:
    """A page that tells of a result: its head, sections, where it comes from; it carries ``data``.

    Parameters
    ----------
    about, title
        What the page is called, in plain text; ``about`` is what the source names if not given.
    words, facts, notes
        Below the heading: a sentence, a strip of facts, and markup.
    ending
        Markup that follows on where the page comes from.
    """
    about = source.subject if about is None else about
    before = f"{about}: " if about else ""
    skip = ""
    if "packed" in data:
        skip = '<a class="skip" href="#panel">to the chosen variable</a>'
    body = [
        f"{skip}<header>",
        f"<h1>{isolated(before) if before else ''}{isolated(title)}</h1>",
        paragraph(words, "soft"),
        tiles(facts) if facts else "",
        notes,
        f'</header><main class="of-{kind}">',
        *sections,
        provenance_section(source, *ending),
        "</main>",
    ]
    carried = {"format": "lacunet page", "kind": kind, **data, "provenance": asdict(source)}
    scripts = [*SCRIPTS]
    if "packed" in data:
        scripts += LIVE
    elif "drawn" in data:
        scripts += DRAWN
    if (data.get("live") or {}).get("uncertainty"):
        scripts[len(SCRIPTS) : len(SCRIPTS)] = SURE
    return document(before + title, body, carried, scripts)
