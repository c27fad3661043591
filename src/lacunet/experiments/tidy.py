"""All outcomes as one tidy table: a row a cell, in a fixed order, as Parquet and CSV."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lacunet.experiments.outcomes import Outcome

if TYPE_CHECKING:
    import pyarrow as pa


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
