"""What came of a cell, as it is kept on disk, and all outcomes as one tidy table."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from lacunet.limits import available
from studies.problems.cells import Cell

if TYPE_CHECKING:
    import pyarrow as pa


Status = Literal["ok", "over the limit", "refused", "died"]
UNDECIDED = 0.2  # share of a limit up to which it decided nothing: its parts get more each
KINDS = {"str": (str,), "Status": (str,), "int": (int,), "float": (float, int)}


@dataclass(frozen=True)
class Outcome:
    """One finished cell: which it was, how it ended, how good the network is.

    ``seconds`` is the processor time of learning alone, ``whole_seconds`` that of the cell with
    drawing and judging. ``ended`` is how an iterative method ended.
    ``log_likelihood`` is that of the test rows, per row; ``divergence`` is KL(truth || learned).
    ``message`` is why there is no network, or what the method says of how it went.
    ``hidden`` is the share of the cells of the table that were not shown. ``run_under`` is the
    limit of the cell that was really run, where a method that ended by itself, or that keeps what
    it had, made running it again under another limit needless. For structures, ``shd`` is the
    distance of the CPDAGs per edge of the truth, ``f1`` and ``skeleton_errors`` as
    `lacunet.compare_structures` has them.
    """

    key: str
    task: str
    network: str
    setting: str
    rows: int
    repetition: int
    seed: int
    method: str
    limit: float | None
    status: Status
    message: str = ""
    seconds: float | None = None
    ended: str = ""
    iterations: int | None = None
    log_likelihood: float | None = None
    log_likelihood_error: float | None = None
    divergence: float | None = None
    divergence_error: float | None = None
    hidden: float | None = None
    run_under: float | None = None
    version: str = ""
    machine: str = ""
    whole_seconds: float | None = None
    revision: str = ""
    shd: float | None = None
    f1: float | None = None
    skeleton_errors: int | None = None

    @property
    def ended_by_itself(self) -> bool:
        """Whether more time would have changed nothing."""
        return self.status in ("ok", "refused") and self.ended != "time limit"

    def serves(self, cell: Cell) -> bool:
        """Whether the cell, which differs from this one in its limit only, would end the same."""
        if not self.ended_by_itself:
            return False
        limit, seconds = inf if cell.limit is None else cell.limit, self.seconds or 0.0
        if cell.learner.limit_decides:
            under = inf if self.run_under is None else self.run_under
            return seconds <= UNDECIDED * min(limit, under)
        return seconds <= limit

    def under(self, cell: Cell) -> Outcome:
        """The same outcome as that of a cell with another limit."""
        return replace(self, key=cell.key, limit=cell.limit)


def outcome_of(cell: Cell, status: Status, about: Mapping[str, Any]) -> Outcome:
    """The outcome of a cell: its labels, and what is known about it."""
    labels: Mapping[str, Any] = cell.problem.labels
    return Outcome(
        key=cell.key,
        task=cell.task,
        method=cell.learner.name,
        limit=cell.limit,
        status=status,
        version=version(),
        machine=machine(),
        revision=revision(),
        **labels,
        **{"run_under": cell.limit, **about},
    )


def as_plain(outcome: Outcome) -> dict[str, Any]:
    """The outcome as a dictionary of plain values."""
    return asdict(outcome)


def parsed_outcome(line: bytes) -> Outcome:
    """The outcome that a line of JSON holds.

    Raises
    ------
    ValueError, TypeError
        The line is not an outcome that a run could have written.
    """
    outcome = Outcome(**json.loads(line))
    for field in fields(Outcome):
        kind, *may_be_none = str(field.type).split(" | ")
        value = getattr(outcome, field.name)
        if type(value) not in KINDS[kind] and not (may_be_none and value is None):
            raise ValueError(f"{field.name} is {value!r}")
    if outcome.status not in get_args(Status):
        raise ValueError(f"there is no status {outcome.status!r}")
    if not all(0 <= n < 2**62 for n in (outcome.repetition, outcome.seed, outcome.rows - 1)):
        raise ValueError("a number is out of range")
    if not f"{outcome.network}{outcome.setting}{outcome.method}".isprintable():
        raise ValueError("a name holds control characters")
    return outcome


def tidy(outcomes: Iterable[Outcome]) -> pa.Table:
    """One row for each outcome, ordered by what was run, whatever order it came in."""
    import pyarrow as pa

    rows = sorted(outcomes, key=_order)
    types = {"int": pa.int64(), "float": pa.float64(), "str": pa.string(), "Status": pa.string()}
    schema = pa.schema([(one.name, types[str(one.type).split(" ")[0]]) for one in fields(Outcome)])
    columns = {name: [getattr(row, name) for row in rows] for name in schema.names}
    return pa.table(columns, schema=schema)


def _order(one: Outcome) -> tuple[Any, ...]:
    limit = inf if one.limit is None else one.limit
    return one.network, one.setting, one.rows, one.repetition, one.seed, limit, one.method


@cache
def version() -> str:
    """The versions that can matter to a result."""
    import numpy as np

    from lacunet import __version__

    return f"lacunet {__version__}, numpy {np.__version__}, python {platform.python_version()}"


@cache
def revision() -> str:
    """The commit that runs, with a plus sign if files differ from it; empty if there is none."""
    here = Path(__file__).parent

    def git(*words: str) -> str:
        told = subprocess.run(["git", *words], cwd=here, capture_output=True, check=False)
        return told.stdout.decode().strip()

    try:
        changed = "+" if git("status", "--porcelain", "--untracked-files=no") else ""
        return git("rev-parse", "--short", "HEAD") + changed
    except OSError:
        return ""


@cache
def machine() -> str:
    """The processor, how many of its cores there are, and the memory."""
    cores, memory = os.cpu_count() or 1, available() / 2**30
    return f"{_processor()}, {cores} cores, {memory:.0f} GiB, {platform.system()}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
