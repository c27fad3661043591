r"""What is run: learning problems, and one cell for each way to solve one.

A problem is drawn from a seed that depends on nothing but the problem's own key: neither on
the order in which cells are run, nor on what else is run, nor on who learns. So every method
meets the same rows, differences between methods are paired, and a cell that is run again
gives what it gave.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import inf

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.inference.sampling import sample_codes
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.mechanism_cpts import Missingness
from lacunet.network.network import Network, Scope
from lacunet.simulation.simulate import hide_cells
from studies.problems.learners import Learner
from studies.problems.settings import Setting
from studies.problems.sources import Source


@dataclass(frozen=True)
class Drawn:
    """A learning problem made real: rows to learn from, and what to judge by."""

    truth: Network
    table: EncodedTable
    complete: EncodedTable
    test: EncodedTable
    separator: Scope | None
    graph: MissingnessGraph | None


@dataclass(frozen=True)
class Problem:
    """One learning problem: a network, how values go missing, how many rows, which draw."""

    source: Source
    setting: Setting
    rows: int
    repetition: int
    seed: int = 0
    test_rows: int = 100_000
    judge_divergence: bool = True

    @property
    def key(self) -> str:
        """What tells this problem from every other."""
        return (
            f"network={self.source.key} setting={self.setting.name} rows={self.rows} "
            f"repetition={self.repetition} seed={self.seed}"
        )

    @property
    def labels(self) -> Mapping[str, str | int]:
        """The columns that say in the results which problem it was."""
        return {
            "network": self.source.name,
            "setting": self.setting.name,
            "rows": self.rows,
            "repetition": self.repetition,
            "seed": self.seed,
        }

    def draw(self) -> Drawn:
        """Draw the mechanisms, rows, what is hidden of them, and other rows to test on."""
        truth, missingness = self.source.read(self.repetition), self.draw_mechanisms()
        complete = sample_codes(truth, self.rows, generator(self.key, "rows"))
        return Drawn(
            truth=truth,
            table=hide_cells(complete, missingness, generator(self.key, "hide")),
            complete=complete,
            test=sample_codes(truth, self.test_rows, generator(self.key, "test")),
            separator=missingness.separator,
            graph=missingness.graph,
        )

    def draw_mechanisms(self) -> Missingness:
        """Draw what hides values: in one repetition the same for every number of rows."""
        words = (
            f"network={self.source.key} setting={self.setting.name} "
            f"repetition={self.repetition} seed={self.seed}"
        )
        network = self.source.read(self.repetition)
        return self.setting.missing.draw(network, generator(words, "mechanisms"))


@dataclass(frozen=True)
class Cell:
    """One problem given to one learner under one time limit (seconds; None: without)."""

    problem: Problem
    learner: Learner
    limit: float | None

    @property
    def key(self) -> str:
        """What tells this cell from every other, in any run."""
        return f"{self.task} limit={self.limit}"

    @property
    def task(self) -> str:
        """What the cells that differ only in their limits have in common."""
        return f"{self.problem.key} test={self.problem.test_rows} method={self.learner.name}"


def generator(*words: str) -> np.random.Generator:
    """A stream of random numbers of its own for every sequence of words.

    Examples
    --------
    >>> bool(generator("a", "b").random() == generator("a", "b").random())
    True
    >>> bool(generator("a", "b").random() == generator("ab").random())
    False
    """
    digest = sha256("\0".join(words).encode()).digest()
    return np.random.default_rng(np.random.SeedSequence(list(digest)))


Job = tuple[Cell, ...]  # the cells of one run, the shortest limit first


def jobs_by_problem(cells: Sequence[Cell]) -> Iterator[tuple[Job, ...]]:
    """The jobs of each problem together, in the order of their first cells.

    All limits of an anytime method are one job. Otherwise each cell is one, small limits first.
    """
    problems: dict[str, list[Cell]] = {}
    for cell in cells:
        problems.setdefault(cell.problem.key, []).append(cell)
    for found in problems.values():
        jobs: dict[str, list[Cell]] = {}
        for cell in sorted(found, key=lambda cell: inf if cell.limit is None else cell.limit):
            jobs.setdefault(cell.task if cell.learner.is_anytime else cell.key, []).append(cell)
        yield tuple(map(tuple, jobs.values()))
