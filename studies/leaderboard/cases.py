"""What is learned: a published network, a way of hiding values, a number of rows, a repetition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any

import lacunet as lc

NETWORKS = Path(__file__).with_name("networks")
SETTINGS: dict[str, lc.MCAR | lc.MAR] = {
    "MCAR": lc.MCAR(0.3, share=0.5),
    "MAR": lc.MAR(share=0.5, beta=(1.0, 0.5)),
}


@dataclass(frozen=True)
class Case:
    """One problem; all entries learn from the same rows."""

    network: str
    setting: str
    rows: int
    repetition: int

    @property
    def seed(self) -> int:
        """A hash of the case: it does not depend on what else is run."""
        return int.from_bytes(sha256(repr(self).encode()).digest()[:8], "big")

    def truth(self) -> lc.Network:
        """The network that rows are drawn from."""
        return lc.read_network(NETWORKS / f"{self.network}.json.gz")

    def frame(self) -> Any:
        """The rows, as a pandas frame of strings and None."""
        drawn = lc.simulate(self.truth(), self.rows, SETTINGS[self.setting], rng=self.seed)
        frame = drawn.to_frame().astype(object)
        return frame.where(frame.notna(), None)


def cells_of(name: str) -> int:
    """The number of CPT cells of a network."""
    return sum(cpt.table.size for cpt in lc.read_network(NETWORKS / f"{name}.json.gz").cpts)


def cases(rows: int, repetitions: int, most_cells: float = inf) -> Iterator[Case]:
    """All cases of networks with at most so many CPT cells, networks with few cells first."""
    cells = {path: cells_of(path.name.removesuffix(".json.gz")) for path in NETWORKS.glob("*.gz")}
    names = [
        path.name.removesuffix(".json.gz")
        for path in sorted(cells, key=lambda path: (cells[path], path.name))
        if cells[path] <= most_cells
    ]
    for repetition in range(repetitions):
        for name in names:
            for setting in SETTINGS:
                yield Case(name, setting, rows, repetition)
