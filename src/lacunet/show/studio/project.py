"""A project: everything that the user has said, in one value that a file keeps."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from threading import Lock
from typing import Any

from lacunet.atomic_files import replacing
from lacunet.errors import LacunetError
from lacunet.learning.pseudo_counts import LEARN

TOO_LARGE = 2**63  # a seed
ANYWHERE = ""  # stands for all columns where codes are named by column


class ProjectError(LacunetError):
    """What is said does not make a project."""


@dataclass(frozen=True)
class Project:
    """What the studio's commands are made of.

    ``data`` is a path below the folder of the studio. ``missing`` has the codes that mean "not
    observed", by column; those of `ANYWHERE` count in all. ``states`` and ``bins`` are what is
    said of single columns, ``not_asked`` when their questions were not asked. ``graph`` is the
    network with its mechanisms as one text, ``draft`` what was typed in its place and cannot be
    read (yet). ``pseudo_counts`` is a number or "learn",
    and empty where the method has its own. ``level`` is that of intervals, 0 for none. ``asked``
    is the question, as the address of a page carries it; ``run`` is the result that it is asked
    of.
    """

    data: str = ""
    delimiter: str = ""
    encoding: str = "utf-8"
    decimal: str = "."
    weight: str = ""
    counts: str = ""
    strata: str = ""
    cluster: str = ""
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    states: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    bins: Mapping[str, str] = field(default_factory=dict)
    not_asked: Mapping[str, str] = field(default_factory=dict)
    graph: str = ""
    draft: str = ""
    method: str = ""
    pseudo_counts: float | str = ""
    level: float = 0.95
    seed: int = 0
    asked: str = ""
    run: int = 0

    @property
    def reading(self) -> tuple[object, ...]:
        """What decides how the table is read: equal for equal columns."""
        codes = tuple(self.missing.items())
        return self.data, self.delimiter, self.encoding, self.decimal, codes

    def only(self, variables: Collection[str]) -> Project:
        """The project with what it says of the states of these variables alone."""
        settings: Any = {
            part: {name: value for name, value in getattr(self, part).items() if name in variables}
            for part in ("states", "bins", "not_asked")
        }
        return replace(self, **settings)


def _of(*kinds: type) -> Callable[[Any], Any]:
    """What takes values of these kinds alone, as JSON has them; numbers are such as are used."""

    def checked(value: Any) -> Any:
        if type(value) not in kinds:
            raise TypeError
        if type(value) is not str and not 0 <= value < TOO_LARGE:
            raise TypeError
        return value

    return checked


def _pseudo_counts(value: Any) -> Any:
    return value if value in ("", LEARN) else _of(int, float)(value)


def _level(value: Any) -> Any:
    if _of(int, float)(value) >= 1:
        raise TypeError
    return value


def _lists(value: Any) -> dict[str, tuple[str, ...]]:
    return {name: tuple(map(_of(str), texts)) for name, texts in value.items() if texts}


def _texts(value: Any) -> dict[str, str]:
    return {name: text.strip() for name, text in value.items() if text.strip()}


CHECKS = {
    **{setting.name: _of(str) for setting in fields(Project)},
    **dict.fromkeys(("missing", "states"), _lists),
    **dict.fromkeys(("bins", "not_asked"), _texts),
    **dict.fromkeys(("seed", "run"), _of(int)),
    "pseudo_counts": _pseudo_counts,
    "level": _level,
}


def project_from(data: Any) -> Project:
    """The project that plain data describe; what they do not say is as by default.

    Raises
    ------
    ProjectError
        Something in them is not what it should be.

    Examples
    --------
    >>> project_from({"data": "rows.csv", "bins": {"Age": " 5 "}}).bins
    {'Age': '5'}
    """
    if not isinstance(data, Mapping):
        raise ProjectError("a project is a mapping from names to values.")
    settings: dict[str, Any] = {}
    for name, value in data.items():
        if name not in CHECKS:
            raise ProjectError(f"a project has no {name!r}.")
        try:
            settings[name] = CHECKS[name](value)
        except (TypeError, AttributeError):
            raise ProjectError(f"{name} cannot be {value!r} in a project.") from None
    return Project(**settings)


class StaleError(ProjectError):
    """The project was changed elsewhere meanwhile."""

    def __init__(self) -> None:
        super().__init__(
            "the project was changed in another tab, or by another studio in this folder.",
            "reload the page.",
        )


class Store:
    """The project in its file, which another studio of the same folder may change as well.

    Every change has a number, whoever made it, so that two tabs or two studios do not collide.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._version = 0
        self._kept = b""  # the file as it was last seen
        self._project = Project()
        self._read()
        self._version = 0

    def current(self) -> tuple[int, Project]:
        """The number of the last change, and the project as it is since."""
        with self._lock:
            self._read()
            return self._version, self._project

    def save(self, project: Project, version: int) -> int:
        """Keep a project that was made from the one of this version; the number of the new one."""
        with self._lock:
            self._read()
            if version != self._version:
                raise StaleError
            if project != self._project:
                text = json.dumps(asdict(project), ensure_ascii=False, indent=1)
                kept = f"{text}\n".encode()
                with replacing(self.path, follow_links=False) as file:
                    file.write(kept)
                self._kept = kept
                self._project = project
                self._version += 1
            return self._version

    def _read(self) -> None:
        """Take over what the file says, if it is not as it was last seen."""
        kept = b""
        try:
            if self.path.is_symlink():
                raise OSError("it is a link")
            with suppress(FileNotFoundError):
                kept = self.path.read_bytes()
            if kept == self._kept:
                return
            project = project_from(json.loads(kept)) if kept else Project()
        except (OSError, ValueError, RecursionError) as error:
            raise ProjectError(
                f"{self.path}: the project cannot be read: {error}", "move the file away."
            ) from None
        self._kept = kept
        self._project = project
        self._version += 1
