"""What came of a cell, as it is kept on disk.

All outcomes as one tidy table: a row a cell, in a fixed order, as Parquet and CSV.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lacunet.experiments.runner.cells import Cell

if TYPE_CHECKING:
    import pyarrow as pa


Status = Literal["ok", "over the limit", "refused", "died"]


@dataclass(frozen=True)
class Outcome:
    """One finished cell: which it was, how it ended, how good the network is.

    ``seconds`` is the time of learning alone. ``ended`` is how an iterative method ended.
    ``log_likelihood`` is that of the test rows, a row; ``divergence`` is KL(truth || learned).
    ``message`` is why there is no network or, where the method chose for itself, what it chose.
    ``hidden`` is the share of the cells of the table that were not shown. ``run_under`` is the
    limit of the cell that was really run, where a method that ended by itself made running it
    again under another limit needless.
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

    @property
    def ended_by_itself(self) -> bool:
        """Whether more time would have changed nothing."""
        return self.status in ("ok", "refused") and self.ended != "time limit"

    def serves(self, cell: Cell) -> bool:
        """Whether the cell, which differs from this one in its limit only, would end the same."""
        if not self.ended_by_itself or cell.learner.limit_decides:
            return False
        return cell.limit is None or (self.seconds or 0.0) <= cell.limit

    def under(self, cell: Cell) -> Outcome:
        """The same outcome as that of a cell with another limit."""
        return replace(self, key=cell.key, limit=cell.limit)


def outcome_of(cell: Cell, status: Status, about: Mapping[str, Any]) -> Outcome:
    """The outcome of a cell: its labels, and what is known about it."""
    from lacunet.experiments.runner.journal import machine, version

    labels: Mapping[str, Any] = cell.problem.labels
    return Outcome(
        key=cell.key,
        task=cell.task,
        method=cell.learner.name,
        limit=cell.limit,
        status=status,
        run_under=cell.limit,
        version=version(),
        machine=machine(),
        **labels,
        **about,
    )


def as_plain(outcome: Outcome) -> dict[str, Any]:
    """The outcome as a dictionary of plain values."""
    return asdict(outcome)


def tidy(outcomes: Iterable[Outcome]) -> pa.Table:
    """One row for each outcome, ordered by what was run, whatever order it came in."""
    import pyarrow as pa

    rows = sorted(outcomes, key=_order)
    types = {"int": pa.int64(), "float": pa.float64(), "str": pa.string(), "Status": pa.string()}
    schema = pa.schema([(one.name, types[str(one.type).split(" ")[0]]) for one in fields(Outcome)])
    columns = {name: [getattr(row, name) for row in rows] for name in schema.names}
    return pa.table(columns, schema=schema)


def write_tidy(outcomes: Iterable[Outcome], folder: Path) -> tuple[Path, Path]:
    """Write ``results.parquet`` and ``results.csv``."""
    from pyarrow import csv, parquet

    table = tidy(outcomes)
    paths = folder / "results.parquet", folder / "results.csv"
    parquet.write_table(table, paths[0])
    csv.write_csv(table, paths[1])
    return paths


def _order(one: Outcome) -> tuple[Any, ...]:
    limit = float("inf") if one.limit is None else one.limit
    return one.network, one.setting, one.rows, one.repetition, one.seed, limit, one.method
