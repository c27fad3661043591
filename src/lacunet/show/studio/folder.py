"""The files that the studio may see: those below the folder that it was started in."""

from __future__ import annotations

import filecmp
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from lacunet.data.data_files import READER_OF_ENDING
from lacunet.errors import LacunetError

PROJECT = "lacunet-studio"  # the folder of the project, below the studio's
UPLOADS = "tables"  # below the project's: tables that the browser brought
MOST_FILES, MOST_FOLDERS = 500, 2_000  # that are listed, that are looked into
DEEPEST = 4  # folders below


class OutsideError(LacunetError):
    """A file is not below the folder of the studio."""


@dataclass(frozen=True)
class Folder:
    """The folder that a studio works in; ``root`` has no links in it."""

    root: Path

    def table(self, name: str) -> Path:
        """The data file of this name, if the studio may read it.

        Raises
        ------
        OutsideError
            It is not below the folder, links followed, or not a data file that is there.
        """
        if not name or "\0" in name:
            raise OutsideError("no table is chosen.", "choose a data file.")
        path = (self.root / name).resolve()
        if not path.is_relative_to(self.root):
            raise OutsideError(
                f"{name} is outside of the folder {self.root}.",
                "start the studio in the folder of the data.",
            )
        if not path.is_file() or not path.name.lower().endswith(tuple(READER_OF_ENDING)):
            raise OutsideError(f"there is no data file {name} in {self.root}.")
        return path

    def tables(self) -> list[str]:
        """The data files below the folder, by name."""
        paths: list[str] = []
        for number, (folder, folders, files) in enumerate(os.walk(self.root)):
            depth = len(Path(folder).relative_to(self.root).parts)
            visible = [name for name in folders if not name.startswith((".", "_"))]
            if Path(folder) == self.root / PROJECT:
                visible = [name for name in visible if name == UPLOADS]
            folders[:] = sorted(visible) if depth < DEEPEST else []
            for name in sorted(files):
                if name.lower().endswith(tuple(READER_OF_ENDING)) and not name.startswith("."):
                    paths.append((Path(folder) / name).relative_to(self.root).as_posix())
            if len(paths) >= MOST_FILES or number >= MOST_FOLDERS:
                break
        return paths[:MOST_FILES]

    def add_table(self, name: str, content: Iterable[bytes]) -> str:
        """Keep a table that the browser brought; the name to read it by.

        A table of the same name is never overwritten: another content gets a number.

        Raises
        ------
        OutsideError
            The name is not one of a data file, or leads elsewhere.
        """
        if Path(name).name != name or set(name) & {"\0", "\\"} or name.startswith("."):
            raise OutsideError(f"{name!r} is not the name of a file.")
        suffix = next((end for end in READER_OF_ENDING if name.lower().endswith(end)), None)
        if suffix is None:
            raise OutsideError(
                f"{name} is not a data file.", f"these end in {', '.join(READER_OF_ENDING)}."
            )
        kept = self.below_project(UPLOADS)
        with TemporaryDirectory(dir=kept, prefix=".") as draft:
            brought = Path(draft) / "table"
            with brought.open("wb") as file:
                file.writelines(content)
            path = kept / name
            number = 1
            while path.exists() and not filecmp.cmp(path, brought, shallow=False):
                number += 1
                path = kept / f"{name[: -len(suffix)]}-{number}{name[-len(suffix) :]}"
            brought.replace(path)
        return path.relative_to(self.root).as_posix()

    @property
    def project(self) -> Path:
        """The folder of the project; it is made if it is not there.

        Raises
        ------
        OutsideError
            It is a link: what is kept in it would be written elsewhere.
        """
        return _own(self.root / PROJECT)

    def below_project(self, name: str) -> Path:
        """A folder of the project; as `project`."""
        return _own(self.project / name)


def _own(path: Path) -> Path:
    """A folder below one without links; it is made if it is not there, and is not a link."""
    if path.is_symlink():
        raise OutsideError(f"{path} is a link.", "move it away: the studio keeps its files there.")
    path.mkdir(exist_ok=True)
    return path
