"""The files that the studio may see: those below the folder that it was started in."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from lacunet.data.files import FORMATS
from lacunet.errors import LacunetError

PROJECT = "lacunet-studio"  # the folder of the project, below the studio's
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
        if not path.is_file() or not path.name.lower().endswith(tuple(FORMATS)):
            raise OutsideError(f"there is no data file {name} in {self.root}.")
        return path

    def tables(self) -> list[str]:
        """The data files below the folder, by name."""
        found: list[str] = []
        for number, (place, folders, files) in enumerate(os.walk(self.root)):
            depth = len(Path(place).relative_to(self.root).parts)
            own = [name for name in folders if not name.startswith((".", "_")) and name != PROJECT]
            folders[:] = sorted(own) if depth < DEEPEST else []
            for name in sorted(files):
                if name.lower().endswith(tuple(FORMATS)) and not name.startswith("."):
                    found.append((Path(place) / name).relative_to(self.root).as_posix())
            if len(found) >= MOST_FILES or number >= MOST_FOLDERS:
                break
        return found[:MOST_FILES]

    @property
    def project(self) -> Path:
        """The folder of the project; it is made if it is not there."""
        path = self.root / PROJECT
        path.mkdir(exist_ok=True)
        return path
