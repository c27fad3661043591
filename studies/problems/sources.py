"""Where the networks of an experiment come from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np

from lacunet.network.catalogue import catalogue, example
from lacunet.network.formats.files import read_network
from lacunet.network.network import Network
from studies.problems.generators import grid, random_network

GRID = "grid-90-20-1"
GRID_SEED = 90_20_1
RANDOM = "random-20"  # 20 variables, 2 to 4 states, up to 3 parents
RANDOM_SEED = 20

PAIR = Network(
    {"X": ["0", "1"], "Y": ["0", "1"]},
    {"Y": ["X"]},
    {"X": [0.4, 0.6], "Y": [[0.8, 0.2], [0.3, 0.7]]},
)


@dataclass(frozen=True)
class Source:
    """A network by its name: bundled, made here, or in a file.

    ``digest`` tells apart files that have the same name.
    """

    name: str
    path: str = ""
    digest: str = ""

    @property
    def key(self) -> str:
        """What names the network in the keys of cells."""
        return f"{self.name}@{self.digest}" if self.digest else self.name

    def read(self, repetition: int = 0) -> Network:
        """The network itself; of random ones, every repetition has its own."""
        if self.name == RANDOM and not self.path:
            rng = np.random.default_rng([RANDOM_SEED, repetition])
            return random_network(20, rng, max_parents=3, states=(2, 4))
        return _read(self)


def source_of(text: str) -> Source:
    """The source that a user names: a bundled network, or else a file.

    Examples
    --------
    >>> source_of("alarm")
    Source(name='alarm', path='', digest='')
    """
    if text in made_or_bundled() and not Path(text).exists():
        return Source(text)
    return source_in_file(text)


def source_in_file(path: str, name: str = "") -> Source:
    """The source of a network file, which is read once to see that it can be."""
    read_network(path)
    stem = Path(path).name.split(".")[0]
    return Source(name or stem, str(path), sha256(Path(path).read_bytes()).hexdigest()[:8])


def made_or_bundled() -> tuple[str, ...]:
    """The names that need no file."""
    return (*(entry.name for entry in catalogue()), "pair", f"{GRID}-like", RANDOM)


@cache
def _read(source: Source) -> Network:
    if source.path:
        return read_network(source.path)
    if source.name == "pair":
        return PAIR
    if source.name == f"{GRID}-like":
        return grid(20, 0.9, np.random.default_rng(GRID_SEED))
    return example(source.name)
