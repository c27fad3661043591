"""What a file in `entries/` gives: a name, and a function from a network and rows to CPTs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

import lacunet as lc


@dataclass(frozen=True)
class Learned:
    """CPTs, and for some or all variables 95% intervals: low and high on a last axis of two."""

    network: lc.Network
    intervals: Mapping[str, NDArray[Any]] = field(default_factory=dict)


class Entry(Protocol):
    """A module of `entries/`."""

    NAME: str

    def learn(self, network: lc.Network, rows: Any) -> Learned:
        """Learn the CPTs of a bare ``network`` from a pandas frame with missing values."""


def entry_names() -> tuple[str, ...]:
    """The modules of `entries/`, in alphabetical order."""
    folder = Path(__file__).with_name("entries")
    return tuple(sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__"))


def entry(name: str) -> Entry:
    """The module of this name."""
    return import_module(f"studies.leaderboard.entries.{name}")
